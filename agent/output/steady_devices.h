/* Devices of a file whose attributes report the periods of launches (steady_report.h). The file is updated as more
 * periods come. */
#ifndef CW_AGENT_STEADY_DEVICES_H
#define CW_AGENT_STEADY_DEVICES_H

#include "agent/common/steady_report.h"
#include "agent/output/collector.h"
#include "agent/output/file_devices.h"

struct cw_steady_devices {
    uint32_t count;
    struct cw_steady_device {
        struct cw_device device;
        struct cw_steady_texts texts;
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
