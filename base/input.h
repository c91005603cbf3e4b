/* Bytes that are read in pieces, so that a file may be larger than memory. A regular file stays where it is and is read
 * by pread(2): one that shrinks meanwhile is an error, and what a piece takes is all the memory that it takes. What a
 * pipe gives is kept in memory where it is little, else in a file without a name; of what is neither a capture nor a plan
 * only its first bytes, which is enough to refuse it. */
#ifndef CW_BASE_INPUT_H
#define CW_BASE_INPUT_H

#include "base/bytes.h"
#include "base/file.h"

struct cw_input {
    const char *name; /* for messages */
    uint64_t size;
    const uint8_t *bytes; /* all of them; NULL: they are in the file */
    bool is_open;         /* `fd` */
    int fd;
    struct cw_bytes own;  /* what was read into memory */
};

/* "-" is standard input. More than `limit` bytes is CW_ERR_INPUT. `path` is the name, and borrowed. To be closed, also
 * after a failure. */
enum cw_status cw_input_open(struct cw_input *input, const char *path, uint64_t limit, struct cw_error *err);
/* Bytes of the caller's. Needs no closing. */
struct cw_input cw_input_of(const void *bytes, size_t size, const char *name);
/* Reads all of it into memory where it is not; from then on `bytes` has it. */
enum cw_status cw_input_load(struct cw_input *input, struct cw_error *err);
void cw_input_close(struct cw_input *input);

/* Copies `size` bytes from `at` on, which the input has; it may be asked by several threads at once. CW_ERR_IO where
 * the file cannot be read, or has become shorter. */
enum cw_status cw_input_read(const struct cw_input *input, uint64_t at, size_t size, void *to, struct cw_error *err);

/* Bytes that come one after another, and become an input: in memory up to CW_SPOOL_MEMORY of them, then all in a file
 * without a name. Begins as zeros, and ends with cw_spool_finish or cw_spool_free. */
enum { CW_SPOOL_MEMORY = 16 << 20 };
struct cw_spool {
    struct cw_writer memory;
    struct cw_input file;
};
enum cw_status cw_spool_put(struct cw_spool *spool, const void *data, size_t size, struct cw_error *err);
/* `name` is borrowed. */
struct cw_input cw_spool_finish(struct cw_spool *spool, const char *name);
void cw_spool_free(struct cw_spool *spool);

/* A piece of an input. Begins as zeros but for the input, and `ahead`: bytes that are read at a time, where there are
 * as many; 0: CW_WINDOW_AHEAD. `data` is to be freed. */
enum { CW_WINDOW_AHEAD = 1 << 20 };
struct cw_window {
    const struct cw_input *input;
    size_t ahead;
    uint8_t *data;
    uint64_t start; /* of the piece */
    size_t size, capacity;
};

/* `size` bytes from `at` on, which the input has; they stay until the next call. */
enum cw_status cw_window_get(struct cw_window *window, uint64_t at, size_t size, const uint8_t **bytes,
                             struct cw_error *err);

#endif
