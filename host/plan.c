#include "host/plan.h"

#include <math.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "host/schedule.h"
#include "metricdb/formula.h"
#include "metricdb/meaning.h"
#include "metricdb/term.h"
#include "passes/copies.h"

/* The chip's counters that a metric needs, and the counters of each value that it is computed from. */
struct needed {
    struct cw_list counters, *values;
    uint32_t value_count;
};

struct planner {
    const struct cw_chip *chip;
    struct cw_arena *arena;
    struct cw_error *err;
    struct cw_plan *plan;
    const struct cw_plan_options *options;
    size_t count;
    const char **names;
    struct cw_metric *metrics;
    struct needed *needed; /* for each metric */
    /* by counter, raw counter and domain of the chip: index in the image + 1, or 0 */
    uint32_t *counter_index, *raw_index, *domain_index;
    struct cw_config_image draft; /* the plan, in numbers of the chip */
};

static void *array(struct planner *p, size_t count, size_t size, enum cw_status *status)
{
    void *memory = *status == CW_OK ? cw_arena_alloc(p->arena, count, size) : NULL;
    if (!memory && *status == CW_OK)
        *status = cw_error_nomem(p->err);
    return memory;
}

/* ---- metrics -> counters ---------------------------------------------------------------------------------------- */

struct collect { /* a set of counters */
    uint32_t *items, count;
    uint8_t *seen;
};

static void collect_counter(void *context, uint32_t counter, unsigned rollups)
{
    (void)rollups;
    struct collect *c = context;
    if (!c->seen[counter])
        c->items[c->count++] = counter;
    c->seen[counter] = 1;
}

static void mark_counter(void *context, uint32_t counter, unsigned rollups)
{
    (void)rollups;
    ((bool *)context)[counter] = true;
}

/* Compares pointers to names: by text, then by position. */
static int by_name(const void *a, const void *b)
{
    const char *const *x = *(const char *const *const *)a, *const *y = *(const char *const *const *)b;
    int order = strcmp(*x, *y);
    return order ? order : (x > y) - (x < y);
}

/* Marks names that stand earlier in the list. */
static const bool *find_repeats(struct planner *p, const char *const *names, size_t count, enum cw_status *status)
{
    bool *repeats = array(p, count, sizeof *repeats, status);
    const char *const **sorted = array(p, count, sizeof *sorted, status);
    for (size_t i = 0; sorted && i < count; i++)
        sorted[i] = &names[i];
    if (sorted && count)
        qsort(sorted, count, sizeof *sorted, by_name);
    for (size_t i = 1; sorted && i < count; i++)
        repeats[sorted[i] - names] = strcmp(*sorted[i], *sorted[i - 1]) == 0;
    return repeats;
}

/* Returns the collected counters and empties the set. */
static struct cw_list take(struct planner *p, struct collect *c, enum cw_status *status)
{
    uint32_t count = c->count, *items = array(p, count, sizeof *items, status);
    for (uint32_t i = 0; i < count; i++) {
        c->seen[c->items[i]] = 0;
        if (items)
            items[i] = c->items[i];
    }
    c->count = 0;
    return (struct cw_list){items ? count : 0, items};
}

/* Groups the counters of one value: one term of a throughput, else all terms of the metric and of everything in a
 * user's formula. */
static enum cw_status need_counters(struct planner *p, struct needed *out, const struct cw_metric *m,
                                    const struct cw_needs *needs, struct cw_terms *terms)
{
    struct collect *c = needs->context;
    uint32_t count;
    const struct cw_metric *parts = cw_metric_parts(p->chip, m, &count);
    enum cw_status status = CW_OK;
    for (uint32_t i = 0; status == CW_OK && i < count; i++) {
        status = cw_terms_make(terms, p->chip, &parts[i], p->err);
        for (uint32_t t = 0; status == CW_OK && t < terms->count; t++)
            cw_term_needs(needs, &terms->items[t]);
    }
    bool several = count == 1 && terms->largest;
    out->counters = take(p, c, &status);
    out->values = several ? array(p, terms->count, sizeof *out->values, &status) : &out->counters;
    out->value_count = several ? terms->count : 1;
    for (uint32_t t = 0; status == CW_OK && several && t < terms->count; t++) {
        cw_term_needs(needs, &terms->items[t]);
        out->values[t] = take(p, c, &status);
    }
    return status;
}

