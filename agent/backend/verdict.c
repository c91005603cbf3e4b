#include "agent/backend/backend.h"

enum cw_status cw_capture_verdict(const struct cw_range_options *options, const struct cw_program *program,
                                  uint64_t ranges, enum cw_status status, int *exit_status, struct cw_error *err)
{
    const char *name = options->argv[0];
    status = cw_program_verdict(program, name, options->output, status, exit_status, err);
    if (status != CW_OK || ranges || *exit_status)
        return status;
    const struct cw_filter_options *f = &options->filter;
    bool chosen = options->user || f->kernel || f->range || f->process || f->devices || f->launch_skip ||
                  f->launch_count != UINT64_MAX || f->only_program;
    return cw_error_set(err, CW_ERR_APP,
                        chosen ? "%s launched nothing of what was asked for, so nothing was captured"
                               : "%s launched no kernel, so nothing was captured",
                        name);
}
