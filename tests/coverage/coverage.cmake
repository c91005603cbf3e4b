# Whether docs/coverage.md answers for each name of CUPTI's headers; where they are not installed, for its rows alone.
set(coverage ${CMAKE_CURRENT_LIST_DIR})
set(cupti_headers)
if(CUPTI_INCLUDE_DIR)
  set(cupti_headers ${CUPTI_INCLUDE_DIR})
endif()
add_test(NAME coverage/project COMMAND ${coverage}/check_coverage ${PROJECT_SOURCE_DIR} ${cupti_headers})
add_test(NAME coverage/wrong COMMAND ${coverage}/check_coverage ${coverage}/wrong)
set_tests_properties(coverage/wrong PROPERTIES PASS_REGULAR_EXPRESSION
  "cuptiGetVersion: found no use.*cuptiFinalize: found the answer \"perhaps\".*cuptiGetTimestamp: found \"because\".*cuptiGetLastError.*found the answer \"\"")
if(CUPTI_INCLUDE_DIR)
  add_test(NAME coverage/names COMMAND ${coverage}/check_coverage ${coverage}/wrong ${CUPTI_INCLUDE_DIR})
  set_tests_properties(coverage/names PROPERTIES PASS_REGULAR_EXPRESSION
    "cuptiActivityEnable: found no row.*cuptiNoSuchFunction: found in no header.*CUpti_ActivityJit2: found no use of the record")
endif()
# Whether scripts of tests/gpu try each option of the commands that collect.
add_test(NAME coverage/options COMMAND ${coverage}/check_options $<TARGET_FILE:capture-agent> ${PROJECT_SOURCE_DIR}/tests/gpu)
add_test(NAME coverage/wrong_options COMMAND ${coverage}/check_options $<TARGET_FILE:capture-agent> ${coverage}/wrong/gpu)
set_tests_properties(coverage/wrong_options PROPERTIES PASS_REGULAR_EXPRESSION
  "range --range: found.*pm --device: found.*trace --attach: found.*\n6 of [0-9]+ options are tried\n")
