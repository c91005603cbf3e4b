#include "metricdb/lint.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "metricdb/chip_files.h"
#include "metricdb/chip_load.h"
#include "metricdb/data.h"
#include "metricdb/formula_load.h"
#include "metricdb/rules.h"
#include "metricdb/set.h"
#include "metricdb/yaml.h"

enum { LARGEST_FILE = 64 << 20 };

/* By index: an item is marked if it equals `mark`. */
struct marks {
    uint32_t *of, mark;
};

struct lint {
    const struct cw_chip *chip;
    const struct cw_glossary *glossary;
    const char *source;
    /* sections of the tree; entries are in the order of the chip's arrays */
    const struct cw_yaml *units, *domains, *raws, *bases[CW_METRIC_TYPE_COUNT];
    cw_lint_report report;
    void *context;
    bool measured; /* the chip has peaks: captures contributed to the file */
    struct marks raw_marks, counter_marks;
};

__attribute__((format(printf, 6, 7))) static void found(struct lint *l, enum cw_lint_level level, const char *rule,
                                                        unsigned line, unsigned column, const char *format, ...)
{
    char message[768];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    const struct cw_finding finding = {level, rule, l->source, line, column, message};
    l->report(l->context, &finding);
}

#define FOUND_KEY(l, level, rule, section, i, ...)                                                                     \
    found(l, level, rule, (section)->keys[i].line, (section)->keys[i].column, __VA_ARGS__)

static const struct cw_yaml *field(const struct cw_yaml *mapping, const char *key)
{
    size_t at = cw_yaml_find(mapping, key);
    return at == SIZE_MAX ? mapping : &mapping->items[at];
}

static bool has_mark(const struct marks *marks, uint32_t index)
{
    return marks->of[index] == marks->mark;
}

/* Marks the items of a list, and no others. */
static void mark_all(struct marks *marks, const struct cw_list *list)
{
    marks->mark++;
    for (uint32_t i = 0; i < list->count; i++)
        marks->of[list->items[i]] = marks->mark;
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

/* Whether a text is words of letters and digits with single underscores between them. */
static bool is_words(const char *text, size_t length)
{
    bool word = false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '_' && !word)
            return false;
        word = isalnum((unsigned char)text[i]);
        if (!word && text[i] != '_')
            return false;
    }
    return word;
}

/* [Prefix.]...unit__words */
static bool is_base_name(const char *name)
{
    for (const char *dot; (dot = strchr(name, '.')); name = dot + 1)
        if (!is_words(name, (size_t)(dot - name)))
            return false;
    const char *gap = strstr(name, "__");
    return gap && is_words(name, (size_t)(gap - name)) && is_words(gap + 2, strlen(gap + 2));
}

static void check_name(struct lint *l, enum cw_metric_type type, uint32_t i)
{
    const char *name = cw_chip_base_name(l->chip, type, i);
    char word[CW_METRIC_NAME_MAX];
    if (!is_base_name(name))
        FOUND_KEY(l, CW_LINT_ERROR, "name-grammar", l->bases[type], i, "found the name '%s', expected unit__words",
                  name);
    else if (l->glossary && !cw_glossary_covers(l->glossary, name, word))
        FOUND_KEY(l, CW_LINT_ERROR, "glossary-word", l->bases[type], i,
                  "found '%s' in %s, expected words of the glossary", word, name);
}

/* ---- dimensions ------------------------------------------------------------------------------------------------- */

static const char known_factors[] =
    "1 attributes branch_targets bytes cgas crop_subpackets ctas ctc_cycles dram_cycles fbp_cycles fe_ops "
    "gcc_requests gpc_cycles idc_requests instructions kilobytes l1data_bank_accesses l1data_bank_conflicts "
    "l1tex_lines l1tex_requests l1tex_tags l1tex_wavefronts l2_requests l2_sectors l2_tags lrc_reqs lrc_sectors "
    "math_ops mcc_cycles nanoseconds nvdec_cycles nvdla_cycles nvenc_cycles nvlrx_cycles nvltx_cycles ofa_cycles "
    "pcie_cycles pcie_requests percent pixel_shader_barriers pixels plane_equations primitives pva_cycles "
    "pvavpu_cycles quads rays registers rf_quanta samples sys_cycles sysl2_requests sysl2_sectors sysl2_tags "
    "syslrc_requests syslrc_sectors threads tmem_accesses vertices vic_cycles warps workids workloads z_occluders "
    "zrop_subpackets";

