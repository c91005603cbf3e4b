/* Mends the known limits of one pass by asking NVIDIA's host library about sets that people request. No GPU needed.
 *
 * If a pass of the library's own breaks a limit, the limit is narrowed until it allows the pass. If the library refuses
 * a pass of our scheduler, a limit is added. */
#ifndef CW_IMPORT_MEND_H
#define CW_IMPORT_MEND_H

#include "import/check_sets.h"
#include "import/limit_tables.h"

struct cw_mend_report {
    uint64_t questions;
    uint32_t removed;                      /* limits removed */
    struct cw_check_count random, natural; /* fresh sets, from which nothing was learned */
};

/* Replaces the lines of a table about `facts`. Deterministic for one library. `progress` may be NULL. */
enum cw_status cw_mend(struct cw_facts *facts, const struct cw_nvperf *library, enum cw_nvperf_activity activity,
                       struct cw_limit_table *table, struct cw_mend_report *report, void (*progress)(const char *what),
                       struct cw_error *err);

#endif
