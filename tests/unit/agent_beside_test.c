/* Kernels of two streams that wait for one another: the program goes on, whatever is collected. */
#include <criterion/criterion.h>

#include "agent/inject/driver/streams.h"
#include "agent/inject/memory/kernels.h"
#include "agent/inject/modes/batches.h"
#include "agent/inject/modes/multiplex.h"
#include "agent/inject/modes/range.h"
#include "tests/support/fake_profiler.h"

enum { KERNEL = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, ALL = FAKE_PARTS * FAKE_PASSES, SECOND = 1000000000 };

static const struct cw_inject_mode *mode;
static const CUcontext context = (CUcontext)0x10;
static const CUstream first = (CUstream)0x20, second = (CUstream)0x30;
/* Handles are how many parameters a kernel has: all zeros. The first of these waits for the second. */
static const CUfunction waiter = (CUfunction)1, setter = (CUfunction)2, plain = (CUfunction)3, other = (CUfunction)4;
static uint64_t zero;
static void *parameters[] = {&zero, &zero, &zero, &zero};
static uint32_t number;
static int replays, waiting; /* waiters that run */

static void run(CUfunction function)
{
    fake_profiler.device = fake_profiler.device * 3 + (uint32_t)(uintptr_t)function;
}

static CUresult launch_again(const CUlaunchConfig *config, CUfunction function, void **list, void **extra)
{
    cr_expect(config && list && !extra && fake_profiler.running);
    cr_expect(function != waiter, "it would wait for ever");
    replays++;
    run(function);
    return CUDA_SUCCESS;
}

static void launch(CUfunction function, CUstream stream)
{
    const cuLaunchKernel_params params = {
        .f = function, .gridDimX = 1, .blockDimX = 1, .hStream = stream, .kernelParams = parameters};
    fake_launch_begins(mode, KERNEL, &params, context, ++number);
    cr_expect(fake_profiler.range == CUPTI_UserRange || !fake_profiler.running || (!waiting && function != waiter),
              "CUPTI waits for each launch");
    waiting += function == waiter;
    waiting -= function == setter && waiting;
    fake_profiler.busy = waiting;
    run(function);
    fake_launch_ends(mode, KERNEL, &params, context, number, CUDA_SUCCESS);
}

static void make_stream(CUstream stream, unsigned flags)
{
    const cuStreamCreate_params params = {.phStream = &stream, .Flags = flags};
    fake_call(cw_streams_follow, CUPTI_DRIVER_TRACE_CBID_cuStreamCreate, &params, CUDA_SUCCESS);
}

static void begin(const struct cw_inject_mode *which, enum cw_replay_kind replay)
{
    struct cw_writer setup;
    const bool batch = which == &cw_inject_batch;
    mode = which;
    fake_profiler_begin(&setup, batch ? FAKE_PARTS : 1, batch ? FAKE_PASSES : 1);
    fake_ask(&setup, replay, false, NULL);
    if (which == &cw_inject_multiplex) {
        cw_write_u32(&setup, 1);
        cw_write_u32(&setup, 0);
    }
    fake_profiler.in_turn = which == &cw_inject_multiplex;
    cw_inject->api.cuLaunchKernelEx = launch_again;
    fake_profiler.current = context;
    fake_profiler.device = 1;
    fake_setup(mode, &setup);
    mode->context_created(context, 0);
}

static void end(uint32_t expected)
{
    mode->finish();
    cr_expect(!cw_inject->over, "%s", fake_profiler.failure);
    cr_expect_eq(fake_profiler.device, expected);
    mode->context_destroyed(context);
    cr_expect(!fake_profiler.running && !fake_profiler.open);
    fake_profiler_end();
}

static uint32_t after(uint32_t memory, CUfunction function)
{
    return memory * 3 + (uint32_t)(uintptr_t)function;
}

