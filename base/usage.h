/* Command lines. What they hold is shown as base/text.h does it. */
#ifndef CW_BASE_USAGE_H
#define CW_BASE_USAGE_H

#include <argp.h>

/* argp_parse, for options whose names are plain text: another one ends the program with a usage error. */
void cw_usage_parse(const struct argp *argp, int argc, char **argv, unsigned flags, void *input);

/* argp_error: prints the message and how to get help, and ends the program with the usage status. */
void cw_usage_error(const struct argp_state *state, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
