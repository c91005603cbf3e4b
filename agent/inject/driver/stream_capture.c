#include "agent/inject/driver/stream_capture.h"

enum { CW_MOST_STREAM_CAPTURES = 256 };
struct capture {
    CUcontext context; /* current context at its beginning */
    CUstream stream;
    uint64_t thread; /* for a stream that is different in each thread */
};

static struct {
    struct capture items[CW_MOST_STREAM_CAPTURES];
    _Atomic uint32_t count; /* also read without the lock */
} state CW_STATE;
#define self (&state)

/* All these calls have the stream as first parameter. */
static enum kind { NOTHING, BEGINS, ENDS, DESTROYS } kind_of(CUpti_CallbackId id)
{
    switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_ptsz:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2_ptsz:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph_ptsz:
        return BEGINS;
    case CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz:
        return ENDS;
    case CUPTI_DRIVER_TRACE_CBID_cuStreamDestroy:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamDestroy_v2:
        return DESTROYS;
    default:
        return NOTHING;
    }
}

bool cw_stream_capture_follows(CUpti_CallbackId id)
{
    return kind_of(id) != NOTHING;
}

bool cw_stream_capture_begins(CUpti_CallbackId id)
{
    return kind_of(id) == BEGINS;
}

static struct capture capture_of(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    CUstream stream = cw_inject_stream(id, *(const CUstream *)call->functionParams);
    return (struct capture){call->context, stream, stream == CU_STREAM_PER_THREAD ? cw_inject_thread() : 0};
}

static void add(struct capture new)
{
    if (self->count < CW_MOST_STREAM_CAPTURES)
        self->items[self->count++] = new;
    else
        cw_inject_fail(CW_ERR_UNSUPPORTED, "found more than %d streams that are captured into graphs at a time",
                       CW_MOST_STREAM_CAPTURES);
}

static void drop(struct capture old)
{
    for (uint32_t i = 0; i < self->count; i++)
        if (self->items[i].stream == old.stream && self->items[i].thread == old.thread) {
            self->items[i] = self->items[--self->count];
            return;
        }
}

void cw_stream_capture_forget(CUcontext context)
{
    for (uint32_t i = self->count; i-- > 0;)
        if (self->items[i].context == context)
            self->items[i] = self->items[--self->count];
}

static bool is_captured(CUstream stream)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    return cw_inject->api.cuStreamIsCapturing(stream, &status) == CUDA_SUCCESS &&
           status != CU_STREAM_CAPTURE_STATUS_NONE;
}

/* Whether the capture has ended; an end that the driver refused may count. */
static bool ended(enum kind kind, struct capture c, bool refused)
{
    return kind == ENDS ? !refused || !is_captured(c.stream) : refused == (kind == BEGINS);
}

void cw_stream_capture_follow(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    enum kind kind = kind_of(id);
    if (kind == NOTHING)
        return;
    struct capture c = capture_of(id, call);
    if (call->callbackSite == CUPTI_API_EXIT && ended(kind, c, cw_inject_refused(call)))
        drop(c);
    else if (call->callbackSite == CUPTI_API_ENTER && kind == BEGINS)
        add(c);
}

bool cw_stream_capture_is_under_way(void)
{
    return self->count > 0;
}

bool cw_stream_runs_launch(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_driver_launch launch;
    return cw_inject_launch(&launch, id, call) &&
           (!self->count || !is_captured(cw_inject_stream(id, launch.config.hStream)));
}
