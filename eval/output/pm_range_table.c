#include <inttypes.h>
#include <stdlib.h>

#include "base/text.h"
#include "eval/output/pm_range_table.h"
#include "eval/output/terminal.h"

static struct cw_output_row row(const struct cw_output_table *t, uint64_t i)
{
    const struct cw_pm_ranges *ranges = t->content;
    return (struct cw_output_row){.record = &ranges->items[i],
                                  .values = ranges->values + i,
                                  .statuses = ranges->statuses + i,
                                  .stride = ranges->count};
}

static const struct cw_output_column columns[] = {
    {"range", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct cw_pm_range, path)},
    {"device", CW_CELL_U32, CW_TO_FILES, offsetof(struct cw_pm_range, device)},
    {"ranges", CW_CELL_U32, CW_TO_FILES, offsetof(struct cw_pm_range, ranges)},
    {"samples", CW_CELL_U32, CW_TO_FILES, offsetof(struct cw_pm_range, samples)},
    {"time_ns", CW_CELL_U64, CW_TO_FILES, offsetof(struct cw_pm_range, time_ns)},
};

static const struct cw_output_column kernel_columns[] = {
    {"kernel", CW_CELL_TEXT, CW_TO_FILES, offsetof(struct cw_pm_range, path)},
    {"device", CW_CELL_U32, CW_TO_FILES, offsetof(struct cw_pm_range, device)},
    {"traced", CW_CELL_U64, CW_TO_FILES, offsetof(struct cw_pm_range, traced)},
    {"traced_ns", CW_CELL_F64, CW_TO_FILES, offsetof(struct cw_pm_range, traced_ns)},
    {"launches", CW_CELL_U32, CW_TO_FILES, offsetof(struct cw_pm_range, ranges)},
    {"launches_ns", CW_CELL_U64, CW_TO_FILES, offsetof(struct cw_pm_range, ranges_ns)},
    {"sample_ns", CW_CELL_U64, CW_TO_FILES, offsetof(struct cw_pm_range, sample_ns)},
    {"samples", CW_CELL_U32, CW_TO_FILES, offsetof(struct cw_pm_range, samples)},
    {"time_ns", CW_CELL_U64, CW_TO_FILES, offsetof(struct cw_pm_range, time_ns)},
};

/* ---- for people ------------------------------------------------------------------------------------------------- */

struct line {
    const char *metric;
    char unit[CW_UNIT_SIZE];
    double mean;
    int8_t status;
};

static const struct cw_output_column line_columns[] = {
    {"metric", CW_CELL_TEXT, CW_TO_TERMINAL, offsetof(struct line, metric)},
    {"unit", CW_CELL_CHARS, CW_TO_TERMINAL, offsetof(struct line, unit)},
    {"mean", CW_CELL_F64, CW_TO_TERMINAL, offsetof(struct line, mean), .right = true},
    {"status", CW_CELL_STATUS, CW_TO_TERMINAL, offsetof(struct line, status)},
};

static void put_heading(const struct cw_pm_range *r, FILE *out)
{
    char time[CW_TIME_TEXT_SIZE];
    cw_text_print(out, "%s: %" PRIu32 " sample%s, %s of %" PRIu32 " range%s, on device %" PRIu32 "\n\n", r->path,
                  r->samples, r->samples == 1 ? "" : "s", cw_terminal_time((double)r->time_ns, time), r->ranges,
                  r->ranges == 1 ? "" : "s", r->device);
}

/* What a kernel took in the trace, and where its metrics are from. */
static void put_kernel(const struct cw_pm_range *r, FILE *out)
{
    char time[CW_TIME_TEXT_SIZE], sampled[CW_TIME_TEXT_SIZE], launches[CW_TIME_TEXT_SIZE], sample[CW_TIME_TEXT_SIZE];
    cw_text_print(out, "%s: ", r->path);
    if (r->traced)
        cw_text_print(out, "%s of %" PRIu64 " launch%s in the trace", cw_terminal_time(r->traced_ns, time), r->traced,
                      r->traced == 1 ? "" : "es");
    else
        fputs("not in the trace", out);
    cw_text_print(out, "; %" PRIu32 " sample%s in %s of %" PRIu32 " launch%s, on device %" PRIu32 "\n", r->samples,
                  r->samples == 1 ? "" : "s", cw_terminal_time((double)r->time_ns, sampled), r->ranges,
                  r->ranges == 1 ? "" : "es", r->device);
    if (r->ranges && r->ranges_ns / r->ranges < r->sample_ns)
        cw_text_print(out,
                      "A launch takes %s, and a sample is of %s: its metrics are of what ran before and after, too.\n",
                      cw_terminal_time((double)(r->ranges_ns / r->ranges), launches),
                      cw_terminal_time((double)r->sample_ns, sample));
    putc('\n', out);
}

