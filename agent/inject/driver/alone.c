#include "agent/inject/driver/alone.h"

#include <dlfcn.h>

enum { MOST_PROCESSES = 64, NO_INSTANCE = -1 };
/* A context of another process takes several times this memory; an idle device without users takes a few MB. */
static const unsigned long long unaccounted = 64 << 20;

/* The layout that the library's functions of these versions use. */
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

static struct { /* functions of the library; `memory` is set if all are */
    int (*init)(void);
    int (*device)(const char *pci, void **device);
    list_function *compute, *graphics, *mps;
    int (*memory)(void *device, struct memory *memory);
} state CW_STATE;
#define self (&state)

void cw_inject_load_company(void)
{
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return;
    *(void **)&self->init = dlsym(library, "nvmlInit_v2");
    *(void **)&self->device = dlsym(library, "nvmlDeviceGetHandleByPciBusId_v2");
    *(void **)&self->compute = dlsym(library, "nvmlDeviceGetComputeRunningProcesses_v3");
    *(void **)&self->graphics = dlsym(library, "nvmlDeviceGetGraphicsRunningProcesses_v3");
    *(void **)&self->mps = dlsym(library, "nvmlDeviceGetMPSComputeRunningProcesses_v3");
    if (self->init && self->device && self->compute && self->graphics && self->mps && self->init() == 0)
        *(void **)&self->memory = dlsym(library, "nvmlDeviceGetMemoryInfo_v2");
}

/* Number of processes in a list; MOST_PROCESSES + 1 if it is unknown. */
static unsigned list(list_function *function, void *device, struct process *processes)
{
    unsigned count = MOST_PROCESSES;
    return function(device, &count, processes) == 0 ? count : MOST_PROCESSES + 1;
}

/* Decides by the lists of processes, and for processes that are not listed, such as those of another container, by the
 * memory in use. */
enum cw_company cw_inject_company(const char *pci)
{
    struct process processes[MOST_PROCESSES] = {{0}}, others[MOST_PROCESSES], *own = &processes[0];
    struct memory memory = {.version = (unsigned)sizeof memory | 2u << 24};
    void *device;
    if (!self->memory || self->device(pci, &device) != 0 || self->memory(device, &memory) != 0)
        return CW_COMPANY_UNKNOWN;
    unsigned compute = list(self->compute, device, processes), graphics = list(self->graphics, device, others),
             mps = list(self->mps, device, others);
    if (compute > MOST_PROCESSES || graphics > MOST_PROCESSES || mps > MOST_PROCESSES || compute == 0 ||
        own->gpu_instance != (unsigned)NO_INSTANCE || own->memory > memory.used)
        return CW_COMPANY_UNKNOWN;
    if (compute > 1 || graphics || mps || memory.used - own->memory > unaccounted)
        return CW_COMPANY_OTHERS;
    return own->pid == (unsigned)cw_inject->process ? CW_COMPANY_NONE : CW_COMPANY_UNKNOWN;
}
