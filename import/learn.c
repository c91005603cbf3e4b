#include "import/learn.h"

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
    cw_learn_write(m, "", &table);
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
    cw_learn_write(m, prefix, table);
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
