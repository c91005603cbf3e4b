/* Functions of libcupti and libcuda that the injection library calls, loaded at run time. */
#ifndef CW_AGENT_CUPTI_API_H
#define CW_AGENT_CUPTI_API_H

#include <stdbool.h>
#include <stddef.h>

#include <cuda.h>
#include <cupti.h>
#include <cupti_pcsampling.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_sass_metrics.h>
#include <cupti_target.h>

#include "base/error.h"

#define CW_CUPTI_FUNCTIONS(X)                                                                                          \
    X(cuptiSubscribe)                                                                                                  \
    X(cuptiEnableCallback)                                                                                             \
    X(cuptiGetCallbackName)                                                                                            \
    X(cuptiGetContextId)                                                                                               \
    X(cuptiGetStreamIdEx)                                                                                              \
    X(cuptiGetVersion)                                                                                                 \
    X(cuptiGetResultString)                                                                                            \
    X(cuptiProfilerInitialize)                                                                                         \
    X(cuptiProfilerDeviceSupported)                                                                                    \
    X(cuptiDeviceGetChipName)                                                                                          \
    X(cuptiRangeProfilerEnable)                                                                                        \
    X(cuptiRangeProfilerDisable)                                                                                       \
    X(cuptiRangeProfilerSetConfig)                                                                                     \
    X(cuptiRangeProfilerStart)                                                                                         \
    X(cuptiRangeProfilerStop)                                                                                          \
    X(cuptiRangeProfilerPushRange)                                                                                     \
    X(cuptiRangeProfilerPopRange)                                                                                      \
    X(cuptiRangeProfilerDecodeData)                                                                                    \
    X(cuptiRangeProfilerGetCounterDataSize)                                                                            \
    X(cuptiRangeProfilerCounterDataImageInitialize)                                                                    \
    X(cuptiPCSamplingEnable)                                                                                           \
    X(cuptiPCSamplingDisable)                                                                                          \
    X(cuptiPCSamplingStart)                                                                                            \
    X(cuptiPCSamplingStop)                                                                                             \
    X(cuptiPCSamplingGetData)                                                                                          \
    X(cuptiPCSamplingGetNumStallReasons)                                                                               \
    X(cuptiPCSamplingGetStallReasons)                                                                                  \
    X(cuptiPCSamplingSetConfigurationAttribute)                                                                        \
    X(cuptiPCSamplingGetConfigurationAttribute)                                                                        \
    X(cuptiGetCubinCrc)                                                                                                \
    X(cuptiSassMetricsGetNumOfMetrics)                                                                                 \
    X(cuptiSassMetricsGetMetrics)                                                                                      \
    X(cuptiSassMetricsGetProperties)                                                                                   \
    X(cuptiSassMetricsSetConfig)                                                                                       \
    X(cuptiSassMetricsUnsetConfig)                                                                                     \
    X(cuptiSassMetricsEnable)                                                                                          \
    X(cuptiSassMetricsDisable)                                                                                         \
    X(cuptiSassMetricsGetDataProperties)                                                                               \
    X(cuptiSassMetricsFlushData)

/* Functions that may be missing; they are NULL then. */
#define CW_CUPTI_OPTIONAL_FUNCTIONS(X)                                                                                 \
    CW_CUPTI_ACTIVITY_FUNCTIONS(X)                                                                                     \
    CW_CUPTI_TRACE_FUNCTIONS(X)

#define CW_CUPTI_ACTIVITY_FUNCTIONS(X)                                                                                 \
    X(cuptiActivityRegisterTimestampCallback)                                                                          \
    X(cuptiActivityRegisterCallbacks)                                                                                  \
    X(cuptiActivityFlushPeriod)                                                                                        \
    X(cuptiActivityEnable)                                                                                             \
    X(cuptiActivityFlushAll)                                                                                           \
    X(cuptiActivityGetNextRecord)                                                                                      \
    X(cuptiActivityGetNumDroppedRecords)

/* Functions for traces only. */
#define CW_CUPTI_TRACE_FUNCTIONS(X)                                                                                    \
    X(cuptiActivityDisable)                                                                                            \
    X(cuptiUnsubscribe)                                                                                                \
    X(cuptiFinalize)                                                                                                   \
    X(cuptiActivityConfigureUnifiedMemoryCounter)                                                                      \
    X(cuptiActivityEnableLatencyTimestamps)                                                                            \
    X(cuptiActivityEnableLaunchAttributes)                                                                             \
    X(cuptiGetGraphId)                                                                                                 \
    X(cuptiGetGraphNodeId)                                                                                             \
    X(cuptiGetGraphExecId)                                                                                             \
    X(cuptiActivityPushExternalCorrelationId)                                                                          \
    X(cuptiActivityPopExternalCorrelationId)                                                                           \
    X(cuptiActivityEnableAndDump)                                                                                      \
    X(cuptiActivitySetAttribute)                                                                                       \
    X(cuptiSetThreadIdType)                                                                                            \
    CW_CUPTI_NEWER_TRACE_FUNCTIONS(X)
/* Headers older than CUDA 12.8 lack these. */
#if CUDA_VERSION >= 12080
#define CW_CUPTI_NEWER_TRACE_FUNCTIONS(X)                                                                              \
    X(cuptiActivityEnableHWTrace)                                                                                      \
    X(cuptiActivityEnableAllocationSource)                                                                             \
    X(cuptiActivityEnableDeviceGraph)                                                                                  \
    X(cuptiActivityEnableCudaEventDeviceTimestamps)
