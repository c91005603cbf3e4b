/* What CUPTI's records and the program's ranges become in a trace, as the agent gets it. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agent/inject/modes/trace.h"
#include "agent/inject/modes/trace_parameters.h"
#include "agent/inject/modes/trace_sift.h"
#include "agent/inject/ranges/user_ranges.h"
#include "image/chunk.h"
#include "image/data_chunks.h"
#include "image/trace_data.h"
#include "tests/support/fake_profiler.h"

static const struct cw_inject_mode *const mode = &cw_inject_trace;
static const CUcontext context = (CUcontext)0x10;
static CUpti_BuffersCallbackRequestFunc request;
static CUpti_BuffersCallbackCompleteFunc complete;
static size_t dropped;
static bool taken_inside; /* records, by a thread whose calls were our own */
static uint64_t enabled;  /* CUPTI's kinds, a bit each */
static uint32_t entered;  /* times that one was enabled by a thread whose calls were our own */
static void (*in_flush)(void);
static CUptiResult refusal_of_sets;

/* ---- the library without its threads --------------------------------------------------------------------------- */

static void *(*own_thread)(void *);

bool cw_inject_start_thread(void *(*run)(void *), void *user)
{
    own_thread = run; /* the last: the queue's thread is started first, and who drains the queue sends */
    return run && !user;
}

void cw_inject_own_thread(void)
{
}

bool cw_inject_enter(void)
{
    cr_expect(!cw_own_calls.inside, "nobody enters twice");
    cw_own_calls.inside = true;
    return true;
}

void cw_inject_leave(void)
{
    cw_own_calls.inside = false;
}

/* ---- a CUPTI with records -------------------------------------------------------------------------------------- */

