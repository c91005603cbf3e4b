#include <criterion/criterion.h>
#include <stdio.h>

#include "image/rank_origins.h"
#include "tests/support/alloc_fail.h"

static struct cw_rank_origins origins;

struct launch {
    const char *rank, *ranks;
    uint32_t process;
};

static enum cw_status add(const char *path, const char *host, const struct launch *launches, uint32_t count)
{
    enum { MOST = 8 };
    struct cw_pair pairs[MOST][2];
    struct cw_range ranges[MOST] = {0};
    const struct cw_pair of_device = {"host", host};
    struct cw_device device = {.attributes = &of_device, .attribute_count = host != NULL};
    const struct cw_counter_data data = {.device_count = 1, .devices = &device, .range_count = count, .ranges = ranges};
    for (uint32_t i = 0; i < count; i++) {
        pairs[i][0] = (struct cw_pair){"rank", launches[i].rank};
        pairs[i][1] = (struct cw_pair){"ranks", launches[i].ranks};
        ranges[i] = (struct cw_range){.process = launches[i].process,
                                      .attributes = pairs[i],
                                      .attribute_count = launches[i].ranks  ? 2
                                                         : launches[i].rank ? 1
                                                                            : 0};
    }
    return cw_rank_origins_add(&origins, &data, path, NULL);
}

static void add_one(const char *path, const char *host, const char *rank, const char *ranks, uint32_t process)
{
    cr_assert(add(path, host, &(const struct launch){rank, ranks, process}, 1) == CW_OK);
}

static void expect(const char *wanted)
{
    char text[512] = "";
    size_t at = 0, used = 0;
    for (struct cw_rank_twice t; cw_rank_origins_next(&origins, &at, &t);) {
        used += (size_t)snprintf(text + used, sizeof text - used, "[%u %zu", t.rank, t.count);
        for (size_t i = 0; i < t.count && i < CW_RANK_TWICE_FILES; i++)
            used += (size_t)snprintf(text + used, sizeof text - used, " %s", t.files[i]);
        used += (size_t)snprintf(text + used, sizeof text - used, "]");
    }
    cr_expect_str_eq(text, wanted);
    cw_arena_destroy(origins.arena);
    origins = (struct cw_rank_origins){0};
}

static void begin(void)
{
    origins.arena = cw_arena_create();
}

TestSuite(rank_origins, .init = begin);

Test(rank_origins, each_once)
{
    add_one("a", "x", "0", "4", 1), add_one("b", "x", "1", "4", 2), add_one("c", "y", "2", "4", 1);
    expect("");
}

Test(rank_origins, another_process_or_host)
{
    add_one("a", "x", "0", "4", 1), add_one("b", "x", "1", "4", 2), add_one("c", "x", "1", "4", 3);
    add_one("d", "y", "0", "4", 1), add_one("e", "x", "2", "4", 1);
    expect("[0 2 a d][1 2 b c]");
}

Test(rank_origins, more_files_than_are_named)
{
    add_one("a", "x", "7", NULL, 1), add_one("b", "x", "7", NULL, 2), add_one("c", NULL, "7", NULL, 3);
    add_one("d", "x", "7", NULL, 4), add_one("e", "x", "7", NULL, 1);
    expect("[7 4 a b c]");
}

/* More than the first rooms hold, in files of four ranks; each rank is in two files. */
Test(rank_origins, of_many_processes)
{
    enum { FILES = 100, RANKS = 4 };
    struct launch launches[RANKS];
    char numbers[RANKS][8], path[8], text[32];
    for (uint32_t i = 0; i < 2 * FILES; i++) {
        for (uint32_t k = 0; k < RANKS; k++) {
            snprintf(numbers[k], sizeof numbers[k], "%u", i / 2 * RANKS + k);
            launches[k] = (struct launch){numbers[k], NULL, 1000 * i + k};
        }
        snprintf(path, sizeof path, "f%u", i);
        cr_assert(add(path, i % 2 ? "left" : "right", launches, RANKS) == CW_OK);
    }
    struct cw_rank_twice t;
    size_t at = 0;
    for (uint32_t rank = 0; rank < FILES * RANKS; rank++) {
        cr_assert(cw_rank_origins_next(&origins, &at, &t) && t.rank == rank && t.count == 2, "%u", rank);
        snprintf(text, sizeof text, "f%u f%u", rank / RANKS * 2, rank / RANKS * 2 + 1);
        cr_expect_str_eq(cw_arena_printf(origins.arena, "%s %s", t.files[0], t.files[1]), text);
    }
    cr_expect(!cw_rank_origins_next(&origins, &at, &t));
    cw_arena_destroy(origins.arena);
    origins = (struct cw_rank_origins){0};
}

