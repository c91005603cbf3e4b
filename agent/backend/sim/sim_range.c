/* Ranges of a simulated GPU, for machines without one; the program may report its launches (sim.h). Filters, user
 * ranges, application replay, multiplexing's parts and files are the same as for real GPUs. Every file says that it is
 * simulated. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <math.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/backend/range_capture.h"
#include "agent/backend/sim/sim.h"
#include "agent/backend/sim/sim_backend.h"
#include "agent/backend/sim/sim_gpu.h"
#include "agent/backend/sim/sim_training.h"
#include "base/file_name.h"
#include "agent/common/nesting.h"
#include "agent/session/signals.h"
#include "base/demangle.h"
#include "image/limit_index.h"

struct simulation {
    struct cw_range_capture base;
    struct cw_sim_gpu gpu;
    struct cw_program program;
    struct cw_error trouble; /* the first error while the program ran */
    /* for this run: */
    uint32_t lose;          /* launches still to be lost */
    uint32_t numbers, loop; /* loop: number of kernels that repeat; 0: no two launches are similar */
    uint64_t clock;
    struct cw_nesting nesting;
    uint64_t begun[CW_MOST_OPEN_RANGES]; /* begin of open collected ranges, by id modulo the array's size */
    uint32_t graphs[CW_MOST_OPEN_RANGES], launches[CW_MOST_OPEN_RANGES]; /* in each open range; launches: graphs, too */
    double facts[CW_MOST_OPEN_RANGES][CW_FACT__COUNT];                   /* facts that these launches agree in */
    bool spoken, met_graph, named;         /* named: the program named processes of its own */
    uint32_t process, own_process, device; /* own_process: the program itself */
    uint32_t thread, stream;               /* in the process; stream 0: any */
    char process_name[256], rank[64], ranks[64], pci[32];
    char domain[CW_SIM_DOMAIN_SIZE]; /* for the next range; "": the default one */
    char once[128];                  /* why the next kernel is counted in one pass only; "": it is not */
    char nodes[64];                  /* prefix of the names of kernels in graphs */
    uint32_t nodes_launched;         /* number of nodes in the current graph */
    uint32_t node;                   /* node launched by itself, from 1; 0: none */
    void *turns;                     /* state of multiplexing: a tree of struct turns */
};

/* ---- ranges ----------------------------------------------------------------------------------------------------- */

/* Keeps the first pass of a range. */
static void keep_first_pass(struct simulation *s)
{
    const struct cw_schema *schema = &s->base.parts.schema;
    for (uint32_t p = 1; p < schema->pass_count; p++)
        s->gpu.durations[p] = NAN;
    for (uint32_t c = 0; c < cw_schema_columns(schema); c++) {
        const bool repeat = c >= schema->counter_count;
        const struct cw_schema_counter *counter = &schema->counters[cw_schema_column_counter(schema, c)];
        if (repeat || counter->pass_count > 1 || (counter->pass_count && counter->passes[0]))
            s->gpu.values[c].form = CW_FORM_NOT_COLLECTED;
    }
}

/* Keeps one part of a range if each part is one pass. */
static void keep_own_part(struct simulation *s)
{
    const struct cw_part *part = &s->base.parts.items[s->base.first];
    for (uint32_t p = 0; p < s->base.parts.schema.pass_count; p++)
        if (!part->plan.pass_count || p != part->passes[0])
            s->gpu.durations[p] = NAN;
    for (uint32_t c = 0, own = 0; c < cw_schema_columns(&s->base.parts.schema); c++)
        if (own < part->plan.counter_count && part->columns[own] == c)
            own++;
        else
            s->gpu.values[c].form = CW_FORM_NOT_COLLECTED;
}

/* Origin of the current process's ranges: attributes with a simulated GPU's address, and the process's rank in its
 * job. */
struct origin {
    char seed[32];
    struct cw_pair about[CW_SIM_ATTRIBUTES + 4];
    struct cw_device device;
    struct cw_range_source source;
};

