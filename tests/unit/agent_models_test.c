/* What runtimes of OpenMP and OpenACC tell the injection library becomes rows of a trace, as the agent writes them:
 * first of runtimes that are played here, then of real ones, where they are found. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/common/trace_window.h"
#include "agent/inject/modes/trace.h"
#include "agent/output/trace_output.h"
#include "agent/session/session.h"
#include "base/file.h"
#include "tests/support/child.h"
#include "tests/support/fake_cupti.h"
#include "tests/support/trace_fields.h"

enum { SOON = 120 };
#define MODELS (CW_TRACE_BIT(CW_TRACE_OPENMP) | CW_TRACE_BIT(CW_TRACE_OPENACC))

/* ---- the agent -------------------------------------------------------------------------------------------------- */

static struct cw_session session;
static struct cw_trace_output out;
static struct cw_trace_page *page;
static struct cw_trace_window_options windows;
static struct cw_filter_options filter = {.launch_count = UINT64_MAX};
static struct trace_fields fields;
static struct cw_error err;

static enum cw_status take(void *user, const struct cw_process *p, enum cw_message_type type, struct cw_reader *in,
                           struct cw_error *e)
{
    uint32_t process;
    (void)user;
    if (type != CW_MESSAGE_TRACE_PAGE)
        return cw_trace_output_take_chunks(&out, 0, in, e);
    page = mmap(NULL, sizeof *page, PROT_READ, MAP_SHARED, p->message.memory, 0);
    cr_assert(page != MAP_FAILED);
    return cw_trace_output_add_process(&out, &(struct cw_trace_process){.pid = p->pid}, &process, e);
}

static void write_setup(struct cw_writer *setup)
{
    cw_write_u32(setup, CW_MODE_TRACE);
    cw_write_u64(setup, CW_TRACE_BIT(CW_TRACE_KERNEL) | MODELS);
    cw_write_u32(setup, CW_TRACE_GRAPH_NODES);
    cw_write_u64(setup, 0);
    cw_write_u64(setup, 1000000);
    cw_write_u64(setup, 1 << 20);
    cw_write_u32(setup, 4);
    cw_trace_window_write(setup, &windows);
    cw_filter_write(setup, &filter);
    cw_write_string(setup, "");
}

static void begin_here(void (*program)(void))
{
    fake_cupti.traces = true;
    program();
    exit(0);
}

/* The program is a function of this one or one of its own; `wanted`: the agent says that it wants these models. */
static void trace(void (*function)(void), const char *program, bool wanted)
{
    struct fake_agent agent;
    char path[] = "/tmp/models_test.XXXXXX", wish[64];
    close(mkstemp(path));
    fake_agent_listen(&agent);
    cw_session_init(&session);
    cr_assert_eq(cw_trace_output_open(&out, path, true, "GH100", NULL, &err), CW_OK);
    write_setup(&session.setup);
    session.chip = "GH100";
    session.take = take;
    session.listener = agent.listener;
    snprintf(wish, sizeof wish, "%llx 1", (unsigned long long)MODELS);
    session.program.pid = cw_test_fork();
    if (session.program.pid == 0) {
        close(agent.listener);
        alarm(SOON / 2);
        if (wanted)
            setenv(CW_AGENT_TRACE_VARIABLE, wish, 1);
        if (function)
            begin_here(function);
        setenv("CUDA_INJECTION64_PATH", CW_FAKE_INJECT, 1);
        setenv("OMP_TOOL_LIBRARIES", CW_FAKE_INJECT, 1);
        setenv("ACC_PROFLIB", CW_FAKE_INJECT, 1);
        execl(program, program, NULL);
        _exit(127);
    }
    cw_session_serve(&session);
    cr_expect(session.program.how == CW_END_EXITED && session.program.code == 0, "ended by %d, %u", session.program.how,
              session.program.code);
    cr_assert_eq(session.trouble.code, CW_OK, "%s", session.trouble.message);
    cr_assert_eq(cw_trace_output_end(&out, &session.program, &err), CW_OK, "%s", err.message);
    cw_trace_output_close(&out);
    cr_assert_eq(trace_fields_add(&fields, path, &err), CW_OK, "%s", err.message);
    unlink(path);
    fake_agent_close(&agent);
}

static void make_context(void)
{
    InitializeInjection();
    fake_cupti_create_context();
}

/* ---- a runtime of OpenMP ---------------------------------------------------------------------------------------- */

ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime);

static ompt_callback_t callbacks[64];
static ompt_data_t thread_data;

static ompt_set_result_t set_callback(ompt_callbacks_t event, ompt_callback_t callback)
{
    callbacks[event] = callback;
    return ompt_set_always;
}

static ompt_data_t *get_thread_data(void)
{
    return &thread_data;
}

