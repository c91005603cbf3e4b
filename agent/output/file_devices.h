/* Numbers the devices of one file. Processes may number the same devices differently (CUDA_VISIBLE_DEVICES), or
 * different devices alike; in the file each device has one number. */
#ifndef CW_AGENT_FILE_DEVICES_H
#define CW_AGENT_FILE_DEVICES_H

#include "image/counter_data.h"

enum { CW_MOST_FILE_DEVICES = 64 };

struct cw_file_devices {
    uint32_t count;
    struct {
        uint32_t number;
        char place[160]; /* host and PCI address, "" if the device does not have it */
    } devices[CW_MOST_FILE_DEVICES];
};

/* Finds the file's number of a device, its own if that is free. *is_new: the file did not have it. False if there are
 * too many devices. */
bool cw_file_devices_find(struct cw_file_devices *file, const struct cw_device *device, uint32_t *number, bool *is_new);

#endif
