#include "eval/join/join.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { MOST = 400000 };
static struct cw_arena *arena;
static struct cw_error err;
static struct cw_join join;
static struct cw_join_launch left[MOST], right[MOST];
static struct cw_join_run a = {.launches = left}, b = {.launches = right};

static void set_up(void)
{
    arena = cw_arena_create();
    err = (struct cw_error)CW_ERROR_INIT;
    a.count = b.count = 0;
    a.unnumbered = b.unnumbered = false;
}

static void tear_down(void)
{
    cw_arena_destroy(arena);
}

TestSuite(eval_join, .init = set_up, .fini = tear_down);

static struct cw_join_launch launch(const char *kernel, uint32_t grid, uint32_t place, const char *path)
{
    return (struct cw_join_launch){kernel, path, place, {grid, 1, 1}, {128, 1, 1}};
}

#define A(...) left[a.count++] = launch(__VA_ARGS__)
#define B(...) right[b.count++] = launch(__VA_ARGS__)

static void match(void)
{
    cr_assert(cw_join_match(&join, &a, &b, arena, &err) == CW_OK, "%s", err.message);
}

static void expect(uint32_t i, enum cw_join_how how, uint32_t twin)
{
    cr_expect(join.a.how[i] == how, "%u is %s, not %s", i, cw_join_how_names[join.a.how[i]], cw_join_how_names[how]);
    cr_expect(join.a.twin[i] == twin, "%u has %u, not %u", i, join.a.twin[i], twin);
}

Test(eval_join, the_nth_of_those_that_are_alike_is_the_nth)
{
    A("add", 8, 0, ""), A("mul", 8, 0, ""), A("add", 8, 0, ""), A("add", 4, 0, ""), A("add", 8, 1, "");
    B("add", 8, 1, ""), B("add", 8, 0, ""), B("add", 8, 0, ""), B("add", 4, 0, ""), B("mul", 8, 0, "");
    match();
    expect(0, CW_JOIN_TWIN, 1);
    expect(1, CW_JOIN_TWIN, 4);
    expect(2, CW_JOIN_TWIN, 2);
    expect(3, CW_JOIN_TWIN, 3);
    expect(4, CW_JOIN_TWIN, 0);
    for (uint32_t i = 0; i < b.count; i++)
        cr_expect(join.a.twin[join.b.twin[i]] == i);
    cr_expect(join.a.counts[CW_JOIN_TWIN] == 5 && join.b.counts[CW_JOIN_TWIN] == 5);
    cr_expect(join.shape_count == 3);
    cr_expect(join.a.shape[0] == join.a.shape[2] && join.a.shape[0] == join.a.shape[4]);
    cr_expect(join.a.shape[0] != join.a.shape[3] && join.a.shape[3] == join.b.shape[3]);
}

Test(eval_join, what_has_no_twin_is_told_why)
{
    A("add", 8, 0, "x"), A("add", 8, 0, "x"), A("add", 8, 0, "y"), A("add", 8, 1, "x"), A("add", 4, 0, "x");
    A("copy", 8, 0, "x");
    B("add", 8, 0, "x"), B("mul", 8, 0, "x"), B("add", 16, 0, "x");
    match();
    expect(0, CW_JOIN_TWIN, 0);
    expect(1, CW_JOIN_FEWER, CW_NO_TWIN);
    expect(2, CW_JOIN_OTHER_PATH, CW_NO_TWIN);
    expect(3, CW_JOIN_OTHER_PLACE, CW_NO_TWIN);
    expect(4, CW_JOIN_OTHER_SHAPE, CW_NO_TWIN);
    expect(5, CW_JOIN_NO_KERNEL, CW_NO_TWIN);
    cr_expect(join.b.how[1] == CW_JOIN_NO_KERNEL && join.b.how[2] == CW_JOIN_OTHER_SHAPE);
    cr_expect(cw_join_has_kernel(CW_JOIN_OTHER_PLACE) && !cw_join_has_kernel(CW_JOIN_OTHER_SHAPE));
}

Test(eval_join, nvtx_ranges_count_where_both_runs_have_them)
{
    A("add", 8, 0, "forward"), A("add", 8, 0, "backward");
    B("add", 8, 0, "backward"), B("add", 8, 0, "forward");
    match();
    cr_expect(join.paths);
    expect(0, CW_JOIN_TWIN, 1);
    expect(1, CW_JOIN_TWIN, 0);
    right[0].path = right[1].path = "";
    match();
    cr_expect(!join.paths);
    expect(0, CW_JOIN_TWIN, 0);
    expect(1, CW_JOIN_TWIN, 1);
}

Test(eval_join, launches_that_others_were_left_out_before_have_no_number)
{
    A("add", 8, 0, ""), A("add", 8, 0, ""), A("mul", 8, 0, "");
    B("add", 8, 0, "");
    b.unnumbered = true;
    match();
    expect(0, CW_JOIN_UNNUMBERED, CW_NO_TWIN);
    expect(1, CW_JOIN_UNNUMBERED, CW_NO_TWIN);
    expect(2, CW_JOIN_NO_KERNEL, CW_NO_TWIN);
    cr_expect(join.b.how[0] == CW_JOIN_UNNUMBERED);
}

Test(eval_join, what_is_left_is_listed_by_kernel_and_shape)
{
    const struct cw_join_left *list;
    uint32_t count;
    A("copy", 1, 0, ""), A("add", 1, 0, ""), A("mul", 1, 0, ""), A("mul", 1, 0, ""), A("add", 1, 0, "");
    A("mul", 1, 0, ""), A("add", 2, 0, "");
    B("add", 1, 0, "");
    match();
    cr_assert(cw_join_list_left(&list, &count, &join, &join.a, a.count, arena, &err) == CW_OK);
    cr_assert(count == 4);
    cr_expect(list[0].how == CW_JOIN_NO_KERNEL && list[0].first == 2 && list[0].count == 3);
    cr_expect(list[1].how == CW_JOIN_NO_KERNEL && list[1].first == 0 && list[1].count == 1);
    cr_expect(list[2].how == CW_JOIN_FEWER && list[2].first == 4 && list[2].count == 1);
    cr_expect(list[3].how == CW_JOIN_OTHER_SHAPE && list[3].first == 6 && list[3].count == 1);
    cr_assert(cw_join_list_left(&list, &count, &join, &join.b, b.count, arena, &err) == CW_OK);
    cr_expect(count == 0);
}

Test(eval_join, runs_without_launches_join)
{
    match();
    cr_expect(join.shape_count == 0);
    A("add", 8, 0, "");
    match();
    expect(0, CW_JOIN_NO_KERNEL, CW_NO_TWIN);
}

/* Launches of one kernel, of a thousand, and of as many as there are launches. */
Test(eval_join, many_launches_take_little_time)
{
    static char names[MOST][16];
    for (int kinds = 1; kinds <= MOST; kinds = kinds == 1 ? 1000 : kinds * 400) {
        a.count = b.count = 0;
        for (uint32_t i = 0; i < MOST; i++) {
            snprintf(names[i], sizeof names[i], "k%u", i % (uint32_t)kinds);
            A(names[i], i % 3, i % 2, "");
        }
        for (uint32_t i = MOST; i-- > 0;)
            B(names[i], i % 3, i % 2, "");
        const clock_t before = clock();
        match();
        cr_expect(join.a.counts[CW_JOIN_TWIN] == MOST);
        cr_expect((double)(clock() - before) / CLOCKS_PER_SEC < 20, "of %d kernels", kinds);
    }
}
