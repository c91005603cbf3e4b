#include "eval/timeline/idle.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"

/* How many calls and waits are looked at for causes: so many for each item, and more. */
enum { STEPS = 16, STEPS_FREE = 1 << 20, BEFORE = 16 };

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

static enum cw_idle_cause cause_of(struct cw_idle_search *s, uint32_t name)
{
    if (s->causes[name] == CW_IDLE__COUNT)
        s->causes[name] = (uint8_t)classify(s->t->names[name].shown);
    return (enum cw_idle_cause)s->causes[name];
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

/* The thread called nothing of CUDA. */
static void add_own(struct cw_idle_search *s, struct span span, uint32_t process, double causes[CW_IDLE__COUNT])
{
    struct cw_search search = {0, s->held_count};
    double own = length(span.start, span.end);
    while (search.low < search.high) { /* the first that does not end before it */
        const struct cw_idle_held *h = &s->held[cw_search_middle(&search)];
        cw_search_narrow(&search, h->process < process || (h->process == process && h->end <= span.start));
    }
    for (size_t i = search.low; i < s->held_count; i++) {
        const struct cw_idle_held *h = &s->held[i];
        if (h->process != process || h->start >= span.end)
            break;
        const double part = overlap(span, h->start, h->end);
        causes[h->cause] += part;
        own -= part;
        s->steps++;
    }
    causes[CW_IDLE_OWN] += own;
}

/* What a thread did in a span before `call`: of calls within each other the outermost counts. */
static void add_calls(struct cw_idle_search *s, struct span span, uint32_t call, double causes[CW_IDLE__COUNT])
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
static void add_overheads(struct cw_idle_search *s, struct span span, uint32_t process, double causes[CW_IDLE__COUNT])
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

void cw_idle_find(struct cw_idle_search *s, uint64_t start, uint64_t end, uint32_t after, double causes[CW_IDLE__COUNT])
{
    const struct cw_timeline *t = s->t;
    const struct span span = {start, end};
    const double all = length(start, end);
    const uint32_t call = after == CW_TIMELINE_NONE ? CW_TIMELINE_NONE : t->gpu[after].call;
    const uint64_t most = STEPS * ((uint64_t)t->gpu_count + t->call_count + t->wait_count) + STEPS_FREE;
    s->some_left = s->some_left || s->steps > most;
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
        add_calls(s, (struct span){span.start, begun}, call, causes);
        causes[CW_IDLE_LAUNCH] += length(begun, span.end);
    }
    if (s->steps <= most)
        add_overheads(s, span, t->streams[t->gpu[after].stream].process, causes);
}

/* ---- what holds up others --------------------------------------------------------------------------------------- */

static int by_start(const void *left, const void *right)
{
    const struct cw_idle_held *a = left, *b = right;
    return a->process != b->process ? (a->process > b->process) - (a->process < b->process)
           : a->start != b->start   ? (a->start > b->start) - (a->start < b->start)
                                    : (a->end < b->end) - (a->end > b->end);
}

/* Calls of threads that launch, in which memory was allocated or code loaded. */
static uint32_t list_held(struct cw_idle_search *s, struct cw_idle_held *list)
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
                list[count] = (struct cw_idle_held){c->start, c->end, t->threads[k].process, (uint8_t)cause};
            count++;
        }
    }
    return count;
}

bool cw_idle_search_begin(struct cw_idle_search *s, const struct cw_timeline *t)
{
    *s = (struct cw_idle_search){.t = t, .causes = malloc((size_t)t->name_count + 1)};
    if (!s->causes)
        return false;
    memset(s->causes, CW_IDLE__COUNT, t->name_count);
    const uint32_t count = list_held(s, NULL);
    s->held = calloc((size_t)count + 1, sizeof *s->held);
    if (!s->held)
        return false;
    list_held(s, s->held);
    qsort(s->held, count, sizeof *s->held, by_start);
    for (uint32_t i = 0; i < count; i++) { /* what another one covers is that one's */
        struct cw_idle_held h = s->held[i];
        const struct cw_idle_held *before = s->held_count ? &s->held[s->held_count - 1] : NULL;
        if (before && before->process == h.process && before->end > h.start)
            h.start = before->end;
        if (h.end > h.start)
            s->held[s->held_count++] = h;
    }
    return true;
}

void cw_idle_search_free(struct cw_idle_search *s)
{
    free(s->causes);
    free(s->held);
}
