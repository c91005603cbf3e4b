#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "agent/inject/driver/alone.h"
#include "agent/inject/driver/counters.h"
#include "agent/inject/driver/idle.h"
#include "agent/inject/driver/in_flight.h"
#include "agent/inject/driver/module.h"
#include "agent/inject/driver/reach.h"
#include "agent/inject/driver/stream_capture.h"
#include "agent/inject/driver/streams.h"
#include "agent/inject/memory/checkpoint.h"
#include "agent/inject/ranges/gate.h"
#include "agent/inject/ranges/user_ranges.h"
#include "base/arena.h"
#include "tests/support/fake_profiler.h"

enum { IMAGE = 16 };

static struct fake_handed { /* by number: memory that the agent reads, NULL when it has */
    ino_t file;
    uint8_t *bytes, copy[(FAKE_PARTS - 1) * CW_MESSAGE_ALIGNMENT + IMAGE];
} handed[FAKE_MOST_SENT];
static uint32_t handed_count;

struct fake_profiler fake_profiler;
struct cw_trace_window_options fake_when;
unsigned fake_patches;
static struct object {
    uint32_t device, passes; /* passes: of the plan so far */
    bool enabled, started, running, open;
    const void *config, *image;
    uint8_t *data;
    CUpti_ProfilerRange range;
} objects[FAKE_MOST];
static struct cw_arena *arena;
static CUcontext below[FAKE_MOST]; /* the current context, on the stack */
static int below_count;

static uint32_t all_passes(void)
{
    return fake_profiler.parts * fake_profiler.passes;
}

static uint32_t passes_of_part(void)
{
    return fake_profiler.once ? 1 : fake_profiler.passes;
}

/* What it is configured for. */
static bool takes_turns(void)
{
    return fake_profiler.in_turn || fake_profiler.once;
}

static size_t data_bytes(void)
{
    if (fake_profiler.in_turn)
        return IMAGE;
    return (fake_profiler.parts - 1) * CW_MESSAGE_ALIGNMENT + IMAGE;
}

static CUresult pci_address(char *text, int size, CUdevice device)
{
    snprintf(text, (size_t)size, "0000:%02x:00.0", 10 + (unsigned)device);
    return CUDA_SUCCESS;
}

static CUresult current_context(CUcontext *context)
{
    *context = fake_profiler.current;
    return CUDA_SUCCESS;
}

static CUresult push_context(CUcontext context)
{
    cr_assert_lt(below_count, FAKE_MOST);
    below[below_count++] = fake_profiler.current;
    fake_profiler.current = context;
    return CUDA_SUCCESS;
}

static CUresult pop_context(CUcontext *context)
{
    cr_assert_gt(below_count, 0);
    *context = fake_profiler.current;
    fake_profiler.current = below[--below_count];
    return CUDA_SUCCESS;
}

static CUresult stream_query(CUstream stream)
{
    (void)stream;
    return fake_profiler.busy ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

static CUresult device_attribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    (void)device;
    *value = attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT ? 132 : 0;
    return CUDA_SUCCESS;
}

static CUptiResult version(uint32_t *number)
{
    *number = fake_profiler.version;
    return CUPTI_SUCCESS;
}

static CUptiResult enable(CUpti_RangeProfiler_Enable_Params *p)
{
    cr_assert_lt(fake_profiler.objects, FAKE_MOST);
    objects[fake_profiler.objects] =
        (struct object){.enabled = true, .device = p->ctx >= FAKE_CONTEXTS_OF_SECOND_DEVICE};
    p->pRangeProfilerObject = (CUpti_RangeProfiler_Object *)&objects[fake_profiler.objects++];
    fake_profiler.enabled++;
    return CUPTI_SUCCESS;
}

static CUptiResult disable(CUpti_RangeProfiler_Disable_Params *p)
{
    struct object *object = (struct object *)p->pRangeProfilerObject;
    cr_expect(!object->running);
    object->enabled = false;
    fake_profiler.enabled--;
    return CUPTI_SUCCESS;
}

