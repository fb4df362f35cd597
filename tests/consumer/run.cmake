# Installs poolproof from BUILD_DIR below WORK_DIR, then configures, builds and runs the consumer in SOURCE_DIR with
# COMPILER and FLAGS against what was installed. fmt cannot be found there: consumers do without.

function(step)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

set(prefix ${WORK_DIR}/prefix)
set(consumer_build ${WORK_DIR}/build)
file(REMOVE_RECURSE ${WORK_DIR})
step(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${prefix})

file(GLOB_RECURSE exports ${prefix}/*/poolproofTargets*.cmake)
if(NOT exports)
  message(FATAL_ERROR "no exported targets below ${prefix}")
endif()
foreach(export ${exports})
  file(READ ${export} text)
  foreach(leak fmt poolproof_flags "${BUILD_DIR}")
    string(FIND "${text}" "${leak}" at)
    if(NOT at EQUAL -1)
      message(FATAL_ERROR "${export} speaks of '${leak}', which consumers do not have")
    endif()
  endforeach()
endforeach()

step(${CMAKE_COMMAND} -S ${SOURCE_DIR} -B ${consumer_build} -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo
     -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON -DCMAKE_CXX_COMPILER=${COMPILER}
     "-DCMAKE_CXX_FLAGS=${FLAGS}")
step(${CMAKE_COMMAND} --build ${consumer_build})
step(${consumer_build}/consumer)
