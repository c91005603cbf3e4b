/* Ranges of a simulated GPU, for machines without one. It runs the program, which may say what it launches: a line for
 * each event, written to the file that COUNTERWORKS_SIM names,
 *
 *     launch KERNEL               push NAME      pop      start NAME      end NAME
 *     graph KERNELS [OBSTACLE]    launches a CUDA graph; what stands behind the number is why it cannot run twice
 *     device NUMBER [PCI]         later launches are on this device, at an address of its own
 *     process NUMBER NAME [RANK]  later lines are of this process
 *
 * A program that says nothing is taken to have launched a few kernels. Filters, user ranges, application replay and
 * files are the real ones. Every file it makes says that it is simulated. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/backend/range_capture.h"
#include "agent/backend/sim/sim.h"
#include "agent/backend/sim/sim_gpu.h"
#include "agent/backend/sim/sim_program.h"
#include "agent/common/file_name.h"
#include "agent/common/nesting.h"
#include "agent/output/patched.h"
#include "agent/output/range_output.h"
#include "passes/parts.h"

struct simulation {
    const struct cw_range_options *options;
    struct cw_arena *arena;
    struct cw_config_image plan; /* the options' plan, with passes added under application replay */
    struct cw_sim_gpu gpu;
    struct cw_parts parts;
    struct cw_filter filter;
    struct cw_range_output out;
    struct cw_program program;
    const bool *patched;
    struct cw_error trouble; /* the first thing that went wrong while the program ran */
    /* of this run */
    bool one_pass;
    uint32_t part, level, numbers;
    uint64_t clock;
    struct cw_nesting nesting;
    uint64_t
        begun[CW_MOST_OPEN_RANGES]; /* clocks at which open ranges that are collected began, by id modulo the most */
    uint32_t graphs[CW_MOST_OPEN_RANGES]; /* launched in them */
    bool spoken, met_graph;
    uint32_t process, device;
    char process_name[256], rank[64], pci[32];
};

/* ---- ranges ----------------------------------------------------------------------------------------------------- */

/* What this run collects, under application replay: a part, which is one pass. */
static void keep_own_part(struct simulation *s)
{
    const struct cw_part *part = &s->parts.items[s->part];
    for (uint32_t p = 0; p < s->parts.schema.pass_count; p++)
        if (!part->plan.pass_count || p != part->passes[0])
            s->gpu.durations[p] = NAN;
    for (uint32_t c = 0, own = 0; c < cw_schema_columns(&s->parts.schema); c++)
        if (own < part->plan.counter_count && part->columns[own] == c)
            own++;
        else
            s->gpu.values[c].form = CW_FORM_NOT_COLLECTED;
}

/* What ranges of the current process are of; with a simulated GPU's address and the process's rank. */
struct origin {
    char seed[32];
    struct cw_pair about[7];
    struct cw_device device;
    struct cw_range_source source;
};

static const struct cw_range_source *find_origin(const struct simulation *s, struct origin *o)
{
    *o = (struct origin){.about = {{"name", "simulated GPU"},
                                   {"chip", s->gpu.plan->chip},
                                   {"backend", "sim"},
                                   {"simulated", "yes"},
                                   {"seed", o->seed},
                                   {"pci", s->pci},
                                   {"rank", s->rank}},
                         .device = {.index = s->device,
                                    .attribute_count = sizeof o->about / sizeof *o->about - !*s->rank,
                                    .attributes = o->about,
                                    .facts = s->gpu.facts},
                         .source = {s->process, s->process_name, &o->device}};
    snprintf(o->seed, sizeof o->seed, "%llu", (unsigned long long)s->options->capture.sim_seed);
    return &o->source;
}

