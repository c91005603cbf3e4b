/* Shortens long texts for output. A file holds a text once, but output repeats it in each row that names it, so the
 * text in a row needs a bound.
 *
 * A text that does not fit keeps its beginning and its end. Between them stands a hash of the whole text, so that texts
 * which differ only in the middle stay apart: "outer/...#0123456789abcdef.../inner". The short form of a text is the
 * same from every source. */
#ifndef CW_BASE_ELIDE_H
#define CW_BASE_ELIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash_table.h"

/* Size of a text in a row of output, with its NUL. Real names of kernels and paths of ranges are shorter. */
enum { CW_ELIDED_SIZE = 4096, CW_ELIDED_LEAST = 64 };

/* Length and hash of a text. cw_text_sum_join computes the sum of two texts in a row from the sum of each. */
struct cw_text_sum {
    size_t length;
    uint64_t hash, power;
};
struct cw_text_sum cw_text_sum(const char *text, size_t length);
struct cw_text_sum cw_text_sum_join(struct cw_text_sum a, struct cw_text_sum b);

/* Writes a text whose sum is known, piece by piece, into a buffer of `size` bytes, at least CW_ELIDED_LEAST. */
struct cw_elided {
    char *text;
    size_t size, room, at; /* room: bytes for the beginning, and again for the end */
    struct cw_text_sum sum;
};
void cw_elided_begin(struct cw_elided *elided, struct cw_text_sum sum, char *text, size_t size);
void cw_elided_add(struct cw_elided *elided, const char *piece, size_t length);
/* Returns `text`. */
const char *cw_elided_end(struct cw_elided *elided);

/* Writes `text` into a buffer of `size` bytes, at least CW_ELIDED_LEAST. Returns the buffer. */
const char *cw_elide(const char *text, char *buffer, size_t size);

/* A cache of texts cut to CW_ELIDED_SIZE bytes: makes the short form of each long text once. */
struct cw_elisions { /* initialise with zeros */
    struct cw_elision {
        const char *from;
        char *to;
    } * items;
    size_t room;
    struct cw_hash_table table;
};
/* Returns the text itself, or its short form, which lives until cw_elisions_free. The caller keeps the text unchanged
 * and in place until then. "" when out of memory. */
const char *cw_elisions_text(struct cw_elisions *elisions, const char *text);
void cw_elisions_free(struct cw_elisions *elisions);

#endif
