#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/shorten.h"
#include "base/text.h"
#include "eval/output/capture.h"
#include "eval/output/output.h"
#include "eval/output/terminal.h"
#include "eval/samples/texts.h"
#include "image/pc_data.h"

static double share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

const char *cw_reason_short(const char *reason, char text[CW_REASON_SIZE])
{
    static const char prefix[] = "smsp__pcsamp_", stalled[] = "warps_issue_stalled_", twin[] = "_not_issued";
    if (strncmp(reason, prefix, sizeof prefix - 1) == 0)
        reason += sizeof prefix - 1;
    if (strncmp(reason, stalled, sizeof stalled - 1) == 0)
        reason += sizeof stalled - 1;
    if (strncmp(reason, CW_STALL_LEGACY, sizeof CW_STALL_LEGACY - 1) == 0)
        reason += sizeof CW_STALL_LEGACY - 1;
    snprintf(text, CW_REASON_SIZE, "%s", reason);
    size_t length = strlen(text);
    if (length > sizeof twin - 1 && strcmp(text + length - (sizeof twin - 1), twin) == 0)
        text[length - (sizeof twin - 1)] = 0;
    return text;
}

/* ---- for people ------------------------------------------------------------------------------------------------- */

enum { TOP_REASONS = 3, MOST_REASONS = 128, TEXT_SIZE = 2048, NUMBER_WIDTH = 12, NAME_WIDTH = 60 };

/* A row of a capture of PC samples or of SASS metrics. */
struct sample {
    const struct cw_place *at;
    const char *reason; /* NULL: a value of a SASS metric */
    uint64_t value, not_issued;
    const struct cw_sass_row *sass;
};

/* Samples with something in common: samples[first] and on. */
struct spot {
    const struct sample *of; /* the first of them */
    uint64_t value, not_issued;
    size_t first, count;
};

struct view {
    const struct cw_terminal_style *style;
    FILE *out;
    struct sample *samples;
    struct spot *spots; /* room for one of each sample */
    size_t count;
    uint64_t total;
    const char *value; /* "samples" or "value" */
    bool disassembled;
};

typedef int sample_order(const struct sample *a, const struct sample *b);

static int by_line(const struct sample *a, const struct sample *b)
{
    const int order = strcmp(a->at->file, b->at->file);
    return order ? order : (a->at->line > b->at->line) - (a->at->line < b->at->line);
}

static int by_function(const struct sample *a, const struct sample *b)
{
    return cw_text_compare(a->at->function, b->at->function);
}

static int by_reason(const struct sample *a, const struct sample *b)
{
    return cw_text_compare(a->reason, b->reason);
}

static int by_instruction(const struct sample *a, const struct sample *b)
{
    return cw_place_compare(a->at, b->at);
}

static int by_ptx(const struct sample *a, const struct sample *b)
{
    const struct cw_place *x = a->at, *y = b->at;
    const int order = (x->module > y->module) - (x->module < y->module);
    return order ? order : (x->ptx_line > y->ptx_line) - (x->ptx_line < y->ptx_line);
}

static int in_order(const void *a, const void *b, void *order)
{
    return (*(sample_order *const *)order)(a, b);
}

static int hottest_first(const void *left, const void *right)
{
    const struct spot *a = left, *b = right;
    const int order = (a->value < b->value) - (a->value > b->value);
    return order ? order : (a->first > b->first) - (a->first < b->first);
}

/* Adds up samples that are equal in that order. Returns the number of spots, the hottest first. */
static size_t find_spots(struct view *v, sample_order *order)
{
    size_t n = 0;
    if (v->count)
        qsort_r(v->samples, v->count, sizeof *v->samples, in_order, &order);
    for (size_t i = 0; i < v->count; i++) {
        if (!n || order(v->spots[n - 1].of, &v->samples[i]) != 0)
            v->spots[n++] = (struct spot){.of = &v->samples[i], .first = i};
        v->spots[n - 1].value += v->samples[i].value;
        v->spots[n - 1].not_issued += v->samples[i].not_issued;
        v->spots[n - 1].count++;
    }
    if (n)
        qsort(v->spots, n, sizeof *v->spots, hottest_first);
    return n;
}

