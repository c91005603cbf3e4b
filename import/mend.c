#include "import/mend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/schedule.h"
#include "import/mend_limits.h"

enum {
    THEIR_ROUNDS = 16, /* rounds that also examine the library's passes */
    MOST_ROUNDS = 40,
    FIRST_ROUND = 1000,
    FRESH_FIRST = 200000, /* number of the first fresh round, whose sets teach nothing */
    FRESH_ROUNDS = 8,
};

struct mending {
    struct cw_mend *m;
    uint32_t their_passes, forbidden; /* passes of the library, and how many of them our limits forbid */
    bool theirs;                      /* judge the library's passes, too */
    uint32_t *pass_of;
    struct cw_nvperf_placement *asked;
    uint32_t *raws;
    bool *seen;
    struct cw_list *groups;
};

/* ---- the library's passes --------------------------------------------------------------------------------------- */

/* Finds domains for a pass of raw counters with which the library accepts it; prefers domains that our limits allow
 * together. */
static bool settle_domains(struct mending *g, const uint32_t *raws, uint32_t count, uint32_t *set)
{
    struct cw_mend *m = g->m;
    const struct cw_chip *chip = &m->chip;
    bool fits = false;
    for (uint32_t i = 0; i < count; i++)
        g->asked[i] = (struct cw_nvperf_placement){chip->raws[raws[i]].id, 0};
    for (uint32_t i = 0; i < count && cw_ask_ok(&m->ask); i++) {
        const struct cw_raw_counter *raw = &chip->raws[raws[i]];
        fits = false;
        for (uint32_t k = 0; k < raw->placement_count && !fits && cw_ask_ok(&m->ask); k++) {
            set[i] = raw->placement + k;
            g->asked[i].domain = chip->domains[chip->placements[set[i]].domain].id;
            m->ask.questions++;
            if (m->usable[set[i]])
                m->ask.status = cw_nvperf_fits(m->ask.scheduler, g->asked, count, &fits, m->ask.err);
        }
        if (!fits)
            return false;
    }
    return cw_ask_ok(&m->ask);
}

static bool is_allowed(struct mending *g, const uint32_t *raws, uint32_t count)
{
    struct cw_schedule schedule;
    struct cw_arena *arena = cw_arena_create();
    struct cw_mend *m = g->m;
    const struct cw_list all = {count, raws};
    const struct cw_schedule_task task = {.chip = &m->chip, .group_count = 1, .groups = &all};
    m->ask.status = arena ? cw_schedule_make(&schedule, &task, arena, m->ask.err) : cw_error_nomem(m->ask.err);
    bool allowed = cw_ask_ok(&m->ask) && schedule.pass_count == 1;
    cw_arena_destroy(arena);
    return allowed;
}

static void judge_theirs(struct mending *g, const struct cw_list *raws)
{
    struct cw_mend *m = g->m;
    size_t passes = 0;
    uint32_t set[CW_ASK_MOST];
    for (uint32_t i = 0; i < raws->count; i++)
        g->asked[i] = (struct cw_nvperf_placement){m->chip.raws[raws->items[i]].id, 0};
    m->ask.status = cw_nvperf_passes(m->ask.scheduler, g->asked, raws->count, g->pass_of, &passes, m->ask.err);
    for (size_t pass = 0; pass < passes && cw_ask_ok(&m->ask); pass++) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < raws->count; i++)
            if (g->pass_of[i] == pass)
                g->raws[n++] = raws->items[i];
        g->their_passes++;
        if (n < 2 || n > CW_ASK_MOST || is_allowed(g, g->raws, n) || !settle_domains(g, g->raws, n, set))
            continue;
        g->forbidden++;
        cw_mend_relax(m, set, n);
        if (m->changed)
            cw_mend_refresh(m);
    }
}

/* ---- our passes ------------------------------------------------------------------------------------------------- */

static void forbid(struct cw_check_sets *sets, const uint32_t *placements, uint32_t count)
{
    const struct mending *g = sets->context;
    cw_mend_forbid(g->m, placements, count);
}

/* Lists groups: each ratio whose raw counters are all among `raws`, and `raws` as a whole. */
static size_t list_groups(struct mending *g, const struct cw_list *raws)
{
    const struct cw_chip *chip = &g->m->chip;
    size_t count = 0;
    memset(g->seen, 0, chip->raw_count * sizeof *g->seen);
    for (uint32_t i = 0; i < raws->count; i++)
        g->seen[raws->items[i]] = true;
    for (uint32_t r = 0; r < chip->ratio_count; r++) {
        bool all = true;
        for (uint32_t k = 0; k < chip->ratios[r].raws.count && all; k++)
            all = g->seen[chip->ratios[r].raws.items[k]];
        if (all)
            g->groups[count++] = chip->ratios[r].raws;
    }
    g->groups[count++] = *raws;
    return count;
}

