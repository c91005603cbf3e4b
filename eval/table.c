#include "eval/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

/* Puts commas between thousands of the digits before the point. */
static void group_digits(char text[CW_NUMBER_SIZE])
{
    size_t start = text[0] == '-', digits = strspn(text + start, "0123456789");
    for (size_t at = digits; at > 3;) {
        at -= 3;
        char *here = text + start + at;
        if (strlen(text) + 2 > CW_NUMBER_SIZE)
            return;
        memmove(here + 1, here, strlen(here) + 1);
        *here = ',';
    }
}

const char *cw_table_number(double value, char text[CW_NUMBER_SIZE])
{
    double size = fabs(value);
    if (isnan(value))
        snprintf(text, CW_NUMBER_SIZE, "n/a");
    else if (isinf(value))
        snprintf(text, CW_NUMBER_SIZE, "%sinf", value < 0 ? "-" : "");
    else if (size >= 1e15 || (size < 1e-3 && size > 0))
        snprintf(text, CW_NUMBER_SIZE, "%.3e", value);
    else if (value == floor(value))
        snprintf(text, CW_NUMBER_SIZE, "%.0f", value == 0 ? 0.0 : value);
    else
        snprintf(text, CW_NUMBER_SIZE, "%.*f", size >= 100 ? 2 : size >= 1 ? 3 : 5, value);
    group_digits(text);
    return text;
}

struct prefix {
    double factor;
    const char *text;
};

static double choose_prefix(double value, const struct prefix *prefixes, size_t count, const char *unit,
                            char shown[CW_UNIT_SIZE])
{
    size_t best = 0;
    while (best + 1 < count && fabs(value) >= prefixes[best + 1].factor)
        best++;
    snprintf(shown, CW_UNIT_SIZE, "%s%s", prefixes[best].text, unit);
    return prefixes[best].factor;
}

double cw_table_factor(double value, const char *unit, char shown[CW_UNIT_SIZE])
{
    static const struct prefix times[] = {{1, "n"}, {1e3, "u"}, {1e6, "m"}, {1e9, ""}};
    static const struct prefix powers[] = {{1, ""}, {1e3, "k"}, {1e6, "M"}, {1e9, "G"}, {1e12, "T"}, {1e15, "P"}};
    size_t length = strlen(unit);
    bool rate = length > 2 && strcmp(unit + length - 2, "/s") == 0;
    if (isfinite(value) && strcmp(unit, "nanoseconds") == 0)
        return choose_prefix(value, times, sizeof times / sizeof *times, "s", shown);
    if (isfinite(value) && (rate || strcmp(unit, "bytes") == 0))
        return choose_prefix(value, powers, sizeof powers / sizeof *powers, unit, shown);
    snprintf(shown, CW_UNIT_SIZE, "%s", strcmp(unit, "1") == 0 ? "" : unit);
    return 1;
}

const char *cw_table_value(double value, const char *unit, char text[CW_NUMBER_SIZE], char shown[CW_UNIT_SIZE])
{
    double factor = cw_table_factor(value, unit, shown);
    return cw_table_number(value / factor, text);
}

/* ---- layout ----------------------------------------------------------------------------------------------------- */

static const char marks[CW_VALUE_STATUS_COUNT] = {
    [CW_VALUE_OK] = ' ',
    [CW_VALUE_MIXED_PASSES] = '~',
    [CW_VALUE_ZERO_DENOMINATOR] = '/',
    [CW_VALUE_OVERFLOW] = '!',
    [CW_VALUE_INCOMPLETE] = '?',
    [CW_VALUE_UNAVAILABLE] = 'u',
    [CW_VALUE_NOT_COLLECTED] = '-',
};

struct layout {
    int name, unit, value; /* widths */
};

static int largest(int a, size_t b)
{
    return b > (size_t)a ? (int)b : a;
}