static const struct cw_range_source *find_origin(const struct simulation *s, struct origin *o)
{
    uint32_t count = cw_sim_describe(o->about, s->gpu.plan->chip);
    o->about[count++] = (struct cw_pair){"seed", o->seed};
    o->about[count++] = (struct cw_pair){"pci", s->pci};
    if (*s->rank)
        o->about[count++] = (struct cw_pair){"rank", s->rank};
    if (*s->ranks)
        o->about[count++] = (struct cw_pair){"ranks", s->ranks};
    o->device =
        (struct cw_device){.index = s->device, .attribute_count = count, .attributes = o->about, .facts = s->gpu.facts};
    o->source = (struct cw_range_source){s->process, s->process_name, &o->device};
    snprintf(o->seed, sizeof o->seed, "%llu", (unsigned long long)s->base.options->capture.sim_seed);
    return &o->source;
}

/* ---- multiplexing ----------------------------------------------------------------------------------------------- */

/* Number of similar launches or ranges met: launches of a kernel, grid and block, or user ranges of a path; of one
 * process and device. */
struct turns {
    uint64_t kind;
    uint32_t met;
};

static int by_kind(const void *a, const void *b)
{
    const struct turns *x = a, *y = b;
    return (x->kind > y->kind) - (x->kind < y->kind);
}

/* Counts one more of the kind and returns the count before it; UINT32_MAX when out of memory, which is an error. */
static uint32_t meet(struct simulation *s, uint64_t kind)
{
    struct turns *made = malloc(sizeof *made), **found;
    if (made)
        *made = (struct turns){.kind = kind};
    found = made ? tsearch(made, &s->turns, by_kind) : NULL;
    if (!found || *found != made)
        free(made);
    if (!found)
        cw_error_nomem(&s->trouble);
    return found ? (*found)->met++ : UINT32_MAX;
}

/* Key of a name. Numbers in names of user ranges are ignored, because a program may number its steps. */
static uint64_t key_of(const char *name, bool user)
{
    uint64_t key = 1;
    for (; *name; name++) {
        const bool digit = user && *name >= '0' && *name <= '9';
        if (!digit || !(name[1] >= '0' && name[1] <= '9'))
            key = cw_sim_mix(key ^ (digit ? '0' : (unsigned char)*name));
    }
    return key;
}

/* Whether a range is counted; sets base.first to the part with its pass. */
static bool take_turn(struct simulation *s, const char *name, bool user)
{
    const uint32_t every = s->base.options->every ? s->base.options->every : 1;
    if (s->base.options->replay != CW_REPLAY_MULTIPLEX)
        return true;
    const uint32_t before = meet(s, key_of(name, user) ^ cw_sim_mix(s->process) ^ cw_sim_mix(~(uint64_t)s->device));
    s->base.first = before / every % s->base.parts.count;
    return before != UINT32_MAX && before % every == 0;
}

/* ---- ends of ranges --------------------------------------------------------------------------------------------- */

/* Duration of a range: that of the kernels of a launch in a trace. */
static uint64_t ns_of(const struct simulation *s, const char *kernel, uint32_t graphs)
{
    char name[CW_SIM_NODE_SIZE];
    uint64_t ns = 0;
    if (!graphs)
        return cw_sim_kernel_ns(kernel);
    for (uint32_t node = 0; node < s->nodes_launched; node++)
        ns += cw_sim_kernel_ns(cw_sim_node_kernel(s->nodes, node, name));
    return ns;
}

