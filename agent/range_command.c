#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "agent/backend.h"
#include "agent/command.h"

enum { KEY_BACKEND = 256, KEY_KEEP, KEY_SEED, KEY_KERNELS, KEY_DROP, KEY_REPLAY };

struct range_arguments {
    const char *plan;
    bool sim;
    struct cw_range_options options;
};

static const struct argp_option range_options[] = {
    {"config", 'c', "PLAN.cwc", 0, "the config image that metric-config wrote", 0},
    {"output", 'o', "RUN.cwd", 0, "where to write the counter data", 0},
    {"keep-native", KEY_KEEP, "FILE", 0, "also keep NVIDIA's counter data (FILE, FILE.1, ...)", 0},
    {"replay", KEY_REPLAY, "batch|kernel", 0,
     "replay launches together (default), or each for itself: slower, but nothing is assumed of the program", 0},
    {"backend", KEY_BACKEND, "cupti|sim", 0,
     "the real GPU, or a simulated one (default: COUNTERWORKS_BACKEND, else cupti)", 0},
    {"sim-seed", KEY_SEED, "N", 0, "sim: the seed that all numbers follow from (default: 0)", 0},
    {"sim-kernels", KEY_KERNELS, "N", 0, "sim: how many launches to pretend (default: 3)", 0},
    {"sim-drop", KEY_DROP, "N", 0, "sim: how many of them to lose (default: 0)", 0},
    {0},
};

static error_t parse_range(int key, char *arg, struct argp_state *state)
{
    struct range_arguments *a = state->input;
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
        a->sim = cw_command_backend(state, arg);
        return 0;
    case KEY_REPLAY:
        if (strcmp(arg, "batch") != 0 && strcmp(arg, "kernel") != 0)
            argp_error(state, "found the replay '%s', expected batch or kernel", arg);
        a->options.replay = *arg == 'b' ? CW_REPLAY_BATCH : CW_REPLAY_KERNEL;
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
            argp_error(state, "-c PLAN.cwc and -o RUN.cwd are required");
        if (!a->options.argv)
            argp_error(state, "no program: give one after --");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int cw_range_command(int argc, char **argv)
{
    static const struct argp argp = {
        range_options,
        parse_range,
        "-- PROGRAM [ARGUMENT...]",
        "Runs an unmodified program and collects the plan's counters for each kernel launch, replaying the launch once "
        "for each pass. The program's exit status is passed on.\v"
        "Example:\n  capture-agent range -c plan.cwc -o run.cwd -- ./app --size 4096\n"
        "  capture-agent range --backend sim -c plan.cwc -o run.cwd -- true",
        NULL,
        NULL,
        NULL};
    struct range_arguments a = {.sim = cw_command_sim_by_default(), .options = {.sim_kernels = 3}};
    argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &a);
    struct cw_error err = CW_ERROR_INIT;
    struct cw_plan_file plan;
    int exit_status = 0;
    enum cw_status status = cw_plan_file_open(&plan, a.plan, CW_PROFILER_RANGE, &err);
    a.options.plan = &plan.image;
    if (status == CW_OK)
        status =
            a.sim ? cw_sim_capture(&a.options, &exit_status, &err) : cw_cupti_capture(&a.options, &exit_status, &err);
    cw_plan_file_close(&plan);
    return status == CW_OK ? exit_status : cw_command_fail(&err);
}
