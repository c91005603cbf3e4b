#include "eval/groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/range_view.h"

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

static double uncounted_duration(const struct cw_range *range, uint32_t pass_count)
{
    double least = NAN;
    for (uint32_t i = 0; i < pass_count; i++)
        if (range->durations[i] > 0)
            least = fmin(least, range->durations[i]);
    const bool one_pass = pass_count <= 1 || cw_range_attribute(range, "once");
    return isnan(least) && one_pass && range->end_ns > range->start_ns ? (double)(range->end_ns - range->start_ns)
                                                                       : least;
}

double cw_range_duration(const struct cw_counter_data *data, uint32_t range, uint32_t time_column)
{
    const size_t at = (size_t)time_column * data->range_count + range;
    const bool counted = time_column != CW_NO_COLUMN && data->forms[at] > CW_FORM_UNAVAILABLE;
    return counted ? data->rollups[CW_SUM][at] : uncounted_duration(&data->ranges[range], data->schema.pass_count);
}

/* ---- sums ------------------------------------------------------------------------------------------------------- */

/* What a group's mean takes of a range. A mean is of those that have the most columns: the first that has more than all
 * before it begins anew. */
enum part { NOTHING, MORE, ANEW };

struct sums {
    const struct cw_group_walk *walk;
    struct cw_counter_data *to; /* sums until the end */
    uint32_t columns, passes, facts;
    struct cw_range *ranges;
    uint32_t *full;                 /* [group]: columns of those that are used; 0 before the first */
    uint32_t *taken;                /* [column][group] */
    double *durations, *first_fact; /* [group][pass], [fact][group] */
    bool *begun, *differs;          /* [group]; [fact][group] */
    /* of the ranges of a view: */
    uint32_t *group, *has; /* how many columns */
    uint8_t *part;         /* enum part */
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
    s->first_fact = calloc(groups * s->facts + 1, sizeof *s->first_fact);
    s->differs = calloc(groups * s->facts + 1, sizeof *s->differs);
    s->group = calloc((size_t)room + 1, sizeof *s->group);
    s->has = calloc((size_t)room + 1, sizeof *s->has);
    s->part = calloc((size_t)room + 1, sizeof *s->part);
    return good && s->ranges && s->durations && s->to->forms && s->to->facts && s->full && s->begun && s->taken &&
           s->first_fact && s->differs && s->group && s->has && s->part;
}

static void free_sums(struct sums *s)
{
    void *const lists[] = {s->full, s->begun, s->taken, s->first_fact, s->differs, s->group, s->has, s->part};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        free(lists[i]);
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
    struct cw_group *group = &s->walk->items[k];
    group->used = anew ? 1 : group->used + 1;
    for (uint32_t p = 0; p < s->passes; p++)
        to[p] = (anew ? 0 : to[p]) + range->durations[p];
    if (anew)
        s->ranges[k] = *range;
    s->ranges[k].durations = to;
}

static void add_facts(struct sums *s, const struct cw_counter_data *view, uint32_t i, uint32_t k)
{
    for (uint32_t f = 0; f < s->facts; f++) {
        const double fact = view->facts[(size_t)f * view->range_count + i];
        const size_t at = (size_t)f * s->walk->count + k;
        s->first_fact[at] = s->begun[k] ? s->first_fact[at] : fact;
        s->differs[at] = s->differs[at] || fact != s->first_fact[at];
        if (s->part[i] != NOTHING)
            s->to->facts[at] = (s->part[i] == ANEW ? 0 : s->to->facts[at]) + fact;
    }
}

