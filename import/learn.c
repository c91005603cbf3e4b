#include "import/learn.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buckets.h"
#include "import/learn_model.h"

/* ---- domains and kinds ------------------------------------------------------------------------------------------- */

/* Learns which domains interfere, and sorts placements into kinds that exclude the same others. */

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

static void learn_domains(struct cw_model *m)
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

static void learn_kinds(struct cw_model *m)
{
    uint32_t n = m->chip.placement_count;
    m->kind_room = n;
    m->kind = cw_ask_nones(&m->ask, n);
    m->conflict = cw_ask_array(&m->ask, (size_t)n * n, 1);
    for (uint32_t d = 0; cw_ask_ok(&m->ask) && d < m->chip.domain_count; d++)
        if (m->cluster[d] == d && !m->own_pass[d])
            learn_cluster(m, d);
}

enum {
    TRIES_EACH = 16,    /* random sets for each placement of a domain, */
    TRIES_TOGETHER = 3, /* and for those of two domains that may interfere */
    DRAWN_SETS = 12000, /* upper limit */
    MOST_ROUNDS = 60,
    MOST_QUESTIONS = 12000000,
    FRESH_FIRST = 100000, /* number of the first fresh round, whose sets teach nothing */
    FRESH_ROUNDS = 8,
};

/* ---- writing ---------------------------------------------------------------------------------------------------- */

/* Writes the model as sections 'classes' and 'limits' of a chip file (data/schema.md). */
struct writing {
    struct cw_model *m;
    struct cw_limits_text text;
    const char *prefix;     /* prefix of class names */
    char (*names)[64];      /* by class */
    char (*kind_names)[64]; /* by kind */
    uint32_t *kind_first;   /* by kind: a placement of it */
};

/* ---- writing: classes ------------------------------------------------------------------------------------------- */

static const char *short_name(const char *domain)
{
    return strncmp(domain, "gpu_", 4) == 0 ? domain + 4 : domain;
}

/* Names a class by its domain and a number; a class with all placements of its domain gets the domain's name. */
static void name_classes(struct writing *w)
{
    struct cw_model *m = w->m;
    uint32_t *numbers = cw_ask_array(&m->ask, m->chip.domain_count, sizeof *numbers);
    uint32_t *sizes = cw_ask_array(&m->ask, m->chip.domain_count, sizeof *sizes);
    w->names = cw_ask_array(&m->ask, m->class_count, sizeof *w->names);
    for (uint32_t p = 0; cw_ask_ok(&m->ask) && p < m->chip.placement_count; p++)
        sizes[m->chip.placements[p].domain]++;
    for (uint32_t c = 0; cw_ask_ok(&m->ask) && c < m->class_count; c++) {
        uint32_t d = m->chip.placements[m->classes[c].items[0]].domain;
        const char *domain = m->chip.domains[d].name;
        if (m->classes[c].count == sizes[d])
            snprintf(w->names[c], sizeof *w->names, "%.60s", domain);
        else
            snprintf(w->names[c], sizeof *w->names, "%.8s%.40s_%" PRIu32, w->prefix, short_name(domain), ++numbers[d]);
    }
}

/* Names kinds; the classes of a kind have the same conflicts. A kind with a single class gets the name of the class. */
static void name_kinds(struct writing *w)
{
    struct cw_model *m = w->m;
    uint32_t *numbers = cw_ask_array(&m->ask, m->chip.domain_count, sizeof *numbers);
    uint32_t *classes = cw_ask_array(&m->ask, m->kind_count, sizeof *classes);
    uint32_t *last = cw_ask_array(&m->ask, m->kind_count, sizeof *last);
    w->kind_names = cw_ask_array(&m->ask, m->kind_count, sizeof *w->kind_names);
    w->kind_first = cw_ask_array(&m->ask, m->kind_count, sizeof *w->kind_first);
    for (uint32_t c = 0; cw_ask_ok(&m->ask) && c < m->class_count; c++) {
        uint32_t p = m->classes[c].items[0], kind = m->kind[p];
        if (kind == CW_NONE)
            continue;
        classes[kind]++;
        last[kind] = c;
        w->kind_first[kind] = p;
    }
    for (uint32_t k = 0; cw_ask_ok(&m->ask) && k < m->kind_count; k++) {
        uint32_t d = m->chip.placements[w->kind_first[k]].domain;
        if (classes[k] == 1)
            snprintf(w->kind_names[k], sizeof *w->kind_names, "%s", w->names[last[k]]);
        else
            snprintf(w->kind_names[k], sizeof *w->kind_names, "%.8s%.40s_k%" PRIu32, w->prefix,
                     short_name(m->chip.domains[d].name), ++numbers[d]);
    }
}

