/* What range --verbose prints of batches. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "agent/backend/batch_report.h"

static char text[8192];

static const char *print(struct cw_batch_report *r)
{
    FILE *out = fmemopen(text, sizeof text, "w");
    cw_batch_report_print(r, out);
    fclose(out);
    return text;
}

static void add(struct cw_batch_report *r, const char *ended, uint32_t launches)
{
    struct cw_effort e = {.ended = ended};
    for (int i = CW_EFFORT_NONE + 1; i < CW_EFFORT__COUNT; i++)
        e.ns[i] = (uint64_t)i * 1000000;
    cw_batch_report_add(r, &e, launches);
}

Test(batch_report, has_the_most_frequent_end_first)
{
    struct cw_batch_report r = {0};
    add(&r, "no more room", 256);
    add(&r, "cuMemFree_v2", 10);
    add(&r, "cuMemFree_v2", 20);
    add(&r, "", 7);
    add(&r, NULL, 7);
    cr_expect_str_eq(
        print(&r), "capture-agent: 3 batches of 95.3 launches on average, ended by: cuMemFree_v2 2, no more "
                   "room 1\n"
                   "capture-agent: batches took 0.165 s: waiting for the agent 0.003, saving memory 0.006, setting up "
                   "0.009, the program's own run 0.012, starting passes 0.015, launching again 0.018, stopping passes "
                   "0.021, restoring memory 0.024, decoding 0.027, choosing metrics 0.030\n");
}

/* Where passes take turns; of what was not done nothing is said. */
Test(batch_report, passes_are_called_passes)
{
    struct cw_batch_report r = {.of_passes = true};
    struct cw_effort e = {.ended = "the turn of another pass", .ns = {[CW_EFFORT_OWN] = 5000000, [CW_EFFORT_STOP] = 1}};
    cw_batch_report_add(&r, &e, 11);
    cr_expect_str_eq(print(&r),
                     "capture-agent: 1 pass of 11.0 launches on average, ended by: the turn of another pass 1\n"
                     "capture-agent: passes took 0.005 s: the program's own run 0.005, stopping passes 0.000\n");
}

Test(batch_report, says_that_there_was_none)
{
    struct cw_batch_report r = {0};
    cr_expect_str_eq(print(&r), "capture-agent: no batches\n");
}

/* The profiled program is not believed. */
Test(batch_report, is_short_and_of_plain_text_whatever_a_program_says)
{
    struct cw_batch_report r = {0};
    char name[1000];
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = 0;
    add(&r, name, 1);
    add(&r, name, 1);
    add(&r, "\x1b[31m", 1);
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "call %d", i);
        add(&r, name, 1);
    }
    print(&r);
    cr_expect(strstr(text, "others 970, x"), "%s", text);
    cr_expect(strstr(text, "x 2, ") && !strchr(text, 0x1b), "%s", text);
    cr_expect_lt(strlen(text), 2000);
}

Test(batch_report, effort_goes_to_one_phase_at_a_time)
{
    struct cw_effort e = {0};
    cr_expect_eq(cw_effort_turn(&e, CW_EFFORT_SETUP, 100), CW_EFFORT_NONE);
    cr_expect_eq(cw_effort_turn(&e, CW_EFFORT_WAIT, 110), CW_EFFORT_SETUP);
    cr_expect_eq(cw_effort_turn(&e, CW_EFFORT_SETUP, 150), CW_EFFORT_WAIT);
    cw_effort_turn(&e, CW_EFFORT_OWN, 155);
    cr_expect_eq(e.ns[CW_EFFORT_SETUP], 15);
    cr_expect_eq(e.ns[CW_EFFORT_WAIT], 40);
    e.ended = "x";
    cw_effort_clear(&e);
    cw_effort_turn(&e, CW_EFFORT_NONE, 165);
    cr_expect_eq(e.ns[CW_EFFORT_OWN], 10);
    cr_expect_eq(e.ns[CW_EFFORT_SETUP], 0);
    cr_expect_null(e.ended);

    struct cw_writer out;
    struct cw_reader in;
    struct cw_effort read;
    struct cw_arena *arena = cw_arena_create();
    cw_writer_init(&out);
    e.ended = "cuMemFree_v2";
    cw_effort_write(&out, &e);
    cw_reader_init(&in, out.data, out.size, "message", 0, NULL);
    cw_effort_read(&in, &read, arena);
    cr_expect_eq(cw_reader_finish(&in, "effort"), CW_OK);
    cr_expect_str_eq(read.ended, e.ended);
    cr_expect_eq(read.ns[CW_EFFORT_OWN], 10);
    cw_writer_free(&out);
    cw_arena_destroy(arena);
}