static enum cw_status resolve(struct planner *p, const char *const *metrics, size_t count)
{
    enum cw_status status = CW_OK;
    p->names = array(p, count, sizeof *p->names, &status);
    p->metrics = array(p, count, sizeof *p->metrics, &status);
    p->needed = array(p, count, sizeof *p->needed, &status);
    struct collect c = {.items = array(p, p->chip->counter_count, sizeof(uint32_t), &status),
                        .seen = array(p, p->chip->counter_count, 1, &status)};
    bool *recorded = array(p, p->chip->counter_count, sizeof *recorded, &status);
    const bool *repeats = find_repeats(p, metrics, count, &status);
    const uint32_t listed = p->options->profiler == CW_PROFILER_PM ? CW_OF_SAMPLES : CW_OF_RANGES;
    const struct cw_needs all = {.chip = p->chip, .listed = listed, .add = mark_counter, .context = recorded};
    const struct cw_needs beside = {
        .chip = p->chip, .listed = listed, .recorded = recorded, .add = collect_counter, .context = &c};
    struct cw_terms terms = {0};
    struct cw_metric m;
    for (size_t i = 0; status == CW_OK && i < count; i++) {
        status = cw_metric_parse(&m, p->chip, metrics[i], p->err);
        if (status == CW_OK)
            status = cw_metric_needs(&all, &m, p->err);
    }
    if (status == CW_OK && count && !memchr(recorded, true, p->chip->counter_count) && p->chip->time != CW_NONE)
        collect_counter(&c, p->chip->time, 0); /* only facts and numbers: a capture counts something */
    for (size_t i = 0; status == CW_OK && i < count; i++) {
        status = cw_metric_parse(&m, p->chip, metrics[i], p->err);
        if (status != CW_OK || repeats[i])
            continue;
        status = need_counters(p, &p->needed[p->count], &m, &beside, &terms);
        if (!(p->names[p->count] = cw_arena_strdup(p->arena, metrics[i])))
            status = cw_error_nomem(p->err);
        p->metrics[p->count++] = m;
    }
    cw_terms_free(&terms);
    if (status == CW_OK && !p->count)
        status = cw_error_set(p->err, CW_ERR_USAGE, "found no metric to plan, expected at least one");
    return status;
}

/* ---- counters -> passes ----------------------------------------------------------------------------------------- */

static enum cw_status need_raws(struct planner *p, uint32_t counter)
{
    return cw_counter_has_domains(p->chip, counter)
               ? CW_OK
               : cw_error_set(p->err, CW_ERR_UNSUPPORTED, "%s: no domain collects a raw counter that %s needs",
                              p->chip->name, p->chip->counters[counter].name);
}

/* Lists the raw counters of some counters, ascending, each once. */
static struct cw_list raws_of(struct planner *p, const struct cw_list *counters, enum cw_status *status)
{
    uint32_t total = 0, n = 0;
    for (uint32_t i = 0; i < counters->count; i++)
        total += p->chip->counters[counters->items[i]].raws.count;
    uint32_t *items = array(p, total, sizeof *items, status);
    if (!items)
        return (struct cw_list){0};
    for (uint32_t i = 0; i < counters->count; i++) {
        const struct cw_list *raws = &p->chip->counters[counters->items[i]].raws;
        memcpy(items + n, raws->items, raws->count * sizeof *items);
        n += raws->count;
    }
    qsort(items, n, sizeof *items, cw_compare_u32);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!kept || items[kept - 1] != items[i])
            items[kept++] = items[i];
    return (struct cw_list){kept, items};
}

