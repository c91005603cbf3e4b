#include "agent/backend/sim/sim_gpu.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/backend/lacking.h"
#include "base/file_name.h"
#include "base/text.h"
#include "image/limit_index.h"

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

static enum cw_status check_limits(struct cw_limit_index *limits, const struct cw_config_image *plan,
                                   struct cw_error *err)
{
    for (uint32_t p = 0; p < plan->pass_count; p++) {
        uint32_t i = cw_limit_index_ask(limits, &plan->passes[p]);
        if (i < plan->limit_count)
            return cw_error_set(err, CW_ERR_DEVICE,
                                "pass %u of the plan cannot run: found %u groups of limit %u (%s), expected at most %u",
                                p, limits->taken[i], i, plan->domains[plan->limits[i].members[0].domain].name,
                                plan->limits[i].max);
    }
    return CW_OK;
}

enum cw_status cw_sim_check_limits(const struct cw_config_image *plan, struct cw_error *err)
{
    struct cw_arena *arena = cw_arena_create();
    struct cw_limit_index limits;
    enum cw_status status =
        arena && cw_limit_index_make(&limits, plan, arena) ? check_limits(&limits, plan, err) : cw_error_nomem(err);
    cw_arena_destroy(arena);
    return status;
}

/* ---- attributes ------------------------------------------------------------------------------------------------- */

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

