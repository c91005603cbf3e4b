#define _GNU_SOURCE
#include "import/learn.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    GROWN_EACH = 60, /* sets grown from a domain, and from all domains, */
    GROWN_PAIR = 3,  /* and from two domains */
    LARGEST = 120,   /* placements of such a set */
    MISSES = 60,     /* consecutive placements that do not fit, before a set counts as full */
    LEVELS = 64,     /* group counts of a limit that are told apart */
    DRAWN_EACH = 300,
    SMALL_SETS = 20,
    SETTLED = 60, /* consecutive sets that fit, to finish */
    ROUNDS = 3,   /* rounds of check sets */
    CROWDS = 600,
    SMALL_LIMIT = 16, /* members of a limit whose narrowing loses little */
    CROWDS_OF_DOMAIN = 160,
    RARE_SETS = 200,    /* sets that decide whether unfit sets are rare: */
    RARE = 8,           /* at most one in this many */
    SMALL_DOMAIN = 100, /* placements of a domain that is searched for crowds */
    FRESH_FIRST = 300000,
    FRESH_ROUNDS = 2,
};

#define CROWD_NAME "_pm" /* in names of crowd classes, before a number */

/* Place of a placement in the limits. */
struct membership {
    uint32_t limit, group; /* groups of all limits have one numbering */
};

struct relaxing {
    struct cw_ask ask;
    struct cw_chip chip; /* its limits have PM sampling's room */
    struct cw_limit *limits;
    uint32_t count;  /* number of range profiling's limits; crowds come behind them */
    uint32_t *base;  /* by limit: maximum for range profiling */
    bool *fixed;     /* by limit: shares an entry, and its `pm`, with other limits */
    uint32_t *first; /* by placement: start of its run of `items` */
    struct membership *items;
    uint32_t *group_set, *set_of_group; /* by group: number of the last set that uses it */
    uint32_t *used, *used_set;          /* by limit: groups used by the set `used_set` */
    uint32_t set;                       /* number of the current set */
    uint32_t (*seen)[LEVELS];           /* by limit: full sets that used at least this many groups */
    struct crowd {                      /* a limit of PM sampling alone: a pass takes at most `most` of its members */
        uint32_t most;
        struct cw_list members;
    } crowds[CROWDS];
    uint32_t crowd_count, *crowds_of; /* crowds of a domain */
    uint8_t (*rare)[LEVELS];          /* by domain and size of set: 1 yes, 2 no */
    bool *in_crowd;                   /* [crowd * placements + placement] */
    bool *usable;
    void (*progress)(const char *what);
};

/* ---- uses of a set ---------------------------------------------------------------------------------------------- */

static void index_limits(struct relaxing *r)
{
    uint32_t groups = 0, n = r->chip.limit_count;
    uint32_t *base = cw_ask_array(&r->ask, n, sizeof *base);
    r->first = cw_ask_array(&r->ask, (size_t)r->chip.placement_count + 2, sizeof *r->first);
    for (uint32_t l = 0; cw_ask_ok(&r->ask) && l < n; l++) {
        uint32_t most = 0;
        base[l] = groups;
        for (uint32_t k = 0; k < r->limits[l].count; k++) {
            r->first[r->limits[l].members[k] + 2]++;
            most = r->limits[l].groups[k] + 1 > most ? r->limits[l].groups[k] + 1 : most;
        }
        groups += most;
    }
    for (uint32_t p = 2; cw_ask_ok(&r->ask) && p < r->chip.placement_count + 2; p++)
        r->first[p] += r->first[p - 1];
    r->items = cw_ask_array(&r->ask, cw_ask_ok(&r->ask) ? r->first[r->chip.placement_count + 1] : 0, sizeof *r->items);
    r->group_set = cw_ask_array(&r->ask, groups, sizeof *r->group_set);
    r->used = cw_ask_array(&r->ask, n, sizeof *r->used);
    r->used_set = cw_ask_array(&r->ask, n, sizeof *r->used_set);
    r->seen = cw_ask_array(&r->ask, n, sizeof *r->seen);
    for (uint32_t l = 0; cw_ask_ok(&r->ask) && l < n; l++)
        for (uint32_t k = 0; k < r->limits[l].count; k++)
            r->items[r->first[r->limits[l].members[k] + 1]++] =
                (struct membership){l, base[l] + r->limits[l].groups[k]};
}

