# Includes, calls, and headers that commands use, against the tables in CONTRIBUTING.md; circles of files; the injection
# library's state; names in docs/architecture.md.
set(edges ${CMAKE_CURRENT_LIST_DIR})
add_test(NAME edges/project COMMAND ${edges}/check_edges ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
add_test(NAME edges/wrong COMMAND ${edges}/check_edges ${edges}/wrong)
set_tests_properties(edges/wrong PROPERTIES PASS_REGULAR_EXPRESSION
  "base/bytes.c: found #include \"eval/value.h\": base -> eval is not.*cli/main.c: .*cli -> base is not.*eval/value.c: found #include \"value.h\", expected a folder.*cli/main.c: found a call of cw_value_make of eval/value.h, which the table.*cli/show.c: found #include \"eval/value.h\", which the table.*has eval/none.h for cli/show.c.*found a circle of files: base/bytes eval/value")
# Its includes are right, so that its objects alone show the faults.
add_library(cw_edges_calls OBJECT edges/calls/base/first.c edges/calls/base/second.c edges/calls/eval/value.c
            edges/calls/cli/main.c)
target_include_directories(cw_edges_calls PRIVATE ${edges}/calls)
add_test(NAME edges/calls COMMAND ${edges}/check_edges ${edges}/calls
         ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/cw_edges_calls.dir/edges/calls)
set_tests_properties(edges/calls PROPERTIES PASS_REGULAR_EXPRESSION
  "^base/second.c: found a call of cw_value_make of eval/value.c: base -> eval is not in the table\nfound a circle of calls: base/first base/second\n$")
add_test(NAME edges/unbuilt COMMAND ${edges}/check_edges ${edges}/calls ${edges}/calls)
set_tests_properties(edges/unbuilt PROPERTIES PASS_REGULAR_EXPRESSION
  "edges/calls: found no object that calls another, expected the folder of a build")
add_test(NAME edges/names COMMAND ${edges}/check_names ${PROJECT_SOURCE_DIR})
add_test(NAME edges/wrong_names COMMAND ${edges}/check_names ${edges}/wrong)
set_tests_properties(edges/wrong_names PROPERTIES PASS_REGULAR_EXPRESSION
  "nowhere.c: found no such file.*cw_value_take: found no such name in value.h.*cw_no_such_thing: found no such name in any")
if(TARGET cw_inject)
  add_test(NAME edges/state COMMAND ${edges}/check_state $<TARGET_OBJECTS:cw_inject> COMMAND_EXPAND_LISTS)
endif()
