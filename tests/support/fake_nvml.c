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
int nvmlDeviceGetClockInfo(void *device, unsigned type, unsigned *mhz);
int nvmlDeviceSetGpuLockedClocks(void *device, unsigned least, unsigned most);
int nvmlDeviceResetGpuLockedClocks(void *device);
int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons);

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

/* "SM MEMORY LIMITS" */
static int read_clocks(unsigned clocks[3])
{
    return sscanf(said("FAKE_NVML_CLOCKS"), "%u %u %u", &clocks[0], &clocks[1], &clocks[2]) == 3 ? 0 : 3;
}

int nvmlDeviceGetClockInfo(void *device, unsigned type, unsigned *mhz)
{
    unsigned clocks[3] = {0};
    int result = read_clocks(clocks);
    *mhz = clocks[type == 2];
    return device != &handle || type == 0 ? 2 : result;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons)
{
    unsigned clocks[3] = {0};
    int result = read_clocks(clocks);
    *reasons = clocks[2];
    return device != &handle ? 2 : result;
}

int nvmlDeviceGetMemoryInfo_v2(void *device, struct memory *memory)
{
    memory->used = (unsigned long long)atoll(said("FAKE_NVML_USED")) << 20;
    return device != &handle || memory->version != (2u << 24 | sizeof *memory);
}

/* What is done to the clocks becomes lines of the file FAKE_NVML_LOG. */
static int note(const char *line)
{
    FILE *log = fopen(said("FAKE_NVML_LOG"), "a");
    if (log) {
        fputs(line, log);
        fclose(log);
    }
    return log ? 0 : 4;
}

int nvmlDeviceSetGpuLockedClocks(void *device, unsigned least, unsigned most)
{
    char line[64];
    snprintf(line, sizeof line, "lock %x %x\n", least, most);
    return device != &handle ? 2 : note(line);
}

int nvmlDeviceResetGpuLockedClocks(void *device)
{
    return device != &handle ? 2 : note("reset\n");
}
