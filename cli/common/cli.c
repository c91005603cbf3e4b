#define _GNU_SOURCE
#include "cli/common/cli.h"

#include <argp.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/file.h"
#include "base/start.h"
#include "base/text.h"

static int fail(const struct cw_error *err)
{
    char text[1200];
    cw_text_print(stderr, "%s: %s\n", program_invocation_short_name, cw_error_format(err, text, sizeof text));
    return err->code;
}

int cw_cli_usage(const char *format, ...)
{
    struct cw_error err = {.code = CW_ERR_USAGE};
    va_list args;
    va_start(args, format);
    cw_text_vformat(err.message, sizeof err.message, format, args);
    va_end(args);
    return fail(&err);
}

int cw_cli_finish(enum cw_status status, const struct cw_error *err)
{
    struct cw_error lost = CW_ERROR_INIT;
    if (cw_file_flush(&lost) != CW_OK && (status == CW_OK || status == CW_ERR_DIFFERS))
        return fail(&lost);
    return status == CW_OK ? 0 : fail(err);
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

void cw_cli_init(void)
{
    cw_start();
    argp_err_exit_status = CW_ERR_USAGE;
    argp_program_version = "counterworks " CW_VERSION;
}
