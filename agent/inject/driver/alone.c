#include "agent/inject/driver/alone.h"

#include "agent/common/nvml.h"

enum { MOST_PROCESSES = 64, NO_INSTANCE = -1 };
/* A context of another process takes several times this memory; an idle device without users takes a few MB. */
static const unsigned long long unaccounted = 64 << 20;

static struct cw_nvml state CW_STATE;
#define self (&state)

void cw_inject_load_company(void)
{
    struct cw_nvml found;
    cw_nvml_load(&found);
    cw_inject_acquire(); /* another thread may look at processes of an earlier context */
    *self = found;
    cw_inject_release();
}

/* Number of processes in a list; MOST_PROCESSES + 1 if it is unknown. */
static unsigned list(int (*function)(void *, unsigned *, struct cw_nvml_process *), void *device,
                     struct cw_nvml_process *processes)
{
    unsigned count = MOST_PROCESSES;
    return function && function(device, &count, processes) == 0 ? count : MOST_PROCESSES + 1;
}

/* Decides by the lists of processes, and for processes that are not listed, such as those of another container, by the
 * memory in use. */
enum cw_company cw_inject_company(const char *pci)
{
    struct cw_nvml_process processes[MOST_PROCESSES] = {{0}}, others[MOST_PROCESSES], *own = &processes[0];
    struct cw_nvml_memory memory = {.version = CW_NVML_MEMORY_VERSION};
    void *device = cw_nvml_device(self, pci);
    if (!device || !self->nvmlDeviceGetMemoryInfo_v2 || self->nvmlDeviceGetMemoryInfo_v2(device, &memory) != 0)
        return CW_COMPANY_UNKNOWN;
    unsigned compute = list(self->nvmlDeviceGetComputeRunningProcesses_v3, device, processes),
             graphics = list(self->nvmlDeviceGetGraphicsRunningProcesses_v3, device, others),
             mps = list(self->nvmlDeviceGetMPSComputeRunningProcesses_v3, device, others);
    if (compute > MOST_PROCESSES || graphics > MOST_PROCESSES || mps > MOST_PROCESSES || compute == 0 ||
        own->gpu_instance != (unsigned)NO_INSTANCE || own->memory > memory.used)
        return CW_COMPANY_UNKNOWN;
    if (compute > 1 || graphics || mps || memory.used - own->memory > unaccounted)
        return CW_COMPANY_OTHERS;
    return own->pid == (unsigned)cw_inject->process ? CW_COMPANY_NONE : CW_COMPANY_UNKNOWN;
}