static CUptiResult data_size(CUpti_RangeProfiler_GetCounterDataSize_Params *p)
{
    p->counterDataSize = IMAGE;
    return CUPTI_SUCCESS;
}

static CUptiResult initialize(CUpti_RangeProfiler_CounterDataImage_Initialize_Params *p)
{
    memset(p->pCounterData, 0, IMAGE);
    return CUPTI_SUCCESS;
}

/* An object goes on with what it was configured for first, and behind the last pass with the first. It begins with the
 * pass that it is told. */
static CUptiResult set_config(CUpti_RangeProfiler_SetConfig_Params *p)
{
    struct object *object = (struct object *)p->pRangeProfilerObject;
    bool same = object->config == p->pConfig;
    fake_profiler.once = p->pConfig[1];
    cr_expect(!object->config || (p->range == object->range && same));
    const bool in_turn = takes_turns();
    if (!same || object->passes == all_passes())
        object->passes = same || !in_turn ? 0 : (uint32_t)p->passIndex;
    cr_expect_eq(p->passIndex, object->passes);
    cr_expect(p->pCounterDataImage != object->image || in_turn, "each part has its own");
    object->image = object->passes + passes_of_part() < all_passes() ? p->pCounterDataImage : NULL;
    object->config = p->pConfig;
    object->range = p->range;
    fake_profiler.scope = *p->pConfig;
    object->data = p->pCounterDataImage;
    fake_profiler.range = p->range;
    return CUPTI_SUCCESS;
}

static CUptiResult start(CUpti_RangeProfiler_Start_Params *p)
{
    struct object *object = (struct object *)p->pRangeProfilerObject;
    for (int i = 0; i < fake_profiler.objects; i++)
        cr_expect(!objects[i].enabled || !objects[i].started || objects[i].device != object->device ||
                      &objects[i] == object,
                  "the counters are busy");
    cr_expect(object->config && !object->running);
    if (fake_profiler.refusals) {
        fake_profiler.refusals--;
        return CUPTI_ERROR_HARDWARE_BUSY;
    }
    object->started = object->running = true;
    fake_profiler.now_ns += fake_profiler.start_ns;
    fake_profiler.starts++;
    fake_profiler.running++;
    return CUPTI_SUCCESS;
}

static CUptiResult stop(CUpti_RangeProfiler_Stop_Params *p)
{
    struct object *object = (struct object *)p->pRangeProfilerObject;
    cr_expect(object->running && !object->open);
    object->running = false;
    fake_profiler.running--;
    fake_profiler.now_ns += fake_profiler.stop_ns;
    p->isAllPassSubmitted = ++object->passes + (uint32_t)fake_profiler.missing == all_passes();
    return CUPTI_SUCCESS;
}

static CUptiResult push(CUpti_RangeProfiler_PushRange_Params *p)
{
    struct object *object = (struct object *)p->pRangeProfilerObject;
    cr_expect(object->running && !object->open && object->range == CUPTI_UserRange);
    object->open = true;
    fake_profiler.open++;
    fake_profiler.pushed++;
    cr_expect_gt(atoi(p->pRangeName), 0);
    return CUPTI_SUCCESS;
}

static CUptiResult pop(CUpti_RangeProfiler_PopRange_Params *p)
{
    struct object *object = (struct object *)p->pRangeProfilerObject;
    cr_expect(object->open);
    object->open = false;
    fake_profiler.open--;
    return CUPTI_SUCCESS;
}

static CUptiResult decode(CUpti_RangeProfiler_DecodeData_Params *p)
{
    const struct object *object = (struct object *)p->pRangeProfilerObject;
    cr_expect(!object->running && object->passes % passes_of_part() == 0);
    *object->data = (uint8_t)(object->passes / passes_of_part());
    return CUPTI_SUCCESS;
}

bool cw_idle_wait(CUcontext context, uint64_t patience_ns)
{
    void (*beside)(void) = fake_profiler.beside;
    fake_profiler.beside = NULL;
    if (beside)
        beside();
    const bool busy = fake_profiler.busy || (context && context == fake_profiler.busy_one);
    if (busy)
        fake_profiler.now_ns += patience_ns;
    return context && !busy && !cw_stream_capture_is_under_way();
}

