#define _GNU_SOURCE
#include "agent/inject/driver/counters.h"
#include "agent/inject/driver/idle.h"
#include "agent/inject/driver/in_flight.h"
#include "agent/inject/driver/stream_capture.h"
#include "agent/inject/driver/stuck.h"
#include "agent/inject/ranges/collection.h"
#include "agent/inject/ranges/mode.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

/* The counter data of one part of the plan: passes that share no raw counter. */
struct cw_collection_image {
    size_t offset, size; /* in the memory */
};

struct cw_collection_part { /* of the plan */
    uint32_t metric_count, pass_count;
    const char **metrics;
    bool patches; /* for some counters CUPTI patches kernels' code */
};

static const uint64_t longest_ns = 5000000000; /* limit on the time of a collection */
static const uint64_t look_ns = 100000000;     /* least time between looks for company, if parts take turns */
/* A collection runs at least least_ns before it gives way to another process, because changes take a quarter of a
 * second. give_way_patience_ns limits the wait for running work. */
static const uint64_t least_ns = 300000000, give_way_patience_ns = 100000000;
enum { MOST_AT_ONCE = 4096, MOST_PARTS = 4096, NO_IMAGE = 2 * MOST_PARTS, PIECE = 1 << 22 };

#define self cw_collections

/* Counts time for this phase if parts take turns. Batches count it for phases of their own, around all functions
 * here. */
static enum cw_effort_phase turn_to(struct cw_collection *c, enum cw_effort_phase to)
{
    return self->in_turn ? cw_effort_turn(&c->effort, to, cw_inject_now_ns()) : to;
}

static bool read_part(struct cw_reader *in, struct cw_collection_part *part)
{
    part->metric_count = cw_read_count(in, 4, "metrics");
    part->metrics = cw_arena_alloc(cw_inject->arena, part->metric_count, sizeof *part->metrics);
    for (uint32_t i = 0; part->metrics && i < part->metric_count; i++)
        part->metrics[i] = cw_read_string(in, cw_inject->arena);
    part->pass_count = cw_read_u32(in);
    part->patches = cw_read_u8(in);
    return part->metrics && in->status == CW_OK;
}

static bool read_config(struct cw_reader *in, struct cw_collection_config *config)
{
    config->size = cw_read_count(in, 1, "bytes");
    const uint8_t *bytes = cw_read_bytes(in, config->size);
    config->bytes = cw_arena_alloc(cw_inject->arena, config->size, 1);
    if (!config->bytes || in->status != CW_OK)
        return false;
    memcpy(config->bytes, bytes, config->size);
    return true;
}

static bool read_parts(struct cw_reader *in, struct cw_collection_parts *parts)
{
    parts->count = cw_read_count(in, 8, "parts");
    parts->items = cw_arena_alloc(cw_inject->arena, parts->count, sizeof *parts->items);
    bool good = parts->items && parts->count < MOST_PARTS;
    for (uint32_t i = 0; good && i < parts->count; i++)
        good = read_part(in, &parts->items[i]);
    for (int scope = CW_SCOPE_CONTEXT; good && scope <= CW_SCOPE_DEVICE; scope++)
        good = read_config(in, &parts->configs[scope]);
    return good;
}

static void give_way(const char *pci);

bool cw_collection_setup(struct cw_reader *in)
{
    self->at_once = cw_read_u32(in);
    const bool good = read_parts(in, &self->plan) && self->plan.count && read_parts(in, &self->once);
    cw_counters_open(give_way);
    return good && self->at_once && self->at_once <= MOST_AT_ONCE;
}

/* Whether one part counts each launch or user range. */
static bool is_in_turn(const struct cw_collection *c)
{
    return c->kind == CW_COLLECT_ONCE || self->in_turn;
}

/* The parts that collect it. */
static const struct cw_collection_parts *parts_of(const struct cw_collection *c)
{
    return c->kind == CW_COLLECT_ONCE && !self->in_turn ? &self->once : &self->plan;
}

