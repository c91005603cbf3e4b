/* Reads one range of a counter data file from its chunks. */
#ifndef CW_IMAGE_RANGE_READ_H
#define CW_IMAGE_RANGE_READ_H

#include "image/counter_data.h"
#include "image/data_chunks.h"

/* The last RATT, RVAL and RFCT before the next RNGE; size 0 if there is none. They are copies, because RNGE may stand
 * far behind them. Initialise with zeros. */
struct cw_range_parts {
    struct cw_chunk about, repeated, facts;
    struct cw_range_part {
        uint8_t *data;
        size_t capacity;
    } held[3];
    bool any;       /* at least one came since the last RNGE */
    uint64_t start; /* the place of the first one, or of RNGE itself if there was none */
};
/* Takes the chunk if it is one of them and sets *taken. Sets `start` at RNGE. Fails with CW_ERR_NOMEM only. */
enum cw_status cw_range_parts_take(struct cw_range_parts *parts, const struct cw_chunk *chunk, bool *taken,
                                   struct cw_error *err);
/* Clears the parts; call it after each RNGE. */
void cw_range_parts_clear(struct cw_range_parts *parts);
void cw_range_parts_free(struct cw_range_parts *parts);

/* Size of the head of an RNGE, the bytes before its times, which identify the launch; 0 if the chunk is too short. */
size_t cw_range_head_size(const struct cw_chunk *range);
/* Reads the head; `device` is the number in the file, whose place goes to *device_at. */
void cw_range_read_head(struct cw_range *range, size_t *device_at, struct cw_reader *in, struct cw_arena *arena);
/* Checks that `count` values are readable and moves behind them. */
void cw_range_skip_values(struct cw_reader *in, uint32_t count);
/* Reads values; the value of column c goes to index `at` + c * stride. */
void cw_range_read_values(struct cw_reader *in, uint32_t count, uint8_t *forms, double *const rollups[CW_ROLLUP_COUNT],
                          size_t at, size_t stride);

#endif
