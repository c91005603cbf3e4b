#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "eval/output/ranks_output.h"

enum { RANKS = 8, KERNELS = 2 };

static struct cw_arena *arena;
static struct cw_ranks ranks;
static struct cw_rank rank[RANKS];
static struct cw_rank_kernel kernel[KERNELS];
static struct cw_rank_row row[RANKS * KERNELS];
static struct cw_error err;

/* A kernel that computes and one in which ranks meet; each rank takes 100 ns in each, give and take. */
static void set_up(void)
{
    arena = cw_arena_create();
    memset(&ranks, 0, sizeof ranks);
    ranks = (struct cw_ranks){.by = CW_BY_KERNEL,
                              .rank_count = RANKS,
                              .kernel_count = KERNELS,
                              .row_count = RANKS * KERNELS,
                              .ranks = rank,
                              .kernels = kernel,
                              .rows = row};
    for (uint32_t k = 0; k < KERNELS; k++) {
        const char *name = k ? "ncclDevKernel_AllReduce_Sum_f32_RING_LL" : "gemm";
        kernel[k] =
            (struct cw_rank_kernel){.name = name, .waits = cw_rank_waits(name), .first = k * RANKS, .count = RANKS};
        for (uint32_t i = 0; i < RANKS; i++)
            row[k * RANKS + i] = (struct cw_rank_row){
                .rank = i, .kernel = k, .launches = 10, .mean = 100 + i % 3, .causes = {1.9e9, 190, 1000, 5000}};
    }
    for (uint32_t i = 0; i < RANKS; i++)
        rank[i] = (struct cw_rank){.number = 10 * i, .host = "node", .clock = NAN};
}

static void tear_down(void)
{
    cw_arena_destroy(arena);
}

TestSuite(eval_ranks, .init = set_up, .fini = tear_down);

static void find(void)
{
    double values[RANKS], scratch[RANKS];
    uint32_t index[RANKS];
    for (uint32_t i = 0; i < RANKS; i++) {
        rank[i].waits = 10 * row[RANKS + i].mean;
        rank[i].total = 10 * row[i].mean + rank[i].waits;
    }
    for (uint32_t k = 0; k < KERNELS; k++) {
        for (uint32_t i = 0; i < RANKS; i++) {
            values[i] = row[k * RANKS + i].mean;
            index[i] = i;
        }
        cw_rank_spread_make(&kernel[k].time, values, index, RANKS, scratch);
    }
    ranks.straggler_count = ranks.waited_count = 0;
    cr_assert(cw_ranks_find_stragglers(&ranks, arena, &err) == CW_OK);
}

static const char *text_of(uint32_t i)
{
    static char text[CW_STRAGGLER_TEXT];
    return cw_straggler_text(&ranks, &ranks.stragglers[i], text);
}

Test(eval_ranks, a_spread_has_quartiles_between_values_and_leaves_out_what_is_unknown)
{
    const double values[] = {4, NAN, 1, 3, 2, INFINITY};
    const uint32_t index[] = {0, 1, 2, 3, 4, 5};
    double scratch[6];
    struct cw_rank_spread s;
    cw_rank_spread_make(&s, values, index, 6, scratch);
    cr_expect(s.count == 4 && s.mean == 2.5 && s.least == 1 && s.greatest == 4);
    cr_expect(s.lower == 1.75 && s.median == 2.5 && s.upper == 3.25 && s.distance == 1);
    cr_expect(s.least_rank == 2 && s.greatest_rank == 0);
    cr_expect_float_eq(s.imbalance, 0.6, 1e-15);
    cr_expect_float_eq(s.deviation, sqrt(5.0 / 3), 1e-15);
    const double equal[] = {0.1, 0.1, 0.1}; /* their sum, divided by 3, is more than each */
    cw_rank_spread_make(&s, equal, index, 3, scratch);
    cr_expect(s.mean == 0.1 && s.imbalance == 0 && s.deviation == 0);
    cw_rank_spread_make(&s, values + 1, index, 1, scratch);
    cr_expect(s.count == 0 && isnan(s.median) && isnan(s.mean) && isnan(s.imbalance) && s.outliers == 0);
}

