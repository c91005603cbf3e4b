#include "lib/handles.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"

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

/* The library returns no status that only commands have. */
static enum counterworks_status status_of(enum cw_status status)
{
    return status == CW_ERR_NOMEM ? COUNTERWORKS_NOMEM : (enum counterworks_status)status;
}

struct cw_lib_share {
    atomic_uint users;
    struct cw_arena *arena;
};

struct cw_lib_share *cw_lib_share_make(struct cw_arena *arena)
{
    struct cw_lib_share *made = malloc(sizeof *made);
    if (made)
        *made = (struct cw_lib_share){.users = 1, .arena = arena};
    return made;
}

struct cw_lib_share *cw_lib_join(struct cw_lib_share *share)
{
    atomic_fetch_add(&share->users, 1);
    return share;
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
    call.before = cw_decimal_point_begin();
    return call;
}

enum counterworks_status cw_lib_finish(const struct cw_lib_call *call, enum cw_status status,
                                       struct counterworks_error *error)
{
    const struct cw_error *from = &call->err;
    cw_decimal_point_end(call->before);
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

/* ---- errors ----------------------------------------------------------------------------------------------------- */

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

/* ---- notices ---------------------------------------------------------------------------------------------------- */

void cw_lib_tell(const struct counterworks_chip *chip, struct cw_writer *line)
{
    cw_write_bytes(line, "", 1);
    if (chip->tell && line->status == CW_OK)
        chip->tell(chip->user, (const char *)line->data);
    cw_writer_free(line);
}

void cw_lib_tell_notices(const struct counterworks_chip *chip, const struct cw_notices *notices)
{
    const struct cw_notice *at = NULL;
    for (const char *line; chip && chip->tell && (line = cw_notice_next(notices, &at));)
        chip->tell(chip->user, line);
}

struct counterworks_notices {
    struct cw_arena *arena;
    struct cw_notices list;
};

enum counterworks_status counterworks_notices_open(struct counterworks_notices **notices,
                                                   struct counterworks_error *error)
{
    const struct cw_lib_call call = cw_lib_enter();
    struct counterworks_notices *made = *notices = cw_lib_handle(sizeof *made);
    if (made)
        made->list.arena = made->arena;
    return cw_lib_finish(&call, made ? CW_OK : CW_ERR_NOMEM, error);
}

size_t counterworks_notices_count(const struct counterworks_notices *notices)
{
    const struct cw_notice *at = NULL;
    size_t count = 0;
    while (cw_notice_next(&notices->list, &at))
        count++;
    return count;
}

const char *counterworks_notices_text(const struct counterworks_notices *notices, size_t index)
{
    const struct cw_notice *at = NULL;
    const char *text = cw_notice_next(&notices->list, &at);
    for (size_t i = 0; i < index; i++)
        text = cw_notice_next(&notices->list, &at);
    return text;
}

void counterworks_notices_close(struct counterworks_notices *notices)
{
    cw_lib_drop(notices);
}

struct cw_notices *cw_lib_notices(struct counterworks_notices *notices)
{
    return notices ? &notices->list : NULL;
}

void cw_lib_notices_give(struct counterworks_notices *to, const struct cw_notices *from, const struct cw_notice **told)
{
    for (const char *line; (line = cw_notice_next(from, told));)
        cw_notice(cw_lib_notices(to), "%s", line);
}
