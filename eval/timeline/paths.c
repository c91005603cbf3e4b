/* The call behind each item, the NVTX ranges around each call, and the texts of their paths. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "eval/order.h"
#include "eval/timeline/parts.h"

/* The items of each process; its threads stand side by side. */
static struct cw_timeline_list *find_processes(const struct cw_timeline *t, size_t list)
{
    struct cw_timeline_list *of = calloc((size_t)t->trace->process_count + 1, sizeof *of);
    for (uint32_t i = 0; of && i < t->thread_count; i++) {
        const struct cw_timeline_list *items = (const void *)((const char *)&t->threads[i] + list);
        struct cw_timeline_list *all = &of[t->threads[i].process];
        all->first = all->count ? all->first : items->first;
        all->count += items->count;
    }
    return of;
}

/* Items of all processes, in another order within each. */
struct sorted {
    struct cw_timeline_list *processes;
    uint32_t *order;
};

static void free_sorted(const struct cw_timeline *t, struct sorted *s)
{
    free(s->processes);
    cw_large_free(t->large, s->order);
}

static bool sort(struct sorted *s, const struct cw_timeline *t, const struct cw_order_items *items, size_t list,
                 cw_order_after *after)
{
    uint32_t *room = cw_large_alloc(t->large, (size_t)items->count + 1, sizeof *room);
    s->processes = find_processes(t, list);
    s->order = cw_large_alloc(t->large, (size_t)items->count + 1, sizeof *s->order);
    const bool good = room && s->processes && s->order;
    for (uint32_t i = 0; good && i < items->count; i++, cw_timeline_step(t))
        s->order[i] = i;
    for (uint32_t p = 0; good && p < t->trace->process_count; p++)
        cw_order_sort(items, s->order + s->processes[p].first, room, s->processes[p].count, after);
    cw_large_free(t->large, room);
    return good;
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

/* The program's own call stands before the calls within it. */
static bool correlates_after(const void *left, const void *right)
{
    const struct cw_timeline_call *a = left, *b = right;
    return a->correlation != b->correlation ? a->correlation > b->correlation
                                            : a->kind != CW_TRACE_RUNTIME && b->kind == CW_TRACE_RUNTIME;
}

/* The call of a correlation; the search begins at *near. */
static uint32_t find_call(const struct cw_timeline *t, const struct sorted *s, uint32_t process, uint32_t correlation,
                          uint32_t *near)
{
    enum { NEARBY = 8 };
    const uint32_t *order = s->order + s->processes[process].first;
    const uint32_t count = s->processes[process].count;
    if (correlation == CW_TIMELINE_NONE)
        return CW_TIMELINE_NONE;
    uint32_t at = *near < count ? *near : 0;
    for (int i = 0; i < NEARBY && at < count && t->calls[order[at]].correlation < correlation; i++)
        at++;
    const bool behind = at < count && t->calls[order[at]].correlation < correlation;
    if (!(at < count && t->calls[order[at]].correlation == correlation &&
          (at == 0 || t->calls[order[at - 1]].correlation != correlation))) {
        struct cw_search search = {behind ? at : 0, behind || at >= count ? count : at + 1};
        while (search.low < search.high)
            cw_search_narrow(&search, t->calls[order[cw_search_middle(&search)]].correlation < correlation);
        at = (uint32_t)search.low;
    }
    if (at >= count || t->calls[order[at]].correlation != correlation)
        return CW_TIMELINE_NONE;
    *near = at;
    return order[at];
}

enum cw_status cw_timeline_find_calls(struct cw_timeline_work *w)
{
    struct cw_timeline *t = w->t;
    struct sorted s = {0};
    uint32_t near = 0;
    const bool good = sort(&s, t, &(struct cw_order_items){t->calls, sizeof *t->calls, t->call_count, t->large},
                           offsetof(struct cw_timeline_thread, calls), correlates_after);
    for (uint32_t i = 0; good && i < t->gpu_count; i++, cw_timeline_step(t)) {
        struct cw_timeline_gpu *g = &t->gpu[i];
        g->call = find_call(t, &s, t->streams[g->stream].process, g->correlation, &near);
        if (g->call != CW_TIMELINE_NONE)
            t->calls[g->call].launched++;
    }
    for (uint32_t i = 0; good && i < t->wait_count; i++, cw_timeline_step(t)) {
        struct cw_timeline_wait *wait = &t->waits[i];
        wait->call = find_call(t, &s, wait->process, wait->correlation, &near);
        if (wait->call != CW_TIMELINE_NONE && wait->thread == CW_TIMELINE_NONE)
            wait->thread = t->calls[wait->call].thread;
    }
    free_sorted(t, &s);
    return good ? CW_OK : cw_error_nomem(w->err);
}

/* ---- NVTX -------------------------------------------------------------------------------------------------------- */

/* Steps for each range and call: the work on very deep ranges that end before ranges within them is bounded. */
enum { STEPS = 128, STEPS_FREE = 1 << 20 };

struct open_ranges { /* the innermost first */
    uint32_t top, depth;
    uint32_t path; /* of a thread: of all ranges open there, CW_TIMELINE_NONE before it is found */
    bool listed;   /* a thread that is in `having` */
};

struct sweep {
    struct cw_timeline_work *w;
    struct open_ranges *threads, process;
    uint32_t *below, *rank;         /* of a range: the one opened before it, and its place in the order of opening */
    uint32_t *soonest;              /* of a range: the one that ends first, of itself and all opened before it */
    uint32_t *having, having_count; /* threads of the process that may have open ranges */
    uint64_t steps;
    bool nomem;
};

static uint64_t end_of(const struct cw_timeline_range *range)
{
    return range->open ? UINT64_MAX : range->end;
}

static void put_on_top(struct sweep *s, struct open_ranges *open, uint32_t range)
{
    const struct cw_timeline_range *ranges = s->w->t->ranges;
    const uint32_t before = open->top == CW_TIMELINE_NONE ? range : s->soonest[open->top];
    s->soonest[range] = end_of(&ranges[before]) < end_of(&ranges[range]) ? before : range;
    s->below[range] = open->top;
    open->top = range;
    open->depth++;
}

/* Drops ranges that ended before the innermost one did. */
static void drop_inner(struct sweep *s, struct open_ranges *open, uint64_t now)
{
    uint32_t kept = CW_TIMELINE_NONE, next; /* the outermost first */
    for (uint32_t range = open->top; range != CW_TIMELINE_NONE; range = next, s->steps += 2) {
        next = s->below[range];
        if (end_of(&s->w->t->ranges[range]) <= now)
            continue;
        s->below[range] = kept;
        kept = range;
    }
    *open = (struct open_ranges){.top = CW_TIMELINE_NONE, .path = CW_TIMELINE_NONE, .listed = open->listed};
    for (uint32_t range = kept; range != CW_TIMELINE_NONE; range = next) {
        next = s->below[range];
        put_on_top(s, open, range);
    }
}

/* The path without its last range, which is the thread's innermost one, unless one of the process is. */
static uint32_t path_without_top(const struct sweep *s, const struct open_ranges *open)
{
    const bool is_last = s->process.top == CW_TIMELINE_NONE || s->rank[open->top] > s->rank[s->process.top];
    return open->path && open->path != CW_TIMELINE_NONE && is_last ? (uint32_t)s->w->paths.items[open->path - 1].part[0]
                                                                   : CW_TIMELINE_NONE;
}

/* Drops ended ranges. Where ranges nest, this takes a step for each. */
static bool drop_ended(struct sweep *s, struct open_ranges *open, uint64_t now)
{
    const struct cw_timeline_range *ranges = s->w->t->ranges;
    bool changed = false;
    for (; open->top != CW_TIMELINE_NONE && end_of(&ranges[s->soonest[open->top]]) <= now; changed = true, s->steps++)
        if (end_of(&ranges[open->top]) <= now) {
            open->path = path_without_top(s, open);
            open->top = s->below[open->top];
            open->depth--;
        } else {
            drop_inner(s, open, now);
        }
    return changed;
}

static uint32_t add_path(struct sweep *s, uint32_t parent, uint32_t range)
{
    const struct cw_timeline_range *r = &s->w->t->ranges[range];
    const uint32_t at = cw_keys_add(&s->w->paths, (struct cw_key){{parent, r->domain, r->name, 0}});
    s->nomem = s->nomem || at == CW_NO_KEY;
    return at == CW_NO_KEY ? 0 : at + 1;
}

/* The path of all ranges open for a thread. */
static uint32_t find_path(struct sweep *s, uint32_t thread)
{
    uint32_t open[2 * CW_TIMELINE_MOST_OPEN], count = 0, path = 0;
    uint32_t a = s->threads[thread].top, b = s->process.top;
    if (s->threads[thread].path != CW_TIMELINE_NONE)
        return s->threads[thread].path;
    while (a != CW_TIMELINE_NONE || b != CW_TIMELINE_NONE) {
        uint32_t *later = b == CW_TIMELINE_NONE || (a != CW_TIMELINE_NONE && s->rank[a] > s->rank[b]) ? &a : &b;
        open[count++] = *later;
        *later = s->below[*later];
    }
    s->steps += count;
    while (count > 0)
        path = add_path(s, path, open[--count]);
    return s->threads[thread].path = path;
}

static void forget_paths(struct sweep *s, uint32_t process_first, uint32_t process_end)
{
    for (uint32_t i = process_first; i < process_end; i++)
        s->threads[i].path = CW_TIMELINE_NONE;
    s->steps += process_end - process_first;
}

/* The threads of a process. */
struct threads {
    uint32_t first, end;
};

static void move_to(struct sweep *s, const struct threads *threads, uint32_t thread, uint64_t now)
{
    drop_ended(s, &s->threads[thread], now);
    if (drop_ended(s, &s->process, now))
        forget_paths(s, threads->first, threads->end);
}

static void open_range(struct sweep *s, const struct threads *threads, uint32_t range, uint32_t rank)
{
    struct cw_timeline *t = s->w->t;
    struct cw_timeline_range *r = &t->ranges[range];
    struct open_ranges *open = r->pushed ? &s->threads[r->thread] : &s->process;
    move_to(s, threads, r->thread, r->start);
    if (open->depth == CW_TIMELINE_MOST_OPEN) {
        t->unfollowed++;
        return;
    }
    const uint32_t outer = find_path(s, r->thread);
    s->rank[range] = rank;
    put_on_top(s, open, range);
    if (r->pushed && !open->listed) {
        open->listed = true;
        s->having[s->having_count++] = r->thread;
    }
    r->path = add_path(s, outer, range);
    if (!r->pushed)
        forget_paths(s, threads->first, threads->end);
    s->threads[r->thread].path = r->path;
}

/* The path of the only thread with open ranges; 0 if several have some, or none. A thread leaves the list when all its
 * ranges have ended, so this looks at two threads for each call, and at one more for each range. */
static uint32_t find_only_path(struct sweep *s, uint64_t now)
{
    uint32_t i = 0;
    while (i < s->having_count && i < 2) {
        struct open_ranges *open = &s->threads[s->having[i]];
        drop_ended(s, open, now);
        if (open->top != CW_TIMELINE_NONE) {
            i++;
            continue;
        }
        open->listed = false;
        s->having[i] = s->having[--s->having_count];
        s->steps++;
    }
    return i == 1 ? find_path(s, s->having[0]) : 0;
}

static void take_call(struct sweep *s, const struct threads *threads, struct cw_timeline_call *call)
{
    move_to(s, threads, call->thread, call->start);
    call->path = find_path(s, call->thread);
    if (call->path)
        return;
    call->path = find_only_path(s, call->start);
    call->other_thread = call->path != 0;
}

/* Ranges and calls of a process, as they began. */
static void sweep_process(struct sweep *s, const struct threads *threads, const uint32_t *ranges, uint32_t range_count,
                          const uint32_t *calls, uint32_t call_count)
{
    struct cw_timeline *t = s->w->t;
    const uint64_t most = STEPS * ((uint64_t)t->range_count + t->call_count) + STEPS_FREE;
    uint32_t r = 0, c = 0;
    s->process = (struct open_ranges){.top = CW_TIMELINE_NONE};
    s->having_count = 0;
    for (; (r < range_count || c < call_count) && s->steps < most && !s->nomem; cw_timeline_step(t))
        if (r < range_count && (c == call_count || t->ranges[ranges[r]].start <= t->calls[calls[c]].start)) {
            open_range(s, threads, ranges[r], r);
            r++;
        } else {
            take_call(s, threads, &t->calls[calls[c++]]);
        }
    t->unfollowed += range_count - r;
}

static bool starts_after(const void *left, const void *right)
{
    return *(const uint64_t *)left > *(const uint64_t *)right;
}

static bool keep_paths(struct cw_timeline_work *w)
{
    struct cw_timeline *t = w->t;
    t->path_count = w->paths.count + 1;
    t->paths = calloc(t->path_count, sizeof *t->paths);
    for (uint32_t i = 1; t->paths && i < t->path_count; i++) {
        const uint64_t *part = w->paths.items[i - 1].part;
        t->paths[i] = (struct cw_timeline_path){(uint32_t)part[0], (uint32_t)part[1], (uint32_t)part[2],
                                                t->paths[part[0]].depth + 1};
    }
    return t->paths;
}

enum cw_status cw_timeline_find_paths(struct cw_timeline_work *w)
{
    struct cw_timeline *t = w->t;
    struct sorted calls = {0}, ranges = {0};
    struct sweep s = {.w = w,
                      .threads = calloc((size_t)t->thread_count + 1, sizeof *s.threads),
                      .below = cw_large_alloc(t->large, (size_t)t->range_count + 1, sizeof *s.below),
                      .rank = cw_large_alloc(t->large, (size_t)t->range_count + 1, sizeof *s.rank),
                      .soonest = cw_large_alloc(t->large, (size_t)t->range_count + 1, sizeof *s.soonest),
                      .having = calloc((size_t)t->thread_count + 1, sizeof *s.having)};
    bool good = s.threads && s.below && s.rank && s.soonest && s.having;
    good = good && (!t->range_count ||
                    (sort(&calls, t, &(struct cw_order_items){t->calls, sizeof *t->calls, t->call_count, t->large},
                          offsetof(struct cw_timeline_thread, calls), starts_after) &&
                     sort(&ranges, t, &(struct cw_order_items){t->ranges, sizeof *t->ranges, t->range_count, t->large},
                          offsetof(struct cw_timeline_thread, ranges), starts_after)));
    for (uint32_t i = 0; good && i < t->thread_count; i++)
        s.threads[i] = (struct open_ranges){.top = CW_TIMELINE_NONE, .path = CW_TIMELINE_NONE};
    struct threads of = {0};
    for (uint32_t p = 0; good && t->range_count && p < t->trace->process_count; p++, of.first = of.end) {
        while (of.end < t->thread_count && t->threads[of.end].process == p)
            of.end++;
        const struct cw_timeline_list *r = &ranges.processes[p], *c = &calls.processes[p];
        if (r->count)
            sweep_process(&s, &of, ranges.order + r->first, r->count, calls.order + c->first, c->count);
    }
    good = good && !s.nomem && keep_paths(w);
    for (uint32_t i = 0; good && i < t->gpu_count; i++, cw_timeline_step(t))
        if (t->gpu[i].call != CW_TIMELINE_NONE) {
            t->gpu[i].path = t->calls[t->gpu[i].call].path;
            t->gpu[i].other_thread = t->calls[t->gpu[i].call].other_thread;
        }
    free_sorted(t, &calls);
    free_sorted(t, &ranges);
    free(s.threads);
    cw_large_free(t->large, s.below);
    cw_large_free(t->large, s.rank);
    cw_large_free(t->large, s.soonest);
    free(s.having);
    return good ? CW_OK : cw_error_nomem(w->err);
}

enum { DEEPEST = 2 * CW_TIMELINE_MOST_OPEN };

/* ---- texts of names ---------------------------------------------------------------------------------------------- */

/* "step *" for "step 12"; a name without numbers is its own pattern. NULL when out of memory. */
static const char *make_pattern(const char *name, struct cw_arena *arena)
{
    static const char digits[] = "0123456789";
    if (!name[strcspn(name, digits)])
        return name;
    char *pattern = cw_arena_alloc(arena, strlen(name) + 1, 1), *to = pattern;
    while (pattern && *name) {
        const size_t number = strspn(name, digits);
        *to++ = number ? '*' : *name;
        name += number ? number : 1;
    }
    return pattern;
}

static bool make_part(struct cw_timeline_part *part, const char *name, struct cw_arena *arena)
{
    if (part->pattern)
        return true;
    part->pattern = make_pattern(name, arena);
    part->sum = cw_text_sum(name, strlen(name));
    if (part->pattern)
        part->pattern_sum = part->pattern == name ? part->sum : cw_text_sum(part->pattern, strlen(part->pattern));
    return part->pattern;
}

enum cw_status cw_timeline_measure_paths(struct cw_timeline_work *w, size_t file_size)
{
    /* the texts of all paths take a multiple of the file, like all memory of a reader (tests/fuzz/README.md) */
    enum { FREE = 16 << 20, TIMES = 32, LEAST = 160 };
    struct cw_timeline *t = w->t;
    struct cw_timeline_part *parts = cw_arena_alloc(w->arena, t->name_count, sizeof *parts);
    size_t *lengths = calloc((size_t)t->path_count + 1, sizeof *lengths), total = 0;
    bool good = parts && lengths;
    for (uint32_t p = 1; good && p < t->path_count; p++) {
        const struct cw_timeline_path *path = &t->paths[p];
        good = make_part(&parts[path->name], t->names[path->name].text, w->arena) &&
               make_part(&parts[path->domain], t->names[path->domain].text, w->arena);
        lengths[p] = lengths[path->parent] + parts[path->name].sum.length + parts[path->domain].sum.length + 2;
        total += lengths[p] < CW_TIMELINE_NAME_SIZE ? lengths[p] : CW_TIMELINE_NAME_SIZE;
    }
    free(lengths);
    t->parts = parts;
    t->path_size = total / TIMES > FREE / TIMES + file_size ? LEAST : CW_TIMELINE_NAME_SIZE;
    return good ? CW_OK : cw_error_nomem(w->err);
}

/* ---- texts of paths ---------------------------------------------------------------------------------------------- */

/* Lists the paths around a path, and itself, the outermost first. */
static uint32_t list_path(const struct cw_timeline *t, uint32_t path, uint32_t list[DEEPEST])
{
    const uint32_t count = t->paths[path].depth < DEEPEST ? t->paths[path].depth : DEEPEST;
    for (uint32_t i = count; i-- > 0; path = t->paths[path].parent)
        list[i] = path;
    return count;
}

enum stars { EVERYWHERE, NOWHERE, WHERE_MIXED };

struct path {
    const struct cw_timeline *t;
    enum stars stars;
    const bool *mixed; /* [path] */
    uint32_t count, list[DEEPEST];
};

static bool has_stars(const struct path *p, uint32_t i)
{
    return p->stars == EVERYWHERE || (p->stars == WHERE_MIXED && p->mixed[p->list[i]]);
}

static struct cw_text_sum sum_up(const struct path *p)
{
    const struct cw_text_sum slash = cw_text_sum("/", 1), at = cw_text_sum("@", 1);
    struct cw_text_sum sum = cw_text_sum("", 0);
    for (uint32_t i = 0; i < p->count; i++) {
        const struct cw_timeline_path *path = &p->t->paths[p->list[i]];
        const struct cw_timeline_part *name = &p->t->parts[path->name];
        if (i)
            sum = cw_text_sum_join(sum, slash);
        if (path->domain)
            sum = cw_text_sum_join(cw_text_sum_join(sum, p->t->parts[path->domain].sum), at);
        sum = cw_text_sum_join(sum, has_stars(p, i) ? name->pattern_sum : name->sum);
    }
    return sum;
}

static const char *put_path(struct path *p, uint32_t path, char text[CW_TIMELINE_NAME_SIZE])
{
    const struct cw_timeline *t = p->t;
    struct cw_elided out;
    p->count = list_path(t, path, p->list);
    cw_elided_begin(&out, sum_up(p), text, t->path_size);
    for (uint32_t i = 0; i < p->count; i++) {
        const struct cw_timeline_path *of = &t->paths[p->list[i]];
        const struct cw_timeline_part *name = &t->parts[of->name];
        if (i)
            cw_elided_add(&out, "/", 1);
        if (of->domain) {
            cw_elided_add(&out, t->names[of->domain].text, t->parts[of->domain].sum.length);
            cw_elided_add(&out, "@", 1);
        }
        if (has_stars(p, i))
            cw_elided_add(&out, name->pattern, name->pattern_sum.length);
        else
            cw_elided_add(&out, t->names[of->name].text, name->sum.length);
    }
    return cw_elided_end(&out);
}

const char *cw_timeline_path_text(const struct cw_timeline *t, uint32_t path, char text[CW_TIMELINE_NAME_SIZE])
{
    return put_path(&(struct path){.t = t, .stars = NOWHERE}, path, text);
}

const char *const *cw_timeline_path_texts(const struct cw_timeline *t, bool patterns, struct cw_arena *arena)
{
    const char **texts = cw_arena_alloc(arena, t->path_count, sizeof *texts);
    struct path path = {.t = t, .stars = patterns ? EVERYWHERE : NOWHERE};
    char text[CW_TIMELINE_NAME_SIZE];
    for (uint32_t p = 0; texts && p < t->path_count; p++)
        if (!(texts[p] = cw_arena_strdup(arena, put_path(&path, p, text))))
            return NULL;
    return texts;
}

const char *cw_timeline_path_pattern(const struct cw_timeline *t, uint32_t path, const bool *mixed,
                                     char text[CW_TIMELINE_NAME_SIZE])
{
    return put_path(&(struct path){.t = t, .stars = WHERE_MIXED, .mixed = mixed}, path, text);
}

const char *cw_timeline_path_numbers(const struct cw_timeline *t, uint32_t path, const bool *mixed,
                                     char text[CW_TIMELINE_NAME_SIZE])
{
    uint32_t list[DEEPEST];
    const uint32_t count = list_path(t, path, list);
    size_t used = 0;
    for (uint32_t i = 0; i < count; i++)
        for (const char *name = t->names[t->paths[list[i]].name].text; mixed[list[i]] && *name;) {
            size_t digits = 0;
            while (isdigit((unsigned char)name[digits]))
                digits++;
            if (digits && used && used + 1 < CW_TIMELINE_NAME_SIZE)
                text[used++] = '/';
            for (size_t k = 0; k < digits && used + 1 < CW_TIMELINE_NAME_SIZE; k++)
                text[used++] = name[k];
            name += digits ? digits : 1;
        }
    text[used] = 0;
    return text;
}
