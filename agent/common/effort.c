#include "agent/common/effort.h"

enum cw_effort_phase cw_effort_turn(struct cw_effort *e, enum cw_effort_phase to, uint64_t now_ns)
{
    enum cw_effort_phase before = e->phase;
    e->ns[before] += now_ns - e->since_ns;
    e->phase = to;
    e->since_ns = now_ns;
    return before;
}

void cw_effort_clear(struct cw_effort *e)
{
    *e = (struct cw_effort){.phase = e->phase, .since_ns = e->since_ns};
}

void cw_effort_write(struct cw_writer *out, const struct cw_effort *e)
{
    cw_write_string(out, e->ended ? e->ended : "");
    for (int i = CW_EFFORT_NONE + 1; i < CW_EFFORT__COUNT; i++)
        cw_write_u64(out, e->ns[i]);
}

void cw_effort_read(struct cw_reader *in, struct cw_effort *e, struct cw_arena *arena)
{
    *e = (struct cw_effort){.ended = cw_read_string(in, arena)};
    for (int i = CW_EFFORT_NONE + 1; i < CW_EFFORT__COUNT; i++)
        e->ns[i] = cw_read_u64(in);
}
