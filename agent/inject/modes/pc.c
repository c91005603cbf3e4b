/* PC sampling of each context. Samples are handed over in batches: at launches once the flush interval has passed, when
 * a module is unloaded (its addresses may be reused), at the end of a range to sample, and at the end of the
 * program. */
#include "agent/inject/modes/pc.h"

#include <stdlib.h>

#include "agent/inject/driver/idle.h"
#include "agent/inject/driver/in_flight.h"
#include "agent/inject/driver/module.h"
#include "agent/inject/driver/say.h"
#include "agent/inject/driver/stream_capture.h"
#include "agent/inject/memory/kernels.h"
#include "agent/inject/ranges/gate.h"
#include "agent/inject/ranges/user_ranges.h"
#include "base/search.h"

struct cw_sampled { /* a context under PC sampling */
    CUcontext context;
    uint32_t device;
    bool held;        /* CUPTI has the address of `kept` */
    bool running;     /* enabled and able to sample */
    bool started;     /* sampling now */
    bool given_up;    /* CUPTI delivers no more */
    bool waits;       /* another context of its device has its turn */
    bool launched;    /* it has launched beside others' turns */
    uint32_t missed;  /* launches in that turn */
    uint32_t gave;    /* of these, launches at which it let another go first */
    uint64_t turn_ns; /* its last turn lasts until then, or its last try was then */
    uint64_t next_ns; /* not before this time another try */
    uint64_t last_ns; /* its last launch */
    bool aside;       /* stopped for a launch that may wait */
    uint32_t watched; /* correlation of such a launch, the first of its kernel; else 0 */
    uint64_t entered; /* number of launches before that one */
    uint8_t period;
    uint64_t since_ns;
    struct cw_arena *arena; /* for the members below */
    size_t reason_count;
    uint32_t *reason_numbers; /* CUPTI's numbers, possibly not ascending */
    char **reasons;
    /* CUPTI uses `kept` for samples that it hands over when sampling is disabled */
    CUpti_PCSamplingData kept, asked;
};

static const uint64_t short_patience_ns = 100000000; /* for kernels that may wait */
/* A turn of a context lasts so long and, from its second turn on, so many times as long as it takes to change. */
static const uint64_t turn_ns = 200000000, turn_patience_ns = 1000000000;
enum { TURNS_A_CHANGE = 10, GIVES = 64 };
/* For earlier work, before a range begins or ends, and before the program ends. */
static const uint64_t range_patience_ns = 10000000000, end_patience_ns = 60000000000;
/* When sampling is disabled, CUPTI hands over all remaining samples at once, and PCs beyond the buffer are lost. */
enum { PCS_AT_ONCE = 4096, PCS_AT_END = 65536, MOST_REASONS = 1024 };

static struct {
    /* from SETUP: */
    uint64_t flush_ns, buffer_bytes;
    enum cw_pc_mode mode;
    uint8_t period;
    uint32_t wanted_count;
    const char **wanted;
    struct cw_filter_options options;
    struct cw_filter filter;
    size_t chosen_count, chosen_capacity;
    uint32_t *chosen; /* correlations of launches, ascending, if only some are wanted */
    uint32_t context_count;
    struct cw_sampled *contexts[CW_MOST_CONTEXTS]; /* CUPTI holds the addresses of their buffers */
    bool stays;                                    /* CUPTI samples a context that was forgotten */
    bool late;                                     /* sampling is to start or stop, and could not yet */
    bool told;                                     /* the message about unsampled launches that may wait was printed */
    bool told_missed;                              /* the one about contexts that had no turn */
    uint32_t turns;                                /* changes of turns; the message about them follows the second */
} state CW_STATE;
#define self (&state)

static bool by_range(void)
{
    return self->options.range || cw_gate->asked;
}

/* Whether the library starts and stops sampling in an enabled context; else CUPTI samples as long as it is enabled. */
static bool by_hand(void)
{
    return by_range() || self->mode == CW_PC_SERIALIZED;
}

static bool setup(struct cw_reader *in)
{
    self->flush_ns = cw_read_u64(in);
    self->mode = (enum cw_pc_mode)cw_read_u8(in);
    self->period = cw_read_u8(in);
    self->buffer_bytes = cw_read_u64(in);
    cw_sent_modules->wanted = cw_read_u8(in);
    self->wanted_count = cw_read_count(in, 4, "stall reasons");
    self->wanted = cw_arena_alloc(cw_inject->arena, self->wanted_count, sizeof *self->wanted);
    for (uint32_t i = 0; self->wanted && i < self->wanted_count; i++)
        self->wanted[i] = cw_read_string(in, cw_inject->arena);
    cw_filter_read(in, &self->options, cw_inject->arena);
    if (!cw_gate_read(in))
        return false;
    if (!self->wanted || in->status != CW_OK || self->mode >= CW_PC_MODE__COUNT ||
        cw_filter_open(&self->filter, &self->options, NULL) != CW_OK)
        return false;
    if (self->options.range)
        cw_user_ranges_filter(&self->filter);
    return true;
}

