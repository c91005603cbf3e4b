/* How many groups of each limit of range profiling the pass of PM sampling may use, by asking NVIDIA's host library. No
 * GPU needed.
 *
 * PM sampling has the limits of range profiling with more room in some: slots, above all. So nothing is learned anew:
 * sets that the library takes for PM sampling show which limits have more room, and sets that it refuses how much. */
#ifndef CW_IMPORT_RELAX_H
#define CW_IMPORT_RELAX_H

#include "import/check_sets.h"
#include "import/limit_tables.h"

struct cw_relax_report {
    uint64_t questions;
    uint32_t limits, relaxed;
    struct cw_check_count random, natural; /* fresh sets, from which nothing was learned */
};

/* Writes `pm` into the lines of a table of range profiling that is about `facts`, in place of any that was there. The
 * same library gives the same lines. `progress` may be NULL. */
enum cw_status cw_relax(struct cw_facts *facts, const struct cw_nvperf *library, struct cw_limit_table *table,
                        struct cw_relax_report *report, void (*progress)(const char *what), struct cw_error *err);

/* Takes out of a table what cw_relax wrote. */
void cw_relax_strip(struct cw_limit_table *table);

#endif
