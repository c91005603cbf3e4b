/* The injection library with a CUPTI that has no GPU: a program that loads it calls this for its context. */
#include "tests/support/fake_cupti.h"

__attribute__((visibility("default"))) void begin_fake_cuda(void);

void begin_fake_cuda(void)
{
    fake_cupti.traces = true;
    InitializeInjection();
    fake_cupti_create_context();
}
