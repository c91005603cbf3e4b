#include "view/lanes.h"

#include <inttypes.h>

#include "eval/output/chrome.h"
#include "eval/output/perfetto.h"
#include "eval/output/pm_lanes.h"
#include "eval/output/timeline_lanes.h"

struct lanes {
    const struct cw_timeline *timeline;
    const struct cw_result *samples; /* NULL: a trace alone */
    const char *place;
    struct cw_notices *notices;
};

static void tell(const struct lanes *l, uint64_t crowded)
{
    uint64_t untimed = 0;
    for (int k = 0; k < CW_TRACE_KIND__COUNT; k++)
        untimed += l->timeline->untimed[k];
    if (untimed)
        cw_notice(l->notices, "%s: %" PRIu64 " %s left out", l->place, untimed,
                  untimed == 1 ? "event has no time and is" : "events have no time and are");
    if (crowded)
        cw_notice(l->notices, "%s: %" PRIu64 " %s, as more than %d overlap at %s time", l->place, crowded,
                  crowded == 1 ? "event is a mark" : "events are marks", CW_LANES_BESIDE,
                  crowded == 1 ? "its" : "their");
}

static enum cw_status write_lanes(const struct lanes *l, const struct cw_lane_format *format, void *state,
                                  struct cw_error *err)
{
    uint64_t crowded = 0;
    struct cw_arena *arena = cw_arena_create();
    if (!arena)
        return cw_error_nomem(err);
    const enum cw_status status =
        l->samples ? cw_pm_write_lanes(l->samples, l->timeline, format, state, &crowded, arena, err)
                   : cw_timeline_write_lanes(l->timeline, NULL, NULL, format, state, &crowded, arena, err);
    if (status == CW_OK)
        tell(l, crowded);
    cw_arena_destroy(arena);
    return status;
}

static enum cw_status render_perfetto(FILE *out, const void *data, struct cw_error *err)
{
    const struct lanes *l = data;
    struct cw_perfetto *p = cw_perfetto_create(out);
    enum cw_status status = p ? CW_OK : cw_error_nomem(err);
    if (status == CW_OK)
        status = write_lanes(l, &cw_perfetto_format, p, err);
    if (status == CW_OK && !cw_perfetto_is_whole(p))
        status = cw_error_nomem(err);
    cw_perfetto_free(p);
    return status;
}

static uint64_t events(const struct cw_timeline *t)
{
    return (uint64_t)t->gpu_count + t->call_count + t->wait_count + t->range_count + t->mark_count;
}

static enum cw_status too_long(const struct lanes *l, struct cw_error *err)
{
    return cw_error_set(
        err, CW_ERR_INPUT,
        "%s: found a trace of %" PRIu64
        " events, expected at most %u MiB of JSON, the limit of chrome://tracing: --format perfetto has none",
        l->place, events(l->timeline), CW_CHROME_BYTES_MAX >> 20);
}

static enum cw_status render_chrome(FILE *out, const void *data, struct cw_error *err)
{
    const struct lanes *l = data;
    if (events(l->timeline) > CW_CHROME_BYTES_MAX / CW_CHROME_EVENT_BYTES)
        return too_long(l, err);
    struct cw_chrome *c = cw_chrome_create(out, l->timeline);
    enum cw_status status = c ? CW_OK : cw_error_nomem(err);
    if (status == CW_OK)
        status = write_lanes(l, &cw_chrome_format, c, err);
    if (status == CW_OK) {
        status = cw_chrome_finish(c);
        status = status == CW_ERR_UNSUPPORTED ? too_long(l, err) : status == CW_OK ? CW_OK : cw_error_nomem(err);
    }
    cw_chrome_free(c);
    return status;
}

enum cw_status cw_view_lanes(struct counterworks_view *view, const struct cw_view_input *in,
                             const struct cw_timeline *timeline, const struct cw_result *samples)
{
    struct lanes *l = cw_arena_alloc(in->arena, 1, sizeof *l);
    if (!l)
        return cw_error_nomem(in->err);
    *l = (struct lanes){timeline, samples, in->capture->asked, in->notices};
    view->content = l;
    view->renders[CW_VIEW_PERFETTO] = render_perfetto;
    view->renders[CW_VIEW_CHROME] = render_chrome;
    return CW_OK;
}
