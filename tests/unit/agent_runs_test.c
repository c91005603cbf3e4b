#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "agent/output/runs.h"
#include "tests/support/alloc_fail.h"

enum { COUNTERS = 3, PASSES = 2, FACTS = 2 };

static struct cw_runs *runs;
static struct cw_error err;

static void set_up(void)
{
    runs = cw_runs_create(COUNTERS, PASSES, FACTS);
    cr_assert(runs);
}

static void tear_down(void)
{
    cw_runs_destroy(runs);
}

TestSuite(runs, .init = set_up, .fini = tear_down);

static const char *scope = "device"; /* of what is added */

/* A range with `value` for counter `counter` alone. */
static enum cw_status add(const char *name, uint32_t counter, double value)
{
    double durations[PASSES] = {NAN, NAN};
    struct cw_value values[COUNTERS] = {{CW_FORM_NOT_COLLECTED}};
    values[counter] = (struct cw_value){.form = CW_FORM_INSTANCES, .instance_count = 1, .instances = &value};
    durations[counter % PASSES] = value;
    const struct cw_pair about[] = {{"replay", "application"}, {"scope", scope}};
    const struct cw_run_range range = {
        .place = "app",
        .range = {.name = name, .kernel = name, .durations = durations, .attribute_count = 2, .attributes = about},
        .values = values};
    return cw_runs_add(runs, &range, &err);
}

static double value_of(uint32_t index, uint32_t counter)
{
    const struct cw_value *value = &cw_runs_get(runs, index)->values[counter];
    return value->form == CW_FORM_INSTANCES ? value->instances[0] : -1;
}

Test(runs, occurrences_match_in_order)
{
    cw_runs_begin(runs, 0);
    add("a", 0, 1);
    add("b", 0, 2);
    add("a", 0, 3);
    cw_runs_begin(runs, 0);
    add("a", 1, 10);
    add("a", 1, 30);
    add("b", 1, 20); /* in another order: by name and occurrence all the same */
    struct cw_runs_difference d = cw_runs_compare(runs);
    cr_expect(d.missing == 0 && d.added == 0);
    cr_assert(cw_runs_count(runs) == 3);
    for (uint32_t i = 0; i < 3; i++) {
        cr_expect(value_of(i, 0) == i + 1, "%u", i);
        cr_expect(value_of(i, 1) == 10 * value_of(i, 0), "%u", i);
        cr_expect(value_of(i, 2) == -1, "nobody collected it");
        cr_expect(cw_runs_seen(runs, i) == 2);
    }
    cr_expect(cw_runs_get(runs, 2)->range.durations[1] == 30);
    cr_expect(strcmp(cw_range_attribute(&cw_runs_get(runs, 2)->range, "replay"), "application") == 0);
}

Test(runs, facts_are_those_of_the_first)
{
    double facts[FACTS] = {40, NAN};
    struct cw_value values[COUNTERS] = {{CW_FORM_NOT_COLLECTED}};
    struct cw_run_range range = {.place = "app", .range = {"a", "a", .facts = facts}, .values = values};
    cw_runs_begin(runs, 0);
    cr_assert(cw_runs_add(runs, &range, &err) == CW_OK);
    range.range.facts = NULL; /* of a range whose facts nobody knows */
    cr_assert(cw_runs_add(runs, &range, &err) == CW_OK);
    cw_runs_begin(runs, 0);
    facts[0] = 50;
    range.range.facts = facts;
    cr_assert(cw_runs_add(runs, &range, &err) == CW_OK);
    const double *kept = cw_runs_get(runs, 0)->range.facts;
    cr_assert(kept && kept != facts);
    cr_expect(kept[0] == 40 && isnan(kept[1]));
    cr_expect_null(cw_runs_get(runs, 1)->range.facts);
}

static void miss(const char *name)
{
    const struct cw_run_range range = {.place = "app", .range = {.name = name, .kernel = name}};
    cr_assert(cw_runs_add(runs, &range, &err) == CW_OK);
}

