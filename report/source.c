#define _GNU_SOURCE
#include "report/source.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "eval/output/output.h"
#include "eval/samples/source.h"
#include "eval/samples/texts.h"
#include "report/put.h"

/* Most lines with counts, and most bytes of a line; lines shown around each line with counts. */
enum { MOST_LINES = 1000, MOST_WIDTH = 400, AROUND = 4 };

struct count { /* a count of an instruction */
    const struct cw_place *at;
    const char *what; /* a reason or a metric */
    uint64_t value, not_issued;
};

struct line { /* its counts begin at counts[first] */
    const struct cw_place *at;
    size_t first, count;
    uint64_t total, not_issued;
    uint32_t file;
};

struct listing {
    FILE *out;
    struct cw_source source;
    bool samples; /* else SASS metrics */
    size_t count_count, line_count, what_count, file_count;
    struct count *counts;
    struct line *lines; /* most counts first */
    const char **whats, **files;
};

static int by_line(const struct cw_place *a, const struct cw_place *b)
{
    int order = cw_text_compare(a->function, b->function);
    order = order ? order : strcmp(a->file, b->file);
    return order ? order : (a->line > b->line) - (a->line < b->line);
}

static int by_count(const void *left, const void *right)
{
    const struct count *a = left, *b = right;
    const int order = by_line(a->at, b->at);
    return order ? order : cw_text_compare(a->what, b->what);
}

static int by_total(const void *left, const void *right)
{
    const struct line *a = left, *b = right;
    const int order = (a->total < b->total) - (a->total > b->total);
    return order ? order : by_line(a->at, b->at);
}

static bool take_counts(struct listing *l, const struct cw_instructions *in)
{
    const size_t count = l->samples ? in->pc_count : in->sass_count;
    l->counts = calloc(count + 1, sizeof *l->counts);
    l->lines = calloc(count + 1, sizeof *l->lines);
    l->whats = calloc(count + 1, sizeof *l->whats);
    l->files = calloc(CW_SOURCE_FILES_MAX, sizeof *l->files);
    if (!l->counts || !l->lines || !l->whats || !l->files)
        return false;
    for (size_t i = 0; i < count; i++)
        l->counts[i] = l->samples
                           ? (struct count){&in->pc[i].at, in->pc[i].reason, in->pc[i].samples, in->pc[i].not_issued}
                           : (struct count){&in->sass[i].at, in->sass[i].metric, in->sass[i].sum, 0};
    qsort(l->counts, count, sizeof *l->counts, by_count);
    l->count_count = count;
    return true;
}

static void find_lines(struct listing *l)
{
    for (size_t i = 0; i < l->count_count; i++) {
        if (!l->line_count || by_line(l->lines[l->line_count - 1].at, l->counts[i].at) != 0)
            l->lines[l->line_count++] = (struct line){.at = l->counts[i].at, .first = i};
        struct line *line = &l->lines[l->line_count - 1];
        line->count++;
        line->total += l->counts[i].value;
        line->not_issued += l->counts[i].not_issued;
    }
    qsort(l->lines, l->line_count, sizeof *l->lines, by_total);
}