static bool known_factor(const char *text, size_t length)
{
    for (const char *at = known_factors; *at; at += strcspn(at, " "), at += *at == ' ')
        if (strcspn(at, " ") == length && memcmp(at, text, length) == 0)
            return true;
    return false;
}

static void check_dimension(struct lint *l, enum cw_metric_type type, uint32_t i, const char *dimension)
{
    for (const char *at = dimension;;) {
        size_t length = strcspn(at, "*/");
        if (!known_factor(at, length)) {
            const struct cw_yaml *node = field(&l->bases[type]->items[i], "dim");
            found(l, CW_LINT_WARNING, "dimension", node->line, node->column,
                  "found the dimension '%s', expected known factors, not '%.*s'", dimension, (int)length, at);
            return;
        }
        if (!at[length])
            return;
        at += length + 1;
    }
}

/* ---- ratios ----------------------------------------------------------------------------------------------------- */

/* Whether a name has a word, possibly in the plural: "warp" is in "smsp__warps_active". */
static bool has_word(const char *name, const char *word, size_t length)
{
    for (const char *at = name; (at = strstr(at, "_")); at++)
        if (strncmp(at + 1, word, length) == 0 && strchr("_s", at[1 + length]))
            return true;
    return false;
}

static unsigned common_words(const char *name, const char *words)
{
    unsigned n = 0;
    for (; *words; words += *words == '_') {
        size_t length = strcspn(words, "_");
        n += length && has_word(name, words, length);
        words += length;
    }
    return n;
}

/* Checks that "A_per_B" divides by the counter named B. */
static void check_ratio_direction(struct lint *l, uint32_t i)
{
    const struct cw_ratio *r = &l->chip->ratios[i];
    const struct cw_counter *num = &l->chip->counters[r->numerator], *den = &l->chip->counters[r->denominator];
    const char *per = strstr(r->name, "_per_");
    char quotient[256], inverse[256];
    snprintf(quotient, sizeof quotient, "%s/%s", num->dimension, den->dimension);
    snprintf(inverse, sizeof inverse, "%s/%s", den->dimension, num->dimension);
    const bool told = strcmp(num->dimension, den->dimension) != 0 && strcmp(r->dimension, quotient) == 0;
    if (strcmp(num->dimension, den->dimension) != 0 && strcmp(r->dimension, inverse) == 0)
        FOUND_KEY(l, CW_LINT_ERROR, "ratio-inverted", l->bases[CW_RATIO], i,
                  "found %s / %s for %s, expected its inverse, as the dimension is %s", num->name, den->name, r->name,
                  r->dimension);
    else if (per && !told && common_words(num->name, per + 5) > common_words(den->name, per + 5))
        FOUND_KEY(l, CW_LINT_ERROR, "ratio-inverted", l->bases[CW_RATIO], i,
                  "found %s / %s for %s, expected its inverse, as the name says", num->name, den->name, r->name);
}

/* Checks that the members of a ratio or throughput depend on no raw counter that it does not depend on itself. Checks a
 * repeated counter once. */
static void check_member_raws(struct lint *l, const char *rule, enum cw_metric_type type, uint32_t i,
                              const struct cw_list *members, const struct cw_list *raws)
{
    mark_all(&l->raw_marks, raws);
    l->counter_marks.mark++;
    for (uint32_t m = 0; m < members->count; m++) {
        const struct cw_counter *c = &l->chip->counters[members->items[m]];
        uint32_t k = has_mark(&l->counter_marks, members->items[m]) ? c->raws.count : 0;
        l->counter_marks.of[members->items[m]] = l->counter_marks.mark;
        while (k < c->raws.count && has_mark(&l->raw_marks, c->raws.items[k]))
            k++;
        if (k < c->raws.count) {
            const struct cw_yaml *node = field(&l->bases[type]->items[i], "raw");
            found(l, CW_LINT_ERROR, rule, node->line, node->column,
                  "found no 0x%016llx among the raw counters of %s, which needs it for %s",
                  (unsigned long long)l->chip->raws[c->raws.items[k]].id, cw_chip_base_name(l->chip, type, i), c->name);
        }
    }
}

