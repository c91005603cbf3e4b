#include "agent/common/period.h"

#include <stdlib.h>
#include <string.h>

enum {
    MARKS = 4096, /* limit on distinct launches, in sets of SET; both are powers of two */
    SET = 4,
    BINS = 16,     /* kinds of launches in a stretch, by their numbers */
    TOLERANCE = 8, /* similar stretches differ in at most one part in so many */
    GROWN = 2,     /* a stretch of other shapes differs from the model in at most one part in so many */
    ENOUGH = 3,    /* least number of similar stretches for a period */
    LONGER = 8,    /* a longer period exceeds the other by at least one part in so many */
    COVERED = 4,   /* at most one part in so many of the launches since a mark's first stretch lies in differing ones */
    STALE = 2,     /* a mark that was not met for so many periods counts no more */
    AFTER_GAPS = 2,  /* factor of the patience if differing stretches came in between */
    PAUSE = 4,       /* a stretch that takes so many times as long as the one before holds a pause of the program */
    OFTEN = 9,       /* least number of similar stretches to be often; one in so many may differ */
    LEAST_LOOP = 2,  /* binary logarithm of the least length of a loop within a step */
    NOT_LONGEST = 8, /* factor of the patience if another mark has longer stretches, which have not come often enough */
};

/* A stretch without a loop in it may be the innermost loop itself: layers of a network come 12 to 96 times, and take 5
 * to 300 ms together. One with a loop in it may be a part of a step, of which there are up to 8 as a rule. */
static const uint64_t patience_ns = 500000000, with_loop_ns = 2000000000, often_ns = 100000000;

struct bins {
    uint32_t of[BINS];
};

struct mark {
    uint64_t launch, met;     /* met: number of times; 0: the place is free */
    uint64_t last, last_ns;   /* the last time: its number among all launches */
    struct bins bins_then;    /* all launches before the last time */
    struct bins model;        /* the last similar stretch */
    uint64_t length;          /* launches of the model; 0: there is none */
    uint64_t first, first_ns; /* start of the first similar stretch */
    uint64_t alike, others;   /* similar and differing stretches since then */
    uint64_t covered;         /* launches in the similar ones */
    uint64_t covered_ns;
    uint64_t ns, even_ns; /* time of the last similar stretch; of all, without pauses of the program in between */
};

struct cw_period {
    uint64_t all, first_ns, last_ns;
    struct bins bins; /* of all launches */
    struct mark marks[MARKS];
    const struct mark *longest; /* the best mark so far */
    uint64_t loops[64];         /* by logarithm of a loop's length: number of launches when one last repeated */
    struct mark taken;          /* copy of the mark of the period, once found */
    bool found;
};

struct cw_period *cw_period_create(void)
{
    return calloc(1, sizeof(struct cw_period));
}

void cw_period_destroy(struct cw_period *p)
{
    free(p);
}

static uint64_t scatter(uint64_t launch)
{
    launch *= UINT64_C(0x9e3779b97f4a7c15);
    return launch ^ launch >> 29;
}

/* The mark of a launch. In a full set it replaces the mark that was not met for longest. */
static struct mark *find(struct cw_period *p, uint64_t launch)
{
    struct mark *set = &p->marks[(scatter(launch) >> 32) % (MARKS / SET) * SET], *oldest = set;
    for (struct mark *m = set; m < set + SET; m++) {
        if (m->met && m->launch == launch)
            return m;
        if (oldest->met && (!m->met || m->last < oldest->last))
            oldest = m;
    }
    if (p->longest == oldest)
        p->longest = NULL;
    *oldest = (struct mark){.launch = launch};
    return oldest;
}

/* ---- stretches -------------------------------------------------------------------------------------------------- */

static struct bins difference(const struct bins *now, const struct bins *then)
{
    struct bins between;
    for (int i = 0; i < BINS; i++)
        between.of[i] = now->of[i] - then->of[i];
    return between;
}

static uint64_t distance(const struct bins *a, const struct bins *b)
{
    uint64_t sum = 0;
    for (int i = 0; i < BINS; i++)
        sum += a->of[i] > b->of[i] ? a->of[i] - b->of[i] : b->of[i] - a->of[i];
    return sum;
}

static bool is_alike(const struct mark *m, const struct bins *stretch, uint64_t length)
{
    const uint64_t longer = m->length > length ? m->length : length;
    return m->length && distance(&m->model, stretch) <= longer / TOLERANCE;
}

/* Makes the stretch the first of its kind. */
static void begin(struct mark *m, const struct bins *stretch, uint64_t length, uint64_t ns)
{
    m->model = *stretch;
    m->length = length;
    m->first = m->last;
    m->first_ns = m->last_ns;
    m->alike = 1;
    m->others = 0;
    m->covered = length;
    m->covered_ns = m->ns = ns;
    m->even_ns = 0;
}

static void take_alike(struct mark *m, const struct bins *stretch, uint64_t length, uint64_t ns)
{
    m->model = *stretch;
    m->length = length;
    m->alike++;
    m->covered += length;
    m->covered_ns += ns;
    m->even_ns += ns < PAUSE * m->ns ? ns : PAUSE * m->ns;
    m->ns = ns;
}