static ompt_interface_fn_t find(const char *name)
{
    return strcmp(name, "ompt_set_callback") == 0      ? (ompt_interface_fn_t)set_callback
           : strcmp(name, "ompt_get_thread_data") == 0 ? (ompt_interface_fn_t)get_thread_data
                                                       : NULL;
}

static bool start_runtime(void)
{
    ompt_start_tool_result_t *tool = ompt_start_tool(201811, "played");
    return tool && tool->initialize(find, 0, &tool->tool_data);
}

typedef ompt_callback_sync_region_t ompt_callback_sync_region_wait_t;
#define TELL(event, ...) ((event##_t)callbacks[event])(__VA_ARGS__)

static void run_region(int threads)
{
    ompt_data_t parallel = {0}, implicit = {0}, explicit = {0};
    TELL(ompt_callback_parallel_begin, NULL, NULL, &parallel, (unsigned)threads + 1, 0, NULL);
    TELL(ompt_callback_implicit_task, ompt_scope_begin, &parallel, &implicit, (unsigned)threads, 0, ompt_task_implicit);
    TELL(ompt_callback_work, ompt_work_loop, ompt_scope_begin, &parallel, &implicit, 1000, NULL);
    TELL(ompt_callback_work, ompt_work_loop, ompt_scope_end, &parallel, &implicit, 1000, NULL);
    TELL(ompt_callback_task_create, &implicit, NULL, &explicit, ompt_task_explicit, 0, NULL);
    TELL(ompt_callback_sync_region_wait, ompt_sync_region_taskwait, ompt_scope_begin, &parallel, &implicit, NULL);
    TELL(ompt_callback_task_schedule, &implicit, ompt_task_switch, &explicit);
    TELL(ompt_callback_task_schedule, &explicit, ompt_task_complete, &implicit);
    TELL(ompt_callback_sync_region_wait, ompt_sync_region_taskwait, ompt_scope_end, &parallel, &implicit, NULL);
    TELL(ompt_callback_implicit_task, ompt_scope_end, NULL, &implicit, 0, 0, ompt_task_implicit);
    TELL(ompt_callback_parallel_end, &parallel, NULL, 0, NULL);
}

/* Before CUDA begins, and behind it; a thread that does not end does so with the trace. */
static void play_openmp(void)
{
    if (!start_runtime())
        abort();
    TELL(ompt_callback_thread_begin, ompt_thread_initial, &thread_data);
    run_region(3);
    make_context();
    run_region(3);
}

Test(models, a_region_of_openmp, .timeout = SOON)
{
    trace(play_openmp, NULL, true);
    const uint64_t *filled = fields.filled[CW_TRACE_OPENMP];
    cr_expect_eq(fields.rows[CW_TRACE_OPENMP], 2 * 5 + 1, "%llu", (unsigned long long)fields.rows[CW_TRACE_OPENMP]);
    cr_expect_eq(filled[CW_FIELD_START], 11);
    cr_expect_eq(filled[CW_FIELD_END], 11);
    cr_expect_eq(filled[CW_FIELD_TYPE], 11);
    cr_expect_eq(filled[CW_FIELD_THREAD], 11);
    cr_expect_eq(filled[CW_FIELD_COUNT], 4, "of regions and loops");
}

/* Deeper than is followed: what is beyond is lost, and the rest is right. */
static void play_depth(void)
{
    static ompt_data_t regions[2 * CW_OPENMP_MOST_OPEN];
    enum { DEPTH = sizeof regions / sizeof *regions };
    if (!start_runtime())
        abort();
    make_context();
    TELL(ompt_callback_thread_begin, ompt_thread_initial, &thread_data);
    for (int i = 0; i < DEPTH; i++)
        TELL(ompt_callback_parallel_begin, NULL, NULL, &regions[i], 1, 0, NULL);
    for (int i = DEPTH; i-- > 0;)
        TELL(ompt_callback_parallel_end, &regions[i], NULL, 0, NULL);
    TELL(ompt_callback_parallel_end, &regions[0], NULL, 0, NULL); /* of nothing */
    TELL(ompt_callback_thread_end, &thread_data);
    TELL(ompt_callback_parallel_begin, NULL, NULL, &regions[0], 1, 0, NULL);
    TELL(ompt_callback_parallel_end, &regions[0], NULL, 0, NULL);
}

Test(models, what_is_nested_too_deeply_is_lost, .timeout = SOON)
{
    trace(play_depth, NULL, true);
    cr_expect_eq(fields.rows[CW_TRACE_OPENMP], CW_OPENMP_MOST_OPEN + 1);
    cr_expect_eq(page->lost[CW_TRACE_OPENMP], CW_OPENMP_MOST_OPEN);
}

/* Of regions outside of a window nothing is kept. */
static void play_window(void)
{
    if (!start_runtime())
        abort();
    run_region(2);
    make_context();
    TELL(ompt_callback_thread_begin, ompt_thread_initial, &thread_data);
    run_region(2);
    counterworks_range_push("step");
    run_region(2);
    counterworks_range_pop();
    run_region(2);
    TELL(ompt_callback_thread_end, &thread_data);
}

