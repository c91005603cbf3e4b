#include "eval/compare/gate.h"

#include "eval/status.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const cw_verdict_names[CW_VERDICT__COUNT] = {"same", "better", "ambiguous", "worse", "incomparable"};

struct judging {
    const struct cw_gate_rules *rules;
    const struct cw_comparison *c;
    struct cw_gate_time *times[2]; /* of A and B, [group] */
    double need;
    double *shown;        /* [match] */
    bool *lacking;        /* [match] */
    const uint32_t *rows; /* [metric of the rules]: the comparison's metric, or NO_ROW */
    struct cw_arena *arena;
    struct cw_judgement *to;
    const char **reasons;
    struct cw_gate_finding *findings;
    uint32_t room;
    bool *known; /* [metric of the rules]: whether a capture has a value of it */
    bool enough; /* false when out of memory */
};
enum { NO_ROW = UINT32_MAX, MOST_REASONS = 8, REASON_NAME = 48 };

/* ---- whether they can be compared ------------------------------------------------------------------------------- */

/* Further reasons are only counted; the verdict stays. */
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
        add_reason(j, cw_arena_printf(j->arena, "%s (%s) has no range", which, source));
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

/* Numbers of launches say nothing if the captures lost some, and not as many. */
static bool lost_launches(const struct judging *j)
{
    return j->c->a.data->dropped != j->c->b.data->dropped;
}

