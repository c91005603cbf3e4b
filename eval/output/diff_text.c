#define _GNU_SOURCE
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/shorten.h"
#include "base/text.h"
#include "eval/better.h"
#include "eval/output/diff.h"
#include "eval/output/terminal.h"

enum {
    WIDTH = 100,
    METRICS_SHOWN = 6,
    VALUE_SIZE = CW_NUMBER_SIZE + CW_UNIT_SIZE + 1,
    LEFT_WIDTH = 56,  /* of a kernel's line, before its name */
    METRIC_REST = 53, /* of a metric's line, beside its name */
    KNOWN_FIRST = 4   /* more than any change: it is known which way is better */
};

struct writing {
    const struct cw_comparison *c;
    FILE *out;
    unsigned width;
};

/* "1.234 ms", "21.76 kB" */
static const char *value_text(double value, const char *unit, char text[VALUE_SIZE])
{
    char number[CW_NUMBER_SIZE], shown[CW_UNIT_SIZE];
    const double factor = cw_terminal_factor(value, unit, shown);
    const bool short_unit =
        strcmp(shown, "B") == 0 || strcmp(shown, "B/s") == 0 || strcmp(shown, "ns") == 0 || strcmp(shown, "%") == 0;
    const bool plain = isnan(value) || (factor == 1 && !short_unit);
    cw_terminal_number(value / factor, number);
    snprintf(text, VALUE_SIZE, "%s%s%s", number, plain ? "" : " ", plain ? "" : shown);
    return text;
}

static const char *time_text(double ns, bool sign, char text[VALUE_SIZE])
{
    char shown[CW_UNIT_SIZE];
    const double factor = cw_terminal_factor(ns, "nanoseconds", shown);
    if (isnan(ns))
        snprintf(text, VALUE_SIZE, "n/a");
    else
        snprintf(text, VALUE_SIZE, sign ? "%+.*f %s" : "%.*f %s", factor > 1 ? 3 : 0, ns / factor, shown);
    return text;
}

/* "+12.3 %" of the value before. */
static const char *percent_text(double a, double b, char text[VALUE_SIZE])
{
    const double percent = 100 * (b - a) / fabs(a);
    if (a == b)
        snprintf(text, VALUE_SIZE, "0 %%");
    else if (!isfinite(percent))
        snprintf(text, VALUE_SIZE, "-");
    else if (fabs(percent) >= 1000)
        snprintf(text, VALUE_SIZE, b / a < 100 ? "x %.3g" : "x %.0f", b / a);
    else
        snprintf(text, VALUE_SIZE, "%+.*f %%", fabs(percent) < 0.095 ? 3 : 1, percent);
    return text;
}

/* ---- what the captures are of ----------------------------------------------------------------------------------- */

static void put_side(const struct writing *w, const char *which, const char *source, const struct cw_side *side)
{
    const struct cw_counter_data *d = side->each.data;
    const char *device = d->device_count ? cw_device_attribute(&d->devices[0], "name") : NULL;
    char time[VALUE_SIZE];
    cw_text_print(w->out, "%s  %s: %s%s%" PRIu32 " launches in %" PRIu32 " group%s, %s\n", which, source,
                  device ? device : "", device ? ", " : "", d->range_count, side->groups.count,
                  side->groups.count == 1 ? "" : "s", time_text(side->groups.total, false, time));
}

static void put_differences(const struct writing *w)
{
    const struct cw_comparison *c = w->c;
    bool other = false;
    for (uint32_t i = 0; i < c->difference_count; i++) {
        const struct cw_difference *d = &c->differences[i];
        if (!i)
            fputs("\nnot alike:\n", w->out);
        cw_text_print(w->out, "  %-22s %s -> %s\n", d->what, *d->a ? d->a : "(none)", *d->b ? d->b : "(none)");
        other = other || d->other;
    }
    if (other)
        fputs("Of another chip, device or plan values may differ for that alone.\n", w->out);
}