/* Makes a range of the current process that ends now; `begin`: its start, 0: now. Facts: NULL for none. */
static void emit(struct simulation *s, const char *name, const char *kernel, const char *path, uint64_t begin,
                 uint32_t graphs, const double *facts)
{
    const uint64_t program = cw_sim_program_key(&s->base.options->capture);
    const uint32_t number = s->numbers++;
    const uint64_t of = !s->loop ? number : *kernel ? cw_sim_text_key(kernel) : key_of(name, true);
    const bool counted = take_turn(s, name, !*kernel), in_turn = s->base.options->replay == CW_REPLAY_MULTIPLEX;
    const char *once = *kernel ? s->once : "";
    struct cw_range_attributes about;
    cw_range_attributes_make(
        &about, &(struct cw_launch){.replay = *once && !in_turn ? CW_REPLAY_ONCE : s->base.options->replay,
                                    .once = once,
                                    .scope = s->base.options->for_context ? CW_SCOPE_CONTEXT : CW_SCOPE_DEVICE,
                                    .nvtx = path,
                                    .graphs = graphs,
                                    .graph_kernel = s->node,
                                    .graph_kernels = s->nodes_launched});
    struct cw_range range = {.name = name,
                             .kernel = kernel,
                             .context = 1,
                             .stream = !*kernel    ? 0 /* a user range has none */
                                       : s->stream ? s->stream
                                                   : 1 + (uint32_t)(cw_sim_mix(program ^ of) % 2),
                             .start_ns = begin ? begin : s->clock,
                             .durations = s->gpu.durations,
                             .attribute_count = about.count,
                             .attributes = about.pairs,
                             .facts = facts};
    if (*kernel && !graphs) {
        range.grid[0] = cw_sim_grid(cw_sim_kernel_key(program, kernel));
        range.block[0] = 128;
        range.grid[1] = range.grid[2] = range.block[1] = range.block[2] = 1;
    }
    cw_sim_gpu_range(&s->gpu, of, s->loop ? number + 1 : 0, !s->loop || !*kernel ? 0 : ns_of(s, kernel, graphs));
    if (in_turn)
        keep_own_part(s);
    else if (*once)
        keep_first_pass(s);
    for (uint32_t p = 0; p < s->base.parts.schema.pass_count; p++)
        s->clock += isnan(s->gpu.durations[p]) ? 0 : (uint64_t)s->gpu.durations[p];
    range.end_ns = s->clock;
    if (s->base.options->replay == CW_REPLAY_APPLICATION)
        keep_own_part(s);
    if (graphs)
        cw_range_capture_leave_out(&s->base, s->gpu.values);
    struct origin origin;
    /* After the first error the program only runs to its end. */
    if (s->trouble.code != CW_OK || !counted)
        return;
    const struct cw_range_source *source = find_origin(s, &origin);
    cw_range_capture_see(&s->base, source->device->index, s->gpu.values);
    cw_range_output_add(&s->base.out, source, &range, s->gpu.values, &s->trouble);
}

static void drop(struct simulation *s, const char *why)
{
    struct origin origin;
    if (s->trouble.code == CW_OK)
        cw_range_output_drop(&s->base.out, find_origin(s, &origin), 1, why, &s->trouble);
}

static uint64_t thread_of(const struct simulation *s)
{
    return (uint64_t)s->process << 32 | s->thread;
}

/* Returns the text of the path, for the caller to free. NULL when out of memory, which is an error. */
static char *path_to(struct simulation *s, uint64_t id)
{
    struct cw_writer path;
    cw_writer_init(&path);
    cw_nesting_path(&s->nesting, thread_of(s), id, &path);
    cw_write_u8(&path, 0);
    char *text = path.status == CW_OK ? strdup((const char *)path.data) : NULL;
    cw_writer_free(&path);
    if (!text)
        cw_error_nomem(&s->trouble);
    return text;
}

/* Counts a launch in the open ranges of the process. */
static void note_launch(struct simulation *s, uint32_t graphs, const double facts[CW_FACT__COUNT])
{
    for (uint32_t i = 0; i < s->nesting.count; i++) {
        uint64_t at = s->nesting.open[i].id % CW_MOST_OPEN_RANGES;
        if (s->nesting.open[i].thread >> 32 != s->process)
            continue;
        s->graphs[at] += graphs;
        cw_facts_join(s->facts[at], facts, !s->launches[at]++);
    }
}

