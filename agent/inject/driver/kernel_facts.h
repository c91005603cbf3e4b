/* Facts about kernels from the driver, and about launches from the program. The driver is asked once for each
 * kernel. */
#ifndef CW_INJECT_KERNEL_FACTS_H
#define CW_INJECT_KERNEL_FACTS_H

#include <stdatomic.h>

#include "agent/common/facts.h"
#include "agent/inject/driver/inject.h"

/* Size of the cache: a kernel may stand in any place of its set. Both are powers of two. */
enum { CW_MOST_KNOWN_KERNELS = 4096, CW_KNOWN_KERNELS_SET = 4 };

/* Loads the code of an entered launch's kernel now, where its launch would. The lock is released meanwhile, because the
 * driver may wait; for other threads the launch has begun. False if it could not, as while a stream is being
 * captured. */
bool cw_kernel_load(CUpti_CallbackId id, const CUpti_CallbackData *call);
/* Asks the driver about the kernel of an entered launch, unless it is known. This loads it as well. */
void cw_kernel_facts_learn(CUpti_CallbackId id, const CUpti_CallbackData *call);
/* The same for a kernel whose code is loaded; keeps the lock. */
void cw_kernel_facts_learn_here(CUfunction kernel);
/* Fills in the facts of a launch; unknown ones, such as those of a graph, are NaN. Does not call the driver. */
void cw_kernel_facts_get(const struct cw_driver_launch *launch, double facts[CW_FACT__COUNT]);

/* Whether a driver call may change these facts; takes note of its return. */
bool cw_kernel_facts_follows(CUpti_CallbackId id);
void cw_kernel_facts_follow(CUpti_CallbackId id, const CUpti_CallbackData *call);
/* Forgets all kernels: code is unloaded, and other kernels may get the same handles. Needs no lock. */
void cw_kernel_facts_forget(void);

#endif
