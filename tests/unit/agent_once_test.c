/* What must not be done again: launches that others can reach, that cannot be saved, or that wait for the host. The
 * program's memory on the device is one number, as the profiler's is; another in pinned memory. */
#include <criterion/criterion.h>

#include "agent/inject/driver/in_flight.h"
#include "agent/inject/driver/reach.h"
#include "agent/inject/driver/stream_capture.h"
#include "agent/inject/memory/checkpoint.h"
#include "agent/inject/memory/kernels.h"
#include "agent/inject/memory/shared.h"
#include "agent/inject/modes/batches.h"
#include "agent/inject/modes/range.h"
#include "tests/support/fake_profiler.h"

enum { KERNEL = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, ALL = FAKE_PARTS * FAKE_PASSES };

static const struct cw_inject_mode *mode;
static const CUcontext context = (CUcontext)0x10;
static const CUfunction plain = NULL, given = (CUfunction)1; /* how many parameters it has */
static uint32_t correlation, flag, seen_flag, grid = 1;      /* flag: in pinned memory */
static uint64_t word;
static void *parameters[] = {&word};
static int replays;
static const struct fake_name names[] = {{CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2, "cuMemcpyDtoH_v2"},
                                         {CUPTI_DRIVER_TRACE_CBID_cuIpcGetMemHandle, "cuIpcGetMemHandle"},
                                         {0}};
static bool stuck; /* a replay ends only when the flag is put back */

/* ---- what the device does --------------------------------------------------------------------------------------- */

static CUresult launch_again(const CUlaunchConfig *config, CUfunction function, void **list, void **extra)
{
    cr_expect(config && list && !extra && fake_profiler.running);
    replays++;
    if (function == given) {
        seen_flag = flag;
        if (stuck && fake_profiler.late && !flag) {
            fake_profiler.late(fake_profiler.late_user);
            fake_profiler.was_late = true;
            cr_expect_eq(flag, 1, "what the host did meanwhile");
        }
        flag = 2;
    }
    fake_profiler.device = fake_profiler.device * 3 + 1;
    return CUDA_SUCCESS;
}

/* ---- the program ------------------------------------------------------------------------------------------------ */

static uint32_t kernel_begins(CUfunction function)
{
    const uint32_t number = ++correlation;
    const cuLaunchKernel_params params = {.f = function, .gridDimX = grid, .blockDimX = 1, .kernelParams = parameters};
    fake_launch_begins(mode, KERNEL, &params, context, number);
    return number;
}

static void kernel_ends(CUfunction function, uint32_t number)
{
    const cuLaunchKernel_params params = {.f = function, .gridDimX = grid, .blockDimX = 1, .kernelParams = parameters};
    fake_launch_ends(mode, KERNEL, &params, context, number, CUDA_SUCCESS);
}

static void kernel(CUfunction function)
{
    uint32_t number = kernel_begins(function);
    fake_profiler.device = fake_profiler.device * 3 + 1;
    kernel_ends(function, number);
}

static void share_memory(void)
{
    fake_share_memory(mode);
}

static void begin(const struct cw_inject_mode *which, enum cw_replay_kind replay)
{
    struct cw_writer setup;
    bool batch = which == &cw_inject_batch;
    mode = which;
    fake_profiler_begin(&setup, batch ? FAKE_PARTS : 1, batch ? FAKE_PASSES : 1);
    fake_ask(&setup, replay, false, NULL);
    cw_inject->api.cuLaunchKernelEx = launch_again;
    fake_names = names;
    fake_memory[0] = (struct fake_memory){&flag, sizeof flag, CU_MEMORYTYPE_HOST, false, 0};
    word = (uintptr_t)&flag;
    cw_reach_init();
    fake_profiler.current = context;
    fake_profiler.device = 1;
    fake_setup(mode, &setup);
    mode->context_created(context, 0);
}

static void end(void)
{
    cr_expect(!cw_inject->over, "%s", fake_profiler.failure);
    mode->context_destroyed(context);
    cr_expect(!fake_profiler.running && !fake_profiler.open);
    fake_profiler_end();
}

static uint32_t after(int launches)
{
    uint32_t memory = 1;
    for (int i = 0; i < launches; i++)
        memory = memory * 3 + 1;
    return memory;
}

/* ---- others that reach memory ----------------------------------------------------------------------------------- */

Test(once, what_others_reach_is_not_repeated_nor_put_back)
{
    begin(&cw_inject_batch, CW_REPLAY_BATCH);
    kernel(plain);
    kernel(plain);
    share_memory();
    cr_expect_eq(fake_profiler.sent_count, 2, "what came before was replayed first");
    cr_expect_eq(replays, 2 * (ALL - 1));
    int restored = fake_profiler.restored;
    for (int i = 0; i < 3; i++)
        kernel(plain);
    fake_profiler.device = 100; /* another process writes */
    kernel(plain);
    mode->finish();
    cr_expect_eq(fake_profiler.device, 301);
    cr_expect_eq(replays, 2 * (ALL - 1));
    cr_expect_eq(fake_profiler.restored, restored);
    cr_assert_eq(fake_profiler.sent_count, 6);
    cr_expect_eq(fake_profiler.sent_parts, 1);
    for (uint32_t i = 0; i < 6; i++) {
        cr_expect_eq(fake_profiler.sent[i].replay, i < 2 ? CW_REPLAY_BATCH : CW_REPLAY_MULTIPLEX);
        cr_expect_str_eq(fake_profiler.sent[i].once,
                         i < 2 ? "" : "other devices or processes can reach its memory, since cuIpcGetMemHandle");
        cr_expect(!fake_profiler.sent[i].unwanted);
    }
    cr_expect_eq(fake_profiler.skipped, 0);
    end();
}

