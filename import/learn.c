#include "import/learn.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "import/learn_model.h"

enum {
    TRIES_EACH = 16,    /* random sets for each placement of a domain, */
    TRIES_TOGETHER = 3, /* and for those of two domains that may interfere */
    DRAWN_SETS = 12000, /* upper limit */
    MOST_ROUNDS = 60,
    MOST_QUESTIONS = 12000000,
    FRESH_FIRST = 100000, /* number of the first fresh round, whose sets teach nothing */
    FRESH_ROUNDS = 8,
};

/* ---- writing ---------------------------------------------------------------------------------------------------- */

/* Writes the model as sections 'classes' and 'limits' of a chip file (data/schema.md). */
struct writing {
    struct cw_model *m;
    struct cw_limits_text text;
    const char *prefix;     /* prefix of class names */
    char (*names)[64];      /* by class */
    char (*kind_names)[64]; /* by kind */
    uint32_t *kind_first;   /* by kind: a placement of it */
};

/* ---- writing: classes ------------------------------------------------------------------------------------------- */

static const char *short_name(const char *domain)
{
    return strncmp(domain, "gpu_", 4) == 0 ? domain + 4 : domain;
}

/* Names a class by its domain and a number; a class with all placements of its domain gets the domain's name. */
static void name_classes(struct writing *w)
{
    struct cw_model *m = w->m;
    uint32_t *numbers = cw_ask_array(&m->ask, m->chip.domain_count, sizeof *numbers);
    uint32_t *sizes = cw_ask_array(&m->ask, m->chip.domain_count, sizeof *sizes);
    w->names = cw_ask_array(&m->ask, m->class_count, sizeof *w->names);
    for (uint32_t p = 0; cw_ask_ok(&m->ask) && p < m->chip.placement_count; p++)
        sizes[m->chip.placements[p].domain]++;
    for (uint32_t c = 0; cw_ask_ok(&m->ask) && c < m->class_count; c++) {
        uint32_t d = m->chip.placements[m->classes[c].items[0]].domain;
        const char *domain = m->chip.domains[d].name;
        if (m->classes[c].count == sizes[d])
            snprintf(w->names[c], sizeof *w->names, "%.60s", domain);
        else
            snprintf(w->names[c], sizeof *w->names, "%.8s%.40s_%" PRIu32, w->prefix, short_name(domain), ++numbers[d]);
    }
}

/* Names kinds; the classes of a kind have the same conflicts. A kind with a single class gets the name of the class. */
static void name_kinds(struct writing *w)
{
    struct cw_model *m = w->m;
    uint32_t *numbers = cw_ask_array(&m->ask, m->chip.domain_count, sizeof *numbers);
    uint32_t *classes = cw_ask_array(&m->ask, m->kind_count, sizeof *classes);
    uint32_t *last = cw_ask_array(&m->ask, m->kind_count, sizeof *last);
    w->kind_names = cw_ask_array(&m->ask, m->kind_count, sizeof *w->kind_names);
    w->kind_first = cw_ask_array(&m->ask, m->kind_count, sizeof *w->kind_first);
    for (uint32_t c = 0; cw_ask_ok(&m->ask) && c < m->class_count; c++) {
        uint32_t p = m->classes[c].items[0], kind = m->kind[p];
        if (kind == CW_NONE)
            continue;
        classes[kind]++;
        last[kind] = c;
        w->kind_first[kind] = p;
    }
    for (uint32_t k = 0; cw_ask_ok(&m->ask) && k < m->kind_count; k++) {
        uint32_t d = m->chip.placements[w->kind_first[k]].domain;
        if (classes[k] == 1)
            snprintf(w->kind_names[k], sizeof *w->kind_names, "%s", w->names[last[k]]);
        else
            snprintf(w->kind_names[k], sizeof *w->kind_names, "%.8s%.40s_k%" PRIu32, w->prefix,
                     short_name(m->chip.domains[d].name), ++numbers[d]);
    }
}

static void put_kinds(struct writing *w)
{
    const struct cw_model *m = w->m;
    for (uint32_t k = 0; k < m->kind_count; k++) {
        uint32_t n = 0;
        for (uint32_t c = 0; c < m->class_count; c++) {
            if (m->kind[m->classes[c].items[0]] != k || strcmp(w->names[c], w->kind_names[k]) == 0)
                continue;
            if (!n++)
                cw_limits_put(&w->text, "  %s: {of: [", w->kind_names[k]);
            cw_limits_put_item(&w->text, w->names[c]);
        }
        if (n)
            cw_limits_put(&w->text, "]}\n");
    }
}

