/* Counter data (.cwd): the result of a capture. See docs/formats.md for the bytes.
 *
 * A capture may be larger than memory. Opening it checks the whole file and keeps the places of its ranges;
 * image/range_view.h makes columns of some ranges at a time, image/pm_view.h of some samples.
 *
 * Ranges in memory are columns: for column c, rollup r and range i the value is rollups[r][c * range_count + i]. Each
 * counter is a column; a counter's values of further passes are more columns behind the columns of all counters. Facts
 * are known about a launch without counting: fact f of range i is facts[f * range_count + i], its name
 * schema.fact_names[f]. */
#ifndef CW_IMAGE_COUNTER_DATA_H
#define CW_IMAGE_COUNTER_DATA_H

#include "base/input.h"
#include "image/gpu_clocks.h"
#include "image/pm_data.h"

/* Form in which a value was recorded (docs/formats.md, "value"). */
enum cw_value_form {
    CW_FORM_NOT_COLLECTED,
    CW_FORM_UNAVAILABLE,
    CW_FORM_ZERO,
    CW_FORM_ONE,
    CW_FORM_ROLLUPS,
    CW_FORM_OVERFLOW,
    CW_FORM_INSTANCES,
    CW_FORM_INCOMPLETE,
    CW_FORM__COUNT,                       /* number of forms in files */
    CW_FORM_MULTIPLEXED = CW_FORM__COUNT, /* mean of ranges that were multiplexed (eval/ranges/fold.h) */
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
    const struct cw_pair *attributes; /* further facts as text, see docs/formats.md */
    const double
        *facts; /* only for writing: one for each fact of the schema, NaN unknown, NULL for none; NULL once read */
};

struct cw_value {
    enum cw_value_form form;
    double rollup[CW_ROLLUP_COUNT];
    uint32_t instance_count; /* for CW_FORM_INSTANCES */
    const double *instances;
};

enum cw_capture_end {
    CW_END_EXITED,
    CW_END_SIGNALLED,
    CW_END_NO_PROGRAM, /* none was started, or it goes on */
    CW_END__COUNT,
    CW_END_UNKNOWN /* the program has gone, and nobody saw how: not in a file, which then has no end chunk */
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
    const struct cw_device *devices;      /* sorted by number */
    const struct cw_input *input;         /* an opened capture: its samples and, with `directory`, its ranges */
    const struct cw_directory *directory; /* NULL: all data of ranges is in memory */
    const struct cw_repeats *repeats;     /* NULL: none; with it there are no `ranges`, nor the members after them */
    /* without a directory: */
    const struct cw_range *ranges;
    double *rollups[CW_ROLLUP_COUNT]; /* [column][range] */
    uint8_t *forms;                   /* [column][range], enum cw_value_form */
    double *facts;                    /* [fact][range], NaN unknown */
    uint32_t clocks_count;
    const struct cw_gpu_clocks *clocks; /* by device, then time; merged captures have several entries per device */
    struct cw_pm_data pm;
    bool complete; /* the file has an end chunk and no damaged chunk */
    /* Data lost in a file with damaged chunks. */
    struct cw_damage {
        uint64_t places, first, bytes; /* number of damaged places, start of the first, bytes lost in all */
        bool counted;                  /* `ranges` is known, because the file has its end chunk */
        uint64_t ranges;
    } damage;
    enum cw_capture_end how;
    uint32_t code;
    uint64_t dropped;
};

/* Opens a capture: checks all of it and finds its parts. Everything but the input lives in `arena`; keep the input open
 * as long as the data is in use. A damaged chunk loses its content, and a range loses all of its chunks; `damage` says
 * how much is lost. */
enum cw_status cw_counter_data_open(struct cw_counter_data *data, const struct cw_input *input, struct cw_arena *arena,
                                    struct cw_error *err);
/* Opens a capture for some ranks only: of packed chunks (image/pack.h) it keeps the ranges whose rank is in the list
 * (image/rank_index.h) and the ranges without a rank; it skips other packs with their devices. CW_ERR_INPUT also if a
 * range needs a skipped device. `ranks` must stay valid; NULL: all ranks. */
enum cw_status cw_counter_data_open_ranks(struct cw_counter_data *data, const struct cw_input *input, const char *ranks,
                                          struct cw_arena *arena, struct cw_error *err);
/* Loads all ranges, and the times of all samples, into memory. */
enum cw_status cw_counter_data_load(struct cw_counter_data *data, struct cw_arena *arena, struct cw_error *err);
/* Opens and loads a capture from bytes in memory; blocks of samples stay in `bytes`. */
enum cw_status cw_counter_data_read(struct cw_counter_data *data, const void *bytes, size_t size, const char *source,
                                    struct cw_arena *arena, struct cw_error *err);

/* Returns the launch of a range: everything but times, durations and facts. */
const struct cw_range *cw_launch_of(const struct cw_counter_data *data, uint32_t range);
/* All launches, in the order of their first ranges: with a directory or repeats each launch
 * once, else one for each range. */
uint32_t cw_launch_count(const struct cw_counter_data *data);
const struct cw_range *cw_launch(const struct cw_counter_data *data, uint32_t launch);
/* Index of a range's launch in that list. */
uint32_t cw_launch_number(const struct cw_counter_data *data, uint32_t range);
/* Time of the first range's start; 0 if no range has one. */
uint64_t cw_ranges_begin(const struct cw_counter_data *data);
/* Whether any range has a value for a fact of the schema. */
bool cw_fact_is_known(const struct cw_counter_data *data, uint32_t fact);

/* Finds the clocks of a device: data->clocks from index *first on. Returns their number. */
uint32_t cw_counter_data_clocks(const struct cw_counter_data *data, uint32_t device, uint32_t *first);

/* The value of an attribute of a device, or NULL. */
const char *cw_device_attribute(const struct cw_device *device, const char *key);
/* The value of an attribute of a range, or NULL. */
const char *cw_range_attribute(const struct cw_range *range, const char *key);
/* Whether a range has the counters of one pass, and ranges that are alike have others. */
bool cw_range_is_multiplexed(const struct cw_range *range);

/* Write chunks, to append to a file that starts with header and schema. `values` has one entry for each column. The
 * writer chooses a shorter form if the value allows it (zero, one value in every rollup). */
void cw_counter_data_write_device(const struct cw_schema *schema, const struct cw_device *device,
                                  struct cw_writer *out);
void cw_counter_data_write_range(const struct cw_schema *schema, const struct cw_range *range,
                                 const struct cw_value *values, struct cw_writer *out);
void cw_counter_data_write_end(uint64_t ranges, uint64_t dropped, enum cw_capture_end how, uint32_t code,
                               struct cw_writer *out);

#endif
