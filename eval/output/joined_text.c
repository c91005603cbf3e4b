/* A join for people, beside the list of its rows. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/shorten.h"
#include "base/text.h"
#include "eval/output/capture.h"
#include "eval/output/joined.h"

enum { SHOWN_LEFT = 10, WHY_SIZE = 320, SHAPE_SIZE = 160 };

/* ---- summary ---------------------------------------------------------------------------------------------------- */

/* Launches of the trace by how they are joined, and their time. */
struct part {
    uint64_t count;
    double ns;
};

static void add_up(const struct cw_joined *j, struct part *twins, struct part *like, struct part *none)
{
    for (uint32_t i = 0; i < j->count; i++) {
        const enum cw_join_how how = (enum cw_join_how)j->join.a.how[i];
        struct part *p = how == CW_JOIN_TWIN ? twins : cw_join_has_kernel(how) ? like : none;
        p->count++;
        p->ns += j->launches[i].ns;
    }
}

static void put_part(const struct part *part, double whole, const char *what, FILE *out)
{
    char number[CW_NUMBER_SIZE];
    if (!part->count)
        return;
    cw_text_print(out, "  %s", cw_terminal_integer(part->count, number));
    if (whole > 0)
        cw_text_print(out, " (%.1f %% of the time)", 100 * part->ns / whole);
    cw_text_print(out, " %s\n", what);
}

static const char *unit_of(const struct cw_joined *j, bool many)
{
    return j->of_ranges ? many ? "NVTX ranges" : "NVTX range" : many ? "launches" : "launch";
}

static const char *gpu_of(const struct cw_counter_data *data)
{
    const char *name = data->device_count ? cw_device_attribute(&data->devices[0], "name") : NULL;
    return name ? name : "";
}

/* What makes it doubtful that the metrics are those of the trace's launches. */
static void put_doubts(const struct cw_joined *j, const struct part *none, double whole, FILE *out)
{
    const char *traced = gpu_of(j->timeline->data), *counted = gpu_of(j->data);
    if (*traced && *counted && strcmp(traced, counted) != 0)
        cw_text_print(out, "Traced on another GPU, %s, than counted, %s.\n", traced, counted);
    if (whole > 0 && none->ns > 0.9 * whole)
        cw_text_print(out, "Hardly any launch was counted: is it the same program, with the same input?\n");
}

void cw_joined_put_summary(const struct cw_output_rows *rows, FILE *out)
{
    const struct cw_joined_output *o = rows->joined;
    const struct cw_joined *j = o->joined;
    struct part twins = {0}, like = {0}, none = {0};
    char number[CW_NUMBER_SIZE], time[CW_TIME_TEXT_SIZE];
    add_up(j, &twins, &like, &none);
    cw_terminal_time(j->whole, time);
    cw_text_print(out, "%s %s in the trace, %s of kernels. All times are those of the trace.\n",
                  cw_terminal_integer(j->count, number), unit_of(j, j->count != 1), time);
    const double whole = j->of_ranges ? 0 : twins.ns + like.ns + none.ns; /* ranges are in one another */
    put_part(&twins, whole, j->of_ranges ? "were counted" : "are launches that were counted", out);
    put_part(&like, whole,
             j->of_ranges ? "have the metrics of others of their name"
                          : "have the metrics of other launches of their kernel, grid and block",
             out);
    put_part(&none, whole, "have no metrics", out);
    put_doubts(j, &none, whole, out);
    if (j->unnumbered)
        cw_text_print(out, "Which launch is which is not known: %s.\n", j->unnumbered);
    cw_capture_put_filters(j->data, out);
}

/* ---- what has no twin ------------------------------------------------------------------------------------------- */

struct line {
    char launches[CW_NUMBER_SIZE], share[16], shape[SHAPE_SIZE], name[CW_SHORT_SIZE];
    const char *why;
};

struct left {
    const struct cw_joined *joined;
    const struct cw_join_left *items;
    bool traced;
    size_t name_width;
    double whole;
    const double *times; /* of each item, ns; of the trace */
    struct line one;
};

static const char *why(enum cw_join_how how, bool traced)
{
    static const char *const of_trace[CW_JOIN_HOW__COUNT] = {"",
                                                             "fewer were counted",
                                                             "counted in other NVTX ranges",
                                                             "counted on other ranks or devices",
                                                             "which is which is not known",
                                                             "counted with another grid or block",
                                                             "not counted"};
    static const char *const of_ranges[CW_JOIN_HOW__COUNT] = {"",
                                                              "fewer are in the trace",
                                                              "traced in other NVTX ranges",
                                                              "traced on other ranks or devices",
                                                              "which is which is not known",
                                                              "traced with another grid or block",
                                                              "not in the trace"};
    return (traced ? of_trace : of_ranges)[how];
}

