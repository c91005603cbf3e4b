#define _GNU_SOURCE
#include "agent/session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/common/attach_socket.h"
#include "agent/common/cupti_path.h"
#include "agent/common/other_tool.h"
#include "agent/session/signals.h"
#include "base/now.h"
#include "base/text.h"

/* Limit on all messages being received, whatever sizes they announce. */
static const size_t most_held = (size_t)2 * CW_MESSAGE_MAX;
/* PATIENCE_MS: time for the rest of a message that was incomplete at the program's end. */
enum { PATIENCE_MS = 2000, DETACH_MS = 20000, MOMENT_MS = 200 };
static const uint64_t listen_patience_ns = 2000000000, listen_look_us = 10000;
static const char cut_message[] = "a profiled process ended in the middle of a message, so the message is lost";

/* ---- start ------------------------------------------------------------------------------------------------------ */

static enum cw_status listen_for_processes(struct cw_session *s, struct cw_error *err)
{
    const char *base = getenv("TMPDIR");
    if (!base || base[0] != '/' || strlen(base) > 32) /* the program may change its folder */
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

static const char *counters_path(const struct cw_session *s, char *path, size_t size)
{
    snprintf(path, size, "%s/%s", s->folder, CW_AGENT_COUNTERS_FILE);
    return path;
}

/* Creates the file of counters; without it processes do not take turns. */
static void make_counters_file(const struct cw_session *s)
{
    char path[96];
    int fd = open(counters_path(s, path, sizeof path), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
}

/* Finds the injection library: beside the agent in a build, in ../lib/counterworks when installed. */
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

/* Adds the library behind the user's own entries, which may be needed first. */
static void add_library(char *variable, size_t size, const char *name, char separator, const char *library)
{
    const char *others = getenv(name);
    const bool any = others && *others;
    const int length = snprintf(variable, size, "%s=%s%.*s%s", name, any ? others : "", any, &separator, library);
    if (length >= (int)size) /* keep the user's entries alone */
        snprintf(variable, size, "%s=%s", name, others);
}

static enum cw_status start_program(struct cw_session *s, char *const *argv, struct cw_error *err)
{
    enum { MOST_VARIABLES = 7, LONGEST = 8192 };
    char library[1024], cupti[1024], variables[MOST_VARIABLES][LONGEST], *environment[MOST_VARIABLES + 1] = {NULL};
    uint32_t count = 4;
    const char *other = cw_other_tool("CUDA_INJECTION64_PATH"), *replaced = cw_other_tool("NVTX_INJECTION64_PATH");
    if (other)
        return cw_error_set(err, CW_ERR_DEVICE, "CUDA_INJECTION64_PATH is set to %s: another tool profiles already",
                            other);
    if (replaced && !s->again)
        cw_text_print(stderr,
                      "capture-agent: NVTX_INJECTION64_PATH names %s, which the program does not load: the agent takes "
                      "its place\n",
                      replaced);
    enum cw_status status = find_injection(library, sizeof library, err);
    if (status != CW_OK)
        return status;
    if (!s->again && cw_program_changes_rights(argv[0]))
        cw_text_print(stderr,
                      "capture-agent: %s runs with the rights of another user or group, and loads no library of the "
                      "agent's: it is not captured, but programs that it starts with your own rights are\n",
                      argv[0]);
    snprintf(variables[0], sizeof variables[0], "CUDA_INJECTION64_PATH=%s", library);
    snprintf(variables[1], sizeof variables[1], "%s=%s", CW_AGENT_SOCKET_VARIABLE, s->socket_path);
    snprintf(variables[2], sizeof variables[2], "%s=%s", CW_AGENT_CUPTI_VARIABLE, cw_cupti_path(cupti, sizeof cupti));
    snprintf(variables[3], sizeof variables[3], "NVTX_INJECTION64_PATH=%s", library);
    if (*s->trace)
        snprintf(variables[count++], LONGEST, "%s=%s", CW_AGENT_TRACE_VARIABLE, s->trace);
    if (s->openmp)
        add_library(variables[count++], LONGEST, "OMP_TOOL_LIBRARIES", ':', library);
    if (s->openacc)
        add_library(variables[count++], LONGEST, "ACC_PROFLIB", ';', library);
    for (uint32_t i = 0; i < count; i++)
        environment[i] = variables[i];
    return cw_program_start(&s->program, argv, environment, err);
}

/* ---- a running process ----------------------------------------------------------------------------------------- */

static bool has_library(pid_t process)
{
    char path[64], line[4352];
    bool found = false;
    snprintf(path, sizeof path, "/proc/%ld/maps", (long)process);
    FILE *maps = fopen(path, "re");
    while (maps && !found && fgets(line, sizeof line, maps))
        found = strstr(line, "libcounterworks_inject.so") != NULL;
    if (maps)
        fclose(maps);
    return found;
}

static enum cw_status check_process(pid_t process, struct cw_error *err)
{
    char path[64];
    struct stat st;
    snprintf(path, sizeof path, "/proc/%ld", (long)process);
    if (stat(path, &st) != 0)
        return cw_error_set(err, CW_ERR_USAGE, "found no process %ld, expected one that runs", (long)process);
    if (geteuid() != 0 && st.st_uid != geteuid())
        return cw_error_set(err, CW_ERR_USAGE, "found process %ld of another user, expected one of your own",
                            (long)process);
    if (!has_library(process))
        return cw_error_set(err, CW_ERR_USAGE,
                            "found process %ld without libcounterworks_inject.so, expected one that was started with "
                            "CUDA_INJECTION64_PATH naming it and that has used CUDA",
                            (long)process);
    return CW_OK;
}

static int connect_to(pid_t process)
{
    struct sockaddr_un address;
    const socklen_t size = cw_attach_address(&address, process);
    pid_t peer = 0;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    errno = 0; /* that of connect is looked at */
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, size) == 0 &&
        (cw_attach_peer(fd, &peer) || geteuid() == 0) && peer == process)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* CUDA loads the library some time before it listens. */
static int wait_to_connect(pid_t process)
{
    const uint64_t until = cw_now_ns() + listen_patience_ns;
    int fd = connect_to(process);
    while (fd < 0 && (errno == ECONNREFUSED || errno == EINTR) && cw_now_ns() < until) {
        usleep(listen_look_us);
        fd = connect_to(process);
    }
    return fd;
}

enum cw_status cw_session_attach(struct cw_session *s, pid_t process, struct cw_error *err)
{
    char path[1024];
    struct cw_writer first;
    enum cw_status status = check_process(process, err);
    if (status != CW_OK)
        return status;
    const int fd = wait_to_connect(process);
    struct cw_arena *arena = fd >= 0 ? cw_arena_create() : NULL;
    if (fd >= 0 && !arena)
        close(fd);
    if (!arena)
        return cw_error_set(err, CW_ERR_USAGE,
                            "found process %ld not waiting, expected one that was started by no agent, and by this "
                            "version of the library",
                            (long)process);
    struct cw_process *p = &s->processes[s->process_count++];
    *p = (struct cw_process){.fd = fd, .arena = arena};
    cw_message_begin(&p->message);
    s->program = (struct cw_program){.pid = process, .how = CW_END_NO_PROGRAM};
    cw_writer_init(&first);
    cw_write_string(&first, cw_cupti_path(path, sizeof path));
    const bool sent = first.status == CW_OK && cw_message_send(fd, CW_MESSAGE_ATTACH, first.data, first.size);
    cw_writer_free(&first);
    cw_signals_catch();
    return sent ? CW_OK : cw_error_set(err, CW_ERR_IO, "process %ld has left", (long)process);
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

/* Binds a socket to an abstract name. The kernel releases the name when an agent ends in any way. */
int cw_session_reserve(const char *pci)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX}; /* a zero first byte makes the name abstract */
    const int size = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "counterworks-gpu-%s", pci);
    const int fd = size < (int)sizeof name.sun_path - 1 ? socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1;
    if (fd < 0)
        return CW_UNRESERVED;
    if (bind(fd, (struct sockaddr *)&name, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)size)) == 0)
        return fd;
    const bool taken = errno == EADDRINUSE;
    close(fd);
    return taken ? CW_RESERVED : CW_UNRESERVED;
}

