#define _GNU_SOURCE
#include "agent/inject/memory/checkpoint.h"
#include "agent/inject/memory/room.h"

#include <dlfcn.h>
#include <stdio.h>

#define self cw_checkpoint_library

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

bool cw_checkpoint_save(struct cw_checkpoint *c, CUcontext context)
{
    *c = (struct cw_checkpoint){.size = sizeof *c, .context = context, .reserve_device_mb = cw_room_kept_free() >> 20};
    return self->save(c) == CUPTI_SUCCESS;
}

bool cw_checkpoint_restore(struct cw_checkpoint *c)
{
    return self->restore(c) == CUPTI_SUCCESS;
}

void cw_checkpoint_free(struct cw_checkpoint *c)
{
    self->release(c);
}
