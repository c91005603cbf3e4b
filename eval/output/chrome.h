/* A trace as JSON in Chrome's Trace Event Format, with the members of PyTorch's profiler, for viewers and analyses that
 * read no other. They load all of it into memory, so it suits small traces. */
#ifndef CW_EVAL_OUTPUT_CHROME_H
#define CW_EVAL_OUTPUT_CHROME_H

#include <stdio.h>

#include "eval/output/lanes.h"
#include "eval/timeline/timeline.h"

/* chrome://tracing reads a file as one string. V8 holds 512 MiB at most in one, and the viewer needs room beside it. */
#define CW_CHROME_BYTES_MAX (256u << 20)
/* No event takes fewer bytes. */
#define CW_CHROME_EVENT_BYTES 100

struct cw_chrome;
/* Writes to `out`, where write errors stay. The trace says devices and rank. NULL when out of memory. */
struct cw_chrome *cw_chrome_create(FILE *out, const struct cw_timeline *timeline);
/* `state` of this format is a struct cw_chrome. */
extern const struct cw_lane_format cw_chrome_format;
/* Ends the text. CW_ERR_NOMEM; CW_ERR_UNSUPPORTED where it is longer than CW_CHROME_BYTES_MAX, without a message. */
enum cw_status cw_chrome_finish(struct cw_chrome *chrome);
void cw_chrome_free(struct cw_chrome *chrome);

#endif
