/* Checks advice rules (metricdb/rules.h) against a chip. */
#include <stdio.h>
#include <string.h>

#include "metricdb/chip_files.h"
#include "metricdb/chip_load.h"
#include "metricdb/formula_load.h"
#include "metricdb/lint.h"
#include "metricdb/rules.h"
#include "metricdb/set.h"

struct check {
    const struct cw_chip *chip;
    cw_lint_report report;
    void *context;
    struct cw_lint_counts *counts;
    struct cw_arena *arena;
    struct cw_error *err;
    size_t other_count;
    const struct cw_chip **others; /* all chips of the data folder, loaded on first use */
};

static void tell(const struct check *c, enum cw_lint_level level, const char *rule, const char *path, unsigned line,
                 unsigned column, const char *message)
{
    const struct cw_finding finding = {level, rule, path, line, column, message};
    if (level == CW_LINT_ERROR)
        c->counts->errors++;
    else
        c->counts->warnings++;
    c->report(c->context, &finding);
}

static enum cw_status load_others(struct check *c)
{
    const struct cw_chip_file *files;
    size_t count;
    enum cw_status status = c->others ? CW_OK : cw_chip_files(&files, &count, NULL, c->arena, c->err);
    if (c->others || status != CW_OK)
        return status;
    c->others = cw_arena_alloc(c->arena, count, sizeof *c->others);
    if (!c->others)
        return cw_error_nomem(c->err);
    for (size_t i = 0; i < count && status == CW_OK; i++) {
        status = cw_chip_load_file(&c->others[i], files[i].path, c->arena, c->err);
        if (status == CW_OK)
            status = cw_formulas_load_shipped(&c->others[i], NULL, c->arena, c->err);
        c->other_count += status == CW_OK;
    }
    return status;
}

/* Reports a metric that no chip has as a mistake; a metric of other chips may have an alternative. */
static enum cw_status check_missing(struct check *c, const struct cw_rule_missing *m)
{
    char message[400];
    if (c->chip->time == CW_NONE && strcmp(m->name, "duration") == 0)
        return CW_OK;
    enum cw_status status = load_others(c);
    for (size_t i = 0; i < c->other_count && status == CW_OK; i++)
        if (cw_set_usable(c->others[i], CW_OF_RANGES, m->name, NULL))
            return CW_OK;
    snprintf(message, sizeof message, "found the metric %.200s, which no chip has or knows a formula for", m->name);
    if (status == CW_OK)
        tell(c, CW_LINT_ERROR, "rule-metric", m->path, m->line, m->column, message);
    return status;
}

/* Reports a rule or a node that lacks a metric; NULL: it lacks none. */
static void check_lack(const struct check *c, const char *what, const char *name, const char *lacks, const char *path,
                       unsigned line, unsigned column)
{
    char message[600];
    if (!lacks)
        return;
    snprintf(message, sizeof message, "found the %s %.300s, which cannot be checked on %s: it lacks %.200s", what, name,
             c->chip->name, lacks);
    tell(c, CW_LINT_WARNING, "rule-lacks", path, line, column, message);
}

static enum cw_status check(struct check *c)
{
    const struct cw_rules *rules;
    struct cw_error why = CW_ERROR_INIT;
    enum cw_status status = cw_rules_load(&rules, c->chip, NULL, NULL, c->arena, &why);
    if (status == CW_ERR_NOMEM)
        return cw_error_nomem(c->err);
    if (status != CW_OK) {
        tell(c, CW_LINT_ERROR, "rule-file", why.source, why.line, why.column, why.message);
        return CW_OK;
    }
    for (size_t i = 0; i < rules->missing_count && status == CW_OK; i++)
        status = check_missing(c, &rules->missing[i]);
    for (size_t i = 0; i < rules->rule_count && status == CW_OK; i++) {
        const struct cw_rule *r = &rules->rules[i];
        check_lack(c, "rule", r->id, r->lacks, r->path, r->line, r->column);
    }
    for (size_t i = 0; i < rules->limiter_count && status == CW_OK; i++) {
        const struct cw_limiter *n = &rules->limiters[i];
        check_lack(c, "node", n->path, n->lacks, n->file, n->line, n->column);
    }
    return status;
}

enum cw_status cw_lint_rules(const struct cw_chip *chip, cw_lint_report report, void *context,
                             struct cw_lint_counts *counts, struct cw_arena *arena, struct cw_error *err)
{
    return check(&(struct check){
        .chip = chip, .report = report, .context = context, .counts = counts, .arena = arena, .err = err});
}