/* A range of the current process that ends now, having begun at `begin` (0: it begins now). */
static void emit(struct simulation *s, const char *name, const char *kernel, const char *path, uint64_t begin,
                 uint32_t graphs)
{
    uint32_t number = s->numbers++;
    uint64_t key = cw_sim_mix(s->options->capture.sim_seed ^ cw_sim_text_key(s->options->capture.argv[0]) ^ number);
    struct cw_range_attributes about;
    cw_range_attributes_make(&about,
                             &(struct cw_launch){.replay = s->options->replay,
                                                 .scope = s->options->for_context ? CW_SCOPE_CONTEXT : CW_SCOPE_DEVICE,
                                                 .nvtx = path,
                                                 .graphs = graphs});
    struct cw_range range = {.name = name,
                             .kernel = kernel,
                             .context = 1,
                             .stream = 1 + key % 2,
                             .start_ns = begin ? begin : s->clock,
                             .durations = s->gpu.durations,
                             .attribute_count = about.count,
                             .attributes = about.pairs};
    if (*kernel && !graphs) {
        range.grid[0] = 1 + (uint32_t)(key % 1024);
        range.block[0] = 128;
        range.grid[1] = range.grid[2] = range.block[1] = range.block[2] = 1;
    }
    cw_sim_gpu_range(&s->gpu, number, key);
    for (uint32_t p = 0; p < s->parts.schema.pass_count; p++)
        s->clock += (uint64_t)s->gpu.durations[p];
    range.end_ns = s->clock;
    if (s->one_pass)
        keep_own_part(s);
    if (graphs)
        cw_patched_leave_out(s->patched, &s->parts.schema, s->gpu.values);
    struct origin origin;
    /* after the first failure the program only runs to its end */
    if (s->trouble.code == CW_OK)
        cw_range_output_add(&s->out, find_origin(s, &origin), &range, s->gpu.values, &s->trouble);
}

static void drop(struct simulation *s, const char *why)
{
    struct origin origin;
    if (s->trouble.code == CW_OK)
        cw_range_output_drop(&s->out, find_origin(s, &origin), 1, why, &s->trouble);
}

/* The text of the path; to be freed. NULL without memory, which is trouble. */
static char *path_to(struct simulation *s, uint64_t id)
{
    struct cw_writer path;
    cw_writer_init(&path);
    cw_nesting_path(&s->nesting, s->process, id, &path);
    cw_write_u8(&path, 0);
    char *text = path.status == CW_OK ? strdup((const char *)path.data) : NULL;
    cw_writer_free(&path);
    if (!text)
        cw_error_nomem(&s->trouble);
    return text;
}

/* `graphs` is 1 for a CUDA graph; why: it is left out, NULL: it is not. */
static void launch(struct simulation *s, const char *kernel, uint32_t graphs, const char *why)
{
    bool wanted = !s->options->user && cw_filter_launch(&s->filter, kernel, cw_nesting_wanted(&s->nesting, s->process));
    s->met_graph = s->met_graph || graphs;
    if (s->met_graph && s->options->replay == CW_REPLAY_KERNEL)
        why = CW_WHY_AFTER_GRAPH;
    else if (graphs && s->options->replay == CW_REPLAY_APPLICATION)
        why = CW_WHY_GRAPH;
    if (wanted && why)
        drop(s, why);
    char *path = wanted && !why ? path_to(s, 0) : NULL;
    if (path)
        emit(s, kernel, kernel, path, 0, graphs);
    free(path);
}

static void launch_graph(struct simulation *s, const char *text)
{
    char name[64], why[200], *obstacle;
    uint32_t kernels = (uint32_t)strtoul(text, &obstacle, 10);
    cw_graph_name(kernels, name, sizeof name);
    snprintf(why, sizeof why, "a CUDA graph with%s", obstacle);
    launch(s, name, 1, *obstacle ? why : NULL);
    for (uint32_t i = 0; i < s->nesting.count; i++)
        s->graphs[s->nesting.open[i].id % CW_MOST_OPEN_RANGES] += s->nesting.open[i].thread == s->process;
}

static bool is_level_wanted(const struct simulation *s, uint32_t level)
{
    return s->one_pass ? level == s->level : level >= 1 && level <= s->options->levels;
}

