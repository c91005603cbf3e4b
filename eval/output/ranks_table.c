#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "eval/output/ranks_output.h"

enum { SPREADS = 9, NUMBERS = 4 }; /* of a spread: those that may have fractions, and whole ones */

struct value_record {
    struct cw_rank rank;
    struct cw_rank_row row;
    uint64_t number;
    const char *kernel;
};

struct kernel_record {
    struct cw_rank_kernel kernel;
    const uint32_t *grid, *block;
    uint32_t waits, least_rank, greatest_rank;
    const double *spreads[SPREADS]; /* [metric] each */
    const uint32_t *least_ranks, *greatest_ranks, *outliers, *left_out;
};

struct straggler_record {
    uint64_t number;
    uint32_t rank;
    const char *host, *kernel, *text;
    struct cw_straggler of;
};

struct waited_record {
    uint32_t rank;
    const char *host, *text;
    struct cw_waited_for of;
};

struct missing_record {
    uint64_t number;
    struct cw_rank_run of;
};

struct content {
    const struct cw_ranks_view *view;
    struct value_record value;
    struct kernel_record kernel;
    struct straggler_record straggler;
    struct waited_record waited;
    double *values; /* of a row */
    int8_t *statuses;
    double *spreads[SPREADS];
    uint32_t *numbers[NUMBERS];
    struct missing_record *missing;
    char text[CW_STRAGGLER_TEXT];
};

/* ---- rows ------------------------------------------------------------------------------------------------------- */

/* What cannot be read again is no value; the view's error says so. */
static struct cw_output_row value_row(const struct cw_output_table *t, uint64_t i)
{
    struct content *c = t->content;
    const struct cw_ranks *r = c->view->ranks;
    const struct cw_rank_row *row = &r->rows[i];
    if (cw_ranks_values(r, i, c->values, c->statuses, c->view->err) != CW_OK)
        for (uint32_t m = 0; m < r->metric_count; m++) {
            c->values[m] = NAN;
            c->statuses[m] = CW_VALUE_NOT_COLLECTED;
        }
    c->value = (struct value_record){r->ranks[row->rank], *row, i, r->kernels[row->kernel].name};
    return (struct cw_output_row){.record = &c->value, .values = c->values, .statuses = c->statuses, .stride = 1};
}

static struct cw_output_row rank_row(const struct cw_output_table *t, uint64_t i)
{
    const struct content *c = t->content;
    return (struct cw_output_row){.record = &c->view->ranks->ranks[i]};
}

static struct cw_output_row kernel_row(const struct cw_output_table *t, uint64_t i)
{
    struct content *c = t->content;
    const struct cw_ranks *r = c->view->ranks;
    const struct cw_rank_kernel *k = &r->kernels[i];
    for (uint32_t m = 0; m < r->metric_count; m++) {
        const struct cw_rank_spread *s = &r->spreads[i * r->metric_count + m];
        const double numbers[SPREADS] = {s->mean,  s->deviation, s->least,    s->lower,    s->median,
                                         s->upper, s->greatest,  s->distance, s->imbalance};
        for (int n = 0; n < SPREADS; n++)
            c->spreads[n][m] = numbers[n];
        c->numbers[0][m] = r->ranks[s->least_rank].number;
        c->numbers[1][m] = r->ranks[s->greatest_rank].number;
        c->numbers[2][m] = s->outliers;
        c->numbers[3][m] = s->left_out;
    }
    c->kernel = (struct kernel_record){.kernel = *k,
                                       .grid = k->grid,
                                       .block = k->block,
                                       .waits = k->waits,
                                       .least_rank = r->ranks[k->time.least_rank].number,
                                       .greatest_rank = r->ranks[k->time.greatest_rank].number,
                                       .least_ranks = c->numbers[0],
                                       .greatest_ranks = c->numbers[1],
                                       .outliers = c->numbers[2],
                                       .left_out = c->numbers[3]};
    for (int n = 0; n < SPREADS; n++)
        c->kernel.spreads[n] = c->spreads[n];
    return (struct cw_output_row){.record = &c->kernel};
}

static struct cw_output_row straggler_row(const struct cw_output_table *t, uint64_t i)
{
    struct content *c = t->content;
    const struct cw_ranks *r = c->view->ranks;
    const struct cw_straggler *s = &r->stragglers[i];
    const struct cw_rank_row *row = &r->rows[s->row];
    c->straggler = (struct straggler_record){i,
                                             r->ranks[row->rank].number,
                                             r->ranks[row->rank].host,
                                             r->kernels[row->kernel].name,
                                             cw_straggler_text(r, s, c->text),
                                             *s};
    return (struct cw_output_row){.record = &c->straggler};
}