uint32_t cw_sim_describe_rank(struct cw_pair attributes[2])
{
    const struct cw_pair both[] = {{"rank", cw_rank()}, {"ranks", cw_rank_count()}};
    uint32_t count = 0;
    for (int i = 0; i < 2; i++)
        if (both[i].value)
            attributes[count++] = both[i];
    return count;
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

uint64_t cw_sim_program_key(const struct cw_capture_options *options)
{
    return options->sim_seed ^ cw_sim_text_key(options->argv[0]);
}

uint64_t cw_sim_kernel_key(uint64_t program, const char *kernel)
{
    return cw_sim_mix(program ^ cw_sim_text_key(kernel));
}

uint64_t cw_sim_kernel_ns(const char *kernel)
{
    return 3000 + cw_sim_text_key(kernel) % 90000;
}

const char *cw_sim_node_kernel(const char *nodes, uint32_t node, char name[CW_SIM_NODE_SIZE])
{
    snprintf(name, CW_SIM_NODE_SIZE, "%s_%" PRIu32, nodes, node % 4);
    return name;
}

uint32_t cw_sim_grid(uint64_t key)
{
    return 1 + (uint32_t)(key % 1024);
}

struct cw_device_facts cw_sim_facts(const struct cw_config_counter *counter)
{
    uint32_t n = counter->instances ? counter->instances : FEW_INSTANCES;
    return (struct cw_device_facts){.instances = n,
                                    .peak = {counter->peak * n, counter->peak, counter->peak, counter->peak}};
}

/* ---- plausible numbers ------------------------------------------------------------------------------------------ */

enum { COUNTED, TIME, ELAPSED, ACTIVE };
/* Derived counters may have lower peaks than their terms, so all counters stay well below their peaks. */
static const double cycles_a_ns = 1.98, least_active = 0.85, most_used = 0.2;

static uint8_t kind_of(const char *name)
{
    return strncmp(name, "gpu__time_duration", strlen("gpu__time_duration")) == 0 ? TIME
           : cw_text_ends_in(name, "__cycles_elapsed")                            ? ELAPSED
           : cw_text_ends_in(name, "__cycles_active")                             ? ACTIVE
                                                                                  : COUNTED;
}

struct named {
    const char *name;
    size_t length;
    uint32_t counter;
};

static int by_name(const void *left, const void *right)
{
    const struct named *a = left, *b = right;
    int order = memcmp(a->name, b->name, a->length < b->length ? a->length : b->length);
    return order ? order : (a->length > b->length) - (a->length < b->length);
}

/* Finds the counter whose name this one continues: "lts__t_sectors" for "lts__t_sectors_op_read", if it is in the
 * plan. */
static uint32_t find_parent(const struct named *sorted, uint32_t count, const char *name)
{
    const char *words = strstr(name, "__");
    for (size_t length = strlen(name); words && name + length > words + 2; length--) {
        const struct named wanted = {name, length, 0};
        const struct named *found =
            name[length] == '_' ? bsearch(&wanted, sorted, count, sizeof wanted, by_name) : NULL;
        if (found)
            return found->counter;
    }
    return UINT32_MAX;
}

/* Finds "smsp__inst_executed" for "smsp__thread_inst_executed": a thread counts an instruction at most as often as its
 * warp. */
static uint32_t find_instructions(const struct named *sorted, uint32_t count, const char *name)
{
    char text[256];
    const char *thread = strstr(name, "thread_inst_executed");
    int length =
        thread ? snprintf(text, sizeof text, "%.*s%s", (int)(thread - name), name, thread + strlen("thread_")) : 0;
    const struct named wanted = {text, (size_t)length, 0};
    const struct named *found =
        length > 0 && (size_t)length < sizeof text ? bsearch(&wanted, sorted, count, sizeof wanted, by_name) : NULL;
    return found ? found->counter : UINT32_MAX;
}

struct cw_sim_model {
    const struct cw_config_image *plan;
    double *caps;      /* by raw counter: limit per active cycle */
    uint32_t *parents; /* by counter: the counter whose name it continues; UINT32_MAX: none */
    uint8_t *kinds;
};

const struct cw_sim_model *cw_sim_model_make(const struct cw_config_image *plan, struct cw_arena *arena)
{
    struct named *sorted = cw_arena_alloc(arena, plan->counter_count, sizeof *sorted);
    struct cw_sim_model *m = cw_arena_alloc(arena, 1, sizeof *m);
    if (m)
        *m = (struct cw_sim_model){.plan = plan,
                                   .caps = cw_arena_alloc(arena, plan->raw_count, sizeof *m->caps),
                                   .parents = cw_arena_alloc(arena, plan->counter_count, sizeof *m->parents),
                                   .kinds = cw_arena_alloc(arena, plan->counter_count, sizeof *m->kinds)};
    if (!sorted || !m || !m->caps || !m->parents || !m->kinds)
        return NULL;
    for (uint32_t r = 0; r < plan->raw_count; r++)
        m->caps[r] = INFINITY;
    for (uint32_t c = 0; c < plan->counter_count; c++) {
        const struct cw_config_counter *counter = &plan->counters[c];
        sorted[c] = (struct named){counter->name, strlen(counter->name), c};
        m->kinds[c] = kind_of(counter->name);
        for (uint32_t i = 0; i < counter->raw_count && counter->peak > 0; i++)
            m->caps[counter->raws[i]] = fmin(m->caps[counter->raws[i]], counter->peak / counter->raw_count);
    }
    for (uint32_t r = 0; r < plan->raw_count; r++)
        m->caps[r] = isinf(m->caps[r]) ? 1 : m->caps[r]; /* unknown peak */
    qsort(sorted, plan->counter_count, sizeof *sorted, by_name);
    for (uint32_t c = 0; c < plan->counter_count; c++) {
        m->parents[c] = find_parent(sorted, plan->counter_count, plan->counters[c].name);
        if (m->parents[c] == UINT32_MAX)
            m->parents[c] = find_instructions(sorted, plan->counter_count, plan->counters[c].name);
    }
    return m;
}

/* A number from 0 to 1. */
static double fraction(uint64_t key)
{
    return (double)(cw_sim_mix(key) % 10000) / 10000;
}

double cw_sim_model_count(const struct cw_sim_model *m, const struct cw_sim_moment *at, uint32_t counter,
                          uint32_t instance)
{
    const struct cw_config_counter *c = &m->plan->counters[counter];
    const double elapsed = floor(at->ns * cycles_a_ns);
    double count = 0;
    if (m->kinds[counter] == TIME)
        return at->ns;
    if (m->kinds[counter] == ELAPSED)
        return elapsed;
    if (m->kinds[counter] == ACTIVE)
        return floor(elapsed * (least_active + 0.1 * fraction(at->key ^ instance)));
    for (uint32_t r = 0; r < c->raw_count; r++)
        count += floor(m->caps[c->raws[r]] * most_used * elapsed * at->share(at->of, c->raws[r], instance));
    if (m->parents[counter] == UINT32_MAX || !c->raw_count)
        return count;
    double most = cw_sim_model_count(m, at, m->parents[counter], instance),
           share = fraction(at->key ^ m->plan->raws[c->raws[0]]);
    return fmin(count, floor(most * (cw_text_ends_in(c->name, "_hit") ? 0.1 + 0.8 * share : 0.05 + 0.15 * share)));
}

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

/* A range in a pass. Its content determines the size of its numbers; pass and launch add up to 1 % of noise. */
struct run {
    const struct cw_sim_gpu *gpu;
    uint64_t of, launch;    /* launch: mixed number, 0 if no other range is similar */
    uint32_t counter, pass; /* pass: MIXED if each raw counter has its own */
    bool steady;            /* without noise */
    uint64_t pass_noise;    /* unused if pass is MIXED */
};

static uint32_t mixed_pass(const struct cw_sim_gpu *s, uint32_t counter, uint32_t raw);

static double share_of_run(const void *of, uint32_t raw, uint32_t instance)
{
    const struct run *run = of;
    const struct cw_sim_gpu *s = run->gpu;
    const uint64_t key = s->keys[raw];
    double spread = 1 + (double)(cw_sim_mix(key ^ instance) % 1000) / 10000, noise = 0;
    if (!run->steady) {
        const uint64_t of_pass =
            run->pass == MIXED ? cw_sim_mix(mixed_pass(s, run->counter, raw) + 77u) : run->pass_noise;
        noise = (double)(cw_sim_mix(key ^ of_pass ^ instance ^ run->launch) % 100) / 10000;
    }
    return (double)(key % 100000) / 100000 * spread * (1 + noise) / 1.12;
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

/* The pass of a column, or MIXED if each raw counter has its own. */
static uint32_t column_pass(const struct cw_schema *schema, uint32_t column)
{
    if (column >= schema->counter_count)
        return schema->repeats[column - schema->counter_count].pass;
    return schema->counters[column].whole && schema->counters[column].pass_count ? schema->counters[column].passes[0]
                                                                                 : MIXED;
}

void cw_sim_gpu_range(struct cw_sim_gpu *s, uint64_t of, uint32_t launch, uint64_t about)
{
    const uint64_t key = cw_sim_mix(s->seed ^ cw_sim_mix(of)), own = launch ? cw_sim_mix(launch) : 0;
    const double ns = (double)(about ? about : 1000 + cw_sim_mix(key) % 50000);
    for (uint32_t p = 0; p < s->plan->pass_count; p++)
        s->durations[p] = floor(ns * (1 + (double)(cw_sim_mix(key ^ p ^ own) % 100) / 10000));
    for (uint32_t r = 0; r < s->plan->raw_count; r++)
        s->keys[r] = cw_sim_mix(s->seed ^ cw_sim_mix(s->plan->raws[r] ^ cw_sim_mix(of)));
    for (uint32_t c = 0; c < cw_schema_columns(s->schema); c++) {
        uint32_t number = cw_schema_column_counter(s->schema, c), pass = column_pass(s->schema, c);
        uint32_t n = cw_sim_facts(&s->plan->counters[number]).instances;
        const bool steady = launch && strstr(s->plan->counters[number].name, "inst_executed");
        const struct run run = {s, of, own, number, pass, steady, cw_sim_mix(pass + 77u)};
        const double taken = steady ? ns : s->durations[pass == MIXED ? 0 : pass];
        const struct cw_sim_moment at = {taken, key, share_of_run, &run};
        for (uint32_t i = 0; i < n; i++)
            s->instances[c][i] = cw_sim_model_count(s->model, &at, number, i);
        s->values[c] = (struct cw_value){.form = CW_FORM_INSTANCES, .instance_count = n, .instances = s->instances[c]};
        if (s->lacks && cw_lacking_is_of(s->plan->counters[number].name, s->lacks))
            s->values[c] = (struct cw_value){.form = CW_FORM_UNAVAILABLE};
    }
}

enum cw_status cw_sim_gpu_open(struct cw_sim_gpu *s, const struct cw_config_image *plan, const struct cw_schema *schema,
                               uint64_t seed, struct cw_arena *arena, struct cw_error *err)
{
    uint32_t columns = cw_schema_columns(schema);
    *s = (struct cw_sim_gpu){.plan = plan, .schema = schema, .seed = seed};
    CW_TRY(cw_sim_check_limits(plan, err));
    s->model = cw_sim_model_make(plan, arena);
    s->instances = cw_arena_alloc(arena, columns, sizeof *s->instances);
    s->values = cw_arena_alloc(arena, columns, sizeof *s->values);
    s->keys = cw_arena_alloc(arena, plan->raw_count, sizeof *s->keys);
    s->facts = cw_arena_alloc(arena, plan->counter_count, sizeof *s->facts);
    s->durations = cw_arena_alloc(arena, plan->pass_count, sizeof *s->durations);
    if (!s->model || !s->instances || !s->values || !s->keys || !s->facts || !s->durations)
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