static void open_range(struct simulation *s, const char *name, bool process_wide)
{
    const struct cw_open_range *range =
        cw_nesting_open(&s->nesting, s->process, 0, process_wide, cw_filter_range(&s->filter, name), name);
    bool full = !range && s->nesting.count == CW_MOST_OPEN_RANGES;
    if (!range && !full)
        cw_error_nomem(&s->trouble);
    else if (full && s->options->user && cw_filter_range(&s->filter, name))
        drop(s, "a range beyond those that are followed");
    if (full && cw_nesting_warning(&s->nesting))
        fprintf(stderr, "counterworks: %s\n", cw_nesting_warning(&s->nesting));
    if (!range)
        return;
    bool begins = s->options->user && is_level_wanted(s, range->level) && cw_filter_launch(&s->filter, "", true);
    s->begun[range->id % CW_MOST_OPEN_RANGES] = begins ? s->clock : 0;
    s->graphs[range->id % CW_MOST_OPEN_RANGES] = 0;
}

static void end_range(struct simulation *s, const struct cw_open_range *range)
{
    uint64_t begin = range ? s->begun[range->id % CW_MOST_OPEN_RANGES] : 0;
    char *path = begin ? path_to(s, range->id) : NULL;
    if (path)
        emit(s, path, "", path, begin, s->graphs[range->id % CW_MOST_OPEN_RANGES]);
    free(path);
    if (range)
        cw_nesting_close(&s->nesting, range->id);
}

static const struct cw_open_range *started(const struct simulation *s, const char *name)
{
    for (uint32_t i = 0; i < s->nesting.count; i++)
        if (s->nesting.open[i].process_wide && strcmp(s->nesting.open[i].name, name) == 0)
            return &s->nesting.open[i];
    return NULL;
}

/* ---- what the program says -------------------------------------------------------------------------------------- */

