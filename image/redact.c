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
    uint32_t last; /* of a shape: the number of its last path */
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
    uint32_t shapes; /* of paths */
    struct cw_writer payload, text, shape;
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
        cw_writer_init(&r->shape);
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
    cw_writer_free(&r->shape);
    cw_arena_destroy(r->arena);
    free(r);
}

static bool is_replaced(const void *items, uint32_t item, const void *key)
{
    const struct replaced *a = (const struct replaced *)items + item, *b = key;
    return a->length == b->length && strcmp(a->name, b->name) == 0 && memcmp(a->text, b->text, a->length) == 0;
}

static uint64_t hash_of(const struct replaced *key)
{
    return XXH3_64bits_withSeed(key->text, key->length, XXH3_64bits(key->name, strlen(key->name)));
}

/* Adds an item that the table lacks. */
static bool add(struct cw_redactor *r, struct replaced item)
{
    item.text = cw_arena_strndup(r->arena, item.text, item.length);
    struct replaced *items = item.text && item.by ? cw_grown(r->items, &r->room, r->table.count, sizeof *items) : NULL;
    if (!items)
        return false;
    r->items = items;
    items[r->table.count] = item;
    return cw_hash_table_add(&r->table, hash_of(&item), is_replaced, items, &item) != CW_NO_ITEM;
}

static uint32_t find(const struct cw_redactor *r, const char *name, const char *text, size_t length)
{
    const struct replaced key = {.name = name, .text = text, .length = length};
    return cw_hash_table_find(&r->table, hash_of(&key), is_replaced, r->items, &key);
}

static const char *next(struct cw_redactor *r, const char *name)
{
    int i = 0;
    while (i < NAMES - 1 && r->numbers[i].name && strcmp(r->numbers[i].name, name) != 0)
        i++;
    r->numbers[i].name = name;
    return cw_arena_printf(r->arena, "%s-%" PRIu32, name, ++r->numbers[i].last);
}

/* Returns the replacement, which is numbered by the order in which texts of the name come. */
static const char *replace(struct cw_redactor *r, const char *name, const char *text, size_t length)
{
    const uint32_t at = find(r, name, text, length);
    if (at != CW_NO_ITEM)
        return r->items[at].by;
    const char *by = next(r, name);
    return add(r, (struct replaced){name, text, length, by}) ? by : NULL;
}

/* ---- replacements of paths -------------------------------------------------------------------------------------- */

/* Readers take names of ranges as one that differ in their numbers alone. So paths of one shape, which differ in that
 * way, get the same letters, "path-b1" and "path-b2", and paths of another shape "path-c1". Letters without vowels are
 * no word, so a part of a path that looks like a replacement tells nothing. */
static const char letters[] = "bcdfghjkmnpqrstvwxz";

/* Names of items: a path; the shape of one; letters that stand in an input, so that no shape may get them. */
static const char a_path[] = "path", a_shape[] = "shape", taken[] = "taken";

/* Length of "path-b1" at the beginning of a text; 0: it has none. *head: the length of "path-b". */
static size_t replacement_length(const char *text, size_t *head)
{
    enum { HEAD = sizeof "path-" - 1 };
    const size_t count = strncmp(text, "path-", HEAD) == 0 ? strspn(text + HEAD, letters) : 0;
    const size_t digits = count ? strspn(text + HEAD + count, "0123456789") : 0;
    *head = HEAD + count;
    return digits ? *head + digits : 0;
}

static bool is_replacement(const char *text, size_t length)
{
    size_t head;
    return replacement_length(text, &head) == length;
}

static const char *note_taken(void *redactor, const struct cw_text_fact *fact, const char *text)
{
    struct cw_redactor *r = redactor;
    size_t head;
    (void)fact;
    for (const char *at = text; (at = strstr(at, "path-")); at++)
        if (replacement_length(at, &head) && find(r, taken, at, head) == CW_NO_ITEM &&
            !add(r, (struct replaced){taken, at, head, taken}))
            return NULL;
    return text;
}

/* Returns "path-b" for the next shape. */
static const char *next_letters(struct cw_redactor *r)
{
    enum { COUNT = sizeof letters - 1, ROOM = 16 };
    for (;;) {
        char text[ROOM] = "";
        size_t at = sizeof text - 1;
        for (uint32_t left = ++r->shapes; left; left = (left - 1) / COUNT)
            text[--at] = letters[(left - 1) % COUNT];
        const char *by = cw_arena_printf(r->arena, "path-%s", text + at);
        if (!by || find(r, taken, by, strlen(by)) == CW_NO_ITEM)
            return by;
    }
}

/* Returns the item of the path's shape; CW_NO_ITEM when out of memory. */
static uint32_t find_shape(struct cw_redactor *r, const char *path, size_t length)
{
    r->shape.size = 0;
    for (size_t i = 0; i < length; i++)
        if (!i || !isdigit((unsigned char)path[i]) || !isdigit((unsigned char)path[i - 1]))
            cw_write_u8(&r->shape, isdigit((unsigned char)path[i]) ? '0' : (uint8_t)path[i]);
    if (r->shape.status != CW_OK)
        return CW_NO_ITEM;
    const char *shape = (const char *)r->shape.data;
    const uint32_t at = find(r, a_shape, shape, r->shape.size);
    if (at != CW_NO_ITEM)
        return at;
    return add(r, (struct replaced){a_shape, shape, r->shape.size, next_letters(r)}) ? r->table.count - 1 : CW_NO_ITEM;
}

