/* Metric sets: named lists of metrics that answer one question (data/sets/NAME.yaml, written as data/schema.md says).
 */
#ifndef CW_METRICDB_SET_H
#define CW_METRICDB_SET_H

#include <stddef.h>

#include "host/base/arena.h"
#include "host/base/error.h"
#include "metricdb/chip.h"

struct cw_set {
    const char *name, *title;
    size_t metric_count;
    const char *const *metrics; /* full names, in the order of the file, each once */
};

/* Parses the text of a set file. Each metric has to be one of `chip`; with a NULL chip names are not checked. `path` is
 * for messages. Everything lives in `arena`. */
enum cw_status cw_set_parse(struct cw_set *set, const void *data, size_t size, const char *path,
                            const struct cw_chip *chip, struct cw_arena *arena, struct cw_error *err);
/* Loads a shipped set by name, or a file: a name with a '/' or that ends in .yaml is a path. An unknown name gets
 * suggestions. */
enum cw_status cw_set_load(struct cw_set *set, const char *name, const struct cw_chip *chip, struct cw_arena *arena,
                           struct cw_error *err);
/* The names of the shipped sets, sorted; `names` lives in `arena`. */
enum cw_status cw_set_list(const char *const **names, size_t *count, struct cw_arena *arena, struct cw_error *err);

#endif
