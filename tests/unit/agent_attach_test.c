/* An agent that comes to a program which runs, and leaves it again: both ends whole, under a CUPTI without a GPU. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/common/attach_socket.h"
#include "agent/common/trace_window.h"
#include "agent/inject/modes/trace_nvtx.h"
#include "agent/inject/modes/trace_queue.h"
#include "agent/inject/modes/trace_rows.h"
#include "agent/output/trace_output.h"
#include "agent/session/session.h"
#include "base/file.h"
#include "tests/support/child.h"
#include "tests/support/fake_cupti.h"

enum { ROUNDS = 2, ENOUGH = 10, SOON = 200 };

/* ---- the program ------------------------------------------------------------------------------------------------ */

enum pace { LEISURELY, BUSY, LATE }; /* LATE: as LEISURELY, but it listens some time after the library is there */

struct done {                                /* by the program */
    _Atomic uint32_t steps, steps_when_full; /* the latter: behind the first that found no room in the queue */
    _Atomic uint64_t longest_ns;             /* of a step */
};

struct program {
    pid_t pid;
    int stop; /* closed: it ends */
    struct done *done;
};

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The library is a part of this program; a file of its name makes it look like one that was loaded. */
static void map_library(void)
{
    const int fd = memfd_create("libcounterworks_inject.so", 0);
    cr_assert(ftruncate(fd, 4096) == 0 && mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) != MAP_FAILED);
}

static void step(struct done *done)
{
    const uint64_t start = now_ns(), large = (done->steps + 1) * UINT64_C(0x9e3779b97f4a7c15);
    const struct cw_trace_label label = {
        .name = "iteration", .color = large, .payload = {.number = large ^ 1, .real = large ^ 2}};
    cw_trace_nvtx_open(1, 0, &label);
    fake_cupti_launch(CUPTI_API_ENTER);
    fake_cupti_launch(CUPTI_API_EXIT);
    cw_trace_nvtx_close(1, 0);
    const uint64_t took = now_ns() - start;
    done->longest_ns = took > done->longest_ns ? took : done->longest_ns;
    done->steps++;
    cw_trace_rows_lock();
    done->steps_when_full += done->steps_when_full || !cw_trace_queue_has_room();
    cw_trace_rows_unlock();
}

static void run_program(int stop, int ready, enum pace pace, struct done *done)
{
    char one = 0;
    struct pollfd end = {.fd = stop, .events = POLLIN};
    unsetenv(CW_AGENT_SOCKET_VARIABLE);
    map_library();
    fake_cupti.traces = true;
    if (pace == LATE) {
        (void)!write(ready, &one, 1);
        usleep(200000);
        fake_cupti.early = 30; /* for three seconds */
    }
    InitializeInjection();
    if (pace != LATE)
        (void)!write(ready, &one, 1);
    while (poll(&end, 1, pace != BUSY) == 0)
        for (int i = 0; i < (pace == BUSY ? 100 : 1); i++)
            step(done);
    _exit((int)fake_cupti.finalized);
}

static struct program start_at(enum pace pace)
{
    int stop[2], ready[2];
    char one;
    struct program p = {.done = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)};
    cr_assert(pipe(stop) == 0 && pipe(ready) == 0);
    p.pid = cw_test_fork();
    if (p.pid == 0) {
        close(stop[1]);
        run_program(stop[0], ready[1], pace, p.done);
    }
    close(stop[0]);
    close(ready[1]);
    p.stop = stop[1];
    cr_assert_eq(read(ready[0], &one, 1), 1);
    close(ready[0]);
    return p;
}

static struct program start(void)
{
    return start_at(LEISURELY);
}

