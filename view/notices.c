#include "view/notices.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool has(const struct cw_notices *notices, const char *text)
{
    const struct cw_notice *n = notices->first;
    while (n && strcmp(n->text, text) != 0)
        n = n->next;
    return n;
}

static void add(struct cw_notices *notices, const char *text)
{
    struct cw_notice *made = has(notices, text) ? NULL : cw_arena_alloc(notices->arena, 1, sizeof *made);
    if (!made || !(made->text = cw_arena_strdup(notices->arena, text)))
        return;
    if (notices->last)
        notices->last->next = made;
    else
        notices->first = made;
    notices->last = made;
}

void cw_notice(struct cw_notices *notices, const char *format, ...)
{
    char text[1024];
    va_list args;
    if (!notices)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    add(notices, text);
}

void cw_notice_take(struct cw_notices *notices, struct cw_writer *line)
{
    cw_write_bytes(line, "", 1);
    if (notices && line->status == CW_OK)
        add(notices, (const char *)line->data);
    cw_writer_free(line);
}
