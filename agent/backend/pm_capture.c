#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "agent/backend/pm_capture.h"

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

void cw_pm_tell(uint64_t lost, uint64_t elsewhere)
{
    if (lost)
        fprintf(stderr,
                "capture-agent: %" PRIu64 " sample%s lost: a longer --interval, fewer counters or a larger --buffer "
                "helps\n",
                lost, lost == 1 ? " was" : "s were");
    if (elsewhere)
        fprintf(stderr,
                "capture-agent: %" PRIu64 " launch%s on a GPU that is not sampled: --device says which are, or all\n",
                elsewhere, elsewhere == 1 ? " was" : "es were");
}

enum cw_status cw_pm_verdict(const struct cw_pm_options *o, const struct cw_program *program, bool any,
                             enum cw_status status, int *exit_status, struct cw_error *err)
{
    *exit_status = 0;
    if (o->argv)
        status = cw_program_verdict(program, o->argv[0], o->output, status, exit_status, err);
    if (status != CW_OK || any || *exit_status)
        return status;
    return cw_error_set(err, CW_ERR_DEVICE, "no sample was taken%s",
                        o->argv ? ": the program ended before the first interval was over" : "");
}
