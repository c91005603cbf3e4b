/* Ranges of kernel launches from a real GPU: gives the program's processes the plan and turns their data into counter
 * data. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/backend/batch_report.h"
#include "agent/backend/cupti/check.h"
#include "agent/backend/cupti/cupti.h"
#include "agent/backend/cupti/range_decode.h"
#include "agent/backend/range_capture.h"
#include "agent/session/session.h"
#include "base/demangle.h"
#include "base/file.h"
#include "base/text.h"

enum {
    IMAGE_BUDGET = 256 << 20, /* in bytes; the agent reads as much again meanwhile */
    BYTES_A_RAW_COUNTER = 6 << 10,
    MOST_AT_ONCE = 256,
    MOST_BY_KERNEL = 16,
    MOST_IN_TURN = 128, /* launches; for user ranges: */
    MOST_RANGES_IN_TURN = 16,
};

struct capture {
    struct cw_range_capture base;
    const struct cw_nvperf *library;
    struct cw_nvperf_prover *prover;
    struct cw_session session;
    struct cw_clock_log clocks;
    struct cw_node_facts *node;
    uint32_t count;             /* number of parts that each run collects */
    const struct cw_part *once; /* parts of one pass each, which take turns over launches counted once */
    uint32_t once_count;
    uint64_t once_ranges, pushed; /* launches counted once; pushed ranges under multiplexing */
    char once_why[200];           /* why the first was counted once */
    uint32_t kept;
    struct cw_bytes memory; /* data handed over by a process */
    bool shared, warned;    /* there are ranges of a shared device; the warning of an older CUPTI was decided */
    struct cw_value *values;
    double *durations;
    struct cw_device_facts *facts;
    struct cw_batch_report batches;
};

/* ---- before the program ----------------------------------------------------------------------------------------- */

static bool is_in_turn(const struct capture *c)
{
    return c->base.options->replay == CW_REPLAY_MULTIPLEX;
}

/* A pass costs CUPTI 10 to 50 ms; the more launches share a pass, the better. CUPTI's kernel replay shares no pass, and
 * more room makes each launch slower: 107 ms on an H100 with room for 16 launches (or 1), 128 ms for 256. If parts take
 * turns, a pass changes before it has held many launches, and room for more makes the change slower. */
static uint32_t most_at_once(const struct cw_range_options *o)
{
    if (o->replay == CW_REPLAY_MULTIPLEX)
        return o->user ? MOST_RANGES_IN_TURN : MOST_IN_TURN;
    return o->replay == CW_REPLAY_KERNEL ? MOST_BY_KERNEL : MOST_AT_ONCE;
}

static uint32_t ranges_at_once(const struct capture *c)
{
    size_t raws = 0;
    for (uint32_t i = c->base.first; i < c->base.first + c->count; i++) {
        size_t own = 0;
        for (uint32_t p = 0; p < c->base.parts.items[i].plan.pass_count; p++)
            own += c->base.parts.items[i].plan.passes[p].count;
        raws = !is_in_turn(c) ? raws + own : own > raws ? own : raws; /* parts in turn use the memory one at a time */
    }
    uint32_t n = (uint32_t)((size_t)IMAGE_BUDGET / (raws * BYTES_A_RAW_COUNTER + 1));
    uint32_t most = most_at_once(c->base.options);
    return n < 1 ? 1 : n > most ? most : n;
}

/* Writes NVIDIA's config image for the passes of some parts, in their order: the plan's own, or a new one. */
static enum cw_status lower(struct capture *c, const struct cw_part *parts, uint32_t count, uint64_t beside,
                            struct cw_writer *native, struct cw_error *err)
{
    struct cw_config_image plan = parts->plan;
    if (count == 1 && plan.native && !beside) {
        cw_write_bytes(native, plan.native, plan.native_size);
        return CW_OK;
    }
    struct cw_config_pass *passes = cw_arena_alloc(c->base.arena, c->base.parts.plan.pass_count, sizeof *passes);
    if (!passes)
        return cw_error_nomem(err);
    plan.passes = passes;
    plan.pass_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct cw_config_image *part = &parts[i].plan;
        for (uint32_t k = 0; k < part->pass_count; k++)
            passes[plan.pass_count++] = part->passes[k];
    }
    return cw_nvperf_lower(c->library, &plan, beside, native, err);
}

