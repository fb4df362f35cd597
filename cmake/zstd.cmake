# libzstd as poolproof_zstd, the archive where there is one, so that the program needs no shared library of it.

find_path(ZSTD_INCLUDE_DIR zstd.h)
find_library(ZSTD_LIBRARY NAMES libzstd.a zstd_static zstd)
mark_as_advanced(ZSTD_INCLUDE_DIR ZSTD_LIBRARY)
if(ZSTD_INCLUDE_DIR AND ZSTD_LIBRARY)
  add_library(poolproof_zstd INTERFACE)
  target_include_directories(poolproof_zstd SYSTEM INTERFACE ${ZSTD_INCLUDE_DIR})
  target_link_libraries(poolproof_zstd INTERFACE ${ZSTD_LIBRARY})
endif()
