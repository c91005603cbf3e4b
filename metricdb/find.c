#include "metricdb/find.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "metricdb/formula.h"
#include "metricdb/word_search.h"

enum { MOST_VARIANTS = 4 * CW_SUB_COUNTER_COUNT };

/* A match while it is sorted. */
struct match {
    struct cw_found_metric found;
    uint32_t score, order; /* score: 0 without a search; order: of the database */
    uint16_t length;       /* of the full name: among equal matches, the shortest name comes first */
};

struct finding {
    const struct cw_find *find;
    const struct cw_chip *chip;
    struct cw_found *found;
    struct cw_word_search search;
    struct cw_word_search_score (*suffixes)[MOST_VARIANTS]; /* of the rest of full names behind base names, by type */
    struct match *matches;
    size_t count, room;
};

struct cw_metric cw_found_metric(const struct cw_chip *chip, const struct cw_found_metric *found)
{
    enum cw_metric_type type = (enum cw_metric_type)found->type;
    return found->usual ? cw_metric_usual(chip, type, found->base)
                        : cw_metric_variant(type, found->base, found->variant);
}

static bool add_match(struct finding *f, struct match match)
{
    struct match *grown = cw_grown(f->matches, &f->room, f->count, sizeof *grown);
    if (!grown)
        return false;
    f->matches = grown;
    match.order = (uint32_t)f->count;
    f->matches[f->count++] = match;
    return true;
}

static void score_suffixes(struct finding *f, enum cw_metric_type type)
{
    if (type >= CW_METRIC_TYPE_COUNT || !cw_chip_base_count(f->chip, type))
        return;
    size_t base = strlen(cw_chip_base_name(f->chip, type, 0));
    for (uint32_t v = 0; v < cw_metric_variants(type); v++) {
        char name[CW_METRIC_NAME_MAX], text[256];
        struct cw_metric m = cw_metric_variant(type, 0, v);
        cw_metric_name(f->chip, &m, name);
        if (!f->search.regular) /* an anchor refers to the whole name */
            cw_word_search_name(&f->search, name + base, &f->suffixes[type][v]);
        cw_word_search_description(&f->search, cw_describe_variant(&m, text, sizeof text), &f->suffixes[type][v]);
    }
}

static bool is_answer(const struct finding *f, const struct cw_metric *metric)
{
    for (size_t i = 0; i < f->found->answer_count; i++)
        for (size_t k = 0; k < f->found->answers[i].metric_count; k++)
            if (memcmp(&f->found->answers[i].metrics[k], metric, sizeof *metric) == 0)
                return true;
    return false;
}

/* Puts the n-th answer before everything that its words find, behind the exact name alone. */
static bool add_answer(struct finding *f, const struct cw_metric *m, uint32_t n)
{
    struct match match = {.found = {.base = m->base, .type = (uint8_t)m->type}, .score = UINT32_MAX - 1 - n};
    struct cw_metric at = cw_metric_variant(m->type, m->base, 0);
    while (memcmp(&at, m, sizeof at) != 0)
        at = cw_metric_variant(m->type, m->base, ++match.found.variant);
    return add_match(f, match);
}

static bool is_wanted(const struct finding *f, enum cw_metric_type type, uint32_t base)
{
    return !f->find->wanted || f->find->wanted(f->find->user, type, base);
}

/* A regular expression, or a full name, is no question. */
static enum cw_status find_answers(struct finding *f, bool *whole, struct cw_arena *arena, struct cw_error *err)
{
    *whole = false;
    if (!f->find->text || f->search.regular || f->search.whole || f->find->every)
        return CW_OK;
    return cw_answers_find(&f->found->answers, &f->found->answer_count, whole, f->find->text, f->find->data, f->chip,
                           arena, err);
}

static enum cw_status begin_search(struct finding *f, struct cw_arena *arena, struct cw_error *err)
{
    bool small[CW_WORD_SEARCH_WORDS] = {false};
    CW_TRY(cw_word_search_init(&f->search, f->find->text, err));
    if (f->search.regular)
        return CW_OK;
    enum cw_status status = cw_answers_small(small, f->search.words, f->search.count, f->find->data, arena, err);
    cw_word_search_forget(&f->search, small);
    cw_word_search_understand(&f->search, f->find->glossary);
    return status;
}

/* `score` is the value of the words in the base name and its description. */
static bool add_found(struct finding *f, struct match match, struct cw_word_search_score score)
{
    char name[CW_METRIC_NAME_MAX];
    struct cw_metric m = cw_found_metric(f->chip, &match.found);
    if (f->find->every)
        cw_word_search_raise(&f->search, &f->suffixes[match.found.type][match.found.variant], &score);
    if (!f->find->every || f->search.whole)
        cw_word_search_name(&f->search, cw_metric_name(f->chip, &m, name), &score);
    match.score = is_answer(f, &m) ? 0 : cw_word_search_total(&f->search, &score);
    if (match.score && strcasecmp(cw_metric_name(f->chip, &m, name), f->find->text) == 0)
        match.score = UINT32_MAX;
    if (match.score && !f->search.regular)
        match.length = (uint16_t)strlen(cw_metric_name(f->chip, &m, name));
    return !match.score || add_match(f, match);
}

