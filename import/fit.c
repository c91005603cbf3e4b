#include "import/fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "import/derive.h"

enum { LARGEST_IMAGE = 1 << 30 };

/* Suffixes that the evaluator computes for each counter and throughput. */
static const char *const counter_asks[] = {".sum",
                                           ".avg",
                                           ".min",
                                           ".max",
                                           ".avg.per_cycle_active",
                                           ".avg.per_cycle_elapsed",
                                           ".sum.peak_sustained",
                                           ".avg.peak_sustained"};
enum { SUM, AVG, MIN, MAX, PER_ACTIVE, PER_ELAPSED, PEAK_SUM, PEAK_AVG, COUNTER_ASKS };
static const char *const ratio_asks[] = {".ratio", ".max_rate"};
enum { RATIO, MAX_RATE, RATIO_ASKS };
static const char *const pct = ".avg.pct_of_peak_sustained_elapsed";

struct evidence { /* values of one range */
    double (*counters)[COUNTER_ASKS];
    double (*ratios)[RATIO_ASKS];
    double *throughputs;
    double *counter_pct;
};

struct names { /* of what is asked */
    struct cw_arena *arena;
    const char **list; /* NULL when out of memory */
    size_t *at;        /* for each, where its value stands in a range's */
    size_t count, values;
};

/* Metrics of ranges are fitted to ranges, and what PM sampling alone has is fitted to samples. */
struct fit {
    struct cw_facts *facts;
    uint32_t listed; /* CW_OF_RANGES or CW_OF_SAMPLES: whose list the evidence is of */
    struct names names;
    struct evidence *evidence;
    size_t count;
};

/* ---- reading evidence ------------------------------------------------------------------------------------------- */

/* The next value of a range: it is asked for where the metric is in the list. */
static void add_name(struct names *names, bool asked, const char *base, const char *suffix)
{
    size_t at = names->values++;
    if (!asked || !names->list)
        return;
    names->at[names->count] = at;
    if (!(names->list[names->count++] = cw_arena_printf(names->arena, "%s%s", base, suffix)))
        names->list = NULL;
}

static void list_names(struct names *names, const struct cw_chip *chip, uint32_t listed)
{
    size_t most = (size_t)chip->counter_count * (COUNTER_ASKS + 1) + (size_t)chip->ratio_count * RATIO_ASKS +
                  chip->throughput_count;
    names->list = cw_arena_alloc(names->arena, most, sizeof(const char *));
    names->at = cw_arena_alloc(names->arena, most, sizeof *names->at);
    if (!names->at)
        names->list = NULL;
    for (uint32_t i = 0; i < chip->counter_count; i++)
        for (int k = 0; k < COUNTER_ASKS; k++)
            add_name(names, chip->counters[i].listed & listed, chip->counters[i].name, counter_asks[k]);
    for (uint32_t i = 0; i < chip->ratio_count; i++)
        for (int k = 0; k < RATIO_ASKS; k++)
            add_name(names, chip->ratios[i].listed & listed, chip->ratios[i].name, ratio_asks[k]);
    for (uint32_t i = 0; i < chip->throughput_count; i++)
        add_name(names, chip->throughputs[i].listed & listed, chip->throughputs[i].name, pct);
    for (uint32_t i = 0; i < chip->counter_count; i++)
        add_name(names, chip->counters[i].listed & listed, chip->counters[i].name, pct);
}

/* Whether the fit is about a metric: what is in both lists is fitted to ranges alone. */
static bool is_fitted(const struct fit *fit, uint32_t listed)
{
    return fit->listed == CW_OF_RANGES ? listed & CW_OF_RANGES : listed == CW_OF_SAMPLES;
}

