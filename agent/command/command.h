/* The commands of capture-agent. Each parses its own arguments and returns the exit status. */
#ifndef CW_AGENT_COMMAND_H
#define CW_AGENT_COMMAND_H

#include "agent/backend/backend.h"
#include "base/file.h"
#include "base/usage.h"

int cw_range_command(int argc, char **argv);
int cw_pc_command(int argc, char **argv);
int cw_sass_command(int argc, char **argv);
int cw_pm_command(int argc, char **argv);
int cw_trace_command(int argc, char **argv);
int cw_decode_command(int argc, char **argv);
int cw_doctor_command(int argc, char **argv);

/* The backend for the GPUs of this node. */
const struct cw_backend *cw_command_real_backend(void);

/* ---- captures --------------------------------------------------------------------------------------------------- */

/* Shared by the commands that make captures. */
struct cw_command_capture {
    uint32_t backend; /* cw_command_default_backend, or the choice of --backend */
    const char *plan; /* path; NULL: none */
    struct cw_capture_options options;
    bool quiet; /* show no progress */
    /* valid from cw_command_begin to cw_command_end: */
    struct cw_config_image image; /* the plan's image; points into the file */
    struct cw_bytes file;
    struct cw_arena *arena;
    char *output;
};

/* Options --backend, --sim-seed, --force, --quiet and the program. */
extern const struct cw_option cw_command_capture_options[];
/* The same, and -o for a capture in one file. */
extern const struct cw_option cw_command_file_options[];
/* The options --steady, --after, --for and --profiler-api, for a struct cw_trace_window_options. cw_command_when
 * returns the first of them that was given, or NULL; cw_command_check_when refuses them for a simulated GPU, which
 * follows --profiler-api alone. */
extern const struct cw_option cw_command_when_options[];
const char *cw_command_when(const struct cw_trace_window_options *when);
void cw_command_check_when(const struct cw_command_capture *capture, const struct cw_trace_window_options *when,
                           struct argp_state *state);
/* Reads --device: a bit of the uint64_t for each number, 0 for all. */
void cw_command_devices(void *devices, char *text, struct argp_state *state);
/* Read a time above 0, as 10, 10s, 500ms, 5m or 2h, into a double of seconds or a uint64_t of ns. */
void cw_command_seconds(void *seconds, char *text, struct argp_state *state);
void cw_command_ns(void *ns, char *text, struct argp_state *state);

/* Options that --help of a capture with a plan does not have: the plan has the metrics. */
#define CW_COMMAND_OF_PLANS                                                                                            \
    "-m: counterworks plan\n--metrics: counterworks plan\n--metrics-file: counterworks plan\n"                         \
    "--set: counterworks plan\n"

/* The backend of COUNTERWORKS_BACKEND, else that of real GPUs. */
uint32_t cw_command_default_backend(void);
/* NULL if COUNTERWORKS_BACKEND names no known backend. */
const struct cw_backend *cw_command_backend(const struct cw_command_capture *capture);

/* Finds the backend and the program, opens the plan, which must be for this profiler, completes the options and starts
 * showing progress. `output` names one file, except for ranges and traces, whose names may depend on the process. Call
 * cw_command_end also after a failure. */
enum cw_status cw_command_begin(struct cw_command_capture *capture, enum cw_profiler profiler, struct cw_error *err);
/* Returns the exit status: the program's own after CW_OK, else that of the error, which it prints. */
int cw_command_end(struct cw_command_capture *capture, enum cw_status status, int exit_status,
                   const struct cw_error *err);

#endif
