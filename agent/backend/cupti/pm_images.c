/* Turns images into columns with CUPTI's evaluator for samples: the evaluator for ranges refuses these images. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/backend/cupti/pm_process.h"
#include "agent/backend/pm_capture.h"
#include "agent/common/device.h"
#include "base/now.h"

static struct {
    pthread_t sender;
    CUpti_Profiler_Host_Object *evaluator;
    bool overflow;      /* the hardware's buffer was full since the last sent samples */
    uint64_t lost;      /* samples lost since then */
    uint8_t *all;       /* by counter: evaluate all rollups, else sums only */
    const char **names; /* names to evaluate */
    size_t name_count;
    double *values; /* one sample's values, in the order of the names */
    double *rollups[CW_ROLLUP_COUNT];
    uint8_t *forms;
    uint64_t previous_end;                /* end of the last sent sample */
    uint64_t window_start;                /* start of the first sent sample of the window; 0: none was sent */
    uint64_t sent, taking_ns, sending_ns; /* samples, and the time both threads spent on them */
    struct cw_writer about;               /* attributes of the device */
    uint32_t about_count;
} self;

/* ---- the device ------------------------------------------------------------------------------------------------- */

static void evaluate_sample(const struct cw_pm_image *s, uint32_t sample, const char **names, size_t count,
                            double *values)
{
    PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params, params);
    params.pHostObject = self.evaluator;
    params.pCounterDataImage = s->bytes;
    params.counterDataImageSize = cw_pm_process.image_size;
    params.rangeIndex = sample;
    params.ppMetricNames = names;
    params.numMetrics = count;
    params.pMetricValues = values;
    CALL(cuptiProfilerHostEvaluateToGpuValues, params);
}

static bool lacks(uint32_t counter)
{
    return cw_pm_process.lacks && cw_pm_process.lacks[counter];
}

/* Makes the names of all counters that the device has, with each suffix, counter by counter; only the first suffix if
 * `all` is false for a counter. */
static const char **make_names(const char *const suffix[CW_ROLLUP_COUNT], const uint8_t *all, size_t *count)
{
    uint32_t n = cw_pm_process.schema->counter_count;
    char **names = calloc((size_t)n * CW_ROLLUP_COUNT + 1, sizeof *names);
    cw_pm_need(names);
    *count = 0;
    for (uint32_t c = 0; c < n; c++)
        for (int r = 0; !lacks(c) && r < (!all || all[c] ? CW_ROLLUP_COUNT : 1); r++)
            cw_pm_need(asprintf(&names[(*count)++], "%s%s", cw_pm_process.schema->counters[c].name, suffix[r]) > 0);
    return (const char **)names;
}

/* Computes sustained peaks of the device, and instances as the peak of the sum over that of the average. */
static struct cw_device_facts *make_facts(const struct cw_pm_image *s)
{
    static const char *const suffix[CW_ROLLUP_COUNT] = {".sum.peak_sustained", ".avg.peak_sustained",
                                                        ".min.peak_sustained", ".max.peak_sustained"};
    uint32_t n = cw_pm_process.schema->counter_count;
    size_t count;
    const char **names = make_names(suffix, NULL, &count);
    double *peaks = calloc(count + 1, sizeof *peaks);
    struct cw_device_facts *facts = calloc((size_t)n + 1, sizeof *facts);
    cw_pm_need(peaks && facts);
    evaluate_sample(s, 0, names, count, peaks);
    const double *from = peaks;
    for (uint32_t c = 0; c < n; c++) {
        if (lacks(c))
            continue;
        memcpy(facts[c].peak, from, sizeof facts[c].peak);
        from += CW_ROLLUP_COUNT;
        double instances = facts[c].peak[CW_SUM] / facts[c].peak[CW_AVG];
        facts[c].instances = instances >= 1 && instances < 1e6 ? (uint32_t)(instances + 0.5) : 0;
    }
    free(peaks);
    while (count)
        free((char *)names[--count]);
    free(names);
    return facts;
}

