/* The lanes of a trace, in groups: one group for each device of a process, and one for each thread. */
#ifndef CW_REPORT_TRACE_LANES_H
#define CW_REPORT_TRACE_LANES_H

#include <stdio.h>

#include "base/arena.h"
#include "eval/timeline/timeline.h"

struct cw_report_lanes;

/* Makes the lanes in the arena. CW_ERR_NOMEM alone. To be freed, even after an error; NULL has nothing to free. */
enum cw_status cw_report_lanes_make(struct cw_report_lanes **lanes, const struct cw_timeline *timeline,
                                    struct cw_arena *arena, struct cw_error *err);
void cw_report_lanes_free(struct cw_report_lanes *lanes);

/* Prints members of an object: "events" and "lanes_left" (numbers), "groups", "kinds", "whats" (the distinct events),
 * "names", "names_left" (events without a text on the page; they share one number for each kind), "lanes",
 * "resolution", "items" and "grouped". CW_ERR_NOMEM alone.
 *
 * The "data" of a lane are its items in order of their starts. Numbers are varints (docs/formats.md, Traces):
 *   8 * index into "whats" + bits
 *   start, less the end of the item before, zigzag; length
 *   bit 0: number of events; time in which one of them ran
 *   bit 1: lane of the call that launched it; start of the call, less that of the last item with a call, zigzag
 *   bit 2: a value: bytes of copies and memsets
 * If a page cannot hold all events, events shorter than "resolution" (ns) are drawn with neighbours that lie within
 * that time: one item stands for all, with the name that takes most of the time. */
enum cw_status cw_report_lanes_put(FILE *out, struct cw_report_lanes *lanes, struct cw_error *err);

/* Index of the group of a device, that of the process if there is one. CW_TIMELINE_NONE: the device has no group. */
uint32_t cw_report_lanes_group(const struct cw_report_lanes *lanes, uint32_t process, uint32_t device);

#endif
