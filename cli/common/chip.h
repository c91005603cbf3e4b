/* The chip of a command: --chip, --chip-file, and users' own metrics. */
#ifndef CW_CLI_COMMON_CHIP_H
#define CW_CLI_COMMON_CHIP_H

#include "base/arena.h"
#include "base/error.h"
#include "base/usage.h"
#include "include/counterworks/counterworks.h"

enum { CW_CLI_METRICS_DB_MAX = 64 };

struct cw_cli_chip {
    const char *name, *file, *of; /* --chip, --chip-file, --chip-of: one of them */
    const char *node;             /* file of facts about a node's GPUs, alone or with --chip; NULL: no node */
    bool quiet;                   /* --quiet */
    size_t count;
    const char *own[CW_CLI_METRICS_DB_MAX]; /* --metrics-db; each may refer to earlier ones */
};
extern const struct cw_option cw_cli_chip_options[];       /* all; one option that names a chip is required */
extern const struct cw_option cw_cli_metrics_db_options[]; /* --metrics-db alone */

/* Prints a notice on standard error, after the program's name; a listener for counterworks_chip_tell(). */
void cw_cli_tell(void *user, const char *line);
/* Opens the chip. Its notices go to standard error, after the program's name. */
enum cw_status cw_cli_chip_open(struct counterworks_chip **chip, const struct cw_cli_chip *from, struct cw_error *err);
/* Adds users' own metrics to the chip. */
enum cw_status cw_cli_chip_add(struct counterworks_chip *chip, const struct cw_cli_chip *from, struct cw_error *err);

/* Runs a command or sub-command: reads its command line into `options`, opens the chip unless `from` is NULL, and calls
 * `run`. Returns the exit code. */
int cw_cli_run(const struct cw_usage *usage, int argc, char **argv, void *options, const struct cw_cli_chip *from,
               enum cw_status (*run)(const void *options, struct counterworks_chip *chip, struct cw_arena *arena,
                                     struct cw_error *err));

#endif