static enum cw_status add_range(struct fit *fit, struct cw_nvperf_evaluator *e,
                                const struct cw_nvperf_requests *requests, size_t range, struct cw_error *err)
{
    const struct cw_chip *chip = &fit->facts->chip;
    struct evidence *grown = realloc(fit->evidence, (fit->count + 1) * sizeof *grown);
    if (grown)
        fit->evidence = grown;
    double *values = cw_arena_alloc(fit->facts->arena, fit->names.values, sizeof *values);
    double *asked = calloc(fit->names.count + 1, sizeof *asked);
    enum cw_status status =
        grown && values && asked ? cw_nvperf_evaluate(e, requests, range, asked, err) : cw_error_nomem(err);
    for (size_t i = 0; values && i < fit->names.values; i++)
        values[i] = NAN;
    for (size_t i = 0; status == CW_OK && i < fit->names.count; i++)
        values[fit->names.at[i]] = asked[i];
    free(asked);
    if (status != CW_OK)
        return status;
    struct evidence *v = &fit->evidence[fit->count];
    v->counters = (void *)values;
    values += (size_t)chip->counter_count * COUNTER_ASKS;
    v->ratios = (void *)values;
    values += (size_t)chip->ratio_count * RATIO_ASKS;
    v->throughputs = values;
    v->counter_pct = values + chip->throughput_count;
    fit->count++;
    return CW_OK;
}

static enum cw_status add_image(struct fit *fit, const struct cw_nvperf *library, const char *path,
                                struct cw_error *err)
{
    struct cw_bytes file;
    enum cw_status status = cw_file_read(&file, path, LARGEST_IMAGE, err);
    if (status != CW_OK)
        return status;
    struct cw_nvperf_evaluator *e = NULL;
    struct cw_nvperf_requests *requests = NULL;
    size_t ranges = 0;
    enum cw_nvperf_activity activity = fit->listed == CW_OF_RANGES ? CW_NVPERF_PROFILER : CW_NVPERF_PM_SAMPLING;
    status = cw_nvperf_evaluator_create(&e, library, fit->facts->chip.name, activity, file.data, file.size, err);
    if (status == CW_OK)
        status = cw_nvperf_requests_create(&requests, e, fit->names.list, fit->names.count, err);
    if (status == CW_OK)
        status = cw_nvperf_range_count(e, &ranges, err);
    if (status == CW_OK && !ranges)
        status = cw_error_set(err, CW_ERR_INPUT, "%s: found no range of native counter data in it", path);
    for (size_t range = 0; status == CW_OK && range < ranges; range++)
        status = add_range(fit, e, requests, range, err);
    cw_nvperf_requests_destroy(requests);
    cw_nvperf_evaluator_destroy(e);
    cw_bytes_free(&file);
    return status;
}

/* A plan of samples has one pass, so they do not tell of every metric. */
static bool is_absent(const struct fit *fit, double value)
{
    return fit->listed == CW_OF_SAMPLES && isnan(value);
}

/* ---- counters --------------------------------------------------------------------------------------------------- */

/* The first candidate whose average turns the counter's average into its per-cycle value on all evidence. */
static uint32_t fit_cycles(const struct fit *fit, uint32_t counter, enum cw_facts_cycles which, int ask)
{
    uint32_t candidates[256];
    uint32_t n = cw_facts_cycle_candidates(fit->facts, counter, which, candidates, 256);
    for (uint32_t k = 0; k < n; k++) {
        bool right = true;
        for (size_t i = 0; i < fit->count && right; i++) {
            const double *x = fit->evidence[i].counters[counter];
            right = cw_derive_same(cw_derive_quotient(x[AVG], fit->evidence[i].counters[candidates[k]][AVG]), x[ask]);
        }
        if (right)
            return candidates[k];
    }
    return CW_NONE;
}

/* X__cycles_in_frame and X__cycles_in_region have no peak. */
static bool is_user_span(const char *name)
{
    return strstr(name, "__cycles_in_frame") || strstr(name, "__cycles_in_region");
}

static void fit_counters(struct fit *fit)
{
    struct cw_facts *f = fit->facts;
    for (uint32_t c = 0; c < f->chip.counter_count; c++) {
        if (!is_fitted(fit, f->counters[c].listed))
            continue;
        f->counters[c].active = fit_cycles(fit, c, CW_FACTS_ACTIVE, PER_ACTIVE);
        f->counters[c].elapsed = fit_cycles(fit, c, CW_FACTS_ELAPSED, PER_ELAPSED);
        if (!fit->count)
            continue;
        const double *x = fit->evidence[0].counters[c];
        f->counters[c].peak = x[PEAK_AVG];
        if (isnan(x[PEAK_AVG]) && is_user_span(f->counters[c].name)) /* ranges have 0 of them */
            f->counters[c].peak = 0;
        double instances = x[PEAK_SUM] / x[PEAK_AVG];
        for (size_t i = 0; i < fit->count && !(instances >= 1); i++)
            instances = fit->evidence[i].counters[c][SUM] / fit->evidence[i].counters[c][AVG];
        f->counters[c].instances = instances >= 1 && instances < 1e6 ? (uint32_t)(instances + 0.5) : 0;
    }
}

