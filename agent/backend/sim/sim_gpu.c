#include "agent/backend/sim/sim_gpu.h"

#include <math.h>
#include <string.h>

enum { FEW_INSTANCES = 4, MIXED = UINT32_MAX };

/* splitmix64 */
uint64_t cw_sim_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

uint64_t cw_sim_text_key(const char *text)
{
    uint64_t key = 0;
    for (; *text; text++)
        key = cw_sim_mix(key ^ (uint64_t)(unsigned char)*text);
    return key;
}

/* ---- limits ----------------------------------------------------------------------------------------------------- */

enum cw_status cw_sim_check_limits(const struct cw_config_image *plan, struct cw_error *err)
{
    for (uint32_t p = 0; p < plan->pass_count; p++)
        for (uint32_t i = 0; i < plan->limit_count; i++) {
            uint32_t taken = cw_config_limit_taken(&plan->limits[i], &plan->passes[p]);
            if (taken > plan->limits[i].max)
                return cw_error_set(
                    err, CW_ERR_DEVICE,
                    "pass %u of the plan cannot run: found %u groups of limit %u (%s), expected at most %u", p, taken,
                    i, plan->domains[plan->limits[i].members[0].domain].name, plan->limits[i].max);
        }
    return CW_OK;
}

/* ---- what it is ------------------------------------------------------------------------------------------------- */

uint32_t cw_sim_describe(struct cw_pair *attributes, const char *chip)
{
    static const struct cw_pair all[CW_SIM_ATTRIBUTES] = {{"name", "simulated GPU"},
                                                          {"chip", NULL},
                                                          {"backend", "sim"},
                                                          {"simulated", "yes"},
                                                          {"multiprocessors", "132"},
                                                          {"compute_capability_major", "9"},
                                                          {"compute_capability_minor", "0"},
                                                          {"clock_khz", "1980000"},
                                                          {"memory_clock_khz", "2619000"},
                                                          {"memory_bus_bits", "5120"},
                                                          {"l2_bytes", "52428800"},
                                                          {"memory_bytes", "85045608448"},
                                                          {"warp_size", "32"},
                                                          {"max_threads_per_multiprocessor", "2048"},
                                                          {"max_blocks_per_multiprocessor", "32"},
                                                          {"max_registers_per_multiprocessor", "65536"},
                                                          {"max_shared_memory_per_multiprocessor", "233472"},
                                                          {"max_threads_per_block", "1024"},
                                                          {"max_registers_per_block", "65536"},
                                                          {"max_shared_memory_per_block", "49152"},
                                                          {"max_shared_memory_per_block_optin", "232448"},
                                                          {"reserved_shared_memory_per_block", "1024"}};
    memcpy(attributes, all, sizeof all);
    attributes[1].value = chip;
    return CW_SIM_ATTRIBUTES;
}

void cw_sim_launch_facts(const char *kernel, double facts[CW_FACT__COUNT])
{
    uint64_t key = cw_sim_text_key(kernel);
    for (int f = 0; f < CW_FACT__COUNT; f++)
        facts[f] = 0;
    facts[CW_FACT_REGISTERS] = (double)(16 + 8 * (key % 15));
    facts[CW_FACT_SHARED_STATIC] = (double)(4096 * (key >> 8 & 3));
    facts[CW_FACT_SHARED_DYNAMIC] = (double)(8192 * (key >> 16 & 3));
    facts[CW_FACT_SHARED_DRIVER] = 1024;
    facts[CW_FACT_LOCAL] = key >> 24 & 3 ? 0 : 64;
    facts[CW_FACT_MAX_THREADS] = 1024;
    facts[CW_FACT_PRIORITY] = NAN;
    facts[CW_FACT_CARVEOUT] = -1;
    facts[CW_FACT_PTX] = facts[CW_FACT_BINARY] = 90;
}

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

struct cw_device_facts cw_sim_facts(const struct cw_config_counter *counter)
{
    uint32_t n = counter->instances ? counter->instances : FEW_INSTANCES;
    return (struct cw_device_facts){.instances = n,
                                    .peak = {counter->peak * n, counter->peak, counter->peak, counter->peak}};
}

