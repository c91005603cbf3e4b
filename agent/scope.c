#include <stdlib.h>

#include "agent/backend.h"

enum cw_status cw_range_beside(const struct cw_range_options *options, uint64_t *raw, struct cw_error *err)
{
    const char *id = cw_config_parameter(options->plan, CW_CONFIG_DEVICE_COUNTER);
    *raw = 0;
    if (options->device_scope && !id)
        return cw_error_set(err, CW_ERR_UNSUPPORTED,
                            "found a plan for %s, for which no way to count the whole device is known, expected "
                            "--scope context",
                            options->plan->chip);
    if (options->device_scope)
        *raw = strtoull(id, NULL, 16);
    return CW_OK;
}

uint32_t cw_range_attributes(struct cw_pair attributes[CW_RANGE_ATTRIBUTES], const struct cw_range_options *options,
                             enum cw_replay replay, const char *nvtx)
{
    uint32_t n = 0;
    attributes[n++] = (struct cw_pair){"replay", cw_replay_names[replay]};
    if (options->device_scope)
        attributes[n++] = (struct cw_pair){"scope", "device"};
    if (nvtx && *nvtx)
        attributes[n++] = (struct cw_pair){"nvtx", nvtx};
    return n;
}
