/* Names of a list that would read the same once they are shortened. */
#ifndef CW_BASE_APART_H
#define CW_BASE_APART_H

#include <stdbool.h>

#include "base/shorten.h"

/* Where each of the names differs from those that read as it does in `width` columns, by `shorten`: 0 where none does.
 * It is one place or two, for cw_show_apart alone.
 * To be freed; NULL without names, and when out of memory: then they are shortened as ever. */
size_t *cw_find_alike(const char *const *names, size_t count, size_t width,
                      const char *(*shorten)(const char *name, size_t width, char text[CW_SHORT_SIZE]));
/* The beginning of `text`, which is the name shortened, then what stands at `at` in the name and behind it, in `width`
 * columns: "sm80_xmma_gemm..nt_n_tilesize64x64x8..". Of less than 16 or more than 400 columns, and where `at` is 0, the
 * text stays. Returns `text`. */
const char *cw_show_apart(const char *name, size_t at, size_t width, char text[CW_SHORT_SIZE]);
/* Whether `text` may be what cw_show_apart made of the name, whose short form is `shown`. */
bool cw_is_shown_apart(const char *name, const char *shown, const char *text);

#endif
