#include "host/schedule_pack.h"

#include <stdlib.h>
#include <string.h>

#include "host/schedule_chain.h"

enum {
    ORDER_STEPS = 40000, /* placements tried in all orders together, about */
    CHEAP_STEPS = 8000,  /* and where cheap ways to collect come first */
    MOST_ORDERS = 32,
};

static void *array(struct cw_pack *p, size_t count, size_t size)
{
    void *block = p->failed ? NULL : cw_arena_alloc(p->arena, count, size);
    p->failed |= !block;
    return block;
}

/* ---- one pass --------------------------------------------------------------------------------------------------- */

static uint32_t open_pass(struct cw_pack *p)
{
    if (p->pass_count < p->room) {
        cw_filling_clear(&p->passes[p->pass_count], p->problem);
        return p->pass_count++;
    }
    p->failed |= p->failed || !cw_filling_init(&p->passes[p->pass_count], p->problem, p->arena);
    if (p->failed)
        return p->pass_count;
    p->room++;
    return p->pass_count++;
}

/* ---- first fit -------------------------------------------------------------------------------------------------- */

/* The way to collect an item in a pass, or the number of its ways where none fits. */
static uint32_t way_in(struct cw_pack *p, uint32_t item, uint32_t to)
{
    const struct cw_item *it = &p->problem->items[item];
    uint32_t best = it->choice_count;
    uint64_t least = UINT64_MAX;
    for (uint32_t k = 0; k < it->choice_count && (p->cheap || best == it->choice_count); k++) {
        uint32_t class_ = it->choices[k].class_;
        if (to < p->start[class_])
            continue;
        p->steps++;
        if (cw_pack_fits(p, to, class_)) {
            uint64_t cost = cw_problem_cost(p->problem, it->choices[k].costs & ~p->brought[to]);
            best = cost < least ? k : best;
            least = cost < least ? cost : least;
        } else if (p->start[class_] == to) {
            /* a pass only fills up, so what does not fit now never will */
            p->start[class_] = to + 1;
        }
    }
    return best;
}

static uint64_t added(const struct cw_pack *p, uint32_t item, uint32_t to, uint32_t way)
{
    return cw_problem_cost(p->problem, p->problem->items[item].choices[way].costs & ~p->brought[to]);
}

/* The first pass that has room for an item; where a quick packing is looked for the one that costs least more, which
 * may be a new one. */
static void place_first(struct cw_pack *p, uint32_t item)
{
    uint32_t ways = p->problem->items[item].choice_count, best = p->pass_count, way = 0;
    bool anywhere = p->quick && p->cheap;
    uint64_t least = UINT64_MAX;
    p->brought[p->pass_count] = 0;
    for (uint32_t k = 0; k < ways && anywhere; k++)
        least = added(p, item, p->pass_count, k) < least ? added(p, item, p->pass_count, k) : least;
    for (uint32_t to = 0; to < p->pass_count && (anywhere || best == p->pass_count); to++) {
        uint32_t found = way_in(p, item, to);
        uint64_t cost = found == ways ? UINT64_MAX : added(p, item, to, found);
        if (found == ways || cost > least || (cost == least && best < p->pass_count))
            continue;
        best = to;
        way = found;
        least = anywhere ? cost : least;
    }
    if (best == p->pass_count) {
        open_pass(p);
        way = p->failed ? 0 : way_in(p, item, best);
    }
    if (p->failed)
        return;
    cw_pack_put(p, best, item, way);
    p->brought[best] |= p->problem->items[item].choices[way].costs;
}

static void first_fit(struct cw_pack *p)
{
    p->pass_count = 0;
    memset(p->start, 0, p->problem->class_count * sizeof *p->start);
    for (uint32_t i = 0; !p->failed && i < p->problem->item_count; i++)
        place_first(p, p->order[i]);
}

static double random_unit(struct cw_pack *p)
{
    p->random ^= p->random << 13;
    p->random ^= p->random >> 7;
    p->random ^= p->random << 17;
    return (double)(p->random >> 11) / 9007199254740992.0;
}

