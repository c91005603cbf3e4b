#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "image/job_ranks.h"
#include "image/rank_index.h"
#include "image/trace_data.h"
#include "tests/support/alloc_fail.h"

static struct cw_job_ranks job;

/* As of a device of a capture. */
static enum cw_status add(const char *rank, const char *ranks)
{
    const struct cw_pair pairs[] = {{"name", "GPU"}, {"rank", rank}, {"ranks", ranks}};
    struct cw_device device = {.attributes = pairs, .attribute_count = ranks ? 3 : 2};
    const struct cw_counter_data data = {.device_count = 1, .devices = &device};
    return cw_job_ranks_add(&job, &data, NULL);
}

static void add_number(uint32_t rank, uint32_t ranks)
{
    char text[2][16];
    snprintf(text[0], sizeof text[0], "%u", rank);
    snprintf(text[1], sizeof text[1], "%u", ranks);
    cr_assert(add(text[0], ranks ? text[1] : NULL) == CW_OK);
}

static void expect(size_t count, const char *text)
{
    char found[CW_JOB_RANKS_TEXT];
    cr_expect(cw_job_ranks_sort(&job) == count, "found %zu ranks, expected %zu", job.count, count);
    cr_expect_str_eq(cw_job_ranks_text(&job, found), text);
    cw_job_ranks_free(&job);
}

Test(job_ranks, says_which_are_missing)
{
    expect(0, "");
    add_number(3, 0); /* captures that tell no number of ranks */
    expect(1, "");
    for (uint32_t i = 0; i < 8; i++)
        add_number(7 - i, 8);
    expect(8, "");
    for (uint32_t i = 0; i < 7; i++)
        add_number(i, 8);
    expect(7, "rank 7 of 8 is missing");
    for (uint32_t i = 0; i < 7; i++)
        if (i != 3)
            add_number(i, 8);
    expect(6, "ranks 3 and 7 of 8 are missing");
    add_number(9, 64), add_number(3, 64), add_number(9, 64), add_number(10, 64);
    expect(3, "ranks 0-2, 4-8 and 11-63 of 64 are missing");
    for (uint32_t i = 1; i < 20; i += 2)
        add_number(i, 20);
    expect(10, "ranks 0, 2, 4, 6, 8, 10 and 4 more of 20 are missing");
    add_number(UINT32_MAX - 1, UINT32_MAX);
    expect(1, "ranks 0-4294967293 of 4294967295 are missing");
    add_number(0, 8), add_number(1, 4);
    expect(2, "the captures are of jobs of 4 to 8 ranks, which count as one job");
    add_number(0, 4), add_number(1, 8);
    expect(2, "the captures are of jobs of 4 to 8 ranks, which count as one job");
}

Test(job_ranks, lists_runs)
{
    const struct cw_rank_run expected[] = {{0, 1}, {3, 3}, {6, 7}};
    struct cw_rank_run run;
    size_t at = 0, n = 0;
    add_number(5, 8), add_number(4, 8), add_number(2, 8), add_number(UINT32_MAX, 0); /* of another job */
    cw_job_ranks_sort(&job);
    for (; cw_job_ranks_missing(&job, &at, &run); n++)
        cr_expect(n < 3 && run.first == expected[n].first && run.last == expected[n].last, "%u-%u", run.first,
                  run.last);
    cr_expect(n == 3);
    cw_job_ranks_free(&job);
}

Test(job_ranks, what_is_no_number_is_no_rank)
{
    const char *const bad[] = {"", "abc", "-1", "3x", " 3", "18446744073709551616", "4294967296"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        add(bad[i], "8");
        expect(0, "");
        add("0", bad[i]);
        expect(1, "");
    }
    add("8", "8");
    expect(1, "");
}

Test(job_ranks, room_is_for_different_ranks)
{
    for (uint32_t i = 0; i < 100000; i++)
        add_number(i % 50, 64);
    cr_expect(job.room <= 128, "%zu", job.room);
    expect(50, "ranks 50-63 of 64 are missing");
}

Test(job_ranks, memory_may_not_do)
{
    cw_alloc_fail_after(0);
    cr_expect(add("3", "8") == CW_ERR_NOMEM);
    cw_alloc_fail_after(-1);
    cw_job_ranks_free(&job);
}

Test(job_ranks, of_processes_of_a_trace)
{
    static const struct cw_pair pairs[][2] = {{{"rank", "2"}, {"ranks", "4"}}, {{"rank", "0"}, {"ranks", "4"}}};
    static const struct cw_trace_process processes[] = {
        {.attribute_count = 2, .attributes = pairs[0]}, {.pid = 7}, {.attribute_count = 2, .attributes = pairs[1]}};
    const struct cw_trace trace = {.process_count = 3, .processes = processes};
    cr_assert(cw_job_ranks_add_trace(&job, &trace, NULL) == CW_OK);
    expect(2, "ranks 1 and 3 of 4 are missing");
}

/* Of each device, and of each launch. */
Test(job_ranks, of_devices_and_launches)
{
    static const struct cw_pair pairs[][2] = {{{"rank", "1"}, {"ranks", "5"}},
                                              {{"rank", "2"}, {"ranks", "5"}},
                                              {{"rank", "3"}, {"ranks", "5"}},
                                              {{"rank", "4"}, {"ranks", "5"}}};
    const struct cw_device devices[] = {{.attribute_count = 2, .attributes = pairs[0]},
                                        {.attribute_count = 2, .attributes = pairs[1]}};
    const struct cw_range ranges[] = {{.attribute_count = 2, .attributes = pairs[2]},
                                      {.attribute_count = 2, .attributes = pairs[3]}};
    const struct cw_counter_data data = {.device_count = 2, .devices = devices, .range_count = 2, .ranges = ranges};
    cr_assert(cw_job_ranks_add(&job, &data, NULL) == CW_OK);
    expect(4, "rank 0 of 5 is missing");
}

