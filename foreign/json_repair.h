/* JSON as some programs write it, made readable. */
#ifndef CW_FOREIGN_JSON_REPAIR_H
#define CW_FOREIGN_JSON_REPAIR_H

#include "base/bytes.h"

/* Writes a text, which jansson refuses, in JSON that it takes: `inf` and `nan` in place of a number are null, numbers
 * that are too large become reals or null, and NUL, lone surrogates and bytes that are not UTF-8 in a string become
 * U+FFFD. A string's control characters are escaped, and a backslash that begins no escape stands for itself. All else
 * is as it was, with its faults. */
void cw_json_repair(struct cw_writer *out, const void *text, size_t size);

#endif
