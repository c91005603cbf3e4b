#include "agent/inject/ranges/turns.h"

#include <stdlib.h>
#include <string.h>

struct cw_turns_met { /* an occurrence */
    uint32_t kind;
    uint64_t before; /* number of the kind's occurrence before it, 0: none */
};

enum {
    TRIES = 16,       /* earlier occurrences of the kind to examine */
    MOST_ALIKE = 16,  /* preceding kinds to compare */
    MOST_AHEAD = 512, /* occurrences to predict */
    FREE_ROUNDS = 2,  /* rounds of changes before their time is limited */
    SHARE = 2,        /* changes take at most one part in SHARE of the time */
    PATIENCE = 2,     /* cost of useless counting before a change, in changes */
    MANY = 4,         /* enough counts of a pass */
    WORTH = 2,        /* a change must serve one part in WORTH of the predicted occurrences, or of its own cost */
};

bool cw_turns_begin(struct cw_turns *t, uint32_t passes, bool wants_warm)
{
    *t = (struct cw_turns){.passes = passes,
                           .wants_warm = wants_warm,
                           .stretch = 1,
                           .kinds = calloc(CW_TURNS_KINDS, sizeof *t->kinds),
                           .counts = calloc((size_t)CW_TURNS_KINDS * passes, sizeof *t->counts),
                           .warm = calloc((size_t)CW_TURNS_KINDS * passes, sizeof *t->warm),
                           .history = calloc(CW_TURNS_HISTORY, sizeof *t->history),
                           .fresh = calloc(passes, sizeof *t->fresh),
                           .gain = calloc(passes, sizeof *t->gain)};
    if (t->kinds && t->counts && t->warm && t->history && t->fresh && t->gain)
        return true;
    cw_turns_end(t);
    return false;
}

void cw_turns_end(struct cw_turns *t)
{
    free(t->kinds);
    free(t->counts);
    free(t->warm);
    free(t->history);
    free(t->fresh);
    free(t->gain);
    *t = (struct cw_turns){0};
}

/* ---- history ---------------------------------------------------------------------------------------------------- */

static uint16_t *counts_of(const struct cw_turns *t, uint32_t kind)
{
    return &t->counts[(size_t)kind * t->passes];
}

static bool *warm_of(const struct cw_turns *t, uint32_t kind)
{
    return &t->warm[(size_t)kind * t->passes];
}

static struct cw_turns_met *occurrence(const struct cw_turns *t, uint64_t number)
{
    return &t->history[number % CW_TURNS_HISTORY];
}

static bool is_remembered(const struct cw_turns *t, uint64_t number)
{
    return number && number + CW_TURNS_HISTORY > t->met;
}

/* The place of a kind; if its set is full, that of the kind not met for the longest time. */
static uint32_t find_kind(struct cw_turns *t, uint64_t key)
{
    uint32_t first =
        (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 52) % CW_TURNS_KINDS / CW_TURNS_SET * CW_TURNS_SET;
    uint32_t oldest = first;
    for (uint32_t i = first; i < first + CW_TURNS_SET; i++) {
        if (t->kinds[i].met && t->kinds[i].key == key)
            return i;
        if (t->kinds[i].last < t->kinds[oldest].last)
            oldest = i;
    }
    t->kinds[oldest] = (struct cw_turns_kind){.key = key};
    memset(counts_of(t, oldest), 0, t->passes * sizeof *t->counts);
    memset(warm_of(t, oldest), 0, t->passes * sizeof *t->warm);
    return oldest;
}

uint32_t cw_turns_meet(struct cw_turns *t, uint64_t key)
{
    uint32_t number = find_kind(t, key);
    struct cw_turns_kind *kind = &t->kinds[number];
    *occurrence(t, ++t->met) = (struct cw_turns_met){number, kind->last};
    kind->last = t->met;
    kind->met++;
    return number;
}

