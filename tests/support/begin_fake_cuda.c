/* begin_cuda() of tests/gpu/openmp.c and openacc.c, where there is no GPU: as CUDA does, it loads the library that is
 * named in the environment. That is fake_inject, which brings a CUPTI without a GPU along. */
#include <dlfcn.h>
#include <stdlib.h>

void begin_cuda(void);

void begin_cuda(void)
{
    const char *path = getenv("CUDA_INJECTION64_PATH");
    void *library = path ? dlopen(path, RTLD_NOW) : NULL;
    void (*begin)(void) = library ? (void (*)(void))dlsym(library, "begin_fake_cuda") : NULL;
    if (!begin)
        abort();
    begin();
}
