/* A tiny chip and a capture of it, for the tests of eval/. Everything is static and may be changed by a test before it
 * evaluates; eval_sample_reset brings the beginning back. */
#ifndef CW_TESTS_EVAL_SAMPLE_H
#define CW_TESTS_EVAL_SAMPLE_H

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "eval/evaluate.h"
#include "eval/result.h"
#include "metricdb/chip_load.h"

static const char sample_yaml[] =
    "schema: 1\n"
    "chip: TINY\n"
    "source:\n  - made up\n"
    "time: gpu__time\n"
    "units:\n"
    "  gpu: {instances: 1}\n"
    "  sm: {instances: 4, active: sm__cycles_active, elapsed: sm__cycles_elapsed}\n"
    "domains:\n  one: 1\n"
    "raw_counters:\n  0x0000000000000001: [one]\n  0x0000000000000002: [one]\n"
    "counters:\n"
    "  gpu__time: {unit: gpu, dim: nanoseconds, peak: 1, raw: [0x0000000000000001]}\n"
    "  sm__bytes: {unit: sm, dim: bytes, peak: 8, raw: [0x0000000000000001]}\n"
    "  sm__cycles_active: {unit: sm, dim: cycles, peak: 1, raw: [0x0000000000000001]}\n"
    "  sm__cycles_elapsed: {unit: sm, dim: cycles, peak: 1, raw: [0x0000000000000001]}\n"
    "  sm__cycles_in_frame: {unit: sm, dim: cycles, peak: 0, raw: [0x0000000000000001]}\n"
    "  sm__hits: {unit: sm, dim: tags, peak: 1, raw: [0x0000000000000001]}\n"
    "  sm__inst: {unit: sm, dim: instructions, peak: 4, raw: [0x0000000000000001]}\n"
    "  sm__lookups: {unit: sm, dim: tags, peak: 2, raw: [0x0000000000000001]}\n"
    "  sm__missing: {unit: sm, dim: 1, peak: 1, raw: [0x0000000000000002]}\n"
    "  sm__split: {unit: sm, dim: 1, peak: 1, of: {sm__hits: 1, sm__missing: 1}, raw: [0x0000000000000001, "
    "0x0000000000000002]}\n"
    /* derived, and in no capture */
    "  gpu__inst: {unit: gpu, dim: instructions, peak: 1, of: {sm__inst: 1}, per: 4, raw: [0x0000000000000001]}\n"
    "  sm__hit_bytes: {unit: sm, dim: bytes, peak: 32, of: {sm__hits: 32}, raw: [0x0000000000000001]}\n"
    "  sm__misses: {unit: sm, dim: tags, of: {sm__lookups: 1, sm__hits: -1}, raw: [0x0000000000000001]}\n"
    "  sm__whole: {unit: sm, dim: 1, of: {sm__inst: 1, sm__hits: 2, sm__missing: 2}, raw: [0x0000000000000001]}\n"
    "  sm__wide: {unit: sm, dim: 1, of: {sm__bytes: 0.5, sm__inst: 1}, raw: [0x0000000000000001]}\n"
    "ratios:\n"
    "  sm__hit_rate: {unit: sm, dim: 1, num: sm__hits, den: sm__lookups, max_rate: 2, raw: [0x0000000000000001]}\n"
    "  sm__miss_rate: {unit: sm, dim: 1, num: sm__misses, den: sm__lookups, max_rate: 1, raw: [0x0000000000000001]}\n"
    "  sm__odd_rate: {unit: sm, dim: 1, max_rate: 4, raw: [0x0000000000000002]}\n"
    "throughputs:\n"
    "  sm__odd_throughput: {unit: sm, dim: percent, raw: [0x0000000000000002]}\n"
    "  sm__partial_throughput: {unit: sm, dim: percent, counters: [sm__inst, sm__missing], raw: "
    "[0x0000000000000002]}\n"
    "  sm__throughput: {unit: sm, dim: percent, counters: [sm__bytes, sm__inst], raw: [0x0000000000000001]}\n";

enum { TIME, BYTES, ACTIVE, ELAPSED, IN_FRAME, HITS, INST, LOOKUPS, SPLIT, SAMPLE_COUNTERS };
enum { SAMPLE_RANGES = 3, SAMPLE_PASSES = 2 };

static struct cw_arena *arena;
static struct cw_error err;
static const struct cw_chip *chip;
static struct cw_counter_data data;
static struct cw_schema_counter sample_counters[SAMPLE_COUNTERS];
static struct cw_device_facts sample_facts[2][SAMPLE_COUNTERS];
static struct cw_device sample_devices[2];
static struct cw_range sample_ranges[SAMPLE_RANGES];
static double sample_rollups[CW_ROLLUP_COUNT][SAMPLE_COUNTERS][SAMPLE_RANGES];
static uint8_t sample_forms[SAMPLE_COUNTERS][SAMPLE_RANGES];
static double sample_durations[SAMPLE_RANGES][SAMPLE_PASSES];

