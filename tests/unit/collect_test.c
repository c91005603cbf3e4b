/* Sessions of counterworks/collect.h with the agent and its simulated GPU. */
#define _GNU_SOURCE
#include <counterworks/collect.h>
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/child.h"

enum { SOON = 60, MOST = 1024 };

static char folder[] = "/tmp/collect_test.XXXXXX";
static struct counterworks_error error;
static struct counterworks_collect *session;

static void begin(void)
{
    cr_assert(mkdtemp(folder) && chdir(folder) == 0);
    setenv("COUNTERWORKS_AGENT", CW_CAPTURE_AGENT, 1);
    setenv("COUNTERWORKS_BACKEND", "sim", 1);
    cr_assert_eq(system(CW_METRIC_CONFIG " --chip GH100 -m smsp__inst_executed.sum -o plan.cwc"), 0);
}

static void end(void)
{
    cr_assert(chdir("/") == 0);
    char command[MOST];
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_assert_eq(system(command), 0);
}

TestSuite(collect, .init = begin, .fini = end, .timeout = SOON);

static enum counterworks_status open_with(enum counterworks_collect_kind kind, const char *plan, const char *replay,
                                          const char *argument)
{
    const char *const more[] = {argument};
    struct counterworks_collect_options options = COUNTERWORKS_COLLECT_OPTIONS;
    options.output = "run.cwd";
    options.plan = plan;
    options.replay = replay;
    options.arguments = more;
    options.argument_count = argument != NULL;
    return counterworks_collect_open(&session, kind, &options, &error);
}

/* The names of the capture's ranges, "a b c". */
static const char *names(void)
{
    static char text[MOST];
    struct counterworks_capture *capture;
    struct counterworks_capture_info info = {.size = sizeof info};
    struct counterworks_row row = {.size = sizeof row};
    text[0] = 0;
    cr_assert_eq(counterworks_capture_open(&capture, "run.cwd", &error), COUNTERWORKS_OK, "%s", error.message);
    counterworks_capture_describe(capture, &info);
    for (uint64_t i = 0; i < info.row_count; i++) {
        counterworks_capture_row(capture, i, &row);
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? " " : "", row.name);
    }
    counterworks_capture_close(capture);
    return text;
}

static void work(void)
{
    counterworks_collect_pretend("launch before");
    counterworks_collect_start(session);
    counterworks_collect_push(session, "step\nof two lines");
    counterworks_collect_pretend("launch gemm");
    counterworks_collect_pop(session);
    counterworks_collect_pretend("launch softmax");
    counterworks_collect_stop(session);
    counterworks_collect_pretend("launch behind");
}

static enum counterworks_status close_session(void)
{
    return counterworks_collect_close(session, NULL, NULL, &error);
}

Test(collect, one_session_after_another_has_what_is_between_start_and_stop)
{
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(open_with(COUNTERWORKS_COLLECT_KERNELS, "plan.cwc", NULL, NULL), COUNTERWORKS_OK, "%s",
                     error.message);
        work();
        cr_assert_eq(close_session(), COUNTERWORKS_OK, "%s", error.message);
        cr_expect_str_eq(names(), "gemm softmax");
    }
}

Test(collect, a_capture_may_stay_in_memory)
{
    struct counterworks_collect_options options = COUNTERWORKS_COLLECT_OPTIONS;
    struct counterworks_capture *capture;
    struct counterworks_capture_info info = {.size = sizeof info};
    void *bytes;
    size_t size;
    options.plan = "plan.cwc";
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(counterworks_collect_open(&session, COUNTERWORKS_COLLECT_KERNELS, &options, &error),
                     COUNTERWORKS_OK, "%s", error.message);
        work();
        cr_assert_eq(counterworks_collect_take(session, &bytes, &size, NULL, NULL, &error), COUNTERWORKS_OK, "%s",
                     error.message);
        cr_assert_eq(counterworks_capture_read(&capture, bytes, size, "memory", &error), COUNTERWORKS_OK, "%s",
                     error.message);
        counterworks_capture_describe(capture, &info);
        cr_expect(info.row_count == 2 && info.complete);
        counterworks_capture_close(capture);
        free(bytes);
    }
    cr_expect_neq(access("run.cwd", F_OK), 0);
    counterworks_collect_open(&session, COUNTERWORKS_COLLECT_KERNELS, &options, &error);
    cr_expect_eq(close_session(), COUNTERWORKS_INPUT, "nothing was launched");
}

