/* Sessions of the program's own, one after another, under a CUPTI without a GPU. The agent listens here. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/inject/inside.h"
#include "image/pc_data.h"
#include "include/counterworks/collect.h"
#include "tests/support/child.h"
#include "tests/support/fake_cupti.h"

enum { SOON = 60 };

static struct fake_agent agent;
static const CUcontext context = (CUcontext)0x10; /* of the program */

static void launch(void)
{
    fake_cupti_launch(CUPTI_API_ENTER);
    fake_cupti_launch(CUPTI_API_EXIT);
}

/* Begins a session, as the library beside the program does with the agent's environment. */
static const char *begin_with(cw_launched *on_launch, void *user)
{
    char environment[256];
    memset(environment, 0, sizeof environment);
    snprintf(environment, sizeof environment - 1, "%s=%s", CW_AGENT_SOCKET_VARIABLE, agent.address.sun_path);
    return counterworks_inside_open(environment, on_launch, user);
}

static const char *begin(void)
{
    return begin_with(NULL, NULL);
}

static void expect(bool good)
{
    if (!good)
        _exit(1);
}

static void listen_to(enum cw_mode mode, bool profiler)
{
    fake_cupti.mode = mode;
    fake_cupti.traces = true; /* CUPTI can be left */
    fake_cupti.when.profiler = profiler;
    fake_agent_listen(&agent);
    unsetenv(CW_AGENT_SOCKET_VARIABLE);
}

static int serve(enum cw_message_type expected)
{
    int fd = accept(agent.listener, NULL, NULL), count = fake_agent_serve(fd, expected);
    close(fd);
    return count;
}

static void expect_end(pid_t child)
{
    int status = -1;
    cr_expect(waitpid(child, &status, 0) == child && status == 0, "status %d", status);
    fake_agent_close(&agent);
}

/* ---- sessions --------------------------------------------------------------------------------------------------- */

/* The first session sees the context begin, the second finds it. */
static void run_two(void)
{
    for (int i = 0; i < 2; i++) {
        fake_cupti.current = i ? context : NULL; /* a pop of the fake's leaves none */
        expect(!begin() && begin());             /* one at a time */
        counterworks_inside_control(true);
        if (!i)
            fake_cupti_create_context();
        launch();
        counterworks_inside_close();
        expect(!fake_cupti.callback && !fake_cupti.sampled && !fake_cupti.patched);
        launch(); /* nobody sees it */
    }
    _exit(0);
}

/* The agent hears of two sessions of a program. */
static void expect_two(void (*run)(void), enum cw_mode mode, enum cw_message_type expected)
{
    listen_to(mode, false);
    pid_t child = cw_test_fork();
    if (child == 0)
        run();
    for (int i = 0; i < 2; i++)
        cr_expect_geq(serve(expected), 1, "session %d", i);
    expect_end(child);
}

Test(inside, ranges_of_one_session_after_another, .timeout = SOON)
{
    expect_two(run_two, CW_MODE_RANGE, CW_MESSAGE_RANGES);
}

Test(inside, also_where_passes_take_turns, .timeout = SOON)
{
    expect_two(run_two, CW_MODE_MULTIPLEX, CW_MESSAGE_RANGES);
}

static void run_one(void)
{
    expect(!begin());
    fake_cupti_create_context();
    launch();
    counterworks_inside_close();
    _exit(0);
}

/* What the agent is told, of one type. */
static void take_message(enum cw_message_type wanted, void (*check)(struct cw_reader *in, struct cw_arena *arena))
{
    enum cw_message_type type;
    struct cw_reader in;
    uint8_t *payload;
    size_t size;
    int count = 0;
    const int fd = accept(agent.listener, NULL, NULL);
    while (cw_message_receive(fd, &type, &payload, &size)) {
        if (type == CW_MESSAGE_HELLO)
            fake_agent_answer(fd);
        if (type == wanted) {
            struct cw_arena *arena = cw_arena_create();
            cw_reader_init(&in, payload, size, "message", 0, NULL);
            check(&in, arena);
            cr_expect_eq(in.status, CW_OK);
            cw_arena_destroy(arena);
            count++;
        }
        free(payload);
    }
    cr_expect_eq(count, 1);
    close(fd);
}

static void expect_message(enum cw_mode mode, enum cw_message_type wanted,
                           void (*check)(struct cw_reader *in, struct cw_arena *arena))
{
    listen_to(mode, false);
    pid_t child = cw_test_fork();
    if (child == 0)
        run_one();
    take_message(wanted, check);
    expect_end(child);
}

