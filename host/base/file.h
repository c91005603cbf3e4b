/* Whole files, with errors that name the file. */
#ifndef CW_BASE_FILE_H
#define CW_BASE_FILE_H

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

/* Writes a new file beside `path` and renames it, so that `path` holds the old or the new content, never a part. */
enum cw_status cw_file_write(const char *path, const void *data, size_t size, struct cw_error *err);

#endif
