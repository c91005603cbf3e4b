#define _GNU_SOURCE
#include "cli/query/search_hint.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/suggest.h"
#include "base/text.h"

enum { LONGEST_WORD = 40 };

/* The nearest words; their text has to live until they are told. */
struct near {
    struct cw_suggest suggest;
    char words[CW_SUGGEST_MAX + 1][LONGEST_WORD];
};

static char *free_word(struct near *near)
{
    for (size_t i = 0;; i++) { /* one more than are suggested */
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

/* Whether any metric has the word; where none has, the nearest words. */
static bool met(const struct cw_search *search, uint32_t word, struct near *near, const struct cw_chip *chip,
                const struct cw_glossary *glossary)
{
    struct cw_search one = {.asked = 1, .count = 1, .words = {search->words[word]}};
    cw_search_understand(&one, glossary);
    *near = (struct near){0};
    cw_suggest_init(&near->suggest, search->words[word]);
    for (int t = 0; t < CW_METRIC_TYPE_COUNT; t++)
        for (uint32_t i = 0; i < cw_chip_base_count(chip, (enum cw_metric_type)t); i++) {
            char description[CW_DESCRIPTION_MAX];
            const char *name = cw_chip_base_name(chip, (enum cw_metric_type)t, i);
            struct cw_search_score score = {{0}};
            cw_describe(glossary, chip, (enum cw_metric_type)t, i, description, sizeof description);
            cw_search_name(&one, name, &score);
            cw_search_description(&one, description, &score);
            if (cw_search_total(&one, &score))
                return true;
            offer_words(near, name);
            offer_words(near, description);
        }
    return false;
}

void cw_search_hint(const struct cw_search *search, const struct cw_chip *chip, const struct cw_glossary *glossary)
{
    bool all_met = true;
    for (uint32_t i = 0; !search->regular && i < search->asked; i++) {
        struct near near;
        char text[256];
        if (met(search, i, &near, chip, glossary))
            continue;
        all_met = false;
        cw_text_print(stderr, "%s: no metric of %s has the word '%s'%s\n", program_invocation_short_name, chip->name,
                      search->words[i], cw_suggest_text(&near.suggest, text, sizeof text));
    }
    if (all_met && !search->regular)
        cw_text_print(stderr, "%s: no metric of %s has all these words\n", program_invocation_short_name, chip->name);
}
