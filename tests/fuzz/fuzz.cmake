# A line for each fuzz target: see README.md here.
option(CW_FUZZ "build the libFuzzer executables (clang, with CW_SANITIZE)" OFF)
if(CW_FUZZ)
  if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang" OR NOT CW_SANITIZE)
    message(FATAL_ERROR "CW_FUZZ needs clang and CW_SANITIZE=ON")
  endif()
  # every folder is to be instrumented, not only the target's own file
  target_compile_options(cw_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# Takes part in every target: it stops what goes beyond the budget of an input (support/budget.h).
add_library(cw_fuzz_budget OBJECT fuzz/budgeted.c support/budget.c)
target_link_libraries(cw_fuzz_budget PUBLIC cw_options)
target_link_options(cw_fuzz_budget INTERFACE -Wl,--wrap=LLVMFuzzerTestOneInput)

# The target fuzz_NAME.c: replay_NAME runs it over corpus/NAME as the test fuzz/NAME; fuzz_NAME fuzzes.
# cw_fuzz(name LIBS...)
function(cw_fuzz name)
  add_executable(replay_${name} fuzz/fuzz_${name}.c fuzz/replay_main.c)
  target_link_libraries(replay_${name} PRIVATE cw_fuzz_budget cw_base ${ARGN})
  add_test(NAME fuzz/${name} COMMAND replay_${name} ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name})
  if(CW_FUZZ)
    add_executable(fuzz_${name} fuzz/fuzz_${name}.c)
    target_link_libraries(fuzz_${name} PRIVATE cw_fuzz_budget ${ARGN})
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  endif()
endfunction()

# The budget is kept: the same program ends well, or is stopped for its memory or its time.
add_executable(over_budget fuzz/over_budget.c fuzz/replay_main.c)
target_link_libraries(over_budget PRIVATE cw_fuzz_budget cw_base)
set(told_none "1 inputs replayed")
set(told_memory "takes more memory than 64 times its size")
set(told_time "takes more time than 1 s for each 10 MB")
foreach(way none memory time)
  add_test(NAME fuzz/budget_${way} COMMAND ${CMAKE_CURRENT_LIST_DIR}/over_budget_says $<TARGET_FILE:over_budget>
                                           ${CMAKE_CURRENT_LIST_DIR}/over_budget/${way} ${told_${way}})
endforeach()

cw_fuzz(config_image cw_test_image cw_image)
cw_fuzz(rank_index cw_image)
cw_fuzz(counter_data cw_test_image cw_image)
cw_fuzz(pc_data cw_test_image cw_image)
cw_fuzz(trace cw_test_image cw_eval_output)
cw_fuzz(evaluate cw_test_image cw_test_chip cw_eval_output)
foreach(target replay_evaluate fuzz_evaluate)
  if(TARGET ${target})
    target_link_options(${target} PRIVATE -Wl,--wrap=cw_confined_run) # see no_child.h
  endif()
endforeach()
cw_fuzz(lines cw_eval)
cw_fuzz(sections cw_eval)
cw_fuzz(layout cw_report)
cw_fuzz(chip cw_metricdb)
cw_fuzz(node cw_test_chip cw_metricdb)
cw_fuzz(expr cw_test_chip cw_eval)
cw_fuzz(rules cw_test_chip cw_eval_output)
cw_fuzz(compiled cw_test_chip cw_host cw_metricdb)
cw_fuzz(gate cw_eval)
