/* Batches of a program whose memory others reach: which launches are repeated, and how one is found that reaches such
 * memory without being given its address. Memory of each device is one number, shared memory another. */
#include <criterion/criterion.h>

#include "agent/inject/driver/in_flight.h"
#include "agent/inject/driver/reach.h"
#include "agent/inject/memory/checkpoint.h"
#include "agent/inject/memory/kernels.h"
#include "agent/inject/modes/batches.h"
#include "agent/inject/memory/pinned.h"
#include "tests/support/fake_profiler.h"

enum {
    KERNEL = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
    PEERS = CUPTI_DRIVER_TRACE_CBID_cuCtxEnablePeerAccess,
    SHARES = CUPTI_DRIVER_TRACE_CBID_cuIpcGetMemHandle,
    COPIES = CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2,
    BETWEEN = CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeerAsync,
    VARIES = CUPTI_DRIVER_TRACE_CBID_cuModuleGetGlobal_v2,
    REPEATS = FAKE_PARTS * FAKE_PASSES - 1,
};

static const struct fake_name names[] = {{PEERS, "cuCtxEnablePeerAccess"}, {SHARES, "cuIpcGetMemHandle"},
                                         {COPIES, "cuMemcpyHtoD_v2"},      {BETWEEN, "cuMemcpyPeerAsync"},
                                         {VARIES, "cuModuleGetGlobal_v2"}, {0}};
static const struct cw_inject_mode *const mode = &cw_inject_batch;
static const CUcontext first = (CUcontext)0x10, second = FAKE_CONTEXTS_OF_SECOND_DEVICE;
/* Functions are the numbers of their parameters. */
static const CUfunction one = (CUfunction)1, other = (CUfunction)2, planted = (CUfunction)3, hash = (CUfunction)0x777;
static uint64_t shared[4], words[3], sum;
static uint64_t private_memory = UINT64_C(0x7e0000000000), shared_memory, peer_memory = UINT64_C(0x7f0000000000);
static CUcontext context;
static uint32_t correlation;
static int replays, hashes;

/* ---- what the device does --------------------------------------------------------------------------------------- */

static void run(CUfunction function)
{
    fake_profiler.device = fake_profiler.device * 3 + 1;
    if (function == planted)
        shared[1]++;
}

static CUresult launch(const CUlaunchConfig *config, CUfunction function, void **list, void **extra)
{
    cr_expect(config && list && !extra);
    if (function == hash) {
        cr_expect(!fake_profiler.running, "CUPTI would count it");
        const uint64_t *memory = *(const uint64_t **)list[0], count = *(uint64_t *)list[1];
        for (uint64_t i = 0; i < count; i++)
            sum += memory[i] * (i + 1 + *(uint64_t *)list[2]);
        hashes++;
        return CUDA_SUCCESS;
    }
    run(function);
    replays++;
    return CUDA_SUCCESS;
}

static CUresult load(CUmodule *module, const void *code)
{
    cr_expect_not_null(strstr(code, ".entry hash("));
    *module = (CUmodule)&sum;
    return CUDA_SUCCESS;
}

static CUresult get_function(CUfunction *function, CUmodule module, const char *name)
{
    cr_expect(module == (CUmodule)&sum && strcmp(name, "hash") == 0);
    *function = hash;
    return CUDA_SUCCESS;
}

static CUresult allocate(CUdeviceptr *memory, size_t size)
{
    cr_expect_eq(size, sizeof sum);
    *memory = (uintptr_t)&sum;
    return CUDA_SUCCESS;
}

static CUresult set(CUdeviceptr memory, unsigned value, size_t count, CUstream stream)
{
    cr_expect(memory == (uintptr_t)&sum && !value && count == 2 && !stream);
    sum = 0;
    return CUDA_SUCCESS;
}

static CUresult copy_out(void *to, CUdeviceptr from, size_t size)
{
    memcpy(to, (const void *)(uintptr_t)from, size);
    return CUDA_SUCCESS;
}

static CUresult device_of_context(CUdevice *device)
{
    *device = context == second;
    return CUDA_SUCCESS;
}

/* ---- the program ------------------------------------------------------------------------------------------------ */

static void *parameters[] = {&words[0], &words[1], &words[2]};

static cuLaunchKernel_params params_of(CUfunction function)
{
    return (cuLaunchKernel_params){.f = function, .gridDimX = 1, .blockDimX = 1, .kernelParams = parameters};
}

static uint32_t kernel_begins(CUfunction function, uint64_t address)
{
    const cuLaunchKernel_params params = params_of(function);
    const uint32_t number = ++correlation; /* others may launch meanwhile */
    words[0] = address;
    fake_launch_begins(mode, KERNEL, &params, context, number);
    return number;
}

