#include "agent/inject/modes/slow.h"

#include "agent/inject/driver/stream_capture.h"
#include "agent/inject/memory/kernels.h"
#include "agent/inject/memory/regions.h"
#include "agent/inject/memory/shared.h"

void cw_slow_note(struct cw_slow *s, CUpti_CallbackId id, const CUpti_CallbackData *call, uint64_t took_ns)
{
    struct cw_driver_launch launch;
    uint64_t arguments;
    if (took_ns < CW_SLOW_NS || s->runs || !cw_inject_launch(&launch, id, call) || launch.graph ||
        cw_kernel_is_long(launch.function) || !cw_shared_given_alone(id, call, &arguments))
        return;
    s->kernel = launch.function;
    s->config = launch.config;
    s->arguments = arguments;
    s->took_ns = took_ns;
}

bool cw_slow_is_again(const struct cw_slow *s, CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_driver_launch l;
    const CUlaunchConfig *was = &s->config;
    uint64_t arguments;
    return s->kernel && !s->runs && !cw_stream_capture_is_under_way() && cw_inject_kernel(id, call) == s->kernel &&
           cw_inject_launch(&l, id, call) && l.config.gridDimX == was->gridDimX && l.config.gridDimY == was->gridDimY &&
           l.config.gridDimZ == was->gridDimZ && l.config.blockDimX == was->blockDimX &&
           l.config.blockDimY == was->blockDimY && l.config.blockDimZ == was->blockDimZ &&
           cw_shared_given_alone(id, call, &arguments) && arguments == s->arguments;
}

/* Puts an event before the launch, or behind it. */
static bool put_event(struct cw_slow *s, int which, CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    const struct cw_cupti *api = &cw_inject->api;
    struct cw_driver_launch l;
    const CUstream stream = cw_inject_launch(&l, id, call) ? cw_inject_stream(id, l.config.hStream) : NULL;
    return api->cuEventCreate && api->cuEventRecord && api->cuEventQuery && api->cuEventElapsedTime &&
           api->cuEventDestroy_v2 && api->cuEventCreate(&s->events[which], CU_EVENT_DEFAULT) == CUDA_SUCCESS &&
           api->cuEventRecord(s->events[which], stream) == CUDA_SUCCESS;
}

void cw_slow_enter(struct cw_slow *s, CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    if (s->runs || s->kernel != cw_inject_kernel(id, call)) /* another thread has launched it meanwhile */
        return;
    s->runs = true;
    s->correlation = call->correlationId;
    if (!put_event(s, 0, id, call))
        cw_slow_forget(s);
}

void cw_slow_leave(struct cw_slow *s, CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    if (s->runs && s->correlation == call->correlationId &&
        (cw_inject_refused(call) || cw_stream_capture_is_under_way() || !put_event(s, 1, id, call)))
        cw_slow_forget(s);
}

void cw_slow_judge(struct cw_slow *s)
{
    float ms;
    if (!s->runs || !s->events[1] || cw_stream_capture_is_under_way() ||
        cw_inject->api.cuEventQuery(s->events[1]) == CUDA_ERROR_NOT_READY)
        return;
    const bool known = cw_inject->api.cuEventElapsedTime(&ms, s->events[0], s->events[1]) == CUDA_SUCCESS;
    const CUfunction kernel = s->kernel;
    const uint64_t took_ns = s->took_ns;
    cw_slow_forget(s);
    if (!kernel) /* its code is gone */
        return;
    if (!known || 1e6 * (double)ms >= (double)took_ns / 10)
        cw_kernel_note_long(kernel);
    else
        cw_kernel_note(kernel, cw_regions_has_variables(kernel) ? CW_KERNEL_WAITS : CW_KERNEL_SIGNALS);
}

void cw_slow_forget(struct cw_slow *s)
{
    for (int i = 0; i < 2; i++) {
        if (s->events[i])
            cw_inject->api.cuEventDestroy_v2(s->events[i]);
        s->events[i] = NULL;
    }
    s->runs = false;
    s->kernel = NULL;
}

void cw_slow_code_goes(struct cw_slow *s, CUmodule module)
{
    const CUmodule owner = cw_regions_module(s->kernel);
    if (!module || !owner || owner == module)
        s->kernel = NULL;
}
