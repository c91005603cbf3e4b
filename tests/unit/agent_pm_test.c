/* The process that samples over time, with a GPU of the test's that loses what CUPTI's would. Its time goes on by some
 * samples at each call that decodes. */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "agent/backend/cupti/pm_process.h"
#include "agent/backend/pm_capture.h"
#include "agent/common/device.h"
#include "base/now.h"
#include "image/pm_view.h"
#include "tests/support/image_samples.h"

enum { INTERVAL = 1000, SAMPLES_A_DECODE = 300, INSTANCES = 2, COUNTERS = 2 };

struct image { /* a counter data image of this GPU: which samples it holds, counted from the start */
    uint32_t count;
    uint64_t samples[];
};

struct cw_pm_process cw_pm_process = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static const struct cw_config_counter counters[COUNTERS] = {{.name = "first"}, {.name = "second"}};
static const char *const metrics[] = {"first.avg", "second.max"};
static const uint8_t rollups[COUNTERS] = {CW_ROLLUP_BIT(CW_AVG), CW_ROLLUP_BIT(CW_MAX)};
static const struct cw_config_pass one_pass;
static const struct cw_config_image plan = {.chip = "GH100",
                                            .producer = "test",
                                            .profiler = CW_PROFILER_PM,
                                            .pass_count = 1,
                                            .passes = &one_pass,
                                            .counter_count = COUNTERS,
                                            .counters = counters,
                                            .metric_count = 2,
                                            .metrics = metrics,
                                            .rollups = rollups};
static struct cw_pm_options options;
static struct cw_schema schema;
static struct cw_writer file;
static struct cw_arena *arena;
static int agent; /* the agent's end of the socket */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool enabled, configured, asked, running, idle;
    bool spoilt; /* the buffer was full since the device was armed */
    size_t image_size;
    uint32_t room; /* of an image */
    uint32_t decodes, last_decode, overflow_at, close_at;
    uint32_t slow_until;  /* the first evaluation waits for so many calls that decode */
    int patience;         /* so many seconds, where nothing is decoded any more */
    uint64_t next, taken; /* sample; samples that came into images */
    bool was_slow;
    const char *missing; /* a counter with which no sample is complete, for its unit is not there */
    bool tells;          /* availability tells of it */
    bool asks_missing;   /* by the last question for an image's size */
    uint32_t asked_names, lowered, trials;
    uint64_t interval; /* as it was configured */
    bool cycles;
    bool by_time;          /* what is sampled waits in the hardware's buffer, and is decoded after it was stopped */
    uint32_t full_windows; /* so many of the next ones fill it */
    uint64_t started_ns, stopped_ns, waiting;
} gpu = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* ---- what the sampling process asks of the rest ------------------------------------------------------------------ */

void cw_pm_give_up(enum cw_status status, const char *format, ...)
{
    cr_assert_fail("gave up with status %d: %s", status, format);
    _exit(1);
}

/* The agent's side: opens `ranges` windows, each after the one before, and closes each: after some milliseconds, so
 * many calls that decode, or only when it is over. */
static uint32_t ranges, decodes_of_a_range;
static bool late;

static void order(char open)
{
    cr_expect(write(agent, &open, 1) == 1);
}

void cw_pm_tell_window(enum cw_window_state state)
{
    const struct timespec while_open = {.tv_nsec = 3000000};
    if (state == CW_WINDOW_OPEN && decodes_of_a_range) {
        gpu.close_at = gpu.decodes + decodes_of_a_range;
    } else if (state == CW_WINDOW_OPEN && !late) {
        nanosleep(&while_open, NULL);
        order(0);
    } else if (state == CW_WINDOW_IDLE && --ranges) {
        if (late)
            order(0);
        order(1);
    } else if (state == CW_WINDOW_IDLE) {
        shutdown(agent, SHUT_WR);
    }
}

void cw_pm_lower(void)
{
    gpu.lowered++;
}

