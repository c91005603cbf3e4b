#define _GNU_SOURCE
#include "eval/output/output.h"

#include <inttypes.h>
#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/shorten.h"
#include "base/text.h"
#include "eval/advice/advice.h"
#include "eval/output/capture.h"
#include "eval/output/terminal.h"

enum { SECTIONS_FROM = 13, NOTE_SIZE = 16 + CW_BAR_SIZE, UNIT_MOST = 16 };

struct line {
    char metric[CW_METRIC_NAME_MAX];
    char unit[CW_UNIT_SIZE];
    double value; /* in the unit with its prefix */
    int8_t status;
    uint32_t occurrences;
    char spread[CW_NUMBER_SIZE]; /* "1.2 %" of the value */
    char note[NOTE_SIZE];        /* a bar, or a share and its bar */
};

static const struct cw_output_column line_columns[] = {
    {"metric", CW_CELL_CHARS, CW_TO_TERMINAL, offsetof(struct line, metric)},
    {"unit", CW_CELL_CHARS, CW_TO_TERMINAL, offsetof(struct line, unit)},
    {"value", CW_CELL_F64, CW_TO_TERMINAL, offsetof(struct line, value), .right = true},
    {"status", CW_CELL_STATUS, CW_TO_TERMINAL, offsetof(struct line, status)},
    {"", CW_CELL_CHARS, CW_TO_TERMINAL, offsetof(struct line, note), .width = 1},
};
/* The columns of a multiplexed range. */
static const struct cw_output_column spread_columns[] = {
    {"metric", CW_CELL_CHARS, CW_TO_TERMINAL, offsetof(struct line, metric)},
    {"unit", CW_CELL_CHARS, CW_TO_TERMINAL, offsetof(struct line, unit)},
    {"value", CW_CELL_F64, CW_TO_TERMINAL, offsetof(struct line, value), .right = true},
    {"occurrences", CW_CELL_U32, CW_TO_TERMINAL, offsetof(struct line, occurrences), .right = true},
    {"spread", CW_CELL_CHARS, CW_TO_TERMINAL, offsetof(struct line, spread), .right = true},
    {"status", CW_CELL_STATUS, CW_TO_TERMINAL, offsetof(struct line, status)},
    {"", CW_CELL_CHARS, CW_TO_TERMINAL, offsetof(struct line, note), .width = 1},
};

/* The metrics of a range in the order of printing: section s has order[first[s]] up to order[first[s + 1]].
 * section_of[metric] is its section. */
struct full {
    const struct cw_result *result;
    const struct cw_output_rows *rows;
    const struct cw_terminal_style *style;
    const struct cw_section *section; /* of the current lines; NULL: none */
    uint32_t range, section_count;
    uint32_t begin; /* where in `order` its lines begin */
    void *told;     /* tree: readings of the section's values so far */
    uint32_t *order, *first, *section_of;
    double sum; /* of the values of a section with shares */
    struct cw_terminal_seen seen;
    struct line one;
};

static double value_of(const struct full *f, uint32_t metric)
{
    return f->result->values[(size_t)metric * f->result->row_count + f->range];
}

static int8_t status_of(const struct full *f, uint32_t metric)
{
    return f->result->statuses[(size_t)metric * f->result->row_count + f->range];
}

static void put_name(struct full *f, const char *name)
{
    const char *pattern = f->section && f->section->shares ? f->section->patterns[0] : NULL;
    if (pattern) /* the part that its '*' matches */
        snprintf(f->one.metric, sizeof f->one.metric, "%.*s", (int)(strlen(name) + 1 - strlen(pattern)),
                 name + strcspn(pattern, "*"));
    else
        cw_text_format(f->one.metric, sizeof f->one.metric, "%s", name);
}

/* In how many launches a metric was counted, and their spread as a share of the value. */
static void put_spread(struct full *f, uint32_t metric)
{
    const size_t at = (size_t)metric * f->result->row_count + f->range;
    const double spread = f->result->spread[at] / fabs(value_of(f, metric));
    f->one.occurrences = f->result->occurrences[at];
    f->one.spread[0] = 0;
    if (isfinite(spread))
        snprintf(f->one.spread, sizeof f->one.spread, "%.*f %%", spread < 0.1 ? 2 : 1, 100 * spread);
}