/* How often the pass for what is counted once has counted launches of this grid. */
static uint32_t counted(uint32_t pass, uint32_t of)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < fake_profiler.sent_count; i++)
        n += *fake_profiler.sent[i].once && fake_profiler.part_of[i] == FAKE_PARTS + pass &&
             fake_profiler.sent[i].grid[0] == of;
    return n;
}

Test(once, passes_take_turns_at_launches_that_are_alike)
{
    begin(&cw_inject_batch, CW_REPLAY_BATCH);
    share_memory();
    for (uint32_t i = 0; i < 3 * ALL; i++) {
        grid = 1 + i % 3;
        kernel(plain);
    }
    mode->finish();
    cr_assert_eq(fake_profiler.sent_count, 3 * ALL);
    for (uint32_t pass = 0; pass < ALL; pass++)
        for (uint32_t of = 1; of <= 3; of++)
            cr_expect_eq(counted(pass, of), 1, "pass %u, grid %u", pass, of);
    cr_expect_eq(fake_profiler.starts, ALL);
    for (uint32_t i = 0; i < fake_profiler.sent_count; i++)
        cr_expect(fake_profiler.sent[i].cold && fake_profiler.sent[i].replay == CW_REPLAY_MULTIPLEX);
    cr_expect_eq(fake_profiler.skipped, 0);
    end();
}

/* Where batches come between, each begins anew with whichever pass is next. */
Test(once, passes_take_turns_between_batches)
{
    begin(&cw_inject_batch, CW_REPLAY_BATCH);
    fake_total = (size_t)8 << 30;
    fake_unused = (size_t)5 << 30;
    fake_memory[0] = (struct fake_memory){&flag, (size_t)3 << 30, CU_MEMORYTYPE_DEVICE, true, 0};
    for (uint32_t i = 0; i < 2 * ALL; i++)
        kernel(i % 2 ? plain : given);
    mode->finish();
    cr_assert_eq(fake_profiler.sent_count, 2 * ALL);
    for (uint32_t pass = 0; pass < ALL; pass++)
        cr_expect_eq(counted(pass, 1), 1, "pass %u", pass);
    cr_expect_eq(fake_profiler.device, after(2 * ALL));
    cr_expect_eq(replays, ALL * (ALL - 1));
    cr_expect_eq(fake_profiler.skipped, 0);
    end();
}

static void in_range_mode(enum cw_replay_kind replay)
{
    begin(&cw_inject_range, replay);
    kernel(plain);
    share_memory();
    kernel(plain);
    kernel(plain);
    mode->finish();
    cr_assert_eq(fake_profiler.sent_count, 3);
    cr_expect_eq(fake_profiler.sent[0].replay, replay);
    cr_expect_eq(fake_profiler.sent[1].replay, CW_REPLAY_ONCE);
    cr_expect_eq(fake_profiler.pushed, 2);
    cr_expect(fake_profiler.once);
    end();
}

Test(once, nor_by_kernel_replay)
{
    in_range_mode(CW_REPLAY_KERNEL);
}

Test(once, nor_held_up_by_application_replay)
{
    in_range_mode(CW_REPLAY_APPLICATION);
}

/* A collective waits for the launch on the other device, which comes next. */
Test(once, the_program_goes_on_while_a_kernel_waits)
{
    begin(&cw_inject_batch, CW_REPLAY_BATCH);
    share_memory();
    uint32_t number = kernel_begins(given);
    fake_profiler.busy = true;
    kernel_ends(given, number);
    cr_expect_eq(cw_kernel_habit(given), CW_KERNEL_WAITS);
    cr_expect(fake_profiler.open, "its range goes on");
    fake_profiler.busy = false;
    kernel(plain);
    mode->finish();
    cr_assert_eq(fake_profiler.sent_count, 2);
    cr_expect(!fake_profiler.sent[0].unwanted && !fake_profiler.sent[1].unwanted);
    cr_expect_eq(fake_profiler.skipped, 0);
    end();
}

static void kernels_that_wait(uint32_t count)
{
    cw_kernel_note(given, CW_KERNEL_WAITS);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = kernel_begins(given);
        if (!fake_profiler.open)
            cr_expect(!fake_profiler.running, "a pass that goes on could block the launch");
        kernel_ends(given, number);
    }
}