/* CUPTI numbers its reasons in no order: they are sent by their places in its list, and one without a name is not. */
static void check_samples(struct cw_reader *in, struct cw_arena *arena)
{
    struct cw_pc_batch batch;
    cw_pc_batch_read(&batch, in, arena);
    cr_assert(batch.record_count == 2 && batch.reason_count == 3);
    cr_expect(batch.period == 10 && batch.total == 21 && batch.other == 1 && !batch.dropped && !batch.buffer_full);
    for (uint32_t i = 0; i < 2; i++) {
        const struct cw_pc_record *r = &batch.records[i];
        cr_expect(r->at.pc == 16 * i && r->at.module == 0xc0de && r->at.symbol == 3 && r->stall_count == 3 - i);
        cr_expect_str_eq(r->at.function, "step");
        for (uint32_t k = 0; k < r->stall_count; k++)
            cr_expect(r->stalls[k].reason == k && r->stalls[k].samples == 5);
    }
    cr_expect_str_eq(batch.reasons[2], "smsp__pcsamp_warps_issue_stalled_long_scoreboard");
}

Test(inside, samples_have_reasons_of_any_number, .timeout = SOON)
{
    expect_message(CW_MODE_PC, CW_MESSAGE_PC, check_samples);
}

static void check_counts(struct cw_reader *in, struct cw_arena *arena)
{
    struct cw_uncounted missed;
    struct cw_sass_batch batch;
    cw_uncounted_read(&missed, in, arena);
    cw_sass_batch_read(&batch, in, arena);
    cr_assert(batch.record_count == 3 && batch.metric_count == 1);
    cr_expect(!missed.kernels && !missed.others && !batch.dropped);
    for (uint32_t i = 0; i < 3; i++) {
        const struct cw_sass_record *r = &batch.records[i];
        cr_expect(r->at.pc == 16 * i && r->at.symbol == 3 && r->counts[0] == 1 && r->values[0][0] == 10 + i);
        cr_expect_str_eq(r->at.function, "step");
    }
}

Test(inside, counts_of_each_instruction, .timeout = SOON)
{
    expect_message(CW_MODE_SASS, CW_MESSAGE_SASS, check_counts);
}

Test(inside, counts_of_each_instruction_where_kernels_are_patched_singly, .timeout = SOON)
{
    fake_cupti.singly = true;
    expect_message(CW_MODE_SASS, CW_MESSAGE_SASS, check_counts);
}

/* CUPTI begins neither a second time where it was not ended. */
Test(inside, samples_of_one_session_after_another, .timeout = SOON)
{
    expect_two(run_two, CW_MODE_PC, CW_MESSAGE_PC);
}

Test(inside, counts_of_instructions_of_one_session_after_another, .timeout = SOON)
{
    expect_two(run_two, CW_MODE_SASS, CW_MESSAGE_SASS);
}

/* The first session asks for a reason that is unknown. */
Test(inside, samples_of_a_session_behind_one_that_failed, .timeout = SOON)
{
    fake_cupti.asked = "nothing";
    listen_to(CW_MODE_PC, false);
    pid_t child = cw_test_fork();
    if (child == 0)
        run_two();
    cr_expect_eq(serve(CW_MESSAGE_FAIL), 1);
    fake_cupti.asked = NULL;
    cr_expect_geq(serve(CW_MESSAGE_PC), 1);
    expect_end(child);
}

Test(inside, a_trace_after_another, .timeout = SOON)
{
    expect_two(run_two, CW_MODE_TRACE, CW_MESSAGE_TRACE);
}

/* As of a training loop whose step ends later. */
static void run_in_a_range(void)
{
    counterworks_range_push("step");
    for (int i = 0; i < 2; i++) {
        fake_cupti.current = context;
        expect(!begin());
        launch();
        counterworks_inside_close();
    }
    expect(counterworks_range_pop() == 0);
    _exit(0);
}

Test(inside, sessions_end_in_a_range_that_is_open, .timeout = SOON)
{
    expect_two(run_in_a_range, CW_MODE_RANGE, CW_MESSAGE_RANGES);
}

static void *begin_stream_capture(void *unused)
{
    const cuStreamBeginCapture_v2_params capture = {.hStream = NULL};
    fake_cupti_call(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, &capture);
    return unused;
}

