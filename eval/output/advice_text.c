#define _GNU_SOURCE
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/shorten.h"
#include "base/text.h"
#include "eval/output/advice.h"
#include "eval/output/terminal.h"

enum {
    NARROWEST = 60,
    USUAL_WIDTH = 100,
    INDENT = 4,
    TOLD = 5,
    EVIDENCE = 6,
    GAIN_COLUMNS = 8,
    MOST_COLUMNS = 49,
    VALUE_ROOM = 16
};

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

/* Three digits, or a whole number: "81.2", "1,234". */
static const char *short_number(double value, char text[CW_NUMBER_SIZE])
{
    if (fabs(value) >= 999.5 && fabs(value) < 1e15)
        return cw_terminal_number(round(value), text);
    if (!isfinite(value))
        return cw_terminal_number(value, text);
    snprintf(text, CW_NUMBER_SIZE, "%.3g", value);
    return text;
}

static void write_value(struct cw_writer *out, double value, const char *unit)
{
    char number[CW_NUMBER_SIZE], shown[CW_UNIT_SIZE];
    const double factor = cw_terminal_factor(value, unit, shown);
    cw_write_format(out, "%s%s%s", short_number(value / factor, number), *shown ? " " : "", shown);
}

static void write_fraction(struct cw_writer *out, double value)
{
    const double percent = 100 * value;
    cw_write_format(out, fabs(percent) < 9.95 && percent != 0 ? "%.1f %%" : "%.0f %%", percent);
}

static void write_shown(struct cw_writer *out, const struct cw_advice_value *v)
{
    if (isnan(v->value))
        cw_write_format(out, "?");
    else if (v->form == CW_RULE_PERCENT)
        write_fraction(out, v->value);
    else if (v->form == CW_RULE_TIMES)
        cw_write_format(out, fabs(v->value) < 9.95 ? "%.1fx" : "%.0fx", v->value);
    else
        write_value(out, v->value, v->unit);
}

const char *cw_advice_text(const struct cw_advice_finding *f, struct cw_arena *arena)
{
    struct cw_writer out;
    cw_writer_init(&out);
    for (size_t i = 0; i < f->rule->piece_count; i++) {
        cw_write_format(&out, "%s", f->rule->pieces[i].before);
        write_shown(&out, &f->values[i]);
    }
    cw_write_format(&out, "%s", f->rule->end);
    char *text = out.status == CW_OK ? cw_arena_strndup(arena, (const char *)out.data, out.size) : NULL;
    cw_writer_free(&out);
    return text;
}

/* ---- lines ------------------------------------------------------------------------------------------------------ */

struct printing {
    FILE *out;
    const struct cw_advice_view *view;
    int width;
    bool mixed; /* a value that mixes passes was shown */
    enum cw_status status;
};

static void bold(const struct printing *p, bool on)
{
    if (p->view->bold)
        fputs(on ? "\033[1m" : "\033[0m", p->out);
}

/* A paragraph at a column, which the line has reached; lines after the first begin there. */
static void put_wrapped(const struct printing *p, int column, const char *text)
{
    size_t size = 6 * strlen(text) + 1; /* escaped */
    char *shown = malloc(size);
    int at = column;
    if (!shown)
        return;
    cw_text_format(shown, size, "%s", text);
    for (char *word = shown, *next; *word; word = next + strspn(next, " ")) {
        next = word + strcspn(word, " ");
        const char after = *next;
        *next = 0;
        int columns = (int)cw_text_columns(word);
        if (at > column && at + 1 + columns > p->width) {
            cw_text_print(p->out, "\n%*s", column, "");
            at = column;
        } else if (at > column) {
            putc(' ', p->out);
            at++;
        }
        cw_text_print(p->out, "%s", word);
        at += columns;
        *next = after;
    }
    putc('\n', p->out);
    free(shown);
}

static void put_name(const struct printing *p, const char *name, int width)
{
    char shown[CW_SHORT_SIZE];
    cw_text_print(p->out, "%-*s", width, cw_shorten(name, (size_t)width, shown));
}