/* The number of a part's image, and of the part in messages. */
static uint32_t image_of(const struct cw_collection *c, uint32_t part)
{
    return parts_of(c) == &self->once ? self->plan.count + part : part;
}

uint32_t cw_collection_turns(void)
{
    return self->in_turn ? self->plan.count : self->once.count;
}

uint32_t cw_collection_turn(const struct cw_collection *c)
{
    return c->running && is_in_turn(c) ? c->part : c->up;
}

static bool any_patches(const struct cw_collection_parts *parts)
{
    bool any = false;
    for (uint32_t i = 0; i < parts->count; i++)
        any = any || parts->items[i].patches;
    return any;
}

bool cw_collection_turn_patches(const struct cw_collection *c, uint32_t ahead)
{
    const struct cw_collection_parts *parts = self->in_turn ? &self->plan : &self->once;
    return parts->items[(cw_collection_turn(c) + ahead) % parts->count].patches;
}

/* ---- contexts --------------------------------------------------------------------------------------------------- */

struct cw_collection *cw_collection_find(CUcontext context)
{
    for (uint32_t i = 0; context && i < self->slot_count; i++)
        if (self->slots[i].context == context)
            return &self->slots[i];
    return NULL;
}

/* Finds another context of the device; `with_object`: only one with a profiler's object. */
static struct cw_collection *find_neighbour(const struct cw_collection *c, bool with_object)
{
    for (uint32_t i = 0; i < self->slot_count; i++) {
        struct cw_collection *other = &self->slots[i];
        if (other != c && other->context && other->device == c->device && (other->object || !with_object))
            return other;
    }
    return NULL;
}

struct cw_collection *cw_collection_beside(const struct cw_collection *c)
{
    return find_neighbour(c, true);
}

struct cw_collection *cw_collection_only(void)
{
    struct cw_collection *only = NULL;
    for (uint32_t i = 0, used = 0; i < self->slot_count; i++)
        if (self->slots[i].context)
            only = used++ ? NULL : &self->slots[i];
    return only;
}

bool cw_collection_noted_all(void)
{
    uint32_t pending = 0;
    for (uint32_t i = 0; i < self->slot_count; i++)
        pending += self->slots[i].pending;
    return cw_in_flight->launches == pending;
}

uint64_t cw_collection_patience(const struct cw_collection *c, uint64_t usual_ns)
{
    static const uint64_t most[] = {
        [CW_WAITS_NOTHING] = UINT64_MAX, [CW_WAITS_KERNEL] = 5000000, [CW_WAITS_STREAM] = 100000000};
    return usual_ns < most[c->waits] ? usual_ns : most[c->waits];
}

bool cw_collection_rests(struct cw_collection *c, uint64_t usual_ns)
{
    const bool rests = cw_idle_wait(c->context, cw_collection_patience(c, usual_ns));
    if (rests)
        c->waits = CW_WAITS_NOTHING;
    return rests;
}

void cw_collection_wait(const struct cw_collection *c, uint64_t patience_ns)
{
    const uint64_t until = cw_inject_now_ns() + patience_ns;
    cw_in_flight_hold();
    while (c->pending && !cw_inject->over && cw_inject_now_ns() < until)
        cw_inject_wait();
    cw_in_flight_release();
}

struct cw_collection *cw_collection_with_range(uint64_t range)
{
    for (uint32_t i = 0; i < self->slot_count; i++)
        if (self->slots[i].context && self->slots[i].open_range == range)
            return &self->slots[i];
    return NULL;
}

/* Asks for the size of a part's counter data, and thereby chooses its metrics: CUPTI makes counter data for the metrics
 * of the last such question. */
static bool choose_metrics(struct cw_collection *c, uint32_t image, size_t *size)
{
    const struct cw_collection_part *part =
        image < self->plan.count ? &self->plan.items[image] : &self->once.items[image - self->plan.count];
    PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params, ask, .pRangeProfilerObject = c->object,
           .pMetricNames = part->metrics, .numMetrics = part->metric_count, .maxNumOfRanges = self->at_once,
           .maxNumRangeTreeNodes = self->at_once);
    if (!CALL(cuptiRangeProfilerGetCounterDataSize, ask))
        return false;
    *size = ask.counterDataSize;
    c->chosen = image;
    return true;
}

