#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eval/gate.h"
#include "eval/student.h"

static const double false_alarms = 1e-3, time_share = 0.25, seen_factor = 2, least_noise = 0.005;
static const double similar = 4, clock_steps_ns = 64, least_part = 0.01;
enum { PRIOR_FREEDOM = 4 };

/* A metric in a kernel. */
struct sample {
    double mean, variance; /* of the runs; NaN unknown */
    double greatest;       /* difference of two runs */
};

struct learning {
    const struct cw_gate_runs *runs;
    uint32_t *first;                /* [kernel]: the first of those with its label, which stands for them all */
    bool *steady;                   /* [kernel]: its exact counts are equal in all runs */
    struct cw_gate_kernel *kernels; /* room for all of a metric */
    struct sample *samples;         /* [kernel] of the metric at hand */
    double *noise;                  /* [kernel] of it; NaN no value, INFINITY unknown */
    bool exact, time;               /* it is */
    double floor, tail;             /* of it */
    struct cw_gate_summary *summary;
    double *all; /* noise of all metrics in all kernels that have one */
};

static struct sample sample_of(const struct cw_gate_runs *r, uint32_t metric, uint32_t kernel)
{
    const double *values = r->values + ((size_t)metric * r->kernel_count + kernel) * r->runs;
    struct sample s = {0};
    double least = INFINITY, greatest = -INFINITY, squares = 0;
    for (uint32_t i = 0; i < r->runs; i++) {
        s.mean += values[i] / r->runs;
        least = fmin(least, values[i]);
        greatest = fmax(greatest, values[i]);
    }
    for (uint32_t i = 0; i < r->runs; i++)
        squares += (values[i] - s.mean) * (values[i] - s.mean);
    s.variance = least == greatest && isfinite(s.mean) ? 0 : squares / (r->runs - 1);
    s.greatest = greatest - least;
    return s;
}

static bool is_exact(const struct cw_gate_runs *r, uint32_t metric)
{
    return r->classes[metric] == CW_CLASS_EXACT || strcmp(r->metrics[metric], cw_gate_launches) == 0;
}

static int by_label(const void *a, const void *b, void *kernels)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const char *const *labels = kernels;
    const int order = strcmp(labels[x], labels[y]);
    return order ? order : (x > y) - (x < y);
}

/* False without memory. */
static bool find_first(struct learning *l, struct cw_arena *arena)
{
    const struct cw_gate_runs *r = l->runs;
    uint32_t *order = cw_arena_alloc(arena, r->kernel_count, sizeof *order);
    for (uint32_t i = 0; order && i < r->kernel_count; i++)
        order[i] = i;
    if (order && r->kernel_count)
        qsort_r(order, r->kernel_count, sizeof *order, by_label, (void *)r->kernels);
    for (uint32_t i = 0; order && i < r->kernel_count; i++) {
        const bool again = i && strcmp(r->kernels[order[i - 1]], r->kernels[order[i]]) == 0;
        l->first[order[i]] = again ? l->first[order[i - 1]] : order[i];
    }
    return order;
}

static void find_steady(struct learning *l)
{
    for (uint32_t k = 0; k < l->runs->kernel_count; k++) {
        l->steady[k] = true;
        for (uint32_t m = 0; m < l->runs->metric_count && l->steady[k]; m++)
            l->steady[k] = !is_exact(l->runs, m) || !(sample_of(l->runs, m, k).variance > 0);
        if (!l->steady[k])
            l->steady[l->first[k]] = false;
    }
}

/* The mean relative variance of kernels whose values are of similar size, and how many these are. */
static double pool(const struct learning *l, double size, uint32_t *count)
{
    double sum = 0;
    *count = 0;
    for (uint32_t k = 0; k < l->runs->kernel_count; k++) {
        const struct sample *s = &l->samples[k];
        const double own = fabs(s->mean);
        if (l->steady[k] && s->variance >= 0 && own > l->floor && own <= similar * size && size <= similar * own) {
            sum += s->variance / (own * own);
            ++*count;
        }
    }
    return *count ? sum / *count : 0;
}

static double noise_of(const struct learning *l, uint32_t kernel)
{
    const struct sample *s = &l->samples[kernel];
    const unsigned own = l->runs->runs - 1;
    const double size = fabs(s->mean), least = l->exact ? 0 : least_noise;
    uint32_t count;
    if (isnan(s->variance))
        return NAN;
    if (s->variance == 0 && l->exact)
        return 0;
    if (size == 0)
        return least;
    const double pooled = pool(l, size, &count);
    if (s->variance == 0 && !l->time && size > l->floor)
        return INFINITY;
    const unsigned freedom = !l->steady[kernel] ? own : l->time && count ? count * own : PRIOR_FREEDOM + own;
    const double half_width = M_SQRT2 * cw_student_quantile(freedom, l->tail);
    const double seen = fmax(half_width * sqrt(s->variance), seen_factor * s->greatest) - l->floor;
    const double noise = fmax(fmax(half_width * sqrt(pooled), seen / size), least);
    return noise < 1 ? noise : INFINITY;
}