/* ---- start ------------------------------------------------------------------------------------------------------ */

static bool list_reasons(struct cw_sampled *s)
{
    CUpti_PCSamplingGetNumStallReasonsParams number = {
        .size = CUpti_PCSamplingGetNumStallReasonsParamsSize, .ctx = s->context, .numStallReasons = &s->reason_count};
    if (!CALL(cuptiPCSamplingGetNumStallReasons, number))
        return false;
    if (s->reason_count > MOST_REASONS)
        s->reason_count = MOST_REASONS;
    s->arena = cw_arena_create();
    if (!s->arena)
        return cw_inject_fail_memory();
    s->reason_numbers = cw_arena_alloc(s->arena, s->reason_count, sizeof *s->reason_numbers);
    s->reasons = cw_arena_alloc(s->arena, s->reason_count, sizeof *s->reasons);
    char *texts = cw_arena_alloc(s->arena, s->reason_count, CUPTI_STALL_REASON_STRING_SIZE);
    if (!s->reason_numbers || !s->reasons || !texts)
        return cw_inject_fail_memory();
    for (size_t i = 0; i < s->reason_count; i++)
        s->reasons[i] = texts + i * CUPTI_STALL_REASON_STRING_SIZE;
    CUpti_PCSamplingGetStallReasonsParams names = {.size = CUpti_PCSamplingGetStallReasonsParamsSize,
                                                   .ctx = s->context,
                                                   .numStallReasons = s->reason_count,
                                                   .stallReasonIndex = s->reason_numbers,
                                                   .stallReasons = s->reasons};
    return CALL(cuptiPCSamplingGetStallReasons, names);
}

static bool has_number(const uint32_t *numbers, size_t count, uint32_t number)
{
    size_t i = 0;
    while (i < count && numbers[i] != number)
        i++;
    return i < count;
}

/* Finds the numbers of the requested reasons, each once: CUPTI's records have a place for each of a GPU's reasons. */
static bool choose_reasons(const struct cw_sampled *s, uint32_t *numbers, size_t *count)
{
    *count = 0;
    for (uint32_t w = 0; w < self->wanted_count; w++) {
        bool found = false;
        for (size_t i = 0; i < s->reason_count; i++) {
            const bool same = cw_stall_reason_is(s->reasons[i], self->wanted[w]);
            if (same && !has_number(numbers, *count, s->reason_numbers[i]))
                numbers[(*count)++] = s->reason_numbers[i];
            found = found || same;
        }
        if (!found) {
            cw_inject_fail(CW_ERR_USAGE, "found the stall reason '%s', expected one of this GPU, such as %s and %s",
                           self->wanted[w], s->reason_count > 0 ? s->reasons[0] : "",
                           s->reason_count > 1 ? s->reasons[1] : "");
            return false;
        }
    }
    return true;
}

/* Makes a buffer for CUPTI to fill. */
static bool make_buffer(struct cw_sampled *s, CUpti_PCSamplingData *b, size_t pcs)
{
    *b = (CUpti_PCSamplingData){.size = sizeof *b, .collectNumPcs = pcs};
    b->pPcData = cw_arena_alloc(s->arena, pcs, sizeof *b->pPcData);
    CUpti_PCSamplingStallReason *stalls = cw_arena_alloc(s->arena, pcs * s->reason_count, sizeof *stalls);
    if (!b->pPcData || !stalls)
        return cw_inject_fail_memory();
    for (size_t i = 0; i < pcs; i++) {
        b->pPcData[i].size = sizeof *b->pPcData;
        b->pPcData[i].stallReason = stalls + i * s->reason_count;
    }
    return true;
}

static bool good_attributes(const CUpti_PCSamplingConfigurationInfo *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].attributeStatus != CUPTI_SUCCESS)
            return cw_inject_good(list[i].attributeStatus, "cuptiPCSamplingSetConfigurationAttribute: an attribute");
    return true;
}

