/* Batches: launches that are replayed together. Holds a batch for each context, its saved memory, and whether
 * concurrent work allows it to be repeated. batch.c decides on the times. */
#ifndef CW_INJECT_BATCHES_H
#define CW_INJECT_BATCHES_H

#include "agent/inject/memory/checkpoint.h"
#include "agent/inject/memory/proof.h"
#include "agent/inject/memory/record.h"
#include "agent/inject/modes/slow.h"
#include "agent/inject/ranges/collection.h"
#include "agent/inject/ranges/mode.h"

enum { CW_MOST_UNREAD = 16, CW_MOST_FAMILIAR = 1024 };

struct cw_batch {
    bool open;             /* the first pass is running */
    bool saved;            /* there is a checkpoint */
    uint32_t unread_count; /* copies to the host that may still run, and their destinations */
    struct cw_host_bytes unread[CW_MOST_UNREAD];
    uint32_t modules; /* number of modules with variables when memory was saved */
    bool spoilt;      /* work beside the batch was not recorded, so it cannot be repeated */
    bool waits;       /* the same, because one of its own kernels waits */
    bool passed;      /* a kernel that the program's next step lets go runs beside it */
    bool reaches;     /* work of the context that may reach other devices' memory has not been seen to end */
    bool arrived;     /* a launch that reaches other devices waits for their batches */
    uint32_t changes; /* changes of reached memory (reach.h) until memory was saved */
    struct cw_slow slow;
    uint32_t familiar; /* launches since the last unknown kernel that might have waited; at most CW_MOST_FAMILIAR */
    uint64_t began_ns, ended_ns; /* the program's own run of the batch or trial */
    uint64_t short_ns;           /* time when no checkpoint could be made, or 0 */
    const char *short_why;
    uint64_t thread;      /* the program's that launches with host memory; 0: none */
    uint32_t lacked;      /* batches one after another that wrote memory without a copy */
    uint32_t correlation; /* correlation of the trial */
    uint64_t since; /* host allocations until the last batch ended; UINT64_MAX once work that was not recorded may have
               brought addresses of such memory to the device */
    struct cw_record record;
    struct cw_checkpoint checkpoint;
    struct cw_proof proof; /* of memory that others reach, which the checkpoint leaves out */
};

/* Calls in the driver other than launches, by their effect on memory. READS: reads or waits. */
enum { CW_BATCH_NEITHER, CW_BATCH_CHANGES, CW_BATCH_READS };

struct cw_batches {
    struct cw_batch items[CW_MOST_CONTEXTS]; /* by slot of the collection */
    uint32_t in_flight[CW_BATCH_READS + 1];
    /* a launch with host memory, from the program's call to its return (cw_batch_begin_trial); disturbed: other calls
     * came between */
    struct cw_batch *trial;
    bool disturbed;
    bool stranger;  /* a context that is not captured has launched something */
    uint64_t taken; /* launches with host memory to repeat before batches are trusted that other threads may end */
    bool in_vain; /* a wait for work that reaches others was once in vain: the work waits for the program's next step */
    uint64_t first_ns, switched_ns; /* launches counted once between batches: time of the first; time spent on all */
};
extern struct cw_batches *const cw_batches;

extern const struct cw_inject_mode cw_inject_batch;

/* The reason why no launch may be repeated: a restore would touch memory that others reach. NULL: it depends on the
 * launch. */
const char *cw_batch_reach_reason(void);
/* Reasons why launches are counted once. */
extern const char cw_batch_no_room[], cw_batch_several_devices[], cw_batch_not_saved[], cw_batch_not_recorded[],
    cw_batch_waits_for_host[], cw_batch_not_proven[], cw_batch_reaches[];

/* Limit on the wait for all work of a batch or a graph. */
extern const uint64_t cw_batch_rest_patience_ns;

struct cw_batch *cw_batch_of(const struct cw_collection *c);
/* Whether no call is active that would be undone with a batch that began now. */
bool cw_batch_quiet(void);
/* The same, and no call that reads or waits. */
bool cw_batch_at_rest(void);
/* Waits, within a limit, until no other call needs this memory, such as an active copy to the host. */
void cw_batch_wait_for_others(const struct cw_collection *c);

/* Notes the reason why there is no checkpoint: for some seconds none is tried. */
const char *cw_batch_fall_short(struct cw_batch *b, const char *why);
/* Saves the content of the context. Returns NULL, or the reason why not. */
const char *cw_batch_save(struct cw_collection *c, struct cw_batch *b);
/* Whether code with variables was loaded since memory was saved. The saved memory lacks these variables, so kernels
 * that use them must not be repeated. */
bool cw_batch_has_new_variables(const struct cw_batch *b);
/* Drops the batch and frees its saved memory, which waits for kernels that still run. */
void cw_batch_forget(struct cw_batch *b);
/* Runs the other passes of the first part, then all passes of the other parts. For a trial (`tried`) the first pass has
 * only been started, and is run as well. The last pass leaves memory as the program expects it. So does a
 * failure, if memory can be restored; otherwise a message follows. False if there are no ranges. */
bool cw_batch_replay(struct cw_collection *c, struct cw_batch *b, bool tried);
/* Notes whether an unknown kernel waits, after its launch in a batch that stands by has returned. `entered`: launches
 * before it. */
void cw_batch_see(struct cw_collection *c, CUfunction kernel, uint64_t entered);
/* Ends the current work and sends its ranges, unless another thread does so meanwhile. `by`: the driver call or other
 * reason (range --verbose). */
void cw_batch_end(struct cw_collection *c, const char *by);
/* Counts the time from here on for this phase of a batch. The three functions below do so for their own work
 * (collection.h). */
void cw_batch_turn(struct cw_collection *c, enum cw_effort_phase to);
bool cw_batch_stop_pass(struct cw_collection *c, bool *more);
bool cw_batch_next_part(struct cw_collection *c, bool *more);
void cw_batch_deliver(struct cw_collection *c);
/* Ends the capture with this line. An ended capture prints no more by itself. */
void cw_batch_tell(const char *text);

/* Whether threads often end each other's batches, so that launches with host memory are batches of their own. */
bool cw_batch_is_taken(void);
/* Why launches that are given host memory must not be repeated, or NULL. */
const char *cw_batch_why_alone(void);
/* Whether the program uses several devices, which may use the same host memory. */
bool cw_batch_has_neighbour_device(const struct cw_collection *c);
/* Begins the trial of a launch that is given host memory. The launch is recorded and about to run alone, because its
 * kernel may wait in that memory for the host's next step; all passes follow. Returns NULL, or the reason why not. */
const char *cw_batch_begin_trial(struct cw_collection *c, struct cw_batch *b, CUpti_CallbackId id,
                                 const CUpti_CallbackData *call);
/* Ends the trial at the launch's return: replays it and sends its range, or counts it as skipped. */
void cw_batch_end_trial(struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call);

#endif