/* Whether the process may be collected on the GPU, which is then reserved for it. */
static bool reserve(struct cw_process *p, const struct cw_device *device)
{
    const char *pci = cw_device_attribute(device, "pci");
    if (!pci || cw_process_device(p, device->index) || p->reserved_count == CW_MOST_DEVICES)
        return true;
    const int fd = cw_session_reserve(pci);
    if (fd >= 0)
        p->reserved[p->reserved_count++] = fd;
    return fd != CW_RESERVED;
}

/* Reads a HELLO into `arena`. */
static enum cw_status read_hello(struct cw_reader *in, struct cw_arena *arena, struct cw_process *from,
                                 struct cw_device *device, struct cw_error *err)
{
    from->pid = cw_read_u32(in);
    from->program = cw_read_string(in, arena);
    device->index = cw_read_u32(in);
    device->attribute_count = cw_field_read_pairs(in, arena, &device->attributes, "attributes");
    enum cw_status status = cw_reader_finish(in, "a hello");
    if (status == CW_ERR_NOMEM)
        return cw_error_nomem(err);
    bool good = status == CW_OK && device->index < CW_MOST_DEVICES;
    return good ? CW_OK : cw_error_set(err, CW_ERR_INPUT, "a profiled process sent a hello that makes no sense");
}

