/* Ranges that were multiplexed: each holds the counters of one pass, and those that are alike hold all of them together
 * (docs/formats.md, attribute "replay"). Alike are launches of one kernel, grid and block, and user ranges of one name
 * but for the numbers in it ("step 17"), on devices of one model. */
#ifndef CW_EVAL_RANGES_FOLD_H
#define CW_EVAL_RANGES_FOLD_H

#include "image/counter_data.h"

/* Orders ranges by the kernel that they launch, or the name of a user range, then, with `shape`, by grid and block. */
int cw_range_compare_kernels(const struct cw_range *a, const struct cw_range *b, bool shape);

#define CW_WHOLE UINT32_MAX /* the kind of a range that was not multiplexed */

struct cw_folds {
    uint32_t count;        /* of kinds */
    const uint32_t *kinds; /* of each launch: a number for those that are alike, or CW_WHOLE; NULL: all are whole */
};
/* The kind of a range. */
uint32_t cw_fold_kind(const struct cw_folds *folds, const struct cw_counter_data *data, uint32_t range);

/* Orders names; numbers in them are alike. */
int cw_fold_compare_names(const char *a, const char *b);
/* "step *" of "step 17". NULL when out of memory. */
const char *cw_fold_name(const char *name, struct cw_arena *arena);

bool cw_fold_is_of(const struct cw_range *range);
/* Whether a change of pass had emptied caches before it, so that means leave out what it counted where others of its
 * kind were not cold. */
bool cw_fold_is_cold(const struct cw_range *range);
/* Whether any range was multiplexed. */
bool cw_fold_has(const struct cw_counter_data *data);
/* Numbers the kinds; model[device] is the same for devices that are alike. CW_ERR_NOMEM alone. */
enum cw_status cw_folds_make(struct cw_folds *folds, const struct cw_counter_data *data, const uint32_t *model,
                             struct cw_arena *arena, struct cw_error *err);
/* Gives ranges whose duration is NaN, because their pass does not count time, the mean of those of their kind. False
 * when out of memory. */
bool cw_folds_estimate(const struct cw_folds *folds, const struct cw_counter_data *data, double *durations);

#endif
