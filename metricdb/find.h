/* Finds metrics of a chip: all of them, or by a text that a person types. An answer to the text as a question
 * (metricdb/answers.h) comes first, then metrics that its words or its regular expression match, the best first. */
#ifndef CW_METRICDB_FIND_H
#define CW_METRICDB_FIND_H

#include "metricdb/answers.h"
#include "metricdb/glossary.h"

struct cw_find {
    const struct cw_chip *chip;
    const struct cw_glossary *glossary; /* NULL: metrics have no descriptions */
    const char *data;                   /* the folder of the answers (metricdb/data.h); NULL: the default one */
    const char *text;                   /* NULL: finds all metrics, in the order of the database */
    bool every;                         /* every full name; false: the usual metric of each base name */
    /* Whether a base name is searched at all; NULL: all are. */
    bool (*wanted)(const void *user, enum cw_metric_type type, uint32_t base);
    const void *user;
};

/* A metric in the memory of eight bytes, as there may be a quarter of a million. */
struct cw_found_metric {
    uint32_t base;
    uint8_t type, variant; /* variant: see cw_metric_variant; unused if `usual` is set */
    bool usual;            /* the usual metric of its base name */
};

struct cw_found {
    struct cw_found_metric *metrics;
    size_t count;
    const struct cw_answer *answers; /* whose sets answer the text, too */
    size_t answer_count;
};

/* Finds metrics; `found->answers` live in `arena`. CW_ERR_NOTHING if neither a metric nor a set answers the text: the
 * message has the words that no metric has, and the nearest ones. Free `found` in any case. */
enum cw_status cw_find_metrics(struct cw_found *found, const struct cw_find *find, struct cw_arena *arena,
                               struct cw_error *err);
void cw_found_free(struct cw_found *found);
struct cw_metric cw_found_metric(const struct cw_chip *chip, const struct cw_found_metric *found);

/* Whether a set is among the sets of the answers before the n-th. */
bool cw_found_set_before(const struct cw_found *found, size_t answer, const char *set);

/* Describes a base name, a formula or a fact; perhaps in `text`, of CW_DESCRIPTION_MAX bytes. */
const char *cw_find_description(const struct cw_find *find, enum cw_metric_type type, uint32_t base, char *text);

#endif
