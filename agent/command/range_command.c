/* capture-agent range */
#define _GNU_SOURCE
#include "agent/command/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const enum cw_replay_kind not_given = CW_REPLAY_ONCE; /* a value that no option can set */

struct range_arguments {
    struct cw_command_capture capture;
    enum { SCOPE_AUTO, SCOPE_CONTEXT, SCOPE_DEVICE } scope;
    enum { GRAPHS_NODES, GRAPHS_WHOLE, GRAPHS_NOT_GIVEN } graphs;
    struct cw_range_options options;
};

/* Reads --slowdown: "5%" or "0.5". */
static void read_slowdown(void *thousandths, char *text, struct argp_state *state)
{
    char *end;
    double percent = strtod(text, &end);
    end += *end == '%';
    if (end == text || *end || !(percent >= 0.001) || percent > 1000)
        cw_usage_error(state, "found --slowdown '%s', expected a share of the program's time from 0.001%% to 1000%%",
                       text);
    *(uint32_t *)thousandths = (uint32_t)(percent * 1000 + 0.5);
}

/* Checks options for saving, which applies only to replay within the program. */
static void check_saving(const struct range_arguments *a, const struct cw_backend *backend, struct argp_state *state)
{
    const struct cw_range_options *o = &a->options;
    const char *option = o->reserve_mb != CW_RESERVE_USUAL   ? "--reserve-device"
                         : o->on_host_mb != CW_ON_HOST_USUAL ? "--save-on-host"
                                                             : NULL;
    const bool reserves = o->reserve_mb != CW_RESERVE_USUAL; /* CUPTI's own replay, of kernels, knows no reserve */
    if (option && o->replay != CW_REPLAY_BATCH && o->replay != CW_REPLAY_USER &&
        (reserves || o->replay != CW_REPLAY_KERNEL))
        cw_usage_error(state, "found %s with --replay %s, expected %s", option, cw_replay_names[o->replay],
                       reserves ? "batch or user" : "batch, kernel or user");
    if (option && backend && !backend->has_batches)
        cw_usage_error(state, "found %s with the simulated GPU, expected a real one's memory to save", option);
}

/* The program says what is repeated under user replay, and when. */
static void check_when(const struct range_arguments *a, struct argp_state *state)
{
    const char *option = cw_command_when(&a->options.when);
    cw_command_check_when(&a->capture, &a->options.when, state);
    if (option && a->options.replay == CW_REPLAY_USER)
        cw_usage_error(state, "found --%s with --replay user, expected another replay", option);
}

static void check_arguments(void *arguments, struct argp_state *state)
{
    struct range_arguments *a = arguments;
    const struct cw_backend *backend = cw_command_backend(&a->capture);
    struct cw_range_options *o = &a->options;
    const char *output = a->capture.options.output;
    if (!a->capture.plan)
        cw_usage_error(state, "found no plan, expected -c PLAN.cwc; counterworks run makes one for the node's GPUs");
    if (!output)
        cw_usage_error(state, "found no output, expected -o RUN.cwd");
    if (!a->capture.options.argv)
        cw_usage_error(state, "no program: give one after --");
    if (cw_program_is_adopted() && o->replay == CW_REPLAY_APPLICATION)
        cw_usage_error(state, "found --parent with --replay application, expected one that runs no program again");
    if (o->replay == not_given)
        o->replay = cw_program_is_adopted() && o->user ? CW_REPLAY_MULTIPLEX
                    : o->user                          ? CW_REPLAY_APPLICATION
                                                       : CW_REPLAY_BATCH;
    if (o->user && (o->replay == CW_REPLAY_BATCH || o->replay == CW_REPLAY_KERNEL))
        cw_usage_error(state, "found --ranges user with --replay %s, expected application, user or multiplex",
                       cw_replay_names[o->replay]);
    if (a->graphs == GRAPHS_NODES && o->replay != CW_REPLAY_BATCH)
        cw_usage_error(state, "found --graphs nodes with --replay %s, expected batch", cw_replay_names[o->replay]);
    if ((o->every || o->slowdown) && o->replay != CW_REPLAY_MULTIPLEX)
        cw_usage_error(state, "found %s with --replay %s, expected multiplex", o->every ? "--every" : "--slowdown",
                       cw_replay_names[o->replay]);
    if (o->levels != 1 && o->replay == CW_REPLAY_MULTIPLEX)
        cw_usage_error(state, "found --levels with --replay multiplex, expected application or user");
    if (o->keep_native && o->replay == CW_REPLAY_MULTIPLEX)
        cw_usage_error(state, "found --keep-native with --replay multiplex, expected a replay that keeps all passes of "
                              "a range");
    if (o->keep_native && backend && !backend->keeps_native)
        cw_usage_error(state, "found --keep-native with the simulated GPU, expected a real one's data to keep");
    if (o->verbose && backend && !backend->has_batches)
        cw_usage_error(state, "found --verbose with the simulated GPU, expected a real one's batches");
    if (o->keep_native && (cw_file_is_same(o->keep_native, output) || cw_file_is_same(o->keep_native, a->capture.plan)))
        cw_usage_error(state, "found --keep-native %s, expected another file than the plan and the output",
                       o->keep_native);
    check_saving(a, backend, state);
    check_when(a, state);
    if (o->user && (o->filter.kernel_count || o->filter.excluded_count))
        cw_usage_error(state, "found --%s with --ranges user, expected --range for their names",
                       o->filter.kernel_count ? "kernel" : "exclude");
    o->whole_graphs = a->graphs == GRAPHS_WHOLE || o->replay != CW_REPLAY_BATCH;
    o->for_context = a->scope != SCOPE_DEVICE;
    o->for_device = a->scope == SCOPE_DEVICE || /* under application replay all runs would have to agree */
                    (a->scope == SCOPE_AUTO && o->replay != CW_REPLAY_APPLICATION);
    if (!o->user && o->levels != 1)
        cw_usage_error(state, "found --levels with --ranges auto, expected --ranges user");
}

