/* The steps from the blocks of a trace to a timeline. */
#include <stdlib.h>

#include "eval/timeline/parts.h"

enum cw_status cw_timeline_load(struct cw_timeline *t, const struct cw_trace *trace, const struct cw_counter_data *data,
                                size_t file_size, struct cw_arena *arena, struct cw_error *err)
{
    struct cw_timeline_work w = {.t = t, .arena = arena, .err = err};
    *t = (struct cw_timeline){.trace = trace, .data = data, .large = cw_arena_alloc(arena, 1, sizeof *t->large)};
    enum cw_status status = t->large ? cw_timeline_join_names(&w) : cw_error_nomem(err);
    if (status == CW_OK)
        status = cw_timeline_find_lanes(&w, file_size);
    if (status == CW_OK)
        status = cw_timeline_sort_lanes(&w);
    if (status == CW_OK)
        status = cw_timeline_read_items(&w);
    if (status == CW_OK)
        status = cw_timeline_sort_items(&w);
    if (status == CW_OK)
        status = cw_timeline_find_calls(&w);
    if (status == CW_OK)
        status = cw_timeline_find_paths(&w);
    if (status == CW_OK)
        status = cw_timeline_measure_paths(&w, file_size);
    if (status == CW_OK)
        status = cw_timeline_show_names(&w);
    if (status == CW_OK)
        status = cw_timeline_tell_apart(&w);
    struct cw_keys *const keys[] = {&w.streams, &w.threads, &w.shapes, &w.paths, &w.accounts};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        cw_keys_free(keys[i]);
    for (int i = 0; i < CW_LANED__COUNT; i++)
        free(w.counts[i].items);
    if (t->large)
        cw_large_let_go(t->large);
    return status;
}
