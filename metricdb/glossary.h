/* Descriptions of metrics in our own words, composed from their names.
 *
 * A base name is [Prefix.]unit__phrase_phrase...; the glossary (data/glossary.yaml) says what each phrase means and in
 * which part of a sentence it belongs. The longest phrase that fits counts. */
#ifndef CW_METRICDB_GLOSSARY_H
#define CW_METRICDB_GLOSSARY_H

#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "metricdb/chip.h"
#include "metricdb/metric.h"

struct cw_glossary;

enum { CW_DESCRIPTION_MAX = 1024 };

/* Parses the text of a glossary. `path` is for messages; everything lives in `arena`. */
enum cw_status cw_glossary_parse(const struct cw_glossary **glossary, const void *data, size_t size, const char *path,
                                 struct cw_arena *arena, struct cw_error *err);
/* Loads glossary.yaml from the data folder (metricdb/data.h). */
enum cw_status cw_glossary_load(const struct cw_glossary **glossary, struct cw_arena *arena, struct cw_error *err);
/* The same of a data folder and, much faster, for one metric: only the entries that its name has; NULL for all. */
enum cw_status cw_glossary_load_about(const struct cw_glossary **glossary, const char *data, const char *name,
                                      struct cw_arena *arena, struct cw_error *err);

/* One sentence about a base name: "Number of warp instructions executed by the SM." What the glossary lacks stands in
 * it as written in the name. Returns `buffer`, always terminated; CW_DESCRIPTION_MAX bytes are enough. */
const char *cw_describe(const struct cw_glossary *glossary, const struct cw_chip *chip, enum cw_metric_type type,
                        uint32_t base, char *buffer, size_t size);
/* The same for a full name, with a sentence about its rollup and sub-metric. Returns `buffer`. */
const char *cw_describe_metric(const struct cw_glossary *glossary, const struct cw_chip *chip,
                               const struct cw_metric *metric, char *buffer, size_t size);
/* That second sentence alone. Returns `buffer`. */
const char *cw_describe_variant(const struct cw_metric *metric, char *buffer, size_t size);

/* The same of several metrics, by the glossary of a data folder: texts[i] in `arena`, or NULL in *texts where the
 * folder has none. CW_ERR_NOMEM alone. */
enum cw_status cw_describe_metrics(const char *const **texts, const char *data, const struct cw_chip *chip,
                                   const struct cw_metric *metrics, size_t count, struct cw_arena *arena,
                                   struct cw_error *err);

/* What a high or low value tells the reader of a metric, by its base name; NULL where the glossary does not say. */
const char *cw_glossary_reading(const struct cw_glossary *glossary, const char *base);

/* What stands for a unit in descriptions ("SM"), by its name in metrics; NULL where the glossary does not know it. */
const char *cw_glossary_unit(const struct cw_glossary *glossary, const char *name);

/* For a word that people say and no name has ("bandwidth"), the words that names or descriptions have ("bytes"),
 * separated by blanks; NULL for any other. */
const char *cw_glossary_said(const struct cw_glossary *glossary, const char *word);

/* Whether the glossary knows every part of a base name; where not, `unknown` (CW_METRIC_NAME_MAX bytes) gets the first
 * part that it does not know. */
bool cw_glossary_covers(const struct cw_glossary *glossary, const char *name, char *unknown);

#endif
