#include "agent/backend/sim/sim_pm_ranges.h"

#include <string.h>

static bool find_device(void *user, const struct cw_device *device, uint32_t *number)
{
    (void)user;
    *number = device->index;
    return true;
}

enum cw_status cw_sim_pm_ranges_begin(struct cw_sim_pm_ranges *r, struct cw_collector *collector, const uint32_t *gpus,
                                      uint32_t gpu_count, struct cw_error *err)
{
    *r = (struct cw_sim_pm_ranges){
        .beside = {.out = collector, .find_device = find_device}, .gpus = gpus, .gpu_count = gpu_count};
    return cw_trace_output_beside(&r->out, &r->beside, err);
}

static enum cw_status add_text(struct cw_sim_pm_ranges *r, const char *text, uint32_t *number, struct cw_error *err)
{
    *number = ++r->text_count;
    return cw_trace_output_texts(&r->out, r->process, &text, 1, err);
}

/* The first text, number 1, is the type of all ranges. */
static enum cw_status begin_process(struct cw_sim_pm_ranges *r, uint32_t pid, struct cw_error *err)
{
    const struct cw_pair about = {"program", "sim"};
    const struct cw_trace_process process = {.pid = pid, .attribute_count = 1, .attributes = &about};
    uint32_t push;
    enum cw_status status = cw_trace_output_add_process(&r->out, &process, &r->process, err);
    for (uint32_t g = 0; g < r->gpu_count && status == CW_OK; g++)
        status = cw_trace_output_add_device(&r->out, r->process, &(struct cw_device){.index = r->gpus[g]}, err);
    r->begun = true;
    return status == CW_OK ? add_text(r, "push", &push, err) : status;
}

static enum cw_status number_of(struct cw_sim_pm_ranges *r, const char *name, uint32_t *number, struct cw_error *err)
{
    for (uint32_t i = 0; i < r->name_count; i++)
        if (strcmp(r->names[i].text, name) == 0) {
            *number = r->names[i].number;
            return CW_OK;
        }
    const char *kept = r->name_count < CW_SIM_MOST_RANGE_NAMES ? cw_arena_strdup(r->out.arena, name) : NULL;
    const enum cw_status status = add_text(r, name, number, err);
    if (kept) {
        r->names[r->name_count].text = kept;
        r->names[r->name_count++].number = *number;
    }
    return status;
}

enum cw_status cw_sim_pm_ranges_push(struct cw_sim_pm_ranges *r, uint32_t pid, const char *name, uint64_t ns,
                                     struct cw_error *err)
{
    enum cw_status status = r->begun ? CW_OK : begin_process(r, pid, err);
    if (r->depth++ >= CW_SIM_MOST_OPEN || status != CW_OK)
        return status;
    r->open[r->depth - 1].start_ns = ns;
    return number_of(r, name, &r->open[r->depth - 1].name, err);
}

static uint64_t field_of(const struct cw_sim_pm_ranges *r, enum cw_trace_field field, uint64_t end_ns)
{
    switch (field) {
    case CW_FIELD_START:
        return r->open[r->depth].start_ns;
    case CW_FIELD_END:
        return end_ns;
    case CW_FIELD_NAME:
        return r->open[r->depth].name;
    case CW_FIELD_TYPE:
        return 1;
    case CW_FIELD_THREAD:
    case CW_FIELD_END_THREAD:
        return 1;
    case CW_FIELD_DOMAIN:
    case CW_FIELD_CATEGORY:
        return 0;
    default:
        return CW_TRACE_UNKNOWN;
    }
}

enum cw_status cw_sim_pm_ranges_pop(struct cw_sim_pm_ranges *r, uint64_t ns, struct cw_error *err)
{
    const struct cw_trace_kind_info *kind = &cw_trace_kinds[CW_TRACE_NVTX_RANGE];
    uint64_t values[CW_TRACE_KIND_FIELDS_MAX];
    const uint64_t *columns[CW_TRACE_KIND_FIELDS_MAX];
    if (!r->depth || --r->depth >= CW_SIM_MOST_OPEN)
        return CW_OK;
    for (uint32_t f = 0; f < kind->field_count; f++) {
        values[f] = field_of(r, (enum cw_trace_field)kind->fields[f], ns);
        columns[f] = &values[f];
    }
    return cw_trace_output_rows(&r->out, r->process, CW_TRACE_NVTX_RANGE, 1, columns, err);
}

enum cw_status cw_sim_pm_ranges_finish(struct cw_sim_pm_ranges *r, struct cw_error *err)
{
    enum cw_status status = CW_OK;
    while (r->depth && status == CW_OK)
        status = cw_sim_pm_ranges_pop(r, 0, err);
    return status;
}

void cw_sim_pm_ranges_close(struct cw_sim_pm_ranges *r)
{
    cw_trace_output_close(&r->out);
}
