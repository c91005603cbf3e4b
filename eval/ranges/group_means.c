/* The mean of each group's counters. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash_table.h"
#include "base/large.h"
#include "eval/ranges/fold.h"
#include "eval/ranges/group_means.h"
#include "image/range_view.h"

/* A group's ranges are walked over once. Each is added to the part of its kind; then the parts are put together in the
 * order of their kinds, whole ranges first. So a mean takes memory for each kind and column, and none for a range. */

/* A column of some ranges. */
struct cell {
    double sums[CW_ROLLUP_COUNT];
    uint32_t taken; /* ranges that have it */
    uint8_t form;   /* the gravest */
    bool warm;      /* cold ranges of the kind are left out, as others have the column */
};

struct cw_group_part {
    uint32_t group, kind; /* kind: CW_WHOLE for ranges that were not multiplexed */
    uint32_t count;       /* of ranges */
    /* A bit for each column: whole ranges with the same columns are a part. NULL: the part of all whole ranges of the
     * group, which its mean takes in as they come. */
    const uint8_t *mask;
    struct cell *cells, *cold; /* [column]; cold ones by themselves until the end, or NULL */
    uint64_t hash;
};

struct parts {
    uint32_t columns;
    struct cw_arena *arena;
    struct cw_group_part *items;
    size_t count, room;
    struct cw_hash_table table; /* of items */
    uint8_t *mask;              /* of the range at hand */
};

/* Cells that take in a range: for the group's mean, and for whole ranges also the part with the same columns, or NULL.
 */
struct cells {
    struct cell *own, *alike;
};

struct columns {
    const uint32_t *items;
    uint32_t count;
};

