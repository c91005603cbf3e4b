/* Moves samples from the hardware into images: chooses counters and interval, configures the GPU, fills images. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "agent/backend/cupti/pm_process.h"
#include "agent/backend/lacking.h"
#include "agent/backend/pm_capture.h"
#include "base/now.h"

/* CUPTI 13.0 loses samples that are decoded beyond a full image. So an image has room for the samples of at least some
 * tenths of a second, and is handed over when it is half full, or after a second if it has any sample, so that a
 * capture that dies loses little. A new image is made when all wait to be sent: the first evaluation may take a second,
 * and so may a file system. */
enum { LEAST_SAMPLES = 1024, MOST_SAMPLES = 4096, LEAST_IMAGES = 3, MOST_IMAGES = 32 };
static const size_t most_bytes = (size_t)1 << 29; /* limit on the size of all images above LEAST_IMAGES */
enum { WINDOW_SPARE = 64, MOST_OF_A_WINDOW = 1 << 28 /* a larger window would exceed memory */ };
static const uint64_t slack_ns = 5000000; /* upper limit for the time of Start and Stop */
/* A sample takes 5 to 11 KB of the hardware's buffer on an H200, for any number of counters of these units. */
static const uint64_t sample_bytes = 16384, least_buffer = (uint64_t)256 << 20, most_buffer = (uint64_t)4096 << 20;
static const uint64_t room_ns = 400000000, hand_over_ns = 1000000000;

static CUpti_PmSampling_Object *object;

/* ---- before ----------------------------------------------------------------------------------------------------- */

static uint32_t room(void);

uint64_t cw_pm_buffer_bytes(void)
{
    uint64_t given = cw_pm_process.options->buffer_bytes, wanted = cw_pm_process.window_ns ? room() * sample_bytes : 0;
    wanted = wanted < least_buffer ? least_buffer : wanted > most_buffer ? most_buffer : wanted;
    return given ? given : wanted;
}

static void configure(void)
{
    PARAMS(CUpti_PmSampling_Enable_Params, enable);
    enable.deviceIndex = cw_pm_process.device;
    CALL(cuptiPmSamplingEnable, enable);
    object = enable.pPmSamplingObject;
    PARAMS(CUpti_PmSampling_SetConfig_Params, config);
    config.pPmSamplingObject = object;
    config.configSize = cw_pm_process.native->size;
    config.pConfig = cw_pm_process.native->data;
    config.hardwareBufferSize = cw_pm_buffer_bytes();
    config.samplingInterval = cw_pm_process.interval;
    config.triggerMode = cw_pm_process.cycles ? CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL
                                              : CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL;
    /* The members added in newer headers say how to treat a full buffer: 0 keeps its content, as in the first CUPTI
     * with this call, whose structure ended here. */
    CUptiResult result = cw_pm_process.cuptiPmSamplingSetConfig(&config);
    if (result == CUPTI_ERROR_INVALID_PARAMETER) {
        config.structSize = CUPTI_PROFILER_STRUCT_SIZE(CUpti_PmSampling_SetConfig_Params, triggerMode);
        result = cw_pm_process.cuptiPmSamplingSetConfig(&config);
    }
    cw_pm_good(result, "cuptiPmSamplingSetConfig");
}

uint32_t cw_pm_block_room(void)
{
    uint32_t counters = cw_pm_process.schema->counter_count, most = MOST_SAMPLES;
    return counters && CW_BLOCK_VALUES_MAX / counters < most ? CW_BLOCK_VALUES_MAX / counters : most;
}

/* Room of an image, in samples. Samples decoded beyond it are lost, so it must have room for a whole window; sampling
 * also runs during Start and Stop. */
