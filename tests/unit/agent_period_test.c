/* Sequences of launches as programs make them, and the period that is found in each. A launch takes 50 us unless told
 * otherwise. */
#include <criterion/criterion.h>

#include "agent/common/period.h"
#include "tests/support/seconds.h"

enum { US = 1000, MS = 1000000 };

static struct cw_period *period;
static uint64_t now_ns, launch_ns, launched, begun, last_begun, found_after; /* begun: periods; found_after: launches */
static uint32_t seed;

static void set_up(void)
{
    period = cw_period_create();
    cr_assert(period);
    now_ns = 1000 * MS;
    launch_ns = 50 * US;
    launched = begun = last_begun = found_after = 0;
    seed = 7;
}

static void tear_down(void)
{
    cw_period_destroy(period);
}

TestSuite(period, .init = set_up, .fini = tear_down);

static uint32_t dice(uint32_t sides)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % sides;
}

static void launch(uint64_t kernel)
{
    const bool begins = cw_period_launch(period, kernel * UINT64_C(0x100000001b3), now_ns);
    if (begins && !begun)
        found_after = launched;
    begun += begins;
    last_begun = begins ? launched : last_begun;
    launched++;
    now_ns += launch_ns;
}

/* Launches of so many kernels, one after the other. */
static void kernels(uint64_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        launch(first + i);
}

static void layers(uint64_t first, uint32_t each, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        kernels(first, each);
}

/* What comes before: weights are filled, libraries try their kernels. */
static void warm_up(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        launch(100000 + (dice(3) ? dice(400) : i));
}

static void forward(void)
{
    kernels(10, 4);
    layers(100, 14, 12);
    kernels(20, 5);
}

static void train_step(void)
{
    forward();
    layers(200, 22, 12);
    kernels(30, 40);
}

enum { FORWARD = 4 + 14 * 12 + 5, STEP = FORWARD + 22 * 12 + 40 };

/* A period of `length`, found within so many launches behind `before`, in which it began. */
static struct cw_period_facts expect_found(uint64_t length, uint64_t before, uint64_t within)
{
    const struct cw_period_facts f = cw_period_facts(period);
    cr_expect(f.found);
    cr_expect_eq(f.launches, length, "found a period of %lu launches", f.launches);
    cr_expect(f.before >= before && f.before <= before + 2 * length, "begins behind %lu launches", f.before);
    cr_expect_leq(found_after, before + within, "found behind %lu launches", found_after);
    cr_expect_eq(f.all, launched);
    return f;
}

Test(period, a_training_step_behind_its_warm_up)
{
    warm_up(3000);
    for (int i = 0; i < 100; i++)
        train_step();
    const struct cw_period_facts f = expect_found(STEP, 3000, 30 * STEP);
    cr_expect(f.count >= 97 && f.count <= 99, "%lu", f.count);
    cr_expect_eq(f.others, 0);
    cr_expect_eq(f.periods_ns, f.count * STEP * launch_ns);
    cr_expect_eq(begun, f.count - (found_after - f.before) / STEP + 1);
}

/* Of 200 iterations within a step of time, that step. */
Test(period, the_longest_of_nested_loops)
{
    launch_ns = 10 * US;
    for (int step = 0; step < 200; step++) {
        kernels(1, 5);
        layers(10, 6, 200);
        kernels(20, 3);
    }
    expect_found(5 + 6 * 200 + 3, 0, 60 * 1208);
}

/* Three deep: layers, parts of a batch, steps; the parts take 40 ms each. */
Test(period, steps_that_gather_gradients)
{
    warm_up(500);
    launch_ns = 400 * US;
    for (int step = 0; step < 40; step++) {
        for (int part = 0; part < 8; part++)
            layers(100, 10, 10);
        kernels(30, 50);
    }
    expect_found(850, 500, 12 * 850);
}

/* A short program: 24 tokens of 12 ms each, of which the last few are to be captured. */
Test(period, a_few_tokens)
{
    warm_up(100);
    launch_ns = 120 * US;
    for (int token = 0; token < 24; token++) {
        kernels(1, 4);
        layers(10, 23, 4);
        kernels(50, 4);
    }
    expect_found(100, 100, 14 * 100);
}

/* Layers of a first step, slow as each kernel is loaded: the loop in it is no step. */
Test(period, a_slow_first_pass_over_layers)
{
    launch_ns = 800 * US;
    forward();
    layers(200, 22, 12);
    cr_expect(!cw_period_facts(period).found);
    kernels(30, 40);
    for (int i = 0; i < 20; i++)
        train_step();
    cr_expect_eq(cw_period_facts(period).launches, STEP);
}

Test(period, iterations_without_steps_around_them)
{
    for (int i = 0; i < 30000; i++)
        kernels(1, 6);
    const struct cw_period_facts f = expect_found(6, 0, 12000);
    cr_expect_eq(f.before, 0);
    cr_expect_eq(f.count, 29999);
}

Test(period, one_kernel_again_and_again)
{
    for (int i = 0; i < 30000; i++)
        launch(1);
    expect_found(1, 0, 12000);
}

