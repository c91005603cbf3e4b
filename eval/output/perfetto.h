/* A trace in the native format of Perfetto (ui.perfetto.dev, trace_processor). */
#ifndef CW_EVAL_OUTPUT_PERFETTO_H
#define CW_EVAL_OUTPUT_PERFETTO_H

#include <stdio.h>

#include "eval/output/lanes.h"

/* The first bytes of every file. */
#define CW_PERFETTO_HEAD "\n\rP\x01h\x01\xda\x03"

struct cw_perfetto;
/* Writes to `out`, where write errors stay. NULL when out of memory. */
struct cw_perfetto *cw_perfetto_create(FILE *out);
/* `state` of this format is a struct cw_perfetto. */
extern const struct cw_lane_format cw_perfetto_format;
/* False when out of memory, so that the file lacks events. */
bool cw_perfetto_is_whole(const struct cw_perfetto *perfetto);
void cw_perfetto_free(struct cw_perfetto *perfetto);

#endif
