#define _GNU_SOURCE
#include "eval/output/comparison.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "eval/output/capture.h"
#include "eval/output/timeline_output.h"
#include "eval/result.h"
#include "eval/status.h"

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

static void put_shape(FILE *out, const struct cw_range *r)
{
    cw_text_print(
        out, "\"grid\": [%" PRIu32 ", %" PRIu32 ", %" PRIu32 "], \"block\": [%" PRIu32 ", %" PRIu32 ", %" PRIu32 "]",
        r->grid[0], r->grid[1], r->grid[2], r->block[0], r->block[1], r->block[2]);
}

/* ---- diff -------------------------------------------------------------------------------------------------------- */

static enum cw_status put_side(FILE *out, const char *name, const char *source, const struct cw_side *side,
                               struct cw_error *err)
{
    cw_text_print(out, "\"%s\": {\"capture\": ", name);
    enum cw_status status = cw_json_print(cw_capture_manifest(side->data, source), JSON_COMPACT, out, err);
    cw_text_print(out, ", \"runs\": %" PRIu32, side->runs);
    put_number(out, ", \"time_ns\": ", side->groups.total);
    fputs("},\n ", out);
    return status;
}

static void put_change(FILE *out, const struct cw_change *c)
{
    put_number(out, "\"a\": ", c->a);
    put_number(out, ", \"b\": ", c->b);
    put_number(out, ", \"relative\": ", cw_compare_part(c->a, c->b));
    put_number(out, ", \"spread\": ", c->spread);
    cw_text_print(out, ", \"changed\": %s, \"judged\": %s", c->changed ? "true" : "false",
                  c->unjudged ? "false" : "true");
}

static void put_group(FILE *out, const char *name, const struct cw_side *side, uint32_t group)
{
    cw_text_print(out, ",\n   \"%s\": ", name);
    if (group == CW_NO_GROUP) {
        fputs("null", out);
        return;
    }
    const struct cw_groups *g = &side->groups;
    put_number(out, "{\"launches\": ", cw_side_launches(side, group));
    fputs(", ", out);
    put_shape(out, cw_launch_of(&g->data, group));
    put_number(out, ", \"time_ns\": ", g->items[group].total);
    putc('}', out);
}

static void put_match(FILE *out, const struct cw_comparison *c, const struct cw_match *m)
{
    const struct cw_groups *g = m->a != CW_NO_GROUP ? &c->a.groups : &c->b.groups;
    const uint32_t group = m->a != CW_NO_GROUP ? m->a : m->b;
    put_text(out, "\n  {\"name\": ", g->items[group].name);
    put_text(out, ", \"kernel\": ", cw_launch_of(&g->data, group)->kernel);
    cw_text_print(out, ", \"match\": \"%s\"",
                  m->a == CW_NO_GROUP   ? "added"
                  : m->b == CW_NO_GROUP ? "gone"
                  : m->reshaped         ? "name"
                                        : "shape");
    put_number(out, ", \"time_change_ns\": ", m->change);
    put_group(out, "a", &c->a, m->a);
    put_group(out, "b", &c->b, m->b);
    if (m->a != CW_NO_GROUP && m->b != CW_NO_GROUP) {
        const struct cw_change time = cw_compare_time(c, m);
        fputs(",\n   \"launch_ns\": {", out);
        put_change(out, &time);
        fputs("},\n   \"metrics\": [", out);
        for (uint32_t i = 0; i < c->a.means.metric_count; i++) {
            const struct cw_change change = cw_compare_metric(c, m, i);
            put_text(out, i ? ",\n    {\"name\": " : "\n    {\"name\": ", c->a.means.names[i]);
            put_text(out, ", \"unit\": ", c->a.means.units[i]);
            fputs(", ", out);
            put_change(out, &change);
            put_text(out, ", \"a_status\": ", cw_value_status_text(change.a_status));
            put_text(out, ", \"b_status\": ", cw_value_status_text(change.b_status));
            putc('}', out);
        }
        putc(']', out);
    }
    putc('}', out);
}

static void put_matches(FILE *out, const struct cw_comparison *c)
{
    for (uint32_t i = 0; i < c->match_count; i++) {
        fputs(i ? "," : "", out);
        put_match(out, c, &c->matches[i]);
    }
}

static void put_usage(FILE *out, const char *name, const struct cw_timeline_usage *usage)
{
    const struct cw_device_usage sum = cw_timeline_usage_sum(usage);
    cw_text_print(out, "\"%s\": ", name);
    put_number(out, "{\"traced_ns\": ", sum.traced);
    put_number(out, ", \"busy_ns\": ", sum.busy);
    put_number(out, ", \"idle_ns\": ", sum.idle);
    cw_text_print(out, ", \"gaps\": %" PRIu64 ", \"idle_by_cause_ns\": ", sum.gaps);
    for (int c = 0; c < CW_IDLE__COUNT; c++) {
        put_text(out, c ? ", " : "{", cw_timeline_cause_names[c]);
        put_number(out, ": ", sum.causes[c]);
    }
    fputs("}}", out);
}

