#define _GNU_SOURCE
#include "agent/session.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/backend.h"

/* ---- start ------------------------------------------------------------------------------------------------------ */

static enum cw_status listen_for_processes(struct cw_session *s, struct cw_error *err)
{
    const char *base = getenv("TMPDIR");
    if (!base || strlen(base) > 32)
        base = "/tmp";
    snprintf(s->folder, sizeof s->folder, "%s/capture-agent.XXXXXX", base);
    if (!mkdtemp(s->folder)) {
        s->folder[0] = 0;
        return cw_error_set(err, CW_ERR_IO, "cannot make a private folder in %s: %s", base, strerror(errno));
    }
    snprintf(s->socket_path, sizeof s->socket_path, "%s/socket", s->folder);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", s->socket_path);
    s->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s->listener < 0 || bind(s->listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(s->listener, 64) != 0)
        return cw_error_set(err, CW_ERR_IO, "%s: cannot listen: %s", s->socket_path, strerror(errno));
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

static enum cw_status start_program(struct cw_session *s, char *const *argv, struct cw_error *err)
{
    char library[1024], cupti[1024], variables[4][1200];
    if (getenv("CUDA_INJECTION64_PATH"))
        return cw_error_set(err, CW_ERR_DEVICE, "CUDA_INJECTION64_PATH is set to %s: another tool profiles already",
                            getenv("CUDA_INJECTION64_PATH"));
    enum cw_status status = find_injection(library, sizeof library, err);
    if (status != CW_OK)
        return status;
    snprintf(variables[0], sizeof variables[0], "CUDA_INJECTION64_PATH=%s", library);
    snprintf(variables[1], sizeof variables[1], "%s=%s", CW_AGENT_SOCKET_VARIABLE, s->socket_path);
    snprintf(variables[2], sizeof variables[2], "%s=%s", CW_AGENT_CUPTI_VARIABLE, cw_cupti_path(cupti, sizeof cupti));
    snprintf(variables[3], sizeof variables[3], "NVTX_INJECTION64_PATH=%s", library);
    char *const environment[] = {variables[0], variables[1], variables[2], variables[3], NULL};
    return cw_program_start(&s->program, argv, environment, err);
}

/* ---- messages --------------------------------------------------------------------------------------------------- */

const struct cw_device *cw_process_device(const struct cw_process *p, uint32_t index)
{
    for (uint32_t i = 0; i < p->device_count; i++)
        if (p->devices[i].index == index)
            return &p->devices[i];
    return NULL;
}

static bool is_wanted(const struct cw_session *s, const struct cw_process *p, uint32_t device)
{
    return !s->filter || (cw_filter_process(s->filter, p->program, (pid_t)p->pid == s->program.pid) &&
                          cw_filter_device(s->filter, device));
}

/* Takes a device of a process. *refused says that it is not to be profiled; false ends the capture of the process. */
static bool take_hello(struct cw_session *s, struct cw_process *p, struct cw_reader *in, bool *refused)
{
    struct cw_device device = {0};
    p->pid = cw_read_u32(in);
    p->program = cw_read_string(in, p->arena);
    device.index = cw_read_u32(in);
    device.attribute_count = cw_read_count(in, 8, "attributes");
    struct cw_pair *pairs = cw_arena_alloc(p->arena, device.attribute_count, sizeof *pairs);
    for (uint32_t i = 0; pairs && i < device.attribute_count; i++) {
        pairs[i].key = cw_read_string(in, p->arena);
        pairs[i].value = cw_read_string(in, p->arena);
    }
    device.attributes = pairs;
    if (!p->devices)
        p->devices = cw_arena_alloc(p->arena, CW_MOST_DEVICES, sizeof *p->devices);
    if (!pairs || !p->devices || cw_reader_finish(in, "a hello") != CW_OK || device.index >= CW_MOST_DEVICES) {
        cw_error_set(&s->trouble, CW_ERR_INPUT, "a profiled process sent a hello that makes no sense");
        return false;
    }
    *refused = !is_wanted(s, p, device.index);
    if (*refused)
        return true;
    const char *chip = cw_device_attribute(&device, "chip");
    if (!chip || strcmp(chip, s->chip) != 0) {
        cw_error_set(&s->trouble, CW_ERR_DEVICE, "found the chip %s on device %u, expected %s, which the plan is for",
                     chip ? chip : "?", device.index, s->chip);
        return false;
    }
    if (!cw_process_device(p, device.index))
        p->devices[p->device_count++] = device;
    return true;
}

/* False when the process is done with. */
static bool take_message(struct cw_session *s, struct cw_process *p)
{
    enum cw_message_type type;
    uint8_t *payload;
    size_t size;
    if (!cw_message_receive_with(p->fd, &type, &payload, &size, &p->memory)) {
        if (errno == EBADMSG || errno == ENOMEM)
            cw_error_set(&s->trouble, CW_ERR_INPUT, "a profiled process sent what cannot be taken: %s",
                         strerror(errno));
        return false;
    }
    struct cw_reader in;
    struct cw_error err = CW_ERROR_INIT;
    bool more = true;
    cw_reader_init(&in, payload, size, "message", 0, &err);
    if (type == CW_MESSAGE_HELLO) {
        bool refused = true;
        more = take_hello(s, p, &in, &refused);
        refused = refused || !more;
        cw_message_send(p->fd, refused ? CW_MESSAGE_REFUSE : CW_MESSAGE_SETUP, s->setup.data,
                        refused ? 0 : s->setup.size);
    } else if (type == CW_MESSAGE_FAIL) {
        enum cw_status status = (enum cw_status)cw_read_u32(&in);
        const char *text = cw_read_string(&in, p->arena);
        cw_error_set(&s->trouble, status == CW_OK ? CW_ERR_DEVICE : status, "%s", text);
        more = false;
    } else {
        more = p->pid && s->take(s->user, p, type, &in, &err) == CW_OK;
    }
    if (err.code != CW_OK) {
        cw_error_set(&s->trouble, err.code, "%s", err.message);
        more = false;
    }
    free(payload);
    if (p->memory >= 0) {
        close(p->memory);
        bool told = cw_message_tell(p->fd, CW_MESSAGE_TAKEN);
        if (!told && errno == EAGAIN)
            cw_error_set(&s->trouble, CW_ERR_INPUT, "a profiled process does not read what it is told");
        more = told && more;
    }
    return more;
}

/* Whoever is turned away runs on without a profiler; the file then stays without an end. */
static void accept_process(struct cw_session *s)
{
    int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0 && (errno == EMFILE || errno == ENFILE)) {
        cw_error_set(&s->trouble, CW_ERR_IO, "cannot serve another process beside %u: %s", s->process_count,
                     strerror(errno));
        close(s->listener); /* it would wait for an answer */
        s->listener = -1;
    }
    if (fd < 0)
        return;
    struct cw_arena *arena = NULL;
    if (s->process_count == CW_MOST_PROCESSES)
        cw_error_set(&s->trouble, CW_ERR_IO, "found more than %d profiled processes at a time, expected no more",
                     CW_MOST_PROCESSES);
    else if (!(arena = cw_arena_create()))
        cw_error_nomem(&s->trouble);
    if (arena)
        s->processes[s->process_count++] = (struct cw_process){.fd = fd, .arena = arena};
    else
        close(fd);
}

