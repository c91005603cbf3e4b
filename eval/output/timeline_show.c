/* The contents of a trace, and the rows that it lost. */
#define _GNU_SOURCE
#include "eval/output/timeline_output.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "eval/output/capture.h"
#include "eval/output/terminal.h"

/* ---- losses ------------------------------------------------------------------------------------------------------ */

struct loss {
    bool known;                            /* there are record counts of kernels */
    uint64_t kernels, missing, untimed;    /* launched kernels; lost rows; rows without times */
    uint64_t of_graphs;                    /* kernels that CUDA graphs ran, not in `kernels` */
    uint32_t cut;                          /* killed processes, whose last rows are lost */
    uint64_t of[CW_TRACE_KIND__COUNT + 1]; /* lost rows by kind; the last: of other kinds */
};

/* Adds up accounts, without unknown numbers. */
static uint64_t add_known(uint64_t sum, uint64_t value)
{
    return value == CW_TRACE_UNKNOWN ? sum : sum + value;
}

static struct loss find_loss(const struct cw_timeline *t)
{
    struct loss loss = {0};
    uint64_t dropped = 0, dropped_of[CW_TRACE_KIND__COUNT + 1] = {0}, recorded[CW_TRACE_KIND__COUNT + 1] = {0};
    for (uint32_t i = 0; i < t->account_count; i++) {
        const struct cw_timeline_account *account = &t->accounts[i];
        const bool both = account->launched != CW_TRACE_UNKNOWN && account->recorded != CW_TRACE_UNKNOWN;
        const enum cw_trace_kind kind = cw_trace_kind_find(account->kind);
        dropped = add_known(dropped, account->dropped);
        dropped_of[kind] = add_known(dropped_of[kind], account->dropped);
        recorded[kind] = add_known(recorded[kind], account->recorded);
        if (both && account->launched > account->recorded) {
            loss.missing += account->launched - account->recorded;
            loss.of[kind] += account->launched - account->recorded;
        }
        if (strcmp(account->kind, "kernel") == 0 && both) {
            loss.known = true;
            loss.kernels += account->launched;
        }
    }
    for (int k = 0; k < CW_TRACE_KIND__COUNT; k++)
        loss.untimed += t->untimed[k];
    if (dropped > loss.missing) {
        loss.missing = dropped;
        memcpy(loss.of, dropped_of, sizeof loss.of);
    }
    for (int k = 0; k < CW_TRACE_KIND__COUNT && !t->data->complete; k++) {
        const uint64_t gone = recorded[k] > t->rows[k] ? recorded[k] - t->rows[k] : 0;
        loss.missing += gone;
        loss.of[k] += gone;
    }
    for (uint32_t p = 0; p < t->trace->process_count && t->data->complete; p++)
        loss.cut += t->cut[p];
    if (loss.known && t->rows[CW_TRACE_KERNEL] > recorded[CW_TRACE_KERNEL])
        loss.of_graphs = t->rows[CW_TRACE_KERNEL] - recorded[CW_TRACE_KERNEL];
    return loss;
}

static bool is_empty(const struct cw_timeline *t)
{
    uint64_t rows = 0;
    for (int k = 0; k < CW_TRACE_KIND__COUNT; k++)
        rows += k == CW_TRACE_ENVIRONMENT ? 0 : t->rows[k];
    return !rows && t->data->complete;
}

/* " (kernel 3, copy 1)" */
static void put_kinds(FILE *out, const uint64_t *of)
{
    const char *before = " (";
    char text[CW_NUMBER_SIZE];
    for (int k = 0; k <= CW_TRACE_KIND__COUNT; k++)
        if (of[k]) {
            fprintf(out, "%s%s %s", before, k < CW_TRACE_KIND__COUNT ? cw_trace_kinds[k].name : "of any kind",
                    cw_terminal_integer(of[k], text));
            before = ", ";
        }
    if (*before == ',')
        putc(')', out);
}

/* Prints the lost rows by kind. */
static void put_missing(const struct cw_timeline *t, const struct loss *loss, const char *until, FILE *out)
{
    char text[CW_NUMBER_SIZE];
    uint64_t untimed[CW_TRACE_KIND__COUNT + 1] = {0};
    memcpy(untimed, t->untimed, sizeof t->untimed);
    fprintf(out, "Lost%s: ", until);
    if (loss->missing) {
        fprintf(out, "%s row%s not here", cw_terminal_integer(loss->missing, text),
                loss->missing == 1 ? " is" : "s are");
        put_kinds(out, loss->of);
    }
    if (loss->untimed) {
        fprintf(out, "%s%s%s no times", loss->missing ? ", and " : "", cw_terminal_integer(loss->untimed, text),
                loss->untimed == 1 ? " has" : " have");
        put_kinds(out, untimed);
    }
    fputs(".\n", out);
}

