/* Notices: lines that a call adds to a list, and its caller prints. They are no errors. */
#ifndef CW_VIEW_NOTICES_H
#define CW_VIEW_NOTICES_H

#include "base/arena.h"
#include "base/bytes.h"

struct cw_notice;

/* A list without repeated texts, in the order of their arrival. Initialize as {.arena = ...}; the arena keeps the
 * texts. */
struct cw_notices {
    struct cw_arena *arena;
    struct cw_notice *first, *last; /* view/notices.c */
};

/* Adds a line. NULL `notices`: does nothing. Without memory the line is lost. */
void cw_notice(struct cw_notices *notices, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Returns the text behind *at, one line without a newline, not escaped, and moves *at there; NULL at the end. Begin
 * with *at NULL. */
const char *cw_notice_next(const struct cw_notices *notices, const struct cw_notice **at);
/* Adds the text of a writer, and frees the writer. */
void cw_notice_take(struct cw_notices *notices, struct cw_writer *line);

#endif
