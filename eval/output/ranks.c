#define _GNU_SOURCE
#include "eval/output/ranks_output.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/shorten.h"
#include "base/text.h"
#include "eval/output/row_names.h"
#include "eval/output/terminal.h"

enum { SPREADS = 9, NUMBERS = 4 }; /* of a spread: doubles, and integers */

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
    enum cw_status failed; /* to read the values of a row again */
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

static struct cw_output_row value_row(const struct cw_output_table *t, uint64_t i)
{
    struct content *c = t->content;
    const struct cw_ranks *r = c->view->ranks;
    const struct cw_rank_row *row = &r->rows[i];
    c->failed = cw_ranks_values(r, i, c->values, c->statuses, c->view->err);
    if (c->failed != CW_OK)
        return (struct cw_output_row){0};
    c->value = (struct value_record){r->ranks[row->rank], *row, i, r->kernels[row->kernel].name};
    return (struct cw_output_row){.record = &c->value, .values = c->values, .statuses = c->statuses, .stride = 1};
}

static struct cw_output_row rank_row(const struct cw_output_table *t, uint64_t i)
{
    const struct content *c = t->content;
    return (struct cw_output_row){.record = &c->view->ranks->ranks[i]};
}

static struct cw_output_row kernel_file_row(const struct cw_output_table *t, uint64_t i)
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
    c->waited =
        (struct waited_record){r->ranks[w->rank].number, r->ranks[w->rank].host, cw_waited_text(r, w, c->text), *w};
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
    {"rank", CW_CELL_U32, CW_TO_FILES, RANK(number)},    {"host", CW_CELL_TEXT, CW_TO_FILES, RANK(host)},
    {"pci", CW_CELL_TEXT, CW_TO_FILES, RANK(pci)},       {"launches", CW_CELL_U64, CW_TO_FILES, RANK(launches)},
    {"total_ns", CW_CELL_F64, CW_TO_FILES, RANK(total)}, {"waiting_ns", CW_CELL_F64, CW_TO_FILES, RANK(waits)},
    {"sm_mhz", CW_CELL_F64, CW_TO_FILES, RANK(clock)},
};

/* Columns across metrics get their table (`across`, the last member set) in each output. */
#define KERNEL(member) offsetof(struct kernel_record, member)
static const struct cw_output_column kernel_file_columns[] = {
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
    {"grid", CW_CELL_U32, CW_TO_JSON | CW_TO_HDF5, KERNEL(grid), &cw_output_xyz},
    {"block", CW_CELL_U32, CW_TO_JSON | CW_TO_HDF5, KERNEL(block), &cw_output_xyz},
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
enum { KERNEL_COLUMNS = sizeof kernel_file_columns / sizeof *kernel_file_columns, ACROSS_METRICS = SPREADS + NUMBERS };

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
    {"rank", CW_CELL_U32, CW_TO_FILES, WAITED(rank)},        {"host", CW_CELL_TEXT, CW_TO_FILES, WAITED(host)},
    {"slower", CW_CELL_F64, CW_TO_FILES, WAITED(of.slower)}, {"shorter", CW_CELL_F64, CW_TO_FILES, WAITED(of.shorter)},
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
    memcpy(columns, kernel_file_columns, sizeof kernel_file_columns);
    for (int n = KERNEL_COLUMNS - ACROSS_METRICS; n < KERNEL_COLUMNS; n++)
        columns[n].across = &o->metrics;
    return good;
}

/* Lists the runs of missing ranks: at most one more than there are ranks. */
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
         .row = value_row, .failed = &c->failed, .metrics = &o->metrics,
         .coordinates = "rank kernel_number launches total_ns mean_ns"},
        {CW_OUTPUT_COLUMNS(rank_columns), .name = "ranks", .group = "rank", .row_count = r->rank_count,
         .row = rank_row},
        {.columns = columns,
         .column_count = KERNEL_COLUMNS - (r->metric_count ? 0 : ACROSS_METRICS),
         .name = "kernels",
         .group = "kernel",
         .row_count = r->kernel_count,
         .row = kernel_file_row},
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

