/* The steps from the blocks of a trace to a timeline. */
#include "eval/timeline/parts.h"

enum cw_status cw_timeline_load(struct cw_timeline *t, const struct cw_trace *trace, const struct cw_counter_data *data,
                                size_t file_size, struct cw_arena *arena, struct cw_error *err)
{
    struct cw_timeline_work w = {.t = t, .arena = arena, .err = err};
    *t = (struct cw_timeline){.trace = trace, .data = data};
    enum cw_status status = cw_timeline_join_names(&w);
    if (status == CW_OK)
        status = cw_timeline_read_rows(&w, file_size);
    if (status == CW_OK)
        status = cw_timeline_sort(&w);
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
    return status;
}
