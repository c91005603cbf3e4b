/* UTF-8 as our files and outputs have it: well formed, without NUL. */
#ifndef CW_BASE_UTF8_H
#define CW_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* The bytes of the character that a text begins with; 0 where that is NUL or not UTF-8, or where the text is empty. */
size_t cw_utf8_length(const void *text, size_t length);
/* Whether it is well-formed UTF-8 without NUL. */
bool cw_utf8_holds(const void *text, size_t length);
/* Text without NUL that is not has a question mark for each byte beyond ASCII then. */
void cw_utf8_force(void *text, size_t length);

#endif
