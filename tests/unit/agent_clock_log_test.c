/* Clocks beside a program, by a management library without a GPU: support/fake_nvml.c. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/output/collector.h"
#include "base/file.h"

static struct cw_clock_log log_;
static struct cw_gpu_clock found[2];
static const char *const pci = "0000:0a:00.0";

static void look(const char *clocks)
{
    setenv("FAKE_NVML_CLOCKS", clocks, 1);
    log_.looked_ms = 0;
    cw_clock_log_look(&log_);
}

Test(clock_log, gives_the_first_and_the_last_reading_of_a_time)
{
    cw_clock_log_follow(&log_, NULL);
    cw_clock_log_follow(&log_, pci);
    cw_clock_log_follow(&log_, pci);
    cr_assert_eq(log_.gpu_count, 1);
    cr_expect_eq(cw_clock_log_between(&log_, pci, 0, UINT64_MAX, found), 0, "nothing was read yet");
    look("345 2619 1");
    uint64_t from = cw_clock_log_now_ns();
    cr_expect_eq(cw_clock_log_between(&log_, pci, from, from, found), 1, "the nearest");
    look("1980 2619 0");
    look("1400 2619 4");
    look("1755 2500 4");
    uint64_t until = cw_clock_log_now_ns();
    usleep(1000);
    look("345 2619 1");
    cr_assert_eq(cw_clock_log_between(&log_, pci, from, until, found), 2);
    cr_expect(found[0].sm_mhz == 1980 && found[0].memory_mhz == 2619 && found[0].limits == 0);
    cr_expect(found[1].sm_mhz == 1755 && found[1].memory_mhz == 2500 && found[1].limits == 4);
    cr_expect(from <= found[0].wall_ns && found[0].wall_ns <= found[1].wall_ns && found[1].wall_ns <= until);
    cr_expect_eq(cw_clock_log_between(&log_, "0000:0b:00.0", from, until, found), 0);
    cw_clock_log_free(&log_);
}

Test(clock_log, looks_again_after_a_while_only)
{
    cw_clock_log_follow(&log_, pci);
    look("1980 2619 0");
    const uint64_t begin = cw_clock_log_now_ns();
    for (int i = 0; i < 100; i++)
        cw_clock_log_look(&log_);
    const uint64_t periods = (cw_clock_log_now_ns() - begin) / 1000000 / log_.period_ms;
    cr_expect_leq(log_.gpus[0].count, 2 + periods);
    cw_clock_log_free(&log_);
}

/* Of a long program it keeps fewer, from its beginning to its end. */
Test(clock_log, does_not_grow_for_ever)
{
    cw_clock_log_follow(&log_, pci);
    look("1980 2619 0");
    for (int i = 0; i < 20000; i++)
        look("1000 2619 0");
    look("1755 2619 0");
    cr_expect_leq(log_.gpus[0].count, 4096);
    cr_expect_gt(log_.period_ms, 100);
    cr_assert_eq(cw_clock_log_between(&log_, pci, 0, UINT64_MAX, found), 2);
    cr_expect(found[0].sm_mhz == 1980 && found[1].sm_mhz == 1755);
    cw_clock_log_free(&log_);
}

Test(clock_log, knows_nothing_without_the_library_or_its_gpu)
{
    cw_clock_log_follow(&log_, "another");
    look("1980 2619 0");
    cr_expect_eq(cw_clock_log_between(&log_, "another", 0, UINT64_MAX, found), 0);
    cw_clock_log_follow(&log_, pci);
    look("no clocks");
    cr_expect_eq(cw_clock_log_between(&log_, pci, 0, UINT64_MAX, found), 0);
    cw_clock_log_free(&log_);
    struct cw_clock_log none = {0};
    setenv("FAKE_NVML_ABSENT", "1", 1);
    cw_clock_log_follow(&none, pci);
    cw_clock_log_look(&none);
    cr_expect_eq(cw_clock_log_between(&none, pci, 0, UINT64_MAX, found), 0);
    cw_clock_log_free(&none);
}

/* An integrated GPU has no memory clock of its own, and a virtual one no power. */
Test(clock_log, takes_what_is_told_where_some_is_not)
{
    struct cw_gpu_environment e;
    cw_clock_log_follow(&log_, pci);
    look("1980 -1 4");
    cr_assert_eq(cw_clock_log_between(&log_, pci, 0, UINT64_MAX, found), 1);
    cr_expect(found[0].sm_mhz == 1980 && found[0].memory_mhz == 0 && found[0].limits == 4);
    cr_assert(cw_clock_log_environment(&log_, pci, &e));
    cr_expect(e.clock.sm_mhz == 1980 && e.clock.memory_mhz == 0 && e.clock.limits == 4 && e.power == UINT_MAX);
    look("-1 2619 -1");
    cr_assert_eq(cw_clock_log_between(&log_, pci, 0, UINT64_MAX, found), 2);
    cr_expect(found[1].sm_mhz == 0 && found[1].memory_mhz == 2619 && found[1].limits == 0);
    cr_assert(cw_clock_log_environment(&log_, pci, &e));
    cr_expect(e.clock.memory_mhz == 2619 && e.clock.limits == UINT64_MAX, "no reason is known");
    look("-1 -1 -1");
    cr_expect_eq(log_.gpus[0].count, 2, "nothing is no reading");
    cr_expect_not(cw_clock_log_environment(&log_, pci, &e));
    setenv("FAKE_NVML_POWER", "86700", 1);
    cr_assert(cw_clock_log_environment(&log_, pci, &e));
    cr_expect(e.clock.sm_mhz == 0 && e.clock.memory_mhz == 0 && e.power == 86700 && e.temperature == UINT_MAX);
    cw_clock_log_free(&log_);
}

