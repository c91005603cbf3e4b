#include "tests/support/io_fail.h"

#include <errno.h>

static int sync_error, close_error;

/* Names that the linker gives: __wrap_X is called for X, and __real_X is X. */
int __real_fsync(int fd);
int __real_close(int fd);
int __wrap_fsync(int fd);
int __wrap_close(int fd);

void cw_io_fail(int fsync_reason, int close_reason)
{
    sync_error = fsync_reason;
    close_error = close_reason;
}

static int fail(int *reason)
{
    errno = *reason;
    *reason = 0;
    return -1;
}

int __wrap_fsync(int fd)
{
    return sync_error ? fail(&sync_error) : __real_fsync(fd);
}

int __wrap_close(int fd)
{
    int result = __real_close(fd);
    return close_error ? fail(&close_error) : result;
}