/* Prints the damage, or whose last rows are lost. */
static void put_cut(const struct cw_timeline *t, const struct loss *loss, FILE *out)
{
    const struct cw_damage *damage = &t->data->damage;
    char places[CW_NUMBER_SIZE], bytes[CW_NUMBER_SIZE];
    if (damage->places)
        fprintf(out, "The file is damaged in %s place%s: the rows in %s bytes are lost.\n",
                cw_terminal_integer(damage->places, places), damage->places == 1 ? "" : "s",
                cw_terminal_integer(damage->bytes, bytes));
    else if (!t->data->complete)
        fputs("The file lacks its end: the last launches are missing.\n", out);
    else if (loss->cut)
        fprintf(out, "%" PRIu32 " of %" PRIu32 " process%s ended before %s had sent all: the last rows are lost.\n",
                loss->cut, t->trace->process_count, t->trace->process_count == 1 ? "" : "es",
                loss->cut == 1 ? "it" : "they");
}

static int by_start(const void *left, const void *right)
{
    const struct cw_timeline_window *a = left, *b = right;
    return (a->start > b->start) - (a->start < b->start);
}

/* If processes did not run at one time, their idle GPUs mean little. */
static void put_apart(const struct cw_timeline *t, FILE *out)
{
    struct cw_timeline_window *spans = calloc((size_t)t->trace->process_count + 1, sizeof *spans);
    char text[CW_TIME_TEXT_SIZE];
    double between = 0;
    uint64_t until = 0;
    if (!spans)
        return;
    cw_timeline_spans(t, spans);
    qsort(spans, t->trace->process_count, sizeof *spans, by_start);
    for (uint32_t i = 0; i < t->trace->process_count; i++) {
        if (!spans[i].start)
            continue;
        between += until && spans[i].start > until ? (double)(spans[i].start - until) : 0;
        until = spans[i].end > until ? spans[i].end : until;
    }
    if (between > 0.5 * (double)(t->end - t->start))
        fprintf(out, "The processes did not run at the same time: for %s no process ran.\n",
                cw_terminal_time(between, text));
    free(spans);
}

void cw_timeline_put_loss(const struct cw_timeline *t, FILE *out)
{
    const struct loss loss = find_loss(t);
    const char *until = t->data->complete ? "" : ", as far as the file goes";
    char a[CW_NUMBER_SIZE], b[CW_NUMBER_SIZE];
    if (cw_timeline_unopened(t))
        cw_text_print(out, "No window opened (%s): nothing was traced.\n", cw_timeline_unopened(t));
    else if (loss.missing || loss.untimed)
        put_missing(t, &loss, until, out);
    else if (loss.known)
        fprintf(out, "%s%s: %s kernel%s launched, and %s here%s%s%s.\n",
                loss.cut || *until ? "Known" : "Nothing was lost", until, cw_terminal_integer(loss.kernels, a),
                loss.kernels == 1 ? " was" : "s were", loss.kernels == 1 ? "is" : "all are", loss.of_graphs ? "; " : "",
                loss.of_graphs ? cw_terminal_integer(loss.of_graphs, b) : "",
                loss.of_graphs ? " more ran in CUDA graphs" : "");
    else if (is_empty(t))
        fputs("No event to record happened while it was traced.\n", out);
    else
        fputs("Losses are not known: the file has no record counts of kernels.\n", out);
    put_cut(t, &loss, out);
    put_apart(t, out);
    if (t->window_count) {
        double traced = 0;
        char text[CW_TIME_TEXT_SIZE];
        for (uint32_t i = 0; i < t->window_count; i++)
            traced += (double)((t->windows[i].end < t->end ? t->windows[i].end : t->end) - t->windows[i].start);
        fprintf(out, "Traced in %s window%s, %s in all.\n", cw_terminal_integer(t->window_count, a),
                t->window_count == 1 ? "" : "s", cw_terminal_time(traced, text));
    }
}

/* ---- contents ---------------------------------------------------------------------------------------------------- */

/* Bytes of the blocks of a kind. */
static uint64_t bytes_of(const struct cw_trace *trace, uint32_t kind)
{
    uint64_t bytes = 0;
    for (size_t b = 0; b < trace->block_count; b++)
        bytes += trace->blocks[b].kind == kind ? trace->blocks[b].size : 0;
    return bytes;
}

/* Prints the text of `fill` from `column` on, in lines of the terminal that break between words. */
static enum cw_status put_words(FILE *out, unsigned column, void (*fill)(const void *of, FILE *words), const void *of)
{
    char *text = NULL;
    size_t size = 0;
    FILE *words = open_memstream(&text, &size);
    if (words)
        fill(of, words);
    const bool filled = words && !ferror(words);
    const bool good = words && fclose(words) == 0 && filled;
    if (good)
        cw_text_put_words(out, text, size, column, cw_text_width(fileno(out)));
    putc('\n', out);
    free(text);
    return good ? CW_OK : CW_ERR_NOMEM;
}

