#include "tests/support/image_samples.h"

#include <math.h>

#include "image/chunk.h"
#include "image/pm_data.h"

static const struct cw_pair parameters[] = {{"sampling-interval", "auto"}, {"replay", "kernel"}};
static const struct cw_config_domain domains[] = {{3, "gpc"}, {7, "fbp"}};
static const uint64_t raws[] = {10, 20, 0x100000030};
static const struct cw_placement first_pass[] = {{0, 0}, {1, 0}}, second_pass[] = {{2, 1}};
static const struct cw_config_pass passes[] = {{2, first_pass}, {1, second_pass}};
static const uint32_t uses_first[] = {0}, uses_both[] = {1, 2}, uses_last[] = {2};
static const struct cw_config_counter counters[CW_SAMPLE_COUNTERS] = {
    {"sm__cycles_active", 132, 1.0, 1, uses_first},
    {"sm__inst_executed", 132, 4.0, 2, uses_both},
    {"dram__sectors", 0, NAN, 1, uses_last},
    {"gpc__constants0", 1, 1.0, 0, NULL},
};
static const char *const metrics[] = {"sm__cycles_active.avg", "dram__sectors.sum.per_second"};
static const struct cw_placement limited[] = {{0, 0}, {2, 0}};
static const uint32_t groups[] = {5, 6};
static const struct cw_config_limit limits[] = {{1, 2, limited, groups}};
static const uint8_t native[] = {0xde, 0xad, 0x00, 0xbe, 0xef};

struct cw_config_image cw_sample_plan_empty(void)
{
    return (struct cw_config_image){.chip = "GH100", .producer = "", .profiler = CW_PROFILER_PM};
}

struct cw_config_image cw_sample_plan(void)
{
    return (struct cw_config_image){
        .chip = "GH100",
        .producer = "test µ1",
        .profiler = CW_PROFILER_RANGE,
        .database = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
        .parameter_count = 2,
        .domain_count = 2,
        .raw_count = 3,
        .pass_count = 2,
        .counter_count = CW_SAMPLE_COUNTERS,
        .metric_count = 2,
        .limit_count = 1,
        .parameters = parameters,
        .domains = domains,
        .raws = raws,
        .passes = passes,
        .counters = counters,
        .metrics = metrics,
        .limits = limits,
    };
}

struct cw_config_image cw_sample_plan_native(void)
{
    struct cw_config_image image = cw_sample_plan();
    image.native_library = "libnvperf_host.so 2025.1";
    image.native = native;
    image.native_size = sizeof native;
    return image;
}

struct cw_config_image cw_sample_plan_meanings(void)
{
    static const struct cw_meaning meanings[] = {{"sm__cycles_active", 1, 0}, {"my µ", UINT64_MAX, 2}};
    struct cw_config_image image = cw_sample_plan_native();
    image.meanings = meanings;
    image.meaning_count = 2;
    return image;
}

/* ---- counter data ---- */

static const struct cw_pair attributes[] = {
    {"name", "Sample GPU"}, {"chip", "GH100"}, {"backend", "sim"}, {"simulated", "yes"}};
static const struct cw_device_facts facts[CW_SAMPLE_COUNTERS] = {
    {132, {132, 1, 1, 1}}, {132, {528, 4, 4, 4}}, {80, {NAN, NAN, NAN, NAN}}, {1, {1, 1, 1, 1}}};