static bool configure(struct cw_sampled *s)
{
    uint32_t numbers[MOST_REASONS];
    size_t chosen, n = 0;
    CUpti_PCSamplingConfigurationInfo list[7];
    if (!choose_reasons(s, numbers, &chosen))
        return false;
    memset(list, 0, sizeof list);
    list[n].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE;
    list[n++].attributeData.collectionModeData.collectionMode =
        self->mode == CW_PC_SERIALIZED ? CUPTI_PC_SAMPLING_COLLECTION_MODE_KERNEL_SERIALIZED
                                       : CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS;
    list[n].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER;
    list[n++].attributeData.samplingDataBufferData.samplingDataBuffer = &s->kept;
    if (by_hand()) {
        list[n].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_ENABLE_START_STOP_CONTROL;
        list[n++].attributeData.enableStartStopControlData.enableStartStopControl = 1;
    }
    if (self->period) {
        list[n].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD;
        list[n++].attributeData.samplingPeriodData.samplingPeriod = self->period;
    }
    if (self->buffer_bytes) {
        list[n].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE;
        list[n++].attributeData.hardwareBufferSizeData.hardwareBufferSize = self->buffer_bytes;
    }
    if (chosen) {
        list[n].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_STALL_REASON;
        list[n].attributeData.stallReasonData.stallReasonCount = chosen;
        list[n++].attributeData.stallReasonData.pStallReasonIndex = numbers;
    }
    CUpti_PCSamplingConfigurationInfoParams params = {.size = CUpti_PCSamplingConfigurationInfoParamsSize,
                                                      .ctx = s->context,
                                                      .numAttributes = n,
                                                      .pPCSamplingConfigurationInfo = list};
    return CALL(cuptiPCSamplingSetConfigurationAttribute, params) && good_attributes(list, n);
}

/* The active period, 0 if CUPTI does not tell. */
static uint8_t ask_period(const struct cw_sampled *s)
{
    CUpti_PCSamplingConfigurationInfo info;
    memset(&info, 0, sizeof info);
    info.attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD;
    CUpti_PCSamplingConfigurationInfoParams params = {.size = CUpti_PCSamplingConfigurationInfoParamsSize,
                                                      .ctx = s->context,
                                                      .numAttributes = 1,
                                                      .pPCSamplingConfigurationInfo = &info};
    uint32_t period = self->period;
    if (cw_inject->api.cuptiPCSamplingGetConfigurationAttribute(&params) == CUPTI_SUCCESS)
        period = info.attributeData.samplingPeriodData.samplingPeriod;
    return period < 32 ? (uint8_t)period : 0;
}

static void start(struct cw_sampled *s)
{
    CUpti_PCSamplingStartParams params = {.size = CUpti_PCSamplingStartParamsSize, .ctx = s->context};
    if (!s->running || s->started || cw_inject->over)
        return;
    s->started = CALL(cuptiPCSamplingStart, params);
    s->since_ns = cw_inject_now_ns();
}

/* The context of a device whose turn it is, or NULL. CUPTI fails to deliver samples for two contexts of a device, so
 * they take turns. */
static struct cw_sampled *sampled_on(uint32_t device)
{
    for (uint32_t i = 0; i < self->context_count; i++)
        if (self->contexts[i]->device == device && !self->contexts[i]->waits)
            return self->contexts[i];
    return NULL;
}

/* Enables sampling; only then does CUPTI list stall reasons and accept attributes. */
static void enable(struct cw_sampled *s)
{
    CUpti_PCSamplingEnableParams params = {.size = CUpti_PCSamplingEnableParamsSize, .ctx = s->context};
    s->held = CALL(cuptiPCSamplingEnable, params);
    s->running = s->held &&
                 (s->reasons || (list_reasons(s) && make_buffer(s, &s->kept, PCS_AT_END) &&
                                 make_buffer(s, &s->asked, PCS_AT_ONCE))) &&
                 configure(s);
    s->period = ask_period(s);
    s->since_ns = cw_inject_now_ns();
    if (!by_hand())
        s->started = s->running;
    else
        self->late = true; /* started once no launch is active, where there is something to sample */
}

static void context_created(CUcontext context, uint32_t device)
{
    if (self->context_count == CW_MOST_CONTEXTS) {
        cw_inject_say_contexts();
        return;
    }
    struct cw_sampled *s = calloc(1, sizeof *s);
    if (!s) {
        cw_inject_fail_memory();
        return;
    }
    s->context = context;
    s->device = device;
    s->waits = sampled_on(device);
    self->contexts[self->context_count++] = s;
    if (!s->waits)
        enable(s);
}

/* ---- chosen launches ------------------------------------------------------------------------------------------- */

