#define _GNU_SOURCE
#include "eval/output/group_columns.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "eval/advice/advice.h"
#include "eval/output/capture.h"
#include "eval/output/terminal.h"
#include "eval/output/joined.h"
#include "eval/output/row_names.h"

enum {
    MOST_METRICS = 8,
    MANY_KERNELS = 10,
    NAME_LEAST = 20,
    NAME_USUAL = 40, /* with less room, the rarely wanted columns go */
    CELL_SIZE = 48,
    LIST_COLUMNS = 14,
    GROUP_COLUMNS = 5, /* most calls of add_group_column */
    FINDING_SIZE = 64
};

/* ---- summary ----------------------------------------------------------------------------------------------------- */

static void put_devices(const struct cw_groups *groups, FILE *out)
{
    cw_capture_put_devices(&groups->data, groups->gpu_count, out);
    fputs(groups->data.complete ? "\n" : ", incomplete\n", out);
}

/* The title of a row; user ranges have a name and no kernel. */
static const char *subject(const struct cw_output_rows *rows)
{
    static const char *const subjects[CW_BY__COUNT] = {"kernel", "family", "range", "NVTX range",
                                                       "device", "rank",   "range", "stream"};
    return rows->groups->by == CW_BY_KERNEL && !cw_groups_are_of_launches(rows->groups) ? "name"
                                                                                        : subjects[rows->groups->by];
}

/* "1,429 launches of 38 kernels in 45 shapes", "12 of 1,429 launches of 3 kernels", "... in 12 families" */
static void put_counts(const struct cw_output_rows *rows, FILE *out)
{
    static const char *const between[CW_BY__COUNT] = {"of", "in", "", "in", "on", "of", "in", "in"};
    const struct cw_groups *groups = rows->groups;
    const bool families = groups->by == CW_BY_FAMILY, launches = cw_groups_are_of_launches(groups);
    const uint32_t count = groups->by == CW_BY_KERNEL && launches ? groups->kernels : groups->count;
    char number[CW_NUMBER_SIZE];
    uint64_t ranges = 0;
    for (uint32_t i = 0; i < groups->count; i++)
        ranges += groups->items[i].count;
    const bool part = ranges < groups->range_count && groups->by != CW_BY_NVTX; /* a range may lie in several paths */
    const uint64_t all = part ? groups->range_count : ranges;
    cw_text_print(out, "%s", cw_terminal_integer(ranges, number));
    if (part)
        cw_text_print(out, " of %s", cw_terminal_integer(all, number));
    cw_text_print(out, " %s%s", launches ? "launch" : "range", all == 1 ? "" : launches ? "es" : "s");
    if (families && launches)
        cw_text_print(out, " of %s kernel%s", cw_terminal_integer(groups->kernels, number),
                      groups->kernels == 1 ? "" : "s");
    if (groups->by != CW_BY_RANGE)
        cw_text_print(out, " %s %s %s%s", between[groups->by], cw_terminal_integer(count, number),
                      families && count != 1 ? "families" : subject(rows), count != 1 && !families ? "s" : "");
    if (groups->by == CW_BY_KERNEL && launches && groups->shapes != count)
        cw_text_print(out, " in %s shapes", cw_terminal_integer(groups->shapes, number));
}

static bool is_multiplexed(const struct cw_groups *groups)
{
    for (uint32_t k = 0; k < groups->count; k++)
        if (!groups->items[k].multiplexed)
            return false;
    return groups->count > 0;
}

/* "12 launches of 3 kernels, 1.2 ms of GPU time, counted in 4 passes" */
static void put_whole(const struct cw_output_rows *rows, FILE *out)
{
    const struct cw_groups *groups = rows->groups;
    const uint32_t passes = groups->data.schema.pass_count;
    char text[CW_TIME_TEXT_SIZE];
    put_counts(rows, out);
    if (cw_groups_are_timed(groups)) {
        cw_terminal_time(groups->total, text);
        cw_text_print(out, ", %s of", text);
        if (cw_groups_are_part(groups))
            cw_text_print(out, " %s of", cw_terminal_time(groups->whole, text));
        fputs(" GPU time", out);
        cw_terminal_put_timed(groups, out);
    }
    const char *how = is_multiplexed(groups) ? "each counted in one of" : "counted in";
    cw_text_print(out, ", %s %" PRIu32 " pass%s", how, passes, passes == 1 ? "" : "es");
}

