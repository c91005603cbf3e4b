#define _GNU_SOURCE
#include "eval/output/terminal.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/apart.h"
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

const char *cw_terminal_number(double value, char text[CW_NUMBER_SIZE])
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

/* ---- units ------------------------------------------------------------------------------------------------------ */

struct prefix {
    double factor;
    const char *text;
};

static double choose_prefix(double value, const struct prefix *prefixes, size_t count, char shown[CW_UNIT_SIZE])
{
    char unit[CW_UNIT_SIZE];
    size_t best = 0;
    while (best + 1 < count && fabs(value) >= prefixes[best + 1].factor)
        best++;
    memcpy(unit, shown, CW_UNIT_SIZE);
    snprintf(shown, CW_UNIT_SIZE, "%s%.*s", prefixes[best].text, CW_UNIT_SIZE - 2, unit);
    return prefixes[best].factor;
}

double cw_terminal_factor(double value, const char *unit, char shown[CW_UNIT_SIZE])
{
    static const struct prefix times[] = {{1, "n"}, {1e3, "u"}, {1e6, "m"}, {1e9, ""}};
    static const struct prefix powers[] = {{1, ""}, {1e3, "k"}, {1e6, "M"}, {1e9, "G"}, {1e12, "T"}, {1e15, "P"}};
    const size_t length = strlen(cw_unit_text(unit, shown));
    const bool rate = strcmp(shown, "Hz") == 0 || (length > 2 && strcmp(shown + length - 2, "/s") == 0);
    if (isfinite(value) && strcmp(unit, "nanoseconds") == 0) {
        strcpy(shown, "s");
        return choose_prefix(value, times, sizeof times / sizeof *times, shown);
    }
    if (isfinite(value) && (rate || strcmp(unit, "bytes") == 0))
        return choose_prefix(value, powers, sizeof powers / sizeof *powers, shown);
    return 1;
}

/* ---- texts ------------------------------------------------------------------------------------------------------ */

const char *cw_terminal_integer(uint64_t value, char text[CW_NUMBER_SIZE])
{
    snprintf(text, CW_NUMBER_SIZE, "%" PRIu64, value);
    group_digits(text);
    return text;
}

const char *cw_terminal_percent(double part, char text[CW_PERCENT_SIZE])
{
    snprintf(text, CW_PERCENT_SIZE, isnan(part) ? "-" : part < 0.0005 && part > 0 ? "<0.1%%" : "%.1f%%", 100 * part);
    return text;
}

const char *cw_terminal_time(double ns, char text[CW_TIME_TEXT_SIZE])
{
    char number[CW_NUMBER_SIZE], unit[CW_UNIT_SIZE];
    const double factor = cw_terminal_factor(ns, "nanoseconds", unit);
    snprintf(text, CW_TIME_TEXT_SIZE, "%s%s%s", cw_terminal_number(ns / factor, number), isfinite(ns) ? " " : "",
             isfinite(ns) ? unit : "");
    return text;
}

const char *cw_terminal_amount(double value, const char *unit, char text[CW_TIME_TEXT_SIZE])
{
    char number[CW_NUMBER_SIZE], shown[CW_UNIT_SIZE];
    const double factor = cw_terminal_factor(value, unit, shown);
    snprintf(text, CW_TIME_TEXT_SIZE, "%s %s", cw_terminal_number(value / factor, number), shown);
    return text;
}

void cw_terminal_title(const char *text, const struct cw_terminal_style *style, FILE *out)
{
    fputs(style->bold ? "\033[1m" : "", out);
    cw_text_put(out, CW_TEXT_LINE, text);
    fputs(style->bold ? "\033[0m" : "", out);
}

const char *cw_terminal_bar(double part, const struct cw_terminal_style *style, char text[CW_BAR_SIZE])
{
    static const char *const eighths[] = {"", "\u258f", "\u258e", "\u258d", "\u258c", "\u258b", "\u258a", "\u2589"};
    const unsigned most = 8 * CW_BAR_WIDTH;
    const unsigned filled = !(part > 0) ? 0 : part >= 1 ? most : (unsigned)(part * most + 0.5);
    size_t used = 0;
    *text = 0;
    for (unsigned i = 0; style->bars && i < filled / 8; i++)
        used += (size_t)snprintf(text + used, CW_BAR_SIZE - used, style->bars == CW_BARS_BLOCKS ? "\u2588" : "#");
    if (style->bars == CW_BARS_BLOCKS)
        snprintf(text + used, CW_BAR_SIZE - used, "%s", eighths[filled % 8]);
    return text;
}

/* ---- layout ----------------------------------------------------------------------------------------------------- */

static const char marks[CW_VALUE_STATUS_COUNT] = {
    [CW_VALUE_OK] = ' ',
    [CW_VALUE_MIXED_PASSES] = '~',
    [CW_VALUE_MULTIPLEXED] = 'x',
    [CW_VALUE_ZERO_DENOMINATOR] = '/',
    [CW_VALUE_OVERFLOW] = '!',
    [CW_VALUE_INCOMPLETE] = '?',
    [CW_VALUE_IMPLAUSIBLE] = '>',
    [CW_VALUE_UNAVAILABLE] = 'u',
    [CW_VALUE_NOT_COLLECTED] = '-',
};

