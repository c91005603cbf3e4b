#define _GNU_SOURCE
#include "base/input.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of a regular file that says how large it is; those of /proc do not. */
static bool open_file(struct cw_input *s, const char *path)
{
    struct stat st;
    s->fd = cw_file_is_standard(path) ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : open(path, O_RDONLY | O_CLOEXEC);
    if (s->fd >= 0 && fstat(s->fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
        (!cw_file_is_standard(path) || lseek(s->fd, 0, SEEK_CUR) == 0)) {
        s->size = (uint64_t)st.st_size;
        if (cw_file_is_standard(path)) /* can be read once, as a pipe can */
            lseek(s->fd, 0, SEEK_END);
        return s->is_open = true;
    }
    if (s->fd >= 0)
        close(s->fd);
    return false;
}

enum cw_status cw_input_open(struct cw_input *s, const char *path, uint64_t limit, struct cw_error *err)
{
    *s = (struct cw_input){.name = path};
    if (!open_file(s, path)) {
        const enum cw_status status = cw_file_read(&s->own, path, limit < SIZE_MAX ? (size_t)limit : SIZE_MAX, err);
        s->bytes = s->own.data;
        s->size = s->own.size;
        return status;
    }
    if (s->size > limit)
        return cw_error_set(err, CW_ERR_INPUT, "%s: found more than %" PRIu64 " bytes, expected at most that", path,
                            limit);
    return CW_OK;
}

struct cw_input cw_input_of(const void *bytes, size_t size, const char *name)
{
    return (struct cw_input){.name = name, .size = size, .bytes = bytes ? bytes : (const void *)""};
}

enum cw_status cw_input_load(struct cw_input *s, struct cw_error *err)
{
    if (s->bytes)
        return CW_OK;
    s->own.data = s->size < SIZE_MAX ? malloc((size_t)s->size + 1) : NULL;
    if (!s->own.data)
        return cw_error_nomem(err);
    s->own.size = (size_t)s->size;
    const enum cw_status status = cw_input_read(s, 0, s->own.size, s->own.data, err);
    if (status == CW_OK)
        s->bytes = s->own.data;
    else
        cw_bytes_free(&s->own);
    return status;
}

void cw_input_close(struct cw_input *s)
{
    if (s->is_open)
        close(s->fd);
    cw_bytes_free(&s->own);
    *s = (struct cw_input){0};
}

static enum cw_status refuse_cut(const struct cw_input *s, struct cw_error *err)
{
    struct stat st = {0};
    fstat(s->fd, &st);
    return cw_error_set(err, CW_ERR_IO,
                        "%s: found %jd bytes, expected the %" PRIu64
                        " that it had when it was opened: it was cut meanwhile",
                        s->name, (intmax_t)st.st_size, s->size);
}

enum cw_status cw_input_read(const struct cw_input *s, uint64_t at, size_t size, void *to, struct cw_error *err)
{
    if (s->bytes) {
        memcpy(to, s->bytes + at, size);
        return CW_OK;
    }
    for (size_t done = 0; done < size;) {
        const ssize_t n = pread(s->fd, (char *)to + done, size - done, (off_t)(at + done));
        if (n < 0 && errno != EINTR)
            return cw_error_set(err, CW_ERR_IO, "%s: cannot read: %s", s->name, strerror(errno));
        if (n == 0)
            return refuse_cut(s, err);
        done += n > 0 ? (size_t)n : 0;
    }
    return CW_OK;
}

static bool reserve(struct cw_window *w, size_t size)
{
    if (size <= w->capacity)
        return true;
    uint8_t *grown = realloc(w->data, size);
    if (!grown)
        return false;
    w->data = grown;
    w->capacity = size;
    return true;
}

enum cw_status cw_window_get(struct cw_window *w, uint64_t at, size_t size, const uint8_t **bytes, struct cw_error *err)
{
    const bool held = at >= w->start && at - w->start <= w->size && size <= w->size - (at - w->start);
    if (w->input->bytes || held) {
        *bytes = w->input->bytes ? w->input->bytes + at : w->data + (at - w->start);
        return CW_OK;
    }
    const uint64_t left = w->input->size - at;
    size_t wanted = w->ahead ? w->ahead : CW_WINDOW_AHEAD, kept = 0;
    wanted = wanted < size ? size : wanted;
    wanted = left < wanted ? (size_t)left : wanted;
    if (!reserve(w, wanted))
        return cw_error_nomem(err);
    if (at >= w->start && at - w->start < w->size) {
        kept = w->size - (size_t)(at - w->start);
        memmove(w->data, w->data + (at - w->start), kept);
    }
    w->start = at;
    w->size = kept;
    const enum cw_status status = cw_input_read(w->input, at + kept, wanted - kept, w->data + kept, err);
    w->size = status == CW_OK ? wanted : kept;
    *bytes = w->data;
    return status;
}