Test(models, only_in_windows, .timeout = SOON)
{
    filter.range = "step";
    trace(play_window, NULL, true);
    cr_expect_eq(fields.rows[CW_TRACE_OPENMP], 5);
    cr_expect_eq(fields.filled[CW_TRACE_WINDOW][CW_FIELD_NAME], 1);
}

static void play_unwanted(void)
{
    if (ompt_start_tool(201811, "played"))
        abort();
    make_context();
}

Test(models, other_agents_leave_openmp_alone, .timeout = SOON)
{
    trace(play_unwanted, NULL, false);
    cr_expect_eq(fields.rows[CW_TRACE_OPENMP], 0);
}

/* ---- a runtime of OpenACC --------------------------------------------------------------------------------------- */

struct about { /* as the standard has them */
    int event, bytes, version, device_type, device, thread;
    long queue, own_queue;
    const char *file, *function;
    int line, end_line, function_line, function_end_line;
};
struct event {
    int event, bytes, construct, implicit;
    void *of_tool;
    const char *name;
    size_t size;
};
struct device {
    int api, bytes, type, vendor;
    const void *device, *context, *queue;
};
typedef void acc_callback(const struct about *about, struct event *event, const struct device *device);
void acc_register_library(void (*add)(int, acc_callback *, int), void *remove, void *find);

static acc_callback *acc[32];

static void add_callback(int event, acc_callback *callback, int how)
{
    if (how == 0)
        acc[event] = callback;
}

static void tell_acc(int event, struct event *about_event, int api)
{
    const struct about about = {.event = event, .file = "saxpy.c", .line = 12};
    const struct device device = {.api = api};
    about_event->event = event;
    acc[event](&about, about_event, &device);
}

static void play_openacc(void)
{
    struct event construct = {0}, launch = {.name = "saxpy$_omp_fn$0"}, upload = {.name = "x", .size = 4096};
    acc_register_library(add_callback, NULL, NULL);
    if (!acc[1] || !acc[25] || acc[26])
        abort();
    make_context();
    fake_cupti.current = (CUcontext)0x10;
    tell_acc(16, &construct, 0); /* compute construct */
    tell_acc(20, &upload, 1);
    tell_acc(21, &upload, 1);
    tell_acc(18, &launch, 1);
    tell_acc(19, &launch, 1);
    tell_acc(6, &upload, 1); /* create: no pair */
    tell_acc(17, &construct, 0);
    tell_acc(5, &construct, 0); /* the runtime's end */
}

Test(models, a_construct_of_openacc, .timeout = SOON)
{
    trace(play_openacc, NULL, true);
    const uint64_t *filled = fields.filled[CW_TRACE_OPENACC];
    cr_expect_eq(fields.rows[CW_TRACE_OPENACC], 5);
    cr_expect_eq(filled[CW_FIELD_START], 5);
    cr_expect_eq(filled[CW_FIELD_END], 5);
    cr_expect_eq(filled[CW_FIELD_THREAD], 5);
    cr_expect_eq(filled[CW_FIELD_FILE], 5);
    cr_expect_eq(filled[CW_FIELD_LINE], 5);
    cr_expect_eq(filled[CW_FIELD_NAME], 1, "of the kernel");
    cr_expect_eq(filled[CW_FIELD_BYTES], 2);
    cr_expect_eq(filled[CW_FIELD_DEVICE], 3, "of what CUDA does");
    cr_expect_eq(filled[CW_FIELD_CONTEXT], 3);
}

/* ---- real ones -------------------------------------------------------------------------------------------------- */

#ifdef CW_OPENMP_PROGRAM
Test(models, llvms_runtime, .timeout = SOON)
{
    trace(NULL, CW_OPENMP_PROGRAM, true);
    cr_expect_geq(fields.rows[CW_TRACE_OPENMP], 20);
    cr_expect_eq(fields.filled[CW_TRACE_OPENMP][CW_FIELD_TYPE], fields.rows[CW_TRACE_OPENMP]);
    cr_expect_gt(fields.filled[CW_TRACE_OPENMP][CW_FIELD_COUNT], 0);
    cr_expect_eq(page->lost[CW_TRACE_OPENMP], 0);
}
#endif

#ifdef CW_OPENACC_PROGRAM
Test(models, gccs_runtime, .timeout = SOON)
{
    trace(NULL, CW_OPENACC_PROGRAM, true);
    cr_expect_geq(fields.rows[CW_TRACE_OPENACC], 3);
    cr_expect_eq(fields.filled[CW_TRACE_OPENACC][CW_FIELD_TYPE], fields.rows[CW_TRACE_OPENACC]);
    cr_expect_eq(page->lost[CW_TRACE_OPENACC], 0);
}
#endif
