# One static library a room, from every .cpp in its folders. fmt is used in .cpp files alone and compiled in, so
# neither it nor our flags are part of what a room asks of those who link it.

function(poolproof_room name)
  cmake_parse_arguments(ROOM "" "" "DIRS;USES" ${ARGN})
  set(sources "")
  set(headers "")
  foreach(dir ${ROOM_DIRS})
    file(GLOB found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${dir}/*.cpp)
    list(APPEND sources ${found})
    file(GLOB found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${dir}/*.hpp)
    if(NOT poolproof_with_cuda)
      list(FILTER found EXCLUDE REGEX "/cuda_[a-z_]*\\.hpp$") # they include the toolkit's
    endif()
    list(APPEND headers ${found})
  endforeach()

  set(target poolproof_${name})
  add_library(${target} STATIC ${sources})
  add_library(poolproof::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} LINKER_LANGUAGE CXX)
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${headers})
  # Inside the project headers say "model/units.hpp", installed ones are reached as <poolproof/model/units.hpp>.
  target_include_directories(${target} PUBLIC $<INSTALL_INTERFACE:include>)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_link_libraries(${target} PUBLIC ${ROOM_USES} PRIVATE $<BUILD_INTERFACE:poolproof_flags>
                                         $<BUILD_INTERFACE:poolproof_fmt>)
endfunction()
