/* PM sampling of real GPUs. A process of our own samples each GPU, the program runs beside them with its launches
 * traced, and all data goes into one file. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/backend/cupti/check.h"
#include "agent/backend/cupti/cupti.h"
#include "agent/backend/cupti/pm_sampler.h"
#include "agent/backend/cupti/traced.h"
#include "agent/backend/pm_capture.h"
#include "agent/output/collector.h"
#include "agent/session/signals.h"
#include "base/demangle.h"
#include "base/now.h"
#include "host/nvperf/lower.h"
#include "image/pm_data.h"

struct gpu { /* a sampled GPU */
    struct capture *capture;
    uint32_t number; /* device number */
    struct cw_pm_sampler sampler;
    pthread_t receiver;
    bool receiving;
    /* under the capture's lock: */
    struct cw_error trouble; /* its first error */
    bool ready, done, over;  /* all samples have come; no more messages come */
    enum cw_window_state window;
    char pci[32]; /* known once it is ready */
};

struct shape { /* shape of some launches of a process */
    const char *name;
    uint64_t batch; /* the last batch with it, and its place there */
    uint32_t index;
};

struct shapes { /* shapes of a process, by id */
    struct shape *items;
    uint64_t count;
};

struct capture {
    const struct cw_pm_options *options;
    struct cw_arena *arena;
    struct cw_schema schema;
    struct cw_writer native;
    struct cw_session session;
    struct cw_clock_log clocks;
    struct cw_node_facts *node;
    uint32_t gpu_count;
    struct gpu gpus[CW_MOST_DEVICES];

    pthread_mutex_t lock; /* for the members below: receivers write samples, the session's thread launches */
    pthread_cond_t changed;
    struct cw_collector out;
    struct cw_trace_output trace; /* beside the samples */
    struct cw_trace_beside beside;
    struct cw_traced traced;
    const struct cw_process *process; /* sender of the current message */
    uint64_t batches;                 /* batches of launches */
    struct shapes shapes[CW_MOST_TRACED];
    /* Numbers of the processes with a wanted range open; used by the session's thread only. */
    uint64_t open[CW_MOST_PROCESSES];
    uint32_t open_count;
    bool stopping;                /* the samplers are to end */
    struct cw_pm_outcome outcome; /* the members about launches are used by the session's thread only */
};

/* ---- samples ---------------------------------------------------------------------------------------------------- */

/* Takes a message. Called with the lock held. */
static bool take_message(struct gpu *g, enum cw_message_type type, const uint8_t *payload, size_t size)
{
    struct capture *c = g->capture;
    struct cw_reader in;
    cw_reader_init(&in, payload, size, "message", 0, &g->trouble);
    if (type == CW_MESSAGE_READY) {
        snprintf(g->pci, sizeof g->pci, "%s", cw_read_string(&in, c->arena));
        g->ready = true;
    } else if (type == CW_MESSAGE_CHUNKS) {
        cw_collector_seen_now(&c->out, g->number, g->pci);
        c->outcome.any = cw_read_u32(&in) > 0 || c->outcome.any;
        uint64_t lost = cw_read_u64(&in), sample_ns = cw_read_u64(&in);
        c->outcome.sample_ns = sample_ns > c->outcome.sample_ns ? sample_ns : c->outcome.sample_ns;
        if (in.status == CW_OK)
            cw_collector_chunks(&c->out, payload + in.pos, size - in.pos, lost, &g->trouble);
    } else if (type == CW_MESSAGE_WINDOW) {
        g->window = (enum cw_window_state)cw_read_u8(&in);
    } else if (type == CW_MESSAGE_DONE) {
        g->done = true;
    } else if (type == CW_MESSAGE_FAIL) {
        char of[32];
        snprintf(of, sizeof of, "GPU %u: ", g->number);
        cw_message_failure(&in, c->arena, of, &g->trouble);
    } else {
        cw_error_set(&g->trouble, CW_ERR_INPUT, "the sampling process sent message %d, expected samples", (int)type);
    }
    return g->trouble.code == CW_OK;
}