static uint32_t room(void)
{
    double window = (double)(cw_pm_process.window_ns + slack_ns) / cw_pm_process.sample_takes_ns + WINDOW_SPARE;
    if (cw_pm_process.window_ns)
        return window < MOST_OF_A_WINDOW ? (uint32_t)window : MOST_OF_A_WINDOW;
    uint64_t wanted = room_ns / cw_pm_process.interval, most = cw_pm_block_room();
    wanted = wanted < LEAST_SAMPLES ? LEAST_SAMPLES : wanted;
    return (uint32_t)(wanted < most ? wanted : most);
}

/* The names decide which raw counters an image has room for. They must be exactly those of the config image, or no
 * sample is ever complete. */
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

/* Checks memory before the program begins, because a window may need all of the node's. */
static void check_memory(void)
{
    uint64_t most = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 2;
    if (!cw_pm_process.window_ns || cw_pm_process.image_size <= most)
        return;
    double fits = (double)cw_pm_process.window_ns * (double)most / (double)cw_pm_process.image_size;
    cw_pm_give_up(
        CW_ERR_USAGE,
        "found a window of %.6g ms, whose %u samples take CUPTI %zu MiB, expected at most %zu MiB, half of the "
        "node's memory: --window %.0fms fits",
        (double)cw_pm_process.window_ns / 1e6, cw_pm_process.image_samples, cw_pm_process.image_size >> 20,
        (size_t)(most >> 20), fits * 0.9 / 1e6);
}

void cw_pm_arm(void)
{
    configure();
    ask_image_size(room());
    check_memory();
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
    return count < (cw_pm_process.window_ns ? 1 : LEAST_IMAGES) ||
           (count < MOST_IMAGES && (count + 1) * cw_pm_process.image_size <= most_bytes);
}

/* Returns an empty image: one already sent, a new one, or, if there are many or memory is short, the next to be
 * sent. */
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
    uint64_t began_ns = cw_now_ns();
    PARAMS(CUpti_PmSampling_CounterDataImage_Initialize_Params, init);
    init.pPmSamplingObject = object;
    init.counterDataSize = cw_pm_process.image_size;
    init.pCounterData = s->bytes;
    CALL(cuptiPmSamplingCounterDataImageInitialize, init);
    s->next = NULL;
    s->count = 0;
    s->overflow = false;
    s->artificial = false;
    s->opens = s->closes = false;
    s->lost = 0;
    s->taking_ns = cw_now_ns() - began_ns;
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
    uint64_t began_ns = cw_now_ns();
    for (uint32_t i = 0; i < s->count; i++) {
        CUpti_PmSampling_CounterData_GetSampleInfo_Params info = sample_info(s, i);
        s->start[i] = info.startTimestamp;
        s->end[i] = info.endTimestamp;
    }
    s->taking_ns += cw_now_ns() - began_ns;
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
    const CUptiResult result = cw_pm_process.cuptiPmSamplingStart(&params);
    const uint64_t given = cw_pm_process.options->buffer_bytes;
    if (result != CUPTI_SUCCESS && given && given < least_buffer) /* CUPTI_ERROR_UNKNOWN for 1 MiB, on an H200 */
        cw_pm_give_up(CW_ERR_DEVICE,
                      "found --buffer %" PRIu64 ", with which CUPTI does not start (%d), expected %" PRIu64 " at least",
                      given >> 20, (int)result, least_buffer >> 20);
    cw_pm_good(result, "cuptiPmSamplingStart");
}

/* Returns the time behind it. */
static uint64_t stop(void)
{
    PARAMS(CUpti_PmSampling_Stop_Params, params);
    params.pPmSamplingObject = object;
    CALL(cuptiPmSamplingStop, params);
    return cw_now_ns();
}

/* State of an image after decoding into it again. */
struct decoded {
    size_t begun;  /* number of samples, complete or not */
    bool full;     /* no room left */
    bool settled;  /* every sample is complete */
    bool overflow; /* the hardware's buffer was full */
    bool drained;  /* there is no more data to decode */
};

