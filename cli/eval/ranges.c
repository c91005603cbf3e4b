/* Which ranges of a capture are wanted: --range and --kernel. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/shorten.h"
#include "base/suggest.h"
#include "base/text.h"
#include "cli/eval/run.h"

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

/* "3", "#3", "0-9" and "1,5" are numbers of ranges; anything else is a name. A kernel may be called 3, and not #3. */
static bool are_numbers(const char *text, bool kernel)
{
    const char *number = text + (*text == '#');
    return (number > text || !kernel) && *number >= '0' && *number <= '9' && !text[strspn(text, "#0123456789,-")];
}

/* A number, and where it ends; UINT64_MAX for none. */
static uint64_t read_number(const char **at)
{
    *at += **at == '#';
    const size_t digits = strspn(*at, "0123456789");
    const uint64_t number = digits && digits < 19 ? strtoull(*at, NULL, 10) : UINT64_MAX;
    *at += digits;
    return number;
}

/* Leaves in `keep` those ranges whose number is in "0-9,12". The last of a span may be beyond the last range. */
static enum cw_status match_numbers(bool *keep, uint32_t count, const char *text, bool or_none, struct cw_error *err)
{
    bool *named = calloc((size_t)count + 1, sizeof *named);
    const char *at = text;
    enum cw_status status = named ? CW_OK : cw_error_nomem(err);
    while (status == CW_OK) {
        const uint64_t first = read_number(&at);
        uint64_t last = first;
        if (*at == '-') {
            at++;
            last = read_number(&at);
        }
        if (last == UINT64_MAX || last < first || (*at && *at != ','))
            status = cw_error_set(err, CW_ERR_USAGE, "found the ranges '%s', expected numbers as in 0-9,12", text);
        else if (first >= count && !or_none)
            status = cw_error_set(err, CW_ERR_USAGE, "found the range %" PRIu64 ", expected one of 0 to %" PRIu32,
                                  first, count ? count - 1 : 0);
        for (uint64_t i = first; status == CW_OK && i <= last && i < count; i++)
            named[i] = true;
        if (!*at++)
            break;
    }
    for (uint32_t i = 0; status == CW_OK && i < count; i++)
        keep[i] = keep[i] && named[i];
    free(named);
    return status;
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

/* A text stands for a whole name, for a part of names, or for a regular expression: for the first of these that fits
 * any range of the capture. So what is printed can be given back, and a regular expression can be given, too. */
enum way { WHOLE, PART, REGEX, WAYS };

struct names {
    const struct cw_counter_data *data;
    const char *text;
    bool kernels; /* only those of launches */
    bool is_regex;
    regex_t regex, any_case;
};

/* Whether a table shows the name so, at any of its widths (base/shorten.h). */
static bool is_shown_as(const char *name, const char *text)
{
    enum { LEAST_CUT = 12, SLACK = 24 }; /* columns of a name that is cut, and that the cut may leave empty */
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    char shown[CW_SHORT_SIZE];
    const size_t columns = cw_text_columns(text), most = columns + (strstr(text, "..") ? SLACK : 0);
    if ((most > columns && columns < LEAST_CUT) || !memmem(name, strlen(name), text, strspn(text, letters)))
        return false;
    for (size_t width = columns; width <= most; width++)
        if (strcmp(cw_shorten(name, width, shown), text) == 0)
            return true;
    return false;
}

static bool name_fits(const struct names *n, enum way way, const char *name)
{
    return way == WHOLE  ? strcmp(name, n->text) == 0 || is_shown_as(name, n->text)
           : way == PART ? strstr(name, n->text) != NULL
                         : n->is_regex && regexec(&n->regex, name, 0, NULL, 0) == 0;
}

/* Of launches the driver's name of the kernel may fit as well; what is printed is the readable one. */
static bool range_fits(const struct names *n, enum way way, const struct cw_range *range)
{
    const bool launch = range->kernel[0];
    return (launch || !n->kernels) && (name_fits(n, way, range->name) || (launch && name_fits(n, way, range->kernel)));
}

/* Which ranges fit. Returns how many. */
static uint32_t find_names(const struct names *n, enum way way, bool *found)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < n->data->range_count; i++) {
        const struct cw_range *range = &n->data->ranges[i];
        const bool again =
            i && strcmp(range->name, range[-1].name) == 0 && strcmp(range->kernel, range[-1].kernel) == 0;
        found[i] = again ? found[i - 1] : range_fits(n, way, range);
        count += found[i];
    }
    return count;
}