/* The first time it is found, and from then on it costs next to nothing. */
static void two_that_wait(const struct cw_inject_mode *which, enum cw_replay_kind replay)
{
    enum { ROUNDS = 5 };
    uint32_t expected = 1;
    begin(which, replay);
    make_stream(first, CU_STREAM_DEFAULT);
    make_stream(second, CU_STREAM_DEFAULT);
    uint64_t found_ns = 0;
    for (int i = 0; i < ROUNDS; i++) {
        launch(waiter, first);
        launch(setter, second);
        expected = after(after(expected, waiter), setter);
        found_ns = i ? found_ns : fake_profiler.now_ns;
    }
    cr_expect_eq(cw_kernel_habit(waiter), CW_KERNEL_WAITS);
    cr_expect_lt(fake_profiler.now_ns - found_ns, (uint64_t)SECOND, "%llu ns",
                 (unsigned long long)(fake_profiler.now_ns - found_ns));
    launch(plain, first);
    launch(plain, first);
    end(after(after(expected, plain), plain));
    uint32_t counted = 0;
    for (uint32_t i = 0; i < fake_profiler.sent_count; i++)
        counted += !fake_profiler.sent[i].unwanted;
    cr_expect(counted && fake_profiler.skipped);
    cr_expect_eq(counted + fake_profiler.skipped, 2 * ROUNDS + 2, "%u and %u", counted, fake_profiler.skipped);
}

Test(beside, batches_do_not_hold_up_kernels_that_wait_for_others)
{
    two_that_wait(&cw_inject_batch, CW_REPLAY_BATCH);
}

Test(beside, nor_does_multiplexing)
{
    two_that_wait(&cw_inject_multiplex, CW_REPLAY_MULTIPLEX);
}

Test(beside, nor_does_application_replay)
{
    two_that_wait(&cw_inject_range, CW_REPLAY_APPLICATION);
}

/* Kernel replay would lose passes of each kernel's first launch, and nearly no kernel waits so. */
Test(beside, other_replay_counts_the_first_launch_of_each_kernel)
{
    for (enum cw_replay_kind replay = CW_REPLAY_KERNEL; replay <= CW_REPLAY_APPLICATION; replay++) {
        begin(&cw_inject_range, replay);
        make_stream(first, CU_STREAM_NON_BLOCKING);
        make_stream(second, CU_STREAM_NON_BLOCKING);
        launch(plain, first);
        launch(plain, second);
        end(after(after(1, plain), plain));
        cr_expect_eq(fake_profiler.sent_count, 2);
        cr_expect_eq(fake_profiler.skipped, 0);
    }
}

/* Others are collected, and nothing is lost, also where new kernels come among known ones. */
Test(beside, what_does_not_wait_has_all_passes)
{
    begin(&cw_inject_batch, CW_REPLAY_BATCH);
    make_stream(first, CU_STREAM_NON_BLOCKING);
    make_stream(second, CU_STREAM_NON_BLOCKING);
    launch(plain, first);
    launch(setter, second);
    launch(plain, first);
    cr_expect_eq(fake_profiler.starts, 0, "the program's own launches are not held up");
    end(after(after(after(1, plain), setter), plain));
    cr_expect_eq(replays, 3 * ALL);
    cr_assert_eq(fake_profiler.sent_count, 3);
    cr_expect_eq(fake_profiler.skipped, 0);
    for (int i = 0; i < 3; i++)
        cr_expect_eq(fake_profiler.sent[i].replay, CW_REPLAY_BATCH);
}

static bool waited_again;

static void note_wait(void)
{
    waited_again = true;
}

static void launch_beside(void)
{
    launch(plain, second);
    fake_profiler.beside = note_wait;
}