/* Lines of a terminal break between words. */
static void put_lines(const struct cw_output_rows *rows, unsigned width, FILE *out)
{
    char *text = NULL;
    size_t size = 0;
    FILE *line = width ? open_memstream(&text, &size) : NULL;
    put_whole(rows, line ? line : out);
    if (line && fclose(line) == 0)
        cw_text_put_words(out, text, size, 0, width);
    putc('\n', out);
    free(text);
}

static void put_summary(const struct cw_output_rows *rows, unsigned width, FILE *out)
{
    const struct cw_groups *groups = rows->groups;
    char text[CW_TIME_TEXT_SIZE];
    cw_text_print(out, "%s: ", rows->result->source);
    put_devices(groups, out);
    put_lines(rows, width, out);
    cw_capture_put_filters(&groups->data, out);
    if (groups->count && !cw_groups_are_timed(groups))
        fputs("No time was collected, so they are sorted by their number.\n", out);
    if (groups->nested)
        cw_text_print(
            out, "%s of them lie within others, and each was counted by itself: shares add up to more than 100 %%.\n",
            cw_terminal_integer(groups->nested, text));
    const struct cw_short_launches brief = cw_groups_find_short(groups);
    if (brief.many)
        cw_text_print(out, "%s of the launches take less than 10 us: %.1f %% of the time.\n",
                      cw_terminal_integer(brief.count, text), 100 * brief.share);
    if (rows->dropped)
        cw_text_print(out, "The filter leaves out %" PRIu32 " of them%s.\n", rows->dropped,
                      rows->unknown ? ", some because they have no value to judge by" : "");
    cw_capture_tell_clocks(&groups->data, out);
    putc('\n', out);
}

static void put_joined_summary(const struct cw_output_rows *rows, unsigned width, FILE *out)
{
    (void)width;
    cw_text_print(out, "%s joined with %s: ", rows->joined->trace, rows->result->source);
    put_devices(rows->groups, out);
    cw_joined_put_summary(rows, out);
    if (rows->dropped)
        cw_text_print(out, "Rows that the filter leaves out: %" PRIu32 "%s.\n", rows->dropped,
                      rows->unknown ? ", some because they have no value to judge by" : "");
    cw_capture_tell_clocks(&rows->groups->data, out);
    putc('\n', out);
}

/* ---- the list --------------------------------------------------------------------------------------------------- */

struct line {
    char range[CW_NUMBER_SIZE], kernels[CW_NUMBER_SIZE], gap[CW_TIME_TEXT_SIZE], counted[16], joined[16];
    char cells[GROUP_COLUMNS][CW_TIME_TEXT_SIZE]; /* of the columns that files have as well */
    char metrics[MOST_METRICS][CELL_SIZE];
    char limiter[FINDING_SIZE], finding[FINDING_SIZE];
    char shape[CW_ROW_MARK_SIZE];
    char name[CW_SHORT_SIZE];
};

struct list {
    const struct cw_output_rows *rows;
    int name_least, name_usual; /* columns of the widest name, at most NAME_LEAST or NAME_USUAL */
    struct cw_arena *arena;
    struct cw_row_names *names;
    size_t shape_width;      /* columns of the widest shape behind a name, 0 where names alone tell the rows apart */
    bool limiters, findings; /* some row has one */
    bool slower, partly;     /* of a join: some row took another time when it was counted, or lacks metrics in part */
    struct line one;
    const struct cw_group_column *shown[GROUP_COLUMNS];
    size_t shown_count;
    struct cw_output_column columns[LIST_COLUMNS + MOST_METRICS];
    size_t column_count;
    char letters[MOST_METRICS][2];
    const char *titles[MOST_METRICS]; /* the metrics' names, with their units */
};

/* A value with the prefix of its unit, and its mark. */
static void put_value(const struct cw_result *r, uint32_t metric, uint32_t row, char text[CELL_SIZE])
{
    const size_t at = (size_t)metric * r->row_count + row;
    const double value = r->values[at];
    char unit[CW_UNIT_SIZE], number[CW_NUMBER_SIZE];
    const double factor = cw_terminal_factor(value, r->units[metric], unit);
    const bool time = strcmp(r->units[metric], "nanoseconds") == 0;
    const char *prefix = isfinite(value) ? unit : "";
    const int length = isfinite(value) && (time || factor != 1) ? (time ? 2 : 1) : 0;
    snprintf(text, CELL_SIZE, "%s%s%.*s %c", cw_terminal_number(value / factor, number), length ? " " : "", length,
             prefix, cw_terminal_mark((enum cw_value_status)r->statuses[at]));
}

