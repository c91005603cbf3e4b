#define _POSIX_C_SOURCE 200809L
#include "host/import/learn.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "host/import/learn_check.h"
#include "host/import/learn_model.h"
#include "metricdb/limits.h"

enum {
    TRIES_EACH = 16,     /* random sets for each placement of a pool */
    DRAWN_SETS = 20000,  /* at most */
    MOST_ROUNDS = 400,
    QUIET_ROUNDS = 30,   /* rounds of check sets without a mistake that end the repairs */
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
    struct cw_writer text;
    struct cw_yaml *root;
    cw_writer_init(&text);
    cw_learn_write(m, &text);
    if (cw_model_ok(m) && text.status != CW_OK)
        m->status = cw_error_nomem(m->err);
    if (cw_model_ok(m))
        m->status = cw_yaml_parse(&root, text.data, text.size, "learned limits", arena, m->err);
    struct cw_yaml_reader in = {"learned limits", arena, m->err, m->status};
    if (cw_model_ok(m))
        cw_limits_load(chip, &in, cw_yaml_get(&in, root, "classes", true), cw_yaml_get(&in, root, "limits", true));
    m->status = in.status;
    cw_writer_free(&text);
}

/* Bans among random sets of the domains that are marked. */
static void try_domains(struct cw_model *m, const bool *domains, const char *name, void (*progress)(const char *))
{
    const struct cw_chip *chip = m->chip;
    struct cw_pool pool = {0, cw_model_array(m, chip->placement_count, sizeof *pool.items)};
    for (uint32_t p = 0; cw_model_ok(m) && p < chip->placement_count; p++)
        if (m->usable[p] && domains[chip->placements[p].domain])
            pool.items[pool.count++] = p;
    if (pool.count < 2 || !cw_model_ok(m))
        return;
    uint32_t tries = pool.count * TRIES_EACH < DRAWN_SETS ? pool.count * TRIES_EACH : DRAWN_SETS;
    uint32_t mistakes = cw_learn_bans(m, &pool, tries);
    char text[160];
    snprintf(text, sizeof text, "%s: %u of %u random sets led to bans", name, mistakes, tries);
    if (progress)
        progress(text);
}

/* Each domain alone, each two that may disturb one another, and all of them. */
static void try_random_sets(struct cw_model *m, void (*progress)(const char *))
{
    const struct cw_chip *chip = m->chip;
    uint32_t n = chip->domain_count;
    bool *domains = cw_model_array(m, n, sizeof *domains);
    for (uint32_t a = 0; cw_model_ok(m) && a < n; a++)
        for (uint32_t b = 0; b <= a; b++) {
            if (m->own_pass[a] || m->own_pass[b] || m->cluster[a] != m->cluster[b])
                continue;
            memset(domains, 0, n * sizeof *domains);
            domains[a] = domains[b] = true;
            try_domains(m, domains, chip->domains[a].name, a == b ? progress : NULL);
        }
    for (uint32_t c = 0; cw_model_ok(m) && c < n; c++) {
        uint32_t members = 0;
        for (uint32_t d = 0; d < n; d++)
            members += domains[d] = m->cluster[d] == c && !m->own_pass[d];
        if (members > 1)
            try_domains(m, domains, "all domains of a cluster", progress);
    }
}

/* As set_limits, in an arena of its own in place of the last one: there are many rounds. */
static void renew_limits(struct cw_model *m, struct cw_chip *chip, struct cw_arena **arena)
{
    cw_arena_destroy(*arena);
    *arena = cw_model_ok(m) ? cw_arena_create() : NULL;
    chip->limits = NULL;
    chip->limit_count = 0;
    if (*arena)
        set_limits(m, chip, *arena);
    else if (cw_model_ok(m))
        m->status = cw_error_nomem(m->err);
}

/* Rounds of check sets through our own scheduler, until some rounds in a row show no mistake. Those last rounds are
 * sets that nothing was learned from: they are what the report counts. */
static void repair(struct cw_model *m, struct cw_chip *chip, struct cw_learn_report *report,
                   void (*progress)(const char *))
{
    struct cw_arena *arena = NULL;
    uint32_t quiet = 0;
    renew_limits(m, chip, &arena);
    for (uint32_t round = 0; round < MOST_ROUNDS && quiet < QUIET_ROUNDS && cw_model_ok(m); round++) {
        struct cw_check check = {0};
        cw_learn_check(m, chip, round, &check);
        quiet = check.refused ? 0 : quiet + 1;
        if (quiet == 1 || check.refused)
            report->sets = report->passes = report->refused = 0;
        report->sets += check.sets;
        report->passes += check.passes;
        report->refused += check.refused;
        if (!check.refused)
            continue;
        renew_limits(m, chip, &arena);
        char text[160];
        snprintf(text, sizeof text, "check round %u: %u sets, %u passes, %u refused; %u bans", round + 1, check.sets,
                 check.passes, check.refused, m->ban_count);
        if (progress)
            progress(text);
    }
    chip->limits = NULL;
    chip->limit_count = 0;
    cw_arena_destroy(arena);
}

static void learn(struct cw_model *m, struct cw_chip *chip, struct cw_writer *text, struct cw_learn_report *report,
                  void (*progress)(const char *))
{
    cw_learn_domains(m);
    if (progress)
        progress("domains compared");
    cw_learn_kinds(m);
    if (progress)
        progress("pairs compared");
    cw_learn_rules(m, progress);
    cw_learn_classes(m);
    try_random_sets(m, progress);
    repair(m, chip, report, progress);
    set_limits(m, chip, m->arena);
    cw_learn_write(m, text);
    for (uint32_t p = 0; cw_model_ok(m) && p < chip->placement_count; p++)
        report->unusable += !m->usable[p];
    report->classes = m->class_count;
    report->limits = chip->limit_count;
    report->questions = m->questions;
}

enum cw_status cw_learn(struct cw_facts *facts, const struct cw_nvperf *library, struct cw_writer *text,
                        struct cw_learn_report *report, void (*progress)(const char *), struct cw_error *err)
{
    *report = (struct cw_learn_report){0};
    double start = seconds();
    struct cw_model *m = cw_arena_alloc(facts->arena, 1, sizeof *m);
    if (!m)
        return cw_error_nomem(err);
    *m = (struct cw_model){.chip = &facts->chip, .arena = facts->arena, .err = err, .random = 88172645463325252u};
    m->status = cw_nvperf_scheduler_create(&m->scheduler, library, facts->chip.name, CW_NVPERF_PROFILER, err);
    if (cw_model_ok(m))
        learn(m, &facts->chip, text, report, progress);
    cw_nvperf_scheduler_destroy(m->scheduler);
    report->seconds = seconds() - start;
    return m->status == CW_OK && text->status != CW_OK ? cw_error_nomem(err) : m->status;
}
