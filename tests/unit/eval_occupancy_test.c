/* Occupancy by our formulas beside CUDA's own calculator, whose header is looked for when the tests are built. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "eval/result.h"
#include "metricdb/chip_load.h"
#include "metricdb/formula_load.h"

#ifdef CW_CUDA_OCCUPANCY
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <cuda_occupancy.h>
#pragma GCC diagnostic pop
#endif

enum { FACTS = 3, LIMITS = 11 };
static const char *const fact_names[FACTS] = {"launch__registers_per_thread", "launch__shared_mem_per_block_static",
                                              "launch__shared_mem_per_block_dynamic"};

/* What CUDA says of a device of each compute capability. */
struct device {
    unsigned major, minor, threads, blocks, shared, optin, reserved;
};
static const struct device devices[] = {
    {7, 5, 1024, 16, 65536, 65536, 0},       {8, 0, 2048, 32, 167936, 166912, 1024},
    {8, 6, 1536, 16, 102400, 101376, 1024},  {8, 9, 1536, 24, 102400, 101376, 1024},
    {9, 0, 2048, 32, 233472, 232448, 1024},  {10, 0, 2048, 32, 233472, 232448, 1024},
    {12, 0, 1536, 24, 102400, 101376, 1024},
};
enum { DEVICES = sizeof devices / sizeof *devices };
static const unsigned registers[] = {16, 24, 25, 32, 33, 40, 48, 56, 64, 72, 80, 96, 97, 128, 168, 200, 255};
static const unsigned shared[] = {0,     1,     100,   1024,  4096,  8192,   16383, 24576,
                                  32768, 48000, 49152, 65536, 99000, 166000, 232448};
static const unsigned blocks[] = {1, 32, 33, 64, 96, 128, 160, 192, 256, 384, 480, 512, 640, 768, 1000, 1024};
enum {
    REGISTERS = sizeof registers / sizeof *registers,
    SHARED = sizeof shared / sizeof *shared,
    BLOCKS = sizeof blocks / sizeof *blocks,
    MOST = DEVICES * REGISTERS * SHARED * BLOCKS
};

static struct cw_arena *arena;
static const struct cw_chip *chip;
static struct cw_range ranges[MOST];
static double facts[FACTS][MOST];
static uint32_t count;

static const char *number(unsigned value)
{
    return cw_arena_printf(arena, "%u", value);
}

static struct cw_device describe(const struct device *d, uint32_t index)
{
    const struct cw_pair all[LIMITS] = {{"compute_capability_major", number(d->major)},
                                        {"compute_capability_minor", number(d->minor)},
                                        {"max_threads_per_multiprocessor", number(d->threads)},
                                        {"max_blocks_per_multiprocessor", number(d->blocks)},
                                        {"max_shared_memory_per_multiprocessor", number(d->shared)},
                                        {"reserved_shared_memory_per_block", number(d->reserved)},
                                        {"max_registers_per_multiprocessor", "65536"},
                                        {"max_registers_per_block", "65536"},
                                        {"warp_size", "32"},
                                        {"multiprocessors", "100"},
                                        {"name", "GPU"}};
    struct cw_pair *attributes = cw_arena_alloc(arena, LIMITS, sizeof *attributes);
    memcpy(attributes, all, sizeof all);
    return (struct cw_device){.index = index, .attribute_count = LIMITS, .attributes = attributes};
}

/* Every launch that a device can do. Half of the shared memory is static, as far as that goes. */
static void make_launches(void)
{
    for (uint32_t n = 0; n < MOST; n++) {
        const struct device *d = &devices[n % DEVICES];
        unsigned r = registers[n / DEVICES % REGISTERS], s = shared[n / DEVICES / REGISTERS % SHARED];
        unsigned b = blocks[n / DEVICES / REGISTERS / SHARED], part = s < 98304 ? s / 2 : 49152;
        if (s > d->optin)
            continue;
        ranges[count] = (struct cw_range){.name = "", .kernel = "", .device = n % DEVICES, .grid = {1000, 1, 1}};
        ranges[count].block[0] = b;
        ranges[count].block[1] = ranges[count].block[2] = 1;
        facts[0][count] = r;
        facts[1][count] = part;
        facts[2][count++] = s - part;
    }
}

enum { WARPS, BLOCK, REGS, SMEM, LIMIT, WAVES, PERCENT, METRICS };
static const char *const names[METRICS] = {
    "launch__occupancy_limit_warps",         "launch__occupancy_limit_blocks", "launch__occupancy_limit_registers",
    "launch__occupancy_limit_shared_mem",    "launch__occupancy_limit",        "launch__waves_per_multiprocessor",
    "sm__maximum_warps_per_active_cycle_pct"};

static void evaluate(struct cw_result *result)
{
    static struct cw_metric metrics[METRICS];
    static struct cw_counter_data data;
    static double all[FACTS * MOST];
    const struct cw_eval_options options = {0};
    struct cw_device *list = cw_arena_alloc(arena, DEVICES, sizeof *list);
    struct cw_error err = CW_ERROR_INIT;
    for (uint32_t i = 0; i < DEVICES; i++)
        list[i] = describe(&devices[i], i);
    for (int f = 0; f < FACTS; f++)
        memcpy(all + (size_t)f * count, facts[f], count * sizeof *all);
    data = (struct cw_counter_data){
        .schema = {.chip = "GH100", .profiler = CW_PROFILER_RANGE, .fact_count = FACTS, .fact_names = fact_names},
        .device_count = DEVICES,
        .devices = list,
        .range_count = count,
        .ranges = ranges,
        .facts = all};
    for (int m = 0; m < METRICS; m++)
        cr_assert_eq(cw_metric_parse(&metrics[m], chip, names[m], &err), CW_OK, "%s", err.message);
    *result = (struct cw_result){.chip = chip, .data = &data, .metrics = metrics, .metric_count = METRICS};
    cr_assert_eq(cw_result_make(result, &options, arena, &err), CW_OK, "%s", err.message);
}

