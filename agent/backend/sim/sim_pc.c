/* PC samples and SASS records of the simulated GPU: functions with hot spots that follow from the seed. The program may
 * report its launches and ranges (sim.h); otherwise kernels of training ran now and then. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/backend/pc_capture.h"
#include "agent/backend/sim/sim.h"
#include "agent/backend/sim/sim_backend.h"
#include "agent/backend/sim/sim_gpu.h"
#include "agent/backend/sim/sim_training.h"
#include "agent/common/filter.h"
#include "agent/common/nesting.h"

enum { FUNCTIONS = CW_SIM_FORWARD_KERNELS, INSTRUCTIONS = 12, BYTES_AN_INSTRUCTION = 16, SMS = 4, PARTS_A_SM = 4 };

static const char *const reasons[] = {
    "smsp__pcsamp_warps_issue_stalled_long_scoreboard", "smsp__pcsamp_warps_issue_stalled_long_scoreboard_not_issued",
    "smsp__pcsamp_warps_issue_stalled_barrier",         "smsp__pcsamp_warps_issue_stalled_barrier_not_issued",
    "smsp__pcsamp_warps_issue_stalled_selected",        "smsp__pcsamp_warps_issue_stalled_wait",
};
enum { REASONS = sizeof reasons / sizeof *reasons };

struct simulation {
    const struct cw_pc_options *options;
    struct cw_arena *arena, *batch; /* memory of the capture, and of one batch */
    struct cw_collector out;
    struct cw_filter filter;
    struct cw_nesting nesting;
    struct cw_program program;
    struct cw_error trouble; /* the first error while the program ran */
    uint64_t samples;
    uint32_t batches;
    uint32_t launches; /* reported by the program */
    bool spoken;
    char domain[CW_SIM_DOMAIN_SIZE]; /* of the next range */
    /* content of the next batch: */
    uint32_t function_count;
    const char *names[FUNCTIONS];
};

static struct cw_instruction place(const struct simulation *s, uint32_t i)
{
    uint32_t function = i / INSTRUCTIONS;
    return (struct cw_instruction){.module = 0xc0de,
                                   .pc = (uint64_t)(i % INSTRUCTIONS) * BYTES_AN_INSTRUCTION,
                                   .function = s->names[function],
                                   .symbol = 1 + (uint32_t)(cw_sim_text_key(s->names[function]) % 1000)};
}

/* The instruction of the i-th record: functions follow one another, their instructions come in no order. */
static uint32_t scattered(uint32_t i)
{
    _Static_assert(INSTRUCTIONS % 5, "each instruction comes once");
    return i - i % INSTRUCTIONS + (i % INSTRUCTIONS * 5 + 2) % INSTRUCTIONS;
}

static bool is_wanted(const struct cw_pc_options *o, const char *reason)
{
    bool wanted = !o->reason_count;
    for (size_t i = 0; i < o->reason_count; i++)
        wanted = wanted || cw_stall_reason_is(reason, o->reasons[i]);
    return wanted;
}

static enum cw_status check_reasons(const struct cw_pc_options *o, struct cw_error *err)
{
    for (size_t i = 0; i < o->reason_count; i++) {
        size_t r = 0;
        while (r < REASONS && !cw_stall_reason_is(reasons[r], o->reasons[i]))
            r++;
        if (r == REASONS)
            return cw_error_set(err, CW_ERR_USAGE,
                                "found the stall reason '%.100s', expected long_scoreboard, barrier, selected or wait, "
                                "which the simulated GPU has",
                                o->reasons[i]);
    }
    return CW_OK;
}

/* Makes a batch of samples. Each drops the requested share, and the second fills the buffer. */
static bool make_pc(struct simulation *s, uint32_t number, struct cw_pc_batch *b)
{
    uint32_t count = s->function_count * INSTRUCTIONS, first = s->launches ? s->launches : 1;
    struct cw_pc_record *records = cw_arena_alloc(s->batch, count, sizeof *records);
    struct cw_stall *stalls = cw_arena_alloc(s->batch, (size_t)count * REASONS, sizeof *stalls);
    *b = (struct cw_pc_batch){.process = (uint32_t)s->program.pid,
                              .start_ns = CW_SIM_START_NS + 1000000 * (uint64_t)number,
                              .end_ns = CW_SIM_START_NS + 1000000 * (uint64_t)(number + 1),
                              .mode = s->options->mode,
                              .period = s->options->period ? s->options->period : 12,
                              .reason_count = REASONS,
                              .reasons = reasons,
                              .record_count = count,
                              .records = records};
    for (uint32_t k = 0; records && stalls && k < count; k++) {
        const uint32_t i = scattered(k);
        struct cw_stall *own = stalls + (size_t)i * REASONS;
        records[k] =
            (struct cw_pc_record){.at = place(s, i),
                                  .launch = s->options->mode == CW_PC_SERIALIZED ? first + i / INSTRUCTIONS : 0,
                                  .stalls = own};
        for (uint32_t r = 0, samples = 0; r < REASONS; r++) {
            uint64_t key = cw_sim_mix(s->options->capture.sim_seed ^ cw_sim_mix((uint64_t)i * REASONS + r) ^ number);
            bool twin = cw_stall_reason_is_twin(reasons[r]); /* it counts a part of the reason's samples again */
            samples = twin ? samples / 2 : key % 3 ? 0 : (uint32_t)(cw_sim_mix(key) % 1000);
            if (!is_wanted(s->options, reasons[r]))
                continue;
            if (samples)
                own[records[k].stall_count++] = (struct cw_stall){r, samples};
            b->total += twin ? 0 : samples;
        }
    }
    uint64_t lost = b->total * s->options->sim_drop / 100;
    b->buffer_full = lost && number == 1;
    b->dropped = lost;
    b->total += lost;
    return records && stalls;
}

