/* A simulated GPU, for machines without one. It runs the program, pretends that it launched a few kernels, and records
 * numbers that follow from the seed alone: instances, noise from pass to pass, ranges that were dropped. It refuses a
 * plan whose passes break the chip's limits, as hardware would. Every file it makes says that it is simulated. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/backend.h"

enum { FEW_INSTANCES = 4 };

/* splitmix64: a well-mixed number for each key */
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static uint64_t text_key(const char *text)
{
    uint64_t key = 0;
    for (; *text; text++)
        key = mix(key ^ (uint64_t)(unsigned char)*text);
    return key;
}

/* ---- limits ----------------------------------------------------------------------------------------------------- */

static bool contains(const struct cw_config_pass *pass, struct cw_placement at)
{
    for (uint32_t i = 0; i < pass->count; i++)
        if (pass->placements[i].raw == at.raw && pass->placements[i].domain == at.domain)
            return true;
    return false;
}

static uint32_t groups_taken(const struct cw_config_pass *pass, const struct cw_config_limit *limit)
{
    uint32_t taken = 0;
    for (uint32_t i = 0; i < limit->count; i++) {
        bool counts = contains(pass, limit->members[i]);
        for (uint32_t k = 0; k < i && counts; k++)
            counts = limit->groups[k] != limit->groups[i] || !contains(pass, limit->members[k]);
        taken += counts;
    }
    return taken;
}

static enum cw_status check_limits(const struct cw_config_image *plan, struct cw_error *err)
{
    for (uint32_t p = 0; p < plan->pass_count; p++)
        for (uint32_t i = 0; i < plan->limit_count; i++) {
            uint32_t taken = groups_taken(&plan->passes[p], &plan->limits[i]);
            if (taken > plan->limits[i].max)
                return cw_error_set(
                    err, CW_ERR_DEVICE,
                    "pass %u of the plan cannot run: found %u groups of limit %u (%s), expected at most %u", p, taken,
                    i, plan->domains[plan->limits[i].members[0].domain].name, plan->limits[i].max);
        }
    return CW_OK;
}

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

struct simulation {
    const struct cw_range_options *options;
    const struct cw_config_image *plan;
    struct cw_arena *arena;
    uint32_t *raw_pass; /* the pass that collects each raw counter */
    double **instances; /* for each counter */
    struct cw_value *values;
};

static uint32_t instance_count(const struct cw_config_counter *counter)
{
    return counter->instances ? counter->instances : FEW_INSTANCES;
}

/* A raw counter's count in one instance: the kernel decides its size, the pass adds up to 1 % of noise. */
static double raw_count(const struct simulation *s, uint32_t raw, uint32_t instance, uint32_t range)
{
    uint64_t key = mix(s->options->sim_seed ^ mix(s->plan->raws[raw] ^ mix(range)));
    double size = (double)(key % 100000);
    double spread = 1 + (double)(mix(key ^ instance) % 1000) / 10000;
    double noise = 1 + (double)(mix(key ^ mix(s->raw_pass[raw] + 77u) ^ instance) % 100) / 10000;
    return floor(size * spread * noise);
}

static void simulate_range(struct simulation *s, uint32_t range)
{
    for (uint32_t c = 0; c < s->plan->counter_count; c++) {
        const struct cw_config_counter *counter = &s->plan->counters[c];
        uint32_t n = instance_count(counter);
        for (uint32_t i = 0; i < n; i++) {
            s->instances[c][i] = 0;
            for (uint32_t r = 0; r < counter->raw_count; r++)
                s->instances[c][i] += raw_count(s, counter->raws[r], i, range);
        }
        s->values[c] = (struct cw_value){.form = CW_FORM_INSTANCES, .instance_count = n, .instances = s->instances[c]};
    }
}

static enum cw_status prepare(struct simulation *s, struct cw_error *err)
{
    const struct cw_config_image *plan = s->plan;
    s->raw_pass = cw_arena_alloc(s->arena, plan->raw_count, sizeof *s->raw_pass);
    s->instances = cw_arena_alloc(s->arena, plan->counter_count, sizeof *s->instances);
    s->values = cw_arena_alloc(s->arena, plan->counter_count, sizeof *s->values);
    if (!s->raw_pass || !s->instances || !s->values)
        return cw_error_nomem(err);
    for (uint32_t p = plan->pass_count; p-- > 0;)
        for (uint32_t k = 0; k < plan->passes[p].count; k++)
            s->raw_pass[plan->passes[p].placements[k].raw] = p;
    for (uint32_t c = 0; c < plan->counter_count; c++) {
        s->instances[c] = cw_arena_alloc(s->arena, instance_count(&plan->counters[c]), sizeof(double));
        if (!s->instances[c])
            return cw_error_nomem(err);
    }
    return CW_OK;
}

