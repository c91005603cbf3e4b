#include "foreign/sqlite_late.h"

#include <dlfcn.h>
#include <pthread.h>

static struct cw_sqlite functions;
static const char *missing;

static void load(void)
{
    void *library = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
    missing = library ? NULL : "libsqlite3.so.0";
#define X(name)                                                                                                        \
    *(void **)&functions.name = library ? dlsym(library, #name) : NULL;                                                \
    missing = missing || functions.name ? missing : #name;
    CW_SQLITE_FUNCTIONS(X)
#undef X
}

enum cw_status cw_sqlite_load(const struct cw_sqlite **loaded, struct cw_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    *loaded = &functions;
    return missing ? cw_error_set(err, CW_ERR_UNSUPPORTED,
                                  "found a database of SQLite, and no %s to read it: install libsqlite3", missing)
                   : CW_OK;
}
