# The form of commit messages: CONTRIBUTING.md, "Commits".
add_test(NAME commits/project COMMAND ${CMAKE_CURRENT_LIST_DIR}/check_commits ${PROJECT_SOURCE_DIR})
find_program(GIT git)
if(GIT)
  add_test(NAME commits/history COMMAND ${CMAKE_CURRENT_LIST_DIR}/try_history)
endif()
