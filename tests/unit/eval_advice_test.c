#include "tests/unit/eval_sample.h"

#include "eval/advice/advice.h"

TestSuite(eval_advice, .init = set_up, .fini = tear_down);

static struct cw_groups groups;
static struct cw_advice advice;

/* Two kernels: the first two ranges, and the third, on another device; each launch takes 20 us. */
static void advise(const char *text)
{
    const struct cw_rules *rules;
    cr_assert(cw_rules_parse(&rules, chip, text, strlen(text), "r.yaml", arena, &err) == CW_OK, "%s", err.message);
    cr_assert(cw_groups_make(&groups, CW_BY_KERNEL, &data, rules->chip, NULL, arena, &err) == CW_OK);
    cr_assert(cw_advise(&advice, rules, &groups, 0.05, arena, &err) == CW_OK, "%s", err.message);
}

static void long_enough(void)
{
    for (int i = 0; i < SAMPLE_RANGES; i++)
        set_value(TIME, i, 20000);
}

static const struct cw_advice_finding *finding(size_t kernel, size_t i)
{
    cr_assert(i < advice.kernels[kernel].finding_count, "%zu findings", advice.kernels[kernel].finding_count);
    return &advice.kernels[kernel].findings[i];
}

static double gain_of(const char *keys)
{
    char text[600];
    snprintf(text, sizeof text, "schema: 1\nrules:\n  r: {title: t, text: x, fix: f, %s}\n", keys);
    advise(text);
    return advice.kernels[0].finding_count ? advice.kernels[0].findings[0].gain : -1;
}

Test(eval_advice, by_gain_with_the_values_that_show_it)
{
    long_enough();
    advise("schema: 1\nrules:\n"
           "  small: {title: t, text: x, fix: f, when: 1, gain: 0.1}\n"
           "  tiny: {title: t, text: x, fix: f, when: 1, gain: 0.04}\n"
           "  large: {title: t, text: 'a {sm__inst.sum} b', fix: f, when: sm__inst.sum > 0, gain: 0.5,"
           " evidence: [sm__inst.sum, half], values: {half: sm__inst.sum / 2}}\n"
           "  none: {title: t, text: x, fix: f, when: 0, gain: 0.9}\n");
    cr_assert(advice.kernel_count == 2 && advice.kernels[0].finding_count == 2);
    cr_expect_str_eq(finding(0, 0)->rule->id, "large");
    cr_expect_str_eq(finding(0, 1)->rule->id, "small");
    cr_expect(finding(0, 0)->confidence == CW_CONFIDENCE_HIGH);
    cr_assert(finding(0, 0)->evidence_count == 2);
    cr_expect(finding(0, 0)->evidence[0].value == 1600 && finding(0, 0)->evidence[1].value == 800);
    cr_expect_str_eq(finding(0, 0)->evidence[0].unit, "instructions");
    cr_expect_str_eq(finding(0, 0)->evidence[1].unit, "");
    cr_expect(finding(0, 0)->values[0].value == 1600);
    cr_expect(advice.unchecked_count == 0 && advice.absent_count == 0);
}

Test(eval_advice, gains_stay_within_bounds)
{
    long_enough();
    cr_expect(gain_of("when: 1, gain: 0.8") == 0.8);
    cr_expect(gain_of("when: 1, gain: 7") == 1);
    cr_expect(gain_of("when: 1, gain: -1") == -1, "nothing to gain");
    cr_expect(gain_of("when: 1, gain: 0.8, bound: 0.75") == 0.25, "another roof leaves three quarters");
    cr_expect(gain_of("when: 1, gain: 0.1, bound: 0.75") == 0.1);
    cr_expect(gain_of("when: 1, gain: 0.8, bound: 1.2") == -1);
    cr_expect(gain_of("when: 1, gain: 0 / 0") == -1);
    cr_expect(gain_of("when: 0 / 0, gain: 1") == -1, "no number is not true");
    cr_expect(gain_of("when: 1, gain: 1, refuted_by: 1") == -1);
    cr_expect(gain_of("when: [1, 0], gain: 1") == -1 && gain_of("when: [1, 2], gain: 1") == 1);
    cr_expect(gain_of("when: 1, gain: 1, refuted_by: [0, 0]") == 1);
    cr_expect(gain_of("when: 1, gain: 1, refuted_by: [0, 1]") == -1);
}

