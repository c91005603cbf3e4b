#include "report/trace_names.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/shorten.h"
#include "report/put.h"

/* What a page holds at most: whats, bytes of their texts, and of one of these. */
enum { MOST_WHATS = 10000, MOST_TEXT = 1500000, LONGEST = 16384 };

uint32_t cw_trace_names_add(struct cw_trace_names *n, const struct cw_trace_what *what, uint64_t time)
{
    const uint32_t count = n->keys.count;
    struct cw_trace_what *whats = cw_grown(n->whats, &n->room, count, sizeof *whats);
    n->whats = whats ? whats : n->whats;
    const struct cw_key key = {
        {(uint64_t)what->kind << 32 | what->name, what->parts[0], what->parts[1], what->parts[2]}};
    const uint32_t at = whats ? cw_keys_add(&n->keys, key) : CW_NO_KEY;
    if (at == CW_NO_KEY)
        return CW_TIMELINE_NONE;
    if (at == count)
        whats[at] = *what;
    whats[at].count++;
    whats[at].time += time;
    return at;
}

void cw_trace_names_free(struct cw_trace_names *n)
{
    free(n->whats);
    cw_keys_free(&n->keys);
    *n = (struct cw_trace_names){.timeline = n->timeline};
}

/* ---- texts ------------------------------------------------------------------------------------------------------ */

struct texts { /* names that are on the page */
    const struct cw_timeline *timeline;
    uint32_t *numbers; /* [name]: 1 + its place, 0 none */
    uint32_t *list, count;
    uint8_t *kernels; /* [name]: it is one of a kernel */
    uint64_t bytes;
};

static uint64_t cost_of(const char *text)
{
    uint64_t bytes = 3;
    for (const unsigned char *c = (const unsigned char *)text; *c && bytes <= LONGEST; c++)
        bytes += *c < 32 || *c == '<' || *c == '"' || *c == '\\' || *c == 127 ? 6 : 1;
    return bytes;
}

/* Whether a name is on the page, or still fits. */
static bool fits(struct texts *t, uint32_t name, bool kernel)
{
    if (t->numbers[name])
        return true;
    const uint64_t cost = cost_of(t->timeline->names[name].shown);
    if (cost > LONGEST || t->bytes + cost > MOST_TEXT)
        return false;
    t->bytes += cost + (kernel ? 2 * 70 : 0);
    t->list[t->count++] = name;
    t->numbers[name] = t->count;
    t->kernels[name] = kernel;
    return true;
}

static void put_names(FILE *out, const struct texts *t)
{
    char text[CW_SHORT_SIZE];
    fputs(",\n\"names\":[", out);
    for (uint32_t i = 0; i < t->count; i++) {
        const char *name = t->timeline->names[t->list[i]].shown;
        cw_put_text(out, i ? (t->kernels[t->list[i]] ? ",\n[" : ",") : t->kernels[t->list[i]] ? "[" : "", name);
        if (!t->kernels[t->list[i]])
            continue;
        cw_put_short(out, ",", name);
        cw_put_text(out, ",", cw_shorten_to_family(name, text));
        fputs("]", out);
    }
    fputs("]", out);
}

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
    const struct cw_trace_what *x = *(struct cw_trace_what *const *)a, *y = *(struct cw_trace_what *const *)b;
    if (x->time != y->time)
        return (x->time < y->time) - (x->time > y->time);
    return x->count != y->count ? (x->count < y->count) - (x->count > y->count) : (x > y) - (x < y);
}

static void put_shape(FILE *out, const struct cw_timeline_shape *s)
{
    const uint64_t numbers[] = {s->grid[0],  s->grid[1],   s->grid[2],       s->block[0],      s->block[1],
                                s->block[2], s->registers, s->static_shared, s->dynamic_shared};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        cw_put_count(out, i ? "," : ",\"shape\":[", numbers[i]);
    fputs("]", out);
}

