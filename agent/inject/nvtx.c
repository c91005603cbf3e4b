/* NVTX's ranges. NVTX's headers in a program load the library named by NVTX_INJECTION64_PATH, which is this one, once
 * for each part of the program that uses them. The library replaces the functions it wants, also those of NVTX's
 * extension for payloads. */
#define _GNU_SOURCE
#include "agent/inject/nvtx.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/inject/driver/inject.h"
#include "agent/inject/driver/say.h"
#include "agent/inject/modes/trace_nvtx.h"
#include "agent/inject/nvtx_payload.h"
#include "agent/inject/ranges/user_ranges.h"

struct name {
    uint64_t handle, domain; /* domain: DOMAINS, or the string's */
    const char *text;        /* stored behind the structure */
    uint64_t uses;           /* for a domain: number of its creations */
    struct name *strings;    /* for a domain */
    struct name *next;       /* next in the same domain */
};

static struct {
    void *by_text, *by_handle; /* trees of all names */
    struct name none;          /* the default domain */
    uint64_t last;             /* last handle */
    size_t bytes;
    bool said; /* the message about too many names was printed */
} state CW_STATE;
#define self (&state)

/* ---- registered names, with the lock held ----------------------------------------------------------------------- */

/* Memory of a name beside its text, with its places in the trees. */
enum { A_NAME = sizeof(struct name) + 2 * 32 };
static const uint64_t DOMAINS = UINT64_MAX;

static int compare_text(const void *a, const void *b)
{
    const struct name *x = a, *y = b;
    if (x->domain != y->domain)
        return x->domain < y->domain ? -1 : 1;
    return strcmp(x->text, y->text);
}

static int compare_handle(const void *a, const void *b)
{
    const struct name *x = a, *y = b;
    return (x->handle > y->handle) - (x->handle < y->handle);
}

static struct name *find_name(uint64_t handle)
{
    struct name **found = tfind(&(struct name){.handle = handle}, &self->by_handle, compare_handle);
    return found ? *found : NULL;
}

static void forget_name(struct name *n)
{
    self->bytes -= A_NAME + strlen(n->text);
    tdelete(n, &self->by_text, compare_text);
    tdelete(n, &self->by_handle, compare_handle);
    free(n);
}

static bool has_room(size_t size)
{
    if (size <= CW_NVTX_MOST_BYTES - self->bytes)
        return true;
    if (!self->said)
        cw_say("found more than %d MiB of names registered with NVTX; further names are unknown",
               CW_NVTX_MOST_BYTES >> 20);
    self->said = true;
    return false;
}

static struct name *add_name(uint64_t domain, const char *text)
{
    size_t length = strlen(text);
    struct name *n = has_room(A_NAME + length) ? malloc(sizeof *n + length + 1) : NULL;
    if (!n)
        return NULL;
    *n = (struct name){.handle = ++self->last, .domain = domain, .text = memcpy(n + 1, text, length + 1)};
    self->bytes += A_NAME + length;
    if (tsearch(n, &self->by_text, compare_text) && tsearch(n, &self->by_handle, compare_handle))
        return n;
    forget_name(n);
    return NULL;
}

static struct name *find_text(uint64_t domain, const char *text)
{
    struct name **found = tfind(&(struct name){.domain = domain, .text = text}, &self->by_text, compare_text);
    return found ? *found : NULL;
}

/* Handle of a domain, 0 if there is no room. A domain created twice lives until it is destroyed twice. */
static uint64_t domain_handle(const char *text)
{
    struct name *n = find_text(DOMAINS, text);
    n = n ? n : add_name(DOMAINS, text);
    if (!n)
        return 0;
    n->uses++;
    return n->handle;
}

static struct name *find_domain(uint64_t handle)
{
    struct name *n = find_name(handle);
    return n && n->domain == DOMAINS ? n : NULL;
}

