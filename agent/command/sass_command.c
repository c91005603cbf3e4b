#define _GNU_SOURCE
#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "agent/command/command.h"
#include "agent/session/program.h"
#include "base/usage.h"

enum { KEY_BACKEND = 256, KEY_LIST, KEY_DEVICE, KEY_CODE, KEY_SEED };
enum { MOST_METRICS = 256 };

struct sass_arguments {
    const struct cw_backend *backend;
    bool list;
    struct cw_sass_metric metrics[MOST_METRICS];
    struct cw_pc_options options;
};

static const struct argp_option sass_options[] = {
    {"metrics", 'm', "A[:LEVEL],B,...", 0,
     "SASS metrics; LEVEL is gpu (default), sm or smsp: one value for each instruction, or one for each of its SMs or "
     "sub-partitions",
     0},
    {"output", 'o', "RUN.cwd", 0,
     "where to write the counter data; %r is the rank, %h the host, %q{NAME} an environment variable", 0},
    {"device", KEY_DEVICE, "LIST", 0, "only these GPUs, by number: 0,2 (default: all)", 0},
    {"list", KEY_LIST, 0, 0, "print the SASS metrics that this node's GPU offers", 0},
    {"code", KEY_CODE, "all|none", 0,
     "all (default): keep the code that runs, so that the file alone gives source lines; none: leave it out", 0},
    {"backend", KEY_BACKEND, "cupti|sim", 0,
     "the real GPU, or a simulated one (default: COUNTERWORKS_BACKEND, else cupti)", 0},
    {"sim-seed", KEY_SEED, "N", 0, "sim: the seed that all numbers follow from (default: 0)", 0},
    {0},
};

static enum cw_sass_level level_of(const char *text, struct argp_state *state)
{
    for (int i = 0; i < CW_SASS_LEVEL__COUNT; i++)
        if (strcmp(text, cw_sass_level_names[i]) == 0)
            return (enum cw_sass_level)i;
    cw_usage_error(state, "found the level '%s', expected gpu, sm or smsp", text);
    return CW_SASS_GPU;
}

static void split_metrics(struct sass_arguments *a, char *text, struct argp_state *state)
{
    for (char *rest = NULL, *one = strtok_r(text, ",", &rest); one; one = strtok_r(NULL, ",", &rest)) {
        if (a->options.metric_count == MOST_METRICS)
            cw_usage_error(state, "found more than %d metrics", MOST_METRICS);
        char *colon = strchr(one, ':');
        if (colon)
            *colon = 0;
        a->metrics[a->options.metric_count++] =
            (struct cw_sass_metric){one, colon ? level_of(colon + 1, state) : CW_SASS_GPU};
    }
    a->options.metrics = a->metrics;
}

static void check_arguments(const struct sass_arguments *a, struct argp_state *state)
{
    if (a->list)
        return;
    if (!a->options.metric_count || !a->options.output)
        cw_usage_error(state, "-m METRIC and -o RUN.cwd are required");
    if (!a->options.argv)
        cw_usage_error(state, "no program: give one after --");
}

static error_t parse_sass(int key, char *arg, struct argp_state *state)
{
    struct sass_arguments *a = state->input;
    switch (key) {
    case 'm':
        split_metrics(a, arg, state);
        return 0;
    case 'o':
        a->options.output = arg;
        return 0;
    case KEY_DEVICE:
        a->options.devices = cw_command_devices(state, arg);
        return 0;
    case KEY_LIST:
        a->list = true;
        return 0;
    case KEY_CODE:
        a->options.no_code = cw_command_no_code(state, arg);
        return 0;
    case KEY_BACKEND:
        a->backend = cw_command_backend(state, arg);
        return 0;
    case KEY_SEED:
        a->options.sim_seed = cw_command_number(state, arg, UINT32_MAX);
        return 0;
    case ARGP_KEY_ARGS:
        a->options.argv = state->argv + state->next;
        return 0;
    case ARGP_KEY_END:
        check_arguments(a, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int cw_sass_command(int argc, char **argv)
{
    static const struct argp argp = {
        sass_options,
        parse_sass,
        "-- PROGRAM [ARGUMENT...]\n--list",
        "Runs an unmodified program and counts for each instruction of its kernels. CUPTI patches the kernels for "
        "that. Counts are fetched when a context or the program ends, so a program that is killed leaves none. The "
        "code is kept in the file. The program's exit status is passed on.\v"
        "Example:\n  capture-agent sass --list\n"
        "  capture-agent sass -m smsp__sass_inst_executed,smsp__sass_thread_inst_executed -o run.cwd -- ./app",
        NULL,
        NULL,
        NULL};
    static struct sass_arguments a;
    a = (struct sass_arguments){.backend = cw_command_default_backend(), .options = {.sass = true}};
    cw_usage_parse(&argp, argc, argv, ARGP_IN_ORDER, &a);
    struct cw_error err = CW_ERROR_INIT;
    int exit_status = 0;
    char *output = NULL;
    enum cw_status status = a.list ? CW_OK : cw_command_output(&output, a.options.output, &err);
    a.options.output = output;
    if (status == CW_OK && !a.list)
        status = cw_program_find(a.options.argv[0], &err);
    if (a.list)
        status =
            cw_command_real_backend()->check(&(struct cw_node_needs){.need = CW_NEED_SASS, .list_metrics = true}, &err);
    if (status == CW_OK && a.list)
        status = cw_file_flush(&err);
    if (status == CW_OK && !a.list)
        status = a.backend->pc(&a.options, &exit_status, &err);
    free(output);
    return status == CW_OK ? exit_status : cw_command_fail(&err);
}
