#define _GNU_SOURCE
#include "agent/inject/nvtx_payload.h"

#include <math.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include <wchar.h>

#include "agent/inject/driver/inject.h"
#include "base/decimal.h"
#include "base/text.h"

struct member { /* of a structure, or a value of an enumeration */
    char *name;
    uint64_t flags, type, detail, offset; /* detail: length of an array or string */
    uint64_t value;
};

struct schema {
    uint64_t domain, id;
    char *name;
    bool is_enum;
    size_t size, alignment; /* bytes; size 0: unknown */
    size_t count;
    struct member *members;
};

static struct {
    void *schemas; /* tree */
    uint32_t count;
    uint64_t last; /* number given so far */
} state CW_STATE;
#define self (&state)

enum { DEEPEST = 2, LONGEST_ARRAY = 32, LONGEST_NAME = 256, LONGEST_STRING = 256 };
/* Parts of an entry's flags: where its value is, and how the length of an array or string is known. */
static const uint64_t elsewhere = NVTX_PAYLOAD_ENTRY_FLAG_POINTER | NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE |
                                  NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_HERE,
                      lengths = 7 << 4, fixed = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE,
                      ended = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED;

/* ---- types ------------------------------------------------------------------------------------------------------ */

enum form { NONE, SIGNED, UNSIGNED, REAL, ADDRESS, STRING, HANDLE }; /* NONE: only its size is known, 0 if not */

struct type {
    enum form form;
    size_t size;
};

static struct type type_of(uint64_t type)
{
#define S(id, c)                                                                                                       \
    case NVTX_PAYLOAD_ENTRY_TYPE_##id:                                                                                 \
        return (struct type)                                                                                           \
        {                                                                                                              \
            SIGNED, sizeof(c)                                                                                          \
        }
#define U(id, c)                                                                                                       \
    case NVTX_PAYLOAD_ENTRY_TYPE_##id:                                                                                 \
        return (struct type)                                                                                           \
        {                                                                                                              \
            UNSIGNED, sizeof(c)                                                                                        \
        }
    switch (type) {
        S(CHAR, char);
        S(SHORT, short);
        S(INT, int);
        S(LONG, long);
        S(LONGLONG, long long);
        S(INT8, int8_t);
        S(INT16, int16_t);
        S(INT32, int32_t);
        S(INT64, int64_t);
        U(UCHAR, char);
        U(USHORT, short);
        U(UINT, int);
        U(ULONG, long);
        U(ULONGLONG, long long);
        U(UINT8, uint8_t);
        U(UINT16, uint16_t);
        U(UINT32, uint32_t);
        U(UINT64, uint64_t);
        U(SIZE, size_t);
        U(BYTE, uint8_t);
        U(CATEGORY, uint32_t);
        U(COLOR_ARGB, uint32_t);
        U(SCOPE_ID, uint64_t);
        U(PID_UINT32, uint32_t);
        U(PID_UINT64, uint64_t);
        U(TID_UINT32, uint32_t);
        U(TID_UINT64, uint64_t);
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT:
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT32:
        return (struct type){REAL, sizeof(float)};
    case NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE:
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT64:
        return (struct type){REAL, sizeof(double)};
    case NVTX_PAYLOAD_ENTRY_TYPE_ADDRESS:
        return (struct type){ADDRESS, sizeof(void *)};
    case NVTX_PAYLOAD_ENTRY_TYPE_CSTRING:
    case NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8:
        return (struct type){STRING, sizeof(void *)};
    case NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE:
        return (struct type){HANDLE, sizeof(void *)};
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR8:
        return (struct type){SIGNED, 1};
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR16:
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT16:
    case NVTX_PAYLOAD_ENTRY_TYPE_BF16:
        return (struct type){NONE, 2};
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR32:
    case NVTX_PAYLOAD_ENTRY_TYPE_TF32:
        return (struct type){NONE, 4};
    case NVTX_PAYLOAD_ENTRY_TYPE_WCHAR:
        return (struct type){NONE, sizeof(wchar_t)};
    case NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF16:
    case NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32:
        return (struct type){NONE, sizeof(void *)};
    case NVTX_PAYLOAD_ENTRY_TYPE_LONGDOUBLE:
        return (struct type){NONE, sizeof(long double)};
    case NVTX_PAYLOAD_ENTRY_TYPE_INT128:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT128:
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT128:
        return (struct type){NONE, 16};
    default:
        return (struct type){NONE, 0};
    }
#undef S
#undef U
}

