/* capture-agent pm */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/command/command.h"
#include "agent/session/program.h"
#include "base/usage.h"

enum {
    KEY_INTERVAL = 256,
    KEY_DURATION,
    KEY_DEVICE,
    KEY_BUFFER,
    KEY_NO_TRACE,
    KEY_BACKEND,
    KEY_SEED,
    KEY_SAMPLES,
    KEY_DROP,
    KEY_OVERFLOW
};

struct pm_arguments {
    const char *plan;
    const struct cw_backend *backend;
    struct cw_pm_options options;
};

static const struct argp_option pm_options[] = {
    {"config", 'c', "PLAN.cwc", 0, "the config image that metric-config --profiler pm wrote", 0},
    {"output", 'o', "RUN.cwd", 0,
     "where to write the counter data; %r is the rank, %h the host, %q{NAME} an environment variable", 0},
    {"interval", KEY_INTERVAL, "N[ns|us|ms|sys]", 0,
     "time between samples; with sys, cycles of the system clock (default: 100us)", 0},
    {"duration", KEY_DURATION, "N[s|m|h]", 0, "how long to sample (default: as long as the program runs)", 0},
    {"device", KEY_DEVICE, "LIST", 0, "the GPUs to sample, by number: 0,2, or all of the plan's chip (default: 0)", 0},
    {"buffer", KEY_BUFFER, "MIB", 0, "size of the hardware's buffer (default: 256)", 0},
    {"no-trace", KEY_NO_TRACE, 0, 0, "do not record the program's kernel launches", 0},
    {"backend", KEY_BACKEND, "cupti|sim", 0,
     "the real GPU, or a simulated one (default: COUNTERWORKS_BACKEND, else cupti)", 0},
    {"sim-seed", KEY_SEED, "N", 0, "sim: the seed that all numbers follow from (default: 0)", 0},
    {"sim-samples", KEY_SAMPLES, "N", 0, "sim: how many samples to pretend (default: 48)", 0},
    {"sim-drop", KEY_DROP, "N", 0, "sim: how many samples to lose (default: 0)", 0},
    {"sim-overflow", KEY_OVERFLOW, 0, 0, "sim: pretend that the hardware's buffer was full once", 0},
    {0},
};

static void parse_interval(struct cw_pm_options *o, const char *text, struct argp_state *state)
{
    static const struct {
        const char *name;
        uint64_t factor;
        bool cycles;
    } units[] = {{"", 1, false}, {"ns", 1, false}, {"us", 1000, false}, {"ms", 1000000, false}, {"sys", 1, true}};
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

static double parse_duration(const char *text, struct argp_state *state)
{
    static const struct {
        const char *name;
        double factor;
    } units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}};
    char *end;
    double value = strtod(text, &end);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (end != text && strcmp(end, units[i].name) == 0 && value > 0 && value * units[i].factor <= 1e7)
            return value * units[i].factor;
    cw_usage_error(state, "found the duration '%s', expected a time above 0 such as 10, 10s, 5m or 2h", text);
    return 0;
}

static error_t parse_pm(int key, char *arg, struct argp_state *state)
{
    struct pm_arguments *a = state->input;
    switch (key) {
    case 'c':
        a->plan = arg;
        return 0;
    case 'o':
        a->options.output = arg;
        return 0;
    case KEY_INTERVAL:
        parse_interval(&a->options, arg, state);
        return 0;
    case KEY_DURATION:
        a->options.duration_s = parse_duration(arg, state);
        return 0;
    case KEY_DEVICE:
        a->options.devices = cw_command_devices(state, arg);
        return 0;
    case KEY_BUFFER:
        a->options.buffer_bytes = (uint64_t)cw_command_number(state, arg, 4096) << 20;
        return 0;
    case KEY_NO_TRACE:
        a->options.trace = false;
        return 0;
    case KEY_BACKEND:
        a->backend = cw_command_backend(state, arg);
        return 0;
    case KEY_SEED:
        a->options.sim_seed = cw_command_number(state, arg, UINT32_MAX);
        return 0;
    case KEY_SAMPLES:
        a->options.sim_samples = (uint32_t)cw_command_number(state, arg, 10000000);
        return 0;
    case KEY_DROP:
        a->options.sim_drop = (uint32_t)cw_command_number(state, arg, 1000000);
        return 0;
    case KEY_OVERFLOW:
        a->options.sim_overflow = true;
        return 0;
    case ARGP_KEY_ARGS:
        a->options.argv = state->argv + state->next;
        return 0;
    case ARGP_KEY_END:
        if (!a->plan || !a->options.output)
            cw_usage_error(state, "-c PLAN.cwc and -o RUN.cwd are required");
        if (!a->options.argv && a->options.duration_s <= 0)
            cw_usage_error(state, "neither a program nor --duration: give one, or both");
        if (a->options.sim_overflow && !a->options.sim_drop)
            cw_usage_error(state, "found --sim-overflow without --sim-drop, expected samples that are lost by it");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int cw_pm_command(int argc, char **argv)
{
    static const struct argp argp = {
        pm_options,
        parse_pm,
        "[-- PROGRAM [ARGUMENT...]]",
        "Samples the plan's counters of whole GPUs at equal intervals, while an unmodified program runs or for a given "
        "time. The program's kernel launches are recorded, too. The program's exit status is passed on.\v"
        "Example:\n  capture-agent pm -c plan.cwc -o run.cwd --interval 100us -- python train.py\n"
        "  capture-agent pm -c plan.cwc -o run.cwd --device all --duration 10\n"
        "  capture-agent pm --backend sim -c plan.cwc -o run.cwd -- true",
        NULL,
        NULL,
        NULL};
    struct pm_arguments a = {
        .backend = cw_command_default_backend(),
        .options = {.devices = 1, .interval = 100000, .buffer_bytes = 256 << 20, .trace = true, .sim_samples = 48}};
    cw_usage_parse(&argp, argc, argv, ARGP_IN_ORDER, &a);
    struct cw_error err = CW_ERROR_INIT;
    struct cw_plan_file plan;
    int exit_status = 0;
    enum cw_status status = cw_plan_file_open(&plan, a.plan, CW_PROFILER_PM, &err);
    a.options.plan = &plan.image;
    char *output = NULL;
    if (status == CW_OK)
        status = cw_command_output(&output, a.options.output, &err);
    a.options.output = output;
    if (status == CW_OK && a.options.argv)
        status = cw_program_find(a.options.argv[0], &err);
    if (status == CW_OK)
        status = a.backend->pm(&a.options, &exit_status, &err);
    free(output);
    cw_plan_file_close(&plan);
    return status == CW_OK ? exit_status : cw_command_fail(&err);
}
