/* metric-config --explain: what a plan is, and why. */
#ifndef CW_CLI_CONFIG_PLAN_EXPLAIN_H
#define CW_CLI_CONFIG_PLAN_EXPLAIN_H

#include "base/arena.h"
#include "base/error.h"
#include "include/counterworks/counterworks.h"

/* Prints to standard output. */
enum cw_status cw_plan_print(const struct counterworks_plan *plan, const struct counterworks_chip *chip, bool json,
                             struct cw_arena *arena, struct cw_error *err);

#endif
