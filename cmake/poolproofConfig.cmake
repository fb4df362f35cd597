# The package needs nothing but a C++20 compiler: what the rooms use is compiled into them.
include(${CMAKE_CURRENT_LIST_DIR}/poolproofTargets.cmake)