static const struct cw_device devices[] = {{0, 4, attributes, facts}, {4294967295, 0, NULL, facts}};
static const double durations[] = {1000.5, NAN};
static const struct cw_range ranges[CW_SAMPLE_RANGES] = {
    {"step", "_Z4stepPf", 0, 4242, 1, 7, {132, 1, 1}, {256, 1, 1}, 1000, 2000, durations},
    {"step", "_Z4stepPf", 0, 4242, 1, 7, {132, 1, 1}, {256, 1, 1}, 3000, 4000, NULL},
    {"µ", "", 4294967295, 1, UINT64_MAX, 0, {1, 2, 3}, {4, 5, 6}, 0, UINT64_MAX, durations},
};
static const double instances[] = {3, 1, 2, 4}, quiet[] = {0, 0, 0}, single[] = {-0.0};
static const struct cw_value values[CW_SAMPLE_RANGES][CW_SAMPLE_COUNTERS] = {
    {{CW_FORM_ROLLUPS, {528, 4, 1, 8}},
     {CW_FORM_OVERFLOW, {1e300, INFINITY, -1, 0.5}},
     {CW_FORM_INSTANCES, .instance_count = 4, .instances = instances},
     {CW_FORM_ROLLUPS, {7, 7, 7, 7}}},
    {{CW_FORM_NOT_COLLECTED}, {CW_FORM_UNAVAILABLE}, {CW_FORM_ZERO}, {CW_FORM_INCOMPLETE, {1, 2, 3, 4}}},
    {{CW_FORM_ROLLUPS, {0, 0, 0, 0}},
     {CW_FORM_ROLLUPS, {-0.0, 0, 0, 0}},
     {CW_FORM_INSTANCES, .instance_count = 3, .instances = quiet},
     {CW_FORM_INSTANCES, .instance_count = 1, .instances = single}},
};

const struct cw_value *cw_sample_values(uint32_t range)
{
    return values[range];
}

void cw_sample_data(struct cw_writer *out, bool complete)
{
    struct cw_config_image image = cw_sample_plan();
    struct cw_arena *arena = cw_arena_create();
    struct cw_schema schema;
    cw_config_image_prefix(&image, out);
    if (arena && cw_schema_of_plan(&schema, &image, arena) == CW_OK) {
        cw_counter_data_write_device(&schema, &devices[0], out);
        cw_counter_data_write_range(&schema, &ranges[0], values[0], out);
        cw_counter_data_write_range(&schema, &ranges[1], values[1], out);
        cw_counter_data_write_device(&schema, &devices[1], out);
        cw_counter_data_write_range(&schema, &ranges[2], values[2], out);
        if (complete)
            cw_counter_data_write_end(CW_SAMPLE_RANGES, 11, CW_END_SIGNALLED, 9, out);
    }
    cw_arena_destroy(arena);
}

void cw_sample_repeats(struct cw_writer *out)
{
    static const struct cw_schema_repeat repeats[CW_SAMPLE_REPEATS] = {{0, 1}, {2, 0}};
    struct cw_config_image image = cw_sample_plan();
    struct cw_arena *arena = cw_arena_create();
    struct cw_schema schema;
    if (arena && cw_schema_of_plan(&schema, &image, arena) == CW_OK) {
        schema.repeats = repeats;
        schema.repeat_count = CW_SAMPLE_REPEATS;
        cw_schema_write_header(&schema, out);
        cw_schema_write(&schema, out);
        for (uint32_t r = 0; r < CW_SAMPLE_RANGES; r++) {
            struct cw_value all[CW_SAMPLE_COUNTERS + CW_SAMPLE_REPEATS];
            for (uint32_t c = 0; c < CW_SAMPLE_COUNTERS; c++)
                all[c] = values[r][c];
            for (uint32_t i = 0; i < CW_SAMPLE_REPEATS; i++) {
                double n = 10 * r + i;
                all[CW_SAMPLE_COUNTERS + i] = (struct cw_value){CW_FORM_ROLLUPS, {n, n, n, n}, 0, NULL};
            }
            if (r != 1)
                cw_counter_data_write_device(&schema, &devices[r != 0], out);
            cw_counter_data_write_range(&schema, &ranges[r], all, out);
        }
        cw_counter_data_write_end(CW_SAMPLE_RANGES, 0, CW_END_EXITED, 0, out);
    }
    cw_arena_destroy(arena);
}

