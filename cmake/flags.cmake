# Language level, warnings and sanitizers, for every target of this project and for nobody else's.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

add_library(poolproof_flags INTERFACE)
target_compile_options(poolproof_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX,C>:-Wall -Wextra -Wconversion -Werror>
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra -Werror=all-warnings>)
# g++ 12 at -O3 warns about overlapping copies inside std::string that cannot happen (its bug 105651).
target_compile_options(poolproof_flags INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict>)
if(POOLPROOF_SANITIZE)
  set(sanitize -fsanitize=${POOLPROOF_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # Among the sanitizers' own code g++ takes std::regex's members for uninitialized; without them it looks as usual.
    list(APPEND sanitize -Wno-maybe-uninitialized)
  endif()
  target_compile_options(poolproof_flags INTERFACE ${sanitize})
  target_link_options(poolproof_flags INTERFACE -fsanitize=${POOLPROOF_SANITIZE})
endif()
