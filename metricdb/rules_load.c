/* Joins rules with a chip: their formulas, the names in texts and evidence, and all metrics that these need. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "metricdb/data.h"
#include "metricdb/formula.h"
#include "metricdb/rules_read.h"
#include "metricdb/term.h"

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

static const struct cw_formula_source *find_source(const struct cw_rules_load *l, const char *name)
{
    return l->source_count ? bsearch(name, l->sources, l->source_count, sizeof *l->sources, is_called) : NULL;
}

static void note_missing(void *load, const char *name, const char *path, unsigned line, unsigned column)
{
    struct cw_rules_load *l = load;
    const char *own = l->in.status == CW_OK ? cw_arena_strdup(l->in.arena, name) : NULL;
    if (l->in.status == CW_OK && !own)
        l->in.status = cw_error_nomem(l->in.err);
    if (own && cw_rules_room(l, (void **)&l->missing, l->missing_count, &l->missing_room, sizeof *l->missing))
        l->missing[l->missing_count++] = (struct cw_rule_missing){own, path, line, column};
}

static void add_formulas(struct cw_rules_load *l)
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
static uint32_t find_formula(struct cw_rules_load *l, const char *before, const char *name, const char **lacks)
{
    const struct cw_formula_source *source = find_source(l, cw_rules_join(l, before, name, ""));
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
static bool find_name(struct cw_rules_load *l, const struct cw_rule *rule, const struct cw_yaml *node,
                      struct cw_rule_name *found, const char **lacks)
{
    const struct cw_formula_source *source =
        find_source(l, cw_rules_join(l, cw_rules_join(l, "rule.", rule->id, "."), found->name, ""));
    source = source ? source : find_source(l, cw_rules_join(l, "value.", found->name, ""));
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
static bool split_form(struct cw_rules_load *l, struct cw_rule_name *name, const char *text, size_t length)
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
static const char *read_piece(struct cw_rules_load *l, struct cw_rule *rule, const struct cw_yaml *node, const char *at,
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

static void read_pieces(struct cw_rules_load *l, struct cw_rule *rule, const struct cw_yaml *node)
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
static bool read_fact(struct cw_rules_load *l, const struct cw_rule *rule, const struct cw_yaml *node,
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

static void read_evidence(struct cw_rules_load *l, struct cw_rule *rule, const struct cw_yaml *list)
{
    struct cw_rule_name *evidence = cw_yaml_array(&l->in, list->count, sizeof *evidence);
    for (size_t i = 0; i < list->count && l->in.status == CW_OK; i++)
        rule->evidence_count += read_fact(l, rule, &list->items[i], &evidence[rule->evidence_count]);
    rule->evidence = evidence;
}

/* Makes evidence of the metrics named in the formulas. */
static void take_evidence(struct cw_rules_load *l, struct cw_rule *rule)
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
                    (struct cw_rule_name){.name = cw_rules_join(l, name, "", ""), .metric = *m};
        }
    rule->evidence = evidence;
}

static void link_rule(struct cw_rules_load *l, struct cw_rule *rule, const struct cw_rule_draft *draft)
{
    *rule = draft->rule;
    l->in.source = rule->path;
    const char *before = cw_rules_join(l, "rule.", rule->id, ".");
    rule->when = find_formula(l, before, "when", &rule->lacks);
    rule->gain = find_formula(l, before, "gain", &rule->lacks);
    rule->bound = find_formula(l, before, "bound", &rule->lacks);
    rule->refuted_by = find_formula(l, before, "refuted_by", &rule->lacks);
    rule->uncounted = find_formula(l, before, "uncounted", &rule->lacks);
    read_pieces(l, rule, draft->text);
    if (draft->evidence)
        read_evidence(l, rule, draft->evidence);
    else
        take_evidence(l, rule);
}

/* Turns "latency > barrier" into "limiter.latency.barrier." */
static void link_limiter(struct cw_rules_load *l, struct cw_limiter *limiter)
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

static void list_metrics(struct cw_rules_load *l)
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

static void link_all(struct cw_rules_load *l)
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

static struct cw_rules_load begin(const struct cw_chip *chip, struct cw_arena *arena, struct cw_error *err)
{
    struct cw_rules_load l = {
        .in = {.arena = arena, .err = err}, .chip = chip, .rules = cw_arena_alloc(arena, 1, sizeof *l.rules)};
    if (!l.rules)
        l.in.status = cw_error_nomem(err);
    return l;
}

static enum cw_status finish(struct cw_rules_load *l, const struct cw_rules **rules)
{
    struct cw_yaml duration = {.kind = CW_YAML_SCALAR, .text = "", .line = 1, .column = 1};
    if (l->in.status == CW_OK && l->chip->time != CW_NONE) {
        duration.text = cw_rules_join(l, l->chip->counters[l->chip->time].name, ".sum", "");
        l->in.source = l->chip->path;
        cw_rules_add_source(l, "value.", "duration", &duration, &duration);
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
static size_t read_folder(struct cw_rules_load *l, const char *folder)
{
    const char *const *names;
    size_t count = 0;
    if (l->in.status == CW_OK)
        l->in.status = cw_data_files(folder, &names, &count, l->in.arena, l->in.err);
    for (size_t i = 0; l->in.status == CW_OK && i < count; i++)
        cw_rules_read_file(l, cw_rules_join(l, folder, "/", cw_rules_join(l, names[i], ".yaml", "")));
    return count;
}

/* Reads the shipped rules. A folder with only chips and sets has none. */
static void read_shipped(struct cw_rules_load *l, const char *data)
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
        cw_rules_read_file(l, path);
}

static void read_own(struct cw_rules_load *l, const char *own)
{
    struct stat info;
    const bool folder = stat(own, &info) == 0 && S_ISDIR(info.st_mode);
    if (!folder)
        cw_rules_read_file(l, own);
    else if (!read_folder(l, own) && l->in.status == CW_OK)
        l->in.status = cw_error_set(l->in.err, CW_ERR_USAGE, "%s: found no .yaml file, expected rules", own);
}

enum cw_status cw_rules_load(const struct cw_rules **rules, const struct cw_chip *chip, const char *data,
                             const char *own, struct cw_arena *arena, struct cw_error *err)
{
    struct cw_rules_load l = begin(chip, arena, err);
    read_shipped(&l, data);
    if (own)
        read_own(&l, own);
    return finish(&l, rules);
}

enum cw_status cw_rules_parse(const struct cw_rules **rules, const struct cw_chip *chip, const void *text, size_t size,
                              const char *path, struct cw_arena *arena, struct cw_error *err)
{
    struct cw_rules_load l = begin(chip, arena, err);
    cw_rules_read_text(&l, text, size, path);
    return finish(&l, rules);
}