char cw_terminal_mark(enum cw_value_status status)
{
    return marks[status];
}

/* The text of a cell, in `number` where it is one. */
static const char *cell_text(const struct cw_output_column *c, const void *record, char number[CW_NUMBER_SIZE])
{
    const void *cell = cw_cell_at(c, record, 0);
    switch (c->type) {
    case CW_CELL_TEXT:
        return *(const char *const *)cell;
    case CW_CELL_CHARS:
        return cell;
    case CW_CELL_F64:
        return cw_terminal_number(*(const double *)cell, number);
    default:
        return cw_terminal_integer(cw_cell_integer(c->type, cell), number);
    }
}

static void widen(int *width, const char *text)
{
    size_t columns = cw_text_columns(text);
    *width = columns > (size_t)*width ? (int)columns : *width;
}

void cw_terminal_see(struct cw_terminal_seen *seen, const char *metric, enum cw_value_status status)
{
    seen->statuses[status] = true;
    seen->undurated = seen->undurated || (status == CW_VALUE_NOT_COLLECTED &&
                                          (strstr(metric, "_frame") != NULL || strstr(metric, "_region") != NULL));
}

static void measure_record(int *widths, struct cw_terminal_seen *seen, const struct cw_output_table *t,
                           const void *record)
{
    char number[CW_NUMBER_SIZE];
    for (size_t k = 0; k < t->column_count; k++)
        if (t->columns[k].type == CW_CELL_STATUS)
            cw_terminal_see(seen, cell_text(t->columns, record, number),
                            (enum cw_value_status) * (const int8_t *)cw_cell_at(&t->columns[k], record, 0));
        else if (!t->columns[k].width)
            widen(&widths[k], cell_text(&t->columns[k], record, number));
}

void cw_terminal_measure(int widths[CW_TERMINAL_COLUMNS], struct cw_terminal_seen *seen,
                         const struct cw_output_table *t)
{
    for (size_t k = 0; k < t->column_count; k++)
        if (t->columns[k].width)
            widths[k] = t->columns[k].width;
        else if (t->columns[k].type != CW_CELL_STATUS)
            widen(&widths[k], t->columns[k].name);
    for (uint64_t i = 0; i < t->row_count; i++)
        measure_record(widths, seen, t, t->row(t, i).record);
}

void cw_terminal_fit(int widths[CW_TERMINAL_COLUMNS], const struct cw_output_table *t, unsigned width)
{
    int room = (int)width - 2;
    for (size_t k = 1; k < t->column_count; k++)
        room -= 2 + widths[k];
    if (width && room < widths[0])
        widths[0] = room > 24 ? room : 24;
}

int cw_terminal_room(const struct cw_output_table *t, unsigned width)
{
    int widths[CW_TERMINAL_COLUMNS] = {0};
    struct cw_terminal_seen seen = {0};
    int room = (int)width - 2;
    cw_terminal_measure(widths, &seen, t);
    for (size_t k = 0; k + 1 < t->column_count; k++)
        room -= 2 + widths[k];
    return room;
}

const char *cw_terminal_cut(const char *text, size_t width, char shown[CW_SHORT_SIZE])
{
    enum { MARK = 2 }; /* ".." */
    const size_t length = cw_text_format(shown, CW_SHORT_SIZE - MARK, "%s", text);
    if (cw_text_columns(shown) <= width)
        return shown;
    if (width < 4)
        width = 4;
    const size_t behind = (width - MARK) / 2, head = cw_text_head(shown, width - MARK - behind),
                 tail = cw_text_tail(shown, behind);
    memmove(shown + head + MARK, shown + tail, length - tail + 1);
    memcpy(shown + head, "..", MARK);
    return shown;
}

/* Finds texts of the first column that would read the same once cut. */
static size_t *find_alike(const int *widths, const struct cw_output_table *t)
{
    enum { MOST = 4096 };
    const struct cw_output_column *c = &t->columns[0];
    const bool fitted = !c->right && !c->width && c->type != CW_CELL_STATUS && t->column_count > 1;
    char number[CW_NUMBER_SIZE], **texts = NULL;
    size_t *alike = NULL;
    bool good = fitted && t->row_count <= MOST && (texts = calloc(t->row_count + 1, sizeof *texts));
    for (uint64_t i = 0; good && i < t->row_count; i++)
        good = (texts[i] = strdup(cell_text(c, t->row(t, i).record, number))) != NULL;
    if (good)
        alike = cw_find_alike((const char *const *)texts, t->row_count, (size_t)widths[0], cw_terminal_cut);
    for (uint64_t i = 0; texts && i < t->row_count; i++)
        free(texts[i]);
    free(texts);
    return alike;
}

static void put_fitted(const char *text, size_t alike, int width, FILE *out)
{
    char shown[CW_SHORT_SIZE];
    cw_terminal_cut(text, (size_t)width, shown);
    cw_text_print(out, "%-*s", width, cw_show_apart(text, alike, (size_t)width, shown));
}

