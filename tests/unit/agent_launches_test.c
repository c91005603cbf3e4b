/* When samples are wanted: windows of ranges and of launches. */
#include <criterion/criterion.h>

#include "agent/inject/driver/in_flight.h"
#include "agent/inject/modes/launches.h"
#include "agent/inject/modes/trace_recording.h"
#include "agent/inject/modes/trace_sift.h"
#include "agent/inject/ranges/user_ranges.h"
#include "tests/support/fake_profiler.h"

static const struct cw_inject_mode *const mode = &cw_inject_launches_mode;
static const CUcontext context = (CUcontext)0x10;

/* ---- the trace, which has its own test -------------------------------------------------------------------------- */

static uint32_t asked, contexts, finished;

static bool setup_trace(struct cw_reader *in)
{
    asked = cw_read_u32(in);
    return true;
}

static void trace_context(CUcontext c, uint32_t device)
{
    cr_expect(c == context && !device);
    contexts++;
}

static void forget_context(CUcontext c)
{
    cr_expect_eq(c, context);
    contexts--;
}

static void finish_trace(void)
{
    finished++;
}

static uint32_t turns; /* of the trace's window */

static bool sifts;
static uint32_t latest;        /* launch that was reported */
static uint32_t wanted_launch; /* launch that begins; 0: none does */

void cw_trace_sift_begin(void)
{
    sifts = true;
}

void cw_trace_sift_launch(uint32_t correlation)
{
    cr_expect_geq(correlation, latest);
    latest = correlation;
}

/* The samples' window opens inside the trace's, and closes inside it. */
void cw_trace_recording_turn(bool open, uint32_t launch)
{
    cr_expect(!open || launch == wanted_launch);
    cr_expect_eq(fake_profiler.others, turns + !open);
    cr_expect_eq(open, turns % 2 == 0);
    turns++;
}

const struct cw_inject_mode cw_inject_trace = {.setup = setup_trace,
                                               .context_created = trace_context,
                                               .context_destroyed = forget_context,
                                               .finish = finish_trace};

/* ---- windows of ranges ------------------------------------------------------------------------------------------ */

static struct cw_filter_options filter = {.launch_count = UINT64_MAX};

/* With an expression of the ranges that windows are wanted of, or NULL; or of launches, as `filter` has them. */
static void prepare(const char *range)
{
    struct cw_writer setup;
    fake_profiler_begin(NULL, 1, 1);
    cw_writer_init(&setup);
    cw_inject->mode = mode;
    filter.range = range;
    cw_write_u32(&setup, 77);
    cw_filter_write(&setup, &filter);
    fake_ask_when(&setup);
    fake_setup(mode, &setup);
}

static void begin_with(const char *range)
{
    prepare(range);
    mode->context_created(context, 0);
    cr_assert(asked == 77 && contexts == 1);
    cr_expect(cw_inject->mode->traces, "ranges are rows");
}

static void begin(void)
{
    begin_with(NULL);
}

static void end(void)
{
    mode->context_destroyed(context);
    mode->finish();
    cr_expect(!contexts && finished == 1);
    cr_expect(!cw_inject->over, "%s", fake_profiler.failure);
    fake_profiler_end();
}

/* What the agent was told so far, and last. */
static void check_windows(uint32_t count, bool open)
{
    cr_expect_eq(fake_profiler.others, count, "%u", fake_profiler.others);
    cr_expect_eq(turns, count);
    cr_expect(!count || (cw_trace_recording->windows.toggled && sifts));
    cr_expect(!count || (fake_profiler.other_size == 1 && fake_profiler.other[0] == open));
}

Test(launches, the_first_wanted_range_opens_a_window_and_the_last_closes_it)
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

Test(launches, a_range_from_before_the_first_context_has_a_window)
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

Test(launches, no_window_is_wanted_without_an_expression)
{
    begin();
    cw_user_range_push(0, "step");
    cw_user_range_pop(0);
    check_windows(0, false);
    cr_expect(!cw_trace_recording->windows.toggled && !sifts, "the trace has all of the program");
    end();
}

/* ---- windows of what is captured -------------------------------------------------------------------------------- */

Test(launches, what_is_captured_has_a_window)
{
    fake_when.profiler = true;
    begin();
    check_windows(0, false);
    fake_profile(mode, true);
    check_windows(1, true);
    fake_profile(mode, true);
    check_windows(1, true);
    fake_profile(mode, false);
    check_windows(2, false);
    end();
}

Test(launches, ranges_outside_of_what_is_captured_have_none)
{
    fake_when.profiler = true;
    begin_with("^step");
    cw_user_range_push(0, "step 1");
    check_windows(0, false);
    fake_profile(mode, true);
    check_windows(1, true);
    cw_user_range_pop(0);
    check_windows(2, false);
    fake_profile(mode, false);
    check_windows(2, false);
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
    wanted_launch = launch->correlationId;
    cw_inject->mode->launch_entered(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, launch);
    wanted_launch = 0;
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

Test(launches, launches_are_no_business_of_a_mere_trace)
{
    begin();
    cr_expect_null(cw_inject->mode->launch_entered);
    end();
}

/* One that opens a window is in it, so that it is reported behind the begin of the window. */
Test(launches, each_launch_is_reported_where_there_are_windows)
{
    begin_with("step");
    launch("gemm", 1);
    cw_user_range_push(0, "step");
    launch("gemm", 2);
    cr_expect_eq(latest, 2);
    cw_user_range_pop(0);
    check_windows(2, false);
    end();
}

Test(launches, a_wanted_launch_has_a_window)
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
    cr_expect_eq(latest, 3);
    launch("_Z4gemmPf", 4);
    check_windows(4, false);
    cw_user_range_push(0, "step");
    cw_user_range_pop(0);
    check_windows(4, false);
    end();
}

Test(launches, a_launch_may_have_to_lie_in_a_range)
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

Test(launches, only_some_launches_may_have_windows)
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
Test(launches, a_captured_launch_has_no_window)
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
Test(launches, a_kernel_that_waits_is_not_waited_for_again)
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