static CUptiResult take_clock(CUpti_TimestampCallbackFunc clock)
{
    return clock ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

static CUptiResult take_callbacks(CUpti_BuffersCallbackRequestFunc r, CUpti_BuffersCallbackCompleteFunc c)
{
    request = r;
    complete = c;
    return CUPTI_SUCCESS;
}

static CUptiResult enable(CUpti_ActivityKind kind)
{
    if (kind == CUPTI_ACTIVITY_KIND_MEMSET && refusal_of_sets != CUPTI_SUCCESS)
        return refusal_of_sets;
    enabled |= UINT64_C(1) << kind;
    entered += cw_own_calls.inside;
    return CUPTI_SUCCESS;
}

static CUptiResult disable(CUpti_ActivityKind kind)
{
    enabled &= ~(UINT64_C(1) << kind);
    return CUPTI_SUCCESS;
}

static CUptiResult flush(uint32_t flag)
{
    (void)flag;
    if (in_flush)
        in_flush();
    return CUPTI_SUCCESS;
}

enum { RECORD = 512 }; /* each has so much room here */

static CUptiResult next_record(uint8_t *buffer, size_t valid, CUpti_Activity **record)
{
    uint8_t *next = *record ? (uint8_t *)*record + RECORD : buffer;
    *record = (void *)next;
    return next < buffer + valid ? CUPTI_SUCCESS : CUPTI_ERROR_MAX_LIMIT_REACHED;
}

static CUptiResult count_dropped(CUcontext c, uint32_t stream, size_t *count)
{
    (void)c, (void)stream;
    taken_inside = cw_own_calls.inside;
    *count = dropped;
    dropped = 0;
    return CUPTI_SUCCESS;
}

static CUptiResult say(CUptiResult result, const char **text)
{
    *text = result == CUPTI_SUCCESS ? "good" : "no such luck";
    return CUPTI_SUCCESS;
}

static CUptiResult name_call(CUpti_CallbackDomain domain, uint32_t id, const char **name)
{
    const bool driver = domain == CUPTI_CB_DOMAIN_DRIVER_API;
    *name = driver && id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel        ? "cuLaunchKernel"
            : driver && id == CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize ? "cuStreamSynchronize"
            : !driver && id == 3                                          ? "cudaLaunchKernel"
            : !driver && id == 4                                          ? "cudaGetDevice"
                                                                          : NULL;
    return *name ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

/* ---- what the agent gets --------------------------------------------------------------------------------------- */

enum { MOST_ROWS = 20000, MOST_TEXTS = 70000 };
static struct {
    struct cw_arena *arena;
    const char *texts[MOST_TEXTS];
    uint32_t text_count;
    uint64_t rows[CW_TRACE_KIND__COUNT];
    uint64_t last[CW_TRACE_KIND__COUNT][CW_FIELD__COUNT], first[CW_TRACE_KIND__COUNT][CW_FIELD__COUNT];
    uint64_t launched[CW_TRACE_KIND__COUNT], recorded[CW_TRACE_KIND__COUNT]; /* as accounts have it */
    struct cw_trace_buffer buffer;
    uint32_t pages;
} heard;

static void hear_texts(struct cw_reader *in)
{
    const char *const *texts;
    cr_expect_eq(cw_read_u32(in), 0);
    cr_assert_eq(cw_read_u32(in), heard.text_count, "texts in order");
    const uint32_t count = cw_field_read_strings(in, heard.arena, &texts, "texts");
    for (uint32_t i = 0; i < count; i++)
        heard.texts[heard.text_count++] = texts[i];
}

static void hear_account(const struct cw_trace_rows *rows, uint32_t row)
{
    const enum cw_trace_kind kind = cw_trace_kind_find(heard.texts[cw_trace_get(rows, CW_FIELD_TYPE, row)]);
    if (kind == CW_TRACE_KIND__COUNT)
        return;
    heard.launched[kind] = cw_trace_get(rows, CW_FIELD_LAUNCHED, row);
    heard.recorded[kind] = cw_trace_get(rows, CW_FIELD_RECORDED, row);
}

static void hear_rows(struct cw_reader *in)
{
    struct cw_trace_rows rows;
    cr_assert_eq(cw_trace_rows_decode(&rows, in, heard.text_count, &heard.buffer), CW_OK);
    for (int f = 0; f < CW_FIELD__COUNT; f++) {
        heard.last[rows.kind][f] = cw_trace_get(&rows, (enum cw_trace_field)f, rows.count - 1);
        if (!heard.rows[rows.kind])
            heard.first[rows.kind][f] = cw_trace_get(&rows, (enum cw_trace_field)f, 0);
    }
    for (uint32_t i = 0; rows.kind == CW_TRACE_ACCOUNT && i < rows.count; i++)
        hear_account(&rows, i);
    heard.rows[rows.kind] += rows.count;
}

static void hear(enum cw_message_type type, const struct cw_writer *message)
{
    struct cw_reader file, in;
    struct cw_chunk chunk;
    bool found;
    heard.pages += type == CW_MESSAGE_TRACE_PAGE;
    if (type != CW_MESSAGE_TRACE)
        return;
    cw_reader_init(&file, message->data, message->size, "message", 0, NULL);
    while (cw_chunk_next(&file, &chunk, &found, NULL) == CW_OK && found) {
        cw_chunk_open(&file, &chunk, &in);
        (chunk.type == CW_CHUNK_TRACE_TEXTS ? hear_texts : hear_rows)(&in);
        cr_expect_eq(cw_chunk_finish(&in, &chunk), CW_OK);
    }
}

static const char *text(enum cw_trace_kind kind, enum cw_trace_field field)
{
    const uint64_t number = heard.last[kind][field];
    cr_assert_lt(number, heard.text_count);
    return heard.texts[number];
}

/* ---- a capture -------------------------------------------------------------------------------------------------- */

#define GPU (CW_TRACE_BIT(CW_TRACE_KERNEL) | CW_TRACE_BIT(CW_TRACE_MEMSET) | CW_TRACE_BIT(CW_TRACE_GRAPH))
#define REST                                                                                                           \
    (CW_TRACE_BIT(CW_TRACE_RUNTIME) | CW_TRACE_BIT(CW_TRACE_NVTX_RANGE) | CW_TRACE_BIT(CW_TRACE_NVTX_MARK) |           \
     CW_TRACE_BIT(CW_TRACE_NAME))

static const char *wanted_range, *listed = "";
static uint32_t flags;
static struct cw_trace_window_options windows;
static void prepare(void)
{
    fake_profiler_begin(NULL, 1, 1);
    struct cw_cupti *api = &cw_inject->api;
    api->cuptiActivityRegisterTimestampCallback = take_clock;
    api->cuptiActivityRegisterCallbacks = take_callbacks;
    api->cuptiActivityEnable = enable;
    api->cuptiActivityDisable = disable;
    api->cuptiActivityFlushAll = flush;
    api->cuptiActivityGetNextRecord = next_record;
    api->cuptiActivityGetNumDroppedRecords = count_dropped;
    api->cuptiGetResultString = say;
    api->cuptiGetCallbackName = name_call;
    cw_inject->process = getpid();
    setenv(CW_AGENT_SOCKET_VARIABLE, "/nowhere", 1);
    heard.arena = heard.arena ? heard.arena : cw_arena_create();
    heard.text_count = 1;
    fake_profiler.hear = hear;
}

static uint64_t flush_ns = 500000000;

static void write_setup(struct cw_writer *setup, uint64_t kinds, uint64_t buffer_bytes)
{
    cw_writer_init(setup);
    cw_inject->mode = mode;
    cw_write_u64(setup, kinds);
    cw_write_u32(setup, flags);
    cw_write_u64(setup, 0);
    cw_write_u64(setup, flush_ns);
    cw_write_u64(setup, buffer_bytes);
    cw_write_u32(setup, 3);
    cw_trace_window_write(setup, &windows);
    cw_filter_write(setup, &(struct cw_filter_options){.range = wanted_range, .launch_count = UINT64_MAX});
    cw_write_string(setup, listed);
}

static void start(uint64_t kinds)
{
    struct cw_writer setup;
    write_setup(&setup, kinds, 1 << 20);
    fake_setup(mode, &setup);
    mode->context_created(context, 0);
}

static void begin(uint64_t kinds, const char *range)
{
    wanted_range = range;
    prepare();
    start(kinds);
    cr_assert(request && complete && heard.pages == 1);
}

static void drain(void)
{
    cw_trace_rows_lock();
    cw_trace_queue_drain();
    cw_trace_rows_unlock();
}

static void end(void)
{
    mode->finish();
    cr_expect(!cw_inject->over, "%s", fake_profiler.failure);
    fake_profiler_end();
    cw_trace_buffer_free(&heard.buffer); /* texts stay */
}

/* A full buffer of CUPTI's with `count` records alike. */
static void record(const void *one, size_t size, size_t count)
{
    uint8_t *buffer = NULL;
    size_t room, most = 1;
    request(&buffer, &room, &most);
    cr_assert(buffer && room >= count * RECORD && !most && size <= RECORD);
    memset(buffer, 0, count * RECORD);
    for (size_t i = 0; i < count; i++)
        memcpy(buffer + i * RECORD, one, size);
    complete(context, 0, buffer, room, count * RECORD);
}

static const char *symbol; /* of the kernel that a call launches */

/* A call of the driver (or runtime) from its begin to its return, with what it calls itself between. */
static void call(CUpti_CallbackDomain domain, CUpti_CallbackId id, CUresult result, uint32_t correlation,
                 const void *parameters, void (*within)(void))
{
    uint64_t data = 0;
    CUpti_CallbackData about = {.callbackSite = CUPTI_API_ENTER,
                                .correlationData = &data,
                                .correlationId = correlation,
                                .functionParams = parameters,
                                .symbolName = symbol,
                                .context = context,
                                .contextUid = 1};
    mode->glance(domain, id, &about);
    if (within)
        within();
    about.callbackSite = CUPTI_API_EXIT;
    about.functionReturnValue = &result;
    mode->glance(domain, id, &about);
}

static void launch(CUpti_CallbackId id, CUresult result)
{
    static const cuLaunchKernel_params parameters = {.hStream = (CUstream)0x20};
    call(CUPTI_CB_DOMAIN_DRIVER_API, id, result, 5, &parameters, NULL);
}

static CUpti_ActivityKernel9 kernel(uint64_t start)
{
    return (CUpti_ActivityKernel9){.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                   .start = start,
                                   .end = start ? start + 10 : 0,
                                   .gridX = 4,
                                   .gridY = 1,
                                   .gridZ = 1,
                                   .blockX = 32,
                                   .blockY = 1,
                                   .blockZ = 1,
                                   .registersPerThread = 24,
                                   .correlationId = 77,
                                   .streamId = 13,
                                   .channelType = CUPTI_CHANNEL_TYPE_COMPUTE,
                                   .name = "_Z4gemmPf"};
}

/* What launches have in common is said once, and what is launched, recorded and without times is counted. */
Test(trace, kernels_have_a_shape_and_are_counted)
{
    begin(GPU, NULL);
    for (int i = 0; i < 5; i++)
        launch(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, i < 4 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
    CUpti_ActivityKernel9 k = kernel(1000);
    record(&k, sizeof k, 2);
    cr_expect(taken_inside, "a handler of the program's that uses ranges would wait for itself");
    k = kernel(0);
    record(&k, sizeof k, 1);
    dropped = 9;
    k = kernel(2000);
    k.graphId = 5; /* nobody launched it by itself */
    k.dynamicSharedMemory = 64;
    record(&k, sizeof k, 1);
    end();
    cr_expect_eq(heard.rows[CW_TRACE_KERNEL], 4);
    cr_expect_eq(heard.rows[CW_TRACE_SHAPE], 2);
    cr_expect_eq(heard.first[CW_TRACE_KERNEL][CW_FIELD_START], 1000);
    cr_expect_eq(heard.first[CW_TRACE_KERNEL][CW_FIELD_CORRELATION], 77);
    cr_expect_eq(heard.first[CW_TRACE_KERNEL][CW_FIELD_GRAPH], CW_TRACE_UNKNOWN);
    cr_expect_eq(heard.last[CW_TRACE_KERNEL][CW_FIELD_GRAPH], 5);
    cr_expect_eq(heard.last[CW_TRACE_KERNEL][CW_FIELD_SHAPE], heard.last[CW_TRACE_SHAPE][CW_FIELD_ID]);
    cr_expect_str_eq(text(CW_TRACE_SHAPE, CW_FIELD_NAME), "_Z4gemmPf");
    cr_expect_eq(heard.last[CW_TRACE_SHAPE][CW_FIELD_DYNAMIC_SHARED], 64);
    cr_expect_str_eq(text(CW_TRACE_KERNEL, CW_FIELD_CHANNEL_TYPE), "compute");
    const struct cw_trace_page *page = cw_trace_sheets->page;
    cr_expect_eq(page->launched[CW_TRACE_KERNEL], 4);
    cr_expect_eq(page->direct[CW_TRACE_KERNEL], 3);
    cr_expect_eq(page->untimed[CW_TRACE_KERNEL], 1);
    /* the last account is of what CUPTI dropped, of whatever kind */
    cr_expect_str_eq(text(CW_TRACE_ACCOUNT, CW_FIELD_TYPE), CW_TRACE_ALL_KINDS);
    cr_expect_eq(heard.last[CW_TRACE_ACCOUNT][CW_FIELD_DROPPED], 9);
}

/* A table that is full is sent, and rows go on; memory is that of the tables. */
Test(trace, rows_are_sent_when_a_table_is_full)
{
    enum { BUFFERS = 6, EACH = 2000 };
    begin(GPU, NULL);
    const CUpti_ActivityKernel9 k = kernel(1000);
    for (int i = 0; i < BUFFERS; i++)
        record(&k, sizeof k, EACH);
    drain();
    cr_expect_eq(heard.rows[CW_TRACE_KERNEL], BUFFERS * EACH / CW_TRACE_TABLE_ROWS * CW_TRACE_TABLE_ROWS);
    end();
    cr_expect_eq(heard.rows[CW_TRACE_KERNEL], BUFFERS * EACH);
    cr_expect_eq(heard.rows[CW_TRACE_SHAPE], 1);
    cr_expect_leq(cw_trace_buffers->made, 3, "%u buffers", cw_trace_buffers->made);
}

/* CUPTI gets as many buffers as were asked for, and then none: it drops records then, and counts them. */
Test(trace, buffers_are_bounded_and_used_again)
{
    uint8_t *buffers[4];
    size_t size, most;
    begin(GPU, NULL);
    for (int i = 0; i < 4; i++)
        request(&buffers[i], &size, &most);
    cr_expect(buffers[2] && !buffers[3] && !size);
    complete(context, 0, buffers[1], 1 << 20, 0);
    request(&buffers[3], &size, &most);
    cr_expect_eq(buffers[3], buffers[1]);
    for (int i = 0; i < 4; i++)
        if (i != 1)
            complete(context, 0, buffers[i], 1 << 20, 0);
    end();
}

/* Memory is found only for sizes that the agent's option has. */
Test(trace, buffers_are_of_a_size_that_an_agent_may_ask_for)
{
    static const uint64_t refused[] = {0, 1, 4097, (64 << 20) + 4096, UINT64_MAX - 4095};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct cw_writer setup;
        struct cw_reader in;
        prepare();
        write_setup(&setup, GPU, refused[i]);
        cw_reader_init(&in, setup.data, setup.size, "setup", 0, NULL);
        cr_expect(!mode->setup(&in) && in.status == CW_OK, "size %zu", i);
        cw_writer_free(&setup);
        fake_profiler_end();
    }
}

/* What CUPTI refuses is said. */
Test(trace, refusals_are_noted)
{
    refusal_of_sets = CUPTI_ERROR_NOT_SUPPORTED;
    begin(GPU, NULL);
    cw_trace_rows_lock();
    cw_trace_rows_send();
    cw_trace_rows_unlock();
    drain();
    cr_expect_str_eq(text(CW_TRACE_ACCOUNT, CW_FIELD_TYPE), "memset");
    cr_expect_str_eq(text(CW_TRACE_ACCOUNT, CW_FIELD_NOTE), "CUPTI does not record it here: no such luck");
    end();
}

static void launch_within(void)
{
    launch(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUDA_SUCCESS);
}

static void wait_within(void)
{
    static const cuStreamSynchronize_params parameters = {.hStream = (CUstream)0x20};
    call(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize, CUDA_SUCCESS, 9, &parameters, NULL);
}

/* Of calls those that a timeline is read for; what the runtime calls of the driver is no call of the program's, but
 * tells what is waited for. */
Test(trace, calls_of_the_program_and_what_they_wait_for)
{
    enum { LAUNCHES = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel };
    begin(GPU | REST | CW_TRACE_BIT(CW_TRACE_DRIVER) | CW_TRACE_BIT(CW_TRACE_SYNC), NULL);
    cr_expect(mode->wants_runtime(3) && !mode->wants_runtime(4) && !mode->wants_runtime(5));
    cr_expect(mode->wants(LAUNCHES) && mode->wants(CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize) && !mode->wants(4));
    call(CUPTI_CB_DOMAIN_RUNTIME_API, 3, CUDA_SUCCESS, 70, NULL, launch_within);
    call(CUPTI_CB_DOMAIN_RUNTIME_API, 3, CUDA_ERROR_INVALID_VALUE, 71, NULL, wait_within);
    launch(LAUNCHES, CUDA_SUCCESS);
    end();
    cr_expect_eq(heard.rows[CW_TRACE_RUNTIME], 2);
    cr_expect_eq(heard.first[CW_TRACE_RUNTIME][CW_FIELD_CORRELATION], 70);
    cr_expect_eq(heard.last[CW_TRACE_RUNTIME][CW_FIELD_RESULT], CUDA_ERROR_INVALID_VALUE);
    cr_expect_str_eq(text(CW_TRACE_RUNTIME, CW_FIELD_NAME), "cudaLaunchKernel");
    cr_expect_eq(heard.rows[CW_TRACE_DRIVER], 1);
    cr_expect_str_eq(text(CW_TRACE_DRIVER, CW_FIELD_NAME), "cuLaunchKernel");
    cr_expect_eq(heard.rows[CW_TRACE_SYNC], 1);
    cr_expect_eq(heard.last[CW_TRACE_SYNC][CW_FIELD_CORRELATION], 71);
    cr_expect_str_eq(text(CW_TRACE_SYNC, CW_FIELD_TYPE), "stream");
    cr_expect_eq(cw_trace_sheets->page->launched[CW_TRACE_KERNEL], 2);
}

static void call_with_list(const char *list)
{
    listed = list;
    begin(CW_TRACE_BIT(CW_TRACE_DRIVER) | CW_TRACE_BIT(CW_TRACE_RUNTIME), NULL);
    cr_expect(mode->wants(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel));
    call(CUPTI_CB_DOMAIN_RUNTIME_API, 3, CUDA_SUCCESS, 70, NULL, launch_within);
    end();
    cr_expect_eq(heard.rows[CW_TRACE_RUNTIME], 1);
}

Test(trace, calls_of_the_driver_within_those_of_the_runtime_are_recorded_by_name)
{
    call_with_list("cuda*,cuLaunch*");
    cr_expect_eq(heard.rows[CW_TRACE_DRIVER], 1);
    cr_expect_str_eq(text(CW_TRACE_DRIVER, CW_FIELD_NAME), "cuLaunchKernel");
    cr_expect_eq(heard.last[CW_TRACE_DRIVER][CW_FIELD_PARENT], 70);
}

Test(trace, and_not_for_a_list_of_all_calls)
{
    call_with_list("*");
    cr_expect_eq(heard.rows[CW_TRACE_DRIVER], 0);
}

static void ask_within(void)
{
    static const cuEventQuery_params of_event = {0};
    static const cuStreamQuery_params of_stream = {.hStream = (CUstream)0x20};
    call(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuEventQuery, CUDA_ERROR_NOT_READY, 11, &of_event, NULL);
    call(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuStreamQuery, CUDA_SUCCESS, 12, &of_stream, NULL);
}

/* A question whether something is done is a record, too. */
Test(trace, what_the_program_asks)
{
    begin(CW_TRACE_BIT(CW_TRACE_SYNC), NULL);
    cr_expect(mode->wants(CUPTI_DRIVER_TRACE_CBID_cuEventQuery) && mode->wants(CUPTI_DRIVER_TRACE_CBID_cuStreamQuery));
    ask_within();
    end();
    cr_expect_eq(heard.rows[CW_TRACE_SYNC], 2);
    cr_expect_eq(heard.first[CW_TRACE_SYNC][CW_FIELD_RESULT], CUDA_ERROR_NOT_READY);
    cr_expect_str_eq(heard.texts[heard.first[CW_TRACE_SYNC][CW_FIELD_TYPE]], "event_query");
    cr_expect_str_eq(text(CW_TRACE_SYNC, CW_FIELD_TYPE), "stream_query");
    cr_expect_neq(heard.last[CW_TRACE_SYNC][CW_FIELD_STREAM], CW_TRACE_UNKNOWN);
}

static void record_wait(CUpti_ActivitySynchronizationType type, uint32_t correlation, uint32_t event)
{
    const CUpti_ActivitySynchronization2 wait = {.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
                                                 .type = type,
                                                 .start = 100,
                                                 .end = 200,
                                                 .correlationId = correlation,
                                                 .contextId = 1,
                                                 .streamId = CUPTI_SYNCHRONIZATION_INVALID_VALUE,
                                                 .cudaEventId = event,
                                                 .cudaEventSyncId = event == CUPTI_SYNCHRONIZATION_INVALID_VALUE
                                                                        ? CUPTI_SYNCHRONIZATION_INVALID_VALUE
                                                                        : 40u + event};
    record(&wait, sizeof wait, 1);
}

/* Where events are recorded CUPTI's own records of waits say which one it is. They come once, and know no questions. */
Test(trace, waits_know_the_events_that_are_recorded)
{
    begin(CW_TRACE_BIT(CW_TRACE_SYNC) | CW_TRACE_BIT(CW_TRACE_EVENT) | CW_TRACE_BIT(CW_TRACE_RUNTIME), NULL);
    cr_expect(enabled >> CUPTI_ACTIVITY_KIND_SYNCHRONIZATION & 1);
    call(CUPTI_CB_DOMAIN_RUNTIME_API, 3, CUDA_SUCCESS, 70, NULL, wait_within);
    call(CUPTI_CB_DOMAIN_RUNTIME_API, 3, CUDA_SUCCESS, 71, NULL, ask_within);
    record_wait(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE, 69, 3);
    record_wait(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE, 71, 4);
    const uint64_t before = heard.rows[CW_TRACE_SYNC];
    end();
    cr_expect_eq(before, 0);
    cr_expect_eq(heard.rows[CW_TRACE_SYNC], 2);
    cr_expect_str_eq(heard.texts[heard.first[CW_TRACE_SYNC][CW_FIELD_TYPE]], "event");
    cr_expect_eq(heard.first[CW_TRACE_SYNC][CW_FIELD_EVENT], 3);
    cr_expect_eq(heard.first[CW_TRACE_SYNC][CW_FIELD_ID], 43);
    cr_expect_eq(heard.first[CW_TRACE_SYNC][CW_FIELD_STREAM], CW_TRACE_UNKNOWN);
    cr_expect_str_eq(text(CW_TRACE_SYNC, CW_FIELD_TYPE), "event_query");
    cr_expect_eq(heard.last[CW_TRACE_SYNC][CW_FIELD_EVENT], 4);
}

/* Where only waits are wanted CUPTI is not asked for them, which costs every call of the program. */
Test(trace, waits_alone_cost_no_other_call)
{
    begin(CW_TRACE_BIT(CW_TRACE_SYNC), NULL);
    cr_expect_eq(enabled, 0);
    wait_within();
    record_wait(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE, 70, CUPTI_SYNCHRONIZATION_INVALID_VALUE);
    end();
    cr_expect_eq(heard.rows[CW_TRACE_SYNC], 2);
    cr_expect_eq(heard.last[CW_TRACE_SYNC][CW_FIELD_EVENT], CW_TRACE_UNKNOWN);
    cr_expect_eq(heard.last[CW_TRACE_SYNC][CW_FIELD_ID], CW_TRACE_UNKNOWN);
}

static uint64_t first(enum cw_trace_kind kind, enum cw_trace_field field)
{
    return heard.first[kind][field];
}

static uint64_t last(enum cw_trace_kind kind, enum cw_trace_field field)
{
    return heard.last[kind][field];
}

static void record_unified(CUpti_ActivityUnifiedMemoryCounterKind kind)
{
    const bool contended = kind == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THRASHING;
    const CUpti_ActivityUnifiedMemoryCounter2 u = {.kind = CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER,
                                                   .counterKind = kind,
                                                   .start = 10,
                                                   .end = 20,
                                                   .value = 4096,
                                                   .srcId = contended ? 1 | 1 << 2 : 0};
    record(&u, sizeof u, 1);
}

/* CUPTI says 0 of the end that is the CPU's, which is no device. */
Test(trace, memory_of_the_cpu_is_of_no_device)
{
    static const struct {
        CUpti_ActivityUnifiedMemoryCounterKind kind;
        uint64_t source, target;
    } cases[] = {{CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD, CW_TRACE_UNKNOWN, 0},
                 {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH, 0, CW_TRACE_UNKNOWN},
                 {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD, 0, 0},
                 {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT, 0, CW_TRACE_UNKNOWN},
                 {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THRASHING, CW_TRACE_UNKNOWN, CW_TRACE_UNKNOWN},
                 {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT, CW_TRACE_UNKNOWN, CW_TRACE_UNKNOWN}};
    prepare();
    cw_inject->api.cuptiActivityConfigureUnifiedMemoryCounter = NULL;
    start(CW_TRACE_BIT(CW_TRACE_UNIFIED));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        record_unified(cases[i].kind);
        cw_trace_rows_lock();
        cw_trace_rows_send();
        cw_trace_rows_unlock();
        drain();
        cr_expect_eq(last(CW_TRACE_UNIFIED, CW_FIELD_SOURCE_DEVICE), cases[i].source, "%zu", i);
        cr_expect_eq(last(CW_TRACE_UNIFIED, CW_FIELD_TARGET_DEVICE), cases[i].target, "%zu", i);
        if (cases[i].kind == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THRASHING)
            cr_expect_str_eq(text(CW_TRACE_UNIFIED, CW_FIELD_DEVICES), "0,2");
    }
    end();
}

/* Records of CUPTI 13 have more behind those of 12. */
Test(trace, fields_of_newer_records)
{
    const CUpti_ActivityJit2 jit = {
        .kind = CUPTI_ACTIVITY_KIND_JIT, .start = 10, .end = 20, .cacheSize = 1 << 30, .threadId = 77};
    const CUpti_ActivityMemset4 set = {
        .kind = CUPTI_ACTIVITY_KIND_MEMSET, .start = 10, .end = 20, .isDeviceLaunched = 1};
    CUpti_ActivityContext3 plain = {.kind = CUPTI_ACTIVITY_KIND_CONTEXT}, green = {.kind = CUPTI_ACTIVITY_KIND_CONTEXT,
                                                                                   .contextId = 2,
                                                                                   .nullStreamId = 21,
                                                                                   .parentContextId = 1,
                                                                                   .isGreenContext = 1,
                                                                                   .numMultiprocessors = 16};
    begin(CW_TRACE_BIT(CW_TRACE_JIT) | CW_TRACE_BIT(CW_TRACE_MEMSET) | CW_TRACE_BIT(CW_TRACE_CONTEXT), NULL);
    record(&jit, sizeof jit, 1);
    record(&set, sizeof set, 1);
    plain.contextId = (uint32_t)cw_inject_context_id(context);
    record(&plain, sizeof plain, 1);
    record(&green, sizeof green, 1);
    end();
    cr_expect_eq(last(CW_TRACE_JIT, CW_FIELD_THREAD), 77);
    cr_expect_eq(last(CW_TRACE_JIT, CW_FIELD_BYTES), CW_TRACE_UNKNOWN, "the room of the cache is no size of the code");
    cr_expect_eq(last(CW_TRACE_MEMSET, CW_FIELD_DEVICE_LAUNCHED), 1);
    cr_expect_eq(heard.rows[CW_TRACE_CONTEXT], 2, "the program's, once, and what it made of it");
    cr_expect_str_eq(heard.texts[first(CW_TRACE_CONTEXT, CW_FIELD_TYPE)], "cuda");
    cr_expect_neq(first(CW_TRACE_CONTEXT, CW_FIELD_MULTIPROCESSORS), CW_TRACE_UNKNOWN);
    cr_expect_eq(first(CW_TRACE_CONTEXT, CW_FIELD_PARENT), CW_TRACE_UNKNOWN);
    cr_expect_str_eq(text(CW_TRACE_CONTEXT, CW_FIELD_TYPE), "green");
    cr_expect_eq(last(CW_TRACE_CONTEXT, CW_FIELD_PARENT), 1);
    cr_expect_eq(last(CW_TRACE_CONTEXT, CW_FIELD_MULTIPROCESSORS), 16);
}

/* CUDA in graphics. */
static void expect_context(CUpti_ContextCigMode cig, const char *type)
{
    const CUpti_ActivityContext3 c = {.kind = CUPTI_ACTIVITY_KIND_CONTEXT, .contextId = 2, .cigMode = cig};
    begin(CW_TRACE_BIT(CW_TRACE_CONTEXT), NULL);
    record(&c, sizeof c, 1);
    end();
    cr_expect_str_eq(text(CW_TRACE_CONTEXT, CW_FIELD_TYPE), type);
}

Test(trace, a_context_for_graphics)
{
    expect_context(CUPTI_CONTEXT_CIG_MODE_CIG, "graphics");
}

Test(trace, a_context_that_falls_back_from_graphics)
{
    expect_context(CUPTI_CONTEXT_CIG_MODE_CIG_FALLBACK, "graphics fallback");
}

/* Launches of one kernel with and without a higher limit of shared memory have two shapes. */
Test(trace, kernels_say_how_they_use_shared_memory)
{
    begin(GPU, NULL);
    CUpti_ActivityKernel9 k = kernel(1000);
    record(&k, sizeof k, 1);
    k.sharedMemoryConfig = CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE;
    k.shmemLimitConfig = CUPTI_FUNC_SHMEM_LIMIT_OPTIN;
    k.gridId = 9;
    k.completed = k.end + 5;
    record(&k, sizeof k, 1);
    end();
    cr_expect_eq(heard.rows[CW_TRACE_SHAPE], 2);
    cr_expect_str_eq(heard.texts[first(CW_TRACE_SHAPE, CW_FIELD_SHARED_CONFIG)], "default");
    cr_expect_str_eq(text(CW_TRACE_SHAPE, CW_FIELD_SHARED_CONFIG), "eight_bytes");
    cr_expect(first(CW_TRACE_SHAPE, CW_FIELD_SHARED_OPTIN) == 0 && last(CW_TRACE_SHAPE, CW_FIELD_SHARED_OPTIN) == 1);
    cr_expect_eq(first(CW_TRACE_KERNEL, CW_FIELD_GRID_ID), CW_TRACE_UNKNOWN);
    cr_expect_eq(first(CW_TRACE_KERNEL, CW_FIELD_COMPLETED), 0);
    cr_expect_eq(last(CW_TRACE_KERNEL, CW_FIELD_GRID_ID), 9);
    cr_expect_eq(last(CW_TRACE_KERNEL, CW_FIELD_COMPLETED), 1015);
}

/* The runtime's number is there if it is another one. */
Test(trace, copies_name_the_call_of_the_runtime)
{
    CUpti_ActivityMemcpy5 m = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY, .correlationId = 7, .runtimeCorrelationId = 7};
    begin(CW_TRACE_BIT(CW_TRACE_COPY), NULL);
    record(&m, sizeof m, 1);
    m.runtimeCorrelationId = 6;
    record(&m, sizeof m, 1);
    end();
    cr_expect_eq(first(CW_TRACE_COPY, CW_FIELD_RUNTIME_CORRELATION), CW_TRACE_UNKNOWN);
    cr_expect_eq(last(CW_TRACE_COPY, CW_FIELD_RUNTIME_CORRELATION), 6);
}

