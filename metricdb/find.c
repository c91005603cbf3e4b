#include "metricdb/find.h"

#include <ctype.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/pattern.h"
#include "base/suggest.h"
#include "base/words.h"
#include "metricdb/formula.h"

/* ---- words ------------------------------------------------------------------------------------------------------ */

/* Words that people use. A text with any of ^ $ * + ? ( ) [ ] { } | \ is an extended regular expression, which the name
 * or the description has to match, in any case. Any other text is a list of words; all must match. The score tells how
 * well: whole parts of the name count most, then beginnings of parts, words of the description, and matches inside
 * either. */
enum { MOST_WORDS = 16, MOST_TEXT = 256, MOST_MEANT = 64 };

struct words {
    bool regular;
    bool whole; /* a match may span a base name and its rest */
    regex_t pattern;
    char text[MOST_TEXT]; /* words in small letters, each with a NUL */
    uint32_t asked;       /* number of words to find; 1 for a regular expression */
    uint32_t count;       /* with synonyms behind the words */
    const char *words[MOST_MEANT];
    uint32_t meant[MOST_WORDS], meant_count[MOST_WORDS]; /* for each word: its synonyms in `words` */
    char other_text[MOST_TEXT];
};

/* The score of each word; 0: not found. */
struct score {
    uint16_t words[MOST_MEANT];
};

/* Scores of a whole part, a part's beginning, and the inside of a part. Gaps exceed the sum over many words. */
enum { NAME_WHOLE = 100, NAME_BEGIN = 60, NAME_INSIDE = 30, TEXT_WHOLE = 40, TEXT_BEGIN = 25, TEXT_INSIDE = 5 };

static char small_letter(char c)
{
    return (char)tolower((unsigned char)c);
}

/* Drops the last letter of a plural, so that "hits" finds hit_rate. */
static void add_word(struct words *search, char *word)
{
    size_t length = strlen(word);
    if (length > 3 && word[length - 1] == 's' && word[length - 2] != 's' && strcmp(word + length - 3, "ies") != 0)
        word[length - 1] = 0;
    search->words[search->count++] = word;
}

static enum cw_status split(struct words *search, const char *text, struct cw_error *err)
{
    for (size_t i = 0; text[i]; i++)
        search->text[i] = isspace((unsigned char)text[i]) ? 0 : small_letter(text[i]);
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++)
        if (search->text[i] && (i == 0 || !search->text[i - 1])) {
            if (search->count == MOST_WORDS)
                return cw_error_set(err, CW_ERR_USAGE, "found more than %d words to search for", MOST_WORDS);
            add_word(search, search->text + i);
        }
    search->asked = search->count;
    return search->count ? CW_OK : cw_error_set(err, CW_ERR_USAGE, "found no word to search for");
}

static enum cw_status begin_words(struct words *search, const char *text, struct cw_error *err)
{
    *search = (struct words){.regular = strpbrk(text, "^$*+?()[]{}|\\")};
    search->whole = search->regular || strchr(text, '.');
    if (!search->regular && strlen(text) >= MOST_TEXT)
        return cw_error_set(err, CW_ERR_USAGE, "found a text of %zu characters to search for, expected at most %d",
                            strlen(text), MOST_TEXT - 1);
    if (!search->regular)
        return split(search, text, err);
    search->asked = search->count = 1;
    char why[CW_PATTERN_WHY_SIZE];
    const bool fits = cw_pattern_fits(text, why);
    const int bad = fits ? regcomp(&search->pattern, text, REG_EXTENDED | REG_ICASE | REG_NOSUB) : 0;
    if (bad)
        regerror(bad, &search->pattern, why, sizeof why);
    return fits && !bad ? CW_OK
                        : cw_error_set(err, CW_ERR_USAGE, "found the regular expression '%.100s': %s", text, why);
}

/* Drops the words marked in `small`, unless all are. */
static void drop_words(struct words *search, const bool *small)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; !search->regular && i < search->count; i++)
        kept += !small[i];
    if (!kept)
        return;
    kept = 0;
    for (uint32_t i = 0; i < search->count; i++)
        if (!small[i])
            search->words[kept++] = search->words[i];
    search->asked = search->count = kept;
}

/* Adds the glossary's synonyms: together they stand for a word, and count half. */
static void add_synonyms(struct words *search, const struct cw_glossary *glossary)
{
    size_t used = 0;
    for (uint32_t i = 0; !search->regular && i < search->asked; i++) {
        const char *meant = cw_glossary_said(glossary, search->words[i]);
        search->meant[i] = search->count;
        while (meant && *meant) {
            size_t length = strcspn(meant, " ");
            if (search->count == MOST_MEANT || used + length >= sizeof search->other_text) {
                search->count = search->meant[i]; /* some words alone are not enough */
                search->meant_count[i] = 0;
                break;
            }
            search->words[search->count++] = memcpy(search->other_text + used, meant, length);
            search->meant_count[i]++;
            used += length + 1; /* starts at zero */
            meant += length + strspn(meant + length, " ");
        }
    }
}

