#include "agent/inject/memory/mirror.h"

#include <stdlib.h>

#include "agent/inject/driver/reach.h"
#include "agent/inject/memory/regions.h"
#include "base/search.h"

static struct cw_mirror *mirrors[CW_MOST_CONTEXTS] CW_STATE;

/* The code of mirror.cu as text, which every driver translates for its GPU (0.1 s once a context). */
__asm__(".pushsection .rodata\n"
        "cw_mirror_code:\n"
        ".incbin \"" CW_MIRROR_CODE "\"\n"
        ".byte 0\n"
        ".hidden cw_mirror_code\n"
        ".popsection\n");
extern __attribute__((visibility("hidden"))) const char cw_mirror_code[];

/* On an H100 chunks of 64 KB to 2 MB are hashed at the same speed, 32 GB in 11 ms; smaller ones copy less. */
enum { CHUNK = 1 << 16, THREADS = 256, FIRST = 1 << 10 };
enum { FEW = 1 << 10 }; /* chunks whose copies go to the host before it is known that they change */
static const uint32_t zero_bit = UINT32_C(1) << 31;
static const size_t most_on_device = (size_t)1 << 30, most_on_host = (size_t)256 << 20, granule = (size_t)2 << 20;

/* In a chunk's `changed`, beside the number of the save after which work last changed it (0: none): work changed it
 * after several saves, or while it lacked a slot, so it needs one. Work that fills memory changes it once. */
static const uint32_t written = UINT32_C(1) << 31;

struct chunk {            /* as in mirror.cu */
    CUdeviceptr at, slot; /* slot: 0 without a copy */
    uint32_t size, changed;
};

struct hash {
    uint64_t low, high;
};

struct span { /* chunks of a region, which stand together */
    struct cw_region region;
    uint32_t first, count;
};

struct slab { /* memory for slots */
    struct slab *next;
    CUdeviceptr at;
    size_t size;
    bool on_host;
};

struct cw_mirror {
    CUcontext context;
    CUmodule code;
    CUfunction check, move;
    uint64_t changes; /* of the regions, when the chunks were made */
    bool made, broken, live;
    struct span *spans; /* by address */
    uint32_t span_count;
    uint32_t count, room; /* chunks, and room for them */
    struct chunk *chunks; /* also of regions that are gone: without a size */
    uint32_t *list;       /* chunks that a kernel listed, with zero_bit for zeros; their number first */
    CUdeviceptr on_chunks, hashes, on_list; /* the same on the device; of `list` also what a kernel is to move */
    CUdeviceptr zeros;                      /* the slot of all chunks of zeros */
    struct slab *slabs;
    CUdeviceptr *unused; /* slots; with room for all that there are */
    size_t unused_count, slots, on_host;
    uint32_t dirty_from, dirty_to; /* chunks whose slots the device does not know */
    uint32_t lacking;              /* chunks without a slot */
    uint32_t saves;                /* so far */
    uint32_t stealing;             /* chunks from here on have been asked for their slots */
    bool looked;                   /* both lists have the chunks that the last look found */
};

/* ---- calls of the driver ---------------------------------------------------------------------------------------- */

static CUresult failure CW_STATE; /* the last one */

static bool ok(CUresult result)
{
    if (result != CUDA_SUCCESS)
        failure = result;
    return result == CUDA_SUCCESS;
}

CUresult cw_mirror_failure(void)
{
    return failure;
}

static bool upload(CUdeviceptr to, const void *from, size_t size)
{
    return !size || ok(cw_inject->api.cuMemcpyHtoDAsync_v2(to, from, size, NULL));
}

static bool download(void *to, CUdeviceptr from, size_t size)
{
    return !size ||
           (ok(cw_inject->api.cuMemcpyDtoHAsync_v2(to, from, size, NULL)) && ok(cw_inject->api.cuCtxSynchronize()));
}