/* CUPTI writes all ones for an allocation that belongs to no context or stream. */
Test(trace, an_allocation_may_have_no_place)
{
    CUpti_ActivityMemory3 m = {.kind = CUPTI_ACTIVITY_KIND_MEMORY2, .contextId = 9, .streamId = 7};
    begin(CW_TRACE_BIT(CW_TRACE_ALLOCATION), NULL);
    record(&m, sizeof m, 1);
    m.deviceId = m.contextId = m.streamId = UINT32_MAX;
    record(&m, sizeof m, 1);
    end();
    cr_expect_eq(first(CW_TRACE_ALLOCATION, CW_FIELD_CONTEXT), 9);
    cr_expect_eq(first(CW_TRACE_ALLOCATION, CW_FIELD_STREAM), 7);
    cr_expect_eq(last(CW_TRACE_ALLOCATION, CW_FIELD_DEVICE), CW_TRACE_UNKNOWN);
    cr_expect_eq(last(CW_TRACE_ALLOCATION, CW_FIELD_CONTEXT), CW_TRACE_UNKNOWN);
    cr_expect_eq(last(CW_TRACE_ALLOCATION, CW_FIELD_STREAM), CW_TRACE_UNKNOWN);
}

Test(trace, pools_may_be_of_another_process)
{
    CUpti_ActivityMemory3 m = {.kind = CUPTI_ACTIVITY_KIND_MEMORY2,
                               .PC = 0x400123,
                               .memoryPoolConfig = {.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL,
                                                    .pool.size = 4096,
                                                    .utilizedSize = 64}};
    CUpti_ActivityMemoryPool3 p = {.kind = CUPTI_ACTIVITY_KIND_MEMORY_POOL,
                                   .memoryPoolOperationType = CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED,
                                   .memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL,
                                   .minBytesToKeep = 512,
                                   .size = 4096,
                                   .isManagedPool = 1};
    begin(CW_TRACE_BIT(CW_TRACE_ALLOCATION) | CW_TRACE_BIT(CW_TRACE_POOL), NULL);
    record(&m, sizeof m, 1);
    m.memoryPoolConfig.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_IMPORTED;
    m.memoryPoolConfig.pool.processId = 77;
    m.PC = 0;
    record(&m, sizeof m, 1);
    record(&p, sizeof p, 1);
    p.memoryPoolOperationType = CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_CREATED;
    p.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_IMPORTED;
    record(&p, sizeof p, 1);
    end();
    cr_expect_eq(first(CW_TRACE_ALLOCATION, CW_FIELD_PC), 0x400123);
    cr_expect_eq(first(CW_TRACE_ALLOCATION, CW_FIELD_POOL_BYTES), 4096);
    cr_expect_eq(first(CW_TRACE_ALLOCATION, CW_FIELD_POOL_PROCESS), CW_TRACE_UNKNOWN);
    cr_expect_eq(last(CW_TRACE_ALLOCATION, CW_FIELD_PC), CW_TRACE_UNKNOWN);
    cr_expect_eq(last(CW_TRACE_ALLOCATION, CW_FIELD_POOL_BYTES), CW_TRACE_UNKNOWN);
    cr_expect_eq(last(CW_TRACE_ALLOCATION, CW_FIELD_POOL_USED), CW_TRACE_UNKNOWN);
    cr_expect_eq(last(CW_TRACE_ALLOCATION, CW_FIELD_POOL_PROCESS), 77);
    cr_expect_eq(first(CW_TRACE_POOL, CW_FIELD_POOL_KEPT), 512);
    cr_expect_eq(first(CW_TRACE_POOL, CW_FIELD_POOL_MANAGED), 1);
    cr_expect_eq(first(CW_TRACE_POOL, CW_FIELD_POOL_BYTES), 4096);
    cr_expect_eq(last(CW_TRACE_POOL, CW_FIELD_POOL_KEPT), CW_TRACE_UNKNOWN);
    cr_expect_eq(last(CW_TRACE_POOL, CW_FIELD_POOL_BYTES), CW_TRACE_UNKNOWN);
    cr_expect_str_eq(text(CW_TRACE_POOL, CW_FIELD_POOL_TYPE), "imported");
}

