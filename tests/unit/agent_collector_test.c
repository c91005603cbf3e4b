#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/output/collector.h"
#include "base/file.h"
#include "tests/support/child.h"
#include "tests/support/image_samples.h"
#include "tests/support/io_fail.h"

/* ---- what is opened --------------------------------------------------------------------------------------------- */

static char folder[] = "/tmp/collector.XXXXXX";
static char path[64], other[64], capture[64];
static struct cw_arena *arena;
static struct cw_schema schema;
static struct cw_collector collector;
static struct cw_error err;

static void make_folder(void)
{
    struct cw_config_image plan = cw_sample_plan();
    arena = cw_arena_create();
    cr_assert(arena && mkdtemp(folder) && cw_schema_of_plan(&schema, &plan, arena) == CW_OK);
    snprintf(path, sizeof path, "%s/run.cwd", folder);
    snprintf(other, sizeof other, "%s/other", folder);
    snprintf(capture, sizeof capture, "%s/capture", folder);
}

static void remove_folder(void)
{
    cw_collector_close(&collector);
    cw_arena_destroy(arena);
    unlink(path);
    unlink(other);
    unlink(capture);
    cr_expect(rmdir(folder) == 0, "something else was left in the folder");
}

TestSuite(agent_collector, .init = make_folder, .fini = remove_folder);

static enum cw_status add(uint32_t attributes)
{
    struct cw_error trouble = CW_ERROR_INIT;
    struct cw_pair *pairs = calloc(attributes + 1, sizeof *pairs);
    char(*keys)[8] = calloc(attributes + 1, sizeof *keys);
    struct cw_device_facts facts[CW_SAMPLE_COUNTERS] = {{0}};
    cr_assert(pairs && keys);
    for (uint32_t i = 0; i < attributes; i++) {
        snprintf(keys[i], sizeof keys[i], "k%03u", i % 1000);
        pairs[i] = (struct cw_pair){keys[i], "value"};
    }
    const struct cw_device device = {attributes, attributes, pairs, facts};
    cr_assert(schema.counter_count == CW_SAMPLE_COUNTERS);
    enum cw_status status = cw_collector_device(&collector, &device, &trouble);
    free(pairs);
    free(keys);
    return status;
}