static uint32_t least(const struct cw_turns *t, const uint16_t *counts)
{
    uint32_t found = counts[0];
    for (uint32_t p = 1; p < t->passes; p++)
        found = counts[p] < found ? counts[p] : found;
    return found;
}

/* The first need of a kind. */
enum want { COUNTS, WARM_COUNTS, BALANCE };

static bool lacks(const struct cw_turns *t, uint32_t kind, uint32_t pass, enum want want)
{
    return want == COUNTS        ? !counts_of(t, kind)[pass]
           : want == WARM_COUNTS ? !warm_of(t, kind)[pass]
                                 : counts_of(t, kind)[pass] == least(t, counts_of(t, kind));
}

static bool lacks_any(const struct cw_turns *t, uint32_t kind, enum want want)
{
    for (uint32_t p = 0; p < t->passes; p++)
        if (lacks(t, kind, p, want))
            return true;
    return false;
}

/* A kind that comes too rarely is cold after each change; many such counts are good enough. */
static enum want want_of(const struct cw_turns *t, uint32_t kind)
{
    uint32_t fewest = least(t, counts_of(t, kind));
    if (!fewest)
        return COUNTS;
    return t->wants_warm && fewest < MANY && lacks_any(t, kind, WARM_COUNTS) ? WARM_COUNTS : BALANCE;
}

bool cw_turns_count(struct cw_turns *t, uint32_t number)
{
    struct cw_turns_kind *kind = &t->kinds[number];
    uint16_t *counts = counts_of(t, number);
    enum want want = want_of(t, number);
    bool cold = kind->stretch != t->stretch, in_vain = !lacks(t, number, t->pass, want);
    t->wasted += in_vain;
    kind->in_vain = in_vain && want != BALANCE ? kind->in_vain + 1 : 0;
    kind->stretch = t->stretch;
    warm_of(t, number)[t->pass] |= !cold;
    if (++counts[t->pass] == UINT16_MAX)
        for (uint32_t p = 0; p < t->passes; p++)
            counts[p] = (uint16_t)((counts[p] + 1) / 2);
    return cold;
}

void cw_turns_set_pass(struct cw_turns *t, uint32_t pass)
{
    t->pass = pass;
}

void cw_turns_started(struct cw_turns *t)
{
    t->stretch++;
    t->wasted = 0;
}

/* ---- prediction ------------------------------------------------------------------------------------------------- */

/* Number of last occurrences with the same kinds as those up to an earlier one. */
static uint32_t alike(const struct cw_turns *t, uint64_t earlier)
{
    uint32_t n = 0;
    while (n < MOST_ALIKE && is_remembered(t, earlier - n) && earlier > n &&
           occurrence(t, earlier - n)->kind == occurrence(t, t->met - n)->kind)
        n++;
    return n;
}

/* The earlier occurrence most similar to the last one, or the last one itself. */
static uint64_t find_model(const struct cw_turns *t)
{
    uint64_t model = t->met, at = t->met;
    uint32_t most = 0;
    for (int i = 0; i < TRIES; i++) {
        at = occurrence(t, at)->before;
        uint32_t n = is_remembered(t, at) ? alike(t, at) : 0;
        if (!n)
            break;
        if (n > most) {
            most = n;
            model = at;
        }
    }
    return model;
}

/* Value of one more count: the error of a mean of n falls with n, and without any count there is no mean. */
static double worth(uint32_t counted)
{
    static const double first = 4;
    return counted ? 1 / ((double)counted * (counted + 1)) : first;
}

/* Weight of a kind. It doubles with each useless count, so that no kind waits for ever. */
static uint64_t weight(const struct cw_turns_kind *kind)
{
    enum { MOST = 8 };
    return UINT64_C(1) << (kind->in_vain < MOST ? kind->in_vain : MOST);
}