Test(eval_ranks, outliers_of_a_spread)
{
    static const struct {
        double values[7];
        uint32_t count, outliers;
    } rows[] = {{{100, 100, 100, 100, 104}, 5, 0},
                {{100, 100, 100, 100, 106}, 5, 1},
                {{100, 106, NAN}, 3, 0},
                {{100, 120}, 2, 2},
                {{0, 0, 0, 0}, 4, 0},
                {{90, 95, 100, 105, 110, 140}, 6, 0},
                {{99, 100, 101, 100, 99, 130, 60}, 7, 2},
                {{99, 100, 101, 100, 99, 101, 107}, 7, 0},
                {{99, 100, 101, 100, 99, 101, 108}, 7, 1},
                {{-100, -100, -100, -100, -104}, 5, 0},
                {{100, 100, 100, 130}, 4, 1},
                {{100, 98, 102, 109}, 4, 0},
                {{100, INFINITY, 130}, 3, 2}};
    static const uint32_t index[7] = {0, 1, 2, 3, 4, 5, 6};
    double scratch[7];
    struct cw_rank_spread s;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cw_rank_spread_make(&s, rows[i].values, index, rows[i].count, scratch);
        cr_expect(s.outliers == rows[i].outliers, "row %zu: %u", i, s.outliers);
    }
}

Test(eval_ranks, what_differs_as_all_do_is_no_outlier)
{
    find();
    cr_expect(ranks.straggler_count == 0 && ranks.waited_count == 0);
    row[3].mean = 104.9; /* below 5 % of the median, which is 101 */
    find();
    cr_expect(ranks.straggler_count == 0);
    for (uint32_t i = 0; i < RANKS; i++) /* 20 % is usual here */
        row[i].mean = 100 + 20 * i;
    find();
    cr_expect(ranks.straggler_count == 0);
}

Test(eval_ranks, a_lower_clock)
{
    row[3].mean = 115;
    row[3].causes[CW_CAUSE_CLOCK] = 0.88 * 1.9e9;
    find();
    cr_assert(ranks.straggler_count == 1);
    cr_expect_str_eq(text_of(0), "rank 30 (node) is 13.9 % slower in gemm: its SM clock is 12.0 % lower");
    cr_expect_float_eq(ranks.stragglers[0].lost, 14 * 10, 1e-9, "ns of ten launches");
    cr_expect(ranks.waited_count == 0, "it waits as long as the others where they meet");
}

Test(eval_ranks, the_clock_of_the_capture_where_launches_do_not_tell)
{
    for (uint32_t i = 0; i < RANKS; i++) {
        row[i].causes[CW_CAUSE_CLOCK] = row[i].causes[CW_CAUSE_CYCLES] = NAN;
        rank[i].clock = i == 3 ? 1742 : 1980;
    }
    row[3].mean = 115;
    find();
    cr_expect_str_eq(text_of(0), "rank 30 (node) is 13.9 % slower in gemm: its SM clock is 12.0 % lower");
    row[3].mean = 130; /* cycles are time by clock */
    find();
    cr_expect_str_eq(text_of(0),
                     "rank 30 (node) is 28.7 % slower in gemm: its SM clock is 12.0 % lower; it takes 13.2 % "
                     "more cycles for the same work");
}

Test(eval_ranks, more_work)
{
    row[3].mean = 130;
    row[3].causes[CW_CAUSE_INSTRUCTIONS] = 1300;
    row[3].causes[CW_CAUSE_CYCLES] = 1.3 * 190;
    find();
    cr_expect_str_eq(text_of(0), "rank 30 (node) is 28.7 % slower in gemm: it executes 30.0 % more instructions");
    row[3].causes[CW_CAUSE_BYTES] = 7000;
    find();
    cr_expect_str_eq(text_of(0), "rank 30 (node) is 28.7 % slower in gemm: it moves 40.0 % more bytes");
}

Test(eval_ranks, waiting_is_more_cycles_for_the_same_work_where_ranks_meet)
{
    row[RANKS + 5].mean = 119.2;
    row[RANKS + 5].causes[CW_CAUSE_CYCLES] = 1.05 * 190;
    row[RANKS + 5].causes[CW_CAUSE_CLOCK] = 0.88 * 1.9e9;
    find();
    cr_expect_str_eq(text_of(0), "rank 50 (node) is 18.0 % slower in ncclDevKernel_AllReduce_Sum_f32_RING_LL: its SM "
                                 "clock is 12.0 % lower; it waits, 5.0 % more cycles for the same work");
    row[5] = row[RANKS + 5];
    row[5].kernel = 0;
    find();
    cr_expect(ranks.straggler_count == 2);
    cr_expect_str_eq(text_of(0),
                     "rank 50 (node) is 18.0 % slower in gemm: its SM clock is 12.0 % lower; it takes 5.0 % "
                     "more cycles for the same work");
}

