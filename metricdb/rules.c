#include "metricdb/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "metricdb/data.h"
#include "metricdb/expr.h"
#include "metricdb/formula.h"
#include "metricdb/formula_load.h"
#include "metricdb/term.h"
#include "metricdb/yaml.h"

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* A rule before its formulas are known. */
struct rule_draft {
    struct cw_rule rule;
    const struct cw_yaml *text, *evidence;
};

struct loading {
    struct cw_yaml_reader in; /* reader of the current file */
    const struct cw_chip *chip;
    struct cw_rules *rules;
    /* malloc memory, until all files are read: */
    struct cw_formula_source *sources;
    struct rule_draft *drafts;
    struct cw_limiter *limiters;
    struct cw_rule_missing *missing;
    size_t source_count, draft_count, limiter_count, missing_count;
    size_t source_room, draft_room, limiter_room, missing_room;
    const char *tree; /* the file with the tree, or NULL */
};

enum {
    LARGEST_FILE = 1 << 20,
    SCHEMA = 1,
    LONGEST_ID = 60,
    LONGEST_NAME = 100,
    MOST_STALLS = 64,
    MOST_CONDITIONS = 16
};

/* Makes room for one more of `count` items; false after a failure. */
static bool rules_room(struct loading *l, void **items, size_t count, size_t *room, size_t size)
{
    if (l->in.status != CW_OK || count < *room)
        return l->in.status == CW_OK;
    size_t more = *room ? 2 * *room : 64;
    void *grown = realloc(*items, more * size);
    if (!grown) {
        l->in.status = cw_error_nomem(l->in.err);
        return false;
    }
    *items = grown;
    *room = more;
    return true;
}

/* Joins three texts; "" after a failure. */
static const char *rules_join(struct loading *l, const char *a, const char *b, const char *c)
{
    const char *text = l->in.status == CW_OK ? cw_arena_printf(l->in.arena, "%s%s%s", a, b, c) : "";
    if (!text)
        l->in.status = cw_error_nomem(l->in.err);
    return text ? text : "";
}

/* Adds a formula at `at`; does nothing if it is NULL. `scope` is the prefix of its name, and of the formulas that it
 * may name without it: "rule.tail-wave." */
static void rules_add_source(struct loading *l, const char *scope, const char *name, const struct cw_yaml *at,
                             const struct cw_yaml *formula)
{
    if (!formula || !rules_room(l, (void **)&l->sources, l->source_count, &l->source_room, sizeof *l->sources))
        return;
    l->sources[l->source_count++] = (struct cw_formula_source){.name = rules_join(l, scope, name, ""),
                                                               .scopes = {scope, "value."},
                                                               .path = l->in.source,
                                                               .line = at->line,
                                                               .column = at->column,
                                                               .formula = formula};
}

/* Whether a text compares two formulas; as a formula it is "if(a < b, 1, 0)". */
static bool compares(const char *text)
{
    int depth = 0;
    for (; *text && (depth || !strchr("<>=!", *text)); text++)
        depth += (*text == '(') - (*text == ')');
    return *text != 0;
}

static void add_condition(struct loading *l, const char *scope, const char *name, const struct cw_yaml *at,
                          const struct cw_yaml *text)
{
    static const char before[] = "if(";
    struct cw_yaml *whole = cw_yaml_array(&l->in, 1, sizeof *whole);
    const char *condition = cw_yaml_text(&l->in, text);
    if (l->in.status != CW_OK)
        return;
    *whole = *text;
    if (compares(condition)) {
        whole->text = rules_join(l, before, condition, ", 1, 0)");
        whole->text_column -= text->text_column > sizeof before - 1 ? sizeof before - 1 : text->text_column;
    }
    rules_add_source(l, scope, name, at, whole);
}

