/* Options that the commands of metric-eval share. */
#include <stdlib.h>
#include <string.h>

#include "cli/common/cli.h"
#include "cli/eval/session.h"
#include "image/rank_index.h"

static double duration(const char *text, const char *option, const struct argp_state *state)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value > 0 && value < 1e300))
        cw_usage_error(state, "found %s '%s', expected a number of nanoseconds above 0", option, text);
    return value;
}

static void read_frame(void *ns, char *text, struct argp_state *state)
{
    *(double *)ns = duration(text, "--frame-ns", state);
}

static void read_region(void *ns, char *text, struct argp_state *state)
{
    *(double *)ns = duration(text, "--region-ns", state);
}

const struct cw_option cw_eval_value_options[] = {
    {"frame-ns", 0, "N", "duration of your frame in nanoseconds, for the frame sub-metrics", CW_OPTION_RARE,
     CW_OPTION_READ(struct cw_eval_line, request.frame_ns, read_frame)},
    {"region-ns", 0, "N", "duration of your region in nanoseconds, for the region sub-metrics", CW_OPTION_RARE,
     CW_OPTION_READ(struct cw_eval_line, request.region_ns, read_region)},
    {"chip-file", 0, "FILE", "the chip's YAML file, instead of the shipped one", CW_OPTION_RARE,
     CW_OPTION_TEXT(struct cw_eval_line, chip.file)},
    {CW_OPTION_GROUP(struct cw_eval_line, chip, cw_cli_metrics_db_options)},
    {0},
};

void cw_eval_check_every(const struct cw_eval_line *o, const struct argp_state *state)
{
    if (o->request.every && o->sources.count)
        cw_usage_error(state, "found --all and other metrics, expected one of them");
}

static void check_capture(void *line, struct argp_state *state)
{
    if (!((const struct cw_eval_line *)line)->word_count)
        cw_usage_error(state, "no capture: give a .cwd file, or - for standard input");
}

const struct cw_option cw_eval_capture_options[] = {
    {CW_OPTION_WORDS(struct cw_eval_line, words, word_count)},
    {CW_OPTION_CHECK(check_capture)},
    {0},
};

const struct cw_option cw_eval_quiet_options[] = {
    {"quiet", 'q', NULL, "only the data: no summary, no notices", CW_OPTION_FLAG(struct cw_eval_line, quiet)},
    {0},
};

/* ---- which ranges ----------------------------------------------------------------------------------------------- */

static void read_ranks(void *ranks, char *text, struct argp_state *state)
{
    if (!cw_rank_list_is(text))
        cw_usage_error(state, "found --rank '%s', expected numbers, as in 0-7,12", text);
    *(const char **)ranks = text;
}

static bool has_empty(const struct cw_eval_list *list)
{
    bool found = false;
    for (size_t i = 0; i < list->count; i++)
        found = found || !*list->items[i];
    return found;
}

/* An empty text, as from an unset variable of the shell, would match every name. */
static void check_names(void *line, struct argp_state *state)
{
    struct cw_eval_line *o = line;
    const bool kernel = has_empty(&o->kernels), excluded = has_empty(&o->excluded);
    if (kernel || excluded || (o->request.ranges && !*o->request.ranges))
        cw_usage_error(state, "found --%s '', expected a name", kernel ? "kernel" : excluded ? "exclude" : "range");
    o->request.kernels = (struct counterworks_names){o->kernels.count, o->kernels.items};
    o->request.excluded = (struct counterworks_names){o->excluded.count, o->excluded.items};
}

const struct cw_option cw_eval_ranges_options[] = {
    {"rank", 0, "RANKS", "only launches of some ranks of a parallel job, by number, as in 0-7,12",
     CW_OPTION_READ(struct cw_eval_line, request.ranks, read_ranks)},
    {"range", 0, "RANGE",
     "only some ranges: by numbers, as in 0-9,12 or #3, or by a whole name or the name in a table, else by a part of "
     "names, else by a regular expression. NVTX ranges stand for everything inside them; of launches, their paths as "
     "a table by nvtx shows them are names, too",
     CW_OPTION_TEXT(struct cw_eval_line, request.ranges)},
    {"kernel", 0, "NAME", "only launches of kernels of this name, in any form of --range; may be repeated",
     CW_OPTION_LIST(struct cw_eval_line, kernels.items, kernels.count)},
    {"exclude", 0, "NAME", "no launches of kernels of this name, in any form of --kernel; may be repeated",
     CW_OPTION_LIST(struct cw_eval_line, excluded.items, excluded.count)},
    {CW_OPTION_CHECK(check_names)},
    {0},
};

