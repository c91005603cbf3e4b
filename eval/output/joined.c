/* A join as tables for files, and for people beside the list of its rows. */
#define _GNU_SOURCE
#include "eval/output/joined.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/shorten.h"
#include "base/text.h"
#include "eval/output/capture.h"

enum cw_status cw_joined_output_make(struct cw_joined_output *output, const struct cw_joined *joined,
                                     const struct cw_joined_rows *rows, struct cw_arena *arena, struct cw_error *err)
{
    output->joined = joined;
    output->rows = rows;
    CW_TRY(cw_join_list_left(&output->left, &output->left_count, &joined->join, &joined->join.a, joined->count, arena,
                             err));
    return cw_join_list_left(&output->extra, &output->extra_count, &joined->join, &joined->join.b,
                             joined->counted.count, arena, err);
}

/* ---- for files: launches without a twin -------------------------------------------------------------------------- */

struct left {
    uint32_t number, traced;
    const char *run, *why, *kernel;
    const uint32_t *grid, *block;
    uint64_t launches;
};

struct left_content {
    const struct cw_joined_output *of;
    struct left one;
};

static struct cw_output_row left_row(const struct cw_output_table *t, uint64_t i)
{
    struct left_content *c = t->content;
    const struct cw_joined_output *o = c->of;
    const bool traced = i < o->left_count;
    const struct cw_join_left *item = traced ? &o->left[i] : &o->extra[i - o->left_count];
    const struct cw_join_launch *launch = &(traced ? o->joined->traced : o->joined->counted).launches[item->first];
    c->one = (struct left){.number = (uint32_t)i,
                           .run = traced ? "trace" : "capture",
                           .why = cw_join_how_names[item->how],
                           .kernel = launch->kernel,
                           .grid = launch->grid,
                           .block = launch->block,
                           .launches = item->count};
    return (struct cw_output_row){.record = &c->one};
}

static const struct cw_output_column left_columns[] = {
    {"left", CW_CELL_U32, CW_TO_HDF5, offsetof(struct left, number)},
    {"run", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct left, run)},
    {"why", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct left, why)},
    {"kernel", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct left, kernel)},
    {"launches", CW_CELL_U64, CW_TO_FILES, offsetof(struct left, launches)},
    {"grid", CW_CELL_U32, CW_TO_JSON | CW_TO_HDF5, offsetof(struct left, grid), &cw_output_xyz},
    {"block", CW_CELL_U32, CW_TO_JSON | CW_TO_HDF5, offsetof(struct left, block), &cw_output_xyz},
};

/* ---- for files: PC samples --------------------------------------------------------------------------------------- */

struct hot {
    uint32_t number;
    struct cw_joined_line of;
};

struct hot_content {
    const struct cw_joined_samples *samples;
    struct hot one;
};

static struct cw_output_row hot_row(const struct cw_output_table *t, uint64_t i)
{
    struct hot_content *c = t->content;
    c->one = (struct hot){(uint32_t)i, c->samples->lines[i]};
    return (struct cw_output_row){.record = &c->one};
}

static const struct cw_output_column hot_columns[] = {
    {"hot", CW_CELL_U32, CW_TO_HDF5, offsetof(struct hot, number)},
    {"kernel", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct hot, of.function)},
    {"file", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct hot, of.file)},
    {"line", CW_CELL_U32, CW_TO_FILES, offsetof(struct hot, of.line)},
    {"samples", CW_CELL_U64, CW_TO_FILES, offsetof(struct hot, of.samples)},
    {"kernel_samples", CW_CELL_U64, CW_TO_FILES, offsetof(struct hot, of.all)},
    {"reason", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct hot, of.reason)},
    {"kernel_ns", CW_CELL_F64, CW_TO_FILES, offsetof(struct hot, of.ns)},
};

static enum cw_status add_hot(struct cw_output *output, const struct cw_joined_output *of, struct cw_arena *arena,
                              struct cw_error *err)
{
    struct hot_content *c = cw_arena_alloc(arena, 1, sizeof *c);
    if (!c)
        return cw_error_nomem(err);
    c->samples = &of->samples;
    output->tables[output->table_count++] = (struct cw_output_table){
        CW_OUTPUT_COLUMNS(hot_columns), .name = "hot",  .group = "hot", .record_size = sizeof c->one,
        .row_count = of->samples.count, .row = hot_row, .content = c};
    return CW_OK;
}

