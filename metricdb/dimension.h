/* Computes with units of measurement: products of named units with whole exponents.
 *
 *     bytes   instructions/gpc_cycles   bytes/s   gpc_cycles*warps   bytes^2   %   1
 *
 * Units are never converted: nanoseconds and s are different. "percent" and "%" are the same. */
#ifndef CW_METRICDB_DIMENSION_H
#define CW_METRICDB_DIMENSION_H

#include <stdbool.h>
#include <stddef.h>

#include "metricdb/chip.h"

enum { CW_DIMENSION_FACTORS = 8, CW_DIMENSION_TEXT = 256, CW_DIMENSION_NAME = 64 };

struct cw_dimension { /* all zero: a plain number */
    unsigned count;
    struct {
        char name[CW_DIMENSION_NAME];
        int exponent;                /* never 0 */
    } factors[CW_DIMENSION_FACTORS]; /* ascending by name */
};

/* Parses a dimension. False if the text is no product of units, or has more than CW_DIMENSION_FACTORS different
 * ones. */
bool cw_dimension_parse(struct cw_dimension *dimension, const char *text);
/* Multiplies `dimension` by `by` to the power of `exponent`, 1 or -1. False for too many units, with `dimension`
 * undefined. */
bool cw_dimension_multiply(struct cw_dimension *dimension, const struct cw_dimension *by, int exponent);
bool cw_dimension_equal(const struct cw_dimension *a, const struct cw_dimension *b);
/* Writes a dimension as text. Returns `buffer` (CW_DIMENSION_TEXT bytes). */
const char *cw_dimension_text(const struct cw_dimension *dimension, char *buffer);

/* The names of a chip's units of measurement, ascending. */
struct cw_unit_names {
    size_t count;
    const struct cw_unit_name {
        const char *text;
        size_t length;
    } * items;
};
/* False when out of memory. The names live in `arena` and in the chip. */
bool cw_unit_names_make(struct cw_unit_names *names, const struct cw_chip *chip, struct cw_arena *arena);
/* Whether each unit of the dimension is one of the chip, a time or percent. */
bool cw_dimension_known(const struct cw_dimension *dimension, const struct cw_unit_names *names);

#endif
