/* Schema of a capture: its counters with their passes, and its devices. */
#ifndef CW_IMAGE_SCHEMA_H
#define CW_IMAGE_SCHEMA_H

#include "base/rollup.h"
#include "image/fields.h"

struct cw_schema_counter {
    const char *name;
    bool whole; /* recorded in one pass; else several passes each have some of its raw counters, or a mean over them */
    uint32_t pass_count;
    const uint32_t *passes;
};

struct cw_schema {
    const char *chip, *producer;
    enum cw_profiler profiler;
    bool traces; /* for writing: the capture has rows of a trace beside samples; not set by reading */
    uint8_t database[16];
    uint32_t pass_count, counter_count, metric_count, repeat_count, meaning_count, fact_count;
    const struct cw_schema_counter *counters;
    const char *const *metrics; /* as requested when planning */
    /* A counter was recorded whole in a further pass too. */
    const struct cw_schema_repeat {
        uint32_t counter, pass;
    } * repeats;                       /* by counter, then pass */
    const struct cw_meaning *meanings; /* of the metrics and their inputs; older files have none */
    const char *const *fact_names;     /* names of facts known about launches without counting; older files have none */
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

/* Number of columns: the counters, then the repeats. */
uint32_t cw_schema_columns(const struct cw_schema *schema);
uint32_t cw_schema_column_counter(const struct cw_schema *schema, uint32_t column);
/* Finds the repeats of a counter: `repeats` from index *first on. Returns their number. */
uint32_t cw_schema_repeats_of(const struct cw_schema *schema, uint32_t counter, uint32_t *first);
/* The column with a counter's whole values of one pass; CW_NO_COLUMN if there is none. */
#define CW_NO_COLUMN UINT32_MAX
uint32_t cw_schema_column_in(const struct cw_schema *schema, uint32_t counter, uint32_t pass);

/* Describes how the plan of `a` differs from that of `b`: "it lacks the counter sm__inst", in `arena`. "" if they are
 * the same. Names of facts may differ. NULL when out of memory. */
const char *cw_schema_difference(const struct cw_schema *a, const struct cw_schema *b, struct cw_arena *arena);

/* Whether a device has this number; if so, sets *index to its place in `devices`, which are sorted by number. */
bool cw_device_find(const struct cw_device *devices, uint32_t count, uint32_t number, uint32_t *index);

/* Limit on the facts of a launch that a capture can name. Each costs memory in every range, even if unknown. */
enum { CW_FACTS_MAX = 64 };

/* Write the beginning of counter data: the file header, then the chunks of the schema. */
void cw_schema_write_header(const struct cw_schema *schema, struct cw_writer *out);
void cw_schema_write(const struct cw_schema *schema, struct cw_writer *out);
/* Writes the chunk FNAM, which stands behind SCHM; nothing if there are no names. */
void cw_schema_write_fact_names(const char *const *names, uint32_t count, struct cw_writer *out);

/* Reads the payload of SCHM; the caller finishes the reader. */
void cw_schema_read(struct cw_schema *schema, struct cw_reader *in, struct cw_arena *arena);
/* Reads the payload of RPTS, which belongs to the schema before it; the caller finishes the reader. */
void cw_schema_read_repeats(struct cw_schema *schema, struct cw_reader *in, struct cw_arena *arena);
/* Reads the payload of FNAM in the same way. */
void cw_schema_read_fact_names(struct cw_schema *schema, struct cw_reader *in, struct cw_arena *arena);

#endif
