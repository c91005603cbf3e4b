#include "import/learn.h"

#include <inttypes.h>
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
    m->round = sets->round;
    if (g->theirs)
        judge_theirs(g, raws);
    size_t groups = list_groups(g, raws);
    for (int whole = 0; whole < (groups > 1 ? 2 : 1) && cw_ask_ok(&m->ask); whole++) {
        cw_check_passes(sets, g->groups, groups, whole ? CW_SCHEDULE_WHOLE : 0);
        if (cw_ask_ok(&m->ask) && m->changed)
            cw_mend_refresh(m);
    }
}

/* ---- writing ---------------------------------------------------------------------------------------------------- */

/* Writes mended limits as the text of a chip file. */
struct writing {
    struct cw_mend *m;
    struct cw_limits_text text; /* of one section of the table */
    struct cw_limit_table *table;
    struct cw_limit_name *names; /* large ones first, new ones at the end */
    uint32_t count, room, number;
    bool *inside; /* by placement, for cover */
};

/* ---- writing: names --------------------------------------------------------------------------------------------- */

static void add_name(struct writing *w, const char *name, struct cw_list placements)
{
    struct cw_limit_name *names = cw_ask_grown(&w->m->ask, w->names, w->count, &w->room, sizeof *names);
    w->names = names ? names : w->names;
    if (placements.count && cw_ask_ok(&w->m->ask))
        w->names[w->count++] = (struct cw_limit_name){name, placements};
}

static int by_size(const void *a, const void *b)
{
    const struct cw_limit_name *x = a, *y = b;
    if (x->placements.count != y->placements.count)
        return x->placements.count > y->placements.count ? -1 : 1;
    return strcmp(x->name, y->name);
}

static bool is_name(const struct writing *w, const char *text)
{
    for (uint32_t i = 0; i < w->count; i++)
        if (strcmp(w->names[i].name, text) == 0)
            return true;
    return false;
}

/* Makes a class of the marked placements in the domain of `first`. */
static const char *new_class(struct writing *w, uint32_t first)
{
    struct cw_mend *m = w->m;
    const struct cw_chip *chip = &m->chip;
    const char *domain = chip->domains[chip->placements[first].domain].name, *name = NULL;
    uint32_t *items = cw_ask_array(&m->ask, chip->placement_count, sizeof *items), n = 0;
    do {
        name = cw_arena_printf(m->ask.arena, "%s_m%" PRIu32, strncmp(domain, "gpu_", 4) == 0 ? domain + 4 : domain,
                               ++w->number);
    } while (name && is_name(w, name));
    if (!name || !items) {
        m->ask.status = cw_error_nomem(m->ask.err);
        return "";
    }
    for (uint32_t p = first; p < chip->placement_count; p++)
        if (w->inside[p] && chip->placements[p].domain == chip->placements[first].domain) {
            w->inside[p] = false;
            items[n++] = p;
        }
    const struct cw_list placements = {n, items};
    cw_limits_put_class(&(struct cw_limits_text){&w->table->classes, w->text.column}, chip, name, &placements);
    add_name(w, name, placements);
    return name;
}

/* Writes names that together cover some placements; makes a new name for the uncovered rest. */
static void put_names(struct writing *w, const struct cw_list *list)
{
    struct cw_mend *m = w->m;
    bool *wanted = cw_ask_array(&m->ask, m->chip.placement_count, sizeof *wanted);
    for (uint32_t i = 0; wanted && i < list->count; i++)
        wanted[list->items[i]] = w->inside[list->items[i]] = true;
    for (uint32_t i = 0; i < w->count && cw_ask_ok(&m->ask); i++) {
        const struct cw_list *named = &w->names[i].placements;
        bool all = named->count <= list->count, some = false;
        for (uint32_t k = 0; k < named->count && all; k++) {
            all = wanted[named->items[k]];
            some |= w->inside[named->items[k]];
        }
        if (!all || !some)
            continue;
        cw_limits_put_item(&w->text, w->names[i].name);
        for (uint32_t k = 0; k < named->count; k++)
            w->inside[named->items[k]] = false;
    }
    for (uint32_t i = 0; i < list->count && cw_ask_ok(&m->ask); i++)
        if (w->inside[list->items[i]]) {
            uint32_t p = 0;
            while (!w->inside[p])
                p++;
            cw_limits_put_item(&w->text, new_class(w, p));
        }
}