static int by_number(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static bool has(uint8_t form)
{
    return form > CW_FORM_UNAVAILABLE;
}

static uint8_t graver(uint8_t a, uint8_t b)
{
    static const uint8_t gravity[CW_FORM__ALL] = {[CW_FORM_UNAVAILABLE] = 1,
                                                  [CW_FORM_ROLLUPS] = 2,
                                                  [CW_FORM_MULTIPLEXED] = 3,
                                                  [CW_FORM_OVERFLOW] = 4,
                                                  [CW_FORM_INCOMPLETE] = 5};
    b = b == CW_FORM_ZERO || b == CW_FORM_ONE || b == CW_FORM_INSTANCES ? CW_FORM_ROLLUPS : b;
    return gravity[b] > gravity[a] ? b : a;
}

/* ---- parts ------------------------------------------------------------------------------------------------------- */

static size_t mask_size(const struct parts *p)
{
    return p->columns / 8 + 1;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

static uint64_t hash_part(const struct parts *p, const struct cw_group_part *part)
{
    uint64_t hash = mix(mix(0, part->group), part->kind);
    for (size_t i = 0; part->mask && i < mask_size(p); i++)
        hash = mix(hash, part->mask[i] + 1U);
    return hash;
}

static bool is_part(const void *parts, uint32_t item, const void *wanted)
{
    const struct parts *p = parts;
    const struct cw_group_part *a = &p->items[item], *b = wanted;
    return a->hash == b->hash && a->group == b->group && a->kind == b->kind && !a->mask == !b->mask &&
           (!a->mask || memcmp(a->mask, b->mask, mask_size(p)) == 0);
}

static bool add_part(struct parts *p, struct cw_group_part part)
{
    struct cw_group_part *items = cw_grown(p->items, &p->room, p->count, sizeof *items);
    if (!items)
        return false;
    p->items = items;
    if (part.mask) {
        uint8_t *mask = cw_arena_alloc(p->arena, mask_size(p), 1);
        if (!mask)
            return false;
        part.mask = memcpy(mask, part.mask, mask_size(p));
    }
    items[p->count++] = part;
    return true;
}

/* The cells of a part, with one more range; NULL when out of memory. */
static struct cell *find_cells(struct parts *p, struct cw_group_part wanted, bool cold)
{
    wanted.hash = hash_part(p, &wanted);
    const uint32_t item = cw_hash_table_add(&p->table, wanted.hash, is_part, p, &wanted);
    if (item == CW_NO_ITEM || (item == p->count && !add_part(p, wanted)))
        return NULL;
    struct cw_group_part *part = &p->items[item];
    struct cell **cells = cold ? &part->cold : &part->cells;
    if (!*cells)
        *cells = cw_arena_alloc(p->arena, p->columns, sizeof **cells);
    part->count++;
    return *cells;
}

static bool note_columns(struct parts *p, const struct cw_counter_data *view, uint32_t range)
{
    if (!p->mask && !(p->mask = malloc(mask_size(p))))
        return false;
    memset(p->mask, 0, mask_size(p));
    for (uint32_t c = 0; c < p->columns; c++)
        if (has(view->forms[(size_t)c * view->range_count + range]))
            p->mask[c / 8] |= (uint8_t)(1U << c % 8);
    return true;
}

static bool find_in_parts(struct parts *p, struct cells *cells, uint32_t group, uint32_t kind,
                          const struct cw_counter_data *view, uint32_t range)
{
    const bool whole = kind == CW_WHOLE;
    struct cw_group_part wanted = {.group = group, .kind = kind};
    *cells = (struct cells){0};
    if (whole && !note_columns(p, view, range))
        return false;
    cells->own = find_cells(p, wanted, !whole && cw_fold_is_cold(&view->ranges[range]));
    wanted.mask = p->mask;
    if (whole && cells->own)
        cells->alike = find_cells(p, wanted, false);
    return cells->own && (cells->alike || !whole);
}

static void add_cell(struct cell *cell, uint8_t form, const struct cw_counter_data *view, size_t at)
{
    cell->form = graver(cell->form, form);
    if (!has(form))
        return;
    cell->taken++;
    for (int r = 0; r < CW_ROLLUP_COUNT; r++)
        cell->sums[r] += view->rollups[r][at];
}

static void add_to_cells(const struct cells *cells, uint32_t c, const struct cw_counter_data *view, uint32_t range)
{
    const size_t at = (size_t)c * view->range_count + range;
    const uint8_t form = view->forms[at];
    if (form == CW_FORM_NOT_COLLECTED)
        return;
    add_cell(&cells->own[c], form, view, at);
    if (cells->alike)
        add_cell(&cells->alike[c], form, view, at);
}

/* ---- means ------------------------------------------------------------------------------------------------------- */

struct mean {
    double sums[CW_ROLLUP_COUNT], taken;
    uint8_t form;
};

/* Adds a part to a group's mean: its ranges with the column stand for all ranges of the part. `whole`: the group's
 * ranges. */
static void add_to_mean(struct mean *mean, const struct cw_group_part *part, uint32_t column, uint32_t whole)
{
    const struct cell *cell = &part->cells[column];
    const bool multiplexed = part->kind != CW_WHOLE;
    /* 1 keeps every digit */
    const double weight = multiplexed && cell->taken && part->count < whole ? (double)part->count / cell->taken : 1;
    for (int r = 0; r < CW_ROLLUP_COUNT; r++)
        mean->sums[r] += cell->sums[r] * weight;
    mean->taken += cell->taken * weight;
    mean->form = graver(mean->form, cell->form);
    if (cell->taken && multiplexed)
        mean->form = graver(mean->form, CW_FORM_MULTIPLEXED);
}

static void put_mean(const struct mean *mean, struct cw_counter_data *to, size_t at)
{
    to->forms[at] = mean->form;
    for (int r = 0; r < CW_ROLLUP_COUNT; r++)
        to->rollups[r][at] = mean->taken > 0 ? mean->sums[r] / mean->taken : NAN;
}

static void mean_columns(const struct parts *p, const struct cw_group *group, uint32_t k, struct cw_counter_data *to)
{
    for (uint32_t c = 0; c < p->columns; c++) {
        struct mean mean = {.form = CW_FORM_NOT_COLLECTED};
        for (uint32_t i = 0; i < group->part_count; i++)
            if (!group->parts[i].mask)
                add_to_mean(&mean, &group->parts[i], c, group->count);
        put_mean(&mean, to, (size_t)c * to->range_count + k);
    }
}

/* Cold ranges count in columns that no other range has. */
static bool join_cold(struct cw_group_part *part, const struct parts *p)
{
    if (!part->cells && !(part->cells = cw_arena_alloc(p->arena, p->columns, sizeof *part->cells)))
        return false;
    for (uint32_t c = 0; c < p->columns; c++) {
        struct cell *cell = &part->cells[c];
        cell->warm = cell->taken;
        if (!part->cold || cell->warm)
            continue;
        const uint8_t form = cell->form;
        *cell = part->cold[c];
        cell->form = graver(form, cell->form);
    }
    return true;
}

/* Whole ranges first: all of them, then by their columns, as parts came. */
static int in_order(const void *a, const void *b)
{
    const struct cw_group_part *x = a, *y = b;
    int order = by_number(x->group, y->group);
    order = order ? order : by_number(x->kind + 1, y->kind + 1); /* CW_WHOLE is 0 then */
    order = order ? order : (x->mask != NULL) - (y->mask != NULL);
    return order ? order : by_number(x->hash, y->hash);
}

static bool finish_parts(struct parts *p, struct cw_group *items, struct cw_counter_data *to)
{
    if (!p->count)
        return true;
    struct cw_group_part *list = cw_arena_alloc(p->arena, p->count, sizeof *list);
    if (!list)
        return false;
    memcpy(list, p->items, p->count * sizeof *list);
    qsort(list, p->count, sizeof *list, in_order);
    for (size_t i = 0, end; i < p->count; i = end) {
        struct cw_group *group = &items[list[i].group];
        for (end = i; end < p->count && list[end].group == list[i].group; end++)
            if (!join_cold(&list[end], p))
                return false;
        group->parts = list + i;
        group->part_count = (uint32_t)(end - i);
        mean_columns(p, group, list[i].group, to);
    }
    return true;
}

static void free_parts(struct parts *p)
{
    free(p->items);
    cw_hash_table_free(&p->table);
    free(p->mask);
}

/* ---- the mean of some of a group's parts ------------------------------------------------------------------------- */

/* Whether a mean of some parts may take it: whole ranges count by their columns. */
static bool is_single(const struct cw_group_part *part)
{
    return part->kind != CW_WHOLE || part->mask;
}

/* How many of the group's columns (*of) a part has. */
static uint32_t count_held(const struct cw_groups *groups, uint32_t k, struct columns columns,
                           const struct cw_group_part *part, uint32_t *of)
{
    uint32_t held = 0;
    *of = 0;
    for (uint32_t c = 0; c < columns.count; c++)
        if (has(groups->data.forms[(size_t)columns.items[c] * groups->count + k])) {
            ++*of;
            held += part->cells[columns.items[c]].taken > 0;
        }
    return held;
}

static void mean_shared(const struct cw_groups *groups, uint32_t k, struct columns columns,
                        const struct cw_group_part *const *parts, uint32_t count, struct cw_counter_data *to,
                        uint32_t *occurrences)
{
    uint32_t whole = 0;
    for (uint32_t i = 0; i < count; i++)
        whole += parts[i]->count;
    *occurrences = whole;
    for (uint32_t c = 0; c < columns.count; c++) {
        struct mean mean = {.form = CW_FORM_NOT_COLLECTED};
        uint32_t having = 0;
        for (uint32_t i = 0; i < count; i++) {
            having += parts[i]->cells[columns.items[c]].taken;
            add_to_mean(&mean, parts[i], columns.items[c], whole);
        }
        put_mean(&mean, to, (size_t)columns.items[c] * groups->count + k);
        *occurrences = having < *occurrences ? having : *occurrences;
    }
}

enum cw_status cw_groups_merge_shared(const struct cw_groups *groups, uint32_t k, const uint32_t *list,
                                      uint32_t list_count, struct cw_counter_data *to, bool *changed,
                                      uint32_t *occurrences)
{
    const struct columns columns = {list, list_count};
    const struct cw_group *group = &groups->items[k];
    uint32_t count = 0, of = 0;
    *changed = false;
    if (group->part_count < 2 || columns.count < 2)
        return CW_OK;
    const struct cw_group_part **parts = malloc(group->part_count * sizeof *parts);
    for (uint32_t i = 0; parts && i < group->part_count; i++) {
        const struct cw_group_part *part = &group->parts[i];
        if (!is_single(part))
            continue;
        const uint32_t held = count_held(groups, k, columns, part, &of);
        *changed = *changed || (held && held < of);
        if (held == of)
            parts[count++] = part;
    }
    if (*changed)
        mean_shared(groups, k, columns, parts, count, to, occurrences);
    const bool enough = parts;
    free(parts);
    return enough ? CW_OK : CW_ERR_NOMEM;
}

uint32_t cw_group_occurrences(const struct cw_group *group, uint32_t column)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < group->part_count; i++)
        count += group->parts[i].mask ? 0 : group->parts[i].cells[column].taken;
    return count;
}

