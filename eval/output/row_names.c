#define _GNU_SOURCE
#include "eval/output/row_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/apart.h"
#include "base/text.h"

enum { NAME_LEAST = 8 };

struct named {
    const char *const *names, *const *marks;
};

static int by_name(const void *a, const void *b, void *named)
{
    const struct named *n = named;
    return strcmp(n->names[*(const uint32_t *)a], n->names[*(const uint32_t *)b]);
}

const bool *cw_row_names_repeat(const char *const *names, const char *const *marks, uint32_t count,
                                struct cw_arena *arena)
{
    struct named named = {names, marks};
    uint32_t *order = calloc((size_t)count + 1, sizeof *order);
    bool *repeated = cw_arena_alloc(arena, count, sizeof *repeated);
    for (uint32_t i = 0; order && i < count; i++)
        order[i] = i;
    if (order && repeated)
        qsort_r(order, count, sizeof *order, by_name, &named);
    for (uint32_t first = 0, end; order && repeated && first < count; first = end) {
        bool differ = false;
        for (end = first + 1; end < count && by_name(&order[first], &order[end], &named) == 0; end++)
            differ = differ || strcmp(marks[order[first]], marks[order[end]]) != 0;
        for (uint32_t i = first; i < end; i++)
            repeated[order[i]] = differ;
    }
    const bool good = order && repeated;
    free(order);
    return good ? repeated : NULL;
}

/* What marks leave of a width for names. */
static size_t narrowed(const struct cw_row_names *r)
{
    return r->width > r->mark_width + NAME_LEAST ? r->width - r->mark_width : NAME_LEAST;
}

void cw_row_names_make(struct cw_row_names *r, const char *const *names, const char *const *marks, uint32_t count,
                       size_t width, struct cw_arena *arena)
{
    *r = (struct cw_row_names){.width = width, .names = names, .marks = marks};
    r->repeated = marks ? cw_row_names_repeat(names, marks, count, arena) : NULL;
    for (uint32_t i = 0; r->repeated && i < count; i++) {
        const size_t columns = r->repeated[i] ? cw_text_columns(marks[i]) + 1 : 0;
        r->mark_width = columns > r->mark_width ? columns : r->mark_width;
    }
    if (width)
        r->wide = cw_find_alike(names, count, width, cw_shorten);
    if (width && r->mark_width)
        r->narrow = cw_find_alike(names, count, narrowed(r), cw_shorten);
}

void cw_row_names_free(struct cw_row_names *r)
{
    free(r->wide);
    free(r->narrow);
    *r = (struct cw_row_names){0};
}

const char *cw_row_name(const struct cw_row_names *r, uint32_t row, char text[CW_SHORT_SIZE])
{
    const bool marked = r->repeated && r->repeated[row];
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
