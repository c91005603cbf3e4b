/* What is said of a trace to people, made once for the terminal and for the page of --report. */
#include "eval/output/timeline_output.h"

enum cw_status cw_timeline_rows_make(struct cw_timeline_rows *rows, const struct cw_timeline *t, enum cw_timeline_by by,
                                     const struct cw_timeline_keep *keep, bool spread, size_t top,
                                     struct cw_arena *arena, struct cw_error *err)
{
    *rows = (struct cw_timeline_rows){0};
    enum cw_status status = cw_timeline_group(&rows->groups, by, t, keep, spread, arena, err);
    if (status == CW_OK && !(rows->rows = cw_arena_alloc(arena, rows->groups.count, sizeof *rows->rows)))
        status = cw_error_nomem(err);
    for (uint32_t i = 0; status == CW_OK && i < rows->groups.count; i++)
        rows->rows[rows->count++] = i;
    if (top && rows->count > top) {
        rows->left = rows->count - (uint32_t)top;
        rows->count = (uint32_t)top;
    }
    return status;
}

enum cw_status cw_timeline_sections_make(struct cw_timeline_sections *s, const struct cw_timeline *t,
                                         const struct cw_timeline_keep *keep, const struct cw_timeline_window *within,
                                         uint32_t within_count, size_t top, struct cw_arena *arena,
                                         struct cw_error *err)
{
    const struct {
        struct cw_timeline_rows *rows;
        enum cw_timeline_by by;
        bool wanted;
    } lists[] = {{&s->copies, CW_TIMELINE_BY_COPY, true},
                 {&s->ranges, CW_TIMELINE_BY_NVTX, t->range_count},
                 {&s->streams, CW_TIMELINE_BY_STREAM, t->stream_count > 1},
                 {&s->processes, CW_TIMELINE_BY_PROCESS, t->trace->process_count > 1},
                 {&s->calls, CW_TIMELINE_BY_CALL, true}};
    *s = (struct cw_timeline_sections){0};
    enum cw_status status = cw_timeline_use(&s->usage, t, within, within_count, arena, err);
    if (status == CW_OK && !within)
        status = cw_timeline_find_extra(&s->extra, t, arena, err);
    for (size_t i = 0; i < sizeof lists / sizeof *lists && status == CW_OK; i++)
        if (lists[i].wanted)
            status = cw_timeline_rows_make(lists[i].rows, t, lists[i].by, keep, false, top, arena, err);
    return status;
}