/* ---- texts ------------------------------------------------------------------------------------------------------ */

struct share {
    char reason[CW_REASON_SIZE];
    uint64_t samples;
};

static int by_share(const void *left, const void *right)
{
    const struct share *a = left, *b = right;
    const int order = (a->samples < b->samples) - (a->samples > b->samples);
    return order ? order : strcmp(a->reason, b->reason);
}

/* "wait 75 %, lg_throttle 25 %" */
static void put_reasons(const struct view *v, const struct spot *s, char text[TEXT_SIZE])
{
    struct share shares[MOST_REASONS];
    size_t n = 0, used = 0;
    *text = 0;
    for (size_t i = s->first; i < s->first + s->count && v->samples[i].reason; i++) {
        char reason[CW_REASON_SIZE];
        size_t k = 0;
        cw_reason_short(v->samples[i].reason, reason);
        while (k < n && strcmp(shares[k].reason, reason) != 0)
            k++;
        if (k == MOST_REASONS)
            continue;
        if (k == n) {
            memcpy(shares[n].reason, reason, sizeof reason);
            shares[n++].samples = 0;
        }
        shares[k].samples += v->samples[i].value;
    }
    qsort(shares, n, sizeof *shares, by_share);
    for (size_t k = 0; k < n && k < TOP_REASONS && (!k || share(shares[k].samples, s->value) >= 0.01); k++)
        used += cw_text_format(text + used, TEXT_SIZE - used, "%s%s %.0f %%", k ? ", " : "", shares[k].reason,
                               100 * share(shares[k].samples, s->value));
}

/* "gemm.cu:12" */
static void put_place(const struct cw_place *at, char text[TEXT_SIZE])
{
    const char *slash = strrchr(at->file, '/');
    if (at->line)
        cw_text_format(text, TEXT_SIZE, "%.36s:%" PRIu32, slash ? slash + 1 : at->file, at->line);
    else
        cw_text_format(text, TEXT_SIZE, "(not known)");
}

/* The widest place of the spots shown, in columns. */
static int place_width(const struct view *v, size_t count)
{
    char text[TEXT_SIZE];
    size_t most = sizeof "source line" - 1;
    for (size_t i = 0; i < count && i < v->style->top; i++) {
        put_place(v->spots[i].of->at, text);
        most = cw_text_columns(text) > most ? cw_text_columns(text) : most;
    }
    return (int)most;
}

/* The widest text of the instructions shown, in columns. */
static int width_of_instructions(const struct view *v, size_t count)
{
    size_t most = sizeof "instruction" - 1;
    for (size_t i = 0; i < count && i < v->style->top; i++) {
        const size_t columns = cw_text_columns(v->spots[i].of->at->instruction);
        most = columns > most ? columns : most;
    }
    return (int)most;
}

/* The columns of the window behind `used` ones; 0 without a window. */
static size_t room(const struct view *v, size_t used)
{
    const size_t least = 16, width = v->style->width;
    return !width ? 0 : width > used + least ? width - used : least;
}

static bool counts_issues(const struct view *v)
{
    return v->count && v->samples[0].reason;
}

/* ---- lists ------------------------------------------------------------------------------------------------------ */

/* Prints the headings that begin every list. Returns their width. */
static size_t put_head(const struct view *v, const char *columns)
{
    putc('\n', v->out);
    cw_text_print(v->out, "%*s  %6s", NUMBER_WIDTH, v->value, "share");
    if (counts_issues(v))
        fputs("  not issued", v->out);
    cw_text_print(v->out, "  %s\n", columns);
    return NUMBER_WIDTH + 10 + (counts_issues(v) ? 12 : 0);
}

static void put_numbers(const struct view *v, const struct spot *s)
{
    char number[CW_NUMBER_SIZE], text[CW_PERCENT_SIZE];
    cw_text_print(v->out, "%*s  %6s", NUMBER_WIDTH, cw_terminal_integer(s->value, number),
                  cw_terminal_percent(share(s->value, v->total), text));
    if (counts_issues(v))
        cw_text_print(v->out, "  %10s", cw_terminal_integer(s->not_issued, number));
    fputs("  ", v->out);
}

