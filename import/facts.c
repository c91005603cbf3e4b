#define _GNU_SOURCE
#include "import/facts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "metricdb/chip_write.h"

static const char *const suffixes[CW_NVPERF_TYPE_COUNT] = {".sum", ".ratio", ".avg.pct_of_peak_sustained_elapsed"};

bool cw_list_equal(const struct cw_list *a, const struct cw_list *b)
{
    return a->count == b->count && (!a->count || memcmp(a->items, b->items, a->count * sizeof *a->items) == 0);
}

bool cw_list_within(const struct cw_list *a, const struct cw_list *b)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < a->count; i++) {
        while (k < b->count && b->items[k] < a->items[i])
            k++;
        if (k == b->count || b->items[k] != a->items[i])
            return false;
    }
    return true;
}

bool cw_list_covered(const struct cw_list *list, const struct cw_list *a, const struct cw_list *b)
{
    bool covered = true;
    for (uint32_t i = 0; i < list->count && covered; i++) {
        const struct cw_list one = {1, &list->items[i]};
        covered = cw_list_within(&one, a) || cw_list_within(&one, b);
    }
    return covered;
}

struct importing {
    struct cw_facts *f;
    struct cw_nvperf_evaluator *ranges, *samples; /* the latter NULL where the chip has no PM sampling */
    struct cw_nvperf_evaluator *e;                /* of these, whose metrics are imported */
    struct cw_error *err;
    enum cw_status status; /* status of the first failure; nothing is done after it */
};

static void *array(struct importing *in, size_t count, size_t size)
{
    void *items = in->status == CW_OK ? cw_arena_alloc(in->f->arena, count, size) : NULL;
    if (!items && in->status == CW_OK)
        in->status = cw_error_nomem(in->err);
    return items;
}

/* Joins two texts into a new one; "" after a failure. */
static const char *join(struct importing *in, const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    char *copy = array(in, length + tail + 1, 1);
    if (!copy)
        return "";
    memcpy(copy, text, length);
    memcpy(copy + length, end, tail);
    return copy;
}

/* ---- domains and raw counters ----------------------------------------------------------------------------------- */

struct found { /* a raw counter in a domain */
    uint64_t id;
    uint32_t domain, preference;
};

static int by_id_and_preference(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    if (x->preference != y->preference)
        return x->preference < y->preference ? -1 : 1;
    return (x->domain > y->domain) - (x->domain < y->domain);
}

/* Ranks domains, preferred ones with lower numbers: small dedicated domains first. A counter that sm_c or sm_a can
 * collect excludes nearly everything else on sm_a, and a cooperative group takes room in one domain and conflicts in
 * two. */
static uint32_t preference(const struct cw_nvperf_domain *domain, size_t counters)
{
    return (domain->cooperative ? 100000u : 0) + (uint32_t)counters;
}

static void add_found(struct cw_writer *found, uint64_t id, uint32_t domain, uint32_t preferred)
{
    cw_write_bytes(found, &(struct found){id, domain, preferred}, sizeof(struct found));
}

static void gather(struct importing *in, const struct cw_nvperf_scheduler *scheduler, struct cw_writer *found)
{
    size_t domains;
    const struct cw_nvperf_domain *domain = cw_nvperf_domains(scheduler, &domains);
    for (size_t d = 0; d < domains && in->status == CW_OK; d++) {
        uint64_t *raws = NULL;
        size_t n = 0;
        in->status = cw_nvperf_domain_counters(scheduler, domain[d].id, &raws, &n, in->err);
        for (size_t i = 0; i < n && in->status == CW_OK; i++)
            add_found(found, raws[i], (uint32_t)d, preference(&domain[d], n));
        free(raws);
    }
}

/* Every raw counter that a metric needs: some are in no domain. */
static void gather_needed(struct importing *in, struct cw_writer *found)
{
    size_t room = 0, n = 0, count = 0;
    uint64_t *raws = NULL;
    for (int type = 0; type < CW_NVPERF_TYPE_COUNT; type++)
        room += cw_nvperf_metric_count(in->e, (enum cw_nvperf_type)type);
    const char **names = array(in, room, sizeof(const char *));
    for (int type = 0; type < CW_NVPERF_TYPE_COUNT; type++)
        for (size_t i = 0; names && i < cw_nvperf_metric_count(in->e, (enum cw_nvperf_type)type); i++)
            names[n++] = join(in, cw_nvperf_metric_name(in->e, (enum cw_nvperf_type)type, i), suffixes[type]);
    if (in->status == CW_OK)
        in->status = cw_nvperf_raw_counters(in->e, names, n, &raws, &count, in->err);
    for (size_t i = 0; i < count && in->status == CW_OK; i++)
        add_found(found, raws[i], CW_NONE, CW_NONE);
    free(raws);
}