void cw_pm_need(bool condition)
{
    cr_assert(condition);
}

void cw_pm_good(CUptiResult result, const char *call)
{
    cr_assert_eq(result, CUPTI_SUCCESS, "%s", call);
}

void cw_pm_send_chunks(uint32_t samples, uint64_t lost, const struct cw_writer *chunks)
{
    (void)samples;
    (void)lost;
    cw_write_bytes(&file, chunks->data, chunks->size);
}

void cw_pm_send_clock(void)
{
}

CUptiResult cw_cupti_describe(const struct cw_cupti *api, CUdevice device, struct cw_writer *out, uint32_t *count)
{
    (void)api;
    cr_expect_eq(device, 3);
    cw_write_string(out, "name");
    cw_write_string(out, "the test's GPU");
    *count = 1;
    return CUPTI_SUCCESS;
}

/* ---- the GPU ----------------------------------------------------------------------------------------------------- */

static CUptiResult enable(CUpti_PmSampling_Enable_Params *p)
{
    cr_expect(p->deviceIndex == 3 && !gpu.enabled);
    gpu.enabled = true;
    return CUPTI_SUCCESS;
}

static CUptiResult disable(CUpti_PmSampling_Disable_Params *p)
{
    (void)p;
    cr_expect(gpu.enabled && !gpu.running);
    gpu.enabled = gpu.configured = gpu.asked = gpu.spoilt = false;
    return CUPTI_SUCCESS;
}

static CUptiResult set_config(CUpti_PmSampling_SetConfig_Params *p)
{
    cr_expect(gpu.enabled);
    gpu.interval = p->samplingInterval;
    gpu.cycles = p->triggerMode == CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL;
    gpu.configured = true;
    return CUPTI_SUCCESS;
}

static CUptiResult data_size(CUpti_PmSampling_GetCounterDataSize_Params *p)
{
    cr_expect(gpu.configured && p->numMetrics >= 1 && p->numMetrics <= COUNTERS);
    gpu.asked_names = (uint32_t)p->numMetrics;
    gpu.asks_missing = false;
    for (size_t m = 0; m < p->numMetrics; m++)
        gpu.asks_missing |= gpu.missing && strncmp(p->pMetricNames[m], gpu.missing, strlen(gpu.missing)) == 0;
    size_t least = sizeof(struct image) + p->maxSamples * sizeof(uint64_t);
    gpu.room = p->maxSamples;
    gpu.asked = true;
    p->counterDataSize = gpu.image_size > least ? gpu.image_size : least;
    return CUPTI_SUCCESS;
}

static CUptiResult initialize(CUpti_PmSampling_CounterDataImage_Initialize_Params *p)
{
    cr_expect(gpu.asked);
    ((struct image *)(void *)p->pCounterData)->count = 0;
    return CUPTI_SUCCESS;
}

static CUptiResult start(CUpti_PmSampling_Start_Params *p)
{
    (void)p;
    cr_expect(gpu.asked && !gpu.running);
    cr_expect_not(gpu.spoilt, "samples would be out of step");
    gpu.running = true;
    gpu.started_ns = cw_now_ns();
    if (gpu.by_time && gpu.stopped_ns)
        gpu.next += (gpu.started_ns - gpu.stopped_ns) / INTERVAL;
    gpu.trials++;
    return CUPTI_SUCCESS;
}

static CUptiResult stop(CUpti_PmSampling_Stop_Params *p)
{
    (void)p;
    cr_expect(gpu.running);
    gpu.running = false;
    gpu.stopped_ns = cw_now_ns();
    gpu.waiting = (gpu.stopped_ns - gpu.started_ns) / INTERVAL;
    return CUPTI_SUCCESS;
}

