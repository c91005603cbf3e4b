/* Hardware to images. */
#define _GNU_SOURCE
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "agent/backend/cupti/pm_process.h"

/* What is decoded when an image becomes full beyond its room is lost (CUPTI 13.0). So an image has room for the samples
 * of some tenths of a second at least, and is handed over when it is half full, or after a second with anything in it,
 * so that a capture that dies loses little. Another is made when all are waiting to be sent: the first evaluation can
 * take a second, and so can a file system. */
enum { LEAST_SAMPLES = 1024, MOST_SAMPLES = 4096, LEAST_IMAGES = 3, MOST_IMAGES = 32 };
static const size_t most_bytes = (size_t)1 << 29; /* of images, where that is more than the least number */
static const uint64_t room_ns = 400000000, hand_over_ns = 1000000000;

static CUpti_PmSampling_Object *object;

uint64_t cw_pm_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- before ----------------------------------------------------------------------------------------------------- */

static void configure(void)
{
    const struct cw_pm_options *o = cw_pm_process.options;
    PARAMS(CUpti_PmSampling_Enable_Params, enable);
    enable.deviceIndex = cw_pm_process.device;
    CALL(cuptiPmSamplingEnable, enable);
    object = enable.pPmSamplingObject;
    PARAMS(CUpti_PmSampling_SetConfig_Params, config);
    config.pPmSamplingObject = object;
    config.configSize = cw_pm_process.native->size;
    config.pConfig = cw_pm_process.native->data;
    config.hardwareBufferSize = o->buffer_bytes;
    config.samplingInterval = cw_pm_process.interval;
    config.triggerMode = cw_pm_process.cycles ? CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL
                                              : CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL;
    /* what follows in newer headers is how a full buffer is treated: 0 keeps what it holds, as the first CUPTI with
     * this call did, whose structure ended here */
    CUptiResult result = cw_pm_process.cuptiPmSamplingSetConfig(&config);
    if (result == CUPTI_ERROR_INVALID_PARAMETER) {
        config.structSize = CUPTI_PROFILER_STRUCT_SIZE(CUpti_PmSampling_SetConfig_Params, triggerMode);
        result = cw_pm_process.cuptiPmSamplingSetConfig(&config);
    }
    cw_pm_good(result, "cuptiPmSamplingSetConfig");
}

static uint32_t room(uint32_t counters)
{
    uint64_t wanted = room_ns / cw_pm_process.interval, most = MOST_SAMPLES;
    if (counters && CW_BLOCK_VALUES_MAX / counters < most)
        most = CW_BLOCK_VALUES_MAX / counters;
    wanted = wanted < LEAST_SAMPLES ? LEAST_SAMPLES : wanted;
    return (uint32_t)(wanted < most ? wanted : most);
}

/* The names decide which raw counters an image has room for: exactly those of the config image, or no sample is ever
 * complete. */
static void ask_image_size(uint32_t samples)
{
    uint32_t n = 0;
    char **names = calloc((size_t)cw_pm_process.schema->counter_count + 1, sizeof *names);
    cw_pm_need(names);
    for (uint32_t c = 0; c < cw_pm_process.schema->counter_count; c++)
        if (!cw_pm_process.lacks || !cw_pm_process.lacks[c])
            cw_pm_need(asprintf(&names[n++], "%s.sum", cw_pm_process.schema->counters[c].name) > 0);
    cw_pm_process.image_samples = samples;
    PARAMS(CUpti_PmSampling_GetCounterDataSize_Params, size);
    size.pPmSamplingObject = object;
    size.pMetricNames = (const char **)names;
    size.numMetrics = n;
    size.maxSamples = cw_pm_process.image_samples;
    CALL(cuptiPmSamplingGetCounterDataSize, size);
    cw_pm_process.image_size = size.counterDataSize;
    for (uint32_t c = 0; c < n; c++)
        free(names[c]);
    free(names);
}

void cw_pm_arm(void)
{
    configure();
    ask_image_size(room(cw_pm_process.schema->counter_count));
    cw_pm_process.filled_last = &cw_pm_process.filled;
}

void cw_pm_disarm(void)
{
    PARAMS(CUpti_PmSampling_Disable_Params, disable);
    disable.pPmSamplingObject = object;
    CALL(cuptiPmSamplingDisable, disable);
}

/* ---- while it runs --------------------------------------------------------------------------------------------- */

static void free_image(struct cw_pm_image *s)
{
    if (s) {
        free(s->bytes);
        free(s->start);
        free(s->end);
        free(s);
    }
}

