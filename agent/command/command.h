/* The commands of capture-agent, one file each. Each parses its own arguments and returns the exit status. */
#ifndef CW_AGENT_COMMAND_H
#define CW_AGENT_COMMAND_H

#include <argp.h>

#include "agent/backend/backend.h"
#include "base/file.h"
#include "image/config_image.h"

int cw_range_command(int argc, char **argv);
int cw_pc_command(int argc, char **argv);
int cw_sass_command(int argc, char **argv);
int cw_pm_command(int argc, char **argv);
int cw_decode_command(int argc, char **argv);
int cw_doctor_command(int argc, char **argv);

/* Prints the error; returns its exit status. */
int cw_command_fail(const struct cw_error *err);
/* The whole number that an option's text means, at most `most`; ends the program with a usage error for another text.
 */
unsigned long cw_command_number(struct argp_state *state, const char *text, unsigned long most);

/* A bit for each device number of --device, 0 for all. */
uint64_t cw_command_devices(struct argp_state *state, const char *text);
/* The backend that --backend names; ends the program for another name. */
const struct cw_backend *cw_command_backend(struct argp_state *state, const char *name);
/* The one that COUNTERWORKS_BACKEND names, else that of real GPUs. */
const struct cw_backend *cw_command_default_backend(void);
/* The backend of the GPUs that this node has. */
const struct cw_backend *cw_command_real_backend(void);
/* Whether --code says none; ends the program for another word than all or none. */
bool cw_command_no_code(struct argp_state *state, const char *word);

/* The name of the one output file that `pattern` means, in malloc memory. A part that each process would have for
 * itself
 * (%p) is CW_ERR_USAGE. */
enum cw_status cw_command_output(char **name, const char *pattern, struct cw_error *err);

/* A config image read from a file; the image points into it. */
struct cw_plan_file {
    struct cw_config_image image;
    struct cw_bytes file;
    struct cw_arena *arena;
};
/* Reads a plan for this profiler. To be closed also after a failure. */
enum cw_status cw_plan_file_open(struct cw_plan_file *plan, const char *path, enum cw_profiler profiler,
                                 struct cw_error *err);
void cw_plan_file_close(struct cw_plan_file *plan);

#endif