/* Lists the raw counters of the names that are metrics of the plan. */
static struct cw_list raws_of_metrics(struct planner *p, const struct cw_names *names, enum cw_status *status)
{
    uint32_t total = 0, n = 0;
    bool *taken = array(p, p->count, sizeof *taken, status);
    for (size_t i = 0; i < p->count; i++)
        total += p->needed[i].counters.count;
    uint32_t *counters = array(p, total, sizeof *counters, status);
    for (size_t k = 0; counters && k < names->count; k++)
        for (size_t i = 0; i < p->count; i++)
            if (!taken[i] && strcmp(p->names[i], names->items[k]) == 0) {
                taken[i] = true;
                memcpy(counters + n, p->needed[i].counters.items, p->needed[i].counters.count * sizeof *counters);
                n += p->needed[i].counters.count;
            }
    return counters ? raws_of(p, &(struct cw_list){n, counters}, status) : (struct cw_list){0};
}

static enum cw_status make_groups(struct planner *p, struct cw_list **groups, size_t *group_count)
{
    enum cw_status status = CW_OK;
    size_t total = p->options->together_count, n = 0;
    for (size_t i = 0; i < p->count; i++)
        total += p->needed[i].value_count;
    *groups = array(p, total, sizeof **groups, &status);
    for (size_t i = 0; status == CW_OK && i < p->count; i++) {
        const struct needed *needed = &p->needed[i];
        for (uint32_t k = 0; status == CW_OK && k < needed->counters.count; k++)
            status = need_raws(p, needed->counters.items[k]);
        for (uint32_t v = 0; status == CW_OK && v < needed->value_count; v++)
            (*groups)[n++] = raws_of(p, &needed->values[v], &status);
    }
    for (size_t i = 0; status == CW_OK && i < p->options->together_count; i++)
        (*groups)[n++] = raws_of_metrics(p, &p->options->together[i], &status);
    *group_count = n;
    return status;
}

/* Splits all groups into single raw counters, except the ones to keep together, for a schedule without other groups. */
static struct cw_list *only_together(struct planner *p, const struct cw_list *groups, size_t group_count, size_t *count,
                                     enum cw_status *status)
{
    size_t total = 0, n = 0, loose = group_count - p->options->together_count;
    for (size_t i = 0; i < loose; i++)
        total += groups[i].count;
    struct cw_list *list = array(p, total + p->options->together_count, sizeof *list, status);
    for (size_t i = 0; list && i < loose; i++)
        for (uint32_t k = 0; k < groups[i].count; k++)
            list[n++] = (struct cw_list){1, &groups[i].items[k]};
    for (size_t i = loose; list && i < group_count; i++)
        list[n++] = groups[i];
    *count = n;
    return list;
}

static struct cw_config_counter as_counter(const struct cw_list *raws)
{
    return (struct cw_config_counter){.raw_count = raws->count, .raws = raws->items};
}

