/* Launches that are given memory of the host: they are part of a batch, and the program computes and finds there what
 * it does alone, whatever it writes between launches, and although it frees the memory. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <unistd.h>

#include "agent/inject/driver/reach.h"
#include "agent/inject/memory/kernels.h"
#include "agent/inject/memory/pinned.h"
#include "agent/inject/memory/regions.h"
#include "tests/support/fake_batches.h"

enum { KERNEL = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, WORDS = 1 << 14 };
static const CUcontext context = FAKE_BATCHES_CONTEXT;
static const CUfunction alone = (CUfunction)1, both = (CUfunction)2, waiting = (CUfunction)3; /* parameters of each */
static _Alignas(1 << 16) uint32_t memory[WORDS];                                              /* of the device */
static uint32_t expected, host_expected, late_repeats;
static struct pinned {
    uint32_t count, more;
} pinned[4]; /* nothing is allocated in between, where one would end as the other begins */
#define first pinned[0]
#define second pinned[2]
static CUresult (*launch_of_library)(const CUlaunchConfig *, CUfunction, void **, void **);

static void compute(CUfunction function, void **parameters)
{
    uint32_t *device = *(uint32_t **)parameters[0];
    struct pinned *host = function == both ? *(struct pinned **)parameters[1] : NULL;
    if (function == waiting) {
        late_repeats++;
        return;
    }
    *device = host ? *device * 3 + host->count : *device * 5 + 2;
    if (host)
        host->count += 2;
}

static CUresult launch_again(const CUlaunchConfig *config, CUfunction function, void **parameters, void **extra)
{
    if ((uintptr_t)function > 3)
        return launch_of_library(config, function, parameters, extra);
    compute(function, parameters);
    return CUDA_SUCCESS;
}

/* Events: the device's time at each is that of the test's clock. */
static uint64_t times[2];
static int events;

