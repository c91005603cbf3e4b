#define _GNU_SOURCE
#include "agent/inject/memory/checkpoint.h"

#include <dlfcn.h>
#include <stdio.h>

#include "agent/inject/memory/pinned.h"

#define self cw_checkpoint_library

/* Limits on where to save. Saving on the host takes a second per GB, and the same again for each pass, so usually
 * little goes there (CW_ON_HOST_USUAL). The reserve stays free because CUPTI fails to start without memory (seen with
 * 64 GB to save and 16 GB free, all of which the checkpoint took). */
static const size_t most_pinned = (size_t)1 << 30, reserve = (size_t)2 << 30;
enum { SHARE = 16 }; /* reserve of a small device, as a part of its memory */

void cw_checkpoint_load(void)
{
    Dl_info cupti;
    char path[1024] = "";
    if (dladdr(*(void **)&cw_inject->api.cuptiGetVersion, &cupti) && cupti.dli_fname)
        snprintf(path, sizeof path, "%s", cupti.dli_fname);
    char *slash = strrchr(path, '/');
    size_t folder = slash ? (size_t)(slash - path) + 1 : 0;
    snprintf(path + folder, sizeof path - folder, "libcheckpoint.so");
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return;
    *(void **)&self->save = dlsym(library, "cuptiCheckpointSave");
    *(void **)&self->restore = dlsym(library, "cuptiCheckpointRestore");
    *(void **)&self->release = dlsym(library, "cuptiCheckpointFree");
}

bool cw_checkpoint_init(void)
{
    return self->save && self->restore && self->release;
}

void cw_checkpoint_limit(uint32_t reserve_mb, uint32_t on_host_mb)
{
    self->limited = true;
    self->reserve_mb = reserve_mb;
    self->on_host_mb = on_host_mb;
}

static size_t most_on_host(void)
{
    return (size_t)(self->limited ? self->on_host_mb : CW_ON_HOST_USUAL) << 20;
}

static size_t kept_free(size_t total)
{
    if (self->limited && self->reserve_mb != CW_RESERVE_USUAL)
        return (size_t)self->reserve_mb << 20;
    return total / SHARE < reserve ? total / SHARE : reserve;
}

/* Counts other processes' memory on the device as the context's, because nothing else is known. */
bool cw_checkpoint_has_room(size_t besides)
{
    size_t unused, total;
    if (cw_inject->api.cuMemGetInfo_v2(&unused, &total) != CUDA_SUCCESS)
        return false;
    size_t held = total - unused, most = unused + most_on_host();
    bool host_fits = !cw_pinned->unknown && cw_pinned->bytes <= most_pinned;
    return host_fits && besides <= most && held + kept_free(total) <= most - besides;
}

bool cw_checkpoint_save(struct cw_checkpoint *c, CUcontext context)
{
    size_t unused, total, reserve_mb = 0;
    if (cw_inject->api.cuMemGetInfo_v2(&unused, &total) == CUDA_SUCCESS)
        reserve_mb = kept_free(total) >> 20;
    *c = (struct cw_checkpoint){
        .size = offsetof(struct cw_checkpoint, pinned), .context = context, .reserve_device_mb = reserve_mb};
    if (!cw_pinned_keep(&c->pinned))
        return false;
    if (self->save(c) == CUPTI_SUCCESS) {
        cw_pinned_check(c->pinned);
        return true;
    }
    cw_pinned_free(c->pinned);
    return false;
}

bool cw_checkpoint_restore(struct cw_checkpoint *c)
{
    cw_pinned_look(c->pinned);
    bool restored = self->restore(c) == CUPTI_SUCCESS;
    cw_pinned_put_back(c->pinned);
    return restored;
}

void cw_checkpoint_free(struct cw_checkpoint *c)
{
    self->release(c);
    cw_pinned_free(c->pinned);
    c->pinned = NULL;
}