/* A fault of the CPU has its instruction, and contention may be the CPU's and that of a GPU beyond the 32nd. */
Test(trace, unified_memory_says_who_contends)
{
    CUpti_ActivityUnifiedMemoryCounter3 u = {.kind = CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER,
                                             .counterKind =
                                                 CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT,
                                             .start = 10,
                                             .value = 0x400456};
    prepare();
    cw_inject->api.cuptiActivityConfigureUnifiedMemoryCounter = NULL;
    start(CW_TRACE_BIT(CW_TRACE_UNIFIED));
    record(&u, sizeof u, 1);
    u.counterKind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THRASHING;
    u.flags = CUPTI_ACTIVITY_FLAG_THRASHING_IN_CPU;
    u.processors[0] = 1;
    u.processors[1] = 2;
    record(&u, sizeof u, 1);
    end();
    cr_expect_eq(first(CW_TRACE_UNIFIED, CW_FIELD_PC), 0x400456);
    cr_expect_eq(first(CW_TRACE_UNIFIED, CW_FIELD_VALUE), 1);
    cr_expect_eq(first(CW_TRACE_UNIFIED, CW_FIELD_ON_CPU), CW_TRACE_UNKNOWN);
    cr_expect_eq(last(CW_TRACE_UNIFIED, CW_FIELD_PC), CW_TRACE_UNKNOWN);
    cr_expect_eq(last(CW_TRACE_UNIFIED, CW_FIELD_ON_CPU), 1);
    cr_expect_str_eq(text(CW_TRACE_UNIFIED, CW_FIELD_DEVICES), "0,65");
}

/* The first and the last node may run on other GPUs, or on the host. */
Test(trace, graphs_begin_and_end_somewhere)
{
    CUpti_ActivityGraphTrace2 g = {.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE,
                                   .start = 10,
                                   .end = 20,
                                   .deviceId = 0,
                                   .contextId = 1,
                                   .endDeviceId = 1,
                                   .endContextId = 2};
    flags = 0;
    begin(CW_TRACE_BIT(CW_TRACE_GRAPH), NULL);
    record(&g, sizeof g, 1);
    g.deviceId = g.contextId = g.endDeviceId = g.endContextId = INT_MAX;
    record(&g, sizeof g, 1);
    end();
    cr_expect(first(CW_TRACE_GRAPH, CW_FIELD_DEVICE) == 0 && first(CW_TRACE_GRAPH, CW_FIELD_CONTEXT) == 1);
    cr_expect(first(CW_TRACE_GRAPH, CW_FIELD_END_DEVICE) == 1 && first(CW_TRACE_GRAPH, CW_FIELD_END_CONTEXT) == 2);
    cr_expect_eq(last(CW_TRACE_GRAPH, CW_FIELD_DEVICE), CW_TRACE_UNKNOWN);
    cr_expect_eq(last(CW_TRACE_GRAPH, CW_FIELD_CONTEXT), CW_TRACE_UNKNOWN);
    cr_expect_eq(last(CW_TRACE_GRAPH, CW_FIELD_END_DEVICE), CW_TRACE_UNKNOWN);
}

/* What the data of a full command buffer take is freed, whether there is a row or not. */
Test(trace, overheads_are_of_a_thread_or_a_stream)
{
    CUpti_ActivityOverhead3 o = {.kind = CUPTI_ACTIVITY_KIND_OVERHEAD,
                                 .overheadKind = CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE,
                                 .objectKind = CUPTI_ACTIVITY_OBJECT_THREAD,
                                 .objectId.pt = {.threadId = 5},
                                 .start = 10,
                                 .end = 20};
    begin(CW_TRACE_BIT(CW_TRACE_OVERHEAD), NULL);
    record(&o, sizeof o, 1);
    CUpti_ActivityOverheadCommandBufferFullData *data = malloc(sizeof *data);
    cr_assert_not_null(data);
    *data = (CUpti_ActivityOverheadCommandBufferFullData){
        .commandBufferLength = 3, .channelID = 8, .channelType = CUPTI_CHANNEL_TYPE_COMPUTE};
    o.overheadKind = CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL;
    o.objectKind = CUPTI_ACTIVITY_OBJECT_STREAM;
    o.objectId.dcs.deviceId = 0;
    o.objectId.dcs.contextId = 1;
    o.objectId.dcs.streamId = 7;
    o.overheadData = data;
    record(&o, sizeof o, 1);
    end();
    cr_expect_eq(first(CW_TRACE_OVERHEAD, CW_FIELD_THREAD), 5);
    cr_expect_eq(first(CW_TRACE_OVERHEAD, CW_FIELD_DEVICE), CW_TRACE_UNKNOWN);
    cr_expect_eq(last(CW_TRACE_OVERHEAD, CW_FIELD_THREAD), CW_TRACE_UNKNOWN);
    cr_expect_eq(last(CW_TRACE_OVERHEAD, CW_FIELD_DEVICE), 0);
    cr_expect_eq(last(CW_TRACE_OVERHEAD, CW_FIELD_CONTEXT), 1);
    cr_expect_eq(last(CW_TRACE_OVERHEAD, CW_FIELD_STREAM), 7);
    cr_expect_eq(last(CW_TRACE_OVERHEAD, CW_FIELD_CHANNEL), 8);
    cr_expect_eq(last(CW_TRACE_OVERHEAD, CW_FIELD_COMMAND_BUFFER), 3);
    cr_expect_str_eq(text(CW_TRACE_OVERHEAD, CW_FIELD_CHANNEL_TYPE), "compute");
}

Test(trace, links_say_what_they_can)
{
    const CUpti_ActivityNvLink4 n = {.kind = CUPTI_ACTIVITY_KIND_NVLINK,
                                     .nvlinkVersion = 4,
                                     .typeDev0 = CUPTI_DEV_TYPE_GPU,
                                     .typeDev1 = CUPTI_DEV_TYPE_NPU,
                                     .idDev1.npu = {.index = 0, .domainId = 2},
                                     .flag = CUPTI_LINK_FLAG_PEER_ACCESS | CUPTI_LINK_FLAG_SYSMEM_ATOMICS};
    CUpti_ActivityPcie p = {.kind = CUPTI_ACTIVITY_KIND_PCIE,
                            .type = CUPTI_PCIE_DEVICE_TYPE_BRIDGE,
                            .linkRate = 32,
                            .attr.bridgeAttr = {.secondaryBus = 3, .deviceId = 0x2030, .vendorId = 0x8086}};
    begin(CW_TRACE_BIT(CW_TRACE_LINK), NULL);
    record(&n, sizeof n, 1);
    record(&p, sizeof p, 1);
    end();
    cr_expect_str_eq(heard.texts[first(CW_TRACE_LINK, CW_FIELD_LINK_ACCESS)], "peer,system_atomics");
    cr_expect_str_eq(heard.texts[first(CW_TRACE_LINK, CW_FIELD_TARGET)], "npu 0002:0");
    cr_expect_eq(first(CW_TRACE_LINK, CW_FIELD_NVLINK_VERSION), 4);
    cr_expect_eq(first(CW_TRACE_LINK, CW_FIELD_PCIE_RATE), CW_TRACE_UNKNOWN);
    cr_expect_eq(last(CW_TRACE_LINK, CW_FIELD_LINK_ACCESS), 0);
    cr_expect_eq(last(CW_TRACE_LINK, CW_FIELD_PCIE_RATE), 32);
    cr_expect_eq(last(CW_TRACE_LINK, CW_FIELD_PCI_VENDOR), 0x8086);
    cr_expect_eq(last(CW_TRACE_LINK, CW_FIELD_PCI_DEVICE), 0x2030);
    cr_expect_eq(last(CW_TRACE_LINK, CW_FIELD_SECONDARY_BUS), 3);
}

static uint64_t dumped; /* CUPTI's kinds that were asked for objects that are there, a bit each */
static CUptiResult refusal_to_dump;

static CUptiResult dump(CUpti_ActivityKind kind)
{
    dumped |= UINT64_C(1) << kind;
    return refusal_to_dump != CUPTI_SUCCESS ? refusal_to_dump : enable(kind);
}

static void attach(uint64_t kinds)
{
    prepare();
    cw_inject->api.cuptiActivityEnableAndDump = dump;
    start(kinds);
}

/* A context that the agent saw itself is there once, whether its row or CUPTI's record comes first. */
Test(trace, what_was_there_before_an_agent_is_recorded)
{
    const CUpti_ActivityStream stream = {.kind = CUPTI_ACTIVITY_KIND_STREAM, .streamId = 14, .contextId = 9};
    CUpti_ActivityContext3 c = {.kind = CUPTI_ACTIVITY_KIND_CONTEXT,
                                .contextId = 9,
                                .nullStreamId = 7,
                                .computeApiKind = CUPTI_ACTIVITY_COMPUTE_API_CUDA_MPS};
    attach(CW_TRACE_BIT(CW_TRACE_STREAM) | CW_TRACE_BIT(CW_TRACE_CONTEXT) | CW_TRACE_BIT(CW_TRACE_MEMSET));
    cr_expect_eq(dumped, UINT64_C(1) << CUPTI_ACTIVITY_KIND_STREAM | UINT64_C(1) << CUPTI_ACTIVITY_KIND_CONTEXT);
    record(&c, sizeof c, 2);
    record(&stream, sizeof stream, 1);
    c.contextId = (uint32_t)cw_inject_context_id(context);
    record(&c, sizeof c, 1);
    end();
    cr_expect_eq(heard.rows[CW_TRACE_STREAM], 1);
    cr_expect_eq(heard.rows[CW_TRACE_CONTEXT], 2);
    cr_expect_eq(last(CW_TRACE_CONTEXT, CW_FIELD_CONTEXT), 9);
    cr_expect_eq(last(CW_TRACE_CONTEXT, CW_FIELD_NULL_STREAM), 7);
    cr_expect_eq(last(CW_TRACE_CONTEXT, CW_FIELD_MULTIPROCESSORS), CW_TRACE_UNKNOWN);
    cr_expect_str_eq(text(CW_TRACE_CONTEXT, CW_FIELD_TYPE), "mps");
}

/* They are there once, however many windows open. */
Test(trace, what_was_there_is_recorded_once)
{
    attach(CW_TRACE_BIT(CW_TRACE_STREAM));
    dumped = 0;
    cr_expect_eq(cw_trace_records_set(CW_TRACE_STREAM, false), CUPTI_SUCCESS);
    cr_expect_eq(cw_trace_records_set(CW_TRACE_STREAM, true), CUPTI_SUCCESS);
    cr_expect(!dumped && enabled);
    end();
}

Test(trace, a_kind_is_recorded_where_cupti_tells_of_nothing_before)
{
    refusal_to_dump = CUPTI_ERROR_UNKNOWN;
    attach(CW_TRACE_BIT(CW_TRACE_STREAM));
    cr_expect_eq(enabled, UINT64_C(1) << CUPTI_ACTIVITY_KIND_STREAM);
    end();
}