/* Several write to one file, as the receivers of several GPUs: what one cannot write leaves no hole for the others. */
Test(agent_collector, a_chunk_that_has_no_room_leaves_the_file_whole)
{
    struct cw_counter_data data;
    struct cw_bytes file;
    cr_assert(cw_collector_open(&collector, path, false, &schema, &err) == CW_OK);
    signal(SIGXFSZ, SIG_IGN);
    const struct rlimit limit = {20000, 20000};
    cr_assert(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    cr_expect(add(1) == CW_OK);
    cr_expect(add(5000) == CW_ERR_IO);
    cr_expect(add(2) == CW_OK);
    cr_expect(add(6000) == CW_ERR_IO);
    cr_expect(add(3) == CW_OK);
    cr_expect(cw_collector_end(&collector, CW_END_NO_PROGRAM, 0, &err) == CW_OK);
    cw_collector_close(&collector);
    cr_assert(cw_file_read(&file, path, 1 << 20, &err) == CW_OK);
    cr_assert(cw_counter_data_read(&data, file.data, file.size, path, arena, &err) == CW_OK, "%s", err.message);
    cr_expect(data.complete && data.device_count == 3);
    for (uint32_t i = 0; i < 3; i++)
        cr_expect(data.devices[i].index == i + 1);
    cw_bytes_free(&file);
}

static bool is_complete(void)
{
    struct cw_counter_data data;
    struct cw_bytes file;
    cr_assert(cw_file_read(&file, path, 1 << 20, NULL) == CW_OK);
    cr_assert(cw_counter_data_read(&data, file.data, file.size, path, arena, NULL) == CW_OK);
    cw_bytes_free(&file);
    return data.complete;
}

Test(agent_collector, a_capture_that_the_system_does_not_keep_is_not_complete)
{
    cr_assert(cw_collector_open(&collector, path, false, &schema, &err) == CW_OK);
    cw_io_fail(EDQUOT, 0);
    cr_expect(cw_collector_end(&collector, CW_END_NO_PROGRAM, 0, &err) == CW_ERR_IO);
    cr_expect(strstr(err.message, "run.cwd: cannot write: Disk quota exceeded"), "%s", err.message);
    cw_collector_close(&collector);
    cr_expect(!collector.ended && !is_complete());
}

Test(agent_collector, a_file_that_cannot_be_closed_is_told)
{
    cr_assert(cw_collector_open(&collector, path, false, &schema, &err) == CW_OK);
    cw_io_fail(0, EIO);
    cr_expect(cw_collector_end(&collector, CW_END_NO_PROGRAM, 0, &err) == CW_ERR_IO);
    cr_expect(strstr(err.message, "run.cwd: cannot write: Input/output error"), "%s", err.message);
}

static void write_text(const char *name, const char *text)
{
    cr_assert(cw_file_write(name, text, strlen(text), NULL) == CW_OK);
}

static bool is_text(const char *name, const char *text)
{
    struct cw_bytes file;
    cr_assert(cw_file_read(&file, name, 1 << 20, NULL) == CW_OK);
    bool same = file.size == strlen(text) && memcmp(file.data, text, file.size) == 0;
    cw_bytes_free(&file);
    return same;
}

static void make_capture(const char *name)
{
    cr_assert(cw_collector_open(&collector, name, false, &schema, &err) == CW_OK, "%s", err.message);
    cr_assert(cw_collector_end(&collector, CW_END_NO_PROGRAM, 0, &err) == CW_OK);
}

static void expect_refused(enum cw_status status, const char *why)
{
    struct cw_error told = CW_ERROR_INIT;
    cr_expect(cw_collector_open(&collector, path, false, &schema, &told) == status, "%s", told.message);
    cr_expect(strstr(told.message, why) != NULL, "%s", told.message);
    cw_collector_close(&collector);
}

Test(agent_collector, a_link_is_followed_to_a_capture_alone)
{
    make_capture(capture);
    cr_assert(symlink(capture, path) == 0);
    make_capture(path);
    cr_expect(is_complete());
    unlink(path);
    write_text(other, "precious");
    cr_assert(symlink(other, path) == 0);
    expect_refused(CW_ERR_USAGE, "found a file that is no capture");
    cr_expect(is_text(other, "precious"));
    unlink(other);
    expect_refused(CW_ERR_IO, "run.cwd: cannot open: it is a link that leads nowhere");
    cr_expect(access(other, F_OK) != 0);
}

Test(agent_collector, a_pipe_that_nobody_reads_is_an_error, .timeout = 100)
{
    cr_assert(mkfifo(path, 0600) == 0);
    expect_refused(CW_ERR_IO, "run.cwd: cannot open: nobody reads this pipe");
}

/* Somebody puts links to a capture and to another file in place of the output, in turn. */
__attribute__((noreturn)) static void swap_links(void)
{
    char link[80];
    snprintf(link, sizeof link, "%s/link", folder);
    for (unsigned i = 0;; i++) {
        unlink(link);
        (void)!symlink(i % 2 ? other : capture, link);
        rename(link, path);
    }
}

Test(agent_collector, what_is_looked_at_is_what_is_written, .timeout = 100)
{
    make_capture(capture);
    write_text(other, "precious");
    cr_assert(symlink(capture, path) == 0);
    pid_t pid = cw_test_fork();
    if (pid == 0)
        swap_links();
    for (int i = 0; i < 3000 && is_text(other, "precious"); i++) {
        struct cw_error told = CW_ERROR_INIT;
        cw_collector_open(&collector, path, false, &schema, &told);
        cw_collector_close(&collector);
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    cr_expect(is_text(other, "precious"));
    snprintf(path, sizeof path, "%s/link", folder); /* if it was put there and not renamed */
    unlink(path);
    snprintf(path, sizeof path, "%s/run.cwd", folder);
}

/* A file that rests is opened again where something is to be written, and has to be the same. */
Test(agent_collector, a_file_may_rest)
{
    struct cw_counter_data data;
    struct cw_bytes file;
    cr_assert(cw_collector_open(&collector, path, false, &schema, &err) == CW_OK);
    cr_expect(add(1) == CW_OK);
    cr_expect(cw_collector_rest(&collector) && collector.fd < 0);
    cr_expect_not(cw_collector_rest(&collector));
    cr_expect(add(2) == CW_OK && collector.fd >= 0);
    cr_expect(cw_collector_rest(&collector));
    cr_assert(cw_collector_end(&collector, CW_END_EXITED, 0, &err) == CW_OK, "%s", err.message);
    cr_assert(cw_file_read(&file, path, 1 << 20, &err) == CW_OK);
    cr_assert(cw_counter_data_read(&data, file.data, file.size, path, arena, &err) == CW_OK, "%s", err.message);
    cr_expect(data.complete && data.device_count == 2);
    cw_bytes_free(&file);
}

Test(agent_collector, another_file_that_has_its_name_is_not_written)
{
    cr_assert(cw_collector_open(&collector, path, false, &schema, &err) == CW_OK);
    cr_assert(cw_collector_rest(&collector) && rename(path, other) == 0);
    cr_expect(add(1) == CW_ERR_IO && cw_collector_end(&collector, CW_END_EXITED, 0, &err) == CW_ERR_IO);
    FILE *another = fopen(path, "w");
    cr_assert(another && fclose(another) == 0);
    cr_expect(add(1) == CW_ERR_IO && collector.fd < 0);
}