static enum cw_status derive_counters(const struct fit *fit, struct cw_error *err)
{
    uint32_t count = fit->facts->chip.counter_count;
    double *values = calloc(fit->count * count + 1, (MAX + 1) * sizeof *values), *v = values;
    if (!values)
        return cw_error_nomem(err);
    for (size_t i = 0; i < fit->count; i++)
        for (uint32_t c = 0; c < count; c++, v += MAX + 1)
            memcpy(v, fit->evidence[i].counters[c], (MAX + 1) * sizeof *v);
    enum cw_status status = cw_derive(fit->facts, values, fit->count, err);
    free(values);
    return status;
}

/* ---- ratios ----------------------------------------------------------------------------------------------------- */

struct candidate {
    uint32_t numerator, denominator, confirmed;
    double scale;
    int score;
};

/* Length of the word at `p` without the plural s. */
static size_t stem(const char *p)
{
    size_t n = strcspn(p, "_.");
    return n > 1 && p[n - 1] == 's' ? n - 1 : n;
}

/* Counts the words, between underscores and dots, that both names have. */
static int shared_words(const char *a, const char *b)
{
    int shared = 0;
    for (const char *p = b; *p;) {
        size_t n = strcspn(p, "_.");
        for (const char *q = a; n && *q;) {
            size_t m = strcspn(q, "_.");
            if (stem(p) == stem(q) && strncmp(p, q, stem(p)) == 0) {
                shared++;
                break;
            }
            q += m + strspn(q + m, "_.");
        }
        p += n + strspn(p + n, "_.");
    }
    return shared;
}

static int words(const char *name)
{
    return shared_words(name, name);
}

static int likeness(const char *wanted, const char *name)
{
    return shared_words(wanted, name) - 40 * (strstr(name, "Triage") && !strstr(wanted, "Triage"));
}

/* Whether the dimensions of numerator and denominator give the ratio's dimension. */
static bool dimensions_agree(const struct cw_ratio *r, const struct cw_counter *n, const struct cw_counter *d)
{
    char quotient[256];
    snprintf(quotient, sizeof quotient, "%s/%s", n->dimension, d->dimension);
    return strcmp(strcmp(n->dimension, d->dimension) == 0 ? "1" : quotient, r->dimension) == 0;
}

/* Scores the fit of a pair's names, dimensions and peak rates to the ratio: higher is better. */
static int suits(const struct fit *fit, const struct cw_ratio *r, const struct candidate *c)
{
    const struct cw_chip *chip = &fit->facts->chip;
    const struct cw_counter *n = &chip->counters[c->numerator], *d = &chip->counters[c->denominator];
    int score = 4 * (shared_words(r->name, n->name) + shared_words(r->name, d->name)) - words(n->name) - words(d->name);
    score += 20 * (n->unit == r->unit) + 20 * (d->unit == r->unit);
    score += 50 * dimensions_agree(r, n, d);
    const char *per = strstr(r->name, "_per_");
    if (per) { /* ..._NUMERATOR_per_DENOMINATOR */
        char above[256];
        snprintf(above, sizeof above, "%.*s", (int)(per - r->name), r->name);
        score += 8 * (shared_words(above, n->name) + shared_words(per + 5, d->name));
    }
    /* A part of a whole is named after the whole: sectors_lookup_hit of sectors. */
    score +=
        30 * (strncmp(n->name, d->name, strlen(d->name)) == 0) - 30 * (strncmp(n->name, d->name, strlen(n->name)) == 0);
    score -= 40 * ((strstr(n->name, "Triage") || strstr(d->name, "Triage")) && !strstr(r->name, "Triage"));
    if (fit->count) {
        double rate = c->scale * fit->evidence[0].counters[c->numerator][PEAK_SUM] /
                      fit->evidence[0].counters[c->denominator][PEAK_SUM];
        score += 60 * cw_derive_same(rate, r->max_rate);
    }
    return score;
}