static void put_rest(const struct view *v, size_t count, const char *what)
{
    if (count > v->style->top && !v->style->quiet)
        cw_text_print(v->out, "%zu more %s%s; --top N shows more\n", count - v->style->top, what,
                      count - v->style->top == 1 ? "" : "s");
}

/* A text, cut at the end of the window. */
static void put_cut(const struct view *v, const char *text, size_t used)
{
    char shown[TEXT_SIZE];
    const size_t most = room(v, used);
    cw_text_format(shown, sizeof shown, "%s", text);
    if (most && cw_text_columns(shown) > most)
        strcpy(shown + cw_text_head(shown, most > 2 ? most - 2 : 0), "..");
    cw_text_print(v->out, "%s\n", shown);
}

static void put_source_text(const struct view *v, const struct cw_place *at)
{
    char copy[512];
    size_t length = 0;
    const char *text = v->style->source ? cw_source_line(v->style->source, at->file, at->line, &length) : NULL;
    if (!text)
        return;
    cw_text_print(v->out, "%*s| ", NUMBER_WIDTH + 8, "");
    snprintf(copy, sizeof copy, "%.*s", (int)(length < sizeof copy - 1 ? length : sizeof copy - 1), text);
    put_cut(v, copy, NUMBER_WIDTH + 10);
}

/* Source lines, each with the stall reasons of its warps and, if its file is here, its text. */
static void print_lines(struct view *v)
{
    char text[TEXT_SIZE];
    size_t lines = 0;
    const size_t count = find_spots(v, by_line);
    for (size_t i = 0; i < count; i++)
        lines += v->spots[i].of->at->line != 0;
    if (!lines)
        return;
    const int width = place_width(v, count);
    snprintf(text, sizeof text, "%-*s%s", counts_issues(v) ? width : 0, "source line",
             counts_issues(v) ? "  stall reasons" : "");
    const size_t used = put_head(v, text) + (counts_issues(v) ? (size_t)width + 2 : 0);
    for (size_t i = 0; i < count && i < v->style->top; i++) {
        const struct spot *s = &v->spots[i];
        put_numbers(v, s);
        put_place(s->of->at, text);
        if (counts_issues(v)) {
            cw_text_print(v->out, "%-*s  ", width, text);
            put_reasons(v, s, text);
        }
        put_cut(v, text, used);
        put_source_text(v, s->of->at);
    }
    put_rest(v, count, "line");
}

static void print_functions(struct view *v)
{
    char name[CW_SHORT_SIZE];
    const size_t count = find_spots(v, by_function), used = put_head(v, "function");
    for (size_t i = 0; i < count && i < v->style->top; i++) {
        put_numbers(v, &v->spots[i]);
        cw_text_print(v->out, "%s\n", cw_shorten(v->spots[i].of->at->name, room(v, used), name));
    }
    put_rest(v, count, "function");
}

static void print_reasons(struct view *v)
{
    char reason[CW_REASON_SIZE];
    const size_t count = find_spots(v, by_reason);
    put_head(v, "stall reason");
    for (size_t i = 0; i < count && i < v->style->top; i++) {
        put_numbers(v, &v->spots[i]);
        cw_text_print(v->out, "%s\n", cw_reason_short(v->spots[i].of->reason, reason));
    }
    put_rest(v, count, "reason");
}

/* The text behind the function's name: stall reasons, or the least and the greatest instance. */
static void put_details(const struct view *v, const struct spot *s, char text[TEXT_SIZE])
{
    char least[CW_NUMBER_SIZE], most[CW_NUMBER_SIZE];
    const struct cw_sass_row *r = s->of->sass;
    *text = 0;
    if (!r)
        put_reasons(v, s, text);
    else if (r->instances > 1 && s->count == 1)
        cw_text_format(text, TEXT_SIZE, "%s to %s of %" PRIu64, cw_terminal_integer(r->min, least),
                       cw_terminal_integer(r->max, most), r->instances);
}

