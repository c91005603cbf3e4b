/* metric-eval gate: whether a run is worse than another, and what runs of one program differ by. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/common/cli.h"
#include "cli/eval/run.h"
#include "eval/compare/better.h"
#include "eval/output/gate_output.h"
#include "eval/status.h"

struct gate_options {
    struct cw_eval_request eval; /* metrics and chip, of all captures */
    struct cw_eval_sides sides;  /* to learn from: those of A */
    const char *rules, *output, *need;
    double need_part;
    bool learn, json;
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
    struct gate_options *o = options;
    if (o->learn && !o->sides.a_count) /* "--" alone ends the options */
        o->sides = (struct cw_eval_sides){.a = o->sides.b, .a_count = o->sides.b_count};
    const size_t a = o->sides.a_count, b = o->sides.b_count;
    if (o->need && !read_percent(o->need, &o->need_part))
        cw_usage_error(state, "found --need %s, expected a percentage above 0 and below 100, such as 5%%", o->need);
    if (o->learn && (a < 3 || b || !o->output || o->rules || o->json || o->need))
        cw_usage_error(state, "found %zu capture%s, expected --learn with at least 3 and -o gate.yaml", a + b,
                       a + b == 1 ? "" : "s");
    if (!o->learn && (!cw_eval_has_sides(&o->sides) || !o->rules || o->output))
        cw_usage_error(state, "found %zu capture%s%s, expected A.cwd B.cwd --rules gate.yaml, or A.cwd... -- B.cwd...",
                       a + b, a + b == 1 ? "" : "s", o->rules ? "" : " and no rules");
    if (!o->learn && (o->eval.all || o->eval.sources.count))
        cw_usage_error(state, "found metrics, expected those of the rules alone");
    if (o->eval.all && o->eval.sources.count)
        cw_usage_error(state, "found --all and other metrics, expected one of them");
}

static const struct cw_option option_list[] = {
    {"all", 0, NULL, "learn every metric whose counters the first capture holds",
     CW_OPTION_FLAG(struct gate_options, eval.all)},
    {"format", 0, "text|json", "how to print (default: text)", CW_OPTION_CHOICE(struct gate_options, json)},
    {"learn", 0, NULL, "write rules from runs of one program, at least 3, better 10 or more",
     CW_OPTION_FLAG(struct gate_options, learn)},
    {"need", 0, "PERCENT", "ambiguous where a slow-down of a kernel by so much, such as 5%, would not show",
     CW_OPTION_TEXT(struct gate_options, need)},
    {"output", 'o', "gate.yaml", "where to write the rules; - is standard output",
     CW_OPTION_TEXT(struct gate_options, output)},
    {"rules", 0, "gate.yaml", "how far values may be from each other", CW_OPTION_TEXT(struct gate_options, rules)},
    {CW_OPTION_GROUP(struct gate_options, eval.ranges, cw_eval_ranges_options)},
    {CW_OPTION_WORDS(struct gate_options, sides.a, sides.a_count)},
    {CW_OPTION_CHECK(check_options)},
    {CW_OPTION_GROUP(struct gate_options, eval.force, cw_cli_force_options)},
    {CW_OPTION_GROUP(struct gate_options, eval.sources, cw_metric_sources_options)},
    {CW_OPTION_GROUP(struct gate_options, eval, cw_eval_value_options)},
    {0},
};

/* ---- learning --------------------------------------------------------------------------------------------------- */

enum { TIME, LAUNCHES, FIRST_METRIC };

struct learning {
    const struct gate_options *o;
    struct cw_gate_runs runs;
    enum cw_metric_class *classes;
    double *values;
    struct cw_gate_time *times;
    struct cw_arena *arena;
    struct cw_error *err;
};