/* Launches a kernel; `graphs` is 1 for a CUDA graph. `why`: reason to leave it out, NULL: it is collected. */
static void launch(struct simulation *s, const char *kernel, uint32_t graphs, const char *why)
{
    bool wanted = !s->base.options->user && cw_sim_is_captured() &&
                  cw_filter_launch(&s->base.filter, kernel, cw_nesting_wanted(&s->nesting, thread_of(s)));
    double facts[CW_FACT__COUNT];
    cw_facts_forget(facts);
    if (!graphs)
        cw_sim_launch_facts(kernel, facts);
    s->met_graph = s->met_graph || graphs;
    if (s->met_graph && s->base.options->replay == CW_REPLAY_KERNEL)
        why = CW_WHY_AFTER_GRAPH;
    else if (graphs && s->base.options->replay == CW_REPLAY_APPLICATION)
        why = CW_WHY_GRAPH;
    const bool lost = wanted && !why && s->lose;
    if (wanted && (why || lost))
        drop(s, why);
    s->lose -= lost;
    char *path = wanted && !why && !lost ? path_to(s, 0) : NULL;
    char *readable = path ? cw_demangle(kernel) : NULL;
    if (path)
        emit(s, readable ? readable : kernel, kernel, path, 0, graphs, facts);
    note_launch(s, graphs, facts);
    *s->once = 0;
    free(readable);
    free(path);
}

/* Launches each node by itself. */
static void launch_nodes(struct simulation *s)
{
    char name[CW_SIM_NODE_SIZE];
    for (s->node = 1; s->node <= s->nodes_launched; s->node++)
        launch(s, cw_sim_node_kernel(s->nodes, s->node - 1, name), 0, NULL);
    s->node = 0;
}

static void launch_graph(struct simulation *s, const char *text)
{
    char name[64], why[200], *obstacle;
    uint32_t kernels = (uint32_t)strtoul(text, &obstacle, 10);
    s->nodes_launched = kernels;
    cw_graph_name(kernels, name, sizeof name);
    snprintf(why, sizeof why, "a CUDA graph with%s", obstacle);
    if (s->base.options->whole_graphs || *obstacle)
        launch(s, name, 1, *obstacle ? why : NULL);
    else
        launch_nodes(s);
}

static bool is_level_wanted(const struct simulation *s, uint32_t level)
{
    return s->base.options->replay == CW_REPLAY_APPLICATION ? level == s->base.level
                                                            : level >= 1 && level <= s->base.options->levels;
}

static void open_range(struct simulation *s, const char *name, bool process_wide)
{
    const struct cw_open_range *range =
        cw_nesting_open(&s->nesting, thread_of(s), 0, process_wide, cw_filter_range(&s->base.filter, name), name);
    bool full = !range && s->nesting.count == CW_MOST_OPEN_RANGES;
    if (!range && !full)
        cw_error_nomem(&s->trouble);
    else if (full && s->base.options->user && cw_filter_range(&s->base.filter, name))
        drop(s, "a range beyond those that are followed");
    if (full && cw_nesting_warning(&s->nesting))
        fprintf(stderr, "counterworks: %s\n", cw_nesting_warning(&s->nesting));
    if (!range)
        return;
    bool begins = s->base.options->user && cw_sim_is_captured() && is_level_wanted(s, range->level) &&
                  cw_filter_launch(&s->base.filter, "", true);
    s->begun[range->id % CW_MOST_OPEN_RANGES] = begins ? s->clock : 0;
    s->graphs[range->id % CW_MOST_OPEN_RANGES] = s->launches[range->id % CW_MOST_OPEN_RANGES] = 0;
}

static void end_range(struct simulation *s, const struct cw_open_range *range)
{
    uint64_t begin = range ? s->begun[range->id % CW_MOST_OPEN_RANGES] : 0;
    char *path = begin ? path_to(s, range->id) : NULL;
    uint64_t at = path ? range->id % CW_MOST_OPEN_RANGES : 0;
    if (path)
        emit(s, path, "", path, begin, s->graphs[at], s->launches[at] ? s->facts[at] : NULL);
    free(path);
    if (range)
        cw_nesting_close(&s->nesting, range->id);
}

