#include "agent/inject/modes/trace_parameters.h"

/* Calls of the same form, in both APIs, by the members of CUPTI's structures of parameters: the pointer to the new
 * memory and its size; the memory and its size; the memory alone; target, source and size. A symbol and an array have
 * no address here: a symbol is the host's name of a variable. */
#define RUNTIME_ALLOCATES(X)                                                                                           \
    X(cudaMalloc_v3020, devPtr, size)                                                                                  \
    X(cudaMallocAsync_v11020, devPtr, size)                                                                            \
    X(cudaMallocAsync_ptsz_v11020, devPtr, size)                                                                       \
    X(cudaMallocFromPoolAsync_v11020, ptr, size)                                                                       \
    X(cudaMallocFromPoolAsync_ptsz_v11020, ptr, size)                                                                  \
    X(cudaMallocHost_v3020, ptr, size)                                                                                 \
    X(cudaHostAlloc_v3020, pHost, size)                                                                                \
    X(cudaMallocManaged_v6000, devPtr, size)                                                                           \
    X(cudaMallocPitch_v3020, devPtr, height * * p->pitch)
#if CUDA_VERSION >= 13000 /* older headers have other names */
#define RUNTIME_PREFETCHES(X)                                                                                          \
    X(cudaMemPrefetchAsync_v12020, devPtr, count) X(cudaMemPrefetchAsync_ptsz_v12020, devPtr, count)
#else
#define RUNTIME_PREFETCHES(X)
#endif
#define RUNTIME_SIZED(X)                                                                                               \
    X(cudaMalloc3D_v3020, pitchedDevPtr->ptr, pitchedDevPtr->pitch * p->extent.height * p->extent.depth)               \
    X(cudaHostRegister_v4000, ptr, size)                                                                               \
    X(cudaMemset_v3020, devPtr, count)                                                                                 \
    X(cudaMemset_ptds_v7000, devPtr, count)                                                                            \
    X(cudaMemsetAsync_v3020, devPtr, count)                                                                            \
    X(cudaMemsetAsync_ptsz_v7000, devPtr, count)                                                                       \
    X(cudaMemset2D_v3020, devPtr, width * p->height)                                                                   \
    X(cudaMemset2D_ptds_v7000, devPtr, width * p->height)                                                              \
    X(cudaMemset2DAsync_v3020, devPtr, width * p->height)                                                              \
    X(cudaMemset2DAsync_ptsz_v7000, devPtr, width * p->height)                                                         \
    X(cudaMemset3D_v3020, pitchedDevPtr.ptr, extent.width * p->extent.height * p->extent.depth)                        \
    X(cudaMemset3D_ptds_v7000, pitchedDevPtr.ptr, extent.width * p->extent.height * p->extent.depth)                   \
    X(cudaMemset3DAsync_v3020, pitchedDevPtr.ptr, extent.width * p->extent.height * p->extent.depth)                   \
    X(cudaMemset3DAsync_ptsz_v7000, pitchedDevPtr.ptr, extent.width * p->extent.height * p->extent.depth)              \
    RUNTIME_PREFETCHES(X)
#define RUNTIME_OF(X)                                                                                                  \
    X(cudaFree_v3020, devPtr)                                                                                          \
    X(cudaFreeAsync_v11020, devPtr)                                                                                    \
    X(cudaFreeAsync_ptsz_v11020, devPtr)                                                                               \
    X(cudaFreeHost_v3020, ptr)                                                                                         \
    X(cudaHostUnregister_v4000, ptr)
#define RUNTIME_COPIES(X)                                                                                              \
    X(cudaMemcpy_v3020, dst, src, count)                                                                               \
    X(cudaMemcpy_ptds_v7000, dst, src, count)                                                                          \
    X(cudaMemcpyAsync_v3020, dst, src, count)                                                                          \
    X(cudaMemcpyAsync_ptsz_v7000, dst, src, count)                                                                     \
    X(cudaMemcpyPeer_v4000, dst, src, count)                                                                           \
    X(cudaMemcpyPeerAsync_v4000, dst, src, count)                                                                      \
    X(cudaMemcpy2D_v3020, dst, src, width * p->height)                                                                 \
    X(cudaMemcpy2D_ptds_v7000, dst, src, width * p->height)                                                            \
    X(cudaMemcpy2DAsync_v3020, dst, src, width * p->height)                                                            \
    X(cudaMemcpy2DAsync_ptsz_v7000, dst, src, width * p->height)