/* Checks the existing files for native data, up to the first gap in their numbers. Nothing distinguishes native data
 * from other files. */
static enum cw_status check_native(const struct range_arguments *a, struct cw_error *err)
{
    static const struct cw_file_kind kind = {"known to be counter data of NVIDIA's", true, {NULL}};
    const char *first = a->options.keep_native;
    enum cw_status status = first ? cw_file_may_replace(first, &kind, a->capture.options.force, err) : CW_OK;
    for (unsigned i = 1; first && status == CW_OK; i++) {
        char *path = NULL;
        if (asprintf(&path, "%s.%u", first, i) < 0)
            return cw_error_nomem(err);
        const bool there = access(path, F_OK) == 0;
        status = cw_file_may_replace(path, &kind, a->capture.options.force, err);
        free(path);
        if (!there)
            break;
    }
    return status;
}

static const struct cw_option range_options[] = {
    {"config", 'c', "PLAN.cwc", "a config image from metric-config",
     CW_OPTION_TEXT(struct range_arguments, capture.plan)},
    {"output", 'o', "RUN.cwd",
     "the file for the counter data; %p (process) and %r (rank) make a file for each, %h is the host, %q{NAME} an "
     "environment variable",
     CW_OPTION_TEXT(struct range_arguments, capture.options.output)},
    {"replay", 0, "batch|kernel|application|user|multiplex",
     "the way to collect all passes. batch: repeats launches together. kernel: repeats each launch by itself, which is "
     "slower, assumes nothing about the program, and ends at its first CUDA graph. application: runs the program once "
     "for each pass. user: the program repeats a piece of its work (counterworks/annotate.h). multiplex: repeats "
     "nothing; counts each launch, or user range, in one pass, and passes take turns over the launches of one kernel, "
     "grid and block, or over the ranges of one path. Default: batch for launches, application for user ranges",
     CW_OPTION_CHOICE(struct range_arguments, options.replay)},
    {"ranges", 0, "auto|user",
     "auto (default): one range for each launch; user: the program's own ranges (NVTX, counterworks/annotate.h)",
     CW_OPTION_CHOICE(struct range_arguments, options.user)},
    {"scope", 0, "auto|context|device",
     "the work to count. context: only the work of the launching context. device: all work of the GPU meanwhile, which "
     "is faster, and the same if nothing else uses the GPU. auto (default): device while the agent sees no other "
     "process on the GPU; else, and under application replay, context",
     CW_OPTION_CHOICE(struct range_arguments, scope)},
    {"graphs", 0, "nodes|whole",
     "batch: nodes (default) launches the kernels of a CUDA graph one by one, with a range for each; whole makes one "
     "range of the graph, as other kinds of replay do",
     CW_OPTION_CHOICE(struct range_arguments, graphs)},
    {"levels", 0, "N", "the number of levels of nested user ranges, each in passes of its own (default: 1)",
     CW_OPTION_RARE, CW_OPTION_NUMBER(struct range_arguments, options.levels, 1, 16)},
    {"every", 0, "N",
     "multiplex: count every N-th launch of a kernel, grid and block, or every N-th user range of a path (default: "
     "all)",
     CW_OPTION_NUMBER(struct range_arguments, options.every, 1, UINT32_MAX)},
    {"slowdown", 0, "P%",
     "multiplex: let launches go by uncounted, so that the program takes at most P% longer; the first launches are "
     "counted at once, and made up for afterwards (default: count all)",
     CW_OPTION_READ(struct range_arguments, options.slowdown, read_slowdown)},
    {"kernel", 0, "NAME|REGEX",
     "only launches of kernels with a matching name, mangled or readable; a CUDA graph as one range has the name "
     "'graph (12 kernels)'; may be repeated",
     CW_OPTION_LIST(struct range_arguments, options.filter.kernels, options.filter.kernel_count)},
    {"exclude", 0, "NAME|REGEX", "no launches of kernels with a matching name; may be repeated",
     CW_OPTION_LIST(struct range_arguments, options.filter.excluded, options.filter.excluded_count)},
    {"launch-skip", 0, "N", "leave out the first N launches that match everything else",
     CW_OPTION_NUMBER(struct range_arguments, options.filter.launch_skip, 0, UINT32_MAX)},
    {"launch-count", 0, "N", "collect at most N of the matching launches",
     CW_OPTION_NUMBER(struct range_arguments, options.filter.launch_count, 0, UINT32_MAX)},
    {"range", 0, "NAME|REGEX", "only user ranges with a matching name, or launches within them",
     CW_OPTION_TEXT(struct range_arguments, options.filter.range)},
    {CW_OPTION_GROUP(struct range_arguments, options.when, cw_command_when_options)},
    {"device", 0, "LIST", "only some GPUs, by number: 0,2 (default: all)",
     CW_OPTION_READ(struct range_arguments, options.filter.devices, cw_command_devices)},
    {"process", 0, "NAME|REGEX", "only processes of programs with a matching name",
     CW_OPTION_TEXT(struct range_arguments, options.filter.process)},
    {"follow-children", 0, "yes|no", "also processes that the program starts (default: yes)",
     CW_OPTION_CHOICE(struct range_arguments, options.filter.only_program)},
    {"reserve-device", 0, "MIB",
     "batch and user: the memory of the GPU that stays free when the agent saves the program's memory there (default: "
     "2048, on a small GPU a sixteenth)",
     CW_OPTION_RARE, CW_OPTION_NUMBER(struct range_arguments, options.reserve_mb, 0, 1 << 20)},
    {"save-on-host", 0, "MIB",
     "batch, kernel and user: the host memory for saving if the GPU's is not enough (default: 1024, and a quarter of "
     "the free memory if only what changes is saved); launches that need more are counted once",
     CW_OPTION_RARE, CW_OPTION_NUMBER(struct range_arguments, options.on_host_mb, 0, 1 << 20)},
    {"keep-native", 0, "FILE",
     "also keep NVIDIA's counter data (FILE, FILE.1, ...), in files other than the plan and the output; then no "
     "counter is collected in several passes",
     CW_OPTION_RARE, CW_OPTION_TEXT(struct range_arguments, options.keep_native)},
    {"verbose", 0, NULL, "at the end print the number of batches, the calls that ended them, and where their time went",
     CW_OPTION_FLAG(struct range_arguments, options.verbose)},
    {"sim-kernels", 0, "N", "sim: pretend so many launches of sim_kernel_0, sim_kernel_1... instead of training",
     CW_OPTION_RARE, CW_OPTION_NUMBER(struct range_arguments, options.sim_kernels, 0, 1000000)},
    {"sim-lack", 0, "UNIT", "sim: pretend that the GPUs lack this unit: nvlrx", CW_OPTION_RARE,
     CW_OPTION_TEXT(struct range_arguments, capture.options.sim_lack)},
    {"sim-loop", 0, "N",
     "sim: the number of kernels that take turns; launches of one name are then nearly alike (default: no two are; "
     "with multiplex 3)",
     CW_OPTION_RARE, CW_OPTION_NUMBER(struct range_arguments, options.sim_loop, 1, 1000000)},
    {"sim-drop", 0, "N", "sim: the number of launches to lose (default: 0)", CW_OPTION_RARE,
     CW_OPTION_NUMBER(struct range_arguments, options.sim_drop, 0, 1000000)},
    {CW_OPTION_GROUP(struct range_arguments, capture, cw_command_capture_options)},
    {CW_OPTION_CHECK(check_arguments)},
    {0},
};

