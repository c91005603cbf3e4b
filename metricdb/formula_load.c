#include "metricdb/formula_load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "metricdb/data.h"
#include "metricdb/dimension.h"
#include "metricdb/expr.h"
#include "metricdb/formula.h"
#include "metricdb/metric.h"
#include "metricdb/term.h"
#include "metricdb/yaml.h"

/* ---- flat formulas ----------------------------------------------------------------------------------------------- */

/* A name in a formula, looked up. */
struct formula_reference {
    struct cw_metric metric;
    unsigned column; /* of its first occurrence */
};

enum { SHORT = 16 };

struct flat {
    struct cw_expr_step steps[CW_FORMULA_STEPS_MAX];
    struct cw_metric metrics[CW_EXPR_NAMES_MAX];
    uint32_t formulas[CW_EXPR_NAMES_MAX];
    struct cw_formula_part parts[CW_FORMULA_PARTS_MAX];
    uint32_t step_count, metric_count, formula_count, part_count, stack;
    const char *what; /* the quantity that exceeds its limit */
};

static uint32_t add_metric(struct flat *flat, const struct cw_metric *m)
{
    for (uint32_t i = 0; i < flat->metric_count; i++) {
        const struct cw_metric *k = &flat->metrics[i];
        if (k->type == m->type && k->base == m->base && k->rollup == m->rollup && k->sub == m->sub)
            return i;
    }
    if (flat->metric_count == CW_EXPR_NAMES_MAX) {
        flat->what = "different metrics";
        return 0;
    }
    flat->metrics[flat->metric_count] = *m;
    return flat->metric_count++;
}

static void add_step(struct flat *flat, struct cw_expr_step step, const struct cw_metric *metric)
{
    flat->stack = flat->stack + 1 - cw_expr_takes(step.op);
    if (flat->step_count == CW_FORMULA_STEPS_MAX)
        flat->what = "steps";
    else if (flat->stack > CW_EXPR_STACK_MAX)
        flat->what = "values that wait for an operation";
    if (step.op == CW_EXPR_NAME && !flat->what)
        step.name = add_metric(flat, metric);
    if (!flat->what)
        flat->steps[flat->step_count++] = step;
}

/* Index of a formula's part; one behind the last if it has none. */
static uint32_t find_part(const struct flat *flat, uint32_t formula)
{
    uint32_t i = 0;
    while (i < flat->part_count && flat->parts[i].formula != formula)
        i++;
    return i;
}

static void end_part(struct flat *flat, uint32_t formula)
{
    if (flat->part_count == CW_FORMULA_PARTS_MAX)
        flat->what = "formulas";
    if (!flat->what)
        flat->parts[flat->part_count++] = (struct cw_formula_part){formula, flat->step_count};
    flat->stack = 0;
}

/* Adds the steps of a part of another formula. */
static void add_steps(struct flat *flat, const struct cw_formula *other, uint32_t part, unsigned column)
{
    for (uint32_t i = part ? other->parts[part - 1].end : 0; i < other->parts[part].end && !flat->what; i++) {
        struct cw_expr_step step = other->steps[i];
        step.column = column;
        if (step.op == CW_EXPR_PART)
            step.name = find_part(flat, other->parts[step.name].formula);
        add_step(flat, step, step.op == CW_EXPR_NAME ? &other->metrics[step.name] : NULL);
    }
}

/* Short formulas are written out at each reference. Others become parts, so that the size does not grow with the number
 * of references. */
static bool is_short(const struct cw_formula *f)
{
    return f->part_count == 1 && f->step_count <= SHORT;
}

static void add_parts(struct flat *flat, const struct cw_formula *other, unsigned column)
{
    for (uint32_t part = 0; part < other->part_count && !flat->what; part++)
        if (find_part(flat, other->parts[part].formula) == flat->part_count) {
            add_steps(flat, other, part, column);
            end_part(flat, other->parts[part].formula);
        }
}

static void add_reference(struct flat *flat, const struct cw_formula *items, struct cw_expr_step step,
                          const struct cw_metric *m)
{
    if (m->type != CW_FORMULA) {
        add_step(flat, step, m);
    } else if (is_short(&items[m->base])) {
        add_steps(flat, &items[m->base], 0, step.column);
    } else {
        step.op = CW_EXPR_PART;
        step.name = find_part(flat, m->base);
        add_step(flat, step, NULL);
    }
}

static void *keep(struct cw_yaml_reader *in, const void *items, uint32_t count, size_t size)
{
    void *copy = cw_yaml_array(in, count, size);
    if (copy && count)
        memcpy(copy, items, count * size);
    return copy;
}