static void put_cell(const struct cw_output_column *c, const char *text, size_t alike, int width, bool last, FILE *out)
{
    if (c->right)
        cw_text_print(out, "%*s", width, text);
    else if (c->width || last)
        cw_text_print(out, "%-*s", last ? 0 : width, text);
    else
        put_fitted(text, alike, width, out);
}

/* Prints a line of cells or, without a record, of the columns' names; `alike`: of the first cell. */
static void put_line(const int *widths, const struct cw_output_table *t, const void *record, size_t alike, FILE *out)
{
    char number[CW_NUMBER_SIZE];
    for (size_t k = 0; k < t->column_count; k++) {
        const struct cw_output_column *c = &t->columns[k];
        char mark = record && c->type == CW_CELL_STATUS ? marks[*(const int8_t *)cw_cell_at(c, record, 0)] : ' ';
        if (mark != ' ')
            cw_text_print(out, " %c", mark);
        const char *text = c->type == CW_CELL_STATUS ? "" : record ? cell_text(c, record, number) : c->name;
        const bool last = k + 1 == t->column_count;
        if (c->type == CW_CELL_STATUS || (last && !*text)) /* no blanks at the end of a line */
            continue;
        fputs(k || !t->plain ? "  " : "", out);
        put_cell(c, text, k ? 0 : alike, widths[k], last, out);
    }
    putc('\n', out);
}

static void put_rule(const int *widths, const struct cw_output_table *t, FILE *out)
{
    size_t count = t->column_count;
    while (count && !*t->columns[count - 1].name)
        count--;
    for (size_t k = 0; k < count; k++) {
        fputs(t->columns[k].type == CW_CELL_STATUS ? "" : "  ", out);
        for (int i = 0; i < widths[k]; i++)
            putc(*t->columns[k].name ? '-' : ' ', out);
    }
    putc('\n', out);
}

void cw_terminal_put_rows(const int widths[CW_TERMINAL_COLUMNS], const struct cw_output_table *t,
                          void (*after)(void *content, uint64_t row, FILE *out), FILE *out)
{
    size_t *alike = find_alike(widths, t);
    for (uint64_t i = 0; i < t->row_count; i++) {
        put_line(widths, t, t->row(t, i).record, alike ? alike[i] : 0, out);
        if (after)
            after(t->content, i, out);
    }
    free(alike);
}

void cw_terminal_put(const int widths[CW_TERMINAL_COLUMNS], const struct cw_output_table *t, FILE *out)
{
    put_line(widths, t, NULL, 0, out);
    if (!t->plain)
        put_rule(widths, t, out);
    cw_terminal_put_rows(widths, t, NULL, out);
}

void cw_terminal_legend(const struct cw_terminal_seen *seen, FILE *out)
{
    static const char *const meaning[CW_VALUE_STATUS_COUNT] = {
        [CW_VALUE_MIXED_PASSES] = "mixed passes: its counters come from different passes",
        [CW_VALUE_MULTIPLEXED] = "multiplexed: the mean of launches or ranges that were counted in one pass each",
        [CW_VALUE_ZERO_DENOMINATOR] = "zero denominator",
        [CW_VALUE_OVERFLOW] = "overflow: a counter overflowed",
        [CW_VALUE_INCOMPLETE] = "incomplete: a pass is missing",
        [CW_VALUE_IMPLAUSIBLE] = "implausible: more than the whole, or below 0",
        [CW_VALUE_UNAVAILABLE] = "unavailable on this device",
        [CW_VALUE_NOT_COLLECTED] = "not collected in this capture",
    };
    bool first = true;
    for (int s = CW_VALUE_OK + 1; s < CW_VALUE_STATUS_COUNT; s++) {
        if (!seen->statuses[s])
            continue;
        fputs(first ? "\n" : "", out);
        cw_text_print(out, "  %c  %s%s\n", marks[s], meaning[s],
                      s == CW_VALUE_NOT_COLLECTED && seen->undurated ? " (frame and region: no --frame-ns, --region-ns)"
                                                                     : "");
        first = false;
    }
}

void cw_terminal_print(const struct cw_output_table *t, unsigned width, FILE *out)
{
    int widths[CW_TERMINAL_COLUMNS] = {0};
    struct cw_terminal_seen seen = {0};
    cw_terminal_measure(widths, &seen, t);
    cw_terminal_fit(widths, t, width);
    cw_terminal_put(widths, t, out);
    cw_terminal_legend(&seen, out);
}

void cw_terminal_put_timed(const struct cw_groups *groups, FILE *out)
{
    char timed[CW_NUMBER_SIZE], all[CW_NUMBER_SIZE];
    uint64_t counts[2] = {0};
    for (uint32_t i = 0; i < groups->count; i++) {
        counts[0] += groups->items[i].timed;
        counts[1] += groups->items[i].count;
    }
    if (counts[0] < counts[1])
        cw_text_print(out, ", timed in %s of %s", cw_terminal_integer(counts[0], timed),
                      cw_terminal_integer(counts[1], all));
}
