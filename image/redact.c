#include "image/redact.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/hash_table.h"
#include "image/data_chunks.h"

struct replaced { /* a text with its replacement "NAME-NUMBER" */
    const char *name, *text;
    size_t length;
    const char *by;
};

enum { NAMES = 32 }; /* at least as many as there are names */

struct cw_redactor {
    struct cw_arena *arena;
    struct cw_hash_table table;
    struct replaced *items;
    size_t room;
    struct {
        const char *name;
        uint32_t last;
    } numbers[NAMES];
    struct cw_writer payload, text;
};

struct cw_redactor *cw_redactor_create(void)
{
    struct cw_redactor *r = calloc(1, sizeof *r);
    if (r && !(r->arena = cw_arena_create())) {
        free(r);
        r = NULL;
    }
    if (r) {
        cw_writer_init(&r->payload);
        cw_writer_init(&r->text);
    }
    return r;
}

void cw_redactor_destroy(struct cw_redactor *r)
{
    if (!r)
        return;
    cw_hash_table_free(&r->table);
    free(r->items);
    cw_writer_free(&r->payload);
    cw_writer_free(&r->text);
    cw_arena_destroy(r->arena);
    free(r);
}

static bool is_replaced(const void *items, uint32_t item, const void *key)
{
    const struct replaced *a = (const struct replaced *)items + item, *b = key;
    return a->length == b->length && strcmp(a->name, b->name) == 0 && memcmp(a->text, b->text, a->length) == 0;
}

static uint32_t next_number(struct cw_redactor *r, const char *name)
{
    int i = 0;
    while (i < NAMES - 1 && r->numbers[i].name && strcmp(r->numbers[i].name, name) != 0)
        i++;
    r->numbers[i].name = name;
    return ++r->numbers[i].last;
}

/* Returns the replacement, which is numbered by the order in which texts of the name come. */
static const char *replace(struct cw_redactor *r, const char *name, const char *text, size_t length)
{
    const struct replaced key = {.name = name, .text = text, .length = length};
    const uint64_t hash = XXH3_64bits_withSeed(text, length, XXH3_64bits(name, strlen(name)));
    const uint32_t before = r->table.count, at = cw_hash_table_add(&r->table, hash, is_replaced, r->items, &key);
    if (at == CW_NO_ITEM)
        return NULL;
    if (at < before)
        return r->items[at].by;
    struct replaced *items = cw_grown(r->items, &r->room, at, sizeof *items);
    if (!items)
        return NULL;
    r->items = items;
    items[at] = (struct replaced){name, cw_arena_strndup(r->arena, text, length), length,
                                  cw_arena_printf(r->arena, "%s-%" PRIu32, name, next_number(r, name))};
    return items[at].text ? items[at].by : NULL;
}

/* ---- paths ------------------------------------------------------------------------------------------------------ */

static bool is_of_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '-' || (unsigned char)c >= 0x80;
}

static bool is_of_path(char c)
{
    return is_of_name(c) || c == '/' || c == '+' || c == '~' || c == '@' || c == '%' || c == '=' || c == '#';
}

size_t cw_path_length(const char *text, size_t at)
{
    const char *from = text + at;
    size_t length = 0, slashes = 0;
    bool named = false;
    if ((*from != '/' && strncmp(from, "~/", 2) != 0) || (at && (is_of_name(from[-1]) || from[-1] == '/')))
        return 0;
    for (; is_of_path(from[length]); length++) {
        slashes += from[length] == '/';
        named = named || is_of_name(from[length]);
    }
    return named && slashes + (*from == '~') > 1 ? length : 0;
}

/* Returns the text with each path replaced. */
static const char *without_paths(struct cw_redactor *r, const char *text)
{
    size_t done = 0, length;
    r->text.size = 0;
    for (size_t at = 0; text[at]; at += length ? length : 1) {
        length = cw_path_length(text, at);
        const char *by = length ? replace(r, "path", text + at, length) : "";
        if (!by)
            return NULL;
        if (length) {
            cw_write_bytes(&r->text, text + done, at - done);
            cw_write_bytes(&r->text, by, strlen(by));
            done = at + length;
        }
    }
    if (!done)
        return text;
    cw_write_bytes(&r->text, text + done, strlen(text + done) + 1);
    return r->text.status == CW_OK ? (const char *)r->text.data : NULL;
}

/* ---- chunks ----------------------------------------------------------------------------------------------------- */

static const char *without_hyphens(struct cw_redactor *r, const char *text)
{
    r->text.size = 0;
    for (; *text; text++)
        if (*text != '-')
            cw_write_u8(&r->text, (uint8_t)*text);
    cw_write_u8(&r->text, 0);
    return r->text.status == CW_OK ? (const char *)r->text.data : NULL;
}

static const char *redact_text(void *redactor, const struct cw_text_fact *fact, const char *text)
{
    struct cw_redactor *r = redactor;
    if (!*text || fact->care == CW_TEXT_KEPT)
        return text;
    if (fact->care == CW_TEXT_WITHOUT_PATHS)
        return without_paths(r, text);
    if (strcmp(fact->name, "uuid") == 0) /* the management library has hyphens in it and CUPTI has none */
        text = without_hyphens(r, text);
    return text ? replace(r, fact->name, text, strlen(text)) : NULL;
}

enum cw_status cw_redact(struct cw_redactor *r, struct cw_chunk *chunk, uint8_t *const *uses, bool *kept)
{
    *kept = chunk->type != CW_CHUNK_MODULE;
    if (!*kept)
        return CW_OK;
    r->payload.size = 0;
    const enum cw_status status = cw_capture_texts_take(chunk, uses, redact_text, r, &r->payload);
    chunk->payload = r->payload.data;
    chunk->size = r->payload.size;
    return status;
}
