/* A join as tables for files. */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eval/output/joined.h"

enum cw_status cw_joined_output_make(struct cw_joined_output *output, const struct cw_joined *joined,
                                     const struct cw_joined_rows *rows, struct cw_arena *arena, struct cw_error *err)
{
    output->joined = joined;
    output->rows = rows;
    enum cw_status status = cw_join_list_left(&output->left, &output->left_count, &joined->join, &joined->join.a,
                                              joined->count, arena, err);
    return status == CW_OK ? cw_join_list_left(&output->extra, &output->extra_count, &joined->join, &joined->join.b,
                                               joined->counted.count, arena, err)
                           : status;
}

static const char *const letters[] = {"x", "y", "z"};
static const struct cw_output_column xyz_columns[] = {{"xyz", CW_CELL_TEXT, CW_TO_HDF5, 0}};
static const struct cw_output_table xyz = {CW_OUTPUT_COLUMNS(xyz_columns), .record_size = sizeof *letters,
                                           .row_count = 3, .row = cw_output_array, .content = (void *)letters};

/* ---- what has no twin ------------------------------------------------------------------------------------------- */

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
    {"grid", CW_CELL_U32, CW_TO_JSON | CW_TO_HDF5, offsetof(struct left, grid), &xyz},
    {"block", CW_CELL_U32, CW_TO_JSON | CW_TO_HDF5, offsetof(struct left, block), &xyz},
};

/* ---- PC samples ------------------------------------------------------------------------------------------------- */

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

/* ---- launches --------------------------------------------------------------------------------------------------- */

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

/* A range that was multiplexed has few of the metrics itself. */
static bool has_own(const struct launch_content *c, uint32_t i)
{
    const struct cw_joined *j = c->of->joined;
    const uint32_t twin = j->join.a.twin[i];
    return twin != CW_NO_TWIN && !cw_fold_is_of(cw_launch_of(j->data, twin));
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
    {"grid", CW_CELL_U32, CW_TO_JSON | CW_TO_HDF5, offsetof(struct launch, grid), &xyz},
    {"block", CW_CELL_U32, CW_TO_JSON | CW_TO_HDF5, offsetof(struct launch, block), &xyz},
};

/* Of each launch, the row that has it of those that are shown. NULL when out of memory. */
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

/* ---- all of it -------------------------------------------------------------------------------------------------- */

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
