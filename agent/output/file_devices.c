#include "agent/output/file_devices.h"

#include <stdio.h>
#include <string.h>

static bool is_taken(const struct cw_file_devices *f, uint32_t number)
{
    for (uint32_t i = 0; i < f->count; i++)
        if (f->devices[i].number == number)
            return true;
    return false;
}

bool cw_file_devices_find(struct cw_file_devices *f, const struct cw_device *device, uint32_t *number, bool *is_new)
{
    const char *host = cw_device_attribute(device, "host"), *pci = cw_device_attribute(device, "pci");
    char place[sizeof f->devices->place] = "";
    if (pci)
        snprintf(place, sizeof place, "%s %s", host ? host : "", pci);
    *is_new = false;
    for (uint32_t i = 0; i < f->count; i++)
        if (*place ? strcmp(f->devices[i].place, place) == 0 : f->devices[i].number == device->index) {
            *number = f->devices[i].number;
            return true;
        }
    if (f->count == CW_MOST_FILE_DEVICES)
        return false;
    *number = device->index;
    for (uint32_t free = 0; is_taken(f, *number); free++)
        *number = free;
    memcpy(f->devices[f->count].place, place, sizeof place);
    f->devices[f->count++].number = *number;
    *is_new = true;
    return true;
}

void cw_file_devices_forget(struct cw_file_devices *f)
{
    f->count--;
}

/* ---- devices with a report on periods ---------------------------------------------------------------------------- */

enum cw_status cw_steady_devices_add(struct cw_steady_devices *devices, struct cw_collector *collector,
                                     const struct cw_device *device, const struct cw_steady_report *report,
                                     struct cw_arena *arena, struct cw_error *err)
{
    if (devices->count == CW_MOST_FILE_DEVICES)
        return cw_collector_device(collector, device, err);
    const uint32_t count = device->attribute_count;
    struct cw_steady_device *d = &devices->items[devices->count];
    struct cw_pair *copy = cw_pairs_copy(device->attributes, count, arena);
    struct cw_pair *pairs = cw_arena_alloc(arena, count + CW_STEADY_ATTRIBUTES, sizeof *pairs);
    if (!copy || !pairs)
        return cw_error_nomem(err);
    if (count)
        memcpy(pairs, copy, count * sizeof *pairs);
    cw_steady_attributes(pairs + count, d->texts, report);
    d->device = *device;
    d->device.attributes = pairs;
    d->device.attribute_count = count + CW_STEADY_ATTRIBUTES;
    d->at = collector->size;
    const enum cw_status status = cw_collector_device(collector, &d->device, err);
    devices->count += status == CW_OK;
    return status;
}

enum cw_status cw_steady_devices_tell(struct cw_steady_devices *devices, struct cw_collector *collector,
                                      uint32_t number, const struct cw_steady_report *report, struct cw_error *err)
{
    struct cw_pair pairs[CW_STEADY_ATTRIBUTES];
    for (uint32_t i = 0; i < devices->count; i++) {
        struct cw_steady_device *d = &devices->items[i];
        if (d->device.index != number)
            continue;
        cw_steady_attributes(pairs, d->texts, report); /* the device has these texts */
        return cw_collector_device_again(collector, d->at, &d->device, err);
    }
    return CW_OK;
}
