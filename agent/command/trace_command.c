/* capture-agent trace */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/backend/trace_capture.h"
#include "agent/command/command.h"

enum { CUPTI_FIRST_BUFFERS = 3, CUPTI_MOST_BUFFERS = 250 }; /* by default */

struct trace_arguments {
    struct cw_command_capture capture;
    bool list;
    char attached[32]; /* the attached process, for people */
    char *argv[2];
    struct cw_trace_options options;
};

static void read_kinds(void *kinds, char *text, struct argp_state *state)
{
    struct cw_error err = CW_ERROR_INIT;
    if (cw_trace_kinds_read(kinds, text, &err) != CW_OK)
        cw_usage_error(state, "%s", err.message);
}

/* Reads MIB,MOST,FIRST; parts that are empty, or not there, stay 0. */
static void read_device_buffers(void *buffers, char *text, struct argp_state *state)
{
    static const unsigned long least[] = {1, 2, 1}, most[] = {1024, 1000000, 1000000};
    unsigned long values[3] = {0};
    const char *at = text;
    bool good = true;
    for (int i = 0; i < 3 && good; i++) {
        char *end = (char *)at;
        if (*at >= '0' && *at <= '9') {
            values[i] = strtoul(at, &end, 10);
            good = values[i] >= least[i] && values[i] <= most[i];
        }
        at = end;
        good = good && (!*at || (*at == ',' && i < 2));
        at += *at == ',';
    }
    if (!good || !(values[0] || values[1] || values[2]))
        cw_usage_error(state, "found --device-buffers '%s', expected MIB,MOST,FIRST, as 8,500,10 or 8", text);
    if ((values[2] ? values[2] : CUPTI_FIRST_BUFFERS) >= (values[1] ? values[1] : CUPTI_MOST_BUFFERS))
        cw_usage_error(state, "found --device-buffers '%s', expected fewer buffers at first than at most", text);
    *(struct cw_trace_device_buffers *)buffers =
        (struct cw_trace_device_buffers){values[0] << 20, (uint32_t)values[1], (uint32_t)values[2]};
}

static void check_arguments(void *arguments, struct argp_state *state)
{
    const struct trace_arguments *a = arguments;
    const struct cw_trace_window_options *w = &a->options.windows;
    if (a->list)
        return;
    if (!a->capture.options.output)
        cw_usage_error(state, "-o RUN.cwd is required");
    if (!a->capture.options.argv && !a->options.attach)
        cw_usage_error(state, "no program: give one after --");
    if (a->capture.options.argv && a->options.attach)
        cw_usage_error(state, "found --attach and a program, expected one of them");
    if (a->options.latency && a->options.hes)
        cw_usage_error(
            state, "found --latency and --hes, expected one of them: CUPTI gives no queue times with hardware times");
    if (a->options.latency && a->options.attach)
        cw_usage_error(state,
                       "found --latency and --attach, expected a program: CUPTI needs the option before CUDA begins");
    const struct cw_trace_device_buffers *b = &a->options.device_buffers;
    if ((b->bytes || b->most || b->first) && a->options.attach)
        cw_usage_error(
            state,
            "found --device-buffers and --attach, expected a program: CUPTI needs the option before CUDA begins");
    if (a->options.serialize && !(a->options.kinds & CW_TRACE_BIT(CW_TRACE_KERNEL)))
        cw_usage_error(state, "found --serialize without the kind kernel, expected it among --kinds");
    const struct cw_backend *backend = cw_command_backend(&a->capture);
    if (w->periods && a->options.attach)
        cw_usage_error(state, "found --steady with --attach, expected a program, whose first launches the agent sees");
    if (w->periods && backend && !backend->sees_launches)
        cw_usage_error(state, "found --steady with the simulated GPU, expected a real one's launches");
    if (w->every_ns && !w->length_ns)
        cw_usage_error(state, "found --every without --window, expected the time to trace at once");
    if (w->every_ns && w->every_ns < w->length_ns)
        cw_usage_error(state, "found --every %g s, expected no less than the window of %g s",
                       (double)w->every_ns * 1e-9, (double)w->length_ns * 1e-9);
}

