#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "agent/common/nesting.h"
#include "tests/support/alloc_fail.h"
#include "tests/support/seconds.h"

static struct cw_nesting *nesting;

static void set_up(void)
{
    nesting = calloc(1, sizeof *nesting);
    cr_assert(nesting);
}

static void tear_down(void)
{
    cw_nesting_finish(nesting);
    free(nesting);
}

TestSuite(nesting, .init = set_up, .fini = tear_down);

static uint64_t push(uint64_t thread, uint64_t domain, const char *name)
{
    return cw_nesting_open(nesting, thread, domain, false, true, name)->id;
}

static uint64_t begin(uint64_t thread, const char *name)
{
    return cw_nesting_open(nesting, thread, 0, true, true, name)->id;
}

static void pop(uint64_t thread, uint64_t domain)
{
    const struct cw_open_range *range = cw_nesting_innermost(nesting, thread, domain);
    cr_assert(range);
    cw_nesting_close(nesting, range->id);
}

static void expect_path(uint64_t thread, uint64_t id, const char *want)
{
    struct cw_writer path;
    cw_writer_init(&path);
    cw_nesting_path(nesting, thread, id, &path);
    cr_expect(path.size == strlen(want) && memcmp(path.data ? (char *)path.data : "", want, path.size) == 0, "%s",
              want);
    cw_writer_free(&path);
}

static void expect_at(uint32_t level, const char *want)
{
    const struct cw_open_range *range = cw_nesting_at_level(nesting, level);
    cr_expect(want ? range && strcmp(range->name, want) == 0 : !range, "level %u", level);
}

Test(nesting, nested_ranges_have_levels_and_a_path)
{
    push(1, 0, "step");
    uint64_t inner = push(1, 0, "forward");
    expect_path(1, 0, "step/forward");
    expect_at(1, "step");
    expect_at(2, "forward");
    cr_expect(cw_nesting_depth(nesting, 1, 0) == 2);
    push(1, 0, "more");
    expect_path(1, inner, "step/forward");
    pop(1, 0);
    pop(1, 0);
    pop(1, 0);
    cr_expect(cw_nesting_innermost(nesting, 1, 0) == NULL);
    expect_path(1, 0, "");
}

/* A pop ends the range that was pushed last, also where that one is not followed. */
Test(nesting, ranges_beyond_the_most_are_popped_first)
{
    for (int i = 0; i < CW_MOST_OPEN_RANGES; i++)
        push(1, 0, "followed");
    cr_expect_null(cw_nesting_open(nesting, 1, 0, false, true, "beyond"));
    cr_expect_null(cw_nesting_open(nesting, 2, 0, false, true, "of another thread"));
    cr_expect_null(cw_nesting_open(nesting, 1, 0, true, true, "not pushed"));
    cr_expect_not(cw_nesting_pop_unknown(nesting, 1, 9));
    cr_expect(cw_nesting_pop_unknown(nesting, 1, 0));
    cr_expect_not(cw_nesting_pop_unknown(nesting, 1, 0));
    cr_expect(cw_nesting_pop_unknown(nesting, 2, 0));
}

Test(nesting, threads_and_domains_have_stacks_of_their_own)
{
    push(1, 0, "a");
    push(1, 9, "lib@b");
    push(2, 0, "c");
    expect_path(1, 0, "a/lib@b");
    expect_path(2, 0, "c");
    pop(1, 0);
    expect_path(1, 0, "lib@b");
    cr_expect(cw_nesting_depth(nesting, 1, 0) == 0);
    cr_expect(cw_nesting_depth(nesting, 2, 0) == 1);
}

Test(nesting, no_two_open_ranges_share_a_level)
{
    uint64_t window = begin(1, "window");
    push(1, 0, "a");
    push(2, 0, "b");
    expect_at(1, "window");
    expect_at(2, "a");
    expect_at(3, "b");
    expect_path(2, 0, "window/b");
    cw_nesting_close(nesting, window);
    expect_at(1, NULL);
    push(2, 0, "c"); /* takes the level that became free */
    expect_at(1, "c");
    expect_path(2, 0, "b/c");
}

Test(nesting, only_wanted_ranges_have_levels)
{
    cw_nesting_open(nesting, 1, 0, false, false, "outer");
    cr_expect(!cw_nesting_wanted(nesting, 1));
    push(1, 0, "step");
    expect_at(1, "step");
    expect_path(1, 0, "outer/step");
    cr_expect(cw_nesting_wanted(nesting, 1));
    cr_expect(!cw_nesting_wanted(nesting, 2));
}

static bool is_named(const void *user, const char *name)
{
    return strcmp(user, name) == 0;
}

Test(nesting, a_filter_that_comes_late_counts_for_what_is_open)
{
    push(1, 0, "outer");
    push(1, 0, "step");
    cw_nesting_review(nesting, is_named, "step");
    expect_at(1, "step");
    expect_at(2, NULL);
}

Test(nesting, too_many_open_ranges_are_counted)
{
    for (int i = 0; i < CW_MOST_OPEN_RANGES; i++)
        cr_assert(cw_nesting_open(nesting, 1, 0, false, false, "r"));
    cr_expect(cw_nesting_open(nesting, 1, 0, false, false, "r") == NULL);
    cr_expect(nesting->beyond == 1);
    cw_nesting_close(nesting, 12345678); /* closing what is not there does nothing */
    cr_expect(nesting->count == CW_MOST_OPEN_RANGES);
}

/* Each is opened within the time that the program has for it. */
Test(nesting, as_many_levels_as_open_ranges)
{
    cw_test_seconds(20);
    const struct cw_open_range *range = NULL;
    for (int i = 0; i < CW_MOST_OPEN_RANGES; i++)
        range = cw_nesting_open(nesting, 1, 0, false, true, "r");
    cr_expect_eq(range->level, CW_MOST_OPEN_RANGES);
}

Test(nesting, a_range_that_there_is_no_memory_for_is_told_once)
{
    for (int i = 0; i < 2; i++) {
        cw_alloc_fail_after(0);
        cr_expect(cw_nesting_open(nesting, 1, 0, false, true, "range") == NULL);
        cr_expect(cw_alloc_failed());
        const char *warning = cw_nesting_warning(nesting);
        cr_expect(i ? warning == NULL : warning && strstr(warning, "memory"), "%s", warning ? warning : "none");
    }
    cw_alloc_fail_after(-1);
    cr_expect(cw_nesting_open(nesting, 1, 0, false, true, "range") != NULL);
    cr_expect(cw_nesting_warning(nesting) == NULL);
}
