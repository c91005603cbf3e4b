/* Names of rows, cut to a number of columns so that they still tell the rows apart. Cut names keep the part in which
 * they differ (base/apart.h), and the shape of the launch stands behind a name that rows of several shapes have. */
#ifndef CW_EVAL_OUTPUT_ROW_NAMES_H
#define CW_EVAL_OUTPUT_ROW_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/shorten.h"

enum { CW_ROW_MARK_SIZE = 72 };

/* Lives in an arena; to be freed as well. */
struct cw_row_names;
/* NULL when out of memory. */
struct cw_row_names *cw_row_names_create(uint32_t count, struct cw_arena *arena);
/* Sets the name of a row, which must stay, and the shape of its launch; `grid` NULL: it has none. False when out of
 * memory. */
bool cw_row_names_set(struct cw_row_names *names, uint32_t row, const char *name, const uint32_t *grid,
                      const uint32_t *block);
/* Once all rows are set: *columns of the widest shape that a name needs behind it, with the blank before; 0: none does.
 * False when out of memory. */
bool cw_row_names_compare(struct cw_row_names *names, size_t *columns);
/* Cuts the names to `width` columns, 0: not at all; without `shapes` no shape stands behind them. When out of memory it
 * cuts each name as if it were alone. */
void cw_row_names_fit(struct cw_row_names *names, size_t width, bool shapes);
void cw_row_names_free(struct cw_row_names *names);
/* The name of a row, whole until the names are fitted; escaped. Returns `text`. */
const char *cw_row_name(const struct cw_row_names *names, uint32_t row, char text[CW_SHORT_SIZE]);
/* The shape of a row, "" for none. */
const char *cw_row_name_shape(const struct cw_row_names *names, uint32_t row);

/* "8x8 / 256": grid and block, the usual mark of a launch. Returns `text`. */
const char *cw_row_shape(const uint32_t grid[3], const uint32_t block[3], char text[CW_ROW_MARK_SIZE]);

#endif