/* Keeps the content of a HELLO, once for each device. */
static bool keep_hello(struct cw_process *p, const struct cw_node_facts *facts, const struct cw_process *from,
                       const struct cw_device *device)
{
    if (!p->program) {
        p->pid = from->pid;
        p->program = cw_arena_strdup(p->arena, from->program);
        p->devices = cw_arena_alloc(p->arena, CW_MOST_DEVICES, sizeof *p->devices);
    }
    if (!p->program || !p->devices)
        return false;
    if (cw_process_device(p, device->index))
        return true;
    const struct cw_pair *pairs = cw_pairs_copy(device->attributes, device->attribute_count, p->arena);
    if (!pairs)
        return false;
    struct cw_device *kept = &p->devices[p->device_count++];
    *kept = *device;
    kept->attributes = pairs;
    return cw_node_facts_join(facts, kept, p->arena);
}

/* Takes a device of a process. *refused: it is not to be profiled. An error ends the capture of the process. */
static enum cw_status take_hello(struct cw_session *s, struct cw_process *p, struct cw_reader *in,
                                 struct cw_arena *arena, bool *refused, struct cw_error *err)
{
    struct cw_process from = {0};
    struct cw_device device = {0};
    enum cw_status status = read_hello(in, arena, &from, &device, err);
    if (status != CW_OK)
        return status;
    const char *chip = cw_device_attribute(&device, "chip");
    bool wanted = is_wanted(s, &from, device.index), away = wanted && s->alone && !reserve(p, &device);
    *refused = !wanted || away;
    s->turned_away += away && !p->turned_away;
    p->turned_away |= away;
    if (!*refused && (!chip || strcmp(chip, s->chip) != 0))
        return cw_error_set(err, CW_ERR_DEVICE, "found the chip %s on device %u, expected %s, which the plan is for",
                            chip ? chip : "?", device.index, s->chip);
    if (!*refused && s->clocks)
        cw_clock_log_follow(s->clocks, cw_device_attribute(&device, "pci"));
    return *refused || keep_hello(p, s->facts, &from, &device) ? CW_OK : cw_error_nomem(err);
}

