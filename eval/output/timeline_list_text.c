#include "eval/output/timeline_page.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/shorten.h"
#include "base/text.h"
#include "eval/output/terminal.h"

/* Which cells a list has, in the order of the columns. */
enum cell {
    COUNT,
    TOTAL,
    SHARE,
    OWN,
    MEAN,
    LEAST,
    GREATEST,
    BYTES,
    RATE,
    FAILED,
    RANGES,
    WALL,
    MEDIAN,
    FASTEST,
    SLOWEST,
    NODES
};

struct list {
    const struct cw_timeline_rows *rows;
    enum cell cells[CW_CELLS];
};

/* Which of several ranges was the slowest: behind their name, where there is room for both. */
static void put_slowest(const struct cw_timeline_groups *groups, uint32_t group, size_t room, char name[CW_SHORT_SIZE])
{
    const struct cw_timeline *t = groups->t;
    const size_t used = strlen(name);
    char numbers[CW_TIMELINE_NAME_SIZE], time[CW_TIME_TEXT_SIZE];
    cw_timeline_group_slowest(groups, group, numbers);
    if (*numbers)
        snprintf(name + used, CW_SHORT_SIZE - used, " (slowest: %.100s)", numbers);
    else
        snprintf(name + used, CW_SHORT_SIZE - used, " (slowest at %s)",
                 cw_terminal_time((double)(t->ranges[groups->items[group].slowest].start - t->start), time));
    if (room && cw_text_columns(name) > room)
        name[used] = 0;
}

/* A graph has no name: what takes longest in it tells which it is. */
static void put_longest(const struct cw_timeline *t, const struct cw_timeline_gpu *g, char name[CW_SHORT_SIZE])
{
    const size_t used = strlen(name);
    char kernel[CW_SHORT_SIZE];
    snprintf(name + used, CW_SHORT_SIZE - used, ", longest: %.300s",
             g->kind == CW_TRACE_KERNEL ? cw_shorten(t->names[g->name].shown, 40, kernel)
                                        : cw_trace_kinds[g->kind].name);
}

static void fill_group(const struct cw_text_lines *l, uint32_t row, struct cw_text_line *line)
{
    const struct list *list = l->content;
    const struct cw_timeline_groups *groups = &list->rows->groups;
    const struct cw_timeline_group *g = &groups->items[list->rows->rows[row]];
    for (size_t k = 0; k < l->count; k++) {
        struct cw_text_cell *cell = &line->cells[k];
        switch (list->cells[k]) {
        case COUNT: /* a graph that was traced as a whole tells nothing of its nodes */
            groups->by != CW_TIMELINE_BY_GRAPH || g->nodes ? cw_cell_count(g->count, cell) : cw_cell_none(cell);
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
            g->ranges ? cw_cell_count(g->ranges, cell) : cw_cell_none(cell); /* what ran in no range */
            break;
        case WALL:
            g->ranges ? cw_cell_time(g->wall, cell) : cw_cell_none(cell);
            break;
        case MEDIAN:
            g->ranges ? cw_cell_time(g->median, cell) : cw_cell_none(cell);
            break;
        case FASTEST:
            g->ranges ? cw_cell_time(g->fastest, cell) : cw_cell_none(cell);
            break;
        case NODES:
            g->nodes ? cw_cell_count(g->nodes, cell) : cw_cell_none(cell);
            break;
        case SLOWEST:
            g->ranges ? cw_cell_time(g->longest, cell) : cw_cell_none(cell);
            break;
        case RATE:
            cw_cell_amount(g->total > 0 ? g->bytes / (g->total / 1e9) : 0, "bytes/s", cell);
            break;
        default:
            cw_cell_count(g->failed, cell);
        }
    }
    char name[CW_TIMELINE_NAME_SIZE];
    cw_elide(cw_timeline_group_name(groups, list->rows->rows[row], name), line->name, sizeof line->name);
    if (cw_timeline_by_ranges(groups->by) && g->ranges > 1)
        put_slowest(groups, list->rows->rows[row], (size_t)l->room, line->name);
    if (groups->by == CW_TIMELINE_BY_GRAPH && g->nodes > 1)
        put_longest(groups->t, &groups->t->gpu[g->first], line->name);
}

