# fmt without its shared library, as poolproof_fmt: where we know the version well enough, its functions are compiled once
# into the model's library (cmake/fmt.cpp), else header-only, which is slower to build and the same otherwise.

find_package(fmt REQUIRED)
add_library(poolproof_fmt INTERFACE)
if(fmt_VERSION VERSION_GREATER_EQUAL 9 AND fmt_VERSION VERSION_LESS 10)
  set(poolproof_fmt_sources ${CMAKE_CURRENT_LIST_DIR}/fmt.cpp)
  target_include_directories(
    poolproof_fmt SYSTEM INTERFACE $<TARGET_PROPERTY:fmt::fmt-header-only,INTERFACE_INCLUDE_DIRECTORIES>)
else()
  set(poolproof_fmt_sources "")
  target_link_libraries(poolproof_fmt INTERFACE fmt::fmt-header-only)
endif()
