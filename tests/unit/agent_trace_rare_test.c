/* Programs that do with their processes, threads and descriptors what they like, and are traced: both ends whole, under
 * a CUPTI without a GPU. What is launched is recorded or lost, and told. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/common/trace_window.h"
#include "agent/inject/driver/say.h"
#include "agent/inject/driver/wire.h"
#include "agent/inject/modes/trace_buffers.h"
#include "agent/inject/modes/trace_nvtx.h"
#include "agent/inject/modes/trace_rows.h"
#include "agent/output/trace_output.h"
#include "agent/session/session.h"
#include "tests/support/child.h"
#include "tests/support/fake_cupti.h"

enum { SOON = 120, LAUNCHES = 3000 };

/* ---- the agent -------------------------------------------------------------------------------------------------- */

static struct cw_session session;
static struct cw_trace_output out;
static struct cw_trace_page *page;
static uint32_t process;
static char path[32], said[4096];
static struct cw_error err;

static enum cw_status take(void *user, const struct cw_process *p, enum cw_message_type type, struct cw_reader *in,
                           struct cw_error *e)
{
    (void)user;
    if (type != CW_MESSAGE_TRACE_PAGE)
        return cw_trace_output_take_chunks(&out, process, in, e);
    cr_assert_null(page, "one process is traced");
    page = mmap(NULL, sizeof *page, PROT_READ, MAP_SHARED, p->message.memory, 0);
    cr_assert(page != MAP_FAILED);
    return cw_trace_output_add_process(&out, &(struct cw_trace_process){.pid = p->pid}, &process, e);
}

static void write_setup(struct cw_writer *setup)
{
    cw_write_u32(setup, CW_MODE_TRACE);
    cw_write_u64(setup, CW_TRACE_BIT(CW_TRACE_KERNEL) | CW_TRACE_BIT(CW_TRACE_NVTX_RANGE));
    cw_write_u32(setup, CW_TRACE_GRAPH_NODES);
    cw_write_u64(setup, 0);
    cw_write_u64(setup, 1000); /* the library's thread is at it all the time */
    cw_write_u64(setup, 1 << 20);
    cw_write_u32(setup, 4);
    cw_trace_window_write(setup, &(struct cw_trace_window_options){0});
    cw_filter_write(setup, &(struct cw_filter_options){.launch_count = UINT64_MAX});
    cw_write_string(setup, "");
}

static pid_t launcher; /* the process that is traced */

/* A sanitizer that looks for leaks waits for ever for locks of threads that the fork left behind. */
static void leave_child(void)
{
    if (getpid() != launcher)
        _exit(0);
}

/* What the program does, in a process whose errors are kept; then the books are settled. */
static void trace(void (*program)(void))
{
    struct fake_agent agent;
    int errors[2];
    fake_agent_listen(&agent);
    cw_session_init(&session);
    snprintf(path, sizeof path, "/tmp/rare_test.XXXXXX");
    close(mkstemp(path));
    cr_assert(pipe(errors) == 0);
    cr_assert_eq(cw_trace_output_open(&out, path, true, "GH100", NULL, &err), CW_OK);
    write_setup(&session.setup);
    session.chip = "GH100";
    session.take = take;
    session.may_be_cut = true;
    session.listener = agent.listener;
    session.program.pid = cw_test_fork();
    if (session.program.pid == 0) {
        dup2(errors[1], STDERR_FILENO);
        close(errors[0]);
        close(agent.listener);
        alarm(SOON / 2);
        cw_say_begin();
        fake_cupti.traces = true;
        launcher = getpid();
        if (atexit(leave_child) != 0) /* behind what the library does */
            abort();
        InitializeInjection();
        fake_cupti_create_context();
        program();
        exit(0);
    }
    close(errors[1]);
    cw_session_serve(&session);
    if (page)
        cr_expect_eq(cw_trace_output_settle(&out, process, page, &err), CW_OK);
    cr_expect_geq(read(errors[0], said, sizeof said - 1), 0);
    close(errors[0]);
    unlink(path);
    fake_agent_close(&agent);
}

/* Those that return as the trace ends may be recorded, and are not counted. */
static void expect_books(uint64_t least)
{
    const struct cw_trace_books b = cw_trace_output_books(&out, CW_TRACE_KERNEL);
    cr_expect(page && b.launched >= least && b.launched <= b.recorded + b.lost,
              "%llu launched, %llu recorded, %llu lost", (unsigned long long)b.launched, (unsigned long long)b.recorded,
              (unsigned long long)b.lost);
}

static void launch(int count)
{
    for (int i = 0; i < count; i++) {
        fake_cupti_launch(CUPTI_API_ENTER);
        fake_cupti_launch(CUPTI_API_EXIT);
    }
}

/* ---- programs --------------------------------------------------------------------------------------------------- */

static void fork_and_launch(void)
{
    int status;
    const struct cw_trace_label label = {.name = "in the child"};
    launch(10);
    const pid_t child = cw_test_fork();
    if (child == 0) {
        cw_trace_nvtx_open(1, 0, &label);
        launch(20);
        fake_cupti_create_context();
        cw_trace_nvtx_close(1, 0);
        fake_cupti_destroy_context();
        exit(0);
    }
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status))
        abort();
    launch(5);
}

