/* The rival of query_bench: the least program over NVIDIA's host library that does the same.
 *
 *     nvperf_names CHIP            every full name, one a line
 *     nvperf_names CHIP METRIC     unit and measure of one counter's metric */
#include <dlfcn.h>
#include <nvperf_cuda_host.h>
#include <nvperf_host.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The library's suffixes, in the order of its enumerations. */
static const char *const submetrics[] = {"",
                                         ".peak_sustained",
                                         ".peak_sustained_active",
                                         ".peak_sustained_active.per_second",
                                         ".peak_sustained_elapsed",
                                         ".peak_sustained_elapsed.per_second",
                                         ".peak_sustained_frame",
                                         ".peak_sustained_frame.per_second",
                                         ".peak_sustained_region",
                                         ".peak_sustained_region.per_second",
                                         ".per_cycle_active",
                                         ".per_cycle_elapsed",
                                         ".per_cycle_in_frame",
                                         ".per_cycle_in_region",
                                         ".per_second",
                                         ".pct_of_peak_sustained_active",
                                         ".pct_of_peak_sustained_elapsed",
                                         ".pct_of_peak_sustained_frame",
                                         ".pct_of_peak_sustained_region",
                                         ".max_rate",
                                         ".pct",
                                         ".ratio"};
static const char *const rollups[] = {".sum", ".avg", ".min", ".max"};

static void *handle;
static NVPW_MetricsEvaluator *evaluator;

#define PARAMS(name, variable) NVPW_##name##_Params variable = {.structSize = NVPW_##name##_Params_STRUCT_SIZE}

/* Calls a function of the library; ends the program where it fails. */
#define CALL(name, params)                                                                                             \
    do {                                                                                                               \
        NVPA_Status (*call)(NVPW_##name##_Params *);                                                                   \
        *(void **)&call = dlsym(handle, "NVPW_" #name);                                                                \
        if (!call || call(&(params)) != NVPA_STATUS_SUCCESS) {                                                         \
            fprintf(stderr, "nvperf_names: NVPW_" #name " failed\n");                                                  \
            exit(4);                                                                                                   \
        }                                                                                                              \
    } while (0)

static void open_chip(const char *chip)
{
    static const char *const places[] = {"libnvperf_host.so", "/usr/local/cuda/lib64/libnvperf_host.so",
                                         "/usr/local/cuda/extras/CUPTI/lib64/libnvperf_host.so"};
    const char *told = getenv("CW_NVPERF_HOST");
    handle = told ? dlopen(told, RTLD_NOW) : NULL;
    for (size_t i = 0; !handle && i < sizeof places / sizeof *places; i++)
        handle = dlopen(places[i], RTLD_NOW);
    if (!handle) {
        fprintf(stderr, "nvperf_names: libnvperf_host.so was not found\n");
        exit(4);
    }
    PARAMS(InitializeHost, host);
    CALL(InitializeHost, host);
    PARAMS(CUDA_MetricsEvaluator_CalculateScratchBufferSize, size);
    size.pChipName = chip;
    CALL(CUDA_MetricsEvaluator_CalculateScratchBufferSize, size);
    PARAMS(CUDA_MetricsEvaluator_Initialize, init);
    init.pChipName = chip;
    init.scratchBufferSize = size.scratchBufferSize;
    init.pScratchBuffer = malloc(size.scratchBufferSize);
    CALL(CUDA_MetricsEvaluator_Initialize, init);
    evaluator = init.pMetricsEvaluator;
}

static void put(const char *text)
{
    fwrite(text, 1, strlen(text), stdout);
}

static void print_names(NVPW_MetricType type)
{
    PARAMS(MetricsEvaluator_GetMetricNames, names);
    names.pMetricsEvaluator = evaluator;
    names.metricType = (uint8_t)type;
    CALL(MetricsEvaluator_GetMetricNames, names);
    PARAMS(MetricsEvaluator_GetSupportedSubmetrics, subs);
    subs.pMetricsEvaluator = evaluator;
    subs.metricType = (uint8_t)type;
    CALL(MetricsEvaluator_GetSupportedSubmetrics, subs);
    int rollup_count = type == NVPW_METRIC_TYPE_RATIO ? 1 : 4;
    for (size_t i = 0; i < names.numMetrics; i++)
        for (int r = 0; r < rollup_count; r++)
            for (size_t s = 0; s < subs.numSupportedSubmetrics; s++) {
                put(names.pMetricNames + names.pMetricNameBeginIndices[i]);
                put(rollup_count > 1 ? rollups[r] : "");
                put(submetrics[subs.pSupportedSubmetrics[s]]);
                put("\n");
            }
}

static void describe(const char *metric)
{
    NVPW_MetricEvalRequest request;
    PARAMS(MetricsEvaluator_ConvertMetricNameToMetricEvalRequest, convert);
    convert.pMetricsEvaluator = evaluator;
    convert.pMetricName = metric;
    convert.pMetricEvalRequest = &request;
    convert.metricEvalRequestStructSize = NVPW_MetricEvalRequest_STRUCT_SIZE;
    CALL(MetricsEvaluator_ConvertMetricNameToMetricEvalRequest, convert);
    PARAMS(MetricsEvaluator_GetCounterProperties, properties);
    properties.pMetricsEvaluator = evaluator;
    properties.counterIndex = request.metricIndex;
    CALL(MetricsEvaluator_GetCounterProperties, properties);
    PARAMS(MetricsEvaluator_HwUnitToString, unit);
    unit.pMetricsEvaluator = evaluator;
    unit.hwUnit = properties.hwUnit;
    CALL(MetricsEvaluator_HwUnitToString, unit);
    printf("%s %s\n", metric, unit.pHwUnitName);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    open_chip(argv[1]);
    if (argc > 2) {
        describe(argv[2]);
        return 0;
    }
    print_names(NVPW_METRIC_TYPE_COUNTER);
    print_names(NVPW_METRIC_TYPE_RATIO);
    print_names(NVPW_METRIC_TYPE_THROUGHPUT);
    return 0;
}
