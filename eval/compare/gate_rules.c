#define _GNU_SOURCE
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "eval/compare/gate.h"
#include "eval/compare/statistics.h"
#include "eval/quantile.h"
#include "metricdb/yaml.h"

/* ---- reading and writing ----------------------------------------------------------------------------------------- */

enum { SCHEMA = 1 };

const char cw_gate_time[] = "time", cw_gate_launches[] = "launches";

static int label_order(const void *a, const void *b)
{
    return strcmp(((const struct cw_gate_kernel *)a)->label, ((const struct cw_gate_kernel *)b)->label);
}

static const char unknown[] = "unknown";

/* A number of 0 or more; a noise may also be unknown (INFINITY); 0 if it is missing. */
static double read_limit(struct cw_yaml_reader *in, const struct cw_yaml *mapping, const char *key, bool required)
{
    const struct cw_yaml *node = cw_yaml_get(in, mapping, key, required);
    if (node && strcmp(key, "noise") == 0 && node->kind == CW_YAML_SCALAR && strcmp(node->text, unknown) == 0)
        return INFINITY;
    const double value = node ? cw_yaml_number(in, node) : 0;
    if (in->status == CW_OK && !(value >= 0 && value < 1e300))
        cw_yaml_fail(in, node, "found %s '%s', expected a number of 0 or more", key, node->text);
    return value;
}

static void read_kernels(struct cw_gate_metric *metric, struct cw_yaml_reader *in, const struct cw_yaml *list)
{
    static const char *const keys[] = {"kernel", "noise", "floor", NULL};
    if (!list || !cw_yaml_expect(in, list, CW_YAML_SEQUENCE, "kernels"))
        return;
    struct cw_gate_kernel *kernels = cw_yaml_array(in, list->count, sizeof *kernels);
    for (size_t i = 0; i < list->count && in->status == CW_OK; i++) {
        cw_yaml_only(in, &list->items[i], keys);
        kernels[i].label = cw_yaml_text(in, cw_yaml_get(in, &list->items[i], "kernel", true));
        kernels[i].noise = read_limit(in, &list->items[i], "noise", true);
        const bool own = cw_yaml_get(in, &list->items[i], "floor", false);
        kernels[i].floor = own                    ? read_limit(in, &list->items[i], "floor", true)
                           : kernels[i].noise > 0 ? metric->floor
                                                  : 0;
    }
    if (in->status != CW_OK)
        return;
    qsort(kernels, list->count, sizeof *kernels, label_order);
    for (size_t i = 1; i < list->count && in->status == CW_OK; i++)
        if (label_order(&kernels[i - 1], &kernels[i]) == 0)
            cw_yaml_fail(in, list, "found the kernel '%.200s' twice, expected it once", kernels[i].label);
    metric->kernels = kernels;
    metric->kernel_count = (uint32_t)list->count;
}

static void read_metric(struct cw_gate_metric *metric, struct cw_yaml_reader *in, const struct cw_yaml *mapping,
                        size_t i)
{
    static const char *const keys[] = {"better", "noise", "floor", "kernels", NULL};
    const struct cw_yaml *of = &mapping->items[i];
    metric->name = cw_yaml_key_name(in, mapping, i);
    cw_yaml_only(in, of, keys);
    const struct cw_yaml *better = cw_yaml_get(in, of, "better", true);
    const char *word = cw_yaml_text(in, better);
    while (in->status == CW_OK && metric->better < CW_BETTER__COUNT && strcmp(cw_better_names[metric->better], word))
        metric->better++;
    if (metric->better == CW_BETTER__COUNT)
        cw_yaml_fail(in, better, "found better '%.40s', expected less, more or unknown", word);
    metric->noise = read_limit(in, of, "noise", true);
    metric->floor = read_limit(in, of, "floor", false);
    read_kernels(metric, in, cw_yaml_get(in, of, "kernels", false));
}

