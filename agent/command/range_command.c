#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/command/command.h"
#include "agent/session/program.h"
#include "base/usage.h"

enum {
    KEY_BACKEND = 256,
    KEY_KEEP,
    KEY_SEED,
    KEY_KERNELS,
    KEY_DROP,
    KEY_REPLAY,
    KEY_RANGES,
    KEY_LEVELS,
    KEY_KERNEL,
    KEY_SKIP,
    KEY_COUNT,
    KEY_RANGE,
    KEY_DEVICE,
    KEY_PROCESS,
    KEY_CHILDREN,
    KEY_SCOPE
};

struct range_arguments {
    const char *plan;
    const struct cw_backend *backend;
    bool replay_given;
    struct cw_range_options options;
};

static const struct argp_option range_options[] = {
    {"config", 'c', "PLAN.cwc", 0, "the config image that metric-config wrote", 0},
    {"output", 'o', "RUN.cwd", 0,
     "where to write the counter data; %p (process) and %r (rank) make a file for each, %h is the host, %q{NAME} an "
     "environment variable",
     0},
    {"replay", KEY_REPLAY, "batch|kernel|application|user", 0,
     "how all passes come about. batch: launches are repeated together. kernel: each launch is repeated by itself, "
     "which is slower, assumes nothing of the program, and ends at its first CUDA graph. application: the program runs "
     "once for each pass. user: the program repeats a piece of its work (counterworks/annotate.h). Default: batch for "
     "launches, application for user ranges",
     0},
    {"ranges", KEY_RANGES, "auto|user", 0,
     "auto (default): one range for each launch; user: the program's own ranges (NVTX, counterworks/annotate.h)", 0},
    {"scope", KEY_SCOPE, "auto|context|device", 0,
     "whose work counts. context: that of the context that launched it. device: all that the GPU does meanwhile, which "
     "is faster, and the same where nothing else uses the GPU. auto (default): device while no other process is seen "
     "on the GPU; else, and under application replay, context",
     0},
    {"levels", KEY_LEVELS, "N", 0, "how many levels of nested user ranges, each in passes of its own (default: 1)", 0},
    {"kernel", KEY_KERNEL, "REGEX", 0,
     "only launches of kernels whose name matches, mangled or readable; a CUDA graph's is 'graph (12 kernels)'", 0},
    {"launch-skip", KEY_SKIP, "N", 0, "leave out the first N that match everything else", 0},
    {"launch-count", KEY_COUNT, "N", 0, "collect at most N of those that match", 0},
    {"range", KEY_RANGE, "REGEX", 0, "only user ranges whose name matches, or launches within them", 0},
    {"device", KEY_DEVICE, "LIST", 0, "only these GPUs, by number: 0,2 (default: all)", 0},
    {"process", KEY_PROCESS, "REGEX", 0, "only processes whose program's name matches", 0},
    {"follow-children", KEY_CHILDREN, "yes|no", 0, "also processes that the program starts (default: yes)", 0},
    {"keep-native", KEY_KEEP, "FILE", 0,
     "also keep NVIDIA's counter data (FILE, FILE.1, ...); then no counter is collected in several passes", 0},
    {"backend", KEY_BACKEND, "cupti|sim", 0,
     "the real GPU, or a simulated one (default: COUNTERWORKS_BACKEND, else cupti)", 0},
    {"sim-seed", KEY_SEED, "N", 0, "sim: the seed that all numbers follow from (default: 0)", 0},
    {"sim-kernels", KEY_KERNELS, "N", 0, "sim: how many launches to pretend (default: 3)", 0},
    {"sim-drop", KEY_DROP, "N", 0, "sim: how many launches to lose (default: 0)", 0},
    {0},
};

/* The place of `text` in a list of words; ends the program with a usage error for another. */
static uint32_t word(struct argp_state *state, const char *option, const char *text, const char *const *words,
                     uint32_t count)
{
    char all[128] = "";
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(text, words[i]) == 0)
            return i;
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", i ? i + 1 == count ? " or " : ", " : "", words[i]);
    }
    cw_usage_error(state, "found --%s '%s', expected %s", option, text, all);
    return 0;
}

