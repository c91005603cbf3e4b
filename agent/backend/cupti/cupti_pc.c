/* Captures PC samples and SASS metrics of a real GPU. Data from the program's processes is parsed and checked, then
 * written with the file's number of its device, behind the code of each module that it refers to. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/backend/cupti/check.h"
#include "agent/backend/cupti/cupti.h"
#include "agent/backend/pc_capture.h"
#include "agent/output/file_devices.h"
#include "agent/session/session.h"
#include "base/text.h"

/* Code is held until samples point into it: most modules of a large program never run. */
static const size_t most_code = (size_t)4 << 30;

struct held_module {
    uint64_t crc;
    uint8_t *code; /* NULL once it is written */
    size_t size;
};

struct capture {
    const struct cw_pc_options *options;
    struct cw_arena *arena;
    struct cw_schema schema;
    struct cw_collector out;
    struct cw_session session;
    struct cw_clock_log clocks;
    struct cw_filter filter; /* selects devices here, the rest in the program */
    struct held_module *modules;
    size_t module_count, module_capacity, held;
    struct cw_file_devices devices;
    struct cw_steady_devices steady; /* devices with a report on periods */
    uint64_t samples, others;        /* others: of kernels without a record */
    uint32_t full_buffers;
    struct cw_uncounted uncounted;
    bool code_lost;
};

/* ---- modules ---------------------------------------------------------------------------------------------------- */

/* The low half of the number is enough: SASS records have no more. */
static struct held_module *find_module(struct capture *c, uint64_t crc)
{
    for (size_t i = 0; i < c->module_count; i++)
        if ((uint32_t)c->modules[i].crc == (uint32_t)crc)
            return &c->modules[i];
    return NULL;
}

static enum cw_status take_module(struct capture *c, struct cw_reader *in, struct cw_error *err)
{
    uint64_t crc = cw_read_u64(in);
    size_t size = in->size - in->pos;
    if (in->status != CW_OK || find_module(c, crc))
        return in->status;
    if (size > most_code - c->held) {
        c->code_lost = true;
        return CW_OK;
    }
    if (c->module_count == c->module_capacity) {
        size_t capacity = c->module_capacity ? 2 * c->module_capacity : 64;
        struct held_module *grown = realloc(c->modules, capacity * sizeof *grown);
        if (!grown)
            return cw_error_nomem(err);
        c->modules = grown;
        c->module_capacity = capacity;
    }
    uint8_t *code = malloc(size + 1);
    if (!code)
        return cw_error_nomem(err);
    memcpy(code, in->data + in->pos, size);
    c->modules[c->module_count++] = (struct held_module){crc, code, size};
    c->held += size;
    return CW_OK;
}

static enum cw_status write_module(struct capture *c, uint64_t crc, struct cw_error *err)
{
    struct held_module *m = find_module(c, crc);
    if (!m || !m->code)
        return CW_OK;
    struct cw_writer out;
    cw_writer_init(&out);
    cw_module_write(&(struct cw_module){m->crc, m->code, m->size}, &out);
    enum cw_status status = cw_collector_append(&c->out, &out, err);
    free(m->code);
    m->code = NULL;
    c->held -= m->size;
    return status;
}

/* ---- batches ---------------------------------------------------------------------------------------------------- */

/* Writes the device if needed; *number becomes the file's number of it. */
static enum cw_status write_device(struct capture *c, const struct cw_process *p, uint32_t *number,
                                   struct cw_error *err)
{
    const struct cw_device *known = cw_process_device(p, *number);
    bool is_new;
    if (!known)
        return cw_error_set(err, CW_ERR_INPUT, "a profiled process sent samples of a device that it did not introduce");
    struct cw_device device = *known;
    if (!cw_file_devices_find(&c->devices, known, &device.index, &is_new))
        return cw_error_set(err, CW_ERR_UNSUPPORTED, "found samples of more than %d devices", CW_MOST_FILE_DEVICES);
    *number = device.index;
    if (!is_new)
        return CW_OK;
    enum cw_status status = cw_pc_describe(&device, c->options, c->arena) ? CW_OK : cw_error_nomem(err);
    if (status == CW_OK && c->options->when.periods)
        status = cw_steady_devices_add(&c->steady, &c->out, &device, p->reported ? &p->steady : NULL, c->arena, err);
    else if (status == CW_OK)
        status = cw_collector_device(&c->out, &device, err);
    if (status != CW_OK)
        cw_file_devices_forget(&c->devices);
    return status;
}

static enum cw_status take_steady(void *user, const struct cw_process *p, struct cw_error *err)
{
    struct capture *c = user;
    struct cw_file_devices seen = c->devices; /* a device without samples is written with its first one */
    const struct cw_device *known = cw_process_device(p, p->steady.device);
    uint32_t number;
    bool is_new;
    if (!known || !cw_file_devices_find(&seen, known, &number, &is_new) || is_new)
        return CW_OK;
    return cw_steady_devices_tell(&c->steady, &c->out, number, &p->steady, err);
}

