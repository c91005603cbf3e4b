/* Traces in a file that several are joined into: which numbers their processes and kinds have there. */
#ifndef CW_IMAGE_MERGE_TRACE_H
#define CW_IMAGE_MERGE_TRACE_H

#include "image/chunk.h"
#include "image/trace_data.h"

/* Begins as zeros. */
struct cw_merge_trace {
    struct cw_arena *arena;
    void *lists;                        /* a tree of the lists of kinds that the result has */
    uint32_t process_count, kind_count; /* of the result */
    /* of the current input: */
    uint32_t first_process; /* its first one's number in the result */
    uint32_t kinds_found;
    uint32_t *kinds; /* by its own numbers: those of the result */
    struct cw_writer renumbered;
};

/* The next input, whose trace is good, as `trace` says; memory of it alone is of `own`. CW_ERR_NOMEM, or CW_ERR_USAGE
 * where the result has no more numbers. */
enum cw_status cw_merge_trace_begin(struct cw_merge_trace *m, const struct cw_trace *trace, struct cw_arena *own,
                                    struct cw_error *err);
/* A TKND, TPRC, TSTR or TREC of the current input, in their order, becomes what the result has for it; *wanted: that is
 * not there yet. Devices keep their numbers. The payload stays until the next call. CW_ERR_NOMEM alone. */
enum cw_status cw_merge_trace_renumber(struct cw_merge_trace *m, struct cw_chunk *chunk, bool *wanted);
void cw_merge_trace_free(struct cw_merge_trace *m);

#endif
