#include "agent/inject/modes/trace_parameters.h"

/* A copy to or from a symbol names a variable of the host, and no memory: it is left out. Calls of the same form, in
 * both APIs, by the members of CUPTI's structures of parameters: the pointer to the new memory and its size; the memory
 * and its size; the memory alone; target, source and size. */
#define RUNTIME_ALLOCATES(X)                                                                                           \
    X(cudaMalloc_v3020, devPtr, size)                                                                                  \
    X(cudaMallocAsync_v11020, devPtr, size)                                                                            \
    X(cudaMallocAsync_ptsz_v11020, devPtr, size)                                                                       \
    X(cudaMallocFromPoolAsync_v11020, ptr, size)                                                                       \
    X(cudaMallocFromPoolAsync_ptsz_v11020, ptr, size)                                                                  \
    X(cudaMallocHost_v3020, ptr, size)                                                                                 \
    X(cudaHostAlloc_v3020, pHost, size)                                                                                \
    X(cudaMallocManaged_v6000, devPtr, size)
#if CUDA_VERSION >= 13000 /* older headers have other names */
#define RUNTIME_PREFETCHES(X)                                                                                          \
    X(cudaMemPrefetchAsync_v12020, devPtr, count) X(cudaMemPrefetchAsync_ptsz_v12020, devPtr, count)
#else
#define RUNTIME_PREFETCHES(X)
#endif
#define RUNTIME_SIZED(X)                                                                                               \
    X(cudaHostRegister_v4000, ptr, size)                                                                               \
    X(cudaMemset_v3020, devPtr, count)                                                                                 \
    X(cudaMemset_ptds_v7000, devPtr, count)                                                                            \
    X(cudaMemsetAsync_v3020, devPtr, count)                                                                            \
    X(cudaMemsetAsync_ptsz_v7000, devPtr, count)                                                                       \
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
    X(cudaMemcpyPeerAsync_v4000, dst, src, count)

#define DRIVER_ALLOCATES(X)                                                                                            \
    X(cuMemAlloc_v2, dptr, bytesize)                                                                                   \
    X(cuMemAllocAsync, dptr, bytesize)                                                                                 \
    X(cuMemAllocAsync_ptsz, dptr, bytesize)                                                                            \
    X(cuMemAllocFromPoolAsync, dptr, bytesize)                                                                         \
    X(cuMemAllocFromPoolAsync_ptsz, dptr, bytesize)                                                                    \
    X(cuMemAllocManaged, dptr, bytesize)                                                                               \
    X(cuMemAllocHost_v2, pp, bytesize)                                                                                 \
    X(cuMemHostAlloc, pp, bytesize)                                                                                    \
    X(cuMemAddressReserve, ptr, size)
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
    X(cuMemsetD32Async_ptsz, dstDevice, N * 4)
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
    X(cuMemcpyPeerAsync, dstDevice, srcDevice, ByteCount)

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

static const struct cw_trace_parameters none = {CW_TRACE_UNKNOWN, CW_TRACE_UNKNOWN, CW_TRACE_UNKNOWN};

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
