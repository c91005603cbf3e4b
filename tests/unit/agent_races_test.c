/* Threads of a program that do all at once what the library looks at, in each kind of capture, while captures begin and
 * end. `./run threads` runs it with ThreadSanitizer, which finds what two of them do without a lock. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/common/attach_socket.h"
#include "agent/inject/inside.h"
#include "agent/inject/memory/checkpoint.h"
#include "agent/inject/modes/trace_nvtx.h"
#include "include/counterworks/collect.h"
#include "tests/support/fake_cupti.h"

enum { SOON = 300, LAUNCHERS = 3, ROUNDS = 300, SESSIONS = 8, AGENTS = 4 };

static struct fake_agent agent;
static atomic_bool stops;
static atomic_uint numbers, launched, messages;

/* CUPTI's own library of checkpoints may be there, and would look for a GPU. */
static CUptiResult no_checkpoint(struct cw_checkpoint *checkpoint)
{
    return checkpoint ? CUPTI_ERROR_UNKNOWN : CUPTI_ERROR_INVALID_PARAMETER;
}

void __wrap_cw_checkpoint_load(void);
void __wrap_cw_checkpoint_load(void)
{
    cw_inject_acquire();
    *cw_checkpoint_library = (struct cw_checkpoint_library){no_checkpoint, no_checkpoint, no_checkpoint};
    cw_inject_release();
}

/* ---- the program ------------------------------------------------------------------------------------------------- */

static void launch(void)
{
    const uint32_t number = ++numbers;
    fake_cupti_launch_numbered(CUPTI_API_ENTER, number);
    fake_cupti_launch_numbered(CUPTI_API_EXIT, number);
    launched++;
    usleep(100); /* or the fake has more records than anybody can take */
}

static void open_ranges(void)
{
    const struct cw_trace_label label = {.domain = "loader", .name = "next", .step = "4"};
    counterworks_range_push("step");
    cw_trace_nvtx_open(1, 5, &label);
    cw_trace_nvtx_mark(1, &label);
    cw_trace_nvtx_name("stream", 7, 1, "copies");
    cw_trace_nvtx_category(1, 2, "input");
    cw_trace_nvtx_close(1, 5);
    counterworks_range_pop();
}

static void call_driver(void)
{
    CUstream stream = NULL;
    const cuStreamBeginCapture_v2_params capture = {.hStream = stream};
    const cuFuncSetAttribute_params attribute = {.hfunc = (CUfunction)0x100,
                                                 .attrib = CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT};
    const cuStreamCreate_params made = {.phStream = &stream};
    fake_cupti_call(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, &capture);
    fake_cupti_call(CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, &capture);
    fake_cupti_call(CUPTI_DRIVER_TRACE_CBID_cuFuncSetAttribute, &attribute);
    fake_cupti_call(CUPTI_DRIVER_TRACE_CBID_cuStreamCreate, &made);
    fake_cupti_call(CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize, &stream);
    fake_cupti_call(CUPTI_DRIVER_TRACE_CBID_cuStreamDestroy_v2, &stream);
    fake_cupti_call(CUPTI_DRIVER_TRACE_CBID_cuEventElapsedTime, NULL);
    fake_cupti_call(CUPTI_DRIVER_TRACE_CBID_cuProfilerStart, NULL);
    fake_cupti_tell_state(CUPTI_CBID_STATE_WARNING, CUPTI_ERROR_UNKNOWN, "nothing");
}

static void change_code(void)
{
    static const char code[64];
    static atomic_uint number;
    CUpti_ModuleResourceData module = {.moduleId = ++number, .cubinSize = sizeof code, .pCubin = code};
    CUpti_GraphData graph = {.graph = (CUgraph)0x20, .node = (CUgraphNode)0x30};
    fake_cupti_change(FAKE_CUPTI_CONTEXT, CUPTI_CBID_RESOURCE_MODULE_LOADED, &module);
    fake_cupti_change(FAKE_CUPTI_CONTEXT, CUPTI_CBID_RESOURCE_GRAPH_CREATED, &graph);
    fake_cupti_change(FAKE_CUPTI_CONTEXT, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, &graph);
    fake_cupti_change(FAKE_CUPTI_CONTEXT, CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING, &module);
}

/* Of which nothing is launched. */
static void change_contexts(void)
{
    usleep(1000);
    if (fake_cupti.mode == CW_MODE_PC || fake_cupti.mode == CW_MODE_SASS) /* which the fake has for one of them */
        return;
    fake_cupti_change(FAKE_CUPTI_SECOND, CUPTI_CBID_RESOURCE_CONTEXT_CREATED, NULL);
    usleep(1000);
    fake_cupti_change(FAKE_CUPTI_SECOND, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, NULL);
}

