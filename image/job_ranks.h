/* Which ranks of a parallel job captures have, and which they lack. */
#ifndef CW_IMAGE_JOB_RANKS_H
#define CW_IMAGE_JOB_RANKS_H

#include "image/counter_data.h"
#include "image/trace_data.h"

/* Begins as zeros; memory is 4 bytes for each different rank, or twice that. */
struct cw_job_ranks {
    uint32_t *ranks; /* that were met */
    size_t count, room;
    uint32_t least, most; /* how many ranks the captures say that the job has; 0: none says so */
};

/* Adds the ranks of all launches and devices of a capture; of a trace, of its processes. CW_ERR_NOMEM alone. */
enum cw_status cw_job_ranks_add(struct cw_job_ranks *job, const struct cw_counter_data *data, struct cw_error *err);
enum cw_status cw_job_ranks_add_trace(struct cw_job_ranks *job, const struct cw_trace *trace, struct cw_error *err);
void cw_job_ranks_free(struct cw_job_ranks *job);

/* Puts the ranks into order, each once. Returns how many there are. */
size_t cw_job_ranks_sort(struct cw_job_ranks *job);
/* The ranks of 0 to `most` - 1 that none has, as runs from a first to a last, after sorting: the next from *at on,
 * which begins as 0. False where there is no more, and where the captures say nothing of the number of ranks. */
struct cw_rank_run {
    uint32_t first, last;
};
bool cw_job_ranks_missing(const struct cw_job_ranks *job, size_t *at, struct cw_rank_run *run);
/* "ranks 3 and 7 of 8 are missing", or "" where there is nothing to say, after sorting. Of captures of jobs that differ
 * in size it says that they do. Returns `text`. */
enum { CW_JOB_RANKS_TEXT = 256 };
const char *cw_job_ranks_text(const struct cw_job_ranks *job, char text[CW_JOB_RANKS_TEXT]);

#endif
