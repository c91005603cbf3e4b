/* Whole files, with errors that name the file. */
#ifndef CW_BASE_FILE_H
#define CW_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/base/error.h"

struct cw_bytes {
    uint8_t *data;
    size_t size;
};

/* Reads a regular file or a pipe. More than `limit` bytes is CW_ERR_INPUT. Release with cw_bytes_free. The data is
 * followed by a NUL byte that is not counted. */
enum cw_status cw_file_read(struct cw_bytes *out, const char *path, size_t limit, struct cw_error *err);
void cw_bytes_free(struct cw_bytes *bytes);

/* Whether two names are of one regular file, or, where there is none yet, the same. */
bool cw_file_is_same(const char *a, const char *b);

/* A regular file that is written beside `path` and takes its place in the end. */
struct cw_new_file {
    const char *path;
    char *target, *temporary; /* where path leads to; where it is written until then */
    int fd;
};

/* To be closed also after a failure. */
enum cw_status cw_new_file_open(struct cw_new_file *file, const char *path, struct cw_error *err);
/* Puts it into place, or removes it. */
enum cw_status cw_new_file_close(struct cw_new_file *file, bool keep, struct cw_error *err);

/* Writes a new file that takes the place of `path`, which holds the old or the new content then, never a part. What is
 * no regular file, such as a pipe, is written itself. */
enum cw_status cw_file_write(const char *path, const void *data, size_t size, struct cw_error *err);

#endif
