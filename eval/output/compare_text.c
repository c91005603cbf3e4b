#define _GNU_SOURCE
#include "eval/output/comparison.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/shorten.h"
#include "base/text.h"
#include "eval/output/row_names.h"
#include "eval/output/terminal.h"
#include "eval/output/timeline_output.h"
#include "eval/status.h"

enum {
    WIDTH = 100,
    METRICS_SHOWN = 6,
    VALUE_SIZE = CW_NUMBER_SIZE + CW_UNIT_SIZE + 1,
    LEFT_WIDTH = 56, /* of a kernel's line, before its name */
    METRIC_REST = 55 /* of a metric's line, beside its name */
};

/* The groups that are compared, in words. */
struct words {
    const char *groups, *one, *many; /* of many a group is made */
    const char *single, *otherwise;
};
#define OF_LAUNCHES(what, each)                                                                                        \
    {                                                                                                                  \
        what, "launch", "launches", each " has one launch", "launched otherwise"                                       \
    }
#define OF_RANGES(what, each)                                                                                          \
    {                                                                                                                  \
        what, "range", "ranges", each " has one range", "of another number"                                            \
    }
static const struct words words_kernels = OF_LAUNCHES("kernels", "kernel"),
                          words_paths = OF_LAUNCHES("NVTX ranges", "NVTX range"),
                          words_trace = OF_LAUNCHES("kernels and copies", "kernel"),
                          words_ranges = OF_RANGES("user ranges", "name"),
                          words_nvtx = OF_RANGES("NVTX ranges", "path");

