/* Commands with sub-commands: "metric-query list". */
#ifndef CW_CLI_QUERY_SUBCOMMAND_H
#define CW_CLI_QUERY_SUBCOMMAND_H

#include <stddef.h>

struct cw_subcommand {
    const char *name, *summary;        /* the summary is one line of the command's --help */
    int (*run)(int argc, char **argv); /* argv[0] is "command sub-command"; returns the exit code */
};

/* Runs the sub-command that argv names. --help, --version and a misspelt name are answered here; `about` says what the
 * command is for and `example` is a line to type. Returns the exit code. */
int cw_subcommand_main(int argc, char **argv, const struct cw_subcommand *table, size_t count, const char *about,
                       const char *example);

#endif
