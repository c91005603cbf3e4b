# What a redacted capture keeps.
set(trust ${CMAKE_CURRENT_LIST_DIR})
add_test(NAME trust/redact COMMAND ${trust}/check_redact ${PROJECT_BINARY_DIR}/bin ${PROJECT_SOURCE_DIR}/data/captures)
set_tests_properties(trust/redact PROPERTIES ENVIRONMENT CW_DATA_DIR=${PROJECT_SOURCE_DIR}/data)
