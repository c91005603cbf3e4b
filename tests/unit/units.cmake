# A line for each unit test: cw_unit(NAME LIBS...)

add_library(cw_test_image STATIC support/chunk_edit.c support/image_samples.c)
target_link_libraries(cw_test_image PUBLIC cw_image)
add_executable(make_image_seeds support/make_image_seeds.c)
target_link_libraries(make_image_seeds PRIVATE cw_test_image)

# Links with support/alloc_fail.c, which can make any allocation of our own code fail.
add_library(cw_test_alloc_fail STATIC support/alloc_fail.c)
target_link_libraries(cw_test_alloc_fail PUBLIC cw_options)
target_link_options(cw_test_alloc_fail INTERFACE -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc)

cw_unit(base_test cw_base)
cw_unit(image_config_image_test cw_test_image cw_test_alloc_fail)
cw_unit(image_counter_data_test cw_test_image cw_test_alloc_fail)

# eval/hdf5.c alone may use HDF5; its test reads the file back with the library.
cw_unit(eval_plan_test cw_eval)
cw_unit(eval_formula_test cw_eval)
cw_unit(eval_explain_test cw_eval)
cw_unit(eval_output_test cw_eval PkgConfig::JANSSON ${HDF5_LIBRARIES} ${HDF5_HL_LIBRARIES})
target_include_directories(eval_output_test PRIVATE ${HDF5_INCLUDE_DIRS})
add_executable(eval_bench bench/eval_bench.c)
target_link_libraries(eval_bench PRIVATE cw_options cw_eval cw_nvperf)

add_library(cw_test_chip STATIC support/small_chip.c)
target_link_libraries(cw_test_chip PUBLIC cw_options)
cw_unit(metricdb_yaml_test cw_metricdb)
cw_unit(metricdb_chip_test cw_test_chip cw_metricdb)
cw_unit(metricdb_metric_test cw_test_chip cw_metricdb)
cw_unit(metricdb_glossary_test cw_test_chip cw_metricdb)
cw_unit(metricdb_expr_test cw_metricdb)
cw_unit(metricdb_dimension_test cw_test_chip cw_metricdb)
cw_unit(metricdb_formula_test cw_test_chip cw_test_alloc_fail cw_metricdb)
cw_unit(metricdb_set_test cw_metricdb)
cw_unit(metricdb_lint_test cw_test_chip cw_metricdb)

cw_unit(metricdb_limits_test cw_metricdb)
cw_unit(host_schedule_test cw_host cw_nvperf)
add_executable(schedule_bench bench/schedule_bench.c)
target_link_libraries(schedule_bench PRIVATE cw_options cw_host cw_nvperf)
target_compile_definitions(schedule_bench PRIVATE CW_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
cw_unit(legacy_test cw_metricdb cw_test_alloc_fail)
