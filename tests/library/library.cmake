# libcounterworks, from the build tree and installed.
cw_unit(library_test counterworks)
target_include_directories(library_test PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(library_test PRIVATE CW_METRIC_CONFIG="$<TARGET_FILE:metric-config>"
                           CW_METRIC_EVAL="$<TARGET_FILE:metric-eval>" CW_METRIC_QUERY="$<TARGET_FILE:metric-query>")
add_dependencies(library_test metric-config metric-eval metric-query)
set_tests_properties(unit/library_test PROPERTIES ENVIRONMENT LD_LIBRARY_PATH=$<TARGET_FILE_DIR:counterworks>)
cw_unit(library_view_test counterworks)
target_include_directories(library_view_test PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(library_view_test PRIVATE CW_METRIC_EVAL="$<TARGET_FILE:metric-eval>" CW_MAKE_RANKS="$<TARGET_FILE:make_ranks>")
add_dependencies(library_view_test metric-eval make_ranks)
set_tests_properties(unit/library_view_test PROPERTIES ENVIRONMENT LD_LIBRARY_PATH=$<TARGET_FILE_DIR:counterworks>)
set(options)
if(CW_SANITIZE)
  set(options -fsanitize=address,undefined)
endif()
add_test(NAME library/installed
         COMMAND ${CMAKE_CURRENT_LIST_DIR}/check_library ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR} ${CMAKE_C_COMPILER} ${options})