static struct cw_output_row waited_row(const struct cw_output_table *t, uint64_t i)
{
    struct content *c = t->content;
    const struct cw_ranks *r = c->view->ranks;
    const struct cw_waited_for *w = &r->waited[i];
    c->waited = (struct waited_record){r->ranks[w->rank].number, r->ranks[w->rank].host, cw_waited_text(r, w, c->text),
                                       *w};
    return (struct cw_output_row){.record = &c->waited};
}

static struct cw_output_row missing_row(const struct cw_output_table *t, uint64_t i)
{
    const struct content *c = t->content;
    return (struct cw_output_row){.record = &c->missing[i]};
}

/* ---- columns ---------------------------------------------------------------------------------------------------- */

#define VALUE(member) offsetof(struct value_record, member)
static const struct cw_output_column value_columns[] = {
    {"row", CW_CELL_U64, CW_TO_HDF5, VALUE(number)},
    {"rank", CW_CELL_U32, CW_TO_FILES, VALUE(rank.number)},
    {"host", CW_CELL_TEXT, CW_TO_CSV | CW_TO_CSV_0 | CW_TO_JSON, VALUE(rank.host)},
    {"kernel", CW_CELL_TEXT, CW_TO_CSV | CW_TO_CSV_0 | CW_TO_JSON, VALUE(kernel)},
    {"kernel_number", CW_CELL_U32, CW_TO_FILES, VALUE(row.kernel)},
    {"launches", CW_CELL_U64, CW_TO_FILES, VALUE(row.launches)},
    {"total_ns", CW_CELL_F64, CW_TO_FILES, VALUE(row.total)},
    {"mean_ns", CW_CELL_F64, CW_TO_FILES, VALUE(row.mean)},
};

#define RANK(member) offsetof(struct cw_rank, member)
static const struct cw_output_column rank_columns[] = {
    {"rank", CW_CELL_U32, CW_TO_FILES, RANK(number)},
    {"host", CW_CELL_TEXT, CW_TO_FILES, RANK(host)},
    {"pci", CW_CELL_TEXT, CW_TO_FILES, RANK(pci)},
    {"launches", CW_CELL_U64, CW_TO_FILES, RANK(launches)},
    {"total_ns", CW_CELL_F64, CW_TO_FILES, RANK(total)},
    {"waiting_ns", CW_CELL_F64, CW_TO_FILES, RANK(waits)},
    {"sm_mhz", CW_CELL_F64, CW_TO_FILES, RANK(clock)},
};

static const char *const letters[] = {"x", "y", "z"};
static const struct cw_output_column xyz_columns[] = {{"xyz", CW_CELL_TEXT, CW_TO_HDF5, 0}};
static const struct cw_output_table xyz = {CW_OUTPUT_COLUMNS(xyz_columns), .record_size = sizeof *letters,
                                           .row_count = 3, .row = cw_output_array, .content = (void *)letters};