/* Schedules, and drafts the plan: passes, and the counters of each. */
static enum cw_status make_draft(struct planner *p, const struct cw_schedule_task *task)
{
    const struct cw_chip *chip = p->chip;
    struct cw_schedule schedule;
    enum cw_status status = cw_schedule_make(&schedule, task, p->arena, p->err);
    p->counter_index = array(p, chip->counter_count, sizeof *p->counter_index, &status);
    p->raw_index = array(p, chip->raw_count, sizeof *p->raw_index, &status);
    p->domain_index = array(p, chip->domain_count, sizeof *p->domain_index, &status);
    struct cw_config_counter *counters = array(p, chip->counter_count, sizeof *counters, &status);
    struct cw_config_pass *passes = array(p, schedule.pass_count, sizeof *passes, &status);
    p->draft = (struct cw_config_image){.domain_count = chip->domain_count,
                                        .raw_count = chip->raw_count,
                                        .pass_count = schedule.pass_count,
                                        .passes = passes,
                                        .counters = counters};
    for (size_t i = 0; status == CW_OK && i < p->count; i++)
        for (uint32_t k = 0; k < p->needed[i].counters.count; k++) {
            uint32_t counter = p->needed[i].counters.items[k];
            if (!p->counter_index[counter])
                counters[p->draft.counter_count++] = as_counter(&chip->counters[counter].raws);
            p->counter_index[counter] = 1;
        }
    for (uint32_t i = 0; status == CW_OK && i < p->draft.pass_count; i++) {
        const struct cw_pass *from = &schedule.passes[i];
        struct cw_placement *placements = array(p, from->count, sizeof *placements, &status);
        for (uint32_t k = 0; placements && k < from->count; k++) {
            const struct cw_chip_placement *at = &chip->placements[from->placements[k]];
            placements[k] = (struct cw_placement){at->raw, at->domain};
        }
        passes[i] = (struct cw_config_pass){from->count, placements};
    }
    p->plan->bound = schedule.bound;
    p->plan->steps += schedule.steps;
    return status;
}

/* Finds metrics to keep together that no single pass holds; NULL if there are none. */
static const struct cw_names *find_apart(struct planner *p, const struct cw_list *together, enum cw_status *status)
{
    struct cw_pass_index index;
    if (*status != CW_OK || !p->options->together_count)
        return NULL;
    if (!cw_pass_index_make(&index, &p->draft, p->arena)) {
        *status = cw_error_nomem(p->err);
        return NULL;
    }
    for (size_t i = 0; i < p->options->together_count; i++) {
        uint32_t some = cw_pass_index_find(&index, together[i].items, together[i].count), k = 0;
        while (k < some && index.holds[k] < together[i].count)
            k++;
        if (k == some && together[i].count)
            return &p->options->together[i];
    }
    return NULL;
}

/* Schedules with the groups to keep together last. If they do not come together beside the others, schedules again
 * without the other groups. */
static enum cw_status schedule(struct planner *p, const struct cw_list *groups, size_t group_count)
{
    const struct cw_list *together = groups + group_count - p->options->together_count;
    unsigned quick = p->options->quick ? CW_SCHEDULE_QUICK : 0, whole = p->options->whole ? CW_SCHEDULE_WHOLE : 0;
    struct cw_schedule_task task = {p->chip, p->options->profiler, group_count, groups, quick | whole};
    enum cw_status status = make_draft(p, &task);
    const struct cw_names *apart = find_apart(p, together, &status);
    if (apart) {
        task.groups = only_together(p, groups, group_count, &task.group_count, &status);
        task.flags = quick;
        status = status == CW_OK ? make_draft(p, &task) : status;
        apart = find_apart(p, together, &status);
    }
    if (apart)
        status = cw_error_set(p->err, CW_ERR_UNSUPPORTED,
                              "found no pass for all counters of %s%s%s, expected one that keeps them together",
                              apart->items[0], apart->count > 1 ? " to " : "",
                              apart->count > 1 ? apart->items[apart->count - 1] : "");
    return status;
}

/* Removes copies, so that a capture of the plan takes as many passes as the plan says, unless the plan is to be whole.
 * Keeps the copies of groups that stay together. */
static enum cw_status drop_copies(struct planner *p, const struct cw_list *groups, size_t group_count)
{
    enum cw_status status = CW_OK;
    if (p->options->whole)
        return CW_OK;
    struct cw_config_counter *list = array(p, group_count, sizeof *list, &status);
    for (size_t i = 0; list && i < group_count; i++)
        list[i] = as_counter(&groups[i]);
    return status == CW_OK ? cw_copies_drop(&p->draft, list, group_count, p->options->together_count, p->arena, p->err)
                           : status;
}

