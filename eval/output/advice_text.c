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

/* A family with this part of the whole time stands at the top. */
static const double LARGE_FAMILY = 0.1;

enum {
    NARROWEST = 60,
    USUAL_WIDTH = 100,
    INDENT = 4,
    TOLD = 5,
    EVIDENCE = 6,
    GAIN_COLUMNS = 8,
    MOST_COLUMNS = 45,
    MOST_PARTS = 5,
    OVERVIEW = 3,
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
    bool mixed;                /* a value that mixes passes was shown */
    bool multiplexed;          /* a multiplexed value was shown */
    bool unchecked;            /* the rules that lack metrics were named */
    const char *value;         /* the first name shown that is no metric, or NULL */
    const struct cw_group *of; /* its group */
    enum cw_status status;
};

static void bold(const struct printing *p, bool on)
{
    if (p->view->bold)
        fputs(on ? "\033[1m" : "\033[0m", p->out);
}

/* Prints a paragraph from `column` on, where the line stands; further lines begin there. */
static void put_wrapped(const struct printing *p, int column, const char *text)
{
    cw_text_put_words(p->out, text, strlen(text), (unsigned)column, (unsigned)p->width);
    putc('\n', p->out);
}

/* Prints a paragraph on lines of its own. */
static void put_line(struct printing *p, int column, struct cw_writer *line)
{
    cw_write_bytes(line, "", 1);
    if (line->status == CW_OK) {
        cw_text_print(p->out, "%*s", column, "");
        put_wrapped(p, column, (const char *)line->data);
    } else {
        p->status = CW_ERR_NOMEM;
    }
    cw_writer_free(line);
}

static void put_name(const struct printing *p, const char *name, int width, bool filled)
{
    char shown[CW_SHORT_SIZE];
    cw_text_print(p->out, "%-*s", filled ? width : 0, cw_shorten(name, (size_t)width, shown));
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

static void write_confidence(struct cw_writer *line, enum cw_confidence confidence, const char *doubt)
{
    cw_write_format(line, " (confidence: %s%s%s)", cw_confidence_text(confidence), *doubt ? ", " : "", doubt);
}

static void put_limiter(struct printing *p, const struct cw_advice_kernel *k)
{
    struct cw_writer line;
    cw_writer_init(&line);
    cw_write_format(&line, k->step_count       ? "limited by "
                           : k->limits_checked ? "limited by no unit and no stall that stands out"
                                               : "limit not known, for lack of metrics in the capture");
    for (size_t i = 0; i < k->step_count; i++) {
        cw_write_format(&line, "%s%s", i ? " > " : "", k->steps[i].node->id);
        if (isfinite(k->steps[i].value))
            cw_write_format(&line, " %.0f %%", 100 * k->steps[i].value);
    }
    if (k->step_count) {
        cw_write_format(&line, ": %s", k->steps[k->step_count - 1].node->title);
        write_confidence(&line, k->confidence, k->doubt);
    }
    put_line(p, INDENT, &line);
}

/* Columns of " (zero denominator)" behind a value. Marks, and statuses that the end explains for all, take none. */
static int status_columns(const struct cw_advice_value *v)
{
    const bool told = v->status > CW_VALUE_MULTIPLEXED;
    return told ? (int)strlen(cw_value_status_text((enum cw_value_status)v->status)) + 3 : 0;
}

/* A value, with its unit if both fit into `room` columns, and the mark of a status that is not "ok". */
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
        if (text.status != CW_OK)
            p->status = CW_ERR_NOMEM;
        else if (fits)
            cw_text_print(p->out, "%s", (const char *)text.data);
        cw_writer_free(&text);
        shown.unit = "";
        if (fits)
            break;
    }
    if (status_columns(v))
        cw_text_print(p->out, " (%s)", cw_value_status_text((enum cw_value_status)v->status));
    putc('\n', p->out);
    p->mixed = p->mixed || mixed;
    p->multiplexed = p->multiplexed || v->status == CW_VALUE_MULTIPLEXED;
}

