#include "eval/output/timeline_output.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/shorten.h"
#include "base/text.h"
#include "eval/output/capture.h"
#include "eval/output/terminal.h"

enum { CELLS = 8, CELL_SIZE = 48, NAME_LEAST = 16, NAME_USUAL = 30, RANGE_SIZE = 400 };

struct page {
    const struct cw_timeline_output *o;
    const struct cw_timeline *t;
    const struct cw_terminal_style *style;
    FILE *out;
};

/* ---- tables ----------------------------------------------------------------------------------------------------- */

struct line {
    char cells[CELLS][CELL_SIZE];
    char name[CW_SHORT_SIZE];
};

/* A table of short cells, and a name behind them that has what room is left. */
struct lines {
    const struct page *page;
    const char *columns[CELLS]; /* their names */
    size_t count;
    const char *name; /* of the last column */
    uint32_t rows;
    void (*fill)(const struct lines *l, uint32_t row, struct line *line); /* the name whole, and not escaped */
    const void *content;
    enum names { FUNCTIONS, PATHS, WORDS } names; /* how longer ones are shortened */
    int room;                                     /* columns for it, 0: all */
    struct line one;
};

/* The end of words is left out. */
static void shorten_words(const char *name, size_t room, char text[CW_SHORT_SIZE])
{
    cw_text_format(text, CW_SHORT_SIZE, "%s", name);
    if (!room || cw_text_columns(text) <= room)
        return;
    char *at = text;
    for (size_t kept = room > 2 ? room - 2 : 0; kept && *at; kept--)
        for (at++; ((unsigned char)*at & 0xc0) == 0x80;)
            at++;
    memcpy(at, "..", 3);
}

/* The end of a path tells more than its beginning. */
static void shorten_path(const char *name, size_t room, char text[CW_SHORT_SIZE])
{
    const size_t length = cw_text_format(text, CW_SHORT_SIZE, "%s", name);
    const size_t columns = cw_text_columns(text);
    if (!room || columns <= room)
        return;
    const char *at = text;
    for (size_t drop = columns - (room > 2 ? room - 2 : 0); drop && *at; drop--)
        for (at++; ((unsigned char)*at & 0xc0) == 0x80;)
            at++;
    memmove(text + 2, at, length - (size_t)(at - text) + 1);
    memcpy(text, "..", 2);
}

static struct cw_output_row fill_line(const struct cw_output_table *table, uint64_t i)
{
    struct lines *l = table->content;
    char name[CW_TIMELINE_NAME_SIZE];
    l->fill(l, (uint32_t)i, &l->one);
    memcpy(name, l->one.name, sizeof name);
    if (l->names == FUNCTIONS)
        cw_shorten(name, (size_t)l->room, l->one.name);
    else
        (l->names == PATHS ? shorten_path : shorten_words)(name, (size_t)l->room, l->one.name);
    return (struct cw_output_row){.record = &l->one};
}

static void put_lines(struct lines *l)
{
    struct cw_output_column columns[CELLS + 1];
    struct cw_terminal_layout layout = {0};
    for (size_t k = 0; k < l->count; k++)
        columns[k] = (struct cw_output_column){.name = l->columns[k],
                                               .type = CW_CELL_CHARS,
                                               .formats = CW_TO_TERMINAL,
                                               .offset = offsetof(struct line, cells) + k * CELL_SIZE,
                                               .right = true};
    columns[l->count] = (struct cw_output_column){
        .name = l->name, .type = CW_CELL_CHARS, .formats = CW_TO_TERMINAL, .offset = offsetof(struct line, name)};
    const struct cw_output_table table = {.columns = columns,
                                          .column_count = l->count + 1,
                                          .record_size = sizeof l->one,
                                          .row_count = l->rows,
                                          .row = fill_line,
                                          .content = l};
    int room = (int)l->page->style->width - 2;
    l->room = NAME_LEAST;
    cw_terminal_measure(&layout, &table);
    for (size_t k = 0; k < l->count; k++)
        room -= 2 + layout.widths[k];
    l->room = !l->page->style->width || l->page->o->wide ? 0 : room > NAME_LEAST ? room : NAME_LEAST;
    layout = (struct cw_terminal_layout){0};
    cw_terminal_measure(&layout, &table);
    cw_terminal_put(&layout, &table, l->page->out);
}