/* What waits for a context lets go others on, and memory is not put back under what they launch. */
Test(beside, what_another_thread_launches_while_a_batch_comes_to_rest_is_waited_for)
{
    begin(&cw_inject_batch, CW_REPLAY_BATCH);
    make_stream(first, CU_STREAM_NON_BLOCKING);
    make_stream(second, CU_STREAM_NON_BLOCKING);
    launch(plain, first);
    fake_profiler.beside = launch_beside;
    end(after(after(1, plain), plain));
    cr_expect(waited_again);
    cr_expect_eq(replays, 2 * ALL);
    cr_expect_eq(fake_profiler.sent_count, 2);
}

/* One stream has no other to wait for. */
Test(beside, a_program_with_one_stream_is_counted_at_once)
{
    begin(&cw_inject_batch, CW_REPLAY_BATCH);
    make_stream(first, CU_STREAM_DEFAULT);
    launch(plain, first);
    launch(setter, first);
    cr_expect_eq(fake_profiler.starts, 1);
    end(after(after(1, plain), setter));
    cr_expect_eq(replays, 2 * (ALL - 1));
    cr_expect_eq(fake_profiler.sent_count, 2);
}

/* A batch that is counted already ends before a kernel that nobody knows comes to run beside other streams. */
Test(beside, a_new_kernel_ends_a_batch_that_is_counted)
{
    begin(&cw_inject_batch, CW_REPLAY_BATCH);
    make_stream(first, CU_STREAM_DEFAULT);
    launch(plain, first);
    cr_expect_eq(fake_profiler.starts, 1);
    make_stream(second, CU_STREAM_DEFAULT);
    launch(waiter, first);
    launch(setter, second);
    end(after(after(after(1, plain), waiter), setter));
    cr_expect_eq(fake_profiler.sent_count, 1);
    cr_expect_eq(fake_profiler.skipped, 2);
}

/* What the program computed is there, and nothing is put back. */
Test(beside, launches_before_another_process_has_the_counters_are_left_out)
{
    begin(&cw_inject_batch, CW_REPLAY_BATCH);
    make_stream(first, CU_STREAM_DEFAULT);
    make_stream(second, CU_STREAM_DEFAULT);
    launch(plain, first);
    launch(setter, second);
    fake_profiler.taken = "a launch while another process held the counters";
    end(after(after(1, plain), setter));
    cr_expect(!replays && !fake_profiler.restored && fake_profiler.skipped == 2);
    cr_expect_str_eq(fake_profiler.why, "a launch while another process held the counters");
}

/* What stands by has none. */
Test(beside, a_batch_without_counters_goes_on_where_another_process_waits_for_them)
{
    begin(&cw_inject_batch, CW_REPLAY_BATCH);
    make_stream(first, CU_STREAM_DEFAULT);
    make_stream(second, CU_STREAM_DEFAULT);
    launch(plain, first);
    fake_profiler.now_ns += SECOND;
    fake_profiler.give_way("0000:0a:00.0");
    cr_expect(!fake_profiler.starts && !fake_profiler.given && !fake_profiler.sent_count);
    launch(setter, second);
    end(after(after(1, plain), setter));
    cr_expect_eq(fake_profiler.sent_count, 2);
}

static uint32_t released;
static CUptiResult (*release_one)(struct cw_checkpoint *);

static CUptiResult release(struct cw_checkpoint *checkpoint)
{
    released++;
    cr_expect(!fake_profiler.busy, "it would wait for the kernel");
    return release_one(checkpoint);
}

/* Memory is given back once nothing runs. */
Test(beside, an_abandoned_capture_keeps_no_memory)
{
    begin(&cw_inject_batch, CW_REPLAY_BATCH);
    release_one = cw_checkpoint_library->release;
    cw_checkpoint_library->release = release;
    make_stream(first, CU_STREAM_DEFAULT);
    make_stream(second, CU_STREAM_DEFAULT);
    launch(plain, first);
    cw_inject->over = true;
    mode->abandoned();
    cr_expect_eq(released, 1);
    fake_profiler_end();
}