/* Fills in `fresh`, `gain` and `lead` from the last occurrence and as many predicted ones as a pass can hold. */
static void look_ahead(struct cw_turns *t, enum want want, uint32_t room)
{
    uint64_t model = find_model(t), end = model < t->met ? t->met : model + 1;
    uint32_t most = room < MOST_AHEAD ? room : MOST_AHEAD;
    bool led = false;
    memset(t->fresh, 0, t->passes * sizeof *t->fresh);
    memset(t->gain, 0, t->passes * sizeof *t->gain);
    t->lead = t->foreseen = 0;
    t->period = end - model;
    t->looks++;
    for (uint64_t at = model; at < end && at < model + most; at++) {
        uint32_t kind = occurrence(t, at)->kind;
        const uint16_t *counts = counts_of(t, kind);
        led = led || lacks(t, kind, t->pass, want);
        t->lead += !led;
        if (t->kinds[kind].looked == t->looks)
            continue;
        t->kinds[kind].looked = t->looks;
        t->foreseen++;
        for (uint32_t p = 0; p < t->passes; p++) {
            t->fresh[p] += want != BALANCE && lacks(t, kind, p, want) ? weight(&t->kinds[kind]) : 0;
            t->gain[p] += worth(counts[p]);
        }
    }
}

/* The nearest pass with the greatest value for the cost of reaching it; 0: this one. */
static uint32_t best_by_gain(const struct cw_turns *t)
{
    uint32_t best = 0;
    double most = 0;
    for (uint32_t d = 1; d < t->passes; d++) {
        double more = (t->gain[(t->pass + d) % t->passes] - t->gain[t->pass]) / d;
        if (more > most * (1 + 1e-9)) {
            most = more;
            best = d;
        }
    }
    return best;
}

/* The same by the number of kinds that need the pass, among them the last occurrence's. */
static uint32_t best_by_fresh(const struct cw_turns *t, uint32_t kind, enum want want)
{
    uint32_t best = 0;
    for (uint32_t d = 1; d < t->passes; d++) {
        uint32_t pass = (t->pass + d) % t->passes;
        uint64_t found = lacks(t, kind, pass, want) ? t->fresh[pass] : 0;
        if (best ? found * best > t->fresh[(t->pass + best) % t->passes] * d : found > 0)
            best = d;
    }
    return best;
}

/* Whether a change is worth its cost, by the share of predicted occurrences that the pass serves, or by the time of
 * counting them. */
static bool is_worth_it(const struct cw_turns *t, const struct cw_turns_costs *c, uint32_t changes)
{
    uint64_t found = t->fresh[(t->pass + changes) % t->passes] * WORTH;
    return found >= (uint64_t)t->foreseen * changes || found * c->count_ns >= changes * c->change_ns;
}

static bool affords(const struct cw_turns *t, const struct cw_turns_costs *c, uint32_t changes)
{
    return c->changes_ns + changes * c->change_ns <= FREE_ROUNDS * t->passes * c->change_ns + c->all_ns / SHARE;
}

uint32_t cw_turns_advance(struct cw_turns *t, const struct cw_turns_costs *c)
{
    uint32_t kind = occurrence(t, t->met)->kind;
    enum want want = want_of(t, kind);
    if (lacks(t, kind, t->pass, want))
        return 0;
    bool enough = t->wasted * c->count_ns >= PATIENCE * c->change_ns || !c->count_ns;
    if (want == BALANCE && !enough)
        return 0;
    look_ahead(t, want, c->room);
    bool later = t->fresh[t->pass] && t->lead * c->count_ns < c->change_ns; /* this pass will soon be of use */
    bool comes_again = want != WARM_COUNTS || 2 * t->period <= c->room;     /* before a pass is full */
    uint32_t fresh = want == BALANCE || later || !comes_again ? 0 : best_by_fresh(t, kind, want);
    if (fresh && (!c->count_ns || (is_worth_it(t, c, fresh) && affords(t, c, fresh))))
        return fresh;
    uint32_t best = enough ? best_by_gain(t) : 0;
    if (enough && !best)
        t->wasted = 0;
    return best;
}
