#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "eval/output/output.h"
#include "eval/output/terminal.h"
#include "eval/texts.h"

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100 * (double)part / (double)whole : 0;
}

const char *cw_reason_short(const char *reason, char text[CW_REASON_SIZE])
{
    static const char prefix[] = "smsp__pcsamp_", stalled[] = "warps_issue_stalled_", twin[] = "_not_issued";
    if (strncmp(reason, prefix, sizeof prefix - 1) == 0)
        reason += sizeof prefix - 1;
    if (strncmp(reason, stalled, sizeof stalled - 1) == 0)
        reason += sizeof stalled - 1;
    snprintf(text, CW_REASON_SIZE, "%s", reason);
    size_t length = strlen(text);
    if (length > sizeof twin - 1 && strcmp(text + length - (sizeof twin - 1), twin) == 0)
        text[length - (sizeof twin - 1)] = 0;
    return text;
}

/* A reason's twin "..._not_issued" counts again those of its samples in which the scheduler issued nothing. Where both
 * were sampled, the twin adds nothing. The rows are in the order of their reasons. */
static bool is_twin(const struct cw_pc_row *row, const struct cw_pc_row *const *rows, size_t count)
{
    static const char twin[] = "_not_issued";
    size_t length = strlen(row->reason);
    if (length <= sizeof twin - 1 || strcmp(row->reason + length - (sizeof twin - 1), twin) != 0)
        return false;
    length -= sizeof twin - 1;
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const char *reason = rows[middle]->reason;
        int order = strncmp(reason, row->reason, length);
        if (order == 0 && !reason[length])
            return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

/* ---- instructions, for people ----------------------------------------------------------------------------------- */

enum { TOP_REASONS = 3, MOST_REASONS = 128, TEXT_SIZE = 2048 };

struct line {
    uint64_t value;
    char share[16], place[48], offset[24], what[TEXT_SIZE];
};

struct lines { /* of spots, whose rows are here, or of rows of SASS metrics */
    const struct spot *spots;
    const struct cw_pc_row *const *rows;
    const struct cw_sass_row *const *sass;
    uint64_t total;
    struct line one;
};

/* The names of the first and the last column are the caller's. */
static const struct cw_output_column line_columns[] = {
    {"", CW_CELL_U64, CW_TO_TERMINAL, offsetof(struct line, value), .width = 12, .right = true},
    {"share", CW_CELL_CHARS, CW_TO_TERMINAL, offsetof(struct line, share), .width = 6, .right = true},
    {"line", CW_CELL_CHARS, CW_TO_TERMINAL, offsetof(struct line, place), .width = 24},
    {"offset", CW_CELL_CHARS, CW_TO_TERMINAL, offsetof(struct line, offset), .width = 7},
    {"", CW_CELL_CHARS, CW_TO_TERMINAL, offsetof(struct line, what), .width = 1},
};
enum { LINE_COLUMNS = sizeof line_columns / sizeof *line_columns };

/* All of a line but what the caller adds behind the function's name and `after`. */
static void begin_line(struct line *l, const struct cw_place *at, const char *after, uint64_t value, uint64_t whole)
{
    const char *slash = strrchr(at->file, '/');
    l->value = value;
    snprintf(l->share, sizeof l->share, "%5.1f%%", percent(value, whole));
    if (at->line) /* "file.cu:12" */
        snprintf(l->place, sizeof l->place, "%.36s:%" PRIu32, slash ? slash + 1 : at->file, at->line);
    else
        snprintf(l->place, sizeof l->place, "-");
    snprintf(l->offset, sizeof l->offset, "0x%05" PRIx64, at->offset);
    cw_text_format(l->what, sizeof l->what, "%.60s%s", at->name, after);
}

/* The first `top` of `count` lines, which `row` makes of `content`. */
static void print_lines(const char *value, const char *what, size_t count, size_t top,
                        struct cw_output_row (*row)(const struct cw_output_table *, uint64_t), void *content, FILE *out)
{
    struct cw_output_column columns[LINE_COLUMNS];
    memcpy(columns, line_columns, sizeof columns);
    columns[0].name = value;
    columns[LINE_COLUMNS - 1].name = what;
    const struct cw_output_table t = {CW_OUTPUT_COLUMNS(columns),
                                      .record_size = sizeof(struct line),
                                      .row_count = count < top ? count : top,
                                      .row = row,
                                      .content = content,
                                      .plain = true};
    cw_terminal_print(&t, out);
    if (count > top)
        cw_text_print(out, "%zu more instruction%s; --top N shows more\n", count - top, count - top == 1 ? "" : "s");
}

/* ---- samples, for people ---------------------------------------------------------------------------------------- */

struct share {
    char reason[CW_REASON_SIZE];
    uint64_t samples;
};

struct spot { /* an instruction in all devices, processes and launches: rows[first] and on */
    struct cw_place at;
    uint64_t samples;
    size_t first, count;
};

static int by_place(const void *left, const void *right)
{
    const struct cw_pc_row *a = *(const struct cw_pc_row *const *)left, *b = *(const struct cw_pc_row *const *)right;
    int order = cw_place_compare(&a->at, &b->at);
    return order ? order : cw_text_compare(a->reason, b->reason);
}

static int by_samples(const void *left, const void *right)
{
    const struct spot *a = left, *b = right;
    int order = (a->samples < b->samples) - (a->samples > b->samples);
    return order ? order : cw_place_compare(&a->at, &b->at);
}

static int by_share(const void *left, const void *right)
{
    const struct share *a = left, *b = right;
    int order = (a->samples < b->samples) - (a->samples > b->samples);
    return order ? order : strcmp(a->reason, b->reason);
}

/* "wait 75 %, lg_throttle 25 %" behind what `text` begins with. */
static void add_reasons(const struct cw_pc_row *const *rows, const struct spot *s, char text[TEXT_SIZE])
{
    struct share shares[MOST_REASONS];
    size_t n = 0;
    for (size_t i = 0; i < s->count; i++) {
        char reason[CW_REASON_SIZE];
        size_t k = 0;
        if (is_twin(rows[s->first + i], rows + s->first, s->count))
            continue;
        cw_reason_short(rows[s->first + i]->reason, reason);
        while (k < n && strcmp(shares[k].reason, reason) != 0)
            k++;
        if (k == MOST_REASONS)
            continue;
        if (k == n) {
            memcpy(shares[n].reason, reason, sizeof reason);
            shares[n++].samples = 0;
        }
        shares[k].samples += rows[s->first + i]->samples;
    }
    qsort(shares, n, sizeof *shares, by_share);
    for (size_t k = 0, used = strlen(text); k < n && k < TOP_REASONS; k++)
        used += cw_text_format(text + used, TEXT_SIZE - used, "%s%s %.0f %%", k ? ", " : "  ", shares[k].reason,
                               percent(shares[k].samples, s->samples));
}

/* The instructions, and the sum of their samples. */
static size_t find_spots(const struct cw_pc_row *const *rows, size_t count, struct spot *spots, uint64_t *total)
{
    size_t n = 0;
    *total = 0;
    for (size_t i = 0; i < count; i++) {
        if (!n || cw_place_compare(&spots[n - 1].at, &rows[i]->at) != 0)
            spots[n++] = (struct spot){.at = rows[i]->at, .first = i};
        spots[n - 1].count++;
    }
    for (size_t k = 0; k < n; k++) {
        struct spot *s = &spots[k];
        for (size_t i = s->first; i < s->first + s->count; i++)
            if (!is_twin(rows[i], rows + s->first, s->count))
                s->samples += rows[i]->samples;
        *total += s->samples;
    }
    return n;
}

static void print_head(const struct cw_instructions *in, FILE *out)
{
    char a[CW_NUMBER_SIZE], b[CW_NUMBER_SIZE], c[CW_NUMBER_SIZE];
    cw_text_print(out, "samples:  %s; dropped %s (%.2f %%); in no kernel of the program %s\n",
                  cw_terminal_integer(in->total, a), cw_terminal_integer(in->dropped, b),
                  percent(in->dropped, in->total), cw_terminal_integer(in->other, c));
    if (in->full_buffers)
        cw_text_print(out,
                      "          the hardware's buffer was full %" PRIu32 " time%s: more samples were lost there\n",
                      in->full_buffers, in->full_buffers == 1 ? "" : "s");
    if (in->batch_count)
        cw_text_print(out, "sampling: %s, a sample each 2^%" PRIu32 " cycles\n",
                      in->batches[0].serialized ? "serialized" : "continuous", in->batches[0].period);
}

static struct cw_output_row spot_row(const struct cw_output_table *t, uint64_t i)
{
    struct lines *l = t->content;
    const struct spot *spot = &l->spots[i];
    begin_line(&l->one, &spot->at, ":", spot->samples, l->total);
    add_reasons(l->rows, spot, l->one.what);
    return (struct cw_output_row){.record = &l->one};
}

static enum cw_status print_samples(const struct cw_instructions *in, size_t top, FILE *out, struct cw_error *err)
{
    const struct cw_pc_row **rows = calloc(in->pc_count + 1, sizeof *rows);
    struct spot *list = calloc(in->pc_count + 1, sizeof *list);
    struct lines lines = {.rows = rows, .spots = list};
    enum cw_status status = rows && list ? CW_OK : cw_error_nomem(err);
    for (size_t i = 0; status == CW_OK && i < in->pc_count; i++)
        rows[i] = &in->pc[i];
    if (status == CW_OK) {
        qsort(rows, in->pc_count, sizeof *rows, by_place);
        size_t count = find_spots(rows, in->pc_count, list, &lines.total);
        qsort(list, count, sizeof *list, by_samples);
        print_head(in, out);
        putc('\n', out);
        print_lines("samples", "function, stall reasons", count, top, spot_row, &lines, out);
    }
    free(rows);
    free(list);
    return status;
}

/* ---- SASS metrics, for people ----------------------------------------------------------------------------------- */

static int by_metric(const void *left, const void *right)
{
    const struct cw_sass_row *a = *(const struct cw_sass_row *const *)left,
                             *b = *(const struct cw_sass_row *const *)right;
    int order = cw_text_compare(a->metric, b->metric);
    order = order ? order : cw_text_compare(a->level, b->level);
    order = order ? order : (a->sum < b->sum) - (a->sum > b->sum);
    return order ? order : cw_place_compare(&a->at, &b->at);
}

static bool same_metric(const struct cw_sass_row *a, const struct cw_sass_row *b)
{
    return a->metric == b->metric && a->level == b->level;
}

static struct cw_output_row sass_row(const struct cw_output_table *t, uint64_t i)
{
    struct lines *l = t->content;
    const struct cw_sass_row *r = l->sass[i];
    begin_line(&l->one, &r->at, "", r->sum, l->total);
    char least[CW_NUMBER_SIZE], most[CW_NUMBER_SIZE];
    size_t used = strlen(l->one.what);
    if (r->instances > 1)
        cw_text_format(l->one.what + used, TEXT_SIZE - used, ": %s to %s of %" PRIu64,
                       cw_terminal_integer(r->min, least), cw_terminal_integer(r->max, most), r->instances);
    return (struct cw_output_row){.record = &l->one};
}

static void print_metric(const struct cw_sass_row *const *rows, size_t count, size_t top, FILE *out)
{
    char number[CW_NUMBER_SIZE];
    struct lines lines = {.sass = rows};
    for (size_t i = 0; i < count; i++)
        lines.total += rows[i]->sum;
    cw_text_print(out, "%s (%s): %s\n", rows[0]->metric, rows[0]->level, cw_terminal_integer(lines.total, number));
    print_lines("value", rows[0]->instances > 1 ? "function, least and most of its instances" : "function", count, top,
                sass_row, &lines, out);
}

static enum cw_status print_sass(const struct cw_instructions *in, size_t top, FILE *out, struct cw_error *err)
{
    char number[CW_NUMBER_SIZE];
    const struct cw_sass_row **rows = calloc(in->sass_count + 1, sizeof *rows);
    if (!rows)
        return cw_error_nomem(err);
    for (size_t i = 0; i < in->sass_count; i++)
        rows[i] = &in->sass[i];
    qsort(rows, in->sass_count, sizeof *rows, by_metric);
    if (in->dropped)
        cw_text_print(out, "dropped:  %s records\n", cw_terminal_integer(in->dropped, number));
    for (size_t i = 0, n; i < in->sass_count; i += n) {
        for (n = 1; i + n < in->sass_count && same_metric(rows[i], rows[i + n]);)
            n++;
        if (i)
            putc('\n', out);
        print_metric(rows + i, n, top, out);
    }
    free(rows);
    return CW_OK;
}

static enum cw_status print(const struct cw_output *o, const struct cw_terminal_style *style, FILE *out,
                            struct cw_error *err)
{
    return (o->data->schema.profiler == CW_PROFILER_SASS ? print_sass : print_samples)(o->result, style->top, out, err);
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

static const struct cw_output_column pc_columns[] = {COLUMN(cw_pc_row, U32, device),  COLUMN(cw_pc_row, U32, process),
                                                     COLUMN(cw_pc_row, U32, launch),  PLACE_COLUMNS(cw_pc_row),
                                                     COLUMN(cw_pc_row, TEXT, reason), COLUMN(cw_pc_row, I64, samples)};
static const struct cw_output_column batch_columns[] = {
    COLUMN(cw_pc_batch_row, U32, device),      COLUMN(cw_pc_batch_row, U32, process),
    COLUMN(cw_pc_batch_row, U32, period),      COLUMN(cw_pc_batch_row, U32, serialized),
    COLUMN(cw_pc_batch_row, U32, buffer_full), COLUMN(cw_pc_batch_row, I64, start_ns),
    COLUMN(cw_pc_batch_row, I64, end_ns),      COLUMN(cw_pc_batch_row, I64, total),
    COLUMN(cw_pc_batch_row, I64, dropped),     COLUMN(cw_pc_batch_row, I64, other)};
static const struct cw_output_column sass_columns[] = {
    COLUMN(cw_sass_row, U32, device),  COLUMN(cw_sass_row, U32, process), PLACE_COLUMNS(cw_sass_row),
    COLUMN(cw_sass_row, TEXT, metric), COLUMN(cw_sass_row, TEXT, level),  COLUMN(cw_sass_row, I64, instances),
    COLUMN(cw_sass_row, I64, first),   COLUMN(cw_sass_row, I64, sum),     COLUMN(cw_sass_row, I64, min),
    COLUMN(cw_sass_row, I64, max)};
static const struct cw_output_column value_columns[] = {{"value", CW_CELL_I64, CW_TO_FILES, 0}};

#define TABLE(table_name, table_group, array, count, list)                                                             \
    ((struct cw_output_table){CW_OUTPUT_COLUMNS(list), .name = table_name, .group = table_group,                       \
                              .record_size = sizeof *(array), .row_count = count, .row = cw_output_array,              \
                              .content = (void *)(array), .records = true})

void cw_output_instructions(struct cw_output *o, const struct cw_instructions *in)
{
    *o = (struct cw_output){.data = in->data, .source = in->source, .table_count = 2, .print = print, .result = in};
    if (in->data->schema.profiler == CW_PROFILER_SASS) {
        o->tables[0] = TABLE("records", "sass", in->sass, in->sass_count, sass_columns);
        o->tables[1] = TABLE("values", "sass", in->values, in->value_count, value_columns);
    } else {
        o->tables[0] = TABLE("samples", "pc", in->pc, in->pc_count, pc_columns);
        o->tables[1] = TABLE("batches", "pc", in->batches, in->batch_count, batch_columns);
    }
}