bool cw_idle_wait_before_capture(CUcontext context, uint64_t patience_ns)
{
    fake_profiler.now_ns += fake_profiler.busy ? patience_ns : 0;
    return context && !fake_profiler.busy;
}

bool cw_idle_wait_alone(CUcontext context, uint64_t patience_ns)
{
    fake_profiler.now_ns += fake_profiler.busy ? patience_ns : 0;
    return context && !fake_profiler.busy;
}

bool cw_idle_soon(CUcontext context, uint64_t patience_ns)
{
    return cw_idle_wait_alone(context, patience_ns);
}

bool cw_idle_can_watch(void)
{
    return !fake_profiler.no_thread;
}

bool cw_idle_watch(uint64_t limit_ns, void (*late)(void *), void *user)
{
    cr_expect(limit_ns && !fake_profiler.late && !fake_profiler.no_thread);
    fake_profiler.late = late;
    fake_profiler.late_user = user;
    fake_profiler.was_late = false;
    return true;
}

bool cw_idle_watch_end(void)
{
    fake_profiler.late = NULL;
    return fake_profiler.was_late;
}

static CUptiResult save(struct cw_checkpoint *checkpoint)
{
    cr_expect_not_null(checkpoint->context);
    fake_profiler.saved = fake_profiler.device;
    return CUPTI_SUCCESS;
}

static CUptiResult restore(struct cw_checkpoint *checkpoint)
{
    cr_expect_not_null(checkpoint->context);
    fake_profiler.device = fake_profiler.saved;
    fake_profiler.restored++;
    return CUPTI_SUCCESS;
}

static CUptiResult release(struct cw_checkpoint *checkpoint)
{
    checkpoint->context = NULL;
    return CUPTI_SUCCESS;
}

void cw_inject_load_company(void)
{
}

enum cw_company cw_inject_company(const char *pci)
{
    cr_expect(strcmp(pci, "0000:0a:00.0") == 0 || strcmp(pci, "0000:0b:00.0") == 0);
    return fake_profiler.alone ? CW_COMPANY_NONE : CW_COMPANY_OTHERS;
}

void cw_counters_open(void (*wanted)(const char *pci))
{
    fake_profiler.give_way = wanted;
}

const char *cw_counters_take(const char *pci)
{
    return *pci ? fake_profiler.taken : NULL;
}

bool cw_counters_try_again(const char *pci, CUptiResult result, const char **why)
{
    bool busy = *pci && result == CUPTI_ERROR_HARDWARE_BUSY;
    *why = busy ? CW_WHY_ANOTHER_PROFILER : NULL;
    return busy && fake_profiler.refusals % 2;
}

void cw_counters_give(const char *pci)
{
    fake_profiler.given += *pci != 0;
}

bool cw_counters_any_wanted(void)
{
    return fake_profiler.wanted;
}

bool cw_idle_synchronize(CUcontext context)
{
    return context != NULL;
}

void cw_module_look(const CUpti_ModuleResourceData *module)
{
    cw_variables->modules += module != NULL;
}

void cw_module_names(struct cw_writer *names)
{
    cw_writer_init(names);
    cw_write_bytes(names, "counter", sizeof "counter");
}

void cw_module_look_for_launchers(const CUpti_ModuleResourceData *module)
{
    (void)module;
}

bool cw_module_launches(const char *kernel)
{
    return strcmp(kernel, "launcher") == 0;
}

void cw_module_send(const CUpti_ModuleResourceData *module)
{
    fake_profiler.others += cw_sent_modules->wanted && module;
}

uint64_t cw_inject_now_ns(void)
{
    fake_profiler.now_ns += fake_profiler.slow ? 1000000 : fake_profiler.busy;
    return fake_profiler.now_ns;
}

uint64_t cw_inject_thread(void)
{
    return fake_profiler.thread ? fake_profiler.thread : 1;
}

bool cw_inject_lock(void)
{
    return true;
}

void cw_inject_unlock(void)
{
}

void cw_inject_acquire(void)
{
    fake_profiler.let_go = false;
}

