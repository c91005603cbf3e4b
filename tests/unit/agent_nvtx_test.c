/* NVTX's functions as a program calls them through the tables that its headers give to the injection library. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SANITIZE_ADDRESS__
size_t __sanitizer_get_current_allocated_bytes(void);
#endif

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>

#include "agent/common/message.h"
#include "agent/inject/driver/inject.h"
#include "agent/inject/modes/trace_nvtx.h"
#include "agent/inject/ranges/user_ranges.h"
#include "tests/support/fake_cupti.h"
#include "tests/support/seconds.h"

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t export_table);

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
#ifdef __SANITIZE_ADDRESS__
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