static void kernel_ends(CUfunction function, uint32_t number)
{
    const cuLaunchKernel_params params = params_of(function);
    run(function);
    fake_launch_ends(mode, KERNEL, &params, context, number, CUDA_SUCCESS);
}

static void kernel(CUfunction function, uint64_t address)
{
    kernel_ends(function, kernel_begins(function, address));
}

/* A call as the library and its mode are told of it. */
static void call(CUpti_CallbackId id, const void *params)
{
    uint64_t kept;
    CUresult result = CUDA_SUCCESS;
    CUpti_CallbackData data = {.callbackSite = CUPTI_API_ENTER,
                               .correlationData = &kept,
                               .functionName = "call",
                               .functionParams = params,
                               .context = context};
    if (cw_reach_follow(id, &data)) {
        mode->rest();
        cw_reach_begin(id, &data);
        mode->rest();
    }
    mode->call_entered(id, &data);
    data.callbackSite = CUPTI_API_EXIT;
    data.functionReturnValue = &result;
    cw_reach_follow(id, &data);
    mode->call_left(id, &data);
}

static void share(void)
{
    const cuIpcGetMemHandle_params params = {.dptr = shared_memory};
    call(SHARES, &params);
}

static void copy_in(uint64_t to, const void *from, size_t size)
{
    const cuMemcpyHtoD_v2_params params = {.dstDevice = to, .srcHost = from, .ByteCount = size};
    call(COPIES, &params);
}

static void set_up(void)
{
    struct cw_writer setup;
    fake_profiler_begin(&setup, FAKE_PARTS, FAKE_PASSES);
    fake_ask(&setup, CW_REPLAY_BATCH, false, NULL);
    struct cw_cupti *api = &cw_inject->api;
    api->cuLaunchKernelEx = launch;
    api->cuModuleLoadData = load;
    api->cuModuleGetFunction = get_function;
    api->cuMemAlloc_v2 = allocate;
    api->cuMemsetD32Async = set;
    api->cuMemcpyDtoH_v2 = copy_out;
    api->cuCtxGetDevice = device_of_context;
    fake_names = names;
    shared_memory = (uintptr_t)shared;
    fake_memory[0] = (struct fake_memory){(void *)private_memory, 0x1000, CU_MEMORYTYPE_DEVICE, false, 0};
    fake_memory[1] = (struct fake_memory){shared, sizeof shared, CU_MEMORYTYPE_DEVICE, false, 0};
    fake_memory[2] = (struct fake_memory){(void *)peer_memory, 0x1000, CU_MEMORYTYPE_DEVICE, false, 1};
    cw_checkpoint_library->leaves_out = true;
    cw_reach_init();
    fake_profiler.device = 1;
    fake_setup(mode, &setup);
    fake_profiler.current = context = first;
    mode->context_created(first, 0);
}

static void tear_down(void)
{
    cr_expect(!cw_inject->over, "%s", fake_profiler.failure);
    mode->finish();
    mode->context_destroyed(first);
    cr_expect(!fake_profiler.running && !fake_profiler.open);
    free(cw_reach->ranges);
    fake_profiler_end();
}

TestSuite(reached, .init = set_up, .fini = tear_down);

static const char *const given = "it is given memory that other devices or processes can reach",
                         *const touched = "its kernel changed memory that other processes reach";

static void expect_sent(uint32_t number, const char *once)
{
    cr_assert_lt(number, fake_profiler.sent_count);
    cr_expect_str_eq(fake_profiler.sent[number].once, once, "launch %u: %s", number, fake_profiler.sent[number].once);
    cr_expect_eq(fake_profiler.sent[number].replay, *once ? CW_REPLAY_MULTIPLEX : CW_REPLAY_BATCH);
}

static uint32_t after(int launches)
{
    uint32_t memory = 1;
    for (int i = 0; i < launches; i++)
        memory = memory * 3 + 1;
    return memory;
}

/* ---- other devices ---------------------------------------------------------------------------------------------- */

