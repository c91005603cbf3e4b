/* The injection library with a CUPTI that has no GPU: a program that loads it calls this for its context, and for each
 * launch. */
#include "tests/support/fake_cupti.h"

#define EXPORT __attribute__((visibility("default")))
EXPORT void begin_fake_cuda(void);
EXPORT void launch_fake_cuda(void);

void begin_fake_cuda(void)
{
    fake_cupti.traces = true;
    InitializeInjection();
    if (fake_cupti.callback) /* an agent is there */
        fake_cupti_create_context();
}

void launch_fake_cuda(void)
{
    static _Atomic uint32_t launches;
    const uint32_t number = ++launches;
    fake_cupti_launch_numbered(CUPTI_API_ENTER, number);
    fake_cupti_launch_numbered(CUPTI_API_EXIT, number);
}
