/* Whole files, with errors that name the file. */
#ifndef CW_BASE_FILE_H
#define CW_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

struct cw_bytes {
    uint8_t *data;
    size_t size;
};

/* Whether the path is "-", which names standard input for reading and standard output for writing. "./-" is a file. */
bool cw_file_is_standard(const char *path);

/* Reads a regular file or a pipe. More than `limit` bytes is CW_ERR_INPUT. Adds a NUL byte behind the data, not counted
 * in its size. Release with cw_bytes_free. */
enum cw_status cw_file_read(struct cw_bytes *out, const char *path, size_t limit, struct cw_error *err);
void cw_bytes_free(struct cw_bytes *bytes);

/* Whether two paths lead to one regular file, or are the same path if no file is there yet. */
bool cw_file_is_same(const char *a, const char *b);

/* Refuses an output that would replace an input: CW_ERR_USAGE if both paths lead to one file. "-", and NULL for no
 * file, are never the same. `kind`: of the input, "capture". */
enum cw_status cw_file_keep(const char *output, const char *input, const char *kind, struct cw_error *err);

/* A kind of file, recognized by its first bytes. */
struct cw_file_kind {
    const char *name;      /* "a capture" */
    bool binary;           /* not for terminals */
    const char *heads[19]; /* alternative beginnings; NULL after the last */
};
#define CW_FILE_HEAD_PLAN                                                                                              \
    "\x89"                                                                                                             \
    "CWC\r\n\x1a\n"
#define CW_FILE_HEAD_CAPTURE                                                                                           \
    "\x89"                                                                                                             \
    "CWD\r\n\x1a\n"
extern const struct cw_file_kind cw_file_plan, cw_file_capture, cw_file_hdf5, cw_file_csv, cw_file_json, cw_file_report;

/* Checks whether a new file of a kind may replace the file at `path`: a file of that kind, an empty file, no file, or a
 * pipe. CW_ERR_USAGE for a file of another kind, unless `force`, and for binary data on a terminal. Call it before the
 * work is done. */
enum cw_status cw_file_may_replace(const char *path, const struct cw_file_kind *kind, bool force, struct cw_error *err);
/* Whether the bytes that `fd` reads next begin as a file of the kind does. */
bool cw_file_is_kind(int fd, const struct cw_file_kind *kind);

/* Opens `path` for writing, with further flags of open(2). A pipe without a reader is waited for, and ENXIO after five
 * seconds. -1 after a failure, with errno. */
int cw_file_open_write(const char *path, int flags);
/* Records why the path cannot be opened, from an errno value. */
enum cw_status cw_file_cannot_open(const char *path, int reason, struct cw_error *err);
/* Has the system store the written data: only then may a full quota or a lost server show. Does nothing for anything
 * but files. */
enum cw_status cw_file_sync(int fd, const char *path, struct cw_error *err);
/* Syncs as cw_file_sync does and closes the descriptor, also after a failure. */
enum cw_status cw_file_finish(int fd, const char *path, struct cw_error *err);

/* Writes all bytes to a descriptor, also if signals interrupt the call. False after a failure, with errno. */
bool cw_file_put(int fd, const void *data, size_t size);

/* Opens a file without a name for reading and writing, in the folder TMPDIR or else /tmp. It vanishes when it is
 * closed. */
enum cw_status cw_file_open_nameless(int *fd, struct cw_error *err);

/* A regular file that is written beside `path` and takes its place in the end. For "-" the file is copied to standard
 * output. If a process is killed before, the temporary file stays until a process on the same host opens a new file for
 * the same path: that removes the temporary files of processes that have ended. */
struct cw_new_file {
    const char *path;
    char *target, *temporary; /* target of `path`, NULL for "-"; the path until the file is complete */
    int fd;
};

/* Close the file with cw_new_file_close, also after a failure. */
enum cw_status cw_new_file_open(struct cw_new_file *file, const char *path, struct cw_error *err);
/* Moves the file into place, or removes it. */
enum cw_status cw_new_file_close(struct cw_new_file *file, bool keep, struct cw_error *err);

/* Writes to standard output for "-", else a new file that replaces `path`: a reader sees the old content or the new,
 * never a part. Writes into `path` itself if it is no regular file, such as a pipe. */
enum cw_status cw_file_write(const char *path, const void *data, size_t size, struct cw_error *err);

/* Prints `data` in some form. Write errors stay in the stream (ferror). */
typedef enum cw_status cw_file_render(FILE *out, const void *data, struct cw_error *err);
/* Writes as cw_file_write does, without holding the text in memory. */
enum cw_status cw_file_print(const char *path, cw_file_render *render, const void *data, struct cw_error *err);

/* Several new files that take their places together once all are written. Initialise with zeros. */
enum { CW_NEW_FILES_MAX = 8 };
struct cw_new_files {
    struct cw_new_file list[CW_NEW_FILES_MAX];
    size_t count;
};
/* Opens one more file for the caller to write, as cw_new_file_open does. */
enum cw_status cw_new_files_open(struct cw_new_files *files, const char *path, struct cw_new_file **file,
                                 struct cw_error *err);
/* Writes one more file as cw_file_print does. Writes at once to standard output and to anything but a regular file. */
enum cw_status cw_new_files_print(struct cw_new_files *files, const char *path, cw_file_render *render,
                                  const void *data, struct cw_error *err);
/* Moves all files into place, or removes them. The list is empty afterwards. */
enum cw_status cw_new_files_close(struct cw_new_files *files, bool keep, struct cw_error *err);

/* CW_ERR_IO if any text printed on standard output could not be written. Every command ends with this call. */
enum cw_status cw_file_flush(struct cw_error *err);

#endif
