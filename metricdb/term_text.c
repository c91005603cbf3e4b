#include "metricdb/term_text.h"

#include "base/bytes.h"
#include "metricdb/formula.h"
#include "metricdb/term.h"

static const char *name_of(const struct cw_chip *chip, const struct cw_operand *o)
{
    if (o->reads == CW_READS_USER_CYCLES)
        return o->span == CW_SPAN_FRAME ? "cycles of the user's frame" : "cycles of the user's region";
    if (o->counter != CW_NONE)
        return chip->counters[o->counter].name;
    return o->reads == CW_READS_TIME ? "time" : "cycles";
}

static void put_operand(struct cw_writer *out, const char *before, const struct cw_chip *chip,
                        const struct cw_operand *o)
{
    if (o->reads == CW_READS_TIME)
        cw_write_format(out, "%sseconds of %s", before, name_of(chip, o));
    else if (o->reads != CW_READS_NOTHING && o->reads != CW_READS_PRESENCE)
        cw_write_format(out, "%s%s(%s%s)", before, cw_rollup_text(o->rollup),
                        o->reads == CW_READS_PEAK ? "peak of " : "", name_of(chip, o));
}

static void put_term(struct cw_writer *out, const struct cw_chip *chip, const struct cw_term *t)
{
    bool seconds = t->divisors[0].reads == CW_READS_TIME; /* the scale converts nanoseconds to seconds */
    if (t->x.reads == CW_READS_NOTHING)
        cw_write_format(out, "%g", t->scale);
    else if (t->scale != 1 && !seconds)
        cw_write_format(out, "%g * ", t->scale);
    put_operand(out, "", chip, &t->x);
    put_operand(out, " * ", chip, &t->factor);
    for (int d = 0; d < CW_TERM_DIVISORS; d++)
        put_operand(out, " / ", chip, &t->divisors[d]);
}

char *cw_metric_formula(const struct cw_chip *chip, const struct cw_metric *m, struct cw_arena *arena)
{
    if (m->type == CW_FORMULA)
        return cw_arena_strdup(arena, chip->formulas->items[m->base].text);
    if (m->type == CW_FACT)
        return cw_arena_strdup(arena, "none: it is recorded without counting");
    struct cw_terms terms = {0};
    struct cw_writer out;
    bool good = cw_terms_make(&terms, chip, m, NULL) != CW_ERR_NOMEM;
    cw_writer_init(&out);
    cw_write_format(&out, "%s", !terms.count ? "not known" : terms.largest ? "the largest of" : "");
    for (uint32_t i = 0; i < terms.count; i++) {
        cw_write_format(&out, "%s", terms.largest ? "\n" : "");
        put_term(&out, chip, &terms.items[i]);
    }
    good = good && out.status == CW_OK;
    char *text = good ? cw_arena_strndup(arena, (const char *)out.data, out.size) : NULL;
    cw_writer_free(&out);
    cw_terms_free(&terms);
    return text;
}
