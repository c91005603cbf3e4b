#include "metricdb/expr.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char name_start[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
static const char digits[] = "0123456789";

static const struct {
    const char *text;
    uint32_t takes;
} ops[CW_EXPR__COUNT] = {
    [CW_EXPR_NUMBER] = {"a number", 0}, [CW_EXPR_NAME] = {"a metric", 0},
    [CW_EXPR_NEGATE] = {"-", 1},        [CW_EXPR_ABS] = {"abs", 1},
    [CW_EXPR_FLOOR] = {"floor", 1},     [CW_EXPR_CEIL] = {"ceil", 1},
    [CW_EXPR_ADD] = {"+", 2},           [CW_EXPR_SUBTRACT] = {"-", 2},
    [CW_EXPR_MULTIPLY] = {"*", 2},      [CW_EXPR_DIVIDE] = {"/", 2},
    [CW_EXPR_MIN] = {"min", 2},         [CW_EXPR_MAX] = {"max", 2},
    [CW_EXPR_LESS] = {"<", 2},          [CW_EXPR_LESS_EQUAL] = {"<=", 2},
    [CW_EXPR_GREATER] = {">", 2},       [CW_EXPR_GREATER_EQUAL] = {">=", 2},
    [CW_EXPR_EQUAL] = {"==", 2},        [CW_EXPR_NOT_EQUAL] = {"!=", 2},
    [CW_EXPR_IF] = {"if", 3},           [CW_EXPR_PART] = {"a part", 0},
};

static bool is_name_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

/* Length of the text that a name may have: strspn is slow, because it sorts its characters anew each time. */
static size_t span_name(const char *text)
{
    size_t length = 0;
    while (is_name_character(text[length]))
        length++;
    return length;
}

uint32_t cw_expr_takes(enum cw_expr_op op)
{
    return ops[op].takes;
}

const char *cw_expr_op_text(enum cw_expr_op op)
{
    return ops[op].text;
}

double cw_expr_apply(enum cw_expr_op op, const double *v)
{
    switch (op) {
    case CW_EXPR_NEGATE:
        return -v[0];
    case CW_EXPR_ABS:
        return fabs(v[0]);
    case CW_EXPR_FLOOR:
        return floor(v[0]);
    case CW_EXPR_CEIL:
        return ceil(v[0]);
    case CW_EXPR_ADD:
        return v[0] + v[1];
    case CW_EXPR_SUBTRACT:
        return v[0] - v[1];
    case CW_EXPR_MULTIPLY:
        return v[0] * v[1];
    case CW_EXPR_DIVIDE:
        return v[0] / v[1];
    case CW_EXPR_MIN:
        return v[1] < v[0] ? v[1] : v[0];
    case CW_EXPR_MAX:
        return v[1] > v[0] ? v[1] : v[0];
    case CW_EXPR_LESS:
        return v[0] < v[1];
    case CW_EXPR_LESS_EQUAL:
        return v[0] <= v[1];
    case CW_EXPR_GREATER:
        return v[0] > v[1];
    case CW_EXPR_GREATER_EQUAL:
        return v[0] >= v[1];
    case CW_EXPR_EQUAL:
        return v[0] == v[1];
    case CW_EXPR_NOT_EQUAL:
        return v[0] != v[1];
    case CW_EXPR_IF:
        return v[0] != 0 ? v[1] : v[2];
    default:
        return NAN;
    }
}

/* The operation that is called by this name, or CW_EXPR__COUNT. */
static enum cw_expr_op find_call(const char *name, size_t length)
{
    static const enum cw_expr_op calls[] = {CW_EXPR_MIN,   CW_EXPR_MAX,  CW_EXPR_ABS,
                                            CW_EXPR_FLOOR, CW_EXPR_CEIL, CW_EXPR_IF};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strncmp(ops[calls[i]].text, name, length) == 0 && !ops[calls[i]].text[length])
            return calls[i];
    return CW_EXPR__COUNT;
}

bool cw_expr_is_name(const char *text)
{
    size_t length = strlen(text);
    return length && length <= CW_EXPR_NAME_LENGTH_MAX && strchr(name_start, *text) && span_name(text) == length &&
           find_call(text, length) == CW_EXPR__COUNT;
}

/* ---- parsing ---------------------------------------------------------------------------------------------------- */

struct parser {
    const char *text, *at, *source;
    struct cw_arena *arena;
    struct cw_error *err;
    enum cw_status status;
    struct cw_expr_step *steps; /* room for a step for each character, which is always enough */
    const char **names;
    uint32_t step_count, name_count, stack, nesting;
};

static unsigned column_of(const struct parser *p, const char *at)
{
    return (unsigned)(at - p->text) + 1;
}

#define FAIL(p, where, ...)                                                                                            \
    ((p)->status != CW_OK                                                                                              \
         ? (p)->status                                                                                                 \
         : ((p)->status = cw_error_at((p)->err, CW_ERR_INPUT, (p)->source, 1, column_of(p, where), __VA_ARGS__)))

static char peek(struct parser *p)
{
    while (*p->at == ' ' || *p->at == '\t' || *p->at == '\r' || *p->at == '\n')
        p->at++;
    return *p->at;
}