static void forget(struct cw_session *s, uint32_t index)
{
    close(s->processes[index].fd);
    cw_arena_destroy(s->processes[index].arena);
    s->processes[index] = s->processes[--s->process_count];
}

/* Serves one round of what has arrived; false when nothing had within `timeout_ms`. */
static bool serve(struct cw_session *s, int timeout_ms)
{
    struct pollfd fds[CW_MOST_PROCESSES + 1];
    uint32_t n = s->process_count;
    for (uint32_t i = 0; i < n; i++)
        fds[i] = (struct pollfd){.fd = s->processes[i].fd, .events = POLLIN};
    fds[n] = (struct pollfd){.fd = s->listener, .events = POLLIN};
    if (poll(fds, n + 1, timeout_ms) <= 0)
        return false;
    for (uint32_t i = n; i-- > 0;)
        if (fds[i].revents && !take_message(s, &s->processes[i]))
            forget(s, i);
    if (fds[n].revents & POLLIN)
        accept_process(s);
    return true;
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

void cw_session_init(struct cw_session *s)
{
    *s = (struct cw_session){.listener = -1};
    cw_writer_init(&s->setup);
}

enum cw_status cw_session_start(struct cw_session *s, char *const *argv, struct cw_error *err)
{
    if (s->setup.status != CW_OK)
        return cw_error_nomem(err);
    enum cw_status status = listen_for_processes(s, err);
    return status == CW_OK ? start_program(s, argv, err) : status;
}

void cw_session_serve(struct cw_session *s)
{
    while (!s->program.over) {
        serve(s, 50);
        cw_program_wait(&s->program, false);
    }
    while (serve(s, 0)) /* what it sent before it ended */
        ;
}

void cw_session_finish(struct cw_session *s)
{
    while (s->process_count)
        forget(s, 0);
    if (s->listener >= 0)
        close(s->listener);
    if (s->socket_path[0])
        unlink(s->socket_path);
    if (s->folder[0])
        rmdir(s->folder);
    cw_writer_free(&s->setup);
}
