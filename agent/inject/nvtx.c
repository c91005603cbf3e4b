/* NVTX's ranges. The headers that a program includes load the library that NVTX_INJECTION64_PATH names, which is this
 * one, once for each part of the program that uses them, and let it replace the functions it wants. */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>

#include "agent/inject/driver/inject.h"
#include "agent/inject/nvtx_names.h"
#include "agent/inject/ranges/user_ranges.h"

/* ---- names ------------------------------------------------------------------------------------------------------ */

enum { LONGEST = 1024, FULL_NAME = 2 * LONGEST + 1 };

static void narrow(char *to, const wchar_t *from)
{
    size_t n = 0;
    for (; from && *from && n + 4 < LONGEST; from++) {
        uint32_t c = (uint32_t)*from;
        if (c < 0x80) {
            to[n++] = (char)c;
        } else if (c < 0x800) {
            to[n++] = (char)(0xc0 | c >> 6);
            to[n++] = (char)(0x80 | (c & 0x3f));
        } else if (c < 0x10000) {
            to[n++] = (char)(0xe0 | c >> 12);
            to[n++] = (char)(0x80 | (c >> 6 & 0x3f));
            to[n++] = (char)(0x80 | (c & 0x3f));
        } else {
            to[n++] = (char)(0xf0 | (c >> 18 & 7));
            to[n++] = (char)(0x80 | (c >> 12 & 0x3f));
            to[n++] = (char)(0x80 | (c >> 6 & 0x3f));
            to[n++] = (char)(0x80 | (c & 0x3f));
        }
    }
    to[n] = 0;
}

static uint64_t number(const void *handle)
{
    return (uint64_t)(uintptr_t)handle;
}

/* The name of a handle, in LONGEST bytes. */
static void name_of(char *to, const void *handle)
{
    *to = 0;
    if (!handle || !cw_inject_lock())
        return;
    snprintf(to, LONGEST, "%s", cw_nvtx_text(number(handle)));
    cw_inject_unlock();
}

/* "domain@name", or the name alone in the default domain. */
static void event_name(char *to, nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event)
{
    name_of(to, domain);
    size_t n = strlen(to);
    if (n)
        to[n++] = '@';
    to[n] = 0;
    if (event && event->messageType == NVTX_MESSAGE_TYPE_ASCII && event->message.ascii)
        snprintf(to + n, LONGEST, "%s", event->message.ascii);
    else if (event && event->messageType == NVTX_MESSAGE_TYPE_UNICODE)
        narrow(to + n, event->message.unicode);
    else if (event && event->messageType == NVTX_MESSAGE_TYPE_REGISTERED)
        name_of(to + n, event->message.registered);
}

/* ---- the functions ---------------------------------------------------------------------------------------------- */

static nvtxRangeId_t NVTX_API domain_start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event)
{
    char name[FULL_NAME];
    event_name(name, domain, event);
    return cw_user_range_start(number(domain), name);
}

static void NVTX_API domain_end(nvtxDomainHandle_t domain, nvtxRangeId_t id)
{
    (void)domain;
    cw_user_range_end(id);
}

static int NVTX_API domain_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event)
{
    char name[FULL_NAME];
    event_name(name, domain, event);
    return cw_user_range_push(number(domain), name);
}

static int NVTX_API domain_pop(nvtxDomainHandle_t domain)
{
    return cw_user_range_pop(number(domain));
}

static nvtxDomainHandle_t NVTX_API domain_create(const char *name)
{
    if (!cw_inject_lock())
        return NULL;
    uint64_t handle = cw_nvtx_domain(name ? name : "");
    cw_inject_unlock();
    return (nvtxDomainHandle_t)(uintptr_t)handle;
}

static nvtxDomainHandle_t NVTX_API domain_create_wide(const wchar_t *name)
{
    char narrowed[LONGEST];
    narrow(narrowed, name);
    return domain_create(narrowed);
}

static void NVTX_API domain_destroy(nvtxDomainHandle_t domain)
{
    if (!cw_inject_lock())
        return;
    cw_nvtx_destroy(number(domain));
    cw_inject_unlock();
}

static nvtxStringHandle_t NVTX_API register_string(nvtxDomainHandle_t domain, const char *text)
{
    if (!cw_inject_lock())
        return NULL;
    uint64_t handle = cw_nvtx_string(number(domain), text ? text : "");
    cw_inject_unlock();
    return (nvtxStringHandle_t)(uintptr_t)handle;
}

static nvtxStringHandle_t NVTX_API register_string_wide(nvtxDomainHandle_t domain, const wchar_t *text)
{
    char narrowed[LONGEST];
    narrow(narrowed, text);
    return register_string(domain, narrowed);
}

static nvtxRangeId_t NVTX_API start_event(const nvtxEventAttributes_t *event)
{
    return domain_start(NULL, event);
}

static nvtxRangeId_t NVTX_API start(const char *name)
{
    return cw_user_range_start(0, name ? name : "");
}

static nvtxRangeId_t NVTX_API start_wide(const wchar_t *name)
{
    char text[LONGEST];
    narrow(text, name);
    return start(text);
}

static void NVTX_API end(nvtxRangeId_t id)
{
    cw_user_range_end(id);
}

static int NVTX_API push_event(const nvtxEventAttributes_t *event)
{
    return domain_push(NULL, event);
}

static int NVTX_API push(const char *name)
{
    return cw_user_range_push(0, name ? name : "");
}

static int NVTX_API push_wide(const wchar_t *name)
{
    char text[LONGEST];
    narrow(text, name);
    return push(text);
}

static int NVTX_API pop(void)
{
    return cw_user_range_pop(0);
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
    AS(NVTX_CBID_CORE_RangeStartEx, start_event), AS(NVTX_CBID_CORE_RangeStartA, start),
    AS(NVTX_CBID_CORE_RangeStartW, start_wide),   AS(NVTX_CBID_CORE_RangeEnd, end),
    AS(NVTX_CBID_CORE_RangePushEx, push_event),   AS(NVTX_CBID_CORE_RangePushA, push),
    AS(NVTX_CBID_CORE_RangePushW, push_wide),     AS(NVTX_CBID_CORE_RangePop, pop),
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

/* Called by NVTX at its first use. 1 means that the functions are in place. */
__attribute__((visibility("default"))) int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t export_table);
int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t export_table)
{
    const NvtxExportTableCallbacks *callbacks = export_table(NVTX_ETID_CALLBACKS);
    if (!callbacks || callbacks->struct_size < sizeof *callbacks)
        return 0;
    return replace(callbacks, NVTX_CB_MODULE_CORE, core, sizeof core / sizeof *core) &&
           replace(callbacks, NVTX_CB_MODULE_CORE2, domains, sizeof domains / sizeof *domains);
}
