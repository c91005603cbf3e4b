/* The ranges of several runs of one program, each of which collected other counters, joined by name and occurrence.
 *
 * Runs come in groups that see other ranges (levels of nested ones); the first of a group says which there are. */
#ifndef CW_AGENT_RUNS_H
#define CW_AGENT_RUNS_H

#include "image/counter_data.h"

struct cw_runs;

struct cw_runs_difference {
    uint64_t missing, added;               /* compared with the first run */
    const char *missing_name, *added_name; /* one of each, "" where there is none */
};

struct cw_run_range {
    const char *place; /* where it ran, the same in each run: program, rank and device */
    uint32_t file;     /* the caller's */
    struct cw_range range;
    /* one for each column; what this run did not collect is CW_FORM_NOT_COLLECTED; NULL: it was there, and this run
     * collected nothing of it */
    const struct cw_value *values;
};

/* NULL when out of memory. */
struct cw_runs *cw_runs_create(uint32_t columns, uint32_t passes, uint32_t facts);
void cw_runs_destroy(struct cw_runs *runs);
/* A run of a group begins. */
void cw_runs_begin(struct cw_runs *runs, uint32_t group);
/* Adds a range. One that the first run of the group did not have is counted and left out. Everything is copied. */
enum cw_status cw_runs_add(struct cw_runs *runs, const struct cw_run_range *range, struct cw_error *err);
/* How the run that ends here differs from the first of its group. */
struct cw_runs_difference cw_runs_compare(const struct cw_runs *runs);
/* The ranges of the first runs, in their order. */
uint32_t cw_runs_count(const struct cw_runs *runs);
const struct cw_run_range *cw_runs_get(const struct cw_runs *runs, uint32_t index);
uint32_t cw_runs_seen(const struct cw_runs *runs, uint32_t index); /* in how many runs it was collected */

#endif
