#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 16, BLOCK = 64 * 1024 };

struct block {
    struct block *next;
    size_t used, size;
    _Alignas(ALIGNMENT) unsigned char data[];
};

struct adopted {
    struct adopted *next;
    void (*finish)(void *);
    void *of;
};

struct cw_arena {
    struct block *blocks;
    struct adopted *adopted;
};

struct cw_arena *cw_arena_create(void)
{
    return calloc(1, sizeof(struct cw_arena));
}

void cw_arena_destroy(struct cw_arena *arena)
{
    if (!arena)
        return;
    for (struct adopted *a = arena->adopted, *next; a; a = next) {
        next = a->next;
        a->finish(a->of);
        free(a);
    }
    for (struct block *b = arena->blocks, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    free(arena);
}

bool cw_arena_at_end(struct cw_arena *arena, void (*finish)(void *), void *of)
{
    struct adopted *a = malloc(sizeof *a);
    if (!a) {
        finish(of);
        return false;
    }
    *a = (struct adopted){arena->adopted, finish, of};
    arena->adopted = a;
    return true;
}

bool cw_arena_adopt(struct cw_arena *arena, void *memory)
{
    return !memory || cw_arena_at_end(arena, free, memory);
}

void *cw_grown(void *items, size_t *room, size_t count, size_t size)
{
    if (count < *room)
        return items;
    const size_t more = *room ? 2 * *room : 16;
    void *grown = more <= SIZE_MAX / 2 / size ? realloc(items, more * size) : NULL;
    *room = grown ? more : *room;
    return grown;
}

void *cw_arena_alloc(struct cw_arena *arena, size_t count, size_t size)
{
    if (size && count > (SIZE_MAX / 2) / size)
        return NULL;
    size_t bytes = count * size;
    if (!CW_ADDRESS_SANITIZED)
        bytes = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    struct block *b = arena->blocks;
    if (CW_ADDRESS_SANITIZED || !b || b->size - b->used < bytes) {
        size_t room = !CW_ADDRESS_SANITIZED && bytes < BLOCK ? BLOCK : bytes;
        b = calloc(1, sizeof *b + room);
        if (!b)
            return NULL;
        b->size = room;
        /* Put a large block behind the current one, so that the current one's free space stays in use. */
        if (arena->blocks && room > BLOCK) {
            b->next = arena->blocks->next;
            arena->blocks->next = b;
        } else {
            b->next = arena->blocks;
            arena->blocks = b;
        }
    }
    void *p = b->data + b->used;
    b->used += bytes;
    return p;
}

char *cw_arena_strndup(struct cw_arena *arena, const char *text, size_t length)
{
    char *copy = length < SIZE_MAX ? cw_arena_alloc(arena, length + 1, 1) : NULL;
    if (copy)
        memcpy(copy, text, length);
    return copy;
}

char *cw_arena_strdup(struct cw_arena *arena, const char *text)
{
    return cw_arena_strndup(arena, text, strlen(text));
}

char *cw_arena_printf(struct cw_arena *arena, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = length < 0 ? NULL : cw_arena_alloc(arena, (size_t)length + 1, 1);
    if (text)
        vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}
