/* Draws sets of metrics as people request them, for a judge to schedule and check. Internal to the importer. */
#ifndef CW_IMPORT_CHECK_SETS_H
#define CW_IMPORT_CHECK_SETS_H

#include "import/ask.h"

enum { CW_CHECK_WINDOW = 6 }; /* rounds that together decide whether to stop */

struct cw_check_count {
    uint32_t sets, passes, refused; /* sets, our passes for them, and passes that the library refuses */
};

struct cw_check_sets {
    struct cw_ask *ask;
    const bool *usable; /* by placement; raw counters without a usable one are left out */
    uint32_t most;      /* largest pass to judge, in placements */
    /* Takes the distinct raw counters of a set. */
    void (*judge)(struct cw_check_sets *sets, const struct cw_list *raws);
    /* Takes the placements of a pass that the library refuses; NULL: ignore refusals. */
    void (*refused)(struct cw_check_sets *sets, const uint32_t *placements, uint32_t count);
    void *context;                         /* for both callbacks */
    uint32_t round;                        /* number of the round */
    struct cw_check_count random, natural; /* totals of the round, or of all fresh rounds */
    struct cw_check_count recent[CW_CHECK_WINDOW];
    uint32_t rounds; /* in which something was learned */
    /* while drawing: */
    struct cw_check_count *count;
    bool *seen;
    uint64_t chance; /* separate random state, so that the sets do not depend on earlier learning */
    uint32_t *raws, raw_count;
};

/* Draws and judges the sets of a round; returns the sum of random and natural sets. Round 0 has whole sets as people
 * request them: units, families of names, all ratios, all throughputs. Other rounds have random shares of these. Each
 * round also has random sets. */
struct cw_check_count cw_check_round(struct cw_check_sets *sets, uint32_t round);
/* Whether the last rounds had so few refused passes that there is no more to learn. */
bool cw_check_settled(const struct cw_check_sets *sets);
/* Draws and judges the sets of further rounds, from the number `first` on, which teach nothing: refusals are counted
 * alone. */
void cw_check_fresh(struct cw_check_sets *sets, uint32_t first, uint32_t rounds);
/* For a judge: asks the library about each pass that our scheduler makes for groups of raw counters. */
void cw_check_passes(struct cw_check_sets *sets, const struct cw_list *groups, size_t count, unsigned flags);

#endif
