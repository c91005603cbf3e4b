/* PM sampling in counter data: samples, the launches beside them, and pairs of device clock and wall clock. See
 * docs/formats.md for the bytes. Samples stay as they are in the file, a block for each chunk; image/pm_view.h makes
 * columns of them. */
#ifndef CW_IMAGE_PM_DATA_H
#define CW_IMAGE_PM_DATA_H

#include "image/schema.h"

/* Form of a counter's column in a block of samples: the rollups that it stores. */
enum cw_column_form {
    CW_COLUMN_NOT_COLLECTED,
    CW_COLUMN_UNAVAILABLE,
    CW_COLUMN_ZERO,    /* every rollup of every sample is 0 */
    CW_COLUMN_COUNTS,  /* sums alone, all whole numbers below 2^32 */
    CW_COLUMN_SUMS,    /* sums alone */
    CW_COLUMN_ROLLUPS, /* sum, avg, min, max */
    CW_COLUMN__COUNT
};

/* Limit on samples times counters of a block, which bounds a reader's memory. */
enum { CW_BLOCK_VALUES_MAX = 1 << 22 };

/* A block for writing: `count` samples of one device, in order of time. */
struct cw_block {
    uint32_t device, count;
    uint64_t lost;               /* samples known to be missing before or between these */
    bool overflow;               /* the hardware's buffer overflowed before these samples */
    const uint64_t *start, *end; /* ns, device clock */
    /* rollups[r][c * count + i]; for a SUMS counter only the sums are read */
    const double *rollups[CW_ROLLUP_COUNT];
    const uint8_t *forms; /* for each counter: NOT_COLLECTED, UNAVAILABLE, SUMS or ROLLUPS */
};
/* Writes a block, with shorter forms if they read back as the same numbers. */
void cw_pm_write_block(const struct cw_schema *schema, const struct cw_block *block, struct cw_writer *out);

/* One reading of both clocks: device clock `device_ns` at wall time (CLOCK_REALTIME) `wall_ns`, plus or minus
 * `error_ns`. */
struct cw_clock_pair {
    uint64_t device_ns, wall_ns, error_ns;
};
void cw_pm_write_clock(uint32_t device, const struct cw_clock_pair *pair, struct cw_writer *out);

/* The capture took samples of a device from `start_ns` to `end_ns` only, on purpose, and in other such windows. */
struct cw_pm_window {
    uint32_t device;           /* the device's number when written, an index into the capture's devices once read */
    uint64_t start_ns, end_ns; /* device clock when written; once read, the same clock as the times of samples */
};
void cw_pm_write_window(const struct cw_pm_window *window, struct cw_writer *out);

struct cw_kernel_launch {
    uint32_t name; /* index into the names of its chunk when written, into those of the whole file once read */
    uint32_t device, process;
    uint64_t context, stream;
    /* device clock when written, both 0 if unknown; once read, the same clock as the times of samples */
    uint64_t start_ns, end_ns;
};
/* Writes launches of one process; ignores the `process` member of each launch. */
void cw_pm_write_launches(uint32_t process, uint64_t dropped, const char *const *names, uint32_t name_count,
                          const struct cw_kernel_launch *launches, uint32_t count, struct cw_writer *out);

/* ---- reading ---- */

struct cw_pm_data {
    uint32_t block_count, sample_count, clock_count, name_count, launch_count, overflow_count, window_count;
    uint32_t largest;          /* number of samples in the largest block */
    uint32_t launches_untimed; /* launches without known times, which are not among `launches` */
    uint64_t lost, launches_dropped;
    const struct cw_pm_block {
        uint32_t device;       /* index into the devices of the capture */
        uint32_t first, count; /* index of its first sample in the capture, and number of its samples */
        bool overflow;
        uint64_t lost;
        uint64_t offset;           /* offset in the file of its times; its columns follow */
        uint64_t start_ns, end_ns; /* of the first and the last sample, in the clock of sample times */
    } * blocks;
    const struct cw_clock_reading {
        uint32_t device; /* index into the devices of the capture */
        struct cw_clock_pair pair;
    } * clocks;                         /* in the order of the file */
    const struct cw_pm_window *windows; /* in the order of the file; none if samples were taken all the time */
    /* for each sample, after cw_counter_data_load, else NULL; wall clock if the pairs for the device are known, else
     * device clock */
    uint64_t *start_ns, *end_ns;
    bool *correlated;                  /* for each device: times are wall clock */
    const struct cw_clock_line *lines; /* for each device */
    const char **names;
    struct cw_kernel_launch *launches;
};

/* Bytes of one sample in a column of the form. */
size_t cw_column_sample_size(enum cw_column_form form);

/* Converts a device clock time to the clock of sample times. */
uint64_t cw_pm_time(const struct cw_pm_data *pm, uint32_t device, uint64_t device_ns);

/* Reads chunk by chunk, in the order of the file; cw_pm_reading_finish does the steps that need all chunks. */
struct cw_pm_reading;

/* Begins in `arena`; `file` is for messages. NULL when out of memory. */
struct cw_pm_reading *cw_pm_reading_begin(struct cw_pm_data *pm, const struct cw_schema *schema, struct cw_reader *file,
                                          struct cw_arena *arena);
bool cw_pm_chunk_is_known(uint32_t type);
enum cw_status cw_pm_reading_take(struct cw_pm_reading *reading, const struct cw_chunk *chunk);
/* Finishes once devices are known, and moves the data into the arena. Call it also after a failure, with its status. */
enum cw_status cw_pm_reading_finish(struct cw_pm_reading *reading, const struct cw_device *devices,
                                    uint32_t device_count, enum cw_status status);

#endif