static uint32_t values_of(enum cw_sass_level level)
{
    return level == CW_SASS_GPU ? 1 : level == CW_SASS_SM ? SMS : SMS * PARTS_A_SM;
}

/* The counts of instruction i. False when out of memory. */
static bool make_sass_record(const struct simulation *s, uint32_t i, struct cw_sass_record *record)
{
    const struct cw_pc_options *o = s->options;
    uint32_t *counts = cw_arena_alloc(s->batch, o->metric_count, sizeof *counts);
    const uint64_t **lists = cw_arena_alloc(s->batch, o->metric_count, sizeof *lists);
    *record = (struct cw_sass_record){.at = place(s, i), .counts = counts, .values = lists};
    record->at.symbol = 0; /* CUPTI does not know it */
    for (uint32_t m = 0; counts && lists && m < o->metric_count; m++) {
        counts[m] = values_of(o->metrics[m].level);
        uint64_t *values = cw_arena_alloc(s->batch, counts[m], sizeof *values);
        if (!values)
            return false;
        for (uint32_t k = 0; k < counts[m]; k++)
            values[k] =
                cw_sim_mix(o->capture.sim_seed ^ cw_sim_mix(i) ^ m) % 1000 * (values_of(CW_SASS_SMSP) / counts[m]);
        lists[m] = values;
    }
    return counts && lists;
}

static bool make_sass(struct simulation *s, struct cw_sass_batch *b)
{
    const uint32_t count = s->function_count * INSTRUCTIONS;
    struct cw_sass_record *records = cw_arena_alloc(s->batch, count, sizeof *records);
    bool good = records;
    *b = (struct cw_sass_batch){.process = (uint32_t)s->program.pid,
                                .start_ns = CW_SIM_START_NS,
                                .end_ns = CW_SIM_START_NS + 2000000,
                                .metric_count = s->options->metric_count,
                                .metrics = s->options->metrics,
                                .record_count = count,
                                .records = records};
    for (uint32_t i = 0; good && i < count; i++)
        good = make_sass_record(s, i, &records[i]);
    return good;
}

static enum cw_status write_batch(struct simulation *s, struct cw_error *err)
{
    struct cw_writer payload;
    struct cw_sass_batch sass;
    struct cw_pc_batch pc;
    bool is_sass = s->options->sass;
    s->batch = cw_arena_create();
    cw_writer_init(&payload);
    if (s->batch && is_sass && make_sass(s, &sass)) {
        cw_sass_batch_write(&sass, &payload);
        s->samples += sass.record_count;
    } else if (s->batch && !is_sass && make_pc(s, s->batches, &pc)) {
        cw_pc_batch_write(&pc, &payload);
        s->samples += pc.total;
        s->out.dropped += pc.dropped;
    } else {
        payload.status = CW_ERR_NOMEM;
    }
    cw_arena_destroy(s->batch);
    s->batches++;
    return cw_pc_append(&s->out, &payload, is_sass ? cw_sass_chunk_write : cw_pc_chunk_write, err);
}

static enum cw_status write_device(struct simulation *s, struct cw_error *err)
{
    struct cw_pair attributes[CW_SIM_ATTRIBUTES + 3];
    struct cw_device device = {.attribute_count = cw_sim_describe(attributes, "GH100"), .attributes = attributes};
    attributes[device.attribute_count++] = (struct cw_pair){"pci", "0000:00:00.0"};
    device.attribute_count += cw_sim_describe_rank(attributes + device.attribute_count);
    return cw_pc_describe(&device, s->options, s->arena) ? cw_collector_device(&s->out, &device, err)
                                                         : cw_error_nomem(err);
}

/* ---- the program ------------------------------------------------------------------------------------------------ */

static bool is_sampled(const struct simulation *s)
{
    return cw_filter_device(&s->filter, 0) && /* everything runs on device 0 */
           (!s->options->filter.range || cw_nesting_wanted(&s->nesting, 0));
}