static void (*const actions[])(void) = {launch,      launch,      launch,      open_ranges,
                                        open_ranges, call_driver, change_code, change_contexts};
enum { THREADS = sizeof actions / sizeof *actions };
static pthread_t threads[THREADS];

static void *repeat(void *action)
{
    while (!stops)
        (*(void (**)(void))action)();
    return NULL;
}

static void begin_threads(void)
{
    for (int i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, repeat, (void *)&actions[i]), 0);
}

static void wait_for(const atomic_uint *count, unsigned more)
{
    const unsigned before = *count;
    while (*count - before < more)
        usleep(1000);
}

static void end_threads(void)
{
    stops = true;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* ---- the agent --------------------------------------------------------------------------------------------------- */

static bool chosen; /* only what is in ranges */

/* A trace of all there is, or windows for PM sampling beside one. */
static void answer(int fd)
{
    const struct cw_filter_options filter = {.range = chosen ? "step" : NULL, .launch_count = UINT64_MAX};
    struct cw_writer setup;
    if (fake_cupti.mode != CW_MODE_TRACE && fake_cupti.mode != CW_MODE_LAUNCHES) {
        fake_agent_answer(fd);
        return;
    }
    cw_writer_init(&setup);
    cw_write_u32(&setup, fake_cupti.mode);
    cw_write_u64(&setup, UINT64_MAX);
    cw_write_u32(&setup, CW_TRACE_GRAPH_NODES);
    cw_write_u64(&setup, 0);
    cw_write_u64(&setup, 2000000);
    cw_write_u64(&setup, 1 << 20);
    cw_write_u32(&setup, 4);
    cw_trace_window_write(&setup, &fake_cupti.when);
    cw_filter_write(&setup, &filter);
    cw_write_string(&setup, "");
    if (fake_cupti.mode == CW_MODE_LAUNCHES) {
        cw_filter_write(&setup, &filter);
        cw_write_u64(&setup, 0);
        cw_trace_window_write(&setup, &fake_cupti.when);
    }
    cr_expect(cw_message_send(fd, CW_MESSAGE_SETUP, setup.data, setup.size));
    cw_writer_free(&setup);
}

static void serve(int fd)
{
    enum cw_message_type type;
    uint8_t *payload;
    size_t size;
    while (cw_message_receive(fd, &type, &payload, &size)) {
        messages++;
        if (type == CW_MESSAGE_HELLO)
            answer(fd);
        if (type == CW_MESSAGE_RANGES || type == CW_MESSAGE_TRACE_PAGE || type == CW_MESSAGE_WINDOW)
            cw_message_send(fd, CW_MESSAGE_TAKEN, NULL, 0);
        free(payload);
    }
    close(fd);
}

static void *serve_all(void *unused)
{
    for (int fd; (fd = accept4(agent.listener, NULL, NULL, SOCK_CLOEXEC)) >= 0;)
        serve(fd);
    return unused;
}

/* ---- from the start of the program to its end ---------------------------------------------------------------------
 */

/* The program ends while its threads go on, as many do. */
static void run_whole(enum cw_mode mode)
{
    pthread_t server;
    fake_cupti.mode = mode;
    fake_cupti.traces = true;
    fake_agent_listen(&agent);
    cr_assert_eq(pthread_create(&server, NULL, serve_all, NULL), 0);
    InitializeInjection();
    fake_cupti_create_context();
    begin_threads();
    wait_for(&launched, ROUNDS);
    fake_agent_close(&agent);
    exit(0);
}

Test(races, ranges, .timeout = SOON)
{
    run_whole(CW_MODE_RANGE);
}

Test(races, batches, .timeout = SOON)
{
    run_whole(CW_MODE_BATCH);
}

Test(races, passes_that_take_turns, .timeout = SOON)
{
    fake_cupti.parts = 3;
    run_whole(CW_MODE_MULTIPLEX);
}

Test(races, samples, .timeout = SOON)
{
    run_whole(CW_MODE_PC);
}

Test(races, counts_of_instructions, .timeout = SOON)
{
    run_whole(CW_MODE_SASS);
}

Test(races, traces, .timeout = SOON)
{
    run_whole(CW_MODE_TRACE);
}

Test(races, traces_in_windows, .timeout = SOON)
{
    fake_cupti.when = (struct cw_trace_window_options){.length_ns = 3000000, .every_ns = 6000000};
    run_whole(CW_MODE_TRACE);
}

Test(races, traces_of_ranges, .timeout = SOON)
{
    chosen = true;
    run_whole(CW_MODE_TRACE);
}

Test(races, windows_for_ranges, .timeout = SOON)
{
    chosen = true;
    run_whole(CW_MODE_LAUNCHES);
}

Test(races, ranges_at_times, .timeout = SOON)
{
    fake_cupti.when = (struct cw_trace_window_options){.length_ns = 3000000, .every_ns = 6000000};
    run_whole(CW_MODE_RANGE);
}

Test(races, samples_in_periods, .timeout = SOON)
{
    fake_cupti.when.periods = CW_EVERY_PERIOD;
    run_whole(CW_MODE_PC);
}

/* ---- sessions ---------------------------------------------------------------------------------------------------- */

static void see(void *user, const struct counterworks_collect_launch *seen)
{
    atomic_uint *calls = user;
    *calls += seen->returned;
}

static void run_sessions(enum cw_mode mode)
{
    static atomic_uint calls;
    char environment[256], counters[64];
    pthread_t server;
    fake_cupti.mode = mode;
    fake_cupti.traces = true;
    fake_cupti.current = FAKE_CUPTI_CONTEXT;
    fake_agent_listen(&agent);
    unsetenv(CW_AGENT_SOCKET_VARIABLE);
    snprintf(counters, sizeof counters, "%s/%s", agent.folder, CW_AGENT_COUNTERS_FILE);
    close(open(counters, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    cr_assert_eq(pthread_create(&server, NULL, serve_all, NULL), 0);
    memset(environment, 0, sizeof environment);
    snprintf(environment, sizeof environment - 1, "%s=%s", CW_AGENT_SOCKET_VARIABLE, agent.address.sun_path);
    begin_threads();
    for (int i = 0; i < SESSIONS; i++) {
        const char *why = counterworks_inside_open(environment, see, &calls);
        cr_assert(!why, "session %d: %s", i, why);
        counterworks_inside_control(true);
        wait_for(&launched, ROUNDS / SESSIONS);
        counterworks_inside_flush();
        counterworks_inside_control(false);
        counterworks_inside_close();
    }
    end_threads();
    shutdown(agent.listener, SHUT_RDWR);
    pthread_join(server, NULL);
    unlink(counters);
    fake_agent_close(&agent);
    cr_expect_gt(calls, 0);
}

Test(races, sessions_of_ranges, .timeout = SOON)
{
    run_sessions(CW_MODE_RANGE);
}

Test(races, sessions_where_passes_take_turns, .timeout = SOON)
{
    fake_cupti.parts = 3;
    run_sessions(CW_MODE_MULTIPLEX);
}

Test(races, sessions_of_samples, .timeout = SOON)
{
    run_sessions(CW_MODE_PC);
}

Test(races, sessions_of_counts, .timeout = SOON)
{
    run_sessions(CW_MODE_SASS);
}

Test(races, sessions_of_traces, .timeout = SOON)
{
    run_sessions(CW_MODE_TRACE);
}

Test(races, sessions_of_traces_of_ranges, .timeout = SOON)
{
    chosen = true;
    run_sessions(CW_MODE_TRACE);
}

Test(races, sessions_of_traces_between_calls_of_the_profiler, .timeout = SOON)
{
    fake_cupti.when.profiler = true;
    run_sessions(CW_MODE_TRACE);
}

/* ---- agents that come and go ------------------------------------------------------------------------------------- */

static int attach(void)
{
    struct sockaddr_un address;
    const socklen_t size = cw_attach_address(&address, getpid());
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    while (connect(fd, (const struct sockaddr *)&address, size) != 0)
        usleep(1000);
    struct cw_writer path;
    cw_writer_init(&path);
    cw_write_string(&path, "");
    cr_assert(cw_message_send(fd, CW_MESSAGE_ATTACH, path.data, path.size));
    cw_writer_free(&path);
    return fd;
}

static void *serve_one(void *fd)
{
    serve(*(int *)fd);
    return NULL;
}

Test(races, agents_come_and_go, .timeout = SOON)
{
    fake_cupti.mode = CW_MODE_TRACE;
    fake_cupti.traces = true;
    unsetenv(CW_AGENT_SOCKET_VARIABLE);
    InitializeInjection();
    begin_threads();
    for (int i = 0; i < AGENTS; i++) {
        pthread_t server;
        int fd = attach();
        cr_assert_eq(pthread_create(&server, NULL, serve_one, &fd), 0);
        wait_for(&messages, 5);
        cr_expect(cw_message_send(fd, CW_MESSAGE_DETACH, NULL, 0));
        pthread_join(server, NULL);
    }
    end_threads();
}
