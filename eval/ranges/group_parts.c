#include "eval/ranges/group_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_number(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static bool has(uint8_t form)
{
    return form > CW_FORM_UNAVAILABLE;
}

uint8_t cw_form_graver(uint8_t a, uint8_t b)
{
    static const uint8_t gravity[CW_FORM__ALL] = {[CW_FORM_UNAVAILABLE] = 1,
                                                  [CW_FORM_ROLLUPS] = 2,
                                                  [CW_FORM_MULTIPLEXED] = 3,
                                                  [CW_FORM_OVERFLOW] = 4,
                                                  [CW_FORM_INCOMPLETE] = 5};
    b = b == CW_FORM_ZERO || b == CW_FORM_ONE || b == CW_FORM_INSTANCES ? CW_FORM_ROLLUPS : b;
    return gravity[b] > gravity[a] ? b : a;
}

/* ---- parts ------------------------------------------------------------------------------------------------------ */

static size_t mask_size(const struct cw_group_parts *p)
{
    return p->columns / 8 + 1;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

static uint64_t hash_part(const struct cw_group_parts *p, const struct cw_group_part *part)
{
    uint64_t hash = mix(mix(0, part->group), part->kind);
    for (size_t i = 0; part->mask && i < mask_size(p); i++)
        hash = mix(hash, part->mask[i] + 1U);
    return hash;
}

static bool is_part(const void *parts, uint32_t item, const void *wanted)
{
    const struct cw_group_parts *p = parts;
    const struct cw_group_part *a = &p->items[item], *b = wanted;
    return a->hash == b->hash && a->group == b->group && a->kind == b->kind && !a->mask == !b->mask &&
           (!a->mask || memcmp(a->mask, b->mask, mask_size(p)) == 0);
}

static bool add_part(struct cw_group_parts *p, struct cw_group_part part)
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
static struct cw_group_cell *find_cells(struct cw_group_parts *p, struct cw_group_part wanted, bool cold)
{
    wanted.hash = hash_part(p, &wanted);
    const uint32_t item = cw_hash_table_add(&p->table, wanted.hash, is_part, p, &wanted);
    if (item == CW_NO_ITEM || (item == p->count && !add_part(p, wanted)))
        return NULL;
    struct cw_group_part *part = &p->items[item];
    struct cw_group_cell **cells = cold ? &part->cold : &part->cells;
    if (!*cells)
        *cells = cw_arena_alloc(p->arena, p->columns, sizeof **cells);
    part->count++;
    return *cells;
}

static bool note_columns(struct cw_group_parts *p, const struct cw_counter_data *view, uint32_t range)
{
    if (!p->mask && !(p->mask = malloc(mask_size(p))))
        return false;
    memset(p->mask, 0, mask_size(p));
    for (uint32_t c = 0; c < p->columns; c++)
        if (has(view->forms[(size_t)c * view->range_count + range]))
            p->mask[c / 8] |= (uint8_t)(1U << c % 8);
    return true;
}

bool cw_group_parts_find(struct cw_group_parts *p, struct cw_group_cells *cells, uint32_t group, uint32_t kind,
                         const struct cw_counter_data *view, uint32_t range)
{
    const bool whole = kind == CW_WHOLE;
    struct cw_group_part wanted = {.group = group, .kind = kind};
    *cells = (struct cw_group_cells){0};
    if (whole && !note_columns(p, view, range))
        return false;
    cells->own = find_cells(p, wanted, !whole && cw_fold_is_cold(&view->ranges[range]));
    wanted.mask = p->mask;
    if (whole)
        cells->alike = find_cells(p, wanted, false);
    return cells->own && (cells->alike || !whole);
}

static void add(struct cw_group_cell *cell, uint8_t form, const struct cw_counter_data *view, size_t at)
{
    cell->form = cw_form_graver(cell->form, form);
    if (!has(form))
        return;
    cell->taken++;
    for (int r = 0; r < CW_ROLLUP_COUNT; r++)
        cell->sums[r] += view->rollups[r][at];
}

void cw_group_cells_add(const struct cw_group_cells *cells, uint32_t c, const struct cw_counter_data *view,
                        uint32_t range)
{
    const size_t at = (size_t)c * view->range_count + range;
    const uint8_t form = view->forms[at];
    if (form == CW_FORM_NOT_COLLECTED)
        return;
    add(&cells->own[c], form, view, at);
    if (cells->alike)
        add(&cells->alike[c], form, view, at);
}

/* ---- means ------------------------------------------------------------------------------------------------------ */

struct mean {
    double sums[CW_ROLLUP_COUNT], taken;
    uint8_t form;
};

/* Adds a part of a group's mean: its ranges that have the column stand for all of the part, which is of `whole`. */
static void add_to_mean(struct mean *mean, const struct cw_group_part *part, uint32_t column, uint32_t whole)
{
    const struct cw_group_cell *cell = &part->cells[column];
    const bool multiplexed = part->kind != CW_WHOLE;
    /* 1: as it is, to the last digit */
    const double weight = multiplexed && cell->taken && part->count < whole ? (double)part->count / cell->taken : 1;
    for (int r = 0; r < CW_ROLLUP_COUNT; r++)
        mean->sums[r] += cell->sums[r] * weight;
    mean->taken += cell->taken * weight;
    mean->form = cw_form_graver(mean->form, cell->form);
    if (cell->taken && multiplexed)
        mean->form = cw_form_graver(mean->form, CW_FORM_MULTIPLEXED);
}

static void put_mean(const struct mean *mean, struct cw_counter_data *to, size_t at)
{
    to->forms[at] = mean->form;
    for (int r = 0; r < CW_ROLLUP_COUNT; r++)
        to->rollups[r][at] = mean->taken > 0 ? mean->sums[r] / mean->taken : NAN;
}

static void mean_columns(const struct cw_group_parts *p, const struct cw_group *group, uint32_t k,
                         struct cw_counter_data *to)
{
    for (uint32_t c = 0; c < p->columns; c++) {
        struct mean mean = {.form = CW_FORM_NOT_COLLECTED};
        for (uint32_t i = 0; i < group->part_count; i++)
            if (!group->parts[i].mask)
                add_to_mean(&mean, &group->parts[i], c, group->count);
        put_mean(&mean, to, (size_t)c * to->range_count + k);
    }
}

/* Cold ranges count where no other has a column. */
static bool join_cold(struct cw_group_part *part, const struct cw_group_parts *p)
{
    if (!part->cells && !(part->cells = cw_arena_alloc(p->arena, p->columns, sizeof *part->cells)))
        return false;
    for (uint32_t c = 0; c < p->columns; c++) {
        struct cw_group_cell *cell = &part->cells[c];
        cell->warm = cell->taken;
        if (!part->cold || cell->warm)
            continue;
        const uint8_t form = cell->form;
        *cell = part->cold[c];
        cell->form = cw_form_graver(form, cell->form);
    }
    return true;
}

/* Whole ranges first: all of them, then by their columns as these came. */
static int in_order(const void *a, const void *b)
{
    const struct cw_group_part *x = a, *y = b;
    int order = by_number(x->group, y->group);
    order = order ? order : by_number(x->kind + 1, y->kind + 1); /* CW_WHOLE is 0 then */
    order = order ? order : (x->mask != NULL) - (y->mask != NULL);
    return order ? order : by_number(x->hash, y->hash);
}

bool cw_group_parts_finish(struct cw_group_parts *p, struct cw_group *items, struct cw_counter_data *to)
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

void cw_group_parts_free(struct cw_group_parts *p)
{
    free(p->items);
    cw_hash_table_free(&p->table);
    free(p->mask);
}

/* ---- the mean of some of a group's parts ------------------------------------------------------------------------ */

/* Whether it is one of those that a mean of some is made of: whole ranges go by their columns. */
static bool is_single(const struct cw_group_part *part)
{
    return part->kind != CW_WHOLE || part->mask;
}

/* Of columns that the group has, how many a part has. */
static uint32_t count_held(const struct cw_groups *groups, uint32_t k, struct cw_columns columns,
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

static void mean_shared(const struct cw_groups *groups, uint32_t k, struct cw_columns columns,
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

enum cw_status cw_groups_merge_shared(const struct cw_groups *groups, uint32_t k, struct cw_columns columns,
                                      struct cw_counter_data *to, bool *changed, uint32_t *occurrences)
{
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

/* ---- what is left out ------------------------------------------------------------------------------------------- */

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

/* ---- members ---------------------------------------------------------------------------------------------------- */

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
    size_t *next = m->first + 1; /* where those of a range go on; in the end, where those of the next one begin */
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
