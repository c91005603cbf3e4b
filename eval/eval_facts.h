/* What a capture says of launches and devices without counting (metricdb/fact.h). */
#ifndef CW_EVAL_EVAL_FACTS_H
#define CW_EVAL_EVAL_FACTS_H

#include "image/counter_data.h"

/* A fact of `count` ranges from `start` on; NaN where the capture does not say. Samples have none. */
void cw_eval_facts_load(const struct cw_counter_data *data, uint32_t fact, uint32_t start, uint32_t count, double *out);
/* Whether the capture says it of a range or a device. Looks at every range where none has it. */
bool cw_eval_facts_held(const struct cw_counter_data *data, uint32_t fact);

#endif
