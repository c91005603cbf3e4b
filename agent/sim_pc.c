/* PC samples and SASS records of the simulated GPU: a few invented functions whose hot spots follow from the seed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/collector.h"
#include "agent/pc_capture.h"

enum { FUNCTIONS = 3, INSTRUCTIONS = 12, BYTES_AN_INSTRUCTION = 16, SMS = 4, PARTS_A_SM = 4 };

static const char *const reasons[] = {
    "smsp__pcsamp_warps_issue_stalled_long_scoreboard", "smsp__pcsamp_warps_issue_stalled_long_scoreboard_not_issued",
    "smsp__pcsamp_warps_issue_stalled_barrier",         "smsp__pcsamp_warps_issue_stalled_barrier_not_issued",
    "smsp__pcsamp_warps_issue_stalled_selected",        "smsp__pcsamp_warps_issue_stalled_wait",
};
enum { REASONS = sizeof reasons / sizeof *reasons };

/* splitmix64: a well-mixed number for each key */
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

struct simulation {
    const struct cw_pc_options *options;
    struct cw_arena *arena;
    char names[FUNCTIONS][32];
    uint32_t process;
};

static struct cw_instruction place(const struct simulation *s, uint32_t i)
{
    uint32_t function = i / INSTRUCTIONS;
    return (struct cw_instruction){.module = 0xc0de,
                                   .pc = (uint64_t)(i % INSTRUCTIONS) * BYTES_AN_INSTRUCTION,
                                   .function = s->names[function],
                                   .symbol = function + 1};
}

