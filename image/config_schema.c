/* Which passes of a plan collect which counters. */
#include <stdlib.h>
#include <string.h>

#include "image/config_image.h"

static bool pass_holds(const struct cw_config_pass *pass, uint32_t raw)
{
    for (uint32_t i = 0; i < pass->count; i++)
        if (pass->placements[i].raw == raw)
            return true;
    return false;
}

uint32_t cw_config_counter_passes(const struct cw_config_image *image, uint32_t counter, uint32_t *passes, bool *whole)
{
    const struct cw_config_counter *c = &image->counters[counter];
    uint32_t all = 0, some = 0;
    for (uint32_t i = 0; i < image->pass_count; i++) {
        uint32_t held = 0;
        for (uint32_t k = 0; k < c->raw_count; k++)
            held += pass_holds(&image->passes[i], c->raws[k]);
        all += held == c->raw_count;
        if (held || !c->raw_count)
            passes[some++] = i;
    }
    *whole = some > 0 && all == some && (some == 1 || !c->raw_count);
    return some;
}

/* ---- all counters at once ---- */

/* The passes of every raw counter, and room to tally passes. Without it, finding the passes of every counter would
 * search every pass for every raw counter again. */
struct pass_index {
    size_t *start; /* [raw_count + 1]: raw r is in passes[start[r]] up to passes[start[r + 1]], ascending */
    uint32_t *passes;
    uint32_t *last;  /* [raw_count]: 1 + the last pass seen, since a raw counter may have several placements in one */
    uint32_t *tally; /* [pass_count], zero between uses */
    uint32_t *found; /* [pass_count] */
};

static void index_free(struct pass_index *index)
{
    free(index->start);
    free(index->passes);
    free(index->last);
    free(index->tally);
    free(index->found);
}

/* Visits each raw counter of each pass once: counts it in at[raw], or, where `count` is false, stores the pass at
 * passes[at[raw]] and moves at[raw] on. */
static void index_walk(struct pass_index *index, const struct cw_config_image *image, size_t *at, bool count)
{
    memset(index->last, 0, (size_t)image->raw_count * sizeof *index->last);
    for (uint32_t i = 0; i < image->pass_count; i++) {
        const struct cw_config_pass *pass = &image->passes[i];
        for (uint32_t k = 0; k < pass->count; k++) {
            uint32_t raw = pass->placements[k].raw;
            if (index->last[raw] == i + 1)
                continue;
            index->last[raw] = i + 1;
            if (count)
                at[raw]++;
            else
                index->passes[at[raw]++] = i;
        }
    }
}

static enum cw_status index_build(struct pass_index *index, const struct cw_config_image *image)
{
    size_t raws = image->raw_count, total = 0;
    *index = (struct pass_index){
        .start = calloc(raws + 1, sizeof *index->start),
        .last = calloc(raws + 1, sizeof *index->last),
        .tally = calloc((size_t)image->pass_count + 1, sizeof *index->tally),
        .found = calloc((size_t)image->pass_count + 1, sizeof *index->found),
    };
    if (!index->start || !index->last || !index->tally || !index->found)
        return CW_ERR_NOMEM;
    index_walk(index, image, index->start, true);
    for (size_t r = 0; r <= raws; r++) {
        size_t own = index->start[r];
        index->start[r] = total;
        total += own;
    }
    index->passes = calloc(total + 1, sizeof *index->passes);
    if (!index->passes)
        return CW_ERR_NOMEM;
    index_walk(index, image, index->start, false);
    /* storing moved each start to its end, which is the next one's start */
    memmove(index->start + 1, index->start, raws * sizeof *index->start);
    index->start[0] = 0;
    return CW_OK;
}

static int compare_u32(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* As cw_config_counter_passes, into index->found. */
static uint32_t index_find(struct pass_index *index, const struct cw_config_image *image,
                           const struct cw_config_counter *counter, bool *whole)
{
    uint32_t some = 0, all = 0;
    if (counter->raw_count == 0) {
        for (uint32_t i = 0; i < image->pass_count; i++)
            index->found[i] = i;
        *whole = image->pass_count > 0;
        return image->pass_count;
    }
    for (uint32_t k = 0; k < counter->raw_count; k++)
        for (size_t i = index->start[counter->raws[k]]; i < index->start[counter->raws[k] + 1]; i++)
            if (index->tally[index->passes[i]]++ == 0)
                index->found[some++] = index->passes[i];
    for (uint32_t i = 0; i < some; i++)
        all += index->tally[index->found[i]] == counter->raw_count;
    *whole = some == 1 && all == 1;
    for (uint32_t i = 0; i < some; i++)
        index->tally[index->found[i]] = 0;
    if (counter->raw_count > 1 && some)
        qsort(index->found, some, sizeof *index->found, compare_u32);
    return some;
}

static enum cw_status schema_counters(struct cw_schema *schema, const struct cw_config_image *image,
                                      struct pass_index *index, struct cw_arena *arena)
{
    struct cw_schema_counter *counters = cw_arena_alloc(arena, image->counter_count, sizeof *counters);
    if (!counters)
        return CW_ERR_NOMEM;
    for (uint32_t i = 0; i < image->counter_count; i++) {
        uint32_t count = index_find(index, image, &image->counters[i], &counters[i].whole);
        uint32_t *passes = cw_arena_alloc(arena, count, sizeof *passes);
        if (!passes)
            return CW_ERR_NOMEM;
        memcpy(passes, index->found, count * sizeof *passes);
        counters[i].name = image->counters[i].name;
        counters[i].passes = passes;
        counters[i].pass_count = count;
    }
    schema->counters = counters;
    schema->counter_count = image->counter_count;
    return CW_OK;
}

enum cw_status cw_schema_of_plan(struct cw_schema *schema, const struct cw_config_image *image, struct cw_arena *arena)
{
    *schema = (struct cw_schema){
        .chip = image->chip,
        .producer = image->producer,
        .profiler = image->profiler,
        .pass_count = image->pass_count,
        .metric_count = image->metric_count,
        .metrics = image->metrics,
        .meaning_count = image->meaning_count,
        .meanings = image->meanings,
    };
    memcpy(schema->database, image->database, sizeof schema->database);
    struct pass_index index;
    enum cw_status status = index_build(&index, image);
    if (status == CW_OK)
        status = schema_counters(schema, image, &index, arena);
    index_free(&index);
    return status;
}
