/* Mends what is known of one pass by asking NVIDIA's host library about sets that people ask for. No GPU needed.
 *
 * Where the library's own passes break a limit, the limit is narrowed until it allows them; where the library refuses a
 * pass of our scheduler, a limit is added. */
#ifndef CW_IMPORT_MEND_H
#define CW_IMPORT_MEND_H

#include "base/bytes.h"
#include "import/check_sets.h"
#include "import/facts.h"

struct cw_mend_report {
    uint64_t questions;
    uint32_t removed, added;               /* limits */
    struct cw_check_count random, natural; /* fresh sets, from which nothing was learned */
    double seconds;
};

/* `classes` and `limits` are the lines under `classes:` and under `limits:` of a chip file for `facts`; they are
 * replaced. The same library gives the same lines. `progress` may be NULL. */
enum cw_status cw_mend(struct cw_facts *facts, const struct cw_nvperf *library, enum cw_nvperf_activity activity,
                       struct cw_writer *classes, struct cw_writer *limits, struct cw_mend_report *report,
                       void (*progress)(const char *what), struct cw_error *err);

#endif