/* Adds a condition, or a list of them: "when" is then "when.1 * when.2", and "refuted_by" the largest of them. */
static void add_conditions(struct loading *l, const char *scope, const char *name, const struct cw_yaml *at,
                           const struct cw_yaml *list, bool all)
{
    const char *joined = "";
    struct cw_yaml *whole = cw_yaml_array(&l->in, 1, sizeof *whole);
    if (!list || !whole)
        return;
    if (list->kind != CW_YAML_SEQUENCE) {
        add_condition(l, scope, name, at, list);
        return;
    }
    if (!list->count || list->count > MOST_CONDITIONS)
        cw_yaml_fail(&l->in, list, "found %zu conditions, expected 1 to %d", list->count, MOST_CONDITIONS);
    for (size_t i = 0; i < list->count && l->in.status == CW_OK; i++) {
        char number[24];
        snprintf(number, sizeof number, ".%zu", i + 1);
        const char *one = rules_join(l, name, number, "");
        add_condition(l, scope, one, &list->items[i], &list->items[i]);
        joined = i ? rules_join(l, joined, all ? " * " : ", ", one) : one;
    }
    *whole = (struct cw_yaml){.kind = CW_YAML_SCALAR, .line = list->line, .column = list->column};
    whole->text = all || list->count == 1 ? joined : rules_join(l, "max(", joined, ")");
    rules_add_source(l, scope, name, at, whole);
}

static void read_values(struct loading *l, const char *scope, const struct cw_yaml *values)
{
    if (!values || !cw_yaml_expect(&l->in, values, CW_YAML_MAPPING, "values"))
        return;
    for (size_t i = 0; i < values->count && l->in.status == CW_OK; i++) {
        const struct cw_yaml key = cw_yaml_key(values, i);
        if (!cw_expr_is_name(key.text) || strlen(key.text) > LONGEST_NAME)
            cw_yaml_fail(&l->in, &key, "found '%.60s', expected a name of letters, digits, '_' and '.', at most %d",
                         key.text, LONGEST_NAME);
        rules_add_source(l, scope, key.text, &key, &values->items[i]);
    }
}

static const char *filled(struct loading *l, const struct cw_yaml *mapping, const char *key)
{
    const struct cw_yaml *node = cw_yaml_get(&l->in, mapping, key, true);
    const char *text = cw_yaml_text(&l->in, node);
    if (l->in.status == CW_OK && !*text)
        cw_yaml_fail(&l->in, node, "found an empty %s", key);
    return text;
}