/* Options for the times to trace. */
static const struct cw_option window_options[] = {
    {"delay", 'y', "N[s|ms|us]", "begin the trace this long after the program's start (default: at its start)",
     CW_OPTION_RARE, CW_OPTION_READ(struct trace_arguments, options.windows.delay_ns, cw_command_ns)},
    {"duration", 'd', "N[s|ms|us]", "trace for this long; the program runs on to its end (default: to its end)",
     CW_OPTION_RARE, CW_OPTION_READ(struct trace_arguments, options.windows.duration_ns, cw_command_ns)},
    {"window", 0, "N[s|ms|us]", "trace for this long at a time (default: all the time)",
     CW_OPTION_READ(struct trace_arguments, options.windows.length_ns, cw_command_ns)},
    {"every", 0, "N[s|ms|us]", "time from the start of a window to the next (default: one window)",
     CW_OPTION_READ(struct trace_arguments, options.windows.every_ns, cw_command_ns)},
    {"range", 0, "NAME|REGEX", "trace while a user range (NVTX, counterworks/annotate.h) with a matching name is open",
     CW_OPTION_TEXT(struct trace_arguments, options.filter.range)},
    {"kernel", 0, "NAME|REGEX",
     "trace from the first launch of a kernel with a matching name on, mangled or readable; may be repeated",
     CW_OPTION_LIST(struct trace_arguments, options.filter.kernels, options.filter.kernel_count)},
    {"launch-skip", 0, "N", "begin after N launches, of all kernels or of --kernel",
     CW_OPTION_NUMBER(struct trace_arguments, options.filter.launch_skip, 0, UINT32_MAX)},
    {"launch-count", 0, "N", "end after N more of these launches; everything else meanwhile is traced, too",
     CW_OPTION_NUMBER(struct trace_arguments, options.filter.launch_count, 1, UINT32_MAX)},
    {CW_OPTION_GROUP(struct trace_arguments, options.windows, cw_command_when_options)},
    {"toggle", 0, NULL, "a SIGUSR2 to the agent begins the trace, the next one ends it, and so on", CW_OPTION_RARE,
     CW_OPTION_FLAG(struct trace_arguments, options.windows.toggled)},
    {0},
};

static const struct cw_option sim_options[] = {
    {"sim-drop", 0, "N", "sim: the number of kernels to lose (default: 0)", CW_OPTION_RARE,
     CW_OPTION_NUMBER(struct trace_arguments, options.sim_drop, 0, 1000000)},
    {"sim-untimed", 0, "N", "sim: the number of kernels to record without times (default: 0)", CW_OPTION_RARE,
     CW_OPTION_NUMBER(struct trace_arguments, options.sim_untimed, 0, 1000000)},
    {"sim-drift", 0, "N", "sim: the drift of the GPUs' clocks, so many in a million (default: 0)", CW_OPTION_RARE,
     CW_OPTION_NUMBER(struct trace_arguments, options.sim_drift, 0, 100000)},
    {"sim-unfinished", 0, NULL, "sim: the last process is killed, and its unsent rows are lost", CW_OPTION_RARE,
     CW_OPTION_FLAG(struct trace_arguments, options.sim_unfinished)},
    {0},
};

