/* How long an evaluation takes, in nanoseconds a value, on one core.
 *
 *     eval_bench [RANGES [NATIVE.cd]]
 *
 * The capture is made up: RANGES (20,000) ranges of one device, random values. With a native counter-data image of a
 * GH100 and NVIDIA's host library, the time of NVIDIA's evaluator for the same metrics stands beside it. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "eval/evaluate.h"
#include "host/nvperf/nvperf.h"
#include "metricdb/chip_load.h"

static const char *const bases[] = {
    "sm__inst_executed",  "sm__inst_issued",   "sm__warps_active", "smsp__inst_executed",
    "smsp__warps_active", "lts__t_sectors",    "lts__t_requests",  "dram__bytes_read",
    "dram__bytes_write",  "l1tex__t_requests", "l1tex__t_sectors", "l1tex__data_bank_reads",
};
static const char *const subs[] = {".sum", ".avg.per_cycle_active", ".sum.per_second",
                                   ".avg.pct_of_peak_sustained_elapsed"};
enum {
    BASES = sizeof bases / sizeof *bases,
    SUBS = sizeof subs / sizeof *subs,
    METRICS = BASES * SUBS + 2,
    ROUNDS = 7
};

struct bench {
    const struct cw_chip *chip;
    struct cw_metric metrics[METRICS];
    const char *names[METRICS];
    uint32_t *needed; /* counters of the chip, marked, then numbered */
    struct cw_counter_data data;
    struct cw_arena *arena;
    struct cw_error err;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static void mark(void *context, uint32_t counter, unsigned rollups)
{
    (void)rollups;
    ((uint32_t *)context)[counter] = 1;
}

static enum cw_status choose_metrics(struct bench *b)
{
    size_t n = 0;
    for (size_t i = 0; i < BASES; i++)
        for (size_t s = 0; s < SUBS; s++)
            b->names[n++] = cw_arena_printf(b->arena, "%s%s", bases[i], subs[s]);
    b->names[n++] = "lts__t_sector_hit_rate.pct";
    b->names[n++] = "smsp__thread_inst_executed_per_inst_executed.ratio";
    b->needed = cw_arena_alloc(b->arena, b->chip->counter_count, sizeof *b->needed);
    enum cw_status status = b->needed ? CW_OK : cw_error_nomem(&b->err);
    for (size_t i = 0; status == CW_OK && i < METRICS; i++) {
        status = cw_metric_parse(&b->metrics[i], b->chip, b->names[i], &b->err);
        if (status == CW_OK)
            status = cw_metric_needs(&(struct cw_needs){.chip = b->chip, .add = mark, .context = b->needed},
                                     &b->metrics[i], &b->err);
    }
    return status;
}

/* Columns as a reader would lay them out, with values that no step can shortcut. */
static enum cw_status make_capture(struct bench *b, uint32_t ranges)
{
    static const uint32_t pass = 0;
    uint32_t counters = 0;
    for (uint32_t i = 0; i < b->chip->counter_count; i++)
        counters += b->needed[i];
    struct cw_schema_counter *schema = cw_arena_alloc(b->arena, counters, sizeof *schema);
    struct cw_device_facts *facts = cw_arena_alloc(b->arena, counters, sizeof *facts);
    struct cw_device *device = cw_arena_alloc(b->arena, 1, sizeof *device);
    b->data.ranges = cw_arena_alloc(b->arena, ranges, sizeof *b->data.ranges);
    b->data.forms = cw_arena_alloc(b->arena, (size_t)counters * ranges, 1);
    bool good = schema && facts && device && b->data.ranges && b->data.forms;
    for (int r = 0; r < CW_ROLLUP_COUNT && good; r++)
        good = (b->data.rollups[r] = cw_arena_alloc(b->arena, (size_t)counters * ranges, sizeof(double)));
    if (!good)
        return cw_error_nomem(&b->err);
    for (uint32_t i = 0, n = 0; i < b->chip->counter_count; i++)
        if (b->needed[i]) {
            facts[n] = (struct cw_device_facts){132, {132, 1, 1, 1}};
            schema[n++] = (struct cw_schema_counter){b->chip->counters[i].name, true, 1, &pass};
        }
    memset(b->data.forms, CW_FORM_ROLLUPS, (size_t)counters * ranges);
    for (int r = 0; r < CW_ROLLUP_COUNT; r++)
        for (size_t i = 0; i < (size_t)counters * ranges; i++)
            b->data.rollups[r][i] = 1 + (double)(rand() % 1000000);
    device->facts = facts;
    b->data.devices = device;
    b->data.device_count = 1;
    b->data.range_count = ranges;
    b->data.schema =
        (struct cw_schema){.chip = b->chip->name, .pass_count = 1, .counter_count = counters, .counters = schema};
    return CW_OK;
}

