/* Reading metrics by formula from YAML files (data/schema.md says what stands there): users' own, and those that come
 * with the data for all chips. */
#ifndef CW_METRICDB_FORMULA_LOAD_H
#define CW_METRICDB_FORMULA_LOAD_H

#include "metricdb/chip.h"

struct cw_yaml;

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

/* A formula of another kind of file, such as a rule's (metricdb/rules.h). */
enum { CW_FORMULA_SCOPES = 2 };
struct cw_formula_source {
    const char *name;                      /* that it is to have as a metric */
    const char *scopes[CW_FORMULA_SCOPES]; /* a name in it may be one of these and the name of another formula: "a." */
    const char *path;
    unsigned line, column;
    const struct cw_yaml *formula; /* a text, or a list of alternatives */
    const char *lacks;             /* set: why it is left out, a metric that the chip lacks, or NULL */
};
typedef void cw_formulas_lacking(void *context, const char *metric, const char *path, unsigned line, unsigned column);

/* Adds such formulas, which stand in the order of their names, to those that `*chip` has, as of one file of `size`
 * bytes. What the chip lacks is left out, and `lacking` is called for each such metric. Units are not looked at. */
enum cw_status cw_formulas_add(const struct cw_chip **chip, struct cw_formula_source *sources, size_t count,
                               size_t size, cw_formulas_lacking *lacking, void *context, struct cw_arena *arena,
                               struct cw_error *err);

#endif