static void index_raws(struct importing *in, struct found *found, size_t count)
{
    struct cw_chip *chip = &in->f->chip;
    struct cw_raw_counter *raws = array(in, count, sizeof *raws);
    struct cw_chip_placement *placements = array(in, count, sizeof *placements);
    if (in->status == CW_OK && count)
        qsort(found, count, sizeof *found, by_id_and_preference);
    for (size_t i = 0; in->status == CW_OK && i < count; i++) {
        if (!i || found[i].id != found[i - 1].id)
            raws[chip->raw_count++] = (struct cw_raw_counter){.id = found[i].id, .placement = chip->placement_count};
        if (found[i].domain == CW_NONE)
            continue;
        raws[chip->raw_count - 1].placement_count++;
        placements[chip->placement_count++] = (struct cw_chip_placement){chip->raw_count - 1, found[i].domain};
    }
    chip->raws = raws;
    chip->placements = placements;
}

/* Imports domains. For some chips the library knows the metrics but makes no passes: these have no domains. */
static void import_domains(struct importing *in, const struct cw_nvperf *library)
{
    struct cw_chip *chip = &in->f->chip;
    struct cw_nvperf_scheduler *scheduler = NULL;
    struct cw_writer found;
    size_t count = 0;
    cw_writer_init(&found);
    enum cw_status status = cw_nvperf_scheduler_create(&scheduler, library, chip->name, CW_NVPERF_PROFILER, NULL);
    in->status = status == CW_ERR_UNSUPPORTED ? CW_OK : status;
    if (scheduler) {
        const struct cw_nvperf_domain *list = cw_nvperf_domains(scheduler, &count);
        struct cw_domain *domains = array(in, count, sizeof *domains);
        for (size_t d = 0; domains && d < count; d++)
            domains[d] = (struct cw_domain){.name = join(in, list[d].name, ""), .id = list[d].id};
        chip->domains = domains;
        chip->domain_count = (uint32_t)count;
        gather(in, scheduler, &found);
    }
    gather_needed(in, &found);
    if (in->samples) {
        in->e = in->samples;
        gather_needed(in, &found);
        in->e = in->ranges;
    }
    if (in->status == CW_OK && found.status != CW_OK)
        in->status = cw_error_nomem(in->err);
    index_raws(in, (struct found *)(void *)found.data, found.size / sizeof(struct found));
    cw_writer_free(&found);
    cw_nvperf_scheduler_destroy(scheduler);
}

/* ---- metrics ---------------------------------------------------------------------------------------------------- */

static struct cw_list raw_list(struct importing *in, const char *metric)
{
    uint64_t *raws = NULL;
    size_t count = 0;
    uint32_t n = 0;
    if (in->status == CW_OK)
        in->status = cw_nvperf_raw_counters(in->e, &metric, 1, &raws, &count, in->err);
    uint32_t *items = array(in, count, sizeof *items);
    for (size_t i = 0; items && i < count; i++) {
        uint32_t index = cw_chip_find_raw(&in->f->chip, raws[i]);
        if (index != CW_NONE) /* optional raw counters are left out */
            items[n++] = index;
    }
    free(raws);
    return (struct cw_list){n, items};
}

static uint32_t unit_index(struct importing *in, const char *name)
{
    struct cw_facts *f = in->f;
    for (uint32_t i = 0; i < f->chip.unit_count; i++)
        if (strcmp(f->units[i].name, name) == 0)
            return i;
    f->units[f->chip.unit_count] = (struct cw_unit){.name = join(in, name, ""), .active = CW_NONE, .elapsed = CW_NONE};
    return f->chip.unit_count++;
}

/* Members shared by counters, ratios and throughputs. */
struct common {
    const char **name, **dimension;
    uint32_t *unit;
    struct cw_list *raws;
};
#define COMMON(metric) ((struct common){&(metric)->name, &(metric)->dimension, &(metric)->unit, &(metric)->raws})

