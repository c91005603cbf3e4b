#define _GNU_SOURCE
#include "agent/backend/sim/sim_process.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/backend/sim/sim_gpu.h"

enum { ROWS = 1024, CONTEXT = 1, DEFAULT_STREAM = 7 };
#define PUT CW_SIM_PUT
#define V(field, value)                                                                                                \
    {                                                                                                                  \
        CW_FIELD_##field, value                                                                                        \
    }

/* Draws a pseudo-random number below `below`. */
uint64_t cw_sim_draw(struct cw_sim_process *p, uint64_t below)
{
    return cw_sim_mix(p->world->options->capture.sim_seed ^ ((uint64_t)p->pid << 32) ^ ++p->draws) % below;
}

uint64_t cw_sim_now(const struct cw_sim_process *p)
{
    return p->now_ns[p->thread];
}

uint64_t cw_sim_thread_id(const struct cw_sim_process *p)
{
    return p->pid + p->thread;
}

/* ---- texts ------------------------------------------------------------------------------------------------------ */

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct cw_sim_text *)a)->text, ((const struct cw_sim_text *)b)->text);
}

/* NULL when out of memory. */
struct cw_sim_text *cw_sim_find_text(struct cw_sim_process *p, const char *text)
{
    const size_t size = strlen(text) + 1;
    struct cw_sim_text *made = malloc(sizeof *made + size), **found;
    if (made) {
        *made = (struct cw_sim_text){0};
        memcpy(made->text, text, size);
    }
    found = made ? tsearch(made, &p->texts, by_text) : NULL;
    if (!found || *found != made)
        free(made);
    if (!found) {
        cw_error_nomem(&p->world->trouble);
        return NULL;
    }
    if (*found == made) {
        made->number = ++p->text_count;
        cw_write_bytes(&p->new_texts, text, size);
        p->new_count++;
    }
    return *found;
}

uint64_t cw_sim_text(struct cw_sim_process *p, const char *of)
{
    const struct cw_sim_text *found = *of ? cw_sim_find_text(p, of) : NULL;
    return found ? found->number : 0;
}

