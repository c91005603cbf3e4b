/* JSON as it is printed into the page, piece by piece. */
#ifndef CW_REPORT_PUT_H
#define CW_REPORT_PUT_H

#include <stdint.h>
#include <stdio.h>

/* Each prints `before`, which is ours, and then the value. A number has nine digits; what is none is null. */
void cw_put_text(FILE *out, const char *before, const char *text);
/* The name of a kernel as lists and charts have it (base/shorten.h). */
void cw_put_short(FILE *out, const char *before, const char *name);
void cw_put_number(FILE *out, const char *before, double value);
void cw_put_count(FILE *out, const char *before, uint64_t value);
void cw_put_size(FILE *out, const char *before, const uint32_t size[3]);
/* Bytes as base64, in quotes. */
void cw_put_bytes(FILE *out, const char *before, const void *data, size_t size);

/* A stream that passes on what is printed, "<" as \u003c: in JSON the same, and no tag to a browser. To be closed,
 * which does not close `to`; write errors are those of `to`. NULL when out of memory. */
FILE *cw_put_into_page(FILE *to);

#endif