static void import_common(struct importing *in, enum cw_nvperf_type type, size_t i, struct common c)
{
    char unit[32], dimension[128] = "";
    *c.name = join(in, cw_nvperf_metric_name(in->e, type, i), "");
    cw_nvperf_metric_unit(in->e, type, i, unit);
    *c.unit = unit_index(in, *unit ? unit : "none");
    const char *metric = join(in, *c.name, suffixes[type]);
    if (in->status == CW_OK)
        in->status = cw_nvperf_dimension(in->e, metric, dimension, sizeof dimension, in->err);
    *c.raws = raw_list(in, metric);
    /* A percentage is a plain number times 100; the sub-metric says that already. */
    *c.dimension = join(in, dimension, "");
}

static struct cw_list copy_indices(struct importing *in, const size_t *items, size_t count, const uint32_t *own)
{
    uint32_t *copy = array(in, count, sizeof *copy);
    for (size_t i = 0; copy && i < count; i++)
        copy[i] = own[items[i]];
    return (struct cw_list){copy ? (uint32_t)count : 0, copy};
}

/* The evaluator's metric `i` becomes the next one of the chip's. */
static void import_counter(struct importing *in, size_t i, uint32_t listed)
{
    struct cw_facts *f = in->f;
    uint32_t at = f->chip.counter_count++;
    struct cw_counter *c = &f->counters[at];
    *c = (struct cw_counter){.active = CW_NONE,
                             .elapsed = CW_NONE,
                             .sampled_active = CW_NONE,
                             .sampled_elapsed = CW_NONE,
                             .peak = NAN,
                             .listed = listed};
    import_common(in, CW_NVPERF_COUNTER, i, COMMON(c));
    f->active_raws[at] = raw_list(in, join(in, c->name, ".sum.per_cycle_active"));
    f->elapsed_raws[at] = raw_list(in, join(in, c->name, ".sum.per_cycle_elapsed"));
}

static void import_ratio(struct importing *in, size_t i, uint32_t listed)
{
    struct cw_ratio *r = &in->f->ratios[in->f->chip.ratio_count++];
    *r = (struct cw_ratio){.numerator = CW_NONE, .denominator = CW_NONE, .scale = 1, .max_rate = NAN, .listed = listed};
    import_common(in, CW_NVPERF_RATIO, i, COMMON(r));
}

/* `own` has for each type the chip's numbers of the evaluator's metrics. */
static void import_throughput(struct importing *in, size_t i, uint32_t *const own[CW_NVPERF_TYPE_COUNT],
                              struct cw_throughput *t)
{
    const size_t *counters = NULL, *throughputs = NULL;
    size_t counter_count = 0, throughput_count = 0;
    import_common(in, CW_NVPERF_THROUGHPUT, i, COMMON(t));
    if (in->status == CW_OK)
        in->status =
            cw_nvperf_throughput_parts(in->e, i, &counters, &counter_count, &throughputs, &throughput_count, in->err);
    t->counters = copy_indices(in, counters, counter_count, own[CW_NVPERF_COUNTER]);
    t->throughputs = copy_indices(in, throughputs, throughput_count, own[CW_NVPERF_THROUGHPUT]);
}

/* Lists what the chip has already, and imports the rest behind it. Where `own` has CW_NONE, it is not there yet. */
static void import_metrics(struct importing *in, uint32_t *const own[CW_NVPERF_TYPE_COUNT], uint32_t listed)
{
    struct cw_facts *f = in->f;
    uint32_t first = f->chip.throughput_count;
    for (size_t i = 0; in->status == CW_OK && i < cw_nvperf_metric_count(in->e, CW_NVPERF_COUNTER); i++)
        if (own[CW_NVPERF_COUNTER][i] == CW_NONE) {
            own[CW_NVPERF_COUNTER][i] = f->chip.counter_count;
            import_counter(in, i, listed);
        }
    for (size_t i = 0; in->status == CW_OK && i < cw_nvperf_metric_count(in->e, CW_NVPERF_RATIO); i++)
        if (own[CW_NVPERF_RATIO][i] == CW_NONE)
            import_ratio(in, i, listed);
    for (size_t i = 0; in->status == CW_OK && i < cw_nvperf_metric_count(in->e, CW_NVPERF_THROUGHPUT); i++)
        if (own[CW_NVPERF_THROUGHPUT][i] == CW_NONE)
            own[CW_NVPERF_THROUGHPUT][i] = f->chip.throughput_count++;
    for (size_t i = 0; in->status == CW_OK && i < cw_nvperf_metric_count(in->e, CW_NVPERF_THROUGHPUT); i++)
        if (own[CW_NVPERF_THROUGHPUT][i] >= first) {
            f->throughputs[own[CW_NVPERF_THROUGHPUT][i]].listed = listed;
            import_throughput(in, i, own, &f->throughputs[own[CW_NVPERF_THROUGHPUT][i]]);
        }
}

