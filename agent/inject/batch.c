/* Every kernel launch is a range of its own, and launches are replayed together: the first pass is the program's own
 * run of them; at the first call that they cannot be done again behind, device memory is put back and everything is
 * done again, once for each further pass. Setting a pass up is what costs, and a batch pays for it once.
 *
 * The program sees the results of the first pass when it reads, and of the last in later kernels. A launch that cannot
 * be done again is collected alone, by CUPTI's kernel replay. */
#include "agent/inject/checkpoint.h"
#include "agent/inject/collection.h"
#include "agent/inject/record.h"

enum { MOST_BATCHES = 64 };
static const uint64_t longest_ns = 5000000000; /* of a batch, so that a program that is killed takes little with it */
static const uint64_t patience_ns = 2000000000;

static struct batch {
    CUcontext context; /* NULL: no batch is open */
    struct cw_record record;
    struct cw_checkpoint checkpoint;
} batches[MOST_BATCHES];

static bool able;          /* to replay batches; else each launch alone */
static uint32_t in_flight; /* calls of other threads that have entered and not left */

static struct batch *find(CUcontext context)
{
    for (int i = 0; i < MOST_BATCHES; i++)
        if (batches[i].context == context)
            return &batches[i];
    return NULL;
}

static bool setup(struct cw_reader *in)
{
    able = cw_record_init() && cw_checkpoint_init();
    return cw_collection_setup(in);
}

/* ---- passes ----------------------------------------------------------------------------------------------------- */

static bool stop(struct cw_collection *c, bool *more)
{
    PARAMS(CUpti_RangeProfiler_Stop_Params, params);
    params.pRangeProfilerObject = c->object;
    if (!CALL(cuptiRangeProfilerStop, params))
        return false;
    *more = !params.isAllPassSubmitted;
    return true;
}

static bool start(struct cw_collection *c)
{
    PARAMS(CUpti_RangeProfiler_Start_Params, params);
    params.pRangeProfilerObject = c->object;
    return CALL(cuptiRangeProfilerStart, params);
}

/* The passes after the program's own. Memory is as the program expects it behind each of them, also after a failure. */
static bool replay(struct cw_collection *c, struct batch *b)
{
    bool more = false, done = stop(c, &more);
    while (done && more) {
        bool restored = cw_checkpoint_restore(&b->checkpoint), started = restored && start(c);
        bool played = restored && cw_record_play(&b->record);
        done = started && played && stop(c, &more);
        if (!played)
            cw_inject_fail(CW_ERR_DEVICE, "a batch of %u launches could not be replayed: %s", c->count,
                           restored ? "a launch failed" : "device memory was not restored");
    }
    return done;
}

static void close_batch(struct cw_collection *c)
{
    struct batch *b = c ? find(c->context) : NULL;
    if (!b || !c->running)
        return;
    /* a copy to the host that is under way still wants this memory; a call that waits for ever does not */
    for (uint64_t until = cw_inject_now_ns() + patience_ns; (in_flight || c->pending) && cw_inject_now_ns() < until;)
        cw_inject_wait();
    c->running = false;
    if (replay(c, b))
        cw_collection_deliver(c);
    cw_checkpoint_free(&b->checkpoint);
    cw_record_clear(&b->record);
    b->context = NULL;
}

static bool open_batch(struct cw_collection *c)
{
    struct batch *b = find(NULL);
    if (!able || !b)
        return false;
    if (!cw_checkpoint_save(&b->checkpoint, c->context)) {
        able = false;
        return false;
    }
    if (!cw_collection_arm(c, CUPTI_UserReplay)) {
        cw_checkpoint_free(&b->checkpoint);
        return false;
    }
    b->context = c->context;
    return true;
}

/* ---- what happens ----------------------------------------------------------------------------------------------- */

static void context_created(CUcontext context, uint32_t device)
{
    cw_collection_open(context, device);
}

static void context_destroyed(CUcontext context)
{
    struct cw_collection *c = cw_collection_find(context);
    if (!c)
        return;
    close_batch(c);
    cw_collection_close(c);
}

static void launch_entered(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_collection *c = cw_collection_find(call->context);
    struct cw_launch shape;
    if (!c || !cw_inject_launch_shape(&shape, id, call->functionParams) || cw_inject_launch_captured(&shape))
        return;
    while (c->pending) /* one launch after another, so that every pass has the same order */
        cw_inject_wait();
    if (c->count == cw_collection_at_once() || (c->running && cw_inject_now_ns() - c->armed_ns > longest_ns))
        close_batch(c);
    struct batch *b = c->running || open_batch(c) ? find(c->context) : NULL;
    if (b && !cw_record_add(&b->record, id, call)) {
        close_batch(c);
        b = NULL;
    }
    if (!cw_inject.over && (b || cw_collection_arm(c, CUPTI_KernelReplay)))
        cw_collection_launch(c, id, call);
}

static void launch_left(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    (void)id;
    struct cw_collection *c = cw_collection_find(call->context);
    if (!c || !c->running)
        return;
    cw_collection_launched(c, call);
    if (!find(c->context))
        cw_collection_flush(c);
}

static void call_entered(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_collection *c = cw_collection_find(call->context);
    enum cw_effect effect = cw_record_effect(id);
    struct batch *b = c && c->running ? find(c->context) : NULL;
    if (b && (effect == CW_EFFECT_END || (effect == CW_EFFECT_RECORD && !cw_record_add(&b->record, id, call))))
        close_batch(c);
    in_flight++;
}

static void call_left(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    (void)id;
    (void)call;
    in_flight -= in_flight > 0;
}

static void finish(void)
{
    cw_collection_each(close_batch);
}

const struct cw_inject_mode cw_inject_batch = {setup,       context_created, context_destroyed, launch_entered,
                                               launch_left, finish,          call_entered,      call_left};
