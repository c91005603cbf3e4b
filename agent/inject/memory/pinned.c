#define _GNU_SOURCE
#include "agent/inject/memory/pinned.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#define self cw_pinned

enum { LINE = 4096 }; /* unit of comparison */

struct cw_pinned_piece {
    struct cw_pinned_piece *next;
    uint64_t number; /* unique for ever */
    uint8_t *memory;
    size_t size;
    uint64_t devices; /* a bit for each device, the last one for all others, whose work uses it */
    bool registered;  /* the program's own memory, registered; it may be unmapped without a call to CUDA */
};

struct cw_pinned_copy { /* copy of a piece; the newest comes first */
    struct cw_pinned_copy *next;
    uint64_t number;
    uint8_t *memory;
    size_t size;
    bool there;      /* the piece existed at the last look */
    uint8_t *now;    /* content at the last look; this memory is not touched before */
    bool *unsure;    /* by line: another copy made at the same time may have other content */
    uint8_t bytes[]; /* first content */
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
    *piece = (struct cw_pinned_piece){self->first, ++self->count, memory, size, 0, registered};
    self->first = piece;
    self->bytes += size;
}

void cw_pinned_follow(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    const cuMemHostAlloc_params *made = call->functionParams; /* cuMemAllocHost begins with the same parameters */
    const cuMemHostRegister_v2_params *registered = call->functionParams;
    const cuMemFreeHost_params *ended = call->functionParams; /* so does cuMemHostUnregister */
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

/* The piece that holds an address, or NULL. */
static struct cw_pinned_piece *piece_at(uint64_t address)
{
    struct cw_pinned_piece *piece = self->first;
    while (piece && address - (uintptr_t)piece->memory >= piece->size)
        piece = piece->next;
    return piece;
}

bool cw_pinned_find(const void *memory, uint64_t count, size_t *size)
{
    const struct cw_pinned_piece *piece = piece_at((uintptr_t)memory);
    if (!piece || piece->memory != memory || piece->registered || piece->number <= count)
        return false;
    *size = piece->size;
    return true;
}

static uint64_t bit_of(uint32_t device)
{
    return UINT64_C(1) << (device < 63 ? device : 63);
}

bool cw_pinned_use(uint64_t address, uint32_t device)
{
    struct cw_pinned_piece *piece = piece_at(address);
    if (piece)
        piece->devices |= bit_of(device);
    return !piece || piece->devices != bit_of(device);
}

bool cw_pinned_use_all(uint32_t device)
{
    bool several = false;
    for (struct cw_pinned_piece *piece = self->first; piece; piece = piece->next) {
        piece->devices |= bit_of(device);
        several = several || piece->devices != bit_of(device);
    }
    return several;
}

bool cw_pinned_holds(uint64_t address, uint64_t *start, size_t *size)
{
    const struct cw_pinned_piece *piece = piece_at(address);
    if (!piece)
        return false;
    *start = (uintptr_t)piece->memory;
    *size = piece->size;
    return true;
}

void cw_pinned_forget(void)
{
    while (self->first)
        forget(self->first->memory);
    self->managed = self->unknown = false;
}

/* Whether a piece still exists: a destroyed context frees its memory without a call. */
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

/* Reads registered memory through the kernel, which reports unmapped memory. Returns false for that. */
static bool read_registered(void *to, const struct cw_pinned_piece *piece)
{
    const struct iovec local = {to, piece->size}, remote = {piece->memory, piece->size};
    ssize_t got = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
    if (got < 0 && (errno == EPERM || errno == ENOSYS)) /* as in containers */
        memcpy(to, piece->memory, got = (ssize_t)piece->size);
    return got == (ssize_t)piece->size;
}

static size_t lines_of(size_t size)
{
    return (size + LINE - 1) / LINE;
}

/* Reads a piece. Returns false, and marks the piece, if it is gone. */
static bool read_piece(void *to, struct cw_pinned_piece *piece)
{
    if (!piece->registered)
        memcpy(to, piece->memory, piece->size);
    else if (!read_registered(to, piece)) {
        forget(piece->memory);
        return false;
    }
    return true;
}

static bool copy_piece(struct cw_pinned_copy **to, struct cw_pinned_piece *piece)
{
    const size_t lines = lines_of(piece->size);
    struct cw_pinned_copy *copy = malloc(sizeof *copy + 2 * piece->size + lines);
    if (!copy)
        return false;
    *copy = (struct cw_pinned_copy){.number = piece->number,
                                    .memory = piece->memory,
                                    .size = piece->size,
                                    .now = copy->bytes + piece->size,
                                    .unsure = (bool *)copy->bytes + 2 * piece->size};
    memset(copy->unsure, 0, lines);
    if (read_piece(copy->bytes, piece))
        *to = copy;
    else
        free(copy);
    return true;
}

bool cw_pinned_keep(struct cw_pinned_copy **copy)
{
    struct cw_pinned_copy **last = copy;
    bool good = true;
    *copy = NULL;
    drop_what_is_gone();
    for (struct cw_pinned_piece *piece = self->first, *next; piece && good; piece = next) {
        next = piece->next;
        good = copy_piece(last, piece);
        last = *last ? &(*last)->next : last;
    }
    if (!good)
        cw_pinned_free(*copy);
    return good;
}

/* Touches the memory of the copies in advance: the system provides memory page by page, which takes longer than the
 * copying. */
static void find_memory(struct cw_pinned_copy *copy)
{
    for (; copy; copy = copy->next)
        for (size_t at = 0; at < copy->size; at += LINE)
            ((volatile uint8_t *)copy->now)[at] = 0;
}

void cw_pinned_look(struct cw_pinned_copy *copy)
{
    drop_what_is_gone();
    find_memory(copy);
    for (struct cw_pinned_piece *piece = self->first, *next; copy; copy = copy->next) {
        while (piece && piece->number > copy->number) /* newer than the copies */
            piece = piece->next;
        const bool known = piece && piece->number == copy->number;
        next = known ? piece->next : piece;
        copy->there = known && read_piece(copy->now, piece);
        piece = next;
    }
}

void cw_pinned_free(struct cw_pinned_copy *copy)
{
    for (struct cw_pinned_copy *next; copy; copy = next) {
        next = copy->next;
        free(copy);
    }
}

static size_t line_size(const struct cw_pinned_copy *copy, size_t line)
{
    const size_t left = copy->size - line * LINE;
    return left < LINE ? left : LINE;
}

void cw_pinned_check(struct cw_pinned_copy *copy)
{
    for (; copy; copy = copy->next)
        for (size_t line = 0, lines = lines_of(copy->size); line < lines; line++)
            copy->unsure[line] =
                memcmp(copy->memory + line * LINE, copy->bytes + line * LINE, line_size(copy, line)) != 0;
}

/* Restores the parts of a line that still have the saved content. The program may write at any time, so it exchanges
 * whole words, each in one operation. */
static void put_back_line(uint8_t *memory, const uint8_t *saved, const uint8_t *now, size_t size)
{
    for (size_t at = 0, step; at < size; at += step) {
        step = (uintptr_t)(memory + at) % sizeof(uint32_t) || size - at < sizeof(uint32_t) ? 1 : sizeof(uint32_t);
        uint32_t was, is;
        uint8_t one = saved[at];
        if (memcmp(saved + at, now + at, step) == 0)
            continue;
        if (step == 1) {
            atomic_compare_exchange_strong((_Atomic uint8_t *)(memory + at), &one, now[at]);
            continue;
        }
        memcpy(&was, saved + at, sizeof was);
        memcpy(&is, now + at, sizeof is);
        atomic_compare_exchange_strong((_Atomic uint32_t *)(void *)(memory + at), &was, is);
    }
}

static void put_back_piece(const struct cw_pinned_copy *copy)
{
    for (size_t line = 0, lines = lines_of(copy->size); line < lines; line++) {
        const size_t at = line * LINE, size = line_size(copy, line);
        if (!copy->unsure[line])
            put_back_line(copy->memory + at, copy->bytes + at, copy->now + at, size);
        else if (memcmp(copy->memory + at, copy->now + at, size) != 0)
            memcpy(copy->memory + at, copy->now + at, size);
    }
}

void cw_pinned_put_back(const struct cw_pinned_copy *copy)
{
    for (; copy; copy = copy->next)
        if (copy->there)
            put_back_piece(copy);
}