static void put_time(const struct writing *w)
{
    const double a = w->c->a.groups.total, b = w->c->b.groups.total;
    char before[VALUE_SIZE], after[VALUE_SIZE], change[VALUE_SIZE], percent[VALUE_SIZE];
    cw_text_print(w->out, "\ntime  %s -> %s  %s  %s\n\n", time_text(a, false, before), time_text(b, false, after),
                  time_text(b - a, true, change), percent_text(a, b, percent));
}

/* ---- kernels ---------------------------------------------------------------------------------------------------- */

/* A match and the metrics that changed, of which the greatest stand first. */
struct changes {
    uint32_t *metrics, count;
    double *sizes; /* [metric] */
    bool time, launches;
};

static int largest_first(const void *a, const void *b, void *sizes)
{
    const uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const double *size = sizes;
    return size[i] != size[k] ? (size[i] < size[k]) - (size[i] > size[k]) : (i > k) - (i < k);
}

static bool find_changes(const struct cw_comparison *c, const struct cw_match *m, struct changes *changes)
{
    changes->count = 0;
    if (m->a == CW_NO_GROUP || m->b == CW_NO_GROUP)
        return true;
    changes->time = cw_compare_time(c, m).changed;
    changes->launches = c->a.groups.items[m->a].count != c->b.groups.items[m->b].count;
    for (uint32_t i = 0; i < c->a.means.metric_count; i++) {
        const struct cw_change change = cw_compare_metric(c, m, i);
        changes->sizes[i] = change.relative + (cw_metric_better(c->a.means.names[i]) ? KNOWN_FIRST : 0);
        if (change.changed)
            changes->metrics[changes->count++] = i;
    }
    qsort_r(changes->metrics, changes->count, sizeof *changes->metrics, largest_first, changes->sizes);
    return changes->time || changes->launches || changes->count || m->reshaped;
}

static void put_shape(const struct cw_range *r, char *text, size_t size)
{
    *text = 0;
    if (r->grid[0])
        snprintf(text, size, "(%" PRIu32 ", %" PRIu32 ", %" PRIu32 ")x(%" PRIu32 ", %" PRIu32 ", %" PRIu32 ")",
                 r->grid[0], r->grid[1], r->grid[2], r->block[0], r->block[1], r->block[2]);
}

static void put_match(const struct writing *w, const struct cw_match *m)
{
    const struct cw_groups *a = &w->c->a.groups, *b = &w->c->b.groups;
    const struct cw_group *of = m->a != CW_NO_GROUP ? &a->items[m->a] : &b->items[m->b];
    const double before = m->a != CW_NO_GROUP ? a->items[m->a].total : NAN;
    const double after = m->b != CW_NO_GROUP ? b->items[m->b].total : NAN;
    char x[VALUE_SIZE], y[VALUE_SIZE], change[VALUE_SIZE], percent[VALUE_SIZE], name[CW_SHORT_SIZE], launches[48];
    char old[96], new[96];
    if (m->a == CW_NO_GROUP || m->b == CW_NO_GROUP)
        snprintf(launches, sizeof launches, "%" PRIu32, of->count);
    else if (a->items[m->a].count == b->items[m->b].count)
        snprintf(launches, sizeof launches, "%" PRIu32, a->items[m->a].count);
    else
        snprintf(launches, sizeof launches, "%" PRIu32 "->%" PRIu32, a->items[m->a].count, b->items[m->b].count);
    cw_text_print(w->out, "%11s %8s %11s %11s %9s  ", time_text(m->change, true, change),
                  m->a == CW_NO_GROUP   ? "added"
                  : m->b == CW_NO_GROUP ? "gone"
                                        : percent_text(before, after, percent),
                  m->a == CW_NO_GROUP ? "-" : time_text(before, false, x),
                  m->b == CW_NO_GROUP ? "-" : time_text(after, false, y), launches);
    fputs(cw_shorten(of->name, w->width - LEFT_WIDTH, name), w->out); /* escaped already */
    putc('\n', w->out);
    if (m->reshaped) {
        put_shape(&a->data.ranges[m->a], old, sizeof old);
        put_shape(&b->data.ranges[m->b], new, sizeof new);
        cw_text_print(w->out, "      another shape: %s -> %s\n", old, new);
    }
}

