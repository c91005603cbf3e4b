/* The hottest instructions as a table for people. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "eval/instructions.h"
#include "eval/texts.h"

enum { TOP_REASONS = 3, MOST_REASONS = 128, NUMBER_SIZE = 32 };

/* 1234567 as "1,234,567". Returns `text`. */
static const char *grouped(uint64_t value, char text[NUMBER_SIZE])
{
    char plain[NUMBER_SIZE];
    size_t digits = (size_t)snprintf(plain, sizeof plain, "%" PRIu64, value), n = 0;
    for (size_t i = 0; i < digits; i++) {
        if (i && (digits - i) % 3 == 0)
            text[n++] = ',';
        text[n++] = plain[i];
    }
    text[n] = 0;
    return text;
}

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

/* ---- places ----------------------------------------------------------------------------------------------------- */

/* "file.cu:12", the offset where no line is known. */
static void put_place(const struct cw_place *at, FILE *out)
{
    const char *slash = strrchr(at->file, '/');
    char place[48] = "-";
    if (at->line)
        snprintf(place, sizeof place, "%.36s:%" PRIu32, slash ? slash + 1 : at->file, at->line);
    cw_text_print(out, "  %-24s  0x%05" PRIx64, place, at->offset);
}

static void put_left_out(size_t count, FILE *out)
{
    cw_text_print(out, "%zu more instruction%s; --top N shows more\n", count, count == 1 ? "" : "s");
}

/* ---- samples ---------------------------------------------------------------------------------------------------- */

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

static void put_reasons(const struct cw_pc_row *const *rows, const struct spot *s, FILE *out)
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
    for (size_t k = 0; k < n && k < TOP_REASONS; k++)
        cw_text_print(out, "%s%s %.0f %%", k ? ", " : "  ", shares[k].reason, percent(shares[k].samples, s->samples));
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

static void put_samples_head(const struct cw_instructions *in, FILE *out)
{
    char a[NUMBER_SIZE], b[NUMBER_SIZE], c[NUMBER_SIZE];
    cw_text_print(out, "samples:  %s; dropped %s (%.2f %%); in no kernel of the program %s\n", grouped(in->total, a),
                  grouped(in->dropped, b), percent(in->dropped, in->total), grouped(in->other, c));
    if (in->full_buffers)
        cw_text_print(out,
                      "          the hardware's buffer was full %" PRIu32 " time%s: more samples were lost there\n",
                      in->full_buffers, in->full_buffers == 1 ? "" : "s");
    if (in->batch_count)
        cw_text_print(out, "sampling: %s, a sample each 2^%" PRIu32 " cycles\n",
                      in->batches[0].serialized ? "serialized" : "continuous", in->batches[0].period);
}

static enum cw_status put_samples(const struct cw_instructions *in, size_t top, FILE *out, struct cw_error *err)
{
    const struct cw_pc_row **rows = calloc(in->pc_count + 1, sizeof *rows);
    struct spot *spots = calloc(in->pc_count + 1, sizeof *spots);
    enum cw_status status = rows && spots ? CW_OK : cw_error_nomem(err);
    uint64_t known;
    for (size_t i = 0; status == CW_OK && i < in->pc_count; i++)
        rows[i] = &in->pc[i];
    if (status == CW_OK) {
        qsort(rows, in->pc_count, sizeof *rows, by_place);
        size_t n = find_spots(rows, in->pc_count, spots, &known);
        qsort(spots, n, sizeof *spots, by_samples);
        put_samples_head(in, out);
        fputs("\n     samples   share  line                      offset   function, stall reasons\n", out);
        for (size_t i = 0; i < n && i < top; i++) {
            char number[NUMBER_SIZE];
            cw_text_print(out, "%12s  %5.1f%%", grouped(spots[i].samples, number), percent(spots[i].samples, known));
            put_place(&spots[i].at, out);
            cw_text_print(out, "  %.60s:", spots[i].at.name);
            put_reasons(rows, &spots[i], out);
            putc('\n', out);
        }
        if (n > top)
            put_left_out(n - top, out);
    }
    free(rows);
    free(spots);
    return status;
}

/* ---- SASS metrics ----------------------------------------------------------------------------------------------- */

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

static void put_metric(const struct cw_sass_row *const *rows, size_t count, size_t top, FILE *out)
{
    char number[NUMBER_SIZE];
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += rows[i]->sum;
    cw_text_print(out, "%s (%s): %s\n       value   share  line                      offset   function%s\n",
                  rows[0]->metric, rows[0]->level, grouped(total, number),
                  rows[0]->instances > 1 ? ", least and most of its instances" : "");
    for (size_t i = 0; i < count && i < top; i++) {
        const struct cw_sass_row *r = rows[i];
        char least[NUMBER_SIZE], most[NUMBER_SIZE];
        cw_text_print(out, "%12s  %5.1f%%", grouped(r->sum, number), percent(r->sum, total));
        put_place(&r->at, out);
        cw_text_print(out, "  %.60s", r->at.name);
        if (r->instances > 1)
            cw_text_print(out, ": %s to %s of %" PRIu64, grouped(r->min, least), grouped(r->max, most), r->instances);
        putc('\n', out);
    }
    if (count > top)
        put_left_out(count - top, out);
}

static enum cw_status put_sass(const struct cw_instructions *in, size_t top, FILE *out, struct cw_error *err)
{
    char number[NUMBER_SIZE];
    const struct cw_sass_row **rows = calloc(in->sass_count + 1, sizeof *rows);
    if (!rows)
        return cw_error_nomem(err);
    for (size_t i = 0; i < in->sass_count; i++)
        rows[i] = &in->sass[i];
    qsort(rows, in->sass_count, sizeof *rows, by_metric);
    if (in->dropped)
        cw_text_print(out, "dropped:  %s records\n", grouped(in->dropped, number));
    for (size_t i = 0, n; i < in->sass_count; i += n) {
        for (n = 1; i + n < in->sass_count && same_metric(rows[i], rows[i + n]);)
            n++;
        if (i)
            putc('\n', out);
        put_metric(rows + i, n, top, out);
    }
    free(rows);
    return CW_OK;
}

enum cw_status cw_instructions_table(const struct cw_instructions *in, size_t top, FILE *out, struct cw_error *err)
{
    return in->data->schema.profiler == CW_PROFILER_SASS ? put_sass(in, top, out, err) : put_samples(in, top, out, err);
}
