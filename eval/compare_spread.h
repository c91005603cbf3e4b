/* How far changes between two captures may be by chance: from their launches, which are read one after another. */
#ifndef CW_EVAL_COMPARE_SPREAD_H
#define CW_EVAL_COMPARE_SPREAD_H

#include "eval/compare.h"

/* Of every metric of every match, as cw_compare_metric says; the comparison has all else. `a` and `b` are what its sides
 * were made of. Takes some 20 bytes for each launch and 100 for each metric of each match. CW_ERR_NOMEM, or CW_ERR_IO
 * where a capture cannot be read. */
enum cw_status cw_compare_spreads(struct cw_comparison *c, const struct cw_result *a, const struct cw_result *b,
                                  const struct cw_eval_options *options, struct cw_arena *arena, struct cw_error *err);
/* Of the time of a launch. */
struct cw_compare_spread cw_compare_time_spread(const struct cw_comparison *c, const struct cw_match *match);

#endif