static void *receive(void *user)
{
    struct gpu *g = user;
    struct capture *c = g->capture;
    enum cw_message_type type;
    uint8_t *payload;
    size_t size;
    bool more = true;
    while (more && cw_message_receive(g->sampler.fd, &type, &payload, &size)) {
        pthread_mutex_lock(&c->lock);
        more = take_message(g, type, payload, size);
        pthread_cond_broadcast(&c->changed);
        pthread_mutex_unlock(&c->lock);
        free(payload);
    }
    int why = errno;
    pthread_mutex_lock(&c->lock);
    if (more && (why == EBADMSG || why == ENOMEM))
        cw_error_set(&g->trouble, CW_ERR_INPUT, "GPU %u: the sampling process sent data that cannot be taken: %s",
                     g->number, strerror(why));
    /* Report it now: the end may be hours away. */
    if (g->ready && (g->trouble.code != CW_OK || (!c->stopping && !g->done)))
        fprintf(stderr, "capture-agent: GPU %u is sampled no longer; complete data is kept\n", g->number);
    g->over = true;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

static bool is_over(struct capture *c)
{
    bool over = true;
    pthread_mutex_lock(&c->lock);
    for (uint32_t i = 0; i < c->gpu_count; i++)
        over = over && c->gpus[i].over;
    pthread_mutex_unlock(&c->lock);
    return over;
}

/* Starts processes before threads: a process forked while threads run may inherit held locks. */
static enum cw_status start_sampling(struct capture *c, struct cw_error *err)
{
    for (uint32_t i = 0; i < c->gpu_count; i++) {
        struct gpu *g = &c->gpus[i];
        enum cw_status status =
            cw_pm_sampler_start(&g->sampler, c->options, g->number, &c->schema, &c->native, c->node, err);
        if (status != CW_OK)
            return status;
    }
    for (uint32_t i = 0; i < c->gpu_count; i++) {
        struct gpu *g = &c->gpus[i];
        g->receiving = cw_signals_thread(&g->receiver, receive, g);
        if (!g->receiving)
            return cw_error_nomem(err);
    }
    enum cw_status status = CW_OK;
    pthread_mutex_lock(&c->lock);
    for (uint32_t i = 0; i < c->gpu_count && status == CW_OK; i++) {
        struct gpu *g = &c->gpus[i];
        while (!g->ready && !g->over)
            pthread_cond_wait(&c->changed, &c->lock);
        if (!g->ready)
            status = cw_error_set(err, CW_ERR_DEVICE, "the process that samples GPU %u ended before it took a sample",
                                  g->number);
    }
    pthread_mutex_unlock(&c->lock);
    return status;
}

/* Ends the sampling and returns the error, if any; prefers a GPU's to the program's. */
static const struct cw_error *end_sampling(struct capture *c)
{
    const struct cw_error *first = &c->session.trouble;
    pthread_mutex_lock(&c->lock);
    c->stopping = true;
    pthread_mutex_unlock(&c->lock);
    for (uint32_t i = 0; i < c->gpu_count; i++)
        if (c->gpus[i].sampler.pid > 0)
            cw_pm_sampler_stop(&c->gpus[i].sampler);
    for (uint32_t i = c->gpu_count; i--;) {
        struct gpu *g = &c->gpus[i];
        if (g->receiving)
            pthread_join(g->receiver, NULL);
        struct cw_error ending = CW_ERROR_INIT;
        if (g->sampler.pid > 0 && cw_pm_sampler_finish(&g->sampler, &ending) != CW_OK && g->receiving)
            cw_error_set(&g->trouble, ending.code, "%s", ending.message); /* unless it has reported more itself */
        else if (g->ready && !g->done)                                    /* for example if a library called exit */
            cw_error_set(&g->trouble, CW_ERR_DEVICE,
                         "GPU %u: the sampling process ended before it had sent every sample; complete data is kept",
                         g->number);
        if (g->trouble.code != CW_OK)
            first = &g->trouble;
    }
    return first;
}

/* ---- launches --------------------------------------------------------------------------------------------------- */

/* Finds a sampled GPU by the program's device number, which may differ from ours. NULL for a GPU that is not
 * sampled. */
static const struct gpu *find_gpu(const struct capture *c, const struct cw_process *p, uint32_t number)
{
    const struct cw_device *device = cw_process_device(p, number);
    const char *pci = device ? cw_device_attribute(device, "pci") : NULL;
    for (uint32_t i = 0; i < c->gpu_count; i++) {
        const struct gpu *g = &c->gpus[i];
        if (pci && *g->pci ? strcmp(pci, g->pci) == 0 : number == g->number)
            return g;
    }
    return NULL;
}

static bool find_device(void *user, const struct cw_device *device, uint32_t *number)
{
    const struct capture *c = user;
    const struct gpu *gpu = find_gpu(c, c->process, device->index);
    if (gpu)
        *number = gpu->number;
    return gpu != NULL;
}

/* Takes new shapes. Their numbers ascend, with gaps for rows lost for lack of memory. */
static enum cw_status take_shapes(struct capture *c, uint32_t process, const struct cw_trace_rows *rows,
                                  struct cw_error *err)
{
    static const uint64_t most = 1 << 20;
    struct shapes *known = &c->shapes[process];
    for (uint32_t i = 0; i < rows->count; i++) {
        const uint64_t id = cw_trace_get(rows, CW_FIELD_ID, i);
        const char *name = cw_trace_output_text(&c->trace, process, cw_trace_get(rows, CW_FIELD_NAME, i));
        if (id >= most)
            continue;
        if (id >= known->count) {
            struct shape *grown = realloc(known->items, (2 * id + 64) * sizeof *grown);
            if (!grown)
                return cw_error_nomem(err);
            memset(grown + known->count, 0, (2 * id + 64 - known->count) * sizeof *grown);
            known->items = grown;
            known->count = 2 * id + 64;
        }
        char *readable = cw_demangle(name);
        known->items[id].name = cw_arena_strdup(c->arena, readable ? readable : name);
        free(readable);
        if (!known->items[id].name)
            return cw_error_nomem(err);
    }
    return CW_OK;
}

struct batch { /* a batch of launches, with room for all rows */
    const char **names;
    uint32_t name_count, count;
    struct cw_kernel_launch *launches;
};

static uint32_t name_index(struct capture *c, struct batch *b, uint32_t process, uint64_t id)
{
    struct shape *s = &c->shapes[process].items[id < c->shapes[process].count ? id : 0]; /* 0: no shape has this id */
    if (s->batch != c->batches) {
        s->batch = c->batches;
        s->index = b->name_count;
        b->names[b->name_count++] = s->name ? s->name : "";
    }
    return s->index;
}

static void add_launch(struct capture *c, struct batch *b, uint32_t process, const struct cw_trace_rows *rows,
                       uint32_t row)
{
    const struct gpu *gpu = find_gpu(c, c->process, (uint32_t)cw_trace_get(rows, CW_FIELD_DEVICE, row));
    c->outcome.elsewhere += gpu == NULL;
    if (!gpu)
        return;
    struct cw_kernel_launch *l = &b->launches[b->count++];
    *l = (struct cw_kernel_launch){.name = name_index(c, b, process, cw_trace_get(rows, CW_FIELD_SHAPE, row)),
                                   .device = gpu->number,
                                   .context = cw_trace_get(rows, CW_FIELD_CONTEXT, row),
                                   .stream = cw_trace_get(rows, CW_FIELD_STREAM, row),
                                   .start_ns = cw_trace_get(rows, CW_FIELD_START, row),
                                   .end_ns = cw_trace_get(rows, CW_FIELD_END, row)};
    if (!l->start_ns || !l->end_ns) /* a single time is of no use */
        l->start_ns = l->end_ns = 0;
    c->outcome.untimed += !l->start_ns;
}

static enum cw_status append_launches(struct capture *c, uint32_t pid, uint64_t dropped, const struct batch *b,
                                      struct cw_error *err)
{
    struct cw_writer chunk;
    cw_writer_init(&chunk);
    if (b->count || dropped)
        cw_pm_write_launches(pid, dropped, b->names, b->name_count, b->launches, b->count, &chunk);
    enum cw_status status = chunk.status == CW_OK ? CW_OK : cw_error_nomem(err);
    if (status == CW_OK)
        status = cw_collector_chunks(&c->out, chunk.data, chunk.size, 0, err);
    cw_writer_free(&chunk);
    return status;
}

static enum cw_status take_kernels(void *user, uint32_t process, const struct cw_trace_rows *rows, struct cw_error *err)
{
    struct capture *c = user;
    if (rows->kind == CW_TRACE_SHAPE)
        return take_shapes(c, process, rows, err);
    struct batch b = {calloc(rows->count, sizeof *b.names), 0, 0, calloc(rows->count, sizeof *b.launches)};
    c->batches++;
    if (!c->shapes[process].count && !(c->shapes[process].items = calloc(1, sizeof(struct shape))))
        return cw_error_nomem(err);
    c->shapes[process].count += !c->shapes[process].count;
    for (uint32_t i = 0; b.names && b.launches && i < rows->count; i++)
        add_launch(c, &b, process, rows, i);
    enum cw_status status =
        b.names && b.launches ? append_launches(c, c->process->pid, 0, &b, err) : cw_error_nomem(err);
    free(b.names);
    free(b.launches);
    return status;
}

/* Settles the losses of all processes. */
static enum cw_status settle_trace(struct capture *c, struct cw_error *err)
{
    static const struct batch none;
    pthread_mutex_lock(&c->lock);
    enum cw_status status = cw_traced_settle(&c->traced, err);
    const uint64_t lost = cw_trace_output_books(&c->trace, CW_TRACE_KERNEL).lost,
                   dropped = cw_trace_output_dropped(&c->trace);
    if (status == CW_OK)
        status = append_launches(c, (uint32_t)c->session.program.pid, lost > dropped ? lost : dropped, &none, err);
    pthread_mutex_unlock(&c->lock);
    return status;
}

/* Waits until the process has begun or ended sampling, which takes some milliseconds. Called with the lock held. */
static void order_window(struct gpu *g, bool open)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 2;
    if (g->over || !cw_pm_sampler_window(&g->sampler, open))
        return;
    while (!g->over && (g->window == CW_WINDOW_OPEN) != open)
        if (pthread_cond_timedwait(&g->capture->changed, &g->capture->lock, &until) != 0)
            return;
}

