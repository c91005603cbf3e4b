#include "metricdb/chip.h"

#include <math.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/search.h"

enum { COLUMN = 3, MOST_PROBES = 1024 }; /* COLUMN: the column of a section's keys */

static unsigned line_of(const struct cw_chip *chip, enum cw_metric_type type, uint32_t index)
{
    return type == CW_COUNTER ? chip->counters[index].line
           : type == CW_RATIO ? chip->ratios[index].line
                              : chip->throughputs[index].line;
}

static uint64_t hash_of(const char *name, size_t length)
{
    return XXH3_64bits(name, length);
}

/* The n-th name of all counters, ratios and throughputs, in this order; NULL behind the last. */
static const char *nth_name(const struct cw_chip *chip, uint32_t n, enum cw_metric_type *type, uint32_t *index)
{
    for (int t = 0; t < CW_METRIC_TYPE_COUNT; t++) {
        uint32_t count = cw_chip_base_count(chip, (enum cw_metric_type)t);
        if (n < count) {
            *type = (enum cw_metric_type)t;
            *index = n;
            return cw_chip_base_name(chip, *type, n);
        }
        n -= count;
    }
    return NULL;
}

bool cw_chip_find(const struct cw_chip *chip, const char *name, size_t length, enum cw_metric_type *type,
                  uint32_t *index)
{
    uint64_t h = hash_of(name, length);
    for (uint32_t probes = 0; chip->name_slot_count && probes <= MOST_PROBES; probes++, h++) {
        uint32_t slot = chip->name_slots[h % chip->name_slot_count];
        if (!slot)
            return false;
        const char *candidate = nth_name(chip, slot - 1, type, index);
        if (strncmp(candidate, name, length) == 0 && !candidate[length])
            return true;
    }
    return false;
}

enum cw_status cw_chip_index_names(struct cw_chip *chip, struct cw_arena *arena, struct cw_error *err)
{
    uint32_t total = chip->counter_count + chip->ratio_count + chip->throughput_count, slots = 2 * total + 1;
    uint32_t *table = cw_arena_alloc(arena, slots, sizeof *table);
    if (!table)
        return cw_error_nomem(err);
    chip->name_slots = table;
    chip->name_slot_count = slots;
    for (uint32_t n = 0; n < total; n++) {
        enum cw_metric_type type = CW_COUNTER, other;
        uint32_t index = 0, there, probes = 0;
        const char *name = nth_name(chip, n, &type, &index);
        uint64_t h = hash_of(name, strlen(name));
        bool same = false;
        for (; table[h % slots] && probes++ < MOST_PROBES && !same; h++)
            same = strcmp(nth_name(chip, table[h % slots] - 1, &other, &there), name) == 0;
        if (same)
            return cw_error_at(
                err, CW_ERR_INPUT, chip->path, line_of(chip, type, index), COLUMN,
                "found the name %s a second time, expected unique names of counters, ratios and throughputs", name);
        if (table[h % slots])
            return cw_error_at(err, CW_ERR_INPUT, chip->path, line_of(chip, type, index), COLUMN,
                               "found the name %s, and too many others with its hash", name);
        table[h % slots] = n + 1;
    }
    return CW_OK;
}

uint32_t cw_chip_base_count(const struct cw_chip *chip, enum cw_metric_type type)
{
    return type == CW_COUNTER ? chip->counter_count : type == CW_RATIO ? chip->ratio_count : chip->throughput_count;
}

bool cw_chip_lists(const struct cw_chip *chip, enum cw_metric_type type, uint32_t index, uint32_t listed)
{
    uint32_t in = type == CW_COUNTER ? chip->counters[index].listed
                  : type == CW_RATIO ? chip->ratios[index].listed
                                     : chip->throughputs[index].listed;
    return (in & listed) != 0;
}

uint32_t cw_chip_listed_count(const struct cw_chip *chip, enum cw_metric_type type, uint32_t listed)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < cw_chip_base_count(chip, type); i++)
        count += cw_chip_lists(chip, type, i, listed);
    return count;
}

