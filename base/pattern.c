#include "base/pattern.h"

#include <stdio.h>
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

bool cw_pattern_compile(regex_t *regex, const char *text, int flags, char why[CW_PATTERN_WHY_SIZE])
{
    const int failed = regcomp(regex, text, REG_EXTENDED | REG_NOSUB | flags);
    if (!failed)
        return true;
    if (looks_around(text))
        snprintf(why, CW_PATTERN_WHY_SIZE, "POSIX extended ones have no look-ahead; --exclude leaves kernels out");
    else
        regerror(failed, regex, why, CW_PATTERN_WHY_SIZE);
    return false;
}
