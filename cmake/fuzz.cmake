# The fuzz targets (docs/fuzzing.md).
#   POOLPROOF_FUZZ=REPLAY  with a plain main that runs each input given once: every ordinary build
#   POOLPROOF_FUZZ=ON      for an engine: libFuzzer, or whatever $LIB_FUZZING_ENGINE names when CMake runs
# POOLPROOF_FUZZ_FLAGS instrument all that a target runs: -fsanitize=fuzzer-no-link and the like.

set(POOLPROOF_FUZZ REPLAY CACHE STRING "Fuzz targets: REPLAY (a plain main) or ON (for an engine)")
set(POOLPROOF_FUZZ_FLAGS "" CACHE STRING "Flags that instrument the code for the engine")
separate_arguments(fuzz_flags UNIX_COMMAND "${POOLPROOF_FUZZ_FLAGS}")
target_compile_options(poolproof_flags INTERFACE ${fuzz_flags})

poolproof_room(fuzz DIRS fuzz/input USES poolproof_props)

if(NOT POOLPROOF_FUZZ STREQUAL "ON")
  set(fuzz_engine "")
elseif(DEFINED ENV{LIB_FUZZING_ENGINE})
  separate_arguments(fuzz_engine UNIX_COMMAND "$ENV{LIB_FUZZING_ENGINE}")
else()
  set(fuzz_engine -fsanitize=fuzzer)
endif()

set(poolproof_fuzz_targets "")
function(poolproof_fuzz_target name)
  cmake_parse_arguments(TARGET "" "" "SOURCES;DEFINES;USES" ${ARGN})
  list(TRANSFORM TARGET_SOURCES PREPEND ${PROJECT_SOURCE_DIR}/fuzz/targets/)
  if(POOLPROOF_FUZZ STREQUAL "ON")
    list(APPEND TARGET_SOURCES ${PROJECT_SOURCE_DIR}/fuzz/targets/mutator.cpp)
  else()
    list(APPEND TARGET_SOURCES ${PROJECT_SOURCE_DIR}/fuzz/targets/replay_main.cpp)
  endif()
  add_executable(fuzz_${name} ${TARGET_SOURCES})
  target_compile_definitions(fuzz_${name} PRIVATE ${TARGET_DEFINES})
  target_link_libraries(fuzz_${name} PRIVATE poolproof_fuzz ${TARGET_USES} poolproof_flags poolproof_fmt)
  target_link_options(fuzz_${name} PRIVATE ${fuzz_engine})
  set_target_properties(fuzz_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzzers)
  set(poolproof_fuzz_targets ${poolproof_fuzz_targets} fuzz_${name} PARENT_SCOPE)
endfunction()

foreach(kind token paged hybrid ring pure_swa)
  poolproof_fuzz_target(ops_${kind} SOURCES ops.cpp ops_target.cpp DEFINES POOLPROOF_FUZZ_KIND=${kind})
endforeach()

poolproof_fuzz_target(differential SOURCES differential.cpp ops_target.cpp)
poolproof_fuzz_target(trace SOURCES trace.cpp DEFINES POOLPROOF_FUZZ_LINES)
if(TARGET poolproof_recording)
  poolproof_fuzz_target(readers SOURCES readers.cpp protocol_lines.cpp DEFINES POOLPROOF_FUZZ_LINES USES poolproof_recording)
endif()

add_custom_target(poolproof_fuzzers DEPENDS ${poolproof_fuzz_targets})
