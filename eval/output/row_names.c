#define _GNU_SOURCE
#include "eval/output/row_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/apart.h"
#include "base/text.h"

enum { NAME_LEAST = 8 };

struct cw_row_names {
    struct cw_arena *arena;
    uint32_t count;
    const char **names, **marks; /* marks: shapes, "" for none */
    bool *repeated;              /* by row: a row of another shape has its name */
    size_t mark_width;           /* of the widest mark behind a name, with the blank before it */
    bool shapes;
    size_t width;          /* 0: all of it */
    size_t *wide, *narrow; /* from cw_find_alike: of whole rows, and of rows with a mark */
};

struct cw_row_names *cw_row_names_create(uint32_t count, struct cw_arena *arena)
{
    struct cw_row_names *r = cw_arena_alloc(arena, 1, sizeof *r);
    if (!r)
        return NULL;
    *r = (struct cw_row_names){.arena = arena,
                               .count = count,
                               .names = cw_arena_alloc(arena, count, sizeof *r->names),
                               .marks = cw_arena_alloc(arena, count, sizeof *r->marks),
                               .repeated = cw_arena_alloc(arena, count, sizeof *r->repeated)};
    return r->names && r->marks && r->repeated ? r : NULL;
}

bool cw_row_names_set(struct cw_row_names *r, uint32_t row, const char *name, const uint32_t *grid,
                      const uint32_t *block)
{
    char text[CW_ROW_MARK_SIZE];
    r->names[row] = name;
    r->marks[row] = grid ? cw_arena_strdup(r->arena, cw_row_shape(grid, block, text)) : "";
    return r->marks[row];
}

static int by_name(const void *a, const void *b, void *names)
{
    const char *const *list = names;
    return strcmp(list[*(const uint32_t *)a], list[*(const uint32_t *)b]);
}

bool cw_row_names_compare(struct cw_row_names *r, size_t *columns)
{
    uint32_t *order = calloc((size_t)r->count + 1, sizeof *order);
    if (!order)
        return false;
    for (uint32_t i = 0; i < r->count; i++)
        order[i] = i;
    qsort_r(order, r->count, sizeof *order, by_name, r->names);
    for (uint32_t first = 0, end; first < r->count; first = end) {
        bool differ = false;
        for (end = first + 1; end < r->count && by_name(&order[first], &order[end], r->names) == 0; end++)
            differ = differ || strcmp(r->marks[order[first]], r->marks[order[end]]) != 0;
        for (uint32_t i = first; i < end; i++) {
            const size_t taken = differ ? cw_text_columns(r->marks[order[i]]) + 1 : 0;
            r->repeated[order[i]] = differ;
            r->mark_width = taken > r->mark_width ? taken : r->mark_width;
        }
    }
    free(order);
    *columns = r->mark_width;
    return true;
}

/* The width of a name with a mark behind it. */
static size_t narrowed(const struct cw_row_names *r)
{
    return r->width > r->mark_width + NAME_LEAST ? r->width - r->mark_width : NAME_LEAST;
}

void cw_row_names_fit(struct cw_row_names *r, size_t width, bool shapes)
{
    r->width = width;
    r->shapes = shapes;
    if (width)
        r->wide = cw_find_alike(r->names, r->count, width, cw_shorten);
    if (width && shapes && r->mark_width)
        r->narrow = cw_find_alike(r->names, r->count, narrowed(r), cw_shorten);
}

void cw_row_names_free(struct cw_row_names *r)
{
    if (!r)
        return;
    free(r->wide);
    free(r->narrow);
}

const char *cw_row_name_shape(const struct cw_row_names *r, uint32_t row)
{
    return r->marks[row];
}

const char *cw_row_name(const struct cw_row_names *r, uint32_t row, char text[CW_SHORT_SIZE])
{
    const bool marked = r->shapes && r->repeated[row];
    const size_t width = marked && r->width ? narrowed(r) : r->width, *alike = marked ? r->narrow : r->wide;
    cw_shorten(r->names[row], width, text);
    if (alike)
        cw_show_apart(r->names[row], alike[row], width, text);
    const size_t used = strlen(text);
    if (marked && used + CW_ROW_MARK_SIZE + 1 < CW_SHORT_SIZE)
        cw_text_format(text + used, CW_SHORT_SIZE - used, " %s", r->marks[row]);
    return text;
}

/* "8x8" of (8, 8, 1). */
static size_t put_extent(const uint32_t extent[3], char *text, size_t size)
{
    return (size_t)(extent[2] > 1
                        ? snprintf(text, size, "%" PRIu32 "x%" PRIu32 "x%" PRIu32, extent[0], extent[1], extent[2])
                    : extent[1] > 1 ? snprintf(text, size, "%" PRIu32 "x%" PRIu32, extent[0], extent[1])
                                    : snprintf(text, size, "%" PRIu32, extent[0]));
}

const char *cw_row_shape(const uint32_t grid[3], const uint32_t block[3], char text[CW_ROW_MARK_SIZE])
{
    size_t used = put_extent(grid, text, CW_ROW_MARK_SIZE);
    used += (size_t)snprintf(text + used, CW_ROW_MARK_SIZE - used, " / ");
    put_extent(block, text + used, CW_ROW_MARK_SIZE - used);
    return text;
}
