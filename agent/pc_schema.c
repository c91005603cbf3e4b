#include <stdio.h>

#include "agent/pc_capture.h"

enum cw_status cw_pc_schema(struct cw_schema *schema, const char *chip, const struct cw_pc_options *o,
                            struct cw_arena *arena, struct cw_error *err)
{
    const char **metrics = cw_arena_alloc(arena, o->metric_count, sizeof *metrics);
    for (uint32_t i = 0; metrics && i < o->metric_count; i++) {
        metrics[i] = cw_arena_printf(arena, "%s:%s", o->metrics[i].name, cw_sass_level_names[o->metrics[i].level]);
        if (!metrics[i])
            return cw_error_nomem(err);
    }
    *schema = (struct cw_schema){.chip = chip,
                                 .producer = "counterworks " CW_VERSION,
                                 .profiler = o->sass ? CW_PROFILER_SASS : CW_PROFILER_PC,
                                 .metric_count = o->metric_count,
                                 .metrics = metrics};
    return metrics ? CW_OK : cw_error_nomem(err);
}

enum cw_status cw_pc_verdict(const struct cw_pc_options *o, const struct cw_program *program, uint64_t samples,
                             int *exit_status, struct cw_error *err)
{
    *exit_status = cw_program_exit_status(program);
    const char *name = o->argv[0];
    if (program->how == CW_END_SIGNALLED)
        fprintf(stderr, "capture-agent: %s was killed by signal %u; what was complete is in %s\n", name, program->code,
                o->output);
    else if (program->code)
        fprintf(stderr, "capture-agent: %s exited with status %u; what was captured is in %s\n", name, program->code,
                o->output);
    if (samples || *exit_status)
        return CW_OK;
    if (o->sass)
        return cw_error_set(err, CW_ERR_APP, "%s launched no kernel, so nothing was captured", name);
    return cw_error_set(
        err, CW_ERR_APP,
        "%s launched no kernel, or none long enough for a sample: a smaller --period samples more often", name);
}
