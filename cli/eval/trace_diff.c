#include "cli/eval/trace_diff.h"

#include "cli/eval/trace_choice.h"
#include "eval/compare/timeline_as_ranges.h"

struct cw_eval_trace_side {
    struct cw_eval_run *run;
    struct cw_timeline t;
    struct cw_eval_trace_choice choice;
    struct cw_counter_data gpu, nvtx; /* as ranges */
    struct cw_timeline_usage usage;
};

static enum cw_status load(struct cw_eval_trace_side *s, struct cw_eval_run *r)
{
    s->run = r;
    cw_eval_tell_incomplete(r);
    const enum cw_status status = cw_eval_load_timeline(r, &s->t);
    return status == CW_OK ? cw_eval_trace_choose(&s->choice, r, &s->t, true) : status;
}

/* With patterns, which are those of NVTX paths, "step 1" and "step 2" are one. */
static enum cw_status make_ranges(struct cw_eval_trace_side *s, bool patterns)
{
    struct cw_eval_run *r = s->run;
    const struct cw_timeline_keep *keep = &s->choice.keep;
    enum cw_status status =
        cw_timeline_use(&s->usage, &s->t, s->choice.within, s->choice.within_count, r->arena, r->err);
    if (status == CW_OK)
        status = cw_timeline_nvtx_as_ranges(&s->nvtx, &s->t, keep, r->arena, r->err);
    return status == CW_OK ? cw_timeline_as_ranges(&s->gpu, &s->t, patterns, keep, r->arena, r->err) : status;
}

/* Nothing is left on either side: says why, of the first. */
static enum cw_status check_left(struct cw_eval_trace_side *a, const struct cw_eval_trace_side *b, bool nvtx)
{
    struct cw_eval_trace_choice none;
    return a->gpu.range_count || b->gpu.range_count || nvtx ? CW_OK : cw_eval_trace_choose(&none, a->run, &a->t, false);
}

static enum cw_status compare(struct cw_comparison *c, const struct cw_eval_trace_side *a,
                              const struct cw_eval_trace_side *b, bool nvtx, const uint32_t runs[2],
                              enum cw_group_by by)
{
    struct cw_result x = {
        .chip = &cw_timeline_no_chip, .data = nvtx ? &a->nvtx : &a->gpu, .source = a->run->capture->source};
    struct cw_result y = x;
    y.data = nvtx ? &b->nvtx : &b->gpu;
    y.source = b->run->capture->source;
    return cw_compare(c, &x, &y, runs, by, true, &a->run->o->eval, a->run->arena, a->run->err);
}

enum cw_status cw_eval_trace_diff(struct cw_eval_trace_diff *d, struct cw_eval_run *a, struct cw_eval_run *b,
                                  const uint32_t runs[2], bool by_nvtx)
{
    struct cw_eval_trace_side *s = cw_arena_alloc(a->arena, 2, sizeof *s);
    const struct cw_eval_ranges *wanted = &a->o->ranges;
    const bool by_kernel = wanted->kernel_count || wanted->excluded_count;
    *d = (struct cw_eval_trace_diff){.sides = s};
    if (!s)
        return cw_error_nomem(a->err);
    enum cw_status status = load(&s[0], a);
    if (status == CW_OK)
        status = load(&s[1], b);
    for (int i = 0; i < 2 && status == CW_OK; i++)
        status = make_ranges(&s[i], by_nvtx);
    const bool nvtx = !by_kernel && (s[0].nvtx.range_count || s[1].nvtx.range_count);
    if (status == CW_OK)
        status = check_left(&s[0], &s[1], nvtx);
    if (status == CW_OK)
        status = compare(&d->of, &s[0], &s[1], false, runs, by_nvtx ? CW_BY_NVTX : CW_BY_KERNEL);
    if (status == CW_OK && nvtx)
        status = compare(&d->ranges, &s[0], &s[1], true, runs, CW_BY_KERNEL);
    const bool used = !by_kernel && runs[0] == 1 && runs[1] == 1;
    d->trace = (struct cw_diff_trace){
        .a_usage = used ? &s[0].usage : NULL, .b_usage = used ? &s[1].usage : NULL, .ranges = nvtx ? &d->ranges : NULL};
    return status;
}

void cw_eval_trace_diff_free(struct cw_eval_trace_diff *d)
{
    for (int i = 0; d->sides && i < 2; i++)
        cw_timeline_free(&d->sides[i].t);
}
