/* A context under CUPTI's range profiler, and the launches that became ranges: what every kind of replay shares. */
#ifndef CW_INJECT_COLLECTION_H
#define CW_INJECT_COLLECTION_H

#include "agent/common/effort.h"
#include "agent/common/nesting.h"
#include "agent/inject/driver/alone.h"
#include "agent/inject/driver/descriptor.h"
#include "agent/inject/driver/inject.h"

struct cw_seen_launch { /* what is known of a range before it is sent */
    char *kernel, *nvtx;
    uint32_t kernels;     /* launches in a user range so far, graphs too */
    uint32_t correlation; /* pairs the call's return with its start; threads may launch at the same time */
    struct cw_launch data;
};

/* Counter data of all parts, which the agent reads where it is. */
struct cw_collection_memory {
    struct cw_descriptor file;
    uint8_t *bytes;       /* NULL: none yet */
    uint64_t handed_over; /* cw_inject_wait_taken() before it is used again */
};

/* A collection that is replayed counts as stopped: nobody but the one who replays it ends it. */
enum cw_running {
    CW_STOPPED,
    CW_STANDS_BY, /* not armed yet: notes launches that CUPTI does not see */
    CW_ARMED,     /* until it is flushed */
};

enum cw_collection_kind {
    CW_COLLECT_LAUNCHES, /* each launch is a range */
    CW_COLLECT_KERNELS,  /* the same by CUPTI's kernel replay; others by user replay */
    CW_COLLECT_USER,     /* user ranges */
    CW_COLLECT_ONCE,     /* launches are pushed as ranges, counted in one pass each and never repeated (once.h) */
};

enum cw_waiting { CW_WAITS_NOTHING, CW_WAITS_KERNEL, CW_WAITS_STREAM /* for a function of the host's, or a value */ };

struct cw_collection {
    CUcontext context;
    uint32_t device;
    CUpti_RangeProfiler_Object *object;
    struct cw_collection_image *images;      /* one for each part of the plan, then for each of `once` */
    struct cw_collection_memory memories[2]; /* they take turns: the agent reads one while the other fills */
    uint32_t turn;                           /* the one that fills */
    size_t memory_size;                      /* of each */
    char pci[32];                            /* the device's address */
    enum cw_company company;                 /* the most that was seen on the device */
    uint64_t looked_ns;                      /* when it was last looked for */
    const char *kept_out;                    /* why it could not be armed: others had the counters; else NULL */
    bool waited;                             /* in vain, for a launch of another context to return */
    bool in_vain;                            /* what a user range launched was once waited for so */
    enum cw_scope scope;                     /* of the config image, since the start */
    uint32_t part;                           /* the one that is being collected */
    uint32_t up, let_by;                     /* where parts take turns: the next; how many to let by before it */
    uint32_t pass, part_end;                 /* passes stopped so far; how many there will be with this part's */
    uint32_t chosen;                         /* the image that CUPTI makes counter data for */
    struct {
        const struct cw_collection_config *image; /* NULL: nothing */
        CUpti_ProfilerRange range;
        enum cw_collection_kind kind;
    } configured;   /* what the object is configured for */
    size_t dropped; /* ranges, by the parts so far */
    enum cw_running running;
    enum cw_collection_kind kind; /* since the start */
    CUpti_ProfilerRange range;    /* what CUPTI takes for a range, since the start */
    bool inside;                  /* a range that was pushed is open (cw_collection_enter) */
    uint32_t inside_of;           /* the launch of that range */
    bool met_graph;               /* the program launched a graph while nothing was collected */
    uint32_t watched;             /* a launch that runs by itself, to see whether it waits; 0: none */
    uint64_t entered;             /* launches before that one */
    enum cw_waiting waits;        /* what may still be there that waits for the program */
    uint64_t armed_ns;
    uint64_t open_range;             /* the user range that is being collected, 0 for none */
    uint32_t count, pending;         /* launches so far, and those of them that have not returned */
    uint32_t skipped;                /* launches that could not be collected, not yet reported */
    const char *why;                 /* the first of them was skipped */
    struct cw_effort effort;         /* of the batch */
    struct cw_seen_launch *launches; /* room for `at_once` */
};

struct cw_collection_config {
    uint8_t *bytes;
    size_t size; /* 0: not to be used */
};

struct cw_collection_parts {
    uint32_t count;
    struct cw_collection_part *items;
    struct cw_collection_config configs[CW_SCOPE_DEVICE + 1]; /* of all passes of all of them */
};

struct cw_collections {
    /* from SETUP */
    uint32_t at_once;                      /* ranges of a collection */
    struct cw_collection_parts plan, once; /* once: of one pass each, for what is counted once; they take turns */
    bool in_turn;        /* so do those of the plan, of one pass each: a collection is of the one that is up */
    uint32_t slot_count; /* that have ever been used */
    struct cw_collection slots[CW_MOST_CONTEXTS]; /* one that nothing uses has no context */
};
extern struct cw_collections *const cw_collections;

/* Reads SETUP's payload; false when it makes no sense. */
bool cw_collection_setup(struct cw_reader *in);

/* Enables the profiler on a new context. NULL where that fails or the context is known. */
struct cw_collection *cw_collection_open(CUcontext context, uint32_t device);
struct cw_collection *cw_collection_find(CUcontext context);
void cw_collection_close(struct cw_collection *c);
/* Gives the counters back, after the last range: a child that the program forked would keep them for as long as it
 * lives. */
