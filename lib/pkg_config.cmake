# Writes OUTPUT, counterworks.pc, at the time of installation, for cmake --install --prefix names another folder. A moved
# tree stays right: the file leads to the prefix from its own folder. A file of the system has absolute paths, for
# pkg-config leaves out the system's folders by their names.
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_PREFIX NORMALIZE OUTPUT_VARIABLE PREFIX)
string(REGEX REPLACE "(.)/$" "\\1" PREFIX "${PREFIX}")
cmake_path(ABSOLUTE_PATH LIBDIR BASE_DIRECTORY "${PREFIX}" NORMALIZE)
cmake_path(ABSOLUTE_PATH INCLUDEDIR BASE_DIRECTORY "${PREFIX}" NORMALIZE)
if(NOT PREFIX MATCHES "^/usr(/local)?$")
  set(folder "${LIBDIR}/pkgconfig")
  foreach(path PREFIX LIBDIR INCLUDEDIR)
    cmake_path(RELATIVE_PATH ${path} BASE_DIRECTORY "${folder}")
    string(PREPEND ${path} "\${pcfiledir}/")
  endforeach()
endif()
configure_file("${CMAKE_CURRENT_LIST_DIR}/counterworks.pc.in" "${OUTPUT}" @ONLY)