static void check_captures(struct judging *j)
{
    const struct cw_comparison *c = j->c;
    check_side(j, "A", c->a_source, &c->a);
    check_side(j, "B", c->b_source, &c->b);
    for (uint32_t i = 0; i < c->difference_count; i++)
        if (c->differences[i].other)
            add_reason(j, cw_arena_printf(j->arena, "%s: %s in A, %s in B", c->differences[i].what,
                                          cw_difference_side(c->differences[i].a),
                                          cw_difference_side(c->differences[i].b)));
    for (uint32_t i = 0; i < c->match_count; i++)
        check_match(j, &c->matches[i]);
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

/* A value of a side; time has all three numbers. */
struct value {
    double is;
    int status;
    struct cw_gate_time time;
};

static struct value time_of(const struct cw_side *side, const struct cw_gate_time *times, uint32_t group)
{
    const bool partly = cw_group_is_partly_timed(&side->groups.items[group]);
    return (struct value){times[group].mean, partly ? CW_VALUE_INCOMPLETE : CW_VALUE_OK, times[group]};
}

static struct value value_of(const struct judging *j, int b, uint32_t group, uint32_t metric)
{
    const struct cw_side *side = b ? &j->c->b : &j->c->a;
    const char *name = j->rules->metrics[metric].name;
    const uint32_t row = j->rows[metric];
    if (strcmp(name, cw_gate_launches) == 0)
        return (struct value){.is = cw_side_launches(side, group)};
    if (strcmp(name, cw_gate_time) == 0)
        return time_of(side, j->times[b], group);
    if (row == NO_ROW)
        return (struct value){.is = NAN, .status = CW_VALUE_NOT_COLLECTED};
    const size_t at = (size_t)row * side->means.row_count + group;
    return (struct value){.is = side->means.values[at], .status = side->means.statuses[at]};
}

static int label_order(const void *label, const void *kernel)
{
    return strcmp(label, ((const struct cw_gate_kernel *)kernel)->label);
}

/* The limit of a metric in a kernel; INFINITY if it is not judged. Means of several runs have less noise than two
 * single runs. */
static struct cw_gate_kernel limit_in(const struct judging *j, const struct cw_gate_metric *metric, const char *label)
{
    const struct cw_gate_kernel *own = metric->kernel_count ? bsearch(label, metric->kernels, metric->kernel_count,
                                                                      sizeof *metric->kernels, label_order)
                                                            : NULL;
    struct cw_gate_kernel limit = own ? *own : (struct cw_gate_kernel){label, metric->noise, metric->floor};
    limit.noise = limit.noise < 1 ? limit.noise * sqrt((1.0 / j->c->a.runs + 1.0 / j->c->b.runs) / 2) : INFINITY;
    return limit;
}

/* How far b may be from a. No noise reaches infinity. */
static double allowed(const struct cw_gate_kernel *limit, double a, double b)
{
    const double rounding = 1e-12; /* of computing means */
    const double size = fmax(fabs(a), fabs(b));
    if (isinf(size))
        return 0;
    return fmax(limit->noise * size + limit->floor, rounding * size);
}

/* Whether a time changed: see cw_gate_judge. */
static bool time_changed(const struct cw_gate_kernel *limit, const struct cw_gate_time *a, const struct cw_gate_time *b)
{
    static const double far = 3;
    const double from[] = {a->mean, a->median, a->least}, to[] = {b->mean, b->median, b->least};
    bool all = true;
    for (int i = 0; i < 3; i++)
        all = all && (to[i] > from[i]) == (to[0] > from[0]) && fabs(to[i] - from[i]) > allowed(limit, from[i], to[i]);
    return all || fabs(to[0] - from[0]) > far * allowed(limit, from[0], to[0]);
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
    const struct value a = value_of(j, 0, j->c->matches[match].a, metric);
    const struct value b = value_of(j, 1, j->c->matches[match].b, metric);
    const struct cw_gate_kernel limit = limit_in(j, of, label);
    const bool time = strcmp(of->name, cw_gate_time) == 0;
    struct cw_gate_finding f = {match, metric, a.is, b.is, 0, a.status, b.status, CW_INCOMPARABLE};
    const bool zero = (isnan(a.is) && a.status == CW_VALUE_ZERO_DENOMINATOR) ||
                      (isnan(b.is) && b.status == CW_VALUE_ZERO_DENOMINATOR);
    const bool implausible = a.status == CW_VALUE_IMPLAUSIBLE || b.status == CW_VALUE_IMPLAUSIBLE;
    const bool neither = isnan(a.is) && isnan(b.is), both = !isnan(a.is) && !isnan(b.is);
    j->known[metric] = j->known[metric] || zero || !neither;
    if (!cw_value_is_lost(a.status) && !cw_value_is_lost(b.status)) {
        if (zero || neither || (limit.noise >= 1 && a.is == 0 && b.is == 0))
            return CW_SAME;
        if (both && (implausible || limit.noise >= 1)) {
            j->to->unjudged++;
            return CW_SAME;
        }
        j->to->compared += both;
        f.allowed = both ? allowed(&limit, a.is, b.is) : 0;
        if (both && !(time ? time_changed(&limit, &a.time, &b.time) : fabs(b.is - a.is) > f.allowed))
            return CW_SAME;
        if (both && !(strcmp(of->name, cw_gate_launches) == 0 && lost_launches(j)))
            f.verdict = of->better == CW_BETTER_UNKNOWN                   ? CW_AMBIGUOUS
                        : (of->better == CW_BETTER_LESS) == (b.is < a.is) ? CW_BETTER
                                                                          : CW_WORSE;
    }
    add_finding(j, &f);
    return f.verdict;
}

/* A change of time decides: a faster kernel is better, unless another value is worse. */
static enum cw_verdict judge_match(struct judging *j, uint32_t match)
{
    bool seen[CW_VERDICT__COUNT] = {false};
    enum cw_verdict time = CW_SAME;
    const uint32_t group = j->c->matches[match].a;
    const char *label = cw_group_label(&j->c->a.groups, group, 0, j->arena);
    j->enough = j->enough && label;
    for (uint32_t i = 0; i < j->rules->metric_count && j->enough; i++) {
        const enum cw_verdict verdict = judge_value(j, match, i, label);
        seen[verdict] = true;
        const struct cw_gate_metric *of = &j->rules->metrics[i];
        if (strcmp(of->name, cw_gate_time) != 0)
            continue;
        const struct cw_gate_kernel limit = limit_in(j, of, label);
        time = verdict;
        j->shown[match] = cw_gate_shown_of(&limit, j->times[0][group].mean, 0).slowdown;
    }
    const bool fine = !(seen[CW_INCOMPARABLE] || seen[CW_WORSE] || seen[CW_AMBIGUOUS] || time == CW_BETTER);
    const bool needed = j->need > 0 && fine && !(j->shown[match] <= j->need);
    j->lacking[match] = needed;
    j->to->needed += needed;
    return seen[CW_INCOMPARABLE]                   ? CW_INCOMPARABLE
           : time == CW_WORSE                      ? CW_WORSE
           : seen[CW_AMBIGUOUS] && !seen[CW_WORSE] ? CW_AMBIGUOUS
           : seen[CW_WORSE] && seen[CW_BETTER]     ? CW_AMBIGUOUS
           : seen[CW_WORSE]                        ? CW_WORSE
           : needed                                ? CW_AMBIGUOUS
           : seen[CW_BETTER]                       ? CW_BETTER
                                                   : CW_SAME;
}

/* Finds the slow-downs that would show over all matches, by their time in A. */
static bool find_slowdown(struct judging *j)
{
    const struct cw_comparison *c = j->c;
    struct cw_gate_shown *all = cw_arena_alloc(j->arena, c->match_count, sizeof *all);
    for (uint32_t i = 0; all && i < c->match_count; i++) {
        const uint32_t group = c->matches[i].a;
        all[i] = (struct cw_gate_shown){j->shown[i], group != CW_NO_GROUP ? c->a.groups.items[group].total : 0};
    }
    if (all)
        j->to->slowdown = cw_gate_slowdown_of(all, c->match_count);
    return all;
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

static enum cw_status make_room(struct judging *j, enum cw_verdict **verdicts, struct cw_error *err)
{
    const uint32_t matches = j->c->match_count;
    *verdicts = cw_arena_alloc(j->arena, matches, sizeof **verdicts);
    j->shown = cw_arena_alloc(j->arena, matches, sizeof *j->shown);
    j->lacking = cw_arena_alloc(j->arena, matches, sizeof *j->lacking);
    j->rows = find_rows(j);
    j->reasons = cw_arena_alloc(j->arena, MOST_REASONS, sizeof *j->reasons);
    j->known = cw_arena_alloc(j->arena, j->rules->metric_count, sizeof *j->known);
    if (!*verdicts || !j->shown || !j->lacking || !j->rows || !j->reasons || !j->known)
        return cw_error_nomem(err);
    for (uint32_t i = 0; i < matches; i++)
        j->shown[i] = NAN;
    enum cw_status status = cw_gate_times_make(&j->times[0], &j->c->a, j->arena, err);
    return status == CW_OK ? cw_gate_times_make(&j->times[1], &j->c->b, j->arena, err) : status;
}

enum cw_status cw_gate_judge(struct cw_judgement *judgement, const struct cw_gate_rules *rules,
                             const struct cw_comparison *c, double need, struct cw_arena *arena, struct cw_error *err)
{
    struct judging j = {.rules = rules, .c = c, .need = need, .arena = arena, .to = judgement, .enough = true};
    enum cw_verdict *verdicts;
    *judgement = (struct cw_judgement){
        .rules = rules, .comparison = c, .need = need, .slowdown = {.least = NAN, .half = NAN, .most = NAN}};
    enum cw_status status = make_room(&j, &verdicts, err);
    if (status != CW_OK)
        return status;
    judgement->verdicts = verdicts;
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
    for (uint32_t i = 0; i < judgement->finding_count && lost_launches(&j); i++)
        if (strcmp(rules->metrics[j.findings[i].metric].name, cw_gate_launches) == 0) {
            add_reason(&j,
                       cw_arena_printf(arena, "launches that were not collected: %" PRIu64 " in A, %" PRIu64 " in B",
                                       c->a.data->dropped, c->b.data->dropped));
            break;
        }
    if (!judgement->compared)
        add_reason(&j, judgement->unjudged ? "no value has a noise below 100 %" : "no value was compared");
    judgement->reasons = j.reasons;
    judgement->findings = j.findings;
    judgement->shown = j.shown;
    judgement->lacking = j.lacking;
    return j.enough && find_slowdown(&j) ? CW_OK : cw_error_nomem(err);
}
