#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eval/gate.h"
#include "eval/student.h"

static const double false_alarms = 1e-3, prior = 4, seen_factor = 1.5, least_noise = 0.005;

/* A metric in a kernel. */
struct sample {
    double mean, variance; /* of the runs; NaN unknown */
    double greatest;       /* relative difference of two runs */
};

struct learning {
    const struct cw_gate_runs *runs;
    double half_width;              /* t * sqrt(2): standard deviations that two runs may differ by */
    struct cw_gate_kernel *kernels; /* room for all of a metric */
    struct sample *samples;         /* [kernel] */
    double *noise;                  /* [kernel]; NaN unknown */
};

static struct sample sample_of(const double *values, uint32_t runs)
{
    struct sample s = {0};
    double least = INFINITY, greatest = -INFINITY, squares = 0;
    for (uint32_t i = 0; i < runs; i++) {
        s.mean += values[i] / runs;
        least = fmin(least, values[i]);
        greatest = fmax(greatest, values[i]);
    }
    for (uint32_t i = 0; i < runs; i++)
        squares += (values[i] - s.mean) * (values[i] - s.mean);
    s.variance = least == greatest ? 0 : squares / (runs - 1);
    s.greatest = cw_compare_relative(least, greatest);
    return s;
}

/* The mean relative variance of the kernels, and the least absolute deviation that is none of 0. */
static double pool(const struct learning *l, double *deviation)
{
    double sum = 0;
    uint32_t count = 0;
    *deviation = INFINITY;
    for (uint32_t k = 0; k < l->runs->kernel_count; k++) {
        const struct sample *s = &l->samples[k];
        if (s->variance > 0)
            *deviation = fmin(*deviation, sqrt(s->variance));
        if (isfinite(s->variance) && s->mean != 0) {
            sum += s->variance / (s->mean * s->mean);
            count++;
        }
    }
    return count ? sum / count : NAN;
}

static double noise_of(const struct learning *l, const struct sample *s, double pooled, bool count)
{
    const double least = count ? 0 : least_noise;
    const double freedom = l->runs->runs - 1;
    if (s->mean == 0)
        return isnan(s->variance) ? NAN : least;
    const double own = s->variance / (s->mean * s->mean);
    const double moderated = (prior * pooled + freedom * own) / (prior + freedom);
    return fmax(fmax(l->half_width * sqrt(moderated), seen_factor * s->greatest), least);
}

static bool is_count(const char *name)
{
    return cw_metric_is_count(name) || strcmp(name, cw_gate_launches) == 0;
}

/* The limit of most kernels, and the kernels whose own is far from it. */
static bool summarize(const struct learning *l, struct cw_gate_metric *metric, struct cw_arena *arena)
{
    double most = 0, kernels = 0, exact = 0;
    for (uint32_t k = 0; k < l->runs->kernel_count; k++) {
        most = fmax(most, isnan(l->noise[k]) ? 0 : l->noise[k]);
        exact += l->noise[k] == 0;
        kernels += !isnan(l->noise[k]);
    }
    metric->noise = 2 * exact > kernels ? 0 : most;
    for (uint32_t k = 0; k < l->runs->kernel_count; k++)
        if (!isnan(l->noise[k]) && (metric->noise == 0 ? l->noise[k] > 0 : l->noise[k] < 0.75 * metric->noise))
            l->kernels[metric->kernel_count++] = (struct cw_gate_kernel){l->runs->kernels[k], l->noise[k]};
    struct cw_gate_kernel *own = cw_arena_alloc(arena, metric->kernel_count, sizeof *own);
    if (own && metric->kernel_count)
        memcpy(own, l->kernels, metric->kernel_count * sizeof *own);
    metric->kernels = own;
    return own;
}

/* False where nothing is known of the metric: it has no value in any kernel, or is 0 in all. */
static bool learn_metric(struct learning *l, uint32_t m, struct cw_gate_metric *metric)
{
    const struct cw_gate_runs *r = l->runs;
    const bool count = is_count(r->metrics[m]);
    double deviation;
    bool known = false, zero = true;
    for (uint32_t k = 0; k < r->kernel_count; k++)
        l->samples[k] = sample_of(r->values + ((size_t)m * r->kernel_count + k) * r->runs, r->runs);
    const double pooled = pool(l, &deviation);
    for (uint32_t k = 0; k < r->kernel_count; k++) {
        const struct sample *s = &l->samples[k];
        l->noise[k] = count && s->variance == 0 ? 0 : noise_of(l, s, pooled, count);
        known = known || !isnan(l->noise[k]);
        zero = zero && !(s->mean != 0 && isfinite(s->mean));
    }
    *metric = (struct cw_gate_metric){.name = r->metrics[m],
                                      .better = strcmp(r->metrics[m], cw_gate_time) == 0 ||
                                                        strcmp(r->metrics[m], cw_gate_launches) == 0
                                                    ? CW_BETTER_LESS
                                                    : cw_metric_better(r->metrics[m]),
                                      .floor = isfinite(deviation) ? l->half_width * deviation : 0};
    return known && (count || !zero);
}

enum cw_status cw_gate_learn(struct cw_gate_rules *rules, const struct cw_gate_runs *runs, struct cw_arena *arena,
                             struct cw_error *err)
{
    const double comparisons = fmax(1, (double)runs->metric_count * runs->kernel_count);
    if (runs->runs < 3)
        return cw_error_set(err, CW_ERR_USAGE, "found %u runs to learn from, expected at least 3", runs->runs);
    struct learning l = {
        .runs = runs,
        .half_width = M_SQRT2 * cw_student_quantile((unsigned)prior + runs->runs - 1, false_alarms / 2 / comparisons),
        .kernels = cw_arena_alloc(arena, runs->kernel_count, sizeof *l.kernels),
        .samples = cw_arena_alloc(arena, runs->kernel_count, sizeof *l.samples),
        .noise = cw_arena_alloc(arena, runs->kernel_count, sizeof *l.noise)};
    struct cw_gate_metric *metrics = cw_arena_alloc(arena, runs->metric_count, sizeof *metrics);
    bool enough = l.kernels && l.samples && l.noise && metrics;
    rules->runs = runs->runs;
    rules->metric_count = 0;
    for (uint32_t m = 0; enough && m < runs->metric_count; m++)
        if (learn_metric(&l, m, &metrics[rules->metric_count]))
            enough = summarize(&l, &metrics[rules->metric_count++], arena);
    rules->metrics = metrics;
    return enough ? CW_OK : cw_error_nomem(err);
}