/* Whether a value stands beside its name, or below it. */
static bool has_room(struct printing *p, const struct cw_advice_value *v, int column)
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
static void put_title(struct printing *p, const struct cw_advice_finding *f, int column)
{
    struct cw_writer line;
    cw_writer_init(&line);
    cw_write_format(&line, "%s: %s", f->rule->id, f->rule->title);
    if (f->confidence != CW_CONFIDENCE_HIGH)
        write_confidence(&line, f->confidence, f->doubt);
    cw_write_bytes(&line, "", 1);
    if (line.status == CW_OK)
        put_wrapped(p, column, (const char *)line.data);
    else
        p->status = CW_ERR_NOMEM;
    cw_writer_free(&line);
}

/* The title of a finding, its sentence, and the advice. */
static void put_advice(struct printing *p, const struct cw_advice_finding *f, double part, const char *text)
{
    const int column = INDENT + GAIN_COLUMNS;
    char gain[16] = "";
    if (!f->rule->note)
        snprintf(gain, sizeof gain, 100 * part < 0.5 ? "-%.1f %%" : "-%.0f %%", 100 * part);
    bold(p, true);
    cw_text_print(p->out, "%*s  ", column - 2, gain);
    bold(p, false);
    put_title(p, f, column);
    cw_text_print(p->out, "%*s", column, "");
    put_wrapped(p, column, text);
    cw_text_print(p->out, "%*sTo do: ", column, "");
    put_wrapped(p, column + 7, f->rule->fix);
}

static void put_finding(struct printing *p, const struct cw_advice_finding *f, const struct cw_group *g)
{
    const char *text = cw_advice_text(f, p->view->arena);
    if (!text) {
        p->status = CW_ERR_NOMEM;
        return;
    }
    put_advice(p, f, f->gain, text);
    put_evidence(p, f, INDENT + GAIN_COLUMNS);
    for (size_t i = 0; i < f->evidence_count && i < EVIDENCE && !p->value; i++)
        if (!strstr(f->evidence[i].name, "__")) {
            p->value = f->evidence[i].name;
            p->of = g;
        }
}

const char *cw_advice_ranges(const struct cw_group *group, char *text, size_t size)
{
    size_t used = 0;
    for (uint32_t i = 0, last; i < group->count; i = last + 1) {
        for (last = i; last + 1 < group->count && group->ranges[last + 1] == group->ranges[last] + 1;)
            last++;
        used += (size_t)snprintf(text + used, size - used, "%s%" PRIu32, i ? "," : "", group->ranges[i]);
        if (used < size && last > i)
            used += (size_t)snprintf(text + used, size - used, "-%" PRIu32, group->ranges[last]);
        if (used >= size)
            return NULL;
    }
    return text;
}

/* "#12", the first launch of a kernel, for --range. */
static const char *number_of(const struct cw_group *group, char text[16])
{
    snprintf(text, 16, "#%" PRIu32, group->ranges[0]);
    return text;
}

/* Number and name, the time, and its share. */
static void put_heading(const struct printing *p, const char *number, const struct cw_group *g)
{
    char total[CW_NUMBER_SIZE + CW_UNIT_SIZE];
    const double share = 100 * cw_group_share(p->view->advice->groups, g);
    const int before = *number ? (int)fmax(INDENT, (double)strlen(number) + 1) : 0;
    putc('\n', p->out);
    bold(p, true);
    if (*number)
        cw_text_print(p->out, "%*s ", INDENT - 1, number);
    put_name(p, g->name, p->width - 20 - before, true);
    cw_text_print(p->out, " %10s", time_text(g->total, total));
    if (isfinite(share))
        cw_text_print(p->out, " %6.1f %%", share);
    putc('\n', p->out);
    bold(p, false);
}

static void write_size(struct cw_writer *line, const char *what, const uint32_t size[3])
{
    if (!size[0])
        return;
    cw_write_format(line, ", %s %" PRIu32, what, size[0]);
    for (int i = 1; i < 3; i++)
        if (size[i] > 1 || (i == 1 && size[2] > 1))
            cw_write_format(line, " x %" PRIu32, size[i]);
}

