#include <string.h>

#include "import/learn_model.h"

/* ---- crowds ------------------------------------------------------------------------------------------------------ */

/* Learns crowds: sets of classes of which a pass takes only a certain number, in any combination. One such rule
 * replaces many bans. */

enum {
    DRAWS = 30,
    TRIES = 5, /* sets to judge a class before it joins, */
    NEED = 3,  /* and how many of them must be found */
    CROWD_ROUNDS = 6,
    SMALLEST = 3, /* minimum size, as a multiple of the first set's */
};

struct crowd {
    struct cw_model *m;
    uint32_t most;         /* limit on placements in a pass */
    uint32_t *list, count; /* classes; the initial ones come first */
    uint32_t seeds;
    uint8_t *inside; /* by class */
};

/* Adds up to `size` drawn members to `set`, as far as the model allows them together. */
static bool draw_members(struct crowd *w, struct cw_ask_set *set, uint32_t size)
{
    struct cw_model *m = w->m;
    for (uint32_t d = 0; d < DRAWS && set->count < size; d++) {
        uint32_t p = cw_model_draw(m, w->list, w->count);
        if (cw_model_allows(m, set, p))
            set->items[set->count++] = p;
    }
    return set->count == size;
}

/* Whether a class can replace any member: no set filled with others and one of its placements fits. */
static bool belongs(struct crowd *w, uint32_t class_)
{
    struct cw_model *m = w->m;
    uint32_t met = 0;
    for (uint32_t t = 0; t < 2 * TRIES && met < TRIES && cw_ask_ok(&m->ask); t++) {
        struct cw_ask_set set = {.count = 1, .items = {cw_model_draw_class(m, class_)}};
        if (!draw_members(w, &set, w->most + 1))
            continue;
        met++;
        if (cw_ask_fits(&m->ask, set.items, set.count))
            return false;
    }
    return met >= NEED;
}

static void add_class_to_crowd(struct crowd *w, uint32_t class_)
{
    w->inside[class_] = 1;
    w->list[w->count++] = class_;
}

/* Removes the class that stands in most of the fitting sets; false if all of them have initial classes only. */
static bool remove_worst(struct crowd *w, struct cw_ask_set *wrong, uint32_t *wrong_count, uint32_t *votes)
{
    struct cw_model *m = w->m;
    uint32_t worst = CW_NONE, n = 0;
    memset(votes, 0, m->class_count * sizeof *votes);
    for (uint32_t t = 0; t < *wrong_count; t++)
        for (uint32_t i = 0; i < wrong[t].count; i++)
            votes[m->class_[wrong[t].items[i]]]++;
    for (uint32_t i = w->seeds; i < w->count; i++)
        if (votes[w->list[i]] && (worst == CW_NONE || votes[w->list[i]] > votes[w->list[worst]]))
            worst = i;
    if (worst == CW_NONE)
        return false;
    uint32_t class_ = w->list[worst];
    memmove(w->list + worst, w->list + worst + 1, (w->count - worst - 1) * sizeof *w->list);
    w->count--;
    w->inside[class_] = 0;
    for (uint32_t t = 0; t < *wrong_count; t++) {
        bool has = false;
        for (uint32_t i = 0; i < wrong[t].count; i++)
            has |= m->class_[wrong[t].items[i]] == class_;
        if (!has)
            wrong[n++] = wrong[t];
    }
    *wrong_count = n;
    return true;
}

/* Trims until no full set with one more fits. */
static bool trim_crowd(struct crowd *w)
{
    struct cw_model *m = w->m;
    struct cw_ask_set *wrong = m->sets;
    uint32_t *votes = cw_ask_array(&m->ask, m->chip.placement_count, sizeof *votes);
    for (int round = 0; round < CROWD_ROUNDS && cw_ask_ok(&m->ask); round++) {
        uint32_t count = 0;
        for (uint32_t t = 0; t < CW_MODEL_SETS && t < 4 * w->count + 40 && cw_ask_ok(&m->ask); t++) {
            wrong[count].count = 0;
            if (draw_members(w, &wrong[count], w->most + 1) &&
                cw_ask_fits(&m->ask, wrong[count].items, wrong[count].count))
                count++;
        }
        if (!count)
            return true;
        while (count)
            if (!remove_worst(w, wrong, &count, votes))
                return false;
    }
    return false;
}

