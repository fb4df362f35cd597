# `cmake --install`: headers under include/poolproof/<room>/, the rooms' libraries, a package for find_package(poolproof)
# with poolproof::model, poolproof::impl, poolproof::props and poolproof::explorer, and the program where it was built.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/poolproof)
install(TARGETS poolproof_model poolproof_kernels poolproof_impl poolproof_props poolproof_explorer EXPORT poolproofTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} FILE_SET HEADERS DESTINATION include/poolproof)
install(EXPORT poolproofTargets NAMESPACE poolproof:: DESTINATION ${package_dir})
write_basic_package_version_file(poolproofConfigVersion.cmake COMPATIBILITY SameMinorVersion)
configure_file(${CMAKE_CURRENT_LIST_DIR}/poolproofConfig.cmake.in poolproofConfig.cmake @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/poolproofConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/poolproofConfigVersion.cmake DESTINATION ${package_dir})
if(TARGET poolproof)
  install(TARGETS poolproof RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
