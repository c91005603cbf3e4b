/* The page of report. */
#include "cli/eval/session.h"

const struct cw_option cw_eval_beside_options[] = {
    {"with", 0, "MORE.cwd", "also show this capture of the same program, of any kind; may be repeated",
     .called = "captures", CW_OPTION_LIST(struct cw_eval_line, with.items, with.count)},
    {"baseline", 0, "OLD.cwd", "compare the page's kernels with this capture of ranges, by name, grid and block",
     CW_OPTION_TEXT(struct cw_eval_line, baseline)},
    {0},
};

struct beside {
    struct cw_eval_opened opened[CW_EVAL_REPEATED_MAX + 1];
    struct cw_view_shown shown[CW_EVAL_REPEATED_MAX + 1];
};

static enum cw_status open_beside(struct cw_eval_session *s, struct beside *b, size_t i, const char *path)
{
    char *words[] = {(char *)(uintptr_t)path};
    const enum cw_status status = cw_eval_open(s, &b->opened[i], words, 1);
    b->shown[i] = (struct cw_view_shown){b->opened[i].capture, b->opened[i].chip};
    return status;
}

enum cw_status cw_eval_page(struct cw_eval_session *s)
{
    const struct cw_eval_line *o = s->o;
    struct beside beside = {0};
    struct counterworks_view view = {0};
    const struct cw_view_page page = {.with = beside.shown,
                                      .with_count = o->with.count,
                                      .baseline = o->baseline ? &beside.shown[CW_EVAL_REPEATED_MAX] : NULL,
                                      .source_paths = o->folders.items,
                                      .source_path_count = o->folders.count,
                                      .hdf5 = o->hdf5};
    const struct cw_view_input in = cw_eval_input(s, &s->main, &s->request);
    enum cw_status status = CW_OK;
    if (s->request.kinds && !cw_eval_writes(o))
        status = cw_error_set(s->err, CW_ERR_USAGE, "found --kind with a page, expected CSV, JSON or HDF5 beside it");
    for (size_t i = 0; i < o->with.count && status == CW_OK; i++)
        status = open_beside(s, &beside, i, o->with.items[i]);
    if (status == CW_OK && o->baseline)
        status = open_beside(s, &beside, CW_EVAL_REPEATED_MAX, o->baseline);
    if (status == CW_OK)
        status = cw_view_page_make(&view, &in, &page);
    if (status == CW_OK)
        status = cw_eval_write_to(s, &view, CW_VIEW_HTML, o->page);
    cw_view_free(&view);
    for (size_t i = 0; i <= CW_EVAL_REPEATED_MAX; i++)
        cw_eval_close(&beside.opened[i]);
    return status;
}
