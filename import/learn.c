#include "import/learn.h"

#include <string.h>

#include "host/schedule.h"
#include "import/learn_steps.h"

enum {
    TRIES_EACH = 16,    /* random sets for each placement of a domain, */
    TRIES_TOGETHER = 3, /* and of two domains that may disturb one another */
    DRAWN_SETS = 12000, /* at most */
    MOST_ROUNDS = 60,
    MOST_QUESTIONS = 12000000,
    FRESH_FIRST = 100000, /* the number of the first round that nothing is learned from */
    FRESH_ROUNDS = 8,
};

/* Through the very text and loader that users have, so that what is checked is what is written. */
static void set_limits(struct cw_model *m, struct cw_chip *chip, struct cw_arena *arena)
{
    struct cw_limit_table table;
    struct cw_writer text;
    struct cw_yaml *root;
    cw_limit_table_init(&table);
    cw_writer_init(&text);
    cw_learn_write(m, "", &table);
    if (cw_ask_ok(&m->ask))
        m->ask.status = cw_limit_table_load(&table, "learned limits", chip, &text, &root, arena, m->ask.err);
    cw_limit_table_free(&table);
    cw_writer_free(&text);
}

/* Bans among random sets of the domains that are marked. */
static void try_domains(struct cw_model *m, const bool *domains, uint32_t each, const char *name)
{
    const struct cw_chip *chip = m->chip;
    struct cw_pool pool = {0, cw_ask_array(&m->ask, chip->placement_count, sizeof *pool.items)};
    for (uint32_t p = 0; cw_ask_ok(&m->ask) && p < chip->placement_count; p++)
        if (m->usable[p] && domains[chip->placements[p].domain])
            pool.items[pool.count++] = p;
    if (pool.count < 2 || !cw_ask_ok(&m->ask))
        return;
    uint32_t tries = pool.count * each < DRAWN_SETS ? pool.count * each : DRAWN_SETS;
    uint32_t mistakes = cw_learn_bans(m, &pool, tries);
    if (name)
        cw_model_tell(m, "%s: %u of %u random sets led to bans", name, mistakes, tries);
}

/* Each domain alone, each two that may disturb one another, and all of them. */
static void try_random_sets(struct cw_model *m)
{
    const struct cw_chip *chip = m->chip;
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
    for (uint32_t c = 0; cw_ask_ok(&m->ask) && c < n; c++) {
        uint32_t members = 0;
        for (uint32_t d = 0; d < n; d++)
            members += domains[d] = m->cluster[d] == c && !m->own_pass[d];
        if (members > 1)
            try_domains(m, domains, TRIES_EACH, "all domains of a cluster");
    }
}

/* As set_limits, in an arena of its own in place of the last one: there are many rounds. */
static void renew_limits(struct cw_model *m, struct cw_chip *chip, struct cw_arena **arena)
{
    cw_arena_destroy(*arena);
    *arena = cw_ask_ok(&m->ask) ? cw_arena_create() : NULL;
    chip->limits = NULL;
    chip->limit_count = 0;
    if (*arena)
        set_limits(m, chip, *arena);
    else if (cw_ask_ok(&m->ask))
        m->ask.status = cw_error_nomem(m->ask.err);
}

/* ---- check sets ------------------------------------------------------------------------------------------------- */

struct checking {
    struct cw_model *m;
    const struct cw_chip *chip;
    struct cw_check_count random, natural, *count; /* `count` is one of the two */
    bool learn;
};

/* The part of a pass that lies in domains which may disturb one another; all of it for CW_NONE. */
static struct cw_model_set part_of(const struct checking *c, const struct cw_pass *pass, uint32_t cluster)
{
    struct cw_model_set set = {0};
    for (uint32_t k = 0; k < pass->count && set.count < CW_SET_MOST; k++)
        if (cluster == CW_NONE || c->m->cluster[c->chip->placements[pass->placements[k]].domain] == cluster)
            set.items[set.count++] = pass->placements[k];
    return set;
}

/* Bans one refused set after the other; what is banned leaves the set. */
static void ban_all(struct checking *c, struct cw_model_set set)
{
    while (set.count > 1 && cw_ask_ok(&c->m->ask) && !cw_ask_fits(&c->m->ask, c->m->chip, set.items, set.count)) {
        struct cw_model_set smallest = set;
        cw_ask_minimize(&c->m->ask, c->m->chip, smallest.items, &smallest.count);
        cw_learn_ban(c->m, smallest);
        uint32_t n = 0;
        for (uint32_t i = 0; i < set.count; i++)
            if (set.items[i] != smallest.items[0])
                set.items[n++] = set.items[i];
        set.count = n;
    }
}

static void judge_pass(struct checking *c, const struct cw_pass *pass)
{
    c->count->passes++;
    struct cw_model_set whole = part_of(c, pass, CW_NONE);
    if (pass->count > CW_SET_MOST || cw_ask_fits(&c->m->ask, c->m->chip, whole.items, whole.count))
        return;
    c->count->refused++;
    for (uint32_t d = 0; c->learn && d < c->chip->domain_count; d++) {
        struct cw_model_set part = part_of(c, pass, d);
        if (part.count > 1)
            ban_all(c, part);
    }
}

