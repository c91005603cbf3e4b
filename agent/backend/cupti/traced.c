#define _GNU_SOURCE
#include "agent/backend/cupti/traced.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct cw_traced_process {
    uint64_t number;              /* number of its connection */
    uint32_t index, device_count; /* index: its number in the output */
    struct cw_trace_page *page;   /* NULL: the process did not send it */
};

static const char clock_text[] =
    "the wall clock as the program began, then CLOCK_BOOTTIME; CUPTI makes it of the GPU's";

static uint32_t flags_of(const struct cw_trace_options *o)
{
    return (o->whole_graphs ? 0 : CW_TRACE_GRAPH_NODES) | (o->latency ? CW_TRACE_LATENCY : 0) |
           (o->attributes ? CW_TRACE_ATTRIBUTES : 0) | (o->hes ? CW_TRACE_HARDWARE : 0) |
           (o->serialize ? CW_TRACE_SERIALIZED : 0) |
           (o->kinds & CW_TRACE_BIT(CW_TRACE_ALLOCATION) ? CW_TRACE_CALLERS : 0);
}

void cw_trace_tell_early(struct cw_session *s, const struct cw_trace_options *o)
{
    const struct cw_trace_device_buffers *b = &o->device_buffers;
    snprintf(s->trace, sizeof s->trace, "%" PRIx64 " %" PRIx32 " %" PRIx64 " %" PRIx32 " %" PRIx32, o->kinds,
             flags_of(o), b->bytes, b->most, b->first);
    s->openmp = o->kinds & CW_TRACE_BIT(CW_TRACE_OPENMP);
    s->openacc = o->kinds & CW_TRACE_BIT(CW_TRACE_OPENACC);
}

enum cw_status cw_trace_write_setup(struct cw_writer *setup, enum cw_mode mode, const struct cw_trace_options *o,
                                    struct cw_error *err)
{
    cw_write_u32(setup, mode);
    cw_write_u64(setup, o->kinds);
    cw_write_u32(setup, flags_of(o));
    cw_write_u64(setup, cw_clock_log_now_ns());
    cw_write_u64(setup, o->flush_ns);
    cw_write_u64(setup, o->buffer_bytes);
    cw_write_u32(setup, o->buffer_count);
    cw_trace_window_write(setup, &o->windows);
    cw_filter_write(setup, &o->filter);
    cw_write_string(setup, o->calls ? o->calls : "");
    return setup->status == CW_OK ? CW_OK : cw_error_nomem(err);
}

/* ---- processes -------------------------------------------------------------------------------------------------- */

static bool make_room(struct cw_traced *c)
{
    if (c->count < c->capacity)
        return true;
    const uint32_t capacity = c->capacity ? 2 * c->capacity : 16;
    struct cw_traced_process *grown = realloc(c->processes, capacity * sizeof *grown);
    if (!grown)
        return false;
    c->processes = grown;
    c->capacity = capacity;
    return true;
}

static enum cw_status add(struct cw_traced *c, const struct cw_process *p, struct cw_traced_process **added,
                          struct cw_error *err)
{
    char host[256] = "";
    struct cw_pair pairs[6] = {{"program", p->program}, {"clock", clock_text}};
    struct cw_trace_process about = {.pid = p->pid, .attribute_count = 2, .attributes = pairs};
    static const char *const in_job[] = {"rank", "ranks"};
    if (c->count == CW_MOST_TRACED)
        return cw_error_set(err, CW_ERR_UNSUPPORTED, "found more than %d processes to trace", CW_MOST_TRACED);
    if (!make_room(c))
        return cw_error_nomem(err);
    if (gethostname(host, sizeof host - 1) == 0)
        pairs[about.attribute_count++] = (struct cw_pair){"host", host};
    for (int i = 0; i < 2; i++) {
        const char *value = p->device_count ? cw_device_attribute(&p->devices[0], in_job[i]) : NULL;
        if (value)
            pairs[about.attribute_count++] = (struct cw_pair){in_job[i], value};
    }
    if (c->serialize)
        pairs[about.attribute_count++] = CW_TRACE_ONE_BY_ONE;
    struct cw_traced_process *t = &c->processes[c->count];
    *t = (struct cw_traced_process){.number = p->number};
    enum cw_status status = cw_trace_output_add_process(c->out, &about, &t->index, err);
    c->count += status == CW_OK;
    *added = t;
    return status;
}

