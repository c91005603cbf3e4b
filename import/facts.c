#define _GNU_SOURCE
#include "import/facts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* The small dedicated domains are preferred: a counter that sm_c or sm_a can collect excludes nearly everything else on
 * sm_a, and cooperative groups pay in one domain and conflict in two. */
static uint32_t preference(const struct cw_nvperf_domain *domain, size_t counters)
{
    return (domain->cooperative ? 100000u : 0) + (uint32_t)counters;
}

static void add_found(struct cw_writer *found, uint64_t id, uint32_t domain, uint32_t preferred)
{
    cw_write_bytes(found, &(struct found){id, domain, preferred}, sizeof(struct found));
}

static enum cw_status gather(const struct cw_nvperf_scheduler *scheduler, struct cw_writer *found, struct cw_error *err)
{
    size_t domains;
    const struct cw_nvperf_domain *domain = cw_nvperf_domains(scheduler, &domains);
    enum cw_status status = CW_OK;
    for (size_t d = 0; d < domains && status == CW_OK; d++) {
        uint64_t *raws = NULL;
        size_t n = 0;
        status = cw_nvperf_domain_counters(scheduler, domain[d].id, &raws, &n, err);
        for (size_t i = 0; i < n && status == CW_OK; i++)
            add_found(found, raws[i], (uint32_t)d, preference(&domain[d], n));
        free(raws);
    }
    return status;
}

/* Every raw counter that a metric needs: some are in no domain, since only sampling over time collects them. The caller
 * frees *ids. */
static enum cw_status needed_raws(struct cw_facts *f, const struct cw_nvperf_evaluator *e, uint64_t **ids,
                                  size_t *count, struct cw_error *err)
{
    size_t room = 0, n = 0;
    for (int type = 0; type < CW_NVPERF_TYPE_COUNT; type++)
        room += cw_nvperf_metric_count(e, (enum cw_nvperf_type)type);
    const char **names = cw_arena_alloc(f->arena, room, sizeof(const char *));
    if (!names)
        return cw_error_nomem(err);
    for (int type = 0; type < CW_NVPERF_TYPE_COUNT; type++)
        for (size_t i = 0; i < cw_nvperf_metric_count(e, (enum cw_nvperf_type)type); i++)
            if (!(names[n++] = cw_arena_printf(f->arena, "%s%s", cw_nvperf_metric_name(e, (enum cw_nvperf_type)type, i),
                                               suffixes[type])))
                return cw_error_nomem(err);
    return cw_nvperf_raw_counters(e, names, n, ids, count, err);
}

static enum cw_status index_raws(struct cw_facts *f, const struct cw_nvperf_domain *list, size_t domain_count,
                                 struct found *found, size_t count, struct cw_error *err)
{
    struct cw_domain *domains = cw_arena_alloc(f->arena, domain_count, sizeof *domains);
    struct cw_raw_counter *raws = cw_arena_alloc(f->arena, count, sizeof *raws);
    struct cw_chip_placement *placements = cw_arena_alloc(f->arena, count, sizeof *placements);
    if (!domains || !raws || !placements)
        return cw_error_nomem(err);
    for (size_t d = 0; d < domain_count; d++)
        domains[d] = (struct cw_domain){.name = cw_arena_strdup(f->arena, list[d].name), .id = list[d].id};
    if (count)
        qsort(found, count, sizeof *found, by_id_and_preference);
    uint32_t n = 0, placed = 0;
    for (size_t i = 0; i < count; i++) {
        if (!i || found[i].id != found[i - 1].id)
            raws[n++] = (struct cw_raw_counter){.id = found[i].id, .placement = placed};
        if (found[i].domain == CW_NONE)
            continue;
        raws[n - 1].placement_count++;
        placements[placed++] = (struct cw_chip_placement){n - 1, found[i].domain};
    }
    f->chip.domains = domains;
    f->chip.domain_count = (uint32_t)domain_count;
    f->chip.raws = raws;
    f->chip.raw_count = n;
    f->chip.placements = placements;
    f->chip.placement_count = placed;
    return CW_OK;
}