static void destroy_domain(uint64_t handle)
{
    struct name *domain = find_domain(handle);
    if (!domain || --domain->uses)
        return;
    for (struct name *n = domain->strings, *next; n; n = next) {
        next = n->next;
        forget_name(n);
    }
    forget_name(domain);
}

/* Handle of a string, valid until its domain is destroyed; domain 0 is the default domain, which always exists. */
static uint64_t string_handle(uint64_t handle, const char *text)
{
    struct name *domain = handle ? find_domain(handle) : &self->none, *n = domain ? find_text(handle, text) : NULL;
    if (n || !domain)
        return n ? n->handle : 0;
    n = add_name(handle, text);
    if (!n)
        return 0;
    n->next = domain->strings;
    domain->strings = n;
    return n->handle;
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

enum { LONGEST = 1024, FULL_NAME = 2 * LONGEST + 1 };

/* Encodes a character as UTF-8; returns the number of bytes. */
static size_t encode(char *to, uint32_t c)
{
    static const unsigned char first[] = {0, 0xc0, 0xe0, 0xf0};
    size_t more = (c >= 0x80) + (c >= 0x800) + (c >= 0x10000);
    to[0] = (char)(first[more] | (c >> 6 * more & (more == 3 ? 7 : 0xff)));
    for (size_t i = 1; i <= more; i++)
        to[i] = (char)(0x80 | (c >> 6 * (more - i) & 0x3f));
    return 1 + more;
}

/* Converts into LONGEST bytes; returns them. */
static const char *narrow(char *to, const wchar_t *from)
{
    size_t n = 0;
    for (; from && *from && n + 4 < LONGEST; from++)
        n += encode(to + n, (uint32_t)*from);
    to[n] = 0;
    return to;
}

static uint64_t number(const void *handle)
{
    return (uint64_t)(uintptr_t)handle;
}

/* The name of a handle, with the lock held. */
static const char *text_of(uint64_t handle)
{
    const struct name *name = handle ? find_name(handle) : NULL;
    return name ? name->text : "";
}

/* Writes the name of a handle, in LONGEST bytes. */
static void name_of(char *to, const void *handle)
{
    *to = 0;
    if (!handle || !cw_inject_lock())
        return;
    snprintf(to, LONGEST, "%s", text_of(number(handle)));
    cw_inject_unlock();
}

struct said {                              /* data of an event */
    char domain[LONGEST], full[FULL_NAME]; /* full: "domain@name", or the name alone in the default domain */
    char payload[CW_NVTX_LONGEST_PAYLOAD];
    struct cw_trace_label label;
};

/* Reads the domain's name and the event's. */
static const char *read_names(struct said *said, nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event)
{
    name_of(said->domain, domain);
    size_t n = (size_t)snprintf(said->full, LONGEST, "%s", said->domain);
    if (n)
        said->full[n++] = '@';
    char *name = said->full + n;
    *name = 0;
    if (event && event->messageType == NVTX_MESSAGE_TYPE_ASCII && event->message.ascii)
        snprintf(name, LONGEST, "%s", event->message.ascii);
    else if (event && event->messageType == NVTX_MESSAGE_TYPE_UNICODE)
        narrow(name, event->message.unicode);
    else if (event && event->messageType == NVTX_MESSAGE_TYPE_REGISTERED)
        name_of(name, event->message.registered);
    return name;
}

static struct cw_trace_payload read_payload(const nvtxEventAttributes_t *event)
{
    struct cw_trace_payload payload = CW_TRACE_NO_PAYLOAD;
    double real = 0;
    switch (event->payloadType) {
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64:
        *(event->payload.ullValue > INT64_MAX ? &payload.large : &payload.number) = event->payload.ullValue;
        break;
    case NVTX_PAYLOAD_TYPE_INT64:
        payload.number = (uint64_t)event->payload.llValue;
        break;
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
        payload.number = event->payload.uiValue;
        break;
    case NVTX_PAYLOAD_TYPE_INT32:
        payload.number = (uint64_t)(int64_t)event->payload.iValue;
        break;
    case NVTX_PAYLOAD_TYPE_DOUBLE:
    case NVTX_PAYLOAD_TYPE_FLOAT:
        real = event->payloadType == NVTX_PAYLOAD_TYPE_DOUBLE ? event->payload.dValue : (double)event->payload.fValue;
        memcpy(&payload.real, &real, sizeof real);
        break;
    default:
        break;
    }
    return payload;
}

/* Whether a trace may keep rows of a kind. */
static bool is_traced(enum cw_trace_kind kind)
{
    if (!cw_trace_rows_enter())
        return false;
    const bool wanted = cw_trace_row_wanted(kind);
    cw_trace_rows_leave();
    return wanted;
}

/* Writes payloads that have a schema as text, if a row keeps it. */
static void read_payloads(struct said *said, nvtxDomainHandle_t domain, const nvtxPayloadData_t *payloads, size_t count,
                          enum cw_trace_kind kind)
{
    if (!payloads || !is_traced(kind) || !cw_inject_lock())
        return;
    cw_nvtx_payload_write(said->payload, number(domain), payloads, count, text_of);
    cw_inject_unlock();
    said->label.payload_text = said->payload;
}

static void read_event(struct said *said, nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event,
                       enum cw_trace_kind kind)
{
    struct cw_trace_label *label = &said->label;
    const char *name = read_names(said, domain, event);
    *label = (struct cw_trace_label){said->domain, name, 0, CW_TRACE_UNKNOWN, CW_TRACE_NO_PAYLOAD, NULL, NULL};
    if (!event)
        return;
    if (event->payloadType == NVTX_PAYLOAD_TYPE_EXT && event->reserved0 > 0)
        read_payloads(said, domain, (const nvtxPayloadData_t *)(uintptr_t)event->payload.ullValue,
                      (size_t)event->reserved0, kind);
    label->category = event->category;
    if (event->colorType == NVTX_COLOR_ARGB)
        label->color = event->color;
    label->payload = read_payload(event);
}

/* ---- the functions ---------------------------------------------------------------------------------------------- */

static nvtxRangeId_t NVTX_API domain_start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event)
{
    struct said said;
    read_event(&said, domain, event, CW_TRACE_NVTX_RANGE);
    const uint64_t id = cw_user_range_start(number(domain), said.full);
    if (id)
        cw_trace_nvtx_open(number(domain), id, &said.label);
    else
        cw_trace_nvtx_lost();
    return id;
}

