#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "agent/backend/pm_capture.h"

bool cw_pm_needs_rollups(const struct cw_config_image *plan, uint32_t counter)
{
    const unsigned extremes = CW_ROLLUP_BIT(CW_MIN) | CW_ROLLUP_BIT(CW_MAX);
    return !plan->rollups || plan->rollups[counter] & extremes;
}

bool cw_pm_has_time_trigger(const char *chip)
{
    return strncmp(chip, "TU", 2) != 0 && strcmp(chip, "GA100") != 0;
}

void cw_pm_tell_cycles(uint32_t gpu, uint64_t interval_ns, uint64_t cycles)
{
    fprintf(stderr,
            "capture-agent: GPU %" PRIu32 " samples by its system clock alone: every %" PRIu64 " cycles, which at "
            "%.0f MHz are the %" PRIu64 " ns of --interval\n",
            gpu, cycles, (double)cycles * 1e3 / (double)interval_ns, interval_ns);
}

uint32_t cw_pm_describe_interval(const struct cw_pm_options *options, uint64_t interval, bool cycles, char texts[2][32],
                                 struct cw_pair attributes[2])
{
    snprintf(texts[0], sizeof texts[0], "%" PRIu64 " %s", interval, cycles ? "cycles" : "ns");
    snprintf(texts[1], sizeof texts[1], "%" PRIu64 " ns", options->interval);
    attributes[0] = (struct cw_pair){"sampling_interval", texts[0]};
    attributes[1] = (struct cw_pair){"wanted_interval", texts[1]};
    return cycles && !options->cycles ? 2 : 1;
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

void cw_pm_tell_untimed(uint64_t untimed)
{
    if (untimed)
        fprintf(stderr,
                "capture-agent: the times of %" PRIu64 " kernel launch%s were not collected: counted without a time\n",
                untimed, untimed == 1 ? "" : "es");
}

enum cw_status cw_pm_verdict(const struct cw_pm_options *o, const struct cw_program *program, bool any,
                             enum cw_status status, int *exit_status, struct cw_error *err)
{
    *exit_status = 0;
    if (o->capture.argv)
        status = cw_program_verdict(program, o->capture.argv[0], o->capture.output, status, exit_status, err);
    if (status != CW_OK || any || *exit_status)
        return status;
    return cw_error_set(err, CW_ERR_DEVICE, "no sample was taken%s",
                        o->capture.argv ? ": the program ended before the first interval was over" : "");
}
