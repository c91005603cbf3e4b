/* Checks of a request that need no capture. */
#include <string.h>

#include "image/rank_index.h"
#include "view/view.h"

const char *const cw_view_by[CW_VIEW_BY_COUNT] = {"kernel", "family", "range", "fold",
                                                  "nvtx",   "device", "rank",  "stream"};

static enum cw_status check_names(const struct counterworks_names *names, const char *what, struct cw_error *err)
{
    for (size_t i = 0; i < names->count; i++)
        if (!names->names || !names->names[i] || !*names->names[i])
            return cw_error_set(err, CW_ERR_USAGE, "found an empty text among %s, expected a name in each", what);
    return CW_OK;
}

/* An empty name would match every name. */
static enum cw_status check_texts(const struct counterworks_request *r, struct cw_error *err)
{
    const struct {
        const struct counterworks_names *names;
        const char *what;
    } lists[] = {{&r->kernels, "kernels"},
                 {&r->excluded, "excluded kernels"},
                 {&r->filters, "filters"},
                 {&r->metrics, "metrics"}};
    if (r->ranks && !cw_rank_list_is(r->ranks))
        return cw_error_set(err, CW_ERR_USAGE, "found ranks '%.200s', expected numbers, as in 0-7,12", r->ranks);
    if (r->ranges && !*r->ranges)
        return cw_error_set(err, CW_ERR_USAGE, "found an empty text for ranges, expected numbers or a name");
    enum cw_status status = CW_OK;
    for (size_t i = 0; status == CW_OK && i < sizeof lists / sizeof *lists; i++)
        status = check_names(lists[i].names, lists[i].what, err);
    return status;
}

static enum cw_status check_span(double ns, const char *what, struct cw_error *err)
{
    return ns >= 0 && ns < 1e300
               ? CW_OK
               : cw_error_set(err, CW_ERR_USAGE, "found a %s of %g ns, expected a number above 0, or 0 for none", what,
                              ns);
}

enum cw_status cw_view_check_request(const struct counterworks_request *r, struct cw_error *err)
{
    if ((unsigned)r->form > COUNTERWORKS_TIMELINE)
        return cw_error_set(err, CW_ERR_USAGE, "found the form %d, expected one of enum counterworks_form",
                            (int)r->form);
    if (!(r->least_gain >= 0 && r->least_gain <= 1))
        return cw_error_set(err, CW_ERR_USAGE, "found a least gain of %g, expected a part of the time, 0 to 1",
                            r->least_gain);
    if (r->every && r->metrics.count)
        return cw_error_set(err, CW_ERR_USAGE, "found every metric and some by name, expected one of them");
    CW_TRY(check_span(r->frame_ns, "frame", err));
    CW_TRY(check_span(r->region_ns, "region", err));
    return check_texts(r, err);
}

enum cw_status cw_view_check_taken(const struct cw_view_input *in, unsigned taken, const char *command)
{
    const struct counterworks_request *r = in->request;
    const struct {
        enum cw_view_member member;
        bool found;
        const char *option;
    } members[] = {{CW_TAKES_LAUNCHES, r->ranges, "--range"},
                   {CW_TAKES_LAUNCHES, r->kernels.count, "--kernel"},
                   {CW_TAKES_LAUNCHES, r->excluded.count, "--exclude"},
                   {CW_TAKES_BY, r->by, "--by"},
                   {CW_TAKES_ROWS, r->sort, "--sort"},
                   {CW_TAKES_ROWS, r->filters.count, "--filter"},
                   {CW_TAKES_TOP, r->top, "--top"},
                   {CW_TAKES_METRICS, r->metrics.count, "metrics"},
                   {CW_TAKES_EVERY, r->every, "--all"},
                   {CW_TAKES_KINDS, r->kinds, "--kind"}};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (members[i].found && !(taken & members[i].member))
            return cw_error_set(in->err, CW_ERR_USAGE, "%s: found %s, expected none for %s", in->capture->asked,
                                members[i].option, command);
    return CW_OK;
}

enum cw_status cw_view_check_by(const struct cw_view_input *in, const char *const *words, size_t count)
{
    const char *by = in->request->by;
    char list[128] = "";
    for (size_t i = 0, used = 0; i < count; i++) {
        if (!by || strcmp(by, words[i]) == 0)
            return CW_OK;
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
                                 !i               ? ""
                                 : i + 1 == count ? " or "
                                                  : ", ",
                                 words[i]);
    }
    return cw_error_set(in->err, CW_ERR_USAGE, "%s: found --by %.200s, expected %s", in->capture->asked, by, list);
}