static bool is_character(uint64_t type)
{
    return type == NVTX_PAYLOAD_ENTRY_TYPE_CHAR || type == NVTX_PAYLOAD_ENTRY_TYPE_CHAR8;
}

/* ---- schemas ---------------------------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    const struct schema *x = a, *y = b;
    if (x->domain != y->domain)
        return x->domain < y->domain ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

/* NULL also for the types that NVTX defines. */
static const struct schema *find(uint64_t domain, uint64_t id)
{
    struct schema **found = id < NVTX_PAYLOAD_SCHEMA_ID_STATIC_START
                                ? NULL
                                : tfind(&(struct schema){.domain = domain, .id = id}, &self->schemas, compare);
    return found ? *found : NULL;
}

static void free_schema(struct schema *s)
{
    for (size_t i = 0; s->members && i < s->count; i++)
        free(s->members[i].name);
    free(s->members);
    free(s->name);
    free(s);
}

static char *copy_name(const char *name)
{
    return strndup(name ? name : "", LONGEST_NAME);
}

static struct schema *make(uint64_t domain, const char *name, size_t count)
{
    struct schema *s =
        count && count <= CW_NVTX_MOST_ENTRIES && self->count < CW_NVTX_MOST_SCHEMAS ? calloc(1, sizeof *s) : NULL;
    if (!s)
        return NULL;
    s->domain = domain;
    s->count = count;
    s->name = copy_name(name);
    s->members = calloc(count, sizeof *s->members);
    if (s->name && s->members)
        return s;
    free_schema(s);
    return NULL;
}

/* Adds a schema. Frees one that has no memory for a name, or whose number is taken. */
static uint64_t add(struct schema *s, uint64_t id)
{
    bool good = true;
    for (size_t i = 0; i < s->count; i++)
        good = good && s->members[i].name;
    s->id = id ? id : NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START + ++self->last;
    struct schema **there = good ? tsearch(s, &self->schemas, compare) : NULL;
    if (there && *there == s) {
        self->count++;
        return s->id;
    }
    id = there ? s->id : 0;
    free_schema(s);
    return id;
}

/* Size of an entry, 0 if it is not known. */
static size_t size_of(uint64_t domain, const struct member *e, size_t *alignment)
{
    const struct schema *nested = find(domain, e->type);
    const bool string = type_of(e->type).form == STRING,
               many = e->detail && ((e->flags & lengths) == fixed || (string && !(e->flags & lengths)));
    size_t size = nested ? nested->size : type_of(e->type).size;
    *alignment = nested ? nested->alignment : size;
    if (e->flags & elsewhere)
        return *alignment = sizeof(void *);
    if ((e->flags & lengths) > fixed)
        return 0;
    if (string && many)
        *alignment = size = 1;
    return many && e->detail < SIZE_MAX / (size + 1) ? size * (size_t)e->detail : size;
}

static size_t round_up(size_t at, size_t alignment)
{
    return alignment ? (at + alignment - 1) / alignment * alignment : at;
}

/* Sets the offsets of entries that have none, as a C compiler would; `most` is the greatest alignment, 0 for the usual.
 * Behind an entry of unknown size, hides those without an offset. */
static void lay_out(struct schema *s, size_t most)
{
    size_t at = 0;
    bool known = true;
    for (size_t i = 0; i < s->count; i++) {
        struct member *e = &s->members[i];
        size_t alignment, size = size_of(s->domain, e, &alignment);
        alignment = most && alignment > most ? most : alignment;
        s->alignment = alignment > s->alignment ? alignment : s->alignment;
        if (!e->offset && i)
            e->offset = round_up(at, alignment);
        else
            known = true;
        e->flags |= known ? 0 : NVTX_PAYLOAD_ENTRY_FLAG_HIDE;
        known = known && size;
        at = (size_t)e->offset + size;
    }
    s->size = s->size ? s->size : known ? round_up(at, s->alignment) : 0;
}

