#include <string.h>

#include "host/plan.h"
#include "host/schedule.h"

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
    const char **names; /* of those kept, and those tried with them */
    bool *kept;
    struct cw_error *err;
};

/* Keeps as many of the metrics from `first` on as it can: all of them, or each half for itself. */
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

enum cw_status cw_plan_loads(uint32_t *loads, const struct cw_plan *plan, const struct cw_chip *chip,
                             struct cw_arena *arena, struct cw_error *err)
{
    const struct cw_config_image *image = &plan->image;
    struct cw_list *groups = cw_arena_alloc(arena, image->raw_count, sizeof *groups);
    uint32_t *raws = cw_arena_alloc(arena, image->raw_count, sizeof *raws);
    bool *seen = cw_arena_alloc(arena, image->raw_count, sizeof *seen);
    enum cw_status status = groups && raws && seen ? CW_OK : cw_error_nomem(err);
    for (uint32_t d = 0; status == CW_OK && d < image->domain_count; d++) {
        struct cw_schedule alone;
        struct cw_schedule_task task = {.chip = chip, .profiler = image->profiler, .groups = groups};
        memset(seen, 0, image->raw_count * sizeof *seen);
        for (uint32_t p = 0; p < image->pass_count; p++)
            for (uint32_t k = 0; k < image->passes[p].count; k++) {
                uint32_t raw = image->passes[p].placements[k].raw;
                if (image->passes[p].placements[k].domain != d || seen[raw])
                    continue;
                seen[raw] = true;
                raws[raw] = cw_chip_find_raw(chip, image->raws[raw]);
                groups[task.group_count++] = (struct cw_list){1, &raws[raw]};
            }
        status = cw_schedule_make(&alone, &task, arena, err);
        loads[d] = alone.pass_count;
    }
    return status;
}

enum cw_status cw_plan_explain(struct cw_plan *plan, struct cw_arena *arena, struct cw_error *err)
{
    const uint32_t pass_count = plan->image.pass_count;
    struct cw_pass_index index;
    uint32_t *marks = cw_arena_alloc(arena, pass_count, sizeof *marks); /* 1 + the last metric that a pass is for */
    bool good = marks && cw_pass_index_make(&index, &plan->image, arena);
    for (uint32_t i = 0; i < plan->metric_count && good; i++) {
        struct cw_plan_metric *m = &plan->metrics[i];
        uint32_t count = 0;
        m->whole = true;
        for (uint32_t v = 0; v < m->value_count; v++) {
            uint32_t some = cw_pass_index_find(&index, m->values[v].items, m->values[v].count);
            bool together = !m->values[v].count;
            for (uint32_t k = 0; k < some; k++) {
                together = together || index.holds[k] == m->values[v].count;
                count += marks[index.found[k]] != i + 1;
                marks[index.found[k]] = i + 1;
            }
            m->whole = m->whole && together;
        }
        uint32_t *passes = cw_arena_alloc(arena, count, sizeof *passes);
        good = passes != NULL;
        m->passes = passes;
        m->pass_count = 0;
        for (uint32_t p = 0; p < pass_count && good; p++)
            if (marks[p] == i + 1)
                passes[m->pass_count++] = p;
    }
    return good ? CW_OK : cw_error_nomem(err);
}