/* A thread that is inside a call of CUDA's meanwhile goes on at once. */
static void end_while_a_thread_waits_for_a_launch(void)
{
    pthread_t waits;
    fake_cupti.current = context;
    expect(!begin());
    fake_cupti_launch(CUPTI_API_ENTER); /* and does not return */
    expect(pthread_create(&waits, NULL, begin_stream_capture, NULL) == 0);
    usleep(300000); /* it waits by now, and if not, this test sees nothing */
    counterworks_inside_close();
    const time_t closed = time(NULL);
    expect(pthread_join(waits, NULL) == 0 && time(NULL) - closed < 4);
    _exit(0);
}

Test(inside, no_thread_waits_behind_the_end_of_a_session, .timeout = SOON)
{
    listen_to(CW_MODE_SASS, false);
    pid_t child = cw_test_fork();
    if (child == 0)
        end_while_a_thread_waits_for_a_launch();
    serve(CW_MESSAGE_SASS);
    expect_end(child);
}

/* ---- the program's own function ---------------------------------------------------------------------------------- */

static void see(void *user, const struct counterworks_collect_launch *seen)
{
    int *calls = user;
    expect(seen->kernel && seen->grid[0] && seen->block[0] && seen->result == 0);
    expect(seen->returned == *calls % 2); /* before, then after */
    ++*calls;
}

static void run_watched(void)
{
    int calls = 0;
    expect(!begin_with(see, &calls));
    fake_cupti_create_context();
    launch();
    counterworks_inside_control(true);
    launch();
    expect(calls == 4);
    counterworks_inside_close();
    launch();
    expect(!begin());
    fake_cupti_create_context();
    counterworks_inside_control(true);
    launch();
    counterworks_inside_close();
    expect(calls == 4); /* the second session has no such function */
    _exit(0);
}

Test(inside, a_function_of_the_program_sees_each_launch, .timeout = SOON)
{
    expect_two(run_watched, CW_MODE_RANGE, CW_MESSAGE_RANGES);
}

Test(inside, also_beside_a_trace, .timeout = SOON)
{
    expect_two(run_watched, CW_MODE_TRACE, CW_MESSAGE_TRACE);
}

/* ---- starting and stopping -------------------------------------------------------------------------------------- */

static void run_outside(void)
{
    expect(!begin());
    fake_cupti_create_context();
    launch();
    counterworks_inside_control(true);
    counterworks_inside_control(false);
    launch();
    counterworks_inside_close();
    fake_cupti.current = context;
    expect(!begin()); /* and the other way round */
    counterworks_inside_control(true);
    launch();
    counterworks_inside_flush();
    counterworks_inside_control(false);
    launch();
    counterworks_inside_control(true);
    launch();
    counterworks_inside_control(false);
    counterworks_inside_close();
    _exit(0);
}

Test(inside, nothing_is_collected_outside, .timeout = SOON)
{
    listen_to(CW_MODE_RANGE, true);
    pid_t child = cw_test_fork();
    if (child == 0)
        run_outside();
    cr_expect_eq(serve(CW_MESSAGE_RANGES), 0);
    cr_expect_eq(serve(CW_MESSAGE_RANGES), 2);
    expect_end(child);
}

/* ---- refusals --------------------------------------------------------------------------------------------------- */

static void run_late(void)
{
    fake_cupti.current = context;
    expect(!begin());
    counterworks_inside_close();
    expect(!begin()); /* another kind may follow */
    counterworks_inside_close();
    _exit(0);
}

Test(inside, batched_replay_comes_before_the_first_context, .timeout = SOON)
{
    listen_to(CW_MODE_BATCH, false);
    pid_t child = cw_test_fork();
    if (child == 0)
        run_late();
    cr_expect_eq(serve(CW_MESSAGE_FAIL), 1);
    cr_expect_eq(serve(CW_MESSAGE_FAIL), 1);
    expect_end(child);
}

Test(inside, a_forked_child_has_no_session, .timeout = SOON)
{
    listen_to(CW_MODE_RANGE, false);
    pid_t child = cw_test_fork();
    if (child == 0) {
        expect(!begin());
        pid_t forked = cw_test_fork();
        if (forked == 0) {
            counterworks_inside_close();
            _exit(begin() ? 0 : 1);
        }
        int status = -1;
        expect(waitpid(forked, &status, 0) == forked && status == 0);
        counterworks_inside_close();
        _exit(0);
    }
    cr_expect_eq(serve(CW_MESSAGE_RANGES), 0);
    expect_end(child);
}

Test(inside, an_agent_that_is_not_there_is_told, .timeout = SOON)
{
    listen_to(CW_MODE_RANGE, false);
    fake_agent_close(&agent);
    const char *why = begin();
    cr_assert(why);
    cr_expect_str_eq(why, "the agent cannot be reached");
}
