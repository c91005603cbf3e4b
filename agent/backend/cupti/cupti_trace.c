/* A trace of a program on real GPUs: the injection library sends rows as chunks, which are checked and written. */
#define _GNU_SOURCE
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/backend/cupti/check.h"
#include "agent/backend/cupti/cupti.h"
#include "agent/backend/trace_capture.h"
#include "agent/common/trace_page.h"
#include "agent/session/session.h"
#include "agent/session/signals.h"

static const char clock_text[] =
    "the wall clock as the program began, then CLOCK_BOOTTIME; CUPTI makes it of the GPU's";

struct traced {                        /* a process */
    uint32_t pid, index, device_count; /* index: in the output */
    struct cw_trace_page *page;        /* NULL: it did not come */
};

struct capture {
    const struct cw_trace_options *options;
    struct cw_arena *arena;
    struct cw_trace_output out;
    struct cw_session session;
    struct cw_clock_log clocks;
    struct cw_filter filter; /* of processes and devices */
    uint64_t read_ns;        /* when the environment was last read */
    unsigned toggles;        /* that the processes know of */
    uint32_t count;
    struct traced traced[CW_MOST_PROCESSES];
};

/* ---- processes -------------------------------------------------------------------------------------------------- */

static enum cw_status add(struct capture *c, const struct cw_process *p, struct traced **added, struct cw_error *err)
{
    char host[256] = "";
    struct cw_pair pairs[4] = {{"program", p->program}, {"clock", clock_text}};
    struct cw_trace_process about = {.pid = p->pid, .attribute_count = 2, .attributes = pairs};
    const char *rank = p->device_count ? cw_device_attribute(&p->devices[0], "rank") : NULL;
    if (c->count == CW_MOST_PROCESSES)
        return cw_error_set(err, CW_ERR_UNSUPPORTED, "found more than %d processes to trace", CW_MOST_PROCESSES);
    if (gethostname(host, sizeof host - 1) == 0)
        pairs[about.attribute_count++] = (struct cw_pair){"host", host};
    if (rank)
        pairs[about.attribute_count++] = (struct cw_pair){"rank", rank};
    struct traced *t = &c->traced[c->count];
    *t = (struct traced){.pid = p->pid};
    enum cw_status status = cw_trace_output_add_process(&c->out, &about, &t->index, err);
    c->count += status == CW_OK;
    *added = t;
    return status;
}

/* The process, with the devices that it has introduced by now. */
static enum cw_status find(struct capture *c, const struct cw_process *p, struct traced **found, struct cw_error *err)
{
    struct traced *t = NULL;
    enum cw_status status = CW_OK;
    for (uint32_t i = 0; i < c->count && !t; i++)
        if (c->traced[i].pid == p->pid)
            t = &c->traced[i];
    if (!t)
        status = add(c, p, &t, err);
    for (; status == CW_OK && t->device_count < p->device_count; t->device_count++)
        status = cw_trace_output_add_device(&c->out, t->index, &p->devices[t->device_count], err);
    *found = t;
    return status;
}

/* What a process had not sent when it ended is lost, and said. */
static enum cw_status settle(struct capture *c, struct traced *t, struct cw_error *err)
{
    if (!t->page)
        return CW_OK;
    enum cw_status status = cw_trace_output_settle(&c->out, t->index, t->page, err);
    munmap(t->page, sizeof *t->page);
    t->page = NULL;
    return status;
}

