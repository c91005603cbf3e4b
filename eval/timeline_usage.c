#include "eval/timeline_usage.h"

#include <stdlib.h>
#include <string.h>

#include "eval/order.h"
#include "eval/timeline_groups.h"

/* How many calls and waits are looked at for causes: so many for each item, and more. */
enum { STEPS = 16, STEPS_FREE = 1 << 20, BEFORE = 16 };

struct sweep {
    const struct cw_timeline *t;
    struct cw_timeline_usage *usage;
    struct cw_device_usage *device;
    uint8_t *causes;       /* of calls by name, CW_IDLE__COUNT not known yet */
    uint8_t *communicates; /* of kernels by name, 2 not known yet */
    uint64_t steps;
};

/* ---- what a call is for ----------------------------------------------------------------------------------------- */

static bool has_any(const char *name, const char *const *parts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strstr(name, parts[i]))
            return true;
    return false;
}
#define HAS_ANY(name, ...)                                                                                             \
    has_any(name, (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static enum cw_idle_cause classify(const char *name)
{
    if (HAS_ANY(name, "Malloc", "Free", "MemAlloc", "HostAlloc", "HostRegister", "HostUnregister", "MemCreate",
                "MemMap", "MemUnmap", "MemRelease", "MemAddress", "MemSetAccess", "MemPool"))
        return CW_IDLE_MEMORY;
    if (HAS_ANY(name, "Module", "Library", "cuLink"))
        return CW_IDLE_LOADING;
    if (HAS_ANY(name, "Synchronize", "Query") || (strstr(name, "Memcpy") && !strstr(name, "Async")))
        return CW_IDLE_WAIT;
    return CW_IDLE_CALL;
}

static enum cw_idle_cause cause_of(struct sweep *s, uint32_t name)
{
    if (s->causes[name] == CW_IDLE__COUNT)
        s->causes[name] = (uint8_t)classify(s->t->names[name].shown);
    return (enum cw_idle_cause)s->causes[name];
}

static enum cw_gpu_work work_of(struct sweep *s, const struct cw_timeline_gpu *g)
{
    if (g->kind == CW_TRACE_COPY || g->kind == CW_TRACE_MEMSET)
        return CW_WORK_COPY;
    if (s->communicates[g->name] == 2)
        s->communicates[g->name] = cw_timeline_communicates(s->t->names[g->name].shown);
    return s->communicates[g->name] ? CW_WORK_COMMUNICATE : CW_WORK_COMPUTE;
}

/* ---- why nothing ran -------------------------------------------------------------------------------------------- */

struct span {
    uint64_t start, end;
};

static double length(uint64_t start, uint64_t end)
{
    return end > start ? (double)(end - start) : 0;
}

static double overlap(struct span a, uint64_t start, uint64_t end)
{
    return length(start > a.start ? start : a.start, end < a.end ? end : a.end);
}

/* The calls of a thread before `call` in a span: of those within each other the outermost counts. */
static double add_calls(struct sweep *s, struct span span, uint32_t call, double causes[CW_IDLE__COUNT])
{
    const struct cw_timeline *t = s->t;
    const uint32_t first = t->threads[t->calls[call].thread].calls.first;
    uint32_t least = first, most = call;
    double sum = 0;
    while (least < most) { /* the first that begins in the span */
        const uint32_t middle = least + (most - least) / 2;
        if (t->calls[middle].start < span.start)
            least = middle + 1;
        else
            most = middle;
    }
    uint32_t at = least > first + BEFORE ? least - BEFORE : first;
    for (; at < call && t->calls[at].start < span.end; at++) {
        const struct cw_timeline_call *c = &t->calls[at];
        const double part = overlap(span, c->start, c->end);
        s->steps++;
        if (!(part > 0))
            continue;
        causes[cause_of(s, c->name)] += part;
        sum += part;
        span.start = c->end;
        if (span.start >= span.end)
            break;
    }
    return sum;
}

/* Time of one cause that is of another. */
static void move(double causes[CW_IDLE__COUNT], enum cw_idle_cause to, double time)
{
    static const enum cw_idle_cause from[] = {CW_IDLE_OWN,    CW_IDLE_LAUNCH, CW_IDLE_CALL,
                                              CW_IDLE_MEMORY, CW_IDLE_QUEUED, CW_IDLE_UNKNOWN};
    for (size_t i = 0; i < sizeof from / sizeof *from && time > 0; i++) {
        const double part = causes[from[i]] < time ? causes[from[i]] : time;
        causes[from[i]] -= part;
        causes[to] += part;
        time -= part;
    }
}

/* Overheads of the process in a span. */
static void add_overheads(struct sweep *s, struct span span, uint32_t process, double causes[CW_IDLE__COUNT])
{
    const struct cw_timeline *t = s->t;
    uint32_t least = 0, most = t->wait_count;
    while (least < most) { /* the first that begins in the span */
        const uint32_t middle = least + (most - least) / 2;
        if (t->waits[middle].start < span.start)
            least = middle + 1;
        else
            most = middle;
    }
    for (uint32_t at = least > BEFORE ? least - BEFORE : 0; at < t->wait_count && t->waits[at].start < span.end; at++) {
        const struct cw_timeline_wait *w = &t->waits[at];
        const char *type = t->names[w->type].text;
        s->steps++;
        if (w->kind == CW_TRACE_SYNC || w->process != process)
            continue;
        move(causes,
             w->kind == CW_TRACE_JIT || HAS_ANY(type, "module", "loading", "compiler") ? CW_IDLE_LOADING
             : HAS_ANY(type, "cupti", "activity")                                      ? CW_IDLE_TRACING
                                                                                       : CW_IDLE_CALL,
             overlap(span, w->start, w->end));
    }
}

static void find_causes(struct sweep *s, struct span span, uint32_t after, double causes[CW_IDLE__COUNT])
{
    const struct cw_timeline *t = s->t;
    const double all = length(span.start, span.end);
    const uint32_t call = after == CW_TIMELINE_NONE ? CW_TIMELINE_NONE : t->gpu[after].call;
    const uint64_t most = STEPS * ((uint64_t)t->gpu_count + t->call_count + t->wait_count) + STEPS_FREE;
    s->usage->some_left = s->usage->some_left || s->steps > most;
    if (after == CW_TIMELINE_NONE) {
        causes[CW_IDLE_END] += all;
        return;
    }
    if (call == CW_TIMELINE_NONE || s->steps > most) {
        causes[CW_IDLE_UNKNOWN] += all;
    } else if (t->calls[call].start <= span.start) {
        causes[CW_IDLE_QUEUED] += all;
    } else {
        const uint64_t begun = t->calls[call].start < span.end ? t->calls[call].start : span.end;
        const double of_calls = add_calls(s, (struct span){span.start, begun}, call, causes);
        causes[CW_IDLE_OWN] += length(span.start, begun) - of_calls;
        causes[CW_IDLE_LAUNCH] += length(begun, span.end);
    }
    if (s->steps <= most)
        add_overheads(s, span, t->streams[t->gpu[after].stream].process, causes);
}

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
    find_causes(s, span, after, gap.causes);
    for (enum cw_idle_cause c = 0; c < CW_IDLE__COUNT; c++) {
        d->causes[c] += gap.causes[c];
        mostly = gap.causes[c] > gap.causes[mostly] ? c : mostly;
    }
    d->cause_gaps[mostly]++;
    d->gaps++;
    d->idle += length(span.start, span.end);
    keep_largest(d, &gap);
}

/* What of a gap was traced. */
static void add_gap(struct sweep *s, struct span gap, uint32_t before, uint32_t after)
{
    const struct cw_timeline *t = s->t;
    if (gap.end <= gap.start)
        return;
    if (!t->window_count && !cw_timeline_unopened(t))
        add_piece(s, gap, before, after);
    uint32_t least = 0, most = t->window_count;
    while (least < most) { /* the first that does not end before it */
        const uint32_t middle = least + (most - least) / 2;
        if (t->windows[middle].end <= gap.start)
            least = middle + 1;
        else
            most = middle;
    }
    for (uint32_t i = least; i < t->window_count && t->windows[i].start < gap.end; i++) {
        const struct span piece = {t->windows[i].start > gap.start ? t->windows[i].start : gap.start,
                                   t->windows[i].end < gap.end ? t->windows[i].end : gap.end};
        if (piece.end > piece.start)
            add_piece(s, piece, before, piece.end < gap.end ? CW_TIMELINE_NONE : after);
    }
}

/* ---- what ran --------------------------------------------------------------------------------------------------- */

/* Until the next start: each kind of work goes on for a while from `now` on. */
static void add_work(struct cw_device_usage *d, const uint64_t until[CW_WORK__COUNT], uint64_t now, uint64_t next)
{
    double covered[CW_WORK__COUNT], most = 0;
    for (int w = 0; w < CW_WORK__COUNT; w++) {
        covered[w] = length(now, until[w] < next ? until[w] : next);
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
    for (uint32_t i = 0; i < count; i++) {
        const struct cw_timeline_gpu *g = &t->gpu[order[i]];
        const enum cw_gpu_work work = work_of(s, g);
        add_work(s->device, until, now, g->start);
        add_gap(s, (struct span){busy_until, g->start}, last, order[i]);
        now = g->start;
        until[work] = g->end > until[work] ? g->end : until[work];
        if (g->end >= busy_until) {
            busy_until = g->end;
            last = order[i];
        }
    }
    add_work(s->device, until, now, UINT64_MAX);
    add_gap(s, (struct span){busy_until, t->end}, last, CW_TIMELINE_NONE);
}

static double find_traced(const struct cw_timeline *t)
{
    double sum = t->window_count || cw_timeline_unopened(t) ? 0 : length(t->start, t->end);
    for (uint32_t i = 0; i < t->window_count; i++)
        sum += overlap((struct span){t->start, t->end}, t->windows[i].start, t->windows[i].end);
    return sum;
}

/* ---- launches --------------------------------------------------------------------------------------------------- */

static uint32_t bin_of(uint64_t ns)
{
    const uint32_t power = 63 - (uint32_t)__builtin_clzll(ns | 1);
    const uint64_t eighths = power >= 3 ? ns >> (power - 3) : ns << (3 - power);
    return 8 * power + (uint32_t)(eighths & 7);
}

static void add_latency(struct cw_latency *l, uint64_t ns)
{
    l->bins[bin_of(ns)]++;
    l->least = !l->count || ns < l->least ? ns : l->least;
    l->greatest = ns > l->greatest ? ns : l->greatest;
    l->count++;
}

double cw_latency_quantile(const struct cw_latency *l, double part)
{
    uint64_t passed = 0;
    for (uint32_t b = 0; b < CW_LATENCY_BINS; b++) {
        passed += l->bins[b];
        if (!passed || (double)passed < part * (double)l->count)
            continue;
        const double middle = (double)(UINT64_C(1) << b / 8) * (1 + (b % 8 + 0.5) / 8);
        return middle > (double)l->greatest ? (double)l->greatest
               : middle < (double)l->least  ? (double)l->least
                                            : middle;
    }
    return 0;
}

static void find_latencies(struct cw_timeline_usage *u, const struct cw_timeline *t)
{
    for (uint32_t k = 0; k < t->stream_count; k++) {
        uint64_t busy = 0;
        for (uint32_t i = t->streams[k].gpu.first, end = i + t->streams[k].gpu.count; i < end; i++) {
            const struct cw_timeline_gpu *g = &t->gpu[i];
            const struct cw_timeline_call *call = g->call == CW_TIMELINE_NONE ? NULL : &t->calls[g->call];
            if (call && g->kind == CW_TRACE_KERNEL && !g->in_graph && g->start >= call->start)
                add_latency(busy <= call->start ? &u->at_once : &u->queued, g->start - call->start);
            busy = g->end > busy ? g->end : busy;
        }
    }
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

static bool starts_after(const void *left, const void *right)
{
    const struct cw_timeline_gpu *a = left, *b = right;
    return a->start > b->start;
}

enum cw_status cw_timeline_use(struct cw_timeline_usage *u, const struct cw_timeline *t, struct cw_arena *arena,
                               struct cw_error *err)
{
    struct sweep s = {.t = t,
                      .usage = u,
                      .causes = malloc((size_t)t->name_count + 1),
                      .communicates = malloc((size_t)t->name_count + 1)};
    uint32_t *order = calloc((size_t)t->gpu_count + 1, sizeof *order);
    uint32_t *room = calloc((size_t)t->gpu_count + 1, sizeof *room);
    const double traced = find_traced(t);
    uint32_t count = 0;
    *u = (struct cw_timeline_usage){0};
    for (uint32_t k = 0; k < t->stream_count; k++)
        count += !k || t->streams[k].device != t->streams[k - 1].device;
    u->devices = cw_arena_alloc(arena, count, sizeof *u->devices);
    const bool good = s.causes && s.communicates && order && room && u->devices;
    if (good) {
        memset(s.causes, CW_IDLE__COUNT, t->name_count);
        memset(s.communicates, 2, t->name_count);
    }
    for (uint32_t i = 0; good && i < t->gpu_count; i++)
        order[i] = i;
    const struct cw_order_items items = {t->gpu, sizeof *t->gpu, t->gpu_count};
    for (uint32_t k = 0, end; good && k < t->stream_count; k = end) {
        const uint32_t first = t->streams[k].gpu.first;
        uint32_t run = 0;
        for (end = k; end < t->stream_count && t->streams[end].device == t->streams[k].device; end++)
            run += t->streams[end].gpu.count;
        s.device = &u->devices[u->device_count++];
        *s.device = (struct cw_device_usage){.device = t->streams[k].device, .traced = traced};
        cw_order_sort(&items, order + first, room, run, starts_after);
        sweep_device(&s, order + first, run);
    }
    if (good)
        find_latencies(u, t);
    free(s.causes);
    free(s.communicates);
    free(order);
    free(room);
    return good ? CW_OK : cw_error_nomem(err);
}
