#include "passes/parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/buckets.h"
#include "passes/copies.h"
#include "passes/parts_complete.h"

/* ---- spread of parts --------------------------------------------------------------------------------------------- */

struct parts_pass {
    struct cw_placement *placements;
    uint32_t count, room, part; /* part: CW_PARTS_NONE while it is in none */
    bool grown;                 /* has more than the plan gives it */
};

struct parts_place {
    const struct parts_place *next;
    uint32_t pass;
};

struct parts_spread {
    const struct cw_config_image *plan;
    const struct cw_pass_index *index; /* index of the plan */
    cw_parts_fits *fits;               /* NULL: no pass takes more than the plan gave it */
    void *user;
    struct parts_pass *passes; /* passes of the plan, reduced to their use, then added passes */
    uint32_t pass_count, part_count;
    uint32_t *first_held;              /* by counter: the first pass with all of it, or CW_PARTS_NONE */
    const struct parts_place **places; /* by raw counter: its passes now */
    struct cw_parts_weight {
        uint64_t cost;
        uint32_t asked; /* the last question about a raw counter that is free for this part */
    } * weighed;        /* by part, for the current counter */
    uint32_t asked;
    struct cw_arena *arena, *scratch;
    struct cw_error *err;
};

enum where { THERE, BACK, FREE, ELSEWHERE, NOWHERE };

/* Finds the cheapest source of a raw counter for a part: the part has it; the plan gave it to one of the part's passes;
 * a pass outside all parts has it; else only a new pass. `pass` is the pass found, `at` the plan's placement. */
static enum where look_for(const struct parts_spread *p, uint32_t part, uint32_t raw, uint32_t *pass,
                           const struct cw_placement **at)
{
    const struct cw_copies *copies = &p->index->copies;
    enum where found = NOWHERE;
    for (const struct parts_place *place = p->places[raw]; place; place = place->next)
        if (p->passes[place->pass].part == part)
            return THERE;
    for (uint32_t k = copies->first[raw]; k < copies->first[raw + 1]; k++) {
        uint32_t before = p->passes[copies->items[k].pass].part;
        enum where here = before == part ? BACK : before == CW_PARTS_NONE ? FREE : ELSEWHERE;
        if (here < found) {
            found = here;
            *pass = copies->items[k].pass;
        }
        if (here == found)
            *at = copies->items[k].at;
    }
    return found;
}

/* Makes room for one more placement in a pass and puts it there provisionally. */
static bool put(struct parts_spread *p, uint32_t pass, const struct cw_placement *at)
{
    struct parts_pass *to = &p->passes[pass];
    if (to->count == to->room) {
        uint32_t room = 2 * to->room + 4;
        struct cw_placement *more = cw_arena_alloc(p->arena, room, sizeof *more);
        if (!more)
            return false;
        if (to->count)
            memcpy(more, to->placements, to->count * sizeof *more);
        to->placements = more;
        to->room = room;
    }
    to->placements[to->count++] = *at;
    return true;
}

/* Records that a pass has a raw counter for good. */
static bool note(struct parts_spread *p, uint32_t pass, uint32_t raw)
{
    struct parts_place *place = cw_arena_alloc(p->scratch, 1, sizeof *place);
    if (!place)
        return false;
    *place = (struct parts_place){p->places[raw], pass};
    p->places[raw] = place;
    return true;
}

static enum cw_status keep(struct parts_spread *p, uint32_t pass, const struct cw_placement *at)
{
    return put(p, pass, at) && note(p, pass, at->raw) ? CW_OK : cw_error_nomem(p->err);
}

/* Finds a pass of the part with room for one more placement, or CW_PARTS_NONE. */
static enum cw_status find_room(struct parts_spread *p, uint32_t part, const struct cw_placement *at, uint32_t *found)
{
    *found = CW_PARTS_NONE;
    for (uint32_t i = 0; p->fits && i < p->pass_count; i++) {
        bool fits = false;
        if (p->passes[i].part != part)
            continue;
        if (!put(p, i, at))
            return cw_error_nomem(p->err);
        const struct cw_config_pass grown = {p->passes[i].count, p->passes[i].placements};
        enum cw_status status = p->fits(p->user, p->plan, &grown, &fits, p->err);
        p->passes[i].count--;
        if (fits)
            *found = i;
        if (status != CW_OK || fits)
            return status;
    }
    return CW_OK;
}