/* NULL when out of memory. */
static struct cw_pm_image *make_image(void)
{
    struct cw_pm_image *s = calloc(1, sizeof *s);
    if (s) {
        s->bytes = aligned_alloc(64, (cw_pm_process.image_size + 63) / 64 * 64);
        s->start = calloc(cw_pm_process.image_samples, sizeof *s->start);
        s->end = calloc(cw_pm_process.image_samples, sizeof *s->end);
    }
    if (s && s->bytes && s->start && s->end)
        return s;
    free_image(s);
    return NULL;
}

static bool may_make_image(void)
{
    uint32_t count = cw_pm_process.image_count;
    return count < LEAST_IMAGES || (count < MOST_IMAGES && (count + 1) * cw_pm_process.image_size <= most_bytes);
}

/* An image that holds nothing: one that was sent, a new one, or, where there are many or no memory is left, the next
 * that is sent. */
static struct cw_pm_image *take_image(void)
{
    struct cw_pm_image *s = NULL;
    pthread_mutex_lock(&cw_pm_process.lock);
    while (!s && !cw_pm_process.spare) {
        s = may_make_image() ? make_image() : NULL;
        cw_pm_process.image_count += s != NULL;
        cw_pm_need(cw_pm_process.image_count > 0);
        if (!s)
            pthread_cond_wait(&cw_pm_process.changed, &cw_pm_process.lock);
    }
    if (!s) {
        s = cw_pm_process.spare;
        cw_pm_process.spare = s->next;
    }
    pthread_mutex_unlock(&cw_pm_process.lock);
    return s;
}

static struct cw_pm_image *next_image(void)
{
    struct cw_pm_image *s = take_image();
    uint64_t began_ns = cw_pm_now_ns();
    PARAMS(CUpti_PmSampling_CounterDataImage_Initialize_Params, init);
    init.pPmSamplingObject = object;
    init.counterDataSize = cw_pm_process.image_size;
    init.pCounterData = s->bytes;
    CALL(cuptiPmSamplingCounterDataImageInitialize, init);
    s->next = NULL;
    s->count = 0;
    s->overflow = false;
    s->artificial = false;
    s->taking_ns = cw_pm_now_ns() - began_ns;
    return s;
}

static CUpti_PmSampling_CounterData_GetSampleInfo_Params sample_info(const struct cw_pm_image *s, uint32_t sample)
{
    PARAMS(CUpti_PmSampling_CounterData_GetSampleInfo_Params, info);
    info.pPmSamplingObject = object;
    info.pCounterDataImage = s->bytes;
    info.counterDataImageSize = cw_pm_process.image_size;
    info.sampleIndex = sample;
    CALL(cuptiPmSamplingCounterDataGetSampleInfo, info);
    return info;
}

static void hand_over(struct cw_pm_image *s)
{
    uint64_t began_ns = cw_pm_now_ns();
    for (uint32_t i = 0; i < s->count; i++) {
        CUpti_PmSampling_CounterData_GetSampleInfo_Params info = sample_info(s, i);
        s->start[i] = info.startTimestamp;
        s->end[i] = info.endTimestamp;
    }
    s->taking_ns += cw_pm_now_ns() - began_ns;
    pthread_mutex_lock(&cw_pm_process.lock);
    *cw_pm_process.filled_last = s;
    cw_pm_process.filled_last = &s->next;
    pthread_cond_broadcast(&cw_pm_process.changed);
    pthread_mutex_unlock(&cw_pm_process.lock);
}

void cw_pm_start(void)
{
    PARAMS(CUpti_PmSampling_Start_Params, params);
    params.pPmSamplingObject = object;
    CALL(cuptiPmSamplingStart, params);
}

static void stop(void)
{
    PARAMS(CUpti_PmSampling_Stop_Params, params);
    params.pPmSamplingObject = object;
    CALL(cuptiPmSamplingStop, params);
}

/* The state of one image after decoding into it once more. */
struct decoded {
    size_t begun;  /* samples, complete or not */
    bool full;     /* no room left */
    bool settled;  /* every sample that was begun is complete */
    bool overflow; /* the hardware's buffer has been full */
    bool drained;  /* there was nothing more to decode */
};

