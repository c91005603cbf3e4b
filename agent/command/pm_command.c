/* capture-agent pm */
#include <stdlib.h>
#include <string.h>

#include "agent/command/command.h"
#include "base/progress.h"

struct pm_arguments {
    struct cw_command_capture capture;
    struct cw_pm_options options;
};

static void read_interval(void *options, char *text, struct argp_state *state)
{
    static const struct {
        const char *name;
        uint64_t factor;
        bool cycles;
    } units[] = {{"", 1, false}, {"ns", 1, false}, {"us", 1000, false}, {"ms", 1000000, false}, {"sys", 1, true}};
    struct cw_pm_options *o = options;
    char *end;
    unsigned long value = strtoul(text, &end, 10);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].name) == 0 && end != text && text[0] >= '0' && text[0] <= '9' && value > 0 &&
            value <= 10000000000 / units[i].factor) {
            o->interval = value * units[i].factor;
            o->cycles = units[i].cycles;
            return;
        }
    cw_usage_error(state, "found the interval '%s', expected up to 10 s such as 100us, 100000ns or 170000sys", text);
}

static enum cw_status check_filter(const struct cw_filter_options *options, struct cw_error *err)
{
    struct cw_filter filter;
    enum cw_status status = cw_filter_open(&filter, options, err);
    cw_filter_close(&filter);
    return status;
}

static void check_arguments(void *arguments, struct argp_state *state)
{
    const struct pm_arguments *a = arguments;
    if (!a->capture.plan || !a->capture.options.output)
        cw_usage_error(state, "-c PLAN.cwc and -o RUN.cwd are required");
    if (!a->capture.options.argv && a->options.duration_s <= 0)
        cw_usage_error(state, "neither a program nor --duration: give one, or both");
    const struct cw_filter_options *f = &a->options.filter;
    const char *when = cw_command_when(&a->options.when);
    const char *windows = f->kernel_count ? "kernel" : f->excluded_count ? "exclude" : f->range ? "range" : when;
    if (windows && (!a->capture.options.argv || a->options.no_trace || a->options.every_s > 0))
        cw_usage_error(state, "found --%s %s, expected a program whose ranges and launches the agent sees", windows,
                       !a->capture.options.argv ? "without a program"
                       : a->options.no_trace    ? "with --no-trace"
                                                : "with --every");
    const struct cw_backend *backend = cw_command_backend(&a->capture);
    if (a->options.when.profiler && backend && !backend->sees_launches)
        cw_usage_error(state, "found --profiler-api with the simulated GPU, expected a real one's launches");
    cw_command_check_when(&a->capture, &a->options.when, state);
    if (cw_filter_counts(f) && !f->kernel_count && !f->excluded_count)
        cw_usage_error(state, "found --launch-%s without --kernel or --exclude, expected one of them to choose kernels",
                       f->launch_skip ? "skip" : "count");
    if (a->options.every_s > 0 && a->options.window_s <= 0)
        cw_usage_error(state, "found --every without --window, expected the time to sample at once");
    if (a->options.every_s > 0 && a->options.every_s < a->options.window_s)
        cw_usage_error(state, "found --every %g s, expected no less than the window of %g s", a->options.every_s,
                       a->options.window_s);
    if (a->options.window_s > 0 && !a->options.cycles && a->options.window_s * 1e9 < 2.0 * (double)a->options.interval)
        cw_usage_error(state, "found a window of %g s, expected two intervals at least", a->options.window_s);
    if (a->options.sim_overflow && !a->options.sim_drop)
        cw_usage_error(state, "found --sim-overflow without --sim-drop, expected samples that are lost by it");
}

