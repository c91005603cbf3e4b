/* metric-eval merge: several captures as one. */
#include "base/progress.h"
#include "cli/common/cli.h"
#include "cli/eval/session.h"

struct merge {
    struct cw_eval_line line; /* first member; cw_eval_command takes it */
    const char *output;
    bool redact;
};

static void check_options(void *merge, struct argp_state *state)
{
    const struct merge *o = merge;
    const size_t count = o->line.word_count;
    if (!o->output || !count)
        cw_usage_error(state, "found %s%s, expected captures and -o ALL.cwd", count ? "" : "no capture",
                       o->output ? ""
                       : count   ? "no -o"
                                 : " and no -o");
}

static const struct cw_option option_list[] = {
    {"output", 'o', "ALL.cwd", "the file for the joined capture; - is standard output",
     CW_OPTION_TEXT(struct merge, output)},
    {"redact", 0, NULL, "without hosts, programs, options, paths of files and code of kernels (show --provenance)",
     CW_OPTION_FLAG(struct merge, redact)},
    {CW_OPTION_GROUP(struct merge, line.force, cw_cli_force_options)},
    {CW_OPTION_GROUP(struct merge, line, cw_eval_quiet_options)},
    {CW_OPTION_WORDS(struct merge, line.words, line.word_count)},
    {CW_OPTION_CHECK(check_options)},
    {0},
};

static enum cw_status merge(struct cw_eval_session *s)
{
    const struct merge *o = (const struct merge *)s->o;
    CW_TRY(cw_eval_expand(s));
    CW_TRY(cw_eval_keep_inputs(s, o->output));
    CW_TRY(cw_file_may_replace(o->output, &cw_file_capture, o->line.force, s->err));
    cw_eval_tell(s);
    cw_progress_begin(cw_file_is_standard(o->output), false, "merging %zu capture%s", s->found.count,
                      s->found.count == 1 ? "" : "s");
    const enum cw_status status = cw_source_merge_files(o->output, &s->found, o->redact, &s->notices, s->err);
    cw_progress_end();
    return status;
}

int cw_eval_merge(int argc, char **argv)
{
    static const struct cw_usage usage = {
        option_list, "A.cwd|FOLDER|@LIST...",
        "Joins several captures into one, such as the captures of a parallel job's processes. They must be of one "
        "plan, of one kind of samples, or traces. Any number will do, as only one is open at a time. Lists the missing "
        "ranks of the job.\v"
        "Example:\n  $0 run.*.cwd -o all.cwd\n  $0 ranks/ -o all.cwd"};
    struct merge options = {.line.run = merge};
    return cw_eval_command(&usage, argc, argv, &options.line);
}