/* Number of chosen launches before a correlation. */
static size_t find_chosen(uint32_t correlation)
{
    struct cw_search s = {0, self->chosen_count};
    while (s.low < s.high)
        cw_search_narrow(&s, self->chosen[cw_search_middle(&s)] < correlation);
    return s.low;
}

static bool is_chosen(uint32_t correlation)
{
    const size_t at = find_chosen(correlation);
    return at < self->chosen_count && self->chosen[at] == correlation;
}

static void choose(uint32_t correlation)
{
    if (self->chosen_count == self->chosen_capacity) {
        const size_t capacity = self->chosen_capacity ? 2 * self->chosen_capacity : 256;
        uint32_t *grown = realloc(self->chosen, capacity * sizeof *grown);
        if (!grown) {
            cw_inject_fail_memory();
            return;
        }
        self->chosen = grown;
        self->chosen_capacity = capacity;
    }
    const size_t at = find_chosen(correlation); /* near the end, because only threads overtake each other */
    memmove(self->chosen + at + 1, self->chosen + at, (self->chosen_count - at) * sizeof *self->chosen);
    self->chosen[at] = correlation;
    self->chosen_count++;
}

/* ---- samples ---------------------------------------------------------------------------------------------------- */

/* Index of the reason with CUPTI's number. */
static uint32_t find_reason(const struct cw_sampled *s, uint32_t number)
{
    if (number < s->reason_count && s->reason_numbers[number] == number)
        return number;
    for (uint32_t i = 0; i < s->reason_count; i++)
        if (s->reason_numbers[i] == number)
            return i;
    return UINT32_MAX;
}

static bool is_wanted(const CUpti_PCSamplingPCData *pc)
{
    return cw_filter_kernel(&self->filter, pc->functionName ? pc->functionName : "") &&
           (!cw_filter_counts(&self->options) || is_chosen(pc->correlationId));
}

/* Counts samples; some reasons count part of another's samples again. */
static uint64_t samples_of(const struct cw_sampled *s, const CUpti_PCSamplingPCData *pc)
{
    uint64_t samples = 0;
    for (size_t k = 0; k < pc->stallReasonCount && k < s->reason_count; k++) {
        uint32_t reason = find_reason(s, pc->stallReason[k].pcSamplingStallReasonIndex);
        if (reason != UINT32_MAX && !cw_stall_reason_is_twin(s->reasons[reason]))
            samples += pc->stallReason[k].samples;
    }
    return samples;
}

/* Fills records and stalls (as many of each as the buffer holds) from CUPTI's buffer. *left is the number of samples of
 * unwanted kernels. */
static uint32_t take_records(const struct cw_sampled *s, const CUpti_PCSamplingData *b, struct cw_pc_record *records,
                             struct cw_stall *stalls, uint64_t *left)
{
    uint32_t n = 0;
    for (size_t i = 0; i < b->totalNumPcs && i < b->collectNumPcs; i++) {
        const CUpti_PCSamplingPCData *pc = &b->pPcData[i];
        struct cw_stall *own = stalls + i * s->reason_count;
        uint32_t count = 0;
        if (!is_wanted(pc)) {
            *left += samples_of(s, pc);
            continue;
        }
        for (size_t k = 0; k < pc->stallReasonCount && k < s->reason_count; k++) {
            uint32_t reason = find_reason(s, pc->stallReason[k].pcSamplingStallReasonIndex);
            if (reason != UINT32_MAX && pc->stallReason[k].samples)
                own[count++] = (struct cw_stall){reason, pc->stallReason[k].samples};
        }
        records[n++] = (struct cw_pc_record){.at = {.module = pc->cubinCrc,
                                                    .pc = pc->pcOffset,
                                                    .function = pc->functionName ? pc->functionName : "",
                                                    .symbol = pc->functionIndex},
                                             .launch = pc->correlationId,
                                             .stall_count = count,
                                             .stalls = own};
    }
    return n;
}