/* A long name has a line of its own: its end says as much as its begin. */
static void put_metric(const struct writing *w, const struct cw_match *m, uint32_t metric)
{
    const struct cw_result *means = &w->c->a.means;
    const struct cw_change change = cw_compare_metric(w->c, m, metric);
    const double times = fabs(change.b - change.a) / change.spread;
    const int room = (int)w->width - METRIC_REST;
    const bool fits = cw_text_columns(means->names[metric]) <= (size_t)room;
    char x[VALUE_SIZE], y[VALUE_SIZE], percent[VALUE_SIZE], spread[32] = "";
    if (change.freedom && change.spread > 0 && times < 9999)
        snprintf(spread, sizeof spread, "%.0f x spread", times);
    else if (change.freedom && change.spread == 0)
        snprintf(spread, sizeof spread, "each launch");
    cw_text_print(w->out, "      %-*s", room, means->names[metric]);
    if (!fits)
        cw_text_print(w->out, "\n      %*s", room, "");
    cw_text_print(w->out, " %11s %11s %8s%s%s\n", value_text(change.a, means->units[metric], x),
                  value_text(change.b, means->units[metric], y), percent_text(change.a, change.b, percent),
                  *spread ? "  " : "", spread);
}

static void put_kernel(const struct writing *w, const struct cw_match *m, const struct changes *changes)
{
    const uint32_t shown = changes->count < METRICS_SHOWN ? changes->count : METRICS_SHOWN;
    put_match(w, m);
    for (uint32_t i = 0; i < shown; i++)
        put_metric(w, m, changes->metrics[i]);
    if (shown < changes->count)
        cw_text_print(w->out, "      %" PRIu32 " more metrics changed\n", changes->count - shown);
}

static void put_kernels(const struct writing *w, size_t top, struct changes *changes)
{
    const struct cw_comparison *c = w->c;
    size_t shown = 0, more = 0;
    uint32_t same = 0;
    double a = 0, b = 0, rest = 0;
    char x[VALUE_SIZE], y[VALUE_SIZE], percent[VALUE_SIZE];
    for (uint32_t i = 0; i < c->match_count; i++) {
        const struct cw_match *m = &c->matches[i];
        if (!find_changes(c, m, changes)) {
            same++;
            a += c->a.groups.items[m->a].timed ? c->a.groups.items[m->a].total : 0;
            b += c->b.groups.items[m->b].timed ? c->b.groups.items[m->b].total : 0;
        } else if (shown == top) {
            more++;
            rest += isnan(m->change) ? 0 : m->change;
        } else {
            if (!shown++)
                fputs("     change        %           A           B  launches  by change of time\n", w->out);
            put_kernel(w, m, changes);
        }
    }
    if (more)
        cw_text_print(w->out, "%11s  %zu more changed; --top N shows more\n", time_text(rest, true, x), more);
    if (same)
        cw_text_print(w->out, "%" PRIu32 " did not change: %s -> %s  %s\n", same, time_text(a, false, x),
                      time_text(b, false, y), percent_text(a, b, percent));
}

enum cw_status cw_diff_print(FILE *out, const void *output, struct cw_error *err)
{
    const struct cw_diff_output *o = output;
    const uint32_t metrics = o->of->a.means.metric_count;
    const struct writing w = {o->of, out, o->width < WIDTH ? WIDTH : o->width};
    struct changes changes = {.metrics = calloc(metrics + (size_t)1, sizeof *changes.metrics),
                              .sizes = calloc(metrics + (size_t)1, sizeof *changes.sizes)};
    const bool good = changes.metrics && changes.sizes;
    if (good) {
        put_side(&w, "A", o->of->a_source, &o->of->a);
        put_side(&w, "B", o->of->b_source, &o->of->b);
        put_differences(&w);
        put_time(&w);
        put_kernels(&w, o->top, &changes);
    }
    free(changes.metrics);
    free(changes.sizes);
    return good ? CW_OK : cw_error_nomem(err);
}