static void NVTX_API domain_end(nvtxDomainHandle_t domain, nvtxRangeId_t id)
{
    if (!id)
        return;
    cw_trace_nvtx_close(number(domain), id);
    cw_user_range_end(id);
}

static int NVTX_API domain_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event)
{
    struct said said;
    read_event(&said, domain, event, CW_TRACE_NVTX_RANGE);
    const int depth = cw_user_range_push(number(domain), said.full);
    cw_trace_nvtx_open(number(domain), 0, &said.label);
    return depth;
}

static int NVTX_API domain_pop(nvtxDomainHandle_t domain)
{
    cw_trace_nvtx_close(number(domain), 0);
    return cw_user_range_pop(number(domain));
}

static void NVTX_API domain_mark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event)
{
    struct said said;
    read_event(&said, domain, event, CW_TRACE_NVTX_MARK);
    cw_trace_nvtx_mark(number(domain), &said.label);
}

static nvtxDomainHandle_t NVTX_API domain_create(const char *name)
{
    if (!cw_inject_lock())
        return NULL;
    uint64_t handle = domain_handle(name ? name : "");
    cw_inject_unlock();
    return (nvtxDomainHandle_t)(uintptr_t)handle;
}

static nvtxDomainHandle_t NVTX_API domain_create_wide(const wchar_t *name)
{
    char narrowed[LONGEST];
    return domain_create(narrow(narrowed, name));
}

