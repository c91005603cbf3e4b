#define _GNU_SOURCE
#include "agent/inject/memory/checkpoint.h"

#include <dlfcn.h>
#include <stdio.h>

#include "agent/common/cupti_path.h"
#include "agent/inject/driver/idle.h"
#include "agent/inject/driver/reach.h"
#include "agent/inject/memory/mirror.h"
#include "agent/inject/memory/pinned.h"
#include "agent/inject/memory/regions.h"

#define self cw_checkpoint_library

/* Limits on where to save. Saving on the host takes a second per GB, and the same again for each pass, so usually
 * little goes there (CW_ON_HOST_USUAL). The reserve stays free because CUPTI fails to start without memory (seen with
 * 64 GB to save and 16 GB free, all of which the checkpoint took). */
static const size_t most_pinned = (size_t)1 << 30, reserve = (size_t)2 << 30;
static const uint64_t patience_ns = 1000000000; /* before the program allocates memory */
enum { SHARE = 16 };                            /* reserve of a small device, as a part of its memory */
enum {
    HOST_SHARE = 4,
    REPLAY_SHARE = 2
}; /* of the host's unused memory, for copies of a mirror and of CUPTI's replay */

void cw_checkpoint_load(void)
{
    void *library = cw_open_beside(*(void **)&cw_inject->api.cuptiGetVersion, "libcheckpoint.so");
    if (!library)
        return;
    void *const save = dlsym(library, "cuptiCheckpointSave"), *const restore = dlsym(library, "cuptiCheckpointRestore"),
                *const release = dlsym(library, "cuptiCheckpointFree");
    cw_inject_acquire();
    *(void **)&self->save = save;
    *(void **)&self->restore = restore;
    *(void **)&self->release = release;
    cw_inject_release();
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

/* ---- by what changed -------------------------------------------------------------------------------------------- */

/* Reads the number behind a word of a file, "" for its first; 0 if there is none. */
static size_t number_of(const char *path, const char *word)
{
    FILE *file = fopen(path, "re");
    char line[128];
    const size_t length = strlen(word);
    size_t number = 0;
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file))
        found = strncmp(line, word, length) == 0 && sscanf(line + length, "%zu", &number) == 1;
    if (file)
        fclose(file);
    return found ? number : 0;
}

static size_t number_in(const char *group, const char *file, const char *word)
{
    char path[768];
    snprintf(path, sizeof path, "%s/%s", group, file);
    return number_of(path, word);
}

/* What a control group of the system, such as a container or a job, may still use. It gives up its cache of files. */
static size_t left_to(const char *group, bool second)
{
    /* "max", or a number beyond all memory, without a limit */
    const size_t most = number_in(group, second ? "memory.max" : "memory.limit_in_bytes", ""),
                 all = number_in(group, second ? "memory.current" : "memory.usage_in_bytes", ""),
                 cache = number_in(group, "memory.stat", second ? "active_file " : "total_active_file ") +
                         number_in(group, "memory.stat", second ? "inactive_file " : "total_inactive_file "),
                 used = all > cache ? all - cache : 0;
    return !most ? SIZE_MAX : most > used ? most - used : 0;
}

/* The least of all groups around the process. In a container the system's path may not be there, but its root is. */
static size_t allowed(void)
{
    FILE *groups = fopen("/proc/self/cgroup", "re");
    char line[512], group[640];
    size_t least = SIZE_MAX;
    while (groups && fgets(line, sizeof line, groups)) {
        const bool second = strncmp(line, "0::", 3) == 0;
        char *first = strstr(line, ":memory:"), *path = second ? line + 3 : first ? first + strlen(":memory:") : NULL;
        while (path) {
            path[strcspn(path, "\n")] = 0;
            snprintf(group, sizeof group, "/sys/fs/cgroup%s%s", second ? "" : "/memory", path);
            const size_t left = left_to(group, second);
            least = left < least ? left : least;
            char *slash = strrchr(path, '/');
            path = slash ? path : NULL;
            if (slash)
                *slash = 0;
        }
    }
    if (groups)
        fclose(groups);
    return least;
}

/* The host's unused bytes; 0 if the system does not tell. */
static size_t host_unused(void)
{
    const size_t unused = number_of("/proc/meminfo", "MemAvailable:") << 10, most = allowed();
    return unused < most ? unused : most;
}

static bool save_mirror(struct cw_mirror *mirror)
{
    size_t unused, total;
    const bool known = cw_inject->api.cuMemGetInfo_v2(&unused, &total) == CUDA_SUCCESS;
    return cw_mirror_save(mirror, known ? kept_free(total) : reserve,
                          self->limited && self->on_host_mb != CW_ON_HOST_USUAL ? most_on_host()
                                                                                : host_unused() / HOST_SHARE);
}

static struct cw_mirror *current_mirror(void)
{
    CUcontext context = NULL;
    return self->by_changes && cw_mirrors_work() && cw_inject->api.cuCtxGetCurrent(&context) == CUDA_SUCCESS && context
               ? cw_mirror_of(context)
               : NULL;
}

void cw_checkpoint_by_changes(void)
{
    self->by_changes = true;
}

bool cw_checkpoint_leaves_out(void)
{
    CUcontext context = NULL;
    return self->leaves_out ||
           (self->by_changes && cw_mirrors_work() && cw_inject->api.cuCtxGetCurrent(&context) == CUDA_SUCCESS &&
            context && cw_mirror_suits(context));
}

