#include "agent/inject/modes/trace_records.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "agent/inject/modes/trace_calls.h"
#include "agent/inject/modes/trace_early.h"
#include "agent/inject/modes/trace_sift.h"

#define self cw_trace_cupti
#define put cw_trace_put
#define put_text cw_trace_put_text

/* ---- kernels ---------------------------------------------------------------------------------------------------- */

typedef CUpti_ActivityKernel9 kernel_record;

struct shape { /* data that identifies a launch_shape */
    uint64_t name, local_total, window_bytes;
    float window_ratio;
    int32_t grid[3], block[3], shared_static, shared_dynamic;
    uint32_t cluster[3], policy, most, active, local, executed;
    uint16_t registers;
    uint8_t cache, launch, carveout_asked, carveout, window_hit, window_miss, shared_config, shared_optin, padding[2];
};
_Static_assert(offsetof(struct shape, padding) + sizeof((struct shape){0}.padding) == sizeof(struct shape),
               "its bytes are compared: none may be without a value");

/* The window of a launch, all zeros if it has none. CUPTI has windows with --launch-attributes alone. */
static CUaccessPolicyWindow window_of(const kernel_record *k)
{
    const bool known = k->pAccessPolicyWindow && self->attributes;
    return known ? *k->pAccessPolicyWindow : (CUaccessPolicyWindow){0};
}

static void put_window(const CUaccessPolicyWindow *w)
{
    const struct cw_trace_words properties = CW_TRACE_WORDS("normal", "streaming", "persisting");
    const union {
        double real;
        uint64_t bits;
    } ratio = {w->hitRatio};
    if (!w->num_bytes)
        return;
    put(CW_FIELD_WINDOW_BYTES, w->num_bytes);
    put(CW_FIELD_WINDOW_RATIO, ratio.bits);
    cw_trace_put_word(CW_FIELD_WINDOW_HIT, properties, w->hitProp);
    cw_trace_put_word(CW_FIELD_WINDOW_MISS, properties, w->missProp);
}

/* Whether the program raised the limit of dynamic shared memory for the kernel. */
static bool is_opted_in(const kernel_record *k)
{
    return k->shmemLimitConfig == CUPTI_FUNC_SHMEM_LIMIT_OPTIN;
}

static void put_shape(uint32_t number, uint32_t name, const kernel_record *k, const CUaccessPolicyWindow *window)
{
    static const enum cw_trace_field grid[] = {CW_FIELD_GRID_X, CW_FIELD_GRID_Y, CW_FIELD_GRID_Z};
    static const enum cw_trace_field block[] = {CW_FIELD_BLOCK_X, CW_FIELD_BLOCK_Y, CW_FIELD_BLOCK_Z};
    static const enum cw_trace_field cluster[] = {CW_FIELD_CLUSTER_X, CW_FIELD_CLUSTER_Y, CW_FIELD_CLUSTER_Z};
    const int32_t of_grid[] = {k->gridX, k->gridY, k->gridZ}, of_block[] = {k->blockX, k->blockY, k->blockZ};
    const uint32_t of_cluster[] = {k->clusterX, k->clusterY, k->clusterZ};
    const struct cw_trace_words caches = CW_TRACE_WORDS("none", "shared", "l1", "equal");
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
    cw_trace_put_word(CW_FIELD_CACHE_REQUESTED, caches, k->cacheConfig.config.requested);
    cw_trace_put_word(CW_FIELD_CACHE_EXECUTED, caches, k->cacheConfig.config.executed);
    put(CW_FIELD_CARVEOUT, k->isSharedMemoryCarveoutRequested ? k->sharedMemoryCarveoutRequested : CW_TRACE_UNKNOWN);
    cw_trace_put_word(CW_FIELD_LAUNCH,
                      CW_TRACE_WORDS("regular", "cooperative", "cooperative_multi_device", "command_list"),
                      k->launchType);
    cw_trace_put_word(CW_FIELD_SHARED_CONFIG, CW_TRACE_WORDS("default", "four_bytes", "eight_bytes"),
                      k->sharedMemoryConfig);
    put(CW_FIELD_SHARED_OPTIN, is_opted_in(k));
    put_window(window);
}

/* Returns the shape of a kernel. It is unknown if there is no room for its row; the next launch tries again. */
static uint64_t shape_of(const kernel_record *k)
{
    const CUaccessPolicyWindow window = window_of(k);
    struct shape shape = {.name = k->name ? XXH3_64bits(k->name, strlen(k->name)) : 0,
                          .local_total = k->localMemoryTotal_v2,
                          .window_bytes = window.num_bytes,
                          .window_ratio = window.hitRatio,
                          .window_hit = (uint8_t)window.hitProp,
                          .window_miss = (uint8_t)window.missProp,
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
                          .carveout = k->sharedMemoryCarveoutRequested,
                          .shared_config = k->sharedMemoryConfig,
                          .shared_optin = is_opted_in(k)};
    const uint64_t hash = XXH3_64bits(&shape, sizeof shape);
    const uint32_t known = cw_trace_shape_find(hash);
    if (known)
        return known;
    const uint32_t name = cw_trace_text_number(k->name);
    if ((!name && k->name && *k->name) || !cw_trace_row(CW_TRACE_SHAPE))
        return CW_TRACE_UNKNOWN;
    const uint32_t number = cw_trace_shape_add(hash);
    put_shape(number, name, k, &window);
    return number;
}

