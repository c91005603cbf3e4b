#include "eval/stream.h"

#include "eval/evaluate.h"

static void finish(void *stream)
{
    struct cw_stream *s = stream;
    cw_range_view_free(&s->view);
    cw_pm_view_free(&s->samples.view);
}

enum cw_status cw_stream_init(struct cw_stream *s, const struct cw_counter_data *data, const struct cw_eval_plan *plan,
                              struct cw_arena *arena, struct cw_error *err)
{
    const bool samples = data->schema.profiler == CW_PROFILER_PM;
    *s = (struct cw_stream){.data = data, .plan = plan};
    s->row_count = samples ? data->pm.sample_count : data->range_count;
    enum cw_status status = samples ? cw_pm_evaluator_init(&s->samples, plan, data, arena, err)
                                    : cw_range_view_init(&s->view, data, arena, err);
    const uint32_t room = samples ? s->samples.view.room : s->view.room;
    s->values = cw_arena_alloc(arena, (size_t)plan->metric_count * room, sizeof *s->values);
    s->statuses = cw_arena_alloc(arena, (size_t)plan->metric_count * room, sizeof *s->statuses);
    if (!cw_arena_at_end(arena, finish, s) || !s->values || !s->statuses)
        status = status == CW_OK ? cw_error_nomem(err) : status;
    return status;
}

/* Blocks follow one another. */
static void load_samples(struct cw_stream *s, uint32_t row)
{
    const struct cw_pm_block *blocks = s->data->pm.blocks;
    s->block = row < blocks[s->block].first ? 0 : s->block;
    while (row - blocks[s->block].first >= blocks[s->block].count)
        s->block++;
    const uint32_t within = row - blocks[s->block].first, room = s->samples.view.room, from = within - within % room;
    s->first = blocks[s->block].first + from;
    s->count = cw_pm_view_load(&s->samples.view, s->data, s->block, from);
    s->status = s->samples.view.status;
}

static void load_ranges(struct cw_stream *s, uint32_t row)
{
    const uint32_t left = s->row_count - row, count = left < s->view.room ? left : s->view.room;
    bool follow = true;
    for (uint32_t i = 1; i < count && follow; i++)
        follow = s->ranges[row + i] == s->ranges[row] + i;
    s->first = row;
    s->count = count;
    s->status = cw_range_view_load(&s->view, s->ranges[row], follow ? NULL : s->ranges + row, count);
}

bool cw_stream_load(struct cw_stream *s, uint32_t row)
{
    if (s->status != CW_OK || row - s->first < s->count)
        return s->status == CW_OK;
    s->evaluated = false;
    s->count = 0;
    if (s->ranges)
        load_ranges(s, row);
    else
        load_samples(s, row);
    return s->status == CW_OK;
}

bool cw_stream_evaluate(struct cw_stream *s, uint32_t row)
{
    if (!cw_stream_load(s, row) || s->evaluated)
        return s->status == CW_OK;
    if (s->ranges)
        cw_evaluate(s->plan, &s->view.data, s->values, s->statuses);
    else
        cw_pm_evaluator_run(&s->samples, s->values, s->statuses);
    return s->evaluated = true;
}