static struct decoded decode(struct cw_pm_image *s)
{
    uint64_t began_ns = cw_now_ns();
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
    s->taking_ns += cw_now_ns() - began_ns;
    s->count = (uint32_t)info.numCompletedSamples;
    s->overflow = s->overflow || overflow;
    return (struct decoded){.begun = info.numPopulatedSamples,
                            .full = full,
                            .settled = info.numPopulatedSamples == info.numCompletedSamples,
                            .overflow = overflow,
                            .drained = !more && !full};
}

/* Waits a little, less if samples come fast. */
static void wait_a_little(void)
{
    uint64_t ms = cw_pm_process.interval / 4000;
    struct pollfd fd = {.fd = cw_pm_process.fd, .events = POLLIN | POLLRDHUP};
    poll(&fd, 1, ms < 2 ? 2 : ms > 50 ? 50 : (int)ms);
}

static bool is_time(uint64_t end_ns)
{
    struct pollfd fd = {.fd = cw_pm_process.fd, .events = POLLIN | POLLRDHUP};
    return poll(&fd, 1, 0) != 0 || (end_ns && cw_now_ns() >= end_ns);
}

static bool is_enough(const struct cw_pm_image *s, const struct decoded *d, uint64_t began)
{
    return d->full || s->count >= cw_pm_process.image_samples / 2 ||
           (d->settled && s->count && cw_now_ns() - began > hand_over_ns);
}

/* Arms the device again: samples after a full buffer would be out of step, and restarting after a stop fails. */
static void arm_anew(void)
{
    cw_pm_disarm();
    configure();
    /* Same answer as before; but without the question no image can be initialised. */
    ask_image_size(cw_pm_process.image_samples);
}

/* ---- choosing --------------------------------------------------------------------------------------------------- */

/* Finds out which counters of the plan this GPU has, and the interval, before the program begins. With a counter of a
 * missing or disabled unit, CUPTI 13.0 starts sampling but completes no sample of any counter. CUPTI's availability
 * names such counters; without it, trials of some units at a time find them. */

struct trial {
    size_t begun, complete;
    uint64_t first_ns, last_ns; /* ends of the first and the last complete sample, device clock */
};

/* Takes a few samples on an armed device, which stays armed. Drains the buffer, so that none come into the first image
 * later. */
static struct trial take_trial(void)
{
    enum { ROOM = 256, ENOUGH = 10, PATIENT_INTERVALS = 20 };
    static const uint64_t least_patience_ns = 100000000;
    uint64_t patience_ns = PATIENT_INTERVALS * cw_pm_process.interval, began = cw_now_ns();
    struct trial trial = {0};
    ask_image_size(ROOM);
    struct cw_pm_image *s = next_image();
    cw_pm_start();
    patience_ns = patience_ns > least_patience_ns ? patience_ns : least_patience_ns;
    while (s->count < ENOUGH && cw_now_ns() - began < patience_ns && !is_time(0)) {
        wait_a_little();
        trial.begun = decode(s).begun;
    }
    stop();
    for (uint32_t before = UINT32_MAX; s->count != before;) { /* also drains samples without room in the image */
        before = s->count;
        decode(s);
    }
    trial.complete = s->count;
    if (s->count) {
        trial.first_ns = sample_info(s, 0).endTimestamp;
        trial.last_ns = sample_info(s, s->count - 1).endTimestamp;
    }
    free_image(s);
    cw_pm_process.image_count--;
    ask_image_size(room());
    return trial;
}

static uint32_t count_counters(void)
{
    return cw_pm_process.schema->counter_count;
}

static const char *name_of(uint32_t counter)
{
    return cw_pm_process.schema->counters[counter].name;
}

/* Makes the config image without missing counters. */
static void lower(void)
{
    struct cw_error err = CW_ERROR_INIT;
    if (!cw_lacking_any(cw_pm_process.lacks, count_counters()))
        return;
    if (cw_lacking_all(cw_pm_process.lacks, count_counters()))
        cw_pm_give_up(cw_lacking_everything(cw_pm_process.schema, cw_pm_process.lacks, &err), "%s", err.message);
    cw_pm_lower();
}

