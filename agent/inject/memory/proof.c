#include "agent/inject/memory/proof.h"

#include <stdlib.h>

#include "agent/inject/driver/reach.h"

static uint64_t next CW_STATE; /* byte of that memory at which the next proof begins */

struct pieces {
    struct cw_region *items;
    size_t count;
    uint64_t bytes;
};

/* Whether memory can be read without risk. Memory mapped by a handle stays while it is mapped. Memory that a process
 * has exported by the older IPC may vanish while others have it open, and reading it then would end the program. */
static bool is_readable(const struct cw_reach_range *r)
{
    const struct cw_cupti *api = &cw_inject->api;
    unsigned type = 0;
    int device = -1;
    CUdevice own;
    unsigned long long access = 0;
    if (api->cuCtxGetDevice(&own) != CUDA_SUCCESS ||
        api->cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, r->begin) != CUDA_SUCCESS ||
        type != CU_MEMORYTYPE_DEVICE)
        return false;
    const CUmemLocation location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = own};
    if (r->handle)
        return api->cuMemGetAccess && api->cuMemGetAccess(&access, &location, r->begin) == CUDA_SUCCESS && access;
    return r->kind == CW_REACH_SHARED &&
           api->cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, r->begin) == CUDA_SUCCESS &&
           device == (int)own;
}

/* Lists all memory that others reach and that can be read; free `items`. False when out of memory. */
static bool list(struct pieces *all)
{
    size_t most = 0;
    for (const struct cw_reach_range *r = cw_reach_next(NULL); r; r = cw_reach_next(r))
        most++;
    *all = (struct pieces){.items = calloc(most + 1, sizeof *all->items)};
    for (const struct cw_reach_range *r = cw_reach_next(NULL); r && all->items; r = cw_reach_next(r)) {
        const uint64_t begin = (r->begin + 7) & ~UINT64_C(7);
        if (begin >= r->end || !is_readable(r))
            continue;
        all->items[all->count++] = (struct cw_region){.at = begin, .size = r->end - begin};
        all->bytes += r->end - begin;
    }
    return all->items;
}

/* Keeps at most CW_PROOF_MOST bytes of the list, from byte `from` on. */
static void cut(struct pieces *all, uint64_t from)
{
    size_t kept = 0;
    uint64_t at = 0, left = CW_PROOF_MOST;
    for (size_t i = 0; i < all->count && left >= 8; i++) {
        struct cw_region piece = all->items[i];
        const uint64_t skipped = from > at ? from - at : 0;
        at += piece.size;
        if (skipped >= piece.size)
            continue;
        piece.at += skipped;
        piece.size = piece.size - skipped < left ? piece.size - skipped : left;
        left -= piece.size;
        all->items[kept++] = piece;
    }
    all->count = kept;
}

static bool hash(CUcontext context, uint64_t from, struct pieces *all, uint64_t *sum)
{
    cut(all, from);
    return cw_memory_hash(context, all->items, all->count, sum);
}

bool cw_proof_begin(struct cw_proof *p, CUcontext context)
{
    struct pieces all = {0};
    *p = (struct cw_proof){0};
    if (!cw_reach_next(NULL) || cw_reach_is_written())
        return true;
    bool good = list(&all);
    p->needed = good && all.count;
    p->from = all.bytes > CW_PROOF_MOST ? next % all.bytes & ~UINT64_C(7) : 0;
    next = p->from + CW_PROOF_MOST;
    good = good && (!p->needed || hash(context, p->from, &all, &p->hash));
    free(all.items);
    return good;
}

bool cw_proof_holds(const struct cw_proof *p, CUcontext context)
{
    struct pieces all = {0};
    uint64_t now = 0;
    if (!p->needed)
        return true;
    const bool same = list(&all) && hash(context, p->from, &all, &now) && now == p->hash;
    free(all.items);
    return same;
}
