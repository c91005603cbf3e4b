#include "eval/timeline/usage.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "eval/order.h"
#include "eval/timeline/groups.h"

struct sweep {
    const struct cw_timeline *t;
    struct cw_timeline_usage *usage;
    struct cw_device_usage *device;
    uint64_t end; /* until when it is known what the device did */
    struct cw_idle_search idle;
    uint8_t *communicates; /* of kernels by name, 2 not known yet */
    struct looked *looked; /* in order, and apart */
    uint32_t looked_count, at;
};

static enum cw_gpu_work work_of(struct sweep *s, const struct cw_timeline_gpu *g)
{
    if (g->kind == CW_TRACE_COPY || g->kind == CW_TRACE_MEMSET)
        return CW_WORK_COPY;
    if (s->communicates[g->name] == 2)
        s->communicates[g->name] = cw_timeline_communicates(s->t->names[g->name].shown);
    return s->communicates[g->name] ? CW_WORK_COMMUNICATE : CW_WORK_COMPUTE;
}

struct span {
    uint64_t start, end;
};

static double length(uint64_t start, uint64_t end)
{
    return end > start ? (double)(end - start) : 0;
}

/* ---- what is looked at ------------------------------------------------------------------------------------------ */

/* A time that is looked at. */
struct looked {
    uint64_t start, end;
    bool last; /* what comes after it was not traced */
};

/* What windows, none of which are all the time, and `within` have in common. */
static bool find_looked(struct sweep *s, const struct cw_timeline_window *within, uint32_t within_count)
{
    const struct cw_timeline *t = s->t;
    const struct cw_timeline_window all = {t->start, t->end};
    const struct cw_timeline_window *windows = t->window_count ? t->windows : &all;
    const uint32_t window_count = t->window_count ? t->window_count : cw_timeline_unopened(t) ? 0 : 1;
    const struct cw_timeline_window *spans = within_count ? within : &all;
    const uint32_t span_count = within_count ? within_count : 1;
    s->looked = calloc((size_t)window_count + span_count + 1, sizeof *s->looked);
    for (uint32_t w = 0, i = 0; s->looked && w < window_count && i < span_count;) {
        const uint64_t window_end = windows[w].end < t->end ? windows[w].end : t->end;
        const uint64_t start = windows[w].start > spans[i].start ? windows[w].start : spans[i].start;
        const uint64_t end = window_end < spans[i].end ? window_end : spans[i].end;
        if (end > start)
            s->looked[s->looked_count++] = (struct looked){start, end, t->window_count && end == window_end};
        if (window_end <= spans[i].end)
            w++;
        else
            i++;
    }
    return s->looked;
}

/* The first that does not end before a time. */
static uint32_t find_first(const struct sweep *s, uint64_t time)
{
    struct cw_search search = {0, s->looked_count};
    while (search.low < search.high)
        cw_search_narrow(&search, s->looked[cw_search_middle(&search)].end <= time);
    return (uint32_t)search.low;
}

/* How much of a time is looked at; times begin later and later. */
static double looked_at(struct sweep *s, uint64_t start, uint64_t end)
{
    double sum = 0;
    while (s->at < s->looked_count && s->looked[s->at].end <= start)
        s->at++;
    for (uint32_t i = s->at; i < s->looked_count && s->looked[i].start < end; i++)
        sum += length(start > s->looked[i].start ? start : s->looked[i].start,
                      end < s->looked[i].end ? end : s->looked[i].end);
    return sum;
}

/* ---- gaps ------------------------------------------------------------------------------------------------------- */

static void keep_largest(struct cw_device_usage *d, const struct cw_idle_gap *gap)
{
    uint32_t at = d->largest_count;
    if (at == CW_IDLE_LARGEST) {
        at--;
        if (length(d->largest[at].start, d->largest[at].end) >= length(gap->start, gap->end))
            return;
    } else {
        d->largest_count++;
    }
    while (at > 0 && length(d->largest[at - 1].start, d->largest[at - 1].end) < length(gap->start, gap->end)) {
        d->largest[at] = d->largest[at - 1];
        at--;
    }
    d->largest[at] = *gap;
}

static void add_piece(struct sweep *s, struct span span, uint32_t before, uint32_t after)
{
    struct cw_device_usage *d = s->device;
    struct cw_idle_gap gap = {.start = span.start, .end = span.end, .before = before, .after = after};
    enum cw_idle_cause mostly = 0;
    cw_idle_find(&s->idle, span.start, span.end, after, gap.causes);
    for (enum cw_idle_cause c = 0; c < CW_IDLE__COUNT; c++) {
        d->causes[c] += gap.causes[c];
        mostly = gap.causes[c] > gap.causes[mostly] ? c : mostly;
    }
    d->cause_gaps[mostly]++;
    d->gaps++;
    d->idle += length(span.start, span.end);
    keep_largest(d, &gap);
}

