/* The mean of each group's counters. */
#include "eval/ranges/group_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eval/ranges/fold.h"
#include "image/range_view.h"

static double uncounted_duration(const struct cw_range *range, uint32_t pass_count)
{
    double least = NAN;
    for (uint32_t i = 0; i < pass_count; i++)
        if (range->durations[i] > 0)
            least = fmin(least, range->durations[i]);
    const bool one_pass = pass_count <= 1 || (cw_range_attribute(range, "once") && !cw_fold_is_of(range));
    return isnan(least) && one_pass && range->end_ns > range->start_ns ? (double)(range->end_ns - range->start_ns)
                                                                       : least;
}

double cw_range_duration(const struct cw_counter_data *data, uint32_t range, uint32_t time_column)
{
    const size_t at = (size_t)time_column * data->range_count + range;
    const bool counted = time_column != CW_NO_COLUMN && data->forms[at] > CW_FORM_UNAVAILABLE;
    if (counted && (data->forms[at] == CW_FORM_OVERFLOW || data->forms[at] == CW_FORM_INCOMPLETE))
        return NAN;
    return counted ? data->rollups[CW_SUM][at] : uncounted_duration(&data->ranges[range], data->schema.pass_count);
}

/* ---- sums ------------------------------------------------------------------------------------------------------- */

/* What a group's mean takes of a range. A mean is of those that have the most columns: the first that has more than all
 * before it begins anew. Where some were multiplexed, which have few columns each, it is of all. */
enum part { NOTHING, MORE, ANEW };

/* A range of a view in a group. */
struct member {
    uint32_t range, group;
    enum part part;
    struct cw_group_cells cells; /* instead of the group's sums, or NULL */
};

struct sums {
    const struct cw_group_walk *walk;
    struct cw_counter_data *to; /* sums until the end */
    uint32_t columns, passes, facts;
    struct cw_range *ranges;
    uint32_t *full;                 /* [group]: columns of those that are used; 0 before the first */
    uint32_t *taken;                /* [column][group] */
    uint32_t *timed;                /* [group][pass] */
    double *durations, *first_fact; /* [group][pass], [fact][group] */
    bool *begun, *differs;          /* [group]; [fact][group] */
    struct cw_group_parts parts;
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
    cw_group_parts_free(&s->parts);
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
    s->to->forms[at] = cw_form_graver(anew ? (uint8_t)CW_FORM_NOT_COLLECTED : s->to->forms[at], form);
    s->taken[at] = (anew ? 0 : s->taken[at]) + has;
    for (int r = 0; r < CW_ROLLUP_COUNT; r++) {
        const double before = anew ? 0 : s->to->rollups[r][at];
        s->to->rollups[r][at] = has ? before + view->rollups[r][from] : before;
    }
}

/* The members that were noted. */
static void add_columns(struct sums *s, const struct cw_counter_data *view)
{
    for (uint32_t c = 0; c < s->columns; c++)
        for (uint32_t i = 0; i < s->member_count; i++) {
            const struct member *m = &s->members[i];
            if (m->cells.own)
                cw_group_cells_add(&m->cells, c, view, m->range);
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
    return !parts || cw_group_parts_find(&s->parts, &m->cells, k, kind, view, i);
}

/* `first`: which range of the capture the view begins with. False when out of memory. */
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

/* Where ranges differ in grid or block the mean has none. */
static void merge_shapes(struct sums *s)
{
    for (uint32_t k = 0; k < s->walk->count; k++) {
        struct cw_range *merged = &s->ranges[k];
        bool alike = true;
        for (uint32_t i = 0; i < s->walk->items[k].count && alike; i++) {
            const struct cw_range *range = cw_launch_of(s->walk->data, s->walk->items[k].ranges[i]);
            alike = memcmp(range->grid, merged->grid, sizeof range->grid) == 0 &&
                    memcmp(range->block, merged->block, sizeof range->block) == 0;
        }
        if (!alike) {
            memset(merged->grid, 0, sizeof merged->grid);
            memset(merged->block, 0, sizeof merged->block);
        }
    }
}

/* Of groups whose ranges are not parts. */
static void divide_columns(struct sums *s)
{
    const uint32_t groups = s->walk->count;
    for (size_t at = 0; at < (size_t)s->columns * groups; at++) {
        for (int r = 0; r < CW_ROLLUP_COUNT; r++)
            s->to->rollups[r][at] = s->taken[at] ? s->to->rollups[r][at] / s->taken[at] : NAN;
        if (s->taken[at] && s->walk->items[at % groups].multiplexed)
            s->to->forms[at] = cw_form_graver(s->to->forms[at], CW_FORM_MULTIPLEXED);
    }
}

static void divide(struct sums *s)
{
    const uint32_t groups = s->walk->count;
    divide_columns(s);
    for (size_t at = 0; at < (size_t)groups * s->passes; at++)
        s->durations[at] = s->timed[at] ? s->durations[at] / s->timed[at] : NAN;
    for (size_t at = 0; at < (size_t)s->facts * groups; at++)
        s->to->facts[at] =
            s->differs[at] ? s->to->facts[at] / s->walk->items[at % groups].used : s->first_fact[at];
    for (uint32_t k = 0; k < groups; k++) {
        if (s->begun[k])
            continue;
        s->ranges[k] = (struct cw_range){.name = s->walk->items[k].name, .kernel = ""};
        s->ranges[k].durations = s->durations + (size_t)k * s->passes;
        for (uint32_t f = 0; f < s->facts; f++)
            s->to->facts[(size_t)f * groups + k] = NAN;
    }
}

/* ---- the walk --------------------------------------------------------------------------------------------------- */

/* Which groups have ranges that were multiplexed. */
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
    s.parts = (struct cw_group_parts){.columns = s.columns, .arena = arena};
    enum cw_status status = cw_range_view_init(&view, w->data, arena, err);
    if (status == CW_OK && w->means)
        status = begin_means(w, &s, view.room, arena, err);
    if (status == CW_OK)
        status = walk_over(w, &s, &view);
    if (status == CW_OK && w->means) {
        merge_shapes(&s);
        divide(&s);
        if (!cw_group_parts_finish(&s.parts, w->items, w->means))
            status = cw_error_nomem(err);
    }
    free_sums(&s);
    cw_range_view_free(&view);
    return status;
}

/* ---- order ------------------------------------------------------------------------------------------------------ */

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
