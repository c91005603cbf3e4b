/* POSIX extended regular expressions, as --kernel, --exclude, --range and --process take them. */
#ifndef CW_BASE_PATTERN_H
#define CW_BASE_PATTERN_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

enum { CW_PATTERN_WHY_SIZE = 200 };

/* Compiles an expression for matching alone; adds `flags` such as REG_ICASE. Returns false and says why in `why` if the
 * text is no expression. Free the regex with regfree after success. */
bool cw_pattern_compile(regex_t *regex, const char *text, int flags, char why[CW_PATTERN_WHY_SIZE]);

#endif