/* Notes whether a process has a wanted range open. */
static void note_open(struct capture *c, uint64_t process, bool open)
{
    uint32_t i = 0;
    while (i < c->open_count && c->open[i] != process)
        i++;
    if (open && i == c->open_count && c->open_count < CW_MOST_PROCESSES)
        c->open[c->open_count++] = process;
    else if (!open && i < c->open_count)
        c->open[i] = c->open[--c->open_count];
}

/* Handles a process opening its first wanted range or closing its last. A range that begins while the last one is being
 * decoded is not sampled, because the program would have to wait. False for such a range. */
static bool turn_window(struct capture *c, const struct cw_process *process, bool open)
{
    bool left_out = false;
    note_open(c, process->number, open);
    pthread_mutex_lock(&c->lock);
    for (uint32_t i = 0; i < c->gpu_count; i++) {
        struct gpu *g = &c->gpus[i];
        left_out = left_out || (open && g->window == CW_WINDOW_CLOSED);
        if (open ? g->window == CW_WINDOW_IDLE : !c->open_count && g->window == CW_WINDOW_OPEN)
            order_window(g, open);
    }
    pthread_mutex_unlock(&c->lock);
    return !left_out;
}

static enum cw_status take_window(struct capture *c, const struct cw_process *process, struct cw_reader *in)
{
    const bool open = cw_read_u8(in) != 0;
    if (cw_reader_finish(in, "a window") != CW_OK)
        return in->status;
    c->outcome.ranges += open;
    c->outcome.ranges_left_out += !turn_window(c, process, open);
    return CW_OK;
}

