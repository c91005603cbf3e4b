/* Lines that are worth telling and are no errors: a list that a call fills and its caller prints. */
#ifndef CW_VIEW_NOTICES_H
#define CW_VIEW_NOTICES_H

#include "base/arena.h"
#include "base/bytes.h"

struct cw_notice {
    const char *text; /* one line without its end; not escaped */
    struct cw_notice *next;
    uint64_t hash; /* of the text, by which the first one begins a tree */
    struct cw_notice *below[2];
};

/* In the order in which they came, each text once. Begins as {.arena = ...}, where the texts live. */
struct cw_notices {
    struct cw_arena *arena;
    struct cw_notice *first, *last;
};

/* Adds a line. NULL `notices`: nobody listens. A line that finds no memory is lost. */
void cw_notice(struct cw_notices *notices, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds the text of a writer, and frees it. */
void cw_notice_take(struct cw_notices *notices, struct cw_writer *line);

#endif
