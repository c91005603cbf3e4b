# Who includes whom, against the table in CONTRIBUTING.md, and circles of files.
set(edges ${CMAKE_CURRENT_LIST_DIR})
add_test(NAME edges/project COMMAND ${edges}/check_edges ${PROJECT_SOURCE_DIR})
add_test(NAME edges/wrong COMMAND ${edges}/check_edges ${edges}/wrong)
set_tests_properties(edges/wrong PROPERTIES PASS_REGULAR_EXPRESSION
  "base/bytes.c: found #include \"eval/value.h\": base -> eval is not.*cli/main.c: .*cli -> base is not.*eval/value.c: found #include \"value.h\", expected a folder.*found a circle of files: base/bytes eval/value")
