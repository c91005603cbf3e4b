#define _GNU_SOURCE
#include "agent/inject/modes/trace_early.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/inject/driver/wire.h"

static struct state {
    bool asked;                         /* CUPTI was asked */
    CUptiResult latency, device_graphs; /* its answers */
} state CW_STATE;
#define self (&state)

struct cw_trace_early_wish cw_trace_early_wish(void)
{
    struct cw_trace_early_wish wish = {0};
    const char *text = cw_wire_variable(CW_AGENT_TRACE_VARIABLE);
    if (!text || sscanf(text, "%" SCNx64 " %" SCNx32, &wish.kinds, &wish.flags) != 2)
        return (struct cw_trace_early_wish){0};
    return wish;
}

#define MAY(name, ...) (cw_inject->api.name ? cw_inject->api.name(__VA_ARGS__) : CUPTI_ERROR_NOT_SUPPORTED)

static bool wants_device_graphs(uint64_t kinds, uint32_t flags)
{
    return kinds & CW_TRACE_BIT(CW_TRACE_DEVICE_GRAPH) && !(flags & CW_TRACE_GRAPH_NODES);
}

void cw_trace_early_ask(void)
{
    const struct cw_trace_early_wish wish = cw_trace_early_wish();
    *self = (struct state){
        .asked = wish.kinds != 0, .latency = CUPTI_ERROR_NOT_SUPPORTED, .device_graphs = CUPTI_ERROR_NOT_SUPPORTED};
    if (wish.flags & CW_TRACE_LATENCY)
        self->latency = MAY(cuptiActivityEnableLatencyTimestamps, 1);
#if CUDA_VERSION >= 12080
    if (wants_device_graphs(wish.kinds, wish.flags))
        self->device_graphs = MAY(cuptiActivityEnableDeviceGraph, 1);
#endif
}

const char *cw_trace_early_lacks(enum cw_trace_kind kind, uint32_t flags)
{
    const bool late = !self->asked;
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