static void ask_availability(void)
{
    struct cw_availability *a = &cw_pm_process.availability;
    cw_availability_ask(a, cw_pm_process.device, cw_pm_process.schema->chip);
    for (uint32_t c = 0; c < count_counters(); c++)
        cw_pm_process.lacks[c] = cw_availability_lacks(a, CUPTI_PROFILER_TYPE_PM_SAMPLING, name_of(c));
    cw_availability_free(a);
    lower();
}

/* ---- trials of units -------------------------------------------------------------------------------------------- */

struct search {
    uint32_t *unit;   /* by counter: number of its unit, ascending from 0 */
    uint8_t *known;   /* by counter: missing, according to CUPTI's availability */
    uint8_t *missing; /* by unit: no sample with it is complete */
};

static size_t unit_length(const char *name)
{
    const char *end = strstr(name, "__");
    return end ? (size_t)(end - name) : strlen(name);
}

/* Numbers the units; returns their count. */
static uint32_t number_units(struct search *s)
{
    uint32_t units = 0;
    for (uint32_t c = 0; c < count_counters(); c++) {
        size_t length = unit_length(name_of(c));
        uint32_t i = 0;
        while (i < c && (unit_length(name_of(i)) != length || memcmp(name_of(i), name_of(c), length) != 0))
            i++;
        s->unit[c] = i < c ? s->unit[i] : units++;
    }
    return units;
}

/* Whether samples of these units alone are complete. */
static bool try_units(const struct search *s, uint32_t first, uint32_t end)
{
    for (uint32_t c = 0; c < count_counters(); c++)
        cw_pm_process.lacks[c] = s->known[c] || s->unit[c] < first || s->unit[c] >= end;
    if (cw_lacking_all(cw_pm_process.lacks, count_counters()))
        return true;
    lower();
    cw_pm_arm();
    bool complete = take_trial().complete > 0;
    cw_pm_disarm();
    return complete;
}

static void find_missing(const struct search *s, uint32_t first, uint32_t end)
{
    if (try_units(s, first, end))
        return;
    uint32_t middle = first + (end - first) / 2;
    if (middle == first) {
        s->missing[first] = 1;
        return;
    }
    find_missing(s, first, middle);
    find_missing(s, middle, end);
}

/* Searches for missing units. The device is not armed before or after. */
static void search_units(void)
{
    size_t n = count_counters();
    struct search s = {calloc(n + 1, sizeof *s.unit), calloc(n + 1, 1), calloc(n + 1, 1)};
    cw_pm_need(s.unit && s.known && s.missing);
    memcpy(s.known, cw_pm_process.lacks, n);
    find_missing(&s, 0, number_units(&s));
    for (uint32_t c = 0; c < n; c++)
        cw_pm_process.lacks[c] = s.known[c] || s.missing[s.unit[c]];
    free(s.unit);
    free(s.known);
    free(s.missing);
    lower();
}

/* ---- the interval ----------------------------------------------------------------------------------------------- */

/* Trials use a shorter interval if the requested one is long; a trial by the system clock measures that clock. */
enum { SAMPLES_OF_A_RANGE = 20000 };
static const uint64_t longest_trial = 10000000, short_trial = 1000000, trial_cycles = 100000;

/* Time of a sample in the trial; 0: unknown. */
static double sample_ns(const struct trial *trial)
{
    bool known = trial->complete > 1 && trial->last_ns > trial->first_ns;
    return known ? (double)(trial->last_ns - trial->first_ns) / (double)(trial->complete - 1) : 0;
}

/* Limit on the length of a sampling window; 0: none. The window of a range is limited by the option, or to a number of
 * samples if these come faster than CUPTI decodes them. */