Test(job_ranks, lists_of_ranks)
{
    static const char *const good[] = {"0", "9", "0-7,12", "1,2,3", "5-5", "09"};
    static const char *const bad[] = {"",   ",",  "1,", ",1", "1-",  "-1",  "7-6",  "a",
                                      "1a", "1 ", ":",  "/",  "1-:", "1-/", "1,,2", "2-3-4"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        cr_expect(cw_rank_list_is(good[i]), "'%s'", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_expect(!cw_rank_list_is(bad[i]), "'%s'", bad[i]);
    for (uint64_t rank = 0; rank < 20; rank++)
        cr_expect(cw_rank_list_has("0-2,9,12-15", rank) == (rank <= 2 || rank == 9 || (rank >= 12 && rank <= 15)), "%d",
                  (int)rank);
    cr_expect(!cw_rank_list_has("", 0));
}

Test(job_ranks, an_index_is_by_rank_and_name)
{
    struct cw_rank_entry entries[] = {
        {10, 5, 6, "b"}, {2, 1, 2, "c"}, {10, 3, 4, "a"}, {4294967295, 18446744073709551615u, 7, "d"}, {2, 8, 9, "b"}};
    static const char wanted[] = "counterworks index 1\n2 8 9 b\n2 1 2 c\n10 3 4 a\n10 5 6 b\n"
                                 "4294967295 18446744073709551615 7 d\n";
    struct cw_rank_index index = {entries, 5}, read;
    struct cw_writer out;
    struct cw_arena *arena = cw_arena_create();
    struct cw_error err = CW_ERROR_INIT;
    cw_writer_init(&out);
    cw_rank_index_write(&index, &out);
    cr_assert(out.size == sizeof wanted - 1 && memcmp(out.data, wanted, out.size) == 0);
    char *text = cw_arena_strdup(arena, wanted);
    cr_assert(cw_rank_index_read(&read, text, sizeof wanted - 1, "run.cwi", arena, &err) == CW_OK, "%s", err.message);
    cr_assert(read.count == 5 && read.entries[4].size == UINT64_MAX && read.entries[1].time_ns == 2);
    for (size_t i = 0; i < 5; i++) {
        cr_expect(read.entries[i].rank == entries[i].rank && read.entries[i].size == entries[i].size);
        cr_expect_str_eq(read.entries[i].name, entries[i].name);
    }
    cw_writer_free(&out);
    cw_arena_destroy(arena);
}

#define HEAD "counterworks index 1\n"

Test(job_ranks, a_line_of_an_index_that_is_wrong_is_named)
{
    static const struct {
        const char *text;
        unsigned line;
    } wrong[] = {
        {"", 1},
        {"counterworks index 2\n", 1},
        {"counterworks index 1", 1},
        {HEAD "1 2 3 a", 1}, /* without its end */
        {HEAD "1 2 3 a\n2 3 4 b", 1},
        {HEAD "\n", 2},
        {HEAD "1 2 3 \n", 2},
        {HEAD "1 2 3\n", 2},
        {HEAD "1 2 a\n", 2},
        {HEAD " 1 2 3 a\n", 2},
        {HEAD "1  2 3 a\n", 2},
        {HEAD "1 2 3 a/b\n", 2},
        {HEAD "-1 2 3 a\n", 2},
        {HEAD "x 2 3 a\n", 2},
        {HEAD "1x 2 3 a\n", 2},
        {HEAD "1 2/ 3 a\n", 2},
        {HEAD "1 2: 3 a\n", 2},
        {HEAD "4294967296 2 3 a\n", 2},
        {HEAD "1 18446744073709551616 3 a\n", 2},
        {HEAD "1 2 28446744073709551610 a\n", 2},
        {HEAD "1 2 3 a\n0 2 3 b\n", 3},
        {HEAD "1 2 3 a\n1 2 3 b\n2 2 3 c\n1 2 3 d\n", 5},
    };
    struct cw_arena *arena = cw_arena_create();
    struct cw_rank_index index;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct cw_error err = CW_ERROR_INIT;
        char expected[64];
        char *text = cw_arena_strdup(arena, wrong[i].text);
        snprintf(expected, sizeof expected, "run.cwi: line %u: found another line", wrong[i].line);
        cr_expect(cw_rank_index_read(&index, text, strlen(text), "run.cwi", arena, &err) == CW_ERR_INPUT, "%zu", i);
        cr_expect(err.line == wrong[i].line && strncmp(err.message, expected, strlen(expected)) == 0, "%zu: %s", i,
                  err.message);
    }
    struct cw_error err = CW_ERROR_INIT;
    char nul[] = HEAD "1 2 3 a\0\n", none[] = HEAD, least[] = HEAD "0 0 0 a b\n";
    cr_expect(cw_rank_index_read(&index, nul, sizeof nul - 1, "x", arena, &err) == CW_ERR_INPUT && err.line == 1);
    cr_expect(cw_rank_index_read(&index, nul, sizeof nul - 1, "x", arena, NULL) == CW_ERR_INPUT);
    cr_expect(cw_rank_index_read(&index, none, sizeof none - 1, "x", arena, &err) == CW_OK && index.count == 0);
    cr_expect(cw_rank_index_read(&index, least, sizeof least - 1, "x", arena, &err) == CW_OK && index.count == 1);
    cr_expect_str_eq(index.entries[0].name, "a b");
    cw_arena_destroy(arena);
}