/* Allocates room to write out one formula after another; NULL when out of memory. The caller frees it. */
static struct flat *flat_make(void)
{
    return malloc(sizeof(struct flat));
}

/* Makes the steps of f, one of `items`, from an expression whose i-th name is refs[i]. Formulas among the references
 * must be resolved already. Fails at `text`, the source of the expression, if a limit is exceeded. */
static void formula_write_out(struct flat *flat, struct cw_yaml_reader *in, const struct cw_yaml *text,
                              struct cw_formula *f, const struct cw_formula *items, const struct cw_expr *expr,
                              const struct formula_reference *refs)
{
    flat->step_count = flat->metric_count = flat->formula_count = flat->part_count = flat->stack = 0;
    flat->what = NULL;
    unsigned column = 1;
    for (uint32_t i = 0; i < expr->name_count && !flat->what; i++) {
        if (refs[i].metric.type != CW_FORMULA)
            continue;
        const struct cw_formula *other = &items[refs[i].metric.base];
        flat->formulas[flat->formula_count++] = refs[i].metric.base;
        column = refs[i].column;
        if (!is_short(other))
            add_parts(flat, other, column);
    }
    for (uint32_t i = 0; i < expr->step_count && !flat->what; i++) {
        const struct cw_expr_step *step = &expr->steps[i];
        column = step->column;
        if (step->op == CW_EXPR_NAME)
            add_reference(flat, items, *step, &refs[step->name].metric);
        else
            add_step(flat, *step, NULL);
    }
    end_part(flat, (uint32_t)(f - items));
    if (flat->what) {
        char message[160];
        snprintf(message, sizeof message, "found too many %s, counting the formulas in this one", flat->what);
        cw_yaml_fail_inside(in, text, column, message);
    }
    cw_yaml_spend(in, text,
                  flat->step_count * sizeof *f->steps + flat->metric_count * sizeof *f->metrics +
                      flat->part_count * sizeof *f->parts);
    f->steps = keep(in, flat->steps, f->step_count = flat->step_count, sizeof *f->steps);
    f->parts = keep(in, flat->parts, f->part_count = flat->part_count, sizeof *f->parts);
    f->metrics = keep(in, flat->metrics, f->metric_count = flat->metric_count, sizeof *f->metrics);
    f->formulas.items = keep(in, flat->formulas, f->formulas.count = flat->formula_count, sizeof *f->formulas.items);
}

/* ---- units ------------------------------------------------------------------------------------------------------- */

struct typed {
    struct cw_dimension dimension;
    bool constant; /* computed from numbers alone; `value` is the result */
    double value;
};

struct check {
    struct typed stack[CW_EXPR_STACK_MAX];
    const char *source;
    struct cw_error *err;
};

static bool is_plain_number(const struct typed *t)
{
    return t->constant && !t->dimension.count;
}

static enum cw_status refuse_units(struct check *c, const struct cw_expr_step *step, const struct typed *a,
                                   const struct typed *b)
{
    char left[CW_DIMENSION_TEXT], right[CW_DIMENSION_TEXT];
    const char *x = is_plain_number(a) ? "a plain number" : cw_dimension_text(&a->dimension, left);
    const char *y = is_plain_number(b) ? "a plain number" : cw_dimension_text(&b->dimension, right);
    return cw_error_at(c->err, CW_ERR_INPUT, c->source, 1, step->column,
                       "found %.100s and %.100s in '%s', expected one unit of measurement", x, y,
                       cw_expr_op_text(step->op));
}

/* Requires two values to have one unit. A plain number matches any unit, except in a sum, where it is probably a
 * mistake; the number 0 is allowed there, too. */
static enum cw_status unify(struct check *c, const struct cw_expr_step *step, const struct typed *a,
                            const struct typed *b, struct cw_dimension *dimension)
{
    bool sum = step->op == CW_EXPR_ADD || step->op == CW_EXPR_SUBTRACT;
    if (cw_dimension_equal(&a->dimension, &b->dimension) || (is_plain_number(b) && (!sum || b->value == 0)))
        *dimension = a->dimension;
    else if (is_plain_number(a) && (!sum || a->value == 0))
        *dimension = b->dimension;
    else
        return refuse_units(c, step, a, b);
    return CW_OK;
}