static void take(struct image *image, uint64_t due)
{
    uint64_t left = gpu.room - image->count, kept = due < left ? due : left;
    for (uint64_t i = 0; i < kept; i++)
        image->samples[image->count++] = gpu.next + i;
    gpu.next += due; /* what has no room is gone */
    gpu.taken += kept;
}

static CUptiResult decode(CUpti_PmSampling_DecodeData_Params *p)
{
    struct image *image = (struct image *)(void *)p->pCounterDataImage;
    pthread_mutex_lock(&gpu.lock);
    gpu.decodes++;
    bool full = gpu.by_time && gpu.full_windows;
    if (gpu.by_time && !full) {
        cr_expect(!gpu.running);
        take(image, gpu.waiting);
        gpu.waiting = 0;
    } else if (full) {
        gpu.full_windows--;
        gpu.next += gpu.waiting;
        gpu.waiting = 0;
    } else if (gpu.running && !gpu.idle)
        take(image, gpu.was_slow ? 100 * SAMPLES_A_DECODE : SAMPLES_A_DECODE);
    gpu.was_slow = false;
    p->overflow = gpu.decodes == gpu.overflow_at;
    gpu.spoilt = gpu.spoilt || p->overflow || full;
    p->decodeStopReason = image->count == gpu.room ? CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL
                                                   : CUPTI_PM_SAMPLING_DECODE_STOP_REASON_OTHER;
    bool last = gpu.decodes == gpu.last_decode, closes = gpu.decodes == gpu.close_at;
    pthread_cond_broadcast(&gpu.changed);
    pthread_mutex_unlock(&gpu.lock);
    if (closes)
        order(0);
    if (last)
        shutdown(agent, SHUT_WR);
    return full ? CUPTI_ERROR_OUT_OF_MEMORY : CUPTI_SUCCESS;
}

static CUptiResult data_info(CUpti_PmSampling_GetCounterDataInfo_Params *p)
{
    p->numPopulatedSamples = ((const struct image *)(const void *)p->pCounterDataImage)->count;
    p->numCompletedSamples = gpu.asks_missing ? 0 : p->numPopulatedSamples;
    return CUPTI_SUCCESS;
}

/* The first sample spans all that was before it. */
static CUptiResult sample_info(CUpti_PmSampling_CounterData_GetSampleInfo_Params *p)
{
    uint64_t number = ((const struct image *)(const void *)p->pCounterDataImage)->samples[p->sampleIndex];
    p->startTimestamp = number ? number * INTERVAL : 1;
    p->endTimestamp = (number + 1) * INTERVAL;
    return CUPTI_SUCCESS;
}

static char host_of_gpu, host_of_chip;

static CUptiResult host_initialize(CUpti_Profiler_Host_Initialize_Params *p)
{
    cr_expect(p->profilerType == CUPTI_PROFILER_TYPE_PM_SAMPLING);
    p->pHostObject =
        (CUpti_Profiler_Host_Object *)(void *)(p->pCounterAvailabilityImage ? &host_of_gpu : &host_of_chip);
    return CUPTI_SUCCESS;
}

static CUptiResult host_deinitialize(CUpti_Profiler_Host_Deinitialize_Params *p)
{
    (void)p;
    return CUPTI_SUCCESS;
}

static CUptiResult availability(CUpti_PmSampling_GetCounterAvailability_Params *p)
{
    cr_expect(p->deviceIndex == 3);
    p->counterAvailabilityImageSize = 4;
    return CUPTI_SUCCESS;
}

static CUptiResult add_metrics(CUpti_Profiler_Host_ConfigAddMetrics_Params *p)
{
    bool refused = gpu.tells && gpu.missing && (void *)p->pHostObject == &host_of_gpu &&
                   strncmp(p->ppMetricNames[0], gpu.missing, strlen(gpu.missing)) == 0;
    return refused ? CUPTI_ERROR_UNKNOWN : CUPTI_SUCCESS;
}