static const char *time_text(double ns, char text[CW_NUMBER_SIZE + CW_UNIT_SIZE])
{
    char number[CW_NUMBER_SIZE], shown[CW_UNIT_SIZE];
    const double factor = cw_terminal_factor(ns, "nanoseconds", shown);
    if (isnan(ns))
        return "unknown time";
    short_number(ns / factor, number);
    snprintf(text, CW_NUMBER_SIZE + CW_UNIT_SIZE, "%s %s", number, shown);
    return text;
}

/* ---- a kernel --------------------------------------------------------------------------------------------------- */

static void put_size(const struct printing *p, const char *what, const uint32_t size[3])
{
    if (!size[0])
        return;
    cw_text_print(p->out, ", %s %" PRIu32, what, size[0]);
    for (int i = 1; i < 3; i++)
        if (size[i] > 1 || (i == 1 && size[2] > 1))
            cw_text_print(p->out, " x %" PRIu32, size[i]);
}

static void put_limiter(const struct printing *p, const struct cw_advice_kernel *k)
{
    struct cw_writer line;
    cw_writer_init(&line);
    cw_write_format(&line, "limited by ");
    for (size_t i = 0; i < k->step_count; i++) {
        cw_write_format(&line, "%s%s", i ? " > " : "", k->steps[i].node->id);
        if (isfinite(k->steps[i].value))
            cw_write_format(&line, " %.0f %%", 100 * k->steps[i].value);
    }
    if (k->step_count)
        cw_write_format(&line, ": %s (confidence: %s)", k->steps[k->step_count - 1].node->title,
                        cw_confidence_text(k->confidence));
    else
        cw_write_format(&line, "something that these metrics do not show");
    cw_write_bytes(&line, "", 1);
    cw_text_print(p->out, "%*s", INDENT, "");
    if (line.status == CW_OK)
        put_wrapped(p, INDENT, (const char *)line.data);
    cw_writer_free(&line);
}

/* A value with its unit where that fits into so many columns, and the mark of a status that is not "ok". */
static void put_value(struct printing *p, const struct cw_advice_value *v, int room)
{
    struct cw_advice_value shown = *v;
    const bool mixed = v->status == CW_VALUE_MIXED_PASSES;
    for (int tries = 0; tries < 2; tries++) {
        struct cw_writer text;
        cw_writer_init(&text);
        write_shown(&text, &shown);
        cw_write_format(&text, "%s", mixed ? " ~" : "");
        cw_write_bytes(&text, "", 1);
        const bool fits = text.status != CW_OK || tries || (int)cw_text_columns((const char *)text.data) <= room;
        if (fits && text.status == CW_OK)
            cw_text_print(p->out, "%s", (const char *)text.data);
        cw_writer_free(&text);
        shown.unit = "";
        if (fits)
            break;
    }
    if (v->status && !mixed)
        cw_text_print(p->out, " (%s)", cw_value_status_text((enum cw_value_status)v->status));
    putc('\n', p->out);
    p->mixed = p->mixed || mixed;
}

/* What " (zero denominator)" takes behind a value; a mark takes nothing. */
static int status_columns(const struct cw_advice_value *v)
{
    const bool told = v->status && v->status != CW_VALUE_MIXED_PASSES;
    return told ? (int)strlen(cw_value_status_text((enum cw_value_status)v->status)) + 3 : 0;
}

/* Whether a value stands beside its name, or below it. */
static bool has_room(const struct printing *p, const struct cw_advice_value *v, int column)
{
    return column + (int)cw_text_columns(v->name) + 2 + VALUE_ROOM + status_columns(v) <= p->width;
}

static void put_evidence(struct printing *p, const struct cw_advice_finding *f, int column)
{
    char shown[CW_SHORT_SIZE];
    int names = 0;
    for (size_t i = 0; i < f->evidence_count && i < EVIDENCE; i++) {
        const int columns = (int)cw_text_columns(f->evidence[i].name);
        names = columns > names && has_room(p, &f->evidence[i], column) ? columns : names;
    }
    for (size_t i = 0; i < f->evidence_count && i < EVIDENCE; i++) {
        const char *name = cw_shorten(f->evidence[i].name, (size_t)(p->width - column), shown);
        if (has_room(p, &f->evidence[i], column))
            cw_text_print(p->out, "%*s%-*s", column, "", names, name);
        else
            cw_text_print(p->out, "%*s%s\n%*s", column, "", name, column + names, "");
        fputs("  ", p->out);
        put_value(p, &f->evidence[i], p->width - column - names - 2 - status_columns(&f->evidence[i]));
    }
    for (size_t i = 0; i < f->line_count; i++)
        cw_text_print(p->out, "%*s%s:%" PRIu32 "  %.0f %% of its samples\n", column, "", f->lines[i].file,
                      f->lines[i].line, 100 * f->lines[i].share);
}