uint64_t cw_nvtx_schema_register(uint64_t domain, const nvtxPayloadSchemaAttr_t *a)
{
    const uint64_t mask = a ? a->fieldMask : 0;
    const bool is_struct = mask & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES && a->entries &&
                           (a->type == NVTX_PAYLOAD_SCHEMA_TYPE_STATIC || a->type == NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC);
    struct schema *s = is_struct ? make(domain, mask & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME ? a->name : NULL,
                                        mask & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES ? a->numEntries : 0)
                                 : NULL;
    if (!s)
        return 0;
    s->size = mask & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE ? a->payloadStaticSize : 0;
    for (size_t i = 0; i < s->count; i++) {
        const nvtxPayloadSchemaEntry_t *e = &a->entries[i];
        s->members[i] = (struct member){copy_name(e->name), e->flags, e->type, e->arrayOrUnionDetail, e->offset, 0};
    }
    lay_out(s, mask & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT ? a->packAlign : 0);
    return add(s, mask & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID ? a->schemaId : 0);
}

uint64_t cw_nvtx_enum_register(uint64_t domain, const nvtxPayloadEnumAttr_t *a)
{
    const uint64_t mask = a ? a->fieldMask : 0;
    const bool has_entries = mask & NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES && a->entries;
    struct schema *s = has_entries ? make(domain, mask & NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME ? a->name : NULL,
                                          mask & NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES ? a->numEntries : 0)
                                   : NULL;
    if (!s)
        return 0;
    s->is_enum = true;
    s->size = s->alignment = mask & NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE ? a->sizeOfEnum : sizeof(int);
    for (size_t i = 0; i < s->count; i++)
        s->members[i] = (struct member){.name = copy_name(a->entries[i].name), .value = a->entries[i].value};
    return add(s, mask & NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID ? a->schemaId : 0);
}

/* ---- writing ---------------------------------------------------------------------------------------------------- */

struct text {
    char *to;
    size_t length;
    uint32_t depth; /* open objects and arrays, whose ends always have room */
    bool full;
};

/* Room for bytes and one more. */
static size_t room_of(const struct text *t)
{
    return CW_NVTX_LONGEST_PAYLOAD - t->depth - t->length;
}

static void put(struct text *t, const char *bytes, size_t size)
{
    t->full = t->full || size >= room_of(t);
    if (t->full)
        return;
    memcpy(t->to + t->length, bytes, size);
    t->length += size;
}

/* False if there is no room, in which case it has no end either. */
static bool open_with(struct text *t, char bracket)
{
    t->depth++;
    put(t, &bracket, 1);
    t->depth -= t->full;
    return !t->full;
}

static void close_with(struct text *t, char bracket)
{
    t->depth--;
    t->to[t->length++] = bracket;
}

static void put_string(struct text *t, const char *s, size_t most)
{
    const size_t length = t->full ? 0 : cw_text_json(t->to + t->length, room_of(t), s, most);
    t->full = !length;
    t->length += length;
}

/* What a writer needs of an event. */
struct event {
    uint64_t domain;
    const char *(*name)(uint64_t handle);
};

static uint64_t read_number(const uint8_t *at, size_t size, bool is_signed)
{
    uint64_t value = 0;
    memcpy(&value, at, size);
    const uint64_t sign = UINT64_C(1) << (8 * size - 1);
    return is_signed && size < sizeof value && value & sign ? value | ~(2 * sign - 1) : value;
}

/* Reads the string at a program's address, in LONGEST_STRING + 1 bytes. The program says that it is there, but the
 * system reads it: it reports memory that is not. */
static bool read_string(char *to, uint64_t address)
{
    const struct iovec local = {to, LONGEST_STRING},
                       pages[] = {{(void *)(uintptr_t)address, 4096 - address % 4096},
                                  {(void *)(uintptr_t)(address - address % 4096 + 4096), 4096}};
    const ssize_t got = address ? process_vm_readv(getpid(), &local, 1, pages, 2, 0) : 0;
    to[got > 0 ? got : 0] = 0;
    return got > 0;
}

/* Writes the string at an address, or else the address. */
static void put_string_at(struct text *t, uint64_t address)
{
    char copy[LONGEST_STRING + 1], number[24];
    if (read_string(copy, address))
        put_string(t, copy, LONGEST_STRING);
    else
        put(t, number, (size_t)snprintf(number, sizeof number, "\"0x%llx\"", (unsigned long long)address));
}