void cw_inject_release(void)
{
    fake_profiler.let_go = true;
}

void cw_inject_wait(void)
{
    void (*meanwhile)(void) = fake_profiler.meanwhile;
    fake_profiler.now_ns += 1000000000;
    fake_profiler.meanwhile = NULL;
    if (meanwhile)
        meanwhile();
}

void cw_inject_pause(uint64_t ns)
{
    void (*paused)(void) = fake_profiler.paused;
    fake_profiler.now_ns += ns + 1;
    fake_profiler.paused = NULL;
    if (paused)
        paused();
}

__attribute__((weak)) bool cw_inject_start_thread(void *(*run)(void *), void *user)
{
    return run && !user;
}

__attribute__((weak)) void cw_inject_own_thread(void)
{
}

__attribute__((weak)) void cw_inject_sleep(uint64_t ns)
{
    fake_profiler.now_ns += ns;
}

void cw_thread_enter(struct cw_thread *thread)
{
    *thread = (struct cw_thread){0};
}

void cw_thread_leave(const struct cw_thread *thread)
{
    (void)thread;
}

void cw_inject_say_contexts(void)
{
    cr_expect(false, "no test has so many");
}

void cw_inject_fail(enum cw_status status, const char *format, ...)
{
    (void)status;
    va_list args;
    va_start(args, format);
    vsnprintf(fake_profiler.failure, sizeof fake_profiler.failure, format, args);
    va_end(args);
    cw_inject->over = true;
}

bool cw_inject_good(CUptiResult result, const char *call)
{
    cr_expect_eq(result, CUPTI_SUCCESS, "%s", call);
    return true;
}

/* Memory that the agent reads is as it was handed over. */
bool cw_inject_wait_taken(uint64_t number)
{
    struct fake_handed *h = &handed[number];
    if (h->bytes) {
        cr_expect_arr_eq(h->bytes, h->copy, data_bytes());
        munmap(h->bytes, data_bytes());
    }
    h->bytes = NULL;
    return true;
}

uint64_t cw_inject_hand_over(enum cw_message_type type, struct cw_writer *out, int memory)
{
    struct stat file;
    struct fake_handed *now = &handed[++handed_count];
    int under_way = 0;
    if ((memory < 0 || type == CW_MESSAGE_TRACE_PAGE) && cw_inject_send(type, out))
        return handed_count;
    cr_assert(handed_count < FAKE_MOST_SENT && fstat(memory, &file) == 0);
    for (struct fake_handed *h = handed; h < now; h++) {
        cr_expect(!h->bytes || h->file != file.st_ino, "memory that was not waited for");
        under_way += h->bytes != NULL;
    }
    cr_expect_leq(under_way, 2, "the agent is not to get more than it can read");
    now->file = file.st_ino;
    now->bytes = mmap(NULL, data_bytes(), PROT_READ, MAP_SHARED, memory, 0);
    cr_assert_neq(now->bytes, MAP_FAILED);
    for (uint32_t part = 0; part < fake_profiler.parts && !takes_turns(); part++)
        cr_expect_eq(now->bytes[part * CW_MESSAGE_ALIGNMENT], part + 1, "counter data of each part in its place");
    memcpy(now->copy, now->bytes, data_bytes());
    uint32_t before = fake_profiler.sent_count;
    cw_inject_send(type, out);
    const uint32_t first = fake_profiler.once ? fake_profiler.parts : 0;
    for (uint32_t i = before; i < fake_profiler.sent_count && takes_turns(); i++)
        cr_expect_eq(*now->copy, fake_profiler.part_of[i] - first + 1, "counter data of the part that it says");
    return handed_count;
}