static uint32_t used_of(const struct relaxing *r, uint32_t limit)
{
    return r->used_set[limit] == r->set ? r->used[limit] : 0;
}

static void take(struct relaxing *r, uint32_t placement)
{
    for (uint32_t i = r->first[placement]; i < r->first[placement + 1]; i++) {
        const struct membership *m = &r->items[i];
        if (r->group_set[m->group] == r->set)
            continue;
        r->group_set[m->group] = r->set;
        r->used[m->limit] = used_of(r, m->limit) + 1;
        r->used_set[m->limit] = r->set;
    }
}

/* Starts a new set with these placements. */
static void take_all(struct relaxing *r, const struct cw_ask_set *set)
{
    r->set++;
    for (uint32_t i = 0; i < set->count; i++)
        take(r, set->items[i]);
}

static uint32_t of_crowd(const struct relaxing *r, uint32_t crowd, const struct cw_ask_set *set)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < set->count; i++)
        n += r->in_crowd[(size_t)crowd * r->chip.placement_count + set->items[i]];
    return n;
}

/* Whether the current limits let a placement join. A second group of one limit counts as if it were new. */
static bool allows(const struct relaxing *r, const struct cw_ask_set *set, uint32_t placement)
{
    for (uint32_t c = 0; c < r->crowd_count; c++)
        if (r->in_crowd[(size_t)c * r->chip.placement_count + placement] && of_crowd(r, c, set) >= r->crowds[c].most)
            return false;
    for (uint32_t i = r->first[placement]; i < r->first[placement + 1]; i++) {
        const struct membership *m = &r->items[i];
        if (r->group_set[m->group] != r->set && used_of(r, m->limit) >= r->limits[m->limit].max)
            return false;
    }
    return true;
}

/* ---- pools ------------------------------------------------------------------------------------------------------ */

struct pool {
    uint32_t count, *items, grown;
};

static struct pool pool_of(struct relaxing *r, const bool *domains)
{
    struct pool pool = {0, cw_ask_array(&r->ask, r->chip.placement_count, sizeof *pool.items)};
    for (uint32_t p = 0; cw_ask_ok(&r->ask) && p < r->chip.placement_count; p++)
        if (domains[r->chip.placements[p].domain] && r->usable[p])
            pool.items[pool.count++] = p;
    return pool;
}

/* Whether a domain shares a pass with nothing else: it is one group of a limit that includes nearly everything. */
static bool is_alone(const struct relaxing *r, uint32_t domain)
{
    uint32_t own = 0;
    bool alone = false;
    for (uint32_t p = 0; p < r->chip.placement_count; p++)
        own += r->chip.placements[p].domain == domain;
    for (uint32_t l = 0; l < r->chip.limit_count && !alone; l++) {
        const struct cw_limit *limit = &r->limits[l];
        uint32_t group = limit->count ? limit->groups[0] : 0, inside = 0;
        for (uint32_t k = 0; k < limit->count && limit->groups[k] == group; k++)
            inside += r->chip.placements[limit->members[k]].domain == domain ? 1 : own + 1;
        alone = limit->max == 1 && inside == own && limit->count > r->chip.placement_count / 2;
    }
    return alone;
}

static bool share_a_limit(const struct relaxing *r, uint32_t a, uint32_t b)
{
    for (uint32_t l = 0; l < r->chip.limit_count; l++) {
        bool has_a = false, has_b = false;
        for (uint32_t k = 0; k < r->limits[l].count && !(has_a && has_b); k++) {
            uint32_t d = r->chip.placements[r->limits[l].members[k]].domain;
            has_a |= d == a;
            has_b |= d == b;
        }
        if (has_a && has_b)
            return true;
    }
    return false;
}

