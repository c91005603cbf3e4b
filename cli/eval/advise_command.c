/* metric-eval advise: limits of each kernel, and changes that help. */
#include <stdlib.h>
#include <string.h>

#include "cli/common/cli.h"
#include "cli/eval/session.h"

struct advise {
    struct cw_eval_line line; /* first member; cw_eval_command takes it */
    const char *samples;
};

static void read_gain(void *least, char *text, struct argp_state *state)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || strcmp(end, "%") != 0 || !(value >= 0 && value <= 100))
        cw_usage_error(state, "found --min-gain '%s', expected a percentage as in 5%%", text);
    *(double *)least = value / 100;
}

static const struct cw_option option_list[] = {
    {CW_OPTION_ROWS(cw_eval_format_options)},
    {CW_OPTION_ROWS(cw_eval_quiet_options)},
    {"with", 0, "HOT.cwd", "PC samples of the same program: findings name the source lines",
     CW_OPTION_TEXT(struct advise, samples)},
    {"by", 0, CW_EVAL_BY,
     "add up findings for each family of kernels with names that differ only in template arguments and sizes, NVTX "
     "range, device, rank or stream. range advises on each launch by itself, fold on multiplexed launches that are "
     "alike together",
     CW_OPTION_TAKE(cw_eval_take_by)},
    {"top", 0, "N", "show the N longest, or all (default: 10 as text, all as JSON)", CW_OPTION_OR_ALL,
     CW_OPTION_NUMBER(struct advise, line.request.top, 1, CW_VIEW_MOST_KERNELS)},
    {CW_OPTION_GROUP(struct advise, line, cw_eval_ranges_options)},
    {"min-gain", 0, "N%", "leave out findings that would save less of a kernel's time (default: 5%)",
     CW_OPTION_READ(struct advise, line.request.least_gain, read_gain)},
    {"rules", 0, "PATH", "rules of your own beside the shipped ones: a YAML file, or a folder of them",
     CW_OPTION_TEXT(struct advise, line.request.rules)},
    {"chip-file", 0, "FILE", "the chip's YAML file, instead of the shipped one", CW_OPTION_RARE,
     CW_OPTION_TEXT(struct advise, line.chip.file)},
    {CW_OPTION_GROUP(struct advise, line.chip, cw_cli_metrics_db_options)},
    {CW_OPTION_GROUP(struct advise, line, cw_eval_capture_options)},
    {0},
};

static enum cw_status advise(struct cw_eval_session *s)
{
    const struct advise *o = (const struct advise *)s->o;
    char *words[] = {(char *)(uintptr_t)o->samples};
    struct cw_eval_opened hot = {0};
    struct counterworks_view view = {0};
    CW_TRY(o->samples ? cw_eval_keep_captures(s, words, 1) : CW_OK);
    CW_TRY(cw_eval_open_main(s));
    enum cw_status status = o->samples ? cw_eval_open_capture(s, &hot, words, 1, false) : CW_OK;
    const struct cw_view_input in = cw_eval_input(s, &s->main, &s->request);
    if (status == CW_OK)
        status = cw_view_advise(&view, &in, hot.capture);
    if (status == CW_OK)
        status = cw_eval_print(s, &view);
    cw_view_free(&view);
    cw_eval_close(&hot);
    return status == CW_OK ? cw_file_flush(s->err) : status;
}

int cw_eval_advise(int argc, char **argv)
{
    static const struct cw_usage usage = {
        option_list, "RUN.cwd...",
        "Finds the limit of each kernel, and changes that help: findings by rules, each with the time that it would "
        "save and the numbers behind it. \"counterworks plan --for-advice\" plans the counters that the rules need.\v"
        "Example:\n  $0 run.cwd\n  $0 run.cwd --with hot.cwd --range gemm\n"
        "  $0 run.cwd --by family\n  $0 run.cwd --format json"};
    struct advise options = {
        .line = {.run = advise, .takes = CW_EVAL_PRINTED | CW_EVAL_CELLS, .request.least_gain = 0.05}};
    return cw_eval_command(&usage, argc, argv, &options.line);
}
