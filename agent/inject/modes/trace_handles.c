#include "agent/inject/modes/trace_handles.h"

#include <stddef.h>

/* Calls with a stream, by name and member of CUPTI's structure of parameters. BOTH: of the driver, also in the form in
 * which 0 is the thread's own stream; PAIR: the same of the runtime, by the versions of the two. */
#define DRIVER_STREAMS                                                                                                 \
    BOTH(cuLaunchKernel, hStream)                                                                                      \
    BOTH(cuLaunchCooperativeKernel, hStream)                                                                           \
    BOTH(cuLaunchHostFunc, hStream)                                                                                    \
    BOTH(cuGraphLaunch, hStream)                                                                                       \
    BOTH(cuGraphUpload, hStream)                                                                                       \
    BOTH(cuMemcpyAsync, hStream)                                                                                       \
    BOTH(cuMemcpyPeerAsync, hStream)                                                                                   \
    BOTH(cuMemcpyHtoDAsync_v2, hStream)                                                                                \
    BOTH(cuMemcpyDtoHAsync_v2, hStream)                                                                                \
    BOTH(cuMemcpyDtoDAsync_v2, hStream)                                                                                \
    BOTH(cuMemcpyHtoAAsync_v2, hStream)                                                                                \
    BOTH(cuMemcpyAtoHAsync_v2, hStream)                                                                                \
    BOTH(cuMemcpy2DAsync_v2, hStream)                                                                                  \
    BOTH(cuMemcpy3DAsync_v2, hStream)                                                                                  \
    BOTH(cuMemcpy3DPeerAsync, hStream)                                                                                 \
    BOTH(cuMemsetD8Async, hStream)                                                                                     \
    BOTH(cuMemsetD16Async, hStream)                                                                                    \
    BOTH(cuMemsetD32Async, hStream)                                                                                    \
    BOTH(cuMemsetD2D8Async, hStream)                                                                                   \
    BOTH(cuMemsetD2D16Async, hStream)                                                                                  \
    BOTH(cuMemsetD2D32Async, hStream)                                                                                  \
    BOTH(cuMemAllocAsync, hStream)                                                                                     \
    BOTH(cuMemAllocFromPoolAsync, hStream)                                                                             \
    BOTH(cuMemFreeAsync, hStream)                                                                                      \
    BOTH(cuMemPrefetchAsync, hStream)                                                                                  \
    BOTH(cuMemPrefetchAsync_v2, hStream)                                                                               \
    BOTH(cuEventRecord, hStream)                                                                                       \
    BOTH(cuEventRecordWithFlags, hStream)                                                                              \
    BOTH(cuStreamWaitEvent, hStream)                                                                                   \
    BOTH(cuStreamWaitValue32_v2, stream)                                                                               \
    BOTH(cuStreamWaitValue64_v2, stream)                                                                               \
    BOTH(cuStreamWriteValue32_v2, stream)                                                                              \
    BOTH(cuStreamWriteValue64_v2, stream)                                                                              \
    BOTH(cuStreamBatchMemOp_v2, stream)                                                                                \
    BOTH(cuStreamAddCallback, hStream)                                                                                 \
    BOTH(cuStreamAttachMemAsync, hStream)                                                                              \
    BOTH(cuStreamBeginCapture_v2, hStream)                                                                             \
    BOTH(cuStreamBeginCaptureToGraph, hStream)                                                                         \
    BOTH(cuStreamEndCapture, hStream)                                                                                  \
    BOTH(cuSignalExternalSemaphoresAsync, stream)                                                                      \
    BOTH(cuWaitExternalSemaphoresAsync, stream)                                                                        \
    BOTH(cuGraphicsMapResources, hStream)                                                                              \
    BOTH(cuGraphicsUnmapResources, hStream)                                                                            \
    BOTH(cuMemMapArrayAsync, hStream)                                                                                  \
    BOTH(cuStreamQuery, hStream)                                                                                       \
    BOTH(cuStreamSynchronize, hStream)                                                                                 \
    IS(DRIVER, cuStreamDestroy_v2, hStream, 0)