enum { TOP = 10, NAME_WIDTH = 60, LEAST_NAME = 24 };

/* ---- sentences -------------------------------------------------------------------------------------------------- */

static const char *host_text(const struct cw_rank *rank, char text[80])
{
    snprintf(text, 80, "%s%.70s%s", *rank->host ? " (" : "", rank->host, *rank->host ? ")" : "");
    return text;
}

struct sentence {
    char *text;
    size_t used;
    bool begun; /* a cause stands in it */
};

__attribute__((format(printf, 2, 3))) static void say(struct sentence *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    s->used += cw_text_vformat(s->text + s->used, CW_STRAGGLER_TEXT - s->used, format, args);
    va_end(args);
}

static void say_cause(struct sentence *s, const char *format, double part)
{
    say(s, s->begun ? "; " : ": ");
    s->begun = true;
    say(s, format, 100 * part);
}

const char *cw_straggler_text(const struct cw_ranks *r, const struct cw_straggler *of, char text[CW_STRAGGLER_TEXT])
{
    const struct cw_rank_row *row = &r->rows[of->row];
    const struct cw_rank_kernel *kernel = &r->kernels[row->kernel];
    const double instructions = of->causes[CW_CAUSE_INSTRUCTIONS], bytes = of->causes[CW_CAUSE_BYTES];
    char host[80], name[CW_SHORT_SIZE];
    struct sentence s = {.text = text};
    *text = 0;
    cw_shorten(kernel->name, NAME_WIDTH, name);
    say(&s, "rank %" PRIu32 "%s is %.1f %% slower in %s", r->ranks[row->rank].number,
        host_text(&r->ranks[row->rank], host), 100 * of->slower, name);
    if (of->lower_clock)
        say_cause(&s, "its SM clock is %.1f %% lower", 1 - of->causes[CW_CAUSE_CLOCK]);
    if (of->more_work && !(bytes > instructions))
        say_cause(&s, "it executes %.1f %% more instructions", instructions - 1);
    if (of->more_work && !(instructions >= bytes))
        say_cause(&s, "it moves %.1f %% more bytes", bytes - 1);
    if (of->more_cycles)
        say_cause(&s,
                  kernel->waits ? "it waits, %.1f %% more cycles for the same work"
                                : "it takes %.1f %% more cycles for the same work",
                  of->causes[CW_CAUSE_CYCLES] / fmax(fmax(instructions, bytes), 1) - 1);
    if (!s.begun && kernel->waits)
        say(&s, ": it waits there");
    return text;
}

const char *cw_waited_text(const struct cw_ranks *r, const struct cw_waited_for *w, char text[CW_STRAGGLER_TEXT])
{
    char host[80];
    cw_text_format(text, CW_STRAGGLER_TEXT,
                   "the others wait for rank %" PRIu32 "%s: it takes %.1f %% longer until they meet, and waits %.1f %% "
                   "less",
                   r->ranks[w->rank].number, host_text(&r->ranks[w->rank], host), 100 * w->slower, 100 * w->shorter);
    return text;
}

/* ---- kernels ---------------------------------------------------------------------------------------------------- */

struct kernel_line {
    char ranks[CW_NUMBER_SIZE], launches[CW_NUMBER_SIZE], share[16], median[CW_TIME_TEXT_SIZE],
        least[CW_TIME_TEXT_SIZE], greatest[CW_TIME_TEXT_SIZE], least_rank[16], greatest_rank[16], imbalance[16],
        outliers[CW_NUMBER_SIZE], name[CW_SHORT_SIZE];
};

struct metric_line {
    char median[CW_NUMBER_SIZE], least[CW_NUMBER_SIZE], greatest[CW_NUMBER_SIZE], least_rank[16], greatest_rank[16],
        imbalance[16], outliers[CW_NUMBER_SIZE], mark[2], unit[CW_UNIT_SIZE], name[CW_METRIC_NAME_MAX + CW_SHORT_SIZE];
};