/* ---- in the file ------------------------------------------------------------------------------------------------- */

Test(clock_log, a_file_ends_with_those_of_its_ranges)
{
    char path[] = "/tmp/clocks_XXXXXX";
    const struct cw_schema schema = {.chip = "GH100", .producer = "test"};
    const struct cw_pair attributes[] = {{"pci", pci}};
    const struct cw_device device = {.index = 2, .attribute_count = 1, .attributes = attributes};
    struct cw_arena *arena = cw_arena_create();
    struct cw_collector out;
    struct cw_error err = CW_ERROR_INIT;
    struct cw_counter_data data;
    struct cw_bytes file;
    close(mkstemp(path));
    cw_clock_log_follow(&log_, pci);
    cr_assert_eq(cw_collector_open(&out, path, false, &schema, &err), CW_OK, "%s", err.message);
    out.clocks = &log_;
    cr_assert_eq(cw_collector_device(&out, &device, &err), CW_OK);
    look("345 2619 1");
    struct cw_range range = {.name = "r", .kernel = "k", .device = 2, .start_ns = cw_clock_log_now_ns()};
    look("1980 2619 0");
    look("1755 2619 4");
    range.end_ns = cw_clock_log_now_ns();
    cr_assert_eq(cw_collector_range(&out, &range, NULL, &err), CW_OK);
    cr_assert_eq(cw_collector_end(&out, CW_END_EXITED, 0, &err), CW_OK);
    cr_assert_eq(cw_file_read(&file, path, 1 << 20, &err), CW_OK);
    cr_assert_eq(cw_counter_data_read(&data, file.data, file.size, path, arena, &err), CW_OK, "%s", err.message);
    cr_assert(data.complete && data.clocks_count == 1 && data.clocks[0].count == 2);
    cr_expect(data.clocks[0].readings[0].sm_mhz == 1980 && cw_gpu_clocks_moved(&data.clocks[0]));
    unlink(path);
    cw_bytes_free(&file);
    cw_arena_destroy(arena);
    cw_clock_log_free(&log_);
}

/* ---- control ---------------------------------------------------------------------------------------------------- */

static char log_path[] = "/tmp/clock_control.XXXXXX";

/* Waits until the management library was told so, for as long as another test may take. */
static bool is_told(const char *wanted)
{
    char text[256];
    size_t n = 0;
    for (int i = 0; i < 6000; i++) {
        FILE *file = fopen(log_path, "r");
        n = file ? fread(text, 1, sizeof text - 1, file) : 0;
        text[n] = 0;
        if (file)
            fclose(file);
        if (strcmp(text, wanted) == 0)
            return true;
        usleep(10000);
    }
    cr_log_error("found '%s', expected '%s'", text, wanted);
    return false;
}

static void begin_control(void)
{
    close(mkstemp(log_path));
    setenv("FAKE_NVML_LOG", log_path, 1);
    log_.control.wanted = true;
}

Test(clock_control, locks_a_gpu_once_and_gives_it_back)
{
    begin_control();
    cw_clock_log_follow(&log_, pci);
    cr_expect(is_told("lock ffffff01 ffffff01\n"), "the program waits until the clocks are locked");
    cw_clock_log_follow(&log_, pci);
    cw_clock_log_follow(&log_, "0000:0b:00.0"); /* the library does not know it */
    cw_clock_log_free(&log_);
    cr_expect(is_told("lock ffffff01 ffffff01\nreset\n"));
    unlink(log_path);
}

Test(clock_control, gives_it_back_where_the_agent_is_killed)
{
    begin_control();
    const pid_t child = fork();
    if (child == 0) {
        cw_clock_log_follow(&log_, pci);
        raise(SIGKILL);
    }
    waitpid(child, NULL, 0);
    cr_expect(is_told("lock ffffff01 ffffff01\nreset\n"));
    unlink(log_path);
}

Test(clock_control, leaves_clocks_alone_where_it_is_not_wanted_or_may_not)
{
    begin_control();
    log_.control.wanted = false;
    cw_clock_log_follow(&log_, pci);
    cr_expect(!log_.control.begun);
    log_.control.wanted = true;
    setenv("FAKE_NVML_LOG", "/nowhere/log", 1); /* no permission */
    cw_clock_log_follow(&log_, "0000:0b:00.0");
    cr_expect(log_.control.told);
    cw_clock_log_free(&log_);
    cr_expect(is_told(""));
    unlink(log_path);
}