void cw_sample_facts(struct cw_writer *out)
{
    static const char *const names[CW_SAMPLE_FACTS] = {"launch__registers_per_thread",
                                                       "launch__shared_mem_per_block_static", "launch__priority"};
    static const double of_ranges[][CW_SAMPLE_FACTS] = {{40, NAN, -5}, {40, NAN, 2.5}};
    struct cw_config_image image = cw_sample_plan();
    struct cw_arena *arena = cw_arena_create();
    struct cw_schema schema;
    if (arena && cw_schema_of_plan(&schema, &image, arena) == CW_OK) {
        schema.fact_names = names;
        schema.fact_count = CW_SAMPLE_FACTS;
        cw_schema_write_header(&schema, out);
        cw_schema_write(&schema, out);
        for (uint32_t r = 0; r < CW_SAMPLE_RANGES; r++) {
            struct cw_range range = ranges[r];
            range.facts = r < 2 ? of_ranges[r] : NULL;
            if (r != 1)
                cw_counter_data_write_device(&schema, &devices[r != 0], out);
            cw_counter_data_write_range(&schema, &range, values[r], out);
        }
        cw_counter_data_write_end(CW_SAMPLE_RANGES, 0, CW_END_EXITED, 0, out);
    }
    cw_arena_destroy(arena);
}

/* ---- instructions ---- */

static const char *const stall_reasons[] = {"smsp__pcsamp_warps_issue_stalled_wait",
                                            "smsp__pcsamp_warps_issue_stalled_wait_not_issued", "µ"};
static const struct cw_stall stalls[] = {{0, 5}, {1, 3}, {2, UINT32_MAX}};
static const struct cw_pc_record pc_records[] = {
    {{0x1122334455667788, 0x10, "_Z4stepPf", 3}, 0, 2, stalls},
    {{0x1122334455667788, 0x20, "_Z4stepPf", 3}, 7, 1, stalls + 2},
    {{0, UINT64_MAX, "other", 0}, 0, 0, NULL},
};

struct cw_pc_batch cw_sample_pc_batch(void)
{
    return (struct cw_pc_batch){.device = 4294967295,
                                .process = 4242,
                                .start_ns = 1000,
                                .end_ns = 2000,
                                .mode = CW_PC_SERIALIZED,
                                .period = 31,
                                .buffer_full = true,
                                .total = 100,
                                .dropped = 9,
                                .other = 11,
                                .reason_count = 3,
                                .record_count = 3,
                                .reasons = stall_reasons,
                                .records = pc_records};
}

static const struct cw_sass_metric sass_metrics[] = {{"smsp__sass_inst_executed", CW_SASS_GPU},
                                                     {"smsp__sass_thread_inst_executed", CW_SASS_SM}};
static const uint64_t whole[] = {9}, parts[] = {1, 0, UINT64_C(1) << 40};
static const uint64_t *const value_lists[] = {whole, parts};
static const uint32_t value_counts[] = {1, 3}, no_counts[] = {0, 0};
static const struct cw_sass_record sass_records[] = {
    {{0x55667788, 0x10, "_Z4stepPf", 3}, value_counts, value_lists},
    {{0x55667788, 0x20, "_Z4stepPf", 3}, no_counts, value_lists},
};

struct cw_sass_batch cw_sample_sass_batch(void)
{
    return (struct cw_sass_batch){.device = 4294967295,
                                  .process = 4242,
                                  .start_ns = 1000,
                                  .end_ns = 2000,
                                  .dropped = 4,
                                  .metric_count = 2,
                                  .record_count = 2,
                                  .metrics = sass_metrics,
                                  .records = sass_records};
}

static void write_batch(struct cw_writer *out, enum cw_profiler profiler)
{
    struct cw_writer payload;
    struct cw_pc_batch pc = cw_sample_pc_batch();
    struct cw_sass_batch sass = cw_sample_sass_batch();
    cw_writer_init(&payload);
    if (profiler == CW_PROFILER_SASS)
        cw_sass_batch_write(&sass, &payload);
    else
        cw_pc_batch_write(&pc, &payload);
    (profiler == CW_PROFILER_SASS ? cw_sass_chunk_write : cw_pc_chunk_write)(payload.data, payload.size, out);
    cw_writer_free(&payload);
    if (profiler == CW_PROFILER_SASS)
        cw_uncounted_chunk_write(
            &(struct cw_uncounted){
                .device = 4294967295, .process = 4242, .kernels = 1, .example = "_Z4waitPi", .graphs = 3},
            out);
}

