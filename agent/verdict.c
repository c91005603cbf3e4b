#include <stdio.h>

#include "agent/backend.h"

enum cw_status cw_capture_verdict(const struct cw_range_options *options, const struct cw_program *program,
                                  uint64_t ranges, int *exit_status, struct cw_error *err)
{
    *exit_status = cw_program_exit_status(program);
    const char *name = options->argv[0];
    if (program->how == CW_END_SIGNALLED)
        fprintf(stderr, "capture-agent: %s was killed by signal %u; what was complete is in %s\n", name, program->code,
                options->output);
    else if (program->code)
        fprintf(stderr, "capture-agent: %s exited with status %u; what was captured is in %s\n", name, program->code,
                options->output);
    if (!ranges && *exit_status == 0)
        return cw_error_set(err, CW_ERR_APP, "%s launched no kernel, so nothing was captured", name);
    return CW_OK;
}