static uint64_t window_ns(void)
{
    const struct cw_pm_options *o = cw_pm_process.options;
    /* an interval in ns that became cycles may be shorter by a part of a cycle */
    const bool fast = (o->cycles ? cw_pm_process.sample_takes_ns : (double)o->interval) < CW_PM_SLOW_NS;
    const double of_a_range = cw_pm_by_program(o) && fast ? SAMPLES_OF_A_RANGE * cw_pm_process.sample_takes_ns : 0;
    return (uint64_t)(o->window_s > 0 ? o->window_s * 1e9 : of_a_range);
}

/* Sets the interval and its length in ns. With the clock as trigger, an interval in ns becomes the equal number of
 * cycles. */
static void set_interval(bool by_clock, const struct trial *trial)
{
    const struct cw_pm_options *o = cw_pm_process.options;
    bool has_windows = o->window_s > 0 || cw_pm_by_program(o);
    double cycle_ns = sample_ns(trial) / (double)cw_pm_process.interval;
    if (cw_pm_process.cycles && (by_clock || has_windows) && cycle_ns <= 0)
        cw_pm_give_up(CW_ERR_DEVICE, "its system clock cannot be measured, because no sample came%s",
                      by_clock ? ": --interval takes cycles, too, such as 170000sys" : "");
    uint64_t cycles = by_clock ? (uint64_t)((double)o->interval / cycle_ns + 0.5) : o->interval;
    cw_pm_process.interval = cycles ? cycles : 1;
    cw_pm_process.sample_takes_ns = (double)cw_pm_process.interval * (cw_pm_process.cycles ? cycle_ns : 1);
    cw_pm_process.window_ns = window_ns();
}

/* Tries all counters: arms the device for a trial, possibly at another interval, then again if trial and sampling
 * differ. */
static void try_all(bool by_clock)
{
    const struct cw_pm_options *o = cw_pm_process.options;
    bool own = by_clock || o->interval > longest_trial || (o->cycles && (o->window_s > 0 || cw_pm_by_program(o)));
    cw_pm_process.cycles = by_clock || o->cycles;
    cw_pm_process.interval = by_clock ? trial_cycles : o->interval > longest_trial ? short_trial : o->interval;
    cw_pm_process.sample_takes_ns = (double)cw_pm_process.interval;
    cw_pm_process.window_ns = own ? 0 : window_ns();
    cw_pm_arm();
    struct trial trial = take_trial();
    bool missing = trial.begun && !trial.complete;
    if (!own && !missing)
        return;
    cw_pm_disarm();
    if (missing) {
        search_units();
        cw_pm_arm();
        trial = take_trial();
        cw_pm_disarm();
    }
    set_interval(by_clock, &trial);
    cw_pm_arm();
}

void cw_pm_choose(void)
{
    const struct cw_pm_options *o = cw_pm_process.options;
    bool by_clock = !o->cycles && !cw_pm_has_time_trigger(cw_pm_process.schema->chip);
    cw_pm_process.lacks = calloc((size_t)count_counters() + 1, 1);
    cw_pm_need(cw_pm_process.lacks);
    ask_availability();
    try_all(by_clock);
    if (by_clock)
        cw_pm_tell_cycles(cw_pm_process.device, o->interval, cw_pm_process.interval);
    cw_lacking_tell(cw_pm_process.device, cw_pm_process.schema, cw_pm_process.lacks);
}

/* ---- sampling --------------------------------------------------------------------------------------------------- */

/* Number of samples that were due in a time and are not among those taken. */
static uint64_t missing(uint64_t began_ns, uint64_t ended_ns, uint64_t taken)
{
    const uint64_t due = (uint64_t)((double)(ended_ns - began_ns) / cw_pm_process.sample_takes_ns);
    return due > taken ? due - taken : 0;
}

/* Collects until a time or the agent's next order, and starts again after the hardware's buffer was full. With a first
 * image all of it is a window for the program, which goes on as soon as the samples end. False if the buffer was full
 * at the end: the device has to be armed anew. */
