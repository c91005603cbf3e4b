#include "eval/check.h"

#include <math.h>
#include <string.h>

#include <jansson.h>

#include "base/file.h"
#include "base/text.h"

enum { MOST_SHOWN = 20 };

/* ---- reading ---------------------------------------------------------------------------------------------------- */

struct reading {
    struct cw_reference *reference;
    const char *path;
    struct cw_arena *arena;
    struct cw_error *err;
};

static enum cw_status wrong(const struct reading *in, const char *what)
{
    return cw_error_set(in->err, CW_ERR_INPUT, "%s: %s", in->path, what);
}

static bool read_value(const json_t *item, double *value)
{
    const char *text = json_string_value(item);
    if (text && strcmp(text, "inf") == 0)
        *value = INFINITY;
    else if (text && strcmp(text, "-inf") == 0)
        *value = -INFINITY;
    else if (text && strcmp(text, "nan") == 0)
        *value = NAN;
    else if (json_is_number(item))
        *value = json_number_value(item);
    else
        return false;
    return true;
}

static enum cw_status read_metrics(const struct reading *in, const json_t *list)
{
    size_t count = json_array_size(list);
    const char **names = cw_arena_alloc(in->arena, count, sizeof *names);
    if (!names)
        return cw_error_nomem(in->err);
    for (size_t i = 0; i < count; i++) {
        const char *name = json_string_value(json_array_get(list, i));
        if (!name)
            return wrong(in, "found a metric that is no string, expected a name");
        if (!(names[i] = cw_arena_strdup(in->arena, name)))
            return cw_error_nomem(in->err);
    }
    in->reference->metric_count = count;
    in->reference->metrics = names;
    return CW_OK;
}

static enum cw_status read_ranges(const struct reading *in, const json_t *list)
{
    size_t ranges = json_array_size(list), metrics = in->reference->metric_count;
    for (size_t i = 0; i < ranges; i++)
        if (json_array_size(json_array_get(list, i)) != metrics)
            return wrong(in, "found a range with another number of values, expected one a metric");
    double *values = cw_arena_alloc(in->arena, ranges * metrics, sizeof *values); /* both lists are in memory */
    if (!values)
        return cw_error_nomem(in->err);
    for (size_t i = 0; i < ranges; i++)
        for (size_t m = 0; m < metrics; m++)
            if (!read_value(json_array_get(json_array_get(list, i), m), &values[i * metrics + m]))
                return wrong(in, "found a value that is no number, expected one or \"inf\", \"-inf\", \"nan\"");
    in->reference->range_count = ranges;
    in->reference->values = values;
    return CW_OK;
}

enum cw_status cw_reference_load(struct cw_reference *reference, const char *path, struct cw_arena *arena,
                                 struct cw_error *err)
{
    const struct reading in = {reference, path, arena, err};
    json_error_t failure;
    json_t *root = cw_file_is_standard(path) ? json_loadf(stdin, 0, &failure) : json_load_file(path, 0, &failure);
    *reference = (struct cw_reference){0};
    if (!root && failure.line < 0)
        return cw_error_set(err, CW_ERR_IO, "%s", failure.text);
    if (!root)
        return cw_error_at(err, CW_ERR_INPUT, path, (unsigned)failure.line, (unsigned)failure.column, "%s",
                           failure.text);
    const json_t *metrics = json_object_get(root, "metrics"), *ranges = json_object_get(root, "ranges");
    enum cw_status status = json_is_array(metrics) && json_is_array(ranges)
                                ? read_metrics(&in, metrics)
                                : wrong(&in, "expected an object with the lists metrics and ranges");
    if (status == CW_OK)
        status = read_ranges(&in, ranges);
    json_decref(root);
    return status;
}

/* ---- comparing -------------------------------------------------------------------------------------------------- */

bool cw_reference_equal(double got, double wanted)
{
    if (isnan(got) || isnan(wanted))
        return isnan(got) && isnan(wanted);
    return got == wanted || (isfinite(got) && isfinite(wanted) && fabs(got - wanted) <= 1e-12 * fabs(wanted));
}

static int8_t status_of(const struct cw_result *r, uint32_t range, uint32_t metric)
{
    return r->statuses[(size_t)metric * r->row_count + range];
}

