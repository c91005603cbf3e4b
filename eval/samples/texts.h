/* Texts that occur many times: equal ones become one, in memory that has them in the order of strcmp, so that to
 * compare two is to compare where they are. */
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

/* Notes a text, which must live until the others are ordered. */
void cw_texts_note(struct cw_texts *texts, const char *text);
/* Orders those that were noted, in memory of `arena`. False when out of memory. */
bool cw_texts_order(struct cw_texts *texts, struct cw_arena *arena);
/* The one that stands for a text that was noted, by its address. */
const char *cw_texts_one(const struct cw_texts *texts, const char *text);
void cw_texts_free(struct cw_texts *texts);

/* As strcmp, of texts that cw_texts_one returned. */
static inline int cw_text_compare(const char *a, const char *b)
{
    return (a > b) - (a < b);
}

#endif