static int by_pointer(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Lists the distinct texts of all counts, sorted. */
static void list_whats(struct listing *l)
{
    for (size_t i = 0; i < l->count_count; i++)
        l->whats[i] = l->counts[i].what;
    qsort(l->whats, l->count_count, sizeof *l->whats, by_pointer);
    for (size_t i = 0; i < l->count_count; i++)
        if (!l->what_count || strcmp(l->whats[l->what_count - 1], l->whats[i]) != 0)
            l->whats[l->what_count++] = l->whats[i];
}

static size_t what_at(const struct listing *l, const char *what)
{
    const char **found = bsearch(&what, l->whats, l->what_count, sizeof *l->whats, by_pointer);
    return (size_t)(found - l->whats);
}

/* The number of a file. UINT32_MAX: no file, or too many files. */
static uint32_t file_at(struct listing *l, const char *file)
{
    size_t i = 0;
    while (i < l->file_count && strcmp(l->files[i], file) != 0)
        i++;
    if (!*file || i == CW_SOURCE_FILES_MAX)
        return UINT32_MAX;
    l->files[i] = file;
    l->file_count += i == l->file_count;
    return (uint32_t)i;
}

/* ---- text of files ---------------------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The lines of a file with counts, and the lines around them. */
static void put_file(struct listing *l, size_t shown, uint32_t file)
{
    const char *before = ",\"text\":{\"", *text = NULL;
    uint32_t lines[MOST_LINES], count = 0;
    uint64_t next = 1;
    size_t length;
    cw_put_text(l->out, file ? ",\n{\"name\":" : "\n{\"name\":", l->files[file]);
    for (size_t i = 0; i < shown; i++)
        if (l->lines[i].file == file)
            lines[count++] = l->lines[i].at->line;
    qsort(lines, count, sizeof *lines, by_number);
    for (uint32_t i = 0; i < count; i++) {
        next = lines[i] > next + AROUND ? lines[i] - AROUND : next;
        for (; next <= (uint64_t)lines[i] + AROUND && next < UINT32_MAX; next++) {
            char line[MOST_WIDTH + 1];
            text = cw_source_whole_line(&l->source, l->files[file], (uint32_t)next, &length);
            if (!text)
                break;
            snprintf(line, sizeof line, "%.*s", (int)length, text);
            fprintf(l->out, "%s%" PRIu64 "\":", before, next);
            cw_put_text(l->out, "", line);
            before = ",\"";
        }
    }
    fputs(before[2] ? "}" : "}}", l->out);
}

/* ---- public ----------------------------------------------------------------------------------------------------- */

static void put_line(struct listing *l, size_t i)
{
    const struct line *line = &l->lines[i];
    cw_put_text(l->out, i ? ",\n{\"function\":" : "\n{\"function\":", line->at->name);
    cw_put_short(l->out, ",\"short\":", line->at->name);
    cw_put_text(l->out, ",\"symbol\":", line->at->function);
    if (line->file != UINT32_MAX)
        cw_put_count(l->out, ",\"file\":", line->file);
    cw_put_count(l->out, ",\"line\":", line->at->line);
    cw_put_count(l->out, ",\"total\":", line->total);
    cw_put_count(l->out, ",\"not_issued\":", line->not_issued);
    fputs(",\"counts\":[", l->out);
    for (size_t k = line->first; k < line->first + line->count;) {
        const char *what = l->counts[k].what;
        uint64_t sum = 0;
        const char *before = k == line->first ? "[" : ",[";
        for (; k < line->first + line->count && strcmp(l->counts[k].what, what) == 0; k++)
            sum += l->counts[k].value;
        cw_put_count(l->out, before, what_at(l, what));
        cw_put_count(l->out, ",", sum);
        fputs("]", l->out);
    }
    fputs("]}", l->out);
}

static void put_whats(const struct listing *l)
{
    char text[CW_REASON_SIZE];
    fputs(",\"whats\":[", l->out);
    for (size_t i = 0; i < l->what_count; i++)
        cw_put_text(l->out, i ? "," : "", l->samples ? cw_reason_short(l->whats[i], text) : l->whats[i]);
    fputs("]", l->out);
}

enum cw_status cw_report_source_put(FILE *out, const struct cw_report_capture *c, const struct cw_report *report,
                                    struct cw_error *err)
{
    struct listing l = {
        .out = out,
        .source = {.folders = report->source_paths, .folder_count = report->source_path_count, .inside = true},
        .samples = c->data->schema.profiler == CW_PROFILER_PC};
    const bool enough = take_counts(&l, c->instructions);
    if (enough) {
        find_lines(&l);
        list_whats(&l);
        const size_t shown = l.line_count < MOST_LINES ? l.line_count : MOST_LINES;
        cw_put_text(out, "\n{\"file\":", c->source);
        cw_put_text(out, ",\"kind\":", l.samples ? "pc" : "sass");
        cw_put_count(out, ",\"total\":", c->instructions->total);
        cw_put_count(out, ",\"dropped\":", c->instructions->dropped);
        cw_put_count(out, ",\"other\":", c->instructions->other);
        cw_put_count(out, ",\"lines_left\":", l.line_count - shown);
        put_whats(&l);
        fputs(",\"lines\":[", out);
        for (size_t i = 0; i < shown; i++) {
            l.lines[i].file = file_at(&l, l.lines[i].at->file);
            put_line(&l, i);
        }
        fputs("],\"files\":[", out);
        for (uint32_t i = 0; i < l.file_count; i++)
            put_file(&l, shown, i);
        fputs("]}", out);
    }
    cw_source_finish(&l.source);
    free(l.counts);
    free(l.lines);
    free(l.whats);
    free(l.files);
    return enough ? CW_OK : cw_error_nomem(err);
}