static bool add_rule(struct crowd *w)
{
    struct cw_model *m = w->m;
    uint32_t members = 0;
    for (uint32_t i = 0; i < w->count; i++)
        members += m->classes[w->list[i]].count;
    struct cw_rule *rule = members < SMALLEST * (w->most + 1) ? NULL : cw_model_new_rule(m, w->most);
    if (!rule)
        return false;
    for (uint32_t i = 0; i < w->count; i++)
        for (uint32_t k = 0; k < m->classes[w->list[i]].count; k++)
            rule->group[m->classes[w->list[i]].items[k]] = rule->group_count++;
    m->rule_count++;
    cw_model_changed(m);
    return true;
}

/* Adds a rule for the crowd around a smallest unfit set; false if the crowd is too small for a rule. */
static bool learn_crowd(struct cw_model *m, const struct cw_ask_set *set)
{
    struct crowd w = {.m = m, .most = set->count - 1};
    w.list = cw_ask_array(&m->ask, m->chip.placement_count, sizeof *w.list);
    w.inside = cw_ask_array(&m->ask, m->chip.placement_count, 1);
    for (uint32_t i = 0; i < set->count && cw_ask_ok(&m->ask); i++)
        if (!w.inside[m->class_[set->items[i]]])
            add_class_to_crowd(&w, m->class_[set->items[i]]);
    w.seeds = w.count;
    if (!cw_ask_ok(&m->ask))
        return false;
    uint32_t cluster = cw_model_cluster(m, w.list[0]);
    for (uint32_t c = 0; c < m->class_count && cw_ask_ok(&m->ask); c++)
        if (!w.inside[c] && m->usable[m->classes[c].items[0]] && cw_model_cluster(m, c) == cluster && belongs(&w, c))
            add_class_to_crowd(&w, c);
    return cw_ask_ok(&m->ask) && trim_crowd(&w) && add_rule(&w);
}

/* Learns classes and bans. A ban forbids a combination that the rules wrongly allow; it is found by trial and extended
 * to whole classes if they behave alike. */

enum {
    WIDEN_TRIES = 4,
    WIDEN_NEED = 3,
    MOST_BANS = 200, /* limit for one pool */
    FILLED_SIZE = 4,
    ACCIDENT_SIZE = 6,
    SPECIAL_TRIES = 10,
    SPECIAL_DRAWS = 2000,
    SPECIAL_MOST = 3,
    TRIM_TRIES = 2,
    TRIM_ROUNDS = 4,
    WRONG_MOST = 512,
};

/* ---- classes ---------------------------------------------------------------------------------------------------- */

/* Whether the limits treat two placements alike. `sizes` has the number of members of each rule's groups. */
static bool alike(const struct cw_model *m, uint32_t **sizes, uint32_t a, uint32_t b)
{
    const struct cw_chip_placement *p = m->chip.placements;
    if (p[a].domain != p[b].domain || m->usable[a] != m->usable[b] || m->kind[a] != m->kind[b])
        return false;
    for (uint32_t r = 0; r < m->rule_count; r++) {
        const struct cw_rule *rule = &m->rules[r];
        uint32_t x = rule->group[a], y = rule->group[b];
        if ((x == CW_NONE) != (y == CW_NONE) || (rule->second && rule->second[a] != rule->second[b]))
            return false;
        if (x != y && (sizes[r][x] > 1 || sizes[r][y] > 1))
            return false;
    }
    return true;
}