/* "4 launches of 43.2 us +- 3 %, grid 320, block 512, --range 101,105,109,113" */
static void put_launches(struct printing *p, const struct cw_advice_kernel *k)
{
    enum { LONGEST = NARROWEST - INDENT - 9 };
    const struct cw_group *g = k->group;
    char mean[CW_NUMBER_SIZE + CW_UNIT_SIZE], ranges[LONGEST];
    struct cw_writer line;
    cw_writer_init(&line);
    cw_write_format(&line, "%" PRIu32 " %s%s", g->count, *k->launch->kernel ? "launch" : "range",
                    g->count == 1        ? ""
                    : *k->launch->kernel ? "es"
                                         : "s");
    if (g->timed > 1)
        cw_write_format(&line, " of %s", time_text(g->mean, mean));
    if (g->timed > 1 && isfinite(cw_group_spread(g)))
        cw_write_format(&line, " +- %.0f %%", 100 * cw_group_spread(g));
    write_size(&line, "grid", k->launch->grid);
    write_size(&line, "block", k->launch->block);
    if (g->count > 1 && cw_advice_ranges(g, ranges, sizeof ranges))
        cw_write_format(&line, ", --range %s", ranges);
    put_line(p, INDENT, &line);
}

static void put_kernel(struct printing *p, const struct cw_advice_kernel *k)
{
    char number[16];
    put_heading(p, number_of(k->group, number), k->group);
    put_launches(p, k);
    if (p->view->advice->rules->limiter_count)
        put_limiter(p, k);
    for (size_t i = 0; i < k->finding_count && p->status == CW_OK; i++)
        put_finding(p, &k->findings[i], k->group);
}

/* ---- a group of kernels ----------------------------------------------------------------------------------------- */

static void write_plural(struct cw_writer *line, uint64_t count, const char *what, const char *end)
{
    cw_write_format(line, "%" PRIu64 " %s%s", count, what, count == 1 ? "" : end);
}

/* "7 kernels in 14 shapes, 24 launches" */
static void write_counts(struct cw_writer *line, const struct cw_group *g)
{
    write_plural(line, g->kernels, "kernel", "s");
    if (g->shapes != g->kernels)
        cw_write_format(line, " in %" PRIu32 " shapes", g->shapes);
    cw_write_format(line, ", ");
    write_plural(line, g->count, "launch", "es");
}

/* Which kernels have a finding: "#91 unrolled_elementwise_kernel<..> would take 40 % less, the most of 2 kernels with
 * 100 % of the time." */
static void put_part(struct printing *p, const struct cw_advice_part *part)
{
    const struct cw_advice_kernel *k = part->kernel;
    const bool alone = part->kernel_count == 1, note = part->finding->rule->note;
    char number[16], name[CW_SHORT_SIZE];
    struct cw_writer line;
    cw_writer_init(&line);
    cw_write_format(&line, "%s %s", number_of(k->group, number),
                    cw_shorten(k->group->name, (size_t)p->width / 2, name));
    if (!note)
        cw_write_format(&line, " would take %.0f %% less", 100 * part->finding->gain);
    if (!alone)
        cw_write_format(&line, "%s %s of %" PRIu32 " kernels", note ? " is" : ",", note ? "the longest" : "the most",
                        part->kernel_count);
    if (part->share < 0.995 || !alone)
        cw_write_format(&line, "%s with %.0f %% of the time", alone ? "," : "", 100 * part->share);
    cw_write_bytes(&line, ".", 2);
    if (line.status == CW_OK)
        put_advice(p, part->finding, part->gain, (const char *)line.data);
    else
        p->status = CW_ERR_NOMEM;
    cw_writer_free(&line);
}