Test(trace, an_agent_that_was_there_first_asks_for_nothing_before)
{
    prepare();
    cw_inject->api.cuptiActivityEnableAndDump = dump;
    setenv(CW_AGENT_TRACE_VARIABLE, "1 0", 1);
    cw_trace_early_ask();
    start(CW_TRACE_BIT(CW_TRACE_STREAM));
    cr_expect(!dumped && enabled);
    end();
}

/* Code comes and goes in a context, which is asked for beforehand: the driver has a lock of its own then. */
Test(trace, code_is_loaded_and_unloaded)
{
    const CUpti_ModuleResourceData module = {.moduleId = 5, .cubinSize = 1000};
    begin(CW_TRACE_BIT(CW_TRACE_MODULE), NULL);
    const uint64_t id = cw_inject_context_id(context);
    mode->module_changed(context, &module, true);
    mode->module_changed((CUcontext)0x99, &module, true);
    mode->module_changed(context, &module, false);
    mode->context_destroyed(context);
    end();
    cr_expect_eq(heard.rows[CW_TRACE_MODULE], 3);
    cr_expect_str_eq(heard.texts[first(CW_TRACE_MODULE, CW_FIELD_TYPE)], "load");
    cr_expect_str_eq(text(CW_TRACE_MODULE, CW_FIELD_TYPE), "unload");
    cr_expect_eq(first(CW_TRACE_MODULE, CW_FIELD_CONTEXT), id);
    cr_expect_eq(last(CW_TRACE_MODULE, CW_FIELD_CONTEXT), id);
    cr_expect_eq(last(CW_TRACE_MODULE, CW_FIELD_ID), 5);
    cr_expect_eq(cw_trace_context_find(context), CW_TRACE_UNKNOWN);
}

static CUptiResult number_graph(CUgraph graph, uint32_t *number)
{
    *number = (uint32_t)(uintptr_t)graph;
    return CUPTI_SUCCESS;
}

static CUptiResult number_executable(CUgraphExec graph, uint32_t *number)
{
    *number = (uint32_t)(uintptr_t)graph;
    return CUPTI_SUCCESS;
}

static CUptiResult number_node(CUgraphNode node, uint64_t *number)
{
    *number = (uint64_t)(uintptr_t)node;
    return CUPTI_SUCCESS;
}

#define GRAPH(n) ((CUgraph)(uintptr_t)(n))
#define NODE(n) ((CUgraphNode)(uintptr_t)(n))

/* A node's type is known before it is made alone. The driver's own copy of a graph has edges, but no node is made. */
Test(trace, graphs_have_nodes_and_edges)
{
    const CUpti_GraphData one = {.graph = GRAPH(3), .node = NODE(0x301), .nodeType = CU_GRAPH_NODE_TYPE_MEMSET},
                          other = {.graph = GRAPH(3), .node = NODE(0x302), .nodeType = CU_GRAPH_NODE_TYPE_HOST},
                          made = {.graph = GRAPH(3), .node = NODE(0x301)},
                          unannounced = {.graph = GRAPH(3), .node = NODE(0x303)},
                          edge = {.graph = GRAPH(3), .node = NODE(0x302), .dependency = NODE(0x301)},
                          copied = {.graph = GRAPH(5), .node = NODE(0x502), .dependency = NODE(0x501)},
                          executable = {.graph = GRAPH(3), .graphExec = (CUgraphExec)(uintptr_t)4};
    begin(CW_TRACE_BIT(CW_TRACE_GRAPH_MADE) | CW_TRACE_BIT(CW_TRACE_NODE) | CW_TRACE_BIT(CW_TRACE_EDGE), NULL);
    cw_inject->api.cuptiGetGraphId = number_graph;
    cw_inject->api.cuptiGetGraphExecId = number_executable;
    cw_inject->api.cuptiGetGraphNodeId = number_node;
    mode->graph_changed(CUPTI_CBID_RESOURCE_GRAPH_CREATED, &made);
    mode->graph_changed(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATE_STARTING, &other);
    mode->graph_changed(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATE_STARTING, &one);
    mode->graph_changed(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, &made);
    mode->graph_changed(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, &unannounced);
    mode->graph_changed(CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED, &edge);
    mode->graph_changed(CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED, &copied);
    mode->graph_changed(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, &executable);
    mode->graph_changed(CUPTI_CBID_RESOURCE_GRAPH_NODE_SET_PARAMS, &made);
    end();
    cr_expect_eq(heard.rows[CW_TRACE_NODE], 2);
    cr_expect_str_eq(heard.texts[first(CW_TRACE_NODE, CW_FIELD_TYPE)], "memset");
    cr_expect_eq(first(CW_TRACE_NODE, CW_FIELD_GRAPH_NODE), 0x301);
    cr_expect_str_eq(text(CW_TRACE_NODE, CW_FIELD_TYPE), "unknown");
    cr_expect_eq(heard.rows[CW_TRACE_EDGE], 1);
    cr_expect_eq(last(CW_TRACE_EDGE, CW_FIELD_GRAPH_NODE), 0x302);
    cr_expect_eq(last(CW_TRACE_EDGE, CW_FIELD_DEPENDS_ON), 0x301);
    cr_expect_eq(heard.rows[CW_TRACE_GRAPH_MADE], 2);
    cr_expect_eq(first(CW_TRACE_GRAPH_MADE, CW_FIELD_PARENT), CW_TRACE_UNKNOWN);
    cr_expect_str_eq(text(CW_TRACE_GRAPH_MADE, CW_FIELD_TYPE), "instantiate");
    cr_expect_eq(last(CW_TRACE_GRAPH_MADE, CW_FIELD_GRAPH), 4);
    cr_expect_eq(last(CW_TRACE_GRAPH_MADE, CW_FIELD_PARENT), 3);
}

static const char *name_of_row(enum cw_trace_kind kind)
{
    cw_trace_rows_lock();
    cw_trace_rows_send();
    cw_trace_rows_unlock();
    drain();
    return heard.last[kind][CW_FIELD_NAME] ? text(kind, CW_FIELD_NAME) : "";
}

static void create_node(uint32_t node, CUgraphNodeType type)
{
    const CUpti_GraphData data = {.graph = GRAPH(3), .node = NODE(node), .nodeType = type};
    mode->graph_changed(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATE_STARTING, &data);
    mode->graph_changed(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, &data);
}

static void clone_node(uint32_t node, uint32_t original)
{
    const CUpti_GraphData data = {.graph = GRAPH(3), .node = NODE(node), .originalNode = NODE(original)};
    mode->graph_changed(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, &data);
}

static void create_kernel(void)
{
    create_node(0x301, CU_GRAPH_NODE_TYPE_KERNEL);
}

static void create_other_kernel(void)
{
    create_node(0x302, CU_GRAPH_NODE_TYPE_KERNEL);
}

static void create_set(void)
{
    create_node(0x303, CU_GRAPH_NODE_TYPE_MEMSET);
}

