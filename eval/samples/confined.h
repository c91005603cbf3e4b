/* Work on input that is not trusted, by libraries that have no bounds of their own: it is done in a child process,
 * which gets so much memory and processor time and no more. Where it takes more, or crashes, only the child ends. */
#ifndef CW_EVAL_SAMPLES_CONFINED_H
#define CW_EVAL_SAMPLES_CONFINED_H

#include "base/bytes.h"

struct cw_confines {
    size_t memory;         /* bytes, beside what the process has already */
    uint32_t milliseconds; /* of processor time */
};

/* Not under sanitizers, which map terabytes. */
extern const bool cw_confined_limits_memory;

/* What runs in the child. Its standard output leads nowhere. Hands its results over by cw_confined_send. */
typedef void cw_confined_work(void *context, int to);

/* Hands over what was written, and empties the writer. */
void cw_confined_send(struct cw_writer *written, int to);

/* Appends to `out` what the work sent, at most `confines->memory` bytes of it. Takes the time that was used off
 * `confines`. CW_ERR_UNSUPPORTED where the child was ended or there can be none; what it sent before is in `out`
 * nevertheless. */
enum cw_status cw_confined_run(struct cw_confines *confines, cw_confined_work *work, void *context,
                               struct cw_writer *out);

#endif
