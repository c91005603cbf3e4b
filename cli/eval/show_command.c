/* metric-eval show: describes a capture. */
#include "cli/eval/session.h"

struct show {
    struct cw_eval_line line; /* first member; cw_eval_command takes it */
    bool provenance;
};

static enum cw_status show(struct cw_eval_session *s)
{
    struct counterworks_view view = {0};
    struct cw_rank_origins origins = {.arena = s->arena};
    struct cw_source_files files = cw_eval_files(s, false);
    files.origins = &origins;
    enum cw_status status = cw_eval_open_files(s, &s->main, &files);
    if (status == CW_OK)
        cw_source_tell_ranks(&origins, s->o->quiet ? NULL : &s->notices);
    const struct cw_view_input in = cw_eval_input(s, &s->main, &s->request);
    if (status == CW_OK)
        status = ((const struct show *)s->o)->provenance ? cw_view_provenance(&view, &in) : cw_view_show(&view, &in);
    if (status == CW_OK)
        status = cw_eval_print(s, &view);
    cw_view_free(&view);
    return status;
}

static const struct cw_option option_list[] = {
    {"provenance", 0, NULL,
     "list what the capture holds about its machine and its program, and which of it merge --redact leaves out",
     CW_OPTION_FLAG(struct show, provenance)},
    {CW_OPTION_ROWS(cw_eval_capture_options)},
    {CW_OPTION_ROWS(cw_eval_format_options)},
    {CW_OPTION_ROWS(cw_eval_quiet_options)},
    {0},
};

int cw_eval_show(int argc, char **argv)
{
    static const struct cw_usage usage = {
        option_list, "RUN.cwd...",
        "Describes a capture: the device, the way of collection, counters, ranges or samples. Evaluates "
        "nothing.\v"
        "Example:\n  $0 run.cwd"};
    struct show options = {.line = {.run = show, .takes = CW_EVAL_PRINTED | CW_EVAL_CELLS}};
    return cw_eval_command(&usage, argc, argv, &options.line);
}
