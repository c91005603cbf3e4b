#include "metricdb/word_search.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/suggest.h"
#include "base/words.h"
#include "metricdb/answers.h"

/* Scores of a whole part, a part's beginning, and the inside of a part. Gaps exceed the sum over many words. */
enum { NAME_WHOLE = 100, NAME_BEGIN = 60, NAME_INSIDE = 30, TEXT_WHOLE = 40, TEXT_BEGIN = 25, TEXT_INSIDE = 5 };

static char small_letter(char c)
{
    return (char)tolower((unsigned char)c);
}

/* Drops the last letter of a plural, so that "hits" finds hit_rate. */
static void add_word(struct cw_word_search *search, char *word)
{
    size_t length = strlen(word);
    if (length > 3 && word[length - 1] == 's' && word[length - 2] != 's' && strcmp(word + length - 3, "ies") != 0)
        word[length - 1] = 0;
    search->words[search->count++] = word;
}

static enum cw_status split(struct cw_word_search *search, const char *text, struct cw_error *err)
{
    for (size_t i = 0; text[i]; i++)
        search->text[i] = isspace((unsigned char)text[i]) ? 0 : small_letter(text[i]);
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++)
        if (search->text[i] && (i == 0 || !search->text[i - 1])) {
            if (search->count == CW_WORD_SEARCH_WORDS)
                return cw_error_set(err, CW_ERR_USAGE, "found more than %d words to search for", CW_WORD_SEARCH_WORDS);
            add_word(search, search->text + i);
        }
    search->asked = search->count;
    return search->count ? CW_OK : cw_error_set(err, CW_ERR_USAGE, "found no word to search for");
}

enum cw_status cw_word_search_init(struct cw_word_search *search, const char *text, struct cw_error *err)
{
    *search = (struct cw_word_search){.regular = strpbrk(text, "^$*+?()[]{}|\\")};
    search->whole = search->regular || strchr(text, '.');
    if (!search->regular && strlen(text) >= CW_WORD_SEARCH_TEXT)
        return cw_error_set(err, CW_ERR_USAGE, "found a text of %zu characters to search for, expected at most %d",
                            strlen(text), CW_WORD_SEARCH_TEXT - 1);
    if (!search->regular)
        return split(search, text, err);
    search->asked = search->count = 1;
    int bad = regcomp(&search->pattern, text, REG_EXTENDED | REG_ICASE | REG_NOSUB);
    if (bad) {
        char why[128];
        regerror(bad, &search->pattern, why, sizeof why);
        return cw_error_set(err, CW_ERR_USAGE, "found the regular expression '%.100s': %s", text, why);
    }
    return CW_OK;
}

void cw_word_search_forget(struct cw_word_search *search, const bool *small)
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

void cw_word_search_understand(struct cw_word_search *search, const struct cw_glossary *glossary)
{
    size_t used = 0;
    for (uint32_t i = 0; !search->regular && i < search->asked; i++) {
        const char *meant = cw_glossary_said(glossary, search->words[i]);
        search->meant[i] = search->count;
        while (meant && *meant) {
            size_t length = strcspn(meant, " ");
            if (search->count == CW_WORD_SEARCH_MEANT || used + length >= sizeof search->other_text) {
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

void cw_word_search_finish(struct cw_word_search *search)
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

static void raise_scores(const struct cw_word_search *search, const char *text, uint16_t whole, uint16_t begin,
                         uint16_t inside, struct cw_word_search_score *score)
{
    for (uint32_t i = 0; i < search->count; i++) {
        uint16_t found = search->regular ? (regexec(&search->pattern, text, 0, NULL, 0) == 0) * whole
                                         : best(text, search->words[i], whole, begin, inside);
        if (!search->regular && found < whole && score->words[i] < whole && has_form(text, search->words[i]))
            found = whole;
        score->words[i] = found > score->words[i] ? found : score->words[i];
    }
}

void cw_word_search_name(const struct cw_word_search *search, const char *name, struct cw_word_search_score *score)
{
    raise_scores(search, name, NAME_WHOLE, NAME_BEGIN, NAME_INSIDE, score);
}

void cw_word_search_description(const struct cw_word_search *search, const char *description,
                                struct cw_word_search_score *score)
{
    raise_scores(search, description, TEXT_WHOLE, TEXT_BEGIN, TEXT_INSIDE, score);
}

void cw_word_search_raise(const struct cw_word_search *search, const struct cw_word_search_score *other,
                          struct cw_word_search_score *score)
{
    for (uint32_t i = 0; i < search->count; i++)
        score->words[i] = other->words[i] > score->words[i] ? other->words[i] : score->words[i];
}

uint32_t cw_word_search_total(const struct cw_word_search *search, const struct cw_word_search_score *score)
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
static bool met(const struct cw_word_search *search, uint32_t word, struct near *near, const struct cw_chip *chip,
                const struct cw_glossary *glossary)
{
    struct cw_word_search one = {.asked = 1, .count = 1, .words = {search->words[word]}};
    cw_word_search_understand(&one, glossary);
    *near = (struct near){0};
    cw_suggest_init(&near->suggest, search->words[word]);
    for (int t = 0; t < CW_METRIC_TYPE_COUNT; t++)
        for (uint32_t i = 0; i < cw_chip_base_count(chip, (enum cw_metric_type)t); i++) {
            char description[CW_DESCRIPTION_MAX];
            const char *name = cw_chip_base_name(chip, (enum cw_metric_type)t, i);
            struct cw_word_search_score score = {{0}};
            cw_describe(glossary, chip, (enum cw_metric_type)t, i, description, sizeof description);
            cw_word_search_name(&one, name, &score);
            cw_word_search_description(&one, description, &score);
            if (cw_word_search_total(&one, &score))
                return true;
            offer_words(near, name);
            offer_words(near, description);
        }
    return false;
}

/* Whether a question has the word, which no name has. */
static bool said(const char *word, const char *data, const struct cw_chip *chip, struct cw_arena *arena)
{
    const struct cw_answer *answers;
    size_t found;
    bool whole;
    return cw_answers_find(&answers, &found, &whole, word, data, chip, arena, NULL) == CW_OK && (found || whole);
}

bool cw_word_search_unknown(const struct cw_word_search *search, bool misspelt, const char *data,
                            const struct cw_chip *chip, const struct cw_glossary *glossary, struct cw_arena *arena,
                            struct cw_error *err)
{
    char text[600] = "";
    size_t used = 0;
    for (uint32_t i = 0; !search->regular && i < search->asked && used < sizeof text; i++) {
        struct near near;
        char names[256];
        if (!met(search, i, &near, chip, glossary) && (!misspelt || near.suggest.count) &&
            !said(search->words[i], data, chip, arena))
            used += (size_t)snprintf(text + used, sizeof text - used, "%s the word '%s'%s", used ? "; nor" : "",
                                     search->words[i], cw_suggest_text(&near.suggest, names, sizeof names));
    }
    if (used)
        cw_error_set(err, CW_ERR_NOTHING, "no metric of %s has%s", chip->name, text);
    return used;
}
