#include <inttypes.h>
#include <math.h>

#include "base/text.h"
#include "eval/json.h"
#include "eval/pm.h"

static void put_values(const struct cw_pm_result *r, uint32_t sample, FILE *out)
{
    for (uint32_t m = 0; m < r->base.metric_count; m++) {
        double value = r->values[(size_t)m * r->pm->sample_count + sample];
        const char *quote = isfinite(value) ? "" : "\"";
        char number[CW_NUMBER_SIZE];
        cw_text_print(out, "%s%s%s%s", m ? ", " : "", quote, cw_number_text(value, number), quote);
    }
    fputs("], \"statuses\": [", out);
    for (uint32_t m = 0; m < r->base.metric_count; m++)
        cw_text_print(
            out, "%s\"%s\"", m ? ", " : "",
            cw_value_status_text((enum cw_value_status)r->statuses[(size_t)m * r->pm->sample_count + sample]));
}

static void put_samples(const struct cw_pm_result *r, FILE *out)
{
    for (uint32_t b = 0; b < r->pm->block_count; b++) {
        const struct cw_pm_block *block = &r->pm->blocks[b];
        for (uint32_t i = block->first; i < block->first + block->count; i++) {
            fputs(i ? ",\n" : "\n", out);
            cw_text_print(
                out, "  {\"device\": %" PRIu32 ", \"start_ns\": %" PRIu64 ", \"end_ns\": %" PRIu64 ", \"values\": [",
                r->base.data->devices[block->device].index, r->pm->start_ns[i], r->pm->end_ns[i]);
            put_values(r, i, out);
            fputs("]}", out);
        }
    }
}

static void put_launches(const struct cw_pm_result *r, FILE *out)
{
    for (uint32_t i = 0; i < r->pm->launch_count; i++) {
        const struct cw_kernel_launch *l = &r->pm->launches[i];
        fputs(i ? ",\n  {\"name\": " : "\n  {\"name\": ", out);
        cw_text_put(out, CW_TEXT_JSON, r->pm->names[l->name]);
        cw_text_print(out,
                      ", \"device\": %" PRIu32 ", \"process\": %" PRIu32 ", \"context\": %" PRId64
                      ", \"stream\": %" PRId64 ", \"start_ns\": %" PRIu64 ", \"end_ns\": %" PRIu64 "}",
                      l->device, l->process, (int64_t)l->context, (int64_t)l->stream, l->start_ns, l->end_ns);
    }
}

static void put_metrics(const struct cw_result *r, FILE *out)
{
    for (uint32_t m = 0; m < r->metric_count; m++) {
        fputs(m ? ",\n  {\"name\": " : "\n  {\"name\": ", out);
        cw_text_put(out, CW_TEXT_JSON, r->names[m]);
        fputs(", \"unit\": ", out);
        cw_text_put(out, CW_TEXT_JSON, r->units[m]);
        cw_text_print(out, ", \"type\": \"%s\"}", cw_result_type(r, m));
    }
}

enum cw_status cw_pm_json_write(const struct cw_pm_result *r, FILE *out, struct cw_error *err)
{
    enum cw_status status = cw_json_put_capture(&r->base, out, err);
    if (status != CW_OK)
        return status;
    fputs(",\n \"metrics\": [", out);
    put_metrics(&r->base, out);
    fputs("],\n \"samples\": [", out);
    put_samples(r, out);
    fputs("],\n \"launches\": [", out);
    put_launches(r, out);
    fputs("]}\n", out);
    return CW_OK;
}
