/* Processes that are traced, as the agent knows them. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/backend/cupti/traced.h"

static char folder[] = "/tmp/traced.XXXXXX", path[64];
static struct cw_trace_output output;
static struct cw_traced traced = {.out = &output};
static struct cw_error err;

static void set_up(void)
{
    cr_assert(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/run.cwd", folder);
    cr_assert(cw_trace_output_open(&output, path, false, "GH100", "", &err) == CW_OK, "%s", err.message);
}

static void tear_down(void)
{
    cw_traced_close(&traced);
    cw_trace_output_close(&output);
    cr_expect(unlink(path) == 0 && rmdir(folder) == 0);
}

TestSuite(traced, .init = set_up, .fini = tear_down);

static enum cw_status send_page(const struct cw_process *process)
{
    struct cw_reader none;
    cw_reader_init(&none, NULL, 0, "message", 0, NULL);
    return cw_traced_take(&traced, process, CW_MESSAGE_TRACE_PAGE, &none, &err);
}

static int make_page(int seals)
{
    int fd = memfd_create("page", MFD_ALLOW_SEALING);
    cr_assert(fd >= 0 && ftruncate(fd, sizeof(struct cw_trace_page)) == 0 && fcntl(fd, F_ADD_SEALS, seals) == 0);
    return fd;
}

/* A program could end the agent by a page that shrinks, and have it write to a file by one that is a file. */
Test(traced, only_memory_that_stays_is_a_page)
{
    struct cw_process process = {.number = 1, .pid = 7, .program = "train", .message.memory = make_page(0)};
    cr_expect_eq(send_page(&process), CW_ERR_INPUT);
    err = (struct cw_error)CW_ERROR_INIT;
    close(process.message.memory);
    process.message.memory = make_page(F_SEAL_SHRINK);
    cr_expect_eq(send_page(&process), CW_OK, "%s", err.message);
    cr_expect_eq(send_page(&process), CW_ERR_INPUT, "a second one");
    close(process.message.memory);
}

static enum cw_status send_text(const struct cw_process *process, uint32_t first, const char *text)
{
    struct cw_writer message;
    struct cw_reader in;
    cw_writer_init(&message);
    cw_trace_write_texts(0, first, &text, 1, &message);
    cw_reader_init(&in, message.data, message.size, "message", 0, &err);
    const enum cw_status status = cw_traced_take(&traced, process, CW_MESSAGE_TRACE, &in, &err);
    cw_writer_free(&message);
    return status;
}

/* Pids come again, in a container too, and with another program that a process executes. */
Test(traced, a_pid_may_be_of_several_processes)
{
    const struct cw_process first = {.number = 1, .pid = 7, .program = "a"},
                            second = {.number = 2, .pid = 7, .program = "b"};
    cr_expect_eq(send_text(&first, 1, "one"), CW_OK);
    cr_expect_eq(send_text(&second, 1, "another"), CW_OK, "%s", err.message);
    cr_expect_eq(send_text(&first, 2, "two"), CW_OK, "%s", err.message);
    cr_expect_eq(output.process_count, 2);
}

/* A shell that starts one program after another. */
Test(traced, more_processes_than_there_are_at_a_time)
{
    enum { PROCESSES = 4 * CW_MOST_PROCESSES };
    const int page = make_page(F_SEAL_SHRINK);
    for (uint32_t i = 1; i <= PROCESSES; i++) {
        const struct cw_process process = {.number = i, .pid = i, .program = "train", .message.memory = page};
        cr_assert(send_page(&process) == CW_OK && send_text(&process, 1, "one") == CW_OK, "%u: %s", i, err.message);
    }
    cr_expect_eq(output.process_count, PROCESSES);
    cr_expect_eq(cw_traced_settle(&traced, &err), CW_OK);
    close(page);
}