static void put_group(struct printing *p, const struct cw_advice_group *g)
{
    struct cw_writer line;
    put_heading(p, "", g->group);
    cw_writer_init(&line);
    write_counts(&line, g->group);
    put_line(p, INDENT, &line);
    if (g->limited_by) {
        const struct cw_advice_kernel *k = g->limited_by;
        cw_writer_init(&line);
        cw_write_format(&line, "limited by %s", k->limiter);
        if (g->limited < 0.995)
            cw_write_format(&line, " for %.0f %% of its time", 100 * g->limited);
        cw_write_format(&line, ": %s", k->steps[k->step_count - 1].node->title);
        write_confidence(&line, k->confidence, k->doubt);
        put_line(p, INDENT, &line);
    }
    for (size_t i = 0; i < g->part_count && i < MOST_PARTS && p->status == CW_OK; i++)
        put_part(p, &g->parts[i]);
}

/* ---- all of it -------------------------------------------------------------------------------------------------- */

struct told { /* a rule, and the time that it would save */
    const char *name, *rule;
    const struct cw_group *kernel; /* NULL for a group */
    double saved;                  /* ns */
};

static void keep_told(struct told *most, size_t *count, struct told one)
{
    size_t at = *count < TOLD ? (*count)++ : TOLD;
    while (at && most[at - 1].saved < one.saved) {
        if (at < TOLD)
            most[at] = most[at - 1];
        at--;
    }
    if (at < TOLD)
        most[at] = one;
}

/* The findings that save most, the first one of each kernel: they do not add up. */
static size_t find_most(const struct cw_advice *a, struct told *most)
{
    size_t count = 0;
    for (size_t i = 0; i < a->kernel_count; i++) {
        const struct cw_advice_kernel *k = &a->kernels[i];
        const struct cw_advice_finding *first = cw_advice_first(k);
        if (!first || !(k->group->total > 0))
            continue;
        keep_told(most, &count,
                  (struct told){k->group->name, first->rule->id, k->group, first->gain * k->group->total});
    }
    return count;
}

static size_t find_most_of_groups(const struct cw_advice_groups *a, struct told *most)
{
    size_t count = 0;
    for (uint32_t i = 0; i < a->groups->count; i++) {
        const struct cw_advice_group *g = &a->items[i];
        for (size_t k = 0; k < g->part_count && g->parts[k].gain > 0; k++)
            keep_told(
                most, &count,
                (struct told){g->group->name, g->parts[k].finding->rule->id, NULL, g->parts[k].gain * g->group->total});
    }
    return count;
}

static void put_rules(struct printing *p, const char *before, const struct cw_rule *const *rules, size_t count,
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
    put_line(p, 0, &line);
}

/* Names once the rules that lack metrics: for all kernels, and for some. */
static void put_unchecked(struct printing *p)
{
    const struct cw_advice *a = p->view->advice;
    char after[200];
    if (p->unchecked)
        return;
    cw_text_format(after, sizeof after,
                   ". A plan for all of them: counterworks plan --chip %.40s --for-advice -o plan.cwc",
                   a->rules->chip->name);
    put_rules(p, "Not checked, for lack of metrics in the capture:", a->unchecked, a->unchecked_count, after);
    put_rules(p, "Not checked of some kernels:", a->partly, a->partly_count, "");
    p->unchecked = a->unchecked_count + a->partly_count != 0;
}

static void put_most(struct printing *p)
{
    const struct cw_advice *a = p->view->advice;
    struct told most[TOLD];
    const size_t count = p->view->by_groups ? find_most_of_groups(p->view->groups, most) : find_most(a, most);
    char saved[CW_NUMBER_SIZE + CW_UNIT_SIZE], number[16] = "";
    if (!count) {
        const size_t checked = a->rules->rule_count - a->absent_count - a->unchecked_count;
        put_unchecked(p);
        if (p->unchecked && checked)
            cw_text_print(p->out, "The other %zu rule%s found nothing that would save time.\n", checked,
                          checked == 1 ? "" : "s");
        else if (!p->unchecked)
            fputs("Nothing was found that would save time.\n", p->out);
        return;
    }
    fputs("Largest savings of the whole time:\n", p->out);
    for (size_t i = 0; i < count; i++) {
        const char *before = most[i].kernel ? number_of(most[i].kernel, number) : "";
        const int wide = *before ? (int)fmax(5, (double)strlen(before)) + 1 : 0;
        cw_text_print(p->out, "  %5.1f %% %9s  %-22s ", 100 * most[i].saved / a->groups->whole,
                      time_text(most[i].saved, saved), most[i].rule);
        if (wide)
            cw_text_print(p->out, "%*s ", wide - 1, before);
        put_name(p, most[i].name, p->width - MOST_COLUMNS - wide, false);
        putc('\n', p->out);
    }
}