/* Describes the text at the current position, for messages. */
static const char *found(struct parser *p, char text[24])
{
    unsigned char c = (unsigned char)peek(p);
    if (!c)
        snprintf(text, 24, "the end of the formula");
    else
        snprintf(text, 24, c < 0x20 || c > 0x7e ? "the character 0x%02x" : "'%c'", c);
    return text;
}

static void unexpected(struct parser *p, const char *expected)
{
    char text[24];
    if (strchr("<>=!", peek(p)) && *p->at)
        FAIL(p, p->at, "found %s, expected %s; a comparison can only be the condition of if(condition, a, b)",
             found(p, text), expected);
    else
        FAIL(p, p->at, "found %s, expected %s", found(p, text), expected);
}

static bool take(struct parser *p, char c, const char *expected)
{
    if (p->status == CW_OK && peek(p) == c) {
        p->at++;
        return true;
    }
    unexpected(p, expected);
    return false;
}

static struct cw_expr_step *emit(struct parser *p, enum cw_expr_op op, const char *where)
{
    struct cw_expr_step *step = &p->steps[p->step_count];
    if (p->status != CW_OK)
        return step;
    *step = (struct cw_expr_step){.op = op, .column = column_of(p, where)};
    p->step_count++;
    p->stack = p->stack + 1 - ops[op].takes;
    if (p->stack > CW_EXPR_STACK_MAX)
        FAIL(p, where, "found more than %d values that wait for an operation, expected a simpler formula",
             CW_EXPR_STACK_MAX);
    return step;
}

static void parse_sum(struct parser *p);

static void parse_number(struct parser *p)
{
    const char *start = p->at;
    char text[64];
    p->at += strspn(p->at, digits);
    if (*p->at == '.')
        p->at += 1 + strspn(p->at + 1, digits);
    size_t sign = *p->at == 'e' || *p->at == 'E' ? 1 + strspn(p->at + 1, "+-") : 0;
    if (sign && sign < 3 && strspn(p->at + sign, digits))
        p->at += sign + strspn(p->at + sign, digits);
    size_t length = (size_t)(p->at - start);
    if (length >= sizeof text || length == strspn(start, ".") || is_name_character(*p->at)) {
        length = span_name(start);
        FAIL(p, start, "found '%.*s', expected a number", (int)(length < 60 ? length : 60), start);
        return;
    }
    memcpy(text, start, length);
    text[length] = 0;
    double value = strtod(text, NULL);
    if (!isfinite(value))
        FAIL(p, start, "found the number %s, expected one up to 1.8e308", text);
    emit(p, CW_EXPR_NUMBER, start)->number = value;
}

static uint32_t intern(struct parser *p, const char *name, size_t length)
{
    for (uint32_t i = 0; i < p->name_count; i++)
        if (strncmp(p->names[i], name, length) == 0 && !p->names[i][length])
            return i;
    if (p->name_count == CW_EXPR_NAMES_MAX) {
        FAIL(p, name, "found more than %d different metrics in a formula", CW_EXPR_NAMES_MAX);
        return 0;
    }
    if (!(p->names[p->name_count] = cw_arena_strndup(p->arena, name, length)))
        p->status = cw_error_nomem(p->err);
    return p->name_count++;
}

static void parse_extreme(struct parser *p, enum cw_expr_op op, const char *where)
{
    parse_sum(p);
    if (p->status == CW_OK && peek(p) == ')')
        FAIL(p, p->at, "found ')', expected ',' and another value: %s takes two or more", ops[op].text);
    while (p->status == CW_OK && peek(p) == ',') {
        p->at++;
        parse_sum(p);
        emit(p, op, where);
    }
    take(p, ')', "',', ')' or an operator");
}

/* Parses a sum, and a comparison with another one; false if there is no comparison. */
static bool parse_comparison(struct parser *p)
{
    static const enum cw_expr_op longest_first[] = {CW_EXPR_LESS_EQUAL, CW_EXPR_GREATER_EQUAL, CW_EXPR_EQUAL,
                                                    CW_EXPR_NOT_EQUAL,  CW_EXPR_LESS,          CW_EXPR_GREATER};
    parse_sum(p);
    if (p->status != CW_OK)
        return false;
    peek(p);
    for (size_t i = 0; i < sizeof longest_first / sizeof *longest_first; i++) {
        const char *where = p->at, *text = ops[longest_first[i]].text;
        if (strncmp(where, text, strlen(text)) != 0)
            continue;
        p->at += strlen(text);
        parse_sum(p);
        emit(p, longest_first[i], where);
        return true;
    }
    return false;
}

static void parse_if(struct parser *p, const char *where)
{
    char text[24];
    if (!parse_comparison(p))
        FAIL(p, p->at, "found %s, expected a comparison: < <= > >= == or !=", found(p, text));
    for (int i = 0; i < 2 && take(p, ',', "',' or an operator: if takes a condition and two values"); i++)
        parse_sum(p);
    take(p, ')', "')' or an operator: if takes a condition and two values");
    emit(p, CW_EXPR_IF, where);
}

