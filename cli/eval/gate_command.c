/* metric-eval gate: judges whether a run is worse than another; learns rules from runs of one program. */
#include <stdlib.h>
#include <string.h>

#include "cli/common/cli.h"
#include "cli/eval/session.h"

struct gate {
    struct cw_eval_line line;   /* first member; metrics and chip serve all captures */
    struct cw_eval_sides sides; /* captures to learn from are on side A */
    const char *rules, *output, *need;
    double need_part;
    bool learn;
};

/* "5%", or the number alone. */
static bool read_percent(const char *text, double *part)
{
    char *end;
    const double percent = strtod(text, &end);
    end += strspn(end, " ");
    end += *end == '%';
    *part = percent / 100;
    return end != text && !*end && percent > 0 && percent < 100;
}

static void check_options(void *options, struct argp_state *state)
{
    struct gate *o = options;
    if (o->learn && !o->sides.a_count) /* here "--" only ends the options */
        o->sides = (struct cw_eval_sides){.a = o->sides.b, .a_count = o->sides.b_count};
    const size_t a = o->sides.a_count, b = o->sides.b_count;
    if (o->need && !read_percent(o->need, &o->need_part))
        cw_usage_error(state, "found --need %s, expected a percentage above 0 and below 100, such as 5%%", o->need);
    if (o->learn) { /* then -o has the rules */
        o->output = o->line.outputs.count == 1 ? *o->line.outputs.items : NULL;
        o->line.takes = 0;
    }
    if (o->learn && (a < 3 || b || !o->output || o->rules || o->line.format || o->need))
        cw_usage_error(state, "found %zu capture%s, expected --learn with at least 3 and -o gate.yaml", a + b,
                       a + b == 1 ? "" : "s");
    if (!o->learn && (!cw_eval_has_sides(&o->sides) || !o->rules))
        cw_usage_error(state, "found %zu capture%s%s, expected A.cwd B.cwd or A.cwd... -- B.cwd... with --rules FILE",
                       a + b, a + b == 1 ? "" : "s", o->rules ? "" : " and no rules");
    if (!o->learn && (o->line.request.every || o->line.sources.count))
        cw_usage_error(state, "found metrics, expected none: the rules name them");
    cw_eval_check_every(&o->line, state);
}

static const struct cw_option option_list[] = {
    {"all", 0, NULL, "learn every metric whose counters the first capture holds",
     CW_OPTION_FLAG(struct gate, line.request.every)},
    {CW_OPTION_GROUP(struct gate, line, cw_eval_format_options)},
    {"quiet", 'q', NULL, "print nothing: the exit status is the verdict; files are written",
     CW_OPTION_FLAG(struct gate, line.quiet)},
    {"learn", 0, NULL, "write rules from runs of one program, at least 3, better 10 or more",
     CW_OPTION_FLAG(struct gate, learn)},
    {"need", 0, "PERCENT",
     "the verdict is ambiguous if a slow-down of a kernel by so much, such as 5%, could not be seen",
     CW_OPTION_TEXT(struct gate, need)},
    {"rules", 0, "gate.yaml", "the allowed distances between values", CW_OPTION_TEXT(struct gate, rules)},
    {CW_OPTION_GROUP(struct gate, line, cw_eval_ranges_options)},
    {CW_OPTION_WORDS(struct gate, sides.a, sides.a_count)},
    {CW_OPTION_CHECK(check_options)},
    {CW_OPTION_GROUP(struct gate, line.sources, cw_metric_sources_options)},
    {CW_OPTION_GROUP(struct gate, line, cw_eval_value_options)},
    {0},
};

static enum cw_status learn_run(struct cw_eval_session *s, struct cw_view_learning *learning, uint32_t run)
{
    const struct gate *o = (const struct gate *)s->o;
    struct cw_eval_opened other = {0};
    if (!run)
        return cw_view_learn_add(learning, run, o->sides.a[0], s->main.capture, s->main.chip);
    enum cw_status status = cw_eval_open(s, &other, &o->sides.a[run], 1);
    if (status == CW_OK)
        status = cw_view_learn_add(learning, run, o->sides.a[run], other.capture, other.chip);
    cw_eval_close(&other);
    return status;
}