/* ---- the image -------------------------------------------------------------------------------------------------- */

static void mark_used(struct planner *p)
{
    for (uint32_t i = 0; i < p->draft.counter_count; i++)
        for (uint32_t r = 0; r < p->draft.counters[i].raw_count; r++)
            p->raw_index[p->draft.counters[i].raws[r]] = 1;
    for (uint32_t i = 0; i < p->draft.pass_count; i++)
        for (uint32_t k = 0; k < p->draft.passes[i].count; k++)
            p->domain_index[p->draft.passes[i].placements[k].domain] = 1;
}

/* Replaces marks by numbers 1, 2, 3...; returns their count. */
static uint32_t number(uint32_t *marks, uint32_t count)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++)
        if (marks[i])
            marks[i] = ++n;
    return n;
}

static enum cw_status fill_lists(struct planner *p)
{
    const struct cw_chip *chip = p->chip;
    struct cw_config_image *image = &p->plan->image;
    enum cw_status status = CW_OK;
    image->counter_count = number(p->counter_index, chip->counter_count);
    image->raw_count = number(p->raw_index, chip->raw_count);
    image->domain_count = number(p->domain_index, chip->domain_count);
    struct cw_config_counter *counters = array(p, image->counter_count, sizeof *counters, &status);
    uint64_t *raws = array(p, image->raw_count, sizeof *raws, &status);
    struct cw_config_domain *domains = array(p, image->domain_count, sizeof *domains, &status);
    for (uint32_t i = 0; status == CW_OK && i < chip->raw_count; i++)
        if (p->raw_index[i])
            raws[p->raw_index[i] - 1] = chip->raws[i].id;
    for (uint32_t i = 0; status == CW_OK && i < chip->domain_count; i++)
        if (p->domain_index[i])
            domains[p->domain_index[i] - 1] = (struct cw_config_domain){chip->domains[i].id, chip->domains[i].name};
    for (uint32_t i = 0; status == CW_OK && i < chip->counter_count; i++) {
        if (!p->counter_index[i])
            continue;
        const struct cw_counter *c = &chip->counters[i];
        uint32_t *own = array(p, c->raws.count, sizeof *own, &status);
        for (uint32_t k = 0; own && k < c->raws.count; k++)
            own[k] = p->raw_index[c->raws.items[k]] - 1;
        counters[p->counter_index[i] - 1] = (struct cw_config_counter){
            .name = c->name, .instances = c->instances, .peak = c->peak, .raw_count = c->raws.count, .raws = own};
    }
    image->counters = counters;
    image->raws = raws;
    image->domains = domains;
    return status;
}

static struct cw_placement place(const struct planner *p, uint32_t raw, uint32_t domain)
{
    return (struct cw_placement){p->raw_index[raw] - 1, p->domain_index[domain] - 1};
}

static enum cw_status fill_passes(struct planner *p)
{
    struct cw_config_image *image = &p->plan->image;
    enum cw_status status = CW_OK;
    image->pass_count = p->draft.pass_count;
    struct cw_config_pass *passes = array(p, image->pass_count, sizeof *passes, &status);
    for (uint32_t i = 0; status == CW_OK && i < image->pass_count; i++) {
        const struct cw_config_pass *from = &p->draft.passes[i];
        struct cw_placement *placements = array(p, from->count, sizeof *placements, &status);
        for (uint32_t k = 0; placements && k < from->count; k++)
            placements[k] = place(p, from->placements[k].raw, from->placements[k].domain);
        passes[i] = (struct cw_config_pass){from->count, placements};
    }
    image->passes = passes;
    return status;
}

static uint32_t find_placement(const struct cw_chip *chip, struct cw_placement at)
{
    uint32_t placement = chip->raws[at.raw].placement;
    while (chip->placements[placement].domain != at.domain)
        placement++;
    return placement;
}

