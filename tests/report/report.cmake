# Pages of metric-eval --report in headless Chromium; skipped where there is none.
foreach(case captures hostile traces job large)
  add_test(NAME report/${case} COMMAND ${CMAKE_CURRENT_LIST_DIR}/check_page ${case})
  set_tests_properties(report/${case} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600
                       ENVIRONMENT "BIN=${PROJECT_BINARY_DIR}/bin;SOURCE=${PROJECT_SOURCE_DIR}")
endforeach()