static void add_columns(struct sums *s, const struct cw_counter_data *view)
{
    for (uint32_t c = 0; c < s->columns; c++) {
        const size_t from = (size_t)c * view->range_count, to = (size_t)c * s->walk->count;
        for (uint32_t i = 0; i < view->range_count; i++) {
            if (s->part[i] == NOTHING)
                continue;
            const size_t at = to + s->group[i];
            const uint8_t form = view->forms[from + i];
            const bool anew = s->part[i] == ANEW, has = form > CW_FORM_UNAVAILABLE;
            s->to->forms[at] = cw_form_graver(anew ? (uint8_t)CW_FORM_NOT_COLLECTED : s->to->forms[at], form);
            s->taken[at] = (anew ? 0 : s->taken[at]) + has;
            for (int r = 0; r < CW_ROLLUP_COUNT; r++) {
                const double before = anew ? 0 : s->to->rollups[r][at];
                s->to->rollups[r][at] = has ? before + view->rollups[r][from + i] : before;
            }
        }
    }
}

/* Ranges whose group is CW_NONE are not kept. */
static void add_view(struct sums *s, const struct cw_counter_data *view)
{
    count_columns(s, view);
    for (uint32_t i = 0; i < view->range_count; i++) {
        const uint32_t k = s->group[i];
        s->part[i] = NOTHING;
        if (k == CW_NONE)
            continue;
        if (!s->begun[k] || s->has[i] >= s->full[k]) {
            s->part[i] = s->begun[k] && s->has[i] == s->full[k] ? MORE : ANEW;
            s->full[k] = s->has[i];
            add_durations(s, &view->ranges[i], k, s->part[i] == ANEW);
        }
        add_facts(s, view, i, k);
        s->begun[k] = true;
    }
    add_columns(s, view);
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

static void divide(struct sums *s)
{
    const uint32_t groups = s->walk->count;
    for (size_t at = 0; at < (size_t)s->columns * groups; at++)
        for (int r = 0; r < CW_ROLLUP_COUNT; r++)
            s->to->rollups[r][at] = s->taken[at] ? s->to->rollups[r][at] / s->taken[at] : NAN;
    for (uint32_t k = 0; k < groups; k++)
        for (uint32_t p = 0; p < s->passes; p++)
            s->durations[(size_t)k * s->passes + p] /= s->walk->items[k].used;
    for (size_t at = 0; at < (size_t)s->facts * groups; at++)
        s->to->facts[at] =
            s->differs[at] ? s->to->facts[at] / s->walk->items[at % groups].used : s->first_fact[at];
}

/* ---- the walk --------------------------------------------------------------------------------------------------- */

/* The group of a range; `kept` counts those that are kept. */
static uint32_t group_of(const struct cw_group_walk *w, uint32_t range, uint32_t *kept)
{
    if (w->keep && !w->keep[range])
        return CW_NONE;
    ++*kept;
    return w->groups_of ? w->groups_of[cw_launch_number(w->data, range)] : *kept - 1;
}

static enum cw_status walk_over(const struct cw_group_walk *w, struct sums *s, struct cw_range_view *view)
{
    enum cw_status status = CW_OK;
    uint32_t kept = 0;
    for (uint32_t first = 0, n; status == CW_OK && first < w->data->range_count; first += n) {
        n = w->data->range_count - first < view->room ? w->data->range_count - first : view->room;
        status = cw_range_view_load(view, first, NULL, n);
        for (uint32_t i = 0; status == CW_OK && i < n; i++) {
            w->durations[first + i] = cw_range_duration(&view->data, i, w->time_column);
            if (w->means)
                s->group[i] = group_of(w, first + i, &kept);
        }
        if (status == CW_OK && w->means)
            add_view(s, &view->data);
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
    enum cw_status status = cw_range_view_init(&view, w->data, arena, err);
    if (status == CW_OK && w->means) {
        *w->means = *w->data;
        w->means->directory = NULL;
        w->means->range_count = w->count;
        if (!allocate(&s, view.room, arena))
            status = cw_error_nomem(err);
    }
    if (status == CW_OK)
        status = walk_over(w, &s, &view);
    if (status == CW_OK && w->means) {
        merge_shapes(&s);
        divide(&s);
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