enum cw_status cw_gate_parse(struct cw_gate_rules *rules, const void *data, size_t size, const char *path,
                             struct cw_arena *arena, struct cw_error *err)
{
    static const char *const keys[] = {"schema", "chip", "device", "runs", "metrics", NULL};
    struct cw_yaml_reader in = {.source = path, .arena = arena, .err = err};
    const struct cw_yaml *root = cw_yaml_load(&in, "a file of rules for gate", keys, SCHEMA, data, size);
    *rules = (struct cw_gate_rules){.chip = cw_yaml_text(&in, cw_yaml_get(&in, root, "chip", true)), .device = ""};
    const struct cw_yaml *device = cw_yaml_get(&in, root, "device", false);
    const struct cw_yaml *runs = cw_yaml_get(&in, root, "runs", false);
    const struct cw_yaml *list = cw_yaml_get(&in, root, "metrics", true);
    rules->device = device ? cw_yaml_text(&in, device) : "";
    rules->runs = runs ? (uint32_t)cw_yaml_integer(&in, runs, UINT32_MAX) : 0;
    if (!cw_yaml_expect(&in, list, CW_YAML_MAPPING, "metrics"))
        return in.status;
    struct cw_gate_metric *metrics = cw_yaml_array(&in, list->count, sizeof *metrics);
    for (size_t i = 0; i < list->count && in.status == CW_OK; i++)
        read_metric(&metrics[i], &in, list, i);
    rules->metrics = metrics;
    rules->metric_count = in.status == CW_OK ? (uint32_t)list->count : 0;
    return in.status;
}

static void put_limit(FILE *out, const char *before, double limit, const char *behind)
{
    fputs(before, out);
    if (isinf(limit))
        fputs(unknown, out);
    else
        cw_text_print(out, "%.3g", limit);
    fputs(behind, out);
}