const char *cw_find_description(const struct cw_find *find, enum cw_metric_type type, uint32_t base, char *text)
{
    const char *remark = cw_metric_remark(find->chip, type, base);
    return !remark   ? cw_describe(find->glossary, find->chip, type, base, text, CW_DESCRIPTION_MAX)
           : *remark ? remark
                     : find->chip->formulas->items[base].text;
}

static bool match_base(struct finding *f, enum cw_metric_type type, uint32_t base)
{
    char text[CW_DESCRIPTION_MAX];
    struct cw_word_search_score score = {{0}};
    uint32_t variants = f->find->every ? cw_metric_variants(type) : 1;
    bool ok = true;
    if (f->find->text) {
        cw_word_search_description(&f->search, cw_find_description(f->find, type, base, text), &score);
        cw_word_search_name(&f->search, cw_metric_base_name(f->chip, type, base), &score);
    }
    for (uint32_t v = 0; ok && v < variants; v++) {
        struct match match = {.found = {.base = base,
                                        .type = (uint8_t)type,
                                        .variant = (uint8_t)v,
                                        .usual = !f->find->every && type < CW_METRIC_TYPE_COUNT}};
        ok = f->find->text ? add_found(f, match, score) : add_match(f, match);
    }
    return ok;
}

static int by_score(const void *a, const void *b)
{
    const struct match *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    if (x->length != y->length)
        return x->length < y->length ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static bool add_answers(struct finding *f)
{
    uint32_t n = 0;
    bool ok = true;
    for (size_t i = 0; i < f->found->answer_count; i++)
        for (size_t k = 0; ok && k < f->found->answers[i].metric_count; k++) {
            const struct cw_metric *m = &f->found->answers[i].metrics[k];
            if (is_wanted(f, m->type, m->base))
                ok = add_answer(f, m, n++);
        }
    return ok;
}

bool cw_found_set_before(const struct cw_found *found, size_t answer, const char *set)
{
    for (size_t i = 0; i < answer; i++)
        for (size_t k = 0; k < found->answers[i].set_count; k++)
            if (strcmp(found->answers[i].sets[k], set) == 0)
                return true;
    return false;
}

/* CW_ERR_NOTHING with the reason if nothing answers the text. */
static enum cw_status explain_nothing(const struct finding *f, struct cw_arena *arena, struct cw_error *err)
{
    bool answered = f->count || !f->find->text;
    for (size_t i = 0; i < f->found->answer_count; i++)
        answered = answered || f->found->answers[i].set_count;
    if (answered)
        return CW_OK;
    for (size_t i = 0; i < f->found->answer_count; i++)
        if (f->found->answers[i].says)
            return cw_error_set(err, CW_ERR_NOTHING, "%s", f->found->answers[i].says);
    if (cw_word_search_unknown(&f->search, false, f->find->data, f->chip, f->find->glossary, arena, err))
        return CW_ERR_NOTHING;
    return cw_error_set(err, CW_ERR_NOTHING, "no metric of %s has %s", f->chip->name,
                        f->search.regular ? "a match of the regular expression" : "all these words");
}

static enum cw_status match_all(struct finding *f, struct cw_arena *arena, struct cw_error *err)
{
    struct cw_found *found = f->found;
    bool ok = true, whole;
    CW_TRY(find_answers(f, &whole, arena, err));
    size_t partial = whole ? 0 : found->answer_count; /* answers from sets need no metric */
    found->answer_count -= partial;
    for (enum cw_metric_type type = CW_COUNTER; type < CW_ALL_TYPES_COUNT; type++) {
        if (f->find->every && f->find->text)
            score_suffixes(f, type);
        for (uint32_t i = 0; ok && i < cw_metric_base_count(f->chip, type); i++)
            if (is_wanted(f, type, i))
                ok = match_base(f, type, i);
    }
    if (!f->count && partial &&
        !cw_word_search_unknown(&f->search, true, f->find->data, f->chip, f->find->glossary, arena, err))
        found->answer_count += partial;
    if (!ok || !add_answers(f))
        return cw_error_nomem(err);
    if (f->find->text && f->count)
        qsort(f->matches, f->count, sizeof *f->matches, by_score);
    return explain_nothing(f, arena, err);
}

enum cw_status cw_find_metrics(struct cw_found *found, const struct cw_find *find, struct cw_arena *arena,
                               struct cw_error *err)
{
    struct finding f = {.find = find, .chip = find->chip, .found = found};
    *found = (struct cw_found){0};
    f.suffixes = cw_arena_alloc(arena, CW_ALL_TYPES_COUNT, sizeof *f.suffixes);
    if (!f.suffixes)
        return cw_error_nomem(err);
    if (find->text)
        CW_TRY(begin_search(&f, arena, err));
    enum cw_status status = match_all(&f, arena, err);
    if (find->text)
        cw_word_search_finish(&f.search);
    if (status == CW_OK && f.count) {
        found->metrics = malloc(f.count * sizeof *found->metrics);
        found->count = found->metrics ? f.count : 0;
        for (size_t i = 0; i < found->count; i++)
            found->metrics[i] = f.matches[i].found;
        status = found->metrics ? CW_OK : cw_error_nomem(err);
    }
    free(f.matches);
    return status;
}

void cw_found_free(struct cw_found *found)
{
    free(found->metrics);
}