static error_t parse_filter(int key, char *arg, struct argp_state *state, struct cw_filter_options *f)
{
    static const char *const no_yes[] = {"no", "yes"};
    switch (key) {
    case KEY_KERNEL:
        f->kernel = arg;
        return 0;
    case KEY_SKIP:
        f->launch_skip = cw_command_number(state, arg, UINT32_MAX);
        return 0;
    case KEY_COUNT:
        f->launch_count = cw_command_number(state, arg, UINT32_MAX);
        return 0;
    case KEY_RANGE:
        f->range = arg;
        return 0;
    case KEY_DEVICE:
        f->devices = cw_command_devices(state, arg);
        return 0;
    case KEY_PROCESS:
        f->process = arg;
        return 0;
    case KEY_CHILDREN:
        f->only_program = word(state, "follow-children", arg, no_yes, 2) == 0;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void check_ranges(struct range_arguments *a, struct argp_state *state)
{
    struct cw_range_options *o = &a->options;
    if (!a->replay_given)
        o->replay = o->user ? CW_REPLAY_APPLICATION : CW_REPLAY_BATCH;
    if (o->user && o->replay != CW_REPLAY_APPLICATION && o->replay != CW_REPLAY_USER)
        cw_usage_error(state, "found --ranges user with --replay %s, expected application or user",
                       cw_replay_names[o->replay]);
    if (o->keep_native && !a->backend->keeps_native)
        cw_usage_error(state, "found --keep-native with the simulated GPU, expected a real one's data to keep");
    if (o->keep_native && (cw_file_is_same(o->keep_native, o->output) || cw_file_is_same(o->keep_native, a->plan)))
        cw_usage_error(state, "found --keep-native %s, expected another file than the plan and the output",
                       o->keep_native);
    if (o->user && o->filter.kernel)
        cw_usage_error(state, "found --kernel with --ranges user, expected --range for their names");
    if (o->for_context && o->replay == CW_REPLAY_APPLICATION) /* its runs would have to agree */
        o->for_device = false;
    if (!o->user && o->levels != 1)
        cw_usage_error(state, "found --levels with --ranges auto, expected --ranges user");
}

static error_t parse_range(int key, char *arg, struct argp_state *state)
{
    static const char *const kinds[] = {"auto", "user"}, *const scopes[] = {"auto", "context", "device"};
    struct range_arguments *a = state->input;
    uint32_t scope;
    switch (key) {
    case 'c':
        a->plan = arg;
        return 0;
    case 'o':
        a->options.output = arg;
        return 0;
    case KEY_KEEP:
        a->options.keep_native = arg;
        return 0;
    case KEY_BACKEND:
        a->backend = cw_command_backend(state, arg);
        return 0;
    case KEY_REPLAY:
        a->options.replay = (enum cw_replay_kind)word(state, "replay", arg, cw_replay_names, CW_REPLAY_ONCE);
        a->replay_given = true;
        return 0;
    case KEY_RANGES:
        a->options.user = word(state, "ranges", arg, kinds, 2) == 1;
        return 0;
    case KEY_SCOPE:
        scope = word(state, "scope", arg, scopes, 3);
        a->options.for_context = scope != 2;
        a->options.for_device = scope != 1;
        return 0;
    case KEY_LEVELS:
        a->options.levels = (uint32_t)cw_command_number(state, arg, 16);
        if (!a->options.levels)
            cw_usage_error(state, "found --levels 0, expected at least 1");
        return 0;
    case KEY_SEED:
        a->options.sim_seed = cw_command_number(state, arg, UINT32_MAX);
        return 0;
    case KEY_KERNELS:
        a->options.sim_kernels = (uint32_t)cw_command_number(state, arg, 1000000);
        return 0;
    case KEY_DROP:
        a->options.sim_drop = (uint32_t)cw_command_number(state, arg, 1000000);
        return 0;
    case ARGP_KEY_ARGS:
        a->options.argv = state->argv + state->next;
        return 0;
    case ARGP_KEY_END:
        if (!a->plan || !a->options.output)
            cw_usage_error(state, "-c PLAN.cwc and -o RUN.cwd are required");
        if (!a->options.argv)
            cw_usage_error(state, "no program: give one after --");
        check_ranges(a, state);
        return 0;
    default:
        return parse_filter(key, arg, state, &a->options.filter);
    }
}

int cw_range_command(int argc, char **argv)
{
    static const struct argp argp = {
        range_options,
        parse_range,
        "-- PROGRAM [ARGUMENT...]",
        "Runs an unmodified program and collects the plan's counters for each kernel launch, or for its own ranges. "
        "The program's exit status is passed on.\v"
        "Example:\n  capture-agent range -c plan.cwc -o run.cwd -- ./app --size 4096\n"
        "  capture-agent range -c plan.cwc -o run.cwd --kernel gemm -- python train.py\n"
        "  capture-agent range -c plan.cwc -o run.cwd --ranges user -- python train.py\n"
        "  capture-agent range --backend sim -c plan.cwc -o run.cwd -- true",
        NULL,
        NULL,
        NULL};
    struct range_arguments a = {.backend = cw_command_default_backend(),
                                .options = {.for_context = true,
                                            .for_device = true,
                                            .sim_kernels = 3,
                                            .levels = 1,
                                            .filter = {.launch_count = UINT64_MAX}}};
    cw_usage_parse(&argp, argc, argv, ARGP_IN_ORDER, &a);
    struct cw_error err = CW_ERROR_INIT;
    struct cw_plan_file plan;
    int exit_status = 0;
    enum cw_status status = cw_plan_file_open(&plan, a.plan, CW_PROFILER_RANGE, &err);
    a.options.plan = &plan.image;
    if (status == CW_OK)
        status = cw_program_find(a.options.argv[0], &err);
    if (status == CW_OK)
        status = a.backend->range(&a.options, &exit_status, &err);
    cw_plan_file_close(&plan);
    return status == CW_OK ? exit_status : cw_command_fail(&err);
}