/* Another evaluator divides by zero to infinity; ours has no value, and the status says so. */
static bool is_equal(const struct cw_result *r, uint32_t range, uint32_t metric, double wanted)
{
    const double got = r->values[(size_t)metric * r->row_count + range];
    const bool undefined = isnan(got) && isinf(wanted);
    return undefined ? status_of(r, range, metric) == CW_VALUE_ZERO_DENOMINATOR : cw_reference_equal(got, wanted);
}

/* Values that are not collected here but have a value elsewhere. Another evaluator takes frames and regions without a
 * duration as zero long, which gives zeros and infinities. In kernels of CUDA graphs, code that CUPTI patches is not
 * counted: the capture says so, and another evaluator takes the other counts for the whole. */
enum beyond { JUDGED, UNDURATED, OF_GRAPHS, BEYOND_COUNT };

static enum beyond is_beyond_judgement(const struct cw_result *r, uint32_t range, uint32_t metric, double wanted)
{
    if (status_of(r, range, metric) != CW_VALUE_NOT_COLLECTED)
        return JUDGED;
    if (r->plan.metrics[metric].undurated && (isinf(wanted) || wanted == 0))
        return UNDURATED;
    const bool samples = r->data->schema.profiler == CW_PROFILER_PM;
    return !samples && cw_range_attribute(cw_result_range(r, range), "graphs") ? OF_GRAPHS : JUDGED;
}

static void print_row(FILE *out, const struct cw_result *r, uint32_t row, uint32_t metric)
{
    if (r->data->schema.profiler == CW_PROFILER_PM)
        cw_text_print(out, "%s, sample %u", r->names[metric], (unsigned)row);
    else
        cw_text_print(out, "%s, range %u (%s)", r->names[metric], (unsigned)r->ranges[row],
                      cw_result_range(r, row)->name);
}

enum cw_status cw_reference_compare(const struct cw_reference *reference, const struct cw_result *r, FILE *out,
                                    struct cw_error *err)
{
    size_t equal[2] = {0}, differ[2] = {0},
           left_out[BEYOND_COUNT] = {0}; /* of computed and of copied values; left_out: of both */
    if (reference->range_count != r->row_count || reference->metric_count != r->metric_count)
        return cw_error_set(err, CW_ERR_INPUT, "found a reference of %zu ranges, expected the %u of the capture",
                            reference->range_count, (unsigned)r->row_count);
    for (uint32_t i = 0; i < r->row_count; i++)
        for (uint32_t m = 0; m < r->metric_count; m++) {
            double got = r->values[(size_t)m * r->row_count + i];
            double wanted = reference->values[(size_t)i * r->metric_count + m];
            const bool copied = r->plan.metrics[m].copied;
            char a[CW_NUMBER_SIZE], b[CW_NUMBER_SIZE];
            const enum beyond beyond = is_beyond_judgement(r, i, m, wanted);
            if (is_equal(r, i, m, wanted)) {
                equal[copied]++;
            } else if (beyond != JUDGED) {
                left_out[beyond]++;
            } else if (differ[0] + differ[1] < MOST_SHOWN) {
                differ[copied]++;
                print_row(out, r, i, m);
                cw_text_print(out, ": got %s, wanted %s\n", cw_number_text(got, a), cw_number_text(wanted, b));
            } else {
                differ[copied]++;
            }
        }
    size_t different = differ[0] + differ[1];
    cw_text_print(out, "%zu values equal, %zu differ: computed %zu and %zu, copied from the capture %zu and %zu\n",
                  equal[0] + equal[1], different, equal[0], differ[0], equal[1], differ[1]);
    if (left_out[OF_GRAPHS])
        cw_text_print(out, "%zu values of ranges with CUDA graphs left out, which were not collected\n",
                      left_out[OF_GRAPHS]);
    if (left_out[UNDURATED])
        cw_text_print(out, "%zu values of frames and regions left out, which have no duration\n", left_out[UNDURATED]);
    return different ? cw_error_set(err, CW_ERR_DIFFERS, "found %zu value%s that differ%s from the reference",
                                    different, different == 1 ? "" : "s", different == 1 ? "s" : "")
                     : CW_OK;
}
