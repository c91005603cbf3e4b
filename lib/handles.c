#include "lib/handles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *cw_lib_handle(size_t size)
{
    struct cw_arena **handle = calloc(1, size);
    if (handle)
        *handle = cw_arena_create();
    if (handle && *handle)
        return handle;
    free(handle);
    return NULL;
}

void cw_lib_drop(void *handle)
{
    struct cw_arena **arena = handle;
    if (handle)
        cw_arena_destroy(*arena);
    free(handle);
}

/* What the library does not do cannot fail in it. */
static enum counterworks_status status_of(enum cw_status status)
{
    return status == CW_ERR_NOMEM ? COUNTERWORKS_NOMEM : (enum counterworks_status)status;
}

enum counterworks_status cw_lib_finish(enum cw_status status, const struct cw_error *from,
                                       struct counterworks_error *error)
{
    if (!error)
        return status_of(status);
    *error = (struct counterworks_error){.status = status_of(status)};
    if (status == CW_OK)
        return COUNTERWORKS_OK;
    error->line = from->line;
    error->column = from->column;
    error->has_offset = from->has_offset;
    error->offset = from->offset;
    snprintf(error->source, sizeof error->source, "%s", from->source);
    snprintf(error->message, sizeof error->message, "%s", *from->message ? from->message : "out of memory");
    return error->status;
}

const char *counterworks_error_text(const struct counterworks_error *error, char *text, size_t size)
{
    struct cw_error e = {.code = (enum cw_status)error->status,
                         .line = error->line,
                         .column = error->column,
                         .has_offset = error->has_offset,
                         .offset = error->offset};
    snprintf(e.source, sizeof e.source, "%s", error->source);
    snprintf(e.message, sizeof e.message, "%s", error->message);
    return size ? cw_error_format(&e, text, (unsigned)(size < 4096 ? size : 4096)) : text;
}

const char *counterworks_version(void)
{
    return CW_VERSION;
}