enum cw_status cw_chip_check_profiler(const struct cw_chip *chip, bool samples, struct cw_error *err)
{
    if (samples && chip->no_sampling)
        return cw_error_set(err, CW_ERR_UNSUPPORTED,
                            "found no sampling over time on %s, expected a chip that has it, or a plan for range "
                            "profiling",
                            chip->name);
    if (chip->lacks && (samples ? chip->lacks->pm : chip->lacks->range))
        return cw_error_set(err, CW_ERR_UNSUPPORTED,
                            "found that no GPU of %s does %s, expected one that does; capture-agent doctor says why",
                            chip->lacks->where, samples ? "sampling over time" : "range profiling");
    return CW_OK;
}

enum cw_status cw_chip_as_sampled(const struct cw_chip **chip, struct cw_arena *arena, struct cw_error *err)
{
    const struct cw_chip *from = *chip;
    uint32_t first = 0;
    while (first < from->counter_count && from->counters[first].sampled_active == CW_NONE &&
           from->counters[first].sampled_elapsed == CW_NONE)
        first++;
    if (first == from->counter_count)
        return CW_OK;
    struct cw_chip *sampled = cw_arena_alloc(arena, 1, sizeof *sampled);
    struct cw_counter *counters = cw_arena_alloc(arena, from->counter_count, sizeof *counters);
    if (!sampled || !counters)
        return cw_error_nomem(err);
    memcpy(counters, from->counters, from->counter_count * sizeof *counters);
    for (uint32_t i = first; i < from->counter_count; i++) {
        struct cw_counter *c = &counters[i];
        c->active = c->sampled_active == CW_NONE ? c->active : c->sampled_active;
        c->elapsed = c->sampled_elapsed == CW_NONE ? c->elapsed : c->sampled_elapsed;
    }
    *sampled = *from;
    sampled->counters = counters;
    *chip = sampled;
    return CW_OK;
}

const char *cw_chip_base_name(const struct cw_chip *chip, enum cw_metric_type type, uint32_t index)
{
    return type == CW_COUNTER ? chip->counters[index].name
           : type == CW_RATIO ? chip->ratios[index].name
                              : chip->throughputs[index].name;
}

bool cw_chip_measured(const struct cw_chip *chip)
{
    for (uint32_t i = 0; i < chip->counter_count; i++)
        if (!isnan(chip->counters[i].peak))
            return true;
    return false;
}

uint32_t cw_limits_max(const struct cw_limits *limits, uint32_t i)
{
    return limits->pm ? limits->items[i].pm_max : limits->items[i].max;
}

bool cw_chip_knows_pm(const struct cw_chip *chip)
{
    bool known = chip->pm_limits != chip->limits;
    for (uint32_t i = 0; i < chip->limit_count && !known; i++)
        known = chip->limits[i].pm_max != chip->limits[i].max;
    return known;
}

bool cw_counter_follows(const struct cw_chip *chip, uint32_t counter, enum cw_rollup rollup)
{
    const struct cw_counter *c = &chip->counters[counter];
    bool scaled = c->terms.count == 1 && c->coefficients[0] > 0 && chip->counters[c->terms.items[0]].unit == c->unit;
    return c->terms.count && (rollup == CW_SUM || rollup == CW_AVG || scaled);
}

bool cw_counter_has_domains(const struct cw_chip *chip, uint32_t counter)
{
    const struct cw_list *raws = &chip->counters[counter].raws;
    uint32_t i = 0;
    while (i < raws->count && chip->raws[raws->items[i]].placement_count)
        i++;
    return i == raws->count;
}

uint32_t cw_chip_find_raw(const struct cw_chip *chip, uint64_t id)
{
    struct cw_search s = {0, chip->raw_count};
    while (s.low < s.high)
        cw_search_narrow(&s, chip->raws[cw_search_middle(&s)].id < id);
    return s.low < chip->raw_count && chip->raws[s.low].id == id ? (uint32_t)s.low : CW_NONE;
}
