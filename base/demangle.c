#define _GNU_SOURCE
#include "base/demangle.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SUFFIXES = 4 };
static char *(*demangle)(const char *, char *, size_t *, int *); /* NULL without a library */

static void load(void)
{
    void *runtime = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
    if (runtime)
        *(void **)&demangle = dlsym(runtime, "__cxa_demangle");
}

static enum cw_status convert(char **readable, const char *name)
{
    int failure = 0;
    *readable = demangle(name, NULL, NULL, &failure);
    return *readable ? CW_OK : failure == -1 ? CW_ERR_NOMEM : CW_ERR_INPUT;
}

/* The begin of the last suffix that a compiler put behind a mangled name; NULL if there is none. */
static char *last_suffix(char *name)
{
    static const char *const forms[] = {"_$_", "$", "__intern__"};
    char *last = NULL;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        for (char *at = name; (at = strstr(at, forms[i])); at++)
            if (at > last && (*at != '$' || at == name || at[-1] != '_' || at[1] != '_'))
                last = at;
    return last;
}

/* A name with a suffix that the C++ runtime does not know, as that knows ".cold". */
static enum cw_status convert_before_suffix(char **readable, const char *name)
{
    char *head = strdup(name), *suffix = head, *text = NULL;
    enum cw_status status = head ? CW_ERR_INPUT : CW_ERR_NOMEM;
    for (int tries = 0; tries < MOST_SUFFIXES && status == CW_ERR_INPUT && (suffix = last_suffix(head)); tries++) {
        *suffix = 0;
        status = convert(&text, head);
    }
    if (status == CW_OK && asprintf(readable, "%s [clone %s]", text, name + (suffix - head)) < 0) {
        *readable = NULL;
        status = CW_ERR_NOMEM;
    }
    free(text);
    free(head);
    return status;
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
    const enum cw_status status = convert(readable, name);
    return status == CW_ERR_INPUT ? convert_before_suffix(readable, name) : status;
}

char *cw_demangle(const char *name)
{
    char *readable;
    cw_demangle_into(&readable, name);
    return readable;
}