static void put_kinds(struct writing *w)
{
    const struct cw_model *m = w->m;
    for (uint32_t k = 0; k < m->kind_count; k++) {
        uint32_t n = 0;
        for (uint32_t c = 0; c < m->class_count; c++) {
            if (m->kind[m->classes[c].items[0]] != k || strcmp(w->names[c], w->kind_names[k]) == 0)
                continue;
            if (!n++)
                cw_limits_put(&w->text, "  %s: {of: [", w->kind_names[k]);
            cw_limits_put_item(&w->text, w->names[c]);
        }
        if (n)
            cw_limits_put(&w->text, "]}\n");
    }
}

static void put_classes(struct writing *w)
{
    const struct cw_chip *chip = &w->m->chip;
    for (uint32_t c = 0; c < w->m->class_count; c++) {
        const struct cw_pool *items = &w->m->classes[c];
        const char *domain = chip->domains[chip->placements[items->items[0]].domain].name;
        if (strcmp(domain, w->names[c]) != 0)
            cw_limits_put_class(&w->text, chip, w->names[c], &(struct cw_list){items->count, items->items});
    }
}

/* ---- writing: rules --------------------------------------------------------------------------------------------- */

static void put_own_passes(struct writing *w)
{
    const struct cw_chip *chip = &w->m->chip;
    for (uint32_t d = 0; d < chip->domain_count; d++) {
        if (!w->m->own_pass[d])
            continue;
        cw_limits_put(&w->text, "  - {max: 1, groups: [[%s], [", chip->domains[d].name);
        for (uint32_t e = 0; e < chip->domain_count; e++)
            if (e != d)
                cw_limits_put_item(&w->text, chip->domains[e].name);
        cw_limits_put(&w->text, "]]}\n");
    }
}

static void put_unusable(struct writing *w)
{
    uint32_t n = 0;
    for (uint32_t c = 0; c < w->m->class_count; c++)
        if (!w->m->usable[w->m->classes[c].items[0]]) {
            if (!n++)
                cw_limits_put(&w->text, "  - {max: 0, each: [");
            cw_limits_put_item(&w->text, w->names[c]);
        }
    if (n)
        cw_limits_put(&w->text, "]}\n");
}

static void put_rule(struct writing *w, const struct cw_rule *rule)
{
    struct cw_model *m = w->m;
    uint32_t *size = cw_ask_array(&m->ask, rule->group_count, sizeof *size), n = 0;
    for (uint32_t p = 0; cw_ask_ok(&m->ask) && p < m->chip.placement_count; p++) {
        if (rule->group[p] != CW_NONE)
            size[rule->group[p]]++;
        if (rule->second && rule->second[p] != CW_NONE)
            size[rule->second[p]]++;
    }
    if (!cw_ask_ok(&m->ask))
        return;
    cw_limits_put(&w->text, "  - {max: %" PRIu32, rule->max);
    for (uint32_t c = 0; c < m->class_count; c++) {
        uint32_t p = m->classes[c].items[0];
        if (rule->group[p] == CW_NONE || size[rule->group[p]] > 1)
            continue;
        if (!n++)
            cw_limits_put(&w->text, ", each: [");
        cw_limits_put_item(&w->text, w->names[c]);
    }
    cw_limits_put(&w->text, n ? "]" : "");
    n = 0;
    for (uint32_t g = 0; g < rule->group_count; g++) {
        if (size[g] < 2 && !(rule->second && rule->helper == g))
            continue;
        cw_limits_put_group(&w->text, n++ == 0);
        for (uint32_t c = 0; c < m->class_count; c++) {
            uint32_t p = m->classes[c].items[0];
            if (rule->group[p] == g || (rule->second && rule->second[p] == g))
                cw_limits_put_item(&w->text, w->names[c]);
        }
        cw_limits_put(&w->text, "]");
    }
    cw_limits_put(&w->text, n ? "]}\n" : "}\n");
}

/* Writes the conflicts of a kind within one domain: the kinds after it, or the domain except for compatible kinds,
 * whichever is shorter. */