static void put_what(FILE *out, const struct texts *t, const struct cw_trace_what *w)
{
    cw_put_count(out, w->number ? ",\n{\"kind\":" : "\n{\"kind\":", w->kind);
    cw_put_count(out, ",\"name\":", t->numbers[w->name] - 1);
    cw_put_count(out, ",\"count\":", w->count);
    cw_put_count(out, ",\"time\":", w->time);
    if (w->kind == CW_TRACE_KERNEL && w->parts[0]) {
        put_shape(out, &t->timeline->shapes[w->parts[0] - 1]);
    } else if (w->kind == CW_TRACE_COPY) {
        cw_put_count(out, ",\"from\":", t->numbers[w->parts[0]] - 1);
        cw_put_count(out, ",\"to\":", t->numbers[w->parts[1]] - 1);
    } else if (w->kind == CW_TRACE_NVTX_RANGE || w->kind == CW_TRACE_NVTX_MARK) {
        cw_put_count(out, ",\"domain\":", t->numbers[w->parts[0]] - 1);
        cw_put_count(out, ",\"color\":", w->parts[1]);
    } else if (w->kind != CW_TRACE_KERNEL && w->parts[0]) {
        cw_put_count(out, ",\"result\":", w->parts[0]);
    }
    fputs("}", out);
}

static bool is_named(struct texts *t, const struct cw_trace_what *w)
{
    const bool copy = w->kind == CW_TRACE_COPY, nvtx = w->kind == CW_TRACE_NVTX_RANGE || w->kind == CW_TRACE_NVTX_MARK;
    return fits(t, w->name, w->kind == CW_TRACE_KERNEL) && (!(copy || nvtx) || fits(t, w->parts[0], false)) &&
           (!copy || fits(t, w->parts[1], false));
}

/* Gives numbers to those that fit, and one for each kind to what does not. Returns how many of these there are. */
static uint32_t number(FILE *out, struct texts *t, struct cw_trace_what **order, uint32_t count)
{
    struct cw_trace_what others[CW_REPORT_KINDS] = {{0}};
    uint32_t next = 0, left = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct cw_trace_what *w = order[i], *other = &others[w->kind];
        if (next < MOST_WHATS && is_named(t, w)) {
            w->number = next++;
            put_what(out, t, w);
            continue;
        }
        left++;
        w->number = UINT32_MAX;
        other->count += w->count;
        other->time += w->time;
    }
    for (uint32_t k = 0; k < CW_REPORT_KINDS; k++)
        if (others[k].count) {
            others[k].kind = (uint8_t)k;
            others[k].number = next++;
            put_what(out, t, &others[k]);
        }
    for (uint32_t i = 0; i < count; i++)
        if (order[i]->number == UINT32_MAX)
            order[i]->number = others[order[i]->kind].number;
    return left;
}

bool cw_trace_names_put(struct cw_trace_names *n, FILE *out)
{
    const size_t room = (size_t)n->timeline->name_count + 1;
    struct texts t = {n->timeline, calloc(room, sizeof *t.numbers), calloc(room, sizeof *t.list),
                      0,           calloc(room, sizeof *t.kernels), 0};
    struct cw_trace_what **order = calloc((size_t)n->keys.count + 1, sizeof(struct cw_trace_what *));
    const bool enough = t.numbers && t.list && t.kernels && order;
    if (enough) {
        fits(&t, 0, false);
        for (uint32_t i = 0; i < n->keys.count; i++)
            order[i] = &n->whats[i];
        qsort(order, n->keys.count, sizeof(struct cw_trace_what *), by_time);
        fputs(",\n\"kinds\":[", out);
        for (uint32_t k = 0; k < CW_REPORT_KINDS; k++)
            cw_put_text(out, k ? "," : "", k == CW_REPORT_IDLE ? "idle" : cw_trace_kinds[k].name);
        fputs("],\n\"whats\":[", out);
        const uint32_t left = number(out, &t, order, n->keys.count);
        cw_put_count(out, "],\"names_left\":", left);
        put_names(out, &t);
    }
    free(t.numbers);
    free(t.list);
    free(t.kernels);
    free(order);
    return enough;
}