/* ---- rows ------------------------------------------------------------------------------------------------------- */

static bool is_among(const char *words, const char *text)
{
    const size_t length = strlen(text);
    for (const char *at = words; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
        if (strncmp(at, text, length) == 0 && (at[length] == '|' || !at[length]))
            return true;
    return false;
}

#define BY_WORDS "kernel, family, range, fold, nvtx, device, rank or stream"

void cw_eval_take_by(void *line, char *text, struct argp_state *state)
{
    if (!is_among(CW_EVAL_BY, text))
        cw_usage_error(state, "found --by '%s', expected " BY_WORDS, text);
    ((struct cw_eval_line *)line)->request.by = text;
}

void cw_eval_take_any_by(void *line, char *text, struct argp_state *state)
{
    if (!is_among(CW_EVAL_BY_ALL, text))
        cw_usage_error(state,
                       "found --by '%s', expected " BY_WORDS "; of a trace also process, copy, call, graph or "
                       "nvtx-each; of PC samples legacy-reason",
                       text);
    ((struct cw_eval_line *)line)->request.by = text;
}

static void check_rows(void *line, struct argp_state *state)
{
    struct cw_eval_line *o = line;
    (void)state;
    o->request.filters = (struct counterworks_names){o->filters.count, o->filters.items};
}

const struct cw_option cw_eval_row_options[] = {
    {"sort", 0, "COLUMN",
     "order the rows by launches, total, share, mean, median, least, greatest, deviation, spread, name or a metric, "
     "the "
     "greatest first; for a trace also by bytes, failed, self, ranges, wall, fastest, slowest or nodes, if its rows "
     "have "
     "them; "
     "COLUMN:asc is the other way round",
     CW_OPTION_TEXT(struct cw_eval_line, request.sort)},
    {"filter", 0, "FORMULA",
     "only rows for which this is true, as in 'dram__bytes.sum > 1e6', 'share > 0.05' or, by stream or range, 'stream "
     "== 7'; may be repeated",
     .called = "filters", CW_OPTION_LIST(struct cw_eval_line, filters.items, filters.count)},
    {"top", 0, "N",
     "the first N rows, or all (default of the table: 30); for PC samples and SASS metrics, the N hottest lines, "
     "functions and "
     "instructions (default: 10)",
     CW_OPTION_OR_ALL, CW_OPTION_NUMBER(struct cw_eval_line, request.top, 1, UINT32_MAX)},
    {CW_OPTION_CHECK(check_rows)},
    {0},
};

const char *cw_eval_option_of_rows(const struct cw_eval_line *o)
{
    return o->request.by ? "--by" : o->filters.count ? "--filter" : o->request.sort ? "--sort" : NULL;
}

const char *cw_eval_option_of_ranges(const struct cw_eval_line *o)
{
    const struct counterworks_request *r = &o->request;
    return r->ranks            ? "--rank"
           : r->ranges         ? "--range"
           : o->kernels.count  ? "--kernel"
           : o->excluded.count ? "--exclude"
                               : NULL;
}

/* ---- two sides -------------------------------------------------------------------------------------------------- */

int cw_eval_split_sides(struct cw_eval_sides *sides, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--") == 0) {
            sides->b = argv + i + 1;
            sides->b_count = (size_t)(argc - i - 1);
            argv[i] = NULL;
            return i;
        }
    return argc;
}

bool cw_eval_has_sides(struct cw_eval_sides *sides)
{
    const size_t all = sides->a_count + sides->b_count;
    char *const *first = sides->a_count ? sides->a : sides->b;
    if (all == 2 && !(sides->a_count && sides->b_count)) /* here "--" only ends the options */
        *sides = (struct cw_eval_sides){first, first + 1, 1, 1};
    return sides->a_count && sides->b_count;
}
