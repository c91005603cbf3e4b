/* One range of a counter data file: the chunks that it is made of, and what they say. */
#ifndef CW_IMAGE_RANGE_READ_H
#define CW_IMAGE_RANGE_READ_H

#include "image/counter_data.h"
#include "image/data_chunks.h"

/* RATT, RVAL and RFCT of the next RNGE, of each the last; of size 0 where there is none. They are copies, as RNGE may
 * stand far behind them. Begins as zeros. */
struct cw_range_parts {
    struct cw_chunk about, repeated, facts;
    struct cw_range_part {
        uint8_t *data;
        size_t capacity;
    } held[3];
    bool any;       /* of them was there since the last RNGE */
    uint64_t start; /* the place of the first of them, or of RNGE itself where there was none */
};
/* Takes the chunk where it is one of them; *taken says so. At RNGE, sets `start`. CW_ERR_NOMEM alone. */
enum cw_status cw_range_parts_take(struct cw_range_parts *parts, const struct cw_chunk *chunk, bool *taken,
                                   struct cw_error *err);
/* After a RNGE. */
void cw_range_parts_clear(struct cw_range_parts *parts);
void cw_range_parts_free(struct cw_range_parts *parts);

/* Bytes of a RNGE before its times, which say which launch it is of; 0 where it is too short for them. */
size_t cw_range_head_size(const struct cw_chunk *range);
/* Reads them; the device is its number, which stands at *device_at. */
void cw_range_read_head(struct cw_range *range, size_t *device_at, struct cw_reader *in, struct cw_arena *arena);
/* One value for each pass. */
void cw_range_read_durations(double *durations, uint32_t passes, struct cw_reader *in);
/* Whether `count` values read, and where the next thing stands. */
void cw_range_skip_values(struct cw_reader *in, uint32_t count);
/* Reads them: that of column c to `at` + c * stride. */
void cw_range_read_values(struct cw_reader *in, uint32_t count, uint8_t *forms, double *const rollups[CW_ROLLUP_COUNT],
                          size_t at, size_t stride);

#endif