/* Makes pools of each domain, of each two that share limits, and of all. */
static uint32_t make_pools(struct relaxing *r, struct pool **pools)
{
    uint32_t n = r->chip.domain_count, count = 0;
    bool *marked = cw_ask_array(&r->ask, n, sizeof *marked), *apart = cw_ask_array(&r->ask, n, sizeof *apart);
    *pools = cw_ask_array(&r->ask, (size_t)n * (n + 1) / 2 + 1, sizeof **pools);
    for (uint32_t d = 0; cw_ask_ok(&r->ask) && d < n; d++)
        apart[d] = is_alone(r, d);
    for (uint32_t a = 0; cw_ask_ok(&r->ask) && a < n; a++)
        for (uint32_t b = 0; b <= a; b++) {
            if (apart[a] || apart[b] || (a != b && !share_a_limit(r, a, b)))
                continue;
            memset(marked, 0, n * sizeof *marked);
            marked[a] = marked[b] = true;
            (*pools)[count] = pool_of(r, marked);
            (*pools)[count++].grown = a == b ? GROWN_EACH : GROWN_PAIR;
        }
    for (uint32_t d = 0; cw_ask_ok(&r->ask) && d < n; d++)
        marked[d] = !apart[d];
    if (cw_ask_ok(&r->ask))
        (*pools)[count] = pool_of(r, marked);
    if (cw_ask_ok(&r->ask))
        (*pools)[count++].grown = GROWN_EACH;
    return cw_ask_ok(&r->ask) ? count : 0;
}

/* ---- fitting sets ----------------------------------------------------------------------------------------------- */

/* Grows sets that the library accepts as large as possible, regardless of our limits. */
static void grow(struct relaxing *r, const struct pool *pool)
{
    for (uint32_t t = 0; t < pool->grown && pool->count && cw_ask_ok(&r->ask); t++) {
        struct cw_ask_set set = {0};
        uint32_t misses = 0;
        while (set.count < LARGEST && misses < MISSES && cw_ask_ok(&r->ask)) {
            uint32_t p = pool->items[cw_ask_random(&r->ask, pool->count)];
            set.items[set.count] = p;
            if (!cw_ask_has_raw(&r->ask, &set, p, CW_NONE) && cw_ask_fits(&r->ask, set.items, set.count + 1)) {
                set.count++;
                misses = 0;
            } else {
                misses++;
            }
        }
        take_all(r, &set);
        for (uint32_t l = 0; l < r->chip.limit_count; l++)
            for (uint32_t k = r->base[l] + 1; k <= used_of(r, l) && k < LEVELS; k++)
                r->seen[l][k]++;
    }
}

/* Raises each limit to the most groups used by a fitting set. */
static void open_limits(struct relaxing *r)
{
    for (uint32_t l = 0; cw_ask_ok(&r->ask) && l < r->chip.limit_count; l++)
        for (uint32_t k = r->base[l] + 1; k < LEVELS && !r->fixed[l] && r->base[l] > 1; k++)
            if (r->seen[l][k])
                r->limits[l].max = k;
}

/* ---- unfit sets ------------------------------------------------------------------------------------------------- */

/* Chooses a limit to narrow for a smallest unfit set: among the limits of which the set uses more groups than range
 * profiling allows, the one with fewest members, because narrowing it forbids least. CW_NONE if there is none. */
static uint32_t find_narrowest(struct relaxing *r, const struct cw_ask_set *set)
{
    uint32_t worst = CW_NONE;
    take_all(r, set);
    for (uint32_t l = 0; l < r->count; l++) {
        uint32_t used = used_of(r, l);
        if (used <= r->base[l] || used >= LEVELS)
            continue;
        if (worst == CW_NONE || r->limits[l].count < r->limits[worst].count)
            worst = l;
    }
    return worst;
}

/* Draws a set of a pool that the limits allow, as large as possible up to `most`. */
static struct cw_ask_set draw(struct relaxing *r, const struct pool *pool, uint32_t most)
{
    struct cw_ask_set set = {0};
    r->set++;
    for (uint32_t misses = 0; set.count < most && misses < MISSES;) {
        uint32_t p = pool->items[cw_ask_random(&r->ask, pool->count)];
        if (!allows(r, &set, p) || cw_ask_has_raw(&r->ask, &set, p, CW_NONE)) {
            misses++;
            continue;
        }
        take(r, p);
        set.items[set.count++] = p;
        misses = 0;
    }
    return set;
}