/* The factor between the ratio and the quotient of the pair, or 0 if there is none. */
static double scale_of(const struct fit *fit, uint32_t ratio, struct candidate *c)
{
    double scale = 0;
    c->confirmed = 0;
    for (size_t i = 0; i < fit->count; i++) {
        double value = fit->evidence[i].ratios[ratio][RATIO], n = fit->evidence[i].counters[c->numerator][SUM],
               d = fit->evidence[i].counters[c->denominator][SUM];
        if (is_absent(fit, value) || is_absent(fit, n) || is_absent(fit, d))
            continue;
        if (d == 0 || n == 0 || value == 0) {
            if (!(value == 0))
                return 0;
            if (n != 0 && d != 0)
                return 0;
            continue;
        }
        double here = value / (n / d);
        if (scale == 0)
            scale = fabs(here - 1) < 1e-9 ? 1 : here;
        if (!cw_derive_same(scale * n / d, value))
            return 0;
        c->confirmed++;
    }
    return c->confirmed ? scale : 1;
}

/* The best pair of counters of the lists `from`; a score of INT32_MIN where there is none. */
static struct candidate find_pair(const struct fit *fit, uint32_t index, uint32_t from)
{
    struct cw_facts *f = fit->facts;
    const struct cw_ratio *r = &f->ratios[index];
    uint32_t *parts = calloc(f->chip.counter_count + 1, sizeof *parts);
    uint32_t n = 0;
    for (uint32_t i = 0; parts && i < f->chip.counter_count; i++)
        if ((f->counters[i].listed & from) && f->counters[i].raws.count &&
            cw_list_within(&f->counters[i].raws, &r->raws))
            parts[n++] = i;
    struct candidate best = {.score = INT32_MIN};
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = 0; b < n; b++) {
            struct candidate c = {.numerator = parts[a], .denominator = parts[b]};
            const struct cw_list *x = &f->counters[c.numerator].raws, *y = &f->counters[c.denominator].raws;
            if (a == b || !cw_list_covered(&r->raws, x, y) || (c.scale = scale_of(fit, index, &c)) == 0)
                continue;
            c.score = suits(fit, r, &c) + (c.scale == 1 ? 1000 : 0);
            if (c.scale != 1 && c.confirmed < 2) /* a single value fits any factor */
                continue;
            if (c.score > best.score)
                best = c;
        }
    free(parts);
    return best;
}

/* A ratio that PM sampling alone has may divide counters that only ranges have: then no sample tells it. */
static void fit_ratio(const struct fit *fit, uint32_t index)
{
    struct cw_ratio *r = &fit->facts->ratios[index];
    if (!is_fitted(fit, r->listed))
        return;
    if (fit->count)
        r->max_rate = fit->evidence[0].ratios[index][MAX_RATE];
    struct candidate best = find_pair(fit, index, fit->listed);
    if (best.score == INT32_MIN && fit->listed == CW_OF_SAMPLES)
        best = find_pair(fit, index, CW_OF_BOTH);
    if (best.score == INT32_MIN)
        return;
    r->numerator = best.numerator;
    r->denominator = best.denominator;
    r->scale = best.scale;
    r->confirmed = best.confirmed;
}

/* ---- throughputs ------------------------------------------------------------------------------------------------ */

static double largest(const struct fit *fit, const struct evidence *v, uint32_t index, double so_far)
{
    const struct cw_throughput *t = &fit->facts->throughputs[index];
    for (uint32_t i = 0; i < t->counters.count; i++)
        so_far = fmax(so_far, v->counter_pct[t->counters.items[i]]);
    for (uint32_t i = 0; i < t->throughputs.count; i++)
        so_far = largest(fit, v, t->throughputs.items[i], so_far);
    return so_far;
}

/* Number of ranges with a value above zero on which the constituents give the throughput; 0 if any range
 * contradicts. */