static void fill_fields(const void *of, FILE *words)
{
    const struct cw_trace_kind_read *kind = of;
    for (uint32_t f = 0; f < kind->field_count; f++)
        cw_text_print(words, "%s%s", f ? " " : "", kind->fields[f].name);
}

static enum cw_status put_read_kinds(const struct cw_timeline *t, FILE *out)
{
    enum { MOST = 48 }; /* of a line before its fields, unless the name is hostile */
    const struct cw_trace *trace = t->trace;
    enum cw_status status = CW_OK;
    fputs("kinds:\n", out);
    for (uint32_t k = 0; k < trace->kind_count && status == CW_OK; k++) {
        const struct cw_trace_kind_read *kind = &trace->kinds[k];
        char number[CW_NUMBER_SIZE], rows[CW_NUMBER_SIZE + 64];
        if (!kind->rows)
            continue;
        cw_text_format(rows, sizeof rows, ": %s rows of %.1f bytes: ", cw_terminal_integer(kind->rows, number),
                       (double)bytes_of(trace, k) / (double)kind->rows);
        cw_text_print(out, "  %s%s", kind->name, rows);
        const size_t column = 2 + cw_text_columns(kind->name) + strlen(rows);
        status = put_words(out, column < MOST ? (unsigned)column : MOST, fill_fields, kind);
    }
    return status;
}

static void fill_process(const void *of, FILE *words)
{
    const struct cw_trace_process *process = of;
    cw_text_print(words, "%" PRIu32, process->pid);
    for (uint32_t i = 0; i < process->attribute_count; i++)
        cw_text_print(words, ", %s %s", process->attributes[i].key, process->attributes[i].value);
}

static enum cw_status put_processes(const struct cw_timeline *t, FILE *out)
{
    struct cw_job_ranks job = {0};
    enum cw_status status = CW_OK;
    if (cw_job_ranks_add_trace(&job, t->trace, NULL) == CW_OK)
        cw_capture_show_ranks(&job, out);
    cw_job_ranks_free(&job);
    for (uint32_t p = 0; p < t->trace->process_count && status == CW_OK; p++) {
        fputs("process:   ", out);
        status = put_words(out, strlen("process:   "), fill_process, &t->trace->processes[p]);
    }
    if (cw_timeline_unopened(t))
        fputs("windows:   none opened, so nothing was traced\n", out);
    return status;
}

static void put_account(const char *what, uint64_t value, FILE *out)
{
    char number[CW_NUMBER_SIZE];
    if (value != CW_TRACE_UNKNOWN)
        cw_text_print(out, " %s %s,", cw_terminal_integer(value, number), what);
}

/* "  kernel of process 4000: 1,204 launched, 1,200 recorded, 4 dropped, 0 without times" */
static void put_record_counts(const struct cw_timeline *t, FILE *out)
{
    char number[CW_NUMBER_SIZE];
    fputs(t->account_count ? "record counts:\n" : "record counts: none\n", out);
    for (uint32_t i = 0; i < t->account_count; i++) {
        const struct cw_timeline_account *a = &t->accounts[i];
        cw_text_print(out, "  %s of process %" PRIu32 "%s:", a->kind, t->trace->processes[a->process].pid,
                      t->process_marks[a->process]);
        put_account("launched", a->launched, out);
        put_account("recorded", a->recorded, out);
        put_account("dropped", a->dropped, out);
        cw_text_print(out, " %s without times\n",
                      cw_terminal_integer(a->untimed == CW_TRACE_UNKNOWN ? 0 : a->untimed, number));
        if (*a->note)
            cw_text_print(out, "    %s\n", a->note);
    }
    for (int k = 0; k < CW_TRACE_KIND__COUNT; k++)
        if (t->untimed[k])
            cw_text_print(out, "untimed:   %s of %s, which are in no sum of time\n",
                          cw_terminal_integer(t->untimed[k], number), cw_trace_kinds[k].name);
}

static void put_worst(const struct cw_timeline *t, uint64_t count, uint64_t all, uint64_t most, uint32_t item,
                      const char *what, FILE *out)
{
    char a[CW_NUMBER_SIZE], b[CW_NUMBER_SIZE], text[CW_TIME_TEXT_SIZE];
    cw_text_print(out, "  %s of %s %s", cw_terminal_integer(count, a), cw_terminal_integer(all, b), what);
    if (count)
        cw_text_print(out, ", by %s at most: %s", cw_terminal_time((double)most, text),
                      t->names[t->gpu[item].name].shown);
    putc('\n', out);
}