enum cw_status cw_gate_write(FILE *out, const void *data, struct cw_error *err)
{
    static const char word[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    const struct cw_gate_rules *rules = data;
    (void)err;
    cw_text_print(out,
                  "# How far two runs may be from each other: metric-eval gate A.cwd B.cwd --rules THIS\n"
                  "# |b - a| <= noise * max(|a|, |b|) + floor; a noise of 0 alone: equal; unknown: not judged, as too "
                  "little is known\n"
                  "# of a value that was the same in all runs, unless it is an exact count\n"
                  "schema: 1\nchip: ");
    if (rules->chip[strspn(rules->chip, word)] || !*rules->chip)
        cw_text_put(out, CW_TEXT_JSON, rules->chip);
    else
        fputs(rules->chip, out);
    fputs("\ndevice: ", out);
    cw_text_put(out, CW_TEXT_JSON, rules->device);
    cw_text_print(out, "\nruns: %" PRIu32 "\nmetrics:\n", rules->runs);
    for (uint32_t i = 0; i < rules->metric_count; i++) {
        const struct cw_gate_metric *m = &rules->metrics[i];
        cw_text_print(out, "  %s:\n    better: %s\n", m->name, cw_better_names[m->better]);
        put_limit(out, "    noise: ", m->noise, "\n");
        if (m->floor > 0)
            put_limit(out, "    floor: ", m->floor, "\n");
        if (m->kernel_count)
            fputs("    kernels:\n", out);
        for (uint32_t k = 0; k < m->kernel_count; k++) {
            fputs("      - {kernel: ", out);
            cw_text_put(out, CW_TEXT_JSON, m->kernels[k].label);
            put_limit(out, ", noise: ", m->kernels[k].noise, "");
            if (m->kernels[k].floor != m->floor)
                put_limit(out, ", floor: ", m->kernels[k].floor, "");
            fputs("}\n", out);
        }
    }
    return CW_OK;
}

/* ---- learning ---------------------------------------------------------------------------------------------------- */

static const double false_alarms = 1e-3, time_share = 0.25, seen_factor = 2, far_off = 1.8, least_noise = 0.005;
static const double similar = 4, least_part = 0.01, most_noise = 0.5;
/* of time */
static const double time_tail = 5e-3, most_tail = 1e-3, clock_ns = 32, clock_part = 0.15, clock_steps = 1.5;
static const double steady_spread = 0.01, steady_noise = 0.029;
enum { USUAL_FREEDOM = 2, MOST_PRIOR_FREEDOM = 8, ENOUGH_RUNS = 5, ENOUGH_TIMES = 3, TIMES = 3, SIZES = 64 };

/* A metric in a kernel. */
struct sample {
    double mean, variance; /* of the runs; NaN unknown */
    double greatest;       /* difference of two runs */
};

struct learning {
    const struct cw_gate_runs *runs;
    uint32_t *first;                /* [kernel]: the first kernel with the same label, which has the limit of all */
    bool *steady;                   /* [kernel]: its exact counts are equal in all runs */
    struct cw_gate_kernel *kernels; /* room for all kernels of a metric */
    struct sample *samples;         /* [kernel] of the metric at hand */
    double *noise, *floor;          /* [kernel]; the noise is NaN without a value, INFINITY unknown */
    bool exact, time;               /* of the metric */
    bool mostly_same, all_zero;     /* the same in enough runs, in most kernels; 0 in all, though no exact count */
    double tail, least_floor;       /* least_floor: for values that are mostly noise */
    struct cw_gate_summary *summary;
    double *all;                 /* noise of all metrics in all kernels that have one */
    struct cw_gate_shown *shown; /* [kernel] */
    struct sample *time_samples; /* [kernel]: relative variances of one of the three times */
    double *variances;           /* room for all kernels */
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

/* False when out of memory. */
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

/* The geometric mean of relative variances above 0, of kernels whose values are within a factor; 0 without any. */
static double usual(const struct learning *l, double size, double factor)
{
    double sum = 0;
    uint32_t count = 0;
    for (uint32_t k = 0; k < l->runs->kernel_count; k++) {
        const struct sample *s = &l->samples[k];
        const double own = fabs(s->mean);
        if (l->steady[k] && s->variance > 0 && own > 0 && own <= factor * size && size <= factor * own) {
            sum += log(s->variance / (own * own));
            count++;
        }
    }
    return count ? exp(sum / count) : 0;
}

/* Half the width of the prediction interval, as a part of the value. */
static double interval(const struct learning *l, unsigned freedom, double relative_variance)
{
    return M_SQRT2 * cw_student_quantile(freedom, l->tail) * sqrt(relative_variance);
}

static double noise_of(const struct learning *l, uint32_t kernel)
{
    const struct sample *s = &l->samples[kernel];
    const unsigned own = l->runs->runs - 1;
    const double size = fabs(s->mean), variance = s->variance / (size * size), seen = seen_factor * s->greatest / size;
    if (isnan(s->variance))
        return NAN;
    if (l->exact && s->variance == 0)
        return 0;
    if (size == 0)
        return l->all_zero ? INFINITY : least_noise; /* without a scale for what comes */
    if (!l->steady[kernel] && s->variance == 0)
        return INFINITY;
    if (!l->steady[kernel])
        return fmax(fmax(interval(l, own, variance), seen), least_noise);
    if (l->mostly_same && s->variance == 0)
        return least_noise;
    const double near = usual(l, size, similar), prior = near > 0 ? near : usual(l, size, INFINITY);
    if (prior == 0 && s->variance == 0)
        return INFINITY;
    const double both = (USUAL_FREEDOM * prior + own * variance) / (USUAL_FREEDOM + own);
    return fmax(fmax(far_off * interval(l, USUAL_FREEDOM + own, both), seen), least_noise);
}

/* ---- learning times ---------------------------------------------------------------------------------------------- */

/* One of the three numbers of struct cw_gate_time, in all kernels. */
struct number {
    int which;
    struct sample *samples; /* relative variances */
    struct cw_prior priors[SIZES], whole;
    bool fitted[SIZES];
};

static double number_of(const struct cw_gate_time *time, int which)
{
    return which == 0 ? time->mean : which == 1 ? time->median : time->least;
}

/* The clock's step hides small variances. */
static struct sample time_sample(const struct cw_gate_runs *r, uint32_t kernel, int which)
{
    struct sample s = {0};
    const struct cw_gate_time *times = r->times + (size_t)kernel * r->runs;
    for (uint32_t i = 0; i < r->runs; i++)
        s.mean += number_of(&times[i], which) / r->runs;
    for (uint32_t i = 0; i < r->runs; i++) {
        const double off = number_of(&times[i], which) / s.mean - 1;
        s.variance += off * off / (r->runs - 1);
    }
    if (s.mean > 0)
        s.variance = fmax(s.variance, pow(clock_part * clock_ns / s.mean, 2));
    return s;
}

/* A prior from kernels whose times are within a factor of a size. */
static struct cw_prior fit_prior(const struct learning *l, const struct number *n, double size, double factor)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < l->runs->kernel_count; k++) {
        const struct sample *s = &n->samples[k];
        if (s->variance > 0 && s->mean <= factor * size && size <= factor * s->mean)
            l->variances[count++] = s->variance;
    }
    return cw_prior_fit(l->variances, count, l->runs->runs - 1);
}