/* CUPTI blocks a launch of such a pass until its kernel ends, and the program never launches what that waits for. */
Test(once, a_kernel_that_waits_is_in_no_pass_that_patches_code)
{
    fake_patches = 1 << 1;
    begin(&cw_inject_batch, CW_REPLAY_BATCH);
    share_memory();
    kernels_that_wait(2 * ALL);
    mode->finish();
    cr_expect_eq(counted(1, 1), 0);
    for (uint32_t pass = 0; pass < ALL; pass++)
        cr_expect(pass == 1 || counted(pass, 1), "pass %u", pass);
    cr_expect_eq(fake_profiler.skipped, 0);
    end();
}

Test(once, other_kernels_are)
{
    fake_patches = 1 << 1;
    begin(&cw_inject_batch, CW_REPLAY_BATCH);
    share_memory();
    for (uint32_t i = 0; i < ALL; i++)
        kernel(plain);
    mode->finish();
    cr_expect_eq(counted(1, 1), 1);
    end();
}

Test(once, a_kernel_that_waits_is_not_counted_if_all_passes_patch_code)
{
    fake_patches = (1 << ALL) - 1;
    begin(&cw_inject_batch, CW_REPLAY_BATCH);
    share_memory();
    kernel(plain);
    kernels_that_wait(3);
    mode->finish();
    cr_expect_eq(fake_profiler.sent_count, 1);
    cr_expect_eq(fake_profiler.skipped, 3);
    cr_expect_str_eq(fake_profiler.why, CW_WHY_WAITS);
    end();
}

/* A run of application replay has one pass. If that patches code, a collective of two devices would not end: its first
 * kernel waits for the second, which CUPTI patches only once the first has ended. */
Test(once, nor_is_a_collective_before_it_was_seen_to_end)
{
    fake_patches = (1 << ALL) - 1;
    begin(&cw_inject_batch, CW_REPLAY_BATCH);
    share_memory();
    fake_symbol = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";
    kernel(plain);
    kernel(plain);
    mode->finish();
    cr_expect_eq(fake_profiler.sent_count, 0);
    cr_expect_eq(fake_profiler.skipped, 2);
    cr_expect_str_eq(fake_profiler.why, CW_WHY_WAITS);
    end();
}

static void begin_to_patch_beside_a_kernel_that_waits(void)
{
    fake_patches = 1;
    begin(&cw_inject_range, CW_REPLAY_APPLICATION);
    share_memory();
    kernel(plain);
    cw_kernel_note(given, CW_KERNEL_WAITS);
}

/* CUPTI would patch a launch's code, and block it, also where no collection runs. */
Test(once, no_profiler_is_enabled_when_a_launch_could_be_blocked)
{
    begin_to_patch_beside_a_kernel_that_waits();
    const uint32_t number = kernel_begins(given);
    cr_expect_eq(fake_profiler.enabled, 0);
    kernel_ends(given, number);
    kernel(plain);
    cr_expect_eq(fake_profiler.enabled, 1);
    mode->finish();
    end();
}

static void another_launch(void)
{
    kernel(plain);
}

Test(once, nor_if_another_thread_counts_a_launch_meanwhile)
{
    begin_to_patch_beside_a_kernel_that_waits();
    fake_profiler.beside = another_launch;
    const uint32_t number = kernel_begins(given);
    cr_expect(!fake_profiler.beside && !fake_profiler.enabled);
    kernel_ends(given, number);
    mode->finish();
    cr_expect_eq(fake_profiler.sent_count, 3);
    end();
}

/* All other kernels of such a program, too, as its streams overlap: one that ends is counted from then on. */
Test(once, a_run_of_application_replay_that_patches_code_sees_kernels_end_first)
{
    fake_patches = 1;
    begin(&cw_inject_range, CW_REPLAY_APPLICATION);
    share_memory();
    fake_symbol = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";
    kernel(given);
    cr_expect_eq(cw_kernel_habit(given), CW_KERNEL_RESTS);
    kernel(given);
    kernel(given);
    mode->finish();
    cr_assert_eq(fake_profiler.sent_count, 3, "the first has its place among those of other runs");
    cr_expect(fake_profiler.sent[0].unwanted && !fake_profiler.sent[1].unwanted && !fake_profiler.sent[2].unwanted);
    cr_expect_eq(fake_profiler.skipped, 1);
    end();
}

/* Each has its place, whatever left it out: those of an unknown kernel, and those behind it. */
Test(once, a_run_of_application_replay_tells_of_what_is_left_out)
{
    begin(&cw_inject_range, CW_REPLAY_APPLICATION);
    share_memory();
    fake_profiler.taken = "a launch while another process held the counters";
    kernel(given);
    kernel(plain);
    kernel(plain);
    fake_profiler.taken = NULL;
    kernel(plain);
    mode->finish();
    cr_assert_eq(fake_profiler.sent_count, 4);
    for (int i = 0; i < 4; i++)
        cr_expect_eq(fake_profiler.sent[i].unwanted, i < 3, "launch %d", i);
    cr_expect_eq(fake_profiler.skipped, 3);
    end();
}