static bool run(CUfunction kernel, uint32_t blocks, void **parameters)
{
    const CUlaunchConfig config = {
        .gridDimX = blocks, .gridDimY = 1, .gridDimZ = 1, .blockDimX = THREADS, .blockDimY = 1, .blockDimZ = 1};
    return !blocks || ok(cw_inject->api.cuLaunchKernelEx(&config, kernel, parameters, NULL));
}

static void free_device(CUdeviceptr *memory)
{
    if (*memory)
        cw_regions_release(*memory);
    *memory = 0;
}

bool cw_mirrors_work(void)
{
    const struct cw_cupti *api = &cw_inject->api;
    return api->cuLaunchKernelEx && api->cuModuleLoadData && api->cuModuleGetFunction && api->cuMemHostAlloc &&
           api->cuMemFreeHost && api->cuMemcpyDtoHAsync_v2;
}

static bool load_code(struct cw_mirror *m)
{
    const struct cw_cupti *api = &cw_inject->api;
    return m->code || (ok(api->cuModuleLoadData(&m->code, cw_mirror_code)) &&
                       ok(api->cuModuleGetFunction(&m->check, m->code, "check")) &&
                       ok(api->cuModuleGetFunction(&m->move, m->code, "move")) &&
                       ok(cw_regions_allocate(&m->zeros, CHUNK)) && ok(api->cuMemsetD8Async(m->zeros, 0, CHUNK, NULL)));
}

/* ---- chunks ----------------------------------------------------------------------------------------------------- */

/* A slot of its own, which the chunks of zeros do not have. */
static bool has_own_slot(const struct cw_mirror *m, const struct chunk *c)
{
    return c->slot && c->slot != m->zeros;
}

static void set_slot(struct cw_mirror *m, struct chunk *c, CUdeviceptr slot)
{
    const uint32_t index = (uint32_t)(c - m->chunks);
    c->slot = slot;
    m->dirty_from = index < m->dirty_from ? index : m->dirty_from;
    m->dirty_to = index < m->dirty_to ? m->dirty_to : index + 1;
}

static bool upload_slots(struct cw_mirror *m)
{
    const uint32_t from = m->dirty_from, to = m->dirty_to;
    m->dirty_from = UINT32_MAX;
    m->dirty_to = 0;
    return from >= to ||
           upload(m->on_chunks + from * sizeof *m->chunks, m->chunks + from, (to - from) * sizeof *m->chunks);
}

static void give_up_slot(struct cw_mirror *m, struct chunk *c)
{
    if (has_own_slot(m, c))
        m->unused[m->unused_count++] = c->slot;
    c->slot = 0;
}

static uint32_t chunks_of(const struct cw_region *region)
{
    return (uint32_t)((region->size + CHUNK - 1) / CHUNK);
}

/* Lists the regions of this context. False if its kernels may write memory of another context, or out of memory. */
static bool list_spans(const struct cw_mirror *m, struct span **spans, uint32_t *count)
{
    uint64_t chunks = 0;
    *count = 0;
    *spans = calloc(cw_regions->count + 1u, sizeof **spans);
    bool good = *spans;
    for (uint32_t i = 0; i < cw_regions->count && good; i++) {
        const struct cw_region *r = &cw_regions->items[i];
        const enum cw_region_owner owner = cw_region_owner(r, m->context);
        if (owner == CW_REGION_OWN)
            (*spans)[(*count)++] = (struct span){.region = *r, .first = UINT32_MAX, .count = chunks_of(r)};
        chunks += r->size / CHUNK + 1;
        good = owner != CW_REGION_NEIGHBOUR && chunks < INT32_MAX / 2;
    }
    if (!good)
        free(*spans);
    return good;
}

