#include "eval/gate.h"

#include "eval/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const cw_verdict_names[CW_VERDICT__COUNT] = {"same", "better", "ambiguous", "worse", "incomparable"};

struct judging {
    const struct cw_gate_rules *rules;
    const struct cw_comparison *c;
    const uint32_t *rows; /* of each metric of the rules: that of the comparison, or NO_ROW */
    struct cw_arena *arena;
    struct cw_judgement *to;
    const char **reasons;
    struct cw_gate_finding *findings;
    uint32_t room;
    bool *known; /* whether a value of the rules' metric was found in both captures, or in one */
    bool enough; /* memory */
};
enum { NO_ROW = UINT32_MAX, MOST_REASONS = 8, REASON_NAME = 48 };

/* ---- whether they can be compared ------------------------------------------------------------------------------- */

/* More than a few say nothing more; the verdict stays. */
static void add_reason(struct judging *j, const char *text)
{
    j->enough = j->enough && text;
    j->to->verdict = CW_INCOMPARABLE;
    if (text && j->to->reason_count < MOST_REASONS)
        j->reasons[j->to->reason_count++] = text;
    else
        j->to->reasons_left++;
}

static void check_side(struct judging *j, const char *which, const char *source, const struct cw_side *side)
{
    const struct cw_counter_data *d = side->data;
    const char *name = d->device_count ? cw_device_attribute(&d->devices[0], "name") : NULL;
    name = name ? name : "";
    if (!d->range_count)
        add_reason(j, cw_arena_printf(j->arena, "%s (%s) holds no range", which, source));
    if (strcmp(d->schema.chip, j->rules->chip) != 0)
        add_reason(j, cw_arena_printf(j->arena, "%s (%s) is of the chip %s, the rules are of %s", which, source,
                                      d->schema.chip, j->rules->chip));
    if (*j->rules->device && strcmp(name, j->rules->device) != 0)
        add_reason(j, cw_arena_printf(j->arena, "%s (%s) is of the device %s, the rules are of %s", which, source, name,
                                      j->rules->device));
    if (!d->complete)
        add_reason(j, cw_arena_printf(j->arena, "%s (%s) is incomplete", which, source));
}

static void check_match(struct judging *j, const struct cw_match *m)
{
    const bool gone = m->b == CW_NO_GROUP;
    if (!gone && m->a != CW_NO_GROUP)
        return;
    const char *label = j->to->reason_count < MOST_REASONS ? cw_group_label(gone ? &j->c->a.groups : &j->c->b.groups,
                                                                            gone ? m->a : m->b, REASON_NAME, j->arena)
                                                           : "";
    add_reason(j, label ? cw_arena_printf(j->arena, "%s is in %s alone", label, gone ? "A" : "B") : NULL);
}

