#include "image/fields.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"

const char *const cw_profiler_names[CW_PROFILER__COUNT] = {"range", "pm", "pc", "sass", "trace"};
const char *const cw_profiler_texts[CW_PROFILER__COUNT] = {"ranges", "PM samples", "PC samples", "SASS metrics",
                                                           "a trace"};

bool cw_pair_is_rank(const char *key)
{
    return strcmp(key, "rank") == 0 || strcmp(key, "ranks") == 0;
}

const char *cw_pair_find(const struct cw_pair *pairs, uint32_t count, const char *key)
{
    uint32_t number, i = 0;
    while (i < count && strcmp(pairs[i].key, key) != 0)
        i++;
    return i == count || (cw_pair_is_rank(key) && !cw_decimal_read_u32(pairs[i].value, &number)) ? NULL
                                                                                                 : pairs[i].value;
}

struct cw_pair *cw_pairs_copy(const struct cw_pair *pairs, uint32_t count, struct cw_arena *arena)
{
    struct cw_pair *copy = cw_arena_alloc(arena, count, sizeof *copy);
    for (uint32_t i = 0; copy && i < count; i++) {
        copy[i].key = cw_arena_strdup(arena, pairs[i].key);
        copy[i].value = cw_arena_strdup(arena, pairs[i].value);
        if (!copy[i].key || !copy[i].value)
            return NULL;
    }
    return copy;
}

void *cw_field_array(struct cw_reader *in, struct cw_arena *arena, size_t count, size_t size)
{
    if (in->status != CW_OK)
        return NULL;
    void *items = cw_arena_alloc(arena, count, size);
    if (!items)
        in->status = cw_error_nomem(in->err);
    return items;
}

struct cw_field_key *cw_field_keys(struct cw_reader *in, size_t count)
{
    struct cw_field_key *keys = calloc(count + 1, sizeof *keys);
    if (!keys && in->status == CW_OK)
        in->status = cw_error_nomem(in->err);
    return keys;
}

uint32_t cw_field_read_pairs(struct cw_reader *in, struct cw_arena *arena, const struct cw_pair **pairs,
                             const char *what)
{
    uint32_t count = cw_read_count_up_to(in, 8, CW_PAIRS_MAX, what);
    struct cw_pair *items = cw_field_array(in, arena, count, sizeof *items);
    struct cw_field_key keys[CW_PAIRS_MAX];
    *pairs = items;
    for (uint32_t i = 0; i < count && in->status == CW_OK; i++) {
        size_t pos = in->pos;
        items[i].key = cw_read_string(in, arena);
        items[i].value = cw_read_string(in, arena);
        keys[i] = (struct cw_field_key){.name = items[i].key, .pos = pos};
    }
    cw_field_check_unique(in, keys, count, "key");
    return items ? count : 0;
}

void cw_field_write_pairs(struct cw_writer *out, const struct cw_pair *pairs, uint32_t count)
{
    cw_write_u32(out, count);
    for (uint32_t i = 0; i < count; i++) {
        cw_write_string(out, pairs[i].key);
        cw_write_string(out, pairs[i].value);
    }
}

uint32_t cw_field_read_strings(struct cw_reader *in, struct cw_arena *arena, const char *const **strings,
                               const char *what)
{
    uint32_t count = cw_read_count(in, 4, what);
    const char **items = cw_field_array(in, arena, count, sizeof *items);
    *strings = items;
    for (uint32_t i = 0; i < count && in->status == CW_OK; i++)
        items[i] = cw_read_string(in, arena);
    return items ? count : 0;
}

uint32_t cw_field_read_names(struct cw_reader *in, struct cw_arena *arena, const char *const **names, const char *what)
{
    size_t pos = in->pos;
    uint32_t count = cw_field_read_strings(in, arena, names, what);
    struct cw_field_key *keys = cw_field_keys(in, count);
    pos += 4;
    for (uint32_t i = 0; i < count && in->status == CW_OK; i++) {
        keys[i] = (struct cw_field_key){.name = (*names)[i], .pos = pos};
        pos += 4 + strlen((*names)[i]);
    }
    cw_field_check_unique(in, keys, count, what);
    free(keys);
    return count;
}