static const char *replace_path(struct cw_redactor *r, const char *path, size_t length)
{
    uint32_t at = find(r, a_path, path, length);
    if (at != CW_NO_ITEM)
        return r->items[at].by;
    if ((at = find_shape(r, path, length)) == CW_NO_ITEM)
        return NULL;
    const char *by = cw_arena_printf(r->arena, "%s%" PRIu32, r->items[at].by, ++r->items[at].last);
    return add(r, (struct replaced){a_path, path, length, by}) ? by : NULL;
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

/* Whether a name ends before `at`, so that a slash there divides, as in "a/b". Quotes, dashes and arrows beyond ASCII,
 * in U+2000 to U+2FFF, U+3000 to U+303F, and U+0080 to U+00BF but for the sign of a millionth, are of no name. */
static bool follows_name(const char *text, size_t at)
{
    if (!at || (unsigned char)text[at - 1] < 0x80)
        return at && is_of_name(text[at - 1]) && text[at - 1] != '_';
    size_t from = at - 1;
    while (from && ((unsigned char)text[from] & 0xc0) == 0x80)
        from--;
    const unsigned char first = (unsigned char)text[from], second = (unsigned char)text[from + 1];
    return !(first == 0xe2 || (first == 0xe3 && second == 0x80) || (first == 0xc2 && second != 0xb5));
}

/* Length of the text without a blank or the like, from the first slash or tilde of a path on; 0: it is none, and none
 * begins in the next *passed bytes. */
static size_t run_length(const char *text, size_t at, size_t *passed)
{
    const char *from = text + at;
    size_t length = 0, slashes = 0;
    bool named = false;
    *passed = 1;
    if ((*from != '/' && strncmp(from, "~/", 2) != 0) || follows_name(text, at) || (at && from[-1] == '/'))
        return 0;
    for (; is_of_path(from[length]); length++) {
        slashes += from[length] == '/';
        named = named || is_of_name(from[length]);
    }
    if (!named)
        *passed = length;
    return named && slashes + (*from == '~') > 1 ? length : 0;
}

/* Length up to the quote that closes one before `at`; 0: there is none. */
static size_t quoted_length(const char *text, size_t at)
{
    const char *end = at && text[at - 1] && strchr("\"'`", text[at - 1]) ? strchr(text + at, text[at - 1]) : NULL;
    return end ? (size_t)(end - text) - at : 0;
}

/* Part of a path with a blank in it, such as " b/c" of "/a b/c". */
static size_t rest_length(const char *text, size_t at)
{
    size_t end = at, passed;
    for (size_t i = at; text[i] && !run_length(text, i, &passed); i += passed)
        if (text[i] == '/' && is_of_path(text[i + 1])) {
            while (is_of_path(text[i + 1]))
                i++;
            end = i + 1;
            passed = 1;
        }
    return end - at;
}

size_t cw_path_length(const char *text, size_t at, size_t *passed)
{
    const size_t length = run_length(text, at, passed), quoted = length ? quoted_length(text, at) : 0;
    if (at && text[at - 1] == ':' && strncmp(text + at, "//", 2) == 0)
        return strcspn(text + at, " \t\n\"'`<>"); /* an address of the web, which may hold a password */
    return quoted ? quoted : length ? length + rest_length(text, at + length) : 0;
}

/* Returns the text with each path replaced. */
static const char *without_paths(struct cw_redactor *r, const char *text)
{
    size_t done = 0, length, passed;
    r->text.size = 0;
    for (size_t at = 0; text[at]; at += length ? length : passed) {
        length = cw_path_length(text, at, &passed);
        const char *by = length ? replace_path(r, text + at, length) : "";
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

/* Whether a slash behind this part of a text of ranges begins a path, and does not divide an outer range from an inner
 * one. Parts behind do not count, so a range is replaced alike in its own text and in texts of the ranges inside it. */
static bool begins_path(const char *part, size_t length)
{
    bool named = false;
    for (size_t i = 0; i < length; i++)
        named = named || isalnum((unsigned char)part[i]) || (unsigned char)part[i] >= 0x80;
    return !named || strchr("@([{<\"'`=,;:|& \t~_!?*+$%#^\\", part[length - 1]) ||
           ((unsigned char)part[length - 1] >= 0x80 && !follows_name(part, length));
}

/* Returns the names of ranges with each part of a path replaced by itself. */
static const char *ranges_without_paths(struct cw_redactor *r, const char *text)
{
    bool within = false;
    r->text.size = 0;
    for (;;) {
        const size_t length = strcspn(text, "/");
        const char *by = within && length && !is_replacement(text, length) ? replace_path(r, text, length) : text;
        if (!by)
            return NULL;
        cw_write_bytes(&r->text, by, by == text ? length : strlen(by));
        within = within || begins_path(text, length);
        if (!text[length])
            break;
        cw_write_u8(&r->text, '/');
        text += length + 1;
    }
    cw_write_u8(&r->text, 0);
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
        return fact->form == CW_TEXT_OF_RANGES ? ranges_without_paths(r, text) : without_paths(r, text);
    if (fact->form == CW_TEXT_UUID) /* the management library has hyphens in it and CUPTI has none */
        text = without_hyphens(r, text);
    return text ? replace(r, fact->name, text, strlen(text)) : NULL;
}

enum cw_status cw_redactor_note(struct cw_redactor *r, const struct cw_chunk *chunk)
{
    if (chunk->type == CW_CHUNK_MODULE || chunk->type == CW_CHUNK_TRACE_ROWS || chunk->type == CW_CHUNK_SAMPLES)
        return CW_OK; /* large, and without texts */
    r->payload.size = 0;
    return cw_capture_texts_take(chunk, NULL, note_taken, r, &r->payload);
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
