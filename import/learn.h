/* Finds the contents that one pass can hold by asking NVIDIA's host library. No GPU needed. The functions are
 * deterministic for one library. `progress` gets a line for each step and may be NULL. */
#ifndef CW_IMPORT_LEARN_H
#define CW_IMPORT_LEARN_H

#include "import/check_sets.h"
#include "import/limit_tables.h"

struct cw_learn_report {
    uint64_t questions;
    struct cw_check_count random, natural; /* fresh sets, from which nothing was learned */
    uint32_t unusable;                     /* by cw_learn: placements that no single pass holds */
    uint32_t removed;                      /* by cw_mend: limits removed */
    uint32_t limits, relaxed;              /* by cw_relax */
};

/* Learns the table of an activity, except for its source, from the placements of `facts`. Does not change the chip's
 * limits.
 *
 * The learner knows nothing about chips. It finds out which placements exclude each other, how many slots a domain has
 * and which counters share a source by questions of the form "do these placements fit one pass?". It checks the result
 * against fresh sets, and repairs it until they show no mistake. */
enum cw_status cw_learn(struct cw_facts *facts, const struct cw_nvperf *library, enum cw_nvperf_activity activity,
                        struct cw_limit_table *table, struct cw_learn_report *report,
                        void (*progress)(const char *what), struct cw_error *err);

/* Mends the known limits of one pass by asking about sets that people request: replaces the lines of a table about
 * `facts`.
 *
 * If a pass of the library's own breaks a limit, the limit is narrowed until it allows the pass. If the library refuses
 * a pass of our scheduler, a limit is added. */
enum cw_status cw_mend(struct cw_facts *facts, const struct cw_nvperf *library, enum cw_nvperf_activity activity,
                       struct cw_limit_table *table, struct cw_learn_report *report, void (*progress)(const char *what),
                       struct cw_error *err);

/* Finds how many groups of each range profiling limit a pass of PM sampling may use: writes `pm` into the lines of a
 * range profiling table about `facts`, in place of any earlier `pm`.
 *
 * PM sampling has the limits of range profiling, with more room in some, above all in slots. So nothing is learned
 * anew: sets that the library accepts for PM sampling show which limits have more room, and sets that it refuses show
 * how much. */
enum cw_status cw_relax(struct cw_facts *facts, const struct cw_nvperf *library, struct cw_limit_table *table,
                        struct cw_learn_report *report, void (*progress)(const char *what), struct cw_error *err);

/* Removes from a table the additions of cw_relax. */
void cw_relax_strip(struct cw_limit_table *table);

#endif