struct lines {
    const struct cw_ranks *ranks;
    const uint64_t *order;      /* of spreads */
    size_t metric_width;        /* of the last column; 0: any */
    struct cw_row_names *names; /* of kernels */
    struct kernel_line kernel;
    struct metric_line metric;
};

#define CHARS(type, title, member, is_right)                                                                           \
    {                                                                                                                  \
        title, CW_CELL_CHARS, CW_TO_TERMINAL, offsetof(type, member), NULL, 0, is_right                                \
    }
static const struct cw_output_column kernel_columns[] = {
    CHARS(struct kernel_line, "ranks", ranks, true),         CHARS(struct kernel_line, "launches", launches, true),
    CHARS(struct kernel_line, "share", share, true),         CHARS(struct kernel_line, "median", median, true),
    CHARS(struct kernel_line, "least", least, true),         CHARS(struct kernel_line, "rank", least_rank, true),
    CHARS(struct kernel_line, "greatest", greatest, true),   CHARS(struct kernel_line, "rank", greatest_rank, true),
    CHARS(struct kernel_line, "imbalance", imbalance, true), CHARS(struct kernel_line, "outliers", outliers, true),
    CHARS(struct kernel_line, "kernel", name, false),
};
static const struct cw_output_column metric_columns[] = {
    CHARS(struct metric_line, "median", median, true),      CHARS(struct metric_line, "least", least, true),
    CHARS(struct metric_line, "rank", least_rank, true),    CHARS(struct metric_line, "greatest", greatest, true),
    CHARS(struct metric_line, "rank", greatest_rank, true), CHARS(struct metric_line, "imbalance", imbalance, true),
    CHARS(struct metric_line, "outliers", outliers, true),  CHARS(struct metric_line, "", mark, false),
    CHARS(struct metric_line, "unit", unit, false),         CHARS(struct metric_line, "metric, kernel", name, false),
};

static void put_percent(char text[16], double part)
{
    cw_terminal_percent(isfinite(part) ? part : NAN, text);
}

static void put_rank(char text[16], const struct cw_ranks *r, const struct cw_rank_spread *s, uint32_t rank)
{
    if (s->count)
        snprintf(text, 16, "%" PRIu32, r->ranks[rank].number);
    else
        snprintf(text, 16, "-");
}

static struct cw_output_row kernel_row(const struct cw_output_table *t, uint64_t i)
{
    struct lines *l = t->content;
    const struct cw_ranks *r = l->ranks;
    const struct cw_rank_kernel *k = &r->kernels[i];
    struct kernel_line *line = &l->kernel;
    cw_terminal_integer(k->count, line->ranks);
    cw_terminal_integer(k->launches, line->launches);
    put_percent(line->share, k->total / r->total);
    cw_terminal_time(k->time.median, line->median);
    cw_terminal_time(k->time.least, line->least);
    cw_terminal_time(k->time.greatest, line->greatest);
    put_rank(line->least_rank, r, &k->time, k->time.least_rank);
    put_rank(line->greatest_rank, r, &k->time, k->time.greatest_rank);
    put_percent(line->imbalance, k->time.imbalance);
    cw_terminal_integer(k->time.outliers, line->outliers);
    cw_row_name(l->names, (uint32_t)i, line->name);
    return (struct cw_output_row){.record = line};
}

