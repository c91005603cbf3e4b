#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "host/nvperf/library.h"

/* Part of NVIDIA's public performance SDK, but not of the headers in the CUDA toolkit. */
struct cw_nvperf_num_ranges {
    size_t structSize;
    void *pPriv;
    const uint8_t *pCounterDataImage;
    size_t numRanges; /* out */
};
struct cw_nvperf_sampler_size {
    size_t structSize;
    void *pPriv;
    const char *pChipName;
    size_t scratchBufferSize; /* out */
};
struct cw_nvperf_sampler_initialize {
    size_t structSize;
    void *pPriv;
    uint8_t *pScratchBuffer;
    size_t scratchBufferSize;
    const char *pChipName; /* or an image */
    const uint8_t *pCounterDataImage;
    size_t counterDataImageSize;
    NVPW_MetricsEvaluator *pMetricsEvaluator; /* out */
};

struct cw_nvperf_evaluator {
    const struct cw_nvperf *library;
    NVPW_MetricsEvaluator *native;
    uint8_t *scratch;
    const uint8_t *image;
    size_t image_size;
    const char *names[CW_NVPERF_TYPE_COUNT];
    const size_t *name_starts[CW_NVPERF_TYPE_COUNT];
    size_t counts[CW_NVPERF_TYPE_COUNT];
};

struct cw_nvperf_requests {
    size_t count;
    NVPW_MetricEvalRequest list[];
};

static enum cw_status take_scratch(struct cw_nvperf_evaluator *e, size_t size, struct cw_error *err)
{
    e->scratch = malloc(size ? size : 1);
    return e->scratch ? CW_OK : cw_error_nomem(err);
}

static enum cw_status make_for_ranges(struct cw_nvperf_evaluator *e, const char *chip, struct cw_error *err)
{
    CW_NVPERF_PARAMS(CUDA_MetricsEvaluator_CalculateScratchBufferSize, size);
    CW_NVPERF_PARAMS(CUDA_MetricsEvaluator_Initialize, init);
    size.pChipName = chip;
    CW_NVPERF_TRY(e->library, CUDA_MetricsEvaluator_CalculateScratchBufferSize, size, err);
    if (take_scratch(e, size.scratchBufferSize, err) != CW_OK)
        return CW_ERR_NOMEM;
    init.scratchBufferSize = size.scratchBufferSize;
    init.pScratchBuffer = e->scratch;
    if (e->image) {
        init.pCounterDataImage = e->image;
        init.counterDataImageSize = e->image_size;
    } else {
        init.pChipName = chip;
    }
    CW_NVPERF_TRY(e->library, CUDA_MetricsEvaluator_Initialize, init, err);
    e->native = init.pMetricsEvaluator;
    return CW_OK;
}

static enum cw_status make_for_samples(struct cw_nvperf_evaluator *e, const char *chip, struct cw_error *err)
{
    struct cw_nvperf_sampler_size size = {.structSize = sizeof size, .pChipName = chip};
    struct cw_nvperf_sampler_initialize init = {.structSize = sizeof init};
    if (!e->library->Device_MetricsEvaluator_CalculateScratchBufferSize ||
        !e->library->Device_MetricsEvaluator_Initialize)
        return cw_error_set(err, CW_ERR_UNSUPPORTED,
                            "NVIDIA's host library lacks NVPW_Device_MetricsEvaluator_Initialize");
    CW_NVPERF_TRY(e->library, Device_MetricsEvaluator_CalculateScratchBufferSize, size, err);
    if (take_scratch(e, size.scratchBufferSize, err) != CW_OK)
        return CW_ERR_NOMEM;
    init.scratchBufferSize = size.scratchBufferSize;
    init.pScratchBuffer = e->scratch;
    init.pCounterDataImage = e->image;
    init.counterDataImageSize = e->image ? e->image_size : 0;
    init.pChipName = e->image ? NULL : chip;
    CW_NVPERF_TRY(e->library, Device_MetricsEvaluator_Initialize, init, err);
    e->native = init.pMetricsEvaluator;
    return CW_OK;
}