static void judge_set(void *context, const struct cw_list *raws, bool natural)
{
    struct checking *c = context;
    struct cw_schedule schedule;
    struct cw_arena *arena = cw_ask_ok(&c->m->ask) ? cw_arena_create() : NULL;
    if (!arena)
        return;
    c->count = natural ? &c->natural : &c->random;
    const struct cw_schedule_task task = {.chip = c->chip, .group_count = 1, .groups = raws};
    c->m->ask.status = cw_schedule_make(&schedule, &task, arena, c->m->ask.err);
    c->count->sets++;
    for (uint32_t k = 0; cw_ask_ok(&c->m->ask) && k < schedule.pass_count; k++)
        judge_pass(c, &schedule.passes[k]);
    cw_arena_destroy(arena);
}

/* Schedules the sets of a round and judges the passes. With `learn`, whatever the library refuses is banned. */
static void check_round(struct checking *c, uint32_t round)
{
    struct cw_model *m = c->m;
    struct cw_check_sets sets = {.chip = c->chip, .usable = m->usable, .judge = judge_set, .context = c};
    enum cw_status status = cw_ask_ok(&m->ask) ? cw_check_sets(&sets, round, m->ask.arena, m->ask.err) : m->ask.status;
    if (cw_ask_ok(&m->ask))
        m->ask.status = status;
}

/* Rounds of check sets through our own scheduler, until the library refuses hardly any pass for some rounds, or the
 * question budget is spent. */
static void repair(struct cw_model *m, struct cw_chip *chip, struct cw_arena **arena, struct cw_learn_report *report)
{
    struct cw_check_window window = {0};
    for (uint32_t round = 0; round < MOST_ROUNDS && m->ask.questions < MOST_QUESTIONS && cw_ask_ok(&m->ask); round++) {
        struct checking c = {.m = m, .chip = chip, .learn = true};
        check_round(&c, round);
        uint32_t passes = c.random.passes + c.natural.passes, refused = c.random.refused + c.natural.refused;
        report->rounds++;
        cw_model_tell(m, "check round %u: %u passes, %u refused; %u rules, %u bans", round + 1, passes, refused,
                      m->rule_count, m->ban_count);
        if (refused)
            renew_limits(m, chip, arena);
        if (cw_check_settled(&window, passes, refused))
            return;
    }
}

static void learn(struct cw_model *m, struct cw_chip *chip, const char *prefix, struct cw_limit_table *table,
                  struct cw_learn_report *report)
{
    struct cw_arena *arena = NULL;
    cw_learn_domains(m);
    cw_model_tell(m, "domains compared");
    cw_learn_kinds(m);
    cw_model_tell(m, "pairs compared: %u kinds", m->kind_count);
    cw_learn_rules(m);
    cw_learn_classes(m);
    try_random_sets(m);
    renew_limits(m, chip, &arena);
    repair(m, chip, &arena, report);
    struct checking fresh = {.m = m, .chip = chip};
    for (uint32_t k = 0; k < FRESH_ROUNDS && cw_ask_ok(&m->ask); k++)
        check_round(&fresh, FRESH_FIRST + k);
    report->random = fresh.random;
    report->natural = fresh.natural;
    cw_learn_write(m, prefix, table);
    for (uint32_t p = 0; cw_ask_ok(&m->ask) && p < chip->placement_count; p++)
        report->unusable += !m->usable[p];
    report->classes = m->class_count;
    report->limits = chip->limit_count;
    report->questions = m->ask.questions;
    cw_arena_destroy(arena);
}

enum cw_status cw_learn(struct cw_facts *facts, const struct cw_nvperf *library, enum cw_nvperf_activity activity,
                        struct cw_limit_table *table, struct cw_learn_report *report, void (*progress)(const char *),
                        struct cw_error *err)
{
    double start = cw_ask_seconds();
    struct cw_chip chip = facts->chip; /* its limits change with every round */
    struct cw_arena *arena = cw_arena_create();
    struct cw_model *m = arena ? cw_arena_alloc(arena, 1, sizeof *m) : NULL;
    *report = (struct cw_learn_report){0};
    if (!m) {
        cw_arena_destroy(arena);
        return cw_error_nomem(err);
    }
    *m = (struct cw_model){
        .ask = {.arena = arena, .err = err, .random = CW_ASK_SEED}, .chip = &chip, .progress = progress};
    m->ask.status = cw_nvperf_scheduler_create(&m->ask.scheduler, library, chip.name, activity, err);
    if (cw_ask_ok(&m->ask))
        learn(m, &chip, activity == CW_NVPERF_PM_SAMPLING ? "pm_" : "", table, report);
    cw_nvperf_scheduler_destroy(m->ask.scheduler);
    enum cw_status status = m->ask.status;
    cw_arena_destroy(arena);
    report->seconds = cw_ask_seconds() - start;
    return status == CW_OK && (table->classes.status != CW_OK || table->limits.status != CW_OK) ? cw_error_nomem(err)
                                                                                                : status;
}
