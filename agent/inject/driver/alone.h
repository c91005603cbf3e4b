/* Finds out who uses a device through the driver's management library (NVML), which comes with every driver. */
#ifndef CW_INJECT_ALONE_H
#define CW_INJECT_ALONE_H

#include "agent/inject/driver/inject.h"

/* Whether other processes use the device at a PCI address. */
enum cw_company { CW_COMPANY_NONE, CW_COMPANY_UNKNOWN, CW_COMPANY_OTHERS };
enum cw_company cw_inject_company(const char *pci);
/* Loads the library. Can be a mode's load. */
void cw_inject_load_company(void);

#endif
