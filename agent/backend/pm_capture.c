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

bool cw_pm_by_launch(const struct cw_pm_options *o)
{
    return o->filter.kernel_count || o->filter.excluded_count;
}

bool cw_pm_by_program(const struct cw_pm_options *o)
{
    static const struct cw_filter_options none = {.launch_count = UINT64_MAX};
    return o->filter.range || cw_pm_by_launch(o) || cw_trace_window_any(&o->when, &none);
}

bool cw_pm_has_trace(const struct cw_pm_options *o)
{
    return o->capture.argv && !o->no_trace;
}

uint32_t cw_pm_describe_windows(const struct cw_pm_options *o, char text[96], struct cw_pair attributes[2],
                                struct cw_arena *arena)
{
    const char *filter = cw_pm_by_program(o) ? cw_trace_window_filter_text(&o->when, &o->filter, arena) : NULL;
    uint32_t count = 0;
    if (o->every_s > 0)
        snprintf(text, 96, "%.9g s every %.9g s", o->window_s, o->every_s);
    else
        snprintf(text, 96, "%.9g s", o->window_s);
    if (o->window_s > 0)
        attributes[count++] = (struct cw_pair){"sampling_window", text};
    if (filter)
        attributes[count++] = (struct cw_pair){"filter", filter};
    return count;
}

/* An interval without losses, with 25 % to spare, rounded up to two digits. */
static uint64_t lossless_us(uint64_t sample_ns)
{
    uint64_t us = (sample_ns + sample_ns / 4 + 999) / 1000, digit = 1;
    while (us / digit >= 100)
        digit *= 10;
    return (us + digit - 1) / digit * digit;
}

static void tell_lost(const struct cw_pm_options *o, const struct cw_pm_outcome *out)
{
    uint64_t us = lossless_us(out->sample_ns);
    fprintf(stderr, "capture-agent: %" PRIu64 " sample%s lost: ", out->lost, out->lost == 1 ? " was" : "s were");
    if (!o->cycles && us * 1000 > o->interval)
        fprintf(stderr, "taking one over takes %.1f us, so none is lost at --interval %" PRIu64 "us%s\n",
                (double)out->sample_ns / 1000, us,
                o->window_s > 0 ? "" : ", or within windows (--window); fewer counters take less");
    else
        fprintf(stderr, "a longer --interval, fewer counters or a larger --buffer helps\n");
}

void cw_pm_tell(const struct cw_pm_options *options, const struct cw_pm_outcome *out)
{
    if (out->lost)
        tell_lost(options, out);
    if (out->ranges_left_out)
        fprintf(stderr,
                "capture-agent: %" PRIu64 " of %" PRIu64
                " %s were not sampled: each began while the one before was still decoded\n",
                out->ranges_left_out, out->ranges, cw_pm_by_launch(options) ? "launches" : "ranges");
    if (out->elsewhere)
        fprintf(stderr,
                "capture-agent: %" PRIu64 " launch%s on a GPU that is not sampled: --device selects more, or all\n",
                out->elsewhere, out->elsewhere == 1 ? " was" : "es were");
    if (out->untimed)
        fprintf(stderr,
                "capture-agent: the times of %" PRIu64 " kernel launch%s were not collected: counted without a time\n",
                out->untimed, out->untimed == 1 ? "" : "es");
}

static enum cw_status no_sample(const struct cw_pm_options *o, const struct cw_pm_outcome *out, struct cw_error *err)
{
    const char *unit = o->cycles ? "cycles" : "ns";
    if (cw_pm_by_launch(o) && !out->ranges)
        return cw_error_set(err, CW_ERR_APP, "no sample was taken: found no launch that --kernel and --exclude take%s",
                            o->filter.range ? ", within such a range" : "");
    if (o->filter.range && !out->ranges)
        return cw_error_set(err, CW_ERR_APP, "no sample was taken: found no user range that matches '%s'",
                            o->filter.range);
    if (cw_pm_by_program(o) && !out->ranges)
        return cw_error_set(err, CW_ERR_APP, "no sample was taken: no window opened while the program ran");
    double ms = (double)out->sampled_ns / 1e6;
    if (out->lost)
        return cw_error_set(err, CW_ERR_DEVICE, "no sample was taken: all %" PRIu64 " were lost", out->lost);
    if (cw_pm_by_program(o))
        return cw_error_set(err, CW_ERR_DEVICE,
                            "no sample was taken in %" PRIu64 " %s%s at an interval of %" PRIu64
                            " %s: a shorter --interval may fit",
                            out->ranges, cw_pm_by_launch(o) ? "launch" : "user range",
                            out->ranges == 1     ? ""
                            : cw_pm_by_launch(o) ? "es"
                                                 : "s",
                            o->interval, unit);
    if (!o->cycles && out->sampled_ns < 2 * o->interval)
        return cw_error_set(
            err, CW_ERR_DEVICE,
            "no sample was taken: sampling lasted %.3g ms, and the first is complete after two intervals "
            "of %" PRIu64 " ns",
            ms, o->interval);
    return cw_error_set(err, CW_ERR_DEVICE,
                        "no sample was taken in %.3g ms at an interval of %" PRIu64 " %s: the GPU gave none", ms,
                        o->interval, unit);
}

enum cw_status cw_pm_verdict(const struct cw_pm_options *o, const struct cw_program *program,
                             const struct cw_pm_outcome *out, enum cw_status status, int *exit_status,
                             struct cw_error *err)
{
    *exit_status = 0;
    if (o->capture.argv)
        status = cw_program_verdict(program, o->capture.argv[0], o->capture.output, status, exit_status, err);
    return status != CW_OK || out->any || *exit_status ? status : no_sample(o, out, err);
}
