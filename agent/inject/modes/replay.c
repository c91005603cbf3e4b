/* Functions called by counterworks/annotate.h: user ranges, and user replay, in which the program itself repeats a part
 * of its work once for each pass. Between the passes, CUPTI's checkpoint library restores device memory, if it is
 * found. */
#define _GNU_SOURCE
#include "agent/inject/driver/idle.h"
#include "agent/inject/driver/reach.h"
#include "agent/inject/driver/say.h"
#include "agent/inject/driver/stream_capture.h"
#include "agent/inject/memory/checkpoint.h"
#include "agent/inject/memory/kernels.h"
#include "agent/inject/modes/once.h"
#include "agent/inject/modes/range.h"
#include "agent/inject/modes/trace_nvtx.h"
#include "agent/inject/ranges/user_ranges.h"

static struct {
    struct cw_checkpoint memory;
    bool saved;
    uint32_t level;
    uint64_t launches; /* launches counted by the filter before this pass */
    uint64_t thread;   /* thread of the current loop; one at a time */
    CUcontext context; /* context of the loop's beginning */
} state CW_STATE;
#define self (&state)

#define EXPORT __attribute__((visibility("default")))
EXPORT int counterworks_range_push(const char *name);
EXPORT int counterworks_range_pop(void);
EXPORT int counterworks_range_pass(const char *name, int pass);

static uint64_t domain(void)
{
    return (uint64_t)(uintptr_t)self;
}

int counterworks_range_push(const char *name)
{
    const struct cw_trace_label label = {.name = name, .color = CW_TRACE_UNKNOWN, .payload = CW_TRACE_NO_PAYLOAD};
    const int depth = cw_user_range_push(domain(), name ? name : "");
    cw_trace_nvtx_open(domain(), 0, &label);
    return depth;
}

int counterworks_range_pop(void)
{
    cw_trace_nvtx_close(domain(), 0);
    return cw_user_range_pop(domain());
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

static void save_memory(struct cw_collection *c)
{
    const char *why = cw_reach_why() ? cw_reach_why() : cw_checkpoint_replay_has_room() ? NULL : CW_ONCE_NO_ROOM;
    self->saved = !why && cw_checkpoint_init() && cw_checkpoint_save(&self->memory, c->context);
    if (!self->saved)
        cw_say("device memory cannot be saved%s%s; each pass finds the memory that the last one left", why ? ": " : "",
               why ? why : "");
}

static void free_memory(void)
{
    if (self->saved)
        cw_checkpoint_free(&self->memory);
    self->saved = false;
}

static void restore_memory(void)
{
    if (self->saved && cw_reach_why()) { /* others have gained access since memory was saved */
        cw_say("device memory is not put back: %s; each pass finds the memory that the last one left", cw_reach_why());
        free_memory();
    }
    if (self->saved && !cw_checkpoint_restore(&self->memory))
        cw_inject_fail(CW_ERR_DEVICE, "found that device memory could not be put back between the passes of user "
                                      "replay; " CW_MAY_BE_WRONG ", and the capture ends here");
}

/* ---- passes ----------------------------------------------------------------------------------------------------- */

static bool start_pass(struct cw_collection *c)
{
    cw_collection_forget(c);
    cw_range_settings->filter.launches = self->launches;
    c->running = cw_collection_start_pass(c) ? CW_ARMED : CW_STOPPED;
    return c->running;
}

/* Stops the pass; *more if another follows, of the same part of the plan or of the next. */
static bool stop_pass(struct cw_collection *c, bool *more)
{
    c->running = CW_STOPPED;
    return cw_collection_stop_pass(c, more) && (*more || cw_collection_next_part(c, more));
}

static bool arm(struct cw_collection *c)
{
    if (!cw_range_clear_the_way(c))
        return false;
    cw_range_settings->filter.launches = self->launches;
    bool armed = cw_collection_arm(c, cw_range_settings->user ? CW_COLLECT_USER : CW_COLLECT_LAUNCHES);
    if (c->kept_out)
        cw_collection_skip(c, c->kept_out);
    return armed;
}

/* Starts the next pass of `c`, or of the next level of nested ranges. False when all are done. */
static bool next(struct cw_collection *c)
{
    bool more = false;
    if (!stop_pass(c, &more))
        return false;
    if (more) {
        restore_memory();
        return !cw_inject->over && start_pass(c);
    }
    cw_collection_deliver(c);
    if (!cw_range_settings->user || ++cw_range_settings->level >= self->level + cw_range_settings->levels)
        return false;
    restore_memory();
    return !cw_inject->over && arm(c);
}

static void end(void)
{
    cw_range_settings->level = self->level;
    self->thread = 0;
    free_memory();
}

/* Called when the program has left its last loop before the last pass. */
static void leave(void)
{
    struct cw_collection *c = cw_collection_find(self->context);
    if (c && c->open_range)
        cw_range_end(c);
    if (c)
        cw_collection_flush(c);
    end();
}

static bool begin(const char *name)
{
    if (self->thread == cw_inject_thread())
        leave();
    struct cw_collection *c = cw_inject->mode == &cw_inject_range && !cw_inject->over &&
                                      cw_range_settings->replay == CW_REPLAY_USER && !self->thread
                                  ? cw_range_current()
                                  : NULL;
    if (!c || cw_stream_capture_is_under_way() || !cw_filter_range(&cw_range_settings->filter, name))
        return false;
    if (!cw_range_rests(c) || !c->context || self->thread) { /* changed during the wait */
        if (c->context)
            cw_collection_skip(c, cw_stream_capture_is_under_way() ? CW_WHY_CAPTURED : CW_WHY_WAITS);
        return false;
    }
    save_memory(c);
    self->level = cw_range_settings->level;
    self->launches = cw_range_settings->filter.launches;
    if (!arm(c)) {
        free_memory();
        return false;
    }
    self->thread = cw_inject_thread();
    self->context = c->context;
    return true;
}

/* Whether there is another pass. */
static bool again(void)
{
    struct cw_collection *c = cw_collection_find(self->context);
    CUcontext popped;
    bool more = false;
    if (c && cw_inject->api.cuCtxPushCurrent_v2(c->context) == CUDA_SUCCESS) {
        if (!cw_range_rests(c) && !cw_inject->over)
            cw_inject_fail(CW_ERR_DEVICE, "found work in a pass of user replay that does not end behind it");
        more = !cw_inject->over && c->context && next(c);
        cw_inject->api.cuCtxPopCurrent_v2(&popped);
    }
    if (!more)
        end();
    return more;
}

int counterworks_range_pass(const char *name, int pass)
{
    name = name ? name : "";
    if (pass > 0)
        cw_user_range_pop(domain());
    if (!cw_inject_lock())
        return pass == 0;
    bool more = pass == 0;
    if (more)
        begin(name);
    else
        more = self->thread == cw_inject_thread() && again();
    cw_inject_unlock();
    if (more)
        cw_user_range_push(domain(), name);
    return more;
}