static bool make_numbers(struct importing *in, uint32_t *own[CW_NVPERF_TYPE_COUNT])
{
    for (int t = 0; t < CW_NVPERF_TYPE_COUNT; t++) {
        size_t count = cw_nvperf_metric_count(in->e, (enum cw_nvperf_type)t);
        own[t] = array(in, count, sizeof **own);
        for (size_t i = 0; own[t] && i < count; i++)
            own[t][i] = CW_NONE;
    }
    return in->status == CW_OK;
}

static void import_sampled_cycles(struct importing *in, uint32_t counter)
{
    const char *name = in->f->counters[counter].name;
    in->f->sampled_active_raws[counter] = raw_list(in, join(in, name, ".sum.per_cycle_active"));
    in->f->sampled_elapsed_raws[counter] = raw_list(in, join(in, name, ".sum.per_cycle_elapsed"));
}

/* What ranges have of the sampler's metrics is the same there, but for the cycles that elapse. */
static void list_shared(struct importing *in, uint32_t *const own[CW_NVPERF_TYPE_COUNT])
{
    struct cw_facts *f = in->f;
    for (int t = 0; t < CW_NVPERF_TYPE_COUNT; t++)
        for (size_t i = 0; i < cw_nvperf_metric_count(in->e, (enum cw_nvperf_type)t); i++) {
            const char *name = cw_nvperf_metric_name(in->e, (enum cw_nvperf_type)t, i);
            enum cw_metric_type type;
            uint32_t index;
            if (!cw_chip_find(&f->chip, name, strlen(name), &type, &index))
                continue;
            if ((int)type != t)
                in->status = cw_error_set(in->err, CW_ERR_UNSUPPORTED,
                                          "found %s of another type in PM sampling of %s than in range profiling", name,
                                          f->chip.name);
            own[t][i] = index;
            uint32_t *listed = type == CW_COUNTER ? &f->counters[index].listed
                               : type == CW_RATIO ? &f->ratios[index].listed
                                                  : &f->throughputs[index].listed;
            *listed |= CW_OF_SAMPLES;
            if (type == CW_COUNTER)
                import_sampled_cycles(in, index);
        }
}

static void import_samples(struct importing *in)
{
    uint32_t *own[CW_NVPERF_TYPE_COUNT];
    in->e = in->samples;
    if (!make_numbers(in, own))
        return;
    in->status = cw_chip_index_names(&in->f->chip, in->f->arena, in->err);
    if (in->status == CW_OK)
        list_shared(in, own);
    import_metrics(in, own, CW_OF_SAMPLES);
    in->f->chip.name_slot_count = 0; /* they number the metrics of ranges alone */
}

/* ---- cycles ----------------------------------------------------------------------------------------------------- */

static uint32_t counter_named(const struct cw_facts *f, const char *prefix, size_t length, const char *name)
{
    for (uint32_t i = 0; i < f->chip.counter_count; i++)
        if (strncmp(f->counters[i].name, prefix, length) == 0 && strcmp(f->counters[i].name + length, name) == 0)
            return i;
    return CW_NONE;
}

/* A counter of both lists is divided by one of ranges. */
static uint32_t first_list(const struct cw_counter *c)
{
    return c->listed & CW_OF_RANGES ? CW_OF_RANGES : CW_OF_SAMPLES;
}

/* The raw counters of `cycles` are among those of the divided counter, and explain what it needs beyond its own. */
static bool explains(const struct cw_facts *f, uint32_t counter, uint32_t cycles, uint32_t listed,
                     const struct cw_list *needed)
{
    const struct cw_list *clock = &f->counters[cycles].raws;
    return (f->counters[cycles].listed & listed) && cw_list_within(clock, needed) &&
           cw_list_covered(needed, &f->counters[counter].raws, clock);
}