/* Of some chips the library knows the metrics, but makes no passes: they have no domains. */
static enum cw_status import_domains(struct cw_facts *f, const struct cw_nvperf *library,
                                     const struct cw_nvperf_evaluator *e, struct cw_error *err)
{
    struct cw_nvperf_scheduler *scheduler = NULL;
    const struct cw_nvperf_domain *list = NULL;
    struct cw_writer found;
    uint64_t *needed = NULL;
    size_t domain_count = 0, needed_count = 0;
    cw_writer_init(&found);
    enum cw_status status = cw_nvperf_scheduler_create(&scheduler, library, f->chip.name, CW_NVPERF_PROFILER, NULL);
    if (status == CW_OK) {
        list = cw_nvperf_domains(scheduler, &domain_count);
        status = gather(scheduler, &found, err);
    } else if (status == CW_ERR_UNSUPPORTED) {
        status = CW_OK;
    }
    if (status == CW_OK)
        status = needed_raws(f, e, &needed, &needed_count, err);
    for (size_t i = 0; i < needed_count && status == CW_OK; i++)
        add_found(&found, needed[i], CW_NONE, CW_NONE);
    if (status == CW_OK)
        status = found.status == CW_OK ? index_raws(f, list, domain_count, (struct found *)(void *)found.data,
                                                    found.size / sizeof(struct found), err)
                                       : cw_error_nomem(err);
    free(needed);
    cw_writer_free(&found);
    cw_nvperf_scheduler_destroy(scheduler);
    return status;
}

/* ---- metrics ---------------------------------------------------------------------------------------------------- */

static enum cw_status raw_list(struct cw_facts *f, const struct cw_nvperf_evaluator *evaluator, const char *base,
                               const char *suffix, struct cw_list *list, struct cw_error *err)
{
    char name[512];
    snprintf(name, sizeof name, "%s%s", base, suffix);
    const char *const one = name;
    uint64_t *raws;
    size_t count;
    enum cw_status status = cw_nvperf_raw_counters(evaluator, &one, 1, &raws, &count, err);
    if (status != CW_OK)
        return status;
    uint32_t *items = cw_arena_alloc(f->arena, count, sizeof *items);
    uint32_t n = 0;
    for (size_t i = 0; items && i < count; i++) {
        uint32_t index = cw_chip_find_raw(&f->chip, raws[i]);
        if (index != CW_NONE) /* optional ones are no facts of the metric */
            items[n++] = index;
    }
    free(raws);
    *list = (struct cw_list){n, items};
    return items ? CW_OK : cw_error_nomem(err);
}

static uint32_t unit_index(struct cw_facts *f, const char *name)
{
    for (uint32_t i = 0; i < f->chip.unit_count; i++)
        if (strcmp(f->units[i].name, name) == 0)
            return i;
    f->units[f->chip.unit_count] =
        (struct cw_unit){.name = cw_arena_strdup(f->arena, name), .active = CW_NONE, .elapsed = CW_NONE};
    return f->chip.unit_count++;
}

/* What counters, ratios and throughputs share. */
struct common {
    const char **name, **dimension;
    uint32_t *unit;
    struct cw_list *raws;
};
#define COMMON(metric) ((struct common){&(metric)->name, &(metric)->dimension, &(metric)->unit, &(metric)->raws})

static enum cw_status import_common(struct cw_facts *f, const struct cw_nvperf_evaluator *evaluator,
                                    enum cw_nvperf_type type, size_t i, struct common c, struct cw_error *err)
{
    char unit[32], name[512], dimension[128];
    *c.name = cw_arena_strdup(f->arena, cw_nvperf_metric_name(evaluator, type, i));
    if (!*c.name)
        return cw_error_nomem(err);
    cw_nvperf_metric_unit(evaluator, type, i, unit);
    *c.unit = unit_index(f, *unit ? unit : "none");
    snprintf(name, sizeof name, "%s%s", *c.name, suffixes[type]);
    enum cw_status status = cw_nvperf_dimension(evaluator, name, dimension, sizeof dimension, err);
    if (status == CW_OK)
        status = raw_list(f, evaluator, *c.name, suffixes[type], c.raws, err);
    /* a percentage is a plain number times 100, which the sub-metric says already */
    *c.dimension = cw_arena_strdup(f->arena, dimension);
    return *c.dimension || status != CW_OK ? status : cw_error_nomem(err);
}

