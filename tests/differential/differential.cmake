# Values by other ways: an evaluator that knows the documents alone, every output, captures cut, merged and shuffled.
# With Debian's Python, as python/python.cmake; PyYAML reads the database.
if(CW_PYTHON)
  execute_process(COMMAND ${CW_PYTHON} -c "import cffi, h5py, numpy, pandas, xarray, yaml"
                  RESULT_VARIABLE differential_lacks OUTPUT_QUIET ERROR_QUIET)
  if(NOT differential_lacks)
    set(differential_environment ${python_environment} CW_BIN=${PROJECT_BINARY_DIR}/bin)
    # cw_differential(name script [part])
    function(cw_differential name script)
      add_test(NAME differential/${name}
               COMMAND ${CW_PYTHON} ${PROJECT_SOURCE_DIR}/tests/differential/test_${script}.py)
      set_tests_properties(differential/${name} PROPERTIES ENVIRONMENT "${differential_environment};CW_PART=${ARGN}")
    endfunction()
    foreach(part 0 1 2 3)
      cw_differential(values_${part} values ${part}/4)
      cw_differential(ways_${part} ways ${part}/4)
    endforeach()
    cw_differential(metamorphic metamorphic)
  endif()
endif()