static enum cw_status make_room(struct learning *l, const struct cw_comparison *c)
{
    const struct cw_side *side = &c->a;
    struct cw_gate_runs *r = &l->runs;
    const char **names, **kernels;
    r->runs = (uint32_t)l->o->sides.a_count;
    r->kernel_count = side->groups.count;
    r->metric_count = FIRST_METRIC + side->means.metric_count;
    r->metrics = names = cw_arena_alloc(l->arena, r->metric_count, sizeof *names);
    r->kernels = kernels = cw_arena_alloc(l->arena, r->kernel_count, sizeof *kernels);
    r->classes = l->classes = cw_arena_alloc(l->arena, r->metric_count, sizeof *l->classes);
    r->values = l->values =
        cw_arena_alloc(l->arena, (size_t)r->metric_count * r->kernel_count, r->runs * sizeof *l->values);
    r->times = l->times = cw_arena_alloc(l->arena, r->kernel_count, r->runs * sizeof *l->times);
    if (!r->kernel_count)
        return cw_error_set(l->err, CW_ERR_INCOMPARABLE, "%s: found no range, expected launches to learn from",
                            l->o->sides.a[0]);
    if (!names || !kernels || !l->classes || !l->values || !l->times)
        return cw_error_nomem(l->err);
    names[TIME] = cw_gate_time;
    names[LAUNCHES] = cw_gate_launches;
    for (uint32_t i = FIRST_METRIC; i < r->metric_count; i++) { /* the comparison's live as long as its run */
        names[i] = cw_arena_strdup(l->arena, side->means.names[i - FIRST_METRIC]);
        l->classes[i] = c->classes[i - FIRST_METRIC];
    }
    for (uint32_t i = 0; i < r->metric_count; i++)
        if (!names[i])
            return cw_error_nomem(l->err);
    for (uint32_t k = 0; k < r->kernel_count; k++)
        if (!(kernels[k] = cw_group_label(&side->groups, k, 0, l->arena)))
            return cw_error_nomem(l->err);
    return CW_OK;
}

/* Sets the value of a metric in a kernel's group; an implausible one is as unknown as one that is missing. */
static enum cw_status take_metric(struct learning *l, uint32_t run, const struct cw_side *side, uint32_t metric,
                                  uint32_t from, double *to)
{
    const size_t at = (size_t)(metric - FIRST_METRIC) * side->means.row_count + from;
    const int status = side->means.statuses[at];
    if (cw_value_is_lost(status))
        return cw_error_set(l->err, CW_ERR_INCOMPARABLE, "%s: found %s of %.200s: %s, expected values to learn from",
                            l->o->sides.a[run], side->means.names[metric - FIRST_METRIC], side->groups.items[from].name,
                            cw_value_status_text((enum cw_value_status)status));
    *to = status == CW_VALUE_IMPLAUSIBLE || !isfinite(side->means.values[at]) ? NAN : side->means.values[at];
    return CW_OK;
}

/* The values of group `from` are those of kernel `to` in the run. */
static enum cw_status take_values(struct learning *l, uint32_t run, const struct cw_side *side,
                                  const struct cw_gate_time *times, uint32_t from, uint32_t to)
{
    const struct cw_gate_runs *r = &l->runs;
    const struct cw_group *group = &side->groups.items[from];
    enum cw_status status = CW_OK;
    if (cw_group_is_partly_timed(group))
        return cw_error_set(l->err, CW_ERR_INCOMPARABLE,
                            "%s: found no time of %" PRIu32 " of %" PRIu32
                            " launches of %.200s, expected all: its counter overflowed or is incomplete",
                            l->o->sides.a[run], group->count - group->timed, group->count, group->name);
    l->times[(size_t)to * r->runs + run] = times[from];
    for (uint32_t m = 0; m < r->metric_count && status == CW_OK; m++) {
        double *value = &l->values[((size_t)m * r->kernel_count + to) * r->runs + run];
        if (m == TIME)
            *value = group->timed ? group->mean : NAN;
        else if (m == LAUNCHES)
            *value = group->count;
        else
            status = take_metric(l, run, side, m, from, value);
    }
    return status;
}

