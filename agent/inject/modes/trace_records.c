#include "agent/inject/modes/trace_records.h"

#include <stdio.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#define self cw_trace_cupti

/* Records grow with versions of CUPTI, at their end. These are in the headers of all toolkits from 12.6 on; what a
 * later version has behind them is read where both this library and the CUPTI that runs have it. */
enum { CUPTI_OF_12_8 = 26, CUPTI_OF_13_0 = CW_CUPTI_OF_CUDA_13 };

#define put cw_trace_put
#define put_text cw_trace_put_text

/* ---- words ------------------------------------------------------------------------------------------------------ */

struct words {
    const char *const *items;
    uint32_t count;
};
#define WORDS(...)                                                                                                     \
    (struct words)                                                                                                     \
    {                                                                                                                  \
        (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)                \
    }

/* The word for a value; "unknown" for one that is not in the list, or has none there. */
static void put_word(enum cw_trace_field field, struct words words, uint32_t value)
{
    put_text(field, value < words.count && words.items[value] ? words.items[value] : "unknown");
}

static void put_memory(enum cw_trace_field field, uint32_t kind)
{
    put_word(field,
             WORDS("unknown", "pageable", "pinned", "device", "array", "managed", "device_static", "managed_static"),
             kind);
}

static void put_channel(uint32_t channel, uint32_t type)
{
    put(CW_FIELD_CHANNEL, channel);
    put_word(CW_FIELD_CHANNEL_TYPE, WORDS("none", "compute", "async_memcpy", "decompression"), type);
}

/* CUPTI says 0 of what is in no graph. */
static void put_graph(uint32_t graph, uint64_t node)
{
    put(CW_FIELD_GRAPH, graph ? graph : CW_TRACE_UNKNOWN);
    put(CW_FIELD_GRAPH_NODE, node ? node : CW_TRACE_UNKNOWN);
}

/* What CUPTI did not collect it says 0 of. */
static void put_times(enum cw_trace_kind kind, uint64_t start, uint64_t end)
{
    const bool timed = start && end;
    put(CW_FIELD_START, timed ? start : 0);
    put(CW_FIELD_END, timed ? end : 0);
    if (!timed)
        atomic_fetch_add_explicit(&cw_trace_sheets->page->untimed[kind], 1, memory_order_relaxed);
}

static void put_place(uint32_t device, uint32_t context, uint32_t stream, uint32_t correlation)
{
    put(CW_FIELD_DEVICE, device);
    put(CW_FIELD_CONTEXT, context);
    put(CW_FIELD_STREAM, stream);
    put(CW_FIELD_CORRELATION, correlation);
}

static void count_direct(enum cw_trace_kind kind)
{
    atomic_fetch_add_explicit(&cw_trace_sheets->page->direct[kind], 1, memory_order_relaxed);
}

/* ---- kernels ---------------------------------------------------------------------------------------------------- */

typedef CUpti_ActivityKernel9 kernel_record;

struct shape { /* what makes a launch_shape */
    uint64_t name, local_total;
    int32_t grid[3], block[3], shared_static, shared_dynamic;
    uint32_t cluster[3], policy, most, active, local, executed;
    uint16_t registers;
    uint8_t cache, launch, carveout_asked, carveout, padding[2];
};

