/* metric-config --explain: what a plan is, and why. */
#ifndef CW_CLI_CONFIG_PLAN_EXPLAIN_H
#define CW_CLI_CONFIG_PLAN_EXPLAIN_H

#include "host/plan.h"

/* Prints to standard output. `options` are those that the plan was made with. */
enum cw_status cw_plan_print(const struct cw_plan *plan, const struct cw_chip *chip,
                             const struct cw_plan_options *options, bool json, struct cw_arena *arena,
                             struct cw_error *err);

#endif
