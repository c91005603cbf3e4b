/* Status and error reporting shared by every module.
 *
 * Functions that can fail return `enum cw_status`. Functions with a message for a person also take a `struct cw_error
 * *` of the caller, which may be NULL. The first error wins: a later cw_error_set on an error that is already set
 * changes nothing. No library function prints, exits or aborts. Message and source are escaped as in base/text.h,
 * whatever the origin of their text. */
#ifndef CW_BASE_ERROR_H
#define CW_BASE_ERROR_H

#include <stdbool.h>
#include <stdint.h>

/* The numbers are the exit codes of every command (docs/evaluation.md). */
enum cw_status {
    CW_OK = 0,
    CW_ERR_NOTHING = 1,     /* a search found nothing */
    CW_ERR_USAGE = 2,       /* the command line or a name given by the user is wrong */
    CW_ERR_INPUT = 3,       /* a file is malformed, truncated, corrupt or of another version */
    CW_ERR_UNSUPPORTED = 4, /* well formed, but this build, chip or library cannot do it */
    CW_ERR_IO = 5,          /* the operating system refused to open, read or write */
    CW_ERR_DEVICE = 6,      /* GPU, driver or counter permission */
    CW_ERR_APP = 7,         /* the profiled application failed or launched nothing to measure */
    CW_ERR_NOMEM = 8,
    CW_ERR_DIFFERS = 9,       /* a comparison found differences */
    CW_ERR_AMBIGUOUS = 10,    /* a comparison found differences that are neither clearly better nor clearly worse */
    CW_ERR_INCOMPARABLE = 11, /* the things to compare are of different kinds */
};

struct cw_error {
    enum cw_status code;
    char source[256]; /* file name, "" when there is none */
    unsigned line;    /* 1-based, 0 when not about a text file */
    unsigned column;  /* 1-based, 0 when unknown */
    bool has_offset;
    uint64_t offset; /* bytes from the start of a binary file */
    char message[768];
};

#define CW_ERROR_INIT                                                                                                  \
    {                                                                                                                  \
        .code = CW_OK                                                                                                  \
    }

/* Records an error without a position and returns `code`. */
enum cw_status cw_error_set(struct cw_error *err, enum cw_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As cw_error_set, for a place in a text file. */
enum cw_status cw_error_at(struct cw_error *err, enum cw_status code, const char *source, unsigned line,
                           unsigned column, const char *format, ...) __attribute__((format(printf, 6, 7)));

/* As cw_error_set, for a place in a binary file. */
enum cw_status cw_error_offset(struct cw_error *err, enum cw_status code, const char *source, uint64_t offset,
                               const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Adds text to the end of the message. */
void cw_error_add(struct cw_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

enum cw_status cw_error_nomem(struct cw_error *err);

/* Returns from the function around it when a call fails, with its status. Not where something has to be freed. */
#define CW_TRY(call)                                                                                                   \
    do {                                                                                                               \
        const enum cw_status cw_tried = (call);                                                                        \
        if (cw_tried != CW_OK)                                                                                         \
            return cw_tried;                                                                                           \
    } while (0)

/* Writes "source:line:column: message" (or "source: offset N: message", or "message") into `buffer`, always
 * terminated and without a newline. Returns `buffer`. */
const char *cw_error_format(const struct cw_error *err, char *buffer, unsigned size);

#endif
