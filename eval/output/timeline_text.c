#include "eval/output/timeline_page.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/shorten.h"
#include "base/text.h"
#include "eval/output/capture.h"
#include "eval/output/terminal.h"

/* ---- lists ------------------------------------------------------------------------------------------------------- */

struct list {
    const struct cw_timeline_rows *rows;
    const struct cw_group_column *columns[CW_CELLS]; /* NULL: the bandwidth, which files leave to their readers */
};

/* Names the slowest of several ranges behind their name, if there is room for both. */
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

/* Graphs have no name, so the longest item tells them apart. */
static void put_longest(const struct cw_timeline *t, const struct cw_timeline_gpu *g, char name[CW_SHORT_SIZE])
{
    const size_t used = strlen(name);
    char kernel[CW_SHORT_SIZE];
    snprintf(name + used, CW_SHORT_SIZE - used, ", longest: %.300s",
             g->kind == CW_TRACE_KERNEL ? cw_shorten(t->names[g->name].shown, 40, kernel)
                                        : cw_trace_kinds[g->kind].name);
}

/* Groups that ran in no range, or were traced without their nodes, have none of these numbers. */
static bool is_unknown(const struct cw_timeline_groups *groups, const struct cw_group_column *c,
                       const struct cw_group_row *row)
{
    const size_t at = c->column.offset;
    return isnan(cw_group_column_value(c, row)) || (at == offsetof(struct cw_group_row, ranges) && !row->ranges) ||
           (at == offsetof(struct cw_group_row, nodes) && !row->nodes) ||
           (at == offsetof(struct cw_group_row, launches) && groups->by == CW_TIMELINE_BY_GRAPH && !row->nodes);
}

static void fill_cell(const struct cw_timeline_groups *groups, const struct cw_group_column *c,
                      const struct cw_group_row *row, struct cw_text_lines *l)
{
    char text[CW_TIME_TEXT_SIZE];
    if (c ? is_unknown(groups, c, row) : !(row->total > 0) || isnan(row->bytes)) {
        cw_cell_none(l);
    } else if (!c) {
        cw_cell_amount(l, row->bytes / (row->total / 1e9), "bytes/s");
    } else {
        cw_cell_put(l, cw_group_column_text(c, row, text), cw_group_column_value(c, row));
    }
}

static void fill_group(struct cw_text_lines *l, uint32_t row)
{
    const struct list *list = l->content;
    const struct cw_timeline_groups *groups = &list->rows->groups;
    const struct cw_timeline_group *g = &groups->items[list->rows->rows[row]];
    const struct cw_group_row numbers = cw_timeline_group_row(groups, list->rows->rows[row]);
    for (size_t k = 0; k < l->count; k++)
        fill_cell(groups, list->columns[k], &numbers, l);
    char name[CW_TIMELINE_NAME_SIZE];
    cw_elide(cw_timeline_group_name(groups, list->rows->rows[row], name), l->text, sizeof l->text);
    if (cw_timeline_by_ranges(groups->by) && g->ranges > 1)
        put_slowest(groups, list->rows->rows[row], (size_t)l->room, l->text);
    if (groups->by == CW_TIMELINE_BY_GRAPH && g->nodes > 1)
        put_longest(groups->t, &groups->t->gpu[g->first], l->text);
}

/* `what`: the rows in the plural. */
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

/* Chooses the columns of a list in a terminal of this width; `items`: the title of a column of counts. */
static void choose_columns(struct cw_text_lines *l, struct list *list, const struct cw_text_page *p, const char *items)
{
    const struct cw_timeline_rows *rows = list->rows;
    const enum cw_timeline_by by = rows->groups.by;
    const unsigned width = p->o->wide || !p->style->width ? 1000 : p->style->width;
    const bool graphs = by == CW_TIMELINE_BY_GRAPH, copies = by == CW_TIMELINE_BY_COPY;
    const bool timed = cw_timeline_by_ranges(by) || graphs;
    const struct {
        const char *name, *title; /* NULL: its name */
        bool shown;
    } all[] = {{"ranges", graphs ? items : NULL, timed},
               {"wall", NULL, timed && width >= 112},
               {"fastest", NULL, timed && width >= 124},
               {"median", NULL, timed},
               {"slowest", NULL, timed},
               {"launches", graphs ? "nodes run" : items, true},
               {"nodes", NULL, graphs},
               {"total", NULL, true},
               {"share", NULL, true},
               {"self", NULL, cw_timeline_by_ranges(by) && width >= 96},
               {"mean", NULL, !timed},
               {"least", NULL, !timed && !copies && width >= 96},
               {"greatest", NULL, !timed && !copies},
               {"bytes", NULL, copies},
               {"bandwidth", NULL, copies},
               {"failed", NULL, has_failed(rows)}};
    for (size_t i = 0; i < sizeof all / sizeof *all && l->count < CW_CELLS; i++)
        if (all[i].shown) {
            list->columns[l->count] =
                cw_group_column_find(cw_timeline_group_kind(by), all[i].name, strlen(all[i].name));
            l->columns[l->count++] = all[i].title ? all[i].title : all[i].name;
        }
}

