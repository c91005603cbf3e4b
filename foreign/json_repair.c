#include "foreign/json_repair.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/utf8.h"

static const char replacement[] = "\\ufffd";

static void put(struct cw_writer *out, const char *text)
{
    cw_write_bytes(out, text, strlen(text));
}

/* The number behind "\u"; -1 where there are no four digits. */
static long code_of(const char *at, const char *end)
{
    char digits[5] = "";
    if (end - at < 6 || at[0] != '\\' || at[1] != 'u')
        return -1;
    memcpy(digits, at + 2, 4);
    return strspn(digits, "0123456789abcdefABCDEF") == 4 ? strtol(digits, NULL, 16) : -1;
}

/* Takes what begins with a backslash. */
static const char *take_escape(struct cw_writer *out, const char *at, const char *end)
{
    const long code = code_of(at, end), next = code >= 0 ? code_of(at + 6, end) : -1;
    const bool pair = code >= 0xd800 && code < 0xdc00 && next >= 0xdc00 && next < 0xe000;
    if (code == 0 || (code >= 0xd800 && code < 0xe000 && !pair)) {
        put(out, replacement);
        return at + 6;
    }
    if (code < 0 && (end - at < 2 || !at[1] || !strchr("\"\\/bfnrt", at[1]))) {
        put(out, "\\\\");
        return at + 1;
    }
    const size_t size = pair ? 12 : code >= 0 ? 6 : 2;
    cw_write_bytes(out, at, size);
    return at + size;
}

static const char *take_string(struct cw_writer *out, const char *at, const char *end)
{
    put(out, "\"");
    for (at++; at < end && *at != '"';) {
        const size_t size = cw_utf8_length(at, (size_t)(end - at));
        if (*at == '\\') {
            at = take_escape(out, at, end);
            continue;
        }
        if (!size)
            put(out, replacement);
        else if (size == 1 && (unsigned char)*at < 0x20)
            cw_write_format(out, "\\u%04x", (unsigned char)*at);
        else
            cw_write_bytes(out, at, size);
        at += size ? size : 1;
    }
    if (at < end)
        put(out, "\"");
    return at < end ? at + 1 : end;
}

static bool is_of_word(char c)
{
    return isalnum((unsigned char)c) || c == '-' || c == '+' || c == '.';
}

static bool is_no_number(const char *word)
{
    static const char *const words[] = {"inf", "infinity", "nan"};
    word += *word == '-' || *word == '+';
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(word, words[i]) == 0)
            return true;
    return false;
}

/* Takes a number, or a word such as true. */
static const char *take_word(struct cw_writer *out, const char *at, const char *end)
{
    enum { MOST = 400, MOST_DIGITS = 18 };
    char word[MOST + 1];
    size_t size = 1;
    while (at + size < end && is_of_word(at[size]))
        size++;
    const size_t kept = size < MOST ? size : MOST;
    memcpy(word, at, kept);
    word[kept] = 0;
    const size_t digits = strspn(word + (*word == '-'), "0123456789");
    if (is_no_number(word) || (digits && (kept < size || !isfinite(strtod(word, NULL))))) {
        put(out, "null");
        return at + size;
    }
    cw_write_bytes(out, at, size);
    if (digits > MOST_DIGITS && digits + (*word == '-') == size)
        put(out, ".0");
    return at + size;
}

void cw_json_repair(struct cw_writer *out, const void *text, size_t size)
{
    const char *at = text, *end = at + size;
    while (at < end)
        if (*at == '"') {
            at = take_string(out, at, end);
        } else if (is_of_word(*at)) {
            at = take_word(out, at, end);
        } else {
            cw_write_bytes(out, at, 1);
            at++;
        }
}