/* ---- sections --------------------------------------------------------------------------------------------------- */

static void check_units(struct lint *l)
{
    for (uint32_t i = 0; i < l->chip->unit_count; i++)
        if (l->measured && !l->chip->units[i].instances)
            FOUND_KEY(l, CW_LINT_WARNING, "unit-instances", l->units, i,
                      "found no instances for the unit %s, expected a number unless devices lack it",
                      l->chip->units[i].name);
}

static int by_id(const void *a, const void *b)
{
    const struct cw_domain *const *x = a, *const *y = b;
    return (*x)->id != (*y)->id ? ((*x)->id > (*y)->id) - ((*x)->id < (*y)->id) : (*x > *y) - (*x < *y);
}

static enum cw_status check_domains(struct lint *l, struct cw_arena *arena, struct cw_error *err)
{
    const struct cw_chip *chip = l->chip;
    const struct cw_domain **sorted = cw_arena_alloc(arena, chip->domain_count, sizeof(const struct cw_domain *));
    const struct cw_domain **first = cw_arena_alloc(arena, chip->domain_count, sizeof(const struct cw_domain *));
    bool *used = cw_arena_alloc(arena, chip->domain_count, sizeof *used);
    if (!sorted || !first || !used)
        return cw_error_nomem(err);
    for (uint32_t i = 0; i < chip->domain_count; i++)
        sorted[i] = &chip->domains[i];
    qsort(sorted, chip->domain_count, sizeof(const struct cw_domain *), by_id);
    for (uint32_t i = 0; i < chip->domain_count; i++) {
        bool same = i && sorted[i - 1]->id == sorted[i]->id;
        first[sorted[i] - chip->domains] = same ? first[sorted[i - 1] - chip->domains] : sorted[i];
    }
    for (uint32_t k = 0; k < chip->placement_count; k++)
        used[chip->placements[k].domain] = true;
    for (uint32_t i = 0; i < chip->domain_count; i++) {
        if (first[i] != &chip->domains[i])
            FOUND_KEY(l, CW_LINT_ERROR, "domain-id", l->domains, i, "found the number %u for %s, which is also %s's",
                      chip->domains[i].id, chip->domains[i].name, first[i]->name);
        if (!used[i])
            FOUND_KEY(l, CW_LINT_WARNING, "domain-unused", l->domains, i,
                      "found no raw counter that the domain %s collects", chip->domains[i].name);
    }
    return CW_OK;
}

/* Checks that each raw counter has a domain. Skips chips without any domain in NVIDIA's library; others have raw
 * counters that only sampling collects. */
static void check_raws(struct lint *l)
{
    for (uint32_t i = 0; l->chip->domain_count && i < l->chip->raw_count; i++)
        if (!l->chip->raws[i].placement_count)
            FOUND_KEY(l, CW_LINT_WARNING, "raw-domain", l->raws, i,
                      "found no domain that collects the raw counter %s in range profiling", l->raws->keys[i].text);
}

/* Checks that a combination of counters depends on exactly the raw counters of its terms. */
static void check_terms(struct lint *l, uint32_t index)
{
    const struct cw_chip *chip = l->chip;
    const struct cw_counter *c = &chip->counters[index];
    struct marks *marks = &l->raw_marks;
    uint32_t left = 0, seen = ++marks->mark, own = ++marks->mark;
    for (uint32_t i = 0; c->terms.count && i < c->raws.count; i++) {
        left += marks->of[c->raws.items[i]] != own;
        marks->of[c->raws.items[i]] = own;
    }
    bool same = true;
    for (uint32_t t = 0; same && t < c->terms.count; t++) {
        const struct cw_list *raws = &chip->counters[c->terms.items[t]].raws;
        for (uint32_t i = 0; same && i < raws->count; i++) {
            uint32_t *mark = &marks->of[raws->items[i]];
            left -= *mark == own;
            *mark = *mark == own ? seen : *mark;
            same = *mark == seen;
        }
    }
    if (!same || left)
        FOUND_KEY(l, CW_LINT_ERROR, "counter-terms", l->bases[CW_COUNTER], index,
                  "found other raw counters for the terms of %s than for itself", c->name);
}