static void put_shape(uint32_t number, uint32_t name, const kernel_record *k)
{
    static const enum cw_trace_field grid[] = {CW_FIELD_GRID_X, CW_FIELD_GRID_Y, CW_FIELD_GRID_Z};
    static const enum cw_trace_field block[] = {CW_FIELD_BLOCK_X, CW_FIELD_BLOCK_Y, CW_FIELD_BLOCK_Z};
    static const enum cw_trace_field cluster[] = {CW_FIELD_CLUSTER_X, CW_FIELD_CLUSTER_Y, CW_FIELD_CLUSTER_Z};
    const int32_t of_grid[] = {k->gridX, k->gridY, k->gridZ}, of_block[] = {k->blockX, k->blockY, k->blockZ};
    const uint32_t of_cluster[] = {k->clusterX, k->clusterY, k->clusterZ};
    const struct words caches = WORDS("none", "shared", "l1", "equal");
    put(CW_FIELD_ID, number);
    put(CW_FIELD_NAME, name);
    for (int i = 0; i < 3; i++) {
        put(grid[i], (uint32_t)of_grid[i]);
        put(block[i], (uint32_t)of_block[i]);
        put(cluster[i], of_cluster[i]);
    }
    put(CW_FIELD_CLUSTER_POLICY, k->clusterSchedulingPolicy);
    put(CW_FIELD_MAX_CLUSTER_SIZE, k->maxPotentialClusterSize);
    put(CW_FIELD_MAX_ACTIVE_CLUSTERS, k->maxActiveClusters);
    put(CW_FIELD_REGISTERS, k->registersPerThread);
    put(CW_FIELD_STATIC_SHARED, (uint32_t)k->staticSharedMemory);
    put(CW_FIELD_DYNAMIC_SHARED, (uint32_t)k->dynamicSharedMemory);
    put(CW_FIELD_SHARED, k->sharedMemoryExecuted);
    put(CW_FIELD_LOCAL_PER_THREAD, k->localMemoryPerThread);
    put(CW_FIELD_LOCAL_TOTAL, k->localMemoryTotal_v2);
    put_word(CW_FIELD_CACHE_REQUESTED, caches, k->cacheConfig.config.requested);
    put_word(CW_FIELD_CACHE_EXECUTED, caches, k->cacheConfig.config.executed);
    put(CW_FIELD_CARVEOUT, k->isSharedMemoryCarveoutRequested ? k->sharedMemoryCarveoutRequested : CW_TRACE_UNKNOWN);
    put_word(CW_FIELD_LAUNCH, WORDS("regular", "cooperative", "cooperative_multi_device", "command_list"),
             k->launchType);
}

/* Where there is no room to say what it is, it is not known; the next launch tries again. */
static uint64_t shape_of(const kernel_record *k)
{
    struct shape shape = {.name = k->name ? XXH3_64bits(k->name, strlen(k->name)) : 0,
                          .local_total = k->localMemoryTotal_v2,
                          .grid = {k->gridX, k->gridY, k->gridZ},
                          .block = {k->blockX, k->blockY, k->blockZ},
                          .shared_static = k->staticSharedMemory,
                          .shared_dynamic = k->dynamicSharedMemory,
                          .cluster = {k->clusterX, k->clusterY, k->clusterZ},
                          .policy = k->clusterSchedulingPolicy,
                          .most = k->maxPotentialClusterSize,
                          .active = k->maxActiveClusters,
                          .local = k->localMemoryPerThread,
                          .executed = k->sharedMemoryExecuted,
                          .registers = k->registersPerThread,
                          .cache = k->cacheConfig.both,
                          .launch = k->launchType,
                          .carveout_asked = k->isSharedMemoryCarveoutRequested,
                          .carveout = k->sharedMemoryCarveoutRequested};
    const uint64_t hash = XXH3_64bits(&shape, sizeof shape);
    const uint32_t known = cw_trace_shape_find(hash);
    if (known)
        return known;
    const uint32_t name = cw_trace_text_number(k->name);
    if ((!name && k->name && *k->name) || !cw_trace_row(CW_TRACE_SHAPE))
        return CW_TRACE_UNKNOWN;
    const uint32_t number = cw_trace_shape_add(hash);
    put_shape(number, name, k);
    return number;
}

/* Whether it was launched by the GPU itself. */
static bool is_of_device(const kernel_record *k)
{
#if CUDA_VERSION >= 13000
    return self->version >= CUPTI_OF_13_0 && ((const CUpti_ActivityKernel10 *)k)->isDeviceLaunched;
#else
    return (void)k, false;
#endif
}

static void take_kernel(const CUpti_Activity *record)
{
    const kernel_record *k = (const void *)record;
    const uint64_t shape = shape_of(k);
    if (!k->graphId && !is_of_device(k))
        count_direct(CW_TRACE_KERNEL);
    if (!cw_trace_row(CW_TRACE_KERNEL))
        return;
    put_times(CW_TRACE_KERNEL, k->start, k->end);
    put_place(k->deviceId, k->contextId, k->streamId, k->correlationId);
    put(CW_FIELD_SHAPE, shape);
    put(CW_FIELD_QUEUED, k->queued);
    put(CW_FIELD_SUBMITTED, k->submitted);
    put_graph(k->graphId, k->graphNodeId);
    put_channel(k->channelID, k->channelType);
    put(CW_FIELD_DEVICE_LAUNCHED, is_of_device(k));
}

