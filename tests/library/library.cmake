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
# Not under the address sanitizer: views fork, and a thread that allocates leaves its lock to the child. With
# ThreadSanitizer (CMAKE_C_FLAGS=-fsanitize=thread) it finds races: docs/trust.md.
if(NOT CW_SANITIZE)
  add_executable(library_threads ${CMAKE_CURRENT_LIST_DIR}/threads.c)
  target_link_libraries(library_threads PRIVATE cw_options counterworks)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/threads)
  file(MAKE_DIRECTORY ${folder})
  add_test(NAME library/threads COMMAND library_threads ${PROJECT_SOURCE_DIR}/data WORKING_DIRECTORY ${folder})
  set_tests_properties(library/threads PROPERTIES ENVIRONMENT LD_LIBRARY_PATH=$<TARGET_FILE_DIR:counterworks>)
endif()
set(options)
if(CW_SANITIZE)
  set(options -fsanitize=address,undefined)
endif()
add_test(NAME library/installed
         COMMAND ${CMAKE_CURRENT_LIST_DIR}/check_library ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR} ${CMAKE_C_COMPILER} ${options})

# libcounterworks-collect, with the simulated GPU; and the examples of docs, whose work is on the host here.
cw_unit(collect_test counterworks counterworks-collect)
target_include_directories(collect_test PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(collect_test PRIVATE CW_METRIC_CONFIG="$<TARGET_FILE:metric-config>"
                           CW_CAPTURE_AGENT="$<TARGET_FILE:capture-agent>")
# A false driver, CUPTI and checkpoint library, which are one file with three names.
add_library(fake_checkpoint MODULE ${PROJECT_SOURCE_DIR}/tests/support/fake_checkpoint.c)
set(fake_gpu ${CMAKE_CURRENT_BINARY_DIR}/fake_gpu)
set_target_properties(fake_checkpoint PROPERTIES PREFIX "" OUTPUT_NAME libcuda.so SUFFIX .1 C_VISIBILITY_PRESET default
                      LIBRARY_OUTPUT_DIRECTORY ${fake_gpu})
add_custom_command(TARGET fake_checkpoint POST_BUILD
                   COMMAND ${CMAKE_COMMAND} -E create_symlink libcuda.so.1 ${fake_gpu}/libcupti.so.13
                   COMMAND ${CMAKE_COMMAND} -E create_symlink libcuda.so.1 ${fake_gpu}/libcheckpoint.so)
target_compile_definitions(collect_test PRIVATE CW_FAKE_GPU="${fake_gpu}")
target_link_libraries(collect_test PRIVATE ${CMAKE_DL_LIBS})
add_dependencies(collect_test metric-config capture-agent fake_checkpoint)
set_tests_properties(unit/collect_test PROPERTIES ENVIRONMENT
                     LD_LIBRARY_PATH=${fake_gpu}:$<TARGET_FILE_DIR:counterworks>:$<TARGET_FILE_DIR:counterworks-collect>)
set(session_examples autorange callbacks checkpoint instructions kernel_replay late live nested pc_samples trace userrange samples)
add_library(session_work OBJECT ${PROJECT_SOURCE_DIR}/docs/examples/work_none.c)
target_include_directories(session_work PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(session_work PRIVATE cw_options)
target_compile_options(session_work PRIVATE $<$<C_COMPILER_ID:Clang>:-fno-profile-instr-generate -fno-coverage-mapping>)
foreach(example ${session_examples})
  add_executable(session_${example} ${PROJECT_SOURCE_DIR}/docs/examples/${example}.c $<TARGET_OBJECTS:session_work>)
  target_link_libraries(session_${example} PRIVATE cw_options counterworks-collect)
  target_include_directories(session_${example} PRIVATE ${PROJECT_SOURCE_DIR}/include)
  # where clang counts lines, so small programs would take each other's file of counts
  target_compile_options(session_${example} PRIVATE $<$<C_COMPILER_ID:Clang>:-fno-profile-instr-generate -fno-coverage-mapping>)
  set_target_properties(session_${example} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/session OUTPUT_NAME ${example})
endforeach()
target_link_libraries(session_live PRIVATE counterworks)
add_test(NAME library/examples COMMAND ${CMAKE_CURRENT_LIST_DIR}/check_examples $<TARGET_FILE_DIR:capture-agent>
         $<TARGET_FILE_DIR:counterworks-collect> ${CMAKE_CURRENT_BINARY_DIR}/session ${PROJECT_SOURCE_DIR})