static enum cw_status import_counters(struct cw_facts *f, const struct cw_nvperf_evaluator *e, struct cw_error *err)
{
    enum cw_status status = CW_OK;
    for (uint32_t i = 0; status == CW_OK && i < f->chip.counter_count; i++) {
        struct cw_counter *c = &f->counters[i];
        *c = (struct cw_counter){.active = CW_NONE, .elapsed = CW_NONE, .peak = NAN};
        status = import_common(f, e, CW_NVPERF_COUNTER, i, COMMON(c), err);
        if (status == CW_OK)
            status = raw_list(f, e, c->name, ".sum.per_cycle_active", &f->active_raws[i], err);
        if (status == CW_OK)
            status = raw_list(f, e, c->name, ".sum.per_cycle_elapsed", &f->elapsed_raws[i], err);
    }
    return status;
}

static struct cw_list copy_indices(struct cw_facts *f, const size_t *items, size_t count)
{
    uint32_t *copy = cw_arena_alloc(f->arena, count, sizeof *copy);
    for (size_t i = 0; copy && i < count; i++)
        copy[i] = (uint32_t)items[i];
    return (struct cw_list){copy ? (uint32_t)count : 0, copy};
}

static enum cw_status import_derived(struct cw_facts *f, const struct cw_nvperf_evaluator *e, struct cw_error *err)
{
    enum cw_status status = CW_OK;
    for (uint32_t i = 0; status == CW_OK && i < f->chip.ratio_count; i++) {
        f->ratios[i] = (struct cw_ratio){.numerator = CW_NONE, .denominator = CW_NONE, .scale = 1, .max_rate = NAN};
        status = import_common(f, e, CW_NVPERF_RATIO, i, COMMON(&f->ratios[i]), err);
    }
    for (uint32_t i = 0; status == CW_OK && i < f->chip.throughput_count; i++) {
        const size_t *counters, *throughputs;
        size_t counter_count, throughput_count;
        status = import_common(f, e, CW_NVPERF_THROUGHPUT, i, COMMON(&f->throughputs[i]), err);
        if (status == CW_OK)
            status = cw_nvperf_throughput_parts(e, i, &counters, &counter_count, &throughputs, &throughput_count, err);
        if (status == CW_OK) {
            f->throughputs[i].counters = copy_indices(f, counters, counter_count);
            f->throughputs[i].throughputs = copy_indices(f, throughputs, throughput_count);
        }
    }
    return status;
}

/* ---- cycles ----------------------------------------------------------------------------------------------------- */

static uint32_t counter_named(const struct cw_facts *f, const char *prefix, size_t length, const char *name)
{
    for (uint32_t i = 0; i < f->chip.counter_count; i++)
        if (strncmp(f->counters[i].name, prefix, length) == 0 && strcmp(f->counters[i].name + length, name) == 0)
            return i;
    return CW_NONE;
}

/* The raw counters of `cycles` are among those of the divided counter, and explain what it needs beyond its own. */
static bool explains(const struct cw_facts *f, uint32_t counter, uint32_t cycles, const struct cw_list *needed)
{
    const struct cw_list *clock = &f->counters[cycles].raws;
    return cw_list_within(clock, needed) && cw_list_covered(needed, &f->counters[counter].raws, clock);
}

uint32_t cw_facts_cycle_candidates(const struct cw_facts *f, uint32_t counter, const char *which, uint32_t *out,
                                   uint32_t room)
{
    const struct cw_list *needed = strcmp(which, "active") == 0 ? &f->active_raws[counter] : &f->elapsed_raws[counter];
    char suffix[32];
    snprintf(suffix, sizeof suffix, "__cycles_%s", which);
    const char *name = f->counters[counter].name, *cut = strstr(name, "__"), *dot = strrchr(name, '.');
    const char *unit = f->chip.units[f->counters[counter].unit].name;
    size_t length = cut ? (size_t)(cut - name) : strlen(name);
    uint32_t n = 0, first[3];
    first[0] = counter_named(f, name, length, suffix);
    first[1] = dot && dot < cut ? counter_named(f, dot + 1, length - (size_t)(dot + 1 - name), suffix) : CW_NONE;
    first[2] = counter_named(f, unit, strlen(unit), suffix);
    for (int i = 0; i < 3 && n < room; i++)
        if (first[i] != CW_NONE && explains(f, counter, first[i], needed))
            out[n++] = first[i];
    for (int triage = 0; triage < 2; triage++)
        for (uint32_t i = 0; i < f->chip.counter_count && n < room; i++) {
            const char *other = f->counters[i].name, *tail = strstr(other, "__");
            bool is_triage = strstr(other, "Triage") != NULL;
            if (tail && is_triage == (triage == 1) && strncmp(tail, suffix, strlen(suffix)) == 0 &&
                explains(f, counter, i, needed))
                out[n++] = i;
        }
    return n;
}

