/* A formula with those that it refers to written out. Internal to metricdb. */
#ifndef CW_METRICDB_FORMULA_FLAT_H
#define CW_METRICDB_FORMULA_FLAT_H

#include "metricdb/formula.h"
#include "metricdb/metric.h"
#include "metricdb/yaml.h"

/* A name in a formula, looked up. */
struct cw_formula_reference {
    struct cw_metric metric;
    unsigned column; /* where it stands first */
};

/* Room in which one formula after another is written out; NULL without memory. The caller frees it. */
struct cw_flat *cw_flat_make(void);

/* Makes the steps of f, which is one of `items`, from an expression whose i-th name is refs[i]. Formulas among those
 * are resolved already. Fails at the text, of which the expression was read, where that takes too much. */
void cw_formula_write_out(struct cw_flat *flat, struct cw_yaml_reader *in, const struct cw_yaml *text,
                          struct cw_formula *f, const struct cw_formula *items, const struct cw_expr *expr,
                          const struct cw_formula_reference *refs);

#endif
