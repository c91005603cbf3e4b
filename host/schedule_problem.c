#include "host/schedule_problem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buckets.h"

/* A limit, reduced to the requested placements. */
struct reduced {
    uint32_t max, first, count; /* members[first], `count` of them */
    uint32_t groups;            /* number of groups with several members, numbered from 0 */
    bool apart;                 /* its groups are sections */
};

struct member {
    uint32_t placement, group; /* local numbers; group CW_NONE: the only member of its group */
};

struct build {
    const struct cw_chip *chip;
    const struct cw_limits *asked;
    const uint32_t *raws; /* raw counter of the chip for each item */
    struct cw_arena *arena;
    uint32_t item_count, placement_count;
    uint32_t *placements; /* local placement -> placement of the chip */
    uint32_t *item_of;    /* local placement -> item */
    uint32_t *first;      /* item -> its first local placement; one more at the end */
    uint32_t *local;      /* chip placement -> 1 + local */
    struct reduced *limits;
    uint32_t limit_count;
    struct member *members;
    uint32_t *parent;    /* union-find over items */
    struct cw_use *uses; /* by local placement, see use_first; `rule` is a reduced limit */
    uint32_t *use_first; /* with one more entry at the end */
    uint32_t *class_of;  /* local placement -> class in its problem */
    uint64_t *costs_of;  /* by domain */
    bool failed;
};

static void *array(struct build *b, size_t count, size_t size)
{
    void *p = b->failed ? NULL : cw_arena_alloc(b->arena, count, size);
    b->failed |= !p;
    return p;
}

static void list_placements(struct build *b)
{
    const struct cw_chip *chip = b->chip;
    const uint32_t *raws = b->raws;
    for (uint32_t i = 0; i < b->item_count; i++)
        b->placement_count += chip->raws[raws[i]].placement_count;
    b->placements = array(b, b->placement_count, sizeof *b->placements);
    b->item_of = array(b, b->placement_count, sizeof *b->item_of);
    b->first = array(b, (size_t)b->item_count + 1, sizeof *b->first);
    b->local = array(b, chip->placement_count, sizeof *b->local);
    uint32_t n = 0;
    for (uint32_t i = 0; !b->failed && i < b->item_count; i++) {
        const struct cw_raw_counter *raw = &chip->raws[raws[i]];
        b->first[i] = n;
        for (uint32_t k = 0; k < raw->placement_count; k++) {
            b->placements[n] = raw->placement + k;
            b->item_of[n] = i;
            b->local[raw->placement + k] = ++n;
        }
    }
    if (!b->failed)
        b->first[b->item_count] = n;
}

/* Renumbers the groups with several members; groups of one member get no number. `alone` is by group. */
static void settle_groups(struct member *members, struct reduced *limit, uint32_t *alone)
{
    uint32_t n = 0;
    for (uint32_t g = 0; g < limit->groups; g++)
        alone[g] = alone[g] ? CW_NONE : n++;
    for (uint32_t k = 0; k < limit->count; k++)
        members[k].group = alone[members[k].group];
    limit->groups = n;
}

/* Numbers the remaining groups from 0, and drops a limit whose maximum cannot be exceeded. */
static void reduce_limits(struct build *b)
{
    size_t total = 0;
    uint32_t most_groups = 0;
    uint32_t *used = array(b, b->asked->count, sizeof *used); /* requested members */
    for (uint32_t i = 0; !b->failed && i < b->asked->count; i++) {
        const struct cw_limit *limit = &b->asked->items[i];
        const uint32_t *local = b->local, *members = limit->members;
        uint32_t n = 0;
        for (uint32_t k = 0; k < limit->count; k++)
            n += local[members[k]] != 0;
        used[i] = n;
        if (n <= cw_limits_max(b->asked, i)) /* too few to exceed it */
            continue;
        total += n;
        for (uint32_t k = 0; k < limit->count; k++)
            most_groups = limit->groups[k] >= most_groups ? limit->groups[k] + 1 : most_groups;
    }
    b->limits = array(b, b->asked->count, sizeof *b->limits);
    b->members = array(b, total, sizeof *b->members);
    uint32_t *number = array(b, most_groups, sizeof *number);
    uint32_t *alone = array(b, total, sizeof *alone); /* by local group: 1 + its only member */
    uint32_t n = 0;
    for (uint32_t i = 0; !b->failed && i < b->asked->count; i++) {
        const struct cw_limit *limit = &b->asked->items[i];
        struct reduced r = {.max = cw_limits_max(b->asked, i), .first = n};
        if (used[i] <= r.max)
            continue;
        for (uint32_t k = 0; k < limit->count; k++) {
            uint32_t local = b->local[limit->members[k]];
            if (!local)
                continue;
            uint32_t *group = &number[limit->groups[k]];
            if (!*group) {
                *group = ++r.groups;
                alone[r.groups - 1] = n + 1;
            } else {
                alone[*group - 1] = 0;
            }
            b->members[n++] = (struct member){local - 1, *group - 1};
        }
        for (uint32_t k = 0; k < limit->count; k++)
            number[limit->groups[k]] = 0;
        uint32_t distinct = r.groups;
        r.count = n - r.first;
        settle_groups(b->members + r.first, &r, alone);
        if (distinct > r.max)
            b->limits[b->limit_count++] = r;
        else
            n = r.first;
    }
}

