/* What the files that add up a timeline share (eval/timeline/groups.h). */
#ifndef CW_EVAL_TIMELINE_GROUP_PARTS_H
#define CW_EVAL_TIMELINE_GROUP_PARTS_H

#include "eval/timeline/groups.h"

/* Adds an item to a group and to all. */
void cw_timeline_group_add(struct cw_timeline_groups *all, struct cw_timeline_group *group, uint32_t item);
/* Groups by what else items have in common. False when out of memory. */
bool cw_timeline_group_items(struct cw_timeline_groups *all, const struct cw_timeline_keep *keep, bool spread,
                             struct cw_arena *arena);
/* Groups by NVTX range, and what their names are. False when out of memory. */
bool cw_timeline_group_ranges(struct cw_timeline_groups *all, const struct cw_timeline_keep *keep,
                              struct cw_arena *arena);
/* Groups by CUDA graph. False when out of memory. */
bool cw_timeline_group_graphs(struct cw_timeline_groups *all, const struct cw_timeline_keep *keep,
                              struct cw_arena *arena);
/* "rank 1 stream 7 main device 0 process 4000", of which what tells streams apart comes before what may be cut; of one
 * process and device "stream 7 main". Returns `text`, as the next. */
const char *cw_timeline_name_stream(const struct cw_timeline *timeline, const struct cw_timeline_stream *stream,
                                    char text[CW_TIMELINE_NAME_SIZE]);
/* "HtoD from pageable to device", "memset of device". */
const char *cw_timeline_name_copy(const struct cw_timeline *timeline, const struct cw_timeline_gpu *gpu,
                                  char text[CW_TIMELINE_NAME_SIZE]);
const char *cw_timeline_name_ranges(const struct cw_timeline_groups *groups, uint32_t group,
                                    char text[CW_TIMELINE_NAME_SIZE]);

#endif