static double value(const struct cw_result *r, int metric, uint32_t range)
{
    cr_assert_eq(r->statuses[(size_t)metric * count + range], CW_VALUE_OK);
    return r->values[(size_t)metric * count + range];
}

#ifdef CW_CUDA_OCCUPANCY
static cudaOccResult ask(uint32_t i)
{
    const struct device *d = &devices[ranges[i].device];
    const cudaOccDeviceProp properties = {.computeMajor = (int)d->major,
                                          .computeMinor = (int)d->minor,
                                          .maxThreadsPerBlock = 1024,
                                          .maxThreadsPerMultiprocessor = (int)d->threads,
                                          .regsPerBlock = 65536,
                                          .regsPerMultiprocessor = 65536,
                                          .warpSize = 32,
                                          .sharedMemPerBlock = 49152,
                                          .sharedMemPerMultiprocessor = d->shared,
                                          .numSms = 100,
                                          .sharedMemPerBlockOptin = d->optin,
                                          .reservedSharedMemPerBlock = d->reserved};
    const cudaOccFuncAttributes function = {.maxThreadsPerBlock = 1024,
                                            .numRegs = (int)facts[0][i],
                                            .sharedSizeBytes = (size_t)facts[1][i],
                                            .shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
                                            .maxDynamicSharedSizeBytes = (size_t)facts[2][i],
                                            .numBlockBarriers = 1};
    const cudaOccDeviceState state = {.carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT};
    cudaOccResult result;
    cr_assert_eq(cudaOccMaxActiveBlocksPerMultiprocessor(&result, &properties, &function, &state,
                                                         (int)ranges[i].block[0], (size_t)facts[2][i]),
                 CUDA_OCC_SUCCESS);
    return result;
}

static void expect(uint32_t i, const char *what, double ours, int theirs)
{
    const struct device *d = &devices[ranges[i].device];
    cr_expect(ours == theirs, "%s is %g, CUDA says %d: %u.%u, %g registers, %g + %g bytes, %u threads", what, ours,
              theirs, d->major, d->minor, facts[0][i], facts[1][i], facts[2][i], ranges[i].block[0]);
}
#endif

static void set_up(void)
{
    arena = cw_arena_create();
    cr_assert_eq(cw_chip_load(&chip, NULL, "GH100", arena, NULL), CW_OK);
    cr_assert_eq(cw_formulas_load_shipped(&chip, NULL, arena, NULL), CW_OK);
    count = 0;
    make_launches();
}

static void tear_down(void)
{
    cw_arena_destroy(arena);
}

TestSuite(eval_occupancy, .init = set_up, .fini = tear_down, .timeout = 600);

Test(eval_occupancy, agrees_with_cudas_calculator)
{
#ifdef CW_CUDA_OCCUPANCY
    struct cw_result r;
    uint32_t compared = 0;
    evaluate(&r);
    for (uint32_t i = 0; i < count; i++) {
        const cudaOccResult cuda = ask(i);
        const struct device *d = &devices[ranges[i].device];
        double warps = ceil(ranges[i].block[0] / 32.0) * cuda.activeBlocksPerMultiprocessor;
        if (!cuda.blockLimitSharedMem) /* no such launch: with what is reserved it is too much */
            continue;
        expect(i, names[WARPS], value(&r, WARPS, i), cuda.blockLimitWarps);
        expect(i, names[BLOCK], value(&r, BLOCK, i), cuda.blockLimitBlocks);
        expect(i, names[REGS], value(&r, REGS, i), cuda.blockLimitRegs);
        if (cuda.blockLimitSharedMem != INT_MAX)
            expect(i, names[SMEM], value(&r, SMEM, i), cuda.blockLimitSharedMem);
        expect(i, names[LIMIT], value(&r, LIMIT, i), cuda.activeBlocksPerMultiprocessor);
        cr_expect_float_eq(value(&r, PERCENT, i), 100 * warps / (d->threads / 32.0), 1e-9);
        if (cuda.activeBlocksPerMultiprocessor)
            cr_expect_float_eq(value(&r, WAVES, i), 10.0 / cuda.activeBlocksPerMultiprocessor, 1e-9);
        compared++;
    }
    printf("%u launches compared\n", compared);
    cr_expect_gt(compared, 20000);
#else
    cr_skip_test("cuda_occupancy.h was not found");
#endif
}

/* Two that are known without it: an H100 that runs 256 threads of 40 registers, and 100 KB of shared memory. */
Test(eval_occupancy, launches_worked_out_by_hand)
{
    struct cw_result r;
    static const double first[FACTS] = {40, 0, 0}, second[FACTS] = {32, 2048, 100000};
    count = 2;
    for (int i = 0; i < 2; i++) {
        ranges[i] =
            (struct cw_range){.name = "", .kernel = "", .device = 4, .grid = {1200, 1, 1}, .block = {256, 1, 1}};
        for (int f = 0; f < FACTS; f++)
            facts[f][i] = (i ? second : first)[f];
    }
    evaluate(&r);
    cr_expect_eq(value(&r, REGS, 0), 6); /* 12 warps of 1280 registers in each of four parts of 16384 */
    cr_expect_eq(value(&r, LIMIT, 0), 6);
    cr_expect_eq(value(&r, PERCENT, 0), 75);
    cr_expect_eq(value(&r, WAVES, 0), 2);
    cr_expect_eq(value(&r, SMEM, 1), 2); /* 103072 and what is reserved */
    cr_expect_eq(value(&r, LIMIT, 1), 2);
}