/* A launch that is not given another device's memory is repeated, also where an address of that is in a table. */
Test(reached, where_devices_reach_each_other_launches_with_such_addresses_are_counted_once)
{
    const uint64_t table[] = {4, peer_memory + 64}, numbers[] = {4, 5};
    kernel(one, private_memory);
    call(PEERS, NULL);
    kernel(one, private_memory);
    kernel(one, peer_memory + 8);
    copy_in(private_memory + 512, table, sizeof table);
    copy_in(private_memory + 1024, numbers, sizeof numbers);
    kernel(one, private_memory + 512);
    kernel(one, private_memory + 1024);
    mode->finish();
    cr_assert_eq(fake_profiler.sent_count, 5);
    expect_sent(0, "");
    expect_sent(1, "");
    expect_sent(2, given);
    expect_sent(3, given);
    expect_sent(4, "");
    cr_expect_eq(fake_profiler.device, after(5));
    cr_expect_eq(fake_profiler.skipped, 0);
    cr_expect_eq(hashes, 0, "no other process reaches memory");
}

/* What is on this device is on another one for that one's launches. */
Test(reached, each_device_has_its_own_memory)
{
    mode->context_created(second, 1);
    call(PEERS, NULL);
    fake_profiler.current = context = second;
    kernel(one, peer_memory);
    kernel(one, private_memory);
    mode->finish();
    expect_sent(0, "");
    expect_sent(1, given);
    fake_profiler.current = context = first;
    mode->context_destroyed(second);
}

/* CUPTI would wait inside the launch for a kernel that waits for one of the other device. */
Test(reached, a_new_kernel_runs_without_cupti_where_devices_reach_each_other)
{
    mode->context_created(second, 1);
    call(PEERS, NULL);
    const uint32_t number = kernel_begins(one, private_memory);
    cr_expect_eq(cw_collections->slots[0].running, CW_STANDS_BY);
    kernel_ends(one, number);
    mode->finish();
    expect_sent(0, "");
    mode->context_destroyed(second);
}

/* A table holds addresses of the device on which it is not, whichever is current. */
Test(reached, a_table_may_be_copied_while_another_device_is_current)
{
    const uint64_t table[] = {private_memory};
    mode->context_created(second, 1);
    call(PEERS, NULL);
    copy_in(peer_memory + 512, table, sizeof table);
    fake_profiler.current = context = second;
    kernel(one, peer_memory + 512);
    mode->finish();
    expect_sent(0, given);
    fake_profiler.current = context = first;
    mode->context_destroyed(second);
}

Test(reached, a_table_may_be_copied_before_devices_reach_each_other)
{
    const uint64_t table[] = {peer_memory};
    mode->context_created(second, 1);
    copy_in(private_memory + 512, table, sizeof table);
    kernel(one, private_memory + 512);
    call(PEERS, NULL);
    kernel(one, private_memory + 512);
    mode->finish();
    expect_sent(0, "");
    expect_sent(1, given);
    mode->context_destroyed(second);
}

Test(reached, a_table_may_be_in_memory_of_the_host)
{
    static uint64_t table[4];
    const cuMemHostAlloc_params made = {.pp = (void *[]){table}, .bytesize = sizeof table};
    const CUresult good = CUDA_SUCCESS;
    const CUpti_CallbackData left = {
        .callbackSite = CUPTI_API_EXIT, .functionParams = &made, .functionReturnValue = (void *)(uintptr_t)&good};
    table[0] = peer_memory;
    fake_memory[3] = (struct fake_memory){table, sizeof table, CU_MEMORYTYPE_HOST, false, 0};
    cw_pinned_follow(CUPTI_DRIVER_TRACE_CBID_cuMemHostAlloc, &left);
    mode->context_created(second, 1);
    call(PEERS, NULL);
    cw_kernel_note(one, CW_KERNEL_RESTS);
    kernel(one, private_memory);
    kernel(one, (uintptr_t)table);
    mode->finish();
    expect_sent(0, "");
    expect_sent(1, "several GPUs may use the host memory that it is given");
    mode->context_destroyed(second);
    cw_pinned_forget();
}

/* The driver refuses it. */
Test(reached, a_copy_from_nowhere_is_not_read)
{
    mode->context_created(second, 1);
    copy_in(private_memory, NULL, 16);
    kernel(one, private_memory);
    mode->finish();
    expect_sent(0, "");
    mode->context_destroyed(second);
}

/* Until devices reach each other. */
Test(reached, a_variable_with_another_devices_address_does_no_harm_by_itself)
{
    CUdeviceptr variable = private_memory + 2048;
    size_t size = 64;
    const uint64_t table[] = {peer_memory};
    mode->context_created(second, 1);
    call(VARIES, &(cuModuleGetGlobal_v2_params){.dptr = &variable, .bytes = &size});
    copy_in(variable, table, sizeof table);
    kernel(one, private_memory);
    mode->finish();
    expect_sent(0, "");
    call(PEERS, NULL);
    kernel(one, private_memory);
    mode->finish();
    cr_assert_eq(fake_profiler.sent_count, 2);
    cr_expect_eq(fake_profiler.sent[1].replay, CW_REPLAY_MULTIPLEX);
    mode->context_destroyed(second);
}

