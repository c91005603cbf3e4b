#include "agent/command/command.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/backend/cupti/cupti.h"
#include "agent/backend/sim/sim_backend.h"
#include "base/file_name.h"
#include "agent/session/program.h"
#include "base/progress.h"
#include "base/usage.h"

enum { LARGEST_PLAN = 256 << 20 };

#ifndef CW_HAS_CUPTI
const struct cw_backend cw_backend_cupti = {
    .name = "cupti",
    .missing = "this build has no cupti backend: CUDA headers were not found when it was built; --backend sim works "
               "without a GPU",
    .has_batches = true,
    .keeps_native = true,
    .sees_launches = true};
#endif

/* To add a backend, add a line here and its name to --help. */
static const struct cw_backend *const backends[] = {
    &cw_backend_cupti,
    &cw_backend_sim,
};
enum { BACKENDS = sizeof backends / sizeof *backends };

const struct cw_backend *cw_command_real_backend(void)
{
    return backends[0];
}

uint32_t cw_command_default_backend(void)
{
    const char *name = getenv("COUNTERWORKS_BACKEND");
    uint32_t i = 0;
    while (name && *name && i < BACKENDS && strcmp(backends[i]->name, name) != 0)
        i++;
    return i;
}

const struct cw_backend *cw_command_backend(const struct cw_command_capture *capture)
{
    return capture->backend < BACKENDS ? backends[capture->backend] : NULL;
}

/* ---- options ---------------------------------------------------------------------------------------------------- */

static void read_clock_control(void *base, char *text, struct argp_state *state)
{
    *(bool *)base = strcmp(text, "base") == 0;
    if (!*(bool *)base && strcmp(text, "none") != 0)
        cw_usage_error(state, "found --clock-control '%s', expected base or none", text);
}

/* --parent FD */
static void read_parent(void *argv, char *text, struct argp_state *state)
{
    static char name[32];
    static char *const words[] = {name, NULL};
    struct cw_error err = CW_ERROR_INIT;
    char *end;
    const unsigned long fd = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || fd > INT_MAX || cw_program_adopt((int)fd, &err) != CW_OK)
        cw_usage_error(state, "found --parent '%s', expected the number of a socket", text);
    snprintf(name, sizeof name, "process %ld", (long)getppid());
    *(char *const **)argv = words;
}

const struct cw_option cw_command_capture_options[] = {
    {"backend", 0, "cupti|sim", "the real GPU, or a simulated one (default: COUNTERWORKS_BACKEND, else cupti)",
     CW_OPTION_RARE, CW_OPTION_CHOICE(struct cw_command_capture, backend)},
    {"sim-seed", 0, "N", "sim: the seed of all numbers (default: 0)", CW_OPTION_RARE,
     CW_OPTION_NUMBER(struct cw_command_capture, options.sim_seed, 0, UINT32_MAX)},
    {"sim-steps", 0, "N", "sim: the number of pretended training steps for a program that reports none (default: 6)",
     CW_OPTION_RARE, CW_OPTION_NUMBER(struct cw_command_capture, options.sim_steps, 1, 10000000)},
    {"sim-processes", 0, "N", "sim: the number of processes, each with a GPU (default: 2)", CW_OPTION_RARE,
     CW_OPTION_NUMBER(struct cw_command_capture, options.sim_processes, 1, 64)},
    {"clock-control", 0, "base|none",
     "lock the GPU's clocks to their base while the capture runs, so that times of runs compare; needs root (default: "
     "none)",
     CW_OPTION_RARE, CW_OPTION_READ(struct cw_command_capture, options.base_clocks, read_clock_control)},
    {"parent", 0, "FD",
     "no program, but the process that started the agent and has the other end of the socket FD "
     "(counterworks/collect.h)",
     CW_OPTION_RARE, CW_OPTION_READ(struct cw_command_capture, options.argv, read_parent)},
    {"force", 0, NULL, "replace a file of the output's name, even if it is no capture",
     CW_OPTION_FLAG(struct cw_command_capture, options.force)},
    {"quiet", 'q', NULL, "no progress on a terminal", CW_OPTION_FLAG(struct cw_command_capture, quiet)},
    {CW_OPTION_PROGRAM(struct cw_command_capture, options.argv)},
    {0},
};