/* The line of a metric. Large numbers, such as 3,000,000 bytes, get a prefix, and shares a bar. */
static struct cw_output_row line_row(const struct cw_output_table *t, uint64_t i)
{
    struct full *f = t->content;
    const struct cw_result *r = f->result;
    const uint32_t metric = f->order[f->begin + i];
    const double value = value_of(f, metric);
    const bool percent = strcmp(r->units[metric], "%") == 0, shares = f->section && f->section->shares;
    char bar[CW_BAR_SIZE];
    put_name(f, r->names[metric]);
    f->one.value = value / cw_terminal_factor(value, r->units[metric], f->one.unit);
    f->one.status = status_of(f, metric);
    f->one.note[0] = 0;
    if (f->result->spread)
        put_spread(f, metric);
    if (shares && f->sum > 0 && !isnan(value)) {
        char share[CW_PERCENT_SIZE];
        cw_terminal_bar(value / f->sum, f->style, bar);
        snprintf(f->one.note, NOTE_SIZE, "%6s%s%s", cw_terminal_percent(value / f->sum, share), *bar ? " " : "", bar);
    }
    const char *word = f->section ? cw_section_word(f->section, r->names[metric], value) : NULL;
    if (percent && !shares && !isnan(value))
        snprintf(f->one.note, NOTE_SIZE, "%s", cw_terminal_bar(value / 100, f->style, bar));
    else if (word)
        cw_text_format(f->one.note, NOTE_SIZE, "%s", word);
    return (struct cw_output_row){.record = &f->one};
}

/* ---- order ------------------------------------------------------------------------------------------------------ */

static enum cw_status find_sections(struct full *f, struct cw_error *err)
{
    const uint32_t count = f->result->metric_count;
    const struct cw_sections *sections = f->rows ? f->rows->sections : NULL;
    f->section_of = calloc((size_t)count + 1, sizeof *f->section_of);
    f->order = calloc((size_t)count + 1, sizeof *f->order);
    f->first = calloc((size_t)(sections ? sections->count : 0) + 3, sizeof *f->first);
    if (!f->section_of || !f->order || !f->first)
        return cw_error_nomem(err);
    for (uint32_t m = 0; sections && m < count; m++)
        f->section_of[m] = cw_sections_find(sections, f->result->names[m]);
    return CW_OK;
}

static bool is_shown(const struct full *f, uint32_t metric)
{
    return !f->rows || metric < f->rows->asked || !isnan(value_of(f, metric));
}

/* Orders the range's metrics by section; few metrics stay in their order. */
static void order_metrics(struct full *f)
{
    const uint32_t count = f->result->metric_count;
    const struct cw_sections *sections = f->rows ? f->rows->sections : NULL;
    uint32_t shown = 0;
    for (uint32_t m = 0; m < count; m++)
        shown += is_shown(f, m);
    f->section_count = sections && shown >= SECTIONS_FROM ? sections->count : 0;
    memset(f->first, 0, ((size_t)f->section_count + 3) * sizeof *f->first);
    for (uint32_t m = 0; m < count; m++)
        f->first[(f->section_count ? f->section_of[m] : 0) + 2] += is_shown(f, m);
    for (uint32_t s = 0; s <= f->section_count; s++)
        f->first[s + 2] += f->first[s + 1];
    for (uint32_t m = 0; m < count; m++)
        if (is_shown(f, m))
            f->order[f->first[(f->section_count ? f->section_of[m] : 0) + 1]++] = m;
}

static int by_value(const void *a, const void *b, void *full)
{
    const uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const double x = value_of(full, i), y = value_of(full, k);
    const int ranks = cw_value_rank(x, status_of(full, i)) - cw_value_rank(y, status_of(full, k));
    const int order = ranks || isnan(x) ? ranks : (x < y) - (x > y);
    return order ? order : (i > k) - (i < k);
}

/* Starts the lines of a section; a section with shares is sorted. */
static struct cw_output_table take_section(struct full *f, uint32_t section)
{
    const bool none = f->section_count == 0 || section == f->section_count;
    const uint32_t first = f->first[section], count = f->first[section + 1] - first;
    f->section = none ? NULL : &f->rows->sections->items[section];
    f->begin = first;
    f->sum = 0;
    for (uint32_t i = first; f->section && f->section->shares && i < first + count; i++)
        f->sum += isnan(value_of(f, f->order[i])) ? 0 : value_of(f, f->order[i]);
    if (f->section && f->section->shares)
        qsort_r(f->order + first, count, sizeof *f->order, by_value, f);
    struct cw_output_table t = {CW_OUTPUT_COLUMNS(line_columns), .record_size = sizeof(struct line), .row_count = count,
                                .row = line_row, .content = f};
    if (f->result->spread) {
        t.columns = spread_columns;
        t.column_count = sizeof spread_columns / sizeof *spread_columns;
    }
    t.column_count -= !f->style->bars && !f->section_count;
    return t;
}

