#define _GNU_SOURCE
#include "eval/output/gate_output.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/shorten.h"
#include "base/text.h"
#include "eval/output/json_put.h"
#include "eval/output/terminal.h"
#include "eval/status.h"

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

static void put_side(FILE *out, double value, const char *unit, int status)
{
    if (isnan(value))
        fputs("unknown", out);
    else
        put_value(out, value, unit);
    if (status != CW_VALUE_OK && status != CW_VALUE_MULTIPLEXED && status != CW_VALUE_MIXED_PASSES)
        cw_text_print(out, " (%s)", cw_value_status_text((enum cw_value_status)status));
}

static void put_finding(const struct cw_gate_output *o, const struct cw_gate_finding *f, FILE *out)
{
    const char *name = o->rules->metrics[f->metric].name, *unit = unit_of(o, name);
    const bool counts = f->verdict != CW_INCOMPARABLE;
    cw_text_print(out, "    %-12s %s\n        ", cw_verdict_names[f->verdict], name);
    put_side(out, f->a, unit, f->a_status);
    fputs(" -> ", out);
    put_side(out, f->b, unit, f->b_status);
    if (counts && isfinite(f->a) && isfinite(f->b) && f->a != 0)
        cw_text_print(out, "  %+.3g %%", 100 * (f->b - f->a) / fabs(f->a));
    if (f->allowed > 1e-9 * fabs(f->a)) {
        fputs(", allowed ", out);
        put_value(out, f->allowed, unit);
    }
    putc('\n', out);
}

/* "3.2 %" */
static const char *percent_text(double part, char text[CW_NUMBER_SIZE])
{
    cw_text_format(text, CW_NUMBER_SIZE, part < 0.0995 ? "%.2g %%" : "%.0f %%", 100 * part);
    return text;
}

enum { LABEL_SHOWN = 84, SLOWDOWN_LABEL_SHOWN = 52, NEEDED_SHOWN = 3 }; /* in lines of 100 columns */

/* "name (4, 1, 1)x(128, 1, 1)" in so many columns: the name is shortened. */
static const char *shorten_label(const char *label, size_t width, char text[CW_SHORT_SIZE])
{
    char shape[CW_SHORT_SIZE] = "";
    char *name = strdup(label), *last = NULL;
    for (char *at = name; at && (at = strstr(at, " (")); at++)
        last = at;
    if (last && strstr(last, ")x(") && strlen(last) < width / 2 + 16) {
        cw_text_format(shape, sizeof shape, "%s", last);
        *last = 0;
    }
    const size_t taken = cw_text_columns(shape);
    cw_shorten(name ? name : "", width > taken ? width - taken : 1, text);
    if (strlen(text) + strlen(shape) < CW_SHORT_SIZE)
        strcat(text, shape);
    free(name);
    return text;
}

/* What "same" means: smaller changes do not show. */
static void put_slowdown(FILE *out, const struct cw_gate_slowdown *s, const char *of_least, const char *of_most)
{
    char text[CW_NUMBER_SIZE], label[CW_SHORT_SIZE];
    if (isnan(s->least)) {
        fputs("  no slow-down would show: time is not judged\n", out);
        return;
    }
    cw_text_print(out, "  slow-downs would show above %7s  in %s\n", percent_text(s->least, text),
                  shorten_label(of_least, SLOWDOWN_LABEL_SHOWN, label));
    if (s->least_at == s->most_at)
        return;
    if (!isnan(s->half) && s->half < s->most)
        cw_text_print(out, "                              %7s  in kernels with half of the time\n",
                      percent_text(s->half, text));
    cw_text_print(out, "                              %7s  in %s\n", percent_text(s->most, text),
                  shorten_label(of_most, SLOWDOWN_LABEL_SHOWN, label));
}