/* ---- for files: launches ----------------------------------------------------------------------------------------- */

struct launch {
    const char *kernel, *nvtx, *joined;
    uint32_t number, process, device, range, row;
    uint64_t stream, start_ns, end_ns;
    double gap_ns, latency_ns;
    const uint32_t *grid, *block;
};

struct launch_content {
    const struct cw_joined_output *of;
    const uint32_t *row; /* of each launch, or UINT32_MAX */
    const struct cw_result *ranges, *kernels;
    double unknown;
    int8_t not_collected;
    struct launch one;
};

static void describe(struct launch_content *c, uint32_t i)
{
    const struct cw_joined *j = c->of->joined;
    const struct cw_timeline *t = j->timeline;
    const struct cw_joined_launch *l = &j->launches[i];
    const struct cw_join_launch *launch = &j->traced.launches[i];
    const struct cw_timeline_stream *s = l->stream == CW_TIMELINE_NONE ? NULL : &t->streams[l->stream];
    const uint64_t start = j->of_ranges ? t->ranges[l->event].start : t->gpu[l->event].start;
    c->one = (struct launch){.kernel = launch->kernel,
                             .nvtx = j->of_ranges ? launch->kernel : launch->path,
                             .joined = cw_join_how_names[j->join.a.how[i]],
                             .number = i,
                             .process = l->process,
                             .device = s && s->device < t->data->device_count ? t->data->devices[s->device].index
                                                                              : UINT32_MAX,
                             .range = j->join.a.twin[i],
                             .row = c->row[i],
                             .stream = s ? s->stream : CW_TRACE_UNKNOWN,
                             .start_ns = start,
                             .end_ns = j->of_ranges ? t->ranges[l->event].end : start + (uint64_t)l->ns,
                             .gap_ns = l->gap,
                             .latency_ns = l->latency,
                             .grid = launch->grid,
                             .block = launch->block};
}

/* A multiplexed range has few of the metrics itself. */
static bool has_own(const struct launch_content *c, uint32_t i)
{
    const struct cw_joined *j = c->of->joined;
    const uint32_t twin = j->join.a.twin[i];
    return twin != CW_NO_TWIN && !cw_range_is_multiplexed(cw_launch_of(j->data, twin));
}

static struct cw_output_row launch_row(const struct cw_output_table *t, uint64_t i)
{
    struct launch_content *c = t->content;
    const struct cw_joined *j = c->of->joined;
    const uint32_t row = c->row[i];
    describe(c, (uint32_t)i);
    if (!t->metrics)
        return (struct cw_output_row){.record = &c->one};
    if (has_own(c, (uint32_t)i))
        return (struct cw_output_row){.record = &c->one,
                                      .values = c->ranges->values + j->join.a.twin[i],
                                      .statuses = c->ranges->statuses + j->join.a.twin[i],
                                      .stride = c->ranges->row_count};
    if (row != UINT32_MAX && cw_join_has_kernel((enum cw_join_how)j->join.a.how[i]))
        return (struct cw_output_row){.record = &c->one,
                                      .values = c->kernels->values + row,
                                      .statuses = c->kernels->statuses + row,
                                      .stride = c->kernels->row_count};
    return (struct cw_output_row){.record = &c->one, .values = &c->unknown, .statuses = &c->not_collected};
}

static const struct cw_output_column launch_columns[] = {
    {"launch", CW_CELL_U32, CW_TO_FILES, offsetof(struct launch, number)},
    {"kernel", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct launch, kernel)},
    {"nvtx", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct launch, nvtx)},
    {"process", CW_CELL_U32, CW_TO_FILES, offsetof(struct launch, process)},
    {"device", CW_CELL_U32, CW_TO_FILES, offsetof(struct launch, device)},
    {"stream", CW_CELL_I64, CW_TO_FILES, offsetof(struct launch, stream)},
    {"start_ns", CW_CELL_U64, CW_TO_FILES, offsetof(struct launch, start_ns), .units = CW_OUTPUT_DATE,
     .long_name = "in the trace: when it began on the GPU, or when the host opened the user range"},
    {"end_ns", CW_CELL_U64, CW_TO_FILES, offsetof(struct launch, end_ns), .units = CW_OUTPUT_DATE,
     .long_name = "in the trace: when it ended on the GPU, or when the host closed the user range"},
    {"gap_ns", CW_CELL_F64, CW_TO_FILES, offsetof(struct launch, gap_ns), .units = "ns",
     .long_name = "how long nothing ran on the device before it"},
    {"latency_ns", CW_CELL_F64, CW_TO_FILES, offsetof(struct launch, latency_ns), .units = "ns",
     .long_name = "from the begin of the host's call to the begin on the GPU"},
    {"joined", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct launch, joined)},
    {"range", CW_CELL_U32, CW_TO_FILES, offsetof(struct launch, range)},
    {"group", CW_CELL_U32, CW_TO_FILES, offsetof(struct launch, row)},
    {"grid", CW_CELL_U32, CW_TO_JSON | CW_TO_HDF5, offsetof(struct launch, grid), &cw_output_xyz},
    {"block", CW_CELL_U32, CW_TO_JSON | CW_TO_HDF5, offsetof(struct launch, block), &cw_output_xyz},
};