/* Puts a placement into a pass with room, or into a new one. */
static enum cw_status put_somewhere(struct parts_spread *p, uint32_t part, const struct cw_placement *at)
{
    uint32_t pass;
    enum cw_status status = find_room(p, part, at, &pass);
    if (status != CW_OK)
        return status;
    if (pass == CW_PARTS_NONE) {
        status = cw_parts_check_count(p->pass_count + 1, p->err);
        if (status != CW_OK)
            return status;
        p->passes[pass = p->pass_count++] = (struct parts_pass){.part = part};
    }
    p->passes[pass].grown = true;
    return keep(p, pass, at);
}

/* Costs: new passes above all; then moves, and unused passes of the plan. */
enum { A_MOVE = 2, A_PASS_OF_THE_PLAN = 1, TRIED = 4 };
#define A_PASS ((uint64_t)1 << 32)

/* Records a saving: a raw counter is free for a part that has it, or that has a pass to which the plan gave it. */
static void save(struct parts_spread *p, uint32_t pass, uint32_t asked, uint64_t cost)
{
    uint32_t part = p->passes[pass].part;
    if (part == CW_PARTS_NONE || p->weighed[part].asked == asked)
        return;
    p->weighed[part].asked = asked;
    p->weighed[part].cost -= cost;
}

/* Estimates for each part the cost of having all raw counters of a counter, if the part has room. False if no pass of
 * the plan has one of them. */
static bool weigh_all(struct parts_spread *p, const struct cw_config_counter *counter)
{
    const struct cw_copies *copies = &p->index->copies;
    uint64_t all = 0;
    for (uint32_t part = 0; part < p->part_count; part++)
        p->weighed[part].cost = 0;
    for (uint32_t r = 0; r < counter->raw_count; r++) {
        uint32_t raw = counter->raws[r], first = copies->first[raw], end = copies->first[raw + 1], k = first;
        while (k < end && p->passes[copies->items[k].pass].part != CW_PARTS_NONE)
            k++;
        uint64_t cost = k < end ? A_PASS_OF_THE_PLAN : A_MOVE;
        if (first == end)
            return false;
        all += cost;
        p->asked++;
        for (const struct parts_place *place = p->places[raw]; place; place = place->next)
            save(p, place->pass, p->asked, cost);
        for (k = first; k < end; k++)
            save(p, copies->items[k].pass, p->asked, cost);
    }
    for (uint32_t part = 0; part < p->part_count; part++)
        p->weighed[part].cost += all; /* savings so far wrapped below 0 */
    return true;
}

/* Computes the exact cost in one part by asking the hardware's limits. */
static enum cw_status weigh(struct parts_spread *p, uint32_t part, const struct cw_config_counter *counter,
                            uint64_t *cost)
{
    const struct cw_placement *at = NULL;
    enum cw_status status = CW_OK;
    uint32_t pass = 0;
    *cost = 0;
    for (uint32_t r = 0; r < counter->raw_count && status == CW_OK; r++) {
        enum where where = look_for(p, part, counter->raws[r], &pass, &at);
        if (where == ELSEWHERE)
            status = find_room(p, part, at, &pass);
        *cost += where == ELSEWHERE ? pass == CW_PARTS_NONE ? A_PASS : A_MOVE : where == FREE ? A_PASS_OF_THE_PLAN : 0;
    }
    return status;
}

/* Chooses the part with the least cost for a counter. Checks only the few with the least estimates, because checking
 * takes time. */
static enum cw_status choose_part(struct parts_spread *p, const struct cw_config_counter *counter, uint32_t *best)
{
    uint64_t least = UINT64_MAX;
    uint32_t parts[TRIED], count = 0;
    enum cw_status status = CW_OK;
    *best = CW_PARTS_NONE;
    if (!weigh_all(p, counter))
        return CW_OK;
    for (uint32_t part = 0; part < p->part_count; part++) {
        uint32_t i = count;
        for (; i > 0 && p->weighed[parts[i - 1]].cost > p->weighed[part].cost; i--)
            if (i < TRIED)
                parts[i] = parts[i - 1];
        if (i < TRIED)
            parts[i] = part;
        count += count < TRIED;
    }
    for (uint32_t i = 0; i < count && least >= A_PASS && status == CW_OK; i++) {
        uint64_t cost;
        status = weigh(p, parts[i], counter, &cost);
        *best = cost < least ? parts[i] : *best;
        least = cost < least ? cost : least;
    }
    return status;
}