/* Whether a placement can replace each member of a set, as far as our limits allow, and the set stays unfit. */
static bool stands_for_all(struct relaxing *r, const struct cw_ask_set *set, uint32_t placement)
{
    uint32_t asked = 0;
    for (uint32_t i = 0; i < set->count; i++) {
        struct cw_ask_set other = {0};
        r->set++;
        bool allowed = true;
        for (uint32_t k = 0; k < set->count && allowed; k++) {
            uint32_t p = k == i ? placement : set->items[k];
            allowed = allows(r, &other, p) && !cw_ask_has_raw(&r->ask, &other, p, CW_NONE);
            take(r, p);
            other.items[other.count++] = p;
        }
        if (allowed && cw_ask_fits(&r->ask, other.items, other.count))
            return false;
        asked += allowed;
    }
    return 2 * asked > set->count;
}

/* The domain of a set, if it has few counters; else CW_NONE. */
static uint32_t small_domain(const struct relaxing *r, const struct cw_ask_set *set)
{
    uint32_t domain = r->chip.placements[set->items[0]].domain, placements = 0;
    for (uint32_t i = 1; i < set->count; i++)
        if (r->chip.placements[set->items[i]].domain != domain)
            return CW_NONE;
    for (uint32_t p = 0; p < r->chip.placement_count; p++)
        placements += r->chip.placements[p].domain == domain;
    return placements <= SMALL_DOMAIN ? domain : CW_NONE;
}

/* Adds a crowd for a smallest unfit set: all placements that can replace each of its members. A pass takes one less
 * than the set has. */
static bool add_crowd(struct relaxing *r, const struct cw_ask_set *set, uint32_t domain)
{
    uint32_t n = 0, *members = cw_ask_array(&r->ask, r->chip.placement_count, sizeof *members);
    uint32_t *groups = cw_ask_array(&r->ask, r->chip.placement_count, sizeof *groups);
    bool *inside = r->in_crowd + (size_t)r->crowd_count * r->chip.placement_count;
    for (uint32_t p = 0; p < r->chip.placement_count && cw_ask_ok(&r->ask); p++) {
        bool own = false;
        if (r->chip.placements[p].domain != domain || !r->usable[p])
            continue;
        for (uint32_t k = 0; k < set->count; k++)
            own |= set->items[k] == p;
        if (own || stands_for_all(r, set, p)) {
            inside[p] = true;
            groups[n] = n;
            members[n++] = p;
        }
    }
    if (!cw_ask_ok(&r->ask))
        return false;
    r->crowds_of[domain]++;
    r->crowds[r->crowd_count++] = (struct crowd){set->count - 1, {n, members}};
    r->limits[r->chip.limit_count++] =
        (struct cw_limit){.max = set->count - 1, .count = n, .members = members, .groups = groups};
    return true;
}

/* Whether unfit sets of this size are rare in a domain that has all the crowds it may have: they are left for the
 * library to find. */
static bool is_rare(struct relaxing *r, uint32_t domain, uint32_t size)
{
    uint8_t *known = size < LEVELS ? &r->rare[domain][size] : NULL;
    bool *marked = cw_ask_array(&r->ask, r->chip.domain_count, sizeof *marked);
    uint32_t refused = 0, made = 0;
    if (!known || !marked)
        return false;
    marked[domain] = true;
    const struct pool pool = pool_of(r, marked);
    for (uint32_t t = 0; !*known && t < RARE_SETS && cw_ask_ok(&r->ask); t++) {
        struct cw_ask_set set = draw(r, &pool, size);
        made += set.count == size;
        refused += set.count == size && !cw_ask_fits(&r->ask, set.items, set.count);
    }
    if (!*known)
        *known = refused * RARE <= made ? 1 : 2;
    return *known == 1;
}

