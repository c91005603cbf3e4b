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