/* Writes the config images for the context and for the device. */
static enum cw_status write_natives(struct capture *c, const struct cw_part *parts, uint32_t count,
                                    struct cw_error *err)
{
    const bool wanted[] = {count && c->base.options->for_context, count && c->base.beside};
    enum cw_status status = CW_OK;
    for (int scope = CW_SCOPE_CONTEXT; scope <= CW_SCOPE_DEVICE && status == CW_OK; scope++) {
        struct cw_writer native, *setup = &c->session.setup;
        cw_writer_init(&native);
        if (wanted[scope])
            status = lower(c, parts, count, scope == CW_SCOPE_DEVICE ? c->base.beside : 0, &native, err);
        cw_write_u32(setup, (uint32_t)native.size);
        cw_write_bytes(setup, native.data, native.size);
        if (status == CW_OK && native.status != CW_OK)
            status = cw_error_nomem(err);
        cw_writer_free(&native);
    }
    return status;
}

static void write_part(struct capture *c, const struct cw_config_image *plan)
{
    struct cw_writer *setup = &c->session.setup;
    cw_write_u32(setup, plan->counter_count);
    for (uint32_t i = 0; i < plan->counter_count; i++) {
        char *name = cw_arena_printf(c->base.arena, "%s.sum", plan->counters[i].name);
        if (!name)
            setup->status = CW_ERR_NOMEM;
        else
            cw_write_string(setup, name);
    }
    cw_write_u32(setup, plan->pass_count);
    cw_write_u8(setup, cw_range_capture_patches(plan));
}

static enum cw_status write_parts(struct capture *c, const struct cw_part *parts, uint32_t count, struct cw_error *err)
{
    cw_write_u32(&c->session.setup, count);
    for (uint32_t i = 0; i < count; i++)
        write_part(c, &parts[i].plan);
    return write_natives(c, parts, count, err);
}

/* Launches that must not be repeated are counted in the run's only pass, or in passes that take turns. */
static enum cw_status choose_once(struct capture *c, struct cw_error *err)
{
    struct cw_part *list;
    c->once = &c->base.parts.items[c->base.first];
    c->once_count = 0;
    if (c->base.options->user || c->base.options->replay == CW_REPLAY_USER || is_in_turn(c))
        return CW_OK;
    c->once_count = c->base.one_pass;
    if (c->base.one_pass)
        return CW_OK;
    enum cw_status status = cw_parts_single_passes(&list, &c->once_count, &c->base.parts, c->base.arena, err);
    c->once = list;
    return status;
}

/* Makes SETUP for a run, which collects some parts, and user ranges of one level or of all. */
static enum cw_status make_setup(struct capture *c, struct cw_error *err)
{
    const struct cw_range_options *o = c->base.options;
    struct cw_writer *setup = &c->session.setup;
    enum cw_status status = choose_once(c, err);
    cw_write_u32(setup, is_in_turn(c)                  ? CW_MODE_MULTIPLEX
                        : o->replay == CW_REPLAY_BATCH ? CW_MODE_BATCH
                                                       : CW_MODE_RANGE);
    cw_write_u32(setup, ranges_at_once(c));
    if (status == CW_OK)
        status = write_parts(c, &c->base.parts.items[c->base.first], c->count, err);
    if (status == CW_OK)
        status = write_parts(c, c->once, c->once_count, err);
    cw_write_u32(setup, o->replay);
    cw_write_u8(setup, o->user);
    cw_write_u32(setup, c->base.level);
    cw_write_u32(setup, o->replay == CW_REPLAY_USER ? o->levels : 1);
    cw_write_u8(setup, o->whole_graphs);
    cw_write_u32(setup, o->reserve_mb);
    cw_write_u32(setup, o->on_host_mb);
    cw_filter_write(setup, &o->filter);
    cw_write_u64(setup, cw_clock_log_now_ns());
    cw_trace_window_write(setup, &o->when);
    if (is_in_turn(c)) {
        cw_write_u32(setup, o->every ? o->every : 1);
        cw_write_u32(setup, o->slowdown);
    }
    return status == CW_OK && setup->status != CW_OK ? cw_error_nomem(err) : status;
}

/* Splits passes that NVIDIA's library would split, rather than giving up. */
static enum cw_status repair(struct capture *c, struct cw_error *err)
{
    uint32_t splits = 0;
    if (c->base.plan.native)
        return CW_OK;
    enum cw_status status = cw_nvperf_repair(c->library, &c->base.plan, &splits, c->base.arena, err);
    if (splits)
        fprintf(stderr,
                "capture-agent: %u pass%s of the plan had to be split; values may mix more passes than planned\n",
                splits, splits == 1 ? "" : "es");
    return status;
}