static enum cw_status combine(struct check *c, const struct cw_expr_step *step, const struct typed *v,
                              struct cw_dimension *dimension)
{
    bool fits = true;
    switch (step->op) {
    case CW_EXPR_NEGATE:
    case CW_EXPR_ABS:
    case CW_EXPR_FLOOR:
    case CW_EXPR_CEIL:
        *dimension = v[0].dimension;
        return CW_OK;
    case CW_EXPR_DIVIDE:
        if (v[1].constant && v[1].value == 0)
            return cw_error_at(c->err, CW_ERR_INPUT, c->source, 1, step->column, "found a division by zero");
        *dimension = v[0].dimension;
        fits = cw_dimension_multiply(dimension, &v[1].dimension, -1);
        break;
    case CW_EXPR_MULTIPLY:
        *dimension = v[0].dimension;
        fits = cw_dimension_multiply(dimension, &v[1].dimension, 1);
        break;
    case CW_EXPR_IF:
        return unify(c, step, &v[1], &v[2], dimension);
    default: /* comparisons occur only in CW_EXPR_IF, which ignores their unit */
        return unify(c, step, &v[0], &v[1], dimension);
    }
    if (!fits)
        return cw_error_at(c->err, CW_ERR_INPUT, c->source, 1, step->column,
                           "found a unit of measurement of more than %d factors or powers", CW_DIMENSION_FACTORS);
    return CW_OK;
}

static enum cw_status apply(struct check *c, const struct cw_expr_step *step, struct typed *v)
{
    uint32_t takes = cw_expr_takes(step->op);
    struct typed result = {.constant = true};
    double values[3] = {0};
    for (uint32_t i = 0; i < takes; i++) {
        result.constant = result.constant && v[i].constant;
        values[i] = v[i].value;
    }
    enum cw_status status = combine(c, step, v, &result.dimension);
    if (result.constant)
        result.value = cw_expr_apply(step->op, values);
    v[0] = result;
    return status;
}

/* Computes the unit of a formula whose i-th name has the unit names[i]. CW_ERR_INPUT on line 1 of `source`, with the
 * column in the formula, if units do not fit or a division makes no sense. */
static enum cw_status formula_unit(struct typed *result, const struct cw_expr *expr, const struct typed *names,
                                   const char *source, struct cw_error *err)
{
    struct check c = {.source = source, .err = err};
    enum cw_status status = CW_OK;
    uint32_t count = 0;
    for (uint32_t i = 0; status == CW_OK && i < expr->step_count; i++) {
        const struct cw_expr_step *step = &expr->steps[i];
        count -= cw_expr_takes(step->op);
        if (step->op == CW_EXPR_NUMBER)
            c.stack[count] = (struct typed){.constant = true, .value = step->number};
        else if (step->op == CW_EXPR_NAME)
            c.stack[count] = names[step->name];
        else
            status = apply(&c, step, &c.stack[count]);
        count++;
    }
    *result = c.stack[0];
    return status;
}

enum { LARGEST_FILE = 1 << 20, SCHEMA = 1, LONGEST_UNIT = 48 };

enum state { UNSEEN, OPEN, DONE, LEFT_OUT };

/* A formula of the current file. */
struct own {
    const struct cw_yaml *formula; /* a text, or a list of alternatives */
    const struct cw_yaml *unit;
    const struct cw_formula_source *source; /* from cw_formulas_add, or NULL */
    const char *lacks; /* the first missing metric, the reason to leave the formula out, if anybody asks */
    enum state state;
};

struct load {
    struct cw_yaml_reader in;
    struct cw_chip *chip;         /* the copy with the longer table */
    bool shipped;                 /* the file is for all chips: leave out formulas that this chip cannot compute */
    bool any_unit;                /* do not check units */
    cw_formulas_lacking *lacking; /* called for each missing metric, or NULL */
    void *context;
    struct cw_formula *items;
    uint32_t first, count; /* own[i] is items[first + i] */
    struct own *own;
    struct flat *flat;
    struct cw_unit_names units;                   /* of the chip; made on first use */
    uint32_t open[CW_FORMULA_NESTING_MAX], depth; /* stack of formulas being resolved, outermost first */
};

/* A text of a formula: the only one, or one alternative. */
struct attempt {
    struct cw_formula *f;
    const struct own *own;
    const struct cw_yaml *text;
    bool must; /* a missing metric is an error */
    bool lacks;
    struct cw_expr expr;
    struct formula_reference *refs;
    struct cw_arena *scratch;
};

static void *array_in(struct load *l, struct cw_arena *arena, size_t count, size_t size)
{
    void *memory = l->in.status == CW_OK && arena ? cw_arena_alloc(arena, count, size) : NULL;
    if (!memory && l->in.status == CW_OK)
        l->in.status = cw_error_nomem(l->in.err);
    return memory;
}

/* ---- the file --------------------------------------------------------------------------------------------------- */