static enum cw_status keep_page(const struct capture *c, struct traced *t, const struct cw_process *p,
                                struct cw_error *err)
{
    const int memory = p->message.memory;
    if (t->page || memory < 0 || lseek(memory, 0, SEEK_END) < (off_t)sizeof *t->page)
        return cw_error_set(err, CW_ERR_INPUT, "a profiled process sent a page that makes no sense");
    void *page = mmap(NULL, sizeof *t->page, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (page == MAP_FAILED)
        return cw_error_nomem(err);
    t->page = page;
    atomic_store(&t->page->toggled, c->toggles);
    return CW_OK;
}

static enum cw_status take(void *user, const struct cw_process *p, enum cw_message_type type, struct cw_reader *in,
                           struct cw_error *err)
{
    struct capture *c = user;
    struct traced *t;
    enum cw_status status = find(c, p, &t, err);
    if (status == CW_OK && type == CW_MESSAGE_TRACE_PAGE && t->page) { /* it has executed another program */
        status = settle(c, t, err);
        t->pid = 0;
        if (status == CW_OK)
            status = find(c, p, &t, err);
    }
    if (status != CW_OK)
        return status;
    if (type == CW_MESSAGE_TRACE_PAGE)
        return keep_page(c, t, p, err);
    if (type != CW_MESSAGE_TRACE)
        return cw_error_set(err, CW_ERR_INPUT, "a profiled process sent message %d, expected rows of a trace",
                            (int)type);
    return cw_trace_output_take_chunks(&c->out, t->index, in, err);
}

/* ---- beside the program ----------------------------------------------------------------------------------------- */

static uint64_t or_unknown(unsigned value)
{
    return value == UINT_MAX ? CW_TRACE_UNKNOWN : value;
}

static uint64_t environment_field(const struct cw_gpu_environment *e, uint32_t device, enum cw_trace_field field)
{
    switch (field) {
    case CW_FIELD_TIME:
        return e->clock.wall_ns;
    case CW_FIELD_DEVICE:
        return device;
    case CW_FIELD_SM_CLOCK:
        return e->clock.sm_mhz;
    case CW_FIELD_MEMORY_CLOCK:
        return e->clock.memory_mhz;
    case CW_FIELD_THROTTLE:
        return e->clock.limits;
    case CW_FIELD_TEMPERATURE:
        return or_unknown(e->temperature);
    case CW_FIELD_POWER:
        return or_unknown(e->power);
    case CW_FIELD_POWER_LIMIT:
        return or_unknown(e->power_limit);
    case CW_FIELD_FAN:
        return or_unknown(e->fan);
    case CW_FIELD_PCIE_GENERATION:
        return or_unknown(e->pcie_generation);
    case CW_FIELD_PCIE_WIDTH:
        return or_unknown(e->pcie_width);
    default:
        return CW_TRACE_UNKNOWN;
    }
}

static enum cw_status write_environment(struct capture *c, const struct traced *t, uint32_t device,
                                        const struct cw_gpu_environment *e, struct cw_error *err)
{
    const struct cw_trace_kind_info *kind = &cw_trace_kinds[CW_TRACE_ENVIRONMENT];
    uint64_t values[CW_TRACE_KIND_FIELDS_MAX];
    const uint64_t *columns[CW_TRACE_KIND_FIELDS_MAX];
    for (uint32_t f = 0; f < kind->field_count; f++) {
        values[f] = environment_field(e, device, (enum cw_trace_field)kind->fields[f]);
        columns[f] = &values[f];
    }
    return cw_trace_output_rows(&c->out, t->index, CW_TRACE_ENVIRONMENT, 1, columns, err);
}

/* Whether a process before this one has the GPU, too. */
static bool is_read_before(const struct capture *c, uint32_t process, const char *pci)
{
    for (uint32_t i = 0; i < process; i++)
        for (uint32_t k = 0; k < c->session.processes[i].device_count; k++) {
            const char *other = cw_device_attribute(&c->session.processes[i].devices[k], "pci");
            if (other && strcmp(other, pci) == 0)
                return true;
        }
    return false;
}

/* Each GPU once, whichever processes use it. */
static void read_environment(struct capture *c)
{
    for (uint32_t i = 0; i < c->session.process_count; i++) {
        const struct cw_process *p = &c->session.processes[i];
        struct traced *t;
        struct cw_error err = CW_ERROR_INIT;
        for (uint32_t k = 0; k < p->device_count; k++) {
            struct cw_gpu_environment e;
            const char *pci = cw_device_attribute(&p->devices[k], "pci");
            if (pci && !is_read_before(c, i, pci) && cw_clock_log_environment(&c->clocks, pci, &e) &&
                find(c, p, &t, &err) == CW_OK)
                write_environment(c, t, p->devices[k].index, &e, &err);
        }
        if (err.code != CW_OK && c->session.trouble.code == CW_OK)
            c->session.trouble = err;
    }
}

static void look(void *user)
{
    struct capture *c = user;
    const uint64_t now = cw_clock_log_now_ns();
    for (; c->toggles != cw_signals_user2(); c->toggles++)
        for (uint32_t i = 0; i < c->count; i++)
            if (c->traced[i].page)
                atomic_fetch_add(&c->traced[i].page->toggled, 1);
    if (!(c->options->kinds & CW_TRACE_BIT(CW_TRACE_ENVIRONMENT)) || now - c->read_ns < c->options->environment_ns)
        return;
    c->read_ns = now;
    read_environment(c);
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

static enum cw_status make_setup(struct capture *c, struct cw_error *err)
{
    const struct cw_trace_options *o = c->options;
    struct cw_writer *setup = &c->session.setup;
    cw_write_u32(setup, CW_MODE_TRACE);
    cw_write_u64(setup, o->kinds);
    cw_write_u32(setup, (o->whole_graphs ? 0 : CW_TRACE_GRAPH_NODES) | (o->latency ? CW_TRACE_LATENCY : 0) |
                            (o->attributes ? CW_TRACE_ATTRIBUTES : 0) | (o->hes ? CW_TRACE_HARDWARE : 0) |
                            (o->kinds & CW_TRACE_BIT(CW_TRACE_ALLOCATION) ? CW_TRACE_CALLERS : 0));
    cw_write_u64(setup, cw_clock_log_now_ns());
    cw_write_u64(setup, o->flush_ns);
    cw_write_u64(setup, o->buffer_bytes);
    cw_write_u32(setup, o->buffer_count);
    cw_trace_window_write(setup, &o->windows);
    cw_filter_write(setup, &o->filter);
    cw_write_string(setup, o->calls ? o->calls : "");
    return setup->status == CW_OK ? CW_OK : cw_error_nomem(err);
}

static enum cw_status run(struct capture *c, int *exit_status, struct cw_error *err)
{
    struct cw_session *s = &c->session;
    char chip[CW_CHIP_NAME_SIZE];
    enum cw_status status = cw_filter_open(&c->filter, &c->options->filter, err);
    if (status == CW_OK)
        status = cw_node_check(&(struct cw_node_needs){.need = CW_NEED_TRACE, .found_chip = chip}, err);
    s->chip = chip;
    s->filter = &c->filter;
    s->take = take;
    s->look = look;
    s->look_ms = (uint32_t)(c->options->environment_ns / 2000000) + 1;
    s->user = c;
    if (c->options->windows.toggled)
        cw_signals_keep_user2();
    s->clocks = &c->clocks;
    c->out.clocks = &c->clocks;
    if (status == CW_OK)
        status = cw_trace_capture_open(&c->out, c->options, chip, c->arena, err);
    if (status == CW_OK)
        status = make_setup(c, err);
    if (status == CW_OK)
        status = cw_session_start(s, c->options->capture.argv, err);
    if (status != CW_OK)
        return status;
    cw_session_serve(s);
    for (uint32_t i = 0; i < c->count && s->trouble.code == CW_OK; i++)
        settle(c, &c->traced[i], &s->trouble);
    return cw_trace_capture_end(&c->out, c->options, &s->program, &s->trouble, exit_status, err);
}

enum cw_status cw_cupti_trace(const struct cw_trace_options *options, int *exit_status, struct cw_error *err)
{
    struct capture *c = calloc(1, sizeof *c);
    if (!c)
        return cw_error_nomem(err);
    c->options = options;
    c->arena = cw_arena_create();
    cw_session_init(&c->session);
    enum cw_status status = c->arena ? run(c, exit_status, err) : cw_error_nomem(err);
    cw_session_finish(&c->session);
    cw_filter_close(&c->filter);
    cw_trace_output_close(&c->out);
    for (uint32_t i = 0; i < c->count; i++)
        if (c->traced[i].page)
            munmap(c->traced[i].page, sizeof *c->traced[i].page);
    cw_arena_destroy(c->arena);
    cw_clock_log_free(&c->clocks);
    free(c);
    return status;
}
