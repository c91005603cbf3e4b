#define _GNU_SOURCE
#include "base/demangle.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

static char *(*demangle)(const char *, char *, size_t *, int *); /* NULL without a library */

static void load(void)
{
    void *runtime = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
    if (runtime)
        *(void **)&demangle = dlsym(runtime, "__cxa_demangle");
}

enum cw_status cw_demangle_into(char **readable, const char *name)
{
    *readable = NULL;
    if (strncmp(name, "_Z", 2) != 0)
        return CW_ERR_INPUT;
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    if (!demangle)
        return CW_ERR_UNSUPPORTED;
    int failure = 0;
    *readable = demangle(name, NULL, NULL, &failure);
    return *readable ? CW_OK : failure == -1 ? CW_ERR_NOMEM : CW_ERR_INPUT;
}

char *cw_demangle(const char *name)
{
    char *readable;
    cw_demangle_into(&readable, name);
    return readable;
}
