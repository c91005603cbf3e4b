#include <stdio.h>

#include "agent/backend.h"

enum cw_status cw_capture_verdict(const struct cw_range_options *options, const struct cw_program *program,
                                  uint64_t ranges, enum cw_status status, int *exit_status, struct cw_error *err)
{
    *exit_status = cw_program_exit_status(program);
    const char *name = options->argv[0];
    if (program->how == CW_END_SIGNALLED)
        fprintf(stderr, "capture-agent: %s was killed by signal %u; what was complete is in %s\n", name, program->code,
                options->output);
    else if (program->code)
        fprintf(stderr, "capture-agent: %s exited with status %u; what was captured is in %s\n", name, program->code,
                options->output);
    if (status != CW_OK && *exit_status) { /* the program's own failure matters more, and likely caused ours */
        char text[1200];
        fprintf(stderr, "capture-agent: %s\n", cw_error_format(err, text, sizeof text));
        *err = (struct cw_error)CW_ERROR_INIT;
        return CW_OK;
    }
    if (status != CW_OK)
        return status;
    const struct cw_filter_options *f = &options->filter;
    bool chosen = options->user || f->kernel || f->range || f->process || f->devices || f->launch_skip ||
                  f->launch_count != UINT64_MAX || f->only_program;
    if (!ranges && *exit_status == 0)
        return chosen ? cw_error_set(err, CW_ERR_APP,
                                     "%s launched nothing of what was asked for, so nothing was "
                                     "captured",
                                     name)
                      : cw_error_set(err, CW_ERR_APP, "%s launched no kernel, so nothing was captured", name);
    return CW_OK;
}
