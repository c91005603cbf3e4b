/* begin_cuda() of openmp.c and openacc.c: a context and some memory, by the driver that is there. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

void begin_cuda(void);

typedef int initialize(unsigned flags);
typedef int retain(void **context, int device);
typedef int set_current(void *context);
typedef int allocate(unsigned long long *memory, size_t size);

void begin_cuda(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *context = NULL;
    unsigned long long memory = 0;
    if (!driver || ((initialize *)dlsym(driver, "cuInit"))(0) ||
        ((retain *)dlsym(driver, "cuDevicePrimaryCtxRetain"))(&context, 0) ||
        ((set_current *)dlsym(driver, "cuCtxSetCurrent"))(context) ||
        ((allocate *)dlsym(driver, "cuMemAlloc_v2"))(&memory, 1 << 20))
        printf("no CUDA here\n");
}