static enum cw_status take_run(struct learning *l, uint32_t run, const struct cw_comparison *c, struct cw_arena *arena)
{
    const char *name = l->o->sides.a[run];
    struct cw_gate_time *times;
    enum cw_status status = cw_gate_times_make(&times, &c->b, arena, l->err);
    for (uint32_t i = 0; i < c->difference_count; i++)
        if (c->differences[i].other)
            return cw_error_set(l->err, CW_ERR_INCOMPARABLE, "%s: found %s as %s, expected %s as in %s", name,
                                c->differences[i].what, c->differences[i].b, c->differences[i].a, l->o->sides.a[0]);
    for (uint32_t i = 0; i < c->match_count && status == CW_OK; i++) {
        const struct cw_match *m = &c->matches[i];
        if (m->a == CW_NO_GROUP || m->b == CW_NO_GROUP || m->reshaped)
            return cw_error_set(l->err, CW_ERR_INCOMPARABLE,
                                "%s: found other kernels or shapes than in %s, such as %.200s: expected runs of one "
                                "program",
                                name, l->o->sides.a[0],
                                m->a == CW_NO_GROUP ? c->b.groups.items[m->b].name : c->a.groups.items[m->a].name);
        status = take_values(l, run, &c->b, times, m->b, m->a);
    }
    return status;
}

static enum cw_status learn_run(struct learning *l, uint32_t run, struct cw_eval_run *first)
{
    struct cw_arena *arena = cw_arena_create();
    struct cw_eval_request request = l->o->eval;
    struct cw_eval_run other = {0};
    struct cw_comparison c;
    enum cw_status status =
        arena ? cw_eval_open(&other, &request, &l->o->sides.a[run], 1, arena, l->err) : cw_error_nomem(l->err);
    if (status == CW_OK)
        status = cw_eval_keep_ranges(first, &other);
    if (status == CW_OK)
        status =
            cw_compare(&c, &first->result, &other.result, NULL, CW_BY_KERNEL, false, &l->o->eval.eval, arena, l->err);
    if (status == CW_OK && !run)
        status = make_room(l, &c);
    if (status == CW_OK)
        status = take_run(l, run, &c, arena);
    cw_eval_close(&other);
    cw_arena_destroy(arena);
    return status;
}

static ssize_t count_bytes(void *total, const char *data, size_t size)
{
    (void)data;
    *(uint64_t *)total += size;
    return (ssize_t)size;
}

/* Whether gate would read what is to be written. */
static enum cw_status check_size(const struct learning *l, const struct cw_gate_rules *rules)
{
    uint64_t size = 0;
    FILE *out = fopencookie(&size, "w", (cookie_io_functions_t){.write = count_bytes});
    enum cw_status status = out ? cw_gate_write(out, rules, l->err) : cw_error_nomem(l->err);
    if (out && fclose(out) != 0 && status == CW_OK)
        status = cw_error_nomem(l->err);
    if (status != CW_OK || size <= CW_GATE_RULES_MAX)
        return status;
    return cw_error_set(l->err, CW_ERR_USAGE,
                        "found rules of %" PRIu64 " MB for %" PRIu32 " metrics of %" PRIu32
                        " kernels, expected at most %d MB, which is what gate reads: name fewer metrics by -m or --set",
                        (size >> 20) + 1, rules->metric_count, l->runs.kernel_count, CW_GATE_RULES_MAX >> 20);
}

