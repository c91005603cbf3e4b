#include "passes/parts_complete.h"

const struct cw_placement *cw_parts_find(const struct cw_placement *placements, uint32_t count, uint32_t raw)
{
    for (uint32_t k = 0; k < count; k++)
        if (placements[k].raw == raw)
            return &placements[k];
    return NULL;
}

static bool has(const struct cw_config_pass *pass, uint32_t raw)
{
    return cw_parts_find(pass->placements, pass->count, raw) != NULL;
}

static bool holds(const struct cw_config_pass *pass, const struct cw_config_counter *counter)
{
    uint32_t held = 0;
    while (held < counter->raw_count && has(pass, counter->raws[held]))
        held++;
    return held == counter->raw_count;
}

static bool is_held(const struct cw_config_image *plan, const struct cw_config_counter *counter)
{
    for (uint32_t p = 0; p < plan->pass_count; p++)
        if (holds(&plan->passes[p], counter))
            return true;
    return !counter->raw_count;
}

/* ---- passes that hold counters whole ---------------------------------------------------------------------------- */

struct completion {
    struct cw_config_image *plan;
    struct cw_arena *arena;
    cw_parts_fits *fits;
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

enum cw_status cw_parts_complete(struct cw_config_image *plan, cw_parts_fits *fits, void *user, uint32_t *added,
                                 struct cw_arena *arena, struct cw_error *err)
{
    struct completion m = {.plan = plan, .arena = arena, .fits = fits, .user = user};
    uint32_t count = plan->pass_count;
    *added = 0;
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
        if (!is_held(plan, &plan->counters[c]))
            status = place_counter(&m, plan->pass_count, &count, c, err);
    *added = count - plan->pass_count;
    plan->passes = m.passes;
    plan->pass_count = count;
    if (*added)
        plan->native = NULL;
    return status;
}

enum cw_status cw_parts_fit_limits(void *user, const struct cw_config_image *plan, const struct cw_config_pass *pass,
                                   bool *answer, struct cw_error *err)
{
    (void)user;
    (void)err;
    *answer = true;
    for (uint32_t i = 0; i < plan->limit_count && *answer; i++)
        *answer = cw_config_limit_taken(&plan->limits[i], pass) <= plan->limits[i].max;
    return CW_OK;
}
