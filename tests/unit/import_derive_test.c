#include <criterion/criterion.h>
#include <string.h>

#include "import/derive.h"
#include "import/fit.h"

/* Counters with the raw counters that each depends on. SM has 4 instances, PART has 8. */
enum { CYCLES, HITS, MISSES, LOOKUPS, BYTES, PART_HITS, SM_PART_HITS, STILL, OTHER, COUNTERS };
enum { RANGES = 3, ROLLUPS = 4 };
enum { SM, PART };

static const uint32_t raw_lists[][2] = {{0}, {1}, {2}, {1, 2}, {1, 2}, {3}, {3}, {4}, {1, 2}};
static const uint32_t raw_counts[] = {1, 1, 1, 2, 2, 1, 1, 1, 2};
static const uint32_t units[] = {SM, SM, SM, SM, SM, PART, SM, SM, SM};

static struct cw_facts facts;
static struct cw_counter counters[COUNTERS];
static struct cw_unit unit_list[] = {{.name = "sm"}, {.name = "part"}};
static double values[RANGES][COUNTERS][ROLLUPS];
static struct cw_error err;

static void set(int range, int counter, double sum, double min, double max)
{
    double instances = units[counter] == PART ? 8 : 4;
    const double rollups[ROLLUPS] = {sum, sum / instances, min, max};
    memcpy(values[range][counter], rollups, sizeof rollups);
}

static void set_up(void)
{
    static const char *const names[] = {"sm__cycles_elapsed", "sm__hits",      "sm__misses", "sm__lookups", "sm__bytes",
                                        "part__hits",         "sm__part_hits", "sm__still",  "sm__other"};
    static const double hits[RANGES] = {60, 7, 0}, misses[RANGES] = {20, 3, 12};
    facts = (struct cw_facts){.counters = counters, .units = unit_list, .arena = cw_arena_create()};
    facts.chip = (struct cw_chip){
        .counter_count = COUNTERS, .counters = counters, .unit_count = 2, .units = unit_list, .time = CW_NONE};
    for (int c = 0; c < COUNTERS; c++)
        counters[c] = (struct cw_counter){.name = names[c],
                                          .dimension = "things",
                                          .unit = units[c],
                                          .instances = units[c] == PART ? 8 : 4,
                                          .active = CW_NONE,
                                          .elapsed = c == CYCLES ? CW_NONE : CYCLES,
                                          .raws = {raw_counts[c], raw_lists[c]}};
    for (int i = 0; i < RANGES; i++) {
        set(i, CYCLES, 1000 + i, 200, 300);
        set(i, HITS, hits[i], 1, 30);
        set(i, MISSES, misses[i], 2, 9);
        set(i, LOOKUPS, hits[i] + misses[i], 5, 31);
        set(i, BYTES, 32 * (hits[i] + misses[i]), 32 * 5, 32 * 31);
        set(i, PART_HITS, 40 + i, 0, 11);
        set(i, SM_PART_HITS, 40 + i, 3, 20);
        set(i, STILL, 0, 0, 0);
        set(i, OTHER, hits[i] - misses[i], -4, 8);
    }
}

static void tear_down(void)
{
    cw_arena_destroy(facts.arena);
}

TestSuite(derive, .init = set_up, .fini = tear_down);

static void derive(size_t ranges)
{
    cr_assert_eq(cw_derive(&facts, &values[0][0][0], ranges, &err), CW_OK);
}

Test(derive, what_follows_and_what_does_not)
{
    derive(RANGES);
    const struct cw_counter *lookups = &counters[LOOKUPS], *bytes = &counters[BYTES], *part = &counters[SM_PART_HITS];
    static const int recorded[] = {CYCLES, HITS, MISSES, PART_HITS, STILL};
    for (size_t i = 0; i < sizeof recorded / sizeof *recorded; i++)
        cr_expect_eq(counters[recorded[i]].terms.count, 0, "%s", counters[recorded[i]].name);
    cr_assert_eq(lookups->terms.count, 2);
    cr_expect_eq(lookups->coefficients[0], 1);
    cr_expect_eq(lookups->coefficients[1], 1);
    cr_expect_eq(lookups->confirmed, RANGES);
    cr_assert_eq(bytes->terms.count, 2);
    cr_expect_eq(bytes->coefficients[0], 32);
    cr_assert_eq(counters[OTHER].terms.count, 2);
    for (uint32_t k = 0; k < 2; k++)
        cr_expect_eq(counters[OTHER].coefficients[k], counters[OTHER].terms.items[k] == HITS ? 1 : -1);
    cr_assert_eq(part->terms.count, 1, "the finer unit is recorded");
    cr_expect_eq(part->terms.items[0], PART_HITS);
    cr_expect_eq(part->per, 2);
}

Test(derive, a_choice_is_no_formula)
{
    derive(1); /* 60 and 20 make 80 in many ways */
    for (int c = 0; c < COUNTERS; c++)
        cr_expect(counters[c].terms.count < 2, "%s", counters[c].name);
    cr_expect_eq(counters[BYTES].terms.count, 1, "32 lookups");
}

Test(derive, one_capture_contradicts)
{
    values[2][LOOKUPS][0] += 1;
    values[1][SM_PART_HITS][1] *= 1 + 1e-9;
    derive(RANGES);
    cr_expect_eq(counters[LOOKUPS].terms.count, 0);
    cr_expect_eq(counters[SM_PART_HITS].terms.count, 0, "an average that is not the sum's");
}

/* Of a factor of the same unit, minimum and maximum have to follow too. */
Test(derive, extremes_of_a_factor)
{
    static const uint32_t one[] = {1};
    counters[LOOKUPS].raws = (struct cw_list){1, one};
    for (int i = 0; i < RANGES; i++) {
        set(i, LOOKUPS, 3 * values[i][HITS][0], 3, 90);
        set(i, MISSES, 3 * values[i][HITS][0], 3, 91);
    }
    counters[MISSES].raws = (struct cw_list){1, one};
    derive(RANGES);
    cr_expect_eq(counters[LOOKUPS].terms.count, 1);
    cr_expect_eq(counters[MISSES].terms.count, 0);
}

Test(derive, what_others_divide_by_is_recorded)
{
    counters[HITS].elapsed = LOOKUPS;
    derive(RANGES);
    cr_expect_eq(counters[LOOKUPS].terms.count, 0);
    cr_assert_eq(counters[BYTES].terms.count, 1);
    cr_expect_eq(counters[BYTES].terms.items[0], LOOKUPS);
}

Test(derive, odd_factors_are_chance)
{
    for (int i = 0; i < RANGES; i++)
        set(i, SM_PART_HITS, values[i][PART_HITS][0] * 1.37, 1, 2);
    derive(RANGES);
    cr_expect_eq(counters[SM_PART_HITS].terms.count, 0);
}

Test(derive, nothing_follows_from_no_evidence)
{
    derive(0);
    for (int c = 0; c < COUNTERS; c++)
        cr_expect_eq(counters[c].terms.count, 0);
}

/* A capture of a kernel that leaves a unit idle once made the unit's counters lose their cycle counter. */
Test(fit, idle_units_have_zero_a_cycle)
{
    cr_expect_eq(cw_derive_quotient(0, 0), 0);
    cr_expect_eq(cw_derive_quotient(6, 4), 1.5);
    cr_expect(cw_derive_quotient(1, 0) > 1e300);
}