Test(beside, nor_does_one_while_a_kernel_waits)
{
    begin(&cw_inject_batch, CW_REPLAY_BATCH);
    release_one = cw_checkpoint_library->release;
    cw_checkpoint_library->release = release;
    make_stream(first, CU_STREAM_DEFAULT);
    make_stream(second, CU_STREAM_DEFAULT);
    launch(waiter, first);
    cr_expect_eq(released, 0);
    launch(setter, second);
    launch(plain, first);
    cr_expect_eq(released, 1, "by then");
    end(after(after(after(1, waiter), setter), plain));
}

/* Nothing waits for a context while a stream is captured. */
Test(beside, a_batch_ends_before_a_capture)
{
    begin(&cw_inject_batch, CW_REPLAY_BATCH);
    make_stream(first, CU_STREAM_DEFAULT);
    make_stream(second, CU_STREAM_DEFAULT);
    launch(plain, first);
    mode->rest();
    cr_expect_eq(fake_profiler.sent_count, 1);
    fake_capture(mode, context, first, true);
    launch(setter, second);
    fake_capture(mode, context, first, false);
    end(after(after(1, plain), setter));
    cr_expect(fake_profiler.sent_count == 1 && fake_profiler.skipped == 1);
}

static void set_beside(void)
{
    launch(setter, second);
}

/* What another thread launches meanwhile may be what it has waited for. */
Test(beside, a_kernel_that_came_to_rest_beside_another_is_not_known)
{
    begin(&cw_inject_batch, CW_REPLAY_BATCH);
    make_stream(first, CU_STREAM_DEFAULT);
    make_stream(second, CU_STREAM_DEFAULT);
    fake_profiler.beside = set_beside;
    launch(waiter, first);
    cr_expect_neq(cw_kernel_habit(waiter), CW_KERNEL_RESTS);
    fake_profiler.beside = NULL;
    cw_inject->over = true;
    fake_profiler_end();
}

/* ---- streams that wait ------------------------------------------------------------------------------------------- */

static const struct fake_name waits[] = {{CUPTI_DRIVER_TRACE_CBID_cuLaunchHostFunc, "cuLaunchHostFunc"},
                                         {CUPTI_DRIVER_TRACE_CBID_cuStreamWaitValue32_v2, "cuStreamWaitValue32_v2"},
                                         {0}};

/* What is launched behind this call waits until `fake_profiler.busy` is over. */
static void block(CUpti_CallbackId id)
{
    uint64_t kept = 0;
    CUpti_CallbackData call = {.callbackSite = CUPTI_API_ENTER, .correlationData = &kept, .context = context};
    static const uint64_t params[64];
    CUresult result = CUDA_SUCCESS;
    call.functionParams = params;
    call.functionReturnValue = &result;
    cr_assert(mode->wants(id));
    mode->call_entered(id, &call);
    cr_expect(!fake_profiler.running, "it would hold up what is counted");
    fake_profiler.busy = true;
    call.callbackSite = CUPTI_API_EXIT;
    mode->call_left(id, &call);
}

static void blocked(const struct cw_inject_mode *which, enum cw_replay_kind replay, CUpti_CallbackId id)
{
    begin(which, replay);
    fake_names = waits;
    cw_record_init();
    launch(plain, NULL);
    block(id);
    const uint64_t before = fake_profiler.now_ns;
    const cuLaunchKernel_params params = {.f = plain, .gridDimX = 1, .blockDimX = 1, .kernelParams = parameters};
    fake_launch_begins(mode, KERNEL, &params, context, ++number);
    cr_expect(!fake_profiler.running, "CUPTI would wait for it");
    run(plain);
    fake_launch_ends(mode, KERNEL, &params, context, number, CUDA_SUCCESS);
    cr_expect_lt(fake_profiler.now_ns - before, (uint64_t)SECOND);
    fake_profiler.busy = false;
    launch(plain, NULL);
    end(after(after(after(1, plain), plain), plain));
    cr_expect_eq(fake_profiler.sent_count, 2);
    cr_expect_eq(fake_profiler.skipped, 1);
}

