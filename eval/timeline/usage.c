#include "eval/timeline/usage.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "eval/order.h"
#include "eval/timeline/groups.h"

/* The most calls and waits that the search for causes looks at: so many for each item, and some more. */
enum { STEPS = 16, STEPS_FREE = 1 << 20, BEFORE = 16 };

struct idle_search {
    const struct cw_timeline *t;
    uint8_t *causes; /* [name of a call], CW_IDLE__COUNT not known yet */
    struct held {
        uint64_t start, end;
        uint32_t process;
        uint8_t cause;
    } * held; /* times in which calls may hold up other threads, by process and start, apart */
    uint32_t held_count;
    uint64_t steps;
    bool some_left; /* more gaps than the search takes */
};

/* ---- purposes of calls ------------------------------------------------------------------------------------------- */

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

static enum cw_idle_cause cause_of(struct idle_search *s, uint32_t name)
{
    if (s->causes[name] == CW_IDLE__COUNT)
        s->causes[name] = (uint8_t)classify(s->t->names[name].shown);
    return (enum cw_idle_cause)s->causes[name];
}

/* ---- causes of idle times ---------------------------------------------------------------------------------------- */

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

/* Adds a time in which the thread called nothing of CUDA. */
static void add_own(struct idle_search *s, struct span span, uint32_t process, double causes[CW_IDLE__COUNT])
{
    struct cw_search search = {0, s->held_count};
    double own = length(span.start, span.end);
    while (search.low < search.high) { /* the first that ends after its begin */
        const struct held *h = &s->held[cw_search_middle(&search)];
        cw_search_narrow(&search, h->process < process || (h->process == process && h->end <= span.start));
    }
    for (size_t i = search.low; i < s->held_count; i++) {
        const struct held *h = &s->held[i];
        if (h->process != process || h->start >= span.end)
            break;
        const double part = overlap(span, h->start, h->end);
        causes[h->cause] += part;
        own -= part;
        s->steps++;
    }
    causes[CW_IDLE_OWN] += own;
}

/* Adds the thread's calls in a span before `call`. Among nested calls the outermost counts. */
static void add_calls(struct idle_search *s, struct span span, uint32_t call, double causes[CW_IDLE__COUNT])
{
    const struct cw_timeline *t = s->t;
    const uint32_t first = t->threads[t->calls[call].thread].calls.first;
    const uint32_t process = t->threads[t->calls[call].thread].process;
    struct cw_search search = {first, call};
    while (search.low < search.high)
        cw_search_narrow(&search, t->calls[cw_search_middle(&search)].start < span.start);
    for (size_t at = search.low > (size_t)first + BEFORE ? search.low - BEFORE : first;
         at < call && t->calls[at].start < span.end; at++) {
        const struct cw_timeline_call *c = &t->calls[at];
        const double part = overlap(span, c->start, c->end);
        s->steps++;
        if (!(part > 0))
            continue;
        causes[cause_of(s, c->name)] += part;
        if (c->start > span.start)
            add_own(s, (struct span){span.start, c->start}, process, causes);
        span.start = c->end;
        if (span.start >= span.end)
            return;
    }
    add_own(s, span, process, causes);
}

/* Moves time from other causes to one. */
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

