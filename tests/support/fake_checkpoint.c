/* libcuda, libcupti and libcheckpoint in one, for a device whose memory is one number. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct handle { /* as CUpti_Checkpoint */
    size_t size;
    void *context;
    size_t reserve_device_mb, reserve_host_mb;
    uint8_t overwrite, optimizations;
    void *own;
};

int fake_memory, fake_waits, fake_saved;
void *fake_context, *fake_pushed;
int fake_failed;           /* result of the work before */
struct handle fake_handle; /* the last one */

int cuCtxGetCurrent(void **context);
int cuCtxPushCurrent_v2(void *context);
int cuCtxPopCurrent_v2(void **context);
int cuCtxSynchronize(void);
int cuptiGetResultString(int result, const char **text);
int cuptiCheckpointSave(struct handle *handle);
int cuptiCheckpointRestore(struct handle *handle);
int cuptiCheckpointFree(struct handle *handle);

int cuCtxGetCurrent(void **context)
{
    *context = fake_context;
    return 0;
}

int cuCtxPushCurrent_v2(void *context)
{
    fake_pushed = context;
    return 0;
}

int cuCtxPopCurrent_v2(void **context)
{
    *context = fake_pushed;
    fake_pushed = NULL;
    return 0;
}

int cuCtxSynchronize(void)
{
    fake_waits += fake_pushed != NULL;
    return fake_failed;
}

int cuptiGetResultString(int result, const char **text)
{
    *text = result == 8 ? "CUPTI_ERROR_OUT_OF_MEMORY" : NULL;
    return 0;
}

int cuptiCheckpointSave(struct handle *handle)
{
    if (handle->reserve_device_mb == (size_t)-1 && handle->reserve_host_mb == (size_t)-1)
        return 8;
    fake_saved += !handle->own;
    handle->own = (void *)((uintptr_t)fake_memory + 1);
    fake_handle = *handle;
    return 0;
}

int cuptiCheckpointRestore(struct handle *handle)
{
    fake_memory = (int)((uintptr_t)handle->own - 1);
    return 0;
}

int cuptiCheckpointFree(struct handle *handle)
{
    fake_saved--;
    memset(handle, 0, sizeof *handle);
    return 0;
}
