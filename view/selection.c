#define _GNU_SOURCE
#include "view/selection.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/apart.h"
#include "base/pattern.h"
#include "base/suggest.h"
#include "base/text.h"
#include "eval/output/row_names.h"
#include "eval/ranges/fold.h"
#include "eval/ranges/groups.h"
#include "image/rank_index.h"

/* Ranges to select from. */
struct selecting {
    const struct cw_counter_data *data;
    const char *place; /* the capture's name, for messages */
    const uint32_t *parents;
    bool or_none;
    struct cw_notices *notices;
    struct cw_arena *arena;
    struct cw_error *err;
};

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

/* "3", "#3", "0-9" and "1,5" are numbers of ranges; other texts are names. For kernels, 3 is a name and #3 a number. */
static bool are_numbers(const char *text, bool kernel)
{
    const char *number = text + (*text == '#');
    return (number > text || !kernel) && *number >= '0' && *number <= '9' && !text[strspn(text, "#0123456789,-")];
}

/* Reads a number, and moves behind it; UINT64_MAX for none. */
static uint64_t read_number(const char **at)
{
    *at += **at == '#';
    const size_t digits = strspn(*at, "0123456789");
    const uint64_t number = digits && digits < 19 ? strtoull(*at, NULL, 10) : UINT64_MAX;
    *at += digits;
    return number;
}

/* The option behind a text. */
enum purpose { RANGES, KERNELS, EXCLUDED };
static const char *const option_names[] = {"--range", "--kernel", "--exclude"};

