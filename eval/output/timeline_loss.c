/* What a trace lacks, in words. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "eval/output/terminal.h"
#include "eval/output/timeline_output.h"

struct loss {
    bool known;                         /* there are books of kernels */
    uint64_t kernels, missing, untimed; /* kernels that were launched; rows that are not there; that have no times */
    uint64_t of_graphs; /* kernels beside these, which CUDA graphs ran: nobody launched them by itself */
    uint32_t cut;       /* processes of which what came last is lost, as they were killed */
    uint64_t of[CW_TRACE_KIND__COUNT + 1]; /* what is missing, by kind, and of kinds that the books do not tell apart */
};

/* What all accounts of a number say; those that do not know it say nothing. */
static uint64_t add_known(uint64_t sum, uint64_t value)
{
    return value == CW_TRACE_UNKNOWN ? sum : sum + value;
}

static struct loss find_loss(const struct cw_timeline *t)
{
    struct loss loss = {0};
    uint64_t dropped = 0, recorded = 0, dropped_of[CW_TRACE_KIND__COUNT + 1] = {0};
    for (uint32_t i = 0; i < t->account_count; i++) {
        const struct cw_timeline_account *account = &t->accounts[i];
        const bool both = account->launched != CW_TRACE_UNKNOWN && account->recorded != CW_TRACE_UNKNOWN;
        const enum cw_trace_kind kind = cw_trace_kind_find(account->kind);
        dropped = add_known(dropped, account->dropped);
        dropped_of[kind] = add_known(dropped_of[kind], account->dropped);
        if (both && account->launched > account->recorded) {
            loss.missing += account->launched - account->recorded;
            loss.of[kind] += account->launched - account->recorded;
        }
        if (strcmp(account->kind, "kernel") == 0 && both) {
            loss.known = true;
            loss.kernels += account->launched;
            recorded += account->recorded;
        }
    }
    for (int k = 0; k < CW_TRACE_KIND__COUNT; k++)
        loss.untimed += t->untimed[k];
    if (dropped > loss.missing) {
        loss.missing = dropped;
        memcpy(loss.of, dropped_of, sizeof loss.of);
    }
    for (uint32_t p = 0; p < t->trace->process_count && t->data->complete; p++)
        loss.cut += t->cut[p];
    if (loss.known && t->rows[CW_TRACE_KERNEL] > recorded)
        loss.of_graphs = t->rows[CW_TRACE_KERNEL] - recorded;
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

/* What is lost, and of which kinds. */
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

/* Whose last rows are not here. */
static void put_cut(const struct cw_timeline *t, const struct loss *loss, FILE *out)
{
    if (!t->data->complete)
        fputs("The file lacks its end: what was launched last is missing.\n", out);
    else if (loss->cut)
        fprintf(out, "%" PRIu32 " of %" PRIu32 " processes ended before %s had sent all: what came last is lost.\n",
                loss->cut, t->trace->process_count, loss->cut == 1 ? "it" : "they");
}

static int by_start(const void *left, const void *right)
{
    const struct cw_timeline_window *a = left, *b = right;
    return (a->start > b->start) - (a->start < b->start);
}

/* Traces of processes that did not run at one time say together little of idle GPUs. */
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
        fprintf(out, "The processes did not run at one time: for %s of this none was there.\n",
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
        fprintf(out, "%s%s: %s kernels were launched, and all are here%s%s%s.\n",
                loss.cut || *until ? "Known" : "Nothing was lost", until, cw_terminal_integer(loss.kernels, a),
                loss.of_graphs ? "; " : "", loss.of_graphs ? cw_terminal_integer(loss.of_graphs, b) : "",
                loss.of_graphs ? " more ran in CUDA graphs" : "");
    else if (is_empty(t))
        fputs("Nothing of what was to be recorded happened while it was traced.\n", out);
    else
        fputs("What was lost is not known: the file has no books.\n", out);
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