Test(once, a_launch_beside_a_kernel_that_waits_counts_for_none)
{
    begin(&cw_inject_batch, CW_REPLAY_BATCH);
    share_memory();
    uint32_t number = kernel_begins(plain);
    fake_profiler.busy = true;
    kernel_ends(plain, number);
    kernel(plain);
    kernel(plain);
    fake_profiler.busy = false;
    kernel(plain);
    mode->finish();
    cr_assert_eq(fake_profiler.sent_count, 2);
    cr_expect(fake_profiler.sent[0].unwanted && !fake_profiler.sent[1].unwanted);
    cr_expect_eq(fake_profiler.skipped, 3);
    cr_expect_str_eq(fake_profiler.why, CW_WHY_WAITS);
    end();
}

Test(once, nothing_is_counted_while_a_stream_is_captured)
{
    begin(&cw_inject_batch, CW_REPLAY_BATCH);
    share_memory();
    fake_capture(mode, context, (CUstream)0x7, true);
    kernel(plain);
    fake_capture(mode, context, (CUstream)0x7, false);
    mode->finish();
    cr_expect_eq(fake_profiler.sent_count, 0);
    cr_expect_eq(fake_profiler.skipped, 1);
    cr_expect_str_eq(fake_profiler.why, CW_WHY_CAPTURED);
    end();
}

/* The range ends with it, not when another thread has noticed that. */
Test(once, a_range_ends_as_soon_as_its_launch)
{
    begin(&cw_inject_batch, CW_REPLAY_BATCH);
    share_memory();
    uint32_t number = kernel_begins(plain);
    uint64_t then = fake_profiler.now_ns;
    cr_expect(fake_profiler.open);
    kernel_ends(plain, number);
    cr_expect(!fake_profiler.open);
    cr_expect_eq(fake_profiler.now_ns, then);
    mode->finish();
    cr_expect_eq(fake_profiler.sent_count, 1);
    end();
}

static void launch_beside(void)
{
    kernel(plain);
}

Test(once, threads_launch_one_after_another)
{
    begin(&cw_inject_batch, CW_REPLAY_BATCH);
    share_memory();
    fake_profiler.beside = launch_beside;
    kernel(plain);
    mode->finish();
    cr_expect_eq(fake_profiler.device, after(2));
    cr_expect_eq(fake_profiler.sent_count + fake_profiler.skipped, 2);
    end();
}

/* ---- what happens while one waits -------------------------------------------------------------------------------- */

/* Another thread shares memory while this one waits for the context: no batch may begin any more. */
Test(once, memory_may_be_shared_while_a_batch_is_about_to_begin)
{
    begin(&cw_inject_batch, CW_REPLAY_BATCH);
    fake_profiler.beside = share_memory;
    kernel(plain);
    kernel(plain);
    mode->finish();
    cr_expect_eq(fake_profiler.restored, 0);
    cr_expect_eq(fake_profiler.device, after(2));
    cr_expect_eq(fake_profiler.sent_count, 2);
    end();
}

static uint32_t under_way;

static void launch_and_land(void)
{
    kernel(plain); /* in no batch */
    fake_profiler.device = fake_profiler.device * 3 + 1;
    kernel_ends(plain, under_way);
}

/* And launches while that waits for a launch of a batch to return. */
Test(once, a_launch_while_memory_comes_to_be_shared_is_not_undone)
{
    begin(&cw_inject_batch, CW_REPLAY_BATCH);
    under_way = kernel_begins(plain);
    fake_profiler.meanwhile = launch_and_land;
    share_memory();
    mode->finish();
    cr_expect_eq(fake_profiler.device, after(2));
    end();
}

/* Neither CUPTI nor memory can be touched before it has: its kernel runs. */
Test(once, a_batch_does_not_end_before_its_launches_have_returned)
{
    uint64_t kept;
    const CUpti_CallbackData call = {.callbackSite = CUPTI_API_ENTER, .correlationData = &kept, .context = context};
    begin(&cw_inject_batch, CW_REPLAY_BATCH);
    uint32_t number = kernel_begins(plain);
    mode->call_entered(CUPTI_DRIVER_TRACE_CBID_cuMemFree_v2, &call);
    cr_expect_eq(fake_profiler.restored, 0);
    cr_expect_eq(fake_profiler.running, 1);
    mode->call_left(CUPTI_DRIVER_TRACE_CBID_cuMemFree_v2, &call);
    fake_profiler.device = fake_profiler.device * 3 + 1;
    kernel_ends(plain, number);
    mode->finish();
    cr_expect_eq(fake_profiler.device, after(1));
    cr_expect_eq(fake_profiler.sent_count, 0);
    cr_expect_eq(fake_profiler.skipped, 1);
    end();
}