/* The prior for a time; kernels within one power of two share it. */
static const struct cw_prior *prior_of(const struct learning *l, struct number *n, double ns)
{
    const int at = ns >= 1 ? (int)fmin(log2(ns), SIZES - 1) : 0;
    if (!n->fitted[at]) {
        n->priors[at] = fit_prior(l, n, ldexp(M_SQRT2, at), similar);
        n->fitted[at] = true;
    }
    return n->priors[at].freedom > 0 ? &n->priors[at] : &n->whole;
}

static double time_interval(const struct learning *l, struct number *n, uint32_t kernel, double tail)
{
    const struct sample *s = &n->samples[kernel];
    const struct cw_prior *prior = prior_of(l, n, s->mean);
    const double own = l->runs->runs - 1, freedom = fmin(prior->freedom, MOST_PRIOR_FREEDOM);
    const double variance = (freedom * prior->variance + own * s->variance) / (freedom + own);
    return M_SQRT2 * cw_student_quantile((unsigned)(freedom + own), tail) * sqrt(variance);
}

/* Whether each run timed the kernel so often that mean, median and least are different numbers. */
static bool is_timed_often(const struct cw_gate_runs *r, uint32_t kernel)
{
    bool often = true;
    for (uint32_t i = 0; i < r->runs; i++)
        often = often && r->times[(size_t)kernel * r->runs + i].count >= ENOUGH_TIMES;
    return often;
}

static void find_time_limits(struct learning *l)
{
    const struct cw_gate_runs *r = l->runs;
    uint32_t known = 0;
    for (uint32_t k = 0; k < r->kernel_count; k++) {
        known += l->samples[k].variance >= 0;
        l->floor[k] = 0;
        l->noise[k] = l->samples[k].variance >= 0 ? least_noise : NAN;
    }
    const double few = false_alarms * time_share / 2 / fmax(known, 1);
    const double often = fmin(most_tail, time_tail / fmax(known, 1));
    for (int which = 0; which < TIMES; which++) {
        struct number n = {.which = which, .samples = l->time_samples};
        for (uint32_t k = 0; k < r->kernel_count; k++)
            n.samples[k] = time_sample(r, k, which);
        n.whole = fit_prior(l, &n, 1, INFINITY);
        for (uint32_t k = 0; k < r->kernel_count; k++)
            if (!isnan(l->noise[k]))
                l->noise[k] = fmax(l->noise[k], time_interval(l, &n, k, is_timed_often(r, k) ? often : few));
    }
    for (uint32_t k = 0; k < r->kernel_count; k++) {
        const struct sample *shown = &l->samples[k];
        if (r->runs >= ENOUGH_RUNS && shown->greatest < steady_spread * shown->mean && is_timed_often(r, k))
            l->noise[k] = fmin(l->noise[k], steady_noise);
        if (shown->mean > 0)
            l->noise[k] = fmax(l->noise[k], clock_steps * clock_ns / shown->mean);
    }
}

/* If a value is mostly noise, its limit depends on the size of the greatest kernel's value, and is no part of the
 * value. */