/* Sends as much of the answer as the process can take now. The answer is finished when all is sent, or nobody is
 * there. */
static void send_answer(const struct cw_session *s, struct cw_process *p)
{
    uint8_t head[CW_MESSAGE_HEADER];
    size_t size = p->answer == CW_MESSAGE_SETUP ? s->setup.size : 0;
    cw_store_u32(head, p->answer);
    cw_store_u64(head + 4, size);
    while (p->answered < sizeof head + size) {
        bool in_head = p->answered < sizeof head;
        const uint8_t *from = in_head ? head + p->answered : s->setup.data + (p->answered - sizeof head);
        ssize_t n =
            send(p->fd, from, (in_head ? sizeof head : sizeof head + size) - p->answered, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (n < 0)
            break;
        p->answered += (size_t)n;
    }
    p->answer = 0;
}

/* Answers a process. Once the program has ended nobody waits for an answer. */
static void answer(const struct cw_session *s, struct cw_process *p, enum cw_message_type type)
{
    if (s->program.over)
        return;
    p->answer = type;
    p->answered = 0;
    send_answer(s, p);
}

static enum cw_status take_steady(struct cw_session *s, struct cw_process *p, struct cw_reader *in,
                                  struct cw_error *err)
{
    cw_steady_report_read(in, &p->steady);
    enum cw_status status = cw_reader_finish(in, "a report of a steady state");
    p->reported = p->reported || status == CW_OK;
    return status == CW_OK && s->take_steady ? s->take_steady(s->user, p, err) : status;
}

/* Takes the message that has arrived. An error ends the capture of the process. */
static enum cw_status take_message(struct cw_session *s, struct cw_process *p, struct cw_arena *arena,
                                   struct cw_error *err)
{
    const struct cw_message_in *m = &p->message;
    struct cw_reader in;
    enum cw_status status;
    bool refused = true;
    cw_reader_init(&in, m->payload, m->size, "message", 0, m->type == CW_MESSAGE_HELLO ? NULL : err);
    if (m->type == CW_MESSAGE_HELLO) {
        status = take_hello(s, p, &in, arena, &refused, err);
        answer(s, p, refused || status != CW_OK ? CW_MESSAGE_REFUSE : CW_MESSAGE_SETUP);
        return status;
    }
    if (m->type == CW_MESSAGE_FAIL)
        return cw_message_failure(&in, arena, "", err);
    if (!p->program)
        return cw_error_set(err, CW_ERR_INPUT, "a profiled process sent message %d, expected a hello first",
                            (int)m->type);
    if (m->type == CW_MESSAGE_STEADY)
        return take_steady(s, p, &in, err);
    status = s->take(s->user, p, m->type, &in, err);
    if (m->memory >= 0 || m->type == CW_MESSAGE_WINDOW)
        answer(s, p, CW_MESSAGE_TAKEN);
    return status;
}

static enum cw_status take_whole(struct cw_session *s, struct cw_process *p, struct cw_error *err)
{
    struct cw_arena *arena = cw_arena_create();
    enum cw_status status = arena ? take_message(s, p, arena, err) : cw_error_nomem(err);
    cw_arena_destroy(arena);
    s->taken++;
    return status;
}

/* Reads available data of a process. False when the process is finished. */
static bool read_message(struct cw_session *s, struct cw_process *p)
{
    struct cw_error err = CW_ERROR_INIT;
    size_t held = s->held - p->message.capacity;
    enum cw_arrival arrival = cw_message_read(&p->message, p->fd, false, most_held - held);
    int reason = errno;
    s->held = held + p->message.capacity;
    if (arrival == CW_ARRIVAL_PART)
        return true;
    size_t size = p->message.got;
    bool good = arrival == CW_ARRIVAL_WHOLE && take_whole(s, p, &err) == CW_OK;
    if (arrival == CW_ARRIVAL_CUT && !s->may_be_cut)
        cw_error_set(&err, CW_ERR_INPUT, "%s", cut_message);
    else if (arrival == CW_ARRIVAL_BAD)
        cw_error_set(&err, reason == ENOMEM ? CW_ERR_NOMEM : CW_ERR_INPUT,
                     "a profiled process sent data that cannot be taken: %s", strerror(reason));
    cw_message_drop(&p->message);
    s->held = held;
    if (s->trouble.code == CW_OK)
        s->trouble = err;
    bool more = !s->program.over || p->left > size;
    p->left -= more ? size : 0;
    return good && more;
}

/* Accepts a process. A rejected one runs on without a profiler; its file then stays without an end. */
static void accept_process(struct cw_session *s)
{
    int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0 && (errno == EMFILE || errno == ENFILE)) {
        cw_error_set(&s->trouble, CW_ERR_IO, "cannot serve another process beside %u: %s", s->process_count,
                     strerror(errno));
        close(s->listener); /* otherwise the process would wait for an answer */
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
    if (!arena) {
        close(fd);
        return;
    }
    struct cw_process *p = &s->processes[s->process_count++];
    *p = (struct cw_process){.fd = fd, .number = ++s->accepted, .arena = arena};
    cw_message_begin(&p->message);
}

static void forget(struct cw_session *s, uint32_t index)
{
    struct cw_process *p = &s->processes[index];
    if (s->gone)
        s->gone(s->user, p);
    if (p->reported)
        cw_steady_report_tell(&p->steady, p->program);
    s->held -= p->message.capacity;
    cw_message_drop(&p->message);
    close(p->fd);
    for (uint32_t i = 0; i < p->reserved_count; i++)
        close(p->reserved[i]);
    cw_arena_destroy(p->arena);
    *p = s->processes[--s->process_count];
}

/* Serves one round of arrived messages, waiting at most `timeout_ms` for the first. */
static void serve(struct cw_session *s, int timeout_ms)
{
    struct pollfd fds[CW_MOST_PROCESSES + 1];
    uint32_t n = s->process_count;
    for (uint32_t i = 0; i < n; i++)
        fds[i] = (struct pollfd){.fd = s->processes[i].fd, .events = s->processes[i].answer ? POLLOUT : POLLIN};
    fds[n] = (struct pollfd){.fd = s->listener, .events = POLLIN};
    if (poll(fds, n + 1, timeout_ms) <= 0)
        return;
    for (uint32_t i = n; i-- > 0;) {
        struct cw_process *p = &s->processes[i];
        if (fds[i].revents && p->answer)
            send_answer(s, p);
        else if (fds[i].revents && !read_message(s, p))
            forget(s, i);
    }
    if (fds[n].revents & POLLIN)
        accept_process(s);
}

/* ---- the end ---------------------------------------------------------------------------------------------------- */

/* Accepts the processes that have connected by now, and no others. */
static void accept_last(struct cw_session *s)
{
    for (int i = 0; i < CW_MOST_PROCESSES && s->listener >= 0; i++) {
        struct pollfd one = {.fd = s->listener, .events = POLLIN};
        if (poll(&one, 1, 0) != 1)
            break;
        accept_process(s);
    }
    if (s->listener >= 0)
        close(s->listener);
    s->listener = -1;
}

static bool is_connected(const struct cw_process *p)
{
    struct pollfd one = {.fd = p->fd, .events = POLLRDHUP};
    return poll(&one, 1, 0) == 0;
}

/* Warns of processes that outlive the program, after a moment: children may end shortly after it. */
static void tell_living(const struct cw_session *s)
{
    const struct cw_process *first = NULL;
    uint32_t living = 0;
    for (uint64_t end = cw_now_ms() + MOMENT_MS; cw_now_ms() < end;) {
        living = 0;
        for (uint32_t i = 0; i < s->process_count; i++)
            if (s->processes[i].program && is_connected(&s->processes[i])) {
                living++;
                first = &s->processes[i];
            }
        if (!living)
            return;
        poll(NULL, 0, 10);
    }
    if (living == 1)
        cw_text_print(stderr,
                      "capture-agent: process %u (%s) lives on behind the program: its later work is not captured\n",
                      first->pid, first->program);
    else if (living)
        cw_text_print(stderr,
                      "capture-agent: %u processes, such as %u (%s), live on behind the program: their later work is "
                      "not captured\n",
                      living, first->pid, first->program);
}

/* Takes everything that was sent before the program ended, and nothing that surviving children may send later. A
 * message that had begun may be completed. The time is limited: if its sender died, another process may hold the socket
 * open. */
static void drain(struct cw_session *s)
{
    accept_last(s);
    tell_living(s);
    if (!s->accepted)
        fprintf(stderr, "capture-agent: no process came to the agent: none used CUDA, or one was started without the "
                        "environment that the agent gives (CUDA_INJECTION64_PATH)\n");
    for (uint32_t i = s->process_count; i-- > 0;) {
        struct cw_process *p = &s->processes[i];
        int queued = 0;
        p->answer = 0;
        p->left = p->message.got + (ioctl(p->fd, FIONREAD, &queued) == 0 ? (size_t)queued : 0);
        if (!p->left)
            forget(s, i);
    }
    uint64_t taken = s->taken, end = cw_now_ms() + PATIENCE_MS;
    while (s->process_count && cw_now_ms() < end) {
        serve(s, 50);
        if (s->taken != taken)
            end = cw_now_ms() + PATIENCE_MS;
        taken = s->taken;
    }
    if (s->process_count && !s->may_be_cut)
        cw_error_set(&s->trouble, CW_ERR_INPUT, "%s", cut_message);
}

/* ---- public ----------------------------------------------------------------------------------------------------- */

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
    if (status == CW_OK)
        make_counters_file(s);
    return status == CW_OK ? start_program(s, argv, err) : status;
}