/* What of a gap is looked at. */
static void add_gap(struct sweep *s, struct span gap, uint32_t before, uint32_t after)
{
    if (gap.end <= gap.start)
        return;
    for (uint32_t i = find_first(s, gap.start); i < s->looked_count && s->looked[i].start < gap.end; i++) {
        const struct looked *l = &s->looked[i];
        const struct span piece = {l->start > gap.start ? l->start : gap.start, l->end < gap.end ? l->end : gap.end};
        if (piece.end > piece.start)
            add_piece(s, piece, before, piece.end < gap.end && l->last ? CW_TIMELINE_NONE : after);
    }
}

/* ---- what ran --------------------------------------------------------------------------------------------------- */

/* Until the next start: each kind of work goes on for a while from `now` on. */
static void add_work(struct sweep *s, const uint64_t until[CW_WORK__COUNT], uint64_t now, uint64_t next)
{
    struct cw_device_usage *d = s->device;
    double covered[CW_WORK__COUNT], most = 0;
    for (int w = 0; w < CW_WORK__COUNT; w++) {
        covered[w] = looked_at(s, now, until[w] < next ? until[w] : next);
        most = covered[w] > most ? covered[w] : most;
        d->work[w] += covered[w];
    }
    for (int w = 0; w < CW_WORK__COUNT; w++) {
        double others = 0;
        for (int o = 0; o < CW_WORK__COUNT; o++)
            others = o != w && covered[o] > others ? covered[o] : others;
        d->alone[w] += covered[w] > others ? covered[w] - others : 0;
    }
    d->busy += most;
}

static void sweep_device(struct sweep *s, const uint32_t *order, uint32_t count)
{
    const struct cw_timeline *t = s->t;
    uint64_t until[CW_WORK__COUNT] = {0}, busy_until = t->start, now = t->start;
    uint32_t last = CW_TIMELINE_NONE; /* that ran until then */
    s->at = 0;
    for (uint32_t i = 0; i < count; i++, cw_timeline_step(t)) {
        const struct cw_timeline_gpu *g = &t->gpu[order[i]];
        const enum cw_gpu_work work = work_of(s, g);
        add_work(s, until, now, g->start);
        add_gap(s, (struct span){busy_until, g->start}, last, order[i]);
        now = g->start;
        until[work] = g->end > until[work] ? g->end : until[work];
        if (g->end >= busy_until) {
            busy_until = g->end;
            last = order[i];
        }
    }
    add_work(s, until, now, UINT64_MAX);
    add_gap(s, (struct span){busy_until, s->end}, last, CW_TIMELINE_NONE);
}

/* Until when it is known what a device did, whose streams these are: to the end, or, where a process of it was cut off,
 * to the last row of such a process or of the device. */
static uint64_t known_until(const struct cw_timeline *t, const struct cw_timeline_window *spans, uint32_t first,
                            uint32_t end)
{
    uint64_t last = 0;
    bool cut = false;
    for (uint32_t k = first; k < end; k++) {
        const uint32_t process = t->streams[k].process;
        const struct cw_timeline_list list = t->streams[k].gpu;
        cut = cut || t->cut[process];
        last = t->cut[process] && spans[process].end > last ? spans[process].end : last;
        for (uint32_t i = list.first; i < list.first + list.count; i++, cw_timeline_step(t))
            last = t->gpu[i].end > last ? t->gpu[i].end : last;
    }
    return cut ? last : t->end;
}

static double looked_until(const struct sweep *s, uint64_t end)
{
    double sum = 0;
    for (uint32_t i = 0; i < s->looked_count; i++)
        sum += length(s->looked[i].start, s->looked[i].end < end ? s->looked[i].end : end);
    return sum;
}

/* ---- launches --------------------------------------------------------------------------------------------------- */

static uint64_t find_most(struct cw_large *large, const uint64_t *values, size_t count)
{
    uint64_t most = 0;
    for (size_t i = 0; i < count; i++, cw_large_step(large))
        most = values[i] > most ? values[i] : most;
    return most;
}

/* The value that so many are less than, were they in order; the greatest is `most`. Digit by digit, from the first that
 * any has: it takes the same time whatever their order is. */
static uint64_t select(struct cw_large *large, const uint64_t *values, size_t count, size_t less, uint64_t most)
{
    uint64_t found = 0;
    int first = 0;
    while (first < 56 && most >> first > 255)
        first += 8;
    for (int shift = first; shift >= 0; shift -= 8) {
        size_t counts[256] = {0}, digit = 0;
        for (size_t i = 0; i < count; i++, cw_large_step(large))
            if (shift == first || values[i] >> (shift + 8) == found >> (shift + 8))
                counts[values[i] >> shift & 255]++;
        while (less >= counts[digit])
            less -= counts[digit++];
        found |= (uint64_t)digit << shift;
    }
    return found;
}

