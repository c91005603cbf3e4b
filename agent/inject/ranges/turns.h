/* Decides which pass counts the next occurrence, if each occurrence is counted in one pass and passes take turns.
 *
 * CUPTI goes through the passes in order, round and round. A change to the next pass costs as much as counting some
 * twenty launches, whether or not the pass counted anything. So this decides only when to change, and by how many
 * passes. Similar occurrences (of one kernel, grid and block, or of one user range) are of one kind. Prediction: the
 * next occurrences are the ones that followed when the last kinds were met before in the same order.
 *
 * The first occurrence of a kind after a change finds the caches as the change has left them, and is cold. So each pass
 * first counts each kind at all, then once when it is not cold, and then about as often as other passes.
 *
 * This module keeps numbers only: no CUPTI, and no clock. */
#ifndef CW_INJECT_TURNS_H
#define CW_INJECT_TURNS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    CW_TURNS_KINDS = 4096, /* limit on remembered kinds; a kind may stand in any place of its set; powers of two */
    CW_TURNS_SET = 4,
    CW_TURNS_HISTORY = 4096, /* remembered occurrences; a power of two */
};

struct cw_turns {
    uint32_t passes;
    uint32_t pass;   /* the pass that counts now */
    uint64_t met;    /* occurrences so far, counted or not */
    uint32_t wasted; /* occurrences since the last change that other passes needed more */
    struct cw_turns_kind {
        uint64_t key, met; /* met: occurrences so far; 0: a free place */
        uint64_t last;     /* number of the last one, from 1 */
        uint64_t looked;   /* the last prediction that included it */
        uint64_t stretch;  /* number of the stretch that last counted it */
        uint32_t in_vain;  /* number of useless counts, by passes that it did not need, since the last useful one */
    } * kinds;             /* NULL: not begun */
    uint16_t *counts;      /* by kind and pass: number of counts */
    bool *warm;            /* by kind and pass: counted at least once when not cold */
    bool wants_warm;  /* false: cold counts are good enough, because a range has so much work that it always is cold */
    uint64_t stretch; /* number of changes so far; a stretch lies between two */
    struct cw_turns_met *history;
    uint64_t looks;
    uint32_t lead;     /* number of predicted occurrences before one whose kind needs this pass */
    uint64_t period;   /* distance back to the occurrence that serves as model */
    uint32_t foreseen; /* number of predicted kinds */
    uint64_t *fresh;   /* by pass: predicted occurrences that it has not counted; kinds counted uselessly weigh more */
    double *gain;      /* by pass: value of counting all of them */
};

/* Measured costs. */
struct cw_turns_costs {
    uint64_t change_ns; /* a change by one pass */
    uint64_t count_ns;  /* counting one occurrence; 0: nothing beside the change, so no occurrence may be wasted */
    uint64_t changes_ns, all_ns; /* total time of changes so far, and total time */
    uint32_t room;               /* occurrences that a pass can hold before it must change */
};

/* Begins. False when out of memory. */
bool cw_turns_begin(struct cw_turns *turns, uint32_t passes, bool wants_warm);
void cw_turns_end(struct cw_turns *turns);
/* Notes an occurrence, whether or not it will be counted, and returns its kind. */
uint32_t cw_turns_meet(struct cw_turns *turns, uint64_t key);
/* Returns the number of passes to go on before the last occurrence is counted. */
uint32_t cw_turns_advance(struct cw_turns *turns, const struct cw_turns_costs *costs);
/* Notes that an occurrence of this kind was counted; returns whether it was cold. */
bool cw_turns_count(struct cw_turns *turns, uint32_t kind);
/* Sets the pass that counts now, wherever the profiler has gone on to. */
void cw_turns_set_pass(struct cw_turns *turns, uint32_t pass);
/* Notes that the profiler was started, which empties the caches. */
void cw_turns_started(struct cw_turns *turns);

#endif
