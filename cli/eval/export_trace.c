#include "cli/eval/export_trace.h"

#include <inttypes.h>

#include "base/progress.h"
#include "base/text.h"
#include "cli/common/cli.h"
#include "eval/output/chrome.h"
#include "eval/output/perfetto.h"
#include "eval/output/pm_lanes.h"
#include "eval/output/timeline_lanes.h"
#include "eval/timeline/timeline.h"

struct job {
    const struct cw_eval_run *run;
    struct cw_timeline timeline;
    struct cw_timeline_lanes_told told;
    bool chrome;
};

static enum cw_status write_lanes(struct job *j, const struct cw_lane_format *format, void *state, struct cw_error *err)
{
    return j->run->info.profiler == COUNTERWORKS_SAMPLES
               ? cw_pm_write_lanes(&j->run->result, &j->timeline, format, state, &j->told, j->run->arena, err)
               : cw_timeline_write_lanes(&j->timeline, NULL, format, state, &j->told, j->run->arena, err);
}

static enum cw_status render_perfetto(FILE *out, const void *data, struct cw_error *err)
{
    struct job *j = *(struct job *const *)data;
    struct cw_perfetto *p = cw_perfetto_create(out);
    enum cw_status status = p ? CW_OK : cw_error_nomem(err);
    if (status == CW_OK)
        status = write_lanes(j, &cw_perfetto_format, p, err);
    if (status == CW_OK && !cw_perfetto_is_whole(p))
        status = cw_error_nomem(err);
    cw_perfetto_free(p);
    return status;
}

static uint64_t events(const struct cw_timeline *t)
{
    return (uint64_t)t->gpu_count + t->call_count + t->wait_count + t->range_count + t->mark_count;
}

static enum cw_status too_long(const struct job *j, struct cw_error *err)
{
    return cw_error_set(err, CW_ERR_INPUT,
                        "%s: found a trace of %" PRIu64
                        " events, expected at most %u MiB of JSON, which is what chrome://tracing opens: "
                        "--format perfetto writes any",
                        j->run->o->capture, events(&j->timeline), CW_CHROME_BYTES_MAX >> 20);
}

static enum cw_status render_chrome(FILE *out, const void *data, struct cw_error *err)
{
    struct job *j = *(struct job *const *)data;
    struct cw_chrome *c = cw_chrome_create(out);
    enum cw_status status = c ? CW_OK : cw_error_nomem(err);
    if (status == CW_OK)
        status = write_lanes(j, &cw_chrome_format, c, err);
    if (status == CW_OK) {
        status = cw_chrome_finish(c);
        status = status == CW_ERR_UNSUPPORTED ? too_long(j, err) : status == CW_OK ? CW_OK : cw_error_nomem(err);
    }
    cw_chrome_free(c);
    return status;
}

static void tell(const struct job *j)
{
    if (j->run->o->quiet)
        return;
    if (j->told.untimed)
        cw_text_print(stderr, "metric-eval: %s: %" PRIu64 " events have no time and are left out\n", j->run->o->capture,
                      j->told.untimed);
    if (j->told.crowded)
        cw_text_print(stderr,
                      "metric-eval: %s: %" PRIu64 " events are marks, as more than %d were there at their time\n",
                      j->run->o->capture, j->told.crowded, CW_LANES_BESIDE);
}

static enum cw_status write_timeline(struct job *j, const char *output, struct cw_error *err)
{
    const struct job *data = j;
    if (j->chrome && events(&j->timeline) > CW_CHROME_BYTES_MAX / CW_CHROME_EVENT_BYTES)
        return too_long(j, err);
    cw_progress_begin(j->run->o->quiet, false, "writing %s", output);
    const enum cw_status status = cw_file_print(output, j->chrome ? render_chrome : render_perfetto, &data, err);
    cw_progress_end();
    if (status == CW_OK)
        tell(j);
    return status;
}

enum cw_status cw_eval_export_trace(struct cw_eval_run *run, const char *output, bool chrome)
{
    struct job j = {.run = run, .chrome = chrome};
    enum cw_status status = cw_eval_load_timeline(run, &j.timeline);
    if (status == CW_OK && run->info.profiler != COUNTERWORKS_SAMPLES)
        status = cw_eval_need_rows(run, &j.timeline);
    if (status == CW_OK)
        status = write_timeline(&j, output, run->err);
    cw_timeline_free(&j.timeline);
    return status;
}
