#include "agent/inject/memory/kernels.h"

#include "agent/inject/driver/in_flight.h"
#include "agent/inject/driver/stream_capture.h"
#include "agent/inject/driver/streams.h"
#include "agent/inject/memory/regions.h"
#include "agent/inject/memory/shared.h"

static struct {
    struct {
        CUfunction kernel;
        CUmodule module; /* NULL: unknown */
        enum cw_kernel_habit habit;
        bool is_long;
    } known[CW_MOST_KERNELS];
    atomic_bool forgotten;
} state CW_STATE;
#define self (&state)

enum { NEAR = 16 }; /* possible places of a kernel */

/* Finds the place of a kernel; else a free place, or its first one. */
static uint32_t place_of(CUfunction kernel)
{
    if (atomic_exchange(&self->forgotten, false))
        memset(self->known, 0, sizeof self->known);
    const uint32_t first = (uint32_t)(((uintptr_t)kernel >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 52) % CW_MOST_KERNELS;
    uint32_t unused = first;
    for (uint32_t i = NEAR; i-- > 0;) { /* all, because a module's kernels may have left places */
        const uint32_t at = (first + i) % CW_MOST_KERNELS;
        const bool known = self->known[at].habit != CW_KERNEL_UNKNOWN;
        if (known && self->known[at].kernel == kernel)
            return at;
        unused = known ? unused : at;
    }
    return unused;
}

void cw_kernel_note(CUfunction kernel, enum cw_kernel_habit habit)
{
    uint32_t at = place_of(kernel);
    if (self->known[at].kernel == kernel && self->known[at].habit >= CW_KERNEL_REACHES && self->known[at].habit > habit)
        return;
    self->known[at].is_long = self->known[at].is_long && self->known[at].kernel == kernel;
    self->known[at].kernel = kernel;
    self->known[at].module = cw_regions_module(kernel);
    self->known[at].habit = habit;
}

void cw_kernel_seen(CUfunction kernel, bool rests, uint64_t entered)
{
    const bool alone = cw_in_flight->entered == entered + 1;
    if (rests ? alone : !cw_stream_capture_is_under_way())
        cw_kernel_note(kernel, rests ? CW_KERNEL_RESTS : CW_KERNEL_WAITS);
}

enum cw_kernel_habit cw_kernel_habit(CUfunction kernel)
{
    uint32_t at = place_of(kernel);
    return self->known[at].kernel == kernel ? self->known[at].habit : CW_KERNEL_UNKNOWN;
}

void cw_kernel_note_long(CUfunction kernel)
{
    const uint32_t at = place_of(kernel);
    self->known[at].is_long = self->known[at].is_long || self->known[at].kernel == kernel;
}

bool cw_kernel_is_long(CUfunction kernel)
{
    const uint32_t at = place_of(kernel);
    return self->known[at].kernel == kernel && self->known[at].is_long;
}

bool cw_kernel_waits(CUfunction kernel)
{
    return cw_kernel_habit(kernel) >= CW_KERNEL_SIGNALS;
}

bool cw_kernel_may_wait_for_host(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    const CUfunction kernel = cw_inject_kernel(id, call);
    return cw_kernel_waits(kernel) || (cw_kernel_habit(kernel) == CW_KERNEL_UNKNOWN && cw_shared_given(id, call));
}

bool cw_kernel_may_wait(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    return cw_kernel_may_wait_for_host(id, call) ||
           (cw_kernel_habit(cw_inject_kernel(id, call)) == CW_KERNEL_UNKNOWN && cw_streams_overlap(id, call));
}

void cw_kernel_forget(void)
{
    self->forgotten = true;
}

void cw_kernel_forget_module(CUmodule module)
{
    for (uint32_t i = 0; i < CW_MOST_KERNELS; i++)
        if (!self->known[i].module || self->known[i].module == module)
            memset(&self->known[i], 0, sizeof self->known[i]);
}
