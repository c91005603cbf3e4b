#include "eval/output/timeline_page.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/shorten.h"
#include "base/text.h"
#include "eval/output/terminal.h"

/* Which cells a list has, in the order of the columns. */
enum cell { COUNT, TOTAL, SHARE, OWN, MEAN, LEAST, GREATEST, BYTES, RATE, FAILED, RANGES, WALL };

struct list {
    const struct cw_timeline_rows *rows;
    enum cell cells[CW_CELLS];
};

static void fill_group(const struct cw_text_lines *l, uint32_t row, struct cw_text_line *line)
{
    const struct list *list = l->content;
    const struct cw_timeline_groups *groups = &list->rows->groups;
    const struct cw_timeline_group *g = &groups->items[list->rows->rows[row]];
    for (size_t k = 0; k < l->count; k++) {
        char *cell = line->cells[k];
        switch (list->cells[k]) {
        case COUNT:
            cw_cell_count(g->count, cell);
            break;
        case TOTAL:
            cw_cell_time(g->total, cell);
            break;
        case SHARE:
            cw_cell_percent(cw_part_of(g->total, groups->total), cell);
            break;
        case OWN:
            cw_cell_time(g->own, cell);
            break;
        case MEAN:
            cw_cell_time(cw_timeline_group_mean(g), cell);
            break;
        case LEAST:
            cw_cell_time(g->least, cell);
            break;
        case GREATEST:
            cw_cell_time(g->greatest, cell);
            break;
        case BYTES:
            cw_cell_amount(g->bytes, "bytes", cell);
            break;
        case RANGES:
            g->ranges ? cw_cell_count(g->ranges, cell) : (void)strcpy(cell, "-"); /* what ran in no range */
            break;
        case WALL:
            g->ranges ? cw_cell_time(g->wall, cell) : (void)strcpy(cell, "-");
            break;
        case RATE:
            cw_cell_amount(g->total > 0 ? g->bytes / (g->total / 1e9) : 0, "bytes/s", cell);
            break;
        default:
            cw_cell_count(g->failed, cell);
        }
    }
    cw_timeline_group_name(groups, list->rows->rows[row], line->name);
}

/* `what`: many of them. */
static void put_left(const struct cw_text_page *p, const struct cw_timeline_rows *rows, const char *what)
{
    const size_t length = strlen(what), end = strcmp(what, "processes") == 0 ? 2 : 1;
    char text[CW_NUMBER_SIZE];
    if (rows->left)
        fprintf(p->out, "  and %s more %.*s\n", cw_terminal_integer(rows->left, text),
                (int)(rows->left == 1 ? length - end : length), what);
}

static bool has_failed(const struct cw_timeline_rows *rows)
{
    for (uint32_t i = 0; i < rows->count; i++)
        if (rows->groups.items[rows->rows[i]].failed)
            return true;
    return false;
}

/* A list of what ran on the GPU, or of calls. */
void cw_text_put_list(const struct cw_text_page *p, const struct cw_timeline_rows *rows, const char *items,
                      const char *name, const char *more)
{
    static const char *const names[] = {"",         "total", "share",     "self",   "mean",   "least",
                                        "greatest", "bytes", "bandwidth", "failed", "ranges", "wall"};
    struct list list = {.rows = rows};
    struct cw_text_lines l = {.page = p, .fill = fill_group, .name = name, .rows = rows->count, .content = &list};
    const bool copies = rows->groups.by == CW_TIMELINE_BY_COPY;
    const bool narrow = p->style->width && p->style->width < 96 && !p->o->wide;
    l.names = rows->groups.by == CW_TIMELINE_BY_NVTX ? CW_NAMES_PATHS
              : rows->groups.by == CW_TIMELINE_BY_KERNEL || rows->groups.by == CW_TIMELINE_BY_FAMILY
                  ? CW_NAMES_FUNCTIONS
                  : CW_NAMES_WORDS;
    if (l.names == CW_NAMES_PATHS) {
        list.cells[l.count++] = RANGES;
        list.cells[l.count++] = WALL;
    }
    list.cells[l.count++] = COUNT;
    list.cells[l.count++] = TOTAL;
    list.cells[l.count++] = SHARE;
    if (l.names == CW_NAMES_PATHS)
        list.cells[l.count++] = OWN;
    else
        list.cells[l.count++] = MEAN;
    if (!narrow && !copies && l.names != CW_NAMES_PATHS)
        list.cells[l.count++] = LEAST;
    if (!copies && l.names != CW_NAMES_PATHS)
        list.cells[l.count++] = GREATEST;
    if (copies) {
        list.cells[l.count++] = BYTES;
        list.cells[l.count++] = RATE;
    }
    if (has_failed(rows))
        list.cells[l.count++] = FAILED;
    for (size_t k = 0; k < l.count; k++)
        l.columns[k] = list.cells[k] == COUNT ? items : names[list.cells[k]];
    cw_text_put_lines(&l);
    put_left(p, rows, more);
}
