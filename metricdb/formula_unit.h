/* Units of measurement carried through a formula. Internal to metricdb. */
#ifndef CW_METRICDB_FORMULA_UNIT_H
#define CW_METRICDB_FORMULA_UNIT_H

#include "metricdb/dimension.h"
#include "metricdb/expr.h"

struct cw_typed {
    struct cw_dimension dimension;
    bool constant; /* of numbers alone, and then `value` */
    double value;
};

/* The unit of a formula whose i-th name has the unit names[i]. Where units do not fit, or a division cannot make sense,
 * CW_ERR_INPUT on line 1 of `source` with the column in the formula. */
enum cw_status cw_formula_unit(struct cw_typed *result, const struct cw_expr *expr, const struct cw_typed *names,
                               const char *source, struct cw_error *err);

#endif
