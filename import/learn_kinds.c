/* Learns which domains interfere, and sorts placements into kinds that exclude the same others. */
#include <stdlib.h>
#include <string.h>

#include "base/buckets.h"
#include "import/learn_model.h"

enum {
    CROSS_TRIES = 60,
    PROBES = 40,
    CHECKS = 10000,
    OWN_CHECKS = 8,       /* pairs checked within each kind */
    KIND_CHECKS = 2,      /* pairs checked of each two kinds, */
    CONFLICT_CHECKS = 5,  /* and of two kinds that exclude each other */
    MOST_OF_METRIC = 64,  /* placements checked of one metric */
    MOST_SURPRISES = 400, /* surprises before kinds are sorted again */
    FEW_SURPRISES = 12,   /* with at most this many, kinds need no further check */
    SORTINGS = 6,
};

/* ---- domains ---------------------------------------------------------------------------------------------------- */

static struct cw_pool *pools_by_domain(struct cw_model *m)
{
    const struct cw_chip *chip = &m->chip;
    struct cw_pool *pools = cw_ask_array(&m->ask, chip->domain_count, sizeof *pools);
    bool *marked = cw_ask_array(&m->ask, chip->domain_count, sizeof *marked);
    for (uint32_t d = 0; cw_ask_ok(&m->ask) && d < chip->domain_count; d++) {
        marked[d] = true;
        pools[d] = cw_model_pool(m, marked);
        marked[d] = false;
    }
    return pools;
}

/* Counts conflicts among sample pairs across two domains. */
static uint32_t cross_conflicts(struct cw_model *m, const struct cw_pool *a, const struct cw_pool *b, uint32_t *tries)
{
    uint32_t bad = 0;
    *tries = 0;
    for (uint32_t k = 0; k < CROSS_TRIES && cw_ask_ok(&m->ask); k++) {
        uint32_t pair[2] = {a->items[cw_ask_random(&m->ask, a->count)], b->items[cw_ask_random(&m->ask, b->count)]};
        if (m->chip.placements[pair[0]].raw == m->chip.placements[pair[1]].raw)
            continue;
        ++*tries;
        bad += !cw_ask_fits(&m->ask, pair, 2);
    }
    return bad;
}

static void join(struct cw_model *m, uint32_t a, uint32_t b)
{
    uint32_t from = m->cluster[a] > m->cluster[b] ? m->cluster[a] : m->cluster[b];
    uint32_t to = m->cluster[a] < m->cluster[b] ? m->cluster[a] : m->cluster[b];
    for (uint32_t d = 0; d < m->chip.domain_count; d++)
        if (m->cluster[d] == from)
            m->cluster[d] = to;
}

static void compare_domains(struct cw_model *m, const struct cw_pool *pools)
{
    uint32_t n = m->chip.domain_count;
    uint8_t *all = cw_ask_array(&m->ask, (size_t)n * n, 1), *some = cw_ask_array(&m->ask, (size_t)n * n, 1);
    for (uint32_t a = 0; cw_ask_ok(&m->ask) && a < n; a++)
        for (uint32_t b = 0; b < a; b++) {
            if (!pools[a].count || !pools[b].count)
                continue;
            uint32_t tries, bad = cross_conflicts(m, &pools[a], &pools[b], &tries);
            all[a * n + b] = all[b * n + a] = bad && bad == tries;
            some[a * n + b] = some[b * n + a] = bad != 0;
        }
    for (uint32_t a = 0; cw_ask_ok(&m->ask) && a < n; a++) {
        bool alone = pools[a].count > 0;
        for (uint32_t b = 0; b < n; b++)
            alone &= b == a || !pools[b].count || all[a * n + b];
        m->own_pass[a] = alone;
    }
    for (uint32_t a = 0; cw_ask_ok(&m->ask) && a < n; a++)
        for (uint32_t b = 0; b < a; b++)
            if (some[a * n + b] && !m->own_pass[a] && !m->own_pass[b])
                join(m, a, b);
}