/* The chunks of a region that is gone have no size, and nothing is copied for them. */
static void retire(struct cw_mirror *m, const struct span *span)
{
    for (uint32_t i = span->first; i < span->first + span->count; i++) {
        give_up_slot(m, &m->chunks[i]);
        m->chunks[i] = (struct chunk){0};
        set_slot(m, &m->chunks[i], m->zeros);
    }
}

/* Finds the chunks of regions that were there before, and retires the chunks of others. */
static void match_spans(struct cw_mirror *m, struct span *spans, uint32_t count)
{
    uint32_t to = 0;
    for (uint32_t from = 0; from < m->span_count; from++) {
        const struct span *old = &m->spans[from];
        while (to < count && spans[to].region.at < old->region.at)
            to++;
        if (to < count && spans[to].region.at == old->region.at && spans[to].region.size == old->region.size)
            spans[to].first = old->first;
        else
            retire(m, old);
    }
}

static void fill_span(struct chunk *to, const struct cw_region *r)
{
    for (size_t at = 0; at < r->size; at += CHUNK)
        *to++ = (struct chunk){.at = r->at + at, .size = (uint32_t)(r->size - at < CHUNK ? r->size - at : CHUNK)};
}

/* Adds the chunks of new regions behind all others. Their hashes are 0, which no content has. */
static bool append_spans(struct cw_mirror *m, struct span *spans, uint32_t count)
{
    const uint32_t before = m->count;
    for (uint32_t i = 0; i < count; i++)
        if (spans[i].first == UINT32_MAX) {
            spans[i].first = m->count;
            fill_span(m->chunks + m->count, &spans[i].region);
            m->count += spans[i].count;
        }
    const size_t added = m->count - before;
    return !added || (ok(cw_inject->api.cuMemsetD8Async(m->hashes + before * sizeof(struct hash), 0,
                                                        added * sizeof(struct hash), NULL)) &&
                      upload(m->on_chunks + before * sizeof *m->chunks, m->chunks + before, added * sizeof *m->chunks));
}

/* Makes room on the device for this many chunks. */
static bool make_tables(struct cw_mirror *m, size_t room)
{
    free_device(&m->on_chunks);
    free_device(&m->hashes);
    free_device(&m->on_list);
    return ok(cw_regions_allocate(&m->on_chunks, room * sizeof *m->chunks)) &&
           ok(cw_regions_allocate(&m->hashes, room * sizeof(struct hash))) &&
           ok(cw_regions_allocate(&m->on_list, (room + 1) * sizeof *m->list));
}

/* Moves the chunks of regions that were there before together, with their hashes, to new lists. */
static void pack(struct cw_mirror *m, struct span *spans, uint32_t count, struct chunk *chunks, struct hash *hashes,
                 const struct hash *old)
{
    m->count = 0;
    for (uint32_t i = 0; i < count; i++)
        if (spans[i].first != UINT32_MAX) {
            memcpy(chunks + m->count, m->chunks + spans[i].first, spans[i].count * sizeof *chunks);
            memcpy(hashes + m->count, old + spans[i].first, spans[i].count * sizeof *hashes);
            spans[i].first = m->count;
            m->count += spans[i].count;
        }
    free(m->chunks);
    m->chunks = chunks;
}

/* Makes room for this many chunks and some more, and leaves out chunks without size. */
static bool grow(struct cw_mirror *m, struct span *spans, uint32_t count, size_t needed)
{
    const size_t room = needed + needed / 2 + FIRST;
    struct chunk *chunks = malloc(room * sizeof *chunks);
    struct hash *hashes = malloc(room * sizeof *hashes), *old = malloc((m->count + 1) * sizeof *old);
    uint32_t *list = realloc(m->list, (room + 1) * sizeof *list);
    bool good = chunks && hashes && old && list && download(old, m->hashes, m->count * sizeof *old);
    m->list = list ? list : m->list;
    if (good) {
        pack(m, spans, count, chunks, hashes, old);
        m->room = (uint32_t)room;
        m->dirty_from = UINT32_MAX;
        m->dirty_to = 0;
        good = make_tables(m, room) && upload(m->hashes, hashes, m->count * sizeof *hashes) &&
               upload(m->on_chunks, m->chunks, m->count * sizeof *m->chunks) && ok(cw_inject->api.cuCtxSynchronize());
    } else
        free(chunks);
    free(hashes);
    free(old);
    return good;
}