static void put_real(struct text *t, double value)
{
    char number[CW_DECIMAL_SIZE];
    if (isfinite(value))
        put(t, number, cw_decimal_text(value, number));
    else
        put(t, "null", 4);
}

static void put_scalar(struct text *t, const struct event *event, struct type type, const uint8_t *at)
{
    char number[24];
    float single;
    double real;
    const uint64_t value = type.form == REAL ? 0 : read_number(at, type.size, type.form == SIGNED);
    switch (type.form) {
    case SIGNED:
        put(t, number, (size_t)snprintf(number, sizeof number, "%lld", (long long)value));
        break;
    case UNSIGNED:
        put(t, number, (size_t)snprintf(number, sizeof number, "%llu", (unsigned long long)value));
        break;
    case REAL:
        memcpy(&single, at, sizeof single);
        memcpy(&real, at, type.size == sizeof real ? sizeof real : sizeof single);
        put_real(t, type.size == sizeof real ? real : (double)single);
        break;
    case ADDRESS:
        put(t, number, (size_t)snprintf(number, sizeof number, "\"0x%llx\"", (unsigned long long)value));
        break;
    case STRING:
        put_string_at(t, value);
        break;
    default:
        put_string(t, event->name(value), LONGEST_STRING);
        break;
    }
}

static void put_enum(struct text *t, const struct schema *s, const uint8_t *at)
{
    char number[24];
    const uint64_t value = read_number(at, s->size, false);
    for (size_t i = 0; i < s->count; i++)
        if (read_number((const uint8_t *)&s->members[i].value, s->size, false) == value) {
            put_string(t, s->members[i].name, LONGEST_NAME);
            return;
        }
    put(t, number, (size_t)snprintf(number, sizeof number, "%llu", (unsigned long long)value));
}

static void put_members(struct text *t, const struct event *event, const struct schema *s, const uint8_t *payload,
                        size_t size);

/* Size of one element of an entry; 0 if it cannot be written. */
static size_t element_size(const struct member *e, const struct schema *nested, struct type type)
{
    if (e->flags & elsewhere)
        return type.form == STRING && (e->flags & elsewhere) == NVTX_PAYLOAD_ENTRY_FLAG_POINTER ? sizeof(void *) : 0;
    if (nested)
        return nested->is_enum && nested->size > sizeof(uint64_t) ? 0 : nested->size;
    return type.form == NONE ? 0 : type.size;
}

static void put_element(struct text *t, const struct event *event, const struct schema *nested, struct type type,
                        const uint8_t *at)
{
    if (nested && nested->is_enum)
        put_enum(t, nested, at);
    else if (!nested)
        put_scalar(t, event, type, at);
    else if (open_with(t, '{')) {
        put_members(t, event, nested, at, nested->size);
        close_with(t, '}');
    }
}

/* Whether an entry is a string whose bytes stand in the payload. */
static bool is_text(const struct member *e, struct type type)
{
    const uint64_t length = e->flags & lengths;
    const bool known = length == ended ? !e->detail : length == fixed ? e->detail : false;
    return !(e->flags & elsewhere) &&
           (type.form == STRING ? known || (!length && e->detail) : is_character(e->type) && known);
}

/* Writes an entry's value. False if it is of a form that is left out, or lies beyond the payload. */
static bool put_value(struct text *t, const struct event *event, const struct member *e, const uint8_t *payload,
                      size_t size)
{
    const struct schema *nested = find(event->domain, e->type);
    const struct type type = type_of(e->type);
    const bool array = (e->flags & lengths) == fixed;
    if (e->offset >= size)
        return false;
    const size_t room = size - (size_t)e->offset;
    const uint8_t *at = payload + e->offset;
    if (is_text(e, type)) {
        put_string(t, (const char *)at, e->detail && e->detail < room ? (size_t)e->detail : room);
        return true;
    }
    const size_t element = element_size(e, nested, type);
    const uint64_t length = array ? e->detail : 1;
    if ((e->flags & lengths && !array) || !element || !length || length > room / element ||
        (nested && !nested->is_enum && t->depth > DEEPEST) || (array && !open_with(t, '[')))
        return false;
    for (size_t i = 0; i < length && i < LONGEST_ARRAY && !t->full; i++) {
        if (i)
            put(t, ",", 1);
        put_element(t, event, nested, type, at + i * element);
    }
    if (array)
        close_with(t, ']');
    return true;
}