static void put_shape(const struct cw_join_launch *launch, char text[SHAPE_SIZE])
{
    const uint32_t *g = launch->grid, *b = launch->block;
    if (!g[0])
        cw_text_format(text, SHAPE_SIZE, "-");
    else
        cw_text_format(text, SHAPE_SIZE, "%" PRIu32 "x%" PRIu32 "x%" PRIu32 " / %" PRIu32 "x%" PRIu32 "x%" PRIu32, g[0],
                       g[1], g[2], b[0], b[1], b[2]);
}

static const char *name_of(const struct left *l, const struct cw_join_left *item)
{
    const struct cw_joined *j = l->joined;
    if (!l->traced)
        return cw_launch_of(j->data, item->first)->name;
    const struct cw_join_launch *launch = &j->traced.launches[item->first];
    const uint32_t event = j->launches[item->first].event;
    return j->of_ranges || !launch->grid[0] ? launch->kernel : j->timeline->names[j->timeline->gpu[event].name].shown;
}

static struct cw_output_row left_row(const struct cw_output_table *t, uint64_t i)
{
    struct left *l = t->content;
    const struct cw_join_left *item = &l->items[i];
    const struct cw_join_run *run = l->traced ? &l->joined->traced : &l->joined->counted;
    cw_terminal_integer(item->count, l->one.launches);
    cw_terminal_percent(l->whole > 0 && l->times ? l->times[i] / l->whole : 0, l->one.share);
    put_shape(&run->launches[item->first], l->one.shape);
    cw_shorten(name_of(l, item), l->name_width, l->one.name);
    l->one.why = why(item->how, l->traced);
    return (struct cw_output_row){.record = &l->one};
}

static const struct cw_output_column columns[] = {
    {"launches", CW_CELL_CHARS, CW_TO_TERMINAL, offsetof(struct line, launches), .right = true},
    {"share", CW_CELL_CHARS, CW_TO_TERMINAL, offsetof(struct line, share), .right = true},
    {"why", CW_CELL_TEXT, CW_TO_TERMINAL, offsetof(struct line, why)},
    {"grid / block", CW_CELL_CHARS, CW_TO_TERMINAL, offsetof(struct line, shape)},
    {"name", CW_CELL_CHARS, CW_TO_TERMINAL, offsetof(struct line, name)},
};
static const struct cw_output_column untimed_columns[] = {
    {"ranges", CW_CELL_CHARS, CW_TO_TERMINAL, offsetof(struct line, launches), .right = true},
    {"why", CW_CELL_TEXT, CW_TO_TERMINAL, offsetof(struct line, why)},
    {"grid / block", CW_CELL_CHARS, CW_TO_TERMINAL, offsetof(struct line, shape)},
    {"name", CW_CELL_CHARS, CW_TO_TERMINAL, offsetof(struct line, name)},
};

static void put_list(struct left *l, uint32_t count, const struct cw_terminal_style *style, const char *title,
                     FILE *out)
{
    enum { OTHERS = 72, LEAST = 20 };
    struct cw_output_table t = {.columns = l->traced ? columns : untimed_columns,
                                .column_count = l->traced ? sizeof columns / sizeof *columns
                                                          : sizeof untimed_columns / sizeof *untimed_columns,
                                .record_size = sizeof l->one,
                                .row_count = count < SHOWN_LEFT ? count : SHOWN_LEFT,
                                .row = left_row,
                                .content = l};
    if (!count)
        return;
    l->name_width = !style->width ? 0 : style->width > OTHERS + LEAST ? style->width - OTHERS : LEAST;
    cw_text_print(out, "\n%s\n", title);
    cw_terminal_print(&t, out);
    if (count > SHOWN_LEFT)
        cw_text_print(out, "%" PRIu32 " more; --json has all\n", count - SHOWN_LEFT);
}

/* ---- PC samples ------------------------------------------------------------------------------------------------- */

struct hot {
    char time[CW_TIME_TEXT_SIZE], samples[CW_NUMBER_SIZE], share[16], place[WHY_SIZE], reason[CW_REASON_SIZE],
        name[CW_SHORT_SIZE];
};

struct hot_list {
    const struct cw_joined_samples *samples;
    size_t name_width;
    struct hot one;
};

