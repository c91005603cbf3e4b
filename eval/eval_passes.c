#include "eval/eval_passes.h"

#include <string.h>

static bool is_scaled_to_user(const struct cw_operand *o)
{
    return (o->kind == CW_OPERAND_USER_CYCLES || o->kind == CW_OPERAND_USER_PEAK) && o->duration != 0;
}

static bool reads_column(const struct cw_operand *o)
{
    return o->kind == CW_OPERAND_ROLLUP || (o->kind == CW_OPERAND_USER_CYCLES && o->duration != 0);
}

void cw_meeting_begin(struct cw_meeting *m, const struct cw_schema *schema, uint32_t *common)
{
    memset(common, 0, schema->pass_count * sizeof *common);
    *m = (struct cw_meeting){.schema = schema, .common = common};
}

/* A counter that is not whole has no pass in common with anything. */
static void meet_column(struct cw_meeting *m, uint32_t column)
{
    uint32_t counter = cw_schema_column_counter(m->schema, column), first;
    const struct cw_schema_counter *c = &m->schema->counters[counter];
    for (uint32_t i = 0; c->whole && i < c->pass_count; i++)
        m->common[c->passes[i]]++;
    uint32_t repeats = cw_schema_repeats_of(m->schema, counter, &first);
    for (uint32_t i = first; i < first + repeats; i++)
        m->common[m->schema->repeats[i].pass]++;
    m->met++;
}

static void meet_operand(struct cw_meeting *m, const struct cw_operand *o)
{
    bool scaled = is_scaled_to_user(o);
    if (o->kind == CW_OPERAND_NONE)
        return;
    if (o->column == CW_NONE || (scaled && o->time == CW_NONE)) {
        m->lacking = true;
        return;
    }
    m->zero = m->zero || (o->kind == CW_OPERAND_USER_CYCLES && !scaled);
    if (scaled)
        meet_column(m, o->time);
    if (reads_column(o))
        meet_column(m, o->column);
    for (uint32_t i = 0; o->kind == CW_OPERAND_LINEAR && i < o->linear->count; i++)
        meet_column(m, o->linear->columns[i]);
}

void cw_meeting_add(struct cw_meeting *m, const struct cw_term *t)
{
    meet_operand(m, &t->x);
    meet_operand(m, &t->factor);
    for (int d = 0; d < CW_TERM_DIVISORS; d++)
        meet_operand(m, &t->divisors[d]);
}

uint32_t cw_meeting_pass(const struct cw_meeting *m)
{
    for (uint32_t p = 0; p < m->schema->pass_count; p++)
        if (m->common[p] == m->met)
            return p;
    return CW_NONE;
}

static void bind_column(uint32_t *column, const struct cw_schema *schema, uint32_t pass)
{
    *column = cw_schema_column_in(schema, cw_schema_column_counter(schema, *column), pass);
}

static void bind_operand(struct cw_operand *o, const struct cw_schema *schema, uint32_t pass)
{
    if (is_scaled_to_user(o))
        bind_column(&o->time, schema, pass);
    if (reads_column(o))
        bind_column(&o->column, schema, pass);
    for (uint32_t i = 0; o->kind == CW_OPERAND_LINEAR && i < o->linear->count; i++)
        bind_column(&o->linear->columns[i], schema, pass);
}

void cw_term_bind(struct cw_term *t, const struct cw_schema *schema, uint32_t pass)
{
    bind_operand(&t->x, schema, pass);
    bind_operand(&t->factor, schema, pass);
    for (int d = 0; d < CW_TERM_DIVISORS; d++)
        bind_operand(&t->divisors[d], schema, pass);
}
