/* Repeated passes that fail: memory is put right as far as it can be, and the program's user is told how far that is.
 */
#include <criterion/criterion.h>

#include "agent/inject/modes/batches.h"
#include "tests/support/fake_profiler.h"

enum { KERNEL = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, LAUNCHES = 3 };

static const CUcontext context = (CUcontext)0x10;
static int replays, fails_at, heals_at; /* of the launches that are repeated, from 1: the first that fails, and the next
                                           that does not; 0: none */
static bool no_restore;                 /* memory cannot be put back */

static CUresult launch_again(const CUlaunchConfig *config, CUfunction function, void **list, void **extra)
{
    cr_expect(config && !function && list && !extra);
    replays++;
    if (fails_at && replays >= fails_at && (!heals_at || replays < heals_at))
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    fake_profiler.device = fake_profiler.device * 3 + 1;
    return CUDA_SUCCESS;
}

static CUptiResult (*restore_all)(struct cw_checkpoint *);

static CUptiResult restore(struct cw_checkpoint *checkpoint)
{
    return no_restore ? CUPTI_ERROR_UNKNOWN : restore_all(checkpoint);
}

static void kernel(void)
{
    static uint32_t number;
    const cuLaunchKernel_params params = {.gridDimX = 1, .blockDimX = 1};
    fake_launch_begins(&cw_inject_batch, KERNEL, &params, context, ++number);
    fake_profiler.device = fake_profiler.device * 3 + 1;
    fake_launch_ends(&cw_inject_batch, KERNEL, &params, context, number, CUDA_SUCCESS);
}

static void set_up(void)
{
    struct cw_writer setup;
    fake_profiler_begin(&setup, FAKE_PARTS, FAKE_PASSES);
    fake_ask(&setup, CW_REPLAY_BATCH, false, NULL);
    cw_inject->api.cuLaunchKernelEx = launch_again;
    restore_all = cw_checkpoint_library->restore;
    cw_checkpoint_library->restore = restore;
    fake_profiler.current = context;
    fake_profiler.device = 1;
    fake_setup(&cw_inject_batch, &setup);
    cw_inject_batch.context_created(context, 0);
}

TestSuite(failed_replay, .init = set_up, .fini = fake_profiler_end);

/* A batch that is replayed. */
static void run(void)
{
    for (int i = 0; i < LAUNCHES; i++)
        kernel();
    cw_inject_batch.finish();
    cr_expect(cw_inject->over && !fake_profiler.running && !fake_profiler.sent_count);
}

static uint32_t expected(void)
{
    uint32_t memory = 1;
    for (int i = 0; i < LAUNCHES; i++)
        memory = memory * 3 + 1;
    return memory;
}

/* As where the profiler takes what a launch needs. */
Test(failed_replay, memory_is_put_right_where_all_runs_without_the_profiler)
{
    fails_at = 2;
    heals_at = 3;
    run();
    cr_expect_eq(fake_profiler.device, expected());
    cr_expect_eq(replays, 2 + LAUNCHES);
    cr_expect_str_eq(fake_profiler.failure,
                     "found that a launch failed (CUDA error 701) in a repeated pass of a batch of 3; the program has "
                     "its usual results, and the capture ends here");
}

Test(failed_replay, what_cannot_be_put_right_is_told)
{
    fails_at = 2;
    run();
    cr_expect_eq(replays, 2 + 1);
    cr_expect_str_eq(fake_profiler.failure,
                     "found that a launch failed (CUDA error 701) in a repeated pass of a batch of 3, and again "
                     "without the profiler; the program's results may be wrong from here on, and the capture ends "
                     "here");
}

Test(failed_replay, what_cannot_be_put_back_is_not_done_twice)
{
    no_restore = true;
    run();
    cr_expect_eq(replays, 0);
    cr_expect_eq(fake_profiler.device, expected());
    cr_expect_str_eq(
        fake_profiler.failure,
        "found that device memory could not be put back (CUPTI error 999) for another pass of a batch of 3; "
        "the program's results may be wrong from here on, and the capture ends here");
}