void cw_collection_release(struct cw_collection *c);
/* Another context's collection that has the counters of the same device, which are of one context at a time; NULL where
 * there is none. It has to be ended and released before this one is armed. Another process's gives way by itself
 * (counters.h). */
struct cw_collection *cw_collection_beside(const struct cw_collection *c);
/* The only collection, NULL where there are several. The one that collects this user range, or NULL. */
struct cw_collection *cw_collection_only(void);
struct cw_collection *cw_collection_with_range(uint64_t range);
/* Stops what is running and forgets it: the program goes on at its own speed. */
void cw_collection_stop_all(void);
/* Whether some context is being collected. */
bool cw_collection_any_runs(void);
/* Whether what is being collected is to end: there is no more room, or a program that is killed would take too much
 * with it. */
bool cw_collection_is_due(const struct cw_collection *c);
/* The program ends: ends every collection by `end`, and gives counters back. */
void cw_collection_finish(void (*end)(struct cw_collection *c));
/* Calls `each` for every open collection until the capture is over. */
void cw_collection_each(void (*each)(struct cw_collection *c));

/* Configures a part of the plan with an empty image and starts it, its first pass with user replay. Where parts take
 * turns, CUPTI goes through them in their order: `let_by` of them are let by first, each for the price of a pass. False
 * after a failure, and where others have the counters, which `kept_out` tells: then it may be tried again. */
bool cw_collection_arm(struct cw_collection *c, enum cw_collection_kind kind);
/* Runs without CUPTI's notice: all passes are to come behind what is noted, when it is armed. False after a failure. */
bool cw_collection_stand_by(struct cw_collection *c);
/* Parts that take turns at launches and user ranges that are counted in one pass each; 0: nothing is counted so. */
uint32_t cw_collection_turns(void);
/* The part whose turn it is, or is next while nothing runs. */
uint32_t cw_collection_turn(const struct cw_collection *c);
/* Each is true on success. Begins another pass; ends one, *more where the part has another. */
bool cw_collection_start_pass(struct cw_collection *c);
bool cw_collection_stop_pass(struct cw_collection *c, bool *more);
/* Whether only one pass is left, of all parts. */
bool cw_collection_has_last_pass(const struct cw_collection *c);
/* A range of the program's under user ranges, from here on: the number-th, from 1. CUPTI would add up ranges of one
 * name, so each gets its own. */
bool cw_collection_push(struct cw_collection *c, uint32_t number);
bool cw_collection_pop(struct cw_collection *c);
/* Whether launches are ranges that are pushed and popped. */
bool cw_collection_pushes(const struct cw_collection *c);
/* Around a launch that becomes the number-th range, in every pass: an older CUPTI sees no launches by itself. Nothing
 * but the launch counts. */
void cw_collection_enter(struct cw_collection *c, uint32_t number);
void cw_collection_leave(struct cw_collection *c);
/* Whether CUPTI sees launches by itself, as kernel replay needs it. */
bool cw_collection_sees_launches(void);
/* Ends what is running, decodes it, and sends the ranges if there are any; of a loop of user replay that was left
 * before its last pass there are none. */
void cw_collection_flush(struct cw_collection *c);
/* After the last pass of a part was stopped: decodes it and configures the next part, whose first pass is then to be
 * started; *more is false where it was the last part. False after a failure. */
bool cw_collection_next_part(struct cw_collection *c, bool *more);
/* Sends the ranges when all parts are decoded. */
void cw_collection_deliver(struct cw_collection *c);

/* Forgets the launches so far, for another pass of the same. */
void cw_collection_forget(struct cw_collection *c);

/* Notes a user range that begins now. False when there is no room. */
bool cw_collection_range(struct cw_collection *c, const struct cw_open_range *range);
/* Whether every launch that has not returned was noted by a collection. */
bool cw_collection_noted_all(void);
/* How long to wait for its context, which is usually so long: less where something waits for the program. */
uint64_t cw_collection_patience(const struct cw_collection *c, uint64_t usual_ns);
/* Waits so for its context to come to rest, as cw_idle_wait does; what waited has ended then. */
bool cw_collection_rests(struct cw_collection *c, uint64_t usual_ns);
/* Waits for its launches to return, for so long; others are held up meanwhile. */
void cw_collection_wait(const struct cw_collection *c, uint64_t patience_ns);
/* Counts a launch that is not collected; why: a phrase for "not collected, such as". */
void cw_collection_skip(struct cw_collection *c, const char *why);
/* Tells the agent of launches or ranges that were noted and not collected: under application replay another run may
 * have collected them. Forgets them. */
void cw_collection_miss(struct cw_collection *c);
/* Tells the agent of skipped launches that no ranges came after. */
void cw_collection_report_skipped(struct cw_collection *c);

/* Notes a launch of this name that is about to start and makes a range (cw_stream_runs_launch). False where there is no
 * room. */
bool cw_collection_launch(struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call,
                          const char *name);
/* The same for one whose return is not waited for. */
bool cw_collection_note(struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call, const char *name);
/* The same for a launch that is no call of the program's, where there is room. `stream`: CUPTI's number. */
void cw_collection_note_kernel(struct cw_collection *c, const struct cw_driver_launch *launch, uint64_t stream,
                               uint32_t correlation, const char *name);
/* A launch in the user range that is open: the range keeps the facts that all of its launches agree in. */
void cw_collection_inside(struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call);
/* Notes its return; a launch that the driver refused is forgotten or, where its range was pushed, not wanted. False for
 * a launch that was not noted. */
bool cw_collection_launched(struct cw_collection *c, const CUpti_CallbackData *call);

#endif
