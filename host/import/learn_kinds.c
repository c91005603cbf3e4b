/* Domains that disturb one another, and kinds of placements that exclude the same others: each two that may disturb one
 * another are asked about. */
#include <string.h>

#include "host/import/learn_model.h"

enum { CROSS_TRIES = 60 };

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

enum { FITS, EXCLUDES, UNKNOWN }; /* what is known of two placements; two of one counter never meet */

/* The placements of one cluster while they are sorted into kinds. */
struct sorting {
    struct cw_model *m;
    struct cw_pool pool;
    uint8_t *rows;   /* [placement in pool * pool.count + placement in pool] */
    uint32_t *first; /* by kind: its first placement in pool, whose row is that of the kind */
};

static void ask_pairs(struct sorting *s)
{
    struct cw_model *m = s->m;
    uint32_t n = s->pool.count;
    memset(s->rows, UNKNOWN, (size_t)n * n);
    for (uint32_t a = 0; a < n && cw_model_ok(m); a++)
        for (uint32_t b = 0; b < a; b++) {
            uint32_t pair[2] = {s->pool.items[a], s->pool.items[b]};
            if (m->chip->placements[pair[0]].raw != m->chip->placements[pair[1]].raw)
                s->rows[(size_t)a * n + b] = s->rows[(size_t)b * n + a] = cw_model_fits(m, pair, 2) ? FITS : EXCLUDES;
        }
}

static bool same_row(const struct sorting *s, uint32_t a, uint32_t b)
{
    const struct cw_chip_placement *p = s->m->chip->placements;
    uint32_t n = s->pool.count, k = 0;
    const uint8_t *x = s->rows + (size_t)a * n, *y = s->rows + (size_t)b * n;
    if (p[s->pool.items[a]].domain != p[s->pool.items[b]].domain)
        return false;
    while (k < n && (x[k] == y[k] || x[k] == UNKNOWN || y[k] == UNKNOWN))
        k++;
    return k == n;
}

/* Kinds are named by their first placement, whose row learns from the others what it does not know by itself. */
static void assign_kinds(struct sorting *s)
{
    struct cw_model *m = s->m;
    uint32_t n = s->pool.count, base = m->kind_count;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = 0;
        while (base + k < m->kind_count && !same_row(s, i, s->first[k]))
            k++;
        if (base + k == m->kind_count) {
            m->kind_count++;
            s->first[k] = i;
        }
        m->kind[s->pool.items[i]] = base + k;
        uint8_t *row = s->rows + (size_t)s->first[k] * n;
        for (uint32_t c = 0; c < n; c++)
            if (row[c] == UNKNOWN)
                row[c] = s->rows[(size_t)i * n + c];
    }
    for (uint32_t k = base; k < m->kind_count; k++)
        for (uint32_t i = 0; i < n; i++)
            if (s->rows[(size_t)s->first[k - base] * n + i] == EXCLUDES)
                m->conflict[(size_t)k * m->kind_room + m->kind[s->pool.items[i]]] =
                    m->conflict[(size_t)m->kind[s->pool.items[i]] * m->kind_room + k] = 1;
}

static void learn_cluster(struct cw_model *m, uint32_t cluster)
{
    const struct cw_chip *chip = m->chip;
    struct sorting s = {.m = m};
    s.pool.items = cw_model_array(m, chip->placement_count, sizeof *s.pool.items);
    s.first = cw_model_array(m, chip->placement_count, sizeof *s.first);
    for (uint32_t p = 0; cw_model_ok(m) && p < chip->placement_count; p++)
        if (m->usable[p] && m->cluster[chip->placements[p].domain] == cluster)
            s.pool.items[s.pool.count++] = p;
    s.rows = cw_model_array(m, (size_t)s.pool.count * s.pool.count, 1);
    if (cw_model_ok(m))
        ask_pairs(&s);
    if (cw_model_ok(m))
        assign_kinds(&s);
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