static void collect_uses(struct build *b)
{
    b->use_first = array(b, (size_t)b->placement_count + 2, sizeof *b->use_first);
    size_t total = b->limit_count ? b->limits[b->limit_count - 1].first + b->limits[b->limit_count - 1].count : 0;
    b->uses = array(b, total, sizeof *b->uses);
    if (b->failed)
        return;
    /* counting sort: while filling, use_first[p + 1] is the place for the next use of p */
    for (size_t k = 0; k < total; k++)
        b->use_first[b->members[k].placement + 2]++;
    for (uint32_t p = 2; p < b->placement_count + 2; p++)
        b->use_first[p] += b->use_first[p - 1];
    for (uint32_t i = 0; i < b->limit_count; i++)
        for (uint32_t k = 0; k < b->limits[i].count; k++) {
            const struct member *m = &b->members[b->limits[i].first + k];
            b->uses[b->use_first[m->placement + 1]++] = (struct cw_use){i, m->group};
        }
}

/* ---- division into problems ------------------------------------------------------------------------------------- */

static uint32_t root_of(struct build *b, uint32_t item)
{
    while (b->parent[item] != item)
        item = b->parent[item] = b->parent[b->parent[item]];
    return item;
}

static void unite(struct build *b, const struct reduced *limit)
{
    uint32_t root = root_of(b, b->item_of[b->members[limit->first].placement]);
    for (uint32_t k = 1; k < limit->count; k++) {
        uint32_t other = root_of(b, b->item_of[b->members[limit->first + k].placement]);
        if (other < root) {
            b->parent[root] = other;
            root = other;
        } else {
            b->parent[other] = root;
        }
    }
}

/* Whether every item lies, with all its placements, in one group of a limit that allows only one. If so, the groups can
 * be scheduled separately, because no pass can have two of them. `group_of` is by item. */
static bool separates(const struct build *b, const struct reduced *limit, uint32_t *group_of)
{
    if (limit->max != 1 || limit->count != b->placement_count)
        return false;
    memset(group_of, 0xff, b->item_count * sizeof *group_of);
    for (uint32_t k = 0; k < limit->count; k++) {
        const struct member *m = &b->members[limit->first + k];
        uint32_t item = b->item_of[m->placement];
        uint32_t group = m->group == CW_NONE ? b->placement_count + m->placement : m->group;
        if (group_of[item] != CW_NONE && group_of[item] != group)
            return false;
        group_of[item] = group;
    }
    for (uint32_t i = 0; i < b->item_count; i++)
        if (group_of[i] == CW_NONE)
            return false;
    return true;
}

/* Splits each section by a further grouping of the items. */
static void refine(struct build *b, const uint32_t *group_of, uint32_t *section, uint32_t *sections)
{
    uint32_t *key = array(b, b->item_count, sizeof *key); /* by new section: one of its items */
    uint32_t *fresh = array(b, b->item_count, sizeof *fresh), n = 0;
    for (uint32_t i = 0; !b->failed && i < b->item_count; i++) {
        uint32_t s = 0;
        while (s < n && (section[key[s]] != section[i] || group_of[key[s]] != group_of[i]))
            s++;
        if (s == n)
            key[n++] = i;
        fresh[i] = s;
    }
    if (b->failed)
        return;
    memcpy(section, fresh, b->item_count * sizeof *section);
    *sections = n;
}

