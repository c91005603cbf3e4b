#include <stdio.h>

#include "agent/backend/backend.h"

static const char why[] = "this build has no cupti backend: CUDA headers were not found when it was built; --backend "
                          "sim works without a GPU";

static enum cw_status absent(struct cw_error *err)
{
    return cw_error_set(err, CW_ERR_UNSUPPORTED, "%s", why);
}

static enum cw_status range(const struct cw_range_options *options, int *exit_status, struct cw_error *err)
{
    (void)options;
    (void)exit_status;
    return absent(err);
}

static enum cw_status pc(const struct cw_pc_options *options, int *exit_status, struct cw_error *err)
{
    (void)options;
    (void)exit_status;
    return absent(err);
}

static enum cw_status pm(const struct cw_pm_options *options, int *exit_status, struct cw_error *err)
{
    (void)options;
    (void)exit_status;
    return absent(err);
}

static enum cw_status check(const struct cw_node_needs *needs, struct cw_error *err)
{
    if (needs->report)
        printf("FAIL  %s\n", why);
    return absent(err);
}

const struct cw_backend cw_backend_absent = {
    .name = "cupti", .keeps_native = true, .range = range, .pc = pc, .pm = pm, .check = check};