void cw_field_write_strings(struct cw_writer *out, const char *const *strings, uint32_t count)
{
    cw_write_u32(out, count);
    for (uint32_t i = 0; i < count; i++)
        cw_write_string(out, strings[i]);
}

uint32_t cw_field_read_index(struct cw_reader *in, uint32_t count, const char *what)
{
    size_t pos = in->pos;
    uint32_t index = cw_read_u32(in);
    if (index >= count)
        cw_reader_fail_at(in, pos, "found %s %" PRIu32 ", expected one below %" PRIu32, what, index, count);
    return in->status == CW_OK ? index : 0;
}

uint8_t cw_field_read_enum(struct cw_reader *in, uint8_t count, const char *what, const char *names)
{
    size_t pos = in->pos;
    uint8_t value = cw_read_u8(in);
    if (value >= count)
        cw_reader_fail_at(in, pos, "found %s %u, expected %s", what, value, names);
    return in->status == CW_OK ? value : 0;
}

enum cw_profiler cw_field_read_profiler(struct cw_reader *in, enum cw_profiler count)
{
    bool planned = count == CW_PROFILER__PLANNED;
    return (enum cw_profiler)cw_field_read_enum(in, (uint8_t)count, "profiler",
                                                planned ? "0 (range) or 1 (pm)"
                                                        : "0 (range), 1 (pm), 2 (pc), 3 (sass) or 4 (trace)");
}

static int compare_content(const struct cw_field_key *a, const struct cw_field_key *b)
{
    if (a->name && b->name)
        return strcmp(a->name, b->name);
    return (a->number > b->number) - (a->number < b->number);
}

static int compare_keys(const void *left, const void *right)
{
    const struct cw_field_key *a = left, *b = right;
    int order = compare_content(a, b);
    return order ? order : (a->pos > b->pos) - (a->pos < b->pos);
}

void cw_field_check_unique(struct cw_reader *in, struct cw_field_key *keys, size_t count, const char *what)
{
    if (in->status != CW_OK || count < 2)
        return;
    qsort(keys, count, sizeof *keys, compare_keys);
    const struct cw_field_key *repeat = NULL;
    for (size_t i = 1; i < count; i++)
        if (compare_content(&keys[i - 1], &keys[i]) == 0 && (!repeat || keys[i].pos < repeat->pos))
            repeat = &keys[i];
    if (!repeat)
        return;
    if (repeat->name)
        cw_reader_fail_at(in, repeat->pos, "found %s '%s' again, expected each once", what, repeat->name);
    else
        cw_reader_fail_at(in, repeat->pos, "found a %s again, expected each once", what);
}

void cw_field_write_meanings(struct cw_writer *out, const struct cw_meaning *meanings, uint32_t count)
{
    cw_write_u32(out, count);
    for (uint32_t i = 0; i < count; i++) {
        cw_write_string(out, meanings[i].name);
        cw_write_u64(out, meanings[i].raws);
        cw_write_u64(out, meanings[i].formula);
    }
}

uint32_t cw_field_read_meanings(struct cw_reader *in, struct cw_arena *arena, const struct cw_meaning **meanings)
{
    uint32_t count = cw_read_count(in, 4 + 8 + 8, "meanings");
    struct cw_meaning *list = cw_field_array(in, arena, count, sizeof *list);
    for (uint32_t i = 0; i < count && in->status == CW_OK; i++) {
        list[i].name = cw_read_string(in, arena);
        list[i].raws = cw_read_u64(in);
        list[i].formula = cw_read_u64(in);
    }
    *meanings = list;
    return count;
}
