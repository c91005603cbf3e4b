#include "agent/output/patched.h"

#include <string.h>

bool *cw_patched_columns(const struct cw_config_image *plan, const struct cw_schema *schema, struct cw_arena *arena)
{
    bool *raws = cw_arena_alloc(arena, plan->raw_count, sizeof *raws);
    bool *patched = cw_arena_alloc(arena, cw_schema_columns(schema), sizeof *patched);
    if (!raws || !patched)
        return NULL;
    for (uint32_t p = 0; p < plan->pass_count; p++)
        for (uint32_t i = 0; i < plan->passes[p].count; i++) {
            const struct cw_placement *at = &plan->passes[p].placements[i];
            raws[at->raw] = raws[at->raw] || strcmp(plan->domains[at->domain].name, "gpu_sass") == 0;
        }
    for (uint32_t c = 0; c < cw_schema_columns(schema); c++) {
        const struct cw_config_counter *counter = &plan->counters[cw_schema_column_counter(schema, c)];
        for (uint32_t r = 0; r < counter->raw_count; r++)
            patched[c] = patched[c] || raws[counter->raws[r]];
    }
    return patched;
}

void cw_patched_leave_out(const bool *patched, const struct cw_schema *schema, struct cw_value *values)
{
    for (uint32_t c = 0; c < cw_schema_columns(schema); c++)
        if (patched[c])
            values[c] = (struct cw_value){.form = CW_FORM_NOT_COLLECTED};
}