uint32_t cw_facts_cycle_candidates(const struct cw_facts *f, uint32_t counter, enum cw_facts_cycles which,
                                   uint32_t *out, uint32_t room)
{
    const struct cw_list *const raws[] = {f->active_raws, f->elapsed_raws, f->sampled_active_raws,
                                          f->sampled_elapsed_raws};
    const struct cw_list *needed = &raws[which][counter];
    const bool sampled = which == CW_FACTS_SAMPLED_ACTIVE || which == CW_FACTS_SAMPLED_ELAPSED;
    const uint32_t listed = sampled ? CW_OF_SAMPLES : first_list(&f->counters[counter]);
    const char *suffix =
        which == CW_FACTS_ACTIVE || which == CW_FACTS_SAMPLED_ACTIVE ? "__cycles_active" : "__cycles_elapsed";
    const char *name = f->counters[counter].name, *cut = strstr(name, "__"), *dot = strrchr(name, '.');
    const char *unit = f->chip.units[f->counters[counter].unit].name;
    size_t length = cut ? (size_t)(cut - name) : strlen(name);
    uint32_t n = 0, first[3];
    first[0] = counter_named(f, name, length, suffix);
    first[1] = dot && dot < cut ? counter_named(f, dot + 1, length - (size_t)(dot + 1 - name), suffix) : CW_NONE;
    first[2] = counter_named(f, unit, strlen(unit), suffix);
    for (int i = 0; i < 3 && n < room; i++)
        if (first[i] != CW_NONE && explains(f, counter, first[i], listed, needed))
            out[n++] = first[i];
    for (int triage = 0; triage < 2; triage++)
        for (uint32_t i = 0; i < f->chip.counter_count && n < room; i++) {
            const char *other = f->counters[i].name, *tail = strstr(other, "__");
            bool is_triage = strstr(other, "Triage") != NULL;
            if (tail && is_triage == (triage == 1) && strncmp(tail, suffix, strlen(suffix)) == 0 &&
                explains(f, counter, i, listed, needed))
                out[n++] = i;
        }
    return n;
}

/* ---- units ------------------------------------------------------------------------------------------------------ */

/* Returns the most frequent value, the first of equally frequent ones. */
static uint32_t mode(const uint32_t *values, uint32_t count, uint32_t otherwise)
{
    uint32_t best = otherwise, most = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t times = 0;
        bool seen = false;
        for (uint32_t k = 0; k < count && !seen; k++) {
            seen = k < i && values[k] == values[i];
            times += values[k] == values[i];
        }
        if (!seen && values[i] != otherwise && times > most) {
            most = times;
            best = values[i];
        }
    }
    return best;
}

/* Ranges have a unit if any of their counters is of it. */
static uint32_t unit_list(const struct cw_facts *f, uint32_t unit)
{
    uint32_t listed = 0;
    for (uint32_t i = 0; i < f->chip.counter_count; i++)
        listed |= f->counters[i].unit == unit ? f->counters[i].listed : 0;
    return listed & CW_OF_RANGES ? CW_OF_RANGES : CW_OF_SAMPLES;
}

void cw_facts_settle_units(struct cw_facts *f)
{
    uint32_t *values = cw_arena_alloc(f->arena, f->chip.counter_count, sizeof *values);
    for (uint32_t u = 0; values && u < f->chip.unit_count; u++)
        for (int what = 0; what < 3; what++) {
            uint32_t n = 0, listed = unit_list(f, u);
            for (uint32_t i = 0; i < f->chip.counter_count; i++) {
                const struct cw_counter *c = &f->counters[i];
                if (c->unit == u && (c->listed & listed))
                    values[n++] = what == 0 ? c->instances : what == 1 ? c->active : c->elapsed;
            }
            uint32_t *into = what == 0   ? &f->units[u].instances
                             : what == 1 ? &f->units[u].active
                                         : &f->units[u].elapsed;
            *into = mode(values, n, what == 0 ? 0 : CW_NONE);
        }
}

static bool is_sampled(const struct cw_facts *f, uint32_t counter)
{
    return counter != CW_NONE && (f->counters[counter].listed & CW_OF_SAMPLES);
}