static bool enable(struct cw_collection *c)
{
    PARAMS(CUpti_RangeProfiler_Enable_Params, enable, .ctx = c->context);
    if (!CALL(cuptiRangeProfilerEnable, enable))
        return false;
    c->object = enable.pRangeProfilerObject;
    c->configured.image = NULL;
    c->chosen = NO_IMAGE;
    return true;
}

/* Waits until the agent has read the data handed over, so that it never gets more than it can read. */
static void free_memories(struct cw_collection *c)
{
    for (int i = 0; i < 2; i++) {
        struct cw_collection_memory *m = &c->memories[i];
        if (m->bytes && !cw_inject->over)
            cw_inject_wait_taken(m->handed_over);
        if (m->bytes) {
            munmap(m->bytes, c->memory_size);
            cw_descriptor_close(&m->file);
        }
        *m = (struct cw_collection_memory){0};
    }
}

/* Finds the sizes of images and of the memory: images of the plan share it, and other images use it alone. */
static bool place(struct cw_collection *c, uint32_t from, uint32_t to)
{
    size_t before = 0, most = c->memory_size;
    bool good = true;
    for (uint32_t i = from; good && i < to; i++) {
        struct cw_collection_image *image = &c->images[i];
        bool alone = self->in_turn || i >= self->plan.count;
        good = choose_metrics(c, i, &image->size);
        image->offset = alone ? 0 : before;
        before = image->offset + (image->size + CW_MESSAGE_ALIGNMENT - 1) / CW_MESSAGE_ALIGNMENT * CW_MESSAGE_ALIGNMENT;
        most = before > most ? before : most;
    }
    if (good && most > c->memory_size) {
        free_memories(c);
        c->memory_size = most;
    }
    return good;
}

/* Places the images. The images of `once` follow at the first launch that is counted once, because asking CUPTI for a
 * size takes milliseconds. */
static bool place_images(struct cw_collection *c)
{
    const uint32_t count = self->plan.count, all = count + self->once.count;
    if (!c->images) {
        c->images = calloc(all, sizeof *c->images);
        if (!c->images) {
            cw_inject_fail_memory();
            return false;
        }
        if (!place(c, 0, count))
            return false;
    }
    return parts_of(c) != &self->once || c->images[count].size || place(c, count, all);
}

/* Allocates all of a file's memory now: a page without memory would end the program when it is touched. A signal undoes
 * the current piece, so this tries again. */
static bool allocate(int file, size_t size)
{
    bool good = true;
    for (size_t at = 0; at < size && good; at += PIECE)
        do
            good = fallocate(file, 0, (off_t)at, (off_t)(size - at < PIECE ? size - at : PIECE)) == 0;
        while (!good && errno == EINTR);
    return good;
}

/* The agent takes only memory that cannot shrink under it. */
static bool make_memory(struct cw_collection_memory *m, size_t size)
{
    void *bytes = MAP_FAILED;
    if (cw_descriptor_take(&m->file, memfd_create("counter data", MFD_CLOEXEC | MFD_ALLOW_SEALING)) &&
        cw_descriptor_may_grow(size) && allocate(m->file.fd, size) &&
        fcntl(m->file.fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0)
        bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, m->file.fd, 0);
    if (bytes != MAP_FAILED) {
        m->bytes = bytes;
        return true;
    }
    cw_inject_fail(CW_ERR_NOMEM, "found no memory for %zu bytes of counter data in the profiled program: %s", size,
                   strerror(errno));
    cw_descriptor_close(&m->file);
    return false;
}

/* Turns to the memory that the agent does not read. */
static bool take_turns(struct cw_collection *c)
{
    struct cw_collection_memory *m = &c->memories[c->turn = !c->turn];
    if (!m->bytes)
        return make_memory(m, c->memory_size);
    enum cw_effort_phase before = cw_effort_turn(&c->effort, CW_EFFORT_WAIT, cw_inject_now_ns());
    bool taken = cw_inject_wait_taken(m->handed_over);
    cw_effort_turn(&c->effort, before, cw_inject_now_ns());
    return taken;
}