static bool collect_until(uint64_t end_ns, struct cw_pm_image *first)
{
    enum { SAMPLING, DRAINING, DRAINED } state = SAMPLING;
    const bool window = first != NULL;
    bool artificial = true, opens = window, over = false, full = false;
    uint64_t started_ns = cw_now_ns(), stopped_ns = 0, taken = 0;
    while (!over) {
        struct cw_pm_image *s = first ? first : next_image();
        first = NULL;
        struct decoded d;
        uint64_t began = cw_now_ns();
        s->artificial = artificial;
        s->opens = opens;
        do {
            if (state == SAMPLING)
                wait_a_little();
            if (state == SAMPLING && is_time(end_ns)) {
                stopped_ns = stop();
                state = DRAINING;
                if (window)
                    cw_pm_tell_window(CW_WINDOW_CLOSED);
            }
            d = decode(s);
            full = full || d.overflow;
            if (state == SAMPLING && d.overflow) {
                stopped_ns = stop();
                state = DRAINING;
            } else if (state == DRAINING && d.drained) {
                state = DRAINED;
            }
        } while (state != DRAINED && !is_enough(s, &d, began));
        over = state == DRAINED && is_time(end_ns);
        taken += s->count;
        s->closes = window && over;
        s->lost = window && over && full ? missing(started_ns, stopped_ns, taken)
                                         : 0; /* of others the gap before the next sample tells */
        artificial = artificial && !s->count;
        opens = opens && !s->count;
        hand_over(s);
        if (state == DRAINED && !over) { /* it was an overflow */
            arm_anew();
            cw_pm_start();
            state = SAMPLING;
            artificial = true;
            full = false;
            started_ns = cw_now_ns();
            taken = 0;
        }
    }
    return !full;
}

/* ---- windows ---------------------------------------------------------------------------------------------------- */

/* Waits until a time, or until the agent asks for an end. */
static void wait_until(uint64_t ns)
{
    struct pollfd fd = {.fd = cw_pm_process.fd, .events = POLLIN | POLLRDHUP};
    uint64_t now = cw_now_ns(), left = ns > now ? ns - now : 0;
    const struct timespec t = {(time_t)(left / 1000000000u), (long)(left % 1000000000u)};
    ppoll(&fd, 1, &t, NULL);
}

/* Ends a window and decodes it. Decoding during the window would take longer than the samples that come meanwhile, and
 * longer each time, and would extend the window. False if the hardware's buffer was full. */
static bool end_window(uint64_t began_ns)
{
    const uint64_t ended_ns = stop();
    if (cw_pm_by_program(cw_pm_process.options))
        cw_pm_tell_window(CW_WINDOW_CLOSED);
    struct cw_pm_image *s = next_image();
    s->artificial = s->opens = s->closes = true;
    struct decoded d = decode(s);
    bool full = d.overflow;
    while (!d.drained && !d.full) {
        d = decode(s);
        full = full || d.overflow;
    }
    s->lost = full ? missing(began_ns, ended_ns, s->count) : 0;
    hand_over(s);
    return !full;
}

/* Shortens windows until they fit the hardware's buffer, because the content of a full buffer is lost. */
static void shorten_windows(void)
{
    double ms = (double)cw_pm_process.window_ns / 1e6;
    if (cw_pm_process.window_ns / 2 >= 2 * cw_pm_process.sample_takes_ns)
        cw_pm_process.window_ns /= 2;
    fprintf(stderr,
            "capture-agent: GPU %u: the hardware's buffer of %" PRIu64
            " MiB was full before a window of %.6g ms was over, "
            "and its samples are lost; windows are of %.6g ms from here on; --buffer holds more\n",
            cw_pm_process.device, cw_pm_buffer_bytes() >> 20, ms, (double)cw_pm_process.window_ns / 1e6);
}