/* ---- a range or a group ----------------------------------------------------------------------------------------- */

/* Prints grid and block behind a name of `columns` columns, or below it if the window is too narrow. */
static void put_shape(const struct cw_range *g, size_t columns, unsigned width, FILE *out)
{
    char text[100];
    if (!g->grid[0])
        return;
    const int length =
        snprintf(text, sizeof text,
                 "grid (%" PRIu32 ", %" PRIu32 ", %" PRIu32 ") x block (%" PRIu32 ", %" PRIu32 ", %" PRIu32 ")",
                 g->grid[0], g->grid[1], g->grid[2], g->block[0], g->block[1], g->block[2]);
    fprintf(out, "%s  %s", width && columns + 2 + (size_t)length > width ? "\n" : "", text);
}

static void put_time(const char *before, double ns, FILE *out)
{
    char text[CW_TIME_TEXT_SIZE];
    cw_text_print(out, "%s%s", before, cw_terminal_time(ns, text));
}

/* "  12 launches take 3.2 ms, 12.1 % of the time; 270 us on average, 250 us to 301 us", with ", timed in 4 of 12" if
 * the others have no time: they were multiplexed, or their counter of time overflowed, say. */
static void put_times(const struct cw_groups *groups, const struct cw_group *g, bool launch, FILE *out)
{
    char number[CW_NUMBER_SIZE];
    cw_text_print(out, "  %s %s%s", cw_terminal_integer(g->count, number), launch ? "launch" : "range",
                  g->count == 1 ? ""
                  : launch      ? "es"
                                : "s");
    if (g->timed) {
        put_time(g->count == 1 ? " takes " : " take ", g->total, out);
        if (isfinite(cw_group_share(groups, g))) /* all times may be 0 */
            cw_text_print(out, ", %.1f %% of the time", 100 * cw_group_share(groups, g));
    }
    if (g->timed > 1) {
        put_time("; ", g->mean, out);
        fputs(" on average", out);
    }
    if (g->measured > 1) {
        put_time(", ", g->least, out);
        put_time(" to ", g->greatest, out);
    }
    if (g->timed && g->measured < g->count)
        cw_text_print(out, ", timed in %" PRIu32 " of %" PRIu32, g->measured, g->count);
    putc('\n', out);
}

/* "  values of 1 of 100 launches, which have the most counters" */
static void put_used(const struct cw_group *g, bool launch, FILE *out)
{
    cw_text_print(out, "  values of %" PRIu32 " of %" PRIu32 " %s, which %s the most counters\n", g->used, g->count,
                  launch ? "launches" : "ranges", g->used == 1 ? "has" : "have");
}

/* Names the device of the first range; others of the group may be another model. */
static void put_place(const struct cw_group *group, const struct cw_device *device, uint32_t process, FILE *out)
{
    const char *name = cw_device_attribute(device, "name"), *simulated = cw_device_attribute(device, "simulated");
    if (group && group->several_gpus)
        fputs("several devices", out);
    else
        cw_text_print(out, "device %" PRIu32 "%s%s%s", device->index, name ? " " : "", name ? name : "",
                      simulated && strcmp(simulated, "yes") == 0 ? " (simulated)" : "");
    if (group && group->several_processes)
        fputs(", several processes", out);
    else
        cw_text_print(out, ", process %" PRIu32, process);
}

static void put_heading(const struct full *f, FILE *out)
{
    const struct cw_result *r = f->result;
    const struct cw_range *g = cw_result_range(r, f->range);
    const struct cw_groups *groups = f->rows ? f->rows->groups : NULL;
    const struct cw_group *group = groups ? &groups->items[f->rows->rows[f->range]] : NULL;
    const struct cw_device *device = &r->data->devices[g->device];
    const bool one = !group || group->count == 1;
    fputs(f->range ? "\n" : "", out);
    const char *name = group ? group->name : g->name;
    const bool whole = !f->style->width || (f->rows && f->rows->wide);
    char shown[CW_SHORT_SIZE]; /* some C++ names would fill the window */
    const char *title = whole ? name : cw_shorten(name, 2 * (size_t)f->style->width, shown);
    cw_terminal_title(title, f->style, out);
    if (one || groups->by == CW_BY_KERNEL)
        put_shape(g, cw_text_columns(title), f->style->width, out);
    putc('\n', out);
    if (!one || (groups && groups->count > 1 && groups->by != CW_BY_RANGE))
        put_times(groups, group, g->kernel[0], out);
    if (group && r->metric_count && cw_group_is_partly_used(group))
        put_used(group, g->kernel[0], out);
    if (one)
        cw_text_print(out, "  range %" PRIu32 ", ", group ? group->ranges[0] : r->ranges[f->range]);
    else
        fputs("  ", out);
    put_place(group, device, g->process, out);
    if (g->stream && one)
        cw_text_print(out, ", stream %" PRIu64, g->stream);
    putc('\n', out);
}

