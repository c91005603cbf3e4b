#include "agent/backend/range_capture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum cw_status cw_range_beside(const struct cw_range_options *options, uint64_t *raw, struct cw_error *err)
{
    const char *id = cw_config_parameter(options->capture.plan, CW_CONFIG_DEVICE_COUNTER);
    *raw = 0;
    if (!options->for_context && !id)
        return cw_error_set(err, CW_ERR_UNSUPPORTED,
                            "found a plan for %s, for which no way to count the whole device is known, expected "
                            "--scope context",
                            options->capture.plan->chip);
    if (options->for_device && id)
        *raw = strtoull(id, NULL, 16);
    return CW_OK;
}

static void add(struct cw_range_attributes *a, const char *key, const char *value)
{
    a->pairs[a->count++] = (struct cw_pair){key, value};
}

void cw_range_attributes_make(struct cw_range_attributes *a, const struct cw_launch *l)
{
    a->count = 0;
    add(a, "replay", cw_replay_names[l->replay]);
    if (l->once && *l->once)
        add(a, "once", l->once);
    if (l->scope != CW_SCOPE_CONTEXT)
        add(a, "scope", cw_scope_names[l->scope]);
    if (l->nvtx && *l->nvtx)
        add(a, "nvtx", l->nvtx);
    snprintf(a->graphs, sizeof a->graphs, "%" PRIu32, l->graphs);
    if (l->graphs)
        add(a, "graphs", a->graphs);
}

enum cw_status cw_range_verdict(const struct cw_range_options *options, const struct cw_program *program,
                                uint64_t ranges, enum cw_status status, int *exit_status, struct cw_error *err)
{
    const char *name = options->capture.argv[0];
    status = cw_program_verdict(program, name, options->capture.output, status, exit_status, err);
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