/* Takes a differing stretch. One of about the same length and content becomes the model: shapes have grown. */
static void take_other(struct mark *m, const struct bins *stretch, uint64_t length)
{
    const uint64_t longer = m->length > length ? m->length : length, shorter = m->length + length - longer;
    m->others++;
    if (longer - shorter > longer / TOLERANCE || distance(&m->model, stretch) > longer / GROWN)
        return;
    m->model = *stretch;
    m->length = length;
}

/* Tolerates a differing stretch while most launches lie in similar ones. */
static void take_stretch(struct mark *m, const struct bins *stretch, uint64_t length, uint64_t ns)
{
    const uint64_t since = m->last + length - m->first;
    if (is_alike(m, stretch, length))
        take_alike(m, stretch, length, ns);
    else if (m->length && m->alike >= ENOUGH && since - m->covered <= since / COVERED)
        take_other(m, stretch, length);
    else
        begin(m, stretch, length, ns);
}

/* ---- the longest ------------------------------------------------------------------------------------------------ */

static bool is_stale(const struct cw_period *p, const struct mark *m)
{
    return p->all - m->last > STALE * m->length;
}

/* Prefers the longest period; among about equal ones the first mark stays. */
static void nominate(struct cw_period *p, const struct mark *m)
{
    if (p->longest && (is_stale(p, p->longest) || p->longest->alike + 1 < ENOUGH))
        p->longest = NULL;
    if (m->alike + 1 >= ENOUGH && (!p->longest || m->length > p->longest->length + p->longest->length / LONGER))
        p->longest = m;
}

static int logarithm(uint64_t length)
{
    return 63 - __builtin_clzll(length);
}

static void note_loop(struct cw_period *p, const struct mark *m)
{
    if (m->alike >= ENOUGH)
        p->loops[logarithm(m->length)] = p->all + 1;
}

/* Whether shorter stretches repeated within the mark's last one. */
static bool has_loop(const struct cw_period *p, const struct mark *m)
{
    for (int k = LEAST_LOOP; k < 62 && (UINT64_C(2) << k) * ENOUGH <= m->length; k++)
        if (p->loops[k] > p->all - m->length)
            return true;
    return false;
}

static uint64_t patience_with(const struct cw_period *p, const struct mark *m)
{
    if (!has_loop(p, m))
        return patience_ns * (m->others ? AFTER_GAPS : 1);
    return m->alike >= OFTEN && m->others <= m->alike / OFTEN ? often_ns : with_loop_ns;
}

static bool is_sure(const struct cw_period *p, const struct mark *m)
{
    const uint64_t wanted = patience_with(p, m) * (p->longest == m ? 1 : NOT_LONGEST);
    return m->alike >= ENOUGH && m->even_ns + m->ns >= wanted;
}

/* ---- launches --------------------------------------------------------------------------------------------------- */

static void meet(const struct cw_period *p, struct mark *m, uint64_t now_ns)
{
    const struct bins stretch = difference(&p->bins, &m->bins_then);
    if (m->met)
        take_stretch(m, &stretch, p->all - m->last, now_ns - m->last_ns);
    m->met++;
    m->last = p->all;
    m->last_ns = now_ns;
    m->bins_then = p->bins;
}

/* Follows the mark of the found period only. */
static bool follow(struct cw_period *p, uint64_t launch, uint64_t now_ns)
{
    struct mark *m = &p->taken;
    if (launch != m->launch)
        return false;
    const struct bins stretch = difference(&p->bins, &m->bins_then);
    const uint64_t length = p->all - m->last;
    if (is_alike(m, &stretch, length))
        take_alike(m, &stretch, length, now_ns - m->last_ns);
    else
        take_other(m, &stretch, length);
    m->last = p->all;
    m->last_ns = now_ns;
    m->bins_then = p->bins;
    return true;
}

static bool search(struct cw_period *p, uint64_t launch, uint64_t now_ns)
{
    struct mark *m = find(p, launch);
    meet(p, m, now_ns);
    note_loop(p, m);
    nominate(p, m);
    p->found = is_sure(p, m);
    if (p->found)
        p->taken = *m;
    return p->found;
}

bool cw_period_launch(struct cw_period *p, uint64_t launch, uint64_t now_ns)
{
    p->first_ns = p->all ? p->first_ns : now_ns;
    p->last_ns = now_ns;
    const bool begins = (p->found ? follow : search)(p, launch, now_ns);
    p->all++;
    p->bins.of[scatter(launch) >> 40 & (BINS - 1)]++;
    return begins;
}

struct cw_period_facts cw_period_facts(const struct cw_period *p)
{
    const struct mark *m = &p->taken;
    struct cw_period_facts facts = {.found = p->found, .all = p->all, .all_ns = p->last_ns - p->first_ns};
    if (!p->found)
        return facts;
    facts.begin_ns = m->first_ns;
    facts.before = m->first;
    facts.launches = m->length;
    facts.count = m->alike;
    facts.others = m->others;
    facts.periods_ns = m->covered_ns;
    return facts;
}
