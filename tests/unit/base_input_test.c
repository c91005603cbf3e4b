/* Inputs of pipes: in memory while they are little. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/input.h"

static char folder[] = "/tmp/cw_input_XXXXXX";
static struct cw_input input;
static struct cw_error err;
static int ends[2];
static size_t sent;

static void set_up(void)
{
    err = (struct cw_error)CW_ERROR_INIT;
    cr_assert(mkdtemp(folder) && setenv("TMPDIR", folder, 1) == 0 && pipe(ends) == 0);
}

static void tear_down(void)
{
    cw_input_close(&input);
    close(ends[0]);
    rmdir(folder); /* which is empty */
    cr_expect(access(folder, F_OK) != 0);
}

TestSuite(input, .init = set_up, .fini = tear_down);

/* Byte i of what is sent: a capture, by its first bytes. */
static uint8_t byte_at(size_t i)
{
    static const char head[] = CW_FILE_HEAD_CAPTURE;
    if (i < sizeof head - 1)
        return (uint8_t)head[i];
    return (uint8_t)(i * 2654435761u >> 13);
}

static void *send_all(void *unused)
{
    uint8_t piece[1 << 12];
    for (size_t done = 0; done < sent;) {
        size_t n = sent - done < sizeof piece ? sent - done : sizeof piece;
        for (size_t i = 0; i < n; i++)
            piece[i] = byte_at(done + i);
        if (write(ends[1], piece, n) < 0)
            break;
        done += n;
    }
    close(ends[1]);
    return unused;
}

static enum cw_status open_pipe(size_t size, uint64_t limit)
{
    char path[32];
    pthread_t thread;
    sent = size;
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    cr_assert(pthread_create(&thread, NULL, send_all, NULL) == 0);
    const enum cw_status status = cw_input_open(&input, path, limit, &err);
    uint8_t rest[4096];
    while (read(ends[0], rest, sizeof rest) > 0) /* what was refused */
        ;
    pthread_join(thread, NULL);
    return status;
}

static void expect_all(void)
{
    struct cw_window window = {.input = &input};
    const uint8_t *bytes;
    size_t wrong = 0;
    cr_expect(input.size == sent);
    for (size_t at = 0; at < sent; at += 777) {
        const size_t n = sent - at < 777 ? sent - at : 777;
        cr_assert(cw_window_get(&window, at, n, &bytes, &err) == CW_OK, "%s", err.message);
        for (size_t i = 0; i < n; i++)
            wrong += bytes[i] != byte_at(at + i);
    }
    cr_expect(wrong == 0);
    free(window.data);
}

Test(input, a_short_pipe_is_in_memory)
{
    cr_assert(open_pipe(1000000, SIZE_MAX) == CW_OK, "%s", err.message);
    cr_expect(input.bytes && !input.is_open);
    expect_all();
}

Test(input, a_long_pipe_is_in_a_file_without_a_name)
{
    cr_assert(open_pipe(CW_SPOOL_MEMORY + 5000, SIZE_MAX) == CW_OK, "%s", err.message);
    cr_expect(!input.bytes && input.is_open);
    struct dirent **names;
    cr_expect(scandir(folder, &names, NULL, NULL) == 2); /* . and .. */
    expect_all();
}

Test(input, a_pipe_has_a_limit)
{
    cr_expect(open_pipe(100001, 100000) == CW_ERR_INPUT);
    cr_expect(strstr(err.message, "found more than 100000 bytes, expected no more"), "%s", err.message);
}

Test(input, an_empty_pipe_is_empty)
{
    cr_expect(open_pipe(0, 100) == CW_OK && input.size == 0 && input.bytes);
}

Test(input, a_pipe_of_something_else_is_not_read_to_its_end)
{
    cr_assert(cw_input_open(&input, "/dev/zero", SIZE_MAX, &err) == CW_OK, "%s", err.message);
    cr_expect(input.bytes && input.size >= sizeof CW_FILE_HEAD_CAPTURE && input.size <= 1 << 16);
}

Test(input, a_folder_that_is_not_there_is_told)
{
    setenv("TMPDIR", "/nowhere/at/all", 1);
    cr_expect(open_pipe(CW_SPOOL_MEMORY + 1, SIZE_MAX) == CW_ERR_IO);
    cr_expect(strstr(err.message, "/nowhere/at/all: cannot create a temporary file: No such file"), "%s", err.message);
}