/* Sends the content of the buffer and empties it. */
static void send_samples(struct cw_sampled *s, CUpti_PCSamplingData *b)
{
    if (!b->totalNumPcs && !b->totalSamples && !b->hardwareBufferFull)
        return;
    struct cw_pc_record *records = calloc(b->totalNumPcs + 1, sizeof *records);
    struct cw_stall *stalls = calloc((b->totalNumPcs + 1) * (s->reason_count + 1), sizeof *stalls);
    if (records && stalls) {
        uint64_t left = 0;
        const uint32_t count = take_records(s, b, records, stalls, &left);
        struct cw_pc_batch batch = {.device = s->device,
                                    .process = (uint32_t)cw_inject->process,
                                    .start_ns = s->since_ns,
                                    .end_ns = cw_inject_now_ns(),
                                    .mode = self->mode,
                                    .period = s->period,
                                    .buffer_full = b->hardwareBufferFull,
                                    .total = b->totalSamples,
                                    .dropped = b->droppedSamples,
                                    .other = b->nonUsrKernelsTotalSamples + left,
                                    .reason_count = (uint32_t)s->reason_count,
                                    .reasons = (const char *const *)s->reasons,
                                    .record_count = count,
                                    .records = records};
        struct cw_writer out;
        cw_writer_init(&out);
        cw_pc_batch_write(&batch, &out);
        cw_inject_send(CW_MESSAGE_PC, &out);
    } else {
        cw_inject_fail_memory();
    }
    free(records);
    free(stalls);
    b->totalNumPcs = 0;
    b->totalSamples = b->droppedSamples = b->nonUsrKernelsTotalSamples = 0;
    b->hardwareBufferFull = 0;
}

/* Sends the samples that CUPTI handed over when it was disabled. */
static void send_kept(struct cw_sampled *s)
{
    s->held = false;
    if (s->kept.remainingNumPcs)
        s->kept.hardwareBufferFull = 1;
    send_samples(s, &s->kept);
}

/* Stops asking for samples, because CUPTI delivers no more, as when several processes of a GPU are sampled. Earlier
 * samples stay valid. */
static void give_up(struct cw_sampled *s, CUptiResult result)
{
    char text[600];
    cw_cupti_explain(&cw_inject->api, result, "cuptiPCSamplingGetData", text, sizeof text);
    cw_say("the samples of process %d end here: %.500s", (int)cw_inject->process, text);
    s->running = s->started = false;
    s->given_up = true;
    CUpti_PCSamplingDisableParams disable = {.size = CUpti_PCSamplingDisableParamsSize, .ctx = s->context};
    if (cw_inject->api.cuptiPCSamplingDisable(&disable) == CUPTI_SUCCESS)
        send_kept(s);
}

static void flush(struct cw_sampled *s)
{
    if (!s->running)
        return;
    do {
        s->asked.remainingNumPcs = 0;
        CUpti_PCSamplingGetDataParams get = {
            .size = CUpti_PCSamplingGetDataParamsSize, .ctx = s->context, .pcSamplingData = &s->asked};
        CUptiResult result = cw_inject->api.cuptiPCSamplingGetData(&get);
        if (result == CUPTI_ERROR_OUT_OF_MEMORY)
            s->asked.hardwareBufferFull = 1;
        else if (result != CUPTI_SUCCESS) {
            give_up(s, result);
            return;
        }
        send_samples(s, &s->asked);
    } while (s->asked.remainingNumPcs && !cw_inject->over);
    s->since_ns = cw_inject_now_ns();
}

/* Pauses sampling. CUPTI requires the samples of a range to be fetched before the next begins. */
static void pause(struct cw_sampled *s)
{
    CUpti_PCSamplingStopParams params = {.size = CUpti_PCSamplingStopParamsSize, .ctx = s->context};
    if (!by_hand() || !s->started)
        return;
    s->started = false;
    if (!cw_inject->over && CALL(cuptiPCSamplingStop, params))
        flush(s);
}

static void stop(struct cw_sampled *s)
{
    if (!s->running)
        return;
    if (by_hand())
        pause(s);
    else
        flush(s);
    if (s->given_up)
        return;
    s->running = s->started = false;
    CUpti_PCSamplingDisableParams disable = {.size = CUpti_PCSamplingDisableParamsSize, .ctx = s->context};
    if (cw_inject->over || !CALL(cuptiPCSamplingDisable, disable))
        return;
    send_kept(s);
}

/* ---- timing ----------------------------------------------------------------------------------------------------- */

/* Whether CUPTI may start, stop or deliver samples now. These calls spoil a capture of the context's streams. They also
 * take locks in another order than the driver does in a launch, which deadlocks two threads (CUPTI 13.0,
 * cuptiPCSamplingStop and cuGraphLaunch). */
static bool may_call(void)
{
    return cw_in_flight_no_launch() && !cw_stream_capture_is_under_way();
}

static struct cw_sampled *find(CUcontext context)
{
    for (uint32_t i = 0; i < self->context_count; i++)
        if (self->contexts[i]->context == context)
            return self->contexts[i];
    return NULL;
}

