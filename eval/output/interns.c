#include "eval/output/interns.h"

#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

static struct cw_intern *find(struct cw_intern *slots, size_t capacity, const char *text, uint64_t hash)
{
    size_t at = hash & (capacity - 1);
    while (slots[at].text && (slots[at].hash != hash || strcmp(slots[at].text, text) != 0))
        at = (at + 1) & (capacity - 1);
    return &slots[at];
}

static bool grow(struct cw_interns *in)
{
    const size_t capacity = in->capacity ? 2 * in->capacity : 256;
    struct cw_intern *more = calloc(capacity, sizeof *more);
    if (!more)
        return false;
    for (size_t i = 0; i < in->capacity; i++)
        if (in->slots[i].text)
            *find(more, capacity, in->slots[i].text, in->slots[i].hash) = in->slots[i];
    free(in->slots);
    in->slots = more;
    in->capacity = capacity;
    return true;
}

uint64_t cw_interns_number(struct cw_interns *in, const char *text, bool *added)
{
    const uint64_t hash = XXH3_64bits(text, strlen(text));
    *added = false;
    if (2 * in->count >= in->capacity && !grow(in)) { /* half of the slots stay free */
        in->nomem = true;
        return 0;
    }
    struct cw_intern *slot = find(in->slots, in->capacity, text, hash);
    if (!slot->text) {
        *slot = (struct cw_intern){text, hash, ++in->count};
        *added = true;
    }
    return slot->number;
}

void cw_interns_free(struct cw_interns *in)
{
    free(in->slots);
    *in = (struct cw_interns){0};
}
