/* Names of rows in so many columns of a terminal, cut so that they still tell the rows apart: by the part in which they
 * differ (base/apart.h), and by a mark behind the name, such as the shape of a launch, where the whole name is another
 * row's as well. */
#ifndef CW_EVAL_OUTPUT_ROW_NAMES_H
#define CW_EVAL_OUTPUT_ROW_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/shorten.h"

enum { CW_ROW_MARK_SIZE = 72 };

struct cw_row_names {
    size_t width;             /* 0: all of it */
    const char *const *names; /* by row */
    const char *const *marks; /* by row; NULL: there are none */
    const bool *repeated;     /* by row: a row with another mark has its name */
    size_t *wide, *narrow;    /* as cw_find_alike returns it: of whole rows, and of rows with a mark */
    size_t mark_width;        /* of the widest mark that is shown, with the blank before it */
};

/* Which rows have a name that is another row's, with another mark. NULL when out of memory. */
const bool *cw_row_names_repeat(const char *const *names, const char *const *marks, uint32_t count,
                                struct cw_arena *arena);
/* The names must stay. Out of memory, they are cut as ever. */
void cw_row_names_make(struct cw_row_names *row_names, const char *const *names, const char *const *marks,
                       uint32_t count, size_t width, struct cw_arena *arena);
void cw_row_names_free(struct cw_row_names *row_names);
/* Escaped. Returns `text`. */
const char *cw_row_name(const struct cw_row_names *row_names, uint32_t row, char text[CW_SHORT_SIZE]);

/* "8x8 / 256": grid and block, the usual mark of a launch. Returns `text`. */
const char *cw_row_shape(const uint32_t grid[3], const uint32_t block[3], char text[CW_ROW_MARK_SIZE]);

#endif
