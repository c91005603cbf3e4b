#define _GNU_SOURCE
#include "agent/collector.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/base/file.h"
#include "host/image/chunk.h"

/* A write that fails half way is cut off again; the next then stands where that began (O_APPEND). */
enum cw_status cw_collector_append(struct cw_collector *c, struct cw_writer *out, struct cw_error *err)
{
    enum cw_status status = out->status == CW_OK ? CW_OK : cw_error_nomem(err);
    const uint8_t *data = out->data;
    size_t left = out->size;
    while (status == CW_OK && left) {
        ssize_t n = write(c->fd, data, left);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            status = cw_error_set(err, CW_ERR_IO, "%s: cannot write: %s; what was complete is kept", c->path,
                                  strerror(errno));
            (void)!ftruncate(c->fd, (off_t)c->size);
            break;
        }
        data += n;
        left -= (size_t)n;
    }
    if (status == CW_OK)
        c->size += out->size;
    cw_writer_free(out);
    return status;
}

/* An earlier capture is replaced, but nothing else: not the plan or the program, whose names stand beside. */
static enum cw_status check_replaceable(const char *path, struct cw_error *err)
{
    uint8_t magic[8];
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || !st.st_size)
        return CW_OK;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool capture = fd < 0 || (read(fd, magic, sizeof magic) == sizeof magic &&
                              memcmp(magic, cw_counter_data_kind.magic, sizeof magic) == 0);
    if (fd >= 0)
        close(fd);
    return capture ? CW_OK
                   : cw_error_set(err, CW_ERR_USAGE,
                                  "%s: found a file that is no capture, expected one to replace, or none", path);
}

enum cw_status cw_collector_open(struct cw_collector *c, const char *path, const struct cw_schema *schema,
                                 struct cw_error *err)
{
    *c = (struct cw_collector){.path = path, .fd = -1, .schema = schema};
    if (check_replaceable(path, err) != CW_OK)
        return CW_ERR_USAGE;
    c->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    struct stat st;
    bool regular = c->fd >= 0 && fstat(c->fd, &st) == 0 && S_ISREG(st.st_mode);
    if (regular && flock(c->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return cw_error_set(
            err, CW_ERR_IO,
            "%s: found another capture that writes it, expected a file for each: %%p or %%r in its name "
            "is the process or rank",
            path);
    if (c->fd < 0 || (regular && ftruncate(c->fd, 0) != 0))
        return cw_error_set(err, CW_ERR_IO, "%s: cannot create: %s", path, strerror(errno));
    struct cw_writer out;
    cw_writer_init(&out);
    cw_counter_data_write_header(schema, &out);
    cw_counter_data_write_schema(schema, &out);
    return cw_collector_append(c, &out, err);
}

enum cw_status cw_collector_device(struct cw_collector *c, const struct cw_device *device, struct cw_error *err)
{
    struct cw_writer out;
    cw_writer_init(&out);
    cw_counter_data_write_device(c->schema, device, &out);
    return cw_collector_append(c, &out, err);
}

enum cw_status cw_collector_range(struct cw_collector *c, const struct cw_range *range, const struct cw_value *values,
                                  struct cw_error *err)
{
    struct cw_writer out;
    cw_writer_init(&out);
    cw_counter_data_write_range(c->schema, range, values, &out);
    enum cw_status status = cw_collector_append(c, &out, err);
    c->ranges += status == CW_OK;
    return status;
}

enum cw_status cw_collector_chunks(struct cw_collector *c, const void *chunks, size_t size, uint64_t lost,
                                   struct cw_error *err)
{
    struct cw_writer out;
    cw_writer_init(&out);
    cw_write_bytes(&out, chunks, size);
    c->dropped += lost;
    return cw_collector_append(c, &out, err);
}

/* The end is behind what the system has kept for sure. */
enum cw_status cw_collector_end(struct cw_collector *c, enum cw_capture_end how, uint32_t code, struct cw_error *err)
{
    struct cw_writer out;
    cw_writer_init(&out);
    cw_counter_data_write_end(c->ranges, c->dropped, how, code, &out);
    enum cw_status status = cw_file_sync(c->fd, c->path, err);
    if (status == CW_OK)
        status = cw_collector_append(c, &out, err);
    else
        cw_writer_free(&out);
    enum cw_status finishing = cw_file_finish(c->fd, c->path, err);
    c->fd = -1;
    c->ended = status == CW_OK && finishing == CW_OK;
    return status == CW_OK ? finishing : status;
}

void cw_collector_close(struct cw_collector *c)
{
    if (c->fd >= 0)
        cw_file_finish(c->fd, c->path, NULL);
    c->fd = -1;
}