static void find_limit(struct learning *l, uint32_t kernel)
{
    const double size = fabs(l->samples[kernel].mean), noise = noise_of(l, kernel);
    const bool by_floor = isfinite(noise) && (noise >= most_noise || (size == 0 && noise > 0));
    l->noise[kernel] = by_floor ? least_noise : noise;
    l->floor[kernel] = by_floor ? fmax(noise * size, l->least_floor) : 0;
}

static bool find_mostly_same(const struct learning *l)
{
    uint32_t same = 0, count = 0;
    for (uint32_t k = 0; k < l->runs->kernel_count; k++)
        if (l->steady[k] && l->samples[k].mean != 0 && !isnan(l->samples[k].variance)) {
            same += l->samples[k].variance == 0;
            count++;
        }
    return l->runs->runs >= ENOUGH_RUNS && 2 * same > count;
}

/* Finds the limit of most kernels, which also serves new kernels, and lists the kernels with another one. */
static bool summarize(const struct learning *l, struct cw_gate_metric *metric, struct cw_arena *arena)
{
    double most = 0, most_unsteady = 0;
    uint32_t kernels = 0, exact = 0, unknown_count = 0, by_floor = 0;
    for (uint32_t k = 0; k < l->runs->kernel_count; k++) {
        double *of = l->steady[k] ? &most : &most_unsteady;
        if (isfinite(l->noise[k]))
            *of = fmax(*of, l->noise[k]);
        exact += l->noise[k] == 0;
        unknown_count += isinf(l->noise[k]) != 0;
        by_floor += l->noise[k] > 0 && l->floor[k] > 0;
        kernels += !isnan(l->noise[k]);
    }
    metric->noise = 2 * exact > kernels ? 0 : 2 * unknown_count > kernels ? INFINITY : most > 0 ? most : most_unsteady;
    metric->floor = 2 * by_floor > kernels ? l->least_floor : 0;
    for (uint32_t k = 0; k < l->runs->kernel_count; k++) {
        const bool near = !l->time && l->noise[k] <= metric->noise && l->noise[k] >= 0.75 * metric->noise;
        const bool same = l->noise[k] == metric->noise || (near && isfinite(metric->noise));
        if (!isnan(l->noise[k]) && !(same && (l->floor[k] == metric->floor || !(l->noise[k] > 0))))
            l->kernels[metric->kernel_count++] = (struct cw_gate_kernel){l->runs->kernels[k], l->noise[k], l->floor[k]};
    }
    struct cw_gate_kernel *own = cw_arena_alloc(arena, metric->kernel_count, sizeof *own);
    if (own && metric->kernel_count)
        memcpy(own, l->kernels, metric->kernel_count * sizeof *own);
    metric->kernels = own;
    return own;
}

/* Launches of a kernel in the first run; 1 if they are not counted. */
static double launches_of(const struct cw_gate_runs *r, uint32_t kernel)
{
    for (uint32_t m = 0; m < r->metric_count; m++)
        if (strcmp(r->metrics[m], cw_gate_launches) == 0)
            return r->values[((size_t)m * r->kernel_count + kernel) * r->runs];
    return 1;
}

/* Adds the metric at hand to the summary. */
static void add_up(struct learning *l)
{
    struct cw_gate_summary *to = l->summary;
    for (uint32_t k = 0; k < l->runs->kernel_count; k++) {
        to->exact += l->noise[k] == 0;
        to->unjudged += isinf(l->noise[k]);
        if (l->noise[k] > 0 && isfinite(l->noise[k]))
            l->all[to->noisy++] = l->noise[k];
        if (l->time)
            l->shown[k] = cw_gate_shown_of(&(struct cw_gate_kernel){"", l->noise[k], l->floor[k]}, l->samples[k].mean,
                                           l->samples[k].mean * launches_of(l->runs, k));
    }
    if (l->time)
        to->slowdown = cw_gate_slowdown_of(l->shown, l->runs->kernel_count);
}

