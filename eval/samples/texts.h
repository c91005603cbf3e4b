/* One copy for all equal texts. The copies lie in the order of strcmp, so that comparing two addresses compares their
 * texts. */
#ifndef CW_EVAL_SAMPLES_TEXTS_H
#define CW_EVAL_SAMPLES_TEXTS_H

#include "base/arena.h"
#include "base/error.h"

struct cw_texts {
    size_t count, capacity;
    struct cw_text {
        const char *from, *to;
    } * items;
    bool nomem;
};

/* Notes a text, which must live until cw_texts_order. */
void cw_texts_note(struct cw_texts *texts, const char *text);
/* Copies and orders the noted texts, in memory of `arena`. False when out of memory. */
bool cw_texts_order(struct cw_texts *texts, struct cw_arena *arena);
/* The copy of a noted text, by the text's address. */
const char *cw_texts_one(const struct cw_texts *texts, const char *text);
void cw_texts_free(struct cw_texts *texts);

/* As strcmp, of two results of cw_texts_one. */
static inline int cw_text_compare(const char *a, const char *b)
{
    return (a > b) - (a < b);
}

#endif
