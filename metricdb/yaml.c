#include "metricdb/yaml.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "base/bytes.h"
#include "base/search.h"
#include "base/utf8.h"

enum { DEEPEST = 24, VALUES_FIXED = 1 << 16, BYTES_PER_VALUE = 12, SPENT_FIXED = 16 << 20, SPENT_TIMES = 16 };

struct parse {
    yaml_parser_t parser;
    const char *source;
    struct cw_arena *arena;
    struct cw_error *err;
    size_t values_left; /* limit on further values: a value takes many times the memory of two bytes of text */
};

static enum cw_status fail_at(struct parse *p, yaml_mark_t mark, const char *message)
{
    return cw_error_at(p->err, CW_ERR_INPUT, p->source, (unsigned)mark.line + 1, (unsigned)mark.column + 1, "%s",
                       message);
}

static enum cw_status next_event(struct parse *p, yaml_event_t *event)
{
    if (!yaml_parser_parse(&p->parser, event)) {
        if (p->parser.error == YAML_MEMORY_ERROR)
            return cw_error_nomem(p->err);
        yaml_mark_t mark = p->parser.problem_mark;
        if (p->parser.error == YAML_READER_ERROR)
            mark = p->parser.mark;
        /* the fault may be where the text or the list began that lacks its end */
        char message[160];
        yaml_mark_t from = p->parser.context_mark;
        const char *problem = p->parser.problem ? p->parser.problem : "not YAML", *context = p->parser.context;
        if (!context || from.line == mark.line)
            return fail_at(p, mark, problem);
        snprintf(message, sizeof message, "%s, %s from line %zu", problem, context, from.line + 1);
        return fail_at(p, mark, message);
    }
    const unsigned char *anchor = event->type == YAML_ALIAS_EVENT            ? event->data.alias.anchor
                                  : event->type == YAML_SCALAR_EVENT         ? event->data.scalar.anchor
                                  : event->type == YAML_SEQUENCE_START_EVENT ? event->data.sequence_start.anchor
                                  : event->type == YAML_MAPPING_START_EVENT  ? event->data.mapping_start.anchor
                                                                             : NULL;
    const unsigned char *tag = event->type == YAML_SCALAR_EVENT           ? event->data.scalar.tag
                               : event->type == YAML_SEQUENCE_START_EVENT ? event->data.sequence_start.tag
                               : event->type == YAML_MAPPING_START_EVENT  ? event->data.mapping_start.tag
                                                                          : NULL;
    if (anchor || tag) {
        enum cw_status status = fail_at(p, event->start_mark, "found an anchor, alias or tag, expected plain values");
        yaml_event_delete(event);
        return status;
    }
    return CW_OK;
}

static int by_key(const void *a, const void *b)
{
    const struct cw_yaml_key *const *x = a, *const *y = b;
    int order = strcmp((*x)->text, (*y)->text);
    return order ? order : (*x > *y) - (*x < *y);
}

static enum cw_status sort_keys(struct parse *p, const struct cw_yaml *node)
{
    const struct cw_yaml_key **sorted = malloc((node->count + 1) * sizeof(const struct cw_yaml_key *));
    if (!sorted)
        return cw_error_nomem(p->err);
    for (size_t i = 0; i < node->count; i++)
        sorted[i] = &node->keys[i];
    if (node->count)
        qsort(sorted, node->count, sizeof *sorted, by_key);
    enum cw_status status = CW_OK;
    for (size_t i = 0; i < node->count && status == CW_OK; i++) {
        node->keys[i].nth = (uint32_t)(sorted[i] - node->keys);
        if (i && strcmp(sorted[i - 1]->text, sorted[i]->text) == 0)
            status =
                cw_error_at(p->err, CW_ERR_INPUT, p->source, sorted[i]->line, sorted[i]->column,
                            "found the key '%s' a second time, first on line %u", sorted[i]->text, sorted[i - 1]->line);
    }
    free(sorted);
    return status;
}

