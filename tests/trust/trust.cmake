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

# Commands whose N-th call fails: some calls here, also each read of values put aside and each end of a file of HDF5, all by ./run faults. The library is for glibc on x86-64.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  add_library(faults MODULE ${trust}/faults.c)
  target_link_libraries(faults PRIVATE cw_options ${CMAKE_DL_LIBS})
  set_target_properties(faults PROPERTIES PREFIX "" C_VISIBILITY_PRESET default LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  add_test(NAME trust/faults COMMAND ${trust}/run_faults ${PROJECT_BINARY_DIR}/bin $<TARGET_FILE:faults> ${PROJECT_SOURCE_DIR}
                                     --sample 1 --jobs 1)
  add_test(NAME trust/faults_read COMMAND ${trust}/run_faults ${PROJECT_BINARY_DIR}/bin $<TARGET_FILE:faults> ${PROJECT_SOURCE_DIR}
                                          --only ranks --kinds read --jobs 1)
  add_test(NAME trust/faults_close COMMAND ${trust}/run_faults ${PROJECT_BINARY_DIR}/bin $<TARGET_FILE:faults> ${PROJECT_SOURCE_DIR}
                                           --only samples-hdf5 --kinds close --jobs 1)
  set_tests_properties(trust/faults trust/faults_read trust/faults_close PROPERTIES SKIP_RETURN_CODE 77)
endif()

# Analyzers of code: what the last commits changed here, all by ./run analyze.
add_test(NAME trust/analyzers COMMAND ${trust}/run_analyzers ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR} ${trust}/analyzers.txt
                                      --last 100)
set_tests_properties(trust/analyzers PROPERTIES SKIP_RETURN_CODE 77)