/* The whole program: families of several kernels with much of its time, and short launches. */
static void put_overview(struct printing *p)
{
    const struct cw_advice_groups *a = p->view->groups;
    const struct cw_short_launches brief = cw_groups_find_short(p->view->advice->groups);
    struct cw_writer line;
    int told = 0;
    for (uint32_t i = 0; !p->view->by_groups && !p->view->quiet && i < a->groups->count && told < OVERVIEW; i++) {
        const struct cw_group *g = &a->groups->items[i];
        const double share = cw_group_share(a->groups, g);
        if (g->shapes < 2 || !(share >= LARGE_FAMILY))
            continue;
        cw_writer_init(&line);
        cw_write_format(&line, "%s: ", g->name);
        write_counts(&line, g);
        cw_write_format(&line, ", %.1f %% of the time", 100 * share);
        const char *limiter = cw_advice_limiter(&a->items[i]);
        if (*limiter && strcmp(limiter, CW_LIMITS_MIXED) != 0)
            cw_write_format(&line, ", limited by %s", limiter);
        put_line(p, 0, &line);
        told++;
    }
    if (told)
        fputs("Kernels of one name are added up by --by family.\n", p->out);
    if (brief.many) {
        cw_writer_init(&line);
        cw_write_format(&line,
                        "%" PRIu64 " of %" PRIu64 " launches take less than 10 us, %.1f %% of the time. "
                        "The program may need longer to launch each than the GPU to run it.",
                        brief.count, brief.launches, 100 * brief.share);
        put_line(p, 0, &line);
        put_wrapped(p, 0,
                    "To do: Launch fewer kernels: CUDA graphs; in PyTorch, torch.compile, and fused or foreach "
                    "optimizers.");
    }
    if (told || brief.many)
        putc('\n', p->out);
}

/* The kind of the rows: "kernel", "families". */
static const char *shown_name(const struct cw_advice_view *view, bool many)
{
    static const char *const names[][2] = {{"kernel", "kernels"},         {"family", "families"}, {"range", "ranges"},
                                           {"NVTX range", "NVTX ranges"}, {"device", "devices"},  {"rank", "ranks"},
                                           {"range", "ranges"},           {"stream", "streams"}};
    _Static_assert(sizeof names / sizeof *names == CW_BY__COUNT, "each grouping has a name");
    return names[view->by_groups ? view->groups->groups->by : view->advice->groups->by][many];
}

/* Counts the rows that are not shown, and their time. */
static void put_rest(struct printing *p, size_t shown, size_t count)
{
    const struct cw_advice *a = p->view->advice;
    double rest = 0;
    for (size_t i = shown; i < count; i++) {
        const struct cw_group *g =
            p->view->by_groups ? p->view->groups->items[i].group : a->kernels[a->longest[i]].group;
        rest += g->timed ? g->total : 0;
    }
    const double percent = a->groups->whole > 0 ? 100 * rest / a->groups->whole : NAN;
    const bool many = count - shown > 1;
    cw_text_print(p->out, "%zu more %s", count - shown, shown_name(p->view, many));
    if (isfinite(percent))
        cw_text_print(p->out, " %s %.1f %% of the time", many ? "have" : "has", percent);
    cw_text_print(p->out, ": --top %zu shows %s.\n", count, many ? "them" : "it");
}