static struct cw_latency latency_of(struct cw_large *large, const uint64_t *times, size_t count)
{
    static const unsigned percent[CW_LATENCY_ALL] = {50, 90, 99};
    struct cw_latency l = {.count = count};
    const uint64_t most = find_most(large, times, count);
    for (int p = 0; count && p < CW_LATENCY_ALL; p++)
        l.within[p] = select(large, times, count, (count * percent[p] + 99) / 100 - 1, most);
    l.within[CW_LATENCY_ALL] = most;
    return l;
}

static bool find_latencies(struct cw_timeline_usage *u, const struct cw_timeline *t)
{
    /* at once from the front, others from behind */
    uint64_t *times = cw_large_alloc(t->large, (size_t)t->gpu_count + 1, sizeof *times);
    size_t at_once = 0, queued = 0;
    for (uint32_t k = 0; times && k < t->stream_count; k++) {
        uint64_t busy = 0;
        for (uint32_t i = t->streams[k].gpu.first, end = i + t->streams[k].gpu.count; i < end;
             i++, cw_timeline_step(t)) {
            const struct cw_timeline_gpu *g = &t->gpu[i];
            const struct cw_timeline_call *call = g->call == CW_TIMELINE_NONE ? NULL : &t->calls[g->call];
            if (call && g->kind == CW_TRACE_KERNEL && !g->in_graph && g->start >= call->start)
                times[busy <= call->start ? at_once++ : t->gpu_count - ++queued] = g->start - call->start;
            busy = g->end > busy ? g->end : busy;
        }
    }
    if (times) {
        u->at_once = latency_of(t->large, times, at_once);
        u->queued = latency_of(t->large, times + t->gpu_count - queued, queued);
    }
    cw_large_free(t->large, times);
    return times;
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

static bool starts_after(const void *left, const void *right)
{
    const struct cw_timeline_gpu *a = left, *b = right;
    return a->start > b->start;
}

enum cw_status cw_timeline_use(struct cw_timeline_usage *u, const struct cw_timeline *t,
                               const struct cw_timeline_window *within, uint32_t within_count, struct cw_arena *arena,
                               struct cw_error *err)
{
    struct sweep s = {.t = t, .usage = u, .communicates = malloc((size_t)t->name_count + 1)};
    uint32_t *order = cw_large_alloc(t->large, (size_t)t->gpu_count + 1, sizeof *order);
    uint32_t *room = cw_large_alloc(t->large, (size_t)t->gpu_count + 1, sizeof *room);
    struct cw_timeline_window *spans = calloc((size_t)t->trace->process_count + 1, sizeof *spans);
    uint32_t count = 0;
    *u = (struct cw_timeline_usage){0};
    for (uint32_t k = 0; k < t->stream_count; k++)
        count += !k || t->streams[k].device != t->streams[k - 1].device;
    u->devices = cw_arena_alloc(arena, count, sizeof *u->devices);
    bool good = cw_idle_search_begin(&s.idle, t) && find_looked(&s, within, within_count) && s.communicates && order &&
                room && u->devices;
    if (good)
        memset(s.communicates, 2, t->name_count);
    if (good)
        cw_timeline_spans(t, spans);
    for (uint32_t i = 0; good && i < t->gpu_count; i++, cw_timeline_step(t))
        order[i] = i;
    const struct cw_order_items items = {t->gpu, sizeof *t->gpu, t->gpu_count, t->large};
    for (uint32_t k = 0, end; good && k < t->stream_count; k = end) {
        const uint32_t first = t->streams[k].gpu.first;
        uint32_t run = 0;
        for (end = k; end < t->stream_count && t->streams[end].device == t->streams[k].device; end++)
            run += t->streams[end].gpu.count;
        s.end = known_until(t, spans, k, end);
        s.device = &u->devices[u->device_count++];
        *s.device = (struct cw_device_usage){.device = t->streams[k].device, .traced = looked_until(&s, s.end)};
        cw_order_sort(&items, order + first, room, run, starts_after);
        sweep_device(&s, order + first, run);
    }
    good = good && find_latencies(u, t);
    u->some_left = s.idle.some_left;
    cw_idle_search_free(&s.idle);
    free(s.looked);
    free(spans);
    free(s.communicates);
    cw_large_free(t->large, order);
    cw_large_free(t->large, room);
    cw_large_let_go(t->large);
    return good ? CW_OK : cw_error_nomem(err);
}

struct cw_idle_sum cw_idle_add(const struct cw_timeline_usage *u)
{
    struct cw_idle_sum sum = {0};
    for (uint32_t i = 0; i < u->device_count; i++) {
        const struct cw_device_usage *d = &u->devices[i];
        sum.traced += d->traced;
        sum.busy += d->busy;
        sum.idle += d->idle;
        sum.gaps += d->gaps;
        for (int c = 0; c < CW_IDLE__COUNT; c++) {
            sum.causes[c] += d->causes[c];
            sum.cause_gaps[c] += d->cause_gaps[c];
        }
    }
    return sum;
}