static void collect_windows(uint64_t end_ns)
{
    uint64_t every_ns = (uint64_t)(cw_pm_process.options->every_s * 1e9), began_ns = cw_now_ns();
    for (;;) {
        uint64_t over_ns = began_ns + cw_pm_process.window_ns;
        wait_until(end_ns && end_ns < over_ns ? end_ns : over_ns);
        if (!end_window(began_ns)) {
            shorten_windows();
            arm_anew();
        }
        wait_until(end_ns && end_ns < began_ns + every_ns ? end_ns : began_ns + every_ns);
        if (is_time(end_ns))
            return;
        began_ns = cw_now_ns();
        cw_pm_start();
    }
}

enum order { CLOSE, OPEN, TOO_LONG, OVER };

/* Waits for the agent's next order about the program's ranges; TOO_LONG if none has come by then (0: no limit). */
static enum order next_order(uint64_t until_ns)
{
    uint64_t now = cw_now_ns(), left = until_ns > now ? until_ns - now : 0;
    const struct timespec t = {(time_t)(left / 1000000000u), (long)(left % 1000000000u)};
    struct pollfd fd = {.fd = cw_pm_process.fd, .events = POLLIN};
    char order;
    if (ppoll(&fd, 1, until_ns ? &t : NULL, NULL) <= 0)
        return TOO_LONG;
    return read(cw_pm_process.fd, &order, 1) == 1 ? (order ? OPEN : CLOSE) : OVER;
}

/* Says once that a window without --window ended before its range. */
static void tell_cut(void)
{
    static bool told;
    if (!told && !(cw_pm_process.options->window_s > 0))
        fprintf(stderr,
                "capture-agent: GPU %u: a window of %.0f samples ended after %.6g ms, and the rest of its range is not "
                "sampled; --window takes longer ones, and at an --interval of %d us or more they have no limit\n",
                cw_pm_process.device, (double)cw_pm_process.window_ns / cw_pm_process.sample_takes_ns,
                (double)cw_pm_process.window_ns / 1e6, CW_PM_SLOW_NS / 1000);
    told = true;
}

/* Collects a window of limited length, and returns the order that came meanwhile. */
static enum order collect_short(uint64_t end_ns)
{
    const uint64_t began_ns = cw_now_ns(), over_ns = began_ns + cw_pm_process.window_ns;
    const bool cuts = !end_ns || over_ns < end_ns;
    const enum order order = next_order(cuts ? over_ns : end_ns);
    const bool full = !end_window(began_ns);
    if (full) {
        shorten_windows();
        arm_anew();
    } else if (order == TOO_LONG && cuts) {
        tell_cut();
    }
    return order;
}

/* Collects a window for each range. A range longer than a limited window ends with it; the order to close then finds
 * the process idle. */
static void collect_ranges(uint64_t end_ns)
{
    enum order order = CLOSE;
    struct cw_pm_image *next = NULL; /* to make one takes milliseconds, which would be part of the window */
    while (order != OVER && (!end_ns || cw_now_ns() < end_ns)) {
        if (!cw_pm_process.window_ns && !next)
            next = next_image();
        order = next_order(end_ns);
        if (order != OPEN)
            continue;
        cw_pm_start();
        cw_pm_tell_window(CW_WINDOW_OPEN);
        if (cw_pm_process.window_ns) {
            order = collect_short(end_ns);
        } else {
            if (!collect_until(end_ns, next))
                arm_anew();
            next = NULL;
            order = next_order(cw_now_ns()); /* it has come, unless the time is over */
        }
        cw_pm_tell_window(CW_WINDOW_IDLE);
    }
    if (next)
        hand_over(next);
}

void cw_pm_collect(void)
{
    double duration = cw_pm_process.options->duration_s;
    uint64_t end_ns = duration > 0 ? cw_now_ns() + (uint64_t)(duration * 1e9) : 0;
    if (cw_pm_by_program(cw_pm_process.options))
        collect_ranges(end_ns);
    else if (cw_pm_process.window_ns)
        collect_windows(end_ns);
    else
        collect_until(end_ns, NULL);
}