/* Closes the window of a process that has ended with its range open. */
static void process_gone(void *user, const struct cw_process *process)
{
    turn_window(user, process, false);
}

static enum cw_status take(void *user, const struct cw_process *p, enum cw_message_type type, struct cw_reader *in,
                           struct cw_error *err)
{
    if (type == CW_MESSAGE_WINDOW)
        return take_window(user, p, in);
    struct capture *c = user;
    pthread_mutex_lock(&c->lock);
    c->process = p;
    enum cw_status status = cw_traced_take(&c->traced, p, type, in, err);
    pthread_mutex_unlock(&c->lock);
    return status;
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

static void choose_gpus(struct capture *c, uint64_t devices)
{
    for (uint32_t number = 0; number < CW_MOST_DEVICES; number++)
        if (devices >> number & 1)
            c->gpus[c->gpu_count++] = (struct gpu){.capture = c, .number = number};
}

static enum cw_status prepare(struct capture *c, struct cw_error *err)
{
    const struct cw_config_image *plan = c->options->capture.plan;
    const struct cw_nvperf *library;
    uint64_t devices = 0;
    c->node = cw_node_facts_create(c->arena);
    enum cw_status status =
        cw_node_check(&(struct cw_node_needs){.need = CW_NEED_PM,
                                              .chip = plan->chip,
                                              .devices = c->options->devices ? c->options->devices : CW_EVERY_DEVICE,
                                              .facts = c->node,
                                              .found_devices = &devices},
                      err);
    choose_gpus(c, devices);
    if (status == CW_OK && plan->native)
        cw_write_bytes(&c->native, plan->native, plan->native_size);
    else if (status == CW_OK && (status = cw_nvperf_open(&library, NULL, err)) == CW_OK)
        status = cw_nvperf_lower(library, plan, 0, &c->native, err);
    if (status == CW_OK)
        status = cw_schema_of_plan(&c->schema, plan, c->arena);
    c->schema.traces = cw_pm_has_trace(c->options);
    if (status == CW_ERR_NOMEM || (status == CW_OK && c->native.status != CW_OK))
        status = cw_error_nomem(err);
    if (status == CW_OK)
        status = cw_collector_open(&c->out, c->options->capture.output, c->options->capture.force, &c->schema, err);
    return status;
}

/* Waits without a program, until the sampling processes finish by themselves or a signal asks for an end. */
static void wait_alone(struct capture *c)
{
    while (!is_over(c) && !cw_signals_end()) {
        cw_clock_log_look(&c->clocks);
        poll(NULL, 0, 20);
    }
}

/* Starts the trace. Records are handed over often, so that few are lost if the program is killed. */
static enum cw_status begin_trace(struct capture *c, struct cw_error *err)
{
    const struct cw_trace_options options = {.kinds = CW_PM_TRACE_KINDS,
                                             .filter = {.launch_count = UINT64_MAX},
                                             .flush_ns = 500000000,
                                             .buffer_bytes = 4 << 20,
                                             .buffer_count = 16};
    struct cw_writer *setup = &c->session.setup;
    c->beside = (struct cw_trace_beside){&c->out, find_device, take_kernels, c};
    c->traced.out = &c->trace;
    enum cw_status status = cw_trace_output_beside(&c->trace, &c->beside, err);
    if (status == CW_OK)
        status = cw_trace_write_setup(setup, CW_MODE_LAUNCHES, &options, err);
    cw_filter_write(setup, &c->options->filter);
    cw_write_u64(setup, cw_clock_log_now_ns());
    cw_trace_window_write(setup, &c->options->when);
    return status;
}

static enum cw_status run_program(struct capture *c, struct cw_error *err)
{
    static char *none[] = {NULL};
    struct cw_session *s = &c->session;
    enum cw_status status;
    if (c->options->no_trace) {
        status = cw_program_start(&s->program, c->options->capture.argv, none, err);
        if (status == CW_OK)
            cw_program_wait(&s->program, true);
        return status;
    }
    s->chip = c->schema.chip;
    s->take = take;
    s->gone = process_gone;
    s->user = c;
    s->clocks = &c->clocks;
    s->facts = c->node;
    status = begin_trace(c, err);
    if (status == CW_OK)
        status = cw_session_start(s, c->options->capture.argv, err);
    if (status == CW_OK)
        cw_session_serve(s);
    if (status == CW_OK && s->trouble.code == CW_OK)
        settle_trace(c, &s->trouble);
    return status;
}

static enum cw_status run(struct capture *c, int *exit_status, struct cw_error *err)
{
    struct cw_program *program = &c->session.program;
    enum cw_status status = prepare(c, err);
    if (!c->options->capture.argv) {
        *program = (struct cw_program){.over = true, .how = CW_END_NO_PROGRAM};
        cw_signals_catch();
    }
    if (status == CW_OK)
        status = start_sampling(c, err);
    c->clocks.control.wanted = c->options->capture.base_clocks;
    for (uint32_t i = 0; i < c->gpu_count && status == CW_OK; i++)
        cw_clock_log_follow(&c->clocks, c->gpus[i].pci);
    c->out.clocks = &c->clocks;
    uint64_t began_ns = cw_now_ns();
    if (status == CW_OK && c->options->capture.argv)
        status = run_program(c, err);
    else if (status == CW_OK)
        wait_alone(c);
    c->outcome.sampled_ns = cw_now_ns() - began_ns;
    const struct cw_error *trouble = end_sampling(c);
    if (trouble->code != CW_OK) { /* more specific than the lack of samples */
        *err = *trouble;
        status = err->code;
    }
    c->outcome.lost = c->out.dropped;
    cw_pm_tell(c->options, &c->outcome);
    if (status == CW_OK)
        status = cw_collector_end(&c->out, program->how, program->code, err);
    return program->over ? cw_pm_verdict(c->options, program, &c->outcome, status, exit_status, err) : status;
}

enum cw_status cw_cupti_pm(const struct cw_pm_options *options, int *exit_status, struct cw_error *err)
{
    struct capture *c = calloc(1, sizeof *c);
    if (!c)
        return cw_error_nomem(err);
    c->options = options;
    c->out.fd = -1;
    c->arena = cw_arena_create();
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->changed, NULL);
    cw_writer_init(&c->native);
    cw_session_init(&c->session);
    enum cw_status status = c->arena ? run(c, exit_status, err) : cw_error_nomem(err);
    cw_session_finish(&c->session);
    cw_traced_close(&c->traced);
    cw_trace_output_close(&c->trace);
    for (uint32_t i = 0; i < CW_MOST_TRACED; i++)
        free(c->shapes[i].items);
    cw_collector_close(&c->out);
    cw_writer_free(&c->native);
    cw_arena_destroy(c->arena);
    cw_clock_log_free(&c->clocks);
    free(c);
    return status;
}