/* The row that shows each launch, UINT32_MAX for none. NULL when out of memory. */
static const uint32_t *find_rows(const struct cw_output_rows *rows, struct cw_arena *arena)
{
    const uint32_t count = rows->joined->joined->count;
    uint32_t *row = cw_arena_alloc(arena, count, sizeof *row);
    for (uint32_t i = 0; row && i < count; i++)
        row[i] = UINT32_MAX;
    for (uint32_t k = 0; row && k < rows->count; k++) {
        const struct cw_group *group = &rows->groups->items[rows->rows[k]];
        for (uint32_t i = 0; i < group->count; i++)
            row[group->ranges[i]] = k;
    }
    return row;
}

static struct launch_content *make_launches(struct cw_output_table *table, const struct cw_output_rows *rows,
                                            struct cw_arena *arena)
{
    struct launch_content *c = cw_arena_alloc(arena, 1, sizeof *c);
    if (!c || !(c->row = find_rows(rows, arena)))
        return NULL;
    c->of = rows->joined;
    c->unknown = NAN;
    c->not_collected = CW_VALUE_NOT_COLLECTED;
    *table = (struct cw_output_table){CW_OUTPUT_COLUMNS(launch_columns),
                                      .name = "launches",
                                      .group = "timeline/kernel",
                                      .record_size = sizeof c->one,
                                      .row_count = rows->joined->joined->count,
                                      .row = launch_row,
                                      .content = c};
    return c;
}

/* ---- for files: all tables --------------------------------------------------------------------------------------- */

enum cw_status cw_joined_add_tables(struct cw_output *output, const struct cw_output_rows *rows, bool all,
                                    struct cw_arena *arena, struct cw_error *err)
{
    struct left_content *left = cw_arena_alloc(arena, 1, sizeof *left);
    if (!left || (all && !make_launches(&output->tables[output->table_count++], rows, arena)))
        return cw_error_nomem(err);
    left->of = rows->joined;
    output->tables[output->table_count++] =
        (struct cw_output_table){CW_OUTPUT_COLUMNS(left_columns),
                                 .name = "left",
                                 .group = "left",
                                 .record_size = sizeof left->one,
                                 .row_count = (uint64_t)rows->joined->left_count + rows->joined->extra_count,
                                 .row = left_row,
                                 .content = left};
    return rows->joined->samples_source ? add_hot(output, rows->joined, arena, err) : CW_OK;
}

enum cw_status cw_output_joined_launches(struct cw_output *output, const struct cw_output_rows *rows,
                                         const struct cw_result *ranges, const char *const *descriptions,
                                         struct cw_arena *arena, struct cw_error *err)
{
    *output = (struct cw_output){.data = rows->data, .source = rows->result->source, .table_count = 1};
    struct launch_content *c = make_launches(&output->tables[0], rows, arena);
    if (!c || !cw_output_metrics(&output->metrics, ranges, descriptions, false, arena))
        return cw_error_nomem(err);
    c->ranges = ranges;
    c->kernels = rows->result;
    output->tables[0].metrics = &output->metrics;
    output->tables[0].once = true;
    return CW_OK;
}

enum { SHOWN_LEFT = 10, WHY_SIZE = 320, SHAPE_SIZE = 160 };

/* ---- for people: summary ----------------------------------------------------------------------------------------- */

/* Launches of the trace by how they are joined, and their time. */
struct part {
    uint64_t count;
    double ns;
};