static void put_classes(struct writing *w)
{
    const struct cw_chip *chip = &w->m->chip;
    for (uint32_t c = 0; c < w->m->class_count; c++) {
        const struct cw_pool *items = &w->m->classes[c];
        const char *domain = chip->domains[chip->placements[items->items[0]].domain].name;
        if (strcmp(domain, w->names[c]) != 0)
            cw_limits_put_class(&w->text, chip, w->names[c], &(struct cw_list){items->count, items->items});
    }
}

/* ---- writing: rules --------------------------------------------------------------------------------------------- */

static void put_own_passes(struct writing *w)
{
    const struct cw_chip *chip = &w->m->chip;
    for (uint32_t d = 0; d < chip->domain_count; d++) {
        if (!w->m->own_pass[d])
            continue;
        cw_limits_put(&w->text, "  - {max: 1, groups: [[%s], [", chip->domains[d].name);
        for (uint32_t e = 0; e < chip->domain_count; e++)
            if (e != d)
                cw_limits_put_item(&w->text, chip->domains[e].name);
        cw_limits_put(&w->text, "]]}\n");
    }
}

static void put_unusable(struct writing *w)
{
    uint32_t n = 0;
    for (uint32_t c = 0; c < w->m->class_count; c++)
        if (!w->m->usable[w->m->classes[c].items[0]]) {
            if (!n++)
                cw_limits_put(&w->text, "  - {max: 0, each: [");
            cw_limits_put_item(&w->text, w->names[c]);
        }
    if (n)
        cw_limits_put(&w->text, "]}\n");
}

static void put_rule(struct writing *w, const struct cw_rule *rule)
{
    struct cw_model *m = w->m;
    uint32_t *size = cw_ask_array(&m->ask, rule->group_count, sizeof *size), n = 0;
    for (uint32_t p = 0; cw_ask_ok(&m->ask) && p < m->chip.placement_count; p++) {
        if (rule->group[p] != CW_NONE)
            size[rule->group[p]]++;
        if (rule->second && rule->second[p] != CW_NONE)
            size[rule->second[p]]++;
    }
    if (!cw_ask_ok(&m->ask))
        return;
    cw_limits_put(&w->text, "  - {max: %" PRIu32, rule->max);
    for (uint32_t c = 0; c < m->class_count; c++) {
        uint32_t p = m->classes[c].items[0];
        if (rule->group[p] == CW_NONE || size[rule->group[p]] > 1)
            continue;
        if (!n++)
            cw_limits_put(&w->text, ", each: [");
        cw_limits_put_item(&w->text, w->names[c]);
    }
    cw_limits_put(&w->text, n ? "]" : "");
    n = 0;
    for (uint32_t g = 0; g < rule->group_count; g++) {
        if (size[g] < 2 && !(rule->second && rule->helper == g))
            continue;
        cw_limits_put_group(&w->text, n++ == 0);
        for (uint32_t c = 0; c < m->class_count; c++) {
            uint32_t p = m->classes[c].items[0];
            if (rule->group[p] == g || (rule->second && rule->second[p] == g))
                cw_limits_put_item(&w->text, w->names[c]);
        }
        cw_limits_put(&w->text, "]");
    }
    cw_limits_put(&w->text, n ? "]}\n" : "}\n");
}

/* Writes the conflicts of a kind within one domain: the kinds after it, or the domain except for compatible kinds,
 * whichever is shorter. */
static void put_pairs_with(struct writing *w, uint32_t kind, uint32_t domain)
{
    const struct cw_model *m = w->m;
    uint32_t listed = 0, left_out = 1;
    for (uint32_t b = 0; b < m->kind_count; b++)
        if (m->chip.placements[w->kind_first[b]].domain == domain) {
            bool conflict = cw_model_excludes(m, kind, b);
            listed += conflict && b >= kind;
            left_out += !conflict;
        }
    bool whole = left_out < listed;
    char text[80];
    if (whole)
        cw_limits_put_item(&w->text, m->chip.domains[domain].name);
    for (uint32_t b = 0; b < m->kind_count; b++) {
        bool conflict = cw_model_excludes(m, kind, b);
        if (m->chip.placements[w->kind_first[b]].domain != domain || conflict == whole || (!whole && b < kind))
            continue;
        snprintf(text, sizeof text, "%s%s", whole ? "-" : "", w->kind_names[b]);
        cw_limits_put_item(&w->text, text);
    }
}

