#define _GNU_SOURCE
#include "base/large.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/file.h"

struct cw_large_array {
    struct cw_large_array *next;
    void *bytes;
    size_t size;
};

/* Bytes in a file, or NULL. The file has its whole size at once: a write to memory that finds the disk full would end
 * the process, and so would a file beyond the limit of the process. */
static void *map(size_t size)
{
    struct rlimit most;
    struct cw_error err = CW_ERROR_INIT;
    void *bytes = MAP_FAILED;
    int fd;
    if (getrlimit(RLIMIT_FSIZE, &most) != 0 || most.rlim_cur < size || cw_file_open_nameless(&fd, &err) != CW_OK)
        return NULL;
    if (posix_fallocate(fd, 0, (off_t)size) == 0)
        bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return bytes == MAP_FAILED ? NULL : bytes;
}

void *cw_large_alloc(struct cw_large *large, size_t count, size_t size)
{
    struct cw_large_array *array = size && count > SIZE_MAX / size ? NULL : malloc(sizeof *array);
    if (!array)
        return NULL;
    *array = (struct cw_large_array){.size = count * size};
    if (array->size >= CW_LARGE_BYTES && (array->bytes = map(array->size))) {
        array->next = large->in_files;
        large->in_files = array;
    } else if ((array->bytes = calloc(array->size ? array->size : 1, 1))) {
        array->next = large->in_memory;
        large->in_memory = array;
    }
    void *const bytes = array->bytes;
    if (!bytes)
        free(array);
    return bytes;
}

/* Takes the array at `link` off its list. */
static void drop(struct cw_large_array **link, bool in_file)
{
    struct cw_large_array *array = *link;
    *link = array->next;
    if (in_file)
        munmap(array->bytes, array->size);
    else
        free(array->bytes);
    free(array);
}

static bool find_and_drop(struct cw_large_array **list, const void *bytes, bool in_file)
{
    while (*list && (*list)->bytes != bytes)
        list = &(*list)->next;
    const bool found = *list;
    if (found)
        drop(list, in_file);
    return found;
}

void cw_large_free(struct cw_large *large, const void *array)
{
    if (array && !find_and_drop(&large->in_files, array, true))
        find_and_drop(&large->in_memory, array, false);
}

void cw_large_free_all(struct cw_large *large)
{
    while (large->in_files)
        drop(&large->in_files, true);
    while (large->in_memory)
        drop(&large->in_memory, false);
    if (large->fd > 0)
        close(large->fd);
    large->fd = 0;
}

/* The pages stay with the system, which writes them to the disk when it needs the memory. */
void cw_large_let_go(struct cw_large *large)
{
    for (struct cw_large_array *a = large->in_files; a; a = a->next)
        madvise(a->bytes, a->size, MADV_DONTNEED);
}

/* Bytes of files that are in the memory of the process; all that there may be where the system does not say. */
static uint64_t kept(struct cw_large *large)
{
    char text[128] = "";
    unsigned long long pages = UINT64_MAX;
    if (!large->fd)
        large->fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    const ssize_t size = pread(large->fd, text, sizeof text - 1, 0);
    text[size > 0 ? size : 0] = 0;
    const char *shared = strchr(text, ' ');
    shared = shared ? strchr(shared + 1, ' ') : NULL;
    if (shared)
        pages = strtoull(shared + 1, NULL, 10);
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    return pages > UINT64_MAX / page ? UINT64_MAX : pages * page;
}

void cw_large_check(struct cw_large *large)
{
    if (kept(large) > CW_LARGE_KEPT)
        cw_large_let_go(large);
}