static CUptiResult base_metrics(CUpti_Profiler_Host_GetBaseMetrics_Params *p)
{
    (void)p;
    return CUPTI_ERROR_UNKNOWN;
}

/* The first evaluation takes until so much was decoded, or, where nothing is decoded any more, some time. */
static void be_slow(void)
{
    int result = 0;
    pthread_mutex_lock(&gpu.lock);
    while (gpu.decodes < gpu.slow_until && !result) {
        struct timespec end;
        clock_gettime(CLOCK_REALTIME, &end);
        end.tv_sec += gpu.patience;
        result = pthread_cond_timedwait(&gpu.changed, &gpu.lock, &end);
    }
    gpu.was_slow = gpu.was_slow || gpu.decodes < gpu.slow_until;
    gpu.slow_until = 0;
    pthread_mutex_unlock(&gpu.lock);
}

static CUptiResult evaluate(CUpti_Profiler_Host_EvaluateToGpuValues_Params *p)
{
    uint64_t number = ((const struct image *)(const void *)p->pCounterDataImage)->samples[p->rangeIndex];
    be_slow();
    for (size_t m = 0; m < p->numMetrics; m++) {
        const char *name = p->ppMetricNames[m];
        double value = (double)(number * 10 + (name[0] == 's'));
        bool all = strstr(name, ".sum") != NULL;
        if (strstr(name, "peak_sustained"))
            value = 1;
        p->pMetricValues[m] = all ? INSTANCES * value : value;
    }
    return CUPTI_SUCCESS;
}

/* ---- */