/* Judges our passes with each counter once, and also our passes with copies that keep ratios whole, if they are
 * different. */
static void judge(struct cw_check_sets *sets, const struct cw_list *raws)
{
    struct mending *g = sets->context;
    struct cw_mend *m = g->m;
    if (g->theirs)
        judge_theirs(g, raws);
    size_t groups = list_groups(g, raws);
    for (int whole = 0; whole < (groups > 1 ? 2 : 1) && cw_ask_ok(&m->ask); whole++) {
        cw_check_passes(sets, g->groups, groups, whole ? CW_SCHEDULE_WHOLE : 0);
        if (cw_ask_ok(&m->ask) && m->changed)
            cw_mend_refresh(m);
    }
}

/* ---- all rounds ------------------------------------------------------------------------------------------------- */

static void run_round(struct cw_mend *m, struct cw_check_sets *sets, uint32_t number)
{
    m->round = number;
    cw_check_sets(sets, number);
}

static void rounds(struct mending *g, struct cw_check_sets *sets, void (*progress)(const char *))
{
    struct cw_mend *m = g->m;
    struct cw_check_window window = {0};
    for (uint32_t round = 0; round < MOST_ROUNDS && cw_ask_ok(&m->ask); round++) {
        sets->random = sets->natural = (struct cw_check_count){0};
        g->theirs = round < THEIR_ROUNDS;
        g->their_passes = g->forbidden = 0;
        run_round(m, sets, round ? FIRST_ROUND + round : 0);
        struct cw_check_count count = cw_check_total(sets);
        char text[200];
        snprintf(text, sizeof text,
                 "round %u: %u of %u passes of the library forbidden, %u of %u of ours refused; %u limits", round + 1,
                 g->forbidden, g->their_passes, count.refused, count.passes, m->chip.limit_count);
        if (progress)
            progress(text);
        bool settled = cw_check_settled(&window, count);
        if (settled && round + 1 >= THEIR_ROUNDS + CW_CHECK_WINDOW)
            return;
    }
}

static void mend(struct cw_mend *m, struct cw_mend_report *report, void (*progress)(const char *))
{
    struct mending g = {.m = m};
    struct cw_check_sets sets = {.ask = &m->ask, .most = CW_ASK_MOST, .judge = judge, .refused = forbid, .context = &g};
    g.pass_of = cw_ask_array(&m->ask, m->chip.raw_count, sizeof *g.pass_of);
    g.asked = cw_ask_array(&m->ask, m->chip.raw_count, sizeof *g.asked);
    g.raws = cw_ask_array(&m->ask, m->chip.raw_count, sizeof *g.raws);
    g.seen = cw_ask_array(&m->ask, m->chip.raw_count, sizeof *g.seen);
    g.groups = cw_ask_array(&m->ask, m->chip.ratio_count + 1u, sizeof *g.groups);
    cw_mend_begin(m);
    uint32_t first = m->count;
    if (cw_ask_ok(&m->ask))
        cw_mend_refresh(m);
    sets.usable = m->usable;
    rounds(&g, &sets, progress);
    sets.random = sets.natural = (struct cw_check_count){0};
    sets.refused = NULL;
    for (uint32_t k = 0; k < FRESH_ROUNDS && cw_ask_ok(&m->ask); k++)
        run_round(m, &sets, FRESH_FIRST + k);
    report->random = sets.random;
    report->natural = sets.natural;
    for (uint32_t i = 0; i < first; i++)
        report->removed += m->limits[i].gone;
    report->questions = m->ask.questions;
}

enum cw_status cw_mend(struct cw_facts *facts, const struct cw_nvperf *library, enum cw_nvperf_activity activity,
                       struct cw_limit_table *table, struct cw_mend_report *report, void (*progress)(const char *what),
                       struct cw_error *err)
{
    struct cw_mend m = {.ask = {.arena = cw_arena_create(), .err = err, .random = CW_ASK_SEED}, .chip = facts->chip};
    struct cw_writer text;
    *report = (struct cw_mend_report){0};
    if (!m.ask.arena)
        return cw_error_nomem(err);
    cw_writer_init(&text);
    m.ask.chip = &m.chip;
    m.ask.status = cw_limit_table_load(table, "limits to mend", &m.chip, &m.names, &text, m.ask.arena, err);
    if (cw_ask_ok(&m.ask))
        m.ask.status = cw_nvperf_scheduler_create(&m.ask.scheduler, library, m.chip.name, activity, err);
    if (cw_ask_ok(&m.ask))
        mend(&m, report, progress);
    table->limits.size = 0;
    if (cw_ask_ok(&m.ask))
        cw_mend_write(&m, &text, table);
    cw_nvperf_scheduler_destroy(m.ask.scheduler);
    cw_writer_free(&text);
    cw_arena_destroy(m.tables);
    cw_arena_destroy(m.ask.arena);
    return m.ask.status;
}