Test(eval_advice, values_that_are_referred_to_often)
{
    char text[2000] = "schema: 1\nvalues:\n  v0: sm__inst.sum - 1599 + 0 + 0 + 0 + 0 + 0 + 0 + 0\n";
    for (int i = 1; i <= 10; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "  v%d: v%d + v%d\n", i, i - 1, i - 1);
    strcat(text, "rules:\n  r: {title: t, text: x, fix: f, when: v10 / v9 - v1, gain: v10 / 4096 + v8 / 1024}\n"
                 "  s: {title: t, text: x, fix: f, when: v10, gain: v10 / 4096 + v8 / 1024}\n");
    long_enough();
    advise(text);
    cr_assert(advice.kernels[0].finding_count == 1);
    cr_expect_str_eq(finding(0, 0)->rule->id, "s");
    cr_expect(finding(0, 0)->gain == 0.5);
}

/* All of 3300 instructions are more than 3200, which four instances can have in 200 active cycles. */
Test(eval_advice, what_is_implausible_leads_nothing)
{
    static const char text[] =
        "schema: 1\nrules:\n"
        "  small: {title: t, text: x, fix: f, when: 1, gain: 0.1}\n"
        "  large: {title: t, text: x, fix: f, when: 1, gain: sm__inst.sum.pct_of_peak_sustained_active / 110}\n"
        "  when: {title: t, text: x, fix: f, when: sm__inst.sum.pct_of_peak_sustained_active > 100, gain: 0.9}\n";
    long_enough();
    set_value(INST, 0, 3300);
    set_value(INST, 1, 3300);
    advise(text);
    cr_assert(advice.kernels[0].finding_count == 3);
    cr_expect_str_eq(finding(0, 0)->rule->id, "small");
    cr_expect_str_eq(finding(0, 1)->rule->id, "large");
    cr_expect_str_eq(finding(0, 2)->rule->id, "when");
    cr_expect(!finding(0, 0)->implausible && finding(0, 1)->implausible && finding(0, 2)->implausible);
    cr_expect(finding(0, 1)->confidence == CW_CONFIDENCE_LOW);
    cr_expect_str_eq(finding(0, 1)->doubt, "a share exceeds the whole, or a count is below 0");
    cr_expect_str_eq(cw_advice_first(&advice.kernels[0])->rule->id, "small");
    cr_expect_str_eq(cw_advice_first(&advice.kernels[1])->rule->id, "large");
    advise("schema: 1\nrules:\n  r: {title: t, text: x, fix: f, when: 1, "
           "gain: sm__inst.sum.pct_of_peak_sustained_active / 110}\n");
    cr_expect(cw_advice_first(&advice.kernels[0]) == NULL, "it is told, and leads no list");
    cr_expect(advice.kernels[0].finding_count == 1);
}

/* Of a launch of 20 us, 3 cannot be saved. */
Test(eval_advice, what_the_launch_alone_tells)
{
    long_enough();
    cr_expect(gain_of("when: sm__missing.sum > 0, gain: 1, uncounted: 0.4") == 0.4 * 17 / 20);
    cr_expect_str_eq(finding(0, 0)->doubt, "by the launch alone");
    cr_expect(finding(0, 0)->confidence == CW_CONFIDENCE_LOW && advice.unchecked_count == 0);
    cr_expect(gain_of("when: 1, gain: sm__missing.sum, uncounted: 0.4") > 0);
    cr_expect(gain_of("when: 1, gain: 1, bound: sm__missing.sum, uncounted: 0.4") > 0);
    cr_expect(gain_of("when: 1, gain: 0.7, uncounted: 0.4") == 0.7, "counters come first");
    cr_expect(gain_of("when: 0, gain: 0.7, uncounted: 0.4") == -1);
    cr_expect(gain_of("when: sm__missing.sum > 0, gain: 1, uncounted: 0") == -1 && advice.unchecked_count == 1);
    cr_expect(gain_of("when: sm__missing.sum > 0, gain: 1, uncounted: sm__missing.sum") == -1);
    for (int i = 0; i < SAMPLE_RANGES; i++)
        set_value(TIME, i, 2500);
    cr_expect(gain_of("when: sm__missing.sum > 0, gain: 1, uncounted: 0.4") == -1, "a launch takes that anyway");
}

Test(eval_advice, notes_stand_alone)
{
    long_enough();
    static const char text[] = "schema: 1\nrules:\n  n: {title: t, text: x, fix: f, when: 1, gain: 0, note: true}\n"
                               "  r: {title: t, text: x, fix: f, when: sm__inst.sum > 1600, gain: 0.5}\n";
    set_value(INST, 2, 3200);
    advise(text);
    cr_assert(advice.kernels[0].finding_count == 1 && advice.kernels[1].finding_count == 1);
    cr_expect_str_eq(finding(0, 0)->rule->id, "n");
    cr_expect_str_eq(finding(1, 0)->rule->id, "r");
}