static uint32_t confirm(const struct fit *fit, uint32_t index)
{
    uint32_t confirmed = 0;
    for (size_t i = 0; i < fit->count; i++) {
        double got = largest(fit, &fit->evidence[i], index, NAN), want = fit->evidence[i].throughputs[index];
        if (is_absent(fit, want))
            continue;
        if (!cw_derive_same(got, want))
            return 0;
        confirmed += want > 0;
    }
    return confirmed;
}

/* Whether the counter's percentage never exceeds the throughput's, and is above zero on some range. */
static bool may_constitute(const struct fit *fit, uint32_t counter, uint32_t index)
{
    bool seen = false;
    for (size_t i = 0; i < fit->count; i++) {
        double part = fit->evidence[i].counter_pct[counter], whole = fit->evidence[i].throughputs[index];
        if (is_absent(fit, part) || is_absent(fit, whole))
            continue;
        if (!(part <= whole || cw_derive_same(part, whole)))
            return false;
        seen = seen || part > 0;
    }
    return seen;
}

/* Without evidence, a counter that needs just what the throughput does is its constituent: the one named most alike. */
static void infer_throughput(const struct fit *fit, uint32_t index)
{
    struct cw_facts *f = fit->facts;
    struct cw_throughput *t = &f->throughputs[index];
    uint32_t *one = cw_arena_alloc(f->arena, 1, sizeof *one);
    int most = INT32_MIN;
    for (uint32_t c = 0; one && c < f->chip.counter_count; c++) {
        int like = likeness(t->name, f->counters[c].name);
        if (!(f->counters[c].listed & fit->listed) || !cw_list_equal(&f->elapsed_raws[c], &t->raws) || like <= most)
            continue;
        most = like;
        *one = c;
        t->counters = (struct cw_list){1, one};
    }
}

/* Some throughputs have constituents that the library does not list. Then every counter whose raw counters are among
 * the throughput's, and which never exceeds it, is one, provided that together they give its value on all evidence. Of
 * counters with the same raw counters, the one named most like the throughput stands for all. */
static void fit_throughput(const struct fit *fit, uint32_t index)
{
    struct cw_facts *f = fit->facts;
    struct cw_throughput *t = &f->throughputs[index];
    if (!is_fitted(fit, t->listed) || !cw_facts_lists_nothing(f, index))
        return;
    if (!fit->count && fit->listed == CW_OF_SAMPLES)
        infer_throughput(fit, index);
    if (!fit->count)
        return;
    uint32_t *parts = cw_arena_alloc(f->arena, f->chip.counter_count, sizeof *parts);
    uint32_t n = 0;
    for (uint32_t c = 0; parts && c < f->chip.counter_count; c++) {
        if (!(f->counters[c].listed & fit->listed) || !f->elapsed_raws[c].count ||
            !cw_list_within(&f->elapsed_raws[c], &t->raws) || !may_constitute(fit, c, index))
            continue;
        uint32_t k = 0;
        while (k < n && !cw_list_equal(&f->elapsed_raws[parts[k]], &f->elapsed_raws[c]))
            k++;
        if (k == n)
            parts[n++] = c;
        else if (likeness(t->name, f->counters[c].name) > likeness(t->name, f->counters[parts[k]].name))
            parts[k] = c;
    }
    for (uint32_t k = 0; k < n; k++) { /* a single counter that is enough */
        t->counters = (struct cw_list){1, parts + k};
        if (confirm(fit, index))
            return;
    }
    t->counters = (struct cw_list){n, parts};
    if (!confirm(fit, index))
        t->counters = (struct cw_list){0, NULL};
}