/* Puts all raw counters of a counter into one part. */
static enum cw_status place_spread(struct parts_spread *p, const struct cw_config_counter *counter)
{
    uint32_t part, pass = 0;
    const struct cw_placement *at = NULL;
    enum cw_status status = choose_part(p, counter, &part);
    for (uint32_t r = 0; part != CW_PARTS_NONE && r < counter->raw_count && status == CW_OK; r++) {
        enum where where = look_for(p, part, counter->raws[r], &pass, &at);
        if (where == FREE)
            p->passes[pass].part = part;
        if (where == ELSEWHERE || (where != THERE && p->passes[pass].grown))
            status = put_somewhere(p, part, at);
        else if (where != THERE)
            status = keep(p, pass, at);
    }
    return status;
}

/* Puts all raw counters of each counter that no pass holds into one part, with new passes if needed; `passes` has room
 * for CW_PASSES_MAX. */
static enum cw_status parts_place_spread(struct parts_spread *p)
{
    enum cw_status status = CW_OK;
    p->places = cw_arena_alloc(p->scratch, p->plan->raw_count, sizeof *p->places);
    p->weighed = cw_arena_alloc(p->scratch, p->part_count, sizeof *p->weighed);
    bool good = p->places && p->weighed;
    for (uint32_t i = 0; i < p->pass_count && good; i++)
        for (uint32_t k = 0; k < p->passes[i].count && good; k++)
            good = note(p, i, p->passes[i].placements[k].raw);
    if (!good)
        return cw_error_nomem(p->err);
    for (uint32_t c = 0; c < p->plan->counter_count && status == CW_OK; c++)
        if (p->first_held[c] == CW_PARTS_NONE && p->plan->counters[c].raw_count)
            status = place_spread(p, &p->plan->counters[c]);
    return status;
}

struct parting {
    struct parts_spread work;
    struct cw_arena *scratch;
    struct cw_parts *parts;
    struct cw_pass_index index;    /* index of the plan, then of the plan as collected */
    uint32_t *bond, *next;         /* by pass: first pass of its bundle, and next pass or CW_PARTS_NONE */
    uint32_t *marks;               /* by raw counter: the last mark */
    struct cw_schema_repeat *held; /* pairs of a counter and a pass that has all its raw counters */
    uint32_t held_count;
    uint32_t *column_part; /* by column of the schema, or CW_PARTS_NONE */
};

static uint32_t *numbers(struct cw_arena *arena, size_t count, uint32_t fill)
{
    uint32_t *list = cw_arena_alloc(arena, count, sizeof *list);
    for (size_t i = 0; list && fill && i < count; i++)
        list[i] = fill;
    return list;
}

static void clear_marks(struct parting *p)
{
    memset(p->marks, 0, p->work.plan->raw_count * sizeof *p->marks);
}

/* ---- contents of passes ----------------------------------------------------------------------------------------- */

/* Sorted by counter, then pass. */
static bool find_held(struct parting *p, const struct cw_config_image *plan)
{
    struct cw_pass_index *index = &p->index;
    size_t most = 0;
    p->work.first_held = numbers(p->scratch, plan->counter_count, CW_PARTS_NONE);
    p->held_count = 0;
    if (!p->work.first_held || !cw_pass_index_make(index, plan, p->scratch))
        return false;
    for (uint32_t c = 0; c < plan->counter_count; c++)
        most += plan->counters[c].raw_count ? index->copies.first[plan->counters[c].raws[0] + 1] -
                                                  index->copies.first[plan->counters[c].raws[0]]
                                            : 0;
    p->held = cw_arena_alloc(p->scratch, most, sizeof *p->held);
    for (uint32_t c = 0; p->held && c < plan->counter_count; c++) {
        uint32_t raws = plan->counters[c].raw_count, some = cw_pass_index_find(index, plan->counters[c].raws, raws);
        for (uint32_t k = some; k-- > 0;)
            if (index->holds[k] == raws)
                p->work.first_held[c] = index->found[k];
        for (uint32_t k = 0; k < some; k++)
            if (index->holds[k] == raws)
                p->held[p->held_count++] = (struct cw_schema_repeat){c, index->found[k]};
    }
    return p->held != NULL;
}