/* Makes the chunks of the regions as they are now. */
static bool make_chunks(struct cw_mirror *m)
{
    struct span *spans;
    uint32_t count, used = 0, added = 0;
    if (!list_spans(m, &spans, &count))
        return false;
    match_spans(m, spans, count);
    for (uint32_t i = 0; i < count; i++) {
        used += spans[i].count;
        added += spans[i].first == UINT32_MAX ? spans[i].count : 0;
    }
    const bool fits = m->room && m->count + added <= m->room && m->count + added - used <= used / 2 + FIRST;
    m->made = (fits ? upload_slots(m) : grow(m, spans, count, used)) && append_spans(m, spans, count);
    free(m->spans);
    m->spans = spans;
    m->span_count = count;
    m->changes = cw_regions->changes + cw_reach->changes;
    return m->made;
}

/* ---- slots ------------------------------------------------------------------------------------------------------ */

/* Slots are taken from the end, so that neighbours get neighbours. */
static void add_slots(struct cw_mirror *m, const struct slab *slab)
{
    for (size_t at = slab->size; at >= CHUNK; at -= CHUNK)
        m->unused[m->unused_count++] = slab->at + at - CHUNK;
    m->slots += slab->size / CHUNK;
    m->on_host += slab->on_host ? slab->size : 0;
}

/* Adds slots of `size` bytes in all. False if there is no such memory. */
static bool add_slab(struct cw_mirror *m, size_t size, bool on_host)
{
    struct slab *slab = calloc(1, sizeof *slab);
    CUdeviceptr *unused = slab ? realloc(m->unused, (m->slots + size / CHUNK) * sizeof *unused) : NULL;
    m->unused = unused ? unused : m->unused;
    void *memory = NULL;
    if (!unused ||
        !(on_host ? ok(cw_inject->api.cuMemHostAlloc(&memory, size, 0)) : ok(cw_regions_allocate(&slab->at, size)))) {
        free(slab);
        return false;
    }
    *slab = (struct slab){m->slabs, on_host ? (uintptr_t)memory : slab->at, size, on_host};
    m->slabs = slab;
    add_slots(m, slab);
    return true;
}

static size_t room_on_device(size_t reserve)
{
    size_t unused = 0, total;
    return ok(cw_inject->api.cuMemGetInfo_v2(&unused, &total)) && unused > reserve ? unused - reserve : 0;
}

/* Adds slots until this many are unused, or there is no more memory for them. `limit`: bytes to leave free on the
 * device, or the most on the host. */
static void find_slots(struct cw_mirror *m, size_t count, bool on_host, size_t limit)
{
    const size_t most = on_host ? most_on_host : most_on_device;
    bool found = true;
    while (found && m->unused_count < count) {
        const size_t room = !on_host ? room_on_device(limit) : limit > m->on_host ? limit - m->on_host : 0;
        const size_t left = room / granule * granule;
        size_t size = ((count - m->unused_count) * CHUNK + granule - 1) / granule * granule;
        size = size < most ? size : most;
        size = size < left ? size : left;
        found = size && add_slab(m, size, on_host);
    }
}

/* Takes the slot of a chunk that does not need one. Asks from the end: allocators fill their memory from the start. */
static CUdeviceptr steal_slot(struct cw_mirror *m)
{
    while (m->stealing) {
        struct chunk *c = &m->chunks[--m->stealing];
        const CUdeviceptr slot = c->slot;
        if (has_own_slot(m, c) && !(c->changed & written)) {
            set_slot(m, c, 0);
            return slot;
        }
    }
    return 0;
}