void cw_session_serve(struct cw_session *s)
{
    while (!s->program.over) {
        serve(s, s->look_ms && s->look_ms < 50 ? (int)s->look_ms : 50);
        if (s->clocks)
            cw_clock_log_look(s->clocks);
        if (s->look)
            s->look(s->user);
        cw_program_wait(&s->program, false);
    }
    drain(s);
}

void cw_session_serve_attached(struct cw_session *s, bool (*end)(void *user))
{
    uint64_t until = UINT64_MAX;
    while (s->process_count && cw_now_ms() < until) {
        serve(s, s->look_ms && s->look_ms < 50 ? (int)s->look_ms : 50);
        if (s->clocks)
            cw_clock_log_look(s->clocks);
        if (s->look)
            s->look(s->user);
        if (s->process_count && until == UINT64_MAX && (cw_signals_end_alone() || end(s->user))) {
            cw_message_send(s->processes[0].fd, CW_MESSAGE_DETACH, NULL, 0);
            until = cw_now_ms() + DETACH_MS;
        }
    }
    s->program.over = true;
    if (s->process_count)
        cw_error_set(&s->trouble, CW_ERR_DEVICE, "process %ld has not sent the rest within %d s: received data is kept",
                     (long)s->program.pid, DETACH_MS / 1000);
    else if (!s->taken)
        cw_error_set(&s->trouble, CW_ERR_USAGE,
                     "process %ld has ended the connection at once, expected one that no other agent traces",
                     (long)s->program.pid);
}

void cw_session_finish(struct cw_session *s)
{
    while (s->process_count)
        forget(s, 0);
    if (s->listener >= 0)
        close(s->listener);
    if (s->socket_path[0])
        unlink(s->socket_path);
    char path[96];
    if (s->folder[0])
        unlink(counters_path(s, path, sizeof path));
    if (s->folder[0])
        rmdir(s->folder);
    cw_writer_free(&s->setup);
}