static void put_pairs(struct writing *w)
{
    const struct cw_model *m = w->m;
    bool any = false;
    for (uint32_t a = 0; a < m->kind_count; a++) {
        bool some = false;
        for (uint32_t b = a; b < m->kind_count && !some; b++)
            some = cw_model_excludes(m, a, b);
        if (!some)
            continue;
        cw_limits_put(&w->text, any ? "      %s: [" : "  - max: 1\n    pairs:\n      %s: [", w->kind_names[a]);
        any = true;
        for (uint32_t d = 0; d < m->chip.domain_count; d++)
            put_pairs_with(w, a, d);
        cw_limits_put(&w->text, "]\n");
    }
}

/* ---- writing: bans ---------------------------------------------------------------------------------------------- */

static void put_bans(struct writing *w)
{
    const struct cw_model *m = w->m;
    for (uint32_t i = 0; i < m->ban_count; i++) {
        uint32_t count = (uint32_t)__builtin_popcount(m->ban_parts[i]);
        cw_limits_put(&w->text, "  - {max: %" PRIu32 ", groups: [", count - 1);
        for (uint32_t k = 0; k < count; k++) {
            cw_limits_put(&w->text, k ? ", [" : "[");
            for (uint32_t c = 0; c < m->class_count; c++)
                if (m->bans[(size_t)c * m->ban_room + i] == 1u << k)
                    cw_limits_put_item(&w->text, w->names[c]);
            cw_limits_put(&w->text, "]");
        }
        cw_limits_put(&w->text, "]}\n");
    }
}

/* Appends the lines of both sections. All names of classes begin with `prefix`. */
static void write_model(struct cw_model *m, const char *prefix, struct cw_limit_table *table)
{
    struct writing w = {.m = m, .text = {&table->classes, 0}, .prefix = prefix};
    name_classes(&w);
    if (cw_ask_ok(&m->ask))
        name_kinds(&w);
    if (!cw_ask_ok(&m->ask))
        return;
    put_classes(&w);
    put_kinds(&w);
    w.text = (struct cw_limits_text){&table->limits, 0};
    put_own_passes(&w);
    put_unusable(&w);
    for (uint32_t r = 0; r < m->rule_count; r++)
        put_rule(&w, &m->rules[r]);
    put_pairs(&w);
    put_bans(&w);
}

/* ---- random sets ------------------------------------------------------------------------------------------------ */

/* Loads the limits through the users' own text and loader, so that the checks cover the written text. Replaces the
 * arena of the last round: there are many rounds. */
static void renew_limits(struct cw_model *m, struct cw_arena **arena)
{
    struct cw_limit_table table;
    struct cw_writer text;
    cw_arena_destroy(*arena);
    *arena = cw_ask_ok(&m->ask) ? cw_arena_create() : NULL;
    m->chip.limits = NULL;
    m->chip.limit_count = 0;
    if (!*arena) {
        m->ask.status = cw_ask_ok(&m->ask) ? cw_error_nomem(m->ask.err) : m->ask.status;
        return;
    }
    cw_limit_table_init(&table);
    cw_writer_init(&text);
    write_model(m, "", &table);
    if (cw_ask_ok(&m->ask))
        m->ask.status = cw_limit_table_load(&table, "learned limits", &m->chip, NULL, &text, *arena, m->ask.err);
    cw_limit_table_free(&table);
    cw_writer_free(&text);
}

/* Bans refused sets among random sets of the marked domains. */
static void try_domains(struct cw_model *m, const bool *domains, uint32_t each, const char *name)
{
    const struct cw_pool pool = cw_model_pool(m, domains);
    if (pool.count < 2 || !cw_ask_ok(&m->ask))
        return;
    uint32_t tries = pool.count * each < DRAWN_SETS ? pool.count * each : DRAWN_SETS;
    uint32_t mistakes = cw_learn_bans(m, &pool, tries);
    if (name)
        cw_model_tell(m, "%s: %u of %u random sets led to bans", name, mistakes, tries);
}

/* Tries each domain alone, each two that may interfere, and all of them. */
static void try_random_sets(struct cw_model *m)
{
    const struct cw_chip *chip = &m->chip;
    uint32_t n = chip->domain_count;
    bool *domains = cw_ask_array(&m->ask, n, sizeof *domains);
    for (uint32_t a = 0; cw_ask_ok(&m->ask) && a < n; a++)
        for (uint32_t b = 0; b <= a; b++) {
            if (m->own_pass[a] || m->own_pass[b] || m->cluster[a] != m->cluster[b])
                continue;
            memset(domains, 0, n * sizeof *domains);
            domains[a] = domains[b] = true;
            try_domains(m, domains, a == b ? TRIES_EACH : TRIES_TOGETHER, a == b ? chip->domains[a].name : NULL);
        }
    for (uint32_t c = 0; cw_ask_ok(&m->ask) && c < n; c++)
        if (cw_model_mark_cluster(m, c, domains) > 1)
            try_domains(m, domains, TRIES_EACH, "all domains of a cluster");
}

