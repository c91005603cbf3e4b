#define _GNU_SOURCE
#include "report/put.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/apart.h"
#include "base/shorten.h"
#include "base/text.h"

enum { SHORT_COLUMNS = 64 };

void cw_put_text(FILE *out, const char *before, const char *text)
{
    fputs(before, out);
    cw_text_put(out, CW_TEXT_JSON, text);
}

void cw_put_short(FILE *out, const char *before, const char *name)
{
    cw_put_short_apart(out, before, name, 0);
}

void cw_put_short_apart(FILE *out, const char *before, const char *name, size_t at)
{
    char text[CW_SHORT_SIZE];
    cw_shorten(name, SHORT_COLUMNS, text);
    cw_put_text(out, before, cw_show_apart(name, at, SHORT_COLUMNS, text));
}

size_t *cw_put_alike(const char *const *names, size_t count)
{
    return cw_find_alike(names, count, SHORT_COLUMNS, cw_shorten);
}

void cw_put_number(FILE *out, const char *before, double value)
{
    fputs(before, out);
    if (!isfinite(value))
        fputs("null", out);
    else if (value == floor(value) && fabs(value) < 1e15)
        fprintf(out, "%.0f", value);
    else
        fprintf(out, "%.9g", value);
}

void cw_put_count(FILE *out, const char *before, uint64_t value)
{
    fprintf(out, "%s%" PRIu64, before, value);
}

void cw_put_size(FILE *out, const char *before, const uint32_t size[3])
{
    fprintf(out, "%s[%" PRIu32 ",%" PRIu32 ",%" PRIu32 "]", before, size[0], size[1], size[2]);
}

void cw_put_bytes(FILE *out, const char *before, const void *data, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint8_t *at = data;
    fputs(before, out);
    putc('"', out);
    for (size_t i = 0; i < size; i += 3) {
        const size_t rest = size - i;
        const uint32_t three =
            (uint32_t)at[i] << 16 | (rest > 1 ? (uint32_t)at[i + 1] << 8 : 0) | (rest > 2 ? at[i + 2] : 0);
        putc_unlocked(digits[three >> 18], out);
        putc_unlocked(digits[three >> 12 & 63], out);
        putc_unlocked(rest > 1 ? digits[three >> 6 & 63] : '=', out);
        putc_unlocked(rest > 2 ? digits[three & 63] : '=', out);
    }
    putc('"', out);
}

static ssize_t write_escaped(void *to, const char *text, size_t size)
{
    FILE *out = to;
    for (size_t i = 0; i < size;) {
        const char *tag = memchr(text + i, '<', size - i);
        const size_t plain = (tag ? (size_t)(tag - text) : size) - i;
        fwrite(text + i, 1, plain, out);
        if (tag)
            fputs("\\u003c", out);
        i += plain + (tag != NULL);
    }
    return (ssize_t)size;
}

FILE *cw_put_into_page(FILE *to)
{
    return fopencookie(to, "w", (cookie_io_functions_t){.write = write_escaped});
}