/* Copies with one address, of target or source, and copies between arrays. */
#define RUNTIME_COPIES_TO(X)                                                                                           \
    X(cudaMemcpyFromSymbol_v3020, dst, count)                                                                          \
    X(cudaMemcpyFromSymbol_ptds_v7000, dst, count)                                                                     \
    X(cudaMemcpyFromSymbolAsync_v3020, dst, count)                                                                     \
    X(cudaMemcpyFromSymbolAsync_ptsz_v7000, dst, count)                                                                \
    X(cudaMemcpyFromArray_v3020, dst, count)                                                                           \
    X(cudaMemcpyFromArrayAsync_v3020, dst, count)                                                                      \
    X(cudaMemcpy2DFromArray_v3020, dst, width * p->height)                                                             \
    X(cudaMemcpy2DFromArray_ptds_v7000, dst, width * p->height)                                                        \
    X(cudaMemcpy2DFromArrayAsync_v3020, dst, width * p->height)                                                        \
    X(cudaMemcpy2DFromArrayAsync_ptsz_v7000, dst, width * p->height)
#define RUNTIME_COPIES_FROM(X)                                                                                         \
    X(cudaMemcpyToSymbol_v3020, src, count)                                                                            \
    X(cudaMemcpyToSymbol_ptds_v7000, src, count)                                                                       \
    X(cudaMemcpyToSymbolAsync_v3020, src, count)                                                                       \
    X(cudaMemcpyToSymbolAsync_ptsz_v7000, src, count)                                                                  \
    X(cudaMemcpyToArray_v3020, src, count)                                                                             \
    X(cudaMemcpyToArrayAsync_v3020, src, count)                                                                        \
    X(cudaMemcpy2DToArray_v3020, src, width * p->height)                                                               \
    X(cudaMemcpy2DToArray_ptds_v7000, src, width * p->height)                                                          \
    X(cudaMemcpy2DToArrayAsync_v3020, src, width * p->height)                                                          \
    X(cudaMemcpy2DToArrayAsync_ptsz_v7000, src, width * p->height)
#define RUNTIME_COPIES_ARRAYS(X)                                                                                       \
    X(cudaMemcpyArrayToArray_v3020, count)                                                                             \
    X(cudaMemcpy2DArrayToArray_v3020, width * p->height)                                                               \
    X(cudaMemcpy2DArrayToArray_ptds_v7000, width * p->height)
/* Copies of a box, which a structure describes. */
#define RUNTIME_BOXES(X)                                                                                               \
    X(cudaMemcpy3D_v3020) X(cudaMemcpy3D_ptds_v7000) X(cudaMemcpy3DAsync_v3020) X(cudaMemcpy3DAsync_ptsz_v7000)
#if CUDA_VERSION >= 13000
#define RUNTIME_BATCHES(X) X(cudaMemcpyBatchAsync_v13000) X(cudaMemcpyBatchAsync_ptsz_v13000)
#else
#define RUNTIME_BATCHES(X)
#endif
#define RUNTIME_PEER_BOXES(X)                                                                                          \
    X(cudaMemcpy3DPeer_v4000)                                                                                          \
    X(cudaMemcpy3DPeer_ptds_v7000) X(cudaMemcpy3DPeerAsync_v4000) X(cudaMemcpy3DPeerAsync_ptsz_v7000)

#define DRIVER_ALLOCATES(X)                                                                                            \
    X(cuMemAlloc_v2, dptr, bytesize)                                                                                   \
    X(cuMemAllocAsync, dptr, bytesize)                                                                                 \
    X(cuMemAllocAsync_ptsz, dptr, bytesize)                                                                            \
    X(cuMemAllocFromPoolAsync, dptr, bytesize)                                                                         \
    X(cuMemAllocFromPoolAsync_ptsz, dptr, bytesize)                                                                    \
    X(cuMemAllocManaged, dptr, bytesize)                                                                               \
    X(cuMemAllocHost_v2, pp, bytesize)                                                                                 \
    X(cuMemHostAlloc, pp, bytesize)                                                                                    \
    X(cuMemAddressReserve, ptr, size)                                                                                  \
    X(cuMemAllocPitch_v2, dptr, Height * * p->pPitch)
