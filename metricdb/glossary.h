/* Describes metrics in our own words, composed from their names.
 *
 * A base name is [Prefix.]unit__phrase_phrase...; the glossary (data/glossary.yaml) gives the meaning of each phrase
 * and its part of the sentence. The longest matching phrase counts. */
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
/* Loads glossary.yaml from the default data folder (metricdb/data.h). */
enum cw_status cw_glossary_load(const struct cw_glossary **glossary, struct cw_arena *arena, struct cw_error *err);
/* Loads the glossary of a data folder. With a metric `name` it loads only the entries that the name has, which is much
 * faster; NULL loads all. */
enum cw_status cw_glossary_load_about(const struct cw_glossary **glossary, const char *data, const char *name,
                                      struct cw_arena *arena, struct cw_error *err);
/* The same, for texts that others can do without: NULL in *glossary if the data folder or its glossary is missing. A
 * glossary that cannot be read is an error. */
enum cw_status cw_glossary_load_if_there(const struct cw_glossary **glossary, const char *data, const char *name,
                                         struct cw_arena *arena, struct cw_error *err);

/* Writes one sentence about a base name: "Number of warp instructions executed by the SM." Words that the glossary
 * lacks stand in it as in the name. Returns `buffer`, always terminated; CW_DESCRIPTION_MAX bytes are enough. */
const char *cw_describe(const struct cw_glossary *glossary, const struct cw_chip *chip, enum cw_metric_type type,
                        uint32_t base, char *buffer, size_t size);
/* Writes the same for a full name, and a sentence about its rollup and sub-metric. Returns `buffer`. */
const char *cw_describe_metric(const struct cw_glossary *glossary, const struct cw_chip *chip,
                               const struct cw_metric *metric, char *buffer, size_t size);
/* Writes the second sentence alone. Returns `buffer`. */
const char *cw_describe_variant(const struct cw_metric *metric, char *buffer, size_t size);

/* Describes several metrics with the glossary of a data folder: texts[i] in `arena`, or NULL in *texts if the folder
 * has no glossary. */
enum cw_status cw_describe_metrics(const char *const **texts, const char *data, const struct cw_chip *chip,
                                   const struct cw_metric *metrics, size_t count, struct cw_arena *arena,
                                   struct cw_error *err);

/* Explains high or low values of a metric, by its base name; NULL if the glossary has no such text. */
const char *cw_glossary_reading(const struct cw_glossary *glossary, const char *base);

/* Name of a unit in descriptions ("SM"), by its name in metrics; NULL if the glossary lacks it. */
const char *cw_glossary_unit(const struct cw_glossary *glossary, const char *name);

/* Translates a word that people use but no name has ("bandwidth") into words of names or descriptions ("bytes"),
 * separated by blanks; NULL for any other word. */
const char *cw_glossary_said(const struct cw_glossary *glossary, const char *word);

/* Whether the glossary has every part of a base name; if not, `unknown` (CW_METRIC_NAME_MAX bytes) gets the first part
 * that it lacks. */
bool cw_glossary_covers(const struct cw_glossary *glossary, const char *name, char *unknown);

#endif
