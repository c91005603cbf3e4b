/* Finds the passes of a plan that collect each counter. */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "image/config_image.h"

bool cw_copies_list(struct cw_copies *copies, const struct cw_config_image *plan, struct cw_arena *arena)
{
    size_t total = 0;
    for (uint32_t p = 0; p < plan->pass_count; p++)
        total += plan->passes[p].count;
    uint32_t *first = cw_arena_alloc(arena, (size_t)plan->raw_count + 2, sizeof *first);
    /* by raw counter: the last pass that had it, counted from 1; the second round counts on behind the first */
    uint32_t *seen = cw_arena_alloc(arena, plan->raw_count, sizeof *seen);
    uint32_t *pair_of = cw_arena_alloc(arena, plan->domain_count, sizeof *pair_of);
    struct cw_copy *items = cw_arena_alloc(arena, total, sizeof *items);
    *copies = (struct cw_copies){first, items, 0};
    if (!first || !seen || !pair_of || !items)
        return false;
    for (uint32_t p = 0; p < plan->pass_count; p++)
        for (uint32_t k = 0; k < plan->passes[p].count; k++) {
            uint32_t raw = plan->passes[p].placements[k].raw;
            first[raw + 2] += seen[raw] != p + 1;
            seen[raw] = p + 1;
        }
    for (uint32_t r = 0; r < plan->raw_count; r++)
        first[r + 2] += first[r + 1];
    for (uint32_t p = 0, before = 1; p < plan->pass_count; p++, before = copies->pair_count + 1)
        for (uint32_t k = 0; k < plan->passes[p].count; k++) {
            const struct cw_placement *at = &plan->passes[p].placements[k];
            if (pair_of[at->domain] < before)
                pair_of[at->domain] = ++copies->pair_count;
            if (seen[at->raw] != plan->pass_count + p + 1) /* once per pass, even with several domains */
                items[first[at->raw + 1]++] = (struct cw_copy){p, pair_of[at->domain] - 1, at};
            seen[at->raw] = plan->pass_count + p + 1;
        }
    return true;
}

bool cw_pass_index_make(struct cw_pass_index *index, const struct cw_config_image *plan, struct cw_arena *arena)
{
    *index = (struct cw_pass_index){.tally = cw_arena_alloc(arena, plan->pass_count, sizeof *index->tally),
                                    .found = cw_arena_alloc(arena, plan->pass_count, sizeof *index->found),
                                    .holds = cw_arena_alloc(arena, plan->pass_count, sizeof *index->holds)};
    return index->tally && index->found && index->holds && cw_copies_list(&index->copies, plan, arena);
}

uint32_t cw_pass_index_find(struct cw_pass_index *index, const uint32_t *raws, uint32_t raw_count)
{
    const struct cw_copies *copies = &index->copies;
    uint32_t some = 0;
    for (uint32_t k = 0; k < raw_count; k++)
        for (uint32_t i = copies->first[raws[k]]; i < copies->first[raws[k] + 1]; i++)
            if (index->tally[copies->items[i].pass]++ == 0)
                index->found[some++] = copies->items[i].pass;
    if (raw_count > 1 && some)
        qsort(index->found, some, sizeof *index->found, cw_compare_u32);
    for (uint32_t i = 0; i < some; i++) {
        index->holds[i] = index->tally[index->found[i]];
        index->tally[index->found[i]] = 0;
    }
    return some;
}

/* A counter without raw counters is whole, and every pass collects it. A counter with raw counters in several passes is
 * recorded as a mean and is not whole. */
static bool describe(struct cw_schema_counter *out, const struct cw_config_counter *counter,
                     const struct cw_config_image *image, struct cw_pass_index *index, struct cw_arena *arena)
{
    uint32_t count = cw_pass_index_find(index, counter->raws, counter->raw_count);
    const bool free = !counter->raw_count;
    for (; free && count < image->pass_count; count++)
        index->found[count] = count;
    uint32_t *passes = cw_arena_alloc(arena, count, sizeof *passes);
    if (!passes)
        return false;
    memcpy(passes, index->found, count * sizeof *passes);
    bool whole = free ? count > 0 : count == 1 && index->holds[0] == counter->raw_count;
    *out = (struct cw_schema_counter){counter->name, whole, count, passes};
    return true;
}

static bool describe_all(struct cw_schema *schema, const struct cw_config_image *image, struct cw_arena *arena,
                         struct cw_arena *scratch)
{
    struct cw_pass_index index;
    struct cw_schema_counter *counters = cw_arena_alloc(arena, image->counter_count, sizeof *counters);
    bool good = counters && scratch && cw_pass_index_make(&index, image, scratch);
    for (uint32_t i = 0; i < image->counter_count && good; i++)
        good = describe(&counters[i], &image->counters[i], image, &index, arena);
    schema->counters = counters;
    return good;
}

enum cw_status cw_schema_of_plan(struct cw_schema *schema, const struct cw_config_image *image, struct cw_arena *arena)
{
    *schema = (struct cw_schema){
        .chip = image->chip,
        .producer = image->producer,
        .profiler = image->profiler,
        .pass_count = image->pass_count,
        .counter_count = image->counter_count,
        .metric_count = image->metric_count,
        .metrics = image->metrics,
        .meaning_count = image->meaning_count,
        .meanings = image->meanings,
    };
    memcpy(schema->database, image->database, sizeof schema->database);
    struct cw_arena *scratch = cw_arena_create();
    bool good = describe_all(schema, image, arena, scratch);
    cw_arena_destroy(scratch);
    return good ? CW_OK : CW_ERR_NOMEM;
}
