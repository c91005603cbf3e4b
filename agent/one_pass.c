#include "agent/one_pass.h"

#include <stdio.h>

static bool has(const struct cw_config_pass *pass, uint32_t raw)
{
    for (uint32_t i = 0; i < pass->count; i++)
        if (pass->placements[i].raw == raw)
            return true;
    return false;
}

static bool holds(const struct cw_config_pass *pass, const struct cw_config_counter *counter)
{
    uint32_t held = 0;
    while (held < counter->raw_count && has(pass, counter->raws[held]))
        held++;
    return held == counter->raw_count;
}

enum cw_status cw_one_pass_schema(struct cw_schema *schema, const struct cw_config_image *plan, struct cw_arena *arena)
{
    enum cw_status status = cw_schema_of_plan(schema, plan, arena);
    struct cw_schema_counter *counters = cw_arena_alloc(arena, plan->counter_count, sizeof *counters);
    uint32_t *owners = cw_arena_alloc(arena, plan->counter_count, sizeof *owners);
    if (status != CW_OK || !counters || !owners)
        return CW_ERR_NOMEM;
    for (uint32_t c = 0; c < plan->counter_count; c++) {
        uint32_t p = 0;
        while (p < plan->pass_count && !holds(&plan->passes[p], &plan->counters[c]))
            p++;
        owners[c] = p;
        counters[c] = schema->counters[c];
        if (p < plan->pass_count)
            counters[c] = (struct cw_schema_counter){counters[c].name, true, 1, &owners[c]};
    }
    schema->counters = counters;
    return CW_OK;
}

bool cw_one_pass_owns(const struct cw_schema *schema, uint32_t pass, uint32_t c)
{
    const struct cw_schema_counter *counter = &schema->counters[c];
    return counter->whole && counter->pass_count && counter->passes[0] == pass;
}

uint32_t cw_one_pass_needed(const struct cw_schema *schema, uint32_t *passes)
{
    uint32_t count = 0;
    for (uint32_t p = 0; p < schema->pass_count; p++) {
        bool needed = false;
        for (uint32_t c = 0; c < schema->counter_count && !needed; c++)
            needed = cw_one_pass_owns(schema, p, c);
        if (needed)
            passes[count++] = p;
    }
    return count;
}

/* ---- passes that hold counters whole ---------------------------------------------------------------------------- */

struct completion {
    struct cw_config_image *plan;
    struct cw_arena *arena;
    cw_one_pass_fits *fits;
    void *user;
    struct cw_config_pass *passes; /* room for one more for each counter */
    uint32_t *domain;              /* where the plan collects each raw counter */
};

/* Puts a counter's raw counters into a pass where that fits. */
static enum cw_status put_counter(struct completion *m, struct cw_config_pass *pass,
                                  const struct cw_config_counter *counter, bool *answer, struct cw_error *err)
{
    struct cw_placement *placements =
        cw_arena_alloc(m->arena, (size_t)pass->count + counter->raw_count, sizeof *placements);
    if (!placements)
        return cw_error_nomem(err);
    struct cw_config_pass grown = {pass->count, placements};
    for (uint32_t i = 0; i < pass->count; i++)
        placements[i] = pass->placements[i];
    for (uint32_t r = 0; r < counter->raw_count; r++)
        if (!has(&grown, counter->raws[r]))
            placements[grown.count++] = (struct cw_placement){counter->raws[r], m->domain[counter->raws[r]]};
    enum cw_status status = m->fits(m->user, m->plan, &grown, answer, err);
    if (status == CW_OK && *answer)
        *pass = grown;
    return status;
}

static enum cw_status place_counter(struct completion *m, uint32_t first, uint32_t *count, uint32_t c,
                                    struct cw_error *err)
{
    const struct cw_config_counter *counter = &m->plan->counters[c];
    enum cw_status status = CW_OK;
    bool placed = false;
    for (uint32_t p = first; p < *count && status == CW_OK && !placed; p++)
        status = put_counter(m, &m->passes[p], counter, &placed, err);
    if (status != CW_OK || placed)
        return status;
    m->passes[*count] = (struct cw_config_pass){0};
    status = put_counter(m, &m->passes[*count], counter, &placed, err);
    *count += placed;
    return status;
}

