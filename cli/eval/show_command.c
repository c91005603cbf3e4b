/* metric-eval show: what a capture holds. */
#include "cli/eval/run.h"
#include "eval/output/capture.h"
#include "eval/output/timeline_output.h"

/* Into `tree`, or for people where that is NULL. */
static enum cw_status show_trace(struct cw_eval_run *r, json_t **tree)
{
    struct cw_timeline t = {0};
    enum cw_status status = cw_eval_load_timeline(r, &t);
    if (status == CW_OK && tree)
        cw_json_set(tree, "trace", cw_timeline_manifest(&t));
    else if (status == CW_OK)
        status = cw_timeline_show(&t, stdout, r->err);
    cw_timeline_free(&t);
    return status;
}

static enum cw_status show(struct cw_eval_run *r)
{
    enum cw_status status = cw_eval_load_capture(r);
    if (status != CW_OK)
        return status;
    cw_eval_tell_incomplete(r);
    const bool trace = r->capture->data.schema.profiler == CW_PROFILER_TRACE;
    bool instructions = r->info.profiler > COUNTERWORKS_SAMPLES && !trace;
    if (r->o->as_json) {
        json_t *tree = cw_capture_manifest(&r->capture->data, r->capture->source);
        status = instructions ? cw_show_instructions(r, &tree) : trace ? show_trace(r, &tree) : CW_OK;
        if (status == CW_OK)
            return cw_eval_print_json(tree, r->err);
        json_decref(tree);
        return status;
    }
    cw_capture_show(&r->capture->data, r->o->capture, stdout);
    if (trace)
        return show_trace(r, NULL);
    return instructions ? cw_show_instructions(r, NULL) : CW_OK;
}

static const struct cw_option option_list[] = {
    {CW_OPTION_ROWS(cw_eval_capture_options)},
    {CW_OPTION_ROWS(cw_eval_format_options)},
    {0},
};

int cw_eval_show(int argc, char **argv)
{
    static const struct cw_usage usage = {
        option_list, "RUN.cwd...",
        "Prints what a capture holds: the device, how it was collected, counters, ranges or samples. Evaluates "
        "nothing.\v"
        "Example:\n  metric-eval show run.cwd"};
    struct cw_eval_request request = {.run = show, .heads_alone = true};
    return cw_eval_command(&usage, argc, argv, &request);
}