static bool is_collected(const struct simulation *s)
{
    return cw_filter_process(&s->filter, s->process_name, (pid_t)s->process == s->program.pid) &&
           cw_filter_device(&s->filter, s->device);
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

static void take_line(void *user, const char *line)
{
    struct simulation *s = user;
    const char *rest;
    s->spoken = true;
    s->process = s->process ? s->process : (uint32_t)s->program.pid;
#define IS(word) (rest = cw_sim_event(line, word))
    if (IS("process")) {
        *s->rank = 0;
        if (sscanf(rest, "%" SCNu32 " %255s %63s", &s->process, s->process_name, s->rank) < 2)
            cw_error_set(&s->trouble, CW_ERR_INPUT, "found the event '%.100s', expected process NUMBER NAME [RANK]",
                         line);
    } else if (IS("device")) {
        set_device(s, rest);
    } else if (!is_collected(s)) {
        return;
    } else if (IS("launch")) {
        launch(s, rest, 0, NULL);
    } else if (IS("graph")) {
        launch_graph(s, rest);
    } else if (IS("push")) {
        open_range(s, rest, false);
    } else if (IS("pop")) {
        end_range(s, cw_nesting_innermost(&s->nesting, s->process, 0));
    } else if (IS("start")) {
        open_range(s, rest, true);
    } else if (IS("end")) {
        end_range(s, started(s, rest));
    } else {
        cw_error_set(&s->trouble, CW_ERR_INPUT,
                     "found the event '%.100s', expected launch, graph, push, pop, start, end, device or process",
                     line);
    }
#undef IS
}

/* ---- runs ------------------------------------------------------------------------------------------------------- */

static void pretend_launches(struct simulation *s)
{
    for (uint32_t i = 0; i < s->options->sim_kernels; i++) {
        char name[32];
        snprintf(name, sizeof name, "sim_kernel_%u", i);
        if (s->options->sim_kernels - i > s->options->sim_drop)
            launch(s, name, 0, NULL);
        else
            drop(s, NULL);
    }
}

static enum cw_status run_once(struct simulation *s, struct cw_error *err)
{
    s->filter.launches = 0;
    s->numbers = 0;
    s->clock = 1000;
    s->spoken = s->met_graph = false;
    cw_range_output_begin(&s->out);
    const char *name = strrchr(s->options->capture.argv[0], '/');
    snprintf(s->process_name, sizeof s->process_name, "%s", name ? name + 1 : s->options->capture.argv[0]);
    s->process = 0; /* until it is started */
    set_device(s, "0");
    snprintf(s->rank, sizeof s->rank, "%s", cw_rank() ? cw_rank() : "");
    enum cw_status status =
        cw_sim_program_run(&s->program, s->options->capture.argv, s->out.run - 1, take_line, s, err);
    s->process = s->process ? s->process : (uint32_t)s->program.pid;
    if (status == CW_OK && !s->spoken && is_collected(s))
        pretend_launches(s);
    cw_nesting_finish(&s->nesting);
    if (status == CW_OK)
        cw_range_output_compare(&s->out);
    return status;
}

static enum cw_status run_all(struct simulation *s, uint32_t count, struct cw_error *err)
{
    enum cw_status status = CW_OK;
    for (uint32_t i = 0; i < count && status == CW_OK && s->trouble.code == CW_OK; i++) {
        if (i && !cw_program_may_run_again(&s->program))
            break;
        s->part = i / s->options->levels;
        s->level = 1 + i % s->options->levels;
        status = run_once(s, err);
    }
    if (status != CW_OK && s->trouble.code == CW_OK)
        s->trouble = *err;
    struct cw_error *told = s->trouble.code == CW_OK ? &s->trouble : NULL;
    if (!told) /* after trouble the file stays without an end, for it may lack ranges */
        cw_range_output_flush(&s->out, NULL);
    else
        cw_range_output_end(&s->out, &s->program, told);
    if (s->trouble.code != CW_OK)
        *err = s->trouble;
    return err->code;
}

static enum cw_status simulate(struct simulation *s, int *exit_status, struct cw_error *err)
{
    const struct cw_range_options *o = s->options;
    const struct cw_parts_rules rules = {.how = s->one_pass                     ? CW_PARTS_PASSES
                                                : o->replay == CW_REPLAY_KERNEL ? CW_PARTS_ONE
                                                                                : CW_PARTS_FEW,
                                         .fits = cw_parts_fit_limits};
    uint32_t count = 1, added = 0;
    uint64_t beside;
    enum cw_status status = cw_range_beside(o, &beside, err);
    if (status == CW_OK)
        status = cw_filter_open(&s->filter, &o->filter, err);
    s->plan = *o->capture.plan;
    if (status == CW_OK && s->one_pass)
        status = cw_parts_complete(&s->plan, cw_parts_fit_limits, NULL, &added, s->arena, err);
    if (status == CW_OK)
        status = cw_parts_make(&s->parts, &s->plan, &rules, s->arena, err);
    if (status == CW_OK)
        status = cw_sim_gpu_open(&s->gpu, &s->parts.plan, &s->parts.schema, o->capture.sim_seed, s->arena, err);
    if (status == CW_OK) {
        count = s->one_pass ? s->parts.count * o->levels : 1;
        cw_range_output_tell(&s->parts, rules.how, added);
        s->patched = cw_patched_columns(&s->parts.plan, &s->parts.schema, s->arena);
        if (!s->patched)
            return cw_error_nomem(err);
        status = cw_range_output_open(&s->out, o->capture.output, &s->parts.schema, count, o->levels, err);
    }
    if (status == CW_OK)
        status = run_all(s, count, err);
    cw_range_output_report(&s->out);
    if (s->program.over)
        status = cw_range_verdict(o, &s->program, s->out.ranges, status, exit_status, err);
    return status;
}

enum cw_status cw_sim_range(const struct cw_range_options *options, int *exit_status, struct cw_error *err)
{
    struct simulation *s = calloc(1, sizeof *s);
    if (!s)
        return cw_error_nomem(err);
    s->options = options;
    s->one_pass = options->replay == CW_REPLAY_APPLICATION;
    s->arena = cw_arena_create();
    enum cw_status status = s->arena ? simulate(s, exit_status, err) : cw_error_nomem(err);
    cw_range_output_close(&s->out);
    cw_filter_close(&s->filter);
    cw_arena_destroy(s->arena);
    free(s);
    return status;
}
