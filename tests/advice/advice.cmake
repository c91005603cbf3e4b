# The cases that advice is judged on: their table, and that they compile where nvcc is.
foreach(check cases compiles)
  add_test(NAME advice/${check} COMMAND ${CMAKE_CURRENT_LIST_DIR}/check_${check})
endforeach()
set_tests_properties(advice/compiles PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600)