/* Forbids a smallest unfit set: by narrowing a small limit, else by a crowd, else by narrowing a large limit. */
static bool narrow(struct relaxing *r, const struct cw_ask_set *set)
{
    uint32_t worst = find_narrowest(r, set), domain = small_domain(r, set);
    if (worst == CW_NONE)
        return false;
    if (r->limits[worst].count > SMALL_LIMIT && set->count > 2 && domain != CW_NONE) {
        if (r->crowds_of[domain] < CROWDS_OF_DOMAIN && r->crowd_count < CROWDS)
            return add_crowd(r, set, domain);
        if (is_rare(r, domain, set->count))
            return false;
    }
    take_all(r, set);
    r->limits[worst].max = used_of(r, worst) - 1;
    return true;
}

/* Narrows limits until sets that they allow nearly always fit. */
static uint32_t try_sets(struct relaxing *r, const struct pool *pool, uint32_t most)
{
    uint32_t narrowed = 0, good = 0;
    for (uint32_t t = 0; t < DRAWN_EACH && good < SETTLED && pool->count > 1 && cw_ask_ok(&r->ask); t++) {
        struct cw_ask_set set = draw(r, pool, most), smallest;
        good++;
        while (cw_ask_take_smallest(&r->ask, &set, &smallest))
            if (narrow(r, &smallest)) {
                narrowed++;
                good = 0;
            }
    }
    return narrowed;
}

/* Tries small sets of a domain first: their results also apply to large ones. */
static uint32_t try_pool(struct relaxing *r, const struct pool *pool)
{
    uint32_t narrowed = 0;
    for (uint32_t most = 3; pool->count <= SMALL_DOMAIN && most < SMALL_SETS; most++)
        narrowed += try_sets(r, pool, most);
    return narrowed + try_sets(r, pool, LARGEST);
}

static void judge(struct cw_check_sets *sets, const struct cw_list *raws)
{
    cw_check_passes(sets, raws, 1, 0);
}

static void narrow_all(struct cw_check_sets *sets, const uint32_t *placements, uint32_t count)
{
    struct cw_ask_set set = {.count = count}, smallest;
    struct relaxing *r = sets->context;
    memcpy(set.items, placements, count * sizeof *placements);
    while (cw_ask_take_smallest(&r->ask, &set, &smallest))
        narrow(r, &smallest);
}

/* ---- lines ------------------------------------------------------------------------------------------------------ */

/* Finds the entry of each limit, entry_of[limit]. Entries begin with two spaces and a dash. */
static uint32_t find_entries(struct relaxing *r, const struct cw_limit_table *table, uint32_t *entry_of)
{
    const char *text = (const char *)table->limits.data, *end = text + table->limits.size;
    uint32_t entries = 0, line = 3, limit = 0; /* `classes:` and `limits:` have a line each */
    for (size_t i = 0; i < table->classes.size; i++)
        line += table->classes.data[i] == '\n';
    for (const char *p = text; p < end; line++) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        entries += end - p > 4 && memcmp(p, "  - ", 4) == 0;
        while (limit < r->chip.limit_count && r->limits[limit].line == line)
            entry_of[limit++] = entries - 1;
        p = newline ? newline + 1 : end;
    }
    if (limit < r->chip.limit_count)
        r->ask.status = cw_error_set(r->ask.err, CW_ERR_INPUT, "found a limit in line %u, expected limits in order",
                                     r->limits[limit].line);
    return entries;
}

static size_t skip(const char *p, size_t size, const char *what)
{
    return size >= strlen(what) && memcmp(p, what, strlen(what)) == 0 ? strlen(what) : 0;
}

/* Copies a line, with `room` behind `max` unless it is CW_NONE; drops an earlier `pm`. */
static void write_line(struct cw_writer *out, const char *p, size_t size, uint32_t room)
{
    size_t at = skip(p, size, "  - {max: ");
    if (at) {
        while (at < size && p[at] >= '0' && p[at] <= '9')
            at++;
        cw_write_bytes(out, p, at);
        size_t old = skip(p + at, size - at, ", pm: ");
        for (at += old; old && at < size && p[at] >= '0' && p[at] <= '9';)
            at++;
        if (room != CW_NONE)
            cw_write_format(out, ", pm: %" PRIu32, room);
    }
    cw_write_bytes(out, p + at, size - at);
}