/* A raw counter's count in one instance: the kernel decides its size, the pass adds up to 1 % of noise. */
static double raw_count(const struct cw_sim_gpu *s, uint32_t raw, uint32_t pass, uint32_t instance, uint32_t range)
{
    uint64_t key = cw_sim_mix(s->seed ^ cw_sim_mix(s->plan->raws[raw] ^ cw_sim_mix(range)));
    double size = (double)(key % 100000);
    double spread = 1 + (double)(cw_sim_mix(key ^ instance) % 1000) / 10000;
    double noise = 1 + (double)(cw_sim_mix(key ^ cw_sim_mix(pass + 77u) ^ instance) % 100) / 10000;
    return floor(size * spread * noise);
}

/* The first of a mixed counter's passes that has the raw counter. */
static uint32_t mixed_pass(const struct cw_sim_gpu *s, uint32_t counter, uint32_t raw)
{
    const struct cw_schema_counter *c = &s->schema->counters[counter];
    for (uint32_t i = 0; i < c->pass_count; i++)
        for (uint32_t k = 0; k < s->plan->passes[c->passes[i]].count; k++)
            if (s->plan->passes[c->passes[i]].placements[k].raw == raw)
                return c->passes[i];
    return 0;
}

/* The pass that a column is of, or MIXED: then each raw counter is of its own. */
static uint32_t column_pass(const struct cw_schema *schema, uint32_t column)
{
    if (column >= schema->counter_count)
        return schema->repeats[column - schema->counter_count].pass;
    return schema->counters[column].whole && schema->counters[column].pass_count ? schema->counters[column].passes[0]
                                                                                 : MIXED;
}

void cw_sim_gpu_range(struct cw_sim_gpu *s, uint32_t range, uint64_t key)
{
    for (uint32_t p = 0; p < s->plan->pass_count; p++)
        s->durations[p] = (double)(1000 + cw_sim_mix(key ^ p) % 50000);
    for (uint32_t c = 0; c < cw_schema_columns(s->schema); c++) {
        uint32_t number = cw_schema_column_counter(s->schema, c), pass = column_pass(s->schema, c);
        const struct cw_config_counter *counter = &s->plan->counters[number];
        uint32_t n = cw_sim_facts(counter).instances;
        memset(s->instances[c], 0, n * sizeof *s->instances[c]);
        for (uint32_t r = 0; r < counter->raw_count; r++) {
            uint32_t from = pass == MIXED ? mixed_pass(s, number, counter->raws[r]) : pass;
            for (uint32_t i = 0; i < n; i++)
                s->instances[c][i] += raw_count(s, counter->raws[r], from, i, range);
        }
        s->values[c] = (struct cw_value){.form = CW_FORM_INSTANCES, .instance_count = n, .instances = s->instances[c]};
    }
}

enum cw_status cw_sim_gpu_open(struct cw_sim_gpu *s, const struct cw_config_image *plan, const struct cw_schema *schema,
                               uint64_t seed, struct cw_arena *arena, struct cw_error *err)
{
    uint32_t columns = cw_schema_columns(schema);
    *s = (struct cw_sim_gpu){.plan = plan, .schema = schema, .seed = seed};
    enum cw_status status = cw_sim_check_limits(plan, err);
    if (status != CW_OK)
        return status;
    s->instances = cw_arena_alloc(arena, columns, sizeof *s->instances);
    s->values = cw_arena_alloc(arena, columns, sizeof *s->values);
    s->facts = cw_arena_alloc(arena, plan->counter_count, sizeof *s->facts);
    s->durations = cw_arena_alloc(arena, plan->pass_count, sizeof *s->durations);
    if (!s->instances || !s->values || !s->facts || !s->durations)
        return cw_error_nomem(err);
    for (uint32_t c = 0; c < columns; c++) {
        const struct cw_config_counter *counter = &plan->counters[cw_schema_column_counter(schema, c)];
        struct cw_device_facts facts = cw_sim_facts(counter);
        s->instances[c] = cw_arena_alloc(arena, facts.instances, sizeof(double));
        if (!s->instances[c])
            return cw_error_nomem(err);
        if (c < plan->counter_count)
            s->facts[c] = facts;
    }
    return CW_OK;
}
