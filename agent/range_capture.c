/* Ranges of kernel launches from a real GPU: gives the program's processes the plan and turns what they send into
 * counter data. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/backend.h"
#include "host/base/demangle.h"
#include "agent/session.h"
#include "host/base/file.h"
#include "host/nvperf/lower.h"

enum { IMAGE_BUDGET = 64 << 20, BYTES_A_RAW_COUNTER = 6 << 10, MOST_AT_ONCE = 128 };

struct capture {
    const struct cw_range_options *options;
    const struct cw_nvperf *library;
    struct cw_arena *arena;
    struct cw_config_image plan; /* the options' plan, with its passes split where that was needed */
    struct cw_schema schema;
    struct cw_writer native;
    struct cw_collector out;
    struct cw_session session;
    uint32_t kept;
    uint64_t known_devices; /* bit for each device number already described in the file */
    struct cw_value *values;
};

/* ---- before the program ----------------------------------------------------------------------------------------- */

static uint32_t ranges_at_once(const struct cw_config_image *plan)
{
    uint32_t n = (uint32_t)(IMAGE_BUDGET / ((size_t)plan->raw_count * BYTES_A_RAW_COUNTER + 1));
    return n < 1 ? 1 : n > MOST_AT_ONCE ? MOST_AT_ONCE : n;
}

static enum cw_status make_setup(struct capture *c, struct cw_error *err)
{
    const struct cw_config_image *plan = &c->plan;
    struct cw_writer *setup = &c->session.setup;
    cw_write_u32(setup, c->options->replay == CW_REPLAY_BATCH ? CW_MODE_BATCH : CW_MODE_RANGE);
    cw_write_u32(setup, ranges_at_once(plan));
    cw_write_u32(setup, plan->counter_count);
    for (uint32_t i = 0; i < plan->counter_count; i++) {
        char *name = cw_arena_printf(c->arena, "%s.sum", plan->counters[i].name);
        cw_write_string(setup, name ? name : "");
    }
    cw_write_u32(setup, (uint32_t)c->native.size);
    cw_write_bytes(setup, c->native.data, c->native.size);
    return setup->status == CW_OK && c->native.status == CW_OK ? CW_OK : cw_error_nomem(err);
}

/* NVIDIA's config image for the plan's passes: the one in the plan, or made here, where a pass that their library would
 * split is split rather than given up. */
static enum cw_status lower(struct capture *c, struct cw_error *err)
{
    uint32_t splits = 0;
    if (c->plan.native) {
        cw_write_bytes(&c->native, c->plan.native, c->plan.native_size);
        return CW_OK;
    }
    enum cw_status status = cw_nvperf_repair(c->library, &c->plan, &splits, c->arena, err);
    if (splits)
        fprintf(stderr,
                "capture-agent: %u passes of the plan had to be split; values may mix more passes than planned\n",
                splits);
    return status == CW_OK ? cw_nvperf_lower(c->library, &c->plan, &c->native, err) : status;
}

/* ---- ranges ----------------------------------------------------------------------------------------------------- */

static enum cw_status keep_native(struct capture *c, const uint8_t *image, size_t size, struct cw_error *err)
{
    char path[1024];
    if (!c->options->keep_native)
        return CW_OK;
    snprintf(path, sizeof path, c->kept ? "%s.%u" : "%s", c->options->keep_native, c->kept);
    c->kept++;
    return cw_file_write(path, image, size, err);
}

static enum cw_status write_device(struct capture *c, struct cw_device device, struct cw_nvperf_decoder *decoder,
                                   struct cw_error *err)
{
    if (c->known_devices & (UINT64_C(1) << device.index))
        return CW_OK;
    struct cw_device_facts *facts = cw_arena_alloc(c->arena, c->schema.counter_count, sizeof *facts);
    enum cw_status status = facts ? cw_nvperf_decode_facts(decoder, facts, err) : cw_error_nomem(err);
    device.facts = facts;
    if (status == CW_OK)
        status = cw_collector_device(&c->out, &device, err);
    if (status == CW_OK)
        c->known_devices |= UINT64_C(1) << device.index;
    return status;
}

/* The launches of one hand-over, and how many ranges each made. */
struct batch {
    const struct cw_device *device;
    uint32_t count, dropped;
    struct cw_launch *launches;
    uint32_t graph_ranges; /* of each launch of a graph */
    bool known;            /* which launch a range is of; else the numbers do not add up */
};

/* A kernel is one range; the rest are the graphs', and evenly theirs where all are launches of one graph. */
static void match(struct batch *b, size_t ranges)
{
    uint32_t graphs = 0;
    uint64_t graph = 0;
    bool alike = true;
    for (uint32_t i = 0; i < b->count; i++)
        if (b->launches[i].graph) {
            alike = alike && (!graph || graph == b->launches[i].graph);
            graph = b->launches[i].graph;
            graphs++;
        }
    size_t kernels = b->count - graphs;
    b->known = !graphs ? ranges == kernels : alike && ranges >= kernels && (ranges - kernels) % graphs == 0;
    b->graph_ranges = graphs && b->known ? (uint32_t)((ranges - kernels) / graphs) : 0;
}

static enum cw_status write_range(struct capture *c, const struct cw_process *p, const struct batch *b,
                                  const struct cw_launch *l, size_t range, uint32_t node,
                                  struct cw_nvperf_decoder *decoder, struct cw_error *err)
{
    char *readable = cw_demangle(l->kernel);
    char name[48] = "(unknown kernel)";
    if (l->graph)
        snprintf(name, sizeof name, "(graph kernel %u)", node);
    struct cw_range r = {.name = readable     ? readable
                                 : *l->kernel ? l->kernel
                                              : name,
                         .kernel = l->kernel,
                         .device = b->device->index,
                         .process = p->pid,
                         .context = l->context,
                         .stream = l->stream,
                         .start_ns = l->start_ns,
                         .end_ns = l->end_ns};
    memcpy(r.grid, l->grid, sizeof r.grid);
    memcpy(r.block, l->block, sizeof r.block);
    enum cw_status status = cw_nvperf_decode_range(decoder, range, c->values, err);
    if (status == CW_OK)
        status = cw_collector_range(&c->out, &r, c->values, err);
    free(readable);
    return status;
}

