#include "image/trace_kinds.h"

#include <string.h>

const struct cw_trace_field_info cw_trace_fields[CW_FIELD__COUNT] = {
#define X(id, text, kind) [CW_FIELD_##id] = {.name = text, .type = CW_TRACE_##kind},
    CW_TRACE_FIELDS(X)
#undef X
};

const char *cw_trace_field_unit(enum cw_trace_field field)
{
    static const char *const units[CW_FIELD__COUNT] = {
        [CW_FIELD_SM_CLOCK] = "MHz",   [CW_FIELD_MEMORY_CLOCK] = "MHz", [CW_FIELD_TEMPERATURE] = "degC",
        [CW_FIELD_POWER] = "mW",       [CW_FIELD_POWER_LIMIT] = "mW",   [CW_FIELD_FAN] = "percent",
        [CW_FIELD_BANDWIDTH] = "kB/s", [CW_FIELD_CARVEOUT] = "percent", [CW_FIELD_WINDOW_RATIO] = "1",
        [CW_FIELD_PCIE_RATE] = "1e9/s"};
    return cw_trace_fields[field].type == CW_TRACE_BYTES ? "bytes" : units[field];
}

uint64_t cw_trace_unknown(enum cw_trace_type type)
{
    return type == CW_TRACE_TIME || type == CW_TRACE_TEXT ? 0
           : type == CW_TRACE_SIGNED                      ? CW_TRACE_SIGNED_UNKNOWN
                                                          : CW_TRACE_UNKNOWN;
}

#define COUNT_OF(...) (sizeof((const uint8_t[]){__VA_ARGS__}))
#define KIND(id, text, ...) [CW_TRACE_##id] = {text, COUNT_OF(__VA_ARGS__), {__VA_ARGS__}}
#define F(id) CW_FIELD_##id

/* Start and end, device, context, stream, correlation: fields of everything that runs on a GPU. */
#define ON_GPU F(START), F(END), F(DEVICE), F(CONTEXT), F(STREAM), F(CORRELATION)
#define OF_GRAPH F(GRAPH), F(GRAPH_NODE), F(CHANNEL), F(CHANNEL_TYPE), F(DEVICE_LAUNCHED)
#define CALL                                                                                                           \
    F(START), F(END), F(THREAD), F(CORRELATION), F(NAME), F(RESULT), F(BYTES), F(ADDRESS), F(SOURCE_ADDRESS),          \
        F(STREAM), F(EVENT_HANDLE)
#define NVTX                                                                                                           \
    F(DOMAIN), F(NAME), F(CATEGORY), F(COLOR), F(PAYLOAD), F(UNSIGNED_PAYLOAD), F(REAL_PAYLOAD), F(PAYLOAD_TEXT)