/* As in a daemon. The agent has the standard descriptors as its own. */
Test(collect, a_capture_in_memory_needs_no_standard_input)
{
    struct counterworks_collect_options options = COUNTERWORKS_COLLECT_OPTIONS;
    void *bytes;
    size_t size;
    options.plan = "plan.cwc";
    close(STDIN_FILENO);
    cr_assert_eq(counterworks_collect_open(&session, COUNTERWORKS_COLLECT_KERNELS, &options, &error), COUNTERWORKS_OK,
                 "%s", error.message);
    work();
    cr_assert_eq(counterworks_collect_take(session, &bytes, &size, NULL, NULL, &error), COUNTERWORKS_OK, "%s",
                 error.message);
    cr_expect_gt(size, 100);
    free(bytes);
}

Test(collect, a_capture_that_went_elsewhere_is_not_in_memory)
{
    static const char *const elsewhere[] = {"-o", "run.cwd"};
    struct counterworks_collect_options options = COUNTERWORKS_COLLECT_OPTIONS;
    void *bytes;
    size_t size;
    options.plan = "plan.cwc";
    options.arguments = elsewhere;
    options.argument_count = 2;
    cr_assert_eq(counterworks_collect_open(&session, COUNTERWORKS_COLLECT_KERNELS, &options, &error), COUNTERWORKS_OK,
                 "%s", error.message);
    work();
    cr_expect_eq(counterworks_collect_take(session, &bytes, &size, NULL, NULL, &error), COUNTERWORKS_IO);
    cr_expect(strstr(error.message, "found no capture in memory") && !bytes && !size);
    cr_expect_str_eq(names(), "gemm softmax");
}

Test(collect, only_a_session_without_output_has_its_capture_in_memory)
{
    void *bytes;
    size_t size;
    cr_assert_eq(open_with(COUNTERWORKS_COLLECT_KERNELS, "plan.cwc", NULL, NULL), COUNTERWORKS_OK, "%s", error.message);
    work();
    cr_expect_eq(counterworks_collect_take(session, &bytes, &size, NULL, NULL, &error), COUNTERWORKS_USAGE);
    cr_expect(!bytes && !size);
    cr_expect_str_eq(names(), "gemm softmax");
}

Test(collect, the_name_of_the_file_is_no_pattern)
{
    const char *const paths[] = {"x.%p.cwd", "%r", "y%%z.cwd", "50%", "50%off/run.cwd"};
    struct counterworks_collect_options options = COUNTERWORKS_COLLECT_OPTIONS;
    cr_assert_eq(mkdir("50%off", 0700), 0);
    options.plan = "plan.cwc";
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        options.output = paths[i];
        cr_assert_eq(counterworks_collect_open(&session, COUNTERWORKS_COLLECT_KERNELS, &options, &error),
                     COUNTERWORKS_OK, "%s: %s", paths[i], error.message);
        work();
        cr_assert_eq(close_session(), COUNTERWORKS_OK, "%s: %s", paths[i], error.message);
        cr_expect_eq(access(paths[i], R_OK), 0, "%s", paths[i]);
    }
}

Test(collect, ranges_are_the_ones_that_are_pushed)
{
    cr_assert_eq(open_with(COUNTERWORKS_COLLECT_RANGES, "plan.cwc", NULL, NULL), COUNTERWORKS_OK, "%s", error.message);
    work();
    cr_assert_eq(close_session(), COUNTERWORKS_OK, "%s", error.message);
    cr_expect_str_eq(names(), "step\\nof two lines");
}

Test(collect, options_of_the_command_go_with_it)
{
    cr_assert_eq(open_with(COUNTERWORKS_COLLECT_KERNELS, "plan.cwc", NULL, "--kernel=soft"), COUNTERWORKS_OK, "%s",
                 error.message);
    work();
    cr_assert_eq(close_session(), COUNTERWORKS_OK, "%s", error.message);
    cr_expect_str_eq(names(), "softmax");
}

/* ---- errors ----------------------------------------------------------------------------------------------------- */

