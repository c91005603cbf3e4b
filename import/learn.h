/* What one pass can hold, learned by asking NVIDIA's host library. No GPU needed.
 *
 * Nothing here knows a chip: which placements exclude each other, how many slots a domain has and which counters share
 * a source is found by questions of the form "do these placements fit one pass?". What is learned is checked against
 * sets that it was not learned from, and repaired until they show no mistake. */
#ifndef CW_IMPORT_LEARN_H
#define CW_IMPORT_LEARN_H

#include "import/check_sets.h"
#include "import/limit_tables.h"

struct cw_learn_report {
    uint64_t questions;
    struct cw_check_count random, natural; /* fresh sets, from which nothing was learned */
    uint32_t unusable;                     /* placements that no single pass holds */
};

/* Learns the table of an activity, but for its source, about the placements of `facts`. The chip's limits are not
 * changed. The same library gives the same lines. `progress` may be NULL; it is told what is being done. */
enum cw_status cw_learn(struct cw_facts *facts, const struct cw_nvperf *library, enum cw_nvperf_activity activity,
                        struct cw_limit_table *table, struct cw_learn_report *report,
                        void (*progress)(const char *what), struct cw_error *err);

#endif
