#include "base/utf8.h"

#include <stdint.h>
#include <string.h>

/* Refuses surrogates and overlong forms. */
size_t cw_utf8_length(const void *text, size_t length)
{
    const uint8_t *s = text;
    uint8_t c = length ? s[0] : 0;
    size_t whole = c < 0x80 ? 1 : c >= 0xc2 && c < 0xe0 ? 2 : c >= 0xe0 && c < 0xf0 ? 3 : c >= 0xf0 && c < 0xf5 ? 4 : 0;
    if (c == 0 || !whole || whole > length)
        return 0;
    if ((c == 0xe0 && s[1] < 0xa0) || (c == 0xed && s[1] > 0x9f) || (c == 0xf0 && s[1] < 0x90) ||
        (c == 0xf4 && s[1] > 0x8f))
        return 0;
    for (size_t i = 1; i < whole; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    return whole;
}

bool cw_utf8_holds(const void *text, size_t length)
{
    const uint8_t *s = text;
    for (size_t i = 0, n; i < length; i += n)
        if (!(n = cw_utf8_length(s + i, length - i)))
            return false;
    return true;
}

void cw_utf8_force(void *text, size_t length)
{
    uint8_t *bytes = text;
    if (cw_utf8_holds(text, length))
        return;
    for (size_t i = 0; i < length; i++)
        if (bytes[i] >= 0x80)
            bytes[i] = '?';
}

size_t cw_utf8_mark(const void *text, size_t length)
{
    return length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}
