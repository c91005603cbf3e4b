/* Every kernel launch of the first context of each device is a range of its own, by CUPTI's kernel replay. */
#include "agent/inject/collection.h"

static void context_created(CUcontext context, uint32_t device)
{
    struct cw_collection *c = cw_collection_open(context, device);
    if (c)
        cw_collection_arm(c, CUPTI_KernelReplay);
}

static void context_destroyed(CUcontext context)
{
    struct cw_collection *c = cw_collection_find(context);
    if (!c)
        return;
    cw_collection_flush(c);
    cw_collection_close(c);
}

static void launch_entered(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_collection *c = cw_collection_find(call->context);
    if (c && c->running && cw_inject_launch_runs(id, call))
        cw_collection_launch_replayed(c, id, call);
}

static void launch_left(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    (void)id;
    struct cw_collection *c = cw_collection_find(call->context);
    if (c && c->running)
        cw_collection_launched(c, call);
}

static void finish(void)
{
    cw_collection_each(cw_collection_flush);
}

const struct cw_inject_mode cw_inject_range = {.setup = cw_collection_setup,
                                               .context_created = context_created,
                                               .context_destroyed = context_destroyed,
                                               .launch_entered = launch_entered,
                                               .launch_left = launch_left,
                                               .finish = finish};