static void write_texts(struct cw_sim_process *p)
{
    struct cw_sim_world *w = p->world;
    const char **list = calloc(p->new_count + 1, sizeof *list);
    if (!list || p->new_texts.status != CW_OK)
        cw_error_nomem(&w->trouble);
    const char *at = (const char *)p->new_texts.data;
    for (uint32_t i = 0; w->trouble.code == CW_OK && i < p->new_count; i++, at += strlen(at) + 1)
        list[i] = at;
    if (w->trouble.code == CW_OK && p->new_count)
        cw_trace_output_texts(&w->out, p->index, list, p->new_count, &w->trouble);
    free(list);
    p->new_texts.size = p->new_count = 0;
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

static void write_rows(struct cw_sim_process *p, enum cw_trace_kind kind)
{
    const uint64_t *columns[CW_TRACE_KIND_FIELDS_MAX];
    struct cw_sim_rows *rows = &p->rows[kind];
    if (!rows->count)
        return;
    for (uint32_t f = 0; f < cw_trace_kinds[kind].field_count; f++)
        columns[f] = rows->values + (size_t)f * ROWS;
    if (p->world->trouble.code == CW_OK)
        cw_trace_output_rows(&p->world->out, p->index, kind, rows->count, columns, &p->world->trouble);
    rows->count = 0;
}

/* Writes all rows; shapes stand before the kernels that refer to them. */
static void write_all(struct cw_sim_process *p)
{
    if (!p->wanted)
        p->new_texts.size = p->new_count = 0;
    write_texts(p);
    write_rows(p, CW_TRACE_SHAPE);
    for (int kind = 0; kind < CW_TRACE_KIND__COUNT; kind++)
        write_rows(p, (enum cw_trace_kind)kind);
}

void cw_sim_add(struct cw_sim_process *p, enum cw_trace_kind kind, const struct cw_sim_value *values, size_t count)
{
    const struct cw_trace_kind_info *info = &cw_trace_kinds[kind];
    struct cw_sim_rows *rows = &p->rows[kind];
    if (rows->count == ROWS)
        write_all(p);
    if (!rows->values && !(rows->values = calloc((size_t)info->field_count * ROWS, sizeof *rows->values))) {
        cw_error_nomem(&p->world->trouble);
        return;
    }
    for (uint32_t f = 0; f < info->field_count; f++) {
        uint64_t value = cw_trace_unknown(cw_trace_fields[info->fields[f]].type);
        for (size_t i = 0; i < count; i++)
            value = values[i].field == info->fields[f] ? values[i].value : value;
        rows->values[(size_t)f * ROWS + rows->count] = value;
    }
    rows->count++;
}

static bool is_asked_for(const struct cw_sim_process *p, enum cw_trace_kind kind)
{
    return p->wanted && p->world->trouble.code == CW_OK && p->world->options->kinds & CW_TRACE_BIT(kind);
}

bool cw_sim_is_recorded(const struct cw_sim_process *p, enum cw_trace_kind kind)
{
    return p->open && is_asked_for(p, kind);
}

static void add_counted(struct cw_sim_process *p, enum cw_trace_kind kind, const struct cw_sim_value *values,
                        size_t count)
{
    p->counts[kind].launched++;
    p->counts[kind].recorded++;
    cw_sim_add(p, kind, values, count);
}

void cw_sim_put(struct cw_sim_process *p, enum cw_trace_kind kind, const struct cw_sim_value *values, size_t count)
{
    if (cw_sim_is_recorded(p, kind))
        add_counted(p, kind, values, count);
}

/* As for a real GPU: launches alone are counted by callbacks as well, and losses are known where there are any. */
static void add_accounts(struct cw_sim_process *p)
{
    for (int kind = 0; kind < CW_TRACE_ACCOUNT && p->wanted; kind++) {
        const struct cw_sim_count *c = &p->counts[kind];
        const char *note = c->dropped ? "the buffers of the program were full" : "";
        const bool followed = kind == CW_TRACE_KERNEL || kind == CW_TRACE_GRAPH;
        const struct cw_sim_value values[] = {V(TIME, cw_sim_now(p)),
                                              V(TYPE, cw_sim_text(p, cw_trace_kinds[kind].name)),
                                              V(LAUNCHED, followed ? c->launched : CW_TRACE_UNKNOWN),
                                              V(RECORDED, c->recorded),
                                              V(DROPPED, c->dropped ? c->dropped : CW_TRACE_UNKNOWN),
                                              V(UNTIMED, c->untimed),
                                              V(NOTE, cw_sim_text(p, note))};
        if (c->launched || c->recorded)
            cw_sim_add(p, CW_TRACE_ACCOUNT, values, sizeof values / sizeof *values);
    }
}

void cw_sim_flush(struct cw_sim_process *p)
{
    const uint64_t start = cw_sim_now(p);
    p->now_ns[p->thread] += 30000 + cw_sim_draw(p, 20000);
    PUT(p, OVERHEAD, V(START, start), V(END, cw_sim_now(p)), V(TYPE, cw_sim_text(p, "cupti_buffer_flush")),
        V(THREAD, cw_sim_thread_id(p)));
    add_accounts(p);
    write_all(p);
}

/* ---- time ------------------------------------------------------------------------------------------------------- */

static void end_window(struct cw_sim_process *p, uint64_t at)
{
    const struct cw_sim_value values[] = {
        V(START, p->opened_ns), V(END, at),
        V(NAME, p->filter.options.range ? cw_sim_text(p, p->filter.options.range) : 0)};
    p->closed_ns = at;
    if (p->wanted && cw_trace_window_any(&p->world->options->windows, &p->filter.options)) {
        p->counts[CW_TRACE_WINDOW].recorded++;
        cw_sim_add(p, CW_TRACE_WINDOW, values, sizeof values / sizeof *values);
    }
}

/* Updates the window: whether it has opened or closed since the last call. */
void cw_sim_look(struct cw_sim_process *p)
{
    const bool open = cw_trace_window_is_open(&p->window, cw_sim_now(p));
    const uint64_t edge = p->open ? cw_trace_window_next(&p->window, p->opened_ns) : 0;
    if (p->open && edge <= cw_sim_now(p)) { /* time closed it, and may have opened it again */
        p->open = false;
        end_window(p, edge);
    }
    if (open && !p->open)
        p->opened_ns = cw_sim_now(p);
    else if (!open && p->open)
        end_window(p, cw_sim_now(p));
    p->open = open;
}

static void read_environment(struct cw_sim_process *p, uint64_t at)
{
    for (uint32_t d = 0; d < p->device_count; d++) {
        const uint64_t busy = p->range_count ? 1 : 0, watts = 90 + busy * 480 + cw_sim_draw(p, 60);
        PUT(p, ENVIRONMENT, V(TIME, at), V(DEVICE, p->devices[d]), V(SM_CLOCK, 1980 - (watts > 600 ? 45 : 0)),
            V(MEMORY_CLOCK, 2619), V(THROTTLE, watts > 600 ? 4 : 0), V(TEMPERATURE, 40 + watts / 25),
            V(POWER, watts * 1000), V(POWER_LIMIT, 700000), V(PCIE_GENERATION, 5), V(PCIE_WIDTH, 16));
    }
}

/* Lets time pass without looking at the window. */
static void pass(struct cw_sim_process *p, uint64_t ns)
{
    p->now_ns[p->thread] += ns;
    cw_sim_look(p);
    const uint64_t every = p->world->options->environment_ns;
    for (; every && p->environment_ns <= cw_sim_now(p); p->environment_ns += every)
        read_environment(p, p->environment_ns);
}

void cw_sim_wait(struct cw_sim_process *p, uint64_t ns)
{
    while (ns && p->world->options->environment_ns && p->environment_ns > cw_sim_now(p) &&
           ns > p->environment_ns - cw_sim_now(p)) {
        const uint64_t part = p->environment_ns - cw_sim_now(p);
        pass(p, part);
        ns -= part;
    }
    pass(p, ns);
}

void cw_sim_use_thread(struct cw_sim_process *p, uint32_t thread)
{
    const uint64_t since = cw_sim_now(p);
    p->thread = thread % CW_SIM_THREADS;
    if (p->now_ns[p->thread] < since)
        p->now_ns[p->thread] = since;
    cw_sim_look(p);
}

/* The time on the GPU's clock, which drifts by some parts per million, in the opposite direction on every other GPU. */
uint64_t cw_sim_on_gpu(const struct cw_sim_process *p, uint64_t at)
{
    const uint64_t off = (at - p->world->start_ns) * p->world->options->sim_drift / 1000000;
    return (p->index + p->device) % 2 ? at - off : at + off;
}

/* ---- devices and streams ---------------------------------------------------------------------------------------- */

struct cw_sim_stream *cw_sim_find_stream(struct cw_sim_process *p, uint32_t number)
{
    for (uint32_t i = 0; i < p->stream_count; i++)
        if (p->streams[i].device == p->device && p->streams[i].number == number)
            return &p->streams[i];
    if (p->stream_count == CW_SIM_STREAMS)
        return &p->streams[CW_SIM_STREAMS - 1];
    p->streams[p->stream_count] = (struct cw_sim_stream){p->device, number, cw_sim_now(p)};
    PUT(p, STREAM, V(STREAM, number), V(CONTEXT, CONTEXT + p->device),
        V(PRIORITY, (uint64_t) - (int64_t)(number % 3)), /* no priority is above 0 */
        V(TYPE, cw_sim_text(p, number == DEFAULT_STREAM ? "default" : "non_blocking")), V(CORRELATION, p->correlation));
    return &p->streams[p->stream_count++];
}

void cw_sim_use_stream(struct cw_sim_process *p, uint32_t number)
{
    p->stream = number;
    cw_sim_find_stream(p, number);
}

static void introduce_device(struct cw_sim_process *p, uint32_t number, const char *pci)
{
    struct cw_pair about[CW_SIM_ATTRIBUTES + 2];
    char seed[32];
    uint32_t count = cw_sim_describe(about, "GH100");
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)p->world->options->capture.sim_seed);
    about[count++] = (struct cw_pair){"seed", seed};
    about[count++] = (struct cw_pair){"pci", pci};
    const struct cw_device device = {.index = number, .attribute_count = count, .attributes = about};
    p->devices[p->device_count++] = number;
    if (p->wanted && p->world->trouble.code == CW_OK)
        cw_trace_output_add_device(&p->world->out, p->index, &device, &p->world->trouble);
    PUT(p, CONTEXT, V(CONTEXT, CONTEXT + number), V(DEVICE, number), V(NULL_STREAM, DEFAULT_STREAM),
        V(TYPE, cw_sim_text(p, "cuda")), V(MULTIPROCESSORS, 132));
}