struct cw_collection *cw_collection_open(CUcontext context, uint32_t device)
{
    uint32_t slot = 0;
    while (slot < self->slot_count && self->slots[slot].context)
        slot++;
    if (slot == CW_MOST_CONTEXTS && !cw_collection_find(context))
        cw_inject_say_contexts();
    if (!context || cw_collection_find(context) || slot == CW_MOST_CONTEXTS)
        return NULL;
    self->slot_count += slot == self->slot_count;
    struct cw_collection *c = &self->slots[slot];
    *c = (struct cw_collection){.context = context, .device = device};
    if (cw_inject->api.cuDeviceGetPCIBusId(c->pci, sizeof c->pci, (CUdevice)device) != CUDA_SUCCESS)
        c->pci[0] = 0;
    c->launches = calloc(self->at_once, sizeof *c->launches);
    if (!c->launches) {
        cw_inject_fail_memory();
        return NULL;
    }
    /* not while a collection of another context is between start and stop */
    return cw_collection_beside(c) || (enable(c) && place_images(c)) ? c : NULL;
}

static void disable(struct cw_collection *c)
{
    PARAMS(CUpti_RangeProfiler_Disable_Params, params, .pRangeProfilerObject = c->object);
    if (c->object)
        cw_inject->api.cuptiRangeProfilerDisable(&params);
    if (c->object)
        cw_counters_give(c->pci);
    c->object = NULL;
}

void cw_collection_release(struct cw_collection *c)
{
    disable(c);
    free_memories(c);
}

static bool may_disable(const struct cw_collection *c, CUcontext context)
{
    return context && c->context == context && !c->running && !c->pending && !cw_stream_capture_is_under_way();
}

/* CUPTI may wait for the context's work, and that work for the program, which
 * goes on during this wait. */
void cw_collection_disable(struct cw_collection *c)
{
    CUcontext context = c->context;
    if (may_disable(c, context) && cw_idle_wait(context, give_way_patience_ns) && may_disable(c, context))
        disable(c);
}

static void give_way_of(struct cw_collection *c)
{
    if (c->running == CW_ARMED && cw_inject->mode->give_way && cw_inject_now_ns() - c->armed_ns > least_ns)
        cw_inject->mode->give_way(c);
    cw_collection_disable(c);
}

/* Does this for each enabled profiler, of one GPU or of all (NULL). */
static void for_enabled(const char *pci, void (*each)(struct cw_collection *c))
{
    CUcontext popped;
    for (uint32_t i = 0; i < self->slot_count && !cw_inject->over; i++) {
        struct cw_collection *c = &self->slots[i];
        if (c->context && c->object && (!pci || strcmp(c->pci, pci) == 0) && !cw_stream_capture_is_under_way() &&
            cw_inject->api.cuCtxPushCurrent_v2(c->context) == CUDA_SUCCESS) {
            each(c);
            cw_inject->api.cuCtxPopCurrent_v2(&popped);
        }
    }
}

/* Gives way to another process that waits for the counters of this GPU. The calling thread has no context. */
static void give_way(const char *pci)
{
    for_enabled(pci, give_way_of);
}

void cw_collection_code_goes(void)
{
    if (any_patches(&self->plan) || any_patches(&self->once))
        for_enabled(NULL, cw_collection_disable);
}

void cw_collection_close(struct cw_collection *c)
{
    if (c->object && c->running && (c->inside || c->pending)) { /* CUPTI would wait for a kernel that does not end */
        self->stays = true;
        c->object = NULL;
    }
    cw_collection_release(c);
    cw_collection_forget(c);
    free(c->images);
    free(c->launches);
    *c = (struct cw_collection){0};
}

bool cw_collection_is_due(const struct cw_collection *c)
{
    return c->running && (c->count == self->at_once || cw_inject_now_ns() - c->armed_ns > longest_ns);
}