static CUresult ends_at_second_look(CUstream stream)
{
    static int looks;
    (void)stream;
    return looks++ ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

static void open_another_range(void)
{
    const cuLaunchKernel_params params = {.f = plain, .gridDimX = 1, .blockDimX = 1, .kernelParams = parameters};
    CUresult result = CUDA_SUCCESS;
    const CUpti_CallbackData call = {.callbackSite = CUPTI_API_EXIT,
                                     .functionParams = &params,
                                     .functionReturnValue = &result,
                                     .context = context,
                                     .correlationId = kernel_begins(plain)};
    cw_in_flight_launch_left();
    cw_collection_launched(cw_collection_find(context), &call);
    cr_expect(fake_profiler.open);
}

/* While a thread pauses, another has ended its range and begun one. */
Test(once, a_launch_ends_no_other_launchs_range)
{
    begin(&cw_inject_batch, CW_REPLAY_BATCH);
    share_memory();
    cw_inject->api.cuStreamQuery = ends_at_second_look;
    uint32_t number = kernel_begins(plain);
    fake_profiler.paused = open_another_range;
    fake_profiler.slow = true;
    kernel_ends(plain, number);
    cr_expect_null(fake_profiler.paused);
    cr_expect(fake_profiler.open, "the other's goes on");
    fake_profiler.slow = false;
    mode->finish();
    cr_expect_eq(fake_profiler.sent_count, 2);
    end();
}

static const CUcontext second = (CUcontext)0x20;
static uint64_t kept_of_second;

static void read_of_second(CUpti_ApiCallbackSite site)
{
    CUresult result = CUDA_SUCCESS;
    const CUpti_CallbackData call = {
        .callbackSite = site, .correlationData = &kept_of_second, .functionReturnValue = &result, .context = second};
    (site == CUPTI_API_ENTER ? mode->call_entered : mode->call_left)(CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2, &call);
}

static void launch_in_second(void)
{
    const cuLaunchKernel_params params = {.f = plain, .gridDimX = 1, .blockDimX = 1, .kernelParams = parameters};
    const uint32_t number = ++correlation;
    fake_launch_begins(mode, KERNEL, &params, second, number);
    fake_profiler.device = fake_profiler.device * 3 + 1;
    fake_launch_ends(mode, KERNEL, &params, second, number, CUDA_SUCCESS);
}

static void read_ends_and_second_launches(void)
{
    read_of_second(CUPTI_API_EXIT);
    launch_in_second();
}

/* A batch that began while a launch waited to run by itself is in its way. */
Test(once, a_launch_in_another_context_is_not_undone_by_one_that_runs_by_itself)
{
    begin(&cw_inject_batch, CW_REPLAY_BATCH);
    mode->context_created(second, 0);
    read_of_second(CUPTI_API_ENTER);
    fake_profiler.meanwhile = read_ends_and_second_launches;
    uint32_t number = kernel_begins(given);
    launch_in_second();
    fake_profiler.device = fake_profiler.device * 3 + 1;
    kernel_ends(given, number);
    mode->finish();
    cr_expect_eq(fake_profiler.device, after(3));
    mode->context_destroyed(second);
    end();
}

static void share_and_return(void)
{
    share_memory();
    cw_in_flight_launch_left();
}

Test(once, kernel_replay_does_not_begin_where_memory_came_to_be_shared_meanwhile)
{
    begin(&cw_inject_range, CW_REPLAY_KERNEL);
    cw_in_flight_launch_entered(); /* of a context that is not collected */
    fake_profiler.meanwhile = share_and_return;
    kernel(plain);
    mode->finish();
    cr_assert_eq(fake_profiler.sent_count, 1);
    cr_expect_eq(fake_profiler.sent[0].replay, CW_REPLAY_ONCE);
    end();
}

/* CUPTI would wait for the kernel, which may wait for what the program does next. */
Test(once, an_abandoned_capture_waits_for_no_kernel)
{
    begin(&cw_inject_batch, CW_REPLAY_BATCH);
    share_memory();
    kernel_begins(plain);
    cw_inject->over = true;
    mode->abandoned();
    cr_expect_eq(fake_profiler.running, 1, "it was not stopped");
    fake_profiler_end();
}

/* ---- memory that cannot be saved -------------------------------------------------------------------------------- */

/* Saved on the device, all but a GB, with 2 GB left for CUPTI. */
Test(once, there_is_room_for_less_than_half_a_device)
{
    const size_t gb = (size_t)1 << 30;
    struct cw_checkpoint saved;
    fake_profiler_begin(NULL, 1, 1);
    fake_unused = 50 * gb;
    cr_expect(cw_checkpoint_has_room(0));
    cr_expect(cw_checkpoint_has_room(19 * gb));
    cr_expect(!cw_checkpoint_has_room(20 * gb));
    fake_unused = 16 * gb;
    cr_expect(!cw_checkpoint_has_room(0), "64 GB are held");
    cr_expect(cw_checkpoint_save(&saved, context));
    cr_expect_eq(saved.reserve_device_mb, 2048);
    fake_total = 8 * gb;
    fake_unused = 4 * gb;
    cr_expect(cw_checkpoint_has_room(0));
    cr_expect(!cw_checkpoint_has_room((size_t)-1));
    cr_expect(cw_checkpoint_save(&saved, context));
    cr_expect_eq(saved.reserve_device_mb, 512);
    fake_profiler_end();
}

Test(once, how_much_room_is_left_and_what_the_host_may_take_can_be_chosen)
{
    const size_t gb = (size_t)1 << 30;
    struct cw_checkpoint saved;
    fake_profiler_begin(NULL, 1, 1);
    fake_unused = 32 * gb; /* of 80, of which 48 are held */
    cr_expect(!cw_checkpoint_has_room(0));
    cw_checkpoint_limit(CW_RESERVE_USUAL, 20 << 10);
    cr_expect(cw_checkpoint_has_room(0), "18 GB go to the host");
    cr_expect(cw_checkpoint_save(&saved, context));
    cr_expect(saved.reserve_device_mb == 2048 && saved.reserve_host_mb == 0);
    cw_checkpoint_limit(8 << 10, 20 << 10);
    cr_expect(!cw_checkpoint_has_room(0), "24 GB would");
    fake_unused = 41 * gb;
    cw_checkpoint_limit(0, 0);
    cr_expect(cw_checkpoint_has_room(0));
    cr_expect(cw_checkpoint_save(&saved, context));
    cr_expect_eq(saved.reserve_device_mb, 0);
    cr_expect_eq(saved.reserve_host_mb, 0, "CUPTI 13.0 saves nothing at all where it may have no memory of the host's");
    fake_profiler_end();
}

/* CUPTI would take the host's memory, and the system would kill the program. */
Test(once, kernel_replay_repeats_nothing_where_the_host_has_no_room)
{
    begin(&cw_inject_range, CW_REPLAY_KERNEL);
    fake_total = (size_t)1 << 50;
    fake_unused = 0;
    kernel(plain);
    fake_unused = fake_total / 2;
    kernel(plain);
    mode->finish();
    fake_unused -= (size_t)2 << 30; /* a launch takes a second for each GB on the host */
    cr_expect(!cw_checkpoint_replay_has_room());
    cr_assert_eq(fake_profiler.sent_count, 2);
    cr_expect_str_eq(fake_profiler.sent[0].once, "there is no room to save its GPU's memory");
    cr_expect_eq(fake_profiler.sent[1].replay, CW_REPLAY_KERNEL);
    end();
}

Test(once, what_cannot_be_saved_is_counted_once_until_there_is_room)
{
    begin(&cw_inject_batch, CW_REPLAY_BATCH);
    fake_unused = 0;
    kernel(plain);
    kernel(plain);
    fake_unused = fake_total;
    kernel(plain); /* it is not looked at each time */
    fake_profiler.now_ns += 4000000000;
    mode->finish(); /* what is counted begins anew */
    kernel(plain);
    fake_profiler.now_ns += 2000000000;
    kernel(plain);
    mode->finish();
    cr_expect_eq(fake_profiler.device, after(5));
    cr_expect_eq(replays, ALL - 1);
    cr_assert_eq(fake_profiler.sent_count, 5);
    for (int i = 0; i < 5; i++) {
        cr_expect_eq(fake_profiler.sent[i].replay, i < 4 ? CW_REPLAY_MULTIPLEX : CW_REPLAY_BATCH);
        cr_expect_str_eq(fake_profiler.sent[i].once, i < 4 ? "there is no room to save its GPU's memory" : "");
    }
    end();
}

/* More managed memory than there is room for: it can be neither kept on the host nor on the device. */
Test(once, what_cannot_be_recorded_is_counted_once)
{
    const size_t gb = (size_t)1 << 30;
    begin(&cw_inject_batch, CW_REPLAY_BATCH);
    fake_total = 8 * gb;
    fake_unused = 5 * gb;
    kernel(plain);
    fake_memory[0] = (struct fake_memory){&flag, 3 * gb, CU_MEMORYTYPE_DEVICE, true, 0};
    kernel(given);
    kernel(given);
    kernel(plain);
    mode->finish();
    cr_expect_eq(fake_profiler.device, after(4));
    cr_expect_eq(replays, 2 * (ALL - 1));
    cr_assert_eq(fake_profiler.sent_count, 4);
    for (int i = 0; i < 4; i++) {
        bool once = i == 1 || i == 2;
        cr_expect_eq(fake_profiler.sent[i].replay, once ? CW_REPLAY_MULTIPLEX : CW_REPLAY_BATCH, "launch %d", i);
        cr_expect_str_eq(fake_profiler.sent[i].once,
                         once ? "its arguments, or memory that the host shares with it, could not be kept" : "");
    }
    cr_expect_eq(fake_profiler.skipped, 0);
    end();
}

static CUptiResult no_checkpoint(struct cw_checkpoint *checkpoint)
{
    return checkpoint ? CUPTI_ERROR_UNKNOWN : CUPTI_SUCCESS;
}

Test(once, where_saving_fails_a_launch_is_counted_once)
{
    begin(&cw_inject_batch, CW_REPLAY_BATCH);
    cw_checkpoint_library->save = no_checkpoint;
    kernel(plain);
    kernel(given);
    mode->finish();
    cr_expect_eq(fake_profiler.device, after(2));
    cr_expect_eq(replays, 0);
    cr_assert_eq(fake_profiler.sent_count, 2);
    for (int i = 0; i < 2; i++) {
        cr_expect_eq(fake_profiler.sent[i].replay, CW_REPLAY_MULTIPLEX);
        cr_expect_str_eq(fake_profiler.sent[i].once, "its GPU's memory could not be saved");
    }
    cr_expect_eq(fake_profiler.skipped, 0);
    end();
}

/* ---- kernels that wait for the host ----------------------------------------------------------------------------- */

/* It may wait there for what the host does next, which it would do in vain while the profiler holds the program up. */
Test(once, a_launch_given_memory_of_the_host_runs_before_its_passes)
{
    begin(&cw_inject_batch, CW_REPLAY_BATCH);
    flag = 0;
    kernel(plain);
    uint32_t number = kernel_begins(given);
    cr_expect_eq(fake_profiler.running, 0, "nothing holds it up");
    fake_profiler.device = fake_profiler.device * 3 + 1;
    flag = 1;
    kernel_ends(given, number);
    cr_expect_eq(replays, ALL - 1 + ALL);
    cr_expect_eq(seen_flag, 0, "as it was before");
    cr_expect_eq(flag, 1, "as it was behind");
    cr_expect_eq(fake_profiler.device, after(2));
    mode->finish();
    cr_assert_eq(fake_profiler.sent_count, 2);
    cr_expect_str_eq(fake_profiler.sent[1].kernel, "step");
    cr_expect_eq(fake_profiler.sent[1].replay, CW_REPLAY_BATCH);
    cr_expect_eq(fake_profiler.skipped, 0);
    end();
}

Test(once, a_kernel_that_waits_for_the_host_is_left_alone)
{
    begin(&cw_inject_batch, CW_REPLAY_BATCH);
    uint32_t number = kernel_begins(given);
    fake_profiler.busy = true;
    kernel_ends(given, number);
    cr_expect_eq(replays, 0);
    kernel(plain); /* beside it */
    fake_profiler.busy = false;
    kernel(given);
    kernel(plain);
    mode->finish();
    cr_expect_eq(fake_profiler.device, after(3));
    cr_assert_eq(fake_profiler.sent_count, 2);
    cr_expect_eq(fake_profiler.sent[0].replay, CW_REPLAY_MULTIPLEX, "now that it is known");
    cr_expect_eq(fake_profiler.sent[1].replay, CW_REPLAY_BATCH);
    cr_expect_eq(fake_profiler.skipped, 2);
    cr_expect_str_eq(fake_profiler.why, CW_WHY_WAITS);
    end();
}

/* The host set the flag while the kernel waited; in a replay nobody does. */
Test(once, a_replay_that_does_not_end_is_ended)
{
    begin(&cw_inject_batch, CW_REPLAY_BATCH);
    stuck = true;
    flag = 0;
    uint32_t number = kernel_begins(given);
    fake_profiler.device = fake_profiler.device * 3 + 1;
    flag = 1;
    kernel_ends(given, number);
    cr_expect_eq(replays, 1);
    cr_expect_eq(flag, 1);
    kernel(plain);
    mode->finish();
    cr_expect_eq(fake_profiler.device, after(2));
    cr_expect_eq(fake_profiler.sent_count, 1);
    cr_expect_eq(fake_profiler.skipped, 1);
    cr_expect_str_eq(fake_profiler.why, CW_WHY_WAITS);
    end();
}

/* Where nobody could end a replay, none begins: memory that was put back for it would stay so. */
Test(once, nothing_is_put_back_where_no_thread_can_be_had)
{
    begin(&cw_inject_batch, CW_REPLAY_BATCH);
    fake_profiler.no_thread = true;
    uint32_t number = kernel_begins(given);
    fake_profiler.device = fake_profiler.device * 3 + 1;
    kernel_ends(given, number);
    mode->finish();
    cr_expect_eq(replays, 0);
    cr_expect_eq(fake_profiler.restored, 0);
    cr_expect_eq(fake_profiler.device, after(1));
    cr_expect_eq(fake_profiler.skipped, 1);
    cr_expect(strstr(fake_profiler.why, "no thread is there"), "%s", fake_profiler.why);
    end();
}

Test(once, what_another_thread_does_meanwhile_is_not_undone)
{
    begin(&cw_inject_batch, CW_REPLAY_BATCH);
    uint32_t number = kernel_begins(given);
    fake_profiler.device = fake_profiler.device * 3 + 1;
    kernel(plain);
    kernel_ends(given, number);
    mode->finish();
    cr_expect_eq(replays, 0);
    cr_expect_eq(fake_profiler.device, after(2));
    cr_expect_eq(fake_profiler.sent_count, 0);
    cr_expect_eq(fake_profiler.skipped, 2);
    end();
}

Test(once, memory_of_the_host_that_several_devices_may_write_is_not_put_back)
{
    begin(&cw_inject_batch, CW_REPLAY_BATCH);
    mode->context_created(FAKE_CONTEXTS_OF_SECOND_DEVICE, 1);
    kernel(given);
    mode->finish();
    cr_assert_eq(fake_profiler.sent_count, 1);
    cr_expect_eq(fake_profiler.sent[0].replay, CW_REPLAY_MULTIPLEX);
    cr_expect_eq(replays, 0);
    cr_expect_eq(fake_profiler.skipped, 0);
    mode->context_destroyed(FAKE_CONTEXTS_OF_SECOND_DEVICE);
    end();
}

/* CUPTI does not return from a launch before its kernel has ended, and that may wait for the other thread's. */
Test(once, a_launch_that_does_not_return_holds_no_other_thread_up_for_good)
{
    begin(&cw_inject_batch, CW_REPLAY_BATCH);
    uint32_t number = kernel_begins(plain);
    kernel(plain);
    uint64_t then = fake_profiler.now_ns;
    kernel(plain);
    cr_expect_eq(fake_profiler.now_ns, then, "once is enough");
    fake_profiler.device = fake_profiler.device * 3 + 1;
    kernel_ends(plain, number);
    mode->finish();
    cr_expect_eq(fake_profiler.device, after(3));
    cr_expect_eq(replays, 0);
    cr_expect_eq(fake_profiler.sent_count, 0);
    cr_expect_eq(fake_profiler.skipped, 3);
    cr_expect_str_eq(fake_profiler.why, CW_WHY_BESIDE);
    kernel(plain);
    mode->finish();
    cr_expect_eq(fake_profiler.sent_count, 1);
    end();
}

static void begin_capture(void)
{
    fake_capture(mode, context, (CUstream)0x7, true);
}

/* The wait for a context lets other threads in. */
Test(once, nothing_begins_where_a_capture_began_meanwhile)
{
    begin(&cw_inject_batch, CW_REPLAY_BATCH);
    fake_profiler.beside = begin_capture;
    kernel(plain);
    cr_expect_eq(fake_profiler.running, 0);
    fake_capture(mode, context, (CUstream)0x7, false);
    share_memory();
    fake_profiler.beside = begin_capture;
    kernel(plain);
    cr_expect_eq(fake_profiler.running, 0);
    fake_capture(mode, context, (CUstream)0x7, false);
    mode->finish();
    cr_expect_eq(fake_profiler.sent_count, 0);
    cr_expect_eq(fake_profiler.skipped, 2);
    end();
}

/* CUPTI would not return from a kernel that waits for the host; it does not wait for a range that is pushed. */
static void first_launch_is_counted(enum cw_replay_kind replay, int pushed)
{
    begin(&cw_inject_range, replay);
    kernel(plain);
    kernel(given);
    cr_expect_eq(fake_profiler.range, CUPTI_UserRange);
    cr_expect_eq(cw_kernel_habit(given), CW_KERNEL_RESTS);
    for (int i = 0; i < 99; i++)
        kernel(given);
    cr_expect_eq(fake_profiler.range, CUPTI_AutoRange);
    mode->finish();
    cr_assert_eq(fake_profiler.sent_count, 101);
    cr_expect_eq(fake_profiler.pushed, pushed);
    cr_expect_str_eq(fake_profiler.sent[0].once, "");
    cr_expect_str_eq(fake_profiler.sent[1].once, "its kernel was not known yet, and may wait for the host");
    cr_expect_eq(fake_profiler.sent[100].replay, replay);
    cr_expect_eq(fake_profiler.skipped, 0);
    end();
}

Test(once, kernel_replay_counts_the_first_launch_of_a_kernel_that_may_wait)
{
    first_launch_is_counted(CW_REPLAY_KERNEL, 1);
}

Test(once, application_replay_counts_it_as_all_behind_it)
{
    first_launch_is_counted(CW_REPLAY_APPLICATION, 64);
}

/* To change between kinds of range takes half a second, which kernel replay spends while it is a share of the time. */
Test(once, kernel_replay_leaves_it_out_where_that_took_too_long)
{
    begin(&cw_inject_range, CW_REPLAY_KERNEL);
    cw_range_settings->spent_ns = 4000000000;
    kernel(plain);
    uint32_t number = kernel_begins(given);
    cr_expect_eq(fake_profiler.running, 0, "nothing holds it up");
    kernel_ends(given, number);
    kernel(given);
    mode->finish();
    cr_expect_eq(fake_profiler.sent_count, 2);
    cr_expect_eq(fake_profiler.skipped, 1);
    end();
}

/* ---- other processes --------------------------------------------------------------------------------------------- */

Test(once, a_launch_while_another_process_has_the_counters_is_left_out)
{
    begin(&cw_inject_batch, CW_REPLAY_BATCH);
    fake_profiler.taken = "a launch while another process held the counters";
    kernel(given);
    cr_expect_eq(replays, 0);
    share_memory();
    kernel(plain);
    fake_profiler.taken = NULL;
    kernel(plain);
    mode->finish();
    cr_expect_eq(fake_profiler.device, after(3));
    cr_expect_eq(fake_profiler.sent_count, 1);
    cr_expect_eq(fake_profiler.skipped, 2);
    cr_expect_str_eq(fake_profiler.why, "a launch while another process held the counters");
    end();
}
