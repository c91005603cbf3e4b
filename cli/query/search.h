/* Searching metrics by what a person would call them.
 *
 * A text with any of ^ $ * + ? ( ) [ ] { } | \ is an extended regular expression, to be found in the name or in the
 * description, in any case. Any other text is words, all of which have to be found; how well says the score: whole
 * parts of the name count most, then beginnings of parts, words of the description, and what is found inside of either.
 */
#ifndef CW_CLI_QUERY_SEARCH_H
#define CW_CLI_QUERY_SEARCH_H

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "metricdb/glossary.h"

enum { CW_SEARCH_WORDS = 16, CW_SEARCH_TEXT = 256, CW_SEARCH_MEANT = 64 };

struct cw_search {
    bool regular;
    bool whole; /* something may match that spans a base name and what follows it */
    regex_t pattern;
    char text[CW_SEARCH_TEXT]; /* words in small letters, each ended by a NUL */
    uint32_t asked;            /* how many words are to be found; 1 for a regular expression */
    uint32_t count;            /* with what they may stand for behind them */
    const char *words[CW_SEARCH_MEANT];
    uint32_t meant[CW_SEARCH_WORDS], meant_count[CW_SEARCH_WORDS]; /* of each asked for: where those stand */
    char other_text[CW_SEARCH_TEXT];
};

/* How well each word is met; 0 where it is not. */
struct cw_search_score {
    uint16_t words[CW_SEARCH_MEANT];
};

/* Release with cw_search_finish after success. */
enum cw_status cw_search_init(struct cw_search *search, const char *text, struct cw_error *err);
void cw_search_finish(struct cw_search *search);

/* Leaves out words of which `small` says so, unless all are; before all that follows. */
void cw_search_forget(struct cw_search *search, const bool *small);

/* Takes the glossary's words for those that people say: all of them together stand for the word, and count for half. */
void cw_search_understand(struct cw_search *search, const struct cw_glossary *glossary);

/* Raises the score to what a name (its parts are joined by '_' and '.') or a description is worth. */
void cw_search_name(const struct cw_search *search, const char *name, struct cw_search_score *score);
void cw_search_description(const struct cw_search *search, const char *description, struct cw_search_score *score);
/* Raises the score to that of something else. */
void cw_search_raise(const struct cw_search *search, const struct cw_search_score *other,
                     struct cw_search_score *score);
/* 0 where a word is not met, else the sum. */
uint32_t cw_search_total(const struct cw_search *search, const struct cw_search_score *score);

/* Whether one of the words is in no metric of the chip and nothing that people say, or only of those that are near
 * another word; then the error is CW_ERR_NOTHING, with the words and the nearest that there are. */
bool cw_search_unknown(const struct cw_search *search, bool misspelt, const struct cw_chip *chip,
                       const struct cw_glossary *glossary, struct cw_arena *arena, struct cw_error *err);

#endif
