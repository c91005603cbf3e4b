/* What the driver knows of a kernel, and what the program said of a launch. Each kernel is asked about once. */
#ifndef CW_INJECT_KERNEL_FACTS_H
#define CW_INJECT_KERNEL_FACTS_H

#include <stdatomic.h>

#include "agent/common/facts.h"
#include "agent/inject/driver/inject.h"

/* Kernels that are remembered, in sets: the place of a kernel is one of a set's. Both are powers of two. */
enum { CW_MOST_KNOWN_KERNELS = 4096, CW_KNOWN_KERNELS_SET = 4 };

struct cw_kernel_facts {
    struct cw_known_kernel {
        CUfunction kernel; /* NULL: none yet */
        int32_t facts[CW_FACT__COUNT];
    } known[CW_MOST_KNOWN_KERNELS];
    uint32_t replaced; /* so far; what is replaced next in a full set follows from it */
    atomic_bool forgotten;
};
extern struct cw_kernel_facts *const cw_kernel_facts;

/* Asks the driver about the kernel of a launch that has been entered, unless it is known. The driver may load its code
 * then, and wait for it, so the lock is let go meanwhile; for others the launch has begun. Nothing is asked while a
 * stream is being captured. */
void cw_kernel_facts_learn(CUpti_CallbackId id, const CUpti_CallbackData *call);
/* The same for a kernel whose code is loaded; the lock is kept. */
void cw_kernel_facts_learn_here(CUfunction kernel);
/* Facts of a launch; those that are not known, such as those of a graph, are NaN. The driver is not called. */
void cw_kernel_facts_get(const struct cw_driver_launch *launch, double facts[CW_FACT__COUNT]);

/* Whether a call of the driver may change what it said before; takes note of its return. */
bool cw_kernel_facts_follows(CUpti_CallbackId id);
void cw_kernel_facts_follow(CUpti_CallbackId id, const CUpti_CallbackData *call);
/* Forgets all: code is unloaded, and other kernels may get the same handles. Needs no lock. */
void cw_kernel_facts_forget(void);

#endif
