/* NVTX's functions as a program calls them through the tables that its headers give to the injection library. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef CW_SANITIZE
size_t __sanitizer_get_current_allocated_bytes(void);
#endif

#include "agent/common/message.h"
#include "agent/inject/driver/inject.h"
#include "agent/inject/modes/trace_nvtx.h"
#include "agent/inject/nvtx_payload.h"
#include "agent/inject/ranges/user_ranges.h"
#include "tests/support/fake_cupti.h"
#include "tests/support/seconds.h"

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t export_table);
int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t *module);

enum { MANY = 1000000, LITTLE = 1 << 20, BOUND = 16 << 20, LONG = 120 };

/* ---- the program's side ----------------------------------------------------------------------------------------- */

static NvtxFunctionPointer functions[NVTX_CB_MODULE_SIZE][64];
static NvtxFunctionPointer *slots[NVTX_CB_MODULE_SIZE][64];

static int get_table(NvtxCallbackModule module, NvtxFunctionTable *table, unsigned *size)
{
    for (int i = 0; i < 64; i++)
        slots[module][i] = &functions[module][i];
    *table = slots[module];
    *size = 64;
    return 1;
}

static const void *export_table(uint32_t id)
{
    static const NvtxExportTableCallbacks callbacks = {sizeof callbacks, get_table};
    return id == NVTX_ETID_CALLBACKS ? &callbacks : NULL;
}

static void begin(void)
{
    cr_assert_eq(InitializeInjectionNvtx2(export_table), 1);
}

#define CORE(name, type) ((type)functions[NVTX_CB_MODULE_CORE][NVTX_CBID_CORE_##name])
#define CORE2(name, type) ((type)functions[NVTX_CB_MODULE_CORE2][NVTX_CBID_CORE2_##name])

static void push(const char *name)
{
    CORE(RangePushA, nvtxRangePushA_impl_fntype)(name);
}

static void pop(void)
{
    CORE(RangePop, nvtxRangePop_impl_fntype)();
}

static nvtxDomainHandle_t create(const char *name)
{
    return CORE2(DomainCreateA, nvtxDomainCreateA_impl_fntype)(name);
}

static void destroy(nvtxDomainHandle_t domain)
{
    if (CORE2(DomainDestroy, nvtxDomainDestroy_impl_fntype))
        CORE2(DomainDestroy, nvtxDomainDestroy_impl_fntype)(domain);
}

static nvtxStringHandle_t register_string(nvtxDomainHandle_t domain, const char *text)
{
    return CORE2(DomainRegisterStringA, nvtxDomainRegisterStringA_impl_fntype)(domain, text);
}

static void push_registered(nvtxDomainHandle_t domain, nvtxStringHandle_t string)
{
    const nvtxEventAttributes_t event = {.version = NVTX_VERSION,
                                         .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
                                         .messageType = NVTX_MESSAGE_TYPE_REGISTERED,
                                         .message.registered = string};
    CORE2(DomainRangePushEx, nvtxDomainRangePushEx_impl_fntype)(domain, &event);
}

static int pop_of(nvtxDomainHandle_t domain)
{
    return CORE2(DomainRangePop, nvtxDomainRangePop_impl_fntype)(domain);
}

/* Names of the open ranges. */
static void expect_open(const char *expected)
{
    cr_assert(cw_inject_lock());
    char *path = cw_user_ranges_path(0);
    cw_inject_unlock();
    cr_expect_str_eq(path, expected);
    free(path);
}