static const char *read_id(struct loading *l, const struct cw_yaml *node)
{
    const char *id = cw_yaml_text(&l->in, node);
    size_t length = strspn(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
    if (l->in.status == CW_OK && (!length || length > LONGEST_ID || id[length]))
        cw_yaml_fail(&l->in, node, "found '%.60s', expected an id of letters, digits, '-' and '_', at most %d", id,
                     LONGEST_ID);
    return id;
}

/* Whether a rule is for the chip. */
static bool is_meant(struct loading *l, const struct cw_yaml *chips)
{
    bool meant = !chips;
    if (!chips || !cw_yaml_expect(&l->in, chips, CW_YAML_SEQUENCE, "chips"))
        return meant;
    for (size_t i = 0; i < chips->count; i++) {
        const char *name = cw_yaml_text(&l->in, &chips->items[i]);
        meant = meant || strcmp(name, l->chip->name) == 0;
        for (uint32_t k = 0; k < l->chip->also_count; k++)
            meant = meant || strcmp(name, l->chip->also[k]) == 0;
    }
    return meant;
}

static void read_stalls(struct loading *l, struct cw_rule *rule, const struct cw_yaml *list)
{
    if (!list || !cw_yaml_expect(&l->in, list, CW_YAML_SEQUENCE, "stalls"))
        return;
    if (list->count > MOST_STALLS)
        cw_yaml_fail(&l->in, list, "found %zu stall reasons, expected at most %d", list->count, MOST_STALLS);
    const char **stalls = cw_yaml_array(&l->in, list->count, sizeof *stalls);
    for (size_t i = 0; i < list->count && l->in.status == CW_OK; i++)
        stalls[i] = cw_yaml_name(&l->in, &list->items[i]);
    rule->stalls = stalls;
    rule->stall_count = list->count;
}

static bool read_note(struct loading *l, const struct cw_yaml *node)
{
    const char *text = node ? cw_yaml_text(&l->in, node) : "false";
    bool note = strcmp(text, "true") == 0;
    if (l->in.status == CW_OK && !note && strcmp(text, "false") != 0)
        cw_yaml_fail(&l->in, node, "found note '%.40s', expected true or false", text);
    return note;
}

/* Adds the gain that advice shows by the launch alone (uncounted_gain_of), so that it can be explained. */
static void add_by_launch(struct loading *l, const char *scope, const struct cw_yaml *at,
                          const struct cw_yaml *uncounted)
{
    struct cw_yaml *whole = cw_yaml_array(&l->in, 1, sizeof *whole);
    char shortest[24];
    if (!uncounted || !whole || l->chip->time == CW_NONE)
        return;
    snprintf(shortest, sizeof shortest, "%d", CW_RULE_SHORTEST_NS);
    *whole = (struct cw_yaml){.kind = CW_YAML_SCALAR, .line = uncounted->line, .column = uncounted->column};
    whole->text = rules_join(l, "min(1, uncounted) * max(0, 1 - ", shortest, " / duration)");
    rules_add_source(l, scope, "by_launch", at, whole);
}

static void read_rule(struct loading *l, const struct cw_yaml *rules, size_t i)
{
    static const char *const keys[] = {"title",     "chips", "values", "when",     "gain",   "bound", "refuted_by",
                                       "uncounted", "text",  "fix",    "evidence", "stalls", "note",  NULL};
    const struct cw_yaml *node = &rules->items[i], key = cw_yaml_key(rules, i);
    struct rule_draft draft = {.rule = {.path = l->in.source, .line = key.line, .column = key.column}};
    cw_yaml_only(&l->in, node, keys);
    draft.rule.id = read_id(l, &key);
    draft.rule.title = filled(l, node, "title");
    draft.rule.fix = filled(l, node, "fix");
    filled(l, node, "text");
    draft.text = cw_yaml_get(&l->in, node, "text", true);
    draft.evidence = cw_yaml_get(&l->in, node, "evidence", false);
    if (draft.evidence)
        cw_yaml_expect(&l->in, draft.evidence, CW_YAML_SEQUENCE, "evidence");
    draft.rule.note = read_note(l, cw_yaml_get(&l->in, node, "note", false));
    read_stalls(l, &draft.rule, cw_yaml_get(&l->in, node, "stalls", false));
    if (!is_meant(l, cw_yaml_get(&l->in, node, "chips", false)))
        return;
    const char *scope = rules_join(l, "rule.", draft.rule.id, ".");
    read_values(l, scope, cw_yaml_get(&l->in, node, "values", false));
    add_conditions(l, scope, "when", &key, cw_yaml_get(&l->in, node, "when", true), true);
    add_conditions(l, scope, "refuted_by", &key, cw_yaml_get(&l->in, node, "refuted_by", false), false);
    rules_add_source(l, scope, "gain", &key, cw_yaml_get(&l->in, node, "gain", true));
    rules_add_source(l, scope, "bound", &key, cw_yaml_get(&l->in, node, "bound", false));
    rules_add_source(l, scope, "uncounted", &key, cw_yaml_get(&l->in, node, "uncounted", false));
    add_by_launch(l, scope, &key, cw_yaml_get(&l->in, node, "uncounted", false));
    if (rules_room(l, (void **)&l->drafts, l->draft_count, &l->draft_room, sizeof draft))
        l->drafts[l->draft_count++] = draft;
}

/* Reads nodes. `above`: path of their parent, "" for none; `prefix`: prefix of the names of their formulas. YAML nests
 * at most 24 deep. */
static void read_nodes(struct loading *l, const struct cw_yaml *nodes, const char *above, const char *prefix,
                       uint32_t depth)
{
    static const char *const keys[] = {"id", "title", "when", "value", "then", NULL};
    if (!cw_yaml_expect(&l->in, nodes, CW_YAML_SEQUENCE, "nodes"))
        return;
    for (size_t i = 0; i < nodes->count && l->in.status == CW_OK; i++) {
        const struct cw_yaml *node = &nodes->items[i];
        cw_yaml_only(&l->in, node, keys);
        const struct cw_yaml *then = cw_yaml_get(&l->in, node, "then", false);
        const char *id = read_id(l, cw_yaml_get(&l->in, node, "id", true));
        const char *scope = rules_join(l, prefix, id, ".");
        struct cw_limiter limiter = {.id = id,
                                     .title = filled(l, node, "title"),
                                     .path = rules_join(l, above, *above ? " > " : "", id),
                                     .depth = depth,
                                     .file = l->in.source,
                                     .line = node->line,
                                     .column = node->column};
        if (l->in.status == CW_OK && strlen(scope) > CW_METRIC_NAME_MAX - LONGEST_NAME)
            cw_yaml_fail(&l->in, node, "found nodes with ids of %zu characters within one another, expected at most %d",
                         strlen(scope), CW_METRIC_NAME_MAX - LONGEST_NAME);
        add_conditions(l, scope, "when", node, cw_yaml_get(&l->in, node, "when", false), true);
        rules_add_source(l, scope, "value", node, cw_yaml_get(&l->in, node, "value", false));
        size_t at = l->limiter_count;
        if (!rules_room(l, (void **)&l->limiters, at, &l->limiter_room, sizeof limiter))
            return;
        l->limiters[l->limiter_count++] = limiter;
        if (then)
            read_nodes(l, then, limiter.path, scope, depth + 1);
        l->limiters[at].next = (uint32_t)l->limiter_count;
    }
}

static void rules_read_text(struct loading *l, const void *data, size_t size, const char *path)
{
    static const char *const keys[] = {"schema", "values", "rules", "tree", NULL};
    if (l->in.status == CW_OK && !(l->in.source = cw_arena_strdup(l->in.arena, path)))
        l->in.status = cw_error_nomem(l->in.err);
    if (l->in.status != CW_OK)
        return;
    const struct cw_yaml *root = cw_yaml_load(&l->in, "rules", keys, SCHEMA, data, size);
    l->in.size += size;
    read_values(l, "value.", cw_yaml_get(&l->in, root, "values", false));
    const struct cw_yaml *rules = cw_yaml_get(&l->in, root, "rules", false);
    const struct cw_yaml *tree = cw_yaml_get(&l->in, root, "tree", false);
    if (rules && cw_yaml_expect(&l->in, rules, CW_YAML_MAPPING, "rules"))
        for (size_t i = 0; i < rules->count && l->in.status == CW_OK; i++)
            read_rule(l, rules, i);
    if (tree && l->tree)
        cw_yaml_fail(&l->in, tree, "found a second tree, the first is in %.200s", l->tree);
    if (tree) {
        l->tree = l->in.source;
        read_nodes(l, tree, "", "limiter.", 0);
    }
}

/* Adds the rules of a file. */
static void rules_read_file(struct loading *l, const char *path)
{
    struct cw_bytes file = {0};
    if (l->in.status == CW_OK)
        l->in.status = cw_file_read(&file, path, LARGEST_FILE, l->in.err);
    rules_read_text(l, file.data, file.size, path);
    cw_bytes_free(&file);
}

/* Joins rules with a chip: their formulas, the names in texts and evidence, and all metrics that these need. */

enum { MOST_PIECES = 32 };

/* ---- formulas --------------------------------------------------------------------------------------------------- */

static int by_source_name(const void *a, const void *b)
{
    const struct cw_formula_source *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    order = order ? order : strcmp(x->path, y->path);
    return order ? order : (x->line > y->line) - (x->line < y->line);
}

static int is_called(const void *name, const void *source)
{
    return strcmp(name, ((const struct cw_formula_source *)source)->name);
}

static const struct cw_formula_source *find_source(const struct loading *l, const char *name)
{
    return l->source_count ? bsearch(name, l->sources, l->source_count, sizeof *l->sources, is_called) : NULL;
}

static void note_missing(void *load, const char *name, const char *path, unsigned line, unsigned column)
{
    struct loading *l = load;
    const char *own = l->in.status == CW_OK ? cw_arena_strdup(l->in.arena, name) : NULL;
    if (l->in.status == CW_OK && !own)
        l->in.status = cw_error_nomem(l->in.err);
    if (own && rules_room(l, (void **)&l->missing, l->missing_count, &l->missing_room, sizeof *l->missing))
        l->missing[l->missing_count++] = (struct cw_rule_missing){own, path, line, column};
}

static void add_formulas(struct loading *l)
{
    if (l->in.status != CW_OK)
        return;
    if (l->source_count)
        qsort(l->sources, l->source_count, sizeof *l->sources, by_source_name);
    for (size_t i = 1; i < l->source_count && l->in.status == CW_OK; i++) {
        const struct cw_formula_source *first = &l->sources[i - 1], *s = &l->sources[i];
        if (strcmp(first->name, s->name) == 0)
            l->in.status = cw_error_at(l->in.err, CW_ERR_INPUT, s->path, s->line, s->column,
                                       "found %s a second time, first in %.200s:%u", s->name, first->path, first->line);
    }
    if (l->in.status == CW_OK)
        l->in.status =
            cw_formulas_add(&l->chip, l->sources, l->source_count, l->in.size, note_missing, l, l->in.arena, l->in.err);
}

/* Finds the formula of a rule or a node; *lacks: a metric that the chip lacks for it. */
static uint32_t find_formula(struct loading *l, const char *before, const char *name, const char **lacks)
{
    const struct cw_formula_source *source = find_source(l, rules_join(l, before, name, ""));
    if (!source)
        return CW_NONE;
    uint32_t found = cw_formulas_find(l->chip, source->name);
    if (found == CW_NONE && !*lacks)
        *lacks = source->lacks;
    return found;
}

/* ---- names in texts and evidence -------------------------------------------------------------------------------- */

/* Finds a value of the rule, a value of all rules, or a metric. False if the chip lacks it; `rule->lacks` names it
 * then. */
static bool find_name(struct loading *l, const struct cw_rule *rule, const struct cw_yaml *node,
                      struct cw_rule_name *found, const char **lacks)
{
    const struct cw_formula_source *source =
        find_source(l, rules_join(l, rules_join(l, "rule.", rule->id, "."), found->name, ""));
    source = source ? source : find_source(l, rules_join(l, "value.", found->name, ""));
    uint32_t formula = source ? cw_formulas_find(l->chip, source->name) : CW_NONE;
    if (l->in.status != CW_OK)
        return false;
    if (formula != CW_NONE) {
        found->metric = (struct cw_metric){.type = CW_FORMULA, .base = formula};
        return true;
    }
    if (source) {
        *lacks = source->lacks;
        return false;
    }
    if (cw_metric_parse(&found->metric, l->chip, found->name, NULL) == CW_OK &&
        cw_metric_needs(&(struct cw_needs){.chip = l->chip}, &found->metric, NULL) != CW_ERR_UNSUPPORTED)
        return true;
    note_missing(l, found->name, rule->path, node->line, node->column);
    *lacks = found->name;
    return false;
}

/* Splits "name:x" of `length` characters. False for any other form. */
static bool split_form(struct loading *l, struct cw_rule_name *name, const char *text, size_t length)
{
    static const char *const forms[] = {"", ":%", ":x"};
    const size_t end = strcspn(text, ":}") < length ? strcspn(text, ":}") : length;
    size_t form = 0;
    while (form < 3 && (strlen(forms[form]) != length - end || strncmp(text + end, forms[form], length - end) != 0))
        form++;
    if (form == 3 || !end)
        return false;
    name->form = (enum cw_rule_form)form;
    if (!(name->name = cw_arena_strndup(l->in.arena, text, end)))
        l->in.status = cw_error_nomem(l->in.err);
    return true;
}

/* Reads one "{name:x}" and returns the text behind it. */
static const char *read_piece(struct loading *l, struct cw_rule *rule, const struct cw_yaml *node, const char *at,
                              struct cw_rule_piece *piece)
{
    const size_t length = strcspn(at, "}");
    if (!at[length] || !split_form(l, &piece->value, at + 1, length - 1)) {
        cw_yaml_fail(&l->in, node, "found '%.40s' in a text, expected {name}, {name:%%} or {name:x}", at);
        return "";
    }
    if (l->in.status == CW_OK)
        find_name(l, rule, node, &piece->value, &rule->lacks);
    return at + length + 1;
}

static void read_pieces(struct loading *l, struct cw_rule *rule, const struct cw_yaml *node)
{
    struct cw_rule_piece *pieces = cw_yaml_array(&l->in, MOST_PIECES, sizeof *pieces);
    const char *text = node->text;
    for (size_t i = 0; l->in.status == CW_OK; i++) {
        size_t before = strcspn(text, "{");
        const char *own = cw_arena_strndup(l->in.arena, text, before);
        if (!own) {
            l->in.status = cw_error_nomem(l->in.err);
        } else if (!text[before]) {
            rule->end = own;
            break;
        } else if (i == MOST_PIECES) {
            cw_yaml_fail(&l->in, node, "found more than %d names in a text", MOST_PIECES);
        } else {
            pieces[rule->piece_count++].before = own;
            text = read_piece(l, rule, node, text + before, &pieces[i]);
        }
    }
    rule->pieces = pieces;
}

/* Gives a name of the evidence the form that it has in the text, unless the list gives one. */
static void take_form(const struct cw_rule *rule, struct cw_rule_name *name)
{
    for (size_t i = 0; i < rule->piece_count && name->form == CW_RULE_PLAIN; i++)
        if (strcmp(rule->pieces[i].value.name, name->name) == 0)
            name->form = rule->pieces[i].value.form;
}

/* Reads an item of the list, or the first of its alternatives that the chip has. */
static bool read_fact(struct loading *l, const struct cw_rule *rule, const struct cw_yaml *node,
                      struct cw_rule_name *found)
{
    const bool alternatives = node->kind == CW_YAML_SEQUENCE;
    const char *lacks;
    for (size_t i = 0; i < (alternatives ? node->count : 1); i++) {
        const struct cw_yaml *one = alternatives ? &node->items[i] : node;
        const char *text = cw_yaml_text(&l->in, one);
        if (l->in.status == CW_OK && !split_form(l, found, text, strlen(text)))
            cw_yaml_fail(&l->in, one, "found the evidence '%.60s', expected name, name:%% or name:x", text);
        if (l->in.status != CW_OK)
            return false;
        take_form(rule, found);
        if (find_name(l, rule, one, found, &lacks))
            return true;
    }
    return false;
}

static void read_evidence(struct loading *l, struct cw_rule *rule, const struct cw_yaml *list)
{
    struct cw_rule_name *evidence = cw_yaml_array(&l->in, list->count, sizeof *evidence);
    for (size_t i = 0; i < list->count && l->in.status == CW_OK; i++)
        rule->evidence_count += read_fact(l, rule, &list->items[i], &evidence[rule->evidence_count]);
    rule->evidence = evidence;
}

/* Makes evidence of the metrics named in the formulas. */
static void take_evidence(struct loading *l, struct cw_rule *rule)
{
    const uint32_t formulas[] = {rule->when, rule->gain};
    const struct cw_formulas *all = l->chip->formulas;
    size_t room = 0;
    for (int i = 0; i < 2; i++)
        room += formulas[i] == CW_NONE ? 0 : all->items[formulas[i]].metric_count;
    struct cw_rule_name *evidence = cw_yaml_array(&l->in, room, sizeof *evidence);
    for (int i = 0; i < 2 && l->in.status == CW_OK; i++)
        for (uint32_t k = 0; formulas[i] != CW_NONE && k < all->items[formulas[i]].metric_count; k++) {
            char name[CW_METRIC_NAME_MAX];
            const struct cw_metric *m = &all->items[formulas[i]].metrics[k];
            cw_metric_name(l->chip, m, name);
            size_t known = 0;
            while (known < rule->evidence_count && strcmp(evidence[known].name, name) != 0)
                known++;
            if (known == rule->evidence_count)
                evidence[rule->evidence_count++] =
                    (struct cw_rule_name){.name = rules_join(l, name, "", ""), .metric = *m};
        }
    rule->evidence = evidence;
}

static void link_rule(struct loading *l, struct cw_rule *rule, const struct rule_draft *draft)
{
    *rule = draft->rule;
    l->in.source = rule->path;
    const char *before = rules_join(l, "rule.", rule->id, ".");
    rule->when = find_formula(l, before, "when", &rule->lacks);
    rule->gain = find_formula(l, before, "gain", &rule->lacks);
    rule->bound = find_formula(l, before, "bound", &rule->lacks);
    rule->refuted_by = find_formula(l, before, "refuted_by", &rule->lacks);
    rule->uncounted = find_formula(l, before, "uncounted", &rule->lacks);
    rule->by_launch = find_formula(l, before, "by_launch", &rule->lacks);
    read_pieces(l, rule, draft->text);
    if (draft->evidence)
        read_evidence(l, rule, draft->evidence);
    else
        take_evidence(l, rule);
}

/* Turns "latency > barrier" into "limiter.latency.barrier." */
static void link_limiter(struct loading *l, struct cw_limiter *limiter)
{
    char before[CW_METRIC_NAME_MAX] = "limiter.";
    for (const char *from = limiter->path; *from;) {
        size_t length = strcspn(from, " "), used = strlen(before);
        snprintf(before + used, sizeof before - used, "%.*s.", (int)length, from);
        from += length + strspn(from + length, " >");
    }
    limiter->when = find_formula(l, before, "when", &limiter->lacks);
    limiter->value = find_formula(l, before, "value", &limiter->lacks);
}

/* ---- needed metrics --------------------------------------------------------------------------------------------- */

struct wanted {
    const struct cw_chip *chip;
    struct cw_metric *items; /* NULL: only count */
    size_t count;
};

/* Adds a metric and its inputs. */
static void want(struct wanted *w, const struct cw_metric *metric)
{
    uint32_t count;
    const struct cw_metric *parts = cw_metric_parts(w->chip, metric, &count);
    for (uint32_t i = 0; i < count; i++, w->count++)
        if (w->items)
            w->items[w->count] = parts[i];
    if (w->items)
        w->items[w->count] = *metric;
    w->count++;
}

static void want_formulas(struct wanted *w, const uint32_t *formulas, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (formulas[i] != CW_NONE)
            want(w, &(struct cw_metric){.type = CW_FORMULA, .base = formulas[i]});
}

static void gather(struct wanted *w, const struct cw_rules *rules)
{
    w->count = 0;
    if (w->chip->time != CW_NONE)
        want(w, &(struct cw_metric){.type = CW_COUNTER, .base = w->chip->time});
    for (size_t i = 0; i < rules->rule_count; i++) {
        const struct cw_rule *r = &rules->rules[i];
        if (r->lacks)
            continue;
        want_formulas(w, (uint32_t[]){r->when, r->gain, r->bound, r->refuted_by, r->uncounted}, 5);
        for (size_t k = 0; k < r->piece_count; k++)
            want(w, &r->pieces[k].value.metric);
        for (size_t k = 0; k < r->evidence_count; k++)
            want(w, &r->evidence[k].metric);
    }
    for (size_t i = 0; i < rules->limiter_count; i++)
        want_formulas(w, (uint32_t[]){rules->limiters[i].when, rules->limiters[i].value}, 2);
}

static void list_metrics(struct loading *l)
{
    struct wanted w = {.chip = l->chip};
    if (l->in.status != CW_OK)
        return;
    gather(&w, l->rules);
    cw_yaml_spend(&l->in, NULL, w.count * sizeof *w.items);
    w.items = cw_yaml_array(&l->in, w.count, sizeof *w.items);
    if (!w.items)
        return;
    gather(&w, l->rules);
    qsort(w.items, w.count, sizeof *w.items, cw_metric_compare);
    for (size_t i = 0; i < w.count; i++)
        if (!i || cw_metric_compare(&w.items[i - 1], &w.items[i]) != 0)
            w.items[l->rules->metric_count++] = w.items[i];
    l->rules->metrics = w.items;
}

/* ---- all steps -------------------------------------------------------------------------------------------------- */

static void link_all(struct loading *l)
{
    struct cw_rule *rules = cw_yaml_array(&l->in, l->draft_count, sizeof *rules);
    struct cw_limiter *limiters = cw_yaml_array(&l->in, l->limiter_count, sizeof *limiters);
    for (size_t i = 0; i < l->draft_count && l->in.status == CW_OK; i++)
        link_rule(l, &rules[i], &l->drafts[i]);
    if (l->in.status == CW_OK && l->limiter_count)
        memcpy(limiters, l->limiters, l->limiter_count * sizeof *limiters);
    for (size_t i = 0; i < l->limiter_count && l->in.status == CW_OK; i++)
        link_limiter(l, &limiters[i]);
    struct cw_rule_missing *missing = cw_yaml_array(&l->in, l->missing_count, sizeof *missing);
    if (missing && l->missing_count)
        memcpy(missing, l->missing, l->missing_count * sizeof *missing);
    *l->rules = (struct cw_rules){.chip = l->chip,
                                  .rule_count = l->draft_count,
                                  .rules = rules,
                                  .limiter_count = l->limiter_count,
                                  .limiters = limiters,
                                  .missing_count = l->missing_count,
                                  .missing = missing};
    list_metrics(l);
}

static struct loading begin(const struct cw_chip *chip, struct cw_arena *arena, struct cw_error *err)
{
    struct loading l = {
        .in = {.arena = arena, .err = err}, .chip = chip, .rules = cw_arena_alloc(arena, 1, sizeof *l.rules)};
    if (!l.rules)
        l.in.status = cw_error_nomem(err);
    return l;
}

static enum cw_status finish(struct loading *l, const struct cw_rules **rules)
{
    struct cw_yaml duration = {.kind = CW_YAML_SCALAR, .text = "", .line = 1, .column = 1};
    if (l->in.status == CW_OK && l->chip->time != CW_NONE) {
        duration.text = rules_join(l, l->chip->counters[l->chip->time].name, ".sum", "");
        l->in.source = l->chip->path;
        rules_add_source(l, "value.", "duration", &duration, &duration);
    }
    add_formulas(l);
    if (l->in.status == CW_OK)
        link_all(l);
    free(l->sources);
    free(l->drafts);
    free(l->limiters);
    free(l->missing);
    *rules = l->in.status == CW_OK ? l->rules : NULL;
    return l->in.status;
}

/* Reads a folder; returns the number of files. */
static size_t read_folder(struct loading *l, const char *folder)
{
    const char *const *names;
    size_t count = 0;
    if (l->in.status == CW_OK)
        l->in.status = cw_data_files(folder, &names, &count, l->in.arena, l->in.err);
    for (size_t i = 0; l->in.status == CW_OK && i < count; i++)
        rules_read_file(l, rules_join(l, folder, "/", rules_join(l, names[i], ".yaml", "")));
    return count;
}

/* Reads the shipped rules. A folder with only chips and sets has none. */
static void read_shipped(struct loading *l, const char *data)
{
    char dir[CW_PATH_MAX], path[CW_DATA_PATH_MAX];
    if (l->in.status == CW_OK)
        l->in.status = cw_data_dir(dir, data, l->in.err);
    if (l->in.status != CW_OK)
        return;
    snprintf(path, sizeof path, "%s/rules", dir);
    if (access(path, F_OK) == 0)
        read_folder(l, path);
    snprintf(path, sizeof path, "%s/limiter.yaml", dir);
    if (access(path, F_OK) == 0)
        rules_read_file(l, path);
}

static void read_own(struct loading *l, const char *own)
{
    struct stat info;
    const bool folder = stat(own, &info) == 0 && S_ISDIR(info.st_mode);
    if (!folder)
        rules_read_file(l, own);
    else if (!read_folder(l, own) && l->in.status == CW_OK)
        l->in.status = cw_error_set(l->in.err, CW_ERR_USAGE, "%s: found no .yaml file, expected rules", own);
}

enum cw_status cw_rules_load(const struct cw_rules **rules, const struct cw_chip *chip, const char *data,
                             const char *own, struct cw_arena *arena, struct cw_error *err)
{
    struct loading l = begin(chip, arena, err);
    read_shipped(&l, data);
    if (own)
        read_own(&l, own);
    return finish(&l, rules);
}

enum cw_status cw_rules_parse(const struct cw_rules **rules, const struct cw_chip *chip, const void *text, size_t size,
                              const char *path, struct cw_arena *arena, struct cw_error *err)
{
    struct loading l = begin(chip, arena, err);
    rules_read_text(&l, text, size, path);
    return finish(&l, rules);
}

/* Whether a formula is "rule.ID.NAME" of any rule. */
static bool is_own_value(const char *formula, const char *name)
{
    const size_t length = strlen(formula), wanted = strlen(name);
    return strncmp(formula, "rule.", 5) == 0 && length > wanted + 6 && formula[length - wanted - 1] == '.' &&
           strcmp(formula + length - wanted, name) == 0;
}

/* The formula of a limit, as "latency", or of a rule's gain; CW_NONE for none. */
static uint32_t find_step(const struct cw_rules *rules, const char *id)
{
    for (size_t i = 0; i < rules->limiter_count; i++)
        if (strcmp(rules->limiters[i].id, id) == 0)
            return rules->limiters[i].value;
    for (size_t i = 0; i < rules->rule_count; i++)
        if (strcmp(rules->rules[i].id, id) == 0)
            return rules->rules[i].gain;
    return CW_NONE;
}

enum cw_status cw_rules_find(struct cw_metric *metric, const struct cw_rules *rules, const char *name,
                             struct cw_error *err)
{
    const struct cw_formulas *all = rules->chip->formulas;
    const char *own[2];
    size_t count = 0;
    for (uint32_t i = 0; all && i < all->count; i++) {
        const char *formula = all->items[i].name;
        const bool shared = strncmp(formula, "value.", 6) == 0 && strcmp(formula + 6, name) == 0;
        if (shared || strcmp(formula, name) == 0) {
            *metric = (struct cw_metric){.type = CW_FORMULA, .base = i};
            return CW_OK;
        }
        if (is_own_value(formula, name) && count < 2) {
            *metric = (struct cw_metric){.type = CW_FORMULA, .base = i};
            own[count++] = formula;
        }
    }
    if (count == 1)
        return CW_OK;
    if (count)
        return cw_error_set(err, CW_ERR_USAGE,
                            "found the value '%.100s' of several rules, expected one as in %.100s or %.100s", name,
                            own[0], own[1]);
    const uint32_t formula = find_step(rules, name);
    if (formula == CW_NONE)
        return cw_error_set(err, CW_ERR_UNSUPPORTED, "found no value '%.100s' in the rules", name);
    *metric = (struct cw_metric){.type = CW_FORMULA, .base = formula};
    return CW_OK;
}