static struct decoded decode(struct cw_pm_image *s)
{
    uint64_t began_ns = cw_pm_now_ns();
    PARAMS(CUpti_PmSampling_DecodeData_Params, params);
    params.pPmSamplingObject = object;
    params.pCounterDataImage = s->bytes;
    params.counterDataImageSize = cw_pm_process.image_size;
    CUptiResult result = cw_pm_process.cuptiPmSamplingDecodeData(&params);
    bool overflow = result == CUPTI_ERROR_OUT_OF_MEMORY || params.overflow;
    if (result != CUPTI_ERROR_OUT_OF_MEMORY)
        cw_pm_good(result, "cuptiPmSamplingDecodeData");
    PARAMS(CUpti_PmSampling_GetCounterDataInfo_Params, info);
    info.pCounterDataImage = s->bytes;
    info.counterDataImageSize = cw_pm_process.image_size;
    CALL(cuptiPmSamplingGetCounterDataInfo, info);
    bool full = params.decodeStopReason == CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL;
    bool more = info.numCompletedSamples > s->count;
    s->taking_ns += cw_pm_now_ns() - began_ns;
    s->count = (uint32_t)info.numCompletedSamples;
    s->overflow = s->overflow || overflow;
    return (struct decoded){.begun = info.numPopulatedSamples,
                            .full = full,
                            .settled = info.numPopulatedSamples == info.numCompletedSamples,
                            .overflow = overflow,
                            .drained = !more && !full};
}

/* Waits a little, less when samples come fast. */
static void wait_a_little(void)
{
    uint64_t ms = cw_pm_process.interval / 4000;
    struct pollfd fd = {.fd = cw_pm_process.fd, .events = POLLIN | POLLRDHUP};
    poll(&fd, 1, ms < 2 ? 2 : ms > 50 ? 50 : (int)ms);
}

static bool is_time(uint64_t end_ns)
{
    struct pollfd fd = {.fd = cw_pm_process.fd, .events = POLLIN | POLLRDHUP};
    return poll(&fd, 1, 0) != 0 || (end_ns && cw_pm_now_ns() >= end_ns);
}

static bool is_enough(const struct cw_pm_image *s, const struct decoded *d, uint64_t began)
{
    return d->full || s->count >= cw_pm_process.image_samples / 2 ||
           (d->settled && s->count && cw_pm_now_ns() - began > hand_over_ns);
}

/* What comes after a full buffer would be out of step, and starting again where it was stopped fails. */
static void start_anew(void)
{
    cw_pm_disarm();
    configure();
    /* the same as before; without the question no image can be initialised */
    ask_image_size(cw_pm_process.image_samples);
    cw_pm_start();
}

/* Whatever it took is drained, so that it does not come into the first image later. */
struct cw_pm_trial cw_pm_try(void)
{
    enum { ROOM = 256, ENOUGH = 10, PATIENT_INTERVALS = 20 };
    static const uint64_t least_patience_ns = 100000000;
    uint64_t patience_ns = PATIENT_INTERVALS * cw_pm_process.interval, began = cw_pm_now_ns();
    struct cw_pm_trial trial = {0};
    ask_image_size(ROOM);
    struct cw_pm_image *s = next_image();
    cw_pm_start();
    patience_ns = patience_ns > least_patience_ns ? patience_ns : least_patience_ns;
    while (s->count < ENOUGH && cw_pm_now_ns() - began < patience_ns && !is_time(0)) {
        wait_a_little();
        trial.begun = decode(s).begun;
    }
    stop();
    for (int i = 0; i < ROOM && !decode(s).drained; i++)
        ;
    trial.complete = s->count;
    if (s->count) {
        trial.first_ns = sample_info(s, 0).endTimestamp;
        trial.last_ns = sample_info(s, s->count - 1).endTimestamp;
    }
    free_image(s);
    cw_pm_process.image_count--;
    ask_image_size(room(cw_pm_process.schema->counter_count));
    return trial;
}

void cw_pm_collect(void)
{
    double duration = cw_pm_process.options->duration_s;
    uint64_t end_ns = duration > 0 ? cw_pm_now_ns() + (uint64_t)(duration * 1e9) : 0;
    enum { SAMPLING, DRAINING, DRAINED } state = SAMPLING;
    bool artificial = true;
    while (state != DRAINED) {
        struct cw_pm_image *s = next_image();
        struct decoded d;
        uint64_t began = cw_pm_now_ns();
        s->artificial = artificial;
        do {
            if (state == SAMPLING)
                wait_a_little();
            d = decode(s);
            if (state == SAMPLING && (d.overflow || is_time(end_ns))) {
                stop();
                state = DRAINING;
            } else if (state == DRAINING && d.drained) {
                state = DRAINED;
            }
        } while (state != DRAINED && !is_enough(s, &d, began));
        artificial = artificial && !s->count;
        hand_over(s);
        if (state == DRAINED && !is_time(end_ns)) { /* it was an overflow */
            start_anew();
            state = SAMPLING;
            artificial = true;
        }
    }
}
