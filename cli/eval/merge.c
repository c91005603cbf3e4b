#include "cli/eval/merge.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/usage.h"
#include "cli/common/cli.h"
#include "image/merge.h"

static const size_t largest_capture = (size_t)1 << 40;

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

static enum cw_status merge(const struct merge_options *o, struct cw_merge_input *inputs, struct cw_bytes *files,
                            struct cw_error *err)
{
    enum cw_status status = CW_OK;
    struct cw_writer out;
    cw_writer_init(&out);
    for (size_t i = 0; i < o->count && status == CW_OK; i++) {
        status = cw_file_read(&files[i], o->inputs[i], largest_capture, err);
        inputs[i] = (struct cw_merge_input){o->inputs[i], files[i].data, files[i].size};
    }
    if (status == CW_OK)
        status = cw_counter_data_merge(&out, inputs, o->count, err);
    if (status == CW_OK)
        status = cw_file_write(o->output, out.data, out.size, err);
    cw_writer_free(&out);
    return status;
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
    struct cw_error err = CW_ERROR_INIT;
    cw_usage_parse(&argp, argc, argv, 0, &o);
    struct cw_merge_input *inputs = calloc(o.count, sizeof *inputs);
    struct cw_bytes *files = calloc(o.count, sizeof *files);
    enum cw_status status = inputs && files ? merge(&o, inputs, files, &err) : cw_error_nomem(&err);
    for (size_t i = 0; files && i < o.count; i++)
        cw_bytes_free(&files[i]);
    free(files);
    free(inputs);
    return cw_cli_finish(status, &err);
}