/* Numbers the problems and sections: *problem_of and *section are by item. */
static uint32_t cut(struct build *b, uint32_t *problem_of, uint32_t *section, uint32_t *sections)
{
    uint32_t *group_of = array(b, b->item_count, sizeof *group_of), count = 0;
    b->parent = array(b, b->item_count, sizeof *b->parent);
    *sections = 1;
    for (uint32_t i = 0; !b->failed && i < b->item_count; i++)
        b->parent[i] = i;
    for (uint32_t i = 0; !b->failed && i < b->limit_count; i++)
        if (separates(b, &b->limits[i], group_of)) {
            b->limits[i].apart = true;
            refine(b, group_of, section, sections);
        } else {
            unite(b, &b->limits[i]);
        }
    bool mixed = false; /* one problem spans several sections, so sections are of no use */
    for (uint32_t i = 0; !b->failed && i < b->item_count; i++)
        mixed |= section[root_of(b, i)] != section[i];
    for (uint32_t i = 0; mixed && i < b->limit_count; i++) {
        b->limits[i].apart = false;
        unite(b, &b->limits[i]);
    }
    if (mixed) {
        memset(section, 0, b->item_count * sizeof *section);
        *sections = 1;
    }
    for (uint32_t i = 0; !b->failed && i < b->item_count; i++)
        problem_of[i] = root_of(b, i) == i ? count++ : problem_of[root_of(b, i)];
    return count;
}

/* ---- one problem ------------------------------------------------------------------------------------------------ */

struct making { /* one problem being made */
    struct build *b;
    struct cw_problem *problem;
    const uint32_t *items; /* items, by number of the build */
    uint32_t *rule_of;     /* reduced limit -> 1 + rule */
    uint32_t *group_base;  /* reduced limit -> its first group */
    struct cw_problem_class *classes;
    uint32_t *slots, slot_count;
};

static int by_rule_and_group(const void *a, const void *b)
{
    const struct cw_use *x = a, *y = b;
    if (x->rule != y->rule)
        return x->rule < y->rule ? -1 : 1;
    return (x->group > y->group) - (x->group < y->group);
}

/* Sorts the uses of a placement and removes duplicates. */
static uint32_t tidy_uses(struct cw_use *uses, uint32_t count)
{
    uint32_t n = 0;
    for (uint32_t k = 1; k < count; k++)
        if (by_rule_and_group(&uses[k - 1], &uses[k]) > 0) {
            qsort(uses, count, sizeof *uses, by_rule_and_group);
            break;
        }
    for (uint32_t k = 0; k < count; k++)
        if (!k || uses[k].group == CW_NONE || by_rule_and_group(&uses[k - 1], &uses[k]))
            uses[n++] = uses[k];
    return n;
}

static uint32_t find_class(struct making *m, const struct cw_use *uses, uint32_t count)
{
    uint64_t h = count;
    for (uint32_t k = 0; k < count; k++)
        h = (h ^ uses[k].rule ^ (uint64_t)uses[k].group << 32) * 0x9e3779b97f4a7c15u;
    for (h ^= h >> 29;; h++) {
        uint32_t *slot = &m->slots[h % m->slot_count];
        if (!*slot) {
            m->classes[m->problem->class_count] = (struct cw_problem_class){.uses = uses, .use_count = count};
            return (*slot = ++m->problem->class_count) - 1;
        }
        const struct cw_problem_class *c = &m->classes[*slot - 1];
        if (c->use_count == count && (!count || memcmp(c->uses, uses, count * sizeof *uses) == 0))
            return *slot - 1;
    }
}

static void make_classes(struct making *m)
{
    struct build *b = m->b;
    uint32_t total = 0;
    for (uint32_t i = 0; i < m->problem->item_count; i++)
        total += b->first[m->items[i] + 1] - b->first[m->items[i]];
    m->slot_count = 2 * total + 1;
    m->slots = array(b, m->slot_count, sizeof *m->slots);
    m->classes = array(b, total, sizeof *m->classes);
    for (uint32_t i = 0; !b->failed && i < m->problem->item_count; i++)
        for (uint32_t p = b->first[m->items[i]]; p < b->first[m->items[i] + 1]; p++) {
            struct cw_use *uses = b->uses + b->use_first[p];
            uint32_t count = tidy_uses(uses, b->use_first[p + 1] - b->use_first[p]);
            b->class_of[p] = find_class(m, uses, count);
        }
    m->problem->classes = m->classes;
}

/* Marks a class as impossible if it alone needs more groups than a limit allows. */
static void judge_classes(struct making *m)
{
    for (uint32_t c = 0; !m->b->failed && c < m->problem->class_count; c++) {
        struct cw_problem_class *class_ = &m->classes[c];
        class_->possible = true;
        for (uint32_t k = 0, same = 0; k < class_->use_count; k++) {
            same = k && class_->uses[k - 1].rule == class_->uses[k].rule ? same + 1 : 1;
            class_->possible &= same <= m->b->limits[class_->uses[k].rule].max;
        }
    }
}

