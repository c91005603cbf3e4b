#include "agent/inject/ranges/gate.h"

#define self cw_gate

static enum cw_gate_event review(void)
{
    const bool was = self->closed;
    self->closed = !cw_trace_window_is_open(&self->window, cw_inject_now_ns());
    return self->closed == was ? CW_GATE_SAME : CW_GATE_TURNS;
}

bool cw_gate_read(struct cw_reader *in)
{
    struct cw_trace_window_options options;
    const uint64_t start_ns = cw_read_u64(in);
    cw_trace_window_read(in, &options);
    self->everything.options = (struct cw_filter_options){.launch_count = UINT64_MAX};
    self->asked = cw_trace_window_any(&options, &self->everything.options);
    cw_trace_window_init(&self->window, &options, &self->everything, start_ns);
    if (in->status != CW_OK)
        return false;
    if (self->asked)
        review();
    return !options.periods || cw_steady_begin(&self->steady, options.periods) || cw_inject_fail_memory();
}

bool cw_gate_follows(CUpti_CallbackId id)
{
    return self->window.options.profiler &&
           (id == CUPTI_DRIVER_TRACE_CBID_cuProfilerStart || id == CUPTI_DRIVER_TRACE_CBID_cuProfilerStop);
}

enum cw_gate_event cw_gate_launch(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    if (!self->asked)
        return CW_GATE_SAME;
    self->launch = call->correlationId;
    const bool begins = cw_steady_launch(&self->steady, id, call);
    cw_trace_window_period(&self->window, self->steady.open);
    const enum cw_gate_event event = review();
    return event == CW_GATE_SAME && begins && !self->closed ? CW_GATE_PERIOD : event;
}

enum cw_gate_event cw_gate_profiler(CUpti_CallbackId id)
{
    self->launch = 0;
    cw_trace_window_profiler(&self->window, id == CUPTI_DRIVER_TRACE_CBID_cuProfilerStart);
    return review();
}

uint32_t cw_gate_period(void)
{
    const struct cw_steady *s = &self->steady;
    return s->open && !s->given_up ? (uint32_t)s->count + 1 : 0;
}

void cw_gate_finish(void)
{
    cw_steady_tell(&self->steady);
    cw_steady_end(&self->steady);
}

void cw_gate_reset(void)
{
    cw_filter_close(&self->everything);
    cw_steady_end(&self->steady);
    *self = (struct cw_gate){0};
}
