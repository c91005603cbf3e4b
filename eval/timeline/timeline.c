#include "eval/timeline/timeline.h"

#include <stdlib.h>
#include <string.h>

void cw_timeline_free(struct cw_timeline *t)
{
    void *const lists[] = {t->shapes, t->windows, t->accounts, t->paths, t->cut};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        free(lists[i]);
    if (t->large)
        cw_large_free_all(t->large);
    *t = (struct cw_timeline){0};
}

enum cw_status cw_timeline_each(const struct cw_timeline *t, enum cw_trace_kind kind, cw_timeline_take *take,
                                void *context, struct cw_error *err)
{
    struct cw_trace_buffer buffer = {0};
    enum cw_status status = CW_OK;
    for (size_t b = 0; b < t->trace->block_count && status == CW_OK; b++) {
        struct cw_trace_rows rows;
        if (t->trace->kinds[t->trace->blocks[b].kind].kind != kind)
            continue;
        status = cw_trace_read_rows(&rows, t->trace, b, &buffer, err);
        if (status == CW_OK)
            status = take(context, &rows, b, err);
    }
    cw_trace_buffer_free(&buffer);
    return status;
}

const char *cw_timeline_attribute(const struct cw_timeline *t, uint32_t process, const char *key)
{
    return cw_trace_attribute(&t->trace->processes[process], key);
}

static void widen(struct cw_timeline_window *span, uint64_t start, uint64_t end)
{
    span->start = !span->start || start < span->start ? start : span->start;
    span->end = end > span->end ? end : span->end;
}

void cw_timeline_spans(const struct cw_timeline *t, struct cw_timeline_window *spans)
{
    memset(spans, 0, t->trace->process_count * sizeof *spans);
    for (uint32_t i = 0; i < t->gpu_count; i++, cw_timeline_step(t))
        widen(&spans[t->streams[t->gpu[i].stream].process], t->gpu[i].start, t->gpu[i].end);
    for (uint32_t i = 0; i < t->call_count; i++, cw_timeline_step(t))
        widen(&spans[t->threads[t->calls[i].thread].process], t->calls[i].start, t->calls[i].end);
    for (uint32_t i = 0; i < t->wait_count; i++, cw_timeline_step(t))
        widen(&spans[t->waits[i].process], t->waits[i].start, t->waits[i].end);
    for (uint32_t i = 0; i < t->range_count; i++, cw_timeline_step(t))
        widen(&spans[t->threads[t->ranges[i].thread].process], t->ranges[i].start,
              t->ranges[i].open ? t->ranges[i].start : t->ranges[i].end);
    for (uint32_t i = 0; i < t->mark_count; i++, cw_timeline_step(t))
        widen(&spans[t->threads[t->marks[i].thread].process], t->marks[i].start, t->marks[i].start);
}

const char *cw_timeline_unopened(const struct cw_timeline *t)
{
    const char *windows = NULL;
    for (uint32_t p = 0; p < t->trace->process_count && !t->window_count; p++) {
        windows = cw_timeline_attribute(t, p, "windows");
        if (!windows)
            break;
    }
    return windows;
}
