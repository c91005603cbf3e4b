/* Input that is read in pieces, so that a file may be larger than memory. A regular file is read in place by pread(2)
 * and takes no memory beyond the current piece; it is an error if it shrinks meanwhile. A pipe's data is kept in memory
 * if it is small, else in a file without a name. Of a pipe that begins like no file of ours, nor of another
 * profiler, only the first bytes are read, which is enough to refuse it. */
#ifndef CW_BASE_INPUT_H
#define CW_BASE_INPUT_H

#include "base/bytes.h"
#include "base/file.h"

struct cw_input {
    const char *name; /* for messages */
    uint64_t size;
    const uint8_t *bytes; /* all bytes; NULL: they are in the file */
    bool is_open;         /* `fd` is open */
    int fd;
    struct cw_bytes own; /* the data that was read into memory */
};

/* Opens a path; "-" is standard input. More than `limit` bytes is CW_ERR_INPUT. Borrows `path` as the name. Close the
 * input also after a failure. */
enum cw_status cw_input_open(struct cw_input *input, const char *path, uint64_t limit, struct cw_error *err);
/* Makes an input of the caller's bytes. Needs no close. */
struct cw_input cw_input_of(const void *bytes, size_t size, const char *name);
/* Reads the whole input into memory, if it is not there yet, and sets `bytes`. */
enum cw_status cw_input_load(struct cw_input *input, struct cw_error *err);
void cw_input_close(struct cw_input *input);

/* Copies `size` bytes from offset `at`; the range must lie within the input. Several threads may call it at once.
 * CW_ERR_IO if the file cannot be read or has become shorter. */
enum cw_status cw_input_read(const struct cw_input *input, uint64_t at, size_t size, void *to, struct cw_error *err);

/* Collects bytes piece by piece and makes an input of them: in memory up to CW_SPOOL_MEMORY bytes, then all in a file
 * without a name. Initialise with zeros, end with cw_spool_finish or cw_spool_free. */
enum { CW_SPOOL_MEMORY = 16 << 20 };
struct cw_spool {
    struct cw_writer memory;
    struct cw_input file;
};
enum cw_status cw_spool_put(struct cw_spool *spool, const void *data, size_t size, struct cw_error *err);
/* Borrows `name`. */
struct cw_input cw_spool_finish(struct cw_spool *spool, const char *name);
void cw_spool_free(struct cw_spool *spool);

/* A piece of an input in memory. Initialise with zeros, the input, and `ahead`: the bytes to read at a time, as far as
 * the input has them; 0: CW_WINDOW_AHEAD. The caller frees `data`. */
enum { CW_WINDOW_AHEAD = 1 << 20 };
struct cw_window {
    const struct cw_input *input;
    size_t ahead;
    uint8_t *data;
    uint64_t start; /* of the piece */
    size_t size, capacity;
};

/* Returns `size` bytes from offset `at`, which must lie within the input. They are valid until the next call. */
enum cw_status cw_window_get(struct cw_window *window, uint64_t at, size_t size, const uint8_t **bytes,
                             struct cw_error *err);

#endif
