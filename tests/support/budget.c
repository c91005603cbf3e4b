#define _GNU_SOURCE
#include "tests/support/budget.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#ifdef CW_SANITIZE
enum { SLOWER = 4 }; /* a sanitizer costs time, and is not what the budget is about */
#else
enum { SLOWER = 2 };
#endif
enum { BYTES_PER_BYTE = 64, BYTES_FIXED = 64 << 20, BYTES_PER_SECOND = 10 * 1000 * 1000, SECONDS_FIXED = 1 };

static atomic_llong held; /* bytes that are allocated now */
static atomic_llong most = INT64_MAX;

/* Only what is safe inside malloc and in a handler of a signal. */
static _Noreturn void stop(const char *message)
{
    most = INT64_MAX;
    if (write(STDERR_FILENO, message, strlen(message)) < 0)
        abort();
    abort();
}

static void add(long long bytes)
{
    if (atomic_fetch_add(&held, bytes) + bytes > atomic_load(&most))
        stop("this input takes more memory than 64 times its size and 64 MB\n");
}

static void too_late(int signal)
{
    (void)signal;
    stop("this input takes more time than 1 s for each 10 MB and 1 s\n");
}

#ifdef CW_SANITIZE
/* Of the sanitizers' runtime, in gcc's and clang's sanitizer/allocator_interface.h. */
int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *, size_t),
                                              void (*on_free)(const volatile void *));
size_t __sanitizer_get_allocated_size(const volatile void *p);

static void on_malloc(const volatile void *p, size_t size)
{
    if (p)
        add((long long)size);
}

static void on_free(const volatile void *p)
{
    if (p)
        add(-(long long)__sanitizer_get_allocated_size(p));
}

static void watch_memory(void)
{
    if (!__sanitizer_install_malloc_and_free_hooks(on_malloc, on_free))
        stop("the sanitizer takes no more hooks\n");
}
#else
/* The C library lets a program define the allocator, and keeps its own under these names. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *p);

/* Before it is allocated: what is far too much may fail, which would hide it. */
static void *taken(void *p, size_t size)
{
    add(p ? (long long)malloc_usable_size(p) - (long long)size : -(long long)size);
    return p;
}

__attribute__((visibility("default"))) void *malloc(size_t size)
{
    size = size < PTRDIFF_MAX ? size : PTRDIFF_MAX;
    add((long long)size);
    return taken(__libc_malloc(size), size);
}

__attribute__((visibility("default"))) void *calloc(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX)
        bytes = PTRDIFF_MAX;
    add((long long)bytes);
    return taken(__libc_calloc(count, size), bytes);
}

__attribute__((visibility("default"))) void *realloc(void *old, size_t size)
{
    long long before = old ? (long long)malloc_usable_size(old) : 0;
    size = size < PTRDIFF_MAX ? size : PTRDIFF_MAX;
    add((long long)size);
    void *p = taken(__libc_realloc(old, size), size);
    if (p || !size)
        add(-before);
    return p;
}

__attribute__((visibility("default"))) void *memalign(size_t alignment, size_t size)
{
    add((long long)size);
    return taken(__libc_memalign(alignment, size), size);
}

__attribute__((visibility("default"))) void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

__attribute__((visibility("default"))) int posix_memalign(void **p, size_t alignment, size_t size)
{
    *p = memalign(alignment, size);
    return *p ? 0 : ENOMEM;
}

__attribute__((visibility("default"))) void free(void *p)
{
    if (p)
        add(-(long long)malloc_usable_size(p));
    __libc_free(p);
}

static void watch_memory(void)
{
}
#endif

static void limit_seconds(long seconds)
{
    const struct itimerval after = {.it_value.tv_sec = seconds};
    if (setitimer(ITIMER_PROF, &after, NULL) != 0)
        stop("no timer of processor time\n");
}

void cw_budget_begin(size_t size)
{
    static bool ready;
    if (!ready) {
        watch_memory();
        signal(SIGPROF, too_late);
        ready = true;
    }
    limit_seconds(SLOWER * (long)(SECONDS_FIXED + size / BYTES_PER_SECOND));
    most = held + BYTES_FIXED + BYTES_PER_BYTE * (long long)size;
}

void cw_budget_end(void)
{
    most = INT64_MAX;
    limit_seconds(0);
}
