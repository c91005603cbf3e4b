#include "agent/inject/modes/trace_openmp.h"

#include <stdlib.h>

#include "agent/inject/modes/trace_early.h"
#include "agent/inject/modes/trace_recording.h"

struct cw_openmp_open {       /* a region that a thread is in */
    const char *type;         /* compared by pointer: each type has a single text */
    uint64_t start_ns, count; /* start 0: not recorded */
};

struct cw_openmp_thread {
    struct cw_openmp_thread *next, **at;
    uint64_t thread, start_ns;
    uint32_t depth, beyond;
    struct cw_openmp_open open[CW_OPENMP_MOST_OPEN];
};

static struct {
    ompt_start_tool_result_t tool;
    ompt_get_thread_data_t thread_data;
    struct cw_openmp_thread *threads; /* under the rows' lock */
} state CW_STATE;
#define self (&state)
#define put cw_trace_put

/* ---- rows ------------------------------------------------------------------------------------------------------- */

/* Puts a row. Call it with the rows' lock. */
static void put_row(const char *type, uint64_t thread, uint64_t start_ns, uint64_t end_ns, uint64_t count)
{
    const uint32_t text = cw_trace_text_number(type);
    if (!cw_trace_row(CW_TRACE_OPENMP))
        return;
    put(CW_FIELD_START, start_ns);
    put(CW_FIELD_END, end_ns);
    put(CW_FIELD_TYPE, text);
    put(CW_FIELD_THREAD, thread);
    put(CW_FIELD_COUNT, count);
}

/* Puts a row for the calling thread that ends now. */
static void put_own(const char *type, uint64_t start_ns, uint64_t count)
{
    if (!start_ns || !cw_trace_rows_enter())
        return;
    put_row(type, cw_inject_thread(), start_ns, cw_inject_now_ns(), count);
    cw_trace_rows_leave();
}

static uint64_t start_now(void)
{
    return cw_trace_recording_takes() ? cw_inject_now_ns() : 0;
}

/* ---- open regions of a thread ----------------------------------------------------------------------------------- */

static struct cw_openmp_thread *own(void)
{
    ompt_data_t *data = self->thread_data ? self->thread_data() : NULL;
    return data ? data->ptr : NULL;
}

static void begin(const char *type, uint64_t count)
{
    struct cw_openmp_thread *t = own();
    if (!t)
        return;
    if (t->depth < CW_OPENMP_MOST_OPEN)
        t->open[t->depth++] = (struct cw_openmp_open){type, start_now(), count};
    else
        t->beyond++;
}

static void lose(void)
{
    if (!cw_trace_recording_takes() || !cw_trace_rows_enter())
        return;
    cw_trace_row_lost(CW_TRACE_OPENMP);
    cw_trace_rows_leave();
}

/* Ends the innermost region of the type. Drops regions inside it whose end was not reported. */
static void end(const char *type)
{
    struct cw_openmp_thread *t = own();
    uint32_t i = t ? t->depth : 0;
    if (t && t->beyond) {
        t->beyond--;
        lose();
        return;
    }
    while (i > 0 && t->open[i - 1].type != type)
        i--;
    if (!i)
        return;
    t->depth = i - 1;
    put_own(type, t->open[i - 1].start_ns, t->open[i - 1].count);
}

static void begin_or_end(ompt_scope_endpoint_t endpoint, const char *type, uint64_t count)
{
    if (endpoint == ompt_scope_begin)
        begin(type, count);
    else
        end(type);
}

/* ---- callbacks for the runtime ---------------------------------------------------------------------------------- */

static void thread_begins(ompt_thread_t type, ompt_data_t *data)
{
    (void)type;
    if (!cw_trace_rows_enter())
        return;
    struct cw_openmp_thread *t = calloc(1, sizeof *t);
    if (t) {
        *t = (struct cw_openmp_thread){
            .next = self->threads, .at = &self->threads, .thread = cw_inject_thread(), .start_ns = start_now()};
        if (t->next)
            t->next->at = &t->next;
        self->threads = t;
    } else
        cw_trace_row_lost(CW_TRACE_OPENMP);
    data->ptr = t;
    cw_trace_rows_leave();
}

/* Ends a thread. In a forked child the memory belongs to another thread and stays. */
static void thread_ends(ompt_data_t *data)
{
    struct cw_openmp_thread *t = data->ptr;
    if (!t || !cw_inject_enter())
        return;
    cw_trace_rows_lock();
    data->ptr = NULL;
    if (t->at && t->start_ns)
        put_row("thread", t->thread, t->start_ns, cw_inject_now_ns(), CW_TRACE_UNKNOWN);
    if (t->at)
        *t->at = t->next;
    if (t->at && t->next)
        t->next->at = t->at;
    cw_trace_rows_unlock();
    free(t);
    cw_inject_leave();
}

static const char parallel_type[] = "parallel";

static void parallel_begins(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *parallel, unsigned threads,
                            int flags, const void *code)
{
    (void)task, (void)frame, (void)parallel, (void)flags, (void)code;
    begin(parallel_type, threads);
}

