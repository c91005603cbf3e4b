/* What cannot be in a timeline: effects before their causes. */
#include <stdlib.h>
#include <string.h>

#include "eval/timeline/usage.h"

static void check_launches(struct cw_causality *c, const struct cw_timeline *t)
{
    for (uint32_t i = 0; i < t->gpu_count; i++, cw_timeline_step(t)) {
        const struct cw_timeline_gpu *g = &t->gpu[i];
        if (g->call == CW_TIMELINE_NONE)
            continue;
        const uint64_t called = t->calls[g->call].start;
        c->launches++;
        if (g->start >= called)
            continue;
        c->early++;
        if (called - g->start > c->most_early) {
            c->most_early = called - g->start;
            c->earliest = i;
        }
    }
}

/* Of a stream: what was launched before the time that is looked at. Streams run one after another. */
struct stream {
    uint32_t next;
    uint32_t last; /* that ends last, or CW_TIMELINE_NONE */
};

static void check_wait(struct cw_causality *c, const struct cw_timeline *t, const struct cw_timeline_wait *wait,
                       struct stream *stream, uint32_t index)
{
    const uint32_t end = t->streams[index].gpu.first + t->streams[index].gpu.count;
    for (; stream->next < end; stream->next++, cw_timeline_step(t)) {
        const struct cw_timeline_gpu *g = &t->gpu[stream->next];
        if (g->call == CW_TIMELINE_NONE)
            continue;
        if (t->calls[g->call].end > wait->start)
            break;
        if (stream->last == CW_TIMELINE_NONE || g->end > t->gpu[stream->last].end)
            stream->last = stream->next;
    }
    c->waits++;
    if (stream->last == CW_TIMELINE_NONE || t->gpu[stream->last].end <= wait->end)
        return;
    const uint64_t late = t->gpu[stream->last].end - wait->end;
    c->late++;
    if (late > c->most_late) {
        c->most_late = late;
        c->latest = stream->last;
    }
}

/* Waits for streams alone: a wait for a context is for streams that nobody may have told of. */
static void check_waits(struct cw_causality *c, const struct cw_timeline *t, struct stream *streams)
{
    for (uint32_t i = 0; i < t->stream_count; i++)
        streams[i] = (struct stream){t->streams[i].gpu.first, CW_TIMELINE_NONE};
    for (uint32_t i = 0; i < t->wait_count; i++, cw_timeline_step(t)) {
        const struct cw_timeline_wait *wait = &t->waits[i];
        const char *type = t->names[wait->type].text;
        if (wait->kind == CW_TRACE_SYNC && wait->stream != CW_TIMELINE_NONE && strcmp(type, "stream") == 0)
            check_wait(c, t, wait, &streams[wait->stream], wait->stream);
    }
}

struct cw_causality cw_timeline_check_clocks(const struct cw_timeline *t)
{
    struct cw_causality c = {.earliest = CW_TIMELINE_NONE, .latest = CW_TIMELINE_NONE};
    struct stream *streams = calloc((size_t)t->stream_count + 1, sizeof *streams);
    check_launches(&c, t);
    if (streams)
        check_waits(&c, t, streams);
    free(streams);
    return c;
}