static void check_name(struct load *l, const struct cw_yaml *key)
{
    struct cw_metric metric;
    if (!cw_expr_is_name(key->text) || strlen(key->text) > CW_YAML_NAME_MAX) {
        cw_yaml_fail(
            &l->in, key,
            "found '%.60s', expected a name of letters, digits, '_' and '.', at most %d, and not " CW_EXPR_FUNCTIONS,
            key->text, CW_YAML_NAME_MAX);
        return;
    }
    uint32_t known = cw_formulas_find(l->chip, key->text);
    if (known != CW_NONE)
        cw_yaml_fail(&l->in, key, "found the metric %s a second time, first in %.200s:%u", key->text,
                     l->items[known].path, l->items[known].line);
    if (cw_chip_find(l->chip, key->text, strlen(key->text), &metric.type, &metric.base) ||
        cw_metric_parse(&metric, l->chip, key->text, NULL) == CW_OK)
        cw_yaml_fail(&l->in, key, "found the metric %s, which %s already has", key->text, l->chip->name);
}

static const char *load_unit(struct load *l, const struct cw_yaml *node)
{
    const char *text = node ? cw_yaml_text(&l->in, node) : "";
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++)
        if (text[i] < 0x20 || text[i] > 0x7e || length > LONGEST_UNIT)
            cw_yaml_fail(&l->in, node, "found the unit '%.60s', expected at most %d plain characters", text,
                         LONGEST_UNIT);
    return text;
}

/* Checks that a formula is a text or a list of texts; returns the first. */
static const char *load_texts(struct load *l, const struct cw_yaml *formula)
{
    bool list = formula && formula->kind == CW_YAML_SEQUENCE;
    for (size_t i = 0; list && i < formula->count; i++)
        cw_yaml_text(&l->in, &formula->items[i]);
    if (list && !formula->count)
        cw_yaml_fail(&l->in, formula, "found no alternative, expected at least one formula");
    return cw_yaml_text(&l->in, list && formula->count ? &formula->items[0] : formula);
}

static void load_one(struct load *l, const struct cw_yaml *metrics, uint32_t i)
{
    static const char *const keys[] = {"formula", "unit", "description", NULL};
    const struct cw_yaml *node = &metrics->items[i];
    cw_yaml_only(&l->in, node, keys);
    const struct cw_yaml *description = cw_yaml_get(&l->in, node, "description", false);
    l->own[i] = (struct own){.formula = cw_yaml_get(&l->in, node, "formula", true),
                             .unit = cw_yaml_get(&l->in, node, "unit", false)};
    l->items[l->first + i] = (struct cw_formula){.name = metrics->keys[i].text,
                                                 .text = load_texts(l, l->own[i].formula),
                                                 .unit = load_unit(l, l->own[i].unit),
                                                 .description = description ? cw_yaml_text(&l->in, description) : "",
                                                 .path = l->in.source,
                                                 .shipped = l->shipped,
                                                 .line = metrics->keys[i].line,
                                                 .column = metrics->keys[i].column};
}

/* Sorts all names: merges those of earlier files, which are sorted, with the keys of this file, or with names that are
 * sorted if `metrics` is NULL. */
static const uint32_t *order_names(struct load *l, const struct cw_yaml *metrics)
{
    const struct cw_formulas *before = l->chip->formulas;
    uint32_t *by_name = cw_yaml_array(&l->in, l->first + l->count, sizeof *by_name), old = 0;
    for (uint32_t i = 0; by_name && i < l->count; i++) {
        uint32_t index = l->first + (metrics ? metrics->keys[i].nth : i);
        while (old < l->first && strcmp(l->items[before->by_name[old]].name, l->items[index].name) < 0) {
            by_name[old + i] = before->by_name[old];
            old++;
        }
        by_name[old + i] = index;
    }
    for (; by_name && old < l->first; old++)
        by_name[old + l->count] = before->by_name[old];
    return by_name;
}

/* Makes room for `count` more formulas; `node` is the first of them or contains them. */
static void begin_table(struct load *l, const struct cw_yaml *node, size_t count)
{
    const struct cw_formulas *before = l->chip->formulas;
    l->first = before ? before->count : 0;
    if (count > CW_FORMULAS_MAX - l->first) {
        cw_yaml_fail(&l->in, node, "found %zu metrics, expected at most %d in all files", count + l->first,
                     CW_FORMULAS_MAX);
        return;
    }
    l->count = (uint32_t)count;
    l->items = cw_yaml_array(&l->in, l->first + l->count, sizeof *l->items);
    l->own = cw_yaml_array(&l->in, l->count, sizeof *l->own);
    if (l->in.status == CW_OK && l->first)
        memcpy(l->items, before->items, l->first * sizeof *l->items);
}

