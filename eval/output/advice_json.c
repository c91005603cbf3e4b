#include <inttypes.h>
#include <math.h>

#include "base/text.h"
#include "eval/output/advice.h"

/* What a kernel's evidence may be, so that it stays short for whoever reads: of the first finding, of the others. */
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

/* What is no number is null. */
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

static bool put_finding(FILE *out, const struct cw_advice_finding *f, size_t most, struct cw_arena *arena)
{
    const char *text = cw_advice_text(f, arena);
    fputs("{\"rule\": ", out);
    cw_text_put(out, CW_TEXT_JSON, f->rule->id);
    put_number(out, "gain", f->gain);
    put_number(out, "speedup", 1 / (1 - f->gain));
    put_text(out, "confidence", cw_confidence_text(f->confidence));
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
    put_text(out, "confidence", cw_confidence_text(k->confidence));
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

static void put_first(FILE *out, const struct cw_advice_kernel *k)
{
    const struct cw_advice_finding *first = cw_advice_first(k);
    put_key(out, "first_finding");
    if (first)
        cw_text_put(out, CW_TEXT_JSON, first->rule->id);
    else
        fputs("null", out);
}

static bool put_kernel(FILE *out, const struct cw_advice_view *view, const struct cw_advice_kernel *k)
{
    bool enough = true;
    fputs("{\"kernel\": ", out);
    cw_text_put(out, CW_TEXT_JSON, k->group->name);
    if (*k->launch->kernel)
        put_text(out, "function", k->launch->kernel);
    put_size(out, "grid", k->launch->grid);
    put_size(out, "block", k->launch->block);
    put_number(out, "launches", k->group->count);
    put_number(out, "time_ns", k->group->total);
    put_number(out, "share", k->group->total / view->advice->groups->total);
    put_number(out, "duration_ns", k->group->mean);
    put_limiter(out, k);
    put_first(out, k);
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

enum cw_status cw_advice_json(FILE *out, const void *content, struct cw_error *err)
{
    const struct cw_advice_view *view = content;
    const struct cw_advice *a = view->advice;
    const size_t count = view->top && view->top < a->kernel_count ? view->top : a->kernel_count;
    bool enough = true;
    fputs("{\"capture\": ", out);
    cw_text_put(out, CW_TEXT_JSON, view->source);
    put_text(out, "chip", a->rules->chip->name);
    put_number(out, "time_ns", a->groups->total);
    put_number(out, "kernel_count", (double)a->kernel_count);
    fputs(",\n\"kernels\": [", out);
    for (size_t i = 0; i < count; i++) {
        fputs(i ? ",\n " : "\n ", out);
        enough = put_kernel(out, view, &a->kernels[i]) && enough;
    }
    fputs("]", out);
    put_rules(out, "not_checked", a->unchecked, a->unchecked_count);
    put_rules(out, "not_for_this_chip", a->absent, a->absent_count);
    fputs("}\n", out);
    return enough ? CW_OK : cw_error_nomem(err);
}
