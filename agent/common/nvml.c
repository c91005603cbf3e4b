#include "agent/common/nvml.h"

#include <dlfcn.h>
#include <string.h>

void cw_nvml_load(struct cw_nvml *nvml)
{
    int (*init)(void) = NULL;
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    memset(nvml, 0, sizeof *nvml);
    if (library)
        *(void **)&init = dlsym(library, "nvmlInit_v2");
    if (!init || init() != 0)
        return;
#define X(name, parameters) *(void **)&nvml->name = dlsym(library, #name);
    CW_NVML_FUNCTIONS(X)
#undef X
}

void *cw_nvml_device(const struct cw_nvml *nvml, const char *pci)
{
    void *device = NULL;
    return nvml->nvmlDeviceGetHandleByPciBusId_v2 && nvml->nvmlDeviceGetHandleByPciBusId_v2(pci, &device) == 0 ? device
                                                                                                               : NULL;
}
