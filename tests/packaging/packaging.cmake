# Versions, libraries and files in recipes of packages. CMake has to be rerun for no change of a recipe.
add_test(NAME packaging/recipes COMMAND ${CMAKE_CURRENT_LIST_DIR}/check_recipes ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
