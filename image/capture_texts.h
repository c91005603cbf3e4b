/* Texts of a capture: the fact that each tells about the machine or the program, and whether a redacted capture keeps
 * it. Every text of a chunk passes here, so provenance lists what redaction leaves out. */
#ifndef CW_IMAGE_CAPTURE_TEXTS_H
#define CW_IMAGE_CAPTURE_TEXTS_H

#include "image/trace_data.h"

enum cw_text_care {
    CW_TEXT_KEPT,          /* says nothing about user or machine that others should not know */
    CW_TEXT_WITHOUT_PATHS, /* a name of the program's choice: kept, but not the paths of files in it */
    CW_TEXT_PRIVATE        /* left out: another text with a number replaces it, as in "host-1" */
};

enum cw_text_form {
    CW_TEXT_PLAIN,
    CW_TEXT_UUID,     /* spelt with hyphens or without */
    CW_TEXT_OF_RANGES /* "outer/inner": names of ranges, and each of them may be a path of a file */
};

struct cw_text_fact {
    const char *name;
    enum cw_text_care care;
    enum cw_text_form form;
};

/* Uses of the texts of a trace, by the fields of its rows. Of several uses the last one here counts: a text is kept if
 * any row has it as a word of the format. */
enum cw_trace_use {
    CW_USE_NONE,    /* no row has it */
    CW_USE_LABEL,   /* of a thread, stream or the like; the system calls the first thread as its program */
    CW_USE_WINDOW,  /* the expression that opened a window */
    CW_USE_PAYLOAD, /* memory of the program, which it gave to NVTX */
    CW_USE_NAME,
    CW_USE_KERNEL,
    CW_USE_NVTX,
    CW_USE_NOTE,
    CW_USE_CALLER,
    CW_USE_FILE,
    CW_USE_UUID,    /* of a GPU, which is the end of a link */
    CW_USE_UNKNOWN, /* in a field that this version does not know */
    CW_USE_WORD,
    CW_USE__COUNT
};
struct cw_trace_numbers {
    uint64_t first_ns, last_ns;   /* of all times in the rows; 0: there is none */
    uint64_t payloads, addresses; /* how many numbers a program gave to NVTX, and how many addresses there are */
};
/* Finds the use of each text: uses[process][text], enum cw_trace_use. Reads all rows. `numbers` may be NULL. */
enum cw_status cw_trace_uses_find(uint8_t ***uses, struct cw_trace_numbers *numbers, const struct cw_trace *trace,
                                  struct cw_arena *arena, struct cw_error *err);

/* Takes a text, and returns the text for its place. NULL when out of memory. */
typedef const char *cw_text_take(void *user, const struct cw_text_fact *fact, const char *text);

/* Appends the payload of a chunk to `out` with each text replaced by the result of `take`. The chunk is whole and
 * valid. `uses`: of the capture's trace; NULL: it has none. CW_ERR_NOMEM only. */
enum cw_status cw_capture_texts_take(const struct cw_chunk *chunk, uint8_t *const *uses, cw_text_take *take, void *user,
                                     struct cw_writer *out);

#endif