bool cw_collection_any_runs(void)
{
    for (uint32_t i = 0; i < self->slot_count; i++)
        if (self->slots[i].context && self->slots[i].running)
            return true;
    return false;
}

void cw_collection_each(void (*each)(struct cw_collection *c))
{
    for (uint32_t i = 0; i < self->slot_count && !cw_inject->over; i++)
        if (self->slots[i].context)
            each(&self->slots[i]);
}

void cw_collection_finish(void (*end)(struct cw_collection *c))
{
    for (uint32_t i = 0; i < self->slot_count && !cw_inject->over; i++) {
        struct cw_collection *c = &self->slots[i];
        if (!c->context)
            continue;
        end(c);
        cw_collection_report_skipped(c);
        if (!c->running) /* it may run again, by another thread */
            cw_collection_release(c);
    }
}

/* ---- whose work counts ------------------------------------------------------------------------------------------ */

/* Looks for company on the device, and keeps the most that it saw: company may come again, unseen. A look takes
 * milliseconds. */
static void look_around(struct cw_collection *c)
{
    if (is_in_turn(c) && c->looked_ns && cw_inject_now_ns() - c->looked_ns < look_ns)
        return;
    c->looked_ns = cw_inject_now_ns();
    enum cw_company company = find_neighbour(c, false) ? CW_COMPANY_OTHERS : cw_inject_company(c->pci);
    c->company = company > c->company ? company : c->company;
}

static void choose_scope(struct cw_collection *c)
{
    const struct cw_collection_config *context = &parts_of(c)->configs[CW_SCOPE_CONTEXT],
                                      *device = &parts_of(c)->configs[CW_SCOPE_DEVICE];
    if (device->size)
        look_around(c);
    c->scope = context->size && (!device->size || c->company) ? CW_SCOPE_CONTEXT : CW_SCOPE_DEVICE;
}

static enum cw_scope scope_of_launches(struct cw_collection *c)
{
    if (c->scope == CW_SCOPE_DEVICE)
        look_around(c);
    return c->scope == CW_SCOPE_DEVICE && c->company == CW_COMPANY_OTHERS ? CW_SCOPE_SHARED : c->scope;
}

/* ---- collecting ------------------------------------------------------------------------------------------------- */

static const struct cw_collection_config *config_of(const struct cw_collection *c)
{
    return &parts_of(c)->configs[c->scope];
}

static bool is_configured(const struct cw_collection *c)
{
    return c->configured.image == config_of(c) && c->configured.range == c->range &&
           (c->configured.kind == CW_COLLECT_ONCE) == (c->kind == CW_COLLECT_ONCE);
}

static CUpti_ProfilerReplayMode replay_of(const struct cw_collection *c)
{
    return c->kind == CW_COLLECT_KERNELS ? CUPTI_KernelReplay : CUPTI_UserReplay;
}

/* An object keeps the kind of range and the scope that it was first configured for, so others need another object. */
static bool prepare_object(struct cw_collection *c)
{
    size_t same;
    if (c->configured.image && !is_configured(c))
        disable(c);
    if ((!c->object && !enable(c)) || !place_images(c))
        return false;
    if (c->chosen == image_of(c, c->part))
        return true;
    const enum cw_effort_phase before = turn_to(c, CW_EFFORT_CHOOSE);
    const bool chosen = choose_metrics(c, image_of(c, c->part), &same);
    turn_to(c, before);
    return chosen;
}

