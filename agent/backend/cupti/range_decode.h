/* Decodes the ranges that a process handed over: NVIDIA's counter data of each part of the plan, into columns. */
#ifndef CW_AGENT_RANGE_DECODE_H
#define CW_AGENT_RANGE_DECODE_H

#include "base/file.h"
#include "host/nvperf/lower.h"
#include "passes/parts.h"

struct cw_range_images {
    const struct cw_parts *parts;
    struct cw_bytes *memory; /* a copy of all images, owned by the caller and reused for each process */
    uint32_t count;          /* 0: no ranges were collected */
    struct cw_range_image {  /* the image of one part */
        const struct cw_part *part;
        size_t offset, size; /* place in the memory */
        const uint8_t *bytes;
        struct cw_schema_counter *counters;
        struct cw_nvperf_decoder *decoder;
    } * items;
    size_t ranges;
    struct cw_value *values; /* scratch for the largest part */
    struct cw_device_facts *facts;
};

/* Reads the sizes at the end of the message, for images of `count` parts, or none; the parts are of `all`, or have
 * columns of their schema. Copies the images from the memory that came with the message (a descriptor, or -1) into
 * images->memory, because the process may change its own at any time. Close also after a failure. */
enum cw_status cw_range_images_read(struct cw_range_images *images, const struct cw_parts *all,
                                    const struct cw_part *parts, uint32_t count, struct cw_reader *in, int memory,
                                    struct cw_error *err);
/* Opens the images for decoding. */
enum cw_status cw_range_images_open(struct cw_range_images *images, const struct cw_nvperf *library,
                                    struct cw_error *err);
/* Fills in the facts of the counters in the images. There must be a range. */
enum cw_status cw_range_images_facts(struct cw_range_images *images, struct cw_device_facts *facts,
                                     struct cw_error *err);
/* Sets values[column] for one range, not collected if the images lack the column; and durations[pass], NaN unless one
 * of their passes measured its own time. */
enum cw_status cw_range_images_decode(struct cw_range_images *images, size_t range, struct cw_value *values,
                                      double *durations, struct cw_error *err);
void cw_range_images_close(struct cw_range_images *images);

#endif