/* Writes a batch's device and modules before the batch. The first member of each record is a struct cw_instruction,
 * which names the module. */
static enum cw_status introduce(struct capture *c, const struct cw_process *p, uint32_t *device, const void *records,
                                size_t size, uint32_t count, struct cw_error *err)
{
    enum cw_status status = write_device(c, p, device, err);
    uint64_t last = 0;
    for (uint32_t i = 0; i < count && status == CW_OK; i++) {
        const struct cw_instruction *at = (const void *)((const char *)records + size * i);
        if (i == 0 || at->module != last)
            status = write_module(c, at->module, err);
        last = at->module;
    }
    return status;
}

static enum cw_status take_pc(struct capture *c, const struct cw_process *p, struct cw_reader *in,
                              struct cw_arena *arena, struct cw_error *err)
{
    struct cw_pc_batch b;
    cw_pc_batch_read(&b, in, arena);
    enum cw_status status = cw_reader_finish(in, "a batch of samples");
    if (status == CW_OK)
        status = introduce(c, p, &b.device, b.records, sizeof *b.records, b.record_count, err);
    if (status != CW_OK)
        return status;
    struct cw_writer payload;
    cw_writer_init(&payload);
    cw_pc_batch_write(&b, &payload);
    c->samples += b.record_count || !b.other ? b.total : 0; /* samples of other kernels alone are no capture */
    c->others += b.other;
    c->out.dropped += b.dropped;
    c->full_buffers += b.buffer_full;
    cw_collector_seen(&c->out, b.device, NULL, b.start_ns, b.end_ns);
    return cw_pc_append(&c->out, &payload, cw_pc_chunk_write, err);
}

static enum cw_status take_uncounted(struct capture *c, struct cw_uncounted *uncounted, struct cw_error *err)
{
    struct cw_writer chunk;
    if (!cw_uncounted_any(uncounted))
        return CW_OK;
    if (uncounted->kernels && !c->uncounted.kernels &&
        !(uncounted->example = cw_arena_strdup(c->arena, uncounted->example)))
        return cw_error_nomem(err);
    cw_uncounted_add(&c->uncounted, uncounted);
    cw_writer_init(&chunk);
    cw_uncounted_chunk_write(uncounted, &chunk);
    return cw_collector_append(&c->out, &chunk, err);
}

static enum cw_status take_sass(struct capture *c, const struct cw_process *p, struct cw_reader *in,
                                struct cw_arena *arena, struct cw_error *err)
{
    struct cw_sass_batch b;
    struct cw_uncounted uncounted;
    cw_uncounted_read(&uncounted, in, arena);
    cw_sass_batch_read(&b, in, arena);
    enum cw_status status = cw_reader_finish(in, "a batch of SASS records");
    if (status == CW_OK)
        status = introduce(c, p, &b.device, b.records, sizeof *b.records, b.record_count, err);
    uncounted.device = b.device;
    if (status == CW_OK)
        status = take_uncounted(c, &uncounted, err);
    if (status != CW_OK)
        return status;
    struct cw_writer payload;
    cw_writer_init(&payload);
    cw_sass_batch_write(&b, &payload);
    c->samples += b.record_count;
    cw_collector_seen(&c->out, b.device, NULL, b.start_ns, b.end_ns);
    c->out.dropped += b.dropped;
    return cw_pc_append(&c->out, &payload, cw_sass_chunk_write, err);
}

