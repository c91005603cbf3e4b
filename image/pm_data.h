/* PM sampling in counter data: samples, the launches beside them, and how the device's clock stands to the wall's. See
 * docs/formats.md for the bytes. Samples are kept as the file has them, a block for each chunk; image/pm_view.h makes
 * columns of them. */
#ifndef CW_IMAGE_PM_DATA_H
#define CW_IMAGE_PM_DATA_H

#include "image/schema.h"

/* Which rollups of a counter a block of samples holds. */
enum cw_column_form {
    CW_COLUMN_NOT_COLLECTED,
    CW_COLUMN_UNAVAILABLE,
    CW_COLUMN_ZERO,    /* every rollup of every sample */
    CW_COLUMN_COUNTS,  /* sums alone, all of them whole numbers below 2^32 */
    CW_COLUMN_SUMS,    /* sums alone */
    CW_COLUMN_ROLLUPS, /* sum, avg, min, max */
    CW_COLUMN__COUNT
};

/* A block has at most this many samples times counters, which bounds what a reader needs. */
enum { CW_BLOCK_VALUES_MAX = 1 << 22 };

/* What the agent writes: `count` samples of one device, in the order of time. */
struct cw_block {
    uint32_t device, count;
    uint64_t lost;               /* samples known to be missing before or between these */
    bool overflow;               /* the hardware's buffer had been full before these */
    const uint64_t *start, *end; /* ns of the device's clock */
    /* rollups[r][c * count + i]; of a counter that is SUMS only the sums are looked at */
    const double *rollups[CW_ROLLUP_COUNT];
    const uint8_t *forms; /* for each counter: NOT_COLLECTED, UNAVAILABLE, SUMS or ROLLUPS */
};
/* Shorter forms are chosen where they read back as the same numbers. */
void cw_pm_write_block(const struct cw_schema *schema, const struct cw_block *block, struct cw_writer *out);

/* The device's clock read `device_ns` when the wall's (CLOCK_REALTIME) read `wall_ns`, give or take `error_ns`. */
struct cw_clock_pair {
    uint64_t device_ns, wall_ns, error_ns;
};
void cw_pm_write_clock(uint32_t device, const struct cw_clock_pair *pair, struct cw_writer *out);

/* Samples of a device were taken on purpose from `start_ns` to `end_ns` alone, and from others like these. */
struct cw_pm_window {
    uint32_t device;           /* its number when written, an index into the devices of the capture once read */
    uint64_t start_ns, end_ns; /* of the device's clock when written; once read, as the times of samples */
};
void cw_pm_write_window(const struct cw_pm_window *window, struct cw_writer *out);

struct cw_kernel_launch {
    uint32_t name; /* index into the names of its chunk when written, of the whole file once read */
    uint32_t device, process;
    uint64_t context, stream;
    /* of the device's clock when written, both 0 where the times are not known; once read, as the times of samples */
    uint64_t start_ns, end_ns;
};
/* `process` of a launch is that of the chunk. */
void cw_pm_write_launches(uint32_t process, uint64_t dropped, const char *const *names, uint32_t name_count,
                          const struct cw_kernel_launch *launches, uint32_t count, struct cw_writer *out);

/* ---- reading ---- */

struct cw_pm_block {
    uint32_t device;       /* index into the devices of the capture */
    uint32_t first, count; /* samples of the whole capture */
    bool overflow;
    uint64_t lost;
    uint64_t offset;          /* in the file: of the times, behind which the columns are */
    uint64_t start_ns, end_ns; /* of the first sample and of the last, as the times of samples */
};

struct cw_clock_reading {
    uint32_t device; /* index into the devices of the capture */
    struct cw_clock_pair pair;
};

struct cw_pm_data {
    uint32_t block_count, sample_count, clock_count, name_count, launch_count, overflow_count, window_count;
    uint32_t largest;          /* samples of the largest block */
    uint32_t launches_untimed; /* launches whose times are not known, which are not among `launches` */
    uint64_t lost, launches_dropped;
    const struct cw_pm_block *blocks;
    const struct cw_clock_reading *clocks; /* in the order of the file */
    const struct cw_pm_window *windows;    /* in the order of the file; none where samples were taken all the time */
    /* of each sample, once cw_counter_data_load has them, else NULL; the wall clock's where the device's clock is known,
     * else that */
    uint64_t *start_ns, *end_ns;
    bool *correlated;              /* for each device: times are the wall clock's */
    const struct cw_clock_line *lines; /* for each device */
    const char **names;
    struct cw_kernel_launch *launches;
};

/* Bytes of a sample in a column of a form. */
size_t cw_column_sample_size(enum cw_column_form form);

/* A time of a device's clock as the times of samples are. */
uint64_t cw_pm_time(const struct cw_pm_data *pm, uint32_t device, uint64_t device_ns);

/* Reading: chunk by chunk, in the order of the file, and then what needs all of them. */
struct cw_pm_reading {
    struct cw_pm_data *pm;
    const struct cw_schema *schema;
    struct cw_reader *file; /* for messages */
    struct cw_arena *arena;
    struct cw_pm_block *blocks;
    struct cw_clock_reading *clocks;
    struct cw_pm_window *windows;
    struct cw_kernel_launch *launches;
    const char **names;
    uint64_t *clock_at, *window_at; /* where they stand in the file */
    size_t block_room, clock_room, window_room, launch_room, name_room, clock_at_room, window_at_room;
};
bool cw_pm_chunk_is_known(uint32_t type);
enum cw_status cw_pm_reading_take(struct cw_pm_reading *reading, const struct cw_chunk *chunk);
/* Once devices are known. What was read lives in the arena then; also to be called after a failure. */
enum cw_status cw_pm_reading_finish(struct cw_pm_reading *reading, const struct cw_device *devices,
                                    uint32_t device_count, enum cw_status status);

#endif