static void check_counters(struct lint *l)
{
    for (uint32_t i = 0; i < l->chip->counter_count; i++) {
        const struct cw_counter *c = &l->chip->counters[i];
        check_name(l, CW_COUNTER, i);
        check_dimension(l, CW_COUNTER, i, c->dimension);
        if (!c->raws.count)
            FOUND_KEY(l, CW_LINT_ERROR, "counter-raw", l->bases[CW_COUNTER], i, "found no raw counter for %s", c->name);
        check_terms(l, i);
        if (l->measured && isnan(c->peak))
            FOUND_KEY(l, CW_LINT_WARNING, "counter-peak", l->bases[CW_COUNTER], i, "found no peak for %s", c->name);
        if (c->active == CW_NONE || c->elapsed == CW_NONE)
            FOUND_KEY(l, CW_LINT_WARNING, "counter-cycles", l->bases[CW_COUNTER], i,
                      "found no counter of %s cycles for %s", c->active == CW_NONE ? "active" : "elapsed", c->name);
    }
}

static void check_ratios(struct lint *l)
{
    for (uint32_t i = 0; i < l->chip->ratio_count; i++) {
        const struct cw_ratio *r = &l->chip->ratios[i];
        check_name(l, CW_RATIO, i);
        check_dimension(l, CW_RATIO, i, r->dimension);
        if (r->numerator == CW_NONE) {
            FOUND_KEY(l, CW_LINT_WARNING, "ratio-formula", l->bases[CW_RATIO], i, "found no formula for %s", r->name);
            continue;
        }
        check_ratio_direction(l, i);
        const uint32_t members[] = {r->numerator, r->denominator};
        check_member_raws(l, "ratio-raw", CW_RATIO, i, &(struct cw_list){2, members}, &r->raws);
    }
}

static void check_throughputs(struct lint *l)
{
    for (uint32_t i = 0; i < l->chip->throughput_count; i++) {
        const struct cw_throughput *t = &l->chip->throughputs[i];
        check_name(l, CW_THROUGHPUT, i);
        check_dimension(l, CW_THROUGHPUT, i, t->dimension);
        if (!t->counters.count && !t->throughputs.count)
            FOUND_KEY(l, CW_LINT_WARNING, "throughput-parts", l->bases[CW_THROUGHPUT], i, "found no constituents of %s",
                      t->name);
        check_member_raws(l, "throughput-raw", CW_THROUGHPUT, i, &t->counters, &t->raws);
    }
}

/* ---- files ------------------------------------------------------------------------------------------------------ */

static enum cw_status check_chip(struct lint *l, const void *data, size_t size, struct cw_arena *arena,
                                 struct cw_error *err)
{
    struct cw_yaml *root;
    enum cw_status status = cw_chip_parse(&l->chip, data, size, l->source, arena, err);
    if (status == CW_OK)
        status = cw_yaml_parse(&root, data, size, l->source, arena, err);
    if (status != CW_OK)
        return status;
    l->units = field(root, "units");
    l->domains = field(root, "domains");
    l->raws = field(root, "raw_counters");
    l->bases[CW_COUNTER] = field(root, "counters");
    l->bases[CW_RATIO] = field(root, "ratios");
    l->bases[CW_THROUGHPUT] = field(root, "throughputs");
    if (l->chip->time == CW_NONE)
        found(l, CW_LINT_WARNING, "time", root->line, root->column,
              "found no 'time', expected the counter that per-second values divide by");
    l->measured = cw_chip_measured(l->chip);
    if (!l->measured)
        found(l, CW_LINT_WARNING, "not-measured", root->line, root->column,
              "found no peaks of %s, expected those of a device; captures bring theirs", l->chip->name);
    if (!l->chip->domain_count)
        found(l, CW_LINT_WARNING, "no-domains", root->line, root->column,
              "found no domains of %s, expected some; nothing can be planned for it", l->chip->name);
    l->raw_marks.of = cw_arena_alloc(arena, l->chip->raw_count, sizeof *l->raw_marks.of);
    l->counter_marks.of = cw_arena_alloc(arena, l->chip->counter_count, sizeof *l->counter_marks.of);
    if (!l->raw_marks.of || !l->counter_marks.of)
        return cw_error_nomem(err);
    check_units(l);
    status = check_domains(l, arena, err);
    check_raws(l);
    check_counters(l);
    check_ratios(l);
    check_throughputs(l);
    return status;
}

