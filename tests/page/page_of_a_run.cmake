# A page that the program really made, looked at by the browser.
execute_process(
  COMMAND ${PROGRAM} simulate synthetic:requests=200,shared=50,gap_us=3000 --geometry
          layout=hybrid,page=16,full=1024p,swa=256p,window=64,reqs=16,need_sort=1 --html ${PAGE}
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${PYTHON} ${TEST} --page ${PAGE} RESULT_VARIABLE status)
if(NOT status EQUAL 0 AND NOT status EQUAL 77)
  message(FATAL_ERROR "the page is not as it should be (status ${status})")
endif()
