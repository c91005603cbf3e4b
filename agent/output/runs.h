/* Joins the ranges of several runs of one program, each with other counters, by name and occurrence.
 *
 * Runs come in groups that see different ranges (levels of nested ones); the first run of a group determines its
 * ranges. */
#ifndef CW_AGENT_RUNS_H
#define CW_AGENT_RUNS_H

#include "image/counter_data.h"

struct cw_runs;

struct cw_runs_difference {
    uint64_t missing, added;               /* compared with the first run */
    const char *missing_name, *added_name; /* an example of each, "" if there is none */
};

struct cw_run_range {
    const char *place; /* place of execution, the same in each run: program, rank and device */
    uint32_t file;     /* number given by the caller */
    struct cw_range range;
    /* one for each column; CW_FORM_NOT_COLLECTED for values not collected in this run; NULL: this run saw the range and
     * collected nothing */
    const struct cw_value *values;
};

/* Creates an empty table. NULL when out of memory. */
struct cw_runs *cw_runs_create(uint32_t columns, uint32_t passes, uint32_t facts);
void cw_runs_destroy(struct cw_runs *runs);
void cw_runs_begin(struct cw_runs *runs, uint32_t group);
/* Adds a range; copies everything. A range that the group's first run did not have is counted and left out. */
enum cw_status cw_runs_add(struct cw_runs *runs, const struct cw_run_range *range, struct cw_error *err);
/* Compares the current run with the first of its group. */
struct cw_runs_difference cw_runs_compare(const struct cw_runs *runs);
/* The ranges of all first runs, in their order. */
uint32_t cw_runs_count(const struct cw_runs *runs);
const struct cw_run_range *cw_runs_get(const struct cw_runs *runs, uint32_t index);
uint32_t cw_runs_seen(const struct cw_runs *runs, uint32_t index); /* number of runs that collected it */

#endif