/* Adds overheads of the process in a span. */
static void add_overheads(struct idle_search *s, struct span span, uint32_t process, double causes[CW_IDLE__COUNT])
{
    const struct cw_timeline *t = s->t;
    struct cw_search search = {0, t->wait_count};
    while (search.low < search.high)
        cw_search_narrow(&search, t->waits[cw_search_middle(&search)].start < span.start);
    size_t at = search.low > BEFORE ? search.low - BEFORE : 0;
    for (; at < t->wait_count && t->waits[at].start < span.end; at++) {
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

static void find_causes(struct idle_search *s, uint64_t start, uint64_t end, uint32_t after,
                        double causes[CW_IDLE__COUNT])
{
    const struct cw_timeline *t = s->t;
    const struct span span = {start, end};
    const double all = length(start, end);
    const uint32_t call = after == CW_TIMELINE_NONE ? CW_TIMELINE_NONE : t->gpu[after].call;
    const uint64_t most = STEPS * ((uint64_t)t->gpu_count + t->call_count + t->wait_count) + STEPS_FREE;
    s->some_left = s->some_left || s->steps > most;
    if (after == CW_TIMELINE_NONE) {
        causes[t->data->complete && !t->window_count ? CW_IDLE_END : CW_IDLE_UNKNOWN] += all;
        return;
    }
    if (call == CW_TIMELINE_NONE || s->steps > most) {
        causes[CW_IDLE_UNKNOWN] += all;
    } else if (t->calls[call].start < span.start) {
        causes[CW_IDLE_QUEUED] += all;
    } else {
        const uint64_t begun = t->calls[call].start < span.end ? t->calls[call].start : span.end;
        add_calls(s, (struct span){span.start, begun}, call, causes);
        causes[CW_IDLE_LAUNCH] += length(begun, span.end);
    }
    if (s->steps <= most)
        add_overheads(s, span, t->streams[t->gpu[after].stream].process, causes);
}

/* ---- calls that hold up other threads ---------------------------------------------------------------------------- */

static int by_start(const void *left, const void *right)
{
    const struct held *a = left, *b = right;
    return a->process != b->process ? (a->process > b->process) - (a->process < b->process)
           : a->start != b->start   ? (a->start > b->start) - (a->start < b->start)
                                    : (a->end < b->end) - (a->end > b->end);
}

/* Lists calls that allocate memory or load code, of threads that launch. */
static uint32_t list_held(struct idle_search *s, struct held *list)
{
    const struct cw_timeline *t = s->t;
    uint32_t count = 0;
    for (uint32_t k = 0; k < t->thread_count; k++) {
        const struct cw_timeline_list calls = t->threads[k].calls;
        bool launches = false;
        for (uint32_t i = calls.first; i < calls.first + calls.count && !launches; i++, cw_timeline_step(t))
            launches = t->calls[i].launched;
        for (uint32_t i = calls.first; i < calls.first + calls.count && launches; i++, cw_timeline_step(t)) {
            const struct cw_timeline_call *c = &t->calls[i];
            const enum cw_idle_cause cause = cause_of(s, c->name);
            if (cause != CW_IDLE_MEMORY && cause != CW_IDLE_LOADING)
                continue;
            if (list)
                list[count] = (struct held){c->start, c->end, t->threads[k].process, (uint8_t)cause};
            count++;
        }
    }
    return count;
}

static bool begin_search(struct idle_search *s, const struct cw_timeline *t)
{
    *s = (struct idle_search){.t = t, .causes = malloc((size_t)t->name_count + 1)};
    if (!s->causes)
        return false;
    memset(s->causes, CW_IDLE__COUNT, t->name_count);
    const uint32_t count = list_held(s, NULL);
    s->held = calloc((size_t)count + 1, sizeof *s->held);
    if (!s->held)
        return false;
    list_held(s, s->held);
    qsort(s->held, count, sizeof *s->held, by_start);
    for (uint32_t i = 0; i < count; i++) { /* the earlier one has the common time */
        struct held h = s->held[i];
        const struct held *before = s->held_count ? &s->held[s->held_count - 1] : NULL;
        if (before && before->process == h.process && before->end > h.start)
            h.start = before->end;
        if (h.end > h.start)
            s->held[s->held_count++] = h;
    }
    return true;
}

static void free_search(struct idle_search *s)
{
    free(s->causes);
    free(s->held);
}

struct sweep {
    const struct cw_timeline *t;
    struct cw_timeline_usage *usage;
    struct cw_device_usage *device;
    uint64_t end; /* the device's time is known until here */
    struct idle_search idle;
    uint8_t *communicates; /* [name of a kernel], 2 not known yet */
    struct looked *looked; /* the times that count, in order and apart */
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

/* ---- times that count -------------------------------------------------------------------------------------------- */

/* A time that counts. */
struct looked {
    uint64_t start, end;
    bool last; /* the time after it was not traced */
};

/* Finds the common times of windows, without which all the time counts, and `within`. */
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

/* The first that ends after a time. */
static uint32_t find_first(const struct sweep *s, uint64_t time)
{
    struct cw_search search = {0, s->looked_count};
    while (search.low < search.high)
        cw_search_narrow(&search, s->looked[cw_search_middle(&search)].end <= time);
    return (uint32_t)search.low;
}

/* How much of a time counts. Call it with later and later times. */
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

/* ---- gaps -------------------------------------------------------------------------------------------------------- */

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
    find_causes(&s->idle, span.start, span.end, after, gap.causes);
    for (enum cw_idle_cause c = 0; c < CW_IDLE__COUNT; c++) {
        d->causes[c] += gap.causes[c];
        mostly = gap.causes[c] > gap.causes[mostly] ? c : mostly;
    }
    d->cause_gaps[mostly]++;
    d->gaps++;
    d->idle += length(span.start, span.end);
    keep_largest(d, &gap);
}

/* Adds the pieces of a gap that count. */
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

/* ---- work -------------------------------------------------------------------------------------------------------- */

/* Adds the time until the next start: each kind of work goes on for a while from `now` on. */
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
    uint32_t last = CW_TIMELINE_NONE; /* the last that ran until then */
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

/* Until when a device's time is known, by its streams: to the end, or, if one of its processes was cut off, to the last
 * row of such a process or of the device. */
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

/* ---- launches ---------------------------------------------------------------------------------------------------- */

static uint64_t find_most(struct cw_large *large, const uint64_t *values, size_t count)
{
    uint64_t most = 0;
    for (size_t i = 0; i < count; i++, cw_large_step(large))
        most = values[i] > most ? values[i] : most;
    return most;
}

/* The value that would have `less` values before it in order; the greatest is `most`. Goes digit by digit from the
 * first one in use, so the order of values does not change its time. */
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

/* ---- devices ----------------------------------------------------------------------------------------------------- */

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
    bool good = begin_search(&s.idle, t) && find_looked(&s, within, within_count) && s.communicates && order && room &&
                spans && u->devices;
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
    free_search(&s.idle);
    free(s.looked);
    free(spans);
    free(s.communicates);
    cw_large_free(t->large, order);
    cw_large_free(t->large, room);
    cw_large_let_go(t->large);
    return good ? CW_OK : cw_error_nomem(err);
}

struct cw_device_usage cw_timeline_usage_sum(const struct cw_timeline_usage *u)
{
    struct cw_device_usage sum = {0};
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

/* ---- clocks ------------------------------------------------------------------------------------------------------ */

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

/* A stream's launches before the time at hand. Items of a stream run one after another. */
struct stream {
    uint32_t next;
    uint32_t last; /* the one that ends last, or CW_TIMELINE_NONE */
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

/* Checks waits for streams only: a wait for a context may be for streams without records. */
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