Test(beside, a_function_of_the_host_holds_no_kernel_replay_up)
{
    blocked(&cw_inject_range, CW_REPLAY_KERNEL, CUPTI_DRIVER_TRACE_CBID_cuLaunchHostFunc);
}

Test(beside, nor_batches)
{
    blocked(&cw_inject_batch, CW_REPLAY_BATCH, CUPTI_DRIVER_TRACE_CBID_cuLaunchHostFunc);
}

Test(beside, nor_application_replay)
{
    blocked(&cw_inject_range, CW_REPLAY_APPLICATION, CUPTI_DRIVER_TRACE_CBID_cuLaunchHostFunc);
}

Test(beside, nor_multiplexing)
{
    blocked(&cw_inject_multiplex, CW_REPLAY_MULTIPLEX, CUPTI_DRIVER_TRACE_CBID_cuLaunchHostFunc);
}

Test(beside, nor_does_a_value_that_a_stream_waits_for)
{
    blocked(&cw_inject_multiplex, CW_REPLAY_MULTIPLEX, CUPTI_DRIVER_TRACE_CBID_cuStreamWaitValue32_v2);
}

/* ---- what is known of kernels ----------------------------------------------------------------------------------- */

/* However near to each other their places are. */
Test(beside, many_kernels_are_known)
{
    enum { MANY = 2000 };
    begin(&cw_inject_batch, CW_REPLAY_BATCH);
    for (uintptr_t i = 1; i <= MANY; i++)
        cw_kernel_note((CUfunction)(i << 4), i % 2 ? CW_KERNEL_RESTS : CW_KERNEL_WAITS);
    for (uintptr_t i = 1; i <= MANY; i++)
        cr_expect_eq(cw_kernel_habit((CUfunction)(i << 4)), i % 2 ? CW_KERNEL_RESTS : CW_KERNEL_WAITS, "%zu",
                     (size_t)i);
    cw_kernel_forget();
    cr_expect_eq(cw_kernel_habit((CUfunction)(1 << 4)), CW_KERNEL_UNKNOWN);
    fake_profiler_end();
}

/* ---- streams ---------------------------------------------------------------------------------------------------- */

static bool overlaps(CUpti_CallbackId id, CUstream stream)
{
    const cuLaunchKernel_params params = {.f = other, .hStream = stream};
    const CUpti_CallbackData call = {.callbackSite = CUPTI_API_ENTER, .functionParams = &params};
    cw_streams_follow(id, &call);
    return cw_streams_overlap(id, &call);
}

Test(beside, streams_that_may_overlap)
{
    fake_profiler_begin(NULL, 1, 1);
    cr_expect(!overlaps(KERNEL, NULL) && !overlaps(KERNEL, CU_STREAM_LEGACY));
    make_stream(first, CU_STREAM_DEFAULT);
    cr_expect(!overlaps(KERNEL, first) && !overlaps(KERNEL, NULL), "they wait for each other by themselves");
    make_stream(second, CU_STREAM_NON_BLOCKING);
    cr_expect(overlaps(KERNEL, first) && overlaps(KERNEL, second) && overlaps(KERNEL, NULL));
    const cuStreamDestroy_params destroyed = {.hStream = first};
    fake_call(cw_streams_follow, CUPTI_DRIVER_TRACE_CBID_cuStreamDestroy_v2, &destroyed, CUDA_SUCCESS);
    cr_expect(overlaps(KERNEL, second), "beside the legacy stream");
    fake_profiler_end();
}

Test(beside, streams_of_threads_may_overlap)
{
    static const struct fake_name names[] = {{CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz, "cuLaunchKernel_ptsz"}, {0}};
    fake_profiler_begin(NULL, 1, 1);
    fake_names = names;
    cr_expect(!overlaps(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz, NULL), "one thread");
    fake_profiler.thread = 2;
    cr_expect(overlaps(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz, NULL));
    fake_profiler_end();
}
