#include "tests/support/fake_batches.h"

#include <criterion/criterion.h>

#include "agent/inject/memory/mirror.h"

#define GB ((size_t)1 << 30)

static CUptiResult never(struct cw_checkpoint *checkpoint)
{
    cr_assert_fail("the library has nothing to do");
    return checkpoint ? CUPTI_SUCCESS : CUPTI_ERROR_UNKNOWN;
}

void fake_batches_begin(struct cw_writer *setup)
{
    fake_profiler_begin(setup, FAKE_PARTS, FAKE_PASSES);
    fake_ask(setup, CW_REPLAY_BATCH, false, NULL);
    fake_total = 16 * GB;
    fake_device_begin(8 * GB);
    fake_device.counting = &fake_profiler.running;
    *cw_checkpoint_library = (struct cw_checkpoint_library){never, never, never};
    fake_profiler.current = FAKE_BATCHES_CONTEXT;
}

void fake_batches_start(struct cw_writer *setup, void *memory, size_t size)
{
    fake_setup(&cw_inject_batch, setup);
    fake_device_allocate(memory, size);
    cw_inject_batch.context_created(FAKE_BATCHES_CONTEXT, 0);
}

void fake_batches_end(void)
{
    cw_mirror_forget(FAKE_BATCHES_CONTEXT);
    fake_device_end();
    fake_profiler_end();
}
