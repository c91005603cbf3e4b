/* Counter data (.cwd): what a capture recorded. See docs/formats.md for the bytes.
 *
 * A capture may be larger than memory. Opening one checks all of it and keeps where its ranges are; image/range_view.h
 * makes columns of some of them at a time, image/pm_view.h of samples.
 *
 * Ranges in memory are columns: for column c, rollup r and range i the value is rollups[r][c * range_count + i]. Each counter
 * is a column; a counter's values of further passes are more columns behind those of all counters. What is known of
 * launches without counting are facts: fact f of range i is facts[f * range_count + i], its name schema.fact_names[f].
 */
#ifndef CW_IMAGE_COUNTER_DATA_H
#define CW_IMAGE_COUNTER_DATA_H

#include "base/input.h"
#include "image/gpu_clocks.h"
#include "image/pm_data.h"

/* How a value was recorded (docs/formats.md, "value"). */
enum cw_value_form {
    CW_FORM_NOT_COLLECTED,
    CW_FORM_UNAVAILABLE,
    CW_FORM_ZERO,
    CW_FORM_ONE,
    CW_FORM_ROLLUPS,
    CW_FORM_OVERFLOW,
    CW_FORM_INSTANCES,
    CW_FORM_INCOMPLETE,
    CW_FORM__COUNT,                       /* of those in files */
    CW_FORM_MULTIPLEXED = CW_FORM__COUNT, /* the mean of ranges that were multiplexed (eval/ranges/fold.h) */
    CW_FORM__ALL
};

struct cw_range {
    const char *name, *kernel;
    uint32_t device, process; /* device: index into devices once read, the device's own number when written */
    uint64_t context, stream;
    uint32_t grid[3], block[3];
    uint64_t start_ns, end_ns;
    const double *durations; /* one for each pass, ns, NaN unknown */
    uint32_t attribute_count;
    const struct cw_pair *attributes; /* what else is known, see docs/formats.md */
    const double
        *facts; /* to be written: one for each fact of the schema, NaN unknown, NULL for none; NULL once read */
};

struct cw_value {
    enum cw_value_form form;
    double rollup[CW_ROLLUP_COUNT];
    uint32_t instance_count; /* CW_FORM_INSTANCES */
    const double *instances;
};

enum cw_capture_end { CW_END_EXITED, CW_END_SIGNALLED, CW_END_NO_PROGRAM, CW_END__COUNT };

/* What is lost of a file in which chunks are damaged. */
struct cw_damage {
    uint64_t places, first, bytes; /* how many, where the first begins, and all that is lost in them */
    bool counted;                  /* `ranges` is known: the file has its end */
    uint64_t ranges;
};

struct cw_directory;
struct cw_large;

/* Ranges that are few launches again and again, without counters: each has a launch and a duration. */
struct cw_repeats {
    uint32_t launch_count;
    const struct cw_range *launches; /* in the order in which each came first */
    const uint32_t *numbers;         /* [range]: its launch */
    const double *durations;         /* [range]: ns, NaN unknown */
    uint64_t first_ns;               /* when the first range began; 0 where none says */
    struct cw_large *large;          /* for arrays with an item for each range (base/large.h) */
};

struct cw_counter_data {
    struct cw_schema schema;
    uint32_t device_count, range_count;
    const struct cw_device *devices; /* by number */
    const struct cw_input *input;   /* of a capture that was opened; where its samples and, with `directory`, ranges are */
    const struct cw_directory *directory; /* or NULL: all that is about ranges is in memory */
    const struct cw_repeats *repeats; /* or NULL; with it there are no `ranges`, nor what follows them */
    /* without a directory: */
    const struct cw_range *ranges;
    double *rollups[CW_ROLLUP_COUNT]; /* [column][range] */
    uint8_t *forms;                   /* [column][range], enum cw_value_form */
    double *facts;                    /* [fact][range], NaN unknown */
    uint32_t clocks_count;
    const struct cw_gpu_clocks *clocks; /* by device, then time; several of one where captures were merged */
    struct cw_pm_data pm;
    bool complete;                      /* an end chunk was found, and no chunk is damaged */
    struct cw_damage damage;
    enum cw_capture_end how;
    uint32_t code;
    uint64_t dropped;
};

/* Checks a capture, all of it, and finds what is in it; all but the input lives in `arena`, and the input must stay
 * open as long as the data is used. A chunk that is damaged costs what it holds, and of a range all of it; `damage` has
 * how much that is. */
enum cw_status cw_counter_data_open(struct cw_counter_data *data, const struct cw_input *input,
                                    struct cw_arena *arena, struct cw_error *err);
/* The same, where of packed chunks (image/pack.h) those ranges alone are wanted that are of some ranks, as
 * image/rank_index.h lists them, or of none; other packs are left out with the devices in them. CW_ERR_INPUT also where a
 * range is of one of these. `ranks` has to stay; NULL: all. */
enum cw_status cw_counter_data_open_ranks(struct cw_counter_data *data, const struct cw_input *input, const char *ranks,
                                          struct cw_arena *arena, struct cw_error *err);
/* Brings all ranges, and the times of all samples, into memory. */
enum cw_status cw_counter_data_load(struct cw_counter_data *data, struct cw_arena *arena, struct cw_error *err);
/* Both, of bytes in memory; blocks of samples stay in `bytes`. */
enum cw_status cw_counter_data_read(struct cw_counter_data *data, const void *bytes, size_t size, const char *source,
                                    struct cw_arena *arena, struct cw_error *err);

/* What a range is of: all but its times, durations and facts. */
const struct cw_range *cw_launch_of(const struct cw_counter_data *data, uint32_t range);
/* Every launch that there is, in the order in which each came first: with a directory or
 * repeats each once, else one a range. */
uint32_t cw_launch_count(const struct cw_counter_data *data);
const struct cw_range *cw_launch(const struct cw_counter_data *data, uint32_t launch);
/* Which of these a range is of. */
uint32_t cw_launch_number(const struct cw_counter_data *data, uint32_t range);
/* When the first range began; 0 where none says. */
uint64_t cw_ranges_begin(const struct cw_counter_data *data);
/* Whether any range says a fact of the schema. */
bool cw_fact_is_known(const struct cw_counter_data *data, uint32_t fact);

/* The clocks of a device: *first of data->clocks and those behind it; returns how many. */
uint32_t cw_counter_data_clocks(const struct cw_counter_data *data, uint32_t device, uint32_t *first);

/* The value of an attribute of a device, or NULL. */
const char *cw_device_attribute(const struct cw_device *device, const char *key);
/* The same of a range. */
const char *cw_range_attribute(const struct cw_range *range, const char *key);

/* Chunks for appending to a file that starts with header and schema. `values` has one entry for each column. Forms are
 * chosen by the writer where the value allows a shorter one (zero, one value in every rollup). */
void cw_counter_data_write_device(const struct cw_schema *schema, const struct cw_device *device,
                                  struct cw_writer *out);
void cw_counter_data_write_range(const struct cw_schema *schema, const struct cw_range *range,
                                 const struct cw_value *values, struct cw_writer *out);
void cw_counter_data_write_end(uint64_t ranges, uint64_t dropped, enum cw_capture_end how, uint32_t code,
                               struct cw_writer *out);

#endif