void cw_learn_classes(struct cw_model *m)
{
    uint32_t n = m->chip.placement_count;
    uint32_t **sizes = cw_ask_array(&m->ask, m->rule_count, sizeof *sizes);
    for (uint32_t r = 0; cw_ask_ok(&m->ask) && r < m->rule_count; r++) {
        sizes[r] = cw_ask_array(&m->ask, m->rules[r].group_count, sizeof **sizes);
        for (uint32_t p = 0; cw_ask_ok(&m->ask) && p < n; p++)
            if (m->rules[r].group[p] != CW_NONE)
                sizes[r][m->rules[r].group[p]]++;
    }
    uint32_t count = 0, used = 0;
    uint32_t *class_ = cw_ask_array(&m->ask, n, sizeof *class_), *first = cw_ask_array(&m->ask, n, sizeof *first);
    uint32_t *members = cw_ask_array(&m->ask, n, sizeof *members);
    struct cw_pool *classes = cw_ask_array(&m->ask, n, sizeof *classes);
    for (uint32_t p = 0; cw_ask_ok(&m->ask) && p < n; p++) {
        uint32_t c = 0;
        while (c < count && !alike(m, sizes, first[c], p))
            c++;
        if (c == count)
            first[count++] = p;
        class_[p] = c;
    }
    for (uint32_t c = 0; cw_ask_ok(&m->ask) && c < count; c++) {
        classes[c] = (struct cw_pool){0, members + used};
        for (uint32_t p = first[c]; p < n; p++)
            if (class_[p] == c)
                members[used++] = p;
        classes[c].count = (uint32_t)(members + used - classes[c].items);
    }
    m->class_ = class_;
    m->classes = classes;
    m->class_count = cw_ask_ok(&m->ask) ? count : 0;
}

/* Moves the marked members of a class into a new class. */
static void split(struct cw_model *m, uint32_t class_, const bool *marked, uint32_t marked_count)
{
    struct cw_pool *old = &m->classes[class_], fresh = {0, cw_ask_array(&m->ask, marked_count, sizeof *fresh.items)};
    uint32_t kept = 0, *items = cw_ask_array(&m->ask, old->count, sizeof *items), c = m->class_count;
    if (!cw_ask_ok(&m->ask))
        return;
    for (uint32_t i = 0; i < old->count; i++)
        if (marked[i]) {
            m->class_[old->items[i]] = c;
            fresh.items[fresh.count++] = old->items[i];
        } else {
            items[kept++] = old->items[i];
        }
    *old = (struct cw_pool){kept, items};
    m->classes[m->class_count++] = fresh;
    if (m->ban_count)
        memcpy(m->bans + c * (size_t)m->ban_room, m->bans + class_ * (size_t)m->ban_room, m->ban_room);
}

/* ---- bans ------------------------------------------------------------------------------------------------------- */

/* Splits the class of one member of an unfit set: placements that do not fit in the member's place either, and
 * placements that do. */
static void refine(struct cw_model *m, const struct cw_ask_set *set, uint32_t at)
{
    uint32_t c = m->class_[set->items[at]], unfit = 0;
    struct cw_ask_set tried = *set;
    bool *marked = cw_ask_array(&m->ask, m->classes[c].count, sizeof *marked);
    for (uint32_t i = 0; cw_ask_ok(&m->ask) && i < m->classes[c].count; i++) {
        tried.items[at] = m->classes[c].items[i];
        marked[i] = tried.items[at] == set->items[at] || cw_ask_has_raw(&m->ask, set, tried.items[at], at) ||
                    !cw_ask_fits(&m->ask, tried.items, tried.count);
        unfit += marked[i];
    }
    if (cw_ask_ok(&m->ask) && unfit < m->classes[c].count)
        split(m, c, marked, unfit);
}

/* Halves a class that two members of a set belong to, because the parts of a ban must have no class in common. */
static void separate(struct cw_model *m, const struct cw_ask_set *set, uint32_t at)
{
    for (uint32_t k = 0; k < at; k++) {
        uint32_t c = m->class_[set->items[at]], count = 0;
        if (m->class_[set->items[k]] != c)
            continue;
        bool *marked = cw_ask_array(&m->ask, m->classes[c].count, sizeof *marked);
        for (uint32_t i = 0; cw_ask_ok(&m->ask) && i < m->classes[c].count; i++) {
            uint32_t p = m->classes[c].items[i];
            marked[i] = p == set->items[at] || (p != set->items[k] && i % 2);
            count += marked[i];
        }
        if (cw_ask_ok(&m->ask))
            split(m, c, marked, count);
    }
}

struct ban {
    uint32_t count;
    uint8_t *part; /* by class: 1 + its part, 0 for none */
};

struct widening {
    struct cw_model *m;
    struct ban *ban;
    uint32_t *lists[CW_BAN_MOST], counts[CW_BAN_MOST]; /* classes of each part */
};

