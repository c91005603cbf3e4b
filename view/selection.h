/* Which ranges of a capture a request wants: by rank, number and name. */
#ifndef CW_VIEW_SELECTION_H
#define CW_VIEW_SELECTION_H

#include "view/handles.h"
#include "view/notices.h"

/* Ranges that are chosen from. */
struct cw_selecting {
    const struct cw_counter_data *data; /* `range_count`, and cw_launch_of each */
    const char *place;                  /* the capture's name, for messages */
    const uint32_t *parents;            /* [range]: the one that it lies in, with which it is wanted; NULL: none does */
    bool or_none;                       /* it is no error that none matches */
    struct cw_notices *notices;
    struct cw_arena *arena;
    struct cw_error *err;
};

/* The option of the request that chooses ranges, for messages: "--range"; NULL: all are wanted. */
const char *cw_selection_option(const struct counterworks_request *wanted);
/* Finds which ranges the request wants, keep[range]; at least one, unless all are wanted, or `or_none`. */
enum cw_status cw_select_ranges(bool *keep, const struct cw_selecting *from, const struct counterworks_request *wanted);

#endif