/* Copies data of initially unknown size into the arena. */
static void *keep(struct parse *p, const struct cw_writer *gathered)
{
    void *kept = gathered->status == CW_OK ? cw_arena_alloc(p->arena, gathered->size, 1) : NULL;
    if (kept && gathered->size)
        memcpy(kept, gathered->data, gathered->size);
    return kept;
}

static const char *scalar_text(struct parse *p, const yaml_event_t *event, enum cw_status *status)
{
    size_t length = event->data.scalar.length;
    if (memchr(event->data.scalar.value, 0, length)) {
        *status = fail_at(p, event->start_mark, "found a NUL character in a value");
        return NULL;
    }
    const char *text = length ? cw_arena_strndup(p->arena, (const char *)event->data.scalar.value, length) : "";
    if (!text)
        *status = cw_error_nomem(p->err);
    return text;
}

/* The column of a scalar's text; 0 if escapes or folded lines make it different from the file. */
static unsigned text_column(const yaml_event_t *event, const char *text)
{
    yaml_scalar_style_t style = event->data.scalar.style;
    unsigned quote = style == YAML_SINGLE_QUOTED_SCALAR_STYLE || style == YAML_DOUBLE_QUOTED_SCALAR_STYLE;
    size_t characters = 0;
    for (; *text; text++)
        characters += (*text & 0xc0) != 0x80;
    bool same = (quote || style == YAML_PLAIN_SCALAR_STYLE) && event->start_mark.line == event->end_mark.line &&
                event->end_mark.column - event->start_mark.column == characters + 2 * quote;
    return same ? (unsigned)event->start_mark.column + 1 + quote : 0;
}

static enum cw_status parse_node(struct parse *p, const yaml_event_t *event, struct cw_yaml *node, int depth);

static enum cw_status parse_key(struct parse *p, const yaml_event_t *event, struct cw_writer *keys)
{
    enum cw_status status = CW_OK;
    struct cw_yaml_key key = {.line = (unsigned)event->start_mark.line + 1,
                              .column = (unsigned)event->start_mark.column + 1};
    if (event->type != YAML_SCALAR_EVENT)
        return fail_at(p, event->start_mark, "found a key that is not a plain name");
    key.text = scalar_text(p, event, &status);
    cw_write_bytes(keys, &key, sizeof key);
    return status;
}

static enum cw_status parse_children(struct parse *p, struct cw_yaml *node, int depth)
{
    bool keyed = node->kind == CW_YAML_MAPPING;
    yaml_event_type_t end = keyed ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT;
    struct cw_writer items, keys;
    yaml_event_t event;
    cw_writer_init(&items);
    cw_writer_init(&keys);
    enum cw_status status = next_event(p, &event);
    while (status == CW_OK && event.type != end) {
        struct cw_yaml child;
        if (keyed) {
            status = parse_key(p, &event, &keys);
            yaml_event_delete(&event);
            if (status == CW_OK)
                status = next_event(p, &event);
            if (status != CW_OK)
                break;
        }
        status = parse_node(p, &event, &child, depth + 1);
        cw_write_bytes(&items, &child, sizeof child);
        node->count++;
        yaml_event_delete(&event);
        if (status == CW_OK)
            status = next_event(p, &event);
    }
    if (status == CW_OK) {
        yaml_event_delete(&event);
        node->items = keep(p, &items);
        node->keys = keyed ? keep(p, &keys) : NULL;
        status = !node->items || (keyed && !node->keys) ? cw_error_nomem(p->err) : keyed ? sort_keys(p, node) : CW_OK;
    }
    cw_writer_free(&items);
    cw_writer_free(&keys);
    return status;
}