#define DRIVER_SIZES(X) /* without an address */                                                                       \
    X(cuMemCreate, size)                                                                                               \
    X(cuMemcpyAtoA_v2, ByteCount)                                                                                      \
    X(cuMemcpyAtoA_v2_ptds, ByteCount)
#define DRIVER_SIZED(X)                                                                                                \
    X(cuMemHostRegister_v2, p, bytesize)                                                                               \
    X(cuMemMap, ptr, size)                                                                                             \
    X(cuMemUnmap, ptr, size)                                                                                           \
    X(cuMemAddressFree, ptr, size)                                                                                     \
    X(cuMemPrefetchAsync_v2, devPtr, count)                                                                            \
    X(cuMemPrefetchAsync_v2_ptsz, devPtr, count)                                                                       \
    X(cuMemsetD8_v2, dstDevice, N)                                                                                     \
    X(cuMemsetD8_v2_ptds, dstDevice, N)                                                                                \
    X(cuMemsetD8Async, dstDevice, N)                                                                                   \
    X(cuMemsetD8Async_ptsz, dstDevice, N)                                                                              \
    X(cuMemsetD16_v2, dstDevice, N * 2)                                                                                \
    X(cuMemsetD16Async, dstDevice, N * 2)                                                                              \
    X(cuMemsetD32_v2, dstDevice, N * 4)                                                                                \
    X(cuMemsetD32_v2_ptds, dstDevice, N * 4)                                                                           \
    X(cuMemsetD32Async, dstDevice, N * 4)                                                                              \
    X(cuMemsetD32Async_ptsz, dstDevice, N * 4)                                                                         \
    X(cuMemsetD16_v2_ptds, dstDevice, N * 2)                                                                           \
    X(cuMemsetD16Async_ptsz, dstDevice, N * 2)                                                                         \
    X(cuMemsetD2D8_v2, dstDevice, Width * p->Height)                                                                   \
    X(cuMemsetD2D8_v2_ptds, dstDevice, Width * p->Height)                                                              \
    X(cuMemsetD2D8Async, dstDevice, Width * p->Height)                                                                 \
    X(cuMemsetD2D8Async_ptsz, dstDevice, Width * p->Height)                                                            \
    X(cuMemsetD2D16_v2, dstDevice, Width * p->Height * 2)                                                              \
    X(cuMemsetD2D16_v2_ptds, dstDevice, Width * p->Height * 2)                                                         \
    X(cuMemsetD2D16Async, dstDevice, Width * p->Height * 2)                                                            \
    X(cuMemsetD2D16Async_ptsz, dstDevice, Width * p->Height * 2)                                                       \
    X(cuMemsetD2D32_v2, dstDevice, Width * p->Height * 4)                                                              \
    X(cuMemsetD2D32_v2_ptds, dstDevice, Width * p->Height * 4)                                                         \
    X(cuMemsetD2D32Async, dstDevice, Width * p->Height * 4)                                                            \
    X(cuMemsetD2D32Async_ptsz, dstDevice, Width * p->Height * 4)
#define DRIVER_OF(X)                                                                                                   \
    X(cuMemFree_v2, dptr)                                                                                              \
    X(cuMemFreeAsync, dptr)                                                                                            \
    X(cuMemFreeAsync_ptsz, dptr)                                                                                       \
    X(cuMemFreeHost, p)                                                                                                \
    X(cuMemHostUnregister, p)
#define DRIVER_COPIES(X)                                                                                               \
    X(cuMemcpy, dst, src, ByteCount)                                                                                   \
    X(cuMemcpy_ptds, dst, src, ByteCount)                                                                              \
    X(cuMemcpyAsync, dst, src, ByteCount)                                                                              \
    X(cuMemcpyAsync_ptsz, dst, src, ByteCount)                                                                         \
    X(cuMemcpyHtoD_v2, dstDevice, srcHost, ByteCount)                                                                  \
    X(cuMemcpyHtoD_v2_ptds, dstDevice, srcHost, ByteCount)                                                             \
    X(cuMemcpyHtoDAsync_v2, dstDevice, srcHost, ByteCount)                                                             \
    X(cuMemcpyHtoDAsync_v2_ptsz, dstDevice, srcHost, ByteCount)                                                        \
    X(cuMemcpyDtoH_v2, dstHost, srcDevice, ByteCount)                                                                  \
    X(cuMemcpyDtoH_v2_ptds, dstHost, srcDevice, ByteCount)                                                             \
    X(cuMemcpyDtoHAsync_v2, dstHost, srcDevice, ByteCount)                                                             \
    X(cuMemcpyDtoHAsync_v2_ptsz, dstHost, srcDevice, ByteCount)                                                        \
    X(cuMemcpyDtoD_v2, dstDevice, srcDevice, ByteCount)                                                                \
    X(cuMemcpyDtoD_v2_ptds, dstDevice, srcDevice, ByteCount)                                                           \
    X(cuMemcpyDtoDAsync_v2, dstDevice, srcDevice, ByteCount)                                                           \
    X(cuMemcpyDtoDAsync_v2_ptsz, dstDevice, srcDevice, ByteCount)                                                      \
    X(cuMemcpyPeer, dstDevice, srcDevice, ByteCount)                                                                   \
    X(cuMemcpyPeerAsync, dstDevice, srcDevice, ByteCount)                                                              \
    X(cuMemcpyPeer_ptds, dstDevice, srcDevice, ByteCount)                                                              \
    X(cuMemcpyPeerAsync_ptsz, dstDevice, srcDevice, ByteCount)