static size_t in_use(void)
{
#ifdef CW_SANITIZE
    return __sanitizer_get_current_allocated_bytes();
#else
    return mallinfo2().uordblks;
#endif
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

Test(nvtx, names_are_those_of_the_domain_and_the_registered_string)
{
    begin();
    nvtxDomainHandle_t a = create("a"), again = create("a"), b = create("b");
    nvtxStringHandle_t in_a = register_string(a, "step"), in_b = register_string(b, "step");
    push_registered(a, in_a);
    push_registered(b, in_b);
    push_registered(NULL, register_string(NULL, "plain"));
    expect_open("a@step/b@step/plain");
    cr_expect(a == again && in_a == register_string(a, "step"), "the same again");
    cr_expect_eq(pop_of(b), 0);
    expect_open("a@step/plain");
}

/* Control characters are shown, so that names stay apart. A name is cut between characters, and before an escape. */
Test(nvtx, names_are_one_line)
{
    enum { MOST = 1000 };
    char longest[MOST + 4], expected[MOST + 1];
    begin();
    push("new\nline");
    push("\x01\t\x7f?");
    expect_open("new\\nline/\\x01\\t\\x7f?");
    pop();
    pop();
    memset(longest, 'a', sizeof longest);
    memset(expected, 'a', sizeof expected);
    strcpy(longest + MOST - 3, "\x1b");
    strcpy(expected + MOST - 3, "");
    push(longest);
    expect_open(expected);
    pop();
    strcpy(longest + MOST - 1, "\u00e9");
    strcpy(longest + MOST - 3, "aa\u00e9");
    strcpy(expected + MOST - 3, "aa");
    push(longest);
    expect_open(expected);
    pop();
}

/* What the program does behind its end of a domain is its own affair, without us. */
Test(nvtx, handles_that_are_none_have_no_name)
{
    begin();
    nvtxDomainHandle_t a = create("a"), made_twice = create("b");
    nvtxStringHandle_t step = register_string(a, "step"), kept = register_string(made_twice, "kept");
    create("b");
    destroy(a);
    destroy(a);
    destroy(made_twice);
    push_registered(a, step);
    push_registered(NULL, (nvtxStringHandle_t)(void *)"not registered");
    push_registered((nvtxDomainHandle_t)(void *)"not made", NULL);
    cr_expect_null(register_string(a, "late"));
    push_registered(made_twice, kept);
    expect_open("///b@kept");
}

/* ---- payloads --------------------------------------------------------------------------------------------------- */

/* A field of the last range's row. */
static uint64_t value_of(enum cw_trace_field field)
{
    const struct cw_trace_table *t = &cw_trace_sheets->tables[CW_TRACE_NVTX_RANGE];
    const size_t place = cw_trace_sheets->places[CW_TRACE_NVTX_RANGE][field];
    cr_assert(t->count && place);
    return t->values[(place - 1) * CW_TRACE_TABLE_ROWS + t->count - 1];
}

/* Of a range that was pushed and popped, as its row has it. */
static struct cw_trace_payload payload_of(int32_t type, const union payload_t *value)
{
    nvtxEventAttributes_t event = {.version = NVTX_VERSION, .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE, .payloadType = type};
    memcpy(&event.payload, value, sizeof event.payload);
    CORE2(DomainRangePushEx, nvtxDomainRangePushEx_impl_fntype)(NULL, &event);
    pop();
    return (struct cw_trace_payload){value_of(CW_FIELD_PAYLOAD), value_of(CW_FIELD_UNSIGNED_PAYLOAD),
                                     value_of(CW_FIELD_REAL_PAYLOAD)};
}

/* -1 is a number like any other, and what does not fit is in a field of its own. */
Test(nvtx, payloads_keep_their_sign)
{
#define PAYLOAD(type, member, value) payload_of(NVTX_PAYLOAD_TYPE_##type, &(const union payload_t){.member = (value)})
    setenv(CW_AGENT_SOCKET_VARIABLE, "/nowhere", 1);
    begin();
    cr_expect_eq((int64_t)PAYLOAD(INT64, llValue, -1).number, -1);
    cr_expect_eq((int64_t)PAYLOAD(INT32, iValue, -1).number, -1);
    cr_expect_eq(PAYLOAD(UNSIGNED_INT32, uiValue, UINT32_MAX).number, UINT32_MAX);
    cr_expect_eq(PAYLOAD(UNSIGNED_INT64, ullValue, INT64_MAX).number, INT64_MAX);
    const struct cw_trace_payload large = PAYLOAD(UNSIGNED_INT64, ullValue, UINT64_C(1) << 63),
                                  real = PAYLOAD(DOUBLE, dValue, -1);
    cr_expect(large.number == CW_TRACE_SIGNED_UNKNOWN && large.large == UINT64_C(1) << 63);
    cr_expect(real.number == CW_TRACE_SIGNED_UNKNOWN && real.large == CW_TRACE_UNKNOWN);
    cr_expect_eq(payload_of(NVTX_PAYLOAD_UNKNOWN, &(const union payload_t){0}).number, CW_TRACE_SIGNED_UNKNOWN);
#undef PAYLOAD
}

/* A field of a kind's last row. */
static uint64_t last_of(enum cw_trace_kind kind, enum cw_trace_field field)
{
    const struct cw_trace_table *t = &cw_trace_sheets->tables[kind];
    const size_t place = cw_trace_sheets->places[kind][field];
    cr_assert(t->count && place);
    return t->values[(place - 1) * CW_TRACE_TABLE_ROWS + t->count - 1];
}

static uint64_t text_number(const char *text)
{
    cw_trace_rows_lock();
    const uint32_t number = cw_trace_text_number(text);
    cw_trace_rows_unlock();
    return number;
}

/* ---- resources and synchronization ------------------------------------------------------------------------------ */

static void expect_name(const char *type, uint64_t id, const char *name)
{
    cr_expect_eq(last_of(CW_TRACE_NAME, CW_FIELD_TYPE), text_number(type), "%s", name);
    cr_expect_eq(last_of(CW_TRACE_NAME, CW_FIELD_ID), id, "%s", name);
    cr_expect_eq(last_of(CW_TRACE_NAME, CW_FIELD_NAME), text_number(name), "%s", name);
}

static void name_resource(nvtxDomainHandle_t domain, int32_t type, uint64_t id, const char *name)
{
    nvtxResourceAttributes_t resource = {.version = NVTX_VERSION,
                                         .size = NVTX_RESOURCE_ATTRIB_STRUCT_SIZE,
                                         .identifierType = type,
                                         .identifier.ullValue = id,
                                         .messageType = NVTX_MESSAGE_TYPE_ASCII,
                                         .message.ascii = name};
    const nvtxResourceHandle_t handle =
        CORE2(DomainResourceCreate, nvtxDomainResourceCreate_impl_fntype)(domain, &resource);
    cr_expect_not_null(handle);
    CORE2(DomainResourceDestroy, nvtxDomainResourceDestroy_impl_fntype)(handle);
}

Test(nvtx, events_and_resources_have_names)
{
    setenv(CW_AGENT_SOCKET_VARIABLE, "/nowhere", 1);
    begin();
    ((void (*)(void *, const char *))functions[NVTX_CB_MODULE_CUDA][NVTX_CBID_CUDA_NameCuEventA])((void *)0x10, "done");
    expect_name("event", 0x10, "done");
    name_resource(create("io"), (int32_t)NVTX_RESOURCE_TYPE_GENERIC_POINTER, 0x20, "lock");
    expect_name("resource", 0x20, "io@lock");
    name_resource(NULL, (int32_t)NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE, 77, "reader");
    expect_name("thread", 77, "reader");
    name_resource(NULL, NVTX_RESOURCE_MAKE_TYPE(CUDA, 4), 0x30, "ready");
    expect_name("event", 0x30, "ready");
    cr_expect_null(CORE2(DomainResourceCreate, nvtxDomainResourceCreate_impl_fntype)(NULL, NULL));
}

#define SYNC(name, type) ((type)functions[NVTX_CB_MODULE_SYNC][NVTX_CBID_SYNC_DomainSyncUser##name])
typedef nvtxSyncUser_t (*create_sync)(nvtxDomainHandle_t domain, const nvtxSyncUserAttributes_t *attributes);
typedef void (*take_sync)(nvtxSyncUser_t sync);

static void expect_step(const char *step, const char *name)
{
    cr_expect_eq(last_of(CW_TRACE_NVTX_MARK, CW_FIELD_CATEGORY), text_number(step), "%s", step);
    cr_expect_eq(last_of(CW_TRACE_NVTX_MARK, CW_FIELD_NAME), text_number(name), "%s", step);
    cr_expect_eq(last_of(CW_TRACE_NVTX_MARK, CW_FIELD_DOMAIN), text_number("io"), "%s", step);
}

Test(nvtx, synchronization_is_marked)
{
    const nvtxSyncUserAttributes_t sync = {.version = NVTX_VERSION,
                                           .size = NVTX_SYNCUSER_ATTRIB_STRUCT_SIZE,
                                           .messageType = NVTX_MESSAGE_TYPE_ASCII,
                                           .message.ascii = "lock"};
    setenv(CW_AGENT_SOCKET_VARIABLE, "/nowhere", 1);
    begin();
    const nvtxDomainHandle_t domain = create("io");
    const nvtxSyncUser_t lock = SYNC(Create, create_sync)(domain, &sync);
    SYNC(AcquireStart, take_sync)(lock);
    expect_step("acquire", "lock");
    SYNC(AcquireFailed, take_sync)(lock);
    expect_step("acquire_failed", "lock");
    SYNC(AcquireSuccess, take_sync)(lock);
    expect_step("acquired", "lock");
    SYNC(Releasing, take_sync)(lock);
    expect_step("release", "lock");
    SYNC(Destroy, take_sync)(lock);
    destroy(domain);
    SYNC(AcquireStart, take_sync)(lock);
    expect_step("release", "lock");
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

Test(nvtx, ranges_take_no_memory_when_they_are_over)
{
    cw_test_seconds(LONG);
    begin();
    size_t before = in_use();
    for (int i = 0; i < MANY; i++) {
        push("step");
        pop();
    }
    cr_expect_lt(in_use(), before + LITTLE);
}

Test(nvtx, a_string_that_is_registered_again_takes_no_memory)
{
    cw_test_seconds(LONG);
    begin();
    nvtxDomainHandle_t domain = create("domain");
    size_t before = in_use();
    for (int i = 0; i < MANY; i++) {
        push_registered(domain, register_string(create("domain"), "step"));
        pop_of(domain);
    }
    cr_expect_lt(in_use(), before + LITTLE);
}

Test(nvtx, a_domain_takes_its_strings_along)
{
    cw_test_seconds(LONG);
    char text[32];
    begin();
    size_t before = in_use();
    for (int i = 0; i < MANY / 4; i++) {
        snprintf(text, sizeof text, "%d", i);
        nvtxDomainHandle_t domain = create(text);
        cr_expect_neq(register_string(domain, "step"), NULL);
        register_string(domain, text);
        destroy(domain);
    }
    cr_expect_lt(in_use(), before + LITTLE);
}

Test(nvtx, names_without_end_have_a_bound)
{
    cw_test_seconds(LONG);
    char text[64];
    begin();
    size_t before = in_use();
    for (int i = 0; i < MANY; i++) {
        snprintf(text, sizeof text, "iteration %d of a program that does not end", i);
        register_string(NULL, text);
    }
    cr_expect_lt(in_use(), before + BOUND);
}

static int asked;

static void count_asked(const char *call)
{
    asked += strcmp(call, "cuptiGetContextId") == 0;
}

/* A program that an agent has left may name contexts: CUPTI, which was left too, is not called. */
Test(nvtx, names_do_not_bring_cupti_back)
{
    begin();
    cr_assert(cw_cupti_load(&cw_inject->api, NULL));
    fake_cupti.called = count_asked;
    void (*const name_context)(CUcontext, const char *) =
        (void (*)(CUcontext, const char *))functions[NVTX_CB_MODULE_CUDA][NVTX_CBID_CUDA_NameCuContextA];
    name_context((CUcontext)0x10, "mine");
    cr_expect_eq(asked, 1);
    cw_inject->over = true;
    name_context((CUcontext)0x10, "mine");
    cr_expect_eq(asked, 1);
}

/* ---- payloads with a schema -------------------------------------------------------------------------------------- */

enum { SLOTS = 63, OF_ENUM = 1 << 24, OF_CALL, OF_PEER, OF_BLOB };

static intptr_t extension[SLOTS];
#define EXTENSION(name, type, ...) ((type(*)(__VA_ARGS__))extension[NVTX3EXT_CBID_##name])

static uint64_t schema(nvtxDomainHandle_t domain, uint64_t id, const char *name,
                       const nvtxPayloadSchemaEntry_t *entries, size_t count)
{
    const nvtxPayloadSchemaAttr_t attributes = {
        .fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID,
        .name = name,
        .type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
        .entries = entries,
        .numEntries = count,
        .schemaId = id};
    return EXTENSION(nvtxPayloadSchemaRegister, uint64_t, nvtxDomainHandle_t,
                     const nvtxPayloadSchemaAttr_t *)(domain, &attributes);
}
#define SCHEMA(domain, id, name, ...)                                                                                  \
    schema(domain, id, name, (const nvtxPayloadSchemaEntry_t[]){__VA_ARGS__},                                          \
           sizeof((const nvtxPayloadSchemaEntry_t[]){__VA_ARGS__}) / sizeof(nvtxPayloadSchemaEntry_t))

static void begin_with_payloads(void)
{
    nvtxExtModuleSegment_t segment = {0, SLOTS, extension};
    nvtxExtModuleInfo_t module = {.moduleId = 3, .segmentsCount = 1, .segments = &segment};
    setenv(CW_AGENT_SOCKET_VARIABLE, "/nowhere", 1);
    begin();
    cr_expect_eq(InitializeInjectionNvtxExtension(&module), 0, "that of counters");
    module.moduleId = NVTX_EXT_PAYLOAD_MODULEID;
    cr_assert_eq(InitializeInjectionNvtxExtension(&module), 1);
}

static const char *no_name(uint64_t handle)
{
    (void)handle;
    return "";
}

static void expect_payload(nvtxDomainHandle_t domain, uint64_t id, const void *payload, size_t size,
                           const char *expected)
{
    const nvtxPayloadData_t data = {id, size, payload};
    char text[CW_NVTX_LONGEST_PAYLOAD];
    cr_assert(cw_inject_lock());
    cw_nvtx_payload_write(text, (uintptr_t)domain, &data, 1, no_name);
    cw_inject_unlock();
    cr_expect_str_eq(text, expected);
    const nvtxEventAttributes_t event = {.version = NVTX_VERSION,
                                         .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
                                         .payloadType = NVTX_PAYLOAD_TYPE_EXT,
                                         .reserved0 = 1,
                                         .payload.ullValue = (uintptr_t)&data};
    CORE2(DomainRangePushEx, nvtxDomainRangePushEx_impl_fntype)(domain, &event);
    pop_of(domain);
    cr_expect_eq(value_of(CW_FIELD_PAYLOAD_TEXT), cw_trace_text_number(expected));
}

/* As of a call of NCCL, whose structure has holes, an enumeration and a structure within. */
Test(nvtx, a_payload_is_what_its_schema_says)
{
    struct peer {
        int32_t rank;
        double ratio;
    };
    static const struct {
        uint64_t communicator;
        size_t bytes;
        uint8_t small;
        int32_t kind;
        struct peer peer;
        char text[8];
        int16_t three[3];
        const void *at;
        const char *said;
        nvtxStringHandle_t name;
    } call = {7, 1 << 20, 255, 2, {-1, 0.5}, "ab\"c", {1, -2, 3}, (const void *)0x10, "far", NULL};
    begin_with_payloads();
    nvtxDomainHandle_t domain = create("NCCL");
    const nvtxPayloadEnum_t values[] = {{"sum", 1, 0}, {"max", 2, 0}};
    const nvtxPayloadEnumAttr_t kinds = {
        .fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES |
                     NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID,
        .entries = values,
        .numEntries = 2,
        .sizeOfEnum = sizeof(int32_t),
        .schemaId = OF_ENUM};
    cr_expect_eq(
        EXTENSION(nvtxPayloadEnumRegister, uint64_t, nvtxDomainHandle_t, const nvtxPayloadEnumAttr_t *)(domain, &kinds),
        OF_ENUM);
    cr_expect_eq(SCHEMA(domain, OF_PEER, "peer", {.type = NVTX_PAYLOAD_ENTRY_TYPE_INT32, .name = "rank"},
                        {.type = NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, .name = "ratio"}),
                 OF_PEER);
    cr_expect_eq(SCHEMA(domain, OF_CALL, "call", {.type = NVTX_PAYLOAD_ENTRY_TYPE_UINT64, .name = "Communicator"},
                        {.type = NVTX_PAYLOAD_ENTRY_TYPE_SIZE, .name = "Bytes"},
                        {.type = NVTX_PAYLOAD_ENTRY_TYPE_UINT8, .name = "small"}, {.type = OF_ENUM, .name = "kind"},
                        {.type = OF_PEER, .name = "peer"},
                        {.type = NVTX_PAYLOAD_ENTRY_TYPE_CHAR,
                         .name = "text",
                         .flags = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE,
                         .arrayOrUnionDetail = 8},
                        {.type = NVTX_PAYLOAD_ENTRY_TYPE_SHORT,
                         .name = "three",
                         .flags = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE,
                         .arrayOrUnionDetail = 3},
                        {.type = NVTX_PAYLOAD_ENTRY_TYPE_ADDRESS, .name = "at"},
                        {.type = NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, .name = "said"},
                        {.type = NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE, .name = "name"}),
                 OF_CALL);
    expect_payload(domain, OF_CALL, &call, sizeof call,
                   "{\"Communicator\":7,\"Bytes\":1048576,\"small\":255,\"kind\":\"max\","
                   "\"peer\":{\"rank\":-1,\"ratio\":0.5},\"text\":\"ab\\\"c\",\"three\":[1,-2,3],\"at\":\"0x10\","
                   "\"said\":\"far\",\"name\":\"\"}");
    expect_payload(domain, OF_CALL, &call, 12, "{\"Communicator\":7}"); /* the rest lies beyond it */
    expect_payload(domain, OF_CALL, NULL, 0, "");
    expect_payload(NULL, OF_CALL, &call, sizeof call, ""); /* a schema belongs to its domain */
}

#define ENTRY(kind, label, ...)                                                                                        \
    {                                                                                                                  \
        .type = NVTX_PAYLOAD_ENTRY_TYPE_##kind, .name = label, __VA_ARGS__                                             \
    }
#define OF(schema, label, ...)                                                                                         \
    {                                                                                                                  \
        .type = schema, .name = label, __VA_ARGS__                                                                     \
    }
#define MANY(n) .flags = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, .arrayOrUnionDetail = n

/* Entries without offsets lie where a compiler puts the members. */
Test(nvtx, a_payload_is_laid_out_as_compilers_do)
{
    struct ints {
        int a, b;
    };
    struct padded {
        double a;
        int b;
    };
    const struct {
        int x;
        struct ints n[2];
        struct padded p[2];
        int y;
    } nested = {1, {{2, 3}, {4, 5}}, {{6, 7}, {8, 9}}, 10};
    const struct __attribute__((packed, aligned(4))) {
        int a;
        double b;
    } narrow = {1, 2};
    const struct {
        int a;
        char t[4];
        uint16_t half;
        int b, negative;
    } sizes = {1, "abc", 0, 2, -1};
    const nvtxPayloadEnum_t values[] = {{"minus", (uint64_t)-1, 0}};
    const nvtxPayloadEnumAttr_t minus = {.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES |
                                                      NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES,
                                         .entries = values,
                                         .numEntries = 1};
    begin_with_payloads();
    SCHEMA(NULL, OF_PEER, "ints", ENTRY(INT, "a"), ENTRY(INT, "b"));
    SCHEMA(NULL, OF_BLOB, "padded", ENTRY(DOUBLE, "a"), ENTRY(INT, "b"));
    SCHEMA(NULL, OF_CALL, "nested", ENTRY(INT, "x"), OF(OF_PEER, "n", MANY(2)), OF(OF_BLOB, "p", MANY(2)),
           ENTRY(INT, "y"));
    expect_payload(
        NULL, OF_CALL, &nested, sizeof nested,
        "{\"x\":1,\"n\":[{\"a\":2,\"b\":3},{\"a\":4,\"b\":5}],\"p\":[{\"a\":6,\"b\":7},{\"a\":8,\"b\":9}],\"y\":10}");
    const uint64_t sign =
        EXTENSION(nvtxPayloadEnumRegister, uint64_t, nvtxDomainHandle_t, const nvtxPayloadEnumAttr_t *)(NULL, &minus);
    SCHEMA(NULL, OF_CALL + 10, "sizes", ENTRY(INT, "a"), ENTRY(CHAR8, "t", MANY(4)), ENTRY(FLOAT16, "half"),
           ENTRY(INT, "b"), OF(sign, "negative"));
    expect_payload(NULL, OF_CALL + 10, &sizes, sizeof sizes, "{\"a\":1,\"t\":\"abc\",\"b\":2,\"negative\":\"minus\"}");
    SCHEMA(NULL, OF_CALL + 11, "unknown", ENTRY(INT, "a"), ENTRY(CHAR8, "t", MANY(4)),
           ENTRY(INT, "list", .flags = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX), ENTRY(INT, "nowhere"));
    expect_payload(NULL, OF_CALL + 11, &sizes, sizeof sizes, "{\"a\":1,\"t\":\"abc\"}");
    const nvtxPayloadSchemaEntry_t entries[] = {ENTRY(INT, "a"), ENTRY(DOUBLE, "b")};
    const nvtxPayloadSchemaAttr_t aligned = {
        .fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT,
        .type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
        .entries = entries,
        .numEntries = 2,
        .packAlign = 4};
    const uint64_t id = EXTENSION(nvtxPayloadSchemaRegister, uint64_t, nvtxDomainHandle_t,
                                  const nvtxPayloadSchemaAttr_t *)(NULL, &aligned);
    expect_payload(NULL, id, &narrow, sizeof narrow, "{\"a\":1,\"b\":2}");
}

Test(nvtx, further_payloads_are_objects_of_their_own)
{
    const int32_t numbers[] = {1, 2};
    char text[CW_NVTX_LONGEST_PAYLOAD];
    begin_with_payloads();
    SCHEMA(NULL, OF_CALL, "step", ENTRY(INT, "a"));
    const nvtxPayloadData_t data[] = {{OF_CALL, 4, &numbers[0]}, {OF_BLOB, 4, numbers}, {OF_CALL, 4, &numbers[1]}};
    cr_assert(cw_inject_lock());
    cw_nvtx_payload_write(text, 0, data, 3, no_name);
    cw_inject_unlock();
    cr_expect_str_eq(text, "{\"a\":1,\"payload 2\":{\"a\":2}}");
}

/* A byte that is not UTF-8, or a character that is cut, leaves other text as it is. */
Test(nvtx, a_payload_is_utf8)
{
    enum { CUT = 256 };
    char cut[CUT + 2];
    const struct {
        const char *good, *bad, *cut;
        char held[4];
    } texts = {"\xc3\xa9", "a\xff\n\xc3", cut, "b\xc3\xa9\xc3"};
    char expected[CW_NVTX_LONGEST_PAYLOAD];
    memset(cut, 'x', sizeof cut);
    memcpy(cut + CUT - 1, "\xc3\xa9", sizeof "\xc3\xa9");
    begin_with_payloads();
    SCHEMA(NULL, OF_CALL, "texts", ENTRY(CSTRING, "good"), ENTRY(CSTRING, "bad"), ENTRY(CSTRING, "cut"),
           ENTRY(CHAR, "held", MANY(4)));
    snprintf(expected, sizeof expected,
             "{\"good\":\"\xc3\xa9\",\"bad\":\"a\\ufffd\\u000a\\ufffd\",\"cut\":\"%.*s\",\"held\":\"b\xc3\xa9\"}",
             CUT - 1, cut);
    expect_payload(NULL, OF_CALL, &texts, sizeof texts, expected);
}

/* It is written while other threads wait. */
Test(nvtx, a_text_that_does_not_fit_takes_no_time)
{
    enum { LARGE = 64 << 20 };
    char *large = malloc(LARGE), text[CW_NVTX_LONGEST_PAYLOAD];
    memset(large, 1, LARGE);
    begin_with_payloads();
    SCHEMA(NULL, OF_CALL, "large", ENTRY(CHAR, "a", MANY(LARGE)), ENTRY(INT, "b"));
    const nvtxPayloadData_t data = {OF_CALL, LARGE, large};
    cr_assert(cw_inject_lock());
    for (int i = 0; i < 1000; i++)
        cw_nvtx_payload_write(text, 0, &data, 1, no_name);
    cw_inject_unlock();
    cr_expect_str_eq(text, "");
    free(large);
}

/* A program that errs goes on as without us. */
Test(nvtx, payloads_that_are_none)
{
    struct {
        const char *nowhere;
        uint64_t self;
    } bad = {(const char *)8, 1};
    char long_names[64][64];
    nvtxPayloadSchemaEntry_t many[64] = {0};
    begin_with_payloads();
    nvtxDomainHandle_t domain = create("d");
    cr_expect_eq(schema(domain, OF_CALL, "none", NULL, 0), 0);
    SCHEMA(domain, OF_CALL, "bad", {.type = NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, .name = "nowhere"},
           {.type = OF_CALL, .name = "itself"}, {.type = 12345, .name = "unknown"});
    expect_payload(domain, OF_CALL, &bad, sizeof bad, "{\"nowhere\":\"0x8\"}");
    for (int i = 0; i < 64; i++) {
        snprintf(long_names[i], sizeof long_names[i], "%040d", i);
        many[i] = (nvtxPayloadSchemaEntry_t){.type = NVTX_PAYLOAD_ENTRY_TYPE_UINT8, .name = long_names[i]};
    }
    schema(domain, OF_BLOB, "many", many, 64);
    char text[CW_NVTX_LONGEST_PAYLOAD];
    const nvtxPayloadData_t data = {OF_BLOB, sizeof long_names, long_names};
    cr_assert(cw_inject_lock());
    cw_nvtx_payload_write(text, (uintptr_t)domain, &data, 1, no_name);
    cw_inject_unlock();
    cr_expect(strlen(text) > 600 && strlen(text) < sizeof text && text[strlen(text) - 1] == '}');
    cr_expect_neq(SCHEMA(domain, 0, "numbered", {.type = NVTX_PAYLOAD_ENTRY_TYPE_INT, .name = "i"}), 0);
}

/* A trace without rows of NVTX reads no payload. */
Test(nvtx, a_payload_that_no_row_keeps_is_not_read)
{
    const int number = 1;
    const nvtxPayloadData_t nowhere = {OF_CALL, sizeof number, (const void *)8},
                            there = {OF_CALL, sizeof number, &number};
    begin_with_payloads();
    SCHEMA(NULL, OF_CALL, "step", ENTRY(INT, "number"));
    EXTENSION(nvtxMarkPayload, void, nvtxDomainHandle_t, const nvtxPayloadData_t *, size_t)(NULL, &there, 1);
    cw_trace_sheets->kinds &= ~CW_TRACE_BIT(CW_TRACE_NVTX_RANGE);
    EXTENSION(nvtxRangePushPayload, int, nvtxDomainHandle_t, const nvtxPayloadData_t *, size_t)(NULL, &nowhere, 1);
    cw_trace_sheets->kinds = CW_TRACE_BIT(CW_TRACE_NVTX_RANGE);
    EXTENSION(nvtxMarkPayload, void, nvtxDomainHandle_t, const nvtxPayloadData_t *, size_t)(NULL, &nowhere, 1);
    EXTENSION(nvtxRangePushPayload, int, nvtxDomainHandle_t, const nvtxPayloadData_t *, size_t)(NULL, &there, 1);
    pop();
    cr_expect_eq(value_of(CW_FIELD_PAYLOAD_TEXT), cw_trace_text_number("{\"number\":1}"));
}

/* Events of the extension's own. */
Test(nvtx, an_event_of_payloads_alone_has_the_schemas_name)
{
    const int32_t step = 5;
    begin_with_payloads();
    SCHEMA(NULL, OF_CALL, "step", {.type = NVTX_PAYLOAD_ENTRY_TYPE_INT, .name = "number"});
    const nvtxPayloadData_t data = {OF_CALL, sizeof step, &step};
    EXTENSION(nvtxRangePushPayload, int, nvtxDomainHandle_t, const nvtxPayloadData_t *, size_t)(NULL, &data, 1);
    expect_open("step");
    EXTENSION(nvtxRangePopPayload, int, nvtxDomainHandle_t, const nvtxPayloadData_t *, size_t)(NULL, NULL, 0);
    expect_open("");
    cr_expect_eq(value_of(CW_FIELD_PAYLOAD_TEXT), cw_trace_text_number("{\"number\":5}"));
    const struct {
        int number;
        const char *said;
    } named = {6, "forward"};
    const nvtxPayloadData_t with = {OF_PEER, sizeof named, &named};
    SCHEMA(NULL, OF_PEER, "step", ENTRY(INT, "number"),
           ENTRY(CSTRING, "said", .flags = NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE));
    EXTENSION(nvtxRangePushPayload, int, nvtxDomainHandle_t, const nvtxPayloadData_t *, size_t)(NULL, &with, 1);
    expect_open("forward");
}
