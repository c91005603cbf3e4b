/* What is known of kernels that may wait: in memory of the host's that they are given, or for a kernel of another
 * stream. One that does never ends where the program is held up until it has, as CUPTI does in its ranges of launches.
 */
#ifndef CW_INJECT_KERNELS_H
#define CW_INJECT_KERNELS_H

#include <stdatomic.h>

#include "agent/inject/driver/inject.h"

#define CW_WHY_WAITS "a kernel that waits for what the host, another kernel or another device does"

/* How long a kernel may take that is watched; one that takes longer counts as one that waits. */
#define CW_KERNEL_WATCH_NS UINT64_C(5000000000)

enum cw_kernel_habit { CW_KERNEL_UNKNOWN, CW_KERNEL_RESTS, CW_KERNEL_WAITS };

enum { CW_MOST_KERNELS = 4096 }; /* a power of two; beyond about so many, others are forgotten */

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
/* The same after a wait: whether the kernel came to rest. A capture keeps a wait from telling that it did not, and
 * another launch that it did by itself. `entered`: launches (in_flight.h) before its own entered. */
void cw_kernel_seen(CUfunction kernel, bool rests, uint64_t entered);
enum cw_kernel_habit cw_kernel_habit(CUfunction kernel);
/* Whether a launch has to be seen first: its kernel waits, or is not known yet and may. */
bool cw_kernel_may_wait(CUpti_CallbackId id, const CUpti_CallbackData *call);
/* The same without kernels that only may wait for one of another stream: nearly none do, and whoever cannot count the
 * launch that is seen first would lose one of each kernel where streams overlap. */
bool cw_kernel_may_wait_for_host(CUpti_CallbackId id, const CUpti_CallbackData *call);
/* Forgets all: code is unloaded, and other kernels may get the same handles. Needs no lock. */
void cw_kernel_forget(void);

#endif