/* Says that a whole name leaves others out, which have it in theirs. */
static void tell_left_out(const struct names *n, const bool *found, uint32_t count,
                          const struct counterworks_chip *chip)
{
    const bool plain = !n->text[strcspn(n->text, "^.[]$()|*+?{}\\")];
    uint32_t others = 0;
    struct cw_writer line;
    for (uint32_t i = 0; plain && i < n->data->range_count; i++)
        others += !found[i] && range_fits(n, PART, &n->data->ranges[i]);
    if (!others)
        return;
    cw_writer_init(&line);
    cw_write_format(&line,
                    "'%s' is the whole name in %" PRIu32 " range%s and a part of it in %" PRIu32
                    ", which are left out; '%s.*' takes them, too",
                    n->text, count, count == 1 ? "" : "s", others, n->text);
    cw_lib_tell(chip, &line);
}

static bool is_near_already(const struct cw_suggest *near, const char *name)
{
    bool is = false;
    for (size_t i = 0; i < near->count; i++)
        is = is || strcmp(near->name[i], name) == 0;
    return is;
}

/* Those names that fit but for the case, else those that are spelt alike. */
static void find_near(const struct names *n, struct cw_suggest *near, struct cw_arena *arena)
{
    enum { SHOWN = 60 };
    const size_t columns = cw_text_columns(n->text), room = columns + 1 + columns / 6;
    char shown[CW_SHORT_SIZE];
    cw_suggest_init(near, n->text);
    for (int alike = 0; alike < 2 && !near->count; alike++)
        for (uint32_t i = 0; i < n->data->range_count; i++) {
            const struct cw_range *range = &n->data->ranges[i];
            if ((n->kernels && !range->kernel[0]) || (i && strcmp(range->name, range[-1].name) == 0))
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

static enum cw_status tell_none(const struct names *n, const char *why, struct cw_arena *arena, struct cw_error *err)
{
    struct cw_suggest near;
    char text[CW_SUGGEST_MAX * 80 + 80];
    find_near(n, &near, arena);
    cw_suggest_text(&near, text, sizeof text);
    if (!n->is_regex)
        return cw_error_set(err, CW_ERR_USAGE, "found the %s '%.200s', expected a name or a regular expression: %s%s",
                            n->kernels ? "kernel" : "range", n->text, why, text);
    return cw_error_set(err, CW_ERR_USAGE, "found no %s that matches '%.200s' among the %" PRIu32 " of the capture%s",
                        n->kernels ? "kernel" : "range", n->text, n->data->range_count, text);
}

/* Leaves in `keep` those ranges that a text stands for: of their kernels, and unless `kernels`, of their names. */
static enum cw_status match_names(bool *keep, const struct cw_eval_run *r, const char *text, bool kernels, bool or_none)
{
    const struct cw_counter_data *data = &r->capture->data;
    struct names n = {.data = data, .text = text, .kernels = kernels};
    char why[200] = "";
    bool *found = cw_arena_alloc(r->arena, data->range_count, sizeof *found);
    uint32_t count = 0;
    if (!found)
        return cw_error_nomem(r->err);
    const int failed = regcomp(&n.regex, text, REG_EXTENDED | REG_NOSUB);
    n.is_regex = !failed && !regcomp(&n.any_case, text, REG_EXTENDED | REG_NOSUB | REG_ICASE);
    if (failed)
        regerror(failed, &n.regex, why, sizeof why);
    for (enum way way = WHOLE; way < WAYS && !count; way++) {
        count = find_names(&n, way, found);
        if (count && way == WHOLE)
            tell_left_out(&n, found, count, r->chip);
    }
    for (uint32_t i = 0; i < data->range_count; i++)
        keep[i] = keep[i] && found[i];
    const enum cw_status status = count || (or_none && n.is_regex) ? CW_OK : tell_none(&n, why, r->arena, r->err);
    if (!failed)
        regfree(&n.regex);
    if (n.is_regex)
        regfree(&n.any_case);
    return status;
}

/* ---- both ------------------------------------------------------------------------------------------------------- */

static enum cw_status match(bool *keep, const struct cw_eval_run *r, const char *text, bool kernels, bool or_none)
{
    if (are_numbers(text, kernels))
        return match_numbers(keep, r->capture->data.range_count, text, or_none, r->err);
    return match_names(keep, r, text, kernels, or_none);
}

enum cw_status cw_eval_match_ranges(bool *keep, const struct cw_eval_run *r, const struct cw_eval_ranges *wanted)
{
    const uint32_t count = r->capture->data.range_count;
    enum cw_status status = CW_OK;
    memset(keep, true, count * sizeof *keep);
    if (wanted->ranges)
        status = match(keep, r, wanted->ranges, false, wanted->or_none);
    if (status == CW_OK && wanted->kernels)
        status = match(keep, r, wanted->kernels, true, wanted->or_none);
    if (status != CW_OK || wanted->or_none || !wanted->ranges || !wanted->kernels || memchr(keep, true, count))
        return status;
    return cw_error_set(r->err, CW_ERR_USAGE, "found no kernel that matches '%.200s' in the ranges '%.200s'",
                        wanted->kernels, wanted->ranges);
}

/* ---- one range -------------------------------------------------------------------------------------------------- */

/* Says what else is wanted beside the first range: launches of its kernel are nothing to be asked about, other kernels
 * are, unless nothing was asked for. */
static enum cw_status tell_others(const struct cw_eval_run *r, const bool *keep, uint32_t first)
{
    enum { LISTED = 5, SHOWN = 48 };
    const struct cw_counter_data *data = &r->capture->data;
    const bool asked = r->o->ranges.ranges || r->o->ranges.kernels;
    const char *names[LISTED + 1] = {data->ranges[first].name};
    uint32_t kept = 0, listed = 1;
    char list[LISTED * (SHOWN * 4 + 16)], shown[CW_SHORT_SIZE];
    size_t used = (size_t)snprintf(list, sizeof list, "#%" PRIu32 " %s", first, cw_shorten(*names, SHOWN, shown));
    for (uint32_t i = first; i < data->range_count; i++) {
        bool known = !keep[i];
        kept += keep[i];
        for (uint32_t k = 0; k < listed && !known; k++)
            known = strcmp(names[k], data->ranges[i].name) == 0;
        if (known || listed > LISTED)
            continue;
        names[listed] = data->ranges[i].name;
        used += (size_t)snprintf(list + used, sizeof list - used, listed < LISTED ? ", #%" PRIu32 " %s" : ", ...", i,
                                 cw_shorten(data->ranges[i].name, SHOWN, shown));
        listed++;
    }
    if (asked && listed > 1)
        return cw_error_set(r->err, CW_ERR_USAGE, "found several kernels or ranges, expected one: %s", list);
    struct cw_writer line;
    cw_writer_init(&line);
    cw_write_format(&line, "this is the first of %" PRIu32 " ranges; --range N explains another", kept);
    if (kept > 1)
        cw_lib_tell(r->chip, &line);
    else
        cw_writer_free(&line);
    return CW_OK;
}

enum cw_status cw_eval_choose_range(struct cw_eval_run *r, uint32_t *range)
{
    const struct cw_counter_data *data = &r->capture->data;
    bool *keep = cw_arena_alloc(r->arena, data->range_count, sizeof *keep);
    if (!keep)
        return cw_error_nomem(r->err);
    if (!data->range_count)
        return cw_error_set(r->err, CW_ERR_INPUT, "%s: found no range in the capture", r->o->capture);
    enum cw_status status = cw_eval_match_ranges(keep, r, &r->o->ranges);
    for (*range = 0; status == CW_OK && !keep[*range];)
        ++*range;
    return status == CW_OK ? tell_others(r, keep, *range) : status;
}

const struct cw_option cw_eval_ranges_options[] = {
    {"range", 0, "RANGE",
     "only these ranges: numbers, as in 0-9,12 or #3, or by name: all of a name or of what a table shows of it, else a "
     "part of names, else a regular expression that matches them",
     CW_OPTION_TEXT(struct cw_eval_ranges, ranges)},
    {"kernel", 0, "NAME", "only launches of kernels of this name, which may be the same as for --range",
     CW_OPTION_TEXT(struct cw_eval_ranges, kernels)},
    {0},
};
