# Versions, libraries and files in recipes of packages. CMake has to be rerun for no change of a recipe.
add_test(NAME packaging/recipes COMMAND ${CMAKE_CURRENT_LIST_DIR}/check_recipes ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})

# The binary interface beside the released one, which was described on this processor.
find_program(CW_ABIDIFF abidiff)
foreach(test abi abi_fails)
  add_test(NAME packaging/${test} COMMAND ${CMAKE_CURRENT_LIST_DIR}/check_${test} ${PROJECT_SOURCE_DIR})
  if(NOT CW_ABIDIFF OR NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    message(STATUS "abidiff (abigail-tools) not found, or no x86-64: packaging/${test} is skipped")
    set_tests_properties(packaging/${test} PROPERTIES DISABLED TRUE)
  endif()
endforeach()
