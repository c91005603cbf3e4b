/* For targets that evaluate instructions: what a child process would hand over (eval/samples/confined.h) is the input
 * instead, which is quicker than a child and as hostile as one can be. Links with --wrap=cw_confined_run. */
#ifndef CW_TESTS_FUZZ_NO_CHILD_H
#define CW_TESTS_FUZZ_NO_CHILD_H

#include "eval/samples/confined.h"

static const uint8_t *cw_fuzz_answer;
static size_t cw_fuzz_answer_size;

enum cw_status __wrap_cw_confined_run(size_t memory, uint32_t *milliseconds, cw_confined_work *work, void *context,
                                      struct cw_writer *out);
enum cw_status __wrap_cw_confined_run(size_t memory, uint32_t *milliseconds, cw_confined_work *work, void *context,
                                      struct cw_writer *out)
{
    (void)memory;
    (void)milliseconds;
    (void)work;
    (void)context;
    cw_write_bytes(out, cw_fuzz_answer, cw_fuzz_answer_size);
    return CW_ERR_UNSUPPORTED;
}

#endif
