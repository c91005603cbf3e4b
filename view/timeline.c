#include "view/timeline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "view/metrics.h"
#include "view/selection.h"

/* Keeps the processes of --rank. */
static enum cw_status keep_ranks(const struct cw_view_input *in, struct cw_trace *trace)
{
    bool *keep = cw_arena_alloc(in->arena, trace->process_count, sizeof *keep);
    uint32_t kept = 0;
    for (uint32_t p = 0; keep && p < trace->process_count; p++) {
        keep[p] = cw_selection_has_rank(in->request, cw_trace_attribute(&trace->processes[p], "rank"));
        kept += keep[p];
    }
    if (keep && !kept)
        return cw_error_set(in->err, CW_ERR_USAGE, "%s: found no process of the ranks %.200s", in->capture->asked,
                            in->request->ranks);
    return keep && cw_trace_keep(trace, keep, in->arena) ? CW_OK : cw_error_nomem(in->err);
}

/* ---- copies of a trace ------------------------------------------------------------------------------------------ */

/* Identifies a process: no two have the same number, host, rank, first and last time. */
struct identity {
    uint32_t pid, process;
    const char *host, *rank;
    struct cw_timeline_window span;
};

static int compare(const struct identity *a, const struct identity *b)
{
    const int host = strcmp(a->host, b->host);
    return a->pid != b->pid                 ? (a->pid > b->pid) - (a->pid < b->pid)
           : a->span.start != b->span.start ? (a->span.start > b->span.start) - (a->span.start < b->span.start)
           : a->span.end != b->span.end     ? (a->span.end > b->span.end) - (a->span.end < b->span.end)
           : host                           ? host
                                            : strcmp(a->rank, b->rank);
}

static int by_identity(const void *left, const void *right)
{
    const struct identity *a = left, *b = right;
    const int order = compare(a, b);
    return order ? order : (a->process > b->process) - (a->process < b->process);
}

/* Finds copies of earlier processes: a file under two names, or a merged file beside one of its parts. */
static uint32_t find_copies(const struct cw_timeline *t, struct identity *all, bool *keep)
{
    const uint32_t count = t->trace->process_count;
    uint32_t copies = 0;
    for (uint32_t p = 0; p < count; p++) {
        const char *host = cw_timeline_attribute(t, p, "host"), *rank = cw_timeline_attribute(t, p, "rank");
        all[p].pid = t->trace->processes[p].pid;
        all[p].process = p;
        all[p].host = host ? host : "";
        all[p].rank = rank ? rank : "";
        keep[p] = true;
    }
    qsort(all, count, sizeof *all, by_identity);
    for (uint32_t i = 1; i < count; i++)
        if (all[i].span.start && compare(&all[i - 1], &all[i]) == 0) {
            keep[all[i].process] = false;
            copies++;
        }
    return copies;
}

/* Drops copies, with a notice. `copies`: their number. */
static enum cw_status drop_copies(const struct cw_view_input *in, const struct cw_timeline *t, struct cw_trace *trace,
                                  uint32_t *copies)
{
    struct cw_timeline_window *spans = calloc((size_t)trace->process_count + 1, sizeof *spans);
    struct identity *all = calloc((size_t)trace->process_count + 1, sizeof *all);
    bool *keep = cw_arena_alloc(in->arena, trace->process_count, sizeof *keep);
    bool good = spans && all && keep;
    if (good)
        cw_timeline_spans(t, spans);
    for (uint32_t p = 0; good && p < trace->process_count; p++)
        all[p].span = spans[p];
    *copies = good ? find_copies(t, all, keep) : 0;
    good = good && (!*copies || cw_trace_keep(trace, keep, in->arena));
    if (good && *copies)
        cw_notice(in->notices,
                  "%s: found %" PRIu32 " process%s more than once, as in copies of a file: each counts once",
                  in->capture->asked, *copies, *copies == 1 ? "" : "es");
    free(spans);
    free(all);
    return good ? CW_OK : cw_error_nomem(in->err);
}

enum cw_status cw_view_timeline(struct cw_timeline *timeline, const struct cw_view_input *in)
{
    const struct cw_input *file = &in->capture->file;
    const struct cw_counter_data *data = &in->capture->data;
    struct cw_trace *trace = cw_arena_alloc(in->arena, 1, sizeof *trace);
    *timeline = (struct cw_timeline){0};
    enum cw_status status =
        !trace ? cw_error_nomem(in->err)
               : cw_trace_open(trace, data->devices, data->device_count, file, in->capture->asked, in->arena, in->err);
    if (status == CW_OK && in->request->ranks)
        status = keep_ranks(in, trace);
    if (status == CW_OK)
        status = cw_timeline_load(timeline, trace, data, (size_t)file->size, in->arena, in->err);
    uint32_t copies = 0;
    if (status == CW_OK && trace->process_count > 1)
        status = drop_copies(in, timeline, trace, &copies);
    if (status == CW_OK && copies) {
        cw_timeline_free(timeline);
        status = cw_timeline_load(timeline, trace, data, (size_t)file->size, in->arena, in->err);
    }
    if (status == CW_ERR_INPUT && data->damage.places)
        cw_error_add(in->err, "; the damage at offset %" PRIu64 " may have held it", data->damage.first);
    if (status == CW_OK && timeline->unfollowed)
        cw_notice(in->notices,
                  "%s: %" PRIu64 " NVTX range%s nested too deep for a path: at most %d ranges are followed",
                  in->capture->asked, timeline->unfollowed, timeline->unfollowed == 1 ? " is" : "s are",
                  CW_TIMELINE_MOST_OPEN);
    if (status == CW_OK)
        cw_tell_unread(in->capture, timeline->unnamed, 0, in->notices);
    return status;
}

enum cw_status cw_view_share_timeline(struct cw_view_shared *shared, const struct cw_view_input *in)
{
    struct cw_view_input lasting = *in;
    lasting.arena = shared->arena;
    if (shared->read)
        return CW_OK;
    const enum cw_status status = cw_view_timeline(&shared->timeline, &lasting);
    shared->read = status == CW_OK;
    if (!shared->read)
        cw_timeline_free(&shared->timeline);
    return status;
}

void cw_view_share_free(struct cw_view_shared *shared)
{
    if (shared->read)
        cw_timeline_free(&shared->timeline);
    shared->read = false;
}

enum cw_status cw_view_need_rows(const struct cw_timeline *t, const struct cw_view_input *in)
{
    bool any = t->data->complete;
    for (int k = 0; k < CW_TRACE_KIND__COUNT; k++)
        any = any || t->rows[k];
    return any ? CW_OK
               : cw_error_set(in->err, CW_ERR_INPUT, "%s: found no rows before the file ends, expected some",
                              in->capture->asked);
}
