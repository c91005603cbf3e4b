/* Which ranks are slower than the others, and why. */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eval/compare/ranks.h"

/* What is within this of the median is no cause. */
static const double least_cause = 0.02, least_slower = 0.05;

struct finding {
    struct cw_ranks *ranks;
    double *values, *scratch; /* of each rank */
    uint32_t *index;
    struct cw_straggler *list;
    size_t room;
};

/* Of what was put into `values`. */
static struct cw_rank_spread spread(const struct finding *f, uint32_t count)
{
    struct cw_rank_spread s;
    cw_rank_spread_make(&s, f->values, f->index, count, f->scratch);
    return s;
}

/* The time is cycles by clock. Cycles are of work, by instructions or bytes, and of what is left: waiting. */
static void explain(struct cw_straggler *s)
{
    const double clock = s->causes[CW_CAUSE_CLOCK], time = 1 + s->slower;
    const double cycles =
        isnan(s->causes[CW_CAUSE_CYCLES]) && !isnan(clock) ? time * clock : s->causes[CW_CAUSE_CYCLES];
    const double instructions = s->causes[CW_CAUSE_INSTRUCTIONS], bytes = s->causes[CW_CAUSE_BYTES];
    const double work = fmax(instructions, bytes); /* of one that is known, that */
    s->causes[CW_CAUSE_CYCLES] = cycles;
    s->lower_clock = clock < 1 - least_cause;
    s->more_work = work > 1 + least_cause;
    s->more_cycles = cycles > 1 + least_cause && !isnan(work) && cycles / fmax(work, 1) > 1 + least_cause;
}

static bool add(struct finding *f, const struct cw_straggler *found)
{
    if (f->ranks->straggler_count == f->room) {
        const size_t room = f->room ? 2 * f->room : 64;
        struct cw_straggler *grown = reallocarray(f->list, room, sizeof *grown);
        if (!grown)
            return false;
        f->list = grown;
        f->room = room;
    }
    f->list[f->ranks->straggler_count++] = *found;
    return true;
}

/* What ranks have usually, of a kernel. `whole_clock` is that of the whole capture, which stands in where launches do not
 * tell theirs. */
struct usual {
    double causes[CW_CAUSE__COUNT], whole_clock;
    struct cw_rank_spread time;
};

static struct usual find_usual(const struct finding *f, const struct cw_rank_kernel *k)
{
    const struct cw_ranks *r = f->ranks;
    const struct cw_rank_row *rows = &r->rows[k->first];
    struct usual usual = {.time = k->time};
    for (int c = 0; c < CW_CAUSE__COUNT; c++) {
        for (uint32_t i = 0; i < k->count; i++)
            f->values[i] = rows[i].causes[c];
        usual.causes[c] = spread(f, k->count).median;
    }
    for (uint32_t i = 0; i < k->count; i++)
        f->values[i] = r->ranks[rows[i].rank].clock;
    usual.whole_clock = spread(f, k->count).median;
    return usual;
}

static bool find_in_kernel(struct finding *f, const struct cw_rank_kernel *k)
{
    const struct cw_ranks *r = f->ranks;
    const struct usual usual = find_usual(f, k);
    bool good = true;
    for (uint32_t i = k->first; i < k->first + k->count && good; i++) {
        const struct cw_rank_row *row = &r->rows[i];
        struct cw_straggler s = {.row = i, .slower = row->mean / usual.time.median - 1};
        if (!(s.slower > least_slower) || !cw_rank_is_outlier(row->mean, &usual.time))
            continue;
        s.lost = s.slower * usual.time.median * (double)row->launches;
        for (int c = 0; c < CW_CAUSE__COUNT; c++)
            s.causes[c] = usual.causes[c] > 0 ? row->causes[c] / usual.causes[c] : NAN;
        if (isnan(s.causes[CW_CAUSE_CLOCK]) && usual.whole_clock > 0)
            s.causes[CW_CAUSE_CLOCK] = r->ranks[row->rank].clock / usual.whole_clock;
        explain(&s);
        good = add(f, &s);
    }
    return good;
}

static int most_lost_first(const void *a, const void *b)
{
    const struct cw_straggler *x = a, *y = b;
    return x->lost != y->lost ? (x->lost < y->lost) - (x->lost > y->lost) : (x->row > y->row) - (x->row < y->row);
}

static int slowest_first(const void *a, const void *b)
{
    const struct cw_waited_for *x = a, *y = b;
    return x->slower != y->slower ? (x->slower < y->slower) - (x->slower > y->slower)
                                  : (x->rank > y->rank) - (x->rank < y->rank);
}

/* Who comes last to where all wait waits least. */
static bool find_waited_for(struct finding *f, struct cw_arena *arena)
{
    struct cw_ranks *r = f->ranks;
    struct cw_waited_for *list = cw_arena_alloc(arena, r->rank_count, sizeof *list);
    for (uint32_t i = 0; i < r->rank_count; i++)
        f->values[i] = r->ranks[i].waits;
    const struct cw_rank_spread in = spread(f, r->rank_count);
    for (uint32_t i = 0; i < r->rank_count; i++)
        f->values[i] = r->ranks[i].total - r->ranks[i].waits;
    const struct cw_rank_spread outside = spread(f, r->rank_count);
    for (uint32_t i = 0; list && i < r->rank_count && outside.median > 0 && in.median > 0; i++) {
        const struct cw_waited_for w = {i, f->values[i] / outside.median - 1, 1 - r->ranks[i].waits / in.median};
        if (w.slower > least_slower && w.shorter > least_slower && cw_rank_is_outlier(f->values[i], &outside))
            list[r->waited_count++] = w;
    }
    if (list)
        qsort(list, r->waited_count, sizeof *list, slowest_first);
    r->waited = list;
    return list != NULL;
}

enum cw_status cw_ranks_find_stragglers(struct cw_ranks *r, struct cw_arena *arena, struct cw_error *err)
{
    size_t room = (size_t)r->rank_count + 1;
    for (uint32_t k = 0; k < r->kernel_count; k++) /* of a rank on two models of GPUs more than one row */
        room = r->kernels[k].count > room ? r->kernels[k].count : room;
    struct finding f = {.ranks = r,
                        .values = malloc(room * sizeof *f.values),
                        .scratch = malloc(room * sizeof *f.scratch),
                        .index = calloc(room, sizeof *f.index)};
    bool good = f.values && f.scratch && f.index;
    for (uint32_t k = 0; good && k < r->kernel_count; k++)
        good = find_in_kernel(&f, &r->kernels[k]);
    good = good && find_waited_for(&f, arena);
    struct cw_straggler *list = good ? cw_arena_alloc(arena, r->straggler_count, sizeof *list) : NULL;
    if (list && r->straggler_count) {
        memcpy(list, f.list, r->straggler_count * sizeof *list);
        qsort(list, r->straggler_count, sizeof *list, most_lost_first);
    }
    r->stragglers = list;
    free(f.values);
    free(f.scratch);
    free(f.index);
    free(f.list);
    return list ? CW_OK : cw_error_nomem(err);
}
