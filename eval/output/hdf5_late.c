#define _GNU_SOURCE
#include "eval/output/hdf5_late.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#include "eval/output/output.h"

#ifdef CW_HDF5_LATE

#define X(name) __typeof__(cw_late_##name) cw_late_##name;
CW_HDF5_FUNCTIONS(X)
CW_HDF5_IDS(X)
#undef X

static bool only_ours;    /* cw_hdf5_begin */
static char missing[512]; /* why HDF5 could not be loaded */

void cw_hdf5_begin(void)
{
    only_ours = true;
}

/* A program linked with the same HDF5 may have copies of its variables. HDF5 uses the copies then. */
static void *find(void *library, const char *name)
{
    const bool linked = dlsym(RTLD_DEFAULT, "H5open") == dlsym(library, "H5open");
    void *found = linked ? dlsym(RTLD_DEFAULT, name) : NULL;
    return found ? found : dlsym(library, name);
}

static void load(void)
{
    void *library = dlopen(CW_HDF5_LATE, RTLD_NOW | RTLD_LOCAL);
    const char *wanted = NULL;
    if (!library) {
        snprintf(missing, sizeof missing, "%s", dlerror());
        return;
    }
#define X(name)                                                                                                        \
    *(void **)&cw_late_##name = find(library, #name);                                                                  \
    if (!cw_late_##name)                                                                                               \
        wanted = #name;
    CW_HDF5_FUNCTIONS(X)
    CW_HDF5_IDS(X)
#undef X
    if (wanted)
        snprintf(missing, sizeof missing, "%s lacks %s", CW_HDF5_LATE, wanted);
    else if (only_ours)
        H5dont_atexit();
}

enum cw_status cw_hdf5_load(struct cw_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return *missing ? cw_error_set(err, CW_ERR_UNSUPPORTED, "HDF5 cannot be loaded: %s", missing) : CW_OK;
}

#else

void cw_hdf5_begin(void)
{
    H5dont_atexit();
}

enum cw_status cw_hdf5_load(struct cw_error *err)
{
    (void)err;
    return CW_OK;
}

#endif