static const struct cw_option trace_options[] = {
    {"output", 'o', "RUN.cwd",
     "the file for the trace; %p (process) and %r (rank) make a file for each, %h is the host, %q{NAME} an environment "
     "variable",
     CW_OPTION_TEXT(struct trace_arguments, capture.options.output)},
    {"kinds", 't', "LIST",
     "kinds to record, and groups of them, as gpu,nvtx; a - in front leaves them out, as -driver (default: default)",
     CW_OPTION_READ(struct trace_arguments, options.kinds, read_kinds)},
    {"list-kinds", 0, NULL, "print all kinds and groups", CW_OPTION_FLAG(struct trace_arguments, list)},
    {"calls", 0, "LIST",
     "calls of the runtime and driver, as 'cudaMalloc*,cuLaunchKernel', or -cudaGetDevice for all but that (default: "
     "calls that launch, copy, set, wait, ask, allocate, load code or record an event)",
     CW_OPTION_TEXT(struct trace_arguments, options.calls)},
    {"graphs", 0, "nodes|whole",
     "record each kernel and copy of a CUDA graph (default), or each graph launch as a whole, which costs less",
     CW_OPTION_CHOICE(struct trace_arguments, options.whole_graphs)},
    {"attach", 'p', "PID",
     "trace a running process that was started with CUDA_INJECTION64_PATH (and NVTX_INJECTION64_PATH) naming "
     "libcounterworks_inject.so; it runs on after --for or Ctrl-C",
     CW_OPTION_NUMBER(struct trace_arguments, options.attach, 1, INT32_MAX)},
    {"latency", 0, NULL, "also record the times when launches were queued and submitted",
     CW_OPTION_FLAG(struct trace_arguments, options.latency)},
    {"launch-attributes", 0, NULL, "also record attributes of launches, such as cluster policies", CW_OPTION_RARE,
     CW_OPTION_FLAG(struct trace_arguments, options.attributes)},
    {"serialize", 0, NULL, "run kernels one after another, also those of several streams: the time of each is its own",
     CW_OPTION_RARE, CW_OPTION_FLAG(struct trace_arguments, options.serialize)},
    {"hes", 0, NULL, "take times from the hardware event system, on chips that have it", CW_OPTION_RARE,
     CW_OPTION_FLAG(struct trace_arguments, options.hes)},
    {"environment", 0, "N[s|ms|us]", "time between readings of clocks, power and temperature (default: 100ms)",
     CW_OPTION_RARE, CW_OPTION_READ(struct trace_arguments, options.environment_ns, cw_command_ns)},
    {CW_OPTION_ROWS(window_options)},
    {"device", 0, "LIST", "only some GPUs, by number: 0,2 (default: all)",
     CW_OPTION_READ(struct trace_arguments, options.filter.devices, cw_command_devices)},
    {"process", 0, "NAME|REGEX", "only processes of programs with a matching name",
     CW_OPTION_TEXT(struct trace_arguments, options.filter.process)},
    {"follow-children", 0, "yes|no", "also processes that the program starts (default: yes)",
     CW_OPTION_CHOICE(struct trace_arguments, options.filter.only_program)},
    {"flush", 0, "N[s|ms|us]", "write rows at least this often (default: 1s)", CW_OPTION_RARE,
     CW_OPTION_READ(struct trace_arguments, options.flush_ns, cw_command_ns)},
    {"buffer", 0, "MIB", "size of a buffer in the program (default: 4)", CW_OPTION_RARE,
     CW_OPTION_UNITS(struct trace_arguments, options.buffer_bytes, 1, 64, 1 << 20)},
    {"buffers", 0, "N",
     "the greatest number of buffers; rows that come when all are full are lost, and counted (default: 16)",
     CW_OPTION_RARE, CW_OPTION_NUMBER(struct trace_arguments, options.buffer_count, 2, 1024)},
    {"device-buffers", 0, "MIB[,MOST[,FIRST]]",
     "CUPTI's buffers on the GPU, for each context: the size of one, the greatest number, and how many to allocate at "
     "first; a part may be empty (default: CUPTI's, 3.2 MB, 250 and 3)",
     CW_OPTION_RARE, CW_OPTION_READ(struct trace_arguments, options.device_buffers, read_device_buffers)},
    {CW_OPTION_ROWS(sim_options)},
    {CW_OPTION_GROUP(struct trace_arguments, capture, cw_command_capture_options)},
    {CW_OPTION_CHECK(check_arguments)},
    {0},
};

static enum cw_status trace(struct trace_arguments *a, int *exit_status, struct cw_error *err)
{
    struct cw_filter filter;
    enum cw_status status = cw_filter_open(&filter, &a->options.filter, err);
    cw_filter_close(&filter);
    if (status == CW_OK)
        status = cw_command_begin(&a->capture, CW_PROFILER_TRACE, err);
    a->options.capture = a->capture.options;
    a->options.quiet = a->capture.quiet;
    if (a->options.attach) {
        snprintf(a->attached, sizeof a->attached, "process %" PRIu32, a->options.attach);
        a->argv[0] = a->attached;
        a->options.capture.argv = a->argv;
    }
    if (status != CW_OK)
        return status;
    const struct cw_backend *backend = cw_command_backend(&a->capture);
    if (!backend->trace)
        return cw_error_set(err, CW_ERR_UNSUPPORTED, "the backend %s of this build makes no traces", backend->name);
    return backend->trace(&a->options, exit_status, err);
}

int cw_trace_command(int argc, char **argv)
{
    static const struct cw_usage usage = {
        trace_options, "-- PROGRAM [ARGUMENT...]\n--attach PID\n--list-kinds",
        "Runs an unmodified program and records its events and those of its GPUs, with times: kernels, copies, calls, "
        "waits, user ranges. Nothing is replayed. At the end it prints the numbers of recorded and lost events. The "
        "program's exit status is passed on.\vExample:\n  $0 -o run.cwd -- ./app\n  $0 -o run-%r.cwd -t gpu,nvtx "
        "--range '^step' -- ./train\n  $0 -o run.cwd -t all --after 10s --for 1s -- ./server\n  $0 --backend sim "
        "-o run.cwd -- true"};
    struct trace_arguments a = {.capture = {.backend = cw_command_default_backend()},
                                .options = {.filter = {.launch_count = UINT64_MAX},
                                            .environment_ns = 100000000,
                                            .flush_ns = 1000000000,
                                            .buffer_bytes = 4 << 20,
                                            .buffer_count = 16}};
    struct cw_error err = CW_ERROR_INIT;
    int exit_status = 0;
    cw_trace_kinds_read(&a.options.kinds, "default", &err);
    cw_usage_read(&usage, argc, argv, &a);
    if (a.list) {
        cw_trace_kinds_list();
        return 0;
    }
    enum cw_status status = trace(&a, &exit_status, &err);
    return cw_command_end(&a.capture, status, exit_status, &err);
}