static void put_time(double ns, char cell[CELL_SIZE])
{
    char text[CW_TIME_TEXT_SIZE];
    snprintf(cell, CELL_SIZE, "%.*s", CELL_SIZE - 1, cw_terminal_time(ns, text));
}

static void put_percent(double part, char cell[CELL_SIZE])
{
    if (isnan(part))
        strcpy(cell, "-");
    else
        snprintf(cell, CELL_SIZE, part < 0.0005 && part > 0 ? "<0.1%%" : "%.1f%%", 100 * part);
}

static void put_count(uint64_t count, char cell[CELL_SIZE])
{
    char text[CW_NUMBER_SIZE];
    snprintf(cell, CELL_SIZE, "%.*s", CELL_SIZE - 1, cw_terminal_integer(count, text));
}

static void put_amount(double value, const char *unit, char cell[CELL_SIZE])
{
    char number[CW_NUMBER_SIZE], shown[CW_UNIT_SIZE];
    const double factor = cw_terminal_factor(value, unit, shown);
    snprintf(cell, CELL_SIZE, "%.20s %.20s", cw_terminal_number(value / factor, number), shown);
}

static double part_of(double some, double all)
{
    return all > 0 ? some / all : NAN;
}

static void put_title(const struct page *p, const char *title)
{
    putc('\n', p->out);
    cw_terminal_title(title, p->style, p->out);
    putc('\n', p->out);
}

/* ---- lists of groups -------------------------------------------------------------------------------------------- */

/* Which cells a list has, in the order of the columns. */
enum cell { COUNT, TOTAL, SHARE, OWN, MEAN, LEAST, GREATEST, BYTES, RATE, FAILED, RANGES, WALL };

struct list {
    const struct cw_timeline_rows *rows;
    enum cell cells[CELLS];
};

static void fill_group(const struct lines *l, uint32_t row, struct line *line)
{
    const struct list *list = l->content;
    const struct cw_timeline_groups *groups = &list->rows->groups;
    const struct cw_timeline_group *g = &groups->items[list->rows->rows[row]];
    for (size_t k = 0; k < l->count; k++) {
        char *cell = line->cells[k];
        switch (list->cells[k]) {
        case COUNT:
            put_count(g->count, cell);
            break;
        case TOTAL:
            put_time(g->total, cell);
            break;
        case SHARE:
            put_percent(part_of(g->total, groups->total), cell);
            break;
        case OWN:
            put_time(g->own, cell);
            break;
        case MEAN:
            put_time(cw_timeline_group_mean(g), cell);
            break;
        case LEAST:
            put_time(g->least, cell);
            break;
        case GREATEST:
            put_time(g->greatest, cell);
            break;
        case BYTES:
            put_amount(g->bytes, "bytes", cell);
            break;
        case RANGES:
            g->ranges ? put_count(g->ranges, cell) : (void)strcpy(cell, "-"); /* what ran in no range */
            break;
        case WALL:
            g->ranges ? put_time(g->wall, cell) : (void)strcpy(cell, "-");
            break;
        case RATE:
            put_amount(g->total > 0 ? g->bytes / (g->total / 1e9) : 0, "bytes/s", cell);
            break;
        default:
            put_count(g->failed, cell);
        }
    }
    cw_timeline_group_name(groups, list->rows->rows[row], line->name);
}