/* What a class excludes: the items that conflict with it and its share of the rules it uses. */
static void weigh(struct cw_pack *p)
{
    const struct cw_problem *pr = p->problem;
    double *demand = array(p, pr->class_count, sizeof *demand), *load = array(p, pr->rule_count, sizeof *load);
    if (p->failed)
        return;
    for (uint32_t i = 0; i < pr->item_count; i++)
        for (uint32_t k = 0; k < pr->items[i].choice_count; k++)
            demand[pr->items[i].choices[k].class_] += 1.0 / pr->items[i].choice_count;
    for (uint32_t c = 0; c < pr->class_count; c++)
        for (uint32_t k = 0; k < pr->classes[c].use_count; k++)
            load[pr->classes[c].uses[k].rule] += demand[c];
    for (uint32_t c = 0; c < pr->class_count; c++) {
        double weight = 0;
        for (uint32_t w = 0; w < pr->words; w++)
            for (uint64_t bits = pr->classes[c].conflicts[w]; bits; bits &= bits - 1)
                weight += demand[w * 64 + (uint32_t)__builtin_ctzll(bits)];
        for (uint32_t k = 0; k < pr->classes[c].use_count; k++)
            weight += load[pr->classes[c].uses[k].rule] / pr->max[pr->classes[c].uses[k].rule];
        p->weight[c] = weight;
    }
}

/* The choices of an item, the least excluding first; the database's order decides between equals. */
static void sort_choices(struct cw_pack *p)
{
    for (uint32_t i = 0; i < p->problem->item_count; i++) {
        struct cw_item *it = &p->problem->items[i];
        for (uint32_t k = 1; k < it->choice_count; k++) {
            struct cw_choice moved = it->choices[k];
            uint32_t to = k;
            for (; to && p->weight[it->choices[to - 1].class_] > p->weight[moved.class_]; to--)
                it->choices[to] = it->choices[to - 1];
            it->choices[to] = moved;
        }
    }
}

struct ranked {
    double key;
    uint32_t item;
};

static int by_key(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->key != y->key)
        return x->key > y->key ? -1 : 1;
    return (x->item > y->item) - (x->item < y->item);
}

/* Difficult items first: the two plain orders (by weight; by few choices, then weight), then disturbed ones. */
static void make_order(struct cw_pack *p, struct ranked *ranked, uint32_t attempt)
{
    const struct cw_problem *pr = p->problem;
    double largest = 1;
    for (uint32_t c = 0; c < pr->class_count; c++)
        largest = p->weight[c] > largest ? p->weight[c] : largest;
    for (uint32_t i = 0; i < pr->item_count; i++) {
        double key = p->weight[pr->items[i].choices[0].class_];
        if (attempt >= 2)
            key *= 1 + 0.1 * attempt * random_unit(p);
        if (attempt % 2)
            key -= 4 * largest * pr->items[i].choice_count;
        ranked[i] = (struct ranked){key, i};
    }
    qsort(ranked, pr->item_count, sizeof *ranked, by_key);
    for (uint32_t i = 0; i < pr->item_count; i++)
        p->order[i] = ranked[i].item;
}

/* ---- the search ------------------------------------------------------------------------------------------------- */

/* What all passes cost that first fit made. */
static uint64_t cost(const struct cw_pack *p)
{
    uint64_t sum = 0;
    for (uint32_t k = 0; k < p->pass_count; k++)
        sum += cw_problem_cost(p->problem, p->brought[k]);
    return sum;
}

static void keep(const struct cw_pack *p, struct cw_packing *best)
{
    best->pass_count = p->pass_count;
    memcpy(best->pass_of, p->pass_of, p->problem->item_count * sizeof *best->pass_of);
    memcpy(best->choice_of, p->choice_of, p->problem->item_count * sizeof *best->choice_of);
}

static void restore(struct cw_pack *p, const struct cw_packing *best)
{
    p->pass_count = 0;
    while (!p->failed && p->pass_count < best->pass_count)
        open_pass(p);
    for (uint32_t i = 0; !p->failed && i < p->problem->item_count; i++)
        cw_pack_put(p, best->pass_of[i], i, best->choice_of[i]);
}

/* Empties the last pass into the others. */
static bool eliminate(struct cw_pack *p, uint32_t victim)
{
    uint32_t last = p->pass_count - 1;
    struct cw_filling swapped = p->passes[victim];
    p->passes[victim] = p->passes[last];
    p->passes[last] = swapped;
    for (uint32_t i = 0; i < p->problem->item_count; i++)
        p->pass_of[i] = p->pass_of[i] == victim ? last : p->pass_of[i] == last ? victim : p->pass_of[i];
    p->steps = 0;
    p->pass_count--;
    while (p->passes[last].count) {
        uint32_t item = p->passes[last].items[0];
        cw_pack_take(p, item);
        if (!cw_chain_insert(p, item))
            return false;
    }
    return true;
}

static void improve(struct cw_pack *p, struct cw_packing *best, uint32_t enough)
{
    for (int failures = 0; !p->failed && best->pass_count > enough && best->pass_count > 1 && failures < 2;) {
        restore(p, best);
        uint32_t victim = 0;
        for (uint32_t k = 1; k < p->pass_count; k++)
            if (p->passes[k].count < p->passes[victim].count + (failures ? 1 : 0))
                victim = k;
        if (!p->failed && eliminate(p, victim))
            keep(p, best);
        else
            failures++;
    }
}

