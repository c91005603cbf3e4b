#include "base/file.h"
#include "base/progress.h"
#include "base/text.h"
#include "cli/common/cli.h"
#include "cli/eval/run.h"

struct merge_options {
    const char *output;
    char *const *inputs;
    size_t count;
    bool force;
};

static void check_options(void *options, struct argp_state *state)
{
    const struct merge_options *o = options;
    if (!o->output || !o->count)
        cw_usage_error(state, "found %s%s, expected captures and -o ALL.cwd", o->count ? "" : "no capture",
                       o->output  ? ""
                       : o->count ? "no -o"
                                  : " and no -o");
}

static const struct cw_option option_list[] = {
    {"output", 'o', "ALL.cwd", "where to write the joined capture; - is standard output",
     CW_OPTION_TEXT(struct merge_options, output)},
    {CW_OPTION_GROUP(struct merge_options, force, cw_cli_force_options)},
    {CW_OPTION_WORDS(struct merge_options, inputs, count)},
    {CW_OPTION_CHECK(check_options)},
    {0},
};

static enum cw_status merge(const void *options, struct counterworks_chip *chip, struct cw_arena *arena,
                            struct cw_error *err)
{
    const struct merge_options *o = options;
    struct cw_file_list files;
    struct cw_job_ranks job = {0};
    char missing[CW_JOB_RANKS_TEXT];
    bool incomplete = false;
    (void)chip;
    enum cw_status status = cw_file_may_replace(o->output, &cw_file_capture, o->force, err);
    if (status == CW_OK)
        status = cw_file_list_expand(&files, o->inputs, o->count, CW_EVAL_SUFFIX, arena, err);
    if (status == CW_OK)
        cw_file_list_tell(&files);
    if (status != CW_OK)
        return status;
    cw_progress_begin(cw_file_is_standard(o->output), false, "merging %zu captures", files.count);
    status = cw_lib_merge(o->output, (const char *const *)files.paths, files.count, &incomplete, &job, err);
    cw_progress_end();
    if (status == CW_OK && incomplete)
        cw_text_print(stderr, "metric-eval: %s: the capture is incomplete, as one that it is made of\n", o->output);
    cw_job_ranks_sort(&job);
    if (status == CW_OK && *cw_job_ranks_text(&job, missing))
        cw_text_print(stderr, "metric-eval: %s: %s\n", o->output, missing);
    cw_job_ranks_free(&job);
    return status;
}

int cw_eval_merge(int argc, char **argv)
{
    static const struct cw_usage usage = {
        option_list, "A.cwd|FOLDER|@LIST...",
        "Joins several captures into one, such as those of the processes of a parallel job. They have to be of one "
        "plan, of one kind of samples, or traces. One is open at a time, so there may be any number of them. Says which "
        "ranks of the job are missing.\v"
        "Example:\n  metric-eval merge run.*.cwd -o all.cwd\n  metric-eval merge ranks/ -o all.cwd"};
    struct merge_options options = {0};
    return cw_cli_run(&usage, argc, argv, &options, NULL, merge);
}
