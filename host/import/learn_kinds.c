/* Domains that disturb one another, and kinds of placements that exclude the same others. */
#include <stdlib.h>
#include <string.h>

#include "host/import/learn_model.h"

enum { CROSS_TRIES = 60, PROBES = 48, CHECKS = 30000, ROUNDS = 40 };

/* ---- domains ---------------------------------------------------------------------------------------------------- */

static struct cw_pool *pools_by_domain(struct cw_model *m)
{
    const struct cw_chip *chip = m->chip;
    struct cw_pool *pools = cw_model_array(m, chip->domain_count, sizeof *pools);
    for (uint32_t d = 0; cw_model_ok(m) && d < chip->domain_count; d++)
        pools[d].items = cw_model_array(m, chip->placement_count, sizeof *pools[d].items);
    for (uint32_t p = 0; cw_model_ok(m) && p < chip->placement_count; p++)
        if (m->usable[p]) {
            struct cw_pool *pool = &pools[chip->placements[p].domain];
            pool->items[pool->count++] = p;
        }
    return pools;
}

/* Of some pairs across two domains: how many do not fit. */
static uint32_t cross_conflicts(struct cw_model *m, const struct cw_pool *a, const struct cw_pool *b, uint32_t *tries)
{
    uint32_t bad = 0;
    *tries = 0;
    for (uint32_t k = 0; k < CROSS_TRIES && cw_model_ok(m); k++) {
        uint32_t pair[2] = {a->items[cw_model_random(m, a->count)], b->items[cw_model_random(m, b->count)]};
        if (m->chip->placements[pair[0]].raw == m->chip->placements[pair[1]].raw)
            continue;
        ++*tries;
        bad += !cw_model_fits(m, pair, 2);
    }
    return bad;
}

static void join(struct cw_model *m, uint32_t a, uint32_t b)
{
    uint32_t from = m->cluster[a] > m->cluster[b] ? m->cluster[a] : m->cluster[b];
    uint32_t to = m->cluster[a] < m->cluster[b] ? m->cluster[a] : m->cluster[b];
    for (uint32_t d = 0; d < m->chip->domain_count; d++)
        if (m->cluster[d] == from)
            m->cluster[d] = to;
}

static void compare_domains(struct cw_model *m, const struct cw_pool *pools)
{
    uint32_t n = m->chip->domain_count;
    uint8_t *all = cw_model_array(m, (size_t)n * n, 1), *some = cw_model_array(m, (size_t)n * n, 1);
    for (uint32_t a = 0; cw_model_ok(m) && a < n; a++)
        for (uint32_t b = 0; b < a; b++) {
            if (!pools[a].count || !pools[b].count)
                continue;
            uint32_t tries, bad = cross_conflicts(m, &pools[a], &pools[b], &tries);
            all[a * n + b] = all[b * n + a] = bad && bad == tries;
            some[a * n + b] = some[b * n + a] = bad != 0;
        }
    for (uint32_t a = 0; cw_model_ok(m) && a < n; a++) {
        bool alone = pools[a].count > 0;
        for (uint32_t b = 0; b < n; b++)
            alone &= b == a || !pools[b].count || all[a * n + b];
        m->own_pass[a] = alone;
    }
    for (uint32_t a = 0; cw_model_ok(m) && a < n; a++)
        for (uint32_t b = 0; b < a; b++)
            if (some[a * n + b] && !m->own_pass[a] && !m->own_pass[b])
                join(m, a, b);
}

void cw_learn_domains(struct cw_model *m)
{
    const struct cw_chip *chip = m->chip;
    m->usable = cw_model_array(m, chip->placement_count, sizeof *m->usable);
    m->own_pass = cw_model_array(m, chip->domain_count, sizeof *m->own_pass);
    m->cluster = cw_model_array(m, chip->domain_count, sizeof *m->cluster);
    for (uint32_t p = 0; cw_model_ok(m) && p < chip->placement_count; p++)
        m->usable[p] = cw_model_fits(m, &p, 1);
    for (uint32_t d = 0; cw_model_ok(m) && d < chip->domain_count; d++)
        m->cluster[d] = d;
    const struct cw_pool *pools = pools_by_domain(m);
    compare_domains(m, pools);
    for (uint32_t p = 1; cw_model_ok(m) && p < chip->placement_count; p++)
        if (chip->placements[p].raw == chip->placements[p - 1].raw)
            join(m, chip->placements[p].domain, chip->placements[p - 1].domain);
}

/* ---- kinds ------------------------------------------------------------------------------------------------------ */

/* The placements of one cluster while they are sorted into kinds. Column k of a row says whether the row's placement
 * excludes probe k. */
struct sorting {
    struct cw_model *m;
    struct cw_pool pool;
    uint32_t *probes, probe_count, probe_room;
    uint8_t *rows; /* [placement in pool * probe_room + probe] */
    uint32_t *kind; /* by placement in pool */
    uint32_t kind_count;
    uint32_t *order;
};

static void add_probe(struct sorting *s, uint32_t index)
{
    struct cw_model *m = s->m;
    for (uint32_t k = 0; k < s->probe_count; k++)
        if (s->probes[k] == index)
            return;
    if (s->probe_count == s->probe_room)
        return;
    uint32_t column = s->probe_count++;
    s->probes[column] = index;
    for (uint32_t i = 0; i < s->pool.count && cw_model_ok(m); i++) {
        uint32_t pair[2] = {s->pool.items[i], s->pool.items[index]};
        bool same_raw = m->chip->placements[pair[0]].raw == m->chip->placements[pair[1]].raw;
        /* two placements of one counter never meet; what they do is filled in from their likes */
        s->rows[(size_t)i * s->probe_room + column] = same_raw ? 2 : !cw_model_fits(m, pair, 2);
    }
}

