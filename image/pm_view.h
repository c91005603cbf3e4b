/* Samples as columns, some of a block at a time, so that a long capture needs no more memory than these. */
#ifndef CW_IMAGE_PM_VIEW_H
#define CW_IMAGE_PM_VIEW_H

#include "image/counter_data.h"

/* Columns of some samples of a block, as a capture whose ranges are the samples: for evaluation. Their room is made
 * once; loading others overwrites the columns. */
struct cw_pm_view {
    struct cw_counter_data data;  /* one device, one range for each sample; names and times are empty */
    uint32_t room;                /* samples at a time */
    uint8_t *columns;             /* enum cw_column_form of each counter in this block */
    uint64_t *start_ns, *end_ns;  /* of each sample */
    struct cw_window window;
    struct cw_error *err;
    enum cw_status status; /* why nothing was loaded */
};
/* To be freed, also after a failure. All but the window lives in the arena. */
enum cw_status cw_pm_view_init(struct cw_pm_view *view, const struct cw_counter_data *data, struct cw_arena *arena,
                               struct cw_error *err);
/* Loads samples of a block from `first` on, which is one of it; returns how many, 0 where the file cannot be read. */
uint32_t cw_pm_view_load(struct cw_pm_view *view, const struct cw_counter_data *data, uint32_t block, uint32_t first);
/* The same, of their times alone. */
uint32_t cw_pm_view_load_times(struct cw_pm_view *view, const struct cw_counter_data *data, uint32_t block,
                               uint32_t first);
void cw_pm_view_free(struct cw_pm_view *view);

#endif
