/* capture-agent pc and sass: captures of single instructions. */
#define _GNU_SOURCE
#include <string.h>

#include "agent/command/command.h"

enum { MOST_NAMES = 256 }; /* of stall reasons or metrics */

struct pc_arguments {
    struct cw_command_capture capture;
    bool list;
    struct cw_pc_options options;
    const char *reasons[MOST_NAMES];
    struct cw_sass_metric metrics[MOST_NAMES];
};

static void split_reasons(void *arguments, char *text, struct argp_state *state)
{
    struct pc_arguments *a = arguments;
    for (char *rest = NULL, *one = strtok_r(text, ",", &rest); one; one = strtok_r(NULL, ",", &rest)) {
        if (a->options.reason_count == MOST_NAMES)
            cw_usage_error(state, "found more than %d stall reasons", MOST_NAMES);
        a->reasons[a->options.reason_count++] = one;
    }
    a->options.reasons = a->reasons;
}

static enum cw_sass_level level_of(const char *text, struct argp_state *state)
{
    for (int i = 0; i < CW_SASS_LEVEL__COUNT; i++)
        if (strcmp(text, cw_sass_level_names[i]) == 0)
            return (enum cw_sass_level)i;
    cw_usage_error(state, "found the level '%s', expected gpu, sm or smsp", text);
    return CW_SASS_GPU;
}

static void split_metrics(void *arguments, char *text, struct argp_state *state)
{
    struct pc_arguments *a = arguments;
    for (char *rest = NULL, *one = strtok_r(text, ",", &rest); one; one = strtok_r(NULL, ",", &rest)) {
        if (a->options.metric_count == MOST_NAMES)
            cw_usage_error(state, "found more than %d metrics", MOST_NAMES);
        char *colon = strchr(one, ':');
        if (colon)
            *colon = 0;
        for (uint32_t i = 0; i < a->options.metric_count; i++)
            if (strcmp(a->metrics[i].name, one) == 0) /* CUPTI counts a metric at one level */
                cw_usage_error(state, "found the metric '%s' twice, expected each metric once", one);
        a->metrics[a->options.metric_count++] =
            (struct cw_sass_metric){one, colon ? level_of(colon + 1, state) : CW_SASS_GPU};
    }
    a->options.metrics = a->metrics;
}

static void check_arguments(void *arguments, struct argp_state *state)
{
    const struct pc_arguments *a = arguments;
    bool sass = a->options.sass;
    if (a->list)
        return;
    if (!a->capture.options.output || (sass && !a->options.metric_count))
        cw_usage_error(state, "%s", sass ? "-m METRIC and -o RUN.cwd are required" : "-o RUN.cwd is required");
    if (!a->capture.options.argv)
        cw_usage_error(state, "no program: give one after --");
    cw_command_check_when(&a->capture, &a->options.when, state);
    if (!sass && cw_filter_counts(&a->options.filter) && a->options.mode != CW_PC_SERIALIZED)
        cw_usage_error(state,
                       "found --launch-%s with --mode continuous, expected serialized: only then does a sample "
                       "know its launch",
                       a->options.filter.launch_skip ? "skip" : "count");
}

static const struct cw_option common_options[] = {
    {"device", 0, "LIST", "only some GPUs, by number: 0,2 (default: all)",
     CW_OPTION_READ(struct pc_arguments, options.filter.devices, cw_command_devices)},
    {"kernel", 0, "NAME|REGEX", "only kernels with a matching name, mangled or readable; may be repeated",
     CW_OPTION_LIST(struct pc_arguments, options.filter.kernels, options.filter.kernel_count)},
    {"exclude", 0, "NAME|REGEX", "no kernels with a matching name; may be repeated",
     CW_OPTION_LIST(struct pc_arguments, options.filter.excluded, options.filter.excluded_count)},
    {"range", 0, "NAME|REGEX",
     "only while a user range (NVTX, counterworks/annotate.h) with a matching name is open (default: all the time)",
     CW_OPTION_TEXT(struct pc_arguments, options.filter.range)},
    {"launch-skip", 0, "N",
     "leave out the first N launches that match everything else; of PC samples, if they are serialized",
     CW_OPTION_NUMBER(struct pc_arguments, options.filter.launch_skip, 0, UINT32_MAX)},
    {"launch-count", 0, "N", "at most N of the matching launches; of PC samples, if they are serialized",
     CW_OPTION_NUMBER(struct pc_arguments, options.filter.launch_count, 0, UINT32_MAX)},
    {CW_OPTION_GROUP(struct pc_arguments, options.when, cw_command_when_options)},
    {"code", 0, "all|none",
     "all (default): keep the code that runs, so that the file alone gives source lines; none: leave it out",
     CW_OPTION_CHOICE(struct pc_arguments, options.no_code)},
    {CW_OPTION_GROUP(struct pc_arguments, capture, cw_command_file_options)},
    {0},
};