/* Of the plan's metrics those that tell of a change best, where it has any; or what the command line names. */
static enum cw_status select_metrics_to_learn(struct cw_eval_run *r)
{
    enum cw_metric_class *classes;
    size_t count = 0;
    if (r->o->all || r->o->sources.count)
        return cw_eval_select(r);
    const char **names = cw_arena_alloc(r->arena, r->info.metric_count, sizeof *names);
    enum cw_status status =
        names ? cw_metric_classes(&classes, r->info.metrics, r->info.metric_count, NULL, r->arena, r->err)
              : cw_error_nomem(r->err);
    for (size_t i = 0; status == CW_OK && i < r->info.metric_count; i++)
        if (classes[i] != CW_CLASS_OTHER)
            names[count++] = r->info.metrics[i];
    return status != CW_OK ? status : count ? cw_eval_select_names(r, names, count) : cw_eval_select(r);
}

static enum cw_status learn(const struct gate_options *o, struct cw_arena *arena, struct cw_error *err)
{
    struct learning l = {.o = o, .arena = arena, .err = err};
    struct cw_eval_request request = o->eval;
    struct cw_eval_run first = {0};
    struct cw_gate_rules rules = {0};
    struct cw_gate_summary summary;
    enum cw_status status = cw_eval_open(&first, &request, o->sides.a, 1, arena, err);
    if (status == CW_OK)
        status = select_metrics_to_learn(&first);
    for (uint32_t i = 0; i < o->sides.a_count && status == CW_OK; i++)
        status = learn_run(&l, i, &first);
    if (status == CW_OK) {
        const struct cw_counter_data *d = first.result.data;
        const char *name = d->device_count ? cw_device_attribute(&d->devices[0], "name") : NULL;
        rules.chip = d->schema.chip;
        rules.device = name ? name : "";
        status = cw_gate_learn(&rules, &summary, &l.runs, arena, err);
    }
    if (status == CW_OK)
        status = check_size(&l, &rules);
    if (status == CW_OK)
        status = cw_file_print(o->output, cw_gate_write, &rules, err);
    if (status == CW_OK && !cw_file_is_standard(o->output))
        cw_gate_print_summary(stdout, &(struct cw_gate_learned){o->output, &l.runs, &summary});
    cw_eval_close(&first);
    return status;
}

/* ---- judging ---------------------------------------------------------------------------------------------------- */

static enum cw_status load_rules(struct cw_gate_rules *rules, const char *path, struct cw_bytes *file,
                                 struct cw_arena *arena, struct cw_error *err)
{
    enum cw_status status = cw_file_read(file, path, CW_GATE_RULES_MAX, err);
    return status == CW_OK ? cw_gate_parse(rules, file->data, file->size, path, arena, err) : status;
}

static enum cw_status select_metrics(struct cw_eval_run *r, const struct cw_gate_rules *rules)
{
    const char **names = cw_arena_alloc(r->arena, rules->metric_count + (size_t)1, sizeof *names);
    size_t count = 0;
    if (!names)
        return cw_error_nomem(r->err);
    for (uint32_t i = 0; i < rules->metric_count; i++)
        if (strcmp(rules->metrics[i].name, cw_gate_time) != 0 && strcmp(rules->metrics[i].name, cw_gate_launches) != 0)
            names[count++] = rules->metrics[i].name;
    return cw_eval_select_names(r, names, count);
}

static enum cw_status tell(const struct gate_options *o, const struct cw_gate_output *output, struct cw_error *err)
{
    static const enum cw_status codes[CW_VERDICT__COUNT] = {
        [CW_AMBIGUOUS] = CW_ERR_AMBIGUOUS, [CW_WORSE] = CW_ERR_DIFFERS, [CW_INCOMPARABLE] = CW_ERR_INCOMPARABLE};
    const enum cw_verdict verdict = output->judgement->verdict;
    enum cw_status status = (o->json ? cw_gate_write_json : cw_gate_print)(stdout, output, err);
    if (status != CW_OK || codes[verdict] == CW_OK)
        return status;
    if (verdict == CW_AMBIGUOUS && output->judgement->needed)
        return cw_error_set(err, codes[verdict], "%s and %s: found too little to show slow-downs of %s", o->sides.a[0],
                            o->sides.b[0], o->need);
    return cw_error_set(err, codes[verdict], "%s and %s are %s%s", o->sides.a[0], o->sides.b[0],
                        verdict == CW_INCOMPARABLE ? "" : "not the same: the second is ", cw_verdict_names[verdict]);
}