static enum cw_status write_ranges(struct capture *c, const struct cw_process *p, struct batch *b,
                                   struct cw_nvperf_decoder *decoder, struct cw_error *err)
{
    static const struct cw_launch unknown = {.kernel = ""};
    size_t ranges = cw_nvperf_decoder_ranges(decoder), done = 0;
    match(b, ranges);
    c->out.dropped += b->dropped;
    if (!b->known)
        fprintf(stderr, "capture-agent: found %zu ranges for %u launches; these ranges are not named\n", ranges,
                b->count);
    enum cw_status status = ranges ? write_device(c, *b->device, decoder, err) : CW_OK;
    for (uint32_t i = 0; b->known && i < b->count; i++)
        for (uint32_t n = b->launches[i].graph ? b->graph_ranges : 1, k = 0; status == CW_OK && k < n; k++)
            status = write_range(c, p, b, &b->launches[i], done++, k, decoder, err);
    while (!b->known && status == CW_OK && done < ranges)
        status = write_range(c, p, b, &unknown, done++, 0, decoder, err);
    return status;
}

static enum cw_status take_ranges(struct capture *c, const struct cw_process *p, struct cw_reader *in,
                                  struct cw_error *err)
{
    struct cw_arena *arena = cw_arena_create();
    if (!arena)
        return cw_error_nomem(err);
    struct batch b = {.device = cw_process_device(p, cw_read_u32(in))};
    b.dropped = cw_read_u32(in);
    b.count = cw_read_count(in, 4, "launches");
    b.launches = cw_arena_alloc(arena, b.count, sizeof *b.launches);
    for (uint32_t i = 0; b.launches && i < b.count; i++)
        cw_launch_read(in, &b.launches[i], arena);
    size_t size = in->size - in->pos;
    /* the library wants the image aligned */
    uint8_t *image = aligned_alloc(64, (size + 64) / 64 * 64);
    struct cw_nvperf_decoder *decoder = NULL;
    enum cw_status status = b.launches && image ? in->status : cw_error_nomem(err);
    if (status == CW_OK && !b.device)
        status =
            cw_error_set(err, CW_ERR_INPUT, "a profiled process sent ranges of a device that it did not introduce");
    if (status == CW_OK) {
        memcpy(image, in->data + in->pos, size);
        status = keep_native(c, image, size, err);
    }
    if (status == CW_OK)
        status = cw_nvperf_decoder_create(&decoder, c->library, c->schema.chip, image, size, c->schema.counters,
                                          c->schema.counter_count, err);
    if (status == CW_OK)
        status = write_ranges(c, p, &b, decoder, err);
    cw_nvperf_decoder_destroy(decoder);
    free(image);
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

/* ---- all -------------------------------------------------------------------------------------------------------- */

static enum cw_status prepare(struct capture *c, struct cw_error *err)
{
    const struct cw_range_options *o = c->options;
    enum cw_status status = cw_nvperf_open(&c->library, NULL, err);
    if (status == CW_OK)
        status = cw_cupti_check(c->plan.chip, false, err);
    if (status == CW_OK)
        status = lower(c, err);
    if (status == CW_OK)
        status = cw_schema_of_plan(&c->schema, &c->plan, c->arena);
    if (status == CW_ERR_NOMEM)
        cw_error_nomem(err);
    if (status == CW_OK)
        status = make_setup(c, err);
    c->values = cw_arena_alloc(c->arena, c->schema.counter_count, sizeof *c->values);
    if (status == CW_OK && !c->values)
        status = cw_error_nomem(err);
    if (status == CW_OK)
        status = cw_collector_open(&c->out, o->output, &c->schema, err);
    return status;
}

static enum cw_status run(struct capture *c, int *exit_status, struct cw_error *err)
{
    struct cw_session *s = &c->session;
    s->chip = c->plan.chip;
    s->take = take;
    s->user = c;
    enum cw_status status = prepare(c, err);
    if (status == CW_OK)
        status = cw_session_start(s, c->options->argv, err);
    if (status != CW_OK)
        return status;
    cw_session_serve(s);
    bool trouble = s->trouble.code != CW_OK;
    status = cw_capture_verdict(c->options, &s->program, c->out.ranges, exit_status, trouble ? NULL : err);
    if (trouble) {
        *err = s->trouble;
        return err->code;
    }
    /* also a program that launched nothing leaves a file that says so */
    enum cw_status ended = cw_collector_end(&c->out, s->program.how, s->program.code, err);
    return status == CW_OK ? ended : status;
}

enum cw_status cw_cupti_capture(const struct cw_range_options *options, int *exit_status, struct cw_error *err)
{
    struct capture *c = calloc(1, sizeof *c);
    if (!c)
        return cw_error_nomem(err);
    c->options = options;
    c->plan = *options->plan;
    c->out.fd = -1;
    c->arena = cw_arena_create();
    cw_writer_init(&c->native);
    cw_session_init(&c->session);
    enum cw_status status = c->arena ? run(c, exit_status, err) : cw_error_nomem(err);
    cw_session_finish(&c->session);
    cw_collector_close(&c->out);
    cw_writer_free(&c->native);
    cw_arena_destroy(c->arena);
    free(c);
    return status;
}