/* Fills in the profiler's limits, as far as they concern placements of the plan and the plan could exceed them. */
static enum cw_status fill_limits(struct planner *p)
{
    const struct cw_limits own = cw_schedule_limits(p->chip, p->options->profiler);
    struct cw_config_image *image = &p->plan->image;
    enum cw_status status = CW_OK;
    uint8_t *used = array(p, p->chip->placement_count, 1, &status);
    struct cw_config_limit *limits = array(p, own.count, sizeof *limits, &status);
    for (uint32_t i = 0; used && i < p->draft.pass_count; i++)
        for (uint32_t k = 0; k < p->draft.passes[i].count; k++)
            used[find_placement(p->chip, p->draft.passes[i].placements[k])] = 1;
    for (uint32_t i = 0; status == CW_OK && i < own.count; i++) {
        const struct cw_limit *from = &own.items[i];
        uint32_t n = 0, max = cw_limits_max(&own, i);
        for (uint32_t k = 0; k < from->count; k++)
            n += used[from->members[k]];
        if (n <= max)
            continue;
        struct cw_placement *members = array(p, n, sizeof *members, &status);
        uint32_t *groups = array(p, n, sizeof *groups, &status);
        n = 0;
        for (uint32_t k = 0; status == CW_OK && k < from->count; k++)
            if (used[from->members[k]]) {
                const struct cw_chip_placement *at = &p->chip->placements[from->members[k]];
                members[n] = place(p, at->raw, at->domain);
                groups[n++] = from->groups[k];
            }
        limits[image->limit_count++] = (struct cw_config_limit){max, n, members, groups};
    }
    image->limits = limits;
    return status;
}

static void mark_rollups(void *context, uint32_t counter, unsigned rollups)
{
    ((uint8_t *)context)[counter] |= (uint8_t)rollups;
}

/* Fills in the rollups that the metrics read, so that a sampler stores no others. */
static enum cw_status fill_rollups(struct planner *p)
{
    const uint32_t count = p->chip->counter_count;
    struct cw_config_image *image = &p->plan->image;
    enum cw_status status = CW_OK;
    uint8_t *read = array(p, count, 1, &status), *rollups = array(p, image->counter_count, 1, &status);
    bool *held = array(p, count, sizeof *held, &status);
    const struct cw_needs needs = {.chip = p->chip, .held = held, .add = mark_rollups, .context = read};
    if (status != CW_OK || p->options->profiler != CW_PROFILER_PM)
        return status;
    for (uint32_t i = 0; i < count; i++)
        held[i] = p->counter_index[i] != 0;
    for (size_t i = 0; status == CW_OK && i < p->count; i++)
        status = cw_metric_needs(&needs, &p->metrics[i], p->err);
    for (uint32_t i = 0; i < count; i++)
        if (held[i])
            rollups[p->counter_index[i] - 1] = read[i];
    image->rollups = rollups;
    return status;
}

/* Fills in the meanings of the metrics' base names and of everything they are computed from. */
static enum cw_status fill_meanings(struct planner *p)
{
    const struct cw_chip *chip = p->chip;
    enum cw_status status = CW_OK;
    uint8_t *marks[CW_FORMULA + 1];
    uint32_t n = 0;
    for (enum cw_metric_type type = CW_COUNTER; type <= CW_FORMULA; type++)
        marks[type] = array(p, cw_metric_base_count(chip, type), 1, &status);
    for (size_t i = 0; status == CW_OK && i < p->count; i++)
        cw_base_mark(chip, p->metrics[i].type, p->metrics[i].base, marks);
    for (enum cw_metric_type type = CW_COUNTER; type <= CW_FORMULA; type++)
        for (uint32_t i = 0; status == CW_OK && i < cw_metric_base_count(chip, type); i++)
            n += marks[type][i] != 0;
    struct cw_meaning *list = array(p, n, sizeof *list, &status);
    n = 0;
    for (enum cw_metric_type type = CW_COUNTER; type <= CW_FORMULA; type++)
        for (uint32_t i = 0; status == CW_OK && i < cw_metric_base_count(chip, type); i++) {
            if (!marks[type][i])
                continue;
            struct cw_base_meaning m = cw_base_meaning(chip, type, i);
            const char *name = type == CW_FORMULA ? chip->formulas->items[i].name : cw_chip_base_name(chip, type, i);
            list[n++] = (struct cw_meaning){name, m.raws, m.formula};
        }
    p->plan->image.meanings = list;
    p->plan->image.meaning_count = n;
    return status;
}

