/* Logs the clocks of a capture's GPUs, read at intervals from the driver's management library (NVML) while the program
 * runs. Without the library the log stays empty. */
#ifndef CW_AGENT_CLOCK_LOG_H
#define CW_AGENT_CLOCK_LOG_H

#include <stdbool.h>

#include "agent/common/nvml.h"
#include "agent/session/clock_control.h"
#include "image/gpu_clocks.h"

enum { CW_MOST_LOGGED_GPUS = 64, CW_PCI_SIZE = 32 };

/* Other readings of a GPU. */
#define CW_GPU_READINGS(X)                                                                                             \
    X(temperature) /* degrees Celsius */                                                                               \
    X(power)       /* mW */                                                                                            \
    X(power_limit) /* mW */                                                                                            \
    X(fan)         /* percent */                                                                                       \
    X(pcie_generation)                                                                                                 \
    X(pcie_width)

struct cw_gpu_environment {
    struct cw_gpu_clock clock; /* limits: UINT64_MAX unknown */
#define X(name) unsigned name; /* UINT_MAX unknown */
    CW_GPU_READINGS(X)
#undef X
};

struct cw_clock_log { /* initialise with zeros */
    bool tried;       /* loading the library was tried */
    bool pretended;   /* readings hold for every GPU at any time */
    struct cw_nvml nvml;
    struct cw_clock_control control;
    uint64_t looked_ms, period_ms;
    uint32_t gpu_count;
    struct cw_logged_gpu {
        char pci[CW_PCI_SIZE];
        bool asked;   /* the library was asked for the handle */
        void *handle; /* NULL: the library does not know the GPU */
        uint32_t count;
        struct cw_gpu_clock *readings; /* malloc memory */
    } gpus[CW_MOST_LOGGED_GPUS];
};

/* Adds the GPU at this PCI address to the log, and locks its clocks if `control` wants it; does nothing for NULL, and
 * for a GPU that is in the log. Without control it takes no time, because a program waits for it. */
void cw_clock_log_follow(struct cw_clock_log *log, const char *pci);
/* Reads the GPUs if the last reading is old enough. Call it often. */
void cw_clock_log_look(struct cw_clock_log *log);
/* Reads a GPU of the log now. False if nothing is known about it. */
bool cw_clock_log_environment(struct cw_clock_log *log, const char *pci, struct cw_gpu_environment *environment);
/* Adds a reading for all GPUs, for a simulation. */
void cw_clock_log_pretend(struct cw_clock_log *log, uint32_t sm_mhz, uint32_t memory_mhz);
/* Finds the first and the last reading of a GPU between two wall clock times, or the nearest one if there is none
 * between. Returns their number: 0, 1 or 2. */
uint32_t cw_clock_log_between(const struct cw_clock_log *log, const char *pci, uint64_t from_ns, uint64_t until_ns,
                              struct cw_gpu_clock found[2]);
void cw_clock_log_free(struct cw_clock_log *log);
/* Current wall clock time. */
uint64_t cw_clock_log_now_ns(void);

#endif