/* ---- ranges ----------------------------------------------------------------------------------------------------- */

static enum cw_status keep_native(struct capture *c, const struct cw_range_images *images, struct cw_error *err)
{
    enum cw_status status = CW_OK;
    for (uint32_t i = 0; c->base.options->keep_native && i < images->count && status == CW_OK; i++) {
        char *path = NULL;
        if (asprintf(&path, c->kept ? "%s.%u" : "%s", c->base.options->keep_native, c->kept) < 0)
            return cw_error_nomem(err);
        c->kept++;
        status = cw_file_write(path, images->items[i].bytes, images->items[i].size, err);
        free(path);
    }
    return status;
}

/* The launches of one hand-over, and the parts of the plan that counted them. */
struct batch {
    const struct cw_device *device;
    const struct cw_part *parts;
    uint32_t part_count, count, dropped;
    const char *why; /* why the first was dropped */
    struct cw_launch *launches;
};

static enum cw_status write_range(struct capture *c, const struct cw_range_source *source, const struct cw_launch *l,
                                  size_t range, struct cw_range_images *images, struct cw_error *err)
{
    char *readable = cw_demangle(l->kernel);
    struct cw_range_attributes about;
    cw_range_attributes_make(&about, l);
    c->shared |= l->scope == CW_SCOPE_SHARED;
    c->pushed += l->pushed && is_in_turn(c);
    if (l->once && *l->once && !c->once_ranges++)
        snprintf(c->once_why, sizeof c->once_why, "%s", l->once);
    struct cw_range r = {.name = l->user      ? l->nvtx
                                 : readable   ? readable
                                 : *l->kernel ? l->kernel
                                              : "(unknown kernel)",
                         .kernel = l->kernel,
                         .context = l->context,
                         .stream = l->stream,
                         .start_ns = l->start_ns,
                         .end_ns = l->end_ns,
                         .durations = c->durations,
                         .attribute_count = about.count,
                         .attributes = about.pairs,
                         .facts = l->facts};
    memcpy(r.grid, l->grid, sizeof r.grid);
    memcpy(r.block, l->block, sizeof r.block);
    enum cw_status status = images ? cw_range_images_decode(images, range, c->values, c->durations, err) : CW_OK;
    if (images && l->graphs)
        cw_range_capture_leave_out(&c->base, c->values);
    if (status == CW_OK && images)
        cw_range_capture_see(&c->base, source->device->index, c->values);
    if (status == CW_OK)
        status = cw_range_output_add(&c->base.out, source, &r, images ? c->values : NULL, err);
    free(readable);
    return status;
}

static void warn_of_cupti(struct capture *c, const struct cw_device *device)
{
    const char *version = cw_device_attribute(device, "cupti");
    if (!c->warned && !c->base.options->user && version && strtoul(version, NULL, 10) < CW_CUPTI_OF_CUDA_13)
        cw_text_print(stderr,
                      "capture-agent: CUPTI %s is older than CUDA 13.0's: the time of a launch includes 10 to 40 us "
                      "around it; counts are right\n",
                      version);
    c->warned = true;
}

static enum cw_status write_ranges(struct capture *c, const struct cw_process *p, struct batch *b,
                                   struct cw_range_images *images, struct cw_error *err)
{
    struct cw_launch unknown = {.kernel = ""};
    cw_facts_forget(unknown.facts);
    struct cw_device device = *b->device;
    const struct cw_range_source source = {p->pid, p->program, &device};
    size_t ranges = images->ranges;
    bool known = ranges == b->count;
    for (uint32_t i = 0; i < b->count; i++)
        unknown.graphs += b->launches[i].graphs;
    if (!known)
        fprintf(stderr, "capture-agent: found %zu range%s for %u launch%s; these ranges are not named\n", ranges,
                ranges == 1 ? "" : "s", b->count, b->count == 1 ? "" : "es");
    enum cw_status status = ranges ? cw_range_images_facts(images, c->facts, err) : CW_OK;
    device.facts = c->facts;
    warn_of_cupti(c, &device);
    for (size_t i = 0; i < ranges && status == CW_OK; i++)
        if (!known || !b->launches[i].unwanted)
            status = write_range(c, &source, known ? &b->launches[i] : &unknown, i, images, err);
    return status;
}

