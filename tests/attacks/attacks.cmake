# Files that once took a command down. make_attacks.py makes them, run_attacks says what is expected of them.
set(attacks ${CMAKE_CURRENT_LIST_DIR})
set(made ${CMAKE_CURRENT_BINARY_DIR}/attacks)
file(GLOB files CONFIGURE_DEPENDS ${attacks}/files/*)
foreach(file ${files})
  get_filename_component(name ${file} NAME)
  add_test(NAME attacks/${name} COMMAND ${attacks}/run_attacks ${PROJECT_BINARY_DIR}/bin ${file})
  list(APPEND attack_tests attacks/${name})
endforeach()

# Each file can be made again; those with compressed sections to other bytes where zlib is another.
add_test(NAME attacks/made COMMAND sh -c
         "${attacks}/make_attacks.py ${made}/small && for f in ${attacks}/files/*; do case $f in */elf_*) ;; *) cmp $f \
          ${made}/small/\${f##*/} || exit 1;; esac; done")

add_test(NAME attacks/make_large COMMAND ${attacks}/make_attacks.py ${made}/large --large $<$<BOOL:${CW_SANITIZE}>:30>
         COMMAND_EXPAND_LISTS)
set_tests_properties(attacks/make_large PROPERTIES FIXTURES_SETUP large_attacks)
foreach(part 0 1)
  add_test(NAME attacks/large_${part} COMMAND ${attacks}/run_attacks --half ${part} ${PROJECT_BINARY_DIR}/bin ${made}/large)
  set_tests_properties(attacks/large_${part} PROPERTIES FIXTURES_REQUIRED large_attacks)
  list(APPEND attack_tests attacks/large_${part})
endforeach()
set_tests_properties(${attack_tests} PROPERTIES TIMEOUT 1200)
if(CW_SANITIZE)
  set_tests_properties(${attack_tests} PROPERTIES ENVIRONMENT SANITIZED=1)
endif()
