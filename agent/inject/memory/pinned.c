#define _GNU_SOURCE
#include "agent/inject/memory/pinned.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#define self cw_pinned

enum { LINE = 4096 }; /* what is compared at once */

struct cw_pinned_piece {
    struct cw_pinned_piece *next;
    uint8_t *memory;
    size_t size;
    bool registered; /* it is the program's own, and may be unmapped without a word */
};

bool cw_pinned_follows(CUpti_CallbackId id)
{
    switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocHost_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuMemHostAlloc:
    case CUPTI_DRIVER_TRACE_CBID_cuMemHostAlloc_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuMemHostRegister:
    case CUPTI_DRIVER_TRACE_CBID_cuMemHostRegister_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuMemFreeHost:
    case CUPTI_DRIVER_TRACE_CBID_cuMemHostUnregister:
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocManaged:
        return true;
    default:
        return false;
    }
}

static void forget(const void *memory)
{
    struct cw_pinned_piece **at = &self->first;
    while (*at && (*at)->memory != memory)
        at = &(*at)->next;
    struct cw_pinned_piece *found = *at;
    if (!found)
        return;
    *at = found->next;
    self->bytes -= found->size;
    free(found);
}

static void remember(void *memory, size_t size, bool registered)
{
    forget(memory);
    struct cw_pinned_piece *piece = calloc(1, sizeof *piece);
    self->unknown = self->unknown || !piece;
    if (!piece)
        return;
    *piece = (struct cw_pinned_piece){self->first, memory, size, registered};
    self->first = piece;
    self->bytes += size;
}

void cw_pinned_follow(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    const cuMemHostAlloc_params *made = call->functionParams; /* cuMemAllocHost begins alike */
    const cuMemHostRegister_v2_params *registered = call->functionParams;
    const cuMemFreeHost_params *ended = call->functionParams; /* cuMemHostUnregister is alike */
    const bool left = call->callbackSite == CUPTI_API_EXIT;
    if (!cw_pinned_follows(id) || (left && cw_inject_refused(call)))
        return;
    if (id == CUPTI_DRIVER_TRACE_CBID_cuMemFreeHost || id == CUPTI_DRIVER_TRACE_CBID_cuMemHostUnregister) {
        if (!left)
            forget(ended->p);
    } else if (left && id == CUPTI_DRIVER_TRACE_CBID_cuMemAllocManaged) {
        self->managed = true;
    } else if (left && (id == CUPTI_DRIVER_TRACE_CBID_cuMemHostRegister ||
                        id == CUPTI_DRIVER_TRACE_CBID_cuMemHostRegister_v2)) {
        remember(registered->p, registered->bytesize, true);
        self->unknown = self->unknown || (registered->Flags & CU_MEMHOSTREGISTER_IOMEMORY); /* registers of a device */
    } else if (left) {
        remember(*made->pp, made->bytesize, false);
    }
}

void cw_pinned_forget(void)
{
    while (self->first)
        forget(self->first->memory);
    self->managed = self->unknown = false;
}

/* A context that ends takes its memory with it, and nobody says so. */
static bool is_there(const struct cw_pinned_piece *piece)
{
    unsigned type = 0;
    return cw_inject->api.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                                (CUdeviceptr)(uintptr_t)piece->memory) == CUDA_SUCCESS &&
           type == CU_MEMORYTYPE_HOST;
}

static void drop_what_is_gone(void)
{
    for (struct cw_pinned_piece *piece = self->first, *next; piece; piece = next) {
        next = piece->next;
        if (!is_there(piece))
            forget(piece->memory);
    }
}

/* By the kernel, which says where memory is no longer there. False then. */
static bool read_registered(void *to, const struct cw_pinned_piece *piece)
{
    const struct iovec local = {to, piece->size}, remote = {piece->memory, piece->size};
    ssize_t got = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
    if (got < 0 && (errno == EPERM || errno == ENOSYS)) /* as containers have it */
        memcpy(to, piece->memory, got = (ssize_t)piece->size);
    return got == (ssize_t)piece->size;
}

void *cw_pinned_keep(void)
{
    drop_what_is_gone();
    uint8_t *kept = malloc(self->bytes + 1), *to = kept;
    for (struct cw_pinned_piece *piece = self->first, *next; kept && piece; piece = next) {
        next = piece->next;
        bool there = !piece->registered || read_registered(to, piece);
        if (!piece->registered)
            memcpy(to, piece->memory, piece->size);
        to += there ? piece->size : 0;
        if (!there)
            forget(piece->memory);
    }
    return kept;
}

void cw_pinned_put_back(void *kept)
{
    const uint8_t *from = kept;
    for (const struct cw_pinned_piece *piece = self->first; piece; from += piece->size, piece = piece->next)
        for (size_t at = 0; at < piece->size; at += LINE) {
            size_t size = piece->size - at < LINE ? piece->size - at : LINE;
            if (memcmp(piece->memory + at, from + at, size) != 0)
                memcpy(piece->memory + at, from + at, size);
        }
    free(kept);
}
