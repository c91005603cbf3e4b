#include "image/counter_data.h"

static uint32_t clocks_before(const struct cw_counter_data *data, uint64_t device)
{
    uint32_t low = 0, high = data->clocks_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (data->clocks[middle].device < device)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
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
