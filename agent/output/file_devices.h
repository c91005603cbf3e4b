/* Numbers the devices of one file. Processes may number the same devices differently (CUDA_VISIBLE_DEVICES), or
 * different devices alike; in the file each device has one number. */
#ifndef CW_AGENT_FILE_DEVICES_H
#define CW_AGENT_FILE_DEVICES_H

#include "agent/common/steady_report.h"
#include "agent/output/collector.h"

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
/* Forgets the device that was new last, which could not be written: it is new again for the next process. */
void cw_file_devices_forget(struct cw_file_devices *file);

/* Devices whose attributes report the periods of launches (steady_report.h). The file is updated as more periods
 * come. */
struct cw_steady_devices {
    uint32_t count;
    struct cw_steady_device {
        struct cw_device device;
        cw_steady_texts texts;
        uint64_t at; /* offset in the file */
    } items[CW_MOST_FILE_DEVICES];
};

/* Writes a device with the attributes of a report, NULL if there is none yet. Copies the device except its facts. */
enum cw_status cw_steady_devices_add(struct cw_steady_devices *devices, struct cw_collector *collector,
                                     const struct cw_device *device, const struct cw_steady_report *report,
                                     struct cw_arena *arena, struct cw_error *err);
/* Updates the device of this number; does nothing if the file does not have it. */
enum cw_status cw_steady_devices_tell(struct cw_steady_devices *devices, struct cw_collector *collector,
                                      uint32_t number, const struct cw_steady_report *report, struct cw_error *err);

#endif