static const struct cw_option pc_options[] = {
    {"mode", 0, "continuous|serialized",
     "continuous (default): kernels run as without the agent; serialized: one after another, so that each sample has "
     "its launch",
     CW_OPTION_CHOICE(struct pc_arguments, options.mode)},
    {"period", 0, "5..31", "a sample each 2^N cycles of every SM (default: CUPTI's choice)",
     CW_OPTION_NUMBER(struct pc_arguments, options.period, 5, 31)},
    {"stall-reasons", 0, "A,B",
     "only these stall reasons, such as long_scoreboard, or the older MEMORY_DEPENDENCY (default: all)",
     CW_OPTION_TAKE(split_reasons)},
    {"list", 0, NULL, "print the stall reasons of this node's GPU", CW_OPTION_FLAG(struct pc_arguments, list)},
    {"flush", 0, "SECONDS", "write samples at least this often (default: 1)", CW_OPTION_RARE,
     CW_OPTION_UNITS(struct pc_arguments, options.flush_ns, 0, 1000000, 1000000000)},
    {"buffer", 0, "MIB", "size of the hardware's buffer on the GPU (default: CUPTI's choice)", CW_OPTION_RARE,
     CW_OPTION_UNITS(struct pc_arguments, options.buffer_bytes, 0, 1 << 20, 1 << 20)},
    {"sim-drop", 0, "PERCENT", "sim: the share of samples to lose (default: 0)", CW_OPTION_RARE,
     CW_OPTION_NUMBER(struct pc_arguments, options.sim_drop, 0, 100)},
    {CW_OPTION_ROWS(common_options)},
    {CW_OPTION_CHECK(check_arguments)},
    {0},
};

static const struct cw_option sass_options[] = {
    {"metrics", 'm', "A[:LEVEL],B,...",
     "SASS metrics; LEVEL is gpu (default), sm or smsp: one value for each instruction, or one for each of its SMs or "
     "sub-partitions",
     CW_OPTION_TAKE(split_metrics)},
    {"list", 0, NULL, "print the SASS metrics of this node's GPU", CW_OPTION_FLAG(struct pc_arguments, list)},
    {"flush", 0, "SECONDS",
     "write counts this often, for a program that is killed; less often if that takes long (default: 5)",
     CW_OPTION_RARE, CW_OPTION_UNITS(struct pc_arguments, options.flush_ns, 0, 1000000, 1000000000)},
    {CW_OPTION_ROWS(common_options)},
    {CW_OPTION_CHECK(check_arguments)},
    {0},
};

static enum cw_status list(const struct cw_backend *backend, bool sass, struct cw_error *err)
{
    const struct cw_node_needs needs = {.need = sass ? CW_NEED_SASS : CW_NEED_PC, .list = true};
    enum cw_status status = backend->check(&needs, err);
    return status == CW_OK ? cw_file_flush(err) : status;
}

static int run(const struct cw_usage *usage, int argc, char **argv, bool sass)
{
    static struct pc_arguments a;
    struct cw_error err = CW_ERROR_INIT;
    int exit_status = 0;
    a = (struct pc_arguments){.capture = {.backend = cw_command_default_backend()},
                              .options = {.sass = sass,
                                          .flush_ns = UINT64_C(1000000000) * (sass ? 5 : 1),
                                          .filter = {.launch_count = UINT64_MAX}}};
    cw_usage_read(usage, argc, argv, &a);
    if (a.list) /* --list uses neither */
        a.capture.options.output = NULL, a.capture.options.argv = NULL;
    enum cw_status status = cw_command_begin(&a.capture, sass ? CW_PROFILER_SASS : CW_PROFILER_PC, &err);
    const struct cw_backend *backend = cw_command_backend(&a.capture);
    a.options.capture = a.capture.options;
    if (status == CW_OK)
        status = a.list ? list(backend, sass, &err) : backend->pc(&a.options, &exit_status, &err);
    return cw_command_end(&a.capture, status, exit_status, &err);
}

int cw_pc_command(int argc, char **argv)
{
    static const struct cw_usage usage = {
        pc_options, "-- PROGRAM [ARGUMENT...]\n--list",
        "Runs an unmodified program and samples the program counters of its kernels, with the reason why each warp "
        "waits. The file keeps the code of sampled kernels. The program's exit status is passed on.\vExample:\n  $0 -o "
        "run.cwd -- ./app\n  $0 -o run.cwd --period 10 --stall-reasons barrier -- ./app\n  $0 -o "
        "run.cwd --range '^step' --exclude nccl -- ./train\n  $0 -o run.cwd --backend sim -- true"};
    return run(&usage, argc, argv, false);
}

int cw_sass_command(int argc, char **argv)
{
    static const struct cw_usage usage = {
        sass_options, "-- PROGRAM [ARGUMENT...]\n--list",
        "Runs an unmodified program and counts for each instruction of its kernels. CUPTI patches the kernels for "
        "that. The code is kept in the file. The program's exit status is passed on.\v"
        "Example:\n  $0 --list\n"
        "  $0 -m smsp__sass_inst_executed -o run.cwd -- ./app"};
    return run(&usage, argc, argv, true);
}
