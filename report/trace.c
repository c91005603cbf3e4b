#include "report/trace.h"

#include "report/put.h"
#include "report/trace_lanes.h"
#include "report/trace_samples.h"
#include "report/trace_summary.h"

/* Bytes of events of a page, before they are base64. */
enum { MOST_BYTES = 5600000 };

static void put_groups(FILE *out, const struct cw_report_lanes *l)
{
    fputs(",\n\"groups\":[", out);
    for (uint32_t i = 0; i < l->group_count; i++) {
        const struct cw_report_lanes_group *g = &l->groups[i];
        cw_put_text(out, i ? ",\n{\"title\":" : "\n{\"title\":", g->title);
        fputs(g->listed ? ",\"listed\":true" : ",\"listed\":false", out);
        if (g->is_device && g->device != CW_NO_TRACE_DEVICE)
            cw_put_count(out, ",\"device\":", l->timeline->data->devices[g->device].index);
        else if (g->is_device)
            fputs(",\"device\":null", out);
        fputs("}", out);
    }
    fputs("]", out);
}

static enum cw_status put_lanes(FILE *out, const struct cw_report_lanes *l, uint64_t resolution,
                                struct cw_trace_size *size)
{
    enum cw_status status = CW_OK;
    fputs(",\n\"lanes\":[", out);
    for (uint32_t i = 0; i < l->lane_count && status == CW_OK; i++) {
        struct cw_writer bytes;
        cw_writer_init(&bytes);
        cw_trace_lane_encode(&l->encoded[i], &l->names, l->timeline->start, resolution, &bytes, size);
        status = bytes.status;
        cw_put_count(out, i ? ",\n{\"group\":" : "\n{\"group\":", l->lanes[i].group);
        cw_put_text(out, ",\"kind\":", l->lanes[i].kind);
        cw_put_text(out, ",\"title\":", l->lanes[i].title);
        if (status == CW_OK)
            cw_put_bytes(out, ",\"data\":", bytes.data, bytes.size);
        fputs("}", out);
        cw_writer_free(&bytes);
    }
    fputs("]", out);
    return status;
}

static uint64_t untimed_of(const struct cw_timeline *t)
{
    uint64_t untimed = 0;
    for (int k = 0; k < CW_TRACE_KIND__COUNT; k++)
        untimed += t->untimed[k];
    return untimed;
}

enum cw_status cw_report_trace_put(FILE *out, const struct cw_report_capture *c, struct cw_arena *arena,
                                   struct cw_error *err)
{
    const struct cw_timeline *t = c->timeline;
    const uint64_t span = t->end > t->start ? t->end - t->start : 1;
    struct cw_report_lanes lanes;
    enum cw_status status = cw_report_lanes_make(&lanes, t, arena, err);
    if (status == CW_OK) {
        cw_put_text(out, "{\"file\":", c->source);
        cw_put_count(out, ",\"start\":", t->start);
        cw_put_count(out, ",\"span\":", span);
        cw_put_count(out, ",\"events\":", lanes.events);
        cw_put_count(out, ",\"untimed\":", untimed_of(t));
        cw_put_count(out, ",\"lanes_left\":", lanes.lanes_left);
        put_groups(out, &lanes);
        status = cw_trace_names_put(&lanes.names, out) ? CW_OK : cw_error_nomem(err);
    }
    if (status == CW_OK) {
        const uint64_t resolution =
            cw_trace_lanes_fit(lanes.encoded, lanes.lane_count, &lanes.names, t->start, span, MOST_BYTES);
        struct cw_trace_size size = {0};
        status = put_lanes(out, &lanes, resolution, &size) == CW_OK ? CW_OK : cw_error_nomem(err);
        cw_put_count(out, ",\n\"resolution\":", resolution);
        cw_put_count(out, ",\"items\":", size.items);
        cw_put_count(out, ",\"grouped\":", size.grouped);
    }
    if (status == CW_OK)
        status = cw_trace_samples_put(out, &lanes, err);
    if (status == CW_OK)
        status = cw_trace_summary_put(out, t, arena, err);
    fputs("}", out);
    cw_report_lanes_free(&lanes);
    return status;
}
