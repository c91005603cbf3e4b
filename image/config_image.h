/* The config image (.cwc): a plan for one kind of chip. See docs/formats.md for the bytes.
 *
 * The struct is a plain view. Its maker (host/ when planning, the reader here when loading) owns the memory; the reader
 * puts everything into one arena. All indices refer to lists of the same image. */
#ifndef CW_IMAGE_CONFIG_IMAGE_H
#define CW_IMAGE_CONFIG_IMAGE_H

#include "image/schema.h"

struct cw_placement {
    uint32_t raw, domain; /* indices into raws and domains */
};

/* Key of the parameter that names a raw counter, as 0x and 16 digits. A pass that collects this counter as well counts
 * the whole device rather than one context. */
#define CW_CONFIG_DEVICE_COUNTER "device_counter"

struct cw_config_image {
    const char *chip, *producer;
    enum cw_profiler profiler;
    uint8_t database[16];
    uint32_t parameter_count, domain_count, raw_count, pass_count, counter_count, metric_count, limit_count,
        meaning_count;
    const struct cw_pair *parameters;
    const struct cw_config_domain {
        uint32_t id; /* NVIDIA's number for the domain */
        const char *name;
    } * domains;
    const uint64_t *raws; /* ascending */
    const struct cw_config_pass {
        uint32_t count;
        const struct cw_placement *placements;
    } * passes;
    const struct cw_config_counter {
        const char *name;
        uint32_t instances; /* expected; 0 unknown */
        double peak;        /* expected sustained peak per cycle and instance; NaN unknown */
        uint32_t raw_count;
        const uint32_t *raws; /* indices into raws */
    } * counters;
    const char *const *metrics;
    /* A hardware limit: the placements from `members` in one pass belong to at most `max` different groups. */
    const struct cw_config_limit {
        uint32_t max, count;
        const struct cw_placement *members;
        const uint32_t *groups; /* group of each member */
    } * limits;
    const struct cw_meaning *meanings;
    const uint8_t *rollups; /* for each counter, the bits of the rollups to read (base/rollup.h); NULL if not known */
    const char *native_library; /* NULL without a native image */
    const uint8_t *native;
    size_t native_size;
};

/* Limit on the sum over all counters of the passes of each (cw_pass_index_find), so that a small hostile file cannot
 * ask for much work. A plan for every counter of a chip has some hundred thousand. */
enum { CW_CONFIG_PAIRS_MAX = 1 << 22 };

/* Appends the whole file to `out`. The image must be consistent, so that cw_config_image_read would accept it. */
void cw_config_image_write(const struct cw_config_image *image, struct cw_writer *out);

/* Parses and checks `size` bytes. `source` is for messages. The result and everything it points to live in `arena`,
 * except `native`, which points into `data`. */
enum cw_status cw_config_image_read(struct cw_config_image *image, const void *data, size_t size, const char *source,
                                    struct cw_arena *arena, struct cw_error *err);

/* The value of a parameter, or NULL. */
const char *cw_config_parameter(const struct cw_config_image *image, const char *key);

/* Writes the counter-data prefix that belongs to the image: file header and schema chunk. */
void cw_config_image_prefix(const struct cw_config_image *image, struct cw_writer *out);

/* ---- places of raw counters ---- */

struct cw_copies {
    uint32_t *first; /* copies of raw counter r are first[r] up to first[r + 1], one a pass, ascending */
    struct cw_copy {
        uint32_t pass, pair; /* pair: a number for this pass and this domain */
        const struct cw_placement *at;
    } * items;
    uint32_t pair_count;
};

/* Lists the copies in `arena`. False when out of memory. */
bool cw_copies_list(struct cw_copies *copies, const struct cw_config_image *plan, struct cw_arena *arena);

/* Index from raw counters to the passes of a plan that collect them. */
struct cw_pass_index {
    struct cw_copies copies;
    uint32_t *tally;         /* for each pass; zero between calls */
    uint32_t *found, *holds; /* last result: passes, ascending, and the number of raw counters that each collects */
};
bool cw_pass_index_make(struct cw_pass_index *index, const struct cw_config_image *plan, struct cw_arena *arena);
/* Finds the passes that collect any of the raw counters. Returns their number. */
uint32_t cw_pass_index_find(struct cw_pass_index *index, const uint32_t *raws, uint32_t raw_count);

/* Makes the schema of a config image. Lists are in `arena`; strings and `metrics` are shared with the image. */
enum cw_status cw_schema_of_plan(struct cw_schema *schema, const struct cw_config_image *image, struct cw_arena *arena);

#endif
