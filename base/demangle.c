#define _GNU_SOURCE
#include "base/demangle.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

typedef char *demangle_function(const char *, char *, size_t *, int *);

static demangle_function *find_library(void)
{
    static demangle_function *found;
    static int tried;
    if (!tried) {
        tried = 1;
        void *runtime = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
        if (runtime)
            *(void **)&found = dlsym(runtime, "__cxa_demangle");
    }
    return found;
}

enum cw_status cw_demangle_into(char **readable, const char *name)
{
    *readable = NULL;
    if (strncmp(name, "_Z", 2) != 0)
        return CW_ERR_INPUT;
    demangle_function *demangle = find_library();
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
