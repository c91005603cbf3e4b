/* The cupti backend of a build without CUDA headers. */
#include "agent/backend/backend.h"
#include "agent/backend/pc_capture.h"
#include "agent/backend/pm.h"

static enum cw_status absent(struct cw_error *err)
{
    return cw_error_set(err, CW_ERR_UNSUPPORTED,
                        "this build has no cupti backend: CUDA headers were not found when it was built; --backend sim "
                        "works without a GPU");
}

enum cw_status cw_cupti_capture(const struct cw_range_options *options, int *exit_status, struct cw_error *err)
{
    (void)options;
    (void)exit_status;
    return absent(err);
}

enum cw_status cw_cupti_pc_capture(const struct cw_pc_options *options, int *exit_status, struct cw_error *err)
{
    (void)options;
    (void)exit_status;
    return absent(err);
}

enum cw_status cw_node_check(const struct cw_check *check, struct cw_error *err)
{
    (void)check;
    return absent(err);
}

enum cw_status cw_pm_cupti_capture(const struct cw_pm_options *options, int *exit_status, struct cw_error *err)
{
    (void)options;
    (void)exit_status;
    return absent(err);
}
