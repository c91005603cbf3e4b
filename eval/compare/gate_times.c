/* The times of launches, for gate. */
#include <math.h>
#include <stdlib.h>

#include "eval/compare/gate.h"
#include "eval/quantile.h"
#include "image/range_view.h"

struct launch_times {
    double *mean, *median, *least; /* [range] of the capture, of the passes that timed it */
    double *count;                 /* of these passes */
};

/* If the counter of time timed the passes, one of them has the launch's time. Otherwise the time is from elsewhere, and
 * `known` is all there is. */
static void take_range(struct launch_times *to, uint32_t at, const struct cw_range *range, uint32_t passes,
                       double known, double *scratch)
{
    uint32_t count = 0;
    double sum = 0;
    bool counted = false;
    for (uint32_t p = 0; p < passes; p++)
        if (range->durations[p] >= 0) {
            scratch[count++] = range->durations[p];
            sum += range->durations[p];
            counted = counted || range->durations[p] == known;
        }
    to->mean[at] = to->median[at] = to->least[at] = known;
    to->count[at] = 1;
    if (!counted)
        return;
    to->mean[at] = sum / count;
    to->count[at] = count;
    cw_values_sort(scratch, count);
    to->median[at] = cw_quantile(scratch, count, 0.5);
    to->least[at] = scratch[0];
}

static enum cw_status take_ranges(struct launch_times *to, const struct cw_side *side, double *scratch,
                                  struct cw_arena *arena, struct cw_error *err)
{
    const uint32_t count = side->data->range_count, passes = side->data->schema.pass_count;
    struct cw_range_view view;
    enum cw_status status = cw_range_view_init(&view, side->data, arena, err);
    for (uint32_t first = 0, n; status == CW_OK && first < count; first += n) {
        n = count - first < view.room ? count - first : view.room;
        status = cw_range_view_load(&view, first, NULL, n);
        for (uint32_t i = 0; status == CW_OK && i < n; i++)
            take_range(to, first + i, &view.data.ranges[i], passes, side->groups.durations[first + i], scratch);
    }
    cw_range_view_free(&view);
    return status;
}

static struct cw_gate_time time_of(const struct launch_times *t, const uint32_t *ranges, uint32_t count,
                                   double *scratch)
{
    struct cw_gate_time time = {0, NAN, NAN, 0};
    double times = 0;
    uint32_t known = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (isnan(t->mean[ranges[i]]))
            continue;
        time.mean += t->mean[ranges[i]];
        time.least = fmin(time.least, t->least[ranges[i]]);
        times += t->count[ranges[i]];
        scratch[known++] = t->median[ranges[i]];
    }
    time.mean = known ? time.mean / known : NAN;
    time.count = (uint32_t)fmin(times, UINT32_MAX);
    time.median = known ? cw_median(scratch, known) : NAN;
    return time;
}

/* The ranges of several captures follow one another. If each capture has the same number of launches, the times are
 * means over captures, because the least of many launches is below the least of few. */
static struct cw_gate_time mean_run(const struct launch_times *t, const struct cw_group *group, uint32_t runs,
                                    double *scratch)
{
    const uint32_t parts = runs && group->count % runs == 0 ? runs : 1, part = group->count / parts;
    struct cw_gate_time mean = {0};
    for (uint32_t r = 0; r < parts; r++) {
        const struct cw_gate_time time = time_of(t, group->ranges + (size_t)r * part, part, scratch);
        mean.mean += time.mean / parts;
        mean.median += time.median / parts;
        mean.least += time.least / parts;
        mean.count = r && mean.count < time.count ? mean.count : time.count;
    }
    return mean;
}

enum cw_status cw_gate_times_make(struct cw_gate_time **times, const struct cw_side *side, struct cw_arena *arena,
                                  struct cw_error *err)
{
    const struct cw_groups *groups = &side->groups;
    const size_t ranges = side->data->range_count, passes = side->data->schema.pass_count;
    double *room = malloc((4 * ranges + (ranges > passes ? ranges : passes) + 1) * sizeof *room);
    *times = cw_arena_alloc(arena, groups->count, sizeof **times);
    if (!*times || !room) {
        free(room);
        return cw_error_nomem(err);
    }
    struct launch_times launches = {room, room + ranges, room + 2 * ranges, room + 3 * ranges};
    enum cw_status status = take_ranges(&launches, side, room + 4 * ranges, arena, err);
    for (uint32_t k = 0; status == CW_OK && k < groups->count; k++)
        (*times)[k] = mean_run(&launches, &groups->items[k], side->runs, room + 4 * ranges);
    free(room);
    return status;
}

/* ---- slow-downs that would show --------------------------------------------------------------------------------- */

struct cw_gate_shown cw_gate_shown_of(const struct cw_gate_kernel *limit, double ns, double total)
{
    const bool shows = limit->noise < 1 && ns > 0;
    return (struct cw_gate_shown){shows ? (limit->noise + limit->floor / ns) / (1 - limit->noise) : NAN, total};
}

static int by_slowdown(const void *a, const void *b)
{
    const double x = ((const struct cw_gate_shown *)a)->slowdown, y = ((const struct cw_gate_shown *)b)->slowdown;
    return isnan(x) || isnan(y) ? isnan(x) - isnan(y) : (x > y) - (x < y);
}

struct cw_gate_slowdown cw_gate_slowdown_of(struct cw_gate_shown *shown, uint32_t count)
{
    struct cw_gate_slowdown s = {NAN, NAN, NAN, 0, 0};
    double all = 0, until = 0;
    for (uint32_t i = 0; i < count; i++) {
        const double slowdown = shown[i].slowdown;
        if (!isnan(slowdown) && !(slowdown >= s.least))
            s.least = slowdown, s.least_at = i;
        if (!isnan(slowdown) && !(slowdown <= s.most))
            s.most = slowdown, s.most_at = i;
        all += shown[i].total > 0 ? shown[i].total : 0;
    }
    if (count)
        qsort(shown, count, sizeof *shown, by_slowdown);
    for (uint32_t i = 0; i < count && until < all / 2; i++) {
        until += shown[i].total > 0 ? shown[i].total : 0;
        s.half = shown[i].slowdown;
    }
    return s;
}
