/* Arrays that may be larger than memory. An array of CW_LARGE_BYTES or more lies in a file without a name, mapped into
 * memory. The process keeps about CW_LARGE_KEPT bytes of these files in memory. Where no file can be had, the array is in
 * memory like any other.
 *
 * Callers that walk through such arrays call cw_large_step for each item: it lets go of pages when there are too many.
 * Each page comes back once where one array, or several side by side, are walked through in order. */
#ifndef CW_BASE_LARGE_H
#define CW_BASE_LARGE_H

#include <stddef.h>
#include <stdint.h>

#ifndef CW_LARGE_BYTES /* a build for tests may have less */
#define CW_LARGE_BYTES ((size_t)64 << 20)
#define CW_LARGE_KEPT ((size_t)256 << 20)
#define CW_LARGE_STEPS (1 << 11) /* from one check to the next */
#endif

struct cw_large_array;
struct cw_large { /* begins as zeros; not for several threads at once */
    struct cw_large_array *in_files, *in_memory;
    uint32_t steps;
    int fd; /* where the system says how much is kept; 0: not open */
};

/* Zeros, until cw_large_free or cw_large_free_all. NULL when out of memory, or when count * size overflows; a zero size
 * yields a valid pointer. */
void *cw_large_alloc(struct cw_large *large, size_t count, size_t size);
/* One array; NULL is allowed. */
void cw_large_free(struct cw_large *large, const void *array);
void cw_large_free_all(struct cw_large *large);

/* Lets go of all pages of the arrays in files, which stay as they are. */
void cw_large_let_go(struct cw_large *large);
/* The same where the process has more than CW_LARGE_KEPT bytes of files in memory. */
void cw_large_check(struct cw_large *large);

/* NULL is allowed. */
static inline void cw_large_step(struct cw_large *large)
{
    if (large && large->in_files && ++large->steps % CW_LARGE_STEPS == 0)
        cw_large_check(large);
}

#endif