static void NVTX_API domain_destroy(nvtxDomainHandle_t domain)
{
    if (!cw_inject_lock())
        return;
    destroy_domain(number(domain));
    cw_inject_unlock();
}

static nvtxStringHandle_t NVTX_API register_string(nvtxDomainHandle_t domain, const char *text)
{
    if (!cw_inject_lock())
        return NULL;
    uint64_t handle = string_handle(number(domain), text ? text : "");
    cw_inject_unlock();
    return (nvtxStringHandle_t)(uintptr_t)handle;
}

static nvtxStringHandle_t NVTX_API register_string_wide(nvtxDomainHandle_t domain, const wchar_t *text)
{
    char narrowed[LONGEST];
    return register_string(domain, narrow(narrowed, text));
}

/* Makes an event of a name alone. */
static nvtxEventAttributes_t event_of(const char *name)
{
    nvtxEventAttributes_t event = {.messageType = NVTX_MESSAGE_TYPE_ASCII};
    event.message.ascii = name ? name : "";
    return event;
}

static nvtxRangeId_t NVTX_API start_event(const nvtxEventAttributes_t *event)
{
    return domain_start(NULL, event);
}

static nvtxRangeId_t NVTX_API start(const char *name)
{
    const nvtxEventAttributes_t event = event_of(name);
    return domain_start(NULL, &event);
}

static nvtxRangeId_t NVTX_API start_wide(const wchar_t *name)
{
    char narrowed[LONGEST];
    return start(narrow(narrowed, name));
}

static void NVTX_API end(nvtxRangeId_t id)
{
    domain_end(NULL, id);
}

static int NVTX_API push_event(const nvtxEventAttributes_t *event)
{
    return domain_push(NULL, event);
}

static int NVTX_API push(const char *name)
{
    const nvtxEventAttributes_t event = event_of(name);
    return domain_push(NULL, &event);
}

static int NVTX_API push_wide(const wchar_t *name)
{
    char narrowed[LONGEST];
    return push(narrow(narrowed, name));
}

static int NVTX_API pop(void)
{
    return domain_pop(NULL);
}

static void NVTX_API mark_event(const nvtxEventAttributes_t *event)
{
    domain_mark(NULL, event);
}

static void NVTX_API mark(const char *name)
{
    const nvtxEventAttributes_t event = event_of(name);
    domain_mark(NULL, &event);
}

static void NVTX_API mark_wide(const wchar_t *name)
{
    char narrowed[LONGEST];
    mark(narrow(narrowed, name));
}

/* ---- payloads with a schema ------------------------------------------------------------------------------------- */

static uint64_t NVTX_API register_schema(nvtxDomainHandle_t domain, const nvtxPayloadSchemaAttr_t *attributes)
{
    if (!cw_inject_lock())
        return 0;
    const uint64_t id = cw_nvtx_schema_register(number(domain), attributes);
    cw_inject_unlock();
    return id;
}

static uint64_t NVTX_API register_enum(nvtxDomainHandle_t domain, const nvtxPayloadEnumAttr_t *attributes)
{
    if (!cw_inject_lock())
        return 0;
    const uint64_t id = cw_nvtx_enum_register(number(domain), attributes);
    cw_inject_unlock();
    return id;
}

/* Makes an event of payloads alone; `name` has CW_NVTX_LONGEST_NAME bytes. */
static nvtxEventAttributes_t event_of_payloads(char *name, nvtxDomainHandle_t domain, const nvtxPayloadData_t *payloads,
                                               size_t count)
{
    *name = 0;
    if (payloads && cw_inject_lock()) {
        cw_nvtx_payload_name(name, number(domain), payloads, count, text_of);
        cw_inject_unlock();
    }
    nvtxEventAttributes_t event = event_of(name);
    event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
    event.reserved0 = count < INT32_MAX ? (int32_t)count : 0;
    event.payload.ullValue = number(payloads);
    return event;
}