static struct layout measure(const struct cw_result *r, const struct cw_table_style *style)
{
    struct layout l = {6, 4, 5};
    for (uint32_t m = 0; m < r->metric_count; m++) {
        l.name = largest(l.name, cw_text_columns(r->names[m]));
        for (uint32_t i = 0; i < r->range_count; i++) {
            char text[CW_NUMBER_SIZE], unit[CW_UNIT_SIZE];
            cw_table_value(r->values[(size_t)m * r->range_count + i], r->units[m], text, unit);
            l.value = largest(l.value, strlen(text));
            l.unit = largest(l.unit, cw_text_columns(unit));
        }
    }
    int others = 2 + 2 + l.unit + 2 + l.value + 2;
    int room = style->width ? (int)style->width - others : l.name;
    l.name = room >= l.name ? l.name : room > 24 ? room : 24;
    return l;
}

/* A text in `width` columns; the middle of a longer one is left out, since names differ most at both ends. */
static void put_fitted(const char *text, int width, FILE *out)
{
    char shown[4 * CW_METRIC_NAME_MAX];
    int length = (int)cw_text_format(shown, sizeof shown, "%s", text);
    if ((int)cw_text_columns(shown) <= width) {
        cw_text_print(out, "%-*s", width, shown);
        return;
    }
    int tail = (width - 2) / 2, head = width - 2 - tail;
    while (((unsigned char)shown[length - tail] & 0xc0) == 0x80) /* not within a character */
        tail--;
    cw_text_print(out, "%.*s..%s", head, shown, shown + length - tail);
}

static void put_triple(const uint32_t v[3], FILE *out)
{
    cw_text_print(out, "(%" PRIu32 ", %" PRIu32 ", %" PRIu32 ")", v[0], v[1], v[2]);
}

static void put_heading(const struct cw_result *r, uint32_t index, const struct cw_table_style *style, FILE *out)
{
    const struct cw_range *g = cw_result_range(r, index);
    const struct cw_device *device = cw_result_device(r, g);
    const char *name = cw_device_attribute(device, "name"), *simulated = cw_device_attribute(device, "simulated");
    fputs(index ? "\n" : "", out);
    fputs(style->bold ? "\033[1m" : "", out);
    cw_text_put(out, CW_TEXT_LINE, g->name);
    fputs(style->bold ? "\033[0m" : "", out);
    if (g->grid[0]) {
        fputs("  grid ", out);
        put_triple(g->grid, out);
        fputs(" x block ", out);
        put_triple(g->block, out);
    }
    cw_text_print(out, "\n  range %" PRIu32 ", device %" PRIu32 "%s%s%s, process %" PRIu32, r->ranges[index],
                  device->index, name ? " " : "", name ? name : "",
                  simulated && strcmp(simulated, "yes") == 0 ? " (simulated)" : "", g->process);
    if (g->stream)
        cw_text_print(out, ", stream %" PRIu64, g->stream);
    putc('\n', out);
}

static void put_line(int width, FILE *out)
{
    while (width-- > 0)
        putc('-', out);
}

static void put_range(const struct cw_result *r, uint32_t index, const struct layout *l, FILE *out)
{
    cw_text_print(out, "  %-*s  %-*s  %*s\n  ", l->name, "metric", l->unit, "unit", l->value, "value");
    put_line(l->name, out);
    fputs("  ", out);
    put_line(l->unit, out);
    fputs("  ", out);
    put_line(l->value, out);
    putc('\n', out);
    for (uint32_t m = 0; m < r->metric_count; m++) {
        size_t at = (size_t)m * r->range_count + index;
        char text[CW_NUMBER_SIZE], unit[CW_UNIT_SIZE], mark = marks[r->statuses[at]];
        cw_table_value(r->values[at], r->units[m], text, unit);
        fputs("  ", out);
        put_fitted(r->names[m], l->name, out);
        cw_text_print(out, "  %-*s  %*s", l->unit, unit, l->value, text);
        if (mark != ' ')
            cw_text_print(out, " %c", mark);
        putc('\n', out);
    }
}

char cw_table_mark(enum cw_value_status status)
{
    return marks[status];
}

