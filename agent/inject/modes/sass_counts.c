#include "agent/inject/modes/sass_counts.h"

#include <stdlib.h>
#include <string.h>

static bool is_of(const void *items, uint32_t item, const void *key)
{
    const struct cw_instruction *a = &((const struct cw_sass_record *)items)[item].at, *b = key;
    return a->module == b->module && a->symbol == b->symbol && a->pc == b->pc && strcmp(a->function, b->function) == 0;
}

static uint64_t hash_of(const struct cw_instruction *at)
{
    uint64_t hash = (at->module ^ (uint64_t)at->symbol << 32 ^ at->pc) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

static bool grow(struct cw_sass_counts *c)
{
    const size_t capacity = c->capacity ? 2 * c->capacity : 1024;
    struct cw_sass_record *grown = realloc(c->records, capacity * sizeof *grown);
    if (!grown)
        return false;
    c->records = grown;
    c->capacity = capacity;
    return true;
}

/* Records of a function follow one another, so most have the name of the record before. */
static const char *keep_name(struct cw_sass_counts *c, const char *name)
{
    const char *before = c->count ? c->records[c->count - 1].at.function : NULL;
    return before && strcmp(before, name) == 0 ? before : cw_arena_strdup(c->arena, name);
}

/* Adds values to a record of ours. CUPTI makes a record for each metric of an instruction, so the record may have none
 * yet. */
static bool absorb(struct cw_arena *arena, struct cw_sass_record *into, const struct cw_sass_record *from,
                   uint32_t metrics)
{
    uint32_t *counts = (uint32_t *)into->counts; /* from append() */
    const uint64_t **lists = (const uint64_t **)into->values;
    for (uint32_t m = 0; m < metrics; m++) {
        if (!counts[m] && from->counts[m]) {
            if (!(lists[m] = cw_arena_alloc(arena, from->counts[m], sizeof **lists)))
                return false;
            counts[m] = from->counts[m];
        }
        for (uint32_t i = 0; i < counts[m] && i < from->counts[m]; i++)
            ((uint64_t *)lists[m])[i] += from->values[m][i];
    }
    return true;
}

static bool append(struct cw_sass_counts *c, const struct cw_sass_record *r, uint32_t metrics)
{
    struct cw_sass_record kept = {.at = r->at,
                                  .counts = cw_arena_alloc(c->arena, metrics, sizeof *kept.counts),
                                  .values = cw_arena_alloc(c->arena, metrics, sizeof *kept.values)};
    kept.at.function = keep_name(c, r->at.function);
    if (!kept.counts || !kept.values || !kept.at.function || !absorb(c->arena, &kept, r, metrics))
        return false;
    c->records[c->count++] = kept;
    return true;
}

bool cw_sass_counts_add(struct cw_sass_counts *c, const struct cw_sass_record *r, uint32_t metrics)
{
    if (c->table.count != c->count) /* a record found no memory before: the table alone has it */
        return false;
    if ((!c->arena && !(c->arena = cw_arena_create())) || (c->count == c->capacity && !grow(c)))
        return false;
    const uint32_t item = cw_hash_table_add(&c->table, hash_of(&r->at), is_of, c->records, &r->at);
    if (item == CW_NO_ITEM)
        return false;
    if (item == c->count)
        return append(c, r, metrics);
    return absorb(c->arena, &c->records[item], r, metrics);
}

void cw_sass_counts_free(struct cw_sass_counts *c)
{
    cw_arena_destroy(c->arena);
    free(c->records);
    cw_hash_table_free(&c->table);
    *c = (struct cw_sass_counts){0};
}
