#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "agent/common/cupti_path.h"
#include "collect/fail.h"

#define fail cw_collect_fail

/* Layout of CUpti_Checkpoint. Its header, cupti_checkpoint.h, is C++. */
struct handle {
    size_t size;
    void *context;
    size_t reserve_device_mb, reserve_host_mb;
    uint8_t overwrite, optimizations;
    void *own;
};

enum { SAME_CHANGES = 1 /* CUPTI_CHECKPOINT_OPT_TRANSFER */, OUT_OF_MEMORY = 8 /* CUPTI_ERROR_OUT_OF_MEMORY */ };

struct counterworks_checkpoint {
    struct handle handle;
};

/* Functions of CUDA, of CUPTI and of its checkpoint library. */
static struct {
    int (*get_current)(void **context), (*push)(void *context), (*pop)(void **context), (*synchronize)(void);
    int (*explain)(int result, const char **text);
    int (*save)(struct handle *), (*restore)(struct handle *), (*release)(struct handle *);
} calls;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Finds the functions, with the lock. */
static enum counterworks_status find_calls(struct counterworks_error *error)
{
    char path[PATH_MAX];
    if (calls.release)
        return COUNTERWORKS_OK;
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    void *cupti = cuda ? cw_cupti_open(cw_cupti_path(path, sizeof path)) : NULL;
    if (!cupti)
        return fail(error, COUNTERWORKS_UNSUPPORTED, "no checkpoint without %s: %s",
                    cuda ? "CUPTI (CW_CUPTI names libcupti.so)" : "CUDA's driver", dlerror());
    *(void **)&calls.get_current = dlsym(cuda, "cuCtxGetCurrent");
    *(void **)&calls.push = dlsym(cuda, "cuCtxPushCurrent_v2");
    *(void **)&calls.pop = dlsym(cuda, "cuCtxPopCurrent_v2");
    *(void **)&calls.synchronize = dlsym(cuda, "cuCtxSynchronize");
    *(void **)&calls.explain = dlsym(cupti, "cuptiGetResultString");
    void *library = calls.explain ? cw_open_beside(*(void **)&calls.explain, "libcheckpoint.so") : NULL;
    if (!library)
        return fail(error, COUNTERWORKS_UNSUPPORTED, "no checkpoint without libcheckpoint.so beside CUPTI: %s",
                    dlerror());
    *(void **)&calls.save = dlsym(library, "cuptiCheckpointSave");
    *(void **)&calls.restore = dlsym(library, "cuptiCheckpointRestore");
    *(void **)&calls.release = dlsym(library, "cuptiCheckpointFree");
    if (calls.get_current && calls.push && calls.pop && calls.synchronize && calls.save && calls.restore &&
        calls.release)
        return COUNTERWORKS_OK;
    calls.release = NULL;
    return fail(error, COUNTERWORKS_UNSUPPORTED,
                "found a CUDA driver or libcheckpoint.so without checkpoints, expected CUDA 12.6 or newer");
}

static enum counterworks_status check(int result, const char *call, struct counterworks_error *error)
{
    const char *text = NULL;
    if (result == 0)
        return COUNTERWORKS_OK;
    if (calls.explain(result, &text) != 0 || !text)
        text = "unknown result";
    return fail(error, result == OUT_OF_MEMORY ? COUNTERWORKS_NOMEM : COUNTERWORKS_UNSUPPORTED, "%s: %s (%d)", call,
                text, result);
}

/* Calls the checkpoint library when all work of the checkpoint's context is done. */
static enum counterworks_status run(int (*call)(struct handle *), struct handle *handle, const char *name,
                                    struct counterworks_error *error)
{
    void *before;
    int result = calls.push(handle->context);
    if (result != 0)
        return fail(error, COUNTERWORKS_UNSUPPORTED, "found a context of CUDA that has ended (%d), expected one",
                    result);
    result = calls.synchronize();
    const enum counterworks_status status =
        result == 0 ? check(call(handle), name, error)
                    : fail(error, COUNTERWORKS_UNSUPPORTED,
                           "found failed work of the context (CUDA's error %d), expected none", result);
    calls.pop(&before);
    return status;
}

/* Makes a checkpoint of the current context, without content. */
static enum counterworks_status make(struct counterworks_checkpoint **made,
                                     const struct counterworks_checkpoint_options *o, struct counterworks_error *error)
{
    void *context = NULL;
    if (o && o->size < sizeof *o)
        return fail(error, COUNTERWORKS_USAGE, "found other options, expected COUNTERWORKS_CHECKPOINT_OPTIONS");
    if (calls.get_current(&context) != 0 || !context)
        return fail(error, COUNTERWORKS_UNSUPPORTED, "found no current context of CUDA in this thread, expected one");
    struct counterworks_checkpoint *c = calloc(1, sizeof *c);
    if (!c)
        return cw_collect_fail_memory(error);
    c->handle = (struct handle){.size = sizeof c->handle,
                                .context = context,
                                .reserve_device_mb = o ? o->reserve_device : 0,
                                .reserve_host_mb = o ? o->reserve_host : 0,
                                .overwrite = 1,
                                .optimizations = o && o->same_changes ? SAME_CHANGES : 0};
    *made = c;
    return COUNTERWORKS_OK;
}

enum counterworks_status counterworks_checkpoint_save(struct counterworks_checkpoint **checkpoint,
                                                      const struct counterworks_checkpoint_options *options,
                                                      struct counterworks_error *error)
{
    struct counterworks_checkpoint *c = *checkpoint;
    pthread_mutex_lock(&lock);
    enum counterworks_status status = find_calls(error);
    if (status == COUNTERWORKS_OK && !c)
        status = make(&c, options, error);
    if (status == COUNTERWORKS_OK)
        status = run(calls.save, &c->handle, "cuptiCheckpointSave", error);
    const bool is_new = c != *checkpoint;
    if (status != COUNTERWORKS_OK && is_new && c->handle.own)
        calls.release(&c->handle);
    pthread_mutex_unlock(&lock);
    if (status == COUNTERWORKS_OK)
        *checkpoint = c;
    else if (is_new)
        free(c);
    return status;
}

enum counterworks_status counterworks_checkpoint_restore(struct counterworks_checkpoint *c,
                                                         struct counterworks_error *error)
{
    if (!c)
        return fail(error, COUNTERWORKS_USAGE, "found no checkpoint, expected one that was saved");
    pthread_mutex_lock(&lock);
    const enum counterworks_status status = run(calls.restore, &c->handle, "cuptiCheckpointRestore", error);
    pthread_mutex_unlock(&lock);
    return status;
}

void counterworks_checkpoint_free(struct counterworks_checkpoint *c)
{
    if (!c)
        return;
    pthread_mutex_lock(&lock);
    calls.release(&c->handle);
    pthread_mutex_unlock(&lock);
    free(c);
}