static void check_captures(struct judging *j)
{
    const struct cw_comparison *c = j->c;
    check_side(j, "A", c->a_source, &c->a);
    check_side(j, "B", c->b_source, &c->b);
    for (uint32_t i = 0; i < c->difference_count; i++)
        if (c->differences[i].other)
            add_reason(j, cw_arena_printf(j->arena, "%s: %s in A, %s in B", c->differences[i].what, c->differences[i].a,
                                          c->differences[i].b));
    for (uint32_t i = 0; i < c->match_count; i++)
        check_match(j, &c->matches[i]);
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

static bool divides_by_zero(const struct cw_result *means, uint32_t row, uint32_t group)
{
    return means->statuses[(size_t)row * means->row_count + group] == CW_VALUE_ZERO_DENOMINATOR;
}

/* Returns whether a value that is missing was collected, but divides by zero: nothing is to be said of it. */
static bool find_values(const struct judging *j, const struct cw_match *m, uint32_t metric, double *a, double *b)
{
    const struct cw_side *x = &j->c->a, *y = &j->c->b;
    const struct cw_group *g = &x->groups.items[m->a], *h = &y->groups.items[m->b];
    const char *name = j->rules->metrics[metric].name;
    const uint32_t row = j->rows[metric];
    *a = *b = NAN;
    if (strcmp(name, cw_gate_launches) == 0)
        *a = cw_side_launches(x, m->a), *b = cw_side_launches(y, m->b);
    else if (strcmp(name, cw_gate_time) == 0)
        *a = g->timed ? g->mean : NAN, *b = h->timed ? h->mean : NAN;
    else if (row != NO_ROW) {
        *a = x->means.values[(size_t)row * x->means.row_count + m->a];
        *b = y->means.values[(size_t)row * y->means.row_count + m->b];
        return (isnan(*a) && divides_by_zero(&x->means, row, m->a)) ||
               (isnan(*b) && divides_by_zero(&y->means, row, m->b));
    }
    return false;
}

static int label_order(const void *label, const void *kernel)
{
    return strcmp(label, ((const struct cw_gate_kernel *)kernel)->label);
}

/* Of the means of several runs the noise is less than that of two runs. */
static struct cw_gate_kernel limit_in(const struct judging *j, const struct cw_gate_metric *metric, const char *label)
{
    const struct cw_gate_kernel *own = metric->kernel_count ? bsearch(label, metric->kernels, metric->kernel_count,
                                                                      sizeof *metric->kernels, label_order)
                                                            : NULL;
    struct cw_gate_kernel limit = own ? *own : (struct cw_gate_kernel){label, metric->noise, metric->floor};
    limit.noise *= sqrt((1.0 / j->c->a.runs + 1.0 / j->c->b.runs) / 2);
    return limit;
}

/* How far b may be from a. No noise reaches from a number to infinity. */
static double allowed(const struct cw_gate_kernel *limit, double a, double b)
{
    const double rounding = 1e-12; /* of means */
    const double size = fmax(fabs(a), fabs(b));
    if (isinf(size))
        return 0;
    return limit->noise > 0 ? limit->noise * size + limit->floor : rounding * size;
}

void cw_gate_add_slowdown(struct cw_gate_slowdown *slowdown, uint32_t at, const struct cw_gate_kernel *limit, double ns)
{
    const double told = (limit->noise + limit->floor / ns) / (1 - limit->noise);
    if (!(limit->noise < 1 && ns > 0))
        return;
    if (!(told >= slowdown->least))
        slowdown->least = told, slowdown->least_at = at;
    if (!(told <= slowdown->most))
        slowdown->most = told, slowdown->most_at = at;
}

static void add_finding(struct judging *j, const struct cw_gate_finding *finding)
{
    struct cw_judgement *to = j->to;
    if (to->finding_count == j->room) {
        const uint32_t room = j->room < UINT32_MAX / 4 ? 2 * j->room + 64 : 0;
        struct cw_gate_finding *more = room ? cw_arena_alloc(j->arena, room, sizeof *more) : NULL;
        if (!more) {
            j->enough = false;
            return;
        }
        if (j->findings)
            memcpy(more, j->findings, to->finding_count * sizeof *more);
        j->findings = more;
        j->room = room;
    }
    j->findings[to->finding_count++] = *finding;
}

static enum cw_verdict judge_value(struct judging *j, uint32_t match, uint32_t metric, const char *label)
{
    const struct cw_gate_metric *of = &j->rules->metrics[metric];
    struct cw_gate_finding f = {.match = match, .metric = metric, .verdict = CW_INCOMPARABLE};
    const bool undefined = find_values(j, &j->c->matches[match], metric, &f.a, &f.b);
    const struct cw_gate_kernel limit = limit_in(j, of, label);
    j->known[metric] = j->known[metric] || undefined || !isnan(f.a) || !isnan(f.b);
    if (undefined || (isnan(f.a) && isnan(f.b)))
        return CW_SAME;
    if (!isnan(f.a) && !isnan(f.b)) {
        *(limit.noise < 1 ? &j->to->compared : &j->to->unjudged) += 1;
        if (limit.noise >= 1 || f.a == f.b)
            return CW_SAME;
        f.allowed = allowed(&limit, f.a, f.b);
        if (fabs(f.b - f.a) <= f.allowed)
            return CW_SAME;
        f.verdict = of->better == CW_BETTER_UNKNOWN                 ? CW_AMBIGUOUS
                    : (of->better == CW_BETTER_LESS) == (f.b < f.a) ? CW_BETTER
                                                                    : CW_WORSE;
    }
    add_finding(j, &f);
    return f.verdict;
}

/* Time decides where it changed: what is faster is better, unless something else is worse. */
static enum cw_verdict judge_match(struct judging *j, uint32_t match)
{
    const struct cw_group *group = &j->c->a.groups.items[j->c->matches[match].a];
    bool seen[CW_VERDICT__COUNT] = {false};
    enum cw_verdict time = CW_SAME;
    const char *label = cw_group_label(&j->c->a.groups, j->c->matches[match].a, 0, j->arena);
    j->enough = j->enough && label;
    for (uint32_t i = 0; i < j->rules->metric_count && j->enough; i++) {
        const enum cw_verdict verdict = judge_value(j, match, i, label);
        seen[verdict] = true;
        const struct cw_gate_metric *of = &j->rules->metrics[i];
        if (strcmp(of->name, cw_gate_time) != 0)
            continue;
        time = verdict;
        const struct cw_gate_kernel limit = limit_in(j, of, label);
        if (group->timed)
            cw_gate_add_slowdown(&j->to->slowdown, match, &limit, group->mean);
    }
    return seen[CW_INCOMPARABLE]                   ? CW_INCOMPARABLE
           : time == CW_WORSE                      ? CW_WORSE
           : seen[CW_AMBIGUOUS] && !seen[CW_WORSE] ? CW_AMBIGUOUS
           : seen[CW_WORSE] && seen[CW_BETTER]     ? CW_AMBIGUOUS
           : seen[CW_WORSE]                        ? CW_WORSE
           : seen[CW_BETTER]                       ? CW_BETTER
                                                   : CW_SAME;
}

static const uint32_t *find_rows(const struct judging *j)
{
    const struct cw_result *means = &j->c->a.means;
    uint32_t *rows = cw_arena_alloc(j->arena, j->rules->metric_count, sizeof *rows);
    for (uint32_t i = 0, next = 0; rows && i < j->rules->metric_count; i++) {
        /* the comparison has them in the order of the rules */
        const bool found = next < means->metric_count && strcmp(means->names[next], j->rules->metrics[i].name) == 0;
        rows[i] = found ? next++ : NO_ROW;
    }
    return rows;
}

enum cw_status cw_gate_judge(struct cw_judgement *judgement, const struct cw_gate_rules *rules,
                             const struct cw_comparison *c, struct cw_arena *arena, struct cw_error *err)
{
    struct judging j = {.rules = rules, .c = c, .arena = arena, .to = judgement, .enough = true};
    enum cw_verdict *verdicts = cw_arena_alloc(arena, c->match_count, sizeof *verdicts);
    *judgement = (struct cw_judgement){.verdicts = verdicts, .slowdown = {.least = NAN, .most = NAN}};
    j.rows = find_rows(&j);
    j.reasons = cw_arena_alloc(arena, MOST_REASONS, sizeof *j.reasons);
    j.known = cw_arena_alloc(arena, rules->metric_count, sizeof *j.known);
    if (!verdicts || !j.rows || !j.reasons || !j.known)
        return cw_error_nomem(err);
    check_captures(&j);
    for (uint32_t i = 0; i < c->match_count && j.enough; i++) {
        const bool both = c->matches[i].a != CW_NO_GROUP && c->matches[i].b != CW_NO_GROUP;
        verdicts[i] = both ? judge_match(&j, i) : CW_INCOMPARABLE;
        judgement->kernels += both;
        judgement->verdict = verdicts[i] > judgement->verdict ? verdicts[i] : judgement->verdict;
    }
    for (uint32_t i = 0; i < rules->metric_count && c->match_count; i++)
        if (!j.known[i])
            add_reason(&j, cw_arena_printf(arena, "neither has a value of %s", rules->metrics[i].name));
    if (!judgement->compared)
        add_reason(&j, judgement->unjudged ? "no value has a noise below 100 %" : "no value was compared");
    judgement->reasons = j.reasons;
    judgement->findings = j.findings;
    return j.enough ? CW_OK : cw_error_nomem(err);
}