/* Gives slots to the listed chunks that need one, or to the others. Returns the number of chunks that got none. */
static uint32_t give_to(struct cw_mirror *m, const uint32_t *list, uint32_t count, uint32_t which)
{
    uint32_t without = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct chunk *c = &m->chunks[list[i]];
        if (c->slot || (c->changed & written) != which)
            continue;
        const CUdeviceptr slot = m->unused_count ? m->unused[--m->unused_count] : which ? steal_slot(m) : 0;
        if (slot)
            set_slot(m, c, slot);
        without += !slot;
    }
    return without;
}

/* Gives slots on the host to chunks that have none on the device. */
static void give_on_host(struct cw_mirror *m, const uint32_t *list, uint32_t count, uint32_t which, uint32_t without,
                         size_t most)
{
    if (!without)
        return;
    find_slots(m, without, true, most);
    give_to(m, list, count, which);
}

/* Chunks that need a slot come first. The host is asked for them, and for others only if these are few: its memory
 * takes 0.8 s a GB. */
static void give_slots(struct cw_mirror *m, const uint32_t *list, uint32_t count, size_t reserve, size_t on_host)
{
    find_slots(m, count, false, reserve);
    m->stealing = m->count;
    give_on_host(m, list, count, written, give_to(m, list, count, written), on_host);
    const uint32_t without = give_to(m, list, count, 0);
    if (without <= FEW)
        give_on_host(m, list, count, 0, without, on_host);
}

/* ---- saving and restoring --------------------------------------------------------------------------------------- */

/* Lists the chunks that differ from their hashes. Waits for all streams first: some do not wait for ours, nor ours for
 * them. */
static bool list_differing(struct cw_mirror *m, bool keep)
{
    uint32_t keeps = keep;
    void *parameters[] = {&m->on_chunks, &m->hashes, &m->on_list, &m->zeros, &keeps};
    const uint32_t first = m->count < FIRST ? m->count : FIRST;
    m->looked = false;
    return ok(cw_inject->api.cuCtxSynchronize()) && ok(cw_inject->api.cuMemsetD32Async(m->on_list, 0, 1, NULL)) &&
           run(m->check, m->count, parameters) &&
           download(m->list, m->on_list, (1 + (size_t)first) * sizeof *m->list) &&
           (m->list[0] <= first ||
            download(m->list + 1 + first, m->on_list + (1 + (CUdeviceptr)first) * sizeof *m->list,
                     ((size_t)m->list[0] - first) * sizeof *m->list));
}

/* Copies the first chunks of the list on the device to their slots, or back. */
static bool move_listed(struct cw_mirror *m, uint32_t count, bool back)
{
    uint32_t is_back = back;
    void *parameters[] = {&m->on_chunks, &m->on_list, &is_back};
    return run(m->move, count, parameters) && ok(cw_inject->api.cuCtxSynchronize());
}

/* Moves the listed chunks that need a slot to the list's front, and counts them. The hashes are new; other chunks have
 * zeros, or their own slot, to which they were copied. */
static uint32_t choose_without_slot(struct cw_mirror *m)
{
    uint32_t count = 0;
    for (uint32_t i = 1, listed = m->list[0]; i <= listed; i++) {
        const uint32_t index = m->list[i] & ~zero_bit;
        struct chunk *c = &m->chunks[index];
        if (has_own_slot(m, c))
            continue;
        set_slot(m, c, m->list[i] & zero_bit ? m->zeros : 0);
        if (!c->slot)
            m->list[++count] = index;
    }
    return count;
}

/* Lists all chunks without a slot: some are older than this save. */
static uint32_t list_lacking(struct cw_mirror *m)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->count; i++)
        if (!m->chunks[i].slot)
            m->list[++count] = i;
    return count;
}