static enum cw_status learn(struct cw_eval_session *s)
{
    static const struct cw_file_kind kind = {"rules for gate", false, {"# How far two runs", NULL}};
    const struct gate *o = (const struct gate *)s->o;
    struct cw_view_learning *learning = NULL;
    struct counterworks_view view = {0};
    CW_TRY(cw_eval_keep_captures(s, o->sides.a, o->sides.a_count));
    CW_TRY(cw_eval_keep_inputs(s, o->output));
    CW_TRY(cw_file_may_replace(o->output, &kind, o->line.force, s->err));
    CW_TRY(cw_eval_open(s, &s->main, o->sides.a, 1));
    CW_TRY(cw_eval_gather(s, s->main.chip));
    const struct cw_view_input in = cw_eval_input(s, &s->main, &s->request);
    CW_TRY(cw_view_learn_begin(&learning, &in, (uint32_t)o->sides.a_count));
    for (uint32_t i = 0; i < o->sides.a_count; i++)
        CW_TRY(learn_run(s, learning, i));
    CW_TRY(cw_view_learn_finish(&view, learning, o->output));
    CW_TRY(cw_eval_write_to(s, &view, CW_VIEW_YAML, o->output));
    CW_TRY(cw_new_files_close(&s->files, true, s->err));
    return !cw_file_is_standard(o->output) && !o->line.quiet ? cw_eval_print(s, &view) : CW_OK;
}

static enum cw_status judge(struct cw_eval_session *s)
{
    const struct gate *o = (const struct gate *)s->o;
    struct cw_eval_opened second = {0};
    struct counterworks_view view = {0};
    struct counterworks_side sides[2];
    CW_TRY(cw_eval_keep(s, o->rules, "rules"));
    enum cw_status status = cw_eval_open_sides(s, &o->sides, &second, sides);
    const struct cw_view_input in = cw_eval_input(s, &s->main, &s->request);
    if (status == CW_OK)
        status = cw_view_gate(&view, &in, &sides[0], &sides[1], o->rules, o->need_part);
    if (status == CW_OK && !(o->line.quiet && !o->line.outputs.count && !o->line.format))
        status = cw_eval_print(s, &view);
    if (status == CW_OK) /* whatever the verdict */
        status = cw_new_files_close(&s->files, true, s->err);
    if (status == CW_OK && view.verdict.code != CW_OK) {
        if (!o->line.quiet)
            *s->err = view.verdict;
        status = view.verdict.code;
    }
    cw_view_free(&view);
    cw_eval_close(&second);
    return status;
}

static enum cw_status gate(struct cw_eval_session *s)
{
    return ((const struct gate *)s->o)->learn ? learn(s) : judge(s);
}

int cw_eval_gate(int argc, char **argv)
{
    static const struct cw_usage usage = {
        option_list,
        "A.cwd B.cwd --rules gate.yaml\nA.cwd... --rules gate.yaml -- B.cwd...\n--learn RUN.cwd... -o gate.yaml",
        "Judges whether B is worse than A: same, better, worse, ambiguous or incomparable. Counts such as instructions "
        "must be equal. Other values may differ as much as between runs of one program, which --learn measures. Means "
        "of several runs differ less. "
        "Exits with 0 for same and better, 9 for worse, 10 for ambiguous and 11 for incomparable.\v"
        "Example:\n  $0 --learn null1.cwd null2.cwd null3.cwd -o gate.yaml\n"
        "  $0 before.cwd after.cwd --rules gate.yaml\n"
        "  $0 before*.cwd --rules gate.yaml -- after*.cwd"};
    struct gate options = {.line = {.run = gate, .takes = CW_EVAL_PRINTED | CW_EVAL_CELLS}};
    argc = cw_eval_split_sides(&options.sides, argc, argv);
    return cw_eval_command(&usage, argc, argv, &options.line);
}