/* Draws a member of each part, for part `at` one of `class_`; false if the model forbids them together. */
static bool draw_parts(struct widening *w, uint32_t at, uint32_t class_, struct cw_ask_set *set)
{
    bool allowed = true;
    set->count = 0;
    for (uint32_t k = 0; k < w->ban->count && allowed; k++) {
        uint32_t p = k == at ? cw_model_draw(w->m, &class_, 1) : cw_model_draw(w->m, w->lists[k], w->counts[k]);
        allowed = cw_model_allows(w->m, set, p);
        set->items[set->count++] = p;
    }
    return allowed;
}

/* Draws sets with a member of `class_` for part `at`, and members of the other parts that matter; returns whether none
 * of them fits. */
static bool never_fits(struct widening *w, uint32_t at, uint32_t class_)
{
    struct cw_model *m = w->m;
    struct cw_ask_set set;
    uint32_t met = 0;
    for (uint32_t t = 0; t < 5 * WIDEN_TRIES && met < WIDEN_TRIES && cw_ask_ok(&m->ask); t++) {
        if (!draw_parts(w, at, class_, &set))
            continue;
        met++;
        if (cw_ask_fits(&m->ask, set.items, set.count))
            return false;
    }
    return met >= WIDEN_NEED;
}

static void add_class(struct widening *w, uint32_t part, uint32_t class_)
{
    w->ban->part[class_] = (uint8_t)(part + 1);
    w->lists[part][w->counts[part]++] = class_;
}

/* ---- trimming --------------------------------------------------------------------------------------------------- */

/* Fitting sets, one member of each part, that the ban forbids: given by their classes. */
struct wrong {
    uint32_t count, classes[WRONG_MOST][CW_BAN_MOST];
};

/* Tries every class of every part in some sets with members of the other parts. `asked` counts the sets by part and
 * class. */
static void find_wrong(struct widening *w, struct wrong *wrong, uint32_t **asked)
{
    struct cw_model *m = w->m;
    struct cw_ask_set set;
    for (uint32_t at = 0; at < w->ban->count; at++)
        for (uint32_t i = 0; i < w->counts[at] * TRIM_TRIES && wrong->count < WRONG_MOST && cw_ask_ok(&m->ask); i++) {
            if (!draw_parts(w, at, w->lists[at][i / TRIM_TRIES], &set))
                continue;
            bool fits = cw_ask_fits(&m->ask, set.items, set.count);
            for (uint32_t k = 0; k < set.count; k++) {
                wrong->classes[wrong->count][k] = m->class_[set.items[k]];
                asked[k][m->class_[set.items[k]]]++;
            }
            wrong->count += fits;
        }
}

static void remove_class(struct widening *w, uint32_t part, uint32_t class_)
{
    uint32_t n = 0;
    w->ban->part[class_] = 0;
    for (uint32_t i = 0; i < w->counts[part]; i++)
        if (w->lists[part][i] != class_)
            w->lists[part][n++] = w->lists[part][i];
    w->counts[part] = n;
}

/* Removes the classes with the largest share of wrong sets, until no wrong set is left. Keeps the first class of each
 * part, for which the ban was learned. */
static void remove_wrong(struct widening *w, struct wrong *wrong, uint32_t **asked)
{
    while (wrong->count) {
        uint32_t part = 0, class_ = CW_NONE;
        double worst = 0;
        for (uint32_t k = 0; k < w->ban->count; k++)
            for (uint32_t i = 1; i < w->counts[k]; i++) {
                uint32_t c = w->lists[k][i], n = 0;
                for (uint32_t t = 0; t < wrong->count; t++)
                    n += wrong->classes[t][k] == c;
                double share = n ? (double)n / asked[k][c] : 0;
                if (share > worst) {
                    worst = share;
                    part = k;
                    class_ = c;
                }
            }
        if (class_ == CW_NONE)
            return;
        remove_class(w, part, class_);
        uint32_t n = 0;
        for (uint32_t t = 0; t < wrong->count; t++)
            if (wrong->classes[t][part] != class_)
                memmove(wrong->classes[n++], wrong->classes[t], sizeof *wrong->classes);
        wrong->count = n;
    }
}

/* Judges all classes again once the parts are complete: each joined while they were still small. */
static void trim(struct widening *w)
{
    struct cw_model *m = w->m;
    struct wrong *wrong = cw_ask_array(&m->ask, 1, sizeof *wrong);
    uint32_t *asked[CW_BAN_MOST];
    for (uint32_t k = 0; k < w->ban->count; k++)
        asked[k] = cw_ask_array(&m->ask, m->class_count, sizeof **asked);
    for (int round = 0; round < TRIM_ROUNDS && cw_ask_ok(&m->ask); round++) {
        wrong->count = 0;
        for (uint32_t k = 0; k < w->ban->count; k++)
            memset(asked[k], 0, m->class_count * sizeof **asked);
        find_wrong(w, wrong, asked);
        if (!wrong->count)
            return;
        remove_wrong(w, wrong, asked);
    }
}