/* "dram__bytes.sum (B)"; the values have the prefixes of the units, and times all of it. */
static enum cw_status name_metrics(struct list *l, struct cw_error *err)
{
    const struct cw_result *r = l->rows->result;
    char unit[CW_UNIT_SIZE], title[CW_METRIC_NAME_MAX + CW_UNIT_SIZE];
    for (uint32_t m = 0; m < r->metric_count && m < MOST_METRICS; m++) {
        const bool none = !*cw_unit_text(r->units[m], unit) || strcmp(r->units[m], "nanoseconds") == 0;
        snprintf(title, sizeof title, none ? "%s" : "%s (%s)", r->names[m], unit);
        if (!(l->titles[m] = cw_arena_strdup(l->arena, title)))
            return cw_error_nomem(err);
    }
    return CW_OK;
}

static enum cw_status name_rows(struct list *l, struct cw_error *err)
{
    const struct cw_output_rows *rows = l->rows;
    const bool kernels = rows->groups->by == CW_BY_KERNEL && cw_groups_are_of_launches(rows->groups);
    l->names = cw_row_names_create(rows->count, l->arena);
    for (uint32_t i = 0; l->names && i < rows->count; i++) {
        const struct cw_range *launch = cw_launch_of(&rows->groups->data, rows->rows[i]);
        const char *name = rows->groups->items[rows->rows[i]].name;
        if (!cw_row_names_set(l->names, i, name, kernels ? launch->grid : NULL, launch->block))
            return cw_error_nomem(err);
    }
    return l->names && cw_row_names_compare(l->names, &l->shape_width) ? CW_OK : cw_error_nomem(err);
}

/* The advice on a row, in short. */
struct told {
    const char *limiter;        /* "" for none */
    const struct cw_rule *rule; /* NULL if none saves time; notes do not */
    double gain;
};

static struct told find_told(const struct cw_output_rows *rows, uint32_t row)
{
    struct told told = {.limiter = ""};
    if (rows->advice_groups) {
        const struct cw_advice_group *group = &rows->advice_groups->items[row];
        told.limiter = cw_advice_limiter(group);
        if (group->part_count && group->parts->gain > 0)
            told = (struct told){told.limiter, group->parts->finding->rule, group->parts->gain};
    } else if (rows->advice) {
        const struct cw_advice_kernel *kernel = &rows->advice->kernels[row];
        told.limiter = kernel->limiter;
        const struct cw_advice_finding *first = cw_advice_first(kernel);
        if (first)
            told = (struct told){told.limiter, first->rule, first->gain};
    }
    return told;
}

/* The last step of "latency > barrier", but all of "roof > dram", and "uncoalesced-global 84%". */
static void put_advice(struct told told, struct line *line)
{
    const char *last = strncmp(told.limiter, "roof", 4) == 0 ? NULL : strrchr(told.limiter, '>');
    cw_text_format(line->limiter, sizeof line->limiter, "%s",
                   last            ? last + 1 + strspn(last + 1, " ")
                   : *told.limiter ? told.limiter
                                   : "-");
    if (told.rule)
        cw_text_format(line->finding, sizeof line->finding, "%s %.0f%%", told.rule->id, 100 * told.gain);
    else
        strcpy(line->finding, "-");
}

static void look_for_advice(struct list *l)
{
    for (uint32_t i = 0; i < l->rows->count; i++) {
        const struct told told = find_told(l->rows, l->rows->rows[i]);
        l->limiters = l->limiters || *told.limiter;
        l->findings = l->findings || told.rule;
    }
}

/* Columns of the widest name, at most `most`. */
static int measure_names(const struct list *l, int most)
{
    char text[CW_SHORT_SIZE];
    int widest = 0;
    for (uint32_t i = 0; i < l->rows->count && widest < most; i++) {
        const char *name = l->rows->groups->items[l->rows->rows[i]].name;
        const int columns = (int)cw_text_columns(cw_shorten(name, (size_t)most, text));
        widest = columns > widest ? columns : widest;
    }
    return widest;
}