/* Such a device has no collection, and what its launches write would be lost. */
Test(reached, beside_a_device_that_is_not_captured_nothing_is_repeated)
{
    const cuLaunchKernel_params params = params_of(other);
    call(PEERS, NULL);
    kernel(one, private_memory);
    cr_expect_eq(fake_profiler.sent_count, 0);
    fake_launch_begins(mode, KERNEL, &params, second, ++correlation);
    cr_expect_eq(fake_profiler.sent_count, 1, "the batch has ended");
    fake_launch_ends(mode, KERNEL, &params, second, correlation, CUDA_SUCCESS);
    kernel(one, private_memory);
    mode->finish();
    cr_assert_eq(fake_profiler.sent_count, 2);
    cr_expect_eq(fake_profiler.sent[1].replay, CW_REPLAY_MULTIPLEX);
}

/* It may write there, and what it writes would be lost with what is put back. */
Test(reached, a_launch_that_reaches_another_device_ends_batches_there)
{
    mode->context_created(second, 1);
    share();
    kernel(one, private_memory);
    fake_profiler.current = context = second;
    kernel(one, shared_memory);
    cr_expect_eq(fake_profiler.sent_count, 1, "the first device's batch");
    expect_sent(0, "");
    fake_profiler.current = context = first;
    mode->finish();
    expect_sent(1, given);
    mode->context_destroyed(second);
}

static void launch_on_first(void)
{
    fake_profiler.current = context = first;
    kernel(one, private_memory);
    fake_profiler.current = context = second;
}

/* Threads come to a collective one after another. */
Test(reached, a_launch_that_reaches_another_device_waits_for_what_goes_on_there)
{
    mode->context_created(second, 1);
    share();
    kernel(one, private_memory);
    fake_profiler.paused = launch_on_first;
    fake_profiler.current = context = second;
    const uint64_t before = fake_profiler.now_ns;
    kernel(one, shared_memory);
    cr_expect_null(fake_profiler.paused, "it waited");
    cr_expect_lt(fake_profiler.now_ns - before, UINT64_C(100000000));
    cr_expect_eq(fake_profiler.batches, 1);
    cr_expect_eq(fake_profiler.sent_count, 2, "both are in the first device's batch");
    fake_profiler.current = context = first;
    mode->finish();
    expect_sent(2, given);
    mode->context_destroyed(second);
}

Test(reached, no_batch_begins_while_such_a_launch_runs)
{
    mode->context_created(second, 1);
    share();
    fake_profiler.current = context = second;
    kernel(one, shared_memory);
    mode->finish();
    expect_sent(0, given);
    fake_profiler.current = context = first;
    fake_profiler.busy_one = second;
    kernel(one, private_memory);
    fake_profiler.busy_one = NULL;
    mode->finish();
    expect_sent(1, "a launch on another device may reach its memory, and has not ended");
    cr_expect_eq(replays, 0);
    kernel(one, private_memory);
    mode->finish();
    expect_sent(2, "");
    cr_expect_eq(replays, REPEATS);
    mode->context_destroyed(second);
}

Test(reached, a_copy_between_devices_is_in_no_batch)
{
    mode->context_created(second, 1);
    kernel(one, private_memory);
    fake_profiler.current = context = second;
    call(BETWEEN, NULL);
    cr_expect_eq(fake_profiler.sent_count, 1);
    fake_profiler.current = context = first;
    kernel(one, private_memory);
    mode->finish();
    expect_sent(1, "");
    cr_expect_eq(replays, 2 * REPEATS);
    mode->context_destroyed(second);
}

/* ---- other processes -------------------------------------------------------------------------------------------- */

Test(reached, what_cannot_be_left_out_is_not_restored)
{
    cw_checkpoint_library->leaves_out = false;
    share();
    kernel(one, private_memory);
    mode->finish();
    expect_sent(0, "other devices or processes can reach its memory, since call");
    cr_expect_eq(replays, 0);
}

Test(reached, a_launch_that_is_given_shared_memory_is_counted_once)
{
    share();
    kernel(one, private_memory);
    kernel(one, shared_memory + 8);
    kernel(one, private_memory);
    mode->finish();
    expect_sent(0, "");
    expect_sent(1, given);
    expect_sent(2, "");
    cr_expect_eq(replays, 2 * REPEATS);
    cr_expect_eq(hashes, 4, "before and after each batch");
}

