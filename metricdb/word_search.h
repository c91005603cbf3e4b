/* Searches metrics by words that people use.
 *
 * A text with any of ^ $ * + ? ( ) [ ] { } | \ is an extended regular expression, which the name or the description has
 * to match, in any case. Any other text is a list of words; all must match. The score tells how well: whole parts of
 * the name count most, then beginnings of parts, words of the description, and matches inside either. */
#ifndef CW_METRICDB_WORD_SEARCH_H
#define CW_METRICDB_WORD_SEARCH_H

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "metricdb/glossary.h"

enum { CW_WORD_SEARCH_WORDS = 16, CW_WORD_SEARCH_TEXT = 256, CW_WORD_SEARCH_MEANT = 64 };

struct cw_word_search {
    bool regular;
    bool whole; /* a match may span a base name and its rest */
    regex_t pattern;
    char text[CW_WORD_SEARCH_TEXT]; /* words in small letters, each with a NUL */
    uint32_t asked;                 /* number of words to find; 1 for a regular expression */
    uint32_t count;                 /* with synonyms behind the words */
    const char *words[CW_WORD_SEARCH_MEANT];
    uint32_t meant[CW_WORD_SEARCH_WORDS],
        meant_count[CW_WORD_SEARCH_WORDS]; /* for each word: its synonyms in `words` */
    char other_text[CW_WORD_SEARCH_TEXT];
};

/* The score of each word; 0: not found. */
struct cw_word_search_score {
    uint16_t words[CW_WORD_SEARCH_MEANT];
};

/* Release with cw_word_search_finish after success. */
enum cw_status cw_word_search_init(struct cw_word_search *search, const char *text, struct cw_error *err);
void cw_word_search_finish(struct cw_word_search *search);

/* Drops the words marked in `small`, unless all are. Call it before the functions below. */
void cw_word_search_forget(struct cw_word_search *search, const bool *small);

/* Adds the glossary's synonyms: together they stand for a word, and count half. */
void cw_word_search_understand(struct cw_word_search *search, const struct cw_glossary *glossary);

/* Raises the score to that of a name (its parts are joined by '_' and '.') or of a description. */
void cw_word_search_name(const struct cw_word_search *search, const char *name, struct cw_word_search_score *score);
void cw_word_search_description(const struct cw_word_search *search, const char *description,
                                struct cw_word_search_score *score);
/* Raises the score to another score. */
void cw_word_search_raise(const struct cw_word_search *search, const struct cw_word_search_score *other,
                          struct cw_word_search_score *score);
/* Returns the sum; 0 if a word is not found. */
uint32_t cw_word_search_total(const struct cw_word_search *search, const struct cw_word_search_score *score);

/* Whether a word is unknown: no metric of the chip has it, or only metrics that match a word with another spelling, and
 * no question of the data folder has it. Then the error is CW_ERR_NOTHING, with the words and the nearest known ones.
 */
bool cw_word_search_unknown(const struct cw_word_search *search, bool misspelt, const char *data,
                            const struct cw_chip *chip, const struct cw_glossary *glossary, struct cw_arena *arena,
                            struct cw_error *err);

#endif