/* Cells of a join: the idle time before a row, and how much slower the counted run was. */
static void put_joined(const struct cw_joined_row *row, struct line *line)
{
    const double slower = cw_joined_slower(row);
    if (isnan(row->gap))
        strcpy(line->gap, "-");
    else
        cw_terminal_time(row->gap, line->gap);
    snprintf(line->counted, sizeof line->counted, slower ? "%+.0f%%" : "-", 100 * slower);
    cw_terminal_percent((double)(row->twins + row->like) / (row->twins + row->like + row->none), line->joined);
}

static void look_for_joined(struct list *l)
{
    for (uint32_t i = 0; l->rows->joined && i < l->rows->count; i++) {
        const struct cw_joined_row *row = &l->rows->joined->rows->rows[l->rows->rows[i]];
        l->slower = l->slower || cw_joined_slower(row) != 0;
        l->partly = l->partly || row->none;
    }
}

static struct cw_output_row list_row(const struct cw_output_table *t, uint64_t i)
{
    struct list *l = t->content;
    const struct cw_groups *groups = l->rows->groups;
    const struct cw_group *g = &groups->items[l->rows->rows[i]];
    const struct cw_group_row group = cw_group_row_of(groups, l->rows->rows[i]);
    for (size_t k = 0; k < l->shown_count; k++)
        cw_group_column_text(l->shown[k], &group, l->one.cells[k]);
    snprintf(l->one.range, sizeof l->one.range, "%" PRIu32, g->ranges[0]);
    cw_terminal_integer(g->kernels, l->one.kernels);
    for (uint32_t m = 0; m < l->rows->result->metric_count && m < MOST_METRICS; m++)
        put_value(l->rows->result, m, (uint32_t)i, l->one.metrics[m]);
    put_advice(find_told(l->rows, l->rows->rows[i]), &l->one);
    if (l->rows->joined)
        put_joined(&l->rows->joined->rows->rows[l->rows->rows[i]], &l->one);
    snprintf(l->one.shape, sizeof l->one.shape, "%s", cw_row_name_shape(l->names, (uint32_t)i));
    cw_row_name(l->names, (uint32_t)i, l->one.name);
    return (struct cw_output_row){.record = &l->one};
}

static void add_column(struct list *l, const char *name, size_t offset, bool right)
{
    l->columns[l->column_count++] = (struct cw_output_column){
        .name = name, .type = CW_CELL_CHARS, .formats = CW_TO_TERMINAL, .offset = offset, .right = right};
}

/* A column that --sort knows; `title` NULL: under its name there. */
static void add_group_column(struct list *l, const char *name, const char *title)
{
    const struct cw_group_column *c = cw_group_column_find(CW_GROUPS_OF_RANGES, name, strlen(name));
    add_column(l, title ? title : c->name, offsetof(struct line, cells) + l->shown_count * sizeof *l->one.cells, true);
    l->shown[l->shown_count++] = c;
}

/* The columns of a list. */
struct form {
    bool mean, spread; /* if there are times */
    bool shape;        /* if names do not tell the rows apart */
    bool launches, total;
    bool limiter, finding; /* if there is advice */
    bool letters;          /* in place of the names of metrics */
    bool gap;              /* of a join: also how the counted run differs */
};

static struct cw_output_table lay_out(struct list *l, struct form form)
{
    const struct cw_output_rows *rows = l->rows;
    const bool timed = cw_groups_are_timed(rows->groups);
    l->column_count = l->shown_count = 0;
    if (rows->groups->by == CW_BY_RANGE)
        add_column(l, "number", offsetof(struct line, range), true);
    if (form.launches && rows->groups->by != CW_BY_RANGE)
        add_group_column(l, "launches", cw_groups_are_of_launches(rows->groups) ? NULL : "ranges");
    if (rows->groups->by == CW_BY_FAMILY && cw_groups_are_of_launches(rows->groups) && form.launches)
        add_column(l, "kernels", offsetof(struct line, kernels), true);
    if (timed && form.total)
        add_group_column(l, "total", NULL);
    if (timed)
        add_group_column(l, "share", NULL);
    if (timed && form.mean)
        add_group_column(l, "mean", NULL);
    if (timed && form.spread)
        add_group_column(l, "spread", NULL);
    if (rows->joined && form.gap)
        add_column(l, "gap before", offsetof(struct line, gap), true);
    if (l->slower && form.gap)
        add_column(l, "counted", offsetof(struct line, counted), true);
    if (l->partly && form.launches)
        add_column(l, "joined", offsetof(struct line, joined), true);
    for (uint32_t m = 0; m < rows->result->metric_count && m < MOST_METRICS; m++) {
        snprintf(l->letters[m], sizeof l->letters[m], "%c", (char)('A' + m));
        add_column(l, form.letters ? l->letters[m] : l->titles[m], offsetof(struct line, metrics) + m * CELL_SIZE,
                   true);
    }
    if (l->limiters && form.limiter)
        add_column(l, "limited by", offsetof(struct line, limiter), false);
    if (l->findings && form.finding)
        add_column(l, "first finding", offsetof(struct line, finding), false);
    if (l->shape_width && form.shape)
        add_column(l, "grid / block", offsetof(struct line, shape), false);
    add_column(l, subject(rows), offsetof(struct line, name), false);
    return (struct cw_output_table){.columns = l->columns,
                                    .column_count = l->column_count,
                                    .record_size = sizeof l->one,
                                    .row_count = rows->count,
                                    .row = list_row,
                                    .content = l};
}

