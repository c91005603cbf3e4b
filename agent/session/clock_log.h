/* What clocks the GPUs of a capture run at, read now and then beside the program by the driver's management library
 * (NVML). Without the library nothing is known. */
#ifndef CW_AGENT_CLOCK_LOG_H
#define CW_AGENT_CLOCK_LOG_H

#include <stdbool.h>

#include "image/gpu_clocks.h"

enum { CW_MOST_LOGGED_GPUS = 64, CW_PCI_SIZE = 32 };

struct cw_logged_gpu {
    char pci[CW_PCI_SIZE];
    bool asked;   /* the library was, for its handle */
    void *handle; /* NULL: it does not know the GPU */
    uint32_t count;
    struct cw_gpu_clock *readings; /* malloc memory */
};

/* What else the library tells of a GPU. */
#define CW_GPU_READINGS(X)                                                                                             \
    X(temperature) /* degrees Celsius */                                                                               \
    X(power)       /* mW */                                                                                            \
    X(power_limit) /* mW */                                                                                            \
    X(fan)         /* percent */                                                                                       \
    X(pcie_generation)                                                                                                 \
    X(pcie_width)

struct cw_gpu_environment {
    struct cw_gpu_clock clock;
#define X(name) unsigned name; /* UINT_MAX unknown */
    CW_GPU_READINGS(X)
#undef X
};

struct cw_clock_log { /* begins as zeros */
    bool tried;       /* to load the library */
    bool pretended;   /* readings are those of every GPU, at whatever time */
    int (*find)(const char *pci, void **handle);
    int (*clock)(void *handle, unsigned type, unsigned *mhz);
    int (*limits)(void *handle, unsigned long long *reasons);
    int (*temperature)(void *handle, unsigned sensor, unsigned *value);
    int (*power)(void *handle, unsigned *value), (*power_limit)(void *handle, unsigned *value);
    int (*fan)(void *handle, unsigned *value);
    int (*pcie_generation)(void *handle, unsigned *value), (*pcie_width)(void *handle, unsigned *value);
    uint64_t looked_ms, period_ms;
    uint32_t gpu_count;
    struct cw_logged_gpu gpus[CW_MOST_LOGGED_GPUS];
};

/* From now on the GPU at this PCI address is read; NULL, or one that is read already: nothing changes. Takes no time: a
 * program waits meanwhile. */
void cw_clock_log_follow(struct cw_clock_log *log, const char *pci);
/* To be called often: reads the GPUs where the last time is long enough ago. */
void cw_clock_log_look(struct cw_clock_log *log);
/* Reads a GPU that is followed, now. False where nothing is known of it. */
bool cw_clock_log_environment(struct cw_clock_log *log, const char *pci, struct cw_gpu_environment *environment);
/* Another reading, of all GPUs: for a simulation. */
void cw_clock_log_pretend(struct cw_clock_log *log, uint32_t sm_mhz, uint32_t memory_mhz);
/* The first and the last reading of a GPU between two times of the wall clock; the nearest one where there is none
 * between them. How many: 0, 1 or 2. */
uint32_t cw_clock_log_between(const struct cw_clock_log *log, const char *pci, uint64_t from_ns, uint64_t until_ns,
                              struct cw_gpu_clock found[2]);
void cw_clock_log_free(struct cw_clock_log *log);
/* The wall clock. */
uint64_t cw_clock_log_now_ns(void);

#endif
