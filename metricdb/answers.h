/* Finds metrics that answer a question in people's own words (data/answers.yaml). */
#ifndef CW_METRICDB_ANSWERS_H
#define CW_METRICDB_ANSWERS_H

#include "metricdb/chip.h"
#include "metricdb/metric.h"

struct cw_answer {
    size_t metric_count, set_count;
    const struct cw_metric *metrics; /* metrics that the chip has, the best first */
    const char *const *sets;         /* names of sets, for --set */
    const char *says;                /* a text if no metric can answer the question, else NULL */
};

enum { CW_ANSWERS_MAX = 8 };

/* Marks the words that carry no meaning. All are false if the folder has no answers. */
enum cw_status cw_answers_small(bool *small, const char *const *words, size_t count, const char *data,
                                struct cw_arena *arena, struct cw_error *err);

/* Finds the answers to a question in a data folder (metricdb/data.h): the ones that fit most of its words, at most
 * CW_ANSWERS_MAX. *whole: the question has no further word that matters. A folder may have no answers. Everything lives
 * in `arena`. */
enum cw_status cw_answers_find(const struct cw_answer **answers, size_t *found, bool *whole, const char *asked,
                               const char *data, const struct cw_chip *chip, struct cw_arena *arena,
                               struct cw_error *err);

#endif
