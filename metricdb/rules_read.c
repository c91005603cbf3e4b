#include "metricdb/rules_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "metricdb/expr.h"

enum {
    LARGEST_FILE = 1 << 20,
    SCHEMA = 1,
    LONGEST_ID = 60,
    LONGEST_NAME = 100,
    MOST_STALLS = 64,
    MOST_CONDITIONS = 16
};

bool cw_rules_room(struct cw_rules_load *l, void **items, size_t count, size_t *room, size_t size)
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

const char *cw_rules_join(struct cw_rules_load *l, const char *a, const char *b, const char *c)
{
    const char *text = l->in.status == CW_OK ? cw_arena_printf(l->in.arena, "%s%s%s", a, b, c) : "";
    if (!text)
        l->in.status = cw_error_nomem(l->in.err);
    return text ? text : "";
}

void cw_rules_add_source(struct cw_rules_load *l, const char *scope, const char *name, const struct cw_yaml *at,
                         const struct cw_yaml *formula)
{
    if (!formula || !cw_rules_room(l, (void **)&l->sources, l->source_count, &l->source_room, sizeof *l->sources))
        return;
    l->sources[l->source_count++] = (struct cw_formula_source){.name = cw_rules_join(l, scope, name, ""),
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

static void add_condition(struct cw_rules_load *l, const char *scope, const char *name, const struct cw_yaml *at,
                          const struct cw_yaml *text)
{
    static const char before[] = "if(";
    struct cw_yaml *whole = cw_yaml_array(&l->in, 1, sizeof *whole);
    const char *condition = cw_yaml_text(&l->in, text);
    if (l->in.status != CW_OK)
        return;
    *whole = *text;
    if (compares(condition)) {
        whole->text = cw_rules_join(l, before, condition, ", 1, 0)");
        whole->text_column -= text->text_column > sizeof before - 1 ? sizeof before - 1 : text->text_column;
    }
    cw_rules_add_source(l, scope, name, at, whole);
}

/* Adds a condition, or a list of them: "when" is then "when.1 * when.2", and "refuted_by" the largest of them. */
static void add_conditions(struct cw_rules_load *l, const char *scope, const char *name, const struct cw_yaml *at,
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
        const char *one = cw_rules_join(l, name, number, "");
        add_condition(l, scope, one, &list->items[i], &list->items[i]);
        joined = i ? cw_rules_join(l, joined, all ? " * " : ", ", one) : one;
    }
    *whole = (struct cw_yaml){.kind = CW_YAML_SCALAR, .line = list->line, .column = list->column};
    whole->text = all || list->count == 1 ? joined : cw_rules_join(l, "max(", joined, ")");
    cw_rules_add_source(l, scope, name, at, whole);
}

static void read_values(struct cw_rules_load *l, const char *scope, const struct cw_yaml *values)
{
    if (!values || !cw_yaml_expect(&l->in, values, CW_YAML_MAPPING, "values"))
        return;
    for (size_t i = 0; i < values->count && l->in.status == CW_OK; i++) {
        const struct cw_yaml key = cw_yaml_key(values, i);
        if (!cw_expr_is_name(key.text) || strlen(key.text) > LONGEST_NAME)
            cw_yaml_fail(&l->in, &key, "found '%.60s', expected a name of letters, digits, '_' and '.', at most %d",
                         key.text, LONGEST_NAME);
        cw_rules_add_source(l, scope, key.text, &key, &values->items[i]);
    }
}

static const char *filled(struct cw_rules_load *l, const struct cw_yaml *mapping, const char *key)
{
    const struct cw_yaml *node = cw_yaml_get(&l->in, mapping, key, true);
    const char *text = cw_yaml_text(&l->in, node);
    if (l->in.status == CW_OK && !*text)
        cw_yaml_fail(&l->in, node, "found an empty %s", key);
    return text;
}

static const char *read_id(struct cw_rules_load *l, const struct cw_yaml *node)
{
    const char *id = cw_yaml_text(&l->in, node);
    size_t length = strspn(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
    if (l->in.status == CW_OK && (!length || length > LONGEST_ID || id[length]))
        cw_yaml_fail(&l->in, node, "found '%.60s', expected an id of letters, digits, '-' and '_', at most %d", id,
                     LONGEST_ID);
    return id;
}

/* Whether a rule is for the chip. */
static bool is_meant(struct cw_rules_load *l, const struct cw_yaml *chips)
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

static void read_stalls(struct cw_rules_load *l, struct cw_rule *rule, const struct cw_yaml *list)
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

static bool read_note(struct cw_rules_load *l, const struct cw_yaml *node)
{
    const char *text = node ? cw_yaml_text(&l->in, node) : "false";
    bool note = strcmp(text, "true") == 0;
    if (l->in.status == CW_OK && !note && strcmp(text, "false") != 0)
        cw_yaml_fail(&l->in, node, "found note '%.40s', expected true or false", text);
    return note;
}

static void read_rule(struct cw_rules_load *l, const struct cw_yaml *rules, size_t i)
{
    static const char *const keys[] = {"title",     "chips", "values", "when",     "gain",   "bound", "refuted_by",
                                       "uncounted", "text",  "fix",    "evidence", "stalls", "note",  NULL};
    const struct cw_yaml *node = &rules->items[i], key = cw_yaml_key(rules, i);
    struct cw_rule_draft draft = {.rule = {.path = l->in.source, .line = key.line, .column = key.column}};
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
    const char *scope = cw_rules_join(l, "rule.", draft.rule.id, ".");
    read_values(l, scope, cw_yaml_get(&l->in, node, "values", false));
    add_conditions(l, scope, "when", &key, cw_yaml_get(&l->in, node, "when", true), true);
    add_conditions(l, scope, "refuted_by", &key, cw_yaml_get(&l->in, node, "refuted_by", false), false);
    cw_rules_add_source(l, scope, "gain", &key, cw_yaml_get(&l->in, node, "gain", true));
    cw_rules_add_source(l, scope, "bound", &key, cw_yaml_get(&l->in, node, "bound", false));
    cw_rules_add_source(l, scope, "uncounted", &key, cw_yaml_get(&l->in, node, "uncounted", false));
    if (cw_rules_room(l, (void **)&l->drafts, l->draft_count, &l->draft_room, sizeof draft))
        l->drafts[l->draft_count++] = draft;
}

/* Reads nodes. `above`: path of their parent, "" for none; `prefix`: prefix of the names of their formulas. YAML nests
 * at most 24 deep. */
static void read_nodes(struct cw_rules_load *l, const struct cw_yaml *nodes, const char *above, const char *prefix,
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
        const char *scope = cw_rules_join(l, prefix, id, ".");
        struct cw_limiter limiter = {.id = id,
                                     .title = filled(l, node, "title"),
                                     .path = cw_rules_join(l, above, *above ? " > " : "", id),
                                     .depth = depth,
                                     .file = l->in.source,
                                     .line = node->line,
                                     .column = node->column};
        if (l->in.status == CW_OK && strlen(scope) > CW_METRIC_NAME_MAX - LONGEST_NAME)
            cw_yaml_fail(&l->in, node, "found nodes with ids of %zu characters within one another, expected at most %d",
                         strlen(scope), CW_METRIC_NAME_MAX - LONGEST_NAME);
        add_conditions(l, scope, "when", node, cw_yaml_get(&l->in, node, "when", false), true);
        cw_rules_add_source(l, scope, "value", node, cw_yaml_get(&l->in, node, "value", false));
        size_t at = l->limiter_count;
        if (!cw_rules_room(l, (void **)&l->limiters, at, &l->limiter_room, sizeof limiter))
            return;
        l->limiters[l->limiter_count++] = limiter;
        if (then)
            read_nodes(l, then, limiter.path, scope, depth + 1);
        l->limiters[at].next = (uint32_t)l->limiter_count;
    }
}

void cw_rules_read_text(struct cw_rules_load *l, const void *data, size_t size, const char *path)
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

void cw_rules_read_file(struct cw_rules_load *l, const char *path)
{
    struct cw_bytes file = {0};
    if (l->in.status == CW_OK)
        l->in.status = cw_file_read(&file, path, LARGEST_FILE, l->in.err);
    cw_rules_read_text(l, file.data, file.size, path);
    cw_bytes_free(&file);
}