static CUresult name_function(const char **name, CUfunction function)
{
    *name = "_Z5addedPf";
    return function == (CUfunction)0x77 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult name_kernel(const char **name, CUkernel kernel)
{
    *name = "_Z7libraryPf";
    return kernel == (CUkernel)0x88 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static void add_kernel(CUfunction function, CUkernel kernel)
{
    const CUDA_KERNEL_NODE_PARAMS about = {.func = function, .kern = kernel};
    const cuGraphAddKernelNode_v2_params parameters = {.nodeParams = &about};
    call(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuGraphAddKernelNode_v2, CUDA_SUCCESS, 6, &parameters,
         create_other_kernel);
}

static void launch_creates(void (*create)(void))
{
    static const cuLaunchKernel_params parameters = {.hStream = (CUstream)0x20};
    call(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUDA_SUCCESS, 5, &parameters, create);
}

/* A kernel's node is named by the call that creates it, and its copies by the node, in whichever order CUPTI tells of
 * them. */
Test(trace, nodes_have_the_names_of_their_kernels)
{
    const cuStreamBeginCapture_v2_params of_stream = {.hStream = (CUstream)0x20};
    begin(CW_TRACE_BIT(CW_TRACE_NODE), NULL);
    cw_inject->api.cuptiGetGraphId = number_graph;
    cw_inject->api.cuptiGetGraphNodeId = number_node;
    cw_inject->api.cuFuncGetName = name_function;
    cw_inject->api.cuKernelGetName = name_kernel;
    cr_expect(mode->wants(CUPTI_DRIVER_TRACE_CBID_cuGraphAddKernelNode_v2));
    call(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, CUDA_SUCCESS, 5, &of_stream,
         NULL);
    fake_captured = (CUstream)0x20;
    symbol = "_Z4gemmPf";
    launch_creates(create_kernel);
    cr_expect_str_eq(name_of_row(CW_TRACE_NODE), "_Z4gemmPf");
    launch_creates(create_set);
    cr_expect_str_eq(name_of_row(CW_TRACE_NODE), "");
    symbol = NULL;
    create_other_kernel();
    cr_expect_str_eq(name_of_row(CW_TRACE_NODE), "", "no call of a kernel is under way");
    create_node(0x401, CU_GRAPH_NODE_TYPE_KERNEL);
    create_node(0x402, CU_GRAPH_NODE_TYPE_MEMSET);
    clone_node(0x401, 0x301);
    clone_node(0x402, 0x303);
    cr_expect_str_eq(name_of_row(CW_TRACE_NODE), "");
    cr_expect_eq(heard.rows[CW_TRACE_NODE], 5);
    clone_node(0x501, 0x401);
    create_node(0x501, CU_GRAPH_NODE_TYPE_KERNEL);
    cr_expect_str_eq(name_of_row(CW_TRACE_NODE), "_Z4gemmPf");
    create_node(0x601, CU_GRAPH_NODE_TYPE_KERNEL);
    clone_node(0x601, 0x501);
    cr_expect_str_eq(name_of_row(CW_TRACE_NODE), "_Z4gemmPf");
    add_kernel((CUfunction)0x77, NULL);
    cr_expect_str_eq(name_of_row(CW_TRACE_NODE), "_Z5addedPf");
    add_kernel((CUfunction)0x88, NULL);
    cr_expect_str_eq(name_of_row(CW_TRACE_NODE), "_Z7libraryPf");
    add_kernel(NULL, (CUkernel)0x88);
    cr_expect_str_eq(name_of_row(CW_TRACE_NODE), "_Z7libraryPf");
    fake_captured = NULL;
    end();
}

static uint32_t numbered, ended; /* how often CUPTI gave the number of a stream; streams that ended */

static CUptiResult number_stream(CUcontext of, CUstream stream, uint8_t of_thread, uint32_t *number)
{
    numbered += of == context;
    *number = of_thread ? 2 : stream ? 100 + ended : 7;
    return CUPTI_SUCCESS;
}

static void end_stream(void)
{
    ended++;
}

static uint64_t row(enum cw_trace_field field)
{
    name_of_row(CW_TRACE_RUNTIME);
    return last(CW_TRACE_RUNTIME, field);
}

static void call_with(CUpti_CallbackId id, CUresult result, const void *parameters)
{
    call(CUPTI_CB_DOMAIN_RUNTIME_API, id, result, 70, parameters,
         id == CUPTI_RUNTIME_TRACE_CBID_cudaStreamDestroy_v5050 ? end_stream : NULL);
}

/* CUPTI is asked for the number of a stream once, and again when a stream has ended: another may have its handle. */
Test(trace, calls_have_their_stream_and_event)
{
    const cudaStream_t stream = (cudaStream_t)0x20;
    const cudaMemcpyAsync_v3020_params copy = {.stream = stream};
    const cudaLaunchKernel_v7000_params launches = {.stream = stream};
    const cudaLaunchKernel_ptsz_v7000_params of_thread = {.stream = NULL};
    const cudaLaunchConfig_t config = {.stream = stream};
    const cudaLaunchKernelExC_v11060_params configured = {.config = &config};
    const cudaStreamDestroy_v5050_params destroyed = {.stream = stream};
    cudaEvent_t event = (cudaEvent_t)0x500;
    const cudaEventRecord_v3020_params recorded = {.event = event, .stream = stream};
    const cudaEventCreate_v3020_params created = {.event = &event};
    begin(CW_TRACE_BIT(CW_TRACE_RUNTIME), NULL);
    cw_inject->api.cuptiGetStreamIdEx = number_stream;
    call_with(CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020, CUDA_SUCCESS, &copy);
    cr_expect(row(CW_FIELD_STREAM) == 100 && row(CW_FIELD_EVENT_HANDLE) == CW_TRACE_UNKNOWN);
    call_with(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, CUDA_SUCCESS, &launches);
    call_with(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060, CUDA_SUCCESS, &configured);
    cr_expect_eq(row(CW_FIELD_STREAM), 100);
    call_with(CUPTI_RUNTIME_TRACE_CBID_cudaEventRecord_v3020, CUDA_SUCCESS, &recorded);
    cr_expect(row(CW_FIELD_STREAM) == 100 && row(CW_FIELD_EVENT_HANDLE) == 0x500);
    cr_expect_eq(numbered, 1);
    call_with(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_ptsz_v7000, CUDA_SUCCESS, &of_thread);
    cr_expect_eq(row(CW_FIELD_STREAM), 2);
    call_with(CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020, CUDA_SUCCESS, &copy);
    call_with(CUPTI_RUNTIME_TRACE_CBID_cudaStreamDestroy_v5050, CUDA_SUCCESS, &destroyed);
    cr_expect_eq(row(CW_FIELD_STREAM), 100, "as it was before it ended");
    call_with(CUPTI_RUNTIME_TRACE_CBID_cudaStreamDestroy_v5050, CUDA_ERROR_INVALID_HANDLE, &destroyed);
    cr_expect_eq(row(CW_FIELD_STREAM), CW_TRACE_UNKNOWN);
    ended = 1;
    call_with(CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020, CUDA_SUCCESS, &copy);
    cr_expect_eq(row(CW_FIELD_STREAM), 101);
    call_with(CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020, CUDA_ERROR_INVALID_HANDLE, &copy);
    cr_expect_eq(row(CW_FIELD_STREAM), CW_TRACE_UNKNOWN);
    call_with(CUPTI_RUNTIME_TRACE_CBID_cudaEventCreate_v3020, CUDA_SUCCESS, &created);
    cr_expect(row(CW_FIELD_STREAM) == CW_TRACE_UNKNOWN && row(CW_FIELD_EVENT_HANDLE) == 0x500);
    call_with(4, CUDA_SUCCESS, NULL);
    cr_expect(row(CW_FIELD_STREAM) == CW_TRACE_UNKNOWN && row(CW_FIELD_EVENT_HANDLE) == CW_TRACE_UNKNOWN);
    end();
}

static struct cw_trace_parameters parameters(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *of,
                                             uint32_t result)
{
    const CUpti_CallbackData call = {.functionParams = of, .functionReturnValue = &result};
    return cw_trace_parameters_of(domain, id, &call);
}

/* A call that failed has no result, and other calls no memory. */
Test(trace, calls_have_their_memory)
{
    void *memory = (void *)0x7000;
    const cudaMalloc_v3020_params allocation = {&memory, 4096};
    const cuMemsetD32Async_params set = {0x8000, 0, 10, NULL};
    const cudaMemcpyAsync_v3020_params copy = {(void *)0x9000, (void *)0xa000, 64, cudaMemcpyDefault, NULL};
    const cudaFree_v3020_params freed = {(void *)0xb000};
    const CUpti_CallbackDomain runtime = CUPTI_CB_DOMAIN_RUNTIME_API, driver = CUPTI_CB_DOMAIN_DRIVER_API;
    struct cw_trace_parameters p = parameters(runtime, CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020, &allocation, 0);
    cr_expect(p.address == 0x7000 && p.bytes == 4096 && p.source == CW_TRACE_UNKNOWN);
    p = parameters(runtime, CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020, &allocation, cudaErrorMemoryAllocation);
    cr_expect(p.address == CW_TRACE_UNKNOWN && p.bytes == CW_TRACE_UNKNOWN);
    p = parameters(driver, CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async, &set, 0);
    cr_expect(p.address == 0x8000 && p.bytes == 40);
    p = parameters(runtime, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020, &copy, 0);
    cr_expect(p.address == 0x9000 && p.source == 0xa000 && p.bytes == 64);
    p = parameters(runtime, CUPTI_RUNTIME_TRACE_CBID_cudaFree_v3020, &freed, 0);
    cr_expect(p.address == 0xb000 && p.bytes == CW_TRACE_UNKNOWN);
    p = parameters(driver, CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize, NULL, 0);
    cr_expect_eq(p.address, CW_TRACE_UNKNOWN);
}

/* Of rectangles and boxes the bytes that are copied, and the first of them; a symbol and an array have no address. */
Test(trace, copies_of_all_forms_have_their_bytes)
{
    const CUpti_CallbackDomain runtime = CUPTI_CB_DOMAIN_RUNTIME_API, driver = CUPTI_CB_DOMAIN_DRIVER_API;
    const cudaMemcpy2D_v3020_params plane = {.dst = (void *)0x9000, .src = (void *)0xa000, .width = 12, .height = 5};
    const cudaMemcpyToSymbol_v3020_params symbol_to = {.src = (void *)0xa000, .count = 64};
    const cudaMemcpy2DFromArray_v3020_params array = {.dst = (void *)0x9000, .width = 12, .height = 5};
    const struct cudaMemcpy3DParms box = {.srcPtr = {(void *)0xa000, 16, 12, 8},
                                          .srcPos = {1, 2, 3},
                                          .dstPtr = {(void *)0x9000, 16, 12, 8},
                                          .extent = {4, 3, 2}};
    const cudaMemcpy3D_v3020_params boxed = {.p = &box};
    const CUDA_MEMCPY2D rectangle = {.dstMemoryType = CU_MEMORYTYPE_ARRAY,
                                     .srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                     .srcDevice = 0xa000,
                                     .srcXInBytes = 4,
                                     .srcY = 2,
                                     .srcPitch = 16,
                                     .WidthInBytes = 12,
                                     .Height = 5};
    const cuMemcpy2D_v2_params rectangular = {.pCopy = &rectangle};
    const cuMemCreate_params created = {.size = 1 << 21};
    size_t pitch = 512;
    void *memory = (void *)0x7000;
    const cudaMallocPitch_v3020_params pitched = {&memory, &pitch, 500, 3};
    struct cw_trace_parameters p = parameters(runtime, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy2D_v3020, &plane, 0);
    cr_expect(p.address == 0x9000 && p.source == 0xa000 && p.bytes == 60);
    p = parameters(runtime, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyToSymbol_v3020, &symbol_to, 0);
    cr_expect(p.address == CW_TRACE_UNKNOWN && p.source == 0xa000 && p.bytes == 64);
    p = parameters(runtime, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy2DFromArray_v3020, &array, 0);
    cr_expect(p.address == 0x9000 && p.source == CW_TRACE_UNKNOWN && p.bytes == 60);
    p = parameters(runtime, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy3D_v3020, &boxed, 0);
    cr_expect(p.address == 0x9000 && p.source == 0xa000 + 1 + (2 + 3 * 8) * 16 && p.bytes == 24);
    p = parameters(driver, CUPTI_DRIVER_TRACE_CBID_cuMemcpy2D_v2, &rectangular, 0);
    cr_expect(p.address == CW_TRACE_UNKNOWN && p.source == 0xa000 + 4 + 2 * 16 && p.bytes == 60);
    p = parameters(driver, CUPTI_DRIVER_TRACE_CBID_cuMemCreate, &created, 0);
    cr_expect(p.address == CW_TRACE_UNKNOWN && p.bytes == 1 << 21);
    p = parameters(runtime, CUPTI_RUNTIME_TRACE_CBID_cudaMallocPitch_v3020, &pitched, 0);
    cr_expect(p.address == 0x7000 && p.bytes == 3 * 512);
}

static unsigned asked; /* before CUDA began, and behind it */
static CUptiResult answer;

static CUptiResult ask_latency(uint8_t on)
{
    asked += on;
    return answer;
}

static CUptiResult ask_device_graphs(uint8_t on)
{
    asked += 10 * on;
    return answer;
}

static CUptiResult (*fake_set_attribute)(CUpti_ActivityAttribute attribute, size_t *size, void *value);
static const char *early_buffers = ""; /* " BYTES MOST FIRST", in hexadecimal */

static void begin_early(uint64_t kinds, uint32_t with, bool told)
{
    char wish[64];
    prepare();
    flags = with;
    cw_inject->api.cuptiActivityEnableLatencyTimestamps = ask_latency;
    cw_inject->api.cuptiActivityEnableDeviceGraph = ask_device_graphs;
    cw_inject->api.cuptiActivitySetAttribute = fake_set_attribute;
    snprintf(wish, sizeof wish, "%llx %x%s", (unsigned long long)kinds, with, early_buffers);
    if (told)
        setenv(CW_AGENT_TRACE_VARIABLE, wish, 1);
    cw_trace_early_ask();
    start(kinds);
}

static const char *note(void)
{
    cw_trace_rows_lock();
    cw_trace_rows_send();
    cw_trace_rows_unlock();
    drain();
    return heard.rows[CW_TRACE_ACCOUNT] ? text(CW_TRACE_ACCOUNT, CW_FIELD_NOTE) : "";
}

/* CUPTI takes these before CUDA begins alone. */
Test(trace, what_is_asked_before_cuda_begins)
{
    begin_early(GPU | CW_TRACE_BIT(CW_TRACE_DEVICE_GRAPH), CW_TRACE_LATENCY, true);
    cr_expect_eq(asked, 11);
    cr_expect_str_eq(note(), "");
    cr_expect(enabled >> CUPTI_ACTIVITY_KIND_GRAPH_TRACE & 1);
    cr_expect_not(enabled >> CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE & 1, "it comes with the other");
    const CUpti_ActivityDeviceGraphTrace graph = {.kind = CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE,
                                                  .start = 10,
                                                  .end = 20,
                                                  .graphId = 5,
                                                  .launcherGraphId = 4,
                                                  .streamId = UINT64_C(1) << 56,
                                                  .deviceLaunchMode = CUPTI_DEVICE_GRAPH_LAUNCH_MODE_TAIL};
    record(&graph, sizeof graph, 1);
    end();
    cr_expect_eq(asked, 11);
    cr_expect_eq(heard.rows[CW_TRACE_DEVICE_GRAPH], 1);
    cr_expect_eq(last(CW_TRACE_DEVICE_GRAPH, CW_FIELD_PARENT), 4);
    cr_expect_str_eq(text(CW_TRACE_DEVICE_GRAPH, CW_FIELD_TYPE), "tail");
    cr_expect_eq(last(CW_TRACE_DEVICE_GRAPH, CW_FIELD_STREAM), CW_TRACE_UNKNOWN, "the mode is no stream");
}

/* Launches by the GPU alone need CUPTI's records of others, which are no rows. */
Test(trace, launches_of_the_gpu_alone)
{
    const CUpti_ActivityGraphTrace2 graph = {.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE, .start = 10, .end = 20};
    begin_early(CW_TRACE_BIT(CW_TRACE_DEVICE_GRAPH), 0, true);
    cr_expect(enabled >> CUPTI_ACTIVITY_KIND_GRAPH_TRACE & 1);
    record(&graph, sizeof graph, 1);
    end();
    cr_expect_eq(heard.rows[CW_TRACE_GRAPH], 0);
}

Test(trace, graphs_node_by_node_have_no_launches_by_the_gpu)
{
    begin_early(CW_TRACE_BIT(CW_TRACE_DEVICE_GRAPH), CW_TRACE_GRAPH_NODES, true);
    cr_expect_eq(asked, 0);
    cr_expect_eq(enabled, 0);
    cr_expect_str_eq(note(), "it is recorded only with --graphs whole");
    end();
}

Test(trace, an_agent_that_comes_late_says_what_it_cannot_ask)
{
    begin_early(CW_TRACE_BIT(CW_TRACE_KERNEL), CW_TRACE_LATENCY, false);
    cr_expect_eq(asked, 0);
    cr_expect_str_eq(note(), "CUDA had begun: queue times of launches are unknown");
    end();
}

Test(trace, what_cupti_refuses_before_cuda_begins_is_noted)
{
    answer = CUPTI_ERROR_NOT_SUPPORTED;
    begin_early(CW_TRACE_BIT(CW_TRACE_KERNEL), CW_TRACE_LATENCY, true);
    cr_expect_str_eq(note(), "CUPTI gives no queue times of launches here");
    end();
}

static size_t attributes[3]; /* size, greatest and first number of buffers on the GPU */

static CUptiResult set_attribute(CUpti_ActivityAttribute attribute, size_t *size, void *value)
{
    const int i = attribute == CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE         ? 0
                  : attribute == CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT ? 1
                                                                              : 2;
    cr_expect(*size == sizeof *attributes && !enabled);
    cr_expect(i < 2 || attribute == CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE);
    attributes[i] = *(size_t *)value;
    return answer;
}

static void begin_with_buffers(const char *buffers)
{
    early_buffers = buffers;
    fake_set_attribute = set_attribute;
    begin_early(CW_TRACE_BIT(CW_TRACE_KERNEL), 0, true);
    end();
}

/* CUPTI keeps its default for what is 0. */
Test(trace, buffers_on_the_gpu_are_asked_for_before_cuda_begins)
{
    begin_with_buffers(" 800000 0 a");
    cr_expect(attributes[0] == 8 << 20 && !attributes[1] && attributes[2] == 10);
}

/* A refusal, or a CUPTI without the function, is no reason to end a trace. */
Test(trace, buffers_that_cupti_refuses_are_its_own)
{
    answer = CUPTI_ERROR_NOT_SUPPORTED;
    begin_with_buffers(" 800000 1f4 a");
    cr_expect_eq(attributes[1], 500);
}

Test(trace, buffers_are_cuptis_own_where_it_lacks_the_function)
{
    early_buffers = " 800000 1f4 a";
    begin_early(CW_TRACE_BIT(CW_TRACE_KERNEL), 0, true);
    end();
}

static uint32_t configured[4], configured_late;

static CUptiResult configure(CUpti_ActivityUnifiedMemoryCounterConfig *config, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        cr_expect(config[i].enable && config[i].deviceId == config[0].deviceId && config[i].deviceId < 4);
    configured[config[0].deviceId]++;
    configured_late += enabled >> CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER & 1;
    return config[0].deviceId == 1 ? CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_ON_DEVICE : CUPTI_SUCCESS;
}

static CUresult four_devices(int *count)
{
    *count = 4;
    return CUDA_SUCCESS;
}

/* The program may use every device, also one whose context comes later; one that cannot does not keep the others away.
 */
Test(trace, unified_memory_of_every_device)
{
    prepare();
    cw_inject->api.cuptiActivityConfigureUnifiedMemoryCounter = configure;
    cw_inject->api.cuDeviceGetCount = four_devices;
    windows.profiler = true;
    start(CW_TRACE_BIT(CW_TRACE_UNIFIED));
    for (int i = 0; i < 2; i++) {
        call(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuProfilerStart, CUDA_SUCCESS, 5, NULL, NULL);
        cr_expect(enabled >> CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER & 1);
        call(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuProfilerStop, CUDA_SUCCESS, 5, NULL, NULL);
    }
    for (int i = 0; i < 4; i++)
        cr_expect_eq(configured[i], 1, "device %d: %u times", i, configured[i]);
    cr_expect_eq(configured_late, 0);
    end();
}

Test(trace, kernels_one_by_one)
{
    const struct cw_open_range range = {.id = 1, .wanted = true, .name = (char *)"step"};
    flags = CW_TRACE_SERIALIZED;
    begin(GPU, "^step");
    mode->range_opened(&range);
    cr_expect(enabled >> CUPTI_ACTIVITY_KIND_KERNEL & 1);
    cr_expect(!(enabled >> CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL & 1));
    mode->range_closing(&range);
    cr_expect_eq(enabled, 0);
    end();
}

/* A window for whole periods of launches. */
Test(trace, so_many_periods)
{
    const uint64_t kernels = UINT64_C(1) << CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    uint32_t traced = 0, first = 0, last = 0;
    windows.periods = 3;
    begin(GPU, NULL);
    for (uint32_t i = 0; i < 100 * 20; i++) {
        const cuLaunchKernel_params parameters = {.blockDimX = 1 + i % 20};
        call(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUDA_SUCCESS, 5, &parameters, NULL);
        fake_profiler.now_ns += 1000000;
        first = enabled & kernels && !traced ? i : first;
        last = enabled & kernels ? i : last;
        traced += (enabled & kernels) != 0;
    }
    end();
    cr_expect_eq(traced, 3 * 20, "%u", traced);
    cr_expect_eq(last - first + 1, traced, "one window");
    cr_expect_eq(first % 20, 0);
    cr_expect_eq(heard.rows[CW_TRACE_WINDOW], 1);
}

static const struct cw_trace_label label = {
    "solver", "step", 3, 0xff00ff00, {42, CW_TRACE_UNKNOWN, CW_TRACE_UNKNOWN}, "{\"bytes\":8}"};

/* Ranges of a thread nest, started ones end by number; one that is open at the end has none. */
Test(trace, ranges_and_marks)
{
    begin(REST, NULL);
    cw_trace_nvtx_category(1, 3, "compute");
    cw_trace_nvtx_open(1, 0, &label);
    cw_trace_nvtx_open(1, 9, &label);
    cw_trace_nvtx_close(1, 0);
    cw_trace_nvtx_close(1, 0); /* nothing is pushed */
    cw_trace_nvtx_mark(1, &label);
    cw_trace_nvtx_name("stream", 13, 1, "main stream");
    end();
    cr_expect_eq(heard.rows[CW_TRACE_NVTX_RANGE], 2);
    cr_expect_neq(heard.first[CW_TRACE_NVTX_RANGE][CW_FIELD_END], 0);
    cr_expect_eq(heard.last[CW_TRACE_NVTX_RANGE][CW_FIELD_END], 0);
    cr_expect_str_eq(text(CW_TRACE_NVTX_RANGE, CW_FIELD_TYPE), "start");
    cr_expect_str_eq(text(CW_TRACE_NVTX_RANGE, CW_FIELD_DOMAIN), "solver");
    cr_expect_str_eq(text(CW_TRACE_NVTX_RANGE, CW_FIELD_CATEGORY), "compute");
    cr_expect_eq(heard.last[CW_TRACE_NVTX_RANGE][CW_FIELD_PAYLOAD], 42);
    cr_expect_str_eq(text(CW_TRACE_NVTX_RANGE, CW_FIELD_PAYLOAD_TEXT), "{\"bytes\":8}");
    cr_expect_eq(heard.last[CW_TRACE_NVTX_RANGE][CW_FIELD_COLOR], 0xff00ff00);
    cr_expect_eq(heard.rows[CW_TRACE_NVTX_MARK], 1);
    cr_expect_str_eq(text(CW_TRACE_NAME, CW_FIELD_NAME), "main stream");
}

/* Outside of a window CUPTI records nothing, and launches are none of ours. */
Test(trace, a_window_is_open_while_a_range_is)
{
    begin(GPU, "^step");
    cr_expect_eq(enabled, 0);
    launch(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUDA_SUCCESS);
    const struct cw_open_range range = {.id = 1, .wanted = true, .name = (char *)"step"};
    mode->range_opened(&range);
    cr_expect(enabled >> CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL & 1);
    launch(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUDA_SUCCESS);
    mode->range_closing(&range);
    cr_expect_eq(enabled, 0);
    end();
    cr_expect_eq(heard.rows[CW_TRACE_WINDOW], 1);
    cr_expect_neq(heard.last[CW_TRACE_WINDOW][CW_FIELD_END], 0);
    cr_expect_eq(cw_trace_sheets->page->launched[CW_TRACE_KERNEL], 1);
}

/* However many names a program has, memory does not grow: old ones are forgotten, and get new numbers. */
Test(trace, many_texts_are_forgotten_in_time)
{
    enum { NAMES = 60000 };
    char name[32];
    begin(REST, NULL);
    for (int i = 0; i < NAMES; i++) {
        snprintf(name, sizeof name, "mark %d", i);
        cw_trace_nvtx_mark(0, &(struct cw_trace_label){.name = name});
    }
    cw_trace_nvtx_mark(0, &(struct cw_trace_label){.name = "mark 0"});
    end();
    cr_expect_eq(heard.rows[CW_TRACE_NVTX_MARK], NAMES + 1);
    cr_expect_str_eq(text(CW_TRACE_NVTX_MARK, CW_FIELD_NAME), "mark 0");
    cr_expect_gt(heard.last[CW_TRACE_NVTX_MARK][CW_FIELD_NAME], (uint64_t)NAMES);
    cr_expect_lt(cw_trace_sheets->text_count, CW_TRACE_KNOWN_TEXTS);
}

/* What goes into a graph is not launched, also behind an end of a capture that the driver refused: there was none. */
Test(trace, launches_into_a_graph_are_not_counted)
{
    const cuStreamEndCapture_params of_stream = {.hStream = (CUstream)0x20}; /* that of the begin begins alike */
    begin(GPU, NULL);
    call(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, CUDA_ERROR_ILLEGAL_STATE, 5,
         &of_stream, NULL);
    call(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, CUDA_SUCCESS, 5, &of_stream,
         NULL);
    fake_captured = (CUstream)0x20;
    launch(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUDA_SUCCESS);
    cr_expect_eq(cw_trace_sheets->page->launched[CW_TRACE_KERNEL], 0);
    fake_captured = NULL;
    call(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, CUDA_SUCCESS, 5, &of_stream, NULL);
    launch(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUDA_SUCCESS);
    cr_expect_eq(cw_trace_sheets->page->launched[CW_TRACE_KERNEL], 1);
    end();
}

static void profile(void)
{
    call(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuProfilerStart, CUDA_SUCCESS, 5, NULL, NULL);
}

/* The program's threads call CUPTI as our own: neither cancelled with a lock held, nor heard again. Of a launch that
 * the window opens in it is not known whether CUPTI records it: it is not said to be lost. */
Test(trace, a_window_opens_within_a_launch)
{
    static const cuLaunchKernel_params parameters = {0};
    windows.profiler = true;
    begin(GPU, NULL);
    call(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUDA_SUCCESS, 5, &parameters, profile);
    cr_expect(enabled && entered);
    cr_expect_eq(cw_trace_sheets->page->launched[CW_TRACE_KERNEL], 0);
    launch(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUDA_SUCCESS);
    cr_expect_eq(cw_trace_sheets->page->launched[CW_TRACE_KERNEL], 1);
    end();
}

/* CUPTI records the kernel of a call that was under way when the trace began, of which nobody saw the begin. */
Test(trace, what_is_recorded_was_launched)
{
    const CUpti_ActivityKernel9 k = kernel(1000);
    begin(GPU, NULL);
    record(&k, sizeof k, 1);
    for (int i = 0; i < 3; i++)
        launch(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUDA_SUCCESS);
    record(&k, sizeof k, 3);
    end();
    cr_expect(heard.launched[CW_TRACE_KERNEL] == 4 && heard.recorded[CW_TRACE_KERNEL] == 4,
              "%llu launched, %llu recorded", (unsigned long long)heard.launched[CW_TRACE_KERNEL],
              (unsigned long long)heard.recorded[CW_TRACE_KERNEL]);
}

static uint64_t opened_ns;

static void profile_again(void)
{
    opened_ns = cw_trace_recording->opened_ns;
    enabled = 0;
    profile();
}

/* While the last records are fetched other threads go on: none opens the window again. */
Test(trace, the_end_is_the_end_of_the_window)
{
    windows.profiler = true;
    begin(GPU, NULL);
    fake_profiler.slow = true;
    profile();
    cr_expect_eq(cw_trace_sheets->page->opened_ns, cw_trace_recording->opened_ns);
    in_flush = profile_again;
    end();
    cr_expect_eq(cw_trace_sheets->page->opened_ns, 0);
    cr_expect_eq(enabled, 0);
    cr_expect_eq(heard.rows[CW_TRACE_WINDOW], 1);
    cr_expect_eq(heard.last[CW_TRACE_WINDOW][CW_FIELD_START], opened_ns);
}

static void record_of(uint32_t correlation)
{
    CUpti_ActivityKernel9 k = kernel(1000);
    k.correlationId = correlation;
    record(&k, sizeof k, 1);
}

/* Windows beside samples (launches.c): CUPTI records all the time, and rows are of the launches in windows, whenever
 * their records come. */
Test(trace, records_are_sifted_by_the_launches_of_windows)
{
    static const struct {
        bool opens, closes; /* before the launch */
        bool taken;
    } launches[] = {{0, 0, 0}, {1, 0, 1}, {0, 0, 1}, {0, 1, 0}, {0, 0, 0}, {1, 0, 1}, {0, 1, 0}, {1, 0, 1}};
    enum { COUNT = sizeof launches / sizeof *launches };
    uint64_t taken = 0;
    windows.toggled = true;
    prepare();
    cw_trace_sift_begin();
    start(GPU);
    const uint64_t all = enabled;
    cr_expect_neq(all, 0);
    for (uint32_t i = 0; i < COUNT; i++) {
        if (launches[i].opens || launches[i].closes)
            cw_trace_recording_turn(launches[i].opens, 0);
        cw_trace_sift_launch(UINT32_MAX - 3 + i); /* the numbers begin again */
        cr_expect_eq(enabled, all);
    }
    for (uint32_t i = COUNT; i-- > 0; taken += launches[i].taken) {
        record_of(UINT32_MAX - 3 + i);
        cr_expect_eq(cw_trace_sheets->page->rows[CW_TRACE_KERNEL], taken + launches[i].taken, "launch %u", i);
    }
    end();
    cr_expect_eq(heard.rows[CW_TRACE_KERNEL], taken);
    cr_expect_eq(heard.rows[CW_TRACE_WINDOW], 3);
}

/* The begin of launch 10 opens a window, for which the thread waits while another one launches 11. Launches 14, 12 and
 * 13 begin behind the close, as their threads come. */
Test(trace, launches_of_several_threads_come_in_any_order)
{
    static const bool taken[] = {[10] = true, [11] = true, [15] = true};
    windows.toggled = true;
    prepare();
    cw_trace_sift_begin();
    start(GPU);
    cw_trace_sift_launch(5);
    cw_trace_sift_launch(11);
    cw_trace_recording_turn(true, 10);
    cw_trace_sift_launch(10);
    cw_trace_recording_turn(false, 0);
    cw_trace_sift_launch(14);
    cw_trace_sift_launch(12);
    cw_trace_sift_launch(13);
    cw_trace_recording_turn(true, 0);
    cw_trace_sift_launch(15);
    cw_trace_recording_turn(false, 0);
    cw_trace_sift_launch(16);
    for (uint32_t i = 0; i < 16; i++)
        cr_expect_eq(cw_trace_sift_takes(i), taken[i], "launch %u", i);
    end();
}

/* More windows than are kept: the latest are. */
Test(trace, records_of_late_windows_are_taken)
{
    enum { WINDOWS = 40000 };
    windows.toggled = true;
    prepare();
    cw_trace_sift_begin();
    start(GPU);
    for (uint32_t i = 0; i < WINDOWS; i++) {
        cw_trace_sift_turn(true, 0);
        cw_trace_sift_launch(2 * i + 1);
        cw_trace_sift_turn(false, 0);
        cw_trace_sift_launch(2 * i + 2);
    }
    cw_trace_rows_lock();
    for (uint32_t i = WINDOWS - 8000; i < WINDOWS; i++)
        cr_expect(cw_trace_sift_takes(2 * i + 1) && !cw_trace_sift_takes(2 * i + 2), "window %u", i);
    cw_trace_rows_unlock();
    end();
}

/* Ranges come before it is known whether they are wanted: where they are not, they are not lost. */
Test(trace, what_was_not_wanted_is_not_lost)
{
    prepare();
    cw_trace_nvtx_mark(1, &label);
    start(GPU);
    end();
    cr_expect_eq(heard.rows[CW_TRACE_NVTX_MARK], 0);
    cr_expect_eq(cw_trace_sheets->page->rows[CW_TRACE_NVTX_MARK], 0);
}

/* A child that was forked numbers texts anew: what its parent opened and named has none. */
Test(trace, a_child_begins_without_its_parents_ranges)
{
    prepare();
    cw_trace_nvtx_category(1, 3, "compute");
    cw_trace_nvtx_open(1, 0, &label);
    static struct cw_trace_sheets parents; /* its memory may be in another thread's hands: it is not freed */
    parents = *cw_trace_sheets;
    cw_trace_forget();
    cr_expect_neq(parents.last_text, 0);
    cw_trace_nvtx_forget();
    start(REST);
    cw_trace_nvtx_open(1, 0, &label);
    cw_trace_nvtx_close(1, 0);
    cw_trace_nvtx_close(1, 0);
    end();
    cr_expect_eq(heard.rows[CW_TRACE_NVTX_RANGE], 1);
    cr_expect_str_eq(text(CW_TRACE_NVTX_RANGE, CW_FIELD_CATEGORY), "3");
}

/* Those that there is no room for are lost, and said to be; a category that is named again and again takes one place.
 */
Test(trace, too_many_open_ranges_are_lost)
{
    begin(REST, NULL);
    for (int i = 0; i < 2 * CW_TRACE_MOST_CATEGORIES; i++)
        cw_trace_nvtx_category(1, 3, i ? "compute" : "before");
    for (int i = 0; i < CW_TRACE_MOST_OPEN + 5; i++)
        cw_trace_nvtx_open(1, (uint64_t)i + 1, &label);
    end();
    cr_expect_eq(heard.rows[CW_TRACE_NVTX_RANGE], CW_TRACE_MOST_OPEN);
    cr_expect_eq(cw_trace_sheets->page->rows[CW_TRACE_NVTX_RANGE], CW_TRACE_MOST_OPEN + 5);
    cr_expect_str_eq(text(CW_TRACE_NVTX_RANGE, CW_FIELD_CATEGORY), "compute");
}

static void open_named(uint64_t domain, const char *name)
{
    cw_trace_nvtx_open(domain, 0, &(struct cw_trace_label){.name = name});
}

/* A pop ends the range that was pushed last, also where that one is not followed; in its own domain. */
Test(trace, a_pop_beyond_what_is_followed_ends_no_other_range)
{
    begin(REST, NULL);
    open_named(2, "other");
    for (int i = 0; i < CW_TRACE_MOST_OPEN - 1; i++)
        open_named(1, i + 2 < CW_TRACE_MOST_OPEN ? "outer" : "last");
    for (int i = 0; i < 3; i++)
        open_named(1, "beyond");
    for (int i = 0; i < 3; i++)
        cw_trace_nvtx_close(1, 0);
    cr_expect_eq(cw_trace_sheets->page->rows[CW_TRACE_NVTX_RANGE], 3, "the lost ones");
    cw_trace_nvtx_close(1, 0);
    cr_expect_eq(cw_trace_sheets->page->rows[CW_TRACE_NVTX_RANGE], 4);
    cw_trace_rows_lock();
    cw_trace_rows_send();
    cw_trace_rows_unlock();
    drain();
    cr_expect_eq(heard.rows[CW_TRACE_NVTX_RANGE], 1);
    cr_expect_str_eq(text(CW_TRACE_NVTX_RANGE, CW_FIELD_NAME), "last");
    cr_expect_eq(cw_trace_sheets->page->lost[CW_TRACE_NVTX_RANGE], 3);
    end();
    cr_expect_eq(heard.rows[CW_TRACE_NVTX_RANGE] + 3, cw_trace_sheets->page->rows[CW_TRACE_NVTX_RANGE]);
}

/* Of ranges those are kept that a window was open in, and of marks those in it; what is not kept costs no text. */
Test(trace, ranges_are_kept_that_a_window_was_open_in)
{
    enum { MANY = 100000 };
    char name[32];
    prepare();
    fake_profiler.slow = true;
    open_named(1, "since before the trace");
    open_named(1, "over before it");
    cw_trace_nvtx_close(1, 0);
    cw_trace_nvtx_mark(1, &label);
    windows.profiler = true;
    start(REST);
    const uint32_t texts = cw_trace_sheets->last_text;
    open_named(1, "since before the window");
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "outside %d", i);
        open_named(1, name);
        cw_trace_nvtx_close(1, 0);
        cw_trace_nvtx_mark(1, &(struct cw_trace_label){.name = name});
    }
    cr_expect_eq(cw_trace_sheets->last_text, texts);
    profile();
    open_named(1, "in it");
    cw_trace_nvtx_mark(1, &label);
    call(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuProfilerStop, CUDA_SUCCESS, 5, NULL, NULL);
    cw_trace_nvtx_close(1, 0);
    cr_expect_eq(cw_trace_sheets->page->rows[CW_TRACE_NVTX_RANGE], 1);
    cw_trace_nvtx_close(1, 0);
    cr_expect_eq(cw_trace_sheets->page->rows[CW_TRACE_NVTX_RANGE], 2);
    open_named(1, "behind it");
    end();
    cr_expect_eq(heard.rows[CW_TRACE_NVTX_RANGE], 3);
    cr_expect_eq(heard.rows[CW_TRACE_NVTX_MARK], 1);
    cr_expect_str_eq(text(CW_TRACE_NVTX_RANGE, CW_FIELD_NAME), "since before the trace");
}

