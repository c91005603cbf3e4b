/* Reading metrics by formula from YAML files (data/schema.md says what stands there): users' own, and those that come
 * with the data for all chips. */
#ifndef CW_METRICDB_FORMULA_LOAD_H
#define CW_METRICDB_FORMULA_LOAD_H

#include "metricdb/chip.h"

/* Adds the formulas of a file to those that `*chip` has: `*chip` becomes a copy with a longer table. All lives in
 * `arena`, which must not outlive the one of `*chip`. CW_ERR_INPUT with the position in the file for anything wrong;
 * then `*chip` is as it was. */
enum cw_status cw_formulas_load(const struct cw_chip **chip, const char *path, struct cw_arena *arena,
                                struct cw_error *err);
/* The same from the text of a file; `path` is for messages. */
enum cw_status cw_formulas_parse(const struct cw_chip **chip, const void *data, size_t size, const char *path,
                                 struct cw_arena *arena, struct cw_error *err);
/* Adds the formulas of a data folder (metricdb/data.h), of its files formulas/NAME.yaml in the order of their names; a
 * folder may have none, and there may be no folder. A formula for which the chip lacks a metric is left out. */
enum cw_status cw_formulas_load_shipped(const struct cw_chip **chip, const char *data, struct cw_arena *arena,
                                        struct cw_error *err);

#endif