static enum cw_status parse_node(struct parse *p, const yaml_event_t *event, struct cw_yaml *node, int depth)
{
    enum cw_status status = CW_OK;
    *node = (struct cw_yaml){.line = (unsigned)event->start_mark.line + 1,
                             .column = (unsigned)event->start_mark.column + 1};
    if (depth > DEEPEST)
        return fail_at(p, event->start_mark, "found values nested too deeply");
    if (!p->values_left--)
        return fail_at(p, event->start_mark, "found more than 65536 values and one for each 12 bytes of the file");
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        node->kind = CW_YAML_SCALAR;
        node->text = scalar_text(p, event, &status);
        node->text_column = node->text ? text_column(event, node->text) : 0;
        return status;
    case YAML_SEQUENCE_START_EVENT:
        node->kind = CW_YAML_SEQUENCE;
        return parse_children(p, node, depth);
    case YAML_MAPPING_START_EVENT:
        node->kind = CW_YAML_MAPPING;
        return parse_children(p, node, depth);
    default:
        return fail_at(p, event->start_mark, "found no value");
    }
}

static enum cw_status parse_document(struct parse *p, struct cw_yaml *root)
{
    static const yaml_event_type_t around[] = {YAML_STREAM_START_EVENT, YAML_DOCUMENT_START_EVENT, YAML_NO_EVENT,
                                               YAML_DOCUMENT_END_EVENT, YAML_STREAM_END_EVENT};
    enum cw_status status = CW_OK;
    for (size_t i = 0; i < sizeof around / sizeof *around && status == CW_OK; i++) {
        yaml_event_t event;
        status = next_event(p, &event);
        if (status != CW_OK)
            return status;
        if (around[i] == YAML_NO_EVENT)
            status = parse_node(p, &event, root, 0);
        else if (event.type == YAML_STREAM_END_EVENT && around[i] != YAML_STREAM_END_EVENT)
            status = fail_at(p, event.start_mark, "found an empty file, expected YAML");
        else if (event.type != around[i])
            status = fail_at(p, event.start_mark, "found a second document, expected one");
        yaml_event_delete(&event);
    }
    return status;
}

/* Refuses directives: libyaml compares each %TAG directive with all others, which is slow. No data file has any, and no
 * plain value begins with %. */
static enum cw_status refuse_directives(const char *text, size_t size, const char *source, struct cw_error *err)
{
    unsigned line = 1;
    for (const char *at = text, *end = text + size; at && at < end; line++) {
        if (*at == '%')
            return cw_error_at(err, CW_ERR_INPUT, source, line, 1, "found a line that begins with '%%', expected none");
        at = memchr(at, '\n', (size_t)(end - at));
        at = at ? at + 1 : NULL;
    }
    return CW_OK;
}

enum cw_status cw_yaml_parse(struct cw_yaml **root, const void *data, size_t size, const char *source,
                             struct cw_arena *arena, struct cw_error *err)
{
    struct parse p = {
        .source = source, .arena = arena, .err = err, .values_left = VALUES_FIXED + size / BYTES_PER_VALUE};
    const size_t mark = cw_utf8_mark(data, size);
    data = (const char *)data + mark;
    size -= mark;
    if (refuse_directives(data, size, source, err) != CW_OK)
        return CW_ERR_INPUT;
    *root = cw_arena_alloc(arena, 1, sizeof **root);
    if (!*root || !yaml_parser_initialize(&p.parser))
        return cw_error_nomem(err);
    yaml_parser_set_encoding(&p.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&p.parser, data, size);
    enum cw_status status = parse_document(&p, *root);
    yaml_parser_delete(&p.parser);
    return status;
}

enum cw_status cw_yaml_fail(struct cw_yaml_reader *reader, const struct cw_yaml *node, const char *format, ...)
{
    if (reader->status != CW_OK)
        return reader->status;
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    reader->status = cw_error_at(reader->err, CW_ERR_INPUT, reader->source, node ? node->line : 1,
                                 node ? node->column : 1, "%s", message);
    return reader->status;
}

void *cw_yaml_array(struct cw_yaml_reader *reader, size_t count, size_t size)
{
    void *items = reader->status == CW_OK ? cw_arena_alloc(reader->arena, count, size) : NULL;
    if (!items && reader->status == CW_OK)
        reader->status = cw_error_nomem(reader->err);
    return items;
}

