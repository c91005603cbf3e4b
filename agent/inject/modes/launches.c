/* Only traces: the name, start, end, stream and device of every kernel, from CUPTI's activity records, while something
 * else measures. Nothing is serialized or replayed.
 *
 * The times are the GPU's own timer, as those of samples are: on an H100 with CUPTI 13.0 a kernel's record and the
 * samples in which the SMs were busy agreed to a few microseconds, while the wall's clock was 0.7 to 0.9 ms off. */
#include "agent/inject/modes/launches.h"

#include <stdlib.h>

#include "agent/inject/driver/idle.h"
#include "agent/inject/driver/stream_capture.h"
#include "agent/inject/memory/kernels.h"
#include "agent/inject/ranges/user_ranges.h"

/* Records are handed over when a buffer is full and about this often, so that a program that is killed takes few of
 * them with it. A record is of some 200 bytes: a buffer holds 19,000 launches, more than most programs make in that
 * time; and where CUPTI fills them faster than they are read, it gets no more than 64 MB and counts what it drops.
 * Memory that no record is written to costs nothing. */
enum { BUFFER_SIZE = 4 << 20, MOST_BUFFERS = 16, FLUSH_PERIOD_MS = 500, MOST_NAMES = 1024 };

#define self cw_launches

/* Every version of the record begins alike; this one is in the headers of all toolkits from 12.0 on. */
typedef CUpti_ActivityKernel8 kernel_record;

static const struct cw_inject_mode with_launches; /* the same, which looks at launches */

