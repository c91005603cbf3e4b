#include "agent/common/steady_report.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"

void cw_steady_report_write(struct cw_writer *out, const struct cw_steady_report *r)
{
    const struct cw_period_facts *p = &r->period;
    const uint64_t numbers[] = {r->count,  p->begin_ns,   p->before, p->launches, p->count,
                                p->others, p->periods_ns, p->all,    p->all_ns};
    cw_write_u32(out, r->device);
    cw_write_u8(out, r->given_up);
    cw_write_u8(out, p->found);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        cw_write_u64(out, numbers[i]);
}

void cw_steady_report_read(struct cw_reader *in, struct cw_steady_report *r)
{
    struct cw_period_facts *p = &r->period;
    uint64_t *const numbers[] = {&r->count,  &p->begin_ns,   &p->before, &p->launches, &p->count,
                                 &p->others, &p->periods_ns, &p->all,    &p->all_ns};
    r->device = cw_read_u32(in);
    r->given_up = cw_read_u8(in) != 0;
    p->found = cw_read_u8(in) != 0;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = cw_read_u64(in);
}

double cw_steady_share(const struct cw_steady_report *r)
{
    const struct cw_period_facts *p = &r->period;
    const double share = p->all_ns ? (double)p->periods_ns / (double)p->all_ns : 0;
    return share < 1 ? share : 1; /* whatever a process says: the text of a share is always as long */
}

static uint64_t mean_ns(const struct cw_period_facts *p)
{
    return p->count ? p->periods_ns / p->count : 0;
}

void cw_steady_attributes(struct cw_pair pairs[CW_STEADY_ATTRIBUTES], cw_steady_texts texts,
                          const struct cw_steady_report *r)
{
    static const struct cw_steady_report nothing;
    static const char *const keys[CW_STEADY_ATTRIBUTES] = {
        "steady",         "steady_begin_ns", "steady_period_ns", "steady_period_launches",
        "steady_periods", "steady_captured", "steady_share"};
    r = r ? r : &nothing;
    const struct cw_period_facts *p = &r->period;
    const uint64_t numbers[CW_STEADY_ATTRIBUTES] = {0, p->begin_ns, mean_ns(p), p->launches, p->count, r->count};
    snprintf(texts[0], CW_STEADY_TEXT, "%s", p->found ? "found" : "never");
    for (int i = 1; i < CW_STEADY_ATTRIBUTES - 1; i++)
        snprintf(texts[i], CW_STEADY_TEXT, "%020" PRIu64, numbers[i]);
    snprintf(texts[CW_STEADY_ATTRIBUTES - 1], CW_STEADY_TEXT, "%.6f", cw_steady_share(r));
    for (int i = 0; i < CW_STEADY_ATTRIBUTES; i++)
        pairs[i] = (struct cw_pair){keys[i], texts[i]};
}

void cw_steady_report_tell(const struct cw_steady_report *r, const char *program)
{
    const struct cw_period_facts *p = &r->period;
    if (!p->found)
        cw_text_print(stderr,
                      "capture-agent: nothing repeats for half a second in the %" PRIu64
                      " launches of %s, so %s was captured%s\n",
                      p->all, program, r->given_up ? "everything behind the first five minutes" : "nothing",
                      r->given_up ? "" : "; without --steady the agent captures everything");
    else
        cw_text_print(stderr,
                      "capture-agent: %s repeats %" PRIu64 " launches in %.6g s, after its first %" PRIu64
                      " launches: %" PRIu64 " times, %.3g %% of the time; %" PRIu64 " of these periods %s captured\n",
                      program, p->launches, (double)mean_ns(p) * 1e-9, p->before, p->count, 100 * cw_steady_share(r),
                      r->count, r->count == 1 ? "was" : "were");
}