/* Whether it matters how items are collected. */
static bool costs_differ(const struct cw_problem *problem)
{
    for (uint32_t i = 0; i < problem->item_count; i++)
        for (uint32_t k = 1; k < problem->items[i].choice_count; k++)
            if (problem->items[i].choices[k].costs != problem->items[i].choices[0].costs)
                return true;
    return false;
}

/* Whether what was made is better than the best so far. */
static bool is_better(const struct cw_pack *p, const struct cw_packing *best)
{
    uint64_t now = cost(p);
    if (p->quick && now != p->least)
        return now < p->least;
    return p->pass_count < best->pass_count || (p->pass_count == best->pass_count && now < p->least);
}

static void try_order(struct cw_pack *p, struct ranked *ranked, uint32_t attempt, struct cw_packing *best)
{
    make_order(p, ranked, attempt);
    first_fit(p);
    if (p->failed || !is_better(p, best))
        return;
    keep(p, best);
    p->least = cost(p);
}

/* Whether each item of a class uses a rule by itself. */
static bool takes(const struct cw_problem_class *c, uint32_t rule)
{
    bool found = false;
    for (uint32_t u = 0; u < c->use_count && c->uses[u].rule <= rule && !found; u++)
        found = c->uses[u].rule == rule && c->uses[u].group == CW_NONE;
    return found;
}

uint32_t cw_pack_bound(const struct cw_problem *pr, uint32_t *needs)
{
    uint32_t bound = pr->item_count != 0;
    memset(needs, 0, pr->rule_count * sizeof *needs);
    for (uint32_t i = 0; i < pr->item_count; i++) {
        const struct cw_item *item = &pr->items[i];
        const struct cw_problem_class *first = &pr->classes[item->choices[0].class_];
        for (uint32_t u = 0; u < first->use_count; u++) {
            uint32_t rule = first->uses[u].rule, k = 0;
            bool again = u && first->uses[u - 1].rule == rule && first->uses[u - 1].group == CW_NONE;
            while (!again && first->uses[u].group == CW_NONE && k < item->choice_count && takes(&pr->classes[item->choices[k].class_], rule))
                k++;
            needs[rule] += k == item->choice_count;
        }
    }
    for (uint32_t r = 0; r < pr->rule_count; r++)
        if ((needs[r] + pr->max[r] - 1) / pr->max[r] > bound)
            bound = (needs[r] + pr->max[r] - 1) / pr->max[r];
    return bound;
}

enum cw_status cw_pack(struct cw_packing *packing, const struct cw_problem *problem, uint32_t enough, bool quick,
                       struct cw_arena *arena, struct cw_error *err)
{
    struct cw_pack p = {.problem = problem, .arena = arena, .quick = quick, .random = 0x2545f4914f6cdd1d};
    uint32_t items = problem->item_count;
    p.passes = array(&p, items, sizeof *p.passes);
    p.pass_of = array(&p, items, sizeof *p.pass_of);
    p.choice_of = array(&p, items, sizeof *p.choice_of);
    p.order = array(&p, items, sizeof *p.order);
    p.start = array(&p, problem->class_count, sizeof *p.start);
    p.weight = array(&p, problem->class_count, sizeof *p.weight);
    *packing = (struct cw_packing){.pass_of = array(&p, items, sizeof *packing->pass_of),
                                   .choice_of = array(&p, items, sizeof *packing->choice_of)};
    struct ranked *ranked = array(&p, items, sizeof *ranked);
    p.brought = array(&p, (size_t)items + 1, sizeof *p.brought);
    p.least = UINT64_MAX;
    packing->pass_count = UINT32_MAX;
    weigh(&p);
    if (!p.failed)
        sort_choices(&p);
    for (uint32_t attempt = 0; !p.failed && attempt < MOST_ORDERS; attempt++) {
        if (attempt >= 2 && (p.steps > ORDER_STEPS || packing->pass_count <= enough))
            break;
        try_order(&p, ranked, attempt, packing);
    }
    p.cheap = costs_differ(problem);
    p.steps = 0;
    for (uint32_t attempt = 0; !p.failed && p.cheap && attempt < MOST_ORDERS && p.steps < CHEAP_STEPS; attempt++)
        try_order(&p, ranked, attempt, packing);
    if (!quick)
        improve(&p, packing, enough);
    return p.failed ? cw_error_nomem(err) : CW_OK;
}
