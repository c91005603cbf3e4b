/* Explains the passes of a plan by metric and by domain. */
#include <string.h>

#include "host/plan.h"
#include "host/schedule.h"

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
    uint32_t *marks = cw_arena_alloc(arena, pass_count, sizeof *marks); /* by pass: 1 + the last metric that uses it */
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
