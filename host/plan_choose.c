#include <string.h>

#include "host/plan.h"

enum cw_status cw_plan_passes(uint32_t *passes, uint64_t *steps, const struct cw_chip *chip, const char *const *metrics,
                              size_t count, const struct cw_plan_options *options, struct cw_error *err)
{
    struct cw_plan plan;
    struct cw_arena *arena = cw_arena_create();
    enum cw_status status =
        arena ? cw_plan_make(&plan, chip, metrics, count, options, arena, err) : cw_error_nomem(err);
    *passes = status == CW_OK ? plan.image.pass_count : 0;
    if (steps)
        *steps = status == CW_OK ? plan.steps : 0;
    cw_arena_destroy(arena);
    return status;
}

struct choosing {
    const struct cw_chip *chip;
    const char *const *metrics;
    uint32_t most;
    const struct cw_plan_options *options;
    const char **names; /* kept metrics, then the metrics being tried */
    bool *kept;
    struct cw_error *err;
};

/* Keeps as many metrics from `first` on as it can: all of them, or else each half by itself. */
static enum cw_status take(struct choosing *c, size_t first, size_t count, size_t *kept_count)
{
    uint32_t passes;
    for (size_t i = 0; i < count; i++)
        c->names[*kept_count + i] = c->metrics[first + i];
    enum cw_status status = cw_plan_passes(&passes, NULL, c->chip, c->names, *kept_count + count, c->options, c->err);
    if (status != CW_OK)
        return status;
    if (passes <= c->most) {
        memset(c->kept + first, true, count * sizeof *c->kept);
        *kept_count += count;
        return CW_OK;
    }
    if (count == 1)
        return CW_OK;
    status = take(c, first, count / 2, kept_count);
    return status == CW_OK ? take(c, first + count / 2, count - count / 2, kept_count) : status;
}

enum cw_status cw_plan_choose(bool *kept, const struct cw_chip *chip, const char *const *metrics, size_t count,
                              uint32_t most, const struct cw_plan_options *options, struct cw_error *err)
{
    struct cw_arena *arena = cw_arena_create();
    struct choosing c = {chip, metrics, most, options, NULL, kept, err};
    size_t kept_count = 0;
    c.names = arena ? cw_arena_alloc(arena, count, sizeof *c.names) : NULL;
    memset(kept, false, count * sizeof *kept);
    enum cw_status status = !c.names ? cw_error_nomem(err) : count ? take(&c, 0, count, &kept_count) : CW_OK;
    cw_arena_destroy(arena);
    return status;
}