static bool copy_passes(struct parting *p)
{
    const struct cw_config_image *plan = p->work.plan;
    p->work.pass_count = plan->pass_count;
    p->work.passes = cw_arena_alloc(p->scratch, CW_PASSES_MAX, sizeof *p->work.passes);
    for (uint32_t i = 0; p->work.passes && i < plan->pass_count; i++) {
        const struct cw_config_pass *from = &plan->passes[i];
        p->work.passes[i] =
            (struct parts_pass){.placements = cw_arena_alloc(p->work.arena, from->count, sizeof *from->placements),
                                .count = from->count,
                                .room = from->count,
                                .part = CW_PARTS_NONE};
        if (!p->work.passes[i].placements)
            return false;
        if (from->count)
            memcpy(p->work.passes[i].placements, from->placements, from->count * sizeof *from->placements);
    }
    return p->work.passes != NULL;
}

static int by_pass(const void *left, const void *right)
{
    const struct cw_schema_repeat *a = left, *b = right;
    return (a->pass > b->pass) - (a->pass < b->pass);
}

/* Reduces each pass to the raw counters of counters that it holds whole. Reorders p->held. */
static void trim_passes(struct parting *p)
{
    clear_marks(p);
    if (p->held_count)
        qsort(p->held, p->held_count, sizeof *p->held, by_pass);
    for (uint32_t i = 0, h = 0; i < p->work.pass_count; i++) {
        struct parts_pass *pass = &p->work.passes[i];
        uint32_t kept = 0;
        for (; h < p->held_count && p->held[h].pass == i; h++) {
            const struct cw_config_counter *c = &p->work.plan->counters[p->held[h].counter];
            for (uint32_t r = 0; r < c->raw_count; r++)
                p->marks[c->raws[r]] = i + 1;
        }
        for (uint32_t k = 0; k < pass->count; k++)
            if (p->marks[pass->placements[k].raw] == i + 1)
                pass->placements[kept++] = pass->placements[k];
        pass->count = kept;
    }
}

/* ---- parts ------------------------------------------------------------------------------------------------------ */

static bool any_marked(const struct parting *p, const struct parts_pass *pass, uint32_t mark)
{
    for (uint32_t k = 0; k < pass->count; k++)
        if (p->marks[pass->placements[k].raw] == mark)
            return true;
    return false;
}

/* Bundles the passes of each counter that is spread over several, so that one part gets them all. */
static void bind_all(struct parting *p)
{
    for (uint32_t c = 0; c < p->work.plan->counter_count; c++)
        if (p->work.first_held[c] == CW_PARTS_NONE)
            cw_copies_bind(&p->index.copies, p->bond, &p->work.plan->counters[c]);
    for (uint32_t i = 0; i < p->work.pass_count; i++)
        p->bond[i] = cw_copies_bundle(p->bond, i);
    for (uint32_t i = p->work.pass_count; i-- > 0;)
        if (p->bond[i] != i) {
            p->next[i] = p->next[p->bond[i]];
            p->next[p->bond[i]] = i;
        }
}

/* Whether a bundle shares no raw counter with the part so far, in passes that are in no part yet. */
static bool joins(const struct parting *p, uint32_t first, uint32_t mark)
{
    uint32_t i = first;
    while (i != CW_PARTS_NONE && (p->work.passes[i].part != CW_PARTS_NONE || !any_marked(p, &p->work.passes[i], mark)))
        i = p->next[i];
    return i == CW_PARTS_NONE;
}

/* Adds the passes of a bundle to the part, except passes that share a raw counter with an earlier one. */
static void join(struct parting *p, uint32_t first, uint32_t mark)
{
    for (uint32_t i = first; i != CW_PARTS_NONE; i = p->next[i]) {
        if (p->work.passes[i].part != CW_PARTS_NONE || any_marked(p, &p->work.passes[i], mark))
            continue;
        p->work.passes[i].part = mark - 1;
        for (uint32_t k = 0; k < p->work.passes[i].count; k++)
            p->marks[p->work.passes[i].placements[k].raw] = mark;
    }
}

