/* Metric sets: named lists of metrics that answer one question (data/sets/NAME.yaml, written as data/schema.md says).
 */
#ifndef CW_METRICDB_SET_H
#define CW_METRICDB_SET_H

#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "metricdb/chip.h"

struct cw_set_missing { /* a metric that the chip cannot give, by the first of its alternatives */
    const char *name;
    unsigned line, column;
};

struct cw_set_entry { /* of the file: the name, or the alternatives */
    size_t count;
    const char *const *names;
    const char *taken; /* one of them; NULL: the chip has none */
};

struct cw_set {
    const char *name, *title;
    uint32_t listed; /* whose metrics they are: CW_OF_RANGES, or CW_OF_SAMPLES of `profiler: pm` */
    size_t metric_count;
    const char *const *metrics; /* full names, in the order of the file, each once */
    size_t missing_count;
    const struct cw_set_missing *missing;
    size_t entry_count;
    const struct cw_set_entry *entries;
};

/* Whether a chip has a metric and knows its formula, by counters that are in a list of `listed`; where not, the error
 * says what is wrong. */
bool cw_set_usable(const struct cw_chip *chip, uint32_t listed, const char *metric, struct cw_error *err);

/* Parses the text of a set file. Of alternatives the first is taken that is usable on `chip`; where none is, the metric
 * is missing, and CW_ERR_UNSUPPORTED when all are. With a NULL chip the first is taken. `path` is for messages.
 * Everything lives in `arena`. */
enum cw_status cw_set_parse(struct cw_set *set, const void *data, size_t size, const char *path,
                            const struct cw_chip *chip, struct cw_arena *arena, struct cw_error *err);
/* Loads a set of a data folder (metricdb/data.h) by name, or a file: a name with a '/' or that ends in .yaml is a path.
 * An unknown name gets suggestions. */
enum cw_status cw_set_load(struct cw_set *set, const char *data, const char *name, const struct cw_chip *chip,
                           struct cw_arena *arena, struct cw_error *err);
/* The names of the folder's sets, sorted; `names` lives in `arena`. */
enum cw_status cw_set_list(const char *const **names, size_t *count, const char *data, struct cw_arena *arena,
                           struct cw_error *err);

#endif
