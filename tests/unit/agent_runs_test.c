#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "agent/one_pass.h"
#include "agent/runs.h"
#include "tests/support/alloc_fail.h"

enum { COUNTERS = 3, PASSES = 2 };

static struct cw_runs *runs;
static struct cw_error err;

static void set_up(void)
{
    runs = cw_runs_create(COUNTERS, PASSES);
    cr_assert(runs);
}

static void tear_down(void)
{
    cw_runs_destroy(runs);
}

TestSuite(runs, .init = set_up, .fini = tear_down);

/* A range with `value` for counter `counter` alone. */
static enum cw_status add(const char *name, uint32_t counter, double value)
{
    double durations[PASSES] = {NAN, NAN};
    struct cw_value values[COUNTERS] = {{CW_FORM_NOT_COLLECTED}};
    values[counter] = (struct cw_value){.form = CW_FORM_INSTANCES, .instance_count = 1, .instances = &value};
    durations[counter % PASSES] = value;
    const struct cw_pair about[] = {{"replay", "application"}};
    const struct cw_run_range range = {
        .place = "app",
        .range = {.name = name, .kernel = name, .durations = durations, .attribute_count = 1, .attributes = about},
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
        runs = cw_runs_create(COUNTERS, PASSES);
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

/* Counter 0 in both passes, 1 in the second, 2 spread over both. */
static const uint32_t raws[][2] = {{0}, {1}, {0, 2}};
static const struct cw_config_counter counters[COUNTERS] = {{.name = "both", .raw_count = 1, .raws = raws[0]},
                                                            {.name = "second", .raw_count = 1, .raws = raws[1]},
                                                            {.name = "spread", .raw_count = 2, .raws = raws[2]}};
static const struct cw_placement first[] = {{0, 0}}, second[] = {{0, 0}, {1, 0}}, third[] = {{2, 0}};
static const struct cw_config_pass passes[] = {{1, first}, {2, second}, {1, third}};
static const uint64_t ids[] = {1, 2, 3};
static const struct cw_config_domain domain = {1, "d"};
static const struct cw_config_image plan = {.chip = "X",
                                            .producer = "test",
                                            .domain_count = 1,
                                            .domains = &domain,
                                            .raw_count = 3,
                                            .raws = ids,
                                            .pass_count = 3,
                                            .passes = passes,
                                            .counter_count = COUNTERS,
                                            .counters = counters};

Test(one_pass, the_first_pass_that_holds_a_counter_owns_it)
{
    struct cw_arena *arena = cw_arena_create();
    struct cw_schema schema;
    struct cw_config_image part;
    uint32_t needed[3];
    cr_assert(cw_one_pass_schema(&schema, &plan, arena) == CW_OK);
    cr_expect(cw_one_pass_owns(&schema, 0, 0));
    cr_expect(!cw_one_pass_owns(&schema, 1, 0));
    cr_expect(cw_one_pass_owns(&schema, 1, 1));
    for (uint32_t p = 0; p < 3; p++)
        cr_expect(!cw_one_pass_owns(&schema, p, 2));
    cr_expect(cw_one_pass_needed(&schema, needed) == 2, "nobody needs the third pass alone");
    cr_expect(needed[0] == 0 && needed[1] == 1);
    cr_assert(cw_one_pass_plan(&part, &plan, &schema, 1, arena, &err) == CW_OK);
    cr_expect(part.pass_count == 1 && part.passes[0].count == 1);
    cr_expect(part.counter_count == 1 && strcmp(part.counters[0].name, "second") == 0);
    cr_assert(cw_one_pass_plan(&part, &plan, &schema, 2, arena, &err) == CW_OK);
    cr_expect(part.counter_count == 0 && part.passes[0].count == 0);
    cw_arena_destroy(arena);
}

/* Hardware that takes `most` raw counters a pass. */
static enum cw_status takes(void *most, const struct cw_config_image *image, const struct cw_config_pass *pass,
                            bool *answer, struct cw_error *error)
{
    (void)image;
    (void)error;
    *answer = pass->count <= *(uint32_t *)most;
    return CW_OK;
}

Test(one_pass, passes_are_added_for_counters_that_are_spread)
{
    struct cw_arena *arena = cw_arena_create();
    struct cw_schema schema;
    struct cw_config_image more = plan;
    uint32_t most = 2, added;
    cr_assert(cw_one_pass_complete(&more, takes, &most, &added, arena, &err) == CW_OK);
    cr_expect(added == 1 && more.pass_count == 4 && more.passes[3].count == 2);
    cr_assert(cw_one_pass_schema(&schema, &more, arena) == CW_OK);
    cr_expect(cw_one_pass_owns(&schema, 3, 2));
    more = plan;
    most = 1; /* no pass can hold it */
    cr_assert(cw_one_pass_complete(&more, takes, &most, &added, arena, &err) == CW_OK);
    cr_expect(added == 0 && more.pass_count == 3);
    cw_arena_destroy(arena);
}