static struct cw_output_row metric_row(const struct cw_output_table *t, uint64_t i)
{
    struct lines *l = t->content;
    const struct cw_ranks *r = l->ranks;
    const uint64_t at = l->order[i];
    const struct cw_rank_spread *s = &r->spreads[at];
    struct metric_line *line = &l->metric;
    char name[CW_SHORT_SIZE];
    const double factor = cw_terminal_factor(s->median, r->units[at % r->metric_count], line->unit);
    cw_terminal_number(s->median / factor, line->median);
    cw_terminal_number(s->least / factor, line->least);
    cw_terminal_number(s->greatest / factor, line->greatest);
    put_rank(line->least_rank, r, s, s->least_rank);
    put_rank(line->greatest_rank, r, s, s->greatest_rank);
    put_percent(line->imbalance, s->imbalance);
    cw_terminal_integer(s->outliers, line->outliers);
    *line->mark = cw_terminal_mark((enum cw_value_status)s->status);
    const char *metric = r->names[at % r->metric_count];
    const size_t used = cw_text_columns(metric) + 2, room = l->metric_width, left = room > used ? room - used : 0;
    cw_shorten(r->kernels[at / r->metric_count].name,
               !room || left > NAME_WIDTH ? NAME_WIDTH
               : left > LEAST_NAME        ? left
               : room < 3 * LEAST_NAME    ? room / 3
                                          : LEAST_NAME,
               name);
    const size_t taken = cw_text_columns(name) + 2;
    char cut[CW_SHORT_SIZE];
    snprintf(line->name, sizeof line->name, "%s, %s",
             cw_terminal_cut(metric, !room || room < taken ? NAME_WIDTH : room - taken, cut), name);
    return (struct cw_output_row){.record = line};
}

/* Whether ranks differ visibly. */
static bool differs(const struct cw_rank_spread *s)
{
    return s->outliers || s->left_out || (isfinite(s->imbalance) ? s->imbalance >= 0.0005 : s->greatest > s->least);
}

/* Metrics with outliers first, then by imbalance. */
static int most_apart_first(const void *a, const void *b, void *spreads)
{
    const struct cw_rank_spread *list = spreads;
    const uint64_t i = *(const uint64_t *)a, k = *(const uint64_t *)b;
    const double x = isfinite(list[i].imbalance) ? list[i].imbalance : -1;
    const double y = isfinite(list[k].imbalance) ? list[k].imbalance : -1;
    const bool p = list[i].outliers, q = list[k].outliers;
    return p != q ? q - p : x != y ? (x < y) - (x > y) : (i > k) - (i < k);
}

/* The title of the last column of both tables: the kind of the groups. */
static const char *group_title(const struct cw_ranks *r)
{
    return r->by == CW_BY_NVTX ? "NVTX range" : r->by == CW_BY_FAMILY ? "family" : "kernel";
}

/* Columns that a narrow terminal leaves out: the least value with its rank; of metrics also outliers. */
enum { KERNEL_WIDE = 1 << 4 | 1 << 5, METRIC_WIDE = 1 << 1 | 1 << 2 | 1 << 6 };
/* The column of marks, left out if there is none. */
enum { METRIC_MARK = 1 << 7 };

#define COUNT(list) (sizeof(list) / sizeof *(list))
enum { MOST_COLUMNS = COUNT(kernel_columns) };

