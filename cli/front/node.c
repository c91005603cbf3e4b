#define _GNU_SOURCE
#include "cli/front/node.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/front/beside.h"
#include "cli/front/shell.h"

static const char agent[] = "capture-agent", library[] = "libcounterworks_inject.so";

void cw_node_put(FILE *line, const struct cw_node *node, const char *command, bool terminal)
{
    const char *ssh = getenv("COUNTERWORKS_SSH");
    fputs(ssh && *ssh ? ssh : "ssh", line);
    if (terminal && isatty(STDIN_FILENO))
        fputs(" -t", line);
    cw_shell_put(line, node->host);
    cw_shell_put(line, command);
}

/* Stores where a file lies beside this program, or in the folder of its installation. */
static bool find_beside(const char *name, char folder[PATH_MAX])
{
    static const char *const places[] = {"", "/../lib/counterworks"};
    char own[PATH_MAX], path[2 * PATH_MAX];
    cw_front_folder(own, sizeof own);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(folder, PATH_MAX, "%.4000s%s", own, places[i]);
        snprintf(path, sizeof path, "%s/%s", folder, name);
        if (access(path, R_OK) == 0)
            return true;
    }
    return false;
}

/* tar -cf - -C FOLDER capture-agent -C FOLDER libcounterworks_inject.so | ssh HOST '...' */
static enum cw_status put_copy(FILE *line, const struct cw_node *node, struct cw_error *err)
{
    const char *const names[] = {agent, library};
    char folder[PATH_MAX];
    fputs("tar -chf -", line);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!find_beside(names[i], folder))
            return cw_error_set(err, CW_ERR_UNSUPPORTED, "found no %s beside this program, expected it there for %s",
                                names[i], node->host);
        fputs(" -C", line);
        cw_shell_put(line, folder);
        cw_shell_put(line, names[i]);
    }
    fputs(" | ", line);
    cw_node_put(line, node, "d=$(mktemp -d) && tar -xf - -C \"$d\" && echo \"$d\"", false);
    return CW_OK;
}

enum cw_status cw_node_open(struct cw_node *node, const char *host, bool quiet, struct cw_error *err)
{
    char *line = NULL;
    size_t size;
    FILE *out = open_memstream(&line, &size);
    *node = (struct cw_node){.host = host, .quiet = quiet};
    if (!out)
        return cw_error_nomem(err);
    enum cw_status status = put_copy(out, node, err);
    if (fclose(out))
        status = status == CW_OK ? cw_error_nomem(err) : status;
    if (status == CW_OK && (cw_shell_ask(line, quiet, node->folder, sizeof node->folder) || *node->folder != '/')) {
        *node->folder = '\0';
        status = cw_error_set(err, CW_ERR_IO, "cannot copy the agent to %s: the reason stands above", host);
    }
    free(line);
    return status;
}

void cw_node_close(struct cw_node *node)
{
    char *line = NULL, command[PATH_MAX + 16];
    size_t size;
    FILE *out = *node->folder ? open_memstream(&line, &size) : NULL;
    if (!out)
        return;
    snprintf(command, sizeof command, "rm -r '%s'", node->folder);
    cw_node_put(out, node, command, false);
    if (fclose(out) == 0)
        cw_shell_run(line, node->quiet);
    free(line);
    *node->folder = '\0';
}
