#include <inttypes.h>

#include "cli/common/cli.h"
#include "cli/eval/run.h"

const char *cw_eval_option_of_ranges(const struct cw_eval_request *o)
{
    return o->ranges.ranges    ? "--range"
           : o->ranges.kernels ? "--kernel"
           : o->check          ? "--check"
           : o->native         ? "--native"
           : o->grouped        ? "--by"
           : o->filter_count   ? "--filter"
           : o->sort           ? "--sort"
                               : NULL;
}

enum cw_status cw_eval_load_capture(struct cw_eval_run *r)
{
    struct counterworks_error error;
    counterworks_capture_open(&r->capture, r->o->capture, &error);
    enum cw_status status = cw_cli_take(&error, r->err);
    if (status != CW_OK)
        return status;
    counterworks_capture_describe(r->capture, &r->info);
    const char *option = cw_eval_option_of_ranges(r->o);
    if (r->info.profiler == COUNTERWORKS_SAMPLES && option)
        status = cw_error_set(r->err, CW_ERR_USAGE, "%s: found a capture of samples, expected one of ranges for %s",
                              r->o->capture, option);
    return status;
}

void cw_eval_tell_incomplete(const struct cw_eval_run *r)
{
    cw_lib_tell_incomplete(r->capture, &(struct counterworks_chip){.tell = r->o->quiet ? NULL : cw_cli_tell});
}

enum cw_status cw_eval_load_chip(struct cw_eval_run *r)
{
    struct cw_cli_chip from = r->o->chip;
    from.name = r->info.chip;
    enum cw_status status = cw_cli_chip_open(&r->chip, &from, r->err);
    if (status == CW_OK && r->o->quiet)
        counterworks_chip_tell(r->chip, NULL, NULL);
    if (status == CW_OK)
        status = cw_lib_begin(&r->result, r->capture, r->chip, r->arena, r->err); /* is it of this chip? */
    return status == CW_OK ? cw_cli_chip_add(r->chip, &from, r->err) : status;
}

enum cw_status cw_eval_add_legacy(struct cw_eval_run *r, const char *const *names, size_t count)
{
    struct counterworks_error error;
    counterworks_chip_add_legacy(r->chip, names, count, &error);
    return cw_cli_take(&error, r->err);
}

enum cw_status cw_eval_names(struct cw_eval_run *r, const char *const *names, size_t count)
{
    const struct cw_counter_data *groups = r->groups ? &r->groups->data : NULL;
    enum cw_status status = cw_eval_add_legacy(r, names, count);
    return status == CW_OK
               ? cw_lib_evaluate(&r->result, r->capture, groups, r->chip, names, count, &r->o->eval, r->arena, r->err)
               : status;
}

enum cw_status cw_eval_named(struct cw_eval_run *r)
{
    struct cw_metric_list list = {0};
    enum cw_status status = cw_metric_list_gather(&list, &r->o->sources, r->chip, r->arena, r->err);
    if (status == CW_OK && !list.count)
        status = cw_error_set(r->err, CW_ERR_USAGE, "found no metric in what was asked for, expected at least one");
    if (status == CW_OK)
        status = cw_eval_names(r, list.names, list.count);
    cw_metric_list_free(&list);
    return status;
}

/* The number of ranges times that of the metrics that a capture names grows with the square of its size; where people
 * name the metrics, it grows with what they want. */
static enum cw_status check_values(const struct cw_eval_run *r)
{
    const uint64_t metrics = r->info.metric_count, rows = r->groups ? r->groups->count : r->info.row_count;
    const uint64_t most = 8 * ((uint64_t)r->capture->file.size + 1000000);
    if (metrics * rows <= most)
        return CW_OK;
    return cw_error_set(r->err, CW_ERR_INPUT,
                        "%s: found %" PRIu64 " metrics of %" PRIu64 " %s in the plan, expected at most %" PRIu64
                        " values in a file of this size: name metrics by -m, --set or --all",
                        r->o->capture, metrics, rows, r->info.profiler == COUNTERWORKS_SAMPLES ? "samples" : "ranges",
                        most);
}

enum cw_status cw_eval_planned(struct cw_eval_run *r)
{
    if (!r->info.metric_count)
        return cw_error_set(r->err, CW_ERR_USAGE, "%s: the capture names no metrics: give -m, --set or --all",
                            r->o->capture);
    enum cw_status status = check_values(r);
    return status == CW_OK ? cw_eval_names(r, r->info.metrics, r->info.metric_count) : status;
}

enum cw_status cw_eval_wanted(struct cw_eval_run *r)
{
    return r->o->all ? cw_eval_names(r, NULL, 0) : r->o->sources.count ? cw_eval_named(r) : cw_eval_planned(r);
}
