/* Loads samples as columns, some of a block at a time, so that memory does not grow with the capture. */
#ifndef CW_IMAGE_PM_VIEW_H
#define CW_IMAGE_PM_VIEW_H

#include "image/counter_data.h"

/* Columns of some samples of a block, in the shape of a capture whose ranges are the samples, for evaluation. The
 * memory is allocated once; each load overwrites the columns. */
struct cw_pm_view {
    struct cw_counter_data data; /* one device and one range per sample; names and times are empty */
    uint32_t room;               /* most samples at a time */
    uint8_t *columns;            /* enum cw_column_form of each counter in this block */
    uint64_t *start_ns, *end_ns; /* times of each sample */
    struct cw_window window;
    struct cw_error *err;
    enum cw_status status; /* reason why nothing was loaded */
};
/* Prepares a view. Free it also after a failure. Everything but the window lives in the arena. */
enum cw_status cw_pm_view_init(struct cw_pm_view *view, const struct cw_counter_data *data, struct cw_arena *arena,
                               struct cw_error *err);
/* Loads samples of a block, the first being `first`; returns their number, 0 if the file cannot be read. */
uint32_t cw_pm_view_load(struct cw_pm_view *view, const struct cw_counter_data *data, uint32_t block, uint32_t first);
/* Loads the times of samples alone. */
uint32_t cw_pm_view_load_times(struct cw_pm_view *view, const struct cw_counter_data *data, uint32_t block,
                               uint32_t first);
void cw_pm_view_free(struct cw_pm_view *view);

#endif