static void set_bit(uint64_t *bits, uint32_t bit)
{
    bits[bit / 64] |= UINT64_C(1) << bit % 64;
}

static bool get_bit(const uint64_t *bits, uint32_t bit)
{
    return bits[bit / 64] >> bit % 64 & 1;
}

/* Marks every two groups of a limit that allows one as conflicting. `masks` has room for a bitset for each group and
 * two more. */
static void add_conflicts(struct making *m, const struct reduced *limit, uint64_t *conflicts, uint64_t *masks)
{
    const struct build *b = m->b;
    uint32_t words = m->problem->words;
    uint64_t *all = masks, *done = masks + words, *by_group = masks + 2 * (size_t)words;
    memset(masks, 0, (limit->groups + 2) * (size_t)words * sizeof *masks);
    const struct member *members = b->members + limit->first;
    for (uint32_t k = 0; k < limit->count; k++) {
        uint32_t c = b->class_of[members[k].placement];
        set_bit(all, c);
        if (members[k].group != CW_NONE)
            set_bit(by_group + members[k].group * (size_t)words, c);
    }
    for (uint32_t k = 0; k < limit->count; k++) {
        uint32_t c = b->class_of[members[k].placement];
        if (get_bit(done, c))
            continue; /* a class in several groups is impossible in any case */
        set_bit(done, c);
        for (uint32_t w = 0; w < words; w++)
            conflicts[c * (size_t)words + w] |=
                members[k].group == CW_NONE ? all[w] : all[w] & ~by_group[members[k].group * (size_t)words + w];
    }
}

static void make_conflicts(struct making *m, const uint32_t *limits, uint32_t limit_count)
{
    struct build *b = m->b;
    uint32_t most = 0, words = m->problem->words = (m->problem->class_count + 63) / 64;
    for (uint32_t i = 0; i < limit_count; i++)
        if (b->limits[limits[i]].groups > most)
            most = b->limits[limits[i]].groups;
    uint64_t *masks = array(b, ((size_t)most + 2) * words, sizeof *masks);
    uint64_t *conflicts = array(b, (size_t)m->problem->class_count * words, sizeof *conflicts);
    for (uint32_t i = 0; !b->failed && i < limit_count; i++)
        if (b->limits[limits[i]].max == 1 && !b->limits[limits[i]].apart)
            add_conflicts(m, &b->limits[limits[i]], conflicts, masks);
    for (uint32_t c = 0; !b->failed && c < m->problem->class_count; c++)
        m->classes[c].conflicts = conflicts + c * (size_t)words;
}

/* Numbers rules and groups within the problem; drops uses of limits that became conflicts. */
static void make_rules(struct making *m, const uint32_t *limits, uint32_t limit_count)
{
    struct build *b = m->b;
    uint32_t *max = array(b, limit_count, sizeof *max);
    for (uint32_t i = 0; !b->failed && i < limit_count; i++) {
        const struct reduced *limit = &b->limits[limits[i]];
        if (limit->max < 2)
            continue;
        max[m->problem->rule_count] = limit->max;
        m->rule_of[limits[i]] = ++m->problem->rule_count;
        m->group_base[limits[i]] = m->problem->group_count;
        m->problem->group_count += limit->groups;
    }
    m->problem->max = max;
    for (uint32_t c = 0; !b->failed && c < m->problem->class_count; c++) {
        struct cw_use *uses = (struct cw_use *)m->classes[c].uses;
        uint32_t n = 0;
        for (uint32_t k = 0; k < m->classes[c].use_count; k++) {
            uint32_t rule = m->rule_of[uses[k].rule], base = m->group_base[uses[k].rule];
            if (rule)
                uses[n++] = (struct cw_use){rule - 1, uses[k].group == CW_NONE ? CW_NONE : base + uses[k].group};
        }
        m->classes[c].use_count = n;
    }
}

static enum cw_status make_items(struct making *m, struct cw_error *err)
{
    struct build *b = m->b;
    struct cw_item *items = array(b, m->problem->item_count, sizeof *items);
    for (uint32_t i = 0; !b->failed && i < m->problem->item_count; i++) {
        uint32_t item = m->items[i], first = b->first[item], count = b->first[item + 1] - first;
        items[i] = (struct cw_item){.raw = b->raws[item], .choices = array(b, count, sizeof *items[i].choices)};
        for (uint32_t k = 0; !b->failed && k < count; k++)
            if (m->classes[b->class_of[first + k]].possible)
                items[i].choices[items[i].choice_count++] =
                    (struct cw_choice){b->placements[first + k], b->class_of[first + k],
                                       b->costs_of[b->chip->placements[b->placements[first + k]].domain]};
        if (!b->failed && !items[i].choice_count)
            return cw_error_set(err, CW_ERR_UNSUPPORTED,
                                "found no way to collect the raw counter 0x%016" PRIx64 " of %s in one pass",
                                b->chip->raws[b->raws[item]].id, b->chip->name);
    }
    m->problem->items = items;
    return CW_OK;
}

