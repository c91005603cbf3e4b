#include "view/notices.h"

#include <stdarg.h>
#include <string.h>

struct cw_notice {
    const char *text;
    struct cw_notice *next;
    uint64_t hash; /* of the text; orders the tree below the first notice */
    struct cw_notice *below[2];
};

static uint64_t hash_of(const char *text) /* FNV-1a */
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash;
}

/* Finds the text's place in the tree. A folder of a hundred thousand files may have a line for each. */
static struct cw_notice **place_of(struct cw_notices *notices, uint64_t hash, const char *text)
{
    struct cw_notice **at = &notices->first;
    while (*at && ((*at)->hash != hash || strcmp((*at)->text, text) != 0))
        at = &(*at)->below[hash > (*at)->hash];
    return at;
}

static void add(struct cw_notices *notices, const char *text)
{
    const uint64_t hash = hash_of(text);
    struct cw_notice **place = place_of(notices, hash, text);
    struct cw_notice *made = *place ? NULL : cw_arena_alloc(notices->arena, 1, sizeof *made);
    if (!made || !(made->text = cw_arena_strdup(notices->arena, text)))
        return;
    made->hash = hash;
    *place = made;
    if (notices->last)
        notices->last->next = made;
    notices->last = made;
}

void cw_notice(struct cw_notices *notices, const char *format, ...)
{
    struct cw_writer line;
    va_list args;
    cw_writer_init(&line);
    va_start(args, format);
    cw_write_vformat(&line, format, args);
    va_end(args);
    cw_notice_take(notices, &line);
}

const char *cw_notice_next(const struct cw_notices *notices, const struct cw_notice **at)
{
    const struct cw_notice *next = *at ? (*at)->next : notices->first;
    *at = next ? next : *at;
    return next ? next->text : NULL;
}

void cw_notice_take(struct cw_notices *notices, struct cw_writer *line)
{
    cw_write_bytes(line, "", 1);
    if (notices && line->status == CW_OK)
        add(notices, (const char *)line->data);
    cw_writer_free(line);
}