/* No effect comes before its cause. If one seems to, the clocks of CPU and GPU differ by at least that time. */
static void put_clocks(const struct cw_timeline *t, FILE *out)
{
    const struct cw_causality c = cw_timeline_check_clocks(t);
    if (!c.launches && !c.waits)
        return;
    fputs("clocks of CPU and GPU:\n", out);
    put_worst(t, c.early, c.launches, c.most_early, c.earliest, "ran before the call that launched them", out);
    put_worst(t, c.late, c.waits, c.most_late, c.latest, "synchronizations ended before the work that they waited for",
              out);
}

enum cw_status cw_timeline_show(const struct cw_timeline *t, FILE *out, struct cw_error *err)
{
    char text[CW_TIME_TEXT_SIZE];
    enum cw_status status = put_processes(t, out);
    cw_text_print(out, "span:      %s\n", cw_terminal_time((double)(t->end - t->start), text));
    if (status == CW_OK)
        status = put_read_kinds(t, out);
    put_record_counts(t, out);
    put_clocks(t, out);
    return status == CW_OK ? CW_OK : cw_error_nomem(err);
}

/* ---- for programs ----------------------------------------------------------------------------------------------- */

static json_t *list_kinds(const struct cw_timeline *t)
{
    json_t *list = json_array();
    for (uint32_t k = 0; k < t->trace->kind_count; k++) {
        const struct cw_trace_kind_read *kind = &t->trace->kinds[k];
        json_t *fields = json_array();
        if (!kind->rows) {
            json_decref(fields);
            continue;
        }
        for (uint32_t f = 0; f < kind->field_count; f++)
            cw_json_append(&fields, json_string(kind->fields[f].name));
        cw_json_append(&list, json_pack("{s:s, s:I, s:I, s:o}", "kind", kind->name, "rows", (json_int_t)kind->rows,
                                        "bytes", (json_int_t)bytes_of(t->trace, k), "fields", fields));
    }
    return list;
}

static json_t *known(uint64_t value)
{
    return value == CW_TRACE_UNKNOWN ? json_null() : json_integer((json_int_t)value);
}

static json_t *list_record_counts(const struct cw_timeline *t)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < t->account_count; i++) {
        const struct cw_timeline_account *a = &t->accounts[i];
        const bool both = a->launched != CW_TRACE_UNKNOWN && a->recorded != CW_TRACE_UNKNOWN;
        cw_json_append(&list, json_pack("{s:I, s:s, s:o, s:o, s:o, s:o, s:o, s:s}", "process",
                                        (json_int_t)t->trace->processes[a->process].pid, "kind", a->kind, "launched",
                                        known(a->launched), "recorded", known(a->recorded), "lost",
                                        !both                       ? json_null()
                                        : a->launched > a->recorded ? known(a->launched - a->recorded)
                                                                    : json_integer(0),
                                        "dropped", known(a->dropped), "untimed", known(a->untimed), "note", a->note));
    }
    return list;
}

json_t *cw_timeline_manifest(const struct cw_timeline *t)
{
    const struct cw_causality c = cw_timeline_check_clocks(t);
    json_t *processes = json_array(), *windows = json_array();
    for (uint32_t p = 0; p < t->trace->process_count; p++) {
        const struct cw_trace_process *process = &t->trace->processes[p];
        cw_json_append(&processes, json_pack("{s:I, s:o}", "process", (json_int_t)process->pid, "attributes",
                                             cw_capture_pairs(process->attributes, process->attribute_count)));
    }
    for (uint32_t i = 0; i < t->window_count; i++)
        cw_json_append(&windows, json_pack("{s:I, s:I}", "start_ns", (json_int_t)t->windows[i].start, "end_ns",
                                           (json_int_t)t->windows[i].end));
    json_t *clocks =
        json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "launches", (json_int_t)c.launches, "early", (json_int_t)c.early,
                  "most_early_ns", (json_int_t)c.most_early, "waits", (json_int_t)c.waits, "late", (json_int_t)c.late,
                  "most_late_ns", (json_int_t)c.most_late);
    json_t *object = json_pack("{s:I, s:I, s:o, s:o, s:o, s:o, s:o}", "start_ns", (json_int_t)t->start, "end_ns",
                               (json_int_t)t->end, "processes", processes, "windows", windows, "kinds", list_kinds(t),
                               "record_counts", list_record_counts(t), "clocks", clocks);
    struct cw_job_ranks job = {0};
    if (cw_job_ranks_add_trace(&job, t->trace, NULL) != CW_OK) {
        json_decref(object);
        object = NULL;
    }
    cw_capture_set_ranks(&object, &job);
    cw_job_ranks_free(&job);
    return object;
}
