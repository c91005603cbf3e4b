/* Renumbers processes and kinds of traces that are merged into one file. */
#ifndef CW_IMAGE_MERGE_TRACE_H
#define CW_IMAGE_MERGE_TRACE_H

#include "image/chunk.h"
#include "image/trace_data.h"

/* Initialise with zeros. */
struct cw_merge_trace {
    struct cw_arena *arena;
    void *lists;                        /* a tree of the result's lists of kinds */
    uint32_t process_count, kind_count; /* in the result */
    /* for the current input: */
    uint32_t first_process; /* number of its first process in the result */
    uint32_t kinds_found;
    uint32_t *kinds; /* kinds of the result by the input's own numbers */
    struct cw_writer renumbered;
};

/* Begins the next input, with a valid `trace`. Memory for this input alone comes from `own`. CW_ERR_NOMEM, or
 * CW_ERR_USAGE if the result runs out of numbers. */
enum cw_status cw_merge_trace_begin(struct cw_merge_trace *m, const struct cw_trace *trace, struct cw_arena *own,
                                    struct cw_error *err);
/* Changes a TKND, TPRC, TSTR or TREC chunk of the current input, in the order of the file, into the result's chunk;
 * *wanted is false if the result has it already. Devices keep their numbers. The payload is valid until the next call.
 * Fails with CW_ERR_NOMEM only. */
enum cw_status cw_merge_trace_renumber(struct cw_merge_trace *m, struct cw_chunk *chunk, bool *wanted);
void cw_merge_trace_free(struct cw_merge_trace *m);

#endif