/* Configures the passes of a part, which has an image of its own: CUPTI does not add up values of several passes. */
static bool configure(struct cw_collection *c)
{
    if (!prepare_object(c))
        return false;
    const struct cw_collection_image *image = &c->images[image_of(c, c->part)];
    const struct cw_collection_config *native = config_of(c);
    uint8_t *bytes = c->memories[c->turn].bytes + image->offset;
    PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, init, .pRangeProfilerObject = c->object,
           .counterDataSize = image->size, .pCounterData = bytes);
    PARAMS(CUpti_RangeProfiler_SetConfig_Params, config, .pRangeProfilerObject = c->object, .configSize = native->size,
           .pConfig = native->bytes, .counterDataImageSize = image->size, .pCounterDataImage = bytes, .range = c->range,
           .replayMode = replay_of(c), .maxRangesPerPass = self->at_once, .numNestingLevels = 1, .minNestingLevel = 1,
           .targetNestingLevel = 1, .passIndex = c->pass);
    c->configured.image = native;
    c->configured.range = c->range;
    c->configured.kind = c->kind;
    c->part_end = c->pass + parts_of(c)->items[c->part].pass_count;
    return CALL(cuptiRangeProfilerCounterDataImageInitialize, init) && CALL(cuptiRangeProfilerSetConfig, config);
}

bool cw_collection_start_pass(struct cw_collection *c)
{
    PARAMS(CUpti_RangeProfiler_Start_Params, params, .pRangeProfilerObject = c->object);
    return CALL(cuptiRangeProfilerStart, params);
}

bool cw_collection_stop_pass(struct cw_collection *c, bool *more)
{
    PARAMS(CUpti_RangeProfiler_Stop_Params, params, .pRangeProfilerObject = c->object);
    if (!CALL(cuptiRangeProfilerStop, params))
        return false;
    const uint32_t count = parts_of(c)->count;
    *more = ++c->pass < c->part_end;
    if (is_in_turn(c))
        c->up = (c->part + 1) % count;
    bool last = !*more && c->part + 1 >= count, done = params.isAllPassSubmitted;
    if (replay_of(c) == CUPTI_UserReplay && last != done) {
        cw_inject_fail(CW_ERR_DEVICE,
                       done ? "CUPTI was done after %u passes of the plan, which has more"
                            : "CUPTI was not done after %u passes, which is all that the plan has",
                       c->pass);
        return false;
    }
    return true;
}

bool cw_collection_has_last_pass(const struct cw_collection *c)
{
    return c->part + 1 >= parts_of(c)->count && c->pass + 1 >= c->part_end;
}

bool cw_collection_push(struct cw_collection *c, uint32_t number)
{
    char name[32];
    snprintf(name, sizeof name, "%" PRIu32, number);
    PARAMS(CUpti_RangeProfiler_PushRange_Params, push, .pRangeProfilerObject = c->object, .pRangeName = name);
    return CALL(cuptiRangeProfilerPushRange, push);
}

bool cw_collection_pop(struct cw_collection *c)
{
    PARAMS(CUpti_RangeProfiler_PopRange_Params, pop, .pRangeProfilerObject = c->object);
    return CALL(cuptiRangeProfilerPopRange, pop);
}

void cw_collection_enter(struct cw_collection *c, uint32_t number)
{
    c->inside =
        cw_collection_pushes(c) && !cw_inject->over && cw_idle_synchronize(c->context) && cw_collection_push(c, number);
}

void cw_collection_leave(struct cw_collection *c)
{
    if (c->inside && cw_idle_synchronize(c->context))
        cw_collection_pop(c);
    c->inside = false;
}

/* With the CUPTI of CUDA 12.8 and 12.9 on a driver for CUDA 13, counter data holds no automatic ranges. */
bool cw_collection_sees_launches(void)
{
    uint32_t version = 0;
    return cw_inject->api.cuptiGetVersion(&version) == CUPTI_SUCCESS && version >= CW_CUPTI_OF_CUDA_13;
}

/* Call it after the last step that may disable the object. */
static bool take_counters(struct cw_collection *c)
{
    c->kept_out = cw_counters_take(c->pci);
    return !c->kept_out;
}

/* The first start of an object, which takes the counters. */
static bool start(struct cw_collection *c)
{
    CUptiResult result;
    do {
        PARAMS(CUpti_RangeProfiler_Start_Params, params, .pRangeProfilerObject = c->object);
        result = cw_inject->api.cuptiRangeProfilerStart(&params);
    } while (cw_counters_try_again(c->pci, result, &c->kept_out));
    if (c->kept_out)
        disable(c);
    return !c->kept_out && cw_inject_good(result, "cuptiRangeProfilerStart");
}

