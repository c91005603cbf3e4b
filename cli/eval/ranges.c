#include <inttypes.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "cli/eval/run.h"

enum cw_status cw_eval_match_ranges(struct cw_eval_run *r, bool *keep)
{
    const uint64_t count = r->info.row_count;
    regex_t regex;
    int failed = regcomp(&regex, r->o->range ? r->o->range : "", REG_EXTENDED | REG_NOSUB);
    if (failed) {
        char text[200];
        regerror(failed, &regex, text, sizeof text);
        return cw_error_set(r->err, CW_ERR_USAGE, "found the range '%s', expected a regular expression: %s",
                            r->o->range, text);
    }
    bool any = false;
    for (uint64_t i = 0; i < count; i++) {
        struct counterworks_row row = {.size = sizeof row};
        counterworks_capture_row(r->capture, i, &row);
        keep[i] = regexec(&regex, row.name, 0, NULL, 0) == 0 || regexec(&regex, row.kernel, 0, NULL, 0) == 0;
        any = any || keep[i];
    }
    regfree(&regex);
    if (!any && r->o->range)
        return cw_error_set(r->err, CW_ERR_USAGE,
                            "found no range that matches '%s' among the %" PRIu64 " of the capture", r->o->range,
                            count);
    return CW_OK;
}

enum cw_status cw_eval_select_ranges(struct cw_eval_run *r)
{
    if (!r->o->range)
        return CW_OK;
    bool *keep = cw_arena_alloc(r->arena, r->result.row_count, sizeof *keep);
    enum cw_status status = keep ? cw_eval_match_ranges(r, keep) : cw_error_nomem(r->err);
    if (status == CW_OK)
        cw_result_select(&r->result, keep);
    return status;
}

/* One range: by its number, or the first that matches. */
enum cw_status cw_eval_choose_range(struct cw_eval_run *r, uint32_t *range)
{
    const uint64_t count = r->info.row_count;
    const char *text = r->o->range;
    bool *keep = cw_arena_alloc(r->arena, count, sizeof *keep);
    if (!keep)
        return cw_error_nomem(r->err);
    if (!count)
        return cw_error_set(r->err, CW_ERR_INPUT, "%s: found no range in the capture", r->o->capture);
    if (text && *text && text[strspn(text, "0123456789")] == 0) {
        unsigned long index = strtoul(text, NULL, 10);
        *range = (uint32_t)index;
        return index < count ? CW_OK
                             : cw_error_set(r->err, CW_ERR_USAGE, "found the range %s, expected one of 0 to %" PRIu64,
                                            text, count - 1);
    }
    enum cw_status status = cw_eval_match_ranges(r, keep);
    for (*range = 0; status == CW_OK && !keep[*range];)
        ++*range;
    return status;
}