/* Moves the chunks that have got a slot to the list's front, and counts them. */
static uint32_t choose_with_slot(struct cw_mirror *m, uint32_t count)
{
    uint32_t with = 0;
    for (uint32_t i = 1; i <= count; i++)
        if (m->chunks[m->list[i]].slot)
            m->list[++with] = m->list[i];
    return with;
}

static void count_lacking(struct cw_mirror *m)
{
    m->lacking = 0;
    for (uint32_t i = 0; i < m->count; i++)
        m->lacking += !m->chunks[i].slot;
}

static bool save_listed(struct cw_mirror *m, size_t reserve, size_t on_host)
{
    uint32_t count = choose_without_slot(m);
    if (m->lacking)
        count = list_lacking(m);
    if (count)
        give_slots(m, m->list + 1, count, reserve, on_host);
    if (count || m->dirty_to)
        count_lacking(m);
    count = choose_with_slot(m, count);
    return upload_slots(m) && upload(m->on_list + sizeof *m->list, m->list + 1, count * sizeof *m->list) &&
           move_listed(m, count, false);
}

bool cw_mirror_save(struct cw_mirror *m, size_t reserve, size_t on_host)
{
    const bool good = load_code(m) &&
                      ((m->made && m->changes == cw_regions->changes + cw_reach->changes) || make_chunks(m)) &&
                      list_differing(m, true) && save_listed(m, reserve, on_host);
    m->saves = (m->saves + 1) & ~written;
    m->broken = !good;
    m->live = good;
    return good;
}

bool cw_mirror_is_whole(const struct cw_mirror *m)
{
    return !m->lacking;
}

bool cw_mirror_has_looked(const struct cw_mirror *m)
{
    return m->looked && !m->lacking;
}

enum cw_mirror_result cw_mirror_look(struct cw_mirror *m)
{
    bool lacks = false;
    m->looked = list_differing(m, false);
    for (uint32_t i = 1; i <= m->list[0] && m->looked; i++) {
        struct chunk *c = &m->chunks[m->list[i] &= ~zero_bit];
        const uint32_t before = c->changed & ~written;
        c->changed = m->saves | (c->changed & written) | (!c->slot || (before && before != m->saves) ? written : 0);
        lacks = lacks || !c->slot;
    }
    if (m->looked)
        qsort(m->list + 1, m->list[0], sizeof *m->list, cw_compare_u32);
    return !m->looked ? CW_MIRROR_FAILED : lacks ? CW_MIRROR_LACKS : CW_MIRROR_GOOD;
}

/* End of the region that has a chunk. */
static CUdeviceptr region_end(const struct cw_mirror *m, const struct chunk *c)
{
    uint32_t low = 0, high = m->span_count;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        *(m->spans[middle].region.at <= c->at ? &low : &high) = middle;
    }
    return m->spans[low].region.at + m->spans[low].region.size;
}

/* End of the slab that has a chunk's slot. */
static CUdeviceptr slab_end(const struct cw_mirror *m, const struct chunk *c)
{
    const struct slab *slab = m->slabs;
    while (slab && c->slot - slab->at >= slab->size)
        slab = slab->next;
    return slab ? slab->at + slab->size : c->slot + CHUNK;
}

/* Number of chunks in the list, from the i-th on, that one copy can put back. The driver refuses a copy across two
 * allocations (CUDA_ERROR_INVALID_VALUE), even of neighbours. */
static uint32_t run_of(const struct cw_mirror *m, uint32_t i)
{
    const struct chunk *first = &m->chunks[m->list[i]];
    const CUdeviceptr end = region_end(m, first), slots = slab_end(m, first);
    uint32_t n = 1;
    for (; i + n <= m->list[0]; n++) {
        const struct chunk *c = &m->chunks[m->list[i + n]];
        const uint64_t distance = c->at - first->at;
        if (distance != (uint64_t)n * CHUNK || c->at >= end || m->list[i + n] != m->list[i] + n ||
            (c->slot != m->zeros && (c->slot != first->slot + distance || c->slot >= slots)) ||
            (c->slot == m->zeros) != (first->slot == m->zeros))
            break;
    }
    return n;
}