/* "low-occupancy: Few warps fit (confidence: medium)" */
static void put_title(const struct printing *p, const struct cw_advice_finding *f, int column)
{
    struct cw_writer line;
    cw_writer_init(&line);
    cw_write_format(&line, "%s: %s", f->rule->id, f->rule->title);
    if (f->confidence != CW_CONFIDENCE_HIGH)
        cw_write_format(&line, " (confidence: %s)", cw_confidence_text(f->confidence));
    cw_write_bytes(&line, "", 1);
    if (line.status == CW_OK)
        put_wrapped(p, column, (const char *)line.data);
    cw_writer_free(&line);
}

static void put_finding(struct printing *p, const struct cw_advice_finding *f)
{
    const int column = INDENT + GAIN_COLUMNS;
    const char *text = cw_advice_text(f, p->view->arena);
    if (!text) {
        p->status = CW_ERR_NOMEM;
        return;
    }
    char gain[16] = "";
    if (!f->rule->note)
        snprintf(gain, sizeof gain, "-%.0f %%", 100 * f->gain);
    bold(p, true);
    cw_text_print(p->out, "%*s  ", column - 2, gain);
    bold(p, false);
    put_title(p, f, column);
    cw_text_print(p->out, "%*s", column, "");
    put_wrapped(p, column, text);
    cw_text_print(p->out, "%*sTo do: ", column, "");
    put_wrapped(p, column + 7, f->rule->fix);
    put_evidence(p, f, column);
}

static void put_kernel(struct printing *p, const struct cw_advice_kernel *k, size_t number)
{
    const struct cw_group *g = k->group;
    char total[CW_NUMBER_SIZE + CW_UNIT_SIZE], mean[CW_NUMBER_SIZE + CW_UNIT_SIZE];
    putc('\n', p->out);
    bold(p, true);
    cw_text_print(p->out, "%3zu ", number);
    put_name(p, g->name, p->width - 24);
    const double share = 100 * g->total / p->view->advice->groups->total;
    cw_text_print(p->out, " %10s", time_text(g->total, total));
    if (isfinite(share))
        cw_text_print(p->out, " %6.1f %%", share);
    putc('\n', p->out);
    bold(p, false);
    cw_text_print(p->out, "%*s%" PRIu32 " launch%s", INDENT, "", g->count, g->count == 1 ? "" : "es");
    if (g->timed > 1)
        cw_text_print(p->out, " of %s", time_text(g->mean, mean));
    if (g->timed > 1 && isfinite(cw_group_spread(g)))
        cw_text_print(p->out, " +- %.0f %%", 100 * cw_group_spread(g));
    put_size(p, "grid", k->launch->grid);
    put_size(p, "block", k->launch->block);
    putc('\n', p->out);
    if (p->view->advice->rules->limiter_count)
        put_limiter(p, k);
    for (size_t i = 0; i < k->finding_count && p->status == CW_OK; i++)
        put_finding(p, &k->findings[i]);
}

/* ---- all of it -------------------------------------------------------------------------------------------------- */

struct told { /* a finding, and how much of the whole it is */
    const struct cw_advice_kernel *kernel;
    const struct cw_advice_finding *finding;
    double saved; /* ns */
};

/* The findings that save most, each the first of its kernel: they do not add up. */
static size_t find_most(const struct cw_advice *a, struct told *most)
{
    size_t count = 0;
    for (size_t i = 0; i < a->kernel_count; i++) {
        const struct cw_advice_kernel *k = &a->kernels[i];
        if (!k->finding_count || k->findings[0].rule->note || !(k->group->total > 0))
            continue;
        const struct told one = {k, &k->findings[0], k->findings[0].gain * k->group->total};
        size_t at = count < TOLD ? count++ : TOLD;
        while (at && most[at - 1].saved < one.saved) {
            if (at < TOLD)
                most[at] = most[at - 1];
            at--;
        }
        if (at < TOLD)
            most[at] = one;
    }
    return count;
}

