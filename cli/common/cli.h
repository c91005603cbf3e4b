/* Shared by all commands. */
#ifndef CW_CLI_COMMON_CLI_H
#define CW_CLI_COMMON_CLI_H

#include "base/error.h"
#include "base/usage.h"
#include "include/counterworks/counterworks.h"

/* Ends a command: makes sure that standard output was written, and prints the error if it has a message. Returns the
 * exit code. */
int cw_cli_finish(enum cw_status status, const struct cw_error *err);
/* Converts the error of a call of libcounterworks. */
enum cw_status cw_cli_take(const struct counterworks_error *error, struct cw_error *err);

/* --force and --quiet, each for a bool of the command's options: CW_OPTION_GROUP(struct options, force,
 * cw_cli_force_options). */
extern const struct cw_option cw_cli_force_options[], cw_cli_quiet_options[];

/* Initializes argp with this project's exit code for usage errors and version text. */
void cw_cli_init(void);

#endif