/* ---- cold ranges ------------------------------------------------------------------------------------------------- */

static int by_kind(const void *key, const void *part)
{
    return by_number(*(const uint32_t *)key + 1U, ((const struct cw_group_part *)part)->kind + 1U);
}

bool cw_group_leaves_out(const struct cw_group *group, uint32_t kind, uint32_t column)
{
    if (!group->part_count || kind == CW_WHOLE)
        return false;
    const struct cw_group_part *part = bsearch(&kind, group->parts, group->part_count, sizeof *part, by_kind);
    return part && part->cells[column].warm;
}

/* ---- members ----------------------------------------------------------------------------------------------------- */

static bool note_once(struct cw_group_members *m, const struct cw_group *items, uint32_t groups, uint32_t ranges)
{
    for (uint32_t i = 0; i < ranges; i++)
        m->of[i] = CW_NONE;
    for (uint32_t k = 0; k < groups; k++)
        for (uint32_t i = 0; i < items[k].count; i++) {
            uint32_t *of = &m->of[items[k].ranges[i]];
            if (*of != CW_NONE)
                return false;
            *of = k;
        }
    return true;
}

/* A range may be in several groups, or several times in one. */
static bool list_all(struct cw_group_members *m, const struct cw_group *items, uint32_t groups, uint32_t ranges)
{
    m->first = calloc((size_t)ranges + 2, sizeof *m->first);
    if (!m->first)
        return false;
    size_t *next = m->first + 1; /* where a range's groups go on; in the end, where the next range's begin */
    for (uint32_t k = 0; k < groups; k++)
        for (uint32_t i = 0; i < items[k].count; i++)
            m->first[(size_t)items[k].ranges[i] + 2]++;
    for (size_t i = 1; i <= (size_t)ranges + 1; i++)
        m->first[i] += m->first[i - 1];
    m->of = malloc((m->first[(size_t)ranges + 1] + 1) * sizeof *m->of);
    for (uint32_t k = 0; m->of && k < groups; k++)
        for (uint32_t i = 0; i < items[k].count; i++)
            m->of[next[items[k].ranges[i]]++] = k;
    return m->of;
}

