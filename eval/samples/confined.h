/* Work on untrusted input by libraries that have no bounds of their own. It runs in a child process with a limit of
 * memory and processor time. If it takes more, waits for a minute beside it, or crashes, only the child ends. */
#ifndef CW_EVAL_SAMPLES_CONFINED_H
#define CW_EVAL_SAMPLES_CONFINED_H

#include "base/bytes.h"

/* Not under sanitizers, which map terabytes. */
extern const bool cw_confined_limits_memory;

/* Runs in the child, whose standard output leads nowhere. Hands its results over by cw_confined_send. */
typedef void cw_confined_work(void *context, int to);

/* Hands over the written bytes, and empties the writer. */
void cw_confined_send(struct cw_writer *written, int to);

/* Appends the bytes that the work sent to `out`, at most `memory`. The child may take as many bytes beside the memory
 * that the process has already, and *milliseconds of processor time; subtracts the time that it took.
 * CW_ERR_UNSUPPORTED if the child was ended or could not be made; `out` then has the bytes sent before. */
enum cw_status cw_confined_run(size_t memory, uint32_t *milliseconds, cw_confined_work *work, void *context,
                               struct cw_writer *out);

#endif
