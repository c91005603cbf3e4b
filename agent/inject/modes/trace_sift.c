#include "agent/inject/modes/trace_sift.h"

#include <stdatomic.h>
#include <string.h>

#include "agent/inject/modes/trace_rows.h"

/* Records come late, but not as late as this many windows, each of which takes a millisecond at least. */
enum { MOST = 1024 };

struct window {
    uint32_t first, last; /* correlations; last is not known yet for the last window while `ends` */
};

static struct {
    atomic_bool begun, ends; /* ends: the last window is open, or closed before the launch that is its end */
    bool open;
    _Atomic uint32_t latest; /* correlation of the latest launch */
    /* The rows' lock protects `open`, changes of `ends`, and these: */
    uint32_t count;
    struct window windows[MOST];
} state CW_STATE;
#define self (&state)

/* Whether a number is at or behind another. They start again at 0 after four billion calls. */
static bool is_behind(uint32_t number, uint32_t other)
{
    return (int32_t)(number - other) >= 0;
}

void cw_trace_sift_begin(void)
{
    atomic_store(&self->begun, true);
}

bool cw_trace_sift_has_begun(void)
{
    return atomic_load(&self->begun);
}

static void open_window(void)
{
    if (atomic_load(&self->ends)) /* no launch came between: the last one goes on */
        return;
    if (self->count == MOST) {
        self->count = MOST / 2;
        memmove(self->windows, self->windows + MOST / 2, MOST / 2 * sizeof *self->windows);
    }
    self->windows[self->count++].first = atomic_load(&self->latest) + 1;
    atomic_store(&self->ends, true);
}

void cw_trace_sift_turn(bool open)
{
    cw_trace_rows_lock();
    if (open)
        open_window();
    self->open = open;
    cw_trace_rows_unlock();
}

void cw_trace_sift_launch(uint32_t correlation)
{
    if (atomic_load(&self->ends)) {
        cw_trace_rows_lock();
        if (!self->open && atomic_exchange(&self->ends, false))
            self->windows[self->count - 1].last = correlation - 1;
        cw_trace_rows_unlock();
    }
    atomic_store(&self->latest, correlation);
}

static bool is_in_window(uint32_t correlation)
{
    uint32_t i = self->count;
    while (i > 0 && !is_behind(correlation, self->windows[i - 1].first))
        i--;
    return i > 0 &&
           ((i == self->count && atomic_load(&self->ends)) || is_behind(self->windows[i - 1].last, correlation));
}

bool cw_trace_sift_takes(uint32_t correlation)
{
    return !atomic_load(&self->begun) || is_in_window(correlation);
}

void cw_trace_sift_reset(void)
{
    memset(self, 0, sizeof *self);
}
