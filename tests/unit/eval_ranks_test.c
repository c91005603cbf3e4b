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
        kernel[k] = (struct cw_rank_kernel){
            .name = name, .waits = cw_rank_kernel_waits(name), .first = k * RANKS, .count = RANKS};
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
    cw_rank_spread_make(&s, values + 1, index, 1, scratch);
    cr_expect(s.count == 0 && isnan(s.median) && isnan(s.mean) && isnan(s.imbalance) && s.outliers == 0);
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
                                        "SEND-RECV-Z",          "wait barrier", "halo",         "MPI_Wait"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        cr_expect(cw_rank_kernel_waits(names[i]), "%s", names[i]);
    cr_expect(!cw_rank_kernel_waits("gemm") && !cw_rank_kernel_waits("reduce_kernel"));
}
