/* Text on its way to people. Names, file names and descriptions come from files and command lines, so they may hold
 * anything: terminal escapes, ends of lines, characters that reverse what follows, formulas for spreadsheets, bytes
 * that are no UTF-8. Whatever prints such text prints it through here.
 *
 * Shown as escapes are control characters (\n, \t, \x1b, \u009b), line separators, characters that change the direction
 * of text or cannot be seen (\u202e), and bytes that are not UTF-8 (\xff). A backslash stays one, so that text may be
 * escaped twice. */
#ifndef CW_BASE_TEXT_H
#define CW_BASE_TEXT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

enum cw_text_kind {
    CW_TEXT_LINE,  /* part of a line for a terminal or a message */
    CW_TEXT_CELL,  /* a whole CSV cell: escaped as in a line, in quotes where it must be (RFC 4180), and with an
                      apostrophe in front where a spreadsheet would take it for a formula */
    CW_TEXT_FRAME, /* part of a folded stack: as in a line, and ; as \x3b */
    CW_TEXT_LABEL, /* a whole label's value of Prometheus with its quotes: as in a line, then \ and " behind a \ */
    CW_TEXT_JSON,  /* a whole JSON string with its quotes; escapes are \u001b, what is not UTF-8 is U+FFFD */
};

/* Write errors stay in the stream (ferror), here and below. */
void cw_text_put(FILE *out, enum cw_text_kind kind, const char *text);

/* A paragraph as CW_TEXT_LINE whose line has come to `column`, where the next ones begin: words that would go beyond
 * `width` columns begin one, unless it is 0. No end of a line behind it. */
void cw_text_put_words(FILE *out, const char *text, size_t length, unsigned column, unsigned width);
/* The columns of the terminal that a descriptor leads to; 0: of none, and where they are not known. */
unsigned cw_text_width(int fd);

/* As fprintf, with the text of every %s and %c escaped; widths count the columns of what is printed, one for each
 * character. The format itself is ours and is printed as it is. It takes d i u o x X c s and those of doubles. */
void cw_text_print(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* As snprintf, and all of it escaped: always one line. What is cut off is cut between characters. Returns the length of
 * what is there. */
size_t cw_text_format(char *buffer, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
size_t cw_text_vformat(char *buffer, size_t size, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

/* The columns of a text as CW_TEXT_LINE. */
size_t cw_text_columns(const char *text);

/* Writes JSON that is complete but for the escapes of characters in its strings; `out` is a FILE. Returns 0, or -1 for
 * a write error: what json_dump_callback of jansson calls. */
int cw_text_put_json(const char *json, size_t size, void *out);

#endif
