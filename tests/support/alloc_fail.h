/* Makes allocations fail, for executables that link with the target cw_test_alloc_fail (units.cmake). Allocations
 * by shared libraries are not affected. */
#ifndef CW_TESTS_ALLOC_FAIL_H
#define CW_TESTS_ALLOC_FAIL_H

#include <stdbool.h>

/* The allocation after `count` more fails, once. A negative count turns it off. */
void cw_alloc_fail_after(long count);
/* Whether it has failed since, and how many there were. */
bool cw_alloc_failed(void);
long cw_alloc_seen(void);

#endif
