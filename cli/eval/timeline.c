/* Captures of traces. */
#include <string.h>

#include "cli/common/cli.h"
#include "cli/eval/run.h"
#include "eval/timeline.h"

enum cw_status cw_eval_load_timeline(struct cw_eval_run *r, struct cw_timeline *timeline)
{
    const struct cw_input *file = &r->capture->file;
    const struct cw_counter_data *data = &r->capture->data;
    struct cw_trace *trace = cw_arena_alloc(r->arena, 1, sizeof *trace);
    *timeline = (struct cw_timeline){0};
    enum cw_status status = trace ? cw_input_load(&r->capture->file, r->err) : cw_error_nomem(r->err);
    if (status == CW_OK)
        status = cw_trace_read(trace, data->devices, data->device_count, file->bytes, (size_t)file->size, r->o->capture,
                               r->arena, r->err);
    if (status == CW_OK)
        status = cw_timeline_load(timeline, trace, data, (size_t)file->size, r->arena, r->err);
    return status;
}
