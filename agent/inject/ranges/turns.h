/* Which pass is to count what comes, where each occurrence is counted in one pass and passes take turns.
 *
 * CUPTI goes through the passes in their order, round and round; to go on costs as much as to count some twenty
 * launches, whether or not anything was counted in between. So all that is decided here is when to go on, and by how
 * many passes. Occurrences that are alike (of one kernel, grid and block, or of one user range) are of one kind. What
 * comes is foreseen: what followed where the last kinds were last met in the same order.
 *
 * The first occurrence of a kind behind a change finds caches as the change has left them, and is cold. So first each
 * pass is to count each kind at all, then once where it is not cold, and then about as often as other passes.
 *
 * Only numbers are kept here: nothing of CUPTI, and no clock. */
#ifndef CW_INJECT_TURNS_H
#define CW_INJECT_TURNS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    CW_TURNS_KINDS = 4096, /* that are remembered, in sets: the place of a kind is one of a set's; powers of two */
    CW_TURNS_SET = 4,
    CW_TURNS_HISTORY = 4096, /* occurrences that are remembered; a power of two */
};

struct cw_turns_kind {
    uint64_t key, met; /* met: occurrences so far; 0: the place is free */
    uint64_t last;     /* the last one's number, from 1 */
    uint64_t looked;   /* the look ahead that saw it */
    uint64_t stretch;  /* the last in which it was counted */
    uint32_t in_vain;  /* how often it was counted by a pass that it was in no want of, since it was by another */
};

struct cw_turns_met { /* an occurrence */
    uint32_t kind;
    uint64_t before; /* the number of the one before it of its kind, 0: none */
};

struct cw_turns {
    uint32_t passes;
    uint32_t pass;               /* that counts what comes */
    uint64_t met;                /* occurrences so far, counted or not */
    uint32_t wasted;             /* those since the last change that others of the passes needed more */
    struct cw_turns_kind *kinds; /* NULL: not begun */
    uint16_t *counts;            /* of each kind, how often each pass has counted it */
    bool *warm;                  /* and whether it was not cold once */
    bool wants_warm;             /* else that does not matter: so much is in a range that it is always cold */
    uint64_t stretch;            /* number of changes so far */
    struct cw_turns_met *history;
    uint64_t looks;
    uint32_t lead;     /* occurrences that are foreseen before one whose kind is in want of this pass */
    uint64_t period;   /* since the occurrence that is the model of what comes */
    uint32_t foreseen; /* kinds */
    uint64_t *fresh;   /* by pass: of those, how many it has not counted yet; those counted in vain are more than one */
    double *gain;      /* and what it would add to what is known of all of them */
};

/* What it costs, as measured. */
struct cw_turns_costs {
    uint64_t change_ns;          /* to go on by one pass */
    uint64_t count_ns;           /* to count one occurrence; 0: nothing beside the change, so none is to be wasted */
    uint64_t changes_ns, all_ns; /* so far: what changes took, and how long it goes on in all */
    uint32_t room;               /* occurrences that a pass can hold: then it is changed */
};

/* False without memory. */
bool cw_turns_begin(struct cw_turns *turns, uint32_t passes, bool wants_warm);
void cw_turns_end(struct cw_turns *turns);
/* Notes an occurrence, whether or not it will be counted, and gives its kind. */
uint32_t cw_turns_meet(struct cw_turns *turns, uint64_t key);
/* By how many passes to go on before the occurrence that was met last is counted. */
uint32_t cw_turns_advance(struct cw_turns *turns, const struct cw_turns_costs *costs);
/* One of this kind was counted; true where it was cold. */
bool cw_turns_count(struct cw_turns *turns, uint32_t kind);
/* The pass that counts what comes, wherever the profiler has gone on to. */
void cw_turns_set_pass(struct cw_turns *turns, uint32_t pass);
/* The profiler was started, which leaves nothing in caches. */
void cw_turns_started(struct cw_turns *turns);

#endif
