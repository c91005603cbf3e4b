# Command-line cases: tests/cli/cases/NAME.sh beside the output that is expected of it, NAME.out.
file(GLOB cases CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/cases/*.sh)
# Under sanitizers a command takes ten times as long to start, and these start many for answers, words and scripts alone, or
# for readers and writers that units, fuzz targets and attacks visit.
if(CW_SANITIZE)
  list(FILTER cases EXCLUDE REGEX "/(advise_real|advise_shipped|completion|documents|eval_outputs|every_way|export_trace|\
foreign_files|front|import|legacy|man_pages|mpi|names|names_apart|plan_all|query_chips|query_pm|query_questions)\\.sh$")
endif()
foreach(case ${cases})
  get_filename_component(name ${case} NAME_WE)
  add_test(NAME cli/${name} COMMAND ${CMAKE_CURRENT_LIST_DIR}/run_case ${case})
  set_tests_properties(cli/${name} PROPERTIES ENVIRONMENT "BIN=${PROJECT_BINARY_DIR}/bin;SANITIZED=$<BOOL:${CW_SANITIZE}>"
                       SKIP_RETURN_CODE 77)
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