static void *call_runtime(void *thread)
{
    fake_profiler.thread = *(const uint64_t *)thread;
    call(CUPTI_CB_DOMAIN_RUNTIME_API, 3, CUDA_SUCCESS, 70, NULL, NULL);
    return NULL;
}

/* A thread is named once, whichever others call. */
Test(trace, each_thread_is_named_once)
{
    uint64_t here = 1000, other = 1000 + 1024;
    pthread_t second;
    begin(REST, NULL);
    call_runtime(&here);
    cr_assert(pthread_create(&second, NULL, call_runtime, &other) == 0 && pthread_join(second, NULL) == 0);
    call_runtime(&here);
    end();
    cr_expect_eq(heard.rows[CW_TRACE_RUNTIME], 3);
    cr_expect_eq(heard.rows[CW_TRACE_NAME], 2);
}

/* The agent reads the page: it must not shrink under it. */
Test(trace, the_page_cannot_shrink)
{
    int page = -1;
    prepare();
    cr_assert(cw_trace_rows_begin(GPU, UINT64_MAX, &page) && page >= 0);
    cr_expect(ftruncate(page, 0) != 0);
    fake_profiler_end();
}

/* A file of more than the program may write would end it by a signal: the trace ends instead. */
Test(trace, a_program_without_files_runs_on)
{
    const struct rlimit none = {0, RLIM_INFINITY};
    struct rlimit before;
    getrlimit(RLIMIT_FSIZE, &before);
    prepare();
    setrlimit(RLIMIT_FSIZE, &none);
    cw_trace_nvtx_mark(1, &label);
    start(GPU);
    setrlimit(RLIMIT_FSIZE, &before);
    cr_expect(cw_inject->over && !enabled);
}