/* The columns that the window leaves to the name. */
static int name_room(struct list *l, struct form form, unsigned width)
{
    const struct cw_output_table t = lay_out(l, form);
    return cw_terminal_room(&t, width);
}

/* Chooses the first form that leaves enough room for the names. A file or a pipe has room for all. False if none does.
 */
static bool choose_form(struct list *l, const struct cw_terminal_style *style, struct form *form)
{
#define ALWAYS .launches = true, .total = true
    static const struct form with_times[] = {
        {ALWAYS, .limiter = true, .finding = true, .shape = true, .spread = true, .mean = true},
        {ALWAYS, .limiter = true, .finding = true, .shape = true, .spread = true},
        {ALWAYS, .limiter = true, .finding = true, .shape = true},
        {ALWAYS, .limiter = true, .finding = true},
        {.total = true, .limiter = true, .finding = true},
        {.limiter = true, .finding = true},
        {.limiter = true},
        {0}};
    static const struct form with_metrics[] = {
        {ALWAYS, .shape = true}, {ALWAYS, .shape = true, .letters = true}, {ALWAYS, .letters = true}};
    static const struct form with_both[] = {
        {ALWAYS, .gap = true, .mean = true, .limiter = true, .finding = true, .shape = true},
        {ALWAYS, .gap = true, .mean = true, .limiter = true, .finding = true, .shape = true, .letters = true},
        {ALWAYS, .gap = true, .mean = true, .limiter = true, .finding = true, .letters = true},
        {ALWAYS, .gap = true, .limiter = true, .finding = true, .letters = true},
        {ALWAYS, .limiter = true, .finding = true, .letters = true},
        {.total = true, .limiter = true, .finding = true, .letters = true},
        {.limiter = true, .finding = true, .letters = true},
        {.limiter = true, .letters = true},
        {.letters = true}};
#undef ALWAYS
    const uint32_t metrics = l->rows->result->metric_count;
    const bool joined = l->rows->joined;
    const struct form *forms = joined ? with_both : metrics ? with_metrics : with_times;
    const size_t count = joined    ? sizeof with_both / sizeof *forms
                         : metrics ? sizeof with_metrics / sizeof *forms
                                   : sizeof with_times / sizeof *forms;
    for (size_t i = 0; metrics <= MOST_METRICS && i < count; i++) {
        const int name = forms[i].spread || (forms[i].shape && !metrics) ? l->name_usual : l->name_least;
        const int least = forms[i].shape ? name : name + (int)l->shape_width;
        *form = forms[i];
        if (!style->width || name_room(l, *form, style->width) >= least)
            return true;
    }
    return !metrics;
}

static uint32_t timed(const struct cw_group *group)
{
    return cw_group_is_partly_timed(group) ? group->timed : group->count;
}

static uint32_t used(const struct cw_group *group)
{
    return cw_group_is_partly_used(group) ? group->used : group->count;
}

/* Names the first rows of which something is of a part of the launches: "Timed in part: k (2 of 3) and 4 more". */
static void put_partly(const struct list *l, const char *what, uint32_t part(const struct cw_group *group), FILE *out)
{
    enum { MOST = 3 };
    char name[CW_SHORT_SIZE];
    uint32_t count = 0;
    for (uint32_t i = 0; i < l->rows->count; i++) {
        const struct cw_group *group = &l->rows->groups->items[l->rows->rows[i]];
        if (part(group) == group->count || ++count > MOST)
            continue;
        cw_text_print(out, "%s %s (%" PRIu32 " of %" PRIu32 ")", count == 1 ? what : ",",
                      cw_shorten(group->name, NAME_USUAL, name), part(group), group->count);
    }
    if (count > MOST)
        cw_text_print(out, " and %" PRIu32 " more", count - MOST);
    fputs(count ? "\n" : "", out);
}

