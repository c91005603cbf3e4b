/* Preloaded into a command: LD_PRELOAD=io_faults.so IO_FAULTS=KIND:BYTES:PART command...
 *
 * After BYTES bytes of files whose path has PART in it:
 *   full   writes fail with ENOSPC, as on a full disk
 *   gone   reads, writes, and all other calls for such files fail with EIO, as those of a network drive that is cut off
 *   kill   the process dies by SIGKILL, in the middle of the write or read
 * Whatever BYTES is:
 *   links  links whose own path has PART in it cannot be read, as those of /proc where there is none
 * Files are known by their path in /proc/self/fd, so that it does not matter how they were opened. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static long long left = -1; /* bytes until then; -1: not asked yet */
static char kind[8], part[256];

static void ask(void)
{
    if (left < 0) {
        const char *text = getenv("IO_FAULTS");
        left = 0;
        if (!text || sscanf(text, "%7[^:]:%lld:%255s", kind, &left, part) != 3)
            kind[0] = 0;
    }
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int concerns(int fd)
{
    char link[64], path[4096];
    ask();
    if (!kind[0] || strcmp(kind, "links") == 0)
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t size = REAL(readlink)(link, path, sizeof path - 1);
    if (size < 0)
        return 0;
    path[size] = 0;
    return strstr(path, part) != NULL;
}

/* How many of the bytes are still possible; -1 with errno for none. */
static ssize_t allowed(int fd, size_t size, int writes)
{
    const int saved = errno;
    const int is = concerns(fd);
    errno = saved;
    if (!is || (!writes && strcmp(kind, "full") == 0))
        return (ssize_t)size;
    if ((size_t)left >= size && size) {
        left -= (long long)size;
        return (ssize_t)size;
    }
    if (left > 0) {
        const ssize_t some = (ssize_t)left;
        left = 0;
        return some;
    }
    if (strcmp(kind, "kill") == 0)
        raise(SIGKILL);
    errno = strcmp(kind, "full") == 0 ? ENOSPC : EIO;
    return -1;
}

ssize_t write(int fd, const void *data, size_t size)
{
    const ssize_t some = allowed(fd, size, 1);
    return some < 0 ? -1 : REAL(write)(fd, data, (size_t)some);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
    const ssize_t some = allowed(fd, size, 1);
    return some < 0 ? -1 : REAL(pwrite)(fd, data, (size_t)some, at);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at)
{
    const ssize_t some = allowed(fd, size, 1);
    return some < 0 ? -1 : REAL(pwrite64)(fd, data, (size_t)some, at);
}

/* MPI writes so; a part is as good as a failure. */
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at)
{
    size_t size = 0;
    for (int i = 0; i < count; i++)
        size += parts[i].iov_len;
    const ssize_t some = allowed(fd, size, 1);
    if (some >= 0 && (size_t)some < size && allowed(fd, size, 1) >= 0)
        errno = EIO;
    return some < 0 || (size_t)some < size ? -1 : REAL(pwritev)(fd, parts, count, at);
}

ssize_t read(int fd, void *data, size_t size)
{
    const ssize_t some = allowed(fd, size, 0);
    return some < 0 ? -1 : REAL(read)(fd, data, (size_t)some);
}

ssize_t pread(int fd, void *data, size_t size, off_t at)
{
    const ssize_t some = allowed(fd, size, 0);
    return some < 0 ? -1 : REAL(pread)(fd, data, (size_t)some, at);
}

ssize_t pread64(int fd, void *data, size_t size, off64_t at)
{
    const ssize_t some = allowed(fd, size, 0);
    return some < 0 ? -1 : REAL(pread64)(fd, data, (size_t)some, at);
}

/* What the C library's streams write goes past write() above. */
size_t fwrite(const void *data, size_t size, size_t count, FILE *out)
{
    const ssize_t some = size && count ? allowed(fileno(out), size * count, 1) : 0;
    const size_t written = some > 0 ? REAL(fwrite)(data, size, (size_t)some / size, out) : 0;
    if (some > 0 && written < count) {
        fflush(out);
        allowed(fileno(out), size * count, 1); /* what the rest meets */
    }
    return written;
}

int fsync(int fd)
{
    return concerns(fd) && left == 0 && strcmp(kind, "gone") == 0 ? (errno = EIO, -1) : REAL(fsync)(fd);
}

ssize_t readlink(const char *path, char *to, size_t room)
{
    ask();
    return strcmp(kind, "links") == 0 && strstr(path, part) ? (errno = ENOENT, -1) : REAL(readlink)(path, to, room);
}