bool cw_inject_send(enum cw_message_type type, struct cw_writer *out)
{
    struct fake_profiler *f = &fake_profiler;
    struct cw_reader in;
    if (type != CW_MESSAGE_RANGES) {
        f->others++;
        f->other_size = out->size < sizeof f->other ? out->size : sizeof f->other;
        if (f->other_size)
            memcpy(f->other, out->data, f->other_size);
        if (f->hear)
            f->hear(type, out);
        cw_writer_free(out);
        return true;
    }
    cw_reader_init(&in, out->data, out->size, "message", 0, NULL);
    cw_read_u32(&in);
    f->skipped += cw_read_u32(&in);
    const char *why = cw_read_string(&in, arena);
    if (*why)
        snprintf(f->why, sizeof f->why, "%s", why);
    struct cw_effort effort;
    cw_effort_read(&in, &effort, arena);
    if (*effort.ended) {
        f->batches++;
        snprintf(f->ended, sizeof f->ended, "%s", effort.ended);
        memcpy(f->spent_ns, effort.ns, sizeof f->spent_ns);
    }
    uint32_t before = f->sent_count;
    for (uint32_t n = cw_read_count(&in, 4, "launches"); n && f->sent_count < FAKE_MOST_SENT; n--)
        cw_launch_read(&in, &f->sent[f->sent_count++], arena);
    uint32_t part = cw_read_u32(&in);
    while (before < f->sent_count)
        f->part_of[before++] = part;
    f->sent_parts = cw_read_u32(&in);
    cw_writer_free(out);
    return true;
}

/* Parts, and their config images of both scopes, with which of them in the first byte and whether it counts once in the
 * second. */
static void write_parts(struct cw_writer *setup, uint32_t parts, uint32_t passes, unsigned once)
{
    cw_write_u32(setup, parts);
    for (uint32_t i = 0; i < parts; i++) {
        cw_write_u32(setup, 1);
        cw_write_string(setup, "smsp__inst_executed.sum");
        cw_write_u32(setup, passes);
        cw_write_u8(setup, once && fake_patches >> i & 1);
    }
    for (unsigned scope = CW_SCOPE_CONTEXT; scope <= CW_SCOPE_DEVICE; scope++) {
        cw_write_u32(setup, 8);
        cw_write_u64(setup, scope | once << 8);
    }
}

void fake_profiler_begin(struct cw_writer *setup, uint32_t parts, uint32_t passes)
{
    fake_driver();
    fake_profiler = (struct fake_profiler){.version = 130001, .now_ns = 1, .parts = parts, .passes = passes};
    arena = cw_inject->arena = cw_arena_create();
    struct cw_cupti *api = &cw_inject->api;
    api->cuDeviceGetPCIBusId = pci_address;
    api->cuCtxGetCurrent = current_context;
    api->cuCtxPushCurrent_v2 = push_context;
    api->cuCtxPopCurrent_v2 = pop_context;
    api->cuDeviceGetAttribute = device_attribute;
    api->cuStreamQuery = stream_query;
    api->cuptiGetVersion = version;
    api->cuptiRangeProfilerEnable = enable;
    api->cuptiRangeProfilerDisable = disable;
    api->cuptiRangeProfilerGetCounterDataSize = data_size;
    api->cuptiRangeProfilerCounterDataImageInitialize = initialize;
    api->cuptiRangeProfilerSetConfig = set_config;
    api->cuptiRangeProfilerStart = start;
    api->cuptiRangeProfilerStop = stop;
    api->cuptiRangeProfilerPushRange = push;
    api->cuptiRangeProfilerPopRange = pop;
    api->cuptiRangeProfilerDecodeData = decode;
    *cw_checkpoint_library = (struct cw_checkpoint_library){save, restore, release};
    if (!setup)
        return;
    cw_writer_init(setup);
    cw_write_u32(setup, 4);
    write_parts(setup, parts, passes, 0);
    write_parts(setup, parts * passes, 1, 1);
}

void fake_ask_when(struct cw_writer *setup)
{
    cw_write_u64(setup, fake_profiler.now_ns);
    cw_trace_window_write(setup, &fake_when);
}

void fake_ask(struct cw_writer *setup, enum cw_replay_kind replay, bool user, const struct cw_filter_options *filter)
{
    cw_write_u32(setup, replay);
    cw_write_u8(setup, user);
    cw_write_u32(setup, 1);
    cw_write_u32(setup, 1);
    cw_write_u8(setup, false);
    cw_write_u32(setup, CW_RESERVE_USUAL);
    cw_write_u32(setup, CW_ON_HOST_USUAL);
    cw_filter_write(setup, filter ? filter : &(struct cw_filter_options){.launch_count = UINT64_MAX});
    fake_ask_when(setup);
}

