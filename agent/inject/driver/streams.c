#include "agent/inject/driver/streams.h"

static struct {
    uint32_t made;        /* number of existing streams */
    bool free;            /* one of them does not wait for the legacy stream */
    bool legacy, other;   /* there were launches on the legacy stream; on others */
    uint64_t thread;      /* the thread that launched on a per-thread stream; 0: none */
    bool of_more_threads; /* several threads have */
} state CW_STATE;
#define self (&state)

static enum kind { NOTHING, MAKES, MAKES_GREEN, DESTROYS } kind_of(CUpti_CallbackId id)
{
    switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuStreamCreate:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamCreateWithPriority:
        return MAKES;
    case CUPTI_DRIVER_TRACE_CBID_cuGreenCtxStreamCreate:
        return MAKES_GREEN;
    case CUPTI_DRIVER_TRACE_CBID_cuStreamDestroy:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamDestroy_v2:
        return DESTROYS;
    default:
        return NOTHING;
    }
}

bool cw_streams_follows(CUpti_CallbackId id)
{
    return kind_of(id) != NOTHING;
}

static void note_launch(CUstream stream)
{
    const uint64_t thread = stream == CU_STREAM_PER_THREAD ? cw_inject_thread() : 0;
    if (stream && stream != CU_STREAM_LEGACY)
        self->other = true;
    else
        self->legacy = true;
    self->of_more_threads = self->of_more_threads || (thread && self->thread && self->thread != thread);
    self->thread = thread ? thread : self->thread;
}

void cw_streams_follow(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    const enum kind kind = kind_of(id);
    const bool left = call->callbackSite == CUPTI_API_EXIT;
    const cuStreamCreate_params *made = call->functionParams; /* cuStreamCreateWithPriority begins likewise */
    struct cw_driver_launch launch;
    if (kind == NOTHING && !left && cw_inject_launch(&launch, id, call))
        note_launch(cw_inject_stream(id, launch.config.hStream));
    if (kind == NOTHING || !left || cw_inject_refused(call))
        return;
    if (kind == DESTROYS)
        self->made -= self->made > 0;
    else
        self->made++;
    if (kind == MAKES_GREEN || (kind == MAKES && made->Flags & CU_STREAM_NON_BLOCKING))
        self->free = true;
}

bool cw_streams_overlap(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_driver_launch launch;
    if (!cw_inject_launch(&launch, id, call))
        return false;
    const CUstream stream = cw_inject_stream(id, launch.config.hStream);
    if (stream == CU_STREAM_PER_THREAD)
        return self->of_more_threads || self->made;
    if (!stream || stream == CU_STREAM_LEGACY)
        return self->other && self->free;
    return self->made > 1 || self->thread || (self->free && self->legacy);
}

void cw_streams_forget(void)
{
    memset(self, 0, sizeof *self);
}
