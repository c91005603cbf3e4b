/* Settings of range collection that its parts share, and what kinds of replay do alike. */
#ifndef CW_INJECT_RANGE_H
#define CW_INJECT_RANGE_H

#include "agent/common/filter.h"
#include "agent/inject/ranges/collection.h"
#include "agent/inject/ranges/mode.h"

struct cw_range_settings {
    enum cw_replay_kind replay;
    bool user;              /* user ranges, not launches */
    bool whole_graphs;      /* the launch of a graph is one range; else each of its kernels is, where it can be */
    uint32_t level, levels; /* of user ranges: the level to begin with, and how many from there in this run */
    struct cw_filter filter;
    struct cw_filter_options options;
    uint64_t first_ns, spent_ns; /* when it was first started; what starting and stopping took */
};
extern struct cw_range_settings *const cw_range_settings;

extern const struct cw_inject_mode cw_inject_range;

void cw_range_load(void);
/* Reads SETUP's payload; false when it makes no sense. */
bool cw_range_setup(struct cw_reader *in);
/* Whether the filter wants this launch, and it is time to capture; counts it. */
bool cw_range_wants_kernel(const char *name);
bool cw_range_wants(CUpti_CallbackId id, const CUpti_CallbackData *call);
/* The same of a user range at the level to collect. */
bool cw_range_wants_range(void);

/* Before a start: lets go of what collects in another context of the same device, and waits for what the profiler must
 * not see. False where something stays in the way: then this one is skipped. */
bool cw_range_clear_the_way(struct cw_collection *c);

/* Whether it runs, and neither a launch nor the program stands in the way of its end. */
bool cw_range_may_stop(const struct cw_collection *c);
/* Configures and starts it for launches or for user ranges, as the settings say. False where something is in the way,
 * and then the launch or range is skipped. */
bool cw_range_arm(struct cw_collection *c);
/* Ends it and sends its ranges. */
void cw_range_flush(struct cw_collection *c);
/* The same, once launches that are under way have returned, for which it waits a while; unless it is the program that
 * ends it. */
void cw_range_come_to_rest(struct cw_collection *c);

/* What a mode of ranges is made of (mode.h). */
bool cw_range_follows(CUpti_CallbackId id);
void cw_range_call_entered(CUpti_CallbackId id, const CUpti_CallbackData *call);
void cw_range_closing(const struct cw_open_range *range);
void cw_range_context_destroyed(CUcontext context);
void cw_range_finish(void);
bool cw_range_rest(void);
void cw_range_gate_turned(bool open);

/* Counts what starting, stopping or replaying took since `begin_ns`. */
void cw_range_spend(uint64_t begin_ns);
/* Whether a collection may end now, where the program has waited for the GPU and what comes next may be its end: only
 * as often as is cheap beside the program, and where another process waits for the counters. */
bool cw_range_affords_end(void);

/* The collection of the calling thread's context, or of the only one. */
struct cw_collection *cw_range_current(void);
/* Begins the user range that is at the level to collect. */
void cw_range_begin(struct cw_collection *c, const struct cw_open_range *range);
/* Waits for what the context was given; other threads go on meanwhile, and may destroy it. A kernel may wait for what
 * the program does next, so the wait ends: false then, and while a stream is captured. */
bool cw_range_rests(struct cw_collection *c);
/* Ends the range that is open. Where its work does not end, the range goes on, and is none. */
void cw_range_end(struct cw_collection *c);
/* Ends one that went on so. False while it still does. */
bool cw_range_settle(struct cw_collection *c, uint64_t limit_ns);

#endif
