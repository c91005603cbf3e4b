#define _GNU_SOURCE
#include "import/derive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* MOST_RAWS: bits in a set of raw counters. MOST_TRIES bounds the search for one counter. */
enum { MOST_RAWS = 64, MOST_TERMS = 6, MOST_TRIES = 20000 };

struct derive {
    struct cw_facts *facts;
    const double *values;
    size_t ranges;
    uint32_t *order;
    bool *divides;   /* counters that others divide by */
    uint32_t *basis; /* nonzero recorded counters found so far, the preferred ones first */
    uint32_t basis_count;
    /* for the current counter: */
    uint32_t counter;
    uint32_t *parts; /* recorded counters of one unit whose raw counters are all among its own */
    uint64_t *masks; /* by part: the raw counters of the counter that it has */
    uint32_t part_count;
    uint32_t terms[MOST_TERMS];
    uint32_t tries;
};

static double at(const struct derive *d, size_t range, uint32_t counter, enum cw_rollup rollup)
{
    return d->values[(range * d->facts->chip.counter_count + counter) * CW_ROLLUP_COUNT + (size_t)rollup];
}

bool cw_derive_same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-12 * fabs(b);
}

double cw_derive_quotient(double a, double b)
{
    return a == 0 && b == 0 ? 0 : a / b;
}

/* ---- coefficients ----------------------------------------------------------------------------------------------- */

/* Solves for the coefficients by elimination over all ranges. Accepts only a unique solution. */
static bool solve(const struct derive *d, uint32_t count, double *coefficients)
{
    double scale[MOST_TERMS + 1] = {0};
    double(*rows)[MOST_TERMS + 1] = calloc(d->ranges, sizeof *rows);
    bool unique = rows != NULL;
    for (uint32_t k = 0; unique && k <= count; k++) {
        uint32_t counter = k < count ? d->terms[k] : d->counter;
        for (size_t i = 0; i < d->ranges; i++) {
            rows[i][k] = isfinite(at(d, i, counter, CW_SUM)) ? at(d, i, counter, CW_SUM) : 0;
            scale[k] = fmax(scale[k], fabs(rows[i][k]));
        }
        for (size_t i = 0; i < d->ranges && scale[k] > 0; i++)
            rows[i][k] /= scale[k];
    }
    for (uint32_t k = 0; unique && k < count; k++) {
        size_t pivot = k;
        for (size_t i = k; i < d->ranges; i++)
            if (fabs(rows[i][k]) > fabs(rows[pivot][k]))
                pivot = i;
        unique = k < d->ranges && fabs(rows[pivot][k]) > 1e-9;
        for (uint32_t j = 0; unique && j <= count; j++) {
            double swap = rows[k][j];
            rows[k][j] = rows[pivot][j];
            rows[pivot][j] = swap;
        }
        for (size_t i = 0; unique && i < d->ranges; i++) {
            double factor = i == k ? 0 : rows[i][k] / rows[k][k];
            for (uint32_t j = k; j <= count; j++)
                rows[i][j] -= factor * rows[k][j];
        }
    }
    for (uint32_t k = 0; unique && k < count; k++)
        coefficients[k] = rows[k][count] / rows[k][k] * scale[count] / scale[k];
    free(rows);
    return unique;
}

/* Rounds coefficients to multiples of a power of two: formulas count events and convert units. */
static bool make_nice(uint32_t count, double *coefficients)
{
    for (uint32_t k = 0; k < count; k++) {
        double exact = coefficients[k], nice = nearbyint(exact * 1024) / 1024;
        if (nice == 0 || fabs(nice) > 4096 || fabs(nice - exact) > 1e-6 * fabs(nice))
            return false;
        coefficients[k] = nice;
    }
    return true;
}

/* ---- proof ------------------------------------------------------------------------------------------------------ */

static double combine(const struct derive *d, size_t range, const struct cw_counter *c, enum cw_rollup rollup)
{
    double total = 0;
    for (uint32_t k = 0; k < c->terms.count; k++) {
        double part = c->coefficients[k] * at(d, range, c->terms.items[k], rollup);
        total = k ? total + part : part;
    }
    return rollup == CW_AVG ? total * c->per : total;
}

