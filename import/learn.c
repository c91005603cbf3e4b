#define _POSIX_C_SOURCE 200809L
#include "import/learn.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "import/learn_check.h"
#include "import/learn_model.h"
#include "metricdb/limits.h"

enum {
    TRIES_EACH = 16,    /* random sets for each placement of a domain, */
    TRIES_TOGETHER = 3, /* and of two domains that may disturb one another */
    DRAWN_SETS = 12000, /* at most */
    MOST_ROUNDS = 60,
    MOST_QUESTIONS = 12000000,
    WINDOW = 6,           /* rounds of check sets that together decide whether the repairs are over, */
    SETTLED = 1500,       /* namely when one pass in so many is refused */
    FRESH_FIRST = 100000, /* the number of the first round that nothing is learned from */
    FRESH_ROUNDS = 8,
};

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Through the very text and loader that users have, so that what is checked is what is written. */
static void set_limits(struct cw_model *m, struct cw_chip *chip, struct cw_arena *arena)
{
    struct cw_writer classes, limits;
    struct cw_yaml *root;
    cw_writer_init(&classes);
    cw_writer_init(&limits);
    cw_write_format(&classes, "classes:\n");
    cw_write_format(&limits, "limits:\n");
    cw_learn_write(m, "", &classes, &limits);
    cw_write_bytes(&classes, limits.data, limits.size);
    if (cw_ask_ok(&m->ask) && (classes.status != CW_OK || limits.status != CW_OK))
        m->ask.status = cw_error_nomem(m->ask.err);
    if (cw_ask_ok(&m->ask))
        m->ask.status = cw_yaml_parse(&root, classes.data, classes.size, "learned limits", arena, m->ask.err);
    struct cw_yaml_reader in = {"learned limits", arena, m->ask.err, m->ask.status, .size = classes.size};
    if (cw_ask_ok(&m->ask))
        cw_limits_load(chip, &in, cw_yaml_get(&in, root, "classes", true), cw_yaml_get(&in, root, "limits", true),
                       NULL);
    m->ask.status = in.status;
    cw_writer_free(&classes);
    cw_writer_free(&limits);
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

static void add_count(struct cw_learn_count *to, const struct cw_check_count *from)
{
    to->sets += from->sets;
    to->passes += from->passes;
    to->refused += from->refused;
}

/* Rounds of check sets through our own scheduler, until the library refuses hardly any pass for some rounds, or the
 * question budget is spent. */
static void repair(struct cw_model *m, struct cw_chip *chip, struct cw_arena **arena, struct cw_learn_report *report)
{
    struct {
        uint32_t passes, refused;
    } recent[WINDOW] = {{0}}, sum;
    for (uint32_t round = 0; round < MOST_ROUNDS && m->ask.questions < MOST_QUESTIONS && cw_ask_ok(&m->ask); round++) {
        struct cw_check check = {0};
        cw_learn_check(m, chip, round, true, &check);
        report->rounds++;
        recent[round % WINDOW].passes = check.random.passes + check.natural.passes;
        recent[round % WINDOW].refused = check.random.refused + check.natural.refused;
        cw_model_tell(m, "check round %u: %u passes, %u refused; %u rules, %u bans", round + 1,
                      recent[round % WINDOW].passes, recent[round % WINDOW].refused, m->rule_count, m->ban_count);
        if (recent[round % WINDOW].refused)
            renew_limits(m, chip, arena);
        sum.passes = sum.refused = 0;
        for (int k = 0; k < WINDOW; k++) {
            sum.passes += recent[k].passes;
            sum.refused += recent[k].refused;
        }
        if (round + 1 >= WINDOW && (uint64_t)sum.refused * SETTLED <= sum.passes)
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
    struct cw_check fresh = {0};
    for (uint32_t k = 0; k < FRESH_ROUNDS && cw_ask_ok(&m->ask); k++)
        cw_learn_check(m, chip, FRESH_FIRST + k, false, &fresh);
    add_count(&report->random, &fresh.random);
    add_count(&report->natural, &fresh.natural);
    cw_learn_write(m, prefix, &table->classes, &table->limits);
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
    double start = seconds();
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
    report->seconds = seconds() - start;
    return status == CW_OK && (table->classes.status != CW_OK || table->limits.status != CW_OK) ? cw_error_nomem(err)
                                                                                                : status;
}
