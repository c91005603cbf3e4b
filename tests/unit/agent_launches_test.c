/* What CUPTI's records of kernels become. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "agent/inject/driver/in_flight.h"
#include "agent/inject/modes/launches.h"
#include "agent/inject/ranges/user_ranges.h"
#include "tests/support/fake_profiler.h"

static const struct cw_inject_mode *const mode = &cw_inject_launches_mode;
static const CUcontext context = (CUcontext)0x10;
static CUpti_BuffersCallbackRequestFunc request;
static CUpti_BuffersCallbackCompleteFunc complete;
static size_t dropped, of_each_buffer;

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

static CUptiResult take_period(uint32_t ms)
{
    return ms ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

static CUptiResult enable(CUpti_ActivityKind kind)
{
    cr_expect_eq(kind, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    return CUPTI_SUCCESS;
}

static CUptiResult flush(uint32_t flag)
{
    (void)flag;
    return CUPTI_SUCCESS;
}

static CUptiResult next_record(uint8_t *buffer, size_t valid, CUpti_Activity **record)
{
    uint8_t *next = *record ? (uint8_t *)*record + sizeof(CUpti_ActivityKernel8) : buffer;
    *record = (void *)next;
    return next < buffer + valid ? CUPTI_SUCCESS : CUPTI_ERROR_MAX_LIMIT_REACHED;
}

static CUptiResult count_dropped(CUcontext c, uint32_t stream, size_t *count)
{
    (void)stream;
    cr_expect_eq(c, context);
    *count = dropped;
    return CUPTI_SUCCESS;
}

static struct cw_filter_options filter = {.launch_count = UINT64_MAX};

/* With an expression of the ranges that windows are wanted of, or NULL; or of launches, as `filter` has them. */
static void prepare(const char *range)
{
    struct cw_writer setup;
    fake_profiler_begin(NULL, 1, 1);
    struct cw_cupti *api = &cw_inject->api;
    api->cuptiActivityRegisterTimestampCallback = take_clock;
    api->cuptiActivityRegisterCallbacks = take_callbacks;
    api->cuptiActivityFlushPeriod = take_period;
    api->cuptiActivityEnable = enable;
    api->cuptiActivityFlushAll = flush;
    api->cuptiActivityGetNextRecord = next_record;
    api->cuptiActivityGetNumDroppedRecords = count_dropped;
    cw_writer_init(&setup);
    cw_inject->mode = mode;
    filter.range = range;
    if (range || filter.kernel_count || filter.excluded_count)
        cw_filter_write(&setup, &filter);
    fake_setup(mode, &setup);
}

static void begin_with(const char *range)
{
    prepare(range);
    mode->context_created(context, 0);
    cr_assert(request && complete);
}

static void begin(void)
{
    begin_with(NULL);
}

static void end(void)
{
    mode->finish();
    cr_expect(!cw_inject->over, "%s", fake_profiler.failure);
    fake_profiler_end();
}

static uint8_t *fill(const CUpti_ActivityKernel8 *records, size_t count)
{
    uint8_t *buffer = NULL;
    size_t most = 1;
    request(&buffer, &of_each_buffer, &most);
    cr_assert(buffer && of_each_buffer >= count * sizeof *records && !most);
    memcpy(buffer, records, count * sizeof *records);
    return buffer;
}

/* CUPTI drops and counts records while it has none. */
Test(trace, buffers_are_large_and_not_too_many)
{
    enum { MOST = 100 };
    uint8_t *buffers[MOST];
    size_t size, most;
    int count = 0;
    begin();
    for (; count < MOST && (request(&buffers[count], &size, &most), buffers[count]); count++)
        cr_expect(size >= 1 << 20 && size <= 8 << 20 && !most, "%zu bytes", size);
    cr_assert(count > 1 && count < MOST, "%d buffers", count);
    cr_expect_eq(size, 0);
    complete(context, 0, buffers[--count], size, 0);
    request(&buffers[count], &size, &most);
    cr_expect_not_null(buffers[count++]);
    for (int i = 0; i < count; i++)
        complete(context, 0, buffers[i], size, 0);
    end();
}

/* Where CUPTI says 0 it has not collected the time, be it one of both alone. */
Test(trace, times_that_were_not_collected_are_no_times)
{
    const CUpti_ActivityKernel8 records[] = {
        {.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, .start = 10, .end = 20, .streamId = 7, .name = "a"},
        {.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, .name = "a"},
        {.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, .start = 30, .name = "b"}};
    static const uint64_t times[][2] = {{10, 20}, {0, 0}, {0, 0}};
    struct cw_arena *arena = cw_arena_create();
    struct cw_reader in;
    begin();
    dropped = 2;
    complete(context, 0, fill(records, 3), of_each_buffer, sizeof records);
    cr_assert_eq(fake_profiler.others, 1);
    cw_reader_init(&in, fake_profiler.other, fake_profiler.other_size, "message", 0, NULL);
    cr_expect_eq(cw_read_u64(&in), 2);
    cr_assert_eq(cw_read_u32(&in), 2);
    cr_expect_str_eq(cw_read_string(&in, arena), "a");
    cr_expect_str_eq(cw_read_string(&in, arena), "b");
    cr_assert_eq(cw_read_u32(&in), 3);
    for (int i = 0; i < 3; i++) {
        cw_read_u32(&in);
        cw_read_u32(&in);
        cw_read_u64(&in);
        cr_expect_eq(cw_read_u64(&in), i ? 0 : 7);
        uint64_t start = cw_read_u64(&in), last = cw_read_u64(&in);
        cr_expect(start == times[i][0] && last == times[i][1], "launch %d", i);
    }
    cr_expect_eq(cw_reader_finish(&in, "message"), CW_OK);
    cw_arena_destroy(arena);
    end();
}

