/* Metrics by formula over those of a chip, read from YAML files (metricdb/formula_load.h): users' own, and those that
 * come with the data.
 *
 * A chip with formulas is the same chip with a table more; wherever a metric name is read, a formula's name is one, of
 * type CW_FORMULA. */
#ifndef CW_METRICDB_FORMULA_H
#define CW_METRICDB_FORMULA_H

#include "metricdb/chip.h"
#include "metricdb/dimension.h"
#include "metricdb/expr.h"

struct cw_metric;

enum {
    CW_FORMULAS_MAX = 4096,      /* in all files together */
    CW_FORMULA_STEPS_MAX = 8192, /* with the formulas that it refers to */
    CW_FORMULA_PARTS_MAX = 256,
    CW_FORMULA_NESTING_MAX = 64 /* formulas that refer to formulas */
};

/* What is computed by itself, and once: a formula that others refer to. The formula's own part is the last one. */
struct cw_formula_part {
    uint32_t formula; /* its index */
    uint32_t end;     /* the first step behind it */
};

struct cw_formula {
    const char *name, *text, *description; /* of alternatives the text that was taken; "" for no description */
    const char *unit;                      /* as declared, else as computed */
    const char *path;
    unsigned line, column;
    bool shipped;                  /* with the data, and no user's own */
    struct cw_dimension dimension; /* as computed */
    bool constant;                 /* it refers to no metric, and is always `value` */
    double value;
    uint32_t step_count;
    /* Other formulas written out. CW_EXPR_NAME is an index into `metrics`, CW_EXPR_PART one into `parts`. */
    const struct cw_expr_step *steps;
    uint32_t part_count;
    const struct cw_formula_part *parts; /* each leaves one value, for those behind it */
    uint32_t metric_count;
    const struct cw_metric *metrics; /* metricdb/metric.h; of the chip itself, each once */
    struct cw_list formulas;         /* those that the text names, each once */
};

struct cw_formulas {
    uint32_t count;
    const struct cw_formula *items;
    const uint32_t *by_name; /* the items in the order of their names */
};

/* The index of a formula, or CW_NONE. */
uint32_t cw_formulas_find(const struct cw_chip *chip, const char *name);

#endif
