/* Writes a formula out together with the formulas that it refers to. Internal to metricdb. */
#ifndef CW_METRICDB_FORMULA_FLAT_H
#define CW_METRICDB_FORMULA_FLAT_H

#include "metricdb/formula.h"
#include "metricdb/metric.h"
#include "metricdb/yaml.h"

/* A name in a formula, looked up. */
struct cw_formula_reference {
    struct cw_metric metric;
    unsigned column; /* of its first occurrence */
};

/* Allocates room to write out one formula after another; NULL when out of memory. The caller frees it. */
struct cw_flat *cw_flat_make(void);

/* Makes the steps of f, one of `items`, from an expression whose i-th name is refs[i]. Formulas among the references
 * must be resolved already. Fails at `text`, the source of the expression, if a limit is exceeded. */
void cw_formula_write_out(struct cw_flat *flat, struct cw_yaml_reader *in, const struct cw_yaml *text,
                          struct cw_formula *f, const struct cw_formula *items, const struct cw_expr *expr,
                          const struct cw_formula_reference *refs);

#endif