/* Marks ranges by their numbers, as in "0-9,12". A span may end beyond the last range. */
static enum cw_status find_numbers(bool *found, const struct selecting *s, const char *text, enum purpose purpose,
                                   bool or_none)
{
    const uint32_t count = s->data->range_count;
    const char *at = text;
    enum cw_status status = CW_OK;
    while (status == CW_OK) {
        const uint64_t first = read_number(&at);
        uint64_t last = first;
        if (*at == '-') {
            at++;
            last = read_number(&at);
        }
        if (last == UINT64_MAX || last < first || (*at && *at != ','))
            status = cw_error_set(s->err, CW_ERR_USAGE, "found %s '%.200s', expected numbers as in 0-9,12",
                                  option_names[purpose], text);
        else if (first >= count && !or_none)
            status = cw_error_set(s->err, CW_ERR_USAGE, "%s: found %s %" PRIu64 ", expected numbers from 0 to %" PRIu32,
                                  s->place, option_names[purpose], first, count ? count - 1 : 0);
        for (uint64_t i = first; status == CW_OK && i <= last && i < count; i++)
            found[i] = true;
        if (!*at++)
            break;
    }
    return status;
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

/* A text is a whole name, a part of names, or a regular expression: the first of these that matches any range of the
 * capture. So printed names can be given back, and regular expressions need no option of their own. The NVTX path
 * around a launch is such a name for --range; part of it, or an expression, only where no name of a launch fits. */
enum way { WHOLE, PART, REGEX, IN_PATH, WAYS };
struct names {
    const struct cw_counter_data *data;
    const char *text;
    enum purpose purpose; /* other than RANGES: only launches match */
    const uint32_t *parents;
    bool is_regex;
    regex_t regex, any_case;
};

/* Whether a table shows the name like this, at any of its widths (base/shorten.h, base/apart.h). */
static bool is_shown_as(const char *name, const char *text)
{
    enum { LEAST_CUT = 12, SLACK = 24 }; /* columns of a shortened name, and columns that shortening may leave empty */
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    char shown[CW_SHORT_SIZE];
    const size_t columns = cw_text_columns(text), most = columns + (strstr(text, "..") ? SLACK : 0);
    if ((most > columns && columns < LEAST_CUT) || !memmem(name, strlen(name), text, strspn(text, letters)))
        return false;
    for (size_t width = columns; width <= most; width++)
        if (strcmp(cw_shorten(name, width, shown), text) == 0 || cw_is_shown_apart(name, shown, text))
            return true;
    return false;
}

static bool name_fits(const struct names *n, enum way way, const char *name)
{
    return way == WHOLE  ? strcmp(name, n->text) == 0 || is_shown_as(name, n->text)
           : way == PART ? strstr(name, n->text) != NULL
                         : n->is_regex && regexec(&n->regex, name, 0, NULL, 0) == 0;
}

/* A launch also matches by the driver's name of its kernel; tables print the readable one. */
static bool launch_fits(const struct names *n, enum way way, const struct cw_range *range)
{
    return name_fits(n, way, range->name) || (range->kernel[0] && name_fits(n, way, range->kernel));
}

/* Without columns for grid and block, a table appends them to names of several rows. */
static bool fits_with_shape(const struct names *n, const struct cw_range *range)
{
    char shape[CW_ROW_MARK_SIZE], *name;
    const size_t taken = strlen(cw_row_shape(range->grid, range->block, shape)), all = strlen(n->text);
    if (all < taken + 2 || n->text[all - taken - 1] != ' ' || strcmp(n->text + all - taken, shape) != 0)
        return false;
    struct names without = *n;
    without.text = name = strndup(n->text, all - taken - 1);
    const bool fits = name && launch_fits(&without, WHOLE, range);
    free(name);
    return fits;
}

/* The path of the NVTX ranges around a launch; "" if --range does not match by it. */
static const char *path_of(const struct names *n, const struct cw_range *range)
{
    const char *path = n->purpose == RANGES && range->kernel[0] ? cw_range_attribute(range, "nvtx") : NULL;
    return path ? path : "";
}

/* WHOLE: also the path of a range further out. */
static bool path_fits(const struct names *n, enum way way, const char *path)
{
    const size_t length = strlen(n->text);
    return way == IN_PATH ? *path && (name_fits(n, PART, path) || name_fits(n, REGEX, path))
                          : way == WHOLE && strncmp(path, n->text, length) == 0 &&
                                (path[length] == '/' || (!path[length] && length));
}

static bool range_fits(const struct names *n, enum way way, const struct cw_range *range)
{
    const bool launch = range->kernel[0];
    return (launch || n->purpose == RANGES) &&
           ((way != IN_PATH && launch_fits(n, way, range)) || path_fits(n, way, path_of(n, range)) ||
            (way == WHOLE && launch && fits_with_shape(n, range)));
}

/* Marks ranges that match, and ranges inside them. Returns how many match. */
static uint32_t find_names(const struct names *n, enum way way, bool *found)
{
    uint32_t count = 0;
    const struct cw_range *before = NULL;
    for (uint32_t i = 0; i < n->data->range_count; i++) {
        const struct cw_range *range = cw_launch_of(n->data, i);
        const bool again = before == range || (before && strcmp(range->name, before->name) == 0 &&
                                               strcmp(path_of(n, range), path_of(n, before)) == 0 &&
                                               cw_range_compare_kernels(range, before, true) == 0);
        found[i] = again ? found[i - 1] : range_fits(n, way, range);
        before = range;
        count += found[i];
    }
    for (uint32_t i = 0; n->parents && i < n->data->range_count; i++)
        found[i] = found[i] || (n->parents[i] && found[n->parents[i]]);
    return count;
}

/* Adds a notice if other names contain this whole name. */
static void tell_whole(const struct names *n, const bool *found, uint32_t count, struct cw_notices *notices)
{
    const bool plain = !n->text[strcspn(n->text, "^.[]$()|*+?{}\\")];
    uint32_t others = 0;
    struct cw_writer line;
    for (uint32_t i = 0; plain && i < n->data->range_count; i++)
        others += !found[i] && range_fits(n, PART, cw_launch_of(n->data, i));
    if (!others)
        return;
    cw_writer_init(&line);
    cw_write_format(&line,
                    "'%s' is the whole name in %" PRIu32 " range%s and a part of it in %" PRIu32
                    ", which %s; '%s.*' takes them, too",
                    n->text, count, count == 1 ? "" : "s", others, n->purpose == EXCLUDED ? "stay" : "are left out",
                    n->text);
    cw_notice_take(notices, &line);
}

static bool is_near_already(const struct cw_suggest *near, const char *name)
{
    bool is = false;
    for (size_t i = 0; i < near->count; i++)
        is = is || strcmp(near->name[i], name) == 0;
    return is;
}

/* Suggests names that match in another case, else names with a similar spelling. */
static void find_near(const struct names *n, struct cw_suggest *near, struct cw_arena *arena)
{
    enum { SHOWN = 60 };
    const size_t columns = cw_text_columns(n->text), room = columns + 1 + columns / 6;
    char shown[CW_SHORT_SIZE];
    cw_suggest_init(near, n->text);
    for (int alike = 0; alike < 2 && !near->count; alike++)
        for (uint32_t i = 0; i < n->data->range_count; i++) {
            const struct cw_range *range = cw_launch_of(n->data, i);
            if ((n->purpose != RANGES && !range->kernel[0]) ||
                (i && strcmp(range->name, cw_launch_of(n->data, i - 1)->name) == 0))
                continue;
            const bool fits = strcasestr(range->name, n->text) ||
                              (n->is_regex && regexec(&n->any_case, range->name, 0, NULL, 0) == 0);
            cw_shorten(range->name, alike ? room : SHOWN, shown);
            if ((!alike && (!fits || near->count == CW_SUGGEST_MAX)) || is_near_already(near, shown))
                continue;
            const char *name = cw_arena_strdup(arena, shown);
            if (name && alike)
                cw_suggest_offer(near, name);
            else if (name)
                near->name[near->count++] = name;
        }
}

/* Reports that nothing matches: an error, or, for --exclude, a notice. */
static enum cw_status tell_none(const struct names *n, const char *why, const struct selecting *s)
{
    struct cw_suggest near;
    struct cw_writer line;
    char text[CW_SUGGEST_MAX * 80 + 80];
    find_near(n, &near, s->arena);
    cw_suggest_text(&near, text, sizeof text);
    if (!n->is_regex)
        return cw_error_set(s->err, CW_ERR_USAGE, "found %s '%.200s', expected a name or a regular expression: %s%s",
                            option_names[n->purpose], n->text, why, text);
    if (n->purpose != EXCLUDED)
        return cw_error_set(s->err, CW_ERR_USAGE, "%s: found no %s that matches '%.200s'%s", s->place,
                            n->purpose == RANGES ? "range" : "kernel", n->text, text);
    cw_writer_init(&line);
    cw_write_format(&line, "found no kernel that matches '%.200s', so --exclude leaves none out%s", n->text, text);
    cw_notice_take(s->notices, &line);
    return CW_OK;
}

/* Marks the ranges that a name stands for. */
static enum cw_status find_named(bool *found, const struct selecting *s, const char *text, enum purpose purpose)
{
    struct names n = {.data = s->data, .text = text, .purpose = purpose, .parents = s->parents};
    char why[CW_PATTERN_WHY_SIZE] = "";
    uint32_t count = 0;
    const bool compiled = cw_pattern_compile(&n.regex, text, 0, why);
    n.is_regex = compiled && cw_pattern_compile(&n.any_case, text, REG_ICASE, why);
    for (enum way way = WHOLE; way < WAYS && !count; way++) {
        count = find_names(&n, way, found);
        if (count && way == WHOLE)
            tell_whole(&n, found, count, s->notices);
    }
    const enum cw_status status = count || (s->or_none && n.is_regex) ? CW_OK : tell_none(&n, why, s);
    if (compiled)
        regfree(&n.regex);
    if (n.is_regex)
        regfree(&n.any_case);
    return status;
}

/* ---- both ------------------------------------------------------------------------------------------------------- */

static enum cw_status find(bool *found, const struct selecting *s, const char *text, enum purpose purpose)
{
    memset(found, false, s->data->range_count * sizeof *found);
    if (are_numbers(text, purpose != RANGES))
        return find_numbers(found, s, text, purpose, s->or_none);
    return find_named(found, s, text, purpose);
}

/* Marks the ranges that any of the texts stands for. */
static enum cw_status find_any(bool *any, const struct selecting *s, const char *const *texts, size_t count,
                               enum purpose purpose)
{
    const uint32_t ranges = s->data->range_count;
    bool *found = cw_arena_alloc(s->arena, ranges, sizeof *found);
    enum cw_status status = found ? CW_OK : cw_error_nomem(s->err);
    memset(any, false, ranges * sizeof *any);
    for (size_t t = 0; t < count && status == CW_OK; t++) {
        status = find(found, s, texts[t], purpose);
        for (uint32_t i = 0; i < ranges; i++)
            any[i] = any[i] || found[i];
    }
    return status;
}

/* Reports that the options together leave nothing, though each by itself leaves some range. */
static enum cw_status check_kept(const bool *keep, const struct selecting *s, const struct counterworks_request *wanted)
{
    const uint32_t count = s->data->range_count;
    if (!count || s->or_none || !cw_selection_option(wanted) || memchr(keep, true, count))
        return CW_OK;
    if (wanted->ranks)
        return cw_error_set(s->err, CW_ERR_USAGE, "%s: found no launch of the ranks %.200s%s", s->place, wanted->ranks,
                            wanted->ranges || wanted->kernels.count || wanted->excluded.count
                                ? " that fits the other options, too"
                                : "");
    if (wanted->excluded.count)
        return cw_error_set(s->err, CW_ERR_USAGE, "%s: found only ranges that --exclude leaves out, expected others",
                            s->place);
    return cw_error_set(s->err, CW_ERR_USAGE, "%s: found no kernel that matches '%.200s'%s in the ranges '%.200s'",
                        s->place, wanted->kernels.names[0], wanted->kernels.count > 1 ? " or others" : "",
                        wanted->ranges);
}

const char *cw_selection_option(const struct counterworks_request *wanted)
{
    return wanted->ranks            ? "--rank"
           : wanted->ranges         ? "--range"
           : wanted->kernels.count  ? "--kernel"
           : wanted->excluded.count ? "--exclude"
                                    : NULL;
}

bool cw_selection_has_rank(const struct counterworks_request *wanted, const char *rank)
{
    return !wanted->ranks || (rank && cw_rank_list_has(wanted->ranks, strtoull(rank, NULL, 10)));
}

enum cw_status cw_select_ranges(bool *keep, const struct cw_view_input *in, const struct cw_counter_data *data,
                                const uint32_t *parents, bool or_none)
{
    const struct counterworks_request *wanted = in->request;
    const struct selecting s = {data, in->capture->name, parents, or_none, in->notices, in->arena, in->err};
    const uint32_t count = data->range_count;
    const struct {
        const char *const *texts;
        size_t count;
        enum purpose purpose;
    } parts[] = {{&wanted->ranges, wanted->ranges != NULL, RANGES},
                 {wanted->kernels.names, wanted->kernels.count, KERNELS},
                 {wanted->excluded.names, wanted->excluded.count, EXCLUDED}};
    const bool named = wanted->ranges || wanted->kernels.count || wanted->excluded.count;
    bool *any = named ? cw_arena_alloc(in->arena, count, sizeof *any) : NULL;
    if (named && !any)
        return cw_error_nomem(in->err);
    for (uint32_t i = 0; i < count; i++)
        keep[i] = cw_selection_has_rank(wanted, cw_range_attribute(cw_launch_of(data, i), "rank"));
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
        if (!parts[p].count)
            continue;
        CW_TRY(find_any(any, &s, parts[p].texts, parts[p].count, parts[p].purpose));
        for (uint32_t i = 0; i < count; i++)
            keep[i] = keep[i] && any[i] != (parts[p].purpose == EXCLUDED);
    }
    return check_kept(keep, &s, wanted);
}

enum cw_status cw_view_keep(const bool **keep, const struct cw_view_input *in, bool or_none)
{
    const struct cw_counter_data *data = &in->capture->data;
    const bool all = !cw_selection_option(in->request);
    bool *wanted = all ? NULL : cw_arena_alloc(in->arena, data->range_count, sizeof *wanted);
    *keep = wanted;
    if (all)
        return CW_OK;
    return wanted ? cw_select_ranges(wanted, in, data, NULL, or_none) : cw_error_nomem(in->err);
}

enum cw_status cw_view_leave(struct cw_result *result, const struct cw_view_input *in, bool or_none, uint32_t *count)
{
    const struct cw_counter_data *data = &in->capture->data;
    const bool *keep;
    CW_TRY(cw_view_keep(&keep, in, or_none));
    *count = data->range_count;
    if (!keep)
        return CW_OK;
    struct cw_groups *kept = cw_arena_alloc(in->arena, 1, sizeof *kept);
    if (!kept)
        return cw_error_nomem(in->err);
    CW_TRY(cw_groups_make(kept, CW_BY_RANGE, data, result->chip, keep, in->arena, in->err));
    result->data = &kept->data;
    *count = kept->count;
    return CW_OK;
}
