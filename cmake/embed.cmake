# A text file compiled into a target, as the std::string_view that HEADER declares, so that the program stays one file.

function(poolproof_embed target file header name_space symbol)
  file(READ ${file} content)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  set(source ${CMAKE_CURRENT_BINARY_DIR}/embedded/${symbol}.cpp)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT
"#include \"@header@\"

namespace @name_space@ {

const std::string_view @symbol@ = R\"POOLPROOF(@content@)POOLPROOF\";

}  // namespace @name_space@
")
  target_sources(${target} PRIVATE ${source})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
endfunction()
