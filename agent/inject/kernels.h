/* What is known of kernels that are given memory of the host's: whether they wait there for what the host does. One
 * that does never ends where the program is held up until it has, as CUPTI does in its ranges of launches. */
#ifndef CW_INJECT_KERNELS_H
#define CW_INJECT_KERNELS_H

#include "agent/inject/inject.h"

#define CW_WHY_WAITS "a kernel that waits for what the host or another device does"

enum cw_kernel_habit { CW_KERNEL_UNKNOWN, CW_KERNEL_RESTS, CW_KERNEL_WAITS };

/* Remembers how a kernel went while the program was held up. One that ever waited is not trusted again. */
void cw_kernel_note(CUfunction kernel, enum cw_kernel_habit habit);
enum cw_kernel_habit cw_kernel_habit(CUfunction kernel);
/* Forgets all: code is unloaded, and other kernels may get the same handles. Needs no lock. */
void cw_kernel_forget(void);

#endif
