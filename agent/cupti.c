/* The real backend: starts the program with the injection library, gives it the plan, turns what it sends into counter
 * data. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/backend.h"
#include "agent/demangle.h"
#include "agent/message.h"
#include "host/base/file.h"
#include "host/nvperf/lower.h"

enum {
    MOST_PROCESSES = 256,
    MOST_DEVICES = 64,
    IMAGE_BUDGET = 64 << 20,
    BYTES_A_RAW_COUNTER = 6 << 10,
    MOST_AT_ONCE = 128
};

struct process { /* a connection from a profiled process */
    int fd;
    uint32_t pid, device_count;
    struct cw_device *devices; /* of its HELLOs, room for MOST_DEVICES; facts come with the first ranges */
    struct cw_arena *arena;
};

struct capture {
    const struct cw_range_options *options;
    const struct cw_nvperf *library;
    struct cw_arena *arena;
    struct cw_config_image plan; /* the options' plan, with its passes split where that was needed */
    struct cw_schema schema;
    struct cw_writer native, setup;
    struct cw_collector out;
    struct cw_program program;
    char folder[64], socket_path[96];
    int listener;
    uint32_t process_count, kept;
    struct process processes[MOST_PROCESSES];
    uint64_t known_devices; /* bit for each device number already described in the file */
    struct cw_value *values;
    struct cw_error trouble; /* the first thing that went wrong while the program ran */
};

/* ---- before the program ----------------------------------------------------------------------------------------- */

static uint32_t ranges_at_once(const struct cw_config_image *plan)
{
    uint32_t n = (uint32_t)(IMAGE_BUDGET / ((size_t)plan->raw_count * BYTES_A_RAW_COUNTER + 1));
    return n < 1 ? 1 : n > MOST_AT_ONCE ? MOST_AT_ONCE : n;
}

