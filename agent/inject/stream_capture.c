#include "agent/inject/stream_capture.h"

enum { MOST_CAPTURES = 256 };

static struct capture {
    CUcontext context;
    CUstream stream;
} captures[MOST_CAPTURES];
static uint32_t count;

/* The parameters of all of them begin with the stream. */
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

static void add(CUcontext context, CUstream stream)
{
    if (count < MOST_CAPTURES)
        captures[count++] = (struct capture){context, stream};
    else
        cw_inject_fail(CW_ERR_UNSUPPORTED, "found more than %d streams that are captured into graphs at a time",
                       MOST_CAPTURES);
}

static void drop(CUcontext context, CUstream stream)
{
    for (uint32_t i = 0; i < count; i++)
        if (captures[i].context == context && captures[i].stream == stream) {
            captures[i] = captures[--count];
            return;
        }
}

void cw_stream_capture_follow(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    enum kind kind = kind_of(id);
    if (kind == NOTHING)
        return;
    CUstream stream = cw_inject_stream(id, *(const CUstream *)call->functionParams);
    bool left = call->callbackSite == CUPTI_API_EXIT;
    if (kind == BEGINS && !left)
        add(call->context, stream);
    else if (kind == DESTROYS && !left)
        drop(call->context, stream);
    else if ((kind == BEGINS && left && cw_inject_refused(call)) ||
             (kind == ENDS && left && !cw_stream_is_captured(stream)))
        drop(call->context, stream);
}

bool cw_stream_capture_is_under_way(CUcontext context)
{
    for (uint32_t i = 0; i < count; i++)
        if (captures[i].context == context)
            return true;
    return false;
}

bool cw_stream_is_captured(CUstream stream)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    return cw_inject.api.cuStreamIsCapturing(stream, &status) == CUDA_SUCCESS &&
           status != CU_STREAM_CAPTURE_STATUS_NONE;
}

bool cw_stream_runs_launch(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_launch launch;
    return cw_inject_launch_shape(&launch, id, call->functionParams) &&
           !cw_stream_is_captured(cw_inject_stream(id, (CUstream)(uintptr_t)launch.stream));
}