static void load_all(struct load *l, struct cw_formulas *table, const struct cw_yaml *root)
{
    static const char *const keys[] = {"schema", "metrics", NULL};
    cw_yaml_only(&l->in, root, keys);
    cw_yaml_schema(&l->in, root, SCHEMA);
    const struct cw_yaml *metrics = cw_yaml_get(&l->in, root, "metrics", true);
    if (!cw_yaml_expect(&l->in, metrics, CW_YAML_MAPPING, "the metrics"))
        return;
    begin_table(l, metrics, metrics->count);
    for (uint32_t i = 0; i < l->count && l->in.status == CW_OK; i++) {
        const struct cw_yaml key = cw_yaml_key(metrics, i);
        check_name(l, &key);
    }
    for (uint32_t i = 0; i < l->count && l->in.status == CW_OK; i++)
        load_one(l, metrics, i);
    *table = (struct cw_formulas){l->first + l->count, l->items, order_names(l, metrics)};
}

/* ---- one formula ------------------------------------------------------------------------------------------------ */

static void resolve(struct load *l, uint32_t index);

static void fail_cycle(struct load *l, const struct cw_yaml *formula, const struct formula_reference *to)
{
    char path[400] = "";
    size_t used = 0;
    uint32_t start = 0;
    while (l->open[start] != to->metric.base)
        start++;
    for (uint32_t i = start; i < l->depth && used < sizeof path; i++)
        used += (size_t)snprintf(path + used, sizeof path - used, "%s -> ", l->items[l->open[i]].name);
    char message[512];
    snprintf(message, sizeof message, "found a formula that refers back to itself: %s%.60s", path,
             l->items[to->metric.base].name);
    cw_yaml_fail_inside(&l->in, formula, to->column, message);
}

static void follow(struct load *l, const struct cw_yaml *formula, const struct formula_reference *r)
{
    if (l->in.status != CW_OK || r->metric.type != CW_FORMULA || r->metric.base < l->first)
        return;
    struct own *other = &l->own[r->metric.base - l->first];
    if (other->state == OPEN)
        fail_cycle(l, formula, r);
    else if (other->state == UNSEEN && l->depth == CW_FORMULA_NESTING_MAX)
        cw_yaml_fail_inside(&l->in, formula, r->column, "found formulas that refer to formulas more than 64 deep");
    else if (other->state == UNSEEN)
        resolve(l, r->metric.base);
}

/* Whether the chip lacks the metric or its formula. */
static bool lacks(const struct load *l, const struct cw_metric *m)
{
    if (m->type == CW_FORMULA)
        return m->base >= l->first && l->own[m->base - l->first].state == LEFT_OUT;
    return cw_metric_needs(&(struct cw_needs){.chip = l->chip}, m, NULL) == CW_ERR_UNSUPPORTED;
}

/* Looks up a name in the scopes of a source, or as a metric. */
static enum cw_status find_name(const struct load *l, const struct attempt *a, const char *name,
                                struct cw_metric *metric, struct cw_error *err)
{
    const struct cw_formula_source *source = a->own->source;
    for (size_t i = 0; source && i < CW_FORMULA_SCOPES; i++) {
        char full[CW_METRIC_NAME_MAX + CW_EXPR_NAME_LENGTH_MAX];
        snprintf(full, sizeof full, "%.*s%s", CW_METRIC_NAME_MAX - 1, source->scopes[i], name);
        uint32_t known = cw_formulas_find(l->chip, full);
        if (known != CW_NONE) {
            *metric = (struct cw_metric){.type = CW_FORMULA, .base = known};
            return CW_OK;
        }
    }
    return cw_metric_parse(metric, l->chip, name, err);
}

/* Notes a metric that the chip lacks, or a metric that a left-out formula lacks. */
static void note_lack(struct load *l, struct attempt *a, const char *name, const struct formula_reference *r,
                      bool formula)
{
    struct own *own = &l->own[a->own - l->own];
    a->lacks = true;
    if (!l->lacking)
        return;
    if (!own->lacks)
        own->lacks = formula ? l->own[r->metric.base - l->first].lacks : cw_arena_strdup(l->in.arena, name);
    if (!formula)
        l->lacking(l->context, name, l->in.source, a->text->line,
                   a->text->text_column ? a->text->text_column + r->column - 1 : a->text->column);
    if (!own->lacks)
        l->in.status = cw_error_nomem(l->in.err);
}

static void look_up(struct load *l, struct attempt *a, const char *name, struct formula_reference *r)
{
    struct cw_error why = CW_ERROR_INIT;
    if (find_name(l, a, name, &r->metric, a->must ? &why : NULL) == CW_OK) {
        follow(l, a->text, r);
        if (l->in.status == CW_OK && !a->must && lacks(l, &r->metric))
            note_lack(l, a, name, r, r->metric.type == CW_FORMULA);
    } else if (a->must) {
        cw_yaml_fail_inside(&l->in, a->text, r->column, why.message);
    } else {
        note_lack(l, a, name, r, false);
    }
}

