/* Computes the unit of measurement of a formula. Internal to metricdb. */
#ifndef CW_METRICDB_FORMULA_UNIT_H
#define CW_METRICDB_FORMULA_UNIT_H

#include "metricdb/dimension.h"
#include "metricdb/expr.h"

struct cw_typed {
    struct cw_dimension dimension;
    bool constant; /* computed from numbers alone; `value` is the result */
    double value;
};

/* Computes the unit of a formula whose i-th name has the unit names[i]. CW_ERR_INPUT on line 1 of `source`, with the
 * column in the formula, if units do not fit or a division makes no sense. */
enum cw_status cw_formula_unit(struct cw_typed *result, const struct cw_expr *expr, const struct cw_typed *names,
                               const char *source, struct cw_error *err);

#endif
