/* The budget of an input (tests/fuzz/README.md): memory at any moment, with what shared libraries allocate, and
 * processor time. What goes beyond it aborts, so that the stack shows where. */
#ifndef CW_TESTS_BUDGET_H
#define CW_TESTS_BUDGET_H

#include <stddef.h>

/* From here on an input of `size` bytes is read. */
void cw_budget_begin(size_t size);
void cw_budget_end(void);

#endif