/* ---- copies, sets ----------------------------------------------------------------------------------------------- */

static void put_direction(uint32_t kind)
{
    put_word(CW_FIELD_DIRECTION,
             WORDS("unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"), kind);
}

/* Records of copies within and between GPUs have the same members, in other places. */
#define PUT_COPY(m)                                                                                                    \
    do {                                                                                                               \
        put_times(CW_TRACE_COPY, (m)->start, (m)->end);                                                                \
        put_place((m)->deviceId, (m)->contextId, (m)->streamId, (m)->correlationId);                                   \
        put(CW_FIELD_BYTES, (m)->bytes);                                                                               \
        put_direction((m)->copyKind);                                                                                  \
        put_memory(CW_FIELD_SOURCE, (m)->srcKind);                                                                     \
        put_memory(CW_FIELD_TARGET, (m)->dstKind);                                                                     \
        put(CW_FIELD_ASYNC, (m)->flags &CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC ? 1 : 0);                                     \
        put_graph((m)->graphId, (m)->graphNodeId);                                                                     \
        put_channel((m)->channelID, (m)->channelType);                                                                 \
    } while (0)

static void take_copy(const CUpti_Activity *record)
{
    const CUpti_ActivityMemcpy5 *m = (const void *)record;
    if (!cw_trace_row(CW_TRACE_COPY))
        return;
    PUT_COPY(m);
#if CUDA_VERSION >= 13000
    const CUpti_ActivityMemcpy6 *newer = (const void *)record;
    if (self->version >= CUPTI_OF_13_0) {
        put(CW_FIELD_COUNT, newer->copyCount);
        put(CW_FIELD_DEVICE_LAUNCHED, newer->isDeviceLaunched);
    }
#endif
}

static void take_peer_copy(const CUpti_Activity *record)
{
    const CUpti_ActivityMemcpyPtoP4 *m = (const void *)record;
    if (!cw_trace_row(CW_TRACE_COPY))
        return;
    PUT_COPY(m);
    put(CW_FIELD_SOURCE_DEVICE, m->srcDeviceId);
    put(CW_FIELD_TARGET_DEVICE, m->dstDeviceId);
}

static void take_set(const CUpti_Activity *record)
{
    const CUpti_ActivityMemset4 *m = (const void *)record;
    if (!cw_trace_row(CW_TRACE_MEMSET))
        return;
    put_times(CW_TRACE_MEMSET, m->start, m->end);
    put_place(m->deviceId, m->contextId, m->streamId, m->correlationId);
    put(CW_FIELD_BYTES, m->bytes);
    put(CW_FIELD_VALUE, m->value);
    put_memory(CW_FIELD_MEMORY, m->memoryKind);
    put(CW_FIELD_ASYNC, m->flags & CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC ? 1 : 0);
    put_graph(m->graphId, m->graphNodeId);
    put_channel(m->channelID, m->channelType);
}

static void take_decompression(const CUpti_Activity *record)
{
#if CUDA_VERSION >= 12080
    const CUpti_ActivityMemDecompress *m = (const void *)record;
    if (!cw_trace_row(CW_TRACE_DECOMPRESS))
        return;
    put_times(CW_TRACE_DECOMPRESS, m->start, m->end);
    put_place(m->deviceId, m->contextId, m->streamId, m->correlationId);
    put(CW_FIELD_COUNT, m->numberOfOperations);
    put(CW_FIELD_BYTES, m->sourceBytes);
    put_channel(m->channelID, m->channelType);
#else
    (void)record;
#endif
}

/* ---- calls, and events ------------------------------------------------------------------------------------------ */

static void take_internal(const CUpti_Activity *record)
{
    const CUpti_ActivityAPI *a = (const void *)record;
    if (!cw_trace_row(CW_TRACE_INTERNAL))
        return;
    put_times(CW_TRACE_INTERNAL, a->start, a->end);
    put(CW_FIELD_THREAD, a->threadId);
    put(CW_FIELD_CORRELATION, a->correlationId);
    put_text(CW_FIELD_NAME, cw_inject_call_name(a->cbid));
    put(CW_FIELD_RESULT, a->returnValue);
}

