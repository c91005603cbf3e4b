/* What the commands share. */
#ifndef CW_CLI_H
#define CW_CLI_H

#include <argp.h>

#include "host/base/error.h"

/* Prints "program: message" on one line of stderr and returns the exit code. */
int cw_cli_fail(const struct cw_error *err);
/* The same for a mistake in the command line. */
int cw_cli_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* argp with this project's exit code for usage errors and version text. */
void cw_cli_init(void);

#endif