void cw_learn_domains(struct cw_model *m)
{
    const struct cw_chip *chip = &m->chip;
    m->usable = cw_ask_array(&m->ask, chip->placement_count, sizeof *m->usable);
    m->own_pass = cw_ask_array(&m->ask, chip->domain_count, sizeof *m->own_pass);
    m->cluster = cw_ask_array(&m->ask, chip->domain_count, sizeof *m->cluster);
    for (uint32_t p = 0; cw_ask_ok(&m->ask) && p < chip->placement_count; p++)
        m->usable[p] = cw_ask_fits(&m->ask, &p, 1);
    for (uint32_t d = 0; cw_ask_ok(&m->ask) && d < chip->domain_count; d++)
        m->cluster[d] = d;
    const struct cw_pool *pools = pools_by_domain(m);
    compare_domains(m, pools);
    for (uint32_t p = 1; cw_ask_ok(&m->ask) && p < chip->placement_count; p++)
        if (chip->placements[p].raw == chip->placements[p - 1].raw)
            join(m, chip->placements[p].domain, chip->placements[p - 1].domain);
}

/* ---- kinds ------------------------------------------------------------------------------------------------------ */

/* Sorting of the placements of one cluster into kinds. Column k of a row says whether the row's placement excludes
 * probe k; 2: not asked. */
struct sorting {
    struct cw_model *m;
    struct cw_pool pool;
    uint32_t *probes, probe_count, probe_room;
    bool *of_all;   /* by probe: asked together with all other placements */
    uint8_t *rows;  /* [placement in pool * probe_room + probe] */
    uint32_t *kind; /* by placement in the pool */
    uint32_t kind_count;
    uint32_t *first; /* by kind: its first placement in the pool */
    uint32_t base;   /* number of kind 0 in the model */
};

/* Asks about one placement together with all others, or with the placements of one kind. */
static void add_probe(struct sorting *s, uint32_t index, uint32_t kind)
{
    struct cw_model *m = s->m;
    for (uint32_t k = 0; k < s->probe_count; k++)
        if (s->probes[k] == index && s->of_all[k])
            return;
    if (s->probe_count == s->probe_room)
        return;
    uint32_t column = s->probe_count++;
    s->probes[column] = index;
    s->of_all[column] = kind == CW_NONE;
    for (uint32_t i = 0; i < s->pool.count && cw_ask_ok(&m->ask); i++) {
        uint32_t pair[2] = {s->pool.items[i], s->pool.items[index]};
        /* two placements of one counter never meet; similar placements fill in their relation */
        bool open = m->chip.placements[pair[0]].raw == m->chip.placements[pair[1]].raw ||
                    (kind != CW_NONE && s->kind[i] != kind);
        s->rows[(size_t)i * s->probe_room + column] = open ? 2 : !cw_ask_fits(&m->ask, pair, 2);
    }
}

static bool same_row(const struct sorting *s, uint32_t a, uint32_t b)
{
    const struct cw_chip_placement *p = s->m->chip.placements;
    if (p[s->pool.items[a]].domain != p[s->pool.items[b]].domain)
        return false;
    const uint8_t *x = s->rows + (size_t)a * s->probe_room, *y = s->rows + (size_t)b * s->probe_room;
    for (uint32_t k = 0; k < s->probe_count; k++)
        if (x[k] != y[k] && x[k] != 2 && y[k] != 2)
            return false;
    return true;
}

/* Identifies kinds by their first placement. */
static void assign_kinds(struct sorting *s)
{
    uint32_t *first = cw_ask_array(&s->m->ask, s->pool.count, sizeof *first);
    s->kind_count = 0;
    for (uint32_t i = 0; cw_ask_ok(&s->m->ask) && i < s->pool.count; i++) {
        uint32_t k = 0;
        while (k < s->kind_count && !same_row(s, i, first[k]))
            k++;
        if (k == s->kind_count)
            first[s->kind_count++] = i;
        s->kind[i] = k;
    }
    s->first = first;
}

static bool never_meet(const struct sorting *s, uint32_t a, uint32_t b)
{
    const struct cw_chip_placement *p = s->m->chip.placements;
    return p[s->pool.items[a]].raw == p[s->pool.items[b]].raw;
}

