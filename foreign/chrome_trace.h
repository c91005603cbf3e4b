/* Reads traces of PyTorch's profiler (Kineto), which are JSON in Chrome's format. */
#ifndef CW_FOREIGN_CHROME_TRACE_H
#define CW_FOREIGN_CHROME_TRACE_H

#include "base/input.h"

/* Makes a trace of the events of CUDA; other events are left out. `input` is read in pieces. CW_ERR_INPUT with the
 * offset for text that is not JSON. A list of events that ends in the middle gives an incomplete trace.
 * Where a file has several processes, events of GPUs that may be of any of them are of a process 0, which has no calls:
 * `notice`, of `size` bytes, gets a line about them; it stays as it is if there are none. */
enum cw_status cw_chrome_trace_read(struct cw_input *made, char *notice, size_t size, const struct cw_input *input,
                                    struct cw_error *err);

#endif
