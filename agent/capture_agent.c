/* capture-agent: collects counter data on a GPU node. */
#define _GNU_SOURCE
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/backend.h"
#include "agent/decode.h"
#include "host/base/file.h"

enum { LARGEST_PLAN = 256 << 20 };
enum { KEY_BACKEND = 256, KEY_KEEP, KEY_SEED, KEY_KERNELS, KEY_DROP, KEY_NATIVE, KEY_CHIP };

static int fail(const struct cw_error *err)
{
    char text[1200];
    fprintf(stderr, "capture-agent: %s\n", cw_error_format(err, text, sizeof text));
    return err->code;
}

/* ---- range ------------------------------------------------------------------------------------------------------ */

struct range_arguments {
    const char *plan;
    bool sim;
    struct cw_range_options options;
};

static const struct argp_option range_options[] = {
    {"config", 'c', "PLAN.cwc", 0, "the config image that metric-config wrote", 0},
    {"output", 'o', "RUN.cwd", 0, "where to write the counter data", 0},
    {"keep-native", KEY_KEEP, "FILE", 0, "also keep NVIDIA's counter data (FILE, FILE.1, ...)", 0},
    {"backend", KEY_BACKEND, "cupti|sim", 0, "the real GPU, or a simulated one (default: COUNTERWORKS_BACKEND, else cupti)", 0},
    {"sim-seed", KEY_SEED, "N", 0, "sim: the seed that all numbers follow from (default: 0)", 0},
    {"sim-kernels", KEY_KERNELS, "N", 0, "sim: how many launches to pretend (default: 3)", 0},
    {"sim-drop", KEY_DROP, "N", 0, "sim: how many of them to lose (default: 0)", 0},
    {0},
};

static unsigned long number(struct argp_state *state, const char *text, unsigned long most)
{
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || errno || value > most)
        argp_error(state, "found '%s', expected a whole number up to %lu", text, most);
    return value;
}

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
        a->sim = strcmp(arg, "sim") == 0;
        if (!a->sim && strcmp(arg, "cupti") != 0)
            argp_error(state, "found the backend '%s', expected cupti or sim", arg);
        return 0;
    case KEY_SEED:
        a->options.sim_seed = number(state, arg, UINT32_MAX);
        return 0;
    case KEY_KERNELS:
        a->options.sim_kernels = (uint32_t)number(state, arg, 1000000);
        return 0;
    case KEY_DROP:
        a->options.sim_drop = (uint32_t)number(state, arg, 1000000);
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

static int range_command(int argc, char **argv)
{
    static const struct argp argp = {
        range_options, parse_range, "-- PROGRAM [ARGUMENT...]",
        "Runs an unmodified program and collects the plan's counters for each kernel launch, replaying the launch once "
        "for each pass. The program's exit status is passed on.\v"
        "Example:\n  capture-agent range -c plan.cwc -o run.cwd -- ./app --size 4096\n"
        "  capture-agent range --backend sim -c plan.cwc -o run.cwd -- true",
        NULL, NULL, NULL};
    const char *backend = getenv("COUNTERWORKS_BACKEND");
    struct range_arguments a = {.sim = backend && strcmp(backend, "sim") == 0, .options = {.sim_kernels = 3}};
    argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &a);
    struct cw_error err = CW_ERROR_INIT;
    struct cw_bytes file = {0};
    struct cw_config_image plan;
    int exit_status = 0;
    struct cw_arena *arena = cw_arena_create();
    enum cw_status status = arena ? cw_file_read(&file, a.plan, LARGEST_PLAN, &err) : cw_error_nomem(&err);
    if (status == CW_OK)
        status = cw_config_image_read(&plan, file.data, file.size, a.plan, arena, &err);
    if (status == CW_OK && plan.profiler != CW_PROFILER_RANGE)
        status = cw_error_set(&err, CW_ERR_USAGE, "%s: found a plan for PM sampling, expected one for ranges", a.plan);
    a.options.plan = &plan;
    if (status == CW_OK)
        status = a.sim ? cw_sim_capture(&a.options, &exit_status, &err) : cw_cupti_capture(&a.options, &exit_status, &err);
    cw_bytes_free(&file);
    cw_arena_destroy(arena);
    return status == CW_OK ? exit_status : fail(&err);
}