/* `what`: many of them. */
static void put_left(const struct page *p, const struct cw_timeline_rows *rows, const char *what)
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
static void put_list(const struct page *p, const struct cw_timeline_rows *rows, const char *items, const char *name,
                     const char *more)
{
    static const char *const names[] = {"",         "total", "share",     "self",   "mean",   "least",
                                        "greatest", "bytes", "bandwidth", "failed", "ranges", "wall"};
    struct list list = {.rows = rows};
    struct lines l = {.page = p, .fill = fill_group, .name = name, .rows = rows->count, .content = &list};
    const bool copies = rows->groups.by == CW_TIMELINE_BY_COPY;
    const bool narrow = p->style->width && p->style->width < 96 && !p->o->wide;
    l.names = rows->groups.by == CW_TIMELINE_BY_NVTX                                                 ? PATHS
              : rows->groups.by == CW_TIMELINE_BY_KERNEL || rows->groups.by == CW_TIMELINE_BY_FAMILY ? FUNCTIONS
                                                                                                     : WORDS;
    if (l.names == PATHS) {
        list.cells[l.count++] = RANGES;
        list.cells[l.count++] = WALL;
    }
    list.cells[l.count++] = COUNT;
    list.cells[l.count++] = TOTAL;
    list.cells[l.count++] = SHARE;
    if (l.names == PATHS)
        list.cells[l.count++] = OWN;
    else
        list.cells[l.count++] = MEAN;
    if (!narrow && !copies && l.names != PATHS)
        list.cells[l.count++] = LEAST;
    if (!copies && l.names != PATHS)
        list.cells[l.count++] = GREATEST;
    if (copies) {
        list.cells[l.count++] = BYTES;
        list.cells[l.count++] = RATE;
    }
    if (has_failed(rows))
        list.cells[l.count++] = FAILED;
    for (size_t k = 0; k < l.count; k++)
        l.columns[k] = list.cells[k] == COUNT ? items : names[list.cells[k]];
    put_lines(&l);
    put_left(p, rows, more);
}

/* ---- what it is ------------------------------------------------------------------------------------------------- */

static bool is_alike(const struct cw_counter_data *data)
{
    const char *first = data->device_count ? cw_device_attribute(&data->devices[0], "name") : NULL;
    for (uint32_t i = 1; i < data->device_count; i++) {
        const char *name = cw_device_attribute(&data->devices[i], "name");
        if (!name || !first || strcmp(name, first) != 0)
            return false;
    }
    return first;
}

static void put_what(const struct page *p)
{
    const struct cw_counter_data *data = p->t->data;
    const char *simulated = data->device_count ? cw_device_attribute(&data->devices[0], "simulated") : NULL;
    const char *program = p->t->trace->process_count ? cw_timeline_attribute(p->t, 0, "program") : NULL;
    const char *host = p->t->trace->process_count ? cw_timeline_attribute(p->t, 0, "host") : NULL;
    const char *last = program ? strrchr(program, '/') : NULL;
    cw_text_print(p->out, "%s: ", p->o->source);
    if (program)
        cw_text_print(p->out, "%.60s%s%.40s, ", last && last[1] ? last + 1 : program, host ? " on " : "",
                      host ? host : "");
    if (data->device_count > 1)
        cw_text_print(p->out, "%" PRIu32 " %s", data->device_count, is_alike(data) ? "x " : "devices");
    if (data->device_count == 1 || is_alike(data))
        cw_text_print(p->out, "%s", is_alike(data) ? cw_device_attribute(&data->devices[0], "name") : "a device");
    cw_text_print(p->out, " (%s%s)%s\n", data->schema.chip,
                  simulated && strcmp(simulated, "yes") == 0 ? ", simulated" : "",
                  data->complete ? "" : ", incomplete: the file lacks its end");
}

static void put_number(FILE *out, uint64_t count, const char *one, const char *many)
{
    char text[CW_NUMBER_SIZE];
    fprintf(out, "%s %s", cw_terminal_integer(count, text), count == 1 ? one : many);
}

