/* A context under CUPTI's range profiler, with its launches as ranges. All kinds of replay use it. */
#ifndef CW_INJECT_COLLECTION_H
#define CW_INJECT_COLLECTION_H

#include "agent/common/effort.h"
#include "agent/common/nesting.h"
#include "agent/inject/driver/alone.h"
#include "agent/inject/driver/descriptor.h"
#include "agent/inject/driver/inject.h"

/* A collection counts as stopped while it is replayed, so that only the replaying code ends it. */
enum cw_running {
    CW_STOPPED,
    CW_STANDS_BY, /* not armed yet: launches are noted, but CUPTI does not see them */
    CW_ARMED,     /* until it is flushed */
};

enum cw_collection_kind {
    CW_COLLECT_LAUNCHES, /* each launch is a range */
    CW_COLLECT_KERNELS,  /* the same by CUPTI's kernel replay; the other kinds use its user replay */
    CW_COLLECT_USER,     /* user ranges */
    CW_COLLECT_ONCE,     /* ranges pushed around launches, each counted in one pass and never repeated (once.h) */
};

enum cw_waiting { CW_WAITS_NOTHING, CW_WAITS_KERNEL, CW_WAITS_STREAM /* for a host function, or a value */ };

struct cw_collection {
    CUcontext context;
    uint32_t device;
    CUpti_RangeProfiler_Object *object;
    struct cw_collection_image *images; /* one per part of the plan, then one per part of `once` */
    /* Counter data of all parts, in memory that the agent reads in place. */
    struct cw_collection_memory {
        struct cw_descriptor file;
        uint8_t *bytes;       /* NULL: none yet */
        uint64_t handed_over; /* number for cw_inject_wait_taken() before the next use */
    } memories[2];            /* they take turns: the agent reads one while the other fills */
    uint32_t turn;            /* index of the memory that fills */
    size_t memory_size;       /* of each memory */
    char pci[32];             /* the device's address */
    enum cw_company company;  /* the most company seen on the device */
    uint64_t looked_ns;       /* time of the last look for company */
    const char *kept_out;     /* why it could not be armed, because others had the counters; else NULL */
    bool waited;              /* waited in vain for a launch of another context to return */
    bool in_vain;             /* waited in vain for the work of a user range */
    enum cw_scope scope;      /* of the config image, since the start */
    uint32_t part;            /* the part that is being collected */
    uint32_t up, let_by;      /* if parts take turns: the next part; number of parts to let by before it */
    uint32_t pass, part_end;  /* passes stopped so far; this number at the end of the part */
    uint32_t chosen;          /* the image for which CUPTI makes counter data */
    struct {
        const struct cw_collection_config *image; /* NULL: nothing */
        CUpti_ProfilerRange range;
        enum cw_collection_kind kind;
    } configured;   /* configuration of the object */
    size_t dropped; /* most ranges that a part has dropped so far */
    enum cw_running running;
    enum cw_collection_kind kind; /* since the start */
    CUpti_ProfilerRange range;    /* CUPTI's kind of range, since the start */
    bool inside;                  /* a pushed range is open (cw_collection_enter) */
    uint32_t inside_of;           /* correlation of the launch in that range */
    bool met_graph;               /* the program launched a graph while nothing was collected */
    uint32_t watched;             /* correlation of a launch that runs alone, to see whether it waits; 0: none */
    uint64_t entered;             /* number of launches before it */
    enum cw_waiting waits;        /* work that may still wait for the program */
    uint64_t armed_ns;
    uint64_t open_range;     /* the user range that is being collected, 0 for none */
    uint32_t count, pending; /* launches so far; launches that have not returned */
    uint32_t skipped;        /* launches that could not be collected, not yet reported */
    const char *why;         /* the reason for all of them */
    struct cw_effort effort; /* of the batch */
    struct cw_seen_launch {  /* a range before it is sent */
        char *kernel, *nvtx;
        uint32_t kernels;     /* launches in a user range so far, graphs too */
        uint32_t correlation; /* pairs the call's return with its start; threads may launch at the same time */
        struct cw_launch data;
    } * launches; /* room for `at_once` */
};

