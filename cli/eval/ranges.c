#include <inttypes.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "cli/eval/run.h"

/* "3", "0-9" and "1,5" are numbers of ranges; anything else is a regular expression. */
static bool are_numbers(const char *text)
{
    return *text >= '0' && *text <= '9' && !text[strspn(text, "0123456789,-")];
}

/* A number, and where it ends; UINT64_MAX for none. */
static uint64_t read_number(const char **at)
{
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

/* Leaves in `keep` those ranges that an expression matches: of their kernels, and unless `kernels`, of their names. */
static enum cw_status match_names(bool *keep, const struct cw_counter_data *data, const char *text, bool kernels,
                                  struct cw_error *err)
{
    regex_t regex;
    const int failed = regcomp(&regex, text, REG_EXTENDED | REG_NOSUB);
    if (failed) {
        char why[200];
        regerror(failed, &regex, why, sizeof why);
        return cw_error_set(err, CW_ERR_USAGE, "found the %s '%s', expected a regular expression: %s",
                            kernels ? "kernel" : "range", text, why);
    }
    for (uint32_t i = 0; i < data->range_count; i++) {
        const struct cw_range *range = &data->ranges[i];
        const bool launch = range->kernel[0]; /* whose name is the kernel's, for people */
        keep[i] = keep[i] && (launch || !kernels) &&
                  (regexec(&regex, range->name, 0, NULL, 0) == 0 || regexec(&regex, range->kernel, 0, NULL, 0) == 0);
    }
    regfree(&regex);
    return CW_OK;
}

enum cw_status cw_eval_match_ranges(bool *keep, const struct cw_counter_data *data, const struct cw_eval_ranges *wanted,
                                    struct cw_error *err)
{
    enum cw_status status = CW_OK;
    memset(keep, true, data->range_count * sizeof *keep);
    if (wanted->ranges)
        status = are_numbers(wanted->ranges)
                     ? match_numbers(keep, data->range_count, wanted->ranges, wanted->or_none, err)
                     : match_names(keep, data, wanted->ranges, false, err);
    if (status == CW_OK && wanted->kernels)
        status = match_names(keep, data, wanted->kernels, true, err);
    if (status != CW_OK || wanted->or_none || (!wanted->ranges && !wanted->kernels))
        return status;
    for (uint32_t i = 0; i < data->range_count; i++)
        if (keep[i])
            return CW_OK;
    return cw_error_set(err, CW_ERR_USAGE, "found no %s that matches '%s' among the %" PRIu32 " of the capture",
                        wanted->kernels ? "kernel" : "range", wanted->kernels ? wanted->kernels : wanted->ranges,
                        data->range_count);
}

/* The first of the ranges that are wanted. */
enum cw_status cw_eval_choose_range(struct cw_eval_run *r, uint32_t *range)
{
    const struct cw_counter_data *data = &r->capture->data;
    bool *keep = cw_arena_alloc(r->arena, data->range_count, sizeof *keep);
    if (!keep)
        return cw_error_nomem(r->err);
    if (!data->range_count)
        return cw_error_set(r->err, CW_ERR_INPUT, "%s: found no range in the capture", r->o->capture);
    enum cw_status status = cw_eval_match_ranges(keep, data, &r->o->ranges, r->err);
    for (*range = 0; status == CW_OK && !keep[*range];)
        ++*range;
    return status;
}

const struct cw_option cw_eval_ranges_options[] = {
    {"range", 0, "RANGE",
     "only these ranges: numbers, as in 0-9,12, or a regular expression that name or kernel matches; explain takes the "
     "first of them",
     CW_OPTION_TEXT(struct cw_eval_ranges, ranges)},
    {"kernel", 0, "REGEX", "only launches whose kernel matches", CW_OPTION_TEXT(struct cw_eval_ranges, kernels)},
    {0},
};