static CUresult create_event(CUevent *event, unsigned flags)
{
    *event = (CUevent)(uintptr_t)++events;
    return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static CUresult record_event(CUevent event, CUstream stream)
{
    times[((uintptr_t)event - 1) % 2] = fake_profiler.now_ns;
    return stream ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static CUresult query_event(CUevent event)
{
    return event && fake_profiler.busy ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

static CUresult time_between(float *ms, CUevent first_event, CUevent last)
{
    *ms = 1e-6f * (float)(times[((uintptr_t)last - 1) % 2] - times[((uintptr_t)first_event - 1) % 2]);
    return CUDA_SUCCESS;
}

static CUresult destroy_event(CUevent event)
{
    events -= event != NULL;
    return CUDA_SUCCESS;
}

static void follow(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    const bool entered = call->callbackSite == CUPTI_API_ENTER;
    CUpti_CallbackData mine = *call;
    mine.context = context;
    if (!entered)
        cw_pinned_follow(id, &mine);
    if (cw_inject_batch.wants(id))
        (entered ? cw_inject_batch.call_entered : cw_inject_batch.call_left)(id, &mine);
    if (entered)
        cw_pinned_follow(id, &mine);
}

static size_t rounding; /* bytes that the driver adds to what the program asks for */

static void allocate(struct pinned *host)
{
    const cuMemHostAlloc_params params = {.pp = (void **)&host, .bytesize = sizeof *host};
    struct fake_memory *m = fake_memory;
    while (m->size)
        m++;
    *m = (struct fake_memory){.start = host, .size = sizeof *host + rounding, .type = CU_MEMORYTYPE_HOST};
    *host = (struct pinned){1, 1};
    fake_call(follow, CUPTI_DRIVER_TRACE_CBID_cuMemHostAlloc, &params, CUDA_SUCCESS);
}

static void free_host(struct pinned *host)
{
    const cuMemFreeHost_params params = {.p = host};
    fake_call(follow, CUPTI_DRIVER_TRACE_CBID_cuMemFreeHost, &params, CUDA_SUCCESS);
    for (struct fake_memory *m = fake_memory; m < fake_memory + FAKE_MOST; m++)
        if (m->start == host)
            m->size = 0;
    host->count = 4711; /* another owner writes there */
}

static void set_up(void)
{
    static const struct fake_name names[] = {{CUPTI_DRIVER_TRACE_CBID_cuMemHostAlloc, "cuMemHostAlloc"},
                                             {CUPTI_DRIVER_TRACE_CBID_cuMemFreeHost, "cuMemFreeHost"},
                                             {CUPTI_DRIVER_TRACE_CBID_cuMemcpyAtoH_v2, "cuMemcpyAtoH_v2"},
                                             {CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeerAsync, "cuMemcpyPeerAsync"},
                                             {CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2, "cuMemcpyDtoHAsync_v2"},
                                             {0}};
    struct cw_writer setup;
    fake_batches_begin(&setup);
    fake_names = names;
    launch_of_library = cw_inject->api.cuLaunchKernelEx;
    cw_inject->api.cuLaunchKernelEx = launch_again;
    cw_inject->api.cuEventCreate = create_event;
    cw_inject->api.cuEventRecord = record_event;
    cw_inject->api.cuEventQuery = query_event;
    cw_inject->api.cuEventElapsedTime = time_between;
    cw_inject->api.cuEventDestroy_v2 = destroy_event;
    events = 0;
    memory[0] = expected = 1;
    late_repeats = 0;
    fake_batches_start(&setup, memory, sizeof memory);
}

TestSuite(given_host, .init = set_up, .fini = fake_batches_end);

static bool is_busy_behind; /* the next launch does not end while the program is held up */

/* The program's own launch, which computes on the expected numbers as well. */
static void launch(CUfunction function, struct pinned *host)
{
    static uint32_t number;
    uint32_t *device = memory, *mine = &expected;
    void *parameters[] = {function == waiting ? (void *)&host : &device, &host, &(uint64_t){0}};
    struct pinned copy = host ? *host : (struct pinned){0}, *other = &copy;
    const cuLaunchKernel_params params = {.f = function, .gridDimX = 1, .blockDimX = 1, .kernelParams = parameters};
    fake_launch_begins(&cw_inject_batch, KERNEL, &params, context, ++number);
    compute(function, (void *[]){&mine, &other});
    if (host)
        host_expected = copy.count;
    compute(function, parameters);
    fake_profiler.busy = fake_profiler.busy || is_busy_behind;
    is_busy_behind = false;
    fake_launch_ends(&cw_inject_batch, KERNEL, &params, context, number, CUDA_SUCCESS);
}

static void end_batch(void)
{
    cw_batch_end(cw_collection_find(context), "the test");
    cr_expect_eq(memory[0], expected);
}

/* The first launch of a kernel runs alone, because it may wait in the memory. */
static void make_known(struct pinned *host)
{
    launch(both, host);
    cr_expect_eq(fake_profiler.sent_count, 1);
    cr_expect_eq(memory[0], expected);
    cr_expect_eq(host->count, host_expected);
}

static bool is_open(void)
{
    return cw_batches->items[0].open;
}

Test(given_host, launches_of_known_kernels_are_part_of_a_batch)
{
    allocate(&first);
    make_known(&first);
    launch(both, &first);
    launch(alone, NULL);
    first.count = 70; /* what the program writes is what the next launch finds */
    launch(both, &first);
    launch(both, &first);
    cr_expect(is_open() && fake_profiler.sent_count == 1);
    first.count = 99;
    first.more = 5;
    end_batch();
    cr_expect(first.count == 99 && first.more == 5, "not %u", first.count);
    cr_expect_eq(fake_profiler.sent_count, 5);
    cr_expect_eq(fake_profiler.batches, 2);
}

Test(given_host, cupti_never_waits_for_them_in_the_programs_own_run)
{
    allocate(&first);
    make_known(&first);
    cw_batches->items[0].familiar = CW_MOST_FAMILIAR;
    launch(alone, NULL);
    cr_expect_gt(fake_profiler.running, 0);
    launch(both, &first);
    cr_expect_eq(fake_profiler.running, 0);
    end_batch();
    cr_expect_eq(fake_profiler.sent_count, 3);
    cr_expect_eq(first.count, host_expected);
}

Test(given_host, memory_may_be_set_and_freed_before_the_batch_ends)
{
    allocate(&first);
    make_known(&first);
    launch(both, &first);
    allocate(&second);
    const cuMemsetD32Async_params set = {.dstDevice = (uintptr_t)&second.count, .ui = 3, .N = 1};
    second.count = 3;
    fake_call(follow, CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async, &set, CUDA_SUCCESS);
    launch(both, &second);
    launch(both, &second);
    free_host(&second);
    cr_expect(is_open());
    launch(alone, NULL);
    end_batch();
    cr_expect_eq(second.count, 4711, "nobody writes memory that is freed");
    cr_expect_eq(fake_profiler.sent_count, 5);
    cr_expect_eq(fake_device.on_host, 0, "the copy is freed");
}

/* The copy that stands for freed memory is as large as the program's. */
Test(given_host, memory_may_be_larger_to_the_driver)
{
    rounding = sizeof(struct pinned);
    allocate(&first);
    make_known(&first);
    launch(both, &first);
    allocate(&second);
    launch(both, &second);
    free_host(&second);
    cr_expect(is_open());
    end_batch();
    cr_expect_eq(fake_profiler.sent_count, 3);
    cr_expect_eq(fake_device.on_host, 0);
}

Test(given_host, memory_that_was_there_before_ends_the_batch_where_it_is_freed)
{
    allocate(&first);
    make_known(&first);
    launch(both, &first);
    free_host(&first);
    cr_expect(!is_open());
    cr_expect_eq(memory[0], expected);
    cr_expect_eq(fake_profiler.sent_count, 2);
}

/* Else each such batch would end where its memory is freed, and so would the next one's. */
Test(given_host, memory_that_came_between_batches_is_freed_beside_the_next)
{
    allocate(&first);
    make_known(&first);
    launch(both, &first);
    free_host(&first);
    cr_expect(!is_open());
    allocate(&second);
    launch(both, &second);
    free_host(&second);
    cr_expect(is_open());
    end_batch();
    cr_expect_eq(fake_profiler.sent_count, 3);
}

Test(given_host, but_not_behind_a_copy_that_may_have_brought_its_address)
{
    const cuMemcpyHtoDAsync_v2_params copy = {.dstDevice = (uintptr_t)memory + 64, .srcHost = &first, .ByteCount = 8};
    allocate(&first);
    make_known(&first);
    launch(both, &first);
    free_host(&first);
    allocate(&second);
    fake_call(follow, CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2, &copy, CUDA_SUCCESS);
    launch(both, &second);
    free_host(&second);
    cr_expect(!is_open());
    cr_expect_eq(memory[0], expected);
}

/* ---- several devices --------------------------------------------------------------------------------------------- */

static const CUcontext other_device = FAKE_CONTEXTS_OF_SECOND_DEVICE;

static void call_of_other(CUpti_CallbackId id, const void *params)
{
    uint64_t kept;
    CUresult result = CUDA_SUCCESS;
    CUpti_CallbackData call = {
        .callbackSite = CUPTI_API_ENTER, .correlationData = &kept, .functionParams = params, .context = other_device};
    cw_inject_batch.call_entered(id, &call);
    call.callbackSite = CUPTI_API_EXIT;
    call.functionReturnValue = &result;
    cw_inject_batch.call_left(id, &call);
}

/* A copy of the other device, from the host memory. */
static void copy_to_other(struct pinned *host)
{
    const cuMemcpyHtoD_v2_params params = {.dstDevice = 0x10000000, .srcHost = host, .ByteCount = sizeof *host};
    call_of_other(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2, &params);
}

Test(given_host, memory_that_one_device_uses_is_part_of_a_batch_beside_others)
{
    cw_inject_batch.context_created(other_device, 1);
    allocate(&first);
    make_known(&first);
    launch(both, &first);
    launch(alone, NULL);
    launch(both, &first);
    cr_expect(is_open());
    end_batch();
    cr_expect_eq(first.count, host_expected);
    cr_expect_eq(fake_profiler.sent_count, 4);
    cw_inject_batch.context_destroyed(other_device);
}

/* A kernel of the batch may reach it by a table that was copied before. */
Test(given_host, memory_older_than_a_batch_ends_it_where_it_is_freed_whoever_used_it)
{
    cw_inject_batch.context_created(other_device, 1);
    allocate(&first);
    allocate(&second);
    make_known(&first);
    launch(both, &first);
    copy_to_other(&second);
    free_host(&second);
    cr_expect(!is_open());
    cr_expect_eq(memory[0], expected);
    cw_inject_batch.context_destroyed(other_device);
}

/* Nobody has looked at the launches before. */
Test(given_host, memory_that_was_there_before_a_second_device_may_be_used_by_the_first)
{
    allocate(&first);
    make_known(&first);
    launch(both, &first);
    cr_assert(is_open());
    cw_inject_batch.context_created(other_device, 1);
    copy_to_other(&first);
    cr_expect(!is_open());
    free_host(&first);
    cr_expect_eq(first.count, 4711);
    cw_inject_batch.context_destroyed(other_device);
}

Test(given_host, another_devices_set_uses_the_memory)
{
    const cuMemsetD32Async_params set = {.dstDevice = (uintptr_t)&first.more, .ui = 3, .N = 1};
    cw_inject_batch.context_created(other_device, 1);
    allocate(&first);
    make_known(&first);
    launch(both, &first);
    call_of_other(CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async, &set);
    cr_expect(!is_open(), "it may run beside what is repeated");
    launch(both, &first);
    cr_expect(!is_open());
    cw_inject_batch.context_destroyed(other_device);
}

/* The stream of a copy may be of the other device, although this one is current. */
Test(given_host, a_copy_of_another_devices_memory_uses_the_memory_there)
{
    const cuMemcpyDtoHAsync_v2_params copy = {
        .dstHost = &first.more, .srcDevice = 0x10000000, .ByteCount = 4, .hStream = (CUstream)0x99};
    cw_inject_batch.context_created(other_device, 1);
    allocate(&first);
    fake_memory[FAKE_MOST - 1] = (struct fake_memory){(void *)0x10000000, 0x1000, CU_MEMORYTYPE_DEVICE, false, 1};
    make_known(&first);
    launch(both, &first);
    cr_assert(is_open());
    fake_call(follow, CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2, &copy, CUDA_SUCCESS);
    cr_expect(!is_open());
    cw_inject_batch.context_destroyed(other_device);
}

Test(given_host, a_copy_that_is_not_understood_uses_all_memory)
{
    cw_inject_batch.context_created(other_device, 1);
    allocate(&first);
    make_known(&first);
    launch(both, &first);
    call_of_other(CUPTI_DRIVER_TRACE_CBID_cuMemcpyAtoH_v2, &(cuMemcpyAtoH_v2_params){0});
    cr_expect(!is_open());
    cw_inject_batch.context_destroyed(other_device);
}

/* Each launch and copy is looked at from the second device on. */
Test(given_host, a_third_device_and_a_copy_between_devices_share_nothing)
{
    const CUcontext third = (CUcontext)0x30;
    cw_inject_batch.context_created(other_device, 1);
    allocate(&first);
    cw_inject_batch.context_created(third, 2);
    call_of_other(CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeerAsync, &(cuMemcpyPeerAsync_params){0});
    make_known(&first);
    launch(both, &first);
    launch(both, &first);
    cr_expect(is_open());
    end_batch();
    cr_expect_eq(fake_profiler.sent_count, 3);
    cw_inject_batch.context_destroyed(third);
    cw_inject_batch.context_destroyed(other_device);
}

Test(given_host, managed_memory_is_in_no_batch_beside_another_device)
{
    cw_inject_batch.context_created(other_device, 1);
    allocate(&first);
    for (struct fake_memory *m = fake_memory; m < fake_memory + FAKE_MOST; m++)
        if (m->start == &first) {
            m->type = CU_MEMORYTYPE_DEVICE;
            m->managed = true;
        }
    launch(both, &first);
    cw_inject_batch.finish();
    cr_assert_eq(fake_profiler.sent_count, 1);
    cr_expect_eq(fake_profiler.sent[0].replay, CW_REPLAY_MULTIPLEX);
    cw_inject_batch.context_destroyed(other_device);
}

/* Its first launch runs alone, and is repeated. */
Test(given_host, a_kernel_is_tried_where_devices_reach_each_other)
{
    cw_reach->reached = cw_reach->peers = true;
    allocate(&first);
    make_known(&first);
    cr_expect_eq(fake_profiler.skipped, 0);
}

Test(given_host, memory_that_several_devices_use_is_given_to_no_batch)
{
    cw_inject_batch.context_created(other_device, 1);
    allocate(&first);
    make_known(&first);
    launch(both, &first);
    copy_to_other(&first);
    cr_expect(!is_open(), "the copy reads what the program's own run wrote");
    cr_expect_eq(fake_profiler.sent_count, 2);
    launch(both, &first);
    cr_expect(!is_open());
    cw_inject_batch.finish();
    cr_assert_eq(fake_profiler.sent_count, 3);
    cr_expect_eq(fake_profiler.sent[2].replay, CW_REPLAY_MULTIPLEX);
    cr_expect_eq(memory[0], expected);
    cw_inject_batch.context_destroyed(other_device);
}

Test(given_host, memory_whose_address_went_to_the_device_ends_the_batch_where_it_is_freed)
{
    allocate(&first);
    make_known(&first);
    launch(alone, NULL);
    allocate(&second);
    struct pinned *table = &second;
    const cuMemcpyHtoDAsync_v2_params copy = {
        .dstDevice = (uintptr_t)&memory[8], .srcHost = &table, .ByteCount = sizeof table};
    memcpy(&memory[8], &table, sizeof table);
    fake_call(follow, CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2, &copy, CUDA_SUCCESS);
    cr_expect(is_open());
    free_host(&second);
    cr_expect(!is_open());
    cr_expect_eq(memory[0], expected);
}

static uint64_t waiting_number; /* an argument */

static uint64_t takes;

static void time_passes(void)
{
    fake_profiler.now_ns += takes;
}

static void launch_waiting(uint64_t takes_ns)
{
    static uint32_t number = 1000;
    struct pinned *host = &first;
    void *parameters[] = {&host, &waiting_number, &(uint64_t){0}};
    const cuLaunchKernel_params params = {.f = waiting, .gridDimX = 1, .blockDimX = 1, .kernelParams = parameters};
    fake_launch_begins(&cw_inject_batch, KERNEL, &params, context, ++number);
    fake_profiler.now_ns += takes_ns;
    takes = takes_ns;
    fake_profiler.beside = time_passes; /* while the library waits for it */
    fake_launch_ends(&cw_inject_batch, KERNEL, &params, context, number, CUDA_SUCCESS);
    fake_profiler.beside = NULL;
}

Test(given_host, memory_given_with_its_end_ends_the_batch_where_it_is_freed)
{
    allocate(&first);
    make_known(&first);
    launch(both, &first);
    allocate(&second);
    struct pinned *end = &second + 1;
    uint32_t *device = memory;
    void *parameters[] = {&device, &end};
    const cuLaunchKernel_params params = {.f = both, .gridDimX = 1, .blockDimX = 1, .kernelParams = parameters};
    fake_launch_begins(&cw_inject_batch, KERNEL, &params, context, 77);
    fake_launch_ends(&cw_inject_batch, KERNEL, &params, context, 77, CUDA_SUCCESS);
    cr_expect(is_open());
    memory[0] = expected = 5; /* what it did, which nobody does again here */
    cw_batches->items[0].spoilt = true;
    free_host(&second);
    cr_expect(!is_open());
}

/* The thread that has the memory may be reading it, or filling it anew. */
Test(given_host, is_not_repeated_where_another_thread_ends_the_batch)
{
    const uint64_t mine = (uint64_t)gettid(), others = 2;
    fake_profiler.thread = mine;
    allocate(&first);
    make_known(&first);
    launch(both, &first);
    launch(alone, NULL);
    fake_profiler.thread = others;
    first.count = 12;
    end_batch();
    cr_expect_eq(first.count, 12);
    cr_expect_eq(fake_profiler.sent_count, 1);
    cr_expect_eq(fake_profiler.skipped + cw_collection_find(context)->skipped, 2);
    fake_profiler.thread = mine; /* which goes on */
    launch(both, &first);
    fake_profiler.thread = others;
    end_batch();
    cr_expect_eq(fake_profiler.sent_count, 1);
    launch(both, &first);
    cr_expect(!is_open() && fake_profiler.sent_count == 2, "each is a batch of its own for a while");
    for (int i = 0; i < 4; i++)
        launch(both, &first);
    cr_expect(is_open());
}

Test(given_host, is_repeated_where_the_thread_that_had_the_memory_is_gone)
{
    fake_profiler.thread = 1; /* of another process, if of any */
    allocate(&first);
    make_known(&first);
    launch(both, &first);
    fake_profiler.thread = 2;
    end_batch();
    cr_expect_eq(fake_profiler.sent_count, 2);
    cr_expect_eq(first.count, host_expected);
}

Test(given_host, is_repeated_where_another_thread_ends_the_batch_behind_its_memory)
{
    allocate(&first);
    make_known(&first);
    launch(both, &first);
    end_batch();
    launch(alone, NULL);
    allocate(&second);
    launch(both, &second);
    free_host(&second);
    fake_profiler.thread = 2;
    end_batch();
    cr_expect_eq(fake_profiler.sent_count, 4);
}

/* A kernel that rested before waits for the program this time: it would wait when it is repeated. */
Test(given_host, is_not_repeated_where_it_does_not_end_by_itself_this_time)
{
    allocate(&first);
    make_known(&first);
    launch(both, &first);
    is_busy_behind = true;
    launch(both, &first);
    fake_profiler.busy = false;
    end_batch();
    cr_expect_eq(first.count, host_expected);
    cr_expect_eq(fake_profiler.sent_count, 1);
    cr_expect_eq(cw_kernel_habit(both), CW_KERNEL_WAITS);
}

/* A kernel with a time limit of its own, such as XLA's, which holds a stream until the host has queued its work. */
Test(given_host, a_kernel_that_the_programs_next_step_lets_go_passes_by)
{
    allocate(&first);
    cw_regions_meet(waiting);
    cw_kernel_note(alone, CW_KERNEL_RESTS);
    launch(alone, NULL);
    launch_waiting(2 * CW_SLOW_NS); /* until its limit, as the program is held up */
    cr_expect_eq(fake_profiler.sent_count, 2);
    cr_expect_gt(late_repeats, 0);
    late_repeats = 0;
    const cuModuleUnload_params unload = {.hmod = (CUmodule)0x99}; /* code of others */
    fake_call(follow, CUPTI_DRIVER_TRACE_CBID_cuModuleUnload, &unload, CUDA_SUCCESS);
    launch_waiting(100);
    fake_profiler.busy = true;
    launch(alone, NULL); /* behind it */
    fake_profiler.busy = false;
    cr_expect(!is_open());
    fake_profiler.now_ns += 2 * CW_SLOW_NS; /* before anyone looks */
    launch(alone, NULL);
    cr_expect_eq(events, 0);
    cr_expect_eq(cw_kernel_habit(waiting), CW_KERNEL_SIGNALS);
    launch_waiting(100);
    cr_expect(is_open());
    fake_profiler.busy = true;
    launch(alone, NULL);
    fake_profiler.busy = false;
    end_batch();
    cr_expect_eq(late_repeats, 0);
    cr_expect_eq(fake_profiler.sent_count, 4);
    cr_expect_eq(fake_profiler.skipped + cw_collection_find(context)->skipped, 3);
}

Test(given_host, a_kernel_that_takes_as_long_again_is_slow_and_no_more)
{
    allocate(&first);
    launch_waiting(2 * CW_SLOW_NS);
    launch_waiting(2 * CW_SLOW_NS);
    launch(alone, NULL);
    cr_expect_eq(cw_kernel_habit(waiting), CW_KERNEL_RESTS);
    launch_waiting(2 * CW_SLOW_NS);
    launch_waiting(2 * CW_SLOW_NS);
    end_batch();
    cr_expect_eq(fake_profiler.sent_count, 4);
    cr_expect_eq(events, 0);
}

/* The same shape with other numbers is no proof. */
Test(given_host, a_kernel_with_other_arguments_is_not_the_same_again)
{
    allocate(&first);
    launch_waiting(2 * CW_SLOW_NS);
    waiting_number = 7;
    launch_waiting(100);
    waiting_number = 0;
    end_batch();
    cr_expect_eq(fake_profiler.sent_count, 2);
    cr_expect_eq(cw_kernel_habit(waiting), CW_KERNEL_RESTS);
}

Test(given_host, kernels_stay_known_while_code_of_others_is_unloaded)
{
    CUmodule one = (CUmodule)0x66, other = (CUmodule)0x67;
    cw_regions_meet(both);
    cw_kernel_note(both, CW_KERNEL_RESTS);
    cw_kernel_forget_module(other);
    cw_regions_forget_module(other);
    cr_expect_eq(cw_kernel_habit(both), CW_KERNEL_RESTS);
    cw_kernel_forget_module(one);
    cw_regions_forget_module(one);
    cr_expect_eq(cw_kernel_habit(both), CW_KERNEL_UNKNOWN);
    cr_expect_null(cw_regions_module(both));
}