Test(eval_advice, what_was_not_collected_is_not_checked)
{
    long_enough();
    static const char text[] = "schema: 1\nrules:\n"
                               "  everywhere: {title: t, text: x, fix: f, when: sm__missing.sum > 0, gain: 1}\n"
                               "  here: {title: t, text: x, fix: f, when: sm__hits.sum > 0, gain: 1}\n"
                               "  gain: {title: t, text: x, fix: f, when: sm__hits.sum >= 60, gain: sm__missing.sum}\n"
                               "  enough: {title: t, text: x, fix: f, when: sm__hits.sum < 0, gain: sm__missing.sum}\n"
                               "  never: {title: t, text: x, fix: f, when: sm__never.sum > 0, gain: 1}\n"
                               "tree:\n- {id: a, title: A, when: sm__missing.sum > 0}\n- {id: b, title: B}\n";
    set_form(HITS, 2, CW_FORM_NOT_COLLECTED);
    advise(text);
    cr_assert(advice.unchecked_count == 2 && advice.absent_count == 1);
    cr_expect_str_eq(advice.unchecked[0]->id, "everywhere");
    cr_expect_str_eq(advice.unchecked[1]->id, "gain");
    cr_expect_str_eq(advice.absent[0]->id, "never");
    cr_expect(advice.kernels[0].unchecked_count == 0 && advice.kernels[0].finding_count == 1);
    cr_assert(advice.kernels[1].unchecked_count == 2 && advice.kernels[1].finding_count == 0);
    cr_expect_str_eq(advice.kernels[1].unchecked[0]->id, "here");
    cr_expect_str_eq(advice.kernels[0].limiter, "b", "the first that is known");
    cr_expect(advice.kernels[0].confidence == CW_CONFIDENCE_MEDIUM && advice.limiters_unchecked);
}

Test(eval_advice, the_way_down_the_tree)
{
    long_enough();
    set_value(INST, 2, 3200);
    advise("schema: 1\ntree:\n"
           "- {id: a, title: A, when: sm__inst.sum > 1600, value: 0.75, then: [{id: x, title: X, when: 0}]}\n"
           "- {id: b, title: B, value: sm__hit_rate.ratio, then: [{id: y, title: Y, when: 0}, {id: z, title: Z}]}\n"
           "- {id: c, title: C}\n");
    cr_expect_str_eq(advice.kernels[0].limiter, "b > z");
    cr_assert(advice.kernels[0].step_count == 2);
    cr_expect(advice.kernels[0].steps[0].value == 0.75 && isnan(advice.kernels[0].steps[1].value));
    cr_expect_str_eq(advice.kernels[1].limiter, "a");
    cr_expect(advice.kernels[0].confidence == CW_CONFIDENCE_HIGH && !advice.limiters_unchecked);
    advise("schema: 1\ntree: [{id: a, title: A, when: 0}]\n");
    cr_expect_str_eq(advice.kernels[0].limiter, "");
    cr_expect(advice.kernels[0].step_count == 0);
}

static enum cw_confidence confidence_of(size_t kernel)
{
    advise("schema: 1\nrules:\n  r: {title: t, text: x, fix: f, when: sm__hits.sum > 0, gain: 0.5}\n"
           "tree: [{id: a, title: A, when: sm__hits.sum > 0}]\n");
    cr_expect(finding(kernel, 0)->confidence == advice.kernels[kernel].confidence);
    return finding(kernel, 0)->confidence;
}

Test(eval_advice, confidence_is_that_of_the_values)
{
    long_enough();
    cr_expect(confidence_of(0) == CW_CONFIDENCE_HIGH);
    set_form(HITS, 1, CW_FORM_OVERFLOW);
    cr_expect(confidence_of(0) == CW_CONFIDENCE_LOW && confidence_of(1) == CW_CONFIDENCE_HIGH);
    set_form(HITS, 1, CW_FORM_INCOMPLETE);
    cr_expect(confidence_of(0) == CW_CONFIDENCE_LOW);
    set_form(HITS, 1, CW_FORM_ROLLUPS);
    set_value(TIME, 0, 12000), set_value(TIME, 1, 30000);
    cr_expect(confidence_of(0) == CW_CONFIDENCE_LOW, "times vary by more than 30 %%");
    cr_expect_str_eq(advice.kernels[0].doubt, "launches vary by over 30 %");
    set_value(TIME, 0, 5000), set_value(TIME, 1, 5000);
    cr_expect(confidence_of(1) == CW_CONFIDENCE_LOW, "5 us; it is the second now");
}