static void put_list(const struct cw_text_page *p, const char *title, const struct cw_timeline_rows *rows,
                     const char *items, const char *name, const char *more)
{
    struct list list = {.rows = rows};
    struct cw_text_lines l = {.fill = fill_group, .name = name, .rows = rows->count, .content = &list};
    l.names = cw_timeline_by_ranges(rows->groups.by) ? CW_NAMES_PATHS
              : rows->groups.by == CW_TIMELINE_BY_KERNEL || rows->groups.by == CW_TIMELINE_BY_FAMILY
                  ? CW_NAMES_FUNCTIONS
                  : CW_NAMES_WORDS;
    choose_columns(&l, &list, p, items);
    tell_left(&l, rows, more);
    if (l.names == CW_NAMES_PATHS)
        tell_others(&l, &rows->groups);
    p->put(p, title, &l);
}

/* ---- summary ----------------------------------------------------------------------------------------------------- */

static void put_program(const struct cw_text_page *p)
{
    const char *program = p->t->trace->process_count ? cw_timeline_attribute(p->t, 0, "program") : NULL;
    const char *host = p->t->trace->process_count ? cw_timeline_attribute(p->t, 0, "host") : NULL;
    const char *last = program ? strrchr(program, '/') : NULL;
    cw_text_print(p->out, "%s: ", p->o->source);
    if (program)
        cw_text_print(p->out, "%.60s%s%.40s, ", last && last[1] ? last + 1 : program, host ? " on " : "",
                      host ? host : "");
    cw_capture_put_devices(p->t->data, p->t->data->device_count, p->out);
    fputs(p->t->data->complete        ? "\n"
          : p->t->data->damage.places ? ", damaged\n"
                                      : ", incomplete: the file lacks its end\n",
          p->out);
}

static void put_number(FILE *out, uint64_t count, const char *one, const char *many)
{
    char text[CW_NUMBER_SIZE];
    fprintf(out, "%s %s", cw_terminal_integer(count, text), count == 1 ? one : many);
}

/* "12 of 1,026 kernels" if only some are shown. */
static void put_kind(const struct cw_text_page *p, enum cw_trace_kind kind, const char *one, const char *many)
{
    const struct cw_timeline *t = p->t;
    const bool *keep = p->o->keep ? p->o->keep->gpu : NULL;
    char text[CW_NUMBER_SIZE];
    uint64_t kept = 0;
    for (uint32_t i = 0; keep && i < t->gpu_count; i++, cw_timeline_step(t))
        kept += keep[i] && t->gpu[i].kind == kind;
    if (keep)
        fprintf(p->out, "%s of ", cw_terminal_integer(kept, text));
    put_number(p->out, t->rows[kind], one, many);
}

static void put_span(const struct cw_text_page *p)
{
    const struct cw_timeline *t = p->t;
    char text[CW_TIME_TEXT_SIZE];
    fprintf(p->out, "%s, ", cw_terminal_time((double)(t->end - t->start), text));
    put_kind(p, CW_TRACE_KERNEL, "kernel", "kernels");
    fputs(", ", p->out);
    put_kind(p, CW_TRACE_COPY, "copy", "copies");
    fputs(", ", p->out);
    put_kind(p, CW_TRACE_MEMSET, "memset", "memsets");
    fputs(" in ", p->out);
    put_number(p->out, t->stream_count, "stream", "streams");
    fputs("\n", p->out);
    put_number(p->out, t->call_count, "call", "calls");
    fputs(" by ", p->out);
    put_number(p->out, t->thread_count, "thread", "threads");
    fputs(" of ", p->out);
    put_number(p->out, t->trace->process_count, "process", "processes");
    fputs("\n", p->out);
}