static void put_pairs_with(struct writing *w, uint32_t kind, uint32_t domain)
{
    const struct cw_model *m = w->m;
    uint32_t listed = 0, left_out = 1;
    for (uint32_t b = 0; b < m->kind_count; b++)
        if (m->chip.placements[w->kind_first[b]].domain == domain) {
            bool conflict = cw_model_excludes(m, kind, b);
            listed += conflict && b >= kind;
            left_out += !conflict;
        }
    bool whole = left_out < listed;
    char text[80];
    if (whole)
        cw_limits_put_item(&w->text, m->chip.domains[domain].name);
    for (uint32_t b = 0; b < m->kind_count; b++) {
        bool conflict = cw_model_excludes(m, kind, b);
        if (m->chip.placements[w->kind_first[b]].domain != domain || conflict == whole || (!whole && b < kind))
            continue;
        snprintf(text, sizeof text, "%s%s", whole ? "-" : "", w->kind_names[b]);
        cw_limits_put_item(&w->text, text);
    }
}

static void put_pairs(struct writing *w)
{
    const struct cw_model *m = w->m;
    bool any = false;
    for (uint32_t a = 0; a < m->kind_count; a++) {
        bool some = false;
        for (uint32_t b = a; b < m->kind_count && !some; b++)
            some = cw_model_excludes(m, a, b);
        if (!some)
            continue;
        cw_limits_put(&w->text, any ? "      %s: [" : "  - max: 1\n    pairs:\n      %s: [", w->kind_names[a]);
        any = true;
        for (uint32_t d = 0; d < m->chip.domain_count; d++)
            put_pairs_with(w, a, d);
        cw_limits_put(&w->text, "]\n");
    }
}

/* ---- writing: bans ---------------------------------------------------------------------------------------------- */

static void put_bans(struct writing *w)
{
    const struct cw_model *m = w->m;
    for (uint32_t i = 0; i < m->ban_count; i++) {
        uint32_t count = (uint32_t)__builtin_popcount(m->ban_parts[i]);
        cw_limits_put(&w->text, "  - {max: %" PRIu32 ", groups: [", count - 1);
        for (uint32_t k = 0; k < count; k++) {
            cw_limits_put(&w->text, k ? ", [" : "[");
            for (uint32_t c = 0; c < m->class_count; c++)
                if (m->bans[(size_t)c * m->ban_room + i] == 1u << k)
                    cw_limits_put_item(&w->text, w->names[c]);
            cw_limits_put(&w->text, "]");
        }
        cw_limits_put(&w->text, "]}\n");
    }
}

/* Appends the lines of both sections. All names of classes begin with `prefix`. */
static void write_model(struct cw_model *m, const char *prefix, struct cw_limit_table *table)
{
    struct writing w = {.m = m, .text = {&table->classes, 0}, .prefix = prefix};
    name_classes(&w);
    if (cw_ask_ok(&m->ask))
        name_kinds(&w);
    if (!cw_ask_ok(&m->ask))
        return;
    put_classes(&w);
    put_kinds(&w);
    w.text = (struct cw_limits_text){&table->limits, 0};
    put_own_passes(&w);
    put_unusable(&w);
    for (uint32_t r = 0; r < m->rule_count; r++)
        put_rule(&w, &m->rules[r]);
    put_pairs(&w);
    put_bans(&w);
}

/* ---- random sets ------------------------------------------------------------------------------------------------ */

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
    write_model(m, "", &table);
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
    sets->refused = ban_all;
    for (uint32_t round = 0; round < MOST_ROUNDS && m->ask.questions < MOST_QUESTIONS && cw_ask_ok(&m->ask); round++) {
        const struct cw_check_count count = cw_check_round(sets, round);
        cw_model_tell(m, "check round %u: %u passes, %u refused; %u rules, %u bans", round + 1, count.passes,
                      count.refused, m->rule_count, m->ban_count);
        if (count.refused)
            renew_limits(m, arena);
        if (cw_check_settled(sets))
            return;
    }
}

static void learn(struct cw_model *m, const char *prefix, struct cw_limit_table *table, struct cw_learn_report *report)
{
    struct cw_arena *arena = NULL;
    m->sets = cw_ask_array(&m->ask, CW_MODEL_SETS, sizeof *m->sets);
    learn_domains(m);
    cw_model_tell(m, "domains compared");
    learn_kinds(m);
    cw_model_tell(m, "pairs compared: %u kinds", m->kind_count);
    cw_learn_rules(m);
    cw_learn_classes(m);
    try_random_sets(m);
    renew_limits(m, &arena);
    struct cw_check_sets sets = {
        .ask = &m->ask, .usable = m->usable, .most = CW_MODEL_MOST, .judge = judge, .context = m};
    repair(m, &sets, &arena);
    cw_check_fresh(&sets, FRESH_FIRST, FRESH_ROUNDS);
    report->random = sets.random;
    report->natural = sets.natural;
    write_model(m, prefix, table);
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