static void parse_call(struct parser *p, const char *name, size_t length)
{
    enum cw_expr_op op = find_call(name, length);
    if (op == CW_EXPR__COUNT) {
        FAIL(p, name, "found the function '%.*s', expected " CW_EXPR_FUNCTIONS, (int)(length < 60 ? length : 60), name);
    } else if (op == CW_EXPR_IF) {
        parse_if(p, name);
    } else if (ops[op].takes == 2) {
        parse_extreme(p, op, name);
    } else {
        parse_sum(p);
        take(p, ')', "')' or an operator");
        emit(p, op, name);
    }
}

/* Calls `inner` one level deeper. */
static bool enter(struct parser *p, const char *where)
{
    p->at++;
    if (p->nesting == CW_EXPR_NESTING_MAX)
        FAIL(p, where, "found parentheses more than %d deep", CW_EXPR_NESTING_MAX);
    p->nesting++;
    return p->status == CW_OK;
}

static void parse_primary(struct parser *p)
{
    char c = peek(p);
    const char *start = p->at;
    if (c == '(') {
        if (enter(p, start))
            parse_sum(p);
        take(p, ')', "')' or an operator");
        p->nesting--;
    } else if (c && strchr("0123456789.", c)) {
        parse_number(p);
    } else if (c && strchr(name_start, c)) {
        size_t length = span_name(start);
        p->at += length;
        if (length > CW_EXPR_NAME_LENGTH_MAX) {
            FAIL(p, start, "found a name of %zu characters, expected at most %d", length, CW_EXPR_NAME_LENGTH_MAX);
        } else if (peek(p) == '(') {
            if (enter(p, start))
                parse_call(p, start, length);
            p->nesting--;
        } else {
            uint32_t name = intern(p, start, length);
            emit(p, CW_EXPR_NAME, start)->name = name;
        }
    } else {
        unexpected(p, "a number, a metric, '-' or '('");
    }
}

static void parse_unary(struct parser *p)
{
    const char *where = NULL;
    bool negate = false;
    for (; p->status == CW_OK && peek(p) == '-'; p->at++) {
        where = where ? where : p->at;
        negate = !negate;
    }
    parse_primary(p);
    if (negate)
        emit(p, CW_EXPR_NEGATE, where);
}

static void parse_product(struct parser *p)
{
    parse_unary(p);
    while (p->status == CW_OK && (peek(p) == '*' || *p->at == '/')) {
        const char *where = p->at++;
        parse_unary(p);
        emit(p, *where == '*' ? CW_EXPR_MULTIPLY : CW_EXPR_DIVIDE, where);
    }
}

static void parse_sum(struct parser *p)
{
    if (p->status != CW_OK)
        return;
    parse_product(p);
    while (p->status == CW_OK && (peek(p) == '+' || *p->at == '-')) {
        const char *where = p->at++;
        parse_product(p);
        emit(p, *where == '+' ? CW_EXPR_ADD : CW_EXPR_SUBTRACT, where);
    }
}

static enum cw_status keep(struct parser *p, struct cw_expr *expr)
{
    struct cw_expr_step *steps = cw_arena_alloc(p->arena, p->step_count, sizeof *steps);
    const char **names = cw_arena_alloc(p->arena, p->name_count, sizeof *names);
    if (!steps || !names)
        return cw_error_nomem(p->err);
    memcpy(steps, p->steps, p->step_count * sizeof *steps);
    if (p->name_count)
        memcpy(names, p->names, p->name_count * sizeof *names);
    *expr = (struct cw_expr){p->step_count, p->name_count, steps, names};
    return CW_OK;
}

static enum cw_status parse(struct cw_expr *expr, bool condition, const char *text, const char *source,
                            struct cw_arena *arena, struct cw_error *err)
{
    struct parser p = {.text = text, .at = text, .source = source, .arena = arena, .err = err};
    size_t length = strlen(text);
    if (length > CW_EXPR_LENGTH_MAX)
        return cw_error_at(err, CW_ERR_INPUT, source, 1, 1, "found a formula of %zu characters, expected at most %d",
                           length, CW_EXPR_LENGTH_MAX);
    p.steps = malloc((length + 1) * sizeof *p.steps);
    p.names = malloc(CW_EXPR_NAMES_MAX * sizeof *p.names);
    if (!p.steps || !p.names)
        p.status = cw_error_nomem(err);
    if (condition)
        parse_comparison(&p);
    else
        parse_sum(&p);
    if (p.status == CW_OK && peek(&p))
        unexpected(&p, "an operator or the end of the formula");
    if (p.status == CW_OK)
        p.status = keep(&p, expr);
    free(p.steps);
    free(p.names);
    return p.status;
}

enum cw_status cw_expr_parse(struct cw_expr *expr, const char *text, const char *source, struct cw_arena *arena,
                             struct cw_error *err)
{
    return parse(expr, false, text, source, arena, err);
}

enum cw_status cw_expr_parse_condition(struct cw_expr *expr, const char *text, const char *source,
                                       struct cw_arena *arena, struct cw_error *err)
{
    return parse(expr, true, text, source, arena, err);
}