/* ---- the rest --------------------------------------------------------------------------------------------------- */

/* Launches into streams that had nothing to do, and others. */
struct latencies {
    const struct cw_latency *list[2];
    const char *names[2];
};

static void fill_latency(struct cw_text_lines *l, uint32_t row)
{
    const struct latencies *all = l->content;
    const struct cw_latency *latency = all->list[row];
    cw_cell_count(l, latency->count);
    for (int p = 0; p < CW_LATENCY__COUNT; p++)
        cw_cell_time(l, (double)latency->within[p]);
    snprintf(l->text, sizeof l->text, "%s", all->names[row]);
}

static void put_latencies(const struct cw_text_page *p)
{
    const struct cw_timeline_usage *u = &p->o->sections->usage;
    struct latencies all = {{&u->at_once, &u->queued}, {"that had nothing to do", "behind others"}};
    struct cw_text_lines l = {.columns = {"launches", "half within", "90%", "99%", "all"},
                              .count = 5,
                              .name = "into streams",
                              .fill = fill_latency,
                              .names = CW_NAMES_WORDS,
                              .content = &all};
    for (uint32_t i = 0; i < 2; i++)
        if (all.list[i]->count) {
            all.list[l.rows] = all.list[i];
            all.names[l.rows++] = all.names[i];
        }
    if (l.rows)
        p->put(p, "From the call that launched a kernel to its start", &l);
}

/* Puts a list of `count` rows, the first of them alone unless all are wanted; nothing if there are none. */
static void put_first(const struct cw_text_page *p, const char *title, struct cw_text_lines *l, uint32_t count)
{
    enum { SHOWN = 8 };
    l->rows = count < SHOWN || p->o->wide ? count : SHOWN;
    if (l->rows < count)
        snprintf(l->left, sizeof l->left, "and %" PRIu32 " more", count - l->rows);
    if (count)
        p->put(p, title, l);
}

static void fill_memory(struct cw_text_lines *l, uint32_t row)
{
    const struct cw_memory_use *m = &l->page->o->sections->extra.memory[row];
    const struct cw_timeline *t = l->page->t;
    char device[32] = "";
    if (m->device != CW_NO_TRACE_DEVICE)
        snprintf(device, sizeof device, ", GPU %" PRIu32, t->data->devices[m->device].index);
    cw_cell_amount(l, m->most, "bytes");
    cw_cell_time(l, (double)(m->most_at > t->start ? m->most_at - t->start : 0));
    cw_cell_amount(l, m->now, "bytes");
    cw_cell_count(l, m->allocations);
    cw_cell_count(l, m->frees);
    snprintf(l->text, sizeof l->text, "%.100s, process %" PRIu32 "%s%s", t->names[m->memory].text,
             t->trace->processes[m->process].pid, t->process_marks[m->process], device);
}

static void put_memory(const struct cw_text_page *p)
{
    struct cw_text_lines l = {.columns = {"most", "at", "at the end", "allocated", "freed"},
                              .count = 5,
                              .name = "memory",
                              .fill = fill_memory,
                              .names = CW_NAMES_WORDS};
    put_first(p, "Memory that was allocated while it was traced", &l, p->o->sections->extra.memory_count);
}

/* One end of an event: a GPU, or the host. */
static void name_end(const struct cw_timeline *t, uint32_t device, char *text, size_t size)
{
    if (device == CW_NO_TRACE_DEVICE)
        snprintf(text, size, "host");
    else
        snprintf(text, size, "GPU %" PRIu32, t->data->devices[device].index);
}

/* Units of sums are those of CUPTI's counters. */
static const struct unified_words {
    const char *type, *words;
    enum { NO_SUM, COUNT, BYTES } sum;
    bool of_source, to_target;
} unified_words[] = {
    {"bytes_htod", "moved from ", BYTES, true, true},    {"bytes_dtoh", "moved from ", BYTES, true, true},
    {"bytes_dtod", "moved from ", BYTES, true, true},    {"remote_map", "mapped from ", BYTES, true, true},
    {"cpu_page_faults", "page faults of ", COUNT, true}, {"gpu_page_faults", "page faults of ", COUNT, true},
    {"throttling", "throttling of ", NO_SUM, true},      {"thrashing", "thrashing", BYTES}};

