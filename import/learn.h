/* Learns the contents that one pass can hold by asking NVIDIA's host library. No GPU needed.
 *
 * The learner knows nothing about chips. It finds out which placements exclude each other, how many slots a domain has
 * and which counters share a source by questions of the form "do these placements fit one pass?". It checks the result
 * against fresh sets, and repairs it until they show no mistake. */
#ifndef CW_IMPORT_LEARN_H
#define CW_IMPORT_LEARN_H

#include "import/check_sets.h"
#include "import/limit_tables.h"

struct cw_learn_report {
    uint64_t questions;
    struct cw_check_count random, natural; /* fresh sets, from which nothing was learned */
    uint32_t unusable;                     /* placements that no single pass holds */
};

/* Learns the table of an activity, except for its source, from the placements of `facts`. Does not change the chip's
 * limits. Deterministic for one library. `progress` gets a line for each step and may be NULL. */
enum cw_status cw_learn(struct cw_facts *facts, const struct cw_nvperf *library, enum cw_nvperf_activity activity,
                        struct cw_limit_table *table, struct cw_learn_report *report,
                        void (*progress)(const char *what), struct cw_error *err);

#endif
