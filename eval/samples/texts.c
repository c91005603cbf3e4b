#include "eval/samples/texts.h"

#include <stdlib.h>
#include <string.h>

void cw_texts_note(struct cw_texts *t, const char *text)
{
    if (t->nomem || (t->count && t->items[t->count - 1].from == text))
        return;
    if (t->count == t->capacity) {
        size_t capacity = t->capacity ? 2 * t->capacity : 256;
        struct cw_text *grown = realloc(t->items, capacity * sizeof *grown);
        t->nomem = !grown;
        if (!grown)
            return;
        t->items = grown;
        t->capacity = capacity;
    }
    t->items[t->count++] = (struct cw_text){text, NULL};
}

static int by_address(const void *left, const void *right)
{
    const struct cw_text *a = left, *b = right;
    return cw_text_compare(a->from, b->from);
}

static int by_content(const void *left, const void *right)
{
    const struct cw_text *a = left, *b = right;
    return strcmp(a->from, b->from);
}

/* Keeps each address once. */
static void drop_repeats(struct cw_texts *t)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->count; i++)
        if (!kept || t->items[kept - 1].from != t->items[i].from)
            t->items[kept++] = t->items[i];
    t->count = kept;
}

/* Copies each text once, one after another. */
static bool copy(struct cw_texts *t, struct cw_arena *arena)
{
    size_t size = 1;
    for (size_t i = 0; i < t->count; i++)
        size += strlen(t->items[i].from) + 1;
    char *next = cw_arena_alloc(arena, size, 1), *last = NULL;
    for (size_t i = 0; next && i < t->count; i++) {
        if (!last || strcmp(last, t->items[i].from) != 0)
            last = strcpy(next, t->items[i].from);
        next = last + strlen(last) + 1;
        t->items[i].to = last;
    }
    return next != NULL;
}

bool cw_texts_order(struct cw_texts *t, struct cw_arena *arena)
{
    if (t->count)
        qsort(t->items, t->count, sizeof *t->items, by_address);
    drop_repeats(t);
    if (t->count)
        qsort(t->items, t->count, sizeof *t->items, by_content);
    bool good = !t->nomem && copy(t, arena);
    if (t->count)
        qsort(t->items, t->count, sizeof *t->items, by_address);
    return good;
}

const char *cw_texts_one(const struct cw_texts *t, const char *text)
{
    const struct cw_text key = {text, NULL};
    return ((const struct cw_text *)bsearch(&key, t->items, t->count, sizeof key, by_address))->to;
}

void cw_texts_free(struct cw_texts *t)
{
    free(t->items);
    *t = (struct cw_texts){0};
}