bool cw_group_members_make(struct cw_group_members *m, const struct cw_group *items, uint32_t groups, uint32_t ranges)
{
    *m = (struct cw_group_members){.of = malloc(((size_t)ranges + 1) * sizeof *m->of)};
    if (!m->of || note_once(m, items, groups, ranges))
        return m->of;
    free(m->of);
    m->of = NULL;
    return list_all(m, items, groups, ranges);
}

size_t cw_group_members_find(const struct cw_group_members *m, uint32_t range, const uint32_t **groups)
{
    *groups = m->of + (m->first ? m->first[range] : range);
    return m->first ? m->first[range + 1] - m->first[range] : **groups != CW_NONE;
}

void cw_group_members_free(struct cw_group_members *m)
{
    free(m->of);
    free(m->first);
    *m = (struct cw_group_members){0};
}

/* ---- durations --------------------------------------------------------------------------------------------------- */

static double shortest_pass(const struct cw_range *range, uint32_t pass_count)
{
    double least = NAN;
    for (uint32_t i = 0; i < pass_count; i++)
        if (range->durations[i] >= 0)
            least = fmin(least, range->durations[i]);
    return least;
}

double cw_range_duration(const struct cw_counter_data *data, uint32_t range, uint32_t time_column)
{
    const size_t at = (size_t)time_column * data->range_count + range;
    const bool counted = time_column != CW_NO_COLUMN && data->forms[at] > CW_FORM_UNAVAILABLE;
    if (counted && (data->forms[at] == CW_FORM_OVERFLOW || data->forms[at] == CW_FORM_INCOMPLETE))
        return NAN;
    return counted ? data->rollups[CW_SUM][at] : shortest_pass(&data->ranges[range], data->schema.pass_count);
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

/* The part of a range that a group's mean takes. A mean is of the ranges with the most columns: a range with more than
 * all before begins it anew. Multiplexed ranges have few columns each, so their mean is of all. */
enum part { NOTHING, MORE, ANEW };

/* A range of a view in a group. */
struct member {
    uint32_t range, group;
    enum part part;
    struct cells cells; /* instead of the group's sums, or NULL */
};

struct sums {
    const struct cw_group_walk *walk;
    struct cw_counter_data *to; /* sums until the end */
    uint32_t columns, passes, facts;
    struct cw_range *ranges;
    uint32_t *full;                 /* [group]: columns of the used ranges; 0 before the first */
    uint32_t *taken;                /* [column][group] */
    uint32_t *timed;                /* [group][pass] */
    double *durations, *first_fact; /* [group][pass], [fact][group] */
    bool *begun, *differs;          /* [group]; [fact][group] */
    struct parts parts;
    struct cw_group_members members_of;
    /* of a view: */
    uint32_t *has; /* [range]: how many columns */
    struct member *members;
    uint32_t member_count, room;
};

static bool allocate(struct sums *s, uint32_t room, struct cw_arena *arena)
{
    const size_t groups = s->walk->count;
    bool good = true;
    s->to->ranges = s->ranges = cw_arena_alloc(arena, groups, sizeof *s->ranges);
    s->durations = cw_arena_alloc(arena, groups * s->passes, sizeof *s->durations);
    s->to->forms = cw_arena_alloc(arena, groups * s->columns, sizeof *s->to->forms);
    s->to->facts = cw_arena_alloc(arena, groups * s->facts, sizeof *s->to->facts);
    for (int r = 0; r < CW_ROLLUP_COUNT; r++) {
        s->to->rollups[r] = cw_arena_alloc(arena, groups * s->columns, sizeof *s->to->rollups[r]);
        good = good && s->to->rollups[r];
    }
    s->full = calloc(groups + 1, sizeof *s->full);
    s->begun = calloc(groups + 1, sizeof *s->begun);
    s->taken = calloc(groups * s->columns + 1, sizeof *s->taken);
    s->timed = calloc(groups * s->passes + 1, sizeof *s->timed);
    s->first_fact = calloc(groups * s->facts + 1, sizeof *s->first_fact);
    s->differs = calloc(groups * s->facts + 1, sizeof *s->differs);
    s->has = calloc((size_t)room + 1, sizeof *s->has);
    s->members = calloc((size_t)room + 1, sizeof *s->members);
    s->room = room;
    return good && s->ranges && s->durations && s->to->forms && s->to->facts && s->full && s->begun && s->taken &&
           s->timed && s->first_fact && s->differs && s->has && s->members;
}

static void free_sums(struct sums *s)
{
    void *const lists[] = {s->full, s->begun, s->taken, s->timed, s->first_fact, s->differs, s->has, s->members};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        free(lists[i]);
    free_parts(&s->parts);
    cw_group_members_free(&s->members_of);
}

static void count_columns(struct sums *s, const struct cw_counter_data *view)
{
    memset(s->has, 0, view->range_count * sizeof *s->has);
    for (uint32_t c = 0; c < s->columns; c++) {
        const uint8_t *forms = view->forms + (size_t)c * view->range_count;
        for (uint32_t i = 0; i < view->range_count; i++)
            s->has[i] += forms[i] > CW_FORM_UNAVAILABLE;
    }
}

static void add_durations(struct sums *s, const struct cw_range *range, uint32_t k, bool anew)
{
    double *to = s->durations + (size_t)k * s->passes;
    uint32_t *timed = s->timed + (size_t)k * s->passes;
    struct cw_group *group = &s->walk->items[k];
    group->used = anew ? 1 : group->used + 1;
    for (uint32_t p = 0; p < s->passes; p++) {
        const bool counts = !group->multiplexed || !isnan(range->durations[p]);
        timed[p] = (anew ? 0 : timed[p]) + counts;
        to[p] = (anew ? 0 : to[p]) + (counts ? range->durations[p] : 0);
    }
    if (anew)
        s->ranges[k] = *range;
    s->ranges[k].durations = to;
}

static void add_facts(struct sums *s, const struct cw_counter_data *view, const struct member *m)
{
    for (uint32_t f = 0; f < s->facts; f++) {
        const double fact = view->facts[(size_t)f * view->range_count + m->range];
        const size_t at = (size_t)f * s->walk->count + m->group;
        s->first_fact[at] = s->begun[m->group] ? s->first_fact[at] : fact;
        s->differs[at] = s->differs[at] || fact != s->first_fact[at];
        if (m->part != NOTHING)
            s->to->facts[at] = (m->part == ANEW ? 0 : s->to->facts[at]) + fact;
    }
}

static void add_column(struct sums *s, const struct cw_counter_data *view, const struct member *m, uint32_t c)
{
    const size_t at = (size_t)c * s->walk->count + m->group, from = (size_t)c * view->range_count + m->range;
    const uint8_t form = view->forms[from];
    const bool anew = m->part == ANEW, has = form > CW_FORM_UNAVAILABLE;
    s->to->forms[at] = graver(anew ? (uint8_t)CW_FORM_NOT_COLLECTED : s->to->forms[at], form);
    s->taken[at] = (anew ? 0 : s->taken[at]) + has;
    for (int r = 0; r < CW_ROLLUP_COUNT; r++) {
        const double before = anew ? 0 : s->to->rollups[r][at];
        s->to->rollups[r][at] = has ? before + view->rollups[r][from] : before;
    }
}

/* Adds the noted members. */
static void add_columns(struct sums *s, const struct cw_counter_data *view)
{
    for (uint32_t c = 0; c < s->columns; c++)
        for (uint32_t i = 0; i < s->member_count; i++) {
            const struct member *m = &s->members[i];
            if (m->cells.own)
                add_to_cells(&m->cells, c, view, m->range);
            else if (m->part != NOTHING)
                add_column(s, view, m, c);
        }
    s->member_count = 0;
}

static bool add_member(struct sums *s, const struct cw_counter_data *view, uint32_t i, uint32_t k, uint32_t kind)
{
    struct member *m = &s->members[s->member_count++];
    const bool parts = s->walk->items[k].multiplexed && !s->walk->single;
    *m = (struct member){.range = i, .group = k, .part = NOTHING};
    if (!s->begun[k] || parts || s->has[i] >= s->full[k]) {
        m->part = s->begun[k] && (parts || s->has[i] == s->full[k]) ? MORE : ANEW;
        s->full[k] = s->has[i];
        add_durations(s, &view->ranges[i], k, m->part == ANEW);
    }
    add_facts(s, view, m);
    s->begun[k] = true;
    return !parts || find_in_parts(&s->parts, &m->cells, k, kind, view, i);
}

/* `first`: the view's first range in the capture. False when out of memory. */
static bool add_view(struct sums *s, const struct cw_counter_data *view, uint32_t first)
{
    bool good = true;
    count_columns(s, view);
    for (uint32_t i = 0; i < view->range_count; i++) {
        const uint32_t *groups, kind = cw_fold_kind(s->walk->folds, s->walk->data, first + i);
        const size_t count = cw_group_members_find(&s->members_of, first + i, &groups);
        for (size_t n = 0; n < count && good; n++) {
            good = add_member(s, view, i, groups[n], kind);
            if (s->member_count == s->room)
                add_columns(s, view);
        }
    }
    if (good)
        add_columns(s, view);
    return good;
}

void cw_group_merge_shapes(const struct cw_counter_data *data, const struct cw_group *group, struct cw_range *merged)
{
    bool alike = true;
    for (uint32_t i = 0; i < group->count && alike; i++) {
        const struct cw_range *range = cw_launch_of(data, group->ranges[i]);
        alike = memcmp(range->grid, merged->grid, sizeof range->grid) == 0 &&
                memcmp(range->block, merged->block, sizeof range->block) == 0;
        if (data->repeats)
            cw_large_step(data->repeats->large);
    }
    if (!alike) {
        memset(merged->grid, 0, sizeof merged->grid);
        memset(merged->block, 0, sizeof merged->block);
    }
}

/* Of groups without parts. */
static void divide_columns(struct sums *s)
{
    const uint32_t groups = s->walk->count;
    for (size_t at = 0; at < (size_t)s->columns * groups; at++) {
        for (int r = 0; r < CW_ROLLUP_COUNT; r++)
            s->to->rollups[r][at] = s->taken[at] ? s->to->rollups[r][at] / s->taken[at] : NAN;
        if (s->taken[at] && s->walk->items[at % groups].multiplexed && !s->walk->single)
            s->to->forms[at] = graver(s->to->forms[at], CW_FORM_MULTIPLEXED);
    }
}

static void divide(struct sums *s)
{
    const uint32_t groups = s->walk->count;
    divide_columns(s);
    for (size_t at = 0; at < (size_t)groups * s->passes; at++)
        s->durations[at] = s->timed[at] ? s->durations[at] / s->timed[at] : NAN;
    for (size_t at = 0; at < (size_t)s->facts * groups; at++)
        s->to->facts[at] = s->differs[at] ? s->to->facts[at] / s->walk->items[at % groups].used : s->first_fact[at];
    for (uint32_t k = 0; k < groups; k++) {
        if (s->begun[k])
            continue;
        s->ranges[k] = (struct cw_range){.name = s->walk->items[k].name, .kernel = ""};
        s->ranges[k].durations = s->durations + (size_t)k * s->passes;
        for (uint32_t f = 0; f < s->facts; f++)
            s->to->facts[(size_t)f * groups + k] = NAN;
    }
}

/* ---- the walk ---------------------------------------------------------------------------------------------------- */

/* Marks groups with multiplexed ranges. */
static void mark_multiplexed(const struct cw_group_walk *w)
{
    for (uint32_t k = 0; w->folds->kinds && k < w->count; k++)
        for (uint32_t i = 0; i < w->items[k].count && !w->items[k].multiplexed; i++)
            w->items[k].multiplexed = cw_fold_kind(w->folds, w->data, w->items[k].ranges[i]) != CW_WHOLE;
}

static enum cw_status begin_means(const struct cw_group_walk *w, struct sums *s, uint32_t room, struct cw_arena *arena,
                                  struct cw_error *err)
{
    *w->means = *w->data;
    w->means->directory = NULL;
    w->means->range_count = w->count;
    mark_multiplexed(w);
    return allocate(s, room, arena) && cw_group_members_make(&s->members_of, w->items, w->count, w->data->range_count)
               ? CW_OK
               : cw_error_nomem(err);
}

static enum cw_status walk_over(const struct cw_group_walk *w, struct sums *s, struct cw_range_view *view)
{
    enum cw_status status = CW_OK;
    for (uint32_t first = 0, n; status == CW_OK && first < w->data->range_count; first += n) {
        n = w->data->range_count - first < view->room ? w->data->range_count - first : view->room;
        status = cw_range_view_load(view, first, NULL, n);
        for (uint32_t i = 0; status == CW_OK && w->durations && i < n; i++)
            w->durations[first + i] = cw_range_duration(&view->data, i, w->time_column);
        if (status == CW_OK && w->means && !add_view(s, &view->data, first))
            status = cw_error_nomem(view->err);
    }
    return status;
}

enum cw_status cw_groups_walk(const struct cw_group_walk *w, struct cw_arena *arena, struct cw_error *err)
{
    const struct cw_schema *schema = &w->data->schema;
    struct sums s = {.walk = w,
                     .to = w->means,
                     .columns = cw_schema_columns(schema),
                     .passes = schema->pass_count,
                     .facts = schema->fact_count};
    struct cw_range_view view;
    s.parts = (struct parts){.columns = s.columns, .arena = arena};
    enum cw_status status = cw_range_view_init(&view, w->data, arena, err);
    view.alone = w->single;
    if (status == CW_OK && w->means)
        status = begin_means(w, &s, view.room, arena, err);
    if (status == CW_OK)
        status = walk_over(w, &s, &view);
    if (status == CW_OK && w->means) {
        for (uint32_t k = 0; k < w->count; k++)
            cw_group_merge_shapes(w->data, &w->items[k], &s.ranges[k]);
        divide(&s);
        if (!finish_parts(&s.parts, w->items, w->means))
            status = cw_error_nomem(err);
    }
    free_sums(&s);
    cw_range_view_free(&view);
    return status;
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

static void reorder(void *cells, size_t size, uint32_t count, const uint32_t *from, char *scratch)
{
    memcpy(scratch, cells, size * count);
    for (uint32_t k = 0; k < count; k++)
        memcpy((char *)cells + k * size, scratch + from[k] * size, size);
}

bool cw_groups_reorder(struct cw_counter_data *means, const uint32_t *from)
{
    const uint32_t count = means->range_count, columns = cw_schema_columns(&means->schema);
    char *scratch = malloc((size_t)count * sizeof *means->ranges + 1);
    if (!scratch)
        return false;
    reorder((struct cw_range *)means->ranges, sizeof *means->ranges, count, from, scratch);
    for (uint32_t c = 0; c < columns; c++) {
        reorder(means->forms + (size_t)c * count, sizeof *means->forms, count, from, scratch);
        for (int r = 0; r < CW_ROLLUP_COUNT; r++)
            reorder(means->rollups[r] + (size_t)c * count, sizeof(double), count, from, scratch);
    }
    for (uint32_t f = 0; f < means->schema.fact_count; f++)
        reorder(means->facts + (size_t)f * count, sizeof(double), count, from, scratch);
    free(scratch);
    return true;
}
