# How plain documents are: CONTRIBUTING.md, "Documents".
set(words ${CMAKE_CURRENT_LIST_DIR})
add_test(NAME words/project COMMAND ${words}/check_words ${PROJECT_SOURCE_DIR})
add_test(NAME words/wrong COMMAND ${words}/check_words ${words}/wrong)
set_tests_properties(words/wrong PROPERTIES PASS_REGULAR_EXPRESSION
  "page.md: what 222.2, those 222.2.*found \"what\" 222.2 times in 1,000 words, expected at most 3.*found \"those\" 222.2")