/* A batch of samples; the last of two drops what it is told to and fills the buffer. */
static bool make_pc(struct simulation *s, uint32_t number, struct cw_pc_batch *b)
{
    uint32_t count = FUNCTIONS * INSTRUCTIONS;
    struct cw_pc_record *records = cw_arena_alloc(s->arena, count, sizeof *records);
    struct cw_stall *stalls = cw_arena_alloc(s->arena, (size_t)count * REASONS, sizeof *stalls);
    *b = (struct cw_pc_batch){.process = s->process,
                              .start_ns = 1000 + 1000000 * (uint64_t)number,
                              .end_ns = 1000 + 1000000 * (uint64_t)(number + 1),
                              .mode = s->options->mode,
                              .period = s->options->period ? s->options->period : 12,
                              .reason_count = REASONS,
                              .reasons = reasons,
                              .record_count = count,
                              .records = records};
    for (uint32_t i = 0; records && stalls && i < count; i++) {
        struct cw_stall *own = stalls + (size_t)i * REASONS;
        records[i] = (struct cw_pc_record){.at = place(s, i),
                                           .launch = s->options->mode == CW_PC_SERIALIZED ? 1 + i / INSTRUCTIONS : 0,
                                           .stalls = own};
        for (uint32_t r = 0, samples = 0; r < REASONS; r++) {
            uint64_t key = mix(s->options->sim_seed ^ mix((uint64_t)i * REASONS + r) ^ number);
            bool twin = strstr(reasons[r], "_not_issued") != NULL; /* it counts part of the reason's again */
            samples = twin ? samples / 2 : key % 3 ? 0 : (uint32_t)(mix(key) % 1000);
            if (samples)
                own[records[i].stall_count++] = (struct cw_stall){r, samples};
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

static bool make_sass(struct simulation *s, struct cw_sass_batch *b)
{
    uint32_t count = FUNCTIONS * INSTRUCTIONS, metrics = s->options->metric_count;
    struct cw_sass_record *records = cw_arena_alloc(s->arena, count, sizeof *records);
    uint32_t *counts = cw_arena_alloc(s->arena, metrics, sizeof *counts);
    *b = (struct cw_sass_batch){.process = s->process,
                                .start_ns = 1000,
                                .end_ns = 2000000,
                                .metric_count = metrics,
                                .metrics = s->options->metrics,
                                .record_count = count,
                                .records = records};
    for (uint32_t i = 0; records && counts && i < count; i++) {
        const uint64_t **lists = cw_arena_alloc(s->arena, metrics, sizeof *lists);
        for (uint32_t m = 0; lists && m < metrics; m++) {
            counts[m] = values_of(s->options->metrics[m].level);
            uint64_t *values = cw_arena_alloc(s->arena, counts[m], sizeof *values);
            for (uint32_t k = 0; values && k < counts[m]; k++)
                values[k] = mix(s->options->sim_seed ^ mix(i) ^ m) % 1000 * (values_of(CW_SASS_SMSP) / counts[m]);
            lists[m] = values;
            if (!values)
                return false;
        }
        if (!lists)
            return false;
        records[i] = (struct cw_sass_record){.at = place(s, i), .counts = counts, .values = lists};
    }
    return records && counts;
}

static enum cw_status write_batch(struct simulation *s, uint32_t number, struct cw_collector *out, uint64_t *samples,
                                  struct cw_error *err)
{
    struct cw_writer payload, chunk;
    cw_writer_init(&payload);
    cw_writer_init(&chunk);
    bool made;
    if (s->options->sass) {
        struct cw_sass_batch b;
        if ((made = make_sass(s, &b)))
            cw_sass_batch_write(&b, &payload);
        cw_sass_chunk_write(payload.data, payload.size, &chunk);
        *samples += b.record_count;
    } else {
        struct cw_pc_batch b;
        if ((made = make_pc(s, number, &b)))
            cw_pc_batch_write(&b, &payload);
        cw_pc_chunk_write(payload.data, payload.size, &chunk);
        *samples += b.total;
        out->dropped += b.dropped;
    }
    bool good = made && payload.status == CW_OK;
    cw_writer_free(&payload);
    if (good)
        return cw_collector_append(out, &chunk, err);
    cw_writer_free(&chunk);
    return cw_error_nomem(err);
}

static enum cw_status write_all(struct simulation *s, const struct cw_program *program, struct cw_collector *out,
                                uint64_t *samples, struct cw_error *err)
{
    static const struct cw_pair attributes[] = {
        {"name", "simulated GPU"}, {"chip", "GH100"}, {"backend", "sim"}, {"simulated", "yes"}};
    struct cw_device device = {.attribute_count = sizeof attributes / sizeof *attributes, .attributes = attributes};
    s->process = (uint32_t)program->pid;
    for (int i = 0; i < FUNCTIONS; i++)
        snprintf(s->names[i], sizeof s->names[i], "_Z12sim_kernel_%dPf", i);
    enum cw_status status = cw_collector_device(out, &device, err);
    for (uint32_t i = 0; status == CW_OK && i < (s->options->sass ? 1 : 2); i++)
        status = write_batch(s, i, out, samples, err);
    return status == CW_OK ? cw_collector_end(out, program->how, program->code, err) : status;
}

enum cw_status cw_sim_pc_capture(const struct cw_pc_options *options, int *exit_status, struct cw_error *err)
{
    struct simulation s = {.options = options, .arena = cw_arena_create()};
    struct cw_collector out = {.fd = -1};
    struct cw_program program = {0};
    struct cw_schema schema;
    static char *none[] = {NULL};
    uint64_t samples = 0;
    enum cw_status status = s.arena ? cw_pc_schema(&schema, "GH100", options, s.arena, err) : cw_error_nomem(err);
    if (status == CW_OK)
        status = cw_collector_open(&out, options->output, &schema, err);
    if (status == CW_OK)
        status = cw_program_start(&program, options->argv, none, err);
    if (status == CW_OK)
        cw_program_wait(&program, true);
    if (status == CW_OK)
        status = write_all(&s, &program, &out, &samples, err);
    if (status == CW_OK)
        status = cw_pc_verdict(options, &program, samples, exit_status, err);
    cw_collector_close(&out);
    cw_arena_destroy(s.arena);
    return status;
}