#if CUDA_VERSION >= 13000
#define NEWEST_DRIVER_STREAMS                                                                                          \
    BOTH(cuMemcpyBatchAsync_v2, hStream)                                                                               \
    BOTH(cuMemcpy3DBatchAsync_v2, hStream)                                                                             \
    BOTH(cuMemPrefetchBatchAsync, hStream)                                                                             \
    BOTH(cuMemDiscardBatchAsync, hStream)                                                                              \
    BOTH(cuMemDiscardAndPrefetchBatchAsync, hStream)
#else
#define NEWEST_DRIVER_STREAMS
#endif
#if CUDA_VERSION >= 12080
#define NEWER_DRIVER_STREAMS                                                                                           \
    BOTH(cuMemcpyBatchAsync, hStream)                                                                                  \
    BOTH(cuMemcpy3DBatchAsync, hStream)                                                                                \
    BOTH(cuMemBatchDecompressAsync, stream)                                                                            \
    NEWEST_DRIVER_STREAMS
#else
#define NEWER_DRIVER_STREAMS
#endif

#define RUNTIME_STREAMS                                                                                                \
    PAIR(cudaLaunchKernel, v7000, v7000, stream)                                                                       \
    PAIR(cudaLaunchCooperativeKernel, v9000, v9000, stream)                                                            \
    PAIR(cudaLaunchHostFunc, v10000, v10000, stream)                                                                   \
    PAIR(cudaGraphLaunch, v10000, v10000, stream)                                                                      \
    PAIR(cudaGraphUpload, v10000, v10000, stream)                                                                      \
    PAIR(cudaMemcpyAsync, v3020, v7000, stream)                                                                        \
    PAIR(cudaMemcpy2DAsync, v3020, v7000, stream)                                                                      \
    PAIR(cudaMemcpy2DToArrayAsync, v3020, v7000, stream)                                                               \
    PAIR(cudaMemcpy2DFromArrayAsync, v3020, v7000, stream)                                                             \
    PAIR(cudaMemcpyToArrayAsync, v3020, v7000, stream)                                                                 \
    PAIR(cudaMemcpyFromArrayAsync, v3020, v7000, stream)                                                               \
    PAIR(cudaMemcpyToSymbolAsync, v3020, v7000, stream)                                                                \
    PAIR(cudaMemcpyFromSymbolAsync, v3020, v7000, stream)                                                              \
    PAIR(cudaMemcpy3DAsync, v3020, v7000, stream)                                                                      \
    PAIR(cudaMemcpy3DPeerAsync, v4000, v7000, stream)                                                                  \
    IS(RUNTIME, cudaMemcpyPeerAsync_v4000, stream, 0)                                                                  \
    PAIR(cudaMemsetAsync, v3020, v7000, stream)                                                                        \
    PAIR(cudaMemset2DAsync, v3020, v7000, stream)                                                                      \
    PAIR(cudaMemset3DAsync, v3020, v7000, stream)                                                                      \
    PAIR(cudaMallocAsync, v11020, v11020, hStream)                                                                     \
    PAIR(cudaMallocFromPoolAsync, v11020, v11020, stream)                                                              \
    PAIR(cudaFreeAsync, v11020, v11020, hStream)                                                                       \
    PAIR(cudaEventRecord, v3020, v7000, stream)                                                                        \
    PAIR(cudaEventRecordWithFlags, v11010, v11010, stream)                                                             \
    PAIR(cudaStreamWaitEvent, v3020, v7000, stream)                                                                    \
    PAIR(cudaStreamAddCallback, v5000, v7000, stream)                                                                  \
    PAIR(cudaStreamAttachMemAsync, v6000, v7000, stream)                                                               \
    PAIR(cudaStreamBeginCapture, v10000, v10000, stream)                                                               \
    PAIR(cudaStreamBeginCaptureToGraph, v12030, v12030, stream)                                                        \
    PAIR(cudaSignalExternalSemaphoresAsync, v11020, v11020, stream)                                                    \
    PAIR(cudaWaitExternalSemaphoresAsync, v11020, v11020, stream)                                                      \
    IS(RUNTIME, cudaGraphicsMapResources_v3020, stream, 0)                                                             \
    IS(RUNTIME, cudaGraphicsUnmapResources_v3020, stream, 0)                                                           \
    PAIR(cudaStreamEndCapture, v10000, v10000, stream)                                                                 \
    PAIR(cudaStreamQuery, v3020, v7000, stream)                                                                        \
    PAIR(cudaStreamSynchronize, v3020, v7000, stream)                                                                  \
    IS(RUNTIME, cudaStreamDestroy_v5050, stream, 0)