static enum cw_status judge(const struct gate_options *o, const struct cw_gate_rules *rules, struct cw_arena *arena,
                            struct cw_error *err)
{
    struct cw_eval_request requests[2] = {o->eval, o->eval};
    struct cw_eval_run a = {0}, b = {0};
    const uint32_t runs[2] = {(uint32_t)o->sides.a_count, (uint32_t)o->sides.b_count};
    struct cw_comparison c;
    struct cw_judgement judgement;
    enum cw_status status = cw_eval_open(&a, &requests[0], o->sides.a, o->sides.a_count, arena, err);
    if (status == CW_OK)
        status = cw_eval_open(&b, &requests[1], o->sides.b, o->sides.b_count, arena, err);
    if (status == CW_OK)
        status = select_metrics(&a, rules);
    if (status == CW_OK)
        status = cw_eval_keep_ranges(&a, &b);
    if (status == CW_OK)
        status = cw_compare(&c, &a.result, &b.result, runs, CW_BY_KERNEL, false, &o->eval.eval, arena, err);
    if (status == CW_OK)
        status = cw_gate_judge(&judgement, rules, &c, o->need_part, arena, err);
    if (status == CW_OK)
        status = tell(o, &(struct cw_gate_output){rules, &c, &judgement, o->need_part}, err);
    cw_eval_close(&a);
    cw_eval_close(&b);
    return status;
}

static enum cw_status gate(const void *options, struct counterworks_chip *chip, struct cw_arena *arena,
                           struct cw_error *err)
{
    static const struct cw_file_kind rules_kind = {"rules for gate", false, {"# How far two runs", NULL}};
    const struct gate_options *o = options;
    struct cw_gate_rules rules;
    struct cw_bytes file = {0};
    (void)chip;
    if (o->learn) {
        for (size_t i = 0; i < o->sides.a_count; i++)
            if (cw_file_is_same(o->sides.a[i], o->output) && !cw_file_is_standard(o->output))
                return cw_error_set(err, CW_ERR_USAGE, "found %s as capture and output, expected another file for each",
                                    o->output);
        enum cw_status status = cw_file_may_replace(o->output, &rules_kind, o->eval.force, err);
        return status == CW_OK ? learn(o, arena, err) : status;
    }
    enum cw_status status = load_rules(&rules, o->rules, &file, arena, err);
    if (status == CW_OK)
        status = judge(o, &rules, arena, err);
    cw_bytes_free(&file);
    return status;
}

int cw_eval_gate(int argc, char **argv)
{
    static const struct cw_usage usage = {
        option_list,
        "A.cwd B.cwd --rules gate.yaml\nA.cwd... --rules gate.yaml -- B.cwd...\n--learn RUN.cwd... -o gate.yaml",
        "Judges whether B is worse than A: same, better, worse, ambiguous or incomparable. Counts such as instructions "
        "have to be equal, other values may differ by as much as runs of one program do, which --learn finds out. The "
        "mean of several runs of A and of B differs less. "
        "Exits with 0 for same and better, 9 for worse, 10 for ambiguous and 11 for incomparable.\v"
        "Example:\n  metric-eval gate --learn null1.cwd null2.cwd null3.cwd -o gate.yaml\n"
        "  metric-eval gate before.cwd after.cwd --rules gate.yaml\n"
        "  metric-eval gate before*.cwd --rules gate.yaml -- after*.cwd"};
    struct gate_options options = {.eval.by_block = true};
    argc = cw_eval_split_sides(&options.sides, argc, argv);
    return cw_cli_run(&usage, argc, argv, &options, NULL, gate);
}
