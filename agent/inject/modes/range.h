/* Settings of range collection, and functions that several kinds of replay share. */
#ifndef CW_INJECT_RANGE_H
#define CW_INJECT_RANGE_H

#include "agent/common/filter.h"
#include "agent/inject/ranges/collection.h"
#include "agent/inject/ranges/mode.h"

struct cw_range_settings {
    enum cw_replay_kind replay;
    bool user;              /* user ranges, not launches */
    bool whole_graphs;      /* a graph launch is one range; otherwise each of its kernels is one, if possible */
    uint32_t level, levels; /* of user ranges: first level, and number of levels in this run */
    struct cw_filter filter;
    struct cw_filter_options options;
    uint64_t first_ns, spent_ns; /* time of the first start; time spent on starts and stops */
};
extern struct cw_range_settings *const cw_range_settings;

extern const struct cw_inject_mode cw_inject_range;

void cw_range_load(void);
/* Reads SETUP's payload; false if it is invalid. */
bool cw_range_setup(struct cw_reader *in);
/* Whether the filter wants this launch, and the capture is open now. Counts the launch for the filter. */
bool cw_range_wants_kernel(const char *name);
bool cw_range_wants(CUpti_CallbackId id, const CUpti_CallbackData *call);
/* The same for a user range at the level to collect. */
bool cw_range_wants_range(void);

/* Call it before a start: ends the collection of another context of the device, and waits for work that the profiler
 * must not see. False if an obstacle stays; the launch or range is counted as skipped then. */
bool cw_range_clear_the_way(struct cw_collection *c);

/* Whether the collection runs and may end now: no launch or user range is open, and it is not of user replay, which the
 * program ends. */
bool cw_range_may_stop(const struct cw_collection *c);
/* Configures and starts a collection of launches or user ranges, as in the settings. False after a failure, or if an
 * obstacle stays; the launch or range is counted as skipped then. */
bool cw_range_arm(struct cw_collection *c);
/* Ends the collection and sends its ranges. */
void cw_range_flush(struct cw_collection *c);
/* The same after a limited wait for active launches to return. Does nothing if the collection may not stop. */
void cw_range_come_to_rest(struct cw_collection *c);

/* Callbacks of modes that collect ranges (mode.h). */
bool cw_range_follows(CUpti_CallbackId id);
void cw_range_call_entered(CUpti_CallbackId id, const CUpti_CallbackData *call);
void cw_range_closing(const struct cw_open_range *range);
void cw_range_context_destroyed(CUcontext context);
void cw_range_finish(void);
bool cw_range_rest(void);
void cw_range_gate_turned(bool open);
bool cw_range_reset(void);

/* Adds the time since `begin_ns` to the time spent on starts, stops and replays. */
void cw_range_spend(uint64_t begin_ns);
/* Whether a collection may end now, after the program has waited for the GPU and may end next. True only as often as is
 * cheap beside the program, and if another process waits for the counters. */
bool cw_range_affords_end(void);

/* Returns the collection of the calling thread's context, or else the only collection; NULL if there is none. */
struct cw_collection *cw_range_current(void);
/* Begins a user range at the level to collect. */
void cw_range_begin(struct cw_collection *c, const struct cw_open_range *range);
/* Waits for the context's work. The wait has a limit, because a kernel may wait for the program's next step. Other
 * threads go on meanwhile and may destroy the context. False if the work has not ended, and while a stream is
 * captured. */
bool cw_range_rests(struct cw_collection *c);
/* Ends the open range. If its work does not end, CUPTI's range goes on, and the user range is counted as skipped. */
void cw_range_end(struct cw_collection *c);
/* Ends such a range once its work has ended, within the limit. False if it still goes on. */
bool cw_range_settle(struct cw_collection *c, uint64_t limit_ns);

#endif
