/* The cupti backend of a build without CUDA headers. */
#include "agent/backend.h"

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

enum cw_status cw_cupti_check(const char *chip, bool report, struct cw_error *err)
{
    (void)chip;
    (void)report;
    return absent(err);
}
