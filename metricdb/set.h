/* Metric sets: named lists of metrics that answer one question (data/sets/NAME.yaml, format in data/schema.md). */
#ifndef CW_METRICDB_SET_H
#define CW_METRICDB_SET_H

#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "metricdb/chip.h"

struct cw_set {
    const char *name, *title;
    uint32_t listed; /* whose metrics they are: CW_OF_RANGES, or CW_OF_SAMPLES of `profiler: pm` */
    size_t section_count;
    const char *const *sections; /* of Nsight Compute: other names of the set */
    size_t metric_count;
    const char *const *metrics; /* full names, in the order of the file, without duplicates */
    size_t missing_count;
    const struct cw_set_missing { /* a metric that the chip cannot give; of alternatives the first */
        const char *name;
        unsigned line, column;
    } * missing;
    size_t entry_count;
    const struct cw_set_entry { /* an entry of the file: a name, or alternatives */
        size_t count;
        const char *const *names;
        const char *taken; /* the chosen name; NULL: the chip has none */
    } * entries;
};

/* Whether a chip has a metric and knows its formula, by counters that are in a list of `listed`; where not, the error
 * says what is wrong. */
bool cw_set_usable(const struct cw_chip *chip, uint32_t listed, const char *metric, struct cw_error *err);

/* Parses the text of a set file. Takes the first alternative that is usable on `chip`; if none is, the metric is
 * missing. CW_ERR_UNSUPPORTED if all are missing. With a NULL chip it takes the first alternative. `path` is for
 * messages. Everything lives in `arena`. */
enum cw_status cw_set_parse(struct cw_set *set, const void *data, size_t size, const char *path,
                            const struct cw_chip *chip, struct cw_arena *arena, struct cw_error *err);
/* Loads a set of a data folder (metricdb/data.h) by its name or that of a section of Nsight Compute, or a file: a name
 * with a '/' or ending in .yaml is a path. The error for an unknown name suggests others. */
enum cw_status cw_set_load(struct cw_set *set, const char *data, const char *name, const struct cw_chip *chip,
                           struct cw_arena *arena, struct cw_error *err);
/* Lists the folder's sets, sorted; `names` lives in `arena`. */
enum cw_status cw_set_list(const char *const **names, size_t *count, const char *data, struct cw_arena *arena,
                           struct cw_error *err);

#endif