static void expect_refusal(enum counterworks_collect_kind kind, const char *plan, const char *replay,
                           enum counterworks_status status, const char *text)
{
    cr_expect_eq(open_with(kind, plan, replay, NULL), status, "%d: %s", error.status, error.message);
    cr_expect_null(session);
    cr_expect(strstr(error.message, text) == error.message, "found: %s", error.message);
}

Test(collect, a_refusal_is_the_agents_line)
{
    expect_refusal(COUNTERWORKS_COLLECT_KERNELS, "none.cwc", NULL, COUNTERWORKS_IO, "none.cwc: cannot open");
    expect_refusal(COUNTERWORKS_COLLECT_SAMPLES, "plan.cwc", NULL, COUNTERWORKS_USAGE, "found --profiler-api");
    expect_refusal(COUNTERWORKS_COLLECT_KERNELS, "plan.cwc", "application", COUNTERWORKS_USAGE,
                   "found --parent with --replay application");
    expect_refusal(COUNTERWORKS_COLLECT_KERNELS, NULL, NULL, COUNTERWORKS_USAGE, "found no plan");
    expect_refusal(COUNTERWORKS_COLLECT_TRACE, "plan.cwc", NULL, COUNTERWORKS_USAGE, "found a plan");
    expect_refusal((enum counterworks_collect_kind)17, NULL, NULL, COUNTERWORKS_USAGE, "found kind 17");
    setenv("COUNTERWORKS_AGENT", "/nowhere/capture-agent", 1);
    expect_refusal(COUNTERWORKS_COLLECT_TRACE, NULL, NULL, COUNTERWORKS_UNSUPPORTED,
                   "cannot run /nowhere/capture-agent");
    setenv("CUDA_INJECTION64_PATH", "/other/tool.so", 1);
    expect_refusal(COUNTERWORKS_COLLECT_TRACE, NULL, NULL, COUNTERWORKS_UNSUPPORTED, "CUDA_INJECTION64_PATH is set");
}

Test(collect, a_session_at_a_time_and_nothing_in_it)
{
    cr_assert_eq(open_with(COUNTERWORKS_COLLECT_KERNELS, "plan.cwc", NULL, NULL), COUNTERWORKS_OK, "%s", error.message);
    struct counterworks_collect *first = session;
    expect_refusal(COUNTERWORKS_COLLECT_TRACE, NULL, NULL, COUNTERWORKS_USAGE, "found an open session");
    session = first;
    counterworks_collect_start(session);
    counterworks_collect_pretend("sync");
    cr_expect_eq(close_session(), COUNTERWORKS_INPUT);
    cr_expect(strstr(error.message, "launched nothing"), "%s", error.message);
}

Test(collect, a_program_without_a_session)
{
    int pass = 0, runs = 0;
    session = NULL;
    work();
    counterworks_collect_flush(session);
    while (counterworks_collect_pass(session, "step", &pass))
        runs++;
    cr_expect_eq(runs, 1);
    cr_expect_eq(close_session(), COUNTERWORKS_OK);
}

/* ---- ends ------------------------------------------------------------------------------------------------------- */

static char noticed[MOST];

static void notice(void *user, const char *line)
{
    cr_expect_eq(user, noticed);
    snprintf(noticed, sizeof noticed, "%s", line);
}

Test(collect, what_the_agent_prints_is_handed_over)
{
    cr_assert_eq(open_with(COUNTERWORKS_COLLECT_TRACE, NULL, NULL, NULL), COUNTERWORKS_OK, "%s", error.message);
    work();
    cr_assert_eq(counterworks_collect_close(session, notice, noticed, &error), COUNTERWORKS_OK, "%s", error.message);
    cr_expect(strstr(noticed, "recorded kernel 2") == noticed, "%s", noticed);
}

Test(collect, nobody_has_to_wait_for_children)
{
    signal(SIGCHLD, SIG_IGN);
    cr_assert_eq(open_with(COUNTERWORKS_COLLECT_KERNELS, "plan.cwc", NULL, NULL), COUNTERWORKS_OK, "%s", error.message);
    work();
    cr_assert_eq(close_session(), COUNTERWORKS_OK, "%s", error.message);
    cr_expect_str_eq(names(), "gemm softmax");
    signal(SIGCHLD, SIG_DFL);
}

/* The agent sees the end of a program that does not close its session, though a child of its holds the socket. Nobody
 * knows how such a program ended, so its capture has no end. */
