/* Another machine, by ssh: the agent goes into a folder there that is removed in the end. */
#ifndef CW_CLI_FRONT_NODE_H
#define CW_CLI_FRONT_NODE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

struct cw_node {
    const char *host;      /* as for ssh: user@host, or a name of its configuration */
    bool quiet;            /* prints no commands */
    char folder[PATH_MAX]; /* of the agent, there */
};

/* Copies the agent and its library to the node. The command for ssh is COUNTERWORKS_SSH, or "ssh". */
enum cw_status cw_node_open(struct cw_node *node, const char *host, bool quiet, struct cw_error *err);
/* Removes the folder. */
void cw_node_close(struct cw_node *node);

/* Writes the beginning of a line that runs `command` there: "ssh HOST 'COMMAND'". `terminal`: as on this terminal, if
 * there is one, so that Ctrl-C reaches it. */
void cw_node_put(FILE *line, const struct cw_node *node, const char *command, bool terminal);

#endif
