#include "cli/common/cli.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/start.h"
#include "base/usage.h"

static bool finished; /* the command has flushed and checked its output */

int cw_cli_finish(enum cw_status status, const struct cw_error *err)
{
    struct cw_error lost = CW_ERROR_INIT;
    finished = true;
    if (cw_file_flush(&lost) != CW_OK && (status == CW_OK || status >= CW_ERR_DIFFERS))
        return cw_usage_fail(&lost);
    return status == CW_OK ? 0 : *err->message ? cw_usage_fail(err) : (int)status;
}

enum cw_status cw_cli_take(const struct counterworks_error *error, struct cw_error *err)
{
    if (error->status == COUNTERWORKS_OK)
        return CW_OK;
    *err = (struct cw_error){.code = (enum cw_status)error->status,
                             .line = error->line,
                             .column = error->column,
                             .has_offset = error->has_offset,
                             .offset = error->offset};
    snprintf(err->source, sizeof err->source, "%s", error->source);
    snprintf(err->message, sizeof err->message, "%s", error->message);
    return err->code;
}

/* Each row stores into the bool itself. */
const struct cw_option cw_cli_force_options[] = {
    {"force", 0, NULL, "replace an output that is there, even if it is a file of another kind", .kind = CW_OPTION__FLAG,
     .at = 0, .size = sizeof(bool)},
    {0},
};

const struct cw_option cw_cli_quiet_options[] = {
    {"quiet", 'q', NULL, "only the data: no notices, no progress", .kind = CW_OPTION__FLAG, .at = 0,
     .size = sizeof(bool)},
    {0},
};

/* Checks output even if --help or --version ended the process. */
static void check_printed(void)
{
    if (!finished && cw_cli_finish(CW_OK, NULL))
        _exit(CW_ERR_IO);
}

void cw_cli_init(void)
{
    atexit(check_printed);
    cw_start();
    argp_err_exit_status = CW_ERR_USAGE;
    argp_program_version = "counterworks " CW_VERSION;
}