/* ---- units ------------------------------------------------------------------------------------------------------ */

/* The most frequent of the values, the first of equals. */
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

void cw_facts_settle_units(struct cw_facts *f)
{
    uint32_t *values = cw_arena_alloc(f->arena, f->chip.counter_count, sizeof *values);
    for (uint32_t u = 0; values && u < f->chip.unit_count; u++)
        for (int what = 0; what < 3; what++) {
            uint32_t n = 0;
            for (uint32_t i = 0; i < f->chip.counter_count; i++) {
                const struct cw_counter *c = &f->counters[i];
                if (c->unit == u)
                    values[n++] = what == 0 ? c->instances : what == 1 ? c->active : c->elapsed;
            }
            uint32_t *into = what == 0   ? &f->units[u].instances
                             : what == 1 ? &f->units[u].active
                                         : &f->units[u].elapsed;
            *into = mode(values, n, what == 0 ? 0 : CW_NONE);
        }
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

static enum cw_status allocate(struct cw_facts *f, const struct cw_nvperf_evaluator *e, struct cw_error *err)
{
    struct cw_chip *chip = &f->chip;
    chip->counter_count = (uint32_t)cw_nvperf_metric_count(e, CW_NVPERF_COUNTER);
    chip->ratio_count = (uint32_t)cw_nvperf_metric_count(e, CW_NVPERF_RATIO);
    chip->throughput_count = (uint32_t)cw_nvperf_metric_count(e, CW_NVPERF_THROUGHPUT);
    size_t bases = (size_t)chip->counter_count + chip->ratio_count + chip->throughput_count;
    chip->counters = f->counters = cw_arena_alloc(f->arena, chip->counter_count, sizeof *f->counters);
    chip->ratios = f->ratios = cw_arena_alloc(f->arena, chip->ratio_count, sizeof *f->ratios);
    chip->throughputs = f->throughputs = cw_arena_alloc(f->arena, chip->throughput_count, sizeof *f->throughputs);
    chip->units = f->units = cw_arena_alloc(f->arena, bases, sizeof *f->units);
    f->active_raws = cw_arena_alloc(f->arena, chip->counter_count, sizeof *f->active_raws);
    f->elapsed_raws = cw_arena_alloc(f->arena, chip->counter_count, sizeof *f->elapsed_raws);
    return f->counters && f->ratios && f->throughputs && f->units && f->active_raws && f->elapsed_raws
               ? CW_OK
               : cw_error_nomem(err);
}

enum cw_status cw_facts_import(struct cw_facts *f, const struct cw_nvperf *library, const char *chip,
                               struct cw_arena *arena, struct cw_error *err)
{
    *f = (struct cw_facts){.arena = arena};
    f->chip.name = cw_arena_strdup(arena, chip);
    struct cw_nvperf_evaluator *e = NULL;
    enum cw_status status = cw_nvperf_evaluator_create(&e, library, chip, NULL, 0, err);
    if (status == CW_OK)
        status = import_domains(f, library, e, err);
    if (status == CW_OK)
        status = allocate(f, e, err);
    if (status == CW_OK)
        status = import_counters(f, e, err);
    if (status == CW_OK)
        status = import_derived(f, e, err);
    cw_nvperf_evaluator_destroy(e);
    if (status != CW_OK)
        return status;
    f->chip.device_counter = CW_NONE;
    f->chip.time = counter_named(f, "gpu", 3, "__time_duration");
    return CW_OK;
}