/* Writes a class and a limit for each crowd; the limit has no effect on range profiling, which may take all of it. */
static void write_crowds(struct relaxing *r, struct cw_limit_table *table)
{
    struct cw_limits_text classes = {&table->classes, 0};
    for (uint32_t i = 0; i < r->crowd_count; i++) {
        const struct crowd *c = &r->crowds[i];
        const char *domain = r->chip.domains[r->chip.placements[c->members.items[0]].domain].name;
        char name[80];
        snprintf(name, sizeof name, "%.60s" CROWD_NAME "%" PRIu32,
                 strncmp(domain, "gpu_", 4) == 0 ? domain + 4 : domain, i + 1);
        cw_limits_put_class(&classes, &r->chip, name, &c->members);
        cw_write_format(&table->limits, "  - {max: %" PRIu32 ", pm: %" PRIu32 ", each: [%s]}\n", c->members.count,
                        c->most, name);
    }
}

static void write_lines(struct relaxing *r, struct cw_limit_table *table, const uint32_t *room)
{
    struct cw_writer lines;
    const char *p = (const char *)table->limits.data, *end = p + table->limits.size;
    uint32_t entry = CW_NONE;
    cw_writer_init(&lines);
    while (cw_ask_ok(&r->ask) && p < end) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        size_t size = (size_t)((newline ? newline + 1 : end) - p);
        entry += skip(p, size, "  - ") != 0;
        write_line(&lines, p, size, skip(p, size, "  - ") ? room[entry] : CW_NONE);
        p += size;
    }
    cw_writer_free(&table->limits);
    table->limits = lines;
}

static bool line_has(const char *p, size_t size, const char *what)
{
    return memmem(p, size, what, strlen(what)) != NULL;
}

/* Copies lines without crowds. The class of a crowd is a single line, with the mark before a colon. */
static void strip(struct cw_writer *section)
{
    struct cw_writer lines;
    const char *p = (const char *)section->data, *end = p + section->size;
    bool crowd = false;
    cw_writer_init(&lines);
    while (p < end) {
        const char *newline = memchr(p, '\n', (size_t)(end - p)), *colon = NULL;
        size_t size = (size_t)((newline ? newline + 1 : end) - p);
        bool entry = size > 2 && p[2] != ' ';
        if (entry && p[2] == '-')
            crowd = line_has(p, size, CROWD_NAME) && line_has(p, size, ", pm: ");
        else if (entry)
            crowd = (colon = memchr(p, ':', size)) && line_has(p, (size_t)(colon - p), CROWD_NAME);
        if (!crowd)
            write_line(&lines, p, size, CW_NONE);
        p += size;
    }
    cw_writer_free(section);
    *section = lines;
}

