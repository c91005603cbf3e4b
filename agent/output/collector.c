#define _GNU_SOURCE
#include "agent/output/collector.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "image/chunk.h"
#include "image/pm_data.h"

static enum cw_status cannot_write(const struct cw_collector *c, int reason, struct cw_error *err)
{
    if (!cw_file_is_standard(c->path))
        return cw_error_set(err, CW_ERR_IO, "%s: cannot write: %s%s", c->path, strerror(reason),
                            c->size ? "; complete data is kept" : "");
    if (reason == EPIPE)
        return cw_error_set(err, CW_ERR_IO, "standard output was closed before all of the capture was written");
    return cw_error_set(err, CW_ERR_IO, "standard output: cannot write: %s", strerror(reason));
}

bool cw_collector_rest(struct cw_collector *c)
{
    struct stat st;
    if (c->fd < 0 || cw_file_is_standard(c->path) || fstat(c->fd, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    close(c->fd);
    c->fd = -1;
    c->rests = true;
    c->device = st.st_dev;
    c->inode = st.st_ino;
    return true;
}

static enum cw_status wake(struct cw_collector *c, struct cw_error *err)
{
    struct stat st;
    if (!c->rests)
        return CW_OK;
    c->fd = cw_file_open_write(c->path, O_APPEND);
    if (c->fd < 0)
        return cw_file_cannot_open(c->path, errno, err);
    c->rests = false;
    if (fstat(c->fd, &st) == 0 && st.st_dev == c->device && st.st_ino == c->inode && (uint64_t)st.st_size == c->size &&
        flock(c->fd, LOCK_EX | LOCK_NB) == 0)
        return CW_OK;
    close(c->fd);
    c->fd = -1;
    return cw_error_set(err, CW_ERR_IO, "%s: found another file than the one that this capture has begun", c->path);
}

/* Appends chunks. Cuts off a write that failed half way, so that the next one begins at the same place (O_APPEND). */
enum cw_status cw_collector_append(struct cw_collector *c, struct cw_writer *out, struct cw_error *err)
{
    enum cw_status status = out->status == CW_OK ? wake(c, err) : cw_error_nomem(err);
    if (status == CW_OK && !cw_file_put(c->fd, out->data, out->size)) {
        status = cannot_write(c, errno, err);
        if (!cw_file_is_standard(c->path))
            (void)!ftruncate(c->fd, (off_t)c->size);
    }
    if (status == CW_OK)
        c->size += out->size;
    cw_writer_free(out);
    return status;
}

/* Opens standard output for "-". Opens an existing file, also through a link; creates a new file, but not at the end of
 * a dangling link. */
static int open_output(const char *path)
{
    if (cw_file_is_standard(path))
        return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    int fd = cw_file_open_write(path, O_APPEND);
    if (fd < 0 && errno == ENOENT)
        fd = cw_file_open_write(path, O_APPEND | O_CREAT | O_EXCL);
    if (fd < 0 && errno == EEXIST) /* another capture has created it meanwhile */
        fd = cw_file_open_write(path, O_APPEND);
    return fd;
}

static enum cw_status cannot_open(const char *path, int reason, struct cw_error *err)
{
    struct stat st;
    if (reason == ENOENT && lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
        return cw_error_set(err, CW_ERR_IO, "%s: cannot open: it is a link that leads nowhere", path);
    return cw_file_cannot_open(path, reason, err);
}

/* Allows replacing an earlier capture only, not a plan or a program, whose names stand beside it on the command line.
 * Checks the open file, because its name may lead elsewhere by now. */
static enum cw_status check_replaceable(int fd, const char *path, struct cw_error *err)
{
    char same[32];
    snprintf(same, sizeof same, "/proc/self/fd/%d", fd);
    int reading = open(same, O_RDONLY | O_CLOEXEC);
    if (reading < 0)
        return cw_error_set(err, CW_ERR_IO, "%s: cannot read the existing file: %s", path, strerror(errno));
    bool capture = cw_file_is_kind(reading, &cw_file_capture);
    close(reading);
    return capture ? CW_OK
                   : cw_error_set(
                         err, CW_ERR_USAGE,
                         "%s: found a file that is no capture, expected one to replace, or none; --force replaces it",
                         path);
}

/* Empties a regular file; others are written as they are. A new file is left alone: there is nothing that can fail. */
static enum cw_status make_empty(int fd, const char *path, bool force, struct cw_error *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return CW_OK;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return cw_error_set(
            err, CW_ERR_IO,
            "%s: found another capture that writes it, expected a file for each: %%p or %%r in its name "
            "is the process or rank",
            path);
    const bool empty = fstat(fd, &st) == 0 && !st.st_size;
    enum cw_status status = !force && !empty ? check_replaceable(fd, path, err) : CW_OK;
    if (status == CW_OK && !empty && ftruncate(fd, 0) != 0)
        status = cw_error_set(err, CW_ERR_IO, "%s: cannot write: %s", path, strerror(errno));
    return status;
}

enum cw_status cw_collector_open(struct cw_collector *c, const char *path, bool force, const struct cw_schema *schema,
                                 struct cw_error *err)
{
    *c = (struct cw_collector){.path = path, .fd = open_output(path), .schema = schema};
    if (c->fd < 0)
        return cannot_open(path, errno, err);
    enum cw_status status = cw_file_is_standard(path) ? CW_OK : make_empty(c->fd, path, force, err);
    if (status != CW_OK) {
        close(c->fd);
        c->fd = -1;
        return status;
    }
    struct cw_writer out;
    cw_writer_init(&out);
    cw_schema_write_header(schema, &out);
    cw_schema_write(schema, &out);
    status = cw_collector_append(c, &out, err);
    struct stat st;
    if (status != CW_OK && fstat(c->fd, &st) == 0 && S_ISREG(st.st_mode) && !cw_file_is_standard(path))
        unlink(path); /* without a schema nobody can read it */
    return status;
}

static struct cw_collected_gpu *find_gpu(struct cw_collector *c, uint32_t number)
{
    uint32_t i = 0;
    while (i < c->gpu_count && c->gpus[i].number != number)
        i++;
    if (i == CW_MOST_COLLECTED_GPUS)
        return NULL;
    if (i == c->gpu_count)
        c->gpus[c->gpu_count++] = (struct cw_collected_gpu){.number = number, .from_ns = UINT64_MAX};
    return &c->gpus[i];
}

void cw_collector_seen(struct cw_collector *c, uint32_t device, const char *pci, uint64_t from_ns, uint64_t until_ns)
{
    struct cw_collected_gpu *gpu = find_gpu(c, device);
    if (!gpu)
        return;
    if (pci)
        snprintf(gpu->pci, sizeof gpu->pci, "%s", pci);
    gpu->from_ns = from_ns < gpu->from_ns ? from_ns : gpu->from_ns;
    gpu->until_ns = until_ns > gpu->until_ns ? until_ns : gpu->until_ns;
}

void cw_collector_seen_now(struct cw_collector *c, uint32_t device, const char *pci)
{
    const uint64_t now = cw_clock_log_now_ns();
    cw_collector_seen(c, device, pci, now, now);
}

enum cw_status cw_collector_device(struct cw_collector *c, const struct cw_device *device, struct cw_error *err)
{
    struct cw_writer out;
    cw_collector_seen(c, device->index, cw_device_attribute(device, "pci"), UINT64_MAX, 0);
    cw_writer_init(&out);
    cw_counter_data_write_device(c->schema, device, &out);
    return cw_collector_append(c, &out, err);
}

static enum cw_status overwrite(const struct cw_collector *c, uint64_t at, const struct cw_writer *out,
                                struct cw_error *err)
{
    int flags = fcntl(c->fd, F_GETFL);
    bool good = flags >= 0 && fcntl(c->fd, F_SETFL, flags & ~O_APPEND) == 0;
    for (size_t done = 0; good && done < out->size;) {
        ssize_t n = pwrite(c->fd, out->data + done, out->size - done, (off_t)(at + done));
        good = n > 0 || (n < 0 && errno == EINTR);
        done += n > 0 ? (size_t)n : 0;
    }
    int reason = errno;
    if (flags >= 0)
        fcntl(c->fd, F_SETFL, flags);
    return good ? CW_OK : cw_error_set(err, CW_ERR_IO, "%s: cannot update a device: %s", c->path, strerror(reason));
}

enum cw_status cw_collector_device_again(struct cw_collector *c, uint64_t at, const struct cw_device *device,
                                         struct cw_error *err)
{
    if (cw_file_is_standard(c->path))
        return CW_OK;
    struct cw_writer out;
    cw_writer_init(&out);
    cw_counter_data_write_device(c->schema, device, &out);
    enum cw_status status = out.status == CW_OK ? overwrite(c, at, &out, err) : cw_error_nomem(err);
    cw_writer_free(&out);
    return status;
}

enum cw_status cw_collector_range(struct cw_collector *c, const struct cw_range *range, const struct cw_value *values,
                                  struct cw_error *err)
{
    struct cw_writer out;
    cw_writer_init(&out);
    cw_counter_data_write_range(c->schema, range, values, &out);
    enum cw_status status = cw_collector_append(c, &out, err);
    c->ranges += status == CW_OK;
    cw_collector_seen(c, range->device, NULL, range->start_ns, range->end_ns);
    return status;
}

enum cw_status cw_collector_sample(struct cw_collector *c, uint64_t start_ns, uint64_t end_ns,
                                   const struct cw_value *values, struct cw_error *err)
{
    const uint32_t n = c->schema->counter_count;
    uint8_t *forms = calloc((size_t)n + 1, 1);
    double *rollups = calloc((size_t)n * CW_ROLLUP_COUNT + 1, sizeof *rollups);
    struct cw_block block = {.count = 1, .start = &start_ns, .end = &end_ns, .forms = forms};
    struct cw_writer out;
    for (uint32_t i = 0; forms && rollups && i < n; i++) {
        forms[i] = values[i].form == CW_FORM_ROLLUPS ? CW_COLUMN_ROLLUPS : CW_COLUMN_UNAVAILABLE;
        for (int r = 0; r < CW_ROLLUP_COUNT; r++)
            rollups[(size_t)r * n + i] = values[i].rollup[r];
    }
    for (int r = 0; rollups && r < CW_ROLLUP_COUNT; r++)
        block.rollups[r] = rollups + (size_t)r * n;
    cw_writer_init(&out);
    if (forms && rollups)
        cw_pm_write_block(c->schema, &block, &out);
    enum cw_status status = forms && rollups ? cw_collector_append(c, &out, err) : cw_error_nomem(err);
    free(forms);
    free(rollups);
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

static void write_clocks(const struct cw_collector *c, struct cw_writer *out)
{
    for (uint32_t i = 0; c->clocks && i < c->gpu_count; i++) {
        const struct cw_collected_gpu *gpu = &c->gpus[i];
        struct cw_gpu_clock readings[2];
        uint32_t count = cw_clock_log_between(c->clocks, gpu->pci, gpu->from_ns, gpu->until_ns, readings);
        const struct cw_gpu_clocks clocks = {gpu->number, count, readings};
        if (count)
            cw_gpu_clocks_write(&clocks, out);
    }
}

/* Writes the end only after the system has stored the rest. */
enum cw_status cw_collector_end(struct cw_collector *c, enum cw_capture_end how, uint32_t code, struct cw_error *err)
{
    struct cw_writer out;
    cw_writer_init(&out);
    write_clocks(c, &out);
    if (how != CW_END_UNKNOWN)
        cw_counter_data_write_end(c->ranges, c->dropped, how, code, &out);
    enum cw_status status = wake(c, err);
    if (status == CW_OK)
        status = cw_file_sync(c->fd, c->path, err);
    if (status == CW_OK)
        status = cw_collector_append(c, &out, err);
    else
        cw_writer_free(&out);
    enum cw_status finishing = c->fd < 0 ? CW_OK : cw_file_finish(c->fd, c->path, err);
    c->fd = -1;
    c->ended = status == CW_OK && finishing == CW_OK;
    return status == CW_OK ? finishing : status;
}

void cw_collector_close(struct cw_collector *c)
{
    if (c->fd >= 0)
        cw_file_finish(c->fd, c->path, NULL);
    c->fd = -1;
    c->rests = false;
}
