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

/* The kinds and flags (enum cw_trace_flag) of the early setup. */
static uint64_t read_wish(uint32_t *flags)
{
    uint64_t kinds;
    const char *text = cw_wire_variable(CW_AGENT_TRACE_VARIABLE);
    const bool found = text && sscanf(text, "%" SCNx64 " %" SCNx32, &kinds, flags) == 2;
    *flags = found ? *flags : 0;
    return found ? kinds : 0;
}

uint64_t cw_trace_early_kinds(void)
{
    uint32_t flags = 0;
    return read_wish(&flags);
}

#define MAY(name, ...) (cw_inject->api.name ? cw_inject->api.name(__VA_ARGS__) : CUPTI_ERROR_NOT_SUPPORTED)

static bool wants_device_graphs(uint64_t kinds, uint32_t flags)
{
    return kinds & CW_TRACE_BIT(CW_TRACE_DEVICE_GRAPH) && !(flags & CW_TRACE_GRAPH_NODES);
}

void cw_trace_early_ask(void)
{
    uint32_t flags = 0;
    const uint64_t kinds = read_wish(&flags);
    *self = (struct state){
        .asked = kinds != 0, .latency = CUPTI_ERROR_NOT_SUPPORTED, .device_graphs = CUPTI_ERROR_NOT_SUPPORTED};
    if (flags & CW_TRACE_LATENCY)
        self->latency = MAY(cuptiActivityEnableLatencyTimestamps, 1);
#if CUDA_VERSION >= 12080
    if (wants_device_graphs(kinds, flags))
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
