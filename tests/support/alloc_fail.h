/* Makes allocations fail, for executables that link with the target cw_test_alloc_fail (units.cmake). Allocations
 * by shared libraries are not affected. */
#ifndef CW_TESTS_ALLOC_FAIL_H
#define CW_TESTS_ALLOC_FAIL_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"

/* The allocation after `count` more fails, once. A negative count turns it off. */
void cw_alloc_fail_after(long count);
/* Whether it has failed since, and how many there were. */
bool cw_alloc_failed(void);
long cw_alloc_seen(void);

/* Does `work` in an arena of its own with its first allocation failing, then with its second, until none fails. Returns
 * how many failed; -1 - N where the N-th was not told of as CW_ERR_NOMEM, by the status and in `err`. */
long cw_alloc_fail_each(enum cw_status (*work)(struct cw_arena *own, struct cw_error *err));

#endif