static enum cw_status initialize(struct cw_nvperf_evaluator *e, const char *chip, enum cw_nvperf_activity activity,
                                 struct cw_error *err)
{
    enum cw_status status =
        activity == CW_NVPERF_PROFILER ? make_for_ranges(e, chip, err) : make_for_samples(e, chip, err);
    if (status != CW_OK)
        return status;
    for (int type = 0; type < CW_NVPERF_TYPE_COUNT; type++) {
        CW_NVPERF_PARAMS(MetricsEvaluator_GetMetricNames, names, .pMetricsEvaluator = e->native,
                         .metricType = (uint8_t)type);
        CW_NVPERF_TRY(e->library, MetricsEvaluator_GetMetricNames, names, err);
        e->names[type] = names.pMetricNames;
        e->name_starts[type] = names.pMetricNameBeginIndices;
        e->counts[type] = names.numMetrics;
    }
    if (e->image) {
        CW_NVPERF_PARAMS(MetricsEvaluator_SetDeviceAttributes, device, .pMetricsEvaluator = e->native,
                         .pCounterDataImage = e->image, .counterDataImageSize = e->image_size);
        CW_NVPERF_TRY(e->library, MetricsEvaluator_SetDeviceAttributes, device, err);
    }
    return CW_OK;
}

enum cw_status cw_nvperf_evaluator_create(struct cw_nvperf_evaluator **evaluator, const struct cw_nvperf *library,
                                          const char *chip, enum cw_nvperf_activity activity, const void *image,
                                          size_t image_size, struct cw_error *err)
{
    struct cw_nvperf_evaluator *e = calloc(1, sizeof *e);
    *evaluator = NULL;
    if (!e)
        return cw_error_nomem(err);
    e->library = library;
    e->image = image;
    e->image_size = image_size;
    enum cw_status status = initialize(e, chip, activity, err);
    if (status != CW_OK) {
        cw_nvperf_evaluator_destroy(e);
        return status;
    }
    *evaluator = e;
    return CW_OK;
}

void cw_nvperf_evaluator_destroy(struct cw_nvperf_evaluator *e)
{
    if (!e)
        return;
    if (e->native) {
        CW_NVPERF_PARAMS(MetricsEvaluator_Destroy, p, .pMetricsEvaluator = e->native);
        e->library->MetricsEvaluator_Destroy(&p);
    }
    free(e->scratch);
    free(e);
}

size_t cw_nvperf_metric_count(const struct cw_nvperf_evaluator *e, enum cw_nvperf_type type)
{
    return e->counts[type];
}

const char *cw_nvperf_metric_name(const struct cw_nvperf_evaluator *e, enum cw_nvperf_type type, size_t index)
{
    return e->names[type] + e->name_starts[type][index];
}

static uint32_t hardware_unit(const struct cw_nvperf_evaluator *e, enum cw_nvperf_type type, size_t index)
{
    CW_NVPERF_PARAMS(MetricsEvaluator_GetCounterProperties, counter);
    CW_NVPERF_PARAMS(MetricsEvaluator_GetRatioMetricProperties, ratio);
    CW_NVPERF_PARAMS(MetricsEvaluator_GetThroughputMetricProperties, throughput);
    counter.pMetricsEvaluator = ratio.pMetricsEvaluator = throughput.pMetricsEvaluator = e->native;
    counter.counterIndex = ratio.ratioMetricIndex = throughput.throughputMetricIndex = index;
    switch (type) {
    case CW_NVPERF_COUNTER:
        return e->library->MetricsEvaluator_GetCounterProperties(&counter) ? NVPW_HW_UNIT_INVALID : counter.hwUnit;
    case CW_NVPERF_RATIO:
        return e->library->MetricsEvaluator_GetRatioMetricProperties(&ratio) ? NVPW_HW_UNIT_INVALID
                                                                             : (uint32_t)ratio.hwUnit;
    default:
        return e->library->MetricsEvaluator_GetThroughputMetricProperties(&throughput) ? NVPW_HW_UNIT_INVALID
                                                                                       : throughput.hwUnit;
    }
}

