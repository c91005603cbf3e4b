#define _GNU_SOURCE
#include "report/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/search.h"
#include "eval/output/advice.h"
#include "eval/output/capture.h"
#include "eval/output/output.h"
#include "eval/output/ranks_output.h"
#include "eval/samples/source.h"
#include "eval/samples/texts.h"
#include "report/content.h"
#include "report/kernels.h"
#include "report/put.h"
#include "report/timeline.h"
#include "report/trace.h"

/* ---- source lines and instructions ------------------------------------------------------------------------------- */

/* Most lines with counts, and most bytes of a line; lines shown around each line with counts. Most instructions. */
enum { MOST_LINES = 1000, MOST_WIDTH = 400, AROUND = 4, MOST_INSTRUCTIONS = 5000 };

struct count { /* a count of an instruction */
    const struct cw_place *at;
    const char *what; /* a reason or a metric */
    uint64_t value, not_issued;
};

struct line { /* or an instruction; its counts begin at counts[first] */
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
    struct line *lines; /* most counts first; then the instructions */
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

static int by_instruction_count(const void *left, const void *right)
{
    const struct count *a = left, *b = right;
    const int order = cw_place_compare(a->at, b->at);
    return order ? order : cw_text_compare(a->what, b->what);
}

static int by_total(const void *left, const void *right)
{
    const struct line *a = left, *b = right;
    int order = (a->total < b->total) - (a->total > b->total);
    order = order ? order : by_line(a->at, b->at);
    return order ? order : cw_place_compare(a->at, b->at);
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
    l->count_count = count;
    return true;
}

/* Finds the lines, or the instructions, whose counts are then in the order of l->lines[].first. */
static void find_lines(struct listing *l, bool instructions)
{
    int (*const compare)(const struct cw_place *, const struct cw_place *) = instructions ? cw_place_compare : by_line;
    qsort(l->counts, l->count_count, sizeof *l->counts, instructions ? by_instruction_count : by_count);
    l->line_count = 0;
    for (size_t i = 0; i < l->count_count; i++) {
        if (!l->line_count || compare(l->lines[l->line_count - 1].at, l->counts[i].at) != 0)
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

/* The lines of a file with counts, and the lines around them. */
static void put_source_file(struct listing *l, size_t shown, uint32_t file)
{
    const char *before = ",\"text\":{\"", *text = NULL;
    uint32_t lines[MOST_LINES], count = 0;
    uint64_t next = 1;
    size_t length;
    cw_put_text(l->out, file ? ",\n{\"name\":" : "\n{\"name\":", l->files[file]);
    for (size_t i = 0; i < shown; i++)
        if (l->lines[i].file == file)
            lines[count++] = l->lines[i].at->line;
    qsort(lines, count, sizeof *lines, cw_compare_u32);
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

static void put_line(struct listing *l, size_t i, bool instructions)
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
    if (instructions) {
        cw_put_count(l->out, ",\"offset\":", line->at->offset);
        cw_put_text(l->out, ",\"text\":", line->at->instruction);
        cw_put_text(l->out, ",\"ptx\":", line->at->ptx);
    }
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

/* The lines, or the instructions, with the most counts. Returns how many these are. */
static size_t put_lines(struct listing *l, bool instructions)
{
    const size_t most = instructions ? MOST_INSTRUCTIONS : MOST_LINES;
    find_lines(l, instructions);
    const size_t shown = l->line_count < most ? l->line_count : most;
    uint64_t counted = 0;
    for (size_t i = 0; i < l->line_count; i++)
        counted += l->lines[i].total;
    if (!instructions)
        cw_put_count(l->out, ",\"counted\":", counted);
    cw_put_count(l->out, instructions ? ",\"instructions_left\":" : ",\"lines_left\":", l->line_count - shown);
    fputs(instructions ? ",\"instructions\":[" : ",\"lines\":[", l->out);
    const uint32_t printed = instructions ? (uint32_t)l->file_count : CW_SOURCE_FILES_MAX;
    for (size_t i = 0; i < shown; i++) {
        const uint32_t file = file_at(l, l->lines[i].at->file);
        l->lines[i].file = file < printed ? file : UINT32_MAX;
        put_line(l, i, instructions);
    }
    fputs("]", l->out);
    return shown;
}

/* Prints one object for a capture of instructions: functions, source lines with their counts (PC samples by stall
 * reason, or SASS metrics), the text around these lines if the files are found, and instructions if they have texts.
 * CW_ERR_NOMEM alone. */
static enum cw_status report_source_put(FILE *out, const struct cw_report_capture *c, const struct cw_report *report,
                                        struct cw_error *err)
{
    struct listing l = {
        .out = out,
        .source = {.folders = report->source_paths, .folder_count = report->source_path_count, .inside = true},
        .samples = c->data->schema.profiler == CW_PROFILER_PC};
    const bool enough = take_counts(&l, c->instructions);
    if (enough) {
        list_whats(&l);
        cw_put_text(out, "\n{\"file\":", c->source);
        cw_put_text(out, ",\"kind\":", l.samples ? "pc" : "sass");
        cw_put_count(out, ",\"total\":", c->instructions->total);
        cw_put_count(out, ",\"dropped\":", c->instructions->dropped);
        cw_put_count(out, ",\"other\":", c->instructions->other);
        put_whats(&l);
        const size_t shown = put_lines(&l, false);
        fputs(",\"files\":[", out);
        for (uint32_t i = 0; i < l.file_count; i++)
            put_source_file(&l, shown, i);
        fputs("]", out);
        if (c->instructions->disassembled)
            put_lines(&l, true);
        fputs("}", out);
    }
    cw_source_finish(&l.source);
    free(l.counts);
    free(l.lines);
    free(l.whats);
    free(l.files);
    return enough ? CW_OK : cw_error_nomem(err);
}

/* ---- ranks of a job ---------------------------------------------------------------------------------------------- */

/* Most kernels, spreads of metrics, times of kernels by rank (four bytes each), and sentences on a page. */
enum { MOST_KERNELS = 2000, MOST_SPREADS = 20000, MOST_TIMES = 1000000, MOST_SENTENCES = 1000 };

static void put_ranks(FILE *out, const struct cw_ranks *r)
{
    fputs(",\n\"ranks\":[", out);
    for (uint32_t i = 0; i < r->rank_count; i++) {
        const struct cw_rank *rank = &r->ranks[i];
        cw_put_count(out, i ? ",\n[" : "\n[", rank->number);
        cw_put_text(out, ",", rank->host);
        cw_put_text(out, ",", rank->pci);
        cw_put_count(out, ",", rank->launches);
        cw_put_number(out, ",", rank->total);
        cw_put_number(out, ",", rank->waits);
        cw_put_number(out, ",", rank->clock);
        fputs("]", out);
    }
    fputs("]", out);
}

static void put_spread(FILE *out, const char *before, const struct cw_rank_spread *s)
{
    cw_put_count(out, before, s->count);
    cw_put_number(out, ",", s->least);
    cw_put_number(out, ",", s->lower);
    cw_put_number(out, ",", s->median);
    cw_put_number(out, ",", s->upper);
    cw_put_number(out, ",", s->greatest);
    cw_put_count(out, ",", s->least_rank);
    cw_put_count(out, ",", s->greatest_rank);
    cw_put_number(out, ",", s->imbalance);
    cw_put_count(out, ",", s->outliers);
    cw_put_count(out, ",", s->left_out);
    fputs("]", out);
}

/* The mean time of a kernel on each rank; `times` has room for all ranks. */
static void put_times(FILE *out, const struct cw_ranks *r, const struct cw_rank_kernel *k, float *times)
{
    for (uint32_t i = 0; i < r->rank_count; i++)
        times[i] = NAN;
    for (uint32_t i = 0; i < k->count; i++)
        times[r->rows[k->first + i].rank] = (float)r->rows[k->first + i].mean;
    cw_put_bytes(out, ",\"times\":", times, r->rank_count * sizeof *times);
}

static enum cw_status put_kernels(FILE *out, const struct cw_ranks *r, struct cw_error *err)
{
    const uint32_t count = r->kernel_count < MOST_KERNELS ? r->kernel_count : MOST_KERNELS;
    float *times = malloc(((size_t)r->rank_count + 1) * sizeof *times);
    const char **names = calloc((size_t)count + 1, sizeof *names);
    if (!times || !names) {
        free(times);
        free(names);
        return cw_error_nomem(err);
    }
    for (uint32_t i = 0; i < count; i++)
        names[i] = r->kernels[i].name;
    size_t *alike = cw_put_alike(names, count);
    cw_put_count(out, ",\n\"all_kernels\":", r->kernel_count);
    fputs(",\n\"kernels\":[", out);
    for (uint32_t i = 0; i < count; i++) {
        const struct cw_rank_kernel *k = &r->kernels[i];
        cw_put_text(out, i ? ",\n{\"name\":" : "\n{\"name\":", k->name);
        cw_put_short_apart(out, ",\"short\":", k->name, alike ? alike[i] : 0);
        cw_put_size(out, ",\"grid\":", k->grid);
        cw_put_size(out, ",\"block\":", k->block);
        cw_put_number(out, ",\"total\":", k->total);
        cw_put_count(out, ",\"launches\":", k->launches);
        fputs(k->waits ? ",\"waits\":true" : ",\"waits\":false", out);
        put_spread(out, ",\"time\":[", &k->time);
        if ((uint64_t)(i + 1) * r->rank_count <= MOST_TIMES)
            put_times(out, r, k, times);
        fputs(",\"spreads\":[", out);
        for (uint32_t m = 0; m < r->metric_count && (uint64_t)(i + 1) * r->metric_count <= MOST_SPREADS; m++)
            put_spread(out, m ? ",[" : "[", &r->spreads[(size_t)i * r->metric_count + m]);
        fputs("]}", out);
    }
    fputs("]", out);
    free(alike);
    free(names);
    free(times);
    return CW_OK;
}

static void put_sentences(FILE *out, const struct cw_ranks *r)
{
    char text[CW_STRAGGLER_TEXT];
    cw_put_count(out, ",\n\"all_slow\":", r->straggler_count);
    fputs(",\n\"waited\":[", out);
    for (uint32_t i = 0; i < r->waited_count && i < MOST_SENTENCES; i++) {
        cw_put_count(out, i ? ",\n[" : "\n[", r->waited[i].rank);
        cw_put_text(out, ",", cw_waited_text(r, &r->waited[i], text));
        fputs("]", out);
    }
    fputs("],\n\"slow\":[", out);
    for (uint32_t i = 0; i < r->straggler_count && i < MOST_SENTENCES; i++) {
        const struct cw_straggler *s = &r->stragglers[i];
        cw_put_count(out, i ? ",\n[" : "\n[", r->rows[s->row].rank);
        cw_put_count(out, ",", r->rows[s->row].kernel);
        cw_put_number(out, ",", s->slower);
        cw_put_number(out, ",", s->lost);
        cw_put_text(out, ",", cw_straggler_text(r, s, text));
        fputs("]", out);
    }
    fputs("]", out);
}

/* An object: ranks, the longest kernels with their differences between ranks, and sentences on slow ranks. */
static enum cw_status put_ranks_view(FILE *out, const struct cw_ranks_view *view, struct cw_error *err)
{
    const struct cw_ranks *r = view->ranks;
    char missing[CW_JOB_RANKS_TEXT];
    cw_put_text(out, "{\"by\":", r->by == CW_BY_NVTX ? "NVTX range" : r->by == CW_BY_FAMILY ? "family" : "kernel");
    cw_put_number(out, ",\"total\":", r->total);
    cw_put_count(out, ",\"launches\":", r->launches);
    cw_put_count(out, ",\"unranked\":", r->unranked);
    cw_put_count(out, ",\"untimed\":", r->untimed);
    cw_put_text(out, ",\"missing\":", cw_job_ranks_text(view->job, missing));
    fputs(",\n\"metrics\":[", out);
    for (uint32_t m = 0; m < r->metric_count; m++) {
        cw_put_text(out, m ? ",\n[" : "\n[", r->names[m]);
        cw_put_text(out, ",", r->units[m]);
        fputs("]", out);
    }
    fputs("]", out);
    put_ranks(out, r);
    put_sentences(out, r);
    enum cw_status status = put_kernels(out, r, err);
    fputs("}", out);
    return status;
}

/* ---- files of the page ------------------------------------------------------------------------------------------- */

struct page_file {
    const char *name; /* the template names it as <!--= name --> */
    const char *tag;  /* HTML element around it: "style", "script", or NULL */
    const char *start, *end;
};

/* Puts a file between two symbols. */
#define FILE_TEXT(name, path)                                                                                          \
    __asm__(".pushsection .rodata\n"                                                                                   \
            "cw_page_" #name "_start:\n"                                                                               \
            ".incbin \"" path "\"\n"                                                                                   \
            "cw_page_" #name "_end:\n"                                                                                 \
            ".byte 0\n"                                                                                                \
            ".globl cw_page_" #name "_start, cw_page_" #name "_end\n"                                                  \
            ".hidden cw_page_" #name "_start, cw_page_" #name "_end\n"                                                 \
            ".popsection\n");                                                                                          \
    extern __attribute__((visibility("hidden"))) const char cw_page_##name##_start[], cw_page_##name##_end[]

FILE_TEXT(index, CW_PAGE "/index.html");
FILE_TEXT(style, CW_PAGE "/style.css");
FILE_TEXT(show, CW_PAGE "/show.js");
FILE_TEXT(charts, CW_PAGE "/charts.js");
FILE_TEXT(timeline, CW_PAGE "/timeline.js");
FILE_TEXT(trace, CW_PAGE "/trace.js");
FILE_TEXT(lanes, CW_PAGE "/lanes.js");
FILE_TEXT(tracechart, CW_PAGE "/tracechart.js");
FILE_TEXT(tracepage, CW_PAGE "/tracepage.js");
FILE_TEXT(graphs, CW_PAGE "/graphs.js");
FILE_TEXT(kernel, CW_PAGE "/kernel.js");
FILE_TEXT(jobpage, CW_PAGE "/jobpage.js");
FILE_TEXT(page, CW_PAGE "/page.js");
FILE_TEXT(selftest, CW_PAGE "/selftest.js");
#ifdef CW_PAGE_CHARTS
FILE_TEXT(library, CW_PAGE_CHARTS);
FILE_TEXT(licence, CW_PAGE "/d3-licence.txt");
static const bool page_whole = true;
#else
static const bool page_whole = false;
#endif

#define ENTRY(name, tag)                                                                                               \
    {                                                                                                                  \
#name, tag, cw_page_##name##_start, cw_page_##name##_end                                                       \
    }

static const struct page_file page_template = ENTRY(index, NULL);
static const struct page_file page_files[] = {
    ENTRY(style, "style"),
#ifdef CW_PAGE_CHARTS
    ENTRY(library, "script"), ENTRY(licence, NULL),
#endif
    ENTRY(show, "script"),    ENTRY(charts, "script"),     ENTRY(timeline, "script"),  ENTRY(trace, "script"),
    ENTRY(lanes, "script"),   ENTRY(tracechart, "script"), ENTRY(tracepage, "script"), ENTRY(kernel, "script"),
    ENTRY(graphs, "script"),  ENTRY(jobpage, "script"),    ENTRY(page, "script"),      ENTRY(selftest, "script"),
};
static const size_t page_file_count = sizeof page_files / sizeof *page_files;

struct writing {
    FILE *page, *out; /* page: the file; out: a stream into it, for JSON */
    const struct cw_report *report;
    struct cw_layout layout;
    struct cw_report_kernels kernels;
    struct cw_error *err;
};

/* ---- data ------------------------------------------------------------------------------------------------------- */

static enum cw_status put_captures(struct writing *w)
{
    const struct cw_report *r = w->report;
    enum cw_status status = CW_OK;
    fputs(",\n\"captures\":[", w->out);
    for (size_t i = 0; i < r->capture_count && status == CW_OK; i++) {
        fputs(i ? ",\n" : "\n", w->out);
        status = cw_json_print(cw_capture_manifest(r->captures[i].data, r->captures[i].source), JSON_COMPACT, w->out,
                               w->err);
    }
    fputs("]", w->out);
    if (r->baseline && status == CW_OK) {
        fputs(",\n\"baseline\":", w->out);
        status =
            cw_json_print(cw_capture_manifest(r->baseline->data, r->baseline->source), JSON_COMPACT, w->out, w->err);
    }
    return status;
}

/* The captures, and the kernels without their times on the timeline. */
static enum cw_status put_main(struct writing *w)
{
    const struct cw_report *r = w->report;
    cw_put_text(w->out, "{\"title\":", r->captures[0].source);
    cw_put_text(w->out, ",\"version\":", CW_VERSION);
    if (r->hdf5)
        cw_put_text(w->out, ",\"hdf5\":", r->hdf5);
    enum cw_status status = put_captures(w);
    fputs(",\n\"layout\":", w->out);
    if (status == CW_OK)
        status = cw_json_print(json_incref(w->layout.tree), JSON_COMPACT, w->out, w->err);
    if (status == CW_OK && r->ranges)
        status = cw_report_kernels_put(w->out, &w->kernels, w->err);
    if (status == CW_OK && r->ranges)
        status = cw_report_launches_put(w->out, &w->kernels, w->err);
    fputs("}", w->out);
    return status;
}

static enum cw_status put_timelines(struct writing *w)
{
    const struct cw_report *r = w->report;
    enum cw_status status = CW_OK;
    size_t count = 0;
    fputs("[", w->out);
    for (size_t i = 0; i < r->capture_count && status == CW_OK; i++)
        status = cw_report_timelines_put(w->out, r, &r->captures[i], &count, w->err);
    fputs("]", w->out);
    return status;
}

static enum cw_status put_traces(struct writing *w)
{
    const struct cw_report *r = w->report;
    enum cw_status status = CW_OK;
    const char *before = "[";
    for (size_t i = 0; i < r->capture_count && status == CW_OK; i++) {
        if (!r->captures[i].timeline)
            continue;
        fputs(before, w->out);
        before = ",";
        status = cw_report_trace_put(w->out, &r->captures[i], r->arena, w->err);
    }
    fputs(*before == '[' ? "[]" : "]", w->out);
    return status;
}

static enum cw_status put_source(struct writing *w)
{
    const struct cw_report *r = w->report;
    enum cw_status status = CW_OK;
    const char *before = "[";
    for (size_t i = 0; i < r->capture_count && status == CW_OK; i++) {
        if (!r->captures[i].instructions)
            continue;
        fputs(before, w->out);
        before = ",";
        status = report_source_put(w->out, &r->captures[i], r, w->err);
    }
    fputs(*before == '[' ? "[]" : "]", w->out);
    return status;
}

/* Limits of each kernel and advice, in the format of "metric-eval advise --format json". */
static enum cw_status put_advice(struct writing *w)
{
    const struct cw_report *r = w->report;
    struct cw_advice advice;
    if (!r->ranges || !r->rules) {
        fputs("null", w->out);
        return CW_OK;
    }
    enum cw_status status = cw_advise(&advice, r->rules, &w->kernels.groups, CW_ADVICE_LEAST_GAIN, r->arena, w->err);
    for (size_t i = 0; i < r->capture_count && status == CW_OK; i++)
        if (r->captures[i].data->schema.profiler == CW_PROFILER_PC)
            status = cw_advice_add_lines(&advice, r->captures[i].instructions, r->arena, w->err);
    const struct cw_advice_view view = {.advice = &advice, .source = r->ranges->source, .arena = r->arena};
    return status == CW_OK ? cw_advice_json(w->out, &view, w->err) : status;
}

static enum cw_status put_job(struct writing *w)
{
    if (w->report->job)
        return put_ranks_view(w->out, w->report->job, w->err);
    fputs("null", w->out);
    return CW_OK;
}

static const struct part { /* an element of the page with JSON */
    const char *name;
    enum cw_status (*put)(struct writing *w);
} parts[] = {{"data", put_main},     {"advice", put_advice}, {"timelines", put_timelines},
             {"traces", put_traces}, {"source", put_source}, {"job", put_job}};

static enum cw_status put_part(struct writing *w, const struct part *part)
{
    fprintf(w->page, "<script type=\"application/json\" id=\"%s\">\n", part->name);
    w->out = cw_put_into_page(w->page);
    if (!w->out)
        return cw_error_nomem(w->err);
    enum cw_status status = part->put(w);
    fclose(w->out);
    fputs("\n</script>\n", w->page);
    return status;
}

/* ---- the page --------------------------------------------------------------------------------------------------- */

static void put_file(FILE *out, const struct page_file *file)
{
    if (file->tag)
        fprintf(out, "<%s>\n", file->tag);
    fwrite(file->start, 1, (size_t)(file->end - file->start), out);
    if (file->tag)
        fprintf(out, "</%s>\n", file->tag);
}

/* Replaces <!--= name --> of the template. */
static enum cw_status put_named(struct writing *w, const char *name, size_t length)
{
    for (size_t i = 0; i < page_file_count; i++)
        if (strlen(page_files[i].name) == length && memcmp(page_files[i].name, name, length) == 0)
            put_file(w->page, &page_files[i]);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strlen(parts[i].name) == length && memcmp(parts[i].name, name, length) == 0)
            return put_part(w, &parts[i]);
    return CW_OK;
}

static enum cw_status put_page(struct writing *w)
{
    static const char before[] = "<!--= ", after[] = " -->";
    const char *at = page_template.start;
    enum cw_status status = CW_OK;
    while (status == CW_OK) {
        const size_t left = (size_t)(page_template.end - at);
        const char *mark = memmem(at, left, before, sizeof before - 1);
        fwrite(at, 1, mark ? (size_t)(mark - at) : left, w->page);
        if (!mark)
            break;
        const char *name = mark + sizeof before - 1;
        const char *end = memmem(name, (size_t)(page_template.end - name), after, sizeof after - 1);
        status = put_named(w, name, (size_t)(end - name));
        at = end + sizeof after - 1;
    }
    return status;
}

enum cw_status cw_report_check(struct cw_error *err)
{
    return page_whole ? CW_OK
                      : cw_error_set(err, CW_ERR_UNSUPPORTED,
                                     "found a build without the library for charts, expected d3 for pages: "
                                     "install node-d3 and build again");
}

enum cw_status cw_report_write(FILE *out, const void *content, struct cw_error *err)
{
    struct writing w = {.page = out, .report = content, .err = err};
    enum cw_status status = cw_report_check(err);
    if (status == CW_OK)
        status = cw_layout_load(&w.layout, w.report->data_folder, w.report->arena, err);
    if (status == CW_OK && w.report->ranges)
        status = cw_report_kernels_make(&w.kernels, w.report, &w.layout, err);
    if (status == CW_OK)
        status = put_page(&w);
    json_decref(w.layout.tree);
    return status;
}