const struct cw_trace_kind_info cw_trace_kinds[CW_TRACE_KIND__COUNT] = {
    KIND(KERNEL, "kernel", ON_GPU, F(SHAPE), F(QUEUED), F(SUBMITTED), OF_GRAPH, F(GRID_ID), F(COMPLETED)),
    KIND(SHAPE, "launch_shape", F(ID), F(NAME), F(GRID_X), F(GRID_Y), F(GRID_Z), F(BLOCK_X), F(BLOCK_Y), F(BLOCK_Z),
         F(CLUSTER_X), F(CLUSTER_Y), F(CLUSTER_Z), F(CLUSTER_POLICY), F(MAX_CLUSTER_SIZE), F(MAX_ACTIVE_CLUSTERS),
         F(REGISTERS), F(STATIC_SHARED), F(DYNAMIC_SHARED), F(SHARED), F(LOCAL_PER_THREAD), F(LOCAL_TOTAL),
         F(CACHE_REQUESTED), F(CACHE_EXECUTED), F(CARVEOUT), F(LAUNCH), F(WINDOW_BYTES), F(WINDOW_RATIO), F(WINDOW_HIT),
         F(WINDOW_MISS), F(SHARED_CONFIG), F(SHARED_OPTIN)),
    KIND(COPY, "copy", ON_GPU, F(BYTES), F(COUNT), F(DIRECTION), F(SOURCE), F(TARGET), F(SOURCE_DEVICE),
         F(TARGET_DEVICE), F(SOURCE_CONTEXT), F(TARGET_CONTEXT), F(ASYNC), OF_GRAPH, F(RUNTIME_CORRELATION)),
    KIND(MEMSET, "memset", ON_GPU, F(BYTES), F(VALUE), F(MEMORY), F(ASYNC), OF_GRAPH),
    KIND(DRIVER, "driver", CALL, F(PARENT)),
    KIND(RUNTIME, "runtime", CALL),
    KIND(INTERNAL, "internal_launch", F(START), F(END), F(THREAD), F(CORRELATION), F(NAME), F(RESULT)),
    KIND(SYNC, "synchronization", F(START), F(END), F(TYPE), F(CONTEXT), F(STREAM), F(CORRELATION), F(EVENT), F(ID),
         F(RESULT)),
    KIND(EVENT, "cuda_event", F(ID), F(DEVICE), F(CONTEXT), F(STREAM), F(CORRELATION), F(EVENT), F(DEVICE_TIME)),
    KIND(STREAM, "stream", F(STREAM), F(CONTEXT), F(PRIORITY), F(TYPE), F(CORRELATION)),
    KIND(CONTEXT, "context", F(CONTEXT), F(DEVICE), F(NULL_STREAM), F(PARENT), F(TYPE), F(MULTIPROCESSORS)),
    KIND(NVTX_RANGE, "nvtx_range", F(START), F(END), F(THREAD), F(END_THREAD), F(TYPE), NVTX),
    KIND(NVTX_MARK, "nvtx_mark", F(TIME), F(THREAD), NVTX),
    KIND(NAME, "name", F(TIME), F(TYPE), F(ID), F(CONTEXT), F(NAME)),
    KIND(OVERHEAD, "overhead", F(START), F(END), F(TYPE), F(THREAD), F(CORRELATION), F(DEVICE), F(CONTEXT), F(STREAM),
         F(CHANNEL), F(CHANNEL_TYPE), F(COMMAND_BUFFER)),
    KIND(ALLOCATION, "memory", F(TIME), F(TYPE), F(MEMORY), F(ADDRESS), F(BYTES), F(DEVICE), F(CONTEXT), F(STREAM),
         F(CORRELATION), F(ASYNC), F(POOL), F(POOL_BYTES), F(POOL_USED), F(NAME), F(CALLER), F(POOL_TYPE),
         F(POOL_THRESHOLD), F(PC), F(POOL_PROCESS)),
    KIND(POOL, "memory_pool", F(TIME), F(TYPE), F(POOL), F(POOL_BYTES), F(POOL_USED), F(POOL_THRESHOLD), F(DEVICE),
         F(CORRELATION), F(POOL_TYPE), F(POOL_MANAGED), F(POOL_KEPT)),
    KIND(UNIFIED, "unified_memory", F(START), F(END), F(TYPE), F(VALUE), F(ADDRESS), F(SOURCE_DEVICE), F(TARGET_DEVICE),
         F(CAUSE), F(DEVICES), F(PC), F(ON_CPU)),
    KIND(ENVIRONMENT, "environment", F(TIME), F(DEVICE), F(SM_CLOCK), F(MEMORY_CLOCK), F(THROTTLE), F(TEMPERATURE),
         F(POWER), F(POWER_LIMIT), F(FAN), F(PCIE_GENERATION), F(PCIE_WIDTH)),
    KIND(GRAPH, "graph_launch", ON_GPU, F(GRAPH), F(END_DEVICE), F(END_CONTEXT)),
    KIND(DEVICE_GRAPH, "device_graph_launch", F(START), F(END), F(DEVICE), F(CONTEXT), F(GRAPH), F(PARENT), F(TYPE)),
    KIND(JIT, "jit", F(START), F(END), F(TYPE), F(THREAD), F(DEVICE), F(CORRELATION), F(FILE)),
    KIND(MODULE, "module", F(TIME), F(TYPE), F(ID), F(CONTEXT), F(BYTES)),
    KIND(EXTERNAL, "external_correlation", F(CORRELATION), F(TYPE), F(ID)),
    KIND(LINK, "link", F(TYPE), F(SOURCE), F(TARGET), F(COUNT), F(PCIE_GENERATION), F(PCIE_WIDTH), F(BANDWIDTH),
         F(SOURCE_PORTS), F(TARGET_PORTS), F(PEERS), F(LINK_ACCESS), F(NVLINK_VERSION), F(PCIE_RATE), F(PCI_VENDOR),
         F(PCI_DEVICE), F(SECONDARY_BUS)),
    KIND(OPENACC, "openacc", F(START), F(END), F(TYPE), F(THREAD), F(NAME), F(FILE), F(LINE), F(BYTES), F(DEVICE),
         F(CONTEXT)),
    KIND(OPENMP, "openmp", F(START), F(END), F(TYPE), F(THREAD), F(COUNT)),
    KIND(DECOMPRESS, "memory_decompression", ON_GPU, F(COUNT), F(BYTES), F(CHANNEL), F(CHANNEL_TYPE)),
    KIND(GRAPH_MADE, "graph", F(TIME), F(TYPE), F(GRAPH), F(PARENT)),
    KIND(NODE, "graph_node", F(TIME), F(TYPE), F(GRAPH), F(GRAPH_NODE), F(NAME)),
    KIND(EDGE, "graph_edge", F(TIME), F(GRAPH), F(GRAPH_NODE), F(DEPENDS_ON)),
    KIND(WINDOW, "window", F(START), F(END), F(NAME)),
    KIND(ACCOUNT, "account", F(TIME), F(TYPE), F(LAUNCHED), F(RECORDED), F(DROPPED), F(UNTIMED), F(NOTE)),
};

enum cw_trace_field cw_trace_field_find(const char *name)
{
    enum cw_trace_field f = 0;
    while (f < CW_FIELD__COUNT && strcmp(cw_trace_fields[f].name, name) != 0)
        f++;
    return f;
}

enum cw_trace_kind cw_trace_kind_find(const char *name)
{
    enum cw_trace_kind k = 0;
    while (k < CW_TRACE_KIND__COUNT && strcmp(cw_trace_kinds[k].name, name) != 0)
        k++;
    return k;
}