static enum cw_status take(void *user, const struct cw_process *p, enum cw_message_type type, struct cw_reader *in,
                           struct cw_error *err)
{
    struct capture *c = user;
    if (type == CW_MESSAGE_MODULE)
        return take_module(c, in, err);
    if (type != (c->options->sass ? CW_MESSAGE_SASS : CW_MESSAGE_PC))
        return cw_error_set(err, CW_ERR_INPUT, "a profiled process sent message %d, expected %s", (int)type,
                            c->options->sass ? "SASS records" : "PC samples");
    struct cw_arena *arena = cw_arena_create();
    if (!arena)
        return cw_error_nomem(err);
    enum cw_status status = c->options->sass ? take_sass(c, p, in, arena, err) : take_pc(c, p, in, arena, err);
    cw_arena_destroy(arena);
    return status;
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

static enum cw_status make_setup(struct capture *c, struct cw_error *err)
{
    const struct cw_pc_options *o = c->options;
    struct cw_writer *setup = &c->session.setup;
    cw_write_u32(setup, o->sass ? CW_MODE_SASS : CW_MODE_PC);
    if (o->sass) {
        cw_write_u8(setup, !o->no_code);
        cw_write_u64(setup, o->flush_ns);
        cw_write_u32(setup, o->metric_count);
        for (uint32_t i = 0; i < o->metric_count; i++) {
            cw_write_string(setup, o->metrics[i].name);
            cw_write_u8(setup, (uint8_t)o->metrics[i].level);
        }
    } else {
        cw_write_u64(setup, o->flush_ns);
        cw_write_u8(setup, (uint8_t)o->mode);
        cw_write_u8(setup, o->period);
        cw_write_u64(setup, o->buffer_bytes);
        cw_write_u8(setup, !o->no_code);
        cw_write_u32(setup, o->reason_count);
        for (uint32_t i = 0; i < o->reason_count; i++)
            cw_write_string(setup, o->reasons[i]);
    }
    cw_filter_write(setup, &o->filter);
    cw_write_u64(setup, cw_clock_log_now_ns());
    cw_trace_window_write(setup, &o->when);
    return setup->status == CW_OK ? CW_OK : cw_error_nomem(err);
}

static void tell_losses(const struct capture *c)
{
    if (c->out.dropped)
        fprintf(stderr, "capture-agent: %llu %s were dropped\n", (unsigned long long)c->out.dropped,
                c->options->sass ? "records" : "samples");
    if (c->full_buffers)
        fprintf(stderr,
                "capture-agent: the hardware's buffer was full %u times, and samples were lost: a larger --period or "
                "--buffer mends that\n",
                c->full_buffers);
    const char *launches = cw_uncounted_launches(&c->uncounted, c->arena);
    if (launches && *launches)
        fprintf(stderr, "capture-agent: launches without SASS metrics: %s\n", launches);
    if (c->uncounted.kernels)
        cw_text_print(stderr,
                      c->uncounted.kernels == 1
                          ? "capture-agent: %u kernel was launched and not counted: %s\n"
                          : "capture-agent: %u kernels were launched and not counted, such as %s\n",
                      c->uncounted.kernels, c->uncounted.example);
    if (c->session.turned_away && c->samples)
        fprintf(stderr,
                "capture-agent: %u process%s not sampled beside another on the same GPU: --mode serialized samples "
                "all\n",
                c->session.turned_away, c->session.turned_away == 1 ? " was" : "es were");
    if (c->code_lost)
        fprintf(stderr,
                "capture-agent: the program loads more code than the agent holds; some samples will have no lines\n");
}

/* Why there may be no sample. */
static const char *hindrance(const struct capture *c)
{
    if (c->full_buffers)
        return "the hardware's buffer was full each time it was read; expected a larger --period or --buffer";
    if (c->session.turned_away)
        return "another process on its GPU is sampled; expected one at a time, or --mode serialized";
    return NULL;
}

static enum cw_status run(struct capture *c, int *exit_status, struct cw_error *err)
{
    struct cw_session *s = &c->session;
    char chip[CW_CHIP_NAME_SIZE];
    struct cw_node_facts *facts = cw_node_facts_create(c->arena);
    CW_TRY(cw_filter_open(&c->filter, &c->options->filter, err));
    CW_TRY(cw_node_check(&(struct cw_node_needs){.need = c->options->sass ? CW_NEED_SASS : CW_NEED_PC,
                                                 .metric_count = c->options->metric_count,
                                                 .metrics = c->options->metrics,
                                                 .reason_count = c->options->reason_count,
                                                 .reasons = c->options->reasons,
                                                 .facts = facts,
                                                 .found_chip = chip},
                         err));
    s->chip = chip;
    s->facts = facts;
    s->filter = &c->filter;
    /* If CUPTI samples a GPU for two processes continuously, it fails in the second (999), or crashes the program. */
    s->alone = !c->options->sass && c->options->mode == CW_PC_CONTINUOUS;
    s->take = take;
    s->take_steady = take_steady;
    s->user = c;
    s->clocks = &c->clocks;
    c->clocks.control.wanted = c->options->capture.base_clocks;
    CW_TRY(cw_pc_schema(&c->schema, chip, c->options, c->arena, err));
    CW_TRY(make_setup(c, err));
    CW_TRY(cw_collector_open(&c->out, c->options->capture.output, c->options->capture.force, &c->schema, err));
    CW_TRY(cw_session_start(s, c->options->capture.argv, err));
    cw_session_serve(s);
    tell_losses(c);
    c->out.clocks = &c->clocks;
    enum cw_status status = cw_pc_end(&c->out, &s->program, &s->trouble, err);
    return cw_pc_verdict(c->options, &s->program, c->samples + c->uncounted.kernels, c->others, hindrance(c), status,
                         exit_status, err);
}

enum cw_status cw_cupti_pc(const struct cw_pc_options *options, int *exit_status, struct cw_error *err)
{
    struct capture *c = calloc(1, sizeof *c);
    if (!c)
        return cw_error_nomem(err);
    c->options = options;
    c->out.fd = -1;
    c->arena = cw_arena_create();
    cw_session_init(&c->session);
    enum cw_status status = c->arena ? run(c, exit_status, err) : cw_error_nomem(err);
    cw_session_finish(&c->session);
    cw_filter_close(&c->filter);
    cw_collector_close(&c->out);
    for (size_t i = 0; i < c->module_count; i++)
        free(c->modules[i].code);
    free(c->modules);
    cw_arena_destroy(c->arena);
    cw_clock_log_free(&c->clocks);
    free(c);
    return status;
}
