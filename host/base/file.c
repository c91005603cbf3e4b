#define _GNU_SOURCE
#include "host/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum cw_status cw_file_read(struct cw_bytes *out, const char *path, size_t limit, struct cw_error *err)
{
    *out = (struct cw_bytes){0};
    if (limit > SIZE_MAX / 4) /* room to double below */
        limit = SIZE_MAX / 4;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return cw_error_set(err, CW_ERR_IO, "%s: cannot open: %s", path, strerror(errno));
    enum cw_status status = CW_OK;
    struct stat st;
    size_t capacity = 64 * 1024, size = 0;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
        capacity = (size_t)st.st_size + 1;
    if (capacity > limit + 1)
        capacity = limit + 1;
    uint8_t *data = malloc(capacity + 1);
    while (data) {
        ssize_t n = read(fd, data + size, capacity - size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            status = cw_error_set(err, CW_ERR_IO, "%s: cannot read: %s", path, strerror(errno));
        if (n <= 0)
            break;
        size += (size_t)n;
        if (size > limit) {
            status = cw_error_set(err, CW_ERR_INPUT, "%s: found more than %zu bytes, expected at most that", path, limit);
            break;
        }
        if (size == capacity) {
            capacity = capacity * 2 > limit + 1 ? limit + 1 : capacity * 2;
            uint8_t *grown = realloc(data, capacity + 1);
            if (!grown) {
                free(data);
                data = NULL;
            } else {
                data = grown;
            }
        }
    }
    close(fd);
    if (!data)
        return cw_error_nomem(err);
    if (status != CW_OK) {
        free(data);
        return status;
    }
    data[size] = 0;
    *out = (struct cw_bytes){data, size};
    return CW_OK;
}

void cw_bytes_free(struct cw_bytes *bytes)
{
    free(bytes->data);
    *bytes = (struct cw_bytes){0};
}

enum cw_status cw_file_write(const char *path, const void *data, size_t size, struct cw_error *err)
{
    struct stat st;
    bool special = stat(path, &st) == 0 && !S_ISREG(st.st_mode); /* /dev/stdout, a pipe */
    char *temporary = NULL;
    int fd;
    if (special) {
        fd = open(path, O_WRONLY | O_CLOEXEC);
    } else {
        if (asprintf(&temporary, "%s.XXXXXX", path) < 0)
            return cw_error_nomem(err);
        fd = mkostemp(temporary, O_CLOEXEC);
        mode_t mask = umask(0);
        umask(mask);
        if (fd >= 0)
            (void)!fchmod(fd, 0666 & ~mask);
    }
    enum cw_status status = CW_OK;
    if (fd < 0)
        status = cw_error_set(err, CW_ERR_IO, "%s: cannot create: %s", path, strerror(errno));
    const uint8_t *p = data;
    while (status == CW_OK && size) {
        ssize_t n = write(fd, p, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            status = cw_error_set(err, CW_ERR_IO, "%s: cannot write: %s", path, strerror(errno));
        } else {
            p += n;
            size -= (size_t)n;
        }
    }
    if (fd >= 0 && close(fd) != 0 && status == CW_OK)
        status = cw_error_set(err, CW_ERR_IO, "%s: cannot write: %s", path, strerror(errno));
    if (status == CW_OK && temporary && rename(temporary, path) != 0)
        status = cw_error_set(err, CW_ERR_IO, "%s: cannot rename into place: %s", path, strerror(errno));
    if (status != CW_OK && temporary && fd >= 0)
        unlink(temporary);
    free(temporary);
    return status;
}