/* Adds classes to the parts. A class goes to the smallest part that it fits, so that few bans cover the pairs of one
 * large set of classes. */
static void widen(struct widening *w)
{
    struct cw_model *m = w->m;
    uint32_t cluster = cw_model_cluster(m, w->lists[0][0]);
    for (uint32_t c = 0; c < m->class_count && cw_ask_ok(&m->ask); c++) {
        bool tried[CW_BAN_MOST] = {false};
        bool taken = !m->usable[m->classes[c].items[0]] || cw_model_cluster(m, c) != cluster || w->ban->part[c] != 0;
        while (!taken) {
            uint32_t at = CW_NONE;
            for (uint32_t k = 0; k < w->ban->count; k++)
                if (!tried[k] && (at == CW_NONE || w->counts[k] < w->counts[at]))
                    at = k;
            if (at == CW_NONE)
                break;
            tried[at] = true;
            taken = never_fits(w, at, c);
            if (taken)
                add_class(w, at, c);
        }
    }
}

/* Whether a set fills slots: in some rule each member is a group. */
static bool fills_slots(const struct cw_model *m, const struct cw_ask_set *set)
{
    bool fills = false;
    for (uint32_t r = 0; r < m->rule_count && !fills; r++) {
        const struct cw_rule *rule = &m->rules[r];
        fills = rule->max == set->count;
        for (uint32_t i = 0; i < set->count && fills; i++) {
            fills = rule->group[set->items[i]] != CW_NONE;
            for (uint32_t k = 0; k < i && fills; k++)
                fills = rule->group[set->items[i]] != rule->group[set->items[k]];
        }
    }
    return fills;
}

/* Whether almost any placement of the same domain in place of a member makes the set fit. */
static bool is_special(struct cw_model *m, const struct cw_ask_set *set, uint32_t at)
{
    uint32_t met = 0, fits = 0;
    for (uint32_t t = 0; t < SPECIAL_DRAWS && met < SPECIAL_TRIES && cw_ask_ok(&m->ask); t++) {
        struct cw_ask_set others = *set;
        uint32_t p = cw_ask_random(&m->ask, m->chip.placement_count);
        others.items[at] = others.items[--others.count];
        if (m->chip.placements[p].domain != m->chip.placements[set->items[at]].domain ||
            !cw_model_allows(m, &others, p))
            continue;
        met++;
        others.items[others.count++] = p;
        fits += cw_ask_fits(&m->ask, others.items, others.count);
    }
    return met >= SPECIAL_TRIES / 2 && fits * 5 >= met * 4;
}

/* Whether the set is an accident of the library's search that no ban can foresee: it fills slots and does not fit, but
 * almost any placement in place of almost any member makes it fit. */
static bool is_accident(struct cw_model *m, const struct cw_ask_set *set)
{
    uint32_t special = 0;
    if (set->count < ACCIDENT_SIZE || !fills_slots(m, set))
        return false;
    for (uint32_t i = 0; i < set->count && special <= SPECIAL_MOST; i++)
        special += is_special(m, set, i);
    return special <= SPECIAL_MOST;
}

/* Drops members of a larger set that almost any placement could replace, if at least two others remain. A ban of the
 * others alone is stricter than necessary, but without it the bans would never end. */
static void drop_fillers(struct ban *ban, const bool *special, uint32_t classes)
{
    uint32_t count = 0;
    uint8_t number[CW_BAN_MOST + 1] = {0};
    for (uint32_t k = 0; k < ban->count; k++)
        count += special[k];
    if (ban->count < FILLED_SIZE || count < 2)
        return;
    count = 0;
    for (uint32_t k = 0; k < ban->count && k < CW_BAN_MOST; k++)
        if (special[k])
            number[k + 1] = (uint8_t)++count;
    for (uint32_t c = 0; c < classes; c++)
        ban->part[c] = number[ban->part[c]];
    ban->count = count;
}

