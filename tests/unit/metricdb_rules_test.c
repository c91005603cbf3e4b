#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "metricdb/chip_load.h"
#include "metricdb/formula.h"
#include "metricdb/rules.h"
#include "tests/support/alloc_fail.h"
#include "tests/support/small_chip.h"

static struct cw_arena *arena;
static const struct cw_chip *chip;
static const struct cw_rules *rules;
static struct cw_error err;

static void setup(void)
{
    err = (struct cw_error)CW_ERROR_INIT;
    arena = cw_arena_create();
    cr_assert_eq(cw_chip_parse(&chip, cw_small_chip, strlen(cw_small_chip), "tiny", arena, NULL), CW_OK);
}

static void teardown(void)
{
    cw_arena_destroy(arena);
}

TestSuite(rules, .init = setup, .fini = teardown);

static enum cw_status load(const char *text)
{
    return cw_rules_parse(&rules, chip, text, strlen(text), "r.yaml", arena, &err);
}

/* One rule of its own with more keys, which begin with two blanks more than the rule. */
#define RULE(more)                                                                                                     \
    "schema: 1\nrules:\n  idle:\n    title: Nothing happens\n    text: Nothing.\n    fix: Do more.\n" more

static void refused(const char *text, unsigned line, unsigned column, const char *message)
{
    err = (struct cw_error)CW_ERROR_INIT;
    cr_expect_eq(load(text), CW_ERR_INPUT, "%s", text);
    cr_expect(err.line == line && err.column == column, "%u:%u: %s", err.line, err.column, err.message);
    cr_expect(strstr(err.message, message), "%s", err.message);
}

static const char *formula_text(uint32_t formula)
{
    return rules->chip->formulas->items[formula].name;
}

Test(rules, formulas_are_metrics_of_the_chip)
{
    static const char text[] =
        RULE("    values: {busy: sm__cycles_active.sum / elapsed}\n    when: busy < 0.5\n    gain: 1 - busy\n"
             "values: {elapsed: sm__cycles_elapsed.sum}\n");
    cr_assert_eq(load(text), CW_OK, "%s", err.message);
    cr_assert(rules->rule_count == 1 && !rules->rules[0].lacks && !rules->missing_count);
    const struct cw_rule *rule = &rules->rules[0];
    cr_expect_str_eq(formula_text(rule->when), "rule.idle.when");
    cr_expect_str_eq(rules->chip->formulas->items[rule->when].text, "if(busy < 0.5, 1, 0)");
    cr_expect(rule->bound == CW_NONE && rule->refuted_by == CW_NONE);
    struct cw_metric metric;
    cr_expect_eq(cw_metric_parse(&metric, rules->chip, "value.elapsed", NULL), CW_OK);
    cr_expect_eq(cw_metric_parse(&metric, rules->chip, "rule.idle.busy", NULL), CW_OK);
    cr_expect_eq(rules->chip->formulas->items[rule->gain].metric_count, 2);
    cr_expect(chip->formulas == NULL, "the chip itself is as it was");
}

Test(rules, a_value_of_the_rule_comes_before_one_of_all)
{
    cr_assert_eq(load(RULE("    values: {v: 2}\n    when: v\n    gain: v\nvalues: {v: 1}\n")), CW_OK, "%s",
                 err.message);
    cr_expect_str_eq(formula_text(rules->chip->formulas->items[rules->rules[0].gain].formulas.items[0]), "rule.idle.v");
}

Test(rules, lists_of_conditions)
{
    cr_assert_eq(load(RULE("    when: [sm__cycles_active.sum > 1, duration]\n    gain: 1\n"
                           "    refuted_by: [1 < 2, 3 > 4]\n    note: true\n")),
                 CW_OK, "%s", err.message);
    const struct cw_formula *all = rules->chip->formulas->items;
    cr_expect_str_eq(all[rules->rules[0].when].text, "when.1 * when.2");
    cr_expect_str_eq(all[rules->rules[0].refuted_by].text, "max(refuted_by.1, refuted_by.2)");
    cr_expect(rules->rules[0].note);
    refused(RULE("    when: []\n    gain: 1\n"), 7, 11, "found 0 conditions");
}