static bool same_row(const struct sorting *s, uint32_t a, uint32_t b)
{
    const struct cw_chip_placement *p = s->m->chip->placements;
    if (p[s->pool.items[a]].domain != p[s->pool.items[b]].domain)
        return false;
    const uint8_t *x = s->rows + (size_t)a * s->probe_room, *y = s->rows + (size_t)b * s->probe_room;
    for (uint32_t k = 0; k < s->probe_count; k++)
        if (x[k] != y[k] && x[k] != 2 && y[k] != 2)
            return false;
    return true;
}

/* Kinds are named by their first placement. */
static void assign_kinds(struct sorting *s)
{
    uint32_t *first = cw_model_array(s->m, s->pool.count, sizeof *first);
    s->kind_count = 0;
    for (uint32_t i = 0; cw_model_ok(s->m) && i < s->pool.count; i++) {
        uint32_t k = 0;
        while (k < s->kind_count && !same_row(s, i, first[k]))
            k++;
        if (k == s->kind_count)
            first[s->kind_count++] = i;
        s->kind[i] = k;
    }
    s->order = first;
}

/* Every kind's first placement becomes a probe, until no probe splits a kind any more. */
static void sort_into_kinds(struct sorting *s)
{
    for (uint32_t k = 0; k < PROBES && k < s->pool.count; k++)
        add_probe(s, cw_model_random(s->m, s->pool.count));
    for (uint32_t before = 0, round = 0; round < ROUNDS && cw_model_ok(s->m); round++) {
        assign_kinds(s);
        if (!cw_model_ok(s->m) || (before == s->probe_count && round))
            return;
        before = s->probe_count;
        for (uint32_t k = 0; k < s->kind_count; k++)
            add_probe(s, s->order[k]);
    }
}

/* Whether two kinds exclude each other, judged by the probes of either: a doubt counts as a conflict. */
static void fill_conflicts(struct sorting *s)
{
    struct cw_model *m = s->m;
    for (uint32_t k = 0; k < s->probe_count && cw_model_ok(m); k++) {
        uint32_t a = m->kind[s->pool.items[s->probes[k]]];
        for (uint32_t i = 0; i < s->pool.count; i++)
            if (i != s->probes[k] && s->rows[(size_t)i * s->probe_room + k] == 1) {
                uint32_t b = m->kind[s->pool.items[i]];
                m->conflict[(size_t)a * m->kind_room + b] = m->conflict[(size_t)b * m->kind_room + a] = 1;
            }
    }
}

/* Pairs at random: a surprise makes both probes. Returns the surprises. */
static uint32_t check_kinds(struct sorting *s)
{
    struct cw_model *m = s->m;
    uint32_t wrong = 0;
    for (uint32_t k = 0; k < CHECKS && wrong < 16 && cw_model_ok(m); k++) {
        uint32_t a = cw_model_random(m, s->pool.count), b = cw_model_random(m, s->pool.count);
        uint32_t pair[2] = {s->pool.items[a], s->pool.items[b]};
        if (m->chip->placements[pair[0]].raw == m->chip->placements[pair[1]].raw)
            continue;
        if (cw_model_fits(m, pair, 2) == cw_model_conflict(m, pair[0], pair[1])) {
            wrong++;
            add_probe(s, a);
            add_probe(s, b);
        }
    }
    return wrong;
}

static void learn_cluster(struct cw_model *m, uint32_t cluster)
{
    const struct cw_chip *chip = m->chip;
    struct sorting s = {.m = m};
    s.pool.items = cw_model_array(m, chip->placement_count, sizeof *s.pool.items);
    for (uint32_t p = 0; cw_model_ok(m) && p < chip->placement_count; p++)
        if (m->usable[p] && m->cluster[chip->placements[p].domain] == cluster)
            s.pool.items[s.pool.count++] = p;
    s.probe_room = s.pool.count;
    s.probes = cw_model_array(m, s.probe_room, sizeof *s.probes);
    s.rows = cw_model_array(m, (size_t)s.pool.count * s.probe_room, 1);
    s.kind = cw_model_array(m, s.pool.count, sizeof *s.kind);
    uint32_t base = m->kind_count;
    for (int round = 0; round < 6 && cw_model_ok(m) && s.pool.count; round++) {
        sort_into_kinds(&s);
        m->kind_count = base + s.kind_count;
        for (uint32_t i = 0; cw_model_ok(m) && i < s.pool.count; i++)
            m->kind[s.pool.items[i]] = base + s.kind[i];
        for (uint32_t a = base; cw_model_ok(m) && a < m->kind_count; a++)
            memset(m->conflict + (size_t)a * m->kind_room + base, 0, m->kind_count - base);
        fill_conflicts(&s);
        if (!cw_model_ok(m) || !check_kinds(&s))
            return;
    }
}

void cw_learn_kinds(struct cw_model *m)
{
    uint32_t n = m->chip->placement_count;
    m->kind_room = n;
    m->kind = cw_model_array(m, n, sizeof *m->kind);
    m->conflict = cw_model_array(m, (size_t)n * n, 1);
    for (uint32_t p = 0; cw_model_ok(m) && p < n; p++)
        m->kind[p] = CW_NONE;
    for (uint32_t d = 0; cw_model_ok(m) && d < m->chip->domain_count; d++)
        if (m->cluster[d] == d && !m->own_pass[d])
            learn_cluster(m, d);
}