enum cw_status cw_lint_chip(const void *data, size_t size, const char *path, const struct cw_glossary *glossary,
                            cw_lint_report report, void *context, struct cw_error *err)
{
    struct lint l = {.glossary = glossary, .source = path, .report = report, .context = context};
    struct cw_arena *arena = cw_arena_create();
    enum cw_status status = arena ? check_chip(&l, data, size, arena, err) : cw_error_nomem(err);
    cw_arena_destroy(arena);
    return status;
}

static void check_set(struct lint *l, const void *data, size_t size, struct cw_arena *arena)
{
    struct cw_set set;
    struct cw_error why = CW_ERROR_INIT;
    enum cw_status status = cw_set_parse(&set, data, size, l->source, l->chip, arena, &why);
    if (status == CW_ERR_UNSUPPORTED)
        found(l, CW_LINT_WARNING, "set-metric", why.line, why.column, "%s", why.message);
    else if (status != CW_OK)
        found(l, CW_LINT_ERROR, "set-file", why.line, why.column, "%s", why.message);
    for (size_t i = 0; status == CW_OK && i < set.missing_count; i++)
        found(l, CW_LINT_WARNING, "set-metric", set.missing[i].line, set.missing[i].column,
              "found the metric %s, which %s lacks, or has no formula for", set.missing[i].name, l->chip->name);
}

enum cw_status cw_lint_set(const void *data, size_t size, const char *path, const struct cw_chip *chip,
                           cw_lint_report report, void *context, struct cw_error *err)
{
    struct lint l = {.chip = chip, .source = path, .report = report, .context = context};
    struct cw_arena *arena = cw_arena_create();
    if (!arena)
        return cw_error_nomem(err);
    check_set(&l, data, size, arena);
    cw_arena_destroy(arena);
    return CW_OK;
}

static enum cw_status check_sets(const struct cw_chip *chip, cw_lint_report report, void *context,
                                 struct cw_arena *arena, struct cw_error *err)
{
    const char *const *names;
    size_t count;
    char path[CW_DATA_PATH_MAX], name[300];
    enum cw_status status = cw_set_list(&names, &count, NULL, arena, err);
    for (size_t i = 0; status == CW_OK && i < count; i++) {
        struct cw_bytes file = {0};
        snprintf(name, sizeof name, "sets/%s", names[i]);
        status = cw_data_path(path, NULL, name, err);
        if (status == CW_OK)
            status = cw_file_read(&file, path, LARGEST_FILE, err);
        if (status == CW_OK)
            status = cw_lint_set(file.data, file.size, path, chip, report, context, err);
        cw_bytes_free(&file);
    }
    return status;
}

/* ---- rules that advise ------------------------------------------------------------------------------------------ */

struct chips { /* all chips of the data folder, loaded on first use */
    size_t count;
    const struct cw_chip **items;
};

