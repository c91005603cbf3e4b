#include <inttypes.h>
#include <math.h>

#include "base/text.h"
#include "eval/output/advice.h"

/* At most so many values as evidence of a kernel's first finding, and of the others: the answer stays short for its
 * reader. */
enum { EVIDENCE_FIRST = 8, EVIDENCE_OTHERS = 4 };

static void put_key(FILE *out, const char *key)
{
    cw_text_print(out, ", \"%s\": ", key);
}

static void put_text(FILE *out, const char *key, const char *text)
{
    put_key(out, key);
    cw_text_put(out, CW_TEXT_JSON, text);
}

/* NaN and infinity are null. */
static void put_number(FILE *out, const char *key, double value)
{
    put_key(out, key);
    if (isfinite(value))
        cw_text_print(out, fabs(value) < 1e15 && value == floor(value) ? "%.0f" : "%.6g", value);
    else
        fputs("null", out);
}

static void put_value(FILE *out, double value, int8_t status)
{
    put_number(out, "value", value);
    put_text(out, "status", cw_value_status_text((enum cw_value_status)status));
}

static void put_size(FILE *out, const char *key, const uint32_t size[3])
{
    put_key(out, key);
    cw_text_print(out, "[%" PRIu32 ", %" PRIu32 ", %" PRIu32 "]", size[0], size[1], size[2]);
}

static void put_evidence(FILE *out, const struct cw_advice_finding *f, size_t most)
{
    fputs(", \"evidence\": [", out);
    for (size_t i = 0; i < f->evidence_count && i < most; i++) {
        const struct cw_advice_value *v = &f->evidence[i];
        fputs(i ? ", {\"metric\": " : "{\"metric\": ", out);
        cw_text_put(out, CW_TEXT_JSON, v->name);
        if (*v->unit)
            put_text(out, "unit", v->unit);
        put_value(out, v->value, v->status);
        fputc('}', out);
    }
    fputs("], \"lines\": [", out);
    for (size_t i = 0; i < f->line_count; i++) {
        fputs(i ? ", {\"file\": " : "{\"file\": ", out);
        cw_text_put(out, CW_TEXT_JSON, f->lines[i].file);
        put_number(out, "line", f->lines[i].line);
        put_number(out, "samples", (double)f->lines[i].samples);
        put_number(out, "share", f->lines[i].share);
        fputc('}', out);
    }
    fputs("]", out);
}

static void put_confidence(FILE *out, enum cw_confidence confidence, const char *doubt)
{
    put_text(out, "confidence", cw_confidence_text(confidence));
    if (*doubt)
        put_text(out, "doubt", doubt);
}

static bool put_finding(FILE *out, const struct cw_advice_finding *f, size_t most, struct cw_arena *arena)
{
    const char *text = cw_advice_text(f, arena);
    fputs("{\"rule\": ", out);
    cw_text_put(out, CW_TEXT_JSON, f->rule->id);
    put_number(out, "gain", f->gain);
    put_number(out, "speedup", 1 / (1 - f->gain));
    put_confidence(out, f->confidence, f->doubt);
    if (f->implausible)
        fputs(", \"implausible\": true", out);
    put_text(out, "title", f->rule->title);
    put_text(out, "text", text ? text : "");
    put_text(out, "fix", f->rule->fix);
    put_evidence(out, f, most);
    fputc('}', out);
    return text != NULL;
}

static void put_rules(FILE *out, const char *key, const struct cw_rule *const *rules, size_t count)
{
    put_key(out, key);
    fputc('[', out);
    for (size_t i = 0; i < count; i++) {
        fputs(i ? ", " : "", out);
        cw_text_put(out, CW_TEXT_JSON, rules[i]->id);
    }
    fputc(']', out);
}

static void put_limiter(FILE *out, const struct cw_advice_kernel *k)
{
    put_key(out, "limiter");
    if (*k->limiter)
        cw_text_put(out, CW_TEXT_JSON, k->limiter);
    else
        fputs("null", out);
    put_confidence(out, k->confidence, k->doubt);
    fputs(", \"limiter_path\": [", out);
    for (size_t i = 0; i < k->step_count; i++) {
        const struct cw_advice_step *s = &k->steps[i];
        fputs(i ? ", {\"id\": " : "{\"id\": ", out);
        cw_text_put(out, CW_TEXT_JSON, s->node->id);
        put_text(out, "title", s->node->title);
        put_value(out, s->value, s->status);
        fputc('}', out);
    }
    fputc(']', out);
}

/* The sentence and the rule of the finding that saves most. False when out of memory. */
static bool put_first(FILE *out, const struct cw_advice_kernel *k, struct cw_arena *arena)
{
    const struct cw_advice_finding *first = cw_advice_first(k);
    const char *text = first ? cw_advice_text(first, arena) : NULL;
    if (first && text) {
        put_text(out, "first_finding", text);
        put_text(out, "first_rule", first->rule->id);
    } else {
        fputs(", \"first_finding\": null, \"first_rule\": null", out);
    }
    return !first || text;
}

