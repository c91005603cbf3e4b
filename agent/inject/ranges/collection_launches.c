/* Launches and ranges of a collection, until their counter data is sent. */
#define _GNU_SOURCE
#include <stdlib.h>

#include "agent/inject/driver/kernel_facts.h"
#include "agent/inject/ranges/collection.h"
#include "agent/inject/ranges/gate.h"
#include "agent/inject/ranges/user_ranges.h"

void cw_collection_forget(struct cw_collection *c)
{
    for (uint32_t i = 0; i < c->count; i++) {
        free(c->launches[i].kernel);
        free(c->launches[i].nvtx);
    }
    c->count = c->pending = 0;
}

static void note(struct cw_collection *c, struct cw_seen_launch *l, const char *kernel, uint64_t range)
{
    l->kernel = strdup(kernel);
    l->nvtx = cw_user_ranges_path(range);
    l->data.kernel = l->kernel ? l->kernel : "";
    l->data.nvtx = l->nvtx ? l->nvtx : "";
    l->data.context = cw_inject_context_id(c->context);
    l->data.period = cw_gate_period();
    l->data.start_ns = cw_inject_now_ns();
    c->launches[c->count++] = *l;
}

bool cw_collection_range(struct cw_collection *c, const struct cw_open_range *range)
{
    struct cw_seen_launch l = {.data.user = true};
    if (c->count == cw_collections->at_once)
        return false;
    cw_facts_forget(l.data.facts);
    note(c, &l, "", range->id);
    return true;
}

void cw_collection_note_kernel(struct cw_collection *c, const struct cw_driver_launch *launch, uint64_t stream,
                               uint32_t correlation, const char *name)
{
    const CUlaunchConfig *config = &launch->config;
    struct cw_seen_launch l = {.correlation = correlation,
                               .data = {.grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
                                        .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
                                        .stream = stream,
                                        .graphs = launch->graph}};
    cw_kernel_facts_get(launch, l.data.facts);
    note(c, &l, name ? name : "", 0);
}

bool cw_collection_note(struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call, const char *name)
{
    struct cw_driver_launch launch;
    if (c->count == cw_collections->at_once || !cw_inject_launch(&launch, id, call))
        return false;
    cw_collection_note_kernel(c, &launch, cw_inject_stream_id(id, c->context, launch.config.hStream),
                              call->correlationId, name);
    return true;
}

void cw_collection_inside(struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_seen_launch *range = &c->launches[c->count - 1];
    struct cw_driver_launch launch;
    double facts[CW_FACT__COUNT];
    if (!cw_inject_launch(&launch, id, call))
        return;
    cw_kernel_facts_get(&launch, facts);
    cw_facts_join(range->data.facts, facts, !range->kernels++);
    range->data.graphs += launch.graph;
}

bool cw_collection_launch(struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call,
                          const char *name)
{
    bool noted = cw_collection_note(c, id, call, name);
    c->pending += noted;
    return noted;
}

bool cw_collection_pushes(const struct cw_collection *c)
{
    return c->range == CUPTI_UserRange && c->kind != CW_COLLECT_USER;
}

bool cw_collection_launched(struct cw_collection *c, const CUpti_CallbackData *data)
{
    uint32_t i = c->count;
    while (i > 0 && c->launches[i - 1].correlation != data->correlationId)
        i--;
    if (i-- == 0 || c->launches[i].data.end_ns)
        return false;
    c->pending--;
    c->launches[i].data.end_ns = cw_inject_now_ns();
    bool refused = cw_inject_refused(data);
    c->launches[i].data.unwanted |= refused;
    if (refused && !cw_collection_pushes(c)) { /* CUPTI did not see it */
        free(c->launches[i].kernel);
        free(c->launches[i].nvtx);
        memmove(&c->launches[i], &c->launches[i + 1], (--c->count - i) * sizeof *c->launches);
    }
    return true;
}
