#include "metricdb/limits.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { MOST_PROBES = 1024 };

struct load {
    struct cw_yaml_reader *in;
    struct cw_chip *chip;
    struct cw_limit_name *names;
    uint32_t name_count;
    uint32_t *slots, slot_count;              /* hash table of names: 1 + index, 0 is empty */
    struct cw_limit *limits;                  /* being filled */
    uint32_t limit_count, limit_room, pm_max; /* pm_max: of the current limit */
    uint32_t *excluded, mark;                 /* by placement: equals `mark` if excluded from the current limit */
    uint32_t *keyed;                          /* by placement: equals `mark` if in the key of the current pair */
};

static bool ok(const struct load *l)
{
    return l->in->status == CW_OK;
}

/* Charges the members of a named class, which are copied: a small file must not ask for unlimited memory. */
static void spend_members(struct load *l, const struct cw_yaml *node, size_t count)
{
    cw_yaml_spend(l->in, node, count * 2 * sizeof(uint32_t));
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

/* The slot of the name, else a free one; NULL if too many others have its hash. */
static uint32_t *slot_of(const struct load *l, const char *name)
{
    uint64_t h = XXH3_64bits(name, strlen(name));
    for (uint64_t end = h + MOST_PROBES; h != end; h++) {
        uint32_t *slot = &l->slots[h % l->slot_count];
        if (!*slot || strcmp(l->names[*slot - 1].name, name) == 0)
            return slot;
    }
    return NULL;
}

/* Returns NULL if no earlier class and no domain has the name. */
static const struct cw_limit_name *look_up(const struct load *l, const char *name)
{
    const uint32_t *slot = ok(l) ? slot_of(l, name) : NULL;
    return slot && *slot ? &l->names[*slot - 1] : NULL;
}

static const struct cw_limit_name *find_name(struct load *l, const struct cw_yaml *node)
{
    const char *text = cw_yaml_text(l->in, node);
    const struct cw_limit_name *name = look_up(l, text);
    if (ok(l) && !name)
        cw_yaml_fail(l->in, node, "found '%s', expected a class of the 'classes' section or a domain", text);
    return name;
}

static size_t name_size(struct load *l, const struct cw_yaml *node)
{
    const struct cw_limit_name *name = find_name(l, node);
    return name ? name->placements.count : 0;
}

/* Number of placements in a name or a list of names, with repetitions. */
static size_t list_size(struct load *l, const struct cw_yaml *list, const char *what)
{
    size_t size = 0;
    if (list->kind == CW_YAML_SCALAR)
        return name_size(l, list);
    cw_yaml_expect(l->in, list, CW_YAML_SEQUENCE, what);
    for (size_t i = 0; ok(l) && i < list->count; i++)
        size += name_size(l, &list->items[i]);
    return size;
}

static void add_name(struct load *l, const struct cw_yaml *node, const char *name, struct cw_list placements)
{
    uint32_t *slot = ok(l) ? slot_of(l, name) : NULL;
    if (!slot) {
        cw_yaml_fail(l->in, node, "found the name '%s', and too many others with its hash", name);
        return;
    }
    l->names[l->name_count] = (struct cw_limit_name){name, placements};
    *slot = ++l->name_count;
}

static void name_domains(struct load *l)
{
    const struct cw_chip *chip = l->chip;
    uint32_t *sizes = cw_yaml_array(l->in, chip->domain_count, sizeof *sizes);
    uint32_t **items = cw_yaml_array(l->in, chip->domain_count, sizeof *items);
    for (uint32_t p = 0; ok(l) && p < chip->placement_count; p++)
        sizes[chip->placements[p].domain]++;
    for (uint32_t d = 0; ok(l) && d < chip->domain_count; d++) {
        items[d] = cw_yaml_array(l->in, sizes[d], sizeof **items);
        sizes[d] = 0;
    }
    for (uint32_t p = 0; ok(l) && p < chip->placement_count; p++) {
        uint32_t d = chip->placements[p].domain;
        items[d][sizes[d]++] = p;
    }
    for (uint32_t d = 0; ok(l) && d < chip->domain_count; d++)
        add_name(l, NULL, chip->domains[d].name, (struct cw_list){sizes[d], items[d]});
}

static uint32_t find_domain(struct load *l, const struct cw_yaml *node)
{
    const char *text = cw_yaml_text(l->in, node);
    const struct cw_limit_name *name = look_up(l, text);
    if (name && name < l->names + l->chip->domain_count)
        return (uint32_t)(name - l->names);
    cw_yaml_fail(l->in, node, "found '%s', expected a domain of the 'domains' section", text);
    return CW_NONE;
}

static uint32_t find_placement(struct load *l, const struct cw_yaml *node, uint32_t domain)
{
    uint64_t id = cw_yaml_integer(l->in, node, UINT64_MAX);
    uint32_t index = ok(l) ? cw_chip_find_raw(l->chip, id) : CW_NONE;
    if (index != CW_NONE) {
        const struct cw_raw_counter *raw = &l->chip->raws[index];
        cw_yaml_spend(l->in, node, raw->placement_count);
        for (uint32_t k = 0; k < raw->placement_count; k++)
            if (l->chip->placements[raw->placement + k].domain == domain)
                return raw->placement + k;
    }
    if (ok(l))
        cw_yaml_fail(l->in, node, "found '%s', expected a raw counter that %s collects", node->text,
                     l->chip->domains[domain].name);
    return CW_NONE;
}

/* Makes a class of raw counters in one domain. */
static struct cw_list class_of_raws(struct load *l, const struct cw_yaml *item)
{
    static const char *const keys[] = {"domain", "raw", NULL};
    cw_yaml_only(l->in, item, keys);
    uint32_t domain = find_domain(l, cw_yaml_get(l->in, item, "domain", true));
    const struct cw_yaml *raws = cw_yaml_get(l->in, item, "raw", true);
    if (!raws || !cw_yaml_expect(l->in, raws, CW_YAML_SEQUENCE, "raw"))
        return (struct cw_list){0};
    uint32_t *members = cw_yaml_array(l->in, raws->count, sizeof *members);
    for (size_t k = 0; ok(l) && k < raws->count; k++)
        members[k] = find_placement(l, &raws->items[k], domain);
    return (struct cw_list){ok(l) ? (uint32_t)raws->count : 0, members};
}

/* Makes a class of earlier classes. */
static struct cw_list class_of_classes(struct load *l, const struct cw_yaml *item, const struct cw_yaml *of)
{
    static const char *const keys[] = {"of", NULL};
    uint32_t *members, n = 0;
    cw_yaml_only(l->in, item, keys);
    if (!cw_yaml_expect(l->in, of, CW_YAML_SEQUENCE, "of"))
        return (struct cw_list){0};
    size_t size = list_size(l, of, "of");
    spend_members(l, item, size);
    members = cw_yaml_array(l->in, size, sizeof *members);
    for (size_t k = 0; ok(l) && k < of->count; k++) {
        const struct cw_limit_name *name = find_name(l, &of->items[k]);
        memcpy(members + n, name->placements.items, name->placements.count * sizeof *members);
        n += name->placements.count;
    }
    return (struct cw_list){n, members};
}

static void name_classes(struct load *l, const struct cw_yaml *classes)
{
    for (size_t i = 0; ok(l) && i < classes->count; i++) {
        const struct cw_yaml key = cw_yaml_key(classes, i);
        const struct cw_yaml *item = &classes->items[i], *of = cw_yaml_get(l->in, item, "of", false);
        struct cw_list members = of ? class_of_classes(l, item, of) : class_of_raws(l, item);
        if (look_up(l, key.text))
            cw_yaml_fail(l->in, &key, "found the class '%s', expected a name that no domain has", key.text);
        if (ok(l))
            add_name(l, &key, key.text, members);
    }
}

/* ---- limits ----------------------------------------------------------------------------------------------------- */

/* Begins a limit with room for `count` members, for add_member to fill. */
static struct cw_limit *begin_limit(struct load *l, const struct cw_yaml *node, uint32_t max, size_t count)
{
    if (ok(l) && l->limit_count == l->limit_room) {
        struct cw_limit *grown = cw_yaml_array(l->in, 2 * (size_t)l->limit_room + 64, sizeof *grown);
        if (!grown)
            return NULL;
        if (l->limit_count)
            memcpy(grown, l->limits, l->limit_count * sizeof *grown);
        l->limits = grown;
        l->limit_room = 2 * l->limit_room + 64;
    }
    spend_members(l, node, count);
    uint32_t *members = cw_yaml_array(l->in, count, sizeof *members),
             *groups = cw_yaml_array(l->in, count, sizeof *groups);
    if (!ok(l))
        return NULL;
    l->limits[l->limit_count] =
        (struct cw_limit){.max = max, .pm_max = l->pm_max, .members = members, .groups = groups, .line = node->line};
    return &l->limits[l->limit_count++];
}

static void add_group(struct cw_limit *limit, const struct cw_limit_name *name, uint32_t group)
{
    uint32_t *members = (uint32_t *)limit->members, *groups = (uint32_t *)limit->groups;
    for (uint32_t k = 0; k < name->placements.count; k++, limit->count++) {
        members[limit->count] = name->placements.items[k];
        groups[limit->count] = group;
    }
}

/* Adds a name or a list of names as one group. */
static void add_names(struct load *l, struct cw_limit *limit, const struct cw_yaml *list, uint32_t group)
{
    if (!ok(l))
        return;
    if (list->kind == CW_YAML_SCALAR)
        add_group(limit, find_name(l, list), group);
    for (size_t i = 0; list->kind == CW_YAML_SEQUENCE && i < list->count; i++)
        add_group(limit, find_name(l, &list->items[i]), group);
}

/* Loads the groups of a limit. each: every placement is a group of its own. groups: one group for each name or list of
 * names. An entry may have both. */
static void load_groups(struct load *l, const struct cw_yaml *node, const struct cw_yaml *each,
                        const struct cw_yaml *except, const struct cw_yaml *list, uint32_t max)
{
    static const char classes[] = "names of classes";
    size_t size = each ? list_size(l, each, classes) : 0;
    if (ok(l) && list)
        cw_yaml_expect(l->in, list, CW_YAML_SEQUENCE, "groups");
    if (ok(l) && except)
        cw_yaml_expect(l->in, except, CW_YAML_SEQUENCE, "except");
    for (size_t i = 0; ok(l) && list && i < list->count; i++)
        size += list_size(l, &list->items[i], classes);
    l->mark++;
    for (size_t i = 0; ok(l) && except && i < except->count; i++) {
        const struct cw_limit_name *name = find_name(l, &except->items[i]);
        cw_yaml_spend(l->in, &except->items[i], name ? name->placements.count : 0);
        for (uint32_t k = 0; name && k < name->placements.count; k++)
            l->excluded[name->placements.items[k]] = l->mark;
    }
    struct cw_limit *limit = begin_limit(l, node, max, size);
    if (!limit)
        return;
    if (each)
        add_names(l, limit, each, 0);
    uint32_t *members = (uint32_t *)limit->members, *groups = (uint32_t *)limit->groups, kept = 0;
    for (uint32_t k = 0; k < limit->count; k++)
        if (l->excluded[members[k]] != l->mark) {
            l->excluded[members[k]] = l->mark; /* count repeated names once */
            members[kept] = members[k];
            groups[kept] = kept;
            kept++;
        }
    limit->count = kept;
    uint32_t group = kept; /* numbers have no gaps: an empty group is left out */
    for (size_t i = 0; list && i < list->count; i++) {
        uint32_t before = limit->count;
        add_names(l, limit, &list->items[i], group);
        group += limit->count > before;
    }
}

/* Loads sets: each set becomes a limit, with a group for each of its names. */
static void load_sets(struct load *l, const struct cw_yaml *list, uint32_t max)
{
    cw_yaml_expect(l->in, list, CW_YAML_SEQUENCE, "sets");
    for (size_t i = 0; ok(l) && i < list->count; i++) {
        if (cw_yaml_expect(l->in, &list->items[i], CW_YAML_SEQUENCE, "a set of classes"))
            load_groups(l, &list->items[i], NULL, NULL, &list->items[i], max);
    }
}

/* Looks up a name in a pair's list; '-' in front removes it. */
static const struct cw_limit_name *find_signed(struct load *l, const struct cw_yaml *node, bool *minus)
{
    struct cw_yaml bare = *node;
    *minus = node->kind == CW_YAML_SCALAR && node->text[0] == '-';
    bare.text += *minus;
    return find_name(l, &bare);
}

/* Loads one key of 'pairs' and its list. The key's placements are one group, all listed placements another. If the list
 * has the key itself, each of its placements is a group. */
static void load_pair(struct load *l, const struct cw_yaml *key, const struct cw_yaml *list, uint32_t max)
{
    const struct cw_limit_name *name = find_name(l, key);
    size_t size = name ? name->placements.count : 0;
    bool minus, with_itself = false;
    if (!ok(l) || !cw_yaml_expect(l->in, list, CW_YAML_SEQUENCE, "the classes that conflict"))
        return;
    uint32_t out = ++l->mark;
    for (size_t k = 0; ok(l) && k < list->count; k++) {
        const struct cw_limit_name *other = find_signed(l, &list->items[k], &minus);
        cw_yaml_spend(l->in, &list->items[k], other ? other->placements.count : 0);
        for (uint32_t i = 0; other && minus && i < other->placements.count; i++)
            l->excluded[other->placements.items[i]] = out;
        size += other && !minus ? other->placements.count : 0;
    }
    struct cw_limit *limit = begin_limit(l, key, max, size);
    if (!limit)
        return;
    add_group(limit, name, 0);
    uint32_t *members = (uint32_t *)limit->members, *groups = (uint32_t *)limit->groups, own = limit->count;
    for (uint32_t k = 0; k < own; k++)
        l->keyed[members[k]] = out;
    for (size_t k = 0; k < list->count; k++) {
        const struct cw_limit_name *other = find_signed(l, &list->items[k], &minus);
        for (uint32_t i = 0; !minus && i < other->placements.count; i++) {
            uint32_t p = other->placements.items[i];
            bool is_key = l->keyed[p] == out;
            if (l->excluded[p] == out)
                continue;
            with_itself |= is_key;
            l->excluded[p] = out; /* count repeated names once */
            if (is_key)
                continue;
            members[limit->count] = p;
            groups[limit->count++] = own;
        }
    }
    for (uint32_t k = 0; with_itself && k < own; k++)
        groups[k] = k;
}

/* Loads pairs: the conflicts of each key. */
static void load_pairs(struct load *l, const struct cw_yaml *node, const struct cw_yaml *pairs, uint32_t max)
{
    if (!cw_yaml_expect(l->in, pairs, CW_YAML_MAPPING, "pairs"))
        return;
    if (max != 1)
        cw_yaml_fail(l->in, node, "found 'pairs' with max %u, expected max 1", max);
    for (size_t i = 0; ok(l) && i < pairs->count; i++) {
        const struct cw_yaml key = cw_yaml_key(pairs, i);
        load_pair(l, &key, &pairs->items[i], max);
    }
}

static void load_limit(struct load *l, const struct cw_yaml *node)
{
    static const char *const keys[] = {"max", "pm", "each", "except", "groups", "sets", "pairs", NULL};
    cw_yaml_only(l->in, node, keys);
    uint32_t max = (uint32_t)cw_yaml_integer(l->in, cw_yaml_get(l->in, node, "max", true), UINT32_MAX - 1);
    const struct cw_yaml *pm = cw_yaml_get(l->in, node, "pm", false);
    l->pm_max = pm ? (uint32_t)cw_yaml_integer(l->in, pm, UINT32_MAX - 1) : max;
    const struct cw_yaml *each = cw_yaml_get(l->in, node, "each", false);
    const struct cw_yaml *except = cw_yaml_get(l->in, node, "except", false);
    const struct cw_yaml *groups = cw_yaml_get(l->in, node, "groups", false);
    const struct cw_yaml *sets = cw_yaml_get(l->in, node, "sets", false);
    const struct cw_yaml *pairs = cw_yaml_get(l->in, node, "pairs", false);
    int kinds = (each || groups) + (sets != NULL) + (pairs != NULL);
    if (ok(l) && kinds != 1)
        cw_yaml_fail(l->in, node, "found %s of 'each' or 'groups', 'sets', 'pairs' in a limit, expected one",
                     kinds ? "several" : "none");
    if (ok(l) && except && !each)
        cw_yaml_fail(l->in, except, "found 'except' without 'each'");
    if (!ok(l))
        return;
    if (sets)
        load_sets(l, sets, max);
    else if (pairs)
        load_pairs(l, node, pairs, max);
    else
        load_groups(l, node, each, except, groups, max);
}

/* Loads one section of limits; false if the file does not have it. */
static bool load_section(struct load *l, const struct cw_yaml *limits, const char *name)
{
    l->limits = NULL;
    l->limit_count = l->limit_room = 0;
    if (!limits || !cw_yaml_expect(l->in, limits, CW_YAML_SEQUENCE, name))
        return false;
    for (size_t i = 0; ok(l) && i < limits->count; i++)
        load_limit(l, &limits->items[i]);
    return ok(l);
}

void cw_limits_load(struct cw_chip *chip, struct cw_limit_names *names, struct cw_yaml_reader *in,
                    const struct cw_yaml *classes, const struct cw_yaml *limits, const struct cw_yaml *pm_limits)
{
    struct load l = {.in = in, .chip = chip};
    size_t count = chip->domain_count + (classes ? classes->count : 0);
    if (classes && !cw_yaml_expect(in, classes, CW_YAML_MAPPING, "classes"))
        return;
    l.slot_count = (uint32_t)(2 * count + 1);
    l.slots = cw_yaml_array(in, l.slot_count, sizeof *l.slots);
    l.names = cw_yaml_array(in, count, sizeof *l.names);
    l.excluded = cw_yaml_array(in, chip->placement_count, sizeof *l.excluded);
    l.keyed = cw_yaml_array(in, chip->placement_count, sizeof *l.keyed);
    name_domains(&l);
    if (classes)
        name_classes(&l, classes);
    if (names)
        *names = (struct cw_limit_names){l.name_count, l.names};
    if (load_section(&l, limits, "limits")) {
        chip->limits = chip->pm_limits = l.limits;
        chip->limit_count = chip->pm_limit_count = l.limit_count;
    }
    if (load_section(&l, pm_limits, "pm_limits")) {
        chip->pm_limits = l.limits;
        chip->pm_limit_count = l.limit_count;
    }
}
