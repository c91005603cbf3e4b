# The cases that advice is judged on: their table, and that they compile where nvcc is.
add_test(NAME advice/cases COMMAND ${CMAKE_CURRENT_LIST_DIR}/check_cases)
add_test(NAME advice/compiles COMMAND ${CMAKE_CURRENT_LIST_DIR}/check_compiles)
set_tests_properties(advice/compiles PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600)