static bool put_kernel(FILE *out, const struct cw_advice_view *view, const struct cw_advice_kernel *k)
{
    char ranges[500];
    fputs("{\"kernel\": ", out);
    cw_text_put(out, CW_TEXT_JSON, k->group->name);
    if (*k->launch->kernel)
        put_text(out, "function", k->launch->kernel);
    put_size(out, "grid", k->launch->grid);
    put_size(out, "block", k->launch->block);
    put_number(out, "launches", k->group->count);
    if (cw_advice_ranges(k->group, ranges, sizeof ranges))
        put_text(out, "ranges", ranges);
    put_number(out, "time_ns", k->group->total);
    put_number(out, "share", cw_group_share(view->advice->groups, k->group));
    put_number(out, "duration_ns", k->group->mean);
    put_limiter(out, k);
    bool enough = put_first(out, k, view->arena);
    fputs(", \"findings\": [", out);
    for (size_t i = 0; i < k->finding_count; i++) {
        fputs(i ? ",\n  " : "\n  ", out);
        enough = put_finding(out, &k->findings[i], i ? EVIDENCE_OTHERS : EVIDENCE_FIRST, view->arena) && enough;
    }
    fputc(']', out);
    if (k->unchecked_count)
        put_rules(out, "not_checked", k->unchecked, k->unchecked_count);
    fputc('}', out);
    return enough;
}

static void put_part(FILE *out, const struct cw_advice_part *part)
{
    fputs("{\"rule\": ", out);
    cw_text_put(out, CW_TEXT_JSON, part->finding->rule->id);
    put_number(out, "gain", part->gain);
    put_number(out, "kernels", part->kernel_count);
    put_number(out, "share", part->share);
    put_text(out, "title", part->finding->rule->title);
    put_text(out, "fix", part->finding->rule->fix);
    put_text(out, "most", part->kernel->group->name);
    put_number(out, "range", part->kernel->group->ranges[0]);
    fputc('}', out);
}

static void put_group(FILE *out, const struct cw_advice_view *view, const struct cw_advice_group *g)
{
    fputs("{\"name\": ", out);
    cw_text_put(out, CW_TEXT_JSON, g->group->name);
    put_number(out, "kernels", g->group->shapes);
    put_number(out, "launches", g->group->count);
    put_number(out, "time_ns", g->group->total);
    put_number(out, "share", cw_group_share(view->advice->groups, g->group));
    put_key(out, "limiter");
    if (g->limited_by)
        cw_text_put(out, CW_TEXT_JSON, g->limited_by->limiter);
    else
        fputs("null", out);
    put_number(out, "limiter_share", g->limited_by ? g->limited : NAN);
    fputs(", \"findings\": [", out);
    for (size_t i = 0; i < g->part_count; i++) {
        fputs(i ? ",\n  " : "\n  ", out);
        put_part(out, &g->parts[i]);
    }
    fputs("]}", out);
}

/* "families", or the groups of --by. */
static void put_groups(FILE *out, const struct cw_advice_view *view)
{
    const struct cw_groups *groups = view->groups->groups;
    const bool some = view->by_groups && view->top && view->top < groups->count;
    const size_t count = some ? view->top : groups->count;
    fputs(",\n", out);
    if (groups->by != CW_BY_FAMILY)
        cw_text_print(out, "\"by\": \"%s\", ", cw_group_by_names[groups->by]);
    cw_text_print(out, "\"%s\": [", groups->by == CW_BY_FAMILY ? "families" : "groups");
    for (size_t i = 0; i < count; i++) {
        fputs(i ? ",\n " : "\n ", out);
        put_group(out, view, &view->groups->items[i]);
    }
    fputc(']', out);
}

enum cw_status cw_advice_json(FILE *out, const void *content, struct cw_error *err)
{
    const struct cw_advice_view *view = content;
    const struct cw_advice *a = view->advice;
    const bool some = !view->by_groups && view->top && view->top < a->kernel_count;
    const size_t count = some ? view->top : a->kernel_count;
    const struct cw_short_launches brief = cw_groups_find_short(a->groups);
    bool enough = true;
    fputs("{\"capture\": ", out);
    cw_text_put(out, CW_TEXT_JSON, view->source);
    put_text(out, "chip", a->rules->chip->name);
    put_number(out, "time_ns", a->groups->total);
    put_number(out, "kernel_count", (double)a->kernel_count);
    fputs(", \"short_launches\": {\"below_ns\": ", out);
    cw_text_print(out, "%d", CW_SHORT_LAUNCH_NS);
    put_number(out, "count", (double)brief.count);
    put_number(out, "launches", (double)brief.launches);
    put_number(out, "share", brief.share);
    fputc('}', out);
    if (view->groups)
        put_groups(out, view);
    fputs(",\n\"kernels\": [", out);
    for (size_t i = 0; i < count; i++) {
        fputs(i ? ",\n " : "\n ", out);
        enough = put_kernel(out, view, &a->kernels[a->longest[i]]) && enough;
    }
    fputs("]", out);
    put_rules(out, "not_checked", a->unchecked, a->unchecked_count);
    put_rules(out, "not_for_this_chip", a->absent, a->absent_count);
    fputs("}\n", out);
    return enough ? CW_OK : cw_error_nomem(err);
}