static void find_references(struct load *l, struct attempt *a)
{
    const struct cw_expr *expr = &a->expr;
    a->refs = array_in(l, a->scratch, expr->name_count, sizeof *a->refs);
    for (uint32_t i = 0; a->refs && i < expr->step_count; i++)
        if (expr->steps[i].op == CW_EXPR_NAME && !a->refs[expr->steps[i].name].column)
            a->refs[expr->steps[i].name].column = expr->steps[i].column;
    for (uint32_t i = 0; i < expr->name_count && l->in.status == CW_OK && !a->lacks; i++)
        look_up(l, a, expr->names[i], &a->refs[i]);
}

static void compute_unit(struct load *l, const struct attempt *a)
{
    const struct cw_expr *expr = &a->expr;
    struct typed *types = array_in(l, a->scratch, expr->name_count, sizeof *types), result;
    struct cw_error why = CW_ERROR_INIT;
    for (uint32_t i = 0; types && i < expr->name_count && l->in.status == CW_OK; i++) {
        const struct cw_metric *m = &a->refs[i].metric;
        const struct cw_formula *other = m->type == CW_FORMULA ? &l->items[m->base] : NULL;
        char text[CW_DIMENSION_TEXT];
        if (other)
            types[i] = (struct typed){other->dimension, other->constant, other->value};
        else if (!cw_dimension_parse(&types[i].dimension, cw_metric_dimension(l->chip, m, text, sizeof text)))
            cw_yaml_fail_inside(&l->in, a->text, a->refs[i].column,
                                "found a metric with a unit of measurement that formulas cannot use");
    }
    if (l->in.status != CW_OK)
        return;
    if (formula_unit(&result, expr, types, l->in.source, &why) != CW_OK) {
        cw_yaml_fail_inside(&l->in, a->text, why.column, why.message);
        return;
    }
    a->f->dimension = result.dimension;
    a->f->constant = result.constant;
    a->f->value = result.value;
}

/* Removes percent: it is a plain number, and the formula's division by 100 converts. */
static struct cw_dimension without_percent(struct cw_dimension d)
{
    struct cw_dimension plain = {0};
    for (unsigned i = 0; i < d.count; i++)
        if (strcmp(d.factors[i].name, "%") != 0)
            plain.factors[plain.count++] = d.factors[i];
    return plain;
}

/* Whether the unit counts operations: only the author of the formula knows how many an instruction stands for. */
static bool counts_operations(const struct cw_dimension *d)
{
    bool any = false;
    for (unsigned i = 0; i < d->count; i++)
        any = any || strcmp(d->factors[i].name, "FLOP") == 0 || strcmp(d->factors[i].name, "OP") == 0;
    return any;
}

/* Compares the declared unit with the computed one. Trusts a unit of operations (FLOP/s); takes a word that is no unit
 * of the chip as a label; gives a plain number the declared unit. */
static void agree_on_unit(struct load *l, struct cw_formula *f, const struct cw_yaml *declared)
{
    struct cw_dimension wanted, given, said;
    char text[CW_DIMENSION_TEXT];
    cw_dimension_text(&f->dimension, text);
    if (!*f->unit) {
        if (!(f->unit = cw_arena_strdup(l->in.arena, text)))
            l->in.status = cw_error_nomem(l->in.err);
        return;
    }
    if (!cw_dimension_parse(&wanted, f->unit))
        return;
    given = without_percent(f->dimension);
    said = without_percent(wanted);
    const bool number = f->constant && !f->dimension.count;
    if (counts_operations(&wanted))
        f->dimension = wanted;
    else if (!number && cw_dimension_equal(&said, &given))
        return;
    else if (!l->units.items && !cw_unit_names_make(&l->units, l->chip, l->in.arena))
        l->in.status = cw_error_nomem(l->in.err);
    else if (!cw_dimension_known(&wanted, &l->units))
        return;
    else if (number)
        f->dimension = wanted;
    else
        cw_yaml_fail(&l->in, declared, "found the unit %s, expected %.100s as the formula gives", f->unit, text);
}

/* Gives the formula that only renames a metric the unit of the metric. */
static void take_unit(struct load *l, struct cw_formula *f)
{
    char unit[CW_DIMENSION_TEXT];
    if (f->step_count != 1 || f->steps[0].op != CW_EXPR_NAME)
        return;
    f->unit = cw_arena_strdup(l->in.arena, cw_metric_dimension(l->chip, &f->metrics[0], unit, sizeof unit));
    if (!f->unit)
        l->in.status = cw_error_nomem(l->in.err);
}

