/* The devices of one file: processes may number the same devices differently (CUDA_VISIBLE_DEVICES), or different ones
 * alike; the file has one number for each. */
#ifndef CW_AGENT_FILE_DEVICES_H
#define CW_AGENT_FILE_DEVICES_H

#include "image/counter_data.h"

enum { CW_MOST_FILE_DEVICES = 64 };

struct cw_file_devices {
    uint32_t count;
    struct {
        uint32_t number;
        char place[160]; /* host and PCI address, "" where the device does not tell */
    } devices[CW_MOST_FILE_DEVICES];
};

/* The file's number of a device, its own where that is free. *is_new says that the file has not had it before. False
 * when there are too many. */
bool cw_file_devices_find(struct cw_file_devices *file, const struct cw_device *device, uint32_t *number, bool *is_new);

#endif