/* What was there and not collected counts as an occurrence: the others keep their numbers. */
Test(runs, occurrences_that_were_missed_keep_their_place)
{
    cw_runs_begin(runs, 0);
    add("a", 0, 1);
    miss("a");
    add("a", 0, 3);
    miss("a");
    cw_runs_begin(runs, 0);
    miss("a");
    add("a", 1, 20);
    add("a", 1, 30);
    miss("a");
    miss("a"); /* a fifth */
    struct cw_runs_difference d = cw_runs_compare(runs);
    cr_expect(d.missing == 0 && d.added == 0);
    static const double first[] = {1, -1, 3, -1}, second[] = {-1, 20, 30, -1};
    static const uint32_t seen[] = {1, 1, 2, 0};
    cr_assert(cw_runs_count(runs) == 4);
    for (uint32_t i = 0; i < 4; i++) {
        cr_expect(value_of(i, 0) == first[i] && value_of(i, 1) == second[i], "%u", i);
        cr_expect(cw_runs_seen(runs, i) == seen[i], "%u", i);
    }
}

Test(runs, differences_are_told_and_what_matches_is_kept)
{
    cw_runs_begin(runs, 0);
    add("a", 0, 1);
    add("gone", 0, 2);
    cw_runs_begin(runs, 0);
    add("a", 1, 10);
    add("new", 1, 20);
    add("a", 1, 30);
    struct cw_runs_difference d = cw_runs_compare(runs);
    cr_expect(d.missing == 1 && strcmp(d.missing_name, "gone") == 0);
    cr_expect(d.added == 2 && strcmp(d.added_name, "new") == 0);
    cr_assert(cw_runs_count(runs) == 2);
    cr_expect(value_of(0, 1) == 10);
    cr_expect(cw_runs_seen(runs, 1) == 1);
    cw_runs_begin(runs, 0); /* a run that is like the first again */
    add("gone", 2, 5);
    add("a", 2, 4);
    d = cw_runs_compare(runs);
    cr_expect(d.missing == 0 && d.added == 0);
    cr_expect(value_of(0, 2) == 4 && value_of(1, 2) == 5);
}

Test(runs, groups_see_other_ranges)
{
    cw_runs_begin(runs, 0);
    add("outer", 0, 1);
    cw_runs_begin(runs, 1);
    add("inner", 0, 2);
    cw_runs_begin(runs, 0);
    add("outer", 1, 3);
    struct cw_runs_difference d = cw_runs_compare(runs);
    cr_expect(d.missing == 0 && d.added == 0);
    cw_runs_begin(runs, 1);
    d = cw_runs_compare(runs);
    cr_expect(d.missing == 1 && strcmp(d.missing_name, "inner") == 0);
    cr_expect(cw_runs_count(runs) == 2);
}

Test(runs, many_of_one_name_are_fast)
{
    enum { MANY = 50000 };
    cw_runs_begin(runs, 0);
    for (int i = 0; i < MANY; i++)
        cr_assert(add("same", 0, i) == CW_OK);
    cw_runs_begin(runs, 0);
    for (int i = 0; i < MANY; i++)
        cr_assert(add("same", 1, i) == CW_OK);
    cr_expect(value_of(MANY - 1, 1) == MANY - 1);
}

Test(runs, every_failing_allocation_is_reported)
{
    bool done = false;
    for (long n = 0; n < 200 && !done; n++) {
        cw_runs_destroy(runs);
        cw_alloc_fail_after(n);
        runs = cw_runs_create(COUNTERS, PASSES, FACTS);
        bool good = runs != NULL;
        if (runs) {
            cw_runs_begin(runs, 0);
            good = add("a", 0, 1) == CW_OK;
            cw_runs_begin(runs, 0);
            good = good && add("a", 1, 2) == CW_OK;
        }
        cw_alloc_fail_after(-1);
        if (good)
            cr_expect(value_of(0, 1) == 2);
        done = good;
    }
    cr_expect(done);
}

Test(runs, what_another_used_in_one_run_is_shared)
{
    cw_runs_begin(runs, 0);
    add("a", 0, 1);
    add("b", 0, 2);
    cw_runs_begin(runs, 0);
    add("a", 1, 10);
    scope = "shared device";
    add("b", 1, 20);
    scope = "device";
    cw_runs_begin(runs, 0);
    add("b", 2, 30);
    cr_expect_str_eq(cw_runs_get(runs, 0)->range.attributes[1].value, "device");
    cr_expect_str_eq(cw_runs_get(runs, 1)->range.attributes[1].value, "shared device");
}
