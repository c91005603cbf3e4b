# The Python package on the build tree's library, where Debian's Python has cffi, NumPy, pandas and xarray. cffi's module
# is made of the header, as when a wheel is built.
find_program(CW_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)
if(CW_PYTHON)
  execute_process(COMMAND ${CW_PYTHON} -c "import cffi, numpy, pandas, xarray" RESULT_VARIABLE python_lacks
                  OUTPUT_QUIET ERROR_QUIET)
endif()
if(CW_PYTHON AND NOT python_lacks)
  set(python_source ${PROJECT_SOURCE_DIR}/python)
  set(python_folder ${PROJECT_BINARY_DIR}/python)
  file(GLOB python_modules CONFIGURE_DEPENDS ${python_source}/counterworks/*)
  add_custom_command(OUTPUT ${python_folder}/counterworks/_cffi.py
                     COMMAND ${CMAKE_COMMAND} -E copy_directory ${python_source}/counterworks ${python_folder}/counterworks
                     COMMAND ${CMAKE_COMMAND} -E copy ${python_source}/counterworks_pytest.py ${python_folder}
                     COMMAND ${CW_PYTHON} ${python_source}/make_cffi.py
                             ${PROJECT_SOURCE_DIR}/include/counterworks/counterworks.h
                             ${python_folder}/counterworks/_cffi.py
                     DEPENDS ${python_source}/make_cffi.py ${python_modules} ${python_source}/counterworks_pytest.py
                             ${PROJECT_SOURCE_DIR}/include/counterworks/counterworks.h
                             ${PROJECT_SOURCE_DIR}/include/counterworks/collect.h VERBATIM)
  add_custom_target(python_package ALL DEPENDS ${python_folder}/counterworks/_cffi.py)
  set(python_environment
      PYTHONPATH=${python_folder} COUNTERWORKS_LIBRARY=$<TARGET_FILE:counterworks>
      CW_SOURCE=${PROJECT_SOURCE_DIR} CW_METRIC_EVAL=$<TARGET_FILE:metric-eval> PYTHONDONTWRITEBYTECODE=1)
  add_test(NAME python/package COMMAND ${CW_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/test_counterworks.py)
  add_test(NAME python/capture COMMAND ${CW_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/test_capture.py)
  set_tests_properties(python/package python/capture PROPERTIES ENVIRONMENT "${python_environment}")
  execute_process(COMMAND ${CW_PYTHON} -c "import pytest" RESULT_VARIABLE pytest_lacks OUTPUT_QUIET ERROR_QUIET)
  if(NOT pytest_lacks)
    add_test(NAME python/pytest COMMAND ${CW_PYTHON} -m pytest -q -p pytester --runpytest=subprocess -p no:cacheprovider
             --basetemp=${CMAKE_CURRENT_BINARY_DIR}/pytest ${CMAKE_CURRENT_LIST_DIR}/test_pytest.py)
    set_tests_properties(python/pytest PROPERTIES ENVIRONMENT "${python_environment}")
  endif()
  add_test(NAME python/wheel COMMAND ${CMAKE_CURRENT_LIST_DIR}/check_wheel ${python_source} ${CW_PYTHON})
  set_tests_properties(python/wheel PROPERTIES ENVIRONMENT "${python_environment}" SKIP_RETURN_CODE 77)
endif()