static void put_most(const struct printing *p)
{
    const struct cw_advice *a = p->view->advice;
    struct told most[TOLD];
    size_t count = find_most(a, most);
    char saved[CW_NUMBER_SIZE + CW_UNIT_SIZE];
    if (!count) {
        fputs("Nothing was found that would save time.\n", p->out);
        return;
    }
    fputs("What would save most of the whole time:\n", p->out);
    for (size_t i = 0; i < count; i++) {
        cw_text_print(p->out, "  %5.1f %% %9s  %-22s ", 100 * most[i].saved / a->groups->total,
                      time_text(most[i].saved, saved), most[i].finding->rule->id);
        put_name(p, most[i].kernel->group->name, p->width - MOST_COLUMNS);
        cw_text_print(p->out, " #%zu\n", (size_t)(most[i].kernel - a->kernels) + 1);
    }
}

static void put_rules(const struct printing *p, const char *before, const struct cw_rule *const *rules, size_t count,
                      const char *after)
{
    struct cw_writer line;
    if (!count)
        return;
    cw_writer_init(&line);
    cw_write_format(&line, "%s", before);
    for (size_t i = 0; i < count; i++)
        cw_write_format(&line, "%s%s", i ? ", " : " ", rules[i]->id);
    cw_write_format(&line, "%s", after);
    cw_write_bytes(&line, "", 1);
    if (line.status == CW_OK)
        put_wrapped(p, 0, (const char *)line.data);
    cw_writer_free(&line);
}

static void put_rest(const struct printing *p, size_t count, double percent)
{
    cw_text_print(p->out, "%zu more kernels", count);
    if (isfinite(percent))
        cw_text_print(p->out, " have %.1f %% of the time", percent);
    cw_text_print(p->out, ": --top %zu shows them.\n", p->view->advice->kernel_count);
}

static void put_end(const struct printing *p, size_t shown)
{
    const struct cw_advice *a = p->view->advice;
    double rest = 0;
    putc('\n', p->out);
    for (size_t i = shown; i < a->kernel_count; i++)
        rest += a->kernels[i].group->timed ? a->kernels[i].group->total : 0;
    if (shown < a->kernel_count)
        put_rest(p, a->kernel_count - shown, 100 * rest / a->groups->total);
    char after[200];
    cw_text_format(after, sizeof after, ". A plan for all of them: metric-config --chip %.40s --for-advice -o plan.cwc",
                   a->rules->chip->name);
    put_rules(p, "Not checked, for lack of metrics in the capture:", a->unchecked, a->unchecked_count, after);
    if (a->limiters_unchecked)
        put_wrapped(p, 0, "What limits the kernels was told without some of the metrics: --for-advice has them.");
    put_rules(p, "Not for this chip:", a->absent, a->absent_count, "");
    if (p->mixed)
        fputs("~ mixed passes: its counters come from different passes\n", p->out);
    if (p->view->samples)
        cw_text_print(p->out, "%s has samples of %zu of the %zu kernels.\n", p->view->samples, a->sampled,
                      a->kernel_count);
}

enum cw_status cw_advice_print(FILE *out, const void *content, struct cw_error *err)
{
    const struct cw_advice_view *view = content;
    const struct cw_advice *a = view->advice;
    const size_t count = view->top && view->top < a->kernel_count ? view->top : a->kernel_count;
    struct printing p = {.out = out, .view = view, .width = USUAL_WIDTH};
    char total[CW_NUMBER_SIZE + CW_UNIT_SIZE];
    uint64_t launches = 0;
    if (view->width)
        p.width = view->width < NARROWEST ? NARROWEST : (int)view->width;
    for (size_t i = 0; i < a->kernel_count; i++)
        launches += a->kernels[i].group->count;
    cw_text_print(out, "%s: %zu kernel%s in %" PRIu64 " launch%s, %s on %s\n\n", view->source, a->kernel_count,
                  a->kernel_count == 1 ? "" : "s", launches, launches == 1 ? "" : "es",
                  time_text(a->groups->total, total), a->rules->chip->name);
    put_most(&p);
    for (size_t i = 0; i < count && p.status == CW_OK; i++)
        put_kernel(&p, &a->kernels[i], i + 1);
    put_end(&p, count);
    return p.status == CW_OK ? CW_OK : cw_error_nomem(err);
}
