#include "image/job_ranks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/decimal.h"
#include "base/search.h"

size_t cw_job_ranks_sort(struct cw_job_ranks *job)
{
    size_t kept = 0;
    if (job->count)
        qsort(job->ranks, job->count, sizeof *job->ranks, cw_compare_u32);
    for (size_t i = 0; i < job->count; i++)
        if (!kept || job->ranks[kept - 1] != job->ranks[i])
            job->ranks[kept++] = job->ranks[i];
    return job->count = kept;
}

/* Adds a rank. Consecutive launches mostly have the same rank, so it compares with the last one first. Removes
 * duplicates when the list is full, before it grows. */
static bool add_rank(struct cw_job_ranks *job, uint32_t rank)
{
    if (job->count && job->ranks[job->count - 1] == rank)
        return true;
    if (job->count == job->room && cw_job_ranks_sort(job) >= job->room / 2) {
        uint32_t *grown = cw_grown(job->ranks, &job->room, job->room, sizeof *grown);
        if (!grown)
            return false;
        job->ranks = grown;
    }
    job->ranks[job->count++] = rank;
    return true;
}

static enum cw_status add(struct cw_job_ranks *job, const struct cw_pair *pairs, uint32_t pair_count,
                          struct cw_error *err)
{
    const char *rank = cw_pair_find(pairs, pair_count, "rank"), *ranks = cw_pair_find(pairs, pair_count, "ranks");
    uint32_t number, size;
    if (!rank || !cw_decimal_read_u32(rank, &number))
        return CW_OK;
    if (ranks && cw_decimal_read_u32(ranks, &size) && size > number) {
        job->least = !job->least || size < job->least ? size : job->least;
        job->most = size > job->most ? size : job->most;
    }
    return add_rank(job, number) ? CW_OK : cw_error_nomem(err);
}

enum cw_status cw_job_ranks_add(struct cw_job_ranks *job, const struct cw_counter_data *data, struct cw_error *err)
{
    for (uint32_t i = 0; i < data->device_count; i++)
        CW_TRY(add(job, data->devices[i].attributes, data->devices[i].attribute_count, err));
    for (uint32_t i = 0; i < cw_launch_count(data); i++) {
        const struct cw_range *launch = cw_launch(data, i);
        CW_TRY(add(job, launch->attributes, launch->attribute_count, err));
    }
    return CW_OK;
}

enum cw_status cw_job_ranks_add_trace(struct cw_job_ranks *job, const struct cw_trace *trace, struct cw_error *err)
{
    enum cw_status status = CW_OK;
    for (uint32_t i = 0; i < trace->process_count && status == CW_OK; i++)
        status = add(job, trace->processes[i].attributes, trace->processes[i].attribute_count, err);
    return status;
}

void cw_job_ranks_free(struct cw_job_ranks *job)
{
    free(job->ranks);
    *job = (struct cw_job_ranks){0};
}

/* ---- missing ranks ---------------------------------------------------------------------------------------------- */

bool cw_job_ranks_missing(const struct cw_job_ranks *job, size_t *at, struct cw_rank_run *run)
{
    bool found = false;
    for (; *at <= job->count && !found; ++*at) {
        const uint64_t first = *at ? (uint64_t)job->ranks[*at - 1] + 1 : 0;
        const uint32_t end = *at < job->count && job->ranks[*at] < job->most ? job->ranks[*at] : job->most;
        if ((found = first < end))
            *run = (struct cw_rank_run){(uint32_t)first, end - 1};
    }
    return found;
}

static int put_run(char *text, size_t size, const char *before, const struct cw_rank_run *run)
{
    return run->first == run->last ? snprintf(text, size, "%s%" PRIu32, before, run->first)
                                   : snprintf(text, size, "%s%" PRIu32 "-%" PRIu32, before, run->first, run->last);
}

const char *cw_job_ranks_text(const struct cw_job_ranks *job, char text[CW_JOB_RANKS_TEXT])
{
    enum { MOST = 6 }; /* runs to name */
    struct cw_rank_run run, runs[MOST];
    uint64_t missing = 0, more = 0;
    size_t count = 0;
    *text = 0;
    if (job->least != job->most) {
        snprintf(text, CW_JOB_RANKS_TEXT,
                 "the captures are of jobs of %" PRIu32 " to %" PRIu32 " ranks, which count as one job", job->least,
                 job->most);
        return text;
    }
    for (size_t at = 0; cw_job_ranks_missing(job, &at, &run); count++) {
        const uint64_t ranks = (uint64_t)run.last - run.first + 1;
        if (count < MOST)
            runs[count] = run;
        else
            more += ranks;
        missing += ranks;
    }
    if (!count)
        return text;
    int used = snprintf(text, CW_JOB_RANKS_TEXT, missing == 1 ? "rank " : "ranks ");
    for (size_t i = 0; i < count && i < MOST; i++)
        used += put_run(text + used, CW_JOB_RANKS_TEXT - (size_t)used,
                        !i               ? ""
                        : i + 1 == count ? " and "
                                         : ", ",
                        &runs[i]);
    if (more)
        used += snprintf(text + used, CW_JOB_RANKS_TEXT - (size_t)used, " and %" PRIu64 " more", more);
    snprintf(text + used, CW_JOB_RANKS_TEXT - (size_t)used, " of %" PRIu32 " %s missing", job->most,
             missing == 1 ? "is" : "are");
    return text;
}