static void put_span(const struct page *p)
{
    const struct cw_timeline *t = p->t;
    char text[CW_TIME_TEXT_SIZE];
    fprintf(p->out, "%s, ", cw_terminal_time((double)(t->end - t->start), text));
    put_number(p->out, t->rows[CW_TRACE_KERNEL], "kernel", "kernels");
    fputs(", ", p->out);
    put_number(p->out, t->rows[CW_TRACE_COPY], "copy", "copies");
    fputs(", ", p->out);
    put_number(p->out, t->rows[CW_TRACE_MEMSET], "memset", "memsets");
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

/* What all accounts of a number say; those that do not know it say nothing. */
static uint64_t add_known(uint64_t sum, uint64_t value)
{
    return value == CW_TRACE_UNKNOWN ? sum : sum + value;
}

struct cw_timeline_loss cw_timeline_lost(const struct cw_timeline *t)
{
    struct cw_timeline_loss loss = {0};
    uint64_t dropped = 0, recorded = 0;
    for (uint32_t i = 0; i < t->account_count; i++) {
        const struct cw_timeline_account *account = &t->accounts[i];
        const bool both = account->launched != CW_TRACE_UNKNOWN && account->recorded != CW_TRACE_UNKNOWN;
        dropped = add_known(dropped, account->dropped);
        if (both && account->launched > account->recorded)
            loss.missing += account->launched - account->recorded;
        if (strcmp(account->kind, "kernel") == 0 && both) {
            loss.known = true;
            loss.kernels += account->launched;
            recorded += account->recorded;
        }
    }
    for (int k = 0; k < CW_TRACE_KIND__COUNT; k++)
        loss.untimed += t->untimed[k];
    loss.missing = loss.missing > dropped ? loss.missing : dropped;
    if (loss.known && t->rows[CW_TRACE_KERNEL] > recorded)
        loss.of_graphs = t->rows[CW_TRACE_KERNEL] - recorded;
    return loss;
}

static bool is_empty(const struct cw_timeline *t)
{
    uint64_t rows = 0;
    for (int k = 0; k < CW_TRACE_KIND__COUNT; k++)
        rows += k == CW_TRACE_ENVIRONMENT ? 0 : t->rows[k];
    return !rows && t->data->complete;
}

static void put_lost(const struct page *p)
{
    const struct cw_timeline *t = p->t;
    const struct cw_timeline_loss loss = cw_timeline_lost(t);
    const char *until = t->data->complete ? "" : ", as far as the file goes";
    char a[CW_NUMBER_SIZE], b[CW_NUMBER_SIZE];
    if (loss.missing || loss.untimed)
        fprintf(p->out, "Lost%s: %s rows are not here, and %s have no times.\n", until,
                cw_terminal_integer(loss.missing, a), cw_terminal_integer(loss.untimed, b));
    else if (loss.known)
        fprintf(p->out, "Nothing was lost%s: %s kernels were launched, and all are here%s%s%s.\n", until,
                cw_terminal_integer(loss.kernels, a), loss.of_graphs ? "; " : "",
                loss.of_graphs ? cw_terminal_integer(loss.of_graphs, b) : "",
                loss.of_graphs ? " more ran in CUDA graphs" : "");
    else if (is_empty(t))
        fputs("Nothing of what was to be recorded happened while it was traced.\n", p->out);
    else
        fputs("What was lost is not known: the file has no books.\n", p->out);
    if (t->window_count) {
        double traced = 0;
        char text[CW_TIME_TEXT_SIZE];
        for (uint32_t i = 0; i < t->window_count; i++)
            traced += (double)((t->windows[i].end < t->end ? t->windows[i].end : t->end) - t->windows[i].start);
        fprintf(p->out, "Traced in %s window%s, %s in all.\n", cw_terminal_integer(t->window_count, a),
                t->window_count == 1 ? "" : "s", cw_terminal_time(traced, text));
    }
    cw_capture_put_filters(t->data, p->out);
}

/* ---- busy and idle ---------------------------------------------------------------------------------------------- */

static void put_device_name(const struct page *p, uint32_t device, char *text, size_t size)
{
    const struct cw_counter_data *data = p->t->data;
    const char *name = device == CW_NO_TRACE_DEVICE ? NULL : cw_device_attribute(&data->devices[device], "name");
    if (device == CW_NO_TRACE_DEVICE)
        snprintf(text, size, "(no device)");
    else
        snprintf(text, size, "%" PRIu32 "%s%s", data->devices[device].index, name ? " " : "", name ? name : "");
}

static void fill_device(const struct lines *l, uint32_t row, struct line *line)
{
    const struct cw_device_usage *d = &l->page->o->usage->devices[row];
    size_t k = 0;
    put_percent(part_of(d->busy, d->traced), line->cells[k++]);
    put_percent(part_of(d->idle, d->traced), line->cells[k++]);
    put_percent(part_of(d->work[CW_WORK_COMPUTE], d->traced), line->cells[k++]);
    for (enum cw_gpu_work w = CW_WORK_COMMUNICATE; w < CW_WORK__COUNT; w++) {
        char all[CELL_SIZE], alone[CELL_SIZE];
        if (w == CW_WORK_COMMUNICATE && l->count == 4)
            continue;
        put_percent(part_of(d->work[w], d->traced), all);
        put_percent(part_of(d->alone[w], d->traced), alone);
        snprintf(line->cells[k++], CELL_SIZE, "%.10s (%.10s)", all, alone);
    }
    put_device_name(l->page, d->device, line->name, sizeof line->name);
}

static void put_devices(const struct page *p)
{
    const struct cw_timeline_usage *u = p->o->usage;
    bool communicates = false;
    for (uint32_t i = 0; i < u->device_count; i++)
        communicates = communicates || u->devices[i].work[CW_WORK_COMMUNICATE] > 0;
    const uint32_t most = p->o->wide || u->device_count <= 8 ? u->device_count : 8;
    struct lines l = {
        .page = p,
        .columns = {"busy", "idle", "computes", communicates ? "NCCL (alone)" : "copies (alone)", "copies (alone)"},
        .count = communicates ? 5 : 4,
        .name = "GPU",
        .rows = most,
        .fill = fill_device,
        .names = WORDS};
    putc('\n', p->out);
    put_lines(&l);
    if (most < u->device_count)
        fprintf(p->out, "  and %" PRIu32 " more GPUs\n", u->device_count - most);
}

const char *const cw_timeline_cause_texts[CW_IDLE__COUNT] = {
    [CW_IDLE_OWN] = "the program did its own work, and called nothing of CUDA",
    [CW_IDLE_LAUNCH] = "a launch was on its way, from the call to its start on the GPU",
    [CW_IDLE_WAIT] = "the program waited in a synchronization, or in a copy",
    [CW_IDLE_MEMORY] = "memory was allocated or freed",
    [CW_IDLE_LOADING] = "modules were loaded, or code compiled",
    [CW_IDLE_CALL] = "the program was in other calls of CUDA",
    [CW_IDLE_TRACING] = "the trace itself was written",
    [CW_IDLE_QUEUED] = "the next was launched already: it waited for others, or came soon",
    [CW_IDLE_UNKNOWN] = "not known: the call that launched the next is not in the trace",
    [CW_IDLE_END] = "nothing more was launched",
};
static const char *const short_causes[CW_IDLE__COUNT] = {
    [CW_IDLE_OWN] = "own work",         [CW_IDLE_LAUNCH] = "launch",   [CW_IDLE_WAIT] = "waiting",
    [CW_IDLE_MEMORY] = "memory",        [CW_IDLE_LOADING] = "loading", [CW_IDLE_CALL] = "other calls",
    [CW_IDLE_TRACING] = "tracing",      [CW_IDLE_QUEUED] = "queued",   [CW_IDLE_UNKNOWN] = "not known",
    [CW_IDLE_END] = "nothing launched",
};

/* All devices together, and which causes there are, the greatest first. */
struct idle {
    double traced, idle, causes[CW_IDLE__COUNT];
    uint64_t gaps[CW_IDLE__COUNT], all_gaps;
    enum cw_idle_cause order[CW_IDLE__COUNT];
    uint32_t count;
};

static struct idle add_idle(const struct cw_timeline_usage *u)
{
    struct idle all = {0};
    for (uint32_t i = 0; i < u->device_count; i++) {
        all.traced += u->devices[i].traced;
        all.idle += u->devices[i].idle;
        all.all_gaps += u->devices[i].gaps;
        for (int c = 0; c < CW_IDLE__COUNT; c++) {
            all.causes[c] += u->devices[i].causes[c];
            all.gaps[c] += u->devices[i].cause_gaps[c];
        }
    }
    for (enum cw_idle_cause c = 0; c < CW_IDLE__COUNT; c++) {
        if (!(all.causes[c] >= 0.001 * all.traced) || !(all.causes[c] > 0))
            continue;
        uint32_t at = all.count++;
        for (; at > 0 && all.causes[all.order[at - 1]] < all.causes[c]; at--)
            all.order[at] = all.order[at - 1];
        all.order[at] = c;
    }
    return all;
}

static void fill_cause(const struct lines *l, uint32_t row, struct line *line)
{
    const struct idle *all = l->content;
    const enum cw_idle_cause c = all->order[row];
    put_percent(part_of(all->causes[c], all->traced), line->cells[0]);
    put_time(all->causes[c], line->cells[1]);
    put_count(all->gaps[c], line->cells[2]);
    snprintf(line->name, sizeof line->name, "%s", cw_timeline_cause_texts[c]);
}

static void put_idle(const struct page *p)
{
    const struct idle all = add_idle(p->o->usage);
    struct lines l = {.page = p,
                      .columns = {"of time", "idle", "gaps"},
                      .count = 3,
                      .name = "while",
                      .rows = all.count,
                      .fill = fill_cause,
                      .names = WORDS,
                      .content = &all};
    char a[CW_NUMBER_SIZE], text[CW_TIME_TEXT_SIZE], title[160];
    if (!all.count)
        return;
    snprintf(title, sizeof title, "Why %s idle: %s in %s gaps",
             p->o->usage->device_count > 1 ? "GPUs were" : "the GPU was", cw_terminal_time(all.idle, text),
             cw_terminal_integer(all.all_gaps, a));
    put_title(p, title);
    put_lines(&l);
    if (p->o->usage->some_left)
        fputs("  There are so many gaps that not all were looked into.\n", p->out);
}

/* The largest gaps of all devices. */
struct gaps {
    const struct cw_idle_gap *list[CW_IDLE_LARGEST];
    uint32_t devices[CW_IDLE_LARGEST];
    uint32_t count;
};

static double gap_length(const struct cw_idle_gap *gap)
{
    return (double)(gap->end - gap->start);
}

static void add_gaps(struct gaps *gaps, const struct cw_device_usage *d, uint32_t most)
{
    for (uint32_t i = 0; i < d->largest_count; i++) {
        const struct cw_idle_gap *gap = &d->largest[i];
        if (gaps->count == most && gap_length(gaps->list[most - 1]) >= gap_length(gap))
            break;
        uint32_t at = gaps->count < most ? gaps->count++ : most - 1;
        for (; at > 0 && gap_length(gaps->list[at - 1]) < gap_length(gap); at--) {
            gaps->list[at] = gaps->list[at - 1];
            gaps->devices[at] = gaps->devices[at - 1];
        }
        gaps->list[at] = gap;
        gaps->devices[at] = d->device;
    }
}

/* What an item is, and in which NVTX range: "softmax_kernel in step/forward". */
static void put_item(const struct cw_timeline *t, uint32_t item, char text[CW_TIMELINE_NAME_SIZE])
{
    char name[CW_SHORT_SIZE];
    if (item == CW_TIMELINE_NONE) {
        strcpy(text, "(the end)");
        return;
    }
    const struct cw_timeline_gpu *g = &t->gpu[item];
    if (g->kind == CW_TRACE_KERNEL)
        cw_shorten(t->names[g->name].shown, 40, name);
    else
        snprintf(name, sizeof name, "%s%s%.40s", cw_trace_kinds[g->kind].name, *t->names[g->name].text ? " " : "",
                 t->names[g->name].text);
    size_t used = (size_t)snprintf(text, CW_TIMELINE_NAME_SIZE, "%.200s%s", name, g->path ? " in " : "");
    struct cw_writer path;
    cw_writer_init(&path);
    cw_timeline_put_path(t, g->path, &path);
    for (size_t i = 0; i < path.size && used + 1 < RANGE_SIZE; i++)
        text[used++] = (char)path.data[i];
    text[used] = 0;
    cw_writer_free(&path);
}

static void fill_gap(const struct lines *l, uint32_t row, struct line *line)
{
    const struct gaps *gaps = l->content;
    const struct cw_idle_gap *gap = gaps->list[row];
    const struct cw_timeline *t = l->page->t;
    enum cw_idle_cause mostly = 0;
    size_t k = 0;
    for (enum cw_idle_cause c = 0; c < CW_IDLE__COUNT; c++)
        mostly = gap->causes[c] > gap->causes[mostly] ? c : mostly;
    put_time((double)(gap->start - t->start), line->cells[k++]);
    if (l->count == 4) {
        const uint32_t device = gaps->devices[row];
        snprintf(line->cells[k++], CELL_SIZE, "%" PRIu32,
                 device == CW_NO_TRACE_DEVICE ? 0 : t->data->devices[device].index);
    }
    put_time(gap_length(gap), line->cells[k++]);
    snprintf(line->cells[k++], CELL_SIZE, "%s", short_causes[mostly]);
    put_item(t, gap->after, line->name);
}

static void put_gaps(const struct page *p)
{
    enum { SHOWN = 5 };
    struct gaps gaps = {0};
    const struct cw_timeline_usage *u = p->o->usage;
    const bool several = u->device_count > 1;
    for (uint32_t i = 0; i < u->device_count; i++)
        add_gaps(&gaps, &u->devices[i], p->o->wide ? CW_IDLE_LARGEST : SHOWN);
    struct lines l = {.page = p,
                      .columns = {"at", several ? "GPU" : "idle", several ? "idle" : "mostly", "mostly"},
                      .count = several ? 4 : 3,
                      .name = "then came",
                      .rows = gaps.count,
                      .fill = fill_gap,
                      .names = PATHS,
                      .content = &gaps};
    if (!gaps.count)
        return;
    put_title(p, "Longest idle gaps");
    put_lines(&l);
}

/* ---- the rest --------------------------------------------------------------------------------------------------- */

/* Launches into streams that had nothing to do, and others. */
struct latencies {
    const struct cw_latency *list[2];
    const char *names[2];
};

static void fill_latency(const struct lines *l, uint32_t row, struct line *line)
{
    static const double parts[] = {0.5, 0.9, 0.99};
    const struct latencies *all = l->content;
    const struct cw_latency *latency = all->list[row];
    size_t k = 0;
    put_count(latency->count, line->cells[k++]);
    for (; k <= sizeof parts / sizeof *parts; k++) {
        const double ns = cw_latency_quantile(latency, parts[k - 1]);
        double step = 1; /* two digits: it is not known better */
        while (ns / step >= 100)
            step *= 10;
        put_time(fmin(floor(ns / step + 0.5) * step, (double)latency->greatest), line->cells[k]);
    }
    put_time((double)latency->greatest, line->cells[k]);
    snprintf(line->name, sizeof line->name, "%s", all->names[row]);
}

static void put_latencies(const struct page *p)
{
    const struct cw_timeline_usage *u = p->o->usage;
    struct latencies all = {{&u->at_once, &u->queued}, {"that had nothing to do", "behind others"}};
    struct lines l = {.page = p,
                      .columns = {"launches", "half within", "90%", "99%", "all"},
                      .count = 5,
                      .name = "into streams",
                      .fill = fill_latency,
                      .names = WORDS,
                      .content = &all};
    for (uint32_t i = 0; i < 2; i++)
        if (all.list[i]->count) {
            all.list[l.rows] = all.list[i];
            all.names[l.rows++] = all.names[i];
        }
    if (!l.rows)
        return;
    put_title(p, "From the call that launched a kernel to its start");
    put_lines(&l);
}

static void fill_memory(const struct lines *l, uint32_t row, struct line *line)
{
    const struct cw_memory_use *m = &l->page->o->extra->memory[row];
    const struct cw_timeline *t = l->page->t;
    char device[32] = "";
    if (m->device != CW_NO_TRACE_DEVICE)
        snprintf(device, sizeof device, ", GPU %" PRIu32, t->data->devices[m->device].index);
    put_amount(m->most, "bytes", line->cells[0]);
    put_time((double)(m->most_at > t->start ? m->most_at - t->start : 0), line->cells[1]);
    put_amount(m->now, "bytes", line->cells[2]);
    put_count(m->allocations, line->cells[3]);
    put_count(m->frees, line->cells[4]);
    snprintf(line->name, sizeof line->name, "%.100s, process %" PRIu32 "%s", t->names[m->memory].text,
             t->trace->processes[m->process].pid, device);
}

static void put_memory(const struct page *p)
{
    enum { SHOWN = 8 };
    const uint32_t count = p->o->extra->memory_count;
    struct lines l = {.page = p,
                      .columns = {"most", "at", "at the end", "allocated", "freed"},
                      .count = 5,
                      .name = "memory",
                      .rows = count < SHOWN || p->o->wide ? count : SHOWN,
                      .fill = fill_memory,
                      .names = WORDS};
    if (!count)
        return;
    put_title(p, "Memory that was allocated while it was traced");
    put_lines(&l);
}

static void fill_environment(const struct lines *l, uint32_t row, struct line *line)
{
    static const enum cw_reading shown[] = {CW_READING_SM_CLOCK, CW_READING_MEMORY_CLOCK, CW_READING_TEMPERATURE,
                                            CW_READING_POWER};
    const struct cw_environment *e = &l->page->o->extra->environment[row];
    size_t k = 0;
    for (; k < sizeof shown / sizeof *shown; k++) {
        const struct cw_reading_range *r = &e->of[shown[k]];
        if (!r->count)
            strcpy(line->cells[k], "-");
        else if (r->least == r->greatest)
            snprintf(line->cells[k], CELL_SIZE, "%.0f", r->least);
        else
            snprintf(line->cells[k], CELL_SIZE, "%.0f..%.0f", r->least, r->greatest);
    }
    put_percent(part_of((double)e->throttled, (double)e->readings), line->cells[k]);
    put_device_name(l->page, e->device, line->name, sizeof line->name);
}

static void put_environment(const struct page *p)
{
    struct lines l = {.page = p,
                      .columns = {"SM MHz", "memory MHz", "Celsius", "W", "throttled"},
                      .count = 5,
                      .name = "GPU",
                      .rows = p->o->extra->environment_count,
                      .fill = fill_environment,
                      .names = WORDS};
    if (!l.rows)
        return;
    put_title(p, "Clocks, temperature and power");
    put_lines(&l);
}

static void put_section(const struct page *p, const char *title, const struct cw_timeline_rows *rows, const char *items,
                        const char *name, const char *more)
{
    if (!rows || !rows->count)
        return;
    put_title(p, title);
    put_list(p, rows, items, name, more);
}

static void put_footer(const struct page *p)
{
    putc('\n', p->out);
    if (p->o->list_alone)
        fputs("More rows: --top N. Names in full: --wide.\n", p->out);
    else
        fputs("Other lists: --by family|nvtx|stream|device|process|rank|copy|call.\n"
              "More rows: --top N. In full: --wide. Some of it: --kernel NAME, --range NVTX.\n"
              "For other programs: -o FILE.h5, --json FILE, --csv FILE --kind KIND.\n"
              "In a browser: --report FILE.html. In Perfetto: metric-eval export --perfetto.\n",
              p->out);
    cw_text_print(p->out, "What was recorded and lost, by kind: metric-eval show %s\n", p->o->words);
}

static const char *items_of(enum cw_timeline_by by)
{
    return by == CW_TIMELINE_BY_KERNEL || by == CW_TIMELINE_BY_FAMILY ? "launches"
           : by == CW_TIMELINE_BY_CALL                                ? "calls"
           : by == CW_TIMELINE_BY_COPY                                ? "copies"
                                                                      : "launches";
}

static void put_main_list(const struct page *p)
{
    static const char *const names[CW_TIMELINE_BY__COUNT] = {"kernel",  "family", "NVTX range", "stream", "GPU",
                                                             "process", "rank",   "copy",       "call"};
    const struct cw_timeline_rows *list = p->o->list;
    const enum cw_timeline_by by = list->groups.by;
    char title[160], number[CW_NUMBER_SIZE], text[CW_TIME_TEXT_SIZE];
    snprintf(title, sizeof title, "%s, by %s: %s of %s %s",
             by == CW_TIMELINE_BY_CALL ? "Time in calls" : "Time on the GPU", names[by],
             cw_terminal_time(list->groups.total, text), cw_terminal_integer(list->groups.item_count, number),
             items_of(by));
    if (!p->style->quiet)
        put_title(p, title);
    put_list(p, list, items_of(by), names[by], "rows");
}

void cw_timeline_print(const struct cw_timeline_output *o, const struct cw_terminal_style *style, FILE *out)
{
    const struct page p = {o, o->t, style, out};
    if (!style->quiet) {
        put_what(&p);
        put_span(&p);
        put_lost(&p);
    }
    if (!o->list_alone && o->usage->device_count) {
        put_devices(&p);
        put_idle(&p);
    }
    if (o->list_alone || o->list->count)
        put_main_list(&p);
    if (!o->list_alone) {
        put_gaps(&p);
        put_section(&p, "Copies and memsets", o->copies, "copies", "which", "kinds");
        put_section(&p, "NVTX ranges, and the time on the GPU of what was launched in them", o->ranges, "launches",
                    "NVTX range", "ranges");
        put_section(&p, "Time on the GPU, by stream", o->streams, "launches", "stream", "streams");
        put_section(&p, "Time on the GPU, by process", o->devices, "launches", "process", "processes");
        put_section(&p, "Time in calls of CUDA, of all threads", o->calls, "calls", "call", "calls");
        put_latencies(&p);
        put_memory(&p);
        put_environment(&p);
    }
    if (!style->quiet)
        put_footer(&p);
}