/* Number of ranges with a nonzero sum on which the formula gives NVIDIA's values; 0 if any range contradicts. */
static uint32_t prove(const struct derive *d, uint32_t counter)
{
    const struct cw_counter *c = &d->facts->counters[counter];
    uint32_t confirmed = 0;
    for (size_t i = 0; i < d->ranges; i++) {
        for (enum cw_rollup r = CW_SUM; r < CW_ROLLUP_COUNT; r++)
            if (cw_counter_follows(&d->facts->chip, counter, r) &&
                !cw_derive_same(combine(d, i, c, r), at(d, i, counter, r)))
                return 0;
        confirmed += at(d, i, counter, CW_SUM) != 0 && !isnan(at(d, i, counter, CW_SUM));
    }
    return confirmed;
}

/* Instances of the terms for each of the counter's own. */
static double instances_per(const struct derive *d, uint32_t count)
{
    const struct cw_counter *all = d->facts->counters;
    double own = all[d->counter].instances, theirs = all[d->terms[0]].instances;
    for (uint32_t k = 1; k < count; k++)
        if (all[d->terms[k]].instances != all[d->terms[0]].instances)
            return 0;
    return own > 0 ? theirs / own : 0;
}

/* Makes the chosen terms the counter's formula if they prove right. */
static bool adopt(struct derive *d, uint32_t count)
{
    struct cw_arena *arena = d->facts->arena;
    struct cw_counter *c = &d->facts->counters[d->counter];
    double coefficients[MOST_TERMS], per = instances_per(d, count);
    if (!(per > 0) || !solve(d, count, coefficients) || !make_nice(count, coefficients))
        return false;
    const struct cw_counter before = *c;
    c->terms = (struct cw_list){count, d->terms};
    c->coefficients = coefficients;
    c->per = per;
    c->confirmed = prove(d, d->counter);
    uint32_t *items = c->confirmed ? cw_arena_alloc(arena, count, sizeof *items) : NULL;
    double *kept = c->confirmed ? cw_arena_alloc(arena, count, sizeof *kept) : NULL;
    if (!items || !kept) {
        *c = before;
        return false;
    }
    memcpy(items, d->terms, count * sizeof *items);
    memcpy(kept, coefficients, count * sizeof *kept);
    c->terms.items = items;
    c->coefficients = kept;
    return true;
}

/* ---- terms ------------------------------------------------------------------------------------------------------ */

/* Bits of the counter's raw counters in `of`; 0 if `of` has any other raw counter. */
static uint64_t mask_of(const struct cw_list *own, const struct cw_list *of)
{
    uint64_t mask = 0;
    if (!of->count || !cw_list_within(of, own))
        return 0;
    for (uint32_t i = 0; i < own->count; i++)
        for (uint32_t k = 0; k < of->count; k++)
            mask |= own->items[i] == of->items[k] ? UINT64_C(1) << i : 0;
    return mask;
}

/* Device memory moves a different amount per clock cycle on each device of a chip, and even on instances of one device.
 * So dram_cycles are derived from dram_cycles alone, and nothing else is derived from them. */
static bool alike(const struct cw_counter *a, const struct cw_counter *b)
{
    return (strstr(a->dimension, "dram_cycles") != NULL) == (strstr(b->dimension, "dram_cycles") != NULL);
}

static void gather_parts(struct derive *d, uint32_t unit)
{
    const struct cw_counter *all = d->facts->counters;
    d->part_count = 0;
    for (uint32_t i = 0; i < d->basis_count; i++) {
        uint32_t other = d->basis[i];
        bool may = all[other].unit == unit && alike(&all[d->counter], &all[other]);
        uint64_t mask = may ? mask_of(&all[d->counter].raws, &all[other].raws) : 0;
        if (!mask)
            continue;
        d->parts[d->part_count] = other;
        d->masks[d->part_count++] = mask;
    }
}

/* Tries all ways to compose the raw counters in `left` from at most `room` more disjoint parts. */
static bool cover(struct derive *d, uint64_t left, uint32_t chosen, uint32_t room)
{
    if (!left)
        return room == 0 && adopt(d, chosen);
    if (!room)
        return false;
    uint64_t lowest = left & -left;
    for (uint32_t i = 0; i < d->part_count && d->tries < MOST_TRIES; i++) {
        if (!(d->masks[i] & lowest) || (d->masks[i] & ~left))
            continue;
        d->tries++;
        d->terms[chosen] = d->parts[i];
        if (cover(d, left & ~d->masks[i], chosen + 1, room - 1))
            return true;
    }
    return false;
}

