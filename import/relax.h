/* Finds how many groups of each range profiling limit a pass of PM sampling may use, by asking NVIDIA's host library.
 * No GPU needed.
 *
 * PM sampling has the limits of range profiling, with more room in some, above all in slots. So nothing is learned
 * anew: sets that the library accepts for PM sampling show which limits have more room, and sets that it refuses show
 * how much. */
#ifndef CW_IMPORT_RELAX_H
#define CW_IMPORT_RELAX_H

#include "import/check_sets.h"
#include "import/limit_tables.h"

struct cw_relax_report {
    uint64_t questions;
    uint32_t limits, relaxed;
    struct cw_check_count random, natural; /* fresh sets, from which nothing was learned */
};

/* Writes `pm` into the lines of a range profiling table about `facts`, in place of any earlier `pm`. Deterministic for
 * one library. `progress` may be NULL. */
enum cw_status cw_relax(struct cw_facts *facts, const struct cw_nvperf *library, struct cw_limit_table *table,
                        struct cw_relax_report *report, void (*progress)(const char *what), struct cw_error *err);

/* Removes from a table the additions of cw_relax. */
void cw_relax_strip(struct cw_limit_table *table);

#endif