static void take_event(const CUpti_Activity *record)
{
    const CUpti_ActivityCudaEvent *e = (const void *)record;
    if (!cw_trace_row(CW_TRACE_EVENT))
        return;
    put(CW_FIELD_CONTEXT, e->contextId);
    put(CW_FIELD_STREAM, e->streamId);
    put(CW_FIELD_CORRELATION, e->correlationId);
    put(CW_FIELD_EVENT, e->eventId);
#if CUDA_VERSION >= 12080
    const CUpti_ActivityCudaEvent2 *newer = (const void *)record;
    if (self->version >= CUPTI_OF_12_8) {
        put(CW_FIELD_DEVICE, newer->deviceId);
        put(CW_FIELD_DEVICE_TIME, newer->deviceTimestamp);
        put(CW_FIELD_ID, newer->cudaEventSyncId);
    }
#endif
}

/* ---- streams ---------------------------------------------------------------------------------------------------- */

static void take_stream(const CUpti_Activity *record)
{
    const CUpti_ActivityStream *s = (const void *)record;
    if (!cw_trace_row(CW_TRACE_STREAM))
        return;
    put(CW_FIELD_STREAM, s->streamId);
    put(CW_FIELD_CONTEXT, s->contextId);
    put(CW_FIELD_PRIORITY, (uint64_t)(int64_t)(int32_t)s->priority);
    put_word(CW_FIELD_TYPE, WORDS("unknown", "default", "non_blocking", "null", NULL), s->flag);
    put(CW_FIELD_CORRELATION, s->correlationId);
}

/* ---- overhead and compiling ------------------------------------------------------------------------------------- */

static void put_object(CUpti_ActivityObjectKind kind, const CUpti_ActivityObjectKindId *id)
{
    if (kind == CUPTI_ACTIVITY_OBJECT_THREAD)
        put(CW_FIELD_THREAD, id->pt.threadId);
    if (kind < CUPTI_ACTIVITY_OBJECT_DEVICE)
        return;
    put(CW_FIELD_DEVICE, id->dcs.deviceId);
    if (kind >= CUPTI_ACTIVITY_OBJECT_CONTEXT)
        put(CW_FIELD_CONTEXT, id->dcs.contextId);
    if (kind >= CUPTI_ACTIVITY_OBJECT_STREAM)
        put(CW_FIELD_STREAM, id->dcs.streamId);
}

static void take_overhead(const CUpti_Activity *record)
{
    const CUpti_ActivityOverhead2 *o = (const void *)record;
    if (!cw_trace_row(CW_TRACE_OVERHEAD))
        return;
    put_times(CW_TRACE_OVERHEAD, o->start, o->end);
    if (o->overheadKind == CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER)
        put_text(CW_FIELD_TYPE, "driver_compiler");
    else
        put_word(CW_FIELD_TYPE,
                 WORDS("unknown", "cupti_buffer_flush", "cupti_instrumentation", "cupti_resource", "module_loading",
                       "lazy_function_loading", "command_buffer_full", "activity_buffer_request", "uvm_init"),
                 (uint32_t)o->overheadKind >> 16);
    put_object(o->objectKind, &o->objectId);
    put(CW_FIELD_CORRELATION, o->correlationId ? o->correlationId : CW_TRACE_UNKNOWN);
}

