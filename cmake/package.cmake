# cmake --workflow --preset package: a .deb and a tarball of the program, its manual pages, completions and licence, and
# the folder `docker build` takes, all in build/release.
include(GNUInstallDirs)
set(manuals ${PROJECT_BINARY_DIR}/manuals)
add_custom_target(manuals
  COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:sextant> -DFOLDER=${manuals} -DSOURCE=${PROJECT_SOURCE_DIR}
          -P ${PROJECT_SOURCE_DIR}/cmake/manuals.cmake
  COMMENT "Writing manual pages and completions" VERBATIM)
add_dependencies(manuals sextant)

install(TARGETS sextant RUNTIME)
install(DIRECTORY ${manuals}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
install(FILES ${manuals}/sextant.bash DESTINATION share/bash-completion/completions RENAME sextant)
install(FILES ${manuals}/_sextant DESTINATION share/zsh/vendor-completions)
install(FILES ${manuals}/sextant.fish DESTINATION share/fish/vendor_completions.d)
install(FILES LICENSE DESTINATION share/doc/sextant RENAME copyright)
install(FILES ${manuals}/changelog.gz README.md DESTINATION share/doc/sextant)

set(CPACK_PACKAGE_NAME sextant)
set(CPACK_PACKAGE_VENDOR "The Sextant authors")
set(CPACK_PACKAGE_CONTACT "The Sextant authors <authors@sextant.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "performance engineer for large-scale LLM training")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"Sextant says, before and after a run, what is the fastest way to train a model
on a cluster, what is slow now, what to change first, and why. One static
program: it needs no network, no Python and no LLM.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS OFF)  # one static program: there are none
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/package_archive.cmake)
include(CPack)
