#include "agent/inject/modes/trace_sift.h"

#include <stdatomic.h>
#include <string.h>

#include "agent/inject/modes/trace_rows.h"
#include "base/search.h"

/* Records come up to half a second late. A window takes 0.1 ms at least, also one that the agent leaves out. */
enum { MOST = 16384 };

/* Correlations of the calls in a window, made whole. */
struct window {
    uint64_t first, last;
};

static struct {
    atomic_bool begun;
    bool open;
    bool ends; /* the last window is open, or closed before the launch that is its end; `last` is unknown */
    _Atomic uint64_t latest; /* correlation of the latest launch, made whole */
    uint32_t count;          /* changed under the rows' lock, and by callers that have the library's lock */
    struct window windows[MOST];
} state CW_STATE;
#define self (&state)

/* CUPTI's numbers start again at 0 after four billion calls. Makes one whole by the latest. */
static uint64_t whole(uint32_t correlation)
{
    const uint64_t latest = atomic_load(&self->latest);
    return latest ? latest + (uint64_t)(int64_t)(int32_t)(correlation - (uint32_t)latest)
                  : (UINT64_C(1) << 32) + correlation;
}

void cw_trace_sift_begin(void)
{
    atomic_store(&self->begun, true);
}

bool cw_trace_sift_has_begun(void)
{
    return atomic_load(&self->begun);
}

static void add_window(uint64_t first)
{
    if (self->count == MOST) {
        self->count = MOST / 2;
        memmove(self->windows, self->windows + MOST / 2, MOST / 2 * sizeof *self->windows);
    }
    self->windows[self->count++].first = first;
}

void cw_trace_sift_turn(bool open, uint32_t correlation)
{
    const uint64_t at = correlation ? whole(correlation) : atomic_load(&self->latest) + 1;
    cw_trace_rows_lock();
    if (open && !self->ends) /* otherwise no launch came between, and the last one goes on */
        add_window(at);
    self->ends = self->ends || open;
    self->open = open;
    cw_trace_rows_unlock();
}

/* Threads that wait for a window may come in any order: the lowest number behind the close is the end. */
static bool is_end(uint64_t launch)
{
    if (!self->count || self->open)
        return false;
    const struct window *last = &self->windows[self->count - 1];
    return launch >= last->first && (self->ends || launch <= last->last);
}

void cw_trace_sift_launch(uint32_t correlation)
{
    const uint64_t launch = whole(correlation);
    if (is_end(launch)) {
        cw_trace_rows_lock();
        self->windows[self->count - 1].last = launch - 1;
        self->ends = false;
        cw_trace_rows_unlock();
    }
    if (launch > atomic_load(&self->latest))
        atomic_store(&self->latest, launch);
}

bool cw_trace_sift_takes(uint32_t correlation)
{
    if (!atomic_load(&self->begun))
        return true;
    const uint64_t call = whole(correlation);
    struct cw_search s = {0, self->count}; /* windows up to `low` begin at or before the call */
    while (s.low < s.high)
        cw_search_narrow(&s, self->windows[cw_search_middle(&s)].first <= call);
    return s.low && ((s.low == self->count && self->ends) || call <= self->windows[s.low - 1].last);
}

void cw_trace_sift_reset(void)
{
    memset(self, 0, sizeof *self);
}