static void launch(struct simulation *s, const char *kernel)
{
    s->launches++;
    if (!cw_sim_is_captured() || !is_sampled(s) || !cw_filter_launch(&s->filter, kernel, true) ||
        s->trouble.code != CW_OK) /* after the first error the program only runs to its end */
        return;
    s->function_count = 1;
    s->names[0] = kernel;
    write_batch(s, &s->trouble);
}

static void open_range(struct simulation *s, const char *name, bool process_wide)
{
    char *full = cw_sim_range_name(s->domain, name);
    *s->domain = 0;
    if (!full || (!cw_nesting_open(&s->nesting, 0, 0, process_wide, cw_filter_range(&s->filter, full), full) &&
                  s->nesting.count < CW_MOST_OPEN_RANGES))
        cw_error_nomem(&s->trouble);
    else if (cw_nesting_warning(&s->nesting))
        fprintf(stderr, "counterworks: %s\n", cw_nesting_warning(&s->nesting));
    free(full);
}

static void end_range(struct simulation *s, const char *name)
{
    for (uint32_t i = 0; i < s->nesting.count; i++)
        if (s->nesting.open[i].process_wide && cw_sim_is_range(s->nesting.open[i].name, name)) {
            cw_nesting_close(&s->nesting, s->nesting.open[i].id);
            return;
        }
}

static void take_line(void *user, const char *line)
{
    struct simulation *s = user;
    const char *rest;
    s->spoken = true;
    if ((rest = cw_sim_event(line, "launch"))) {
        launch(s, rest);
    } else if ((rest = cw_sim_event(line, "push"))) {
        open_range(s, rest, false);
    } else if (cw_sim_event(line, "pop")) {
        const struct cw_open_range *range =
            cw_nesting_pop_unknown(&s->nesting, 0, 0) ? NULL : cw_nesting_innermost(&s->nesting, 0, 0);
        cw_nesting_close(&s->nesting, range ? range->id : 0);
    } else if ((rest = cw_sim_event(line, "start"))) {
        open_range(s, rest, true);
    } else if ((rest = cw_sim_event(line, "end"))) {
        end_range(s, rest);
    } else if (!cw_sim_domain(s->domain, line) && !cw_sim_is_event(line)) {
        cw_error_set(&s->trouble, CW_ERR_INPUT,
                     "found the event '%.100s', expected launch, push, pop, start, end or another that sim.h lists",
                     line);
    }
}

/* For a program without events: launches each of a few kernels now and then, in no range. */
static enum cw_status pretend(struct simulation *s, struct cw_error *err)
{
    enum cw_status status = CW_OK;
    for (int i = 0; i < FUNCTIONS; i++)
        if (is_sampled(s) && cw_filter_launch(&s->filter, cw_sim_forward_kernels[i], true))
            s->names[s->function_count++] = cw_sim_forward_kernels[i];
    while (status == CW_OK && s->function_count && s->batches < (s->options->sass ? 1 : 2))
        status = write_batch(s, err);
    return status;
}

static enum cw_status simulate(struct simulation *s, int *exit_status, struct cw_error *err)
{
    struct cw_schema schema;
    CW_TRY(cw_filter_open(&s->filter, &s->options->filter, err));
    CW_TRY(check_reasons(s->options, err));
    CW_TRY(cw_pc_schema(&schema, "GH100", s->options, s->arena, err));
    CW_TRY(cw_collector_open(&s->out, s->options->capture.output, s->options->capture.force, &schema, err));
    CW_TRY(write_device(s, err));
    cw_sim_ask_profiler(s->options->when.profiler);
    CW_TRY(cw_sim_program_run(&s->program, s->options->capture.argv, 0, take_line, s, err));
    if (!s->spoken)
        pretend(s, &s->trouble);
    s->out.clocks = cw_sim_clocks();
    enum cw_status status = cw_pc_end(&s->out, &s->program, &s->trouble, err);
    return cw_pc_verdict(s->options, &s->program, s->samples, 0, NULL, status, exit_status, err);
}

enum cw_status cw_sim_pc(const struct cw_pc_options *options, int *exit_status, struct cw_error *err)
{
    struct simulation *s = calloc(1, sizeof *s);
    if (!s)
        return cw_error_nomem(err);
    s->options = options;
    s->out.fd = -1;
    s->arena = cw_arena_create();
    enum cw_status status = s->arena ? simulate(s, exit_status, err) : cw_error_nomem(err);
    cw_nesting_finish(&s->nesting);
    cw_collector_close(&s->out);
    cw_filter_close(&s->filter);
    cw_arena_destroy(s->arena);
    free(s);
    return status;
}

enum cw_status cw_sim_check(const struct cw_node_needs *needs, struct cw_error *err)
{
    if (!needs->list)
        return CW_OK;
    if (needs->need == CW_NEED_SASS)
        return cw_error_set(err, CW_ERR_UNSUPPORTED,
                            "the simulated GPU has no list of SASS metrics: it counts a metric of any name");
    for (int i = 0; i < REASONS; i++)
        puts(reasons[i]);
    return CW_OK;
}
