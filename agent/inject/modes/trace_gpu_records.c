#include "agent/inject/modes/trace_gpu_records.h"

#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "agent/inject/modes/trace_fields.h"

#define self cw_trace_cupti
#define put cw_trace_put

/* ---- kernels ---------------------------------------------------------------------------------------------------- */

typedef CUpti_ActivityKernel9 kernel_record;

struct shape { /* data that identifies a launch_shape */
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
}

/* Returns the shape of a kernel. It is unknown if there is no room for its row; the next launch tries again. */
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

/* Whether the GPU itself launched the kernel. */
static bool is_of_device(const kernel_record *k)
{
#if CUDA_VERSION >= 13000
    return self->version >= CW_CUPTI_OF_CUDA_13 && ((const CUpti_ActivityKernel10 *)k)->isDeviceLaunched;
#else
    return (void)k, false;
#endif
}

void cw_trace_take_kernel(const CUpti_Activity *record)
{
    const kernel_record *k = (const void *)record;
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

void cw_trace_take_copy(const CUpti_Activity *record)
{
    const CUpti_ActivityMemcpy5 *m = (const void *)record;
    if (!cw_trace_row(CW_TRACE_COPY))
        return;
    PUT_COPY(m);
#if CUDA_VERSION >= 13000
    const CUpti_ActivityMemcpy6 *newer = (const void *)record;
    if (self->version >= CW_CUPTI_OF_CUDA_13) {
        put(CW_FIELD_COUNT, newer->copyCount);
        put(CW_FIELD_DEVICE_LAUNCHED, newer->isDeviceLaunched);
    }
#endif
}

void cw_trace_take_peer_copy(const CUpti_Activity *record)
{
    const CUpti_ActivityMemcpyPtoP4 *m = (const void *)record;
    if (!cw_trace_row(CW_TRACE_COPY))
        return;
    PUT_COPY(m);
    put(CW_FIELD_SOURCE_DEVICE, m->srcDeviceId);
    put(CW_FIELD_TARGET_DEVICE, m->dstDeviceId);
}

void cw_trace_take_set(const CUpti_Activity *record)
{
    const CUpti_ActivityMemset4 *m = (const void *)record;
    if (!cw_trace_row(CW_TRACE_MEMSET))
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

void cw_trace_take_decompression(const CUpti_Activity *record)
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

void cw_trace_take_graph(const CUpti_Activity *record)
{
    const CUpti_ActivityGraphTrace *g = (const void *)record;
    cw_trace_count_direct(CW_TRACE_GRAPH);
    if (!cw_trace_row(CW_TRACE_GRAPH))
        return;
    cw_trace_put_times(CW_TRACE_GRAPH, g->start, g->end);
    cw_trace_put_place(g->deviceId, g->contextId, g->streamId, g->correlationId);
    put(CW_FIELD_GRAPH, g->graphId);
}

/* Its streamId is no stream of the program, but the mode again, in the uppermost byte. */
void cw_trace_take_device_graph(const CUpti_Activity *record)
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