void cw_gate_print_summary(FILE *out, const struct cw_gate_learned *learned)
{
    const struct cw_gate_runs *r = learned->runs;
    const struct cw_gate_summary *s = learned->summary;
    char least[CW_NUMBER_SIZE], median[CW_NUMBER_SIZE], greatest[CW_NUMBER_SIZE];
    cw_text_print(out,
                  "%s: learned from %" PRIu32 " runs of %" PRIu32 " kernel%s\n  %" PRIu64
                  " values have to be equal, %" PRIu64 " have a noise",
                  learned->path, r->runs, r->kernel_count, r->kernel_count == 1 ? "" : "s", s->exact, s->noisy);
    if (s->least < s->greatest)
        cw_text_print(out, " of %s to %s (half of them below %s)", percent_text(s->least, least),
                      percent_text(s->greatest, greatest), percent_text(s->median, median));
    else if (s->noisy)
        cw_text_print(out, " of %s", percent_text(s->least, least));
    cw_text_print(out, ", %" PRIu64 " cannot be judged\n", s->unjudged);
    if (r->kernel_count)
        put_slowdown(out, &s->slowdown, r->kernels[s->slowdown.least_at], r->kernels[s->slowdown.most_at]);
}

static const char *label_of(const struct cw_gate_output *o, uint32_t match, struct cw_arena *arena)
{
    const struct cw_comparison *c = o->comparison;
    return cw_group_label(&c->a.groups, c->matches[match].a, 0, arena);
}

/* Kernels in which less shows than is needed. */
static enum cw_status put_needed(FILE *out, const struct cw_gate_output *o, struct cw_arena *arena,
                                 struct cw_error *err)
{
    const struct cw_judgement *j = o->judgement;
    char need[CW_NUMBER_SIZE], shown[CW_NUMBER_SIZE], text[CW_SHORT_SIZE];
    uint32_t told = 0;
    if (!j->needed)
        return CW_OK;
    cw_text_print(
        out, "  not enough: slow-downs of %s would not show in %" PRIu32 " kernel%s; compare several runs of each\n",
        percent_text(o->need, need), j->needed, j->needed == 1 ? "" : "s");
    for (uint32_t i = 0; i < o->comparison->match_count && told < NEEDED_SHOWN; i++) {
        if (!j->lacking[i])
            continue;
        const char *label = label_of(o, i, arena);
        if (!label)
            return cw_error_nomem(err);
        cw_text_print(out, "    %s  in %s\n", isnan(j->shown[i]) ? "none" : percent_text(j->shown[i], shown),
                      shorten_label(label, SLOWDOWN_LABEL_SHOWN, text));
        told++;
    }
    if (j->needed > told)
        cw_text_print(out, "    and in %" PRIu32 " more\n", j->needed - told);
    return CW_OK;
}

static enum cw_status print(FILE *out, const struct cw_gate_output *o, struct cw_arena *arena, struct cw_error *err)
{
    const struct cw_judgement *j = o->judgement;
    uint32_t missing = 0;
    for (uint32_t i = 0; i < j->finding_count; i++)
        missing += j->findings[i].verdict == CW_INCOMPARABLE;
    cw_text_print(out, "%s: %" PRIu64 " values of %" PRIu32 " %s%s compared, %" PRIu32 " beyond their noise",
                  cw_verdict_names[j->verdict], j->compared, j->kernels,
                  cw_groups_are_of_launches(&o->comparison->a.groups) ? "kernel" : "range", j->kernels == 1 ? "" : "s",
                  j->finding_count - missing);
    if (missing)
        cw_text_print(out, "; %" PRIu32 " more cannot be compared", missing);
    putc('\n', out);
    if (j->unjudged)
        cw_text_print(out,
                      "  not judged: %" PRIu64
                      " more value%s, implausible or of a noise that is unknown, or 100 %% and more\n",
                      j->unjudged, j->unjudged == 1 ? "" : "s");
    for (uint32_t i = 0; i < j->reason_count; i++)
        cw_text_print(out, "  incomparable: %s\n", j->reasons[i]);
    if (j->reasons_left)
        cw_text_print(out, "  and %" PRIu32 " more reasons like these\n", j->reasons_left);
    const bool told = !isnan(j->slowdown.least);
    const char *of_least = told ? label_of(o, j->slowdown.least_at, arena) : "";
    const char *of_most = told ? label_of(o, j->slowdown.most_at, arena) : "";
    if (!of_least || !of_most)
        return cw_error_nomem(err);
    put_slowdown(out, &j->slowdown, of_least, of_most);
    enum cw_status status = put_needed(out, o, arena, err);
    if (status != CW_OK)
        return status;
    for (uint32_t i = 0, match = UINT32_MAX; i < j->finding_count; i++) {
        const struct cw_gate_finding *f = &j->findings[i];
        const char *label = f->match != match ? label_of(o, f->match, arena) : "";
        char shown[CW_SHORT_SIZE];
        if (!label)
            return cw_error_nomem(err);
        if (*label)
            cw_text_print(out, "  %s: %s\n", cw_verdict_names[j->verdicts[f->match]],
                          shorten_label(label, LABEL_SHOWN, shown));
        match = f->match;
        put_finding(o, f, out);
    }
    return CW_OK;
}