static bool setup(struct cw_reader *in)
{
    if (in->pos < in->size)
        cw_filter_read(in, &self->options, cw_inject->arena);
    if (in->status != CW_OK)
        return false;
    self->by_launch = self->options.kernel_count || self->options.excluded_count;
    if ((self->options.range || self->by_launch) && cw_filter_open(&self->filter, &self->options, NULL) != CW_OK)
        return false;
    if (self->options.range)
        cw_user_ranges_filter(&self->filter);
    if (self->by_launch)
        cw_inject->mode = &with_launches;
#define X(name)                                                                                                        \
    if (!cw_inject->api.name) {                                                                                        \
        cw_inject_fail(CW_ERR_UNSUPPORTED, "this CUPTI lacks " #name ", so kernel launches cannot be traced");         \
        return false;                                                                                                  \
    }
    CW_CUPTI_ACTIVITY_FUNCTIONS(X)
#undef X
    return true;
}

/* ---- records to messages ---------------------------------------------------------------------------------------- */

struct batch { /* the launches of one buffer */
    const char *names[MOST_NAMES];
    uint32_t name_count, count;
    struct cw_writer rows;
};

/* Names are compared by address: the driver keeps one text for a kernel. */
static uint32_t name_index(struct batch *b, const char *name)
{
    for (uint32_t i = b->name_count; i-- > 0;)
        if (b->names[i] == name)
            return i;
    b->names[b->name_count] = name;
    return b->name_count++;
}

static void send_batch(struct batch *b, uint64_t dropped)
{
    struct cw_writer out;
    cw_writer_init(&out);
    cw_write_u64(&out, dropped);
    cw_write_u32(&out, b->name_count);
    for (uint32_t i = 0; i < b->name_count; i++)
        cw_write_string(&out, b->names[i] ? b->names[i] : "");
    cw_write_u32(&out, b->count);
    cw_write_bytes(&out, b->rows.data, b->rows.size);
    if (b->rows.status != CW_OK)
        out.status = b->rows.status;
    cw_writer_free(&b->rows);
    cw_writer_init(&b->rows);
    if (b->count || dropped)
        cw_inject_send(CW_MESSAGE_LAUNCHES, &out);
    else
        cw_writer_free(&out);
    b->name_count = b->count = 0;
}

static void add(struct batch *b, const kernel_record *k)
{
    if (b->name_count == MOST_NAMES)
        send_batch(b, 0);
    cw_write_u32(&b->rows, name_index(b, k->name));
    cw_write_u32(&b->rows, k->deviceId);
    cw_write_u64(&b->rows, k->contextId);
    cw_write_u64(&b->rows, k->streamId);
    const bool timed = k->start && k->end; /* of what was not collected CUPTI says 0 */
    cw_write_u64(&b->rows, timed ? k->start : 0);
    cw_write_u64(&b->rows, timed ? k->end : 0);
    b->count++;
}

static void CUPTIAPI buffer_requested(uint8_t **buffer, size_t *size, size_t *most)
{
    struct cw_thread here;
    cw_thread_enter(&here);
    *most = 0;
    const bool room = atomic_fetch_add(&self->buffers, 1) < MOST_BUFFERS;
    *buffer = room ? aligned_alloc(8, BUFFER_SIZE) : NULL;
    *size = *buffer ? BUFFER_SIZE : 0;
    if (!*buffer)
        atomic_fetch_sub(&self->buffers, 1);
    cw_thread_leave(&here);
}

/* Comes on a thread of CUPTI's own, or on the one that flushes and holds the lock: so it takes none. */
static void CUPTIAPI buffer_completed(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
    (void)size;
    struct cw_thread here;
    cw_thread_enter(&here);
    struct batch *b = cw_inject->over ? NULL : calloc(1, sizeof *b);
    CUpti_Activity *record = NULL;
    size_t dropped = 0;
    if (b) {
        cw_writer_init(&b->rows);
        while (valid && cw_inject->api.cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
            if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
                add(b, (const kernel_record *)record);
        cw_inject->api.cuptiActivityGetNumDroppedRecords(context, stream, &dropped);
        send_batch(b, dropped);
    }
    free(b);
    if (buffer)
        atomic_fetch_sub(&self->buffers, 1);
    free(buffer);
    cw_thread_leave(&here);
}

/* ---- the mode --------------------------------------------------------------------------------------------------- */

/* Samples are being taken, or not any more, when this returns. */
static void set_window(bool open)
{
    struct cw_writer out;
    cw_writer_init(&out);
    cw_write_u8(&out, open);
    uint64_t number = cw_inject_hand_over(CW_MESSAGE_WINDOW, &out, -1);
    if (number)
        cw_inject_wait_taken(number);
}

/* What was launched before a range or a launch must not be seen in its window, and what was launched in it must have
 * run. False where something still does. */
static bool settle(bool open)
{
    static const uint64_t patience_ns = 10000000000;
    bool rests = true;
    for (uint32_t i = 0; i < self->context_count && !cw_inject->over; i++)
        rests = cw_idle_wait(self->contexts[i], patience_ns) && rests;
    set_window(open);
    return rests;
}

static bool opens_windows(const struct cw_open_range *range)
{
    return self->started && self->options.range && !self->by_launch && range->wanted &&
           cw_user_ranges_wanted_count() == 1;
}

/* Of nested ranges, and those of other threads, the first opens the window and the last closes it. */
static void range_opened(const struct cw_open_range *range)
{
    if (opens_windows(range))
        settle(true);
}

static void range_closing(const struct cw_open_range *range)
{
    if (opens_windows(range))
        settle(false);
}

/* Launches of other threads meanwhile are in the window, and have none of their own. */
static void launch_entered(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_driver_launch launch;
    if (self->launch || !self->started || !cw_inject_launch(&launch, id, call) || cw_stream_capture_is_under_way() ||
        !cw_filter_launch(&self->filter, launch.function && call->symbolName ? call->symbolName : "",
                          cw_user_ranges_wanted_count() > 0))
        return;
    self->launch = call->correlationId;
    settle(true);
}

/* A kernel that was once waited for in vain is not again: its window is over when its launch returns. */
static void launch_left(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_driver_launch launch;
    if (!self->launch || self->launch != call->correlationId)
        return;
    CUfunction kernel = cw_inject_launch(&launch, id, call) ? launch.function : NULL;
    if (kernel && cw_kernel_habit(kernel) == CW_KERNEL_WAITS)
        set_window(false);
    else if (!settle(false) && kernel && !cw_stream_capture_is_under_way())
        cw_kernel_note(kernel, CW_KERNEL_WAITS);
    self->launch = 0;
}

#define TRY(name, ...) cw_inject_good(cw_inject->api.name(__VA_ARGS__), #name)

static void context_created(CUcontext context, uint32_t device)
{
    (void)device;
    if (self->context_count < CW_MOST_CONTEXTS)
        self->contexts[self->context_count++] = context;
    if (self->started)
        return;
    self->started = true;
    (void)(TRY(cuptiActivityRegisterTimestampCallback, cw_inject_now_ns) &&
           TRY(cuptiActivityRegisterCallbacks, buffer_requested, buffer_completed) &&
           TRY(cuptiActivityFlushPeriod, FLUSH_PERIOD_MS) &&
           TRY(cuptiActivityEnable, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    if (self->options.range && !self->by_launch &&
        cw_user_ranges_wanted_count()) /* since before the first context, which has no work yet */
        set_window(true);
}

static void context_destroyed(CUcontext context)
{
    for (uint32_t i = self->context_count; i-- > 0;)
        if (self->contexts[i] == context)
            self->contexts[i] = self->contexts[--self->context_count];
    if (self->started)
        cw_inject->api.cuptiActivityFlushAll(0);
}

static void finish(void)
{
    if (self->started)
        cw_inject->api.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
}

#define TRACES                                                                                                         \
    .under_mps = true, .setup = setup, .context_created = context_created, .context_destroyed = context_destroyed,     \
    .finish = finish, .range_opened = range_opened, .range_closing = range_closing

const struct cw_inject_mode cw_inject_launches_mode = {TRACES};
static const struct cw_inject_mode with_launches = {TRACES, .launch_entered = launch_entered,
                                                    .launch_left = launch_left};