#define DRIVER_COPIES_TO(X)                                                                                            \
    X(cuMemcpyAtoD_v2, dstDevice, ByteCount)                                                                           \
    X(cuMemcpyAtoD_v2_ptds, dstDevice, ByteCount)                                                                      \
    X(cuMemcpyAtoH_v2, dstHost, ByteCount)                                                                             \
    X(cuMemcpyAtoH_v2_ptds, dstHost, ByteCount)                                                                        \
    X(cuMemcpyAtoHAsync_v2, dstHost, ByteCount)                                                                        \
    X(cuMemcpyAtoHAsync_v2_ptsz, dstHost, ByteCount)
#define DRIVER_COPIES_FROM(X)                                                                                          \
    X(cuMemcpyDtoA_v2, srcDevice, ByteCount)                                                                           \
    X(cuMemcpyDtoA_v2_ptds, srcDevice, ByteCount)                                                                      \
    X(cuMemcpyHtoA_v2, srcHost, ByteCount)                                                                             \
    X(cuMemcpyHtoA_v2_ptds, srcHost, ByteCount)                                                                        \
    X(cuMemcpyHtoAAsync_v2, srcHost, ByteCount)                                                                        \
    X(cuMemcpyHtoAAsync_v2_ptsz, srcHost, ByteCount)
#if CUDA_VERSION >= 13000
#define DRIVER_BATCHES(X) X(cuMemcpyBatchAsync_v2) X(cuMemcpyBatchAsync_v2_ptsz)
#elif CUDA_VERSION >= 12080
#define DRIVER_BATCHES(X) X(cuMemcpyBatchAsync) X(cuMemcpyBatchAsync_ptsz)
#else
#define DRIVER_BATCHES(X)
#endif
#define DRIVER_PLANES(X)                                                                                               \
    X(cuMemcpy2D_v2)                                                                                                   \
    X(cuMemcpy2D_v2_ptds)                                                                                              \
    X(cuMemcpy2DUnaligned_v2) X(cuMemcpy2DUnaligned_v2_ptds) X(cuMemcpy2DAsync_v2) X(cuMemcpy2DAsync_v2_ptsz)
#define DRIVER_BOXES(X) X(cuMemcpy3D_v2) X(cuMemcpy3D_v2_ptds) X(cuMemcpy3DAsync_v2) X(cuMemcpy3DAsync_v2_ptsz)
#define DRIVER_PEER_BOXES(X) X(cuMemcpy3DPeer) X(cuMemcpy3DPeer_ptds) X(cuMemcpy3DPeerAsync) X(cuMemcpy3DPeerAsync_ptsz)

#define ADDRESS(pointer) ((uint64_t)(uintptr_t)(pointer))
#define RESULT(pointer) ((pointer) ? ADDRESS(*(pointer)) : CW_TRACE_UNKNOWN)

#define CASE(api, name, ...)                                                                                           \
    case CUPTI_##api##_TRACE_CBID_##name: {                                                                            \
        const name##_params *p = parameters;                                                                           \
        return (struct cw_trace_parameters){__VA_ARGS__};                                                              \
    }
#define ALLOCATES(api, name, pointer, size)                                                                            \
    CASE(api, name, .bytes = p->size, .address = RESULT(p->pointer), .source = CW_TRACE_UNKNOWN)