/* Turns a ratio without evidence the same way up as the confirmed ratio with the closest name. */
static void follow_sibling(const struct fit *fit, uint32_t index)
{
    struct cw_facts *f = fit->facts;
    struct cw_ratio *r = &f->ratios[index];
    const struct cw_ratio *sibling = NULL;
    int most = 0;
    if (!is_fitted(fit, r->listed) || r->confirmed || r->numerator == CW_NONE)
        return;
    /* The dimensions decide if they can. */
    if (!dimensions_agree(r, &f->counters[r->denominator], &f->counters[r->numerator]))
        return;
    for (uint32_t i = 0; i < f->chip.ratio_count; i++) {
        const struct cw_ratio *other = &f->ratios[i];
        int like = shared_words(r->name, other->name);
        if (other->confirmed && other->unit == r->unit && like > most) {
            sibling = other;
            most = like;
        }
    }
    if (!sibling)
        return;
    const char *n = f->counters[r->numerator].name, *d = f->counters[r->denominator].name;
    const char *above = f->counters[sibling->numerator].name, *below = f->counters[sibling->denominator].name;
    int as_is = shared_words(n, above) + shared_words(d, below),
        turned = shared_words(d, above) + shared_words(n, below);
    if (turned > as_is) {
        uint32_t swap = r->numerator;
        r->numerator = r->denominator;
        r->denominator = swap;
    }
}

static enum cw_status fit_to(struct cw_facts *facts, uint32_t listed, const struct cw_nvperf *library,
                             const char *const *paths, size_t count, struct cw_error *err)
{
    struct fit fit = {.facts = facts, .listed = listed};
    enum cw_status status = CW_OK;
    if (count) {
        fit.names.arena = cw_arena_create();
        if (fit.names.arena)
            list_names(&fit.names, &facts->chip, listed);
        if (!fit.names.list)
            status = cw_error_nomem(err);
    }
    for (size_t i = 0; status == CW_OK && i < count; i++)
        status = add_image(&fit, library, paths[i], err);
    if (status == CW_OK) {
        fit_counters(&fit);
        cw_facts_settle_units(facts);
        status = listed == CW_OF_RANGES ? derive_counters(&fit, err) : CW_OK;
    }
    if (status == CW_OK) {
        for (uint32_t i = 0; i < facts->chip.ratio_count; i++)
            fit_ratio(&fit, i);
        for (uint32_t i = 0; i < facts->chip.ratio_count; i++)
            follow_sibling(&fit, i);
        /* constituents first, because a throughput depends on them */
        for (uint32_t i = facts->chip.throughput_count; i-- > 0;)
            fit_throughput(&fit, i);
        for (uint32_t i = 0; i < facts->chip.throughput_count; i++)
            if (is_fitted(&fit, facts->throughputs[i].listed))
                facts->throughputs[i].confirmed = confirm(&fit, i);
    }
    cw_arena_destroy(fit.names.arena);
    free(fit.evidence);
    return status;
}

/* Which list the images are of: NVIDIA's evaluator of each refuses those of the other. */
static enum cw_status sort_images(const struct cw_facts *facts, const struct cw_nvperf *library,
                                  const char *const *paths, size_t count, const char **sorted, size_t *ranges,
                                  struct cw_error *err)
{
    size_t samples = 0;
    *ranges = 0;
    for (size_t i = 0; i < count; i++) {
        struct cw_nvperf_evaluator *e = NULL;
        struct cw_bytes file;
        enum cw_status status = cw_file_read(&file, paths[i], LARGEST_IMAGE, err);
        if (status != CW_OK)
            return status;
        bool sampled = cw_nvperf_evaluator_create(&e, library, facts->chip.name, CW_NVPERF_PM_SAMPLING, file.data,
                                                  file.size, NULL) == CW_OK;
        cw_nvperf_evaluator_destroy(e);
        cw_bytes_free(&file);
        sorted[sampled ? count - ++samples : (*ranges)++] = paths[i];
    }
    return CW_OK;
}

enum cw_status cw_fit(struct cw_facts *facts, const struct cw_nvperf *library, const char *const *paths, size_t count,
                      struct cw_error *err)
{
    const char **sorted = cw_arena_alloc(facts->arena, count, sizeof(const char *));
    size_t ranges = 0;
    enum cw_status status =
        sorted ? sort_images(facts, library, paths, count, sorted, &ranges, err) : cw_error_nomem(err);
    if (status == CW_OK)
        status = fit_to(facts, CW_OF_RANGES, library, sorted, ranges, err);
    if (status == CW_OK)
        status = fit_to(facts, CW_OF_SAMPLES, library, sorted + ranges, count - ranges, err);
    return status;
}