struct cw_collections {
    /* from SETUP */
    uint32_t at_once; /* most ranges of a collection */
    struct cw_collection_parts {
        uint32_t count;
        struct cw_collection_part *items;
        struct cw_collection_config {
            uint8_t *bytes;
            size_t size;                /* 0: must not be used */
        } configs[CW_SCOPE_DEVICE + 1]; /* by scope; for all passes of all parts */
    } plan, once;                       /* once: parts of one pass each that take turns at launches counted once */
    bool in_turn;        /* the plan's parts take turns as well, with one pass each and one part per collection */
    bool stays;          /* the profiler of a context that was forgotten is enabled still */
    uint32_t slot_count; /* slots ever used */
    struct cw_collection slots[CW_MOST_CONTEXTS]; /* an unused one has no context */
};
extern struct cw_collections *const cw_collections;

/* Reads SETUP's payload; false if it is invalid. */
bool cw_collection_setup(struct cw_reader *in);

/* Enables the profiler on a new context. NULL if that fails, if the context is known, or if all slots are used. */
struct cw_collection *cw_collection_open(CUcontext context, uint32_t device);
struct cw_collection *cw_collection_find(CUcontext context);
void cw_collection_close(struct cw_collection *c);
/* Gives the counters back. Call it after the last range: otherwise a forked child would keep them for as long as it
 * lives. */
void cw_collection_release(struct cw_collection *c);
/* Returns the collection of another context that has the same device's counters, or NULL. One context has them at a
 * time, so end and release that collection before arming this one. Another process gives way by itself (counters.h). */
struct cw_collection *cw_collection_beside(const struct cw_collection *c);
/* Returns the only collection, NULL if there are none or several; and the collection of a user range, or NULL. */
struct cw_collection *cw_collection_only(void);
struct cw_collection *cw_collection_with_range(uint64_t range);
/* Stops and forgets all collections, so that the program goes on at its own speed. */
void cw_collection_stop_all(void);
/* Whether any collection runs. */
bool cw_collection_any_runs(void);
/* Whether the collection must end: it has no more room, or a program that is killed would lose too much. */
bool cw_collection_is_due(const struct cw_collection *c);
/* Call it when the program ends: ends every collection by `end`, and gives the counters back. */
void cw_collection_finish(void (*end)(struct cw_collection *c));
/* Calls `each` for every open collection until the capture is over. */
void cw_collection_each(void (*each)(struct cw_collection *c));

/* Configures a part of the plan with an empty image, and starts it; under user replay, its first pass. If parts take
 * turns, CUPTI goes through them in order, and lets `let_by` of them by first, each for the price of a pass. False
 * after a failure, and if others have the counters: then `kept_out` is the reason, and the caller may try again. */
bool cw_collection_arm(struct cw_collection *c, enum cw_collection_kind kind);
/* Notes launches without CUPTI. All passes come behind these launches, once the collection is armed. False after a
 * failure. */
bool cw_collection_stand_by(struct cw_collection *c);
/* Number of parts that take turns at launches or user ranges counted in one pass each; 0: there are no such launches or
 * ranges. */
uint32_t cw_collection_turns(void);
/* Returns the part whose turn it is; if nothing runs, the next one. */
uint32_t cw_collection_turn(const struct cw_collection *c);
/* Call it before code is unloaded. CUPTI forgets the code that it was to patch, or it would patch what is gone. */
void cw_collection_code_goes(void);
/* Whether CUPTI patches code in the part whose turn comes `ahead` parts later. It then blocks each launch until its
 * kernel ends, and never ends itself if that kernel waits for what the program does next. */
bool cw_collection_turn_patches(const struct cw_collection *c, uint32_t ahead);
/* Disables the profiler of a collection that does not run, if its context comes to rest. The next collection enables
 * it. */
