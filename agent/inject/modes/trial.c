#include "agent/inject/modes/trial.h"

#include "agent/inject/driver/idle.h"
#include "agent/inject/driver/in_flight.h"
#include "agent/inject/driver/reach.h"
#include "agent/inject/driver/stream_capture.h"
#include "agent/inject/memory/kernels.h"
#include "agent/inject/modes/range.h"

static const uint64_t patience_ns = 2000000000;
#define self cw_batches

/* Whether several devices are used, which may write the same memory of the host's. */
static bool has_neighbour_device(const struct cw_collection *c)
{
    for (int i = 0; i < CW_MOST_CONTEXTS; i++) {
        const struct cw_collection *other = self->items[i].context ? cw_collection_find(self->items[i].context) : NULL;
        if (other && other->device != c->device)
            return true;
    }
    return false;
}

const char *cw_trial_begin(struct cw_collection *c, struct cw_batch *b, CUpti_CallbackId id,
                           const CUpti_CallbackData *call)
{
    CUfunction kernel = cw_inject_kernel(id, call);
    bool waits = !cw_batch_at_rest();
    if (waits)
        cw_batch_wait_for_others(c);
    bool clear = cw_batch_at_rest() && !c->running && b->context && !cw_collection_beside(c);
    const char *why = cw_reach_why()                               ? cw_reach_why()
                      : has_neighbour_device(c)                    ? cw_batch_several_devices
                      : cw_kernel_habit(kernel) == CW_KERNEL_WAITS ? cw_batch_waits_for_host
                      : cw_stream_capture_is_under_way()           ? CW_WHY_CAPTURED
                      : !clear                                     ? CW_WHY_BESIDE
                                                                   : cw_batch_save(c, b);
    if (!why && waits && !cw_shared_renew(&b->record.shared)) /* what was waited for may have written there */
        why = CW_WHY_BESIDE;
    if (why)
        return why;
    self->trial = b;
    self->disturbed = false;
    b->began_ns = cw_inject_now_ns();
    b->correlation = call->correlationId;
    cw_in_flight_hold();
    return NULL;
}

/* All passes of a launch that has run by itself and come to rest. */
static void replay_trial(struct cw_collection *c, struct cw_batch *b, CUpti_CallbackId id,
                         const CUpti_CallbackData *call)
{
    uint64_t end_ns = cw_inject_now_ns();
    if (!cw_shared_keep_after(&b->record.shared)) {
        cw_collection_skip(c, CW_WHY_TOO_MUCH_SHARED);
        return;
    }
    bool armed = cw_collection_arm(c, CUPTI_UserReplay);
    c->running = false; /* nobody else is to end it */
    if (armed && cw_collection_graph(c, id, call, call->symbolName)) {
        c->launches[0].data.start_ns = b->began_ns;
        c->launches[0].data.end_ns = end_ns;
        c->launches[0].data.replay = CW_REPLAY_BATCH;
        if (cw_batch_replay(c, b, true))
            cw_collection_deliver(c);
        else if (!cw_inject->over)
            cw_kernel_note(cw_inject_kernel(id, call), CW_KERNEL_WAITS);
        cw_shared_put_after(&b->record.shared);
    }
    cw_range_spend(end_ns);
}

void cw_trial_end(struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_batch *b = self->trial;
    bool refused = cw_inject_refused(call), rests = cw_idle_wait(c->context, patience_ns);
    CUfunction kernel = cw_inject_kernel(id, call);
    if (!cw_stream_capture_is_under_way())
        cw_kernel_note(kernel, rests ? CW_KERNEL_RESTS : CW_KERNEL_WAITS);
    bool alone = !self->disturbed && !self->in_flight[CW_BATCH_CHANGES] && !self->in_flight[CW_BATCH_READS] &&
                 cw_collection_noted_all();
    const char *why = cw_stream_capture_is_under_way() ? CW_WHY_CAPTURED
                      : !rests                         ? CW_WHY_WAITS
                      : cw_reach_why()                 ? CW_WHY_REACHED
                      : !alone || c->running           ? CW_WHY_BESIDE
                                                       : NULL;
    if (!refused && !why && !cw_inject->over)
        replay_trial(c, b, id, call);
    else if (!refused && why)
        cw_collection_skip(c, why);
    if (rests)
        cw_batch_forget(b);
    self->trial = NULL;
    cw_in_flight_release();
}