static struct cw_output_row hot_row(const struct cw_output_table *t, uint64_t i)
{
    struct hot_list *l = t->content;
    const struct cw_joined_line *line = &l->samples->lines[i];
    const char *file = strrchr(line->file, '/');
    cw_terminal_time(line->ns, l->one.time);
    cw_terminal_integer(line->samples, l->one.samples);
    snprintf(l->one.share, sizeof l->one.share, "%.1f%%", 100 * line->share);
    if (*line->file)
        cw_text_format(l->one.place, sizeof l->one.place, "%s:%" PRIu32, file ? file + 1 : line->file, line->line);
    else
        cw_text_format(l->one.place, sizeof l->one.place, "-");
    cw_reason_short(line->reason, l->one.reason);
    cw_shorten(line->name, l->name_width, l->one.name);
    return (struct cw_output_row){.record = &l->one};
}

static const struct cw_output_column hot_columns[] = {
    {"kernel's time", CW_CELL_CHARS, CW_TO_TERMINAL, offsetof(struct hot, time), .right = true},
    {"samples", CW_CELL_CHARS, CW_TO_TERMINAL, offsetof(struct hot, samples), .right = true},
    {"of kernel", CW_CELL_CHARS, CW_TO_TERMINAL, offsetof(struct hot, share), .right = true},
    {"line", CW_CELL_CHARS, CW_TO_TERMINAL, offsetof(struct hot, place)},
    {"waits for", CW_CELL_CHARS, CW_TO_TERMINAL, offsetof(struct hot, reason)},
    {"kernel", CW_CELL_CHARS, CW_TO_TERMINAL, offsetof(struct hot, name)},
};

void cw_joined_put_samples(const struct cw_output_rows *rows, const struct cw_terminal_style *style, FILE *out)
{
    enum { OTHERS = 76, LEAST = 20, SHOWN = 15 };
    const struct cw_joined_samples *samples = &rows->joined->samples;
    struct hot_list list = {.samples = samples};
    const struct cw_output_table t = {CW_OUTPUT_COLUMNS(hot_columns), .record_size = sizeof list.one,
                                      .row_count = samples->count < SHOWN ? samples->count : SHOWN, .row = hot_row,
                                      .content = &list};
    if (!rows->joined->samples_source)
        return;
    list.name_width = !style->width ? 0 : style->width > OTHERS + LEAST ? style->width - OTHERS : LEAST;
    if (!samples->count) {
        cw_text_print(out, "\nNo sample of %s is in a kernel that the trace has.\n", rows->joined->samples_source);
        return;
    }
    cw_text_print(out, "\nThe hottest lines of kernels, from %s:\n", rows->joined->samples_source);
    cw_terminal_print(&t, out);
    if (samples->count > SHOWN)
        cw_text_print(out, "%zu more; --json has all\n", samples->count - SHOWN);
    if (samples->elsewhere)
        cw_text_print(out, "%.1f %% of the samples are in kernels that the trace does not have.\n",
                      100 * (double)samples->elsewhere / (double)samples->samples);
}

/* ---- all that was left ------------------------------------------------------------------------------------------ */

/* The time of each item of the trace's list. NULL when out of memory. */
static double *sum_times(const struct cw_joined *j, const struct cw_join_left *items, uint32_t count)
{
    const size_t cells = (size_t)j->join.shape_count * CW_JOIN_HOW__COUNT;
    double *sums = calloc(cells + 1, sizeof *sums), *times = calloc((size_t)count + 1, sizeof *times);
    for (uint32_t i = 0; sums && times && i < j->count; i++)
        sums[(size_t)j->join.a.shape[i] * CW_JOIN_HOW__COUNT + j->join.a.how[i]] += j->launches[i].ns;
    for (uint32_t i = 0; sums && times && i < count; i++)
        times[i] = sums[(size_t)items[i].shape * CW_JOIN_HOW__COUNT + items[i].how];
    const bool enough = sums && times;
    free(sums);
    if (!enough) {
        free(times);
        return NULL;
    }
    return times;
}

enum cw_status cw_joined_put_left(const struct cw_output_rows *rows, const struct cw_terminal_style *style, FILE *out,
                                  struct cw_error *err)
{
    const struct cw_joined_output *o = rows->joined;
    struct left left = {.joined = o->joined, .items = o->left, .traced = true, .whole = o->joined->whole};
    double *times = sum_times(o->joined, o->left, o->left_count);
    left.times = times;
    if (!times)
        return cw_error_nomem(err);
    put_list(&left, o->left_count, style, "In the trace, and not counted:", out);
    left = (struct left){.joined = o->joined, .items = o->extra};
    put_list(&left, o->extra_count, style, "Counted, and not in the trace:", out);
    free(times);
    return CW_OK;
}
