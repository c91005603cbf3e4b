#include "host/schedule_search.h"

#include <stdlib.h>
#include <string.h>

#include "host/schedule_packing.h"

enum {
    ORDER_STEPS = 40000, /* placements tried in all orders together, roughly */
    CHEAP_STEPS = 8000,  /* the same, with cheap ways to collect first */
    MOST_ORDERS = 32,
    CHAIN_STEPS = 60000, /* placements tried in ejection chains for one eliminated pass */
    CHAIN_DEPTH = 2,
    CHOICE_STEPS = 2000, /* placements tried while the items of one pass are collected anew */
    MOST_CHOOSING = 16,  /* items that may change the way they are collected */
};

struct search {
    const struct cw_problem *problem;
    struct cw_arena *arena;
    struct cw_packing_pass *passes;
    uint32_t pass_count, room;     /* `room` passes have memory */
    uint32_t *pass_of, *choice_of; /* by item */
    uint32_t *order, *start;       /* order: items; start: by class, the first pass that may have room */
    double *weight;                /* by class: share of the requested items that it excludes */
    uint64_t *brought, least;      /* brought: by pass, its costs; least: cost of the best packing */
    bool quick, cheap;             /* cheap: choose the way to collect an item that adds the least cost */
    uint64_t random;
    uint32_t steps;
    bool failed;
};

static void *array(struct search *s, size_t count, size_t size)
{
    void *block = s->failed ? NULL : cw_arena_alloc(s->arena, count, size);
    s->failed |= !block;
    return block;
}

/* ---- one pass --------------------------------------------------------------------------------------------------- */

static bool fits(const struct search *s, uint32_t to, uint32_t class_)
{
    return cw_packing_pass_fits(&s->passes[to], s->problem, class_);
}

static void put(struct search *s, uint32_t to, uint32_t item, uint32_t choice)
{
    cw_packing_pass_put(&s->passes[to], s->problem, item, choice);
    s->pass_of[item] = to;
    s->choice_of[item] = choice;
}

static void take(struct search *s, uint32_t item)
{
    cw_packing_pass_take(&s->passes[s->pass_of[item]], s->problem, item, s->choice_of[item]);
    s->pass_of[item] = CW_NONE;
}

static uint32_t open_pass(struct search *s)
{
    if (s->pass_count < s->room) {
        cw_packing_pass_clear(&s->passes[s->pass_count], s->problem);
        return s->pass_count++;
    }
    s->failed |= s->failed || !cw_packing_pass_init(&s->passes[s->pass_count], s->problem, s->arena);
    if (s->failed)
        return s->pass_count;
    s->room++;
    return s->pass_count++;
}

/* ---- first fit -------------------------------------------------------------------------------------------------- */

/* Chooses the way to collect an item in a pass; returns the number of its ways if none fits. */
static uint32_t way_in(struct search *s, uint32_t item, uint32_t to)
{
    const struct cw_item *it = &s->problem->items[item];
    uint32_t best = it->choice_count;
    uint64_t least = UINT64_MAX;
    for (uint32_t k = 0; k < it->choice_count && (s->cheap || best == it->choice_count); k++) {
        uint32_t class_ = it->choices[k].class_;
        if (to < s->start[class_])
            continue;
        s->steps++;
        if (fits(s, to, class_)) {
            uint64_t cost = cw_problem_cost(s->problem, it->choices[k].costs & ~s->brought[to]);
            best = cost < least ? k : best;
            least = cost < least ? cost : least;
        } else if (s->start[class_] == to) {
            /* passes only fill up, so it will never fit here */
            s->start[class_] = to + 1;
        }
    }
    return best;
}

static uint64_t added(const struct search *s, uint32_t item, uint32_t to, uint32_t way)
{
    return cw_problem_cost(s->problem, s->problem->items[item].choices[way].costs & ~s->brought[to]);
}

/* Puts an item into the first pass with room or, for a quick packing, into the pass where it adds the least cost, which
 * may be a new one. */