Test(collect, a_program_may_end_without_a_close)
{
    int ends[2];
    char byte;
    cr_assert(pipe(ends) == 0 && prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
    const pid_t program = cw_test_fork();
    if (program == 0) {
        close(ends[1]);
        if (open_with(COUNTERWORKS_COLLECT_KERNELS, "plan.cwc", NULL, NULL) != COUNTERWORKS_OK)
            _exit(1);
        work();
        const pid_t child = fork();
        if (child == 0) {
            work(); /* the session is its parent's */
            const bool refused = close_session() == COUNTERWORKS_USAGE;
            _exit(!refused || read(ends[0], &byte, 1)); /* it lives until the test is over */
        }
        _exit(child < 0);
    }
    close(ends[0]);
    int status = -1;
    cr_assert(waitpid(program, &status, 0) == program && status == 0);
    struct counterworks_capture *capture;
    struct counterworks_capture_info info = {.size = sizeof info};
    cr_assert_gt(waitpid(-1, NULL, 0), 0, "the agent is this process's child now, and ends first");
    cr_assert_eq(counterworks_capture_open(&capture, "run.cwd", NULL), COUNTERWORKS_OK);
    counterworks_capture_describe(capture, &info);
    counterworks_capture_close(capture);
    cr_expect(!info.complete);
    cr_expect_str_eq(names(), "gemm softmax");
    close(ends[1]);
}

static void *push_and_pop(void *user)
{
    for (int i = 0; i < 50; i++) {
        counterworks_collect_push(session, "step");
        counterworks_collect_pop(session);
        counterworks_collect_flush(session);
    }
    return user;
}

Test(collect, threads_may_call_at_the_same_time)
{
    pthread_t threads[4];
    cr_assert_eq(open_with(COUNTERWORKS_COLLECT_TRACE, NULL, NULL, NULL), COUNTERWORKS_OK, "%s", error.message);
    counterworks_collect_start(session);
    for (int i = 0; i < 4; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, push_and_pop, NULL), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    cr_assert_eq(counterworks_collect_close(session, notice, noticed, &error), COUNTERWORKS_OK, "%s", error.message);
    cr_expect(strstr(noticed, "nvtx_range 200"), "%s", noticed);
}

/* ---- launches that the program sees ------------------------------------------------------------------------------ */

static void see(void *user, const struct counterworks_collect_launch *launch)
{
    char *seen = user;
    snprintf(seen + strlen(seen), MOST - strlen(seen), "%s%s ", launch->kernel, launch->returned ? "." : "");
    if (launch->returned)
        counterworks_collect_pop(session);
    else
        counterworks_collect_push(session, "around");
}

Test(collect, a_function_of_the_program_sees_launches_and_pushes_ranges)
{
    char seen[MOST] = "";
    struct counterworks_collect_options options = COUNTERWORKS_COLLECT_OPTIONS;
    options.output = "run.cwd";
    options.plan = "plan.cwc";
    options.on_launch = see;
    options.user = seen;
    cr_assert_eq(counterworks_collect_open(&session, COUNTERWORKS_COLLECT_RANGES, &options, &error), COUNTERWORKS_OK,
                 "%s", error.message);
    work();
    counterworks_collect_pretend("sync");
    cr_assert_eq(close_session(), COUNTERWORKS_OK, "%s", error.message);
    cr_expect_str_eq(seen, "before before. gemm gemm. softmax softmax. behind behind. ");
    cr_expect_str_eq(names(), "step\\nof two lines around");
}

Test(collect, options_of_an_older_header_have_no_such_function)
{
    struct counterworks_collect_options options = COUNTERWORKS_COLLECT_OPTIONS;
    options.size = offsetof(struct counterworks_collect_options, on_launch);
    options.output = "run.cwd";
    options.plan = "plan.cwc";
    memset(&options.on_launch, 0xff, sizeof options.on_launch);
    cr_assert_eq(counterworks_collect_open(&session, COUNTERWORKS_COLLECT_KERNELS, &options, &error), COUNTERWORKS_OK);
    work();
    cr_expect_eq(close_session(), COUNTERWORKS_OK);
}

/* ---- checkpoints, of a false GPU --------------------------------------------------------------------------------- */

static void *fake(const char *name)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL), *found = library ? dlsym(library, name) : NULL;
    cr_assert(found, "%s of the false GPU", name);
    return found;
}

