/* Prints JSON into the page, piece by piece. */
#ifndef CW_REPORT_PUT_H
#define CW_REPORT_PUT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Each prints `before` as it is (so it must not come from a file), then the value. Numbers have nine digits; NaN and
 * infinity become null. */
void cw_put_text(FILE *out, const char *before, const char *text);
/* The short name of a kernel, for lists and charts (base/shorten.h). */
void cw_put_short(FILE *out, const char *before, const char *name);
/* The same in a list, where short names differ if the names do. `at` is one of cw_put_alike, or 0. */
void cw_put_short_apart(FILE *out, const char *before, const char *name, size_t at);
/* [name of a list]; cw_find_alike (base/apart.h) for short names. The caller frees it; NULL stands for zeros. */
size_t *cw_put_alike(const char *const *names, size_t count);
void cw_put_number(FILE *out, const char *before, double value);
void cw_put_count(FILE *out, const char *before, uint64_t value);
void cw_put_size(FILE *out, const char *before, const uint32_t size[3]);
/* Bytes as base64, in quotes. */
void cw_put_bytes(FILE *out, const char *before, const void *data, size_t size);

/* A stream that writes to `to` and replaces "<" by \u003c: JSON reads the same, and a browser sees no tag. Close it
 * before `to`; `to` stays open and keeps the write errors. NULL: out of memory. */
FILE *cw_put_into_page(FILE *to);

#endif
