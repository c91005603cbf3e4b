/* PM sampling's part in the program: a trace (trace.h) with the kernels, ranges and marks beside the samples, and
 * windows around user ranges or launches, outside which no samples are taken, and of which alone the trace has
 * launches.
 *
 * The times of kernels are those of the GPU's own timer, as for samples. On an H100 with CUPTI 13.0 a kernel's record
 * and the samples with busy SMs agreed to a few microseconds, while the wall clock was 0.7 to 0.9 ms off. */
#include "agent/inject/modes/launches.h"

#include "agent/inject/driver/idle.h"
#include "agent/inject/driver/stream_capture.h"
#include "agent/inject/memory/kernels.h"
#include "agent/inject/modes/trace.h"
#include "agent/inject/modes/trace_recording.h"
#include "agent/inject/modes/trace_sift.h"
#include "agent/inject/ranges/gate.h"
#include "agent/inject/ranges/user_ranges.h"

static struct {
    bool started;
    struct cw_filter_options options;
    struct cw_filter filter; /* selects the ranges or launches with a window, if the options name any */
    bool by_launch;          /* windows are for launches */
    bool open;               /* the window for ranges, or for the gate (gate.h), is open */
    uint32_t launch;         /* correlation of the launch whose window is open; 0: none */
    uint32_t context_count;
    CUcontext contexts[CW_MOST_CONTEXTS];
} state CW_STATE;
#define self (&state)

static const struct cw_inject_mode with_launches; /* the same mode with callbacks for launches */

static bool setup(struct cw_reader *in)
{
    if (!cw_inject_trace.setup(in))
        return false;
    cw_filter_read(in, &self->options, cw_inject->arena);
    if (!cw_gate_read(in))
        return false;
    self->by_launch = self->options.kernel_count || self->options.excluded_count;
    if ((self->options.range || self->by_launch) && cw_filter_open(&self->filter, &self->options, NULL) != CW_OK)
        return false;
    if (self->options.range)
        cw_user_ranges_filter(&self->filter);
    if (!self->options.range && !self->by_launch && !cw_gate->asked)
        return true;
    cw_inject->mode = &with_launches;
    cw_trace_recording->windows.toggled = true;
    cw_trace_sift_begin();
    return true;
}

/* ---- windows ---------------------------------------------------------------------------------------------------- */

/* Asks the agent to open or close a window, and returns once sampling has begun or ended. The trace beside is open
 * before the samples begin, and until they have ended. `launch`: correlation of the launch whose begin does so, or 0.
 */
static void set_window(bool open, uint32_t launch)
{
    struct cw_writer out;
    if (open)
        cw_trace_recording_turn(true, launch);
    cw_writer_init(&out);
    cw_write_u8(&out, open);
    uint64_t number = cw_inject_hand_over(CW_MESSAGE_WINDOW, &out, -1);
    if (number)
        cw_inject_wait_taken(number);
    if (!open)
        cw_trace_recording_turn(false, launch);
}

/* Waits for earlier work, so that launches before a range or launch are not seen in its window, and launches inside it
 * have run. False if work remains. */
static bool settle(bool open, uint32_t launch)
{
    static const uint64_t patience_ns = 10000000000;
    bool rests = true;
    for (uint32_t i = 0; i < self->context_count && !cw_inject->over; i++)
        rests = cw_idle_wait(self->contexts[i], patience_ns) && rests;
    set_window(open, launch);
    return rests;
}

/* Opens or closes the window while so many wanted ranges are open. Of nested ranges, and those of other threads, the
 * first opens it and the last closes it. */
static void review(uint32_t ranges, uint32_t launch)
{
    const bool open = !cw_gate->closed && (self->options.range ? ranges > 0 : cw_gate->asked);
    if (!self->started || self->by_launch || open == self->open)
        return;
    self->open = open;
    settle(open, launch);
}

static void range_opened(const struct cw_open_range *range)
{
    (void)range;
    review(cw_user_ranges_wanted_count(), 0);
}

static void range_closing(const struct cw_open_range *range)
{
    review(cw_user_ranges_wanted_count() - range->wanted, 0);
}

static void gate_turned(bool open)
{
    (void)open;
    review(cw_user_ranges_wanted_count(), cw_gate->launch);
}

/* Opens a window for a launch. Launches of other threads meanwhile fall into it, and have none of their own. */
static void open_for_launch(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_driver_launch launch;
    if (self->launch || !self->started || cw_gate->closed || !cw_inject_launch(&launch, id, call) ||
        cw_stream_capture_is_under_way() ||
        !cw_filter_launch(&self->filter, launch.function && call->symbolName ? call->symbolName : "",
                          cw_user_ranges_wanted_count() > 0))
        return;
    self->launch = call->correlationId;
    settle(true, call->correlationId);
}

static void launch_entered(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    if (self->by_launch)
        open_for_launch(id, call);
    cw_trace_sift_launch(call->correlationId);
}

/* Closes the window. Does not wait again for a kernel that was waited for in vain: its window ends when its launch
 * returns. */
static void launch_left(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_driver_launch launch;
    if (!self->launch || self->launch != call->correlationId)
        return;
    CUfunction kernel = cw_inject_launch(&launch, id, call) ? launch.function : NULL;
    if (kernel && cw_kernel_waits(kernel))
        set_window(false, 0);
    else if (!settle(false, 0) && kernel && !cw_stream_capture_is_under_way())
        cw_kernel_note(kernel, CW_KERNEL_WAITS);
    self->launch = 0;
}

/* ---- the mode --------------------------------------------------------------------------------------------------- */

static void context_created(CUcontext context, uint32_t device)
{
    if (self->context_count < CW_MOST_CONTEXTS)
        self->contexts[self->context_count++] = context;
    cw_inject_trace.context_created(context, device);
    if (self->started)
        return;
    self->started = true;
    /* some may be open since before the first context, which has no work yet */
    review(cw_user_ranges_wanted_count(), 0);
}

static void context_destroyed(CUcontext context)
{
    for (uint32_t i = self->context_count; i-- > 0;)
        if (self->contexts[i] == context)
            self->contexts[i] = self->contexts[--self->context_count];
    cw_inject_trace.context_destroyed(context);
}

static void finish(void)
{
    cw_inject_trace.finish();
}

static bool reset(void)
{
    cw_filter_close(&self->filter);
    memset(self, 0, sizeof *self);
    return true;
}

#define TRACES                                                                                                         \
    .traces = true, .under_mps = true, .setup = setup, .context_created = context_created,                             \
    .context_destroyed = context_destroyed, .finish = finish, .range_opened = range_opened,                            \
    .range_closing = range_closing, .gate_turned = gate_turned, .reset = reset

const struct cw_inject_mode cw_inject_launches_mode = {TRACES};
static const struct cw_inject_mode with_launches = {TRACES, .launch_entered = launch_entered,
                                                    .launch_left = launch_left};
