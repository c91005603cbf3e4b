/* Ranges as columns, some at a time, so that a long capture needs no more memory than these. */
#ifndef CW_IMAGE_RANGE_VIEW_H
#define CW_IMAGE_RANGE_VIEW_H

#include "image/chunk_walk.h"
#include "image/range_read.h"

/* Columns of some ranges of a capture, in memory or with a directory. Their room is made once; loading others
 * overwrites them. */
struct cw_range_view {
    struct cw_counter_data data; /* these ranges, in memory */
    uint32_t room;               /* ranges at a time */
    const struct cw_counter_data *of;
    struct cw_range *ranges;
    double *durations;
    struct cw_chunk_walk walk;
    uint32_t next; /* the range that the walk comes to */
    struct cw_range_parts parts;
    struct cw_error *err;
};
/* To be freed, also after a failure. All but what is read lives in the arena. */
enum cw_status cw_range_view_init(struct cw_range_view *view, const struct cw_counter_data *data,
                                  struct cw_arena *arena, struct cw_error *err);
/* Loads `count` ranges, at most `room`: those from `first` on, or for `list` list[0] and on. CW_ERR_IO where the file
 * cannot be read or has become another, CW_ERR_NOMEM. */
enum cw_status cw_range_view_load(struct cw_range_view *view, uint32_t first, const uint32_t *list, uint32_t count);
void cw_range_view_free(struct cw_range_view *view);

#endif
