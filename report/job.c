#include "report/job.h"

#include <math.h>
#include <stdlib.h>

#include "report/put.h"

/* What a page has at most: kernels; spreads of metrics; times of kernels by rank, four bytes each; and sentences. */
enum { MOST_KERNELS = 2000, MOST_SPREADS = 20000, MOST_TIMES = 1000000, MOST_SENTENCES = 1000 };

static void put_ranks(FILE *out, const struct cw_ranks *r)
{
    fputs(",\n\"ranks\":[", out);
    for (uint32_t i = 0; i < r->rank_count; i++) {
        const struct cw_rank *rank = &r->ranks[i];
        cw_put_count(out, i ? ",\n[" : "\n[", rank->number);
        cw_put_text(out, ",", rank->host);
        cw_put_text(out, ",", rank->pci);
        cw_put_count(out, ",", rank->launches);
        cw_put_number(out, ",", rank->total);
        cw_put_number(out, ",", rank->waits);
        cw_put_number(out, ",", rank->clock);
        fputs("]", out);
    }
    fputs("]", out);
}

static void put_spread(FILE *out, const char *before, const struct cw_rank_spread *s)
{
    cw_put_count(out, before, s->count);
    cw_put_number(out, ",", s->least);
    cw_put_number(out, ",", s->lower);
    cw_put_number(out, ",", s->median);
    cw_put_number(out, ",", s->upper);
    cw_put_number(out, ",", s->greatest);
    cw_put_count(out, ",", s->least_rank);
    cw_put_count(out, ",", s->greatest_rank);
    cw_put_number(out, ",", s->imbalance);
    cw_put_count(out, ",", s->outliers);
    cw_put_count(out, ",", s->left_out);
    fputs("]", out);
}

/* The mean time of a kernel on each rank: `times` has room for them. */
static void put_times(FILE *out, const struct cw_ranks *r, const struct cw_rank_kernel *k, float *times)
{
    for (uint32_t i = 0; i < r->rank_count; i++)
        times[i] = NAN;
    for (uint32_t i = 0; i < k->count; i++)
        times[r->rows[k->first + i].rank] = (float)r->rows[k->first + i].mean;
    cw_put_bytes(out, ",\"times\":", times, r->rank_count * sizeof *times);
}

static enum cw_status put_kernels(FILE *out, const struct cw_ranks *r, struct cw_error *err)
{
    float *times = malloc(((size_t)r->rank_count + 1) * sizeof *times);
    if (!times)
        return cw_error_nomem(err);
    cw_put_count(out, ",\n\"all_kernels\":", r->kernel_count);
    fputs(",\n\"kernels\":[", out);
    for (uint32_t i = 0; i < r->kernel_count && i < MOST_KERNELS; i++) {
        const struct cw_rank_kernel *k = &r->kernels[i];
        cw_put_text(out, i ? ",\n{\"name\":" : "\n{\"name\":", k->name);
        cw_put_short(out, ",\"short\":", k->name);
        cw_put_size(out, ",\"grid\":", k->grid);
        cw_put_size(out, ",\"block\":", k->block);
        cw_put_number(out, ",\"total\":", k->total);
        cw_put_count(out, ",\"launches\":", k->launches);
        fputs(k->waits ? ",\"waits\":true" : ",\"waits\":false", out);
        put_spread(out, ",\"time\":[", &k->time);
        if ((uint64_t)(i + 1) * r->rank_count <= MOST_TIMES)
            put_times(out, r, k, times);
        fputs(",\"spreads\":[", out);
        for (uint32_t m = 0; m < r->metric_count && (uint64_t)(i + 1) * r->metric_count <= MOST_SPREADS; m++)
            put_spread(out, m ? ",[" : "[", &r->spreads[(size_t)i * r->metric_count + m]);
        fputs("]}", out);
    }
    fputs("]", out);
    free(times);
    return CW_OK;
}

static void put_sentences(FILE *out, const struct cw_ranks *r)
{
    char text[CW_STRAGGLER_TEXT];
    cw_put_count(out, ",\n\"all_slow\":", r->straggler_count);
    fputs(",\n\"waited\":[", out);
    for (uint32_t i = 0; i < r->waited_count && i < MOST_SENTENCES; i++) {
        cw_put_count(out, i ? ",\n[" : "\n[", r->waited[i].rank);
        cw_put_text(out, ",", cw_waited_text(r, &r->waited[i], text));
        fputs("]", out);
    }
    fputs("],\n\"slow\":[", out);
    for (uint32_t i = 0; i < r->straggler_count && i < MOST_SENTENCES; i++) {
        const struct cw_straggler *s = &r->stragglers[i];
        cw_put_count(out, i ? ",\n[" : "\n[", r->rows[s->row].rank);
        cw_put_count(out, ",", r->rows[s->row].kernel);
        cw_put_number(out, ",", s->slower);
        cw_put_number(out, ",", s->lost);
        cw_put_text(out, ",", cw_straggler_text(r, s, text));
        fputs("]", out);
    }
    fputs("]", out);
}

enum cw_status cw_report_job_put(FILE *out, const struct cw_ranks_view *view, struct cw_error *err)
{
    const struct cw_ranks *r = view->ranks;
    char missing[CW_JOB_RANKS_TEXT];
    cw_put_text(out, "{\"by\":",
                r->by == CW_BY_NVTX ? "NVTX range" : r->by == CW_BY_FAMILY ? "family" : "kernel");
    cw_put_number(out, ",\"total\":", r->total);
    cw_put_count(out, ",\"launches\":", r->launches);
    cw_put_count(out, ",\"unranked\":", r->unranked);
    cw_put_text(out, ",\"missing\":", cw_job_ranks_text(view->job, missing));
    fputs(",\n\"metrics\":[", out);
    for (uint32_t m = 0; m < r->metric_count; m++) {
        cw_put_text(out, m ? ",\n[" : "\n[", r->names[m]);
        cw_put_text(out, ",", r->units[m]);
        fputs("]", out);
    }
    fputs("]", out);
    put_ranks(out, r);
    put_sentences(out, r);
    enum cw_status status = put_kernels(out, r, err);
    fputs("}", out);
    return status;
}