/* Fills one part after the other with the bundles that still fit, or gives each pass a part of its own. */
static bool divide(struct parting *p, bool single)
{
    uint32_t *refused = numbers(p->scratch, p->work.pass_count, 0); /* by bundle: the last part that did not fit */
    p->bond = numbers(p->scratch, p->work.pass_count, 0);
    p->next = numbers(p->scratch, p->work.pass_count, CW_PARTS_NONE);
    clear_marks(p);
    for (uint32_t i = 0; p->bond && i < p->work.pass_count; i++)
        p->bond[i] = i;
    if (!refused || !p->bond || !p->next)
        return false;
    if (!single)
        bind_all(p);
    for (bool left = true; left;) {
        uint32_t mark = p->work.part_count + 1, taken = 0;
        left = false;
        for (uint32_t i = 0; i < p->work.pass_count; i++) {
            uint32_t first = p->bond[i];
            if (p->work.passes[i].part != CW_PARTS_NONE || !p->work.passes[i].count)
                continue;
            if ((single && taken) || refused[first] == mark || !joins(p, first, mark)) {
                refused[first] = mark;
                left = true;
                continue;
            }
            join(p, first, mark);
            left |= p->work.passes[i].part == CW_PARTS_NONE;
            taken++;
        }
        p->work.part_count += taken > 0;
    }
    p->work.part_count += !p->work.part_count; /* a plan without counting also needs a part */
    return true;
}

/* ---- columns ---------------------------------------------------------------------------------------------------- */

/* Finds the first part with all of a counter's raw counters, each once, and the part's passes that have some. `held`
 * counts them by part and is 0 between calls. */
static bool describe_mixed(struct parting *p, uint32_t c, uint32_t *held, struct cw_schema_counter *out)
{
    const struct cw_config_counter *counter = &p->work.plan->counters[c];
    uint32_t some = cw_pass_index_find(&p->index, counter->raws, counter->raw_count), count = 0, part = CW_PARTS_NONE;
    for (uint32_t k = 0; k < some; k++) {
        uint32_t of = p->work.passes[p->index.found[k]].part;
        held[of] += p->index.holds[k];
        part = held[of] == counter->raw_count && of < part ? of : part;
    }
    for (uint32_t k = 0; k < some; k++)
        held[p->work.passes[p->index.found[k]].part] = 0;
    uint32_t *passes = numbers(p->work.arena, some, 0);
    for (uint32_t k = 0; passes && k < some; k++)
        if (p->work.passes[p->index.found[k]].part == part)
            passes[count++] = p->index.found[k];
    p->column_part[c] = part;
    *out = (struct cw_schema_counter){.name = counter->name, .pass_count = count, .passes = passes};
    return passes != NULL;
}

static bool make_schema(struct parting *p)
{
    struct cw_schema *schema = &p->parts->schema;
    const struct cw_config_image *plan = p->work.plan;
    bool good = cw_schema_of_plan(schema, &p->parts->plan, p->work.arena) == CW_OK;
    struct cw_schema_counter *counters = cw_arena_alloc(p->work.arena, plan->counter_count, sizeof *counters);
    struct cw_schema_repeat *repeats = cw_arena_alloc(p->work.arena, p->held_count, sizeof *repeats);
    uint32_t *first = numbers(p->work.arena, p->held_count, 0);
    p->column_part = numbers(p->scratch, (size_t)plan->counter_count + p->held_count, CW_PARTS_NONE);
    uint32_t *held = numbers(p->scratch, p->work.part_count, 0);
    if (!good || !counters || !repeats || !first || !held || !p->column_part)
        return false;
    for (uint32_t c = 0, h = 0; c < plan->counter_count && good; c++) {
        counters[c] = schema->counters[c];
        if (!plan->counters[c].raw_count) {
            p->column_part[c] = 0;
        } else if (h == p->held_count || p->held[h].counter != c) {
            good = describe_mixed(p, c, held, &counters[c]);
        } else {
            first[h] = p->held[h].pass;
            counters[c] = (struct cw_schema_counter){plan->counters[c].name, true, 1, &first[h]};
            p->column_part[c] = p->work.passes[p->held[h].pass].part;
            for (h++; h < p->held_count && p->held[h].counter == c; h++) {
                p->column_part[plan->counter_count + schema->repeat_count] = p->work.passes[p->held[h].pass].part;
                repeats[schema->repeat_count++] = p->held[h];
            }
        }
    }
    schema->counters = counters;
    schema->repeats = repeats;
    return good;
}