/* Resolves one text. Uses temporary memory many times the size of the text and frees it. False if the chip lacks
 * something that the text names, and after a failure. */
static bool resolve_text(struct load *l, struct attempt *a)
{
    a->scratch = cw_arena_create();
    a->f->text = a->text->text;
    struct cw_error *why = array_in(l, a->scratch, 1, sizeof *why); /* not on the stack: formulas nest */
    if (why && cw_expr_parse(&a->expr, a->f->text, l->in.source, a->scratch, why) != CW_OK) {
        if (why->code == CW_ERR_NOMEM)
            l->in.status = cw_error_nomem(l->in.err);
        else
            cw_yaml_fail_inside(&l->in, a->text, why->column, why->message);
    }
    if (l->in.status == CW_OK)
        find_references(l, a);
    bool good = l->in.status == CW_OK && !a->lacks;
    if (good && !l->any_unit)
        compute_unit(l, a);
    if (good && !l->any_unit && l->in.status == CW_OK)
        agree_on_unit(l, a->f, a->own->unit);
    if (good && l->in.status == CW_OK)
        formula_write_out(l->flat, &l->in, a->text, a->f, l->items, &a->expr, a->refs);
    if (good && l->any_unit && l->in.status == CW_OK)
        take_unit(l, a->f);
    cw_arena_destroy(a->scratch);
    return good && l->in.status == CW_OK;
}

/* Takes the first alternative for which the chip has everything. If there is none, the first one determines the missing
 * metric. */
static void resolve(struct load *l, uint32_t index)
{
    struct own *own = &l->own[index - l->first];
    const struct cw_yaml *formula = own->formula;
    const bool list = formula->kind == CW_YAML_SEQUENCE;
    const struct cw_yaml *texts = list ? formula->items : formula;
    const char *outer = l->in.source;
    bool done = false;
    own->state = OPEN;
    l->in.source = l->items[index].path;
    l->open[l->depth++] = index;
    for (size_t i = 0; (list || l->shipped) && i < (list ? formula->count : 1) && !done && l->in.status == CW_OK; i++)
        done = resolve_text(l, &(struct attempt){.f = &l->items[index], .own = own, .text = &texts[i]});
    if (!done && !l->shipped && l->in.status == CW_OK)
        done = resolve_text(l, &(struct attempt){.f = &l->items[index], .own = own, .text = texts, .must = true});
    l->depth--;
    l->in.source = outer;
    own->state = done ? DONE : LEFT_OUT;
}

/* Removes left-out formulas from the table, and renumbers references between formulas. */
static void close_gaps(struct load *l, struct cw_formulas *table)
{
    uint32_t *now = cw_yaml_array(&l->in, table->count, sizeof *now);
    uint32_t *by_name = (uint32_t *)table->by_name, count = 0, named = 0;
    if (!now)
        return;
    for (uint32_t i = 0; i < table->count; i++)
        now[i] = i >= l->first && l->own[i - l->first].state == LEFT_OUT ? CW_NONE : count++;
    for (uint32_t i = 0; i < table->count; i++)
        if (now[by_name[i]] != CW_NONE)
            by_name[named++] = now[by_name[i]];
    for (uint32_t i = l->first; i < table->count; i++) {
        const struct cw_list *to = &l->items[i].formulas;
        for (uint32_t k = 0; now[i] != CW_NONE && k < to->count; k++)
            ((uint32_t *)to->items)[k] = now[to->items[k]];
        for (uint32_t k = 0; now[i] != CW_NONE && k < l->items[i].part_count; k++)
            ((struct cw_formula_part *)l->items[i].parts)[k].formula = now[l->items[i].parts[k].formula];
        if (now[i] != CW_NONE)
            l->items[now[i]] = l->items[i];
    }
    table->count = count;
}

/* ---- public ----------------------------------------------------------------------------------------------------- */

static enum cw_status resolve_all(struct load *l, struct cw_formulas *table, const struct cw_chip **chip)
{
    l->chip->formulas = table;
    l->flat = flat_make();
    if (!l->flat)
        l->in.status = cw_error_nomem(l->in.err);
    for (uint32_t i = 0; i < l->count && l->in.status == CW_OK; i++)
        if (l->own[i].state == UNSEEN)
            resolve(l, l->first + i);
    if (l->in.status == CW_OK && l->shipped)
        close_gaps(l, table);
    if (l->in.status == CW_OK)
        *chip = l->chip;
    free(l->flat);
    return l->in.status;
}