static void add_up(const struct cw_joined *j, struct part *twins, struct part *like, struct part *none)
{
    for (uint32_t i = 0; i < j->count; i++) {
        const enum cw_join_how how = (enum cw_join_how)j->join.a.how[i];
        struct part *p = how == CW_JOIN_TWIN ? twins : cw_join_has_kernel(how) ? like : none;
        p->count++;
        p->ns += j->launches[i].ns;
    }
}

static void put_part(const struct part *part, double whole, const char *what, FILE *out)
{
    char number[CW_NUMBER_SIZE];
    if (!part->count)
        return;
    cw_text_print(out, "  %s", cw_terminal_integer(part->count, number));
    if (whole > 0)
        cw_text_print(out, " (%.1f %% of the time)", 100 * part->ns / whole);
    cw_text_print(out, " %s\n", what);
}

static const char *unit_of(const struct cw_joined *j, bool many)
{
    return j->of_ranges ? many ? "NVTX ranges" : "NVTX range" : many ? "launches" : "launch";
}

static const char *gpu_of(const struct cw_counter_data *data)
{
    const char *name = data->device_count ? cw_device_attribute(&data->devices[0], "name") : NULL;
    return name ? name : "";
}

/* Reasons to doubt that the metrics belong to the trace's launches. */
static void put_doubts(const struct cw_joined *j, const struct part *none, double whole, FILE *out)
{
    const char *traced = gpu_of(j->timeline->data), *counted = gpu_of(j->data);
    if (*traced && *counted && strcmp(traced, counted) != 0)
        cw_text_print(out, "Traced on %s, but counted on another GPU, %s.\n", traced, counted);
    if (whole > 0 && none->ns > 0.9 * whole)
        cw_text_print(out, "Hardly any launch was counted: is it the same program, with the same input?\n");
}

void cw_joined_put_summary(const struct cw_output_rows *rows, FILE *out)
{
    const struct cw_joined_output *o = rows->joined;
    const struct cw_joined *j = o->joined;
    struct part twins = {0}, like = {0}, none = {0};
    char number[CW_NUMBER_SIZE], time[CW_TIME_TEXT_SIZE];
    add_up(j, &twins, &like, &none);
    cw_terminal_time(j->whole, time);
    cw_text_print(out, "%s %s in the trace, %s of kernels. All times are those of the trace.\n",
                  cw_terminal_integer(j->count, number), unit_of(j, j->count != 1), time);
    const double whole = j->of_ranges ? 0 : twins.ns + like.ns + none.ns; /* ranges nest */
    put_part(&twins, whole, j->of_ranges ? "were counted" : "are launches that were counted", out);
    put_part(&like, whole,
             j->of_ranges ? "have the metrics of other ranges of their name"
                          : "have the metrics of other launches of their kernel, grid and block",
             out);
    put_part(&none, whole, "have no metrics", out);
    put_doubts(j, &none, whole, out);
    if (j->unnumbered)
        cw_text_print(out, "Launches cannot be told apart: %s.\n", j->unnumbered);
    cw_capture_put_filters(j->data, out);
}

/* ---- for people: launches without a twin ------------------------------------------------------------------------- */

struct line {
    char launches[CW_NUMBER_SIZE], share[16], shape[SHAPE_SIZE], name[CW_SHORT_SIZE];
    const char *why;
};

struct left_list {
    const struct cw_joined *joined;
    const struct cw_join_left *items;
    bool traced;
    size_t name_width;
    double whole;
    const double *times; /* of each item, ns; of the trace */
    struct line one;
};

static const char *why(enum cw_join_how how, bool traced)
{
    static const char *const of_trace[CW_JOIN_HOW__COUNT] = {"",
                                                             "fewer were counted",
                                                             "counted in other NVTX ranges",
                                                             "counted on other ranks or devices",
                                                             "cannot be told apart",
                                                             "counted with another grid or block",
                                                             "not counted"};
    static const char *const of_ranges[CW_JOIN_HOW__COUNT] = {"",
                                                              "fewer are in the trace",
                                                              "traced in other NVTX ranges",
                                                              "traced on other ranks or devices",
                                                              "cannot be told apart",
                                                              "traced with another grid or block",
                                                              "not in the trace"};
    return (traced ? of_trace : of_ranges)[how];
}

static void put_shape(const struct cw_join_launch *launch, char text[SHAPE_SIZE])
{
    const uint32_t *g = launch->grid, *b = launch->block;
    if (!g[0])
        cw_text_format(text, SHAPE_SIZE, "-");
    else
        cw_text_format(text, SHAPE_SIZE, "%" PRIu32 "x%" PRIu32 "x%" PRIu32 " / %" PRIu32 "x%" PRIu32 "x%" PRIu32, g[0],
                       g[1], g[2], b[0], b[1], b[2]);
}

