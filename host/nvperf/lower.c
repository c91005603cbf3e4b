#define _GNU_SOURCE
#include "host/nvperf/lower.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static enum cw_nvperf_activity activity(const struct cw_config_image *plan)
{
    return plan->profiler == CW_PROFILER_RANGE ? CW_NVPERF_PROFILER : CW_NVPERF_PM_SAMPLING;
}

static struct cw_nvperf_placement as_theirs(const struct cw_config_image *plan, const struct cw_placement *at)
{
    return (struct cw_nvperf_placement){plan->raws[at->raw], plan->domains[at->domain].id};
}

/* Lists the placements of a pass, with `beside` if the library collects it in the same pass. */
static enum cw_status list_pass(struct cw_nvperf_scheduler *scheduler, const struct cw_config_image *plan,
                                const struct cw_config_pass *pass, uint64_t beside,
                                struct cw_nvperf_placement *placements, size_t *count, struct cw_error *err)
{
    bool fits = beside != 0;
    *count = pass->count;
    for (uint32_t k = 0; k < pass->count; k++) {
        const struct cw_placement *at = &pass->placements[k];
        placements[k] = as_theirs(plan, at);
        fits &= plan->raws[at->raw] != beside;
    }
    placements[pass->count] = (struct cw_nvperf_placement){.raw = beside};
    enum cw_status status = fits ? cw_nvperf_fits(scheduler, placements, *count + 1, &fits, err) : CW_OK;
    *count += fits;
    return status;
}

enum cw_status cw_nvperf_lower(const struct cw_nvperf *library, const struct cw_config_image *plan, uint64_t beside,
                               struct cw_writer *native, struct cw_error *err)
{
    size_t total = 0, n = 0;
    for (uint32_t i = 0; i < plan->pass_count; i++)
        total += plan->passes[i].count + 1;
    struct cw_nvperf_placement *placements = calloc(total + 1, sizeof *placements);
    size_t *counts = calloc((size_t)plan->pass_count + 1, sizeof *counts);
    struct cw_nvperf_scheduler *scheduler = NULL;
    enum cw_status status = placements && counts ? CW_OK : cw_error_nomem(err);
    if (status == CW_OK)
        status = cw_nvperf_scheduler_create(&scheduler, library, plan->chip, activity(plan), err);
    for (uint32_t i = 0; status == CW_OK && i < plan->pass_count; n += counts[i++])
        status = list_pass(scheduler, plan, &plan->passes[i], beside, placements + n, &counts[i], err);
    if (status == CW_OK)
        status = cw_nvperf_config_image(scheduler, placements, counts, plan->pass_count, native, err);
    cw_nvperf_scheduler_destroy(scheduler);
    free(placements);
    free(counts);
    return status;
}

struct cw_nvperf_prover {
    struct cw_nvperf_scheduler *scheduler;
};

enum cw_status cw_nvperf_prover_create(struct cw_nvperf_prover **prover, const struct cw_nvperf *library,
                                       const struct cw_config_image *plan, struct cw_error *err)
{
    struct cw_nvperf_prover *p = calloc(1, sizeof *p);
    *prover = NULL;
    enum cw_status status =
        p ? cw_nvperf_scheduler_create(&p->scheduler, library, plan->chip, activity(plan), err) : cw_error_nomem(err);
    if (status == CW_OK)
        *prover = p;
    else
        free(p);
    return status;
}

void cw_nvperf_prover_destroy(struct cw_nvperf_prover *p)
{
    if (p)
        cw_nvperf_scheduler_destroy(p->scheduler);
    free(p);
}

enum cw_status cw_nvperf_is_one_pass(const struct cw_nvperf_prover *prover, const struct cw_config_image *plan,
                                     const struct cw_config_pass *pass, bool *answer, struct cw_error *err)
{
    struct cw_nvperf_placement *placements = calloc((size_t)pass->count + 1, sizeof *placements);
    size_t passes = 0;
    for (uint32_t i = 0; placements && i < pass->count; i++)
        placements[i] = as_theirs(plan, &pass->placements[i]);
    enum cw_status status = placements
                                ? cw_nvperf_pass_count(prover->scheduler, placements, pass->count, false, &passes, err)
                                : cw_error_nomem(err);
    *answer = passes == 1;
    free(placements);
    return status;
}

