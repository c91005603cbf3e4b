/* How ranges and devices relate: which are alike, and which ranges lie within others.
 *
 * Each multiplexed range has the counters of one pass; alike ranges have all of them together (docs/formats.md,
 * attribute "replay"). Alike are launches of one kernel, grid and block, and user ranges whose names differ in numbers
 * only ("step 17"), on devices of one model. */
#ifndef CW_EVAL_RANGES_FOLD_H
#define CW_EVAL_RANGES_FOLD_H

#include "image/counter_data.h"

/* Orders ranges by the kernel that they launch, or the name of a user range, then, with `shape`, by grid and block. */
int cw_range_compare_kernels(const struct cw_range *a, const struct cw_range *b, bool shape);

/* For each device, the first device of its model, by name and facts. A device without a name is like no other. In
 * `arena`; NULL when out of memory. */
uint32_t *cw_device_models(const struct cw_counter_data *data, struct cw_arena *arena);
/* For each device, the first that is the same GPU, by host and PCI address: merged captures may describe one GPU
 * several times, such as with other filters. A device without an address is like no other. In `arena`; NULL when out of
 * memory.
 */
uint32_t *cw_device_gpus(const struct cw_counter_data *data, uint32_t *gpu_count, struct cw_arena *arena);

#define CW_WHOLE UINT32_MAX /* the kind of a range that was not multiplexed */

struct cw_folds {
    uint32_t count;        /* of kinds */
    const uint32_t *kinds; /* [launch]: a number that alike launches share, or CW_WHOLE; NULL: all are whole */
};
/* The kind of a range. */
uint32_t cw_fold_kind(const struct cw_folds *folds, const struct cw_counter_data *data, uint32_t range);

/* Orders names; any two numbers in them are equal. */
int cw_fold_compare_names(const char *a, const char *b);
/* "step *" of "step 17". NULL when out of memory. */
const char *cw_fold_name(const char *name, struct cw_arena *arena);

/* Whether a change of pass emptied the caches before this range. Means leave out its counters if others of its kind
 * were not cold. */
bool cw_fold_is_cold(const struct cw_range *range);
/* Whether any range was multiplexed. */
bool cw_fold_has(const struct cw_counter_data *data);
/* Numbers the kinds; `model` as of cw_device_models. CW_ERR_NOMEM alone. */
enum cw_status cw_folds_make(struct cw_folds *folds, const struct cw_counter_data *data, const uint32_t *model,
                             struct cw_arena *arena, struct cw_error *err);
/* Gives ranges whose duration is NaN, because their pass does not count time, the mean of their kind. False when out of
 * memory. */
bool cw_folds_estimate(const struct cw_folds *folds, const struct cw_counter_data *data, double *durations);

/* Finds the launches (cw_launch) that are user ranges within another one of their place, by the paths of both, among
 * the taken ones ([launch]). Each is counted by itself, so the others' time includes its own. Processes do not count:
 * application replay has each level of ranges from another process. `place`: [launch], such as the GPU. *nested:
 * [launch], in `arena`, or NULL without any. False when out of memory. */
bool cw_ranges_find_nested(const bool **nested, const struct cw_counter_data *data, const uint32_t *place,
                           const bool *taken, struct cw_arena *arena);

#endif