static enum cw_status write_device(struct simulation *s, struct cw_collector *out, struct cw_error *err)
{
    char seed[32];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)s->options->sim_seed);
    const struct cw_pair attributes[] = {
        {"name", "simulated GPU"}, {"chip", s->plan->chip}, {"backend", "sim"}, {"simulated", "yes"}, {"seed", seed}};
    struct cw_device_facts *facts = cw_arena_alloc(s->arena, s->plan->counter_count, sizeof *facts);
    if (!facts)
        return cw_error_nomem(err);
    for (uint32_t c = 0; c < s->plan->counter_count; c++) {
        const struct cw_config_counter *counter = &s->plan->counters[c];
        uint32_t n = instance_count(counter);
        facts[c] = (struct cw_device_facts){.instances = n,
                                            .peak = {counter->peak * n, counter->peak, counter->peak, counter->peak}};
    }
    struct cw_device device = {
        .attribute_count = sizeof attributes / sizeof *attributes, .attributes = attributes, .facts = facts};
    return cw_collector_device(out, &device, err);
}

static enum cw_status write_ranges(struct simulation *s, const struct cw_program *program, struct cw_collector *out,
                                   struct cw_error *err)
{
    uint32_t kernels = s->options->sim_kernels;
    double *durations = cw_arena_alloc(s->arena, s->plan->pass_count, sizeof *durations);
    enum cw_status status = durations ? write_device(s, out, err) : cw_error_nomem(err);
    uint64_t clock = 1000;
    for (uint32_t i = 0; status == CW_OK && i < kernels; i++) {
        uint64_t key = mix(s->options->sim_seed ^ text_key(s->options->argv[0]) ^ i), start = clock;
        for (uint32_t p = 0; p < s->plan->pass_count; p++) {
            durations[p] = (double)(1000 + mix(key ^ p) % 50000);
            clock += (uint64_t)durations[p];
        }
        if (kernels - i <= s->options->sim_drop) {
            out->dropped++;
            continue;
        }
        char name[32];
        snprintf(name, sizeof name, "sim_kernel_%u", i);
        struct cw_range range = {.name = name,
                                 .kernel = name,
                                 .process = (uint32_t)program->pid,
                                 .context = 1,
                                 .stream = 1 + key % 2,
                                 .grid = {1 + (uint32_t)(key % 1024), 1, 1},
                                 .block = {128, 1, 1},
                                 .start_ns = start,
                                 .end_ns = clock,
                                 .durations = durations};
        simulate_range(s, i);
        status = cw_collector_range(out, &range, s->values, err);
    }
    return status;
}

enum cw_status cw_sim_capture(const struct cw_range_options *options, int *exit_status, struct cw_error *err)
{
    struct simulation s = {.options = options, .plan = options->plan, .arena = cw_arena_create()};
    struct cw_collector out = {.fd = -1};
    struct cw_program program = {0};
    struct cw_schema schema;
    static char *none[] = {NULL};
    if (!s.arena)
        return cw_error_nomem(err);
    enum cw_status status = check_limits(s.plan, err);
    if (status == CW_OK)
        status = prepare(&s, err);
    if (status == CW_OK)
        status = cw_schema_of_plan(&schema, s.plan, s.arena);
    if (status == CW_ERR_NOMEM)
        cw_error_nomem(err);
    if (status == CW_OK)
        status = cw_collector_open(&out, options->output, &schema, err);
    if (status == CW_OK)
        status = cw_program_start(&program, options->argv, none, err);
    if (status == CW_OK)
        cw_program_wait(&program, true);
    if (status == CW_OK)
        status = write_ranges(&s, &program, &out, err);
    if (status == CW_OK)
        status = cw_collector_end(&out, program.how, program.code, err);
    if (status == CW_OK)
        status = cw_capture_verdict(options, &program, out.ranges, exit_status, err);
    cw_collector_close(&out);
    cw_arena_destroy(s.arena);
    return status;
}