/* The rollups of four equal instances. */
static inline void set_value(int counter, int range, double sum)
{
    sample_rollups[CW_SUM][counter][range] = sum;
    for (int r = CW_AVG; r < CW_ROLLUP_COUNT; r++)
        sample_rollups[r][counter][range] = counter == TIME ? sum : sum / 4;
}

static inline void set_form(int counter, int range, enum cw_value_form form)
{
    sample_forms[counter][range] = (uint8_t)form;
    if (form == CW_FORM_UNAVAILABLE || form == CW_FORM_NOT_COLLECTED)
        for (int r = 0; r < CW_ROLLUP_COUNT; r++)
            sample_rollups[r][counter][range] = NAN;
}

static void fill_sample(void)
{
    static const uint32_t first[] = {0}, second[] = {1}, both[] = {0, 1};
    static const char *const names[] = {"gpu__time",          "sm__bytes",           "sm__cycles_active",
                                        "sm__cycles_elapsed", "sm__cycles_in_frame", "sm__hits",
                                        "sm__inst",           "sm__lookups",         "sm__split"};
    static const double peaks[] = {1, 8, 1, 1, 0, 1, 4, 2, 1};
    static const double sums[] = {2000, 8000, 800, 4000, 0, 60, 1600, 80, 7};
    for (int c = 0; c < SAMPLE_COUNTERS; c++) {
        sample_counters[c] = (struct cw_schema_counter){names[c], true, 1, first};
        for (int d = 0; d < 2; d++) {
            double peak = peaks[c] * (d + 1);
            sample_facts[d][c] = (struct cw_device_facts){4, {4 * peak, peak, peak, peak}};
        }
        for (int i = 0; i < SAMPLE_RANGES; i++) {
            set_value(c, i, sums[c]);
            sample_forms[c][i] = CW_FORM_ROLLUPS;
        }
    }
    sample_counters[TIME] = (struct cw_schema_counter){names[TIME], true, 2, both};
    sample_counters[BYTES] = (struct cw_schema_counter){names[BYTES], true, 1, second};
    sample_counters[SPLIT] = (struct cw_schema_counter){names[SPLIT], false, 2, both};
}

static void eval_sample_reset(void)
{
    static const struct cw_pair attributes[] = {{"name", "Tiny"}, {"simulated", "yes"}};
    static const char *const asked[] = {"sm__inst.sum", "sm__hit_rate.pct"};
    static const char *const labels[] = {"first", "se\"co,nd", "third"};
    fill_sample();
    for (uint32_t d = 0; d < 2; d++)
        sample_devices[d] = (struct cw_device){d, 2, attributes, sample_facts[d]};
    for (uint32_t i = 0; i < SAMPLE_RANGES; i++) {
        sample_durations[i][0] = 1000.5 + i;
        sample_durations[i][1] = NAN;
        sample_ranges[i] = (struct cw_range){.name = labels[i],
                                             .kernel = "_Zk",
                                             .device = i == 2,
                                             .process = 7,
                                             .grid = {1, 2, 3},
                                             .block = {32, 1, 1},
                                             .start_ns = 1700000000000000000 + 1000 * i,
                                             .end_ns = 1700000000000000900 + 1000 * i,
                                             .durations = sample_durations[i]};
    }
    data = (struct cw_counter_data){.device_count = 2,
                                    .range_count = SAMPLE_RANGES,
                                    .devices = sample_devices,
                                    .ranges = sample_ranges,
                                    .forms = &sample_forms[0][0],
                                    .complete = true};
    data.schema = (struct cw_schema){.chip = "TINY",
                                     .producer = "test",
                                     .pass_count = SAMPLE_PASSES,
                                     .counter_count = SAMPLE_COUNTERS,
                                     .metric_count = 2,
                                     .counters = sample_counters,
                                     .metrics = asked};
    for (int r = 0; r < CW_ROLLUP_COUNT; r++)
        data.rollups[r] = &sample_rollups[r][0][0];
}

static void set_up(void)
{
    err = (struct cw_error)CW_ERROR_INIT;
    arena = cw_arena_create();
    enum cw_status status = cw_chip_parse(&chip, sample_yaml, sizeof sample_yaml - 1, "tiny.yaml", arena, &err);
    cr_assert(status == CW_OK, "%s", err.message);
    eval_sample_reset();
}

static void tear_down(void)
{
    cw_arena_destroy(arena);
}

#endif