enum { FINDINGS_SHOWN = 3 };

/* The limiter, and the findings that would save most. */
static void put_advice(const struct full *f, FILE *out)
{
    const struct cw_advice *advice = f->rows ? f->rows->advice : NULL;
    const struct cw_advice_kernel *kernel = advice ? &advice->kernels[f->rows->rows[f->range]] : NULL;
    if (!kernel)
        return;
    if (*kernel->limiter)
        cw_text_print(out, "  limited by %s (confidence: %s)\n", kernel->limiter,
                      cw_confidence_text(kernel->confidence));
    for (size_t i = 0; i < kernel->finding_count && i < FINDINGS_SHOWN; i++) {
        const struct cw_advice_finding *finding = &kernel->findings[i];
        fputs("  ", out);
        if (finding->gain > 0)
            cw_text_print(out, "%.0f %% of its time: ", 100 * finding->gain);
        cw_text_print(out, "%s (%s)\n", finding->rule->title, finding->rule->id);
    }
}

static void put_section_title(const struct full *f, FILE *out)
{
    fputs("\n  ", out);
    cw_terminal_title(f->section ? f->section->title : "Others", f->style, out);
    if (f->section && f->section->shares) {
        const size_t title = cw_text_columns(f->section->title), pattern = cw_text_columns(f->section->patterns[0]);
        cw_text_print(out, f->style->width && title + pattern + 4 > f->style->width ? ":\n  %s" : ": %s",
                      f->section->patterns[0]);
    }
    putc('\n', out);
}

static int by_address(const void *a, const void *b)
{
    return (a > b) - (a < b);
}

static void leave(void *text)
{
    (void)text;
}

/* Whether no earlier value of the section has the same reading; false when out of memory. */
static bool is_first(struct full *f, const char *text)
{
    const bool first = !tfind(text, &f->told, by_address);
    if (first)
        tsearch(text, &f->told, by_address);
    return first;
}

/* Whether a value's reading is worth a line: stalls of a tenth, shares of a peak that are not small, and the first of
 * several values of one counter. */
static bool is_telling(struct full *f, uint32_t metric, const char *text)
{
    const double value = value_of(f, metric);
    const bool of_high = strncmp(text, "High", 4) == 0 || strncmp(text, "Above", 5) == 0;
    const bool first = is_first(f, text);
    if (f->section && f->section->shares)
        return value >= 0.1 * f->sum;
    return value > 0 && first && !(of_high && strcmp(f->result->units[metric], "%") == 0 && value < 50);
}

/* The first sentence of a value's reading below it, in lines of the window's width. */
static void put_reading(void *full, uint64_t row, FILE *out)
{
    enum { INDENT = 6, WIDTH = 100 };
    struct full *f = full;
    const uint32_t metric = f->order[f->begin + row];
    const char *text = f->rows->readings ? f->rows->readings[metric] : NULL;
    if (!text || f->result->row_count > 1 || !is_telling(f, metric, text))
        return;
    const char *end = strstr(text, ". ");
    fprintf(out, "%s%*s", f->style->bold ? "\033[2m" : "", INDENT, "");
    cw_text_put_words(out, text, end ? (size_t)(end + 1 - text) : strlen(text), INDENT,
                      f->style->width ? f->style->width : WIDTH);
    fputs(f->style->bold ? "\033[0m\n" : "\n", out);
}

/* The widths of a section's columns, fitted into the window. */
static void measure(struct full *f, int widths[CW_TERMINAL_COLUMNS], const struct cw_output_table *t)
{
    const bool shares = f->section && f->section->shares;
    memset(widths, 0, CW_TERMINAL_COLUMNS * sizeof *widths);
    cw_terminal_measure(widths, &f->seen, t);
    if (!f->style->width)
        return;
    widths[1] = widths[1] > UNIT_MOST ? UNIT_MOST : widths[1];
    widths[f->result->spread ? 6 : 4] = f->style->bars ? CW_BAR_WIDTH + (shares ? 7 : 0) : 0;
    cw_terminal_fit(widths, t, f->style->width);
}