static void stop_in_time(void)
{
    static int flushes;
    cw_trace_sheets->closed = ++flushes == 5;
}

/* A program that does nothing for a day makes no file of accounts. */
Test(trace, accounts_are_told_when_they_change)
{
    flush_ns = 1;
    begin(GPU, NULL);
    const CUpti_ActivityKernel9 k = kernel(1000);
    record(&k, sizeof k, 2);
    fake_profiler.slow = true;
    in_flush = stop_in_time;
    own_thread(NULL);
    drain();
    cr_expect_eq(heard.rows[CW_TRACE_KERNEL], 2);
    cr_expect_eq(heard.rows[CW_TRACE_ACCOUNT], 2, "of kernels and of shapes");
    in_flush = NULL;
    end();
}

/* The program goes on without it. */
Test(trace, an_agent_that_is_gone_costs_nothing_more)
{
    begin(GPU, NULL);
    cr_expect_neq(enabled, 0);
    cw_inject->over = true;
    own_thread(NULL);
    cr_expect_eq(enabled, 0);
    cw_inject->over = false;
    end();
}

static int flushes;

static void count_flushes(void)
{
    flushes++;
}

/* An agent may leave as the program ends: whoever comes second finds CUPTI taken down. */
Test(trace, it_ends_once)
{
    begin(GPU, NULL);
    in_flush = count_flushes;
    mode->finish();
    cr_expect_eq(flushes, 1);
    end();
    cr_expect_eq(flushes, 1);
}

/* CUPTI may hand a buffer back when the trace that it is of is over. */
Test(trace, a_buffer_that_comes_late_is_none_of_the_next_trace)
{
    uint8_t *buffer;
    size_t size, most;
    begin(GPU, NULL);
    request(&buffer, &size, &most);
    end();
    cw_trace_buffers_reset();
    complete(context, 0, buffer, size, 0);
    cr_expect_eq(cw_trace_buffers->free_count, 0);
}
