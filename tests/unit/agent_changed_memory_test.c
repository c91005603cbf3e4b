/* Batches whose memory is saved and restored by what changed: the program computes what it does alone, and memory
 * without room for a copy costs launches, never results. */
#include <criterion/criterion.h>

#include "tests/support/fake_batches.h"

enum { KERNEL = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, LAUNCHES = 3, WORDS = 1 << 16 };
#define GB ((size_t)1 << 30)

static const CUcontext context = FAKE_BATCHES_CONTEXT;
static _Alignas(1 << 16) uint32_t memory[WORDS]; /* of the device, four chunks */
static uint32_t expected, place;                 /* a kernel changes this word */
static int replays;

static void change(void)
{
    memory[place] = memory[place] * 3 + 1;
}

static CUresult run_again(CUfunction function)
{
    cr_expect(!function);
    change();
    replays++;
    return CUDA_SUCCESS;
}

static void set_up(void)
{
    struct cw_writer setup;
    fake_batches_begin(&setup);
    fake_device.run = run_again;
    for (uint32_t i = 0; i < WORDS; i++)
        memory[i] = expected = 1;
    place = 5;
    fake_batches_start(&setup, memory, sizeof memory);
}

TestSuite(changed_memory, .init = set_up, .fini = fake_batches_end);

static void run_batch(void)
{
    static uint32_t number;
    const cuLaunchKernel_params params = {.gridDimX = 1, .blockDimX = 1};
    for (int i = 0; i < LAUNCHES; i++) {
        fake_launch_begins(&cw_inject_batch, KERNEL, &params, context, ++number);
        change();
        expected = expected * 3 + 1;
        fake_launch_ends(&cw_inject_batch, KERNEL, &params, context, number, CUDA_SUCCESS);
    }
    cw_batch_end(cw_collection_find(context), "the test");
    cr_expect_eq(memory[place], expected);
}

Test(changed_memory, is_put_back_before_each_pass)
{
    run_batch();
    run_batch();
    cr_expect_eq(fake_profiler.sent_count, 2 * LAUNCHES);
    cr_expect_eq(replays, 2 * LAUNCHES * (FAKE_PARTS * FAKE_PASSES - 1));
    cr_expect_eq(fake_device.put_back, 2 * (FAKE_PARTS * FAKE_PASSES - 1) * (1 << 16), "one chunk of four");
    cr_expect_eq(fake_device.saved, sizeof memory + (1 << 16));
}

/* A batch that stands by until its end: memory is put back while CUPTI counts. */
Test(changed_memory, is_put_back_by_copies_in_a_started_pass)
{
    cw_batches->items[0].familiar = 0;
    run_batch();
    cr_expect_eq(fake_profiler.sent_count, LAUNCHES);
    cr_expect_eq(fake_device.copied, 1 << 16);
}

/* Little memory would have copies on the host from the start. */
Test(changed_memory, without_a_copy_ends_the_batch_and_has_one_from_then_on)
{
    static uint8_t much[3 << 25];
    memset(much, 1, sizeof much);
    fake_device_allocate(much, sizeof much);
    fake_unused = GB;
    run_batch();
    cr_expect_eq(replays, 0);
    cr_expect_eq(fake_profiler.sent_count, 0);
    cr_expect_eq(cw_collection_find(context)->skipped, LAUNCHES);
    cr_expect_not_null(strstr(cw_collection_find(context)->why, "no room to save"));
    run_batch();
    cr_expect_eq(fake_profiler.sent_count, LAUNCHES);
    cr_expect_eq(replays, LAUNCHES * (FAKE_PARTS * FAKE_PASSES - 1));
    cr_expect(fake_device.on_host > 0 && !cw_inject->over);
}

Test(changed_memory, launches_are_counted_once_where_copies_never_suffice)
{
    fake_unused = GB;
    cw_checkpoint_limit(CW_RESERVE_USUAL, 0);
    for (int i = 0; i < 8; i++)
        run_batch();
    cr_expect_eq(fake_profiler.sent_count, 0);
    cr_expect_eq(cw_collection_find(context)->skipped, 8 * LAUNCHES);
    run_batch();
    run_batch();
    cw_inject_batch.finish();
    cr_expect_eq(replays, 0);
    cr_expect_eq(fake_profiler.sent_count, 2 * LAUNCHES);
    cr_expect_eq(fake_profiler.sent[0].replay, CW_REPLAY_MULTIPLEX);
    cr_expect_str_eq(fake_profiler.sent[0].once, "there is no room to save its GPU's memory");
}

/* What passes do differently is found before the last one, from which the program goes on. */
static CUresult run_otherwise(CUfunction function)
{
    if (replays == 0)
        memory[WORDS - 1] = 77;
    return run_again(function);
}

Test(changed_memory, is_looked_through_before_the_last_pass)
{
    fake_device.run = run_otherwise;
    run_batch();
    cr_expect_eq(memory[WORDS - 1], 1);
    cr_expect_eq(fake_profiler.sent_count, LAUNCHES);
}
