#include "base/usage.h"
#include "cli/common/cli.h"
#include "cli/eval/run.h"

struct merge_options {
    const char *output;
    char **inputs;
    size_t count;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct merge_options *o = state->input;
    switch (key) {
    case 'o':
        o->output = arg;
        return 0;
    case ARGP_KEY_ARGS:
        o->inputs = state->argv + state->next;
        o->count = (size_t)(state->argc - state->next);
        return 0;
    case ARGP_KEY_END:
        if (!o->output || o->count < 2)
            cw_usage_error(state, "found %zu captures%s, expected at least two and -o ALL.cwd", o->count,
                           o->output ? "" : " and no -o");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int cw_eval_merge(int argc, char **argv)
{
    static const struct argp_option option_list[] = {
        {"output", 'o', "ALL.cwd", 0, "where to write the joined capture", 0}, {0}};
    static const struct argp argp = {option_list,
                                     parse,
                                     "A.cwd B.cwd...",
                                     "Joins several captures into one, such as those of the processes of a parallel "
                                     "job. They have to be of one plan, or of one kind of samples.\v"
                                     "Example:\n  metric-eval merge run.*.cwd -o all.cwd",
                                     NULL,
                                     NULL,
                                     NULL};
    struct merge_options o = {0};
    struct counterworks_error error;
    struct cw_error err = CW_ERROR_INIT;
    cw_usage_parse(&argp, argc, argv, 0, &o);
    counterworks_capture_merge(o.output, (const char *const *)o.inputs, o.count, &error);
    return cw_cli_finish(cw_cli_take(&error, &err), &err);
}