/* Puts back by copies and sets, which are no kernels to CUPTI. */
static bool copy_back(const struct cw_mirror *m)
{
    const struct cw_cupti *api = &cw_inject->api;
    bool good = true;
    for (uint32_t i = 1, n; i <= m->list[0] && good; i += n) {
        n = run_of(m, i);
        const struct chunk *first = &m->chunks[m->list[i]], *last = &m->chunks[m->list[i + n - 1]];
        const size_t size = last->at + last->size - first->at;
        good = ok(first->slot == m->zeros ? api->cuMemsetD8Async(first->at, 0, size, NULL)
                                          : api->cuMemcpyDtoDAsync_v2(first->at, first->slot, size, NULL));
    }
    return good && ok(api->cuCtxSynchronize());
}

enum cw_mirror_result cw_mirror_put_back(struct cw_mirror *m, bool started)
{
    const bool good =
        ok(cw_inject->api.cuCtxSynchronize()) && (started ? copy_back(m) : move_listed(m, m->list[0], true));
    return good ? CW_MIRROR_GOOD : CW_MIRROR_FAILED;
}

/* ---- contexts --------------------------------------------------------------------------------------------------- */

static struct cw_mirror **place_of(CUcontext context)
{
    uint32_t i = 0;
    while (i < CW_MOST_CONTEXTS && mirrors[i] && mirrors[i]->context != context)
        i++;
    return i < CW_MOST_CONTEXTS ? &mirrors[i] : NULL;
}

struct cw_mirror *cw_mirror_of(CUcontext context)
{
    struct cw_mirror **place = cw_regions_are_all() ? place_of(context) : NULL;
    if (place && !*place && (*place = calloc(1, sizeof **place)))
        (*place)->context = context;
    return place && *place && !(*place)->live && !(*place)->broken ? *place : NULL;
}

bool cw_mirror_suits(CUcontext context)
{
    struct cw_mirror **place = cw_regions_are_all() ? place_of(context) : NULL;
    return place && !(*place && (*place)->broken);
}

void cw_mirror_rest(struct cw_mirror *m)
{
    m->live = false;
}

static void forget_memory(struct cw_mirror *m)
{
    for (struct slab *slab = m->slabs, *next; slab; slab = next) {
        next = slab->next;
        free(slab);
    }
    free(m->spans);
    free(m->chunks);
    free(m->list);
    free(m->unused);
    *m = (struct cw_mirror){.context = m->context,
                            .code = m->code,
                            .check = m->check,
                            .move = m->move,
                            .zeros = m->zeros,
                            .broken = m->broken};
}

bool cw_mirror_holds(CUcontext context)
{
    struct cw_mirror **place = place_of(context);
    return place && *place && (*place)->on_chunks && !(*place)->live;
}

void cw_mirror_release(CUcontext context)
{
    struct cw_mirror **place = place_of(context), *m = place ? *place : NULL;
    if (!m || m->live)
        return;
    for (const struct slab *slab = m->slabs; slab; slab = slab->next)
        if (slab->on_host)
            cw_inject->api.cuMemFreeHost((void *)(uintptr_t)slab->at);
        else
            cw_regions_release(slab->at);
    free_device(&m->on_chunks);
    free_device(&m->hashes);
    free_device(&m->on_list);
    forget_memory(m);
}

void cw_mirror_forget(CUcontext context)
{
    struct cw_mirror **place = place_of(context);
    if (!place || !*place)
        return;
    forget_memory(*place);
    free(*place);
    struct cw_mirror **last = place;
    while (last + 1 < mirrors + CW_MOST_CONTEXTS && last[1])
        last++;
    *place = *last;
    *last = NULL;
}