/* ---- writing: limits -------------------------------------------------------------------------------------------- */

static void put_group(struct writing *w, const struct cw_list *list, bool first)
{
    cw_limits_put_group(&w->text, first);
    put_names(w, list);
    cw_limits_put(&w->text, "]");
}

/* Writes placements that are a group each; most of a domain is written as the domain with exceptions. */
static void put_each(struct writing *w, const struct cw_list *list)
{
    struct cw_mend *m = w->m;
    const struct cw_chip_placement *p = m->chip.placements;
    bool *listed = cw_ask_array(&m->ask, m->chip.placement_count, sizeof *listed), one = true;
    uint32_t *rest = cw_ask_array(&m->ask, m->chip.placement_count, sizeof *rest), n = 0;
    for (uint32_t i = 0; listed && i < list->count; i++) {
        listed[list->items[i]] = true;
        one &= p[list->items[i]].domain == p[list->items[0]].domain;
    }
    const struct cw_list *domain = cw_mend_domain(m, list->items[0]);
    for (uint32_t i = 0; rest && i < domain->count && one; i++)
        if (!listed[domain->items[i]])
            rest[n++] = domain->items[i];
    one = one && cw_ask_ok(&m->ask) && 2 * n < list->count;
    cw_limits_put(&w->text, ", each: [");
    if (one)
        cw_limits_put(&w->text, "%s", m->chip.domains[p[list->items[0]].domain].name);
    else
        put_names(w, list);
    cw_limits_put(&w->text, "]");
    if (one && n) {
        cw_limits_put(&w->text, ", except: [");
        put_names(w, &(struct cw_list){n, rest});
        cw_limits_put(&w->text, "]");
    }
}

/* Writes the groups of a limit: groups of one placement together, the others one by one. Returns the number of the
 * latter. */
static uint32_t put_groups(struct writing *w, const struct cw_limit *l)
{
    struct cw_mend *m = w->m;
    uint32_t groups = cw_mend_group_count(l), listed = 0;
    uint32_t *size = cw_ask_array(&m->ask, groups, sizeof *size),
             *items = cw_ask_array(&m->ask, l->count, sizeof *items), n = 0;
    for (uint32_t k = 0; size && items && k < l->count; k++)
        size[l->groups[k]]++;
    for (uint32_t k = 0; size && items && k < l->count; k++)
        if (size[l->groups[k]] == 1)
            items[n++] = l->members[k];
    if (n)
        put_each(w, &(struct cw_list){n, items});
    for (uint32_t g = 0; g < groups && cw_ask_ok(&m->ask); g++)
        if (size[g] > 1) {
            const struct cw_list members = cw_mend_members(m, l, g);
            put_group(w, &members, listed++ == 0);
        }
    return listed;
}

static void put_limit(struct writing *w, const struct cw_mend_limit *l)
{
    const struct cw_mend_ban *ban = &l->ban;
    const struct cw_limit *slots = ban->count && ban->slots != CW_NONE ? &w->m->limits[ban->slots].limit
                                   : ban->count                        ? NULL
                                                                       : &l->limit;
    uint32_t weight = ban->count && slots ? slots->max - ban->filled + 1 : 1;
    cw_limits_put(&w->text, "  - {max: %" PRIu32, l->limit.max);
    uint32_t listed = slots ? put_groups(w, slots) : 0;
    for (uint32_t k = 0; k < ban->count; k++)
        for (uint32_t i = 0; i < weight; i++)
            put_group(w, &ban->parts[k], listed++ == 0);
    cw_limits_put(&w->text, listed ? "]}\n" : "}\n");
}

/* ---- writing: the original text --------------------------------------------------------------------------------- */

/* Flags of each line: 1, a limit begins there; 2, the limit is gone. */
static uint8_t *mark_lines(struct writing *w, const struct cw_writer *text)
{
    uint32_t lines = 2;
    for (size_t i = 0; i < text->size; i++)
        lines += text->data[i] == '\n';
    uint8_t *marks = cw_ask_array(&w->m->ask, lines, 1);
    for (uint32_t i = 0; marks && i < w->m->count; i++)
        if (w->m->limits[i].limit.line && w->m->limits[i].limit.line < lines)
            marks[w->m->limits[i].limit.line] = w->m->limits[i].gone ? 2 : 1;
    return marks;
}