static void set_conflict(struct cw_model *m, uint32_t a, uint32_t b, bool conflict)
{
    m->conflict[(size_t)a * m->kind_room + b] = m->conflict[(size_t)b * m->kind_room + a] = conflict;
}

/* Decides whether two kinds exclude each other: by the probes, a doubt counting as a conflict; by the first placements,
 * for kinds that no probe has compared. */
static void fill_conflicts(struct sorting *s)
{
    struct cw_model *m = s->m;
    uint32_t n = s->kind_count;
    uint8_t *asked = cw_ask_array(&m->ask, (size_t)n * n, 1);
    for (uint32_t k = 0; k < s->probe_count && cw_ask_ok(&m->ask); k++) {
        uint32_t a = s->kind[s->probes[k]];
        for (uint32_t i = 0; i < s->pool.count; i++) {
            uint32_t b = s->kind[i];
            uint8_t row = s->rows[(size_t)i * s->probe_room + k];
            if (row == 2)
                continue;
            asked[(size_t)a * n + b] = asked[(size_t)b * n + a] = 1;
            if (row == 1)
                set_conflict(m, s->base + a, s->base + b, true);
        }
    }
    for (uint32_t a = 0; a < n && cw_ask_ok(&m->ask); a++)
        for (uint32_t b = 0; b < a; b++) {
            uint32_t pair[2] = {s->pool.items[s->first[a]], s->pool.items[s->first[b]]};
            if (!asked[(size_t)a * n + b] && !never_meet(s, s->first[a], s->first[b]))
                set_conflict(m, s->base + a, s->base + b, !cw_ask_fits(&m->ask, pair, 2));
        }
}

/* Asks about a pair; if the kinds predict otherwise, makes each a probe for the kind of the other. */
static bool surprises(struct sorting *s, uint32_t a, uint32_t b)
{
    struct cw_model *m = s->m;
    uint32_t pair[2] = {s->pool.items[a], s->pool.items[b]};
    if (never_meet(s, a, b) || cw_ask_fits(&m->ask, pair, 2) != cw_model_conflict(m, pair[0], pair[1]) ||
        !cw_ask_ok(&m->ask))
        return false;
    add_probe(s, a, s->kind[b]);
    add_probe(s, b, s->kind[a]);
    return true;
}

/* Checks pairs of placements that one metric needs, because these are most often requested together. */
static uint32_t check_metric(struct sorting *s, const uint32_t *index, const struct cw_list *raws)
{
    const struct cw_chip *chip = &s->m->chip;
    uint32_t list[MOST_OF_METRIC], n = 0, wrong = 0;
    for (uint32_t i = 0; i < raws->count; i++)
        for (uint32_t k = 0; k < chip->raws[raws->items[i]].placement_count && n < MOST_OF_METRIC; k++) {
            uint32_t p = chip->raws[raws->items[i]].placement + k;
            if (index[p] != CW_NONE)
                list[n++] = index[p];
        }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < i; k++)
            wrong += surprises(s, list[i], list[k]);
    return wrong;
}

static uint32_t check_metrics(struct sorting *s)
{
    const struct cw_chip *chip = &s->m->chip;
    uint32_t wrong = 0, *index = cw_ask_nones(&s->m->ask, chip->placement_count);
    if (!index)
        return 0;
    for (uint32_t i = 0; i < s->pool.count; i++)
        index[s->pool.items[i]] = i;
    for (uint32_t i = 0; i < chip->ratio_count && wrong < MOST_SURPRISES && cw_ask_ok(&s->m->ask); i++)
        wrong += check_metric(s, index, &chip->ratios[i].raws);
    for (uint32_t i = 0; i < chip->throughput_count && wrong < MOST_SURPRISES && cw_ask_ok(&s->m->ask); i++)
        wrong += check_metric(s, index, &chip->throughputs[i].raws);
    return wrong;
}

/* Checks pairs within a kind, about which its probe says nothing, pairs of every two kinds, pairs of one metric, and
 * random pairs. Returns the number of surprises. */