/* CUPTI is set up anew for it and again for the next batch. */
Test(reached, launches_between_batches_are_counted_once_while_that_is_cheap)
{
    enum { ROUNDS = 6 };
    share();
    for (int i = 0; i < ROUNDS; i++) {
        kernel(one, private_memory);
        mode->finish();
        fake_profiler.start_ns = 2000000000;
        kernel(one, shared_memory);
        fake_profiler.start_ns = 0;
    }
    mode->finish();
    uint32_t once = 0;
    for (uint32_t i = 0; i < fake_profiler.sent_count; i++)
        once += *fake_profiler.sent[i].once != 0;
    cr_expect_eq(fake_profiler.sent_count, ROUNDS + once);
    cr_expect_eq(fake_profiler.skipped, ROUNDS - once);
    cr_expect_eq(once, 2, "5 s are free, and there and back takes 4");
    cr_expect(strstr(fake_profiler.why, "takes too long"), "%s", fake_profiler.why);
    cr_expect_eq(fake_profiler.device, after(2 * ROUNDS));
}

/* Its address stands in memory that the kernel is given. */
Test(reached, a_launch_that_is_given_a_table_is_counted_once)
{
    const cuMemcpyHtoD_v2_params table = {
        .dstDevice = private_memory + 0x400, .srcHost = &shared_memory, .ByteCount = 8};
    share();
    call(COPIES, &table);
    kernel(one, private_memory);
    kernel(one, private_memory + 0x400);
    mode->finish();
    expect_sent(0, "");
    expect_sent(1, given);
}

/* The program wrote the address there before it shared the memory, or by a kernel. */
Test(reached, the_proof_finds_a_kernel_that_is_not_given_the_address)
{
    share();
    kernel(one, private_memory);
    kernel(planted, private_memory);
    mode->finish();
    cr_expect_eq(replays, 0, "nothing is repeated that changes what others see");
    cr_expect_eq(shared[1], 1);
    cr_expect_eq(fake_profiler.skipped, 2);
    cr_expect_str_eq(fake_profiler.why, "a launch during which memory changed that other processes reach");
    cr_expect_eq(cw_kernel_habit(one), CW_KERNEL_SUSPECT);

    kernel(other, private_memory);
    kernel(one, private_memory);
    cr_expect_eq(cw_kernel_habit(one), CW_KERNEL_RESTS, "it ran in a batch of its own");
    kernel(other, private_memory);
    kernel(planted, private_memory);
    cr_expect_eq(cw_kernel_habit(planted), CW_KERNEL_REACHES);
    cr_expect_eq(fake_profiler.sent_count, 3);
    cr_expect_eq(replays, 3 * REPEATS);

    kernel(planted, private_memory);
    kernel(one, private_memory);
    mode->finish();
    cr_assert_eq(fake_profiler.sent_count, 5);
    expect_sent(3, touched);
    expect_sent(4, "");
    cr_expect_eq(shared[1], 3, "as alone");
    cr_expect_eq(fake_profiler.device, after(8));
    cr_expect_eq(fake_profiler.skipped, 3);
}

/* A batch that runs without CUPTI first, as while kernels are new. */
Test(reached, the_proof_comes_before_all_passes_where_they_follow)
{
    cw_batches->items[0].familiar = 0;
    share();
    kernel(planted, private_memory);
    cr_expect_eq(fake_profiler.running, 0);
    mode->finish();
    cr_expect_eq(replays, 0);
    cr_expect_eq(shared[1], 1);
    cr_expect_eq(cw_kernel_habit(planted), CW_KERNEL_REACHES);
}

static CUresult load_nothing(CUmodule *module, const void *code)
{
    (void)module, (void)code;
    return CUDA_ERROR_INVALID_PTX;
}

Test(reached, without_a_proof_nothing_is_repeated)
{
    cw_inject->api.cuModuleLoadData = load_nothing;
    share();
    kernel(one, private_memory);
    mode->finish();
    expect_sent(0, "memory that other processes reach could not be checked");
    cr_expect_eq(replays, 0);
}

/* What was saved holds memory that must not be put back by now. */
Test(reached, a_batch_ends_before_memory_is_shared)
{
    kernel(one, private_memory);
    share();
    cr_expect_eq(fake_profiler.sent_count, 1);
    cr_expect_eq(replays, REPEATS);
    kernel(one, private_memory);
    cw_reach->changes++; /* by another thread, that did not wait */
    mode->finish();
    cr_expect_eq(replays, REPEATS);
    cr_expect_str_eq(fake_profiler.why, CW_WHY_REACHED);
}