/* Whether the GPU itself launched the kernel. */
static bool is_of_device(const kernel_record *k)
{
#if CUDA_VERSION >= 13000
    return self->version >= CW_CUPTI_OF_CUDA_13 && ((const CUpti_ActivityKernel10 *)k)->isDeviceLaunched;
#else
    return (void)k, false;
#endif
}

static void take_kernel(const CUpti_Activity *record)
{
    const kernel_record *k = (const void *)record;
    if (!cw_trace_sift_takes(k->correlationId))
        return;
    const uint64_t shape = shape_of(k);
    if (!k->graphId && !is_of_device(k))
        cw_trace_count_direct(CW_TRACE_KERNEL);
    if (!cw_trace_row(CW_TRACE_KERNEL))
        return;
    cw_trace_put_times(CW_TRACE_KERNEL, k->start, k->end);
    cw_trace_put_place(k->deviceId, k->contextId, k->streamId, k->correlationId);
    put(CW_FIELD_SHAPE, shape);
    put(CW_FIELD_QUEUED, k->queued);
    put(CW_FIELD_SUBMITTED, k->submitted);
    cw_trace_put_graph(k->graphId, k->graphNodeId);
    cw_trace_put_channel(k->channelID, k->channelType);
    put(CW_FIELD_DEVICE_LAUNCHED, is_of_device(k));
    if (k->gridId != CUPTI_GRID_ID_UNKNOWN)
        put(CW_FIELD_GRID_ID, (uint64_t)k->gridId);
    if (k->completed > k->end) /* it launched others */
        put(CW_FIELD_COMPLETED, k->completed);
}

/* ---- copies, sets ----------------------------------------------------------------------------------------------- */

static void put_direction(uint32_t kind)
{
    cw_trace_put_word(
        CW_FIELD_DIRECTION,
        CW_TRACE_WORDS("unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"),
        kind);
}

/* Records of copies within and between GPUs have the same members, at different offsets. */
#define PUT_COPY(m)                                                                                                    \
    do {                                                                                                               \
        cw_trace_put_times(CW_TRACE_COPY, (m)->start, (m)->end);                                                       \
        cw_trace_put_place((m)->deviceId, (m)->contextId, (m)->streamId, (m)->correlationId);                          \
        put(CW_FIELD_BYTES, (m)->bytes);                                                                               \
        put_direction((m)->copyKind);                                                                                  \
        cw_trace_put_memory(CW_FIELD_SOURCE, (m)->srcKind);                                                            \
        cw_trace_put_memory(CW_FIELD_TARGET, (m)->dstKind);                                                            \
        put(CW_FIELD_ASYNC, (m)->flags &CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC ? 1 : 0);                                     \
        cw_trace_put_graph((m)->graphId, (m)->graphNodeId);                                                            \
        cw_trace_put_channel((m)->channelID, (m)->channelType);                                                        \
    } while (0)

static void take_copy(const CUpti_Activity *record)
{
    const CUpti_ActivityMemcpy5 *m = (const void *)record;
    if (!cw_trace_sift_takes(m->correlationId) || !cw_trace_row(CW_TRACE_COPY))
        return;
    PUT_COPY(m);
    if (m->runtimeCorrelationId && m->runtimeCorrelationId != m->correlationId)
        put(CW_FIELD_RUNTIME_CORRELATION, m->runtimeCorrelationId);
#if CUDA_VERSION >= 13000
    const CUpti_ActivityMemcpy6 *newer = (const void *)record;
    if (self->version >= CW_CUPTI_OF_CUDA_13) {
        put(CW_FIELD_COUNT, newer->copyCount);
        put(CW_FIELD_DEVICE_LAUNCHED, newer->isDeviceLaunched);
    }
#endif
}

static void take_peer_copy(const CUpti_Activity *record)
{
    const CUpti_ActivityMemcpyPtoP4 *m = (const void *)record;
    if (!cw_trace_sift_takes(m->correlationId) || !cw_trace_row(CW_TRACE_COPY))
        return;
    PUT_COPY(m);
    put(CW_FIELD_SOURCE_DEVICE, m->srcDeviceId);
    put(CW_FIELD_TARGET_DEVICE, m->dstDeviceId);
    put(CW_FIELD_SOURCE_CONTEXT, m->srcContextId);
    put(CW_FIELD_TARGET_CONTEXT, m->dstContextId);
}

static void take_set(const CUpti_Activity *record)
{
    const CUpti_ActivityMemset4 *m = (const void *)record;
    if (!cw_trace_sift_takes(m->correlationId) || !cw_trace_row(CW_TRACE_MEMSET))
        return;
    cw_trace_put_times(CW_TRACE_MEMSET, m->start, m->end);
    cw_trace_put_place(m->deviceId, m->contextId, m->streamId, m->correlationId);
    put(CW_FIELD_BYTES, m->bytes);
    put(CW_FIELD_VALUE, m->value);
    cw_trace_put_memory(CW_FIELD_MEMORY, m->memoryKind);
    put(CW_FIELD_ASYNC, m->flags & CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC ? 1 : 0);
    cw_trace_put_graph(m->graphId, m->graphNodeId);
    cw_trace_put_channel(m->channelID, m->channelType);
#if CUDA_VERSION >= 13000
    if (self->version >= CW_CUPTI_OF_CUDA_13)
        put(CW_FIELD_DEVICE_LAUNCHED, m->isDeviceLaunched);
#endif
}

