/* Finds the ranks of a parallel job that captures have, and the ranks that they lack. */
#ifndef CW_IMAGE_JOB_RANKS_H
#define CW_IMAGE_JOB_RANKS_H

#include "image/counter_data.h"
#include "image/trace_data.h"

/* Initialise with zeros; takes 4 to 8 bytes for each distinct rank. */
struct cw_job_ranks {
    uint32_t *ranks; /* ranks found */
    size_t count, room;
    uint32_t least, most; /* smallest and largest number of ranks that a capture gives for its job; 0: none does */
};

/* Add the ranks of all launches and devices of a capture, and of all processes of a trace. Fail with CW_ERR_NOMEM
 * only. */
enum cw_status cw_job_ranks_add(struct cw_job_ranks *job, const struct cw_counter_data *data, struct cw_error *err);
enum cw_status cw_job_ranks_add_trace(struct cw_job_ranks *job, const struct cw_trace *trace, struct cw_error *err);
void cw_job_ranks_free(struct cw_job_ranks *job);

/* Sorts the ranks and removes duplicates. Returns their number. */
size_t cw_job_ranks_sort(struct cw_job_ranks *job);
/* Finds the next run of missing ranks among 0 to `most` - 1, first to last, from *at on, which begins as 0. Call it
 * after cw_job_ranks_sort. False if there are no more, and if no capture gives the number of ranks. */
struct cw_rank_run {
    uint32_t first, last;
};
bool cw_job_ranks_missing(const struct cw_job_ranks *job, size_t *at, struct cw_rank_run *run);
/* Writes "ranks 3 and 7 of 8 are missing", that the captures are of jobs of different size, or "" if nothing is
 * missing. Call it after cw_job_ranks_sort. Returns `text`. */
enum { CW_JOB_RANKS_TEXT = 256 };
const char *cw_job_ranks_text(const struct cw_job_ranks *job, char text[CW_JOB_RANKS_TEXT]);

#endif