static const char *name_of(const struct left_list *l, const struct cw_join_left *item)
{
    const struct cw_joined *j = l->joined;
    if (!l->traced)
        return cw_launch_of(j->data, item->first)->name;
    const struct cw_join_launch *launch = &j->traced.launches[item->first];
    const uint32_t event = j->launches[item->first].event;
    return j->of_ranges || !launch->grid[0] ? launch->kernel : j->timeline->names[j->timeline->gpu[event].name].shown;
}

static struct cw_output_row left_line_row(const struct cw_output_table *t, uint64_t i)
{
    struct left_list *l = t->content;
    const struct cw_join_left *item = &l->items[i];
    const struct cw_join_run *run = l->traced ? &l->joined->traced : &l->joined->counted;
    cw_terminal_integer(item->count, l->one.launches);
    cw_terminal_percent(l->whole > 0 && l->times ? l->times[i] / l->whole : 0, l->one.share);
    put_shape(&run->launches[item->first], l->one.shape);
    cw_shorten(name_of(l, item), l->name_width, l->one.name);
    l->one.why = why(item->how, l->traced);
    return (struct cw_output_row){.record = &l->one};
}

static const struct cw_output_column left_line_columns[] = {
    {"launches", CW_CELL_CHARS, CW_TO_TERMINAL, offsetof(struct line, launches), .right = true},
    {"share", CW_CELL_CHARS, CW_TO_TERMINAL, offsetof(struct line, share), .right = true},
    {"why", CW_CELL_TEXT, CW_TO_TERMINAL, offsetof(struct line, why)},
    {"grid / block", CW_CELL_CHARS, CW_TO_TERMINAL, offsetof(struct line, shape)},
    {"name", CW_CELL_CHARS, CW_TO_TERMINAL, offsetof(struct line, name)},
};
static const struct cw_output_column untimed_line_columns[] = {
    {"ranges", CW_CELL_CHARS, CW_TO_TERMINAL, offsetof(struct line, launches), .right = true},
    {"why", CW_CELL_TEXT, CW_TO_TERMINAL, offsetof(struct line, why)},
    {"grid / block", CW_CELL_CHARS, CW_TO_TERMINAL, offsetof(struct line, shape)},
    {"name", CW_CELL_CHARS, CW_TO_TERMINAL, offsetof(struct line, name)},
};

static void put_list(struct left_list *l, uint32_t count, const struct cw_terminal_style *style, const char *title,
                     FILE *out)
{
    enum { LEAST = 20 };
    struct cw_output_table t = {.columns = l->traced ? left_line_columns : untimed_line_columns,
                                .column_count = l->traced ? sizeof left_line_columns / sizeof *left_line_columns
                                                          : sizeof untimed_line_columns / sizeof *untimed_line_columns,
                                .record_size = sizeof l->one,
                                .row_count = count < SHOWN_LEFT ? count : SHOWN_LEFT,
                                .row = left_line_row,
                                .content = l};
    if (!count)
        return;
    l->name_width = LEAST;
    const int room = cw_terminal_room(&t, style->width);
    l->name_width = !style->width ? 0 : room > LEAST ? (size_t)room : LEAST;
    cw_text_print(out, "\n%s\n", title);
    cw_terminal_print(&t, 0, out);
    if (count > SHOWN_LEFT)
        cw_text_print(out, "%" PRIu32 " more; --format json has all\n", count - SHOWN_LEFT);
}

/* ---- for people: PC samples -------------------------------------------------------------------------------------- */

struct hot_line {
    char time[CW_TIME_TEXT_SIZE], samples[CW_NUMBER_SIZE], share[16], place[WHY_SIZE], reason[CW_REASON_SIZE],
        name[CW_SHORT_SIZE];
};

struct hot_list {
    const struct cw_joined_samples *samples;
    size_t name_width;
    struct hot_line one;
};

