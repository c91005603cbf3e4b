/* The driver's management library, saying what the environment says (agent_alone_test.c). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct process {
    unsigned pid;
    unsigned long long memory;
    unsigned gpu_instance, compute_instance;
};
struct memory {
    unsigned version;
    unsigned long long total, reserved, free, used;
};

int nvmlInit_v2(void);
int nvmlDeviceGetHandleByPciBusId_v2(const char *pci, void **device);
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, struct process *processes);
int nvmlDeviceGetGraphicsRunningProcesses_v3(void *device, unsigned *count, struct process *processes);
int nvmlDeviceGetMPSComputeRunningProcesses_v3(void *device, unsigned *count, struct process *processes);
int nvmlDeviceGetMemoryInfo_v2(void *device, struct memory *memory);

static unsigned handle;

static const char *said(const char *name)
{
    const char *text = getenv(name);
    return text ? text : "";
}

int nvmlInit_v2(void)
{
    return getenv("FAKE_NVML_ABSENT") != NULL;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *pci, void **device)
{
    *device = &handle;
    return strcmp(pci, "0000:0a:00.0") != 0;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, struct process *processes)
{
    const char *text = said("FAKE_NVML_COMPUTE");
    unsigned n = 0;
    int used;
    for (; *text && n < *count; n++, text += used + (text[used] == ',')) {
        struct process *p = &processes[n];
        long long megabytes;
        *p = (struct process){.gpu_instance = ~0u, .compute_instance = ~0u};
        if (sscanf(text, "%u/%lld%n:%u%n", &p->pid, &megabytes, &used, &p->gpu_instance, &used) < 2)
            return 1;
        p->memory = megabytes < 0 ? ~0ull : (unsigned long long)megabytes << 20;
    }
    *count = n;
    return device != &handle;
}

int nvmlDeviceGetGraphicsRunningProcesses_v3(void *device, unsigned *count, struct process *processes)
{
    (void)processes;
    *count = (unsigned)atoi(said("FAKE_NVML_GRAPHICS"));
    return device != &handle;
}

int nvmlDeviceGetMPSComputeRunningProcesses_v3(void *device, unsigned *count, struct process *processes)
{
    (void)processes;
    *count = (unsigned)atoi(said("FAKE_NVML_MPS"));
    return device != &handle;
}

int nvmlDeviceGetMemoryInfo_v2(void *device, struct memory *memory)
{
    memory->used = (unsigned long long)atoll(said("FAKE_NVML_USED")) << 20;
    return device != &handle || memory->version != (2u << 24 | sizeof *memory);
}