/* The shape of attention grows with what was decoded: its number changes now and then. */
Test(period, decoding_with_growing_shapes)
{
    warm_up(400);
    for (uint32_t token = 0; token < 300; token++) {
        uint64_t shape = 0;
        for (uint32_t length = 16 + token; length; length /= 2)
            shape++;
        launch(1);
        for (uint32_t layer = 0; layer < 32; layer++) {
            kernels(10, 5);
            launch(1000 + shape);
            kernels(20, 4);
        }
        kernels(30, 8);
    }
    const struct cw_period_facts f = expect_found(1 + 10 * 32 + 8, 400, 70 * 329);
    cr_expect_leq(f.others, 6);
}

/* Every tenth step is followed by an evaluation. */
Test(period, an_evaluation_now_and_then)
{
    warm_up(1000);
    for (int i = 1; i <= 200; i++) {
        train_step();
        for (int k = 0; k < 4 && i % 10 == 0; k++)
            forward();
    }
    const struct cw_period_facts f = cw_period_facts(period);
    cr_expect(f.found);
    const uint64_t epoch = 10 * STEP + 4 * FORWARD;
    cr_expect(f.launches == STEP || f.launches == epoch, "%lu", f.launches);
    cr_expect_leq(found_after, 60 * STEP);
    cr_expect_geq(f.periods_ns, f.all_ns / 2);
}

/* Each step has some launches more or less than others. */
Test(period, steps_that_are_not_quite_alike)
{
    warm_up(1000);
    for (int i = 0; i < 200; i++) {
        forward();
        warm_up(dice(8));
        layers(200, 22, 12);
        kernels(30, 36 + dice(4));
    }
    const struct cw_period_facts f = cw_period_facts(period);
    cr_expect(f.found && f.launches >= STEP - 4 && f.launches <= STEP + 8, "%lu", f.launches);
    cr_expect_geq(f.count, 190);
}

/* Libraries time each of their kernels, again and again, for less than half a second. */
Test(period, kernels_that_are_tried_are_no_period)
{
    for (uint64_t candidate = 0; candidate < 60; candidate++)
        for (int i = 0; i < 150; i++) {
            launch(1);
            launch(1000 + candidate);
        }
    cr_expect(!cw_period_facts(period).found);
    for (int i = 0; i < 20000; i++)
        kernels(2000, 5);
    expect_found(5, 60 * 300, 12000);
}

/* As compilers do that try what they compile: the time in between is none of the period. */
Test(period, kernels_that_are_compiled_and_tried_are_no_period)
{
    launch_ns = 25 * US;
    for (uint64_t candidate = 0; candidate < 40; candidate++) {
        now_ns += 300 * MS;
        for (int i = 0; i < 100; i++) {
            launch(1);
            launch(1000 + candidate / 4); /* its code has the place of the one before */
        }
    }
    cr_expect(!cw_period_facts(period).found);
    for (int step = 0; step < 3000; step++)
        kernels(2000, 20);
    expect_found(20, 40 * 200, 2000 * 20);
}

/* The host runs ahead of the GPU until no more launches fit, and waits from there on. */
Test(period, steps_that_take_longer_once_the_gpu_is_behind)
{
    for (int step = 0; step < 40; step++) {
        launch_ns = step < 3 ? 5 * US : 500 * US;
        kernels(1, 300);
    }
    expect_found(300, 0, 20 * 300);
}

/* Steps on two streams, whose launches come in any order. */
Test(period, launches_of_two_threads)
{
    for (int step = 0; step < 100; step++)
        for (uint32_t a = 0, b = 0; a < 200 || b < 100;)
            if (b == 100 || (a < 200 && dice(3)))
                launch(100 + a++);
            else
                launch(1000 + b++);
    const struct cw_period_facts f = cw_period_facts(period);
    cr_expect(f.found && f.launches >= 260 && f.launches <= 340, "%lu", f.launches);
}

Test(period, nothing_repeats_where_there_is_no_loop)
{
    for (uint32_t i = 0; i < 50000; i++)
        launch(i);
    cr_expect(!cw_period_facts(period).found);
}

Test(period, nor_where_the_same_kernels_come_in_no_order)
{
    for (uint32_t i = 0; i < 300000; i++)
        launch(dice(60));
    cr_expect(!cw_period_facts(period).found);
    cr_expect_eq(begun, 0);
}

Test(period, few_launches_are_no_period)
{
    cr_expect(!cw_period_facts(period).found && !cw_period_facts(period).all);
    train_step();
    train_step();
    train_step();
    cr_expect(!cw_period_facts(period).found, "it may be the beginning of anything");
}

/* Slow steps are found once they came three times. */
Test(period, steps_of_a_second)
{
    launch_ns = 2 * MS;
    for (int i = 0; i < 8; i++)
        train_step();
    const struct cw_period_facts f = expect_found(STEP, 0, 5 * STEP);
    cr_expect_eq(f.count, 7);
}

/* Where a period begins is the same launch of each. */
Test(period, each_period_begins_with_the_same_launch)
{
    uint64_t before = 0;
    warm_up(100);
    for (int i = 0; i < 100; i++) {
        before = last_begun;
        train_step();
        if (before && last_begun != before)
            cr_expect_eq(last_begun - before, STEP);
    }
    cr_expect_gt(begun, 60);
}

/* Its cost does not grow. */
Test(period, ten_million_launches)
{
    cw_test_seconds(30);
    launch_ns = 5 * US;
    while (launched < 10000000)
        if (launched < 5000000)
            launch(dice(5000));
        else
            train_step();
    cr_expect(cw_period_facts(period).found);
}