/* The test's limit of time ends it where the program does not go on. */
static void wait_for_steps(const struct program *p, const _Atomic uint32_t *steps, uint32_t more)
{
    const uint32_t before = *steps;
    while (*steps - before < more) {
        siginfo_t ended = {0};
        cr_assert(waitid(P_PID, (id_t)p->pid, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && !ended.si_pid,
                  "the program has ended");
        usleep(1000);
    }
}

/* How often CUPTI was left; the program goes on. */
static int end(const struct program *p)
{
    int status = -1;
    wait_for_steps(p, &p->done->steps, 1);
    close(p->stop);
    cr_assert_eq(waitpid(p->pid, &status, 0), p->pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* ---- the agent -------------------------------------------------------------------------------------------------- */

struct agent {
    struct cw_session session;
    struct cw_trace_output out;
    struct cw_filter_options filter;
    uint32_t process, calls;
    bool known;
    const _Atomic bool *meanwhile; /* it stays until this is so, too; NULL: no matter */
    struct cw_trace_page *page;
    char path[32];
};

static struct cw_error err;

static enum cw_status take(void *user, const struct cw_process *p, enum cw_message_type type, struct cw_reader *in,
                           struct cw_error *e)
{
    struct agent *a = user;
    const struct cw_trace_process about = {.pid = p->pid};
    if (!a->known)
        cr_assert_eq(cw_trace_output_add_process(&a->out, &about, &a->process, e), CW_OK);
    a->known = true;
    if (type == CW_MESSAGE_TRACE_PAGE) {
        a->page = mmap(NULL, sizeof *a->page, PROT_READ, MAP_SHARED, p->message.memory, 0);
        cr_assert(a->page != MAP_FAILED);
        return CW_OK;
    }
    cr_expect_eq(type, CW_MESSAGE_TRACE);
    return cw_trace_output_take_chunks(&a->out, a->process, in, e);
}

/* The program has done so much under the trace. */
static bool is_enough(void *user)
{
    const struct agent *a = user;
    return a->page && a->page->launched[CW_TRACE_KERNEL] > ENOUGH && a->page->rows[CW_TRACE_NVTX_RANGE] > ENOUGH &&
           (!a->meanwhile || *a->meanwhile);
}

static struct agent *open_agent_with(enum cw_mode mode, uint64_t flush_ns)
{
    struct agent *a = calloc(1, sizeof *a);
    err = (struct cw_error)CW_ERROR_INIT;
    snprintf(a->path, sizeof a->path, "/tmp/attach_test.XXXXXX");
    close(mkstemp(a->path));
    cr_assert_eq(cw_trace_output_open(&a->out, a->path, true, "GH100", NULL, &err), CW_OK, "%s", err.message);
    cw_session_init(&a->session);
    a->session.chip = "GH100";
    a->session.take = take;
    a->session.user = a;
    fake_agent_write_trace(&a->session.setup, mode, flush_ns);
    return a;
}

static struct agent *open_agent(enum cw_mode mode)
{
    return open_agent_with(mode, 20000000);
}

static void close_agent(struct agent *a)
{
    cw_session_finish(&a->session);
    cw_trace_output_close(&a->out);
    unlink(a->path);
    free(a);
}

/* ---- */

Test(attach, an_agent_comes_and_goes_and_comes_again, .timeout = SOON)
{
    const struct program p = start();
    for (int i = 0; i < ROUNDS; i++) {
        struct agent *a = open_agent(CW_MODE_TRACE);
        cr_assert_eq(cw_session_attach(&a->session, p.pid, &err), CW_OK, "%s", err.message);
        cw_session_serve_attached(&a->session, is_enough);
        cr_expect_eq(a->session.trouble.code, CW_OK, "round %d: %s", i, a->session.trouble.message);
        const struct cw_trace_books kernels = cw_trace_output_books(&a->out, CW_TRACE_KERNEL),
                                    ranges = cw_trace_output_books(&a->out, CW_TRACE_NVTX_RANGE);
        cr_expect(kernels.rows > ENOUGH / 2 && kernels.rows == kernels.recorded && kernels.launched == kernels.rows &&
                      !kernels.lost,
                  "round %d: %llu rows, %llu recorded of %llu launches", i, (unsigned long long)kernels.rows,
                  (unsigned long long)kernels.recorded, (unsigned long long)kernels.launched);
        cr_expect(ranges.rows > ENOUGH / 2 && a->session.program.how == CW_END_NO_PROGRAM);
        close_agent(a);
    }
    cr_expect_eq(end(&p), ROUNDS);
}

/* On an H200 an agent found the library before it listened, and CUDA before it was initialised. */
Test(attach, an_agent_waits_for_a_library_that_is_being_loaded, .timeout = SOON)
{
    const struct program p = start_at(LATE);
    struct agent *a = open_agent(CW_MODE_TRACE);
    cr_assert_eq(cw_session_attach(&a->session, p.pid, &err), CW_OK, "%s", err.message);
    cw_session_serve_attached(&a->session, is_enough);
    cr_expect_eq(a->session.trouble.code, CW_OK, "%s", a->session.trouble.message);
    close_agent(a);
    cr_expect_eq(end(&p), 1);
}

/* Until CUDA is initialised an agent may leave, and another come. */
Test(attach, an_agent_leaves_before_cuda_is_initialised, .timeout = SOON)
{
    const struct program p = start_at(LATE);
    struct agent *a = open_agent(CW_MODE_TRACE);
    cr_assert_eq(cw_session_attach(&a->session, p.pid, &err), CW_OK, "%s", err.message);
    close_agent(a);
    usleep(1000000); /* it is seen at the next look */
    a = open_agent(CW_MODE_TRACE);
    cr_assert_eq(cw_session_attach(&a->session, p.pid, &err), CW_OK, "%s", err.message);
    cw_session_serve_attached(&a->session, is_enough);
    cr_expect_eq(a->session.trouble.code, CW_OK, "%s", a->session.trouble.message);
    cr_expect(a->page && cw_trace_output_books(&a->out, CW_TRACE_KERNEL).rows > ENOUGH / 2);
    close_agent(a);
    cr_expect_geq(end(&p), 1);
}

/* On an H100 the first trace of a program, of one second, with nothing flushed while its kinds were on, had no kernels.
 */
Test(attach, a_trace_that_is_shorter_than_its_flushes_has_kernels, .timeout = SOON)
{
    const struct program p = start();
    struct agent *a = open_agent_with(CW_MODE_TRACE, UINT64_C(60000000000));
    cr_assert_eq(cw_session_attach(&a->session, p.pid, &err), CW_OK, "%s", err.message);
    cw_session_serve_attached(&a->session, is_enough);
    const struct cw_trace_books kernels = cw_trace_output_books(&a->out, CW_TRACE_KERNEL);
    cr_expect(kernels.rows > ENOUGH / 2 && kernels.launched + 2 >= kernels.rows, "%llu rows of %llu launches",
              (unsigned long long)kernels.rows, (unsigned long long)kernels.launched);
    close_agent(a);
    cr_expect_eq(end(&p), 1);
}

struct heard { /* by an agent in a process of its own */
    enum cw_status trouble;
    uint64_t seen; /* ranges, by the program */
    struct cw_trace_books kernels, ranges;
};

static bool stops_for_a_while(void *user)
{
    struct agent *a = user;
    if (is_enough(user) && !a->calls++)
        raise(SIGSTOP);
    return a->calls && a->calls++ > ENOUGH;
}

static pid_t start_agent_that_stops(const struct program *p, struct heard *heard)
{
    const pid_t child = cw_test_fork(); /* it may be stopped */
    if (child)
        return child;
    struct agent *a = open_agent(CW_MODE_TRACE);
    if (cw_session_attach(&a->session, p->pid, &err) == CW_OK)
        cw_session_serve_attached(&a->session, stops_for_a_while);
    heard->trouble = a->session.trouble.code;
    if (a->page && cw_trace_output_settle(&a->out, a->process, a->page, &err) == CW_OK)
        heard->seen = a->page->rows[CW_TRACE_NVTX_RANGE];
    heard->kernels = cw_trace_output_books(&a->out, CW_TRACE_KERNEL);
    heard->ranges = cw_trace_output_books(&a->out, CW_TRACE_NVTX_RANGE);
    close_agent(a);
    _exit(0);
}

/* The program goes on at its own speed. What there is no room for meanwhile is lost, and counted. */
Test(attach, an_agent_that_is_stopped_holds_nobody_up, .timeout = SOON)
{
    struct heard *heard = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const struct program p = start_at(BUSY);
    const pid_t agent = start_agent_that_stops(&p, heard);
    int status;
    cr_assert(waitpid(agent, &status, WUNTRACED) == agent && WIFSTOPPED(status));
    wait_for_steps(&p, &p.done->steps_when_full, 50000);
    kill(agent, SIGCONT);
    cr_assert(waitpid(agent, &status, 0) == agent && status == 0);
    cr_expect_lt(p.done->longest_ns, CW_AGENT_PATIENCE * UINT64_C(1000000000) / 10, "as long as its thread waits");
    cr_expect_eq(heard->trouble, CW_OK);
    cr_expect(heard->ranges.lost > 0);
    cr_expect_eq(heard->ranges.rows + heard->ranges.lost, heard->seen);
    cr_expect_gt(heard->kernels.rows, 0);
    cr_expect_leq(heard->kernels.launched, heard->kernels.recorded + heard->kernels.lost);
    cr_expect_eq(end(&p), 1);
}

Test(attach, an_agent_may_die, .timeout = SOON)
{
    const struct program p = start();
    struct agent *a = open_agent(CW_MODE_TRACE);
    cr_assert_eq(cw_session_attach(&a->session, p.pid, &err), CW_OK, "%s", err.message);
    uint64_t rows = 0;
    while (!rows) { /* until the program has noticed */
        close_agent(a);
        usleep(100000);
        a = open_agent(CW_MODE_TRACE);
        if (cw_session_attach(&a->session, p.pid, &err) == CW_OK)
            cw_session_serve_attached(&a->session, is_enough);
        if (a->session.trouble.code == CW_OK)
            rows = cw_trace_output_books(&a->out, CW_TRACE_KERNEL).rows;
    }
    close_agent(a);
    cr_expect_geq(end(&p), 2);
}

static bool never(void *user)
{
    (void)user;
    return false;
}

static _Atomic bool second_is_over;

static void *serve_second(void *agent)
{
    struct agent *a = agent;
    cw_session_serve_attached(&a->session, never);
    second_is_over = true;
    return NULL;
}

Test(attach, one_agent_at_a_time, .timeout = SOON)
{
    const struct program p = start();
    struct agent *first = open_agent(CW_MODE_TRACE), *second = open_agent(CW_MODE_TRACE);
    cr_assert_eq(cw_session_attach(&first->session, p.pid, &err), CW_OK, "%s", err.message);
    cr_assert_eq(cw_session_attach(&second->session, p.pid, &err), CW_OK, "%s", err.message);
    pthread_t other;
    first->meanwhile = &second_is_over;
    cr_assert_eq(pthread_create(&other, NULL, serve_second, second), 0);
    cw_session_serve_attached(&first->session, is_enough);
    pthread_join(other, NULL);
    cr_expect_eq(second->session.trouble.code, CW_ERR_USAGE);
    cr_expect_eq(first->session.trouble.code, CW_OK, "%s", first->session.trouble.message);
    close_agent(first);
    close_agent(second);
    cr_expect_eq(end(&p), 1);
}

Test(attach, an_agent_comes_after_one_that_named_no_cupti, .timeout = SOON)
{
    const struct program p = start();
    struct agent *a = open_agent(CW_MODE_TRACE);
    setenv("CW_CUPTI", "/none/libcupti.so", 1);
    cr_assert_eq(cw_session_attach(&a->session, p.pid, &err), CW_OK, "%s", err.message);
    cw_session_serve_attached(&a->session, is_enough);
    cr_expect_eq(a->session.trouble.code, CW_ERR_UNSUPPORTED, "%s", a->session.trouble.message);
    close_agent(a);
    unsetenv("CW_CUPTI");
    a = open_agent(CW_MODE_TRACE);
    cr_assert_eq(cw_session_attach(&a->session, p.pid, &err), CW_OK, "%s", err.message);
    cw_session_serve_attached(&a->session, is_enough);
    cr_expect_eq(a->session.trouble.code, CW_OK, "%s", a->session.trouble.message);
    close_agent(a);
    cr_expect_eq(end(&p), 1);
}

Test(attach, only_traces_begin_in_the_middle, .timeout = SOON)
{
    const struct program p = start();
    struct agent *a = open_agent(CW_MODE_LAUNCHES);
    cr_assert_eq(cw_session_attach(&a->session, p.pid, &err), CW_OK, "%s", err.message);
    cw_session_serve_attached(&a->session, is_enough);
    cr_expect_not(a->known);
    close_agent(a);
    cr_expect_eq(end(&p), 1);
}

Test(attach, the_program_may_end_meanwhile, .timeout = SOON)
{
    const struct program p = start();
    struct agent *a = open_agent(CW_MODE_TRACE);
    cr_assert_eq(cw_session_attach(&a->session, p.pid, &err), CW_OK, "%s", err.message);
    kill(p.pid, SIGKILL);
    cw_session_serve_attached(&a->session, is_enough);
    cr_expect_eq(a->session.process_count, 0);
    close_agent(a);
}

Test(attach, what_cannot_be_is_told)
{
    struct agent *a = open_agent(CW_MODE_TRACE);
    pid_t child = cw_test_fork();
    if (child == 0)
        pause();
    cr_expect_eq(cw_session_attach(&a->session, child, &err), CW_ERR_USAGE);
    cr_expect(strstr(err.message, "without libcounterworks_inject.so"), "%s", err.message);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    err = (struct cw_error)CW_ERROR_INIT;
    cr_expect_eq(cw_session_attach(&a->session, child, &err), CW_ERR_USAGE);
    cr_expect(strstr(err.message, "found no process"), "%s", err.message);
    err = (struct cw_error)CW_ERROR_INIT;
    map_library(); /* as in a program that an agent has started */
    cr_expect_eq(cw_session_attach(&a->session, getpid(), &err), CW_ERR_USAGE);
    cr_expect(strstr(err.message, "not waiting"), "%s", err.message);
    close_agent(a);
}
