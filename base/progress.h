/* What long work is at, on standard error where that is a terminal: "metric-eval: writing run.h5, 3 s". A command that
 * has the terminal to itself rewrites one line, four times a second at most, and removes it in the end. One that runs a
 * program there, which may print as well, prints whole lines instead, one in ten seconds at most. Work that is over
 * soon says nothing. A thread prints, so that the work does not look at the time. */
#ifndef CW_BASE_PROGRESS_H
#define CW_BASE_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A piece of work begins, which `format` names; within another, that is what is told of. `shared`: a program has the terminal, too. Nothing is shown
 * if `quiet`, where standard error is no terminal, nor, unless `shared`, where standard output is a pipe, whose reader
 * may draw on the terminal. */
void cw_progress_begin(bool quiet, bool shared, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* What it is at now; `done` of `total` equal steps are behind it, from which the time that is left is told. total 0:
 * unknown. Does nothing where nothing is shown. */
void cw_progress_tell(uint64_t done, uint64_t total, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The same of the work that has begun, as it was named. Of work within another nothing is told. */
void cw_progress_at(uint64_t done, uint64_t total);
/* Removes the line, before something else is printed. */
void cw_progress_clear(void);
/* The work is over. Does nothing where none has begun. */
void cw_progress_end(void);

/* ---- when and what ---------------------------------------------------------------------------------------------- */

enum { CW_PROGRESS_SIZE = 256 };

struct cw_progress {
    bool shared;
    char what[160];
    uint64_t done, total;
    uint64_t began_ms, step_ms, next_ms; /* of one clock: the start, the last change of `done`, when to print again */
};

void cw_progress_start(struct cw_progress *progress, bool shared, uint64_t now_ms);
void cw_progress_step(struct cw_progress *progress, uint64_t done, uint64_t total, uint64_t now_ms);
/* The text to print now, if it is time for one, without an end of line and escaped; it has fewer than `size` bytes, at
 * most CW_PROGRESS_SIZE. Returns its length, or 0. */
size_t cw_progress_text(struct cw_progress *progress, uint64_t now_ms, char *text, size_t size);

#endif
