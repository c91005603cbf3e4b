#include "agent/inject/ranges/steady.h"

#include "agent/common/steady_report.h"
#include "agent/common/trace_window.h"
#include "agent/inject/driver/stream_capture.h"

/* Compilers and autotuners take minutes. */
static const uint64_t patience_ns = 300000000000;

bool cw_steady_begin(struct cw_steady *s, uint32_t wanted)
{
    s->wanted = wanted;
    s->period = cw_period_create();
    return s->period != NULL;
}

/* Grids count as equal up to the next power of two, because they grow as a model decodes. */
static uint64_t magnitude(const CUlaunchConfig *c)
{
    uint64_t blocks = (uint64_t)c->gridDimX * c->gridDimY * c->gridDimZ, bits = 0;
    for (; blocks; blocks /= 2)
        bits++;
    return bits;
}

static uint64_t number_of(const struct cw_driver_launch *l, CUgraphExec graph)
{
    if (l->graph)
        return cw_inject_mix(1, (uintptr_t)graph);
    const CUlaunchConfig *c = &l->config;
    return cw_inject_mix(cw_inject_mix((uintptr_t)l->function, magnitude(c)),
                         (uint64_t)c->blockDimX << 32 | (uint64_t)c->blockDimY << 16 | c->blockDimZ);
}

static void choose(struct cw_steady *s, CUcontext context)
{
    CUdevice device;
    s->context = context;
    if (cw_inject->api.cuCtxGetDevice && cw_inject->api.cuCtxGetDevice(&device) == CUDA_SUCCESS)
        s->device = (uint32_t)device;
}

/* A period has ended with this launch, or the first one begins. */
static void turn(struct cw_steady *s)
{
    const uint64_t count = cw_period_facts(s->period).count;
    if (!s->open && !s->over)
        s->before = count;
    s->count = s->open ? count - s->before : s->count;
    s->over = s->over || (s->wanted != CW_EVERY_PERIOD && s->count >= s->wanted);
    s->open = !s->over;
}

bool cw_steady_launch(struct cw_steady *s, CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_driver_launch l;
    if (!s->period || s->given_up || !cw_inject_launch(&l, id, call) || !cw_stream_runs_launch(id, call))
        return false;
    if (!s->context)
        choose(s, call->context);
    if (call->context != s->context)
        return false;
    const uint64_t now = cw_inject_now_ns();
    const CUgraphExec graph = l.graph ? ((const cuGraphLaunch_params *)call->functionParams)->hGraph : NULL;
    const bool begins = cw_period_launch(s->period, number_of(&l, graph), now);
    const struct cw_period_facts facts = cw_period_facts(s->period);
    const bool was = s->open;
    if (begins)
        turn(s);
    else if (!facts.found && facts.all_ns > patience_ns)
        s->given_up = s->open = true;
    if (s->open != was) /* now, because a program that is killed sends nothing later */
        cw_steady_tell(s);
    return begins;
}

void cw_steady_end(struct cw_steady *s)
{
    cw_period_destroy(s->period);
    s->period = NULL;
}

void cw_steady_tell(const struct cw_steady *s)
{
    struct cw_writer out;
    if (!s->period)
        return;
    cw_writer_init(&out);
    const struct cw_steady_report report = {s->device, s->given_up, s->count, cw_period_facts(s->period)};
    cw_steady_report_write(&out, &report);
    cw_inject_send(CW_MESSAGE_STEADY, &out);
}
