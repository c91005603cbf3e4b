/* Passes that take turns over programs whose launches come again, simulated with what CUPTI's changes cost. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "agent/inject/ranges/turns.h"

enum { CHANGE = 15000000, COUNT = 600000 }; /* ns, as on an H200 */
#ifdef CW_SANITIZE
enum { EVERY = 5 }; /* the same code on fewer loops: sanitizers take ten times as long */
#else
enum { EVERY = 1 };
#endif

static struct cw_turns turns;
static struct cw_turns_costs costs;
static uint32_t changes, held, occurrences[8192],
    covered[8192]; /* covered: occurrences until every pass had counted it */
static uint32_t seen[8192][16];

static void begin(uint32_t passes)
{
    cr_assert(cw_turns_begin(&turns, passes, true));
    costs = (struct cw_turns_costs){.change_ns = CHANGE, .count_ns = COUNT, .room = 128};
    changes = held = 0;
    for (int i = 0; i < 8192; i++) {
        occurrences[i] = covered[i] = 0;
        for (int p = 0; p < 16; p++)
            seen[i][p] = 0;
    }
}

static void note(uint32_t kind)
{
    uint32_t passes = 0;
    seen[kind][turns.pass]++;
    occurrences[kind]++;
    for (uint32_t p = 0; p < turns.passes; p++)
        passes += seen[kind][p] > 0;
    if (!covered[kind] && passes == turns.passes)
        covered[kind] = occurrences[kind];
}

/* A launch, which is counted. */
static void launch(uint32_t kind)
{
    uint32_t met = cw_turns_meet(&turns, 1 + (uint64_t)kind * 977);
    uint32_t n = cw_turns_advance(&turns, &costs);
    cr_assert_lt(n, turns.passes);
    if (!n && held == costs.room)
        n = 1;
    if (n)
        cw_turns_set_pass(&turns, (turns.pass + n) % turns.passes);
    if (n)
        cw_turns_started(&turns);
    held = n ? 1 : held + 1;
    changes += n;
    costs.changes_ns += (uint64_t)n * CHANGE;
    costs.all_ns += (uint64_t)n * CHANGE + COUNT;
    note(kind);
    cw_turns_count(&turns, met);
}

static uint32_t worst(uint32_t kinds)
{
    uint32_t most = 0;
    for (uint32_t k = 0; k < kinds; k++) {
        uint32_t n = covered[k] ? covered[k] : UINT32_MAX;
        most = n > most ? n : most;
    }
    return most;
}

/* ---- tests ------------------------------------------------------------------------------------------------------ */

/* Whatever the period, and whatever the number of passes: no pass is starved of a kernel. Where a pass can hold all of
 * the loop, none costs a change more than it has to. */
Test(turns, every_pass_counts_every_kernel_of_a_loop)
{
    for (uint32_t passes = 2; passes <= 13; passes++)
        for (uint32_t period = 1; period <= 200; period += EVERY) {
            begin(passes);
            for (uint32_t i = 0; i < 3 * passes * period; i++)
                launch(i % period);
            uint32_t allowed = period < costs.room ? passes + 1 : 3 * passes;
            cr_expect_leq(worst(period), allowed, "passes %u, period %u: %u", passes, period, worst(period));
            allowed = 2 * passes + (uint32_t)(3ull * passes * period * COUNT / CHANGE);
            allowed = period <= costs.room / 2 && allowed > 4 * passes ? 4 * passes : allowed;
            cr_expect_leq(changes, allowed, "passes %u, period %u: %u of %u", passes, period, changes, allowed);
            cw_turns_end(&turns);
        }
}

/* 12 layers of ten kernels and five that come once a step: layers go through the passes in step with them. */
Test(turns, what_comes_once_a_step_is_not_starved_by_what_comes_often)
{
    for (uint32_t layers = 1; layers <= 24; layers += EVERY)
        for (uint32_t passes = 2; passes <= 13; passes++) {
            begin(passes);
            for (uint32_t step = 0; step < 3 * passes; step++) {
                for (uint32_t i = 0; i < layers * 10; i++)
                    launch(i % 10);
                for (uint32_t i = 0; i < 5; i++)
                    launch(10 + i);
            }
            cr_expect_leq(worst(15), 3 * passes, "layers %u, passes %u: %u", layers, passes, worst(15));
            cw_turns_end(&turns);
        }
}

