/* Metrics by formula over other metrics of a chip, read from YAML files (metricdb/formula_load.h): users' own formulas
 * and the shipped ones.
 *
 * A chip with formulas is the same chip with one more table; a formula's name is valid wherever a metric name is, with
 * type CW_FORMULA. */
#ifndef CW_METRICDB_FORMULA_H
#define CW_METRICDB_FORMULA_H

#include "metricdb/chip.h"
#include "metricdb/dimension.h"
#include "metricdb/expr.h"

struct cw_metric;

enum {
    CW_FORMULAS_MAX = 4096,      /* in all files together */
    CW_FORMULA_STEPS_MAX = 8192, /* including the formulas that it refers to */
    CW_FORMULA_PARTS_MAX = 256,
    CW_FORMULA_NESTING_MAX = 64 /* formulas that refer to formulas */
};

struct cw_formula {
    const char *name, *text, *description; /* text: of alternatives the chosen one; "" for no description */
    const char *unit;                      /* as declared, else as computed */
    const char *path;
    unsigned line, column;
    bool shipped;                  /* shipped with the data, not a user's */
    struct cw_dimension dimension; /* as computed */
    bool constant;                 /* refers to no metric; the result is always `value` */
    double value;
    uint32_t step_count;
    /* Steps with other formulas written out. CW_EXPR_NAME is an index into `metrics`, CW_EXPR_PART into `parts`. */
    const struct cw_expr_step *steps;
    uint32_t part_count;
    /* A part is computed once, by itself: a formula that others refer to. The formula's own part is the last one. */
    const struct cw_formula_part {
        uint32_t formula; /* its index */
        uint32_t end;     /* the first step behind the part */
    } * parts;            /* each leaves one value, which later parts may use */
    uint32_t metric_count;
    const struct cw_metric *metrics; /* metricdb/metric.h; metrics of the chip itself, without duplicates */
    struct cw_list formulas;         /* formulas named in the text, without duplicates */
};

struct cw_formulas {
    uint32_t count;
    const struct cw_formula *items;
    const uint32_t *by_name; /* indices of the items, sorted by name */
};

/* The index of a formula, or CW_NONE. */
uint32_t cw_formulas_find(const struct cw_chip *chip, const char *name);

#endif