bool cw_facts_lists_nothing(const struct cw_facts *f, uint32_t index)
{
    const struct cw_throughput *t = &f->throughputs[index];
    bool nothing = t->counters.count == 0;
    for (uint32_t i = 0; i < t->throughputs.count && nothing; i++)
        nothing = cw_facts_lists_nothing(f, t->throughputs.items[i]);
    return nothing;
}

/* What PM sampling lists between a throughput and its counters, ranges do not: X_internal_activity is X. */
static void settle_parts(struct cw_facts *f, uint32_t index)
{
    struct cw_throughput *t = &f->throughputs[index];
    for (uint32_t i = 0; i < f->chip.throughput_count && !t->counters.count; i++) {
        const struct cw_throughput *whole = &f->throughputs[i];
        size_t length = strlen(whole->name);
        if (strncmp(t->name, whole->name, length) == 0 && strcmp(t->name + length, "_internal_activity") == 0 &&
            cw_list_equal(&whole->raws, &t->raws))
            t->counters = whole->counters;
    }
}

void cw_facts_settle_sampled(struct cw_facts *f)
{
    for (uint32_t i = 0; i < f->chip.throughput_count; i++)
        if (f->throughputs[i].listed == CW_OF_SAMPLES && cw_facts_lists_nothing(f, i))
            settle_parts(f, i);
    for (uint32_t i = 0; i < f->chip.counter_count; i++) {
        struct cw_counter *c = &f->counters[i];
        uint32_t best;
        if (c->listed != CW_OF_BOTH)
            continue;
        if ((!is_sampled(f, c->active) || !cw_list_equal(&f->sampled_active_raws[i], &f->active_raws[i])) &&
            cw_facts_cycle_candidates(f, i, CW_FACTS_SAMPLED_ACTIVE, &best, 1))
            c->sampled_active = best;
        if ((!is_sampled(f, c->elapsed) || !cw_list_equal(&f->sampled_elapsed_raws[i], &f->elapsed_raws[i])) &&
            cw_facts_cycle_candidates(f, i, CW_FACTS_SAMPLED_ELAPSED, &best, 1))
            c->sampled_elapsed = best;
    }
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

static size_t most_metrics(const struct importing *in, enum cw_nvperf_type type)
{
    return cw_nvperf_metric_count(in->ranges, type) + (in->samples ? cw_nvperf_metric_count(in->samples, type) : 0);
}

static void allocate(struct importing *in)
{
    struct cw_facts *f = in->f;
    struct cw_chip *chip = &f->chip;
    size_t counters = most_metrics(in, CW_NVPERF_COUNTER), ratios = most_metrics(in, CW_NVPERF_RATIO),
           throughputs = most_metrics(in, CW_NVPERF_THROUGHPUT);
    chip->counters = f->counters = array(in, counters, sizeof *f->counters);
    chip->ratios = f->ratios = array(in, ratios, sizeof *f->ratios);
    chip->throughputs = f->throughputs = array(in, throughputs, sizeof *f->throughputs);
    chip->units = f->units = array(in, counters + ratios + throughputs, sizeof *f->units);
    f->active_raws = array(in, counters, sizeof *f->active_raws);
    f->elapsed_raws = array(in, counters, sizeof *f->elapsed_raws);
    f->sampled_active_raws = array(in, counters, sizeof *f->sampled_active_raws);
    f->sampled_elapsed_raws = array(in, counters, sizeof *f->sampled_elapsed_raws);
}

/* CUPTI has no PM sampling before Turing, though the library knows metrics for it. */
static bool has_sampling(const char *chip)
{
    return strncmp(chip, "GV", 2) != 0;
}

static void create_evaluators(struct importing *in, const struct cw_nvperf *library, const char *chip)
{
    if (in->status == CW_OK)
        in->status = cw_nvperf_evaluator_create(&in->ranges, library, chip, CW_NVPERF_PROFILER, NULL, 0, in->err);
    if (in->status == CW_OK && has_sampling(chip))
        in->status = cw_nvperf_evaluator_create(&in->samples, library, chip, CW_NVPERF_PM_SAMPLING, NULL, 0, in->err);
    in->e = in->ranges;
}

enum cw_status cw_facts_import(struct cw_facts *f, const struct cw_nvperf *library, const char *chip,
                               struct cw_arena *arena, struct cw_error *err)
{
    struct importing in = {.f = f, .err = err};
    *f = (struct cw_facts){.arena = arena};
    f->chip.name = join(&in, chip, "");
    create_evaluators(&in, library, chip);
    uint32_t *own[CW_NVPERF_TYPE_COUNT];
    if (in.status == CW_OK) {
        import_domains(&in, library);
        allocate(&in);
    }
    if (in.status == CW_OK && make_numbers(&in, own))
        import_metrics(&in, own, CW_OF_RANGES);
    if (in.status == CW_OK && in.samples)
        import_samples(&in);
    cw_nvperf_evaluator_destroy(in.ranges);
    cw_nvperf_evaluator_destroy(in.samples);
    f->chip.no_sampling = !has_sampling(chip);
    f->chip.device_counter = CW_NONE;
    f->chip.time = in.status == CW_OK ? counter_named(f, "gpu", 3, "__time_duration") : CW_NONE;
    return in.status;
}

/* ---- all chips --------------------------------------------------------------------------------------------------- */

/* Writes the text of a chip without its name. */
static void write_nameless(const struct cw_facts *f, struct cw_writer *text)
{
    static const char *const no_source[] = {NULL};
    struct cw_chip chip = f->chip;
    chip.name = "any";
    chip.also_count = 0;
    cw_writer_init(text);
    cw_chip_write(&chip, no_source, text);
}

/* Compares data outside that text: raw counters of the cycles that counters are divided by. */
static bool same_cycles(const struct cw_facts *a, const struct cw_facts *b)
{
    for (uint32_t i = 0; i < a->chip.counter_count; i++)
        if (!cw_list_equal(&a->active_raws[i], &b->active_raws[i]) ||
            !cw_list_equal(&a->elapsed_raws[i], &b->elapsed_raws[i]))
            return false;
    return true;
}

struct known { /* a distinct chip and its text */
    struct cw_facts *facts;
    struct cw_writer *texts;
    size_t count;
};

static enum cw_status add_name(struct cw_facts *kind, const char *name, size_t room, struct cw_error *err)
{
    const char **also = (const char **)kind->chip.also;
    if (!also)
        kind->chip.also = also = cw_arena_alloc(kind->arena, room, sizeof(const char *));
    if (!also)
        return cw_error_nomem(err);
    also[kind->chip.also_count++] = name;
    return CW_OK;
}

static enum cw_status add_chip(struct known *k, const struct cw_nvperf *library, const char *name, size_t room,
                               struct cw_arena *arena, struct cw_error *err)
{
    struct cw_facts *facts = &k->facts[k->count];
    struct cw_writer *text = &k->texts[k->count];
    enum cw_status status = cw_facts_import(facts, library, name, arena, err);
    if (status != CW_OK)
        return status;
    write_nameless(facts, text);
    if (text->status != CW_OK)
        return cw_error_nomem(err);
    for (size_t i = 0; i < k->count; i++)
        if (k->texts[i].size == text->size && memcmp(k->texts[i].data, text->data, text->size) == 0 &&
            same_cycles(&k->facts[i], facts)) {
            cw_writer_free(text);
            return add_name(&k->facts[i], facts->chip.name, room, err);
        }
    k->count++;
    return CW_OK;
}

enum cw_status cw_chips_import(struct cw_facts **out, size_t *count, const struct cw_nvperf *library,
                               void (*progress)(const char *chip), struct cw_arena *arena, struct cw_error *err)
{
    const char *const *names;
    size_t chips;
    enum cw_status status = cw_nvperf_chips(library, &names, &chips, err);
    if (status != CW_OK)
        return status;
    struct known k = {.facts = cw_arena_alloc(arena, chips, sizeof *k.facts),
                      .texts = cw_arena_alloc(arena, chips, sizeof *k.texts)};
    if (!k.facts || !k.texts)
        return cw_error_nomem(err);
    for (size_t i = 0; status == CW_OK && i < chips; i++) {
        if (progress)
            progress(names[i]);
        status = add_chip(&k, library, names[i], chips, arena, err);
    }
    for (size_t i = 0; i < chips; i++)
        cw_writer_free(&k.texts[i]);
    *out = k.facts;
    *count = k.count;
    return status;
}