Test(eval_ranks, others_wait_for_who_comes_last)
{
    char text[CW_STRAGGLER_TEXT];
    row[4].mean = 140;
    row[RANKS + 4].mean = 60;
    find();
    cr_assert(ranks.waited_count == 1);
    cr_expect_str_eq(
        cw_waited_text(&ranks, &ranks.waited[0], text),
        "the others wait for rank 40 (node): it takes 38.6 % longer until they meet, and waits 40.3 % less");
}

Test(eval_ranks, those_that_lose_most_come_first)
{
    row[1].mean = 140;
    row[2].mean = 130;
    row[2].launches = 100;
    find();
    cr_assert(ranks.straggler_count == 2);
    cr_expect(ranks.stragglers[0].row == 2 && ranks.stragglers[1].row == 1);
}

Test(eval_ranks, few_ranks_need_no_usual_distance)
{
    ranks.rank_count = kernel[0].count = 2;
    ranks.kernel_count = 1;
    row[0].mean = 100;
    row[1].mean = 120;
    const double values[] = {100, 120};
    const uint32_t index[] = {0, 1};
    double scratch[2];
    cw_rank_spread_make(&kernel[0].time, values, index, 2, scratch);
    cr_assert(cw_ranks_find_stragglers(&ranks, arena, &err) == CW_OK);
    cr_expect(ranks.straggler_count == 1 && ranks.stragglers[0].row == 1);
}