static void begin_fake(bool context)
{
    setenv("CW_CUPTI", CW_FAKE_GPU "/libcupti.so.13", 1);
    *(void **)fake("fake_context") = context ? &session : NULL;
}

Test(collect, a_checkpoint_puts_memory_back_any_number_of_times)
{
    begin_fake(true);
    int *memory = fake("fake_memory");
    struct counterworks_checkpoint *saved = NULL;
    *memory = 3;
    cr_assert_eq(counterworks_checkpoint_save(&saved, NULL, &error), COUNTERWORKS_OK, "%s", error.message);
    for (int i = 0; i < 2; i++) {
        *memory = 9;
        cr_expect_eq(counterworks_checkpoint_restore(saved, &error), COUNTERWORKS_OK);
        cr_expect_eq(*memory, 3);
    }
    *memory = 5;
    cr_expect_eq(counterworks_checkpoint_save(&saved, NULL, &error), COUNTERWORKS_OK); /* again */
    *memory = 9;
    cr_expect_eq(counterworks_checkpoint_restore(saved, &error), COUNTERWORKS_OK);
    cr_expect_eq(*memory, 5);
    cr_expect_eq(*(int *)fake("fake_waits"), 5, "each call waits for the context");
    *(void **)fake("fake_context") = NULL; /* another thread has none, and the checkpoint its own */
    cr_expect_eq(counterworks_checkpoint_restore(saved, &error), COUNTERWORKS_OK);
    *(int *)fake("fake_failed") = 700;
    cr_expect_eq(counterworks_checkpoint_restore(saved, &error), COUNTERWORKS_UNSUPPORTED);
    cr_expect_str_eq(error.message, "found failed work of the context (CUDA's error 700), expected none");
    cr_expect_null(*(void **)fake("fake_pushed"));
    counterworks_checkpoint_free(saved);
    cr_expect_eq(*(int *)fake("fake_saved"), 0);
    counterworks_checkpoint_free(NULL);
}

Test(collect, options_of_a_checkpoint_reach_the_library)
{
    begin_fake(true);
    struct counterworks_checkpoint_options options = COUNTERWORKS_CHECKPOINT_OPTIONS;
    struct counterworks_checkpoint *saved = NULL;
    struct {
        size_t size;
        void *context;
        size_t reserve_device_mb, reserve_host_mb;
        uint8_t overwrite, optimizations;
        void *own;
    } *given = fake("fake_handle");
    options.reserve_device = 512;
    options.reserve_host = 1024;
    options.same_changes = true;
    cr_assert_eq(counterworks_checkpoint_save(&saved, &options, &error), COUNTERWORKS_OK, "%s", error.message);
    cr_expect_eq(given->size, sizeof *given);
    cr_expect_eq(given->context, (void *)&session);
    cr_expect(given->reserve_device_mb == 512 && given->reserve_host_mb == 1024 && given->optimizations == 1);
    counterworks_checkpoint_free(saved);
}

Test(collect, a_checkpoint_says_why_it_cannot_be)
{
    struct counterworks_checkpoint_options options = COUNTERWORKS_CHECKPOINT_OPTIONS;
    struct counterworks_checkpoint *saved = NULL;
    begin_fake(false);
    cr_expect_eq(counterworks_checkpoint_save(&saved, NULL, &error), COUNTERWORKS_UNSUPPORTED);
    cr_expect_str_eq(error.message, "found no current context of CUDA in this thread, expected one");
    begin_fake(true);
    options.reserve_device = options.reserve_host = COUNTERWORKS_CHECKPOINT_ALL;
    cr_expect_eq(counterworks_checkpoint_save(&saved, &options, &error), COUNTERWORKS_NOMEM);
    cr_expect_str_eq(error.message, "cuptiCheckpointSave: CUPTI_ERROR_OUT_OF_MEMORY (8)");
    cr_expect_eq(counterworks_checkpoint_restore(NULL, &error), COUNTERWORKS_USAGE);
    options.size = 3;
    cr_expect_eq(counterworks_checkpoint_save(&saved, &options, NULL), COUNTERWORKS_USAGE);
    cr_expect_null(saved);
}
