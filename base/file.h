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

/* "-" names standard input where a file is read, and standard output where one is written; "./-" is a file. */
bool cw_file_is_standard(const char *path);

/* Reads a regular file or a pipe. More than `limit` bytes is CW_ERR_INPUT. Release with cw_bytes_free. The data is
 * followed by a NUL byte that is not counted. */
enum cw_status cw_file_read(struct cw_bytes *out, const char *path, size_t limit, struct cw_error *err);
void cw_bytes_free(struct cw_bytes *bytes);

/* Whether two names are of one regular file, or, where there is none yet, the same. */
bool cw_file_is_same(const char *a, const char *b);

/* Files of a kind, by what each begins with. */
struct cw_file_kind {
    const char *name;      /* "a capture" */
    bool binary;           /* no text that a terminal may be given */
    const char *heads[18]; /* one of these texts; NULL after the last */
};
#define CW_FILE_HEAD_PLAN                                                                                              \
    "\x89"                                                                                                             \
    "CWC\r\n\x1a\n"
#define CW_FILE_HEAD_CAPTURE                                                                                           \
    "\x89"                                                                                                             \
    "CWD\r\n\x1a\n"
extern const struct cw_file_kind cw_file_plan, cw_file_capture, cw_file_hdf5, cw_file_csv, cw_file_json, cw_file_report;

/* Whether a new file of a kind may take the place of what `path` leads to: a file of that kind, an empty one, none, or
 * a pipe. CW_ERR_USAGE where a file of another kind is there, unless `force`, or a terminal that would be given binary
 * data. To be asked before the work is done. */
enum cw_status cw_file_may_replace(const char *path, const struct cw_file_kind *kind, bool force, struct cw_error *err);
/* Whether the file begins as those of a kind, from where `fd` reads. */
bool cw_file_is_kind(int fd, const struct cw_file_kind *kind);

/* Opens for writing what `path` leads to, with more of open(2)'s flags, and waits for nobody: a pipe that nobody reads
 * is ENXIO. -1 after a failure, with errno. */
int cw_file_open_write(const char *path, int flags);
/* Says why it cannot be opened, by errno. */
enum cw_status cw_file_cannot_open(const char *path, int reason, struct cw_error *err);
/* Has the system keep what was written: a full quota or a server that is gone may be told only then. What is no file
 * need not be kept. */
enum cw_status cw_file_sync(int fd, const char *path, struct cw_error *err);
/* The same, and closes it, also after a failure. */
enum cw_status cw_file_finish(int fd, const char *path, struct cw_error *err);

/* Opens a file without a name, to read and write, in the folder TMPDIR, or else /tmp: it goes when it is closed. */
enum cw_status cw_file_open_nameless(int *fd, struct cw_error *err);

/* A regular file that is written beside `path` and takes its place in the end; for "-" it is copied to standard
 * output. Where a process was killed before that, the file stays, until another new file is opened for the same path on
 * the same host: it goes then, unless its process is still there. */
struct cw_new_file {
    const char *path;
    char *target, *temporary; /* where path leads to, NULL for "-"; where it is written until then */
    int fd;
};

/* To be closed also after a failure. */
enum cw_status cw_new_file_open(struct cw_new_file *file, const char *path, struct cw_error *err);
/* Puts it into place, or removes it. */
enum cw_status cw_new_file_close(struct cw_new_file *file, bool keep, struct cw_error *err);

/* Writes standard output for "-", else a new file that takes the place of `path`, which holds the old or the new
 * content then, never a part. What is no regular file, such as a pipe, is written itself. */
enum cw_status cw_file_write(const char *path, const void *data, size_t size, struct cw_error *err);

/* Prints `data` in some form. Write errors stay in the stream (ferror). */
typedef enum cw_status cw_file_render(FILE *out, const void *data, struct cw_error *err);
/* Writes what is printed as cw_file_write does, without holding it in memory. */
enum cw_status cw_file_print(const char *path, cw_file_render *render, const void *data, struct cw_error *err);

/* Several new files, which take their places together once all are written; begins as zeros. */
enum { CW_NEW_FILES_MAX = 8 };
struct cw_new_files {
    struct cw_new_file list[CW_NEW_FILES_MAX];
    size_t count;
};
/* Opens one more, as cw_new_file_open does, for the caller to write. */
enum cw_status cw_new_files_open(struct cw_new_files *files, const char *path, struct cw_new_file **file,
                                 struct cw_error *err);
/* Writes one more, as cw_file_print does; standard output and what is no regular file are written at once. */
enum cw_status cw_new_files_print(struct cw_new_files *files, const char *path, cw_file_render *render,
                                  const void *data, struct cw_error *err);
/* Puts all into their places, or removes them; none is left then. */
enum cw_status cw_new_files_close(struct cw_new_files *files, bool keep, struct cw_error *err);

/* CW_ERR_IO where anything that was printed on standard output could not be written: what each command ends with. */
enum cw_status cw_file_flush(struct cw_error *err);

#endif
