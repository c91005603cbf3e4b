/* metric-eval index: makes --rank faster in folders of a job. */
#include <sys/stat.h>

#include "base/progress.h"
#include "cli/common/cli.h"
#include "cli/eval/session.h"
#include "image/rank_index.h"

static void check_options(void *line, struct argp_state *state)
{
    const struct cw_eval_line *o = line;
    struct stat st;
    if (!o->word_count)
        cw_usage_error(state, "found no folder, expected one at least");
    for (size_t i = 0; i < o->word_count; i++)
        if (stat(o->words[i], &st) == 0 && !S_ISDIR(st.st_mode))
            cw_usage_error(state, "found the file %s, expected a folder", o->words[i]);
}

static const struct cw_option option_list[] = {
    {"quiet", 'q', NULL, "no notices", CW_OPTION_FLAG(struct cw_eval_line, quiet)},
    {CW_OPTION_GROUP(struct cw_eval_line, force, cw_cli_force_options)},
    {CW_OPTION_WORDS(struct cw_eval_line, words, word_count)},
    {CW_OPTION_CHECK(check_options)},
    {0},
};

static enum cw_status make_all(struct cw_eval_session *s)
{
    enum cw_status status = CW_OK;
    for (size_t i = 0; i < s->o->word_count && status == CW_OK; i++) {
        cw_progress_begin(s->o->quiet, false, "reading %s", s->o->words[i]);
        status = cw_rank_files_index(s->o->words[i], s->o->force, s->o->quiet ? NULL : &s->notices, s->arena, s->err);
        cw_progress_end();
    }
    return status;
}

int cw_eval_index(int argc, char **argv)
{
    static const struct cw_usage usage = {
        option_list, "FOLDER...",
        "Writes FOLDER/" CW_RANK_INDEX_NAME
        ": an index of the ranks of a job in each file. With it, --rank reads only the files that it needs. An index "
        "is optional, and ignored if it is older than its folder or a file.\v"
        "Example:\n  $0 job/\n  counterworks job/ --rank 713 --kernel gemm -m dram__bytes.sum"};
    struct cw_eval_line line = {.run = make_all};
    return cw_eval_command(&usage, argc, argv, &line);
}
