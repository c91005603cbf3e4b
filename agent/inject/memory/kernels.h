/* Remembers kernels that may wait: for host memory that they are given, or for a kernel of another stream. Such a
 * kernel never ends if the program is blocked until it does, as in CUPTI's ranges of launches. */
#ifndef CW_INJECT_KERNELS_H
#define CW_INJECT_KERNELS_H

#include <stdatomic.h>

#include "agent/inject/driver/inject.h"

#define CW_WHY_WAITS "a kernel that waits for the host, another kernel or another device"

/* Time limit of a watched kernel; a kernel that takes longer counts as waiting. */
#define CW_KERNEL_WATCH_NS UINT64_C(5000000000)

enum cw_kernel_habit {
    CW_KERNEL_UNKNOWN,
    CW_KERNEL_RESTS,
    CW_KERNEL_SUSPECT, /* rests; memory that others reach changed beside it (proof.h) */
    CW_KERNEL_REACHES, /* the same while it ran alone */
    CW_KERNEL_SIGNALS, /* waits for the host, and writes nothing but host memory */
    CW_KERNEL_WAITS,
};

enum { CW_MOST_KERNELS = 4096 }; /* a power of two; some kernels are forgotten when there are more */

/* Notes the behaviour of a kernel while the program was blocked. A kernel that waited once, or reached others' memory,
 * is never trusted again. */
void cw_kernel_note(CUfunction kernel, enum cw_kernel_habit habit);
/* Notes the result of a wait for a kernel: `rests`: it finished. Ignores a failure during a capture, which prevents
 * waits, and a success if another launch may have helped. `entered`: number of launches (in_flight.h) before its
 * own. */
void cw_kernel_seen(CUfunction kernel, bool rests, uint64_t entered);
enum cw_kernel_habit cw_kernel_habit(CUfunction kernel);
/* Notes that a kernel takes long by itself; whether it was noted. */
void cw_kernel_note_long(CUfunction kernel);
bool cw_kernel_is_long(CUfunction kernel);
/* Whether a kernel is known to wait. */
bool cw_kernel_waits(CUfunction kernel);
/* Whether a launch must be observed first: its kernel is known to wait, or unknown and may wait. */
bool cw_kernel_may_wait(CUpti_CallbackId id, const CUpti_CallbackData *call);
/* The same, except for kernels that could only wait for another stream. Hardly any kernel does, and a mode that cannot
 * count the observed launch would lose one launch of each kernel if streams overlap. */
bool cw_kernel_may_wait_for_host(CUpti_CallbackId id, const CUpti_CallbackData *call);
/* Forgets all kernels, or those of a module and of unknown ones: code is unloaded, and other kernels may get the same
 * handles. The first needs no lock. */
void cw_kernel_forget(void);
void cw_kernel_forget_module(CUmodule module);

#endif
