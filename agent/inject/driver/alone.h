/* Finds out who uses a device through the driver's management library (NVML), which comes with every driver. */
#ifndef CW_INJECT_ALONE_H
#define CW_INJECT_ALONE_H

#include "agent/inject/driver/inject.h"

struct cw_nvml_process;
struct cw_nvml_memory;
typedef int cw_nvml_list(void *device, unsigned *count, struct cw_nvml_process *processes);

struct cw_nvml { /* functions of the library; `memory` is set if all are */
    int (*init)(void);
    int (*device)(const char *pci, void **device);
    cw_nvml_list *compute, *graphics, *mps;
    int (*memory)(void *device, struct cw_nvml_memory *memory);
};
extern struct cw_nvml *const cw_nvml;

/* Whether other processes use the device at a PCI address. */
enum cw_company { CW_COMPANY_NONE, CW_COMPANY_UNKNOWN, CW_COMPANY_OTHERS };
enum cw_company cw_inject_company(const char *pci);
/* Loads the library. Can be a mode's load. */
void cw_inject_load_company(void);

#endif