/* Makes the plan as the parts collect it. */
static bool make_plan(struct parting *p)
{
    struct cw_config_image *plan = &p->parts->plan;
    struct cw_config_pass *passes = cw_arena_alloc(p->work.arena, p->work.pass_count, sizeof *passes);
    bool same = p->work.part_count == 1 && p->work.pass_count == p->work.plan->pass_count;
    for (uint32_t i = 0; passes && i < p->work.pass_count; i++) {
        passes[i] = (struct cw_config_pass){p->work.passes[i].count, p->work.passes[i].placements};
        same = same && p->work.passes[i].count == p->work.plan->passes[i].count;
    }
    *plan = *p->work.plan;
    plan->passes = passes;
    plan->pass_count = p->work.pass_count;
    plan->native = same ? plan->native : NULL;
    return passes != NULL;
}

/* Numbers sorted by part: part i has items[first[i]] up to items[first[i + 1]], ascending. */
struct members {
    uint32_t *first, *items;
};

static bool list_members(struct members *m, const struct parting *p, const uint32_t *part_of, uint32_t count)
{
    m->first = numbers(p->scratch, (size_t)p->work.part_count + 2, 0);
    m->items = numbers(p->work.arena, count, 0);
    if (!m->first || !m->items)
        return false;
    cw_buckets_sort(m->first, p->work.part_count, m->items, part_of, sizeof *part_of, count);
    return true;
}

static bool make_part(const struct parting *p, uint32_t number, const struct members *columns,
                      const struct members *passes)
{
    const uint32_t *column = columns->items + columns->first[number], *pass = passes->items + passes->first[number];
    uint32_t column_count = columns->first[number + 1] - columns->first[number];
    uint32_t pass_count = passes->first[number + 1] - passes->first[number];
    struct cw_config_counter *counters = cw_arena_alloc(p->work.arena, column_count, sizeof *counters);
    struct cw_config_pass *own = cw_arena_alloc(p->work.arena, pass_count, sizeof *own);
    if (!counters || !own)
        return false;
    for (uint32_t i = 0; i < column_count; i++)
        counters[i] = p->work.plan->counters[cw_schema_column_counter(&p->parts->schema, column[i])];
    for (uint32_t i = 0; i < pass_count; i++)
        own[i] = p->parts->plan.passes[pass[i]];
    struct cw_part *part = &p->parts->items[number];
    *part = (struct cw_part){p->parts->plan, column, pass};
    part->plan.counters = counters;
    part->plan.counter_count = column_count;
    part->plan.passes = own;
    part->plan.pass_count = pass_count;
    return true;
}