static void parallel_ends(ompt_data_t *parallel, ompt_data_t *task, int flags, const void *code)
{
    (void)parallel, (void)task, (void)flags, (void)code;
    end(parallel_type);
}

/* Handles a thread's part of a parallel region; the first thread's part has the number of threads. */
static void implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t *parallel, ompt_data_t *task, unsigned threads,
                          unsigned index, int flags)
{
    struct cw_openmp_thread *t = own();
    (void)parallel, (void)task;
    if (flags & ompt_task_initial)
        return;
    if (t && t->depth && endpoint == ompt_scope_begin && index == 0 && t->open[t->depth - 1].type == parallel_type)
        t->open[t->depth - 1].count = threads;
    begin_or_end(endpoint, "implicit_task", CW_TRACE_UNKNOWN);
}

enum { WAITS = 1 }; /* state of an explicit task: WAITS if it is not running, else the start of its run; 0 is neither */

static void task_made(ompt_data_t *by, const ompt_frame_t *frame, ompt_data_t *task, int flags, int dependences,
                      const void *code)
{
    (void)by, (void)frame, (void)dependences, (void)code;
    if (task && flags & ompt_task_explicit)
        task->value = WAITS;
}

static void task_switched(ompt_data_t *before, ompt_task_status_t status, ompt_data_t *next)
{
    (void)status;
    if (before && before->value > WAITS) {
        put_own("task", before->value, CW_TRACE_UNKNOWN);
        before->value = WAITS;
    }
    const uint64_t start = next && next->value == WAITS ? start_now() : 0;
    if (start)
        next->value = start;
}

static void waits(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t *parallel, ompt_data_t *task,
                  const void *code)
{
    (void)parallel, (void)task, (void)code;
    begin_or_end(endpoint,
                 kind == ompt_sync_region_taskwait    ? "wait_taskwait"
                 : kind == ompt_sync_region_taskgroup ? "wait_taskgroup"
                 : kind == ompt_sync_region_reduction ? "wait_reduction"
                                                      : "wait_barrier",
                 CW_TRACE_UNKNOWN);
}

static void works(ompt_work_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t *parallel, ompt_data_t *task,
                  uint64_t count, const void *code)
{
    static const char *const types[] = {[ompt_work_loop] = "loop",
                                        [ompt_work_sections] = "sections",
                                        [ompt_work_single_executor] = "single",
                                        [ompt_work_workshare] = "workshare",
                                        [ompt_work_distribute] = "distribute",
                                        [ompt_work_taskloop] = "taskloop"};
    (void)parallel, (void)task, (void)code;
    if (kind < sizeof types / sizeof *types && types[kind])
        begin_or_end(endpoint, types[kind], kind == ompt_work_single_executor ? CW_TRACE_UNKNOWN : count);
}

/* ---- entry ------------------------------------------------------------------------------------------------------ */

static int initialize(ompt_function_lookup_t find, int device, ompt_data_t *data)
{
    static const struct {
        ompt_callbacks_t event;
        ompt_callback_t function;
    } wanted[] = {{ompt_callback_thread_begin, (ompt_callback_t)thread_begins},
                  {ompt_callback_thread_end, (ompt_callback_t)thread_ends},
                  {ompt_callback_parallel_begin, (ompt_callback_t)parallel_begins},
                  {ompt_callback_parallel_end, (ompt_callback_t)parallel_ends},
                  {ompt_callback_implicit_task, (ompt_callback_t)implicit_task},
                  {ompt_callback_task_create, (ompt_callback_t)task_made},
                  {ompt_callback_task_schedule, (ompt_callback_t)task_switched},
                  {ompt_callback_sync_region_wait, (ompt_callback_t)waits},
                  {ompt_callback_work, (ompt_callback_t)works}};
    const ompt_set_callback_t set = (ompt_set_callback_t)find("ompt_set_callback");
    (void)device, (void)data;
    self->thread_data = (ompt_get_thread_data_t)find("ompt_get_thread_data");
    for (size_t i = 0; set && self->thread_data && i < sizeof wanted / sizeof *wanted; i++)
        set(wanted[i].event, wanted[i].function);
    return set && self->thread_data;
}

static void finalize(ompt_data_t *data)
{
    (void)data;
}

/* Called by OpenMP's runtime when it starts, in the library named by OMP_TOOL_LIBRARIES. */
__attribute__((visibility("default"))) ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime);
ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime)
{
    (void)version, (void)runtime;
    if (!(cw_trace_early_kinds() & CW_TRACE_BIT(CW_TRACE_OPENMP)))
        return NULL;
    self->tool = (ompt_start_tool_result_t){.initialize = initialize, .finalize = finalize};
    return &self->tool;
}

void cw_trace_openmp_finish(void)
{
    const uint64_t now = cw_inject_now_ns();
    while (self->threads) {
        struct cw_openmp_thread *t = self->threads;
        self->threads = t->next;
        t->next = NULL;
        t->at = NULL; /* the thread owns its memory */
        if (t->start_ns)
            put_row("thread", t->thread, t->start_ns, now, CW_TRACE_UNKNOWN);
    }
}

void cw_trace_openmp_forget(void)
{
    self->threads = NULL;
}
