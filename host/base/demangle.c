#define _GNU_SOURCE
#include "host/base/demangle.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

char *cw_demangle(const char *name)
{
    static char *(*demangle)(const char *, char *, size_t *, int *);
    static int tried;
    if (!tried) {
        tried = 1;
        void *runtime = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
        if (runtime)
            *(void **)&demangle = dlsym(runtime, "__cxa_demangle");
    }
    int status = 0;
    return demangle && strncmp(name, "_Z", 2) == 0 ? demangle(name, NULL, NULL, &status) : NULL;
}