static enum cw_status make_problems(struct build *b, struct cw_problems *problems, struct cw_error *err)
{
    uint32_t *problem_of = array(b, b->item_count, sizeof *problem_of);
    uint32_t *section = array(b, b->item_count, sizeof *section);
    problems->count = cut(b, problem_of, section, &problems->section_count);
    problems->items = array(b, problems->count, sizeof *problems->items);
    /* items by problem, limits by problem */
    uint32_t *items = array(b, b->item_count, sizeof *items);
    uint32_t *item_first = array(b, (size_t)problems->count + 2, sizeof *item_first);
    uint32_t *limits = array(b, b->limit_count, sizeof *limits);
    uint32_t *limit_first = array(b, (size_t)problems->count + 2, sizeof *limit_first);
    uint32_t *limit_problem = array(b, b->limit_count, sizeof *limit_problem);
    uint32_t *rule_of = array(b, b->limit_count, sizeof *rule_of);
    uint32_t *group_base = array(b, b->limit_count, sizeof *group_base);
    b->class_of = array(b, b->placement_count, sizeof *b->class_of);
    problems->ids = array(b, b->chip->raw_count, sizeof *problems->ids);
    if (b->failed)
        return cw_error_nomem(err);
    for (uint32_t i = 0; i < b->limit_count; i++)
        limit_problem[i] = problem_of[b->item_of[b->members[b->limits[i].first].placement]];
    cw_buckets_sort(item_first, problems->count, items, problem_of, sizeof *problem_of, b->item_count);
    cw_buckets_sort(limit_first, problems->count, limits, limit_problem, sizeof *limit_problem, b->limit_count);
    enum cw_status status = CW_OK;
    for (uint32_t p = 0; status == CW_OK && p < problems->count; p++) {
        struct making m = {b, &problems->items[p], items + item_first[p], rule_of, group_base, NULL, NULL, 0};
        const uint32_t *own = limits + limit_first[p];
        uint32_t own_count = limit_first[p + 1] - limit_first[p];
        m.problem->item_count = item_first[p + 1] - item_first[p];
        m.problem->section = section[m.items[0]];
        m.problem->costs = b->chip->pass_costs;
        make_classes(&m);
        judge_classes(&m);
        make_conflicts(&m, own, own_count);
        make_rules(&m, own, own_count);
        for (uint32_t i = 0; !b->failed && i < m.problem->item_count; i++)
            problems->ids[b->raws[m.items[i]]] = (struct cw_item_id){p, i};
        status = make_items(&m, err);
        if (b->failed)
            status = cw_error_nomem(err);
    }
    return status;
}

static void index_costs(struct build *b)
{
    b->costs_of = array(b, b->chip->domain_count, sizeof *b->costs_of);
    for (uint32_t i = 0; !b->failed && i < b->chip->pass_cost_count; i++)
        for (uint32_t k = 0; k < b->chip->pass_costs[i].domains.count; k++)
            b->costs_of[b->chip->pass_costs[i].domains.items[k]] |= UINT64_C(1) << i;
}

uint64_t cw_problem_cost(const struct cw_problem *problem, uint64_t costs)
{
    uint64_t sum = 0;
    for (; costs; costs &= costs - 1)
        sum += problem->costs[__builtin_ctzll(costs)].cost;
    return sum;
}

uint32_t cw_problems_section(const struct cw_problems *problems, uint32_t raw)
{
    return problems->items[problems->ids[raw].problem].section;
}

enum cw_status cw_problems_make(struct cw_problems *problems, const struct cw_chip *chip,
                                const struct cw_limits *limits, const struct cw_list *raws, struct cw_arena *arena,
                                struct cw_error *err)
{
    struct build b = {.chip = chip, .asked = limits, .raws = raws->items, .arena = arena, .item_count = raws->count};
    *problems = (struct cw_problems){.chip = chip};
    list_placements(&b);
    reduce_limits(&b);
    collect_uses(&b);
    index_costs(&b);
    return b.failed ? cw_error_nomem(err) : make_problems(&b, problems, err);
}