void cw_collection_disable(struct cw_collection *c);
/* Begins another pass; ends a pass, *more: the part has another. Each returns true on success. */
bool cw_collection_start_pass(struct cw_collection *c);
bool cw_collection_stop_pass(struct cw_collection *c, bool *more);
/* Whether only one pass is left, of all parts. */
bool cw_collection_has_last_pass(const struct cw_collection *c);
/* Begins a CUPTI range with this number, from 1, and ends it. CUPTI would add up ranges of one name, so the name is the
 * number. */
bool cw_collection_push(struct cw_collection *c, uint32_t number);
bool cw_collection_pop(struct cw_collection *c);
/* Whether ranges are pushed and popped around launches. */
bool cw_collection_pushes(const struct cw_collection *c);
/* Call these around the launch of the number-th range, in every pass. For an older CUPTI, which sees no launches by
 * itself, they push and pop a range in which nothing but the launch counts. */
void cw_collection_enter(struct cw_collection *c, uint32_t number);
void cw_collection_leave(struct cw_collection *c);
/* Whether CUPTI sees launches by itself, which kernel replay needs. */
bool cw_collection_sees_launches(void);
/* Ends the collection, decodes it, and sends its ranges if there are any. There are none if the program left a loop of
 * user replay before its last pass. */
void cw_collection_flush(struct cw_collection *c);
/* Call it after the last pass of a part: decodes the part and configures the next one, whose first pass the caller then
 * starts. *more: false after the last part. False after a failure. */
bool cw_collection_next_part(struct cw_collection *c, bool *more);
/* Sends the ranges. Call it when all parts are decoded. */
void cw_collection_deliver(struct cw_collection *c);

/* Forgets the launches so far, for another pass of the same. */
void cw_collection_forget(struct cw_collection *c);

/* Notes a user range that begins now. False if there is no room. */
bool cw_collection_range(struct cw_collection *c, const struct cw_open_range *range);
/* Whether every launch that has not returned was noted by a collection. */
bool cw_collection_noted_all(void);
/* Returns the limit on a wait for the context: `usual_ns`, or less if some work waits for the program. */
uint64_t cw_collection_patience(const struct cw_collection *c, uint64_t usual_ns);
/* Waits within that limit for the context to come to rest, as cw_idle_wait does. Once it rests, no work of it waits for
 * the program. */
bool cw_collection_rests(struct cw_collection *c, uint64_t usual_ns);
/* Waits for its launches to return, for at most `patience_ns` and while the capture goes on; other threads are held up
 * meanwhile. */
void cw_collection_wait(const struct cw_collection *c, uint64_t patience_ns);
/* Counts a launch as skipped; why: a phrase for "not collected: ". */
void cw_collection_skip(struct cw_collection *c, const char *why);
/* Sends the noted launches or ranges to the agent without values, and forgets them: under application replay another
 * run may have collected them. */
void cw_collection_miss(struct cw_collection *c);
/* Reports skipped launches to the agent, if no ranges follow that would do so. */
void cw_collection_report_skipped(struct cw_collection *c);

/* Notes a launch of this name that is about to start and to be a range (cw_stream_runs_launch). False if there is no
 * room. */
bool cw_collection_launch(struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call,
                          const char *name);
/* The same, but nothing waits for the launch's return. */
bool cw_collection_note(struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call, const char *name);
/* The same for a launch that the program does not call itself, if there is room. `stream`: CUPTI's number. */
void cw_collection_note_kernel(struct cw_collection *c, const struct cw_driver_launch *launch, uint64_t stream,
                               uint32_t correlation, const char *name);
/* Adds a launch to the open user range, which keeps the facts that all its launches share. */
void cw_collection_inside(struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call);
/* Notes a launch's return. A launch that the driver refused is forgotten, or unwanted if its range was pushed. False if
 * the launch was not noted. */
bool cw_collection_launched(struct cw_collection *c, const CUpti_CallbackData *call);

#endif