#if CUDA_VERSION >= 13000
#define NEWER_RUNTIME_STREAMS                                                                                          \
    PAIR(cudaMemPrefetchAsync, v12020, v12020, stream)                                                                 \
    PAIR(cudaMemcpyBatchAsync, v13000, v13000, stream)                                                                 \
    PAIR(cudaMemcpy3DBatchAsync, v13000, v13000, stream)                                                               \
    PAIR(cudaMemPrefetchBatchAsync, v13000, v13000, stream)                                                            \
    PAIR(cudaMemDiscardBatchAsync, v13000, v13000, stream)                                                             \
    PAIR(cudaMemDiscardAndPrefetchBatchAsync, v13000, v13000, stream)
#else
#define NEWER_RUNTIME_STREAMS
#endif

/* Calls with an event. */
#define DRIVER_EVENTS                                                                                                  \
    BOTH(cuEventRecord, hEvent)                                                                                        \
    BOTH(cuEventRecordWithFlags, hEvent)                                                                               \
    BOTH(cuStreamWaitEvent, hEvent)                                                                                    \
    IS(DRIVER, cuEventQuery, hEvent, 0)                                                                                \
    IS(DRIVER, cuEventSynchronize, hEvent, 0)                                                                          \
    IS(DRIVER, cuEventDestroy_v2, hEvent, 0)                                                                           \
    IS(DRIVER, cuEventCreate, phEvent, POINTS)
#define RUNTIME_EVENTS                                                                                                 \
    PAIR(cudaEventRecord, v3020, v7000, event)                                                                         \
    PAIR(cudaEventRecordWithFlags, v11010, v11010, event)                                                              \
    PAIR(cudaStreamWaitEvent, v3020, v7000, event)                                                                     \
    IS(RUNTIME, cudaEventQuery_v3020, event, 0)                                                                        \
    IS(RUNTIME, cudaEventSynchronize_v3020, event, 0)                                                                  \
    IS(RUNTIME, cudaEventDestroy_v3020, event, 0)                                                                      \
    IS(RUNTIME, cudaEventCreate_v3020, event, POINTS)                                                                  \
    IS(RUNTIME, cudaEventCreateWithFlags_v3020, event, POINTS)

/* How a call names the object: its parameter of that number, from 1 on, each of 8 bytes; 0: it does not. */
enum { PLACE = 0x1f, OF_THREAD = 0x20, IN_CONFIG = 0x40, POINTS = 0x80 };