static void take_decompression(const CUpti_Activity *record)
{
#if CUDA_VERSION >= 12080
    const CUpti_ActivityMemDecompress *m = (const void *)record;
    if (!cw_trace_row(CW_TRACE_DECOMPRESS))
        return;
    cw_trace_put_times(CW_TRACE_DECOMPRESS, m->start, m->end);
    cw_trace_put_place(m->deviceId, m->contextId, m->streamId, m->correlationId);
    put(CW_FIELD_COUNT, m->numberOfOperations);
    put(CW_FIELD_BYTES, m->sourceBytes);
    cw_trace_put_channel(m->channelID, m->channelType);
#else
    (void)record;
#endif
}

/* ---- graphs ----------------------------------------------------------------------------------------------------- */

/* Puts where the last node of a graph ran, which may be the host. */
static void put_end(const CUpti_Activity *record)
{
#if CUDA_VERSION >= 12080
    const CUpti_ActivityGraphTrace2 *newer = (const void *)record;
    if (self->version < CW_CUPTI_OF_12_8 || newer->endDeviceId == INT_MAX)
        return;
    put(CW_FIELD_END_DEVICE, newer->endDeviceId);
    put(CW_FIELD_END_CONTEXT, newer->endContextId);
#else
    (void)record;
#endif
}

static void take_graph(const CUpti_Activity *record)
{
    const CUpti_ActivityGraphTrace *g = (const void *)record;
    const bool on_host = g->deviceId == INT_MAX; /* its first node */
    cw_trace_count_direct(CW_TRACE_GRAPH);
    if (!cw_trace_row(CW_TRACE_GRAPH))
        return;
    cw_trace_put_times(CW_TRACE_GRAPH, g->start, g->end);
    cw_trace_put_place(g->deviceId, g->contextId, g->streamId, g->correlationId);
    if (on_host) {
        put(CW_FIELD_DEVICE, CW_TRACE_UNKNOWN);
        put(CW_FIELD_CONTEXT, CW_TRACE_UNKNOWN);
    }
    put(CW_FIELD_GRAPH, g->graphId);
    put_end(record);
}

/* Its streamId is no stream of the program, but the mode again, in the uppermost byte. */
static void take_device_graph(const CUpti_Activity *record)
{
    const CUpti_ActivityDeviceGraphTrace *g = (const void *)record;
    if (!cw_trace_row(CW_TRACE_DEVICE_GRAPH))
        return;
    cw_trace_put_times(CW_TRACE_DEVICE_GRAPH, g->start, g->end);
    put(CW_FIELD_DEVICE, g->deviceId);
    put(CW_FIELD_CONTEXT, g->contextId);
    put(CW_FIELD_GRAPH, g->graphId);
    put(CW_FIELD_PARENT, g->launcherGraphId);
    cw_trace_put_word(CW_FIELD_TYPE, CW_TRACE_WORDS("unknown", "fire_and_forget", "tail", "sibling"),
                      g->deviceLaunchMode);
}

/* ---- calls, and events ------------------------------------------------------------------------------------------ */

static void take_internal(const CUpti_Activity *record)
{
    const CUpti_ActivityAPI *a = (const void *)record;
    if (!cw_trace_row(CW_TRACE_INTERNAL))
        return;
    cw_trace_put_times(CW_TRACE_INTERNAL, a->start, a->end);
    put(CW_FIELD_THREAD, a->threadId);
    put(CW_FIELD_CORRELATION, a->correlationId);
    put_text(CW_FIELD_NAME, "a launch of the driver's own"); /* CUPTI gives no name of the call */
    put(CW_FIELD_RESULT, a->returnValue);
}

/* Word for a wait, or for a query that finds unfinished work. */
static const char *wait_type(CUpti_ActivitySynchronizationType type, bool asked)
{
    switch (type) {
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE:
        return asked ? CW_TRACE_EVENT_QUERY : "event";
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE:
        return asked ? CW_TRACE_STREAM_QUERY : "stream";
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT:
        return "stream_wait_event";
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE:
        return "context";
    default:
        return "unknown";
    }
}

