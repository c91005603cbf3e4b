# A line for each fuzz target: see README.md here.
option(CW_FUZZ "build the libFuzzer executables (clang, with CW_SANITIZE)" OFF)
if(CW_FUZZ)
  if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang" OR NOT CW_SANITIZE)
    message(FATAL_ERROR "CW_FUZZ needs clang and CW_SANITIZE=ON")
  endif()
  # every folder is to be instrumented, not only the target's own file
  target_compile_options(cw_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# The target fuzz_NAME.c: replay_NAME runs it over corpus/NAME as the test fuzz/NAME; fuzz_NAME fuzzes.
# cw_fuzz(name LIBS...)
function(cw_fuzz name)
  add_executable(replay_${name} fuzz/fuzz_${name}.c fuzz/replay_main.c)
  target_link_libraries(replay_${name} PRIVATE cw_options cw_base ${ARGN})
  add_test(NAME fuzz/${name} COMMAND replay_${name} ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name})
  if(CW_FUZZ)
    add_executable(fuzz_${name} fuzz/fuzz_${name}.c)
    target_link_libraries(fuzz_${name} PRIVATE cw_options ${ARGN})
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  endif()
endfunction()

cw_fuzz(config_image cw_test_image cw_image)
cw_fuzz(counter_data cw_test_image cw_image)
cw_fuzz(pc_data cw_test_image cw_eval)
cw_fuzz(lines cw_eval)
cw_fuzz(chip cw_metricdb)
cw_fuzz(expr cw_test_chip cw_eval)
