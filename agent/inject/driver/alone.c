/* Who uses a device, by the driver's management library (NVML), which every driver brings. */
#include <dlfcn.h>

#include "agent/inject/driver/inject.h"

enum { MOST_PROCESSES = 64, NO_INSTANCE = -1 };
/* What a context of another process takes at the least is several times that; an idle device of nobody takes a few MB.
 */
static const unsigned long long unaccounted = 64 << 20;

/* As the library's functions of these versions have them. */
struct process {
    unsigned pid;
    unsigned long long memory; /* ULLONG_MAX: unknown */
    unsigned gpu_instance, compute_instance;
};
struct memory {
    unsigned version;
    unsigned long long total, reserved, free, used;
};
typedef int list_function(void *device, unsigned *count, struct process *processes);

static struct {
    int (*init)(void);
    int (*device)(const char *pci, void **device);
    list_function *compute, *graphics, *mps;
    int (*memory)(void *device, struct memory *memory);
} nvml;

void cw_inject_load_company(void)
{
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return;
    *(void **)&nvml.init = dlsym(library, "nvmlInit_v2");
    *(void **)&nvml.device = dlsym(library, "nvmlDeviceGetHandleByPciBusId_v2");
    *(void **)&nvml.compute = dlsym(library, "nvmlDeviceGetComputeRunningProcesses_v3");
    *(void **)&nvml.graphics = dlsym(library, "nvmlDeviceGetGraphicsRunningProcesses_v3");
    *(void **)&nvml.mps = dlsym(library, "nvmlDeviceGetMPSComputeRunningProcesses_v3");
    if (nvml.init && nvml.device && nvml.compute && nvml.graphics && nvml.mps && nvml.init() == 0)
        *(void **)&nvml.memory = dlsym(library, "nvmlDeviceGetMemoryInfo_v2");
}

/* How many processes a list has; MOST_PROCESSES + 1 where it cannot be had. */
static unsigned list(list_function *function, void *device, struct process *processes)
{
    unsigned count = MOST_PROCESSES;
    return function(device, &count, processes) == 0 ? count : MOST_PROCESSES + 1;
}

/* Of a process that is not listed, such as one in another container, the memory that it holds is counted. */
enum cw_company cw_inject_company(const char *pci)
{
    struct process processes[MOST_PROCESSES] = {{0}}, others[MOST_PROCESSES], *own = &processes[0];
    struct memory memory = {.version = (unsigned)sizeof memory | 2u << 24};
    void *device;
    if (!nvml.memory || nvml.device(pci, &device) != 0 || nvml.memory(device, &memory) != 0)
        return CW_COMPANY_UNKNOWN;
    unsigned compute = list(nvml.compute, device, processes), graphics = list(nvml.graphics, device, others),
             mps = list(nvml.mps, device, others);
    if (compute > MOST_PROCESSES || graphics > MOST_PROCESSES || mps > MOST_PROCESSES || compute == 0 ||
        own->gpu_instance != (unsigned)NO_INSTANCE || own->memory > memory.used)
        return CW_COMPANY_UNKNOWN;
    if (compute > 1 || graphics || mps || memory.used - own->memory > unaccounted)
        return CW_COMPANY_OTHERS;
    return own->pid == (unsigned)cw_inject.process ? CW_COMPANY_NONE : CW_COMPANY_UNKNOWN;
}