static void put_metrics(const struct cw_pm_ranges_output *o, uint32_t row, struct line *lines,
                        const struct cw_terminal_style *style, FILE *out)
{
    const struct cw_result *r = o->result;
    struct cw_terminal_layout layout = {0};
    for (uint32_t m = 0; m < r->metric_count; m++) {
        const size_t at = (size_t)m * o->ranges->count + row;
        lines[m] = (struct line){.metric = r->names[m], .status = o->ranges->statuses[at]};
        lines[m].mean = o->ranges->values[at] / cw_terminal_factor(o->ranges->values[at], r->units[m], lines[m].unit);
    }
    const struct cw_output_table t = {CW_OUTPUT_COLUMNS(line_columns), .record_size = sizeof *lines,
                                      .row_count = r->metric_count, .row = cw_output_array, .content = lines};
    cw_terminal_measure(&layout, &t);
    cw_terminal_fit(&layout, &t, 0, style->width);
    cw_terminal_put(&layout, &t, out);
    cw_terminal_legend(&layout, out);
}

static enum cw_status print(const struct cw_output *output, const struct cw_terminal_style *style, FILE *out,
                            struct cw_error *err)
{
    const struct cw_pm_ranges_output *o = output->result;
    struct line *lines = calloc((size_t)o->result->metric_count + 1, sizeof *lines);
    if (!lines)
        return cw_error_nomem(err);
    if (o->trace && !style->quiet)
        cw_text_print(out,
                      "Times are those of %s, metrics those of samples in the same kernels of %s, another run.\n\n",
                      o->trace, output->source);
    for (uint32_t i = 0; i < o->shown; i++) {
        if (i)
            putc('\n', out);
        if (o->trace)
            put_kernel(&o->ranges->items[i], out);
        else
            put_heading(&o->ranges->items[i], out);
        if (o->ranges->items[i].samples)
            put_metrics(o, i, lines, style, out);
    }
    if (o->shown < o->ranges->count && !style->quiet)
        fprintf(out, "\n%" PRIu32 " more; --top N shows more\n", o->ranges->count - o->shown);
    if (o->ranges->unsampled && !style->quiet)
        fprintf(out, "\n%" PRIu64 " launch%s of the trace, %s, of kernels that the other run does not have\n",
                o->ranges->unsampled, o->ranges->unsampled == 1 ? "" : "es",
                cw_terminal_time(o->ranges->unsampled_ns, (char[CW_TIME_TEXT_SIZE]){0}));
    free(lines);
    return CW_OK;
}

enum cw_status cw_output_pm_ranges(struct cw_output *output, const struct cw_pm_ranges_output *o,
                                   struct cw_arena *arena, struct cw_error *err)
{
    *output = (struct cw_output){
        .data = o->result->data, .source = o->result->source, .table_count = 1, .print = print, .result = o};
    if (!cw_output_metrics(&output->metrics, o->result, NULL, false, arena))
        return cw_error_nomem(err);
    output->tables[0] = (struct cw_output_table){CW_OUTPUT_COLUMNS(columns),
                                                 .name = o->trace ? "kernels" : "ranges",
                                                 .group = o->trace ? "kernel" : "nvtx",
                                                 .record_size = sizeof(struct cw_pm_range),
                                                 .row_count = o->ranges->count,
                                                 .row = row,
                                                 .content = (void *)o->ranges,
                                                 .metrics = &output->metrics};
    if (o->trace) {
        output->tables[0].columns = kernel_columns;
        output->tables[0].column_count = sizeof kernel_columns / sizeof *kernel_columns;
    }
    return CW_OK;
}