/* ---- decode ----------------------------------------------------------------------------------------------------- */

static const struct argp_option decode_options[] = {
    {"native", KEY_NATIVE, "FILE", 0, "NVIDIA's counter data (range --keep-native)", 0},
    {"metrics", 'm', "A,B,...", 0, "the counters to take (default: every one)", 0},
    {"chip", KEY_CHIP, "NAME", 0, "the chip it is from (default: GH100)", 0},
    {"output", 'o', "RUN.cwd", 0, "where to write the counter data", 0},
    {0},
};

static error_t parse_decode(int key, char *arg, struct argp_state *state)
{
    struct cw_decode_options *o = state->input;
    switch (key) {
    case KEY_NATIVE:
        o->native = arg;
        return 0;
    case 'm':
        o->metrics = arg;
        return 0;
    case KEY_CHIP:
        o->chip = arg;
        return 0;
    case 'o':
        o->output = arg;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "found '%s', expected only options", arg);
        return 0;
    case ARGP_KEY_END:
        if (!o->native || !o->output)
            argp_error(state, "--native FILE and -o RUN.cwd are required");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int decode_command(int argc, char **argv)
{
    static const struct argp argp = {decode_options, parse_decode, "",
                                     "Turns NVIDIA's counter data into counter data that metric-eval reads. Needs their "
                                     "host library, but no GPU.\v"
                                     "Example:\n  capture-agent decode --native run.cd -o run.cwd",
                                     NULL, NULL, NULL};
    struct cw_decode_options options = {.chip = "GH100"};
    argp_parse(&argp, argc, argv, 0, NULL, &options);
    struct cw_error err = CW_ERROR_INIT;
    return cw_decode(&options, &err) == CW_OK ? 0 : fail(&err);
}

/* ---- doctor ----------------------------------------------------------------------------------------------------- */

static int doctor_command(int argc, char **argv)
{
    static const struct argp argp = {NULL, NULL, "", "Says what on this node would stop a capture, and how to mend it.\v"
                                                     "Example:\n  capture-agent doctor",
                                     NULL, NULL, NULL};
    argp_parse(&argp, argc, argv, 0, NULL, NULL);
    struct cw_error err = CW_ERROR_INIT;
    return cw_cupti_check(NULL, true, &err) == CW_OK ? 0 : fail(&err);
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

static const struct command {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"range", "collect counters for each kernel launch of a program", range_command},
    {"decode", "turn NVIDIA's counter data into ours", decode_command},
    {"doctor", "say what on this node would stop a capture", doctor_command},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void usage(FILE *to)
{
    fprintf(to, "Usage: capture-agent COMMAND [OPTION...]\n\n");
    for (int i = 0; i < COMMANDS; i++)
        fprintf(to, "  %-8s %s\n", commands[i].name, commands[i].summary);
    fprintf(to, "\ncapture-agent COMMAND --help says more. Example:\n"
                "  capture-agent range -c plan.cwc -o run.cwd -- ./app\n");
}

int main(int argc, char **argv)
{
    argp_err_exit_status = CW_ERR_USAGE;
    argp_program_version = "counterworks " CW_VERSION;
    const char *name = argc > 1 ? argv[1] : "";
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(name, commands[i].name) == 0) {
            char title[64];
            snprintf(title, sizeof title, "capture-agent %s", name);
            argv[1] = title;
            return commands[i].run(argc - 1, argv + 1);
        }
    if (strcmp(name, "--help") == 0) {
        usage(stdout);
        return 0;
    }
    if (strcmp(name, "--version") == 0) {
        puts(argp_program_version);
        return 0;
    }
    if (*name)
        fprintf(stderr, "capture-agent: found the command '%s', expected range, decode or doctor\n", name);
    else
        usage(stderr);
    return CW_ERR_USAGE;
}