Test(eval_advice, what_mixes_passes_lowers_it)
{
    long_enough();
    static const char format[] = "schema: 1\nrules:\n  r: {title: t, text: x, fix: f, when: 1, gain: %s}\n";
    char text[300];
    snprintf(text, sizeof text, format, "sm__hits.sum / sm__bytes.sum + 0.5");
    advise(text);
    cr_expect(finding(0, 0)->confidence == CW_CONFIDENCE_MEDIUM, "each of one pass, but not of the same");
    cr_expect_str_eq(finding(0, 0)->doubt, "mixed passes");
    advise("schema: 1\nrules:\n  r: {title: t, text: x, fix: f, when: 1, gain: 0.5, evidence: [sm__split.sum]}\n");
    cr_expect(finding(0, 0)->confidence == CW_CONFIDENCE_MEDIUM, "as the mark beside it says");
    advise("schema: 1\nrules:\n  r: {title: t, text: x, fix: f, when: sm__hits.sum, gain: 0.5}\n");
    cr_expect(finding(0, 0)->confidence == CW_CONFIDENCE_HIGH);
    cr_expect_str_eq(finding(0, 0)->doubt, "");
    snprintf(text, sizeof text, format, "sm__split.sum / sm__split.sum");
    advise(text);
    cr_expect(finding(0, 0)->confidence == CW_CONFIDENCE_MEDIUM);
}

/* ---- groups of kernels ------------------------------------------------------------------------------------------ */

static struct cw_advice_groups added;

static void advise_groups(enum cw_group_by by, const char *text)
{
    static struct cw_groups of;
    advise(text);
    cr_assert(cw_groups_make(&of, by, &data, chip, NULL, arena, &err) == CW_OK);
    cr_assert(cw_advise_groups(&added, &advice, &of, arena, &err) == CW_OK);
}

static const char over[] = "schema: 1\nrules:\n"
                           "  hits: {title: t, text: x, fix: f, when: sm__hits.sum >= 60, gain: 0.5}\n"
                           "  all: {title: t, text: x, fix: f, when: 1, gain: 0.2}\n"
                           "tree:\n- {id: a, title: A, when: sm__hits.sum >= 60}\n- {id: b, title: B}\n";

Test(eval_advice, gains_of_a_family_are_weighted_by_time)
{
    for (int i = 0; i < SAMPLE_RANGES; i++)
        sample_ranges[i].name = "void ns::sum<int>(int)", sample_ranges[i].device = 0;
    sample_ranges[2].grid[0] += 7;
    sample_ranges[2].name = "void ns::sum<float>(float)";
    set_value(TIME, 0, 20000), set_value(TIME, 1, 20000), set_value(TIME, 2, 60000);
    set_value(HITS, 0, 60), set_value(HITS, 1, 60), set_value(HITS, 2, 10);
    advise_groups(CW_BY_FAMILY, over);
    cr_assert(added.groups->count == 1 && advice.kernel_count == 2);
    const struct cw_advice_group *g = &added.items[0];
    cr_expect_str_eq(g->group->name, "sum");
    cr_expect(g->group->kernels == 1 && g->group->shapes == 2 && g->group->count == 3 && g->group->total == 100000);
    cr_expect_str_eq(g->limited_by->limiter, "b", "of 60 %% of the time");
    cr_expect(g->limited == 0.6, "%g", g->limited);
    cr_assert(g->part_count == 2);
    cr_expect_str_eq(g->parts[0].finding->rule->id, "all");
    cr_expect(fabs(g->parts[0].gain - 0.2) < 1e-12 && fabs(g->parts[1].gain - 0.5 * 0.4) < 1e-12);
    cr_expect(g->parts[0].kernel_count == 2 && g->parts[1].kernel_count == 1 && g->parts[1].share == 0.4);
    cr_expect(g->parts[1].kernel == &advice.kernels[1], "the only one that has it");
    cr_expect(g->parts[0].kernel == &advice.kernels[0], "the longer one");
}

