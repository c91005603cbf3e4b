/* Nearest names for a misspelt one. */
#ifndef CW_BASE_SUGGEST_H
#define CW_BASE_SUGGEST_H

#include <stddef.h>

/* Number of edits (insert, delete, replace, swap of neighbours) that turn `a` into `b`, or `limit` + 1 if there are
 * more. */
unsigned cw_edit_distance(const char *a, const char *b, unsigned limit);

/* Collects the nearest few of the candidates offered one by one. */
enum { CW_SUGGEST_MAX = 3 };
struct cw_suggest {
    const char *wanted;
    size_t count;
    const char *name[CW_SUGGEST_MAX]; /* best first; borrowed */
    unsigned distance[CW_SUGGEST_MAX];
};
void cw_suggest_init(struct cw_suggest *suggest, const char *wanted);
void cw_suggest_offer(struct cw_suggest *suggest, const char *candidate);
/* Writes "; did you mean a, b or c?", or "" if no candidate is near. Returns `buffer`. */
const char *cw_suggest_text(const struct cw_suggest *suggest, char *buffer, size_t size);

#endif
