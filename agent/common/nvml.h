/* The driver's management library (NVML), loaded at run time. Results are 0 on success. Signatures follow its
 * reference; its header is not needed. */
#ifndef CW_AGENT_NVML_H
#define CW_AGENT_NVML_H

/* An entry of the lists' version 3. Entries of drivers 535.43 to 535.86 are as large as this, those of all others end
 * before the last member: the second entry and those behind it may lie elsewhere. */
struct cw_nvml_process {
    unsigned pid;
    unsigned long long memory; /* bytes, ULLONG_MAX unknown */
    unsigned gpu_instance, compute_instance;
    unsigned long long protected_memory;
};
struct cw_nvml_memory { /* version 2: set `version` to CW_NVML_MEMORY_VERSION */
    unsigned version;
    unsigned long long total, reserved, free, used;
};
#define CW_NVML_MEMORY_VERSION ((unsigned)sizeof(struct cw_nvml_memory) | 2U << 24)

struct cw_nvml_pci {
    char legacy[16];
    unsigned domain, bus, device, ids, subsystem;
    char text[32];
};

enum { CW_NVML_OF_SM = 1, CW_NVML_OF_MEMORY = 2 }; /* clocks */
enum { CW_NVML_LINKS = 18 };                       /* most NVLinks of a GPU */
enum { CW_NVML_P2P_READ = 0, CW_NVML_P2P_NVLINK = 2, CW_NVML_P2P_ATOMICS = 3 };

#define CW_NVML_LIST(X, name) X(name, (void *device, unsigned *count, struct cw_nvml_process *processes))
#define CW_NVML_NUMBER(X, name) X(name, (void *device, unsigned *value))
#define CW_NVML_FUNCTIONS(X)                                                                                           \
    X(nvmlDeviceGetHandleByPciBusId_v2, (const char *pci, void **device))                                              \
    X(nvmlDeviceGetCount_v2, (unsigned *count))                                                                        \
    X(nvmlDeviceGetHandleByIndex_v2, (unsigned index, void **device))                                                  \
    X(nvmlDeviceGetPciInfo_v3, (void *device, struct cw_nvml_pci *pci))                                                \
    X(nvmlDeviceGetNvLinkRemotePciInfo_v2, (void *device, unsigned link, struct cw_nvml_pci *pci))                     \
    X(nvmlDeviceGetUUID, (void *device, char *text, unsigned size))                                                    \
    X(nvmlDeviceGetEccMode, (void *device, unsigned *now, unsigned *pending))                                          \
    X(nvmlDeviceGetMigMode, (void *device, unsigned *now, unsigned *pending))                                          \
    X(nvmlDeviceGetNvLinkState, (void *device, unsigned link, unsigned *is_up))                                        \
    X(nvmlDeviceGetP2PStatus, (void *device, void *other, unsigned capability, unsigned *status))                      \
    X(nvmlDeviceGetTopologyCommonAncestor, (void *device, void *other, unsigned *level))                               \
    X(nvmlDeviceGetMemoryInfo_v2, (void *device, struct cw_nvml_memory *memory))                                       \
    X(nvmlDeviceGetClockInfo, (void *device, unsigned clock, unsigned *mhz))                                           \
    X(nvmlDeviceGetCurrentClocksThrottleReasons, (void *device, unsigned long long *reasons))                          \
    X(nvmlDeviceGetTemperature, (void *device, unsigned sensor, unsigned *celsius))                                    \
    X(nvmlDeviceSetGpuLockedClocks, (void *device, unsigned least, unsigned most))                                     \
    X(nvmlDeviceResetGpuLockedClocks, (void *device))                                                                  \
    CW_NVML_LIST(X, nvmlDeviceGetComputeRunningProcesses_v3)                                                           \
    CW_NVML_LIST(X, nvmlDeviceGetGraphicsRunningProcesses_v3)                                                          \
    CW_NVML_LIST(X, nvmlDeviceGetMPSComputeRunningProcesses_v3)                                                        \
    CW_NVML_NUMBER(X, nvmlDeviceGetPowerUsage)                                                                         \
    CW_NVML_NUMBER(X, nvmlDeviceGetEnforcedPowerLimit)                                                                 \
    CW_NVML_NUMBER(X, nvmlDeviceGetFanSpeed)                                                                           \
    CW_NVML_NUMBER(X, nvmlDeviceGetCurrPcieLinkGeneration)                                                             \
    CW_NVML_NUMBER(X, nvmlDeviceGetCurrPcieLinkWidth)                                                                  \
    CW_NVML_NUMBER(X, nvmlDeviceGetMaxPcieLinkGeneration)                                                              \
    CW_NVML_NUMBER(X, nvmlDeviceGetMaxPcieLinkWidth)

struct cw_nvml {                                   /* initialise with zeros */
#define X(name, parameters) int(*name) parameters; /* NULL: this version of the library lacks it */
    CW_NVML_FUNCTIONS(X)
#undef X
};

/* Loads the library, which is never closed. All functions are NULL without it, or if it refuses. */
void cw_nvml_load(struct cw_nvml *nvml);
/* The device at this PCI address, or NULL. */
void *cw_nvml_device(const struct cw_nvml *nvml, const char *pci);

#endif