#else
#define CW_CUPTI_NEWER_TRACE_FUNCTIONS(X)
#endif

#define CW_CUDA_FUNCTIONS(X)                                                                                           \
    X(cuCtxGetCurrent)                                                                                                 \
    X(cuCtxGetDevice)                                                                                                  \
    X(cuDeviceGetPCIBusId)                                                                                             \
    X(cuCtxPushCurrent_v2)                                                                                             \
    X(cuCtxPopCurrent_v2)                                                                                              \
    X(cuDeviceGetName)                                                                                                 \
    X(cuDeviceGetAttribute)                                                                                            \
    X(cuDriverGetVersion)                                                                                              \
    X(cuStreamIsCapturing)                                                                                             \
    X(cuCtxSynchronize)                                                                                                \
    X(cuPointerGetAttribute)                                                                                           \
    X(cuMemsetD8Async)                                                                                                 \
    X(cuMemsetD16Async)                                                                                                \
    X(cuMemsetD32Async)                                                                                                \
    X(cuMemsetD2D8Async)                                                                                               \
    X(cuMemsetD2D16Async)                                                                                              \
    X(cuMemsetD2D32Async)                                                                                              \
    X(cuMemcpy3DAsync_v2)                                                                                              \
    X(cuMemcpyHtoDAsync_v2)                                                                                            \
    X(cuMemcpyDtoDAsync_v2)                                                                                            \
    X(cuStreamQuery)                                                                                                   \
    X(cuMemGetInfo_v2)                                                                                                 \
    X(cuMemAlloc_v2)                                                                                                   \
    X(cuMemFree_v2)

/* Some drivers lack these; they are NULL then. */
#define CW_CUDA_OPTIONAL_FUNCTIONS(X)                                                                                  \
    X(cuDeviceGetCount)                                                                                                \
    X(cuDevicePrimaryCtxGetState)                                                                                      \
    X(cuDevicePrimaryCtxRetain)                                                                                        \
    X(cuDevicePrimaryCtxRelease_v2)                                                                                    \
    X(cuCtxGetExecAffinity)                                                                                            \
    X(cuLaunchKernelEx)                                                                                                \
    X(cuFuncGetParamInfo)                                                                                              \
    X(cuFuncGetAttribute)                                                                                              \
    X(cuFuncLoad)                                                                                                      \
    X(cuModuleLoadData)                                                                                                \
    X(cuModuleGetFunction)                                                                                             \
    X(cuMemcpyDtoH_v2)                                                                                                 \
    X(cuMemGetAccess)                                                                                                  \
    X(cuKernelGetAttribute)                                                                                            \
    X(cuKernelGetFunction)                                                                                             \
    X(cuDeviceTotalMem_v2)                                                                                             \
    X(cuKernelGetParamInfo)                                                                                            \
    X(cuGraphLaunch)                                                                                                   \
    X(cuGraphGetNodes)                                                                                                 \
    X(cuGraphNodeGetType)                                                                                              \
    X(cuGraphChildGraphNodeGetGraph)                                                                                   \
    X(cuGraphKernelNodeGetParams_v2)                                                                                   \
    X(cuGraphKernelNodeGetAttribute)                                                                                   \
    X(cuGraphMemcpyNodeGetParams)                                                                                      \
    X(cuGraphMemsetNodeGetParams)                                                                                      \
    X(cuGraphGetEdges_v2)                                                                                              \
    X(cuFuncGetName)                                                                                                   \
    X(cuKernelGetName)                                                                                                 \
    X(cuFuncGetModule)                                                                                                 \
    X(cuModuleGetGlobal_v2)                                                                                            \
    X(cuMemHostAlloc)                                                                                                  \
    X(cuMemFreeHost)                                                                                                   \
    X(cuMemcpyDtoHAsync_v2)                                                                                            \
    X(cuDeviceGetGraphMemAttribute)                                                                                    \
    X(cuEventCreate)                                                                                                   \
    X(cuEventRecord)                                                                                                   \
    X(cuEventQuery)                                                                                                    \
    X(cuEventElapsedTime)                                                                                              \
    X(cuEventDestroy_v2)

struct cw_cupti {
#define X(name) __typeof__(&name) name;
    CW_CUPTI_FUNCTIONS(X)
    CW_CUPTI_OPTIONAL_FUNCTIONS(X)
    CW_CUDA_FUNCTIONS(X)
    CW_CUDA_OPTIONAL_FUNCTIONS(X)
#undef X
    void *cupti_library, *cuda_library; /* for functions that only one part of the agent needs */
    char missing[512];                  /* reason why loading failed */
};

/* Loads both libraries. Prefers a libcupti that the program has loaded already (two would disturb each other), then the
 * one at `path`, then the loader's. False, with the reason in `missing`, if that fails. */
bool cw_cupti_load(struct cw_cupti *api, const char *path);

/* Writes one line for people about a failed call, with advice if there is any. Returns the agent's status for it. */
enum cw_status cw_cupti_explain(const struct cw_cupti *api, CUptiResult result, const char *call, char *text,
                                size_t size);

#endif