/* False if it must be tried again: a launch does not return, or launched work does not end. */
static bool settle_one(CUcontext context, bool open)
{
    /* only a range must not see earlier work; a kernel that never ends would hold up each launch */
    bool rests = may_call() && cw_idle_wait(context, by_range() ? range_patience_ns : short_patience_ns);
    struct cw_sampled *s = find(context);
    if (s && rests && may_call())
        (open ? start : pause)(s);
    return !s || (rests && may_call());
}

/* Whether there is something to sample: the gate is open, and a wanted range is, or none was named. */
static bool is_open(uint32_t ranges)
{
    return !cw_gate->closed && (ranges || !self->options.range);
}

/* Starts or pauses sampling. */
static void settle(uint32_t ranges)
{
    const bool open = is_open(ranges);
    self->late = false;
    for (uint32_t i = 0; by_hand() && i < self->context_count && !cw_inject->over; i++) {
        const struct cw_sampled *s = self->contexts[i];
        if (s->running && !s->aside && s->started != open)
            self->late = !settle_one(s->context, open) || self->late;
    }
}

/* ---- the program ------------------------------------------------------------------------------------------------ */

static void lose(const char *what)
{
    cw_inject_fail(CW_ERR_DEVICE, "found a launch that does not end before %s does; the last samples are lost", what);
}

static void tell_missed(const struct cw_sampled *s)
{
    if (!s->launched || s->arena || self->told_missed)
        return;
    cw_say("a context of a GPU launched kernels beside another's, and had no turn: they are not sampled");
    self->told_missed = true;
}

/* Disables sampling behind the end of a capture that failed, so that another session can follow. While a kernel runs,
 * CUPTI would wait for it. */
static void leave(CUcontext context)
{
    CUpti_PCSamplingDisableParams disable = {.size = CUpti_PCSamplingDisableParamsSize, .ctx = context};
    if (cw_in_flight_no_launch() && cw_idle_wait(context, end_patience_ns) && cw_in_flight_no_launch()) {
        struct cw_sampled *s = find(context);
        if (s && s->held)
            s->held = cw_inject->api.cuptiPCSamplingDisable(&disable) != CUPTI_SUCCESS;
    }
}

static void context_destroyed(CUcontext context)
{
    bool waited = !find(context) || cw_in_flight_wait(cw_in_flight_no_launch);
    struct cw_sampled *s = find(context);
    if (!s)
        return;
    tell_missed(s);
    if (waited)
        stop(s);
    else
        lose("a context");
    if (s->held && cw_inject->over)
        leave(context);
    if (!(s = find(context)))
        return;
    uint32_t i = 0;
    while (self->contexts[i] != s)
        i++;
    self->contexts[i] = self->contexts[--self->context_count];
    self->stays = self->stays || s->held;
    if (s->held) /* CUPTI may still write there */
        return;
    cw_arena_destroy(s->arena);
    free(s);
}

/* Waits before the first range opens, so that earlier launches are not seen in it. */
static void range_opened(const struct cw_open_range *range)
{
    if (!by_range() || !range->wanted)
        return;
    cw_in_flight_wait(cw_in_flight_no_launch);
    settle(cw_user_ranges_wanted_count());
}

/* Waits before the last range closes, so that its launches have run. */
static void range_closing(const struct cw_open_range *range)
{
    if (!by_range() || !range->wanted)
        return;
    cw_in_flight_wait(cw_in_flight_no_launch);
    settle(cw_user_ranges_wanted_count() - 1);
}

/* Called before a launch, or behind a call of the profiler API. */
static void gate_turned(bool open)
{
    (void)open;
    cw_in_flight_wait(cw_in_flight_no_launch);
    settle(cw_user_ranges_wanted_count());
}

/* ---- kernels that wait ------------------------------------------------------------------------------------------ */

/* Stops sampling for a launch. In serialized mode CUPTI returns from a launch only when the kernel has ended, so a
 * kernel that waits for the program's next step would never end. So sampling is off around the first launch of each
 * kernel that is given host memory, and around all launches of a kernel that waits. It stays enabled, because CUPTI
 * names no kernel that is loaded until it is enabled again. */
static void step_aside(CUcontext context, uint32_t correlation, bool known)
{
    bool waited = cw_in_flight_wait(cw_in_flight_no_launch);
    struct cw_sampled *s = find(context);
    if (!s || !s->running || !waited || !may_call())
        return;
    pause(s);
    s->aside = !s->given_up;
    s->watched = known ? 0 : correlation;
    s->entered = cw_in_flight->entered;
    if (!self->told)
        cw_say("launches that may wait for the program are not sampled: the first launch of a kernel that gets host "
               "memory or runs beside another stream's, all launches of a kernel that waits, and launches behind a "
               "host function");
    self->told = true;
}