void fake_setup(const struct cw_inject_mode *mode, struct cw_writer *setup)
{
    struct cw_reader in;
    cw_reader_init(&in, setup->data, setup->size, "setup", 0, NULL);
    cw_inject->mode = mode;
    cr_assert(mode->setup(&in));
    cw_writer_free(setup);
}

/* What CUPTI keeps of calls between their begin and their end. */
static uint64_t *kept_of(uint32_t number)
{
    static uint64_t kept[64];
    return &kept[number % 64];
}

static void follow_gate(const struct cw_inject_mode *mode, enum cw_gate_event event)
{
    if (event == CW_GATE_TURNS && mode->gate_turned)
        mode->gate_turned(!cw_gate->closed);
    if (event == CW_GATE_PERIOD && mode->period_began)
        mode->period_began(cw_period_facts(cw_gate->steady.period).launches);
}

void fake_profile(const struct cw_inject_mode *mode, bool starts)
{
    follow_gate(mode, cw_gate_profiler(starts ? CUPTI_DRIVER_TRACE_CBID_cuProfilerStart
                                              : CUPTI_DRIVER_TRACE_CBID_cuProfilerStop));
}

const char *fake_symbol = "step";

void fake_launch_begins(const struct cw_inject_mode *mode, CUpti_CallbackId id, const void *params, CUcontext context,
                        uint32_t number)
{
    const CUpti_CallbackData call = {.callbackSite = CUPTI_API_ENTER,
                                     .correlationData = kept_of(number),
                                     .functionParams = params,
                                     .context = context,
                                     .symbolName = fake_symbol,
                                     .correlationId = number};
    cw_streams_follow(id, &call);
    follow_gate(mode, cw_gate_launch(id, &call));
    if (mode->launch_entered)
        mode->launch_entered(id, &call);
    cw_in_flight_launch_entered();
}

void fake_launch_ends(const struct cw_inject_mode *mode, CUpti_CallbackId id, const void *params, CUcontext context,
                      uint32_t number, CUresult result)
{
    const CUpti_CallbackData call = {.callbackSite = CUPTI_API_EXIT,
                                     .correlationData = kept_of(number),
                                     .functionParams = params,
                                     .functionReturnValue = &result,
                                     .context = context,
                                     .symbolName = fake_symbol,
                                     .correlationId = number};
    cw_in_flight_launch_left();
    mode->launch_left(id, &call);
}

void fake_share_memory(const struct cw_inject_mode *mode)
{
    const CUpti_CallbackData call = {.callbackSite = CUPTI_API_ENTER, .functionName = "cuIpcGetMemHandle"};
    cr_expect(cw_reach_follow(CUPTI_DRIVER_TRACE_CBID_cuIpcGetMemHandle, &call));
    mode->rest();
    cw_reach_begin(CUPTI_DRIVER_TRACE_CBID_cuIpcGetMemHandle, &call);
    mode->rest();
}

void fake_capture(const struct cw_inject_mode *mode, CUcontext context, CUstream stream, bool begins)
{
    const cuStreamEndCapture_params params = {.hStream = stream}; /* that of the begin begins alike */
    CUpti_CallbackId id =
        begins ? CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2 : CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture;
    CUresult result = CUDA_SUCCESS;
    uint64_t kept;
    CUpti_CallbackData call = {
        .callbackSite = CUPTI_API_ENTER, .correlationData = &kept, .functionParams = &params, .context = context};
    cw_stream_capture_follow(id, &call);
    if (mode->wants && mode->wants(id) && mode->call_entered)
        mode->call_entered(id, &call);
    fake_captured = begins ? stream : NULL;
    call.callbackSite = CUPTI_API_EXIT;
    call.functionReturnValue = &result;
    cw_stream_capture_follow(id, &call);
    if (mode->wants && mode->wants(id) && mode->call_left)
        mode->call_left(id, &call);
}

void fake_profiler_end(void)
{
    cw_arena_destroy(arena);
}