void cw_yaml_spend(struct cw_yaml_reader *reader, const struct cw_yaml *node, size_t bytes)
{
    size_t left = SPENT_FIXED + SPENT_TIMES * reader->size - reader->spent;
    if (bytes > left)
        cw_yaml_fail(reader, node, "found a file that stands for more than 16 MB and 16 times its size");
    else
        reader->spent += bytes;
}

void cw_yaml_fail_inside(struct cw_yaml_reader *reader, const struct cw_yaml *node, unsigned column,
                         const char *message)
{
    if (node->text_column)
        cw_yaml_fail(reader, &(struct cw_yaml){.line = node->line, .column = node->text_column + column - 1}, "%s",
                     message);
    else
        cw_yaml_fail(reader, node, "%s (at character %u of the formula)", message, column);
}

bool cw_yaml_expect(struct cw_yaml_reader *reader, const struct cw_yaml *node, enum cw_yaml_kind kind, const char *what)
{
    static const char *const names[] = {"a plain value", "a list", "a mapping"};
    if (reader->status != CW_OK || !node)
        return false;
    if (node->kind != kind)
        cw_yaml_fail(reader, node, "found %s for %s, expected %s", names[node->kind], what, names[kind]);
    return reader->status == CW_OK;
}

size_t cw_yaml_find(const struct cw_yaml *mapping, const char *key)
{
    const struct cw_yaml_key *keys = mapping->keys;
    struct cw_search s = {0, mapping->count};
    while (s.low < s.high)
        cw_search_narrow(&s, strcmp(keys[keys[cw_search_middle(&s)].nth].text, key) < 0);
    return s.low < mapping->count && strcmp(keys[keys[s.low].nth].text, key) == 0 ? keys[s.low].nth : SIZE_MAX;
}

struct cw_yaml cw_yaml_key(const struct cw_yaml *mapping, size_t i)
{
    const struct cw_yaml_key *key = &mapping->keys[i];
    return (struct cw_yaml){.text = key->text, .line = key->line, .column = key->column};
}

const struct cw_yaml *cw_yaml_get(struct cw_yaml_reader *reader, const struct cw_yaml *mapping, const char *key,
                                  bool required)
{
    if (!cw_yaml_expect(reader, mapping, CW_YAML_MAPPING, key))
        return NULL;
    size_t at = cw_yaml_find(mapping, key);
    if (at != SIZE_MAX)
        return &mapping->items[at];
    if (required)
        cw_yaml_fail(reader, mapping, "found no '%s', which is required", key);
    return NULL;
}

void cw_yaml_only(struct cw_yaml_reader *reader, const struct cw_yaml *mapping, const char *const *allowed)
{
    if (!cw_yaml_expect(reader, mapping, CW_YAML_MAPPING, "an entry"))
        return;
    for (size_t i = 0; i < mapping->count && reader->status == CW_OK; i++) {
        const struct cw_yaml key = cw_yaml_key(mapping, i);
        const char *const *a = allowed;
        while (*a && strcmp(*a, key.text) != 0)
            a++;
        if (!*a)
            cw_yaml_fail(reader, &key, "found the unknown key '%s'", key.text);
    }
}

const char *cw_yaml_text(struct cw_yaml_reader *reader, const struct cw_yaml *node)
{
    return cw_yaml_expect(reader, node, CW_YAML_SCALAR, "a name") ? node->text : "";
}

/* Every name of a chip is looked at when it opens: strspn would make a table for each. */
static bool may_be_in_name(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '-' && c <= '9') || (c >= 'A' && c <= 'Z') || c == '_' || c == '*' ||
           c == '%';
}

bool cw_yaml_is_name(const char *text)
{
    size_t length = 0;
    while (may_be_in_name((unsigned char)text[length]))
        length++;
    return isalnum((unsigned char)text[0]) && length <= CW_YAML_NAME_MAX && !text[length];
}