#define SIZED(api, name, memory, size)                                                                                 \
    CASE(api, name, .bytes = p->size, .address = ADDRESS(p->memory), .source = CW_TRACE_UNKNOWN)
#define OF(api, name, memory)                                                                                          \
    CASE(api, name, .bytes = CW_TRACE_UNKNOWN, .address = ADDRESS(p->memory), .source = CW_TRACE_UNKNOWN)
#define COPIES(api, name, to, from, size)                                                                              \
    CASE(api, name, .bytes = p->size, .address = ADDRESS(p->to), .source = ADDRESS(p->from))
#define COPIES_TO(api, name, to, size)                                                                                 \
    CASE(api, name, .bytes = p->size, .address = ADDRESS(p->to), .source = CW_TRACE_UNKNOWN)
#define COPIES_FROM(api, name, from, size)                                                                             \
    CASE(api, name, .bytes = p->size, .address = CW_TRACE_UNKNOWN, .source = ADDRESS(p->from))
#define SIZES(api, name, size)                                                                                         \
    CASE(api, name, .bytes = p->size, .address = CW_TRACE_UNKNOWN, .source = CW_TRACE_UNKNOWN)
#define BATCH(api, name)                                                                                               \
    CASE(api, name, .bytes = sum_of(p->sizes, p->count), .address = CW_TRACE_UNKNOWN, .source = CW_TRACE_UNKNOWN)