static void finish_summary(struct learning *l)
{
    struct cw_gate_summary *to = l->summary;
    if (!to->noisy)
        return;
    cw_values_sort(l->all, to->noisy);
    to->least = l->all[0];
    to->median = l->all[to->noisy / 2];
    to->greatest = l->all[to->noisy - 1];
}

/* False if nothing is known of the metric. */
static bool learn_metric(struct learning *l, uint32_t m, struct cw_gate_metric *metric)
{
    const struct cw_gate_runs *r = l->runs;
    double greatest = 0;
    bool known = false;
    l->exact = is_exact(r, m);
    l->time = strcmp(r->metrics[m], cw_gate_time) == 0;
    l->tail = false_alarms / 2 / r->kernel_count * (1 - time_share) / fmax(1, (double)r->metric_count - 1);
    for (uint32_t k = 0; k < r->kernel_count; k++) {
        l->samples[k] = sample_of(r, m, k);
        greatest = fmax(greatest, isfinite(l->samples[k].mean) ? fabs(l->samples[k].mean) : 0);
    }
    l->least_floor = least_part * greatest;
    l->mostly_same = find_mostly_same(l);
    l->all_zero = !l->exact && greatest == 0;
    if (l->time)
        find_time_limits(l);
    for (uint32_t k = 0; k < r->kernel_count; k++) {
        if (!l->time)
            find_limit(l, k);
        known = known || !isnan(l->noise[k]);
        if (l->first[k] != k) { /* a label has one limit */
            l->noise[l->first[k]] = fmax(l->noise[l->first[k]], l->noise[k]);
            l->floor[l->first[k]] = fmax(l->floor[l->first[k]], l->floor[k]);
            l->noise[k] = NAN;
        }
    }
    if (known)
        add_up(l);
    const bool less = l->time || strcmp(r->metrics[m], cw_gate_launches) == 0;
    *metric = (struct cw_gate_metric){.name = r->metrics[m],
                                      .better = less ? CW_BETTER_LESS : cw_metric_better(r->metrics[m])};
    return known;
}

enum cw_status cw_gate_learn(struct cw_gate_rules *rules, struct cw_gate_summary *summary,
                             const struct cw_gate_runs *runs, struct cw_arena *arena, struct cw_error *err)
{
    if (runs->runs < 3)
        return cw_error_set(err, CW_ERR_USAGE, "found %u runs to learn from, expected at least 3", runs->runs);
    *summary = (struct cw_gate_summary){.slowdown = {.least = NAN, .half = NAN, .most = NAN}};
    struct learning l = {.runs = runs,
                         .summary = summary,
                         .all = cw_arena_alloc(arena, (size_t)runs->metric_count * runs->kernel_count, sizeof *l.all),
                         .first = cw_arena_alloc(arena, runs->kernel_count, sizeof *l.first),
                         .steady = cw_arena_alloc(arena, runs->kernel_count, sizeof *l.steady),
                         .kernels = cw_arena_alloc(arena, runs->kernel_count, sizeof *l.kernels),
                         .samples = cw_arena_alloc(arena, runs->kernel_count, sizeof *l.samples),
                         .shown = cw_arena_alloc(arena, runs->kernel_count, sizeof *l.shown),
                         .time_samples = cw_arena_alloc(arena, runs->kernel_count, sizeof *l.time_samples),
                         .variances = cw_arena_alloc(arena, runs->kernel_count, sizeof *l.variances),
                         .noise = cw_arena_alloc(arena, runs->kernel_count, sizeof *l.noise),
                         .floor = cw_arena_alloc(arena, runs->kernel_count, sizeof *l.floor)};
    struct cw_gate_metric *metrics = cw_arena_alloc(arena, runs->metric_count, sizeof *metrics);
    bool enough = l.shown && l.time_samples && l.variances && l.first && l.steady && l.kernels && l.samples &&
                  l.noise && l.floor && l.all && metrics && find_first(&l, arena);
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
    if (!enough)
        return cw_error_nomem(err);
    return rules->metric_count ? CW_OK
                               : cw_error_set(err, CW_ERR_INCOMPARABLE,
                                              "found no value that all runs have, expected the time of a kernel, its "
                                              "launches, or a metric");
}
