/* Loads ranges as columns, some at a time, so that memory does not grow with the capture. */
#ifndef CW_IMAGE_RANGE_VIEW_H
#define CW_IMAGE_RANGE_VIEW_H

#include "image/chunk_walk.h"
#include "image/range_read.h"

/* Columns of some ranges of a capture, which is in memory or has a directory. The memory is allocated once; each load
 * overwrites the columns. */
struct cw_range_view {
    struct cw_counter_data data; /* the loaded ranges, in memory */
    uint32_t room;               /* most ranges at a time */
    bool alone;                  /* each range is a row: a multiplexed one has its values in every pass's column */
    const struct cw_counter_data *of;
    struct cw_range *ranges;
    double *durations;
    struct cw_chunk_walk walk;
    uint32_t next; /* the next range of the walk */
    struct cw_range_parts parts;
    struct cw_error *err;
};
/* Prepares a view. Free it also after a failure. Everything but the file's data lives in the arena. */
enum cw_status cw_range_view_init(struct cw_range_view *view, const struct cw_counter_data *data,
                                  struct cw_arena *arena, struct cw_error *err);
/* Loads `count` ranges, at most `room`: from `first` on, or, if `list` is not NULL, the ranges list[0] and on.
 * CW_ERR_IO if the file cannot be read or has changed, CW_ERR_NOMEM. */
enum cw_status cw_range_view_load(struct cw_range_view *view, uint32_t first, const uint32_t *list, uint32_t count);
void cw_range_view_free(struct cw_range_view *view);

#endif
