/* Estimates a plan's passes without one of its metrics. */
#include <stdlib.h>
#include <string.h>

#include "host/plan.h"
#include "metricdb/metric.h"

/* Planning again for each metric would take far longer than the plan did. So it first analyses the plan itself: a pass
 * that only one metric relies on goes with that metric. Then it leaves out some metrics in turn and plans the others
 * anew: at least one metric, and no more once FREE_STEPS are used, which take some milliseconds. */
enum { FREE_STEPS = 30000, WHOLE_SHARE = 1 << 20, SEVERAL = UINT32_MAX - 1 };

struct weighing {
    const struct cw_chip *chip;
    const struct cw_plan *plan;
    const struct cw_plan_options *options;
    struct cw_arena *arena;
    struct cw_error *err;
    struct cw_pass_index index;
    uint32_t *user;   /* by raw counter: the one metric that needs it, or SEVERAL */
    uint32_t *stands; /* by raw counter: number of passes with it */
    uint32_t *only;   /* by pass: the one metric that relies on it, SEVERAL or CW_NONE */
    uint32_t *crowd;  /* by pass: number of reliances on it, */
    uint64_t *share;  /* and by metric: its share of passes that serve it alone; computed once `crowd` is complete */
    struct cw_plan_savings *out;
};

static void *array(struct weighing *w, size_t count, size_t size, enum cw_status *status)
{
    void *p = *status == CW_OK ? cw_arena_alloc(w->arena, count, size) : NULL;
    if (!p && *status == CW_OK)
        *status = cw_error_nomem(w->err);
    return p;
}

/* ---- who relies on a pass --------------------------------------------------------------------------------------- */

static uint32_t joined(uint32_t user, uint32_t metric)
{
    return user == CW_NONE || user == metric ? metric : SEVERAL;
}

static void rely(struct weighing *w, uint32_t pass, uint32_t metric, bool shares)
{
    if (shares && metric != SEVERAL)
        w->share[metric] += WHOLE_SHARE / w->crowd[pass];
    if (shares)
        return;
    w->crowd[pass]++;
    w->only[pass] = joined(w->only[pass], metric);
}

/* Returns the only pass with all of some raw counters; CW_NONE if there is none, or more than one. */
static uint32_t only_pass(struct weighing *w, const struct cw_list *raws)
{
    uint32_t some = cw_pass_index_find(&w->index, raws->items, raws->count), pass = CW_NONE;
    for (uint32_t k = 0; k < some; k++) {
        if (w->index.holds[k] < raws->count)
            continue;
        if (pass != CW_NONE)
            return CW_NONE;
        pass = w->index.found[k];
    }
    return pass;
}

static bool is_kept_together(const struct weighing *w, const char *name)
{
    bool found = false;
    for (size_t i = 0; i < w->options->together_count && !found; i++)
        for (size_t k = 0; k < w->options->together[i].count && !found; k++)
            found = strcmp(w->options->together[i].items[k], name) == 0;
    return found;
}

static void find_users(struct weighing *w)
{
    for (uint32_t i = 0; i < w->plan->metric_count; i++)
        for (uint32_t v = 0; v < w->plan->metrics[i].value_count; v++)
            for (uint32_t k = 0; k < w->plan->metrics[i].values[v].count; k++) {
                uint32_t *user = &w->user[w->plan->metrics[i].values[v].items[k]];
                *user = joined(*user, i);
            }
}

/* A metric relies on a pass with a raw counter that stands nowhere else or, if the plan is to be whole, with all raw
 * counters of a value. Metrics kept together always rely on their passes. */
static void find_reliance(struct weighing *w, bool shares)
{
    const struct cw_plan *plan = w->plan;
    for (uint32_t p = 0; p < plan->image.pass_count; p++)
        for (uint32_t k = 0; k < plan->image.passes[p].count; k++) {
            uint32_t raw = plan->image.passes[p].placements[k].raw;
            if (w->stands[raw] == 1)
                rely(w, p, w->user[raw], shares);
        }
    for (uint32_t i = 0; i < plan->metric_count; i++) {
        const struct cw_plan_metric *m = &plan->metrics[i];
        for (uint32_t v = 0; w->options->whole && v < m->value_count; v++) {
            uint32_t pass = only_pass(w, &m->values[v]);
            if (pass != CW_NONE)
                rely(w, pass, i, shares);
        }
        for (uint32_t k = 0; is_kept_together(w, m->name) && k < m->pass_count; k++)
            rely(w, m->passes[k], SEVERAL, shares);
    }
}

/* ---- passes that go with a metric ------------------------------------------------------------------------------- */

/* Whether the other metrics find all they need in passes that stay, if the passes that rely on `without` alone go. */
static bool others_stay(struct weighing *w, uint32_t without)
{
    const struct cw_plan *plan = w->plan;
    for (uint32_t i = 0; i < plan->metric_count; i++)
        for (uint32_t v = 0; i != without && v < plan->metrics[i].value_count; v++) {
            const struct cw_list *raws = &plan->metrics[i].values[v];
            uint32_t some = cw_pass_index_find(&w->index, raws->items, raws->count);
            bool was_whole = false, whole = false;
            for (uint32_t k = 0; k < some; k++) {
                bool all = w->index.holds[k] == raws->count;
                was_whole |= all;
                whole |= all && w->only[w->index.found[k]] != without;
            }
            if (was_whole && !whole)
                return false;
            for (uint32_t k = 0; k < raws->count && !whole; k++) {
                uint32_t stay = 0, found = cw_pass_index_find(&w->index, &raws->items[k], 1);
                for (uint32_t p = 0; p < found; p++)
                    stay += w->only[w->index.found[p]] != without;
                if (!stay)
                    return false;
            }
        }
    return true;
}