static void put_footer(const struct list *l, FILE *out)
{
    const struct cw_output_rows *rows = l->rows;
    char a[CW_NUMBER_SIZE];
    putc('\n', out);
    put_partly(l, "Timed in part:", timed, out);
    if (rows->result->metric_count)
        put_partly(l, "Values of the launches with the most counters:", used, out);
    if (rows->left)
        cw_text_print(out, "%s more; --top N shows more. ", cw_terminal_integer(rows->left, a));
    if (rows->groups->by == CW_BY_KERNEL)
        cw_text_print(out, "One in full: --%s NAME. ", cw_groups_are_of_launches(rows->groups) ? "kernel" : "range");
    else if (rows->groups->by == CW_BY_RANGE)
        fputs("One in full: --range NUMBER. ", out);
    else if (rows->groups->by == CW_BY_FAMILY && cw_groups_are_of_launches(rows->groups))
        fputs("The kernels of one: --kernel NAME. ", out);
    fputs("All in full: --wide.\n", out);
    if (rows->groups->by == CW_BY_KERNEL && cw_groups_are_of_launches(rows->groups) &&
        rows->groups->count >= MANY_KERNELS)
        fputs("Kernels of one name added up: --by family.\n", out);
    fputs("As a page: -o FILE.html\n", out);
    if (l->limiters || l->findings)
        cw_text_print(out, "Why, and what to change: counterworks advise %s\n", rows->words);
}

static void put_joined_footer(const struct list *l, FILE *out)
{
    const struct cw_joined_rows *rows = l->rows->joined->rows;
    char a[CW_NUMBER_SIZE];
    if (l->slower)
        fprintf(out, "\ncounted: how much longer a %s took when counted than in the trace, where it is 10 %% or more\n",
                cw_groups_are_of_launches(l->rows->groups) ? "launch" : "range");
    if (l->rows->left)
        cw_text_print(out, "\n%s more; --top N shows more.\n", cw_terminal_integer(l->rows->left, a));
    if (rows->left)
        cw_text_print(out, "\n%" PRIu32 " more are left out: so many do not fit a file of this size.\n", rows->left);
    if (l->limiters || l->findings)
        cw_text_print(out, "\nWhy, and what to change: counterworks advise %s\n", l->rows->words);
}

/* Names the metric of each letter. */
static void put_letters(const struct list *l, FILE *out)
{
    for (uint32_t m = 0; m < l->rows->result->metric_count; m++)
        cw_text_print(out, "  %s  %s\n", l->letters[m], l->titles[m]);
    putc('\n', out);
}

static void put_list(struct list *l, struct form form, const struct cw_terminal_style *style, FILE *out)
{
    struct cw_terminal_seen seen = {0};
    const struct cw_result *r = l->rows->result;
    const int room = style->width ? name_room(l, form, style->width) : 0;
    const struct cw_output_table t = lay_out(l, form);
    if (!style->quiet)
        (l->rows->joined ? put_joined_summary : put_summary)(l->rows, style->width, out);
    if (!l->rows->groups->count) {
        fputs("no ranges\n", out);
        cw_row_names_free(l->names);
        return;
    }
    if (form.letters && r->metric_count)
        put_letters(l, out);
    cw_row_names_fit(l->names, (size_t)(!style->width ? 0 : room > l->name_least ? room : l->name_least), !form.shape);
    cw_terminal_print(&t, 0, out);
    cw_row_names_free(l->names);
    for (size_t i = 0; i < (size_t)r->metric_count * r->row_count; i++)
        cw_terminal_see(&seen, r->names[i / r->row_count], (enum cw_value_status)r->statuses[i]);
    if (style->quiet)
        return;
    cw_terminal_legend(&seen, out);
    (l->rows->joined ? put_joined_footer : put_footer)(l, out);
}

