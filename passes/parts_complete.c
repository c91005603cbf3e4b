#include "passes/parts_complete.h"

#include <string.h>

#include "image/limit_index.h"

enum cw_status cw_parts_check_count(uint32_t count, struct cw_error *err)
{
    if (count <= CW_PASSES_MAX)
        return CW_OK;
    return cw_error_set(err, CW_ERR_UNSUPPORTED, "found a plan of %u passes, expected at most %d", count,
                        CW_PASSES_MAX);
}

/* ---- passes for spread counters --------------------------------------------------------------------------------- */

struct completion {
    const struct cw_config_image *plan;
    struct cw_arena *arena;
    cw_parts_fits *fits;
    void *user;
    struct cw_config_pass *passes; /* room for CW_PASSES_MAX + 1 */
    struct cw_placement **own;     /* by added pass: its placements, with room for the next power of two */
    uint32_t *domain;              /* by raw counter: the domain where the plan collects it */
    struct cw_placement *grown;    /* a pass with one more counter */
    uint32_t *asked, question;     /* by raw counter: the last question whose pass has it */
};

static bool is_held(struct cw_pass_index *index, const struct cw_config_counter *counter)
{
    uint32_t some = cw_pass_index_find(index, counter->raws, counter->raw_count), k = 0;
    while (k < some && index->holds[k] < counter->raw_count)
        k++;
    return k < some || !counter->raw_count;
}

/* Adds the new placements of m->grown, up to `count`, to a pass. */
static bool grow(struct completion *m, uint32_t p, uint32_t count)
{
    uint32_t before = m->passes[p].count, room = 1;
    while (room < before)
        room *= 2;
    if (count > room || !before) {
        while (room < count)
            room *= 2;
        m->own[p] = cw_arena_alloc(m->arena, room, sizeof **m->own);
        before = 0;
    }
    if (!m->own[p])
        return false;
    memcpy(m->own[p] + before, m->grown + before, (count - before) * sizeof **m->own);
    m->passes[p] = (struct cw_config_pass){count, m->own[p]};
    return true;
}

/* Puts a counter's raw counters into an added pass, if they fit. */
static enum cw_status put_counter(struct completion *m, uint32_t p, const struct cw_config_counter *counter,
                                  bool *answer, struct cw_error *err)
{
    const struct cw_config_pass *pass = &m->passes[p];
    struct cw_config_pass grown = {pass->count, m->grown};
    m->question++;
    for (uint32_t i = 0; i < pass->count; i++) {
        m->grown[i] = pass->placements[i];
        m->asked[pass->placements[i].raw] = m->question;
    }
    for (uint32_t r = 0; r < counter->raw_count; r++) {
        uint32_t raw = counter->raws[r];
        if (m->asked[raw] != m->question)
            m->grown[grown.count++] = (struct cw_placement){raw, m->domain[raw]};
        m->asked[raw] = m->question;
    }
    enum cw_status status = m->fits(m->user, m->plan, &grown, answer, err);
    return status != CW_OK || !*answer || grow(m, p, grown.count) ? status : cw_error_nomem(err);
}

/* Puts a counter into one of the added passes, or into a new one. */
static enum cw_status place_counter(struct completion *m, uint32_t *count, const struct cw_config_counter *counter,
                                    struct cw_error *err)
{
    uint32_t p = m->plan->pass_count;
    bool placed = false;
    for (; p <= *count && !placed; p++)
        CW_TRY(put_counter(m, p, counter, &placed, err));
    return placed && p > *count ? cw_parts_check_count(++*count, err) : CW_OK;
}

static enum cw_status complete(struct completion *m, uint32_t *count, struct cw_arena *scratch, struct cw_error *err)
{
    const struct cw_config_image *plan = m->plan;
    struct cw_pass_index index;
    m->passes = cw_arena_alloc(m->arena, CW_PASSES_MAX + 1, sizeof *m->passes);
    m->own = cw_arena_alloc(scratch, CW_PASSES_MAX + 1, sizeof *m->own);
    m->domain = cw_arena_alloc(scratch, plan->raw_count, sizeof *m->domain);
    m->grown = cw_arena_alloc(scratch, plan->raw_count, sizeof *m->grown);
    m->asked = cw_arena_alloc(scratch, plan->raw_count, sizeof *m->asked);
    if (!m->passes || !m->own || !m->domain || !m->grown || !m->asked || !cw_pass_index_make(&index, plan, scratch))
        return cw_error_nomem(err);
    for (uint32_t p = 0; p < plan->pass_count; p++) {
        m->passes[p] = plan->passes[p];
        for (uint32_t i = 0; i < plan->passes[p].count; i++)
            m->domain[plan->passes[p].placements[i].raw] = plan->passes[p].placements[i].domain;
    }
    enum cw_status status = CW_OK;
    for (uint32_t c = 0; c < plan->counter_count && status == CW_OK; c++)
        if (!is_held(&index, &plan->counters[c]))
            status = place_counter(m, count, &plan->counters[c], err);
    return status;
}

enum cw_status cw_parts_complete(struct cw_config_image *plan, cw_parts_fits *fits, void *user, uint32_t *added,
                                 struct cw_arena *arena, struct cw_error *err)
{
    struct completion m = {.plan = plan, .arena = arena, .fits = fits, .user = user};
    struct cw_arena *scratch = cw_arena_create();
    uint32_t count = plan->pass_count;
    enum cw_status status = scratch ? cw_parts_check_count(count, err) : cw_error_nomem(err);
    *added = 0;
    if (status == CW_OK)
        status = complete(&m, &count, scratch, err);
    cw_arena_destroy(scratch);
    if (status != CW_OK)
        return status;
    *added = count - plan->pass_count;
    plan->passes = m.passes;
    plan->pass_count = count;
    if (*added)
        plan->native = NULL;
    return CW_OK;
}

enum cw_status cw_parts_fit_limits(void *limits, const struct cw_config_image *plan, const struct cw_config_pass *pass,
                                   bool *answer, struct cw_error *err)
{
    (void)err;
    *answer = cw_limit_index_ask(limits, pass) == plan->limit_count;
    return CW_OK;
}