static struct unified_words words_of(const char *type)
{
    for (size_t i = 0; i < sizeof unified_words / sizeof *unified_words; i++)
        if (strcmp(type, unified_words[i].type) == 0)
            return unified_words[i];
    return (struct unified_words){.words = type};
}

static void fill_unified(struct cw_text_lines *l, uint32_t row)
{
    const struct cw_unified_use *u = &l->page->o->sections->extra.unified[row];
    const struct cw_timeline *t = l->page->t;
    const struct unified_words words = words_of(t->names[u->type].text);
    const char *cause = u->cause ? t->names[u->cause].text : "";
    char source[32] = "", target[32] = "";
    if (words.of_source)
        name_end(t, u->source, source, sizeof source);
    if (words.to_target)
        name_end(t, u->target, target, sizeof target);
    cw_cell_count(l, u->events);
    if (words.sum == BYTES)
        cw_cell_amount(l, u->value, "bytes");
    else if (words.sum == COUNT)
        cw_cell_count(l, (uint64_t)fmin(u->value, 1e18));
    else
        cw_cell_none(l);
    if (u->ns > 0)
        cw_cell_time(l, u->ns);
    else
        cw_cell_none(l);
    snprintf(l->text, sizeof l->text, "%.40s%s%s%s%s%.40s", words.words, source, *target ? " to " : "", target,
             *cause ? ": " : "", cause);
}

static void put_unified(const struct cw_text_page *p)
{
    struct cw_text_lines l = {.columns = {"events", "sum", "time"},
                              .count = 3,
                              .name = "event",
                              .fill = fill_unified,
                              .names = CW_NAMES_WORDS};
    put_first(p, "Events of unified memory", &l, p->o->sections->extra.unified_count);
}

static void fill_environment(struct cw_text_lines *l, uint32_t row)
{
    static const enum cw_reading shown[] = {CW_READING_SM_CLOCK, CW_READING_MEMORY_CLOCK, CW_READING_TEMPERATURE,
                                            CW_READING_POWER};
    const struct cw_environment *e = &l->page->o->sections->extra.environment[row];
    for (size_t k = 0; k < sizeof shown / sizeof *shown; k++) {
        const struct cw_reading_range *r = &e->of[shown[k]];
        char text[CW_CELL_SIZE];
        snprintf(text, CW_CELL_SIZE, r->least == r->greatest ? "%.0f" : "%.0f..%.0f", r->least, r->greatest);
        if (r->count)
            cw_cell_put(l, text, r->greatest);
        else
            cw_cell_none(l);
    }
    cw_cell_percent(l, cw_part_of((double)e->throttled, (double)e->readings));
    cw_text_device_name(l->page, e->device, l->text, sizeof l->text);
}

static void put_environment(const struct cw_text_page *p)
{
    struct cw_text_lines l = {.columns = {"SM MHz", "memory MHz", "Celsius", "W", "throttled"},
                              .count = 5,
                              .name = "GPU",
                              .rows = p->o->sections->extra.environment_count,
                              .fill = fill_environment,
                              .names = CW_NAMES_WORDS};
    if (l.rows)
        p->put(p, "Clocks, temperature and power", &l);
}

