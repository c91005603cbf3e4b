#define _GNU_SOURCE
#include "agent/inject/nvtx_names.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "agent/inject/driver/say.h"

enum {
    A_NAME = sizeof(struct cw_nvtx_name) + 2 * 32
}; /* what it takes beside its text, with its places in the trees */
static const uint64_t DOMAINS = UINT64_MAX;

#define self cw_nvtx_names

static int compare_text(const void *a, const void *b)
{
    const struct cw_nvtx_name *x = a, *y = b;
    if (x->domain != y->domain)
        return x->domain < y->domain ? -1 : 1;
    return strcmp(x->text, y->text);
}

static int compare_handle(const void *a, const void *b)
{
    const struct cw_nvtx_name *x = a, *y = b;
    return (x->handle > y->handle) - (x->handle < y->handle);
}

static struct cw_nvtx_name *find(uint64_t handle)
{
    struct cw_nvtx_name **found = tfind(&(struct cw_nvtx_name){.handle = handle}, &self->by_handle, compare_handle);
    return found ? *found : NULL;
}

static void forget(struct cw_nvtx_name *n)
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
        cw_say("found more than %d MiB of names registered with NVTX; those beyond are not known",
               CW_NVTX_MOST_BYTES >> 20);
    self->said = true;
    return false;
}

static struct cw_nvtx_name *add(uint64_t domain, const char *text)
{
    size_t length = strlen(text);
    struct cw_nvtx_name *n = has_room(A_NAME + length) ? malloc(sizeof *n + length + 1) : NULL;
    if (!n)
        return NULL;
    *n = (struct cw_nvtx_name){.handle = ++self->last, .domain = domain, .text = memcpy(n + 1, text, length + 1)};
    self->bytes += A_NAME + length;
    if (tsearch(n, &self->by_text, compare_text) && tsearch(n, &self->by_handle, compare_handle))
        return n;
    forget(n);
    return NULL;
}

static struct cw_nvtx_name *find_text(uint64_t domain, const char *text)
{
    struct cw_nvtx_name **found =
        tfind(&(struct cw_nvtx_name){.domain = domain, .text = text}, &self->by_text, compare_text);
    return found ? *found : NULL;
}

uint64_t cw_nvtx_domain(const char *text)
{
    struct cw_nvtx_name *n = find_text(DOMAINS, text);
    n = n ? n : add(DOMAINS, text);
    if (!n)
        return 0;
    n->uses++;
    return n->handle;
}

static struct cw_nvtx_name *find_domain(uint64_t handle)
{
    struct cw_nvtx_name *n = find(handle);
    return n && n->domain == DOMAINS ? n : NULL;
}

void cw_nvtx_destroy(uint64_t handle)
{
    struct cw_nvtx_name *domain = find_domain(handle);
    if (!domain || --domain->uses)
        return;
    for (struct cw_nvtx_name *n = domain->strings, *next; n; n = next) {
        next = n->next;
        forget(n);
    }
    forget(domain);
}

uint64_t cw_nvtx_string(uint64_t handle, const char *text)
{
    struct cw_nvtx_name *domain = handle ? find_domain(handle) : &self->none,
                        *n = domain ? find_text(handle, text) : NULL;
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
    const struct cw_nvtx_name *n = find(handle);
    return n ? n->text : "";
}