static const struct cw_option pm_options[] = {
    {"config", 'c', "PLAN.cwc", "a config image from metric-config --profiler pm",
     CW_OPTION_TEXT(struct pm_arguments, capture.plan)},
    {"interval", 0, "N[ns|us|ms|sys]", "time between samples; with sys, cycles of the system clock (default: 100us)",
     CW_OPTION_READ(struct pm_arguments, options, read_interval)},
    {"duration", 0, "N[s|m|h]", "the time to sample (default: as long as the program runs)",
     CW_OPTION_READ(struct pm_arguments, options.duration_s, cw_command_seconds)},
    {"window", 0, "N[s|ms|us]",
     "sample for this long at a time into the hardware's buffer, and decode between windows. Use it at short "
     "intervals, which would otherwise lose samples (default: all the time)",
     CW_OPTION_READ(struct pm_arguments, options.window_s, cw_command_seconds)},
    {"every", 0, "N[s|ms|us]", "time from the start of a window to the next (default: as soon as one is decoded)",
     CW_OPTION_READ(struct pm_arguments, options.every_s, cw_command_seconds)},
    {"range", 0, "NAME|REGEX",
     "a window for each user range (NVTX) with a matching name, of at most --window (default: the whole range, and "
     "20,000 samples at an --interval below 50us); the program waits for its start and its end",
     CW_OPTION_TEXT(struct pm_arguments, options.filter.range)},
    {"kernel", 0, "NAME|REGEX",
     "a window for each launch of a kernel with a matching name, mangled or readable, with --range only within "
     "matching ranges; the program waits for its start and its end; may be repeated",
     CW_OPTION_LIST(struct pm_arguments, options.filter.kernels, options.filter.kernel_count)},
    {"exclude", 0, "NAME|REGEX", "the same as --kernel for each launch of other kernels; may be repeated",
     CW_OPTION_LIST(struct pm_arguments, options.filter.excluded, options.filter.excluded_count)},
    {"launch-skip", 0, "N", "no window for the first N launches that match everything else",
     CW_OPTION_NUMBER(struct pm_arguments, options.filter.launch_skip, 0, UINT32_MAX)},
    {"launch-count", 0, "N", "windows for at most N of the matching launches",
     CW_OPTION_NUMBER(struct pm_arguments, options.filter.launch_count, 0, UINT32_MAX)},
    {CW_OPTION_GROUP(struct pm_arguments, options.when, cw_command_when_options)},
    {"device", 0, "LIST", "the GPUs to sample, by number: 0,2, or all of the plan's chip (default: 0)",
     CW_OPTION_READ(struct pm_arguments, options.devices, cw_command_devices)},
    {"buffer", 0, "MIB", "size of the hardware's buffer (default: 256; with --window the size that the window needs)",
     CW_OPTION_RARE, CW_OPTION_UNITS(struct pm_arguments, options.buffer_bytes, 0, 4096, 1 << 20)},
    {"no-trace", 0, NULL, "do not record the program's kernel launches, copies and user ranges",
     CW_OPTION_FLAG(struct pm_arguments, options.no_trace)},
    {"sim-samples", 0, "N", "sim: pretend so many samples (default: 48)", CW_OPTION_RARE,
     CW_OPTION_NUMBER(struct pm_arguments, options.sim_samples, 0, 10000000)},
    {"sim-drop", 0, "N", "sim: the number of samples to lose (default: 0)", CW_OPTION_RARE,
     CW_OPTION_NUMBER(struct pm_arguments, options.sim_drop, 0, 1000000)},
    {"sim-lack", 0, "UNIT", "sim: pretend that the GPUs lack this unit: nvlrx", CW_OPTION_RARE,
     CW_OPTION_TEXT(struct pm_arguments, capture.options.sim_lack)},
    {"sim-overflow", 0, NULL, "sim: pretend that the hardware's buffer was full once", CW_OPTION_RARE,
     CW_OPTION_FLAG(struct pm_arguments, options.sim_overflow)},
    {CW_OPTION_GROUP(struct pm_arguments, capture, cw_command_file_options)},
    {CW_OPTION_CHECK(check_arguments)},
    {0},
};

int cw_pm_command(int argc, char **argv)
{
    static const struct cw_usage usage = {
        pm_options, "[-- PROGRAM [ARGUMENT...]]",
        "Samples the plan's counters of whole GPUs at equal intervals, while an unmodified program runs or for a given "
        "time. The program's kernel launches are recorded, too. The program's exit status is passed on.\v"
        "Example:\n  $0 -c plan.cwc -o run.cwd --interval 100us -- ./train\n"
        "  $0 -c plan.cwc -o run.cwd --device all --duration 10\n"
        "  $0 -c plan.cwc -o run.cwd --window 50ms --every 1s -- ./app\n"
        "  $0 --backend sim -c plan.cwc -o run.cwd -- true",
        .elsewhere = CW_COMMAND_OF_PLANS};
    struct pm_arguments a = {
        .capture = {.backend = cw_command_default_backend()},
        .options = {.devices = 1, .interval = 100000, .sim_samples = 48, .filter = {.launch_count = UINT64_MAX}}};
    struct cw_error err = CW_ERROR_INIT;
    int exit_status = 0;
    cw_usage_read(&usage, argc, argv, &a);
    enum cw_status status = cw_command_begin(&a.capture, CW_PROFILER_PM, &err);
    a.options.capture = a.capture.options;
    if (status == CW_OK && a.capture.image.pass_count != 1)
        status = cw_error_set(&err, CW_ERR_USAGE, "found a plan of %u passes, expected one: samples cannot be repeated",
                              a.capture.image.pass_count);
    if (status == CW_OK)
        status = check_filter(&a.options.filter, &err);
    if (status == CW_OK && a.options.duration_s > 0)
        cw_progress_tell(0, 0, "sampling for %g s", a.options.duration_s);
    if (status == CW_OK)
        status = cw_command_backend(&a.capture)->pm(&a.options, &exit_status, &err);
    return cw_command_end(&a.capture, status, exit_status, &err);
}