static uint32_t check_kinds(struct sorting *s)
{
    struct cw_model *m = s->m;
    uint32_t wrong = check_metrics(s), *first = cw_ask_array(&m->ask, (size_t)s->kind_count + 2, sizeof *first);
    uint32_t *sorted = cw_ask_array(&m->ask, s->pool.count, sizeof *sorted);
    if (!cw_ask_ok(&m->ask))
        return 0;
    cw_buckets_sort(first, s->kind_count, sorted, s->kind, sizeof *s->kind, s->pool.count);
    for (uint32_t a = 0; a < s->kind_count && wrong < MOST_SURPRISES; a++)
        for (uint32_t b = 0; b <= a && wrong < MOST_SURPRISES; b++) {
            bool conflict = cw_model_excludes(m, s->base + a, s->base + b);
            uint32_t tries = a == b ? OWN_CHECKS : conflict ? CONFLICT_CHECKS : KIND_CHECKS;
            const uint32_t of_a = first[a + 1] - first[a], of_b = first[b + 1] - first[b];
            for (uint32_t t = 0; t < tries && of_a * of_b > 1 && wrong < MOST_SURPRISES; t++)
                wrong += surprises(s, sorted[first[a] + cw_ask_random(&m->ask, of_a)],
                                   sorted[first[b] + cw_ask_random(&m->ask, of_b)]);
        }
    for (uint32_t k = 0; k < CHECKS && wrong < MOST_SURPRISES && cw_ask_ok(&m->ask); k++)
        wrong += surprises(s, cw_ask_random(&m->ask, s->pool.count), cw_ask_random(&m->ask, s->pool.count));
    return wrong;
}

static void learn_cluster(struct cw_model *m, uint32_t cluster)
{
    const struct cw_chip *chip = &m->chip;
    struct sorting s = {.m = m};
    s.pool.items = cw_ask_array(&m->ask, chip->placement_count, sizeof *s.pool.items);
    for (uint32_t p = 0; cw_ask_ok(&m->ask) && p < chip->placement_count; p++)
        if (m->usable[p] && m->cluster[chip->placements[p].domain] == cluster)
            s.pool.items[s.pool.count++] = p;
    s.probe_room = 2 * s.pool.count;
    s.probes = cw_ask_array(&m->ask, s.probe_room, sizeof *s.probes);
    s.of_all = cw_ask_array(&m->ask, s.probe_room, sizeof *s.of_all);
    s.rows = cw_ask_array(&m->ask, (size_t)s.pool.count * s.probe_room, 1);
    s.kind = cw_ask_array(&m->ask, s.pool.count, sizeof *s.kind);
    s.base = m->kind_count;
    for (uint32_t k = 0; k < PROBES && k < s.pool.count; k++)
        add_probe(&s, cw_ask_random(&m->ask, s.pool.count), CW_NONE);
    uint32_t wrong = UINT32_MAX;
    for (int round = 0; round <= SORTINGS && cw_ask_ok(&m->ask) && s.pool.count; round++) {
        assign_kinds(&s);
        m->kind_count = s.base + s.kind_count;
        for (uint32_t i = 0; cw_ask_ok(&m->ask) && i < s.pool.count; i++)
            m->kind[s.pool.items[i]] = s.base + s.kind[i];
        for (uint32_t a = s.base; cw_ask_ok(&m->ask) && a < m->kind_count; a++)
            memset(m->conflict + (size_t)a * m->kind_room + s.base, 0, m->kind_count - s.base);
        fill_conflicts(&s);
        if (!cw_ask_ok(&m->ask) || wrong <= FEW_SURPRISES || round == SORTINGS)
            return;
        wrong = check_kinds(&s);
    }
}

void cw_learn_kinds(struct cw_model *m)
{
    uint32_t n = m->chip.placement_count;
    m->kind_room = n;
    m->kind = cw_ask_nones(&m->ask, n);
    m->conflict = cw_ask_array(&m->ask, (size_t)n * n, 1);
    for (uint32_t d = 0; cw_ask_ok(&m->ask) && d < m->chip.domain_count; d++)
        if (m->cluster[d] == d && !m->own_pass[d])
            learn_cluster(m, d);
}
