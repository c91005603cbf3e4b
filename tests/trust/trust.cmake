# What a redacted capture keeps.
set(trust ${CMAKE_CURRENT_LIST_DIR})
add_test(NAME trust/redact COMMAND ${trust}/check_redact ${PROJECT_BINARY_DIR}/bin ${PROJECT_SOURCE_DIR}/data/captures)
set_tests_properties(trust/redact PROPERTIES ENVIRONMENT CW_DATA_DIR=${PROJECT_SOURCE_DIR}/data)

# The simulator beside the shipped captures of real GPUs.
find_program(CW_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)
if(CW_PYTHON)
  execute_process(COMMAND ${CW_PYTHON} -c "import numpy, yaml" RESULT_VARIABLE simulator_lacks OUTPUT_QUIET ERROR_QUIET)
  if(NOT simulator_lacks)
    add_test(NAME trust/simulator COMMAND ${CW_PYTHON} ${trust}/check_simulator ${PROJECT_BINARY_DIR}/bin
                                          ${PROJECT_SOURCE_DIR}/data/captures)
    set_tests_properties(trust/simulator PROPERTIES
                         ENVIRONMENT "CW_DATA_DIR=${PROJECT_SOURCE_DIR}/data;COUNTERWORKS_BACKEND=sim")
  endif()
endif()