static enum cw_status load_chips(struct chips *chips, struct cw_arena *arena, struct cw_error *err)
{
    const struct cw_chip_file *files;
    size_t count;
    if (chips->items)
        return CW_OK;
    CW_TRY(cw_chip_files(&files, &count, NULL, arena, err));
    chips->items = cw_arena_alloc(arena, count, sizeof *chips->items);
    if (!chips->items)
        return cw_error_nomem(err);
    for (; chips->count < count; chips->count++) {
        const struct cw_chip **chip = &chips->items[chips->count];
        CW_TRY(cw_chip_load_file(chip, files[chips->count].path, arena, err));
        CW_TRY(cw_formulas_load_shipped(chip, NULL, arena, err));
    }
    return CW_OK;
}

/* Reports a metric that no chip has as a mistake; a metric of other chips may have an alternative. */
static enum cw_status check_missing(struct lint *l, const struct cw_rule_missing *m, struct chips *chips,
                                    struct cw_arena *arena, struct cw_error *err)
{
    if (l->chip->time == CW_NONE && strcmp(m->name, "duration") == 0)
        return CW_OK;
    CW_TRY(load_chips(chips, arena, err));
    for (size_t i = 0; i < chips->count; i++)
        if (cw_set_usable(chips->items[i], CW_OF_RANGES, m->name, NULL))
            return CW_OK;
    l->source = m->path;
    found(l, CW_LINT_ERROR, "rule-metric", m->line, m->column,
          "found the metric %.200s, which no chip has with a formula", m->name);
    return CW_OK;
}

/* Reports a rule or a node that lacks a metric; NULL: it lacks none. */
static void check_lack(struct lint *l, const char *what, const char *name, const char *lacks, const char *path,
                       unsigned line, unsigned column)
{
    l->source = path;
    if (lacks)
        found(l, CW_LINT_WARNING, "rule-lacks", line, column,
              "found the %s %.300s, which cannot be checked on %s: it lacks %.200s", what, name, l->chip->name, lacks);
}

/* Checks the rules of the data folder (metricdb/rules.h) against a chip that has the shipped formulas. */
static enum cw_status check_rules(struct lint *l, struct cw_arena *arena, struct cw_error *err)
{
    const struct cw_rules *rules;
    struct chips chips = {0};
    struct cw_error why = CW_ERROR_INIT;
    enum cw_status status = cw_rules_load(&rules, l->chip, NULL, NULL, arena, &why);
    if (status == CW_ERR_NOMEM)
        return cw_error_nomem(err);
    if (status != CW_OK) {
        l->source = why.source;
        found(l, CW_LINT_ERROR, "rule-file", why.line, why.column, "%s", why.message);
        return CW_OK;
    }
    for (size_t i = 0; i < rules->missing_count; i++)
        CW_TRY(check_missing(l, &rules->missing[i], &chips, arena, err));
    for (size_t i = 0; i < rules->rule_count; i++) {
        const struct cw_rule *r = &rules->rules[i];
        check_lack(l, "rule", r->id, r->lacks, r->path, r->line, r->column);
    }
    for (size_t i = 0; i < rules->limiter_count; i++) {
        const struct cw_limiter *n = &rules->limiters[i];
        check_lack(l, "node", n->path, n->lacks, n->file, n->line, n->column);
    }
    return CW_OK;
}

/* ---- a file, and the data folder beside it ---------------------------------------------------------------------- */

enum cw_status cw_lint_file(const char *path, cw_lint_report report, void *context, struct cw_error *err)
{
    struct lint l = {.source = path, .report = report, .context = context};
    struct cw_bytes file = {0};
    struct cw_arena *arena = cw_arena_create();
    if (!arena)
        return cw_error_nomem(err);
    enum cw_status status = cw_glossary_load(&l.glossary, arena, err);
    if (status == CW_OK)
        status = cw_file_read(&file, path, LARGEST_FILE, err);
    if (status == CW_OK)
        status = check_chip(&l, file.data, file.size, arena, err);
    if (status == CW_OK)
        status = cw_formulas_load_shipped(&l.chip, NULL, arena, err);
    if (status == CW_OK)
        status = check_sets(l.chip, report, context, arena, err);
    if (status == CW_OK)
        status = check_rules(&l, arena, err);
    cw_bytes_free(&file);
    cw_arena_destroy(arena);
    return status;
}