static enum cw_status bench_ours(struct bench *b)
{
    const struct cw_eval_options options = {0};
    struct cw_eval_plan plan;
    size_t count = (size_t)METRICS * b->data.range_count;
    double *values = cw_arena_alloc(b->arena, count, sizeof *values), best = 1e300;
    int8_t *statuses = cw_arena_alloc(b->arena, count, sizeof *statuses);
    double start = now();
    enum cw_status status = values && statuses ? cw_eval_plan_make(&plan, b->chip, &b->data.schema, b->metrics, METRICS,
                                                                   &options, b->arena, &b->err)
                                               : cw_error_nomem(&b->err);
    if (status != CW_OK)
        return status;
    printf("plan          %10.0f ns for %d metrics\n", now() - start, METRICS);
    for (int round = 0; round < ROUNDS; round++) {
        start = now();
        cw_evaluate(&plan, &b->data, values, statuses);
        double took = now() - start;
        best = took < best ? took : best;
    }
    printf("counterworks  %10.3f ns/value (%zu values, best of %d)\n", best / (double)count, count, ROUNDS);
    return CW_OK;
}

static enum cw_status bench_nvidia(struct bench *b, const char *path)
{
    const struct cw_nvperf *library;
    struct cw_nvperf_evaluator *evaluator = NULL;
    struct cw_nvperf_requests *requests = NULL;
    struct cw_bytes image = {0};
    double values[METRICS], best = 1e300;
    enum cw_status status = cw_nvperf_open(&library, NULL, &b->err);
    if (status == CW_OK)
        status = cw_file_read(&image, path, (size_t)1 << 30, &b->err);
    if (status == CW_OK)
        status = cw_nvperf_evaluator_create(&evaluator, library, b->chip->name, CW_NVPERF_PROFILER, image.data,
                                            image.size, &b->err);
    if (status == CW_OK)
        status = cw_nvperf_requests_create(&requests, evaluator, b->names, METRICS, &b->err);
    for (int round = 0; status == CW_OK && round < 20 * ROUNDS; round++) {
        double start = now();
        status = cw_nvperf_evaluate(evaluator, requests, 0, values, &b->err);
        double took = now() - start;
        best = took < best ? took : best;
    }
    if (status == CW_OK)
        printf("NVIDIA        %10.3f ns/value (the same metrics, best of %d)\n", best / METRICS, 20 * ROUNDS);
    cw_nvperf_requests_destroy(requests);
    cw_nvperf_evaluator_destroy(evaluator);
    cw_bytes_free(&image);
    return status;
}

int main(int argc, char **argv)
{
    static struct bench b;
    uint32_t ranges = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 20000;
    b.arena = cw_arena_create();
    enum cw_status status = b.arena ? cw_chip_load(&b.chip, NULL, "GH100", b.arena, &b.err) : cw_error_nomem(&b.err);
    if (status == CW_OK)
        status = choose_metrics(&b);
    if (status == CW_OK)
        status = make_capture(&b, ranges);
    if (status == CW_OK)
        status = bench_ours(&b);
    if (status == CW_OK && argc > 2)
        status = bench_nvidia(&b, argv[2]);
    char text[1200];
    if (status != CW_OK)
        fprintf(stderr, "eval_bench: %s\n", cw_error_format(&b.err, text, sizeof text));
    cw_arena_destroy(b.arena);
    return (int)status;
}
