# Writes OUTPUT, counterworks.pc, at the time of installation, for cmake --install --prefix names another folder. A moved
# tree stays right: the file leads to the prefix from its own folder.
cmake_path(ABSOLUTE_PATH LIBDIR BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" NORMALIZE)
cmake_path(ABSOLUTE_PATH INCLUDEDIR BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" NORMALIZE)
file(RELATIVE_PATH to_prefix "${LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
file(RELATIVE_PATH to_include "${LIBDIR}/pkgconfig" "${INCLUDEDIR}")
configure_file("${CMAKE_CURRENT_LIST_DIR}/counterworks.pc.in" "${OUTPUT}" @ONLY)