bool cw_checkpoint_follows(CUpti_CallbackId id)
{
    return self->by_changes && (cw_regions_follows(id) || id == CUPTI_DRIVER_TRACE_CBID_cuMemCreate);
}

void cw_checkpoint_meet(CUfunction kernel)
{
    if (self->by_changes)
        cw_regions_meet(kernel);
}

/* The program gets memory as if none were saved, and sees as much as it would see alone. But freeing memory waits for
 * kernels, and one may wait for the program. */
static void make_room(CUcontext context, size_t size)
{
    size_t unused, total;
    if (!cw_mirror_holds(context))
        return;
    const bool enough = size != SIZE_MAX && cw_inject->api.cuMemGetInfo_v2(&unused, &total) == CUDA_SUCCESS &&
                        unused >= size && unused - size >= kept_free(total);
    if (!enough && cw_idle_wait(context, patience_ns))
        cw_mirror_release(context);
}

void cw_checkpoint_follow(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    size_t size;
    if (!self->by_changes)
        return;
    if (call->callbackSite == CUPTI_API_ENTER && call->context && cw_regions_takes(id, call->functionParams, &size))
        make_room(call->context, size);
    cw_regions_follow(id, call);
}

void cw_checkpoint_forget(CUcontext context)
{
    cw_regions_forget_code(false);
    cw_mirror_forget(context);
}

/* ---- saving and restoring --------------------------------------------------------------------------------------- */

/* Counts other processes' memory on the device as the context's, because nothing else is known. A mirror needs hardly
 * any: it saves what there is room for. */
bool cw_checkpoint_has_room(size_t besides)
{
    size_t unused, total;
    if (cw_inject->api.cuMemGetInfo_v2(&unused, &total) != CUDA_SUCCESS)
        return false;
    if (current_mirror())
        return !besides || (besides <= unused && kept_free(total) <= unused - besides);
    size_t held = total - unused, most = unused + most_on_host();
    bool host_fits = !cw_pinned->unknown && cw_pinned->bytes <= most_pinned;
    return host_fits && besides <= most && held + kept_free(total) <= most - besides;
}

bool cw_checkpoint_replay_has_room(void)
{
    size_t unused, total;
    if (cw_inject->api.cuMemGetInfo_v2(&unused, &total) != CUDA_SUCCESS)
        return true;
    const size_t held = total - unused, beyond = held > unused ? held - unused : 0;
    return !beyond || (beyond <= most_on_host() && beyond <= host_unused() / REPLAY_SHARE);
}

static bool save_by_library(struct cw_checkpoint *c)
{
    size_t unused, total;
    cw_mirror_release(c->context);
    if (cw_inject->api.cuMemGetInfo_v2(&unused, &total) == CUDA_SUCCESS)
        c->reserve_device_mb = kept_free(total) >> 20;
    if (!cw_pinned_keep(&c->pinned))
        return false;
    if (self->save(c) == CUPTI_SUCCESS) {
        cw_pinned_check(c->pinned);
        return true;
    }
    cw_pinned_free(c->pinned);
    return false;
}

bool cw_checkpoint_save(struct cw_checkpoint *c, CUcontext context)
{
    struct cw_mirror *mirror = current_mirror();
    *c = (struct cw_checkpoint){.size = offsetof(struct cw_checkpoint, pinned), .context = context};
    if (mirror && save_mirror(mirror))
        c->mirror = mirror;
    return c->mirror || ((self->leaves_out || !cw_reach_beyond()) &&
                         save_by_library(c)); /* which would put back what others reach */
}

static bool is_good(struct cw_checkpoint *c, enum cw_mirror_result result)
{
    c->lacks = result == CW_MIRROR_LACKS;
    c->error = result == CW_MIRROR_FAILED ? (int)cw_mirror_failure() : 0;
    return result == CW_MIRROR_GOOD;
}

static bool restore_by_library(struct cw_checkpoint *c)
{
    cw_pinned_look(c->pinned);
    c->error = (int)self->restore(c);
    cw_pinned_put_back(c->pinned);
    return c->error == CUPTI_SUCCESS;
}

bool cw_checkpoint_look(struct cw_checkpoint *c)
{
    return !c->mirror || is_good(c, cw_mirror_look(c->mirror));
}

bool cw_checkpoint_restore_started(struct cw_checkpoint *c)
{
    return c->mirror ? is_good(c, cw_mirror_put_back(c->mirror, true)) : restore_by_library(c);
}

bool cw_checkpoint_restore(struct cw_checkpoint *c)
{
    if (!c->mirror)
        return restore_by_library(c);
    return cw_checkpoint_look(c) && is_good(c, cw_mirror_put_back(c->mirror, false));
}

bool cw_checkpoint_restore_between(struct cw_checkpoint *c)
{
    if (!c->mirror || !cw_mirror_has_looked(c->mirror))
        return cw_checkpoint_restore(c);
    return is_good(c, cw_mirror_put_back(c->mirror, false));
}

bool cw_checkpoint_is_whole(const struct cw_checkpoint *c)
{
    return !c->mirror || cw_mirror_is_whole(c->mirror);
}

bool cw_checkpoint_lacks(const struct cw_checkpoint *c)
{
    return c->lacks;
}

void cw_checkpoint_free(struct cw_checkpoint *c)
{
    if (c->mirror) {
        cw_mirror_rest(c->mirror);
        c->mirror = NULL;
        return;
    }
    self->release(c);
    cw_pinned_free(c->pinned);
    c->pinned = NULL;
}