void cw_text_put_sections(const struct cw_text_page *p)
{
    const struct cw_timeline_sections *s = p->o->sections;
    const struct {
        const char *title;
        const struct cw_timeline_rows *rows;
        const char *items, *name, *more;
    } lists[] = {
        {"Copies and memsets", &s->copies, "copies", "which", "kinds"},
        {"NVTX ranges, and the time on the GPU of their launches", &s->ranges, "launches", "NVTX range", "ranges"},
        {"Time on the GPU, by stream", &s->streams, "launches", "stream", "streams"},
        {"Time on the GPU, by process", &s->processes, "launches", "process", "processes"},
        {"Time in calls of CUDA, of all threads", &s->calls, "calls", "call", "calls"},
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (lists[i].rows->count)
            put_list(p, lists[i].title, lists[i].rows, lists[i].items, lists[i].name, lists[i].more);
    if (p->o->keep && p->o->keep->within)
        return;
    put_latencies(p);
    put_memory(p);
    put_unified(p);
    put_environment(p);
}

/* Tells that the numbers below are of a part of the trace. */
static void put_within(const struct cw_text_page *p)
{
    char text[CW_TIME_TEXT_SIZE], number[CW_NUMBER_SIZE];
    const struct cw_timeline_keep *keep = p->o->keep;
    double sum = 0;
    if (!keep || !keep->within)
        return;
    for (uint32_t i = 0; i < keep->within_count; i++)
        sum += (double)(keep->within[i].end - keep->within[i].start);
    fprintf(p->out, "Only launches in ranges of --range, which were open %s time%s for %s in all.\n",
            cw_terminal_integer(keep->within_count, number), keep->within_count == 1 ? "" : "s",
            cw_terminal_time(sum, text));
}

static void put_footer(const struct cw_text_page *p)
{
    putc('\n', p->out);
    if (!p->o->sections)
        fputs("More rows: --top N. Names in full: --wide.\n", p->out);
    else
        fputs("Other lists: --by family|nvtx|stream|device|process|rank|copy|call|graph.\n"
              "More rows: --top N. In full: --wide. Some of it: --kernel NAME, --range NVTX.\n"
              "For other programs: -o FILE.h5, -o FILE.json, -o FILE.csv --kind KIND.\n"
              "In a browser: -o FILE.html. In Perfetto: -o FILE.pftrace.\n",
              p->out);
    cw_text_print(p->out, "Recorded and lost rows, by kind: counterworks show %s\n", p->o->words);
}

static const char *items_of(enum cw_timeline_by by)
{
    return by == CW_TIMELINE_BY_KERNEL || by == CW_TIMELINE_BY_FAMILY ? "launches"
           : by == CW_TIMELINE_BY_CALL                                ? "calls"
           : by == CW_TIMELINE_BY_COPY                                ? "copies"
                                                                      : "launches";
}

static const char *item_of(enum cw_timeline_by by)
{
    return by == CW_TIMELINE_BY_CALL ? "call" : by == CW_TIMELINE_BY_COPY ? "copy" : "launch";
}

/* The items of a list; of graphs, their launches. */
static uint64_t count_items(const struct cw_timeline_groups *groups)
{
    uint64_t launches = 0;
    for (uint32_t i = 0; groups->by == CW_TIMELINE_BY_GRAPH && i < groups->count; i++)
        launches += groups->items[i].ranges;
    return groups->by == CW_TIMELINE_BY_GRAPH ? launches : groups->item_count;
}

void cw_text_put_main_list(const struct cw_text_page *p)
{
    static const char *const names[CW_TIMELINE_BY__COUNT] = {"kernel", "family",     "NVTX range", "stream",
                                                             "GPU",    "process",    "rank",       "copy",
                                                             "call",   "NVTX range", "CUDA graph"};
    const struct cw_timeline_rows *list = p->o->list;
    const enum cw_timeline_by by = list->groups.by;
    const uint64_t count = count_items(&list->groups);
    char title[160], number[CW_NUMBER_SIZE], text[CW_TIME_TEXT_SIZE];
    snprintf(title, sizeof title, "%s, by %s: %s of %s %s",
             by == CW_TIMELINE_BY_CALL ? "Time in calls" : "Time on the GPU", names[by],
             cw_terminal_time(list->groups.total, text), cw_terminal_integer(count, number),
             count == 1 ? item_of(by) : items_of(by));
    /* a quiet list alone needs no title */
    put_list(p, !p->o->sections && p->style->quiet ? NULL : title, list, items_of(by), names[by], "rows");
}

void cw_timeline_print(const struct cw_timeline_output *o, const struct cw_terminal_style *style, FILE *out)
{
    const struct cw_text_page p = {o, o->t, style, out, cw_text_put_lines, NULL};
    if (!style->quiet) {
        put_program(&p);
        put_span(&p);
        cw_timeline_put_loss(o->t, out);
        cw_capture_put_filters(o->t->data, out);
        put_within(&p);
    }
    if (o->sections && o->sections->usage.device_count) {
        putc('\n', out);
        cw_text_put_devices(&p);
        cw_text_put_idle(&p);
    }
    if (!o->sections || o->list->count)
        cw_text_put_main_list(&p);
    if (o->sections) {
        cw_text_put_gaps(&p);
        cw_text_put_sections(&p);
    }
    if (!style->quiet)
        put_footer(&p);
}
