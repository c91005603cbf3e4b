/* Batches around a program with one context, under a fake profiler and on a fake device: memory is saved by what
 * changed. */
#ifndef CW_TEST_FAKE_BATCHES_H
#define CW_TEST_FAKE_BATCHES_H

#include "agent/inject/modes/batches.h"
#include "tests/support/fake_device.h"
#include "tests/support/fake_profiler.h"

#define FAKE_BATCHES_CONTEXT ((CUcontext)0x10)

/* Begins with FAKE_PARTS parts of FAKE_PASSES passes, and with half of 16 GB unused. */
void fake_batches_begin(struct cw_writer *setup);
/* Behind that and the test's own changes: the program makes its context and allocates the memory. */
void fake_batches_start(struct cw_writer *setup, void *memory, size_t size);
void fake_batches_end(void);

#endif