/* Fills in parameters for the agent that collects the plan. */
static enum cw_status fill_parameters(struct planner *p)
{
    const struct cw_chip *chip = p->chip;
    enum cw_status status = CW_OK;
    if (p->options->profiler != CW_PROFILER_RANGE || chip->device_counter == CW_NONE)
        return CW_OK;
    struct cw_pair *pair = array(p, 1, sizeof *pair, &status);
    char *id = cw_arena_printf(p->arena, "0x%016" PRIx64, chip->raws[chip->device_counter].id);
    if (!pair || !id)
        return cw_error_nomem(p->err);
    *pair = (struct cw_pair){CW_CONFIG_DEVICE_COUNTER, id};
    p->plan->image.parameters = pair;
    p->plan->image.parameter_count = 1;
    return CW_OK;
}

/* Fills in the raw counters of each value of each metric, in numbers of the image. */
static enum cw_status fill_metrics(struct planner *p, struct cw_list *groups)
{
    enum cw_status status = CW_OK;
    struct cw_plan_metric *metrics = array(p, p->count, sizeof *metrics, &status);
    for (size_t i = 0; status == CW_OK && i < p->count; i++) {
        uint32_t values = p->needed[i].value_count;
        metrics[i] = (struct cw_plan_metric){.name = p->names[i], .value_count = values, .values = groups};
        for (uint32_t v = 0; status == CW_OK && v < values; v++, groups++) {
            uint32_t *own = array(p, groups->count, sizeof *own, &status);
            for (uint32_t k = 0; own && k < groups->count; k++)
                own[k] = p->raw_index[groups->items[k]] - 1;
            groups->items = own;
        }
    }
    p->plan->metrics = metrics;
    p->plan->metric_count = (uint32_t)p->count;
    return status;
}

enum cw_status cw_plan_make(struct cw_plan *plan, const struct cw_chip *chip, const char *const *metrics, size_t count,
                            const struct cw_plan_options *options, struct cw_arena *arena, struct cw_error *err)
{
    if (options->profiler == CW_PROFILER_PM && cw_chip_as_sampled(&chip, arena, err) != CW_OK)
        return CW_ERR_NOMEM;
    struct planner p = {.chip = chip, .arena = arena, .err = err, .plan = plan, .options = options};
    *plan = (struct cw_plan){
        .image = {.chip = chip->name, .producer = "counterworks " CW_VERSION, .profiler = options->profiler}};
    memcpy(plan->image.database, chip->hash, sizeof plan->image.database);
    struct cw_list *groups = NULL;
    size_t group_count = 0;
    CW_TRY(resolve(&p, metrics, count));
    CW_TRY(make_groups(&p, &groups, &group_count));
    CW_TRY(schedule(&p, groups, group_count));
    CW_TRY(drop_copies(&p, groups, group_count));
    mark_used(&p);
    plan->image.metrics = p.names;
    plan->image.metric_count = (uint32_t)p.count;
    CW_TRY(fill_meanings(&p));
    CW_TRY(fill_lists(&p));
    CW_TRY(fill_passes(&p));
    CW_TRY(fill_limits(&p));
    CW_TRY(fill_parameters(&p));
    CW_TRY(fill_rollups(&p));
    CW_TRY(fill_metrics(&p, groups));
    return cw_plan_explain(plan, arena, err);
}