/* `what`: many of them. */
static void tell_left(struct cw_text_lines *l, const struct cw_timeline_rows *rows, const char *what)
{
    const size_t length = strlen(what), end = strcmp(what, "processes") == 0 ? 2 : 1;
    char text[CW_NUMBER_SIZE];
    if (rows->left)
        snprintf(l->left, sizeof l->left, "and %.30s more %.*s", cw_terminal_integer(rows->left, text),
                 (int)(rows->left == 1 ? length - end : length), what);
}

static bool has_failed(const struct cw_timeline_rows *rows)
{
    for (uint32_t i = 0; i < rows->count; i++)
        if (rows->groups.items[rows->rows[i]].failed)
            return true;
    return false;
}

static void tell_others(struct cw_text_lines *l, const struct cw_timeline_groups *groups)
{
    char text[CW_NUMBER_SIZE];
    if (groups->other_thread)
        snprintf(l->note, sizeof l->note,
                 "%.30s launch%s came from threads without a range, and count%s for the only thread that had one.",
                 cw_terminal_integer(groups->other_thread, text), groups->other_thread == 1 ? "" : "es",
                 groups->other_thread == 1 ? "s" : "");
}

/* Which columns a list has in a terminal of this width; how many. */
static size_t choose_cells(const struct cw_text_page *p, const struct cw_timeline_rows *rows, enum cell cells[CW_CELLS])
{
    const enum cw_timeline_by by = rows->groups.by;
    const unsigned width = p->o->wide || !p->style->width ? 1000 : p->style->width;
    const bool timed = cw_timeline_by_ranges(by) || by == CW_TIMELINE_BY_GRAPH, copies = by == CW_TIMELINE_BY_COPY;
    const struct {
        enum cell cell;
        bool shown;
    } all[] = {{RANGES, timed},
               {WALL, timed && width >= 112},
               {FASTEST, timed && width >= 124},
               {MEDIAN, timed},
               {SLOWEST, timed},
               {COUNT, true},
               {NODES, by == CW_TIMELINE_BY_GRAPH},
               {TOTAL, true},
               {SHARE, true},
               {OWN, cw_timeline_by_ranges(by) && width >= 96},
               {MEAN, !timed},
               {LEAST, !timed && !copies && width >= 96},
               {GREATEST, !timed && !copies},
               {BYTES, copies},
               {RATE, copies},
               {FAILED, has_failed(rows)}};
    size_t count = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all && count < CW_CELLS; i++)
        if (all[i].shown)
            cells[count++] = all[i].cell;
    return count;
}

void cw_text_put_list(const struct cw_text_page *p, const char *title, const struct cw_timeline_rows *rows,
                      const char *items, const char *name, const char *more)
{
    static const char *const names[] = {"",         "total",   "share",     "self",   "mean",   "least",
                                        "greatest", "bytes",   "bandwidth", "failed", "ranges", "wall",
                                        "median",   "fastest", "slowest",   "nodes"};
    const bool by_graph = rows->groups.by == CW_TIMELINE_BY_GRAPH;
    struct list list = {.rows = rows};
    struct cw_text_lines l = {.fill = fill_group, .name = name, .rows = rows->count, .content = &list};
    l.names = cw_timeline_by_ranges(rows->groups.by) ? CW_NAMES_PATHS
              : rows->groups.by == CW_TIMELINE_BY_KERNEL || rows->groups.by == CW_TIMELINE_BY_FAMILY
                  ? CW_NAMES_FUNCTIONS
                  : CW_NAMES_WORDS;
    l.count = choose_cells(p, rows, list.cells);
    for (size_t k = 0; k < l.count; k++)
        l.columns[k] = list.cells[k] == COUNT    ? by_graph ? "nodes run" : items
                       : list.cells[k] == RANGES ? by_graph ? items : names[RANGES]
                                                 : names[list.cells[k]];
    tell_left(&l, rows, more);
    if (l.names == CW_NAMES_PATHS)
        tell_others(&l, &rows->groups);
    p->put(p, title, &l);
}
