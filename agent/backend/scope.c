#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/backend/backend.h"

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
