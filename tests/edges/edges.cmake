# Who includes whom, and what commands use, against the tables in CONTRIBUTING.md, and circles of files; where the injection
# library keeps state; names in docs/architecture.md.
set(edges ${CMAKE_CURRENT_LIST_DIR})
add_test(NAME edges/project COMMAND ${edges}/check_edges ${PROJECT_SOURCE_DIR})
add_test(NAME edges/wrong COMMAND ${edges}/check_edges ${edges}/wrong)
set_tests_properties(edges/wrong PROPERTIES PASS_REGULAR_EXPRESSION
  "base/bytes.c: found #include \"eval/value.h\": base -> eval is not.*cli/main.c: .*cli -> base is not.*eval/value.c: found #include \"value.h\", expected a folder.*cli/main.c: found a call of cw_value_make of eval/value.h, which the table.*cli/show.c: found #include \"eval/value.h\", which the table.*has eval/none.h for cli/show.c.*found a circle of files: base/bytes eval/value")
add_test(NAME edges/names COMMAND ${edges}/check_names ${PROJECT_SOURCE_DIR})
add_test(NAME edges/wrong_names COMMAND ${edges}/check_names ${edges}/wrong)
set_tests_properties(edges/wrong_names PROPERTIES PASS_REGULAR_EXPRESSION
  "nowhere.c: found no such file.*cw_value_take: found no such name in value.h.*cw_no_such_thing: found no such name in any")
# Sanitizers have variables of their own in every object.
if(TARGET cw_inject AND NOT CW_SANITIZE)
  add_test(NAME edges/state COMMAND ${edges}/check_state $<TARGET_OBJECTS:cw_inject> COMMAND_EXPAND_LISTS)
endif()