static bool derive_from(struct derive *d, uint32_t unit)
{
    uint32_t raws = d->facts->counters[d->counter].raws.count;
    uint64_t all = raws == MOST_RAWS ? UINT64_MAX : (UINT64_C(1) << raws) - 1;
    gather_parts(d, unit);
    for (uint32_t room = 1; room <= MOST_TERMS && room <= raws && d->part_count; room++) {
        d->tries = 0;
        if (cover(d, all, 0, room))
            return true;
    }
    return false;
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

static void mark_divisors(struct derive *d)
{
    const struct cw_chip *chip = &d->facts->chip;
    if (chip->time != CW_NONE)
        d->divides[chip->time] = true;
    for (uint32_t i = 0; i < chip->counter_count; i++) {
        if (chip->counters[i].active != CW_NONE)
            d->divides[chip->counters[i].active] = true;
        if (chip->counters[i].elapsed != CW_NONE)
            d->divides[chip->counters[i].elapsed] = true;
    }
}

static double magnitude(const struct derive *d, uint32_t counter)
{
    double total = 0;
    for (size_t i = 0; i < d->ranges; i++)
        total += isfinite(at(d, i, counter, CW_SUM)) ? fabs(at(d, i, counter, CW_SUM)) : 0;
    return total;
}

/* Puts first the counters that must be recorded anyway, then simpler and finer ones, so that these are recorded and the
 * rest is derived; sectors before bytes. */
static int by_simplicity(const void *x, const void *y, void *context)
{
    const struct derive *d = context;
    uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
    const struct cw_counter *a = &d->facts->counters[i], *b = &d->facts->counters[k];
    bool odd = strchr(a->name, '.') != NULL, other = strchr(b->name, '.') != NULL;
    if (d->divides[i] != d->divides[k])
        return d->divides[i] ? -1 : 1;
    if (a->raws.count != b->raws.count)
        return a->raws.count < b->raws.count ? -1 : 1;
    if (a->instances != b->instances)
        return a->instances > b->instances ? -1 : 1;
    if (odd != other)
        return odd ? 1 : -1;
    double x_total = magnitude(d, i), y_total = magnitude(d, k);
    return x_total < y_total ? -1 : x_total > y_total ? 1 : (i > k) - (i < k);
}

static void derive_one(struct derive *d)
{
    const struct cw_counter *c = &d->facts->counters[d->counter];
    if (!(magnitude(d, d->counter) > 0))
        return;
    bool may = c->raws.count && c->raws.count <= MOST_RAWS && !d->divides[d->counter];
    bool derived = may && derive_from(d, c->unit);
    for (uint32_t u = 0; may && !derived && u < d->facts->chip.unit_count; u++)
        derived = u != c->unit && derive_from(d, u);
    if (!derived)
        d->basis[d->basis_count++] = d->counter;
}

enum cw_status cw_derive(struct cw_facts *facts, const double *values, size_t ranges, struct cw_error *err)
{
    uint32_t count = facts->chip.counter_count;
    struct derive d = {.facts = facts, .values = values, .ranges = ranges};
    d.order = cw_arena_alloc(facts->arena, count, sizeof *d.order);
    d.divides = cw_arena_alloc(facts->arena, count, sizeof *d.divides);
    d.basis = cw_arena_alloc(facts->arena, count, sizeof *d.basis);
    d.parts = cw_arena_alloc(facts->arena, count, sizeof *d.parts);
    d.masks = cw_arena_alloc(facts->arena, count, sizeof *d.masks);
    if (!d.order || !d.divides || !d.basis || !d.parts || !d.masks)
        return cw_error_nomem(err);
    mark_divisors(&d);
    for (uint32_t i = 0; i < count; i++)
        d.order[i] = i;
    qsort_r(d.order, count, sizeof *d.order, by_simplicity, &d);
    for (uint32_t i = 0; i < count; i++) {
        d.counter = d.order[i];
        derive_one(&d);
    }
    return CW_OK;
}