const struct cw_option cw_command_file_options[] = {
    {"output", 'o', "RUN.cwd",
     "the file for the counter data; %r is the rank, %h the host, %q{NAME} an environment variable",
     CW_OPTION_TEXT(struct cw_command_capture, options.output)},
    {CW_OPTION_ROWS(cw_command_capture_options)},
    {0},
};

/* --steady 2, or all */
static void read_periods(void *periods, char *text, struct argp_state *state)
{
    char *end;
    const unsigned long count = strtoul(text, &end, 10);
    if (strcmp(text, "all") == 0)
        *(uint32_t *)periods = CW_EVERY_PERIOD;
    else if (*text >= '0' && *text <= '9' && !*end && count && count <= 1000000)
        *(uint32_t *)periods = (uint32_t)count;
    else
        cw_usage_error(state, "found --steady '%s', expected a number of periods from 1 to 1000000, or all", text);
}

const struct cw_option cw_command_when_options[] = {
    {"steady", 0, "N|all",
     "capture N whole periods of repeating launches, such as steps of training or decoding; the agent finds them by "
     "the first few, which it leaves out",
     CW_OPTION_READ(struct cw_trace_window_options, periods, read_periods)},
    {"after", 0, "N[s|ms|us]", "begin the capture this long after the program's start (default: at its start)",
     CW_OPTION_READ(struct cw_trace_window_options, delay_ns, cw_command_ns)},
    {"for", 0, "N[s|ms|us]", "capture for this long; the program runs on to its end (default: to its end)",
     CW_OPTION_READ(struct cw_trace_window_options, duration_ns, cw_command_ns)},
    {"profiler-api", 0, NULL, "capture between cudaProfilerStart and cudaProfilerStop (torch.cuda.profiler)",
     CW_OPTION_FLAG(struct cw_trace_window_options, profiler)},
    {0},
};

const char *cw_command_when(const struct cw_trace_window_options *when)
{
    return when->periods       ? "steady"
           : when->profiler    ? "profiler-api"
           : when->delay_ns    ? "after"
           : when->duration_ns ? "for"
                               : NULL;
}

void cw_command_check_when(const struct cw_command_capture *capture, const struct cw_trace_window_options *when,
                           struct argp_state *state)
{
    const struct cw_backend *backend = cw_command_backend(capture);
    const bool simulated = when->profiler && !when->periods && !when->delay_ns && !when->duration_ns;
    const char *option = simulated ? "profiler-api" : cw_command_when(when);
    if (option && !simulated && backend && !backend->sees_launches)
        cw_usage_error(state, "found --%s with the simulated GPU, expected a real one's launches", option);
    if (option && !capture->options.argv)
        cw_usage_error(state, "found --%s without a program, expected a program, whose launches the agent sees",
                       option);
}

void cw_command_devices(void *devices, char *text, struct argp_state *state)
{
    uint64_t bits = 0;
    bool good = *text;
    for (const char *at = text; good && *at && strcmp(text, "all") != 0; at += *at == ',') {
        char *end;
        unsigned long number = strtoul(at, &end, 10);
        good = *at >= '0' && *at <= '9' && number < 64 && (!*end || *end == ',');
        bits |= UINT64_C(1) << (number & 63);
        at = end;
    }
    if (!good)
        cw_usage_error(state, "found --device '%s', expected numbers below 64 as 0,2, or all", text);
    *(uint64_t *)devices = bits;
}

void cw_command_seconds(void *seconds, char *text, struct argp_state *state)
{
    static const struct {
        const char *name;
        double factor;
    } units[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"m", 60}, {"h", 3600}};
    char *end;
    double value = strtod(text, &end);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (end != text && strcmp(end, units[i].name) == 0 && value > 0 && value * units[i].factor <= 1e7) {
            *(double *)seconds = value * units[i].factor;
            return;
        }
    cw_usage_error(state, "found the time '%s', expected one above 0 such as 10, 10s, 500ms, 5m or 2h", text);
}