Test(trace_rare, a_child_without_exec_has_no_part_in_it_and_is_told, .timeout = SOON)
{
    trace(fork_and_launch);
    cr_expect_eq(session.program.how, CW_END_EXITED);
    const char *told = strstr(said, "was forked without exec");
    cr_expect(told && !strstr(told + 1, "was forked"), "%s", said);
    expect_books(15);
    const struct cw_trace_books b = cw_trace_output_books(&out, CW_TRACE_KERNEL);
    cr_expect(b.launched == 15 && !b.lost);
    cr_expect_eq(cw_trace_output_books(&out, CW_TRACE_NVTX_RANGE).rows, 0);
}

/* CUPTI asks for a buffer in the child, while a thread that the fork left behind had taken one. */
static void fork_beside_a_buffer(void)
{
    int status = -1;
    pthread_mutex_lock(&cw_trace_buffers->lock);
    const pid_t child = cw_test_fork();
    if (child == 0) {
        uint8_t *buffer;
        size_t size, most;
        alarm(SOON / 4);
        cw_trace_buffer_requested(&buffer, &size, &most);
        _exit(0);
    }
    pthread_mutex_unlock(&cw_trace_buffers->lock);
    if (waitpid(child, &status, 0) != child || status)
        abort();
    launch(5);
}

Test(trace_rare, nor_does_it_wait_for_a_thread_of_its_parent, .timeout = SOON)
{
    trace(fork_beside_a_buffer);
    cr_expect(session.program.how == CW_END_EXITED && session.program.code == 0);
    expect_books(5);
}

static void close_all(void)
{
    launch(10);
    closefrom(STDERR_FILENO + 1);
    for (int i = 0; i < 50; i++) {
        launch(LAUNCHES / 50);
        usleep(10000);
    }
}

Test(trace_rare, a_program_that_closes_all_descriptors_goes_on, .timeout = SOON)
{
    trace(close_all);
    cr_expect(session.program.how == CW_END_EXITED && session.program.code == 0);
    cr_expect(strstr(said, "has closed the connection"), "%s", said);
    expect_books(10);
}

static void *launch_for_ever(void *user)
{
    for (;;) { /* no more than the queue takes, however late the agent is */
        launch(10);
        usleep(1000);
    }
    return user;
}

static void leave_meanwhile(void)
{
    pthread_t other;
    if (pthread_create(&other, NULL, launch_for_ever, NULL) != 0)
        abort();
    launch(LAUNCHES);
    usleep(100000);
    _exit(3);
}

Test(trace_rare, a_program_may_leave_while_a_thread_launches, .timeout = SOON)
{
    trace(leave_meanwhile);
    cr_expect(session.program.how == CW_END_EXITED && session.program.code == 3);
    expect_books(LAUNCHES);
}

static bool all_is_sent(void)
{
    cw_trace_rows_lock();
    const bool sent = cw_trace_queue->sent == cw_trace_queue->put && !cw_trace_sheets->tables[CW_TRACE_KERNEL].count &&
                      cw_trace_sheets->page->rows[CW_TRACE_KERNEL] == LAUNCHES;
    cw_trace_rows_unlock();
    return sent;
}

/* In the middle of a message, as far as the agent can see. */
static void be_killed(void)
{
    uint8_t head[CW_MESSAGE_HEADER + 100] = {0};
    launch(LAUNCHES);
    while (!all_is_sent())
        usleep(1000);
    pthread_mutex_lock(&cw_wire->lock); /* the library's threads send nothing more */
    cw_store_u32(head, CW_MESSAGE_TRACE);
    cw_store_u64(head + 4, 1 << 20);
    if (write(cw_wire->agent.fd, head, sizeof head) != sizeof head)
        abort();
    launch(10);
    kill(getpid(), SIGKILL);
}

Test(trace_rare, what_a_killed_program_had_not_sent_is_lost, .timeout = SOON)
{
    trace(be_killed);
    cr_expect(session.program.how == CW_END_SIGNALLED && session.program.code == SIGKILL);
    cr_expect_eq(session.trouble.code, CW_OK, "%s", session.trouble.message);
    expect_books(LAUNCHES + 10);
    cr_expect_gt(cw_trace_output_books(&out, CW_TRACE_KERNEL).recorded, 0);
}

static void *leave(void *user)
{
    exit(4);
    return user;
}

static void exit_in_a_thread(void)
{
    pthread_t others[2];
    launch(1);
    if (pthread_create(&others[0], NULL, launch_for_ever, NULL) != 0)
        abort();
    usleep(100000);
    if (pthread_create(&others[1], NULL, leave, NULL) != 0)
        abort();
    launch_for_ever(NULL);
}

/* The library's thread is not in the way of the end, or the program's alarm would end it. */
Test(trace_rare, or_exit_in_one, .timeout = SOON)
{
    trace(exit_in_a_thread);
    cr_expect(session.program.how == CW_END_EXITED && session.program.code == 4);
    expect_books(1);
    cr_expect_eq(cw_trace_output_books(&out, CW_TRACE_KERNEL).lost, 0);
}