void cw_sim_use_device(struct cw_sim_process *p, uint32_t number, const char *pci)
{
    uint32_t i = 0;
    while (i < p->device_count && p->devices[i] != number)
        i++;
    p->device = number;
    if (i == p->device_count && i < CW_SIM_DEVICES && cw_filter_device(&p->filter, number))
        introduce_device(p, number, pci);
    cw_sim_use_stream(p, DEFAULT_STREAM);
}

bool cw_sim_is_device_wanted(const struct cw_sim_process *p)
{
    return cw_filter_device(&p->filter, p->device);
}

/* ---- the process ------------------------------------------------------------------------------------------------ */

static void begin_output(struct cw_sim_process *p, const char *program, const struct cw_pair in_job[2])
{
    struct cw_sim_world *w = p->world;
    char clock[96];
    struct cw_pair about[5] = {{"program", program}, {"clock", clock}};
    struct cw_trace_process process = {.pid = p->pid, .attribute_count = 2, .attributes = about};
    for (int i = 0; i < 2; i++)
        if (in_job[i].value)
            about[process.attribute_count++] = in_job[i];
    if (w->options->serialize)
        about[process.attribute_count++] = CW_TRACE_ONE_BY_ONE;
    snprintf(clock, sizeof clock, w->options->sim_drift ? "simulated; GPUs run off by %u in a million" : "simulated",
             (unsigned)w->options->sim_drift);
    cw_trace_output_add_process(&w->out, &process, &p->index, &w->trouble);
}