void cw_table_legend(const bool seen[CW_VALUE_STATUS_COUNT], FILE *out)
{
    static const char *const meaning[CW_VALUE_STATUS_COUNT] = {
        [CW_VALUE_MIXED_PASSES] = "mixed passes: its counters come from different passes",
        [CW_VALUE_ZERO_DENOMINATOR] = "zero denominator (for frame and region: no --frame-ns, --region-ns)",
        [CW_VALUE_OVERFLOW] = "overflow: a counter overflowed",
        [CW_VALUE_INCOMPLETE] = "incomplete: a pass is missing",
        [CW_VALUE_UNAVAILABLE] = "unavailable on this device",
        [CW_VALUE_NOT_COLLECTED] = "not collected in this capture",
    };
    bool first = true;
    for (int s = CW_VALUE_OK + 1; s < CW_VALUE_STATUS_COUNT; s++) {
        if (!seen[s])
            continue;
        fputs(first ? "\n" : "", out);
        cw_text_print(out, "  %c  %s\n", marks[s], meaning[s]);
        first = false;
    }
}

void cw_table_write(const struct cw_result *r, const struct cw_table_style *style, FILE *out)
{
    struct layout l = measure(r, style);
    for (uint32_t i = 0; i < r->range_count; i++) {
        put_heading(r, i, style, out);
        put_range(r, i, &l, out);
    }
    if (!r->range_count)
        fputs("no ranges\n", out);
    bool seen[CW_VALUE_STATUS_COUNT] = {false};
    for (size_t i = 0; i < (size_t)r->metric_count * r->range_count; i++)
        seen[r->statuses[i]] = true;
    cw_table_legend(seen, out);
}

/* ---- show ------------------------------------------------------------------------------------------------------- */

static void show_end(const struct cw_counter_data *d, FILE *out)
{
    if (!d->complete)
        fputs("end:       none, the capture is incomplete\n", out);
    else if (d->how == CW_END_NO_PROGRAM)
        fputs("end:       complete, not a run of a program\n", out);
    else
        cw_text_print(out, "end:       complete, the program %s %" PRIu32 "\n",
                      d->how == CW_END_EXITED ? "exited with status" : "was killed by signal", d->code);
    if (d->dropped)
        cw_text_print(out, "dropped:   %" PRIu64 "\n", d->dropped);
}

static void show_devices(const struct cw_counter_data *d, FILE *out)
{
    for (uint32_t i = 0; i < d->device_count; i++) {
        cw_text_print(out, "device %" PRIu32 ":\n", d->devices[i].index);
        for (uint32_t a = 0; a < d->devices[i].attribute_count; a++)
            cw_text_print(out, "  %s: %s\n", d->devices[i].attributes[a].key, d->devices[i].attributes[a].value);
    }
}

void cw_table_show(const struct cw_counter_data *d, const char *source, FILE *out)
{
    const struct cw_schema *s = &d->schema;
    uint32_t split = 0, repeated = 0, first;
    for (uint32_t i = 0; i < s->counter_count; i++) {
        split += !s->counters[i].whole;
        repeated += cw_schema_repeats_of(s, i, &first) > 0;
    }
    cw_text_print(out, "capture:   %s\nchip:      %s\nprofiler:  %s\nproducer:  %s\ndatabase:  ", source, s->chip,
                  cw_profiler_names[s->profiler], s->producer);
    for (int i = 0; i < 16; i++)
        cw_text_print(out, "%02x", s->database[i]);
    cw_text_print(out, "\npasses:    %" PRIu32 "\ncounters:  %" PRIu32, s->pass_count, s->counter_count);
    if (split)
        cw_text_print(out, " (%" PRIu32 " split over several passes)", split);
    if (repeated)
        cw_text_print(out, ", %" PRIu32 " of them whole in several", repeated);
    cw_text_print(out, "\nmetrics:   %" PRIu32 "\n", s->metric_count);
    if (s->profiler == CW_PROFILER_PM)
        cw_text_print(out, "samples:   %" PRIu32 "\noverflows: %" PRIu32 "\nlaunches:  %" PRIu32 "\n",
                      d->pm.sample_count, d->pm.overflow_count, d->pm.launch_count);
    else
        cw_text_print(out, "ranges:    %" PRIu32 "\n", d->range_count);
    show_end(d, out);
    show_devices(d, out);
}