/* Finds the process in the output, with the devices that it has introduced by now; valid until the next is added. A
 * process that executes another program makes a new connection. */
static enum cw_status find(struct cw_traced *c, const struct cw_process *p, struct cw_traced_process **found,
                           struct cw_error *err)
{
    struct cw_traced_process *t = NULL;
    enum cw_status status = CW_OK;
    for (uint32_t i = c->count; i-- > 0 && !t;)
        if (c->processes[i].number == p->number)
            t = &c->processes[i];
    if (!t)
        status = add(c, p, &t, err);
    for (; status == CW_OK && t->device_count < p->device_count; t->device_count++)
        status = cw_trace_output_add_device(c->out, t->index, &p->devices[t->device_count], err);
    *found = t;
    return status;
}

/* Settles a process that has ended: counts and reports unsent data as lost. */
static enum cw_status settle(struct cw_traced *c, struct cw_traced_process *t, struct cw_error *err)
{
    if (!t->page)
        return CW_OK;
    enum cw_status status = cw_trace_output_settle(c->out, t->index, t->page, err);
    munmap(t->page, sizeof *t->page);
    t->page = NULL;
    return status;
}

/* Keeps the page. Refuses a file that could shrink, which would crash this process, and any file but shared memory,
 * because the agent writes to it. */
static enum cw_status keep_page(const struct cw_traced *c, struct cw_traced_process *t, const struct cw_process *p,
                                struct cw_error *err)
{
    const int memory = p->message.memory, seals = memory < 0 ? -1 : fcntl(memory, F_GET_SEALS);
    if (t->page || seals < 0 || !(seals & F_SEAL_SHRINK) || lseek(memory, 0, SEEK_END) < (off_t)sizeof *t->page)
        return cw_error_set(err, CW_ERR_INPUT, "a profiled process sent a page that makes no sense");
    void *page = mmap(NULL, sizeof *t->page, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (page == MAP_FAILED)
        return cw_error_nomem(err);
    t->page = page;
    atomic_store(&t->page->toggled, c->toggles);
    return CW_OK;
}

enum cw_status cw_traced_find(struct cw_traced *c, const struct cw_process *p, uint32_t *index, struct cw_error *err)
{
    struct cw_traced_process *t;
    const enum cw_status status = find(c, p, &t, err);
    if (status == CW_OK)
        *index = t->index;
    return status;
}

enum cw_status cw_traced_take(struct cw_traced *c, const struct cw_process *p, enum cw_message_type type,
                              struct cw_reader *in, struct cw_error *err)
{
    struct cw_traced_process *t;
    enum cw_status status = find(c, p, &t, err);
    if (status != CW_OK)
        return status;
    if (type == CW_MESSAGE_TRACE_PAGE)
        return keep_page(c, t, p, err);
    if (type != CW_MESSAGE_TRACE)
        return cw_error_set(err, CW_ERR_INPUT, "a profiled process sent message %d, expected rows of a trace",
                            (int)type);
    return cw_trace_output_take_chunks(c->out, t->index, in, err);
}

void cw_traced_toggle(struct cw_traced *c, unsigned toggles)
{
    for (; c->toggles != toggles; c->toggles++)
        for (uint32_t i = 0; i < c->count; i++)
            if (c->processes[i].page)
                atomic_fetch_add(&c->processes[i].page->toggled, 1);
}

enum cw_status cw_traced_settle(struct cw_traced *c, struct cw_error *err)
{
    enum cw_status status = CW_OK;
    for (uint32_t i = 0; i < c->count && status == CW_OK; i++)
        status = settle(c, &c->processes[i], err);
    return status;
}

void cw_traced_close(struct cw_traced *c)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (c->processes[i].page)
            munmap(c->processes[i].page, sizeof *c->processes[i].page);
    free(c->processes);
    c->processes = NULL;
    c->count = c->capacity = 0;
}
