/* Reads metrics by formula from YAML files (format: data/schema.md): users' own formulas, and the shipped ones for all
 * chips. */
#ifndef CW_METRICDB_FORMULA_LOAD_H
#define CW_METRICDB_FORMULA_LOAD_H

#include "metricdb/chip.h"

struct cw_yaml;

/* Adds the formulas of a file to `*chip`, which becomes a copy with a longer table. Everything lives in `arena`, which
 * must not outlive the arena of `*chip`. CW_ERR_INPUT with the position in the file for any fault; `*chip` is unchanged
 * then. */
enum cw_status cw_formulas_load(const struct cw_chip **chip, const char *path, struct cw_arena *arena,
                                struct cw_error *err);
/* Adds the formulas of a file's text; `path` is for messages. */
enum cw_status cw_formulas_parse(const struct cw_chip **chip, const void *data, size_t size, const char *path,
                                 struct cw_arena *arena, struct cw_error *err);
/* Adds the formulas of a data folder (metricdb/data.h), from its files formulas/NAME.yaml in the order of their names.
 * There may be no such file, and no data folder. Leaves out a formula if the chip lacks one of its metrics. */
enum cw_status cw_formulas_load_shipped(const struct cw_chip **chip, const char *data, struct cw_arena *arena,
                                        struct cw_error *err);

/* A formula of another kind of file, such as a rule's (metricdb/rules.h). */
enum { CW_FORMULA_SCOPES = 2 };
struct cw_formula_source {
    const char *name;                      /* its name as a metric */
    const char *scopes[CW_FORMULA_SCOPES]; /* prefixes such as "a.": a name in the formula may be one of them with
                                              another formula's name behind it */
    const char *path;
    unsigned line, column;
    const struct cw_yaml *formula; /* a text, or a list of alternatives */
    const char *lacks; /* result: a metric that the chip lacks, the reason to leave the formula out, or NULL */
};
typedef void cw_formulas_lacking(void *context, const char *metric, const char *path, unsigned line, unsigned column);

/* Adds such formulas, sorted by name, to `*chip`, as if they came from one file of `size` bytes. Leaves out formulas
 * with metrics that the chip lacks, and calls `lacking` for each such metric. Does not check units. */
enum cw_status cw_formulas_add(const struct cw_chip **chip, struct cw_formula_source *sources, size_t count,
                               size_t size, cw_formulas_lacking *lacking, void *context, struct cw_arena *arena,
                               struct cw_error *err);

#endif