/* Resumes sampling once nothing runs. */
static bool step_back(CUcontext context, uint64_t limit_ns)
{
    bool rests = cw_in_flight_wait(cw_in_flight_no_launch);
    cw_in_flight_hold(); /* no launch before sampling resumes */
    rests = rests && cw_idle_wait(context, limit_ns);
    cw_in_flight_release();
    struct cw_sampled *s = find(context);
    if (s && rests && s->aside && may_call() && !cw_inject->over) {
        s->aside = false;
        if (is_open(cw_user_ranges_wanted_count()))
            start(s);
    }
    return rests;
}

static void see(CUpti_CallbackId id, const CUpti_CallbackData *call, struct cw_sampled *s)
{
    const uint64_t entered = s->entered;
    s->watched = 0;
    bool rests = step_back(call->context, CW_KERNEL_WATCH_NS);
    cw_kernel_seen(cw_inject_kernel(id, call), rests, entered);
}

/* ---- several contexts of a device ------------------------------------------------------------------------------- */

/* Ends the turn of a context, once its launches have ended. Other threads launch nothing meanwhile. */
static bool end_turn(CUcontext context)
{
    const bool rests = cw_idle_wait(context, turn_patience_ns);
    struct cw_sampled *s = find(context);
    if (!s || !rests || !may_call())
        return !s;
    if (s->running)
        stop(s);
    s->waits = true;
    s->aside = false;
    return true;
}

/* Whether a context has its turn next: of those that launch, the one that has waited longest. It lets one go first for
 * a few launches, as that may launch no more. A turn ends early if its context launches nothing. */
static bool is_next(struct cw_sampled *s, const struct cw_sampled *other, uint64_t now_ns)
{
    bool next = true;
    if (now_ns < s->next_ns || (now_ns < other->turn_ns && now_ns - other->last_ns < turn_ns))
        return false;
    for (uint32_t i = 0; i < self->context_count; i++) {
        const struct cw_sampled *c = self->contexts[i];
        next = next && !(c->device == s->device && c->waits && c->missed && c->turn_ns < s->turn_ns);
    }
    return next || s->gave++ >= GIVES;
}

static void begin_turn(struct cw_sampled *s)
{
    for (uint32_t i = 0; i < self->context_count; i++)
        if (self->contexts[i]->device == s->device)
            self->contexts[i]->missed = self->contexts[i]->gave = 0;
    s->waits = false;
    enable(s);
    if (by_hand())
        start(s);
    if (++self->turns == 2)
        cw_say("contexts of a GPU take turns: each is sampled for a part of its time");
}

/* Gives a context its turn, once that of another has lasted, if both come to rest. */
static void take_turn(CUcontext context, uint64_t from_ns)
{
    struct cw_sampled *s = find(context);
    const struct cw_sampled *other = sampled_on(s->device);
    const bool first = !s->arena;
    s->launched = true;
    s->missed++;
    if (s->given_up || (other && !is_next(s, other, from_ns)))
        return;
    const CUcontext before = other ? other->context : NULL;
    bool rest = cw_in_flight_wait(cw_in_flight_no_launch);
    cw_in_flight_hold();
    rest = rest && cw_idle_wait(context, turn_patience_ns) && (!before || end_turn(before)) && may_call();
    cw_in_flight_release();
    if (!(s = find(context)) || cw_inject->over)
        return;
    const bool begins = rest && !sampled_on(s->device);
    if (begins)
        begin_turn(s);
    const uint64_t now_ns = cw_inject_now_ns(), pause_ns = TURNS_A_CHANGE * (now_ns - from_ns);
    s->turn_ns = now_ns + (begins ? first || pause_ns < turn_ns ? turn_ns : pause_ns : 0);
    s->next_ns = now_ns + (begins ? 0 : pause_ns);
}

/* Gives a context that launches its turn, while there is something to sample. */
static void review_turn(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_sampled *s = find(call->context);
    if (!s || (self->context_count == 1 && !s->waits) ||
        (!cw_inject_launches_graph(id) && !cw_stream_runs_launch(id, call)))
        return;
    const uint64_t now_ns = s->last_ns = cw_inject_now_ns();
    if (s->waits && is_open(cw_user_ranges_wanted_count()))
        take_turn(call->context, now_ns);
}

/* ---- launches --------------------------------------------------------------------------------------------------- */

