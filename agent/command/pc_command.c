#define _GNU_SOURCE
#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "agent/command/command.h"
#include "agent/common/filter.h"
#include "agent/session/program.h"
#include "base/usage.h"

enum {
    KEY_BACKEND = 256,
    KEY_LIST,
    KEY_MODE,
    KEY_PERIOD,
    KEY_REASONS,
    KEY_RANGE,
    KEY_DEVICE,
    KEY_FLUSH,
    KEY_CODE,
    KEY_BUFFER,
    KEY_SEED,
    KEY_DROP
};
enum { MOST_REASONS = 256 };

struct pc_arguments {
    const struct cw_backend *backend;
    bool list;
    const char *reasons[MOST_REASONS];
    struct cw_pc_options options;
};

static const struct argp_option pc_options[] = {
    {"output", 'o', "RUN.cwd", 0,
     "where to write the counter data; %r is the rank, %h the host, %q{NAME} an environment variable", 0},
    {"mode", KEY_MODE, "continuous|serialized", 0,
     "continuous (default): kernels run as they do without the agent; serialized: one after another, so that a sample "
     "knows its launch",
     0},
    {"period", KEY_PERIOD, "5..31", 0, "a sample each 2^N cycles of every SM (default: as CUPTI chooses)", 0},
    {"stall-reasons", KEY_REASONS, "A,B", 0, "only these stall reasons, such as long_scoreboard (default: all)", 0},
    {"range", KEY_RANGE, "REGEX", 0,
     "sample only while a user range (NVTX, counterworks/annotate.h) is open whose name matches (default: all the "
     "time)",
     0},
    {"device", KEY_DEVICE, "LIST", 0, "only these GPUs, by number: 0,2 (default: all)", 0},
    {"list", KEY_LIST, 0, 0, "print the stall reasons that this node's GPU knows", 0},
    {"flush", KEY_FLUSH, "SECONDS", 0, "write what was sampled at least this often (default: 1)", 0},
    {"buffer", KEY_BUFFER, "MIB", 0, "size of the hardware's buffer on the GPU (default: as CUPTI chooses)", 0},
    {"code", KEY_CODE, "all|none", 0,
     "all (default): keep the code that runs, so that the file alone gives source lines; none: leave it out", 0},
    {"backend", KEY_BACKEND, "cupti|sim", 0,
     "the real GPU, or a simulated one (default: COUNTERWORKS_BACKEND, else cupti)", 0},
    {"sim-seed", KEY_SEED, "N", 0, "sim: the seed that all numbers follow from (default: 0)", 0},
    {"sim-drop", KEY_DROP, "PERCENT", 0, "sim: how many of the samples to lose (default: 0)", 0},
    {0},
};

static void split_reasons(struct pc_arguments *a, char *text, struct argp_state *state)
{
    for (char *rest = NULL, *one = strtok_r(text, ",", &rest); one; one = strtok_r(NULL, ",", &rest)) {
        if (a->options.reason_count == MOST_REASONS)
            cw_usage_error(state, "found more than %d stall reasons", MOST_REASONS);
        a->reasons[a->options.reason_count++] = one;
    }
    a->options.reasons = a->reasons;
}

static enum cw_pc_mode mode_of(const char *text, struct argp_state *state)
{
    bool serialized = strcmp(text, "serialized") == 0;
    if (!serialized && strcmp(text, "continuous") != 0)
        cw_usage_error(state, "found the mode '%s', expected continuous or serialized", text);
    return serialized ? CW_PC_SERIALIZED : CW_PC_CONTINUOUS;
}

static void check_arguments(const struct pc_arguments *a, struct argp_state *state)
{
    if (a->list)
        return;
    if (!a->options.output)
        cw_usage_error(state, "-o RUN.cwd is required");
    if (!a->options.argv)
        cw_usage_error(state, "no program: give one after --");
}

static error_t parse_pc(int key, char *arg, struct argp_state *state)
{
    struct pc_arguments *a = state->input;
    struct cw_pc_options *o = &a->options;
    switch (key) {
    case 'o':
        o->output = arg;
        return 0;
    case KEY_MODE:
        o->mode = mode_of(arg, state);
        return 0;
    case KEY_PERIOD:
        o->period = (uint8_t)cw_command_number(state, arg, 31);
        if (o->period < 5)
            cw_usage_error(state, "found the period %s, expected 5 to 31", arg);
        return 0;
    case KEY_REASONS:
        split_reasons(a, arg, state);
        return 0;
    case KEY_RANGE:
        o->range = arg;
        return 0;
    case KEY_DEVICE:
        o->devices = cw_command_devices(state, arg);
        return 0;
    case KEY_LIST:
        a->list = true;
        return 0;
    case KEY_FLUSH:
        o->flush_ns = UINT64_C(1000000000) * cw_command_number(state, arg, 1000000);
        return 0;
    case KEY_BUFFER:
        o->buffer_bytes = (uint64_t)cw_command_number(state, arg, 1 << 20) << 20;
        return 0;
    case KEY_CODE:
        a->options.no_code = cw_command_no_code(state, arg);
        return 0;
    case KEY_BACKEND:
        a->backend = cw_command_backend(state, arg);
        return 0;
    case KEY_SEED:
        o->sim_seed = cw_command_number(state, arg, UINT32_MAX);
        return 0;
    case KEY_DROP:
        o->sim_drop = (uint32_t)cw_command_number(state, arg, 100);
        return 0;
    case ARGP_KEY_ARGS:
        o->argv = state->argv + state->next;
        return 0;
    case ARGP_KEY_END:
        check_arguments(a, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static enum cw_status check_range(const char *range, struct cw_error *err)
{
    struct cw_filter filter;
    enum cw_status status = cw_filter_open(&filter, &(struct cw_filter_options){.range = range}, err);
    cw_filter_close(&filter);
    return status;
}

int cw_pc_command(int argc, char **argv)
{
    static const struct argp argp = {
        pc_options,
        parse_pc,
        "-- PROGRAM [ARGUMENT...]\n--list",
        "Runs an unmodified program and samples the program counters of its kernels, with what each warp waits for. "
        "The code that samples point into is kept in the file. The program's exit status is passed on.\v"
        "Example:\n  capture-agent pc -o run.cwd -- ./app\n"
        "  capture-agent pc -o run.cwd --period 10 --stall-reasons long_scoreboard,barrier -- ./app\n"
        "  capture-agent pc -o run.cwd --range '^step' -- python train.py\n"
        "  capture-agent pc -o run.cwd --backend sim -- true",
        NULL,
        NULL,
        NULL};
    struct pc_arguments a = {.backend = cw_command_default_backend(), .options = {.flush_ns = UINT64_C(1000000000)}};
    cw_usage_parse(&argp, argc, argv, ARGP_IN_ORDER, &a);
    struct cw_error err = CW_ERROR_INIT;
    int exit_status = 0;
    char *output = NULL;
    enum cw_status status = a.list ? CW_OK : cw_command_output(&output, a.options.output, &err);
    a.options.output = output;
    if (status == CW_OK && !a.list)
        status = cw_program_find(a.options.argv[0], &err);
    if (status == CW_OK)
        status = check_range(a.options.range, &err);
    if (status == CW_OK && a.list)
        status =
            cw_command_real_backend()->check(&(struct cw_node_needs){.need = CW_NEED_PC, .list_reasons = true}, &err);
    if (status == CW_OK && a.list)
        status = cw_file_flush(&err);
    if (status == CW_OK && !a.list)
        status = a.backend->pc(&a.options, &exit_status, &err);
    free(output);
    return status == CW_OK ? exit_status : cw_command_fail(&err);
}
