/* What people ask for in their own words, and the metrics that answer it (data/answers.yaml). */
#ifndef CW_METRICDB_ANSWERS_H
#define CW_METRICDB_ANSWERS_H

#include "metricdb/chip.h"
#include "metricdb/metric.h"

struct cw_answer {
    size_t metric_count, set_count;
    const struct cw_metric *metrics; /* those that the chip has, the best first */
    const char *const *sets;         /* names, for --set */
    const char *says;                /* where no metric can answer it, else NULL */
};

enum { CW_ANSWERS_MAX = 8 };

/* Whether each of the words says nothing of what is asked for. All are false where the folder has no answers. */
enum cw_status cw_answers_small(bool *small, const char *const *words, size_t count, const char *data,
                                struct cw_arena *arena, struct cw_error *err);

/* The answers of a data folder (metricdb/data.h) to what somebody asks: the ones that fit most of its words, at most
 * CW_ANSWERS_MAX. *whole: no other word is left that matters, or none matters at all. A folder may have no answers.
 * Everything lives in `arena`. */
enum cw_status cw_answers_find(const struct cw_answer **answers, size_t *found, bool *whole, const char *asked,
                               const char *data, const struct cw_chip *chip, struct cw_arena *arena,
                               struct cw_error *err);

#endif
