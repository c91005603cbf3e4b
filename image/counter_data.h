/* Counter data (.cwd): what a capture recorded. See FORMAT.md for the bytes.
 *
 * Reading yields columns: for column c, rollup r and range i the value is rollups[r][c * range_count + i]. Each counter
 * is a column; a counter's values of further passes are more columns behind those of all counters. */
#ifndef CW_IMAGE_COUNTER_DATA_H
#define CW_IMAGE_COUNTER_DATA_H

#include "image/config_image.h"

enum cw_rollup { CW_SUM, CW_AVG, CW_MIN, CW_MAX, CW_ROLLUP_COUNT };

/* How a value was recorded (FORMAT.md, "value"). */
enum cw_value_form {
    CW_FORM_NOT_COLLECTED,
    CW_FORM_UNAVAILABLE,
    CW_FORM_ZERO,
    CW_FORM_ONE,
    CW_FORM_ROLLUPS,
    CW_FORM_OVERFLOW,
    CW_FORM_INSTANCES,
    CW_FORM_INCOMPLETE,
    CW_FORM__COUNT
};

struct cw_schema_counter {
    const char *name;
    bool whole; /* recorded in one pass; else of several, each with some of its raw counters or a mean over them */
    uint32_t pass_count;
    const uint32_t *passes;
};

/* A counter was recorded whole in a further pass too. */
struct cw_schema_repeat {
    uint32_t counter, pass;
};

struct cw_schema {
    const char *chip, *producer;
    enum cw_profiler profiler;
    uint8_t database[16];
    uint32_t pass_count, counter_count, metric_count, repeat_count, meaning_count;
    const struct cw_schema_counter *counters;
    const char *const *metrics;             /* as asked for when planning */
    const struct cw_schema_repeat *repeats; /* by counter, then pass */
    const struct cw_meaning *meanings;      /* of the metrics and all that they are computed from; older files: none */
};

struct cw_device_facts {
    uint32_t instances; /* 0 unknown */
    double peak[CW_ROLLUP_COUNT];
};

struct cw_device {
    uint32_t index;
    uint32_t attribute_count;
    const struct cw_pair *attributes;
    const struct cw_device_facts *facts; /* one for each counter of the schema */
};

struct cw_range {
    const char *name, *kernel;
    uint32_t device, process; /* device: index into devices once read, the device's own number when written */
    uint64_t context, stream;
    uint32_t grid[3], block[3];
    uint64_t start_ns, end_ns;
    const double *durations; /* one for each pass, ns, NaN unknown */
    uint32_t attribute_count;
    const struct cw_pair *attributes; /* what else is known, see FORMAT.md */
};

struct cw_value {
    enum cw_value_form form;
    double rollup[CW_ROLLUP_COUNT];
    uint32_t instance_count; /* CW_FORM_INSTANCES */
    const double *instances;
};

enum cw_capture_end { CW_END_EXITED, CW_END_SIGNALLED, CW_END_NO_PROGRAM, CW_END__COUNT };

/* Samples of PM sampling (pm_data.h). */
struct cw_pm_data {
    uint32_t block_count, sample_count, clock_count, name_count, launch_count, overflow_count;
    uint32_t largest; /* samples of the largest block */
    uint64_t lost, launches_dropped;
    const struct cw_pm_block *blocks;
    const struct cw_clock_reading *clocks; /* in the order of the file */
    uint64_t *start_ns, *end_ns; /* of each sample; the wall clock's where the device's clock is known, else that */
    bool *correlated;            /* for each device: times are the wall clock's */
    const char **names;
    struct cw_kernel_launch *launches;
};

struct cw_counter_data {
    struct cw_schema schema;
    uint32_t device_count, range_count;
    const struct cw_device *devices; /* by number */
    const struct cw_range *ranges;
    double *rollups[CW_ROLLUP_COUNT]; /* [column][range] */
    uint8_t *forms;                   /* [column][range], enum cw_value_form */
    struct cw_pm_data pm;             /* points into the bytes that were read */
    bool complete;                    /* an end chunk was found */
    enum cw_capture_end how;
    uint32_t code;
    uint64_t dropped;
};

/* Parses and checks `size` bytes; everything lives in `arena`, but blocks of samples stay in `bytes`. */
enum cw_status cw_counter_data_read(struct cw_counter_data *data, const void *bytes, size_t size, const char *source,
                                    struct cw_arena *arena, struct cw_error *err);

/* Whether there is a device of that number; where it is in `devices`, if so. */
bool cw_find_device(const struct cw_counter_data *data, uint32_t number, uint32_t *index);
/* The value of an attribute of a device, or NULL. */
const char *cw_device_attribute(const struct cw_device *device, const char *key);
/* The same of a range. */
const char *cw_range_attribute(const struct cw_range *range, const char *key);

/* How many columns there are: the counters, then the repeats. */
uint32_t cw_schema_columns(const struct cw_schema *schema);
/* The counter that a column is of. */
uint32_t cw_schema_column_counter(const struct cw_schema *schema, uint32_t column);
/* The repeats of a counter are *first and those behind it; returns how many. */
uint32_t cw_schema_repeats_of(const struct cw_schema *schema, uint32_t counter, uint32_t *first);
/* The column that has a counter's values of one pass, whole; CW_NO_COLUMN where there is none. */
#define CW_NO_COLUMN UINT32_MAX
uint32_t cw_schema_column_in(const struct cw_schema *schema, uint32_t counter, uint32_t pass);

/* Chunks for appending to a file that starts with header and schema. `values` has one entry for each column. Forms are
 * chosen by the writer where the value allows a shorter one (zero, one value in every rollup). */
void cw_counter_data_write_header(const struct cw_schema *schema, struct cw_writer *out);
void cw_counter_data_write_schema(const struct cw_schema *schema, struct cw_writer *out);
void cw_counter_data_write_device(const struct cw_schema *schema, const struct cw_device *device,
                                  struct cw_writer *out);
void cw_counter_data_write_range(const struct cw_schema *schema, const struct cw_range *range,
                                 const struct cw_value *values, struct cw_writer *out);
void cw_counter_data_write_end(uint64_t ranges, uint64_t dropped, enum cw_capture_end how, uint32_t code,
                               struct cw_writer *out);

/* The schema of a config image. Lists are in `arena`; strings and `metrics` are shared with the image. */
enum cw_status cw_schema_of_plan(struct cw_schema *schema, const struct cw_config_image *image, struct cw_arena *arena);

#endif
