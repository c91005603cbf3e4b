#include "agent/inject/kernels.h"

#include <stdatomic.h>

enum { MOST_KERNELS = 4096 }; /* a power of two; behind it the older ones are forgotten */

static struct {
    CUfunction kernel;
    enum cw_kernel_habit habit;
} known[MOST_KERNELS];
static atomic_bool forgotten;

static uint32_t place_of(CUfunction kernel)
{
    if (atomic_exchange(&forgotten, false))
        memset(known, 0, sizeof known);
    return (uint32_t)(((uintptr_t)kernel >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 52) % MOST_KERNELS;
}

void cw_kernel_note(CUfunction kernel, enum cw_kernel_habit habit)
{
    uint32_t at = place_of(kernel);
    if (known[at].kernel == kernel && known[at].habit == CW_KERNEL_WAITS)
        return;
    known[at].kernel = kernel;
    known[at].habit = habit;
}

enum cw_kernel_habit cw_kernel_habit(CUfunction kernel)
{
    uint32_t at = place_of(kernel);
    return known[at].kernel == kernel ? known[at].habit : CW_KERNEL_UNKNOWN;
}

void cw_kernel_forget(void)
{
    forgotten = true;
}