Test(rules, what_the_chip_lacks_is_no_error)
{
    cr_assert_eq(load(RULE("    when: 1\n    gain: loss\nvalues:\n  loss: sm__cycles_idle.sum * 2\n"
                           "  one: [sm__cycles_idle.sum, sm__cycles_active.sum]\n")),
                 CW_OK, "%s", err.message);
    cr_expect_str_eq(rules->rules[0].lacks, "sm__cycles_idle.sum");
    cr_expect_eq(rules->rules[0].gain, CW_NONE);
    cr_assert_eq(rules->missing_count, 2, "each place where it stands");
    cr_expect_str_eq(rules->missing[0].name, "sm__cycles_idle.sum");
    cr_expect(rules->missing[0].line == 10 && rules->missing[0].column == 9 && rules->missing[1].line == 11 &&
              rules->missing[1].column == 9);
    cr_expect_eq(cw_formulas_find(rules->chip, "value.loss"), CW_NONE);
    cr_expect_neq(cw_formulas_find(rules->chip, "value.one"), CW_NONE, "the second alternative");
}

Test(rules, a_metric_in_a_text_is_needed_and_in_evidence_is_not)
{
    cr_assert_eq(load("schema: 1\nrules:\n"
                      "  a: {title: t, text: 'Are {sm__idle.sum}', fix: f, when: 1, gain: 1}\n"
                      "  b: {title: t, text: 'Are {x:%} of', fix: f, when: 1, gain: 1, values: {x: 0.5}, evidence: "
                      "[sm__idle.sum, x, [sm__idle.sum, 'sm__cycles_active.sum:x']]}\n"),
                 CW_OK, "%s", err.message);
    cr_expect_str_eq(rules->rules[0].lacks, "sm__idle.sum");
    const struct cw_rule *b = &rules->rules[1];
    cr_expect(!b->lacks && b->evidence_count == 2);
    cr_expect(strcmp(b->evidence[0].name, "x") == 0 && b->evidence[0].form == CW_RULE_PERCENT, "as in the text");
    cr_expect(strcmp(b->evidence[1].name, "sm__cycles_active.sum") == 0 && b->evidence[1].form == CW_RULE_TIMES);
    cr_expect_str_eq(b->pieces[0].before, "Are ");
    cr_expect_str_eq(b->end, " of");
}

Test(rules, evidence_is_what_the_formulas_name)
{
    cr_assert_eq(load(RULE("    when: sm__cycles_active.sum > 0\n    gain: sm__inst_executed.sum / "
                           "sm__cycles_active.sum\n")),
                 CW_OK, "%s", err.message);
    cr_assert_eq(rules->rules[0].evidence_count, 2);
    cr_expect_str_eq(rules->rules[0].evidence[0].name, "sm__cycles_active.sum");
    cr_expect_str_eq(rules->rules[0].evidence[1].name, "sm__inst_executed.sum");
}

Test(rules, only_those_for_the_chip)
{
    cr_assert_eq(load(RULE("    chips: [OTHER]\n    when: 1\n    gain: 1\n")), CW_OK, "%s", err.message);
    cr_expect_eq(rules->rule_count, 0);
    cr_assert_eq(load(RULE("    chips: [OTHER, TINY]\n    when: 1\n    gain: 1\n")), CW_OK, "%s", err.message);
    cr_expect_eq(rules->rule_count, 1);
}

Test(rules, a_tree_in_the_order_of_the_file)
{
    cr_assert_eq(load("schema: 1\ntree:\n- id: a\n  title: A\n  when: 0\n  then:\n  - {id: x, title: X}\n"
                      "  - {id: y, title: Y, value: sm__idle.sum}\n- {id: b, title: B, value: 0.5}\n"),
                 CW_OK, "%s", err.message);
    static const struct {
        const char *path;
        uint32_t depth, next;
    } wanted[] = {{"a", 0, 3}, {"a > x", 1, 2}, {"a > y", 1, 3}, {"b", 0, 4}};
    cr_assert_eq(rules->limiter_count, 4);
    for (size_t i = 0; i < 4; i++) {
        cr_expect_str_eq(rules->limiters[i].path, wanted[i].path);
        cr_expect(rules->limiters[i].depth == wanted[i].depth && rules->limiters[i].next == wanted[i].next);
    }
    cr_expect_str_eq(formula_text(rules->limiters[0].when), "limiter.a.when");
    cr_expect_str_eq(formula_text(rules->limiters[3].value), "limiter.b.value");
    cr_expect_str_eq(rules->limiters[2].lacks, "sm__idle.sum");
}