static void add_ban(struct cw_model *m, const struct ban *ban)
{
    uint32_t n = m->chip.placement_count, room = m->ban_room;
    if (m->ban_count == room) {
        uint8_t *bans = m->bans, *parts = m->ban_parts;
        m->ban_room = 2 * room + 64;
        m->bans = cw_ask_array(&m->ask, n * (size_t)m->ban_room, 1);
        m->ban_parts = cw_ask_array(&m->ask, m->ban_room, 1);
        if (!cw_ask_ok(&m->ask))
            return;
        for (uint32_t c = 0; c < m->class_count && room; c++)
            memcpy(m->bans + c * (size_t)m->ban_room, bans + c * (size_t)room, room);
        if (room)
            memcpy(m->ban_parts, parts, room);
    }
    for (uint32_t c = 0; c < m->class_count; c++)
        m->bans[c * (size_t)m->ban_room + m->ban_count] = (uint8_t)(1u << ban->part[c] >> 1);
    m->ban_parts[m->ban_count++] = (uint8_t)((1u << ban->count) - 1);
}

void cw_learn_ban(struct cw_model *m, struct cw_ask_set set)
{
    struct ban ban = {.part = cw_ask_array(&m->ask, m->chip.placement_count, 1)};
    struct widening w = {.m = m, .ban = &ban};
    cw_ask_minimize(&m->ask, &set);
    if (set.count < 2 || !cw_ask_ok(&m->ask) || is_accident(m, &set))
        return;
    /* forbidding a part of a large set is too strict, but safe */
    bool whole = set.count <= CW_BAN_MOST, special[CW_BAN_MOST] = {false};
    for (uint32_t k = 0; k < set.count && whole && set.count >= FILLED_SIZE; k++)
        special[k] = is_special(m, &set, k);
    for (uint32_t k = 0; k < set.count && whole; k++)
        refine(m, &set, k);
    if (whole && set.count > 2 && learn_crowd(m, &set))
        return;
    for (uint32_t k = 1; k < set.count && k < CW_BAN_MOST; k++)
        separate(m, &set, k);
    for (uint32_t i = 0; i < set.count && ban.count < CW_BAN_MOST && cw_ask_ok(&m->ask); i++) {
        uint32_t c = m->class_[set.items[i]], k = ban.count++;
        w.lists[k] = cw_ask_array(&m->ask, m->chip.placement_count, sizeof **w.lists);
        if (cw_ask_ok(&m->ask))
            add_class(&w, k, c);
    }
    if (whole && ban.count == set.count) {
        widen(&w);
        trim(&w);
    }
    if (!cw_ask_ok(&m->ask))
        return;
    drop_fillers(&ban, special, m->class_count);
    add_ban(m, &ban);
}

/* Draws a class first and then a placement of it, so that small classes come as often as large ones. */
static void grow_by_class(struct cw_model *m, struct cw_ask_set *set, const struct cw_pool *pool, uint32_t size)
{
    uint32_t *classes = m->scratch, count = 0;
    for (uint32_t i = 0; i < pool->count; i++) {
        uint32_t c = m->class_[pool->items[i]];
        if (m->classes[c].items[0] == pool->items[i])
            classes[count++] = c;
    }
    for (uint32_t misses = 0; count && set->count < size && misses < 40 + 10 * size;) {
        uint32_t p = cw_model_draw(m, classes, count);
        if (cw_model_allows(m, set, p))
            set->items[set->count++] = p;
        else
            misses++;
    }
}

uint32_t cw_learn_bans(struct cw_model *m, const struct cw_pool *pool, uint32_t tries)
{
    uint32_t mistakes = 0;
    if (!m->scratch)
        m->scratch = cw_ask_array(&m->ask, m->chip.placement_count, sizeof *m->scratch);
    for (uint32_t t = 0; t < tries && mistakes < MOST_BANS && cw_ask_ok(&m->ask); t++) {
        struct cw_ask_set set = {0};
        uint32_t size = 4 + cw_ask_random(&m->ask, 60);
        if (t % 2)
            grow_by_class(m, &set, pool, size);
        else
            cw_model_grow(m, &set, pool, size);
        if (set.count < 3 || cw_ask_fits(&m->ask, set.items, set.count))
            continue;
        mistakes++;
        cw_learn_ban(m, set);
    }
    return mistakes;
}
