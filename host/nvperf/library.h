/* Loaded functions of libnvperf_host.so, for the files of this folder only. */
#ifndef CW_NVPERF_LIBRARY_H
#define CW_NVPERF_LIBRARY_H

#include <nvperf_cuda_host.h>
#include <nvperf_host.h>

#include "host/nvperf/nvperf.h"

#define CW_NVPERF_FUNCTIONS(X)                                                                                         \
    X(InitializeHost)                                                                                                  \
    X(GetSupportedChipNames)                                                                                           \
    X(CUDA_MetricsEvaluator_CalculateScratchBufferSize)                                                                \
    X(CUDA_MetricsEvaluator_Initialize)                                                                                \
    X(MetricsEvaluator_Destroy)                                                                                        \
    X(MetricsEvaluator_GetMetricNames)                                                                                 \
    X(MetricsEvaluator_ConvertMetricNameToMetricEvalRequest)                                                           \
    X(MetricsEvaluator_HwUnitToString)                                                                                 \
    X(MetricsEvaluator_GetCounterProperties)                                                                           \
    X(MetricsEvaluator_GetRatioMetricProperties)                                                                       \
    X(MetricsEvaluator_GetThroughputMetricProperties)                                                                  \
    X(MetricsEvaluator_GetSupportedSubmetrics)                                                                         \
    X(MetricsEvaluator_GetMetricRawDependencies)                                                                       \
    X(MetricsEvaluator_DimUnitToString)                                                                                \
    X(MetricsEvaluator_GetMetricDimUnits)                                                                              \
    X(MetricsEvaluator_SetUserData)                                                                                    \
    X(MetricsEvaluator_SetDeviceAttributes)                                                                            \
    X(MetricsEvaluator_EvaluateToGpuValues)                                                                            \
    X(CUDA_RawCounterConfig_Create)                                                                                    \
    X(RawCounterConfig_Destroy)                                                                                        \
    X(RawCounterConfig_GetAllAvailableRawCounterDomains)                                                               \
    X(RawCounterConfig_GetAllAvailableCooperativeDomainGroups)                                                         \
    X(RawCounterConfig_CooperativeDomainGroup_GetMemberDomains)                                                        \
    X(RawCounterConfig_RawCounterDomainToString)                                                                       \
    X(RawCounterConfig_BeginPassGroup)                                                                                 \
    X(RawCounterConfig_EndPassGroup)                                                                                   \
    X(RawCounterConfig_GetNumRawCounters)                                                                              \
    X(RawCounterConfig_GetRawCounterName)                                                                              \
    X(RawCounterConfig_AddRawCounters)                                                                                 \
    X(RawCounterConfig_AreRawCountersSchedulable)                                                                      \
    X(RawCounterConfig_MergePassGroups)                                                                                \
    X(RawCounterConfig_GenerateConfigImage)                                                                            \
    X(RawCounterConfig_GetConfigImage)                                                                                 \
    X(RawCounterConfig_GetNumPasses)                                                                                   \
    X(Config_GetRawCounterInfo)

struct cw_nvperf_num_ranges;
struct cw_nvperf_sampler_size;
struct cw_nvperf_sampler_initialize;

struct cw_nvperf {
    char path[512];
    /* NULL where they are missing */
    NVPA_Status (*CounterData_GetNumRanges)(struct cw_nvperf_num_ranges *params);
    NVPA_Status (*Device_MetricsEvaluator_CalculateScratchBufferSize)(struct cw_nvperf_sampler_size *params);
    NVPA_Status (*Device_MetricsEvaluator_Initialize)(struct cw_nvperf_sampler_initialize *params);
#define X(name) __typeof__(&NVPW_##name) name;
    CW_NVPERF_FUNCTIONS(X)
#undef X
};

/* Declares the parameters of NVPW_name, with their size and these members filled in. */
#define CW_NVPERF_PARAMS(name, params, ...)                                                                            \
    NVPW_##name##_Params params = {.structSize = NVPW_##name##_Params_STRUCT_SIZE, __VA_ARGS__}

/* Returns CW_OK, or an error that names the call and the library's status. */
enum cw_status cw_nvperf_check(NVPA_Status status, const char *call, struct cw_error *err);

/* Calls `library`->name(&params); CW_NVPERF_TRY returns from the enclosing function when it fails. */
#define CW_NVPERF_CALL(library, name, params, err) cw_nvperf_check((library)->name(&(params)), "NVPW_" #name, err)
#define CW_NVPERF_TRY(library, name, params, err) CW_TRY(CW_NVPERF_CALL(library, name, params, err))

enum { CW_NVPERF_NAME_SIZE = 20 };
/* Writes "0x%016x". Returns `name`. */
const char *cw_nvperf_raw_name(uint64_t raw, char name[CW_NVPERF_NAME_SIZE]);
bool cw_nvperf_raw_number(const char *name, uint64_t *raw);

#endif
