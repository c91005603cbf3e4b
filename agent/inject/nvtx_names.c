#define _GNU_SOURCE
#include "agent/inject/nvtx_names.h"

#include <search.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agent/inject/driver/say.h"

struct name {
    uint64_t handle, domain; /* domain: DOMAINS, or the string's */
    const char *text;        /* behind the structure */
    uint64_t uses;           /* of a domain: how often it was made */
    struct name *strings;    /* of a domain */
    struct name *next;       /* of the same domain */
};

enum { A_NAME = sizeof(struct name) + 2 * 32 }; /* what it takes beside its text, with its places in the trees */
static const uint64_t DOMAINS = UINT64_MAX;

static void *by_text, *by_handle; /* trees of all names */
static struct name none;          /* the default domain */
static uint64_t last;
static size_t bytes;

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

static struct name *find(uint64_t handle)
{
    struct name **found = tfind(&(struct name){.handle = handle}, &by_handle, compare_handle);
    return found ? *found : NULL;
}

static void forget(struct name *n)
{
    bytes -= A_NAME + strlen(n->text);
    tdelete(n, &by_text, compare_text);
    tdelete(n, &by_handle, compare_handle);
    free(n);
}

static bool has_room(size_t size)
{
    static bool said;
    if (size <= CW_NVTX_MOST_BYTES - bytes)
        return true;
    if (!said)
        cw_say("found more than %d MiB of names registered with NVTX; those beyond are not known",
               CW_NVTX_MOST_BYTES >> 20);
    said = true;
    return false;
}

static struct name *add(uint64_t domain, const char *text)
{
    size_t length = strlen(text);
    struct name *n = has_room(A_NAME + length) ? malloc(sizeof *n + length + 1) : NULL;
    if (!n)
        return NULL;
    *n = (struct name){.handle = ++last, .domain = domain, .text = memcpy(n + 1, text, length + 1)};
    bytes += A_NAME + length;
    if (tsearch(n, &by_text, compare_text) && tsearch(n, &by_handle, compare_handle))
        return n;
    forget(n);
    return NULL;
}

static struct name *find_text(uint64_t domain, const char *text)
{
    struct name **found = tfind(&(struct name){.domain = domain, .text = text}, &by_text, compare_text);
    return found ? *found : NULL;
}

uint64_t cw_nvtx_domain(const char *text)
{
    struct name *n = find_text(DOMAINS, text);
    n = n ? n : add(DOMAINS, text);
    if (!n)
        return 0;
    n->uses++;
    return n->handle;
}

static struct name *find_domain(uint64_t handle)
{
    struct name *n = find(handle);
    return n && n->domain == DOMAINS ? n : NULL;
}

void cw_nvtx_destroy(uint64_t handle)
{
    struct name *domain = find_domain(handle);
    if (!domain || --domain->uses)
        return;
    for (struct name *n = domain->strings, *next; n; n = next) {
        next = n->next;
        forget(n);
    }
    forget(domain);
}

uint64_t cw_nvtx_string(uint64_t handle, const char *text)
{
    struct name *domain = handle ? find_domain(handle) : &none, *n = domain ? find_text(handle, text) : NULL;
    if (n || !domain)
        return n ? n->handle : 0;
    n = add(handle, text);
    if (!n)
        return 0;
    n->next = domain->strings;
    domain->strings = n;
    return n->handle;
}

const char *cw_nvtx_text(uint64_t handle)
{
    const struct name *n = find(handle);
    return n ? n->text : "";
}
