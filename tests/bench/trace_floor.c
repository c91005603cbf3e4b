/* The least that CUPTI's activity records cost: a library that CUDA loads (CUDA_INJECTION64_PATH), asks for records of
 * kernels, copies and sets, and throws the buffers away. With TRACE_FLOOR_CALLS set also for calls of driver and runtime. */
#include <stdint.h>
#include <stdlib.h>

#include <cupti.h>

enum { BUFFER = 4 << 20 };

static void CUPTIAPI requested(uint8_t **buffer, size_t *size, size_t *most)
{
    *buffer = aligned_alloc(8, BUFFER);
    *size = *buffer ? BUFFER : 0;
    *most = 0;
}

static void CUPTIAPI completed(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
    (void)context, (void)stream, (void)size, (void)valid;
    free(buffer);
}

static void finish(void)
{
    cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
}

int InitializeInjection(void);
int InitializeInjection(void)
{
    cuptiActivityRegisterCallbacks(requested, completed);
    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY);
    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET);
    if (getenv("TRACE_FLOOR_CALLS")) {
        cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER);
        cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME);
    }
    atexit(finish);
    return 1;
}