static bool make_parts(struct parting *p)
{
    struct members columns, passes;
    uint32_t *part_of = numbers(p->scratch, p->work.pass_count, 0);
    for (uint32_t i = 0; part_of && i < p->work.pass_count; i++)
        part_of[i] = p->work.passes[i].count ? p->work.passes[i].part : CW_PARTS_NONE;
    p->parts->items = cw_arena_alloc(p->work.arena, p->work.part_count, sizeof *p->parts->items);
    bool good = part_of && p->parts->items &&
                list_members(&columns, p, p->column_part, cw_schema_columns(&p->parts->schema)) &&
                list_members(&passes, p, part_of, p->work.pass_count);
    for (uint32_t i = 0; good && i < p->work.part_count; i++)
        good = make_part(p, i, &columns, &passes);
    return good;
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

static enum cw_status part_plan(struct parting *p, bool apart)
{
    p->marks = numbers(p->scratch, p->work.plan->raw_count, 0);
    if (!p->marks || !copy_passes(p) || !find_held(p, p->work.plan))
        return cw_error_nomem(p->work.err);
    trim_passes(p);
    if (!divide(p, apart))
        return cw_error_nomem(p->work.err);
    enum cw_status status = apart ? CW_OK : parts_place_spread(&p->work);
    if (status != CW_OK)
        return status;
    p->parts->count = p->work.part_count;
    p->parts->added = p->work.pass_count - p->work.plan->pass_count;
    return make_plan(p) && find_held(p, &p->parts->plan) && make_schema(p) && make_parts(p)
               ? CW_OK
               : cw_error_nomem(p->work.err);
}

enum cw_status cw_parts_make(struct cw_parts *parts, const struct cw_config_image *plan,
                             const struct cw_parts_rules *rules, struct cw_arena *arena, struct cw_error *err)
{
    struct cw_config_image single = *plan;
    *parts = (struct cw_parts){0};
    enum cw_status status = cw_parts_check_count(plan->pass_count, err);
    if (status != CW_OK)
        return status;
    struct parting p = {.work = {.plan = &single, .fits = rules->fits, .user = rules->user, .arena = arena, .err = err},
                        .scratch = cw_arena_create(),
                        .parts = parts};
    p.work.index = &p.index;
    p.work.scratch = p.scratch;
    bool good = p.scratch && (rules->how != CW_PARTS_ONE || cw_copies_drop_all(&single, plan, arena));
    status = good ? part_plan(&p, rules->how == CW_PARTS_PASSES) : cw_error_nomem(err);
    cw_arena_destroy(p.scratch);
    return status;
}

/* The pass that holds a column's counter whole; CW_PARTS_NONE if several passes share it, or if it needs none. */
static uint32_t pass_of(const struct cw_parts *parts, uint32_t column)
{
    const struct cw_schema *schema = &parts->schema;
    if (column >= schema->counter_count)
        return schema->repeats[column - schema->counter_count].pass;
    const struct cw_schema_counter *counter = &schema->counters[column];
    return counter->whole && parts->plan.counters[column].raw_count ? counter->passes[0] : CW_PARTS_NONE;
}

/* A counter without raw counters is in every pass. */
static bool holds(const struct cw_parts *parts, uint32_t column, uint32_t pass)
{
    bool free = column < parts->schema.counter_count && !parts->plan.counters[column].raw_count;
    return free || pass_of(parts, column) == pass;
}

/* `held`: columns that the pass fills. */
static bool make_single(struct cw_part *part, const struct cw_parts *parts, uint32_t pass, uint32_t held,
                        struct cw_arena *arena)
{
    const uint32_t all = cw_schema_columns(&parts->schema);
    uint32_t *columns = numbers(arena, held, 0), *number = numbers(arena, 1, pass);
    struct cw_config_counter *counters = cw_arena_alloc(arena, held, sizeof *counters);
    if (!columns || !number || !counters)
        return false;
    *part = (struct cw_part){parts->plan, columns, number};
    part->plan.native = parts->plan.pass_count == 1 ? parts->plan.native : NULL;
    part->plan.passes = &parts->plan.passes[pass];
    part->plan.pass_count = 1;
    part->plan.counters = counters;
    part->plan.counter_count = 0;
    for (uint32_t i = 0; i < all; i++)
        if (holds(parts, i, pass)) {
            columns[part->plan.counter_count] = i;
            counters[part->plan.counter_count++] = parts->plan.counters[cw_schema_column_counter(&parts->schema, i)];
        }
    return true;
}

struct single { /* a pass, and how many columns it alone fills */
    uint32_t pass, columns;
};

static int by_columns(const void *left, const void *right)
{
    const struct single *a = left, *b = right;
    if (a->columns != b->columns)
        return a->columns < b->columns ? 1 : -1;
    return a->pass < b->pass ? -1 : a->pass > b->pass;
}

enum cw_status cw_parts_single_passes(struct cw_part **list, uint32_t *count, const struct cw_parts *parts,
                                      struct cw_arena *arena, struct cw_error *err)
{
    const uint32_t all = cw_schema_columns(&parts->schema), passes = parts->plan.pass_count;
    struct single *singles = cw_arena_alloc(arena, passes, sizeof *singles);
    uint32_t free_columns = 0;
    *count = 0;
    *list = NULL;
    for (uint32_t i = 0; singles && i < passes; i++)
        singles[i].pass = i;
    for (uint32_t i = 0; singles && i < all; i++) {
        const uint32_t pass = pass_of(parts, i);
        if (pass != CW_PARTS_NONE)
            singles[pass].columns++;
        free_columns += i < parts->schema.counter_count && !parts->plan.counters[i].raw_count;
    }
    if (passes && singles)
        qsort(singles, passes, sizeof *singles, by_columns);
    *list = cw_arena_alloc(arena, passes, sizeof **list);
    bool good = singles && *list;
    for (; good && *count < passes && (!*count || singles[*count].columns); ++*count)
        good =
            make_single(&(*list)[*count], parts, singles[*count].pass, singles[*count].columns + free_columns, arena);
    return good ? CW_OK : cw_error_nomem(err);
}