static void send_device(const struct cw_device_facts *facts)
{
    struct cw_writer out;
    struct cw_arena *arena = cw_arena_create();
    uint32_t count = self.about_count;
    char texts[2][32], windows[96];
    cw_writer_init(&out);
    struct cw_pair *list = arena ? cw_arena_alloc(arena, (size_t)count + 4, sizeof *list) : NULL;
    cw_pm_need(list && self.about.status == CW_OK);
    struct cw_reader in;
    cw_reader_init(&in, self.about.data, self.about.size, "device", 0, NULL);
    for (uint32_t i = 0; i < count; i++) {
        list[i].key = cw_read_string(&in, arena);
        list[i].value = cw_read_string(&in, arena);
    }
    count += cw_pm_describe_interval(cw_pm_process.options, cw_pm_process.interval, cw_pm_process.cycles, texts,
                                     list + count);
    count += cw_pm_describe_windows(cw_pm_process.options, windows, list + count, arena);
    struct cw_device device = {
        .index = cw_pm_process.device, .attribute_count = count, .attributes = list, .facts = facts};
    cw_pm_need(cw_node_facts_join(cw_pm_process.node, &device, arena));
    cw_counter_data_write_device(cw_pm_process.schema, &device, &out);
    cw_pm_send_chunks(0, 0, &out);
    cw_writer_free(&out);
    cw_arena_destroy(arena);
    cw_pm_process.device_sent = true;
    cw_pm_send_clock();
}

/* Learns about the device from the first image. A counter with an unknown number of instances needs every rollup,
 * because its average does not follow from the sum. */
static void know_device(const struct cw_pm_image *s)
{
    static const char *const suffix[CW_ROLLUP_COUNT] = {".sum", ".avg", ".min", ".max"};
    struct cw_device_facts *facts = make_facts(s);
    for (uint32_t c = 0; c < cw_pm_process.schema->counter_count; c++)
        self.all[c] = !facts[c].instances || cw_pm_needs_rollups(cw_pm_process.options->capture.plan, c);
    self.names = make_names(suffix, self.all, &self.name_count);
    self.values = calloc(self.name_count + 1, sizeof *self.values);
    cw_pm_need(self.values);
    send_device(facts);
    free(facts);
}

/* ---- samples ---------------------------------------------------------------------------------------------------- */

/* Evaluates columns of `count` samples from `first` on. */
static void evaluate(const struct cw_pm_image *s, uint32_t first, uint32_t count)
{
    uint32_t n = cw_pm_process.schema->counter_count;
    for (uint32_t i = 0; i < count; i++) {
        evaluate_sample(s, first + i, self.names, self.name_count, self.values);
        const double *from = self.values;
        for (uint32_t c = 0; c < n; c++)
            for (int r = 0; !lacks(c) && r < (self.all[c] ? CW_ROLLUP_COUNT : 1); r++)
                self.rollups[r][(size_t)c * count + i] = *from++;
    }
    for (uint32_t c = 0; c < n; c++)
        self.forms[c] = lacks(c) || isnan(self.rollups[CW_SUM][(size_t)c * count]) ? CW_COLUMN_UNAVAILABLE
                        : self.all[c]                                              ? CW_COLUMN_ROLLUPS
                                                                                   : CW_COLUMN_SUMS;
}

/* Counts lost samples by gaps between the others, except at the beginning of a window. */
static uint64_t count_lost(const struct cw_pm_image *s, uint32_t first, uint32_t count)
{
    uint64_t lost = 0;
    for (uint32_t i = first; i < first + count; i++) {
        uint64_t gap = self.previous_end && s->start[i] > self.previous_end ? s->start[i] - self.previous_end : 0;
        uint64_t period = cw_pm_process.cycles ? s->end[i] - s->start[i] : cw_pm_process.interval;
        if (period)
            lost += (gap + period / 2) / period;
        self.previous_end = s->end[i];
    }
    return lost;
}

/* Notes the cost of a sample. The slower of the two threads limits the rate. */
static void note_cost(const struct cw_pm_image *s, uint64_t began_ns)
{
    self.sent += s->count;
    self.taking_ns += s->taking_ns;
    self.sending_ns += cw_now_ns() - began_ns;
    cw_pm_process.sample_ns = (self.taking_ns > self.sending_ns ? self.taking_ns : self.sending_ns) / self.sent;
}

static void send_block(const struct cw_pm_image *s, uint32_t first, uint32_t count)
{
    evaluate(s, first, count);
    struct cw_writer out;
    struct cw_block block = {.device = cw_pm_process.device,
                             .count = count,
                             .lost = self.lost + count_lost(s, first, count),
                             .overflow = self.overflow,
                             .start = s->start + first,
                             .end = s->end + first,
                             .forms = self.forms};
    for (int r = 0; r < CW_ROLLUP_COUNT; r++)
        block.rollups[r] = self.rollups[r];
    cw_writer_init(&out);
    cw_pm_write_block(cw_pm_process.schema, &block, &out);
    cw_pm_send_chunks(block.count, block.lost, &out);
    self.overflow = false;
    self.lost = 0;
    cw_writer_free(&out);
}

