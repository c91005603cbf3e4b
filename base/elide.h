/* Long texts. A file has a text once, and output repeats it in each row that names it: a text within a row is bounded.
 *
 * A text that does not fit has its beginning and its end, and between them a hash of all of it, which keeps texts apart
 * that differ in the middle: "outer/...#0123456789abcdef.../inner". A text reads the same wherever it comes from. */
#ifndef CW_BASE_ELIDE_H
#define CW_BASE_ELIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash_table.h"

/* Bytes of a text in a row of output, its NUL included. Real names of kernels and paths of ranges are shorter. */
enum { CW_ELIDED_SIZE = 4096, CW_ELIDED_LEAST = 64 };

/* Length and hash of a text. Those of two texts, one behind the other, follow from those of each. */
struct cw_text_sum {
    size_t length;
    uint64_t hash, power;
};
struct cw_text_sum cw_text_sum(const char *text, size_t length);
struct cw_text_sum cw_text_sum_join(struct cw_text_sum a, struct cw_text_sum b);

/* Writes a text of which the sum is known, piece by piece, into `size` bytes, CW_ELIDED_LEAST at least. */
struct cw_elided {
    char *text;
    size_t size, room, at; /* room: for the beginning, and as much for the end */
    struct cw_text_sum sum;
};
void cw_elided_begin(struct cw_elided *elided, struct cw_text_sum sum, char *text, size_t size);
void cw_elided_add(struct cw_elided *elided, const char *piece, size_t length);
/* Returns `text`. */
const char *cw_elided_end(struct cw_elided *elided);

/* Writes `text` into a buffer of `size` bytes, CW_ELIDED_LEAST at least. Returns the buffer. */
const char *cw_elide(const char *text, char *buffer, size_t size);

/* Texts in CW_ELIDED_SIZE bytes, each long one made once. */
struct cw_elisions { /* begins as zeros */
    struct cw_elision {
        const char *from;
        char *to;
    } * items;
    size_t room;
    struct cw_hash_table table;
};
/* The text itself, or its elided form, which lives until the elisions are freed. A text stays where it is, and as it
 * is, as long. When out of memory, "". */
const char *cw_elisions_text(struct cw_elisions *elisions, const char *text);
void cw_elisions_free(struct cw_elisions *elisions);

#endif