struct writing {
    const struct cw_comparison *c;
    const struct words *words;
    FILE *out;
    unsigned width;
    bool quiet;
    struct cw_terminal_seen *seen;
    const struct cw_row_names *names; /* of the matches shown */
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

/* "+12.3 %" of the first value. */
static const char *percent_text(double a, double b, char text[VALUE_SIZE])
{
    const double percent = 100 * cw_compare_part(a, b);
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

/* ---- the captures ------------------------------------------------------------------------------------------------ */

static void put_side(const struct writing *w, const char *which, const char *source, const struct cw_side *side)
{
    const struct cw_counter_data *d = side->data;
    const char *device = d->device_count ? cw_device_attribute(&d->devices[0], "name") : NULL;
    char time[VALUE_SIZE], launches[CW_NUMBER_SIZE], groups[CW_NUMBER_SIZE];
    cw_text_print(w->out, "%s  %s: %s%s%s %s in %s group%s, %s%s\n", which, source, device ? device : "",
                  device ? ", " : "", cw_terminal_integer(d->range_count, launches),
                  d->range_count == 1 ? w->words->one : w->words->many, cw_terminal_integer(side->groups.count, groups),
                  side->groups.count == 1 ? "" : "s", time_text(side->groups.total, false, time),
                  side->runs > 1 ? " a run" : "");
}

static void put_differences(const struct writing *w)
{
    const struct cw_comparison *c = w->c;
    bool other = false;
    for (uint32_t i = 0; i < c->difference_count; i++) {
        const struct cw_difference *d = &c->differences[i];
        if (!i)
            fputs("not alike:\n", w->out);
        cw_text_print(w->out, "  %-22s %s -> %s\n", d->what, cw_difference_side(d->a), cw_difference_side(d->b));
        other = other || d->other;
    }
    if (other)
        fputs("Values may differ because of another chip, device, plan or run alone.\n", w->out);
    if (c->difference_count)
        putc('\n', w->out);
}

static void put_time(const struct writing *w)
{
    const double a = w->c->a.groups.total, b = w->c->b.groups.total;
    const uint64_t unknown[] = {cw_groups_untimed(&w->c->a.groups), cw_groups_untimed(&w->c->b.groups)};
    char before[VALUE_SIZE], after[VALUE_SIZE], change[VALUE_SIZE], percent[VALUE_SIZE];
    if (unknown[0] || unknown[1]) {
        cw_text_print(w->out,
                      "time  %s -> %s, without %" PRIu64 " %s of A and %" PRIu64 " of B whose time is not known\n\n",
                      time_text(a, false, before), time_text(b, false, after), unknown[0],
                      unknown[0] == 1 ? w->words->one : w->words->many, unknown[1]);
        return;
    }
    cw_text_print(w->out, "time  %s -> %s  %s  %s\n\n", time_text(a, false, before), time_text(b, false, after),
                  time_text(b - a, true, change), percent_text(a, b, percent));
}

/* ---- kernels ---------------------------------------------------------------------------------------------------- */

/* The greatest change of a kernel: its time, or that it came or went; exact counts; measured values. */
enum what { CHANGED_TIME, CHANGED_COUNTS, CHANGED_VALUES, UNJUDGED, CHANGED_NOTHING };

/* The changed metrics of a match: exact counts first, then the heaviest; behind them the metrics that nobody can judge.
 */
struct changes {
    uint32_t *metrics, count, unjudged;
    double *weights;  /* [metric] */
    double *greatest; /* [unit] */
    bool time, slower, unjudged_time, launches;
    enum what what;
};

/* Exact counts weigh more than any change, doubtful values less. */
static const double exact_weight = 4, doubtful_weight = 1e-9;

/* The status that stands behind a metric's values: the worse of both sides. */
static enum cw_value_status status_of(const struct cw_change *change)
{
    return change->a_status > change->b_status ? change->a_status : change->b_status;
}

static int heaviest_first(const void *a, const void *b, void *weights)
{
    const uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const double *weight = weights;
    return weight[i] != weight[k] ? (weight[i] < weight[k]) - (weight[i] > weight[k]) : (i > k) - (i < k);
}

static void find_changes(const struct cw_comparison *c, const struct cw_match *m, struct changes *changes)
{
    changes->count = changes->unjudged = 0;
    changes->unjudged_time = false;
    changes->what = CHANGED_TIME;
    if (m->a == CW_NO_GROUP || m->b == CW_NO_GROUP)
        return;
    bool exact = false, values = false;
    const struct cw_change time = cw_compare_time(c, m);
    changes->time = time.changed;
    changes->slower = time.b > time.a;
    changes->unjudged_time = time.unjudged;
    changes->launches = cw_side_launches(&c->a, m->a) != cw_side_launches(&c->b, m->b);
    cw_compare_greatest(c, m, changes->greatest);
    for (uint32_t i = 0; i < c->a.means.metric_count; i++) {
        const struct cw_change change = cw_compare_metric(c, m, i);
        const bool is_count = c->classes[i] == CW_CLASS_EXACT;
        const double weight = cw_compare_weight(c, i, &change, changes->greatest);
        const enum cw_value_status status = status_of(&change);
        const bool doubtful = status != CW_VALUE_OK && status != CW_VALUE_MULTIPLEXED;
        changes->weights[i] = change.unjudged ? -1
                              : is_count      ? exact_weight + change.relative
                              : doubtful      ? fmin(weight, exact_weight) * doubtful_weight
                                              : fmin(weight, exact_weight);
        if (!change.unjudged && (!change.changed || (!is_count && weight < CW_DUST)))
            continue;
        changes->metrics[changes->count++] = i;
        changes->unjudged += change.unjudged;
        exact = exact || (is_count && change.changed);
        values = values || change.changed;
    }
    qsort_r(changes->metrics, changes->count, sizeof *changes->metrics, heaviest_first, changes->weights);
    changes->what = changes->time || changes->launches || m->reshaped ? CHANGED_TIME
                    : exact                                           ? CHANGED_COUNTS
                    : values                                          ? CHANGED_VALUES
                    : changes->unjudged || changes->unjudged_time     ? UNJUDGED
                                                                      : CHANGED_NOTHING;
}

static void put_shape(const struct cw_range *r, char *text, size_t size)
{
    *text = 0;
    if (r->grid[0])
        snprintf(text, size, "(%" PRIu32 ", %" PRIu32 ", %" PRIu32 ")x(%" PRIu32 ", %" PRIu32 ", %" PRIu32 ")",
                 r->grid[0], r->grid[1], r->grid[2], r->block[0], r->block[1], r->block[2]);
}

/* Prints the match of row `row`. */
static void put_match(const struct writing *w, uint32_t row, const struct cw_match *m)
{
    const struct cw_groups *a = &w->c->a.groups, *b = &w->c->b.groups;
    const double before = m->a != CW_NO_GROUP ? a->items[m->a].total : NAN;
    const double after = m->b != CW_NO_GROUP ? b->items[m->b].total : NAN;
    char x[VALUE_SIZE], y[VALUE_SIZE], change[VALUE_SIZE], percent[VALUE_SIZE], name[CW_SHORT_SIZE], launches[48];
    char old[96], new[96];
    const double old_count = m->a != CW_NO_GROUP ? cw_side_launches(&w->c->a, m->a) : 0;
    const double new_count = m->b != CW_NO_GROUP ? cw_side_launches(&w->c->b, m->b) : 0;
    if (m->a == CW_NO_GROUP || m->b == CW_NO_GROUP || old_count == new_count)
        snprintf(launches, sizeof launches, "%.10g", fmax(old_count, new_count));
    else
        snprintf(launches, sizeof launches, "%.10g->%.10g", old_count, new_count);
    cw_text_print(w->out, "%11s %8s %11s %11s %9s  ", time_text(m->change, true, change),
                  m->a == CW_NO_GROUP   ? "added"
                  : m->b == CW_NO_GROUP ? "gone"
                                        : percent_text(before, isnan(m->change) ? NAN : after, percent),
                  m->a == CW_NO_GROUP ? "-" : time_text(before, false, x),
                  m->b == CW_NO_GROUP ? "-" : time_text(after, false, y), launches);
    fputs(cw_row_name(w->names, row, name), w->out); /* escaped already */
    putc('\n', w->out);
    if (m->reshaped) {
        put_shape(cw_launch_of(&a->data, m->a), old, sizeof old);
        put_shape(cw_launch_of(&b->data, m->b), new, sizeof new);
        cw_text_print(w->out, "      another shape: %s -> %s\n", old, new);
    }
}

/* A long name has a line of its own, since its end says as much as its begin. */
static void put_metric(const struct writing *w, const struct cw_match *m, uint32_t metric)
{
    const struct cw_result *means = &w->c->a.means;
    const struct cw_change change = cw_compare_metric(w->c, m, metric);
    const double times = fabs(change.b - change.a) / change.spread;
    const int room = (int)w->width - METRIC_REST;
    const bool fits = cw_text_columns(means->names[metric]) <= (size_t)room;
    const enum cw_value_status status = status_of(&change);
    char x[VALUE_SIZE], y[VALUE_SIZE], percent[VALUE_SIZE], spread[32] = "";
    cw_terminal_see(w->seen, means->names[metric], status);
    snprintf(percent, sizeof percent, "-");
    if (!change.unjudged)
        percent_text(change.a, change.b, percent);
    if (!change.unjudged && change.freedom && change.spread > 0 && times < 9999)
        snprintf(spread, sizeof spread, "%.0f x spread", times);
    else if (!change.unjudged && change.freedom && change.spread == 0)
        snprintf(spread, sizeof spread, "each %s", w->words->one);
    cw_text_print(w->out, "      %-*s", room, means->names[metric]);
    if (!fits)
        cw_text_print(w->out, "\n      %*s", room, "");
    const char mark[] = {cw_terminal_mark(status), 0};
    cw_text_print(w->out, " %11s %11s %8s%s%s%s%s\n", value_text(change.a, means->units[metric], x),
                  value_text(change.b, means->units[metric], y), percent, *mark != ' ' ? " " : "",
                  *mark != ' ' ? mark : "", *spread ? "  " : "", spread);
}

/* Returns whether some metrics that changed are left out. */
static bool put_kernel(const struct writing *w, uint32_t row, const struct cw_match *m, const struct changes *changes)
{
    const uint32_t shown = changes->count < METRICS_SHOWN ? changes->count : METRICS_SHOWN;
    put_match(w, row, m);
    for (uint32_t i = 0; i < shown; i++)
        put_metric(w, m, changes->metrics[i]);
    const uint32_t changed = changes->count - changes->unjudged;
    if (shown < changed)
        cw_text_print(w->out, "      %" PRIu32 " more metric%s changed\n", changed - shown,
                      changed - shown == 1 ? "" : "s");
    const uint32_t unjudged = changes->count - (shown > changed ? shown : changed);
    if (unjudged)
        cw_text_print(w->out, "      %" PRIu32 " more metric%s cannot be judged\n", unjudged, unjudged == 1 ? "" : "s");
    return shown < changes->count;
}

/* ---- all of them ------------------------------------------------------------------------------------------------ */

/* Matches in the order of printing, and how many there are of each kind. */
struct all {
    uint32_t *order, count[CHANGED_NOTHING + 1], slower, faster, others; /* others: added, gone, launched otherwise */
    uint32_t unjudged;      /* have values that nobody can judge, among other changes */
    double lost, won, a, b; /* ns; a and b: of unchanged matches, NaN if none has a time */
    bool spread;            /* some kernel has several launches */
};

static void add_time(struct all *all, const struct cw_comparison *c, const struct cw_match *m, const struct changes *of)
{
    if (m->a == CW_NO_GROUP || m->b == CW_NO_GROUP || of->launches || m->reshaped) {
        all->others++;
    } else if (of->time) {
        *(of->slower ? &all->slower : &all->faster) += 1;
        *(of->slower ? &all->lost : &all->won) += isnan(m->change) ? 0 : m->change;
    } else if (of->what == CHANGED_NOTHING) {
        cw_group_add_time(&c->a.groups.items[m->a], &all->a);
        cw_group_add_time(&c->b.groups.items[m->b], &all->b);
    }
}

/* Matches with changed time first, then with changed counts, then others; each kind by the change of time. */
static void sort_matches(struct all *all, const struct cw_comparison *c, struct changes *changes, uint8_t *whats)
{
    uint32_t next[CHANGED_NOTHING + 1] = {0};
    for (uint32_t i = 0; i < c->match_count; i++) {
        const struct cw_match *m = &c->matches[i];
        find_changes(c, m, changes);
        whats[i] = (uint8_t)changes->what;
        all->count[changes->what]++;
        add_time(all, c, m, changes);
        all->unjudged += changes->unjudged || changes->unjudged_time;
        all->spread = all->spread || m->a == CW_NO_GROUP || m->b == CW_NO_GROUP || c->a.groups.items[m->a].count > 1 ||
                      c->b.groups.items[m->b].count > 1;
    }
    for (int what = 1; what <= CHANGED_NOTHING; what++)
        next[what] = next[what - 1] + all->count[what - 1];
    for (uint32_t i = 0; i < c->match_count; i++)
        all->order[next[whats[i]]++] = i;
}

/* ", 3 kernels slower (+1.234 us)" */
static void put_count(FILE *out, bool *first, uint32_t count, const char *what, double ns)
{
    char time[VALUE_SIZE];
    if (!count)
        return;
    cw_text_print(out, "%s%" PRIu32 " %s", *first ? "" : ", ", count, what);
    if (ns != 0)
        cw_text_print(out, " (%s)", time_text(ns, true, time));
    *first = false;
}

/* Prints for how many metrics a side lacks counters; frames and regions may lack a duration instead. */
static void put_uncounted(const struct writing *w, const char *letter, const struct cw_result *means)
{
    uint32_t count = 0, first = 0;
    for (uint32_t m = 0; m < means->metric_count && means->row_count; m++) {
        const struct cw_eval_metric *metric = &means->plan.metrics[m];
        if (metric->status == CW_VALUE_NOT_COLLECTED && !metric->undurated && count++ == 0)
            first = m;
    }
    if (count)
        cw_text_print(w->out, "%s did not count %" PRIu32 " of the metrics: %s%s\n", letter, count, means->names[first],
                      count > 1 ? ", ..." : "");
}

static void put_verdict(const struct writing *w, const struct all *all)
{
    bool first = true;
    char others[64];
    const char *all_but = all->unjudged ? "of the values that can be judged, " : "";
    const bool nothing = all->count[CHANGED_NOTHING] + all->count[UNJUDGED] == w->c->match_count;
    snprintf(others, sizeof others, "added, gone or %s", w->words->otherwise);
    if (nothing && all->spread) {
        fprintf(w->out, "%snothing changed beyond the usual difference between %s\n", all_but, w->words->many);
    } else if (nothing) {
        fprintf(w->out, "%snothing changed in %s: no exact count, and nothing else by more than 2 %%\n", all_but,
                w->words->groups);
    } else {
        fprintf(w->out, "changed %s: ", w->words->groups);
        put_count(w->out, &first, all->slower, "slower", all->lost);
        put_count(w->out, &first, all->faster, "faster", all->won);
        put_count(w->out, &first, all->others, others, 0);
        put_count(w->out, &first, all->count[CHANGED_COUNTS], "in counts", 0);
        put_count(w->out, &first, all->count[CHANGED_VALUES], "in measured values", 0);
        fputs("\n", w->out);
    }
    if (all->unjudged)
        fprintf(w->out,
                "cannot be judged: %" PRIu32 " of the %s %s values that overflowed, are incomplete, or are known on "
                "one side alone\n",
                all->unjudged, w->words->groups, all->unjudged == 1 ? "has" : "have");
    put_uncounted(w, "A", &w->c->a.means);
    put_uncounted(w, "B", &w->c->b.means);
    if (!all->spread && w->c->match_count)
        fprintf(w->out,
                "Each %s a side, so nobody knows how far %s differ by chance: give several\n"
                "captures a side, A.cwd... -- B.cwd..., or have it learned: counterworks gate --learn\n",
                w->words->single, w->words->many);
}

/* The names of the first `count` matches. NULL when out of memory. */
static struct cw_row_names *name_matches(const struct writing *w, const uint32_t *order, uint32_t count,
                                         struct cw_arena *arena)
{
    struct cw_row_names *names = cw_row_names_create(count, arena);
    size_t shapes;
    for (uint32_t i = 0; names && i < count; i++) {
        const struct cw_match *m = &w->c->matches[order[i]];
        const struct cw_groups *groups = m->a != CW_NO_GROUP ? &w->c->a.groups : &w->c->b.groups;
        const uint32_t group = m->a != CW_NO_GROUP ? m->a : m->b;
        const struct cw_range *launch = cw_launch_of(&groups->data, group);
        const bool shaped = launch->grid[0] && groups->by == CW_BY_KERNEL;
        if (!cw_row_names_set(names, i, groups->items[group].name, shaped ? launch->grid : NULL, launch->block))
            names = NULL;
    }
    if (!names || !cw_row_names_compare(names, &shapes))
        return NULL;
    cw_row_names_fit(names, w->width - LEFT_WIDTH, true);
    return names;
}

/* `what`: the order of the list, for its heading. False when out of memory. */
static bool put_kernels(const struct writing *to, size_t top, const char *what, const struct all *all,
                        struct changes *changes, struct cw_arena *arena)
{
    const struct cw_comparison *c = to->c;
    struct writing own = *to, *const w = &own;
    const uint32_t same = all->count[CHANGED_NOTHING], changed = c->match_count - same;
    const uint32_t shown = changed < top ? changed : (uint32_t)top;
    double rest = 0;
    bool left = false;
    char x[VALUE_SIZE], y[VALUE_SIZE], percent[VALUE_SIZE];
    struct cw_row_names *names = name_matches(w, all->order, shown, arena);
    if (!names)
        return false;
    own.names = names;
    if (shown)
        fprintf(w->out, "     change        %%           A           B  %8s  %s\n", w->words->many, what);
    for (uint32_t i = 0; i < shown; i++) {
        find_changes(c, &c->matches[all->order[i]], changes);
        left = put_kernel(w, i, &c->matches[all->order[i]], changes) || left;
    }
    for (uint32_t i = shown; i < changed; i++)
        rest += isnan(c->matches[all->order[i]].change) ? 0 : c->matches[all->order[i]].change;
    if (shown < changed)
        cw_text_print(w->out, "%11s  %" PRIu32 " more changed%s; --top N shows more\n", time_text(rest, true, x),
                      changed - shown, all->count[UNJUDGED] ? " or cannot be judged" : "");
    if (left && !w->quiet)
        fputs("All metrics that changed: --format json; some of them: -m NAME\n", w->out);
    if (same)
        cw_text_print(w->out, "%" PRIu32 " did not change: %s -> %s  %s\n", same, time_text(all->a, false, x),
                      time_text(all->b, false, y), percent_text(all->a, all->b, percent));
    cw_row_names_free(names);
    return true;
}

/* State for one walk through a comparison. */
struct going {
    struct all all;
    struct changes changes;
};

static bool begin(struct going *g, const struct cw_comparison *c, struct cw_arena *arena)
{
    uint8_t *whats = cw_arena_alloc(arena, c->match_count, sizeof *whats);
    *g = (struct going){.all = {.a = NAN, .b = NAN}};
    g->changes.metrics = cw_arena_alloc(arena, c->a.means.metric_count, sizeof *g->changes.metrics);
    g->changes.weights = cw_arena_alloc(arena, c->a.means.metric_count, sizeof *g->changes.weights);
    g->changes.greatest = cw_arena_alloc(arena, c->unit_count, sizeof *g->changes.greatest);
    g->all.order = cw_arena_alloc(arena, c->match_count, sizeof *g->all.order);
    if (!whats || !g->changes.metrics || !g->changes.weights || !g->changes.greatest || !g->all.order)
        return false;
    sort_matches(&g->all, c, &g->changes, whats);
    return true;
}

/* ---- traces ----------------------------------------------------------------------------------------------------- */

static void put_row(const struct writing *w, const char *what, double a, double b)
{
    char before[VALUE_SIZE], after[VALUE_SIZE], change[VALUE_SIZE], percent[VALUE_SIZE];
    cw_text_print(w->out, "%11s %8s %11s %11s  %s\n", time_text(b - a, true, change), percent_text(a, b, percent),
                  time_text(a, false, before), time_text(b, false, after), what);
}

/* How long GPUs worked and were idle, with the causes that take a hundredth of the time on one of the sides. */
static void put_usage(const struct writing *w, const struct cw_diff_output *t)
{
    struct cw_device_usage a, b;
    if (!t->a_usage)
        return;
    a = cw_timeline_usage_sum(t->a_usage);
    b = cw_timeline_usage_sum(t->b_usage);
    fputs("     change        %           A           B  the GPUs' time, and the causes of idle time\n", w->out);
    put_row(w, "all of it", a.traced, b.traced);
    put_row(w, "something ran", a.busy, b.busy);
    put_row(w, "idle", a.idle, b.idle);
    for (enum cw_idle_cause c = 0; c < CW_IDLE__COUNT; c++) {
        char text[128];
        snprintf(text, sizeof text, "  %s", cw_timeline_cause_texts[c]);
        if (a.causes[c] >= CW_DUST * a.traced || b.causes[c] >= CW_DUST * b.traced)
            put_row(w, text, a.causes[c], b.causes[c]);
    }
    putc('\n', w->out);
}

static bool put_ranges(const struct writing *w, size_t top, const struct going *g, struct changes *changes,
                       struct cw_arena *arena)
{
    putc('\n', w->out);
    if (!w->quiet)
        put_verdict(w, &g->all);
    return put_kernels(w, top, "NVTX ranges, from when they were opened to their end", &g->all, changes, arena);
}

static const struct words *words_of(const struct cw_diff_output *o)
{
    const struct cw_side *side = o->of->a.groups.count ? &o->of->a : &o->of->b;
    return o->traces                                   ? &words_trace
           : !cw_groups_are_of_launches(&side->groups) ? &words_ranges
           : side->groups.by == CW_BY_NVTX             ? &words_paths
                                                       : &words_kernels;
}

static void put_summary(const struct writing *w, const struct cw_diff_output *o, const struct all *all)
{
    put_side(w, "A", o->of->a_source, &o->of->a);
    put_side(w, "B", o->of->b_source, &o->of->b);
    put_verdict(w, all);
    putc('\n', w->out);
}

enum cw_status cw_diff_print(FILE *out, const void *output, struct cw_error *err)
{
    const struct cw_diff_output *o = output;
    const struct cw_comparison *ranges = o->ranges;
    struct cw_terminal_seen seen = {0};
    const struct writing w = {o->of, words_of(o), out, o->width < WIDTH ? WIDTH : o->width, o->quiet, &seen, NULL},
                         of_ranges = {ranges, &words_nvtx, out, w.width, w.quiet, &seen, NULL};
    struct cw_arena *arena = cw_arena_create();
    struct going g, r = {0};
    bool good = arena && begin(&g, o->of, arena) && (!ranges || begin(&r, ranges, arena));
    if (good) {
        if (!o->quiet)
            put_summary(&w, o, &g.all);
        put_differences(&w);
        put_time(&w);
        put_usage(&w, o);
        good = put_kernels(&w, o->top, "by change of time, then of counts", &g.all, &g.changes, arena);
        if (good && ranges)
            good = put_ranges(&of_ranges, o->top, &r, &r.changes, arena);
        if (!o->quiet)
            cw_terminal_legend(&seen, out);
    }
    cw_arena_destroy(arena);
    return good ? CW_OK : cw_error_nomem(err);
}

/* ---- gate -------------------------------------------------------------------------------------------------------- */

static const char *unit_of(const struct cw_judgement *j, const char *metric)
{
    const struct cw_result *means = &j->comparison->a.means;
    if (metric == cw_gate_time || strcmp(metric, cw_gate_time) == 0)
        return "nanoseconds";
    for (uint32_t i = 0; i < means->metric_count; i++)
        if (strcmp(means->names[i], metric) == 0)
            return means->units[i];
    return "";
}

static void put_value(FILE *out, double value, const char *unit)
{
    char number[CW_NUMBER_SIZE], shown[CW_UNIT_SIZE];
    const double factor = cw_terminal_factor(value, unit, shown);
    const bool plain = factor == 1 && *shown != 'n' && *shown != '%';
    cw_text_print(out, "%s%s%s", cw_terminal_number(value / factor, number), plain ? "" : " ", plain ? "" : shown);
}

static void put_gate_side(FILE *out, double value, const char *unit, int status)
{
    if (isnan(value))
        fputs("unknown", out);
    else
        put_value(out, value, unit);
    if (status != CW_VALUE_OK && status != CW_VALUE_MULTIPLEXED && status != CW_VALUE_MIXED_PASSES)
        cw_text_print(out, " (%s)", cw_value_status_text((enum cw_value_status)status));
}

static void put_finding(const struct cw_judgement *j, const struct cw_gate_finding *f, FILE *out)
{
    const char *name = j->rules->metrics[f->metric].name, *unit = unit_of(j, name);
    const bool counts = f->verdict != CW_INCOMPARABLE;
    cw_text_print(out, "    %-12s %s\n        ", cw_verdict_names[f->verdict], name);
    put_gate_side(out, f->a, unit, f->a_status);
    fputs(" -> ", out);
    put_gate_side(out, f->b, unit, f->b_status);
    if (counts && isfinite(f->a) && isfinite(f->b) && f->a != 0)
        cw_text_print(out, "  %+.3g %%", 100 * (f->b - f->a) / fabs(f->a));
    if (f->allowed > 1e-9 * fabs(f->a)) {
        fputs(", allowed ", out);
        put_value(out, f->allowed, unit);
    }
    putc('\n', out);
}

/* "3.2 %" */
static const char *part_text(double part, char text[CW_NUMBER_SIZE])
{
    cw_text_format(text, CW_NUMBER_SIZE, part < 0.0995 ? "%.2g %%" : "%.0f %%", 100 * part);
    return text;
}

enum { LABEL_SHOWN = 84, SLOWDOWN_LABEL_SHOWN = 52, NEEDED_SHOWN = 3 }; /* in lines of 100 columns */

/* "name (4, 1, 1)x(128, 1, 1)" in `width` columns, with the name shortened. */
static const char *shorten_label(const char *label, size_t width, char text[CW_SHORT_SIZE])
{
    char shape[CW_SHORT_SIZE] = "";
    char *name = strdup(label), *last = NULL;
    for (char *at = name; at && (at = strstr(at, " (")); at++)
        last = at;
    if (last && strstr(last, ")x(") && strlen(last) < width / 2 + 16) {
        cw_text_format(shape, sizeof shape, "%s", last);
        *last = 0;
    }
    const size_t taken = cw_text_columns(shape);
    cw_shorten(name ? name : "", width > taken ? width - taken : 1, text);
    if (strlen(text) + strlen(shape) < CW_SHORT_SIZE)
        strcat(text, shape);
    free(name);
    return text;
}

/* The least slow-downs that would show: smaller ones pass as "same". */
static void put_slowdown(FILE *out, const struct cw_gate_slowdown *s, const char *of_least, const char *of_most)
{
    char text[CW_NUMBER_SIZE], label[CW_SHORT_SIZE];
    if (isnan(s->least)) {
        fputs("  no slow-down would show: time is not judged\n", out);
        return;
    }
    cw_text_print(out, "  slow-downs would show above %7s  in %s\n", part_text(s->least, text),
                  shorten_label(of_least, SLOWDOWN_LABEL_SHOWN, label));
    if (s->least_at == s->most_at)
        return;
    if (!isnan(s->half) && s->half < s->most)
        cw_text_print(out, "                              %7s  in kernels with half of the time\n",
                      part_text(s->half, text));
    cw_text_print(out, "                              %7s  in %s\n", part_text(s->most, text),
                  shorten_label(of_most, SLOWDOWN_LABEL_SHOWN, label));
}

void cw_gate_print_summary(FILE *out, const char *path, const struct cw_gate_runs *r, const struct cw_gate_summary *s)
{
    char least[CW_NUMBER_SIZE], median[CW_NUMBER_SIZE], greatest[CW_NUMBER_SIZE];
    cw_text_print(out,
                  "%s: learned from %" PRIu32 " runs of %" PRIu32 " kernel%s\n  %" PRIu64
                  " values have to be equal, %" PRIu64 " have a noise",
                  path, r->runs, r->kernel_count, r->kernel_count == 1 ? "" : "s", s->exact, s->noisy);
    if (s->least < s->greatest)
        cw_text_print(out, " of %s to %s (median %s)", part_text(s->least, least), part_text(s->greatest, greatest),
                      part_text(s->median, median));
    else if (s->noisy)
        cw_text_print(out, " of %s", part_text(s->least, least));
    cw_text_print(out, ", %" PRIu64 " cannot be judged\n", s->unjudged);
    if (r->kernel_count)
        put_slowdown(out, &s->slowdown, r->kernels[s->slowdown.least_at], r->kernels[s->slowdown.most_at]);
}

static const char *label_of(const struct cw_judgement *j, uint32_t match, struct cw_arena *arena)
{
    const struct cw_comparison *c = j->comparison;
    return cw_group_label(&c->a.groups, c->matches[match].a, 0, arena);
}

/* Kernels in which the needed slow-down would not show. */
static enum cw_status put_needed(FILE *out, const struct cw_judgement *j, struct cw_arena *arena, struct cw_error *err)
{
    char need[CW_NUMBER_SIZE], shown[CW_NUMBER_SIZE], text[CW_SHORT_SIZE];
    uint32_t told = 0;
    if (!j->needed)
        return CW_OK;
    cw_text_print(
        out, "  not enough: slow-downs of %s would not show in %" PRIu32 " kernel%s; compare several runs of each\n",
        part_text(j->need, need), j->needed, j->needed == 1 ? "" : "s");
    for (uint32_t i = 0; i < j->comparison->match_count && told < NEEDED_SHOWN; i++) {
        if (!j->lacking[i])
            continue;
        const char *label = label_of(j, i, arena);
        if (!label)
            return cw_error_nomem(err);
        cw_text_print(out, "    %s  in %s\n", isnan(j->shown[i]) ? "none" : part_text(j->shown[i], shown),
                      shorten_label(label, SLOWDOWN_LABEL_SHOWN, text));
        told++;
    }
    if (j->needed > told)
        cw_text_print(out, "    and in %" PRIu32 " more\n", j->needed - told);
    return CW_OK;
}

static enum cw_status print_gate(FILE *out, const struct cw_judgement *j, struct cw_arena *arena, struct cw_error *err)
{
    uint32_t missing = 0;
    for (uint32_t i = 0; i < j->finding_count; i++)
        missing += j->findings[i].verdict == CW_INCOMPARABLE;
    cw_text_print(out, "%s: %" PRIu64 " values of %" PRIu32 " %s%s compared, %" PRIu32 " beyond their noise",
                  cw_verdict_names[j->verdict], j->compared, j->kernels,
                  cw_groups_are_of_launches(&j->comparison->a.groups) ? "kernel" : "range", j->kernels == 1 ? "" : "s",
                  j->finding_count - missing);
    if (missing)
        cw_text_print(out, "; %" PRIu32 " more cannot be compared", missing);
    putc('\n', out);
    if (j->unjudged)
        cw_text_print(out,
                      "  not judged: %" PRIu64
                      " more value%s, implausible, or with a noise that is unknown or at least 100 %%\n",
                      j->unjudged, j->unjudged == 1 ? "" : "s");
    for (uint32_t i = 0; i < j->reason_count; i++)
        cw_text_print(out, "  incomparable: %s\n", j->reasons[i]);
    if (j->reasons_left)
        cw_text_print(out, "  and %" PRIu32 " more reasons like these\n", j->reasons_left);
    const bool told = !isnan(j->slowdown.least);
    const char *of_least = told ? label_of(j, j->slowdown.least_at, arena) : "";
    const char *of_most = told ? label_of(j, j->slowdown.most_at, arena) : "";
    if (!of_least || !of_most)
        return cw_error_nomem(err);
    put_slowdown(out, &j->slowdown, of_least, of_most);
    CW_TRY(put_needed(out, j, arena, err));
    for (uint32_t i = 0, match = UINT32_MAX; i < j->finding_count; i++) {
        const struct cw_gate_finding *f = &j->findings[i];
        const char *label = f->match != match ? label_of(j, f->match, arena) : "";
        char shown[CW_SHORT_SIZE];
        if (!label)
            return cw_error_nomem(err);
        if (*label)
            cw_text_print(out, "  %s: %s\n", cw_verdict_names[j->verdicts[f->match]],
                          shorten_label(label, LABEL_SHOWN, shown));
        match = f->match;
        put_finding(j, f, out);
    }
    return CW_OK;
}

enum cw_status cw_gate_print(FILE *out, const void *output, struct cw_error *err)
{
    struct cw_arena *arena = cw_arena_create();
    enum cw_status status = arena ? print_gate(out, output, arena, err) : cw_error_nomem(err);
    cw_arena_destroy(arena);
    return status;
}