#define DESCRIBED(api, name, function, member)                                                                         \
    case CUPTI_##api##_TRACE_CBID_##name:                                                                              \
        return function(((const name##_params *)parameters)->member);

static const struct cw_trace_parameters none = {CW_TRACE_UNKNOWN, CW_TRACE_UNKNOWN, CW_TRACE_UNKNOWN};

static uint64_t sum_of(const size_t *sizes, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += sizes[i];
    return sum;
}

/* ---- planes and boxes -------------------------------------------------------------------------------------------- */

/* An end of a copy of the driver: where it begins, `offset` bytes behind the host's or the device's address. */
static uint64_t begin_of(CUmemorytype type, const void *host, CUdeviceptr device, size_t offset)
{
    return type == CU_MEMORYTYPE_HOST                                      ? ADDRESS(host) + offset
           : type == CU_MEMORYTYPE_DEVICE || type == CU_MEMORYTYPE_UNIFIED ? device + offset
                                                                           : CW_TRACE_UNKNOWN;
}

static struct cw_trace_parameters of_plane(const CUDA_MEMCPY2D *c)
{
    return (struct cw_trace_parameters){
        .bytes = c->WidthInBytes * c->Height,
        .address = begin_of(c->dstMemoryType, c->dstHost, c->dstDevice, c->dstXInBytes + c->dstY * c->dstPitch),
        .source = begin_of(c->srcMemoryType, c->srcHost, c->srcDevice, c->srcXInBytes + c->srcY * c->srcPitch)};
}

/* The two structures of the driver's boxes have the same members. */
#define BOX(c)                                                                                                         \
    (struct cw_trace_parameters)                                                                                       \
    {                                                                                                                  \
        .bytes = (c)->WidthInBytes * (c)->Height * (c)->Depth,                                                         \
        .address = begin_of((c)->dstMemoryType, (c)->dstHost, (c)->dstDevice,                                          \
                            (c)->dstXInBytes + ((c)->dstY + (c)->dstZ * (c)->dstHeight) * (c)->dstPitch),              \
        .source = begin_of((c)->srcMemoryType, (c)->srcHost, (c)->srcDevice,                                           \
                           (c)->srcXInBytes + ((c)->srcY + (c)->srcZ * (c)->srcHeight) * (c)->srcPitch)                \
    }

static struct cw_trace_parameters of_box(const CUDA_MEMCPY3D *c)
{
    return BOX(c);
}

static struct cw_trace_parameters of_peer_box(const CUDA_MEMCPY3D_PEER *c)
{
    return BOX(c);
}

static uint64_t begin_of_pitched(cudaArray_t array, struct cudaPitchedPtr memory, struct cudaPos at)
{
    return array ? CW_TRACE_UNKNOWN : ADDRESS(memory.ptr) + at.x + (at.y + at.z * memory.ysize) * memory.pitch;
}

/* With an array the extent is in its elements, whose size is not known here. */
#define RUNTIME_BOX(c)                                                                                                 \
    (struct cw_trace_parameters)                                                                                       \
    {                                                                                                                  \
        .bytes = (c)->srcArray || (c)->dstArray ? CW_TRACE_UNKNOWN                                                     \
                                                : (c)->extent.width * (c)->extent.height * (c)->extent.depth,          \
        .address = begin_of_pitched((c)->dstArray, (c)->dstPtr, (c)->dstPos),                                          \
        .source = begin_of_pitched((c)->srcArray, (c)->srcPtr, (c)->srcPos)                                            \
    }

static struct cw_trace_parameters of_runtime_box(const struct cudaMemcpy3DParms *c)
{
    return RUNTIME_BOX(c);
}

static struct cw_trace_parameters of_runtime_peer_box(const struct cudaMemcpy3DPeerParms *c)
{
    return RUNTIME_BOX(c);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static struct cw_trace_parameters of_runtime(CUpti_CallbackId id, const void *parameters)
{
    switch (id) {
#define X(...) ALLOCATES(RUNTIME, __VA_ARGS__)
        RUNTIME_ALLOCATES(X)
#undef X
#define X(...) SIZED(RUNTIME, __VA_ARGS__)
        RUNTIME_SIZED(X)
#undef X
#define X(...) OF(RUNTIME, __VA_ARGS__)
        RUNTIME_OF(X)
#undef X
#define X(...) COPIES(RUNTIME, __VA_ARGS__)
        RUNTIME_COPIES(X)
#undef X
#define X(...) COPIES_TO(RUNTIME, __VA_ARGS__)
        RUNTIME_COPIES_TO(X)
#undef X
#define X(...) COPIES_FROM(RUNTIME, __VA_ARGS__)
        RUNTIME_COPIES_FROM(X)
#undef X
#define X(...) SIZES(RUNTIME, __VA_ARGS__)
        RUNTIME_COPIES_ARRAYS(X)
#undef X
#define X(...) DESCRIBED(RUNTIME, __VA_ARGS__, of_runtime_box, p)
        RUNTIME_BOXES(X)
#undef X
#define X(...) BATCH(RUNTIME, __VA_ARGS__)
        RUNTIME_BATCHES(X)
#undef X
#define X(...) DESCRIBED(RUNTIME, __VA_ARGS__, of_runtime_peer_box, p)
        RUNTIME_PEER_BOXES(X)
#undef X
    default:
        return none;
    }
}

static struct cw_trace_parameters of_driver(CUpti_CallbackId id, const void *parameters)
{
    switch (id) {
#define X(...) ALLOCATES(DRIVER, __VA_ARGS__)
        DRIVER_ALLOCATES(X)
#undef X
#define X(...) SIZED(DRIVER, __VA_ARGS__)
        DRIVER_SIZED(X)
#undef X
#define X(...) OF(DRIVER, __VA_ARGS__)
        DRIVER_OF(X)
#undef X
#define X(...) COPIES(DRIVER, __VA_ARGS__)
        DRIVER_COPIES(X)
#undef X
#define X(...) COPIES_TO(DRIVER, __VA_ARGS__)
        DRIVER_COPIES_TO(X)
#undef X
#define X(...) COPIES_FROM(DRIVER, __VA_ARGS__)
        DRIVER_COPIES_FROM(X)
#undef X
#define X(...) SIZES(DRIVER, __VA_ARGS__)
        DRIVER_SIZES(X)
#undef X
#define X(...) DESCRIBED(DRIVER, __VA_ARGS__, of_plane, pCopy)
        DRIVER_PLANES(X)
#undef X
#define X(...) DESCRIBED(DRIVER, __VA_ARGS__, of_box, pCopy)
        DRIVER_BOXES(X)
#undef X
#define X(...) BATCH(DRIVER, __VA_ARGS__)
        DRIVER_BATCHES(X)
#undef X
#define X(...) DESCRIBED(DRIVER, __VA_ARGS__, of_peer_box, pCopy)
        DRIVER_PEER_BOXES(X)
#undef X
    default:
        return none;
    }
}

struct cw_trace_parameters cw_trace_parameters_of(CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                                  const CUpti_CallbackData *call)
{
    if (!call->functionParams || !call->functionReturnValue || *(const uint32_t *)call->functionReturnValue)
        return none;
    return domain == CUPTI_CB_DOMAIN_RUNTIME_API ? of_runtime(id, call->functionParams)
                                                 : of_driver(id, call->functionParams);
}
