# The program: everything of cli/ but main.cpp is a library of its own, so that tests reach it.

set(cli_main ${PROJECT_SOURCE_DIR}/cli/main.cpp)
file(GLOB cli_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/*.cpp)
list(REMOVE_ITEM cli_sources ${cli_main})
find_package(CLI11 QUIET)
find_package(nlohmann_json QUIET)
include(${CMAKE_CURRENT_LIST_DIR}/zstd.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/embed.cmake)

if(NOT EXISTS ${cli_main})
  message(STATUS "poolproof: no cli/main.cpp, the program is left out")
elseif(NOT CLI11_FOUND OR NOT nlohmann_json_FOUND OR NOT TARGET poolproof_zstd)
  message(STATUS "poolproof: CLI11, nlohmann-json or libzstd is missing, the program is left out")
else()
  # Reading recordings is the program's alone: who links the other rooms needs neither JSON nor zstd.
  poolproof_room(recording DIRS recording USES poolproof_props)
  target_link_libraries(poolproof_recording PRIVATE nlohmann_json::nlohmann_json poolproof_zstd)

  add_library(poolproof_cli STATIC ${cli_sources})
  set_target_properties(poolproof_cli PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(poolproof_cli PUBLIC poolproof_explorer poolproof_recording CLI11::CLI11 nlohmann_json::nlohmann_json
                                      PRIVATE poolproof_flags poolproof_fmt)
  target_compile_definitions(poolproof_cli PRIVATE POOLPROOF_VERSION="${PROJECT_VERSION}")
  poolproof_embed(poolproof_cli ${PROJECT_SOURCE_DIR}/cli/page/simulate.html cli/simulation_page_template.hpp
                  poolproof::cli simulation_page_template)

  poolproof_batches(poolproof_cli "/cli/[^/]*$")
  poolproof_batches(poolproof_recording)

  add_executable(poolproof ${cli_main})
  target_link_libraries(poolproof PRIVATE poolproof_cli poolproof_flags poolproof_fmt)
  set_target_properties(poolproof PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  if(NOT POOLPROOF_SANITIZE)
    # It starts on a machine that has no libstdc++ of our compiler's age.
    target_link_options(poolproof PRIVATE -static-libstdc++ -static-libgcc)
  endif()
endif()
