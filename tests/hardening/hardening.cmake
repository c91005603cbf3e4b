# How the files that run were linked and compiled: tests/hardening/check_elf says what is looked for.
set(fortify fortify)
if(CMAKE_BUILD_TYPE STREQUAL Debug)
  set(fortify no-fortify)
endif()
add_test(NAME hardening/build
         COMMAND ${CMAKE_CURRENT_LIST_DIR}/check_elf ${PROJECT_BINARY_DIR}/bin build ${fortify})
add_test(NAME hardening/installed
         COMMAND ${CMAKE_CURRENT_LIST_DIR}/check_installed ${PROJECT_BINARY_DIR} ${fortify})
