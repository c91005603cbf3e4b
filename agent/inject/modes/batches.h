/* Launches that are replayed together: a batch for each context, what it saved, and whether what runs beside it lets it
 * be done again. batch.c says when. */
#ifndef CW_INJECT_BATCHES_H
#define CW_INJECT_BATCHES_H

#include "agent/inject/memory/checkpoint.h"
#include "agent/inject/memory/record.h"
#include "agent/inject/ranges/collection.h"
#include "agent/inject/ranges/mode.h"

enum { CW_MOST_UNREAD = 16, CW_MOST_FAMILIAR = 1024 };

struct cw_batch {
    bool open;             /* the first pass is running */
    bool saved;            /* there is a checkpoint */
    uint32_t unread_count; /* copies to the host that may go on still, and where they write */
    struct cw_host_bytes unread[CW_MOST_UNREAD];
    uint32_t modules;  /* with variables, when it was saved */
    bool spoilt;       /* something ran beside it that was not recorded: it cannot be done again */
    bool waits;        /* the same, and that is a kernel of its own that waits */
    uint32_t familiar; /* launches since a kernel that was not known and might have waited; at most CW_MOST_FAMILIAR */
    uint64_t began_ns, short_ns; /* the trial; when there was no checkpoint to be had, or 0 */
    const char *short_why;
    uint32_t correlation; /* of the trial */
    struct cw_record record;
    struct cw_checkpoint checkpoint;
};

/* Calls that have entered and not left, launches apart, by what they may do to memory. READS: or wait. */
enum { CW_BATCH_NEITHER, CW_BATCH_CHANGES, CW_BATCH_READS };

struct cw_batches {
    struct cw_batch items[CW_MOST_CONTEXTS]; /* of the collections in these slots */
    uint32_t in_flight[CW_BATCH_READS + 1];
    /* a launch that is given memory of the host's, between the program's call and its return (cw_batch_begin_trial);
     * others were in the way */
    struct cw_batch *trial;
    bool disturbed;
};
extern struct cw_batches *const cw_batches;

extern const struct cw_inject_mode cw_inject_batch;

/* Why launches are counted once. */
extern const char cw_batch_no_room[], cw_batch_several_devices[], cw_batch_not_saved[], cw_batch_not_recorded[],
    cw_batch_waits_for_host[];

/* With all that a batch or a graph launched. */
extern const uint64_t cw_batch_rest_patience_ns;

/* That of a collection. */
struct cw_batch *cw_batch_of(const struct cw_collection *c);
/* Whether nothing is under way that would be undone with a batch that began now. */
bool cw_batch_quiet(void);
/* The same, and nothing that reads or waits. */
bool cw_batch_at_rest(void);
/* A copy to the host that is under way still wants this memory; a call that waits for ever does not. */
void cw_batch_wait_for_others(const struct cw_collection *c);

/* Why there is no checkpoint: for some seconds none is tried. */
const char *cw_batch_fall_short(struct cw_batch *b, const char *why);
/* Saves what the context holds; why not, or NULL. */
const char *cw_batch_save(struct cw_collection *c, struct cw_batch *b);
/* Whether code was loaded since, with variables, which are not among what was saved: kernels that come to use them are
 * not to be done again. */
bool cw_batch_has_new_variables(const struct cw_batch *b);
/* While a kernel still runs, memory cannot be given back without waiting for it. */
void cw_batch_forget(struct cw_batch *b);
/* The passes after the program's own, or after its start where that was a trial: of the first part, then of the others.
 * Memory is as the program expects it behind each of them, also after a failure, where it can be put right; else that
 * is told. False where there are no ranges. */
bool cw_batch_replay(struct cw_collection *c, struct cw_batch *b, bool tried);
/* A launch of a batch that stands by has returned, of a kernel that is not known: sees whether it waits. `entered`:
 * launches before it. */
void cw_batch_see(struct cw_collection *c, CUfunction kernel, uint64_t entered);
/* Ends whatever runs and sends its ranges, unless another thread does it meanwhile. `by`: which call of the driver, or
 * what else (range --verbose). */
void cw_batch_end(struct cw_collection *c, const char *by);
/* Counts what comes from here on as this part of a batch's time; so do these, of what they do (collection.h). */
void cw_batch_turn(struct cw_collection *c, enum cw_effort_phase to);
bool cw_batch_stop_pass(struct cw_collection *c, bool *more);
bool cw_batch_next_part(struct cw_collection *c, bool *more);
void cw_batch_deliver(struct cw_collection *c);
/* Ends the capture with this line. One that has ended tells nothing more by itself. */
void cw_batch_tell(const char *text);

/* A launch that is given memory of the host's: its kernel may wait there for what the host does next, so it runs by
 * itself first, and all passes come behind it. One that is recorded is about to run so; why not, or NULL. */
const char *cw_batch_begin_trial(struct cw_collection *c, struct cw_batch *b, CUpti_CallbackId id,
                                 const CUpti_CallbackData *call);
/* It has returned: replays it and sends its range, or counts it as skipped. */
void cw_batch_end_trial(struct cw_collection *c, CUpti_CallbackId id, const CUpti_CallbackData *call);

#endif