static void put_section(struct full *f, const int *widths, const struct cw_output_table *t, FILE *out)
{
    put_section_title(f, out);
    cw_terminal_put_rows(widths, t, put_reading, out);
    tdestroy(f->told, leave);
    f->told = NULL;
}

/* Sections have no headings, so the legend explains their columns. */
static void put_legend(const struct full *f, FILE *out)
{
    cw_terminal_legend(&f->seen, out);
    if (f->section_count && f->seen.statuses[CW_VALUE_MULTIPLEXED])
        fputs("     Behind a value: the number of values in its mean, and their standard deviation.\n", out);
}

enum cw_status cw_ranges_print(const struct cw_result *result, const struct cw_output_rows *rows,
                               const struct cw_terminal_style *style, FILE *out, struct cw_error *err)
{
    struct full f = {.result = result, .rows = rows, .style = style};
    int widths[CW_TERMINAL_COLUMNS];
    enum cw_status status = find_sections(&f, err);
    for (f.range = 0; status == CW_OK && f.range < result->row_count; f.range++) {
        order_metrics(&f);
        put_heading(&f, out);
        put_advice(&f, out);
        for (uint32_t s = 0; s <= f.section_count; s++) {
            const struct cw_output_table t = take_section(&f, s);
            if (!t.row_count)
                continue;
            measure(&f, widths, &t);
            if (f.section_count)
                put_section(&f, widths, &t, out);
            else
                cw_terminal_put(widths, &t, out);
        }
    }
    if (status == CW_OK && !result->row_count)
        fputs("no ranges\n", out);
    if (status == CW_OK && !style->quiet)
        put_legend(&f, out);
    if (status == CW_OK && result->row_count && !style->quiet)
        cw_capture_put_filters(result->data, out);
    free(f.section_of);
    free(f.order);
    free(f.first);
    return status;
}

/* ---- facts of ranges -------------------------------------------------------------------------------------------- */

struct record {
    struct cw_range of;
    int64_t start, end;
    uint32_t range, device;
    const char *nvtx, *replay, *scope, *rank;
    const uint32_t *grid, *block;
};

struct content {
    const struct cw_result *result;
    struct record one;
    struct cw_output_column durations[2];
    struct cw_output_table passes; /* across which the durations lie */
    uint32_t pass;
};

static const char *attribute(const struct cw_range *g, const char *key, const char *otherwise)
{
    const char *value = cw_range_attribute(g, key);
    return value ? value : otherwise;
}

static struct cw_output_row row(const struct cw_output_table *t, uint64_t i)
{
    struct content *c = t->content;
    const struct cw_result *r = c->result;
    const struct cw_range *g = cw_result_range(r, (uint32_t)i);
    if (!g)
        return (struct cw_output_row){0};
    const bool timed = g->start_ns || g->end_ns;
    c->one = (struct record){.of = *g,
                             .start = timed ? (int64_t)g->start_ns : INT64_MIN,
                             .end = timed ? (int64_t)g->end_ns : INT64_MIN,
                             .range = r->numbers ? r->numbers[r->ranges[i]] : r->ranges[i],
                             .device = r->data->devices[g->device].index,
                             .nvtx = attribute(g, "nvtx", ""),
                             .replay = attribute(g, "replay", ""),
                             .scope = attribute(g, "scope", "context"),
                             .rank = attribute(g, "rank", ""),
                             .grid = g->grid,
                             .block = g->block};
    return cw_output_row(r, &c->one, i);
}

static struct cw_output_row pass_row(const struct cw_output_table *t, uint64_t i)
{
    struct content *c = t->content;
    c->pass = (uint32_t)i;
    return (struct cw_output_row){.record = &c->pass};
}