/* ---- check sets ------------------------------------------------------------------------------------------------- */

static void judge(struct cw_check_sets *sets, const struct cw_list *raws)
{
    cw_check_passes(sets, raws, 1, 0);
}

/* Bans one refused set after the other among the interfering domains of a pass. */
static void ban_all(struct cw_check_sets *sets, const uint32_t *placements, uint32_t count)
{
    struct cw_model *m = sets->context;
    for (uint32_t cluster = 0; cluster < m->chip.domain_count; cluster++) {
        struct cw_ask_set part = {0}, smallest;
        for (uint32_t k = 0; k < count; k++)
            if (m->cluster[m->chip.placements[placements[k]].domain] == cluster)
                part.items[part.count++] = placements[k];
        while (cw_ask_take_smallest(&m->ask, &part, &smallest))
            cw_learn_ban(m, smallest);
    }
}

/* Runs rounds of check sets through our own scheduler, until the library refuses hardly any pass for some rounds, or
 * until the questions are used up. */
static void repair(struct cw_model *m, struct cw_check_sets *sets, struct cw_arena **arena)
{
    struct cw_check_window window = {0};
    sets->refused = ban_all;
    for (uint32_t round = 0; round < MOST_ROUNDS && m->ask.questions < MOST_QUESTIONS && cw_ask_ok(&m->ask); round++) {
        sets->random = sets->natural = (struct cw_check_count){0};
        cw_check_sets(sets, round);
        struct cw_check_count count = cw_check_total(sets);
        cw_model_tell(m, "check round %u: %u passes, %u refused; %u rules, %u bans", round + 1, count.passes,
                      count.refused, m->rule_count, m->ban_count);
        if (count.refused)
            renew_limits(m, arena);
        if (cw_check_settled(&window, count))
            return;
    }
}

static void learn(struct cw_model *m, const char *prefix, struct cw_limit_table *table, struct cw_learn_report *report)
{
    struct cw_arena *arena = NULL;
    m->sets = cw_ask_array(&m->ask, CW_MODEL_SETS, sizeof *m->sets);
    cw_learn_domains(m);
    cw_model_tell(m, "domains compared");
    cw_learn_kinds(m);
    cw_model_tell(m, "pairs compared: %u kinds", m->kind_count);
    cw_learn_rules(m);
    cw_learn_classes(m);
    try_random_sets(m);
    renew_limits(m, &arena);
    struct cw_check_sets sets = {
        .ask = &m->ask, .usable = m->usable, .most = CW_MODEL_MOST, .judge = judge, .context = m};
    repair(m, &sets, &arena);
    sets.random = sets.natural = (struct cw_check_count){0};
    sets.refused = NULL;
    for (uint32_t k = 0; k < FRESH_ROUNDS && cw_ask_ok(&m->ask); k++)
        cw_check_sets(&sets, FRESH_FIRST + k);
    report->random = sets.random;
    report->natural = sets.natural;
    write_model(m, prefix, table);
    for (uint32_t p = 0; cw_ask_ok(&m->ask) && p < m->chip.placement_count; p++)
        report->unusable += !m->usable[p];
    report->questions = m->ask.questions;
    cw_arena_destroy(arena);
}

enum cw_status cw_learn(struct cw_facts *facts, const struct cw_nvperf *library, enum cw_nvperf_activity activity,
                        struct cw_limit_table *table, struct cw_learn_report *report, void (*progress)(const char *),
                        struct cw_error *err)
{
    struct cw_arena *arena = cw_arena_create();
    struct cw_model *m = arena ? cw_arena_alloc(arena, 1, sizeof *m) : NULL;
    *report = (struct cw_learn_report){0};
    if (!m) {
        cw_arena_destroy(arena);
        return cw_error_nomem(err);
    }
    *m = (struct cw_model){.ask = {.chip = &m->chip, .arena = arena, .err = err, .random = CW_ASK_SEED},
                           .chip = facts->chip,
                           .progress = progress};
    m->ask.status = cw_nvperf_scheduler_create(&m->ask.scheduler, library, m->chip.name, activity, err);
    if (cw_ask_ok(&m->ask))
        learn(m, activity == CW_NVPERF_PM_SAMPLING ? "pm_" : "", table, report);
    cw_nvperf_scheduler_destroy(m->ask.scheduler);
    enum cw_status status = m->ask.status;
    cw_arena_destroy(arena);
    return status == CW_OK && (table->classes.status != CW_OK || table->limits.status != CW_OK) ? cw_error_nomem(err)
                                                                                                : status;
}