static void put_members(struct text *t, const struct event *event, const struct schema *s, const uint8_t *payload,
                        size_t size)
{
    for (size_t i = 0; i < s->count && !t->full; i++) {
        const struct member *e = &s->members[i];
        const size_t before = t->length;
        if (!*e->name || e->flags & NVTX_PAYLOAD_ENTRY_FLAG_HIDE)
            continue;
        if (t->to[before - 1] != '{')
            put(t, ",", 1);
        put_string(t, e->name, LONGEST_NAME);
        put(t, ":", 1);
        if (!put_value(t, event, e, payload, size) || t->full)
            t->length = before;
    }
}

/* The schema of a payload that can be read, and its size. */
static const struct schema *schema_of(uint64_t domain, const nvtxPayloadData_t *payload, size_t *size)
{
    const struct schema *s = payload->payload ? find(domain, payload->schemaId) : NULL;
    *size = s && payload->size == SIZE_MAX ? s->size : payload->size;
    return s && !s->is_enum ? s : NULL;
}

/* Each payload behind the first is an object of its own, as its members may have the names of others. */
static void put_payload(struct text *t, const struct event *event, const struct schema *s, const uint8_t *payload,
                        size_t size, size_t number)
{
    char key[40];
    const size_t before = t->length;
    if (number < 2) {
        put_members(t, event, s, payload, size);
        return;
    }
    put(t, key, (size_t)snprintf(key, sizeof key, "%s\"payload %zu\":", t->to[before - 1] != '{' ? "," : "", number));
    if (!t->full && open_with(t, '{')) {
        put_members(t, event, s, payload, size);
        close_with(t, '}');
    } else
        t->length = before;
}

void cw_nvtx_payload_write(char *to, uint64_t domain, const nvtxPayloadData_t *payloads, size_t count,
                           const char *(*name)(uint64_t handle))
{
    const struct event event = {domain, name};
    struct text t = {.to = to};
    size_t size, known = 0;
    open_with(&t, '{');
    for (size_t i = 0; i < count && !t.full; i++) {
        const struct schema *s = schema_of(domain, &payloads[i], &size);
        if (s)
            put_payload(&t, &event, s, payloads[i].payload, size, ++known);
    }
    close_with(&t, '}');
    t.to[t.length > 2 ? t.length : 0] = 0;
}

/* Writes the text of an entry that is the message of its event. False if it has none. */
static bool put_message(char *to, const struct event *event, const struct schema *s, const uint8_t *payload,
                        size_t size)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct member *e = &s->members[i];
        const struct type type = type_of(e->type);
        if (!(e->flags & NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE) || e->offset >= size)
            continue;
        const size_t room = size - (size_t)e->offset;
        const char *at = (const char *)payload + e->offset;
        const bool pointer = !is_text(e, type) && room >= sizeof(void *);
        const uint64_t value = pointer ? read_number((const uint8_t *)at, sizeof(void *), false) : 0;
        if (is_text(e, type))
            snprintf(to, CW_NVTX_LONGEST_NAME, "%.*s", (int)(e->detail && e->detail < room ? e->detail : room), at);
        else if (pointer && type.form == HANDLE)
            snprintf(to, CW_NVTX_LONGEST_NAME, "%s", event->name(value));
        else if (!pointer || type.form != STRING || !read_string(to, value))
            continue;
        return true;
    }
    return false;
}

void cw_nvtx_payload_name(char *to, uint64_t domain, const nvtxPayloadData_t *payloads, size_t count,
                          const char *(*name)(uint64_t handle))
{
    const struct event event = {domain, name};
    size_t size;
    const struct schema *s = count ? schema_of(domain, payloads, &size) : NULL;
    if (!s || !put_message(to, &event, s, payloads->payload, size))
        snprintf(to, CW_NVTX_LONGEST_NAME, "%s", s ? s->name : "");
}