static void take_wait(const CUpti_Activity *record)
{
    const CUpti_ActivitySynchronization *s = (const void *)record;
    bool asked = cw_trace_calls_asked(s->correlationId);
    if (!cw_trace_row(CW_TRACE_SYNC))
        return;
    cw_trace_put_times(CW_TRACE_SYNC, s->start, s->end);
    put(CW_FIELD_CONTEXT, s->contextId);
    put(CW_FIELD_STREAM, cw_trace_or_unknown(s->streamId));
    put(CW_FIELD_CORRELATION, s->correlationId);
    put(CW_FIELD_EVENT, cw_trace_or_unknown(s->cudaEventId));
#if CUDA_VERSION >= 12080
    const CUpti_ActivitySynchronization2 *newer = (const void *)record;
    if (self->version >= CW_CUPTI_OF_12_8) {
        put(CW_FIELD_ID, newer->cudaEventSyncId > UINT32_MAX ? CW_TRACE_UNKNOWN
                                                             : cw_trace_or_unknown((uint32_t)newer->cudaEventSyncId));
        put(CW_FIELD_RESULT, newer->returnValue);
        asked = asked || newer->returnValue == CUDA_ERROR_NOT_READY;
    }
#endif
    put_text(CW_FIELD_TYPE, wait_type(s->type, asked));
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
    if (self->version >= CW_CUPTI_OF_12_8) {
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
    cw_trace_put_word(CW_FIELD_TYPE, CW_TRACE_WORDS("unknown", "default", "non_blocking", "null", NULL), s->flag);
    put(CW_FIELD_CORRELATION, s->correlationId);
}

#if CUDA_VERSION >= 12080
/* Whether a context is to have a row: one that is part of another, or one from before an agent came. The program's
 * other contexts are reported when they are created. */
static bool is_new_context(const CUpti_ActivityContext3 *c)
{
    if (self->version < CW_CUPTI_OF_12_8 || c->isGreenContext)
        return self->version >= CW_CUPTI_OF_12_8;
    return cw_trace_early_missed() && !cw_trace_context_has_row(c->contextId) && cw_trace_context_note(c->contextId);
}
#endif

static void take_context(const CUpti_Activity *record)
{
#if CUDA_VERSION >= 12080
    const CUpti_ActivityContext3 *c = (const void *)record;
    if (!is_new_context(c) || !cw_trace_row(CW_TRACE_CONTEXT))
        return;
    put(CW_FIELD_CONTEXT, c->contextId);
    put(CW_FIELD_DEVICE, c->deviceId);
    put(CW_FIELD_NULL_STREAM, c->nullStreamId);
    put(CW_FIELD_PARENT, c->parentContextId ? c->parentContextId : CW_TRACE_UNKNOWN);
    if (c->isGreenContext)
        put(CW_FIELD_MULTIPROCESSORS, c->numMultiprocessors);
    put_text(CW_FIELD_TYPE, c->isGreenContext                                          ? "green"
                            : c->cigMode == CUPTI_CONTEXT_CIG_MODE_CIG                 ? "graphics"
                            : c->cigMode == CUPTI_CONTEXT_CIG_MODE_CIG_FALLBACK        ? "graphics fallback"
                            : c->computeApiKind == CUPTI_ACTIVITY_COMPUTE_API_CUDA_MPS ? "mps"
                                                                                       : "cuda");
#else
    (void)record;
#endif
}

/* ---- overhead and compiling ------------------------------------------------------------------------------------- */

/* Puts the thread, device, context or stream of an overhead, as far as the record has them. */
static void put_object(const CUpti_ActivityOverhead2 *o)
{
    switch (o->objectKind) {
    case CUPTI_ACTIVITY_OBJECT_THREAD:
        put(CW_FIELD_THREAD, o->objectId.pt.threadId);
        break;
    case CUPTI_ACTIVITY_OBJECT_STREAM:
        put(CW_FIELD_STREAM, o->objectId.dcs.streamId); /* fall through */
    case CUPTI_ACTIVITY_OBJECT_CONTEXT:
        put(CW_FIELD_CONTEXT, o->objectId.dcs.contextId); /* fall through */
    case CUPTI_ACTIVITY_OBJECT_DEVICE:
        put(CW_FIELD_DEVICE, o->objectId.dcs.deviceId);
        break;
    default:
        break;
    }
}

#if CUDA_VERSION >= 13000
typedef CUpti_ActivityOverheadCommandBufferFullData command_buffer;

/* Data of a full command buffer, which the record hands over: whoever takes the record frees them. */
static command_buffer *command_buffer_of(const CUpti_Activity *record)
{
    const CUpti_ActivityOverhead3 *o = (const void *)record;
    const bool full =
        self->version >= CW_CUPTI_OF_CUDA_13 && o->overheadKind == CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL;
    return full ? o->overheadData : NULL;
}

static void put_command_buffer(const command_buffer *b)
{
    cw_trace_put_channel(b->channelID, b->channelType);
    put(CW_FIELD_COMMAND_BUFFER, b->commandBufferLength);
}
#endif

static void put_overhead(const CUpti_Activity *record)
{
    const CUpti_ActivityOverhead2 *o = (const void *)record;
    cw_trace_put_times(CW_TRACE_OVERHEAD, o->start, o->end);
    if (o->overheadKind == CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER)
        put_text(CW_FIELD_TYPE, "driver_compiler");
    else
        cw_trace_put_word(CW_FIELD_TYPE,
                          CW_TRACE_WORDS("unknown", "cupti_buffer_flush", "cupti_instrumentation", "cupti_resource",
                                         "module_loading", "lazy_function_loading", "command_buffer_full",
                                         "activity_buffer_request", "uvm_init"),
                          (uint32_t)o->overheadKind >> 16);
    put_object(o);
    put(CW_FIELD_CORRELATION, o->correlationId ? o->correlationId : CW_TRACE_UNKNOWN);
}

static void take_overhead(const CUpti_Activity *record)
{
    const bool kept = cw_trace_row(CW_TRACE_OVERHEAD);
    if (kept)
        put_overhead(record);
#if CUDA_VERSION >= 13000
    command_buffer *buffer = command_buffer_of(record);
    if (kept && buffer)
        put_command_buffer(buffer);
    free(buffer);
#endif
}

/* Takes a record of compiling. Its cacheSize is the limit of the driver's cache, not the size of the code. */
static void take_jit(const CUpti_Activity *record)
{
    const CUpti_ActivityJit *j = (const void *)record;
    if (!cw_trace_row(CW_TRACE_JIT))
        return;
    cw_trace_put_times(CW_TRACE_JIT, j->start, j->end);
    cw_trace_put_word(CW_FIELD_TYPE,
                      j->jitEntryType == CUPTI_ACTIVITY_JIT_ENTRY_NVVM_IR_TO_PTX
                          ? CW_TRACE_WORDS("unknown", "nvvm_cache_load", "nvvm_cache_store", "nvvm_compile")
                          : CW_TRACE_WORDS("unknown", "ptx_cache_load", "ptx_cache_store", "ptx_compile"),
                      j->jitOperationType);
    put(CW_FIELD_DEVICE, j->deviceId);
    put(CW_FIELD_CORRELATION, j->correlationId);
    put_text(CW_FIELD_FILE, j->cachePath);
#if CUDA_VERSION >= 13000
    if (self->version >= CW_CUPTI_OF_CUDA_13)
        put(CW_FIELD_THREAD, ((const CUpti_ActivityJit2 *)j)->threadId);
#endif
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

static void put_pool_type(CUpti_ActivityMemoryPoolType type)
{
    cw_trace_put_word(CW_FIELD_POOL_TYPE, CW_TRACE_WORDS(NULL, "local", "imported"), type);
}

/* CUPTI does not know these of a pool that another process made. */
static void put_pool(uint64_t bytes, uint64_t used, uint64_t threshold)
{
    put(CW_FIELD_POOL_BYTES, bytes);
    put(CW_FIELD_POOL_USED, used);
    put(CW_FIELD_POOL_THRESHOLD, threshold);
}

static void take_allocation(const CUpti_Activity *record)
{
    const CUpti_ActivityMemory3 *m = (const void *)record;
    const bool pool = m->memoryPoolConfig.memoryPoolType != CUPTI_ACTIVITY_MEMORY_POOL_TYPE_INVALID;
    if (!cw_trace_row(CW_TRACE_ALLOCATION))
        return;
    put(CW_FIELD_TIME, m->timestamp);
    cw_trace_put_word(CW_FIELD_TYPE, CW_TRACE_WORDS("unknown", "allocate", "free"), m->memoryOperationType);
    cw_trace_put_memory(CW_FIELD_MEMORY, m->memoryKind);
    put(CW_FIELD_ADDRESS, m->address);
    put(CW_FIELD_BYTES, m->bytes);
    cw_trace_put_place(m->deviceId, m->contextId, m->streamId, m->correlationId);
    put(CW_FIELD_ASYNC, m->isAsync);
    if (pool) {
        put_pool_type(m->memoryPoolConfig.memoryPoolType);
        put(CW_FIELD_POOL, m->memoryPoolConfig.address);
        if (m->memoryPoolConfig.memoryPoolType == CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL)
            put_pool(m->memoryPoolConfig.pool.size, m->memoryPoolConfig.utilizedSize,
                     m->memoryPoolConfig.releaseThreshold);
        else
            put(CW_FIELD_POOL_PROCESS, m->memoryPoolConfig.pool.processId);
    }
    put_text(CW_FIELD_NAME, m->name);
    put(CW_FIELD_PC, m->PC ? m->PC : CW_TRACE_UNKNOWN);
#if CUDA_VERSION >= 12080
    if (self->version >= CW_CUPTI_OF_12_8)
        put_text(CW_FIELD_CALLER, ((const CUpti_ActivityMemory4 *)m)->source);
#endif
}

static void take_pool(const CUpti_Activity *record)
{
    const CUpti_ActivityMemoryPool2 *p = (const void *)record;
    const bool known = p->memoryPoolType != CUPTI_ACTIVITY_MEMORY_POOL_TYPE_INVALID;
    if (!cw_trace_row(CW_TRACE_POOL))
        return;
    put(CW_FIELD_TIME, p->timestamp);
    cw_trace_put_word(CW_FIELD_TYPE, CW_TRACE_WORDS("unknown", "create", "destroy", "trim"),
                      p->memoryPoolOperationType);
    put(CW_FIELD_POOL, p->address);
    if (p->memoryPoolType != CUPTI_ACTIVITY_MEMORY_POOL_TYPE_IMPORTED)
        put_pool(p->size, p->utilizedSize, p->releaseThreshold);
    put(CW_FIELD_DEVICE, p->deviceId);
    put(CW_FIELD_CORRELATION, p->correlationId);
    if (known)
        put_pool_type(p->memoryPoolType);
    if (p->memoryPoolOperationType == CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED)
        put(CW_FIELD_POOL_KEPT, p->minBytesToKeep);
#if CUDA_VERSION >= 13000
    if (self->version >= CW_CUPTI_OF_CUDA_13)
        put(CW_FIELD_POOL_MANAGED, ((const CUpti_ActivityMemoryPool3 *)p)->isManagedPool);
#endif
}

/* Finds which end of a unified memory event is a GPU: for the other end CUPTI gives nothing, or 0. */
static void put_ends(const CUpti_ActivityUnifiedMemoryCounter2 *u)
{
    bool source = false, target = false;
    switch (u->counterKind) {
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD:
        target = true;
        break;
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH:
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT:
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THROTTLING:
        source = true;
        break;
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD:
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_REMOTE_MAP:
        source = target = true;
        break;
    default: /* the CPU, or several processors */
        break;
    }
    if (source && u->srcId != CUPTI_UNIFIED_MEMORY_CPU_DEVICE_ID)
        put(CW_FIELD_SOURCE_DEVICE, u->srcId);
    if (target && u->dstId != CUPTI_UNIFIED_MEMORY_CPU_DEVICE_ID)
        put(CW_FIELD_TARGET_DEVICE, u->dstId);
}

enum { LIST_SIZE = 1280 };

/* Adds a number to a list: "0,1,2". */
static void add_number(char text[LIST_SIZE], int number)
{
    const size_t length = strlen(text);
    snprintf(text + length, LIST_SIZE - length, "%s%d", length ? "," : "", number);
}

/* The GPUs that contend for the memory of a row, from their bits. Before 12.8 CUPTI gives no bit beyond the 32nd; since
 * then the first word is unspecified on nodes with more. */
static void put_contenders(const CUpti_ActivityUnifiedMemoryCounter2 *u)
{
    enum { WORDS = 5 };
    uint64_t bits[WORDS] = {u->srcId};
    char text[LIST_SIZE] = "";
#if CUDA_VERSION >= 12080
    bool any = false;
    const CUpti_ActivityUnifiedMemoryCounter3 *newer = (const void *)u;
    _Static_assert(sizeof newer->processors == sizeof bits, "a bit for each");
    for (int i = 0; i < WORDS && self->version >= CW_CUPTI_OF_12_8; i++)
        any = any || newer->processors[i];
    if (any)
        memcpy(bits, newer->processors, sizeof bits);
#endif
    for (int device = 0; device < 64 * WORDS; device++)
        if (bits[device / 64] >> device % 64 & 1)
            add_number(text, device);
    put_text(CW_FIELD_DEVICES, text);
}

static void take_unified(const CUpti_Activity *record)
{
    const CUpti_ActivityUnifiedMemoryCounter2 *u = (const void *)record;
    const struct cw_trace_words migrations = CW_TRACE_WORDS("unknown", "user", "coherence", "prefetch", "eviction",
                                                            "access_counters"),
                                accesses = CW_TRACE_WORDS("unknown", "read", "write", "atomic", "prefetch"),
                                maps = CW_TRACE_WORDS("unknown", "coherence", "thrashing", "policy", "out_of_memory",
                                                      "eviction");
    const bool of_cpu = u->counterKind == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT;
    if (!cw_trace_row(CW_TRACE_UNIFIED))
        return;
    put(CW_FIELD_START, u->start); /* a CPU fault has no end */
    put(CW_FIELD_END, u->end ? u->end : u->start);
    cw_trace_put_word(CW_FIELD_TYPE,
                      CW_TRACE_WORDS("unknown", "bytes_htod", "bytes_dtoh", "cpu_page_faults", "gpu_page_faults",
                                     "thrashing", "throttling", "remote_map", "bytes_dtod"),
                      u->counterKind);
    put(CW_FIELD_VALUE, of_cpu ? 1 : u->value); /* for a CPU fault the value is the instruction's address */
    if (of_cpu && u->value)
        put(CW_FIELD_PC, u->value);
    put(CW_FIELD_ADDRESS, u->address);
    put_ends(u);
    if (u->counterKind == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THRASHING) {
        put_contenders(u);
        put(CW_FIELD_ON_CPU, u->flags & CUPTI_ACTIVITY_FLAG_THRASHING_IN_CPU ? 1 : 0);
    }
    if (u->counterKind == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THROTTLING)
        put(CW_FIELD_ON_CPU, u->flags & CUPTI_ACTIVITY_FLAG_THROTTLING_IN_CPU ? 1 : 0);
    if (u->counterKind == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT)
        cw_trace_put_word(CW_FIELD_CAUSE, accesses, u->flags);
    else if (u->counterKind == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_REMOTE_MAP)
        cw_trace_put_word(CW_FIELD_CAUSE, maps, u->flags);
    else if (u->counterKind == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD ||
             u->counterKind == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH)
        cw_trace_put_word(CW_FIELD_CAUSE, migrations, u->flags);
}

/* ---- the device ------------------------------------------------------------------------------------------------- */

static void put_uuid(enum cw_trace_field field, const CUuuid *uuid)
{
    char text[40] = "GPU-";
    for (int i = 0; i < 16; i++)
        snprintf(text + 4 + 2 * i, 3, "%02x", (unsigned char)uuid->bytes[i]);
    put_text(field, text);
}

/* CUPTI gives -1 for a port that is not known. */
static void put_ports(enum cw_trace_field field, const int8_t *ports, uint32_t count)
{
    char text[LIST_SIZE] = "";
    for (uint32_t i = 0; i < count && i < CUPTI_MAX_NVLINK_PORTS; i++)
        if (ports[i] >= 0)
            add_number(text, ports[i]);
    put_text(field, text);
}

/* A CPU's end of an NVLink. */
static void put_processor(enum cw_trace_field field, uint32_t domain, uint32_t index)
{
    char text[40];
    snprintf(text, sizeof text, "npu %04x:%u", domain, index);
    put_text(field, text);
}

static void put_access(uint32_t flags)
{
    static const struct {
        CUpti_LinkFlag flag;
        const char *word;
    } words[] = {{CUPTI_LINK_FLAG_PEER_ACCESS, "peer"},
                 {CUPTI_LINK_FLAG_SYSMEM_ACCESS, "system"},
                 {CUPTI_LINK_FLAG_PEER_ATOMICS, "peer_atomics"},
                 {CUPTI_LINK_FLAG_SYSMEM_ATOMICS, "system_atomics"}};
    char text[64] = "";
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (flags & words[i].flag) {
            const size_t length = strlen(text);
            snprintf(text + length, sizeof text - length, "%s%s", length ? "," : "", words[i].word);
        }
    put_text(CW_FIELD_LINK_ACCESS, text);
}

static void take_nvlink(const CUpti_Activity *record)
{
    const CUpti_ActivityNvLink4 *n = (const void *)record;
    if (!cw_trace_row(CW_TRACE_LINK))
        return;
    put_text(CW_FIELD_TYPE, n->nvswitchConnected ? "nvlink_switch" : "nvlink");
    if (n->typeDev0 == CUPTI_DEV_TYPE_GPU)
        put_uuid(CW_FIELD_SOURCE, &n->idDev0.uuidDev);
    else if (n->typeDev0 == CUPTI_DEV_TYPE_NPU)
        put_processor(CW_FIELD_SOURCE, n->idDev0.npu.domainId, n->idDev0.npu.index);
    if (n->typeDev1 == CUPTI_DEV_TYPE_GPU)
        put_uuid(CW_FIELD_TARGET, &n->idDev1.uuidDev);
    else if (n->typeDev1 == CUPTI_DEV_TYPE_NPU)
        put_processor(CW_FIELD_TARGET, n->idDev1.npu.domainId, n->idDev1.npu.index);
    put_ports(CW_FIELD_SOURCE_PORTS, n->portDev0, n->physicalNvLinkCount);
    put_ports(CW_FIELD_TARGET_PORTS, n->portDev1, n->physicalNvLinkCount);
    put(CW_FIELD_COUNT, n->physicalNvLinkCount);
    put(CW_FIELD_BANDWIDTH, n->bandwidth);
    put_access(n->flag);
    put(CW_FIELD_NVLINK_VERSION, n->nvlinkVersion ? n->nvlinkVersion : CW_TRACE_UNKNOWN);
}

/* Peers are -1 behind the last one. */
static void put_gpu(const CUpti_ActivityPcie *p)
{
    char text[LIST_SIZE] = "";
    put_uuid(CW_FIELD_SOURCE, &p->attr.gpuAttr.uuidDev);
    for (int i = 0; i < CUPTI_MAX_GPUS && p->attr.gpuAttr.peerDev[i] >= 0; i++)
        add_number(text, p->attr.gpuAttr.peerDev[i]);
    put_text(CW_FIELD_PEERS, text);
}

static void take_pcie(const CUpti_Activity *record)
{
    const CUpti_ActivityPcie *p = (const void *)record;
    char text[40];
    if (!cw_trace_row(CW_TRACE_LINK))
        return;
    put_text(CW_FIELD_TYPE, p->type == CUPTI_PCIE_DEVICE_TYPE_GPU ? "pcie_gpu" : "pcie_bridge");
    if (p->type == CUPTI_PCIE_DEVICE_TYPE_GPU)
        put_gpu(p);
    else {
        snprintf(text, sizeof text, "bridge %u", p->id.bridgeId);
        put_text(CW_FIELD_SOURCE, text);
        put(CW_FIELD_PCI_VENDOR, p->attr.bridgeAttr.vendorId);
        put(CW_FIELD_PCI_DEVICE, p->attr.bridgeAttr.deviceId);
        put(CW_FIELD_SECONDARY_BUS, p->attr.bridgeAttr.secondaryBus);
    }
    snprintf(text, sizeof text, "bus %04x:%02x", p->domain, p->upstreamBus);
    put_text(CW_FIELD_TARGET, text);
    put(CW_FIELD_PCIE_GENERATION, p->pcieGeneration);
    put(CW_FIELD_PCIE_WIDTH, p->linkWidth);
    put(CW_FIELD_PCIE_RATE, p->linkRate ? p->linkRate : CW_TRACE_UNKNOWN);
}

/* ---- correlations ----------------------------------------------------------------------------------------------- */

static void take_external(const CUpti_Activity *record)
{
    const CUpti_ActivityExternalCorrelation *e = (const void *)record;
    if (!cw_trace_row(CW_TRACE_EXTERNAL))
        return;
    put(CW_FIELD_CORRELATION, e->correlationId);
    cw_trace_put_word(CW_FIELD_TYPE, CW_TRACE_WORDS("invalid", "unknown", "openacc", "custom0", "custom1", "custom2"),
                      e->externalKind);
    put(CW_FIELD_ID, e->externalId);
}

/* ---- sources of each kind --------------------------------------------------------------------------------------- */

static const struct source {
    enum cw_trace_kind kind;
    CUpti_ActivityKind cupti;
    void (*take)(const CUpti_Activity *record);
} sources[] = {
    {CW_TRACE_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, take_kernel},
    {CW_TRACE_KERNEL, CUPTI_ACTIVITY_KIND_KERNEL, take_kernel}, /* for which CUPTI serializes kernels */
    {CW_TRACE_COPY, CUPTI_ACTIVITY_KIND_MEMCPY, take_copy},
    {CW_TRACE_COPY, CUPTI_ACTIVITY_KIND_MEMCPY2, take_peer_copy},
    {CW_TRACE_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET, take_set},
    {CW_TRACE_INTERNAL, CUPTI_ACTIVITY_KIND_INTERNAL_LAUNCH_API, take_internal},
    {CW_TRACE_EVENT, CUPTI_ACTIVITY_KIND_CUDA_EVENT, take_event},
    /* CUPTI 13.0 reports events only if waits are recorded, and correlation numbers only if calls are */
    {CW_TRACE_EVENT, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, take_wait},
    {CW_TRACE_EXTERNAL, CUPTI_ACTIVITY_KIND_RUNTIME, NULL},
    {CW_TRACE_EXTERNAL, CUPTI_ACTIVITY_KIND_DRIVER, NULL},
    {CW_TRACE_STREAM, CUPTI_ACTIVITY_KIND_STREAM, take_stream},
    {CW_TRACE_CONTEXT, CUPTI_ACTIVITY_KIND_CONTEXT, take_context},
    {CW_TRACE_OVERHEAD, CUPTI_ACTIVITY_KIND_OVERHEAD, take_overhead},
    {CW_TRACE_ALLOCATION, CUPTI_ACTIVITY_KIND_MEMORY2, take_allocation},
    {CW_TRACE_POOL, CUPTI_ACTIVITY_KIND_MEMORY_POOL, take_pool},
    {CW_TRACE_UNIFIED, CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER, take_unified},
    {CW_TRACE_GRAPH, CUPTI_ACTIVITY_KIND_GRAPH_TRACE, take_graph},
    {CW_TRACE_DEVICE_GRAPH, CUPTI_ACTIVITY_KIND_GRAPH_TRACE, take_graph},
    /* cannot be enabled alone: they come with records of whole graphs */
    {CW_TRACE_DEVICE_GRAPH, CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE, take_device_graph},
    {CW_TRACE_JIT, CUPTI_ACTIVITY_KIND_JIT, take_jit},
    {CW_TRACE_EXTERNAL, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, take_external},
    {CW_TRACE_LINK, CUPTI_ACTIVITY_KIND_NVLINK, take_nvlink},
    {CW_TRACE_LINK, CUPTI_ACTIVITY_KIND_PCIE, take_pcie},
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

/* Configures unified memory events, which CUPTI needs before the kind is enabled, for all devices, because any may get
 * a context later. Some may not support it; returns CUPTI's refusal only if all refuse. */
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

/* Whether a source is enabled by itself, and chosen. */
static bool is_chosen(const struct source *s)
{
    const CUpti_ActivityKind other =
        cw_trace_cupti->serialized ? CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL : CUPTI_ACTIVITY_KIND_KERNEL;
    return s->cupti != CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE && s->cupti != other;
}

/* Whether CUPTI can tell of objects of a kind that are there already. */
static bool has_objects(CUpti_ActivityKind kind)
{
    return kind == CUPTI_ACTIVITY_KIND_STREAM || kind == CUPTI_ACTIVITY_KIND_CONTEXT ||
           kind == CUPTI_ACTIVITY_KIND_NVLINK || kind == CUPTI_ACTIVITY_KIND_PCIE;
}

/* Enables a kind. In a process that ran before, the first time brings records of what is there. */
static CUptiResult enable(CUpti_ActivityKind kind)
{
    const uint64_t bit = UINT64_C(1) << kind;
    const bool dumps = has_objects(kind) && cw_trace_early_missed() && !(self->dumped & bit) &&
                       cw_inject->api.cuptiActivityEnableAndDump;
    if (dumps && cw_inject->api.cuptiActivityEnableAndDump(kind) == CUPTI_SUCCESS) {
        self->dumped |= bit;
        return CUPTI_SUCCESS;
    }
    return cw_inject->api.cuptiActivityEnable(kind);
}

CUptiResult cw_trace_records_set(enum cw_trace_kind kind, bool on)
{
    CUptiResult result = kind == CW_TRACE_UNIFIED && on ? prepare_unified() : CUPTI_SUCCESS;
    bool any = false;
    if (result != CUPTI_SUCCESS)
        return result;
    for (size_t i = 0; i < SOURCES; i++) {
        if (sources[i].kind != kind || !is_chosen(&sources[i]))
            continue;
        const CUptiResult r = on ? enable(sources[i].cupti) : cw_inject->api.cuptiActivityDisable(sources[i].cupti);
        any = any || r == CUPTI_SUCCESS;
        if (sources[i].take == take_wait && on && r == CUPTI_SUCCESS)
            self->waits = true;
        result = r == CUPTI_SUCCESS ? result : r;
    }
    return any ? CUPTI_SUCCESS : result; /* one of several sources is enough */
}