Test(rules, metrics_are_all_that_is_evaluated)
{
    cr_assert_eq(load(RULE("    when: 1\n    gain: sm__inst_executed.sum / 8\n")), CW_OK, "%s", err.message);
    cr_assert_eq(rules->metric_count, 4, "two formulas, the instructions and the time");
    for (size_t i = 1; i < 4; i++)
        cr_expect(cw_metric_compare(&rules->metrics[i - 1], &rules->metrics[i]) < 0);
    cr_expect(rules->metrics[0].type == CW_COUNTER && rules->metrics[0].base == chip->time);
    cr_expect(rules->metrics[1].type == CW_COUNTER && rules->metrics[2].type == CW_FORMULA);
}

Test(rules, mistakes_have_a_place)
{
    refused(RULE("    when: 1 +\n    gain: 1\n"), 7, 14, "");
    refused(RULE("    when: sm__cycles_active.sum > >\n    gain: 1\n"), 7, 35, "");
    refused(RULE("    when: [1 < 2, 3 3]\n    gain: 1\n"), 7, 21, "");
    refused(RULE("    when: 1\n    gain: gain\n"), 8, 11, "refers back to itself");
    refused(RULE("    when: 1\n"), 4, 5, "gain");
    refused(RULE("    when: 1\n    gain: 1\n    cause: x\n"), 9, 5, "found the unknown key 'cause'");
    refused(RULE("    when: 1\n    gain: 1\n    values: {1x: 1}\n"), 9, 14, "found '1x'");
    refused(RULE("    when: 1\n    gain: 1\n    note: yes\n"), 9, 11, "expected true or false");
    refused(RULE("    when: 1\n    gain: 1\n  idle again: {}\n"), 9, 3, "");
    refused(RULE("    when: 1\n    gain: 1\nvalues: {v: 1}\ntree:\n- {id: v, title: t}\n- {id: v, title: u, when: 1}\n"
                 "- {id: v, title: w, when: 2}\n"),
            13, 3, "found limiter.v.when a second time");
    refused("schema: 1\nrules:\n  a: {title: t, fix: f, when: 1, gain: 1, text: 'a {b'}\n", 3, 49, "expected {name}");
    refused("schema: 1\nrules:\n  a: {title: t, fix: f, when: 1, gain: 1, text: 'a {b:y}'}\n", 3, 49,
            "expected {name}");
    refused("schema: 1\nrules:\n  a: {title: t, fix: f, when: 1, gain: 1, text: b, evidence: ['c:z']}\n", 3, 63,
            "found the evidence");
    refused("schema: 2\n", 1, 9, "");
}

/* Values that refer to values twice would be of any length when written out. */
Test(rules, values_do_not_grow)
{
    char text[4000] = "schema: 1\nvalues:\n  v0: sm__cycles_active.sum\n";
    for (int i = 1; i < 40; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "  v%d: v%d + v%d\n", i, i - 1, i - 1);
    cr_assert_eq(load(text), CW_OK, "%s", err.message);
    cr_expect(rules->chip->formulas->items[cw_formulas_find(rules->chip, "value.v39")].step_count < 300);
}

Test(rules, memory_may_run_out_anywhere)
{
    static const char text[] = RULE("    values: {v: 2}\n    when: [v > 1, 1]\n    gain: v\n    evidence: [v]\n"
                                    "    stalls: [wait]\ntree:\n- {id: a, title: A, when: 1}\n");
    enum cw_status status = CW_ERR_NOMEM;
    for (long n = 0; status != CW_OK; n++) {
        struct cw_arena *own = cw_arena_create();
        cw_alloc_fail_after(n);
        status = cw_rules_parse(&rules, chip, text, strlen(text), "r.yaml", own, NULL);
        cw_alloc_fail_after(-1);
        cr_assert(status == CW_OK || status == CW_ERR_NOMEM, "%ld: %d", n, status);
        cw_arena_destroy(own);
        cr_assert(n < 10000);
    }
}
