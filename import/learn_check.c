#include "import/learn_check.h"

#include "host/schedule.h"
#include "import/check_sets.h"

struct checking {
    struct cw_model *m;
    const struct cw_chip *chip;
    struct cw_check *check;
    struct cw_check_count *count;
    bool learn;
};

/* The part of a pass that lies in domains which may disturb one another; all of it for CW_NONE. */
static struct cw_set part_of(const struct checking *c, const struct cw_pass *pass, uint32_t cluster)
{
    struct cw_set set = {0};
    for (uint32_t k = 0; k < pass->count && set.count < CW_SET_MOST; k++)
        if (cluster == CW_NONE || c->m->cluster[c->chip->placements[pass->placements[k]].domain] == cluster)
            set.items[set.count++] = pass->placements[k];
    return set;
}

/* Bans one refused set after the other; what is banned leaves the set. */
static void ban_all(struct checking *c, struct cw_set set)
{
    while (set.count > 1 && cw_ask_ok(&c->m->ask) && !cw_ask_fits(&c->m->ask, c->m->chip, set.items, set.count)) {
        struct cw_set smallest = set;
        cw_model_minimize(c->m, &smallest);
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
    struct cw_set whole = part_of(c, pass, CW_NONE);
    if (pass->count > CW_SET_MOST || cw_ask_fits(&c->m->ask, c->m->chip, whole.items, whole.count))
        return;
    c->count->refused++;
    for (uint32_t d = 0; c->learn && d < c->chip->domain_count; d++) {
        struct cw_set part = part_of(c, pass, d);
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
    c->count = natural ? &c->check->natural : &c->check->random;
    c->m->ask.status = cw_schedule_make(&schedule, c->chip, raws, 1, 0, arena, c->m->ask.err);
    c->count->sets++;
    for (uint32_t k = 0; cw_ask_ok(&c->m->ask) && k < schedule.pass_count; k++)
        judge_pass(c, &schedule.passes[k]);
    cw_arena_destroy(arena);
}

void cw_learn_check(struct cw_model *m, const struct cw_chip *chip, uint32_t round, bool learn, struct cw_check *check)
{
    struct checking c = {.m = m, .chip = chip, .check = check, .learn = learn};
    struct cw_check_sets sets = {.chip = chip, .usable = m->usable, .judge = judge_set, .context = &c};
    enum cw_status status = cw_ask_ok(&m->ask) ? cw_check_sets(&sets, round, m->ask.arena, m->ask.err) : m->ask.status;
    if (cw_ask_ok(&m->ask))
        m->ask.status = status;
}