/* The limit of most kernels, which serves also for one that was not there, and the kernels whose own is another. */
static bool summarize(const struct learning *l, struct cw_gate_metric *metric, struct cw_arena *arena)
{
    double most = 0, most_unsteady = 0, kernels = 0, exact = 0, unknown = 0;
    for (uint32_t k = 0; k < l->runs->kernel_count; k++) {
        if (isfinite(l->noise[k]))
            *(l->steady[k] ? &most : &most_unsteady) = fmax(l->steady[k] ? most : most_unsteady, l->noise[k]);
        exact += l->noise[k] == 0;
        unknown += isinf(l->noise[k]);
        kernels += !isnan(l->noise[k]);
    }
    metric->noise = 2 * exact > kernels ? 0 : 2 * unknown > kernels ? INFINITY : most > 0 ? most : most_unsteady;
    for (uint32_t k = 0; k < l->runs->kernel_count; k++)
        if (l->noise[k] > metric->noise || l->noise[k] < 0.75 * metric->noise)
            l->kernels[metric->kernel_count++] = (struct cw_gate_kernel){l->runs->kernels[k], l->noise[k]};
    struct cw_gate_kernel *own = cw_arena_alloc(arena, metric->kernel_count, sizeof *own);
    if (own && metric->kernel_count)
        memcpy(own, l->kernels, metric->kernel_count * sizeof *own);
    metric->kernels = own;
    return own;
}

/* What the summary has to say of the metric at hand. */
static void add_up(struct learning *l)
{
    struct cw_gate_summary *to = l->summary;
    for (uint32_t k = 0; k < l->runs->kernel_count; k++) {
        to->exact += l->noise[k] == 0;
        to->unjudged += isinf(l->noise[k]);
        if (l->noise[k] > 0 && isfinite(l->noise[k]))
            l->all[to->noisy++] = l->noise[k];
        if (l->time)
            cw_gate_add_slowdown(&to->slowdown, k, l->noise[k], l->floor, l->samples[k].mean);
    }
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void finish_summary(struct learning *l)
{
    struct cw_gate_summary *to = l->summary;
    if (!to->noisy)
        return;
    qsort(l->all, to->noisy, sizeof *l->all, by_size);
    to->least = l->all[0];
    to->median = l->all[to->noisy / 2];
    to->greatest = l->all[to->noisy - 1];
}

/* False where nothing is known of the metric. */
static bool learn_metric(struct learning *l, uint32_t m, struct cw_gate_metric *metric)
{
    const struct cw_gate_runs *r = l->runs;
    double greatest = 0;
    bool known = false;
    l->exact = is_exact(r, m);
    l->time = strcmp(r->metrics[m], cw_gate_time) == 0;
    l->tail = false_alarms / 2 / r->kernel_count *
              (l->time ? time_share : (1 - time_share) / fmax(1, (double)r->metric_count - 1));
    for (uint32_t k = 0; k < r->kernel_count; k++) {
        l->samples[k] = sample_of(r, m, k);
        greatest = fmax(greatest, isfinite(l->samples[k].mean) ? fabs(l->samples[k].mean) : 0);
    }
    l->floor = l->exact ? 0 : l->time ? clock_steps_ns : least_part * greatest;
    for (uint32_t k = 0; k < r->kernel_count; k++) {
        l->noise[k] = noise_of(l, k);
        known = known || isfinite(l->noise[k]);
        if (l->first[k] != k) { /* a label has one limit */
            l->noise[l->first[k]] = fmax(l->noise[l->first[k]], l->noise[k]);
            l->noise[k] = NAN;
        }
    }
    known = known && (l->exact || greatest > 0);
    if (known)
        add_up(l);
    const bool less = l->time || strcmp(r->metrics[m], cw_gate_launches) == 0;
    *metric = (struct cw_gate_metric){
        .name = r->metrics[m], .better = less ? CW_BETTER_LESS : cw_metric_better(r->metrics[m]), .floor = l->floor};
    return known;
}

enum cw_status cw_gate_learn(struct cw_gate_rules *rules, struct cw_gate_summary *summary,
                             const struct cw_gate_runs *runs, struct cw_arena *arena, struct cw_error *err)
{
    if (runs->runs < 3)
        return cw_error_set(err, CW_ERR_USAGE, "found %u runs to learn from, expected at least 3", runs->runs);
    *summary = (struct cw_gate_summary){.slowdown = {.least = NAN, .most = NAN}};
    struct learning l = {.runs = runs,
                         .summary = summary,
                         .all = cw_arena_alloc(arena, (size_t)runs->metric_count * runs->kernel_count, sizeof *l.all),
                         .first = cw_arena_alloc(arena, runs->kernel_count, sizeof *l.first),
                         .steady = cw_arena_alloc(arena, runs->kernel_count, sizeof *l.steady),
                         .kernels = cw_arena_alloc(arena, runs->kernel_count, sizeof *l.kernels),
                         .samples = cw_arena_alloc(arena, runs->kernel_count, sizeof *l.samples),
                         .noise = cw_arena_alloc(arena, runs->kernel_count, sizeof *l.noise)};
    struct cw_gate_metric *metrics = cw_arena_alloc(arena, runs->metric_count, sizeof *metrics);
    bool enough = l.first && l.steady && l.kernels && l.samples && l.noise && l.all && metrics && find_first(&l, arena);
    rules->runs = runs->runs;
    rules->metric_count = 0;
    if (enough)
        find_steady(&l);
    for (uint32_t m = 0; enough && m < runs->metric_count; m++)
        if (learn_metric(&l, m, &metrics[rules->metric_count]))
            enough = summarize(&l, &metrics[rules->metric_count++], arena);
    if (enough)
        finish_summary(&l);
    rules->metrics = metrics;
    return enough ? CW_OK : cw_error_nomem(err);
}
