/* Prints text for people. Names, file names and descriptions come from files and command lines, so they may hold
 * anything: terminal escapes, ends of lines, characters that reverse the following text, formulas for spreadsheets,
 * invalid UTF-8. All such text is printed through this module.
 *
 * Escapes replace control characters (\n, \t, \x1b, \u009b), line separators, characters that change the direction of
 * text or are invisible (\u202e), and bytes that are not UTF-8 (\xff). A backslash is not escaped, so that text may be
 * escaped twice. */
#ifndef CW_BASE_TEXT_H
#define CW_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum cw_text_kind {
    CW_TEXT_LINE,  /* part of a line for a terminal or a message */
    CW_TEXT_CELL,  /* a whole CSV cell: escaped as in a line, in quotes if needed (RFC 4180), and with an apostrophe in
                      front if a spreadsheet would read it as a formula */
    CW_TEXT_FRAME, /* part of a folded stack: as in a line, and ; as \x3b */
    CW_TEXT_LABEL, /* a whole Prometheus label value with its quotes: as in a line, then \ and " behind a \ */
    CW_TEXT_JSON,  /* a whole JSON string with its quotes; escapes are \u001b, invalid UTF-8 is U+FFFD */
};

/* Stands for the name of a kernel, range or call whose name is empty, where people read it: a row of a table, a frame
 * of a stack, a label, an event of a timeline. */
#define CW_TEXT_NO_NAME "(no name)"

/* Write errors stay in the stream (ferror), for all functions that take a FILE. */
void cw_text_put(FILE *out, enum cw_text_kind kind, const char *text);

/* Writes a paragraph as CW_TEXT_LINE at `column` of the current line. A word that would go beyond `width` columns
 * begins a new line, indented to `column`; width 0: one line. Writes no end of line behind the paragraph. */
void cw_text_put_words(FILE *out, const char *text, size_t length, unsigned column, unsigned width);
/* Whether a text ends in another, or is it. */
bool cw_text_ends_in(const char *text, const char *end);
/* Columns of the terminal behind a descriptor; 0: no terminal, or unknown. */
unsigned cw_text_width(int fd);

/* A text with lines that a terminal may be too narrow for. Write it, escaped, to the stream that begin() returns; end()
 * prints it to `out` and breaks long lines between words. Further lines begin below the last part of the line that two
 * blanks set off, or deeper than the line if that leaves a word no room. Files and pipes get the lines whole. */
struct cw_text_wrap {
    FILE *out, *to;
    char *text;
    size_t size;
    unsigned width;
};
FILE *cw_text_wrap_begin(struct cw_text_wrap *wrap, FILE *out);
void cw_text_wrap_end(struct cw_text_wrap *wrap);

/* Prints as fprintf does, with the text of every %s and %c escaped. Widths count columns of the printed text. The
 * format itself is printed as it is. It takes d i u o x X c s and the conversions of doubles. */
void cw_text_print(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes as snprintf does, with everything escaped: always one line. Cuts only between characters. Returns the length
 * of the text written. */
size_t cw_text_format(char *buffer, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
size_t cw_text_vformat(char *buffer, size_t size, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

/* Writes at most `most` bytes of a text as CW_TEXT_JSON, without a NUL behind it, and cuts only between characters.
 * Returns the length written, which is below `size`; 0 if there is no room. */
size_t cw_text_json(char *buffer, size_t size, const char *text, size_t most);

/* Quotes a word for a command that people paste into a shell: "plain", "'a b'", and "$'a\\nb'" where a line would have
 * escapes (POSIX.1-2024; dash does not know it). Returns malloc memory; NULL when out of memory. */
char *cw_text_quote(const char *word);
/* Whether it stays as it is. */
bool cw_text_is_plain_word(const char *word);

/* Number of columns of a text printed as CW_TEXT_LINE: 2 for an East Asian letter or an emoji, 0 for a mark on the
 * letter before it. */
size_t cw_text_columns(const char *text);
/* Where to cut such a text: number of bytes of its longest beginning, and place of its longest end, in at most so many
 * columns. Neither is within a letter: marks stay with the letter before them, however many bytes they have. */
size_t cw_text_head(const char *text, size_t columns);
size_t cw_text_tail(const char *text, size_t columns);
/* The place of the letter whose bytes, or bytes of its marks, hold the place `at`. */
size_t cw_text_letter(const char *text, size_t at);

/* Writes finished JSON and escapes the characters in its strings; `out` is a FILE. Returns 0, or -1 for a write error,
 * as json_dump_callback of jansson expects. */
int cw_text_put_json(const char *json, size_t size, void *out);

#endif
