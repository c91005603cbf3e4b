/* What a process handed over of some ranges: NVIDIA's counter data of each part of the plan, decoded into columns. */
#ifndef CW_AGENT_RANGE_DECODE_H
#define CW_AGENT_RANGE_DECODE_H

#include "base/file.h"
#include "host/nvperf/lower.h"
#include "passes/parts.h"

struct cw_range_image { /* of one part */
    const struct cw_part *part;
    size_t offset, size; /* in the memory */
    const uint8_t *bytes;
    struct cw_schema_counter *counters;
    struct cw_nvperf_decoder *decoder;
};

struct cw_range_images {
    const struct cw_parts *parts;
    struct cw_bytes *memory; /* a copy of all images: the caller's, for one process after the other */
    uint32_t count;          /* 0: no ranges were collected */
    struct cw_range_image *items;
    size_t ranges;
    struct cw_value *values; /* scratch for the largest part */
    struct cw_device_facts *facts;
};

/* Reads the sizes that end the message, of images of `count` parts, of `all` or with columns of their schema, or of
 * none, and copies them from the memory that came with it (a descriptor, or -1) into images->memory: the process may
 * change its own at any time. To be closed also after a failure. */
enum cw_status cw_range_images_read(struct cw_range_images *images, const struct cw_parts *all,
                                    const struct cw_part *parts, uint32_t count, struct cw_reader *in, int memory,
                                    struct cw_error *err);
/* Opens them for decoding. */
enum cw_status cw_range_images_open(struct cw_range_images *images, const struct cw_nvperf *library,
                                    struct cw_error *err);
/* Fills in the facts of the counters that the images have. There has to be a range. */
enum cw_status cw_range_images_facts(struct cw_range_images *images, struct cw_device_facts *facts,
                                     struct cw_error *err);
/* values[column] of one range: what the images do not have is not collected. durations[pass] where a pass that they
 * have measured its own time, else NaN. */
enum cw_status cw_range_images_decode(struct cw_range_images *images, size_t range, struct cw_value *values,
                                      double *durations, struct cw_error *err);
void cw_range_images_close(struct cw_range_images *images);

#endif
