#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include <jansson.h>

#include "eval/json.h"
#include "eval/pm.h"

/* Writes an object on one line and frees it. */
static enum cw_status put_object(json_t *object, const char *before, FILE *out, struct cw_error *err)
{
    char *text = object ? json_dumps(object, 0) : NULL;
    json_decref(object);
    if (!text)
        return cw_error_nomem(err);
    fprintf(out, "%s%s", before, text);
    free(text);
    return CW_OK;
}

static void put_values(const struct cw_pm_result *r, uint32_t sample, FILE *out)
{
    for (uint32_t m = 0; m < r->base.metric_count; m++) {
        double value = r->values[(size_t)m * r->pm->sample_count + sample];
        const char *quote = isfinite(value) ? "" : "\"";
        char number[CW_NUMBER_SIZE];
        fprintf(out, "%s%s%s%s", m ? ", " : "", quote, cw_number_text(value, number), quote);
    }
    fputs("], \"statuses\": [", out);
    for (uint32_t m = 0; m < r->base.metric_count; m++)
        fprintf(out, "%s\"%s\"", m ? ", " : "",
                cw_value_status_text((enum cw_value_status)r->statuses[(size_t)m * r->pm->sample_count + sample]));
}

static void put_samples(const struct cw_pm_result *r, FILE *out)
{
    for (uint32_t b = 0; b < r->pm->block_count; b++) {
        const struct cw_pm_block *block = &r->pm->blocks[b];
        for (uint32_t i = block->first; i < block->first + block->count; i++) {
            fprintf(out,
                    "%s\n  {\"device\": %" PRIu32 ", \"start_ns\": %" PRIu64 ", \"end_ns\": %" PRIu64 ", \"values\": [",
                    i ? "," : "", r->base.data->devices[block->device].index, r->pm->start_ns[i], r->pm->end_ns[i]);
            put_values(r, i, out);
            fputs("]}", out);
        }
    }
}

static enum cw_status put_launches(const struct cw_pm_result *r, FILE *out, struct cw_error *err)
{
    enum cw_status status = CW_OK;
    for (uint32_t i = 0; i < r->pm->launch_count && status == CW_OK; i++) {
        const struct cw_kernel_launch *l = &r->pm->launches[i];
        json_t *object = json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I}", "name", r->pm->names[l->name], "device",
                                   (json_int_t)l->device, "process", (json_int_t)l->process, "context",
                                   (json_int_t)l->context, "stream", (json_int_t)l->stream, "start_ns",
                                   (json_int_t)l->start_ns, "end_ns", (json_int_t)l->end_ns);
        status = put_object(object, i ? ",\n  " : "\n  ", out, err);
    }
    return status;
}

enum cw_status cw_pm_json_write(const struct cw_pm_result *r, FILE *out, struct cw_error *err)
{
    char *capture;
    enum cw_status status = cw_json_manifest(&r->base, &capture, err);
    if (status != CW_OK)
        return status;
    fprintf(out, "{\"capture\": %s,\n \"metrics\": [", capture);
    free(capture);
    for (uint32_t m = 0; m < r->base.metric_count && status == CW_OK; m++)
        status = put_object(json_pack("{s:s, s:s, s:s}", "name", r->base.names[m], "unit", r->base.units[m], "type",
                                      cw_result_type(&r->base, m)),
                            m ? ",\n  " : "\n  ", out, err);
    fputs("],\n \"samples\": [", out);
    if (status == CW_OK)
        put_samples(r, out);
    fputs("],\n \"launches\": [", out);
    if (status == CW_OK)
        status = put_launches(r, out, err);
    fputs("]}\n", out);
    return status;
}
