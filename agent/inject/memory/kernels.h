/* What is known of kernels that are given memory of the host's: whether they wait there for what the host does. One
 * that does never ends where the program is held up until it has, as CUPTI does in its ranges of launches. */
#ifndef CW_INJECT_KERNELS_H
#define CW_INJECT_KERNELS_H

#include <stdatomic.h>

#include "agent/inject/driver/inject.h"

#define CW_WHY_WAITS "a kernel that waits for what the host or another device does"

enum cw_kernel_habit { CW_KERNEL_UNKNOWN, CW_KERNEL_RESTS, CW_KERNEL_WAITS };

enum { CW_MOST_KERNELS = 4096 }; /* a power of two; behind it the older ones are forgotten */

struct cw_kernels {
    struct {
        CUfunction kernel;
        enum cw_kernel_habit habit;
    } known[CW_MOST_KERNELS];
    atomic_bool forgotten;
};
extern struct cw_kernels *const cw_kernels;

/* Remembers how a kernel went while the program was held up. One that ever waited is not trusted again. */
void cw_kernel_note(CUfunction kernel, enum cw_kernel_habit habit);
/* The same after a wait: whether the kernel came to rest. A capture keeps a wait from telling that it did not. */
void cw_kernel_seen(CUfunction kernel, bool rests);
enum cw_kernel_habit cw_kernel_habit(CUfunction kernel);
/* Whether a launch has to be seen first: its kernel waits, or is given memory of the host's and not known yet. */
bool cw_kernel_may_wait(CUpti_CallbackId id, const CUpti_CallbackData *call);
/* Forgets all: code is unloaded, and other kernels may get the same handles. Needs no lock. */
void cw_kernel_forget(void);

#endif
