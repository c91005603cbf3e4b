#include <criterion/criterion.h>
#include <string.h>

#include "passes/copies.h"
#include "tests/support/alloc_fail.h"

/* Raw counters are named by letters, counters, groups and passes by those that they have. */
enum { MOST = 8, LETTERS = 26 };

static struct cw_arena *arena;
static struct cw_error err;
static struct cw_config_image plan;
static struct cw_config_counter lists[2][MOST]; /* counters, groups */
static uint32_t raws[2][MOST][MOST];
static struct cw_config_pass passes[MOST];
static struct cw_placement placements[MOST][MOST];

static void set_up(void)
{
    arena = cw_arena_create();
    err = (struct cw_error)CW_ERROR_INIT;
}

static void tear_down(void)
{
    cw_arena_destroy(arena);
}

TestSuite(copies, .init = set_up, .fini = tear_down);

/* Lists end with NULL. */
static uint32_t fill_list(int list, const char *const *texts)
{
    uint32_t n = 0;
    for (; texts[n]; n++) {
        lists[list][n] = (struct cw_config_counter){.raw_count = (uint32_t)strlen(texts[n]), .raws = raws[list][n]};
        for (uint32_t k = 0; texts[n][k]; k++)
            raws[list][n][k] = (uint32_t)(texts[n][k] - 'a');
    }
    return n;
}

static void fill_plan(const char *const *counters, const char *const *holds)
{
    uint32_t p = 0;
    for (; holds[p]; p++) {
        passes[p] = (struct cw_config_pass){(uint32_t)strlen(holds[p]), placements[p]};
        for (uint32_t k = 0; holds[p][k]; k++)
            placements[p][k] = (struct cw_placement){(uint32_t)(holds[p][k] - 'a'), 0};
    }
    plan = (struct cw_config_image){.domain_count = 1, .raw_count = LETTERS, .pass_count = p, .passes = passes};
    plan.counter_count = fill_list(0, counters);
    plan.counters = lists[0];
}

/* What is left of the passes: "ab|ac". */
static const char *dropped(const char *const *counters, const char *const *groups, size_t pinned,
                           const char *const *holds)
{
    static char text[MOST * MOST];
    size_t n = 0;
    fill_plan(counters, holds);
    cr_assert_eq(cw_copies_drop(&plan, lists[1], fill_list(1, groups), pinned, arena, &err), CW_OK);
    for (uint32_t p = 0; p < plan.pass_count; p++) {
        if (p)
            text[n++] = '|';
        for (uint32_t k = 0; k < plan.passes[p].count; k++)
            text[n++] = (char)('a' + plan.passes[p].placements[k].raw);
    }
    text[n] = 0;
    return text;
}
#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Passes that one counter is spread over are collected as one, so that nothing may stand in both. */
Test(copies, those_that_would_cost_a_capture_passes_are_dropped)
{
    cr_expect_str_eq(dropped(LIST("ab", "ac"), LIST("ab", "ac"), 0, LIST("ab", "ac")), "ab|ac", "both are whole");
    cr_expect_str_eq(dropped(LIST("bc"), LIST("ab", "ac"), 0, LIST("ab", "ac")), "b|ac", "the last group stays");
    cr_expect_str_eq(dropped(LIST("bc"), LIST("ab", "ac"), 2, LIST("ab", "ac")), "ab|ac", "both are pinned");
}

Test(copies, a_pass_of_copies_alone_is_gone_with_them)
{
    dropped(LIST("ac", "bd"), LIST("bc", "ab", "cd"), 0, LIST("ab", "bc", "cd"));
    cr_expect_eq(plan.pass_count, 2);
    cr_expect_eq(plan.passes[0].count + plan.passes[1].count, 4);
}

Test(copies, every_failing_allocation_is_reported)
{
    bool done = false;
    for (long n = 0; n < 200 && !done; n++) {
        fill_plan(LIST("ac", "bd"), LIST("ab", "bc", "cd"));
        cw_alloc_fail_after(n);
        struct cw_arena *own = cw_arena_create();
        enum cw_status status =
            own ? cw_copies_drop(&plan, lists[1], fill_list(1, LIST("bc", "ab", "cd")), 0, own, &err) : CW_ERR_NOMEM;
        bool failed = cw_alloc_failed();
        cw_alloc_fail_after(-1);
        cw_arena_destroy(own);
        cr_expect(status == (failed ? CW_ERR_NOMEM : CW_OK), "allocation %ld", n);
        done = !failed;
    }
    cr_expect(done);
}