/* Finds the parts that a process has collected, by its number for them. */
static enum cw_status find_parts(const struct capture *c, uint32_t part, struct batch *b, struct cw_error *err)
{
    b->parts = &c->base.parts.items[c->base.first];
    b->part_count = c->count;
    if (part == CW_PART_ALL && !is_in_turn(c))
        return CW_OK;
    b->part_count = 1;
    if (part >= c->count && part - c->count < c->once_count) {
        b->parts = c->once + (part - c->count);
        return CW_OK;
    }
    if (!is_in_turn(c) || part >= c->count)
        return cw_error_set(err, CW_ERR_INPUT,
                            "a profiled process sent ranges of a part of the plan that it was not given");
    b->parts += part;
    return CW_OK;
}

static enum cw_status take_ranges(struct capture *c, const struct cw_process *p, struct cw_reader *in,
                                  struct cw_error *err)
{
    struct cw_arena *arena = cw_arena_create();
    if (!arena)
        return cw_error_nomem(err);
    struct cw_effort effort;
    struct batch b = {.device = cw_process_device(p, cw_read_u32(in))};
    b.dropped = cw_read_u32(in);
    b.why = cw_read_string(in, arena);
    cw_effort_read(in, &effort, arena);
    b.count = cw_read_count(in, 4, "launches");
    b.launches = cw_arena_alloc(arena, b.count, sizeof *b.launches);
    for (uint32_t i = 0; b.launches && i < b.count; i++)
        cw_launch_read(in, &b.launches[i], arena);
    uint32_t part = cw_read_u32(in);
    struct cw_range_images images = {.memory = &c->memory};
    enum cw_status status = b.launches ? in->status : cw_error_nomem(err);
    if (status == CW_OK)
        status = find_parts(c, part, &b, err);
    if (status == CW_OK && !b.device)
        status =
            cw_error_set(err, CW_ERR_INPUT, "a profiled process sent ranges of a device that it did not introduce");
    if (status == CW_OK)
        status = cw_range_images_read(&images, &c->base.parts, b.parts, b.part_count, in, p->message.memory, err);
    if (status == CW_OK)
        status = keep_native(c, &images, err);
    if (status == CW_OK)
        status = cw_range_images_open(&images, c->library, err);
    const struct cw_range_source source = {p->pid, p->program, b.device};
    if (status == CW_OK)
        status = cw_range_output_drop(&c->base.out, &source, b.dropped, b.why, err);
    if (status == CW_OK)
        cw_batch_report_add(&c->batches, &effort, b.count);
    if (status == CW_OK && images.count)
        status = write_ranges(c, p, &b, &images, err);
    for (uint32_t i = 0; i < b.count && status == CW_OK && !images.count; i++) /* launches that were not collected */
        status = write_range(c, &source, &b.launches[i], 0, NULL, err);
    cw_range_images_close(&images);
    cw_arena_destroy(arena);
    return status;
}

static enum cw_status take(void *user, const struct cw_process *p, enum cw_message_type type, struct cw_reader *in,
                           struct cw_error *err)
{
    if (type != CW_MESSAGE_RANGES)
        return cw_error_set(err, CW_ERR_INPUT, "a profiled process sent message %d, expected ranges", (int)type);
    return take_ranges(user, p, in, err);
}

static enum cw_status take_steady(void *user, const struct cw_process *p, struct cw_error *err)
{
    struct capture *c = user;
    const struct cw_range_source source = {p->pid, p->program, cw_process_device(p, p->steady.device)};
    return source.device ? cw_range_output_steady(&c->base.out, &source, &p->steady, err) : CW_OK;
}

/* ---- runs ------------------------------------------------------------------------------------------------------- */

/* Runs the program once for some parts of the plan. */
static enum cw_status run_once(void *user, struct cw_error *err)
{
    struct capture *c = user;
    struct cw_session *s = &c->session;
    cw_session_finish(s); /* of the run before */
    cw_session_init(s);
    s->chip = c->base.plan.chip;
    s->filter = &c->base.filter;
    s->take = take;
    s->take_steady = take_steady;
    s->user = c;
    s->clocks = &c->clocks;
    s->facts = c->node;
    s->again = c->base.out.run > 1;
    c->clocks.control.wanted = c->base.options->capture.base_clocks;
    enum cw_status status = make_setup(c, err);
    if (status == CW_OK)
        status = cw_session_start(s, c->base.options->capture.argv, err);
    if (status == CW_OK)
        cw_session_serve(s);
    return status;
}

