/* Splits names and text of people into words: ASCII letters and digits, in any case. */
#ifndef CW_BASE_WORDS_H
#define CW_BASE_WORDS_H

#include <stdbool.h>
#include <stddef.h>

struct cw_word {
    const char *text;
    size_t length;
};

/* Returns the next word and moves *text behind it; an empty word at the end. */
struct cw_word cw_word_next(const char **text);
bool cw_word_same(struct cw_word a, struct cw_word b);
/* Whether they are forms of one word: "spill", "spills", "spilled" and "spilling" are. */
bool cw_word_alike(struct cw_word a, struct cw_word b);

#endif