static struct cw_output_row hot_line_row(const struct cw_output_table *t, uint64_t i)
{
    struct hot_list *l = t->content;
    const struct cw_joined_line *line = &l->samples->lines[i];
    const char *file = strrchr(line->file, '/');
    cw_terminal_time(line->ns, l->one.time);
    cw_terminal_integer(line->samples, l->one.samples);
    cw_terminal_percent(line->share, l->one.share);
    if (*line->file)
        cw_text_format(l->one.place, sizeof l->one.place, "%s:%" PRIu32, file ? file + 1 : line->file, line->line);
    else
        cw_text_format(l->one.place, sizeof l->one.place, "-");
    cw_reason_short(line->reason, l->one.reason);
    cw_shorten(line->name, l->name_width, l->one.name);
    return (struct cw_output_row){.record = &l->one};
}

static const struct cw_output_column hot_line_columns[] = {
    {"kernel's time", CW_CELL_CHARS, CW_TO_TERMINAL, offsetof(struct hot_line, time), .right = true},
    {"samples", CW_CELL_CHARS, CW_TO_TERMINAL, offsetof(struct hot_line, samples), .right = true},
    {"of kernel", CW_CELL_CHARS, CW_TO_TERMINAL, offsetof(struct hot_line, share), .right = true},
    {"line", CW_CELL_CHARS, CW_TO_TERMINAL, offsetof(struct hot_line, place)},
    {"waits for", CW_CELL_CHARS, CW_TO_TERMINAL, offsetof(struct hot_line, reason)},
    {"kernel", CW_CELL_CHARS, CW_TO_TERMINAL, offsetof(struct hot_line, name)},
};

void cw_joined_put_samples(const struct cw_output_rows *rows, const struct cw_terminal_style *style, FILE *out)
{
    enum { LEAST = 20, SHOWN = 15 };
    const struct cw_joined_samples *samples = &rows->joined->samples;
    struct hot_list list = {.samples = samples, .name_width = LEAST};
    const struct cw_output_table t = {CW_OUTPUT_COLUMNS(hot_line_columns), .record_size = sizeof list.one,
                                      .row_count = samples->count < SHOWN ? samples->count : SHOWN, .row = hot_line_row,
                                      .content = &list};
    if (!rows->joined->samples_source)
        return;
    const int room = cw_terminal_room(&t, style->width);
    list.name_width = !style->width ? 0 : room > LEAST ? (size_t)room : LEAST;
    if (!samples->count) {
        cw_text_print(out, "\nNo sample of %s is in a kernel that the trace has.\n", rows->joined->samples_source);
        return;
    }
    cw_text_print(out, "\nThe hottest lines of kernels, from %s:\n", rows->joined->samples_source);
    cw_terminal_print(&t, 0, out);
    if (samples->count > SHOWN)
        cw_text_print(out, "%zu more; --format json has all\n", samples->count - SHOWN);
    if (samples->elsewhere)
        cw_text_print(out, "%.1f %% of the samples are in kernels that the trace does not have.\n",
                      100 * (double)samples->elsewhere / (double)samples->samples);
}

/* ---- for people: both lists -------------------------------------------------------------------------------------- */

/* The time of each item of the trace's list. NULL when out of memory. */
static double *sum_times(const struct cw_joined *j, const struct cw_join_left *items, uint32_t count)
{
    const size_t cells = (size_t)j->join.shape_count * CW_JOIN_HOW__COUNT;
    double *sums = calloc(cells + 1, sizeof *sums), *times = calloc((size_t)count + 1, sizeof *times);
    for (uint32_t i = 0; sums && times && i < j->count; i++)
        sums[(size_t)j->join.a.shape[i] * CW_JOIN_HOW__COUNT + j->join.a.how[i]] += j->launches[i].ns;
    for (uint32_t i = 0; sums && times && i < count; i++)
        times[i] = sums[(size_t)items[i].shape * CW_JOIN_HOW__COUNT + items[i].how];
    const bool enough = sums && times;
    free(sums);
    if (!enough) {
        free(times);
        return NULL;
    }
    return times;
}

enum cw_status cw_joined_put_left(const struct cw_output_rows *rows, const struct cw_terminal_style *style, FILE *out,
                                  struct cw_error *err)
{
    const struct cw_joined_output *o = rows->joined;
    struct left_list left = {.joined = o->joined, .items = o->left, .traced = true, .whole = o->joined->whole};
    double *times = sum_times(o->joined, o->left, o->left_count);
    left.times = times;
    if (!times)
        return cw_error_nomem(err);
    put_list(&left, o->left_count, style, "In the trace, and not counted:", out);
    left = (struct left_list){.joined = o->joined, .items = o->extra};
    put_list(&left, o->extra_count, style, "Counted, and not in the trace:", out);
    free(times);
    return CW_OK;
}