/* Begins the part whose turn it is. A new object begins with any part, then goes through all of them. */
static bool begin_turn(struct cw_collection *c)
{
    c->part = c->pass = c->up;
    turn_to(c, CW_EFFORT_SETUP);
    bool good = configure(c);
    turn_to(c, CW_EFFORT_START);
    good = good && start(c);
    turn_to(c, good ? CW_EFFORT_OWN : CW_EFFORT_NONE);
    return good;
}

static bool begin_in_turn(struct cw_collection *c)
{
    bool more, good = true;
    if (!c->configured.image)
        c->up = (c->up + c->let_by) % parts_of(c)->count;
    for (uint32_t left = c->configured.image ? c->let_by : 0; left && good; left--)
        good = begin_turn(c) && cw_collection_stop_pass(c, &more) && cw_collection_next_part(c, &more);
    c->let_by = 0;
    return good && begin_turn(c);
}

bool cw_collection_stand_by(struct cw_collection *c)
{
    c->kind = CW_COLLECT_LAUNCHES;
    c->range = CUPTI_AutoRange;
    c->kept_out = NULL;
    const bool good = !cw_inject->over && (c->object || enable(c)) && place_images(c);
    c->running = good ? CW_STANDS_BY : CW_STOPPED;
    c->armed_ns = cw_inject_now_ns();
    return c->running;
}

bool cw_collection_arm(struct cw_collection *c, enum cw_collection_kind kind)
{
    const bool whole = kind == CW_COLLECT_LAUNCHES || kind == CW_COLLECT_KERNELS;
    c->running = CW_STOPPED;
    c->kind = kind;
    c->range = whole && cw_collection_sees_launches() ? CUPTI_AutoRange : CUPTI_UserRange;
    c->part = is_in_turn(c) ? c->up : 0;
    c->pass = 0;
    c->dropped = 0;
    choose_scope(c);
    c->kept_out = NULL;
    turn_to(c, CW_EFFORT_SETUP);
    const bool good = !cw_inject->over && prepare_object(c) && take_counters(c) && take_turns(c) &&
                      (is_in_turn(c) ? begin_in_turn(c) : configure(c) && start(c));
    c->running = good ? CW_ARMED : CW_STOPPED;
    if (!good)
        turn_to(c, CW_EFFORT_NONE);
    else if (c->range == CUPTI_AutoRange)
        cw_stuck_watch();
    c->armed_ns = cw_inject_now_ns();
    return c->running;
}

static void begin_message(struct cw_collection *c, struct cw_writer *out, size_t dropped,
                          const struct cw_effort *effort)
{
    cw_writer_init(out);
    cw_write_u32(out, c->device);
    cw_write_u32(out, (uint32_t)dropped + c->skipped);
    cw_write_string(out, c->skipped ? c->why : "");
    cw_effort_write(out, effort);
    c->skipped = 0;
}

/* The number by which the agent knows the parts of the plan in a message. */
static uint32_t sent_part(const struct cw_collection *c)
{
    return is_in_turn(c) ? image_of(c, c->part) : CW_PART_ALL;
}

/* Sends the launches with the counter data of `parts` parts, all or none. Without counter data it only reports launches
 * that were not collected. */
static void send(struct cw_collection *c, size_t dropped, uint32_t parts)
{
    struct cw_writer out;
    begin_message(c, &out, dropped, &c->effort);
    cw_write_u32(&out, c->count);
    enum cw_scope scope = parts ? scope_of_launches(c) : CW_SCOPE_CONTEXT;
    for (uint32_t i = 0; i < c->count; i++) {
        c->launches[i].data.scope = scope;
        cw_launch_write(&out, &c->launches[i].data);
    }
    cw_write_u32(&out, sent_part(c));
    cw_write_u32(&out, parts);
    for (uint32_t i = 0; i < parts; i++)
        cw_write_u32(&out, (uint32_t)c->images[is_in_turn(c) ? image_of(c, c->part) : i].size);
    struct cw_collection_memory *m = &c->memories[c->turn];
    if (parts)
        m->handed_over = cw_inject_hand_over(CW_MESSAGE_RANGES, &out, cw_descriptor_number(&m->file));
    else
        cw_inject_send(CW_MESSAGE_RANGES, &out);
    cw_effort_clear(&c->effort);
}