static void end_words(struct words *search)
{
    if (search->regular)
        regfree(&search->pattern);
}

/* Finds `word` (in small letters) in `text` from `at` on; NULL for none. */
static const char *find(const char *text, const char *word)
{
    for (; *text; text++) {
        size_t i = 0;
        while (word[i] && small_letter(text[i]) == word[i])
            i++;
        if (!word[i])
            return text;
    }
    return NULL;
}

static uint16_t best(const char *text, const char *word, uint16_t whole, uint16_t begin, uint16_t inside)
{
    uint16_t most = 0;
    size_t length = strlen(word);
    for (const char *at = find(text, word); at && most < whole; at = find(at + 1, word)) {
        bool begins = at == text || !isalnum((unsigned char)at[-1]);
        const char *end = at + length + (at[length] == 's' && length > 1);
        uint16_t score = !begins ? inside : isalnum((unsigned char)*end) ? begin : whole;
        most = score > most ? score : most;
    }
    return most;
}

/* Whether a word of the text is a form of the word, as "spills" for "spilled". */
static bool has_form(const char *text, const char *word)
{
    const struct cw_word wanted = {word, strlen(word)};
    for (struct cw_word one = cw_word_next(&text); one.length; one = cw_word_next(&text))
        if (cw_word_alike(one, wanted))
            return true;
    return false;
}

static void raise_scores(const struct words *search, const char *text, uint16_t whole, uint16_t begin, uint16_t inside,
                         struct score *score)
{
    for (uint32_t i = 0; i < search->count; i++) {
        uint16_t found = search->regular ? (regexec(&search->pattern, text, 0, NULL, 0) == 0) * whole
                                         : best(text, search->words[i], whole, begin, inside);
        if (!search->regular && found < whole && score->words[i] < whole && has_form(text, search->words[i]))
            found = whole;
        score->words[i] = found > score->words[i] ? found : score->words[i];
    }
}

/* Raises the score to that of a name (its parts are joined by '_' and '.'). */
static void score_name(const struct words *search, const char *name, struct score *score)
{
    raise_scores(search, name, NAME_WHOLE, NAME_BEGIN, NAME_INSIDE, score);
}

static void score_description(const struct words *search, const char *description, struct score *score)
{
    raise_scores(search, description, TEXT_WHOLE, TEXT_BEGIN, TEXT_INSIDE, score);
}

static void raise_to(const struct words *search, const struct score *other, struct score *score)
{
    for (uint32_t i = 0; i < search->count; i++)
        score->words[i] = other->words[i] > score->words[i] ? other->words[i] : score->words[i];
}

/* The sum; 0 if a word is not found. */
static uint32_t total_score(const struct words *search, const struct score *score)
{
    uint32_t total = 0;
    for (uint32_t i = 0; i < search->asked; i++) {
        uint32_t worth = score->words[i], meant = search->meant_count[i] ? UINT16_MAX : 0;
        for (uint32_t k = search->meant[i]; k < search->meant[i] + search->meant_count[i]; k++)
            meant = score->words[k] < meant ? score->words[k] : meant;
        worth = worth ? worth : (meant + 1) / 2;
        if (!worth)
            return 0;
        total += worth;
    }
    return total;
}

/* ---- a search ---------------------------------------------------------------------------------------------------- */

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
    struct words search;
    struct score (*suffixes)[MOST_VARIANTS]; /* of the rest of full names behind base names, by type */
    struct match *matches;
    size_t count, room;
};

/* ---- where nothing was found ------------------------------------------------------------------------------------ */

enum { LONGEST_WORD = 40 };

/* The nearest words; their texts must outlive the message. */
struct near {
    struct cw_suggest suggest;
    char words[CW_SUGGEST_MAX + 1][LONGEST_WORD];
};

static char *free_word(struct near *near)
{
    for (size_t i = 0;; i++) { /* one more than suggestions */
        bool used = false;
        for (size_t k = 0; k < near->suggest.count; k++)
            used |= near->suggest.name[k] == near->words[i];
        if (!used)
            return near->words[i];
    }
}

static bool suggested(const struct near *near, const char *word)
{
    for (size_t k = 0; k < near->suggest.count; k++)
        if (strcmp(near->suggest.name[k], word) == 0)
            return true;
    return false;
}

static void offer_words(struct near *near, const char *text)
{
    while (*text) {
        size_t length = 0;
        char *word = free_word(near);
        for (; isalnum((unsigned char)text[length]); length++)
            if (length + 1 < LONGEST_WORD)
                word[length] = (char)tolower((unsigned char)text[length]);
        if (length && length < LONGEST_WORD) {
            word[length] = 0;
            if (!suggested(near, word))
                cw_suggest_offer(&near->suggest, word);
        }
        text += length + (text[length] != 0);
    }
}