/* Counts a launch for the filter, if its context has its turn. A CUDA graph has no name of its own: it counts if all
 * kernels are wanted. */
static void count_launch(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    const bool graph = cw_inject_launches_graph(id);
    if (!cw_filter_counts(&self->options) || (!graph && !cw_stream_runs_launch(id, call)))
        return;
    const char *name = graph || !call->symbolName ? "" : call->symbolName;
    const struct cw_sampled *s = find(call->context);
    if (s && !s->waits && !cw_gate->closed && cw_filter_launch(&self->filter, name, cw_user_ranges_wanted_count() > 0))
        choose(call->correlationId);
}

static void launch_entered(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    review_turn(id, call);
    struct cw_sampled *s = find(call->context);
    if (s && s->aside && !s->watched)
        step_back(call->context, short_patience_ns);
    if (self->late)
        settle(cw_user_ranges_wanted_count());
    count_launch(id, call);
    if (self->mode == CW_PC_SERIALIZED && cw_stream_runs_launch(id, call) && cw_kernel_may_wait(id, call))
        step_aside(call->context, call->correlationId, cw_kernel_waits(cw_inject_kernel(id, call)));
}

static bool is_due(const struct cw_sampled *s)
{
    return s && s->started && (self->mode == CW_PC_SERIALIZED || cw_inject_now_ns() - s->since_ns > self->flush_ns);
}

/* Flushes now, or later if a launch of another thread does not return. */
static void flush_when_quiet(CUcontext context)
{
    bool waited = cw_in_flight_wait(cw_in_flight_no_launch);
    struct cw_sampled *s = find(context);
    if (!s || !s->started)
        return;
    if (waited && may_call())
        flush(s);
    else
        s->since_ns = cw_inject_now_ns();
}

static void launch_left(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    struct cw_sampled *s = find(call->context);
    if (s && s->watched && s->watched == call->correlationId)
        see(id, call, s);
    if (self->late)
        settle(cw_user_ranges_wanted_count());
    if (is_due(find(call->context)))
        flush_when_quiet(call->context);
}

static bool wants(CUpti_CallbackId id)
{
    return cw_stream_capture_follows(id) || (self->mode == CW_PC_SERIALIZED && cw_inject_blocks_stream(id));
}

/* Stops sampling before a host function in a stream, which may wait for the program: later launches would never
 * return either. */
static void call_entered(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    if (self->mode == CW_PC_SERIALIZED && cw_inject_blocks_stream(id))
        step_aside(call->context, 0, true);
}

/* Called because a capture may have ended. */
static void call_left(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    (void)id;
    (void)call;
    if (self->late)
        settle(cw_user_ranges_wanted_count());
}

static void module_unloading(CUcontext context)
{
    const struct cw_sampled *s = find(context);
    if (s && s->started)
        flush_when_quiet(context);
}

static void finish_one(CUcontext context)
{
    struct cw_sampled *s = find(context);
    const uint64_t patience_ns = s && s->aside ? short_patience_ns : end_patience_ns; /* nothing is left of one aside */
    const bool rests = !s || !s->running || cw_idle_wait(context, patience_ns);
    s = find(context);
    if (s && rests)
        stop(s);
    else if (s && s->running && !s->aside)
        lose("the program");
    if (s)
        tell_missed(s);
}

static void finish(void)
{
    if (!cw_in_flight_wait(cw_in_flight_no_launch))
        lose("the program");
    for (uint32_t i = 0; i < self->context_count && !cw_inject->over; i++)
        finish_one(self->contexts[i]->context);
}

static void flush_all(void)
{
    for (uint32_t i = self->context_count; i-- > 0 && !cw_inject->over;)
        if (i < self->context_count)
            flush_when_quiet(self->contexts[i]->context);
}

static bool reset(void)
{
    const bool stays = self->stays;
    cw_filter_close(&self->filter);
    free(self->chosen);
    memset(self, 0, sizeof *self);
    return !stays;
}

const struct cw_inject_mode cw_inject_pc = {.setup = setup,
                                            .context_created = context_created,
                                            .context_destroyed = context_destroyed,
                                            .launch_entered = launch_entered,
                                            .launch_left = launch_left,
                                            .finish = finish,
                                            .flush = flush_all,
                                            .wants = wants,
                                            .call_entered = call_entered,
                                            .call_left = call_left,
                                            .range_opened = range_opened,
                                            .range_closing = range_closing,
                                            .gate_turned = gate_turned,
                                            .reset = reset,
                                            .module_loaded = cw_module_send,
                                            .module_unloading = module_unloading};