static void print_instructions(struct view *v)
{
    char text[TEXT_SIZE], shown[2 * TEXT_SIZE], name[CW_SHORT_SIZE];
    const size_t count = find_spots(v, by_instruction);
    const int width = place_width(v, count);
    const int instruction_width = v->disassembled ? width_of_instructions(v, count) : 0;
    snprintf(text, sizeof text, "offset   %-*s  %-*s%sfunction", width, "source line", instruction_width,
             v->disassembled ? "instruction" : "", v->disassembled ? "  " : "");
    const size_t used = put_head(v, text) + 9 + (size_t)width + 2;
    for (size_t i = 0; i < count && i < v->style->top; i++) {
        const struct spot *s = &v->spots[i];
        put_numbers(v, s);
        put_place(s->of->at, text);
        cw_text_print(v->out, "0x%05" PRIx64 "  %-*s  ", s->of->at->offset, width, text);
        put_details(v, s, text);
        cw_shorten(s->of->at->name, v->style->width ? 16 : NAME_WIDTH, name);
        snprintf(shown, sizeof shown, "%-*s%s%s%s%s", instruction_width, v->disassembled ? s->of->at->instruction : "",
                 v->disassembled ? "  " : "", name, *text ? ": " : "", text);
        put_cut(v, shown, used);
    }
    put_rest(v, count, "instruction");
}

/* Lines of PTX, where the code keeps it. */
static void print_ptx(struct view *v)
{
    const size_t count = find_spots(v, by_ptx);
    size_t known = 0;
    for (size_t i = 0; i < count; i++)
        if (v->spots[i].of->at->ptx_line)
            v->spots[known++] = v->spots[i];
    if (!known)
        return;
    const size_t used = put_head(v, "PTX line") + 10;
    for (size_t i = 0; i < known && i < v->style->top; i++) {
        const struct cw_place *at = v->spots[i].of->at;
        put_numbers(v, &v->spots[i]);
        cw_text_print(v->out, "%8" PRIu32 "  ", at->ptx_line);
        put_cut(v, at->ptx, used);
    }
    put_rest(v, known, "line");
}

/* ---- captures --------------------------------------------------------------------------------------------------- */

static enum cw_status begin_view(struct view *v, size_t count, struct cw_error *err)
{
    v->samples = calloc(count + 1, sizeof *v->samples);
    v->spots = calloc(count + 1, sizeof *v->spots);
    return v->samples && v->spots ? CW_OK : cw_error_nomem(err);
}

static void end_view(struct view *v)
{
    free(v->samples);
    free(v->spots);
}

static void print_summary(const struct cw_instructions *in, FILE *out)
{
    char a[CW_NUMBER_SIZE], b[CW_NUMBER_SIZE], c[CW_NUMBER_SIZE];
    const bool filtered = cw_capture_put_filters(in->data, out);
    cw_text_print(out, "samples:  %s; dropped %s (%.2f %%); in no kernel %s %s\n", cw_terminal_integer(in->total, a),
                  cw_terminal_integer(in->dropped, b), 100 * share(in->dropped, in->total),
                  filtered ? "that was asked for" : "of the program", cw_terminal_integer(in->other, c));
    if (in->full_buffers)
        cw_text_print(out,
                      "          the hardware's buffer was full %" PRIu32 " time%s: more samples were lost there\n",
                      in->full_buffers, in->full_buffers == 1 ? "" : "s");
    if (in->batch_count)
        cw_text_print(out, "sampling: %s, a sample each 2^%" PRIu32 " cycles\n",
                      in->batches[0].serialized ? "serialized" : "continuous", in->batches[0].period);
}

static enum cw_status print_samples(const struct cw_instructions *in, const struct cw_terminal_style *style, FILE *out,
                                    struct cw_error *err)
{
    struct view v = {.style = style, .out = out, .value = "samples", .disassembled = in->disassembled};
    enum cw_status status = begin_view(&v, in->pc_count, err);
    for (size_t i = 0; status == CW_OK && i < in->pc_count; i++) {
        const struct cw_pc_row *row = &in->pc[i];
        v.samples[v.count++] = (struct sample){&row->at, row->reason, row->samples, row->not_issued, NULL};
        v.total += row->samples;
    }
    if (status == CW_OK && !style->quiet)
        print_summary(in, out);
    if (status == CW_OK && v.count) {
        print_lines(&v);
        print_functions(&v);
        print_reasons(&v);
        print_instructions(&v);
        print_ptx(&v);
    }
    end_view(&v);
    return status;
}

