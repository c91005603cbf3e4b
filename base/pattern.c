#include "base/pattern.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether the text has "(?!" or another look-around, which other regular expression libraries have. */
static bool looks_around(const char *text)
{
    static const char *const ways[] = {"(?!", "(?=", "(?<!", "(?<="};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strstr(text, ways[i]))
            return true;
    return false;
}

/* How often the text repeats at most, if all its intervals "{m,n}" are in each other. */
static uint64_t count_repeats(const char *text, uint64_t most)
{
    uint64_t product = 1;
    for (const char *at = text; (at = strchr(at, '{')) != NULL && product <= most; at++) {
        const size_t digits = strspn(at + 1, "0123456789,");
        const char *comma = memchr(at + 1, ',', digits);
        const uint64_t bound = strtoull(comma && comma[1] != '}' ? comma + 1 : at + 1, NULL, 10);
        if (digits && at[1 + digits] == '}' && bound)
            product *= bound < most ? bound : most + 1;
    }
    return product;
}

/* glibc recurses into each parenthesis: 250 take 90 KB of a thread's stack. Its memory grows with the square of the
 * length: 200 MB for 10,000 characters of "a*a*". It copies what an interval repeats: 3 GB for 26 characters. */
bool cw_pattern_fits(const char *text, char why[CW_PATTERN_WHY_SIZE])
{
    enum { LONGEST = 10000, DEEPEST = 250, MOST_REPEATS = 10000 };
    const size_t length = strlen(text);
    size_t depth = 0, deepest = 0;
    for (const char *at = text; *at; at++) {
        depth += *at == '(';
        depth -= depth && *at == ')';
        deepest = depth > deepest ? depth : deepest;
    }
    if (length > LONGEST)
        snprintf(why, CW_PATTERN_WHY_SIZE, "it has %zu characters, and may have %d", length, LONGEST);
    else if (deepest > DEEPEST)
        snprintf(why, CW_PATTERN_WHY_SIZE, "it has %zu parentheses in each other, and may have %d", deepest, DEEPEST);
    else if (count_repeats(text, MOST_REPEATS) > MOST_REPEATS)
        snprintf(why, CW_PATTERN_WHY_SIZE, "its intervals repeat more than %d times", MOST_REPEATS);
    else
        return true;
    return false;
}

bool cw_pattern_compile(regex_t *regex, const char *text, int flags, char why[CW_PATTERN_WHY_SIZE])
{
    if (!cw_pattern_fits(text, why))
        return false;
    const int failed = regcomp(regex, text, REG_EXTENDED | REG_NOSUB | flags);
    if (!failed)
        return true;
    if (looks_around(text))
        snprintf(why, CW_PATTERN_WHY_SIZE, "POSIX extended ones have no look-ahead; --exclude leaves kernels out");
    else
        regerror(failed, regex, why, CW_PATTERN_WHY_SIZE);
    return false;
}
