#include "tests/support/alloc_fail.h"

#include <stddef.h>

static long left = -1, seen;
static bool failed;

/* Names that the linker gives: __wrap_X is called for X, and __real_X is X. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *text);

void cw_alloc_fail_after(long count)
{
    left = count;
    failed = false;
    seen = 0;
}

long cw_alloc_seen(void)
{
    return seen;
}

bool cw_alloc_failed(void)
{
    return failed;
}

long cw_alloc_fail_each(enum cw_status (*work)(struct cw_arena *own, struct cw_error *err))
{
    for (long count = 0;; count++) {
        struct cw_error err = CW_ERROR_INIT;
        struct cw_arena *own = cw_arena_create();
        cw_alloc_fail_after(count);
        enum cw_status status = work(own, &err);
        bool one_failed = failed;
        cw_alloc_fail_after(-1);
        cw_arena_destroy(own);
        if (status != (one_failed ? CW_ERR_NOMEM : CW_OK) || status != err.code)
            return -1 - count;
        if (!one_failed || count > 1000)
            return count;
    }
}

static bool is_due(void)
{
    seen++;
    if (left < 0 || left-- > 0)
        return false;
    failed = true;
    return true;
}

void *__wrap_malloc(size_t size)
{
    return is_due() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return is_due() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return is_due() ? NULL : __real_realloc(old, size);
}

char *__wrap_strdup(const char *text)
{
    return is_due() ? NULL : __real_strdup(text);
}