/* What the agent was told so far, and last. */
static void check_windows(uint32_t count, bool open)
{
    cr_expect_eq(fake_profiler.others, count, "%u", fake_profiler.others);
    cr_expect(!count || (fake_profiler.other_size == 1 && fake_profiler.other[0] == open));
}

Test(trace, the_first_wanted_range_opens_a_window_and_the_last_closes_it)
{
    begin_with("^step");
    cw_user_range_push(0, "load");
    check_windows(0, false);
    cw_user_range_push(0, "step 1");
    check_windows(1, true);
    cw_user_range_push(0, "step 1, forward");
    cw_user_range_pop(0);
    check_windows(1, true);
    cw_user_range_pop(0);
    check_windows(2, false);
    cw_user_range_pop(0);
    check_windows(2, false);
    end();
}

Test(trace, a_range_from_before_the_first_context_has_a_window)
{
    prepare("step");
    cw_user_range_push(0, "step");
    check_windows(0, false);
    mode->context_created(context, 0);
    check_windows(1, true);
    cw_user_range_pop(0);
    check_windows(2, false);
    end();
}

Test(trace, no_window_is_wanted_without_an_expression)
{
    begin();
    cw_user_range_push(0, "step");
    cw_user_range_pop(0);
    check_windows(0, false);
    end();
}

/* ---- windows of launches ---------------------------------------------------------------------------------------- */

static const cuLaunchKernel_params plain = {.f = (CUfunction)2};

static CUpti_CallbackData launch_of(const char *kernel, uint32_t correlation)
{
    return (CUpti_CallbackData){
        .context = context, .functionParams = &plain, .symbolName = kernel, .correlationId = correlation};
}

static void launch_begins(const CUpti_CallbackData *launch)
{
    cw_inject->mode->launch_entered(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, launch);
    cw_in_flight_launch_entered();
}

static void launch_ends(const CUpti_CallbackData *launch)
{
    cw_in_flight_launch_left();
    cw_inject->mode->launch_left(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, launch);
}

static void launch(const char *kernel, uint32_t correlation)
{
    const CUpti_CallbackData of = launch_of(kernel, correlation);
    launch_begins(&of);
    launch_ends(&of);
}

static void begin_with_kernels(const char *range)
{
    filter.kernels[filter.kernel_count++] = "^gemm";
    begin_with(range);
}

Test(trace, launches_are_no_business_of_a_mere_trace)
{
    begin_with("step");
    cr_expect_null(cw_inject->mode->launch_entered);
    end();
}

Test(trace, a_wanted_launch_has_a_window)
{
    begin_with_kernels(NULL);
    launch("other", 1);
    check_windows(0, false);
    const CUpti_CallbackData first = launch_of("gemm", 2), meanwhile = launch_of("gemm", 3);
    launch_begins(&first);
    check_windows(1, true);
    launch_begins(&meanwhile); /* of another thread */
    launch_ends(&meanwhile);
    check_windows(1, true);
    launch_ends(&first);
    check_windows(2, false);
    launch("_Z4gemmPf", 4);
    check_windows(4, false);
    cw_user_range_push(0, "step");
    cw_user_range_pop(0);
    check_windows(4, false);
    end();
}

Test(trace, a_launch_may_have_to_lie_in_a_range)
{
    begin_with_kernels("^step");
    launch("gemm", 1);
    check_windows(0, false);
    cw_user_range_push(0, "step 1");
    check_windows(0, false);
    launch("gemm", 2);
    check_windows(2, false);
    cw_user_range_pop(0);
    check_windows(2, false);
    end();
}

Test(trace, only_some_launches_may_have_windows)
{
    filter.launch_skip = 1;
    filter.launch_count = 2;
    begin_with_kernels(NULL);
    for (uint32_t i = 1; i < 6; i++)
        launch("gemm", i);
    check_windows(4, false);
    end();
}

/* What a stream captures runs later, and a wait would spoil the capture. */
Test(trace, a_captured_launch_has_no_window)
{
    begin_with_kernels(NULL);
    fake_capture(cw_inject->mode, context, NULL, true);
    launch("gemm", 1);
    check_windows(0, false);
    fake_capture(cw_inject->mode, context, NULL, false);
    launch("gemm", 2);
    check_windows(2, false);
    end();
}

/* The program would stand still for seconds at each launch. */
Test(trace, a_kernel_that_waits_is_not_waited_for_again)
{
    const CUpti_CallbackData of = launch_of("gemm", 1);
    begin_with_kernels(NULL);
    for (uint32_t i = 1; i < 3; i++) {
        launch_begins(&of);
        check_windows(2 * i - 1, true);
        const uint64_t before = fake_profiler.now_ns;
        fake_profiler.busy = true;
        launch_ends(&of);
        fake_profiler.busy = false;
        check_windows(2 * i, false);
        cr_expect((fake_profiler.now_ns > before) == (i == 1), "launch %u", i);
    }
    end();
}