static void NVTX_API mark_payloads(nvtxDomainHandle_t domain, const nvtxPayloadData_t *payloads, size_t count)
{
    char name[CW_NVTX_LONGEST_NAME];
    const nvtxEventAttributes_t event = event_of_payloads(name, domain, payloads, count);
    domain_mark(domain, &event);
}

static int NVTX_API push_payloads(nvtxDomainHandle_t domain, const nvtxPayloadData_t *payloads, size_t count)
{
    char name[CW_NVTX_LONGEST_NAME];
    const nvtxEventAttributes_t event = event_of_payloads(name, domain, payloads, count);
    return domain_push(domain, &event);
}

static int NVTX_API pop_payloads(nvtxDomainHandle_t domain, const nvtxPayloadData_t *payloads, size_t count)
{
    (void)payloads, (void)count;
    return domain_pop(domain);
}

static nvtxRangeId_t NVTX_API start_payloads(nvtxDomainHandle_t domain, const nvtxPayloadData_t *payloads, size_t count)
{
    char name[CW_NVTX_LONGEST_NAME];
    const nvtxEventAttributes_t event = event_of_payloads(name, domain, payloads, count);
    return domain_start(domain, &event);
}

static void NVTX_API end_payloads(nvtxDomainHandle_t domain, nvtxRangeId_t id, const nvtxPayloadData_t *payloads,
                                  size_t count)
{
    (void)payloads, (void)count;
    domain_end(domain, id);
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

static void NVTX_API domain_category(nvtxDomainHandle_t domain, uint32_t category, const char *name)
{
    cw_trace_nvtx_category(number(domain), category, name);
}

static void NVTX_API domain_category_wide(nvtxDomainHandle_t domain, uint32_t category, const wchar_t *name)
{
    char narrowed[LONGEST];
    domain_category(domain, category, narrow(narrowed, name));
}

static void NVTX_API category(uint32_t number, const char *name)
{
    domain_category(NULL, number, name);
}

static void NVTX_API category_wide(uint32_t number, const wchar_t *name)
{
    domain_category_wide(NULL, number, name);
}

static void NVTX_API name_thread(uint32_t thread, const char *name)
{
    cw_trace_nvtx_name("thread", thread, CW_TRACE_UNKNOWN, name);
}

static void NVTX_API name_thread_wide(uint32_t thread, const wchar_t *name)
{
    char narrowed[LONGEST];
    name_thread(thread, narrow(narrowed, name));
}

static void NVTX_API name_device(int device, const char *name)
{
    cw_trace_nvtx_name("device", (uint64_t)device, CW_TRACE_UNKNOWN, name);
}

static void NVTX_API name_device_wide(int device, const wchar_t *name)
{
    char narrowed[LONGEST];
    name_device(device, narrow(narrowed, name));
}

/* Whether CUPTI is in use: after an agent has left, a call would bring it back. */
static bool has_cupti(void)
{
    return !cw_inject->over && cw_inject->api.cuptiGetContextId && cw_inject->api.cuCtxGetCurrent;
}

static void NVTX_API name_context(CUcontext context, const char *name)
{
    const uint64_t id = has_cupti() ? cw_inject_context_id(context) : 0;
    cw_trace_nvtx_name("context", id, id, name);
}

static void NVTX_API name_context_wide(CUcontext context, const wchar_t *name)
{
    char narrowed[LONGEST];
    name_context(context, narrow(narrowed, name));
}

/* Streams of the runtime are streams of the driver. */
static void NVTX_API name_stream(CUstream stream, const char *name)
{
    CUcontext context = NULL;
    if (!has_cupti() || cw_inject->api.cuCtxGetCurrent(&context) != CUDA_SUCCESS)
        return;
    cw_trace_nvtx_name("stream", cw_inject_stream_id(CUPTI_DRIVER_TRACE_CBID_INVALID, context, stream),
                       cw_inject_context_id(context), name);
}

static void NVTX_API name_stream_wide(CUstream stream, const wchar_t *name)
{
    char narrowed[LONGEST];
    name_stream(stream, narrow(narrowed, name));
}

/* An event has its handle: CUPTI gives no number for it. */
static void NVTX_API name_event(CUevent event, const char *name)
{
    cw_trace_nvtx_name("event", number(event), CW_TRACE_UNKNOWN, name);
}

static void NVTX_API name_event_wide(CUevent event, const wchar_t *name)
{
    char narrowed[LONGEST];
    name_event(event, narrow(narrowed, name));
}

/* ---- resources and synchronization ------------------------------------------------------------------------------ */

static nvtxEventAttributes_t event_of_message(int32_t type, nvtxMessageValue_t message)
{
    return (nvtxEventAttributes_t){.messageType = type, .message = message};
}

/* Names what the program registers: an object of CUDA or a thread as the functions for these do, else a resource. */
static nvtxResourceHandle_t NVTX_API create_resource(nvtxDomainHandle_t domain, nvtxResourceAttributes_t *resource)
{
    struct said said;
    if (!resource)
        return NULL;
    const nvtxEventAttributes_t event = event_of_message(resource->messageType, resource->message);
    const char *name = read_names(&said, domain, &event);
    const uint64_t id = resource->identifier.ullValue;
    void *object = (void *)(uintptr_t)id;
    switch ((uint32_t)resource->identifierType) {
    case NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE:
        name_thread((uint32_t)id, name);
        break;
    case NVTX_RESOURCE_TYPE_CUDA_DEVICE:
    case NVTX_RESOURCE_TYPE_CUDART_DEVICE:
        name_device((int)id, name);
        break;
    case NVTX_RESOURCE_TYPE_CUDA_CONTEXT:
        name_context(object, name);
        break;
    case NVTX_RESOURCE_TYPE_CUDA_STREAM:
    case NVTX_RESOURCE_TYPE_CUDART_STREAM:
        name_stream(object, name);
        break;
    case NVTX_RESOURCE_TYPE_CUDA_EVENT:
    case NVTX_RESOURCE_TYPE_CUDART_EVENT:
        name_event(object, name);
        break;
    default:
        cw_trace_nvtx_name("resource", id, CW_TRACE_UNKNOWN, said.full);
        break;
    }
    return (nvtxResourceHandle_t)resource; /* no more than a sign that it was taken */
}

static void NVTX_API destroy_resource(nvtxResourceHandle_t resource)
{
    (void)resource; /* its name stays */
}

/* The handle of an object of synchronization is the one of its name, as a string of the domain. */
static nvtxSyncUser_t NVTX_API create_sync(nvtxDomainHandle_t domain, const nvtxSyncUserAttributes_t *sync)
{
    struct said said;
    nvtxEventAttributes_t event = event_of("");
    if (sync)
        event = event_of_message(sync->messageType, sync->message);
    return (nvtxSyncUser_t)register_string(domain, read_names(&said, domain, &event));
}

static void NVTX_API destroy_sync(nvtxSyncUser_t sync)
{
    (void)sync; /* others of that name may be there */
}

static void mark_sync(nvtxSyncUser_t sync, const char *step)
{
    char domain[LONGEST], name[LONGEST];
    uint64_t of = 0;
    if (!cw_inject_lock())
        return;
    const struct name *n = sync ? find_name(number(sync)) : NULL;
    const bool known = n && n->domain != DOMAINS;
    if (known) {
        of = n->domain;
        snprintf(domain, sizeof domain, "%s", text_of(of));
        snprintf(name, sizeof name, "%s", n->text);
    }
    cw_inject_unlock();
    const struct cw_trace_label label = {
        .domain = domain, .name = name, .color = CW_TRACE_UNKNOWN, .payload = CW_TRACE_NO_PAYLOAD, .step = step};
    if (known)
        cw_trace_nvtx_mark(of, &label);
}

static void NVTX_API sync_start(nvtxSyncUser_t sync)
{
    mark_sync(sync, "acquire");
}

static void NVTX_API sync_failed(nvtxSyncUser_t sync)
{
    mark_sync(sync, "acquire_failed");
}

static void NVTX_API sync_success(nvtxSyncUser_t sync)
{
    mark_sync(sync, "acquired");
}

static void NVTX_API sync_releasing(nvtxSyncUser_t sync)
{
    mark_sync(sync, "release");
}

/* ---- entry ------------------------------------------------------------------------------------------------------ */

struct replacement {
    unsigned id;
    NvtxFunctionPointer function;
};

#define AS(id, function)                                                                                               \
    {                                                                                                                  \
        id, (NvtxFunctionPointer)(function)                                                                            \
    }

static const struct replacement core[] = {
    AS(NVTX_CBID_CORE_RangeStartEx, start_event),
    AS(NVTX_CBID_CORE_RangeStartA, start),
    AS(NVTX_CBID_CORE_RangeStartW, start_wide),
    AS(NVTX_CBID_CORE_RangeEnd, end),
    AS(NVTX_CBID_CORE_RangePushEx, push_event),
    AS(NVTX_CBID_CORE_RangePushA, push),
    AS(NVTX_CBID_CORE_RangePushW, push_wide),
    AS(NVTX_CBID_CORE_RangePop, pop),
    AS(NVTX_CBID_CORE_MarkEx, mark_event),
    AS(NVTX_CBID_CORE_MarkA, mark),
    AS(NVTX_CBID_CORE_MarkW, mark_wide),
    AS(NVTX_CBID_CORE_NameCategoryA, category),
    AS(NVTX_CBID_CORE_NameCategoryW, category_wide),
    AS(NVTX_CBID_CORE_NameOsThreadA, name_thread),
    AS(NVTX_CBID_CORE_NameOsThreadW, name_thread_wide),
};
static const struct replacement domains[] = {
    AS(NVTX_CBID_CORE2_DomainRangeStartEx, domain_start),
    AS(NVTX_CBID_CORE2_DomainRangeEnd, domain_end),
    AS(NVTX_CBID_CORE2_DomainRangePushEx, domain_push),
    AS(NVTX_CBID_CORE2_DomainRangePop, domain_pop),
    AS(NVTX_CBID_CORE2_DomainRegisterStringA, register_string),
    AS(NVTX_CBID_CORE2_DomainRegisterStringW, register_string_wide),
    AS(NVTX_CBID_CORE2_DomainCreateA, domain_create),
    AS(NVTX_CBID_CORE2_DomainCreateW, domain_create_wide),
    AS(NVTX_CBID_CORE2_DomainDestroy, domain_destroy),
    AS(NVTX_CBID_CORE2_DomainMarkEx, domain_mark),
    AS(NVTX_CBID_CORE2_DomainResourceCreate, create_resource),
    AS(NVTX_CBID_CORE2_DomainResourceDestroy, destroy_resource),
    AS(NVTX_CBID_CORE2_DomainNameCategoryA, domain_category),
    AS(NVTX_CBID_CORE2_DomainNameCategoryW, domain_category_wide),
};
static const struct replacement driver[] = {
    AS(NVTX_CBID_CUDA_NameCuDeviceA, name_device),   AS(NVTX_CBID_CUDA_NameCuDeviceW, name_device_wide),
    AS(NVTX_CBID_CUDA_NameCuContextA, name_context), AS(NVTX_CBID_CUDA_NameCuContextW, name_context_wide),
    AS(NVTX_CBID_CUDA_NameCuStreamA, name_stream),   AS(NVTX_CBID_CUDA_NameCuStreamW, name_stream_wide),
    AS(NVTX_CBID_CUDA_NameCuEventA, name_event),     AS(NVTX_CBID_CUDA_NameCuEventW, name_event_wide),
};
static const struct replacement runtime[] = {
    AS(NVTX_CBID_CUDART_NameCudaDeviceA, name_device), AS(NVTX_CBID_CUDART_NameCudaDeviceW, name_device_wide),
    AS(NVTX_CBID_CUDART_NameCudaStreamA, name_stream), AS(NVTX_CBID_CUDART_NameCudaStreamW, name_stream_wide),
    AS(NVTX_CBID_CUDART_NameCudaEventA, name_event),   AS(NVTX_CBID_CUDART_NameCudaEventW, name_event_wide),
};
static const struct replacement synchronization[] = {
    AS(NVTX_CBID_SYNC_DomainSyncUserCreate, create_sync),
    AS(NVTX_CBID_SYNC_DomainSyncUserDestroy, destroy_sync),
    AS(NVTX_CBID_SYNC_DomainSyncUserAcquireStart, sync_start),
    AS(NVTX_CBID_SYNC_DomainSyncUserAcquireFailed, sync_failed),
    AS(NVTX_CBID_SYNC_DomainSyncUserAcquireSuccess, sync_success),
    AS(NVTX_CBID_SYNC_DomainSyncUserReleasing, sync_releasing),
};

static bool replace(const NvtxExportTableCallbacks *callbacks, NvtxCallbackModule module,
                    const struct replacement *replacements, size_t count)
{
    NvtxFunctionTable table = NULL;
    unsigned size = 0;
    if (!callbacks->GetModuleFunctionTable(module, &table, &size) || !table)
        return false;
    for (size_t i = 0; i < count; i++)
        if (replacements[i].id < size && table[replacements[i].id])
            *table[replacements[i].id] = replacements[i].function;
    return true;
}

static const struct replacement payloads[] = {
    AS(NVTX3EXT_CBID_nvtxPayloadSchemaRegister, register_schema),
    AS(NVTX3EXT_CBID_nvtxPayloadEnumRegister, register_enum),
    AS(NVTX3EXT_CBID_nvtxMarkPayload, mark_payloads),
    AS(NVTX3EXT_CBID_nvtxRangePushPayload, push_payloads),
    AS(NVTX3EXT_CBID_nvtxRangePopPayload, pop_payloads),
    AS(NVTX3EXT_CBID_nvtxRangeStartPayload, start_payloads),
    AS(NVTX3EXT_CBID_nvtxRangeEndPayload, end_payloads),
};

/* Called by NVTX at the first use of an extension. Returns 1 for that of payloads, when the functions are in place. */
__attribute__((visibility("default"))) int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t *module);
int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t *module)
{
    if (!module || module->moduleId != NVTX_EXT_PAYLOAD_MODULEID || !module->segmentsCount)
        return 0;
    for (size_t i = 0; i < sizeof payloads / sizeof *payloads; i++)
        if (payloads[i].id < module->segments->slotCount)
            module->segments->functionSlots[payloads[i].id] = (intptr_t)payloads[i].function;
    return 1;
}

/* Called by NVTX at its first use. Returns 1 when the functions are in place. */
__attribute__((visibility("default"))) int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t export_table);
int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t export_table)
{
    const NvtxExportTableCallbacks *callbacks = export_table(NVTX_ETID_CALLBACKS);
    if (!callbacks || callbacks->struct_size < sizeof *callbacks)
        return 0;
    (void)replace(callbacks, NVTX_CB_MODULE_CUDA, driver, sizeof driver / sizeof *driver);
    (void)replace(callbacks, NVTX_CB_MODULE_CUDART, runtime, sizeof runtime / sizeof *runtime);
    (void)replace(callbacks, NVTX_CB_MODULE_SYNC, synchronization, sizeof synchronization / sizeof *synchronization);
    return replace(callbacks, NVTX_CB_MODULE_CORE, core, sizeof core / sizeof *core) &&
           replace(callbacks, NVTX_CB_MODULE_CORE2, domains, sizeof domains / sizeof *domains);
}