Test(eval_ranks, kernels_that_wait_are_known_by_name)
{
    static const char *const names[] = {"ncclDevKernel_Reduce", "rcclKernel",   "nvshmemx_put", "step 3/all-reduce",
                                        "Reduce Scatter",       "All_Gather",   "AllToAll",     "broadcast_bias",
                                        "SEND-RECV-Z",          "wait barrier", "halo",         "MPI_Wait",
                                        "step/mpi wait",        "waitMPI",      "PMPI_Wait"};
    static const char *const others[] = {"gemm", "reduce_kernel", "Torch-Compiled Region: 0/0", "COMPILE", "jumping"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        cr_expect(cw_rank_waits(names[i]), "%s", names[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        cr_expect(!cw_rank_waits(others[i]), "%s", others[i]);
}

/* ---- ranks of captures ------------------------------------------------------------------------------------------- */

/* A kernel on a rank in a batch: `timed` of its launches take `mean` ns each. */
struct fed {
    const char *rank, *kernel; /* no rank: NULL */
    uint32_t count, timed;
    double mean, values[2];
    int8_t status; /* of the second value */
};
enum { FED = 8, CLOCK = 2, CYCLES = 3, ALL = 4 };
static const uint32_t no_causes[CW_CAUSE__COUNT] = {CW_NO_CAUSE, CW_NO_CAUSE, CW_NO_CAUSE, CW_NO_CAUSE};

static enum cw_status add(const struct fed *list, uint32_t count, const uint32_t causes[CW_CAUSE__COUNT])
{
    static const char *const names[ALL] = {"one", "two", "clock", "cycles"}, *const units[ALL] = {"1", "bytes", "", ""};
    static const struct cw_pair places[2][2] = {{{"host", "left"}, {"pci", "0a"}}, {{"host", "right"}}};
    static const struct cw_device devices[] = {{.attribute_count = 2, .attributes = places[0]},
                                               {.index = 1, .attribute_count = 1, .attributes = places[1]}};
    static const struct cw_gpu_clock readings[] = {{.sm_mhz = 1000}, {.sm_mhz = 0}, {.sm_mhz = 1700}, {.sm_mhz = 1500}};
    static const struct cw_gpu_clocks clocks[] = {{0, 1, readings + 3}, {1, 2, readings}, {1, 1, readings + 2}};
    struct cw_range launches[FED];
    struct cw_pair attributes[FED];
    struct cw_group items[FED];
    uint32_t index[FED];
    double values[ALL * FED];
    int8_t statuses[ALL * FED] = {0};
    for (uint32_t i = 0; i < count; i++) {
        index[i] = i;
        attributes[i] = (struct cw_pair){"rank", list[i].rank};
        launches[i] = (struct cw_range){.name = list[i].kernel,
                                        .kernel = list[i].kernel,
                                        .device = i < 1,
                                        .grid = {8, 4, 2},
                                        .block = {64, 3, 1},
                                        .attribute_count = list[i].rank != NULL,
                                        .attributes = &attributes[i]};
        items[i] = (struct cw_group){.name = list[i].kernel,
                                     .count = list[i].count,
                                     .timed = list[i].timed,
                                     .mean = list[i].mean,
                                     .total = list[i].mean * list[i].timed,
                                     .ranges = &index[i]};
        for (uint32_t m = 0; m < ALL; m++)
            values[m * count + i] = m < 2 ? list[i].values[m] : m == CLOCK ? 1e9 + i : 50.5 + i;
        statuses[count + i] = list[i].status;
        statuses[CYCLES * count + i] = i == 1 ? CW_VALUE_INCOMPLETE : CW_VALUE_OK;
    }
    const struct cw_counter_data data = {.device_count = 2,
                                         .devices = devices,
                                         .clocks_count = 3,
                                         .clocks = clocks,
                                         .range_count = count,
                                         .ranges = launches};
    const struct cw_groups groups = {.by = ranks.by, .count = count, .items = items, .data = data};
    const struct cw_result result = {
        .values = values, .statuses = statuses, .row_count = count, .names = names, .units = units};
    return cw_ranks_add(&ranks, &groups, &data, &result, 2, causes, &err);
}

static const struct fed first_batch[] = {{"10", "gemm", 4, 3, 100, {1, 5}, CW_VALUE_OK},
                                         {"10", "nccl_x", 2, 2, 500, {3, 7}, CW_VALUE_MULTIPLEXED},
                                         {"2", "gemm", 4, 4, 200, {2, 6}, CW_VALUE_OVERFLOW},
                                         {NULL, "gemm", 9, 9, 1, {0, 0}, CW_VALUE_OK}};
static const struct fed second_batch[] = {{"7", "nccl_x", 3, 3, 600, {9, 8}, CW_VALUE_MIXED_PASSES},
                                          {"7", "gemm", 1, 0, NAN, {4, NAN}, CW_VALUE_NOT_COLLECTED}};

static void expect_spread(const struct cw_rank_spread *s, uint32_t count, double least, uint32_t least_rank,
                          double greatest, uint32_t greatest_rank, uint32_t left_out, int status)
{
    cr_expect(s->count == count && s->least == least && s->greatest == greatest, "%u: %g to %g", s->count, s->least,
              s->greatest);
    cr_expect(s->least_rank == least_rank && s->greatest_rank == greatest_rank, "%u, %u", s->least_rank,
              s->greatest_rank);
    cr_expect(s->left_out == left_out && s->status == status, "%u, %d", s->left_out, s->status);
}

/* Ranks by number, kernels by time, rows by kernel and rank; sums of all that was added. */
Test(eval_ranks, batches_are_put_together)
{
    static const uint32_t causes[CW_CAUSE__COUNT] = {CLOCK, CYCLES, CW_NO_CAUSE, CW_NO_CAUSE};
    static const uint32_t numbers[] = {2, 7, 10}, row_ranks[] = {1, 2, 0, 1, 2}, row_kernels[] = {0, 0, 1, 1, 1};
    static const double totals[] = {800, 1800, 1300}, waits[] = {0, 1800, 1000}, clocks[] = {1500, 1350, 1350};
    static const double row_totals[] = {1800, 1000, 800, NAN, 300}, row_clocks[] = {0, 1, 2, 1, 0};
    static const uint64_t launches[] = {4, 4, 6};
    double values[2];
    int8_t statuses[2];
    cr_assert(cw_ranks_begin(&ranks, CW_BY_KERNEL, &err) == CW_OK);
    cr_assert(add(first_batch, 4, causes) == CW_OK && add(second_batch, 2, causes) == CW_OK, "%s", err.message);
    cr_assert(cw_ranks_compare(&ranks, &err) == CW_OK, "%s", err.message);
    cr_assert(ranks.rank_count == 3 && ranks.kernel_count == 2 && ranks.row_count == 5 && ranks.metric_count == 2);
    cr_expect(ranks.launches == 14 && ranks.unranked == 9 && ranks.untimed == 2 && ranks.total == 3900);
    cr_expect_str_eq(ranks.names[1], "two");
    cr_expect_str_eq(ranks.units[1], "bytes");
    for (int i = 0; i < 3; i++) {
        const struct cw_rank *r = &ranks.ranks[i];
        cr_expect(r->number == numbers[i] && r->launches == launches[i] && r->total == totals[i] &&
                      r->waits == waits[i] && r->clock == clocks[i],
                  "rank %u: %g, %g, %g", r->number, r->total, r->waits, r->clock);
        cr_expect_str_eq(r->host, i ? "right" : "left", "of its first launch");
        cr_expect_str_eq(r->pci, i ? "" : "0a");
    }
    for (int i = 0; i < 5; i++) {
        const struct cw_rank_row *r = &ranks.rows[i];
        cr_expect(r->rank == row_ranks[i] && r->kernel == row_kernels[i], "row %d: %u, %u", i, r->rank, r->kernel);
        cr_expect(r->total == row_totals[i] || (isnan(r->total) && isnan(row_totals[i])));
        cr_expect(r->causes[CW_CAUSE_CLOCK] == 1e9 + (i == 0 ? 0 : row_clocks[i]) && isnan(r->causes[CW_CAUSE_BYTES]));
        cr_expect(i == 1 || i == 3 ? isnan(r->causes[CW_CAUSE_CYCLES])
                                   : r->causes[CW_CAUSE_CYCLES] == 50.5 + row_clocks[i]);
    }
    const struct cw_rank_kernel *nccl = &ranks.kernels[0], *gemm = &ranks.kernels[1];
    cr_expect(nccl->first == 0 && nccl->count == 2 && nccl->total == 2800 && nccl->launches == 5 && nccl->waits);
    cr_expect(gemm->first == 2 && gemm->count == 3 && gemm->total == 1100 && gemm->launches == 9 && !gemm->waits);
    cr_expect_str_eq(gemm->kernel, "gemm");
    cr_expect(gemm->grid[2] == 2 && gemm->block[1] == 3);
    expect_spread(&nccl->time, 2, 500, 2, 600, 1, 0, CW_VALUE_OK);
    expect_spread(&gemm->time, 2, 100, 2, 200, 0, 0, CW_VALUE_OK);
    expect_spread(&ranks.spreads[0], 2, 3, 2, 9, 1, 0, CW_VALUE_OK);
    expect_spread(&ranks.spreads[1], 2, 7, 2, 8, 1, 0, CW_VALUE_MULTIPLEXED);
    expect_spread(&ranks.spreads[2], 3, 1, 2, 4, 1, 0, CW_VALUE_OK);
    expect_spread(&ranks.spreads[3], 1, 5, 2, 5, 2, 1, CW_VALUE_OVERFLOW);
    cr_assert(cw_ranks_values(&ranks, 2, values, statuses, &err) == CW_OK);
    cr_expect(values[0] == 2 && values[1] == 6 && statuses[0] == CW_VALUE_OK && statuses[1] == CW_VALUE_OVERFLOW);
    cr_assert(cw_ranks_values(&ranks, 3, values, statuses, &err) == CW_OK);
    cr_expect(values[0] == 4 && isnan(values[1]) && statuses[1] == CW_VALUE_NOT_COLLECTED);
    cw_ranks_finish(&ranks);
    cr_expect(!ranks.gathering && !ranks.rank_count);
}

/* Template arguments and parameters say what a kernel is made of, not that it waits. */
Test(eval_ranks, a_kernel_waits_by_the_name_of_its_function)
{
    static const struct {
        const char *kernel;
        bool waits;
    } cases[] = {
        {"void cutlass::device_kernel<GemmUniversal<Shape, Sm90RowBroadcast<0>, cutlass::arch::NamedBarrier> >(P)", 0},
        {"void moe::combine<(DispatchLayout)AllGather>(AllToAllParams)", 0},
        {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 1},
        {"void (anonymous namespace)::all_reduce<float>(float*)", 1},
        {"void nvshmem::detail::put<int>(int*)", 1},
        {"halo::exchange(float*)", 1},
        {"void thrust::cuda_cub::core::_kernel_agent<HaloPack>(int)", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct fed list[] = {{"1", cases[i].kernel, 1, 1, 10, {0, 0}, CW_VALUE_OK}};
        cr_assert(cw_ranks_begin(&ranks, CW_BY_KERNEL, &err) == CW_OK && add(list, 1, no_causes) == CW_OK);
        cr_assert(cw_ranks_compare(&ranks, &err) == CW_OK);
        cr_expect(ranks.kernels[0].waits == cases[i].waits, "%s", cases[i].kernel);
        cr_expect(ranks.ranks[0].waits == (cases[i].waits ? 10 : 0));
        cw_ranks_finish(&ranks);
    }
}

Test(eval_ranks, kernels_of_equal_time_stay_in_their_order)
{
    static const struct fed list[] = {{"1", "b", 1, 1, 10, {0, 0}, CW_VALUE_OK},
                                      {"1", "c", 1, 1, 20, {0, 0}, CW_VALUE_OK},
                                      {"1", "a", 1, 1, 10, {0, 0}, CW_VALUE_OK},
                                      {"1", "d", 1, 1, 10, {0, 0}, CW_VALUE_OK}};
    static const char *const wanted[] = {"c", "b", "a", "d"};
    cr_assert(cw_ranks_begin(&ranks, CW_BY_NVTX, &err) == CW_OK && add(list, 4, no_causes) == CW_OK);
    cr_assert(cw_ranks_compare(&ranks, &err) == CW_OK);
    for (int i = 0; i < 4; i++) {
        cr_expect_str_eq(ranks.kernels[i].name, wanted[i]);
        cr_expect_str_eq(ranks.kernels[i].kernel, "", "a path has none");
    }
    cw_ranks_finish(&ranks);
}

Test(eval_ranks, a_rank_is_in_one_batch)
{
    cr_assert(cw_ranks_begin(&ranks, CW_BY_KERNEL, &err) == CW_OK);
    cr_assert(add(second_batch, 2, no_causes) == CW_OK && add(first_batch, 4, no_causes) == CW_OK);
    cr_expect(add(second_batch, 1, no_causes) == CW_ERR_USAGE);
    cr_expect_str_eq(err.message, "found rank 7 in captures far apart, expected each rank in one file: join its files "
                                  "by \"metric-eval merge\"");
    cw_ranks_finish(&ranks);
}

Test(eval_ranks, without_a_rank_there_is_nothing_to_compare)
{
    cr_assert(cw_ranks_begin(&ranks, CW_BY_KERNEL, &err) == CW_OK && add(first_batch + 3, 1, no_causes) == CW_OK);
    cr_expect(ranks.unranked == 9 && ranks.launches == 0);
    cr_expect(cw_ranks_compare(&ranks, &err) == CW_ERR_INPUT);
    cw_ranks_finish(&ranks);
    cw_ranks_finish(&ranks);
}

/* More values than the buffer in front of their file holds, of 1 MB, and more than are compared at a time, 4,194,304.
 */
Test(eval_ranks, many_values)
{
    enum { MANY = 22000, LIST = 200 };
    static double values[MANY * LIST], back[MANY];
    static int8_t statuses[MANY * LIST], back_statuses[MANY];
    static const char *names[MANY];
    static char texts[LIST][12];
    static struct cw_pair numbers[LIST];
    static struct cw_range launches[LIST];
    static struct cw_group items[LIST];
    static uint32_t index[LIST];
    static const struct cw_device device = {0};
    for (uint32_t i = 0; i < LIST; i++) {
        index[i] = i;
        snprintf(texts[i], sizeof texts[i], "%u", LIST - 1 - i);
        numbers[i] = (struct cw_pair){"rank", texts[i]};
        launches[i] = (struct cw_range){.name = "k", .kernel = "k", .attribute_count = 1, .attributes = &numbers[i]};
        items[i] = (struct cw_group){.name = "k", .count = 1, .ranges = &index[i]};
    }
    for (uint32_t m = 0; m < MANY; m++) {
        names[m] = "m";
        for (uint32_t i = 0; i < LIST; i++) {
            values[m * LIST + i] = m * 1000.0 + i;
            statuses[m * LIST + i] = (int8_t)((m + i) % 3);
        }
    }
    const struct cw_counter_data data = {
        .device_count = 1, .devices = &device, .range_count = LIST, .ranges = launches};
    const struct cw_groups groups = {.by = CW_BY_KERNEL, .count = LIST, .items = items, .data = data};
    const struct cw_result result = {
        .values = values, .statuses = statuses, .row_count = LIST, .names = names, .units = names};
    cr_assert(cw_ranks_begin(&ranks, CW_BY_KERNEL, &err) == CW_OK);
    cr_assert(cw_ranks_add(&ranks, &groups, &data, &result, MANY, no_causes, &err) == CW_OK, "%s", err.message);
    cr_assert(cw_ranks_compare(&ranks, &err) == CW_OK && ranks.row_count == LIST);
    for (uint32_t r = 0; r < LIST; r++) {
        uint32_t wrong = 0;
        const uint32_t i = LIST - 1 - r; /* rank 0 was the last */
        cr_assert(cw_ranks_values(&ranks, r, back, back_statuses, &err) == CW_OK);
        for (uint32_t m = 0; m < MANY; m++)
            wrong += back[m] != m * 1000.0 + i || back_statuses[m] != (int8_t)((m + i) % 3);
        cr_expect(wrong == 0, "%u values of rank %u", wrong, r);
    }
    for (uint32_t m = 0; m < MANY; m++)
        cr_assert(ranks.spreads[m].least == m * 1000.0 && ranks.spreads[m].mean == m * 1000.0 + (LIST - 1) / 2.0 &&
                      ranks.spreads[m].greatest_rank == 0 && ranks.spreads[m].status == 2,
                  "%u", m);
    cw_ranks_finish(&ranks);
}

/* A kernel on more ranks than there are metrics, the first and the last of them slow. */
Test(eval_ranks, more_ranks_than_metrics)
{
    enum { LIST = 5000 };
    static double values[LIST];
    static int8_t statuses[LIST];
    static char texts[LIST][12];
    static struct cw_pair numbers[LIST];
    static struct cw_range launches[LIST];
    static struct cw_group items[LIST];
    static uint32_t index[LIST];
    static const struct cw_device device = {0};
    const char *const name = "m";
    for (uint32_t i = 0; i < LIST; i++) {
        const double ns = i % (LIST - 1) ? 100 : 200;
        index[i] = i;
        values[i] = i;
        snprintf(texts[i], sizeof texts[i], "%u", i);
        numbers[i] = (struct cw_pair){"rank", texts[i]};
        launches[i] = (struct cw_range){.name = "k", .kernel = "k", .attribute_count = 1, .attributes = &numbers[i]};
        items[i] = (struct cw_group){.name = "k", .count = 1, .timed = 1, .mean = ns, .total = ns, .ranges = &index[i]};
    }
    const struct cw_counter_data data = {
        .device_count = 1, .devices = &device, .range_count = LIST, .ranges = launches};
    const struct cw_groups groups = {.by = CW_BY_KERNEL, .count = LIST, .items = items, .data = data};
    const struct cw_result result = {
        .values = values, .statuses = statuses, .row_count = LIST, .names = &name, .units = &name};
    cr_assert(cw_ranks_begin(&ranks, CW_BY_KERNEL, &err) == CW_OK);
    cr_assert(cw_ranks_add(&ranks, &groups, &data, &result, 1, no_causes, &err) == CW_OK, "%s", err.message);
    cr_assert(cw_ranks_compare(&ranks, &err) == CW_OK && ranks.rank_count == LIST && ranks.kernel_count == 1);
    expect_spread(&ranks.kernels[0].time, LIST, 100, 1, 200, 0, 0, CW_VALUE_OK);
    expect_spread(&ranks.spreads[0], LIST, 0, 0, LIST - 1, LIST - 1, 0, CW_VALUE_OK);
    cr_expect(ranks.spreads[0].median == (LIST - 1) / 2.0 && ranks.kernels[0].time.outliers == 2);
    cr_assert(ranks.straggler_count == 2);
    cr_expect(ranks.stragglers[0].row == 0 && ranks.stragglers[1].row == LIST - 1 && ranks.stragglers[0].slower == 1);
    cw_ranks_finish(&ranks);
}