struct repair {
    struct cw_nvperf_prover *prover;
    struct cw_config_image *plan;
    struct cw_arena *arena;
};

/* Keeps the placements of `pass` that fit together, in their order, and moves the others to `rest`. */
static enum cw_status split(struct repair *r, struct cw_config_pass *pass, struct cw_config_pass *rest,
                            struct cw_error *err)
{
    struct cw_placement *kept = cw_arena_alloc(r->arena, pass->count, sizeof *kept);
    struct cw_placement *moved = cw_arena_alloc(r->arena, pass->count, sizeof *moved);
    uint32_t k = 0, m = 0;
    enum cw_status status = kept && moved ? CW_OK : cw_error_nomem(err);
    for (uint32_t i = 0; status == CW_OK && i < pass->count; i++) {
        bool answer;
        kept[k] = pass->placements[i];
        status = cw_nvperf_is_one_pass(r->prover, r->plan, &(struct cw_config_pass){k + 1, kept}, &answer, err);
        if (answer)
            k++;
        else
            moved[m++] = pass->placements[i];
    }
    if (status == CW_OK && !k)
        status = cw_error_set(err, CW_ERR_UNSUPPORTED, "NVIDIA's library collects none of the raw counters of a pass");
    *pass = (struct cw_config_pass){k, kept};
    *rest = (struct cw_config_pass){m, moved};
    return status;
}

static enum cw_status repair_passes(struct repair *r, uint32_t *splits, struct cw_error *err)
{
    struct cw_config_image *plan = r->plan;
    uint32_t total = 0;
    for (uint32_t i = 0; i < plan->pass_count; i++)
        total += plan->passes[i].count;
    /* Each split leaves at least one placement behind, so there are never more passes than placements. */
    struct cw_config_pass *passes = cw_arena_alloc(r->arena, (size_t)total + plan->pass_count, sizeof *passes);
    if (!passes)
        return cw_error_nomem(err);
    for (uint32_t i = 0; i < plan->pass_count; i++)
        passes[i] = plan->passes[i];
    uint32_t count = plan->pass_count;
    enum cw_status status = CW_OK;
    for (uint32_t i = 0; status == CW_OK && i < count; i++) {
        bool answer;
        status = cw_nvperf_is_one_pass(r->prover, plan, &passes[i], &answer, err);
        if (status != CW_OK || answer)
            continue;
        status = split(r, &passes[i], &passes[count], err);
        count += passes[count].count > 0;
        ++*splits;
    }
    plan->passes = passes;
    plan->pass_count = count;
    return status;
}

enum cw_status cw_nvperf_repair(const struct cw_nvperf *library, struct cw_config_image *plan, uint32_t *splits,
                                struct cw_arena *arena, struct cw_error *err)
{
    struct repair r = {.plan = plan, .arena = arena};
    enum cw_status status = cw_nvperf_prover_create(&r.prover, library, plan, err);
    *splits = 0;
    if (status == CW_OK)
        status = repair_passes(&r, splits, err);
    cw_nvperf_prover_destroy(r.prover);
    return status;
}

struct cw_nvperf_decoder {
    struct cw_nvperf_evaluator *evaluator;
    struct cw_nvperf_requests *values, *facts;
    size_t count, ranges;
    double *buffer; /* 4 values for each counter */
};

static const char *const value_suffix[CW_ROLLUP_COUNT] = {".sum", ".avg", ".min", ".max"};
static const char *const fact_suffix[CW_ROLLUP_COUNT] = {".sum.peak_sustained", ".avg.peak_sustained",
                                                         ".min.peak_sustained", ".max.peak_sustained"};

static enum cw_status make_requests(struct cw_nvperf_requests **requests, const struct cw_nvperf_evaluator *evaluator,
                                    const struct cw_schema_counter *counters, size_t count,
                                    const char *const suffix[CW_ROLLUP_COUNT], struct cw_error *err)
{
    size_t n = count * CW_ROLLUP_COUNT;
    char **names = calloc(n + 1, sizeof *names);
    enum cw_status status = names ? CW_OK : cw_error_nomem(err);
    for (size_t i = 0; status == CW_OK && i < n; i++)
        if (asprintf(&names[i], "%s%s", counters[i / CW_ROLLUP_COUNT].name, suffix[i % CW_ROLLUP_COUNT]) < 0) {
            names[i] = NULL;
            status = cw_error_nomem(err);
        }
    if (status == CW_OK)
        status = cw_nvperf_requests_create(requests, evaluator, (const char *const *)names, n, err);
    for (size_t i = 0; names && i < n; i++)
        free(names[i]);
    free(names);
    return status;
}