void cw_relax_strip(struct cw_limit_table *table)
{
    strip(&table->classes);
    strip(&table->limits);
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

static void tell(const struct relaxing *r, const char *what, uint32_t n)
{
    char text[200];
    if (!r->progress)
        return;
    snprintf(text, sizeof text, "%s: %" PRIu32 " (%" PRIu64 " questions)", what, n, r->ask.questions);
    r->progress(text);
}

static void prepare(struct relaxing *r, struct cw_limit_table *table, struct cw_writer *text, uint32_t **entry_of,
                    uint32_t *entries)
{
    if (cw_ask_ok(&r->ask))
        r->ask.status = cw_limit_table_load(table, "limits", &r->chip, NULL, text, r->ask.arena, r->ask.err);
    uint32_t n = r->count = cw_ask_ok(&r->ask) ? r->chip.limit_count : 0;
    r->limits = cw_ask_array(&r->ask, (size_t)n + CROWDS, sizeof *r->limits);
    r->base = cw_ask_array(&r->ask, n, sizeof *r->base);
    r->fixed = cw_ask_array(&r->ask, n, sizeof *r->fixed);
    r->usable = cw_ask_array(&r->ask, r->chip.placement_count, sizeof *r->usable);
    r->crowds_of = cw_ask_array(&r->ask, r->chip.domain_count, sizeof *r->crowds_of);
    r->rare = cw_ask_array(&r->ask, r->chip.domain_count, sizeof *r->rare);
    r->in_crowd = cw_ask_array(&r->ask, (size_t)CROWDS * r->chip.placement_count, sizeof *r->in_crowd);
    *entry_of = cw_ask_array(&r->ask, n, sizeof **entry_of);
    if (!cw_ask_ok(&r->ask))
        return;
    memcpy(r->limits, r->chip.limits, n * sizeof *r->limits);
    r->chip.limits = r->limits;
    *entries = find_entries(r, table, *entry_of);
    for (uint32_t l = 0; cw_ask_ok(&r->ask) && l < n; l++) {
        r->base[l] = r->limits[l].max;
        r->fixed[l] =
            (l && (*entry_of)[l - 1] == (*entry_of)[l]) || (l + 1 < n && (*entry_of)[l + 1] == (*entry_of)[l]);
    }
    for (uint32_t p = 0; cw_ask_ok(&r->ask) && p < r->chip.placement_count; p++)
        r->usable[p] = cw_ask_fits(&r->ask, &p, 1);
    index_limits(r);
}

static void learn(struct relaxing *r, struct cw_learn_report *report)
{
    struct pool *pools;
    uint32_t count = make_pools(r, &pools), narrowed = 0;
    for (uint32_t i = 0; i < count; i++)
        grow(r, &pools[i]);
    open_limits(r);
    tell(r, "pools", count);
    for (uint32_t i = 0; i < count; i++)
        narrowed += try_pool(r, &pools[i]);
    tell(r, "narrowed", narrowed);
    tell(r, "crowds", r->crowd_count);
    struct cw_check_sets sets = {.ask = &r->ask,
                                 .usable = r->usable,
                                 .most = CW_ASK_MOST - 1,
                                 .judge = judge,
                                 .refused = narrow_all,
                                 .context = r};
    for (uint32_t round = 0; round < ROUNDS && cw_ask_ok(&r->ask); round++) {
        tell(r, "refused", cw_check_round(&sets, round).refused);
    }
    for (uint32_t i = 0; i < count; i++)
        narrowed += try_sets(r, &pools[i], LARGEST);
    cw_check_fresh(&sets, FRESH_FIRST, FRESH_ROUNDS);
    report->random = sets.random;
    report->natural = sets.natural;
}

enum cw_status cw_relax(struct cw_facts *facts, const struct cw_nvperf *library, struct cw_limit_table *table,
                        struct cw_learn_report *report, void (*progress)(const char *what), struct cw_error *err)
{
    struct cw_arena *arena = cw_arena_create();
    struct relaxing *r = arena ? cw_arena_alloc(arena, 1, sizeof *r) : NULL;
    struct cw_writer text;
    uint32_t *entry_of = NULL, entries = 0;
    *report = (struct cw_learn_report){0};
    cw_writer_init(&text);
    if (!r) {
        cw_arena_destroy(arena);
        return cw_error_nomem(err);
    }
    *r = (struct relaxing){.ask = {.chip = &r->chip, .arena = arena, .err = err, .random = CW_ASK_SEED},
                           .chip = facts->chip,
                           .progress = progress};
    r->ask.status = cw_nvperf_scheduler_create(&r->ask.scheduler, library, r->chip.name, CW_NVPERF_PM_SAMPLING, err);
    cw_relax_strip(table);
    prepare(r, table, &text, &entry_of, &entries);
    if (cw_ask_ok(&r->ask))
        learn(r, report);
    uint32_t *room = cw_ask_nones(&r->ask, entries);
    for (uint32_t l = 0; cw_ask_ok(&r->ask) && l < r->count; l++)
        if (r->limits[l].max > r->base[l]) {
            room[entry_of[l]] = r->limits[l].max;
            report->relaxed++;
        }
    if (cw_ask_ok(&r->ask))
        write_lines(r, table, room);
    if (cw_ask_ok(&r->ask))
        write_crowds(r, table);
    report->limits = r->count;
    report->questions = r->ask.questions;
    cw_nvperf_scheduler_destroy(r->ask.scheduler);
    cw_writer_free(&text);
    enum cw_status status = r->ask.status;
    cw_arena_destroy(arena);
    return status == CW_OK && table->limits.status != CW_OK ? cw_error_nomem(err) : status;
}