/* A rank's processes in one file, files of one process, other jobs, and no ranks. */
Test(rank_origins, what_is_not_twice)
{
    static const struct launch of_a[] = {{"0", "4", 1}, {"0", "4", 2}, {"0", "4", 1}, {NULL, NULL, 9}};
    static const struct launch of_b[] = {{"0", "4", 2}, {"0", "4", 3}, {"x", "4", 4}};
    cr_assert(add("a", "x", of_a, 4) == CW_OK && add("b", "x", of_b, 3) == CW_OK);
    add_one("c", "x", "0", "8", 5), add_one("d", "x", "0", NULL, 6), add_one("e", "x", NULL, NULL, 7);
    expect("");
}

/* Each job of a sweep has a rank 0 of 1; a host that nobody knows is one. */
Test(rank_origins, jobs_of_one_rank_and_unknown_hosts)
{
    add_one("a", "x", "0", "1", 1), add_one("b", "x", "0", "1", 2);
    expect("");
    begin();
    add_one("a", NULL, "0", "2", 1), add_one("b", "", "0", "2", 1), add_one("c", "x", "0", "2", 1);
    expect("[0 2 a c]");
}

Test(rank_origins, no_memory_is_told)
{
    long n = 0;
    cw_arena_destroy(origins.arena);
    for (bool failed = true; failed; n++) {
        origins = (struct cw_rank_origins){.arena = cw_arena_create()};
        cw_alloc_fail_after(n);
        enum cw_status status = CW_OK;
        for (uint32_t i = 0; i < 200 && status == CW_OK; i++)
            status = add("a", "x", &(const struct launch){"0", "9", i}, 1);
        failed = cw_alloc_failed();
        cw_alloc_fail_after(-1);
        cr_expect(status == (failed ? CW_ERR_NOMEM : CW_OK), "allocation %ld", n);
        cw_arena_destroy(origins.arena);
    }
    cr_expect(n > 1);
    origins = (struct cw_rank_origins){0};
}

Test(rank_origins, of_processes_of_a_trace)
{
    static const struct cw_pair pairs[][3] = {{{"rank", "2"}, {"ranks", "4"}, {"host", "x"}},
                                              {{"rank", "2"}, {"ranks", "4"}, {"host", "y"}}};
    static const struct cw_trace_process processes[] = {{.pid = 5, .attribute_count = 3, .attributes = pairs[0]},
                                                        {.pid = 5, .attribute_count = 3, .attributes = pairs[1]}};
    const struct cw_trace both = {.process_count = 2, .processes = processes};
    const struct cw_trace parts[] = {{.process_count = 1, .processes = processes},
                                     {.process_count = 1, .processes = processes + 1}};
    cr_assert(cw_rank_origins_add_trace(&origins, &both, "both", NULL) == CW_OK);
    cr_assert(cw_rank_origins_add_trace(&origins, &parts[0], "a", NULL) == CW_OK);
    expect("");
    begin();
    cr_assert(cw_rank_origins_add_trace(&origins, &parts[0], "a", NULL) == CW_OK);
    cr_assert(cw_rank_origins_add_trace(&origins, &parts[1], "b", NULL) == CW_OK);
    expect("[2 2 a b]");
}

Test(rank_origins, room_is_for_different_processes)
{
    static const struct launch two[] = {{"0", "2", 1}, {"1", "2", 2}, {"0", "2", 1}, {"1", "2", 2}};
    for (uint32_t i = 0; i < 10000; i++) {
        cr_assert(add("a", "x", two, 4) == CW_OK);
        origins.files = 0;
    }
    cr_expect(origins.room <= 64, "%zu", origins.room);
    expect("");
}
