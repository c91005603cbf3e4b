#include "eval/output/gate_output.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "eval/output/terminal.h"

static const char *unit_of(const struct cw_gate_output *o, const char *metric)
{
    const struct cw_result *means = &o->comparison->a.means;
    if (metric == cw_gate_time || strcmp(metric, cw_gate_time) == 0)
        return "nanoseconds";
    for (uint32_t i = 0; i < means->metric_count; i++)
        if (strcmp(means->names[i], metric) == 0)
            return means->units[i];
    return "";
}

static void put_value(FILE *out, double value, const char *unit)
{
    char number[CW_NUMBER_SIZE], shown[CW_UNIT_SIZE];
    const double factor = cw_terminal_factor(value, unit, shown);
    const bool plain = factor == 1 && *shown != 'n' && *shown != '%';
    cw_text_print(out, "%s%s%s", cw_terminal_number(value / factor, number), plain ? "" : " ", plain ? "" : shown);
}

static void put_finding(const struct cw_gate_output *o, const struct cw_gate_finding *f, FILE *out)
{
    const char *name = o->rules->metrics[f->metric].name, *unit = unit_of(o, name);
    cw_text_print(out, "    %-12s %s\n        ", cw_verdict_names[f->verdict], name);
    put_value(out, f->a, unit);
    fputs(" -> ", out);
    put_value(out, f->b, unit);
    if (isfinite(f->a) && isfinite(f->b) && f->a != 0)
        cw_text_print(out, "  %+.3g %%", 100 * (f->b - f->a) / fabs(f->a));
    if (f->allowed > 1e-9 * fabs(f->a)) {
        fputs(", allowed ", out);
        put_value(out, f->allowed, unit);
    }
    putc('\n', out);
}

enum cw_status cw_gate_print(FILE *out, const void *output, struct cw_error *err)
{
    const struct cw_gate_output *o = output;
    const struct cw_judgement *j = o->judgement;
    const struct cw_comparison *c = o->comparison;
    enum { LABEL_SHOWN = 90 };
    cw_text_print(out, "%s: %" PRIu64 " values of %" PRIu32 " kernels compared, %" PRIu32 " beyond their noise\n",
                  cw_verdict_names[j->verdict], j->compared, c->match_count, j->finding_count);
    for (uint32_t i = 0; i < j->reason_count; i++)
        cw_text_print(out, "  incomparable: %s\n", j->reasons[i]);
    for (uint32_t i = 0, match = UINT32_MAX; i < j->finding_count; i++) {
        const struct cw_gate_finding *f = &j->findings[i];
        if (f->match != match) {
            struct cw_arena *arena = cw_arena_create();
            const char *label = arena ? cw_group_label(&c->a.groups, c->matches[f->match].a, arena) : NULL;
            cw_text_print(out, "  %s: %.*s\n", cw_verdict_names[j->verdicts[f->match]], LABEL_SHOWN,
                          label ? label : "");
            cw_arena_destroy(arena);
            if (!label)
                return cw_error_nomem(err);
        }
        match = f->match;
        put_finding(o, f, out);
    }
    return CW_OK;
}

static void put_number(FILE *out, const char *before, double value)
{
    char text[CW_NUMBER_SIZE];
    cw_text_print(out, "%s%s", before, isfinite(value) ? cw_number_text(value, text) : "null");
}

static void put_text(FILE *out, const char *before, const char *text)
{
    fputs(before, out);
    cw_text_put(out, CW_TEXT_JSON, text);
}

static void put_match(const struct cw_gate_output *o, uint32_t match, uint32_t *finding, FILE *out)
{
    const struct cw_comparison *c = o->comparison;
    const struct cw_judgement *j = o->judgement;
    const struct cw_match *m = &c->matches[match];
    const struct cw_groups *g = m->a != CW_NO_GROUP ? &c->a.groups : &c->b.groups;
    const uint32_t group = m->a != CW_NO_GROUP ? m->a : m->b, first = *finding;
    const struct cw_range *r = &g->data.ranges[group];
    put_text(out, match ? ",\n  {\"name\": " : "\n  {\"name\": ", g->items[group].name);
    put_text(out, ", \"kernel\": ", r->kernel);
    cw_text_print(out,
                  ", \"grid\": [%" PRIu32 ", %" PRIu32 ", %" PRIu32 "], \"block\": [%" PRIu32 ", %" PRIu32 ", %" PRIu32
                  "], \"verdict\": \"%s\", \"findings\": [",
                  r->grid[0], r->grid[1], r->grid[2], r->block[0], r->block[1], r->block[2],
                  cw_verdict_names[j->verdicts[match]]);
    for (; *finding < j->finding_count && j->findings[*finding].match == match; ++*finding) {
        const struct cw_gate_finding *f = &j->findings[*finding];
        put_text(out,
                 *finding > first ? ",\n   {\"metric\": " : "\n   {\"metric\": ", o->rules->metrics[f->metric].name);
        put_number(out, ", \"a\": ", f->a);
        put_number(out, ", \"b\": ", f->b);
        put_number(out, ", \"allowed\": ", f->allowed);
        cw_text_print(out, ", \"verdict\": \"%s\"}", cw_verdict_names[f->verdict]);
    }
    fputs("]}", out);
}

enum cw_status cw_gate_write_json(FILE *out, const void *output, struct cw_error *err)
{
    const struct cw_gate_output *o = output;
    const struct cw_judgement *j = o->judgement;
    uint32_t finding = 0;
    (void)err;
    cw_text_print(out, "{\"schema\": 1, \"verdict\": \"%s\", \"compared\": %" PRIu64 ", \"reasons\": [",
                  cw_verdict_names[j->verdict], j->compared);
    for (uint32_t i = 0; i < j->reason_count; i++)
        put_text(out, i ? ", " : "", j->reasons[i]);
    fputs("],\n \"kernels\": [", out);
    for (uint32_t i = 0; i < o->comparison->match_count; i++)
        put_match(o, i, &finding, out);
    fputs("]}\n", out);
    return CW_OK;
}
