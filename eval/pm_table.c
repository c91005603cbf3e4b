#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "eval/pm.h"
#include "eval/table.h"

/* ---- samples ---------------------------------------------------------------------------------------------------- */

/* The blocks of each device: those of device d are order[first[d]] up to order[first[d + 1]], as in the file. */
struct by_device {
    const struct cw_pm_result *r;
    uint32_t *first, *order;
};

static bool sort_blocks(struct by_device *b, const struct cw_pm_result *r)
{
    const struct cw_pm_data *pm = r->pm;
    size_t devices = r->base.data->device_count;
    *b = (struct by_device){r, calloc(devices + 3, sizeof *b->first),
                            calloc((size_t)pm->block_count + 1, sizeof *b->order)};
    if (!b->first || !b->order)
        return false;
    for (uint32_t i = 0; i < pm->block_count; i++)
        b->first[pm->blocks[i].device + 2]++;
    for (size_t d = 0; d < devices; d++)
        b->first[d + 2] += b->first[d + 1];
    for (uint32_t i = 0; i < pm->block_count; i++)
        b->order[b->first[pm->blocks[i].device + 1]++] = i;
    return true;
}

/* What was taken of one device. */
struct taken {
    uint32_t samples, overflows;
    uint64_t lost, start_ns, end_ns;
};

static struct taken count_taken(const struct by_device *b, uint32_t device)
{
    const struct cw_pm_data *pm = b->r->pm;
    struct taken t = {.start_ns = UINT64_MAX};
    for (uint32_t k = b->first[device]; k < b->first[device + 1]; k++) {
        const struct cw_pm_block *block = &pm->blocks[b->order[k]];
        uint64_t start = pm->start_ns[block->first], end = pm->end_ns[block->first + block->count - 1];
        t.start_ns = start < t.start_ns ? start : t.start_ns;
        t.end_ns = end > t.end_ns ? end : t.end_ns;
        t.samples += block->count;
        t.overflows += block->overflow;
        t.lost += block->lost;
    }
    return t;
}

static void put_heading(const struct by_device *b, uint32_t device, FILE *out)
{
    const struct cw_result *base = &b->r->base;
    const struct taken t = count_taken(b, device);
    cw_text_print(out, "%" PRIu32 " sample%s", t.samples, t.samples == 1 ? "" : "s");
    if (t.samples)
        cw_text_print(out, " in %.6g s", (double)(t.end_ns - t.start_ns) / 1e9);
    if (device < base->data->device_count) {
        const struct cw_device *d = &base->data->devices[device];
        const char *name = cw_device_attribute(d, "name");
        const char *interval = cw_device_attribute(d, "sampling_interval");
        const char *simulated = cw_device_attribute(d, "simulated");
        cw_text_print(out, ", every %s on device %" PRIu32 "%s%s%s", interval ? interval : "?", d->index,
                      name ? " " : "", name ? name : "",
                      simulated && strcmp(simulated, "yes") == 0 ? " (simulated)" : "");
    }
    if (t.lost)
        cw_text_print(out, "; %" PRIu64 " lost", t.lost);
    if (t.overflows)
        cw_text_print(out, "; the hardware's buffer was full %" PRIu32 " time%s", t.overflows,
                      t.overflows == 1 ? "" : "s");
    fputs("\n\n", out);
}

struct summary {
    double mean, least, greatest; /* of the values that are numbers; NaN without one */
    enum cw_value_status status;  /* the gravest */
};

static struct summary summarize(const struct by_device *by, uint32_t device, uint32_t metric)
{
    const struct cw_pm_result *r = by->r;
    struct summary s = {NAN, NAN, NAN, CW_VALUE_OK};
    size_t start = (size_t)metric * r->pm->sample_count, count = 0;
    double sum = 0;
    for (uint32_t k = by->first[device]; k < by->first[device + 1]; k++) {
        const struct cw_pm_block *block = &r->pm->blocks[by->order[k]];
        for (size_t i = start + block->first; i < start + block->first + block->count; i++) {
            double value = r->values[i];
            if (r->statuses[i] > (int8_t)s.status)
                s.status = (enum cw_value_status)r->statuses[i];
            if (isnan(value))
                continue;
            sum += value;
            s.least = !count || value < s.least ? value : s.least;
            s.greatest = !count || value > s.greatest ? value : s.greatest;
            count++;
        }
    }
    s.mean = count ? sum / (double)count : NAN;
    return s;
}

enum { CELLS = 5 }; /* metric, unit, mean, least, greatest */

static void fill_row(char cells[CELLS][CW_METRIC_NAME_MAX], const struct cw_pm_result *r, uint32_t metric,
                     const struct summary *s)
{
    const double values[] = {s->mean, s->least, s->greatest};
    double largest = fabs(s->greatest) > fabs(s->least) ? s->greatest : s->least;
    double factor = cw_table_factor(largest, r->base.units[metric], cells[1]);
    snprintf(cells[0], CW_METRIC_NAME_MAX, "%s", r->base.names[metric]);
    for (int k = 0; k < 3; k++)
        cw_table_number(values[k] / factor, cells[2 + k]);
}

static void put_row(char cells[CELLS][CW_METRIC_NAME_MAX], const int widths[CELLS], char mark, FILE *out)
{
    cw_text_print(out, "  %-*s  %-*s  %*s  %*s  %*s", widths[0], cells[0], widths[1], cells[1], widths[2], cells[2],
                  widths[3], cells[3], widths[4], cells[4]);
    if (mark != ' ')
        cw_text_print(out, " %c", mark);
    putc('\n', out);
}

