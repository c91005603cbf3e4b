/* Tells names of a list apart that read the same once they are shortened. */
#ifndef CW_BASE_APART_H
#define CW_BASE_APART_H

#include <stdbool.h>

#include "base/shorten.h"

/* Returns for each name the place where it differs from the names that `shorten` makes equal to it in `width` columns,
 * or 0. A place is an opaque number for cw_show_apart. The caller frees the array. NULL without names and when out of
 * memory: show the shortened names as they are then. */
size_t *cw_find_alike(const char *const *names, size_t count, size_t width,
                      const char *(*shorten)(const char *name, size_t width, char text[CW_SHORT_SIZE]));
/* Makes a shortened name unique: keeps the beginning of `text`, which is the shortened name, and adds the part of the
 * name that begins at `at`, in `width` columns: "sm80_xmma_gemm..nt_n_tilesize64x64x8..". Leaves `text` alone if `at`
 * is 0 or the width is below 16 or above 400. Returns `text`. */
const char *cw_show_apart(const char *name, size_t at, size_t width, char text[CW_SHORT_SIZE]);
/* Whether cw_show_apart may have made `text` of the name; `shown` is the name's short form. */
bool cw_is_shown_apart(const char *name, const char *shown, const char *text);

#endif