static const struct cw_open_range *started(const struct simulation *s, const char *name)
{
    for (uint32_t i = 0; i < s->nesting.count; i++)
        if (s->nesting.open[i].process_wide && cw_sim_is_range(s->nesting.open[i].name, name))
            return &s->nesting.open[i];
    return NULL;
}

/* ---- events of the program -------------------------------------------------------------------------------------- */

static bool is_collected(const struct simulation *s)
{
    return cw_filter_process(&s->base.filter, s->process_name, s->process == s->own_process) &&
           cw_filter_device(&s->base.filter, s->device);
}

static void set_device(struct simulation *s, const char *text)
{
    unsigned number = 0;
    char pci[sizeof s->pci] = "";
    (void)!sscanf(text, "%u %31s", &number, pci);
    s->device = number % 64;
    if (!*pci)
        snprintf(pci, sizeof pci, "0000:%02x:00.0", s->device);
    memcpy(s->pci, pci, sizeof s->pci);
}

static const char *name_of_program(const struct simulation *s)
{
    const char *path = s->base.options->capture.argv[0], *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Opens a range in the domain of the last event. */
static void open_named(struct simulation *s, const char *name, bool process_wide)
{
    char *full = cw_sim_range_name(s->domain, name);
    if (full)
        open_range(s, full, process_wide);
    else
        cw_error_nomem(&s->trouble);
    *s->domain = 0;
    free(full);
}

/* Begins the program's own process, once it runs. */
static void begin_process(struct simulation *s)
{
    s->process = s->process ? s->process : (uint32_t)s->program.pid;
    s->own_process = s->own_process ? s->own_process : (uint32_t)s->program.pid;
}

/* Takes the rank of this process. */
static void take_own_rank(struct simulation *s)
{
    const char *rank = cw_rank(), *ranks = cw_rank_count();
    snprintf(s->rank, sizeof s->rank, "%s", rank ? rank : "");
    snprintf(s->ranks, sizeof s->ranks, "%s", ranks ? ranks : "");
}

static void set_process(struct simulation *s, const char *line, const char *rest)
{
    *s->rank = *s->ranks = 0;
    s->thread = s->stream = 0;
    if (sscanf(rest, "%" SCNu32 " %255s %63s %63s", &s->process, s->process_name, s->rank, s->ranks) < 2)
        cw_error_set(&s->trouble, CW_ERR_INPUT, "found the event '%.100s', expected process NUMBER NAME [RANK [RANKS]]",
                     line);
    if (strcmp(s->process_name, "-") != 0)
        return;
    if (!*s->rank)
        take_own_rank(s);
    snprintf(s->process_name, sizeof s->process_name, "%s", name_of_program(s));
    s->own_process = s->named ? s->own_process : s->process;
    s->named = true;
}

static void take_line(void *user, const char *line)
{
    struct simulation *s = user;
    const char *rest;
    s->spoken = true;
    begin_process(s);
#define IS(word) (rest = cw_sim_event(line, word))
    if (IS("process")) {
        set_process(s, line, rest);
    } else if (IS("device")) {
        set_device(s, rest);
    } else if (!is_collected(s)) {
        return;
    } else if (IS("launch")) {
        launch(s, rest, 0, NULL);
    } else if (IS("graph")) {
        launch_graph(s, rest);
    } else if (IS("push")) {
        open_named(s, rest, false);
    } else if (IS("pop")) {
        if (!cw_nesting_pop_unknown(&s->nesting, thread_of(s), 0))
            end_range(s, cw_nesting_innermost(&s->nesting, thread_of(s), 0));
    } else if (IS("start")) {
        open_named(s, rest, true);
    } else if (IS("end")) {
        end_range(s, started(s, rest));
    } else if (IS("thread")) {
        s->thread = (uint32_t)strtoul(rest, NULL, 10);
    } else if (IS("stream")) {
        s->stream = (uint32_t)strtoul(rest, NULL, 10);
    } else if (IS("once")) {
        snprintf(s->once, sizeof s->once, "%s", rest);
    } else if (IS("nodes")) {
        snprintf(s->nodes, sizeof s->nodes, "%s", rest);
    } else if (!cw_sim_domain(s->domain, line) && !cw_sim_is_event(line)) {
        cw_error_set(&s->trouble, CW_ERR_INPUT,
                     "found the event '%.100s', expected launch, graph, push, pop, start, end, device, process or "
                     "another that sim.h lists",
                     line);
    }
#undef IS
}

/* ---- runs ------------------------------------------------------------------------------------------------------- */

static void pretend_launches(struct simulation *s)
{
    const struct cw_capture_options *o = &s->base.options->capture;
    if (s->base.options->sim_kernels == CW_SIM_TRAINING) {
        s->loop = s->loop ? s->loop : 1;
        s->lose = s->base.options->sim_drop;
        cw_sim_train(&(struct cw_sim_training){.steps = o->sim_steps,
                                               .processes = o->sim_processes,
                                               .take = take_line,
                                               .user = s,
                                               .trouble = &s->trouble});
        return;
    }
    for (uint32_t i = 0; i < s->base.options->sim_kernels && !cw_signals_end_alone(); i++) {
        char name[32];
        snprintf(name, sizeof name, "sim_kernel_%u", s->loop ? i % s->loop : i);
        if (s->base.options->sim_kernels - i > s->base.options->sim_drop)
            launch(s, name, 0, NULL);
        else
            drop(s, NULL);
    }
}

static enum cw_status run_once(void *user, struct cw_error *err)
{
    struct simulation *s = user;
    s->base.filter.launches = 0;
    s->numbers = 0;
    s->clock = CW_SIM_START_NS;
    s->spoken = s->met_graph = s->named = false;
    snprintf(s->process_name, sizeof s->process_name, "%s", name_of_program(s));
    snprintf(s->nodes, sizeof s->nodes, "node");
    *s->domain = *s->once = 0;
    s->process = s->own_process = s->thread = s->stream = 0; /* set when it is started */
    set_device(s, "0");
    take_own_rank(s);
    cw_sim_ask_profiler(s->base.options->when.profiler);
    enum cw_status status =
        cw_sim_program_run(&s->program, s->base.options->capture.argv, s->base.out.run - 1, take_line, s, err);
    begin_process(s);
    if (status == CW_OK && !s->spoken && is_collected(s))
        pretend_launches(s);
    while (s->nesting.count) /* ranges that the program leaves open end with it */
        end_range(s, &s->nesting.open[s->nesting.count - 1]);
    cw_nesting_finish(&s->nesting);
    return status;
}

static enum cw_status simulate(struct simulation *s, int *exit_status, struct cw_error *err)
{
    struct cw_range_capture *b = &s->base;
    s->loop = b->options->sim_loop || b->options->replay != CW_REPLAY_MULTIPLEX ? b->options->sim_loop : 3;
    struct cw_limit_index limits;
    enum cw_status status = cw_limit_index_make(&limits, &b->plan, b->arena)
                                ? cw_range_capture_divide(b, cw_parts_fit_limits, &limits, err)
                                : cw_error_nomem(err);
    if (status == CW_OK)
        status =
            cw_sim_gpu_open(&s->gpu, &b->parts.plan, &b->parts.schema, b->options->capture.sim_seed, b->arena, err);
    s->gpu.lacks = b->options->capture.sim_lack;
    b->clocks = cw_sim_clocks();
    if (status == CW_OK)
        status = cw_range_capture_run(b, &s->program, &s->trouble, run_once, s, err);
    return cw_range_capture_verdict(b, &s->program, status, exit_status, err);
}

enum cw_status cw_sim_range(const struct cw_range_options *options, int *exit_status, struct cw_error *err)
{
    struct simulation *s = calloc(1, sizeof *s);
    if (!s)
        return cw_error_nomem(err);
    enum cw_status status = cw_range_capture_open(&s->base, options, err);
    if (status == CW_OK)
        status = simulate(s, exit_status, err);
    cw_range_capture_close(&s->base);
    tdestroy(s->turns, free);
    free(s);
    return status;
}