static void put_first(struct search *s, uint32_t item)
{
    uint32_t ways = s->problem->items[item].choice_count, best = s->pass_count, way = 0;
    bool anywhere = s->quick && s->cheap;
    uint64_t least = UINT64_MAX;
    s->brought[s->pass_count] = 0;
    for (uint32_t k = 0; k < ways && anywhere; k++)
        least = added(s, item, s->pass_count, k) < least ? added(s, item, s->pass_count, k) : least;
    for (uint32_t to = 0; to < s->pass_count && (anywhere || best == s->pass_count); to++) {
        uint32_t found = way_in(s, item, to);
        uint64_t cost = found == ways ? UINT64_MAX : added(s, item, to, found);
        if (found == ways || cost > least || (cost == least && best < s->pass_count))
            continue;
        best = to;
        way = found;
        least = anywhere ? cost : least;
    }
    if (best == s->pass_count) {
        open_pass(s);
        way = s->failed ? 0 : way_in(s, item, best);
    }
    if (s->failed)
        return;
    put(s, best, item, way);
    s->brought[best] |= s->problem->items[item].choices[way].costs;
}

static void first_fit(struct search *s)
{
    s->pass_count = 0;
    memset(s->start, 0, s->problem->class_count * sizeof *s->start);
    for (uint32_t i = 0; !s->failed && i < s->problem->item_count; i++)
        put_first(s, s->order[i]);
}

uint64_t cw_search_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Weighs each class by its exclusions: the items that conflict with it, and its share of the rules that it uses. */
static void weigh(struct search *s)
{
    const struct cw_problem *pr = s->problem;
    double *demand = array(s, pr->class_count, sizeof *demand), *load = array(s, pr->rule_count, sizeof *load);
    if (s->failed)
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
        s->weight[c] = weight;
    }
}