/* Copies the limits that are not gone. Holds the heading of a list back until one of its limits stays. */
static void copy_limits(struct writing *w, const struct cw_writer *text)
{
    const uint8_t *marks = mark_lines(w, text);
    const char *p = (const char *)text->data, *end = p + text->size, *head = NULL;
    bool inside = false, gone = false;
    for (unsigned line = 1; marks && p < end; line++) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        size_t length = (size_t)((newline ? newline + 1 : end) - p);
        if (inside && length > 4 && memcmp(p, "  - ", 4) == 0)
            head = marks[line] ? NULL : p;
        if (marks[line])
            gone = marks[line] == 2;
        if (head && marks[line] == 1) {
            cw_write_bytes(w->text.out, head, (size_t)(p - head));
            head = NULL;
        }
        if (inside && !head && !gone)
            cw_write_bytes(w->text.out, p, length);
        inside |= length > 7 && memcmp(p, "limits:", 7) == 0;
        p += length;
    }
}

/* Appends the limits as read from `text`, without the gone ones, and the new lines of both sections. */
static void write_limits(struct cw_mend *m, const struct cw_writer *text, struct cw_limit_table *table)
{
    struct writing w = {.m = m, .table = table};
    w.inside = cw_ask_array(&m->ask, m->chip.placement_count, sizeof *w.inside);
    for (uint32_t i = 0; i < m->names.count; i++)
        add_name(&w, m->names.items[i].name, m->names.items[i].placements);
    if (w.count)
        qsort(w.names, w.count, sizeof *w.names, by_size);
    w.text = (struct cw_limits_text){&table->limits, 0};
    if (cw_ask_ok(&m->ask))
        copy_limits(&w, text);
    for (uint32_t i = 0; i < m->count && cw_ask_ok(&m->ask); i++)
        if (!m->limits[i].gone && !m->limits[i].limit.line)
            put_limit(&w, &m->limits[i]);
    if (cw_ask_ok(&m->ask) && (table->classes.status != CW_OK || table->limits.status != CW_OK))
        m->ask.status = cw_error_nomem(m->ask.err);
}

/* ---- all rounds ------------------------------------------------------------------------------------------------- */

static void rounds(struct mending *g, struct cw_check_sets *sets, void (*progress)(const char *))
{
    struct cw_mend *m = g->m;
    for (uint32_t round = 0; round < MOST_ROUNDS && cw_ask_ok(&m->ask); round++) {
        g->theirs = round < THEIR_ROUNDS;
        g->their_passes = g->forbidden = 0;
        const struct cw_check_count count = cw_check_round(sets, round ? FIRST_ROUND + round : 0);
        char text[200];
        snprintf(text, sizeof text,
                 "round %u: %u of %u passes of the library forbidden, %u of %u of ours refused; %u limits", round + 1,
                 g->forbidden, g->their_passes, count.refused, count.passes, m->chip.limit_count);
        if (progress)
            progress(text);
        if (cw_check_settled(sets) && round + 1 >= THEIR_ROUNDS + CW_CHECK_WINDOW)
            return;
    }
}

static void mend(struct cw_mend *m, struct cw_learn_report *report, void (*progress)(const char *))
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
    cw_check_fresh(&sets, FRESH_FIRST, FRESH_ROUNDS);
    report->random = sets.random;
    report->natural = sets.natural;
    for (uint32_t i = 0; i < first; i++)
        report->removed += m->limits[i].gone;
    report->questions = m->ask.questions;
}

enum cw_status cw_mend(struct cw_facts *facts, const struct cw_nvperf *library, enum cw_nvperf_activity activity,
                       struct cw_limit_table *table, struct cw_learn_report *report, void (*progress)(const char *what),
                       struct cw_error *err)
{
    struct cw_mend m = {.ask = {.arena = cw_arena_create(), .err = err, .random = CW_ASK_SEED}, .chip = facts->chip};
    struct cw_writer text;
    *report = (struct cw_learn_report){0};
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
        write_limits(&m, &text, table);
    cw_nvperf_scheduler_destroy(m.ask.scheduler);
    cw_writer_free(&text);
    cw_arena_destroy(m.tables);
    cw_arena_destroy(m.ask.arena);
    return m.ask.status;
}
