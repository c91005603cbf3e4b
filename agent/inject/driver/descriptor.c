#define _GNU_SOURCE
#include "agent/inject/driver/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Programs get the lowest free number, and shells and daemons use certain low ones. */
enum { LOWEST = 3, HIGH = LOWEST << 8 };

bool cw_descriptor_take(struct cw_descriptor *d, int fd)
{
    struct stat file;
    *d = (struct cw_descriptor){0};
    if (fd < 0)
        return false;
    int moved = -1;
    for (int at = HIGH; moved < 0 && at >= LOWEST; at /= 2) /* lower where the limit is */
        moved = fcntl(fd, F_DUPFD_CLOEXEC, at);
    int reason = errno;
    close(fd);
    errno = reason;
    if (moved < 0 || fstat(moved, &file) != 0)
        return false;
    *d = (struct cw_descriptor){moved, file.st_dev, file.st_ino};
    return true;
}

int cw_descriptor_number(const struct cw_descriptor *d)
{
    struct stat file;
    return d->inode && fstat(d->fd, &file) == 0 && file.st_dev == d->device && file.st_ino == d->inode ? d->fd : -1;
}

bool cw_descriptor_may_grow(size_t size)
{
    struct rlimit most;
    errno = EFBIG;
    return getrlimit(RLIMIT_FSIZE, &most) == 0 && (most.rlim_cur == RLIM_INFINITY || size <= most.rlim_cur);
}

void cw_descriptor_close(struct cw_descriptor *d)
{
    int fd = cw_descriptor_number(d);
    if (fd >= 0)
        close(fd);
    *d = (struct cw_descriptor){0};
}