/* Any order of kernels, again and again. */
Test(turns, no_kernel_of_any_loop_is_starved)
{
    static uint32_t order[600];
    for (unsigned seed = 0; seed < 400; seed += EVERY) {
        srand(seed);
        uint32_t passes = 2 + (uint32_t)rand() % 12, kinds = 1 + (uint32_t)rand() % 30;
        uint32_t length = kinds + (uint32_t)rand() % 500, least = UINT32_MAX;
        for (uint32_t i = 0; i < length; i++)
            order[i] = i < kinds ? i : (uint32_t)rand() % kinds;
        begin(passes);
        for (uint32_t round = 0; round < 3 * passes; round++)
            for (uint32_t i = 0; i < length; i++)
                launch(order[i]);
        for (uint32_t k = 0; k < kinds; k++)
            least = covered[k] && least ? 1 : 0;
        cr_expect(least, "seed %u: %u passes, %u kinds in %u", seed, passes, kinds, length);
        cw_turns_end(&turns);
    }
}

/* A kernel that comes seldom, at no regular time, beside a loop: a change for it alone has to be worth it. */
Test(turns, a_rare_kernel_needs_few_more_occurrences_than_there_are_passes)
{
    for (uint32_t passes = 2; passes <= 13; passes++) {
        srand(passes);
        begin(passes);
        for (uint32_t i = 0; i < 60000; i++)
            launch(rand() % 1000 ? i % 17 : 17);
        cr_expect(covered[17] && covered[17] <= 3 * passes, "passes %u: %u", passes, covered[17]);
        cw_turns_end(&turns);
    }
}

/* Where no two launches are alike for long there is nothing to wait for; changes stay a share of the time. */
Test(turns, changes_never_take_more_than_half_of_the_time)
{
    begin(10);
    for (uint32_t i = 0; i < 50000; i++)
        launch(i / 6 % 8192);
    cr_expect_leq(costs.changes_ns, costs.all_ns / 2 + 20ull * CHANGE);
    cw_turns_end(&turns);
    begin(10);
    for (uint32_t i = 0; i < 50000; i++)
        launch(i % 11);
    cr_expect_leq(costs.changes_ns, costs.all_ns * 2 / 5, "%g s of %g", (double)costs.changes_ns * 1e-9,
                  (double)costs.all_ns * 1e-9);
    cw_turns_end(&turns);
}

/* In the long run each pass counts about as often as another. */
Test(turns, passes_count_about_as_often_in_the_long_run)
{
    for (uint32_t period = 1; period <= 200; period += 7 * EVERY) {
        begin(10);
        for (uint32_t i = 0; i < 300 * period + 30000; i++)
            launch(i % period);
        for (uint32_t k = 0; k < period; k++) {
            uint32_t fewest = UINT32_MAX, most = 0;
            for (uint32_t p = 0; p < 10; p++) {
                fewest = seen[k][p] < fewest ? seen[k][p] : fewest;
                most = seen[k][p] > most ? seen[k][p] : most;
            }
            cr_expect_leq(most, 4 * fewest + 100, "period %u kind %u: %u to %u", period, k, fewest, most);
        }
        cw_turns_end(&turns);
    }
}

/* Behind the first round, each pass counts each kernel where caches are as the program leaves them. */
Test(turns, each_pass_counts_what_is_warm)
{
    begin(10);
    for (uint32_t i = 0; i < 30 * 11; i++)
        launch(i % 11);
    uint32_t warm = 0;
    for (uint32_t i = 0; i < CW_TURNS_KINDS * 10; i++)
        warm += turns.warm[i];
    cr_expect_eq(warm, 110);
    cr_expect_leq(changes, 18);
    cw_turns_end(&turns);
}

/* User ranges: a change costs more than all that a range holds, so each occurrence has a pass of its own. */
Test(turns, each_occurrence_of_a_range_takes_the_next_pass)
{
    begin(10);
    costs.count_ns = 0;
    turns.wants_warm = false;
    for (uint32_t i = 0; i < 300; i++)
        launch(i % 3);
    for (uint32_t k = 0; k < 3; k++)
        for (uint32_t p = 0; p < 10; p++)
            cr_expect_eq(seen[k][p], 10);
    cr_expect_leq(changes, 99);
    cw_turns_end(&turns);
}

/* More kinds than are remembered. */
Test(turns, kinds_are_forgotten_when_there_are_too_many)
{
    begin(3);
    for (uint32_t i = 0; i < 3 * 8192; i++)
        launch(i % 8192);
    for (uint32_t i = 0; i < 70000 * 3; i++) /* nor do counts overflow */
        launch(7);
    cr_expect_gt(covered[7], 0);
    cw_turns_end(&turns);
}
