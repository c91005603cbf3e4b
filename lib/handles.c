#include "lib/handles.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

pthread_mutex_t cw_lib_hdf5 = PTHREAD_MUTEX_INITIALIZER;

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

void cw_lib_leave(struct cw_lib_share *share)
{
    if (!share || atomic_fetch_sub(&share->users, 1) != 1)
        return;
    cw_arena_destroy(share->arena);
    free(share);
}

struct cw_lib_call cw_lib_enter(void)
{
    static const struct cw_lib_call begun;
    struct cw_lib_call call = begun;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* costs nothing, and is never freed by the C library */
    call.before = plain ? uselocale(plain) : (locale_t)0;
    return call;
}

enum counterworks_status cw_lib_finish(const struct cw_lib_call *call, enum cw_status status,
                                       struct counterworks_error *error)
{
    const struct cw_error *from = &call->err;
    if (call->before)
        freelocale(uselocale(call->before));
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

void cw_lib_give(void *to, size_t size, const void *from, size_t all)
{
    const size_t head = sizeof(size_t);
    if (size > head)
        memcpy((char *)to + head, (const char *)from + head, (size < all ? size : all) - head);
}

struct cw_eval_options cw_lib_spans(const struct counterworks_evaluate_options *options)
{
    struct counterworks_evaluate_options o = COUNTERWORKS_EVALUATE_OPTIONS;
    if (options)
        memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
    return (struct cw_eval_options){o.frame_ns, o.region_ns};
}