/* Members of traces alone. */
static void put_trace(FILE *out, const struct cw_diff_output *trace)
{
    if (trace->a_usage) {
        fputs(",\n \"usage\": {", out);
        put_usage(out, "a", trace->a_usage);
        fputs(",\n  ", out);
        put_usage(out, "b", trace->b_usage);
        putc('}', out);
    }
    fputs(",\n \"nvtx\": [", out);
    if (trace->ranges)
        put_matches(out, trace->ranges);
    putc(']', out);
}

enum cw_status cw_diff_write_json(FILE *out, const void *output, struct cw_error *err)
{
    const struct cw_diff_output *o = output;
    const struct cw_comparison *c = o->of;
    fputs("{\"schema\": 1,\n ", out);
    enum cw_status status = put_side(out, "a", c->a_source, &c->a, err);
    if (status == CW_OK)
        status = put_side(out, "b", c->b_source, &c->b, err);
    fputs("\"differences\": [", out);
    for (uint32_t i = 0; i < c->difference_count; i++) {
        put_text(out, i ? ",\n  {\"what\": " : "\n  {\"what\": ", c->differences[i].what);
        put_text(out, ", \"a\": ", c->differences[i].a);
        put_text(out, ", \"b\": ", c->differences[i].b);
        cw_text_print(out, ", \"comparable\": %s}", c->differences[i].other ? "false" : "true");
    }
    cw_text_print(out, "],\n \"by\": \"%s\",\n \"groups\": [", cw_group_by_names[c->a.groups.by]);
    if (status == CW_OK)
        put_matches(out, c);
    putc(']', out);
    if (o->traces)
        put_trace(out, o);
    fputs("}\n", out);
    return status;
}

/* ---- gate -------------------------------------------------------------------------------------------------------- */

static void put_judged(const struct cw_judgement *j, uint32_t match, uint32_t *finding, FILE *out)
{
    const struct cw_comparison *c = j->comparison;
    const struct cw_match *m = &c->matches[match];
    const struct cw_groups *g = m->a != CW_NO_GROUP ? &c->a.groups : &c->b.groups;
    const uint32_t group = m->a != CW_NO_GROUP ? m->a : m->b, first = *finding;
    const struct cw_range *r = cw_launch_of(&g->data, group);
    put_text(out, match ? ",\n  {\"name\": " : "\n  {\"name\": ", g->items[group].name);
    put_text(out, ", \"kernel\": ", r->kernel);
    fputs(", ", out);
    put_shape(out, r);
    cw_text_print(out, ", \"verdict\": \"%s\"", cw_verdict_names[j->verdicts[match]]);
    put_number(out, ", \"slowdown_shown\": ", j->shown[match]);
    fputs(", \"findings\": [", out);
    for (; *finding < j->finding_count && j->findings[*finding].match == match; ++*finding) {
        const struct cw_gate_finding *f = &j->findings[*finding];
        put_text(out,
                 *finding > first ? ",\n   {\"metric\": " : "\n   {\"metric\": ", j->rules->metrics[f->metric].name);
        put_number(out, ", \"a\": ", f->a);
        put_number(out, ", \"b\": ", f->b);
        put_number(out, ", \"allowed\": ", f->allowed);
        cw_text_print(out, ", \"a_status\": \"%s\", \"b_status\": \"%s\"",
                      cw_value_status_text((enum cw_value_status)f->a_status),
                      cw_value_status_text((enum cw_value_status)f->b_status));
        cw_text_print(out, ", \"verdict\": \"%s\"}", cw_verdict_names[f->verdict]);
    }
    fputs("]}", out);
}

enum cw_status cw_gate_write_json(FILE *out, const void *output, struct cw_error *err)
{
    const struct cw_judgement *j = output;
    uint32_t finding = 0;
    (void)err;
    cw_text_print(out, "{\"schema\": 1, \"verdict\": \"%s\", \"compared\": %" PRIu64 ", \"not_judged\": %" PRIu64,
                  cw_verdict_names[j->verdict], j->compared, j->unjudged);
    put_number(out, ", \"least_slowdown\": ", j->slowdown.least);
    put_number(out, ", \"half_slowdown\": ", j->slowdown.half);
    put_number(out, ", \"most_slowdown\": ", j->slowdown.most);
    cw_text_print(out, ", \"needed_in\": %" PRIu32, j->needed);
    fputs(", \"reasons\": [", out);
    for (uint32_t i = 0; i < j->reason_count; i++)
        put_text(out, i ? ", " : "", j->reasons[i]);
    fputs("],\n \"kernels\": [", out);
    for (uint32_t i = 0; i < j->comparison->match_count; i++)
        put_judged(j, i, &finding, out);
    fputs("]}\n", out);
    return CW_OK;
}