/* The SETUP message: the same for every process. */
static enum cw_status make_setup(struct capture *c, struct cw_error *err)
{
    const struct cw_config_image *plan = &c->plan;
    cw_write_u32(&c->setup, ranges_at_once(plan));
    cw_write_u32(&c->setup, plan->counter_count);
    for (uint32_t i = 0; i < plan->counter_count; i++) {
        char *name = cw_arena_printf(c->arena, "%s.sum", plan->counters[i].name);
        cw_write_string(&c->setup, name ? name : "");
    }
    cw_write_u32(&c->setup, (uint32_t)c->native.size);
    cw_write_bytes(&c->setup, c->native.data, c->native.size);
    return c->setup.status == CW_OK && c->native.status == CW_OK ? CW_OK : cw_error_nomem(err);
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

static enum cw_status listen_for_processes(struct capture *c, struct cw_error *err)
{
    const char *base = getenv("TMPDIR");
    if (!base || strlen(base) > 32)
        base = "/tmp";
    snprintf(c->folder, sizeof c->folder, "%s/capture-agent.XXXXXX", base);
    if (!mkdtemp(c->folder)) {
        c->folder[0] = 0;
        return cw_error_set(err, CW_ERR_IO, "cannot make a private folder in %s: %s", base, strerror(errno));
    }
    snprintf(c->socket_path, sizeof c->socket_path, "%s/socket", c->folder);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", c->socket_path);
    c->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->listener < 0 || bind(c->listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(c->listener, 64) != 0)
        return cw_error_set(err, CW_ERR_IO, "%s: cannot listen: %s", c->socket_path, strerror(errno));
    return CW_OK;
}

/* The injection library stands beside the agent in a build, in ../lib/counterworks when installed. */
static enum cw_status find_injection(char *path, size_t size, struct cw_error *err)
{
    char program[768];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = 0;
    char *slash = strrchr(program, '/');
    if (slash)
        *slash = 0;
    static const char *const places[] = {"%s/libcounterworks_inject.so",
                                         "%s/../lib/counterworks/libcounterworks_inject.so"};
    for (int i = 0; i < 2; i++) {
        snprintf(path, size, i ? places[1] : places[0], program);
        if (access(path, R_OK) == 0)
            return CW_OK;
    }
    return cw_error_set(err, CW_ERR_UNSUPPORTED, "libcounterworks_inject.so was not found beside the program in %s",
                        program);
}

static enum cw_status start_program(struct capture *c, struct cw_error *err)
{
    char library[1024], cupti[1024];
    if (getenv("CUDA_INJECTION64_PATH"))
        return cw_error_set(err, CW_ERR_DEVICE, "CUDA_INJECTION64_PATH is set to %s: another tool profiles already",
                            getenv("CUDA_INJECTION64_PATH"));
    enum cw_status status = find_injection(library, sizeof library, err);
    if (status != CW_OK)
        return status;
    char *const environment[] = {
        cw_arena_printf(c->arena, "CUDA_INJECTION64_PATH=%s", library),
        cw_arena_printf(c->arena, "%s=%s", CW_AGENT_SOCKET_VARIABLE, c->socket_path),
        cw_arena_printf(c->arena, "%s=%s", CW_AGENT_CUPTI_VARIABLE, cw_cupti_path(cupti, sizeof cupti)), NULL};
    if (!environment[0] || !environment[1] || !environment[2])
        return cw_error_nomem(err);
    return cw_program_start(&c->program, c->options->argv, environment, err);
}

/* ---- messages --------------------------------------------------------------------------------------------------- */

static void trouble(struct capture *c, enum cw_status status, const char *text)
{
    cw_error_set(&c->trouble, status, "%s", text);
}

static const struct cw_device *find_device(const struct process *p, uint32_t index)
{
    for (uint32_t i = 0; i < p->device_count; i++)
        if (p->devices[i].index == index)
            return &p->devices[i];
    return NULL;
}

/* False refuses the process. */
static bool take_hello(struct capture *c, struct process *p, struct cw_reader *in)
{
    struct cw_device device = {0};
    p->pid = cw_read_u32(in);
    device.index = cw_read_u32(in);
    device.attribute_count = cw_read_count(in, 8, "attributes");
    struct cw_pair *pairs = cw_arena_alloc(p->arena, device.attribute_count, sizeof *pairs);
    for (uint32_t i = 0; pairs && i < device.attribute_count; i++) {
        pairs[i].key = cw_read_string(in, p->arena);
        pairs[i].value = cw_read_string(in, p->arena);
    }
    device.attributes = pairs;
    if (!p->devices)
        p->devices = cw_arena_alloc(p->arena, MOST_DEVICES, sizeof *p->devices);
    if (!pairs || !p->devices || cw_reader_finish(in, "a hello") != CW_OK || device.index >= MOST_DEVICES) {
        trouble(c, CW_ERR_INPUT, "a profiled process sent a hello that makes no sense");
        return false;
    }
    const char *chip = cw_device_attribute(&device, "chip");
    if (!chip || strcmp(chip, c->plan.chip) != 0) {
        cw_error_set(&c->trouble, CW_ERR_DEVICE, "found the chip %s on device %u, expected %s, which the plan is for",
                     chip ? chip : "?", device.index, c->plan.chip);
        return false;
    }
    if (!find_device(p, device.index))
        p->devices[p->device_count++] = device;
    return true;
}

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

static enum cw_status write_range(struct capture *c, const struct process *p, const struct batch *b,
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

static enum cw_status write_ranges(struct capture *c, const struct process *p, struct batch *b,
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

static enum cw_status take_ranges(struct capture *c, const struct process *p, struct cw_reader *in,
                                  struct cw_error *err)
{
    struct cw_arena *arena = cw_arena_create();
    if (!arena)
        return cw_error_nomem(err);
    struct batch b = {.device = find_device(p, cw_read_u32(in))};
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

/* False when the process is done with. */
static bool take_message(struct capture *c, struct process *p)
{
    enum cw_message_type type;
    uint8_t *payload;
    size_t size;
    if (!cw_message_receive(p->fd, &type, &payload, &size))
        return false;
    struct cw_reader in;
    struct cw_error err = CW_ERROR_INIT;
    bool more = true;
    cw_reader_init(&in, payload, size, "message", 0, &err);
    switch (type) {
    case CW_MESSAGE_HELLO:
        more = take_hello(c, p, &in);
        cw_message_send(p->fd, more ? CW_MESSAGE_SETUP : CW_MESSAGE_REFUSE, c->setup.data, more ? c->setup.size : 0);
        break;
    case CW_MESSAGE_RANGES:
        more = p->pid && take_ranges(c, p, &in, &err) == CW_OK;
        break;
    case CW_MESSAGE_FAIL: {
        enum cw_status status = (enum cw_status)cw_read_u32(&in);
        const char *text = cw_read_string(&in, p->arena);
        trouble(c, status == CW_OK ? CW_ERR_DEVICE : status, text);
        more = false;
        break;
    }
    default:
        more = false;
    }
    if (err.code != CW_OK) {
        trouble(c, err.code, err.message);
        more = false;
    }
    free(payload);
    return more;
}

static void accept_process(struct capture *c)
{
    int fd = accept4(c->listener, NULL, NULL, SOCK_CLOEXEC);
    struct cw_arena *arena = fd >= 0 && c->process_count < MOST_PROCESSES ? cw_arena_create() : NULL;
    if (arena)
        c->processes[c->process_count++] = (struct process){.fd = fd, .arena = arena};
    else if (fd >= 0)
        close(fd);
}

static void forget(struct capture *c, uint32_t index)
{
    close(c->processes[index].fd);
    cw_arena_destroy(c->processes[index].arena);
    c->processes[index] = c->processes[--c->process_count];
}

/* Serves one round of what has arrived; false when nothing had within `timeout_ms`. */
static bool serve(struct capture *c, int timeout_ms)
{
    struct pollfd fds[MOST_PROCESSES + 1];
    uint32_t n = c->process_count;
    for (uint32_t i = 0; i < n; i++)
        fds[i] = (struct pollfd){.fd = c->processes[i].fd, .events = POLLIN};
    fds[n] = (struct pollfd){.fd = c->listener, .events = POLLIN};
    if (poll(fds, n + 1, timeout_ms) <= 0)
        return false;
    for (uint32_t i = n; i-- > 0;)
        if (fds[i].revents && !take_message(c, &c->processes[i]))
            forget(c, i);
    if (fds[n].revents & POLLIN)
        accept_process(c);
    return true;
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
        status = listen_for_processes(c, err);
    if (status == CW_OK)
        status = cw_collector_open(&c->out, o->output, &c->schema, err);
    return status;
}

static enum cw_status run(struct capture *c, int *exit_status, struct cw_error *err)
{
    enum cw_status status = prepare(c, err);
    if (status == CW_OK)
        status = start_program(c, err);
    if (status != CW_OK)
        return status;
    while (!c->program.over) {
        serve(c, 50);
        cw_program_wait(&c->program, false);
    }
    while (serve(c, 0)) /* what it sent before it ended */
        ;
    status =
        cw_capture_verdict(c->options, &c->program, c->out.ranges, exit_status, c->trouble.code == CW_OK ? err : NULL);
    if (c->trouble.code != CW_OK) {
        *err = c->trouble;
        return c->trouble.code;
    }
    /* also a program that launched nothing leaves a file that says so */
    enum cw_status ended = cw_collector_end(&c->out, c->program.how, c->program.code, err);
    return status == CW_OK ? ended : status;
}

enum cw_status cw_cupti_capture(const struct cw_range_options *options, int *exit_status, struct cw_error *err)
{
    struct capture *c = calloc(1, sizeof *c);
    if (!c)
        return cw_error_nomem(err);
    c->options = options;
    c->plan = *options->plan;
    c->out.fd = c->listener = -1;
    c->arena = cw_arena_create();
    cw_writer_init(&c->native);
    cw_writer_init(&c->setup);
    enum cw_status status = c->arena ? run(c, exit_status, err) : cw_error_nomem(err);
    while (c->process_count)
        forget(c, 0);
    if (c->listener >= 0)
        close(c->listener);
    if (c->socket_path[0])
        unlink(c->socket_path);
    if (c->folder[0])
        rmdir(c->folder);
    cw_collector_close(&c->out);
    cw_writer_free(&c->native);
    cw_writer_free(&c->setup);
    cw_arena_destroy(c->arena);
    free(c);
    return status;
}