void cw_sample_pc_data(struct cw_writer *out, enum cw_profiler profiler, const void *code, size_t size)
{
    static const uint8_t none[] = {0x7f, 'E', 'L', 0};
    const struct cw_schema schema = {.chip = "GH100", .producer = "test", .profiler = profiler};
    const struct cw_device device = {.index = 4294967295, .attribute_count = 4, .attributes = attributes};
    const struct cw_module module = {0x1122334455667788, code ? code : none, code ? size : sizeof none};
    cw_chunk_write_header(out, &cw_counter_data_kind);
    cw_schema_write(&schema, out);
    cw_counter_data_write_device(&schema, &device, out);
    cw_module_write(&module, out);
    write_batch(out, profiler);
    if (profiler == CW_PROFILER_PC)
        write_batch(out, profiler);
    cw_counter_data_write_end(0, 13, CW_END_EXITED, 0, out);
}

/* ---- samples ---- */

static const uint64_t start[] = {1000, 2000, 3000}, end[] = {2000, 3000, 4000}, late_start[] = {6000},
                      late_end[] = {7000};
static const double sums[] = {132, 264, 396, 0, 0, 0, 0.5, 1e300, -0.0, 4294967295, 1, 7};
static const double zeros[12];
static const uint8_t sum_forms[] = {CW_COLUMN_SUMS, CW_COLUMN_SUMS, CW_COLUMN_SUMS, CW_COLUMN_SUMS};
static const double late[] = {5, 8, 9, 10};
static const uint8_t late_forms[] = {CW_COLUMN_NOT_COLLECTED, CW_COLUMN_UNAVAILABLE, CW_COLUMN_ROLLUPS,
                                     CW_COLUMN_ROLLUPS};
static const struct cw_pm_window windows[] = {{0, 1000, 4000}, {0, 6000, 7000}};
static const double no_one[] = {0, 0, 90, 0};
static const char *const kernels[] = {"gemm", "µ"};
static const struct cw_kernel_launch launches[] = {
    {.name = 1, .device = 0, .context = 1, .stream = 7, .start_ns = 100, .end_ns = 250},
    {.name = 0, .device = 3, .context = 2, .stream = UINT64_MAX, .start_ns = 300, .end_ns = 300}};

void cw_sample_windows(struct cw_writer *out)
{
    cw_sample_pm(out, 2, false);
    for (int i = 0; i < 2; i++)
        cw_pm_write_window(&windows[i], out);
    cw_counter_data_write_end(0, 4, CW_END_NO_PROGRAM, 0, out);
}

void cw_sample_pm(struct cw_writer *out, int clocks, bool complete)
{
    struct cw_config_image image = cw_sample_plan();
    struct cw_arena *arena = cw_arena_create();
    struct cw_schema schema;
    const struct cw_clock_pair first = {1000, 50001000, 3}, second = {1001000, 51001500, 4};
    const struct cw_block block = {0, 3, 2, false, start, end, {sums, zeros, zeros, zeros}, sum_forms};
    const struct cw_block later = {0, 1, 2, true, late_start, late_end, {late, no_one, no_one, late}, late_forms};
    image.profiler = CW_PROFILER_PM;
    cw_config_image_prefix(&image, out);
    if (arena && cw_schema_of_plan(&schema, &image, arena) == CW_OK) {
        cw_counter_data_write_device(&schema, &devices[0], out);
        if (clocks > 0)
            cw_pm_write_clock(0, &first, out);
        cw_pm_write_block(&schema, &block, out);
        cw_pm_write_block(&schema, &later, out);
        cw_pm_write_launches(4242, 1, kernels, 2, launches, 2, out);
        if (clocks > 1)
            cw_pm_write_clock(0, &second, out);
        if (complete)
            cw_counter_data_write_end(0, 4, CW_END_NO_PROGRAM, 0, out);
    }
    cw_arena_destroy(arena);
}