const char *cw_nvperf_metric_unit(const struct cw_nvperf_evaluator *e, enum cw_nvperf_type type, size_t index,
                                  char buffer[32])
{
    CW_NVPERF_PARAMS(MetricsEvaluator_HwUnitToString, p, .pMetricsEvaluator = e->native,
                     .hwUnit = hardware_unit(e, type, index));
    buffer[0] = 0;
    if (p.hwUnit == NVPW_HW_UNIT_INVALID || e->library->MetricsEvaluator_HwUnitToString(&p) || !p.pHwUnitName)
        return buffer;
    snprintf(buffer, 32, "%s", p.pHwUnitName);
    for (char *c = buffer; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return buffer;
}

size_t cw_nvperf_submetrics(const struct cw_nvperf_evaluator *e, enum cw_nvperf_type type,
                            const char *suffixes[CW_NVPERF_SUBMETRICS])
{
    static const char *const texts[NVPW_SUBMETRIC__COUNT] = {
        [NVPW_SUBMETRIC_NONE] = "",
        [NVPW_SUBMETRIC_PEAK_SUSTAINED] = ".peak_sustained",
        [NVPW_SUBMETRIC_PEAK_SUSTAINED_ACTIVE] = ".peak_sustained_active",
        [NVPW_SUBMETRIC_PEAK_SUSTAINED_ACTIVE_PER_SECOND] = ".peak_sustained_active.per_second",
        [NVPW_SUBMETRIC_PEAK_SUSTAINED_ELAPSED] = ".peak_sustained_elapsed",
        [NVPW_SUBMETRIC_PEAK_SUSTAINED_ELAPSED_PER_SECOND] = ".peak_sustained_elapsed.per_second",
        [NVPW_SUBMETRIC_PEAK_SUSTAINED_FRAME] = ".peak_sustained_frame",
        [NVPW_SUBMETRIC_PEAK_SUSTAINED_FRAME_PER_SECOND] = ".peak_sustained_frame.per_second",
        [NVPW_SUBMETRIC_PEAK_SUSTAINED_REGION] = ".peak_sustained_region",
        [NVPW_SUBMETRIC_PEAK_SUSTAINED_REGION_PER_SECOND] = ".peak_sustained_region.per_second",
        [NVPW_SUBMETRIC_PER_CYCLE_ACTIVE] = ".per_cycle_active",
        [NVPW_SUBMETRIC_PER_CYCLE_ELAPSED] = ".per_cycle_elapsed",
        [NVPW_SUBMETRIC_PER_CYCLE_IN_FRAME] = ".per_cycle_in_frame",
        [NVPW_SUBMETRIC_PER_CYCLE_IN_REGION] = ".per_cycle_in_region",
        [NVPW_SUBMETRIC_PER_SECOND] = ".per_second",
        [NVPW_SUBMETRIC_PCT_OF_PEAK_SUSTAINED_ACTIVE] = ".pct_of_peak_sustained_active",
        [NVPW_SUBMETRIC_PCT_OF_PEAK_SUSTAINED_ELAPSED] = ".pct_of_peak_sustained_elapsed",
        [NVPW_SUBMETRIC_PCT_OF_PEAK_SUSTAINED_FRAME] = ".pct_of_peak_sustained_frame",
        [NVPW_SUBMETRIC_PCT_OF_PEAK_SUSTAINED_REGION] = ".pct_of_peak_sustained_region",
        [NVPW_SUBMETRIC_MAX_RATE] = ".max_rate",
        [NVPW_SUBMETRIC_PCT] = ".pct",
        [NVPW_SUBMETRIC_RATIO] = ".ratio",
    };
    CW_NVPERF_PARAMS(MetricsEvaluator_GetSupportedSubmetrics, p, .pMetricsEvaluator = e->native,
                     .metricType = (uint8_t)type);
    size_t count = 0;
    if (e->library->MetricsEvaluator_GetSupportedSubmetrics(&p) != NVPA_STATUS_SUCCESS)
        return 0;
    for (size_t i = 0; i < p.numSupportedSubmetrics && count < CW_NVPERF_SUBMETRICS; i++)
        suffixes[count++] =
            p.pSupportedSubmetrics[i] < NVPW_SUBMETRIC__COUNT ? texts[p.pSupportedSubmetrics[i]] : ".unknown_to_us";
    return count;
}

enum cw_status cw_nvperf_throughput_parts(const struct cw_nvperf_evaluator *e, size_t index, const size_t **counters,
                                          size_t *counter_count, const size_t **throughputs, size_t *throughput_count,
                                          struct cw_error *err)
{
    CW_NVPERF_PARAMS(MetricsEvaluator_GetThroughputMetricProperties, p, .pMetricsEvaluator = e->native,
                     .throughputMetricIndex = index);
    CW_NVPERF_TRY(e->library, MetricsEvaluator_GetThroughputMetricProperties, p, err);
    *counters = p.pCounterIndices;
    *counter_count = p.numCounters;
    *throughputs = p.pSubThroughputIndices;
    *throughput_count = p.numSubThroughputs;
    return CW_OK;
}

enum cw_status cw_nvperf_requests_create(struct cw_nvperf_requests **requests, const struct cw_nvperf_evaluator *e,
                                         const char *const *metrics, size_t count, struct cw_error *err)
{
    *requests = NULL;
    struct cw_nvperf_requests *r = calloc(1, sizeof *r + count * sizeof r->list[0]);
    if (!r)
        return cw_error_nomem(err);
    r->count = count;
    for (size_t i = 0; i < count; i++) {
        CW_NVPERF_PARAMS(MetricsEvaluator_ConvertMetricNameToMetricEvalRequest, p, .pMetricsEvaluator = e->native,
                         .pMetricName = metrics[i], .pMetricEvalRequest = &r->list[i],
                         .metricEvalRequestStructSize = NVPW_MetricEvalRequest_STRUCT_SIZE);
        if (e->library->MetricsEvaluator_ConvertMetricNameToMetricEvalRequest(&p) != NVPA_STATUS_SUCCESS) {
            free(r);
            return cw_error_set(err, CW_ERR_UNSUPPORTED, "NVIDIA's host library does not know the metric %s",
                                metrics[i]);
        }
    }
    *requests = r;
    return CW_OK;
}

void cw_nvperf_requests_destroy(struct cw_nvperf_requests *requests)
{
    free(requests);
}

enum cw_status cw_nvperf_raw_counters(const struct cw_nvperf_evaluator *e, const char *const *metrics,
                                      size_t metric_count, uint64_t **raws, size_t *raw_count, struct cw_error *err)
{
    struct cw_nvperf_requests *requests;
    *raws = NULL;
    *raw_count = 0;
    enum cw_status status = cw_nvperf_requests_create(&requests, e, metrics, metric_count, err);
    if (status != CW_OK)
        return status;
    CW_NVPERF_PARAMS(MetricsEvaluator_GetMetricRawDependencies, p, .pMetricsEvaluator = e->native,
                     .pMetricEvalRequests = requests->list, .numMetricEvalRequests = metric_count,
                     .metricEvalRequestStructSize = NVPW_MetricEvalRequest_STRUCT_SIZE,
                     .metricEvalRequestStrideSize = sizeof requests->list[0]);
    const char **needed = NULL, **optional = NULL;
    status = CW_NVPERF_CALL(e->library, MetricsEvaluator_GetMetricRawDependencies, p, err);
    if (status == CW_OK) {
        needed = calloc(p.numRawDependencies + 1, sizeof *needed);
        optional = calloc(p.numOptionalRawDependencies + 1, sizeof *optional);
        *raws = calloc(p.numRawDependencies + 1, sizeof **raws);
        p.ppRawDependencies = needed;
        p.ppOptionalRawDependencies = optional;
        status = needed && optional && *raws
                     ? CW_NVPERF_CALL(e->library, MetricsEvaluator_GetMetricRawDependencies, p, err)
                     : cw_error_nomem(err);
    }
    for (size_t i = 0; status == CW_OK && i < p.numRawDependencies; i++) {
        uint64_t raw;
        if (!cw_nvperf_raw_number(needed[i], &raw))
            status = cw_error_set(err, CW_ERR_UNSUPPORTED,
                                  "NVIDIA's host library names a raw counter %s, expected 0x...", needed[i]);
        else if (raw)
            (*raws)[(*raw_count)++] = raw;
    }
    if (status != CW_OK) {
        free(*raws);
        *raws = NULL;
        *raw_count = 0;
    } else {
        qsort(*raws, *raw_count, sizeof **raws, cw_compare_u64);
    }
    free(needed);
    free(optional);
    cw_nvperf_requests_destroy(requests);
    return status;
}

static void append(char *buffer, size_t size, const char *text)
{
    size_t used = strlen(buffer);
    snprintf(buffer + used, size - used, "%s", text);
}

enum cw_status cw_nvperf_dimension(const struct cw_nvperf_evaluator *e, const char *metric, char *buffer, size_t size,
                                   struct cw_error *err)
{
    struct cw_nvperf_requests *request;
    enum cw_status status = cw_nvperf_requests_create(&request, e, &metric, 1, err);
    if (status != CW_OK)
        return status;
    NVPW_DimUnitFactor factors[16];
    CW_NVPERF_PARAMS(
        MetricsEvaluator_GetMetricDimUnits, p, .pMetricsEvaluator = e->native, .pMetricEvalRequest = request->list,
        .metricEvalRequestStructSize = NVPW_MetricEvalRequest_STRUCT_SIZE, .pDimUnits = factors,
        .numDimUnits = sizeof factors / sizeof *factors, .dimUnitFactorStructSize = NVPW_DimUnitFactor_STRUCT_SIZE);
    status = CW_NVPERF_CALL(e->library, MetricsEvaluator_GetMetricDimUnits, p, err);
    cw_nvperf_requests_destroy(request);
    if (status != CW_OK)
        return status;
    char above[128] = "", below[128] = "";
    for (size_t i = 0; i < p.numDimUnits; i++) {
        if (factors[i].dimUnit == NVPW_DIM_UNIT_UNITLESS)
            continue;
        CW_NVPERF_PARAMS(MetricsEvaluator_DimUnitToString, text, .pMetricsEvaluator = e->native,
                         .dimUnit = factors[i].dimUnit);
        CW_NVPERF_TRY(e->library, MetricsEvaluator_DimUnitToString, text, err);
        bool up = factors[i].exponent > 0;
        char *side = up ? above : below;
        for (int k = 0; k < (up ? factors[i].exponent : -factors[i].exponent); k++) {
            if (*side || !up)
                append(side, sizeof above, up ? "*" : "/");
            append(side, sizeof above, text.pPluralName);
        }
    }
    snprintf(buffer, size, "%s%s", *above ? above : "1", below);
    return CW_OK;
}

enum cw_status cw_nvperf_set_durations(struct cw_nvperf_evaluator *e, double frame_ns, double region_ns,
                                       struct cw_error *err)
{
    CW_NVPERF_PARAMS(MetricsEvaluator_SetUserData, p, .pMetricsEvaluator = e->native, .frameDuration = frame_ns,
                     .regionDuration = region_ns, .isolated = 1);
    return CW_NVPERF_CALL(e->library, MetricsEvaluator_SetUserData, p, err);
}

enum cw_status cw_nvperf_evaluate(struct cw_nvperf_evaluator *e, const struct cw_nvperf_requests *requests,
                                  size_t range, double *values, struct cw_error *err)
{
    CW_NVPERF_PARAMS(
        MetricsEvaluator_EvaluateToGpuValues, p, .pMetricsEvaluator = e->native, .pMetricEvalRequests = requests->list,
        .numMetricEvalRequests = requests->count, .metricEvalRequestStructSize = NVPW_MetricEvalRequest_STRUCT_SIZE,
        .metricEvalRequestStrideSize = sizeof requests->list[0], .pCounterDataImage = e->image,
        .counterDataImageSize = e->image_size, .rangeIndex = range, .isolated = 1, .pMetricValues = values);
    return CW_NVPERF_CALL(e->library, MetricsEvaluator_EvaluateToGpuValues, p, err);
}

enum cw_status cw_nvperf_range_count(const struct cw_nvperf_evaluator *e, size_t *count, struct cw_error *err)
{
    *count = 0;
    if (!e->library->CounterData_GetNumRanges)
        return cw_error_set(err, CW_ERR_UNSUPPORTED, "NVIDIA's host library lacks NVPW_CounterData_GetNumRanges");
    struct cw_nvperf_num_ranges p = {.structSize = sizeof p, .pCounterDataImage = e->image};
    CW_NVPERF_TRY(e->library, CounterData_GetNumRanges, p, err);
    *count = p.numRanges;
    return CW_OK;
}