/* Whether any metric has the word; if not, finds the nearest words. */
static bool met(const struct finding *f, uint32_t word, struct near *near)
{
    struct words one = {.asked = 1, .count = 1, .words = {f->search.words[word]}};
    add_synonyms(&one, f->find->glossary);
    *near = (struct near){0};
    cw_suggest_init(&near->suggest, f->search.words[word]);
    for (int t = 0; t < CW_METRIC_TYPE_COUNT; t++)
        for (uint32_t i = 0; i < cw_chip_base_count(f->chip, (enum cw_metric_type)t); i++) {
            char description[CW_DESCRIPTION_MAX];
            const char *name = cw_chip_base_name(f->chip, (enum cw_metric_type)t, i);
            struct score score = {{0}};
            cw_describe(f->find->glossary, f->chip, (enum cw_metric_type)t, i, description, sizeof description);
            score_name(&one, name, &score);
            score_description(&one, description, &score);
            if (total_score(&one, &score))
                return true;
            offer_words(near, name);
            offer_words(near, description);
        }
    return false;
}

/* Whether a question has the word, which no name has. */
static bool said(const struct finding *f, const char *word, struct cw_arena *arena)
{
    const struct cw_answer *answers;
    size_t found;
    bool whole;
    return cw_answers_find(&answers, &found, &whole, word, f->find->data, f->chip, arena, NULL) == CW_OK &&
           (found || whole);
}

/* Whether a word is unknown: no metric of the chip has it, or only metrics that match a word with another spelling, and
 * no question of the data folder has it. Then the error is CW_ERR_NOTHING, with the words and the nearest known ones.
 */
static bool is_unknown(const struct finding *f, bool misspelt, struct cw_arena *arena, struct cw_error *err)
{
    const struct words *search = &f->search;
    char text[600] = "";
    size_t used = 0;
    for (uint32_t i = 0; !search->regular && i < search->asked && used < sizeof text; i++) {
        struct near near;
        char names[256];
        if (!met(f, i, &near) && (!misspelt || near.suggest.count) && !said(f, search->words[i], arena))
            used += (size_t)snprintf(text + used, sizeof text - used, "%s the word '%s'%s", used ? "; nor" : "",
                                     search->words[i], cw_suggest_text(&near.suggest, names, sizeof names));
    }
    if (used)
        cw_error_set(err, CW_ERR_NOTHING, "no metric of %s has%s", f->chip->name, text);
    return used;
}

/* ---- matches ---------------------------------------------------------------------------------------------------- */

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
            score_name(&f->search, name + base, &f->suffixes[type][v]);
        score_description(&f->search, cw_describe_variant(&m, text, sizeof text), &f->suffixes[type][v]);
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
    bool small[MOST_WORDS] = {false};
    CW_TRY(begin_words(&f->search, f->find->text, err));
    if (f->search.regular)
        return CW_OK;
    enum cw_status status = cw_answers_small(small, f->search.words, f->search.count, f->find->data, arena, err);
    drop_words(&f->search, small);
    add_synonyms(&f->search, f->find->glossary);
    return status;
}

/* `score` is the value of the words in the base name and its description. */
static bool add_found(struct finding *f, struct match match, struct score score)
{
    char name[CW_METRIC_NAME_MAX];
    struct cw_metric m = cw_found_metric(f->chip, &match.found);
    if (f->find->every)
        raise_to(&f->search, &f->suffixes[match.found.type][match.found.variant], &score);
    if (!f->find->every || f->search.whole)
        score_name(&f->search, cw_metric_name(f->chip, &m, name), &score);
    match.score = is_answer(f, &m) ? 0 : total_score(&f->search, &score);
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
    struct score score = {{0}};
    uint32_t variants = f->find->every ? cw_metric_variants(type) : 1;
    bool ok = true;
    if (f->find->text) {
        score_description(&f->search, cw_find_description(f->find, type, base, text), &score);
        score_name(&f->search, cw_metric_base_name(f->chip, type, base), &score);
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
    struct cw_metric m;
    struct cw_error near = CW_ERROR_INIT;
    const bool name = f->search.asked == 1 && !f->search.regular && strstr(f->find->text, "__") &&
                      cw_metric_parse(&m, f->chip, f->find->text, &near) != CW_OK;
    if (is_unknown(f, false, arena, name ? NULL : err))
        return name ? cw_error_set(err, CW_ERR_NOTHING, "%s", near.message) : CW_ERR_NOTHING;
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
    if (!f->count && partial && !is_unknown(f, true, arena, err))
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
        end_words(&f.search);
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
