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

/* Whether it is a regular file with a known size; files of /proc report none. */
static bool is_regular(struct cw_input *s, bool standard)
{
    struct stat st;
    if (fstat(s->fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size <= 0 ||
        (standard && lseek(s->fd, 0, SEEK_CUR) != 0))
        return false;
    s->size = (uint64_t)st.st_size;
    if (standard) /* standard input can be read once, as a pipe can */
        lseek(s->fd, 0, SEEK_END);
    return s->is_open = true;
}

static enum cw_status refuse_size(const char *path, uint64_t limit, struct cw_error *err)
{
    return cw_error_set(err, CW_ERR_INPUT, "%s: found more than %" PRIu64 " bytes, expected no more", path, limit);
}

/* Whether the first bytes may be those of a capture, a plan, or a file of another profiler. */
static bool may_be_wanted(const uint8_t *head, size_t size)
{
    static const char *const heads[] = {
        CW_FILE_HEAD_CAPTURE, CW_FILE_HEAD_PLAN, "SQLite format 3", "\"ID\",", "==PROF==", "{", "[", "\xef\xbb\xbf"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        const size_t length = strlen(heads[i]);
        if (memcmp(head, heads[i], size < length ? size : length) == 0)
            return true;
    }
    return false;
}

/* Reads a pipe to its end; a pipe with anything else may have no end. */
static enum cw_status read_pipe(struct cw_input *s, const char *path, uint64_t limit, struct cw_error *err)
{
    enum { PIECE = 1 << 16 };
    struct cw_spool spool = {0};
    uint8_t piece[PIECE];
    uint64_t size = 0;
    enum cw_status status = CW_OK;
    bool wanted = true;
    for (ssize_t n = 1; status == CW_OK && n && wanted; size += n > 0 ? (size_t)n : 0) {
        n = read(s->fd, piece, sizeof piece);
        if (n < 0 && errno != EINTR)
            status = cw_error_set(err, CW_ERR_IO, "%s: cannot read: %s", path, strerror(errno));
        else if (n > 0 && (uint64_t)n > limit - size)
            status = refuse_size(path, limit, err);
        else if (n > 0)
            status = cw_spool_put(&spool, piece, (size_t)n, err);
        if (n > 0 && !size)
            wanted = may_be_wanted(piece, (size_t)n);
    }
    close(s->fd);
    if (status == CW_OK)
        *s = cw_spool_finish(&spool, path);
    else
        cw_spool_free(&spool);
    return status;
}

enum cw_status cw_input_open(struct cw_input *s, const char *path, uint64_t limit, struct cw_error *err)
{
    const bool standard = cw_file_is_standard(path);
    *s = (struct cw_input){.name = path};
    s->fd = standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : open(path, O_RDONLY | O_CLOEXEC);
    if (s->fd < 0)
        return cw_error_set(err, CW_ERR_IO, "%s: cannot open: %s", path, strerror(errno));
    if (!is_regular(s, standard))
        return read_pipe(s, path, limit, err);
    return s->size > limit ? refuse_size(path, limit, err) : CW_OK;
}

/* ---- spools ----------------------------------------------------------------------------------------------------- */

static enum cw_status write_file(struct cw_spool *s, const uint8_t *data, size_t size, struct cw_error *err)
{
    if (!cw_file_put(s->file.fd, data, size))
        return cw_error_set(err, CW_ERR_IO, "temporary file: cannot write: %s", strerror(errno));
    s->file.size += size;
    return CW_OK;
}

enum cw_status cw_spool_put(struct cw_spool *s, const void *data, size_t size, struct cw_error *err)
{
    enum cw_status status = CW_OK;
    if (!s->file.is_open && s->memory.size + size > CW_SPOOL_MEMORY) {
        status = cw_file_open_nameless(&s->file.fd, err);
        s->file.is_open = status == CW_OK;
        if (status == CW_OK)
            status = write_file(s, s->memory.data, s->memory.size, err);
        cw_writer_free(&s->memory);
    }
    if (s->file.is_open)
        return status == CW_OK ? write_file(s, data, size, err) : status;
    if (status == CW_OK)
        cw_write_bytes(&s->memory, data, size);
    return s->memory.status != CW_OK ? cw_error_nomem(err) : status;
}

struct cw_input cw_spool_finish(struct cw_spool *s, const char *name)
{
    struct cw_input made = s->file;
    if (!made.is_open) {
        made = cw_input_of(s->memory.data, s->memory.size, name);
        made.own = (struct cw_bytes){s->memory.data, s->memory.size};
    }
    made.name = name;
    *s = (struct cw_spool){0};
    return made;
}

void cw_spool_free(struct cw_spool *s)
{
    cw_writer_free(&s->memory);
    cw_input_close(&s->file);
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

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
