#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/backend.h"

enum cw_status cw_range_beside(const struct cw_range_options *options, uint64_t *raw, struct cw_error *err)
{
    const char *id = cw_config_parameter(options->plan, CW_CONFIG_DEVICE_COUNTER);
    *raw = 0;
    if (!options->for_context && !id)
        return cw_error_set(err, CW_ERR_UNSUPPORTED,
                            "found a plan for %s, for which no way to count the whole device is known, expected "
                            "--scope context",
                            options->plan->chip);
    if (options->for_device && id)
        *raw = strtoull(id, NULL, 16);
    return CW_OK;
}

static void add(struct cw_range_attributes *a, const char *key, const char *value)
{
    a->pairs[a->count++] = (struct cw_pair){key, value};
}

void cw_range_attributes_make(struct cw_range_attributes *a, enum cw_replay replay, enum cw_scope scope,
                              const char *nvtx, uint32_t graphs)
{
    a->count = 0;
    add(a, "replay", cw_replay_names[replay]);
    if (scope != CW_SCOPE_CONTEXT)
        add(a, "scope", cw_scope_names[scope]);
    if (nvtx && *nvtx)
        add(a, "nvtx", nvtx);
    snprintf(a->graphs, sizeof a->graphs, "%" PRIu32, graphs);
    if (graphs)
        add(a, "graphs", a->graphs);
}