struct cw_sim_process *cw_sim_process_begin(struct cw_sim_world *w, uint32_t pid, const char *program,
                                            const struct cw_pair in_job[2], bool is_program)
{
    struct cw_sim_process *p = w->trouble.code == CW_OK ? calloc(1, sizeof *p) : NULL;
    if (!p) {
        cw_error_nomem(&w->trouble);
        return NULL;
    }
    p->world = w;
    p->pid = pid;
    cw_writer_init(&p->new_texts);
    cw_filter_open(&p->filter, &w->options->filter, &w->trouble);
    p->wanted = w->trouble.code == CW_OK && cw_filter_process(&p->filter, program, is_program);
    cw_trace_window_init(&p->window, &w->options->windows, &p->filter, w->start_ns);
    for (int t = 0; t < CW_SIM_THREADS; t++)
        p->now_ns[t] = w->start_ns;
    p->environment_ns = w->start_ns + 100000;
    if (p->wanted)
        begin_output(p, program, in_job);
    cw_sim_look(p);
    return p;
}

/* Writes a range if a window was open during it. */
void cw_sim_put_range(struct cw_sim_process *p, const struct cw_sim_range *r, uint64_t end)
{
    const struct cw_sim_value values[] = {V(START, r->start_ns),
                                          V(END, end),
                                          V(THREAD, p->pid + r->thread),
                                          V(END_THREAD, end ? cw_sim_thread_id(p) : CW_TRACE_UNKNOWN),
                                          V(TYPE, cw_sim_text(p, r->pushed ? "push" : "start")),
                                          V(DOMAIN, r->domain),
                                          V(NAME, r->name),
                                          V(CATEGORY, r->category),
                                          V(COLOR, r->color),
                                          V(PAYLOAD, r->payload)};
    if (is_asked_for(p, CW_TRACE_NVTX_RANGE) && (p->open || p->closed_ns >= r->start_ns))
        add_counted(p, CW_TRACE_NVTX_RANGE, values, sizeof values / sizeof *values);
}

static void end_ranges(struct cw_sim_process *p)
{
    for (uint32_t i = 0; i < p->range_count; i++)
        cw_sim_put_range(p, &p->ranges[i], 0);
    p->range_count = 0;
}

void cw_sim_process_end(struct cw_sim_process *p, bool killed)
{
    if (p->ended)
        return;
    p->ended = true;
    if (!killed)
        end_ranges(p);
    if (!killed && p->open)
        end_window(p, cw_sim_now(p));
    if (!killed)
        cw_sim_flush(p);
    else if (p->wanted && p->world->trouble.code == CW_OK)
        cw_trace_output_cut(&p->world->out, p->index, &p->world->trouble);
}

void cw_sim_process_free(struct cw_sim_process *p)
{
    if (!p)
        return;
    for (int kind = 0; kind < CW_TRACE_KIND__COUNT; kind++)
        free(p->rows[kind].values);
    cw_writer_free(&p->new_texts);
    tdestroy(p->texts, free);
    cw_filter_close(&p->filter);
    free(p);
}
