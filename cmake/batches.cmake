# Sources that spend most of their time on the same large headers, compiled a dozen at once. The dev build compiles each
# alone, so that each includes what it needs; a sanitized build on top of it need not prove that again.

option(POOLPROOF_BATCHES "Compile the sources of the program and of the mutants in batches" OFF)

# All sources of the target, or those whose path matches REGEX.
function(poolproof_batches target)
  if(NOT POOLPROOF_BATCHES)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  if(ARGN)
    list(FILTER sources INCLUDE REGEX "${ARGN}")
  endif()
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  set(count 0)
  foreach(source ${sources})
    math(EXPR batch "${count} / 12")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP batch${batch})
    math(EXPR count "${count} + 1")
  endforeach()
endfunction()