/* Counts for each metric the passes that rely on it alone. */
static void find_sole(struct weighing *w, uint32_t *sole)
{
    for (uint32_t p = 0; p < w->plan->image.pass_count; p++)
        if (w->only[p] < w->plan->metric_count)
            sole[w->only[p]]++;
    for (uint32_t i = 0; i < w->plan->metric_count; i++)
        if (sole[i] > 1 && !others_stay(w, i))
            sole[i] = 1; /* two of these passes may share something that another metric needs */
}

/* ---- planning without ------------------------------------------------------------------------------------------- */

struct candidate {
    uint64_t share;
    uint32_t metric;
};

static int by_share(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->share != y->share)
        return x->share > y->share ? -1 : 1;
    return (x->metric > y->metric) - (x->metric < y->metric);
}

/* Puts first the metrics with the largest share of the passes. */
static void list_candidates(struct weighing *w, struct candidate *list)
{
    for (uint32_t i = 0; i < w->plan->metric_count; i++)
        list[i] = (struct candidate){w->share[i], i};
    qsort(list, w->plan->metric_count, sizeof *list, by_share);
}

/* Plans without each candidate and puts the passes saved into saved[metric]. */
static enum cw_status plan_without(struct weighing *w, const struct candidate *list, uint32_t *saved, bool *known)
{
    const struct cw_config_image *image = &w->plan->image;
    enum cw_status status = CW_OK;
    const char **names = array(w, image->metric_count, sizeof *names, &status);
    for (uint32_t i = 0; status == CW_OK && i < image->metric_count && w->out->steps <= FREE_STEPS; i++) {
        uint32_t passes, n = 0, metric = list[i].metric;
        uint64_t steps;
        for (uint32_t k = 0; k < image->metric_count; k++)
            if (k != metric)
                names[n++] = image->metrics[k];
        status = cw_plan_passes(&passes, &steps, w->chip, names, n, w->options, w->err);
        w->out->steps += steps;
        known[metric] = true;
        if (status == CW_OK && passes + saved[metric] < image->pass_count)
            saved[metric] = image->pass_count - passes;
    }
    return status;
}

static int by_saving(const void *a, const void *b)
{
    const struct cw_plan_saving *x = a, *y = b;
    if (x->passes != y->passes)
        return x->passes < y->passes ? -1 : 1;
    return (x->metric > y->metric) - (x->metric < y->metric);
}

enum cw_status cw_plan_weigh(struct cw_plan_savings *savings, const struct cw_plan *plan, const struct cw_chip *chip,
                             const struct cw_plan_options *options, struct cw_arena *arena, struct cw_error *err)
{
    const struct cw_config_image *image = &plan->image;
    struct weighing w = {.chip = chip, .plan = plan, .options = options, .arena = arena, .err = err, .out = savings};
    enum cw_status status = CW_OK;
    *savings = (struct cw_plan_savings){0};
    if (plan->metric_count < 2)
        return CW_OK;
    savings->items = array(&w, plan->metric_count, sizeof *savings->items, &status);
    w.user = array(&w, image->raw_count, sizeof *w.user, &status);
    w.stands = array(&w, image->raw_count, sizeof *w.stands, &status);
    w.only = array(&w, image->pass_count, sizeof *w.only, &status);
    w.crowd = array(&w, image->pass_count, sizeof *w.crowd, &status);
    w.share = array(&w, plan->metric_count, sizeof *w.share, &status);
    uint32_t *saved = array(&w, plan->metric_count, sizeof *saved, &status);
    bool *known = array(&w, plan->metric_count, sizeof *known, &status);
    struct candidate *list = array(&w, plan->metric_count, sizeof *list, &status);
    if (status == CW_OK && !cw_pass_index_make(&w.index, image, arena))
        status = cw_error_nomem(err);
    if (status != CW_OK)
        return status;
    memset(w.user, 0xff, image->raw_count * sizeof *w.user);
    memset(w.only, 0xff, image->pass_count * sizeof *w.only);
    for (uint32_t p = 0; p < image->pass_count; p++)
        for (uint32_t k = 0; k < image->passes[p].count; k++)
            w.stands[image->passes[p].placements[k].raw]++;
    find_users(&w);
    find_reliance(&w, false);
    find_reliance(&w, true);
    find_sole(&w, saved);
    list_candidates(&w, list);
    status = plan_without(&w, list, saved, known);
    for (uint32_t i = 0; i < plan->metric_count; i++) {
        savings->weighed += known[i] || saved[i];
        if (saved[i])
            savings->items[savings->count++] = (struct cw_plan_saving){i, image->pass_count - saved[i]};
    }
    if (savings->count)
        qsort(savings->items, savings->count, sizeof *savings->items, by_saving);
    return status;
}