static void take_jit(const CUpti_Activity *record)
{
    const CUpti_ActivityJit *j = (const void *)record;
    if (!cw_trace_row(CW_TRACE_JIT))
        return;
    put_times(CW_TRACE_JIT, j->start, j->end);
    put_word(CW_FIELD_TYPE,
             j->jitEntryType == CUPTI_ACTIVITY_JIT_ENTRY_NVVM_IR_TO_PTX
                 ? WORDS("unknown", "nvvm_cache_load", "nvvm_cache_store", "nvvm_compile")
                 : WORDS("unknown", "ptx_cache_load", "ptx_cache_store", "ptx_compile"),
             j->jitOperationType);
    put(CW_FIELD_DEVICE, j->deviceId);
    put(CW_FIELD_CORRELATION, j->correlationId);
    put(CW_FIELD_BYTES, j->cacheSize);
    put_text(CW_FIELD_FILE, j->cachePath);
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

static void take_allocation(const CUpti_Activity *record)
{
    const CUpti_ActivityMemory3 *m = (const void *)record;
    const bool pool = m->memoryPoolConfig.memoryPoolType != CUPTI_ACTIVITY_MEMORY_POOL_TYPE_INVALID;
    if (!cw_trace_row(CW_TRACE_ALLOCATION))
        return;
    put(CW_FIELD_TIME, m->timestamp);
    put_word(CW_FIELD_TYPE, WORDS("unknown", "allocate", "free"), m->memoryOperationType);
    put_memory(CW_FIELD_MEMORY, m->memoryKind);
    put(CW_FIELD_ADDRESS, m->address);
    put(CW_FIELD_BYTES, m->bytes);
    put_place(m->deviceId, m->contextId, m->streamId == UINT32_MAX ? UINT32_MAX : m->streamId, m->correlationId);
    if (m->streamId == UINT32_MAX)
        put(CW_FIELD_STREAM, CW_TRACE_UNKNOWN);
    put(CW_FIELD_ASYNC, m->isAsync);
    if (pool) {
        put(CW_FIELD_POOL, m->memoryPoolConfig.address);
        put(CW_FIELD_POOL_USED, m->memoryPoolConfig.utilizedSize);
        if (m->memoryPoolConfig.memoryPoolType == CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL)
            put(CW_FIELD_POOL_BYTES, m->memoryPoolConfig.pool.size);
    }
    put_text(CW_FIELD_NAME, m->name);
#if CUDA_VERSION >= 12080
    if (self->version >= CUPTI_OF_12_8)
        put_text(CW_FIELD_CALLER, ((const CUpti_ActivityMemory4 *)m)->source);
#endif
}

static void take_pool(const CUpti_Activity *record)
{
    const CUpti_ActivityMemoryPool2 *p = (const void *)record;
    if (!cw_trace_row(CW_TRACE_POOL))
        return;
    put(CW_FIELD_TIME, p->timestamp);
    put_word(CW_FIELD_TYPE, WORDS("unknown", "create", "destroy", "trim"), p->memoryPoolOperationType);
    put(CW_FIELD_POOL, p->address);
    put(CW_FIELD_POOL_BYTES, p->size);
    put(CW_FIELD_POOL_USED, p->utilizedSize);
    put(CW_FIELD_POOL_THRESHOLD, p->releaseThreshold);
    put(CW_FIELD_DEVICE, p->deviceId);
    put(CW_FIELD_CORRELATION, p->correlationId);
}

static void put_processor(enum cw_trace_field field, uint32_t id)
{
    put(field, id == (uint32_t)CUPTI_UNIFIED_MEMORY_CPU_DEVICE_ID ? CW_TRACE_UNKNOWN : id);
}

static void take_unified(const CUpti_Activity *record)
{
    const CUpti_ActivityUnifiedMemoryCounter2 *u = (const void *)record;
    const struct words migrations = WORDS("unknown", "user", "coherence", "prefetch", "eviction", "access_counters"),
                       accesses = WORDS("unknown", "read", "write", "atomic", "prefetch"),
                       maps = WORDS("unknown", "coherence", "thrashing", "policy", "out_of_memory", "eviction");
    const bool of_cpu = u->counterKind == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT;
    if (!cw_trace_row(CW_TRACE_UNIFIED))
        return;
    put(CW_FIELD_START, u->start); /* a fault of the CPU has no end */
    put(CW_FIELD_END, u->end ? u->end : u->start);
    put_word(CW_FIELD_TYPE,
             WORDS("unknown", "bytes_htod", "bytes_dtoh", "cpu_page_faults", "gpu_page_faults", "thrashing",
                   "throttling", "remote_map", "bytes_dtod"),
             u->counterKind);
    put(CW_FIELD_VALUE, of_cpu ? 1 : u->value); /* of a fault of the CPU CUPTI says where the program was */
    put(CW_FIELD_ADDRESS, u->address);
    put_processor(CW_FIELD_SOURCE_DEVICE, u->srcId);
    put_processor(CW_FIELD_TARGET_DEVICE, u->dstId);
    put(CW_FIELD_STREAM, u->streamId);
    if (u->counterKind == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT)
        put_word(CW_FIELD_CAUSE, accesses, u->flags);
    else if (u->counterKind == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_REMOTE_MAP)
        put_word(CW_FIELD_CAUSE, maps, u->flags);
    else if (u->counterKind == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD ||
             u->counterKind == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH)
        put_word(CW_FIELD_CAUSE, migrations, u->flags);
}

/* ---- the device ------------------------------------------------------------------------------------------------- */

static void put_uuid(enum cw_trace_field field, const CUuuid *uuid)
{
    char text[40] = "GPU-";
    for (int i = 0; i < 16; i++)
        snprintf(text + 4 + 2 * i, 3, "%02x", (unsigned char)uuid->bytes[i]);
    put_text(field, text);
}

static void take_nvlink(const CUpti_Activity *record)
{
    const CUpti_ActivityNvLink4 *n = (const void *)record;
    if (!cw_trace_row(CW_TRACE_LINK))
        return;
    put_text(CW_FIELD_TYPE, n->nvswitchConnected ? "nvlink_switch" : "nvlink");
    if (n->typeDev0 == CUPTI_DEV_TYPE_GPU)
        put_uuid(CW_FIELD_SOURCE, &n->idDev0.uuidDev);
    if (n->typeDev1 == CUPTI_DEV_TYPE_GPU)
        put_uuid(CW_FIELD_TARGET, &n->idDev1.uuidDev);
    put(CW_FIELD_COUNT, n->physicalNvLinkCount);
    put(CW_FIELD_BANDWIDTH, n->bandwidth);
}

static void take_pcie(const CUpti_Activity *record)
{
    const CUpti_ActivityPcie *p = (const void *)record;
    char text[40];
    if (!cw_trace_row(CW_TRACE_LINK))
        return;
    put_text(CW_FIELD_TYPE, p->type == CUPTI_PCIE_DEVICE_TYPE_GPU ? "pcie_gpu" : "pcie_bridge");
    if (p->type == CUPTI_PCIE_DEVICE_TYPE_GPU)
        put_uuid(CW_FIELD_SOURCE, &p->attr.gpuAttr.uuidDev);
    else {
        snprintf(text, sizeof text, "bridge %u", p->id.bridgeId);
        put_text(CW_FIELD_SOURCE, text);
    }
    snprintf(text, sizeof text, "bus %04x:%02x", p->domain, p->upstreamBus);
    put_text(CW_FIELD_TARGET, text);
    put(CW_FIELD_PCIE_GENERATION, p->pcieGeneration);
    put(CW_FIELD_PCIE_WIDTH, p->linkWidth);
}

/* ---- graphs ----------------------------------------------------------------------------------------------------- */

static void take_graph(const CUpti_Activity *record)
{
    const CUpti_ActivityGraphTrace *g = (const void *)record;
    count_direct(CW_TRACE_GRAPH);
    if (!cw_trace_row(CW_TRACE_GRAPH))
        return;
    put_times(CW_TRACE_GRAPH, g->start, g->end);
    put_place(g->deviceId, g->contextId, g->streamId, g->correlationId);
    put(CW_FIELD_GRAPH, g->graphId);
}

static void take_device_graph(const CUpti_Activity *record)
{
    const CUpti_ActivityDeviceGraphTrace *g = (const void *)record;
    if (!cw_trace_row(CW_TRACE_DEVICE_GRAPH))
        return;
    put_times(CW_TRACE_DEVICE_GRAPH, g->start, g->end);
    put(CW_FIELD_DEVICE, g->deviceId);
    put(CW_FIELD_CONTEXT, g->contextId);
    put(CW_FIELD_STREAM, g->streamId);
    put(CW_FIELD_GRAPH, g->graphId);
    put(CW_FIELD_PARENT, g->launcherGraphId);
    put_word(CW_FIELD_TYPE, WORDS("unknown", "fire_and_forget", "tail", "sibling"), g->deviceLaunchMode);
}

/* ---- what programs and other models say ------------------------------------------------------------------------- */

static void take_external(const CUpti_Activity *record)
{
    const CUpti_ActivityExternalCorrelation *e = (const void *)record;
    if (!cw_trace_row(CW_TRACE_EXTERNAL))
        return;
    put(CW_FIELD_CORRELATION, e->correlationId);
    put_word(CW_FIELD_TYPE, WORDS("invalid", "unknown", "openacc", "custom0", "custom1", "custom2"), e->externalKind);
    put(CW_FIELD_ID, e->externalId);
}

static void take_openacc(const CUpti_Activity *record)
{
    const CUpti_ActivityOpenAcc *a = (const void *)record; /* all three begin alike */
    if (!cw_trace_row(CW_TRACE_OPENACC))
        return;
    put_times(CW_TRACE_OPENACC, a->start, a->end);
    put_word(CW_FIELD_TYPE,
             WORDS("invalid", "device_init", "device_shutdown", "runtime_shutdown", "enqueue_launch", "enqueue_upload",
                   "enqueue_download", "wait", "implicit_wait", "compute_construct", "update", "enter_data",
                   "exit_data", "create", "delete", "alloc", "free"),
             a->eventKind);
    put(CW_FIELD_THREAD, a->cuThreadId);
    put_text(CW_FIELD_NAME, a->funcName);
    put_text(CW_FIELD_FILE, a->srcFile);
    put(CW_FIELD_LINE, a->lineNo);
    put(CW_FIELD_DEVICE, a->cuDeviceId);
    put(CW_FIELD_CONTEXT, a->cuContextId);
    put(CW_FIELD_STREAM, a->cuStreamId);
    put(CW_FIELD_ID, a->externalId);
    if (a->kind == CUPTI_ACTIVITY_KIND_OPENACC_DATA)
        put(CW_FIELD_BYTES, ((const CUpti_ActivityOpenAccData *)a)->bytes);
}

static void take_openmp(const CUpti_Activity *record)
{
    const CUpti_ActivityOpenMp *o = (const void *)record;
    if (!cw_trace_row(CW_TRACE_OPENMP))
        return;
    put_times(CW_TRACE_OPENMP, o->start, o->end);
    put_word(CW_FIELD_TYPE, WORDS("invalid", "parallel", "task", "thread", "idle", "wait_barrier", "wait_taskwait"),
             o->eventKind);
    put(CW_FIELD_THREAD, o->cuThreadId);
}

/* ---- which records ---------------------------------------------------------------------------------------------- */

static const struct source {
    enum cw_trace_kind kind;
    CUpti_ActivityKind cupti;
    void (*take)(const CUpti_Activity *record);
} sources[] = {
    {CW_TRACE_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, take_kernel},
    {CW_TRACE_COPY, CUPTI_ACTIVITY_KIND_MEMCPY, take_copy},
    {CW_TRACE_COPY, CUPTI_ACTIVITY_KIND_MEMCPY2, take_peer_copy},
    {CW_TRACE_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET, take_set},
    {CW_TRACE_INTERNAL, CUPTI_ACTIVITY_KIND_INTERNAL_LAUNCH_API, take_internal},
    {CW_TRACE_EVENT, CUPTI_ACTIVITY_KIND_CUDA_EVENT, take_event},
    /* CUPTI 13.0 tells of events only where waits are recorded, and of numbers only where calls are */
    {CW_TRACE_EVENT, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, NULL},
    {CW_TRACE_EXTERNAL, CUPTI_ACTIVITY_KIND_RUNTIME, NULL},
    {CW_TRACE_EXTERNAL, CUPTI_ACTIVITY_KIND_DRIVER, NULL},
    {CW_TRACE_STREAM, CUPTI_ACTIVITY_KIND_STREAM, take_stream},
    {CW_TRACE_OVERHEAD, CUPTI_ACTIVITY_KIND_OVERHEAD, take_overhead},
    {CW_TRACE_ALLOCATION, CUPTI_ACTIVITY_KIND_MEMORY2, take_allocation},
    {CW_TRACE_POOL, CUPTI_ACTIVITY_KIND_MEMORY_POOL, take_pool},
    {CW_TRACE_UNIFIED, CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER, take_unified},
    {CW_TRACE_GRAPH, CUPTI_ACTIVITY_KIND_GRAPH_TRACE, take_graph},
    {CW_TRACE_DEVICE_GRAPH, CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE, take_device_graph},
    {CW_TRACE_JIT, CUPTI_ACTIVITY_KIND_JIT, take_jit},
    {CW_TRACE_EXTERNAL, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, take_external},
    {CW_TRACE_LINK, CUPTI_ACTIVITY_KIND_NVLINK, take_nvlink},
    {CW_TRACE_LINK, CUPTI_ACTIVITY_KIND_PCIE, take_pcie},
    {CW_TRACE_OPENACC, CUPTI_ACTIVITY_KIND_OPENACC_DATA, take_openacc},
    {CW_TRACE_OPENACC, CUPTI_ACTIVITY_KIND_OPENACC_LAUNCH, take_openacc},
    {CW_TRACE_OPENACC, CUPTI_ACTIVITY_KIND_OPENACC_OTHER, take_openacc},
    {CW_TRACE_OPENMP, CUPTI_ACTIVITY_KIND_OPENMP, take_openmp},
#if CUDA_VERSION >= 12080
    {CW_TRACE_DECOMPRESS, CUPTI_ACTIVITY_KIND_MEM_DECOMPRESS, take_decompression},
#endif
};
enum { SOURCES = sizeof sources / sizeof *sources };

void cw_trace_record_take(const CUpti_Activity *record)
{
    for (size_t i = 0; i < SOURCES; i++)
        if (sources[i].cupti == record->kind) {
            if (sources[i].take)
                sources[i].take(record);
            return;
        }
}

/* Of one device. */
static CUptiResult configure_unified(CUdevice device)
{
    CUpti_ActivityUnifiedMemoryCounterConfig config[] = {
        {.kind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD},
        {.kind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH},
        {.kind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD},
        {.kind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT},
        {.kind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT},
        {.kind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THRASHING},
        {.kind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THROTTLING},
        {.kind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_REMOTE_MAP},
    };
    const uint32_t count = sizeof config / sizeof *config;
    for (uint32_t i = 0; i < count; i++) {
        config[i].scope = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_SINGLE_DEVICE;
        config[i].deviceId = (uint32_t)device;
        config[i].enable = 1;
    }
    return cw_inject->api.cuptiActivityConfigureUnifiedMemoryCounter(config, count);
}

/* CUPTI wants to know what is to be counted before the kind is enabled: of all devices, whichever get a context later.
 * Some may lack it; CUPTI's answer where all do. */
static CUptiResult prepare_unified(void)
{
    const struct cw_cupti *api = &cw_inject->api;
    CUptiResult result = CUPTI_ERROR_NOT_SUPPORTED;
    int count = 0;
    if (self->unified)
        return CUPTI_SUCCESS;
    if (!api->cuptiActivityConfigureUnifiedMemoryCounter || !api->cuDeviceGetCount)
        return result;
    api->cuDeviceGetCount(&count);
    for (CUdevice device = 0; device < count; device++) {
        const CUptiResult r = configure_unified(device);
        self->unified = self->unified || r == CUPTI_SUCCESS;
        result = r == CUPTI_SUCCESS ? result : r;
    }
    return self->unified ? CUPTI_SUCCESS : result;
}

CUptiResult cw_trace_records_set(enum cw_trace_kind kind, bool enable)
{
    CUptiResult result = kind == CW_TRACE_UNIFIED && enable ? prepare_unified() : CUPTI_SUCCESS;
    bool any = false;
    if (result != CUPTI_SUCCESS)
        return result;
    for (size_t i = 0; i < SOURCES; i++) {
        if (sources[i].kind != kind)
            continue;
        const CUptiResult r = enable ? cw_inject->api.cuptiActivityEnable(sources[i].cupti)
                                     : cw_inject->api.cuptiActivityDisable(sources[i].cupti);
        any = any || r == CUPTI_SUCCESS;
        result = r == CUPTI_SUCCESS ? result : r;
    }
    return any ? CUPTI_SUCCESS : result; /* of several sources one is enough */
}