int cw_range_command(int argc, char **argv)
{
    static const struct cw_usage usage = {
        range_options, "-- PROGRAM [ARGUMENT...]",
        "Runs an unmodified program and collects the plan's counters for each kernel launch, or for its own ranges. "
        "The program's exit status is passed on.\v"
        "Launches have facts as well, whatever the plan: registers, shared and local memory, clusters.\n\n"
        "Example:\n  $0 -c plan.cwc -o run.cwd -- ./app --size 4096\n"
        "  $0 -c plan.cwc -o run.cwd --kernel gemm -- ./train\n"
        "  $0 -c plan.cwc -o run.cwd --ranges user -- ./train\n"
        "  $0 --backend sim -c plan.cwc -o run.cwd -- true",
        .elsewhere = CW_COMMAND_OF_PLANS};
    struct range_arguments a = {.capture = {.backend = cw_command_default_backend()},
                                .graphs = GRAPHS_NOT_GIVEN,
                                .options = {.replay = not_given,
                                            .sim_kernels = CW_SIM_TRAINING,
                                            .levels = 1,
                                            .reserve_mb = CW_RESERVE_USUAL,
                                            .on_host_mb = CW_ON_HOST_USUAL,
                                            .filter = {.launch_count = UINT64_MAX}}};
    struct cw_error err = CW_ERROR_INIT;
    int exit_status = 0;
    cw_usage_read(&usage, argc, argv, &a);
    enum cw_status status = check_native(&a, &err);
    if (status == CW_OK)
        status = cw_command_begin(&a.capture, CW_PROFILER_RANGE, &err);
    a.options.capture = a.capture.options;
    if (status == CW_OK)
        status = cw_command_backend(&a.capture)->range(&a.options, &exit_status, &err);
    return cw_command_end(&a.capture, status, exit_status, &err);
}
