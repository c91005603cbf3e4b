/* Shows the progress of long work on standard error, if that is a terminal: "metric-eval: writing run.h5, 3 s". A
 * command that has the terminal to itself rewrites one line, at most four times a second, and removes it in the end. A
 * command that runs a program there prints whole lines instead, at most one in ten seconds, because the program may
 * print as well. Short work shows nothing. A thread prints, so that the work itself reads no clock. */
#ifndef CW_BASE_PROGRESS_H
#define CW_BASE_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Begins a piece of work, named by `format`. Pieces nest; only the outermost is shown. `shared`: a program uses the
 * terminal, too. Shows nothing if `quiet`, if standard error is no terminal, or, unless `shared`, if standard output is
 * a pipe, whose reader may draw on the terminal. */
void cw_progress_begin(bool quiet, bool shared, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Sets the current step; `done` of `total` equal steps are complete, which gives the remaining time. total 0: unknown.
 * Does nothing if nothing is shown. */
void cw_progress_tell(uint64_t done, uint64_t total, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Sets the count of steps and keeps the name of the work. Does nothing within nested work. */
void cw_progress_at(uint64_t done, uint64_t total);
/* Removes the line; call it before you print something else. */
void cw_progress_clear(void);
/* Ends the work. Does nothing if none has begun. */
void cw_progress_end(void);

/* ---- times and texts -------------------------------------------------------------------------------------------- */

enum { CW_PROGRESS_SIZE = 256 };

struct cw_progress {
    bool shared;
    char what[160];
    uint64_t done, total;
    uint64_t began_ms, step_ms, next_ms; /* times of the start, the last change of `done` and the next print */
};

void cw_progress_start(struct cw_progress *progress, bool shared, uint64_t now_ms);
void cw_progress_step(struct cw_progress *progress, uint64_t done, uint64_t total, uint64_t now_ms);
/* Writes the text to print now, if one is due, escaped and without an end of line, in less than `size` bytes (at most
 * CW_PROGRESS_SIZE). Returns its length, or 0. */
size_t cw_progress_text(struct cw_progress *progress, uint64_t now_ms, char *text, size_t size);

#endif
