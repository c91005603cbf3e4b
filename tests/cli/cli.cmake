# Command-line cases: tests/cli/cases/NAME.sh beside the output that is expected of it, NAME.out.
file(GLOB cases CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/cases/*.sh)
# `./run test` runs each case once. Under sanitizers, where a command takes eight times as long, these are the agent's, and
# commands that no attack (../attacks) gives a hostile file, and files of other profilers; a release build has the rest, and
# those that do more there.
# Units, which fail each allocation, fuzz targets and attacks visit readers, evaluation and writers under sanitizers.
set(sanitized capture_.* trace trace_faults trace_lost launchers run_on pc_ranges instructions sim_values closed_pipe
    standard_streams damaged_capture bad_counter_data disassemble hostile_yaml check eval_commands merge merge_faults
    rivals_kineto rivals_ncu)
list(JOIN sanitized "|" sanitized)
set(release_more sim_values)
foreach(case ${cases})
  get_filename_component(name ${case} NAME_WE)
  if(CW_SANITIZE AND NOT name MATCHES "^(${sanitized})$")
    continue()
  endif()
  add_test(NAME cli/${name} COMMAND ${CMAKE_CURRENT_LIST_DIR}/run_case ${case})
  set_tests_properties(cli/${name} PROPERTIES ENVIRONMENT "BIN=${PROJECT_BINARY_DIR}/bin;SANITIZED=$<BOOL:${CW_SANITIZE}>"
                       SKIP_RETURN_CODE 77)
  if(NOT CW_SANITIZE AND name MATCHES "^(${sanitized})$" AND NOT name IN_LIST release_more)
    set_tests_properties(cli/${name} PROPERTIES LABELS sanitized)
  endif()
endforeach()

# Every shipped capture evaluates as NVIDIA's evaluator did, to 1e-12.
file(GLOB references CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/data/captures/*.json)
foreach(reference ${references})
  get_filename_component(name ${reference} NAME_WE)
  add_test(NAME golden/${name}
           COMMAND metric-eval --check ${reference} ${PROJECT_SOURCE_DIR}/data/captures/${name}.cwd)
endforeach()

# Random names on native captures, where there are some and NVIDIA's evaluator to compare with.
if(NOT CW_SANITIZE) # its time is that of NVIDIA's library
  add_test(NAME golden/native_sample COMMAND ${PROJECT_SOURCE_DIR}/tests/golden/native_sample)
  set_tests_properties(golden/native_sample PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 900
                       ENVIRONMENT "BIN=${PROJECT_BINARY_DIR}/bin;SOURCE=${PROJECT_SOURCE_DIR}")
endif()
