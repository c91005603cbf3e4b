/* POSIX extended regular expressions, as --kernel, --exclude, --range and --process take them. */
#ifndef CW_BASE_PATTERN_H
#define CW_BASE_PATTERN_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

enum { CW_PATTERN_WHY_SIZE = 200 };

/* Whether the C library can compile a text of this length and nesting. Returns false and says why if not. */
bool cw_pattern_fits(const char *text, char why[CW_PATTERN_WHY_SIZE]);
/* Compiles an expression for matching alone; adds `flags` such as REG_ICASE. Returns false and says why in `why` if the
 * text is no expression, or does not fit. Free the regex with regfree after success. */
bool cw_pattern_compile(regex_t *regex, const char *text, int flags, char why[CW_PATTERN_WHY_SIZE]);

#endif