static void begin(void)
{
    int ends[2];
    cr_assert(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    agent = ends[0];
    arena = cw_arena_create();
    cr_assert(cw_schema_of_plan(&schema, &plan, arena) == CW_OK);
    cw_writer_init(&file);
    cw_schema_write_header(&schema, &file);
    cw_schema_write(&schema, &file);
    options = (struct cw_pm_options){.capture = {.plan = &plan},
                                     .interval = INTERVAL,
                                     .buffer_bytes = 1 << 20,
                                     .filter = {.launch_count = UINT64_MAX}};
    static struct cw_writer native;
    cw_pm_process.options = &options;
    cw_pm_process.device = 3;
    cw_pm_process.schema = &schema;
    cw_pm_process.native = &native;
    cw_pm_process.fd = ends[1];
    cw_pm_process.interval = INTERVAL;
    cw_pm_process.sample_takes_ns = INTERVAL;
    cw_pm_process.availability.cuptiPmSamplingGetCounterAvailability = availability;
    cw_pm_process.availability.cuptiProfilerHostInitialize = host_initialize;
    cw_pm_process.availability.cuptiProfilerHostDeinitialize = host_deinitialize;
    cw_pm_process.availability.cuptiProfilerHostConfigAddMetrics = add_metrics;
    cw_pm_process.availability.cuptiProfilerHostGetBaseMetrics = base_metrics;
    cw_pm_process.cuptiPmSamplingEnable = enable;
    cw_pm_process.cuptiPmSamplingDisable = disable;
    cw_pm_process.cuptiPmSamplingSetConfig = set_config;
    cw_pm_process.cuptiPmSamplingGetCounterDataSize = data_size;
    cw_pm_process.cuptiPmSamplingCounterDataImageInitialize = initialize;
    cw_pm_process.cuptiPmSamplingStart = start;
    cw_pm_process.cuptiPmSamplingStop = stop;
    cw_pm_process.cuptiPmSamplingDecodeData = decode;
    cw_pm_process.cuptiPmSamplingGetCounterDataInfo = data_info;
    cw_pm_process.cuptiPmSamplingCounterDataGetSampleInfo = sample_info;
    cw_pm_process.cuptiProfilerHostInitialize = host_initialize;
    cw_pm_process.cuptiProfilerHostEvaluateToGpuValues = evaluate;
}

static void end(void)
{
    cw_writer_free(&file);
    cw_arena_destroy(arena);
}

TestSuite(agent_pm, .init = begin, .fini = end);

/* The process's way (pm_sampler.c), and the file that came out. */
static struct cw_counter_data take_samples(uint32_t decodes)
{
    struct cw_counter_data data;
    struct cw_error err = CW_ERROR_INIT;
    gpu.last_decode = gpu.decodes + decodes;
    cw_pm_begin_images();
    if (!options.filter.range)
        cw_pm_start();
    cw_pm_collect();
    cr_expect(cw_pm_end_images());
    cw_pm_disarm();
    cr_assert(cw_counter_data_read(&data, file.data, file.size, "sampled", arena, &err) == CW_OK, "%s", err.message);
    cr_assert(data.device_count == 1 && data.devices[0].index == 3);
    return data;
}

static struct cw_counter_data sample(uint32_t decodes)
{
    cw_pm_arm();
    return take_samples(decodes);
}

/* Samples of the file against those that the GPU took; all but `artificial` of these are there, with their values. */
static void check_samples(const struct cw_counter_data *data, uint32_t artificial)
{
    struct cw_pm_view view;
    cr_assert(cw_pm_view_init(&view, data, arena, NULL) == CW_OK);
    cr_expect(data->pm.sample_count == gpu.taken - artificial, "%u samples of %lu", data->pm.sample_count, gpu.taken);
    for (uint32_t b = 0; b < data->pm.block_count; b++) {
        const struct cw_pm_block *block = &data->pm.blocks[b];
        cw_pm_view_load(&view, data, b, 0);
        for (uint32_t i = 0; i < block->count; i++) {
            uint64_t number = data->pm.start_ns[block->first + i] / INTERVAL;
            double first = view.data.rollups[CW_SUM][i], second = view.data.rollups[CW_MAX][block->count + i];
            cr_assert(first == (double)(number * 10 * INSTANCES), "sample %lu: %g", number, first);
            cr_assert(second == (double)(number * 10 + 1), "sample %lu: %g", number, second);
        }
    }
}

Test(agent_pm, every_sample_but_the_artificial_one_is_there)
{
    struct cw_counter_data data = sample(50);
    check_samples(&data, 1);
    cr_expect(data.pm.sample_count == 50 * SAMPLES_A_DECODE - 1);
    cr_expect(data.pm.lost == 0 && data.pm.overflow_count == 0);
    cr_expect(cw_pm_process.sample_ns > 0);
    cr_expect(data.devices[0].facts[0].instances == INSTANCES);
    cr_expect_str_eq(cw_device_attribute(&data.devices[0], "name"), "the test's GPU");
    cr_expect_str_eq(cw_device_attribute(&data.devices[0], "sampling_interval"), "1000 ns");
}

Test(agent_pm, nothing_is_lost_while_the_first_evaluation_takes_its_time)
{
    gpu.slow_until = 100; /* that is 15 images half full */
    gpu.patience = 20;
    struct cw_counter_data data = sample(150);
    check_samples(&data, 1);
    cr_expect(data.pm.sample_count == 150 * SAMPLES_A_DECODE - 1);
    cr_expect(data.pm.lost == 0, "%lu lost", data.pm.lost);
}

static void check_bound(uint32_t images, uint32_t decodes)
{
    gpu.slow_until = UINT32_MAX;
    gpu.patience = 1;
    struct cw_counter_data data = sample(decodes);
    check_samples(&data, 1);
    cr_expect(cw_pm_process.image_count == images, "%u images", cw_pm_process.image_count);
    cr_expect(data.pm.lost > 0);
    cr_expect(data.pm.sample_count + data.pm.lost == gpu.next - 1, "%u and %lu lost of %lu", data.pm.sample_count,
              data.pm.lost, gpu.next);
}

Test(agent_pm, images_are_bounded_and_what_is_lost_then_is_told)
{
    check_bound(32, 400);
}

Test(agent_pm, large_images_are_fewer)
{
    gpu.image_size = (size_t)1 << 27;
    check_bound(4, 150);
}

Test(agent_pm, sampling_begins_anew_where_the_buffer_was_full)
{
    gpu.overflow_at = 30;
    struct cw_counter_data data = sample(60);
    check_samples(&data, 2); /* the first after each start */
    cr_expect(data.pm.overflow_count == 1);
    cr_expect(data.pm.sample_count > 50 * SAMPLES_A_DECODE);
}

Test(agent_pm, a_capture_without_a_sample_says_of_which_device)
{
    gpu.idle = true;
    struct cw_counter_data data = sample(3);
    cr_expect(data.pm.sample_count == 0 && gpu.taken == 0);
    cr_expect_str_eq(cw_device_attribute(&data.devices[0], "name"), "the test's GPU");
}

/* Which columns of the file are unavailable; the other counter's samples are all there. */
static void check_missing(const struct cw_counter_data *data, uint32_t missing)
{
    struct cw_pm_view view;
    cr_assert(cw_pm_view_init(&view, data, arena, NULL) == CW_OK);
    cr_assert(data->pm.block_count && data->pm.sample_count == 5 * SAMPLES_A_DECODE - 1, "%u", data->pm.sample_count);
    cw_pm_view_load(&view, data, 0, 0);
    for (uint32_t c = 0; c < COUNTERS; c++)
        cr_expect((view.columns[c] == CW_COLUMN_UNAVAILABLE) == (c == missing), "counter %u: %d", c, view.columns[c]);
    uint32_t there = !missing;
    uint64_t number = data->pm.start_ns[0] / INTERVAL;
    double value = view.data.rollups[CW_AVG][there * view.data.range_count];
    cr_expect(value == (double)(number * 10 + there), "%g", value);
}

Test(agent_pm, a_counter_that_availability_refuses_costs_itself_alone)
{
    gpu.missing = "second";
    gpu.tells = true;
    cr_redirect_stderr();
    cw_pm_choose();
    cr_expect(gpu.lowered == 1 && gpu.trials == 1 && gpu.asked_names == 1);
    struct cw_counter_data data = take_samples(5);
    check_missing(&data, 1);
    fflush(stderr);
    cr_assert_stderr_eq_str("capture-agent: GPU 3 lacks second, or it is not up; unavailable and left out: second\n");
}

Test(agent_pm, a_unit_of_which_nobody_tells_is_found_by_trials)
{
    gpu.missing = "first";
    cr_redirect_stderr();
    cw_pm_choose();
    cr_expect(gpu.asked_names == 1);
    struct cw_counter_data data = take_samples(5);
    check_missing(&data, 0);
    fflush(stderr);
    cr_assert_stderr_eq_str("capture-agent: GPU 3 lacks first, or it is not up; unavailable and left out: first\n");
}

Test(agent_pm, one_short_trial_where_nothing_is_missing)
{
    cw_pm_choose();
    cr_expect(gpu.lowered == 0 && gpu.trials == 1 && gpu.asked_names == COUNTERS);
    cr_expect(gpu.interval == INTERVAL && !gpu.cycles);
    gpu.trials = 0;
    struct cw_counter_data data = take_samples(5);
    cr_expect(data.pm.sample_count == 5 * SAMPLES_A_DECODE - 1);
}

Test(agent_pm, a_long_interval_is_tried_at_a_short_one)
{
    options.interval = 5000000000;
    cw_pm_choose();
    cr_expect(gpu.trials == 1 && gpu.interval == 5000000000);
}

/* Samples of this GPU take 1000 ns, which are 100000 cycles here. */
Test(agent_pm, turing_samples_by_cycles_that_take_as_long)
{
    options.interval = 20000;
    schema.chip = "TU102";
    cr_redirect_stderr();
    cw_pm_choose();
    cr_expect(gpu.cycles && gpu.interval == 2000000, "%lu", gpu.interval);
    struct cw_counter_data data = take_samples(5);
    cr_expect_str_eq(cw_device_attribute(&data.devices[0], "sampling_interval"), "2000000 cycles");
    cr_expect_str_eq(cw_device_attribute(&data.devices[0], "wanted_interval"), "20000 ns");
    fflush(stderr);
    cr_assert_stderr_eq_str("capture-agent: GPU 3 samples by its system clock alone: every 2000000 cycles, which at "
                            "100000 MHz are the 20000 ns of --interval\n");
}

/* Samples that follow one another without a gap, within each window. A window that a slow machine makes longer than
 * its image has room for ends with that, so that there may be more of them than expected. */
static void check_windows(const struct cw_counter_data *data, uint32_t least)
{
    const struct cw_pm_data *pm = &data->pm;
    uint32_t sample = 0;
    cr_assert(pm->window_count >= least, "%u windows", pm->window_count);
    check_samples(data, pm->window_count);
    for (uint32_t w = 0; w < pm->window_count; w++) {
        uint64_t at = pm->windows[w].start_ns;
        while (sample < pm->sample_count && pm->end_ns[sample] <= pm->windows[w].end_ns) {
            cr_assert(pm->start_ns[sample] == at, "window %u, sample %u", w, sample);
            at = pm->end_ns[sample++];
        }
        cr_expect(at == pm->windows[w].end_ns);
        cr_expect(!w || pm->windows[w].start_ns > pm->windows[w - 1].end_ns);
    }
    cr_expect(sample == pm->sample_count);
}

static void set_windows(double window_s, double every_s)
{
    options.window_s = window_s;
    options.every_s = every_s;
    cw_pm_process.window_ns = (uint64_t)(window_s * 1e9);
    cw_pm_process.sample_takes_ns = INTERVAL;
    gpu.by_time = true;
}

Test(agent_pm, no_sample_is_lost_within_a_window_nor_counted_as_lost_between_two)
{
    set_windows(0.006, 0.02);
    struct cw_counter_data data = sample(6); /* each window takes two */
    check_windows(&data, 3);
    cr_expect(data.pm.lost == 0 && data.pm.block_count >= 6); /* a window is of several blocks */
    cr_expect(data.pm.windows[2].start_ns - data.pm.windows[1].start_ns > 10000000);
    cr_expect_str_eq(cw_device_attribute(&data.devices[0], "sampling_window"), "0.006 s every 0.02 s");
}

Test(agent_pm, each_range_has_a_window)
{
    set_windows(0.1, 0);
    options.filter.range = "step";
    ranges = 3;
    order(1);
    struct cw_counter_data data = sample(UINT32_MAX);
    check_windows(&data, 3);
    cr_expect(data.pm.window_count == 3 && data.pm.lost == 0);
    cr_expect_str_eq(cw_device_attribute(&data.devices[0], "filter"), "--range step");
}

Test(agent_pm, a_range_that_is_too_long_ends_with_its_window)
{
    set_windows(0.001, 0);
    options.filter.range = "step";
    ranges = 2;
    late = true;
    order(1);
    struct cw_counter_data data = sample(UINT32_MAX);
    check_windows(&data, 2);
}

/* Said once. */
Test(agent_pm, a_range_that_its_window_cuts_is_told)
{
    set_windows(0.001, 0);
    options.window_s = 0;
    options.filter.range = "step";
    ranges = 2;
    late = true;
    order(1);
    cr_redirect_stderr();
    struct cw_counter_data data = sample(UINT32_MAX);
    check_windows(&data, 2);
    fflush(stderr);
    cr_assert_stderr_eq_str("capture-agent: GPU 3: a window of 1000 samples ended after 1 ms, and the rest of its "
                            "range is not sampled; --window takes longer ones, and at an --interval of 50 us or more "
                            "they have no limit\n");
}

Test(agent_pm, samples_that_come_slowly_have_windows_as_long_as_their_ranges)
{
    options.interval = 100000;
    options.filter.range = "step";
    cw_pm_choose();
    cr_expect_eq(cw_pm_process.window_ns, 0);
    options.interval = INTERVAL;
    ranges = 2;
    decodes_of_a_range = 100;
    order(1);
    gpu.taken = 0;
    struct cw_counter_data data = take_samples(UINT32_MAX - 1000);
    check_windows(&data, 2);
    cr_expect(data.pm.window_count == 2 && data.pm.lost == 0 && data.pm.overflow_count == 0);
    cr_expect(data.pm.sample_count >= 2 * (100 * SAMPLES_A_DECODE - 1), "%u samples", data.pm.sample_count);
}

/* The window goes on behind what is lost. */
Test(agent_pm, such_a_window_outlasts_a_full_buffer)
{
    options.filter.range = "step";
    ranges = 1;
    decodes_of_a_range = 60;
    gpu.overflow_at = 30;
    order(1);
    struct cw_counter_data data = sample(UINT32_MAX);
    check_samples(&data, 2);
    cr_expect(data.pm.window_count == 1 && data.pm.overflow_count == 1 && data.pm.lost == 1);
    cr_expect_eq(data.pm.windows[0].end_ns, data.pm.end_ns[data.pm.sample_count - 1]);
    cr_expect_eq(data.pm.windows[0].start_ns, data.pm.start_ns[0]);
}

/* The order to close comes with the full buffer, or the buffer shows to be full behind the order. */
static void ends_full(uint32_t overflow_at)
{
    options.filter.range = "step";
    ranges = 2;
    decodes_of_a_range = 60;
    gpu.overflow_at = overflow_at;
    order(1);
    struct cw_counter_data data = sample(UINT32_MAX);
    cr_expect(data.pm.window_count == 2 && data.pm.overflow_count == 1);
    cr_expect_gt(data.pm.lost, 0, "the GPU's time is the machine's, and goes faster than the samples come");
}

Test(agent_pm, the_next_window_begins_anew_where_one_ends_with_a_full_buffer)
{
    ends_full(60);
}

Test(agent_pm, or_is_found_to_have_been_full_when_it_is_drained)
{
    ends_full(61);
}

Test(agent_pm, a_window_that_the_buffer_does_not_hold_makes_the_next_shorter)
{
    set_windows(0.008, 0);
    gpu.full_windows = 1;
    cr_redirect_stderr();
    struct cw_counter_data data = sample(5);
    check_windows(&data, 2);
    cr_expect(data.pm.lost >= 8000 && data.pm.overflow_count == 1, "%lu lost", data.pm.lost);
    fflush(stderr);
    cr_assert_stderr_eq_str("capture-agent: GPU 3: the hardware's buffer of 1 MiB was full before a window of 8 ms was "
                            "over, and its samples are lost; windows are of 4 ms from here on; --buffer holds more\n");
}

Test(agent_pm, a_window_has_a_buffer_that_is_likely_to_hold_it)
{
    options.buffer_bytes = 0;
    cr_expect(cw_pm_buffer_bytes() == 256 << 20);
    set_windows(0.1, 0);
    cr_expect(cw_pm_buffer_bytes() > (uint64_t)1 << 30 && cw_pm_buffer_bytes() < (uint64_t)2 << 30);
    set_windows(10, 0);
    cr_expect(cw_pm_buffer_bytes() == (uint64_t)4096 << 20);
}

Test(agent_pm, keeps_the_rollups_that_the_plan_says_or_all)
{
    struct cw_config_image older = plan;
    older.rollups = NULL;
    cr_expect(!cw_pm_needs_rollups(&plan, 0) && cw_pm_needs_rollups(&plan, 1));
    cr_expect(cw_pm_needs_rollups(&older, 0));
}