static enum cw_status put_metrics(const struct by_device *by, uint32_t device, FILE *out, struct cw_error *err)
{
    const struct cw_pm_result *r = by->r;
    char cells[CELLS][CW_METRIC_NAME_MAX] = {"metric", "unit", "mean", "least", "greatest"};
    int widths[CELLS];
    bool seen[CW_VALUE_STATUS_COUNT] = {false};
    struct summary *list = calloc((size_t)r->base.metric_count + 1, sizeof *list);
    if (!list)
        return cw_error_nomem(err);
    for (int k = 0; k < CELLS; k++)
        widths[k] = (int)strlen(cells[k]);
    char row[CELLS][CW_METRIC_NAME_MAX];
    for (uint32_t m = 0; m < r->base.metric_count; m++) {
        list[m] = summarize(by, device, m);
        seen[list[m].status] = true;
        fill_row(row, r, m, &list[m]);
        for (int k = 0; k < CELLS; k++)
            widths[k] = (int)strlen(row[k]) > widths[k] ? (int)strlen(row[k]) : widths[k];
    }
    put_row(cells, widths, ' ', out);
    for (int k = 0; k < CELLS; k++) {
        fputs("  ", out);
        for (int i = 0; i < widths[k]; i++)
            putc('-', out);
    }
    putc('\n', out);
    for (uint32_t m = 0; m < r->base.metric_count; m++) {
        fill_row(row, r, m, &list[m]);
        put_row(row, widths, cw_table_mark(list[m].status), out);
    }
    cw_table_legend(seen, out);
    free(list);
    return CW_OK;
}

/* ---- launches --------------------------------------------------------------------------------------------------- */

struct kernel {
    const char *name;
    uint64_t count, time_ns;
};

static int by_name(const void *left, const void *right)
{
    return strcmp(((const struct kernel *)left)->name, ((const struct kernel *)right)->name);
}

static int by_time(const void *left, const void *right)
{
    const struct kernel *a = left, *b = right;
    return a->time_ns != b->time_ns ? (a->time_ns < b->time_ns) - (a->time_ns > b->time_ns) : by_name(a, b);
}

/* Every name once, with what its launches add up to. Returns how many. */
static uint32_t add_up(const struct cw_pm_data *pm, struct kernel *kernels)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < pm->name_count; i++)
        kernels[i].name = pm->names[i];
    for (uint32_t i = 0; i < pm->launch_count; i++) {
        kernels[pm->launches[i].name].count++;
        kernels[pm->launches[i].name].time_ns += pm->launches[i].end_ns - pm->launches[i].start_ns;
    }
    qsort(kernels, pm->name_count, sizeof *kernels, by_name);
    for (uint32_t i = 0; i < pm->name_count; i++) {
        if (kept && strcmp(kernels[kept - 1].name, kernels[i].name) == 0) {
            kernels[kept - 1].count += kernels[i].count;
            kernels[kept - 1].time_ns += kernels[i].time_ns;
        } else {
            kernels[kept++] = kernels[i];
        }
    }
    qsort(kernels, kept, sizeof *kernels, by_time);
    return kept;
}

static enum cw_status put_launches(const struct cw_pm_data *pm, FILE *out, struct cw_error *err)
{
    if (!pm->launch_count)
        return CW_OK;
    struct kernel *kernels = calloc((size_t)pm->name_count + 1, sizeof *kernels);
    if (!kernels)
        return cw_error_nomem(err);
    uint32_t count = add_up(pm, kernels);
    cw_text_print(out, "\n%" PRIu32 " kernel launches", pm->launch_count);
    if (pm->launches_dropped)
        cw_text_print(out, "; %" PRIu64 " more were not recorded", pm->launches_dropped);
    cw_text_print(out, "\n\n  %8s  %10s  %10s  kernel\n  --------  ----------  ----------  ------\n", "launches",
                  "total", "mean");
    for (uint32_t i = 0; i < count; i++) {
        if (!kernels[i].count)
            continue;
        char total[CW_NUMBER_SIZE], mean[CW_NUMBER_SIZE], total_unit[CW_UNIT_SIZE], mean_unit[CW_UNIT_SIZE];
        double time = (double)kernels[i].time_ns;
        cw_table_value(time, "nanoseconds", total, total_unit);
        cw_table_value(time / (double)kernels[i].count, "nanoseconds", mean, mean_unit);
        cw_text_print(out, "  %8" PRIu64 "  %7s %-2s  %7s %-2s  %s\n", kernels[i].count, total, total_unit, mean,
                      mean_unit, kernels[i].name);
    }
    free(kernels);
    return CW_OK;
}

enum cw_status cw_pm_table_write(const struct cw_pm_result *r, FILE *out, struct cw_error *err)
{
    struct by_device by;
    enum cw_status status = sort_blocks(&by, r) ? CW_OK : cw_error_nomem(err);
    /* once at least: a capture that died early has no device */
    for (uint32_t device = 0; status == CW_OK && (!device || device < r->base.data->device_count); device++) {
        if (device)
            putc('\n', out);
        put_heading(&by, device, out);
        status = put_metrics(&by, device, out, err);
    }
    free(by.first);
    free(by.order);
    return status == CW_OK ? put_launches(r->pm, out, err) : status;
}
