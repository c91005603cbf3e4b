#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "metricdb/expr.h"

static struct cw_arena *arena;

static void setup(void)
{
    arena = cw_arena_create();
}

static void teardown(void)
{
    cw_arena_destroy(arena);
}

TestSuite(expr, .init = setup, .fini = teardown);

/* The value of a formula whose names are a = 2, b = 3 and the rest 10. */
static double value_of(const char *text)
{
    struct cw_expr e;
    struct cw_error err = CW_ERROR_INIT;
    double stack[CW_EXPR_STACK_MAX];
    uint32_t n = 0;
    cr_assert_eq(cw_expr_parse(&e, text, "f", arena, &err), CW_OK, "%s: %s", text, err.message);
    for (uint32_t i = 0; i < e.step_count; i++) {
        const struct cw_expr_step *s = &e.steps[i];
        n -= cw_expr_takes(s->op);
        const char *name = s->op == CW_EXPR_NAME ? e.names[s->name] : "";
        stack[n] = s->op == CW_EXPR_NUMBER  ? s->number
                   : s->op != CW_EXPR_NAME  ? cw_expr_apply(s->op, &stack[n])
                   : strcmp(name, "a") == 0 ? 2
                   : strcmp(name, "b") == 0 ? 3
                                            : 10;
        n++;
    }
    cr_assert_eq(n, 1);
    return stack[0];
}

Test(expr, values)
{
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"1", 1},
        {" 2.5 ", 2.5},
        {"1e9", 1e9},
        {"2.5E-3", 2.5e-3},
        {".5", .5},
        {"5.", 5},
        {"1 + 2 * 3", 7},
        {"(1 + 2) * 3", 9},
        {"10 - 4 - 3", 3},
        {"24 / 4 / 2", 3},
        {"-2 * -3", 6},
        {"--3", 3},
        {"---3", -3},
        {"2 - -3", 5},
        {"-(1 + 2)", -3},
        {"a * b + sm__x.sum", 16},
        {"min(4, b, a, 7)", 2},
        {"max(1, a - 5, -1)", 1},
        {"abs(a - b)", 1},
        {"floor(-b / 4)", -1},
        {"ceil(a / 4)", 1},
        {"floor(7.9) * 10 + ceil(7.1)", 78},
        {"if(a < b, 1, 0)", 1},
        {"if(a <= 2, 1, 0)", 1},
        {"if(a > b, 1, 0)", 0},
        {"if(a >= 2, 1, 0)", 1},
        {"if(a == b, 1, 0)", 0},
        {"if(a != b, 1, 0)", 1},
        {"if(a + 1 == b, if(1 > 2, 5, 6), 7)", 6},
        {"min (1,\t2)", 1},
        {"a\n+ b", 5},
        {"1 / 0", INFINITY},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_eq(value_of(cases[i].text), cases[i].value, "%s", cases[i].text);
}

Test(expr, steps_know_their_columns)
{
    struct cw_expr e;
    cr_assert_eq(cw_expr_parse(&e, "a + max(b, a) / 2", "f", arena, NULL), CW_OK);
    static const struct {
        enum cw_expr_op op;
        unsigned column;
    } wanted[] = {{CW_EXPR_NAME, 1},    {CW_EXPR_NAME, 9},    {CW_EXPR_NAME, 12}, {CW_EXPR_MAX, 5},
                  {CW_EXPR_NUMBER, 17}, {CW_EXPR_DIVIDE, 15}, {CW_EXPR_ADD, 3}};
    cr_assert_eq(e.step_count, sizeof wanted / sizeof *wanted);
    for (size_t i = 0; i < e.step_count; i++) {
        cr_expect_eq(e.steps[i].op, wanted[i].op);
        cr_expect_eq(e.steps[i].column, wanted[i].column);
    }
    cr_expect_eq(e.name_count, 2);
}

static void expect_error(int line, const char *text, unsigned column, const char *message)
{
    struct cw_expr e;
    struct cw_error err = CW_ERROR_INIT;
    cr_expect_eq(cw_expr_parse(&e, text, "f", arena, &err), CW_ERR_INPUT, "line %d", line);
    cr_expect_eq(err.column, column, "line %d: found column %u", line, err.column);
    cr_expect_str_eq(err.message, message, "line %d: %s", line, err.message);
    cr_expect_eq(err.line, 1);
}