Test(eval_advice, a_kernel_counts_where_its_launches_are)
{
    for (int i = 0; i < SAMPLE_RANGES; i++)
        sample_ranges[i].attributes = NULL, sample_ranges[i].attribute_count = 0;
    static const struct cw_pair forward = {"nvtx", "forward"}, backward = {"nvtx", "backward"};
    sample_ranges[0].attributes = &forward, sample_ranges[0].attribute_count = 1;
    sample_ranges[1].attributes = &backward, sample_ranges[1].attribute_count = 1;
    set_value(TIME, 0, 30000), set_value(TIME, 1, 10000), set_value(TIME, 2, 20000);
    advise_groups(CW_BY_NVTX, "schema: 1\nrules:\n"
                              "  all: {title: t, text: x, fix: f, when: 1, gain: 0.5}\n"
                              "  note: {title: t, text: x, fix: f, when: 1, gain: 0, note: true}\n");
    cr_assert(added.groups->count == 3 && advice.kernel_count == 2);
    for (uint32_t i = 0; i < 3; i++) {
        cr_assert(added.items[i].part_count == 1, "a note is not told beside what saves time");
        cr_expect(added.items[i].parts[0].gain == 0.5 && added.items[i].parts[0].kernel_count == 1);
        cr_expect(!added.items[i].limited_by);
    }
    static double none[SAMPLE_PASSES];
    for (int i = 0; i < SAMPLE_RANGES; i++) {
        set_form(TIME, i, CW_FORM_UNAVAILABLE);
        sample_ranges[i].durations = none;
    }
    advise_groups(CW_BY_NVTX, over);
    cr_expect(added.items[0].part_count == 0 && !added.items[0].limited_by, "times are not known");
}

/* ---- source lines ----------------------------------------------------------------------------------------------- */

#define ROW(of, path, number, why, count)                                                                              \
    {                                                                                                                  \
        .at = {.function = (of), .name = (of), .file = (path), .line = (number)}, .reason = (why), .samples = (count)  \
    }

Test(eval_advice, lines_are_those_of_the_stalls)
{
    static const struct cw_pc_row rows[] = {
        ROW("_Zk", "b.cu", 7, "smsp__pcsamp_warps_issue_stalled_wait", 10),
        ROW("_Zk", "a.cu", 3, "smsp__pcsamp_warps_issue_stalled_long_scoreboard", 30),
        ROW("_Zk", "a.cu", 3, "smsp__pcsamp_warps_issue_stalled_long_scoreboard_not_issued", 30),
        ROW("_Zk", "a.cu", 4, "smsp__pcsamp_warps_issue_stalled_long_scoreboard", 5),
        ROW("_Zk", "a.cu", 3, "smsp__pcsamp_warps_issue_stalled_long_scoreboard", 15),
        ROW("_Zk", "", 0, "smsp__pcsamp_warps_issue_stalled_long_scoreboard", 40),
        ROW("_Zother", "a.cu", 9, "smsp__pcsamp_warps_issue_stalled_long_scoreboard", 1000),
    };
    const struct cw_instructions samples = {.pc = rows, .pc_count = sizeof rows / sizeof *rows};
    long_enough();
    advise("schema: 1\nrules:\n"
           "  loads: {title: t, text: x, fix: f, when: 1, gain: 0.5, stalls: [long_scoreboard]}\n"
           "  any: {title: t, text: x, fix: f, when: 1, gain: 0.4}\n"
           "  other: {title: t, text: x, fix: f, when: 1, gain: 0.3, stalls: [barrier]}\n");
    cr_expect(finding(0, 0)->line_count == 0);
    cr_assert(cw_advice_add_lines(&advice, &samples, arena, &err) == CW_OK);
    cr_expect(advice.sampled == 2, "both kernels are of that function");
    const struct cw_advice_finding *f = finding(1, 0);
    cr_assert(f->line_count == 2, "%zu", f->line_count);
    cr_expect(strcmp(f->lines[0].file, "a.cu") == 0 && f->lines[0].line == 3 && f->lines[0].samples == 45);
    cr_expect(f->lines[0].share == 0.45, "%g", f->lines[0].share);
    cr_expect(f->lines[1].line == 4 && f->lines[1].samples == 5);
    cr_assert(finding(0, 1)->line_count == 3);
    cr_expect_str_eq(finding(0, 1)->lines[1].file, "b.cu");
    cr_expect(finding(0, 2)->line_count == 0);
}

Test(eval_advice, the_three_lines_with_most_samples)
{
    static struct cw_pc_row rows[5];
    static const uint64_t counts[] = {4, 1, 5, 2, 3};
    for (uint32_t i = 0; i < 5; i++)
        rows[i] = (struct cw_pc_row)ROW("_Zk", "a.cu", i, "wait", counts[i]);
    const struct cw_instructions samples = {.pc = rows, .pc_count = 5};
    long_enough();
    advise("schema: 1\nrules:\n  any: {title: t, text: x, fix: f, when: 1, gain: 0.4}\n");
    cr_assert(cw_advice_add_lines(&advice, &samples, arena, &err) == CW_OK);
    cr_assert(finding(0, 0)->line_count == 3);
    for (size_t i = 0; i < 3; i++)
        cr_expect(finding(0, 0)->lines[i].samples == 5 - i);
}