static enum cw_status parse(const struct cw_chip **chip, const void *data, size_t size, const char *path, bool shipped,
                            struct cw_arena *arena, struct cw_error *err)
{
    struct cw_yaml *root;
    struct load l = {.in = {.source = cw_arena_strdup(arena, path), .arena = arena, .err = err, .size = size},
                     .shipped = shipped};
    struct cw_formulas *table = cw_arena_alloc(arena, 1, sizeof *table);
    l.chip = cw_arena_alloc(arena, 1, sizeof *l.chip);
    if (!l.in.source || !table || !l.chip)
        return cw_error_nomem(err);
    l.in.status = cw_yaml_parse(&root, data, size, l.in.source, arena, err);
    if (l.in.status != CW_OK)
        return l.in.status;
    *l.chip = **chip;
    load_all(&l, table, root);
    if (l.in.status != CW_OK)
        return l.in.status;
    return resolve_all(&l, table, chip);
}

enum cw_status cw_formulas_add(const struct cw_chip **chip, struct cw_formula_source *sources, size_t count,
                               size_t size, cw_formulas_lacking *lacking, void *context, struct cw_arena *arena,
                               struct cw_error *err)
{
    struct load l = {.in = {.source = count ? sources[0].path : "", .arena = arena, .err = err, .size = size},
                     .shipped = true,
                     .any_unit = true,
                     .lacking = lacking,
                     .context = context};
    struct cw_formulas *table = cw_arena_alloc(arena, 1, sizeof *table);
    l.chip = cw_arena_alloc(arena, 1, sizeof *l.chip);
    if (!table || !l.chip)
        return cw_error_nomem(err);
    *l.chip = **chip;
    begin_table(&l, count ? sources[0].formula : NULL, count);
    for (uint32_t i = 0; i < l.count && l.in.status == CW_OK; i++) {
        const struct cw_formula_source *s = &sources[i];
        l.in.source = s->path;
        if (cw_formulas_find(*chip, s->name) != CW_NONE)
            return cw_error_at(err, CW_ERR_INPUT, s->path, s->line, s->column,
                               "found the metric %.200s, which a formula of --metrics-db has", s->name);
        l.own[i] = (struct own){.formula = s->formula, .source = s};
        l.items[l.first + i] = (struct cw_formula){.name = s->name,
                                                   .text = load_texts(&l, s->formula),
                                                   .unit = "",
                                                   .description = "",
                                                   .path = s->path,
                                                   .shipped = true,
                                                   .line = s->line,
                                                   .column = s->column};
    }
    *table = (struct cw_formulas){l.first + l.count, l.items, order_names(&l, NULL)};
    enum cw_status status = resolve_all(&l, table, chip);
    for (uint32_t i = 0; i < l.count && status == CW_OK; i++)
        sources[i].lacks = l.own[i].state == LEFT_OUT ? l.own[i].lacks : NULL;
    return status;
}

enum cw_status cw_formulas_parse(const struct cw_chip **chip, const void *data, size_t size, const char *path,
                                 struct cw_arena *arena, struct cw_error *err)
{
    return parse(chip, data, size, path, false, arena, err);
}

static enum cw_status load_file(const struct cw_chip **chip, const char *path, bool shipped, struct cw_arena *arena,
                                struct cw_error *err)
{
    struct cw_bytes file;
    enum cw_status status = cw_file_read(&file, path, LARGEST_FILE, err);
    if (status != CW_OK)
        return status;
    status = parse(chip, file.data, file.size, path, shipped, arena, err);
    cw_bytes_free(&file);
    return status;
}

enum cw_status cw_formulas_load(const struct cw_chip **chip, const char *path, struct cw_arena *arena,
                                struct cw_error *err)
{
    return load_file(chip, path, false, arena, err);
}

enum cw_status cw_formulas_load_shipped(const struct cw_chip **chip, const char *data, struct cw_arena *arena,
                                        struct cw_error *err)
{
    char dir[CW_PATH_MAX], path[CW_DATA_PATH_MAX];
    const char *const *names = NULL;
    size_t count = 0;
    if (cw_data_dir(dir, data, NULL) != CW_OK) /* a chip's file may be used without a data folder */
        return CW_OK;
    snprintf(path, sizeof path, "%s/formulas", dir);
    if (access(path, F_OK) != 0)
        return CW_OK;
    enum cw_status status = cw_data_list(data, "formulas", &names, &count, arena, err);
    for (size_t i = 0; status == CW_OK && i < count; i++) {
        snprintf(path, sizeof path, "%s/formulas/%.200s.yaml", dir, names[i]);
        status = load_file(chip, path, true, arena, err);
    }
    return status;
}
