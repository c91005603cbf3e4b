#define _GNU_SOURCE
#include "agent/inject/modes/trace_early.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/inject/driver/say.h"
#include "agent/inject/driver/wire.h"

static struct state {
    bool asked;                         /* CUPTI was asked */
    CUptiResult latency, device_graphs; /* its answers */
} state CW_STATE;
#define self (&state)

struct wish { /* the early setup; all zeros if there is none */
    uint64_t kinds;
    uint32_t flags; /* enum cw_trace_flag */
    struct cw_trace_device_buffers buffers;
};

static struct wish read_wish(void)
{
    struct wish w = {0};
    const char *text = cw_wire_variable(CW_AGENT_TRACE_VARIABLE);
    const int found = text ? sscanf(text, "%" SCNx64 " %" SCNx32 " %" SCNx64 " %" SCNx32 " %" SCNx32, &w.kinds,
                                    &w.flags, &w.buffers.bytes, &w.buffers.most, &w.buffers.first)
                           : 0;
    return found >= 2 ? w : (struct wish){0};
}

uint64_t cw_trace_early_kinds(void)
{
    return read_wish().kinds;
}

#define MAY(name, ...) (cw_inject->api.name ? cw_inject->api.name(__VA_ARGS__) : CUPTI_ERROR_NOT_SUPPORTED)

static bool wants_device_graphs(uint64_t kinds, uint32_t flags)
{
    return kinds & CW_TRACE_BIT(CW_TRACE_DEVICE_GRAPH) && !(flags & CW_TRACE_GRAPH_NODES);
}

/* Sets an attribute of CUPTI's buffers, unless `value` is 0. A refusal is told: CUPTI keeps its default. */
static void set_buffers(CUpti_ActivityAttribute attribute, const char *what, size_t value)
{
    const char *why = NULL;
    size_t size = sizeof value;
    const CUptiResult result = value ? MAY(cuptiActivitySetAttribute, attribute, &size, &value) : CUPTI_SUCCESS;
    if (result == CUPTI_SUCCESS)
        return;
    cw_inject->api.cuptiGetResultString(result, &why);
    cw_say("CUPTI refuses %zu as the %s of its buffers on the GPU, and keeps its default: %s", value, what,
           why ? why : "?");
}

/* Asks for the limit first, below which CUPTI takes the number of buffers to allocate. */
static void set_device_buffers(const struct cw_trace_device_buffers *b)
{
    set_buffers(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, "size", b->bytes);
    set_buffers(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT, "greatest number", b->most);
    set_buffers(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE, "first number", b->first);
}

void cw_trace_early_ask(void)
{
    const struct wish w = read_wish();
    *self = (struct state){
        .asked = w.kinds != 0, .latency = CUPTI_ERROR_NOT_SUPPORTED, .device_graphs = CUPTI_ERROR_NOT_SUPPORTED};
    if (w.flags & CW_TRACE_LATENCY)
        self->latency = MAY(cuptiActivityEnableLatencyTimestamps, 1);
#if CUDA_VERSION >= 12080
    if (wants_device_graphs(w.kinds, w.flags))
        self->device_graphs = MAY(cuptiActivityEnableDeviceGraph, 1);
#endif
    set_device_buffers(&w.buffers);
}

bool cw_trace_early_missed(void)
{
    return !self->asked;
}

const char *cw_trace_early_lacks(enum cw_trace_kind kind, uint32_t flags)
{
    const bool late = cw_trace_early_missed();
    switch (kind) {
    case CW_TRACE_KERNEL:
        return !(flags & CW_TRACE_LATENCY)      ? NULL
               : late                           ? "CUDA had begun: queue times of launches are unknown"
               : self->latency != CUPTI_SUCCESS ? "CUPTI gives no queue times of launches here"
                                                : NULL;
    case CW_TRACE_DEVICE_GRAPH:
        return flags & CW_TRACE_GRAPH_NODES           ? "it is recorded only with --graphs whole"
               : late                                 ? "CUDA had begun: CUPTI records it only if asked before"
               : self->device_graphs != CUPTI_SUCCESS ? "CUPTI does not record it here"
                                                      : NULL;
    case CW_TRACE_OPENMP:
    case CW_TRACE_OPENACC:
        return late || cw_wire->environment ? "it is recorded only for a program that the agent starts" : NULL;
    default:
        return NULL;
    }
}
