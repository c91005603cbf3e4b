/* metric-eval show: what a capture holds. */
#include "cli/eval/run.h"

static enum cw_status show(struct cw_eval_run *r)
{
    enum cw_status status = cw_eval_load_capture(r);
    if (status != CW_OK)
        return status;
    cw_eval_tell_incomplete(r);
    cw_capture_show(&r->capture->data, r->o->capture, stdout);
    return r->info.profiler > COUNTERWORKS_SAMPLES ? cw_show_instructions(r) : CW_OK;
}

int cw_eval_show(int argc, char **argv)
{
    static const struct cw_usage usage = {
        cw_eval_capture_options, "RUN.cwd",
        "Prints what a capture holds: the device, how it was collected, counters, ranges or samples. Evaluates "
        "nothing.\v"
        "Example:\n  metric-eval show run.cwd"};
    struct cw_eval_request request = {.run = show};
    return cw_eval_command(&usage, argc, argv, &request);
}
