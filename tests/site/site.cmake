# The site of ./run site, with few metrics: every link of the documents leads somewhere, and the references are whole.
add_test(NAME site/pages COMMAND ${CMAKE_CURRENT_LIST_DIR}/check_site ${PROJECT_BINARY_DIR})
set_tests_properties(site/pages PROPERTIES SKIP_RETURN_CODE 77)