static void tell_skipped(struct cw_collection *c)
{
    static const struct cw_effort none;
    struct cw_writer out;
    begin_message(c, &out, 0, &none);
    cw_write_u32(&out, 0); /* launches */
    cw_write_u32(&out, sent_part(c));
    cw_write_u32(&out, 0); /* parts */
    cw_inject_send(CW_MESSAGE_RANGES, &out);
}

void cw_collection_skip(struct cw_collection *c, const char *why)
{
    if (!c->context) /* it has gone while a launch waited */
        return;
    if (c->skipped && strcmp(c->why, why) != 0)
        tell_skipped(c);
    c->why = why;
    c->skipped++;
}

void cw_collection_report_skipped(struct cw_collection *c)
{
    if (c->skipped && !c->count)
        send(c, 0, 0);
}

void cw_collection_miss(struct cw_collection *c)
{
    for (uint32_t i = 0; i < c->count; i++)
        c->launches[i].data.unwanted = true;
    if (c->count)
        send(c, 0, 0);
    cw_collection_forget(c);
}

bool cw_collection_next_part(struct cw_collection *c, bool *more)
{
    PARAMS(CUpti_RangeProfiler_DecodeData_Params, decode, .pRangeProfilerObject = c->object);
    *more = false;
    if (!CALL(cuptiRangeProfilerDecodeData, decode))
        return false;
    c->dropped = decode.numOfRangeDropped > c->dropped ? decode.numOfRangeDropped : c->dropped;
    *more = !is_in_turn(c) && c->part + 1 < self->plan.count;
    if (!*more)
        return true;
    c->part++;
    return configure(c);
}

void cw_collection_deliver(struct cw_collection *c)
{
    if (c->count)
        send(c, c->dropped, is_in_turn(c) ? 1 : self->plan.count);
    cw_collection_forget(c);
}

static void deliver_turn(struct cw_collection *c)
{
    turn_to(c, CW_EFFORT_NONE);
    if (self->in_turn && !c->effort.ended)
        c->effort.ended = "the end of the collection";
    cw_collection_deliver(c);
}

/* Gives up a loop of user replay. Its object would go on with the next pass, so a new object begins again. */
static void give_up(struct cw_collection *c)
{
    for (uint32_t i = 0; i < c->count; i++)
        cw_collection_skip(c, "work in a loop of user replay that the program left before its last pass");
    cw_collection_forget(c);
    cw_collection_release(c);
}

void cw_collection_flush(struct cw_collection *c)
{
    if (!c->running)
        return;
    c->running = CW_STOPPED;
    turn_to(c, CW_EFFORT_STOP);
    bool more, stopped = cw_collection_stop_pass(c, &more);
    turn_to(c, CW_EFFORT_DECODE);
    more = replay_of(c) == CUPTI_UserReplay && (more || (!is_in_turn(c) && c->part + 1 < self->plan.count));
    if (stopped && more)
        give_up(c);
    else if (stopped && cw_collection_next_part(c, &more))
        deliver_turn(c);
    else
        cw_collection_forget(c);
    turn_to(c, CW_EFFORT_NONE);
}

void cw_collection_stop_all(void)
{
    for (uint32_t i = 0; i < self->slot_count; i++) {
        PARAMS(CUpti_RangeProfiler_Stop_Params, stop, .pRangeProfilerObject = self->slots[i].object);
        bool kernel_runs = self->slots[i].inside || self->slots[i].pending; /* CUPTI would wait for it */
        if (self->slots[i].running == CW_ARMED && !kernel_runs)
            cw_inject->api.cuptiRangeProfilerStop(&stop);
        self->slots[i].running = CW_STOPPED;
        cw_collection_forget(&self->slots[i]);
    }
}