Test(expr, errors_have_a_column)
{
#define VALUE "a number, a metric, '-' or '('"
#define ALONE "; a comparison can only be the condition of if(condition, a, b)"
#define IF ": if takes a condition and two values"
    static const struct {
        int line;
        const char *text;
        unsigned column;
        const char *message;
    } cases[] = {
        {__LINE__, "", 1, "found the end of the formula, expected " VALUE},
        {__LINE__, "  ", 3, "found the end of the formula, expected " VALUE},
        {__LINE__, "a +", 4, "found the end of the formula, expected " VALUE},
        {__LINE__, "a * / b", 5, "found '/', expected " VALUE},
        {__LINE__, "+a", 1, "found '+', expected " VALUE},
        {__LINE__, "a b", 3, "found 'b', expected an operator or the end of the formula"},
        {__LINE__, "a)", 2, "found ')', expected an operator or the end of the formula"},
        {__LINE__, "(a", 3, "found the end of the formula, expected ')' or an operator"},
        {__LINE__, "a ** b", 4, "found '*', expected " VALUE},
        {__LINE__, "a ^ 2", 3, "found '^', expected an operator or the end of the formula"},
        {__LINE__, "a \x01", 3, "found the character 0x01, expected an operator or the end of the formula"},
        {__LINE__, "\xc3\xa9", 1, "found the character 0xc3, expected " VALUE},
        {__LINE__, "a < b", 3, "found '<', expected an operator or the end of the formula" ALONE},
        {__LINE__, "max(a > b, 1)", 7, "found '>', expected ',', ')' or an operator" ALONE},
        {__LINE__, "2sm__x.sum", 1, "found '2sm__x.sum', expected a number"},
        {__LINE__, "1 + 1.2.3", 5, "found '1.2.3', expected a number"},
        {__LINE__, ".", 1, "found '.', expected a number"},
        {__LINE__, "1e", 1, "found '1e', expected a number"},
        {__LINE__, "1e999", 1, "found the number 1e999, expected one up to 1.8e308"},
        {__LINE__, "1 * sum(a)", 5, "found the function 'sum', expected min, max, abs, floor, ceil or if"},
        {__LINE__, "min(a)", 6, "found ')', expected ',' and another value: min takes two or more"},
        {__LINE__, "max(a b)", 7, "found 'b', expected ',', ')' or an operator"},
        {__LINE__, "max(a,)", 7, "found ')', expected " VALUE},
        {__LINE__, "floor(a, b)", 8, "found ',', expected ')' or an operator"},
        {__LINE__, "abs(a, b)", 6, "found ',', expected ')' or an operator"},
        {__LINE__, "if(a, 1, 2)", 5, "found ',', expected a comparison: < <= > >= == or !="},
        {__LINE__, "if(a = b, 1, 2)", 6, "found '=', expected a comparison: < <= > >= == or !="},
        {__LINE__, "if(a < b < 3, 1, 2)", 10, "found '<', expected ',' or an operator" IF ALONE},
        {__LINE__, "if(a < b, 1)", 12, "found ')', expected ',' or an operator" IF},
        {__LINE__, "if(a < b, 1, 2, 3)", 15, "found ',', expected ')' or an operator" IF},
        {__LINE__, "abs(", 5, "found the end of the formula, expected " VALUE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_error(cases[i].line, cases[i].text, cases[i].column, cases[i].message);
}

/* `count` times `piece`, then `end`. */
static const char *repeat(const char *piece, size_t count, const char *end)
{
    char *text = cw_arena_alloc(arena, count * strlen(piece) + strlen(end) + 1, 1);
    for (size_t i = 0; i < count; i++)
        memcpy(text + i * strlen(piece), piece, strlen(piece));
    strcpy(text + count * strlen(piece), end);
    return text;
}

Test(expr, limits)
{
    struct cw_expr e;
    char names[CW_EXPR_LENGTH_MAX] = "";
    expect_error(__LINE__, repeat("1+", 2048, "1"), 1, "found a formula of 4097 characters, expected at most 4096");
    cr_expect_eq(cw_expr_parse(&e, repeat("1+", 2047, "1"), "f", arena, NULL), CW_OK);
    cr_expect_eq(cw_expr_parse(&e, repeat("-", 4000, "1"), "f", arena, NULL), CW_OK);
    expect_error(__LINE__, repeat("(", 65, "1"), 65, "found parentheses more than 64 deep");
    expect_error(__LINE__, repeat("abs(", 65, "1"), 64 * 4 + 1, "found parentheses more than 64 deep");
    expect_error(__LINE__, repeat("1+(", 32, "1"), 32 * 3 + 1,
                 "found more than 32 values that wait for an operation, expected a simpler formula");
    expect_error(__LINE__, repeat("x", 256, ""), 1, "found a name of 256 characters, expected at most 255");
    for (int i = 0; i < 257; i++)
        sprintf(names + strlen(names), "%sn%d", i ? "+" : "", i);
    expect_error(__LINE__, names, (unsigned)(strstr(names, "n256") - names) + 1,
                 "found more than 256 different metrics in a formula");
}

Test(expr, names)
{
    cr_expect(cw_expr_is_name("sm__inst_executed.sum"));
    cr_expect(cw_expr_is_name("_x1"));
    static const char *const bad[] = {"",    "1x",  ".x",    "a-b",  "a b", "min",
                                      "max", "abs", "floor", "ceil", "if",  "\xc3\xa9"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_expect_not(cw_expr_is_name(bad[i]), "%s", bad[i]);
}

Test(expr, conditions)
{
    struct cw_expr e;
    struct cw_error err = CW_ERROR_INIT;
    static const enum cw_expr_op compared[] = {CW_EXPR_NAME, CW_EXPR_NUMBER, CW_EXPR_GREATER_EQUAL};
    cr_assert(cw_expr_parse_condition(&e, "a >= 2", "f", arena, &err) == CW_OK && e.step_count == 3, "%s", err.message);
    for (uint32_t i = 0; i < 3; i++)
        cr_expect(e.steps[i].op == compared[i]);
    cr_expect(cw_expr_parse_condition(&e, "a - 2", "f", arena, &err) == CW_OK && e.step_count == 3);
    cr_expect(cw_expr_parse_condition(&e, "a < b < 2", "f", arena, &err) == CW_ERR_INPUT && err.column == 7);
    err = (struct cw_error)CW_ERROR_INIT;
    cr_expect(cw_expr_parse(&e, "a < 2", "f", arena, &err) == CW_ERR_INPUT && err.column == 3);
}