/* Names of calls are only pasted, because cuda.h defines some of them as newer ones. */
#define ENTRY(id, parameters, member, more) [id] = (offsetof(parameters, member) / sizeof(void *) + 1) | (more),
#define IS(api, call, member, more) ENTRY(CUPTI_##api##_TRACE_CBID_##call, call##_params, member, more)
#define BOTH(call, member)                                                                                             \
    ENTRY(CUPTI_DRIVER_TRACE_CBID_##call, call##_params, member, 0)                                                    \
    ENTRY(CUPTI_DRIVER_TRACE_CBID_##call##_ptsz, call##_ptsz_params, member, OF_THREAD)
#define PAIR(call, version, other, member)                                                                             \
    IS(RUNTIME, call##_##version, member, 0) IS(RUNTIME, call##_ptsz_##other, member, OF_THREAD)

static const uint8_t driver_streams[CUPTI_DRIVER_TRACE_CBID_SIZE] = {DRIVER_STREAMS NEWER_DRIVER_STREAMS IS(
    DRIVER, cuLaunchKernelEx, config, IN_CONFIG) IS(DRIVER, cuLaunchKernelEx_ptsz, config, IN_CONFIG | OF_THREAD)};
static const uint8_t runtime_streams[CUPTI_RUNTIME_TRACE_CBID_SIZE] = {
    RUNTIME_STREAMS NEWER_RUNTIME_STREAMS IS(RUNTIME, cudaLaunchKernelExC_v11060, config, IN_CONFIG)
        IS(RUNTIME, cudaLaunchKernelExC_ptsz_v11060, config, IN_CONFIG | OF_THREAD)};
static const uint8_t driver_events[CUPTI_DRIVER_TRACE_CBID_SIZE] = {DRIVER_EVENTS};
static const uint8_t runtime_events[CUPTI_RUNTIME_TRACE_CBID_SIZE] = {RUNTIME_EVENTS};

_Static_assert(offsetof(CUlaunchConfig, hStream) == offsetof(cudaLaunchConfig_t, stream), "both are read alike");

static bool is_of_runtime(CUpti_CallbackDomain domain)
{
    return domain == CUPTI_CB_DOMAIN_RUNTIME_API;
}

static uint8_t place_of(CUpti_CallbackDomain domain, CUpti_CallbackId id, const uint8_t *runtime, const uint8_t *driver)
{
    if (is_of_runtime(domain))
        return id < CUPTI_RUNTIME_TRACE_CBID_SIZE ? runtime[id] : 0;
    return id < CUPTI_DRIVER_TRACE_CBID_SIZE ? driver[id] : 0;
}

static void *parameter(const CUpti_CallbackData *call, uint8_t place)
{
    return ((void *const *)call->functionParams)[(place & PLACE) - 1];
}

/* Whether a call has looked at its parameters, which exist then; `made`: it did what it was to do. Other errors may
 * come before that look. Those of a stream's capture have the numbers from 900 on, in both APIs. */
static bool took_parameters(const CUpti_CallbackData *call, bool made)
{
    enum { LAST_OF_CAPTURE = 908 };
    if (!call->functionParams || call->callbackSite == CUPTI_API_ENTER)
        return false;
    const CUresult result = call->functionReturnValue ? *(const CUresult *)call->functionReturnValue : CUDA_SUCCESS;
    return result == CUDA_SUCCESS ||
           (!made && (result == CUDA_ERROR_NOT_READY ||
                      (result >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED && (int)result <= LAST_OF_CAPTURE)));
}

bool cw_trace_stream_of(CUstream *stream, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                        const CUpti_CallbackData *call)
{
    const uint8_t place = place_of(domain, id, runtime_streams, driver_streams);
    const bool ends = call->callbackSite == CUPTI_API_ENTER && cw_trace_ends_stream(domain, id);
    if (!place || !(ends ? call->functionParams != NULL : took_parameters(call, false)))
        return false;
    void *found = parameter(call, place);
    if (!found && place & IN_CONFIG)
        return false;
    *stream = place & IN_CONFIG ? ((const CUlaunchConfig *)found)->hStream : found;
    if (!*stream && place & OF_THREAD)
        *stream = CU_STREAM_PER_THREAD;
    return true;
}

uint64_t cw_trace_event_of(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    const uint8_t place = place_of(domain, id, runtime_events, driver_events);
    if (!place || !took_parameters(call, place & POINTS))
        return CW_TRACE_UNKNOWN;
    void *found = parameter(call, place);
    if (!found)
        return CW_TRACE_UNKNOWN;
    return (uintptr_t)(place & POINTS ? *(void *const *)found : found);
}

bool cw_trace_ends_stream(CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
    return is_of_runtime(domain)
               ? id == CUPTI_RUNTIME_TRACE_CBID_cudaStreamDestroy_v5050
               : id == CUPTI_DRIVER_TRACE_CBID_cuStreamDestroy_v2 || id == CUPTI_DRIVER_TRACE_CBID_cuStreamDestroy;
}
