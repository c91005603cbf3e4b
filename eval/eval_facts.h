/* Facts of launches and devices that a capture records without counting (metricdb/fact.h). */
#ifndef CW_EVAL_EVAL_FACTS_H
#define CW_EVAL_EVAL_FACTS_H

#include "image/counter_data.h"

/* A fact of `count` ranges from `start` on; NaN if the capture lacks it. Samples have none. */
void cw_eval_facts_load(const struct cw_counter_data *data, uint32_t fact, uint32_t start, uint32_t count, double *out);
/* Whether a range or a device of the capture has the fact. Looks at all ranges until one does. */
bool cw_eval_facts_held(const struct cw_counter_data *data, uint32_t fact);

#endif
