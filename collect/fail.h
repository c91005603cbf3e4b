/* Fills in a caller's error. */
#ifndef CW_COLLECT_FAIL_H
#define CW_COLLECT_FAIL_H

#include "include/counterworks/collect.h"

/* Returns the status, with which it fills in the error, unless that is NULL. */
__attribute__((format(printf, 3, 4))) enum counterworks_status
cw_collect_fail(struct counterworks_error *error, enum counterworks_status status, const char *format, ...);
enum counterworks_status cw_collect_fail_memory(struct counterworks_error *error);

#endif