/* Those across metrics get their table in each output: it is the last member that is filled in. */
#define KERNEL(member) offsetof(struct kernel_record, member)
static const struct cw_output_column kernel_columns[] = {
    {"kernel", CW_CELL_TEXT, CW_TO_FILES, KERNEL(kernel.name)},
    {"function", CW_CELL_TEXT, CW_TO_FILES, KERNEL(kernel.kernel)},
    {"ranks", CW_CELL_U32, CW_TO_FILES, KERNEL(kernel.count)},
    {"launches", CW_CELL_U64, CW_TO_FILES, KERNEL(kernel.launches)},
    {"waits", CW_CELL_U32, CW_TO_FILES, KERNEL(waits)},
    {"total_ns", CW_CELL_F64, CW_TO_FILES, KERNEL(kernel.total)},
    {"time_mean_ns", CW_CELL_F64, CW_TO_FILES, KERNEL(kernel.time.mean)},
    {"time_deviation_ns", CW_CELL_F64, CW_TO_FILES, KERNEL(kernel.time.deviation)},
    {"time_least_ns", CW_CELL_F64, CW_TO_FILES, KERNEL(kernel.time.least)},
    {"time_lower_quartile_ns", CW_CELL_F64, CW_TO_FILES, KERNEL(kernel.time.lower)},
    {"time_median_ns", CW_CELL_F64, CW_TO_FILES, KERNEL(kernel.time.median)},
    {"time_upper_quartile_ns", CW_CELL_F64, CW_TO_FILES, KERNEL(kernel.time.upper)},
    {"time_greatest_ns", CW_CELL_F64, CW_TO_FILES, KERNEL(kernel.time.greatest)},
    {"time_imbalance", CW_CELL_F64, CW_TO_FILES, KERNEL(kernel.time.imbalance)},
    {"time_least_rank", CW_CELL_U32, CW_TO_FILES, KERNEL(least_rank)},
    {"time_greatest_rank", CW_CELL_U32, CW_TO_FILES, KERNEL(greatest_rank)},
    {"time_outliers", CW_CELL_U32, CW_TO_FILES, KERNEL(kernel.time.outliers)},
    {"grid", CW_CELL_U32, CW_TO_JSON | CW_TO_HDF5, KERNEL(grid), &xyz},
    {"block", CW_CELL_U32, CW_TO_JSON | CW_TO_HDF5, KERNEL(block), &xyz},
    {"mean", CW_CELL_F64, CW_TO_JSON | CW_TO_HDF5, KERNEL(spreads[0])},
    {"deviation", CW_CELL_F64, CW_TO_JSON | CW_TO_HDF5, KERNEL(spreads[1])},
    {"least", CW_CELL_F64, CW_TO_JSON | CW_TO_HDF5, KERNEL(spreads[2])},
    {"lower_quartile", CW_CELL_F64, CW_TO_JSON | CW_TO_HDF5, KERNEL(spreads[3])},
    {"median", CW_CELL_F64, CW_TO_JSON | CW_TO_HDF5, KERNEL(spreads[4])},
    {"upper_quartile", CW_CELL_F64, CW_TO_JSON | CW_TO_HDF5, KERNEL(spreads[5])},
    {"greatest", CW_CELL_F64, CW_TO_JSON | CW_TO_HDF5, KERNEL(spreads[6])},
    {"median_distance", CW_CELL_F64, CW_TO_JSON | CW_TO_HDF5, KERNEL(spreads[7])},
    {"imbalance", CW_CELL_F64, CW_TO_JSON | CW_TO_HDF5, KERNEL(spreads[8])},
    {"least_rank", CW_CELL_U32, CW_TO_JSON | CW_TO_HDF5, KERNEL(least_ranks)},
    {"greatest_rank", CW_CELL_U32, CW_TO_JSON | CW_TO_HDF5, KERNEL(greatest_ranks)},
    {"outliers", CW_CELL_U32, CW_TO_JSON | CW_TO_HDF5, KERNEL(outliers)},
    {"left_out", CW_CELL_U32, CW_TO_JSON | CW_TO_HDF5, KERNEL(left_out)},
};
enum { KERNEL_COLUMNS = sizeof kernel_columns / sizeof *kernel_columns, ACROSS_METRICS = SPREADS + NUMBERS };

#define STRAGGLER(member) offsetof(struct straggler_record, member)
static const struct cw_output_column straggler_columns[] = {
    {"straggler", CW_CELL_U64, CW_TO_HDF5, STRAGGLER(number)},
    {"rank", CW_CELL_U32, CW_TO_FILES, STRAGGLER(rank)},
    {"host", CW_CELL_TEXT, CW_TO_FILES, STRAGGLER(host)},
    {"kernel", CW_CELL_TEXT, CW_TO_FILES, STRAGGLER(kernel)},
    {"slower", CW_CELL_F64, CW_TO_FILES, STRAGGLER(of.slower)},
    {"lost_ns", CW_CELL_F64, CW_TO_FILES, STRAGGLER(of.lost)},
    {"clock", CW_CELL_F64, CW_TO_FILES, STRAGGLER(of.causes[CW_CAUSE_CLOCK])},
    {"cycles", CW_CELL_F64, CW_TO_FILES, STRAGGLER(of.causes[CW_CAUSE_CYCLES])},
    {"instructions", CW_CELL_F64, CW_TO_FILES, STRAGGLER(of.causes[CW_CAUSE_INSTRUCTIONS])},
    {"bytes", CW_CELL_F64, CW_TO_FILES, STRAGGLER(of.causes[CW_CAUSE_BYTES])},
    {"text", CW_CELL_TEXT, CW_TO_JSON, STRAGGLER(text)},
};