/* Copies the columns of a table, without the ones whose bits are in `left_out`. Returns how many. */
static size_t take_columns(struct cw_output_column to[MOST_COLUMNS], const struct cw_output_column *from, size_t count,
                           uint32_t left_out, const char *last)
{
    size_t taken = 0;
    for (size_t i = 0; i < count; i++)
        if (!(left_out >> i & 1))
            to[taken++] = from[i];
    to[taken - 1].name = last;
    return taken;
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

static void put_summary(const struct cw_ranks_view *v, FILE *out)
{
    const struct cw_ranks *r = v->ranks;
    const char *device = v->data->device_count ? cw_device_attribute(&v->data->devices[0], "name") : NULL;
    char number[CW_NUMBER_SIZE], time[CW_TIME_TEXT_SIZE], missing[CW_JOB_RANKS_TEXT];
    double most = 0;
    uint32_t timed = 0;
    cw_text_print(out, "%s: %s rank%s, %s (%s)\n", v->source, cw_terminal_integer(r->rank_count, number),
                  r->rank_count == 1 ? "" : "s", device ? device : "unknown device", v->data->schema.chip);
    cw_text_print(out, "%s launch%s", cw_terminal_integer(r->launches, number), r->launches == 1 ? "" : "es");
    for (uint32_t i = 0; i < r->rank_count; i++) {
        most = fmax(most, r->ranks[i].total);
        timed += !isnan(r->ranks[i].total);
    }
    if (r->total > 0)
        cw_text_print(out, ", %s of GPU time; the rank that takes longest takes %.1f %% more than the mean",
                      cw_terminal_time(r->total, time), 100 * (most / (r->total / timed) - 1));
    putc('\n', out);
    if (r->unranked)
        cw_text_print(out, "%s more %s left out.\n", cw_terminal_integer(r->unranked, number),
                      r->unranked == 1 ? "launch has no rank and is" : "launches have no rank and are");
    if (r->untimed)
        cw_text_print(out, "The time of %s of them is not known; totals are without it.\n",
                      cw_terminal_integer(r->untimed, number));
    if (*cw_job_ranks_text(v->job, missing))
        cw_text_print(out, "%c%s.\n", toupper(*missing), missing + 1);
    putc('\n', out);
}

static void put_sentence(const char *text, const struct cw_terminal_style *style, FILE *out)
{
    fputs("  ", out);
    cw_text_put_words(out, text, strlen(text), 2, style->width);
    putc('\n', out);
}

/* For each slow rank the kernel that costs most, and in how many more it is slow. Returns the number of slow ranks. */
static uint32_t put_stragglers(const struct cw_ranks *r, size_t top, uint32_t *kernels,
                               const struct cw_terminal_style *style, FILE *out)
{
    uint32_t shown = 0;
    char text[CW_STRAGGLER_TEXT + 40];
    for (uint32_t i = 0; i < r->straggler_count; i++)
        kernels[r->rows[r->stragglers[i].row].rank]++;
    for (uint32_t i = 0; i < r->straggler_count; i++) {
        uint32_t *more = &kernels[r->rows[r->stragglers[i].row].rank];
        if (!*more)
            continue;
        if (shown++ < top) {
            cw_straggler_text(r, &r->stragglers[i], text);
            if (*more > 1)
                sprintf(text + strlen(text), "; and slow in %" PRIu32 " more", *more - 1);
            put_sentence(text, style, out);
        }
        *more = 0;
    }
    return shown;
}

static void put_more(uint64_t count, size_t shown, const char *what, FILE *out)
{
    char number[CW_NUMBER_SIZE];
    if (count > shown)
        cw_text_print(out, "%s more %s; --top N shows more\n", cw_terminal_integer(count - shown, number), what);
}

static enum cw_status put_sentences(const struct cw_ranks *r, size_t top, const struct cw_terminal_style *style,
                                    FILE *out, struct cw_error *err)
{
    char text[CW_STRAGGLER_TEXT];
    uint32_t *kernels = calloc((size_t)r->rank_count + 1, sizeof *kernels);
    if (!kernels)
        return cw_error_nomem(err);
    if (!r->straggler_count && !r->waited_count) {
        cw_text_print(out, "\nNo rank is slower than the others beyond their usual difference.\n");
        free(kernels);
        return CW_OK;
    }
    putc('\n', out);
    cw_terminal_title("Slow ranks", style, out);
    putc('\n', out);
    for (size_t i = 0; i < r->waited_count && i < top; i++)
        put_sentence(cw_waited_text(r, &r->waited[i], text), style, out);
    put_more(r->waited_count, top, "that others wait for", out);
    put_more(put_stragglers(r, top, kernels, style, out), top, "slow ranks", out);
    free(kernels);
    return CW_OK;
}

static enum cw_status put_metrics(struct lines *l, size_t top, const struct cw_terminal_style *style, FILE *out,
                                  struct cw_error *err)
{
    const struct cw_ranks *r = l->ranks;
    const uint64_t all = (uint64_t)r->kernel_count * r->metric_count;
    uint64_t count = 0, *order = malloc((all + 1) * sizeof *order);
    if (!order)
        return cw_error_nomem(err);
    for (uint64_t i = 0; i < all; i++)
        if (differs(&r->spreads[i]))
            order[count++] = i;
    qsort_r(order, count, sizeof *order, most_apart_first, (void *)r->spreads);
    l->order = order;
    enum { LEAST_METRIC = 40 };
    char title[64];
    struct cw_output_column columns[MOST_COLUMNS];
    struct cw_terminal_seen seen = {0};
    bool left_out = false;
    uint32_t unused = METRIC_MARK;
    for (uint64_t i = 0; i < count && i < top; i++) {
        const struct cw_rank_spread *s = &r->spreads[order[i]];
        cw_terminal_see(&seen, r->names[order[i] % r->metric_count], (enum cw_value_status)s->status);
        left_out = left_out || s->left_out;
        unused &= s->status == CW_VALUE_OK ? UINT32_MAX : ~(uint32_t)METRIC_MARK;
    }
    snprintf(title, sizeof title, "metric, %s", group_title(r));
    struct cw_output_table table = {.columns = columns,
                                    .column_count =
                                        take_columns(columns, metric_columns, COUNT(metric_columns), unused, title),
                                    .record_size = sizeof l->metric,
                                    .row_count = count < top ? count : top,
                                    .row = metric_row,
                                    .content = l};
    if (style->width && cw_terminal_room(&table, style->width) < LEAST_METRIC)
        table.column_count = take_columns(columns, metric_columns, COUNT(metric_columns), METRIC_WIDE | unused, title);
    const int room = cw_terminal_room(&table, style->width);
    l->metric_width = !style->width ? 0 : room > LEAST_NAME ? (size_t)room : LEAST_NAME;
    if (count) {
        putc('\n', out);
        cw_terminal_title("Metrics in which ranks differ most", style, out);
        putc('\n', out);
        cw_terminal_print(&table, 0, out);
        put_more(count, top, "pairs of a metric and a kernel", out);
        cw_terminal_legend(&seen, out);
        if (left_out)
            fputs("     Ranks whose value overflowed, is incomplete or implausible are left out.\n", out);
    }
    free(order);
    return CW_OK;
}

/* The names of the first `count` kernels. False when out of memory. */
static bool name_kernels(struct lines *l, uint32_t count, struct cw_arena *arena)
{
    size_t shapes;
    l->names = cw_row_names_create(count, arena);
    for (uint32_t i = 0; l->names && i < count; i++) {
        const struct cw_rank_kernel *k = &l->ranks->kernels[i];
        if (!cw_row_names_set(l->names, i, k->name, *k->kernel ? k->grid : NULL, k->block))
            return false;
    }
    return l->names && cw_row_names_compare(l->names, &shapes);
}

enum cw_status cw_ranks_print(const struct cw_output *o, const struct cw_terminal_style *style, FILE *out,
                              struct cw_error *err)
{
    const struct cw_ranks_view *v = o->result;
    const struct cw_ranks *r = v->ranks;
    const size_t top = v->top ? v->top : TOP;
    struct lines lines = {.ranks = r};
    struct cw_output_column columns[MOST_COLUMNS];
    struct cw_output_table kernels = {
        .columns = columns,
        .column_count = take_columns(columns, kernel_columns, COUNT(kernel_columns), 0, group_title(r)),
        .record_size = sizeof lines.kernel,
        .row_count = r->kernel_count < top ? r->kernel_count : top,
        .row = kernel_row,
        .content = &lines};
    struct cw_arena *arena = cw_arena_create();
    if (!arena || !name_kernels(&lines, (uint32_t)kernels.row_count, arena)) {
        cw_arena_destroy(arena);
        return cw_error_nomem(err);
    }
    if (style->width && cw_terminal_room(&kernels, style->width) < LEAST_NAME)
        kernels.column_count =
            take_columns(columns, kernel_columns, COUNT(kernel_columns), KERNEL_WIDE, group_title(r));
    const int room = cw_terminal_room(&kernels, style->width);
    cw_row_names_fit(lines.names, !style->width ? 0 : room > LEAST_NAME ? (size_t)room : LEAST_NAME, true);
    if (!style->quiet)
        put_summary(v, out);
    cw_terminal_print(&kernels, 0, out);
    cw_row_names_free(lines.names);
    cw_arena_destroy(arena);
    put_more(r->kernel_count, top, "kernels", out);
    enum cw_status status = put_sentences(r, top, style, out, err);
    return status == CW_OK ? put_metrics(&lines, top, style, out, err) : status;
}
