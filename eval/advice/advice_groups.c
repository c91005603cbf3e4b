/* Turns advice on kernels into advice on groups of their launches. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eval/advice/advice.h"

/* The part of a group's time that a note needs. */
static const double NOTED = 0.5;

struct summing {
    const struct cw_advice *advice;
    uint32_t *kernel_of; /* [range], CW_NONE without one */
    double *time;        /* [kernel], ns in the group at hand; below 0 in a malicious file */
    bool *is_in;         /* [kernel]: whether the group at hand has it */
    uint32_t *in;        /* kernels of the group at hand */
    uint32_t in_count;
    double *limited;              /* [limiter], ns in the group at hand */
    struct cw_advice_part *parts; /* [rule] */
    struct cw_arena *arena;
};

static bool start(struct summing *s, const struct cw_advice *advice)
{
    const struct cw_groups *kernels = advice->groups;
    s->advice = advice;
    s->kernel_of = cw_arena_alloc(s->arena, kernels->range_count, sizeof *s->kernel_of);
    s->time = cw_arena_alloc(s->arena, kernels->count, sizeof *s->time);
    s->is_in = cw_arena_alloc(s->arena, kernels->count, sizeof *s->is_in);
    s->in = cw_arena_alloc(s->arena, kernels->count, sizeof *s->in);
    s->limited = cw_arena_alloc(s->arena, advice->rules->limiter_count, sizeof *s->limited);
    s->parts = cw_arena_alloc(s->arena, advice->rules->rule_count, sizeof *s->parts);
    if (!s->kernel_of || !s->time || !s->is_in || !s->in || !s->limited || !s->parts)
        return false;
    for (uint32_t i = 0; i < kernels->range_count; i++)
        s->kernel_of[i] = CW_NONE;
    for (uint32_t k = 0; k < kernels->count; k++)
        for (uint32_t i = 0; i < kernels->items[k].count; i++)
            s->kernel_of[kernels->items[k].ranges[i]] = k;
    return true;
}

/* Finds a group's kernels, and their time in it. */
static void find_kernels(struct summing *s, const struct cw_group *group)
{
    for (uint32_t i = 0; i < s->in_count; i++)
        s->is_in[s->in[i]] = false;
    s->in_count = 0;
    for (uint32_t i = 0; i < group->count; i++) {
        const uint32_t k = s->kernel_of[group->ranges[i]];
        const double ns = s->advice->groups->durations[group->ranges[i]];
        if (k == CW_NONE || isnan(ns))
            continue;
        if (!s->is_in[k]) {
            s->is_in[k] = true;
            s->in[s->in_count++] = k;
            s->time[k] = 0;
        }
        s->time[k] += ns;
    }
}

/* Finds the limiter with most of the time, and among its kernels the one with most. */
static void find_limiter(const struct summing *s, struct cw_advice_group *group)
{
    const struct cw_advice_kernel *kernels = s->advice->kernels;
    double most = 0, longest = 0;
    memset(s->limited, 0, s->advice->rules->limiter_count * sizeof *s->limited);
    for (uint32_t i = 0; i < s->in_count; i++) {
        const struct cw_advice_kernel *k = &kernels[s->in[i]];
        const struct cw_limiter *node = k->step_count ? k->steps[k->step_count - 1].node : NULL;
        double *sum = node ? &s->limited[node - s->advice->rules->limiters] : NULL;
        if (!sum)
            continue;
        *sum += s->time[s->in[i]];
        if (*sum > most) {
            most = *sum;
            group->limited_by = k;
        }
    }
    for (uint32_t i = 0; i < s->in_count; i++) {
        const struct cw_advice_kernel *k = &kernels[s->in[i]];
        if (group->limited_by && k->limiter == group->limited_by->limiter && s->time[s->in[i]] > longest) {
            longest = s->time[s->in[i]];
            group->limited_by = k;
        }
    }
    group->limited = most / group->group->total;
}

const char *cw_advice_limiter(const struct cw_advice_group *group)
{
    static const double mainly = 0.5;
    return !group->limited_by ? "" : group->limited > mainly ? group->limited_by->limiter : CW_LIMITS_MIXED;
}

static int largest_first(const void *a, const void *b)
{
    const struct cw_advice_part *x = a, *y = b;
    if (x->gain != y->gain)
        return x->gain > y->gain ? -1 : 1;
    if (x->share != y->share)
        return x->share > y->share ? -1 : 1;
    return strcmp(x->finding->rule->id, y->finding->rule->id);
}

/* Adds up each rule's findings over the kernels. */
static void add_parts(const struct summing *s, double total)
{
    const struct cw_rule *rules = s->advice->rules->rules;
    memset(s->parts, 0, s->advice->rules->rule_count * sizeof *s->parts);
    for (uint32_t i = 0; i < s->in_count; i++) {
        const struct cw_advice_kernel *k = &s->advice->kernels[s->in[i]];
        const double part = s->time[s->in[i]] / total;
        for (size_t f = 0; f < k->finding_count && !k->findings[f].implausible; f++) { /* implausible ones are last */
            struct cw_advice_part *p = &s->parts[k->findings[f].rule - rules];
            const double saved = k->findings[f].gain * part, weight = k->findings[f].rule->note ? part : saved;
            p->gain += saved;
            p->share += part;
            p->kernel_count++;
            if (weight > p->most || !p->finding) {
                p->most = weight;
                p->finding = &k->findings[f];
                p->kernel = k;
            }
        }
    }
}

static bool find_parts(const struct summing *s, struct cw_advice_group *group)
{
    const size_t count = s->advice->rules->rule_count;
    size_t told = 0;
    if (!(group->group->total > 0))
        return true;
    add_parts(s, group->group->total);
    for (size_t i = 0; i < count; i++) {
        const struct cw_advice_part *p = &s->parts[i];
        if (p->gain > 0 || p->share >= NOTED)
            s->parts[told++] = *p;
    }
    struct cw_advice_part *parts = cw_arena_alloc(s->arena, told, sizeof *parts);
    if (!parts)
        return false;
    memcpy(parts, s->parts, told * sizeof *parts);
    qsort(parts, told, sizeof *parts, largest_first);
    group->parts = parts;
    group->part_count = told;
    return true;
}

enum cw_status cw_advise_groups(struct cw_advice_groups *out, const struct cw_advice *advice,
                                const struct cw_groups *groups, struct cw_arena *arena, struct cw_error *err)
{
    struct summing s = {.arena = arena};
    struct cw_advice_group *items = cw_arena_alloc(arena, groups->count, sizeof *items);
    *out = (struct cw_advice_groups){.advice = advice, .groups = groups, .items = items};
    bool enough = items && start(&s, advice);
    for (uint32_t i = 0; enough && i < groups->count; i++) {
        items[i].group = &groups->items[i];
        find_kernels(&s, items[i].group);
        find_limiter(&s, &items[i]);
        enough = find_parts(&s, &items[i]);
    }
    return enough ? CW_OK : cw_error_nomem(err);
}