static int by_metric(const void *left, const void *right)
{
    const struct cw_sass_row *a = *(const struct cw_sass_row *const *)left,
                             *b = *(const struct cw_sass_row *const *)right;
    const int order = cw_text_compare(a->metric, b->metric);
    return order ? order : cw_text_compare(a->level, b->level);
}

/* Rows of one metric. */
static void print_metric(struct view *v, const struct cw_sass_row *const *rows, size_t count)
{
    char number[CW_NUMBER_SIZE];
    v->count = v->total = 0;
    for (size_t i = 0; i < count; i++) {
        v->samples[v->count++] = (struct sample){.at = &rows[i]->at, .value = rows[i]->sum, .sass = rows[i]};
        v->total += rows[i]->sum;
    }
    cw_text_print(v->out, "%s (%s): %s\n", rows[0]->metric, rows[0]->level, cw_terminal_integer(v->total, number));
    print_lines(v);
    print_functions(v);
    print_instructions(v);
    print_ptx(v);
}

static enum cw_status print_sass(const struct cw_instructions *in, const struct cw_terminal_style *style, FILE *out,
                                 struct cw_error *err)
{
    char number[CW_NUMBER_SIZE];
    struct view v = {.style = style, .out = out, .value = "value", .disassembled = in->disassembled};
    const struct cw_sass_row **rows = calloc(in->sass_count + 1, sizeof *rows);
    enum cw_status status = rows ? begin_view(&v, in->sass_count, err) : cw_error_nomem(err);
    for (size_t i = 0; status == CW_OK && i < in->sass_count; i++)
        rows[i] = &in->sass[i];
    if (status == CW_OK)
        qsort(rows, in->sass_count, sizeof *rows, by_metric);
    if (status == CW_OK && !style->quiet)
        cw_capture_put_filters(in->data, out);
    if (status == CW_OK && !in->sass_count)
        fputs("no records\n", out);
    if (status == CW_OK && in->dropped && !style->quiet)
        cw_text_print(out, "dropped:  %s records\n", cw_terminal_integer(in->dropped, number));
    for (size_t i = 0, n; status == CW_OK && i < in->sass_count; i += n) {
        for (n = 1; i + n < in->sass_count && by_metric(&rows[i], &rows[i + n]) == 0;)
            n++;
        if (i)
            putc('\n', out);
        print_metric(&v, rows + i, n);
    }
    end_view(&v);
    free(rows);
    return status;
}

static enum cw_status print(const struct cw_output *o, const struct cw_terminal_style *style, FILE *out,
                            struct cw_error *err)
{
    return (o->data->schema.profiler == CW_PROFILER_SASS ? print_sass : print_samples)(o->result, style, out, err);
}

/* ---- tables ----------------------------------------------------------------------------------------------------- */

#define COLUMN(of, type, member)                                                                                       \
    {                                                                                                                  \
#member, CW_CELL_##type, CW_TO_FILES, offsetof(struct of, member)                                              \
    }
#define PLACE(of, type, member)                                                                                        \
    {                                                                                                                  \
#member, CW_CELL_##type, CW_TO_FILES, offsetof(struct of, at.member)                                           \
    }
#define PLACE_COLUMNS(of)                                                                                              \
    PLACE(of, TEXT, function), PLACE(of, TEXT, name), PLACE(of, I64, module), PLACE(of, I64, offset),                  \
        PLACE(of, TEXT, file), PLACE(of, U32, line)
/* the last columns, which only disassembled instructions have */
#define TEXT_COLUMNS(of) PLACE(of, TEXT, instruction), PLACE(of, U32, ptx_line), PLACE(of, TEXT, ptx)
enum { TEXT_COLUMNS = 3 };