static enum cw_status fits(void *user, const struct cw_config_image *plan, const struct cw_config_pass *pass,
                           bool *answer, struct cw_error *err)
{
    const struct capture *c = user;
    return cw_nvperf_is_one_pass(c->prover, plan, pass, answer, err);
}

static enum cw_status prepare(struct capture *c, struct cw_error *err)
{
    struct cw_range_capture *b = &c->base;
    if (is_in_turn(c) && cw_file_is_standard(b->options->capture.output))
        return cw_error_set(
            err, CW_ERR_USAGE,
            "found -o - with --replay multiplex, expected a file, because each pass adds facts of the GPU to it");
    CW_TRY(cw_nvperf_open(&c->library, NULL, err));
    c->node = cw_node_facts_create(b->arena);
    CW_TRY(cw_node_check(&(struct cw_node_needs){.need = CW_NEED_RANGE, .chip = b->plan.chip, .facts = c->node}, err));
    CW_TRY(repair(c, err));
    CW_TRY(cw_nvperf_prover_create(&c->prover, c->library, &b->plan, err));
    CW_TRY(cw_range_capture_divide(b, fits, c, err));
    const struct cw_schema *schema = &b->parts.schema;
    c->count = b->one_pass && !is_in_turn(c) ? 1 : b->parts.count;
    c->values = cw_arena_alloc(b->arena, cw_schema_columns(schema), sizeof *c->values);
    c->facts = cw_arena_alloc(b->arena, schema->counter_count, sizeof *c->facts);
    c->durations = cw_arena_alloc(b->arena, schema->pass_count, sizeof *c->durations);
    return c->values && c->facts && c->durations ? CW_OK : cw_error_nomem(err);
}

static void tell_once(const struct capture *c)
{
    static const char in_turn[] = "passes took turns over similar launches (status 'multiplexed'), and launches that "
                                  "came too seldom lack metrics (not collected)";
    if (c->once_ranges && !c->base.one_pass) /* a run of application replay repeats no launch anyway */
        cw_text_print(stderr,
                      "capture-agent: %" PRIu64 " %s counted in one pass each and never repeated, because %s%s%s\n",
                      c->once_ranges, c->once_ranges == 1 ? "launch was" : "launches were", c->once_why,
                      c->once_count > 1 ? "; " : "", c->once_count > 1 ? in_turn : "");
}

static void tell(const struct capture *c)
{
    tell_once(c);
    if (c->pushed)
        fprintf(stderr,
                "capture-agent: the times of %" PRIu64 " launch%s include 10 to 40 us around each: launches behind a "
                "CUDA graph or a kernel that waits, and the first launches of kernels that may wait\n",
                c->pushed, c->pushed == 1 ? "" : "es");
    if (c->shared)
        fprintf(
            stderr,
            "capture-agent: another program used the GPU during ranges that were counted for the whole device; they "
            "may include its work (scope 'shared device'), which --scope context leaves out\n");
}

static enum cw_status capture(struct capture *c, int *exit_status, struct cw_error *err)
{
    enum cw_status status = prepare(c, err);
    if (status == CW_OK)
        status = cw_range_capture_run(&c->base, &c->session.program, &c->session.trouble, run_once, c, err);
    tell(c);
    c->batches.of_passes = is_in_turn(c);
    if (c->base.options->verbose)
        cw_batch_report_print(&c->batches, stderr);
    return cw_range_capture_verdict(&c->base, &c->session.program, status, exit_status, err);
}

enum cw_status cw_cupti_range(const struct cw_range_options *options, int *exit_status, struct cw_error *err)
{
    struct capture *c = calloc(1, sizeof *c);
    if (!c)
        return cw_error_nomem(err);
    cw_session_init(&c->session);
    enum cw_status status = cw_range_capture_open(&c->base, options, err);
    c->base.clocks = &c->clocks;
    if (status == CW_OK)
        status = capture(c, exit_status, err);
    cw_session_finish(&c->session);
    cw_range_capture_close(&c->base);
    cw_nvperf_prover_destroy(c->prover);
    cw_bytes_free(&c->memory);
    cw_clock_log_free(&c->clocks);
    free(c);
    return status;
}