void cw_command_ns(void *ns, char *text, struct argp_state *state)
{
    double seconds = 0;
    cw_command_seconds(&seconds, text, state);
    *(uint64_t *)ns = (uint64_t)(seconds * 1e9 + 0.5);
    if (!*(uint64_t *)ns)
        cw_usage_error(state, "found the time '%s', expected 1 ns at least", text);
}

/* ---- captures --------------------------------------------------------------------------------------------------- */

/* Names the output. Refuses a name with a part that differs between processes: all go into one file. */
static enum cw_status name_output(struct cw_command_capture *c, struct cw_error *err)
{
    const char *pattern = c->options.output;
    for (const char *at = strchr(pattern, '%'); at && at[1]; at = strchr(at + 2, '%'))
        if (at[1] == 'p')
            return cw_error_set(err, CW_ERR_USAGE,
                                "found %%p in '%s', expected %%h, %%r or %%q{NAME}: all processes go into one file",
                                pattern);
    enum cw_status status = cw_file_name(&c->output, pattern, &(struct cw_file_name_parts){0}, err);
    c->options.output = c->output;
    return status;
}

static enum cw_status open_plan(struct cw_command_capture *c, enum cw_profiler profiler, struct cw_error *err)
{
    static const char *const purpose[] = {"ranges", "PM sampling"}, *const option[] = {"range", "pm"};
    c->arena = cw_arena_create();
    enum cw_status status = c->arena ? cw_file_read(&c->file, c->plan, LARGEST_PLAN, err) : cw_error_nomem(err);
    if (status == CW_OK)
        status = cw_config_image_read(&c->image, c->file.data, c->file.size, c->plan, c->arena, err);
    if (status == CW_OK && c->image.profiler != profiler)
        status = cw_error_set(err, CW_ERR_USAGE,
                              "%s: found a plan for %s, expected one for %s: counterworks plan --profiler %s", c->plan,
                              purpose[c->image.profiler], purpose[profiler], option[profiler]);
    c->options.plan = &c->image;
    return status;
}

enum cw_status cw_command_begin(struct cw_command_capture *c, enum cw_profiler profiler, struct cw_error *err)
{
    c->options.sim_steps = c->options.sim_steps ? c->options.sim_steps : CW_SIM_STEPS;
    c->options.sim_processes = c->options.sim_processes ? c->options.sim_processes : CW_SIM_PROCESSES;
    const struct cw_backend *backend = cw_command_backend(c);
    enum cw_status status = CW_OK;
    if (!backend)
        status = cw_error_set(err, CW_ERR_USAGE, "found COUNTERWORKS_BACKEND '%s', expected cupti or sim",
                              getenv("COUNTERWORKS_BACKEND"));
    if (status == CW_OK && c->plan)
        status = open_plan(c, profiler, err);
    if (status == CW_OK && c->options.output && profiler != CW_PROFILER_RANGE && profiler != CW_PROFILER_TRACE)
        status = name_output(c, err);
    if (status == CW_OK)
        status = cw_file_keep(c->options.output, c->plan, "plan", err);
    if (status == CW_OK && c->options.output && cw_file_is_standard(c->options.output))
        status = c->options.argv ? cw_error_set(err, CW_ERR_USAGE,
                                                "found -o -, expected a file: the program has standard "
                                                "output")
                                 : cw_file_may_replace(c->options.output, &cw_file_capture, false, err);
    if (status == CW_OK && c->options.argv)
        status = cw_program_find(c->options.argv[0], err);
    if (status == CW_OK && backend->missing)
        status = cw_error_set(err, CW_ERR_UNSUPPORTED, "%s", backend->missing);
    if (status == CW_OK)
        cw_progress_begin(c->quiet, c->options.argv != NULL, "capturing");
    return status;
}

int cw_command_end(struct cw_command_capture *c, enum cw_status status, int exit_status, const struct cw_error *err)
{
    cw_progress_end();
    free(c->output);
    cw_bytes_free(&c->file);
    cw_arena_destroy(c->arena);
    return status == CW_OK ? exit_status : cw_usage_fail(err);
}