/* Sorts the choices of an item, the least exclusive first; the database's order decides between equals. */
static void sort_choices(struct search *s)
{
    for (uint32_t i = 0; i < s->problem->item_count; i++) {
        struct cw_item *it = &s->problem->items[i];
        for (uint32_t k = 1; k < it->choice_count; k++) {
            struct cw_choice moved = it->choices[k];
            uint32_t to = k;
            for (; to && s->weight[it->choices[to - 1].class_] > s->weight[moved.class_]; to--)
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

/* Orders items, difficult ones first: two plain orders (by weight; by few choices, then weight), then perturbed
 * ones. */
static void make_order(struct search *s, struct ranked *ranked, uint32_t attempt)
{
    const struct cw_problem *pr = s->problem;
    double largest = 1;
    for (uint32_t c = 0; c < pr->class_count; c++)
        largest = s->weight[c] > largest ? s->weight[c] : largest;
    for (uint32_t i = 0; i < pr->item_count; i++) {
        double key = s->weight[pr->items[i].choices[0].class_];
        if (attempt >= 2)
            key *= 1 + 0.1 * attempt * ((double)(cw_search_random(&s->random) >> 11) / 9007199254740992.0);
        if (attempt % 2)
            key -= 4 * largest * pr->items[i].choice_count;
        ranked[i] = (struct ranked){key, i};
    }
    qsort(ranked, pr->item_count, sizeof *ranked, by_key);
    for (uint32_t i = 0; i < pr->item_count; i++)
        s->order[i] = ranked[i].item;
}

/* ---- ejection chains ------------------------------------------------------------------------------------------- */

static bool insert(struct search *s, uint32_t item, int depth, const uint32_t *banned, int banned_count);

struct choosing { /* items of one pass; the first one is new */
    uint32_t count, items[MOST_CHOOSING], steps;
};

static bool choose(struct search *s, struct choosing *c, uint32_t to, uint32_t at)
{
    if (at == c->count)
        return true;
    const struct cw_item *it = &s->problem->items[c->items[at]];
    for (uint32_t k = 0; k < it->choice_count && c->steps++ < CHOICE_STEPS; k++) {
        if (!fits(s, to, it->choices[k].class_))
            continue;
        put(s, to, c->items[at], k);
        if (choose(s, c, to, at + 1))
            return true;
        take(s, c->items[at]);
    }
    return false;
}

/* Puts an item into a pass by changing how other items there are collected. */
static bool choose_anew(struct search *s, uint32_t item, uint32_t to)
{
    struct choosing c = {.count = 1, .items = {item}};
    uint32_t old[MOST_CHOOSING];
    for (uint32_t k = 0; k < s->passes[to].count; k++)
        if (s->problem->items[s->passes[to].items[k]].choice_count > 1) {
            if (c.count == MOST_CHOOSING)
                return false;
            old[c.count] = s->choice_of[s->passes[to].items[k]];
            c.items[c.count++] = s->passes[to].items[k];
        }
    for (uint32_t k = 1; k < c.count; k++)
        take(s, c.items[k]);
    bool found = choose(s, &c, to, 0);
    s->steps += c.steps;
    for (uint32_t k = 1; k < c.count && !found; k++)
        put(s, to, c.items[k], old[k]);
    return found;
}

static bool is_banned(uint32_t pass, const uint32_t *banned, int count)
{
    for (int k = 0; k < count; k++)
        if (banned[k] == pass)
            return true;
    return false;
}

/* Puts an item in place of another one, if that finds a place elsewhere. */
static bool swap_in(struct search *s, uint32_t item, uint32_t choice, uint32_t to, int depth, const uint32_t *banned,
                    int banned_count)
{
    uint32_t class_ = s->problem->items[item].choices[choice].class_;
    uint32_t next[CHAIN_DEPTH + 2];
    if (banned_count)
        memcpy(next, banned, (size_t)banned_count * sizeof *next);
    next[banned_count] = to;
    for (uint32_t k = 0; k < s->passes[to].count && s->steps < CHAIN_STEPS; k++) {
        uint32_t victim = s->passes[to].items[k], old = s->choice_of[victim];
        s->steps++;
        take(s, victim);
        if (fits(s, to, class_)) {
            put(s, to, item, choice);
            if (insert(s, victim, depth - 1, next, banned_count + 1))
                return true;
            take(s, item);
        }
        put(s, to, victim, old); /* appended at the end of the list, so restart the count of the others */
        uint32_t *items = s->passes[to].items, last = s->passes[to].count - 1;
        memmove(items + k + 1, items + k, (last - k) * sizeof *items);
        items[k] = victim;
    }
    return false;
}

static bool insert(struct search *s, uint32_t item, int depth, const uint32_t *banned, int banned_count)
{
    const struct cw_item *it = &s->problem->items[item];
    for (uint32_t to = 0; to < s->pass_count; to++)
        for (uint32_t k = 0; k < it->choice_count && !is_banned(to, banned, banned_count); k++) {
            s->steps++;
            if (fits(s, to, it->choices[k].class_)) {
                put(s, to, item, k);
                return true;
            }
        }
    for (uint32_t to = 0; depth == CHAIN_DEPTH && to < s->pass_count && s->steps < CHAIN_STEPS; to++)
        if (choose_anew(s, item, to))
            return true;
    for (uint32_t to = 0; depth && to < s->pass_count; to++)
        for (uint32_t k = 0; k < it->choice_count && !is_banned(to, banned, banned_count); k++) {
            if (s->steps >= CHAIN_STEPS)
                return false;
            if (swap_in(s, item, k, to, depth, banned, banned_count))
                return true;
        }
    return false;
}

/* ---- the search ------------------------------------------------------------------------------------------------- */

/* Total cost of the passes that first fit made. */
static uint64_t cost(const struct search *s)
{
    uint64_t sum = 0;
    for (uint32_t k = 0; k < s->pass_count; k++)
        sum += cw_problem_cost(s->problem, s->brought[k]);
    return sum;
}

static void keep(const struct search *s, struct cw_search_result *best)
{
    best->pass_count = s->pass_count;
    memcpy(best->pass_of, s->pass_of, s->problem->item_count * sizeof *best->pass_of);
    memcpy(best->choice_of, s->choice_of, s->problem->item_count * sizeof *best->choice_of);
}

static void restore(struct search *s, const struct cw_search_result *best)
{
    s->pass_count = 0;
    while (!s->failed && s->pass_count < best->pass_count)
        open_pass(s);
    for (uint32_t i = 0; !s->failed && i < s->problem->item_count; i++)
        put(s, best->pass_of[i], i, best->choice_of[i]);
}

/* Moves all items of a pass into the others. */
static bool eliminate(struct search *s, uint32_t victim)
{
    uint32_t last = s->pass_count - 1;
    struct cw_packing_pass swapped = s->passes[victim];
    s->passes[victim] = s->passes[last];
    s->passes[last] = swapped;
    for (uint32_t i = 0; i < s->problem->item_count; i++)
        s->pass_of[i] = s->pass_of[i] == victim ? last : s->pass_of[i] == last ? victim : s->pass_of[i];
    s->steps = 0;
    s->pass_count--;
    while (s->passes[last].count) {
        uint32_t item = s->passes[last].items[0];
        take(s, item);
        if (!insert(s, item, CHAIN_DEPTH, NULL, 0))
            return false;
    }
    return true;
}

static void remove_passes(struct search *s, struct cw_search_result *best, uint32_t enough)
{
    for (int failures = 0; !s->failed && best->pass_count > enough && best->pass_count > 1 && failures < 2;) {
        restore(s, best);
        uint32_t victim = 0;
        for (uint32_t k = 1; k < s->pass_count; k++)
            if (s->passes[k].count < s->passes[victim].count + (failures ? 1 : 0))
                victim = k;
        if (!s->failed && eliminate(s, victim))
            keep(s, best);
        else
            failures++;
    }
}

/* Whether the way to collect items makes a difference in cost. */
static bool costs_differ(const struct cw_problem *problem)
{
    for (uint32_t i = 0; i < problem->item_count; i++)
        for (uint32_t k = 1; k < problem->items[i].choice_count; k++)
            if (problem->items[i].choices[k].costs != problem->items[i].choices[0].costs)
                return true;
    return false;
}

/* Whether the current packing is better than the best so far. */
static bool is_better(const struct search *s, const struct cw_search_result *best)
{
    uint64_t now = cost(s);
    if (s->quick && now != s->least)
        return now < s->least;
    return s->pass_count < best->pass_count || (s->pass_count == best->pass_count && now < s->least);
}

static void try_order(struct search *s, struct ranked *ranked, uint32_t attempt, struct cw_search_result *best)
{
    make_order(s, ranked, attempt);
    first_fit(s);
    if (s->failed || !is_better(s, best))
        return;
    keep(s, best);
    s->least = cost(s);
}

/* Whether each item of a class uses a rule by itself. */
static bool takes(const struct cw_problem_class *c, uint32_t rule)
{
    bool found = false;
    for (uint32_t u = 0; u < c->use_count && c->uses[u].rule <= rule && !found; u++)
        found = c->uses[u].rule == rule && c->uses[u].group == CW_NONE;
    return found;
}

uint32_t cw_search_bound(const struct cw_problem *pr, uint32_t *needs)
{
    uint32_t bound = pr->item_count != 0;
    memset(needs, 0, pr->rule_count * sizeof *needs);
    for (uint32_t i = 0; i < pr->item_count; i++) {
        const struct cw_item *item = &pr->items[i];
        const struct cw_problem_class *first = &pr->classes[item->choices[0].class_];
        for (uint32_t u = 0; u < first->use_count; u++) {
            uint32_t rule = first->uses[u].rule, k = 0;
            bool again = u && first->uses[u - 1].rule == rule && first->uses[u - 1].group == CW_NONE;
            while (!again && first->uses[u].group == CW_NONE && k < item->choice_count &&
                   takes(&pr->classes[item->choices[k].class_], rule))
                k++;
            needs[rule] += k == item->choice_count;
        }
    }
    for (uint32_t r = 0; r < pr->rule_count; r++)
        if ((needs[r] + pr->max[r] - 1) / pr->max[r] > bound)
            bound = (needs[r] + pr->max[r] - 1) / pr->max[r];
    return bound;
}

enum cw_status cw_search_make(struct cw_search_result *best, const struct cw_problem *problem, uint32_t enough,
                              bool quick, struct cw_arena *arena, struct cw_error *err)
{
    struct search s = {.problem = problem, .arena = arena, .quick = quick, .random = CW_SEARCH_SEED};
    uint32_t items = problem->item_count;
    s.passes = array(&s, items, sizeof *s.passes);
    s.pass_of = array(&s, items, sizeof *s.pass_of);
    s.choice_of = array(&s, items, sizeof *s.choice_of);
    s.order = array(&s, items, sizeof *s.order);
    s.start = array(&s, problem->class_count, sizeof *s.start);
    s.weight = array(&s, problem->class_count, sizeof *s.weight);
    *best = (struct cw_search_result){.pass_of = array(&s, items, sizeof *best->pass_of),
                                      .choice_of = array(&s, items, sizeof *best->choice_of)};
    struct ranked *ranked = array(&s, items, sizeof *ranked);
    s.brought = array(&s, (size_t)items + 1, sizeof *s.brought);
    s.least = UINT64_MAX;
    best->pass_count = UINT32_MAX;
    weigh(&s);
    if (!s.failed)
        sort_choices(&s);
    for (uint32_t attempt = 0; !s.failed && attempt < MOST_ORDERS; attempt++) {
        if (attempt >= 2 && (s.steps > ORDER_STEPS || best->pass_count <= enough))
            break;
        try_order(&s, ranked, attempt, best);
    }
    s.cheap = costs_differ(problem);
    s.steps = 0;
    for (uint32_t attempt = 0; !s.failed && s.cheap && attempt < MOST_ORDERS && s.steps < CHEAP_STEPS; attempt++)
        try_order(&s, ranked, attempt, best);
    if (!quick)
        remove_passes(&s, best, enough);
    return s.failed ? cw_error_nomem(err) : CW_OK;
}