#define WAITED(member) offsetof(struct waited_record, member)
static const struct cw_output_column waited_columns[] = {
    {"rank", CW_CELL_U32, CW_TO_FILES, WAITED(rank)},
    {"host", CW_CELL_TEXT, CW_TO_FILES, WAITED(host)},
    {"slower", CW_CELL_F64, CW_TO_FILES, WAITED(of.slower)},
    {"shorter", CW_CELL_F64, CW_TO_FILES, WAITED(of.shorter)},
    {"text", CW_CELL_TEXT, CW_TO_JSON, WAITED(text)},
};

#define MISSING(member) offsetof(struct missing_record, member)
static const struct cw_output_column missing_columns[] = {
    {"missing_ranks", CW_CELL_U64, CW_TO_HDF5, MISSING(number)},
    {"first", CW_CELL_U32, CW_TO_FILES, MISSING(of.first)},
    {"last", CW_CELL_U32, CW_TO_FILES, MISSING(of.last)},
};

/* ---- all -------------------------------------------------------------------------------------------------------- */

static bool make_room(struct content *c, struct cw_output_column *columns, const struct cw_output *o,
                      struct cw_arena *arena)
{
    const uint32_t count = c->view->ranks->metric_count;
    bool good = (c->values = cw_arena_alloc(arena, count, sizeof *c->values)) &&
                (c->statuses = cw_arena_alloc(arena, count, sizeof *c->statuses));
    for (int n = 0; n < SPREADS; n++)
        good = good && (c->spreads[n] = cw_arena_alloc(arena, count, sizeof **c->spreads));
    for (int n = 0; n < NUMBERS; n++)
        good = good && (c->numbers[n] = cw_arena_alloc(arena, count, sizeof **c->numbers));
    memcpy(columns, kernel_columns, sizeof kernel_columns);
    for (int n = KERNEL_COLUMNS - ACROSS_METRICS; n < KERNEL_COLUMNS; n++)
        columns[n].across = &o->metrics;
    return good;
}

/* Lists the runs of ranks that are missing: no more than ranks that are there, and one. */
static bool list_missing(struct content *c, const struct cw_job_ranks *job, uint64_t *count, struct cw_arena *arena)
{
    c->missing = cw_arena_alloc(arena, job->count + 2, sizeof *c->missing);
    *count = 0;
    for (size_t at = 0; c->missing && cw_job_ranks_missing(job, &at, &c->missing[*count].of); ++*count)
        c->missing[*count].number = *count;
    return c->missing;
}

enum cw_status cw_output_ranks(struct cw_output *o, const struct cw_ranks_view *view, struct cw_arena *arena,
                               struct cw_error *err)
{
    const struct cw_ranks *r = view->ranks;
    struct content *c = cw_arena_alloc(arena, 1, sizeof *c);
    struct cw_output_column *columns = cw_arena_alloc(arena, KERNEL_COLUMNS, sizeof *columns);
    uint64_t missing;
    *o = (struct cw_output){
        .data = view->data, .source = view->source, .table_count = 6, .print = cw_ranks_print, .result = view};
    if (c)
        c->view = view;
    if (!c || !columns || !cw_output_metrics(&o->metrics, view->metrics, NULL, false, arena) ||
        !make_room(c, columns, o, arena) || !list_missing(c, view->job, &missing, arena))
        return cw_error_nomem(err);
    const struct cw_output_table tables[] = {
        {CW_OUTPUT_COLUMNS(value_columns), .name = "values", .group = "value", .row_count = r->row_count,
         .row = value_row, .metrics = &o->metrics, .coordinates = "rank kernel_number launches total_ns mean_ns"},
        {CW_OUTPUT_COLUMNS(rank_columns), .name = "ranks", .group = "rank", .row_count = r->rank_count,
         .row = rank_row},
        {.columns = columns,
         .column_count = KERNEL_COLUMNS - (r->metric_count ? 0 : ACROSS_METRICS),
         .name = "kernels",
         .group = "kernel",
         .row_count = r->kernel_count,
         .row = kernel_row},
        {CW_OUTPUT_COLUMNS(straggler_columns), .name = "stragglers", .group = "straggler",
         .row_count = r->straggler_count, .row = straggler_row},
        {CW_OUTPUT_COLUMNS(waited_columns), .name = "waited_for", .group = "waited_for", .row_count = r->waited_count,
         .row = waited_row},
        {CW_OUTPUT_COLUMNS(missing_columns), .name = "missing_ranks", .group = "missing_ranks", .row_count = missing,
         .row = missing_row},
    };
    for (size_t i = 0; i < o->table_count; i++) {
        o->tables[i] = tables[i];
        o->tables[i].content = c;
        o->tables[i].once = true;
        o->tables[i].short_escapes = true;
    }
    return CW_OK;
}
