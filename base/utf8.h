/* UTF-8 as files and outputs of the project use it: well formed, without NUL. */
#ifndef CW_BASE_UTF8_H
#define CW_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Number of bytes of the first character; 0 if it is NUL or not UTF-8, or if the text is empty. */
size_t cw_utf8_length(const void *text, size_t length);
/* Whether the text is well-formed UTF-8 without NUL. */
bool cw_utf8_holds(const void *text, size_t length);
/* Makes text without NUL valid: if it is not UTF-8, replaces each byte beyond ASCII by a question mark. */
void cw_utf8_force(void *text, size_t length);

/* Number of bytes of the byte-order mark that some editors put before a text; 0 if there is none. */
size_t cw_utf8_mark(const void *text, size_t length);

#endif
