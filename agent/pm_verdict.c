#include <stdio.h>
#include <string.h>

#include "agent/pm.h"

/* The rollup of a metric's name: "sm__inst_executed.max.per_second" has the greatest. */
static bool names_extreme(const char *rest)
{
    return strncmp(rest, ".min", 4) == 0 || strncmp(rest, ".max", 4) == 0;
}

bool cw_pm_needs_rollups(const struct cw_config_image *plan, uint32_t counter)
{
    const char *name = plan->counters[counter].name;
    size_t length = strlen(name);
    for (uint32_t i = 0; i < plan->metric_count; i++) {
        const char *metric = plan->metrics[i], *dot = strrchr(metric, '.');
        bool of_counter = strncmp(metric, name, length) == 0 && metric[length] == '.';
        if (of_counter && names_extreme(metric + length))
            return true;
        /* of something else that is computed from counters, such as a throughput */
        bool direct = of_counter;
        for (uint32_t c = 0; c < plan->counter_count && !direct; c++) {
            size_t n = strlen(plan->counters[c].name);
            direct = strncmp(metric, plan->counters[c].name, n) == 0 && metric[n] == '.';
        }
        if (!direct && dot && (strstr(metric, ".min") || strstr(metric, ".max")))
            return true;
    }
    return false;
}

enum cw_status cw_pm_verdict(const struct cw_pm_options *o, const struct cw_program *program, bool any,
                             int *exit_status, struct cw_error *err)
{
    *exit_status = o->argv ? cw_program_exit_status(program) : 0;
    if (o->argv && program->how == CW_END_SIGNALLED)
        fprintf(stderr, "capture-agent: %s was killed by signal %u; what was complete is in %s\n", o->argv[0],
                program->code, o->output);
    else if (o->argv && program->code)
        fprintf(stderr, "capture-agent: %s exited with status %u; what was captured is in %s\n", o->argv[0],
                program->code, o->output);
    if (!any && *exit_status == 0)
        return cw_error_set(err, CW_ERR_DEVICE, "no sample was taken%s",
                            o->argv ? ": the program ended before the first interval was over" : "");
    return CW_OK;
}