static enum cw_status put_rows(const struct cw_output_rows *rows, const struct cw_terminal_style *style, FILE *out,
                               bool *fits, struct cw_error *err)
{
    struct list list = {.rows = rows, .arena = cw_arena_create()};
    struct form form = {0};
    enum cw_status status = list.arena ? name_rows(&list, err) : cw_error_nomem(err);
    if (status == CW_OK)
        status = name_metrics(&list, err);
    if (status == CW_OK) {
        look_for_advice(&list);
        look_for_joined(&list);
        list.name_least = measure_names(&list, NAME_LEAST);
        list.name_usual = measure_names(&list, NAME_USUAL);
        *fits = choose_form(&list, style, &form);
    }
    if (status == CW_OK && *fits)
        put_list(&list, form, style, out);
    cw_arena_destroy(list.arena);
    if (status == CW_OK && *fits && rows->joined && !style->quiet)
        cw_joined_put_samples(rows, style, out);
    return status == CW_OK && *fits && rows->joined && !style->quiet ? cw_joined_put_left(rows, style, out, err)
                                                                     : status;
}

struct content {
    const struct cw_output_rows *rows;
    struct cw_group_row one;
};

struct cw_group_row cw_group_row_of(const struct cw_groups *groups, uint32_t group)
{
    const struct cw_range *first = cw_launch_of(&groups->data, group);
    const struct cw_group *g = &groups->items[group];
    return (struct cw_group_row){.name = g->name,
                                 .kernel = groups->by == CW_BY_KERNEL ? first->kernel : "",
                                 .device = g->several_gpus ? UINT64_MAX : groups->data.devices[first->device].index,
                                 .stream = g->stream,
                                 .launches = g->count,
                                 .total = g->total,
                                 .share = cw_group_share(groups, g),
                                 .mean = g->mean,
                                 .median = g->median,
                                 .least = g->least,
                                 .greatest = g->greatest,
                                 .deviation = g->deviation,
                                 .spread = cw_group_spread(g),
                                 .grid = first->grid,
                                 .block = first->block};
}

static struct cw_output_row row(const struct cw_output_table *t, uint64_t i)
{
    struct content *c = t->content;
    const uint32_t group = c->rows->rows[i];
    c->one = cw_group_row_of(c->rows->groups, group);
    if (c->rows->joined) {
        const struct cw_joined_row *joined = &c->rows->joined->rows->rows[group];
        c->one.joined = joined->twins;
        c->one.joined_by_kernel = joined->like;
        c->one.not_joined = joined->none;
        c->one.gap = joined->gap;
        c->one.latency = joined->latency;
        c->one.counted = joined->counted;
    }
    return cw_output_row(c->rows->result, &c->one, i);
}

static enum cw_status print(const struct cw_output *o, const struct cw_terminal_style *style, FILE *out,
                            struct cw_error *err)
{
    const struct cw_output_rows *rows = o->result;
    const bool one = rows->count == 1 && !rows->left && rows->result->metric_count;
    bool listed = false;
    if (!rows->wide && !one)
        CW_TRY(put_rows(rows, style, out, &listed, err));
    if (listed)
        return CW_OK;
    CW_TRY(cw_ranges_print(rows->result, rows, style, out, err));
    if (rows->left && !style->quiet)
        fprintf(out, "\n%" PRIu32 " more; --top N shows more\n", rows->left);
    return CW_OK;
}

enum cw_status cw_output_groups(struct cw_output *o, const struct cw_output_rows *rows, const char *const *descriptions,
                                struct cw_arena *arena, struct cw_error *err)
{
    struct content *c = cw_arena_alloc(arena, 1, sizeof *c);
    *o = (struct cw_output){
        .data = rows->data, .source = rows->result->source, .table_count = 1, .print = print, .result = rows};
    size_t column_count;
    const struct cw_output_column *columns =
        cw_group_columns_of(CW_GROUPS_OF_RANGES | (rows->joined ? CW_GROUPS_JOINED : 0), &column_count, arena);
    if (!c || !columns || !cw_output_metrics(&o->metrics, rows->result, descriptions, false, arena))
        return cw_error_nomem(err);
    c->rows = rows;
    o->tables[0] = (struct cw_output_table){
        .columns = columns,
        .column_count = column_count,
        .name = "groups",
        .group = "group",
        .record_size = sizeof c->one,
        .row_count = rows->count,
        .row = row,
        .content = c,
        .metrics = &o->metrics,
        .spread = rows->result->spread,
        .short_escapes = true,
        .coordinates = "kernel device launches total_ns share mean_ns median_ns least_ns greatest_ns deviation_ns "
                       "unit type description",
    };
    return CW_OK;
}
