/* CUPTI's legacy metric and event names, as formulas over a chip's metrics (data/legacy/cupti.yaml).
 *
 * Names of a section are in ascending order; a name may be both a metric and an event. Everything lives in the arena
 * that it was loaded into. */
#ifndef CW_METRICDB_LEGACY_H
#define CW_METRICDB_LEGACY_H

#include "metricdb/chip.h"

enum cw_legacy_kind { CW_LEGACY_METRIC, CW_LEGACY_EVENT, CW_LEGACY_KIND_COUNT };

/* Scope of the activity that a value counts; CW_LEGACY_LISTED: the name exists with unknown scope. */
enum cw_legacy_scope {
    CW_LEGACY_ABSENT,
    CW_LEGACY_SINGLE,     /* one context */
    CW_LEGACY_MULTI,      /* all contexts */
    CW_LEGACY_MULTI_SOME, /* all contexts, on some devices of the capability only */
    CW_LEGACY_DEVICE,     /* the whole device */
    CW_LEGACY_LISTED,
    CW_LEGACY_SCOPE_COUNT
};

enum { CW_LEGACY_CAPABILITIES = 7 }; /* 1.x, 2.x, 3.x, 5.x, 6.x, 7.0, 7.2 */

struct cw_legacy {
    const char *path, *chip;  /* the chip whose metrics the formulas are over */
    const char *const *chips; /* those that the file names; others take the first formula that they know */
    size_t chip_count;
    uint32_t metric_count, count;
    const struct cw_legacy_name {
        enum cw_legacy_kind kind;
        const char *name;
        unsigned line, column;
        enum cw_legacy_scope scope[CW_LEGACY_CAPABILITIES];
        const char *description;
        const char *documented, *note; /* "" for none */
        const char *formula, *unit;    /* NULL if there is no formula */
        unsigned formula_line, formula_column;
        const char *none; /* reason why there is no formula; NULL if there is one */
        size_t closest_count;
        const char *const *closest; /* full metric names */
    } * names;                      /* `metric_count` metrics, then events */
};

/* Parses the text of a file, for a chip: for the first that the file names where `chip` is NULL. Of what another chip
 * lacks all formulas for, `none` says so. */
enum cw_status cw_legacy_parse(const struct cw_legacy **legacy, const void *data, size_t size, const char *path,
                               const struct cw_chip *chip, struct cw_arena *arena, struct cw_error *err);
/* Loads legacy/cupti.yaml from a data folder (metricdb/data.h). */
enum cw_status cw_legacy_load(const struct cw_legacy **legacy, const char *data, const struct cw_chip *chip,
                              struct cw_arena *arena, struct cw_error *err);

/* Return NULL for an unknown name. cw_legacy_find returns the metric if a name is both. */
const struct cw_legacy_name *cw_legacy_find(const struct cw_legacy *legacy, const char *name);
const struct cw_legacy_name *cw_legacy_find_kind(const struct cw_legacy *legacy, enum cw_legacy_kind kind,
                                                 const char *name);
/* As cw_legacy_find, but an unknown name is CW_ERR_USAGE, with the nearest names. */
enum cw_status cw_legacy_get(const struct cw_legacy_name **found, const struct cw_legacy *legacy, const char *name,
                             struct cw_error *err);

/* Checks that the chip has every metric of the formula, or every closest metric if there is no formula; if not, `err`
 * names the missing one and its place in `path`. */
enum cw_status cw_legacy_resolve(const struct cw_legacy_name *name, const struct cw_chip *chip, const char *path,
                                 struct cw_error *err);

const char *cw_legacy_kind_text(enum cw_legacy_kind kind);
const char *cw_legacy_scope_text(enum cw_legacy_scope scope);
/* "1.x" and so on. */
const char *cw_legacy_capability_text(size_t capability);
/* The index of a capability: "7.0", "3.x" or "3.5"; CW_LEGACY_CAPABILITIES for another. */
size_t cw_legacy_capability(const char *text);

#endif
