# How plain documents are: CONTRIBUTING.md, "Documents".
set(words ${CMAKE_CURRENT_LIST_DIR})
add_test(NAME words/project COMMAND ${words}/check_words ${PROJECT_SOURCE_DIR})
add_test(NAME words/wrong COMMAND ${words}/check_words ${words}/wrong)
set_tests_properties(words/wrong PROPERTIES PASS_REGULAR_EXPRESSION
  "page.md: what 222.2, those 222.2.*documents: found \"what\" 222.2 times in 1,000 words, expected at most 3.*found \"those\" 222.2.*view/page.h: what 153.8, those 153.8.*view: found \"what\" 153.8 times.*view: found \"those\" 153.8")