static const struct cw_output_column pc_columns[] = {
    COLUMN(cw_pc_row, U32, device),     COLUMN(cw_pc_row, U32, process), COLUMN(cw_pc_row, U32, launch),
    PLACE_COLUMNS(cw_pc_row),           COLUMN(cw_pc_row, TEXT, reason), COLUMN(cw_pc_row, I64, samples),
    COLUMN(cw_pc_row, I64, not_issued), TEXT_COLUMNS(cw_pc_row)};
static const struct cw_output_column batch_columns[] = {
    COLUMN(cw_pc_batch_row, U32, device),
    COLUMN(cw_pc_batch_row, U32, process),
    COLUMN(cw_pc_batch_row, U32, period),
    COLUMN(cw_pc_batch_row, U32, serialized),
    COLUMN(cw_pc_batch_row, U32, buffer_full),
    {"host_start_ns", CW_CELL_I64, CW_TO_FILES, offsetof(struct cw_pc_batch_row, start_ns), .units = CW_OUTPUT_DATE,
     .long_name = "when the host began to collect the batch"},
    {"host_end_ns", CW_CELL_I64, CW_TO_FILES, offsetof(struct cw_pc_batch_row, end_ns), .units = CW_OUTPUT_DATE,
     .long_name = "when the host took the batch"},
    COLUMN(cw_pc_batch_row, I64, total),
    COLUMN(cw_pc_batch_row, I64, dropped),
    COLUMN(cw_pc_batch_row, I64, other)};
static const struct cw_output_column sass_columns[] = {
    COLUMN(cw_sass_row, U32, device),
    COLUMN(cw_sass_row, U32, process),
    PLACE_COLUMNS(cw_sass_row),
    COLUMN(cw_sass_row, TEXT, metric),
    COLUMN(cw_sass_row, TEXT, level),
    COLUMN(cw_sass_row, I64, instances),
    {"first", CW_CELL_I64, CW_TO_FILES, offsetof(struct cw_sass_row, first),
     .long_name =
         "the first of its values, of which it has one for each instance: an index along the dimension instance"},
    COLUMN(cw_sass_row, I64, sum),
    COLUMN(cw_sass_row, I64, min),
    COLUMN(cw_sass_row, I64, max),
    TEXT_COLUMNS(cw_sass_row)};
static const struct cw_output_column value_columns[] = {{"value", CW_CELL_I64, CW_TO_FILES, 0}};

/* In HDF5 rows go by their numbers, since no other column of an instruction is unique. */
static const struct cw_output_column sample_number = {"sample", CW_CELL_U64, CW_TO_HDF5},
                                     batch_number = {"batch", CW_CELL_U64, CW_TO_HDF5},
                                     record_number = {"record", CW_CELL_U64, CW_TO_HDF5},
                                     instance_number = {"instance", CW_CELL_U64, CW_TO_HDF5};

#define TABLE(table_name, table_group, array, count, list, number)                                                     \
    ((struct cw_output_table){CW_OUTPUT_COLUMNS(list), .name = table_name, .group = table_group,                       \
                              .record_size = sizeof *(array), .row_count = count, .row = cw_output_array,              \
                              .content = (void *)(array), .numbers = &(number)})

void cw_output_instructions(struct cw_output *o, const struct cw_instructions *in)
{
    *o = (struct cw_output){.data = in->data, .source = in->source, .table_count = 2, .print = print, .result = in};
    if (in->data->schema.profiler == CW_PROFILER_SASS) {
        o->tables[0] = TABLE("records", "sass", in->sass, in->sass_count, sass_columns, record_number);
        o->tables[1] = TABLE("values", "sass", in->values, in->value_count, value_columns, instance_number);
    } else {
        o->tables[0] = TABLE("samples", "pc", in->pc, in->pc_count, pc_columns, sample_number);
        o->tables[1] = TABLE("batches", "pc/batch", in->batches, in->batch_count, batch_columns, batch_number);
    }
    o->tables[0].column_count -= in->disassembled ? 0 : TEXT_COLUMNS;
}