enum cw_status cw_one_pass_complete(struct cw_config_image *plan, cw_one_pass_fits *fits, void *user, uint32_t *added,
                                    struct cw_arena *arena, struct cw_error *err)
{
    struct completion m = {.plan = plan, .arena = arena, .fits = fits, .user = user};
    struct cw_schema schema;
    uint32_t count = plan->pass_count;
    *added = 0;
    if (cw_one_pass_schema(&schema, plan, arena) != CW_OK)
        return cw_error_nomem(err);
    m.passes = cw_arena_alloc(arena, (size_t)count + plan->counter_count, sizeof *m.passes);
    m.domain = cw_arena_alloc(arena, plan->raw_count, sizeof *m.domain);
    if (!m.passes || !m.domain)
        return cw_error_nomem(err);
    for (uint32_t p = 0; p < count; p++) {
        m.passes[p] = plan->passes[p];
        for (uint32_t i = 0; i < plan->passes[p].count; i++)
            m.domain[plan->passes[p].placements[i].raw] = plan->passes[p].placements[i].domain;
    }
    enum cw_status status = CW_OK;
    for (uint32_t c = 0; c < plan->counter_count && status == CW_OK; c++)
        if (!schema.counters[c].whole)
            status = place_counter(&m, plan->pass_count, &count, c, err);
    *added = count - plan->pass_count;
    plan->passes = m.passes;
    plan->pass_count = count;
    if (*added)
        plan->native = NULL;
    return status;
}

/* ---- runs ------------------------------------------------------------------------------------------------------- */

void cw_one_pass_report(const struct cw_schema *schema, uint32_t added)
{
    if (added)
        fprintf(stderr, "capture-agent: %u passes added for counters that the plan spreads over several\n", added);
    uint32_t count = 0, first = 0;
    for (uint32_t c = schema->counter_count; c-- > 0;)
        if (!schema->counters[c].whole) {
            first = c;
            count++;
        }
    if (count)
        fprintf(stderr,
                "capture-agent: no single pass holds %s%s; application replay leaves such counters out (%u of %u), "
                "kernel replay does not\n",
                schema->counters[first].name, count > 1 ? " and others" : "", count, schema->counter_count);
}

enum cw_status cw_one_pass_plan(struct cw_config_image *part, const struct cw_config_image *plan,
                                const struct cw_schema *schema, uint32_t pass, struct cw_arena *arena,
                                struct cw_error *err)
{
    const struct cw_config_pass *whole = &plan->passes[pass];
    struct cw_config_counter *counters = cw_arena_alloc(arena, plan->counter_count, sizeof *counters);
    struct cw_placement *placements = cw_arena_alloc(arena, whole->count, sizeof *placements);
    struct cw_config_pass *one = cw_arena_alloc(arena, 1, sizeof *one);
    bool *used = cw_arena_alloc(arena, plan->raw_count, sizeof *used);
    if (!counters || !placements || !one || !used)
        return cw_error_nomem(err);
    *part = *plan;
    part->native = NULL;
    part->counter_count = 0;
    for (uint32_t c = 0; c < plan->counter_count; c++) {
        if (!cw_one_pass_owns(schema, pass, c))
            continue;
        counters[part->counter_count++] = plan->counters[c];
        for (uint32_t r = 0; r < plan->counters[c].raw_count; r++)
            used[plan->counters[c].raws[r]] = true;
    }
    for (uint32_t i = 0; i < whole->count; i++)
        if (used[whole->placements[i].raw])
            placements[one->count++] = whole->placements[i];
    one->placements = placements;
    part->counters = counters;
    part->passes = one;
    part->pass_count = 1;
    return CW_OK;
}
