#include "agent/backend/batch_report.h"

void cw_batch_report_add(struct cw_batch_report *r, const struct cw_effort *e, uint32_t launches)
{
    if (!e->ended || !*e->ended)
        return;
    r->batches++;
    r->launches += launches;
    for (int i = 0; i < CW_EFFORT__COUNT; i++)
        r->ns[i] += e->ns[i];
    cw_tally_add(&r->ends, e->ended, 1);
}

void cw_batch_report_print(struct cw_batch_report *r, FILE *out)
{
    static const char *const phases[CW_EFFORT__COUNT] = {[CW_EFFORT_WAIT] = "waiting for the agent",
                                                         [CW_EFFORT_SAVE] = "saving memory",
                                                         [CW_EFFORT_SETUP] = "setting up",
                                                         [CW_EFFORT_OWN] = "the program's own run",
                                                         [CW_EFFORT_START] = "starting passes",
                                                         [CW_EFFORT_LAUNCH] = "launching again",
                                                         [CW_EFFORT_STOP] = "stopping passes",
                                                         [CW_EFFORT_RESTORE] = "restoring memory",
                                                         [CW_EFFORT_DECODE] = "decoding",
                                                         [CW_EFFORT_CHOOSE] = "choosing metrics"};
    const char *what = r->of_passes ? "pass" : "batch", *comma = "";
    if (!r->batches) {
        fprintf(out, "capture-agent: no %ses\n", what);
        return;
    }
    fprintf(out, "capture-agent: %" PRIu64 " %s%s of %.1f launches on average, ended by: ", r->batches, what,
            r->batches == 1 ? "" : "es", (double)r->launches / (double)r->batches);
    cw_tally_print(&r->ends, out);
    uint64_t all = 0;
    for (int i = 0; i < CW_EFFORT__COUNT; i++)
        all += r->ns[i];
    fprintf(out, "\ncapture-agent: %ses took %.3f s:", what, 1e-9 * (double)all);
    for (int i = CW_EFFORT_NONE + 1; i < CW_EFFORT__COUNT; i++)
        if (r->ns[i]) {
            fprintf(out, "%s %s %.3f", comma, phases[i], 1e-9 * (double)r->ns[i]);
            comma = ",";
        }
    fputc('\n', out);
}
