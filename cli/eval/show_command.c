/* metric-eval show: describes a capture. */
#include "cli/eval/session.h"

static enum cw_status show(struct cw_eval_session *s)
{
    struct counterworks_view view = {0};
    const struct cw_source_files files = cw_eval_files(s, false);
    enum cw_status status = cw_eval_open_files(s, &s->main, &files);
    const struct cw_view_input in = cw_eval_input(s, &s->main, &s->request);
    if (status == CW_OK)
        status = cw_view_show(&view, &in);
    if (status == CW_OK)
        status = cw_eval_print(s, &view);
    cw_view_free(&view);
    return status;
}

static const struct cw_option option_list[] = {
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
    struct cw_eval_line line = {.run = show};
    return cw_eval_command(&usage, argc, argv, &line);
}