static void send_window(void)
{
    struct cw_writer out;
    const struct cw_pm_window window = {cw_pm_process.device, self.window_start, self.previous_end};
    cw_writer_init(&out);
    cw_pm_write_window(&window, &out);
    cw_pm_send_chunks(0, 0, &out);
    cw_writer_free(&out);
}

static void send_samples(const struct cw_pm_image *s, uint32_t first)
{
    uint64_t began_ns = cw_now_ns();
    const uint32_t most = cw_pm_block_room();
    if (!cw_pm_process.device_sent) {
        know_device(s);
        began_ns = cw_now_ns(); /* the first evaluation takes longer */
    }
    for (uint32_t at = first; at < s->count; at += most)
        send_block(s, at, s->count - at < most ? s->count - at : most);
    self.window_start = self.window_start ? self.window_start : s->start[first];
    note_cost(s, began_ns);
}

static void send_image(const struct cw_pm_image *s)
{
    const uint32_t first = s->artificial ? 1 : 0;
    self.overflow = self.overflow || s->overflow;
    self.lost += s->lost;
    if (s->opens)
        self.previous_end = self.window_start = 0;
    if (s->count > first)
        send_samples(s, first);
    if (s->closes && self.window_start)
        send_window();
}

/* Takes the next image, in order; NULL once the last is sent. */
static struct cw_pm_image *take_filled(void)
{
    pthread_mutex_lock(&cw_pm_process.lock);
    while (!cw_pm_process.filled && !cw_pm_process.last_filled)
        pthread_cond_wait(&cw_pm_process.changed, &cw_pm_process.lock);
    struct cw_pm_image *s = cw_pm_process.filled;
    if (s)
        cw_pm_process.filled = s->next;
    if (s && !s->next)
        cw_pm_process.filled_last = &cw_pm_process.filled;
    pthread_mutex_unlock(&cw_pm_process.lock);
    return s;
}

static void *send_images(void *unused)
{
    (void)unused;
    for (struct cw_pm_image *s; (s = take_filled());) {
        send_image(s);
        pthread_mutex_lock(&cw_pm_process.lock);
        s->next = cw_pm_process.spare;
        cw_pm_process.spare = s;
        pthread_cond_broadcast(&cw_pm_process.changed);
        pthread_mutex_unlock(&cw_pm_process.lock);
    }
    return NULL;
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

void cw_pm_begin_images(void)
{
    size_t n = cw_pm_process.schema->counter_count;
    PARAMS(CUpti_Profiler_Host_Initialize_Params, host);
    host.profilerType = CUPTI_PROFILER_TYPE_PM_SAMPLING;
    host.pChipName = cw_pm_process.schema->chip;
    CALL(cuptiProfilerHostInitialize, host);
    self.evaluator = host.pHostObject;
    self.all = calloc(n + 1, 1);
    self.forms = calloc(n + 1, 1);
    cw_pm_need(self.all && self.forms);
    cw_writer_init(&self.about);
    cw_pm_good(cw_cupti_describe(&cw_pm_process.api, (CUdevice)cw_pm_process.device, &self.about, &self.about_count),
               "cuptiDeviceGetChipName");
    for (int r = 0; r < CW_ROLLUP_COUNT; r++) {
        self.rollups[r] = calloc(cw_pm_block_room() * n + 1, sizeof(double));
        cw_pm_need(self.rollups[r]);
    }
    cw_pm_need(pthread_create(&self.sender, NULL, send_images, NULL) == 0);
}

bool cw_pm_end_images(void)
{
    pthread_mutex_lock(&cw_pm_process.lock);
    cw_pm_process.last_filled = true;
    pthread_cond_broadcast(&cw_pm_process.changed);
    pthread_mutex_unlock(&cw_pm_process.lock);
    pthread_join(self.sender, NULL);
    bool any = cw_pm_process.device_sent;
    if (any && self.lost) { /* and no samples came after */
        struct cw_writer none;
        cw_writer_init(&none);
        cw_pm_send_chunks(0, self.lost, &none);
        cw_writer_free(&none);
    }
    if (!any) {
        struct cw_device_facts *facts = calloc((size_t)cw_pm_process.schema->counter_count + 1, sizeof *facts);
        cw_pm_need(facts);
        send_device(facts);
        free(facts);
    }
    return any || !self.overflow;
}
