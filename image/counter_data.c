#include "image/counter_data.h"

#include <string.h>

#include "base/search.h"

static uint32_t clocks_before(const struct cw_counter_data *data, uint64_t device)
{
    struct cw_search s = {0, data->clocks_count};
    while (s.low < s.high)
        cw_search_narrow(&s, data->clocks[cw_search_middle(&s)].device < device);
    return (uint32_t)s.low;
}

uint32_t cw_counter_data_clocks(const struct cw_counter_data *data, uint32_t device, uint32_t *first)
{
    *first = clocks_before(data, device);
    return clocks_before(data, (uint64_t)device + 1) - *first;
}

const char *cw_device_attribute(const struct cw_device *device, const char *key)
{
    return cw_pair_find(device->attributes, device->attribute_count, key);
}

const char *cw_range_attribute(const struct cw_range *range, const char *key)
{
    return cw_pair_find(range->attributes, range->attribute_count, key);
}

bool cw_range_is_multiplexed(const struct cw_range *range)
{
    const char *replay = cw_range_attribute(range, "replay");
    return replay && strcmp(replay, "multiplex") == 0;
}