enum cw_status cw_nvperf_decoder_create(struct cw_nvperf_decoder **out, const struct cw_nvperf *library,
                                        const char *chip, enum cw_nvperf_activity activity, const void *image,
                                        size_t size, const struct cw_schema_counter *counters, size_t count,
                                        struct cw_error *err)
{
    struct cw_nvperf_decoder *d = calloc(1, sizeof *d);
    *out = NULL;
    if (!d)
        return cw_error_nomem(err);
    d->count = count;
    d->buffer = calloc(count * CW_ROLLUP_COUNT + 1, sizeof *d->buffer);
    enum cw_status status = d->buffer ? CW_OK : cw_error_nomem(err);
    if (status == CW_OK)
        status = cw_nvperf_evaluator_create(&d->evaluator, library, chip, activity, image, size, err);
    if (status == CW_OK)
        status = cw_nvperf_range_count(d->evaluator, &d->ranges, err);
    if (status == CW_OK)
        status = make_requests(&d->values, d->evaluator, counters, count, value_suffix, err);
    if (status == CW_OK)
        status = make_requests(&d->facts, d->evaluator, counters, count, fact_suffix, err);
    if (status != CW_OK) {
        cw_nvperf_decoder_destroy(d);
        return status;
    }
    *out = d;
    return CW_OK;
}

void cw_nvperf_decoder_destroy(struct cw_nvperf_decoder *d)
{
    if (!d)
        return;
    cw_nvperf_requests_destroy(d->values);
    cw_nvperf_requests_destroy(d->facts);
    cw_nvperf_evaluator_destroy(d->evaluator);
    free(d->buffer);
    free(d);
}

size_t cw_nvperf_decoder_ranges(const struct cw_nvperf_decoder *decoder)
{
    return decoder->ranges;
}

enum cw_status cw_nvperf_decode_range(struct cw_nvperf_decoder *d, size_t range, struct cw_value *values,
                                      struct cw_error *err)
{
    enum cw_status status = cw_nvperf_evaluate(d->evaluator, d->values, range, d->buffer, err);
    for (size_t i = 0; status == CW_OK && i < d->count; i++) {
        const double *from = d->buffer + i * CW_ROLLUP_COUNT;
        values[i] = (struct cw_value){.form = isnan(from[CW_SUM]) ? CW_FORM_UNAVAILABLE : CW_FORM_ROLLUPS};
        for (int r = 0; r < CW_ROLLUP_COUNT; r++)
            values[i].rollup[r] = from[r];
    }
    return status;
}

/* Computes the number of instances, which the library does not give, as sum over average if either is not zero. */
static uint32_t instances(double sum, double avg)
{
    double n = sum / avg;
    return n >= 1 && n < 1e6 ? (uint32_t)(n + 0.5) : 0;
}

enum cw_status cw_nvperf_decode_facts(struct cw_nvperf_decoder *d, struct cw_device_facts *facts, struct cw_error *err)
{
    if (!d->ranges)
        return cw_error_set(err, CW_ERR_INPUT, "found no range in the native counter data, expected at least one");
    enum cw_status status = cw_nvperf_evaluate(d->evaluator, d->facts, 0, d->buffer, err);
    for (size_t i = 0; status == CW_OK && i < d->count; i++) {
        const double *peak = d->buffer + i * CW_ROLLUP_COUNT;
        facts[i].instances = instances(peak[CW_SUM], peak[CW_AVG]);
        for (int r = 0; r < CW_ROLLUP_COUNT; r++)
            facts[i].peak[r] = peak[r];
    }
    if (status == CW_OK)
        status = cw_nvperf_evaluate(d->evaluator, d->values, 0, d->buffer, err);
    for (size_t i = 0; status == CW_OK && i < d->count; i++)
        if (!facts[i].instances)
            facts[i].instances = instances(d->buffer[i * CW_ROLLUP_COUNT], d->buffer[i * CW_ROLLUP_COUNT + 1]);
    return status;
}