static void put_end(struct printing *p, size_t shown, size_t count)
{
    const struct cw_advice *a = p->view->advice;
    const bool hints = !p->view->quiet;
    if (hints || (!p->unchecked && a->unchecked_count + a->partly_count) || a->limiters_unchecked || a->absent_count ||
        p->view->samples)
        putc('\n', p->out);
    if (shown < count && hints)
        put_rest(p, shown, count);
    if (a->kernel_count && hints)
        put_wrapped(p, 0,
                    "#N is the first launch of a kernel: --range N takes it, --kernel NAME all launches of that name.");
    put_unchecked(p);
    if (a->limiters_unchecked)
        put_wrapped(p, 0, "Some metrics to find limiters are missing: --for-advice has them.");
    put_rules(p, "Not for this chip:", a->absent, a->absent_count, "");
    if (p->value && hints) {
        char *rules = p->view->rules ? cw_text_quote(p->view->rules) : NULL;
        cw_text_print(
            p->out, "Names without __ are values of the rules:\n  counterworks explain %s %s --range %" PRIu32 "%s%s\n",
            p->view->words, p->value, p->of->ranges[0], rules ? " --rules " : "", rules ? rules : "");
        free(rules);
    }
    if (p->mixed && hints)
        fputs("~ mixed passes: its counters come from different passes\n", p->out);
    if (p->multiplexed && hints)
        fputs("Values are multiplexed: means of launches that were counted in one pass each.\n", p->out);
    if (p->view->samples)
        cw_text_print(p->out, "%s has samples of %zu of the %zu kernel%s.\n", p->view->samples, a->sampled,
                      a->kernel_count, a->kernel_count == 1 ? "" : "s");
}

/* "transformer.cwd: 38 kernels in 118 launches, 2.64 ms on GH100", "..: 7 kernels in 14 shapes, 24 launches, .." */
static void put_head(struct printing *p)
{
    const struct cw_advice *a = p->view->advice;
    char total[CW_NUMBER_SIZE + CW_UNIT_SIZE];
    uint64_t launches = 0;
    for (size_t i = 0; i < a->kernel_count; i++)
        launches += a->kernels[i].group->count;
    cw_text_print(p->out, "%s: ", p->view->source);
    if (p->view->by_groups) {
        const uint32_t groups = p->view->groups->groups->count;
        cw_text_print(p->out, "%" PRIu32 " %s with ", groups, shown_name(p->view, groups != 1));
    }
    const uint32_t kernels = a->groups->kernels, shapes = a->groups->shapes;
    if (a->groups->by != CW_BY_RANGE)
        cw_text_print(p->out, "%" PRIu32 " kernel%s in ", kernels, kernels == 1 ? "" : "s");
    if (a->groups->by != CW_BY_RANGE && shapes != kernels)
        cw_text_print(p->out, "%" PRIu32 " shapes, ", shapes);
    cw_text_print(p->out, "%" PRIu64 " launch%s, %s", launches, launches == 1 ? "" : "es",
                  time_text(a->groups->total, total));
    if (cw_groups_are_part(a->groups))
        cw_text_print(p->out, " of %s", time_text(a->groups->whole, total));
    cw_text_print(p->out, " on %s", a->rules->chip->name);
    if (cw_groups_are_timed(a->groups))
        cw_terminal_put_timed(a->groups, p->out);
    fputs("\n\n", p->out);
}

enum cw_status cw_advice_print(FILE *out, const void *content, struct cw_error *err)
{
    const struct cw_advice_view *view = content;
    const struct cw_advice *a = view->advice;
    const size_t all = view->by_groups ? view->groups->groups->count : a->kernel_count;
    const size_t count = view->top && view->top < all ? view->top : all;
    struct printing p = {.out = out, .view = view, .width = USUAL_WIDTH};
    if (view->width)
        p.width = view->width < NARROWEST ? NARROWEST : (int)view->width;
    if (!view->quiet)
        put_head(&p);
    put_overview(&p);
    put_most(&p);
    if (view->by_groups) {
        putc('\n', out);
        put_wrapped(&p, 0,
                    "The gain of a rule for a group is the sum of gain x time over its kernels, divided by its time.");
    }
    for (size_t i = 0; i < count && p.status == CW_OK; i++)
        if (view->by_groups)
            put_group(&p, &view->groups->items[i]);
        else
            put_kernel(&p, &a->kernels[a->longest[i]]);
    put_end(&p, count, all);
    return p.status == CW_OK ? CW_OK : cw_error_nomem(err);
}
