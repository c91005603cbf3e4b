/* The driver's management library, which says what the environment says. The GPU 0000:0a:00.0 has processes and clocks;
 * with 0000:0c:00.0 and 0000:0d:00.0 it has links. */
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

struct pci {
    char legacy[16];
    unsigned domain, bus, device, ids, subsystem;
    char text[32];
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
int nvmlDeviceGetNvLinkState(void *device, unsigned link, unsigned *is_up);
int nvmlDeviceGetP2PStatus(void *device, void *other, unsigned capability, unsigned *status);
int nvmlDeviceGetTopologyCommonAncestor(void *device, void *other, unsigned *level);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
int nvmlDeviceGetPciInfo_v3(void *device, struct pci *pci);
int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *device, unsigned link, struct pci *pci);
int nvmlDeviceGetUUID(void *device, char *text, unsigned size);
int nvmlDeviceGetEccMode(void *device, unsigned *now, unsigned *pending);
int nvmlDeviceGetMigMode(void *device, unsigned *now, unsigned *pending);
int nvmlDeviceGetMaxPcieLinkGeneration(void *device, unsigned *value);
int nvmlDeviceGetMaxPcieLinkWidth(void *device, unsigned *value);
int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts);

static unsigned handles[3];

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
    static const char *const known[] = {"0000:0a:00.0", "0000:0c:00.0", "0000:0d:00.0"};
    for (int i = 0; i < 3; i++)
        if (strcmp(pci, known[i]) == 0) {
            *device = &handles[i];
            return 0;
        }
    return 6;
}

/* FAKE_NVML_LINKS: NVLinks that are up, of each GPU, as "18 18 0". */
static int links_up(const void *device)
{
    int up[3] = {0};
    sscanf(said("FAKE_NVML_LINKS"), "%d %d %d", &up[0], &up[1], &up[2]);
    return up[(const unsigned *)device - handles];
}

int nvmlDeviceGetNvLinkState(void *device, unsigned link, unsigned *is_up)
{
    *is_up = (int)link < links_up(device);
    return *said("FAKE_NVML_LINKS") && link < 18 ? 0 : 3;
}

static void place(unsigned number, struct pci *pci)
{
    *pci = (struct pci){.bus = (unsigned[]){0x0a, 0x0c, 0x0d}[number % 3]};
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
    *count = (unsigned)atoi(said("FAKE_NVML_GPUS"));
    return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
    *device = &handles[index % 3];
    return index >= 3;
}

int nvmlDeviceGetPciInfo_v3(void *device, struct pci *pci)
{
    place((unsigned)((unsigned *)device - handles), pci);
    return 0;
}

/* FAKE_NVML_DIRECT: the number of links that end at the next GPU, of each; the others end at the one behind it. Without
 * it nothing is known of the ends. */
int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *device, unsigned link, struct pci *pci)
{
    const unsigned number = (unsigned)((unsigned *)device - handles), direct = (unsigned)atoi(said("FAKE_NVML_DIRECT"));
    place(number + (link < direct ? 1 : 2), pci);
    return !direct;
}

/* Two GPUs with NVLinks reach each other in every way, others in none. */
int nvmlDeviceGetP2PStatus(void *device, void *other, unsigned capability, unsigned *status)
{
    *status = !links_up(device) || !links_up(other);
    return capability <= 3 ? 0 : 2;
}

/* FAKE_NVML_LEVEL: of any two GPUs. */
int nvmlDeviceGetTopologyCommonAncestor(void *device, void *other, unsigned *level)
{
    *level = (unsigned)atoi(said("FAKE_NVML_LEVEL"));
    return device == other || !*said("FAKE_NVML_LEVEL");
}

int nvmlDeviceGetUUID(void *device, char *text, unsigned size)
{
    snprintf(text, size, "GPU-%d", (int)((unsigned *)device - handles));
    return 0;
}

int nvmlDeviceGetEccMode(void *device, unsigned *now, unsigned *pending)
{
    *now = *pending = device == handles;
    return 0;
}

int nvmlDeviceGetMigMode(void *device, unsigned *now, unsigned *pending)
{
    *now = *pending = 0;
    return device == handles ? 0 : 3;
}

int nvmlDeviceGetMaxPcieLinkGeneration(void *device, unsigned *value)
{
    *value = 5;
    return device == handles ? 0 : 3;
}

int nvmlDeviceGetMaxPcieLinkWidth(void *device, unsigned *value)
{
    *value = 16;
    return device == handles ? 0 : 3;
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
    return device != handles;
}

/* FAKE_NVML_WIDE: as a driver of 535.43 to 535.86, whose entries have one more member. */
int nvmlDeviceGetGraphicsRunningProcesses_v3(void *device, unsigned *count, struct process *processes)
{
    const unsigned room = *count;
    *count = (unsigned)atoi(said("FAKE_NVML_GRAPHICS"));
    if (*said("FAKE_NVML_WIDE"))
        memset(processes, 1, (*count < room ? *count : room) * (sizeof *processes + sizeof(unsigned long long)));
    return device != handles;
}

int nvmlDeviceGetMPSComputeRunningProcesses_v3(void *device, unsigned *count, struct process *processes)
{
    (void)processes;
    *count = (unsigned)atoi(said("FAKE_NVML_MPS"));
    return device != handles;
}

/* FAKE_NVML_CLOCKS: "SM MEMORY LIMITS"; below 0 it does not tell this one. */
static int read_clock(int which, int *value)
{
    int clocks[3];
    if (sscanf(said("FAKE_NVML_CLOCKS"), "%d %d %d", &clocks[0], &clocks[1], &clocks[2]) != 3 || clocks[which] < 0)
        return 3;
    *value = clocks[which];
    return 0;
}

int nvmlDeviceGetClockInfo(void *device, unsigned type, unsigned *mhz)
{
    int value = 0, result = read_clock(type == 2, &value);
    *mhz = (unsigned)value;
    return device != handles || type == 0 ? 2 : result;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons)
{
    int value = 0, result = read_clock(2, &value);
    *reasons = (unsigned)value;
    return device != handles ? 2 : result;
}

/* FAKE_NVML_POWER: mW */
int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts)
{
    return device == handles && sscanf(said("FAKE_NVML_POWER"), "%u", milliwatts) == 1 ? 0 : 3;
}

int nvmlDeviceGetMemoryInfo_v2(void *device, struct memory *memory)
{
    memory->used = (unsigned long long)atoll(said("FAKE_NVML_USED")) << 20;
    return device != handles || memory->version != (2u << 24 | sizeof *memory);
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
    return device != handles ? 2 : note(line);
}

int nvmlDeviceResetGpuLockedClocks(void *device)
{
    return device != handles ? 2 : note("reset\n");
}