const char *cw_yaml_name(struct cw_yaml_reader *reader, const struct cw_yaml *node)
{
    const char *text = cw_yaml_text(reader, node);
    if (reader->status != CW_OK)
        return "";
    if (!cw_yaml_is_name(text))
        cw_yaml_fail(reader, node, "found '%.60s', expected a name of letters, digits, '_' and '.', at most %d", text,
                     CW_YAML_NAME_MAX);
    return text;
}

const char *cw_yaml_key_name(struct cw_yaml_reader *reader, const struct cw_yaml *mapping, size_t i)
{
    const struct cw_yaml key = cw_yaml_key(mapping, i);
    return cw_yaml_name(reader, &key);
}

static int by_text(const void *a, const void *b)
{
    const struct cw_yaml *const *x = a, *const *y = b;
    int order = strcmp((*x)->text, (*y)->text);
    return order ? order : ((*x)->line > (*y)->line) - ((*x)->line < (*y)->line);
}

void cw_yaml_unique(struct cw_yaml_reader *reader, const struct cw_yaml **scalars, size_t count, const char *what)
{
    if (reader->status == CW_OK && count)
        qsort(scalars, count, sizeof *scalars, by_text);
    for (size_t i = 1; i < count && reader->status == CW_OK; i++)
        if (strcmp(scalars[i - 1]->text, scalars[i]->text) == 0)
            cw_yaml_fail(reader, scalars[i], "found the %s %s a second time, first on line %u", what, scalars[i]->text,
                         scalars[i - 1]->line);
}

double cw_yaml_number(struct cw_yaml_reader *reader, const struct cw_yaml *node)
{
    if (!cw_yaml_expect(reader, node, CW_YAML_SCALAR, "a number"))
        return 0;
    /* Refuse "nan", "inf", hexadecimal and spaces, which strtod would accept. */
    bool plain = node->text[strspn(node->text, "0123456789+-.eE")] == 0;
    char *end;
    double value = strtod(node->text, &end);
    if (!plain || end == node->text || *end || !isfinite(value)) {
        cw_yaml_fail(reader, node, "found '%.40s', expected a number", node->text);
        return 0;
    }
    return value;
}

uint64_t cw_yaml_integer(struct cw_yaml_reader *reader, const struct cw_yaml *node, uint64_t most)
{
    if (!cw_yaml_expect(reader, node, CW_YAML_SCALAR, "a whole number"))
        return 0;
    char *end;
    bool hex = node->text[0] == '0' && node->text[1] == 'x';
    errno = 0;
    unsigned long long value = strtoull(node->text, &end, hex ? 16 : 10);
    if (node->text[0] < '0' || node->text[0] > '9' || *end || errno || value > most) {
        cw_yaml_fail(reader, node, "found '%.40s', expected a whole number up to %llu", node->text,
                     (unsigned long long)most);
        return 0;
    }
    return value;
}

void cw_yaml_schema(struct cw_yaml_reader *reader, const struct cw_yaml *root, int version)
{
    const struct cw_yaml *schema = cw_yaml_get(reader, root, "schema", true);
    uint64_t found = cw_yaml_integer(reader, schema, UINT32_MAX);
    if (reader->status == CW_OK && found != (uint64_t)version)
        cw_yaml_fail(reader, schema, "found schema %llu, expected schema %d", (unsigned long long)found, version);
}

const struct cw_yaml *cw_yaml_load(struct cw_yaml_reader *reader, const char *what, const char *const *keys,
                                   int version, const void *data, size_t size)
{
    struct cw_yaml *root;
    reader->status = cw_yaml_parse(&root, data, size, reader->source, reader->arena, reader->err);
    if (!cw_yaml_expect(reader, reader->status == CW_OK ? root : NULL, CW_YAML_MAPPING, what))
        return NULL;
    cw_yaml_schema(reader, root, version);
    cw_yaml_only(reader, root, keys);
    return reader->status == CW_OK ? root : NULL;
}