/* JSON and HDF5 have the same in orders of their own. */
static const struct cw_output_column columns[] = {
    {"range", CW_CELL_U32, CW_TO_FILES, offsetof(struct record, range)},
    {"name", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct record, of.name)},
    {"kernel", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct record, of.kernel)},
    {"host_start_ns", CW_CELL_SIGNED, CW_TO_HDF5, offsetof(struct record, start), .units = CW_OUTPUT_DATE,
     .long_name = "when the host began the call that launched it, or opened the user range"},
    {"host_end_ns", CW_CELL_SIGNED, CW_TO_HDF5, offsetof(struct record, end), .units = CW_OUTPUT_DATE,
     .long_name = "when that call returned, or when all that the user range launched was done"},
    {"context", CW_CELL_U64, CW_TO_HDF5, offsetof(struct record, of.context)},
    {"stream", CW_CELL_U64, CW_TO_HDF5, offsetof(struct record, of.stream)},
    {"device", CW_CELL_U32, CW_TO_CSV | CW_TO_JSON | CW_TO_HDF5, offsetof(struct record, device)},
    {"process", CW_CELL_U32, CW_TO_CSV | CW_TO_JSON | CW_TO_HDF5, offsetof(struct record, of.process)},
    {"context", CW_CELL_I64, CW_TO_JSON, offsetof(struct record, of.context)},
    {"stream", CW_CELL_I64, CW_TO_JSON, offsetof(struct record, of.stream)},
    {"nvtx", CW_CELL_TEXT, CW_TO_CSV | CW_TO_HDF5, offsetof(struct record, nvtx)},
    {"replay", CW_CELL_TEXT, CW_TO_HDF5, offsetof(struct record, replay)},
    {"scope", CW_CELL_TEXT, CW_TO_HDF5, offsetof(struct record, scope)},
    {"rank", CW_CELL_TEXT, CW_TO_CSV | CW_TO_HDF5, offsetof(struct record, rank)},
    {"grid", CW_CELL_U32, CW_TO_CSV | CW_TO_JSON | CW_TO_HDF5, offsetof(struct record, grid), &cw_output_xyz},
    {"block", CW_CELL_U32, CW_TO_CSV | CW_TO_JSON | CW_TO_HDF5, offsetof(struct record, block), &cw_output_xyz},
    {"host_start_ns", CW_CELL_SIGNED, CW_TO_CSV | CW_TO_JSON, offsetof(struct record, start)},
    {"host_end_ns", CW_CELL_SIGNED, CW_TO_CSV | CW_TO_JSON, offsetof(struct record, end)},
    {"attributes", CW_CELL_ATTRIBUTES, CW_TO_JSON, offsetof(struct record, of)},
};

static enum cw_status print(const struct cw_output *o, const struct cw_terminal_style *style, FILE *out,
                            struct cw_error *err)
{
    return cw_ranges_print(o->result, NULL, style, out, err);
}

/* ---- tables ----------------------------------------------------------------------------------------------------- */

enum cw_status cw_output_ranges(struct cw_output *o, const struct cw_result *r, const char *const *descriptions,
                                struct cw_arena *arena, struct cw_error *err)
{
    static const struct cw_output_column pass[] = {{"pass", CW_CELL_U32, CW_TO_HDF5, 0}};
    struct content *c = cw_arena_alloc(arena, 1, sizeof *c);
    *o = (struct cw_output){.data = r->data, .source = r->source, .table_count = 1, .print = print, .result = r};
    if (!c || !cw_output_metrics(&o->metrics, r, descriptions, false, arena))
        return cw_error_nomem(err);
    c->result = r;
    c->passes = (struct cw_output_table){CW_OUTPUT_COLUMNS(pass), .row_count = r->data->schema.pass_count,
                                         .row = pass_row, .content = c};
    c->durations[0] = (struct cw_output_column){"range", CW_CELL_U32, CW_TO_HDF5, offsetof(struct record, range)};
    c->durations[1] = (struct cw_output_column){"duration_ns",
                                                CW_CELL_F64,
                                                CW_TO_HDF5,
                                                offsetof(struct record, of.durations),
                                                &c->passes,
                                                .units = "ns",
                                                .long_name = "how long the pass took on the GPU"};
    o->tables[0] = (struct cw_output_table){
        CW_OUTPUT_COLUMNS(columns),
        .name = "ranges",
        .group = "range",
        .record_size = sizeof(struct record),
        .row_count = r->row_count,
        .row = row,
        .content = c,
        .failed = r->stream ? &r->stream->status : NULL,
        .metrics = &o->metrics,
        .spread = r->spread,
        .short_escapes = true,
        /* the other facts are coordinates of the values, by the convention of xarray */
        .coordinates = "name kernel host_start_ns host_end_ns device process context stream nvtx replay rank unit type "
                       "description",
    };
    o->passes = o->tables[0];
    o->passes.columns = c->durations;
    o->passes.column_count = 2;
    o->passes.metrics = NULL;
    return CW_OK;
}