enum cw_status cw_gate_print(FILE *out, const void *output, struct cw_error *err)
{
    struct cw_arena *arena = cw_arena_create();
    enum cw_status status = arena ? print(out, output, arena, err) : cw_error_nomem(err);
    cw_arena_destroy(arena);
    return status;
}

static void put_match(const struct cw_gate_output *o, uint32_t match, uint32_t *finding, FILE *out)
{
    const struct cw_comparison *c = o->comparison;
    const struct cw_judgement *j = o->judgement;
    const struct cw_match *m = &c->matches[match];
    const struct cw_groups *g = m->a != CW_NO_GROUP ? &c->a.groups : &c->b.groups;
    const uint32_t group = m->a != CW_NO_GROUP ? m->a : m->b, first = *finding;
    const struct cw_range *r = cw_launch_of(&g->data, group);
    cw_json_put_text(out, match ? ",\n  {\"name\": " : "\n  {\"name\": ", g->items[group].name);
    cw_json_put_text(out, ", \"kernel\": ", r->kernel);
    fputs(", ", out);
    cw_json_put_shape(out, r);
    cw_text_print(out, ", \"verdict\": \"%s\"", cw_verdict_names[j->verdicts[match]]);
    cw_json_put_number(out, ", \"slowdown_shown\": ", j->shown[match]);
    fputs(", \"findings\": [", out);
    for (; *finding < j->finding_count && j->findings[*finding].match == match; ++*finding) {
        const struct cw_gate_finding *f = &j->findings[*finding];
        cw_json_put_text(
            out, *finding > first ? ",\n   {\"metric\": " : "\n   {\"metric\": ", o->rules->metrics[f->metric].name);
        cw_json_put_number(out, ", \"a\": ", f->a);
        cw_json_put_number(out, ", \"b\": ", f->b);
        cw_json_put_number(out, ", \"allowed\": ", f->allowed);
        cw_text_print(out, ", \"a_status\": \"%s\", \"b_status\": \"%s\"",
                      cw_value_status_text((enum cw_value_status)f->a_status),
                      cw_value_status_text((enum cw_value_status)f->b_status));
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
    cw_text_print(out, "{\"schema\": 1, \"verdict\": \"%s\", \"compared\": %" PRIu64 ", \"not_judged\": %" PRIu64,
                  cw_verdict_names[j->verdict], j->compared, j->unjudged);
    cw_json_put_number(out, ", \"least_slowdown\": ", j->slowdown.least);
    cw_json_put_number(out, ", \"half_slowdown\": ", j->slowdown.half);
    cw_json_put_number(out, ", \"most_slowdown\": ", j->slowdown.most);
    cw_text_print(out, ", \"needed_in\": %" PRIu32, j->needed);
    fputs(", \"reasons\": [", out);
    for (uint32_t i = 0; i < j->reason_count; i++)
        cw_json_put_text(out, i ? ", " : "", j->reasons[i]);
    fputs("],\n \"kernels\": [", out);
    for (uint32_t i = 0; i < o->comparison->match_count; i++)
        put_match(o, i, &finding, out);
    fputs("]}\n", out);
    return CW_OK;
}
