/* POSIX extended regular expressions, as --kernel, --exclude, --range and --process take them. */
#ifndef CW_BASE_PATTERN_H
#define CW_BASE_PATTERN_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

enum { CW_PATTERN_WHY_SIZE = 200 };

/* Compiles an expression that is only asked whether it matches; `flags` are added, such as REG_ICASE. Where it is none,
 * `why` says so. To be freed by regfree where it is. */
bool cw_pattern_compile(regex_t *regex, const char *text, int flags, char why[CW_PATTERN_WHY_SIZE]);

#endif
